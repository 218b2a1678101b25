//! One session's rules as table entries. Pure: [`outline`] says what numbers the rules need, [`Outline::entries`] puts
//! numbers in.
//!
//! PDRs are grouped by look-up key: tunnel endpoint, or UE address in a network instance. A group whose first PDR
//! takes everything is one entry with the whole rule in it; any other is an entry that leads to a filter set, whose
//! classes lead to the rules. PDRs behind one that takes everything have no entries.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use pfcp::rules::{
    CommitError, FTeid, Far, Forwarding, HeaderRemoval, Interface, Pdr, Qer, RuleId, Seid, SessionRules, Usage, VolumeLimit,
};
use program::{Entry, KeyMatch, MeterConfig};
use serde::{Deserialize, Serialize};

use crate::config::{NetworkConfig, Policing};
use crate::filters::{self, Budget, FilterSet, MAX_CLASSES, Side};
use crate::ids::Ids;
use crate::networks::{Clues, Networks, Vrf};

/// What [`outline`] must know beside the rules.
#[derive(Clone, Debug)]
pub struct Context {
    /// Network instances.
    pub networks: Networks,
    /// See [`NetworkConfig::zero_mbr_unlimited`].
    pub zero_mbr_unlimited: bool,
    /// How rates are policed.
    pub policing: Policing,
    /// The longest IP packet that a port sends.
    pub longest_packet: u16,
}

impl Context {
    /// Of a configuration that validates.
    pub fn new(config: &NetworkConfig) -> Context {
        Context {
            networks: Networks::new(config),
            zero_mbr_unlimited: config.zero_mbr_unlimited,
            policing: config.policing,
            longest_packet: config.ports.iter().map(|port| port.mtu).max().unwrap_or(u16::MAX).max(1),
        }
    }
}

/// How packets find their PDRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Lookup {
    /// By the tunnel they come by.
    Teid(Ipv4Addr, u32),
    /// By their destination.
    UeIpv4(Vrf, Ipv4Addr),
    /// By the /64 of their destination.
    UeIpv6(Vrf, u64),
}

/// Identity of an entry of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Key {
    /// In `pdr_by_class`: group and class.
    Class(u32, u8),
    /// In `pdr_by_teid`, `pdr_by_ue_ipv4` or `pdr_by_ue_ipv6`.
    Lookup(Lookup),
}

/// What an entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// The rule.
    SetPdr(SetPdr),
    /// Group and filter set to look at.
    Classify(u32, u16),
}

/// Disposition as `p4/include/metadata.p4` numbers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // named as in the program
pub enum Disposition {
    #[default]
    Forward = 0,
    Drop = 1,
    Buffer = 2,
    GateClosed = 3,
    QuotaExhausted = 4,
}

/// Encapsulation as `p4/include/metadata.p4` numbers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // named as in the program
pub enum Encapsulation {
    #[default]
    None = 0,
    Gtpu = 1,
    PscDownlink = 2,
    PscUplink = 3,
}

/// `PDR_DECREMENT_TTL` of the program.
pub const DECREMENT_TTL: u8 = 1;
/// `PDR_CHECK_SOURCE` of the program.
pub const CHECK_SOURCE: u8 = 2;
/// `PDR_QUOTA_n` of the program, by the place of the meter in [`SetPdr::meters`].
pub const QUOTA: [u8; 3] = [16, 8, 4];

/// `PDR_DELETE_CONTAINER` of the program.
pub const DELETE_CONTAINER: u8 = 32;
/// `PDR_KEEP_QFI` of the program.
pub const KEEP_QFI: u8 = 64;

/// Parameters of action `set_pdr`, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // p4/include/session.p4 says what each is
pub struct SetPdr {
    pub pdr: u32,
    pub disposition: Disposition,
    pub flags: u8,
    pub usage: u32,
    pub meters: [u32; 3],
    pub ue_ipv4: Ipv4Addr,
    pub ue_prefix: u64,
    pub encapsulation: Encapsulation,
    pub tunnel_teid: u32,
    pub tunnel_dst: Ipv4Addr,
    pub tunnel_src: Ipv4Addr,
    pub psc_qos: u8,
    pub tunnel_tos: u8,
    pub out_vrf: Vrf,
}

/// A set of URRs that count the same packets in the same direction: they share a usage cell. Packets that no URR counts have one too: a session's cells
/// have all its packets, whatever URRs there are.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UsageKey {
    /// URR IDs, ascending; none: packets that are the session's and nobody's charge.
    pub urr_ids: Box<[u32]>,
    /// Direction.
    pub uplink: bool,
}

impl Ord for UsageKey {
    /// Those that URRs count are first.
    fn cmp(&self, other: &UsageKey) -> Ordering {
        let place = |key: &UsageKey| key.urr_ids.is_empty();
        place(self).cmp(&place(other)).then_with(|| (&self.urr_ids, self.uplink).cmp(&(&other.urr_ids, other.uplink)))
    }
}

