//! `bench xdp`: what does a packet cost in the kernel's XDP hook, in the program made from `upf.p4` and in one written by hand?
//!
//! Both run as the kernel's own test run (BPF_PROG_TEST_RUN, repeated in one system call) behind a driver that makes the packet of
//! another session each time (`xdp/driver.c`). What the driver alone costs is measured with an empty program in the same rounds
//! and taken off. No interface, no interrupts: it is the cost of the program, not of receiving and sending.

use super::measure::{Rounds, thread_time};
use super::options::Common;
use super::sessions::{self, Direction, N3, N6, Sessions};
use crate::failure::Failure;
use base::VerdictKind;
use p4_interp::{Machine, Mode};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use target::Target;
use target_xdp::object::{Object, Sizes};
use target_xdp::sys::{Shared, test_run};
use target_xdp::{Options, Xdp};

const DRIVER: &str = include_str!("xdp/driver.c");
const HAND: &str = include_str!("xdp/hand.c");
/// `XDP_REDIRECT`: what a forwarded packet ends with.
const REDIRECT: u32 = 4;
/// Sessions whose packets are compared byte by byte.
const COMPARED: u32 = 4096;
/// Bytes of a meter of the program by hand.
const METER: usize = 40;
/// Sessions whose entries go in together.
const SESSIONS_A_BATCH: u32 = 256;

/// Options.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Numbers of sessions.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4_000_000))]
    sessions: Option<Vec<u32>>,
    #[command(flatten)]
    common: Common,
}

/// Runs it and gives the figures.
pub fn xdp(args: &Args) -> Result<Value, Failure> {
    let sizes = args.sessions.clone().unwrap_or_else(|| args.common.size(vec![1_000, 64_000, 1_000_000], vec![100]));
    println!("upf.p4 in the kernel's XDP hook beside a program written by hand, test runs, 64-byte inner frames, random sessions");
    println!("nanoseconds a packet, the driver's share taken off: medians of {} interleaved rounds\n", args.common.rounds());
    println!(
        "{:>8} {:>9}  {:>22}  {:>22}  {:>6}  {:>8}  {:>14}  compared",
        "sessions", "direction", "upf.p4", "by hand", "ratio", "driver", "sessions/s in"
    );
    let mut rows = Vec::new();
    for n in sizes {
        let mut bench = Bench::new(n)?;
        for direction in [Direction::Downlink, Direction::Uplink] {
            rows.push(bench.row(direction, &args.common)?);
        }
    }
    let figures = json!({ "bench": "xdp", "rounds": args.common.rounds(), "rows": rows });
    args.common.write(&figures)?;
    Ok(figures)
}

/// Everything for one number of sessions.
struct Bench {
    sessions: u32,
    xdp: Xdp,
    usage: program::CounterId,
    machine: Machine,
    hand: Object,
    driver: Object,
    state: Shared,
    list: Shared,
    list_len: u32,
    interface: u32,
    /// Sessions that the test run's packets belong to.
    numbers: Vec<u32>,
    inserts_a_second: f64,
}

