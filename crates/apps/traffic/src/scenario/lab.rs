//! The vocabulary of scenarios: steps, requests, packets, and what is expected of each.

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4};

use pfcp::codec::{self, Cause, FSeid, Group, Ie, Message, MessageType, NodeId, find};
use wire::gtpu::{self, Message as Gtpu, SessionContainer};
use wire::{ipv4, udp};

use super::{Addresses, Links, Patience, Stop};
use crate::plan::rules::{self, Bearings};
use crate::plan::{Address, SessionPlan, Shape};
use crate::record::Tunnel;
use crate::smf::cause_name;

/// QFI of a session's default QoS flow.
pub(crate) const QFI: u8 = 1;
/// QFI of a call's.
pub(crate) const CALL_QFI: u8 = 2;
/// The UE's UDP port.
pub(super) const UE_PORT: u16 = 40_000;
/// How often a request is sent in all (N1 of TS 29.244 §6.4).
const N1: usize = 4;

/// An extension header of GTP-U: its type and content.
pub(crate) type Extension = (u8, Vec<u8>);

/// A PDU session of a scenario.
#[derive(Clone, Debug)]
pub struct Session {
    /// As requested.
    pub plan: SessionPlan,
    /// The SMF's SEID.
    pub cp_seid: u64,
    /// The UPF's SEID.
    pub up_seid: u64,
    /// The UE.
    pub ue: Ipv4Addr,
    /// The UPF's end of its uplink tunnel.
    pub uplink: Tunnel,
}

/// SMF, gNodeBs and data network around one UPF.
pub struct Lab<'a> {
    /// Whose manner of asking.
    pub shape: Shape,
    /// Who is where.
    pub addresses: Addresses,
    /// The SMF's Node ID.
    pub node_id: NodeId,
    /// When the SMF says that it started, NTP seconds.
    pub started_ntp_s: u32,
    pub(super) links: &'a mut dyn Links,
    out: &'a mut dyn Write,
    sequence: u32,
    next_id: u32,
    /// Session reports not checked yet.
    reports: VecDeque<Message>,
    /// Number of the last user packet: each has its own payload.
    packets: u32,
}

