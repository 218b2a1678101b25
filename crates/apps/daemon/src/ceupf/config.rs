//! The configuration of `splitplane run` where it is a switch in front of a foreign UPF: a file with a table `[ceupf]`.
//!
//! `docs/ceupf.example.toml` describes every key.

use crate::config::dpdk::Dpdk;
use crate::config::{Driver, Fault, Mac, Port, Prefix, Role, Source, Workers};
use base::PortId;
use ceupf::{ACCESS_PORT, Arrangement, ArrangementError, CORE_PORT, FOREIGN_ACCESS_PORT, FOREIGN_CORE_PORT, Hop, Side};
use cli::failure::Failure;
use serde::Deserialize;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

/// Most rules that a configuration may ask for: each has room in two tables and a counter.
const MOST_RULES: u32 = 1 << 20;

/// Longest silence of a UE before its rules step aside: a day.
const MOST_IDLE_S: u64 = 86_400;

/// The file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What makes it one of this kind.
    pub ceupf: Ceupf,
    /// Interfaces.
    port: Ports,
    /// Neighbours that packets leave to by rules.
    #[serde(default, rename = "hop")]
    hops: Vec<HopConfig>,
    /// Worker threads.
    #[serde(default)]
    pub workers: Workers,
    /// How DPDK is started, for ports of its driver.
    #[serde(default)]
    pub dpdk: Dpdk,
    /// The program, if not the built-in `ceupf.p4`.
    pub program: Option<PathBuf>,
}

/// `[ceupf]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ceupf {
    /// Unix socket that `splitplane rules` speaks to.
    pub control: PathBuf,
    /// The foreign UPF's GTP-U address.
    upf: Ipv4Addr,
    /// Rules that fit.
    #[serde(default = "default_rules")]
    pub max_rules: u32,
    /// Rules of a UE that has sent nothing for so many seconds step aside; 0: they stay.
    #[serde(default)]
    pub idle_s: u64,
    /// Where the pipeline runs.
    #[serde(default)]
    pub target: Where,
    /// C compiler for the native target; default: `$CC`, else clang, else gcc.
    pub cc: Option<PathBuf>,
}

fn default_rules() -> u32 {
    131_072
}

/// `ceupf.target`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Where {
    /// Native code.
    #[default]
    X86,
    /// The model of a switch chip.
    Asic,
}

/// `[port.*]`, one for each side.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ports {
    access: Device,
    core: Device,
    upf_access: Device,
    upf_core: Device,
}

/// What a port is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Device {
    #[serde(default)]
    driver: Driver,
    interface: Option<String>,
    input: Option<PathBuf>,
    output: Option<PathBuf>,
    device: Option<String>,
    mtu: Option<u16>,
}

/// `[[hop]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HopConfig {
    name: String,
    side: SideName,
    to: Prefix,
    mac: Mac,
    src_mac: Mac,
    #[serde(default = "default_mtu")]
    mtu: u16,
}

fn default_mtu() -> u16 {
    1500
}

/// `hop.side`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SideName {
    Access,
    Core,
}

impl Config {
    /// Reads and checks a file, if it has a table `[ceupf]`. The error names file, line and key.
    pub fn load_if_asked(path: &Path) -> Result<Option<Config>, Failure> {
        let text = std::fs::read_to_string(path).map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
        // A file that is no TOML is reported by who reads the usual kind.
        if !toml::from_str::<toml::Table>(&text).is_ok_and(|table| table.contains_key("ceupf")) {
            return Ok(None);
        }
        Config::read(Source { file: path.display().to_string(), text }).map(Some).map_err(Failure::Usage)
    }

    /// Checks a file's text.
    pub fn parse(text: &str) -> Result<Config, String> {
        Config::read(Source { file: String::new(), text: text.to_owned() })
    }

    fn read(source: Source) -> Result<Config, String> {
        let config: Config = toml::from_str(&source.text).map_err(|e| source.explain(&e))?;
        config.validate().map_err(|fault| source.show(&fault))?;
        Ok(config)
    }

