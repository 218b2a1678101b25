//! Octets written by hand from the clauses, round trips of every element, and octets that are wrong.

use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::*;
use crate::rules::RuleId;

/// Encodes and decodes, and checks that nothing changed.
fn round_trip(message: &Message) -> Vec<u8> {
    let octets = message.encode().unwrap();
    assert_eq!(decode(&octets).as_ref(), Ok(message));
    octets
}

fn element(ie: Ie) -> Vec<u8> {
    let octets = round_trip(&Message::node(MessageType::HeartbeatRequest, 1, vec![ie]));
    octets[8..].to_vec()
}

#[test]
fn a_heartbeat_as_on_the_wire() {
    let message = Message::node(MessageType::HeartbeatRequest, 0x010203, vec![Ie::RecoveryTimeStamp(0xe000_0001)]);
    assert_eq!(round_trip(&message), [0x20, 1, 0, 12, 1, 2, 3, 0, 0, 96, 0, 4, 0xe0, 0, 0, 1]);
}

#[test]
fn a_session_header_with_priority() {
    let mut message = Message::session(MessageType::SessionDeletionRequest, 0x1122, 7, vec![]);
    message.priority = Some(3);
    assert_eq!(round_trip(&message), [0x23, 54, 0, 12, 0, 0, 0, 0, 0, 0, 0x11, 0x22, 0, 0, 7, 0x30]);
}

#[test]
fn elements_as_on_the_wire() {
    let ten = Ipv4Addr::new(10, 0, 0, 1);
    let v6 = Ipv6Addr::LOCALHOST;
    // F-SEID has V6 in the lower bit, F-TEID has V4 there.
    assert_eq!(element(Ie::FSeid(FSeid { seid: 5, ipv4: Some(ten), ipv6: None })), [0, 57, 0, 13, 2, 0, 0, 0, 0, 0, 0, 0, 5, 10, 0, 0, 1]);
    assert_eq!(element(Ie::FTeid(FTeid::Given { teid: 9, ipv4: Some(ten), ipv6: None })), [0, 21, 0, 9, 1, 0, 0, 0, 9, 10, 0, 0, 1]);
    assert_eq!(element(Ie::FTeid(FTeid::Choose { ipv4: true, ipv6: false, choose_id: Some(5) })), [0, 21, 0, 2, 0x0d, 5]);
    let ue = UeIpAddress { ipv4: Some(ten), destination: true, ..UeIpAddress::default() };
    assert_eq!(element(Ie::UeIpAddress(ue)), [0, 93, 0, 5, 6, 10, 0, 0, 1]);
    assert_eq!(element(Ie::OuterHeaderCreation(OuterHeaderCreation::gtpu_ipv4(9, ten))), [0, 84, 0, 10, 1, 0, 0, 0, 0, 9, 10, 0, 0, 1]);
    assert_eq!(element(Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP)), [0, 44, 0, 1, 0x0c]);
    assert_eq!(element(Ie::GateStatus(GateStatus { uplink_open: false, downlink_open: true })), [0, 25, 0, 1, 4]);
    assert_eq!(element(Ie::Mbr(BitRates { uplink_kbps: 1, downlink_kbps: 0x01_0000_0000 })), [0, 26, 0, 10, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0]);
    assert_eq!(element(Ie::NetworkInstance(Name::Labels("a.bc".into()))), [0, 22, 0, 5, 1, b'a', 2, b'b', b'c']);
    assert_eq!(element(Ie::NetworkInstance(Name::Text("a.bc".into()))), [0, 22, 0, 4, b'a', b'.', b'b', b'c']);
    assert_eq!(element(Ie::NodeId(NodeId::Fqdn("upf".into()))), [0, 60, 0, 5, 2, 3, b'u', b'p', b'f']);
    assert_eq!(element(Ie::NodeId(NodeId::Ipv6(v6)))[..5], [0, 60, 0, 17, 1]);
    assert_eq!(element(Ie::FailedRuleId(FailedRuleId(RuleId::Pdr(2)))), [0, 114, 0, 3, 0, 0, 2]);
    assert_eq!(element(Ie::FailedRuleId(FailedRuleId(RuleId::Bar(2)))), [0, 114, 0, 2, 4, 2]);
    assert_eq!(element(Ie::ReportingTriggers(Triggers(0x0001_0102))), [0, 37, 0, 3, 2, 1, 1]);
    assert_eq!(element(Ie::UpFunctionFeatures(UpFeatures::FTUP.and(UpFeatures::UEIP))), [0, 43, 0, 4, 0x10, 0, 4, 0]);
    assert_eq!(element(Ie::SNssai(SNssai { sst: 1, sd: 0xffffff })), [1, 1, 0, 4, 1, 0xff, 0xff, 0xff]);
    let filter = SdfFilter { flow_description: Some("ab".into()), tos: Some((1, 2)), filter_id: Some(3), ..SdfFilter::default() };
    assert_eq!(element(Ie::SdfFilter(filter)), [0, 23, 0, 12, 0x13, 0, 0, 2, b'a', b'b', 1, 2, 0, 0, 0, 3]);
}