impl PartialOrd for UsageKey {
    fn partial_cmp(&self, other: &UsageKey) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A direction of a QER with an MBR: it has a meter cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MeterKey {
    /// QER ID.
    pub qer_id: u32,
    /// Direction.
    pub uplink: bool,
}

/// A volume quota of a URR: it has a meter cell, which holds what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuotaKey {
    /// URR ID.
    pub urr_id: u32,
    /// Which of its limits.
    pub side: QuotaSide,
}

/// What a volume quota limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum QuotaSide {
    /// Both directions together.
    Total,
    /// Uplink.
    Uplink,
    /// Downlink.
    Downlink,
}

impl QuotaSide {
    /// The limit of this side.
    pub fn of_limit(self, limit: VolumeLimit) -> Option<u64> {
        match self {
            QuotaSide::Total => limit.total,
            QuotaSide::Uplink => limit.uplink,
            QuotaSide::Downlink => limit.downlink,
        }
    }

    /// What counts for this side.
    pub fn of_usage(self, usage: Usage) -> u64 {
        match self {
            QuotaSide::Total => usage.uplink_bytes.saturating_add(usage.downlink_bytes),
            QuotaSide::Uplink => usage.uplink_bytes,
            QuotaSide::Downlink => usage.downlink_bytes,
        }
    }
}

/// The numbers of a session. Lists are sorted by what the number is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbers {
    /// Cells of counter `usage`. First, so that they can be read alone from a packed session.
    pub usage: Vec<(UsageKey, u32)>,
    /// PDR numbers by PDR ID.
    pub pdrs: Vec<(u16, u32)>,
    /// Group numbers.
    pub groups: Vec<(Lookup, u32)>,
    /// Filter set numbers of the groups.
    pub filter_sets: Vec<(Lookup, u16)>,
    /// Cells of meter `mbr`.
    pub meters: Vec<(MeterKey, u32)>,
    /// Cells of the same meter that hold quotas.
    pub quotas: Vec<(QuotaKey, u32)>,
}

/// The number of `key` in a sorted list, 0 if there is none.
pub fn number<K: Ord, N: Copy + Default>(list: &[(K, N)], key: &K) -> N {
    list.binary_search_by(|(k, _)| k.cmp(key)).map_or(N::default(), |at| list[at].1)
}

/// PDRs with one look-up key.
#[derive(Clone, Debug)]
pub struct Group {
    /// The key.
    pub lookup: Lookup,
    /// PDR IDs; position is the class.
    pub members: Vec<u16>,
    /// What tells the members apart; `None`: the only member takes everything.
    pub filters: Option<Arc<FilterSet>>,
}

/// A PDR, all but its numbers.
#[derive(Clone, Debug)]
struct Plan {
    pdr_id: u16,
    set_pdr: SetPdr,
    usage: UsageKey,
    meters: Vec<MeterKey>,
    /// Volume quotas that packets take from, in this order, behind the rates.
    quotas: Vec<QuotaKey>,
    /// The QER with a guaranteed bit rate, and that rate in kbit/s.
    guaranteed: Option<(MeterKey, u64)>,
}

/// How packets of a PDR wait for a port's rate, and where they are charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Treatment {
    /// Cell of counter `usage`; 0: none.
    pub usage: u32,
    /// What shares a queue with others in turns: all of a session, or of a QoS flow with a guaranteed rate, which is another one than a session of that number.
    pub flow: u32,
    /// Guaranteed bit rate of the flow in kbit/s; 0: none.
    pub guaranteed_kbps: u64,
}

/// What a session's rules come to.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// PDRs by ascending ID.
    plans: Vec<Plan>,
    /// Groups by ascending key.
    pub groups: Vec<Group>,
    /// Usage cells needed.
    pub usage: BTreeSet<UsageKey>,
    /// Meter cells needed, and their rates in kbit/s.
    pub meters: BTreeMap<MeterKey, u64>,
    /// Quota cells needed, and the quotas in bytes.
    pub quotas: BTreeMap<QuotaKey, u64>,
    /// Tunnel peers that packets are sent to.
    pub peers: BTreeSet<(Vrf, Ipv4Addr)>,
    /// Our tunnels.
    pub tunnels: BTreeSet<(Ipv4Addr, u32)>,
    /// Our addresses that they end at, by the interface that packets come by.
    own_endpoints: BTreeSet<(Interface, Ipv4Addr)>,
    /// UE's IPv4 addresses.
    pub ue_ipv4s: BTreeSet<Ipv4Addr>,
    /// UE's /64s.
    pub ue_prefixes: BTreeSet<u64>,
    /// The session's slice.
    pub s_nssai: Option<(u8, Option<u32>)>,
    /// QFI of the session's default QoS flow.
    default_qfi: Option<u8>,
}

/// An entry, and the PDR that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// Identity.
    pub key: Key,
    /// The PDR to name if the entry is refused.
    pub pdr_id: u16,
    /// What it says.
    pub act: Act,
}

fn refuse<T>(rule: RuleId, why: impl Into<String>) -> Result<T, CommitError> {
    Err(CommitError::Rule { rule, why: why.into() })
}

