//! The side of the radio: RLC, and what of it is told to the CU (the DU of TS 38.401 §6.1.2).
//!
//! The DU numbers nothing itself: it reads PDCP's sequence number of each PDU, and reports by it what was sent by radio and what the peer
//! has (TS 38.425 §5.4.2).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;

use ciphering::Direction;
use gnb::framing;
use gnb::nru::{COMMON_RANGES, DeliveryStatus, MAX_RANGES, UserData};
use gnb::rlc::SnLength;
use gnb::sdap::DrbId;

use crate::Bearer;
use crate::bearer::Rlc;
use crate::config::{self, GnbUe, Radio, RlcMode};
use crate::counts::{Count, Drops, UeReport, add, count};
use crate::grants::Grants;

/// RLC's name for a PDCP control PDU, which has no number.
const CONTROL: u32 = u32::MAX;
/// How long a UE whose RLC has begun anew neither gets nor is heard, ns: what was under way belongs to the RLC before, as with MAC's reset (TS 38.321 §5.12). The UE must be
/// told within it, less what a PDU is under way.
pub(crate) const QUIET_NS: u64 = 100_000_000;
/// How often a report repeats what was lost: reports may be lost too.
const REPEATS: u8 = 8;
const NRU_MASK: u32 = 0xff_ffff;

/// What a call has for the CU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ToCu {
    /// A PDCP PDU of the UE.
    Pdu(Bearer, Vec<u8>),
    /// A report.
    Status(Bearer, DeliveryStatus),
}

/// What a call has to send.
#[derive(Default, Debug)]
pub struct Output {
    /// By F1-U.
    pub to_cu: Vec<ToCu>,
    /// By radio.
    pub radio: Vec<(SocketAddr, Vec<u8>)>,
}

/// The DU.
pub struct Du {
    grants: Grants,
    ues: BTreeMap<u16, Ue>,
    /// The bearer that was granted last.
    turn: Option<Bearer>,
    drops: Drops,
}

/// Whether a UE is in our cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cell {
    /// It is.
    Serving,
    /// It may come, and PDCP does not know yet where to go on.
    Prepared,
    /// It may come at any time: nothing is sent until it has.
    Arriving,
    /// It was told to go.
    Left,
}

struct Ue {
    address: SocketAddr,
    cell: Cell,
    /// Until then nothing is sent or taken.
    quiet: u64,
    drbs: BTreeMap<DrbId, Drb>,
    sent: Count,
    received: Count,
    retransmissions: u64,
    /// Of bearers that have ended.
    failures: u64,
    drops: Drops,
}

struct Drb {
    config: config::Drb,
    rlc: Rlc,
    framing: framing::RlcMode,
    acknowledged: bool,
    pdcp_sn: SnLength,
    window: u32,
    desired: u32,
    /// NR-U SN of the next frame, with what has wrapped in its higher bits. A CU begins with 0, so that the loss of the first is seen.
    next_sn: u64,
    /// NR-U SNs that did not come, and how often they are still reported.
    lost: VecDeque<((u32, u32), u8)>,
    /// Behind the highest COUNT that came, as far as sequence numbers tell.
    next: u32,
    /// What waits in RLC for its first grant, in its order: COUNTs, and whether the CU sent it again.
    waiting: VecDeque<(u32, bool)>,
    /// What came for the first time, by COUNT.
    first: Came,
    /// What the CU sent again, by NR-U SN.
    again: Came,
    /// The CU wants to know what was delivered out of sequence too.
    out_of_sequence: bool,
    report_due: bool,
    /// The operator was told that RLC has given up on an SDU.
    told_of_failure: bool,
}

/// PDUs that came from the CU, from the first that the peer does not have to the last. The CU is told up to which one, in the order of their keys, the peer has all;
/// what did not come is not waited for (TS 38.425 §5.4.2.1).
#[derive(Default)]
struct Came {
    pdus: BTreeMap<u64, CamePdu>,
    /// Keys of COUNTs, where they are not the COUNT itself.
    other_keys: BTreeSet<(u32, u64)>,
    bytes: u64,
    /// The last one up to which the peer has all: key and COUNT.
    delivered: Option<(u64, u32)>,
    /// COUNT of the last one that was given to lower layers.
    transmitted: Option<u32>,
}

