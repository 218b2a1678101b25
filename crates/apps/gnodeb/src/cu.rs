//! The side of N3: PDU sessions, SDAP, PDCP (the CU-UP of TS 38.401 §6.1.2).
//!
//! A downlink packet waits in PDCP until the DU has asked for its bytes (TS 38.425 §5.4.2.1): what overflows is dropped before it has a
//! sequence number.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};

use ciphering::{Direction, Engine};
use gnb::nru::{DeliveryStatus, UserData};
use gnb::pdcp::handover::{HandoverError, held_bytes};
use gnb::sdap::{self, DrbId, Qfi, Uplink};
use wire::gtpu::{self, Message, Repr, SessionContainer};

use crate::Bearer;
use crate::bearer::{Pdcp, Side};
use crate::config::{self, GnbUe, RlcMode, Session};
use crate::counts::{Count, Drops, UeCounts, UeReport, add, add_layer, count};
use crate::du::QUIET_NS;
use crate::forwarding::{self, Forwarded};
use crate::handover::{Arriving, Backlog, DrbStatus, Forwarding, Held, SnStatus};
use crate::n3::{self, Asked};

/// A DU that says nothing of what it was given for so long is asked for a report, ns.
const POLL_NS: u64 = 100_000_000;
/// How often the configured `du_kbytes` a DU may ask for, or the configured `queue_kbytes` once, if that is more.
const MOST_DESIRED: u64 = 16;
const NRU_MASK: u32 = 0xff_ffff;
/// Of the End Markers that a UPF sends for a session, which it may repeat, so many go to the target: they wait behind the SDUs, and so have a limit.
const FORWARDED_END_MARKERS: u8 = 4;

/// A frame for the DU, with a PDCP PDU or without.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToDu {
    /// Its bearer.
    pub bearer: Bearer,
    /// NR-U's fields.
    pub frame: UserData,
    /// The PDCP PDU; empty: none.
    pub pdu: Vec<u8>,
}

/// What a call has to send.
#[derive(Default, Debug)]
pub struct Output {
    /// By F1-U.
    pub to_du: Vec<ToDu>,
    /// By N3.
    pub n3: Vec<(SocketAddrV4, Vec<u8>)>,
}

/// The CU-UP.
pub struct Cu {
    n3: Ipv4Addr,
    engine: Engine,
    ues: BTreeMap<u16, Ue>,
    /// By the TEID of the downlink tunnel.
    teids: HashMap<u32, u16>,
    /// By the TEID of a tunnel that another gNodeB forwards by.
    forwarding: HashMap<u32, Tunnel>,
    /// What other gNodeBs get.
    backlog: Backlog,
    drops: Drops,
}

/// A tunnel that another gNodeB forwards by.
#[derive(Clone, Copy, Debug)]
struct Tunnel {
    bearer: Bearer,
    direction: Direction,
    /// That gNodeB.
    from: Ipv4Addr,
}

/// A UE that goes to another gNodeB: what comes for it is forwarded.
struct Leaving {
    to: SocketAddrV4,
    /// TEIDs of the bearers' downlink tunnels.
    teids: BTreeMap<DrbId, u32>,
    /// Bytes of SDUs that came since and wait to be forwarded, and the most that may.
    bytes: u64,
    limit_bytes: u64,
    /// End Markers that were forwarded.
    end_markers: u8,
}

struct Ue {
    session: Session,
    sdap: sdap::Gnb,
    drbs: BTreeMap<DrbId, Drb>,
    /// It has no bearers then.
    leaving: Option<Leaving>,
    uplink: Count,
    downlink: Count,
    end_markers: u64,
    /// Of bearers that have ended.
    count_high: u64,
    forwarded_sent: Count,
    forwarded_received: Count,
    drops: Drops,
}

struct Drb {
    config: config::Drb,
    pdcp: Pdcp,
    /// Of a UE that has come from another gNodeB, or may.
    arriving: Option<Arriving>,
    /// Behind the highest COUNT that the DU was given.
    given: u32,
    /// NR-U sequence number of the next frame.
    next_sn: u32,
    /// What the DU was given for the first time, and again: it reports of each apart.
    first: Given,
    again: Given,
    /// Until then reports of what was given again may be of an RLC entity that is no more.
    again_from: u64,
    desired: u64,
    /// What a DU is believed, however much it asks for: it bounds what it is given.
    most_desired: u64,
    /// When to ask for a report.
    poll: Option<u64>,
}

