//! The UPF as a host on its networks: punted packets and timers.
//!
//! ARP (RFC 826) and neighbour discovery (RFC 4861), echo for IPv4 and IPv6, ICMP errors to senders of what is not sent on (`told`), GTP-U's path messages
//! (TS 29.281 §7.2, §7.3), ours too (`gtpu_paths`).
//! Anybody can send these, so every answer has a [`Budget`], for each port; in ARP, neighbour discovery and GTP-U known
//! senders have one of their own, which a stranger's flood does not use up.
//! Not here: router advertisements to UEs (the SMF sends them), ICMP errors but "too big" and "time exceeded", fragments to ourselves.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use base::PortId;
use pfcp::rules::OuterHeader;
use program::{Batch, Entry as ProgramEntry, Op};
use wire::ethernet::{self, Frame, Mac};
use wire::gtpu::{self, Message, SessionContainer};
use wire::icmp::{self, Echo, Problem};
use wire::{arp, ipv4, ipv6, ndp, udp, vxlan};

use crate::budget::Budget;
use crate::config::{self, HostLimits, NetworkConfig};
use crate::gtpu_paths::GtpuPaths;
pub use crate::hops::NoNextHop;
use crate::hops::{Hop, HostPort, Plan};
use crate::ids::Ids;
pub use crate::neighbours::Released;
use crate::neighbours::{Here, Neighbours, Waiting};
use crate::networks::{Clues, Networks, Vrf};
use crate::reply;
use crate::told::{self, Errors};

/// What the host wants done. In order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send the frame.
    Transmit {
        /// By this port.
        port: PortId,
        /// Ethernet frame without FCS.
        frame: Vec<u8>,
    },
    /// Give the frame to the pipeline as if it came in by the port, after the `Apply` before it.
    Reinject {
        /// Ingress port.
        port: PortId,
        /// Ethernet frame.
        frame: Vec<u8>,
    },
    /// Apply the batch to the data plane.
    Apply(Batch),
    /// A neighbour's MAC address is known now. Packets that wait for it, and those punted for it and in flight to us, must be sent
    /// before any later packet: stop processing, collect those in flight (those of
    /// [`Host::punted_for`]), and do what [`Host::release`] says.
    Resolved {
        /// Its number.
        number: u16,
    },
    /// A peer does not know a tunnel of ours to it (TS 29.281 §7.3.1): for the PFCP node.
    ErrorIndication {
        /// The peer.
        peer: Ipv4Addr,
        /// Its tunnel endpoint, as our FARs name it.
        teid: u32,
    },
    /// A GTP-U peer of sessions answers no echo requests any more, or `works` again: for the PFCP node.
    Path {
        /// The peer.
        peer: Ipv4Addr,
        /// It works.
        works: bool,
    },
    /// A peer will send no more by that tunnel (TS 29.281 §7.3.2): relayed to where the tunnel's packets go.
    EndMarker {
        /// Our endpoint.
        endpoint: Ipv4Addr,
        /// Our tunnel.
        teid: u32,
        /// What it says of its QoS flow.
        container: Option<SessionContainer>,
    },
    /// A punted packet had no use, or could not be served; to be counted by reason.
    Drop {
        /// Snake case.
        reason: &'static str,
    },
    /// A frame of our own could not be sent.
    Unsent {
        /// Snake case.
        reason: &'static str,
    },
}

/// What has become of the packets that were punted. Those that went on are in the engine's ledger again, as injected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fates {
    /// Punted.
    pub punted: u64,
    /// Answered by us: echo requests, questions for our addresses.
    pub answered: u64,
    /// Of use to ourselves: answers of neighbours, path messages.
    pub taken: u64,
    /// Given to the pipeline again, when the next hop was known.
    pub sent_on: u64,
    /// Waiting for a neighbour.
    pub waiting: u64,
    /// Dropped: [`Action::Drop`] says why.
    pub dropped: u64,
}

impl Fates {
    /// Packets without a fate: none, or there is a defect.
    pub fn imbalance(&self) -> i64 {
        self.punted as i64 - (self.answered + self.taken + self.sent_on + self.waiting + self.dropped) as i64
    }
}

/// What becomes of a packet that is not dropped.
enum Fate {
    Answered,
    Taken,
    Waits,
}

/// Budgets of one port.
#[derive(Debug)]
struct Budgets {
    /// ARP and neighbour discovery, ICMP, GTP-U echo: for those whom we know, and for others.
    neighbours: [Budget; 2],
    echo: Budget,
    users_echo: Budget,
    gtpu_echo: [Budget; 2],
    /// Error Indications and notifications that we send; Error Indications of tunnels that we look for.
    gtpu_errors: [Budget; 2],
    indications: [Budget; 2],
    icmp_errors: Errors,
}

impl Budgets {
    fn new(limits: &HostLimits) -> Budgets {
        let answers = || Budget::new(limits.answers_per_s);
        let errors = || Budget::new(limits.error_indications_per_s);
        Budgets {
            neighbours: [answers(), answers()],
            echo: answers(),
            users_echo: answers(),
            gtpu_echo: [answers(), answers()],
            gtpu_errors: [errors(), errors()],
            indications: [errors(), errors()],
            icmp_errors: Errors::new(limits.icmp_errors_per_s),
        }
    }
}

/// Times that a takeover is announced, and from one to the next (RFC 5227 §1.1: ANNOUNCE_NUM, ANNOUNCE_INTERVAL; one more, as frames are lost while
/// links come up).
const ANNOUNCEMENTS: u32 = 3;
const ANNOUNCE_EVERY: Duration = Duration::from_secs(2);

/// The host. Time is the time since the program began, and never goes back.
#[derive(Debug)]
pub struct Host {
    ids: Ids,
    networks: Networks,
    plan: Plan,
    neighbours: Neighbours,
    /// Addresses that sessions send tunnels to, by network instance, and how many times they are named.
    peers: HashMap<(Vrf, Ipv4Addr), u32>,
    /// Whether they are there.
    paths: GtpuPaths,
    /// By position of the port.
    budgets: Vec<Budgets>,
    fates: Fates,
    /// Announcements of our addresses that are still to be sent, and when the next ones are.
    announcements: (u32, Duration),
    now: Duration,
}

