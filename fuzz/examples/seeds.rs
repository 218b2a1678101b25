//! Writes the binary inputs under `corpus/` with our own writers: `cargo run --example seeds`, in this folder.
//!
//! Text inputs are their own source. Names and content of the files are fixed, so that running it twice changes nothing.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use fuzz::upf::{Kind, N3_ADDRESS, N3_MAC, N6_MAC};
use pfcp::codec::{
    AlternativeSmfIpAddress, ApplyActionFlags, BitRates, CsidNode, FSeid, FTeid, FqCsid, GateStatus, Group, Ie, Message, MessageType, Name,
    NodeId, OuterHeaderCreation, OuterHeaderRemoval, SNssai, SdfFilter, Triggers, UeIpAddress, Volume,
};
use pktio::pcap::PcapWriter;
use wire::ethernet::{self, Mac};
use wire::icmp::Echo;
use wire::{arp, gtpu, ipv4, udp};

const UP: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const CP: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
const GNB: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 3);
const UE: Ipv4Addr = Ipv4Addr::new(10, 45, 0, 2);
/// Source and destination interface (TS 29.244 §8.2.2).
const ACCESS: u8 = 0;
const CORE: u8 = 1;

fn main() -> std::io::Result<()> {
    let radio = [("rlc", rlc_seeds()), ("pdcp", pdcp_seeds()), ("sdap", sdap_seeds()), ("nru", nru_seeds())];
    let all = [
        ("pfcp", pfcp_seeds()),
        ("gtpu", gtpu_seeds()),
        ("pcap", pcap_seeds()),
        ("upf", upf_seeds()),
        ("store", store_seeds()),
        ("store_files", store_files_seeds()),
        ("trains", trains_seeds()),
    ];
    let all = all.into_iter().chain([("shaper", shaper_seeds()), ("load", load_seeds()), ("gnb_front", gnb_front_seeds())]);
    for (target, seeds) in all.chain(radio) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        fs::create_dir_all(&folder)?;
        for (name, bytes) in seeds {
            fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(())
}

type Seeds = Vec<(&'static str, Vec<u8>)>;

/// Frames of a TCP connection and of a tunnel, which are joined, the last of them damaged; and super-frames of both kinds.
fn trains_seeds() -> Seeds {
    const SIZE: usize = 40;
    let frame = |tcp: bool, n: u8, damaged: bool| {
        let (src, dst) = (UE, GNB);
        let payload = vec![n; SIZE];
        let mut l4 = Vec::new();
        if tcp {
            l4.extend([0x1f, 0x90, 0x00, 0x50]);
            l4.extend((u32::from(n) * SIZE as u32).to_be_bytes());
            l4.extend([0, 0, 0, 9, 0x50, 0x10, 0x10, 0, 0, 0, 0, 0]);
            l4.extend(&payload);
            let sum = wire::checksum::finish(wire::checksum::pseudo_ipv4(src, dst, 6, l4.len()) + wire::checksum::sum(&l4));
            l4[16..18].copy_from_slice(&sum.to_be_bytes());
        } else {
            udp::Repr { src_port: 2152, dst_port: 2152 }.emit_ipv4(src, dst, &payload, &mut l4);
        }
        let mut frame = Vec::new();
        ethernet::Repr { src: Mac(N3_MAC), dst: Mac(N6_MAC), ethertype: ethernet::IPV4 }.emit(&mut frame);
        ipv4::Repr { src, dst, protocol: if tcp { 6 } else { ipv4::UDP }, tos: 0, ttl: 64, payload_len: l4.len() }.emit(&mut frame);
        frame.extend(&l4);
        if damaged {
            *frame.last_mut().expect("a frame") ^= 1;
        }
        frame
    };
    let joined = |tcp| {
        let behind_length = |n: u8| {
            let frame = frame(tcp, n, n == 3);
            [&(frame.len() as u16).to_be_bytes()[..], &frame].concat()
        };
        [vec![0], (0..4).flat_map(behind_length).collect()].concat()
    };
    let whole = |tcp: bool| [&[if tcp { 128 } else { 129 }, 34, 0, 16][..], &frame(tcp, 0, false)].concat();
    vec![("tcp", joined(true)), ("tunnel", joined(false)), ("super_frame_tcp", whole(true)), ("super_frame_udp", whole(false))]
}

/// Packets of each UE in both flows, with bearers that go, come and change between them; and of a tunnel that nobody has.
fn gnb_front_seeds() -> Seeds {
    let step = |what: u8, length: u8, bytes: &[u8]| [&[what, 1, length][..], bytes].concat();
    let packet = |n: u8, flow: u8| step(n << 3 | flow, 40, &[0x45; 40]);
    let of_all = |flow: u8| (0..4).flat_map(|n| packet(n, flow)).collect::<Vec<u8>>();
    let request = |n: u8, kind: u8| step(n << 3 | 7, kind, &[]);
    let changes: Vec<u8> = (0..4).flat_map(|n| [request(n, 2), request(n, 0), request(n, 1)].concat()).collect();
    let mut strange = Vec::new();
    gtpu::Repr::g_pdu(77, None, &[0x45; 20]).emit(&mut strange);
    let strange = step(3, strange.len() as u8, &strange);
    vec![
        ("packets", [of_all(0), of_all(2), of_all(1), strange].concat()),
        ("changes", [of_all(0), changes, of_all(0), request(1, 2), of_all(1), request(2, 0), of_all(0)].concat()),
    ]
}

/// The records of a node with a session, as a test of it writes them down in hexadecimal.
fn store_seeds() -> Seeds {
    let octets = |hex: &str| -> Vec<u8> {
        (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("the test wrote it")).collect()
    };
    let mut all = Vec::new();
    for line in include_str!("../../crates/mobile/pfcp/tests/records.expected").lines().skip(1) {
        let (key, value) = line.split_once(' ').map(|(key, value)| (octets(key), octets(value))).expect("a key and a value");
        all.extend([&[key.len() as u8][..], &key, &(value.len() as u16).to_be_bytes(), &value].concat());
    }
    vec![("node_with_a_session", all)]
}

/// Damages: of none, of each kind, and of several files.
fn store_files_seeds() -> Seeds {
    let kinds = ["octet", "cut", "zeros", "noise", "twice", "left_out", "no_file", "other_file"];
    let each = kinds.iter().zip(0..).map(|(name, kind)| (*name, [0, 1, 2, 3, 4, 5].map(|file| [file, kind, 128, 0, 5]).concat()));
    [("none", Vec::new())].into_iter().chain(each).collect()
}

/// A packet of each direction as the device leaves it, and an echo request.
fn load_seeds() -> Seeds {
    use load::frames::Maker;
    use load::plan::{Plan, Sizes};
    use load::tag::Tag;
    let address = |n| Ipv4Addr::new(10, n, 0, 2);
    let sessions = Plan::counted(3, address(45), 100, 200, Some(9)).expect("there are so many TEIDs");
    let plan = Plan { sessions, tunnels: false, gnb: address(3), upf: Ipv4Addr::new(10, 3, 0, 1), dn: address(6) };
    let plain = |direction| {
        let tag = Tag { trial: 1, direction, reply: false, sequence: 4, time_ns: 1000 };
        let mut packet = base::Packet::empty(0);
        Maker::new(&plan, direction, Sizes::Fixed(64), Mac(N6_MAC), Mac(N3_MAC)).write(&plan, &tag, &mut packet);
        packet.data().to_vec()
    };
    let [up, down] = load::Direction::BOTH.map(plain);
    let outer = |message: &[u8]| {
        let mut frame = down[..14].to_vec();
        ipv4::Repr { src: plan.upf, dst: plan.gnb, protocol: 17, tos: 0, ttl: 64, payload_len: message.len() + 8 }.emit(&mut frame);
        udp::Repr { src_port: gtpu::PORT, dst_port: gtpu::PORT }.emit_ipv4(plan.upf, plan.gnb, message, &mut frame);
        frame
    };
    let tunnelled = outer(&gtpu::g_pdu(201, 0x85, &[1, 0, 9, 0], &down[14..]));
    let mut echo = Vec::new();
    gtpu::Repr::new(0, Some(7), gtpu::Message::EchoRequest).emit(&mut echo);
    vec![("up", up), ("down", down.clone()), ("down_in_its_tunnel", tunnelled), ("echo_request", outer(&echo))]
}

/// Operations: queues that fill, empty in time, and have their rates changed meanwhile.
fn shaper_seeds() -> Seeds {
    let each = |operations: &[[u8; 2]], times: usize| {
        operations.iter().cycle().take(operations.len() * times).copied().flatten().collect::<Vec<u8>>()
    };
    let overload: Vec<[u8; 2]> = (0..8).flat_map(|leaf| [[124, leaf], [125, leaf], [128, leaf]]).chain([[82, 255]]).collect();
    let changes: Vec<[u8; 2]> = (0..8).flat_map(|leaf| [[124, leaf], [121, leaf], [35 + 4 * leaf, 7 + leaf], [66, 200]]).collect();
    vec![("overload", [&[61][..], &each(&overload, 12)].concat()), ("rates_change", [&[200][..], &each(&changes, 12)].concat())]
}

/// Conversations: messages one behind the other, as the target cuts them. Our first session has SEID 1.
fn pfcp_seeds() -> Seeds {
    use MessageType::*;
    vec![
        (
            "session_life",
            talk(vec![
                Message::session(SessionEstablishmentRequest, 0, 1, session()),
                Message::session(SessionModificationRequest, 1, 2, vec![to_gnb(2, 0x0100_0001, None)]),
                Message::session(SessionModificationRequest, 1, 3, vec![to_gnb(2, 0x0100_0002, Some(Ie::PfcpSmReqFlags(0x02)))]),
                Message::session(
                    SessionModificationRequest,
                    1,
                    4,
                    vec![Ie::UpdateFar(vec![Ie::FarId(2), Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP)])],
                ),
                Message::session(SessionReportResponse, 1, 1, vec![Ie::Cause(pfcp::codec::Cause::REQUEST_ACCEPTED)]),
                Message::session(SessionDeletionRequest, 1, 5, vec![]),
            ]),
        ),
        (
            "usage",
            talk(vec![
                Message::session(SessionEstablishmentRequest, 0, 1, with(session(), vec![urr(1), bar(1)])),
                Message::session(
                    SessionModificationRequest,
                    1,
                    2,
                    vec![Ie::UpdatePdr(vec![Ie::PdrId(1), Ie::UrrId(1)]), Ie::QueryUrr(vec![Ie::UrrId(1)])],
                ),
                Message::session(
                    SessionModificationRequest,
                    1,
                    3,
                    vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(volume(10_000))])],
                ),
                Message::session(SessionModificationRequest, 1, 4, vec![Ie::PfcpSmReqFlags(0x04)]),
                Message::session(SessionModificationRequest, 1, 5, vec![Ie::RemoveUrr(vec![Ie::UrrId(1)])]),
            ]),
        ),
        (
            "chosen_by_us",
            talk(vec![
                Message::session(
                    SessionEstablishmentRequest,
                    0,
                    1,
                    vec![
                        Ie::NodeId(NodeId::Ipv4(CP)),
                        cp_seid(7),
                        pdr(1, ACCESS, vec![choose(Some(1)), choose_ue()], 1),
                        pdr(2, CORE, vec![choose_ue()], 1),
                        pdr(3, ACCESS, vec![choose(Some(1))], 1),
                        forward(1, CORE),
                        Ie::ApnDnn(Name::Labels("internet".into())),
                        Ie::PdnType(3),
                        Ie::SNssai(SNssai { sst: 1, sd: 0xff_ffff }),
                    ],
                ),
                Message::session(SessionModificationRequest, 1, 2, vec![Ie::RemovePdr(vec![Ie::PdrId(3)])]),
            ]),
        ),
        (
            "traffic_endpoints",
            talk(vec![Message::session(
                SessionEstablishmentRequest,
                0,
                1,
                with(session(), vec![Ie::CreateTrafficEndpoint(vec![Ie::TrafficEndpointId(1), choose(Some(1)), choose_ue()])]),
            )]),
        ),
        (
            "filters",
            talk(vec![Message::session(
                SessionEstablishmentRequest,
                0,
                1,
                with(
                    session(),
                    vec![
                        pdr(3, ACCESS, vec![given(9), filter("permit out 17 from 192.0.2.0/24 53,5000-5010 to assigned"), Ie::Qfi(9)], 1),
                        pdr(4, CORE, vec![ue(true), filter("permit out ip from 2001:db8::/32 to any")], 1),
                    ],
                ),
            )]),
        ),
        (
            "node",
            talk(vec![
                Message::node(HeartbeatRequest, 1, vec![Ie::RecoveryTimeStamp(0xe000_0000)]),
                Message::node(AssociationUpdateRequest, 2, vec![Ie::NodeId(NodeId::Ipv4(CP))]),
                Message::node(PfdManagementRequest, 3, vec![]),
                Message::node(AssociationSetupRequest, 4, vec![Ie::NodeId(NodeId::Fqdn("smf.example".into())), Ie::RecoveryTimeStamp(1)]),
                Message::node(AssociationReleaseRequest, 5, vec![Ie::NodeId(NodeId::Ipv4(CP))]),
                Message::node(MessageType::Other(200), 6, vec![Ie::Unknown { ie_type: 0x8001, octets: vec![0, 1, 2, 3] }]),
            ]),
        ),
        (
            "refused",
            talk(vec![
                Message::session(SessionEstablishmentRequest, 0, 1, with(session(), vec![forward(0xff, CORE)])),
                Message::session(SessionEstablishmentRequest, 0, 2, vec![cp_seid(1)]),
                Message::session(SessionModificationRequest, 99, 3, vec![]),
                Message::session(SessionDeletionRequest, 99, 4, vec![]),
            ]),
        ),
        ("bundle", {
            let mut first = Message::session(SessionEstablishmentRequest, 0, 1, session());
            (first.follow_on, first.priority) = (true, Some(3));
            let second = Message::session(SessionDeletionRequest, 1, 2, vec![]);
            talk(vec![first, second])
        }),
        // Nearly all the room is taken: no new session, and the SMF is told of it.
        ("overload", {
            let waits = |message: Message| Message { priority: Some(15), ..message };
            talk(vec![
                Message::session(SessionEstablishmentRequest, 0, 1, session()),
                waits(Message::session(SessionEstablishmentRequest, 0, 2, session())),
                waits(Message::session(SessionModificationRequest, 1, 3, vec![])),
                Message::session(SessionDeletionRequest, 1, 4, vec![]),
            ])
        }),
        ("session_sets", {
            let set = |csid| Ie::FqCsid(FqCsid { node: CsidNode::Ipv4(CP), csids: vec![csid], node_type: None });
            let to = Ie::AlternativeSmfIpAddress(AlternativeSmfIpAddress { preferred: true, ipv4: Some(CP), ipv6: None });
            talk(vec![
                Message::session(SessionEstablishmentRequest, 0, 1, with(session(), vec![set(1)])),
                Message::node(
                    SessionSetModificationRequest,
                    2,
                    vec![Ie::NodeId(NodeId::Ipv4(CP)), Ie::SessionChangeInfo(vec![set(1), to])],
                ),
                Message::node(SessionSetDeletionRequest, 3, vec![Ie::NodeId(NodeId::Ipv4(CP)), set(1)]),
            ])
        }),
        // A quota of nothing, a URR that loses its PDRs, rules removed twice, another SMF's F-SEID.
        ("granted_nothing", {
            let modify = |sequence, ies| Message::session(SessionModificationRequest, 1, sequence, ies);
            let no_urr = |id| Ie::UpdatePdr(vec![Ie::PdrId(id), Ie::UrrId(2)]);
            let end = || vec![Ie::RemovePdr(vec![Ie::PdrId(3)]), Ie::RemoveFar(vec![Ie::FarId(3)])];
            let another = FSeid { seid: 0x1234, ipv4: Some(GNB), ipv6: None };
            talk(vec![
                Message::session(SessionEstablishmentRequest, 0, 1, with(session(), vec![urr(1), urr(2)])),
                modify(2, vec![Ie::UpdatePdr(vec![Ie::PdrId(1), Ie::UrrId(1)])]),
                modify(3, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(volume(0)), Ie::TimeQuota(0)])]),
                modify(4, vec![no_urr(1)]),
                modify(5, vec![pdr(3, ACCESS, vec![filter("permit in ip from assigned to 0.0.0.0/0"), Ie::Qfi(2)], 1)]),
                modify(6, end()),
                modify(7, end()),
                modify(8, vec![Ie::FSeid(another)]),
            ])
        }),
        ("version_2", vec![0x40, 1, 0, 4, 0, 0, 1, 0]),
        ("cut_off", {
            let mut octets = talk(vec![Message::session(SessionEstablishmentRequest, 0, 1, session())]);
            octets.truncate(100);
            octets
        }),
    ]
}

