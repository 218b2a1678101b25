//! The rules that an SMF of a given shape makes of a plan, as the elements of a Session Establishment Request
//! (TS 29.244 §7.5.2) and of later modifications (§7.5.4).
//!
//! IDs are fixed, so that a modification needs no memory of the establishment: see the constants.

use std::net::Ipv4Addr;

use pfcp::codec::{
    ApplyActionFlags, BitRates, FTeid, GateStatus, Group, Ie, Name, OuterHeaderCreation, OuterHeaderRemoval, PacketCount, SNssai,
    SdfFilter, Triggers, UeIpAddress, Volume,
};

use super::{Address, FlowPlan, Qos, SessionPlan, Shape};
use crate::record::Tunnel;

/// PDR of downlink packets.
pub const PDR_DOWNLINK: u16 = 1;
/// PDR of uplink packets.
pub const PDR_UPLINK: u16 = 2;
/// PDR of packets that the CP function sends to the UE.
pub const PDR_FROM_CP: u16 = 3;
/// PDR of packets that the UE sends to the CP function: router solicitations.
pub const PDR_TO_CP: u16 = 4;
/// PDR of indirectly forwarded packets at a handover.
pub const PDR_INDIRECT: u16 = 5;
/// First PDR of dedicated flow `n`: this and `2n` more; downlink, then uplink.
pub const PDR_FLOWS: u16 = 16;
/// FAR towards the gNodeB.
pub const FAR_DOWNLINK: u32 = 1;
/// FAR towards the data network.
pub const FAR_UPLINK: u32 = 2;
/// FAR towards the CP function.
pub const FAR_TO_CP: u32 = 3;
/// FAR of indirect forwarding.
pub const FAR_INDIRECT: u32 = 4;
/// URR that counts all of a session's packets: the one that a session's usage is taken from.
pub const URR_SESSION: u32 = 1;
/// Second URR of [`Shape::Free5gc`], counting the same.
pub const URR_PERIODIC: u32 = 2;
/// QER with the QFI of the session's default flow.
pub const QER_DEFAULT: u32 = 1;
/// Second QER of [`Shape::Free5gc`]: the session's rate (session AMBR).
pub const QER_SESSION: u32 = 2;
/// QER of dedicated flow `n`: this and `n` more.
pub const QER_FLOWS: u32 = 16;
/// The BAR.
pub const BAR: u8 = 1;
/// Precedence of the session's own PDRs.
pub const DEFAULT_PRECEDENCE: u32 = 255;
/// Precedence of [`PDR_TO_CP`] and [`PDR_FROM_CP`]: before all flows.
const CP_PRECEDENCE: u32 = 1;

/// CHOOSE IDs (§8.2.3) of [`Shape::Open5gs`]: one tunnel for all uplink PDRs, one for N4-U.
pub(crate) const CHOOSE_UPLINK: u8 = 5;
const CHOOSE_CP: u8 = 6;

pub(crate) const ACCESS: u8 = 0;
pub(crate) const CORE: u8 = 1;
const CP_FUNCTION: u8 = 3;

/// Reporting Triggers (§8.2.19).
const PERIO: u32 = 1 << 0;
const VOLTH: u32 = 1 << 1;
pub(crate) const VOLQU: u32 = 1 << 8;
/// Measurement Method (§8.2.40): duration and volume.
const DURAT_VOLUM: u8 = 0x03;
/// MNOP of Measurement Information (§8.2.66): packets too.
const MNOP: u8 = 0x10;

/// What establishment needs beyond the plan.
#[derive(Clone, Copy, Debug)]
pub struct Bearings {
    /// The SMF's N4-U tunnel of the session; `None`: no PDRs of the CP function.
    pub n4u: Option<Tunnel>,
    /// The UPF announces that it counts packets (MNOP).
    pub count_packets: bool,
}

