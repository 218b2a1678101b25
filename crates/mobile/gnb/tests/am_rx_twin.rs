//! Does the receiving side of AM do what a plain one does that follows the clauses word by word? The twin keeps a flag for each byte of each SDU,
//! in numbers that never wrap, and looks at everything each time. Both get the same PDUs: in order, out of order, again, lost, in pieces, hostile.

use std::collections::{BTreeMap, BTreeSet};

use buffer::status::{Nack, SO_END, SnLength, emit};
use gnb::rlc::am_rx::{AmRx, RxConfig, RxDrop};
use gnb::rlc::pdu::{Amd, Si};
use rand::Rng;

#[derive(Default)]
struct Sdu {
    bytes: BTreeMap<u32, u8>,
    total: Option<u32>,
}

impl Sdu {
    fn whole(&self) -> bool {
        self.total.is_some_and(|total| self.bytes.len() as u32 == total)
    }

    /// A byte is missing before the last one that is here.
    fn has_gap(&self) -> bool {
        self.bytes.last_key_value().is_some_and(|(last, _)| self.bytes.len() as u32 != last + 1)
    }
}

struct Twin {
    config: RxConfig,
    sdus: BTreeMap<u64, Sdu>,
    rx_next: u64,
    trigger: u64,
    highest_status: u64,
    next_highest: u64,
    timer: Option<u64>,
    prohibit: u64,
    due: bool,
    polls: BTreeSet<u64>,
}

impl Twin {
    fn new(config: RxConfig, start: u64) -> Twin {
        Twin {
            config,
            sdus: BTreeMap::new(),
            rx_next: start,
            trigger: start,
            highest_status: start,
            next_highest: start,
            timer: None,
            prohibit: 0,
            due: false,
            polls: BTreeSet::new(),
        }
    }

    fn whole(&self, count: u64) -> bool {
        self.sdus.get(&count).is_some_and(Sdu::whole)
    }

    fn gap(&self, count: u64) -> bool {
        self.sdus.get(&count).is_some_and(Sdu::has_gap)
    }

    fn first_missing(&self, from: u64) -> u64 {
        (from..).find(|count| !self.whole(*count)).expect("numbers do not end")
    }

    fn receive(&mut self, pdu: &Amd<'_>, now: u64, up: &mut Vec<Vec<u8>>) -> Result<(), RxDrop> {
        let result = self.place(pdu, now, up);
        self.due |= result.is_err() && pdu.poll;
        result
    }

    fn place(&mut self, pdu: &Amd<'_>, now: u64, up: &mut Vec<Vec<u8>>) -> Result<(), RxDrop> {
        let modulus = u64::from(self.config.sn_length.modulus());
        let x = self.rx_next + (u64::from(pdu.sn) + modulus - self.rx_next % modulus) % modulus;
        if x >= self.rx_next + modulus / 2 {
            return Err(RxDrop::OutsideWindow);
        }
        if x >= self.rx_next + u64::from(self.config.window) {
            return Err(RxDrop::Limit);
        }
        if self.whole(x) {
            return Err(RxDrop::Duplicate);
        }
        let end = u32::from(pdu.so) + pdu.data.len() as u32;
        let sdu = self.sdus.entry(x).or_default();
        if pdu.si == Si::Whole {
            // It is all there is to know.
            sdu.bytes.clear();
            sdu.total = Some(end);
        } else {
            let last = sdu.bytes.last_key_value().map(|(last, _)| *last);
            let ends = matches!(pdu.si, Si::Last);
            let contradicts = match sdu.total {
                Some(total) => {
                    if ends {
                        end != total
                    } else {
                        end >= total
                    }
                }
                None => ends && last.is_some_and(|last| last + 1 >= end),
            };
            if contradicts {
                return Err(RxDrop::BeyondSdu);
            }
            if (u32::from(pdu.so)..end).all(|byte| sdu.bytes.contains_key(&byte)) {
                return Err(RxDrop::Duplicate);
            }
            if ends {
                sdu.total = Some(end);
            }
        }
        for (at, byte) in pdu.data.iter().enumerate() {
            sdu.bytes.insert(u32::from(pdu.so) + at as u32, *byte);
        }
        // §5.2.3.2.3.
        if x >= self.next_highest {
            self.next_highest = x + 1;
        }
        if self.whole(x) {
            up.push(self.sdus[&x].bytes.values().copied().collect());
            if x == self.highest_status {
                self.highest_status = self.first_missing(x + 1);
            }
            if x == self.rx_next {
                self.rx_next = self.first_missing(x + 1);
            }
        }
        if self.timer.is_some() {
            let outside = !(self.rx_next..self.rx_next + modulus / 2).contains(&self.trigger);
            if self.trigger == self.rx_next
                || (self.trigger == self.rx_next + 1 && !self.gap(self.rx_next))
                || (outside && self.trigger != self.rx_next + modulus / 2)
            {
                self.timer = None;
            }
        }
        if self.timer.is_none()
            && (self.next_highest > self.rx_next + 1 || (self.next_highest == self.rx_next + 1 && self.gap(self.rx_next)))
        {
            self.timer = Some(now + self.config.reassembly_ns);
            self.trigger = self.next_highest;
        }
        if pdu.poll {
            self.polls.insert(x);
        }
        self.check_polls();
        Ok(())
    }