fn talk(messages: Vec<Message>) -> Vec<u8> {
    messages.iter().flat_map(|message| message.encode().expect("seeds are short")).collect()
}

fn with(mut ies: Group, more: Group) -> Group {
    ies.extend(more);
    ies
}

/// An uplink and a downlink rule, as an SMF makes them before it knows the gNodeB's tunnel.
fn session() -> Group {
    let qer = Ie::CreateQer(vec![
        Ie::QerId(1),
        Ie::GateStatus(GateStatus { uplink_open: true, downlink_open: true }),
        Ie::Mbr(BitRates { uplink_kbps: 100_000, downlink_kbps: 200_000 }),
        Ie::Qfi(9),
    ]);
    vec![
        Ie::NodeId(NodeId::Ipv4(CP)),
        cp_seid(0x1234),
        pdr(1, ACCESS, vec![choose(None), Ie::NetworkInstance(Name::Labels("internet".into())), ue(false)], 1),
        pdr(2, CORE, vec![ue(true)], 2),
        forward(1, CORE),
        Ie::CreateFar(vec![Ie::FarId(2), Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP)]),
        qer,
    ]
}

fn cp_seid(seid: u64) -> Ie {
    Ie::FSeid(FSeid { seid, ipv4: Some(CP), ipv6: None })
}

