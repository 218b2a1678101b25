//! Which sessions does the UPF get, and what is asked of it?

use super::template::{Subject, Template};
use crate::Error;
use pfcp::codec::{FSeid, Ie, Message, MessageType, NodeId};
use serde::Serialize;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use traffic::plan::rules::{self, Bearings};
use traffic::plan::{Address, SessionPlan, Shape};
use traffic::record::Tunnel;

/// Sessions, at most.
pub const MOST_SESSIONS: u32 = 16_000_000;

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Session Establishment Request (TS 29.244 §7.5.2).
    Establish,
    /// Session Modification Request (§7.5.4).
    Modify,
    /// Session Deletion Request (§7.5.6).
    Delete,
}

impl Kind {
    /// All, in the order of a session's life.
    pub const ALL: [Kind; 3] = [Kind::Establish, Kind::Modify, Kind::Delete];

    /// The name for people and programs.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Establish => "establish",
            Kind::Modify => "modify",
            Kind::Delete => "delete",
        }
    }

    pub(crate) fn answer(self) -> MessageType {
        match self {
            Kind::Establish => MessageType::SessionEstablishmentResponse,
            Kind::Modify => MessageType::SessionModificationResponse,
            Kind::Delete => MessageType::SessionDeletionResponse,
        }
    }
}

/// What a modification does to its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modification {
    /// The downlink goes to another tunnel, there and back.
    Handover,
    /// The UE goes idle (BUFF, NOCP), and is active again.
    Idle,
}

impl FromStr for Modification {
    type Err = String;

    fn from_str(text: &str) -> Result<Modification, String> {
        match text {
            "handover" => Ok(Modification::Handover),
            "idle" => Ok(Modification::Idle),
            _ => Err("expected handover or idle".into()),
        }
    }
}

/// Parts of the requests that are of each [`Kind`], drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix([u32; 3]);

impl Mix {
    /// The kind that a number stands for, if numbers are drawn evenly from all of `u32`.
    pub(crate) fn kind(&self, random: u32) -> Kind {
        let all: u64 = self.0.iter().map(|part| u64::from(*part)).sum();
        let mut at = (u64::from(random) * all) >> 32;
        for (kind, part) in Kind::ALL.into_iter().zip(self.0) {
            match at.checked_sub(part.into()) {
                Some(behind) => at = behind,
                None => return kind,
            }
        }
        Kind::Modify
    }

    /// The part of a kind.
    pub fn part(&self, kind: Kind) -> u32 {
        self.0[kind as usize]
    }
}

impl FromStr for Mix {
    type Err = String;

    /// As `establish=1,modify=8,delete=1`.
    fn from_str(text: &str) -> Result<Mix, String> {
        const EXPECTED: &str = "expected parts, such as establish=1,modify=8,delete=1";
        let mut parts = [0; 3];
        for part in text.split(',') {
            let (name, number) = part.split_once('=').ok_or(EXPECTED)?;
            let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or(EXPECTED)?;
            let number = number.parse().ok().filter(|number| (1..=1_000_000).contains(number)).ok_or(EXPECTED)?;
            if std::mem::replace(&mut parts[kind as usize], number) != 0 {
                return Err(format!("{name} is there twice"));
            }
        }
        Ok(Mix(parts))
    }
}

/// The sessions: the first one, from which addresses and numbers count on.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Manner of asking.
    pub shape: Shape,
    /// DNN, and network instance of the core side.
    pub dnn: String,
    /// Network instance of the access side, if it is said.
    pub access: Option<String>,
    /// The gNodeB's address, where downlink tunnels end.
    pub gnb: Ipv4Addr,
    /// The first downlink TEID.
    pub gnb_teid: u32,
    /// The UPF's N3 address and the first uplink TEID, where we choose it.
    pub uplink: Option<Tunnel>,
    /// The first UE's address.
    pub ue: Ipv4Addr,
    /// Our node, as the UPF knows it.
    pub node: IpAddr,
}

