//! Does a placement keep the chip's limits and the program's order, whatever the program? Random small programs against random chips,
//! looked at by a twin that knows nothing of sites and graphs: it adds up what the parts take, and walks the program as packets do.

use chip::{Chip, Kind, Placement, Resource, Sizes};
use p4_ir::walk::read_vars;
use p4_ir::*;
use program::{CountUnit, MatchKind};
use rand::Rng;
use std::collections::BTreeSet;

const TOFINO1: &str = include_str!("../data/tofino1.toml");
const CASES: u64 = 400;
/// Packets that walk through each placed program.
const WALKS: usize = 30;

#[test]
fn placements_keep_limits_and_order() {
    let (mut fit, mut refused, mut ordered, mut spanning) = (0, 0, 0, 0);
    for seed in 0..CASES {
        let mut rng = testkit::rng(seed);
        let ir = random_program(&mut rng);
        p4_ir::verify(&ir).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        let chip = random_chip(&mut rng);
        match chip::place(&ir, &chip, &Sizes::default()) {
            Ok(p) => {
                fit += 1;
                limits(&p, &chip, seed);
                whole(&ir, &p, seed);
                spanning += p.tables.iter().filter(|t| t.stages > 1).count();
                for _ in 0..WALKS {
                    ordered += walk(&ir, &p, &mut rng, seed);
                }
                assert_eq!(p, chip::place(&ir, &chip, &Sizes::default()).unwrap(), "seed {seed}: twice the same");
            }
            Err(r) => {
                refused += 1;
                assert!(!r.lacks.is_empty(), "seed {seed}");
            }
        }
    }
    assert!(fit >= 100 && refused >= 60, "{fit} fit, {refused} are refused");
    assert!(ordered >= 1000 && spanning >= 20, "{ordered} dependencies, {spanning} tables over several stages");
}

fn random_chip(rng: &mut impl Rng) -> Chip {
    let mut text = TOFINO1.to_owned();
    for (figure, low, high) in [
        ("stages = 12", 2, 8),
        ("sram_blocks = 80", 4, 60),
        ("tcam_blocks = 24", 1, 16),
        ("map_rams = 48", 6, 48),
        ("logical_tables = 16", 2, 16),
        ("gateways = 16", 1, 16),
        ("exact_crossbar_bytes = 128", 6, 128),
        ("hash_bits = 416", 44, 416),
        ("instructions = 32", 4, 32),
        ("stats_alus = 4", 1, 4),
    ] {
        let key = figure.split(" = ").next().unwrap();
        text = text.replacen(figure, &format!("{key} = {}", rng.random_range(low..=high)), 1);
    }
    Chip::parse(&text).unwrap()
}

