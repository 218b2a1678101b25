//! The program itself, run by the interpreter, under this control plane: packets in, packets out.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::{PortId, VerdictKind};
use p4_interp::{Machine, Mode};
use pfcp::rules::*;
use program::{ApplyError, Batch, CounterId, MeterId};
use upf::config::NetworkConfig;
use upf::host::Action;
use upf::ids::Ids;
use upf::plane::{BufferFate, DataPlane, Plane, SessionInfo};
use wire::ethernet::{Frame, Mac};
use wire::gtpu::{self, Message, SessionContainer};
use wire::{arp, ipv4, ipv6};

use crate::host::{arp_reply, framed, gtpu_frame, gtpu_of, ping};
use crate::sessions::*;

pub(crate) const N3_PORT: PortId = PortId(0);
pub(crate) const N6_PORT: PortId = PortId(128);
const FAR_AWAY: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);
const NEIGHBOUR: Mac = Mac([2, 0, 0, 0, 0, 0x50]);

/// `p4/upf.p4`, compiled.
fn machine() -> Machine {
    static IR: OnceLock<Arc<p4_ir::Ir>> = OnceLock::new();
    let ir = IR.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4/upf.p4");
        let mut options = p4_check::Options::default();
        options.defines.insert("SESSIONS".into(), "4096".into());
        Arc::new(p4_check::compile_file(&path, &options).unwrap_or_else(|failure| panic!("{}", failure.render())).ir)
    });
    Machine::new(ir.clone()).unwrap()
}

/// The interpreter with a buffer.
pub(crate) struct Whole {
    pub machine: Machine,
    pub buffers: HashMap<u32, Vec<(PortId, Vec<u8>)>>,
    released: Vec<(PortId, Vec<u8>)>,
    /// What the control plane sends of its own accord.
    transmitted: Vec<(PortId, Vec<u8>)>,
}

impl DataPlane for Whole {
    fn apply(&mut self, _: &SessionInfo, batch: &Batch, buffers: &[(u32, BufferFate)]) -> Result<(), ApplyError> {
        self.machine.apply(batch)?;
        for (number, fate) in buffers {
            let waiting = self.buffers.remove(number).unwrap_or_default();
            if *fate == BufferFate::Release {
                self.released.extend(waiting);
            }
        }
        Ok(())
    }

    fn count(&mut self, counter: CounterId, cell: u64) -> target_api::Count {
        let count = self.machine.counter(counter, cell);
        target_api::Count { packets: count.packets, bytes: count.bytes }
    }

    fn meter_left(&mut self, meter: MeterId, cell: u64) -> Option<u64> {
        let (_, peak, _) = self.machine.meter(meter, cell)?.buckets();
        Some((peak / 1_000_000_000) as u64)
    }

    fn transmit(&mut self, port: PortId, frame: Vec<u8>) {
        self.transmitted.push((port, frame));
    }
}

/// Network, program and control plane.
pub(crate) struct World {
    pub plane: Plane<Whole>,
    pub now: Duration,
    pub sent: Vec<(PortId, Vec<u8>)>,
    /// Names of drops, by the program and by the host.
    pub dropped: Vec<String>,
    /// PDRs whose packets were buffered, a packet each, in order.
    pub buffered: Vec<(Seid, u16)>,
}

impl World {
    pub(crate) fn new() -> World {
        World::of(&network())
    }

    pub(crate) fn of(network: &NetworkConfig) -> World {
        let machine = machine();
        let program = machine.ir().program.clone();
        let data = Whole { machine, buffers: HashMap::new(), released: Vec::new(), transmitted: Vec::new() };
        let mut plane = Plane::new(network, &program, data).unwrap();
        let initial = plane.initial_batch().clone();
        plane.data_mut().machine.apply(&initial).unwrap();
        World { plane, now: Duration::from_secs(1), sent: Vec::new(), dropped: Vec::new(), buffered: Vec::new() }
    }

    pub(crate) fn commit(&mut self, seid: u64, rules: Option<&SessionRules>) {
        self.plane.commit(seid, rules).unwrap();
        self.release();
    }

    /// Sends what the last changes let go from buffers, then what the control plane sends.
    pub(crate) fn release(&mut self) {
        for (port, frame) in std::mem::take(&mut self.plane.data_mut().released) {
            self.receive(port, &frame);
        }
        for (port, frame) in std::mem::take(&mut self.plane.data_mut().transmitted) {
            self.transmit(port, frame);
        }
    }

