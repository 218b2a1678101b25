//! `bench services seam`: what does the way to a service cost, in the lane, on a thread and in a second process?
//!
//! In the lane: a call that does nothing, of the seam alone and from a P4 program; ciphers beside the library's own calls; a buffer that keeps and gives back. Elsewhere: the same buffer, by the own time of both
//! sides, and how long an answer takes when one packet at a time is asked about. The second process is `splitplane service`.
//!
//! Verified: each call has the outcome that was asked for; ciphered bytes are those of the portable engine; each packet that is kept comes back once.

use super::called::called;
use crate::bench::measure::{Rounds, thread_time, threads_time};
use crate::bench::options::Common;
use crate::bench::report;
use base::{Packet, PortId};
use buffer::Limits;
use buffer::rlc::BearerConfig;
use buffer::service::{BufferService, KEEP, STATUS, bearer_setting};
use buffer::status::{SnLength, emit};
use ciphering::service::{CipherService, Request, key_setting};
use ciphering::{Alone, Choice, Direction, Engine, Job, Nea, Outcome as JobOutcome, Step};
use cli::failure::Failure;
use serde_json::{Value, json};
use service::caller::{Make, Rings};
use service::{Access, Call, Caller, Deployment, FIELDS_MAX, Interface, Outcome, Place, Question, Service, Setting, SettingError};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use target_api::BURST;

/// Packets of a bearer that wait when a status comes.
const IN_FLIGHT: u32 = 16;
/// Statuses without an answer beyond which the lane waits: what is on the way fits the rings.
const STATUSES: u64 = 256;
/// Packets that are ciphered, each with a key of its own: bursts of 32.
const CIPHERED: usize = 1024;
/// How long the second process may take to come, and an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs it; the figures as JSON.
pub(super) fn seam(common: &Common) -> Result<Value, Failure> {
    let machine = report::machine();
    report::print_machine(&machine);
    println!("bench services seam: by own time of the threads; latency by the clock");
    let mut rows = vec![null(common, true)?, null(common, false)?];
    rows.extend(called(common)?);
    for nea in [Nea::Nea1, Nea::Nea2, Nea::Nea3] {
        rows.push(cipher(nea, common)?);
    }
    let folder = tempfile::tempdir().map_err(|error| wrong(&error.to_string()))?;
    let path = folder.path().join("service.sock");
    for place in [Place::Lane, Place::Threads(1), Place::Process(path)] {
        for bytes in [128, 1400] {
            rows.push(keep(&place, bytes, common)?);
        }
        rows.push(latency(&place, common, Nea::Nea0)?);
    }
    rows.push(scaling("arithmetic in registers: what two cores are worth on this machine", common, &|| timed(common, arithmetic))?);
    let nea2 = || {
        let mut set = Ciphered::new(Nea::Nea2)?;
        timed(common, || (set.pass(), CIPHERED))
    };
    rows.push(scaling("NEA2, 64 B, in the lane", common, &nea2)?);
    let bearers = common.size(4096, 64);
    let keeping = || Ok((super::buffer::rlc_rate(bearers, 128, 1, common.round())?, bearers as usize));
    rows.push(scaling("RLC AM, keep + acknowledge, 128 B, memory to memory", common, &keeping)?);
    rows.iter().for_each(report::print_rate);
    let figures = json!({ "bench": "services seam", "machine": machine, "rows": rows });
    common.write(&figures)?;
    Ok(figures)
}

pub(super) fn wrong(what: &str) -> Failure {
    Failure::Failed(format!("bench services seam: {what}"))
}

/// Answers everything.
struct Null;

static NULL: Interface = Interface {
    name: "null",
    request: &[],
    answer: &[],
    key: None,
    reasons: &[],
    access: |_| Access::None,
    sends_own: false,
    check_setting: |_, _| Ok(()),
};

impl Service for Null {
    fn interface(&self) -> &'static Interface {
        &NULL
    }

    fn call(&mut self, burst: &mut [Call], _: u64) {
        burst.iter_mut().for_each(|call| call.outcome = Outcome::Answered);
    }

    fn answer(&mut self, burst: &mut [Question<'_>], _: u64) {
        burst.iter_mut().for_each(|question| question.outcome = Outcome::Answered);
    }

    fn set(&mut self, _: &Setting) -> Result<(), SettingError> {
        Ok(())
    }
}

pub(crate) fn deploy(place: &Place, make: Make) -> Result<Deployment, Failure> {
    Deployment::new(place, make, Rings { calls: 1 << 15, ..Rings::default() }).map_err(|error| wrong(&error.to_string()))
}