/// PDUs that the DU was given, in the order of their NR-U sequence numbers: of RLC AM those that the UE may not have, of RLC UM those that wait for the radio
/// (TS 38.425 §5.4.2.1: the DU asks for bytes beyond what was delivered, or transmitted).
#[derive(Default)]
struct Given {
    pdus: VecDeque<GivenPdu>,
    bytes: u64,
}

#[derive(Clone, Copy)]
struct GivenPdu {
    /// NR-U's.
    sn: u32,
    count: u32,
    bytes: u64,
}

impl Given {
    fn push(&mut self, pdu: GivenPdu) {
        self.bytes += pdu.bytes;
        self.pdus.push_back(pdu);
    }

    /// Takes out those whose NR-U sequence numbers are `from` to `to`.
    fn lose(&mut self, from: u32, to: u32, lost: &mut impl FnMut(u32)) {
        let span = to.wrapping_sub(from) & NRU_MASK;
        let bytes = &mut self.bytes;
        self.pdus.retain(|pdu| {
            let is_lost = pdu.sn.wrapping_sub(from) & NRU_MASK <= span;
            if is_lost {
                *bytes -= pdu.bytes;
                lost(pdu.count);
            }
            !is_lost
        });
    }

    /// Takes out the first `many`.
    fn settle(&mut self, many: usize, settled: &mut impl FnMut(u32)) {
        for pdu in self.pdus.drain(..many) {
            self.bytes -= pdu.bytes;
            settled(pdu.count);
        }
    }

    fn clear(&mut self) {
        *self = Given::default();
    }
}

impl Cu {
    /// A CU-UP with these UEs. `ues` are of a checked configuration.
    pub fn new(n3: Ipv4Addr, engine: Engine, ues: &[GnbUe]) -> Cu {
        let (teids, forwarding, backlog) = (HashMap::new(), HashMap::new(), Backlog::default());
        let mut cu = Cu { n3, engine, ues: BTreeMap::new(), teids, forwarding, backlog, drops: Drops::new() };
        cu.change(ues, &[], 0);
        cu
    }

    /// UEs that are new, or other than they were, and some that are no more: what waits for those is dropped.
    pub fn change(&mut self, set: &[GnbUe], released: &[u16], now_ns: u64) {
        for id in released {
            self.ues.remove(id);
            self.backlog.release(*id);
        }
        set.iter().for_each(|ue| self.set(ue, now_ns));
        // A TEID may have passed from one to another.
        self.teids = self.ues.iter().map(|(id, ue)| (ue.session.downlink_teid, *id)).collect();
        let ues = &self.ues;
        self.forwarding.retain(|_, Tunnel { bearer, .. }| ues.contains_key(&bearer.ue));
    }

    /// UEs that were made just now may come from the gNodeB `from`: their bearers wait for [`Cu::arrive`].
    pub fn prepare(&mut self, from: Ipv4Addr, forwarding: &[Forwarding]) {
        for Forwarding { id, drb: tunnels, .. } in forwarding {
            let Some(ue) = self.ues.get_mut(id) else { continue };
            for tunnels in tunnels {
                let Some((drb_id, drb)) = DrbId::new(tunnels.id).and_then(|id| ue.drbs.get_mut(&id).map(|drb| (id, drb))) else { continue };
                drb.arriving = Some(Arriving::new(drb.config.queue_bytes));
                let bearer = Bearer { ue: *id, drb: drb_id };
                for (teid, direction) in [(tunnels.downlink_teid, Direction::Downlink), (tunnels.uplink_teid, Direction::Uplink)] {
                    self.forwarding.insert(teid, Tunnel { bearer, direction, from });
                }
            }
        }
    }

