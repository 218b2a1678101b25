//! `splitplane-lab p4 fuzz`: do the interpreter and native code agree on random programs, entries and packets?
//!
//! Each seed is a program of `p4_gen::random`, run three ways: by the interpreter as it is, by the interpreter after the
//! passes, and as native code after the passes. Verdicts, bytes, copies, counters and table statistics must be equal.
//! With `--text` a seed is a program of `p4_gen`, which must also mean what its text says (`p4_eval`): that finds faults of lowering,
//! which the others share.
//! A difference is printed with its seed, and written to a file if requested.

mod text;

use base::{MAX_PACKET, Packet, PortId, Verdict, VerdictKind};
use cli::failure::Failure;
use indicatif::ProgressBar;
use p4_driver::X86Program;
use p4_gen::random::{self, Rng, Shape};
use p4_interp::{Machine, Mode};
use p4_ir::Ir;
use program::Batch;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use target_api::{BURST, Lane, Target};

/// Packets that one program sees before and after its entries are there.
const PACKETS: usize = 3 * BURST;

/// How long, and from where.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// First seed; each program takes one.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Stops after this many programs.
    #[arg(long)]
    programs: Option<u64>,
    /// Stops after this many minutes.
    #[arg(long)]
    minutes: Option<f64>,
    /// Only programs with code per parse path.
    #[arg(long)]
    classes: bool,
    /// Programs of text, whose meaning is also taken from their syntax trees.
    #[arg(long, conflicts_with = "classes")]
    text: bool,
    /// Further arguments of the C compiler.
    #[arg(long, default_value = "-O1", value_name = "FLAGS", allow_hyphen_values = true)]
    cflags: String,
    /// Writes the program and its C for each difference to this folder.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// What a run has seen.
#[derive(Default)]
struct Seen {
    programs: u64,
    /// Programs that native code does not have a construct for.
    refused: u64,
    packets: u64,
    forwarded: u64,
    dropped: u64,
    copies: u64,
    hits: u64,
    misses: u64,
    /// Programs whose native code has code of its own for likely parse paths; packets that took none of them, and one.
    classed: u64,
    unlikely: u64,
    likely: u64,
    /// Look-ups that packets with equal keys shared.
    spared: u64,
    /// Packets whose fate the second opinion gave, and calls with results that it made.
    second: u64,
    calls: u64,
}

/// Runs until the time is over or something differs.
pub fn fuzz(args: &Args) -> Result<(), Failure> {
    if args.programs.is_none() && args.minutes.is_none() {
        return Err(Failure::Usage("say how long: --programs or --minutes".into()));
    }
    let end = args.minutes.map(|m| Duration::try_from_secs_f64(m * 60.0).unwrap_or(Duration::MAX));
    let start = Instant::now();
    let bar = args.programs.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let (mut seen, mut seed) = (Seen::default(), args.seed);
    let flags: Vec<String> = args.cflags.split_whitespace().map(str::to_owned).collect();
    while args.programs.is_none_or(|n| seen.programs < n) && end.is_none_or(|end| start.elapsed() < end) {
        let (result, program, ir) = if args.text {
            let text = p4_gen::program(seed);
            (text::one(&text, seed, &flags, &mut seen), text, None)
        } else {
            let shape = match args.classes {
                true => Shape::Classes,
                false => [Shape::Copies, Shape::Plain, Shape::Copies, Shape::Classes][(seed % 4) as usize],
            };
            let ir = random::shaped(seed, shape);
            let batches = vec![Batch::default(), random::entries(&ir, seed), random::copies(seed)];
            let case = Case { ir: &ir, seed, shape, batches, packet: random::packet, second: None };
            (one(case, &flags, &mut seen), format!("# {shape:?}\n{ir}"), Some(ir))
        };
        if let Err(what) = result {
            bar.finish_and_clear();
            if let Some(folder) = &args.keep {
                let path = folder.join(format!("seed_{seed}.{}", if ir.is_some() { "txt" } else { "p4" }));
                let comment = if ir.is_some() { "# " } else { "// " };
                let text = format!("{comment}seed {seed}\n{comment}{}\n\n{program}", what.replace('\n', &format!("\n{comment}")));
                std::fs::write(&path, text).map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display())))?;
                ir.map_or(Ok(()), |ir| keep_c(&ir, &path.with_extension("c")))?;
            }
            return Err(Failure::Failed(format!("seed {seed}: {what}")));
        }
        seen.programs += 1;
        seed += 1;
        bar.set_position(seen.programs);
    }
    bar.finish_and_clear();
    cli::output::print_out(format!(
        "{} programs from seed {} agree ({} not native): {} packets, {} forwarded, {} dropped, {} copies, {} hits, {} misses, \
         {} with classes, {} likely, {} unlikely, {} spared, {} read from text, {} calls\n",
        seen.programs,
        args.seed,
        seen.refused,
        seen.packets,
        seen.forwarded,
        seen.dropped,
        seen.copies,
        seen.hits,
        seen.misses,
        seen.classed,
        seen.likely,
        seen.unlikely,
        seen.spared,
        seen.second,
        seen.calls
    ))
}