#[derive(Clone, Copy)]
struct CamePdu {
    count: u32,
    bytes: u64,
    delivered: bool,
}

impl Came {
    fn insert(&mut self, key: u64, count: u32, bytes: u64) {
        self.bytes += bytes;
        if key != u64::from(count) {
            self.other_keys.insert((count, key));
        }
        if let Some(before) = self.pdus.insert(key, CamePdu { count, bytes, delivered: false }) {
            self.bytes -= before.bytes;
        }
    }

    /// The peer has the SDU of this COUNT, or need not have it. Whether it was waited for: a late PDU and the one that was sent in its place both are.
    fn settle(&mut self, count: u32) -> bool {
        let other: Vec<u64> = self.other_keys.range((count, 0)..=(count, u64::MAX)).map(|(_, key)| *key).collect();
        let mut waited = false;
        for key in other.into_iter().chain([u64::from(count)]) {
            if let Some(pdu) = self.pdus.get_mut(&key).filter(|pdu| pdu.count == count && !pdu.delivered) {
                (pdu.delivered, waited) = (true, true);
            }
        }
        self.advance();
        waited
    }

    /// So has it all up to this COUNT.
    fn settle_to(&mut self, last: u32) {
        self.pdus.values_mut().filter(|pdu| pdu.count <= last).for_each(|pdu| pdu.delivered = true);
        self.advance();
    }

    fn advance(&mut self) {
        while let Some(pdu) = self.pdus.first_entry().filter(|pdu| pdu.get().delivered) {
            let (key, CamePdu { count, bytes, .. }) = pdu.remove_entry();
            self.bytes -= bytes;
            self.other_keys.remove(&(count, key));
            self.delivered = self.delivered.max(Some((key, count)));
        }
    }
}

/// The peer has the SDU of this COUNT, or need not have it. Whether it was waited for.
fn settle(first: &mut Came, again: &mut Came, count: u32) -> bool {
    // No short circuit: both lists may have it.
    first.settle(count) | again.settle(count)
}

impl Du {
    /// A DU with these UEs. They are of a checked configuration.
    pub fn new(radio: &Radio, ues: &[GnbUe]) -> Du {
        let ues = ues.iter().map(|ue| (ue.id, Ue::new(ue))).collect();
        Du { grants: Grants::new(radio.rate_bps, radio.pdu_bytes), ues, turn: None, drops: Drops::new() }
    }

    /// UEs that are new, or other than they were, and some that are no more: what waits for those is dropped.
    pub fn change(&mut self, set: &[GnbUe], released: &[u16]) {
        for id in released {
            self.ues.remove(id);
        }
        set.iter().for_each(|ue| self.set(ue));
    }

    /// Bearers that stay as they are go on, and those of which only timers and limits are others.
    fn set(&mut self, ue: &GnbUe) {
        let mut state = Ue::new(ue);
        if let Some(mut before) = self.ues.remove(&ue.id) {
            for (id, drb) in &mut state.drbs {
                if before.drbs.get(id).is_some_and(|before| drb.config.goes_on(&before.config))
                    && let Some(mut goes_on) = before.drbs.remove(id)
                {
                    goes_on.reconfigure(&drb.config);
                    *drb = goes_on;
                }
            }
            (state.cell, state.quiet) = (before.cell, before.quiet);
            state.failures = before.failures();
            state.drops = before.drops();
            (state.sent, state.received, state.retransmissions) = (before.sent, before.received, before.retransmissions);
        }
        self.ues.insert(ue.id, state);
    }

    /// A UE may come from another gNodeB: its radio begins with [`Du::arrive`].
    pub fn prepare(&mut self, ue: u16) {
        if let Some(ue) = self.ues.get_mut(&ue) {
            ue.cell = Cell::Prepared;
        }
    }

