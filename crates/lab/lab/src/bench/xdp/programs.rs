//! Both programs, loaded and with the same sessions; and the interpreter, which says what must come out.

use super::super::sessions::{self, Direction, N3, N6, Sessions};
use super::{load_failure, maps, test_run_failure};
use base::{PortId, VerdictKind};
use cli::failure::Failure;
use p4_interp::{Machine, Mode};
use rand::Rng;
use std::collections::BTreeSet;
use std::os::fd::{AsFd, RawFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use target_api::Target;
use target_xdp::object::{Object, Sizes};
use target_xdp::sys::test_run;
use target_xdp::{EntryPoints, Options, Xdp};

const HAND: &str = include_str!("hand.c");
/// `XDP_REDIRECT`: what a forwarded packet ends with.
pub(in crate::bench) const REDIRECT: u32 = 4;
/// Sessions whose packets are compared byte by byte.
const COMPARED: u32 = 4096;
/// Bytes of a meter of the program by hand.
const METER: usize = 40;
/// Sessions whose entries go in together.
const SESSIONS_A_BATCH: u32 = 256;

/// Everything for one number of sessions.
pub(super) struct Programs {
    /// Sessions.
    pub count: u32,
    /// The program made from `upf.p4`.
    pub xdp: Xdp,
    /// Its counter of users' packets.
    pub usage: program::CounterId,
    /// How fast the sessions went into it.
    pub inserts_a_second: f64,
    hand: Object,
    sessions: Sessions,
    machine: Machine,
    /// The sessions that the interpreter has.
    known: BTreeSet<u32>,
}

impl Programs {
    /// Loads both, and installs `n` sessions in each.
    pub(super) fn new(n: u32) -> Result<Programs, Failure> {
        let capacity = n.next_power_of_two().max(1024);
        let defines = [("SESSIONS".to_owned(), capacity.to_string())];
        let ir = Arc::new(p4_driver::compile(Path::new("upf.p4"), &[], &defines)?);
        let mut text = p4_driver::xdp_text(&ir)?;
        text.push_str(maps::OURS);
        let (seed, entry) = (rand::rng().random(), EntryPoints::Interfaces);
        let options = Options { entries: capacity.into(), seed, entry, ..Options::default() };
        let xdp = Xdp::load(Arc::new(ir.program.clone()), &text, &options).map_err(load_failure)?;
        let mut machine = Machine::new(ir.clone()).map_err(|e| Failure::Failed(e.to_string()))?;
        let sessions = Sessions::new(&ir.program).map_err(Failure::Failed)?;
        let apply = |batch: &program::Batch| xdp.apply(batch).map_err(|e| Failure::Failed(e.to_string()));
        apply(sessions.initial())?;
        machine.apply(sessions.initial()).map_err(|e| Failure::Failed(e.to_string()))?;
        let mut seconds = 0.0;
        for start in (0..n).step_by(SESSIONS_A_BATCH as usize) {
            let batch = sessions.batch((start..n.min(start + SESSIONS_A_BATCH)).map(|n| (n, n)));
            let begin = Instant::now();
            apply(&batch)?;
            seconds += begin.elapsed().as_secs_f64();
        }
        let cells = 2 * n + 3;
        let entries = [("uplink", n), ("downlink", n), ("meters", cells), ("usages", cells)];
        let hand_sizes = Sizes {
            entries: entries.map(|(name, n)| (name.to_owned(), n)).to_vec(),
            constants: vec![("cpus".into(), target_xdp::sys::possible_cpus())],
            ..Sizes::default()
        };
        let hand = Object::compile(HAND, &hand_sizes, &["hand"]).map_err(load_failure)?;
        let usage = sessions.usage();
        let inserts_a_second = f64::from(n) / seconds;
        let known = BTreeSet::new();
        let mut programs = Programs { count: n, xdp, usage, machine, hand, sessions, known, inserts_a_second };
        programs.know(0..n.min(COMPARED))?;
        programs.fill_hand()?;
        Ok(programs)
    }

    /// Tells the interpreter of these sessions.
    pub(super) fn know(&mut self, sessions: impl Iterator<Item = u32>) -> Result<(), Failure> {
        let new: Vec<u32> = sessions.filter(|n| self.known.insert(*n)).collect();
        self.machine.apply(&self.sessions.batch(new.iter().map(|n| (*n, *n)))).map_err(|e| Failure::Failed(e.to_string()))
    }

    /// Leads a session's tunnel to another TEID, on ours alone.
    pub(super) fn handover(&self, n: u32, teid: u32) -> Result<(), Failure> {
        self.xdp.apply(&self.sessions.handover(n, teid)).map_err(|e| Failure::Failed(e.to_string()))
    }

    /// The hand-written program's maps. Ways out are learnt from what the interpreter sends.
    fn fill_hand(&mut self) -> Result<(), Failure> {
        let meters = self.hand.shared("meters", u64::from(2 * self.count + 3), METER).map_err(load_failure)?;
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
            let rules: Vec<(Vec<u8>, Vec<u8>)> = (0..self.count)
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
    pub(super) fn expected(&mut self, direction: Direction, n: u32) -> Result<(Vec<u8>, Vec<u8>), Failure> {
        let frame = sessions::frame(direction, n);
        let out = self.machine.process(&frame, direction.port(), 1_000_000_000, Mode::Whole);
        if out.verdict.kind != VerdictKind::Forward {
            return Err(Failure::Failed(format!("{direction}: the interpreter does not forward session {n}: {:?}", out.verdict)));
        }
        let sent = out.bytes.to_vec();
        Ok((frame, sent))
    }

    /// The table entries of a session.
    #[cfg(test)]
    pub(super) fn entries(&self, n: u32) -> Vec<program::Entry> {
        let ops = self.sessions.batch(std::iter::once((n, n))).ops.into_iter();
        ops.filter_map(|op| if let program::Op::Insert(entry) = op { Some(entry) } else { None }).collect()
    }

    /// The program of `upf.p4`.
    pub(super) fn ours(&self) -> Result<impl AsFd + use<>, Failure> {
        self.xdp.program_fd().map_err(load_failure)
    }

    /// The program by hand.
    pub(super) fn hand(&mut self) -> Result<impl AsFd + use<>, Failure> {
        self.hand.program_fd("hand").map_err(load_failure)
    }

    /// Hangs both into drivers: ours on these interfaces, towards N3 and N6, and the other on those. What is given keeps the latter there.
    pub(super) fn attach(&mut self, ours: [(&str, u32); 2], hand: [u32; 2]) -> Result<Vec<impl AsFd + use<>>, Failure> {
        let mut links = Vec::new();
        for (slot, port) in [N3, N6].into_iter().enumerate() {
            let (name, interface) = ours[slot];
            if self.xdp.attach(name, interface).map_err(load_failure)? != target_xdp::Mode::Native {
                return Err(Failure::Failed(format!("{name}: its driver does not run XDP")));
            }
            self.xdp.set_way_out(port, Some(interface)).map_err(load_failure)?;
            self.xdp.set_port(interface, Some((port, slot as u32))).map_err(load_failure)?;
            links.push(self.hand.attach("hand", hand[slot]).map_err(load_failure)?);
            self.hand_leaves(port, hand[slot])?;
            self.hand_comes(hand[slot], port)?;
        }
        Ok(links)
    }

    /// For test runs: packets come in by the loopback interface, as if by that direction's port, and would leave by it.
    pub(super) fn come_by_loopback(&mut self, direction: Direction) -> Result<(), Failure> {
        let interface = std::fs::read_to_string("/sys/class/net/lo/ifindex").ok().and_then(|t| t.trim().parse().ok()).unwrap_or(1);
        for port in [N3, N6] {
            self.xdp.set_way_out(port, Some(interface)).map_err(load_failure)?;
            self.hand_leaves(port, interface)?;
        }
        self.xdp.set_port(interface, Some((direction.port(), 0))).map_err(load_failure)?;
        self.hand_comes(interface, direction.port())
    }

    /// The program by hand sends what leaves by that port out of that interface.
    fn hand_leaves(&self, port: PortId, interface: u32) -> Result<(), Failure> {
        // An interface, and no program there.
        self.hand.put("out", &u32::from(port.0).to_ne_bytes(), &u64::from(interface).to_ne_bytes()).map_err(load_failure)
    }

    /// It takes what comes in by that interface as that port's.
    fn hand_comes(&self, interface: u32, port: PortId) -> Result<(), Failure> {
        self.hand.put("ports", &interface.to_ne_bytes(), &u32::from(port.0).to_ne_bytes()).map_err(load_failure)
    }

    /// Frames of many sessions, each program alone: bytes as the interpreter has them, and our counter counts them.
    pub(super) fn compare(&mut self, direction: Direction, programs: &[(&str, RawFd)]) -> Result<usize, Failure> {
        let mut output = vec![0; 256];
        let n = self.count.min(COMPARED);
        for session in 0..n {
            let (frame, expected) = self.expected(direction, session)?;
            let cell = sessions::usage_cell(direction, session).into();
            let before = self.xdp.counter(self.usage, cell);
            for (name, program) in programs {
                let run = test_run(*program, &frame, 0, &mut output, 1).map_err(test_run_failure)?;
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
}