/// Rules of a Session Establishment Request; Node ID and F-SEID go before them.
pub fn establish(plan: &SessionPlan, bearings: Bearings) -> Group {
    let mut ies = vec![pdr_downlink(plan), pdr_uplink(plan)];
    let with_cp = bearings.n4u.filter(|_| plan.shape == Shape::Open5gs);
    if with_cp.is_some() {
        ies.extend([pdr_from_cp(plan), pdr_to_cp(plan)]);
    }
    for (n, flow) in plan.flows.iter().enumerate() {
        ies.extend(flow_pdrs(plan, n as u16, flow));
    }
    ies.extend([far_downlink(plan), far_uplink(plan)]);
    ies.extend(with_cp.map(|n4u| far_to_cp(plan, n4u)));
    ies.extend(urrs(plan, bearings.count_packets));
    ies.extend(session_qers(plan));
    ies.extend(plan.flows.iter().enumerate().map(|(n, flow)| qer(QER_FLOWS + n as u32, flow.qos)));
    ies.extend(bar(plan));
    ies.push(Ie::PdnType(match (plan.ue_ipv4, plan.ue_ipv6) {
        (_, Address::None) => 1,
        (Address::None, _) => 2,
        _ => 3,
    }));
    if plan.shape == Shape::Open5gs {
        ies.push(Ie::ApnDnn(Name::Labels(plan.names.core.clone())));
    }
    if let Some((sst, sd)) = plan.slice {
        ies.push(Ie::SNssai(SNssai { sst, sd: sd.unwrap_or(0xff_ffff) }));
    }
    ies
}

/// A FAR update that makes downlink packets wait (BUFF, NOCP).
pub fn idle() -> Group {
    vec![Ie::UpdateFar(vec![Ie::FarId(FAR_DOWNLINK), Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP)])]
}

/// A FAR update that makes downlink packets flow to `gnb`.
pub fn active(plan: &SessionPlan, gnb: Tunnel) -> Group {
    let mut forwarding = to_gnb(plan, gnb);
    forwarding.extend(plan.dscp.map(marking));
    vec![Ie::UpdateFar(vec![Ie::FarId(FAR_DOWNLINK), Ie::ApplyAction(ApplyActionFlags::FORW), Ie::UpdateForwardingParameters(forwarding)])]
}

/// As [`active`], after a handover: an End Marker is sent to the tunnel left (SNDEM, §8.2.42).
pub fn path_switch(plan: &SessionPlan, gnb: Tunnel) -> Group {
    let mut ies = active(plan, gnb);
    for ie in &mut ies {
        let Ie::UpdateFar(ies) = ie else { continue };
        for ie in ies {
            if let Ie::UpdateForwardingParameters(ies) = ie {
                ies.push(Ie::PfcpSmReqFlags(0x02));
            }
        }
    }
    ies
}

/// PDR and FAR that relay packets to `target` at a handover (indirect forwarding, TS 23.502 §4.9.1.3): the source gNodeB
/// sends what it still has to the tunnel that the UPF chooses.
pub fn indirect(plan: &SessionPlan, target: Tunnel) -> Group {
    let mut pdi = vec![Ie::SourceInterface(ACCESS), Ie::FTeid(choose(None))];
    pdi.extend(instance(plan, plan.names.access.as_deref()));
    vec![
        Ie::CreatePdr(vec![
            Ie::PdrId(PDR_INDIRECT),
            Ie::Precedence(DEFAULT_PRECEDENCE),
            Ie::Pdi(pdi),
            removal(plan.shape),
            Ie::FarId(FAR_INDIRECT),
            Ie::QerId(QER_DEFAULT),
        ]),
        Ie::CreateFar(vec![
            Ie::FarId(FAR_INDIRECT),
            Ie::ApplyAction(ApplyActionFlags::FORW),
            Ie::ForwardingParameters(to_gnb(plan, target)),
        ]),
    ]
}

/// The end of [`indirect`].
pub fn end_indirect() -> Group {
    vec![Ie::RemovePdr(vec![Ie::PdrId(PDR_INDIRECT)]), Ie::RemoveFar(vec![Ie::FarId(FAR_INDIRECT)])]
}

/// The QER of the session's rate with another one.
pub fn rate(plan: &SessionPlan, mbr_kbps: (u64, u64)) -> Group {
    let id = if plan.shape == Shape::Free5gc { QER_SESSION } else { QER_DEFAULT };
    vec![Ie::UpdateQer(vec![Ie::QerId(id), mbr(mbr_kbps)])]
}

/// The rules of dedicated flow `n`, to be added to a session.
pub fn add_flow(plan: &SessionPlan, n: u16, flow: &FlowPlan) -> Group {
    let mut ies = flow_pdrs(plan, n, flow).to_vec();
    ies.push(qer(QER_FLOWS + u32::from(n), flow.qos));
    ies
}