    /// A UE comes. `next`: COUNTs from which on bearers of RLC AM may get PDUs, as sequence numbers tell them.
    pub fn arrive(&mut self, ue: u16, next: &[(DrbId, u32)]) {
        let Some(ue) = self.ues.get_mut(&ue) else { return };
        for (id, next) in next {
            if let Some(drb) = ue.drbs.get_mut(id) {
                drb.next = *next;
            }
        }
        ue.cell = if next.is_empty() { Cell::Serving } else { Cell::Arriving };
    }

    /// RLC AM of a UE's bearers begins anew (TS 38.322 §5.1.2).
    pub fn re_establish(&mut self, ue: u16, now_ns: u64) {
        let Some(ue) = self.ues.get_mut(&ue) else { return };
        let Ue { drbs, drops, failures, quiet, .. } = ue;
        drbs.values_mut().filter(|drb| drb.acknowledged).for_each(|drb| drb.re_establish(drops, failures));
        *quiet = now_ns + QUIET_NS;
    }

    /// RLC of all of a UE's bearers begins anew, and COUNT with RLC UM: PDCP goes on under other keys.
    pub fn rekey(&mut self, set: &GnbUe, now_ns: u64) {
        let Some(Ue { drbs, drops, failures, quiet, .. }) = self.ues.get_mut(&set.id) else { return };
        for config in &set.drbs {
            let Some(drb) = drbs.get_mut(&config.sdap.id) else { continue };
            drb.re_establish(drops, failures);
            drb.config = config.clone();
            if !drb.acknowledged {
                drb.next = 0;
            }
        }
        *quiet = now_ns + QUIET_NS;
    }

    /// A UE goes to another gNodeB: its RLC ends.
    pub fn leave(&mut self, ue: u16) {
        let Some(ue) = self.ues.get_mut(&ue) else { return };
        (ue.drops, ue.failures) = (ue.drops(), ue.failures());
        ue.drbs.clear();
        ue.cell = Cell::Left;
    }

    /// A frame of the CU. One that has no flow control sends PDUs without NR-U's fields: nothing tells then whether any is lost on the way.
    pub fn downlink(&mut self, bearer: Bearer, frame: Option<&UserData>, pdu: Vec<u8>) {
        let Some(drb) = self.ues.get_mut(&bearer.ue).and_then(|ue| ue.drbs.get_mut(&bearer.drb)) else {
            return count(&mut self.drops, "f1u.unknown_bearer");
        };
        let number = frame.map(|frame| drb.number(frame.sn));
        let again = number.filter(|_| frame.is_some_and(|frame| frame.retransmission));
        if !pdu.is_empty()
            && let Err(why) = drb.enqueue(pdu, again)
        {
            count(&mut self.drops, why);
            // The CU gives it again, when there is room: a report is due with the next PDU that leaves.
            if let Some(frame) = frame.filter(|_| drb.acknowledged) {
                drb.note_lost(frame.sn, frame.sn);
            }
        }
        let Some(frame) = frame else { return };
        drb.report_due |= frame.report_polling;
        if let Some(sn) = frame.flush {
            drb.flush(sn);
        }
        drb.out_of_sequence = frame.out_of_sequence_report;
        for block in &frame.discard {
            (0..u32::from(block.many)).for_each(|more| drb.discard(block.start + more));
        }
    }

