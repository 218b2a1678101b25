//! The elements of one rule as the rule: Create and Update PDR, FAR, QER, URR and BAR (TS 29.244 §7.5.2, §7.5.4).
//!
//! An Update carries only what changes, and removes by an element of length 0; what it does not name stays (§5.6.3).
//!
//! What is refused here is refused with its rule; every other element that is not supported is refused by `refuse_unsupported`, as the
//! codec's table says.

use std::collections::BTreeSet;

use super::{ApplyActionFlags, Cause, Ie, Rejection, Renewed, RuleId, find, interface, is_null, number, refuse_flags};
use crate::codec::fate;
use crate::codec::{BitRates, Flaw, Name, OuterHeaderCreation, UeIpAddress, Volume};
use crate::flow;
use crate::pool::ipv6_prefix;
use crate::rules::{
    ApplyAction, Bar, FTeid, Far, Forwarding, HeaderRemoval, Interface, OuterHeader, Pdi, Pdr, Qer, SdfFilter, UeIp, Urr, VolumeLimit,
};
use crate::usage::{IMMEDIATE_START, INACTIVE, begin_quota};
use crate::work::steps;

/// URRs that one URR is linked to at most; they need not exist yet.
const MAX_LINKED: usize = 64;
/// GTP-U Extension Header Deletion: the PDU session container (table 8.2.64-2).
const DELETE_CONTAINER: u8 = 0x01;

/// Create PDR (table 7.5.2.2-1). F-TEIDs and UE addresses that we choose come later, in `resolve`.
pub(super) fn create_pdr(ies: &[Ie]) -> Result<(u16, Pdr), Rejection> {
    let id = *find!(ies, PdrId).ok_or_else(|| Rejection::missing(number::PdrId))?;
    let precedence = *find!(ies, Precedence).ok_or_else(|| Rejection::missing(number::Precedence))?;
    let pdi_ies = find!(ies, Pdi).ok_or_else(|| Rejection::missing(number::Pdi))?;
    // A PDR without a FAR is one for predefined rules or access steering (MAR), which we do not have.
    let far_id = *find!(ies, FarId).ok_or_else(|| Rejection::conditional_missing(number::FarId))?;
    let mut pdr = Pdr {
        precedence,
        pdi: pdi(id, pdi_ies, None)?,
        outer_header_removal: HeaderRemoval::No,
        far_id: Some(far_id),
        urr_ids: Vec::new(),
        qer_ids: Vec::new(),
    };
    common_pdr(id, &mut pdr, ies)?;
    Ok((id, pdr))
}

/// Update PDR (table 7.5.4.2-1).
pub(super) fn update_pdr(id: u16, pdr: &mut Pdr, ies: &[Ie]) -> Result<(), Rejection> {
    if let Some(precedence) = find!(ies, Precedence) {
        pdr.precedence = *precedence;
    }
    if let Some(ies) = find!(ies, Pdi) {
        pdr.pdi = pdi(id, ies, Some(&pdr.pdi))?;
    }
    if let Some(far_id) = find!(ies, FarId) {
        pdr.far_id = Some(*far_id);
    }
    for ie in ies.iter().filter(|ie| is_null(ie)) {
        match ie.ie_type() {
            number::UrrId => pdr.urr_ids.clear(),
            number::QerId => pdr.qer_ids.clear(),
            number::OuterHeaderRemoval => pdr.outer_header_removal = HeaderRemoval::No,
            other => return Err(Rejection::not_removable(other, RuleId::Pdr(id))),
        }
    }
    common_pdr(id, pdr, ies)
}

fn common_pdr(id: u16, pdr: &mut Pdr, ies: &[Ie]) -> Result<(), Rejection> {
    if let Some(removal) = find!(ies, OuterHeaderRemoval) {
        match removal.description {
            // GTP-U/UDP over IPv4, IPv6, or either.
            0 | 1 | 6 => {}
            // UDP or IP without GTP-U, and VLAN tags.
            other @ (2..=5 | 7..=9) => {
                return Err(Rejection::rule(RuleId::Pdr(id), format!("outer header removal {other}: not supported")));
            }
            other => return Err(Rejection::incorrect(number::OuterHeaderRemoval, format!("PDR {id}: outer header removal {other}"))),
        }
        let deletes_container = removal.extension_deletion.is_some_and(|headers| headers & DELETE_CONTAINER != 0);
        pdr.outer_header_removal = if deletes_container { HeaderRemoval::GtpuAndContainer } else { HeaderRemoval::Gtpu };
    }
    if find!(ies, ActivatePredefinedRules).is_some() {
        return Err(Rejection::rule(RuleId::Pdr(id), "predefined rules are not supported".into()));
    }
    let urr_ids = all(ies.iter().filter_map(|ie| if let Ie::UrrId(id) = ie { Some(*id) } else { None }));
    let qer_ids = all(ies.iter().filter_map(|ie| if let Ie::QerId(id) = ie { Some(*id) } else { None }));
    if !urr_ids.is_empty() {
        pdr.urr_ids = urr_ids;
    }
    if !qer_ids.is_empty() {
        pdr.qer_ids = qer_ids;
    }
    Ok(())
}

