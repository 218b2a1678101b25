//! How do ports come and go with a changed configuration? What came is opened before anything is changed, and closed again if something is refused; what
//! went is closed when no packet leads to it any more.
//!
//! *Not while it runs*: ports of DPDK, whose devices are taken at the start; ports with VXLAN, as overlays are; the first port with a rate, as sessions are
//! not known to workers before there is one. Of a port that stays, addresses and tunnel endpoints change; what it was opened by does not.

use crate::agent::Agent;
use crate::agent::reload::Running;
use crate::config::lower::Link;
use crate::config::{Config, Driver, Fault, Port, Role};
use crate::datapath::open::{OpenPort, label, open_each, queues_of};
use crate::manage::request::PortLabel;
use base::PortId;
use engine::NewPort;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::{Table, Value};

/// Keys of a port that stays which change while it runs.
const LIVE: [&str; 4] = ["addresses", "gtpu", "default", "reachable"];
/// MTU of a port that is not opened yet, and says nothing of it.
const USUAL_MTU: u16 = 1500;

/// Numbers of ports, by their roles (p4/include/splitplane.p4). A port that comes back has the number that it had, and its counts; nobody else gets it, as
/// packets may wait that came by it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortNumbers(BTreeMap<(String, u16), PortId>);

impl PortNumbers {
    /// The number of a port; `None`: all have been given.
    pub(crate) fn of(&mut self, port: &Port) -> Option<PortId> {
        let side: Range<u16> = if port.role == Role::Core { 128..256 } else { 0..128 };
        let outside = if port.vxlan { 256 } else { 0 };
        let key = (port.name.clone(), side.start + outside);
        if let Some(id) = self.0.get(&key) {
            return Some(*id);
        }
        // The number inside is no other's, be it with VXLAN or without.
        let taken = |number: &u16| self.0.values().any(|id| id.0 & 0xff == *number);
        let id = PortId(side.clone().find(|number| !taken(number))? + outside);
        self.0.insert(key, id);
        Some(id)
    }
}

/// What of the ports differs between two configurations, by position.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PortDifference {
    /// In the new one.
    pub(crate) come: Vec<usize>,
    /// In the old one.
    pub(crate) gone: Vec<usize>,
    /// Keys that need a restart.
    pub(crate) restart: Vec<String>,
}

impl PortDifference {
    pub(crate) fn between(before: &Config, after: &Config) -> PortDifference {
        let mut all = PortDifference::default();
        let tables = |config: &Config| match toml::from_str::<Table>(&config.source.text).unwrap_or_default().remove("port") {
            Some(Value::Array(ports)) => ports,
            _ => Vec::new(),
        };
        let (old, new) = (tables(before), tables(after));
        let (had_queues, fixed) = (before.has_queues(), |port: &Port| port.vxlan || port.driver == Driver::Dpdk);
        for (at, port) in after.ports.iter().enumerate() {
            let was = before.ports.iter().position(|was| was.name == port.name);
            let Some(was) = was else {
                all.come.push(at);
                if fixed(port) {
                    all.restart.push(format!("port[{at}].{}", if port.vxlan { "vxlan" } else { "driver" }));
                }
                if port.rate_kbps.is_some() && !had_queues {
                    all.restart.push(format!("port[{at}].rate_kbps"));
                }
                continue;
            };
            if opened_by(&before.ports[was]) != opened_by(port) {
                let keys = different(old.get(was), new.get(at));
                all.restart.extend(
                    keys.filter(|key| !LIVE.contains(&&**key) || port.driver == Driver::Tun).map(|key| format!("port[{at}].{key}")),
                );
            }
        }
        for (at, port) in before.ports.iter().enumerate().filter(|(_, port)| after.ports.iter().all(|is| is.name != port.name)) {
            all.gone.push(at);
            if fixed(port) {
                all.restart.push(format!("port \"{}\"", port.name));
            }
        }
        all
    }
}

/// All of a port that cannot change while it is open.
fn opened_by(port: &Port) -> String {
    // The kernel has those of a TUN device.
    let addresses = if port.driver == Driver::Tun { port.addresses.clone() } else { Vec::new() };
    format!("{:?}", Port { addresses, gtpu: Vec::new(), default: false, reachable: Vec::new(), ..port.clone() })
}

fn different(was: Option<&Value>, is: Option<&Value>) -> impl Iterator<Item = String> {
    let table = |value: Option<&Value>| value.and_then(Value::as_table).cloned().unwrap_or_default();
    let (was, is) = (table(was), table(is));
    let mut keys: Vec<String> = was.keys().chain(is.keys()).filter(|key| was.get(*key) != is.get(*key)).cloned().collect();
    keys.sort();
    keys.dedup();
    keys.into_iter()
}

/// Ports that came, opened or only looked at.
#[derive(Default)]
pub(crate) struct Coming {
    /// By name.
    links: BTreeMap<String, Link>,
    labels: Vec<PortLabel>,
    numbers: PortNumbers,
}