    /// A datagram of the radio.
    pub fn radio(&mut self, datagram: &[u8], from: SocketAddr, now_ns: u64, out: &mut Output) {
        let (of, pdu) = match framing::Rlc::parse(datagram) {
            Ok(parsed) => parsed,
            Err(fault) => return count(&mut self.drops, &format!("radio.{}", fault.name())),
        };
        let Some(ue) = self.ues.get_mut(&of.ue) else { return count(&mut self.drops, "radio.unknown_ue") };
        if from != ue.address {
            return count(&mut ue.drops, "radio.wrong_source");
        }
        match ue.cell {
            Cell::Serving | Cell::Arriving => {}
            Cell::Prepared => return count(&mut ue.drops, "radio.not_ready"),
            Cell::Left => return count(&mut ue.drops, "radio.handed_over"),
        }
        if now_ns < ue.quiet {
            return count(&mut ue.drops, "radio.reset");
        }
        let drb = DrbId::new(of.drb).and_then(|id| ue.drbs.get_mut(&id).map(|drb| (id, drb)));
        let Some((id, drb)) = drb else { return count(&mut ue.drops, "radio.unknown_bearer") };
        if of.direction != Direction::Uplink || of.mode != drb.framing {
            return count(&mut ue.drops, "radio.wrong_mode");
        }
        add(&mut ue.received, pdu.len());
        let bearer = Bearer { ue: of.ue, drb: id };
        let Drb { rlc, first, again, report_due, .. } = drb;
        let taken = rlc.receive(pdu, now_ns, &mut |sdu| out.to_cu.push(ToCu::Pdu(bearer, sdu.to_vec())), &mut |count| {
            *report_due |= settle(first, again, count);
        });
        // What is no PDU of RLC says nothing of where the UE is.
        if taken {
            ue.cell = Cell::Serving;
        }
    }

    /// Sends by radio what the rate allows: bearers take turns, a PDU each.
    pub fn transmit(&mut self, now_ns: u64, out: &mut Output) {
        while let Some(grant) = self.grants.grant(now_ns) {
            let Some((bearer, sent)) = self.next(grant, now_ns, out) else { return };
            self.grants.spend(sent);
            self.turn = Some(bearer);
        }
    }

    /// The first bearer after the last one that has data, and what it has sent.
    fn next(&mut self, grant: usize, now_ns: u64, out: &mut Output) -> Option<(Bearer, usize)> {
        let after = self.turn;
        let sends = |ue: &Ue| ue.cell == Cell::Serving && now_ns >= ue.quiet;
        let has_data = |ue: &Ue, id: &DrbId| sends(ue) && ue.drbs.get(id).is_some_and(|drb| drb.rlc.has_data(now_ns));
        let bearers = || self.ues.iter().flat_map(|(id, ue)| ue.drbs.keys().map(move |drb| (Bearer { ue: *id, drb: *drb }, ue)));
        let find = |wanted: &dyn Fn(Bearer) -> bool| {
            bearers().find(|(bearer, ue)| wanted(*bearer) && has_data(ue, &bearer.drb)).map(|(bearer, _)| bearer)
        };
        let bearer = find(&|bearer| after.is_none_or(|after| bearer > after)).or_else(|| find(&|_| true))?;
        let ue = self.ues.get_mut(&bearer.ue)?;
        let sent = ue.send(bearer, grant, now_ns, out)?;
        Some((bearer, sent))
    }

    /// Lets timers run out, and makes reports that are due.
    pub fn advance(&mut self, now_ns: u64, out: &mut Output) {
        for (id, ue) in &mut self.ues {
            for (drb_id, drb) in &mut ue.drbs {
                let Drb { rlc, first, again, report_due, .. } = drb;
                if rlc.next_deadline().is_some_and(|deadline| deadline <= now_ns) {
                    rlc.advance(now_ns, &mut |count| *report_due |= settle(first, again, count));
                }
                if drb.rlc.radio_link_failures > 0 && !std::mem::replace(&mut drb.told_of_failure, true) {
                    let most = drb.config.rlc_timers.max_retransmissions;
                    tracing::warn!(
                        "UE {id}, DRB {}: radio link failure: RLC has sent an SDU {most} times again: recover or release it",
                        drb_id.get()
                    );
                }
                if std::mem::take(&mut drb.report_due) {
                    out.to_cu.push(ToCu::Status(Bearer { ue: *id, drb: *drb_id }, drb.status()));
                }
            }
        }
    }