fn pdr(id: u16, source_interface: u8, pdi: Group, far_id: u32) -> Ie {
    let pdi = with(vec![Ie::SourceInterface(source_interface)], pdi);
    let mut ies = vec![Ie::PdrId(id), Ie::Precedence(100), Ie::Pdi(pdi), Ie::FarId(far_id)];
    if source_interface == ACCESS {
        ies.push(Ie::OuterHeaderRemoval(OuterHeaderRemoval { description: 0, extension_deletion: None }));
    }
    Ie::CreatePdr(ies)
}

fn given(teid: u32) -> Ie {
    Ie::FTeid(FTeid::Given { teid, ipv4: Some(UP), ipv6: None })
}

fn choose(choose_id: Option<u8>) -> Ie {
    Ie::FTeid(FTeid::Choose { ipv4: true, ipv6: false, choose_id })
}

fn ue(destination: bool) -> Ie {
    Ie::UeIpAddress(UeIpAddress { ipv4: Some(UE), destination, ..UeIpAddress::default() })
}

fn choose_ue() -> Ie {
    Ie::UeIpAddress(UeIpAddress { choose_ipv4: true, choose_ipv6: true, ..UeIpAddress::default() })
}

fn filter(text: &str) -> Ie {
    Ie::SdfFilter(SdfFilter { flow_description: Some(text.into()), tos: Some((0xb8, 0xfc)), filter_id: Some(1), ..SdfFilter::default() })
}