/// PDI (table 7.5.2.2-2), of a PDR that had `old` if it is updated.
///
/// In an Update PDR it replaces the one before (table 7.5.4.2-1). But an SMF in use (Open5GS) gives only source interface and
/// SDF filters: a PDI that does not say where its packets come is no whole one. Of such a part what it does not name is kept.
fn pdi(pdr_id: u16, ies: &[Ie], old: Option<&Pdi>) -> Result<Pdi, Rejection> {
    let source = *find!(ies, SourceInterface).ok_or_else(|| Rejection::missing(number::SourceInterface))?;
    let source_interface = interface(source)
        .or((source & 0x0f == 4).then_some(Interface::VnInternal))
        .ok_or_else(|| Rejection::incorrect(number::SourceInterface, format!("PDR {pdr_id}: source interface {source}")))?;
    let refused = |what: &str| Rejection::rule(RuleId::Pdr(pdr_id), format!("{what}: not supported"));
    let mut pdi = Pdi { source_interface, f_teid: None, network_instance: None, ue_ip: None, sdf_filters: Vec::new(), qfis: Vec::new() };
    for ie in ies {
        match ie {
            Ie::NetworkInstance(instance) => pdi.network_instance = name(instance),
            Ie::FTeid(crate::codec::FTeid::Given { teid, ipv4, .. }) => {
                let ipv4 = ipv4.ok_or_else(|| refused("an F-TEID without IPv4 address"))?;
                if *teid == 0 {
                    return Err(Rejection::incorrect(number::FTeid, format!("PDR {pdr_id}: TEID 0")));
                }
                pdi.f_teid = Some(FTeid { teid: *teid, ipv4 });
            }
            Ie::FTeid(crate::codec::FTeid::Choose { ipv4: false, .. }) => return Err(refused("an F-TEID without IPv4 address")),
            Ie::UeIpAddress(address) => match (pdi.ue_ip, ue_ip(address)?) {
                (Some(first), second) if first != second => return Err(refused("a second UE address")),
                (_, address) => pdi.ue_ip = Some(address),
            },
            Ie::SdfFilter(filter) => pdi.sdf_filters.extend(sdf_filter(pdr_id, filter)?),
            Ie::Qfi(qfi) => {
                if *qfi > 63 {
                    return Err(Rejection::incorrect(number::Qfi, format!("PDR {pdr_id}: QFI {qfi}")));
                }
                pdi.qfis.push(*qfi);
            }
            Ie::ApplicationId(_) => return Err(refused("an application ID")),
            Ie::EthernetPacketFilter(_) => return Err(refused("an Ethernet packet filter")),
            Ie::FramedRoute(_) | Ie::FramedIpv6Route(_) => return Err(refused("a framed route")),
            Ie::TrafficEndpointId(_) => return Err(refused("a traffic endpoint")),
            null if is_null(null) => match null.ie_type() {
                number::NetworkInstance | number::FTeid | number::UeIpAddress | number::SdfFilter | number::Qfi => {}
                other => return Err(Rejection::not_removable(other, RuleId::Pdr(pdr_id))),
            },
            _ => {}
        }
    }
    pdi.qfis = all(pdi.qfis.into_iter());
    if let Some(old) = old {
        keep_unnamed(&mut pdi, old, ies);
    }
    Ok(pdi)
}