/// The host of a changed configuration, before the data plane has its entries.
#[derive(Debug)]
pub struct Renewal {
    networks: Networks,
    plan: Plan,
    limits: HostLimits,
    /// Next hops and routes: as they are, and as they will be.
    pub before: Vec<ProgramEntry>,
    /// See [`Renewal::before`].
    pub after: Vec<ProgramEntry>,
}

impl Renewal {
    /// Network instances of the changed configuration.
    pub fn networks(&self) -> &Networks {
        &self.networks
    }
}

/// Neighbours that a session's rules need, to be kept or undone as the data plane takes them.
#[derive(Debug, Default)]
pub struct HeldPeers {
    /// What the data plane must get.
    pub ops: Vec<Op>,
    held: Vec<(Vrf, Ipv4Addr)>,
    /// Those of them that are neighbours, and of these the ones that were none before.
    numbers: Vec<u16>,
    made: Vec<u16>,
}

/// What the neighbours live in, borrowed beside them.
macro_rules! here {
    ($host:ident) => {
        Here { plan: &$host.plan, ids: &$host.ids, now: $host.now }
    };
}

type Outcome = Result<Fate, &'static str>;

impl Host {
    /// For a configuration that validates.
    pub fn new(config: &NetworkConfig, ids: &Ids) -> Host {
        let networks = Networks::new(config);
        let plan = Plan::new(config, &networks);
        Host {
            neighbours: Neighbours::new(&plan, ids.nexthops, config.host.neighbours_per_s),
            peers: HashMap::new(),
            paths: GtpuPaths::new(Duration::from_secs(config.host.gtpu_echo_s.into())),
            budgets: plan.ports.iter().map(|_| Budgets::new(&config.host)).collect(),
            fates: Fates::default(),
            announcements: (0, Duration::ZERO),
            now: Duration::ZERO,
            ids: ids.clone(),
            networks,
            plan,
        }
    }

    /// What a changed configuration comes to, with the same overlays, and that validates. Nothing has changed yet.
    pub fn prepare(&self, config: &NetworkConfig) -> Result<Renewal, NoNextHop> {
        let networks = self.networks.renewed(config);
        let mut kept = self.plan.numbers().clone();
        kept.extend(self.neighbours.numbers());
        let plan = Plan::renewed(config, &networks, &kept, &mut self.neighbours.free())?;
        let others = |plan: &Plan| -> Vec<ProgramEntry> {
            let hops = plan.hops.iter().filter(|(_, hop)| !matches!(hop, Hop::Neighbour { .. }));
            hops.map(|(number, hop)| plan.hop_entry(*number, hop, &self.ids)).chain(plan.route_entries(&self.ids)).collect()
        };
        let (mut before, mut after) = (others(&self.plan), others(&plan));
        before.extend(self.neighbours.entries(&self.plan, &self.ids));
        after.extend(self.neighbours.entries_after(&self.plan, &plan, &self.ids));
        Ok(Renewal { networks, plan, limits: config.host, before, after })
    }

    /// Goes on by a changed configuration, when the data plane has its entries: [`Renewal::after`].
    pub fn renew(&mut self, renewal: Renewal, now: Duration) -> Vec<Action> {
        self.now = self.now.max(now);
        let Renewal { networks, plan, limits, .. } = renewal;
        let before = std::mem::replace(&mut self.plan, plan);
        self.networks = networks;
        self.budgets = self.plan.ports.iter().map(|_| Budgets::new(&limits)).collect();
        let mut out = self.announce_new(&before);
        let peers = &self.peers;
        let held = |vrf: Vrf, ip: IpAddr| match ip {
            IpAddr::V4(ip) => peers.get(&(vrf, ip)).copied().unwrap_or_default(),
            IpAddr::V6(_) => 0,
        };
        self.neighbours.renew(&before, here!(self), limits.neighbours_per_s, held, &mut out);
        self.paths.renew(Duration::from_secs(limits.gtpu_echo_s.into()), self.peers.keys().copied(), self.now);
        self.counted(out)
    }

    /// Deals with a packet that the pipeline punted on `port` for `reason` with `mark`.
    pub fn punt(&mut self, packet: &[u8], port: PortId, reason: u8, mark: u32, now: Duration) -> Vec<Action> {
        self.deal_with(packet, port, reason, mark, false, now)
    }

    /// The same for a packet that [`Host::asked_for`] says asks for a UE of ours: it is reached by us.
    pub fn punt_for_ue(&mut self, packet: &[u8], port: PortId, reason: u8, mark: u32, now: Duration) -> Vec<Action> {
        self.deal_with(packet, port, reason, mark, true, now)
    }

    fn deal_with(&mut self, packet: &[u8], port: PortId, reason: u8, mark: u32, for_ue: bool, now: Duration) -> Vec<Action> {
        self.now = self.now.max(now);
        self.fates.punted += 1;
        let mut out = Vec::new();
        match self.punted(packet, port, reason, mark, for_ue, &mut out) {
            Ok(Fate::Answered) => self.fates.answered += 1,
            Ok(Fate::Taken) => self.fates.taken += 1,
            Ok(Fate::Waits) => {}
            Err(reason) => out.push(Action::Drop { reason }),
        }
        self.counted(out)
    }

    fn punted(&mut self, packet: &[u8], port: PortId, reason: u8, mark: u32, for_ue: bool, out: &mut Vec<Action>) -> Outcome {
        let at = self.plan.ports.iter().position(|p| p.id == port).ok_or("port_unknown")?;
        let reasons = self.ids.reasons;
        let frame = Frame::new_checked(packet);
        match frame.map(|frame| out_of_vxlan(&self.plan.ports[at], frame)) {
            Err(_) => Err("frame_too_short"),
            Ok(frame) if reason == reasons.neighbour_unknown => self.route(frame, packet, at, mark, out),
            Ok(frame) if reason == reasons.gtpu_signalling => self.gtpu_signalling(frame, at, out),
            Ok(frame) if reason == reasons.unknown_teid => self.unknown_teid(frame, at, out),
            Ok(frame) if reason == reasons.ttl_expired => {
                self.tell(frame, at, (mark >> 16) as Vrf, Problem::TimeExceeded, "ttl_expired", out)
            }
            Ok(frame) if reason == reasons.too_big => {
                self.tell(frame, at, (mark >> 16) as Vrf, Problem::TooBig { mtu: mark as u16 }, "too_big", out)
            }
            Ok(frame) => match frame.ethertype() {
                ethernet::ARP => self.arp(frame, at, for_ue, out),
                ethernet::IPV4 => self.host_ipv4(frame, at, out),
                ethernet::IPV6 => self.host_ipv6(frame, at, out),
                _ => Err("ethertype"),
            },
        }
    }