fn forward(id: u32, destination: u8) -> Ie {
    let to = Ie::ForwardingParameters(vec![Ie::DestinationInterface(destination)]);
    Ie::CreateFar(vec![Ie::FarId(id), Ie::ApplyAction(ApplyActionFlags::FORW), to])
}

fn to_gnb(far_id: u32, teid: u32, flags: Option<Ie>) -> Ie {
    let mut to = vec![Ie::DestinationInterface(ACCESS), Ie::OuterHeaderCreation(OuterHeaderCreation::gtpu_ipv4(teid, GNB))];
    to.extend(flags);
    Ie::UpdateFar(vec![Ie::FarId(far_id), Ie::ApplyAction(ApplyActionFlags::FORW), Ie::UpdateForwardingParameters(to)])
}

fn urr(id: u32) -> Ie {
    Ie::CreateUrr(vec![
        Ie::UrrId(id),
        Ie::MeasurementMethod(0x03),
        // PERIO, VOLTH, TIMTH; VOLQU, TIMQU.
        Ie::ReportingTriggers(Triggers(0x0307)),
        Ie::MeasurementPeriod(10),
        Ie::VolumeThreshold(volume(4_000)),
        Ie::VolumeQuota(volume(8_000)),
        Ie::TimeThreshold(5),
        Ie::TimeQuota(20),
        Ie::MeasurementInformation(0x10),
    ])
}

fn bar(id: u8) -> Ie {
    Ie::CreateBar(vec![Ie::BarId(id), Ie::DownlinkDataNotificationDelay(4), Ie::SuggestedBufferingPacketsCount(16)])
}

fn volume(bytes: u64) -> Volume {
    Volume { total: Some(bytes), uplink: Some(bytes), downlink: Some(bytes) }
}