/// Reads a session's rules: groups, and what numbers they need. An error names the rule that cannot be obeyed.
pub fn outline(rules: &SessionRules, context: &Context) -> Result<Outline, CommitError> {
    let mut outline = Outline::default();
    for (id, pdr) in &rules.pdrs {
        if let Some(ue) = &pdr.pdi.ue_ip {
            outline.ue_ipv4s.extend(ue.ipv4);
            if let Some((prefix, len)) = ue.ipv6 {
                if len != 64 {
                    return refuse(RuleId::Pdr(*id), format!("UE prefix {prefix}/{len}: only /64 is served"));
                }
                outline.ue_prefixes.insert((u128::from(prefix) >> 64) as u64);
            }
        }
        outline.tunnels.extend(pdr.pdi.f_teid.map(|t| (t.ipv4, t.teid)));
        outline.own_endpoints.extend(pdr.pdi.f_teid.map(|t| (pdr.pdi.source_interface, t.ipv4)));
    }
    outline.default_qfi = default_qfi(rules);
    outline.s_nssai = rules.s_nssai;
    for (id, pdr) in &rules.pdrs {
        let plan = plan(*id, pdr, rules, context, &mut outline)?;
        outline.usage.insert(plan.usage.clone());
        outline.plans.push(plan);
    }
    let mut keys: BTreeMap<Lookup, Vec<u16>> = BTreeMap::new();
    for (id, pdr) in &rules.pdrs {
        for lookup in lookups(*id, pdr, rules, context, &outline)? {
            keys.entry(lookup).or_default().push(*id);
        }
    }
    let mut budget = Budget::default();
    for (lookup, members) in keys {
        outline.groups.extend(group(lookup, members, rules, &outline, &mut budget)?);
    }
    Ok(outline)
}

/// QFI of the downlink PDR that is matched last: the default QoS flow's (TS 23.501 §5.7.1.8). PDRs without a QER
/// of their own use it, such as the one for router advertisements: every packet on N3 of a 5GC needs a QFI (TS 38.415 §5.5).
fn default_qfi(rules: &SessionRules) -> Option<u8> {
    let qfi = |pdr: &Pdr| pdr.qer_ids.iter().find_map(|id| rules.qers.get(id)?.qfi);
    let downlink = rules.pdrs.iter().filter(|(_, pdr)| pdr.pdi.source_interface != Interface::Access);
    let with_qfi = downlink.filter_map(|(id, pdr)| Some((pdr.precedence, *id, qfi(pdr)?)));
    with_qfi.max().map(|(_, _, qfi)| qfi & 0x3f)
}

/// The keys that lead to a PDR. SMFs give tunnel and addresses once, in the default QoS flow's PDR, and may give nothing but SDF filters and
/// QFI in those of other flows. What one names by neither means what comes by the session's tunnels on its side, or to the session's addresses.
fn lookups(id: u16, pdr: &Pdr, rules: &SessionRules, context: &Context, outline: &Outline) -> Result<Vec<Lookup>, CommitError> {
    let pdi = &pdr.pdi;
    let by_tunnel = |tunnel: FTeid| Lookup::Teid(tunnel.ipv4, tunnel.teid);
    if let Some(tunnel) = pdi.f_teid {
        return Ok(vec![by_tunnel(tunnel)]);
    }
    let instance = pdi.network_instance.as_deref();
    let at = || format!("source interface {}, network instance \"{}\"", pdi.source_interface, instance.unwrap_or_default());
    // Not a tunnel of forwarded downlink data, for what the UE sends.
    let forwarded = |pdr: &Pdr| pdi.source_interface == Interface::Access && destination(pdr, rules) == Some(Interface::Access);
    let is_forwarded = forwarded(pdr);
    let from_there = |other: &&Pdr| {
        let named = other.pdi.network_instance.as_deref();
        other.pdi.source_interface == pdi.source_interface
            && (named.is_none() || instance.is_none() || named == instance)
            && forwarded(other) == is_forwarded
    };
    let others = || rules.pdrs.values().filter(from_there).map(|other| &other.pdi);
    let mut tunnels: Vec<Lookup> = others().filter_map(|other| other.f_teid.map(by_tunnel)).collect();
    tunnels.sort_unstable();
    tunnels.dedup();
    if !matches!(pdi.source_interface, Interface::Core | Interface::SgiLan) {
        if tunnels.is_empty() {
            return refuse(RuleId::Pdr(id), format!("{}: the PDI has no F-TEID, by which packets from there come", at()));
        }
        return Ok(tunnels);
    }
    let own = own_addresses(pdr);
    // N9 alone: nothing comes from there without a tunnel.
    let plain = others().any(|other| other.f_teid.is_none() && other.ue_ip.is_some());
    if own.is_none() && !plain && !tunnels.is_empty() {
        return Ok(tunnels);
    }
    let vrf = context.networks.resolve(pdi.source_interface, instance, &Clues::default());
    let vrf = vrf.or_else(|why| refuse(RuleId::Pdr(id), format!("{}: {why}", at())))?;
    let v4 = |ip| Lookup::UeIpv4(vrf, ip);
    let v6 = |prefix| Lookup::UeIpv6(vrf, prefix);
    let lookups: Vec<Lookup> = match own {
        Some((ip, prefix)) => ip.map(v4).into_iter().chain(prefix.map(v6)).collect(),
        None => {
            let all = outline.ue_ipv4s.iter().copied().map(v4).chain(outline.ue_prefixes.iter().copied().map(v6));
            all.chain(tunnels).collect()
        }
    };
    if lookups.is_empty() {
        return refuse(RuleId::Pdr(id), format!("{}: the PDI has neither F-TEID nor UE IP Address, and no other PDR has the UE's", at()));
    }
    Ok(lookups)
}

