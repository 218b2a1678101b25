//! Do packets that wait come back as the contracts say: from a lane whose program calls services ([`Lane::poll`]), and from a service that lanes share
//! ([`service::Shared`])?

use base::{Packet, PortId, Verdict, VerdictKind};
use program::{CounterId, MeterId};
use service::{Call, FIELDS_MAX, Outcome, Reason, SharedDeployment};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use target_api::{Asks, Counted, Extra, Lane, Rates, Returned};

/// A lane as it is, which panics where it breaks the contract of packets that come back.
pub struct Watched {
    lane: Box<dyn Lane>,
    /// Packets that were kept and have not come back.
    out: u64,
    returned: Arc<AtomicU64>,
}

impl Watched {
    /// Watches a lane that has no packets yet.
    pub fn new(lane: Box<dyn Lane>) -> Watched {
        Watched { lane, out: 0, returned: Arc::default() }
    }

    /// How many packets have come back, copies not counted: a test that has seen none has tested nothing.
    pub fn returned(&self) -> Arc<AtomicU64> {
        self.returned.clone()
    }

    fn note(&mut self, verdicts: &[Verdict]) {
        self.out += verdicts.iter().filter(|verdict| verdict.kind == VerdictKind::Kept).count() as u64;
        self.look();
    }

    fn look(&self) {
        assert!(
            self.out == 0 || self.lane.next_poll_ns().is_some(),
            "{} packets are kept, and the lane does not say when to poll",
            self.out
        );
    }
}

impl Lane for Watched {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        self.lane.process(packets, verdicts, now_ns);
        self.note(verdicts);
    }

    fn process_asking(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64, asks: &mut dyn Asks) {
        self.lane.process_asking(packets, verdicts, now_ns, asks);
        self.note(verdicts);
    }

    fn take_extra(&mut self, into: &mut Vec<Extra>) {
        let from = into.len();
        self.lane.take_extra(into);
        for extra in &into[from..] {
            assert_ne!(extra.verdict.kind, VerdictKind::Next, "a packet that was made beside others is passed to the next target");
            self.out += u64::from(extra.verdict.kind == VerdictKind::Kept);
        }
        self.look();
    }

    fn poll(&mut self, now_ns: u64, into: &mut Vec<Returned>) {
        let from = into.len();
        self.lane.poll(now_ns, into);
        for returned in &into[from..] {
            let kind = returned.verdict.kind;
            assert!(!matches!(kind, VerdictKind::Next | VerdictKind::Kept), "a packet comes back as {kind:?}");
            if !returned.copy {
                self.out = self.out.checked_sub(1).expect("a packet that was kept comes back once");
                self.returned.fetch_add(1, Relaxed);
            }
        }
        self.look();
    }

    fn next_poll_ns(&self) -> Option<u64> {
        self.lane.next_poll_ns()
    }

    fn shape(&mut self, meter: MeterId) -> bool {
        self.lane.shape(meter)
    }

    fn count(&mut self, counter: CounterId, more: &[Counted]) -> bool {
        self.lane.count(counter, more)
    }

    fn with_rates(&mut self, work: &mut dyn FnMut(&mut dyn Rates)) {
        self.lane.with_rates(work);
    }

    target_api::lane_without!(ran_by);
}

