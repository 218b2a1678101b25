//! What goes on from tunnel to tunnel: N9 both ways, and back to the access side (TS 29.281 §5.2.1, TS 29.244 table 8.2.64-1 note 1).

use std::net::Ipv4Addr;

use base::PortId;
use pfcp::rules::*;
use upf::config::{NetworkConfig, PortConfig, Role};
use wire::ipv4;

use crate::host::{ipv4_frame, ping};
use crate::pipeline::{N3_PORT, World};
use crate::sessions::*;

const N9: Ipv4Addr = Ipv4Addr::new(10, 0, 9, 1);
const PSA: Ipv4Addr = Ipv4Addr::new(10, 0, 9, 99);
const N9_PORT: PortId = PortId(1);
const N9_MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];
const FAR_AWAY: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);

/// Tunnels of ours: from the gNodeB, from the anchor, and from a gNodeB that forwards at a handover; and where they lead.
const UPLINK: u32 = 0x10;
const DOWNLINK: u32 = 0x11;
const FORWARDING: u32 = 0x12;
const TO_PSA: u32 = 0x20;
const TO_GNB: u32 = 0x21;

/// Types of extension headers, by what becomes of them.
const GOES_ON: u8 = 0x20;
const ENDS: u8 = 0x40;
const FOR_ENDPOINT: u8 = 0x82;
const PDCP_NUMBER: u8 = 0xc0;
const CONTAINER: u8 = 0x85;
const MANDATORY: u8 = 0xc1;

/// An extension header: type and content, two bytes or six and so on.
type Extension = (u8, Vec<u8>);

fn network_with_n9() -> NetworkConfig {
    let mut config = network();
    let n9 = PortConfig {
        id: N9_PORT,
        name: "n9".into(),
        mac: N9_MAC,
        addresses: vec![(N9.into(), 24)],
        network_instance: "n9".into(),
        role: Role::Core,
        gtpu_endpoints: vec![N9],
        ..config.ports[0].clone()
    };
    config.ports.push(n9);
    config
}

/// An intermediate UPF's session, and a tunnel for what a source gNodeB forwards.
fn intermediate() -> SessionRules {
    let mut rules = SessionRules::default();
    let tunnel = |source, ipv4, teid| Pdi { f_teid: Some(FTeid { teid, ipv4 }), ..pdi(source) };
    rules.pdrs.insert(1, pdr(1, tunnel(Interface::Access, N3, UPLINK), 1));
    rules.pdrs.insert(2, pdr(1, Pdi { network_instance: Some("n9".into()), ..tunnel(Interface::Core, N9, DOWNLINK) }, 2));
    rules.pdrs.insert(3, pdr(1, tunnel(Interface::Access, N3, FORWARDING), 2));
    let mut to_psa = forward(Interface::Core, Some((TO_PSA, PSA)));
    to_psa.forwarding.as_mut().unwrap().network_instance = Some("n9".into());
    rules.fars.insert(1, to_psa);
    rules.fars.insert(2, forward(Interface::Access, Some((TO_GNB, GNB))));
    rules
}

fn with_qer(mut rules: SessionRules, qfi: u8, rqi: bool) -> SessionRules {
    rules.qers.insert(1, Qer { uplink_open: true, downlink_open: true, qfi: Some(qfi), rqi, ..Qer::default() });
    rules.pdrs.values_mut().for_each(|pdr| pdr.qer_ids = vec![1]);
    rules
}

fn deleting(mut rules: SessionRules) -> SessionRules {
    rules.pdrs.values_mut().for_each(|pdr| pdr.outer_header_removal = HeaderRemoval::GtpuAndContainer);
    rules
}

/// A G-PDU with these flags of S and PN, numbers and extension headers.
fn g_pdu(teid: u32, numbered: u8, extensions: &[Extension], user: &[u8]) -> Vec<u8> {
    let flags = 0x30 | numbered | u8::from(!extensions.is_empty()) << 2;
    let mut body = Vec::new();
    if flags & 7 != 0 {
        body.extend([0x12, 0x34, 0x56]);
        for (kind, content) in extensions {
            body.extend([*kind, (content.len() as u8 + 2) / 4]);
            body.extend(content);
        }
        body.push(0);
    }
    body.extend(user);
    let mut message = vec![flags, 255];
    message.extend((body.len() as u16).to_be_bytes());
    message.extend(teid.to_be_bytes());
    message.extend(body);
    message
}

/// What comes of a G-PDU by one of our tunnels.
struct Case {
    world: World,
    teid: u32,
}

impl Case {
    fn new(rules: &SessionRules, teid: u32) -> Case {
        let mut world = World::of(&network_with_n9());
        world.commit(1, Some(rules));
        Case { world, teid }
    }