    /// UEs go to another gNodeB: what they may not have is forwarded, and all that comes later. It was checked.
    pub fn hand_over(&mut self, forwarding: &[Forwarding], out: &mut Output) -> Vec<SnStatus> {
        let mut statuses = Vec::with_capacity(forwarding.len());
        for Forwarding { id, to, drb: tunnels } in forwarding {
            let Some(ue) = self.ues.get_mut(id) else { continue };
            let mut leaving = Leaving { to: config::gtpu(*to), teids: BTreeMap::new(), bytes: 0, limit_bytes: 0, end_markers: 0 };
            let mut status = SnStatus { id: *id, drb: Vec::new() };
            for tunnels in tunnels {
                let Some((drb_id, drb)) = DrbId::new(tunnels.id).and_then(|id| ue.drbs.remove(&id).map(|drb| (id, drb))) else { continue };
                drb.pdcp.drops(&mut ue.drops);
                ue.count_high += drb.pdcp.count_high();
                leaving.teids.insert(drb_id, tunnels.downlink_teid);
                leaving.limit_bytes += drb.config.queue_bytes;
                let (session, sdap, uplink) = (&ue.session, &mut ue.sdap, &mut ue.uplink);
                let acknowledged = drb.pdcp.acknowledged;
                let (down_bits, up_bits) = (drb.pdcp.sn_length(), drb.pdcp.receive_sn_length());
                let (down, up) = drb.pdcp.hand_over(&mut |sdu| to_upf(session, sdap, drb_id, sdu, uplink, out));
                let mut forward = |teid, number, sdu: &[u8]| self.backlog.sdu(*id, leaving.to, teid, number, sdu);
                for (count, sdu) in up.waiting {
                    sdu.iter().for_each(|sdu| forward(tunnels.uplink_teid, Some((up_bits, count)), sdu));
                }
                down.numbered.iter().for_each(|(count, sdu)| forward(tunnels.downlink_teid, Some((down_bits, *count)), sdu));
                down.fresh.iter().for_each(|sdu| forward(tunnels.downlink_teid, None, sdu));
                // It has come, and goes on before all has come behind it.
                if let Some(mut arriving) = drb.arriving {
                    arriving.switch.end_marker(&mut |sdu| forward(tunnels.downlink_teid, None, &sdu));
                }
                if acknowledged {
                    status.drb.push(DrbStatus { id: tunnels.id, downlink_count: down.next, uplink_count: up.deliv });
                }
            }
            ue.leaving = Some(leaving);
            statuses.push(status);
        }
        statuses
    }

    /// Where COUNTs are.
    pub fn counts(&self) -> Vec<UeCounts> {
        let of = |(id, ue): (&u16, &Ue)| UeCounts { id: *id, drb: ue.drbs.values().map(|drb| drb.pdcp.counts()).collect() };
        self.ues.iter().filter(|(_, ue)| !ue.drbs.is_empty()).map(of).collect()
    }

    /// PDCP recovers data of a UE's bearers of RLC AM (TS 38.323 §5.5): what was under way to the UE is lost with its RLC, which has begun anew.
    pub fn recover(&mut self, id: u16, now_ns: u64, out: &mut Output) {
        let Some(ue) = self.ues.get_mut(&id) else { return };
        for (drb_id, drb) in ue.drbs.iter_mut().filter(|(_, drb)| drb.pdcp.acknowledged) {
            if drb.arriving.as_ref().is_some_and(|arriving| !arriving.has_begun()) {
                continue;
            }
            drb.pdcp.recover_data();
            drb.go_on(Bearer { ue: id, drb: *drb_id }, &mut self.engine, now_ns, out);
        }
    }

    /// PDCP of a UE's bearers is re-established under other keys (TS 38.323 §5.1.2), over RLC that has begun anew. What is under way is lost; of RLC AM it goes again.
    pub fn rekey(&mut self, ue: &GnbUe, now_ns: u64, out: &mut Output) {
        let Some(Ue { session, sdap, drbs, uplink, .. }) = self.ues.get_mut(&ue.id) else { return };
        for config in &ue.drbs {
            let id = config.sdap.id;
            let Some(drb) = drbs.get_mut(&id) else { continue };
            drb.pdcp.re_establish(config, &self.engine, &mut |sdu| to_upf(session, sdap, id, sdu, uplink, out));
            drb.config = config.clone();
            if !drb.pdcp.acknowledged {
                drb.given = 0;
            }
            drb.go_on(Bearer { ue: ue.id, drb: id }, &mut self.engine, now_ns, out);
        }
    }

    /// UEs that were prepared go on with another gNodeB's numbers.
    ///
    /// # Errors
    /// Which UE and bearer, by their places, and why not; nothing has changed then.
    pub fn arrive(&mut self, statuses: &[SnStatus], now_ns: u64, out: &mut Output) -> Result<Vec<Arrived>, ArriveError> {
        let mut entities = Vec::new();
        for (place, status) in statuses.iter().enumerate() {
            for (at, of) in status.drb.iter().enumerate() {
                let drb = DrbId::new(of.id).and_then(|id| Some((id, self.ues.get(&status.id)?.drbs.get(&id)?)));
                let Some((id, drb)) = drb else { continue };
                let pdcp = Pdcp::take_over(status.id, &drb.config, &self.engine, of.downlink_count, of.uplink_count, now_ns);
                entities.push((Bearer { ue: status.id, drb: id }, pdcp.map_err(|why| ArriveError { ue: place, drb: at, why })?));
            }
        }
        for (bearer, pdcp) in entities {
            let Some(drb) = self.ues.get_mut(&bearer.ue).and_then(|ue| ue.drbs.get_mut(&bearer.drb)) else { continue };
            drb.given = pdcp.next().saturating_sub(drb.config.window);
            drb.pdcp = pdcp;
        }
        Ok(statuses.iter().map(|status| Arrived { ue: status.id, next: self.begin(status.id, now_ns, out) }).collect())
    }

