//! Which services are there, with which sizes, and how does the daemon bring them to their places?
//!
//! A program names a service by [`service::Interface::name`]. Configuration (`[[service]]`) and command line (`splitplane service`) mean the same ones, with the same
//! sizes: what differs is the process that they run in.

use crate::config::service_kind::{Kind, Sizes};
use crate::config::{Config, Place, Service};
use crate::manage::report::ServiceReport;
use buffer::Limits;
use buffer::resubmit::service::ResubmitService;
use buffer::service::BufferService;
use ciphering::service::{CipherService, MAX_KEYS, key_setting};
use ciphering::{Choice, Nea, Nia};
use cli::failure::Failure;
use program::Program;
use radio_bearer::RadioBearerService;
use service::Deployment;
use service::caller::{Make, Rings};
use shaper::codel::Law;
use shaper::service::ShaperService;
use std::collections::{BTreeMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use zeroize::Zeroizing;

impl Kind {
    /// As [`Kind::make`], over the slow twins where the service has one: what the interpreter calls, so that a target's services are compared with something else. The
    /// receiving sides of bearers and the shaper are their own: their crates compare them with twins (docs/decisions.md).
    pub fn plain(self, sizes: Sizes) -> Make {
        let limits = Limits { packets: sizes.number("packets") as usize, bytes: sizes.number("bytes") };
        match self {
            Kind::Buffer => {
                let bearers = sizes.number("bearers") as usize;
                Arc::new(move || Box::new(BufferService::plain(bearers, limits)))
            }
            Kind::Resubmit => {
                let (interval_ms, attempts) = (sizes.number("interval_ms") as u32, sizes.number("attempts") as u32);
                Arc::new(move || Box::new(ResubmitService::plain(interval_ms, attempts, limits)))
            }
            Kind::Cipher => Arc::new(|| Box::new(CipherService::new(Choice::Portable).expect("it needs no library"))),
            Kind::RadioBearer | Kind::Shaper => self.make(sizes),
        }
    }

    /// What makes instances of it. The sizes were checked.
    pub fn make(self, sizes: Sizes) -> Make {
        let limits = Limits { packets: sizes.number("packets") as usize, bytes: sizes.number("bytes") };
        match self {
            Kind::Buffer => {
                let bearers = sizes.number("bearers") as usize;
                Arc::new(move || Box::new(BufferService::new(bearers, limits)))
            }
            Kind::Resubmit => {
                let (interval_ms, attempts) = (sizes.number("interval_ms") as u32, sizes.number("attempts") as u32);
                Arc::new(move || Box::new(ResubmitService::new(interval_ms, attempts, limits)))
            }
            Kind::RadioBearer => {
                let bearers = sizes.number("bearers") as usize;
                Arc::new(move || Box::new(RadioBearerService::new(bearers)))
            }
            Kind::Shaper => {
                let ns = |key: &str| sizes.number(key) * 1_000_000;
                let sizes = shaper::service::Sizes {
                    queues: sizes.number("queues") as u32,
                    packets: limits.packets as u32,
                    delay_ns: ns("queue_ms"),
                    law: Law { target_ns: ns("target_ms"), ..Law::default() },
                };
                Arc::new(move || Box::new(ShaperService::new(sizes)))
            }
            Kind::Cipher => Arc::new(|| Box::new(CipherService::new(Choice::Fastest).expect("an implementation is always there"))),
        }
    }
}

/// A value for each index.
type Settings = Vec<(u32, Zeroizing<Vec<u8>>)>;

/// Whether the services are those that the program calls, and their files can be read.
pub fn check(config: &Config, program: &Program) -> Result<(), Failure> {
    for called in program.services.values() {
        let Some(at) = config.services.iter().position(|service| service.name == called.name) else {
            let known = Kind::named(&called.name)
                .map_or_else(|| format!(", and there is no such service: expected one of {}", Kind::names()), |_| String::new());
            let what = format!("expected a [[service]] with name = \"{}\": the program calls it{known}", called.name);
            return Err(config.fault("service", what));
        };
        let request = called.request.iter().map(|field| (field.name.as_str(), field.width));
        let answer = called.answer.iter().map(|field| (field.name.as_str(), field.width));
        let same = config.services[at].kind().interface().check(request, answer);
        same.map_err(|mismatch| config.fault(format!("service[{at}].name"), mismatch.to_string()))?;
    }
    for (at, service) in config.services.iter().enumerate() {
        if program.service(&service.name).is_none() {
            return Err(config.fault(format!("service[{at}].name"), format!("{} does not call it", program.name)));
        }
        settings(service).map_err(|what| config.fault(format!("service[{at}].key_file"), what))?;
    }
    Ok(())
}

fn settings(service: &Service) -> Result<Settings, String> {
    let mut settings = service.bearers();
    if let Some(path) = &service.key_file {
        settings.extend(read_keys(path)?);
    }
    Ok(settings)
}

/// Services at their places, and processes of ours that run some of them, which end with this.
#[derive(Default)]
pub struct Running {
    /// In the order of the configuration.
    pub deployments: Vec<Arc<Deployment>>,
    places: Vec<String>,
    processes: Vec<Child>,
}

impl Running {
    /// What became of all calls, by service.
    pub fn report(&self) -> BTreeMap<String, ServiceReport> {
        let row = |(deployment, place): (&Arc<Deployment>, &String)| {
            let (interface, counters) = (deployment.interface(), deployment.counters());
            let report = ServiceReport {
                place: place.clone(),
                calls: counters.calls,
                answered: counters.answered,
                waiting: counters.waiting(),
                copies: counters.copies,
                dropped: counters.dropped.iter().map(|(reason, n)| (interface.reason_name(*reason).to_owned(), *n)).collect(),
                refused_settings: counters.refused_settings,
            };
            (interface.name.to_owned(), report)
        };
        self.deployments.iter().zip(&self.places).map(row).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for child in &mut self.processes {
            // What they keep is nobody's any more.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Brings the services to their places. The program was checked.
pub fn start(config: &Config) -> Result<Running, Failure> {
    let mut running = Running::default();
    if config.services.iter().any(|service| service.key_file.is_some()) {
        crate::process::privileges::no_core_dumps()
            .map_err(|error| Failure::Failed(format!("core dumps cannot be turned off, and there are keys: {error}")))?;
    }
    for (at, service) in config.services.iter().enumerate() {
        let fault = |key: &str, what: String| config.fault(format!("service[{at}].{key}"), what);
        let kind = service.kind();
        let place = service.place.to_service();
        let deployment = Deployment::new(&place, kind.make(service.sizes()), Rings::default())
            .map_err(|error| fault("place", format!("cannot be made: {error}")))?;
        for (index, value) in settings(service).map_err(|what| fault("key_file", what))? {
            deployment.set(index, Some(value)).map_err(|error| fault("name", error.to_string()))?;
        }
        running.deployments.push(Arc::new(deployment));
        running.places.push(place.to_string());
        if let Place::Process(path) = &service.place {
            let command = format!("splitplane service {} --connect {}", service.name, path.display());
            if service.start {
                let child = start_process(service, path).map_err(|error| fault("start", format!("cannot run `{command}`: {error}")))?;
                tracing::info!(service = service.name, process = child.id(), "started; if it ends, start it again: {command}");
                running.processes.push(child);
            } else {
                tracing::info!(service = service.name, "packets that call it are dropped (service_down) until somebody runs: {command}");
            }
        }
    }
    Ok(running)
}

/// In a process group of its own: an interrupt from the terminal is for the daemon, which ends it. It ends too when the daemon is killed.
fn start_process(service: &Service, path: &Path) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["service", &service.name, "--until-input-ends", "--connect"]).arg(path).args(service.sizes().options());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0).spawn()
}

/// Longest file of keys: [`MAX_KEYS`] lines of 100 bytes, and comments.
const KEY_FILE_MAX: u64 = 16 << 20;

/// Keys by their index, one a line: `INDEX NEA KEY NIA KEY`, or `INDEX NEA KEY` where nothing is protected. Messages name the line, and never what is in it.
pub fn read_keys(path: &Path) -> Result<Settings, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let found = std::fs::metadata(path).map_err(unreadable)?;
    if !found.is_file() || found.len() > KEY_FILE_MAX {
        return Err(format!("expected a file of at most {} MiB", KEY_FILE_MAX >> 20));
    }
    if found.mode() & 0o077 != 0 {
        return Err(format!("others may read it: run `chmod 600 {}`", path.display()));
    }
    let text = Zeroizing::new(std::fs::read(path).map_err(unreadable)?);
    parse_keys(&text)
}