    fn validate(&self) -> Result<(), Fault> {
        let fault = |key: &str, what: String| Err(Fault::new(key, what));
        if self.ceupf.control.as_os_str().is_empty() {
            return fault("ceupf.control", "expected a path".into());
        }
        if !(1..=MOST_RULES).contains(&self.ceupf.max_rules) {
            return fault("ceupf.max_rules", format!("expected 1 to {MOST_RULES}"));
        }
        if self.ceupf.idle_s > MOST_IDLE_S {
            return fault("ceupf.idle_s", format!("expected 1 to {MOST_IDLE_S} seconds, or 0 for no end"));
        }
        let ports = self.ports();
        for (i, (_, port)) in ports.iter().enumerate() {
            let wrong = |key: &str, what: &str| fault(&format!("port.{}.{key}", port.name), what.to_owned());
            let kernel = matches!(port.driver, Driver::Auto | Driver::AfXdp | Driver::AfPacket);
            match port.driver {
                Driver::Udp | Driver::Tun => return wrong("driver", "expected a driver with Ethernet frames"),
                Driver::Pcap if port.input.is_none() && port.output.is_none() => {
                    return wrong("input", "driver \"pcap\" needs `input`, `output` or both");
                }
                _ if kernel && port.interface.is_none() => return wrong("interface", "expected the name of a kernel interface"),
                _ if !kernel && port.interface.is_some() => return wrong("interface", "only for af_xdp, af_packet and auto"),
                _ => {}
            }
            if kernel && ports[..i].iter().any(|(_, other)| other.interface == port.interface) {
                return wrong("interface", "expected an interface of its own: it is another port's already");
            }
            if port.driver == Driver::Pcap && self.workers.count > 1 && !self.workers.steered() {
                return wrong("driver", "capture files are read by one worker, unless steering is \"software\"");
            }
        }
        // Here ports have names instead of places in a list.
        let by_name = |mut fault: Fault| {
            for (i, (_, port)) in ports.iter().enumerate() {
                fault.key = fault.key.replace(&format!("port[{i}]"), &format!("port.{}", port.name));
            }
            fault
        };
        crate::config::dpdk::validate(&self.all_ports(), &self.dpdk).map_err(by_name)?;
        self.workers.validate()?;
        if let Some(i) = self.hops.iter().position(|hop| hop.to.address.is_ipv6()) {
            return fault(&format!("hop[{i}].to"), "expected an IPv4 network".into());
        }
        self.arrangement().validate().map_err(|e| {
            let key = match &e {
                ArrangementError::Upf(_) => "ceupf.upf".to_owned(),
                ArrangementError::TooMany(_) => "hop".to_owned(),
                ArrangementError::Program(_) => "program".to_owned(),
                // The second, where there are two of a name.
                ArrangementError::Hop(name, _) => {
                    self.hops.iter().rposition(|hop| hop.name == *name).map_or("hop".to_owned(), |i| format!("hop[{i}]"))
                }
            };
            Fault::new(key, e.to_string())
        })
    }

    /// Ports with their numbers in the program.
    pub fn ports(&self) -> Vec<(PortId, Port)> {
        let port = |id, name: &str, role, device: &Device| {
            let device = device.clone();
            let port = Port {
                name: name.to_owned(),
                driver: device.driver,
                interface: device.interface,
                listen: None,
                input: device.input,
                output: device.output,
                device: device.device,
                mtu: device.mtu,
                mac: None,
                vxlan: false,
                role,
                network_instance: String::new(),
                addresses: Vec::new(),
                gtpu: Vec::new(),
                reachable: Vec::new(),
                default: false,
                gso: None,
                rate_kbps: None,
            };
            (PortId(id), port)
        };
        vec![
            port(ACCESS_PORT, "access", Role::Access, &self.port.access),
            port(FOREIGN_ACCESS_PORT, "upf_access", Role::Access, &self.port.upf_access),
            port(CORE_PORT, "core", Role::Core, &self.port.core),
            port(FOREIGN_CORE_PORT, "upf_core", Role::Core, &self.port.upf_core),
        ]
    }