    /// The endpoint of ours and the TEID that a packet was for, if it was punted because no session had that tunnel.
    pub fn unknown_tunnel(&self, packet: &[u8], port: PortId, reason: u8) -> Option<(Ipv4Addr, u32)> {
        if reason != self.ids.reasons.unknown_teid {
            return None;
        }
        let port = self.plan.ports.iter().find(|p| p.id == port)?;
        let tunnel = Tunnelled::parse(out_of_vxlan(port, Frame::new_checked(packet).ok()?)).ok()?;
        Some((tunnel.dst, tunnel.packet.teid()))
    }

    /// The address on a port's network, not ours, that a punted packet asks for by ARP: with the network instance, by which a session may have it.
    pub fn asked_for(&self, packet: &[u8], port: PortId, reason: u8) -> Option<(Vrf, Ipv4Addr)> {
        if reason != self.ids.reasons.arp {
            return None;
        }
        let port = self.plan.ports.iter().find(|p| p.id == port)?;
        let frame = out_of_vxlan(port, Frame::new_checked(packet).ok()?);
        let asked = arp::Packet::new_checked(frame.payload()).and_then(|p| arp::Repr::parse(&p)).ok()?;
        let (ip, is_request) = (IpAddr::V4(asked.target_ip), asked.operation == arp::Operation::Request);
        (is_request && asked.sender_ip != asked.target_ip && port.reaches(ip) && !port.has(ip)).then_some((port.vrf, asked.target_ip))
    }

    /// Drops a punted packet that came before its session was there: nobody is told.
    pub fn drop_early(&mut self) -> Vec<Action> {
        self.fates.punted += 1;
        self.counted(vec![Action::Drop { reason: "unknown_teid" }])
    }

    fn counted(&mut self, out: Vec<Action>) -> Vec<Action> {
        self.fates.dropped += out.iter().filter(|action| matches!(action, Action::Drop { .. })).count() as u64;
        self.fates.waiting = self.neighbours.punted_waiting() as u64;
        out
    }

    /// What has become of the packets that were punted.
    pub fn fates(&self) -> Fates {
        self.fates
    }

    /// The neighbour that a punted packet goes to: send it with the packets of [`Host::release`]. `None` if the neighbour is unknown.
    pub fn punted_for(&self, packet: &[u8], port: PortId, reason: u8, mark: u32) -> Option<u16> {
        if reason != self.ids.reasons.neighbour_unknown {
            return None;
        }
        let number = u16::try_from(mark).ok()?;
        match self.plan.hop(number) {
            Some(Hop::Glean { vrf, .. }) => {
                let at = self.plan.ports.iter().position(|p| p.id == port)?;
                let frame = out_of_vxlan(&self.plan.ports[at], Frame::new_checked(packet).ok()?);
                self.neighbours.number(*vrf, self.user_packet(frame, at).ok()?.dst)
            }
            Some(Hop::Neighbour { .. }) | None => Some(number),
            Some(Hop::Local(_) | Hop::Remote { .. } | Hop::FarEnd { .. } | Hop::Machine) => None,
        }
    }

    /// The packets released for a resolved neighbour ([`Action::Resolved`]): those that waited, then `late`, the packets that were
    /// punted for it since, which so need not be given to [`Host::punt`]: ingress port and frame.
    pub fn release(&mut self, number: u16, late: impl IntoIterator<Item = (PortId, Vec<u8>)>) -> Released {
        let mut released = self.neighbours.release(number, here!(self));
        let before = released.packets.len();
        released.packets.extend(late);
        self.fates.punted += (released.packets.len() - before) as u64;
        self.fates.sent_on += released.packets.len() as u64;
        self.fates.waiting = self.neighbours.punted_waiting() as u64;
        released
    }

    /// At shutdown: drops waiting packets, and counts `more` punted packets that will not be processed.
    pub fn stop(&mut self, more: usize) -> Vec<Action> {
        const REASON: &str = "stopping";
        let mut out = Vec::new();
        self.neighbours.drop_all_waiting(REASON, &mut out);
        self.fates.punted += more as u64;
        out.extend((0..more).map(|_| Action::Drop { reason: REASON }));
        self.counted(out)
    }

    /// Does what is due: questions to neighbours, again or to confirm; neighbours that do not answer are given up.
    /// To be called a few times a second.
    pub fn poll(&mut self, now: Duration) -> Vec<Action> {
        self.now = self.now.max(now);
        let mut out = Vec::new();
        self.neighbours.poll(here!(self), &mut out);
        self.announce_due(&mut out);
        let due = self.paths.poll(self.now);
        out.extend(due.failed.into_iter().map(|peer| Action::Path { peer, works: false }));
        for ((vrf, peer), sequence) in due.requests {
            let request = gtpu::Repr::new(0, Some(sequence), Message::EchoRequest);
            if self.send_gtpu(vrf, peer, &request, &mut out).is_err() {
                out.push(Action::Unsent { reason: "gtpu_echo_no_way" });
            }
        }
        self.counted(out)
    }

    /// Our addresses were another host's until now: switches and neighbours are told where they are, with this call and some that follow.
    pub fn announce(&mut self, now: Duration) -> Vec<Action> {
        self.now = self.now.max(now);
        self.announcements = (ANNOUNCEMENTS, self.now);
        let mut out = Vec::new();
        self.announce_due(&mut out);
        self.counted(out)
    }

    fn announce_due(&mut self, out: &mut Vec<Action>) {
        let (left, next) = self.announcements;
        if left == 0 || self.now < next {
            return;
        }
        self.announcements = (left - 1, self.now + ANNOUNCE_EVERY);
        for port in self.plan.ports.iter().filter(|port| port.far_end.is_none() && !port.is_vxlan()) {
            let own = port.addresses.iter().map(|(own, _)| *own).chain(port.link_local.map(IpAddr::V6));
            out.extend(own.map(|own| Action::Transmit { port: port.id, frame: reply::announcement(port, own) }));
        }
    }