impl Coming {
    /// What is known of each port of the changed configuration, in its order.
    pub(crate) fn links(&self, config: &Config, running: &Running) -> Vec<Link> {
        let of = |port: &Port| self.links.get(&port.name).copied().or_else(|| running.link(&port.name));
        config.ports.iter().filter_map(of).collect()
    }
}

impl Agent {
    /// Looks at what a dry run would open.
    pub(crate) fn look_at_ports(&self, config: &Config, difference: &PortDifference, running: &Running) -> Result<Coming, String> {
        let mut coming = Coming { numbers: running.numbers.clone(), ..Coming::default() };
        for at in &difference.come {
            let (port, id) = (&config.ports[*at], coming.may_come(config, *at, running)?);
            let interface = port.interface.as_deref().filter(|_| !port.is_kernels() && port.driver != Driver::Pcap);
            let found = interface.and_then(|name| pktio::Interface::find(&port.name, name).ok());
            let mac = port.mac.map(|mac| mac.0).or(found.as_ref().map(|found| found.mac)).unwrap_or(pktio::OUR_MAC);
            let mtu = found.and_then(|found| u16::try_from(found.mtu).ok()).or(port.mtu).unwrap_or(USUAL_MTU);
            coming.links.insert(port.name.clone(), Link { id, mac, mtu: mtu.min(upf::config::MAX_MTU) });
        }
        Ok(coming)
    }

    /// Opens what came. Packets can leave by it when this returns, and are not received yet.
    pub(crate) fn open_ports(&mut self, config: &Config, difference: &PortDifference, running: &Running) -> Result<Coming, String> {
        let mut coming = Coming { numbers: running.numbers.clone(), ..Coming::default() };
        for at in &difference.come {
            let opened = coming.may_come(config, *at, running).and_then(|id| {
                let open = self.open_port(config, *at, id, running);
                if open.is_err() {
                    // It may have no devices yet.
                    let _ = self.close_port(id);
                }
                open
            });
            match opened {
                Ok((link, label)) => {
                    coming.links.insert(label.name.clone(), link);
                    coming.labels.push(label);
                }
                Err(why) => {
                    self.close_ports(&coming);
                    return Err(why);
                }
            }
        }
        if let Some(kernel) = self.datapath.kernel.as_mut().filter(|_| !coming.links.is_empty()) {
            kernel.look_at_ways_out();
        }
        Ok(coming)
    }

    fn open_port(&mut self, config: &Config, at: usize, id: PortId, running: &Running) -> Result<(Link, PortLabel), String> {
        let port = &config.ports[at];
        let fault = |what: String| config.source.show(&Fault::new(format!("port[{at}]"), what));
        let with_xdp = self.datapath.kernel.is_some();
        let hint = || match crate::process::privileges::were_given_up(port, &running.config.ports, with_xdp) {
            true => ". The UPF has given up the privileges for it at its start, as no port needed them: restart it",
            false => "",
        };
        // For as many workers as the others: that is what the start has found.
        let mut opened = open_each(std::slice::from_ref(port), vec![id], &running.started, &config.dpdk, self.datapath.kernel.as_mut())
            .map_err(|e| fault(format!("{e}{}", hint())))?;
        let Some(open) = opened.pop() else { return Err(fault("it was not opened".into())) };
        let (link, label) = (Link::of(&open), label(port, &open));
        let OpenPort { id, of_workers, .. } = open;
        let queues = queues_of(config, port, id);
        self.datapath.engine.add_port(NewPort { id, of_workers, queues }).map_err(|e| fault(e.to_string()))?;
        Ok((link, label))
    }

    /// Something else was refused: they are not to stay.
    pub(crate) fn close_ports(&mut self, coming: &Coming) {
        for link in coming.links.values() {
            if let Err(gone) = self.close_port(link.id) {
                tracing::error!("cannot close port {}: {gone}", link.id);
            }
        }
    }

    /// A port that no packet leads to.
    fn close_port(&mut self, id: PortId) -> Result<(), String> {
        if let Some(kernel) = &mut self.datapath.kernel {
            kernel.close(id);
        }
        self.datapath.engine.remove_port(id).map_err(|gone| gone.to_string())
    }

    /// The tables have all of the changed configuration: what came is received from, and what went is closed. And what of that failed.
    pub(crate) fn exchange_ports(
        &mut self,
        coming: Coming,
        difference: &PortDifference,
        config: &Config,
        running: &Running,
    ) -> (PortNumbers, Vec<String>) {
        let mut failed = Vec::new();
        for (name, link) in &coming.links {
            if let Err(gone) = self.datapath.engine.listen(link.id) {
                failed.push(format!("port \"{name}\": it is not received from: {gone}"));
            }
            // What XDP does not carry comes through the engine.
            if let Some(Err(why)) = self.datapath.kernel.as_mut().map(|kernel| kernel.port_goes_live(link.id)) {
                failed.push(format!("port \"{name}\": XDP does not run on it, x86 alone carries what comes there: {why}"));
            }
        }
        for at in &difference.gone {
            let name = &running.config.ports[*at].name;
            if let Some(link) = running.link(name) {
                match self.close_port(link.id) {
                    Ok(()) => tracing::info!(port = name, "closed"),
                    Err(gone) => failed.push(format!("port \"{name}\": it was not closed: {gone}")),
                }
            }
        }
        let mut labels: BTreeMap<String, PortLabel> =
            self.datapath.ports.drain(..).chain(coming.labels).map(|label| (label.name.clone(), label)).collect();
        self.datapath.ports = config.ports.iter().filter_map(|port| labels.remove(&port.name)).collect();
        (coming.numbers, failed)
    }
}