fn random_program(rng: &mut impl Rng) -> Ir {
    let mut ir = Ir::v1model("random.p4");
    let vars: Vec<VarId> = (0..6).map(|i| ir.add_var(&format!("m.v{i}"), Ty::Bit([8, 16, 32][i % 3]))).collect();
    let mut blocks = Vec::new();
    let tables = rng.random_range(2..9);
    for t in 0..tables {
        let to = vars[rng.random_range(0..vars.len())];
        let from = vars[rng.random_range(0..vars.len())];
        let width = ir.vars[to].ty.width();
        let set = ir.add_action(&format!("set{t}"), &[("v", width)], |ir, p| vec![Stmt::Assign(LValue::Var(to), Expr::var(ir, p[0]))]);
        let copy = ir.add_action(&format!("copy{t}"), &[], |ir, _| {
            vec![Stmt::Assign(LValue::Var(to), Expr::binary(BinOp::Add, Expr::var(ir, from).cast(Ty::Bit(width)), Expr::bit(width, 1)))]
        });
        let kind = [MatchKind::Exact, MatchKind::Exact, MatchKind::Ternary, MatchKind::Lpm][rng.random_range(0..4)];
        let mut keys = vec![("k", Expr::var(&ir, vars[rng.random_range(0..vars.len())]), kind)];
        if kind != MatchKind::Lpm && rng.random_bool(0.4) {
            keys.push(("l", Expr::var(&ir, vars[rng.random_range(0..vars.len())]), kind));
        }
        let id = ir.add_table(&format!("t{t}"), keys, &[set, copy], copy);
        let most = if kind == MatchKind::Exact { 17 } else { 12 };
        ir.program.tables[id].size = 1 << rng.random_range(4..most);
        if rng.random_bool(0.2) {
            let c = ir.add_counter(&format!("c{t}"), 0, Some(id));
            ir.program.counters[c].size = ir.program.tables[id].size;
            for a in [set, copy] {
                ir.actions[a].body.push(Stmt::Extern(Extern::DirectCount(c)));
            }
        }
        let apply = Stmt::Apply { table: id, hit: None, action_run: None };
        let mut block = vec![apply];
        if rng.random_bool(0.15) {
            let m = ir.add_meter(&format!("r{t}"), 1 << rng.random_range(4..14), CountUnit::Bytes);
            let index = Expr::var(&ir, vars[rng.random_range(0..vars.len())]);
            block.push(Stmt::Extern(Extern::Meter { meter: m, index, result: LValue::Var(vars[rng.random_range(0..vars.len())]) }));
        }
        if rng.random_bool(0.3) {
            let on = vars[rng.random_range(0..vars.len())];
            let width = ir.vars[on].ty.width();
            let is = Expr::binary(BinOp::Eq, Expr::var(&ir, on), Expr::bit(width, 1));
            let other = if rng.random_bool(0.3) { vec![Stmt::Exit] } else { blocks.pop().into_iter().collect() };
            block = vec![Stmt::If(is, block, other)];
        }
        blocks.extend(block);
    }
    *ir.ingress_mut() = blocks;
    ir
}

/// What the parts of a stage take, added up, is what it says of itself, and within what the chip has.
fn limits(p: &Placement, chip: &Chip, seed: u64) {
    let chip::Form::Switch(s) = &chip.form else { panic!("a switch") };
    assert_eq!(p.stages.len(), s.stages, "seed {seed}");
    for (n, stage) in p.stages.iter().enumerate() {
        for r in Resource::ALL {
            let sum: u64 = stage.parts.iter().map(|part| part.used[r]).sum();
            assert_eq!(sum, stage.used[r], "seed {seed}: stage {n}: {}", r.name());
            let has = match r {
                Resource::Sram => s.stage.sram_blocks,
                Resource::MapRam => s.stage.map_rams,
                Resource::Tcam => s.stage.tcam_blocks,
                Resource::ExactCrossbar => s.stage.exact_crossbar_bytes,
                Resource::TernaryCrossbar => s.stage.ternary_crossbar_bytes,
                Resource::HashBits => s.stage.hash_bits,
                Resource::HashSlices => s.stage.hash_slices,
                Resource::ExactTables => s.stage.exact_tables,
                Resource::TernaryTables => s.stage.ternary_tables,
                Resource::LogicalTables => s.stage.logical_tables,
                Resource::Gateways => s.stage.gateways,
                Resource::MeterAlus => s.stage.meter_alus,
                Resource::StatsAlus => s.stage.stats_alus,
                Resource::Instructions => s.stage.instructions,
                Resource::ActionData => s.stage.action_data_bytes,
                Resource::ResultBuses => s.stage.result_buses,
            };
            assert!(sum <= has, "seed {seed}: stage {n}: {sum} {} of {has}", r.name());
        }
    }
}

fn key_bits(ir: &Ir, table: &str) -> u32 {
    let id = ir.program.table(table).unwrap();
    ir.program.tables[id].keys.iter().map(|k| k.width).sum()
}