/// The removal of dedicated flow `n`.
pub fn remove_flow(n: u16) -> Group {
    let pdr = |offset: u16| Ie::RemovePdr(vec![Ie::PdrId(PDR_FLOWS + 2 * n + offset)]);
    vec![pdr(0), pdr(1), Ie::RemoveQer(vec![Ie::QerId(QER_FLOWS + u32::from(n))])]
}

/// The names of the URRs to be queried for a session's usage.
pub fn query() -> Group {
    vec![Ie::QueryUrr(vec![Ie::UrrId(URR_SESSION)])]
}

fn pdr_downlink(plan: &SessionPlan) -> Ie {
    pdr(PDR_DOWNLINK, DEFAULT_PRECEDENCE, pdi_downlink(plan), None, FAR_DOWNLINK, charged(plan, default_qers(plan)))
}

fn pdr_uplink(plan: &SessionPlan) -> Ie {
    let removal = Some(removal(plan.shape));
    pdr(PDR_UPLINK, DEFAULT_PRECEDENCE, pdi_uplink(plan), removal, FAR_UPLINK, charged(plan, default_qers(plan)))
}

/// Packets from the CP function take the path of downlink packets; they are not charged.
fn pdr_from_cp(plan: &SessionPlan) -> Ie {
    let mut pdi = vec![Ie::SourceInterface(CP_FUNCTION), Ie::FTeid(choose(Some(CHOOSE_CP)))];
    pdi.extend(instance(plan, plan.names.cp_function.as_deref()));
    pdi.push(ue_address(plan, true));
    pdr(PDR_FROM_CP, CP_PRECEDENCE, pdi, Some(removal(plan.shape)), FAR_DOWNLINK, default_qers(plan))
}

/// Router solicitations, to the group of all routers (RFC 4291 §2.7.1).
fn pdr_to_cp(plan: &SessionPlan) -> Ie {
    let mut pdi = pdi_uplink(plan);
    pdi.push(Ie::SdfFilter(SdfFilter {
        flow_description: Some("permit out 58 from ff02::2/128 to assigned".into()),
        ..SdfFilter::default()
    }));
    pdr(PDR_TO_CP, CP_PRECEDENCE, pdi, Some(removal(plan.shape)), FAR_TO_CP, Vec::new())
}

fn flow_pdrs(plan: &SessionPlan, n: u16, flow: &FlowPlan) -> [Ie; 2] {
    let filters = || {
        flow.filters.iter().map(|filter| {
            Ie::SdfFilter(SdfFilter {
                flow_description: filter.flow.clone(),
                tos: filter.dscp.map(|dscp| (dscp << 2, 0xfc)),
                ..SdfFilter::default()
            })
        })
    };
    let rules = charged(plan, [session_rate(plan), vec![Ie::QerId(QER_FLOWS + u32::from(n))]].concat());
    let (mut down, mut up) = (pdi_downlink(plan), pdi_uplink(plan));
    down.extend(filters());
    up.extend(filters());
    let id = PDR_FLOWS + 2 * n;
    [
        pdr(id, flow.precedence, down, None, FAR_DOWNLINK, rules.clone()),
        pdr(id + 1, flow.precedence, up, Some(removal(plan.shape)), FAR_UPLINK, rules),
    ]
}

/// Create PDR (table 7.5.2.2-1).
pub(crate) fn pdr(id: u16, precedence: u32, pdi: Group, removal: Option<Ie>, far_id: u32, rules: Group) -> Ie {
    let mut ies = vec![Ie::PdrId(id), Ie::Precedence(precedence), Ie::Pdi(pdi)];
    ies.extend(removal);
    ies.push(Ie::FarId(far_id));
    ies.extend(rules);
    Ie::CreatePdr(ies)
}

fn pdi_downlink(plan: &SessionPlan) -> Group {
    let mut pdi = vec![Ie::SourceInterface(CORE)];
    pdi.extend(instance(plan, Some(&plan.names.core)));
    pdi.push(ue_address(plan, true));
    pdi
}