impl Bench {
    fn new(n: u32) -> Result<Bench, Failure> {
        let capacity = n.next_power_of_two().max(1024);
        let defines = [("SESSIONS".to_owned(), capacity.to_string())];
        let ir = Arc::new(crate::program::compile(Path::new("upf.p4"), &[], &defines)?);
        let text = p4_emit::bpf::emit_xdp(&ir).map_err(|e| Failure::Failed(e.to_string()))?;
        let options = Options { entries: capacity.into(), seed: rand::rng().random(), ..Options::default() };
        let xdp = Xdp::load(Arc::new(ir.program.clone()), &text, &options).map_err(|e| Failure::Usage(e.to_string()))?;
        let mut machine = Machine::new(ir.clone()).map_err(|e| Failure::Failed(e.to_string()))?;
        let sessions = Sessions::new(&ir.program)?;
        let apply = |batch: &program::Batch| xdp.apply(batch).map_err(|e| Failure::Failed(e.to_string()));
        apply(sessions.initial())?;
        machine.apply(sessions.initial()).map_err(|e| Failure::Failed(e.to_string()))?;
        let mut seconds = 0.0;
        for start in (0..n).step_by(SESSIONS_A_BATCH as usize) {
            let batch = sessions.batch((start..n.min(start + SESSIONS_A_BATCH)).map(|n| (n, n)));
            let begin = Instant::now();
            apply(&batch)?;
            seconds += begin.elapsed().as_secs_f64();
            if start < COMPARED {
                machine.apply(&batch).map_err(|e| Failure::Failed(e.to_string()))?;
            }
        }
        let list_len = n.next_power_of_two().clamp(1 << 12, 1 << 20);
        let driver_sizes = Sizes { entries: vec![("sessions".into(), list_len)], ..Sizes::default() };
        let driver = Object::compile(DRIVER, &driver_sizes, &["drive_downlink", "drive_uplink", "empty"]).map_err(load_failure)?;
        let state = driver.shared("state", 1, 144).map_err(load_failure)?;
        let list = driver.shared("sessions", list_len.into(), 16).map_err(load_failure)?;
        let cells = 2 * n + 3;
        let entries = [("uplink", n), ("downlink", n), ("meters", cells), ("usages", cells)];
        let hand_sizes = Sizes {
            entries: entries.map(|(name, n)| (name.to_owned(), n)).to_vec(),
            constants: vec![("cpus".into(), target_xdp::sys::possible_cpus())],
            ..Sizes::default()
        };
        let hand = Object::compile(HAND, &hand_sizes, &["hand"]).map_err(load_failure)?;
        // Test runs come in by the loopback interface.
        let interface = std::fs::read_to_string("/sys/class/net/lo/ifindex").ok().and_then(|t| t.trim().parse().ok()).unwrap_or(1);
        for port in [N3, N6] {
            xdp.set_way_out(port, Some(interface)).map_err(load_failure)?;
            // An interface, and no program there.
            hand.put("out", &u32::from(port.0).to_ne_bytes(), &u64::from(interface).to_ne_bytes()).map_err(load_failure)?;
        }
        let mut rng = rand::rngs::StdRng::seed_from_u64(1);
        let mut numbers: Vec<u32> = (0..n).collect();
        numbers.shuffle(&mut rng);
        while numbers.len() < list_len as usize {
            numbers.push(rng.random_range(0..n));
        }
        numbers.truncate(list_len as usize);
        let usage = sessions.usage();
        let inserts_a_second = f64::from(n) / seconds;
        let mut bench =
            Bench { sessions: n, xdp, usage, machine, hand, driver, state, list, list_len, interface, numbers, inserts_a_second };
        bench.fill_hand()?;
        Ok(bench)
    }

