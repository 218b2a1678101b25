//! The switch between base stations, data network and foreign UPF: its ports, and the links that packets leave by.

use crate::rule::name;
use program::{ActionId, Batch, CounterId, Entry, KeyMatch, Op, Program, TableId};
use std::net::Ipv4Addr;

/// Port towards base stations, in the program's numbers.
pub const ACCESS_PORT: u16 = 0;
/// Port to the foreign UPF's access side.
pub const FOREIGN_ACCESS_PORT: u16 = 1;
/// Port towards the data network.
pub const CORE_PORT: u16 = 128;
/// Port to the foreign UPF's side of the data network.
pub const FOREIGN_CORE_PORT: u16 = 129;

/// Room of the program's table of hops.
const MAX_HOPS: usize = 4096;

/// What an operator configures once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrangement {
    /// The foreign UPF's GTP-U address: tunnels that rules end are to it, tunnels that rules begin are from it.
    pub upf: Ipv4Addr,
    /// Where packets leave by rules. What leaves through the foreign UPF has the addresses that it gives.
    pub hops: Vec<Hop>,
}

/// A neighbour that packets are sent to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hop {
    /// Its name in rules.
    pub name: String,
    /// Where it is.
    pub side: Side,
    /// The network behind it.
    pub to: (Ipv4Addr, u8),
    /// Source MAC address: the foreign UPF's on that side, so that neighbours see one station.
    pub src_mac: [u8; 6],
    /// Its MAC address.
    pub dst_mac: [u8; 6],
    /// Longest IP packet on the link, in bytes.
    pub mtu: u16,
}

/// The two networks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Base stations.
    Access,
    /// Data network.
    Core,
}

/// What is wrong with an arrangement: the operator's fault.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ArrangementError {
    /// A hop.
    #[error("hop `{0}`: {1}")]
    Hop(String, &'static str),
    /// Too many hops.
    #[error("{0} hops are more than {MAX_HOPS}")]
    TooMany(usize),
    /// The UPF's address.
    #[error("{0} is no address of a UPF")]
    Upf(Ipv4Addr),
    /// The program is not like `ceupf.p4`.
    #[error("the program has no {0}")]
    Program(&'static str),
}

impl Arrangement {
    /// Checks names, networks, addresses.
    pub fn validate(&self) -> Result<(), ArrangementError> {
        if self.upf.is_unspecified() || self.upf.is_multicast() || self.upf.is_broadcast() {
            return Err(ArrangementError::Upf(self.upf));
        }
        if self.hops.len() > MAX_HOPS {
            return Err(ArrangementError::TooMany(self.hops.len()));
        }
        for (i, hop) in self.hops.iter().enumerate() {
            let wrong = |what| Err(ArrangementError::Hop(hop.name.chars().take(40).collect(), what));
            if name(&hop.name).is_err() {
                return wrong("a name is letters, digits, `-`, `_` and `.`, 32 at most");
            }
            if self.hops[..i].iter().any(|other| other.name == hop.name) {
                return wrong("there are two of that name");
            }
            if self.hops[..i].iter().any(|other| (other.side, other.to) == (hop.side, hop.to)) {
                return wrong("another hop of its side has that network already");
            }
            let (network, len) = hop.to;
            if len > 32 || u32::from(network) & !mask(len) != 0 {
                return wrong("`to` is a network, without bits of hosts");
            }
            if [hop.src_mac, hop.dst_mac].iter().any(|mac| mac[0] & 1 != 0 || *mac == [0; 6]) {
                return wrong("a MAC address is not one station's");
            }
            // RFC 791 §3.2: what every link must take.
            if !(68..=9216).contains(&hop.mtu) {
                return wrong("`mtu` is not between 68 and 9216");
            }
        }
        Ok(())
    }

    /// Position of the hop of that name and side.
    pub(crate) fn named(&self, side: Side, name: &str) -> Option<usize> {
        self.hops.iter().position(|hop| hop.side == side && hop.name == name)
    }

    /// Position of the hop whose network holds the address, the longest prefix first; without an address the one of 0.0.0.0/0.
    pub(crate) fn towards(&self, side: Side, address: Option<Ipv4Addr>) -> Option<usize> {
        let holds = |hop: &Hop| match address {
            Some(address) => u32::from(address) & mask(hop.to.1) == u32::from(hop.to.0),
            None => hop.to.1 == 0,
        };
        let all = self.hops.iter().enumerate().filter(|(_, hop)| hop.side == side && holds(hop));
        all.max_by_key(|(_, hop)| hop.to.1).map(|(at, _)| at)
    }

    /// The entries that are there before any rule: default forwards and hops.
    pub(crate) fn initial(&self, ids: &Ids) -> Batch {
        let mut ops = Vec::new();
        let mut insert = |table, key: u128, action, args| {
            ops.push(Op::Insert(Entry { table, keys: vec![KeyMatch::Exact(key)], priority: 0, action, args }));
        };
        for (from, to) in [
            (ACCESS_PORT, FOREIGN_ACCESS_PORT),
            (FOREIGN_ACCESS_PORT, ACCESS_PORT),
            (CORE_PORT, FOREIGN_CORE_PORT),
            (FOREIGN_CORE_PORT, CORE_PORT),
        ] {
            insert(ids.ip_default_forward, from.into(), ids.forward, vec![to.into()]);
            // Where GTP-U is parsed at all.
            if from < CORE_PORT {
                insert(ids.gtp_default_forward, from.into(), ids.forward, vec![to.into()]);
            }
        }
        for (at, hop) in self.hops.iter().enumerate() {
            let port = if hop.side == Side::Access { ACCESS_PORT } else { CORE_PORT };
            let args = vec![port.into(), number(hop.src_mac), number(hop.dst_mac), hop.mtu.into()];
            insert(ids.l2_forward, at as u128, ids.send, args);
        }
        Batch { ops }
    }
}

fn mask(len: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0)
}

fn number(mac: [u8; 6]) -> u128 {
    mac.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

/// The program's parts by their numbers, bound once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ids {
    pub(crate) gtp_default_forward: TableId,
    pub(crate) ip_default_forward: TableId,
    pub(crate) gtp_encap: TableId,
    pub(crate) gtp_decap: TableId,
    pub(crate) l2_forward: TableId,
    pub(crate) forward: ActionId,
    pub(crate) encapsulate: ActionId,
    pub(crate) encapsulate_with_container: ActionId,
    pub(crate) decapsulate: ActionId,
    pub(crate) send: ActionId,
    pub(crate) rules: CounterId,
    pub(crate) ways: CounterId,
}

impl Ids {
    pub(crate) fn bind(program: &Program) -> Result<Ids, ArrangementError> {
        let table = |name| program.table(name).ok_or(ArrangementError::Program(name));
        let action = |name| program.action(name).ok_or(ArrangementError::Program(name));
        let counter = |name| program.counter(name).ok_or(ArrangementError::Program(name));
        Ok(Ids {
            gtp_default_forward: table("gtp_default_forward")?,
            ip_default_forward: table("ip_default_forward")?,
            gtp_encap: table("gtp_encap")?,
            gtp_decap: table("gtp_decap")?,
            l2_forward: table("l2_forward")?,
            forward: action("forward")?,
            encapsulate: action("encapsulate")?,
            encapsulate_with_container: action("encapsulate_with_container")?,
            decapsulate: action("decapsulate")?,
            send: action("send")?,
            rules: counter("rules")?,
            ways: counter("ways")?,
        })
    }
}