impl<'a> Lab<'a> {
    pub(super) fn new(shape: Shape, addresses: Addresses, links: &'a mut dyn Links, out: &'a mut dyn Write) -> Lab<'a> {
        let node_id = match addresses.smf {
            IpAddr::V4(ip) => NodeId::Ipv4(ip),
            IpAddr::V6(ip) => NodeId::Ipv6(ip),
        };
        let (reports, started_ntp_s) = (VecDeque::new(), 3_900_000_000);
        Lab { shape, addresses, node_id, started_ntp_s, links, out, sequence: 0, next_id: 0, reports, packets: 0 }
    }

    /// A step begins.
    pub fn step(&mut self, what: &str) -> Result<(), Stop> {
        self.print(&format!("- {what}"))
    }

    /// One expectation: printed, and the end if it is not met.
    pub(super) fn expect(&mut self, what: &str, expected: &str, came: &str, met: bool) -> Result<(), Stop> {
        self.print(&format!("  {} {what}: expected {expected}, came {came}", if met { "ok  " } else { "FAIL" }))?;
        if met { Ok(()) } else { Err(Stop::Failed(format!("{what}: expected {expected}, came {came}"))) }
    }

    fn print(&mut self, line: &str) -> Result<(), Stop> {
        writeln!(self.out, "{line}").map_err(|error| Stop::Unusable(format!("writing the steps: {error}")))
    }

    /// The SMF associates (TS 29.244 §6.2.6.2); the UPF's recovery time stamp.
    pub fn associate(&mut self) -> Result<u32, Stop> {
        let ies = vec![Ie::NodeId(self.node_id.clone()), Ie::RecoveryTimeStamp(self.started_ntp_s), Ie::CpFunctionFeatures(vec![0])];
        let answer = self.ask(Message::node(MessageType::AssociationSetupRequest, 0, ies))?;
        find!(answer.ies, RecoveryTimeStamp).copied().ok_or_else(|| lacks("Association Setup Response", "Recovery Time Stamp"))
    }

    /// The SMF releases the association.
    pub fn release(&mut self) -> Result<(), Stop> {
        let ies = vec![Ie::NodeId(self.node_id.clone())];
        self.ask(Message::node(MessageType::AssociationReleaseRequest, 0, ies)).map(drop)
    }

    /// Whether and with which recovery time stamp the UPF answers a heartbeat.
    pub fn heartbeat(&mut self) -> Result<Option<u32>, Stop> {
        let request = Message::node(MessageType::HeartbeatRequest, 0, vec![Ie::RecoveryTimeStamp(self.started_ntp_s)]);
        let answer = self.transact(request, 1)?;
        Ok(answer.and_then(|answer| find!(answer.ies, RecoveryTimeStamp).copied()))
    }

    /// Restarts the UPF and waits for it; its new recovery time stamp.
    pub fn restart_upf(&mut self, before: u32) -> Result<u32, Stop> {
        self.links.restart_upf().map_err(unusable)?;
        // A minute: the one that is about to end still answers at once.
        for _ in 0..600 {
            if let Some(stamp) = self.heartbeat()?.filter(|stamp| *stamp != before) {
                self.expect("heartbeat", "a new recovery time stamp", "one", true)?;
                return Ok(stamp);
            }
            self.links.pause();
        }
        Err(Stop::Failed(format!("heartbeat: expected a recovery time stamp other than {before}, came none")))
    }

    /// What a session of the `n`th UE is to be like: gNodeB 0, downlink packets wait at first.
    pub fn plan(&mut self, n: u32) -> SessionPlan {
        self.next_id += 1;
        let mut plan = SessionPlan::new(self.shape, Tunnel { addr: self.addresses.gnbs[0], teid: 0x100 + self.next_id });
        plan.ue_ipv4 = Address::Given(Ipv4Addr::from(u32::from(self.addresses.ue) + n));
        plan.buffer_first = Some(true);
        plan.names.core.clone_from(&self.addresses.dnn);
        plan.names.access = Some(self.addresses.dnn.clone());
        plan.qos.qfi = Some(QFI);
        plan.qos.mbr_kbps = Some((1_000_000, 1_000_000));
        if self.shape == Shape::Free5gc {
            plan.uplink = Some(Tunnel { addr: self.addresses.upf_n3, teid: 0x1000 + self.next_id });
        }
        plan
    }

    /// Session Establishment Request of a plan.
    pub fn establish(&mut self, plan: SessionPlan) -> Result<Session, Stop> {
        let ies = rules::establish(&plan, Bearings { n4u: None, count_packets: false });
        self.establish_with(plan, ies).map(|(session, _)| session)
    }

    /// Session Establishment Request of these rules, and its answer.
    pub fn establish_with(&mut self, plan: SessionPlan, rules: Group) -> Result<(Session, Message), Stop> {
        self.next_id += 1;
        let cp_seid = 0x5_0000 + u64::from(self.next_id);
        let (ipv4, ipv6) = match self.addresses.smf {
            IpAddr::V4(ip) => (Some(ip), None),
            IpAddr::V6(ip) => (None, Some(ip)),
        };
        let mut ies = vec![Ie::NodeId(self.node_id.clone()), Ie::FSeid(FSeid { seid: cp_seid, ipv4, ipv6 })];
        ies.extend(rules);
        let answer = self.ask(self.session_message(MessageType::SessionEstablishmentRequest, 0, ies))?;
        let what = "Session Establishment Response";
        let up_seid = find!(answer.ies, FSeid).ok_or_else(|| lacks(what, "F-SEID"))?.seid;
        let uplink = plan.uplink.or_else(|| created_tunnel(&answer, rules::PDR_UPLINK)).ok_or_else(|| lacks(what, "F-TEID"))?;
        let Address::Given(ue) = plan.ue_ipv4 else { return Err(Stop::Unusable("the plan has no IPv4 address".into())) };
        Ok((Session { plan, cp_seid, up_seid, ue, uplink }, answer))
    }

    /// Session Modification Request, to be accepted.
    pub fn modify(&mut self, session: &Session, ies: Group) -> Result<Message, Stop> {
        self.ask(self.session_message(MessageType::SessionModificationRequest, session.up_seid, ies))
    }

    /// Two Session Modification Requests, the second sent before the first is answered; both must be accepted.
    pub fn modify_together(&mut self, session: &Session, requests: [Group; 2]) -> Result<(), Stop> {
        let kind = MessageType::SessionModificationRequest;
        let mut unanswered = BTreeSet::new();
        for ies in requests {
            self.sequence += 1;
            unanswered.insert(self.sequence);
            let request = Message { sequence: self.sequence, ..self.session_message(kind, session.up_seid, ies) };
            let octets = request.encode().map_err(|error| Stop::Unusable(error.to_string()))?;
            self.links.send_n4(&octets).map_err(unusable)?;
        }
        while !unanswered.is_empty() {
            let Some(answer) = self.next_n4(Patience::Expected)? else { return Err(self::unanswered(kind)) };
            if Some(answer.kind) == kind.response() && unanswered.remove(&answer.sequence) {
                self.expect_accepted(kind, Some(&answer))?;
            }
        }
        Ok(())
    }

    /// A modification's answer must have this usage report, and no other.
    pub fn expect_reported(&mut self, answer: &Message, (urr_id, trigger): (u32, u32), bytes: u64) -> Result<(), Stop> {
        let reports = answer.ies.iter().filter_map(|ie| if let Ie::UsageReportInModificationResponse(ies) = ie { Some(ies) } else { None });
        let came: Vec<String> = reports.map(|ies| reported(ies)).collect();
        let expected = said_of_usage(urr_id, trigger, Some(bytes));
        let (came, met) = (came.join("; "), came == [expected.clone()]);
        self.expect("usage report", &expected, if came.is_empty() { "none" } else { &came }, met)
    }

    /// A usage report of this URR of the session must come, for this reason, and no other report.
    pub fn expect_usage_report(&mut self, session: &Session, (urr_id, trigger): (u32, u32), bytes: u64) -> Result<(), Stop> {
        while self.reports.is_empty() && self.next_n4(Patience::Expected)?.is_some() {}
        let report = self.reports.pop_front().filter(|report| report.seid == Some(session.cp_seid));
        let usage = report.as_ref().and_then(|report| find!(report.ies, UsageReportInReportRequest));
        let came = usage.map_or("none".to_owned(), |ies| reported(ies));
        let expected = said_of_usage(urr_id, trigger, Some(bytes));
        self.expect("usage report", &expected, &came, came == expected)?;
        self.expect_no_paging()
    }

    /// Session Deletion Request; the last usage of the session's URR in bytes, both directions together.
    pub fn delete(&mut self, session: &Session) -> Result<u64, Stop> {
        let answer = self.ask(self.session_message(MessageType::SessionDeletionRequest, session.up_seid, Vec::new()))?;
        let reports = answer.ies.iter().filter_map(|ie| if let Ie::UsageReportInDeletionResponse(ies) = ie { Some(ies) } else { None });
        let mut of_session = reports.filter(|ies| find!(ies, UrrId) == Some(&rules::URR_SESSION));
        let report = of_session.next().ok_or_else(|| lacks("Session Deletion Response", "usage report of the session's URR"))?;
        let bytes = find!(report, VolumeMeasurement).map(|volume| volume.bytes);
        let sum = bytes.and_then(|b| b.total.or_else(|| Some(b.uplink? + b.downlink?)));
        sum.ok_or_else(|| lacks("usage report", "volume"))
    }

    /// A deletion's usage must be this.
    pub fn expect_usage(&mut self, bytes: u64, expected: u64) -> Result<(), Stop> {
        self.expect("usage report", &format!("{expected} bytes"), &format!("{bytes} bytes"), bytes == expected)
    }

    /// A session that the UPF must not know.
    pub fn expect_unknown(&mut self, session: &Session) -> Result<(), Stop> {
        let request = self.session_message(MessageType::SessionModificationRequest, session.up_seid, rules::idle());
        let answer = self.transact(request, N1)?.ok_or_else(|| unanswered(MessageType::SessionModificationRequest))?;
        let cause = answer.cause().ok_or_else(|| lacks("Session Modification Response", "cause"))?;
        let expected = Cause::SESSION_CONTEXT_NOT_FOUND;
        self.expect("a session of before", &cause_name(expected), &cause_name(cause), cause == expected)
    }

    fn session_message(&self, kind: MessageType, seid: u64, ies: Group) -> Message {
        Message { priority: (self.shape == Shape::Free5gc).then_some(0), ..Message::session(kind, seid, 0, ies) }
    }

    /// Sends a request; its answer must accept it.
    fn ask(&mut self, request: Message) -> Result<Message, Stop> {
        let kind = request.kind;
        let answer = self.transact(request, N1)?;
        self.expect_accepted(kind, answer.as_ref())?;
        answer.ok_or_else(|| unanswered(MessageType::HeartbeatRequest))
    }

    fn expect_accepted(&mut self, kind: MessageType, answer: Option<&Message>) -> Result<(), Stop> {
        let came = match answer {
            None => "no response".to_owned(),
            Some(answer) => answer.cause().map_or("no cause".into(), |cause| match find!(answer.ies, OffendingIe) {
                Some(ie_type) => format!("{}, IE {ie_type}", cause_name(cause)),
                None => cause_name(cause),
            }),
        };
        let accepted = answer.and_then(Message::cause).is_some_and(Cause::is_accepted);
        self.expect(&format!("{kind:?}"), &cause_name(Cause::REQUEST_ACCEPTED), &came, accepted)
    }

    /// Sends a request up to `attempts` times; its answer, if one comes. The UPF's own requests are answered meanwhile.
    fn transact(&mut self, mut request: Message, attempts: usize) -> Result<Option<Message>, Stop> {
        self.sequence += 1;
        request.sequence = self.sequence;
        let octets = request.encode().map_err(|error| Stop::Unusable(error.to_string()))?;
        for _ in 0..attempts {
            self.links.send_n4(&octets).map_err(unusable)?;
            while let Some(message) = self.next_n4(Patience::Expected)? {
                if Some(message.kind) == request.kind.response() && message.sequence == request.sequence {
                    return Ok(Some(message));
                }
            }
        }
        Ok(None)
    }

    /// The next message on N4 that is not a heartbeat; a request is answered.
    fn next_n4(&mut self, patience: Patience) -> Result<Option<Message>, Stop> {
        let Some(octets) = self.links.receive_n4(patience).map_err(unusable)? else { return Ok(None) };
        let message = codec::decode(&octets).map_err(|error| Stop::Failed(format!("N4: {error}")))?;
        let ies = match message.kind {
            MessageType::HeartbeatRequest => vec![Ie::RecoveryTimeStamp(self.started_ntp_s)],
            MessageType::SessionReportRequest => vec![Ie::Cause(Cause::REQUEST_ACCEPTED)],
            _ => return Ok(Some(message)),
        };
        let kind = message.kind.response().unwrap_or(message.kind);
        // The UPF's SEID is not in its report; 0 is as good as any it can match by sequence number.
        let answer = Message { kind, ies, seid: message.seid.map(|_| 0), ..message.clone() };
        self.links.send_n4(&answer.encode().map_err(|error| Stop::Unusable(error.to_string()))?).map_err(unusable)?;
        if message.kind == MessageType::SessionReportRequest {
            self.reports.push_back(message.clone());
        }
        Ok(Some(message))
    }

    /// A downlink data report of this session must come, and no other.
    pub fn expect_paging(&mut self, session: &Session) -> Result<(), Stop> {
        while self.reports.is_empty() && self.next_n4(Patience::Expected)?.is_some() {}
        let report = self.reports.pop_front();
        let came = match &report {
            None => "none".to_owned(),
            Some(report) if find!(report.ies, DownlinkDataReport).is_none() => "another report".into(),
            Some(report) => format!("for SEID {:#x}", report.seid.unwrap_or(0)),
        };
        let expected = format!("for SEID {:#x}", session.cp_seid);
        self.expect("downlink data report", &expected, &came, came == expected)
    }

    /// No report must come.
    pub fn expect_no_paging(&mut self) -> Result<(), Stop> {
        while self.next_n4(Patience::Unexpected)?.is_some() {}
        let came = self.reports.len();
        self.expect("session reports", "none", &came.to_string(), came == 0)
    }

    /// The UE sends to a port of the data network in a QoS flow, by gNodeB `node`; it must arrive, unchanged. Its length.
    pub fn uplink(&mut self, session: &Session, node: usize, qfi: u8, port: usize) -> Result<u64, Stop> {
        let (payload, packet) = self.uplink_packet(session, port);
        let tunnel = session.uplink;
        let message = gtpu::Repr::g_pdu(tunnel.teid, Some(SessionContainer::Uplink { qfi }), &packet);
        self.send_tunnel(node, tunnel.addr, &message)?;
        let came = self.links.receive_dn(port, Patience::Expected).map_err(unusable)?;
        let met = came == Some((SocketAddrV4::new(session.ue, UE_PORT), payload));
        self.expect("uplink", "the packet at the data network", said(came.is_some(), met), met)?;
        Ok(packet.len() as u64)
    }

    /// The UE sends to a port of the data network; nothing of it must arrive. The gNodeB may be told.
    pub fn uplink_lost(&mut self, session: &Session, node: usize, port: usize) -> Result<(), Stop> {
        let (_, packet) = self.uplink_packet(session, port);
        let message = gtpu::Repr::g_pdu(session.uplink.teid, Some(SessionContainer::Uplink { qfi: QFI }), &packet);
        self.send_tunnel(node, session.uplink.addr, &message)?;
        let came = self.links.receive_dn(port, Patience::Unexpected).map_err(unusable)?;
        self.expect("uplink", "nothing at the data network", said(came.is_some(), true), came.is_none())?;
        // A UPF that has just started may leave the Error Indication out (TS 23.527 §4.3.2).
        let answer = self.links.receive_tunnel(node, Patience::Unexpected).map_err(unusable)?;
        let kind = answer.as_deref().map(|octets| gtpu::Packet::new_checked(octets).map(|packet| packet.message_type()));
        let (came, met) = match kind {
            None => ("nothing", true),
            Some(Ok(gtpu::message_type::ERROR_INDICATION)) => ("an Error Indication", true),
            Some(_) => ("something else", false),
        };
        self.expect("the gNodeB", "an Error Indication or nothing", came, met)
    }

    /// As [`Lab::uplink`], but the packet must arrive at the UPF behind N9, in its tunnel `teid`.
    pub fn uplink_to_psa(&mut self, session: &Session, node: usize, port: usize, teid: u32) -> Result<(), Stop> {
        let (_, packet) = self.uplink_packet(session, port);
        let message = gtpu::Repr::g_pdu(session.uplink.teid, Some(SessionContainer::Uplink { qfi: QFI }), &packet);
        self.send_tunnel(node, session.uplink.addr, &message)?;
        self.expect_g_pdu("uplink over N9", super::ulcl::PSA, teid, Some(QFI), &packet)
    }

    /// A packet from a port of the data network to the UE. Its payload.
    pub fn send_downlink(&mut self, session: &Session, port: usize) -> Result<Vec<u8>, Stop> {
        let payload = self.payload();
        self.links.send_dn(port, SocketAddrV4::new(session.ue, UE_PORT), &payload).map_err(unusable)?;
        Ok(payload)
    }

    /// A packet from the data network; it must come to `gnb` in QoS flow `qfi`. Its length.
    pub fn downlink(&mut self, session: &Session, port: usize, gnb: (usize, u32), qfi: u8) -> Result<u64, Stop> {
        let payload = self.send_downlink(session, port)?;
        self.expect_downlink(&payload, gnb, qfi)?;
        Ok((ipv4::HEADER_LEN + udp::HEADER_LEN + payload.len()) as u64)
    }

    /// A packet from the data network; no gNodeB must see it now.
    pub fn downlink_waits(&mut self, session: &Session, port: usize) -> Result<Vec<u8>, Stop> {
        let payload = self.send_downlink(session, port)?;
        for node in 0..self.addresses.gnbs.len() {
            let came = self.links.receive_tunnel(node, Patience::Unexpected).map_err(unusable)?;
            self.expect(&format!("downlink, gNodeB {node}"), "nothing yet", said(came.is_some(), true), came.is_none())?;
        }
        Ok(payload)
    }

    /// The next packet at `gnb` (its number, and the TEID there) must be the one with this payload.
    pub fn expect_downlink(&mut self, payload: &[u8], (node, teid): (usize, u32), qfi: u8) -> Result<(), Stop> {
        let octets = self.links.receive_tunnel(node, Patience::Expected).map_err(unusable)?;
        let came = octets.as_deref().map_or("nothing".to_owned(), |octets| {
            let user = g_pdu(octets).and_then(|(teid, qfi, packet)| Some((teid, qfi, udp_payload(&packet)?)));
            match user {
                None => "something else".into(),
                Some((teid, qfi, user)) => described(teid, qfi, user == payload),
            }
        });
        let expected = described(teid, Some(qfi), true);
        self.expect(&format!("downlink, gNodeB {node}"), &expected, &came, came == expected)
    }

    /// The next G-PDU at a node must carry this packet, which may have lost a hop.
    fn expect_g_pdu(&mut self, what: &str, node: usize, teid: u32, qfi: Option<u8>, packet: &[u8]) -> Result<(), Stop> {
        let octets = self.links.receive_tunnel(node, Patience::Expected).map_err(unusable)?;
        let came = octets.as_deref().map_or("nothing".to_owned(), |octets| match g_pdu(octets) {
            None => "something else".into(),
            Some((teid, qfi, user)) => described(teid, qfi, udp_payload(&user) == udp_payload(packet)),
        });
        let expected = described(teid, qfi, true);
        self.expect(what, &expected, &came, came == expected)
    }

    /// A node sends a downlink packet into a tunnel of the UPF (indirect forwarding, N9); it must come to `gnb`.
    pub fn relay(&mut self, session: &Session, from: usize, tunnel: Tunnel, gnb: (usize, u32)) -> Result<(), Stop> {
        let payload = self.payload();
        let packet = user_packet((self.addresses.dn, self.addresses.dn_ports[0]), (session.ue, UE_PORT), &payload);
        let container = SessionContainer::Downlink { qfi: QFI, rqi: false, ppi: None };
        self.send_tunnel(from, tunnel.addr, &gtpu::Repr::g_pdu(tunnel.teid, Some(container), &packet))?;
        self.expect_downlink(&payload, gnb, QFI)
    }

    /// A node sends a packet with these extension headers into a tunnel of the UPF; it must come to the other node with all of them, in their order.
    pub(super) fn relay_extensions(
        &mut self,
        session: &Session,
        (from, tunnel): (usize, Tunnel),
        (node, teid): (usize, u32),
        extensions: &[Extension],
    ) -> Result<(), Stop> {
        let payload = self.payload();
        let (ue, dn) = ((session.ue, UE_PORT), (self.addresses.dn, self.addresses.dn_ports[0]));
        let packet = if node == super::ulcl::PSA { user_packet(ue, dn, &payload) } else { user_packet(dn, ue, &payload) };
        self.links.send_tunnel(from, tunnel.addr, &with_extensions(tunnel.teid, extensions, &packet)).map_err(unusable)?;
        let octets = self.links.receive_tunnel(node, Patience::Expected).map_err(unusable)?;
        let described = |teid: u32, extensions: &[Extension], same: bool| {
            let packet = if same { "the packet" } else { "another packet" };
            format!("{packet} by TEID {teid:#x}, extension headers {extensions:02x?}")
        };
        let came = octets.as_deref().map_or("nothing".to_owned(), |octets| match gtpu::Packet::new_checked(octets) {
            Ok(message) if message.message_type() == gtpu::message_type::G_PDU => {
                let came: Vec<Extension> = message.extensions().flatten().map(|(kind, content)| (kind, content.to_vec())).collect();
                described(message.teid(), &came, udp_payload(message.payload()).is_some_and(|user| user == payload))
            }
            _ => "something else".into(),
        });
        let expected = described(teid, extensions, true);
        self.expect(&format!("from tunnel to tunnel, node {node}"), &expected, &came, came == expected)
    }

    /// A node ends what it sends into a tunnel of the UPF with an End Marker.
    pub fn end_marker(&mut self, from: usize, tunnel: Tunnel) -> Result<(), Stop> {
        self.send_tunnel(from, tunnel.addr, &gtpu::Repr::new(tunnel.teid, None, Gtpu::EndMarker))
    }

    /// So many End Markers of this TEID must come to a gNodeB, and nothing else.
    pub fn expect_end_markers(&mut self, node: usize, teid: u32, count: usize) -> Result<(), Stop> {
        let mut came = 0;
        loop {
            let patience = if came < count { Patience::Expected } else { Patience::Unexpected };
            let Some(octets) = self.links.receive_tunnel(node, patience).map_err(unusable)? else { break };
            let message = gtpu::Packet::new_checked(&octets).map(|p| (p.message_type(), p.teid()));
            if message != Ok((gtpu::message_type::END_MARKER, teid)) {
                return self.expect("end marker", &format!("TEID {teid:#x}"), "something else", false);
            }
            came += 1;
        }
        self.expect(&format!("end markers, gNodeB {node}"), &count.to_string(), &came.to_string(), came == count)
    }

    pub(super) fn send_tunnel(&mut self, node: usize, to: Ipv4Addr, message: &gtpu::Repr<'_>) -> Result<(), Stop> {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        self.links.send_tunnel(node, to, &octets).map_err(unusable)
    }

    fn uplink_packet(&mut self, session: &Session, port: usize) -> (Vec<u8>, Vec<u8>) {
        let payload = self.payload();
        let packet = user_packet((session.ue, UE_PORT), (self.addresses.dn, self.addresses.dn_ports[port]), &payload);
        (payload, packet)
    }

    fn payload(&mut self) -> Vec<u8> {
        self.packets += 1;
        format!("splitplane scenario packet {}", self.packets).into_bytes()
    }
}