/// Each kind of message, and each extension header that we read.
fn gtpu_seeds() -> Seeds {
    use gtpu::{Message, Repr, SessionContainer};
    let uplink = SessionContainer::Uplink { qfi: 9 };
    let downlink = SessionContainer::Downlink { qfi: 9, rqi: true, ppi: Some(3) };
    let peer = IpAddr::V6(Ipv6Addr::LOCALHOST);
    let written = |repr: Repr| {
        let mut out = Vec::new();
        repr.emit(&mut out);
        out
    };
    vec![
        ("echo_request", written(Repr::new(0, Some(7), Message::EchoRequest))),
        ("echo_response", written(Repr::new(0, Some(7), Message::EchoResponse))),
        ("error_indication", written(Repr::new(0, None, Message::ErrorIndication { teid: 5, peer: IpAddr::V4(UP) }))),
        (
            "error_indication_v6",
            written(Repr { udp_port: Some(2152), ..Repr::new(0, Some(1), Message::ErrorIndication { teid: 5, peer }) }),
        ),
        ("extension_headers", written(Repr::new(0, Some(2), Message::SupportedExtensionHeaders { types: &[0x85, 0x40] }))),
        ("end_marker", written(Repr::new(5, None, Message::EndMarker))),
        ("g_pdu", written(Repr::g_pdu(5, None, &ipv4_packet()))),
        ("g_pdu_uplink", written(Repr::g_pdu(5, Some(uplink), &ipv4_packet()))),
        ("g_pdu_downlink", written(Repr { udp_port: Some(1), ..Repr::g_pdu(5, Some(downlink), &ipv4_packet()) })),
        ("tunnel_status", written(Repr::new(5, Some(3), Message::Other { message_type: 253 }))),
        ("g_pdu_with_a_row_of_extension_headers", g_pdu_with_row(5)),
    ]
}

/// Session container, PDCP PDU number, one that is not passed on, and a number of the sender's (TS 29.281 §5.2).
fn g_pdu_with_row(teid: u32) -> Vec<u8> {
    let row = [[0, 7, 0, 0x85], [1, 0x10, 9, 0xc0], [1, 0x12, 0x34, 0x40], [1, 0x08, 0x68, 0]];
    let user = ipv4_packet();
    let length = (4 * row.len() + user.len()) as u16;
    [&[0x36, gtpu::message_type::G_PDU][..], &length.to_be_bytes(), &teid.to_be_bytes(), &row.concat(), &user].concat()
}

/// Each byte order, resolution and framing.
fn pcap_seeds() -> Seeds {
    let mut ours = Vec::new();
    let mut writer = PcapWriter::new("seed", &mut ours).expect("memory can be written");
    for time_ns in [1, 1_700_000_000_123_456_789] {
        writer.write(time_ns, &ethernet_frame()).expect("the frame is short");
    }
    writer.flush().expect("memory can be written");
    drop(writer);

    let frame = ethernet_frame();
    let length = frame.len() as u32;
    let big_endian_words = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let little_endian_words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();

    // Microseconds, big-endian, raw IP (link type 101).
    let mut raw = big_endian_words(&[0xa1b2_c3d4, 0x0002_0004, 0, 0, 65535, 101]);
    let packet = ipv4_packet();
    raw.extend(big_endian_words(&[1, 2, packet.len() as u32, packet.len() as u32]));
    raw.extend(packet);

    // Eight more bytes in each record header.
    let mut modified = little_endian_words(&[0xa1b2_cd34, 0x0004_0002, 0, 0, 65535, 1, 1, 2, length, length, 0, 0]);
    modified.extend(&frame);

    // Section header, interface with nanoseconds, an enhanced and a simple packet block.
    let mut padded = frame.clone();
    padded.resize(frame.len().next_multiple_of(4), 0);
    let room = padded.len() as u32;
    let mut ng = little_endian_words(&[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 0x0000_0001, u32::MAX, u32::MAX, 28]);
    ng.extend(little_endian_words(&[1, 32, 1, 0, 0x0001_0009, 9, 0, 32]));
    ng.extend(little_endian_words(&[6, 32 + room, 0, 0x17, 0x1234_5678, length, length]));
    ng.extend(&padded);
    ng.extend(little_endian_words(&[32 + room]));
    ng.extend(little_endian_words(&[3, 16 + room, length]));
    ng.extend(&padded);
    ng.extend(little_endian_words(&[16 + room]));

    vec![("nanoseconds", ours), ("raw_ip_big_endian", raw), ("modified", modified), ("pcapng", ng)]
}