    /// A UE's bearers begin with what was held for them.
    fn begin(&mut self, id: u16, now_ns: u64, out: &mut Output) -> Vec<(DrbId, u32)> {
        let mut next = Vec::new();
        let Some(ue) = self.ues.get_mut(&id) else { return next };
        for drb_id in ue.drbs.keys().copied().collect::<Vec<_>>() {
            let Some(arriving) = ue.drbs.get_mut(&drb_id).and_then(|drb| drb.arriving.as_mut()) else { continue };
            for held in arriving.begin() {
                ue.take(drb_id, held, now_ns, out);
            }
            let Some(drb) = ue.drbs.get_mut(&drb_id) else { continue };
            let bearer = Bearer { ue: id, drb: drb_id };
            if let Some(report) = drb.pdcp.status_report() {
                next.push((drb_id, drb.given));
                let frame = UserData { sn: drb.number(), ..UserData::default() };
                out.to_du.push(ToDu { bearer, frame, pdu: report });
            }
            drb.pump(bearer, &mut self.engine, now_ns, out);
        }
        next
    }

    /// Bearers that stay as they are go on, and those of which only timers and limits are others.
    fn set(&mut self, ue: &GnbUe, now_ns: u64) {
        let session = ue.session.expect("a checked configuration has a session for a CU");
        let mut before = self.ues.remove(&ue.id);
        let engine = &self.engine;
        let drb = |drb: &config::Drb| {
            if let Some(drbs) = before.as_mut().map(|before: &mut Ue| &mut before.drbs)
                && drbs.get(&drb.sdap.id).is_some_and(|before| drb.goes_on(&before.config))
                && let Some(mut goes_on) = drbs.remove(&drb.sdap.id)
            {
                goes_on.reconfigure(drb, now_ns);
                return (drb.sdap.id, goes_on);
            }
            let pdcp = Pdcp::new(ue.id, drb, Side::Gnb, engine).expect("the configuration was checked");
            let drb_state = Drb {
                config: drb.clone(),
                pdcp,
                arriving: None,
                given: 0,
                next_sn: 0,
                first: Given::default(),
                again: Given::default(),
                again_from: 0,
                desired: u64::from(drb.du_bytes),
                most_desired: most_desired(drb),
                poll: None,
            };
            (drb.sdap.id, drb_state)
        };
        let mut state = Ue {
            session,
            sdap: sdap::Gnb::new(&ue.sdap).expect("the configuration was checked"),
            drbs: ue.drbs.iter().map(drb).collect(),
            leaving: None,
            uplink: Count::default(),
            downlink: Count::default(),
            end_markers: 0,
            count_high: 0,
            forwarded_sent: Count::default(),
            forwarded_received: Count::default(),
            drops: Drops::new(),
        };
        if let Some(before) = before {
            let Ue { uplink, downlink, end_markers, forwarded_sent, forwarded_received, .. } = before;
            (state.uplink, state.downlink, state.end_markers) = (uplink, downlink, end_markers);
            (state.forwarded_sent, state.forwarded_received) = (forwarded_sent, forwarded_received);
            state.drops = before.drops();
            state.count_high = before.count_high();
        }
        self.ues.insert(ue.id, state);
    }

    /// A datagram of N3.
    pub fn n3(&mut self, datagram: &[u8], from: SocketAddrV4, now_ns: u64, out: &mut Output) {
        let Ok(packet) = gtpu::Packet::new_checked(datagram) else { return count(&mut self.drops, "n3.malformed") };
        if let Some(tunnel) = self.forwarding.get(&packet.teid()) {
            return self.forwarded(*tunnel, &packet, from, now_ns, out);
        }
        let Ok(repr) = Repr::parse(&packet) else { return count(&mut self.drops, "n3.malformed") };
        if let Message::GPdu { payload } = repr.message {
            return self.g_pdu(repr.teid, repr.session_container, payload, from, now_ns, out);
        }
        match n3::read(&repr) {
            Asked::Answer(answer) => out.n3.push((from, answer)),
            Asked::EndMarker(teid) => match self.teids.get(&teid).and_then(|ue| self.ues.get_mut(ue)) {
                Some(ue) if *from.ip() != ue.session.uplink.addr => count(&mut ue.drops, "n3.wrong_source"),
                Some(ue) => {
                    ue.end_markers += 1;
                    if let Some(Leaving { to, teids, end_markers, .. }) = &mut ue.leaving
                        && *end_markers < FORWARDED_END_MARKERS
                    {
                        *end_markers += 1;
                        teids.values().for_each(|target| self.backlog.end_marker(self.teids[&teid], *to, *target));
                    }
                }
                None => count(&mut self.drops, "n3.unknown_teid"),
            },
            Asked::Nothing(reason) => count(&mut self.drops, reason),
        }
    }