    /// The hand-written program's maps. Ways out are learnt from what the interpreter sends.
    fn fill_hand(&mut self) -> Result<(), Failure> {
        let meters = self.hand.shared("meters", u64::from(2 * self.sessions + 3), METER).map_err(load_failure)?;
        // 10 Gbit/s and a burst of 0.1 s, as the other program's meters have.
        const RATE: u64 = 1_250_000_000;
        const BURST: u64 = RATE / 10 * 1_000_000_000;
        for direction in [Direction::Downlink, Direction::Uplink] {
            let (frame, sent) = self.expected(direction, 0)?;
            let port = if direction == Direction::Downlink { N3 } else { N6 };
            let mut station = u32::from(direction.port().0).to_ne_bytes().to_vec();
            station.extend(&frame[..6]);
            station.extend([0, 0]);
            let vrf = u32::from(direction == Direction::Downlink);
            self.hand.put("stations", &station, &vrf.to_ne_bytes()).map_err(load_failure)?;
            // To the gNodeB's network, and everywhere.
            let hop = u32::from(direction == Direction::Uplink);
            let mut value = [u32::from(port.0).to_ne_bytes(), 1500u32.to_ne_bytes()].concat();
            value.extend(&sent[..12]);
            value.extend([0; 4]);
            self.hand.put("hops", &hop.to_ne_bytes(), &value).map_err(load_failure)?;
            let (bits, prefix) = if direction == Direction::Downlink { (16 + 24, [10, 3, 0, 0]) } else { (16, [0; 4]) };
            let mut route = u32::to_ne_bytes(bits).to_vec();
            route.extend(u16::from(direction == Direction::Uplink).to_ne_bytes());
            route.extend(prefix);
            route.extend([0, 0]);
            self.hand.put("routes", &route, &hop.to_ne_bytes()).map_err(load_failure)?;
            // The addresses of the tunnel, from the packet that has one.
            let outer: &[u8] = if direction == Direction::Downlink { &sent } else { &frame };
            let (src, dst): ([u8; 4], [u8; 4]) =
                (outer[26..30].try_into().unwrap_or_default(), outer[30..34].try_into().unwrap_or_default());
            let rules: Vec<(Vec<u8>, Vec<u8>)> = (0..self.sessions)
                .map(|n| {
                    let uplink = direction == Direction::Uplink;
                    let (ue, teid) = (sessions::ue(n).to_be_bytes(), sessions::teid(n).to_be_bytes());
                    let cell = sessions::usage_cell(direction, n);
                    let key = if uplink { [dst, teid].concat() } else { [vrf.to_ne_bytes(), ue].concat() };
                    let flags = if uplink { 3u32 } else { 1 };
                    let (tunnel_dst, tunnel_src) = if uplink { ([0; 4], [0; 4]) } else { (dst, src) };
                    let mut value =
                        [flags.to_ne_bytes(), cell.to_ne_bytes(), cell.to_ne_bytes(), ue, teid, tunnel_dst, tunnel_src].concat();
                    value.extend(u16::from(uplink).to_ne_bytes());
                    value.extend([9, outer[15]]);
                    meters.long(METER * cell as usize + 8).store(RATE, Ordering::Relaxed);
                    meters.long(METER * cell as usize + 16).store(BURST, Ordering::Relaxed);
                    meters.long(METER * cell as usize + 24).store(BURST, Ordering::Relaxed);
                    (key, value)
                })
                .collect();
            let map = if direction == Direction::Uplink { "uplink" } else { "downlink" };
            self.hand.put_all(map, rules.iter().map(|(k, v)| (&k[..], &v[..]))).map_err(load_failure)?;
        }
        Ok(())
    }

    /// A session's frame and what the interpreter makes of it.
    fn expected(&mut self, direction: Direction, n: u32) -> Result<(Vec<u8>, Vec<u8>), Failure> {
        let frame = sessions::frame(direction, n);
        let out = self.machine.process(&frame, direction.port(), 1_000_000_000, Mode::Whole);
        if out.verdict.kind != VerdictKind::Forward {
            return Err(Failure::Failed(format!("{direction}: the interpreter does not forward session {n}: {:?}", out.verdict)));
        }
        let sent = out.bytes.to_vec();
        Ok((frame, sent))
    }

