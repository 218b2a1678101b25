//! Which rules do the procedures of a scenario ask for, in the manner of Open5GS's and of free5GC's SMF?

use pfcp::codec::{ApplyActionFlags, BitRates, FTeid, GateStatus, Group, Ie, Message, SdfFilter, Triggers, UeIpAddress, Volume};

use super::Stop;
use super::lab::{CALL_QFI, Lab, Session, created_tunnel};
use crate::plan::rules::{self, ACCESS, CHOOSE_UPLINK, CORE, FAR_DOWNLINK, FAR_UPLINK, choose, gtpu, instance, pdr, removal};
use crate::plan::{Address, SessionPlan, Shape};
use crate::record::Tunnel;

/// Rules of the call's QoS flow, numbered as Open5GS does: PDRs 5 and 6, FARs 4 and 5, the next QER and URR.
const PDR_CALL_DOWNLINK: u16 = 5;
const PDR_CALL_UPLINK: u16 = 6;
const FAR_CALL_DOWNLINK: u32 = 4;
const FAR_CALL_UPLINK: u32 = 5;
const QER_CALL: u32 = 3;
const URR_CALL: u32 = 3;
/// Rules of the classifier.
const PDR_LOCAL_DOWNLINK: u16 = 7;
const PDR_LOCAL_UPLINK: u16 = 8;
const FAR_LOCAL: u32 = 7;
/// TEID of the N9 tunnel where the SMF chooses.
const N9_TEID: u32 = 0x9000;
const SNDEM: u8 = 0x02;