    fn receive(&mut self, numbered: u8, extensions: &[Extension]) -> Vec<u8> {
        let user = ping(FAR_AWAY.into(), UE.into());
        let message = g_pdu(self.teid, numbered, extensions, &user);
        let (src, dst, port) = if self.teid == DOWNLINK { (PSA, N9, N9_PORT) } else { (GNB, N3, N3_PORT) };
        let mut datagram = Vec::new();
        wire::udp::Repr { src_port: 2152, dst_port: 2152 }.emit_ipv4(src, dst, &message, &mut datagram);
        let mut frame = ipv4_frame(src, dst, ipv4::UDP, &datagram);
        if port == N9_PORT {
            frame[..6].copy_from_slice(&N9_MAC);
        }
        self.world.receive(port, &frame);
        user
    }

    /// What comes must leave so.
    #[track_caller]
    fn becomes(&mut self, came: (u8, &[Extension]), left: (u8, &[Extension])) {
        let user = self.receive(came.0, came.1);
        let (_, frame) = self.world.sent();
        let outer = ipv4::Packet::new_checked(&frame[14..]).unwrap();
        assert_eq!(14 + usize::from(u16::from_be_bytes([frame[16], frame[17]])), frame.len());
        let datagram = wire::udp::Datagram::new_checked(outer.payload()).unwrap();
        let (teid, peer) = if self.teid == UPLINK { (TO_PSA, PSA) } else { (TO_GNB, GNB) };
        // Of numbers that came without a flag nothing is known.
        let mut expected = g_pdu(teid, left.0, left.1, &user);
        if came.0 == 0 && came.1.is_empty() && !left.1.is_empty() {
            expected[8..11].fill(0);
        }
        let numbers = if left.0 == 0 && left.1.is_empty() { 0 } else { 3 };
        assert_eq!((outer.dst(), &datagram.payload()[..8]), (peer, &expected[..8]), "{came:02x?}");
        assert_eq!(datagram.payload()[8 + numbers..], expected[8 + numbers..], "{came:02x?}");
        assert_eq!(datagram.payload()[8..8 + numbers], expected[8..8 + numbers], "{came:02x?}");
    }

    #[track_caller]
    fn passes(&mut self, numbered: u8, extensions: &[Extension]) {
        self.becomes((numbered, extensions), (numbered, extensions));
    }
}

/// DL PDU SESSION INFORMATION: QFI alone; with RQI; with RQI, and PPI 5 in a second unit.
fn downlink(qfi: u8) -> [Extension; 3] {
    [vec![0, qfi], vec![0, 0x40 | qfi], vec![0, 0xc0 | qfi, 0xa0, 0, 0, 0]].map(|content| (CONTAINER, content))
}

/// UL PDU SESSION INFORMATION: QFI alone; with the time stamps of QoS monitoring (TS 38.415 §5.5.2.2).
fn uplink(qfi: u8) -> [Extension; 2] {
    let mut monitored = vec![0x18, qfi];
    monitored.extend(1..=36);
    [vec![0x10, qfi], monitored].map(|content| (CONTAINER, content))
}

fn containers(teid: u32, qfi: u8) -> Vec<Extension> {
    if teid == UPLINK { uplink(qfi).to_vec() } else { downlink(qfi).to_vec() }
}

#[test]
fn without_a_qer_all_goes_on_as_it_came() {
    for teid in [UPLINK, DOWNLINK, FORWARDING] {
        let mut case = Case::new(&intermediate(), teid);
        case.passes(0, &[]);
        for container in containers(teid, 9) {
            case.passes(0, std::slice::from_ref(&container));
            case.passes(2, std::slice::from_ref(&container));
            let number = (PDCP_NUMBER, vec![1, 2]);
            case.passes(0, &[container.clone(), number.clone()]);
            case.passes(0, &[number.clone(), container.clone()]);
            case.passes(1, &[(GOES_ON, vec![7; 6]), number, container, (FOR_ENDPOINT, vec![3; 10])]);
        }
        case.passes(3, &[]);
        // Of up to 64 bytes each.
        case.passes(0, &[(GOES_ON, vec![7; 62])]);
    }
}

#[test]
fn what_is_not_for_the_next_tunnel_ends_and_its_neighbours_stay() {
    for teid in [UPLINK, DOWNLINK, FORWARDING] {
        let mut case = Case::new(&intermediate(), teid);
        let (ends, number) = ((ENDS, vec![8, 8]), (PDCP_NUMBER, vec![1, 2]));
        case.becomes((0, std::slice::from_ref(&ends)), (0, &[]));
        case.becomes((2, std::slice::from_ref(&ends)), (2, &[]));
        for container in containers(teid, 9) {
            case.becomes((0, &[ends.clone(), container.clone(), number.clone()]), (0, &[container.clone(), number.clone()]));
            case.becomes((0, &[container.clone(), ends.clone(), number.clone()]), (0, &[container.clone(), number.clone()]));
            case.becomes((0, &[number.clone(), container.clone(), ends.clone()]), (0, &[number.clone(), container]));
        }
    }
}

