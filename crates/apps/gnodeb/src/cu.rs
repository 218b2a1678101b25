//! The side of N3: PDU sessions, SDAP, PDCP (the CU-UP of TS 38.401 §6.1.2).
//!
//! A downlink packet waits in PDCP until the DU has asked for its bytes (TS 38.425 §5.4.2.1): what overflows is dropped before it has a
//! sequence number.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};

use ciphering::Engine;
use gnb::nru::{DeliveryStatus, UserData};
use gnb::sdap::{self, DrbId, Qfi, Uplink};
use wire::gtpu::{self, Message, Repr, SessionContainer};

use crate::Bearer;
use crate::bearer::{Pdcp, Side};
use crate::config::{self, GnbUe, Session};
use crate::counts::{Count, Drops, UeReport, add, add_layer, count};
use crate::n3::{self, Asked};

/// A DU that says nothing of what it was given for so long is asked for a report, ns.
const POLL_NS: u64 = 100_000_000;
/// How often the configured `du_kbytes` a DU may ask for.
const MOST_DESIRED: u64 = 16;
const NRU_MASK: u32 = 0xff_ffff;

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
    drops: Drops,
}

struct Ue {
    session: Session,
    sdap: sdap::Gnb,
    drbs: BTreeMap<DrbId, Drb>,
    uplink: Count,
    downlink: Count,
    end_markers: u64,
    drops: Drops,
}

struct Drb {
    config: config::Drb,
    pdcp: Pdcp,
    /// NR-U sequence number of the next frame.
    next_sn: u32,
    /// What the DU has not sent by radio yet, as far as it has said: NR-U SN, COUNT and bytes.
    at_du: VecDeque<(u32, u32, u64)>,
    at_du_bytes: u64,
    /// RLC AM: what the peer does not have yet: NR-U SN and COUNT.
    undelivered: VecDeque<(u32, u32)>,
    /// The first COUNT that is not delivered.
    delivered_to: u32,
    desired: u64,
    /// What a DU is believed, however much it asks for: it bounds `at_du`.
    most_desired: u64,
    /// When to ask for a report.
    poll: Option<u64>,
}

impl Cu {
    /// A CU-UP with these UEs. `ues` are of a checked configuration.
    pub fn new(n3: Ipv4Addr, engine: Engine, ues: &[GnbUe]) -> Cu {
        let mut cu = Cu { n3, engine, ues: BTreeMap::new(), teids: HashMap::new(), drops: Drops::new() };
        cu.change(ues, &[]);
        cu
    }

    /// UEs that are new, or other than they were, and some that are no more: what waits for those is dropped.
    pub fn change(&mut self, set: &[GnbUe], released: &[u16]) {
        for id in released {
            self.ues.remove(id);
        }
        set.iter().for_each(|ue| self.set(ue));
        // A TEID may have passed from one to another.
        self.teids = self.ues.iter().map(|(id, ue)| (ue.session.downlink_teid, *id)).collect();
    }

    /// Bearers that stay as they are go on.
    fn set(&mut self, ue: &GnbUe) {
        let session = ue.session.expect("a checked configuration has a session for a CU");
        let mut before = self.ues.remove(&ue.id);
        let engine = &self.engine;
        let drb = |drb: &config::Drb| {
            if let Some(drbs) = before.as_mut().map(|before: &mut Ue| &mut before.drbs)
                && drbs.get(&drb.sdap.id).is_some_and(|before| before.config == *drb)
                && let Some(goes_on) = drbs.remove(&drb.sdap.id)
            {
                return (drb.sdap.id, goes_on);
            }
            let pdcp = Pdcp::new(drb, Side::Gnb, engine).expect("the configuration was checked");
            let drb_state = Drb {
                config: drb.clone(),
                pdcp,
                next_sn: 0,
                at_du: VecDeque::new(),
                at_du_bytes: 0,
                undelivered: VecDeque::new(),
                delivered_to: 0,
                desired: u64::from(drb.du_bytes),
                most_desired: MOST_DESIRED * u64::from(drb.du_bytes),
                poll: None,
            };
            (drb.sdap.id, drb_state)
        };
        let mut state = Ue {
            session,
            sdap: sdap::Gnb::new(&ue.sdap).expect("the configuration was checked"),
            drbs: ue.drbs.iter().map(drb).collect(),
            uplink: Count::default(),
            downlink: Count::default(),
            end_markers: 0,
            drops: Drops::new(),
        };
        if let Some(before) = before {
            let Ue { uplink, downlink, end_markers, .. } = before;
            (state.uplink, state.downlink, state.end_markers) = (uplink, downlink, end_markers);
            state.drops = before.drops();
        }
        self.ues.insert(ue.id, state);
    }

