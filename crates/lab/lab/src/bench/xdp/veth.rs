//! What becomes of it from interface to interface? In a network namespace of its own each contestant has two veth pairs, N3 and N6, and
//! hangs in the driver of their near ends. The kernel makes frames in one system call (a test run with live frames), the driver
//! writes those of random sessions into them, and they go the whole way:
//!
//! `driver.c` → far end of one pair → **contestant** at its near end → near end of the other pair → sink at its far end
//!
//! One core does all of it, and its time is what is taken: that of the thread which makes the system call, in which the kernel runs
//! its soft interrupts, and of the kernel's own thread for those that it puts off. Before that is measured, frames of a sample are
//! passed on to a raw socket behind the sink and compared with what the interpreter sends; then a frame of each session is sent, and
//! the sink counts each session's. In the rounds it looks at each frame's length and adds up the sessions' numbers.

use super::super::measure::{PutOff, Rounds, thread_time, thread_waited};
use super::super::namespace;
use super::super::options::Common;
use super::super::sessions::{self, Direction, USER_PACKET};
use super::driver::{Driver, number};
use super::programs::Programs;
use super::{load_failure, spread};
use base::Packet;
use cli::failure::Failure;
use pktio::{AfPacket, Port};
use serde_json::{Value, json};
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use target_api::{Ahead, Target};
use target_xdp::object::{Object, Sizes};
use target_xdp::sys::{self, Shared, send_frames};

const TEXT: &str = include_str!("veth.c");
/// `struct expected`, and a core's `struct counts` there.
const EXPECTED: usize = 16;
const COUNTS: usize = 64;
/// Frames whose bytes are compared, in each direction and of each contestant; and how many of them are sent at once.
const SAMPLE: usize = 2048;
const AT_ONCE: usize = 128;
/// Fewer frames in a round than this, and the kernel's setting up of each run shows.
const LEAST_FRAMES: u32 = 1_000_000;
/// Passes in which each session's packets must come out at least once.
const MOST_PASSES: u64 = 10;
/// How long frames may take to come out; looks at the sink, and the time between two, that find nothing more.
const PATIENCE: Duration = Duration::from_secs(5);
const LAST_LOOKS: u32 = 20;
const LAST_LOOK: Duration = Duration::from_millis(1);

/// The head of its lines.
pub(super) const HEAD: &str =
    "  from veth to veth, Mpps at the sink (ratio: of time)          upf.p4                by hand   ratio   only redirects";

/// Both directions, on the core that this thread is pinned to: each row and its line go to `show`.
pub(super) fn rows(
    programs: &mut Programs,
    driver: &mut Driver,
    core: usize,
    common: &Common,
    show: &mut dyn FnMut(Value, String),
) -> Result<(), Failure> {
    let name = format!("xdp-{}", programs.count);
    namespace::inside(&name, || {
        let mut bed = Bed::new(programs, driver, core)?;
        for direction in [Direction::Downlink, Direction::Uplink] {
            let (row, text) = bed.row(direction, common)?;
            show(row, text);
        }
        Ok(())
    })
}

/// Who takes part, in the order of [`Bed::ends`].
const UPF: usize = 0;
const PLAIN: usize = 2;
const CONTESTANTS: [&str; 3] = ["upf", "hand", "plain"];

/// A contestant's interfaces: near and far ends of its pairs, N3 and N6, by name and by number.
struct Ends {
    near: [String; 2],
    far: [String; 2],
    near_index: [u32; 2],
    far_index: [u32; 2],
}

/// Which of them direction's frames come from, and which they go to.
fn ways(direction: Direction) -> (usize, usize) {
    if direction == Direction::Uplink { (0, 1) } else { (1, 0) }
}

/// Interfaces with programs.
struct Bed<'a> {
    programs: &'a mut Programs,
    driver: &'a mut Driver,
    around: Object,
    expected: Shared,
    counts: Shared,
    sessions: Shared,
    ends: Vec<Ends>,
    put_off: PutOff,
    /// Programs hang there as long as these are open.
    _links: Vec<Box<dyn AsFd>>,
}

