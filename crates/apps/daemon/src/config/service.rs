//! `[[service]]`: what a program calls beside the pipeline, and where it runs.

use super::service_kind::{Kind, Sizes};
use super::{Fault, Workers};
use buffer::rlc::BearerConfig;
use buffer::service::bearer_setting;
use buffer::status::SnLength;
use gnb::pdcp::pdu::Format;
use gnb::pdcp::{CountGuard, OrderConfig};
use gnb::rlc::am_rx::RxConfig;
use gnb::rlc::pdu::UmSnLength;
use gnb::rlc::um::UmRxConfig;
use radio_bearer::RlcConfig;
use serde::Deserialize;
use shaper::service::{QueueConfig, queue_setting};
use shaper::tree::MAX_BURST;
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
    /// As above.
    pub queues: Option<u64>,
    /// As above.
    pub queue_ms: Option<u64>,
    /// As above.
    pub target_ms: Option<u64>,
    /// Of `shaper`: queues with their rates.
    #[serde(default)]
    pub queue: Vec<Queue>,
    /// Of `buffer`: bearers that are there from the start.
    #[serde(default)]
    pub bearer: Vec<Bearer>,
    /// Of `radio_bearer`: bearers that are there from the start.
    #[serde(default)]
    pub radio_bearer: Vec<RadioBearer>,
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

/// `[[service.radio_bearer]]`: the receiving sides of TS 38.331 `RLC-Config` and `PDCP-Config`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RadioBearer {
    /// As the program's requests have it.
    pub number: u32,
    /// RLC's mode.
    pub rlc: Mode,
    /// Bits of RLC's sequence numbers: 12 or 18 with AM, 6 or 12 with UM.
    pub rlc_sn_bits: Option<u32>,
    /// Most SDUs that wait, in RLC AM and in PDCP.
    pub window: Option<u32>,
    /// Most bytes that wait, in RLC and in PDCP each.
    #[serde(default = "receive_bytes")]
    pub bytes: u64,
    /// `t-Reassembly`.
    pub reassembly_ms: Option<u32>,
    /// `t-StatusProhibit`.
    pub status_prohibit_ms: Option<u32>,
    /// Bits of PDCP's sequence numbers: 12 or 18.
    pub pdcp_sn_bits: u32,
    /// PDUs end with a MAC-I.
    #[serde(default)]
    pub integrity: bool,
    /// PDUs have an SDAP header.
    #[serde(default)]
    pub sdap_header: bool,
    /// `t-Reordering`; none: infinity.
    pub reordering_ms: Option<u32>,
    /// `outOfOrderDelivery`.
    #[serde(default)]
    pub out_of_order: bool,
}

/// `service.radio_bearer.rlc`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Transparent.
    Tm,
    /// Unacknowledged.
    Um,
    /// Acknowledged.
    Am,
}

/// `[[service.queue]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// As the program's requests have it.
    pub number: u32,
    /// Rate of what packets count, kbit/s.
    pub rate_kbps: u64,
    /// Bytes that may pass at once: no packet may count more.
    #[serde(default = "burst_bytes")]
    pub burst_bytes: u32,
}

fn burst_bytes() -> u32 {
    16 << 10
}

/// Fastest queue: 1 Tbit/s.
const MAX_RATE_KBPS: u64 = 1_000_000_000;

impl Queue {
    fn config(&self) -> QueueConfig {
        QueueConfig { rate: self.rate_kbps * 125, burst: self.burst_bytes }
    }
}

fn receive_bytes() -> u64 {
    8 << 20
}

/// SDUs that wait where nothing is said.
const RECEIVE_WINDOW: u32 = 4096;

