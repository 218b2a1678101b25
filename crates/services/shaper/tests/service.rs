//! Does the service shape as a simple one does, which looks at every queue at every moment, and the same in each place?

use rand::Rng;
use service::caller::{Make, Rings};
use service::{Call, Deployment, FIELDS_MAX, Outcome, Place, Question, SettingError};
use shaper::codel::Law;
use shaper::service::{Answer, INTERFACE, MARK, MARKS, NO_QUEUE, QueueConfig, Request, ShaperService, Sizes, queue_setting};
use shaper::wheel::TICK_NS;
use std::collections::VecDeque;
use std::sync::Arc;
use target_kit::{Story, check_places};

const MS: u64 = 1_000_000;
const QUEUES: u32 = 8;
/// No CoDel: its law has a twin of its own.
const LAW: Law = Law { target_ns: u64::MAX, interval_ns: 100 * MS };
const SIZES: Sizes = Sizes { queues: QUEUES, packets: 1 << 16, delay_ns: 30 * MS, law: LAW };

fn make(sizes: Sizes) -> Make {
    Arc::new(move || Box::new(ShaperService::new(sizes)))
}

fn own(name: &str) -> Outcome {
    let at = INTERFACE.reasons.iter().position(|own| *own == name).unwrap_or_else(|| panic!("no reason {name}"));
    Outcome::Dropped(service::Reason::own(at))
}

/// Rates from 20 to 640 kB/s; 6 has none, and 7 is not there.
fn config(queue: u32) -> Option<QueueConfig> {
    let rate = if queue == 6 { 0 } else { 20_000 << queue };
    (queue < 7).then_some(QueueConfig { rate, burst: 3000 })
}

/// What became of a packet in a step: its number, the outcome, and the answer's fields.
type Came = (u32, Outcome, [u8; FIELDS_MAX]);

/// A queue without wheel or rings, in nanobytes.
struct Queue {
    config: QueueConfig,
    tokens: u128,
    at_ns: u64,
    waiting: VecDeque<(u32, u32, u64)>,
}

impl Queue {
    fn fill(&mut self, now_ns: u64) {
        let most = u128::from(self.config.burst) * 1_000_000_000;
        self.tokens = most.min(self.tokens + u128::from(self.config.rate) * u128::from(now_ns - self.at_ns));
        self.at_ns = now_ns;
    }

    fn take(&mut self, bytes: u32) -> bool {
        let left = self.tokens.checked_sub(u128::from(bytes) * 1_000_000_000);
        self.tokens = left.unwrap_or(self.tokens);
        left.is_some()
    }

    fn is_impossible(&self, bytes: u32) -> bool {
        self.config.rate == 0 || bytes > self.config.burst
    }

    fn go_on(&mut self, now_ns: u64, came: &mut Vec<Came>) {
        self.fill(now_ns);
        while let Some((number, bytes, since_ns)) = self.waiting.front().copied() {
            let waited_ns = now_ns - since_ns;
            let mut fields = [0; FIELDS_MAX];
            let outcome = match () {
                () if waited_ns > SIZES.delay_ns => own("late"),
                () if self.is_impossible(bytes) => own("no_rate"),
                () if self.take(bytes) => {
                    fields[..4].copy_from_slice(&((waited_ns / 1000) as u32).to_be_bytes());
                    Outcome::Answered
                }
                () => break,
            };
            came.push((number, outcome, fields));
            self.waiting.pop_front();
        }
    }

    fn ask(&mut self, number: u32, bytes: u32, now_ns: u64, came: &mut Vec<Came>) {
        let held: u64 = self.waiting.iter().map(|packet| u64::from(packet.1)).sum();
        let limit = self.config.rate * SIZES.delay_ns / 1_000_000_000;
        let outcome = match () {
            () if bytes == 0 => Outcome::Dropped(service::Reason::MALFORMED),
            () if self.waiting.is_empty() && self.is_impossible(bytes) => own("no_rate"),
            () if self.waiting.is_empty() && self.take(bytes) => Outcome::Answered,
            () if self.waiting.len() >= 4 && held + u64::from(bytes) > limit => own("queue_full"),
            () => return self.waiting.push_back((number, bytes, now_ns)),
        };
        came.push((number, outcome, [0; FIELDS_MAX]));
    }
}

