//! A session request as a change of rules: the new rules, and the actions that go with them. Nothing here has an effect
//! except on the pools, whose [`Taking`] undoes itself.
//!
//! Order within a request: what is removed, then what is created, then what is updated, then the references are checked
//! (TS 29.244 §7.5.4: the table names removals first). Any failure rejects the whole request (§5.2.1: no partial success).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::codec::fate::{self, Fate};
use crate::codec::{ApplyActionFlags, Cause, FSeid, FTeid, Flaw, Group, Ie, IeType, UeIpAddress, find, number};
use crate::node::{Set, sets};
use crate::pool::{Held, Taking};
use crate::rules::{Interface, OuterHeader, RuleId, Seid, SessionRules, Usage};
use crate::usage::{MEASURE_PACKETS, Renewed};
use crate::work::steps;

mod build;
mod resolve;

pub(crate) use resolve::unused;

/// Why a request is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub cause: Cause,
    pub offending: Option<IeType>,
    pub failed: Option<RuleId>,
    /// The session that has what was asked for.
    pub holder: Option<Seid>,
    /// What was asked for is another session's, or not ours to give.
    pub unavailable: bool,
    /// For the log.
    pub why: String,
}

/// What is known of a session besides its rules, and outlives a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Context {
    /// The rules now.
    pub rules: SessionRules,
    /// TEIDs and addresses it holds.
    pub held: BTreeSet<Held>,
    /// CHOOSE IDs by the PDRs that were made with them.
    pub choose_ids: BTreeMap<u16, u8>,
    /// DNN.
    pub dnn: Option<String>,
    /// Sets of sessions that it is in.
    pub sets: Vec<Set>,
}

/// What a request changes.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// The session's context after it; newly allocated resources are not yet in `held`.
    pub context: Context,
    /// Elements of Created PDR, one for each PDR that something was allocated for.
    pub created: Vec<Group>,
    /// A new F-SEID of the CP function.
    pub cp: Option<FSeid>,
    /// URRs that begin, including those created again with an ID that was removed.
    pub urrs_begun: BTreeSet<u32>,
    /// QERs removed by the request (they may be there again).
    pub qers_removed: BTreeSet<u32>,
    /// URRs removed by the request (they may have begun again).
    pub urrs_removed: BTreeSet<u32>,
    /// What URRs that are removed and begin again have counted: there they begin.
    pub counted: BTreeMap<u32, Usage>,
    /// URRs with new quotas or periods.
    pub urrs_renewed: BTreeMap<u32, Renewed>,
    /// URRs for which Measurement Information says whether packets are reported.
    pub urrs_count_packets: BTreeMap<u32, bool>,
    /// URRs to be reported in the response.
    pub urrs_queried: BTreeSet<u32>,
    /// URRs that no PDR names any more, and that stay.
    pub urrs_dissociated: BTreeSet<u32>,
    /// Query URR Reference, to be returned in the reports.
    pub query_reference: Option<u32>,
    /// FARs that were updated: their buffering episode is over.
    pub fars_touched: BTreeSet<u32>,
    /// Tunnels to send end markers to, one each.
    pub end_markers: Vec<OuterHeader>,
    /// DROBU: buffered packets are dropped.
    pub drop_buffered: bool,
    /// Rules that the request removes and that are not there.
    pub absent: u64,
    /// Rules that it creates, and those of them that it creates again, alike.
    created_rules: BTreeSet<RuleId>,
    repeated: BTreeSet<RuleId>,
}

/// RESTI of PFCPSEReq-Flags (§8.2.136).
const RESTI: u8 = 0x01;

/// Flags of PFCPSMReq-Flags (§8.2.31).
const DROBU: u8 = 0x01;
const SNDEM: u8 = 0x02;
const QAURR: u8 = 0x04;