/// Completes the PDI of an Update PDR by what it leaves out of the PDI before.
fn keep_unnamed(pdi: &mut Pdi, old: &Pdi, ies: &[Ie]) {
    let named = |ie_type| ies.iter().any(|ie| ie.ie_type() == ie_type);
    if named(number::FTeid) || (named(number::UeIpAddress) && old.f_teid.is_none()) {
        return;
    }
    let beyond = [number::NetworkInstance, number::UeIpAddress, number::SdfFilter, number::Qfi];
    // Filters are given all or none. Where nothing at all is given there are none any more, else the PDI would say nothing.
    if !named(number::SdfFilter) && beyond.into_iter().any(named) {
        pdi.sdf_filters.clone_from(&old.sdf_filters);
    }
    pdi.f_teid = old.f_teid;
    if !named(number::NetworkInstance) {
        pdi.network_instance.clone_from(&old.network_instance);
    }
    if !named(number::UeIpAddress) {
        pdi.ue_ip = old.ue_ip;
    }
    if !named(number::Qfi) {
        pdi.qfis.clone_from(&old.qfis);
    }
}

fn ue_ip(address: &UeIpAddress) -> Result<UeIp, Rejection> {
    // Prefix delegation (IPv6D), and a prefix of our choice that is not a /64 (IP6PL): neither feature is announced.
    if address.delegation_bits.is_some() || (address.choose_ipv6 && address.prefix_length.is_some_and(|length| length != 64)) {
        return Err(Rejection::unsupported(number::UeIpAddress, "a UE prefix that is not a /64".into()));
    }
    let length = address.prefix_length.unwrap_or(64);
    if length > 128 {
        return Err(Rejection::incorrect(number::UeIpAddress, format!("prefix length {length}")));
    }
    if address.ipv4.is_none() && address.ipv6.is_none() && !address.choose_ipv4 && !address.choose_ipv6 {
        return Err(Rejection::incorrect(number::UeIpAddress, "neither an address nor CHOOSE".into()));
    }
    Ok(UeIp { ipv4: address.ipv4, ipv6: address.ipv6.map(|ipv6| (ipv6_prefix(ipv6, length), length)), destination: address.destination })
}

/// `None`: it says nothing, and restricts nothing. SMFs in use send such ones, also with a flow description of no length.
fn sdf_filter(pdr_id: u16, filter: &crate::codec::SdfFilter) -> Result<Option<SdfFilter>, Rejection> {
    let flow = filter.flow_description.as_deref().filter(|text| !text.is_empty()).map(flow::parse).transpose();
    let filter = SdfFilter {
        flow: flow.map_err(|error| Rejection::rule(RuleId::Pdr(pdr_id), error.to_string()))?,
        tos: filter.tos,
        spi: filter.spi,
        flow_label: filter.flow_label,
        filter_id: filter.filter_id,
    };
    Ok(Some(filter).filter(|filter| filter.filter_id.is_some() || !filter.is_bare()))
}

/// Create FAR (table 7.5.2.3-1).
pub(super) fn create_far(ies: &[Ie]) -> Result<(u32, Far), Rejection> {
    let id = *find!(ies, FarId).ok_or_else(|| Rejection::missing(number::FarId))?;
    let flags = *find!(ies, ApplyAction).ok_or_else(|| Rejection::missing(number::ApplyAction))?;
    let mut far = Far { action: apply_action(id, flags)?, forwarding: None, bar_id: find!(ies, BarId).copied() };
    if let Some(ies) = find!(ies, ForwardingParameters) {
        forwarding(id, &mut far, ies)?;
    }
    if far.action.forward && far.forwarding.is_none() {
        return Err(Rejection::conditional_missing(number::ForwardingParameters));
    }
    Ok((id, far))
}

/// Update FAR (table 7.5.4.3-1).
pub(super) fn update_far(id: u32, far: &mut Far, ies: &[Ie]) -> Result<(), Rejection> {
    if let Some(flags) = find!(ies, ApplyAction) {
        far.action = apply_action(id, *flags)?;
    }
    if let Some(bar_id) = find!(ies, BarId) {
        far.bar_id = Some(*bar_id);
    }
    for ie in ies.iter().filter(|ie| is_null(ie)) {
        match ie.ie_type() {
            number::BarId => far.bar_id = None,
            other => return Err(Rejection::not_removable(other, RuleId::Far(id))),
        }
    }
    if let Some(ies) = find!(ies, UpdateForwardingParameters) {
        forwarding(id, far, ies)?;
    }
    if far.action.forward && far.forwarding.is_none() {
        return Err(Rejection::conditional_missing(number::UpdateForwardingParameters));
    }
    Ok(())
}