    /// Addresses that came with a changed configuration: switches and neighbours are told once where they are.
    fn announce_new(&self, before: &Plan) -> Vec<Action> {
        let mut out = Vec::new();
        for port in self.plan.ports.iter().filter(|port| port.far_end.is_none() && !port.is_vxlan()) {
            let was = before.position(port.id).map(|at| &before.ports[at]);
            let own = port.addresses.iter().map(|(own, _)| *own).chain(port.link_local.map(IpAddr::V6));
            let new = own.filter(|own| was.is_none_or(|was| !was.has(*own)));
            out.extend(new.map(|own| Action::Transmit { port: port.id, frame: reply::announcement(port, own) }));
        }
        out
    }

    /// Whether sessions send tunnels into this network instance.
    pub fn has_peers(&self, vrf: Vrf) -> bool {
        self.peers.keys().any(|(of, _)| *of == vrf)
    }

    /// A port was reopened, maybe on another interface: its neighbours are resolved again.
    pub fn port_up(&mut self, port: PortId, now: Duration) -> Vec<Action> {
        self.now = self.now.max(now);
        let mut out = Vec::new();
        for at in (0..self.plan.ports.len()).filter(|at| self.plan.ports[*at].id == port) {
            self.neighbours.port_up(at, here!(self), &mut out);
        }
        self.neighbours.poll(here!(self), &mut out);
        self.counted(out)
    }

    /// Neighbours known or asked for.
    pub fn neighbour_count(&self) -> usize {
        self.neighbours.len()
    }

    fn arp(&mut self, frame: Frame<'_>, at: usize, for_ue: bool, out: &mut Vec<Action>) -> Outcome {
        let packet = arp::Packet::new_checked(frame.payload()).and_then(|p| arp::Repr::parse(&p));
        let packet = packet.map_err(|_| "arp_malformed")?;
        let port = &self.plan.ports[at];
        if port.has(packet.sender_ip.into()) {
            return Err("address_conflict");
        }
        let (vrf, sender) = (port.vrf, IpAddr::V4(packet.sender_ip));
        let to_us = packet.target_mac == port.mac && (packet.target_ip.is_unspecified() || port.has(packet.target_ip.into()));
        if packet.operation == arp::Operation::Reply && to_us {
            return self.neighbours.answer(at, sender, packet.sender_mac, here!(self), out).map(|()| Fate::Taken);
        }
        let claimed = self.neighbours.claim(at, sender, packet.sender_mac, here!(self), out);
        // A gratuitous one, of either kind (RFC 5227 §3), asks nothing.
        if packet.operation == arp::Operation::Reply
            || packet.sender_ip == packet.target_ip && self.neighbours.number(vrf, sender).is_some()
        {
            return claimed.map(|()| Fate::Taken);
        }
        let port = &self.plan.ports[at];
        let target = IpAddr::V4(packet.target_ip);
        let proxied = port.proxy_prefixes.iter().any(|p| config::contains(*p, target)) && packet.sender_ip != packet.target_ip;
        if !port.has(target) && !proxied && !for_ue {
            return Err("arp_not_for_us");
        }
        let reply = reply::arp_reply(port, &packet);
        let known = self.neighbours.is_known(vrf, sender, packet.sender_mac);
        self.budgets[at].neighbours[usize::from(known)].take(self.now).then_some(()).ok_or("arp_rate")?;
        answer(&self.plan, at, reply, out)
    }

    fn host_ipv4(&mut self, frame: Frame<'_>, at: usize, out: &mut Vec<Action>) -> Outcome {
        let packet = ipv4::Packet::new_checked(frame.payload()).map_err(|_| "ipv4_malformed")?;
        if packet.is_fragment() {
            return Err("fragment_to_host");
        }
        let (src, dst) = (IpAddr::V4(packet.src()), IpAddr::V4(packet.dst()));
        if !is_host(src, dst) || !self.plan.ports[at].has(dst) && !self.is_local(self.plan.ports[at].vrf, dst) {
            return Err("address_not_ours");
        }
        if packet.protocol() != ipv4::ICMP {
            return Err("protocol_not_served");
        }
        let message = icmp::Message::new_checked_v4(packet.payload()).map_err(|_| "icmp_malformed")?;
        let echo = Echo::parse(&message, false).map_err(|_| "icmp_malformed")?;
        let request = echo.filter(|e| !e.reply).ok_or("icmp_type")?;
        self.budgets[at].echo.take(self.now).then_some(()).ok_or("echo_rate")?;
        let reply = reply::echo_reply(self.plan.ports[at].mac, frame.src(), src, dst, &request);
        answer(&self.plan, at, reply, out)
    }

    fn host_ipv6(&mut self, frame: Frame<'_>, at: usize, out: &mut Vec<Action>) -> Outcome {
        let packet = ipv6::Packet::new_checked(frame.payload()).map_err(|_| "ipv6_malformed")?;
        if packet.next_header() != ipv6::ICMPV6 {
            return Err("protocol_not_served");
        }
        let (src, dst) = (packet.src(), packet.dst());
        let message = icmp::Message::new_checked_v6(packet.payload(), src, dst).map_err(|_| "icmp_malformed")?;
        if let Some(neighbour) = ndp::Repr::parse(&message).map_err(|_| "neighbour_discovery_malformed")? {
            if packet.hop_limit() != 255 {
                return Err("neighbour_discovery_malformed");
            }
            return self.neighbour_discovery(frame, &packet, neighbour, at, out);
        }
        let echo = Echo::parse(&message, true).map_err(|_| "icmp_malformed")?;
        let request = echo.filter(|e| !e.reply).ok_or("icmp_type")?;
        let vrf = self.plan.ports[at].vrf;
        if !is_host(src.into(), dst.into()) || !self.plan.ports[at].has(dst.into()) && !self.is_local(vrf, dst.into()) {
            return Err("address_not_ours");
        }
        self.budgets[at].echo.take(self.now).then_some(()).ok_or("echo_rate")?;
        let reply = reply::echo_reply(self.plan.ports[at].mac, frame.src(), src.into(), dst.into(), &request);
        answer(&self.plan, at, reply, out)
    }

