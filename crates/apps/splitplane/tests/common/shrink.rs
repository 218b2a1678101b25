//! A difference between targets, told with as few steps as lead to it.

use std::fmt::Write;

use base::VerdictKind;
use p4_interp::{Machine, Mode, Recorder, render_trace};
use program::{Batch, Entry, KeyMatch, Op, Program};

use super::fleet::{Difference, Fleet, Step, hex};
use super::program::{CHECKED, Setup};

/// Replays at most; each takes some milliseconds.
const MAX_REPLAYS: usize = 400;

/// The difference, the steps that still lead to it, and the interpreter's trace of the frame.
pub(super) fn report(setup: &Setup, steps: Vec<Step>, first: Difference) -> String {
    let mut out = format!("{CHECKED}\npolicy {:?}, chip {:?}\n{}\n", setup.policy, setup.chip, first.what);
    let mut shrinker = Shrinker { setup, replays: 0 };
    let before = steps.len();
    match shrinker.shrink(steps) {
        None => _ = writeln!(out, "(the same steps do not lead there again: state from earlier cases, or chance)"),
        Some((steps, last)) => {
            _ = writeln!(out, "\n{} of {before} steps lead there:", steps.len());
            steps.iter().for_each(|step| describe(setup, step, &mut out));
            _ = writeln!(out, "then {}", last.what);
            if let Some(frame) = last.frame {
                out.push_str(&trace(setup, &steps, frame));
            }
        }
    }
    out
}

struct Shrinker<'a> {
    setup: &'a Setup,
    replays: usize,
}

impl Shrinker<'_> {
    fn shrink(&mut self, steps: Vec<Step>) -> Option<(Vec<Step>, Difference)> {
        let (mut steps, mut last) = self.replay(steps)?;
        let mut size = steps.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < steps.len() && self.replays < MAX_REPLAYS {
                let mut fewer = steps.clone();
                fewer.drain(at..(at + size).min(steps.len()));
                match self.replay(fewer) {
                    Some(found) => (steps, last) = found,
                    None => at += size,
                }
            }
            size /= 2;
        }
        // Then the frames of each burst, and the changes of each batch.
        let mut at = 0;
        while at < steps.len() {
            let mut i = 0;
            while i < len(&steps[at]) && len(&steps[at]) > 1 && self.replays < 2 * MAX_REPLAYS {
                let mut fewer = steps.clone();
                match &mut fewer[at] {
                    Step::Burst(_, frames) => drop(frames.remove(i)),
                    Step::Apply(_, batch) => drop(batch.ops.remove(i)),
                    Step::Move(..) => unreachable!("it is one thing"),
                }
                match self.replay(fewer) {
                    Some(found) if found.0.len() == steps.len() => (steps, last) = found,
                    _ => i += 1,
                }
            }
            at += 1;
        }
        Some((steps, last))
    }

    /// Does the steps with fresh targets. If they differ at one, the steps up to it.
    fn replay(&mut self, mut steps: Vec<Step>) -> Option<(Vec<Step>, Difference)> {
        self.replays += 1;
        let mut fleet = Fleet::new(self.setup, 0);
        let mut found = None;
        for (i, step) in steps.iter().enumerate() {
            if let Err(difference) = fleet.step(step) {
                found = Some((i, difference));
                break;
            }
        }
        if found.is_none() {
            found = fleet.state_difference().map(|what| (steps.len().saturating_sub(1), Difference { what, frame: None }));
        }
        fleet.scrub();
        let (at, difference) = found?;
        steps.truncate(at + 1);
        Some((steps, difference))
    }
}

fn len(step: &Step) -> usize {
    match step {
        Step::Apply(_, batch) => batch.ops.len(),
        Step::Burst(_, frames) => frames.len(),
        Step::Move(..) => 1,
    }
}

fn describe(setup: &Setup, step: &Step, out: &mut String) {
    match step {
        Step::Apply(facts, batch) => {
            _ = writeln!(out, "apply {facts:?}");
            describe_batch(&setup.ir.program, batch, out);
        }
        Step::Burst(now_ns, frames) => {
            _ = writeln!(out, "burst at {now_ns} ns");
            frames.iter().for_each(|f| _ = writeln!(out, "  port {} {}", f.port, hex(&f.bytes)));
        }
        Step::Move(facts, Some(copy)) => {
            _ = writeln!(out, "move to the chip {facts:?}");
            describe_batch(&setup.ir.program, copy, out);
        }
        Step::Move(facts, None) => _ = writeln!(out, "move from the chip session {}", facts.id),
    }
}

fn describe_batch(program: &Program, batch: &Batch, out: &mut String) {
    for op in &batch.ops {
        let (verb, entry) = match op {
            Op::Insert(e) => ("insert", e),
            Op::Modify(e) => ("modify", e),
            Op::Delete(e) => ("delete", e),
            other => {
                _ = writeln!(out, "  {other:?}");
                continue;
            }
        };
        _ = writeln!(out, "  {verb} {}", describe_entry(program, entry));
    }
}

fn describe_entry(program: &Program, e: &Entry) -> String {
    let table = &program.tables[e.table];
    let keys = e.keys.iter().zip(&table.keys).map(|(key, info)| match key {
        KeyMatch::Exact(v) => format!("{}={v:#x}", info.name),
        KeyMatch::Lpm { value, prefix_len } => format!("{}={value:#x}/{prefix_len}", info.name),
        KeyMatch::Ternary { value, mask } => format!("{}={value:#x}&{mask:#x}", info.name),
        KeyMatch::Range { low, high } => format!("{}={low}..={high}", info.name),
        KeyMatch::Optional(v) => format!("{}={v:?}", info.name),
    });
    let action = &program.actions[e.action];
    let args = action.params.iter().zip(&e.args).map(|(p, a)| format!("{}={a:#x}", p.name));
    let (keys, args): (Vec<String>, Vec<String>) = (keys.collect(), args.collect());
    format!("{} ({}) priority {} -> {}({})", table.name, keys.join(", "), e.priority, action.name, args.join(", "))
}

/// The interpreter's story of a frame of the last step, after all the steps before.
fn trace(setup: &Setup, steps: &[Step], frame: usize) -> String {
    let mut machine = Machine::new(setup.ir.clone()).unwrap_or_else(|e| panic!("{e}"));
    let mut recorder = Recorder::default();
    for (i, step) in steps.iter().enumerate() {
        match step {
            Step::Apply(_, batch) => drop(machine.apply(batch)),
            Step::Move(..) => {}
            Step::Burst(now_ns, frames) => {
                for (k, f) in frames.iter().enumerate() {
                    if i + 1 == steps.len() && k == frame {
                        let out = machine.process_traced(&f.bytes, f.port, *now_ns, Mode::Whole, &mut recorder);
                        debug_assert_ne!(out.verdict.kind, VerdictKind::Next);
                        return render_trace(&setup.ir, &recorder.events, true);
                    }
                    machine.process(&f.bytes, f.port, *now_ns, Mode::Whole);
                }
            }
        }
    }
    String::new()
}