impl Lab<'_> {
    /// A session of the `n`th UE, connected by gNodeB 0.
    pub fn session(&mut self, n: u32) -> Result<Session, Stop> {
        let plan = self.plan(n);
        let mut session = self.establish(plan)?;
        self.activate(&mut session, 0)?;
        Ok(session)
    }

    /// The session's default flow goes to gNodeB `node`.
    pub fn activate(&mut self, session: &mut Session, node: usize) -> Result<(), Stop> {
        session.plan.gnb.addr = self.addresses.gnbs[node];
        self.modify(session, rules::active(&session.plan, session.plan.gnb)).map(drop)
    }

    /// The UE goes idle.
    pub fn idle(&mut self, session: &Session) -> Result<(), Stop> {
        let mut far = vec![Ie::FarId(FAR_DOWNLINK), Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP)];
        if self.shape == Shape::Open5gs {
            far.push(Ie::BarId(rules::BAR));
        }
        self.modify(session, vec![Ie::UpdateFar(far)]).map(drop)
    }

    /// Adds the call's QoS flow: Open5GS's downlink PDR has no UE address and its FAR buffers until the gNodeB has answered; free5GC
    /// names the UE in both and forwards at once.
    pub fn add_call(&mut self, session: &Session) -> Result<(), Stop> {
        let plan = &session.plan;
        let open5gs = self.shape == Shape::Open5gs;
        let filter = self.port_filter(1);
        let mut down: Group = vec![Ie::SourceInterface(CORE)];
        down.extend(instance(plan, Some(&plan.names.core)));
        let mut up = vec![Ie::SourceInterface(ACCESS), Ie::FTeid(self.uplink_f_teid(session))];
        up.extend(instance(plan, plan.names.access.as_deref()));
        if !open5gs {
            down.push(address(plan, true));
            up.push(address(plan, false));
        }
        down.push(filter.clone());
        up.extend([filter, Ie::Qfi(CALL_QFI)]);
        let measured = if open5gs { vec![Ie::UrrId(URR_CALL)] } else { vec![Ie::UrrId(1), Ie::UrrId(2), Ie::QerId(rules::QER_SESSION)] };
        let with = |rest: Group| [rest, vec![Ie::QerId(QER_CALL)]].concat();
        let far_down = match open5gs {
            true => vec![Ie::FarId(FAR_CALL_DOWNLINK), Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP), Ie::BarId(rules::BAR)],
            false => {
                let to = Ie::ForwardingParameters(rules::to_gnb(plan, plan.gnb));
                vec![Ie::FarId(FAR_CALL_DOWNLINK), Ie::ApplyAction(ApplyActionFlags::FORW), to]
            }
        };
        let rate = BitRates { uplink_kbps: 1000, downlink_kbps: 1000 };
        let open = GateStatus { uplink_open: true, downlink_open: true };
        let mut ies = vec![
            pdr(PDR_CALL_DOWNLINK, 1, down, None, FAR_CALL_DOWNLINK, with(measured.clone())),
            pdr(PDR_CALL_UPLINK, 1, up, Some(removal(plan.shape)), FAR_CALL_UPLINK, with(measured)),
            Ie::CreateFar(far_down),
            to_core(plan, FAR_CALL_UPLINK),
            Ie::CreateQer(vec![Ie::QerId(QER_CALL), Ie::GateStatus(open), Ie::Mbr(rate), Ie::Gbr(rate), Ie::Qfi(CALL_QFI)]),
        ];
        if open5gs {
            let threshold = Ie::VolumeThreshold(Volume { total: Some(100 << 20), ..Volume::default() });
            let urr = vec![Ie::UrrId(URR_CALL), Ie::MeasurementMethod(0x02), Ie::ReportingTriggers(Triggers(0x02)), threshold];
            ies.push(Ie::CreateUrr(urr));
        }
        self.modify(session, ies).map(drop)
    }

    /// Whether [`Lab::add_call`] left the tunnel open.
    pub fn call_has_no_tunnel_yet(&self) -> bool {
        self.shape == Shape::Open5gs
    }

    /// The gNodeB has the call's QoS flow.
    pub fn activate_call(&mut self, session: &mut Session, gnb: (usize, u32)) -> Result<(), Stop> {
        let gnb = Tunnel { addr: self.addresses.gnbs[gnb.0], teid: gnb.1 };
        let to = Ie::UpdateForwardingParameters(rules::to_gnb(&session.plan, gnb));
        let far = vec![Ie::FarId(FAR_CALL_DOWNLINK), Ie::ApplyAction(ApplyActionFlags::FORW), to];
        self.modify(session, vec![Ie::UpdateFar(far)]).map(drop)
    }

    /// Removes the call's QoS flow.
    pub fn remove_call(&mut self, session: &Session) -> Result<(), Stop> {
        let mut ies = vec![
            Ie::RemovePdr(vec![Ie::PdrId(PDR_CALL_DOWNLINK)]),
            Ie::RemovePdr(vec![Ie::PdrId(PDR_CALL_UPLINK)]),
            Ie::RemoveFar(vec![Ie::FarId(FAR_CALL_DOWNLINK)]),
            Ie::RemoveFar(vec![Ie::FarId(FAR_CALL_UPLINK)]),
            Ie::RemoveQer(vec![Ie::QerId(QER_CALL)]),
        ];
        if self.shape == Shape::Open5gs {
            ies.push(Ie::RemoveUrr(vec![Ie::UrrId(URR_CALL)]));
        }
        self.modify(session, ies).map(drop)
    }

    /// Adds a QoS flow by PDRs that have nothing but filter and QFI.
    pub(super) fn add_dedicated(&mut self, session: &Session) -> Result<(), Stop> {
        let plan = &session.plan;
        let pdi = |source, name: Option<&str>| {
            let mut pdi = vec![Ie::SourceInterface(source)];
            pdi.extend(instance(plan, name));
            pdi.extend([self.port_filter(1), Ie::Qfi(CALL_QFI)]);
            pdi
        };
        let (down, up) = (pdi(CORE, Some(&plan.names.core)), pdi(ACCESS, plan.names.access.as_deref()));
        let rules = vec![Ie::UrrId(rules::URR_SESSION), Ie::QerId(QER_CALL)];
        let open = GateStatus { uplink_open: true, downlink_open: true };
        let ies = vec![
            pdr(PDR_CALL_DOWNLINK, 1, down, None, FAR_DOWNLINK, rules.clone()),
            pdr(PDR_CALL_UPLINK, 1, up, Some(removal(plan.shape)), FAR_UPLINK, rules),
            Ie::CreateQer(vec![Ie::QerId(QER_CALL), Ie::GateStatus(open), Ie::Qfi(CALL_QFI)]),
        ];
        self.modify(session, ies).map(drop)
    }

    /// The end of [`Lab::add_dedicated`].
    pub(super) fn remove_dedicated(&mut self, session: &Session) -> Result<(), Stop> {
        let pdr = |id| Ie::RemovePdr(vec![Ie::PdrId(id)]);
        let ies = vec![pdr(PDR_CALL_DOWNLINK), pdr(PDR_CALL_UPLINK), Ie::RemoveQer(vec![Ie::QerId(QER_CALL)])];
        self.modify(session, ies).map(drop)
    }

    /// All flows move to gNodeB `node`, under a new TEID, each with an End Marker to the tunnel left. Where they are now.
    pub fn switch_path(&mut self, session: &mut Session, node: usize, with_call: bool) -> Result<(usize, u32), Stop> {
        let gnb = Tunnel { addr: self.addresses.gnbs[node], teid: session.plan.gnb.teid + 0x1000 };
        let fars = [FAR_DOWNLINK, FAR_CALL_DOWNLINK];
        let far = |far_id: &u32| {
            let mut to = rules::to_gnb(&session.plan, gnb);
            to.push(Ie::PfcpSmReqFlags(SNDEM));
            Ie::UpdateFar(vec![Ie::FarId(*far_id), Ie::ApplyAction(ApplyActionFlags::FORW), Ie::UpdateForwardingParameters(to)])
        };
        let ies = fars[..if with_call { 2 } else { 1 }].iter().map(far).collect();
        self.modify(session, ies)?;
        session.plan.gnb = gnb;
        Ok((node, gnb.teid))
    }

    /// A tunnel for what the source gNodeB forwards to `target`; the UPF's end.
    pub fn forward_indirectly(&mut self, session: &Session, target: (usize, u32)) -> Result<Tunnel, Stop> {
        let target = Tunnel { addr: self.addresses.gnbs[target.0], teid: target.1 };
        let mut ies = rules::indirect(&session.plan, target);
        let given = Tunnel { addr: self.addresses.upf_n3, teid: session.uplink.teid + 0x2000 };
        if self.shape == Shape::Free5gc {
            give_f_teid(&mut ies, given);
        }
        let answer = self.modify(session, ies)?;
        match self.shape {
            Shape::Free5gc => Ok(given),
            _ => created_tunnel(&answer, rules::PDR_INDIRECT).ok_or_else(|| Stop::Failed("no F-TEID for the forwarding tunnel".into())),
        }
    }

    /// Removes it.
    pub fn end_indirect(&mut self, session: &Session) -> Result<(), Stop> {
        self.modify(session, rules::end_indirect()).map(drop)
    }

    /// Removes it twice, without waiting for the first answer.
    pub fn end_indirect_twice(&mut self, session: &Session) -> Result<(), Stop> {
        self.modify_together(session, [rules::end_indirect(), rules::end_indirect()])
    }

    /// A new volume quota of the session's URR.
    pub fn grant(&mut self, session: &Session, bytes: u64) -> Result<(), Stop> {
        let quota = Ie::VolumeQuota(Volume { total: Some(bytes), ..Volume::default() });
        let triggers = Ie::ReportingTriggers(Triggers(rules::VOLQU));
        self.modify(session, vec![Ie::UpdateUrr(vec![Ie::UrrId(rules::URR_SESSION), triggers, quota])]).map(drop)
    }

    /// A URR that all packets of the session are measured by too.
    pub fn measure_too(&mut self, session: &Session, urr_id: u32) -> Result<(), Stop> {
        let urr = vec![Ie::UrrId(urr_id), Ie::MeasurementMethod(0x02), Ie::ReportingTriggers(Triggers(0))];
        let ies = [vec![Ie::CreateUrr(urr)], measured_by(&session.plan, Some(urr_id))].concat();
        self.modify(session, ies).map(drop)
    }

    /// The end of [`Lab::measure_too`], but the URR is not removed; the answer.
    pub fn measure_no_more(&mut self, session: &Session) -> Result<Message, Stop> {
        self.modify(session, measured_by(&session.plan, None))
    }

    /// A session whose anchor is behind N9; the UPF's end of the N9 tunnel. Without QERs the anchor alone knows of QoS flows.
    pub(super) fn session_over_n9(&mut self, psa_teid: u32, with_qers: bool) -> Result<(Session, Tunnel), Stop> {
        let psa = self.addresses.psa.ok_or_else(|| Stop::Unusable("ulcl needs the address of the UPF behind N9".into()))?;
        let plan = self.plan(0);
        let mut ies = rules::establish(&plan, rules::Bearings { n4u: None, count_packets: false });
        let given = Tunnel { addr: self.addresses.upf_n9, teid: N9_TEID };
        let f_teid = match self.shape {
            Shape::Free5gc => FTeid::Given { teid: given.teid, ipv4: Some(given.addr), ipv6: None },
            _ => choose(None),
        };
        let n9 = instance(&plan, Some(&self.addresses.n9_instance));
        if !with_qers {
            ies.retain(|ie| !matches!(ie, Ie::CreateQer(_)));
            let pdrs = ies.iter_mut().filter_map(|ie| if let Ie::CreatePdr(ies) = ie { Some(ies) } else { None });
            pdrs.for_each(|ies| ies.retain(|ie| !matches!(ie, Ie::QerId(_))));
        }
        for ie in &mut ies {
            match ie {
                Ie::CreatePdr(ies) if ies.contains(&Ie::PdrId(rules::PDR_DOWNLINK)) => {
                    ies.push(removal(plan.shape));
                    for ie in ies {
                        if let Ie::Pdi(ies) = ie {
                            ies.insert(1, Ie::FTeid(f_teid));
                            name_instance(ies, &n9);
                        }
                    }
                }
                Ie::CreateFar(ies) if ies.contains(&Ie::FarId(FAR_UPLINK)) => {
                    for ie in ies {
                        if let Ie::ForwardingParameters(ies) = ie {
                            ies.push(gtpu(psa_teid, psa));
                            name_instance(ies, &n9);
                        }
                    }
                }
                _ => {}
            }
        }
        let (mut session, answer) = self.establish_with(plan, ies)?;
        self.activate(&mut session, 0)?;
        let n9 = match self.shape {
            Shape::Free5gc => Some(given),
            _ => created_tunnel(&answer, rules::PDR_DOWNLINK),
        };
        Ok((session, n9.ok_or_else(|| Stop::Failed("no F-TEID for the N9 tunnel".into()))?))
    }

    /// What the data network's second port sends and gets is served here.
    pub(super) fn insert_classifier(&mut self, session: &Session) -> Result<(), Stop> {
        let plan = &session.plan;
        let filter = self.port_filter(1);
        let mut up = vec![Ie::SourceInterface(ACCESS), Ie::FTeid(self.uplink_f_teid(session))];
        up.extend(instance(plan, plan.names.access.as_deref()));
        up.extend([address(plan, false), filter.clone()]);
        let mut down = vec![Ie::SourceInterface(CORE)];
        down.extend(instance(plan, Some(&plan.names.core)));
        down.extend([address(plan, true), filter]);
        let ids = vec![Ie::UrrId(rules::URR_SESSION), Ie::QerId(rules::QER_DEFAULT)];
        let ies = vec![
            pdr(PDR_LOCAL_UPLINK, 10, up, Some(removal(plan.shape)), FAR_LOCAL, ids.clone()),
            pdr(PDR_LOCAL_DOWNLINK, 10, down, None, FAR_DOWNLINK, ids),
            to_core(plan, FAR_LOCAL),
        ];
        self.modify(session, ies).map(drop)
    }

    /// The end of [`Lab::insert_classifier`].
    pub(super) fn remove_classifier(&mut self, session: &Session) -> Result<(), Stop> {
        let pdr = |id| Ie::RemovePdr(vec![Ie::PdrId(id)]);
        let ies = vec![pdr(PDR_LOCAL_UPLINK), pdr(PDR_LOCAL_DOWNLINK), Ie::RemoveFar(vec![Ie::FarId(FAR_LOCAL)])];
        self.modify(session, ies).map(drop)
    }

    /// The session's uplink tunnel, as another PDR of it names it.
    fn uplink_f_teid(&self, session: &Session) -> FTeid {
        match self.shape {
            Shape::Open5gs => choose(Some(CHOOSE_UPLINK)),
            _ => FTeid::Given { teid: session.uplink.teid, ipv4: Some(session.uplink.addr), ipv6: None },
        }
    }

    /// UDP of a port of the data network.
    fn port_filter(&self, port: usize) -> Ie {
        let (host, port) = (self.addresses.dn, self.addresses.dn_ports[port]);
        let flow_description = Some(format!("permit out 17 from {host}/32 {port} to assigned"));
        Ie::SdfFilter(SdfFilter { flow_description, ..SdfFilter::default() })
    }
}

