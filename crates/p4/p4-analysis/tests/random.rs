//! What the analysis says, held against what the interpreter does with random programs and packets.

use base::PortId;
use p4_analysis::effects::{Effects, Place};
use p4_analysis::live::Liveness;
use p4_analysis::validity::never_valid;
use p4_gen::random::{self, Rng, Shape};
use p4_interp::{Event, Machine, Mode, Recorder};
use p4_ir::{Block, Expr, Ir, LValue, Pipe, Stmt, VarId, verify};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

const PROGRAMS: u64 = 150;
const PACKETS: usize = 20;

fn machine(ir: &Ir, seed: u64) -> Machine {
    let mut m = Machine::new(Arc::new(ir.clone())).expect("runs");
    m.apply(&random::entries(ir, seed)).expect("fits");
    m.apply(&random::copies(seed)).expect("fits");
    m
}

fn packets(seed: u64) -> impl Iterator<Item = (Vec<u8>, PortId)> {
    let mut rng = Rng::new(seed ^ 0xfeed);
    (0..PACKETS).map(move |_| (random::packet(&mut rng), PortId(rng.below(9) as u16)))
}

/// Verdicts, bytes, copies and the tables' statistics.
fn observed(ir: &Ir, seed: u64) -> Vec<String> {
    let mut m = machine(ir, seed);
    let mut seen = Vec::new();
    for (i, (packet, port)) in packets(seed).enumerate() {
        let mode = if i % 3 == 0 { Mode::Subset } else { Mode::Whole };
        let out = m.process(&packet, port, 1000 * i as u64, mode);
        seen.push(format!("{:?} {:02x?}", out.verdict, out.bytes));
        seen.push(format!("{:?}", m.extra()));
    }
    seen.extend(ir.program.tables.keys().map(|t| format!("{:?}", m.table_stats(t))));
    seen.extend(ir.program.counters.keys().map(|c| format!("{:?}", m.counter(c, 0))));
    for (id, r) in &ir.program.registers {
        seen.push((0..r.size).map(|i| format!("{:x?} ", m.register(id, i))).collect());
    }
    seen
}

/// Statements by where they are in memory, with what is live behind them in every way.
fn live_behind(ir: &Ir) -> HashMap<*const Stmt, BTreeSet<VarId>> {
    let mut behind: HashMap<*const Stmt, BTreeSet<VarId>> = HashMap::new();
    Liveness::new(ir).behind(&mut |s, live| behind.entry(s).or_default().extend(live));
    behind
}

/// A block in which some variables are overwritten with garbage behind some statements.
struct Spoil<'a> {
    ir: &'a Ir,
    behind: &'a HashMap<*const Stmt, BTreeSet<VarId>>,
    rng: Rng,
    /// Whether live variables are spoiled, or dead ones.
    live: bool,
    hits: usize,
}

impl Spoil<'_> {
    fn block(&mut self, block: &Block) -> Block {
        let mut out = Block::new();
        for s in block {
            let mut copy = s.clone();
            let mut inner = Vec::new();
            p4_ir::walk::stmt_blocks(s, &mut |b| inner.push(self.block(b)));
            let mut inner = inner.into_iter();
            p4_ir::walk::stmt_blocks_mut(&mut copy, &mut |b| *b = inner.next().expect("as many"));
            out.push(copy);
            // Behind what is not reached, anything may stand.
            let Some(live) = self.behind.get(&std::ptr::from_ref(s)) else { continue };
            let vars: Vec<VarId> = self.ir.vars.keys().filter(|v| live.contains(v) == self.live).collect();
            for _ in 0..2 {
                if !vars.is_empty() && self.rng.once_in(3) {
                    let v = vars[self.rng.below(vars.len())];
                    let ty = self.ir.vars[v].ty;
                    let garbage = u128::from(self.rng.bits()) << 64 | u128::from(self.rng.bits());
                    out.push(Stmt::Assign(LValue::Var(v), Expr::constant(ty, garbage)));
                    self.hits += 1;
                }
            }
        }
        out
    }
}

/// The program with variables spoiled, and how many.
fn spoiled(ir: &Ir, seed: u64, live: bool) -> (Ir, usize) {
    let behind = live_behind(ir);
    let mut spoil = Spoil { ir, behind: &behind, rng: Rng::new(seed), live, hits: 0 };
    let mut out = ir.clone();
    for (from, to) in ir.pipes.values().zip(out.pipes.values_mut()) {
        to.parser.init = spoil.block(&from.parser.init);
        for (from, to) in from.controls.iter().zip(&mut to.controls) {
            // Checksum controls hold nothing else.
            if !from.role.is_checksum() {
                to.body = spoil.block(&from.body);
            }
        }
    }
    for (from, to) in ir.states.values().zip(out.states.values_mut()) {
        to.body = spoil.block(&from.body);
    }
    for (from, to) in ir.actions.values().zip(out.actions.values_mut()) {
        to.body = spoil.block(&from.body);
    }
    assert_eq!(verify(&out), Ok(()));
    (out, spoil.hits)
}