fn pdi_uplink(plan: &SessionPlan) -> Group {
    let f_teid = match plan.uplink {
        Some(Tunnel { addr, teid }) => FTeid::Given { teid, ipv4: Some(addr), ipv6: None },
        // PDRs of one request must get one TEID: where there are several, a CHOOSE ID says so.
        None => choose((plan.shape == Shape::Open5gs || !plan.flows.is_empty()).then_some(CHOOSE_UPLINK)),
    };
    let mut pdi = vec![Ie::SourceInterface(ACCESS), Ie::FTeid(f_teid)];
    pdi.extend(instance(plan, plan.names.access.as_deref()));
    pdi.push(ue_address(plan, false));
    pdi
}

pub(crate) fn choose(choose_id: Option<u8>) -> FTeid {
    FTeid::Choose { ipv4: true, ipv6: false, choose_id }
}

/// UE IP Address (§8.2.62), as destination or as source.
fn ue_address(plan: &SessionPlan, destination: bool) -> Ie {
    let given4 = if let Address::Given(address) = plan.ue_ipv4 { Some(address) } else { None };
    let given6 = if let Address::Given(prefix) = plan.ue_ipv6 { Some(prefix) } else { None };
    Ie::UeIpAddress(UeIpAddress {
        ipv4: given4,
        ipv6: given6,
        destination,
        choose_ipv4: plan.ue_ipv4 == Address::ChosenByUpf,
        choose_ipv6: plan.ue_ipv6 == Address::ChosenByUpf,
        ..UeIpAddress::default()
    })
}

/// Network Instance in the shape's encoding.
pub(crate) fn instance(plan: &SessionPlan, name: Option<&str>) -> Option<Ie> {
    let name = name.filter(|name| !name.is_empty())?.to_owned();
    Some(Ie::NetworkInstance(if plan.shape == Shape::Open5gs { Name::Labels(name) } else { Name::Text(name) }))
}

/// Outer Header Removal: "GTP-U/UDP/IP" or "GTP-U/UDP/IPv4" (table 8.2.64-1).
pub(crate) fn removal(shape: Shape) -> Ie {
    let description = if shape == Shape::Open5gs { 6 } else { 0 };
    Ie::OuterHeaderRemoval(OuterHeaderRemoval { description, extension_deletion: None })
}

/// The URRs of a user's PDR, before its QERs.
fn charged(plan: &SessionPlan, qers: Group) -> Group {
    let mut ies = vec![Ie::UrrId(URR_SESSION)];
    if plan.shape == Shape::Free5gc {
        ies.push(Ie::UrrId(URR_PERIODIC));
    }
    ies.extend(qers);
    ies
}

fn default_qers(plan: &SessionPlan) -> Group {
    [session_rate(plan), vec![Ie::QerId(QER_DEFAULT)]].concat()
}

/// The QER of the session's rate, where it has one of its own.
fn session_rate(plan: &SessionPlan) -> Group {
    if plan.shape == Shape::Free5gc { vec![Ie::QerId(QER_SESSION)] } else { Vec::new() }
}

fn far_downlink(plan: &SessionPlan) -> Ie {
    let mut ies = vec![Ie::FarId(FAR_DOWNLINK)];
    if plan.buffers_first() {
        ies.push(Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP));
    } else {
        let mut forwarding = to_gnb(plan, plan.gnb);
        forwarding.extend(plan.dscp.map(marking));
        ies.extend([Ie::ApplyAction(ApplyActionFlags::FORW), Ie::ForwardingParameters(forwarding)]);
    }
    if has_bar(plan) {
        ies.push(Ie::BarId(BAR));
    }
    Ie::CreateFar(ies)
}

fn far_uplink(plan: &SessionPlan) -> Ie {
    let mut forwarding = vec![Ie::DestinationInterface(CORE)];
    forwarding.extend(instance(plan, Some(&plan.names.core)));
    Ie::CreateFar(vec![Ie::FarId(FAR_UPLINK), Ie::ApplyAction(ApplyActionFlags::FORW), Ie::ForwardingParameters(forwarding)])
}

fn far_to_cp(plan: &SessionPlan, n4u: Tunnel) -> Ie {
    let mut forwarding = vec![Ie::DestinationInterface(CP_FUNCTION)];
    forwarding.extend(instance(plan, plan.names.cp_function.as_deref()));
    forwarding.push(gtpu(n4u.teid, n4u.addr));
    Ie::CreateFar(vec![Ie::FarId(FAR_TO_CP), Ie::ApplyAction(ApplyActionFlags::FORW), Ie::ForwardingParameters(forwarding)])
}