    fn row(&mut self, direction: Direction, common: &Common) -> Result<Value, Failure> {
        let ours = self.xdp.program_fd().map_err(load_failure)?;
        let ours = ours.as_fd().as_raw_fd();
        let hand = self.hand.program_fd("hand").map_err(load_failure)?;
        let hand = hand.as_fd().as_raw_fd();
        let empty = self.driver.program_fd("empty").map_err(load_failure)?;
        let empty = empty.as_fd().as_raw_fd();
        self.xdp.set_port(self.interface, Some((direction.port(), 0))).map_err(load_failure)?;
        let port = u32::from(direction.port().0).to_ne_bytes();
        self.hand.put("ports", &self.interface.to_ne_bytes(), &port).map_err(load_failure)?;
        let compared = self.compare(direction, &[("upf.p4", ours), ("the program by hand", hand)])?;
        self.prepare(direction);
        let name = if direction == Direction::Downlink { "drive_downlink" } else { "drive_uplink" };
        let driver = self.driver.program_fd(name).map_err(load_failure)?;
        let driver = driver.as_fd().as_raw_fd();
        // As many as a round takes at 250 ns each.
        let repeat = (common.round().as_nanos() / 250).clamp(1000, 100_000_000) as u32;
        let frame = sessions::frame(direction, 0);
        let mut output = vec![0; 256];
        let mut rounds: [Rounds; 3] = Default::default();
        for round in 0..=common.rounds() {
            for (i, program) in [empty, ours, hand].into_iter().enumerate() {
                self.driver.put("next", &0u32.to_ne_bytes(), &program.to_ne_bytes()).map_err(load_failure)?;
                let before = self.xdp.ends()[0];
                let fail = |e: std::io::Error| Failure::Failed(format!("test run: {e}"));
                // The kernel runs the program on this thread: its time on the processor, as other people's work does not count.
                let begin = thread_time();
                let run = test_run(driver, &frame, 0, &mut output, repeat).map_err(fail)?;
                let ns = (thread_time() - begin).as_nanos() as f64 / f64::from(repeat);
                if run.action != REDIRECT || (i == 1 && self.xdp.ends()[0] - before != u64::from(repeat)) {
                    return Err(Failure::Failed(format!("{direction}: packets were not forwarded (action {})", run.action)));
                }
                // The first round warms up.
                if round > 0 {
                    rounds[i].0.push(ns);
                }
            }
        }
        let [driver, mut ours, mut hand] = rounds;
        for of in [&mut ours, &mut hand] {
            of.0.iter_mut().zip(&driver.0).for_each(|(ns, driver)| *ns -= driver);
        }
        let ratio = ours.ratio(&hand);
        let text = |r: &Rounds| format!("{:>6.0} ({:>5.0} to {:>5.0})", r.median(), r.spread().0, r.spread().1);
        println!(
            "{:>8} {:>9}  {:>22}  {:>22}  {:>5.2}x  {:>8.0}  {:>14.0}  {compared} frames",
            self.sessions,
            direction.to_string(),
            text(&ours),
            text(&hand),
            ratio.median(),
            driver.median(),
            self.inserts_a_second,
        );
        Ok(json!({
            "sessions": self.sessions, "direction": direction, "compared": compared, "upf_ns": ours.json(), "hand_ns": hand.json(),
            "driver_ns": driver.json(), "ratio": ratio.json(), "inserts_per_second": self.inserts_a_second, "packets_a_round": repeat,
        }))
    }

    /// Frames of many sessions, each program alone: bytes as the interpreter has them, and our counter counts them.
    fn compare(&mut self, direction: Direction, programs: &[(&str, i32)]) -> Result<usize, Failure> {
        let mut output = vec![0; 256];
        let n = self.sessions.min(COMPARED);
        for session in 0..n {
            let (frame, expected) = self.expected(direction, session)?;
            let cell = sessions::usage_cell(direction, session).into();
            let before = self.xdp.counter(self.usage, cell);
            for (name, program) in programs {
                let run = test_run(*program, &frame, 0, &mut output, 1).map_err(|e| Failure::Failed(format!("test run: {e}")))?;
                if run.action != REDIRECT || output[..run.len] != expected[..] {
                    return Err(Failure::Failed(format!(
                        "{direction}: {name} makes {:02x?} (action {}) of session {session}'s packet, not {expected:02x?}",
                        &output[..run.len],
                        run.action
                    )));
                }
            }
            let after = self.xdp.counter(self.usage, cell);
            if (after.packets, after.bytes) != (before.packets + 1, before.bytes + sessions::USER_PACKET as u64) {
                return Err(Failure::Failed(format!("{direction}: session {session} is not charged: {before:?}, then {after:?}")));
            }
        }
        Ok(n as usize)
    }

    /// The driver's frame and list.
    fn prepare(&mut self, direction: Direction) {
        let frame = sessions::frame(direction, 0);
        self.state.write(4, &(self.list_len - 1).to_ne_bytes());
        self.state.write(8, &frame);
        let at = sessions::user_offset(direction) + 10;
        for (i, n) in self.numbers.iter().enumerate() {
            let frame = sessions::frame(direction, *n);
            let mut entry = [sessions::ue(*n).to_be_bytes(), sessions::teid(*n).to_be_bytes()].concat();
            entry.extend(&frame[at..at + 2]);
            entry.extend([0; 6]);
            self.list.write(16 * i, &entry);
        }
    }
}

/// What keeps the programs from running here is the user's to mend.
fn load_failure(e: target_xdp::LoadError) -> Failure {
    Failure::Usage(e.to_string())
}