    /// A frame comes in; every neighbour answers ARP.
    pub(crate) fn receive(&mut self, port: PortId, frame: &[u8]) {
        let now_ns = self.now.as_nanos() as u64;
        let machine = &mut self.plane.data_mut().machine;
        let output = machine.process(frame, port, now_ns, Mode::Whole);
        let (verdict, bytes) = (output.verdict, output.bytes.to_vec());
        match verdict.kind {
            VerdictKind::Forward => self.sent.push((PortId(verdict.port), bytes)),
            VerdictKind::Buffer => {
                self.plane.data_mut().buffers.entry(verdict.mark).or_default().push((port, bytes));
                self.buffered.extend(self.plane.pdr(verdict.mark));
            }
            VerdictKind::Drop => self.dropped.push(machine.ir().program.reason_name(verdict.reason)),
            VerdictKind::Next | VerdictKind::Kept | VerdictKind::Resume | VerdictKind::Shape => panic!("{:?}", verdict.kind),
            VerdictKind::Punt => {
                let actions = self.plane.punt(&bytes, port, verdict.reason, verdict.mark, self.now);
                self.run(actions);
            }
        }
    }

    fn run(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Transmit { port, frame } => self.transmit(port, frame),
                Action::Reinject { port, frame } => self.receive(port, &frame),
                Action::Apply(batch) => self.plane.data_mut().machine.apply(&batch).unwrap(),
                Action::Resolved { number } => {
                    let (host, data) = self.plane.host_and_data();
                    let released = host.release(number, []);
                    data.machine.apply(&released.batch).unwrap();
                    released.packets.into_iter().for_each(|(port, frame)| self.receive(port, &frame));
                    released.own.into_iter().for_each(|(port, frame)| self.transmit(port, frame));
                }
                Action::Drop { reason } | Action::Unsent { reason } => self.dropped.push(reason.into()),
                other => panic!("{other:?}"),
            }
        }
    }

    fn transmit(&mut self, port: PortId, frame: Vec<u8>) {
        let view = Frame::new_checked(&frame).unwrap();
        let asked = arp::Packet::new_checked(view.payload()).and_then(|p| arp::Repr::parse(&p));
        match asked {
            Ok(asked) if asked.operation == arp::Operation::Request => {
                let reply = arp_reply(NEIGHBOUR, asked.target_ip, asked.sender_mac, asked.sender_ip);
                let reply = [&asked.sender_mac.0[..], &reply[6..]].concat();
                self.receive(port, &reply);
            }
            _ => self.sent.push((port, frame)),
        }
    }

    /// The only frame sent since the last look, in answer to a packet that was itself lost for that reason.
    #[track_caller]
    fn sent_for_lost(&mut self, reason: &str) -> (PortId, Vec<u8>) {
        assert_eq!(std::mem::take(&mut self.dropped), [reason]);
        self.sent()
    }

    /// The only frame sent since the last look.
    #[track_caller]
    pub(crate) fn sent(&mut self) -> (PortId, Vec<u8>) {
        assert_eq!((self.sent.len(), &self.dropped[..]), (1, &[][..]));
        self.sent.remove(0)
    }

    #[track_caller]
    pub(crate) fn dropped(&mut self) -> String {
        assert_eq!((self.sent.len(), self.dropped.len()), (0, 1), "{:?}", self.dropped);
        self.dropped.remove(0)
    }
}

/// Without a container.
fn uplink(teid: u32, user: &[u8]) -> Vec<u8> {
    gtpu_frame(GNB, N3, 2152, &gtpu::Repr::g_pdu(teid, None, user))
}

fn uplink_with_container(teid: u32, user: &[u8]) -> Vec<u8> {
    gtpu_frame(GNB, N3, 2152, &gtpu::Repr::g_pdu(teid, Some(SessionContainer::Uplink { qfi: 1 }), user))
}

fn packets_and_bytes(usage: Usage) -> [u64; 4] {
    [usage.uplink_packets, usage.uplink_bytes, usage.downlink_packets, usage.downlink_bytes]
}