/// Events of a whole UPF: a session's life with packets both ways, and what the host answers.
fn upf_seeds() -> Seeds {
    use MessageType::*;
    let n4 = |message: Message| event(Kind::N4, 0, &talk(vec![message]));
    let establish = |ies| n4(Message::session(SessionEstablishmentRequest, 0, 1, ies));
    let modify = |sequence, ies| n4(Message::session(SessionModificationRequest, 1, sequence, ies));
    let delete = n4(Message::session(SessionDeletionRequest, 1, 90, vec![]));
    let n3 = |frame: Vec<u8>| event(Kind::N3, 0, &frame);
    let n6 = |frame: Vec<u8>| event(Kind::N6, 0, &frame);
    let wait = |tenths: u8| event(Kind::Time, tenths, &[]);
    // We choose the first TEID, 1.
    let uplink = || n3(from_gnb(&gtpu::Repr::g_pdu(1, Some(gtpu::SessionContainer::Uplink { qfi: 9 }), &ipv4_packet())));
    let downlink = || n6(to_ue());
    let gnb_known = || n3(arp_reply(GNB_N3, N3_MAC, N3_ADDRESS));
    let router_known = || n6(arp_reply(Ipv4Addr::new(10, 0, 6, 254), N6_MAC, Ipv4Addr::new(10, 0, 6, 1)));
    let to_gnb = |teid, flags| {
        let mut to = vec![Ie::DestinationInterface(ACCESS), Ie::OuterHeaderCreation(OuterHeaderCreation::gtpu_ipv4(teid, GNB_N3))];
        to.extend(flags);
        Ie::UpdateFar(vec![Ie::FarId(2), Ie::ApplyAction(ApplyActionFlags::FORW), Ie::UpdateForwardingParameters(to)])
    };
    let (uplink_pdr, downlink_pdr) = (Ie::UpdatePdr(vec![Ie::PdrId(1), Ie::UrrId(1)]), Ie::UpdatePdr(vec![Ie::PdrId(2), Ie::UrrId(1)]));
    let uplink_pdr_again = uplink_pdr.clone();
    let onward = vec![Ie::DestinationInterface(ACCESS), Ie::OuterHeaderCreation(OuterHeaderCreation::gtpu_ipv4(9, GNB_N3))];
    let onward = Ie::CreateFar(vec![Ie::FarId(3), Ie::ApplyAction(ApplyActionFlags::FORW), Ie::ForwardingParameters(onward)]);
    let filtered = pdr(3, ACCESS, vec![choose(Some(1)), filter("permit out 1 from 192.0.2.0/24 to assigned")], 1);
    vec![
        (
            "session_life",
            [
                establish(session()),
                uplink(),
                router_known(),
                uplink(),
                downlink(),
                downlink(),
                modify(2, vec![to_gnb(7, None)]),
                gnb_known(),
                downlink(),
                wait(10),
                modify(3, vec![to_gnb(8, Some(Ie::PfcpSmReqFlags(0x02)))]),
                modify(4, vec![Ie::UpdateFar(vec![Ie::FarId(2), Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP)])]),
                downlink(),
                delete.clone(),
            ]
            .concat(),
        ),
        (
            "usage",
            [
                router_known(),
                establish(with(session(), vec![urr(1), bar(1)])),
                modify(2, vec![uplink_pdr, downlink_pdr, to_gnb(7, None)]),
                gnb_known(),
                uplink(),
                downlink(),
                wait(40),
                modify(3, vec![Ie::QueryUrr(vec![Ie::UrrId(1)])]),
                wait(60),
                delete.clone(),
            ]
            .concat(),
        ),
        (
            "granted_nothing",
            [
                router_known(),
                establish(with(session(), vec![urr(1)])),
                modify(2, vec![uplink_pdr_again, Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(volume(0))])]),
                uplink(),
                uplink(),
                modify(3, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(volume(1000))])]),
                uplink(),
                delete.clone(),
            ]
            .concat(),
        ),
        (
            "tunnel_to_tunnel",
            [
                gnb_known(),
                establish(with(session(), vec![pdr(3, ACCESS, vec![choose(Some(2))], 3), onward])),
                n3(to_us(&g_pdu_with_row(2))),
                n3(to_us(&g_pdu_with_row(1))),
                n3(from_gnb(&gtpu::Repr::new(2, None, gtpu::Message::EndMarker))),
                delete.clone(),
            ]
            .concat(),
        ),
        // Too long for the tunnel with "don't fragment", at the end of its TTL, and in a frame to all.
        (
            "not_sent_on",
            [
                router_known(),
                gnb_known(),
                establish(session()),
                modify(2, vec![to_gnb(7, None)]),
                n6(edited(&long_to_ue(), |header| header[6] = 0x40)),
                n6(edited(&to_ue(), |header| header[8] = 1)),
                n6([&[0xff; 6], &to_ue()[6..]].concat()),
                delete.clone(),
            ]
            .concat(),
        ),
        ("filters", [router_known(), establish(with(session(), vec![filtered])), uplink(), delete].concat()),
        (
            "host",
            [
                event(Kind::N3, 3, &arp_request(N3_MAC, N3_ADDRESS)),
                event(Kind::N3, 3, &echo_request()),
                n3(from_gnb(&gtpu::Repr::new(0, Some(1), gtpu::Message::EchoRequest))),
                n3(from_gnb(&gtpu::Repr::new(0, Some(1), gtpu::Message::ErrorIndication { teid: 7, peer: IpAddr::V4(GNB_N3) }))),
                n3(from_gnb(&gtpu::Repr::new(1, None, gtpu::Message::EndMarker))),
                n3(from_gnb(&gtpu::Repr::g_pdu(99, None, &ipv4_packet()))),
                event(Kind::N6, 6, &to_ue()),
                wait(63),
            ]
            .concat(),
        ),
    ]
}

/// An event as bytes. `parameter` has six bits.
fn event(kind: Kind, parameter: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("seeds are short");
    [&[kind as u8 | parameter << 2][..], &length.to_be_bytes(), bytes].concat()
}

/// The gNodeB, on our N3 network.
const GNB_N3: Ipv4Addr = Ipv4Addr::new(10, 0, 3, 50);
const PEER_MAC: Mac = Mac([2, 0, 0, 0, 0, 0x50]);

