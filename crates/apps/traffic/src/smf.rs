//! An SMF: sessions over real PFCP (N4), their changes, their charging, and router advertisements over N4-U.
//!
//! [`Smf`]'s calls block until the UPF has answered, or T1 times N1 has passed (TS 29.244 §6.4); they may come from many
//! threads. What the UPF asks of us (heartbeats, session reports) is answered by a thread of its own the whole time; what an
//! SMF would have to act on comes out as [`Event`]s.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pfcp::codec::{self, FSeid, Group, Ie, Message, MessageType, NodeId, UpFeatures, find, number};
use pfcp::config::ntp_seconds;
use serde::{Deserialize, Serialize};

use crate::plan::rules::{self, Bearings};
use crate::plan::{Address, FlowPlan, SessionPlan, Shape};
use crate::record::{RecordFlow, SessionRecord, Tunnel};

mod answers;
mod error;
mod exchange;
mod n4u;
mod usage;

pub use error::{SmfError, cause_name};
pub use usage::{UrrUsage, Usage};

use exchange::Exchange;
use usage::Book;

/// An SMF's configuration. [`Config::new`] gives usual values for the rest.
#[derive(Clone, Debug)]
pub struct Config {
    /// Our N4 socket, usually port 8805: the UPF sends its requests there.
    pub local: SocketAddr,
    /// The UPF's N4 socket.
    pub upf: SocketAddr,
    /// Our Node ID.
    pub node_id: NodeId,
    /// Our N4-U socket, port 2152, for packets between CP function and UE; `None`: sessions have no PDRs for them.
    pub n4u: Option<SocketAddrV4>,
    /// The UPF's N3 address, where the SMF chooses TEIDs; `None`: taken from the association (§8.2.82).
    pub upf_n3: Option<Ipv4Addr>,
    /// Time until a request is sent again (T1).
    pub t1: Duration,
    /// How often a request is sent in all (N1), at least 1.
    pub n1: u32,
    /// Period of our heartbeats once associated; `None`: none.
    pub heartbeat_period: Option<Duration>,
    /// SEIDs and TEIDs of our choice count from here.
    pub first_id: u32,
}

impl Config {
    /// Node ID from the address, no N4-U, T1 1 s, N1 4, a heartbeat every 10 s.
    pub fn new(local: SocketAddr, upf: SocketAddr) -> Config {
        let node_id = match local.ip() {
            IpAddr::V4(ip) => NodeId::Ipv4(ip),
            IpAddr::V6(ip) => NodeId::Ipv6(ip),
        };
        Config {
            local,
            upf,
            node_id,
            n4u: None,
            upf_n3: None,
            t1: Duration::from_secs(1),
            n1: 4,
            heartbeat_period: Some(Duration::from_secs(10)),
            first_id: 1,
        }
    }
}

/// Events that wait for a receiver at most; more are lost.
const MAX_EVENTS: usize = 65_536;

/// An SMF with its sockets and threads. Dropping it ends the threads; sessions and association stay as they are.
pub struct Smf {
    shared: Arc<Shared>,
    exchange: Exchange,
    n4u: Option<n4u::N4u>,
    events: Mutex<Option<Receiver<Event>>>,
}

/// What calls and threads share.
struct Shared {
    config: Config,
    started_at_ntp_s: u32,
    state: Mutex<State>,
    next_id: AtomicU64,
    advertised: AtomicU64,
}

#[derive(Default)]
struct State {
    upf: Option<Upf>,
    /// By our SEID.
    sessions: HashMap<u64, Kept>,
    /// Our N4-U TEIDs: to our SEID.
    by_n4u_teid: HashMap<u32, u64>,
    ended: Vec<SessionUsage>,
}

/// What is kept of a session for messages from the network.
struct Kept {
    up_seid: u64,
    ue_ipv4: Option<Ipv4Addr>,
    ue_ipv6: Option<Ipv6Addr>,
    /// The UPF's end for packets of ours to the UE.
    from_cp: Option<Tunnel>,
    book: Book,
}

/// What the UPF said of itself at association.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upf {
    /// Its Node ID.
    pub node_id: NodeId,
    /// Its features.
    pub features: UpFeatures,
    /// Its recovery time stamp, NTP seconds: changes when it restarts.
    pub recovery_ntp_s: u32,
    /// Its GTP-U addresses, if it lists them.
    pub gtpu: Vec<Ipv4Addr>,
}