    /// When to call [`Du::advance`] and [`Du::transmit`].
    pub fn next_deadline(&self, now_ns: u64) -> Option<u64> {
        // A report that is due waits for nothing.
        let mut next: Option<u64> = self.ues.values().any(|ue| ue.drbs.values().any(|drb| drb.report_due)).then_some(now_ns);
        let serving = self.ues.values().filter(|ue| ue.cell == Cell::Serving);
        for (quiet, drb) in serving.flat_map(|ue| ue.drbs.values().map(|drb| (ue.quiet, drb))) {
            let wakes = if drb.rlc.has_data(now_ns) { Some(self.grants.next_grant().max(quiet)) } else { drb.rlc.next_deadline() };
            next = next.into_iter().chain(wakes).min();
        }
        next
    }

    /// Adds what was counted.
    pub fn report(&self, ues: &mut BTreeMap<u16, UeReport>, drops: &mut Drops) {
        for (id, ue) in &self.ues {
            let report = ues.entry(*id).or_insert_with(|| UeReport { ue: *id, ..UeReport::default() });
            (report.radio_sent, report.radio_received, report.retransmissions) = (ue.sent, ue.received, ue.retransmissions);
            for (reason, number) in ue.drops() {
                *report.drops.entry(reason).or_default() += number;
            }
            report.radio_link_failures += ue.failures();
        }
        for (reason, number) in &self.drops {
            *drops.entry(reason.clone()).or_default() += number;
        }
    }
}

impl Ue {
    fn new(ue: &GnbUe) -> Ue {
        Ue {
            address: ue.radio.expect("a checked configuration has a radio address for a DU"),
            cell: Cell::Serving,
            quiet: 0,
            drbs: ue.drbs.iter().map(|drb| (drb.sdap.id, Drb::new(drb))).collect(),
            sent: Count::default(),
            received: Count::default(),
            retransmissions: 0,
            failures: 0,
            drops: Drops::new(),
        }
    }

    /// Its drops, with those of RLC.
    fn drops(&self) -> Drops {
        let mut drops = self.drops.clone();
        self.drbs.values().for_each(|drb| drb.rlc.drops(&mut drops));
        drops
    }

    /// SDUs whose RLC has given up.
    fn failures(&self) -> u64 {
        self.failures + self.drbs.values().map(|drb| drb.rlc.radio_link_failures).sum::<u64>()
    }

    /// Sends a PDU of a bearer; its bytes.
    fn send(&mut self, bearer: Bearer, grant: usize, now_ns: u64, out: &mut Output) -> Option<usize> {
        let drb = self.drbs.get_mut(&bearer.drb)?;
        let mut pdu = Vec::with_capacity(grant);
        let sent = drb.rlc.pull(grant, now_ns, &mut pdu)?;
        drb.transmitted();
        add(&mut self.sent, sent.bytes);
        self.retransmissions += u64::from(sent.again);
        let of = framing::Rlc { mode: drb.framing, direction: Direction::Downlink, ue: bearer.ue, drb: bearer.drb.get() };
        let mut datagram = Vec::with_capacity(pdu.len() + 20);
        of.emit(&pdu, &mut datagram);
        out.radio.push((self.address, datagram));
        Some(sent.bytes)
    }
}

impl Drb {
    fn new(drb: &config::Drb) -> Drb {
        Drb {
            config: drb.clone(),
            rlc: Rlc::new(drb).expect("the configuration was checked"),
            framing: Rlc::framing(drb),
            acknowledged: matches!(drb.rlc, RlcMode::Am(_)),
            pdcp_sn: drb.pdcp_sn,
            window: drb.window,
            desired: drb.du_bytes,
            next_sn: 0,
            lost: VecDeque::new(),
            next: 0,
            waiting: VecDeque::new(),
            first: Came::default(),
            again: Came::default(),
            out_of_sequence: false,
            report_due: false,
            told_of_failure: false,
        }
    }

    fn re_establish(&mut self, drops: &mut Drops, failures: &mut u64) {
        self.rlc.drops(drops);
        *failures += self.rlc.radio_link_failures;
        self.rlc = Rlc::new(&self.config).expect("the configuration was checked");
        self.told_of_failure = false;
        // What came before is RLC's no more: the CU gives it again.
        self.waiting.clear();
        (self.first, self.again) = (Came::default(), Came::default());
    }