/// Where a PDR's packets are forwarded to.
fn destination(pdr: &Pdr, rules: &SessionRules) -> Option<Interface> {
    Some(rules.fars.get(&pdr.far_id?)?.forwarding.as_ref()?.destination)
}

/// Orders the PDRs of a key and says what tells them apart. `None`: no packet with that key can match any.
fn group(
    lookup: Lookup,
    mut members: Vec<u16>,
    rules: &SessionRules,
    outline: &Outline,
    budget: &mut Budget,
) -> Result<Option<Group>, CommitError> {
    members.sort_by_key(|id| {
        let precedence = rules.pdrs[id].precedence;
        match without_tunnel(&rules.pdrs[id], rules) {
            false => (false, precedence, *id),
            true => (true, u32::MAX - precedence, *id),
        }
    });
    let (v4, v6) = match lookup {
        Lookup::Teid(..) => (true, true),
        Lookup::UeIpv4(..) => (true, false),
        Lookup::UeIpv6(..) => (false, true),
    };
    let pdis = || members.iter().map(|id| &rules.pdrs[id].pdi);
    let ipv4s: BTreeSet<_> = pdis().filter_map(|p| p.ue_ip?.ipv4).collect();
    let prefixes: BTreeSet<_> = pdis().filter_map(|p| p.ue_ip?.ipv6).collect();
    let match_ue = matches!(lookup, Lookup::Teid(..)) && (ipv4s.len() > 1 || prefixes.len() > 1);

    let mut kept = Vec::new();
    let mut set = FilterSet::default();
    // An IP version is settled once a PDR takes all packets of it.
    let (mut settled_v4, mut settled_v6) = (!v4, !v6);
    for id in &members {
        let pdr = &rules.pdrs[id];
        let side = side(pdr, lookup, outline, match_ue);
        let mut terms = filters::terms(pdr, &side, budget).or_else(|why| refuse(RuleId::Pdr(*id), why.to_string()))?;
        for (settled, terms) in [(&mut settled_v4, &mut terms.v4), (&mut settled_v6, &mut terms.v6)] {
            if *settled {
                terms.clear();
            } else if let Some(any) = terms.iter().find(|t| t.is_any()).cloned() {
                *terms = [any].into();
                *settled = true;
            }
        }
        if terms.v4.is_empty() && terms.v6.is_empty() {
            continue;
        }
        if kept.len() == MAX_CLASSES {
            return refuse(RuleId::Pdr(*id), format!("more than {MAX_CLASSES} PDRs share its tunnel or UE address"));
        }
        set.push(kept.len() as u8, terms).or_else(|why| refuse(RuleId::Pdr(*id), why.to_string()))?;
        kept.push(*id);
        if settled_v4 && settled_v6 {
            break;
        }
    }
    if kept.is_empty() {
        return Ok(None);
    }
    let takes_all = set.v4.iter().chain(&set.v6).all(|(_, t)| t.is_any());
    // Where the source is checked, a version that the UE has no address of is refused by that check.
    let checked = || {
        let plan = outline.plans.iter().find(|p| p.pdr_id == kept[0] && p.set_pdr.flags & CHECK_SOURCE != 0);
        let refused = |set_pdr: &SetPdr| (settled_v4 || set_pdr.ue_ipv4.is_unspecified()) && (settled_v6 || set_pdr.ue_prefix == 0);
        plan.is_some_and(|plan| refused(&plan.set_pdr))
    };
    let inline = kept.len() == 1 && takes_all && (settled_v4 && settled_v6 || checked());
    Ok(Some(Group { lookup, members: kept, filters: (!inline).then(|| Arc::new(set)) }))
}

/// Whether a downlink PDR's packets can but wait, since its FAR has not been given a tunnel of the access side yet. That is so
/// while a session or another of its QoS flows is set up there (TS 23.502 §4.3.2.2.1, §4.3.3.2). Packets take another PDR that
/// matches, if there is one. If all lack a tunnel the default QoS flow's comes first, for its tunnel comes first.
fn without_tunnel(pdr: &Pdr, rules: &SessionRules) -> bool {
    let Some(far) = pdr.far_id.and_then(|far_id| rules.fars.get(&far_id)) else { return false };
    let tunnel_missing = |to: &Forwarding| to.destination == Interface::Access && to.outer_header.is_none();
    pdr.pdi.source_interface != Interface::Access && far.action.buffer && far.forwarding.as_ref().is_none_or(tunnel_missing)
}