/// An established session. Its owner's handle: the UPF keeps the session when this is dropped.
#[derive(Clone, Debug)]
pub struct Session {
    /// As requested; the downlink tunnel follows path switches.
    pub plan: SessionPlan,
    /// Our SEID.
    pub cp_seid: u64,
    /// The UPF's SEID.
    pub up_seid: u64,
    /// IPv4 address of the UE.
    pub ue_ipv4: Option<Ipv4Addr>,
    /// IPv6 prefix of the UE.
    pub ue_ipv6: Option<Ipv6Addr>,
    /// The UPF's end of the uplink tunnel.
    pub uplink: Tunnel,
    /// The UPF's end for packets of the CP function to the UE.
    pub from_cp: Option<Tunnel>,
    /// Numbers of the dedicated flows, in the order of `plan.flows`.
    flow_numbers: Vec<u16>,
}

impl Session {
    /// What the RAN needs to know.
    pub fn record(&self) -> SessionRecord {
        let flow = |flow: &FlowPlan| {
            let dscp = flow.filters.iter().find_map(|filter| filter.dscp)?;
            Some(RecordFlow { dscp, qfi: flow.qos.qfi? })
        };
        SessionRecord {
            seid: self.up_seid,
            ue_ipv4: self.ue_ipv4,
            ue_ipv6: self.ue_ipv6,
            uplink: self.uplink,
            downlink: self.plan.gnb,
            qfi: self.plan.qos.qfi,
            flows: self.plan.flows.iter().filter_map(flow).collect(),
        }
    }
}

/// What the UPF tells an SMF to act on. SEIDs are the UPF's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet waits for an idle UE: page it, then [`Smf::set_active`] (§7.5.8.2).
    DownlinkData {
        /// Session.
        seid: u64,
        /// PDRs that packets wait for.
        pdr_ids: Vec<u16>,
    },
    /// A usage report came between establishment and deletion; it is in the session's book already.
    Usage {
        /// Session.
        seid: u64,
        /// URR.
        urr_id: u32,
        /// Usage Report Trigger (§8.2.41), octets 5 to 7 as bits 0-23.
        triggers: u32,
    },
    /// The peer of a tunnel does not know it (§7.5.8.4).
    ErrorIndication {
        /// Session.
        seid: u64,
        /// The refused tunnel, if the report is readable.
        tunnel: Option<Tunnel>,
    },
    /// The UE asked for its router and was answered.
    RouterSolicitation {
        /// Session.
        seid: u64,
    },
    /// The UPF asks to be released (§6.2.7.3).
    ReleaseWanted,
    /// The UPF has restarted: its sessions are gone.
    Restarted,
    /// The UPF answers no heartbeats.
    Lost,
}

/// What an SMF knows at the end, as data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Sessions deleted, in that order, and then those that live, with what was reported of them so far.
    pub sessions: Vec<SessionUsage>,
    /// Router solicitations answered.
    pub router_advertisements: u64,
    /// PFCP counters: messages sent, received, sent again, dropped with the reason.
    pub n4: std::collections::BTreeMap<String, u64>,
}

/// A session's usage as reported over PFCP: what a charging system would bill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionUsage {
    /// The UPF's SEID.
    pub seid: u64,
    /// IPv4 address of the UE.
    pub ue_ipv4: Option<Ipv4Addr>,
    /// IPv6 prefix of the UE.
    pub ue_ipv6: Option<Ipv6Addr>,
    /// Bytes of uplink user IP packets.
    pub uplink_bytes: u64,
    /// Bytes of downlink user IP packets.
    pub downlink_bytes: u64,
    /// Uplink packets; `None`: the UPF does not count packets.
    pub uplink_packets: Option<u64>,
    /// Downlink packets.
    pub downlink_packets: Option<u64>,
    /// Each URR with the sum of its reports.
    pub urrs: Vec<UrrUsage>,
    /// Whether the session was deleted: the usage is final.
    pub ended: bool,
}