fn apply_action(far_id: u32, flags: ApplyActionFlags) -> Result<ApplyAction, Rejection> {
    let has = |flag: ApplyActionFlags| flags.0 & flag.0 != 0;
    let action = ApplyAction {
        drop: has(ApplyActionFlags::DROP),
        forward: has(ApplyActionFlags::FORW),
        buffer: has(ApplyActionFlags::BUFF),
        notify: has(ApplyActionFlags::NOCP),
    };
    if let Some(flag) = fate::refused(fate::APPLY_ACTION, flags.0.into()) {
        return Err(Rejection::rule(RuleId::Far(far_id), format!("apply action {}: not supported", flag.name)));
    }
    // NOCP is no action: it goes with BUFF (§8.2.26).
    match u8::from(action.drop) + u8::from(action.forward) + u8::from(action.buffer) {
        1 => Ok(action),
        count => {
            let why = format!("FAR {far_id}: apply action {:#06x} has {count} of DROP, FORW and BUFF, not one", flags.0);
            Err(Rejection::incorrect(number::ApplyAction, why))
        }
    }
}

/// Forwarding Parameters (table 7.5.2.3-2) or Update Forwarding Parameters (table 7.5.4.3-2).
fn forwarding(far_id: u32, far: &mut Far, ies: &[Ie]) -> Result<(), Rejection> {
    let refused = |what: &str| Rejection::rule(RuleId::Far(far_id), format!("{what}: not supported"));
    let destination = match find!(ies, DestinationInterface) {
        Some(value) => {
            // 4 is the LI function, 5 is 5G VN internal (§8.2.24).
            let known = interface(*value).or((value & 0x0f == 5).then_some(Interface::VnInternal));
            Some(known.ok_or_else(|| {
                Rejection::incorrect(number::DestinationInterface, format!("FAR {far_id}: destination interface {value}"))
            })?)
        }
        None => None,
    };
    let had = far.forwarding.take();
    let mut new = match (had, destination) {
        (Some(had), _) => had,
        (None, Some(destination)) => Forwarding { destination, network_instance: None, outer_header: None, tos: None },
        (None, None) => return Err(Rejection::missing(number::DestinationInterface)),
    };
    new.destination = destination.unwrap_or(new.destination);
    for ie in ies {
        match ie {
            Ie::NetworkInstance(instance) => new.network_instance = name(instance),
            Ie::OuterHeaderCreation(creation) => new.outer_header = Some(outer_header(far_id, creation)?),
            Ie::TransportLevelMarking(marking) => new.tos = Some(*marking),
            Ie::ForwardingPolicy(_) => {
                let why = "forwarding policies are not configured".into();
                return Err(Rejection { failed: Some(RuleId::Far(far_id)), ..Rejection::new(Cause::INVALID_FORWARDING_POLICY, why) });
            }
            Ie::RedirectInformation(_) => return Err(refused("redirection")),
            Ie::HeaderEnrichment(_) => return Err(refused("header enrichment")),
            null if is_null(null) => match null.ie_type() {
                number::NetworkInstance => new.network_instance = None,
                number::OuterHeaderCreation => new.outer_header = None,
                number::TransportLevelMarking => new.tos = None,
                other => return Err(Rejection::not_removable(other, RuleId::Far(far_id))),
            },
            _ => {}
        }
    }
    far.forwarding = Some(new);
    Ok(())
}

fn outer_header(far_id: u32, creation: &OuterHeaderCreation) -> Result<OuterHeader, Rejection> {
    match *creation {
        OuterHeaderCreation { description, teid: Some(teid), ipv4: Some(ipv4), .. }
            if description & OuterHeaderCreation::GTPU_UDP_IPV4 != 0 =>
        {
            Ok(OuterHeader { teid, ipv4 })
        }
        _ => {
            let why = format!("outer header {:#06x}: not supported, only GTP-U/UDP/IPv4", creation.description);
            Err(Rejection::rule(RuleId::Far(far_id), why))
        }
    }
}

/// Create QER (table 7.5.2.5-1).
pub(super) fn create_qer(ies: &[Ie]) -> Result<(u32, Qer), Rejection> {
    let id = *find!(ies, QerId).ok_or_else(|| Rejection::missing(number::QerId))?;
    if find!(ies, GateStatus).is_none() {
        return Err(Rejection::missing(number::GateStatus));
    }
    let mut qer = Qer::default();
    update_qer(&mut qer, ies)?;
    Ok((id, qer))
}