    fn g_pdu(&mut self, teid: u32, container: Option<SessionContainer>, payload: &[u8], from: SocketAddrV4, now_ns: u64, out: &mut Output) {
        let Some((id, ue)) = self.teids.get(&teid).and_then(|id| self.ues.get_mut(id).map(|ue| (*id, ue))) else {
            count(&mut self.drops, "n3.unknown_teid");
            out.n3.push((config::gtpu(*from.ip()), n3::error_indication(teid, self.n3)));
            return;
        };
        if *from.ip() != ue.session.uplink.addr {
            return count(&mut ue.drops, "n3.wrong_source");
        }
        let (qfi, rqi) = match container {
            Some(SessionContainer::Downlink { qfi, rqi, .. }) => (qfi, rqi),
            Some(SessionContainer::Uplink { .. }) => return count(&mut ue.drops, "n3.uplink_session_container"),
            None => return count(&mut ue.drops, "n3.no_session_container"),
        };
        let qfi = Qfi::new(qfi).expect("the container has 6 bits of it");
        // SDAP counts its own drops, and so does PDCP.
        let Ok(mapped) = ue.sdap.downlink(qfi, rqi) else { return };
        let mut sdu = Vec::with_capacity(payload.len() + 1);
        sdu.extend(mapped.header);
        sdu.extend_from_slice(payload);
        if let Some(Leaving { to, teids, bytes, limit_bytes, .. }) = &mut ue.leaving {
            let Some(teid) = teids.get(&mapped.drb) else { return };
            if *bytes + held_bytes(sdu.len()) > *limit_bytes {
                return count(&mut ue.drops, "forwarding.queue");
            }
            *bytes += held_bytes(sdu.len());
            add(&mut ue.downlink, payload.len());
            return self.backlog.sdu(id, *to, *teid, None, &sdu);
        }
        let Some(drb) = ue.drbs.get_mut(&mapped.drb) else { return };
        let sdu = match &mut drb.arriving {
            // All that is forwarded goes before it.
            Some(arriving) => {
                let dropped = arriving.switch.dropped();
                let sdu = arriving.switch.packet(sdu, now_ns);
                if arriving.switch.dropped() > dropped {
                    return count(&mut ue.drops, "forwarding.queue");
                }
                sdu
            }
            None => Some(sdu),
        };
        let Some(sdu) = sdu else { return add(&mut ue.downlink, payload.len()) };
        if drb.pdcp.enqueue(sdu, now_ns).is_ok() {
            add(&mut ue.downlink, payload.len());
            drb.pump(Bearer { ue: id, drb: mapped.drb }, &mut self.engine, now_ns, out);
        }
    }

    /// A message of another gNodeB about a UE that has come from it, or will.
    fn forwarded(&mut self, tunnel: Tunnel, packet: &gtpu::Packet<'_>, from: SocketAddrV4, now_ns: u64, out: &mut Output) {
        let Tunnel { bearer, direction, from: source } = tunnel;
        let Some(ue) = self.ues.get_mut(&bearer.ue) else { return };
        if *from.ip() != source {
            return count(&mut ue.drops, "forwarding.wrong_source");
        }
        let came = match forwarding::read(packet) {
            Ok(Forwarded::EndMarker) if direction == Direction::Downlink => Held::EndMarker,
            Ok(Forwarded::EndMarker) => return,
            Ok(Forwarded::Sdu { sn, sdu }) => {
                add(&mut ue.forwarded_received, sdu.len());
                match (direction, sn) {
                    (Direction::Downlink, sn) => Held::Downlink(sn, sdu.to_vec()),
                    (Direction::Uplink, Some(sn)) => Held::Uplink(sn, sdu.to_vec()),
                    (Direction::Uplink, None) => return count(&mut ue.drops, "forwarding.no_number"),
                }
            }
            Err(fault) => return count(&mut ue.drops, fault.name()),
        };
        let Some(drb) = ue.drbs.get_mut(&bearer.drb) else { return count(&mut ue.drops, "forwarding.left") };
        let held = match &mut drb.arriving {
            Some(arriving) => arriving.hold(came),
            None => Err("forwarding.no_handover"),
        };
        match held {
            Ok(Some(came)) => {
                ue.take(bearer.drb, came, now_ns, out);
                if let Some(drb) = ue.drbs.get_mut(&bearer.drb) {
                    drb.pump(bearer, &mut self.engine, now_ns, out);
                }
            }
            Ok(None) => {}
            Err(reason) => count(&mut ue.drops, reason),
        }
    }

