//! What does a changed configuration change in a UPF that runs? The file is read whole; all that changed is taken over between two packets, or
//! nothing is: neither if the file has a fault, nor if a key changed that needs a restart.
//!
//! *Not taken over while it runs*: overlays; how packets get to workers, and more workers than the ports were opened for; the program, and what it is compiled
//! with; sockets; the store; of ports what [`crate::agent::ports`] names.

use crate::agent::Agent;
use crate::agent::ports::{PortDifference, PortNumbers};
use crate::config::lower::{Link, key_of_network, machine, network_config, pfcp_config};
use crate::config::{self, Config, Fault, Policy, Workers};
use crate::datapath::open::balance;
use crate::datapath::placement::{Placement, Wishes};
use crate::manage::request::Reloaded;
use pfcp::rules::Seid;
use program::Batch;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::time::Duration;
use target_api::Target;
use toml::{Table, Value};
use upf::plane::{RenewError, Renewal};

/// Keys and sections that are taken over.
const LIVE: [&str; 22] = [
    "port",
    "route",
    "neighbour",
    "firewall",
    "class",
    "pool",
    "host",
    "log",
    "workers",
    "n4.peers",
    "n4.max_sessions_per_peer",
    "n4.max_associations_per_peer",
    "n4.messages_per_second",
    "n4.error_indications_per_second",
    "n4.keep_lost_s",
    "split.policy",
    "split.rules",
    "split.heavy",
    "split.updates_per_second",
    "split.min_stay_ms",
    "split.window_ms",
    "split.margin",
];
/// Longest text of a value in a line.
const SHOWN: usize = 200;
/// Sessions whose place is looked at again in a tick: a few milliseconds' work.
const RECONSIDERED: usize = 256;

/// The configuration that runs, and what of its ports was found when they were opened.
pub struct Running {
    pub(crate) config: Config,
    /// In the order of the configuration.
    pub(crate) links: Vec<Link>,
    pub(crate) numbers: PortNumbers,
    /// What ports and threads were made for.
    pub(crate) started: Workers,
    /// What the machine had, or why that is not known, when it was last looked at.
    pub(crate) machine: Result<Vec<(IpAddr, u8)>, String>,
}

impl Running {
    pub(crate) fn new(config: &Config, links: Vec<Link>) -> Running {
        let mut numbers = PortNumbers::default();
        for port in &config.ports {
            let _ = numbers.of(port);
        }
        // Looked at in the first second.
        Running { config: config.clone(), links, numbers, started: config.workers.clone(), machine: Ok(Vec::new()) }
    }

    /// What was found of a port that is open.
    pub(crate) fn link(&self, name: &str) -> Option<Link> {
        self.config.ports.iter().zip(&self.links).find(|(port, _)| port.name == name).map(|(_, link)| *link)
    }
}

/// A changed configuration that can be taken over.
struct Prepared {
    renewal: Renewal,
    pfcp: pfcp::config::Config,
    wishes: Wishes,
    placement: Option<Placement>,
}

fn does_not_fit(error: impl std::fmt::Display) -> String {
    format!("it does not fit the tables: {error}")
}

/// One key, or one kind of block.
struct Difference {
    key: String,
    lines: Vec<String>,
}

/// What differs between two configurations, of a UPF that was `started` with these workers.
pub fn compare(before: &Config, started: &Workers, after: &Config) -> Reloaded {
    let tree = |config: &Config| toml::from_str::<Table>(&config.source.text).unwrap_or_default();
    let differences = differences(&tree(before), &tree(after));
    let is_live = |key: &str| {
        let policy_of_packets = |config: &Config| matches!(config.split.policy, Policy::Dscps(_));
        // Lanes find such packets by a set that they are made with.
        let fixed = key == "split.policy" && (policy_of_packets(before) || policy_of_packets(after));
        !fixed && (LIVE.contains(&key) || LIVE.contains(&key.split('.').next().unwrap_or_default()))
    };
    let mut reached = before.clone();
    take_live(&mut reached, after);
    let mut restart: Vec<String> = Vec::new();
    // A default that is written out is no change.
    if meaning(&reached) != meaning(after) {
        restart.extend(differences.iter().filter(|d| !is_live(&d.key)).map(|d| d.key.clone()));
    }
    restart.extend(before.workers.need_restart(started, &after.workers).into_iter().map(str::to_owned));
    restart.extend(PortDifference::between(before, after).restart);
    let is_no_change = |key: &str| key.starts_with("workers.") && before.workers == after.workers;
    let changes = differences.into_iter().filter(|d| is_live(&d.key) && !is_no_change(&d.key)).flat_map(|d| d.lines).collect();
    Reloaded { changes, restart, failed: Vec::new() }
}

