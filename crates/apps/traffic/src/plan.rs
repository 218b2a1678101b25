//! A session's plan, without PFCP: addresses, gNodeB, QoS, charging, and in the style of which SMF it is
//! requested. `rules` turns it into information elements.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::record::Tunnel;

pub mod rules;

/// The manner in which an SMF asks for a session: the rules that it makes and how it writes them. What SMFs in use were seen
/// to send; all three make sessions that carry the same packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Four PDRs (down, up, from and to the CP function), three FARs, URR, QER and BAR. The UPF chooses the TEIDs, one for
    /// PDRs of the same CHOOSE ID. Names as DNS labels. Downlink packets are buffered (BUFF, NOCP) until the gNodeB has answered.
    Open5gs,
    /// Two PDRs and FARs, each PDR with two URRs (threshold; period) and two QERs (session rate; flow). The SMF chooses the
    /// TEID. Names as plain text, message priority set, UE address in both PDRs.
    Free5gc,
    /// Two PDRs, two FARs, a URR, a QER. The UPF chooses the TEID. Downlink packets flow at once.
    Simple,
}

/// Not a [`Shape`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a shape: open5gs, free5gc or simple")]
pub struct NoShape(String);

impl FromStr for Shape {
    type Err = NoShape;

    fn from_str(text: &str) -> Result<Shape, NoShape> {
        match text.to_ascii_lowercase().as_str() {
            "open5gs" => Ok(Shape::Open5gs),
            "free5gc" => Ok(Shape::Free5gc),
            "simple" => Ok(Shape::Simple),
            _ => Err(NoShape(text.to_owned())),
        }
    }
}

/// Who chooses a UE's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Address<A> {
    /// The UE has none of this version.
    #[default]
    None,
    /// The SMF: this one. Of IPv6: a /64, host bits zero.
    Given(A),
    /// The UPF, from its pool (feature UEIP, TS 29.244 §5.21).
    ChosenByUpf,
}

/// What no SMF asks for; the text names the field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    /// The UE needs one.
    #[error("the session has neither an IPv4 nor an IPv6 address")]
    NoAddress,
    /// Each UE has a /64.
    #[error("{0} is not a /64: its lower half must be zero")]
    HostBits(Ipv6Addr),
    /// It is for path messages (TS 29.281 §5.1).
    #[error("TEID 0 is no tunnel")]
    TeidZero,
    /// The network instance of N6 has a name.
    #[error("names.core is empty")]
    NoCore,
    /// More than [`MAX_FLOWS`].
    #[error("{0} flows: at most {MAX_FLOWS}")]
    Flows(usize),
    /// Of one of the dedicated flows.
    #[error("flow {number}: {fault}")]
    Flow {
        /// Counted from 1.
        number: usize,
        /// What is wrong.
        fault: FlowFault,
    },
    /// Of the default flow.
    #[error(transparent)]
    Qos(#[from] QfiFault),
    /// It has 6 bits.
    #[error("dscp does not fit 6 bits")]
    Dscp,
}

/// What no flow has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowFault {
    /// It needs one.
    #[error("no filter")]
    NoFilter,
    /// It would match every packet.
    #[error("a filter of nothing")]
    EmptyFilter,
    /// Of a filter.
    #[error("a DSCP that does not fit 6 bits")]
    Dscp,
    /// The default flow's filters would be first.
    #[error("precedence {0} is not below {limit}", limit = rules::DEFAULT_PRECEDENCE)]
    Precedence(u32),
    /// Of its packets.
    #[error(transparent)]
    Qos(#[from] QfiFault),
}

/// A QFI that exceeds 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("QFI {0} does not fit 6 bits")]
pub struct QfiFault(u8);

/// A session to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionPlan {
    /// Manner of asking.
    pub shape: Shape,
    /// IPv4 address of the UE.
    pub ue_ipv4: Address<Ipv4Addr>,
    /// IPv6 prefix of the UE.
    pub ue_ipv6: Address<Ipv6Addr>,
    /// The gNodeB's end of the downlink tunnel.
    pub gnb: Tunnel,
    /// The UPF's end of the uplink tunnel, if the SMF chooses it.
    pub uplink: Option<Tunnel>,
    /// Downlink packets wait at first; `None`: as the shape has it.
    pub buffer_first: Option<bool>,
    /// Network instances.
    pub names: Names,
    /// Slice: service type, and differentiator if any.
    pub slice: Option<(u8, Option<u32>)>,
    /// QoS of packets that no flow takes.
    pub qos: Qos,
    /// DSCP of the outer header of downlink packets (Transport Level Marking, §8.2.12).
    pub dscp: Option<u8>,
    /// Dedicated QoS flows.
    pub flows: Vec<FlowPlan>,
    /// Usage reporting.
    pub charging: Charging,
    /// Buffering action rule; the shape may have one without.
    pub buffering: Buffering,
}

/// Network instances as both ends call them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Of the access side; `None`: not said.
    pub access: Option<String>,
    /// Of the core side, and the DNN.
    pub core: String,
    /// Of N4-U; `None`: not said.
    pub cp_function: Option<String>,
}