#[test]
fn packets_of_each_queue_go_on_as_the_simple_shaper_says_in_each_place() {
    let mut rng = testkit::rng(15);
    let mut steps: Vec<(u64, Vec<[u8; FIELDS_MAX]>)> = Vec::new();
    let mut at_ns = 0;
    for _ in 0..300 {
        let few = rng.random_range(0..6);
        let requests = (0..few).map(|_| {
            let bytes = if rng.random_bool(0.02) { rng.random_range(0..2) * 4000 } else { rng.random_range(40..1500) };
            Request { queue: rng.random_range(0..QUEUES + 1), bytes, flags: rng.random_range(0..2) }.fields()
        });
        steps.push((at_ns, requests.collect()));
        // At ticks, where the wheel looks.
        at_ns += TICK_NS * rng.random_range(1..300);
    }
    steps.push((at_ns + 2 * SIZES.delay_ns / TICK_NS * TICK_NS, Vec::new()));
    let settings: Vec<(u32, Vec<u8>)> = (0..QUEUES).filter_map(|queue| Some((queue, queue_setting(&config(queue)?)))).collect();
    let probes: Vec<[u8; FIELDS_MAX]> = (0..QUEUES + 1).map(|queue| Request { queue, bytes: 0, flags: 0 }.fields()).collect();
    let folder = tempfile::tempdir().unwrap();
    let all = check_places(&Story { make: &make(SIZES), settings: &settings, steps: &steps, probes: &probes }, folder.path());

    let new = |config: QueueConfig| Queue { config, tokens: u128::from(config.burst) * 1_000_000_000, at_ns: 0, waiting: VecDeque::new() };
    let mut queues: Vec<Queue> = (0..QUEUES).map_while(config).map(new).collect();
    let (mut number, mut seen) = (0, std::collections::BTreeMap::<String, u32>::new());
    for ((at_ns, requests), got) in steps.iter().zip(all) {
        let mut expected = vec![Vec::new(); QUEUES as usize + 1];
        queues.iter_mut().zip(&mut expected).for_each(|(queue, came)| queue.go_on(*at_ns, came));
        for fields in requests {
            let Request { queue, bytes, .. } = Request::read(fields);
            match queues.get_mut(queue as usize) {
                Some(of) => of.ask(number, bytes, *at_ns, &mut expected[queue as usize]),
                None if bytes == 0 => {
                    expected[queue as usize].push((number, Outcome::Dropped(service::Reason::MALFORMED), [0; FIELDS_MAX]))
                }
                None => expected[queue as usize].push((number, Outcome::Dropped(NO_QUEUE), [0; FIELDS_MAX])),
            }
            number += 1;
        }
        assert_eq!(got, expected.concat(), "at {at_ns} ns");
        for (_, outcome, fields) in &got {
            let what = match outcome {
                Outcome::Dropped(reason) => INTERFACE.reason_name(*reason).to_owned(),
                _ if Answer::read(fields).waited_us > 0 => "waited".to_owned(),
                _ => "at once".to_owned(),
            };
            *seen.entry(what).or_default() += 1;
        }
    }
    let often = |what: &str| seen.get(what).copied().unwrap_or_default() > 5;
    assert!(["at once", "waited", "late", "queue_full", "no_rate", "no_queue"].into_iter().all(often), "{seen:?}");
}

fn call(queue: u32, bytes: u32, flags: u8, tag: u32) -> Call {
    Call::new(base::Packet::new(&[7; 20], base::PortId(1)), 10, Request { queue, bytes, flags }.fields(), tag)
}

#[test]
fn what_the_rate_lets_pass_is_answered_where_it_lies_and_the_first_that_must_wait_ends_that() {
    let deployment = Deployment::new(&Place::Lane, make(Sizes { delay_ns: 1000 * MS, ..SIZES }), Rings::default()).unwrap();
    deployment.set(1, Some(queue_setting(&QueueConfig { rate: 1000, burst: 100 }).into())).unwrap();
    let mut caller = deployment.caller();
    let ask = |caller: &mut service::Caller, asked: &[(u32, u32)]| {
        let mut rooms = vec![[0; 8]; asked.len()];
        let question = |(room, (queue, bytes)): (_, &(u32, u32))| {
            let room: &mut [u8; 8] = room;
            let fields = Request { queue: *queue, bytes: *bytes, flags: 0 }.fields();
            Question { fields, room: &mut room[..], len: 0, packet: 0, port: base::PortId(1), outcome: Outcome::Pending }
        };
        let mut all: Vec<Question<'_>> = rooms.iter_mut().zip(asked).map(question).collect();
        caller.answer(&mut all, MS);
        all.iter().map(|question| question.outcome).collect::<Vec<_>>()
    };
    let pending = Outcome::Pending;
    assert_eq!(ask(&mut caller, &[(1, 60), (2, 10), (1, 60), (1, 10)]), [Outcome::Answered, Outcome::Dropped(NO_QUEUE), pending, pending]);
    // They are called then, and wait in their order, the shorter one too; what comes behind them is not asked past them.
    let mut burst = [call(1, 60, 0, 1), call(1, 10, 0, 2)];
    caller.call(&mut burst, MS);
    assert!(burst.iter().all(|call| call.outcome == Outcome::Kept));
    assert_eq!(ask(&mut caller, &[(1, 10)]), [pending]);
    let (mut out, mut now) = (Vec::new(), MS);
    while out.len() < 2 {
        now = caller.next_deadline_ns().expect("two wait").max(now + 1);
        caller.poll(now, &mut out);
    }
    // 20 bytes were missing: 20 ms, and 10 more.
    let came: Vec<(u32, u32)> = out.iter().map(|call| (call.tag, Answer::read(&call.fields).waited_us / 1000)).collect();
    assert_eq!(came, [(1, 20), (2, 30)]);
    assert_eq!((deployment.counters().imbalance(), deployment.counters().waiting()), (0, 0));
}