/// What a PDR's filters are to be read with.
fn side(pdr: &Pdr, lookup: Lookup, outline: &Outline, match_ue: bool) -> Side {
    let (ue_ipv4, ue_prefix) = match lookup {
        Lookup::Teid(..) => ue_addresses(pdr, outline),
        Lookup::UeIpv4(_, ip) => (Some(ip), None),
        Lookup::UeIpv6(_, prefix) => (None, Some(prefix)),
    };
    let own = pdr.pdi.ue_ip.filter(|ue| ue.ipv4.is_some() || ue.ipv6.is_some());
    let in_tunnel = matches!(lookup, Lookup::Teid(..));
    Side {
        ue_ipv4,
        ue_prefix,
        swapped: in_tunnel && pdr.pdi.source_interface != Interface::Access,
        v4: !matches!(lookup, Lookup::UeIpv6(..)) && own.is_none_or(|ue| ue.ipv4.is_some()),
        v6: !matches!(lookup, Lookup::UeIpv4(..)) && own.is_none_or(|ue| ue.ipv6.is_some()),
        match_ue,
        plain: !in_tunnel,
    }
}

/// The UE's addresses as the PDR has them, else as the session's other PDRs have them, if they agree.
fn ue_addresses(pdr: &Pdr, outline: &Outline) -> (Option<Ipv4Addr>, Option<u64>) {
    if let Some(own) = own_addresses(pdr) {
        return own;
    }
    let only = |count: usize| count == 1;
    (
        outline.ue_ipv4s.first().copied().filter(|_| only(outline.ue_ipv4s.len())),
        outline.ue_prefixes.first().copied().filter(|_| only(outline.ue_prefixes.len())),
    )
}

/// The UE's addresses that the PDR itself has, if it has any.
fn own_addresses(pdr: &Pdr) -> Option<(Option<Ipv4Addr>, Option<u64>)> {
    let ue = pdr.pdi.ue_ip.filter(|ue| ue.ipv4.is_some() || ue.ipv6.is_some())?;
    Some((ue.ipv4, ue.ipv6.map(|(prefix, _)| (u128::from(prefix) >> 64) as u64)))
}

/// Folds a PDR's FAR, QERs and URRs into one action.
fn plan(id: u16, pdr: &Pdr, rules: &SessionRules, context: &Context, outline: &mut Outline) -> Result<Plan, CommitError> {
    let missing = |what: String| CommitError::Rule { rule: RuleId::Pdr(id), why: format!("the session has no {what}") };
    let uplink = pdr.pdi.source_interface == Interface::Access;
    let far = match pdr.far_id {
        Some(far_id) => Some((far_id, rules.fars.get(&far_id).ok_or_else(|| missing(format!("FAR {far_id}")))?)),
        None => None,
    };
    let mut qers: Vec<(u32, &Qer)> = Vec::new();
    for qer_id in &pdr.qer_ids {
        let qer = rules.qers.get(qer_id).ok_or_else(|| missing(format!("QER {qer_id}")))?;
        if qers.iter().all(|(known, _)| known != qer_id) {
            qers.push((*qer_id, qer));
        }
    }
    let mut far = far;
    let mut quota = None;
    for urr_id in &pdr.urr_ids {
        let urr = rules.urrs.get(urr_id).ok_or_else(|| missing(format!("URR {urr_id}")))?;
        match urr.quota_far_id {
            _ if !urr.is_used_up(uplink) => {}
            // FAR for quota action: it takes the place of the PDR's (§5.2.2.2.1).
            Some(far_id) => far = Some((far_id, rules.fars.get(&far_id).ok_or_else(|| missing(format!("FAR {far_id}")))?)),
            // The node hears of what waits, and then commits that it is dropped.
            None if urr.untold && !urr.inactive => quota = Some(Disposition::Buffer),
            None => quota = quota.or(Some(Disposition::QuotaExhausted)),
        }
    }

    let mut set_pdr = SetPdr {
        pdr: 0,
        disposition: disposition(far.map(|(_, far)| far), &qers, uplink, quota),
        flags: 0,
        usage: 0,
        meters: [0; 3],
        ue_ipv4: Ipv4Addr::UNSPECIFIED,
        ue_prefix: 0,
        encapsulation: Encapsulation::None,
        tunnel_teid: 0,
        tunnel_dst: Ipv4Addr::UNSPECIFIED,
        tunnel_src: Ipv4Addr::UNSPECIFIED,
        psc_qos: 0,
        tunnel_tos: 0,
        out_vrf: 0,
    };
    if let Some((far_id, far)) = far
        && far.action.forward
    {
        let Some(forwarding) = &far.forwarding else {
            return refuse(RuleId::Far(far_id), "forwards, but has no forwarding parameters");
        };
        forward(&mut set_pdr, far_id, forwarding, (id, pdr), &qers, context, outline)?;
    }

    let mut meters = Vec::new();
    // Of several the first: a flow has one (TS 23.501 §5.7.1).
    let guaranteed = qers.iter().find_map(|(qer_id, qer)| {
        let (up, down) = qer.gbr_kbps?;
        let kbps = if uplink { up } else { down };
        (kbps > 0).then_some((MeterKey { qer_id: *qer_id, uplink }, kbps))
    });
    for (qer_id, qer) in &qers {
        let Some((up, down)) = qer.mbr_kbps else { continue };
        let kbps = if uplink { up } else { down };
        if kbps == 0 && context.zero_mbr_unlimited {
            continue;
        }
        if meters.len() == set_pdr.meters.len() {
            return refuse(RuleId::Pdr(id), "more than 3 QERs with a maximum bit rate");
        }
        let key = MeterKey { qer_id: *qer_id, uplink };
        outline.meters.insert(key, kbps);
        meters.push(key);
    }
    let mut quotas = quotas(pdr, rules, uplink);
    // Those for which no meter is left are seen to be used up by polls alone.
    quotas.truncate(set_pdr.meters.len() - meters.len());
    for flag in QUOTA.iter().rev().take(quotas.len()) {
        set_pdr.flags |= flag;
    }
    outline.quotas.extend(quotas.iter().copied());
    let quotas = quotas.into_iter().map(|(key, _)| key).collect();
    let urr_ids: BTreeSet<u32> = pdr.urr_ids.iter().copied().collect();
    let usage = UsageKey { urr_ids: urr_ids.into_iter().collect(), uplink };
    Ok(Plan { pdr_id: id, set_pdr, usage, meters, quotas, guaranteed })
}

