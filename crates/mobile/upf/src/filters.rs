//! SDF filters (TS 29.244 §8.2.5) of the PDRs that share a look-up key, as one set of table entries.
//!
//! Sets are canonical: where a filter's UE side is "assigned", "any" or the UE's own address it is left open, because
//! the key has already fixed the UE. So sessions of the same kind have equal sets, and equal sets are stored once.

use std::net::{IpAddr, Ipv4Addr};

use indexmap::IndexSet;
use pfcp::rules::{AddressMatch, Pdr, SdfFilter};
use program::{Entry, KeyMatch};

use crate::config::{bits, prefix_mask};
use crate::ids::Ids;

/// Entries that one SDF filter may become (its port ranges multiply), that a set may have, and that a session may. They are
/// counted before they are made, repeated ones too: so the work for a message is bounded, whatever the session had before.
const MAX_ENTRIES_OF_FILTER: usize = 256;
const MAX_ENTRIES_OF_SET: usize = 1024;
const MAX_ENTRIES_OF_SESSION: usize = 4096;
/// PDRs that one look-up key may lead to: a class is 8 bits wide.
pub const MAX_CLASSES: usize = 256;

const ANY_PORT: (u16, u16) = (0, u16::MAX);

/// One entry of a set, of one IP version. "Remote" and "local" are as the program takes them: for a packet out
/// of a tunnel its destination is remote, for any other its source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// Address and mask.
    pub remote: (u128, u128),
    /// Address and mask.
    pub local: (u128, u128),
    /// IP protocol.
    pub protocol: Option<u8>,
    /// Inclusive.
    pub remote_ports: (u16, u16),
    /// Inclusive.
    pub local_ports: (u16, u16),
    /// Value and mask.
    pub tos: (u8, u8),
    /// IPv6 only.
    pub flow_label: Option<u32>,
    /// Of the PDU session container.
    pub qfi: Option<u8>,
}

impl Term {
    /// Matches every packet.
    const ANY: Term = Term {
        remote: (0, 0),
        local: (0, 0),
        protocol: None,
        remote_ports: ANY_PORT,
        local_ports: ANY_PORT,
        tos: (0, 0),
        flow_label: None,
        qfi: None,
    };

    /// Whether it matches every packet.
    pub fn is_any(&self) -> bool {
        *self == Term::ANY
    }
}

/// What a PDR matches, by IP version, in the order of its filters.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// For IPv4 packets.
    pub v4: IndexSet<Term>,
    /// For IPv6 packets.
    pub v6: IndexSet<Term>,
    /// Terms made for it, existing ones included.
    made: usize,
}

/// How many terms may still be made for a session.
#[derive(Clone, Debug)]
pub struct Budget(usize);

impl Default for Budget {
    fn default() -> Budget {
        Budget(MAX_ENTRIES_OF_SESSION)
    }
}

/// What is known about a PDR beside its filters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side {
    /// The UE's addresses, as far as known.
    pub ue_ipv4: Option<Ipv4Addr>,
    /// The UE's /64.
    pub ue_prefix: Option<u64>,
    /// Packets come out of a tunnel, but from the remote side (N9 towards the access side, or the CP function): what
    /// the program takes for remote is local.
    pub swapped: bool,
    /// Whether IPv4 packets can match (the PDI's UE address allows them).
    pub v4: bool,
    /// Whether IPv6 packets can match.
    pub v6: bool,
    /// The key alone does not fix the UE: PDRs that share it have different UE addresses.
    pub match_ue: bool,
    /// Packets come without a tunnel, so without a QFI to match.
    pub plain: bool,
}

