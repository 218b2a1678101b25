//! `[[service]]`: what a program calls beside the pipeline, and where it runs.

use super::{Fault, Workers};
use crate::services::{Kind, Sizes};
use buffer::rlc::BearerConfig;
use buffer::service::bearer_setting;
use buffer::status::SnLength;
use serde::Deserialize;
use std::collections::HashSet;
use std::path::PathBuf;
use zeroize::Zeroizing;

/// One block.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// As the program calls it: `Service<Q, A>("buffer")`.
    pub name: String,
    /// Where it runs.
    #[serde(default)]
    pub place: Place,
    /// Of a second process: the daemon starts it.
    #[serde(default)]
    pub start: bool,
    /// See [`Sizes`].
    pub bearers: Option<u64>,
    /// As above.
    pub packets: Option<u64>,
    /// As above.
    pub bytes: Option<u64>,
    /// As above.
    pub interval_ms: Option<u64>,
    /// As above.
    pub attempts: Option<u64>,
    /// Of `buffer`: bearers that are there from the start.
    #[serde(default)]
    pub bearer: Vec<Bearer>,
    /// Of `cipher`: keys that are there from the start. Not in this file, whose lines are shown in messages.
    pub key_file: Option<PathBuf>,
}

/// `service.place`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(from = "Written")]
pub enum Place {
    /// In each worker.
    #[default]
    Lane,
    /// On so many threads of its own.
    Threads(usize),
    /// In a second process that connects to the socket at this path.
    Process(PathBuf),
}

/// As the file has it.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "expected \"lane\", { threads = NUMBER } or { process = PATH }")]
enum Written {
    Lane(Lane),
    Threads { threads: usize },
    Process { process: PathBuf },
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Lane {
    Lane,
}

impl From<Written> for Place {
    fn from(written: Written) -> Place {
        match written {
            Written::Lane(Lane::Lane) => Place::Lane,
            Written::Threads { threads } => Place::Threads(threads),
            Written::Process { process } => Place::Process(process),
        }
    }
}

impl Place {
    /// In the terms of the crate `service`.
    pub fn to_service(&self) -> service::Place {
        match self {
            Place::Lane => service::Place::Lane,
            Place::Threads(count) => service::Place::Threads(*count),
            Place::Process(path) => service::Place::Process(path.clone()),
        }
    }
}

/// `[[service.bearer]]`: TS 38.331 `UL-AM-RLC`, TS 38.322 §7.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bearer {
    /// As the program's requests have it.
    pub number: u32,
    /// Bits of its sequence numbers: 12 or 18.
    pub sn_bits: u32,
    /// Most packets that wait.
    pub window: u32,
    /// Most bytes that wait.
    #[serde(default = "unlimited")]
    pub bytes: u64,
    /// `t-PollRetransmit`.
    pub poll_retransmit_ms: u32,
    /// `pollPDU`; none: infinity.
    pub poll_pdu: Option<u32>,
    /// `pollByte`; none: infinity.
    pub poll_byte: Option<u32>,
    /// `maxRetxThreshold`.
    pub max_retransmissions: u8,
}

fn unlimited() -> u64 {
    u64::MAX
}

impl Bearer {
    fn config(&self) -> BearerConfig {
        BearerConfig {
            sn_length: if self.sn_bits == 12 { SnLength::Bits12 } else { SnLength::Bits18 },
            window: self.window,
            bytes: self.bytes,
            poll_retransmit_ms: self.poll_retransmit_ms,
            poll_pdu: self.poll_pdu,
            poll_byte: self.poll_byte,
            max_retransmissions: self.max_retransmissions,
        }
    }
}

impl Service {
    /// Which one it is. The name was checked.
    pub fn kind(&self) -> Kind {
        Kind::named(&self.name).expect("the configuration was checked")
    }

    /// Its sizes.
    pub fn sizes(&self) -> Sizes {
        let Service { bearers, packets, bytes, interval_ms, attempts, .. } = *self;
        Sizes { bearers, packets, bytes, interval_ms, attempts }
    }

    /// Its bearers as settings.
    pub fn bearers(&self) -> Vec<(u32, Zeroizing<Vec<u8>>)> {
        self.bearer.iter().map(|bearer| (bearer.number, bearer_setting(&bearer.config()).into())).collect()
    }

    /// Checks one block, beside those before it.
    pub(super) fn validate(&self, at: usize, before: &[Service], workers: &Workers) -> Result<(), Fault> {
        let fault = |key: &str, what: String| Err(Fault::new(format!("service[{at}].{key}"), what));
        let Some(kind) = Kind::named(&self.name) else { return fault("name", format!("expected one of {}", Kind::names())) };
        if let Some(other) = before.iter().position(|service| service.name == self.name) {
            return fault("name", format!("expected a unique name: service[{other}] has it"));
        }
        if self.place.to_service().to_string().parse::<service::Place>().is_err() {
            return match &self.place {
                Place::Threads(_) => fault("place.threads", format!("expected 1 to {} threads", service::place::MAX_THREADS)),
                _ => fault("place.process", "expected an absolute path of at most 100 bytes".into()),
            };
        }
        if let Place::Process(_) = &self.place
            && let Some(other) = before.iter().position(|service| service.place == self.place)
        {
            return fault("place.process", format!("expected a socket of its own: service[{other}] has this one"));
        }
        let is_process = matches!(self.place, Place::Process(_));
        if self.start && !is_process {
            return fault("start", "only for place = { process = PATH }".into());
        }
        let (_, most) = workers.range();
        if kind.has_state() && self.place == Place::Lane && (most > 1 || workers.of_ports() > 1) {
            let what = format!(
                "with more than one worker the {} service runs on threads or in a process: packets of one flow may come to several workers",
                self.name
            );
            return fault("place", what);
        }
        if let Some(key) = self.sizes().first_given().filter(|_| is_process && !self.start) {
            return fault(key, "a process that the daemon does not start has its sizes on its own command line".into());
        }
        if let Err((key, what)) = kind.check(&self.sizes()) {
            return fault(key, what);
        }
        self.validate_bearers(at, kind)?;
        if self.key_file.is_some() && kind != Kind::Cipher {
            return fault("key_file", "only for service cipher".into());
        }
        Ok(())
    }

    fn validate_bearers(&self, at: usize, kind: Kind) -> Result<(), Fault> {
        let mut seen = HashSet::new();
        for (i, bearer) in self.bearer.iter().enumerate() {
            let fault = |key: &str, what: String| Err(Fault::new(format!("service[{at}].bearer[{i}].{key}"), what));
            if kind != Kind::Buffer {
                return fault("number", "only for service buffer".into());
            }
            let most = self.sizes().number("bearers");
            if u64::from(bearer.number) >= most {
                return fault("number", format!("expected a number below {most}, the service's `bearers`"));
            }
            if !seen.insert(bearer.number) {
                return fault("number", "expected a unique number".into());
            }
            if ![12, 18].contains(&bearer.sn_bits) {
                return fault("sn_bits", "expected 12 or 18".into());
            }
            if let Err(error) = bearer.config().check() {
                let text = error.to_string();
                let (keys, what) = text.split_once(": ").unwrap_or(("number", &text));
                // One text is for two keys.
                let key =
                    if keys.contains(',') && bearer.poll_pdu != Some(0) { "poll_byte" } else { keys.split(',').next().unwrap_or(keys) };
                return fault(key, what.to_owned());
            }
        }
        Ok(())
    }
}
