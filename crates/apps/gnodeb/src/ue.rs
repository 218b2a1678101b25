//! A UE: SDAP, PDCP and RLC between its user's packets and the radio, as the network's side has them, the other way round.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use ciphering::{Direction, Engine};
use gnb::framing;
use gnb::sdap::{self, DrbId, Qfi};

use crate::bearer::{Pdcp, Rlc, Side};
use crate::config::{self, Radio};
use crate::counts::{Count, Drops, UeReport, add, add_layer, count};
use crate::du::QUIET_NS;
use crate::grants::Grants;

/// PDUs that RLC holds before PDCP is asked for more: what waits in PDCP has no number yet.
const RLC_SDUS: usize = 64;

/// A UE.
pub struct Ue {
    id: u16,
    gnb: SocketAddr,
    /// The gNodeB whose cell it has left last.
    left: Option<SocketAddr>,
    /// Until then nothing is sent or taken.
    quiet: u64,
    engine: Engine,
    sdap: sdap::Ue,
    qfi: Qfi,
    rules: Vec<(u8, Qfi)>,
    drbs: BTreeMap<DrbId, Drb>,
    /// The bearer that was granted last.
    turn: Option<DrbId>,
    grants: Grants,
    uplink: Count,
    downlink: Count,
    sent: Count,
    received: Count,
    retransmissions: u64,
    /// SDUs whose RLC has given up, in cells before.
    failures: u64,
    drops: Drops,
}

struct Drb {
    pdcp: Pdcp,
    rlc: Rlc,
    framing: framing::RlcMode,
}

impl Ue {
    /// From a checked configuration.
    pub fn new(ue: &config::Ue, radio: &Radio, engine: Engine) -> Ue {
        let drb = |drb: &config::Drb| {
            let pdcp = Pdcp::new(ue.id, drb, Side::Ue, &engine).expect("the configuration was checked");
            let rlc = Rlc::new(drb).expect("the configuration was checked");
            (drb.sdap.id, Drb { pdcp, rlc, framing: Rlc::framing(drb) })
        };
        Ue {
            id: ue.id,
            gnb: ue.gnb,
            left: None,
            quiet: 0,
            sdap: sdap::Ue::new(&ue.sdap).expect("the configuration was checked"),
            qfi: ue.qfi,
            rules: ue.rules.clone(),
            drbs: ue.drbs.iter().map(drb).collect(),
            turn: None,
            grants: Grants::new(radio.rate_bps, radio.pdu_bytes),
            engine,
            uplink: Count::default(),
            downlink: Count::default(),
            sent: Count::default(),
            received: Count::default(),
            retransmissions: 0,
            failures: 0,
            drops: Drops::new(),
        }
    }

    /// Goes to another cell, as it is told by RRC (TS 38.331 §5.3.5.5): RLC begins anew, PDCP is re-established under new keys, and the first that is sent there is a
    /// status report of each bearer of RLC AM. `ue` differs from what it was by cell, algorithms and keys only: in the same cell the gNodeB's `rekey` does the same at the
    /// same time.
    pub fn reconfigure(&mut self, ue: &config::Ue, now_ns: u64, user: &mut impl FnMut(&[u8])) {
        if ue.gnb == self.gnb {
            self.quiet = now_ns + QUIET_NS;
        } else {
            self.left = Some(std::mem::replace(&mut self.gnb, ue.gnb));
        }
        let (sdap, downlink) = (&mut self.sdap, &mut self.downlink);
        for config in &ue.drbs {
            let id = config.sdap.id;
            let Some(Drb { pdcp, rlc, .. }) = self.drbs.get_mut(&id) else { continue };
            rlc.drops(&mut self.drops);
            self.failures += rlc.radio_link_failures;
            *rlc = Rlc::new(config).expect("the configuration was checked");
            pdcp.re_establish(config, &self.engine, &mut |sdu| {
                to_user(sdap, id, sdu, downlink, user);
            });
            if let Some(report) = pdcp.status_report() {
                // A COUNT that no SDU has, as PDCP ends before it. Nothing else waits in RLC.
                let _ = rlc.enqueue(u32::MAX, report);
            }
        }
    }