/// Why SDF filters have no table entries: the SMF's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// Of one filter.
    #[error("SDF filter needs more than {MAX_ENTRIES_OF_FILTER} entries")]
    Filter,
    /// Of all filters of a PDR.
    #[error("the SDF filters of a PDR need more than {MAX_ENTRIES_OF_SET} filter entries")]
    Pdr,
    /// Of all PDRs that share a look-up key.
    #[error("the PDRs of a tunnel or address need more than {MAX_ENTRIES_OF_SET} filter entries")]
    Set,
    /// Of all PDRs of a session.
    #[error("the SDF filters of a session need more than {MAX_ENTRIES_OF_SESSION} filter entries")]
    Session,
    /// The program matches none (TS 29.244 §8.2.5).
    #[error("SDF filter with security parameter index {0:#x}: not supported")]
    Spi(u32),
    /// First above last.
    #[error("SDF filter with an empty port range")]
    EmptyPorts,
    /// A prefix is no longer than its address.
    #[error("SDF filter: {address}/{length} is longer than the address")]
    Prefix {
        /// The address.
        address: IpAddr,
        /// The length.
        length: u8,
    },
    /// It matches no packet.
    #[error("SDF filter mixes IPv4 and IPv6")]
    Mixed,
}

/// What a PDR matches.
pub fn terms(pdr: &Pdr, side: &Side, budget: &mut Budget) -> Result<Terms, FilterError> {
    let mut terms = Terms::default();
    let qfis = if side.plain { &[] } else { &pdr.pdi.qfis[..] };
    if pdr.pdi.sdf_filters.iter().all(SdfFilter::is_bare) {
        afford(&mut terms, budget, qfis.len().max(1) * 2)?;
        add(&mut terms, side, Term::ANY, Family { v4: true, v6: true }, qfis);
    }
    for filter in pdr.pdi.sdf_filters.iter().filter(|filter| !filter.is_bare()) {
        add_filter(&mut terms, side, filter, qfis, budget)?;
    }
    Ok(terms)
}

/// Whether so many more terms may be made.
fn afford(terms: &mut Terms, budget: &mut Budget, more: usize) -> Result<(), FilterError> {
    terms.made += more;
    if terms.made > MAX_ENTRIES_OF_SET {
        return Err(FilterError::Pdr);
    }
    budget.0 = budget.0.checked_sub(more).ok_or(FilterError::Session)?;
    Ok(())
}

#[derive(Clone, Copy)]
struct Family {
    v4: bool,
    v6: bool,
}

fn add_filter(terms: &mut Terms, side: &Side, filter: &SdfFilter, qfis: &[u8], budget: &mut Budget) -> Result<(), FilterError> {
    if let Some(spi) = filter.spi {
        return Err(FilterError::Spi(spi));
    }
    let mut family = Family { v4: true, v6: true };
    let mut term = Term::ANY;
    if let Some((value, mask)) = filter.tos {
        term.tos = (value & mask, mask);
    }
    if let Some(label) = filter.flow_label {
        term.flow_label = Some(label & 0xf_ffff);
        family.v4 = false;
    }
    let (mut remote_ports, mut local_ports) = (&[ANY_PORT][..], &[ANY_PORT][..]);
    if let Some(flow) = &filter.flow {
        term.protocol = flow.protocol;
        let (mut remote, mut local) = ((flow.remote, &flow.remote_ports), (flow.local, &flow.local_ports));
        // Written from the UE's side: read as it stands it would match nothing, as nobody sends to a UE from its own address.
        if is_ue(side, remote.0) && !is_ue(side, local.0) {
            std::mem::swap(&mut remote, &mut local);
        }
        let mut masked = |end: AddressMatch| match end {
            AddressMatch::Any | AddressMatch::Assigned => Ok((0, 0)),
            AddressMatch::Prefix(ip, len) => address(ip, len, &mut family),
        };
        (term.remote, term.local) = (masked(remote.0)?, masked(local.0)?);
        if is_ue(side, local.0) {
            term.local = (0, 0);
        }
        if !remote.1.is_empty() {
            remote_ports = remote.1;
        }
        if !local.1.is_empty() {
            local_ports = local.1;
        }
    }
    let entries = remote_ports.len() * local_ports.len() * qfis.len().max(1);
    if entries > MAX_ENTRIES_OF_FILTER {
        return Err(FilterError::Filter);
    }
    let versions = usize::from(side.v4 && family.v4) + usize::from(side.v6 && family.v6);
    afford(terms, budget, entries * versions)?;
    for remote in remote_ports {
        for local in local_ports {
            if remote.0 > remote.1 || local.0 > local.1 {
                return Err(FilterError::EmptyPorts);
            }
            add(terms, side, Term { remote_ports: *remote, local_ports: *local, ..term.clone() }, family, qfis);
        }
    }
    Ok(())
}