/// Update QER (table 7.5.4.5-1).
pub(super) fn update_qer(qer: &mut Qer, ies: &[Ie]) -> Result<(), Rejection> {
    let rates = |rates: &BitRates| (rates.uplink_kbps, rates.downlink_kbps);
    for ie in ies {
        match ie {
            Ie::GateStatus(gate) => (qer.uplink_open, qer.downlink_open) = (gate.uplink_open, gate.downlink_open),
            Ie::Mbr(mbr) => qer.mbr_kbps = Some(rates(mbr)),
            Ie::Gbr(gbr) => qer.gbr_kbps = Some(rates(gbr)),
            Ie::Qfi(qfi) if *qfi > 63 => return Err(Rejection::incorrect(number::Qfi, format!("QFI {qfi}"))),
            Ie::Qfi(qfi) => qer.qfi = Some(*qfi),
            Ie::Rqi(rqi) => qer.rqi = rqi & 1 != 0,
            null if is_null(null) => match null.ie_type() {
                number::Mbr => qer.mbr_kbps = None,
                number::Gbr => qer.gbr_kbps = None,
                number::Qfi => qer.qfi = None,
                number::Rqi => qer.rqi = false,
                other => return Err(Rejection::flaw(other, Flaw::Length)),
            },
            _ => {}
        }
    }
    Ok(())
}

/// Create URR (table 7.5.2.4-1).
pub(super) fn create_urr(ies: &[Ie]) -> Result<(u32, Urr), Rejection> {
    let id = *find!(ies, UrrId).ok_or_else(|| Rejection::missing(number::UrrId))?;
    for mandatory in [number::MeasurementMethod, number::ReportingTriggers] {
        if !ies.iter().any(|ie| ie.ie_type() == mandatory) {
            return Err(Rejection::missing(mandatory));
        }
    }
    let mut urr = Urr::default();
    update_urr(&mut urr, ies)?;
    Ok((id, urr))
}

/// Update URR (table 7.5.4.4-1), and what it renewed.
pub(super) fn update_urr(urr: &mut Urr, ies: &[Ie]) -> Result<Renewed, Rejection> {
    let limit = |volume: &Volume| VolumeLimit { total: volume.total, uplink: volume.uplink, downlink: volume.downlink };
    let mut renewed = Renewed::default();
    for ie in ies {
        match ie {
            Ie::MeasurementMethod(method) => {
                refuse_flags(number::MeasurementMethod, fate::MEASUREMENT_METHOD, u32::from(*method))?;
                if method & 0x07 == 0 {
                    return Err(Rejection::incorrect(number::MeasurementMethod, "no method".into()));
                }
                urr.measure_duration = method & 0x01 != 0;
                urr.measure_volume = method & 0x02 != 0;
                urr.measure_events = method & 0x04 != 0;
            }
            Ie::ReportingTriggers(triggers) => {
                refuse_flags(number::ReportingTriggers, fate::REPORTING_TRIGGERS, triggers.0)?;
                urr.triggers = triggers.0;
            }
            Ie::MeasurementInformation(information) => {
                refuse_flags(number::MeasurementInformation, fate::MEASUREMENT_INFORMATION, u32::from(*information))?;
                urr.immediate_start = information & IMMEDIATE_START != 0;
                urr.inactive = information & INACTIVE != 0;
                renewed.measurement = true;
            }
            Ie::InactivityDetectionTime(seconds) => urr.inactivity_s = Some(*seconds),
            Ie::QuotaHoldingTime(seconds) => urr.quota_holding_s = Some(*seconds),
            Ie::QuotaValidityTime(seconds) => {
                urr.quota_validity_s = Some(*seconds);
                renewed.validity = true;
            }
            Ie::MonitoringTime(time) => {
                urr.monitoring_ntp_s = Some(*time);
                renewed.monitoring = true;
            }
            Ie::SubsequentVolumeThreshold(volume) => urr.subsequent.volume_threshold = Some(limit(volume)),
            Ie::SubsequentVolumeQuota(volume) => urr.subsequent.volume_quota = Some(limit(volume)),
            Ie::SubsequentTimeThreshold(seconds) => urr.subsequent.time_threshold_s = Some(*seconds),
            Ie::SubsequentTimeQuota(seconds) => urr.subsequent.time_quota_s = Some(*seconds),
            Ie::SubsequentEventThreshold(events) => urr.subsequent.event_threshold = Some(*events),
            Ie::SubsequentEventQuota(events) => urr.subsequent.event_quota = Some(*events),
            Ie::FarId(far_id) => urr.quota_far_id = Some(*far_id),
            Ie::MeasurementPeriod(seconds) => {
                urr.period_s = Some(*seconds);
                renewed.period = true;
            }
            Ie::VolumeThreshold(volume) => urr.volume_threshold = Some(limit(volume)),
            Ie::VolumeQuota(volume) => {
                urr.volume_quota = Some(limit(volume));
                renewed.volume_quota = true;
            }
            Ie::TimeThreshold(seconds) => urr.time_threshold_s = Some(*seconds),
            Ie::TimeQuota(seconds) => {
                urr.time_quota_s = Some(*seconds);
                renewed.time_quota = true;
            }
            Ie::EventThreshold(events) => urr.event_threshold = Some(*events),
            Ie::EventQuota(events) => {
                urr.event_quota = Some(*events);
                renewed.event_quota = true;
            }
            null if is_null(null) => match null.ie_type() {
                number::MeasurementPeriod => {
                    urr.period_s = None;
                    renewed.period = true;
                }
                number::VolumeThreshold => urr.volume_threshold = None,
                number::VolumeQuota => {
                    urr.volume_quota = None;
                    renewed.volume_quota = true;
                }
                number::TimeThreshold => urr.time_threshold_s = None,
                number::TimeQuota => {
                    urr.time_quota_s = None;
                    renewed.time_quota = true;
                }
                number::EventThreshold => urr.event_threshold = None,
                number::EventQuota => {
                    urr.event_quota = None;
                    renewed.event_quota = true;
                }
                number::LinkedUrrId => urr.linked.clear(),
                number::InactivityDetectionTime => urr.inactivity_s = None,
                number::QuotaHoldingTime => urr.quota_holding_s = None,
                number::QuotaValidityTime => urr.quota_validity_s = None,
                number::MonitoringTime => {
                    urr.monitoring_ntp_s = None;
                    renewed.monitoring = true;
                }
                number::SubsequentVolumeThreshold => urr.subsequent.volume_threshold = None,
                number::SubsequentVolumeQuota => urr.subsequent.volume_quota = None,
                number::SubsequentTimeThreshold => urr.subsequent.time_threshold_s = None,
                number::SubsequentTimeQuota => urr.subsequent.time_quota_s = None,
                number::SubsequentEventThreshold => urr.subsequent.event_threshold = None,
                number::SubsequentEventQuota => urr.subsequent.event_quota = None,
                number::FarId => urr.quota_far_id = None,
                other => return Err(Rejection::flaw(other, Flaw::Length)),
            },
            _ => {}
        }
    }
    let linked = all(ies.iter().filter_map(|ie| if let Ie::LinkedUrrId(id) = ie { Some(*id) } else { None }));
    if linked.len() > MAX_LINKED {
        let why = format!("linked to more than {MAX_LINKED} URRs");
        return Err(Rejection { offending: Some(number::LinkedUrrId), ..Rejection::new(Cause::NO_RESOURCES, why) });
    }
    if !linked.is_empty() {
        urr.linked = linked;
    }
    if renewed.volume_quota || renewed.time_quota || renewed.event_quota {
        begin_quota(urr);
    }
    Ok(renewed)
}