/// Session Establishment Request (§7.5.2). The caller has taken Node ID and CP F-SEID.
///
/// One that restores a session after a restart of ours names the F-TEIDs and UE addresses that it had (RESTI; TS 23.527 §4.3.2). They are taken as those of
/// any CP function that chooses them itself; that they are not to be had is told by a cause of its own: [`Rejection::of_restoration`].
pub(crate) fn establish(ies: &[Ie], max_rules: usize, taking: &mut Taking<'_>) -> Result<Change, Rejection> {
    refuse_flaws(ies)?;
    for mandatory in [number::CreatePdr, number::CreateFar] {
        if !ies.iter().any(|ie| ie.ie_type() == mandatory) {
            return Err(Rejection::missing(mandatory));
        }
    }
    let flags = find!(ies, PfcpSeReqFlags).copied().unwrap_or(0);
    refuse_flags(number::PfcpSeReqFlags, fate::PFCPSEREQ_FLAGS, flags.into())?;
    match find!(ies, PdnType).map(|kind| kind & 0x07) {
        None | Some(1..=3) => {}
        Some(kind) => return Err(Rejection::unsupported(number::PdnType, format!("PDN type {kind}"))),
    }
    let dnn = find!(ies, ApnDnn).map(|name| name.as_str().to_ascii_lowercase());
    let mut context = Context { dnn, sets: sets(ies, &[])?, ..Context::default() };
    context.rules.s_nssai = find!(ies, SNssai).map(|s| (s.sst, Some(s.sd).filter(|sd| *sd != 0xff_ffff)));
    apply(&Context::default(), context, ies, max_rules, taking)
}

/// Whether a Session Establishment Request is to restore a session.
pub(crate) fn restores(ies: &[Ie]) -> bool {
    find!(ies, PfcpSeReqFlags).is_some_and(|flags| flags & RESTI != 0)
}

/// Session Modification Request (§7.5.4).
pub(crate) fn modify(old: &Context, ies: &[Ie], max_rules: usize, taking: &mut Taking<'_>) -> Result<Change, Rejection> {
    refuse_flaws(ies)?;
    let context = Context { sets: sets(ies, &old.sets)?, ..old.clone() };
    apply(old, context, ies, max_rules, taking)
}

/// Applies the rule elements of a request to `context`.
fn apply(old: &Context, context: Context, ies: &[Ie], max_rules: usize, taking: &mut Taking<'_>) -> Result<Change, Rejection> {
    let mut change = Change { context, cp: find!(ies, FSeid).copied(), ..Change::default() };
    // The tables have SNDEM with the FAR that it is for, the others with the message. Each is obeyed in both places.
    let flags = find!(ies, PfcpSmReqFlags).copied().unwrap_or(0);
    let of_fars = ies.iter().filter_map(|ie| if let Ie::UpdateFar(ies) = ie { Some(far_flags(ies)) } else { None });
    let all_flags = of_fars.fold(flags, |all, flags| all | flags);
    refuse_flags(number::PfcpSmReqFlags, fate::PFCPSMREQ_FLAGS, all_flags.into())?;
    change.drop_buffered = all_flags & DROBU != 0;
    change.query_reference = find!(ies, QueryUrrReference).copied();

    steps(4 * ies.len());
    for ie in ies {
        remove(&mut change, ie)?;
    }
    forget_removed(&mut change);
    for ie in ies {
        create(&mut change, ie, max_rules)?;
    }
    for ie in ies {
        update(&mut change, ie, flags)?;
    }
    if let Some(seconds) = find!(ies, UserPlaneInactivityTimer) {
        change.context.rules.inactivity_s = *seconds;
    }
    // What a rule can name better than an element has been refused before.
    refuse_unsupported(ies)?;
    resolve::tunnels_and_addresses(old, &mut change, ies, taking)?;
    resolve::references(&mut change.context.rules)?;
    refuse_repeated(&change)?;

    let old_urrs = &old.rules.urrs;
    for ie in ies {
        if let Ie::QueryUrr(ies) = ie {
            let id = *find!(ies, UrrId).ok_or_else(|| Rejection::missing(number::UrrId))?;
            // A URR removed by the same request is reported anyway.
            if !old_urrs.contains_key(&id) {
                return Err(Rejection::rule(RuleId::Urr(id), "queried, but not there".into()));
            }
            change.urrs_queried.insert(id);
        }
    }
    if all_flags & QAURR != 0 {
        change.urrs_queried.extend(old_urrs.keys());
    }
    change.urrs_queried.retain(|id| !change.urrs_removed.contains(id));
    let rules = &change.context.rules;
    let (mut dissociated, named) = (named_urrs(&old.rules), named_urrs(rules));
    dissociated.retain(|id| !named.contains(id) && rules.urrs.contains_key(id) && !change.urrs_removed.contains(id));
    change.urrs_dissociated = dissociated;
    Ok(change)
}