/// A packet's question, as a lane asks it: the packet stays where it is.
fn question<'a>(i: usize, packet: &'a mut Packet, fields: &[u8; FIELDS_MAX]) -> Question<'a> {
    let port = packet.port;
    let (buffer, start, len) = packet.buffer_mut();
    let room = &mut buffer[start..];
    Question { fields: *fields, room, len: len as u32, packet: i as u32, port, outcome: Outcome::Pending }
}

/// Nanoseconds a packet: through the seam where it lies, or out of the burst and back into it.
fn null(common: &Common, in_place: bool) -> Result<Value, Failure> {
    let mut caller = deploy(&Place::Lane, Arc::new(|| Box::new(Null)))?.caller();
    let mut packets: Vec<Packet> = (0..BURST).map(|_| Packet::new(&[0; 64], PortId(1))).collect();
    let mut calls: Vec<Call> = Vec::with_capacity(BURST);
    let (mut rounds, mut verified) = (Rounds::default(), 0);
    for _ in 0..common.rounds() {
        let (mut count, begin) = (0, thread_time());
        while thread_time() - begin < common.round() {
            for _ in 0..64 {
                if in_place {
                    let all = packets.iter_mut().enumerate().map(|(i, packet)| question(i, packet, &[0; FIELDS_MAX]));
                    let mut questions: Vec<Question<'_>> = all.collect();
                    caller.answer(&mut questions, 1);
                    count += questions.iter().filter(|question| question.outcome == Outcome::Answered).count();
                    continue;
                }
                calls.extend(packets.drain(..).map(|packet| Call::new(packet, 20, [0; FIELDS_MAX], 0)));
                caller.call(&mut calls, 1);
                count += calls.iter().filter(|call| call.outcome == Outcome::Answered).count();
                packets.extend(calls.drain(..).map(|call| call.packet));
            }
        }
        rounds.0.push((thread_time() - begin).as_nanos() as f64 / count as f64);
        verified += count;
    }
    let what = if in_place { "a call in the lane that does nothing" } else { "the same, the packet handed over and back" };
    Ok(report::rate(what, "ns", &rounds, verified))
}

fn key_of(i: usize) -> [u8; 16] {
    std::array::from_fn(|at| (i * 31 + at * 7) as u8)
}

/// Packets with a key for each, and a lane's end of the ciphers.
struct Ciphered {
    caller: Caller,
    packets: Vec<Packet>,
    /// Beforehand, as the library alone has its operations.
    requests: Vec<[u8; FIELDS_MAX]>,
}

fn filled(i: usize) -> Packet {
    Packet::new(&[i as u8; 64], PortId(1))
}

impl Ciphered {
    fn new(nea: Nea) -> Result<Ciphered, Failure> {
        let make: Make = Arc::new(|| Box::new(CipherService::new(Choice::Fastest).expect("one is always there")));
        let deployment = deploy(&Place::Lane, make)?;
        for i in 0..CIPHERED {
            let set = deployment.set(i as u32, Some(key_setting(nea, &key_of(i), None)));
            set.map_err(|error| wrong(&error.to_string()))?;
        }
        let fields = |i: usize| {
            let request = Request {
                key_index: i as u16,
                count: i as u32,
                bearer: (i % 32) as u8,
                direction: Direction::Downlink,
                step: Step::Protect,
                clear_bytes: 0,
                prefix: 0,
                prefix_bytes: 0,
            };
            request.fields()
        };
        let (packets, requests) = ((0..CIPHERED).map(filled).collect(), (0..CIPHERED).map(fields).collect());
        Ok(Ciphered { caller: deployment.caller(), packets, requests })
    }