/// Create BAR (table 7.5.2.6-1).
pub(super) fn create_bar(ies: &[Ie]) -> Result<(u8, Bar), Rejection> {
    let id = *find!(ies, BarId).ok_or_else(|| Rejection::missing(number::BarId))?;
    let mut bar = Bar::default();
    update_bar(&mut bar, ies)?;
    Ok((id, bar))
}

/// Update BAR (tables 7.5.4.11-1 and 7.5.9.2-1).
pub(super) fn update_bar(bar: &mut Bar, ies: &[Ie]) -> Result<(), Rejection> {
    for ie in ies {
        match ie {
            Ie::DownlinkDataNotificationDelay(delay) => bar.notification_delay = Some(*delay),
            Ie::SuggestedBufferingPacketsCount(count) => bar.suggested_packets = Some((*count).into()),
            Ie::DlBufferingSuggestedPacketCount(count) => bar.suggested_packets = Some(count.0),
            null if is_null(null) => match null.ie_type() {
                number::DownlinkDataNotificationDelay => bar.notification_delay = None,
                number::SuggestedBufferingPacketsCount | number::DlBufferingSuggestedPacketCount => bar.suggested_packets = None,
                other => return Err(Rejection::flaw(other, Flaw::Length)),
            },
            _ => {}
        }
    }
    Ok(())
}

/// A network instance as the rules have it: lower case, none if empty.
fn name(name: &Name) -> Option<String> {
    Some(name.as_str().to_ascii_lowercase()).filter(|name| !name.is_empty())
}

/// Each value once, in the order given.
fn all<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    values
        .filter(|value| {
            steps(1);
            seen.insert(*value)
        })
        .collect()
}