const SHAPES: [Shape; 3] = [Shape::Plain, Shape::Classes, Shape::Copies];

#[test]
fn a_dead_variable_may_be_overwritten_and_a_live_one_may_not() {
    let (mut dead, mut live, mut differ) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        for shape in SHAPES {
            let ir = random::shaped(seed, shape);
            let before = observed(&ir, seed);
            let (spoiled_dead, hits) = spoiled(&ir, seed, false);
            let after = observed(&spoiled_dead, seed);
            assert!(before == after, "seed {seed}, {shape:?}\n--- before\n{ir}\n--- after\n{spoiled_dead}");
            dead += hits;
            let (spoiled_live, hits) = spoiled(&ir, seed, true);
            live += hits;
            differ += usize::from(before != observed(&spoiled_live, seed));
        }
    }
    let programs = PROGRAMS as usize * SHAPES.len();
    assert!(dead > 20 * programs && live > 20 * programs, "{dead} dead and {live} live variables spoiled");
    assert!(differ * 10 > programs * 9, "{differ} of {programs} programs take notice of a live variable that is spoiled");
}

#[test]
fn what_need_not_be_clear_at_first_may_hold_anything() {
    let mut hits = 0;
    for seed in 0..PROGRAMS {
        for shape in SHAPES {
            let ir = random::shaped(seed, shape);
            let live = Liveness::new(&ir);
            let mut dirty = ir.clone();
            let mut rng = Rng::new(seed);
            for v in ir.vars.keys().filter(|v| !live.at_start().contains(v)) {
                let garbage = Expr::constant(ir.vars[v].ty, u128::from(rng.bits()) | 1);
                dirty.parser_mut().init.insert(0, Stmt::Assign(LValue::Var(v), garbage));
                hits += 1;
            }
            assert!(observed(&ir, seed) == observed(&dirty, seed), "seed {seed}, {shape:?}\n{ir}");
        }
    }
    assert!(hits > PROGRAMS as usize, "{hits}");
}

#[test]
fn a_block_writes_nothing_but_what_its_effects_say() {
    let mut hits = BTreeMap::from([("var", 0), ("field", 0), ("valid", 0), ("extract", 0), ("copy", 0), ("varbit", 0)]);
    let mut made_valid = 0;
    for seed in 0..PROGRAMS {
        for shape in SHAPES {
            let ir = random::shaped(seed, shape);
            let never = never_valid(&ir);
            let mut of: BTreeMap<&str, BTreeSet<Place>> = BTreeMap::new();
            let parsers = ir.pipes.values().map(|p| &p.parser.init).chain(ir.states.values().map(|s| &s.body));
            parsers.for_each(|b| of.entry("parser").or_default().extend(Effects::of(&ir, b).writes));
            for control in ir.pipes.values().flat_map(|p| &p.controls) {
                of.insert(control.role.name(), Effects::of(&ir, &control.body).writes);
            }
            let deparser = ir.pipes.values().flat_map(Pipe::after_parser).next_back().expect("a deparser");
            of.insert("deparser", Effects::of(&ir, deparser).writes);
            // Between the blocks the architecture writes.
            let standard: BTreeSet<VarId> = ir.intrinsic.standard.values().copied().collect();
            let mut m = machine(&ir, seed);
            for (packet, port) in packets(seed) {
                let mut recorder = Recorder::default();
                m.process_traced(&packet, port, 0, Mode::Whole, &mut recorder);
                let mut at = "parser";
                for event in &recorder.events {
                    let mut check = |what: &str, place: Place| {
                        assert!(of[at].contains(&place), "seed {seed}, {shape:?}: {at} writes {place:?} by {event:?}\n{ir}");
                        *hits.get_mut(what).expect("known") += 1;
                    };
                    match event {
                        Event::Block(name) => at = name,
                        Event::Pass { .. } => at = "parser",
                        Event::Var { var, .. } if !standard.contains(var) => check("var", Place::Var(*var)),
                        Event::Field { header, field, valid: true, .. } => check("field", Place::Field(*header, *field)),
                        Event::Validity { header, valid } => {
                            check("valid", Place::Valid(*header));
                            made_valid += usize::from(*valid);
                            assert!(!valid || !never.contains(header), "seed {seed}: {header} became valid");
                        }
                        Event::Extracted { header, .. } => {
                            check("extract", Place::Valid(*header));
                            check("extract", Place::Field(*header, 0));
                            assert!(!never.contains(header), "seed {seed}: {header} was extracted");
                        }
                        Event::Copied { dst, .. } => check("copy", Place::Valid(*dst)),
                        Event::Varbit { header, .. } => {
                            let fields = &ir.header_types[ir.headers[*header].ty].fields;
                            let field = fields.iter().position(|f| f.varbit).expect("a varbit field");
                            check("varbit", Place::Field(*header, field as u32));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    assert!(hits.values().all(|n| *n > 100) && made_valid > 100, "{hits:?}, {made_valid}");
}