    /// RLC AM begins anew, and PDCP recovers data (TS 38.323 §5.5): the gNodeB does so at the same time. `ue` is its configuration.
    pub fn recover(&mut self, ue: &config::Ue, now_ns: u64) {
        for config in &ue.drbs {
            let Some(Drb { pdcp, rlc, .. }) = self.drbs.get_mut(&config.sdap.id).filter(|drb| drb.pdcp.acknowledged) else { continue };
            rlc.drops(&mut self.drops);
            self.failures += rlc.radio_link_failures;
            *rlc = Rlc::new(config).expect("the configuration was checked");
            pdcp.recover_data();
            if let Some(report) = pdcp.status_report() {
                // As at `reconfigure`.
                let _ = rlc.enqueue(u32::MAX, report);
            }
        }
        self.quiet = now_ns + QUIET_NS;
    }

    /// Its number.
    pub fn id(&self) -> u16 {
        self.id
    }

    /// A packet of the user.
    pub fn packet(&mut self, packet: &[u8], now_ns: u64) {
        let tos = match *packet {
            [first, second, ..] if first >> 4 == 4 => second,
            [first, second, ..] if first >> 4 == 6 => first << 4 | second >> 4,
            _ => return count(&mut self.drops, "user.not_ip"),
        };
        let qfi = self.rules.iter().find(|(dscp, _)| *dscp == tos >> 2).map_or(self.qfi, |(_, qfi)| *qfi);
        let Ok(mapped) = self.sdap.uplink(qfi) else { return };
        let Some(drb) = self.drbs.get_mut(&mapped.drb) else { return };
        let mut sdu = Vec::with_capacity(packet.len() + 1);
        sdu.extend(mapped.header);
        sdu.extend_from_slice(packet);
        if drb.pdcp.enqueue(sdu, now_ns).is_ok() {
            add(&mut self.uplink, packet.len());
        }
    }

    /// A datagram of the radio. Packets for the user go to `user`.
    pub fn radio(&mut self, datagram: &[u8], from: SocketAddr, now_ns: u64, user: &mut impl FnMut(&[u8])) {
        let (of, pdu) = match framing::Rlc::parse(datagram) {
            Ok(parsed) => parsed,
            Err(fault) => return count(&mut self.drops, &format!("radio.{}", fault.name())),
        };
        if from != self.gnb || of.ue != self.id {
            let late = Some(from) == self.left && of.ue == self.id;
            return count(&mut self.drops, if late { "radio.cell_left" } else { "radio.wrong_source" });
        }
        if now_ns < self.quiet {
            return count(&mut self.drops, "radio.reset");
        }
        let Some((id, drb)) = DrbId::new(of.drb).and_then(|id| self.drbs.get_mut(&id).map(|drb| (id, drb))) else {
            return count(&mut self.drops, "radio.unknown_bearer");
        };
        if of.direction != Direction::Downlink || of.mode != drb.framing {
            return count(&mut self.drops, "radio.wrong_mode");
        }
        add(&mut self.received, pdu.len());
        let mut pdus = Vec::new();
        let pdcp = &mut drb.pdcp;
        drb.rlc.receive(pdu, now_ns, &mut |sdu| pdus.push(sdu.to_vec()), &mut |count| pdcp.delivered(count));
        let (sdap, downlink) = (&mut self.sdap, &mut self.downlink);
        let mut end_markers = Vec::new();
        let rlc = &mut drb.rlc;
        let up = &mut |sdu: &[u8]| end_markers.extend(to_user(sdap, id, sdu, downlink, user));
        drb.pdcp.receive(&mut self.engine, pdus, now_ns, up, &mut |count| {
            rlc.discard(count);
        });
        for marker in end_markers {
            if let Some(drb) = self.drbs.get_mut(&marker.drb) {
                let _ = drb.pdcp.enqueue(vec![marker.pdu], now_ns);
            }
        }
    }

    /// Does all that is due, and sends by radio what the rate allows.
    pub fn run(&mut self, now_ns: u64, user: &mut impl FnMut(&[u8]), radio: &mut impl FnMut(SocketAddr, &[u8])) {
        let (sdap, downlink) = (&mut self.sdap, &mut self.downlink);
        for (id, drb) in &mut self.drbs {
            let pdcp = &mut drb.pdcp;
            drb.rlc.advance(now_ns, &mut |count| pdcp.delivered(count));
            let rlc = &mut drb.rlc;
            pdcp.advance(
                now_ns,
                &mut |sdu| {
                    to_user(sdap, *id, sdu, downlink, user);
                },
                &mut |count| {
                    rlc.discard(count);
                },
            );
        }
        if now_ns < self.quiet {
            return;
        }
        let mut datagram = Vec::new();
        while let Some(grant) = self.grants.grant(now_ns) {
            let Some(sent) = self.send(grant, now_ns, &mut datagram) else { return };
            self.grants.spend(sent);
            radio(self.gnb, &datagram);
        }
    }