    /// PDCP PDUs of the DU.
    pub fn uplink(&mut self, bearer: Bearer, pdus: impl IntoIterator<Item = Vec<u8>>, now_ns: u64, out: &mut Output) {
        let Some(ue) = self.ues.get_mut(&bearer.ue) else { return count(&mut self.drops, "f1u.unknown_bearer") };
        let Ue { session, sdap, drbs, uplink, .. } = ue;
        let Some(drb) = drbs.get_mut(&bearer.drb) else { return count(&mut self.drops, "f1u.unknown_bearer") };
        let mut there = Vec::new();
        let up = &mut |sdu: &[u8]| to_upf(session, sdap, bearer.drb, sdu, uplink, out);
        drb.pdcp.receive(&mut self.engine, pdus, now_ns, up, &mut |count| there.push(count));
        drb.discard(bearer, &there, out);
        // A status report may have made room in PDCP's window.
        drb.pump(bearer, &mut self.engine, now_ns, out);
    }

    /// A report of the DU (TS 38.425 §5.5.2.2).
    pub fn status(&mut self, bearer: Bearer, status: &DeliveryStatus, now_ns: u64, out: &mut Output) {
        let Some(drb) = self.ues.get_mut(&bearer.ue).and_then(|ue| ue.drbs.get_mut(&bearer.drb)) else {
            return count(&mut self.drops, "f1u.unknown_bearer");
        };
        drb.status(status, now_ns);
        drb.pump(bearer, &mut self.engine, now_ns, out);
        drb.poll = drb.waits_for_du().then_some(now_ns + POLL_NS);
    }

    /// Lets timers run out.
    pub fn advance(&mut self, now_ns: u64, out: &mut Output) {
        let ues = &mut self.ues;
        self.backlog.send(now_ns, |id, to, datagram| {
            if let Some(ue) = ues.get_mut(&id) {
                ue.was_forwarded(&datagram);
            }
            out.n3.push((to, datagram));
        });
        for (id, ue) in &mut self.ues {
            let Ue { session, sdap, drbs, uplink, .. } = ue;
            for (drb_id, drb) in drbs {
                if drb.next_deadline().is_none_or(|deadline| deadline > now_ns) {
                    continue;
                }
                let bearer = Bearer { ue: *id, drb: *drb_id };
                let mut discarded = Vec::new();
                drb.pdcp.advance(now_ns, &mut |sdu| to_upf(session, sdap, *drb_id, sdu, uplink, out), &mut |count| discarded.push(count));
                drb.discard(bearer, &discarded, out);
                let Drb { arriving, pdcp, .. } = drb;
                if let Some(arriving) = arriving.as_mut().filter(|arriving| arriving.has_begun())
                    && arriving.switch.advance(now_ns, &mut |sdu| enqueue(pdcp, sdu, now_ns))
                {
                    count(&mut ue.drops, "forwarding.no_end_marker");
                    drb.pump(bearer, &mut self.engine, now_ns, out);
                }
                if drb.poll.is_some_and(|poll| poll <= now_ns) {
                    let frame = UserData { sn: drb.number(), report_polling: true, ..UserData::default() };
                    out.to_du.push(ToDu { bearer, frame, pdu: Vec::new() });
                    drb.poll = Some(now_ns + POLL_NS);
                }
            }
        }
    }

    /// When to call [`Cu::advance`].
    pub fn next_deadline(&self) -> Option<u64> {
        let bearers = self.ues.values().flat_map(|ue| ue.drbs.values()).filter_map(Drb::next_deadline).min();
        bearers.into_iter().chain(self.backlog.next_deadline()).min()
    }

    /// SDUs that wait or are not delivered.
    pub fn queued(&self) -> usize {
        self.ues.values().flat_map(|ue| ue.drbs.values()).map(|drb| drb.pdcp.queued().0).sum()
    }

    /// Adds what was counted.
    pub fn report(&self, ues: &mut BTreeMap<u16, UeReport>, drops: &mut Drops) {
        for (id, ue) in &self.ues {
            let report = ues.entry(*id).or_insert_with(|| UeReport { ue: *id, ..UeReport::default() });
            (report.uplink, report.downlink, report.end_markers) = (ue.uplink, ue.downlink, ue.end_markers);
            (report.forwarded_sent, report.forwarded_received) = (ue.forwarded_sent, ue.forwarded_received);
            report.count_high += ue.count_high();
            for (reason, number) in ue.drops() {
                *report.drops.entry(reason).or_default() += number;
            }
        }
        for (reason, number) in &self.drops {
            *drops.entry(reason.clone()).or_default() += number;
        }
    }
}

