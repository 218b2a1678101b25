//! Do packets of one flow keep their order with each of our services, wherever the configuration places it? Flows are drawn at random; what each service gives out is looked at flow
//! by flow, and compared with what its plain twin gives out in the lane.
//!
//! Time is the test's: all that waits for a timer waits for it. The second process is this test's own binary, started again: see [`the_second_process`].

use base::{Packet, PortId};
use buffer::rlc::BearerConfig;
use buffer::service as rlc;
use buffer::{resubmit::service as resubmit, status};
use ciphering::service as cipher;
use daemon::config::service_kind::{Kind, Sizes};
use gnb::pdcp::pdu::Format;
use gnb::pdcp::{CountGuard, OrderConfig};
use gnb::rlc::SnLength;
use gnb::rlc::pdu::UmSnLength;
use gnb::rlc::um::UmRxConfig;
use radio_bearer::RlcConfig;
use rand::Rng;
use rand::seq::SliceRandom;
use service::caller::{Make, Rings};
use service::{Call, Deployment, FIELDS_MAX, Outcome, Place, process};
use shaper::service as shaper;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const FLOWS: u32 = 7;
/// Packets of a flow: whole blocks of [`BLOCK`].
const EACH: u32 = 320;
const BLOCK: u32 = 16;
/// Bytes in front of the payload.
const FRONT: usize = 10;
/// How long a burst waits for something to come back, where another thread has it.
const MOMENT: Duration = Duration::from_millis(5);
/// Between two bursts.
const STEP_NS: u64 = 50_000;

const SIZES: Sizes = Sizes {
    bearers: Some(16),
    packets: Some(8192),
    bytes: None,
    interval_ms: Some(5),
    attempts: Some(2),
    queues: Some(16),
    queue_ms: Some(1000),
    target_ms: Some(1000),
};

/// Only the sizes that the service has.
fn sizes(kind: Kind) -> Sizes {
    let (packets, none) = (SIZES.packets, Sizes::default());
    match kind {
        Kind::Cipher => none,
        Kind::Buffer => Sizes { packets, bearers: SIZES.bearers, ..none },
        Kind::Resubmit => Sizes { packets, interval_ms: SIZES.interval_ms, attempts: SIZES.attempts, ..none },
        Kind::RadioBearer => Sizes { bearers: SIZES.bearers, ..none },
        Kind::Shaper => Sizes { packets, queues: SIZES.queues, queue_ms: SIZES.queue_ms, target_ms: SIZES.target_ms, ..none },
    }
}

fn setting(kind: Kind, flow: u32) -> Option<Vec<u8>> {
    match kind {
        Kind::Cipher => {
            let nea = [ciphering::Nea::Nea1, ciphering::Nea::Nea2, ciphering::Nea::Nea3][flow as usize % 3];
            let key = [flow as u8 + 1; 16];
            Some(cipher::key_setting(nea, &key, flow.is_multiple_of(2).then_some((ciphering::Nia::Nia2, &key))).to_vec())
        }
        Kind::Buffer => Some(rlc::bearer_setting(&BearerConfig {
            sn_length: status::SnLength::Bits12,
            window: 256,
            bytes: u64::MAX,
            poll_retransmit_ms: 4000,
            poll_pdu: None,
            poll_byte: None,
            max_retransmissions: 8,
        })),
        Kind::Resubmit => None,
        Kind::Shaper => Some(shaper::queue_setting(&shaper::QueueConfig { rate: 60_000_000, burst: 3000 })),
        Kind::RadioBearer => {
            let sn_length = SnLength::Bits12;
            Some(radio_bearer::bearer_setting(&radio_bearer::BearerConfig {
                rlc: RlcConfig::Um(UmRxConfig { sn_length: UmSnLength::Bits12, partial_bytes: 1 << 16, reassembly_ns: 35_000_000 }),
                format: Format { kind: gnb::pdcp::Kind::Drb, sn_length, integrity: false, sdap_header: false },
                order: OrderConfig {
                    sn_length,
                    window: 64,
                    bytes: 1 << 20,
                    reordering_ns: None,
                    out_of_order: false,
                    stop: CountGuard::default().stop,
                },
            }))
        }
    }
}

type Asked = ([u8; FIELDS_MAX], Vec<u8>);