/// All keys with their values, those that the file leaves out too.
fn meaning(config: &Config) -> String {
    format!("{:?}", Config { source: Default::default(), ..config.clone() })
}

/// Gives `config` what can be taken over of `of`.
fn take_live(config: &mut Config, of: &Config) {
    let of = of.clone();
    // What cannot change of a port is named apart.
    config.ports = of.ports;
    (config.routes, config.neighbours, config.firewall) = (of.routes, of.neighbours, of.firewall);
    (config.classes, config.pools, config.host, config.log) = (of.classes, of.pools, of.host, of.log);
    // So with workers.
    config.workers = of.workers;
    config.n4.peers = of.n4.peers;
    config.n4.max_sessions_per_peer = of.n4.max_sessions_per_peer;
    config.n4.max_associations_per_peer = of.n4.max_associations_per_peer;
    config.n4.messages_per_second = of.n4.messages_per_second;
    config.n4.error_indications_per_second = of.n4.error_indications_per_second;
    config.n4.keep_lost_s = of.n4.keep_lost_s;
    if !matches!((&config.split.policy, &of.split.policy), (Policy::Dscps(_), _) | (_, Policy::Dscps(_))) {
        config.split.policy = of.split.policy;
    }
    (config.split.rules, config.split.heavy, config.split.updates_per_second) =
        (of.split.rules, of.split.heavy, of.split.updates_per_second);
    (config.split.min_stay_ms, config.split.window_ms, config.split.margin) = (of.split.min_stay_ms, of.split.window_ms, of.split.margin);
    config.source = of.source;
}

fn differences(before: &Table, after: &Table) -> Vec<Difference> {
    let mut all = Vec::new();
    for name in keys(before, after) {
        match (before.get(name), after.get(name)) {
            (was, is) if was == is => {}
            (was, is) if blocks(was).is_some() || blocks(is).is_some() => {
                all.push(Difference {
                    key: name.clone(),
                    lines: blocks_that_differ(name, blocks(was).unwrap_or_default(), blocks(is).unwrap_or_default()),
                });
            }
            (Some(Value::Table(was)), Some(Value::Table(is))) => all.extend(of_section(name, was, is)),
            (None, Some(Value::Table(is))) => all.extend(of_section(name, &Table::new(), is)),
            (Some(Value::Table(was)), None) => all.extend(of_section(name, was, &Table::new())),
            (was, is) => all.push(Difference { key: name.clone(), lines: vec![changed(name, was, is)] }),
        }
    }
    all
}

fn keys<'a>(before: &'a Table, after: &'a Table) -> impl Iterator<Item = &'a String> {
    before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)))
}

fn of_section(name: &str, was: &Table, is: &Table) -> Vec<Difference> {
    let differ = keys(was, is).filter(|key| was.get(*key) != is.get(*key));
    differ
        .map(|key| (format!("{name}.{key}"), was.get(key), is.get(key)))
        .map(|(key, was, is)| Difference { lines: vec![changed(&key, was, is)], key })
        .collect()
}

/// The blocks of a `[[name]]`.
fn blocks(value: Option<&Value>) -> Option<&[Value]> {
    value.and_then(Value::as_array).filter(|list| list.iter().any(Value::is_table)).map(Vec::as_slice)
}

fn blocks_that_differ(name: &str, was: &[Value], is: &[Value]) -> Vec<String> {
    let without = |list: &[Value], others: &[Value]| {
        let mut others: Vec<&Value> = others.iter().collect();
        let mut left = Vec::new();
        for value in list {
            match others.iter().position(|other| *other == value) {
                Some(at) => _ = others.swap_remove(at),
                None => left.push(value.clone()),
            }
        }
        left
    };
    let (gone, come) = (without(was, is), without(is, was));
    if gone.is_empty() && come.is_empty() {
        return vec![format!("{name}: another order")];
    }
    let line = |sign: char, value: &Value| format!("{sign} {name} {}", shown(value));
    gone.iter().map(|value| line('-', value)).chain(come.iter().map(|value| line('+', value))).collect()
}

fn changed(key: &str, was: Option<&Value>, is: Option<&Value>) -> String {
    let text = |value: Option<&Value>| value.map_or("not set".to_owned(), shown);
    format!("{key}: {} -> {}", text(was), text(is))
}