/// A UE that goes on here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrived {
    /// Its number.
    pub ue: u16,
    /// Its bearers of RLC AM, with the COUNT from which on they may send.
    pub next: Vec<(DrbId, u32)>,
}

/// Which of the UEs cannot go on, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("ue[{ue}].drb[{drb}]: {why}")]
pub struct ArriveError {
    ue: usize,
    drb: usize,
    why: HandoverError,
}

impl Ue {
    /// What has come by a forwarding tunnel. PDCP counts its own drops.
    fn take(&mut self, id: DrbId, came: Held, now_ns: u64, out: &mut Output) {
        let Ue { session, sdap, drbs, uplink, .. } = self;
        let Some(Drb { pdcp, arriving, .. }) = drbs.get_mut(&id) else { return };
        match came {
            Held::Downlink(sn, sdu) => {
                let _ = pdcp.forwarded(sn, sdu, now_ns);
            }
            Held::Uplink(sn, sdu) => pdcp.forwarded_uplink(sn, &sdu, now_ns, &mut |sdu| to_upf(session, sdap, id, sdu, uplink, out)),
            Held::EndMarker => {
                if let Some(arriving) = arriving {
                    arriving.switch.end_marker(&mut |sdu| enqueue(pdcp, sdu, now_ns));
                }
            }
        }
    }

    /// Directions in which COUNT came to be high.
    fn count_high(&self) -> u64 {
        self.count_high + self.drbs.values().map(|drb| drb.pdcp.count_high()).sum::<u64>()
    }

    /// Counts what another gNodeB was sent.
    fn was_forwarded(&mut self, datagram: &[u8]) {
        let Ok(packet) = gtpu::Packet::new_checked(datagram) else { return };
        if packet.message_type() == gtpu::message_type::G_PDU {
            add(&mut self.forwarded_sent, packet.payload().len());
            if let Some(leaving) = &mut self.leaving {
                leaving.bytes = leaving.bytes.saturating_sub(held_bytes(packet.payload().len()));
            }
        }
    }

    /// Its drops, with those of its layers.
    fn drops(&self) -> Drops {
        let mut drops = self.drops.clone();
        add_layer(&mut drops, "sdap", sdap::Drop::ALL.map(|why| (why.name(), self.sdap.dropped(why))));
        self.drbs.values().for_each(|drb| drb.pdcp.drops(&mut drops));
        drops
    }
}

/// A packet that has waited for others. PDCP counts its own drops.
fn enqueue(pdcp: &mut Pdcp, sdu: Vec<u8>, now_ns: u64) {
    let _ = pdcp.enqueue(sdu, now_ns);
}

/// An SDU of PDCP to the UPF.
fn to_upf(session: &Session, sdap: &mut sdap::Gnb, drb: DrbId, sdu: &[u8], uplink: &mut Count, out: &mut Output) {
    // A flow's end marker says that its packets of this bearer are over (TS 37.324 §5.3.1): there is no order to be kept between bearers.
    let Ok(Uplink::Data { qfi, sdu }) = sdap.uplink(drb, sdu) else { return };
    let container = SessionContainer::Uplink { qfi: qfi.get() };
    add(uplink, sdu.len());
    out.n3.push((config::gtpu(session.uplink.addr), n3::emit(&Repr::g_pdu(session.uplink.teid, Some(container), sdu))));
}

fn most_desired(drb: &config::Drb) -> u64 {
    let queue_bytes = if matches!(drb.rlc, RlcMode::Am(_)) { drb.queue_bytes } else { 0 };
    queue_bytes.max(MOST_DESIRED * u64::from(drb.du_bytes))
}

impl Drb {
    fn reconfigure(&mut self, drb: &config::Drb, now_ns: u64) {
        self.pdcp.reconfigure(drb, now_ns).expect("the configuration was checked");
        self.most_desired = most_desired(drb);
        self.config = drb.clone();
    }

    /// RLC has begun anew: what the DU was given before is lost. With RLC AM the UE is told what it need not send again (TS 38.323 §5.4.1).
    fn go_on(&mut self, bearer: Bearer, engine: &mut Engine, now_ns: u64, out: &mut Output) {
        self.first.clear();
        self.again.clear();
        // The DU, whose RLC has begun anew before, sends nothing so long.
        self.again_from = now_ns + QUIET_NS;
        if let Some(report) = self.pdcp.status_report() {
            let frame = UserData { sn: self.number(), ..UserData::default() };
            out.to_du.push(ToDu { bearer, frame, pdu: report });
        }
        self.pump(bearer, engine, now_ns, out);
    }