/// All calls of a flow, in order.
fn calls(kind: Kind, flow: u32, rng: &mut impl Rng) -> Vec<Asked> {
    let mut calls = Vec::new();
    for block in 0..EACH / BLOCK {
        let mut numbers: Vec<u32> = (block * BLOCK..(block + 1) * BLOCK).collect();
        let payload = |number: u32| -> Vec<u8> { (0..20 + number % 50).map(|at| (number * 7 + at + flow) as u8).collect() };
        match kind {
            Kind::Cipher => calls.extend(numbers.iter().map(|number| {
                let request = cipher::Request {
                    key_index: flow as u16,
                    count: *number,
                    bearer: 3,
                    direction: ciphering::Direction::Downlink,
                    step: ciphering::Step::Protect,
                    clear_bytes: 2,
                    prefix: 0,
                    prefix_bytes: 0,
                };
                (request.fields(), payload(*number))
            })),
            Kind::Buffer => {
                let request = |operation, flags| rlc::Request { flags, ..rlc::Request::new(operation, flow, 0) }.fields();
                calls.extend(numbers.iter().map(|number| (request(rlc::SEND, rlc::NUMBER), payload(*number))));
                // Of each block but the last one packet is missing, and acknowledged by the next status.
                let (next, last) = ((block + 1) * BLOCK, block + 1 == EACH / BLOCK);
                let nack = (!last).then(|| status::Nack { sn: next - 1 - rng.random_range(0..BLOCK), range: 1, segment: None });
                let mut pdu = Vec::new();
                status::emit(status::SnLength::Bits12, next, nack.as_slice(), &mut pdu);
                calls.push((request(rlc::STATUS, 0), pdu));
            }
            Kind::Resubmit => {
                let request = |operation, id| resubmit::Request { operation, flow, id }.fields();
                calls.extend(numbers.iter().map(|number| (request(resubmit::KEEP, *number), payload(*number))));
                calls.extend(
                    numbers.iter().filter(|number| number.is_multiple_of(3)).map(|number| (request(resubmit::STATUS, *number), vec![])),
                );
            }
            Kind::Shaper => calls
                .extend(numbers.iter().map(|number| (shaper::Request { queue: flow, bytes: 1000, flags: 0 }.fields(), payload(*number)))),
            Kind::RadioBearer => {
                let request = |operation, count| radio_bearer::Request { operation, bearer: flow, count }.fields();
                for operation in [radio_bearer::RECEIVE, radio_bearer::ORDER] {
                    numbers.shuffle(rng);
                    calls.extend(numbers.iter().map(|number| match operation {
                        // RLC UM: a whole SDU. PDCP: 12 bits.
                        radio_bearer::RECEIVE => {
                            let header = [0, 0x80 | (number >> 8) as u8, *number as u8];
                            (request(operation, 0), [&header[..], &payload(*number)].concat())
                        }
                        _ => (request(operation, *number), payload(*number)),
                    }));
                }
            }
        }
    }
    calls
}

/// What came out: which call, what came of it, the answer, and the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    tag: u32,
    outcome: Outcome,
    answer: [u8; 14],
    payload: Vec<u8>,
}