/// What the sink has counted, on all cores.
#[derive(Clone, Copy, Default)]
struct Counted {
    frames: u64,
    sum: u64,
    others: u64,
}

/// What a run has come to.
struct Run {
    /// Frames that the driver made, and that the sink got.
    made: u64,
    arrived: u64,
    /// Those that ours did not get from the veth, and those that it sent and the sink did not get.
    lost_before: u64,
    lost_behind: u64,
    cpu: Duration,
    /// Without what others had of the core.
    clock_alone: Duration,
    clock: Duration,
}

impl<'a> Bed<'a> {
    fn new(programs: &'a mut Programs, driver: &'a mut Driver, core: usize) -> Result<Bed<'a>, Failure> {
        let mut ends = Vec::new();
        for contestant in CONTESTANTS {
            let near = ["n3", "n6"].map(|port| format!("{contestant}-{port}"));
            let far = ["n3", "n6"].map(|port| format!("{contestant}-{port}-far"));
            let (mut near_index, mut far_index) = ([0; 2], [0; 2]);
            for i in 0..2 {
                namespace::pair(&near[i], &far[i])?;
                near_index[i] = pktio::Interface::find(&near[i], &near[i]).map_err(failed)?.index;
                far_index[i] = pktio::Interface::find(&far[i], &far[i]).map_err(failed)?.index;
            }
            ends.push(Ends { near, far, near_index, far_index });
        }
        let cpus = sys::possible_cpus();
        let sizes = Sizes { entries: vec![("counts".into(), cpus), ("sessions".into(), programs.count)], ..Sizes::default() };
        let around = Object::compile(TEXT, &sizes, &["send", "forward", "sink"]).map_err(load_failure)?;
        let expected = around.shared("expected", 1, EXPECTED).map_err(load_failure)?;
        let counts = around.shared("counts", cpus.into(), COUNTS).map_err(load_failure)?;
        let sessions = around.shared("sessions", programs.count.into(), 8).map_err(load_failure)?;
        let mut links: Vec<Box<dyn AsFd>> = Vec::new();
        for of in &ends {
            for interface in of.far_index {
                links.push(Box::new(around.attach("sink", interface).map_err(load_failure)?));
            }
        }
        let [upf, hand, plain] = &ends[..] else { return Err(Failure::Failed("three contestants".into())) };
        let ours = [(&*upf.near[0], upf.near_index[0]), (&*upf.near[1], upf.near_index[1])];
        links.extend(programs.attach(ours, hand.near_index)?.into_iter().map(|link| Box::new(link) as Box<dyn AsFd>));
        for (i, interface) in plain.near_index.into_iter().enumerate() {
            let other = u64::from(plain.near_index[1 - i]).to_ne_bytes();
            around.put("ways", &interface.to_ne_bytes(), &other).map_err(load_failure)?;
            links.push(Box::new(around.attach("forward", interface).map_err(load_failure)?));
        }
        for (of, i) in ends.iter().flat_map(|of| [(of, 0), (of, 1)]) {
            if [of.near_index[i], of.far_index[i]].iter().any(|index| target_xdp::sends_redirected(*index) == Some(false)) {
                return Err(Failure::Failed(format!("{} or its far end does not send what is redirected to it", of.near[i])));
            }
        }
        Ok(Bed { programs, driver, around, expected, counts, sessions, ends, put_off: PutOff::of(core), _links: links })
    }

    /// A direction: checks, then rounds.
    fn row(&mut self, direction: Direction, common: &Common) -> Result<(Value, String), Failure> {
        let compared = self.compare(direction)?;
        let counted = self.count_sessions(direction)?;
        self.driver.prepare(direction);
        let least = common.size(LEAST_FRAMES, 20_000);
        let frames = u32::try_from(common.round().as_nanos() / 700).unwrap_or(u32::MAX).max(least);
        let runs = self.rounds(direction, common, frames)?;
        let rate = |of: &[Run], time: fn(&Run) -> Duration| {
            Rounds(of.iter().map(|run| run.arrived as f64 / time(run).as_secs_f64() / 1e6).collect())
        };
        let [upf, hand, plain] = runs.each_ref().map(|of| rate(of, |run| run.cpu));
        let alone = runs.each_ref().map(|of| rate(of, |run| run.clock_alone));
        let by_clock = runs.each_ref().map(|of| rate(of, |run| run.clock));
        let ratio = hand.ratio(&upf);
        let total = |of: &[Run], what: fn(&Run) -> u64| of.iter().map(what).sum::<u64>();
        let lost = runs.each_ref().map(|of| total(of, |run| run.made - run.arrived));
        let made = runs.each_ref().map(|of| total(of, |run| run.made));
        let cores = self.cores();
        let each = |of: &[Rounds; 3]| format!("{:.2}, {:.2}, {:.2}", of[0].median(), of[1].median(), of[2].median());
        let text = format!(
            "    {:<40} {:>22} {:>22} {:>6.2}x {:>16.2}\n      by the clock {}, without what others had of the core {}; lost {}, {}, {} of {} frames each; generator, program and sink on {}",
            format!("{direction} ({compared} frames compared)"),
            spread(&upf, 2),
            spread(&hand, 2),
            ratio.median(),
            plain.median(),
            each(&by_clock),
            each(&alone),
            lost[0],
            lost[1],
            lost[2],
            made[0],
            match &cores[..] {
                [core] => format!("core {core} together"),
                _ => format!("cores {cores:?}"),
            },
        );
        let contestant = |i: usize, mpps: &Rounds| {
            json!({
                "mpps": mpps.json(), "mpps_by_clock": by_clock[i].json(), "mpps_by_clock_alone": alone[i].json(),
                "made": made[i], "lost": lost[i],
            })
        };
        let mut ours = contestant(UPF, &upf);
        ours["lost_before"] = total(&runs[UPF], |run| run.lost_before).into();
        ours["lost_behind"] = total(&runs[UPF], |run| run.lost_behind).into();
        let row = json!({
            "what": "veth", "sessions": self.programs.count, "direction": direction, "verified": compared, "sessions_counted": counted,
            "frames_a_round": frames, "upf": ours, "hand": contestant(1, &hand), "forwarder": contestant(PLAIN, &plain),
            "ratio": ratio.json(), "cores": cores, "put_off_is_seen": self.put_off.time().is_some(),
        });
        Ok((row, text))
    }

    /// Frames of a sample of the sessions: bytes at the far end, in order, as the interpreter sends them.
    fn compare(&mut self, direction: Direction) -> Result<usize, Failure> {
        let sample = self.driver.prepare_sample(direction, SAMPLE);
        self.programs.know(sample.iter().copied())?;
        let sent: Vec<(Vec<u8>, Vec<u8>)> = sample.iter().map(|n| self.programs.expected(direction, *n)).collect::<Result<_, _>>()?;
        for (contestant, name) in CONTESTANTS.into_iter().enumerate() {
            let far = &self.ends[contestant].far[ways(direction).1];
            let mut socket = AfPacket::open("far", far, pktio::af_packet::Options::default()).map_err(failed)?;
            let mut burst: Vec<Packet> = (0..AT_ONCE).map(|_| Packet::empty(0)).collect();
            for (i, sent) in sent.chunks(AT_ONCE).enumerate() {
                self.run(contestant, direction, Mode::HandUp, sent.len() as u32)?;
                let mut came = 0;
                let deadline = Instant::now() + PATIENCE;
                while came < sent.len() && Instant::now() < deadline {
                    let n = socket.receive(&mut burst).map_err(failed)?;
                    for (packet, (frame, made)) in burst[..n].iter().zip(&sent[came.min(sent.len())..]) {
                        let expected = if contestant == PLAIN { frame } else { made };
                        if packet.data() != expected {
                            return Err(Failure::Failed(format!(
                                "{direction}: of session {} {name} sends {:02x?}, not {expected:02x?}",
                                sample[AT_ONCE * i + came],
                                packet.data()
                            )));
                        }
                        came += 1;
                    }
                }
                if came != sent.len() {
                    return Err(Failure::Failed(format!("{direction}: of {} frames {came} came out of {name}", sent.len())));
                }
            }
        }
        Ok(sent.len())
    }

    /// All of the driver's list: no session's packets come out more often than they went in, and all sessions' do.
    fn count_sessions(&mut self, direction: Direction) -> Result<usize, Failure> {
        self.driver.prepare(direction);
        let frames = self.driver.list_len();
        let mut times = vec![0u64; self.programs.count as usize];
        self.driver.coming(frames).for_each(|n| times[n as usize] += 1);
        for (contestant, name) in CONTESTANTS.into_iter().enumerate() {
            (0..times.len()).for_each(|n| self.sessions.long(8 * n).store(0, Ordering::Relaxed));
            let (mut lost, mut passes) = (0, 0);
            // What is lost on the way is another session's each time.
            loop {
                let run = self.run(contestant, direction, Mode::CountSessions, frames as u32)?;
                lost += run.made - run.arrived;
                passes += 1;
                let (mut missing, mut silent) = (0, None);
                for (n, times) in times.iter().enumerate() {
                    let (sent, came) = (times * passes, self.sessions.long(8 * n).load(Ordering::Relaxed));
                    if came > sent {
                        return Err(Failure::Failed(format!("{direction}: session {n} had {sent} packets, and {came} came out of {name}")));
                    }
                    missing += sent - came;
                    silent = if sent > 0 && came == 0 { Some(n) } else { silent };
                }
                match silent {
                    _ if missing != lost => {
                        return Err(Failure::Failed(format!(
                            "{direction}: {missing} packets are missing behind {name}, and {lost} were lost"
                        )));
                    }
                    Some(n) if passes == MOST_PASSES => {
                        return Err(Failure::Failed(format!("{direction}: nothing of session {n} comes out of {name}")));
                    }
                    Some(_) => {}
                    None => break,
                }
            }
        }
        Ok(times.iter().filter(|times| **times > 0).count())
    }

    /// Rounds of so many frames, in turns; our packets are all charged to users.
    fn rounds(&mut self, direction: Direction, common: &Common, frames: u32) -> Result<[Vec<Run>; 3], Failure> {
        let mut runs: [Vec<Run>; 3] = Default::default();
        let charged = self.charged(direction);
        for round in 0..=common.rounds() {
            for (contestant, runs) in runs.iter_mut().enumerate() {
                let run = self.run(contestant, direction, Mode::Count, frames)?;
                // The first round warms up; what it forwarded is charged too.
                if round == 0 && contestant != UPF {
                    continue;
                }
                runs.push(run);
            }
        }
        let forwarded: u64 = runs[UPF].iter().map(|run| run.made - run.lost_before).sum();
        let charged = self.charged(direction) - charged;
        if charged != forwarded {
            return Err(Failure::Failed(format!("{direction}: {forwarded} packets were forwarded, and {charged} counted for users")));
        }
        runs[UPF].remove(0);
        Ok(runs)
    }

    /// Sends so many frames through a contestant, and checks all that holds for all of them.
    fn run(&mut self, contestant: usize, direction: Direction, mode: Mode, frames: u32) -> Result<Run, Failure> {
        let fault = |what: String| Err(Failure::Failed(format!("{direction}, {}: {what}", CONTESTANTS[contestant])));
        let (from, _) = ways(direction);
        let source = u64::from(self.ends[contestant].far_index[from]).to_ne_bytes();
        self.around.put("source", &0u32.to_ne_bytes(), &source).map_err(load_failure)?;
        self.expect(contestant, direction, mode);
        let send = self.around.program_fd("send").map_err(load_failure)?;
        self.driver.go_on_in(number(&send))?;
        let drive = self.driver.program(direction)?;
        let frame = sessions::frame(direction, 0);
        let numbers = || self.driver.coming(frames as usize).map(|n| u64::from(number_of(contestant, direction, n)));
        let sum: u64 = numbers().sum();
        let (least, most) = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
        let (made, counted, ledger) = (self.driver.made(), self.counted(), self.ledger(direction)?);

        let time = || thread_time() + self.put_off.time().unwrap_or_default();
        let (begin, waited, clock) = (time(), thread_waited(), Instant::now());
        send_frames(number(&drive), &frame, frames).map_err(|e| Failure::Usage(format!("live frames: {e} (Linux 5.18 and root)")))?;
        let (cpu, clock, waited) = (time() - begin, clock.elapsed(), thread_waited() - waited);

        let made = self.driver.made() - made;
        let mut after = self.counted();
        let mut looks = 0;
        // Packets that the kernel deferred may be in flight.
        while after.frames - counted.frames < made && looks < LAST_LOOKS {
            std::thread::sleep(LAST_LOOK);
            let before = std::mem::replace(&mut after, self.counted());
            looks = if after.frames == before.frames { looks + 1 } else { 0 };
        }
        let arrived = after.frames - counted.frames;
        if made != u64::from(frames) || arrived > made || after.others != counted.others {
            let others = after.others - counted.others;
            return fault(format!("{frames} frames were to be made, {made} were, {arrived} came out, and {others} others"));
        }
        // All sessions' numbers; of those that are missing it is known how large they may be.
        let (lost, missing) = (made - arrived, sum.wrapping_sub(after.sum.wrapping_sub(counted.sum)));
        if missing < lost * least || missing > lost * most {
            return fault(format!("other sessions' packets came out than went in: the sum is wrong by {}", missing.cast_signed()));
        }
        let mut run = Run { made, arrived, lost_before: 0, lost_behind: 0, cpu, clock_alone: clock.saturating_sub(waited), clock };
        if contestant == UPF {
            let now = self.ledger(direction)?;
            let [received, sent, dropped, slow_path] = [0, 1, 2, 3].map(|i| now[i] - ledger[i]);
            if received > made || sent != received || arrived > sent || dropped + slow_path != 0 {
                return fault(format!(
                    "{made} frames were made, {received} received, {sent} sent, {dropped} dropped, {slow_path} handed on, {arrived} came out"
                ));
            }
            (run.lost_before, run.lost_behind) = (made - received, sent - arrived);
        }
        Ok(run)
    }

    /// Tells the sink what comes.
    fn expect(&mut self, contestant: usize, direction: Direction, mode: Mode) {
        let frame = sessions::frame(direction, 0).len();
        let tunnelled = (direction == Direction::Uplink) == (contestant == PLAIN);
        let length = match (contestant, direction) {
            (PLAIN, _) => frame,
            (_, Direction::Uplink) => 14 + USER_PACKET,
            (_, Direction::Downlink) => 14 + 44 + USER_PACKET,
        };
        // The TEID in the outer header; or the UE's address, which is the source of an uplink packet.
        let at = match (tunnelled, direction) {
            (true, _) => 46,
            (false, Direction::Uplink) => 26,
            (false, Direction::Downlink) => 30,
        };
        let first = number_of(contestant, direction, 0);
        let words = [length as u32, at, first, mode as u32].map(u32::to_ne_bytes);
        self.expected.write(0, &words.concat());
    }

    fn counted(&self) -> Counted {
        let mut sum = Counted::default();
        for cpu in 0..sys::possible_cpus() as usize {
            let [frames, numbers, others] = [0, 8, 16].map(|at| self.counts.long(COUNTS * cpu + at).load(Ordering::Relaxed));
            sum.frames += frames;
            sum.sum = sum.sum.wrapping_add(numbers);
            sum.others += others;
        }
        sum
    }

    /// The cores that the sink has run on.
    fn cores(&self) -> Vec<usize> {
        (0..sys::possible_cpus() as usize).filter(|cpu| self.counts.long(COUNTS * cpu).load(Ordering::Relaxed) > 0).collect()
    }

    /// Our own: frames received and sent in a direction, dropped, and passed to the slow path.
    fn ledger(&self, direction: Direction) -> Result<[u64; 4], Failure> {
        let carried = self.programs.xdp.carried();
        let other = if direction == Direction::Uplink { Direction::Downlink } else { Direction::Uplink };
        let received = carried.received.get(&direction.port()).map_or(0, |count| count.packets);
        let sent = carried.sent.get(&other.port()).map_or(0, |count| count.packets);
        let dropped = carried.dropped.values().map(|count| count.packets).sum();
        Ok([received, sent, dropped, carried.slow_path])
    }

    /// Packets counted for users in a direction.
    fn charged(&self, direction: Direction) -> u64 {
        let cell = |n| sessions::usage_cell(direction, n).into();
        (0..self.programs.count).map(|n| self.programs.xdp.counter(self.programs.usage, cell(n)).packets).sum()
    }
}