    fn reconfigure(&mut self, drb: &config::Drb) {
        self.rlc.reconfigure(drb).expect("the configuration was checked");
        // The CU is told of it.
        self.report_due |= self.desired != drb.du_bytes;
        (self.desired, self.config) = (drb.du_bytes, drb.clone());
    }

    /// Looks for frames that did not come (TS 38.425 §5.4.2.1). This one's number, with what has wrapped in its higher bits.
    fn number(&mut self, sn: u32) -> u64 {
        let expected = self.next_sn;
        let ahead = sn.wrapping_sub(expected as u32) & NRU_MASK;
        let number = expected + u64::from(ahead);
        if ahead > NRU_MASK / 2 {
            // Late: it was reported as lost, and is a duplicate at worst, which PDCP drops.
            return number.saturating_sub(u64::from(NRU_MASK) + 1);
        }
        if ahead > 0 {
            self.note_lost(expected as u32 & NRU_MASK, sn.wrapping_sub(1) & NRU_MASK);
            self.report_due = true;
        }
        self.next_sn = number + 1;
        number
    }

    /// Frames to be reported as lost.
    fn note_lost(&mut self, first: u32, last: u32) {
        if let Some((range, repeats)) = self.lost.back_mut()
            && (range.1 + 1) & NRU_MASK == first
        {
            (range.1, *repeats) = (last, REPEATS);
            return;
        }
        self.lost.push_back(((first, last), REPEATS));
        if self.lost.len() > MAX_RANGES {
            self.lost.pop_front();
        }
    }