#[test]
fn elements_that_have_many_shapes_survive_a_round_trip() {
    let (v4, v6) = (Some(Ipv4Addr::new(192, 0, 2, 1)), Some("2001:db8::1".parse().unwrap()));
    let volume = Volume { total: Some(1), uplink: None, downlink: Some(3) };
    for ie in [
        Ie::FTeid(FTeid::Given { teid: 1, ipv4: v4, ipv6: v6 }),
        Ie::FSeid(FSeid { seid: u64::MAX, ipv4: v4, ipv6: v6 }),
        Ie::UeIpAddress(UeIpAddress { ipv4: v4, ipv6: v6, prefix_length: Some(56), delegation_bits: Some(8), ..Default::default() }),
        Ie::UeIpAddress(UeIpAddress { choose_ipv4: true, choose_ipv6: true, ..Default::default() }),
        Ie::SdfFilter(SdfFilter { spi: Some(7), flow_label: Some(0xf_ffff), ..Default::default() }),
        Ie::VolumeThreshold(volume),
        Ie::VolumeMeasurement(VolumeMeasurement { bytes: volume, packets: volume }),
        Ie::OuterHeaderRemoval(OuterHeaderRemoval { description: 6, extension_deletion: Some(1) }),
        Ie::OuterHeaderCreation(OuterHeaderCreation { description: 0x0800, ipv6: v6, port: Some(53), ..Default::default() }),
        Ie::DlBufferingSuggestedPacketCount(PacketCount(300)),
        Ie::UserPlaneIpResourceInformation(UserPlaneIpResource {
            teid_range: Some((3, 5)),
            ipv4: v4,
            ipv6: v6,
            source_interface: Some(1),
            network_instance: Some(Name::Labels("internet".into())),
        }),
        Ie::Unknown { ie_type: 0x8123, octets: vec![0, 10, 1, 2] },
        Ie::CreatePdr(vec![Ie::PdrId(1), Ie::Pdi(vec![Ie::SourceInterface(0)])]),
    ] {
        element(ie);
    }
}

#[test]
fn types_and_answers() {
    for number in 0..=255 {
        assert_eq!(MessageType::from(number).number(), number);
    }
    assert_eq!(MessageType::SessionReportRequest.response(), Some(MessageType::SessionReportResponse));
    assert_eq!(MessageType::NodeReportRequest.response(), Some(MessageType::NodeReportResponse));
    for response in [2, 4, 6, 8, 10, 11, 13, 15, 17, 51, 53, 55, 57, 18, 200] {
        assert!(!MessageType::from(response).is_request(), "{response}");
    }
}