/// A request of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request {
    Establish,
    /// The downlink goes to the subject's tunnel.
    Activate,
    Idle,
    Delete,
}

/// The requests of all sessions.
pub(crate) struct Templates {
    pub(crate) establish: Template,
    /// By turns.
    pub(crate) modify: [Template; 2],
    pub(crate) delete: Template,
}

impl Plan {
    /// Whether there are addresses and TEIDs for so many sessions, and twice as many downlink TEIDs.
    ///
    /// # Errors
    /// [`Error::Usage`] names the option.
    pub fn validate(&self, sessions: u32) -> Result<(), Error> {
        let wrong = |text: String| Err(Error::Usage(text));
        if self.shape == Shape::Free5gc && self.uplink.is_none() {
            return wrong("--upf-n3: an SMF of this shape chooses TEIDs, and needs the UPF's N3 address".into());
        }
        if u32::from(self.ue).checked_add(sessions).is_none() {
            return wrong(format!("--ue {}: behind it are not so many addresses as there may be sessions ({sessions})", self.ue));
        }
        let enough = |first: u32, count: u32| first > 0 && first.checked_add(count).is_some();
        if !enough(self.gnb_teid, sessions.saturating_mul(2)) {
            return wrong(format!("--gnb-teid {}: TEIDs are 1 to 4294967295, two for each of {sessions} sessions", self.gnb_teid));
        }
        match self.uplink {
            Some(Tunnel { teid, .. }) if !enough(teid, sessions) => {
                wrong(format!("--teid {teid}: TEIDs are 1 to 4294967295, one for each of {sessions} sessions"))
            }
            _ => self.session(&self.subject(0, sessions, 0)).validate().map_err(|fault| Error::Usage(fault.to_string())),
        }
    }

    /// Session `n`, of `most`. `turn`: how often it was modified.
    pub(crate) fn subject(&self, n: u32, most: u32, turn: u32) -> Subject {
        let there_or_back = if turn % 2 == 1 { most } else { 0 };
        Subject {
            cp_seid: cp_seid(n),
            ue: Ipv4Addr::from(u32::from(self.ue).wrapping_add(n)),
            teid: self.uplink.map_or(0, |uplink| uplink.teid.wrapping_add(n)),
            gnb_teid: self.gnb_teid.wrapping_add(n).wrapping_add(there_or_back),
        }
    }

    pub(crate) fn templates(&self, modification: Modification) -> Result<Templates, Error> {
        let of = |request| Template::of(|subject| self.message(request, subject));
        let first = match modification {
            Modification::Handover => Request::Activate,
            Modification::Idle => Request::Idle,
        };
        Ok(Templates { establish: of(Request::Establish)?, modify: [of(first)?, of(Request::Activate)?], delete: of(Request::Delete)? })
    }

    /// A session's request, without the UPF's SEID and a sequence number.
    pub(crate) fn message(&self, request: Request, subject: &Subject) -> Message {
        let session = self.session(subject);
        let (kind, ies) = match request {
            Request::Establish => {
                let (ipv4, ipv6) = match self.node {
                    IpAddr::V4(ip) => (Some(ip), None),
                    IpAddr::V6(ip) => (None, Some(ip)),
                };
                let mut ies = vec![Ie::NodeId(node_id(self.node)), Ie::FSeid(FSeid { seid: subject.cp_seid, ipv4, ipv6 })];
                ies.extend(rules::establish(&session, Bearings { n4u: None, count_packets: false }));
                (MessageType::SessionEstablishmentRequest, ies)
            }
            Request::Activate => (MessageType::SessionModificationRequest, rules::active(&session, session.gnb)),
            Request::Idle => (MessageType::SessionModificationRequest, rules::idle()),
            Request::Delete => (MessageType::SessionDeletionRequest, Vec::new()),
        };
        // As SMFs of that shape write it.
        let priority = (self.shape == Shape::Free5gc).then_some(0);
        Message { priority, ..Message::session(kind, 0, 0, ies) }
    }