#[test]
fn a_qer_gives_the_container_its_qfi_and_leaves_the_rest_of_it() {
    for (teid, rqi) in [(UPLINK, false), (DOWNLINK, false), (FORWARDING, false), (DOWNLINK, true)] {
        let mut case = Case::new(&with_qer(intermediate(), 5, rqi), teid);
        let number = (PDCP_NUMBER, vec![1, 2]);
        for (came, mut left) in containers(teid, 9).into_iter().zip(containers(teid, 5)) {
            left.1[1] |= u8::from(rqi) << 6;
            case.becomes((0, std::slice::from_ref(&came)), (0, std::slice::from_ref(&left)));
            case.becomes((0, &[came.clone(), number.clone()]), (0, &[left.clone(), number.clone()]));
            case.becomes((2, &[number.clone(), came]), (2, &[number.clone(), left]));
        }
        // What has none gets one.
        let mut made = containers(teid, 5)[0].clone();
        made.1[1] |= u8::from(rqi) << 6;
        case.becomes((0, &[]), (0, std::slice::from_ref(&made)));
        case.becomes((2, &[]), (2, std::slice::from_ref(&made)));
        case.becomes((0, std::slice::from_ref(&number)), (0, &[made, number.clone()]));
    }
}

#[test]
fn the_qfi_of_the_default_qos_flow_is_for_packets_without_one() {
    let mut rules = with_qer(intermediate(), 5, false);
    rules.pdrs.get_mut(&3).unwrap().qer_ids.clear();
    let mut case = Case::new(&rules, FORWARDING);
    let number = (PDCP_NUMBER, vec![1, 2]);
    for container in downlink(9) {
        case.passes(0, std::slice::from_ref(&container));
        case.passes(0, &[number.clone(), container]);
    }
    case.becomes((0, &[]), (0, &downlink(5)[..1]));
    case.becomes((0, std::slice::from_ref(&number)), (0, &[downlink(5)[0].clone(), number.clone()]));
}

#[test]
fn outer_header_removal_deletes_the_container_where_it_says_so() {
    for teid in [UPLINK, DOWNLINK, FORWARDING] {
        let number = (PDCP_NUMBER, vec![1, 2]);
        let mut case = Case::new(&deleting(intermediate()), teid);
        let mut with_qer = Case::new(&deleting(with_qer(intermediate(), 5, false)), teid);
        let made = containers(teid, 5)[0].clone();
        for container in containers(teid, 0x49) {
            let container = std::slice::from_ref(&container);
            case.becomes((0, container), (0, &[]));
            case.becomes((2, container), (2, &[]));
            case.becomes((0, &[number.clone(), container[0].clone()]), (0, std::slice::from_ref(&number)));
            // A QER's QFI is in one of our own.
            with_qer.becomes((0, container), (0, std::slice::from_ref(&made)));
            with_qer.becomes((0, &[container[0].clone(), number.clone()]), (0, &[made.clone(), number.clone()]));
        }
    }
}

#[test]
fn extension_headers_that_nobody_may_pass_over_or_that_are_none_do_not_go_on() {
    let mut case = Case::new(&intermediate(), DOWNLINK);
    case.receive(0, &[(MANDATORY, vec![1, 2])]);
    let (_, frame) = case.world.sent.remove(0);
    assert_eq!(frame[43], wire::gtpu::message_type::SUPPORTED_EXTENSION_HEADERS);
    case.world.dropped.clear();
    for extensions in [vec![(GOES_ON, vec![7; 66])], vec![(GOES_ON, vec![7; 2]); 5]] {
        case.receive(0, &extensions);
        assert_eq!(case.world.dropped(), "malformed");
    }
}

/// Where the tunnel ends, whatever came is taken off.
#[test]
fn all_extension_headers_end_with_their_tunnel() {
    let mut world = World::new();
    world.commit(1, Some(&open5gs_connected()));
    let user = ping(UE.into(), FAR_AWAY.into());
    let [container, monitored] = uplink(1);
    for extensions in [vec![], vec![container.clone()], vec![monitored.clone()], vec![(ENDS, vec![1, 2]), monitored, (GOES_ON, vec![3; 6])]]
    {
        for numbered in 0..=3 {
            let mut datagram = Vec::new();
            let message = g_pdu(0x100, numbered, &extensions, &user);
            wire::udp::Repr { src_port: 2152, dst_port: 2152 }.emit_ipv4(GNB, N3, &message, &mut datagram);
            world.receive(N3_PORT, &ipv4_frame(GNB, N3, ipv4::UDP, &datagram));
            let (_, frame) = world.sent();
            assert_eq!((frame.len(), &frame[34..]), (14 + user.len(), &user[20..]), "{extensions:02x?}");
        }
    }
}