/// Panics if a shared service breaks its contract. It is empty, and has room for 12 packets of each of three keys; `request` gives a key's fields.
pub fn check_shared(service: &SharedDeployment, request: impl Fn(u32) -> [u8; FIELDS_MAX]) {
    let mut callers = [service.caller(), service.caller()];
    let mut given = 0;
    let mut give = |lane: usize, key: u32, number: u8| {
        let mut burst = [Call::new(Packet::new(&[key as u8, number, 9, 9], PortId(3)), 0, request(key), lane as u32)];
        callers[lane].call(&mut burst, 1000);
        assert_eq!(callers[lane].next_deadline_ns(), None, "there is room: nothing is displaced, and nothing comes back by itself");
        given += 1;
        let [call] = burst;
        call
    };
    let ends = |calls: &[Call], outcome: Outcome| {
        assert!(calls.iter().all(|call| call.outcome == outcome && call.packet.port == PortId(3)), "{calls:?} are not {outcome:?}");
        calls.iter().map(|call| (call.packet.data()[0], call.packet.data()[1], call.tag)).collect::<Vec<_>>()
    };
    let row = |key: u8| (0..10).map(|number| (key, number, u32::from(number) % 2)).collect::<Vec<_>>();
    for number in 0..10u8 {
        for key in [1, 2, 3] {
            let call = give(usize::from(number) % 2, key, number);
            assert!(call.outcome == Outcome::Kept && call.packet.is_void(), "packet {number} of key {key}: {:?}", call.outcome);
        }
    }
    let mut looked = Vec::new();
    service.look(2, |kept| looked.push((kept.packet().data()[0], kept.packet().data()[1], kept.tag())));
    assert_eq!(looked, row(2), "packets of all lanes, in the order in which they came");
    assert_eq!([0, 1, 2].map(|key| service.waiting(key)), [0, 10, 10]);

    let closed = service.close([2, 2]);
    assert!(service.is_closed());
    let call = give(0, 2, 77);
    assert!(call.outcome == Outcome::Answered && call.packet.data()[1] == 77, "under a closed key: {:?}", call.outcome);
    assert_eq!(give(1, 3, 10).outcome, Outcome::Kept, "another key is open");
    assert_eq!(ends(&service.release(2), Outcome::Answered), row(2));
    assert!(service.waiting(2) == 0 && service.release(2).is_empty(), "what was released waits no longer");
    drop(closed);
    assert!(!service.is_closed());
    assert_eq!(give(1, 2, 78).outcome, Outcome::Kept, "it is open again");

    assert_eq!(ends(&service.discard(1), Outcome::Dropped(Reason::DISCARDED)), row(1));
    let mut rest = ends(&service.discard_all(), Outcome::Dropped(Reason::STOPPING));
    rest.sort_unstable();
    assert_eq!(rest, [vec![(2, 78, 1)], row(3), vec![(3, 10, 1)]].concat());
    let counters = service.counters();
    assert_eq!((counters.calls, counters.imbalance(), counters.waiting()), (given, 0, 0), "{counters:?}");
    assert_eq!((counters.answered, counters.returned, counters.copies), (11, 32, 0), "{counters:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps every packet, gives each back so many times, and says when to poll or not.
    struct Keeps {
        times: usize,
        tells: bool,
        end: VerdictKind,
        kept: Vec<Packet>,
    }

    impl Lane for Keeps {
        fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], _: u64) {
            self.kept.extend(packets.iter_mut().map(|packet| std::mem::replace(packet, Packet::void())));
            verdicts.fill(Verdict::kept());
        }

        fn poll(&mut self, _: u64, into: &mut Vec<Returned>) {
            for packet in self.kept.drain(..) {
                let verdict = Verdict { kind: self.end, ..Verdict::default() };
                into.extend((0..self.times).map(|_| Returned { packet: packet.clone(), verdict, copy: false }));
            }
        }

        fn next_poll_ns(&self) -> Option<u64> {
            (self.tells && !self.kept.is_empty()).then_some(0)
        }

        target_api::lane_without!(process_asking, take_extra, ran_by, shape, count, with_rates);
    }

    /// Three packets to the lane and back.
    fn drive(times: usize, tells: bool, end: VerdictKind) -> u64 {
        let mut lane = Watched::new(Box::new(Keeps { times, tells, end, kept: Vec::new() }));
        let mut packets = vec![Packet::new(&[1], PortId(0)); 3];
        lane.process(&mut packets, &mut [Verdict::default(); 3], 0);
        lane.poll(0, &mut Vec::new());
        lane.returned().load(Relaxed)
    }

    #[test]
    fn a_lane_that_keeps_the_contract_is_let_alone() {
        assert_eq!(drive(1, true, VerdictKind::Drop), 3);
    }

    #[test]
    #[should_panic(expected = "a packet that was kept comes back once")]
    fn a_lane_that_gives_packets_back_twice_is_found() {
        drive(2, true, VerdictKind::Drop);
    }

    #[test]
    #[should_panic(expected = "3 packets are kept, and the lane does not say when to poll")]
    fn a_lane_that_loses_packets_is_found() {
        drive(0, true, VerdictKind::Drop);
    }

    #[test]
    #[should_panic(expected = "3 packets are kept, and the lane does not say when to poll")]
    fn a_lane_that_nobody_would_poll_is_found() {
        drive(1, false, VerdictKind::Drop);
    }

    #[test]
    #[should_panic(expected = "a packet comes back as Kept")]
    fn a_lane_whose_packets_come_back_as_kept_is_found() {
        drive(1, true, VerdictKind::Kept);
    }
}
