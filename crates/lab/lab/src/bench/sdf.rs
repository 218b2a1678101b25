//! 4,095 SDF filters: what they cost in a program that has only their table, and in the whole UPF.
//!
//! Sessions have three filters each way: a name server, a range of ports of a small network, and the rest. The real lowering makes
//! entries of them, and the small program gets the same ones.

use super::contestant::load_x86;
use super::measure::{Rounds, Runner};
use super::micro;
use super::options::Common;
use super::report;
use super::sessions::{self, Direction};
use base::{PortId, VerdictKind};
use cli::failure::Failure;
use pfcp::rules::{SdfFilter, SessionRules, UserPlane};
use pktio::LoopPort;
use program::{ApplyError, Batch, CounterId, Entry, KeyMatch, Op};
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use target_api::{BURST, Count, Lane, Target};
use upf::plane::{BufferFate, Plane, SessionInfo};

/// Filters of a session, in each direction.
const KINDS: u32 = 3;

/// A row for each program and direction.
pub(super) fn sdf(common: &Common) -> Result<Vec<Value>, Failure> {
    // Uplink and downlink filters of a session are the same set.
    let sets = common.size(4096, 96) / KINDS;
    let ir = Arc::new(super::upf::compile(1 << 15)?);
    let x86 = load_x86(&ir)?;
    let oracle = target_asic::Asic::oracle(ir.clone()).map_err(failed)?;
    let (mut lane, mut judge) = (x86.lane(0), oracle.lane(0));
    let applied = Arc::new(Mutex::new(Vec::new()));
    let both = Both { targets: vec![Box::new(x86), Box::new(oracle)], applied: applied.clone() };
    let mut plane = Plane::new(&sessions::network(), &ir.program, both).map_err(failed)?;
    let initial = plane.initial_batch().clone();
    plane.data_mut().apply(&initial).map_err(failed)?;
    let sessions = common.size(4096, 64);
    for n in 0..sessions {
        plane.commit(u64::from(n) + 1, Some(&rules(n, sets)?)).map_err(|e| Failure::Failed(format!("session {n}: {e:?}")))?;
    }
    let sdf = plane.ids().tables.sdf_ipv4;
    let filters: Vec<Entry> =
        applied.lock().unwrap_or_else(|e| e.into_inner()).iter().filter(|e: &&Entry| e.table == sdf).cloned().collect();

    let mut rng = StdRng::seed_from_u64(5);
    let frames = common.size(65_536usize, 1024);
    let mut rows = vec![alone(&filters, frames, common)?];
    for direction in [Direction::Downlink, Direction::Uplink] {
        let frames: Vec<Vec<u8>> = (0..frames)
            .map(|_| {
                let n = rng.random_range(0..sessions);
                user_frame(direction, n, n % sets, rng.random_range(0..KINDS))
            })
            .collect();
        let what = format!("{} SDF filters, the whole UPF, {direction}, {sessions} sessions", filters.len());
        rows.push(rounds(&what, &mut lane, &mut judge, direction.port(), &frames, common)?);
    }
    Ok(rows)
}

/// The same entries in a program with nothing but their table.
fn alone(filters: &[Entry], count: usize, common: &Common) -> Result<Value, Failure> {
    let ir = micro::sdf(65_536)?;
    let (x86, oracle) = micro::load(&ir)?;
    let table = ir.program.table("t").ok_or_else(|| failed("no table"))?;
    let action = ir.program.action("act").ok_or_else(|| failed("no action"))?;
    let ops = filters.iter().map(|f| Op::Insert(Entry { table, action, ..f.clone() })).collect();
    let batch = Batch { ops };
    x86.apply(&batch).map_err(failed)?;
    oracle.apply(&batch).map_err(failed)?;
    let mut rng = StdRng::seed_from_u64(6);
    let frames: Vec<Vec<u8>> = (0..count).map(|_| matching(&filters[rng.random_range(0..filters.len())], &mut rng)).collect();
    let what = format!("{} SDF filters, their table alone", filters.len());
    rounds(&what, &mut x86.lane(0), &mut oracle.lane(0), PortId(0), &frames, common)
}

/// A frame of the small program that matches the filter, or one of its set that goes before it.
fn matching(filter: &Entry, rng: &mut impl Rng) -> Vec<u8> {
    let widths = [2, 4, 4, 1, 2, 2, 1, 1];
    let mut frame = Vec::with_capacity(18);
    for (key, bytes) in filter.keys.iter().zip(widths) {
        let random = rng.random::<u128>() & ((1 << (8 * bytes)) - 1);
        let value = match *key {
            KeyMatch::Exact(value) => value,
            KeyMatch::Ternary { value, mask } => value | (random & !mask),
            KeyMatch::Range { low, high } => low + random % (high - low + 1),
            KeyMatch::Lpm { value, .. } => value,
            KeyMatch::Optional(value) => value.unwrap_or(random),
        };
        frame.extend(&value.to_be_bytes()[16 - bytes..]);
    }
    frame.push(0);
    frame
}

