//! The configuration file of `splitplane run`: one TOML file, checked whole before anything is opened.
//!
//! `docs/configuration.md` describes every key; `splitplane run --print-config` prints an example.

mod api;
mod control;
mod fault;
mod host;
mod log;
mod machine;
mod n4;
mod network;
mod port;
mod qos;
mod queue;
mod service;
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
pub use log::{Log, MAX_FILTER};
pub use n4::{N4, OnStop, RequestPort, Store, Survives};
pub use network::{FirewallAction, FirewallRule, Neighbour, Pool, Route, TrafficClass, Vxlan};
pub use port::{Driver, Port, Role};
pub use qos::{Qos, QosMode};
pub use queue::Queue;
pub use service::{Bearer, Place, Service};
pub use split::{FastTarget, Policy, Split};
pub use values::{Mac, Prefix};
pub use workers::{EngineConfig, Steering, Workers};

use crate::dpdk_ports::Dpdk;
use crate::failure::Failure;
use serde::Deserialize;
use std::path::{Path, PathBuf};

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

impl Config {
    /// Reads and checks a file. The error names file, line, key, value and what was expected.
    pub fn load(path: &Path) -> Result<Config, Failure> {
        let text = std::fs::read_to_string(path).map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
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

    /// Queues of a port, if it has a rate.
    pub fn port_queues(&self, port: &Port) -> Option<(shaper::PortSettings, queue::Fill)> {
        Some((queue::port_settings(&self.queues, port.rate_kbps?), queue::Fill::new(&self.queues)))
    }

    /// A fault that was found after the file was read.
    pub fn fault(&self, key: impl Into<String>, what: impl Into<String>) -> Failure {
        self.source.failure(&Fault::new(key, what))
    }
}