/// Value and mask of a prefix, whose IP version is then the only one: of one of no bits too.
fn address(ip: IpAddr, len: u8, family: &mut Family) -> Result<(u128, u128), FilterError> {
    if len > crate::config::width(ip) {
        return Err(FilterError::Prefix { address: ip, length: len });
    }
    match ip.is_ipv4() {
        true => family.v6 = false,
        false => family.v4 = false,
    }
    if !family.v4 && !family.v6 {
        return Err(FilterError::Mixed);
    }
    let mask = prefix_mask(ip, len);
    Ok((bits(ip) & mask, mask))
}

/// Whether an end is the UE, as far as its addresses are known.
fn is_ue(side: &Side, end: AddressMatch) -> bool {
    match end {
        AddressMatch::Any => false,
        AddressMatch::Assigned => true,
        AddressMatch::Prefix(IpAddr::V4(ip), len) => len == 32 && side.ue_ipv4 == Some(ip),
        AddressMatch::Prefix(IpAddr::V6(ip), len) => len == 64 && side.ue_prefix == Some((u128::from(ip) >> 64) as u64),
    }
}

/// Adds a term for each QFI and IP version that it is for, without repeating one.
fn add(terms: &mut Terms, side: &Side, term: Term, family: Family, qfis: &[u8]) {
    let qfis: Vec<Option<u8>> = if qfis.is_empty() { vec![None] } else { qfis.iter().map(|q| Some(q & 0x3f)).collect() };
    for qfi in qfis {
        let push = |list: &mut IndexSet<Term>, ue: Option<(u128, u128)>| {
            let mut term = Term { qfi, ..term.clone() };
            if let (true, Some(ue), (0, 0)) = (side.match_ue, ue, term.local) {
                term.local = ue;
            }
            if side.swapped {
                std::mem::swap(&mut term.remote, &mut term.local);
                std::mem::swap(&mut term.remote_ports, &mut term.local_ports);
            }
            list.insert(term);
        };
        if side.v4 && family.v4 {
            push(&mut terms.v4, side.ue_ipv4.map(|ip| (u128::from(u32::from(ip)), 0xffff_ffff)));
        }
        if side.v6 && family.v6 {
            push(&mut terms.v6, side.ue_prefix.map(|p| (u128::from(p) << 64, u128::MAX << 64)));
        }
    }
}

/// Terms of all classes of a group: class 0 is matched first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FilterSet {
    /// Class and term, for table `sdf_ipv4`.
    pub v4: Vec<(u8, Term)>,
    /// Class and term, for table `sdf_ipv6`.
    pub v6: Vec<(u8, Term)>,
}

impl FilterSet {
    /// Adds a class; `class` is the number of classes before.
    pub fn push(&mut self, class: u8, terms: Terms) -> Result<(), FilterError> {
        self.v4.extend(terms.v4.into_iter().map(|t| (class, t)));
        self.v6.extend(terms.v6.into_iter().map(|t| (class, t)));
        if self.v4.len() + self.v6.len() > MAX_ENTRIES_OF_SET {
            return Err(FilterError::Set);
        }
        Ok(())
    }

    /// The set's entries under its number.
    pub fn entries(&self, number: u16, ids: &Ids) -> impl Iterator<Item = Entry> {
        let v4 = self.v4.iter().map(move |(class, t)| (ids.tables.sdf_ipv4, *class, keys(number, t, false)));
        let v6 = self.v6.iter().map(move |(class, t)| (ids.tables.sdf_ipv6, *class, keys(number, t, true)));
        v4.chain(v6).map(move |(table, class, keys)| Entry {
            table,
            keys,
            priority: MAX_CLASSES as u32 - u32::from(class),
            action: ids.actions.set_filter,
            args: vec![u128::from(class)],
        })
    }
}