/// URRs that PDRs name.
fn named_urrs(rules: &SessionRules) -> BTreeSet<u32> {
    let named = rules.pdrs.values().flat_map(|pdr| &pdr.urr_ids);
    named.inspect(|_| steps(1)).copied().collect()
}

/// A rule that is the same in all may be told again with each PDR that it is for, as some CP functions do. One of which that cannot be the reason is told
/// twice by mistake.
fn refuse_repeated(change: &Change) -> Result<(), Rejection> {
    if change.repeated.is_empty() {
        return Ok(());
    }
    let pdrs = || change.context.rules.pdrs.values();
    let fars = pdrs().filter_map(|pdr| pdr.far_id).map(RuleId::Far);
    let others = pdrs().flat_map(|pdr| pdr.qer_ids.iter().map(|id| RuleId::Qer(*id)).chain(pdr.urr_ids.iter().map(|id| RuleId::Urr(*id))));
    let shared: BTreeSet<RuleId> = fars.chain(others).inspect(|_| steps(1)).collect();
    match change.repeated.iter().find(|rule| !shared.contains(rule)) {
        Some(rule) => Err(Rejection::rule(*rule, "created twice".into())),
        None => Ok(()),
    }
}

/// Takes a rule out. One that is not there is removed already: an SMF in use (Open5GS) sends a removal again under another sequence number while the first
/// answer is on its way, and what it wants is the state after it. So for rules of every kind.
fn remove(change: &mut Change, ie: &Ie) -> Result<(), Rejection> {
    let rules = &mut change.context.rules;
    let was_there = match ie {
        Ie::RemovePdr(ies) => {
            let id = *find!(ies, PdrId).ok_or_else(|| Rejection::missing(number::PdrId))?;
            change.context.choose_ids.remove(&id);
            rules.pdrs.remove(&id).is_some()
        }
        Ie::RemoveFar(ies) => {
            let id = *find!(ies, FarId).ok_or_else(|| Rejection::missing(number::FarId))?;
            let was_there = rules.fars.remove(&id).is_some();
            was_there && change.fars_touched.insert(id)
        }
        Ie::RemoveQer(ies) => {
            let id = *find!(ies, QerId).ok_or_else(|| Rejection::missing(number::QerId))?;
            let was_there = rules.qers.remove(&id).is_some();
            was_there && change.qers_removed.insert(id)
        }
        Ie::RemoveUrr(ies) => {
            let id = *find!(ies, UrrId).ok_or_else(|| Rejection::missing(number::UrrId))?;
            let was_there = rules.urrs.remove(&id).is_some();
            was_there && change.urrs_removed.insert(id)
        }
        Ie::RemoveBar(ies) => {
            let id = *find!(ies, BarId).ok_or_else(|| Rejection::missing(number::BarId))?;
            rules.fars.values_mut().filter(|far| far.bar_id == Some(id)).for_each(|far| far.bar_id = None);
            rules.bars.remove(&id).is_some()
        }
        _ => true,
    };
    change.absent += u64::from(!was_there);
    Ok(())
}

/// PDRs no longer name the QERs and URRs that were removed: all of them in one pass.
fn forget_removed(change: &mut Change) {
    let (qers, urrs) = (&change.qers_removed, &change.urrs_removed);
    if qers.is_empty() && urrs.is_empty() {
        return;
    }
    for pdr in change.context.rules.pdrs.values_mut() {
        steps(pdr.qer_ids.len() + pdr.urr_ids.len());
        pdr.qer_ids.retain(|id| !qers.contains(id));
        pdr.urr_ids.retain(|id| !urrs.contains(id));
    }
}

