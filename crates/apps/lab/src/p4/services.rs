//! Which services has a program that is traced? Those of this project that it calls, each in the interpreter's turn, with the settings that are given.

use buffer::Limits;
use buffer::service::BufferService;
use ciphering::Choice;
use ciphering::service::CipherService;
use daemon::failure::Failure;
use inline::{Inline, in_lane};
use program::Program;
use radio_bearer::RadioBearerService;
use service::Deployment;
use std::sync::Arc;

/// As many as `gnb.p4` has.
const BEARERS: usize = 1 << 16;

/// The value of a setting, as `--setting` says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The service's name.
    pub service: String,
    /// Which.
    pub index: u32,
    /// The value.
    pub value: Vec<u8>,
}

impl std::str::FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let fault = || {
            format!(
                "{text}: expected SERVICE.INDEX=HEX, as in cipher.3=02ff00112233445566778899aabbccddeeff00000000000000000000000000000000"
            )
        };
        let (name, value) = text.split_once('=').ok_or_else(fault)?;
        let (service, index) = name.split_once('.').ok_or_else(fault)?;
        let digits: Vec<u8> = value.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>().ok_or_else(fault)?;
        let (pairs, []) = digits.as_chunks::<2>() else { return Err(fault()) };
        let value = pairs.iter().map(|[high, low]| high << 4 | low).collect();
        Ok(Setting { service: service.to_owned(), index: index.parse().map_err(|_| fault())?, value })
    }
}

/// Services for a program that calls some; `None` for one that calls none, or one that is not ours: its packets are dropped there.
///
/// # Errors
/// If a setting is not one, or the program declares a service otherwise.
pub fn inline(program: &Program, settings: &[Setting]) -> Result<Option<Inline>, Failure> {
    let mut all: Vec<Arc<Deployment>> = Vec::new();
    for info in program.services.values() {
        match info.name.as_str() {
            "buffer" => {
                let limits = Limits { packets: 1 << 12, bytes: 1 << 24 };
                all.push(in_lane(Arc::new(move || Box::new(BufferService::new(BEARERS, limits)))));
            }
            "cipher" => all.push(in_lane(Arc::new(|| Box::new(CipherService::new(Choice::Portable).expect("it needs no library"))))),
            "radio_bearer" => all.push(in_lane(Arc::new(|| Box::new(RadioBearerService::new(BEARERS))))),
            _ => {}
        }
    }
    for Setting { service, index, value } in settings {
        let found = all.iter().find(|deployment| deployment.interface().name == service);
        let deployment =
            found.ok_or_else(|| Failure::Usage(format!("--setting {service}.{index}: the program calls no service {service}")))?;
        let set = deployment.set(*index, Some(value.clone().into()));
        set.map_err(|error| Failure::Usage(format!("--setting {service}.{index}: {error}")))?;
    }
    if all.is_empty() || all.len() < program.services.len() {
        return Ok(None);
    }
    Inline::new(program, &all).map(Some).map_err(|error| Failure::Usage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_read_or_refused() {
        let read: Setting = "cipher.3=02fF".parse().unwrap();
        assert_eq!(read, Setting { service: "cipher".into(), index: 3, value: vec![2, 255] });
        for wrong in ["cipher=02", "cipher.3", "cipher.x=02", "cipher.3=0", "cipher.3=zz", ""] {
            assert!(wrong.parse::<Setting>().unwrap_err().contains("SERVICE.INDEX=HEX"), "{wrong}");
        }
    }
}