    /// Ports without numbers.
    pub fn all_ports(&self) -> Vec<Port> {
        self.ports().into_iter().map(|(_, port)| port).collect()
    }

    /// Where the switch stands.
    pub fn arrangement(&self) -> Arrangement {
        let hop = |hop: &HopConfig| Hop {
            name: hop.name.clone(),
            side: match hop.side {
                SideName::Access => Side::Access,
                SideName::Core => Side::Core,
            },
            to: match hop.to.network() {
                (IpAddr::V4(network), len) => (network, len),
                // Refused by `validate`; the longest prefix of no network holds nothing.
                (IpAddr::V6(_), _) => (Ipv4Addr::BROADCAST, 32),
            },
            src_mac: hop.src_mac.0,
            dst_mac: hop.mac.0,
            mtu: hop.mtu,
        };
        Arrangement { upf: self.ceupf.upf, hops: self.hops.iter().map(hop).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = include_str!("../../../../../docs/ceupf.example.toml");

    #[test]
    fn the_example_is_good() {
        let config = Config::parse(EXAMPLE).unwrap();
        assert_eq!((config.ceupf.max_rules, config.ceupf.target), (131_072, Where::X86));
        assert_eq!(config.arrangement().hops.len(), 2);
        let names: Vec<_> = config.ports().into_iter().map(|(id, port)| (id.0, port.name)).collect();
        assert_eq!(names, [(0, "access".into()), (1, "upf_access".into()), (128, "core".into()), (129, "upf_core".into())]);
    }

    /// Each fault gives one line that names the key.
    #[test]
    fn faults_are_named() {
        for (from, to, message) in [
            ("upf = \"10.3.0.1\"", "upf = \"224.0.0.1\"", "224.0.0.1 is no address of a UPF"),
            ("upf = \"10.3.0.1\"", "upf = \"ten\"", "ceupf.upf = \"ten\": expected an IPv4 address, such as"),
            ("max_rules = 131072", "max_rules = 0", "ceupf.max_rules = 0: expected 1 to"),
            ("max_rules = 131072", "idle_s = 86401", "ceupf.idle_s = 86401: expected 1 to 86400 seconds, or 0"),
            ("target = \"x86\"", "target = \"fpga\"", "ceupf.target = \"fpga\": expected \"x86\" or \"asic\""),
            ("[port.core]", "[port.cord]", "port.cord: unknown key: expected one of"),
            ("interface = \"eth1\"", "interface = \"eth0\"", "port.core.interface = \"eth0\": expected an interface of its own"),
            ("interface = \"eth1\"", "driver = \"pcap\"", "port.core.input is missing: driver \"pcap\" needs"),
            ("interface = \"eth1\"", "driver = \"udp\"", "port.core.driver = \"udp\": expected a driver with Ethernet frames"),
            ("interface = \"eth1\"", "", "port.core.interface is missing: expected the name"),
            ("interface = \"eth1\"", "driver = \"dpdk\"", "port.core.device is missing: driver \"dpdk\" needs"),
            ("side = \"core\"", "side = \"n6\"", "hop[1].side = \"n6\": expected \"access\" or \"core\""),
            ("to = \"10.3.0.0/24\"", "to = \"2001:db8::/32\"", "hop[0].to = \"2001:db8::/32\": expected an IPv4 network"),
            ("name = \"internet\"", "name = \"gnbs\"", "there are two of that name"),
            ("mac = \"02:00:00:00:03:02\"", "mac = \"03:00:00:00:03:02\"", "not one station's"),
            ("[ceupf]", "[n4]\nlisten = \"127.0.0.1:8805\"\n[ceupf]", "n4: unknown key"),
            ("control = \"/run/splitplane/ceupf.sock\"", "control = \"\"", "ceupf.control = \"\": expected a path"),
            ("[ceupf]", "[workers]\ncount = 0\n[ceupf]", "workers.count = 0: expected 1 to 64"),
        ] {
            assert!(EXAMPLE.contains(from), "{from}");
            let error = Config::parse(&EXAMPLE.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(message) && !error.contains('\n'), "{to}: {error}");
        }
    }
}