fn create(change: &mut Change, ie: &Ie, max_rules: usize) -> Result<(), Rejection> {
    let rules = &mut change.context.rules;
    let mut note = |rule: RuleId| {
        if !change.created_rules.insert(rule) {
            change.repeated.insert(rule);
        }
    };
    match ie {
        Ie::CreatePdr(ies) => {
            let (id, pdr) = build::create_pdr(ies)?;
            insert(&mut rules.pdrs, id, pdr, RuleId::Pdr(id), &mut note)?;
        }
        Ie::CreateFar(ies) => {
            let (id, far) = build::create_far(ies)?;
            insert(&mut rules.fars, id, far, RuleId::Far(id), &mut note)?;
        }
        Ie::CreateQer(ies) => {
            let (id, qer) = build::create_qer(ies)?;
            insert(&mut rules.qers, id, qer, RuleId::Qer(id), &mut note)?;
        }
        Ie::CreateUrr(ies) => {
            let (id, urr) = build::create_urr(ies)?;
            // One that is repeated goes on.
            let begins = !rules.urrs.contains_key(&id);
            insert(&mut rules.urrs, id, urr, RuleId::Urr(id), &mut note)?;
            if begins {
                change.urrs_begun.insert(id);
            }
            note_packet_counting(&mut change.urrs_count_packets, id, ies);
        }
        Ie::CreateBar(ies) => {
            let (id, bar) = build::create_bar(ies)?;
            insert(&mut rules.bars, id, bar, RuleId::Bar(id), &mut note)?;
        }
        // Features that we do not announce (PDIU): what would match otherwise than asked is refused.
        Ie::CreateTrafficEndpoint(_) | Ie::UpdateTrafficEndpoint(_) | Ie::RemoveTrafficEndpoint(_) => {
            return Err(Rejection::unsupported(ie.ie_type(), "traffic endpoints".into()));
        }
        _ => {}
    }
    let count = rules.pdrs.len() + rules.fars.len() + rules.qers.len() + rules.urrs.len() + rules.bars.len();
    if count > max_rules {
        return Err(Rejection::new(Cause::NO_RESOURCES, format!("more than {max_rules} rules in a session")));
    }
    Ok(())
}

/// A rule may be repeated if it is the same in all: see [`refuse_repeated`].
fn insert<K: Ord, V: PartialEq>(
    rules: &mut BTreeMap<K, V>,
    id: K,
    rule: V,
    name: RuleId,
    note: &mut impl FnMut(RuleId),
) -> Result<(), Rejection> {
    note(name);
    match rules.get(&id) {
        Some(there) if *there != rule => Err(Rejection::rule(name, "created, but already there".into())),
        _ => {
            rules.insert(id, rule);
            Ok(())
        }
    }
}

/// PFCPSMReq-Flags of an Update FAR.
fn far_flags(ies: &[Ie]) -> u8 {
    find!(ies, UpdateForwardingParameters).and_then(|ies| find!(ies, PfcpSmReqFlags)).copied().unwrap_or(0)
}