    /// All of them once, in bursts of 32 and as a lane asks: the packets stay where they are. Whether all is well.
    fn pass(&mut self) -> bool {
        let mut good = true;
        let ((bursts, _), (requests, _)) = (self.packets.as_chunks_mut::<32>(), self.requests.as_chunks::<32>());
        for (packets, requests) in bursts.iter_mut().zip(requests) {
            let mut packets = packets.iter_mut();
            // On the stack, as a lane has them.
            let mut questions: [Question<'_>; 32] =
                std::array::from_fn(|i| question(i, packets.next().expect("a burst is full"), &requests[i]));
            self.caller.answer(&mut questions, 1);
            good &= questions.iter().all(|question| question.outcome == Outcome::Answered);
        }
        good
    }
}

/// Mpps of 64 bytes with a key for each packet, beside the library alone.
pub(crate) fn cipher(nea: Nea, common: &Common) -> Result<Value, Failure> {
    let mut set = Ciphered::new(nea)?;
    // The first pass is compared with the portable engine, byte by byte.
    let mut portable = Engine::new(Choice::Portable).map_err(|error| wrong(&error.to_string()))?;
    let mut good = set.pass();
    let (mut expected, keys): (Vec<_>, Vec<_>) = (0..CIPHERED).map(|i| (filled(i), portable.cipher_key(nea, &key_of(i)))).unzip();
    portable.run(&mut jobs(&mut expected, &keys));
    good &= set.packets.iter().zip(&expected).all(|(packet, expected)| packet.data() == expected.data());
    let library = Engine::new(Choice::IpsecMb).ok();
    let keys: Vec<_> = library.iter().flat_map(|library| (0..CIPHERED).map(|i| library.cipher_key(nea, &key_of(i)))).collect();
    // In packets too: where bytes lie is a part of the cost.
    let mut of_library: Vec<Packet> = (0..keys.len()).map(filled).collect();
    let mut alone = match &library {
        Some(_) => Some(Alone::new(jobs(&mut of_library, &keys), 32).map_err(|error| wrong(&error.to_string()))?),
        None => None,
    };
    let (mut rounds, mut own, mut verified) = (Rounds::default(), Rounds::default(), CIPHERED);
    for _ in 0..common.rounds() {
        let (rate, count) = timed(common, || (set.pass(), CIPHERED))?;
        rounds.0.push(rate);
        verified += count;
        if let Some(alone) = &mut alone {
            own.0.push(timed(common, || (alone.run(), CIPHERED))?.0);
        }
    }
    if !good {
        return Err(wrong("ciphered bytes are not those of the portable engine"));
    }
    let mut row = report::rate(&format!("{nea:?}, 64 B, keys of their own, in the lane"), "Mpps", &rounds, verified);
    if alone.is_some() {
        let ratio = rounds.ratio(&own);
        row["note"] = json!(format!("{:.2} of the library alone", ratio.median()));
        row["ratio"] = ratio.json();
    }
    Ok(row)
}

/// What two lanes do on two cores, each with a service of its own, of what one does: by the own time of each. `rate` is of one lane, and how many packets it looked at.
fn scaling(what: &str, common: &Common, rate: &(impl Fn() -> Result<(f64, usize), Failure> + Sync)) -> Result<Value, Failure> {
    let (mut rounds, mut verified) = (Rounds::default(), 0);
    for _ in 0..common.rounds() {
        let one = rate()?;
        let lanes = std::thread::scope(|scope| [scope.spawn(rate), scope.spawn(rate)].map(|lane| lane.join()));
        let mut both = 0.0;
        for lane in lanes {
            let (rate, looked_at) = lane.map_err(|_| wrong("a lane has panicked"))??;
            both += rate;
            verified += looked_at;
        }
        rounds.0.push(both / one.0);
    }
    Ok(report::rate(&format!("two cores against one: {what}"), "times", &rounds, verified))
}

/// Independent multiplications, which share nothing with another core but what the machine's cores share.
fn arithmetic() -> (bool, usize) {
    const STEPS: usize = 1 << 12;
    let mut lanes = std::hint::black_box([1u64, 3, 5, 7, 9, 11, 13, 15]);
    for _ in 0..STEPS {
        lanes.iter_mut().for_each(|lane| *lane = lane.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ *lane >> 7);
    }
    std::hint::black_box(lanes);
    (true, STEPS)
}

fn jobs<'a>(packets: &'a mut [Packet], keys: &'a [ciphering::Key<Nea>]) -> Vec<Job<'a>> {
    let job = |(i, (packet, key)): (usize, (&'a mut Packet, &'a ciphering::Key<Nea>))| Job {
        cipher: Some(key),
        integrity: None,
        count: i as u32,
        bearer: (i % 32) as u8,
        direction: Direction::Downlink,
        step: Step::Protect,
        clear: 0,
        data: packet.data_mut(),
        outcome: JobOutcome::Pending,
    };
    packets.iter_mut().zip(keys).enumerate().map(job).collect()
}

/// Millions a second of this thread's time, and how many.
fn timed(common: &Common, mut pass: impl FnMut() -> (bool, usize)) -> Result<(f64, usize), Failure> {
    let (mut count, begin) = (0, thread_time());
    loop {
        let (good, n) = pass();
        if !good {
            return Err(wrong("a call has another outcome than it was asked for"));
        }
        count += n;
        let spent = thread_time() - begin;
        if spent >= common.round() {
            return Ok((count as f64 / spent.as_secs_f64() / 1e6, count));
        }
    }
}

/// The second process: `splitplane service`. It ends with the row.
struct Second(Option<Child>);

impl Second {
    fn start(place: &Place, name: &str, more: &[String]) -> Result<Second, Failure> {
        let Place::Process(path) = place else { return Ok(Second(None)) };
        let mut command = Command::new(crate::programs::splitplane()?);
        command.args(["service", name, "--connect"]).arg(path).args(more).stdout(Stdio::null());
        command.spawn().map(|child| Second(Some(child))).map_err(|error| wrong(&error.to_string()))
    }