    fn session(&self, subject: &Subject) -> SessionPlan {
        let mut plan = SessionPlan::new(self.shape, Tunnel { addr: self.gnb, teid: subject.gnb_teid });
        plan.ue_ipv4 = Address::Given(subject.ue);
        plan.uplink = self.uplink.map(|uplink| Tunnel { teid: subject.teid, ..uplink });
        (plan.names.core, plan.names.access) = (self.dnn.clone(), self.access.clone());
        plan
    }

    /// For tests.
    #[cfg(test)]
    pub(crate) fn example() -> Plan {
        Plan {
            shape: Shape::Simple,
            dnn: "internet".into(),
            access: Some("access".into()),
            gnb: Ipv4Addr::new(10, 3, 0, 2),
            gnb_teid: 1,
            uplink: Some(Tunnel { addr: Ipv4Addr::new(10, 3, 0, 1), teid: 1 }),
            ue: Ipv4Addr::new(10, 45, 0, 2),
            node: Ipv4Addr::LOCALHOST.into(),
        }
    }
}

/// Our SEID of a session.
pub(crate) fn cp_seid(n: u32) -> u64 {
    u64::from(n) + 1
}

pub(crate) fn node_id(address: IpAddr) -> NodeId {
    match address {
        IpAddr::V4(ip) => NodeId::Ipv4(ip),
        IpAddr::V6(ip) => NodeId::Ipv6(ip),
    }
}

/// Where we are and where the UPF is.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// Our N4 socket; an unspecified address: the one by which the UPF is reached.
    pub local: SocketAddr,
    /// The UPF's.
    pub upf: SocketAddr,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_drawn_by_their_parts() {
        let mix: Mix = "establish=1,modify=8,delete=1".parse().unwrap();
        let drawn = |kind| (0..1000u32).filter(|n| mix.kind(n * (u32::MAX / 1000)) == kind).count();
        assert_eq!(Kind::ALL.map(drawn).map(|count| (count + 50) / 100), [1, 8, 1]);
        assert_eq!((mix.kind(u32::MAX), "delete=3".parse::<Mix>().unwrap().kind(0)), (Kind::Delete, Kind::Delete));
        for wrong in ["", "modify", "modify=0", "modify=1,modify=2", "modify=1,", "call=1", "modify=-1", "modify=1000001"] {
            assert!(wrong.parse::<Mix>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_plan_has_numbers_for_all_its_sessions() {
        let plan = Plan::example();
        plan.validate(MOST_SESSIONS).unwrap();
        let refused = |plan: &Plan, sessions| plan.validate(sessions).unwrap_err().to_string();
        assert!(refused(&Plan { ue: Ipv4Addr::new(255, 255, 255, 250), ..plan.clone() }, 6).contains("--ue"));
        assert!(refused(&Plan { gnb_teid: 0, ..plan.clone() }, 1).contains("--gnb-teid"));
        assert!(refused(&Plan { gnb_teid: u32::MAX - 19, ..plan.clone() }, 10).contains("--gnb-teid"));
        let uplink = plan.uplink.map(|uplink| Tunnel { teid: 0, ..uplink });
        assert!(refused(&Plan { uplink, ..plan.clone() }, 1).contains("--teid"));
        assert!(refused(&Plan { uplink: None, shape: Shape::Free5gc, ..plan.clone() }, 1).contains("--upf-n3"));
        // A handover goes to a tunnel that no other session has.
        let (there, back) = (plan.subject(9, 10, 1), plan.subject(9, 10, 2));
        assert_eq!((there.gnb_teid, back.gnb_teid, back.cp_seid, back.ue), (20, 10, 10, Ipv4Addr::new(10, 45, 0, 11)));
    }
}