impl Smf {
    /// Opens the sockets and starts the threads. Nothing is sent yet.
    pub fn connect(config: Config) -> Result<Smf, SmfError> {
        if config.n1 == 0 || config.t1.is_zero() {
            return Err(SmfError::Plan("T1 and N1 must not be 0".into()));
        }
        if config.local.is_ipv4() != config.upf.is_ipv4() {
            return Err(SmfError::Plan(format!("{} and {} are of unlike IP versions", config.local, config.upf)));
        }
        let started_at_ntp_s = ntp_seconds(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        let (first_id, n4u_address) = (config.first_id.max(1), config.n4u);
        let shared = Arc::new(Shared {
            config,
            started_at_ntp_s,
            state: Mutex::default(),
            next_id: AtomicU64::new(first_id.into()),
            advertised: AtomicU64::new(0),
        });
        let (events, receiver) = sync_channel(MAX_EVENTS);
        let n4u = n4u_address.map(|address| n4u::N4u::open(address, shared.clone(), events.clone())).transpose()?;
        let exchange = Exchange::open(shared.clone(), events)?;
        Ok(Smf { shared, exchange, n4u, events: Mutex::new(Some(receiver)) })
    }

    /// The events, to the first caller. Usage is recorded and requests are answered in any case.
    pub fn events(&self) -> Option<Receiver<Event>> {
        lock(&self.events).take()
    }

    /// Our N4 address and port in use.
    pub fn local(&self) -> SocketAddr {
        self.exchange.local()
    }

    /// Our N4-U address and port in use.
    pub fn n4u(&self) -> Option<SocketAddrV4> {
        self.n4u.as_ref().map(n4u::N4u::local)
    }

    /// Sets the association up (§6.2.6.2), and heartbeats with it.
    pub fn associate(&self) -> Result<Upf, SmfError> {
        let request = vec![
            Ie::NodeId(self.shared.config.node_id.clone()),
            Ie::RecoveryTimeStamp(self.shared.started_at_ntp_s),
            Ie::CpFunctionFeatures(vec![0]),
        ];
        let answer = self.accepted(Message::node(MessageType::AssociationSetupRequest, 0, request))?;
        let wrong = |what: u16| SmfError::missing(MessageType::AssociationSetupRequest, what);
        let gtpu = answer.ies.iter().filter_map(|ie| match ie {
            Ie::UserPlaneIpResourceInformation(resource) => resource.ipv4,
            _ => None,
        });
        let upf = Upf {
            node_id: find!(answer.ies, NodeId).cloned().ok_or_else(|| wrong(number::NodeId))?,
            features: find!(answer.ies, UpFunctionFeatures).copied().unwrap_or_default(),
            recovery_ntp_s: *find!(answer.ies, RecoveryTimeStamp).ok_or_else(|| wrong(number::RecoveryTimeStamp))?,
            gtpu: gtpu.collect(),
        };
        lock(&self.shared.state).upf = Some(upf.clone());
        self.exchange.associated();
        Ok(upf)
    }

    /// Establishes a session (§6.3.2). Nothing is left behind on error.
    pub fn establish(&self, plan: &SessionPlan) -> Result<Session, SmfError> {
        let mut plan = plan.clone();
        let upf = lock(&self.shared.state).upf.clone().ok_or(SmfError::NotAssociated)?;
        self.complete(&mut plan, &upf)?;
        let cp_seid = self.shared.next_id();
        // The N4-U TEID is the SEID's lower half: unique as long as fewer than 2^32 sessions were made.
        let n4u = self.n4u.as_ref().map(|n4u| Tunnel { addr: *n4u.local().ip(), teid: (cp_seid as u32).max(1) });
        let (ipv4, ipv6) = match self.local().ip() {
            IpAddr::V4(ip) => (Some(ip), None),
            IpAddr::V6(ip) => (None, Some(ip)),
        };
        let mut ies = vec![Ie::NodeId(self.shared.config.node_id.clone()), Ie::FSeid(FSeid { seid: cp_seid, ipv4, ipv6 })];
        let count_packets = upf.features.has(UpFeatures::MNOP);
        ies.extend(rules::establish(&plan, Bearings { n4u, count_packets }));

        // Reports may come before the answer is looked at.
        let kept = Kept { up_seid: 0, ue_ipv4: None, ue_ipv6: None, from_cp: None, book: Book::default() };
        lock(&self.shared.state).sessions.insert(cp_seid, kept);
        let request = self.session_message(&plan, MessageType::SessionEstablishmentRequest, 0, ies);
        let made = self.accepted(request).and_then(|answer| {
            let up_seid = find!(answer.ies, FSeid).map(|f_seid| f_seid.seid);
            let session = created(&plan, cp_seid, n4u.is_some(), &answer);
            if let (Err(_), Some(up_seid)) = (&session, up_seid) {
                // The UPF has made what we cannot use.
                let _ = self.accepted(self.session_message(&plan, MessageType::SessionDeletionRequest, up_seid, Vec::new()));
            }
            session
        });
        let mut state = lock(&self.shared.state);
        let session = match made {
            Ok(session) => session,
            Err(error) => {
                state.sessions.remove(&cp_seid);
                return Err(error);
            }
        };
        if let Some(kept) = state.sessions.get_mut(&cp_seid) {
            kept.up_seid = session.up_seid;
            (kept.ue_ipv4, kept.ue_ipv6, kept.from_cp) = (session.ue_ipv4, session.ue_ipv6, session.from_cp);
        }
        if let Some(n4u) = n4u {
            state.by_n4u_teid.insert(n4u.teid, cp_seid);
        }
        Ok(session)
    }

    /// The UE went idle: downlink packets wait and are reported (TS 23.502 §4.2.6).
    pub fn set_idle(&self, session: &Session) -> Result<(), SmfError> {
        self.modify(session, rules::idle()).map(drop)
    }

    /// The UE is reached through `gnb`: what waits is released in order, what comes flows.
    pub fn set_active(&self, session: &mut Session, gnb: Tunnel) -> Result<(), SmfError> {
        self.modify(session, rules::active(&session.plan, gnb))?;
        session.plan.gnb = gnb;
        Ok(())
    }

    /// The UE has moved to `gnb`; the tunnel left gets an End Marker (TS 23.502 §4.9.1.2).
    pub fn path_switch(&self, session: &mut Session, gnb: Tunnel) -> Result<(), SmfError> {
        self.modify(session, rules::path_switch(&session.plan, gnb))?;
        session.plan.gnb = gnb;
        Ok(())
    }

    /// Opens a tunnel by which the source gNodeB sends the `target` what it still has (TS 23.502 §4.9.1.3); the UPF's end.
    pub fn forward_indirectly(&self, session: &Session, target: Tunnel) -> Result<Tunnel, SmfError> {
        let answer = self.modify(session, rules::indirect(&session.plan, target))?;
        created_tunnel(&answer, rules::PDR_INDIRECT)
            .ok_or_else(|| SmfError::missing(MessageType::SessionModificationRequest, number::FTeid))
    }

    /// Closes what [`Smf::forward_indirectly`] opened.
    pub fn end_indirect(&self, session: &Session) -> Result<(), SmfError> {
        self.modify(session, rules::end_indirect()).map(drop)
    }

    /// Changes the session's maximum bit rate (uplink, downlink), kbit/s.
    pub fn set_rate(&self, session: &mut Session, mbr_kbps: (u64, u64)) -> Result<(), SmfError> {
        self.modify(session, rules::rate(&session.plan, mbr_kbps))?;
        session.plan.qos.mbr_kbps = Some(mbr_kbps);
        Ok(())
    }

    /// Adds a dedicated QoS flow.
    pub fn add_flow(&self, session: &mut Session, flow: FlowPlan) -> Result<(), SmfError> {
        let mut plan = session.plan.clone();
        plan.flows.push(flow.clone());
        plan.validate().map_err(|fault| SmfError::Plan(fault.to_string()))?;
        // PDRs of the session's uplink tunnel, whoever chose it.
        plan.uplink = Some(session.uplink);
        let given = given_addresses(session);
        (plan.ue_ipv4, plan.ue_ipv6) = given;
        let taken = |n: &u16| session.flow_numbers.contains(n);
        let n = (0..=u16::MAX).find(|n| !taken(n)).unwrap_or(0);
        self.modify(session, rules::add_flow(&plan, n, &flow))?;
        session.flow_numbers.push(n);
        session.plan.flows.push(flow);
        Ok(())
    }

    /// Removes the dedicated QoS flow at `index` of the plan's.
    pub fn remove_flow(&self, session: &mut Session, index: usize) -> Result<(), SmfError> {
        let n = *session.flow_numbers.get(index).ok_or_else(|| SmfError::Plan(format!("the session has no flow {index}")))?;
        self.modify(session, rules::remove_flow(n))?;
        session.flow_numbers.remove(index);
        session.plan.flows.remove(index);
        Ok(())
    }

    /// Asks for the usage now (Query URR); the session's usage since it was established.
    pub fn query(&self, session: &Session) -> Result<SessionUsage, SmfError> {
        self.modify(session, rules::query())?;
        let state = lock(&self.shared.state);
        Ok(state.sessions.get(&session.cp_seid).map(|kept| kept.usage(false)).unwrap_or_default())
    }

    /// A Session Modification Request (§6.3.3) of the caller's elements; its answer, usage reports in it booked.
    pub fn modify(&self, session: &Session, ies: Group) -> Result<Message, SmfError> {
        let request = self.session_message(&session.plan, MessageType::SessionModificationRequest, session.up_seid, ies);
        let answer = self.accepted(request)?;
        if let Some(kept) = lock(&self.shared.state).sessions.get_mut(&session.cp_seid) {
            kept.book.enter(&answer.ies);
        }
        Ok(answer)
    }

    /// Deletes a session (§6.3.4); its usage from all reports, the last ones included.
    pub fn delete(&self, session: &Session) -> Result<SessionUsage, SmfError> {
        let request = self.session_message(&session.plan, MessageType::SessionDeletionRequest, session.up_seid, Vec::new());
        let answer = self.accepted(request)?;
        let mut state = lock(&self.shared.state);
        state.by_n4u_teid.remove(&(session.cp_seid as u32));
        let Some(mut kept) = state.sessions.remove(&session.cp_seid) else {
            return Err(SmfError::Plan("the session was deleted before".into()));
        };
        kept.book.enter(&answer.ies);
        let usage = kept.usage(true);
        state.ended.push(usage.clone());
        Ok(usage)
    }

    /// Releases the association (§6.2.8); the UPF ends the sessions that are left.
    pub fn release(&self) -> Result<(), SmfError> {
        self.exchange.unassociated();
        let request = vec![Ie::NodeId(self.shared.config.node_id.clone())];
        self.accepted(Message::node(MessageType::AssociationReleaseRequest, 0, request))?;
        lock(&self.shared.state).upf = None;
        Ok(())
    }

    /// Sends a heartbeat (§6.2.2); the UPF's recovery time stamp.
    pub fn heartbeat(&self) -> Result<u32, SmfError> {
        self.exchange.heartbeat()
    }

    /// What is known now.
    pub fn report(&self) -> Report {
        let state = lock(&self.shared.state);
        let mut living: Vec<SessionUsage> = state.sessions.values().map(|kept| kept.usage(false)).collect();
        living.sort_by_key(|usage| usage.seid);
        Report {
            sessions: state.ended.iter().cloned().chain(living).collect(),
            router_advertisements: self.shared.advertised.load(Ordering::Relaxed),
            n4: self.exchange.counters(),
        }
    }

    /// Sends a request and waits for an answer that accepts it.
    fn accepted(&self, request: Message) -> Result<Message, SmfError> {
        self.exchange.accepted(request)
    }

    /// A session related message as the shape writes it.
    fn session_message(&self, plan: &SessionPlan, kind: MessageType, seid: u64, ies: Group) -> Message {
        Message { priority: (plan.shape == Shape::Free5gc).then_some(0), ..Message::session(kind, seid, 0, ies) }
    }

    /// Chooses what the SMF chooses, and checks that the UPF can choose the rest.
    fn complete(&self, plan: &mut SessionPlan, upf: &Upf) -> Result<(), SmfError> {
        plan.validate().map_err(|fault| SmfError::Plan(fault.to_string()))?;
        if plan.shape == Shape::Free5gc && plan.uplink.is_none() {
            let addr =
                self.shared.config.upf_n3.or_else(|| upf.gtpu.first().copied()).ok_or_else(|| {
                    SmfError::Plan("this shape's SMF chooses TEIDs: the UPF's N3 address must be configured (upf_n3)".into())
                })?;
            plan.uplink = Some(Tunnel { addr, teid: (self.shared.next_id() as u32).max(1) });
        }
        if plan.uplink.is_none() && !upf.features.has(UpFeatures::FTUP) {
            return Err(SmfError::Plan("the UPF does not choose TEIDs (feature FTUP): give `uplink`".into()));
        }
        let chooses = plan.ue_ipv4 == Address::ChosenByUpf || plan.ue_ipv6 == Address::ChosenByUpf;
        if chooses && !upf.features.has(UpFeatures::UEIP) {
            return Err(SmfError::Plan("the UPF does not choose UE addresses (feature UEIP)".into()));
        }
        Ok(())
    }
}

/// The session that an accepting answer tells of.
fn created(plan: &SessionPlan, cp_seid: u64, with_cp: bool, answer: &Message) -> Result<Session, SmfError> {
    let missing = |what: u16| SmfError::missing(MessageType::SessionEstablishmentRequest, what);
    let up_seid = find!(answer.ies, FSeid).ok_or_else(|| missing(number::FSeid))?.seid;
    let uplink = match plan.uplink {
        Some(uplink) => uplink,
        None => created_tunnel(answer, rules::PDR_UPLINK).ok_or_else(|| missing(number::FTeid))?,
    };
    let with_cp = with_cp && plan.shape == Shape::Open5gs;
    let from_cp = created_tunnel(answer, rules::PDR_FROM_CP);
    if with_cp && from_cp.is_none() {
        return Err(missing(number::FTeid));
    }
    let addresses = answer.ies.iter().filter_map(|ie| if let Ie::CreatedPdr(ies) = ie { find!(ies, UeIpAddress) } else { None });
    let (chosen4, chosen6) = addresses.fold((None, None), |(v4, v6), address| (address.ipv4.or(v4), address.ipv6.or(v6)));
    let ue_ipv4 = match plan.ue_ipv4 {
        Address::None => None,
        Address::Given(address) => Some(address),
        Address::ChosenByUpf => Some(chosen4.ok_or_else(|| missing(number::UeIpAddress))?),
    };
    let ue_ipv6 = match plan.ue_ipv6 {
        Address::None => None,
        Address::Given(prefix) => Some(prefix),
        Address::ChosenByUpf => Some(chosen6.ok_or_else(|| missing(number::UeIpAddress))?),
    };
    let flow_numbers = (0..plan.flows.len() as u16).collect();
    Ok(Session { plan: plan.clone(), cp_seid, up_seid, ue_ipv4, ue_ipv6, uplink, from_cp, flow_numbers })
}

/// The tunnel that the UPF chose for a PDR.
fn created_tunnel(answer: &Message, pdr_id: u16) -> Option<Tunnel> {
    answer.ies.iter().find_map(|ie| match ie {
        Ie::CreatedPdr(ies) if find!(ies, PdrId) == Some(&pdr_id) => match find!(ies, FTeid)? {
            codec::FTeid::Given { teid, ipv4: Some(addr), .. } if *teid != 0 => Some(Tunnel { addr: *addr, teid: *teid }),
            _ => None,
        },
        _ => None,
    })
}

/// A session's addresses as ones of the SMF's choice, for later requests.
fn given_addresses(session: &Session) -> (Address<Ipv4Addr>, Address<Ipv6Addr>) {
    (session.ue_ipv4.map_or(Address::None, Address::Given), session.ue_ipv6.map_or(Address::None, Address::Given))
}

impl Shared {
    fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }
}

impl Kept {
    fn usage(&self, ended: bool) -> SessionUsage {
        let session = self.book.of(rules::URR_SESSION);
        SessionUsage {
            seid: self.up_seid,
            ue_ipv4: self.ue_ipv4,
            ue_ipv6: self.ue_ipv6,
            uplink_bytes: session.uplink_bytes,
            downlink_bytes: session.downlink_bytes,
            uplink_packets: session.uplink_packets,
            downlink_packets: session.downlink_packets,
            urrs: self.book.urrs(),
            ended,
        }
    }
}

/// A lock whose holder panicked: the tables under it are whole after each change.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
