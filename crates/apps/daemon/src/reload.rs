//! What does a changed configuration change in a UPF that runs? The file is read whole; all that changed is taken over between two packets, or
//! nothing is: neither if the file has a fault, nor if a key changed that needs a restart.
//!
//! *Not taken over while it runs*: ports, network instances and overlays, which lanes, sessions and sockets are made of; workers; the program, and what it is
//! compiled with; sockets; the store.

use crate::agent::Agent;
use crate::config::{self, Config, Fault, Policy};
use crate::dataplane::Targets;
use crate::placement::{Placement, Wishes};
use crate::run::{Link, key_of_network, network_config, pfcp_config};
use offload::Split;
use pfcp::rules::Seid;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use toml::{Table, Value};
use upf::plane::RenewError;
use utoipa::ToSchema;

/// Keys and sections that are taken over.
const LIVE: [&str; 20] = [
    "route",
    "neighbour",
    "firewall",
    "class",
    "pool",
    "host",
    "log",
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

/// What a reload changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reloaded {
    /// What changes, a line each: `+` and `-` for blocks that come and go.
    pub changes: Vec<String>,
    /// Keys that changed and need a restart.
    pub restart: Vec<String>,
}

/// The configuration that runs, and what of its ports was found when they were opened.
pub struct Running {
    pub(crate) config: Config,
    pub(crate) links: Vec<Link>,
}

/// One key, or one kind of block.
struct Difference {
    key: String,
    lines: Vec<String>,
}

/// What differs between two configurations.
pub fn compare(before: &Config, after: &Config) -> Reloaded {
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
    let changes = differences.into_iter().filter(|d| is_live(&d.key)).flat_map(|d| d.lines).collect();
    Reloaded { changes, restart }
}

/// All keys with their values, those that the file leaves out too.
fn meaning(config: &Config) -> String {
    format!("{:?}", Config { source: Default::default(), ..config.clone() })
}