/// The volume quotas that packets of a PDR are to be stopped by. The smallest is first: what it stops has taken nothing from the others.
fn quotas(pdr: &Pdr, rules: &SessionRules, uplink: bool) -> Vec<(QuotaKey, u64)> {
    let own_side = if uplink { QuotaSide::Uplink } else { QuotaSide::Downlink };
    let urr_ids: BTreeSet<u32> = pdr.urr_ids.iter().copied().collect();
    let limits = urr_ids.into_iter().flat_map(|urr_id| {
        let urr = rules.urrs.get(&urr_id).filter(|urr| !urr.is_used_up(uplink) && !urr.inactive);
        let limit = urr.and_then(|urr| urr.volume_quota).unwrap_or_default();
        [QuotaSide::Total, own_side].into_iter().filter_map(move |side| Some((QuotaKey { urr_id, side }, side.of_limit(limit)?)))
    });
    let mut quotas: Vec<_> = limits.collect();
    quotas.sort_unstable_by_key(|(key, bytes)| (*bytes, *key));
    quotas
}

/// FAR first, then gates, then quotas; a packet that would be dropped is not kept in the buffer first.
fn disposition(far: Option<&Far>, qers: &[(u32, &Qer)], uplink: bool, quota: Option<Disposition>) -> Disposition {
    let Some(action) = far.map(|f| f.action).filter(|a| a.forward || a.buffer) else {
        return Disposition::Drop;
    };
    let open = |qer: &Qer| if uplink { qer.uplink_open } else { qer.downlink_open };
    if !qers.iter().all(|(_, qer)| open(qer)) {
        Disposition::GateClosed
    } else if let Some(quota) = quota {
        quota
    } else if action.buffer {
        Disposition::Buffer
    } else {
        Disposition::Forward
    }
}