/// Compares all frames with the judge's, then runs rounds.
fn rounds(
    what: &str,
    lane: &mut Box<dyn Lane>,
    judge: &mut Box<dyn Lane>,
    port: PortId,
    frames: &[Vec<u8>],
    common: &Common,
) -> Result<Value, Failure> {
    let source = || LoopPort::new("frames", frames, None).map_err(failed);
    // A lane that is lent to a runner for a while.
    let lent = |lane: &mut Box<dyn Lane>| Runner::new(std::mem::replace(lane, Box::new(Nothing)));
    let (mut ours, mut theirs) = (lent(lane), lent(judge));
    let (mut our_source, mut their_source) = (source()?, source()?);
    for from in (0..frames.len()).step_by(BURST) {
        let (packets, verdicts) = ours.burst(&mut our_source, port, frames.len() - from)?;
        let (expected, expected_verdicts) = theirs.burst(&mut their_source, port, frames.len() - from)?;
        for (i, verdict) in verdicts.iter().enumerate() {
            if *verdict != expected_verdicts[i] || verdict.kind != VerdictKind::Forward || packets[i].data() != expected[i].data() {
                let (got, want) = (verdict, expected_verdicts[i]);
                return Err(Failure::Failed(format!("{what}: frame {} is not forwarded as it should: {got:?} and {want:?}", from + i)));
            }
        }
    }
    let mut rates = Rounds::default();
    for _ in 0..common.rounds() {
        rates.0.push(ours.round(&mut source()?, port, common.round())?.0);
    }
    (*lane, *judge) = (ours.lane, theirs.lane);
    Ok(report::rate(what, "Mpps", &rates, frames.len()))
}

/// Stands where a lane was taken away.
struct Nothing;

impl Lane for Nothing {
    fn process(&mut self, _: &mut [base::Packet], _: &mut [base::Verdict], _: u64) {}

    target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, shape, count, with_rates);
}

/// A session with filters: three PDRs each way, in the place of one.
fn rules(n: u32, sets: u32) -> Result<SessionRules, Failure> {
    let mut rules = sessions::rules(n);
    let set = n % sets;
    let pdrs = std::mem::take(&mut rules.pdrs);
    for (direction, pdr) in pdrs {
        for kind in 0..KINDS {
            let mut pdr = pdr.clone();
            pdr.precedence = kind + 1;
            if let Some(text) = description(set, kind) {
                let flow = Some(pfcp::flow::parse(&text).map_err(failed)?);
                pdr.pdi.sdf_filters.push(SdfFilter { flow, tos: None, spi: None, flow_label: None, filter_id: None });
            }
            rules.pdrs.insert(direction * 10 + kind as u16, pdr);
        }
    }
    Ok(rules)
}

fn description(set: u32, kind: u32) -> Option<String> {
    let (high, low) = (set >> 8, set & 0xff);
    match kind {
        0 => Some(format!("permit out 17 from 192.0.{high}.{low} 53 to assigned")),
        1 => Some(format!("permit out 6 from 198.{}.{low}.0/28 8000-8080 to assigned", 18 + high)),
        _ => None,
    }
}

/// A frame that the filter of that kind takes.
fn user_frame(direction: Direction, n: u32, set: u32, kind: u32) -> Vec<u8> {
    let (high, low) = (set >> 8, set & 0xff);
    let (remote, port, protocol) = match kind {
        0 => (u32::from_be_bytes([192, 0, high as u8, low as u8]), 53, 17),
        1 => (u32::from_be_bytes([198, 18 + high as u8, low as u8, 7]), 8042, 6),
        _ => (0x0a06_0002, 443, 6),
    };
    sessions::frame_with(direction, n, remote, port, protocol)
}

/// Applies to all, and keeps what was inserted.
struct Both {
    targets: Vec<Box<dyn Target>>,
    applied: Arc<Mutex<Vec<Entry>>>,
}

impl Both {
    fn apply(&mut self, batch: &Batch) -> Result<(), ApplyError> {
        self.targets.iter().try_for_each(|target| target.apply(batch))?;
        let inserted = batch.ops.iter().filter_map(|op| if let Op::Insert(entry) = op { Some(entry.clone()) } else { None });
        self.applied.lock().unwrap_or_else(|e| e.into_inner()).extend(inserted);
        Ok(())
    }
}

impl upf::plane::DataPlane for Both {
    fn apply(&mut self, _: &SessionInfo, batch: &Batch, _: &[(u32, BufferFate)]) -> Result<(), ApplyError> {
        self.apply(batch)
    }

    fn count(&mut self, counter: CounterId, cell: u64) -> Count {
        self.targets[0].counter(counter, cell)
    }

    fn transmit(&mut self, _: PortId, _: Vec<u8>) {}
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}