/// Gives `config` what can be taken over of `of`.
fn take_live(config: &mut Config, of: &Config) {
    let of = of.clone();
    (config.routes, config.neighbours, config.firewall) = (of.routes, of.neighbours, of.firewall);
    (config.classes, config.pools, config.host, config.log) = (of.classes, of.pools, of.host, of.log);
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
        let Some(Running { config: before, links }) = &self.running else { return Err("this UPF cannot be reloaded".into()) };
        let changes = compare(before, &config);
        if !changes.restart.is_empty() {
            return if dry_run {
                Ok(changes)
            } else {
                Err(format!("a restart is needed for {}; nothing was changed", changes.restart.join(", ")))
            };
        }
        let unchanged = |fault: &Fault| format!("{}; nothing was changed", config.source.show(fault));
        let network = network_config(&config, links);
        let renewal = self.plane.prepare(&network).map_err(|error| match error {
            RenewError::Config(e) => unchanged(&Fault::foreign(&e.0, key_of_network)),
            RenewError::NoNextHop(e) => unchanged(&Fault::new("route", e.to_string())),
        })?;
        let pfcp = pfcp_config(&config).and_then(|pfcp| match pfcp.validate() {
            Ok(()) => Ok(pfcp),
            Err(e) => Err(crate::failure::Failure::Usage(e.to_string())),
        });
        let pfcp = pfcp.map_err(|e| format!("{e}; nothing was changed"))?;
        self.node.check_change(&pfcp).map_err(|(at, why)| unchanged(&Fault::new(format!("pool[{at}]"), why)))?;
        let wishes = Wishes::new(&config.split).map_err(|e| format!("{e}; nothing was changed"))?;
        let placement = Placement::new(&config, &self.targets, self.plane.ids()).map_err(|e| format!("{e}; nothing was changed"))?;
        let target = self.targets.target();
        for (position, op) in renewal.batch.ops.iter().enumerate() {
            target.program().check_op(position, op).map_err(|e| format!("it does not fit the tables: {e}; nothing was changed"))?;
        }
        if dry_run {
            return Ok(changes);
        }
        if !renewal.batch.ops.is_empty() {
            let batch = renewal.batch.clone();
            self.plane.data_mut().apply(batch).map_err(|e| format!("it does not fit the tables: {e}; nothing was changed"))?;
        }
        // From here on nothing can be refused.
        let now = self.start.elapsed();
        let actions = self.plane.renew(renewal, now);
        self.act(actions);
        self.node.change(&pfcp);
        let Some(running) = &mut self.running else { return Ok(changes) };
        let before = std::mem::replace(&mut running.config, config.clone());
        self.place_anew(&before.split, &config.split, wishes, placement);
        if config.log.filter() != before.log.filter()
            && let Err(why) = crate::control::set_log(config.log.filter())
        {
            tracing::warn!("log.filter: {why}");
        }
        Ok(changes)
    }

    /// Placement by a changed configuration: sessions are looked at again, some in each tick.
    fn place_anew(&mut self, before: &config::Split, after: &config::Split, wishes: Wishes, placement: Option<Placement>) {
        if (&before.policy, before.plan()) == (&after.policy, after.plan()) {
            return;
        }
        let Targets::Split(split) = &self.targets else { return };
        if let Err(e) = split.set_policy(after.policy.to_offload()) {
            // It was checked with the file.
            tracing::error!("split.policy: {e}");
            return;
        }
        self.plane.data_mut().place_by(wishes);
        self.placement = placement;
        self.reconsidering = Some(None);
    }

    /// Looks again at some of the sessions whose place may be another by a changed configuration.
    pub(crate) fn reconsider(&mut self, split: &Split, now: Duration) {
        let Some(after) = self.reconsidering else { return };
        let seids: Vec<Seid> = self.node.sessions_after(after).take(RECONSIDERED).map(|view| view.seid).collect();
        for seid in &seids {
            match &mut self.placement {
                Some(placement) => placement.found(*seid, &self.plane, split, now),
                None => {
                    if let Some(info) = self.plane.info(*seid) {
                        split.reconsider(&self.plane.data().wishes().of(&info));
                    }
                }
            }
        }
        self.reconsidering = seids.last().copied().map(Some);
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
        let compared = |text: &str| compare(&config(FILE), &config(text));
        assert_eq!(compared(FILE), Reloaded::default());
        let text = FILE
            .replace("via = \"10.6.0.2\"", "via = \"10.6.0.3\"")
            .replace("peers = [\"10.4.0.2\"]", "peers = [\"10.4.0.2\", \"10.4.0.9\"]")
            + "[log]\nfilter = \"debug\"\n[[firewall]]\naction = \"deny\"\nto_ports = [25, 25]\n";
        testkit::assert_golden("src/reload.txt", &(compared(&text).changes.join("\n") + "\n"));
        assert_eq!(compared(&text).restart, Vec::<String>::new());
        let text =
            FILE.replace("peers = ", "heartbeat_s = 7\npeers = ").replace("addresses = [\"10.6.0.1/24\"]", "addresses = [\"10.6.0.7/24\"]")
                + "[workers]\ncount = 2\n";
        assert_eq!(compared(&text).restart, ["n4.heartbeat_s", "port", "workers.count"]);
    }

    #[test]
    fn a_default_that_is_written_out_needs_no_restart() {
        let text = FILE.replace("peers = ", "heartbeat_s = 10\npeers = ") + "[workers]\ncount = 1\n";
        assert_eq!(compare(&config(FILE), &config(&text)), Reloaded::default());
    }

    /// Packets' DSCPs are chosen by lanes, which are made at the start.
    #[test]
    fn a_policy_of_packets_neither_comes_nor_goes_without_a_restart() {
        let split = |policy: &str| config(&format!("{FILE}[split]\nfast = \"asic\"\npolicy = {policy}\n"));
        let restart = |a: &str, b: &str| compare(&split(a), &split(b)).restart;
        assert_eq!(restart("{ share = 0.5 }", "{ dscps = [46] }"), ["split.policy"]);
        assert_eq!(restart("{ dscps = [46] }", "{ dscps = [46, 47] }"), ["split.policy"]);
        assert_eq!(restart("{ share = 0.5 }", "\"planned\""), [""; 0]);
    }
}