    fn neighbour_discovery(
        &mut self,
        frame: Frame<'_>,
        packet: &ipv6::Packet<'_>,
        message: ndp::Repr,
        at: usize,
        out: &mut Vec<Action>,
    ) -> Outcome {
        let port = &self.plan.ports[at];
        let src = packet.src();
        match message {
            ndp::Repr::Solicitation { target, source } => {
                if port.has(src.into()) {
                    return Err("address_conflict");
                }
                // RFC 4861 §7.1.1: duplicate address detection comes without an address and without the option.
                if src.is_unspecified() && source.is_some() || src.is_multicast() {
                    return Err("neighbour_discovery_malformed");
                }
                if !port.has(target.into()) {
                    return Err("solicitation_not_for_us");
                }
                let (vrf, mac) = (port.vrf, source.unwrap_or(frame.src()));
                if let Some(mac) = source {
                    // Answered whether or not it is believed.
                    let _ = self.neighbours.claim(at, src.into(), mac, here!(self), out);
                }
                let known = self.neighbours.is_known(vrf, src.into(), mac);
                self.budgets[at].neighbours[usize::from(known)].take(self.now).then_some(()).ok_or("neighbour_discovery_rate")?;
                let port = &self.plan.ports[at];
                answer(&self.plan, at, reply::advertisement(port, target, src, mac), out)
            }
            ndp::Repr::Advertisement { target, mac, solicited, override_known, .. } => {
                if port.has(target.into()) {
                    return Err("address_conflict");
                }
                // RFC 4861 §7.1.2.
                if solicited && packet.dst().is_multicast() {
                    return Err("neighbour_discovery_malformed");
                }
                let mac = mac.unwrap_or(frame.src());
                // §7.2.5: what does not override changes no address that is known.
                let known = self.neighbours.mac(port.vrf, target.into());
                if !override_known && known.is_some_and(|known| known != mac) {
                    return Err("neighbour_not_overridden");
                }
                let told = match solicited && port.has(packet.dst().into()) {
                    true => self.neighbours.answer(at, target.into(), mac, here!(self), out),
                    false => self.neighbours.claim(at, target.into(), mac, here!(self), out),
                };
                told.map(|()| Fate::Taken)
            }
        }
    }

    fn gtpu_signalling(&mut self, frame: Frame<'_>, at: usize, out: &mut Vec<Action>) -> Outcome {
        let tunnel = Tunnelled::parse(frame)?;
        let vrf = self.our_endpoint(at, tunnel.dst)?;
        let is_peer = self.peers.contains_key(&(vrf, tunnel.src));
        let message = match gtpu::Repr::parse(&tunnel.packet) {
            Ok(message) => message,
            // TS 29.281 §5.2.1: the sender is told what we know. The packet itself is lost.
            Err(wire::Error::Unsupported(_)) => {
                let types = &[gtpu::extension_type::PDU_SESSION_CONTAINER, gtpu::extension_type::UDP_PORT];
                let notification = gtpu::Repr::new(0, Some(0), Message::SupportedExtensionHeaders { types });
                if self.budgets[at].gtpu_errors[usize::from(is_peer)].take(self.now) {
                    self.answer_gtpu(&tunnel, at, gtpu::PORT, &notification, out)?;
                }
                return Err("gtpu_extension_not_supported");
            }
            Err(_) => return Err("gtpu_malformed"),
        };
        match message.message {
            // §7.2.2: to the port that it came from, with its sequence number (§5.1).
            Message::EchoRequest => {
                self.budgets[at].gtpu_echo[usize::from(is_peer)].take(self.now).then_some(()).ok_or("gtpu_echo_rate")?;
                let response = gtpu::Repr::new(0, Some(message.sequence.unwrap_or(0)), Message::EchoResponse);
                self.answer_gtpu(&tunnel, at, tunnel.src_port, &response, out)
            }
            Message::ErrorIndication { teid, peer } => {
                // The element names the address that we sent to, which is where the packet comes from. Whether a session has that
                // tunnel the session knows (`pfcp`): one of an idle UE keeps it while it sends nothing there.
                let IpAddr::V4(peer) = peer else { return Err("gtpu_error_indication_ipv6") };
                if peer != tunnel.src {
                    return Err("gtpu_error_indication_stranger");
                }
                self.budgets[at].indications[usize::from(is_peer)].take(self.now).then_some(()).ok_or("gtpu_error_indication_rate")?;
                out.push(Action::ErrorIndication { peer, teid });
                Ok(Fate::Taken)
            }
            Message::EndMarker => {
                out.push(Action::EndMarker { endpoint: tunnel.dst, teid: message.teid, container: message.session_container });
                Ok(Fate::Taken)
            }
            Message::EchoResponse => {
                let works_again = self.paths.answered((vrf, tunnel.src), message.sequence, self.now).ok_or("gtpu_echo_response")?;
                if works_again {
                    out.push(Action::Path { peer: tunnel.src, works: true });
                }
                Ok(Fate::Taken)
            }
            Message::SupportedExtensionHeaders { .. } => Err("gtpu_supported_extension_headers"),
            Message::GPdu { .. } => Err("gtpu_unexpected_g_pdu"),
            Message::Other { .. } => Err("gtpu_unknown_message"),
        }
    }

    /// TS 29.281 §7.3.1: a G-PDU for a tunnel that we do not have is answered with an Error Indication.
    fn unknown_teid(&mut self, frame: Frame<'_>, at: usize, out: &mut Vec<Action>) -> Outcome {
        let tunnel = Tunnelled::parse(frame)?;
        let vrf = self.our_endpoint(at, tunnel.dst)?;
        // Never in answer to another message: two endpoints would answer each other for ever.
        // TEID 0 is no tunnel's (§5.1): a peer that looks for it may end one of its own.
        if tunnel.packet.message_type() != gtpu::message_type::G_PDU || tunnel.packet.teid() == 0 {
            return Err("gtpu_malformed");
        }
        let is_peer = self.peers.contains_key(&(vrf, tunnel.src));
        self.budgets[at].gtpu_errors[usize::from(is_peer)].take(self.now).then_some(()).ok_or("error_indication_rate")?;
        let message = Message::ErrorIndication { teid: tunnel.packet.teid(), peer: tunnel.dst.into() };
        let mut indication = gtpu::Repr::new(0, Some(0), message);
        // §5.2.2.1: where senders use several ports, it tells which packet caused this.
        indication.udp_port = (tunnel.src_port != gtpu::PORT).then_some(tunnel.src_port);
        self.answer_gtpu(&tunnel, at, gtpu::PORT, &indication, out)?;
        // The peer is told; the user's packet is lost.
        Err("unknown_teid")
    }

