//! What the elements of a PDR leave open: tunnels and addresses to be chosen or checked, filters named by ID, and whether
//! every rule that is named exists.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::{Cause, Change, Context, FTeid, Ie, Rejection, RuleId, SessionRules, UeIpAddress, find, number};
use crate::codec;
use crate::pool::{Held, Refusal, Taking, ipv6_prefix};
use crate::rules::{self, SdfFilter};
use crate::work::steps;

/// Network instances that a UE's address is looked for in, at most: a session is in a few. Each is compared with each pool.
const MAX_NETWORKS: usize = 8;

/// Allocates or claims the F-TEIDs and UE addresses of the request's PDRs, and finds what the session no longer holds.
pub(super) fn tunnels_and_addresses(old: &Context, change: &mut Change, ies: &[Ie], taking: &mut Taking<'_>) -> Result<(), Rejection> {
    let mut by_choose_id = BTreeMap::new();
    // The UE addresses that we chose for this session: every CHOOSE in it gets the same (§5.21.3).
    let mut own: Vec<Held> = old.held.iter().copied().filter(|held| !matches!(held, Held::Tunnel(..))).collect();
    let mut told: BTreeMap<u16, usize> = BTreeMap::new();
    let mut pdrs = Vec::new();
    for ie in ies {
        let (Ie::CreatePdr(ies) | Ie::UpdatePdr(ies)) = ie else { continue };
        let (Some(&id), Some(pdi)) = (find!(ies, PdrId), find!(ies, Pdi)) else { continue };
        pdrs.push((id, pdi, tunnel(change, id, pdi, &mut by_choose_id, taking)?));
    }
    // Only now is it known which PDRs have a tunnel.
    let networks = networks(&change.context);
    for (id, pdi, tunnel) in pdrs {
        let mut created = vec![Ie::PdrId(id)];
        created.extend(tunnel);
        if let Some(address) = find!(pdi, UeIpAddress)
            && let Some(chosen) = ue_address(change, id, address, &networks, &mut own, taking)?
        {
            created.push(chosen);
        }
        // A PDR that is updated again and again is told once, as it is at the end: so the response fits a datagram.
        if created.len() > 1 {
            match told.entry(id) {
                Entry::Occupied(at) => {
                    let place = *at.get();
                    let before = std::mem::take(&mut change.created[place]);
                    let kept = before.into_iter().filter(|old| created.iter().all(|new| new.ie_type() != old.ie_type()));
                    let kept: Vec<Ie> = kept.collect();
                    change.created[place] = [created, kept].concat();
                }
                Entry::Vacant(place) => {
                    place.insert(change.created.len());
                    change.created.push(created);
                }
            }
        }
    }
    Ok(())
}

/// The F-TEID of a PDR; the element for Created PDR if we chose it.
fn tunnel(
    change: &mut Change,
    id: u16,
    pdi: &[Ie],
    by_choose_id: &mut BTreeMap<u8, rules::FTeid>,
    taking: &mut Taking<'_>,
) -> Result<Option<Ie>, Rejection> {
    let context = &mut change.context;
    let Some(wanted) = find!(pdi, FTeid).copied() else { return Ok(None) };
    context.choose_ids.remove(&id);
    let Some(pdr) = context.rules.pdrs.get(&id) else { return Ok(None) };
    let FTeid::Choose { choose_id, .. } = wanted else {
        if let Some(f_teid) = pdr.pdi.f_teid {
            taking.claim_tunnel(f_teid).map_err(|refusal| {
                let why = match refusal {
                    Refusal::Foreign => format!("F-TEID: {} is not a GTP-U address of ours", f_teid.ipv4),
                    _ => format!("TEID {:#x} belongs to another session", f_teid.teid),
                };
                Rejection::unavailable(RuleId::Pdr(id), refusal.holder(), why)
            })?;
        }
        return Ok(None);
    };
    // §5.5.3 gives a CHOOSE ID the meaning of one request. SMFs also use it to put a later QoS flow's PDR on the tunnel that
    // the session has: so a PDR of the same side that still lives with the same ID counts too.
    let side = pdr.pdi.source_interface;
    let earlier = |choose_id: u8| {
        steps(context.choose_ids.len());
        let same = context.choose_ids.iter().filter(|(_, used)| **used == choose_id).filter_map(|(id, _)| context.rules.pdrs.get(id));
        same.filter(|pdr| pdr.pdi.source_interface == side).find_map(|pdr| pdr.pdi.f_teid)
    };
    let shared = choose_id.and_then(|choose_id| by_choose_id.get(&choose_id).copied().or_else(|| earlier(choose_id)));
    let f_teid = match shared {
        Some(f_teid) => f_teid,
        None => taking.choose_tunnel(pdr.pdi.network_instance.as_deref(), side).map_err(|refusal| match refusal {
            Refusal::Exhausted => Rejection::new(Cause::NO_RESOURCES, format!("PDR {id}: no TEID is free")),
            refusal => {
                let instance = pdr.pdi.network_instance.as_deref().unwrap_or("");
                let what = match refusal {
                    Refusal::Ambiguous => "those for it are of several network instances, and none is marked default",
                    _ => "none is for it",
                };
                let why =
                    format!("PDR {id}: no GTP-U address of ours for source interface {side}, network instance \"{instance}\": {what}");
                Rejection { offending: Some(number::FTeid), ..Rejection::new(Cause::INVALID_F_TEID_ALLOCATION_OPTION, why) }
            }
        })?,
    };
    if let Some(choose_id) = choose_id {
        by_choose_id.insert(choose_id, f_teid);
        context.choose_ids.insert(id, choose_id);
    }
    if let Some(pdr) = context.rules.pdrs.get_mut(&id) {
        pdr.pdi.f_teid = Some(f_teid);
    }
    Ok(Some(Ie::FTeid(codec::FTeid::Given { teid: f_teid.teid, ipv4: Some(f_teid.ipv4), ipv6: None })))
}

