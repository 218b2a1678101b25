//! Is each element and each flag that `docs/n4.md` calls refused refused so, and nothing changed by it? Sent where the clause has it.

mod common;

use common::*;
use pfcp::codec::fate::{self, Fate};
use pfcp::codec::{self, Cause, ELEMENTS, Group, Ie, Message, MessageType, find};

/// Where a clause has an element.
#[derive(Clone, Copy, Debug)]
enum Place {
    Pfd,
    Setup,
    Establishment,
    Modification,
    CreatePdr,
    Pdi,
    CreateFar,
    Forwarding,
    UpdateFar,
    UpdateForwarding,
    CreateUrr,
    CreateQer,
    /// In this other element, which is refused itself.
    In(u16),
}

use Place::*;

/// Tables 7.4.3.1-1 to 7.5.4.1-1 and those of the groups in them.
const PLACES: &[(u16, Place)] = &[
    (5, CreateFar),
    (24, Pdi),
    (28, CreateQer),
    (38, Forwarding),
    (41, Forwarding),
    (58, Pfd),
    (59, In(58)),
    (61, In(59)),
    (72, CreateUrr),
    (94, CreateQer),
    (97, CreateQer),
    (98, Forwarding),
    (105, UpdateFar),
    (106, CreatePdr),
    (107, Modification),
    (115, CreateUrr),
    (118, CreateUrr),
    (119, In(118)),
    (120, In(118)),
    (127, Establishment),
    (129, Modification),
    (130, Modification),
    (131, Pdi),
    (132, Pdi),
    (133, In(132)),
    (134, In(132)),
    (135, In(132)),
    (136, In(132)),
    (137, Forwarding),
    (138, In(132)),
    (139, In(132)),
    (142, Pdi),
    (146, CreateUrr),
    (147, CreateUrr),
    (152, Establishment),
    (153, Pdi),
    (154, Pdi),
    (155, Pdi),
    (157, CreateQer),
    (158, CreateQer),
    (162, Setup),
    (163, CreatePdr),
    (164, CreatePdr),
    (165, Establishment),
    (166, In(165)),
    (167, In(165)),
    (168, Modification),
    (169, Modification),
    (170, CreatePdr),
    (171, In(165)),
    (172, In(165)),
    (173, In(166)),
    (174, In(166)),
    (175, In(169)),
    (176, In(169)),
    (177, CreatePdr),
    (179, CreatePdr),
    (182, CreateUrr),
    (188, CreatePdr),
    (191, In(188)),
    (194, Establishment),
    (198, In(194)),
    (199, Modification),
    (202, In(199)),
    (203, Setup),
    (204, In(203)),
    (206, In(203)),
    (207, In(203)),
    (208, In(203)),
    (211, Modification),
    (212, Establishment),
    (213, Modification),
    (215, In(212)),
    (216, In(212)),
    (217, In(216)),
    (220, Establishment),
    (221, In(220)),
    (222, In(220)),
    (223, In(220)),
    (224, In(220)),
    (232, Forwarding),
    (237, In(238)),
    (238, Setup),
    (241, In(238)),
    (242, In(212)),
    (243, In(242)),
    (244, In(242)),
    (245, In(242)),
    (246, In(242)),
    (249, CreateUrr),
    (250, CreateUrr),
    (251, CreateQer),
    (254, Modification),
    (255, Pdi),
    (260, UpdateFar),
    (261, Establishment),
    (262, In(261)),
    (263, Modification),
    (265, CreatePdr),
    (266, In(199)),
    (270, Forwarding),
    (271, CreatePdr),
    (276, Establishment),
    (277, Establishment),
    (278, In(276)),
    (280, In(276)),
    (281, In(276)),
    (282, In(277)),
    (283, In(277)),
    (284, In(277)),
    (285, In(277)),
    (286, In(277)),
    (287, In(277)),
    (288, In(165)),
    (289, In(165)),
    (293, CreatePdr),
    (294, Pdi),
    (295, In(212)),
    (296, In(295)),
    (297, In(295)),
    (298, In(295)),
    (299, Establishment),
    (300, Establishment),
    (301, Forwarding),
    (302, CreateFar),
    (304, UpdateFar),
    (305, In(300)),
    (306, In(300)),
    (307, Establishment),
    (308, In(301)),
    (309, In(302)),
    (310, Establishment),
    (313, In(276)),
    (314, In(300)),
    (316, Establishment),
    (317, In(316)),
    (319, CreateQer),
];

fn far(rest: Group) -> Ie {
    let ies =
        vec![Ie::FarId(9), Ie::ApplyAction(codec::ApplyActionFlags::FORW), Ie::ForwardingParameters(vec![Ie::DestinationInterface(1)])];
    Ie::CreateFar([ies, rest].concat())
}