#[test]
fn codel_marks_for_who_understands_it_and_drops_others() {
    let sizes = Sizes { delay_ns: 1000 * MS, law: Law { target_ns: MS, interval_ns: 10 * MS }, ..SIZES };
    let ended = |flags: u8| {
        let deployment = Deployment::new(&Place::Lane, make(sizes), Rings::default()).unwrap();
        deployment.set(1, Some(queue_setting(&QueueConfig { rate: 100_000, burst: 1000 }).into())).unwrap();
        let mut caller = deployment.caller();
        let mut burst: Vec<Call> = (0..60).map(|tag| call(1, 1000, flags, tag)).collect();
        caller.call(&mut burst, MS);
        let (mut out, mut now) = (Vec::new(), MS);
        while now < 1000 * MS {
            caller.poll(now, &mut out);
            now += MS;
        }
        let marked = out.iter().filter(|call| call.outcome == Outcome::Answered && Answer::read(&call.fields).flags == MARK).count();
        (out.len(), marked, out.iter().filter(|call| call.outcome == own("codel")).count())
    };
    let (all, marked, dropped) = ended(MARKS);
    assert!(all == 59 && marked > 5 && dropped == 0, "{marked} marked, {dropped} dropped");
    let (all, marked, dropped) = ended(0);
    assert!(all == 59 && marked == 0 && dropped > 5, "{marked} marked, {dropped} dropped");
}

#[test]
fn a_queue_that_is_removed_lets_nothing_pass_and_one_that_is_set_anew_has_its_new_rate() {
    let deployment = Deployment::new(&Place::Lane, make(Sizes { packets: 3, ..SIZES }), Rings::default()).unwrap();
    let set = |rate, burst| deployment.set(1, Some(queue_setting(&QueueConfig { rate, burst }).into()));
    set(1000, 100).unwrap();
    let mut caller = deployment.caller();
    let give = |caller: &mut service::Caller, now| {
        let mut burst = [call(1, 100, 0, 0)];
        caller.call(&mut burst, now);
        burst[0].outcome
    };
    assert_eq!([0; 5].map(|_| give(&mut caller, MS)), [Outcome::Answered, Outcome::Kept, Outcome::Kept, Outcome::Kept, own("packets")]);
    deployment.set(1, None).unwrap();
    assert_eq!(give(&mut caller, MS), Outcome::Dropped(NO_QUEUE));
    let mut out = Vec::new();
    caller.poll(200 * MS, &mut out);
    assert!(out.len() == 3 && out.iter().all(|call| matches!(call.outcome, Outcome::Dropped(_))), "what waited is dropped");
    set(100_000, 100).unwrap();
    assert_eq!([200, 202].map(|ms| give(&mut caller, ms * MS)), [Outcome::Kept; 2]);
    out.clear();
    caller.poll(203 * MS, &mut out);
    assert!(!out.is_empty() && out.iter().all(|call| call.outcome == Outcome::Answered));
}

#[test]
fn fields_and_settings_are_read_as_they_are_written_and_nothing_else_is() {
    let request = Request { queue: 0x0102_0304, bytes: 0x0a0b_0c0d, flags: MARKS };
    let mut fields = [0; FIELDS_MAX];
    fields[..9].copy_from_slice(&[1, 2, 3, 4, 0xa, 0xb, 0xc, 0xd, 1]);
    assert_eq!((request.fields(), Request::read(&fields), INTERFACE.steering_key(&fields)), (fields, request, 0x0102_0304));
    let check = |index, value: &[u8]| (INTERFACE.check_setting)(index, Some(value));
    let good = queue_setting(&QueueConfig { rate: 1, burst: 1 });
    assert_eq!(check(1, &good), Ok(()));
    for wrong in [&good[..11], &[&good[..], &[0]].concat(), &[], &[0; 12], &[0xff; 12]] {
        assert!(matches!(check(1, wrong), Err(SettingError::Value { index: 1, .. })), "{wrong:?}");
    }
    assert!(matches!(check(1 << 20, &good), Err(SettingError::Index { .. })));
}