/// The UE address of a PDR; the element for Created PDR if we chose it.
fn ue_address(
    change: &mut Change,
    id: u16,
    wanted: &UeIpAddress,
    networks: &[String],
    own: &mut Vec<Held>,
    taking: &mut Taking<'_>,
) -> Result<Option<Ie>, Rejection> {
    let Some(pdr) = change.context.rules.pdrs.get_mut(&id) else { return Ok(None) };
    // Its own network instance, if it has no tunnel, comes before the session's others.
    let instance = pdr.pdi.network_instance.clone().filter(|_| pdr.pdi.f_teid.is_none());
    let others = networks.iter().filter(|name| instance.as_ref() != Some(name));
    let names: Vec<Option<&str>> = instance.iter().chain(others).map(|name| Some(name.as_str())).collect();
    steps(names.len());
    let mut ue_ip = pdr.pdi.ue_ip.unwrap_or_default();
    let claimed = |refusal: Result<(), Refusal>| {
        let why = || format!("UE address {} belongs to another session", text(wanted));
        refusal.map_err(|refusal| Rejection::unavailable(RuleId::Pdr(id), refusal.holder(), why()))
    };
    // A session has one of each, or two that it chose itself: `own` is short.
    steps(own.len());
    let mut chosen = UeIpAddress { destination: wanted.destination, ..UeIpAddress::default() };
    if wanted.choose_ipv4 {
        let held = match own.iter().find(|held| matches!(held, Held::Ipv4(..))) {
            Some(held) => *held,
            None => {
                let held = taking.choose_ipv4(&names).map_err(no_address(id, &names))?;
                own.push(held);
                held
            }
        };
        if let Held::Ipv4(_, address) = held {
            ue_ip.ipv4 = Some(address);
            chosen.ipv4 = Some(address);
        }
    } else if let Some(address) = ue_ip.ipv4 {
        claimed(taking.claim_ipv4(address, &names))?;
    }
    if wanted.choose_ipv6 {
        let held = match own.iter().find(|held| matches!(held, Held::Ipv6(..))) {
            Some(held) => *held,
            None => {
                let held = taking.choose_ipv6(&names).map_err(no_address(id, &names))?;
                own.push(held);
                held
            }
        };
        if let Held::Ipv6(_, prefix) = held {
            ue_ip.ipv6 = Some((prefix, 64));
            chosen.ipv6 = Some(prefix);
        }
    } else if let Some((prefix, _)) = ue_ip.ipv6 {
        claimed(taking.claim_ipv6(prefix, &names))?;
    }
    pdr.pdi.ue_ip = Some(ue_ip);
    Ok((wanted.choose_ipv4 || wanted.choose_ipv6).then_some(Ie::UeIpAddress(chosen)))
}