/// As [`read_keys`], of the file's bytes.
pub fn parse_keys(text: &[u8]) -> Result<Settings, String> {
    let mut keys = Settings::new();
    let mut seen = HashSet::new();
    for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        let fields: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
        if fields.is_empty() {
            continue;
        }
        let wrong = |what: &str| format!("line {}: {what}", at + 1);
        let (index, value) = parse_key(&fields).ok_or_else(|| {
            wrong(
                "expected INDEX NEA KEY NIA KEY, or INDEX NEA KEY: an index below 65536, algorithms 0 to 3, keys of 32 hexadecimal digits",
            )
        })?;
        if !seen.insert(index) {
            return Err(wrong("the index was there before"));
        }
        keys.push((index, value));
    }
    if keys.is_empty() {
        return Err("expected at least one key".into());
    }
    Ok(keys)
}

fn parse_key(fields: &[&[u8]]) -> Option<(u32, Zeroizing<Vec<u8>>)> {
    let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<u32>().ok();
    let algorithm = |field: &[u8]| u8::try_from(number(field)?).ok();
    let (index, nea, cipher, integrity) = match fields {
        [index, nea, cipher] => (index, nea, cipher, None),
        [index, nea, cipher, nia, key] => (index, nea, cipher, Some((Nia::try_from(algorithm(nia)?).ok()?, hexadecimal(key)?))),
        _ => return None,
    };
    let index = number(index).filter(|index| (*index as usize) < MAX_KEYS)?;
    let nea = Nea::try_from(algorithm(nea)?).ok()?;
    Some((index, key_setting(nea, &*hexadecimal(cipher)?, integrity.as_ref().map(|(nia, key)| (*nia, &**key)))))
}