#[test]
fn the_program_is_the_one_that_we_fill() {
    let machine = machine();
    let compiled = Ids::bind(&machine.ir().program).unwrap();
    let by_hand = crate::program::upf(4096);
    let twin = Ids::bind(&by_hand).unwrap();
    assert_eq!(compiled.reasons, twin.reasons);
    assert_eq!((compiled.usage_cells, compiled.mbr_cells, compiled.nexthops), (twin.usage_cells, twin.mbr_cells, twin.nexthops));
    let names = |p: &program::Program, action| p.actions[action].params.iter().map(|i| i.name.clone()).collect::<Vec<_>>();
    let program = &machine.ir().program;
    assert_eq!(names(program, compiled.actions.set_pdr), names(&by_hand, twin.actions.set_pdr));
    assert_eq!(names(program, compiled.actions.send_vxlan), names(&by_hand, twin.actions.send_vxlan));
    assert_eq!(names(program, compiled.actions.classify), names(&by_hand, twin.actions.classify));
}

/// Of the 1600 bytes of N3's MTU the tunnel takes 44.
#[test]
fn what_is_too_big_for_the_tunnel_is_not_charged() {
    let mut world = World::new();
    world.commit(1, Some(&open5gs_connected()));
    let user_of = |length: usize| {
        let mut user = ping(FAR_AWAY.into(), UE.into());
        user.resize(length, 0);
        user[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        user[10..12].fill(0);
        let sum = wire::checksum::finish(wire::checksum::sum(&user[..20]));
        user[10..12].copy_from_slice(&sum.to_be_bytes());
        framed(&user)
    };
    world.receive(N6_PORT, &user_of(1556));
    assert_eq!(world.sent().1.len(), 14 + 1600);
    world.receive(N6_PORT, &user_of(1557));
    assert_eq!(world.sent().0, N6_PORT, "the sender is told");
    assert_eq!(packets_and_bytes(world.plane.usage(1, 1)), [0, 0, 1, 1556]);
}

#[test]
fn an_open5gs_session_from_buffer_to_end() {
    let mut world = World::new();
    world.commit(1, Some(&open5gs()));
    // Downlink waits, under a number that leads to the PDR.
    let user = ping(FAR_AWAY.into(), UE.into());
    world.receive(N6_PORT, &framed(&user));
    world.receive(N6_PORT, &framed(&user));
    let waiting: Vec<u32> = world.plane.data().buffers.keys().copied().collect();
    assert_eq!((waiting.len(), world.plane.pdr(waiting[0])), (1, Some((1, 1))));
    assert_eq!(packets_and_bytes(world.plane.usage(1, 1)), [0; 4]);
    // The gNodeB answers: both leave in order, after it has been asked for its MAC address.
    world.commit(1, Some(&open5gs_connected()));
    assert_eq!((world.sent.len(), &world.dropped[..]), (2, &[][..]));
    let (port, frame) = world.sent.remove(0);
    let (outer, message) = gtpu_of(&frame);
    assert_eq!((port, outer.src(), outer.dst(), &frame[..6]), (N3_PORT, N3, GNB, &NEIGHBOUR.0[..]));
    let container = SessionContainer::Downlink { qfi: 1, rqi: false, ppi: None };
    assert_eq!((message.teid, message.session_container), (0x5001, Some(container)));
    let Message::GPdu { payload } = message.message else { panic!("{message:?}") };
    let inner = ipv4::Packet::new_checked(payload).unwrap();
    assert_eq!((inner.dst(), inner.ttl(), inner.payload()), (UE, 8, &user[20..]));
    world.sent.clear();
    // Uplink: to the router, without the tunnel, counted.
    world.receive(N3_PORT, &uplink(0x100, &ping(UE.into(), FAR_AWAY.into())));
    let (port, frame) = world.sent();
    let plain = ipv4::Packet::new_checked(&frame[14..]).unwrap();
    assert_eq!((port, plain.src(), plain.dst(), plain.ttl(), frame.len()), (N6_PORT, UE, FAR_AWAY, 8, 14 + user.len()));
    let bytes = user.len() as u64;
    assert_eq!(packets_and_bytes(world.plane.usage(1, 1)), [1, bytes, 2, 2 * bytes]);
    // The same in a session container, as gNodeBs send it.
    world.receive(N3_PORT, &uplink_with_container(0x100, &ping(UE.into(), FAR_AWAY.into())));
    assert_eq!(world.sent().1, frame);
    // Others' addresses are not the UE's.
    world.receive(N3_PORT, &uplink(0x100, &ping("10.45.0.99".parse().unwrap(), FAR_AWAY.into())));
    assert_eq!(world.dropped(), "source_spoofed");
    assert_eq!(
        world.plane.commit(1, None).unwrap().iter().map(|(id, u)| (*id, packets_and_bytes(*u))).collect::<Vec<_>>(),
        [(1, [2, 2 * bytes, 2, 2 * bytes])]
    );
    world.receive(N6_PORT, &framed(&user));
    assert_eq!(world.dropped(), "no_session");
}

#[test]
fn router_solicitations_go_to_the_smf_and_advertisements_come_back() {
    let mut world = World::new();
    world.commit(1, Some(&open5gs_connected()));
    let icmpv6 = |src: &str, dst: &str, message_type: u8| {
        let (src, dst) = (src.parse().unwrap(), dst.parse().unwrap());
        let mut packet = Vec::new();
        let payload_len = 8;
        ipv6::Repr { src, dst, next_header: ipv6::ICMPV6, traffic_class: 0, hop_limit: 255, payload_len }.emit(&mut packet);
        packet.extend_from_slice(&[message_type, 0, 0, 0, 0, 0, 0, 0]);
        packet
    };
    let solicitation = icmpv6("fe80::1", "ff02::2", 133);
    world.receive(N3_PORT, &uplink(0x100, &solicitation));
    let (port, frame) = world.sent();
    let (outer, message) = gtpu_of(&frame);
    assert_eq!((port, outer.dst(), message), (N3_PORT, SMF, gtpu::Repr::g_pdu(0x777, None, &solicitation)));
    let advertisement = icmpv6("fe80::2", "ff02::1", 134);
    world.receive(N3_PORT, &gtpu_frame(SMF, N3, 2152, &gtpu::Repr::g_pdu(0x101, None, &advertisement)));
    let (_, frame) = world.sent();
    let (outer, message) = gtpu_of(&frame);
    let container = SessionContainer::Downlink { qfi: 1, rqi: false, ppi: None };
    assert_eq!((outer.dst(), message), (GNB, gtpu::Repr::g_pdu(0x5001, Some(container), &advertisement)));
}

#[test]
fn users_packets_to_groups_are_not_sent_to_the_next_router() {
    let mut world = World::new();
    world.commit(1, Some(&open5gs_connected()));
    let mut reason = |ue: &str, to: &str| {
        world.receive(N3_PORT, &uplink(0x100, &ping(ue.parse().unwrap(), to.parse().unwrap())));
        world.dropped()
    };
    assert_eq!(["224.0.0.1", "239.1.2.3"].map(|to| reason("10.45.0.2", to)), ["multicast", "multicast"]);
    assert_eq!(["ff02::fb", "ff0e::1"].map(|to| reason("fd00:45:0:1::7", to)), ["multicast", "multicast"]);
    assert_eq!(["127.0.0.1", "240.0.0.1", "255.255.255.255"].map(|to| reason("10.45.0.2", to)), ["martian"; 3]);
    assert_eq!(["::1", "fe80::1"].map(|to| reason("fd00:45:0:1::7", to)), ["martian"; 2]);
}

#[test]
fn the_gateway_address_answers_the_ue() {
    let mut world = World::new();
    world.commit(1, Some(&open5gs_connected()));
    for (ue, ours) in [("10.45.0.2", "10.45.0.1"), ("fd00:45:0:1::7", "fd00:6::1")] {
        let (ue, ours): (IpAddr, IpAddr) = (ue.parse().unwrap(), ours.parse().unwrap());
        world.receive(N3_PORT, &uplink(0x100, &ping(ue, ours)));
        let (port, frame) = world.sent();
        let (_, message) = gtpu_of(&frame);
        let Message::GPdu { payload } = message.message else { panic!("{message:?}") };
        let reply = if ue.is_ipv4() { payload[20] } else { payload[40] };
        assert_eq!((port, message.teid, reply), (N3_PORT, 0x5001, if ue.is_ipv4() { 0 } else { 129 }));
    }
    // And its neighbours on N6, and the gNodeB.
    world.receive(N6_PORT, &framed(&ping("10.0.6.254".parse().unwrap(), "10.45.0.1".parse().unwrap())));
    assert_eq!(world.sent().0, N6_PORT);
    let mut from_gnb = framed(&ping(GNB.into(), N3.into()));
    from_gnb[..6].copy_from_slice(&[2, 0, 0, 0, 0, 3]);
    world.receive(N3_PORT, &from_gnb);
    assert_eq!(world.sent().0, N3_PORT);
}

#[test]
fn gtpu_from_strangers() {
    let mut world = World::new();
    world.receive(N3_PORT, &uplink(0xbad, &ping(UE.into(), FAR_AWAY.into())));
    let (port, frame) = world.sent_for_lost("unknown_teid");
    let message = Message::ErrorIndication { teid: 0xbad, peer: N3.into() };
    assert_eq!((port, gtpu_of(&frame).1.message), (N3_PORT, message));
    world.receive(N3_PORT, &gtpu_frame(GNB, N3, 2152, &gtpu::Repr::new(0, Some(7), Message::EchoRequest)));
    assert_eq!(gtpu_of(&world.sent().1).1, gtpu::Repr::new(0, Some(7), Message::EchoResponse));
    let elsewhere = Ipv4Addr::new(10, 0, 3, 51);
    world.receive(N3_PORT, &gtpu_frame(GNB, elsewhere, 2152, &gtpu::Repr::new(0, Some(7), Message::EchoRequest)));
    assert_eq!(world.dropped(), "gtpu_not_local");
    for martian in [N3, Ipv4Addr::LOCALHOST, Ipv4Addr::BROADCAST] {
        world.receive(N3_PORT, &gtpu_frame(martian, N3, 2152, &gtpu::Repr::new(0, Some(7), Message::EchoRequest)));
        assert_eq!(world.dropped(), "martian", "{martian}");
    }
}

/// TEID 0 is for messages of the path (TS 29.281 §5.1): whoever looks for the tunnel of that number may end another.
#[test]
fn no_error_indication_names_tunnel_0() {
    let mut world = World::new();
    world.commit(1, Some(&open5gs_connected()));
    world.receive(N3_PORT, &uplink(0, &ping(UE.into(), FAR_AWAY.into())));
    assert_eq!(world.dropped(), "gtpu_malformed");
    world.receive(N3_PORT, &uplink_with_container(0, &ping(UE.into(), FAR_AWAY.into())));
    assert_eq!(world.dropped(), "gtpu_malformed");
}

/// As where sessions come back from a store while packets wait: an Error Indication would end them.
#[test]
fn a_packet_that_came_before_its_session_was_there_tells_nobody_that_its_tunnel_is_unknown() {
    let mut world = World::new();
    world.commit(1, Some(&open5gs_connected()));
    let reason = world.plane.ids().reasons.unknown_teid;
    let mut answers = |teid| {
        let packet = uplink(teid, &ping(UE.into(), FAR_AWAY.into()));
        world.plane.punt(&packet, N3_PORT, reason, 0, Duration::from_secs(1))
    };
    assert_eq!(answers(0x100), [Action::Drop { reason: "unknown_teid" }]);
    assert_eq!(answers(0xbad).len(), 2);
}

#[test]
fn filters_gates_and_rates() {
    let mut world = World::new();
    let udp = |port: u16, remote: &str| {
        let mut packet = Vec::new();
        let (src, dst) = (remote.parse().unwrap(), UE);
        ipv4::Repr { src, dst, protocol: ipv4::UDP, tos: 0, ttl: 64, payload_len: 12 }.emit(&mut packet);
        wire::udp::Repr { src_port: port, dst_port: 9 }.emit_ipv4(src, dst, b"user", &mut packet);
        framed(&packet)
    };
    let qfi = |world: &mut World| gtpu_of(&world.sent().1).1.session_container.map(|c| c.qfi());
    world.commit(1, Some(&free5gc()));
    for (port, remote, expected) in [(5005, "192.0.2.9", 1), (6000, "192.0.2.9", 1), (6001, "192.0.2.9", 3), (6000, "192.0.3.9", 3)] {
        world.receive(N6_PORT, &udp(port, remote));
        assert_eq!(qfi(&mut world), Some(expected), "{remote}:{port}");
    }
    // A closed gate stops its own flow only.
    let mut rules = free5gc();
    rules.qers.get_mut(&1).unwrap().downlink_open = false;
    world.commit(1, Some(&rules));
    world.receive(N6_PORT, &udp(5005, "192.0.2.9"));
    assert_eq!(world.dropped(), "gate_closed");
    world.receive(N6_PORT, &udp(1, "192.0.2.9"));
    assert_eq!(qfi(&mut world), Some(3));
    // A rate of nothing lets nothing pass; 1 Mbit/s lets its burst of 31,250 octets pass, then 125 kB in a second.
    rules.qers.get_mut(&3).unwrap().mbr_kbps = Some((0, 0));
    world.commit(1, Some(&rules));
    world.receive(N6_PORT, &udp(1, "192.0.2.9"));
    assert_eq!(world.dropped(), "rate_exceeded");
    rules.qers.get_mut(&3).unwrap().mbr_kbps = Some((1000, 1000));
    world.commit(1, Some(&rules));
    for _ in 0..2000 {
        world.receive(N6_PORT, &udp(1, "192.0.2.9"));
    }
    assert_eq!((world.sent.len(), world.dropped.len()), (31250 / 32, 2000 - 31250 / 32));
    world.sent.clear();
    world.dropped.clear();
    // A used quota ends it all.
    rules.urrs.get_mut(&2).unwrap().exhausted = true;
    world.commit(1, Some(&rules));
    world.receive(N6_PORT, &udp(1, "192.0.2.9"));
    assert_eq!(world.dropped(), "quota_exhausted");
    assert_eq!(world.plane.usage(1, 1).downlink_packets, 4 + 1 + 976);
}

#[test]
fn a_filter_of_any_ipv4_address_lets_no_ipv6_packet_pass_and_the_other_way_round() {
    let prefix = "fd00:45:0:1::";
    let any = |v4: bool| AddressMatch::Prefix(if v4 { "0.0.0.0" } else { "::" }.parse().unwrap(), 0);
    for v4 in [true, false] {
        let mut rules = SessionRules::default();
        let sdf_filters = vec![flow(None, any(v4))];
        let tunnel = Some(FTeid { teid: 0x100, ipv4: N3 });
        let up =
            Pdi { f_teid: tunnel, ue_ip: ue(Some(UE), Some(prefix), false), sdf_filters: sdf_filters.clone(), ..pdi(Interface::Access) };
        let down =
            Pdi { network_instance: Some("internet".into()), ue_ip: ue(Some(UE), Some(prefix), true), sdf_filters, ..pdi(Interface::Core) };
        rules.pdrs.insert(1, pdr(1, up, 1));
        rules.pdrs.insert(2, pdr(1, down, 2));
        rules.fars.insert(1, forward(Interface::Core, None));
        rules.fars.insert(2, forward(Interface::Access, Some((9, GNB))));
        let mut world = World::new();
        world.commit(1, Some(&rules));
        let ends = |of_v4: bool| -> (IpAddr, IpAddr) {
            match of_v4 {
                true => (UE.into(), FAR_AWAY.into()),
                false => ("fd00:45:0:1::7".parse().unwrap(), "2001:db8::1".parse().unwrap()),
            }
        };
        for of_v4 in [true, false] {
            let (user, server) = ends(of_v4);
            world.receive(N3_PORT, &uplink(0x100, &ping(user, server)));
            world.receive(N6_PORT, &framed(&ping(server, user)));
            let passed = std::mem::take(&mut world.sent).len();
            assert_eq!(passed, if of_v4 == v4 { 2 } else { 0 }, "filter {v4}, packets {of_v4}: {:?}", world.dropped);
            world.dropped.clear();
        }
    }
}

/// What waits for a quota of nothing is the packet that tells of it: no more than that, and it does not pass.
#[test]
fn a_packet_for_which_the_quota_has_nothing_waits_to_be_told_and_is_dropped() {
    let nothing = VolumeLimit { uplink: Some(0), ..VolumeLimit::default() };
    let mut rules = open5gs_connected();
    rules.urrs.insert(1, Urr { volume_quota: Some(nothing), exhausted: true, untold: true, ..volume() });
    let mut world = World::new();
    world.commit(1, Some(&rules));
    // Of the other direction there is no limit.
    world.receive(N6_PORT, &framed(&ping(FAR_AWAY.into(), UE.into())));
    assert_eq!(world.sent().0, N3_PORT);
    world.receive(N3_PORT, &uplink(0x100, &ping(UE.into(), FAR_AWAY.into())));
    assert_eq!((std::mem::take(&mut world.buffered), world.sent.len()), (vec![(1, 2)], 0));
    rules.urrs.get_mut(&1).unwrap().untold = false;
    world.commit(1, Some(&rules));
    assert_eq!((world.sent.len(), world.plane.data().buffers.values().all(Vec::is_empty)), (0, true));
    for (port, frame) in [(N3_PORT, uplink(0x100, &ping(UE.into(), FAR_AWAY.into()))), (N6_PORT, framed(&ping(FAR_AWAY.into(), UE.into())))]
    {
        world.receive(port, &frame);
        assert_eq!(world.dropped(), "quota_exhausted");
    }
}

#[test]
fn filters_apply_to_downlink_tunnels() {
    // N9: the anchor sends by a tunnel; only TCP from one server may pass to the gNodeB.
    let mut rules = SessionRules::default();
    let remote = AddressMatch::Prefix(FAR_AWAY.into(), 32);
    let pdi = Pdi { f_teid: Some(FTeid { teid: 5, ipv4: N3 }), sdf_filters: vec![flow(Some(1), remote)], ..pdi(Interface::Core) };
    rules.pdrs.insert(1, pdr(1, pdi, 1));
    rules.fars.insert(1, forward(Interface::Access, Some((9, GNB))));
    let mut world = World::new();
    world.commit(1, Some(&rules));
    let user = ping(FAR_AWAY.into(), UE.into());
    world.receive(N3_PORT, &gtpu_frame(SMF, N3, 2152, &gtpu::Repr::g_pdu(5, None, &user)));
    // From tunnel to tunnel nothing of the user's packet changes.
    assert_eq!(gtpu_of(&world.sent().1).1, gtpu::Repr::g_pdu(9, None, &user));
    world.receive(N3_PORT, &gtpu_frame(SMF, N3, 2152, &gtpu::Repr::g_pdu(5, None, &ping(SMF.into(), UE.into()))));
    assert_eq!(world.dropped(), "no_pdr");
}

#[test]
fn punted_packets_keep_their_extension_headers() {
    let mut world = World::new();
    world.commit(1, Some(&open5gs_connected()));
    // The router's MAC address is not known yet: the packet is punted, waits and goes through the pipeline again.
    world.receive(N3_PORT, &uplink_with_container(0x100, &ping(UE.into(), FAR_AWAY.into())));
    assert_eq!(world.sent().0, N6_PORT);
    world.receive(N3_PORT, &uplink_with_container(0xbad, &ping(UE.into(), FAR_AWAY.into())));
    let (_, frame) = world.sent_for_lost("unknown_teid");
    assert_eq!(gtpu_of(&frame).1.message, Message::ErrorIndication { teid: 0xbad, peer: N3.into() });
}

fn udp_packet(src: Ipv4Addr, src_port: u16, dst: Ipv4Addr, dst_port: u16) -> Vec<u8> {
    let mut packet = Vec::new();
    ipv4::Repr { src, dst, protocol: ipv4::UDP, tos: 0, ttl: 64, payload_len: 12 }.emit(&mut packet);
    wire::udp::Repr { src_port, dst_port }.emit_ipv4(src, dst, b"user", &mut packet);
    packet
}

/// The default flow's PDRs have said what tunnel and address the session has: a dedicated flow's have filter and QFI alone.
#[test]
fn a_flow_whose_pdrs_name_neither_tunnel_nor_address_is_forwarded_both_ways() {
    let mut rules = open5gs_connected();
    let mut filter = flow(Some(17), AddressMatch::Prefix(FAR_AWAY.into(), 32));
    filter.flow.as_mut().unwrap().remote_ports = vec![(5001, 5001)];
    let instance = Some("internet".to_owned());
    let with_filter = |source| Pdi { network_instance: instance.clone(), sdf_filters: vec![filter.clone()], qfis: vec![2], ..pdi(source) };
    let dedicated = |pdr: Pdr| Pdr { urr_ids: vec![2], qer_ids: vec![2], ..pdr };
    rules.pdrs.insert(5, dedicated(pdr(10, with_filter(Interface::Core), 1)));
    rules.pdrs.insert(6, dedicated(pdr(10, with_filter(Interface::Access), 2)));
    rules.urrs.insert(2, volume());
    rules.qers.insert(2, qer(None, Some(2)));
    // A tunnel for what a source gNodeB forwards is not the UE's.
    let forwarding = Pdi { f_teid: Some(FTeid { teid: 0x200, ipv4: N3 }), ..pdi(Interface::Access) };
    rules.pdrs.insert(7, pdr(255, forwarding, 7));
    rules.fars.insert(7, forward(Interface::Access, Some((0x6000, GNB))));
    let mut world = World::new();
    world.commit(1, Some(&rules));
    let qfi = |world: &mut World| gtpu_of(&world.sent().1).1.session_container.map(|container| container.qfi());
    for (port, expected) in [(5001, 2), (5000, 1)] {
        world.receive(N6_PORT, &framed(&udp_packet(FAR_AWAY, port, UE, 9)));
        assert_eq!(qfi(&mut world), Some(expected), "port {port}");
    }
    let up = |teid, qfi, user: &[u8]| gtpu_frame(GNB, N3, 2152, &gtpu::Repr::g_pdu(teid, Some(SessionContainer::Uplink { qfi }), user));
    let counted = |world: &mut World| [1, 2].map(|urr_id| world.plane.usage(1, urr_id)).map(|u| (u.uplink_packets, u.downlink_packets));
    assert_eq!(counted(&mut world), [(1, 1), (1, 1)].map(|(_, down)| (0, down)));
    world.receive(N3_PORT, &up(0x100, 2, &udp_packet(UE, 9, FAR_AWAY, 5001)));
    assert_eq!((world.sent().0, counted(&mut world)), (N6_PORT, [(0, 1), (1, 1)]));
    // Another port, another QFI: the default flow.
    world.receive(N3_PORT, &up(0x100, 2, &udp_packet(UE, 9, FAR_AWAY, 5000)));
    assert_eq!((world.sent().0, counted(&mut world)), (N6_PORT, [(1, 1), (1, 1)]));
    world.receive(N3_PORT, &up(0x100, 1, &udp_packet(UE, 9, FAR_AWAY, 5001)));
    assert_eq!((world.sent().0, counted(&mut world)), (N6_PORT, [(2, 1), (1, 1)]));
    // Nobody else's address, by the dedicated flow either.
    world.receive(N3_PORT, &up(0x100, 2, &udp_packet(FAR_AWAY, 9, FAR_AWAY, 5001)));
    assert_eq!(world.dropped(), "source_spoofed");
    world.receive(N3_PORT, &up(0x200, 2, &udp_packet(FAR_AWAY, 5001, UE, 9)));
    assert_eq!(gtpu_of(&world.sent().1).1.teid, 0x6000);
}

/// Where packets come from the anchor by a tunnel, a PDR that names none means that one.
#[test]
fn a_flow_that_comes_by_n9_needs_not_name_the_tunnel_again() {
    let mut rules = SessionRules::default();
    let tunnel = Pdi { f_teid: Some(FTeid { teid: 5, ipv4: N3 }), ..pdi(Interface::Core) };
    rules.pdrs.insert(1, pdr(255, tunnel, 1));
    let filter = flow(Some(17), AddressMatch::Prefix(FAR_AWAY.into(), 32));
    rules.pdrs.insert(2, pdr(1, Pdi { sdf_filters: vec![filter], ..pdi(Interface::Core) }, 2));
    rules.fars.insert(1, forward(Interface::Access, Some((9, GNB))));
    rules.fars.insert(2, forward(Interface::Access, Some((10, GNB))));
    let mut world = World::new();
    world.commit(1, Some(&rules));
    for (user, teid) in [(udp_packet(FAR_AWAY, 1, UE, 2), 10), (udp_packet(SMF, 1, UE, 2), 9)] {
        world.receive(N3_PORT, &gtpu_frame(SMF, N3, 2152, &gtpu::Repr::g_pdu(5, None, &user)));
        assert_eq!(gtpu_of(&world.sent().1).1.teid, teid);
    }
}

/// A PDI without the UE's address means the session's. A session without any has none to send from.
#[test]
fn a_lone_uplink_pdr_without_ue_address_takes_only_the_sessions_own() {
    let alone = |rules: &SessionRules| {
        let mut rules = rules.clone();
        let uplink = Pdi { f_teid: Some(FTeid { teid: 0x100, ipv4: N3 }), ..pdi(Interface::Access) };
        rules.pdrs.retain(|id, _| *id == 1);
        rules.pdrs.insert(2, pdr(255, uplink, 2));
        rules
    };
    let with_address = alone(&open5gs_connected());
    let mut without = with_address.clone();
    without.pdrs.remove(&1);
    for (rules, taken) in [(with_address, true), (without, false)] {
        let mut world = World::new();
        world.commit(1, Some(&rules));
        for (source, own) in [("10.45.0.2", true), ("10.45.0.3", false), ("10.0.6.1", false), ("10.45.0.1", false)] {
            world.receive(N3_PORT, &uplink(0x100, &ping(source.parse().unwrap(), FAR_AWAY.into())));
            match own && taken {
                true => assert_eq!(world.sent().0, N6_PORT),
                false => assert_eq!(world.dropped(), "source_spoofed", "{source}"),
            }
        }
        let far: IpAddr = "2001:db8::1".parse().unwrap();
        for (source, own) in [("fd00:45:0:1::7", true), ("fd00:45:0:2::7", false), ("fd00:6::1", false)] {
            world.receive(N3_PORT, &uplink(0x100, &ping(source.parse().unwrap(), far)));
            match own && taken {
                true => assert_eq!(world.sent().0, N6_PORT),
                false => assert_eq!(world.dropped(), "source_spoofed", "{source}"),
            }
        }
    }
}