/// All entries have a place, and no stage has less memory than its entries' keys alone would take.
fn whole(ir: &Ir, p: &Placement, seed: u64) {
    for t in p.tables.iter().filter(|t| t.kind != Kind::Default) {
        let held: u64 = p.stages.iter().flat_map(|s| &s.parts).filter(|x| x.name == t.name).filter_map(|x| x.entries).sum();
        // A key of few bits has only so many values.
        let values = if t.kind == Kind::Exact { 1u64 << key_bits(ir, &t.name).min(40) } else { u64::MAX };
        let wanted = t.entries.min(values);
        assert!(held >= wanted, "seed {seed}: {} holds {held} of {wanted}", t.name);
        assert!(t.slots >= wanted, "seed {seed}");
        if t.kind == Kind::Exact {
            let key = t.entry_bits.saturating_sub(14);
            assert!(t.sram_blocks * 128 * 1024 >= wanted * key, "seed {seed}: {} in {} blocks", t.name, t.sram_blocks);
        }
    }
}

/// A packet's way: where an action of one table writes what a later one has as key, the later one lies behind. Counts such pairs.
fn walk(ir: &Ir, p: &Placement, rng: &mut impl Rng, seed: u64) -> usize {
    let mut way: Vec<(String, BTreeSet<VarId>, BTreeSet<VarId>)> = Vec::new();
    go(ir, ir.ingress(), rng, &mut way);
    let stages = |name: &str| {
        let at: Vec<usize> = (0..p.stages.len()).filter(|s| p.stages[*s].parts.iter().any(|x| x.name == name)).collect();
        (at.first().copied(), at.last().copied())
    };
    let mut found = 0;
    for (j, (later, keys, _)) in way.iter().enumerate() {
        for (earlier, _, writes) in &way[..j] {
            if earlier != later && !writes.is_disjoint(keys) {
                let (end, begin) = (stages(earlier).1, stages(later).0);
                assert!(end.is_some() && begin > end, "seed {seed}: {later} begins in {begin:?}, {earlier} ends in {end:?}");
                found += 1;
            }
        }
    }
    found
}

/// What was written to a variable before has no reader from here on.
fn over(way: &mut [(String, BTreeSet<VarId>, BTreeSet<VarId>)], v: VarId) {
    for (_, _, writes) in way {
        writes.remove(&v);
    }
}

fn go(ir: &Ir, block: &[Stmt], rng: &mut impl Rng, way: &mut Vec<(String, BTreeSet<VarId>, BTreeSet<VarId>)>) -> bool {
    for s in block {
        match s {
            Stmt::If(_, a, b) => {
                let taken = if rng.random_bool(0.5) { a } else { b };
                let goes_on = go(ir, taken, rng, way);
                if !goes_on {
                    return false;
                }
            }
            Stmt::Exit => return false,
            Stmt::Assign(LValue::Var(v), _) => over(way, *v),
            Stmt::Apply { table, .. } => {
                let info = &ir.program.tables[*table];
                let mut keys = BTreeSet::new();
                ir.tables[*table].keys.iter().for_each(|k| read_vars(k, &mut |v| keys.extend([v])));
                let action = info.actions[rng.random_range(0..info.actions.len())].action;
                let mut writes = BTreeSet::new();
                for s in &ir.actions[action].body {
                    if let Stmt::Assign(LValue::Var(v), value) = s {
                        over(way, *v);
                        // Zero is what it was, if nobody has written it.
                        if value.as_const().is_none_or(|c| c.is_true()) {
                            writes.insert(*v);
                        }
                    }
                }
                way.push((info.name.clone(), keys, writes));
            }
            Stmt::Extern(Extern::Meter { meter, index, result }) => {
                let mut keys = BTreeSet::new();
                read_vars(index, &mut |v| keys.extend([v]));
                let LValue::Var(to) = result else { continue };
                over(way, *to);
                way.push((ir.program.meters[*meter].name.clone(), keys, [*to].into()));
            }
            _ => {}
        }
    }
    true
}
