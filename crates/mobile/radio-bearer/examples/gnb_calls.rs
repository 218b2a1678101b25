//! What do the calls of `p4/gnb.p4` cost? Downlink packets of RLC AM, each asked about twice, and the STATUS PDUs that acknowledge them: with the buffer as it is,
//! and with one that is asked nothing while the program runs, so that each of its calls stops it. By the processor's time, in turns.
//!
//! `cargo run --release -p radio-bearer --example gnb_calls`

#[path = "../tests/common/mod.rs"]
mod common;

use base::{Packet, PortId, Verdict, VerdictKind};
use buffer::Limits;
use buffer::service::BufferService;
use buffer::status::{SnLength, emit};
use ciphering::Nea;
use common::*;
use service::{Call, Deployment, Interface, Service, Setting, SettingError};
use std::sync::Arc;
use target_api::{BURST, Lane, Replicating, Target};
use target_x86::{Options, X86};

const BEARERS: u32 = 512;
/// Packets of a bearer that wait when its STATUS comes.
const IN_FLIGHT: u32 = 16;

/// As the buffer, and it is always called.
struct Called(BufferService);

impl Service for Called {
    fn interface(&self) -> &'static Interface {
        self.0.interface()
    }

    fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        self.0.call(burst, now_ns);
    }

    fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        self.0.poll(now_ns, out);
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        self.0.next_deadline_ns()
    }

    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        self.0.set(setting)
    }
}

struct Contestant {
    lane: Box<dyn Lane>,
    _target: Replicating<X86>,
    services: Vec<Arc<Deployment>>,
    bearers: Vec<Bearer>,
    down: Vec<Vec<u8>>,
    /// By bearer: packets sent.
    sent: u32,
    now_ns: u64,
}

impl Contestant {
    fn new(is_asked: bool, bytes: usize) -> Contestant {
        let ir = whole();
        let (mut cut, bridge) = p4_passes::bridge::cut(&ir).expect("can be cut").expect("it calls");
        p4_passes::optimise(&mut cut).expect("keeps the invariants");
        let text = p4_emit::emit_x86(&cut).expect("can be emitted");
        let x86 = X86::load(Arc::new(cut.program.clone()), &text, &Options::default()).expect("compiles");
        let limits = Limits { packets: 1 << 16, bytes: 1 << 26 };
        let new = move || BufferService::new(common::BEARERS as usize, limits);
        let buffer: service::caller::Make = match is_asked {
            true => Arc::new(move || Box::new(new())),
            false => Arc::new(move || Box::new(Called(new()))),
        };
        let services = Services { buffer: inline::in_lane(buffer), ..Services::new() };
        let target = Replicating::new(x86, bridge).with_services(&services.all()).expect("all are there");
        target.apply(&Tables(&ir).station()).expect("fits");
        let bearers: Vec<Bearer> = (1..=BEARERS).map(|number| Bearer { nea: Nea::Nea0, ..Bearer::new(number) }).collect();
        for bearer in &bearers {
            target.apply(&Tables(&ir).bearer(bearer)).expect("fits");
            services.set(bearer);
        }
        let down = bearers.iter().map(|bearer| from_upf(bearer, &vec![7; bytes])).collect();
        Contestant { lane: target.lane(0), _target: target, services: services.all(), bearers, down, sent: 0, now_ns: 1 }
    }

    /// Frames through the program, and all that services give back: how many went out.
    fn run(&mut self, port: PortId, frames: &[Vec<u8>]) -> u64 {
        let (mut out, mut back) = (0, Vec::new());
        let mut packets: Vec<Packet> = (0..BURST).map(|_| Packet::empty(2048)).collect();
        let mut verdicts = [Verdict::default(); BURST];
        for burst in frames.chunks(BURST) {
            for (packet, frame) in packets.iter_mut().zip(burst) {
                if packet.is_void() {
                    *packet = Packet::empty(2048);
                }
                packet.set(frame);
                packet.port = port;
            }
            let n = burst.len();
            self.lane.process(&mut packets[..n], &mut verdicts[..n], self.now_ns);
            out += verdicts[..n].iter().filter(|verdict| verdict.kind == VerdictKind::Forward).count() as u64;
            while self.lane.next_poll_ns().is_some_and(|at| at <= self.now_ns) {
                let before = back.len();
                self.lane.poll(self.now_ns, &mut back);
                if back.len() == before {
                    break;
                }
            }
            out += back.drain(..).filter(|back| back.verdict.kind == VerdictKind::Forward).count() as u64;
        }
        out
    }

    /// Nanoseconds of a downlink packet, and of one with its acknowledgement.
    fn round(&mut self) -> (f64, f64) {
        let n = u64::from(BEARERS * IN_FLIGHT);
        let begin = processor_ns();
        for _ in 0..IN_FLIGHT {
            let down = std::mem::take(&mut self.down);
            assert_eq!(self.run(N3, &down), u64::from(BEARERS), "each goes out");
            self.down = down;
        }
        let down = processor_ns() - begin;
        self.sent += IN_FLIGHT;
        let mut pdu = Vec::new();
        emit(SnLength::Bits18, self.sent & 0x3_ffff, &[], &mut pdu);
        let statuses: Vec<Vec<u8>> = self.bearers.iter().map(|bearer| from_ue(bearer, &pdu)).collect();
        let begin = processor_ns();
        self.run(RADIO, &statuses);
        let up = processor_ns() - begin;
        assert_eq!(self.services[0].counters().waiting(), 0, "all was acknowledged");
        self.now_ns += 1_000_000;
        (down as f64 / n as f64, (down + up) as f64 / n as f64)
    }
}

fn main() {
    for bytes in [64, 1400] {
        let mut both = [Contestant::new(true, bytes), Contestant::new(false, bytes)];
        let mut rounds = [Vec::new(), Vec::new()];
        for _ in 0..41 {
            for (contestant, rounds) in both.iter_mut().zip(&mut rounds) {
                rounds.push(contestant.round());
            }
        }
        for (what, rounds) in ["asked ", "called"].iter().zip(&rounds) {
            let median = |of: fn(&(f64, f64)) -> f64| {
                let mut all: Vec<f64> = rounds.iter().map(of).collect();
                all.sort_by(f64::total_cmp);
                all[all.len() / 2]
            };
            println!("{bytes:>4} B, {what}: {:.0} ns a packet down, {:.0} with its acknowledgement", median(|r| r.0), median(|r| r.1));
        }
    }
}

/// Processor time of this thread, in ns.
fn processor_ns() -> u64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    times.split(' ').next().and_then(|ns| ns.parse().ok()).expect("Linux with /proc")
}