    /// A datagram of N3.
    pub fn n3(&mut self, datagram: &[u8], from: SocketAddrV4, now_ns: u64, out: &mut Output) {
        let Ok(repr) = gtpu::Packet::new_checked(datagram).and_then(|packet| Repr::parse(&packet)) else {
            return count(&mut self.drops, "n3.malformed");
        };
        if let Message::GPdu { payload } = repr.message {
            return self.g_pdu(repr.teid, repr.session_container, payload, from, now_ns, out);
        }
        match n3::read(&repr) {
            Asked::Answer(answer) => out.n3.push((from, answer)),
            Asked::EndMarker(teid) => match self.teids.get(&teid).and_then(|ue| self.ues.get_mut(ue)) {
                Some(ue) => ue.end_markers += 1,
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
        let Some(drb) = ue.drbs.get_mut(&mapped.drb) else { return };
        let mut sdu = Vec::with_capacity(payload.len() + 1);
        sdu.extend(mapped.header);
        sdu.extend_from_slice(payload);
        if drb.pdcp.enqueue(sdu, now_ns).is_ok() {
            add(&mut ue.downlink, payload.len());
            drb.pump(Bearer { ue: id, drb: mapped.drb }, &mut self.engine, now_ns, out);
        }
    }

    /// PDCP PDUs of the DU.
    pub fn uplink(&mut self, bearer: Bearer, pdus: impl IntoIterator<Item = Vec<u8>>, now_ns: u64, out: &mut Output) {
        let Some(ue) = self.ues.get_mut(&bearer.ue) else { return count(&mut self.drops, "f1u.unknown_bearer") };
        let Ue { session, sdap, drbs, uplink, .. } = ue;
        let Some(drb) = drbs.get_mut(&bearer.drb) else { return count(&mut self.drops, "f1u.unknown_bearer") };
        drb.pdcp.receive(&mut self.engine, pdus, now_ns, &mut |sdu| to_upf(session, sdap, bearer.drb, sdu, uplink, out));
        // A status report may have made room in PDCP's window.
        drb.pump(bearer, &mut self.engine, now_ns, out);
    }

    /// A report of the DU (TS 38.425 §5.5.2.2).
    pub fn status(&mut self, bearer: Bearer, status: &DeliveryStatus, now_ns: u64, out: &mut Output) {
        let Some(drb) = self.ues.get_mut(&bearer.ue).and_then(|ue| ue.drbs.get_mut(&bearer.drb)) else {
            return count(&mut self.drops, "f1u.unknown_bearer");
        };
        drb.status(status);
        drb.pump(bearer, &mut self.engine, now_ns, out);
        drb.poll = drb.waits_for_du().then_some(now_ns + POLL_NS);
    }

    /// Lets timers run out.
    pub fn advance(&mut self, now_ns: u64, out: &mut Output) {
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
        self.ues.values().flat_map(|ue| ue.drbs.values()).filter_map(Drb::next_deadline).min()
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
            for (reason, number) in ue.drops() {
                *report.drops.entry(reason).or_default() += number;
            }
        }
        for (reason, number) in &self.drops {
            *drops.entry(reason.clone()).or_default() += number;
        }
    }
}

impl Ue {
    /// Its drops, with those of its layers.
    fn drops(&self) -> Drops {
        let mut drops = self.drops.clone();
        add_layer(&mut drops, "sdap", sdap::Drop::ALL.map(|why| (why.name(), self.sdap.dropped(why))));
        self.drbs.values().for_each(|drb| drb.pdcp.drops(&mut drops));
        drops
    }
}

/// An SDU of PDCP to the UPF.
fn to_upf(session: &Session, sdap: &mut sdap::Gnb, drb: DrbId, sdu: &[u8], uplink: &mut Count, out: &mut Output) {
    // A flow's end marker says that its packets of this bearer are over (TS 37.324 §5.3.1): there is no order to be kept between bearers.
    let Ok(Uplink::Data { qfi, sdu }) = sdap.uplink(drb, sdu) else { return };
    let container = SessionContainer::Uplink { qfi: qfi.get() };
    add(uplink, sdu.len());
    out.n3.push((config::gtpu(session.uplink.addr), n3::emit(&Repr::g_pdu(session.uplink.teid, Some(container), sdu))));
}

impl Drb {
    fn next_deadline(&self) -> Option<u64> {
        [self.pdcp.next_deadline(), self.poll].into_iter().flatten().min()
    }