    fn next_deadline(&self) -> Option<u64> {
        let switch = self.arriving.as_ref().filter(|arriving| arriving.has_begun()).and_then(|arriving| arriving.switch.next_deadline());
        [self.pdcp.next_deadline(), self.poll, switch].into_iter().flatten().min()
    }

    /// The last report may be lost as any other: while the DU has something, or the peer may not have it, there must be one more.
    fn waits_for_du(&self) -> bool {
        !self.first.pdus.is_empty() || !self.again.pdus.is_empty()
    }

    fn number(&mut self) -> u32 {
        let sn = self.next_sn;
        self.next_sn = (sn + 1) & NRU_MASK;
        sn
    }

    /// Gives the DU what it has asked for.
    fn pump(&mut self, bearer: Bearer, engine: &mut Engine, now_ns: u64, out: &mut Output) {
        if self.arriving.as_ref().is_some_and(|arriving| !arriving.has_begun()) {
            return;
        }
        let room = self.desired.saturating_sub(self.first.bytes + self.again.bytes);
        let (mut discarded, mut given) = (Vec::new(), Vec::new());
        self.pdcp.pull(engine, room, now_ns, &mut |count, pdu| given.push((count, pdu)), &mut |count| discarded.push(count));
        self.discard(bearer, &discarded, out);
        for (count, pdu) in given {
            let sn = self.number();
            let retransmission = count < self.given;
            let list = if retransmission { &mut self.again } else { &mut self.first };
            list.push(GivenPdu { sn, count, bytes: pdu.len() as u64 });
            self.given = self.given.max(count + 1);
            out.to_du.push(ToDu { bearer, frame: UserData { sn, retransmission, ..UserData::default() }, pdu });
        }
        if self.poll.is_none() && self.waits_for_du() {
            self.poll = Some(now_ns + POLL_NS);
        }
    }

    /// Tells the DU what it need not send.
    fn discard(&mut self, bearer: Bearer, counts: &[u32], out: &mut Output) {
        let mask = self.pdcp.sn_mask();
        // In blocks: COUNTs that follow each other, a number of them.
        let runs = counts.chunk_by(|one, next| one + 1 == *next).flat_map(|run| run.chunks(usize::from(u8::MAX)));
        let blocks: Vec<_> = runs.map(|run| gnb::nru::Block { start: run[0] & mask, many: run.len() as u8 }).collect();
        for discard in blocks.chunks(gnb::nru::COMMON_BLOCKS) {
            let discard = discard.to_vec();
            let frame = UserData { sn: self.number(), discard, ..UserData::default() };
            out.to_du.push(ToDu { bearer, frame, pdu: Vec::new() });
        }
    }

    fn status(&mut self, status: &DeliveryStatus, now_ns: u64) {
        self.desired = u64::from(status.desired_buffer).min(self.most_desired);
        let Drb { pdcp, first, again, .. } = self;
        for (from, to) in &status.lost {
            // What goes again gets a number of its own: the same report once more finds nothing.
            first.lose(*from, *to, &mut |count| pdcp.send_again(count));
            again.lose(*from, *to, &mut |count| pdcp.send_again(count));
        }
        // Those of what was given for the first time are in order of COUNT, those of what was given again in that of NR-U's numbers.
        let (highest, highest_again) = if pdcp.acknowledged {
            (status.highest_delivered, status.delivered_retransmitted)
        } else {
            (status.highest_transmitted, status.retransmitted)
        };
        if let Some(highest) = highest.and_then(|sn| pdcp.sent_count(sn)) {
            let many = first.pdus.partition_point(|pdu| pdu.count <= highest);
            first.settle(many, &mut |count| pdcp.delivered(count));
        }
        if let Some(highest) = highest_again.and_then(|sn| pdcp.sent_count(sn)).filter(|_| self.again_from <= now_ns) {
            let many = again.pdus.iter().position(|pdu| pdu.count == highest).map_or(0, |at| at + 1);
            again.settle(many, &mut |count| pdcp.delivered(count));
        }
        for (from, to) in &status.delivered_ranges {
            if let (Some(from), Some(to)) = (pdcp.sent_count(*from), pdcp.sent_count(*to))
                && to.checked_sub(from).is_some_and(|span| span < self.config.window)
            {
                (from..=to).for_each(|count| pdcp.delivered(count));
            }
        }
    }
}