/// Keeps the C of a program that differs, where there is any.
fn keep_c(ir: &Ir, path: &std::path::Path) -> Result<(), Failure> {
    let x86 = p4_driver::optimise(ir.clone()).and_then(|ir| X86Program::of(&ir));
    x86.map_or(Ok(()), |x86| std::fs::write(path, x86.text).map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display()))))
}

/// A packet's result: what leaves, with its bytes. Of a drop only the reason counts.
type Outcome = (Verdict, Vec<u8>);

fn outcome(verdict: Verdict, bytes: &[u8]) -> Outcome {
    (verdict, if verdict.kind == VerdictKind::Drop { Vec::new() } else { bytes.to_vec() })
}

/// Native code; of a program without copies one can ask for its classes.
enum Native {
    Uncut(Box<target_x86::X86>),
    Any(Box<dyn Target>),
}

impl Native {
    fn new(ir: &Ir, shape: Shape, options: &target_x86::Options) -> Result<Native, Failure> {
        let x86 = X86Program::of(ir)?;
        match shape {
            Shape::Classes => Ok(Native::Uncut(Box::new(x86.load_whole(options)?))),
            _ => Ok(Native::Any(x86.load(options, &[])?)),
        }
    }

    fn target(&self) -> &dyn Target {
        match self {
            Native::Uncut(x86) => x86.as_ref(),
            Native::Any(target) => target.as_ref(),
        }
    }

    fn count_classes(&self, seen: &mut Seen) {
        let Native::Uncut(x86) = self else { return };
        let stats = x86.class_stats();
        if let [none, some @ ..] = &stats.packets[..]
            && !some.is_empty()
        {
            seen.classed += 1;
            seen.unlikely += none;
            seen.likely += some.iter().sum::<u64>();
            seen.spared += stats.spared;
        }
    }
}

/// A program and what it is tried with.
struct Case<'a> {
    ir: &'a Ir,
    seed: u64,
    shape: Shape,
    /// Changes, each with packets behind it.
    batches: Vec<Batch>,
    packet: fn(&mut Rng) -> Vec<u8>,
    second: Option<p4_eval::Evaluator<'a>>,
}

fn one(case: Case, flags: &[String], seen: &mut Seen) -> Result<(), String> {
    let Case { ir, seed, shape, batches, packet, mut second } = case;
    let optimised = p4_driver::optimise(ir.clone()).map_err(|e| format!("passes: {e}"))?;
    let machine = |ir: &Ir| Machine::new(Arc::new(ir.clone())).map_err(|e| format!("the interpreter: {e}"));
    let (mut plain, mut after) = (machine(ir)?, machine(&optimised)?);
    let options = target_x86::Options { flags: flags.to_vec(), ..Default::default() };
    let native = match Native::new(&optimised, shape, &options) {
        Ok(target) => Some(target),
        Err(Failure::Usage(e)) if e.contains("does not support") || e.contains("cannot be copied") => None,
        Err(e) => return Err(format!("native code: {e}")),
    };
    seen.refused += u64::from(native.is_none());
    let mut lane = native.as_ref().map(|n| n.target().lane(0));
    let mut rng = Rng::new(seed ^ 0xfeed);
    let mut now_ns = 0;
    for batch in &batches {
        plain.apply(batch).map_err(|e| format!("entries: {e}"))?;
        after.apply(batch).map_err(|e| format!("entries: {e}"))?;
        if let Some(second) = &mut second {
            second.apply(batch, &ir.program).map_err(|e| format!("entries: {e:?}"))?;
        }
        // A target that copies nothing has no sessions either.
        let copies = batch.ops.iter().any(|op| matches!(op, program::Op::Mirror { .. } | program::Op::Multicast { .. }));
        if let Some(target) = native.as_ref().map(Native::target)
            && (!copies || p4_driver::replicates(&optimised))
        {
            target.apply(batch).map_err(|e| format!("entries on native code: {e}"))?;
        }
        for _ in 0..PACKETS / BURST {
            now_ns += 1_000_000;
            let burst: Vec<(PortId, Vec<u8>)> = (0..BURST).map(|_| (PortId(rng.below(9) as u16), packet(&mut rng))).collect();
            let expected: Vec<Vec<Outcome>> = burst.iter().map(|p| interpret(&mut plain, p, now_ns)).collect();
            let optimised: Vec<Vec<Outcome>> = burst.iter().map(|p| interpret(&mut after, p, now_ns)).collect();
            compare("after the passes", &burst, &expected, &optimised)?;
            text::compare(&mut second, &burst, now_ns, &expected, seen)?;
            if let Some(lane) = &mut lane {
                let (own, extra) = run_native(lane.as_mut(), &burst, now_ns);
                let firsts: Vec<Vec<Outcome>> = expected.iter().map(|all| all[..1].to_vec()).collect();
                compare("native code", &burst, &firsts, &own)?;
                let copies: Vec<Outcome> = expected.iter().flat_map(|all| all[1..].to_vec()).collect();
                if copies != extra {
                    return Err(difference("copies of native code", &burst, &copies, &extra));
                }
            }
            seen.packets += burst.len() as u64;
            for all in &expected {
                seen.copies += all.len() as u64 - 1;
                seen.forwarded += u64::from(all[0].0.kind == VerdictKind::Forward);
                seen.dropped += u64::from(all[0].0.kind == VerdictKind::Drop);
            }
        }
    }
    native.iter().for_each(|n| n.count_classes(seen));
    if let Some(second) = &second {
        seen.calls += second.calls_that_copy;
        text::state(ir, &plain, second)?;
    }
    state(ir, &plain, &after, native.as_ref().map(Native::target), seen)
}