/// Quality of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Qos {
    /// QoS flow identifier, 6 bits; `None`: no PDU session container.
    pub qfi: Option<u8>,
    /// Maximum bit rate (uplink, downlink) in kbit/s.
    pub mbr_kbps: Option<(u64, u64)>,
    /// Guaranteed bit rate (uplink, downlink) in kbit/s.
    pub gbr_kbps: Option<(u64, u64)>,
    /// Gates (uplink, downlink) are closed.
    pub closed: (bool, bool),
}

/// A dedicated QoS flow: a pair of PDRs with filters before the session's own, and a QER.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowPlan {
    /// Packets that match any of these.
    pub filters: Vec<Filter>,
    /// What they get.
    pub qos: Qos,
    /// Lower is matched first; below 255, which the session's own PDRs have.
    pub precedence: u32,
}

/// A service data flow filter (§8.2.5).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Filter {
    /// IPFilterRule, "from" being the remote side: `permit out 17 from any 5001 to assigned`.
    pub flow: Option<String>,
    /// DSCP of the user's packet.
    pub dscp: Option<u8>,
}

/// Usage reporting of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Charging {
    /// A report each time this many bytes have passed (both directions).
    pub volume_threshold: Option<u64>,
    /// A report each so many seconds.
    pub period_s: Option<u32>,
    /// No packets after this many bytes, until a new quota.
    pub volume_quota: Option<u64>,
}

/// Buffering of an idle UE's packets (§5.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Buffering {
    /// Delay before a Downlink Data Report, in 50 ms steps.
    pub delay_50ms: Option<u8>,
    /// Suggested number of packets.
    pub packets: Option<u16>,
}

impl SessionPlan {
    /// A session with the shape's usual charging, QFI 9, network instance `internet` and no addresses yet.
    pub fn new(shape: Shape, gnb: Tunnel) -> SessionPlan {
        let charging = match shape {
            Shape::Open5gs => Charging { volume_threshold: Some(100 << 20), ..Charging::default() },
            Shape::Free5gc => Charging { volume_threshold: Some(100 << 20), period_s: Some(30), ..Charging::default() },
            Shape::Simple => Charging::default(),
        };
        SessionPlan {
            shape,
            ue_ipv4: Address::None,
            ue_ipv6: Address::None,
            gnb,
            uplink: None,
            buffer_first: None,
            names: Names { access: None, core: "internet".into(), cp_function: None },
            slice: None,
            qos: Qos { qfi: Some(9), ..Qos::default() },
            dscp: None,
            flows: Vec::new(),
            charging,
            buffering: Buffering::default(),
        }
    }

    /// This plan for UE `n`, counted from 0: addresses from the pool, the gNodeB's TEID `n` on from this one's. `None` if the
    /// pool or the TEIDs have not so many.
    pub fn nth(&self, pool: &Pool, n: u32) -> Option<SessionPlan> {
        let (ipv4, ipv6) = pool.nth(n)?;
        let mut plan = self.clone();
        plan.ue_ipv4 = ipv4.map_or(Address::None, Address::Given);
        plan.ue_ipv6 = ipv6.map_or(Address::None, Address::Given);
        plan.gnb.teid = self.gnb.teid.checked_add(n)?;
        Some(plan)
    }

    /// Whether downlink packets wait at first.
    pub fn buffers_first(&self) -> bool {
        self.buffer_first.unwrap_or(self.shape == Shape::Open5gs)
    }

    /// Checks what the types do not. The text names the field.
    pub fn validate(&self) -> Result<(), PlanFault> {
        if self.ue_ipv4 == Address::None && self.ue_ipv6 == Address::None {
            return Err(PlanFault::NoAddress);
        }
        if let Address::Given(prefix) = self.ue_ipv6
            && crate::record::prefix_64(prefix) != u128::from(prefix)
        {
            return Err(PlanFault::HostBits(prefix));
        }
        if self.gnb.teid == 0 || self.uplink.is_some_and(|uplink| uplink.teid == 0) {
            return Err(PlanFault::TeidZero);
        }
        if self.names.core.is_empty() {
            return Err(PlanFault::NoCore);
        }
        if self.flows.len() > MAX_FLOWS {
            return Err(PlanFault::Flows(self.flows.len()));
        }
        for (i, flow) in self.flows.iter().enumerate() {
            flow.validate().map_err(|fault| PlanFault::Flow { number: i + 1, fault })?;
        }
        self.qos.validate()?;
        if self.dscp.is_some_and(|dscp| dscp > 63) {
            return Err(PlanFault::Dscp);
        }
        Ok(())
    }
}

/// Dedicated flows of a session at most.
pub const MAX_FLOWS: usize = 60;