/// Where packets go, and how they are wrapped.
fn forward(
    set_pdr: &mut SetPdr,
    far_id: u32,
    forwarding: &Forwarding,
    (id, pdr): (u16, &Pdr),
    qers: &[(u32, &Qer)],
    context: &Context,
    outline: &mut Outline,
) -> Result<(), CommitError> {
    let destination = forwarding.destination;
    let networks = &context.networks;
    let instance = forwarding.network_instance.as_deref();
    let at = || format!("destination interface {destination}, network instance \"{}\"", instance.unwrap_or_default());
    let peer = forwarding.outer_header.map(|header| header.ipv4);
    let clues = Clues { tunnels: outline.own_tunnels(destination, networks), peer };
    let vrf = networks.resolve(destination, instance, &clues);
    set_pdr.out_vrf = vrf.or_else(|why| refuse(RuleId::Far(far_id), format!("{}: {why}", at())))?;
    if let Some(header) = forwarding.outer_header {
        // Of our addresses there, rather one that the session's own tunnels end at: gNodeBs and firewalls expect that.
        let of_session = |ip: &&Ipv4Addr| outline.tunnels.iter().any(|(endpoint, _)| endpoint == *ip);
        let endpoints = networks.endpoints(set_pdr.out_vrf);
        let name = networks.name(set_pdr.out_vrf).unwrap_or_default();
        let Some(source) = endpoints.iter().find(of_session).or(endpoints.first()).copied() else {
            return refuse(RuleId::Far(far_id), format!("{}: no GTP-U endpoint of ours in network instance \"{name}\"", at()));
        };
        // Not so for the CP function: SMFs send it router solicitations of users that have none.
        if destination != Interface::CpFunction && !networks.has_route(set_pdr.out_vrf, header.ipv4) {
            let why = format!("{}: no route to {} in network instance \"{name}\"", at(), header.ipv4);
            return refuse(RuleId::Far(far_id), why);
        }
        let qos_flow = qers.iter().find_map(|(_, qer)| qer.qfi.map(|qfi| (qfi & 0x3f, qer.rqi)));
        // From tunnel to tunnel the container goes on, and a QER gives it its QFI. Where packets come from users or go to the CP
        // function the QoS flow ends.
        let relayed = pdr.pdi.f_teid.is_some();
        let deleted = destination == Interface::CpFunction || pdr.outer_header_removal == HeaderRemoval::GtpuAndContainer;
        if relayed && deleted {
            set_pdr.flags |= DELETE_CONTAINER;
        }
        (set_pdr.encapsulation, set_pdr.psc_qos) = match (destination, qos_flow, outline.default_qfi) {
            // TS 38.415 §5.5.2.1: PPP (0), RQI, QFI.
            (Interface::Access, Some((qfi, rqi)), _) => (Encapsulation::PscDownlink, u8::from(rqi) << 6 | qfi),
            (Interface::Access, None, Some(qfi)) if !(relayed && deleted) => {
                set_pdr.flags |= if relayed { KEEP_QFI } else { 0 };
                (Encapsulation::PscDownlink, qfi)
            }
            (Interface::Core | Interface::SgiLan, Some((qfi, _)), _) => (Encapsulation::PscUplink, qfi),
            _ => (Encapsulation::Gtpu, 0),
        };
        set_pdr.tunnel_teid = header.teid;
        set_pdr.tunnel_dst = header.ipv4;
        set_pdr.tunnel_src = source;
        set_pdr.tunnel_tos = forwarding.tos.map_or(0, |(value, mask)| value & mask);
        outline.peers.insert((set_pdr.out_vrf, header.ipv4));
    }
    let source = pdr.pdi.source_interface;
    let with_cp = source == Interface::CpFunction || destination == Interface::CpFunction;
    if !with_cp && pdr.pdi.f_teid.is_some() != forwarding.outer_header.is_some() {
        set_pdr.flags |= DECREMENT_TTL;
    }
    // Packets from the access side that go back to it are forwarded downlink data (handover, TS 23.502 §4.9.1.3.3):
    // their source is not the UE.
    if source == Interface::Access && !with_cp && destination != Interface::Access {
        let (ue_ipv4, ue_prefix) = ue_addresses(pdr, outline);
        if own_addresses(pdr).is_none() && (outline.ue_ipv4s.len() > 1 || outline.ue_prefixes.len() > 1) {
            return refuse(RuleId::Pdr(id), "the PDI has no UE IP Address, and the session's other PDRs have several: it must name one");
        }
        // Without any address of the session's nothing is the UE's. But what goes on by N9 is checked at the session's anchor, which has it.
        if ue_ipv4.is_some() || ue_prefix.is_some() || forwarding.outer_header.is_none() {
            set_pdr.flags |= CHECK_SOURCE;
            set_pdr.ue_ipv4 = ue_ipv4.unwrap_or(Ipv4Addr::UNSPECIFIED);
            set_pdr.ue_prefix = ue_prefix.unwrap_or(0);
        }
    }
    Ok(())
}

impl Outline {
    /// Network instances of the session's own tunnels on the side of `interface`.
    fn own_tunnels(&self, interface: Interface, networks: &Networks) -> BTreeSet<Vrf> {
        let of_side = self.own_endpoints.iter().filter(|(source, _)| *source == interface);
        of_side.filter_map(|(_, endpoint)| networks.endpoint_vrf(*endpoint)).collect()
    }