    /// A poll is due when its PDU is before RX_Highest_Status.
    fn check_polls(&mut self) {
        let later = self.polls.split_off(&self.highest_status);
        self.due |= !self.polls.is_empty();
        self.polls = later;
    }

    fn advance(&mut self, now: u64) {
        if self.timer.is_none_or(|timer| timer > now) {
            return;
        }
        self.timer = None;
        self.highest_status = self.first_missing(self.trigger);
        let at = self.highest_status;
        if self.next_highest > at + 1 || (self.next_highest == at + 1 && self.gap(at)) {
            self.timer = Some(now + self.config.reassembly_ns);
            self.trigger = self.next_highest;
        }
        self.due = true;
        self.check_polls();
    }

    fn status(&mut self, now: u64) -> Option<Vec<u8>> {
        if !self.due || self.prohibit > now {
            return None;
        }
        self.due = false;
        self.prohibit = now + self.config.status_prohibit_ns;
        let mask = u64::from(self.config.sn_length.mask());
        let mut nacks: Vec<Nack> = Vec::new();
        let mut previous = None;
        for count in (self.rx_next..self.highest_status).filter(|count| !self.whole(*count)) {
            let sn = (count & mask) as u32;
            match self.sdus.get(&count).filter(|sdu| !sdu.bytes.is_empty()) {
                Some(sdu) => {
                    let end = sdu.total.unwrap_or(sdu.bytes.last_key_value().expect("some byte").0 + 2);
                    let mut missing: Vec<(u32, u32)> = Vec::new();
                    for byte in (0..end).filter(|byte| !sdu.bytes.contains_key(byte)) {
                        match missing.last_mut() {
                            Some(range) if range.1 + 1 == byte => range.1 = byte,
                            _ => missing.push((byte, byte)),
                        }
                    }
                    for (start, to) in missing {
                        let to = if sdu.total.is_none() && to + 1 == end { SO_END } else { to as u16 };
                        nacks.push(Nack { sn, range: 1, segment: Some((start as u16, to)) });
                    }
                    previous = None;
                }
                None => match nacks.last_mut() {
                    Some(nack) if previous == Some(count - 1) && nack.range < 255 => {
                        nack.range += 1;
                        previous = Some(count);
                    }
                    _ => {
                        nacks.push(Nack::of(sn));
                        previous = Some(count);
                    }
                },
            }
        }
        let mut pdu = Vec::new();
        emit(self.config.sn_length, (self.highest_status & mask) as u32, &nacks, &mut pdu);
        Some(pdu)
    }
}

/// What the sender has made, to be sent again and out of order.
fn pdu_of(rng: &mut impl Rng, data: &[u8]) -> (Si, usize, usize) {
    let len = data.len();
    let cuts = [0, len / 4, len / 2, 3 * len / 4, len];
    match rng.random_range(0..3) {
        0 => (Si::Whole, 0, len),
        _ => {
            let from = rng.random_range(0..4);
            let to = rng.random_range(from + 1..=4);
            (Si::of_part(cuts[from], cuts[to], len), cuts[from], cuts[to])
        }
    }
}