    /// Makes a PDU of the next bearer that has data; its bytes.
    fn send(&mut self, grant: usize, now_ns: u64, datagram: &mut Vec<u8>) -> Option<usize> {
        for drb in self.drbs.values_mut() {
            let Drb { pdcp, rlc, .. } = drb;
            // A refused SDU would have spent its COUNT.
            while rlc.waiting() < RLC_SDUS && rlc.has_room() && pdcp.waits() {
                let (before, mut refused, mut discarded) = (rlc.waiting(), false, Vec::new());
                pdcp.pull(&mut self.engine, 1, now_ns, &mut |count, pdu| refused |= rlc.enqueue(count, pdu).is_err(), &mut |count| {
                    discarded.push(count);
                });
                for count in discarded {
                    rlc.discard(count);
                }
                if refused || rlc.waiting() == before {
                    break;
                }
            }
        }
        let has_data = |(id, drb): (&DrbId, &Drb)| drb.rlc.has_data(now_ns).then_some(*id);
        let id = match self.turn {
            Some(turn) => self.drbs.range((std::ops::Bound::Excluded(turn), std::ops::Bound::Unbounded)).find_map(has_data),
            None => None,
        };
        let id = id.or_else(|| self.drbs.iter().find_map(has_data))?;
        let drb = self.drbs.get_mut(&id)?;
        let mut pdu = Vec::with_capacity(grant);
        let sent = drb.rlc.pull(grant, now_ns, &mut pdu)?;
        self.turn = Some(id);
        add(&mut self.sent, sent.bytes);
        self.retransmissions += u64::from(sent.again);
        datagram.clear();
        framing::Rlc { mode: drb.framing, direction: Direction::Uplink, ue: self.id, drb: id.get() }.emit(&pdu, datagram);
        Some(sent.bytes)
    }

    /// When to call [`Ue::run`] next, without any packet.
    pub fn next_deadline(&self, now_ns: u64) -> Option<u64> {
        let mut next: Option<u64> = None;
        for drb in self.drbs.values() {
            let sends = drb.rlc.has_data(now_ns) || drb.pdcp.waits() && drb.rlc.waiting() < RLC_SDUS && drb.rlc.has_room();
            let grant = sends.then(|| self.grants.next_grant().max(self.quiet));
            next = next.into_iter().chain(grant).chain(drb.rlc.next_deadline()).chain(drb.pdcp.next_deadline()).min();
        }
        next
    }

    /// SDUs that wait in PDCP or are not delivered.
    pub fn queued(&self) -> usize {
        self.drbs.values().map(|drb| drb.pdcp.queued().0).sum()
    }

    /// What was counted.
    pub fn report(&self) -> UeReport {
        let mut report = UeReport {
            ue: self.id,
            uplink: self.uplink,
            downlink: self.downlink,
            radio_sent: self.sent,
            radio_received: self.received,
            retransmissions: self.retransmissions,
            radio_link_failures: self.failures,
            drops: self.drops.clone(),
            ..UeReport::default()
        };
        add_layer(&mut report.drops, "sdap", sdap::Drop::ALL.map(|why| (why.name(), self.sdap.dropped(why))));
        for drb in self.drbs.values() {
            drb.pdcp.drops(&mut report.drops);
            drb.rlc.drops(&mut report.drops);
            report.radio_link_failures += drb.rlc.radio_link_failures;
            report.count_high += drb.pdcp.count_high();
        }
        report
    }
}

/// An SDU of PDCP to the user; the end marker that it asks for (TS 37.324 §5.3.2).
fn to_user(sdap: &mut sdap::Ue, drb: DrbId, sdu: &[u8], downlink: &mut Count, user: &mut impl FnMut(&[u8])) -> Option<sdap::EndMarker> {
    let read = sdap.downlink(drb, sdu).ok()?;
    add(downlink, read.sdu.len());
    user(read.sdu);
    read.end_marker
}