    /// The network instance of an endpoint of ours, if packets to it may come by that port.
    fn our_endpoint(&self, at: usize, ip: Ipv4Addr) -> Result<Vrf, &'static str> {
        let vrf = self.networks.endpoint_vrf(ip).ok_or("address_not_ours")?;
        let port = &self.plan.ports[at];
        if port.vrf != vrf && !port.is_vxlan() {
            return Err("address_not_ours");
        }
        Ok(vrf)
    }

    fn answer_gtpu(&self, to: &Tunnelled<'_>, at: usize, dst_port: u16, message: &gtpu::Repr<'_>, out: &mut Vec<Action>) -> Outcome {
        if !is_host(to.src.into(), to.dst.into()) {
            return Err("gtpu_malformed");
        }
        let macs = (self.plan.ports[at].mac, to.src_mac);
        answer(&self.plan, at, reply::gtpu_frame(macs, to.dst, to.src, dst_port, message), out)
    }

    /// A packet whose next hop is not resolved, is common to a network, or is ourselves.
    fn route(&mut self, frame: Frame<'_>, packet: &[u8], at: usize, mark: u32, out: &mut Vec<Action>) -> Outcome {
        let number = u16::try_from(mark).map_err(|_| "nexthop_unknown")?;
        let waiting = || Waiting::Punted(self.plan.ports[at].id, packet.to_vec());
        match self.plan.hop(number) {
            Some(Hop::Local(vrf)) => self.deliver(frame, at, *vrf, out),
            Some(Hop::Glean { vrf, port }) => {
                let (vrf, port) = (*vrf, *port);
                let destination = self.user_packet(frame, at)?.dst;
                if self.plan.on_link(vrf, destination) != Some(port) {
                    return Err("not_on_link");
                }
                let waiting = waiting();
                let number = self.glean(vrf, port, destination, out)?;
                self.neighbours.send(number, waiting, here!(self), out).map(|()| Fate::Waits)
            }
            Some(Hop::Remote { .. } | Hop::FarEnd { .. } | Hop::Machine) => Err("nexthop_unknown"),
            Some(Hop::Neighbour { .. }) | None => {
                let waiting = waiting();
                self.neighbours.send(number, waiting, here!(self), out).map(|()| Fate::Waits)
            }
        }
    }

    /// The number of a neighbour that packets were sent to.
    fn glean(&mut self, vrf: Vrf, port: usize, ip: IpAddr, out: &mut Vec<Action>) -> Result<u16, &'static str> {
        if self.neighbours.number(vrf, ip).is_none() {
            self.neighbours.make_room(here!(self), out)?;
        }
        let made = self.neighbours.ensure(vrf, port, ip, here!(self));
        let (number, ops) = made.ok_or("neighbours_full")?;
        if !ops.is_empty() {
            out.push(Action::Apply(Batch { ops }));
        }
        Ok(number)
    }

    /// A user's packet to an address of ours: an echo request is answered through the pipeline, so that the reply is
    /// metered, charged and put in the user's tunnel like any other packet from that network.
    fn deliver(&mut self, frame: Frame<'_>, at: usize, vrf: Vrf, out: &mut Vec<Action>) -> Outcome {
        let user = self.user_packet(frame, at)?;
        let owner = self.plan.ports.iter().find(|p| p.vrf == vrf && p.has(user.dst)).ok_or("address_not_ours")?;
        if user.protocol != (if user.dst.is_ipv4() { ipv4::ICMP } else { ipv6::ICMPV6 }) {
            return Err("protocol_not_served");
        }
        if owner.is_vxlan() {
            return Err("echo_behind_vxlan");
        }
        let message = match (user.src, user.dst) {
            (IpAddr::V6(src), IpAddr::V6(dst)) => icmp::Message::new_checked_v6(user.payload, src, dst),
            _ => icmp::Message::new_checked_v4(user.payload),
        };
        let echo = message.and_then(|m| Echo::parse(&m, user.dst.is_ipv6())).map_err(|_| "icmp_malformed")?;
        let request = echo.filter(|e| !e.reply).ok_or("icmp_type")?;
        if !is_host(user.src, user.dst) {
            return Err("address_not_ours");
        }
        let (port, mac) = (owner.id, owner.mac);
        self.budgets[at].users_echo.take(self.now).then_some(()).ok_or("echo_rate")?;
        out.push(Action::Reinject { port, frame: reply::echo_reply(mac, mac, user.src, user.dst, &request) });
        Ok(Fate::Answered)
    }

    /// Tells the sender of a user's packet why it is not sent on. What came by a tunnel is answered through the pipeline, in the network instance `beyond` that
    /// it was to go to, so that the answer is put in the user's tunnel; what came from a network is answered there.
    fn tell(&mut self, frame: Frame<'_>, at: usize, beyond: Vrf, problem: Problem, reason: &'static str, out: &mut Vec<Action>) -> Outcome {
        let (user, tunnelled) = self.user_bytes(frame, at);
        let packet = User::parse(user)?;
        // IPv4 packets that may be fragmented are not told that they should have been (RFC 1812 §5.2.7.1).
        let fixed = packet.src.is_ipv6() || ipv4::Packet::new_checked(user).is_ok_and(|packet| packet.dont_fragment());
        if !fixed && matches!(problem, Problem::TooBig { .. }) || !told::may_be_told(user) {
            return Err(reason);
        }
        // The kernel behind a port takes no packet that has its own address for its source; but it knows its device's MTU.
        if !tunnelled && self.plan.ports[at].reachable.is_some() {
            return Err(reason);
        }
        let vrf = if tunnelled { beyond } else { self.plan.ports[at].vrf };
        let (to, about) = (packet.src, packet.bytes);
        let (owner, ours) = self.address_towards(vrf, to).filter(|(_, ours)| is_host(to, *ours)).ok_or(reason)?;
        self.budgets[at].icmp_errors.take(to, self.now).then_some(()).ok_or(reason)?;
        if tunnelled {
            let HostPort { id, mac, .. } = self.plan.ports[owner];
            out.push(Action::Reinject { port: id, frame: reply::problem(mac, mac, ours, to, problem, about) });
            return Ok(Fate::Answered);
        }
        let frame = |src_mac, dst_mac| reply::problem(src_mac, dst_mac, ours, to, problem, about);
        self.send_own(vrf, to, frame, [reason; 2], out).map(|_| Fate::Answered)
    }

    /// The port and the address of ours to speak to `ip` from in a network instance: on its network, else any of that version. None of an overlay.
    fn address_towards(&self, vrf: Vrf, ip: IpAddr) -> Option<(usize, IpAddr)> {
        let ports = || self.plan.ports.iter().enumerate().filter(|(_, port)| port.vrf == vrf && !port.is_vxlan());
        let near = ports().find(|(_, port)| port.addresses.iter().any(|a| config::contains(*a, ip)));
        let of = |(at, port)| Some((at, reply::source_for(port, ip)?));
        near.and_then(of).or_else(|| ports().find_map(of))
    }

    /// The packet that the pipeline routes: out of the tunnel if it came by one.
    fn user_packet<'a>(&self, frame: Frame<'a>, at: usize) -> Result<User<'a>, &'static str> {
        User::parse(self.user_bytes(frame, at).0)
    }

    /// Its bytes, with what may pad them, and whether it came by a tunnel.
    fn user_bytes<'a>(&self, frame: Frame<'a>, at: usize) -> (&'a [u8], bool) {
        let tunnelled = self.plan.ports[at].id.0 & 0x80 == 0 && frame.ethertype() == ethernet::IPV4;
        if let (true, Ok(tunnel)) = (tunnelled, Tunnelled::parse(frame))
            && tunnel.packet.message_type() == gtpu::message_type::G_PDU
        {
            return (tunnel.packet.payload(), true);
        }
        (frame.payload(), false)
    }

    fn is_local(&self, vrf: Vrf, ip: IpAddr) -> bool {
        self.plan.ports.iter().any(|p| p.vrf == vrf && p.has(ip))
    }

    /// Makes the tunnel peers that are neighbours known as such, so that packets to them have a next hop of their own.
    pub fn hold_peers(&mut self, peers: impl IntoIterator<Item = (Vrf, Ipv4Addr)>) -> Result<HeldPeers, NoNextHop> {
        let mut all = HeldPeers::default();
        for (vrf, ip) in peers {
            match self.peers.entry((vrf, ip)) {
                Entry::Occupied(mut named) => *named.get_mut() += 1,
                Entry::Vacant(new) => {
                    new.insert(1);
                    self.paths.begin((vrf, ip), self.now);
                }
            }
            all.held.push((vrf, ip));
            let number = match self.neighbours.number(vrf, ip.into()) {
                Some(number) => number,
                None => {
                    // Peers behind routers need nothing.
                    let Some(port) = self.plan.on_link(vrf, ip.into()) else { continue };
                    let made = self.neighbours.ensure(vrf, port, ip.into(), here!(self));
                    let Some((number, ops)) = made else {
                        self.undo_hold(all);
                        return Err(NoNextHop);
                    };
                    all.ops.extend(ops);
                    all.made.push(number);
                    number
                }
            };
            self.neighbours.hold(number);
            all.numbers.push(number);
        }
        Ok(all)
    }

    /// After [`Host::hold_peers`], when the data plane has taken its ops: peers whose MAC address is not known are asked for it, before
    /// there are packets to them.
    pub fn ask_peers(&mut self, peers: &HeldPeers) -> Vec<Action> {
        let mut out = Vec::new();
        peers.numbers.iter().for_each(|number| self.neighbours.ask(*number, here!(self), &mut out));
        self.counted(out)
    }

    /// Takes back [`Host::hold_peers`], whose ops the data plane did not take.
    pub fn undo_hold(&mut self, peers: HeldPeers) {
        for (vrf, ip) in peers.held {
            self.release_peer(vrf, ip);
        }
        for number in peers.made {
            self.neighbours.forget(number);
        }
    }

    /// A session no longer sends to the peer. Its next hop stays for a while.
    pub fn release_peer(&mut self, vrf: Vrf, ip: Ipv4Addr) {
        if let Entry::Occupied(mut named) = self.peers.entry((vrf, ip)) {
            *named.get_mut() -= 1;
            if *named.get() == 0 {
                named.remove();
                self.paths.end((vrf, ip));
            }
        }
        self.neighbours.release_hold(vrf, ip);
    }

    /// Sends an End Marker (TS 29.281 §7.3.2) by the network instance in which the peer is known, else the access side's.
    pub fn end_marker(&mut self, to: OuterHeader, container: Option<SessionContainer>) -> Vec<Action> {
        let mut out = Vec::new();
        if let Err(reason) = self.send_end_marker(to, container, &mut out) {
            out.push(Action::Unsent { reason });
        }
        self.counted(out)
    }

    fn send_end_marker(&mut self, to: OuterHeader, session_container: Option<SessionContainer>, out: &mut Vec<Action>) -> Outcome {
        let ip = IpAddr::V4(to.ipv4);
        let known = self.networks.vrfs().find(|vrf| self.neighbours.number(*vrf, ip).is_some());
        let towards = Clues { peer: Some(to.ipv4), ..Clues::default() };
        let access = || self.networks.resolve(pfcp::rules::Interface::Access, None, &towards).ok();
        let routed = || self.networks.vrfs().find(|vrf| self.plan.route(*vrf, ip).is_some());
        let vrf =
            known.or_else(|| access().filter(|vrf| self.plan.route(*vrf, ip).is_some())).or_else(routed).ok_or("end_marker_no_route")?;
        let marker = gtpu::Repr { session_container, ..gtpu::Repr::new(to.teid, None, Message::EndMarker) };
        self.send_gtpu(vrf, to.ipv4, &marker, out)
    }

    /// Sends a message of ours to a GTP-U peer; the reasons why it cannot are those of End Markers.
    fn send_gtpu(&mut self, vrf: Vrf, to: Ipv4Addr, message: &gtpu::Repr<'_>, out: &mut Vec<Action>) -> Outcome {
        let src = self.networks.endpoints(vrf).first().copied().ok_or("end_marker_no_endpoint")?;
        let frame = |src_mac: Mac, dst_mac: Mac| reply::gtpu_frame((src_mac, dst_mac), src, to, gtpu::PORT, message);
        self.send_own(vrf, to.into(), frame, ["end_marker_no_route", "end_marker_to_ourselves"], out)
    }

    /// Sends a frame of ours, made for two MAC addresses, to where the routes of a network instance lead; the reasons are of there being no route, and of one to us.
    fn send_own(
        &mut self,
        vrf: Vrf,
        ip: IpAddr,
        frame: impl Fn(Mac, Mac) -> Vec<u8>,
        [no_route, to_ourselves]: [&'static str; 2],
        out: &mut Vec<Action>,
    ) -> Outcome {
        let number = match self.neighbours.number(vrf, ip) {
            Some(number) => number,
            None => self.plan.route(vrf, ip).ok_or(no_route)?,
        };
        let (number, port) = match self.plan.hop(number) {
            Some(Hop::Remote { port, remote, .. }) => {
                let mac = self.plan.ports[*port].mac;
                return answer(&self.plan, *port, frame(mac, Mac(remote.mac)), out);
            }
            Some(Hop::FarEnd { port, mac, .. }) => return answer(&self.plan, *port, frame(self.plan.ports[*port].mac, *mac), out),
            Some(Hop::Local(_) | Hop::Machine) => return Err(to_ourselves),
            Some(Hop::Glean { vrf, port }) => {
                let (vrf, port) = (*vrf, *port);
                if self.plan.on_link(vrf, ip) != Some(port) {
                    return Err("not_on_link");
                }
                (self.glean(vrf, port, ip, out)?, port)
            }
            Some(Hop::Neighbour { port, .. }) => (number, *port),
            // A neighbour that is not of the configuration.
            None => (number, self.plan.on_link(vrf, ip).ok_or(no_route)?),
        };
        let waiting = Waiting::Own(frame(self.plan.ports[port].mac, Mac::default()));
        self.neighbours.send(number, waiting, here!(self), out).map(|()| Fate::Waits)
    }
}