impl Coming {
    /// The number of a port that may come, or why it may not.
    fn may_come(&mut self, config: &Config, at: usize, running: &Running) -> Result<PortId, String> {
        let port = &config.ports[at];
        let fault = |key: &str, what: String| config.source.show(&Fault::new(format!("port[{at}].{key}"), what));
        let same = |was: &&Port| was.interface.is_some() && was.interface == port.interface && port.driver != Driver::Pcap;
        if let Some(was) = running.config.ports.iter().find(same) {
            let what =
                format!("port \"{}\" has it until it is closed: remove that one first, then add this one by a second reload", was.name);
            return Err(fault("interface", what));
        }
        if let Some(was) = running.config.ports.iter().find(|was| was.listen.is_some() && was.listen == port.listen) {
            let what =
                format!("port \"{}\" has it until it is closed: remove that one first, then add this one by a second reload", was.name);
            return Err(fault("listen", what));
        }
        config.check_port(at).map_err(|fault| config.source.show(&fault))?;
        self.numbers.of(port).ok_or_else(|| fault("name", "128 names of ports have been used since the start: restart the UPF".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, keys: &str) -> String {
        format!("[[port]]\nname = \"{name}\"\ninterface = \"{name}\"\n{keys}\n")
    }

    fn config(ports: &[String]) -> Config {
        let n3 = port("n3", "role = \"access\"\nnetwork_instance = \"access\"\naddresses = [\"10.3.0.1/24\"]\ngtpu = [\"10.3.0.1\"]");
        let text = "[n4]\nlisten = \"10.4.0.1:8805\"\npeers = [\"10.4.0.2\"]\n".to_owned() + &n3 + &ports.concat();
        Config::parse(&text).unwrap()
    }

    fn core(name: &str, address: &str, more: &str) -> String {
        port(name, &format!("role = \"core\"\nnetwork_instance = \"internet\"\naddresses = [\"{address}\"]\n{more}"))
    }

    #[test]
    fn ports_that_come_and_go_are_told_from_those_that_need_a_restart() {
        let before = config(&[core("n6", "10.6.0.1/24", "")]);
        let compared = |ports: &[String]| {
            let PortDifference { come, gone, restart } = PortDifference::between(&before, &config(ports));
            (come, gone, restart.join(" "))
        };
        let n6 = core("n6", "10.6.0.1/24", "");
        assert_eq!(compared(&[core("n7", "10.7.0.1/24", ""), n6.clone()]), (vec![1], vec![], String::new()));
        assert_eq!(compared(&[core("n7", "10.6.0.1/24", "")]), (vec![1], vec![1], String::new()));
        assert_eq!(compared(&[core("n6", "10.6.0.7/24", "default = true")]), (vec![], vec![], String::new()));
        // A default that is written out.
        assert_eq!(compared(&[core("n6", "10.6.0.1/24", "driver = \"auto\"")]).2, "");
        assert_eq!(
            compared(&[core("n6", "10.6.0.1/24", "driver = \"af_packet\"\nmac = \"02:00:00:00:00:09\"")]).2,
            "port[1].driver port[1].mac"
        );
        assert_eq!(compared(&[n6.clone(), core("n7", "10.7.0.1/24", "rate_kbps = 1000")]).2, "port[2].rate_kbps");
    }

    #[test]
    fn a_port_that_comes_back_has_its_number_and_no_other_gets_it() {
        let ports = |names: &[&str]| {
            config(&names.iter().enumerate().map(|(n, name)| core(name, &format!("10.{}.0.1/24", 6 + n), "")).collect::<Vec<_>>())
        };
        let mut numbers = PortNumbers::default();
        let mut of = |names: &[&str]| ports(names).ports.iter().map(|port| numbers.of(port).unwrap().0).collect::<Vec<_>>();
        assert_eq!(of(&["a", "b"]), [0, 128, 129]);
        assert_eq!(of(&["b", "c"]), [0, 129, 130]);
        assert_eq!(of(&["a", "c"]), [0, 128, 130]);
        let mut more = (0..125).map(|n| ports(&[&format!("x{n}")]).ports.remove(1));
        assert!(more.all(|port| numbers.of(&port).is_some()));
        assert_eq!(numbers.of(&ports(&["y"]).ports[1]), None);
    }
}