/// `enum` of `veth.c`.
#[derive(Clone, Copy)]
enum Mode {
    Count,
    CountSessions,
    HandUp,
}

/// By what the sink tells the session of a frame: the TEID of a tunnel, otherwise the UE's address.
fn number_of(contestant: usize, direction: Direction, n: u32) -> u32 {
    let tunnelled = (direction == Direction::Uplink) == (contestant == PLAIN);
    if tunnelled { sessions::teid(n) } else { sessions::ue(n) }
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::{Batch, Op};

    const SESSIONS: u32 = 50;

    /// A bed with sessions of which ours has other entries than it should.
    fn fails_with(direction: Direction, change: impl Fn(&mut Programs), check: impl Fn(&mut Bed<'_>) -> Option<Failure>) -> String {
        let (mut programs, mut driver) = (Programs::new(SESSIONS).unwrap(), Driver::new(SESSIONS).unwrap());
        namespace::inside("wrong", || {
            change(&mut programs);
            let mut bed = Bed::new(&mut programs, &mut driver, 0)?;
            bed.driver.prepare(direction);
            Ok(check(&mut bed).expect("it is noticed").to_string())
        })
        .unwrap()
    }

    /// Session 5's entries as those of session 6, but for the keys.
    fn confuse(programs: &mut Programs) {
        let ops = programs
            .entries(5)
            .into_iter()
            .zip(programs.entries(6))
            .map(|(five, six)| Op::Modify(program::Entry { args: six.args, ..five }));
        programs.xdp.apply(&Batch { ops: ops.collect() }).unwrap();
    }

    /// Session 5's tunnel with another type of service.
    fn mark_otherwise(programs: &mut Programs) {
        let action = programs.xdp.program().action("set_pdr").unwrap();
        let tos = programs.xdp.program().actions[action].params.iter().position(|p| p.name == "tunnel_tos").unwrap();
        let mut entries = programs.entries(5);
        entries.iter_mut().for_each(|entry| entry.args[tos] ^= 4);
        programs.xdp.apply(&Batch { ops: entries.into_iter().map(Op::Modify).collect() }).unwrap();
    }

    fn remove(programs: &mut Programs) {
        let ops = programs.entries(5).into_iter().map(Op::Delete).collect();
        programs.xdp.apply(&Batch { ops }).unwrap();
    }

    #[test]
    fn packets_that_are_not_forwarded_or_are_other_sessions_are_noticed() {
        if !testkit::root_or_skip("packets_that_are_not_forwarded_or_are_other_sessions_are_noticed") {
            return;
        }
        let run = |direction| move |bed: &mut Bed<'_>| bed.run(UPF, direction, Mode::Count, 1000).err();
        let text = fails_with(Direction::Uplink, remove, run(Direction::Uplink));
        assert!(text.contains("handed on") && text.starts_with("uplink, upf: 1000 frames were made"), "{text}");
        let text = fails_with(Direction::Downlink, confuse, run(Direction::Downlink));
        assert!(text.contains("the sum is wrong by"), "{text}");
        let text = fails_with(Direction::Downlink, mark_otherwise, |bed| bed.compare(Direction::Downlink).err());
        assert!(text.starts_with("downlink: of session 5 upf sends"), "{text}");
    }
}