/// The tunnel that the UPF chose for a PDR.
pub(super) fn created_tunnel(answer: &Message, pdr_id: u16) -> Option<Tunnel> {
    answer.ies.iter().find_map(|ie| match ie {
        Ie::CreatedPdr(ies) if find!(ies, PdrId) == Some(&pdr_id) => match find!(ies, FTeid)? {
            codec::FTeid::Given { teid, ipv4: Some(addr), .. } => Some(Tunnel { addr: *addr, teid: *teid }),
            _ => None,
        },
        _ => None,
    })
}

/// TEID, QFI and user packet of a G-PDU.
pub(super) fn g_pdu(octets: &[u8]) -> Option<(u32, Option<u8>, Vec<u8>)> {
    let message = gtpu::Repr::parse(&gtpu::Packet::new_checked(octets).ok()?).ok()?;
    let Gtpu::GPdu { payload } = message.message else { return None };
    Some((message.teid, message.session_container.map(|container| container.qfi()), payload.to_vec()))
}

/// A G-PDU with these extension headers.
fn with_extensions(teid: u32, extensions: &[Extension], packet: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    if !extensions.is_empty() {
        body.extend([0; 3]);
        for (kind, content) in extensions {
            body.extend([*kind, (content.len() as u8 + 2) / 4]);
            body.extend(content);
        }
        body.push(gtpu::extension_type::NONE);
    }
    body.extend(packet);
    let mut octets = vec![0x30 | u8::from(!extensions.is_empty()) << 2, gtpu::message_type::G_PDU];
    octets.extend((body.len() as u16).to_be_bytes());
    octets.extend(teid.to_be_bytes());
    octets.extend(body);
    octets
}