/// `flags`: PFCPSMReq-Flags of the message.
fn update(change: &mut Change, ie: &Ie, flags: u8) -> Result<(), Rejection> {
    let rules = &mut change.context.rules;
    let absent = |rule: RuleId| Rejection::rule(rule, "updated, but not there".into());
    match ie {
        Ie::UpdatePdr(ies) => {
            let id = *find!(ies, PdrId).ok_or_else(|| Rejection::missing(number::PdrId))?;
            let pdr = rules.pdrs.get_mut(&id).ok_or_else(|| absent(RuleId::Pdr(id)))?;
            build::update_pdr(id, pdr, ies)?;
        }
        Ie::UpdateFar(ies) => {
            let id = *find!(ies, FarId).ok_or_else(|| Rejection::missing(number::FarId))?;
            let far = rules.fars.get_mut(&id).ok_or_else(|| absent(RuleId::Far(id)))?;
            let before = far.forwarding.as_ref().and_then(|forwarding| forwarding.outer_header);
            let had = far.clone();
            build::update_far(id, far, ies)?;
            if find!(ies, ApplyAction).is_some() || had != *far {
                change.fars_touched.insert(id);
            }
            let after = far.forwarding.as_ref().and_then(|forwarding| forwarding.outer_header);
            let asked = (flags | far_flags(ies)) & SNDEM != 0;
            // One for each FAR, also where several left the same tunnel: their peers count them.
            change.end_markers.extend(before.filter(|_| asked && before != after));
        }
        Ie::UpdateQer(ies) => {
            let id = *find!(ies, QerId).ok_or_else(|| Rejection::missing(number::QerId))?;
            let qer = rules.qers.get_mut(&id).ok_or_else(|| absent(RuleId::Qer(id)))?;
            build::update_qer(qer, ies)?;
        }
        Ie::UpdateUrr(ies) => {
            let id = *find!(ies, UrrId).ok_or_else(|| Rejection::missing(number::UrrId))?;
            let urr = rules.urrs.get_mut(&id).ok_or_else(|| absent(RuleId::Urr(id)))?;
            let renewed = build::update_urr(urr, ies)?;
            change.urrs_renewed.entry(id).or_default().add(renewed);
            note_packet_counting(&mut change.urrs_count_packets, id, ies);
        }
        Ie::UpdateBar(ies) => {
            let id = *find!(ies, BarId).ok_or_else(|| Rejection::missing(number::BarId))?;
            let bar = rules.bars.get_mut(&id).ok_or_else(|| absent(RuleId::Bar(id)))?;
            build::update_bar(bar, ies)?;
        }
        _ => {}
    }
    Ok(())
}

/// Checks rules that come from a record as those of a request are: whether what they name is there.
pub(crate) fn check(rules: &mut SessionRules) -> Result<(), Rejection> {
    resolve::references(rules)
}

/// Update BAR of a Session Report Response (§7.5.9.2). `None`: nothing to change.
pub(crate) fn update_bars(rules: &SessionRules, ies: &[Ie]) -> Option<SessionRules> {
    let mut new = rules.clone();
    for ie in ies {
        let Ie::UpdateBarInReportResponse(ies) = ie else { continue };
        if let Some(bar) = find!(ies, BarId).and_then(|id| new.bars.get_mut(id)) {
            build::update_bar(bar, ies).ok()?;
        }
    }
    (new != *rules).then_some(new)
}

fn note_packet_counting(count_packets: &mut BTreeMap<u32, bool>, urr_id: u32, ies: &[Ie]) {
    if let Some(information) = find!(ies, MeasurementInformation) {
        count_packets.insert(urr_id, information & MEASURE_PACKETS != 0);
    }
}

/// Elements that are wrong inside, at any depth: what is mandatory or conditional in them cannot be told from what is
/// optional, and a rule that is obeyed but for one element is worse than one refused (§7.6.4, §7.6.5).
pub(crate) fn refuse_flaws(ies: &[Ie]) -> Result<(), Rejection> {
    for ie in ies {
        steps(1);
        match ie {
            Ie::Invalid { ie_type, flaw, .. } => return Err(Rejection::flaw(*ie_type, *flaw)),
            Ie::UpdatePdr(ies) | Ie::UpdateFar(ies) | Ie::UpdateUrr(ies) | Ie::UpdateQer(ies) | Ie::UpdateBar(ies) => {
                for ie in ies.iter().filter(|ie| !is_null(ie)) {
                    match ie {
                        Ie::Pdi(ies) | Ie::UpdateForwardingParameters(ies) => {
                            ies.iter().filter(|ie| !is_null(ie)).try_for_each(|ie| refuse_flaws(std::slice::from_ref(ie)))?;
                        }
                        _ => refuse_flaws(std::slice::from_ref(ie))?,
                    }
                }
            }
            _ => refuse_flaws(ie.children())?,
        }
    }
    Ok(())
}