/// The request that has `ie` at a place.
fn request(place: Place, ie: Ie) -> (MessageType, Group) {
    let establishment = |more: Ie| (MessageType::SessionEstablishmentRequest, simple_session(0x200, 0x200, [10, 45, 0, 9], vec![more]));
    let modification = |more: Ie| (MessageType::SessionModificationRequest, vec![more]);
    match place {
        Pfd => (MessageType::PfdManagementRequest, vec![ie]),
        Setup => (MessageType::AssociationSetupRequest, [setup_ies(SMF_STARTED), vec![ie]].concat()),
        Establishment => establishment(ie),
        Modification => modification(ie),
        CreatePdr => modification(pdr(9, 0, vec![given(0x209)], 1, vec![ie])),
        Pdi => modification(pdr(9, 0, vec![given(0x209), ie], 1, vec![])),
        CreateFar => modification(far(vec![ie])),
        Forwarding => {
            let to = Ie::ForwardingParameters(vec![Ie::DestinationInterface(1), ie]);
            modification(Ie::CreateFar(vec![Ie::FarId(9), Ie::ApplyAction(codec::ApplyActionFlags::FORW), to]))
        }
        UpdateFar => modification(Ie::UpdateFar(vec![Ie::FarId(1), ie])),
        UpdateForwarding => modification(Ie::UpdateFar(vec![Ie::FarId(1), Ie::UpdateForwardingParameters(vec![ie])])),
        CreateUrr => modification(urr(9, 0x02, vec![ie])),
        CreateQer => {
            let gate = codec::GateStatus { uplink_open: true, downlink_open: true };
            modification(Ie::CreateQer(vec![Ie::QerId(9), Ie::GateStatus(gate), ie]))
        }
        In(outer) => request(placed(outer), element(outer, &ie)),
    }
}

fn placed(number: u16) -> Place {
    let place = PLACES.iter().find(|(this, _)| *this == number);
    place.unwrap_or_else(|| panic!("where does the clause have {number}?")).1
}

/// An element whose octets are another's.
fn element(number: u16, inside: &Ie) -> Ie {
    let message = Message::node(MessageType::HeartbeatRequest, 1, vec![inside.clone()]).encode().unwrap();
    Ie::Unknown { ie_type: number, octets: message[8..].to_vec() }
}

/// The outermost refused element around one.
fn refused_by(number: u16) -> u16 {
    if let In(outer) = placed(number) { refused_by(outer) } else { number }
}

/// All that a request could have changed.
fn state(bench: &Bench) -> String {
    let sessions: Vec<_> = bench.node.sessions().collect();
    let associations: Vec<_> = bench.node.associations().collect();
    let plane = &bench.plane;
    format!("{sessions:?} {associations:?} {} {:?} {} {:?}", bench.node.resources_in_use(), plane.sessions, plane.commits, plane.drops)
}

fn is_refused(fate: Fate) -> bool {
    matches!(fate, Fate::Refused | Fate::Inapplicable(_) | Fate::RuleRefused)
}

struct Walk {
    bench: Bench,
    seid: u64,
    /// By [`Place`], counted.
    rejected: usize,
}

impl Walk {
    fn new() -> Walk {
        let mut bench = Bench::new();
        let (seid, _) = bench.establish(simple_session(0x100, 0x100, [10, 45, 0, 2], vec![urr(1, 0x02, vec![])]));
        Walk { bench, seid, rejected: 0 }
    }

    /// Sends a request and gives what it was rejected with. Nothing has changed.
    fn reject(&mut self, (kind, ies): (MessageType, Group)) -> (Message, String) {
        let seid = match kind {
            MessageType::SessionModificationRequest => Some(self.seid),
            MessageType::SessionEstablishmentRequest => Some(0),
            _ => None,
        };
        let before = state(&self.bench);
        let what = format!("{kind:?} {ies:?}");
        let answer = self.bench.ask(kind, seid, ies);
        assert_eq!(state(&self.bench), before, "{what}");
        self.rejected += 1;
        (answer, what)
    }
}