/// Where the address of a session's UE may be, whichever PDR asks for it: in the network instances of PDRs without a tunnel, then in the DNN's. The network
/// instance of a tunnel is that of its F-TEID; it comes last, as some SMFs name the DNN there too.
fn networks(context: &Context) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let of = |tunnel: bool| {
        let pdis = context.rules.pdrs.values().map(|pdr| &pdr.pdi).filter(move |pdi| pdi.f_teid.is_some() == tunnel);
        pdis.filter_map(|pdi| pdi.network_instance.as_deref())
    };
    for name in of(false).chain(context.dnn.as_deref()).chain(of(true)) {
        steps(1);
        if names.len() < MAX_NETWORKS && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The addresses given in a UE IP Address.
fn text(address: &UeIpAddress) -> String {
    let given = address.ipv4.map(IpAddr::V4).into_iter().chain(address.ipv6.map(IpAddr::V6));
    given.map(|address| address.to_string()).collect::<Vec<_>>().join(", ")
}

fn no_address(pdr_id: u16, names: &[Option<&str>]) -> impl Fn(Refusal) -> Rejection {
    let names: Vec<String> = names.iter().flatten().map(|name| format!("\"{name}\"")).collect();
    let names = if names.is_empty() { "none".into() } else { names.join(", ") };
    move |refusal| {
        let what = match refusal {
            Refusal::NotOffered => "no pool of UE addresses for",
            _ => "no UE address is free in the pool of",
        };
        let why = format!("PDR {pdr_id}: {what} network instance or DNN {names}");
        Rejection { offending: Some(number::UeIpAddress), ..Rejection::new(Cause::NO_RESOURCES, why) }
    }
}

/// Whether everything that rules name exists. Filters given by ID alone get the flow of the filter with that ID (§8.2.5). One with an ID that no filter has yet stays as it
/// is, and restricts nothing until there is one: so peers take it.
pub(super) fn references(rules: &mut SessionRules) -> Result<(), Rejection> {
    let mut flows: BTreeMap<u32, SdfFilter> = BTreeMap::new();
    for filter in rules.pdrs.values().flat_map(|pdr| &pdr.pdi.sdf_filters) {
        if let (Some(id), false) = (filter.filter_id, filter.is_bare()) {
            flows.insert(id, filter.clone());
        }
    }
    for (&id, pdr) in &mut rules.pdrs {
        steps(pdr.pdi.sdf_filters.len() + pdr.qer_ids.len() + pdr.urr_ids.len());
        let absent = |what: String| Rejection::rule(RuleId::Pdr(id), format!("names {what}, which is not there"));
        for filter in pdr.pdi.sdf_filters.iter_mut().filter(|filter| filter.is_bare()) {
            if let Some(flow) = filter.filter_id.and_then(|filter_id| flows.get(&filter_id)) {
                *filter = flow.clone();
            }
        }
        if let Some(far_id) = pdr.far_id.filter(|far_id| !rules.fars.contains_key(far_id)) {
            return Err(absent(format!("FAR {far_id}")));
        }
        if let Some(qer_id) = pdr.qer_ids.iter().find(|qer_id| !rules.qers.contains_key(qer_id)) {
            return Err(absent(format!("QER {qer_id}")));
        }
        if let Some(urr_id) = pdr.urr_ids.iter().find(|urr_id| !rules.urrs.contains_key(urr_id)) {
            return Err(absent(format!("URR {urr_id}")));
        }
    }
    for (&id, urr) in &rules.urrs {
        if let Some(far_id) = urr.quota_far_id.filter(|far_id| !rules.fars.contains_key(far_id)) {
            return Err(Rejection::rule(RuleId::Urr(id), format!("names FAR {far_id}, which is not there")));
        }
    }
    for (&id, far) in &rules.fars {
        if let Some(bar_id) = far.bar_id.filter(|bar_id| !rules.bars.contains_key(bar_id)) {
            return Err(Rejection::rule(RuleId::Far(id), format!("names BAR {bar_id}, which is not there")));
        }
    }
    Ok(())
}

/// What of `held` the rules no longer use.
pub(crate) fn unused(held: &BTreeSet<Held>, rules: &SessionRules) -> Vec<Held> {
    let (mut tunnels, mut ipv4s, mut ipv6s) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for pdr in rules.pdrs.values() {
        let ue_ip = pdr.pdi.ue_ip.unwrap_or_default();
        tunnels.extend(pdr.pdi.f_teid.map(|f_teid| (f_teid.teid, f_teid.ipv4)));
        ipv4s.extend(ue_ip.ipv4);
        ipv6s.extend(ue_ip.ipv6.map(|(used, _)| ipv6_prefix(used, 64)));
    }
    steps(held.len() + rules.pdrs.len());
    let used = |held: &Held| match held {
        Held::Tunnel(teid, ipv4) => tunnels.contains(&(*teid, *ipv4)),
        Held::Ipv4(_, address) => ipv4s.contains(address),
        Held::Ipv6(_, prefix) => ipv6s.contains(prefix),
    };
    held.iter().copied().filter(|held| !used(held)).collect()
}