/// On one line, without control characters, and not too long.
fn shown(value: &Value) -> String {
    let text: String = value.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = text.chars().filter(|c| !c.is_control()).take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

impl Agent {
    /// Takes over a configuration that is valid by itself, all of it or nothing; or says what it would change.
    ///
    /// # Errors
    /// Why nothing was changed.
    pub(crate) fn reload(&mut self, config: Config, dry_run: bool) -> Result<Reloaded, String> {
        let Some(mut running) = self.running.take() else { return Err("this UPF cannot be reloaded".into()) };
        let result = self.reload_from(&mut running, config, dry_run);
        self.running = Some(running);
        result.map_err(|why| format!("{why}; nothing was changed"))
    }

    fn reload_from(&mut self, running: &mut Running, config: Config, dry_run: bool) -> Result<Reloaded, String> {
        let mut changes = compare(&running.config, &running.started, &config);
        if !changes.restart.is_empty() {
            let needed = format!("a restart is needed for {}", changes.restart.join(", "));
            return if dry_run { Ok(changes) } else { Err(needed) };
        }
        let ports = PortDifference::between(&running.config, &config);
        if dry_run {
            let links = self.look_at_ports(&config, &ports, running)?.links(&config, running);
            return self.prepare(&config, &links).map(|_| changes);
        }
        let coming = self.open_ports(&config, &ports, running)?;
        let prepared = self.prepare(&config, &coming.links(&config, running)).and_then(|prepared| {
            let (workers, before) = (self.datapath.engine.workers().len(), &running.config.workers);
            // Else the balancer would begin anew.
            let differ = *before != config.workers;
            if differ {
                self.set_workers(config.workers.numbers_after(before), &config.workers)?;
            }
            if let Err(why) = self.fill_tables(&prepared.renewal.batch) {
                if differ && let Err(more) = self.set_workers(workers..=workers, before) {
                    tracing::error!("{more}");
                }
                return Err(why);
            }
            Ok(prepared)
        });
        let Prepared { renewal, pfcp, wishes, placement } = match prepared {
            Ok(prepared) => prepared,
            Err(why) => {
                self.close_ports(&coming);
                return Err(why);
            }
        };
        // From here on nothing can be refused.
        let links = coming.links(&config, running);
        let actions = self.datapath.plane.renew(renewal, self.life.start.elapsed());
        self.act(actions);
        (running.numbers, changes.failed) = self.exchange_ports(coming, &ports, &config, running);
        running.links = links;
        self.n4.node.change(&pfcp);
        let before = std::mem::replace(&mut running.config, config.clone());
        changes.failed.extend(self.place_anew(&before.split, &config.split, wishes, placement).err());
        if config.log.filter() != before.log.filter()
            && let Err(why) = crate::manage::control::set_log(config.log.filter())
        {
            changes.failed.push(format!("log.filter: {why}"));
        }
        changes.failed.iter().for_each(|why| tracing::error!("reload: {why}"));
        Ok(changes)
    }

    /// Addresses of the machine come and go: users do not reach those that come.
    pub(crate) fn follow_machine(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let is = machine(&running.config);
        if is != running.machine {
            let followed = is.as_ref().map_err(Clone::clone).and_then(|machine| self.take_machine(&running, machine));
            if let Err(why) = followed {
                tracing::error!("users may reach an address that this machine got: {why}");
            }
            running.machine = is;
        }
        self.running = Some(running);
    }

    fn take_machine(&mut self, running: &Running, machine: &[(IpAddr, u8)]) -> Result<(), String> {
        let renewal = self.datapath.plane.prepare(&network_config(&running.config, &running.links, machine)).map_err(|e| e.to_string())?;
        if renewal.batch.ops.is_empty() {
            return Ok(());
        }
        self.fill_tables(&renewal.batch)?;
        let actions = self.datapath.plane.renew(renewal, self.life.start.elapsed());
        self.act(actions);
        Ok(())
    }

    /// What a changed configuration comes to, with these ports.
    fn prepare(&self, config: &Config, links: &[Link]) -> Result<Prepared, String> {
        let shown = |fault: &Fault| config.source.show(fault);
        let network = network_config(config, links, &machine(config)?);
        let renewal = self.datapath.plane.prepare(&network).map_err(|error| match error {
            RenewError::Config(e) => shown(&Fault::foreign(&e.0, key_of_network)),
            RenewError::NoNextHop(e) => shown(&Fault::new("route", e.to_string())),
            RenewError::InUse(e) => shown(&Fault::new("port", e.to_string())),
        })?;
        let pfcp = pfcp_config(config).map_err(|e| e.to_string())?;
        pfcp.validate().map_err(|e| e.to_string())?;
        self.n4.node.check_change(&pfcp).map_err(|(at, why)| shown(&Fault::new(format!("pool[{at}]"), why)))?;
        let wishes = Wishes::new(&config.split).map_err(|e| e.to_string())?;
        let placement = Placement::new(config, &self.datapath.targets, self.datapath.plane.ids()).map_err(|e| e.to_string())?;
        for (position, op) in renewal.batch.ops.iter().enumerate() {
            self.datapath.targets.program().check_op(position, op).map_err(does_not_fit)?;
        }
        Ok(Prepared { renewal, pfcp, wishes, placement })
    }

    /// How many workers, and whether they come and go by themselves. UEs' packets have all moved when this returns.
    fn set_workers(&self, count: RangeInclusive<usize>, workers: &Workers) -> Result<(), String> {
        let before = self.datapath.engine.workers().len();
        self.datapath.engine.set_workers(count, balance(workers)).map_err(|error| format!("[workers]: {error}"))?;
        let now = self.datapath.engine.workers().len();
        if before != now {
            tracing::info!(before, now, "workers");
        }
        Ok(())
    }

    /// All of it, or nothing.
    fn fill_tables(&mut self, batch: &Batch) -> Result<(), String> {
        if batch.ops.is_empty() {
            return Ok(());
        }
        self.datapath.plane.data_mut().apply(batch).map_err(does_not_fit)
    }

    /// Placement by a changed configuration: sessions are looked at again, some in each tick.
    fn place_anew(
        &mut self,
        before: &config::Split,
        after: &config::Split,
        wishes: Wishes,
        placement: Option<Placement>,
    ) -> Result<(), String> {
        if self.datapath.targets.fast().is_none() {
            return Ok(());
        }
        // Whoever reloads wants sessions where the file says: they are looked at again, even if it says the same.
        self.placing.reconsidering = Some(None);
        if (&before.policy, before.plan()) == (&after.policy, after.plan()) {
            return Ok(());
        }
        // It was checked with the file.
        self.datapath.targets.set_policy(after.policy.to_offload()).map_err(|e| format!("split.policy: {e}; the one before stays"))?;
        self.datapath.plane.data_mut().place_by(wishes);
        self.placing.planner = placement;
        Ok(())
    }

    /// Looks again at some of the sessions whose place may be another by a changed configuration.
    pub(crate) fn reconsider(&mut self, now: Duration) {
        let split = self.datapath.targets.clone();
        let Some(after) = self.placing.reconsidering else { return };
        let seids: Vec<Seid> = self.n4.node.sessions_after(after).take(RECONSIDERED).map(|view| view.seid).collect();
        for seid in &seids {
            match &mut self.placing.planner {
                Some(placement) => placement.found(*seid, &mut self.datapath.plane, &split, now),
                None => {
                    if let Some(info) = self.datapath.plane.info(*seid) {
                        split.reconsider(&self.datapath.plane.data().wishes().of(&info));
                    }
                }
            }
        }
        self.placing.reconsidering = seids.last().copied().map(Some);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[n4]\nlisten = \"10.4.0.1:8805\"\npeers = [\"10.4.0.2\"]\n\
        [[port]]\nname = \"n3\"\ninterface = \"n3\"\nrole = \"access\"\nnetwork_instance = \"access\"\naddresses = [\"10.3.0.1/24\"]\ngtpu = [\"10.3.0.1\"]\n\
        [[port]]\nname = \"n6\"\ninterface = \"n6\"\nrole = \"core\"\nnetwork_instance = \"internet\"\naddresses = [\"10.6.0.1/24\"]\n\
        [[route]]\nnetwork_instance = \"internet\"\nprefix = \"0.0.0.0/0\"\nvia = \"10.6.0.2\"\n";

    fn config(text: &str) -> Config {
        Config::parse(text).unwrap()
    }

    #[test]
    fn what_changes_is_listed_and_what_needs_a_restart_is_named() {
        let compared = |text: &str| compare(&config(FILE), &Workers::default(), &config(text));
        assert_eq!(compared(FILE), Reloaded::default());
        let text = FILE
            .replace("via = \"10.6.0.2\"", "via = \"10.6.0.3\"")
            .replace("peers = [\"10.4.0.2\"]", "peers = [\"10.4.0.2\", \"10.4.0.9\"]")
            + "[log]\nfilter = \"debug\"\n[[firewall]]\naction = \"deny\"\nto_ports = [25, 25]\n";
        testkit::assert_golden("src/agent/reload.txt", &(compared(&text).changes.join("\n") + "\n"));
        assert_eq!(compared(&text).restart, Vec::<String>::new());
        let text = FILE.replace("peers = ", "heartbeat_s = 7\npeers = ").replace("interface = \"n6\"", "interface = \"n7\"")
            + "[workers]\ncount = 2\n";
        assert_eq!(compared(&text).restart, ["n4.heartbeat_s", "workers.count", "port[1].interface"]);
    }

    #[test]
    fn a_default_that_is_written_out_needs_no_restart() {
        let text = FILE.replace("peers = ", "heartbeat_s = 10\npeers = ") + "[workers]\ncount = 1\n";
        assert_eq!(compare(&config(FILE), &Workers::default(), &config(&text)), Reloaded::default());
    }

    /// `a`, `b` and `c`: keys of `[workers]` at the start, before this reload, and after it.
    #[test]
    fn the_number_of_workers_changes_as_far_as_the_ports_were_opened() {
        let of = |keys: &str| config(&format!("{FILE}[workers]\n{keys}\n"));
        let compared = |a: &str, b: &str, c: &str| {
            let Reloaded { changes, restart, .. } = compare(&of(b), &of(a).workers, &of(c));
            (changes.join("; "), restart.join(" "))
        };
        let live = |a: &str, b: &str, c: &str| assert_eq!(compared(a, b, c).1, "", "{a}, {b}, {c}");
        let refused = |a: &str, b: &str, c: &str, keys: &str| assert_eq!(compared(a, b, c).1, keys, "{a}, {b}, {c}");
        // A master gives packets to as many as there are.
        assert_eq!(compared("count = 2", "count = 2", "count = 64"), ("workers.count: 2 -> 64".to_owned(), String::new()));
        live("count = 2", "count = 2", "count = 1");
        live("count = 2", "count = 1", "count = 3\nmin = 2\nmax = 9");
        live("count = 2", "count = 2", "count = 2\nrebalance = false");
        // Without one, the worker has the ports.
        refused("", "", "count = 2", "workers.count");
        refused("", "", "max = 2", "workers.max");
        // A socket for each that may come.
        let xdp = |keys: &str| format!("steering = \"xdp\"\n{keys}");
        live(&xdp("max = 3"), &xdp("max = 3"), &xdp("count = 2"));
        live(&xdp("max = 3"), &xdp("count = 2"), &xdp("count = 3"));
        refused(&xdp("max = 3"), &xdp("max = 3"), &xdp("count = 2\nmax = 4"), "workers.count workers.max");
        // Queues of the NIC.
        let port = |count: usize| format!("steering = \"port\"\ncount = {count}");
        refused(&port(2), &port(2), &port(1), "workers.count");
        refused("count = 2", "count = 2", &xdp("count = 2"), "workers.steering");
        refused("count = 2", "count = 2", "count = 3\ncores = [1]", "workers.cores");
        // Nothing that means anything else.
        assert_eq!(compared("count = 2", "count = 2", "count = 2\nrebalance = true"), (String::new(), String::new()));
    }

    #[test]
    fn workers_are_as_many_as_a_changed_count_says_or_as_the_range_allows() {
        let of = |keys: &str| config(&format!("{FILE}[workers]\n{keys}\n")).workers;
        let after = |before: &str, running, after: &str| {
            let numbers = of(after).numbers_after(&of(before));
            usize::clamp(running, *numbers.start(), *numbers.end())
        };
        assert_eq!(after("count = 2", 2, "count = 5"), 5);
        // The load has made it six.
        assert_eq!(after("count = 2\nmax = 8", 6, "count = 2\nmax = 9"), 6);
        assert_eq!(after("count = 2\nmax = 8", 6, "count = 2\nmax = 4"), 4);
        assert_eq!(after("count = 3\nmin = 1", 1, "count = 3\nmin = 2"), 2);
    }

    /// Packets' DSCPs are chosen by lanes, which are made at the start.
    #[test]
    fn a_policy_of_packets_neither_comes_nor_goes_without_a_restart() {
        let split = |policy: &str| config(&format!("{FILE}[split]\nfast = \"asic\"\npolicy = {policy}\n"));
        let restart = |a: &str, b: &str| compare(&split(a), &Workers::default(), &split(b)).restart;
        assert_eq!(restart("{ share = 0.5 }", "{ dscps = [46] }"), ["split.policy"]);
        assert_eq!(restart("{ dscps = [46] }", "{ dscps = [46, 47] }"), ["split.policy"]);
        assert_eq!(restart("{ share = 0.5 }", "\"planned\""), [""; 0]);
    }
}