fn hexadecimal(digits: &[u8]) -> Option<Zeroizing<[u8; 16]>> {
    let mut key = Zeroizing::new([0; 16]);
    if digits.len() != 2 * key.len() {
        return None;
    }
    for (pair, byte) in digits.chunks(2).zip(key.iter_mut()) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        *byte = (digit(0)? << 4 | digit(1)?) as u8;
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "000102030405060708090a0b0c0d0e0F";

    #[test]
    fn keys_are_read_and_a_fault_names_its_line_and_never_the_key() {
        let text = format!("# bearers\n 1 2 {KEY} 2 {KEY} # the first\n\n65535 0 {KEY}\r\n");
        let keys = parse_keys(text.as_bytes()).unwrap();
        let bytes: Vec<u8> = (0..16).collect();
        assert_eq!((keys[0].0, keys[0].1.to_vec()), (1, [&[2, 2][..], &bytes, &bytes].concat()));
        assert_eq!((keys[1].0, keys[1].1[..18].to_vec()), (65535, [&[0, 0xff][..], &bytes].concat()));
        assert!(keys.iter().all(|(index, value)| (ciphering::service::INTERFACE.check_setting)(*index, Some(value)).is_ok()));
        let short = &KEY[1..];
        for wrong in [
            format!("1 2 {short}"),
            format!("1 2 {short}g"),
            format!("1 4 {KEY}"),
            format!("65536 2 {KEY}"),
            format!("-1 2 {KEY}"),
            format!("1 2 {KEY} 2"),
            format!("1 2 {KEY} 2 {KEY} 3"),
            format!("1 2 {KEY} 4 {KEY}"),
            format!("1 258 {KEY}"),
            KEY.to_owned(),
            "1 2 \u{e9}".to_owned(),
        ] {
            let error = parse_keys(format!("\n{wrong}\n").as_bytes()).unwrap_err();
            assert!(error.starts_with("line 2: expected INDEX NEA KEY") && !error.contains(short), "{wrong}: {error}");
        }
        assert_eq!(parse_keys(format!("1 2 {KEY}\n1 2 {KEY}").as_bytes()).unwrap_err(), "line 2: the index was there before");
        assert_eq!(parse_keys(b"# none").unwrap_err(), "expected at least one key");
    }

    #[test]
    fn sizes_are_those_of_their_service_and_within_what_it_takes() {
        let none = Sizes::default();
        assert!(Kind::ALL.iter().all(|kind| kind.check(&none).is_ok()));
        let all = Sizes { bearers: Some(1), packets: Some(1), bytes: Some(1), interval_ms: Some(1), attempts: Some(1), ..none };
        let first = |kind: Kind, sizes: Sizes| kind.check(&sizes).unwrap_err();
        assert_eq!(first(Kind::Buffer, all), ("interval_ms", "only for service resubmit".to_owned()));
        assert_eq!(
            first(Kind::Cipher, Sizes { packets: Some(5), ..none }),
            ("packets", "only for service buffer, resubmit and shaper".to_owned())
        );
        assert_eq!(first(Kind::Buffer, Sizes { bearers: Some(0), ..none }), ("bearers", "expected 1 to 1048576".to_owned()));
        assert_eq!(first(Kind::Resubmit, Sizes { packets: Some(1 << 25), ..none }), ("packets", "expected 1 to 16777216".to_owned()));
        // The largest that pass are taken: none of them panics.
        let few = Sizes { packets: Some(16), ..none };
        assert_eq!(Kind::Buffer.make(Sizes { bearers: Some(4), ..few })().interface().name, "buffer");
        assert_eq!(Kind::Resubmit.make(Sizes { interval_ms: Some(60_000), attempts: Some(65_535), ..few })().interface().name, "resubmit");
        let short = Sizes { queues: Some(1), queue_ms: Some(1000), target_ms: Some(1), packets: Some(1 << 24), ..none };
        assert_eq!((Kind::Shaper.check(&short), Kind::Shaper.make(short)().interface().name), (Ok(()), "shaper"));
        assert_eq!(first(Kind::Shaper, Sizes { queue_ms: Some(1001), ..none }), ("queue_ms", "expected 1 to 1000".to_owned()));
        assert_eq!(first(Kind::Buffer, Sizes { queues: Some(1), ..none }), ("queues", "only for service shaper".to_owned()));
        assert_eq!(few.options(), ["--packets=16"]);
        assert_eq!((few.first_given(), none.first_given()), (Some("packets"), None));
    }

    fn config(services: &str) -> Config {
        let ports = "[n4]\nlisten = \"127.0.0.1:8805\"\n[[port]]\nname = \"n3\"\ndriver = \"pcap\"\noutput = \"x\"\nrole = \"both\"\n\
                     network_instance = \"access\"\naddresses = [\"10.3.0.1/24\"]\ngtpu = [\"10.3.0.1\"]\n";
        Config::parse(&format!("{ports}{services}")).unwrap()
    }

    #[test]
    fn blocks_are_those_that_the_program_calls_with_its_fields_and_readable_keys() {
        let refused = |services: &str, program: &Program| match check(&config(services), program) {
            Err(Failure::Usage(line)) => line,
            other => panic!("{services}: {other:?}"),
        };
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../splitplane/tests/programs");
        let mut program = p4_driver::compile_unoptimised(&folder.join("ciphered_upf.p4"), &[], &[]).unwrap().program;
        assert_eq!(refused("", &program), "service is missing: expected a [[service]] with name = \"cipher\": the program calls it");
        let (cipher, buffer) = ("[[service]]\nname = \"cipher\"\n", "[[service]]\nname = \"buffer\"\n");
        assert!(check(&config(cipher), &program).is_ok());
        let line = refused(&format!("{cipher}{buffer}"), &program);
        assert!(line.ends_with("service[1].name = \"buffer\": ciphered_upf.p4 does not call it"), "{line}");
        // Keys that everybody may read, and then a file that has none.
        let keys = tempfile::NamedTempFile::new().unwrap();
        let with_keys = format!("{cipher}key_file = \"{}\"\n", keys.path().display());
        let mode = |mode| std::fs::set_permissions(keys.path(), std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        mode(0o640);
        assert!(refused(&with_keys, &program).contains("others may read it: run `chmod 600"));
        mode(0o600);
        assert!(refused(&with_keys, &program).contains("expected at least one key"));
        let absent = refused(&format!("{cipher}key_file = \"/nowhere/keys\"\n"), &program);
        assert!(absent.contains("service[0].key_file = \"/nowhere/keys\": cannot be read:"), "{absent}");
        program.services.values_mut().for_each(|service| service.answer.clear());
        let fields = refused(cipher, &program);
        assert!(fields.contains("answer of the program: no fields; of the service: bit<16> payload_bytes"), "{fields}");
        program.services.values_mut().for_each(|service| service.name = "enigma".into());
        let unknown = refused("", &program);
        assert!(
            unknown.ends_with(
                "and there is no such service: expected one of \"buffer\", \"resubmit\", \"cipher\", \"radio_bearer\", \"shaper\""
            ),
            "{unknown}"
        );
    }
}
