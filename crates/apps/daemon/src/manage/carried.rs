//! What has a target carried for users? What it dropped, and what it gave to the control plane, such as ARP, is counted apart.
//!
//! A split's lanes count that themselves, and a target ahead of the engine keeps a ledger. Where one target runs everything, nothing more is counted for
//! each packet: it has carried what ports received, less what was dropped or punted.

use crate::config::Role;
use crate::manage::report::{Count, TargetReport};
use base::PortId;
use engine::Ledger;
use offload::Ran;
use std::collections::BTreeMap;
use target_api::Carried;

/// What the control plane was given, and what of it the program has run once more, by the port that it came in by.
#[derive(Debug, Default)]
pub(crate) struct Punted {
    given: BTreeMap<PortId, Count>,
    given_back: BTreeMap<PortId, Count>,
    /// What was reported last: a count never goes down, though ports, drops and punts are read one after the other.
    reported: BTreeMap<PortId, Count>,
}

impl Punted {
    /// The control plane was given a frame of so many bytes.
    pub(crate) fn came(&mut self, port: PortId, bytes: usize) {
        *self.given.entry(port).or_default() += one(bytes);
    }

    /// It goes round again.
    pub(crate) fn went_back(&mut self, port: PortId, bytes: usize) {
        *self.given_back.entry(port).or_default() += one(bytes);
    }

    /// What the one target has carried of a port's.
    pub(crate) fn carried(&mut self, port: PortId, ledger: &Ledger) -> Count {
        let count = ledger.ports.get(&port).cloned().unwrap_or_default();
        let mut came: Count = count.received.into();
        came += self.given_back.get(&port).copied().unwrap_or_default();
        let mut went = self.given.get(&port).copied().unwrap_or_default();
        count.dropped.values().for_each(|dropped| went += (*dropped).into());
        // Punted, and not given to the control plane yet: of which port is seen when it comes, and what has been reported once stays.
        let (mut punted, mut given) = (Count::default(), Count::default());
        ledger.punted.values().for_each(|count| punted += (*count).into());
        self.given.values().for_each(|count| given += *count);
        let packets = punted.packets.saturating_sub(given.packets);
        went += Count { packets, bytes: punted.bytes.saturating_sub(given.bytes) };
        let reported = self.reported.entry(port).or_default();
        reported.packets = reported.packets.max(came.packets.saturating_sub(went.packets));
        reported.bytes = reported.bytes.max(came.bytes.saturating_sub(went.bytes));
        *reported
    }
}

fn one(bytes: usize) -> Count {
    Count { packets: 1, bytes: bytes as u64 }
}

impl TargetReport {
    /// Adds what was carried from ports of that role.
    pub(crate) fn add_from(&mut self, role: Role, count: Count) {
        *match role {
            Role::Access => &mut self.uplink,
            // A CP function is on the network's side: what it sends is for UEs.
            Role::Core | Role::Cp => &mut self.downlink,
            Role::Both => &mut self.either,
        } += count;
    }

    /// Adds what lanes ran of a port's.
    pub(crate) fn add_ran(&mut self, role: Role, ran: &Ran) {
        self.add_from(role, ran.carried.into());
        self.dropped += ran.dropped.into();
        self.punted += ran.punted.into();
    }

    /// Adds what a target ahead of the engine carried; it knows of a packet that it dropped the reason, not the port. So it is counted as it left.
    pub(crate) fn add_ahead(&mut self, carried: &Carried, role: impl Fn(PortId) -> Role) {
        for (port, sent) in &carried.sent {
            // What leaves to the core is uplink.
            *match role(*port) {
                Role::Access => &mut self.downlink,
                Role::Core | Role::Cp => &mut self.uplink,
                Role::Both => &mut self.either,
            } += (*sent).into();
        }
        carried.dropped.values().for_each(|dropped| self.dropped += (*dropped).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::PortCount;

    fn count(packets: u64) -> target_api::Count {
        target_api::Count { packets, bytes: 100 * packets }
    }

    #[test]
    fn what_is_dropped_or_punted_is_not_carried_and_what_goes_round_again_is() {
        let port = PortId(3);
        let mut punted = Punted::default();
        let dropped = |packets| [(7, count(packets)), (9, count(1))].into();
        let ledger = |received, drops| Ledger {
            ports: [(port, PortCount { received: count(received), dropped: dropped(drops), ..PortCount::default() })].into(),
            ..Ledger::default()
        };
        (0..3).for_each(|_| punted.came(port, 100));
        punted.went_back(port, 100);
        assert_eq!(punted.carried(port, &ledger(20, 4)), Count { packets: 13, bytes: 1300 });
        // A drop that is seen before its packet was, a moment later.
        assert_eq!(punted.carried(port, &ledger(20, 6)), Count { packets: 13, bytes: 1300 });
        assert_eq!(punted.carried(port, &ledger(30, 6)), Count { packets: 21, bytes: 2100 });
        assert_eq!(punted.carried(PortId(4), &ledger(30, 6)), Count::default());
    }

    #[test]
    fn a_punt_on_its_way_to_the_control_plane_is_not_carried() {
        let port = PortId(3);
        let mut punted = Punted::default();
        let ledger = Ledger {
            ports: [(port, PortCount { received: count(20), ..PortCount::default() })].into(),
            punted: [(1, count(2))].into(),
            ..Ledger::default()
        };
        assert_eq!(punted.carried(port, &ledger), Count { packets: 18, bytes: 1800 });
        (0..2).for_each(|_| punted.came(port, 100));
        assert_eq!(punted.carried(port, &ledger), Count { packets: 18, bytes: 1800 });
    }

    #[test]
    fn the_role_of_a_port_says_the_way() {
        let mut row = TargetReport::default();
        for (role, packets) in [(Role::Access, 1), (Role::Core, 2), (Role::Cp, 4), (Role::Both, 8)] {
            row.add_ran(role, &Ran { carried: count(packets), dropped: count(1), punted: count(2), waits: count(16) });
        }
        let packets = |row: &TargetReport| [row.uplink, row.downlink, row.either, row.dropped, row.punted].map(|count| count.packets);
        assert_eq!(packets(&row), [1, 6, 8, 4, 8]);
        let sent = [(PortId(1), count(1)), (PortId(2), count(2)), (PortId(3), count(4))].into();
        let carried = Carried { sent, dropped: [(base::DropReason(7), count(5))].into(), ..Carried::default() };
        let mut row = TargetReport::default();
        row.add_ahead(&carried, |port| [Role::Access, Role::Core, Role::Both][usize::from(port.0) - 1]);
        assert_eq!(packets(&row), [2, 1, 4, 5, 0]);
    }
}