fn frame_to(mac: [u8; 6], src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    ethernet::Repr { dst: Mac(mac), src: PEER_MAC, ethertype: ethernet::IPV4 }.emit(&mut frame);
    ipv4::Repr { src, dst, protocol, tos: 0, ttl: 64, payload_len: payload.len() }.emit(&mut frame);
    frame.extend(payload);
    frame
}

fn from_gnb(message: &gtpu::Repr) -> Vec<u8> {
    let mut payload = Vec::new();
    message.emit(&mut payload);
    to_us(&payload)
}

/// A GTP-U message, as the gNodeB sends it.
fn to_us(message: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::new();
    udp::Repr { src_port: 2152, dst_port: gtpu::PORT }.emit_ipv4(GNB_N3, N3_ADDRESS, message, &mut datagram);
    frame_to(N3_MAC, GNB_N3, N3_ADDRESS, ipv4::UDP, &datagram)
}

fn to_ue() -> Vec<u8> {
    frame_to(N6_MAC, Ipv4Addr::new(192, 0, 2, 9), UE, 17, &[0, 53, 0x10, 0, 0, 8, 0, 0])
}

fn long_to_ue() -> Vec<u8> {
    let length = 1480_u16.to_be_bytes();
    let datagram = [&[0, 53, 0x10, 0, length[0], length[1], 0, 0][..], &[0; 1472]].concat();
    frame_to(N6_MAC, Ipv4Addr::new(192, 0, 2, 9), UE, 17, &datagram)
}

/// A frame whose IPv4 header is changed; its checksum is right again.
fn edited(frame: &[u8], edit: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut frame = frame.to_vec();
    let header = &mut frame[14..34];
    edit(header);
    header[10..12].fill(0);
    let sum = wire::checksum::finish(wire::checksum::sum(header));
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    frame
}

fn echo_request() -> Vec<u8> {
    let mut payload = Vec::new();
    Echo { reply: false, ident: [1, 2, 3, 4], data: b"ping" }.emit(GNB_N3.into(), N3_ADDRESS.into(), &mut payload);
    frame_to(N3_MAC, GNB_N3, N3_ADDRESS, ipv4::ICMP, &payload)
}

fn arp_reply(sender_ip: Ipv4Addr, target_mac: [u8; 6], target_ip: Ipv4Addr) -> Vec<u8> {
    arp_frame(arp::Repr { operation: arp::Operation::Reply, sender_mac: PEER_MAC, sender_ip, target_mac: Mac(target_mac), target_ip })
}

fn arp_request(target_mac: [u8; 6], target_ip: Ipv4Addr) -> Vec<u8> {
    let (sender_mac, sender_ip) = (PEER_MAC, GNB_N3);
    arp_frame(arp::Repr { operation: arp::Operation::Request, sender_mac, sender_ip, target_mac: Mac(target_mac), target_ip })
}

fn arp_frame(packet: arp::Repr) -> Vec<u8> {
    let mut frame = Vec::new();
    ethernet::Repr { dst: packet.target_mac, src: packet.sender_mac, ethertype: ethernet::ARP }.emit(&mut frame);
    packet.emit(&mut frame);
    frame
}

/// An ICMP echo request from the UE without a payload. Checksums are right.
fn ipv4_packet() -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 28, 0, 1, 0, 0, 64, 1, 0, 0];
    packet.extend(UE.octets());
    packet.extend([192, 0, 2, 9]);
    let sum = wire::checksum::finish(wire::checksum::sum(&packet));
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet.extend([8, 0, 0xf7, 0xfd, 0, 1, 0, 1]);
    packet
}

fn ethernet_frame() -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    frame.extend(ipv4_packet());
    frame
}

/// A step of the RLC and PDCP targets: receive a PDU.
fn receive(pdu: &[u8]) -> Vec<u8> {
    [&[0, pdu.len() as u8], pdu].concat()
}

