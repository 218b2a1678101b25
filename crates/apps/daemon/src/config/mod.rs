//! The configuration file of `splitplane run`: one TOML file, checked whole before anything is opened.
//!
//! `docs/configuration.md` describes every key; `splitplane run --print-config` prints an example.

mod api;
mod control;
pub(crate) mod dpdk;
mod fault;
mod host;
mod log;
pub(crate) mod lower;
mod machine;
mod n4;
mod network;
pub(crate) mod peers;
pub(crate) mod placement;
mod port;
mod qos;
mod queue;
mod service;
pub mod service_kind;
pub(crate) mod share;
pub mod shared_store;
pub(crate) mod slice;
mod split;
#[cfg(test)]
mod tests;
mod validate;
mod values;
mod workers;

pub use api::Api;
pub use control::Control;
pub use fault::{Fault, Source};
pub use host::Host;
pub use log::{Log, read_filter};
pub(crate) use machine::longest_user_packet;
pub use n4::{N4, OnStop, RequestPort, Store, Survives};
pub use network::{FirewallAction, FirewallRule, Neighbour, Pool, Route, TrafficClass, Vxlan};
pub use port::{Driver, Port, Role};
pub use qos::{Qos, QosMode};
pub use queue::Queue;
pub use service::{Bearer, Place, Service};
pub use share::Share;
pub use slice::Slice;
pub use split::{FastTarget, Policy, Rates, Split};
pub use values::{Mac, Prefix};
pub use workers::{EngineConfig, Steering, Workers};

use crate::config::dpdk::Dpdk;
use cli::failure::Failure;
use cli::files::{open_regular, read_text};
use serde::Deserialize;
use shared_store::Settings;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// N4 and sessions.
    pub n4: N4,
    /// Interfaces.
    #[serde(default, rename = "port")]
    pub ports: Vec<Port>,
    /// Routes beyond the ports' own networks.
    #[serde(default, rename = "route")]
    pub routes: Vec<Route>,
    /// Neighbours that are not to be asked for by ARP or ND.
    #[serde(default, rename = "neighbour")]
    pub neighbours: Vec<Neighbour>,
    /// UE address pools.
    #[serde(default, rename = "pool")]
    pub pools: Vec<Pool>,
    /// Global firewall rules, first match wins.
    #[serde(default, rename = "firewall")]
    pub firewall: Vec<FirewallRule>,
    /// VXLAN overlays (RFC 7348) on ports with `vxlan = true`.
    pub vxlan: Option<Vxlan>,
    /// 5-tuple traffic classes, first match wins.
    #[serde(default, rename = "class")]
    pub classes: Vec<TrafficClass>,
    /// Queues of ports that have a rate.
    #[serde(default, rename = "queue")]
    pub queues: Vec<Queue>,
    /// Slices of ports that have a rate, first match wins.
    #[serde(default, rename = "slice")]
    pub slices: Vec<Slice>,
    /// Weights of sessions at ports that have a rate, first match wins.
    #[serde(default, rename = "share")]
    pub shares: Vec<Share>,
    /// The targets.
    #[serde(default)]
    pub split: Split,
    /// Worker threads.
    #[serde(default)]
    pub workers: Workers,
    /// Buffers and compiler.
    #[serde(default)]
    pub engine: EngineConfig,
    /// What the UPF does as a host on its networks, at most.
    #[serde(default)]
    pub host: Host,
    /// Where the running UPF is asked.
    #[serde(default)]
    pub control: Control,
    /// The HTTP server.
    #[serde(default)]
    pub api: Api,
    /// What is logged.
    #[serde(default)]
    pub log: Log,
    /// How rates are held.
    #[serde(default)]
    pub qos: Qos,
    /// What the program calls beside the pipeline.
    #[serde(default, rename = "service")]
    pub services: Vec<Service>,
    /// How DPDK is started, for ports of its driver.
    #[serde(default)]
    pub dpdk: Dpdk,
    /// The program, if not the built-in `upf.p4`.
    pub program: Option<PathBuf>,
    /// What it was read from, for faults that are found later.
    #[serde(skip)]
    pub source: Source,
}

/// Longest file: a thousand times the longest of ours.
const MAX_FILE: u64 = 16 << 20;

impl Config {
    /// Reads and checks a file. The error names file, line, key, value and what was expected.
    pub fn load(path: &Path) -> Result<Config, Failure> {
        // A pipe is as good: the shell's `<(...)`.
        Config::of_file(path, std::fs::File::open(path))
    }

    /// As [`Config::load`], while the UPF runs: what is no file would be waited for.
    pub fn load_again(path: &Path) -> Result<Config, Failure> {
        Config::of_file(path, open_regular(path))
    }

    fn of_file(path: &Path, file: std::io::Result<std::fs::File>) -> Result<Config, Failure> {
        let text = file.and_then(|file| read_text(file, MAX_FILE));
        let text = text.map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
        Config::read(Source { file: path.display().to_string(), text }).map_err(Failure::Usage)
    }

    /// Checks a file's text.
    pub fn parse(text: &str) -> Result<Config, String> {
        Config::read(Source { file: String::new(), text: text.to_owned() })
    }

    fn read(source: Source) -> Result<Config, String> {
        let mut config: Config = toml::from_str(&source.text).map_err(|e| source.explain(&e))?;
        config.qos.decide(config.program.is_some());
        config.validate().map_err(|fault| source.show(&fault))?;
        config.source = source;
        Ok(config)
    }

    /// Names that the program is compiled with.
    pub fn defines(&self) -> Vec<(String, String)> {
        let mut defines = self.qos.defines();
        if self.has_queues() {
            defines.push(("QUEUES".into(), "1".into()));
        }
        defines.extend(self.split.defines());
        defines
    }

    /// Queues of a port, if it has a rate.
    pub fn port_queues(&self, port: &Port) -> Option<(shaper::PortSettings, queue::Fill)> {
        Some((queue::port_settings(&self.queues, &self.slices, port.rate_kbps?), queue::Fill::new(&self.queues, port)))
    }

    /// The server that keeps sessions for a standby too, if there is one. Faults name the section alone: its URL may have a password.
    pub fn shared_store(&self) -> Option<Result<Settings, Fault>> {
        let shared = self.n4.store.as_ref()?.shared.as_ref()?;
        let fault = |what| Fault::new("n4.store.shared", what);
        let node_id = || self.n4.node_id.clone().unwrap_or_else(|| self.n4.listen.ip().to_string());
        let name = shared.name.clone().unwrap_or_else(node_id);
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
            return Some(Err(fault("expected a `name` of 1 to 64 letters, digits, `-`, `_`, `.` and `:`".into())));
        }
        let (lease, outage) = (Duration::from_millis(shared.lease_ms), Duration::from_secs(shared.outage_s));
        Some(Settings::new(&shared.url, name, lease, outage, self.n4.max_sessions).map_err(|e| fault(format!("`url`: {e}"))))
    }

    /// A fault that was found after the file was read.
    pub fn fault(&self, key: impl Into<String>, what: impl Into<String>) -> Failure {
        self.source.failure(&Fault::new(key, what))
    }
}