    /// The last report may be lost as any other: while the DU has something, or the peer may not have it, there must be one more.
    fn waits_for_du(&self) -> bool {
        !self.at_du.is_empty() || !self.undelivered.is_empty()
    }

    fn number(&mut self) -> u32 {
        let sn = self.next_sn;
        self.next_sn = (sn + 1) & NRU_MASK;
        sn
    }

    /// Gives the DU what it has asked for.
    fn pump(&mut self, bearer: Bearer, engine: &mut Engine, now_ns: u64, out: &mut Output) {
        let room = self.desired.saturating_sub(self.at_du_bytes);
        let (mut discarded, mut given) = (Vec::new(), Vec::new());
        self.pdcp.pull(engine, room, now_ns, &mut |count, pdu| given.push((count, pdu)), &mut |count| discarded.push(count));
        self.discard(bearer, &discarded, out);
        let acknowledged = self.pdcp.acknowledged;
        for (count, pdu) in given {
            let sn = self.number();
            let retransmission = self.undelivered.back().is_some_and(|(_, last)| *last >= count);
            self.at_du.push_back((sn, count, pdu.len() as u64));
            self.at_du_bytes += pdu.len() as u64;
            if acknowledged {
                self.undelivered.push_back((sn, count));
            }
            out.to_du.push(ToDu { bearer, frame: UserData { sn, retransmission, ..UserData::default() }, pdu });
        }
        if self.poll.is_none() && self.waits_for_du() {
            self.poll = Some(now_ns + POLL_NS);
        }
    }

    /// Tells the DU what it need not send.
    fn discard(&mut self, bearer: Bearer, counts: &[u32], out: &mut Output) {
        for counts in counts.chunks(gnb::nru::MAX_BLOCKS) {
            let discard = counts.iter().map(|count| gnb::nru::Block { start: *count & self.pdcp.sn_mask(), many: 1 }).collect();
            let frame = UserData { sn: self.number(), discard, ..UserData::default() };
            out.to_du.push(ToDu { bearer, frame, pdu: Vec::new() });
        }
    }

    fn status(&mut self, status: &DeliveryStatus) {
        self.desired = u64::from(status.desired_buffer).min(self.most_desired);
        for (from, to) in &status.lost {
            let span = to.wrapping_sub(*from) & NRU_MASK;
            let is_lost = |sn: u32| sn.wrapping_sub(*from) & NRU_MASK <= span;
            let bytes = &mut self.at_du_bytes;
            self.at_du.retain(|(sn, _, len)| {
                *bytes -= if is_lost(*sn) { *len } else { 0 };
                !is_lost(*sn)
            });
            let pdcp = &mut self.pdcp;
            // What goes again gets a number of its own: the same report once more finds nothing.
            self.undelivered.retain(|(sn, count)| {
                if is_lost(*sn) {
                    pdcp.send_again(*count);
                }
                !is_lost(*sn)
            });
        }
        if let Some(transmitted) = status.highest_transmitted.and_then(|sn| self.pdcp.sent_count(sn)) {
            while let Some((_, _, bytes)) = self.at_du.front().filter(|(_, count, _)| *count <= transmitted) {
                self.at_du_bytes -= bytes;
                self.at_du.pop_front();
            }
        }
        if !self.pdcp.acknowledged {
            return;
        }
        if let Some(delivered) = status.highest_delivered.and_then(|sn| self.pdcp.sent_count(sn)) {
            // The window bounds the steps.
            (self.delivered_to..=delivered).for_each(|count| self.pdcp.delivered(count));
            self.delivered_to = self.delivered_to.max(delivered + 1);
            while self.undelivered.front().is_some_and(|(_, count)| *count < self.delivered_to) {
                self.undelivered.pop_front();
            }
        }
    }
}