    /// Time that it has had on processors, or the threads of that name have.
    fn time(&self, threads: &str) -> Duration {
        let Some(child) = &self.0 else { return threads_time(threads) };
        let text = std::fs::read_to_string(format!("/proc/{}/schedstat", child.id())).unwrap_or_default();
        Duration::from_nanos(text.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn now_ns(start: Instant) -> u64 {
    start.elapsed().as_nanos() as u64 + 1
}

/// Gives calls in, once the service is there. What it takes of a burst it must take whole: sequence numbers are in order.
fn give(caller: &mut Caller, calls: &mut [Call], start: Instant, out: &mut Vec<Call>) -> Result<(), Failure> {
    let end = Instant::now() + PATIENCE;
    loop {
        caller.call(calls, now_ns(start));
        match calls.iter().filter(|call| matches!(call.outcome, Outcome::Dropped(_))).count() {
            0 => return Ok(()),
            n if n == calls.len() && Instant::now() < end => {
                caller.poll(now_ns(start), out);
                calls.iter_mut().for_each(|call| call.outcome = Outcome::Pending);
                std::thread::yield_now();
            }
            n => return Err(wrong(&format!("{n} calls of {} were dropped: {:?}", calls.len(), calls[calls.len() - 1].outcome))),
        }
    }
}

/// Millions of packets of so many bytes a second of own time that the buffer keeps and gives back.
pub(crate) fn keep(place: &Place, bytes: usize, common: &Common) -> Result<Value, Failure> {
    let bearers: u32 = common.size(16_384, 64);
    let limits = Limits { packets: 1 << 20, bytes: u64::MAX };
    let make: Make = Arc::new(move || Box::new(BufferService::new(bearers as usize, limits)));
    let deployment = deploy(place, make)?;
    let second = Second::start(place, "buffer", &[format!("--bearers={bearers}")])?;
    let config = BearerConfig {
        sn_length: SnLength::Bits12,
        window: 64,
        bytes: u64::MAX,
        poll_retransmit_ms: 4000,
        poll_pdu: None,
        poll_byte: None,
        max_retransmissions: 8,
    };
    for bearer in 0..bearers {
        deployment.set(bearer, Some(bearer_setting(&config).into())).map_err(|error| wrong(&error.to_string()))?;
    }
    let (mut caller, start, mut out) = (deployment.caller(), Instant::now(), Vec::new());
    let sdu = vec![5; bytes];
    // Statuses are due evenly from the beginning; to the buffer it is a gap.
    let mut next: Vec<u32> = (0..bearers).map(|bearer| bearer % IN_FLIGHT).collect();
    let mut spares: Vec<Packet> = (0..bearers * IN_FLIGHT * 2).map(|_| Packet::new(&sdu, PortId(1))).collect();
    let (mut calls, mut pdu, mut chance) = (Vec::new(), Vec::new(), 0x9e37_79b9_7f4a_7c15_u64);
    let request = |operation, bearer, sn| buffer::service::Request::new(operation, bearer, sn).fields();
    let (mut rounds, mut walls, mut verified) = (Rounds::default(), Rounds::default(), 0);
    // By the own time of each side.
    let (mut lanes, mut services) = (Rounds::default(), Rounds::default());
    let (mut kept_in_all, mut statuses) = (0u64, 0u64);
    // The first round, in which bearers are set up, is not counted.
    for round in 0..=common.rounds() {
        let (begin, began, their) = (thread_time(), Instant::now(), second.time("buffer-"));
        let (mut kept, mut back) = (0u64, 0u64);
        // On a busy machine the service may not have had its turn yet.
        while began.elapsed() < common.round() || back == 0 {
            for _ in 0..BURST {
                chance = chance.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                let bearer = (((chance >> 32) * u64::from(bearers)) >> 32) as u32;
                let Some(packet) = spares.pop() else { break };
                let number = next[bearer as usize];
                next[bearer as usize] += 1;
                calls.push(Call::new(packet, 0, request(KEEP, bearer, number & 0xfff), 1));
                kept += 1;
                if (number + 1).is_multiple_of(IN_FLIGHT) {
                    pdu.clear();
                    emit(SnLength::Bits12, number + 1, &[], &mut pdu);
                    let packet = spares.pop().map_or_else(|| Packet::new(&pdu, PortId(1)), |mut packet| (packet.set(&pdu), packet).1);
                    calls.push(Call::new(packet, 0, request(STATUS, bearer, 0), 2));
                    statuses += 1;
                }
            }
            give(&mut caller, &mut calls, start, &mut out)?;
            out.extend(calls.drain(..).filter(|call| call.outcome != Outcome::Kept));
            caller.poll(now_ns(start), &mut out);
            while statuses > STATUSES + out.iter().filter(|call| call.tag == 2).count() as u64 {
                std::thread::yield_now();
                caller.poll(now_ns(start), &mut out);
            }
            for mut call in out.drain(..) {
                if call.outcome != Outcome::Answered {
                    return Err(wrong(&format!("a packet came back as {:?}", call.outcome)));
                }
                if call.tag == 1 {
                    if round == 0 && call.packet.data() != sdu {
                        return Err(wrong("a packet came back with other bytes"));
                    }
                    back += 1;
                } else {
                    statuses -= 1;
                    call.packet.set(&sdu);
                }
                spares.push(call.packet);
            }
        }
        let (lane, service) = (thread_time() - begin, second.time("buffer-").saturating_sub(their));
        let own = lane + service;
        if round > 0 {
            rounds.0.push(back as f64 / own.as_secs_f64() / 1e6);
            lanes.0.push(back as f64 / lane.as_secs_f64() / 1e6);
            if !service.is_zero() {
                services.0.push(back as f64 / service.as_secs_f64() / 1e6);
            }
            walls.0.push(back as f64 / began.elapsed().as_secs_f64() / 1e6);
        }
        verified += back as usize;
        kept_in_all += kept;
    }
    if deployment.counters().imbalance() != 0 || verified as u64 > kept_in_all {
        return Err(wrong("the counters do not balance"));
    }
    let mut row =
        report::rate(&format!("buffer, {}: keep + acknowledge, {bytes} B, {bearers} bearers", label(place)), "Mpps", &rounds, verified);
    row["note"] = json!(format!("of own time of all; {:.2} by the clock", walls.median()));
    row["clock"] = walls.json();
    row["caller"] = lanes.json();
    row["service"] = services.json();
    Ok(row)
}

fn label(place: &Place) -> &'static str {
    match place {
        Place::Lane => "in the lane",
        Place::Threads(_) => "on a thread",
        Place::Process(_) => "second process",
    }
}

/// Microseconds until the answer about one packet is there, when nothing else is under way.
pub(crate) fn latency(place: &Place, common: &Common, nea: Nea) -> Result<Value, Failure> {
    let make: Make = Arc::new(|| Box::new(CipherService::new(Choice::Fastest).expect("one is always there")));
    let deployment = deploy(place, make)?;
    let _second = Second::start(place, "cipher", &[])?;
    deployment.set(0, Some(key_setting(nea, &[0; 16], None))).map_err(|error| wrong(&error.to_string()))?;
    let (mut caller, start, mut out) = (deployment.caller(), Instant::now(), Vec::new());
    let mut delays = Vec::new();
    let mut packet = Packet::new(&[1; 64], PortId(1));
    for _ in 0..common.size(20_000, 200) {
        let begin = Instant::now();
        let mut calls = [Call::new(packet, 0, [0; FIELDS_MAX], 0)];
        give(&mut caller, &mut calls, start, &mut out)?;
        out.extend(calls.into_iter().filter(|call| call.outcome != Outcome::Kept));
        while out.is_empty() {
            caller.poll(now_ns(start), &mut out);
            if begin.elapsed() > PATIENCE {
                return Err(wrong("no answer"));
            }
            std::hint::spin_loop();
        }
        delays.push(begin.elapsed().as_nanos() as f64 / 1e3);
        let Some(call) = out.pop().filter(|call| call.outcome == Outcome::Answered) else { return Err(wrong("no answer")) };
        packet = call.packet;
    }
    delays.sort_by(f64::total_cmp);
    let at = |share: f64| delays[(delays.len() as f64 * share) as usize];
    let rounds = Rounds(vec![at(0.5)]);
    let mut row = report::rate(&format!("answer about one packet, {}: p50", label(place)), "us", &rounds, delays.len());
    row["note"] = json!(format!("p99 {:.2}", at(0.99)));
    row["p99_us"] = json!(at(0.99));
    Ok(row)
}