fn keys(number: u16, term: &Term, v6: bool) -> Vec<KeyMatch> {
    let ternary = |(value, mask): (u128, u128)| KeyMatch::Ternary { value, mask };
    let optional = |value: Option<u128>, mask: u128| ternary(value.map_or((0, 0), |v| (v, mask)));
    let range = |(low, high): (u16, u16)| KeyMatch::Range { low: low.into(), high: high.into() };
    let mut keys = vec![
        KeyMatch::Exact(number.into()),
        ternary(term.remote),
        ternary(term.local),
        optional(term.protocol.map(u128::from), 0xff),
        range(term.remote_ports),
        range(term.local_ports),
        ternary((term.tos.0.into(), term.tos.1.into())),
    ];
    if v6 {
        keys.push(optional(term.flow_label.map(u128::from), 0xf_ffff));
    }
    keys.push(optional(term.qfi.map(u128::from), 0x3f));
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfcp::rules::{FlowDescription, HeaderRemoval, Interface, Pdi};

    const SIDE: Side = Side { ue_ipv4: None, ue_prefix: None, swapped: false, v4: true, v6: true, match_ue: false, plain: false };

    fn pdr(flows: impl Iterator<Item = FlowDescription>) -> Pdr {
        let filter = |flow| SdfFilter { flow: Some(flow), tos: None, spi: None, flow_label: None, filter_id: None };
        Pdr {
            precedence: 0,
            pdi: Pdi {
                source_interface: Interface::Core,
                f_teid: None,
                network_instance: None,
                ue_ip: None,
                sdf_filters: flows.map(filter).collect(),
                qfis: Vec::new(),
            },
            outer_header_removal: HeaderRemoval::No,
            far_id: None,
            urr_ids: Vec::new(),
            qer_ids: Vec::new(),
        }
    }

    /// Each with `ports` ranges on both ends, no two alike where `distinct`.
    fn flows(count: u16, ports: u16, distinct: bool) -> impl Iterator<Item = FlowDescription> {
        (0..count).map(move |n| {
            let first = if distinct { n * ports } else { 0 };
            let ports: Vec<(u16, u16)> = (first..first + ports).map(|port| (port, port)).collect();
            let any = AddressMatch::Any;
            FlowDescription { protocol: Some(17), remote: any, remote_ports: ports.clone(), local: any, local_ports: ports }
        })
    }

    fn of(remote: AddressMatch, local: AddressMatch) -> Pdr {
        let ports = |port| vec![(port, port)];
        pdr([FlowDescription { protocol: Some(17), remote, remote_ports: ports(1), local, local_ports: ports(2) }].into_iter())
    }

    fn prefix(address: &str, length: u8) -> AddressMatch {
        AddressMatch::Prefix(address.parse().unwrap(), length)
    }

    #[test]
    fn a_prefix_of_no_bits_matches_its_own_family() {
        let families = |remote, local| {
            let terms = terms(&of(remote, local), &SIDE, &mut Budget::default());
            terms.map(|terms| (terms.v4.len(), terms.v6.len()))
        };
        let (v4, v6, any) = (prefix("0.0.0.0", 0), prefix("::", 0), AddressMatch::Any);
        for (remote, local, expected) in [
            (v4, any, Ok((1, 0))),
            (any, v4, Ok((1, 0))),
            (v6, AddressMatch::Assigned, Ok((0, 1))),
            (v4, v4, Ok((1, 0))),
            (any, any, Ok((1, 1))),
            (v4, v6, Err(FilterError::Mixed)),
            (v6, prefix("10.0.0.0", 8), Err(FilterError::Mixed)),
        ] {
            assert_eq!(families(remote, local), expected, "{remote:?} {local:?}");
        }
    }

    /// As SMFs write it, and as it would match nothing.
    #[test]
    fn a_filter_written_from_the_ues_side_is_that_of_its_flow() {
        let side = Side { ue_ipv4: Some([10, 45, 0, 2].into()), ue_prefix: Some(0x2001_0db8_0045_0001), ..SIDE };
        let swapped = |remote, local| {
            let flow =
                FlowDescription { protocol: Some(17), remote: local, remote_ports: vec![(2, 2)], local: remote, local_ports: vec![(1, 1)] };
            pdr([flow].into_iter())
        };
        let made = |pdr: &Pdr| terms(pdr, &side, &mut Budget::default()).map(|terms| (terms.v4, terms.v6)).unwrap();
        let server = prefix("8.8.8.8", 32);
        for ue in [AddressMatch::Assigned, prefix("10.45.0.2", 32), prefix("2001:db8:45:1::", 64)] {
            let v6 = ue == prefix("2001:db8:45:1::", 64);
            for remote in [AddressMatch::Any, if v6 { prefix("2001:db8:8::8", 128) } else { server }] {
                assert_eq!(made(&swapped(remote, ue)), made(&of(remote, ue)), "{remote:?} {ue:?}");
            }
        }
        // Of another UE it is a remote end like any other.
        let other = prefix("10.45.0.3", 32);
        assert_ne!(made(&swapped(AddressMatch::Any, other)), made(&of(AddressMatch::Any, other)));
    }

    #[test]
    fn a_filter_that_is_but_an_id_restricts_nothing_beside_one_that_does() {
        let bare = SdfFilter { flow: None, tos: None, spi: None, flow_label: None, filter_id: Some(3) };
        let mut alone = pdr([].into_iter());
        alone.pdi.sdf_filters = vec![bare.clone()];
        let made = |pdr: &Pdr| terms(pdr, &SIDE, &mut Budget::default()).map(|terms| (terms.v4, terms.v6)).unwrap();
        assert_eq!(made(&alone), made(&pdr([].into_iter())));
        let mut beside = of(AddressMatch::Any, AddressMatch::Assigned);
        let without = made(&beside);
        beside.pdi.sdf_filters.insert(0, bare);
        assert_eq!(made(&beside), without);
    }

    /// 540 filters fit one message. They once took 38 s, as each of 138,240 terms was compared with all before.
    #[test]
    fn many_sdf_filters_in_one_pdr_are_refused_before_they_cost() {
        for distinct in [false, true] {
            let mut budget = Budget::default();
            let error = terms(&pdr(flows(540, 16, distinct)), &SIDE, &mut budget).unwrap_err();
            assert!(error.to_string().contains("more than 1024 filter entries"), "{error}");
            let made = MAX_ENTRIES_OF_SESSION - budget.0;
            assert!(made > 0 && made <= MAX_ENTRIES_OF_SET, "{made} terms made");
        }
    }

    #[test]
    fn many_sdf_filters_in_many_pdrs_of_a_session_are_refused_before_they_cost() {
        let mut budget = Budget::default();
        let taken = (0..540).filter(|_| terms(&pdr(flows(4, 8, true)), &SIDE, &mut budget).is_ok()).count();
        assert_eq!(taken, MAX_ENTRIES_OF_SESSION / (4 * 8 * 8 * 2));
    }

    #[test]
    fn as_many_filters_as_a_set_holds_are_taken_and_repeated_ones_are_one() {
        let terms = |pdr| terms(&pdr, &SIDE, &mut Budget::default());
        let all = terms(pdr(flows(128, 2, true))).unwrap();
        assert_eq!((all.v4.len(), all.v6.len(), all.made), (512, 512, MAX_ENTRIES_OF_SET));
        let alike = terms(pdr(flows(128, 2, false))).unwrap();
        assert_eq!((alike.v4.len(), alike.v6.len()), (4, 4));
        assert!(terms(pdr(flows(129, 2, true))).is_err());
    }
}