/// The packet's own result first, then those of what was copied from it.
fn interpret(machine: &mut Machine, (port, bytes): &(PortId, Vec<u8>), now_ns: u64) -> Vec<Outcome> {
    let out = machine.process(bytes, *port, now_ns, Mode::Whole);
    let first = outcome(out.verdict, out.bytes);
    std::iter::once(first).chain(machine.extra().iter().map(|x| outcome(x.verdict, &x.bytes))).collect()
}

fn run_native(lane: &mut dyn Lane, burst: &[(PortId, Vec<u8>)], now_ns: u64) -> (Vec<Vec<Outcome>>, Vec<Outcome>) {
    debug_assert!(burst.iter().all(|(_, bytes)| bytes.len() <= MAX_PACKET));
    let mut packets: Vec<Packet> = burst.iter().map(|(port, bytes)| Packet::new(bytes, *port)).collect();
    let mut verdicts = vec![Verdict::default(); packets.len()];
    lane.process(&mut packets, &mut verdicts, now_ns);
    let mut extra = Vec::new();
    lane.take_extra(&mut extra);
    let own = packets.iter().zip(verdicts).map(|(p, v)| vec![outcome(v, p.data())]).collect();
    (own, extra.iter().map(|x| outcome(x.verdict, x.packet.data())).collect())
}

fn compare(who: &str, burst: &[(PortId, Vec<u8>)], expected: &[Vec<Outcome>], got: &[Vec<Outcome>]) -> Result<(), String> {
    match expected.iter().zip(got).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(i) => Err(difference(who, &burst[i..=i], &expected[i], &got[i])),
    }
}

fn difference(who: &str, burst: &[(PortId, Vec<u8>)], expected: &[Outcome], got: &[Outcome]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let list = |all: &[Outcome]| all.iter().map(|(v, b)| format!("  {v:?} {}", hex(b))).collect::<Vec<_>>().join("\n");
    let packets: Vec<String> = burst.iter().map(|(port, bytes)| format!("  port {port} {}", hex(bytes))).collect();
    format!("{who} differs\nof\n{}\nexpected\n{}\ngot\n{}", packets.join("\n"), list(expected), list(got))
}

/// Counters and table statistics at the end.
fn state(ir: &Ir, plain: &Machine, after: &Machine, native: Option<&dyn Target>, seen: &mut Seen) -> Result<(), String> {
    for (id, info) in ir.program.counters.iter().filter(|(_, c)| c.table.is_none()) {
        for i in 0..info.size {
            let expected = plain.counter(id, i);
            let native = native.map_or(expected, |t| {
                let count = t.counter(id, i);
                p4_interp::Count { packets: count.packets, bytes: count.bytes }
            });
            if expected != after.counter(id, i) || expected != native {
                return Err(format!(
                    "counter {}[{i}] is {expected:?}, {:?} after the passes, {native:?} natively",
                    info.name,
                    after.counter(id, i)
                ));
            }
        }
    }
    for (id, info) in &ir.program.tables {
        let (a, b) = (plain.table_stats(id), after.table_stats(id));
        let native = native.map_or((a.hits, a.misses), |t| (t.table_stats(id).hits, t.table_stats(id).misses));
        if (a.hits, a.misses) != (b.hits, b.misses) || (a.hits, a.misses) != native {
            return Err(format!("table {}: {a:?}, {b:?} after the passes, {native:?} natively", info.name));
        }
        seen.hits += a.hits;
        seen.misses += a.misses;
    }
    Ok(())
}