    /// IDs of all PDRs, ascending.
    pub fn pdr_ids(&self) -> impl Iterator<Item = u16> + '_ {
        self.plans.iter().map(|p| p.pdr_id)
    }

    /// What becomes of packets of each PDR, by PDR ID.
    pub fn dispositions(&self) -> impl Iterator<Item = (u16, Disposition)> + '_ {
        self.plans.iter().map(|p| (p.pdr_id, p.set_pdr.disposition))
    }

    /// UE's /64s as addresses.
    pub fn ue_ipv6s(&self) -> Vec<Ipv6Addr> {
        self.ue_prefixes.iter().map(|p| Ipv6Addr::from(u128::from(*p) << 64)).collect()
    }

    /// DSCPs of the outer headers, and QFIs, of PDRs that forward into tunnels.
    pub fn marks(&self) -> (BTreeSet<u8>, BTreeSet<u8>) {
        let tunnelled = || self.plans.iter().map(|p| &p.set_pdr).filter(|p| p.encapsulation != Encapsulation::None);
        let qfis = tunnelled().filter(|p| p.encapsulation != Encapsulation::Gtpu).map(|p| p.psc_qos & 0x3f);
        (tunnelled().map(|p| p.tunnel_tos >> 2).collect(), qfis.collect())
    }

    /// The session's entries under these numbers, sorted by key.
    pub fn entries(&self, numbers: &Numbers) -> Vec<SessionEntry> {
        let mut entries = Vec::new();
        for group in &self.groups {
            let set_pdr = |id: u16| self.set_pdr(id, numbers);
            let key = Key::Lookup(group.lookup);
            // A group has a member: `group` makes none without.
            let first = group.members.first().copied().unwrap_or_default();
            let Some(_) = group.filters else {
                entries.extend(set_pdr(first).map(|act| SessionEntry { key, pdr_id: first, act }));
                continue;
            };
            let group_number = number(&numbers.groups, &group.lookup);
            let filter_set = number(&numbers.filter_sets, &group.lookup);
            entries.push(SessionEntry { key, pdr_id: first, act: Act::Classify(group_number, filter_set) });
            for (class, id) in group.members.iter().enumerate() {
                let key = Key::Class(group_number, class as u8); // at most MAX_CLASSES members
                entries.extend(set_pdr(*id).map(|act| SessionEntry { key, pdr_id: *id, act }));
            }
        }
        entries.sort_by_key(|e| e.key);
        entries
    }

    /// Whether a QoS flow has a guaranteed rate.
    pub fn has_guarantee(&self) -> bool {
        self.plans.iter().any(|plan| plan.guaranteed.is_some())
    }

    /// How packets of each PDR number are treated. PDRs with the same guaranteed QER and direction are one flow; all others are that of the session.
    pub fn treatments(&self, seid: Seid, numbers: &Numbers) -> Vec<(u32, Treatment)> {
        // Of two sessions with one number each has half of a share.
        let session = (seid ^ (seid >> 32)) as u32;
        let mut flows: BTreeMap<MeterKey, u32> = BTreeMap::new();
        let treatment = |plan: &Plan| {
            let pdr = number(&numbers.pdrs, &plan.pdr_id);
            let usage = number(&numbers.usage, &plan.usage);
            let flow = plan.guaranteed.map_or(session, |(key, _)| *flows.entry(key).or_insert(pdr));
            (pdr, Treatment { usage, flow, guaranteed_kbps: plan.guaranteed.map_or(0, |(_, kbps)| kbps) })
        };
        self.plans.iter().map(treatment).collect()
    }

    fn set_pdr(&self, id: u16, numbers: &Numbers) -> Option<Act> {
        let at = self.plans.binary_search_by_key(&id, |p| p.pdr_id).ok()?;
        let plan = &self.plans[at];
        let mut meters = [0; 3];
        for (cell, key) in meters.iter_mut().zip(&plan.meters) {
            *cell = number(&numbers.meters, key);
        }
        // After the rates: what they drop has not been used.
        let behind = meters.len() - plan.quotas.len();
        for (cell, key) in meters[behind..].iter_mut().zip(&plan.quotas) {
            *cell = number(&numbers.quotas, key);
        }
        let usage = number(&numbers.usage, &plan.usage);
        Some(Act::SetPdr(SetPdr { pdr: number(&numbers.pdrs, &id), usage, meters, ..plan.set_pdr }))
    }
}

/// So many bytes as a meter has them that nothing fills: each packet takes from them, and red is what finds too few.
pub fn quota_config(bytes: u64) -> MeterConfig {
    MeterConfig { cir: 0, cbs: bytes, pir: 0, pbs: bytes }
}

/// An MBR as a meter has it.
pub fn meter_config(kbps: u64, policing: Policing) -> MeterConfig {
    policing.meter(kbps.saturating_mul(125))
}

impl Lookup {
    /// Name of the table that it is a key of.
    pub fn table(&self) -> &'static str {
        match self {
            Lookup::Teid(..) => "pdr_by_teid",
            Lookup::UeIpv4(..) => "pdr_by_ue_ipv4",
            Lookup::UeIpv6(..) => "pdr_by_ue_ipv6",
        }
    }
}

impl SessionEntry {
    /// As the program has it.
    pub fn entry(&self, ids: &Ids) -> Entry {
        let (table, keys) = match self.key {
            Key::Lookup(Lookup::Teid(endpoint, teid)) => (ids.tables.pdr_by_teid, [u32::from(endpoint).into(), teid.into()]),
            Key::Lookup(Lookup::UeIpv4(vrf, ip)) => (ids.tables.pdr_by_ue_ipv4, [vrf.into(), u32::from(ip).into()]),
            Key::Lookup(Lookup::UeIpv6(vrf, prefix)) => (ids.tables.pdr_by_ue_ipv6, [vrf.into(), prefix.into()]),
            Key::Class(group, class) => (ids.tables.pdr_by_class, [group.into(), class.into()]),
        };
        let (action, args) = match self.act {
            Act::SetPdr(set_pdr) => (ids.actions.set_pdr, set_pdr.args()),
            Act::Classify(group, filter_set) => (ids.actions.classify, vec![group.into(), filter_set.into()]),
        };
        Entry { table, keys: keys.map(KeyMatch::Exact).to_vec(), priority: 0, action, args }
    }
}

impl SetPdr {
    fn args(&self) -> Vec<u128> {
        let [meter_1, meter_2, meter_3] = self.meters;
        vec![
            self.pdr.into(),
            self.disposition as u128,
            self.flags.into(),
            self.usage.into(),
            meter_1.into(),
            meter_2.into(),
            meter_3.into(),
            u32::from(self.ue_ipv4).into(),
            self.ue_prefix.into(),
            self.encapsulation as u128,
            self.tunnel_teid.into(),
            u32::from(self.tunnel_dst).into(),
            u32::from(self.tunnel_src).into(),
            self.psc_qos.into(),
            self.tunnel_tos.into(),
            self.out_vrf.into(),
        ]
    }
}