/// Sends a frame of ours by a port: as it is, or inside VXLAN to the remote that has its destination address.
fn answer(plan: &Plan, at: usize, frame: Vec<u8>, out: &mut Vec<Action>) -> Outcome {
    let port: &HostPort = &plan.ports[at];
    if !port.is_vxlan() {
        out.push(Action::Transmit { port: port.id, frame });
        return Ok(Fate::Answered);
    }
    let destination = Frame::new_checked(&frame).map_err(|_| "frame_too_short")?.dst();
    let remote = plan.hops.values().find_map(|hop| match hop {
        Hop::Remote { port, remote, .. } if *port == at && Mac(remote.mac) == destination => Some(remote),
        _ => None,
    });
    let remote = remote.ok_or("vxlan_remote_unknown")?;
    let around = vxlan::Repr {
        dst_mac: Mac(remote.underlay_mac),
        src_mac: port.mac,
        local_vtep: remote.local_vtep,
        remote_vtep: remote.remote_vtep,
        vni: remote.vni,
        // RFC 7348 §5 wants 49152-65535.
        src_port: 0xc000,
    };
    let mut wrapped = Vec::new();
    around.emit(&frame, &mut wrapped);
    out.push(Action::Transmit { port: port.id, frame: wrapped });
    Ok(Fate::Answered)
}