    /// A PDU for RLC. `again`: the CU sent it before, and this is its NR-U SN now.
    fn enqueue(&mut self, pdu: Vec<u8>, again: Option<u64>) -> Result<(), &'static str> {
        let Some(sn) = self.sn(&pdu) else {
            // A control PDU of PDCP.
            return self.rlc.enqueue(CONTROL, pdu).map(|()| self.waiting.push_back((CONTROL, false))).map_err(|_| "f1u.rlc_refused");
        };
        let count = self.count(sn).ok_or("f1u.pdcp_sn")?;
        if self.acknowledged && self.first.pdus.len() + self.again.pdus.len() >= 2 * self.window as usize {
            return Err("f1u.window");
        }
        let bytes = pdu.len() as u64;
        // RLC counts why.
        self.rlc.enqueue(count, pdu).map_err(|_| "f1u.rlc_refused")?;
        self.waiting.push_back((count, again.is_some()));
        if self.acknowledged {
            match again {
                Some(number) => self.again.insert(number, count, bytes),
                None => self.first.insert(u64::from(count), count, bytes),
            }
        }
        self.next = self.next.max(count + 1);
        Ok(())
    }

    /// The sequence number of a data PDU (TS 38.323 §6.2.2).
    fn sn(&self, pdu: &[u8]) -> Option<u32> {
        match (self.pdcp_sn, pdu) {
            // D/C: a control PDU has none.
            (_, [first, ..]) if first & 0x80 == 0 => None,
            (SnLength::Bits12, [first, low, ..]) => Some(u32::from(first & 0xf) << 8 | u32::from(*low)),
            (SnLength::Bits18, [first, mid, low, ..]) => Some(u32::from(first & 3) << 16 | u32::from(*mid) << 8 | u32::from(*low)),
            _ => None,
        }
    }

    /// The COUNT of a sequence number, as near to the next as may be. `None` before 0.
    fn count(&self, sn: u32) -> Option<u32> {
        let modulus = self.pdcp_sn.modulus();
        let ahead = sn.wrapping_sub(self.next) & (modulus - 1);
        let count = i64::from(self.next) + i64::from(ahead) - if ahead < modulus / 2 { 0 } else { i64::from(modulus) };
        u32::try_from(count).ok().filter(|count| *count != CONTROL)
    }

    /// PDCP says that the SDU of this sequence number need not be sent.
    fn discard(&mut self, sn: u32) {
        let Some(count) = self.count(sn & self.pdcp_sn.mask()) else { return };
        self.take_back(count);
        self.report_due |= settle(&mut self.first, &mut self.again, count);
    }

    /// None of what RLC has not begun to send.
    fn take_back(&mut self, count: u32) {
        // One of them: a late frame and what was sent in its place have the same COUNT.
        if self.rlc.discard(count)
            && let Some(at) = self.waiting.iter().position(|(waiting, _)| *waiting == count)
        {
            self.waiting.remove(at);
        }
    }

    /// PDCP says that no SDU up to this sequence number need be sent (TS 38.425 §5.4.2.1).
    fn flush(&mut self, sn: u32) {
        let Some(last) = self.count(sn & self.pdcp_sn.mask()) else { return };
        let waiting: Vec<u32> = self.waiting.iter().map(|(count, _)| *count).filter(|count| *count != CONTROL && *count <= last).collect();
        waiting.into_iter().for_each(|count| self.take_back(count));
        self.first.settle_to(last);
        self.again.settle_to(last);
        self.report_due = true;
    }

    /// What was delivered behind the first that was not: from and to, as COUNTs.
    fn delivered_ranges(&self) -> Vec<(u32, u32)> {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for count in self.first.pdus.values().filter(|pdu| pdu.delivered).map(|pdu| pdu.count) {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == count => *last = count,
                _ => ranges.push((count, count)),
            }
        }
        ranges.truncate(MAX_RANGES);
        ranges
    }

    /// RLC has taken SDUs out of its queue.
    fn transmitted(&mut self) {
        while self.waiting.len() > self.rlc.waiting() {
            let Some((count, again)) = self.waiting.pop_front() else { return };
            if count == CONTROL {
                continue;
            }
            // RLC's queue has the order of what came.
            let of = if again { &mut self.again } else { &mut self.first };
            of.transmitted = if again { Some(count) } else { of.transmitted.max(Some(count)) };
            self.report_due = true;
        }
    }

    /// The ranges of lost frames for a report, as many as every CU reads: those that were reported least, the newest of them first.
    fn lost(&mut self) -> Vec<(u32, u32)> {
        let mut lost = Vec::new();
        for _ in 0..COMMON_RANGES.min(self.lost.len()) {
            let named = |range: &(u32, u32)| lost.contains(range);
            let next = self.lost.iter_mut().filter(|(range, _)| !named(range)).max_by_key(|(_, repeats)| *repeats);
            let Some((range, repeats)) = next else { break };
            *repeats -= 1;
            lost.push(*range);
        }
        self.lost.retain(|(_, repeats)| *repeats > 0);
        // Those that no report had yet do not wait for another cause.
        self.report_due |= self.lost.iter().any(|(_, repeats)| *repeats == REPEATS);
        lost
    }

    fn status(&mut self) -> DeliveryStatus {
        let mask = self.pdcp_sn.mask();
        let sn = |count: u32| count & mask;
        let acknowledged = self.acknowledged;
        let delivered = |of: &Came| of.delivered.filter(|_| acknowledged).map(|(_, count)| sn(count));
        let ranges = if self.out_of_sequence && acknowledged { self.delivered_ranges() } else { Vec::new() };
        // The CU counts the bytes that it may give from what was delivered on: what is on the air, or was delivered out of order, takes none of the queue.
        let by_radio = (self.first.bytes + self.again.bytes).saturating_sub(self.rlc.waiting_bytes());
        DeliveryStatus {
            desired_buffer: self.desired.saturating_add(u32::try_from(by_radio).unwrap_or(u32::MAX)),
            lost: self.lost(),
            highest_delivered: delivered(&self.first),
            highest_transmitted: self.first.transmitted.map(sn),
            delivered_retransmitted: delivered(&self.again),
            retransmitted: self.again.transmitted.map(sn),
            delivered_ranges: ranges.into_iter().map(|(from, to)| (sn(from), sn(to))).collect(),
            ..DeliveryStatus::default()
        }
    }
}