fn udp_payload(packet: &[u8]) -> Option<Vec<u8>> {
    let packet = ipv4::Packet::new_checked(packet).ok()?;
    Some(udp::Datagram::new_checked(packet.payload()).ok()?.payload().to_vec())
}

pub(super) fn user_packet((src, src_port): (Ipv4Addr, u16), (dst, dst_port): (Ipv4Addr, u16), payload: &[u8]) -> Vec<u8> {
    let (mut datagram, mut packet) = (Vec::new(), Vec::new());
    udp::Repr { src_port, dst_port }.emit_ipv4(src, dst, payload, &mut datagram);
    ipv4::Repr { src, dst, protocol: ipv4::UDP, tos: 0, ttl: 64, payload_len: datagram.len() }.emit(&mut packet);
    packet.extend(datagram);
    packet
}

fn described(teid: u32, qfi: Option<u8>, same: bool) -> String {
    let qfi = qfi.map_or("no QFI".into(), |qfi| format!("QFI {qfi}"));
    format!("{} by TEID {teid:#x}, {qfi}", if same { "the packet" } else { "another packet" })
}

fn said(came: bool, same: bool) -> &'static str {
    match (came, same) {
        (false, _) => "nothing",
        (true, true) => "it",
        (true, false) => "another",
    }
}

/// What a usage report says.
fn reported(ies: &[Ie]) -> String {
    let bytes = find!(ies, VolumeMeasurement).and_then(|volume| volume.bytes.total);
    said_of_usage(find!(ies, UrrId).copied().unwrap_or(0), find!(ies, UsageReportTrigger).map_or(0, |triggers| triggers.0), bytes)
}

fn said_of_usage(urr_id: u32, trigger: u32, bytes: Option<u64>) -> String {
    let bytes = bytes.map_or("no volume".into(), |bytes| format!("{bytes} bytes"));
    format!("URR {urr_id}, trigger {trigger:#06x}, {bytes}")
}

fn lacks(what: &str, element: &str) -> Stop {
    Stop::Failed(format!("{what} without {element}"))
}

fn unanswered(kind: MessageType) -> Stop {
    Stop::Failed(format!("{kind:?}: no answer"))
}

pub(super) fn unusable(error: io::Error) -> Stop {
    Stop::Unusable(error.to_string())
}