/// The frame inside VXLAN on a VXLAN port; one whose VXLAN the pipeline has taken off is as it is.
fn out_of_vxlan<'a>(port: &HostPort, frame: Frame<'a>) -> Frame<'a> {
    let inside = || {
        let ip = ipv4::Packet::new_checked(frame.payload()).ok().filter(|ip| ip.protocol() == ipv4::UDP && !ip.is_fragment())?;
        let udp = udp::Datagram::new_checked(ip.payload()).ok().filter(|udp| udp.dst_port() == vxlan::PORT)?;
        Frame::new_checked(vxlan::Packet::new_checked(udp.payload()).ok()?.payload()).ok()
    };
    match port.is_vxlan() && frame.ethertype() == ethernet::IPV4 {
        true => inside().unwrap_or(frame),
        false => frame,
    }
}

/// An address that an answer may be sent to from `ours`. One of this machine's own (127/8) only where ours is one, too (RFC 1122
/// §3.2.1.3): then the network is a loopback interface.
fn is_host(ip: IpAddr, ours: IpAddr) -> bool {
    let broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
    !ip.is_unspecified() && !ip.is_multicast() && (!ip.is_loopback() || ours.is_loopback()) && !broadcast
}

/// A GTP-U message in UDP in IPv4.
struct Tunnelled<'a> {
    src_mac: Mac,
    src: Ipv4Addr,
    dst: Ipv4Addr,
    src_port: u16,
    packet: gtpu::Packet<'a>,
}

impl<'a> Tunnelled<'a> {
    fn parse(frame: Frame<'a>) -> Result<Tunnelled<'a>, &'static str> {
        let ip = ipv4::Packet::new_checked(frame.payload()).map_err(|_| "ipv4_malformed")?;
        if ip.is_fragment() || ip.protocol() != ipv4::UDP {
            return Err("gtpu_malformed");
        }
        let udp = udp::Datagram::new_checked(ip.payload()).map_err(|_| "udp_malformed")?;
        udp.verify_ipv4(ip.src(), ip.dst()).map_err(|_| "udp_malformed")?;
        if udp.dst_port() != gtpu::PORT {
            return Err("gtpu_malformed");
        }
        let packet = gtpu::Packet::new_checked(udp.payload()).map_err(|_| "gtpu_malformed")?;
        Ok(Tunnelled { src_mac: frame.src(), src: ip.src(), dst: ip.dst(), src_port: udp.src_port(), packet })
    }
}

/// A user's packet of either IP version.
struct User<'a> {
    src: IpAddr,
    dst: IpAddr,
    protocol: u8,
    payload: &'a [u8],
    /// All of it, without what pads it.
    bytes: &'a [u8],
}

impl<'a> User<'a> {
    fn parse(bytes: &'a [u8]) -> Result<User<'a>, &'static str> {
        if bytes.first().is_some_and(|b| b >> 4 == 6) {
            let p = ipv6::Packet::new_checked(bytes).map_err(|_| "ipv6_malformed")?;
            return Ok(User {
                src: p.src().into(),
                dst: p.dst().into(),
                protocol: p.next_header(),
                payload: p.payload(),
                bytes: p.bytes(),
            });
        }
        let p = ipv4::Packet::new_checked(bytes).map_err(|_| "ipv4_malformed")?;
        // A fragment has no header of its payload's protocol to answer to; on its way to others that does not matter.
        let protocol = if p.is_fragment() { u8::MAX } else { p.protocol() };
        Ok(User { src: p.src().into(), dst: p.dst().into(), protocol, payload: p.payload(), bytes: p.bytes() })
    }
}