#[test]
fn every_element_that_the_table_calls_refused_is_refused_as_it_says() {
    let mut walk = Walk::new();
    let rows: Vec<_> = ELEMENTS.iter().filter(|(_, _, fate)| is_refused(*fate)).collect();
    for (number, name, _) in &rows {
        // An empty element of no known number: for those that are read as groups.
        let octets = if *number == 131 { vec![1] } else { vec![3, 231, 0, 0] };
        let (answer, what) = walk.reject(request(placed(*number), Ie::Unknown { ie_type: *number, octets }));
        let offending = find!(answer.ies, OffendingIe).copied();
        // What is inside an element that is refused is refused with it.
        let outer = refused_by(*number);
        let of_rule = codec::fate(outer).unwrap().1 == Fate::RuleRefused;
        let (cause, expected) = match (of_rule, outer) {
            (true, 41) => (Cause::INVALID_FORWARDING_POLICY, None),
            (true, _) => (Cause::RULE_FAILURE, None),
            (false, outer) => (Cause::SERVICE_NOT_SUPPORTED, Some(outer)),
        };
        assert_eq!((answer.cause(), offending), (Some(cause), expected), "{name}: {what}");
        assert_eq!(find!(answer.ies, FailedRuleId).is_some(), of_rule, "{name}: {what}");
    }
    assert_eq!(walk.rejected, rows.len());
    assert_eq!(PLACES.len(), rows.len(), "a place for each, and no other");
    assert!(rows.len() > 120, "{}", rows.len());
}

#[test]
fn every_flag_that_the_table_calls_refused_is_refused_as_it_says() {
    let mut walk = Walk::new();
    let mut elements = 0;
    for (number, flags) in fate::FLAG_ELEMENTS {
        // An element that is refused as a whole is refused with the elements.
        if is_refused(codec::fate(*number).unwrap().1) {
            continue;
        }
        let refused: Vec<_> = flags.iter().filter(|flag| is_refused(flag.fate)).collect();
        elements += usize::from(!refused.is_empty());
        for flag in refused {
            let places: &[Place] = match number {
                37 | 62 | 100 => &[CreateUrr],
                44 => &[CreateFar],
                49 => &[Modification, UpdateForwarding],
                186 => &[Establishment],
                other => panic!("where does the clause have {other}?"),
            };
            for place in places {
                let octets: &[u8] = &(1u32 << flag.bit).to_le_bytes()[..usize::from(flags.len().div_ceil(8) as u8)];
                let ie = Ie::Unknown { ie_type: *number, octets: octets.to_vec() };
                let wanted = match (place, number) {
                    // Instead of the rule's own.
                    (CreateUrr, 37) => {
                        let ies = vec![Ie::UrrId(9), Ie::MeasurementMethod(3), ie];
                        (MessageType::SessionModificationRequest, vec![Ie::CreateUrr(ies)])
                    }
                    (CreateFar, _) => (MessageType::SessionModificationRequest, vec![Ie::CreateFar(vec![Ie::FarId(9), ie])]),
                    _ => request(*place, ie),
                };
                let (answer, what) = walk.reject(wanted);
                let of_rule = matches!(flag.fate, Fate::RuleRefused);
                let (cause, offending) = match of_rule {
                    true => (Cause::RULE_FAILURE, None),
                    false => (Cause::SERVICE_NOT_SUPPORTED, Some(*number)),
                };
                assert_eq!((answer.cause(), find!(answer.ies, OffendingIe).copied()), (Some(cause), offending), "{}: {what}", flag.name);
                assert_eq!(find!(answer.ies, FailedRuleId).is_some(), of_rule, "{}: {what}", flag.name);
            }
        }
    }
    // Reporting Triggers, Measurement Information, Apply Action, PFCPSEReq-Flags, PFCPSMReq-Flags.
    assert_eq!(elements, 5);
    assert!(walk.rejected > 20, "{}", walk.rejected);
}

/// The same requests without the element are accepted: it was that which was refused.
#[test]
fn without_the_element_the_same_requests_are_accepted() {
    let harmless = || Ie::Unknown { ie_type: 999, octets: vec![0; 4] };
    for place in
        [Setup, Establishment, Modification, CreatePdr, Pdi, CreateFar, Forwarding, UpdateFar, UpdateForwarding, CreateUrr, CreateQer]
    {
        let mut walk = Walk::new();
        let (kind, ies) = request(place, harmless());
        let seid = match kind {
            MessageType::SessionModificationRequest => Some(walk.seid),
            MessageType::SessionEstablishmentRequest => Some(0),
            _ => None,
        };
        let answer = walk.bench.ask(kind, seid, ies);
        assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED), "{place:?}: {answer:?}");
    }
}

/// Row 192: a Heartbeat Response has no cause, so nothing in the request can be refused.
#[test]
fn a_source_ip_address_in_a_heartbeat_is_skipped_and_the_answer_goes_where_the_request_came_from() {
    let mut walk = Walk::new();
    let before = state(&walk.bench);
    let source = Ie::Unknown { ie_type: 192, octets: vec![0x02, 203, 0, 113, 9] };
    let answer = walk.bench.ask(MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(SMF_STARTED), source]);
    assert_eq!(answer.ies, [Ie::RecoveryTimeStamp(UPF_STARTED)]);
    assert_eq!(state(&walk.bench), before);
}