/// First the mode, then steps: 1 takes an SDU, 2 grants bytes, 3 lets ms pass.
fn rlc_seeds() -> Seeds {
    use gnb::rlc::SnLength;
    use gnb::rlc::pdu::{Amd, Si, UmSnLength, Umd};
    let am = |si, sn, so, poll, len: usize| {
        let mut pdu = Vec::new();
        Amd { poll, si, sn, so, data: &vec![7; len] }.emit(SnLength::Bits12, &mut pdu);
        receive(&pdu)
    };
    let am_18 = |si, sn, so, len: usize| {
        let mut pdu = Vec::new();
        Amd { poll: true, si, sn, so, data: &vec![7; len] }.emit(SnLength::Bits18, &mut pdu);
        receive(&pdu)
    };
    let um = |si, sn, so, len: usize| {
        let mut pdu = Vec::new();
        Umd { si, sn, so, data: &vec![7; len] }.emit(UmSnLength::Bits6, &mut pdu);
        receive(&pdu)
    };
    let status = |ack, nacks: &[buffer::status::Nack]| {
        let mut pdu = Vec::new();
        buffer::status::emit(SnLength::Bits12, ack, nacks, &mut pdu);
        receive(&pdu)
    };
    let nack = |sn, range, segment| buffer::status::Nack { sn, range, segment };
    let sent = |sdus: usize| [[1, 0].repeat(sdus), [2, 255].repeat(sdus)].concat();
    vec![
        ("am_gap", [vec![0], am(Si::Whole, 0, 0, false, 9), am(Si::Whole, 3, 0, true, 9), vec![3, 40, 2, 50]].concat()),
        (
            "am_segments",
            [vec![1], am_18(Si::Last, 0, 20, 9), am_18(Si::First, 0, 0, 10), vec![3, 40, 2, 20], am_18(Si::Middle, 0, 10, 10), vec![2, 9]]
                .concat(),
        ),
        (
            "am_status",
            [
                vec![0],
                sent(9),
                status(8, &[nack(1, 2, None), nack(4, 1, Some((0, 1))), nack(4, 1, Some((3, 0xffff)))]),
                [2, 6].repeat(8),
                status(9, &[]),
            ]
            .concat(),
        ),
        (
            "am_under_segmentation",
            [vec![0], sent(3), vec![1, 0, 2, 4], status(4, &[nack(3, 1, Some((1, 0xffff)))]), vec![2, 9, 3, 50, 2, 9]].concat(),
        ),
        ("am_polls_in_vain", [vec![0], sent(2), [3, 45, 2, 200].repeat(6)].concat()),
        ("um_loss", [vec![2], um(Si::First, 0, 0, 5), um(Si::First, 1, 0, 5), um(Si::Last, 1, 5, 5), vec![3, 35]].concat()),
        ("um_window", [vec![2], um(Si::First, 0, 0, 5), um(Si::Middle, 40, 9, 5), um(Si::Last, 9, 3, 5)].concat()),
        ("um_sends", [vec![3], [1, 90].repeat(3), [2, 40].repeat(12)].concat()),
    ]
}

/// First the bearer's flags, then steps: 1 takes an SDU, 2 sends, 3 lets ms pass, 4 reports, 5 re-establishes or recovers data.
fn pdcp_seeds() -> Seeds {
    use gnb::pdcp::pdu::{Format, StatusReport};
    use gnb::pdcp::{Kind, SnLength};
    let format = |sn_length| Format { kind: Kind::Drb, sn_length, integrity: false, sdap_header: false };
    let data = |sn_length, sn| {
        let mut pdu = Vec::new();
        format(sn_length).emit(sn, b"packet", &mut pdu);
        receive(&pdu)
    };
    let short = |sn| data(SnLength::Bits12, sn);
    let report = |fmc, there: &[u32]| {
        let mut pdu = Vec::new();
        StatusReport::emit(fmc, there.last().copied().unwrap_or(0), |offset| there.contains(&offset), &mut pdu);
        receive(&pdu)
    };
    let sent = |sdus: usize| [[1, 20].repeat(sdus), [2, 0].repeat(sdus)].concat();
    vec![
        ("reordering", [vec![0b0100_1000], short(0), short(3), short(1), vec![3, 25], short(2), short(7), vec![4, 0]].concat()),
        ("beyond_the_window", [vec![0], short(5), short(500), short(499), short(2500)].concat()),
        ("long_numbers", [vec![1], data(SnLength::Bits18, 0), data(SnLength::Bits18, 0x1_0000), data(SnLength::Bits18, 0x3_0000)].concat()),
        ("reports", [vec![0b1000], sent(9), report(2, &[1, 5]), report(9, &[]), report(10, &[]), vec![4, 8]].concat()),
        ("re_established", [vec![0b1000], sent(5), short(1), vec![4, 0, 5, 0], [2, 0].repeat(6), vec![5, 9], [2, 0].repeat(6)].concat()),
        ("um_re_established", [vec![0], sent(2), short(1), vec![5, 0], short(0)].concat()),
        ("discard", [vec![0b0010_1000], sent(3), [1, 20].repeat(3), vec![3, 40, 2, 0]].concat()),
        ("count_ends", [vec![0b1_0100], [1, 1, 2, 0].repeat(45), short(39), short(40)].concat()),
    ]
}

/// Steps: bearer, length, PDU.
fn sdap_seeds() -> Seeds {
    vec![
        ("reflected", vec![1, 2, 0x80 | 5, 0x45, 2, 2, 0x85, 0x45, 1, 2, 0xc0 | 5, 0x45]),
        ("end_marker", vec![1, 1, 9, 2, 1, 0x3f]),
        ("without_headers", vec![3, 1, 0x45, 4, 2, 0x87, 0x45, 4, 2, 0x89, 0x45, 5, 1, 0]),
    ]
}

/// Content of a container: without the header's length and next type.
fn nru_seeds() -> Seeds {
    use gnb::nru::{Block, DeliveryStatus, Frame, UserData};
    let content = |frame: Frame| {
        let mut out = Vec::new();
        frame.emit(0, &mut out);
        out[1..out.len() - 1].to_vec()
    };
    let discard = vec![Block { start: 5, many: 2 }, Block { start: 70_001, many: 9 }];
    let data = UserData { sn: 7, report_polling: true, flush: Some(3), discard, report_delivered: Some(9), ..UserData::default() };
    let status = DeliveryStatus {
        desired_buffer: 100_000,
        desired_rate: Some(1),
        lost: vec![(1, 2), (5, 5)],
        highest_delivered: Some(3),
        highest_transmitted: Some(4),
        cause: Some(1),
        delivered_retransmitted: Some(5),
        retransmitted: Some(6),
        delivered_ranges: vec![(9, 12)],
        ..DeliveryStatus::default()
    };
    vec![("user_data", content(Frame::UserData(data))), ("delivery_status", content(Frame::DeliveryStatus(status)))]
}