#[test]
fn the_bitmap_receiver_does_what_one_does_that_follows_the_clauses_word_by_word() {
    let mut seen = [0u64; 6];
    let (mut up_total, mut statuses, mut nacks) = (0, 0, 0);
    for round in 0..24u64 {
        let mut rng = testkit::rng(100 + round);
        let sn_length = if round % 2 == 0 { SnLength::Bits12 } else { SnLength::Bits18 };
        let window = [64, 200, 700, 2048][round as usize / 2 % 4];
        let config = RxConfig {
            sn_length,
            window,
            partial_bytes: 1 << 24,
            reassembly_ns: 1 + rng.random_range(0..200),
            status_prohibit_ns: rng.random_range(0..100),
        };
        let mut rx = AmRx::new(config).unwrap();
        let mut twin = Twin::new(config, 0);
        let (mut ups, mut twin_ups) = (Vec::new(), Vec::new());
        let (mut now, mut head) = (0u64, 0u64);
        for _ in 0..1500 {
            now += rng.random_range(0..12);
            rx.advance(now);
            twin.advance(now);
            // Mostly near what is expected next, sometimes anywhere.
            let count = match rng.random_range(0..20) {
                0..9 => twin.rx_next + rng.random_range(0..3),
                9..17 => head + rng.random_range(0..4),
                17 => twin.rx_next + rng.random_range(0..u64::from(window) + 10),
                18 => twin.rx_next.saturating_sub(rng.random_range(0..40)),
                _ => rng.random_range(0..u64::from(sn_length.modulus())),
            };
            if count < twin.rx_next + u64::from(window) / 2 {
                head = head.max(count);
            }
            let data: Vec<u8> = (0..20 + count % 13 * 4).map(|byte| (byte * 31 + count) as u8).collect();
            let (mut si, start, end) = pdu_of(&mut rng, &data);
            if rng.random_range(0..50) == 0 {
                si = [Si::First, Si::Last, Si::Middle][rng.random_range(0..3)];
            }
            let start = if matches!(si, Si::Last | Si::Middle) { start.max(1) } else { 0 };
            let sn = (count % u64::from(sn_length.modulus())) as u32;
            let pdu = Amd { poll: rng.random_range(0..8) == 0, si, sn, so: start as u16, data: &data[start..end] };
            let result = rx.receive(&pdu, now, &mut |sdu| ups.push(sdu.to_vec()));
            assert_eq!(result, twin.receive(&pdu, now, &mut twin_ups), "{pdu:?}");
            if let Err(drop) = result {
                seen[drop as usize] += 1;
            }
            assert_eq!(ups, twin_ups);
            up_total += ups.len();
            ups.clear();
            twin_ups.clear();
            let state = rx.state();
            let counts = [state.rx_next, state.rx_highest_status, state.rx_next_highest].map(u64::from);
            assert_eq!(counts, [twin.rx_next, twin.highest_status, twin.next_highest]);
            let deadline = [twin.timer, twin.due.then_some(twin.prohibit).filter(|until| *until > 0)].into_iter().flatten().min();
            assert_eq!(rx.next_deadline().filter(|at| *at > now), deadline.filter(|at| *at > now));
            if rng.random_range(0..4) == 0 {
                let mut pdu = Vec::new();
                let made = rx.pull_status(usize::MAX, now, &mut pdu).map(|_| pdu);
                statuses += usize::from(made.is_some());
                nacks += made.as_ref().map_or(0, |pdu| usize::from(pdu.len() > 3));
                assert_eq!(made, twin.status(now));
            }
        }
    }
    assert!(up_total > 5000 && statuses > 1000 && nacks > 500, "{up_total} SDUs, {statuses} statuses, {nacks} with NACKs");
    // All reasons but those of a crowded buffer.
    assert!(seen[..4].iter().all(|seen| *seen > 50), "{seen:?}");
}