#[test]
fn frames_that_are_wrong() {
    let good = Message::node(MessageType::HeartbeatRequest, 1, vec![Ie::RecoveryTimeStamp(1)]).encode().unwrap();
    assert_eq!(decode(&[]), Err(DecodeError::TooShort(0)));
    assert_eq!(decode(&good[..7]), Err(DecodeError::TooShort(7)));
    assert_eq!(decode(&good[..15]), Err(DecodeError::Length { said: 16, have: 15 }));
    assert_eq!(decode(&[&good[..], &[0]].concat()), Err(DecodeError::Length { said: 16, have: 17 }));
    let mut other = good.clone();
    other[0] = 0x40;
    assert_eq!(decode(&other), Err(DecodeError::Version { version: 2, kind: 1, sequence: 1 }));
    let mut short = good;
    short[2..4].copy_from_slice(&[0, 3]);
    assert!(matches!(decode(&short), Err(DecodeError::Length { said: 7, .. })));
}

#[test]
fn an_element_that_is_wrong_keeps_its_place() {
    let octets = |ies: &[u8]| [&[0x20, 1, 0, 4 + ies.len() as u8, 0, 0, 1, 0], ies].concat();
    // A Recovery Time Stamp of 3 octets, then a good one.
    let message = decode(&octets(&[0, 96, 0, 3, 1, 2, 3, 0, 96, 0, 4, 0, 0, 0, 1])).unwrap();
    let wrong = Ie::Invalid { ie_type: 96, flaw: Flaw::Length, octets: vec![1, 2, 3] };
    assert_eq!(message.ies, [wrong, Ie::RecoveryTimeStamp(1)]);
    // One that is cut off, inside a group.
    let message = decode(&octets(&[0, 1, 0, 6, 0, 56, 0, 9, 0, 1])).unwrap();
    let Ie::CreatePdr(inside) = &message.ies[0] else { panic!("{message:?}") };
    assert!(matches!(inside[..], [Ie::Invalid { ie_type: 56, flaw: Flaw::Length, .. }]));
    // An unknown one of no octets is nothing wrong.
    let message = decode(&octets(&[3, 231, 0, 0])).unwrap();
    assert_eq!(message.ies, [Ie::Unknown { ie_type: 999, octets: vec![] }]);
    // Neither an IPv4 nor an IPv6 address.
    let message = decode(&octets(&[0, 57, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 1])).unwrap();
    assert!(matches!(message.ies[..], [Ie::Invalid { ie_type: 57, flaw: Flaw::Value, .. }]));
}

#[test]
fn groups_nest_only_so_deep() {
    let mut octets = Vec::new();
    for _ in 0..2000 {
        let length = (octets.len() as u16).to_be_bytes();
        octets = [&[0, 1], &length[..], &octets].concat();
    }
    let length = ((octets.len() + 4) as u16).to_be_bytes();
    let message = decode(&[&[0x20, 1], &length[..], &[0, 0, 1, 0], &octets].concat()).unwrap();
    let mut depth = 0;
    let mut ies = &message.ies[..];
    while let [ie] = ies {
        depth += 1;
        ies = ie.children();
    }
    assert_eq!(depth, MAX_DEPTH + 1);
}

#[test]
fn an_element_too_long_to_encode_is_an_error() {
    let ies = vec![Ie::UserId(vec![0; 65_536])];
    assert_eq!(Message::node(MessageType::HeartbeatRequest, 1, ies).encode(), Err(TooLong));
    let ies = vec![Ie::SdfFilter(SdfFilter { flow_description: Some("x".repeat(70_000)), ..Default::default() })];
    assert_eq!(Message::node(MessageType::HeartbeatRequest, 1, ies).encode(), Err(TooLong));
}

proptest! {
    #[test]
    fn any_octets_are_safe(octets in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(&octets);
    }

    /// What was decoded once encodes to what decodes to the same.
    #[test]
    fn any_elements_are_stable(kind in 0u16..300, body in prop::collection::vec(any::<u8>(), 0..60)) {
        let length = (body.len() as u16).to_be_bytes();
        let ies = [&kind.to_be_bytes()[..], &length, &body].concat();
        let length = ((ies.len() + 4) as u16).to_be_bytes();
        let message = decode(&[&[0x20, 1], &length[..], &[0, 0, 1, 0], &ies].concat()).unwrap();
        let again = decode(&message.encode().unwrap()).unwrap();
        let third = decode(&again.encode().unwrap()).unwrap();
        prop_assert_eq!(again, third);
    }
}