/// Gives all calls in, drawing flows at random, until all is out; what came out of each flow.
fn run(make: Make, kind: Kind, place: &Place, seed: u64) -> Vec<Vec<Out>> {
    let mut rng = testkit::rng(seed);
    let deployment = Deployment::new(place, make, Rings::default()).unwrap();
    for flow in 0..FLOWS {
        if let Some(value) = setting(kind, flow) {
            deployment.set(flow, Some(value.into())).unwrap();
        }
    }
    let _second = match place {
        Place::Process(path) => Some(Second::start(kind, path)),
        _ => None,
    };
    let mut caller = deployment.caller();
    let mut now_ns = 1_000_000;
    let end = Instant::now() + PATIENCE;
    // Until somebody serves: a call that no service takes is answered for that reason.
    loop {
        now_ns += 1_000_000;
        let mut probe = [Call::new(Packet::new(&[0; FRONT], PortId(1)), FRONT, [0xff; FIELDS_MAX], u32::MAX)];
        caller.call(&mut probe, now_ns);
        let mut out = Vec::new();
        while probe[0].outcome == Outcome::Kept && out.is_empty() {
            assert!(Instant::now() < end, "no answer");
            caller.poll(now_ns, &mut out);
        }
        if out.first().unwrap_or(&probe[0]).outcome != Outcome::Dropped(service::Reason::DOWN) {
            break;
        }
        assert!(Instant::now() < end, "nobody came");
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut left: Vec<_> = (0..FLOWS).map(|flow| calls(kind, flow, &mut rng).into_iter().enumerate()).collect();
    let mut came: Vec<Vec<Out>> = vec![Vec::new(); FLOWS as usize];
    let (mut burst, mut out) = (Vec::new(), Vec::new());
    loop {
        now_ns += STEP_NS;
        for _ in 0..rng.random_range(1..32) {
            let flow = rng.random_range(0..FLOWS);
            if let Some((number, (fields, payload))) = left[flow as usize].next() {
                let packet = Packet::new(&[&[0xab; FRONT], &payload[..]].concat(), PortId(1));
                burst.push(Call::new(packet, FRONT, fields, flow << 16 | number as u32));
            }
        }
        caller.call(&mut burst, now_ns);
        out.extend(burst.drain(..).filter(|call| call.outcome != Outcome::Kept));
        // Now and then it looks late.
        if rng.random_bool(0.7) {
            caller.poll(now_ns, &mut out);
        }
        // Time must not run away from a thread or process that has no turn: what waits there would be late.
        let until = Instant::now() + MOMENT;
        while !matches!(place, Place::Lane) && out.is_empty() && deployment.counters().waiting() > 0 && Instant::now() < until {
            std::thread::yield_now();
            caller.poll(now_ns, &mut out);
        }
        for call in out.drain(..) {
            assert!(call.packet.data().starts_with(&[0xab; FRONT]), "what is in front is the caller's");
            let payload = if matches!(call.outcome, Outcome::Dropped(_)) { Vec::new() } else { call.payload().to_vec() };
            let answer = *call.fields.first_chunk().unwrap();
            came[(call.tag >> 16) as usize].push(Out { tag: call.tag & 0xffff, outcome: call.outcome, answer, payload });
        }
        let counters = deployment.counters();
        assert_eq!(counters.imbalance(), 0);
        if left.iter().all(|left| left.len() == 0) && counters.waiting() == 0 {
            caller.poll(now_ns, &mut out);
            assert!(out.is_empty(), "all is out");
            return came;
        }
        assert!(Instant::now() < end, "{kind:?} {place}: {counters:?}");
    }
}

/// What came out of a flow by kind of event: an event's order is what a flow's order is.
fn by_event(kind: Kind, came: &[Out]) -> BTreeMap<(bool, u8), Vec<Out>> {
    let mut events: BTreeMap<_, Vec<Out>> = BTreeMap::new();
    for out in came {
        let event = match (kind, out.outcome) {
            (_, Outcome::Dropped(_)) => u8::MAX,
            (Kind::Buffer | Kind::Resubmit | Kind::RadioBearer, _) => out.answer[0],
            _ => 0,
        };
        let of_order = kind == Kind::RadioBearer && out.outcome == Outcome::Answered && out.tag % (2 * BLOCK) >= BLOCK;
        events.entry((of_order, event)).or_default().push(out.clone());
    }
    events
}

fn number(answer: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(answer[at..at + 4].try_into().unwrap())
}

fn rises(kind: Kind, what: &str, numbers: impl IntoIterator<Item = u32>) -> u32 {
    let (mut last, mut count) = (None, 0);
    for number in numbers {
        assert!(last.is_none_or(|last| number > last), "{kind:?}, {what}: {number} after {last:?}");
        (last, count) = (Some(number), count + 1);
    }
    count
}

/// What waited, over all flows: what did not wait shows no order.
fn check(kind: Kind, place: &Place, came: &[Vec<Out>], twin: &[Vec<Out>]) {
    let (mut waited, mut dropped) = (0, 0);
    for (flow, (came, twin)) in came.iter().zip(twin).enumerate() {
        let (came, twin) = (by_event(kind, came), by_event(kind, twin));
        let of = |event| came.get(&(false, event)).map_or(&[][..], |out| &out[..]);
        let what = |event: &str| format!("{place}, flow {flow}, {event}");
        match kind {
            Kind::Cipher => {
                assert_eq!(came, twin, "{}", what("bytes and order"));
                assert_eq!(rises(kind, &what("packets"), of(0).iter().map(|out| out.tag)), EACH);
                waited += EACH;
            }
            Kind::Buffer => {
                assert_eq!(rises(kind, &what("first copies"), of(rlc::SENT).iter().map(|out| number(&out.answer, 5))), EACH);
                assert_eq!(rises(kind, &what("reports"), of(rlc::REPORT).iter().map(|out| out.tag)), EACH / BLOCK);
                for event in [rlc::SENT, rlc::ACKNOWLEDGED, rlc::REPORT] {
                    assert_eq!(of(event), &twin[&(false, event)][..], "{}", what(&format!("event {event}")));
                }
                // A status may come before a packet that another one names has been sent again.
                waited += rises(kind, &what("copies"), of(rlc::RETRANSMISSION).iter().map(|out| number(&out.answer, 5)));
            }
            Kind::Resubmit => {
                let mut seen = vec![false; EACH as usize];
                let first = of(resubmit::RESUBMISSION)
                    .iter()
                    .map(|out| number(&out.answer, 5))
                    .filter(|id| !std::mem::replace(&mut seen[*id as usize], true));
                waited += rises(kind, &what("first copies"), first.collect::<Vec<_>>());
                rises(kind, &what("reports"), of(resubmit::REPORT).iter().map(|out| out.tag));
                let attempts = resubmit::INTERFACE.reasons.iter().position(|reason| *reason == "attempts").unwrap();
                let left = of(u8::MAX).iter().filter(|out| out.outcome == Outcome::Dropped(service::Reason::own(attempts))).count();
                assert_eq!(of(resubmit::ACKNOWLEDGED).len() + left, EACH as usize, "{}", what("each ends once"));
                dropped += left;
            }
            Kind::Shaper => {
                assert_eq!(rises(kind, &what("packets"), of(0).iter().map(|out| out.tag)), EACH);
                assert!(of(0).iter().zip(&twin[&(false, 0)]).all(|(came, twin)| came.payload == twin.payload));
                waited += of(0).iter().filter(|out| number(&out.answer, 0) > 0).count() as u32;
            }
            Kind::RadioBearer => {
                assert_eq!(came, twin, "{}", what("bytes and order"));
                assert_eq!(of(radio_bearer::PDU).len() as u32, EACH, "whole SDUs");
                let ordered = &came[&(true, radio_bearer::PDU)];
                assert_eq!(rises(kind, &what("SDUs"), ordered.iter().map(|out| number(&out.answer, 1))), EACH);
                // Those that came before their turn.
                waited += ordered.windows(2).filter(|pair| pair[0].tag > pair[1].tag).count() as u32;
            }
        }
    }
    let least = if kind == Kind::Buffer { 20 } else { FLOWS * EACH / 20 };
    assert!(waited >= least && (kind != Kind::Resubmit || dropped > 100), "{kind:?} {place}: {waited} waited, {dropped} dropped");
}

fn in_each_place(kind: Kind, seed: u64) {
    let twin = run(kind.plain(sizes(kind)), kind, &Place::Lane, seed);
    let folder = tempfile::tempdir().unwrap();
    for place in [Place::Lane, Place::Threads(1), Place::Threads(3), Place::Process(folder.path().join("service.sock"))] {
        let came = run(kind.make(sizes(kind)), kind, &place, seed);
        check(kind, &place, &came, &twin);
    }
}

#[test]
fn packets_of_a_bearer_leave_the_cipher_in_order_in_each_place() {
    in_each_place(Kind::Cipher, 0x0dde_0001);
}

#[test]
fn packets_of_a_bearer_leave_the_buffer_in_order_in_each_place() {
    in_each_place(Kind::Buffer, 0x0dde_0002);
}

#[test]
fn packets_of_a_flow_leave_algorithm_1_in_order_in_each_place() {
    in_each_place(Kind::Resubmit, 0x0dde_0003);
}

#[test]
fn packets_of_a_queue_leave_the_shaper_in_order_in_each_place() {
    in_each_place(Kind::Shaper, 0x0dde_0004);
}

#[test]
fn packets_of_a_bearer_leave_its_receiving_side_in_order_in_each_place() {
    in_each_place(Kind::RadioBearer, 0x0dde_0005);
}

/// Not a test: what runs in the second process.
#[test]
#[ignore = "the second process of the others"]
fn the_second_process() {
    let of = |name: &str| std::env::var_os(name).expect("started by another test");
    let kind = Kind::named(of("SPLITPLANE_TEST_SERVICE").to_str().unwrap()).unwrap();
    process::serve(Path::new(&of("SPLITPLANE_TEST_SOCKET")), &kind.make(sizes(kind)), &AtomicBool::new(false)).unwrap();
}

/// It ends with the run.
struct Second(Child);

impl Second {
    fn start(kind: Kind, path: &Path) -> Second {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "the_second_process", "--ignored"]).stdout(Stdio::null());
        Second(command.env("SPLITPLANE_TEST_SOCKET", path).env("SPLITPLANE_TEST_SERVICE", kind.interface().name).spawn().unwrap())
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