impl FlowPlan {
    fn validate(&self) -> Result<(), FlowFault> {
        if self.filters.is_empty() {
            return Err(FlowFault::NoFilter);
        }
        if self.filters.iter().any(|filter| filter.flow.is_none() && filter.dscp.is_none()) {
            return Err(FlowFault::EmptyFilter);
        }
        if self.filters.iter().any(|filter| filter.dscp.is_some_and(|dscp| dscp > 63)) {
            return Err(FlowFault::Dscp);
        }
        if self.precedence >= rules::DEFAULT_PRECEDENCE {
            return Err(FlowFault::Precedence(self.precedence));
        }
        Ok(self.qos.validate()?)
    }
}

impl Qos {
    fn validate(&self) -> Result<(), QfiFault> {
        match self.qfi {
            Some(qfi) if qfi > 63 => Err(QfiFault(qfi)),
            _ => Ok(()),
        }
    }
}

/// Pools that a row of sessions takes its addresses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// IPv4 network and prefix length. Its first two addresses (network, gateway) and its last are not assigned.
    pub ipv4: Option<(Ipv4Addr, u8)>,
    /// IPv6 network and prefix length, at most 64; each UE has a /64. The first is not assigned (gateway).
    pub ipv6: Option<(Ipv6Addr, u8)>,
}

/// Addresses that a pool gives to one UE.
pub type UeAddresses = (Option<Ipv4Addr>, Option<Ipv6Addr>);

impl Pool {
    /// Addresses of UE `n`, counted from 0. `None` if the pool has not so many.
    pub fn nth(&self, n: u32) -> Option<UeAddresses> {
        let ipv4 = match self.ipv4 {
            None => None,
            Some((network, length)) => {
                let last = u32::MAX.checked_shr(length.into()).unwrap_or(0);
                let host = n.checked_add(2).filter(|host| *host < last)?;
                Some(Ipv4Addr::from(u32::from(network) & !last | host))
            }
        };
        let ipv6 = match self.ipv6 {
            None => None,
            Some((network, length)) => {
                let subnets = u64::MAX.checked_shr(length.into()).unwrap_or(0);
                let subnet = u64::from(n) + 1;
                if subnet > subnets {
                    return None;
                }
                let upper = (u128::from(network) >> 64) as u64 & !subnets | subnet;
                Some(Ipv6Addr::from(u128::from(upper) << 64))
            }
        };
        Some((ipv4, ipv6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> SessionPlan {
        let gnb = Tunnel { addr: Ipv4Addr::new(10, 3, 0, 2), teid: 1 };
        SessionPlan { ue_ipv4: Address::Given(Ipv4Addr::new(10, 45, 0, 2)), ..SessionPlan::new(Shape::Simple, gnb) }
    }

    #[test]
    fn pools_count_on() {
        let pool = Pool { ipv4: Some((Ipv4Addr::new(10, 45, 0, 0), 16)), ipv6: Some(("2001:db8:45::".parse().unwrap(), 48)) };
        let text = |n| pool.nth(n).map(|(a, b)| format!("{} {}", a.unwrap(), b.unwrap()));
        assert_eq!(text(0).unwrap(), "10.45.0.2 2001:db8:45:1::");
        assert_eq!(text(300).unwrap(), "10.45.1.46 2001:db8:45:12d::");
        assert_eq!(text(65_532).unwrap(), "10.45.255.254 2001:db8:45:fffd::");
        assert_eq!((text(65_533), text(u32::MAX)), (None, None));
        let third = plan().nth(&pool, 2).unwrap();
        assert_eq!((third.gnb.teid, third.ue_ipv4), (3, Address::Given(Ipv4Addr::new(10, 45, 0, 4))));
        let whole = Pool { ipv4: None, ipv6: Some((Ipv6Addr::UNSPECIFIED, 64)) };
        assert_eq!(whole.nth(0), None);
    }

    #[test]
    fn wrong_plans_are_named() {
        assert_eq!(plan().validate(), Ok(()));
        let flow = FlowPlan { filters: vec![Filter { dscp: Some(46), flow: None }], qos: Qos::default(), precedence: 10 };
        let wrong = |change: &dyn Fn(&mut SessionPlan)| {
            let mut plan = plan();
            change(&mut plan);
            plan.validate().unwrap_err().to_string()
        };
        assert!(wrong(&|p| p.ue_ipv4 = Address::None).contains("neither"));
        assert!(wrong(&|p| p.ue_ipv6 = Address::Given("2001:db8::1".parse().unwrap())).contains("not a /64"));
        assert!(wrong(&|p| p.gnb.teid = 0).contains("TEID 0"));
        assert!(wrong(&|p| p.qos.qfi = Some(64)).contains("QFI 64"));
        assert!(wrong(&|p| p.flows = vec![FlowPlan { filters: Vec::new(), ..flow.clone() }]).contains("flow 1: no filter"));
        assert!(wrong(&|p| p.flows = vec![flow.clone(), FlowPlan { precedence: 255, ..flow.clone() }]).contains("flow 2: precedence"));
        assert!(wrong(&|p| p.flows = vec![FlowPlan { filters: vec![Filter::default()], ..flow.clone() }]).contains("filter of nothing"));
        assert!("open5GS".parse::<Shape>().is_ok() && "other".parse::<Shape>().unwrap_err().to_string().contains("free5gc"));
    }
}