pub(crate) fn to_gnb(plan: &SessionPlan, gnb: Tunnel) -> Group {
    let mut ies = vec![Ie::DestinationInterface(ACCESS)];
    ies.extend(instance(plan, plan.names.access.as_deref()));
    ies.push(gtpu(gnb.teid, gnb.addr));
    ies
}

pub(crate) fn gtpu(teid: u32, addr: Ipv4Addr) -> Ie {
    Ie::OuterHeaderCreation(OuterHeaderCreation::gtpu_ipv4(teid, addr))
}

/// Transport Level Marking of a DSCP.
fn marking(dscp: u8) -> Ie {
    Ie::TransportLevelMarking((dscp << 2, 0xfc))
}

/// Create URR (table 7.5.2.4-1).
fn urrs(plan: &SessionPlan, count_packets: bool) -> Group {
    let charging = plan.charging;
    let total = |bytes: u64| Volume { total: Some(bytes), ..Volume::default() };
    let urr = |id: u32, threshold: Option<u64>, period_s: Option<u32>, quota: Option<u64>| {
        let set = |given: bool, trigger: u32| if given { trigger } else { 0 };
        let triggers = set(threshold.is_some(), VOLTH) | set(period_s.is_some(), PERIO) | set(quota.is_some(), VOLQU);
        let mut ies = vec![Ie::UrrId(id), Ie::MeasurementMethod(DURAT_VOLUM), Ie::ReportingTriggers(Triggers(triggers))];
        ies.extend(period_s.map(Ie::MeasurementPeriod));
        ies.extend(threshold.map(|bytes| Ie::VolumeThreshold(total(bytes))));
        ies.extend(quota.map(|bytes| Ie::VolumeQuota(total(bytes))));
        if count_packets {
            ies.push(Ie::MeasurementInformation(MNOP));
        }
        Ie::CreateUrr(ies)
    };
    if plan.shape == Shape::Free5gc {
        return vec![
            urr(URR_SESSION, charging.volume_threshold, None, charging.volume_quota),
            urr(URR_PERIODIC, None, charging.period_s, None),
        ];
    }
    vec![urr(URR_SESSION, charging.volume_threshold, charging.period_s, charging.volume_quota)]
}

/// The QERs of the session's own PDRs.
fn session_qers(plan: &SessionPlan) -> Group {
    if plan.shape != Shape::Free5gc {
        return vec![qer(QER_DEFAULT, plan.qos)];
    }
    let flow = Qos { mbr_kbps: None, ..plan.qos };
    let session = Qos { mbr_kbps: plan.qos.mbr_kbps, ..Qos::default() };
    vec![qer(QER_DEFAULT, flow), qer(QER_SESSION, session)]
}

/// Create QER (table 7.5.2.5-1).
fn qer(id: u32, qos: Qos) -> Ie {
    let gates = GateStatus { uplink_open: !qos.closed.0, downlink_open: !qos.closed.1 };
    let mut ies = vec![Ie::QerId(id), Ie::GateStatus(gates)];
    ies.extend(qos.mbr_kbps.map(mbr));
    ies.extend(qos.gbr_kbps.map(|(uplink_kbps, downlink_kbps)| Ie::Gbr(BitRates { uplink_kbps, downlink_kbps })));
    ies.extend(qos.qfi.map(Ie::Qfi));
    Ie::CreateQer(ies)
}

fn mbr((uplink_kbps, downlink_kbps): (u64, u64)) -> Ie {
    Ie::Mbr(BitRates { uplink_kbps, downlink_kbps })
}

fn has_bar(plan: &SessionPlan) -> bool {
    plan.shape == Shape::Open5gs || plan.buffering != super::Buffering::default()
}

/// Create BAR (table 7.5.2.6-1).
fn bar(plan: &SessionPlan) -> Option<Ie> {
    let buffering = plan.buffering;
    let mut ies = vec![Ie::BarId(BAR)];
    ies.extend(buffering.delay_50ms.map(Ie::DownlinkDataNotificationDelay));
    ies.extend(buffering.packets.map(|packets| Ie::DlBufferingSuggestedPacketCount(PacketCount(packets))));
    has_bar(plan).then_some(Ie::CreateBar(ies))
}