/// The session's PDRs with its own URRs, and another one.
fn measured_by(plan: &SessionPlan, another: Option<u32>) -> Group {
    let own = [rules::URR_SESSION, rules::URR_PERIODIC];
    let own = &own[..if plan.shape == Shape::Free5gc { 2 } else { 1 }];
    let urrs = || own.iter().copied().chain(another).map(Ie::UrrId);
    let pdr = |id| Ie::UpdatePdr([Ie::PdrId(id)].into_iter().chain(urrs()).collect());
    vec![pdr(rules::PDR_DOWNLINK), pdr(rules::PDR_UPLINK)]
}

fn address(plan: &SessionPlan, destination: bool) -> Ie {
    let ipv4 = if let Address::Given(ip) = plan.ue_ipv4 { Some(ip) } else { None };
    Ie::UeIpAddress(UeIpAddress { ipv4, destination, ..UeIpAddress::default() })
}

fn to_core(plan: &SessionPlan, far_id: u32) -> Ie {
    let mut to = vec![Ie::DestinationInterface(CORE)];
    to.extend(instance(plan, Some(&plan.names.core)));
    Ie::CreateFar(vec![Ie::FarId(far_id), Ie::ApplyAction(ApplyActionFlags::FORW), Ie::ForwardingParameters(to)])
}

/// Puts another network instance in place of what there is.
fn name_instance(ies: &mut Group, other: &Option<Ie>) {
    ies.retain(|ie| !matches!(ie, Ie::NetworkInstance(_)));
    ies.extend(other.clone());
}

/// Puts a TEID of the SMF's choice in place of CHOOSE.
fn give_f_teid(ies: &mut [Ie], tunnel: Tunnel) {
    for ie in ies {
        match ie {
            Ie::CreatePdr(ies) | Ie::Pdi(ies) => give_f_teid(ies, tunnel),
            Ie::FTeid(f_teid) => *f_teid = FTeid::Given { teid: tunnel.teid, ipv4: Some(tunnel.addr), ipv6: None },
            _ => {}
        }
    }
}
