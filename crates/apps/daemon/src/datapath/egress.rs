//! By which link does what runs on the fast target leave? By that of another network instance, if `split.egress` names one: a second way to the same peers.
//!
//! A session's entries name the network instance that its packets leave by (`meta.out_vrf`, p4/include/session.p4). The fast target gets them with the other one;
//! the base target has what the SMF asked for. So what moves to the fast target changes its way, and what leaves it takes its own again; what the fast target passes on
//! leaves as the base target has it. Two ways have no order between them: on a move, packets may overtake those that wait in the queues of the port that they leave.

use cli::failure::Failure;
use program::{ActionId, ApplyError, Batch, CounterId, Op, Program, TableId};
use std::collections::BTreeMap;
use std::sync::Arc;
use target_api::{Capabilities, Count, Facets, Lane, TableStats, Target};
use upf::ids::Ids;
use upf::networks::{Networks, Vrf};

/// The parameter of `set_pdr` that names the network instance.
const PARAMETER: &str = "out_vrf";

/// `fast`, with what leaves it by these network instances leaving by the others.
///
/// # Errors
/// A program of the operator's whose entries have no such parameter.
pub(crate) fn by_other_ways(
    fast: Box<dyn Target>,
    egress: &BTreeMap<String, String>,
    networks: &Networks,
) -> Result<Box<dyn Target>, Failure> {
    if egress.is_empty() {
        return Ok(fast);
    }
    let program = fast.program();
    let action = Ids::bind(program).map_err(|e| Failure::Usage(e.to_string()))?.actions.set_pdr;
    let place = program.actions[action].params.iter().position(|param| param.name == PARAMETER);
    let argument = place.ok_or_else(|| {
        Failure::Usage(format!("split.egress: the program's action `set_pdr` has no parameter `{PARAMETER}`, as p4/include/session.p4 has"))
    })?;
    // The file was checked: each is the network instance of a port.
    let number = |name: &String| networks.vrf(name);
    let instead = egress.iter().filter_map(|(from, to)| Some((number(from)?, number(to)?))).collect();
    Ok(Box::new(OtherWays { fast, action, argument, instead }))
}

/// A target whose entries of sessions name other network instances.
struct OtherWays {
    fast: Box<dyn Target>,
    action: ActionId,
    /// Position of the network instance among the action's arguments.
    argument: usize,
    instead: Vec<(Vrf, Vrf)>,
}

impl OtherWays {
    fn renamed(&self, batch: &Batch) -> Batch {
        let mut batch = batch.clone();
        for op in &mut batch.ops {
            if let Op::Insert(entry) | Op::Modify(entry) = op
                && entry.action == self.action
                && let Some(vrf) = entry.args.get_mut(self.argument)
                && let Some((_, to)) = self.instead.iter().find(|(from, _)| u128::from(*from) == *vrf)
            {
                *vrf = (*to).into();
            }
        }
        batch
    }
}

impl Target for OtherWays {
    fn name(&self) -> &str {
        self.fast.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.fast.capabilities()
    }

    fn program(&self) -> &Arc<Program> {
        self.fast.program()
    }

    fn check(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.fast.check(&self.renamed(batch))
    }

    fn apply(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.fast.apply(&self.renamed(batch))
    }

    fn apply_deferred(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.fast.apply_deferred(&self.renamed(batch))
    }

    fn lane(&self, index: usize) -> Box<dyn Lane> {
        self.fast.lane(index)
    }

    fn counter(&self, counter: CounterId, index: u64) -> Count {
        self.fast.counter(counter, index)
    }

    fn table_stats(&self, table: TableId) -> TableStats {
        self.fast.table_stats(table)
    }

    fn facets(&self) -> Facets<'_> {
        // Entries that are read back are those that it has.
        let Facets { ahead, recovery, meters, registers, digests, tables } = self.fast.facets();
        Facets { ahead, recovery, meters, registers, digests, tables }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Packet, PortId, Verdict, VerdictKind};
    use offload::{Policy, Split, Unit};
    use std::net::{IpAddr, Ipv4Addr};
    use target_asic::{Asic, Chip};
    use upf::config::{PortConfig, Role, Route, StaticNeighbour, Via};
    use upf_kit::sessions::{self, Direction, Sessions};

    const OTHER: PortId = PortId(7);

    /// Which port a packet of the session leaves by, through both targets.
    fn leaves(lane: &mut dyn Lane, direction: Direction, n: u32) -> PortId {
        let mut packets = vec![Packet::new(&sessions::frame(direction, n), direction.port())];
        let mut verdicts = vec![Verdict::default()];
        lane.process(&mut packets, &mut verdicts, 1_000_000_000);
        assert_eq!(verdicts[0].kind, VerdictKind::Forward, "{verdicts:?}");
        PortId(verdicts[0].port)
    }

    #[test]
    fn a_session_takes_the_other_way_while_it_is_on_the_fast_target() {
        let ir = Arc::new(p4_driver::compile(std::path::Path::new("upf.p4"), &[], &[("SESSIONS".into(), "1024".into())]).unwrap());
        let mut network = sessions::network();
        let router = IpAddr::from([10, 4, 0, 2]);
        let gnb = network.neighbours[0].ip;
        network.ports.push(PortConfig {
            id: OTHER,
            name: "bulk".into(),
            mac: [2, 0, 0, 0, 4, 1],
            mtu: 1500,
            addresses: vec![(Ipv4Addr::new(10, 4, 0, 1).into(), 24)],
            network_instance: "bulk".into(),
            role: Role::Access,
            ..PortConfig::default()
        });
        network.routes.push(Route { network_instance: "Bulk".into(), prefix: (gnb, 32), via: Via::Gateway(router) });
        network.neighbours.push(StaticNeighbour { port: OTHER, ip: router, mac: [2, 0, 0, 0, 4, 2] });
        network.validate().unwrap();

        let egress = BTreeMap::from([("Access".to_owned(), "bulk".to_owned())]);
        let asic = Box::new(Asic::load(ir.clone(), Chip { session_entries: 64 }).unwrap());
        let fast = by_other_ways(asic, &egress, &Networks::new(&network)).unwrap();
        let split = Split::new(fast, Box::new(Asic::oracle(ir.clone()).unwrap()), Policy::Planned).unwrap();
        let ids = Ids::bind(&ir.program).unwrap();
        split.apply(&upf::static_rules::initial(&network, &ids)).unwrap();
        let of = Sessions::new(&ir.program).unwrap();
        let unit = |n: u32| Unit { id: u64::from(n) + 1, ..Unit::default() };
        for n in 0..2u32 {
            split.apply_session(&unit(n), &of.batch([(n, n)].into_iter())).unwrap();
        }
        let mut lane = split.lane(0);
        let lane = &mut *lane;
        assert_eq!(leaves(lane, Direction::Downlink, 0), sessions::N3);
        split.move_to_fast(&unit(0), &of.batch([(0, 0)].into_iter())).unwrap();
        assert_eq!(leaves(lane, Direction::Downlink, 0), OTHER);
        assert_eq!(leaves(lane, Direction::Downlink, 1), sessions::N3, "the other session is where it was");
        // The network instance of N6 has no other way.
        assert_eq!(leaves(lane, Direction::Uplink, 0), sessions::N6);
        // What changes an entry there leads the same way.
        split.apply_session(&unit(0), &of.handover(0, 77)).unwrap();
        assert_eq!(leaves(lane, Direction::Downlink, 0), OTHER);
        split.move_to_base(1).unwrap();
        assert_eq!(leaves(lane, Direction::Downlink, 0), sessions::N3);
    }
}