/// Elements that are not supported, at any depth: a request that is obeyed but for one element is worse than one refused.
pub(crate) fn refuse_unsupported(ies: &[Ie]) -> Result<(), Rejection> {
    for ie in ies {
        steps(1);
        match crate::codec::fate(ie.ie_type()) {
            Some((name, Fate::Refused | Fate::Inapplicable(_) | Fate::RuleRefused)) => {
                return Err(Rejection::unsupported(ie.ie_type(), name.into()));
            }
            _ => refuse_unsupported(ie.children())?,
        }
    }
    Ok(())
}

/// Flags of an element that are not supported.
fn refuse_flags(ie_type: IeType, flags: &[fate::Flag], value: u32) -> Result<(), Rejection> {
    let refused = fate::refused(flags, value);
    refused.map_or(Ok(()), |flag| Err(Rejection::unsupported(ie_type, format!("IE {ie_type}: {}", flag.name))))
}

/// An element of no length that has a value otherwise: in an Update, what it would say is to be removed (§5.6.3). Each rule's
/// update decides which of its elements can be.
fn is_null(ie: &Ie) -> bool {
    matches!(ie, Ie::Invalid { octets, flaw: Flaw::Length, .. } if octets.is_empty())
}

/// The interface of a Source Interface or Destination Interface.
fn interface(value: u8) -> Option<Interface> {
    match value & 0x0f {
        0 => Some(Interface::Access),
        1 => Some(Interface::Core),
        2 => Some(Interface::SgiLan),
        3 => Some(Interface::CpFunction),
        _ => None,
    }
}

impl Rejection {
    pub(crate) fn new(cause: Cause, why: String) -> Rejection {
        Rejection { cause, offending: None, failed: None, holder: None, unavailable: false, why }
    }

    pub(crate) fn missing(ie_type: IeType) -> Rejection {
        Rejection { offending: Some(ie_type), ..Rejection::new(Cause::MANDATORY_IE_MISSING, format!("IE {ie_type} is missing")) }
    }

    pub(crate) fn conditional_missing(ie_type: IeType) -> Rejection {
        let why = format!("conditional IE {ie_type} is missing");
        Rejection { offending: Some(ie_type), ..Rejection::new(Cause::CONDITIONAL_IE_MISSING, why) }
    }

    pub(crate) fn incorrect(ie_type: IeType, why: String) -> Rejection {
        Rejection { offending: Some(ie_type), ..Rejection::new(Cause::MANDATORY_IE_INCORRECT, why) }
    }

    pub(crate) fn unsupported(ie_type: IeType, what: String) -> Rejection {
        let why = format!("{what}: not supported");
        Rejection { offending: Some(ie_type), ..Rejection::new(Cause::SERVICE_NOT_SUPPORTED, why) }
    }

    pub(crate) fn flaw(ie_type: IeType, flaw: Flaw) -> Rejection {
        let cause = match flaw {
            Flaw::Length => Cause::INVALID_LENGTH,
            Flaw::Value => Cause::MANDATORY_IE_INCORRECT,
        };
        Rejection { offending: Some(ie_type), ..Rejection::new(cause, format!("IE {ie_type}: {flaw:?} is wrong")) }
    }

    /// An element without which a rule cannot be is given with no length.
    pub(crate) fn not_removable(ie_type: IeType, rule: RuleId) -> Rejection {
        let why = format!("{rule}: IE {ie_type} of no length, but it cannot be removed");
        Rejection { why, ..Rejection::flaw(ie_type, Flaw::Length) }
    }

    /// What a rule asks for is another session's, or not ours to give.
    pub(crate) fn unavailable(rule: RuleId, holder: Option<Seid>, why: String) -> Rejection {
        Rejection { holder, unavailable: true, ..Rejection::rule(rule, why) }
    }

    /// As it is told where a session is to be restored.
    pub(crate) fn of_restoration(self) -> Rejection {
        match self.unavailable {
            true => Rejection { cause: Cause::RESTORATION_FAILURE, failed: None, ..self },
            false => self,
        }
    }

    pub(crate) fn rule(rule: RuleId, why: String) -> Rejection {
        Rejection { failed: Some(rule), ..Rejection::new(Cause::RULE_FAILURE, format!("{rule}: {why}")) }
    }
}