impl RadioBearer {
    /// As the service has it.
    ///
    /// # Errors
    /// The key, and what was expected.
    fn config(&self) -> Result<radio_bearer::BearerConfig, (&'static str, String)> {
        let ns = |ms: u32| u64::from(ms) * 1_000_000;
        let bits = |key, bits| match bits {
            12 => Ok(gnb::rlc::SnLength::Bits12),
            18 => Ok(gnb::rlc::SnLength::Bits18),
            _ => Err((key, "expected 12 or 18".to_owned())),
        };
        let only = |key, is_given: bool, is_used: bool| match (is_given, is_used) {
            (true, false) => Err((key, "not used with this `rlc`: leave it out".to_owned())),
            (false, true) => Err((key, "missing, and needed with this `rlc`".to_owned())),
            _ => Ok(()),
        };
        only("reassembly_ms", self.reassembly_ms.is_some(), self.rlc != Mode::Tm)?;
        only("status_prohibit_ms", self.status_prohibit_ms.is_some(), self.rlc == Mode::Am)?;
        only("rlc_sn_bits", self.rlc_sn_bits.is_some(), self.rlc != Mode::Tm)?;
        let sn_length = bits("pdcp_sn_bits", self.pdcp_sn_bits)?;
        let (reassembly_ns, partial_bytes) = (ns(self.reassembly_ms.unwrap_or_default()), self.bytes as usize);
        let mut window = self.window.unwrap_or(RECEIVE_WINDOW.min(sn_length.window()));
        let rlc = match (self.rlc, self.rlc_sn_bits.unwrap_or_default()) {
            (Mode::Tm, _) => RlcConfig::Tm,
            (Mode::Um, 6) => RlcConfig::Um(UmRxConfig { sn_length: UmSnLength::Bits6, partial_bytes, reassembly_ns }),
            (Mode::Um, 12) => RlcConfig::Um(UmRxConfig { sn_length: UmSnLength::Bits12, partial_bytes, reassembly_ns }),
            (Mode::Um, _) => return Err(("rlc_sn_bits", "expected 6 or 12 with \"um\"".into())),
            (Mode::Am, rlc_bits) => {
                let sn_length = bits("rlc_sn_bits", rlc_bits)?;
                if self.window.is_none() {
                    window = window.min(sn_length.window());
                }
                let status_prohibit_ns = ns(self.status_prohibit_ms.unwrap_or_default());
                RlcConfig::Am(RxConfig { sn_length, window, partial_bytes, reassembly_ns, status_prohibit_ns })
            }
        };
        let format = Format { kind: gnb::pdcp::Kind::Drb, sn_length, integrity: self.integrity, sdap_header: self.sdap_header };
        let order = OrderConfig {
            sn_length,
            window,
            bytes: self.bytes,
            reordering_ns: self.reordering_ms.map(ns),
            out_of_order: self.out_of_order,
            stop: CountGuard::default().stop,
        };
        let config = radio_bearer::BearerConfig { rlc, format, order };
        // The entities check their own numbers, and name them as we do.
        config.check().map_err(|text| {
            let (key, what) = text.split_once(": ").unwrap_or(("number", &text));
            let keys = ["window", "bytes", "reassembly_ms", "status_prohibit_ms", "reordering_ms"];
            let is_key = |name: &&&str| **name == key || name.strip_suffix("_ms").is_some_and(|name| key == format!("{name}_ns"));
            match keys.iter().find(is_key) {
                Some(key) => (*key, what.to_owned()),
                None if key == "partial_bytes" => ("bytes", what.to_owned()),
                None => ("number", text.clone()),
            }
        })?;
        Ok(config)
    }
}

impl Service {
    /// Which one it is. The name was checked.
    pub fn kind(&self) -> Kind {
        Kind::named(&self.name).expect("the configuration was checked")
    }

    /// Its sizes.
    pub fn sizes(&self) -> Sizes {
        let Service { bearers, packets, bytes, interval_ms, attempts, queues, queue_ms, target_ms, .. } = *self;
        Sizes { bearers, packets, bytes, interval_ms, attempts, queues, queue_ms, target_ms }
    }

    /// Its bearers, or queues, as settings.
    pub fn bearers(&self) -> Vec<(u32, Zeroizing<Vec<u8>>)> {
        let sending = self.bearer.iter().map(|bearer| (bearer.number, bearer_setting(&bearer.config()).into()));
        let receiving = self.radio_bearer.iter().map(|bearer| {
            let config = bearer.config().expect("the configuration was checked");
            (bearer.number, radio_bearer::bearer_setting(&config).into())
        });
        let queues = self.queue.iter().map(|queue| (queue.number, queue_setting(&queue.config()).into()));
        sending.chain(receiving).chain(queues).collect()
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
        self.validate_queues(at, kind)?;
        if self.key_file.is_some() && kind != Kind::Cipher {
            return fault("key_file", "only for service cipher".into());
        }
        Ok(())
    }

    fn validate_queues(&self, at: usize, kind: Kind) -> Result<(), Fault> {
        let mut seen = HashSet::new();
        for (i, queue) in self.queue.iter().enumerate() {
            let fault = |key: &str, what: String| Err(Fault::new(format!("service[{at}].queue[{i}].{key}"), what));
            if kind != Kind::Shaper {
                return fault("number", "only for service shaper".into());
            }
            let most = self.sizes().number("queues");
            if u64::from(queue.number) >= most {
                return fault("number", format!("expected a number below {most}, the service's `queues`"));
            }
            if !seen.insert(queue.number) {
                return fault("number", "expected a unique number".into());
            }
            if !(1..=MAX_RATE_KBPS).contains(&queue.rate_kbps) {
                return fault("rate_kbps", format!("expected 1 to {MAX_RATE_KBPS}"));
            }
            if !(1..=MAX_BURST).contains(&queue.burst_bytes) {
                return fault("burst_bytes", format!("expected 1 to {MAX_BURST}"));
            }
        }
        Ok(())
    }

    fn validate_bearers(&self, at: usize, kind: Kind) -> Result<(), Fault> {
        let mut seen = HashSet::new();
        for (i, bearer) in self.radio_bearer.iter().enumerate() {
            let fault = |(key, what): (&str, String)| Fault::new(format!("service[{at}].radio_bearer[{i}].{key}"), what);
            if kind != Kind::RadioBearer {
                return Err(fault(("number", "only for service radio_bearer".into())));
            }
            let most = self.sizes().number("bearers");
            if u64::from(bearer.number) >= most {
                return Err(fault(("number", format!("expected a number below {most}, the service's `bearers`"))));
            }
            if !seen.insert(bearer.number) {
                return Err(fault(("number", "expected a unique number".into())));
            }
            bearer.config().map_err(fault)?;
        }
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
