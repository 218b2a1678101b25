//! Random programs in the kernel behave as in the interpreter: those that BPF can express.

mod common;

use base::PortId;
use common::twin::random_ir::{random_ir, random_ir_with_classes, random_packets};
use common::{Pair, rng};
use p4_interp::Mode;
use p4_ir::{BinOp, Block, CheckData, Expr, ExprKind, Extern, Ir, Next, Stmt, TableId, Transition, Ty, walk};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::sync::Arc;
use target_xdp::LoadError;

/// `SEEDS=100..200` runs others than the usual ones.
fn seeds(usual: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let given = std::env::var("SEEDS").ok();
    let range = given.as_deref().and_then(|s| s.split_once("..")).and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    range.unwrap_or(usual)
}

/// Puts something else where BPF cannot express what there is, so that more than the luckiest programs are run.
fn make_fit(ir: &mut Ir) {
    let counts = |s: &Stmt| {
        matches!(s, Stmt::Extern(Extern::Count { .. } | Extern::DirectCount(_) | Extern::Meter { .. } | Extern::RegisterWrite { .. }))
    };
    let counting = |t: &TableId| {
        let (mut found, info) = (false, &ir.program.tables[*t]);
        for action in info.actions.iter().map(|u| u.action).chain([info.default_action.0]) {
            walk::all_stmts(&ir.actions[action].body, &mut |s| found |= counts(s));
        }
        found
    };
    let tables: Vec<TableId> = ir.program.tables.keys().filter(counting).collect();
    walk::blocks_mut(ir, &mut |b| leave_loops(b, &tables, false));
    walk::blocks_mut(ir, &mut fit_block);
    walk::other_exprs_mut(ir, &mut fit_expr);
}

/// Takes look-ups of such tables out of loops.
fn leave_loops(block: &mut Block, tables: &[TableId], in_loop: bool) {
    block.retain(|s| !in_loop || !matches!(s, Stmt::Apply { table, .. } if tables.contains(table)));
    for s in block {
        let in_loop = in_loop || matches!(s, Stmt::Loop(_));
        walk::stmt_blocks_mut(s, &mut |b| leave_loops(b, tables, in_loop));
    }
}

/// Whether a state of the parser is reached from itself. Packets that go round more than 32 times are given up: they must be short.
fn loops(ir: &Ir) -> bool {
    let next = |s: &p4_ir::StateId| -> Vec<p4_ir::StateId> {
        let of = |n: &Next| if let Next::State(s) = n { Some(*s) } else { None };
        match &ir.states[*s].next {
            Transition::Goto(n) => of(n).into_iter().collect(),
            Transition::Select { cases, .. } => cases.iter().filter_map(|c| of(&c.next)).collect(),
        }
    };
    ir.states.keys().any(|start| {
        let mut seen = std::collections::BTreeSet::new();
        let mut open = next(&start);
        while let Some(s) = open.pop() {
            if seen.insert(s) {
                open.extend(next(&s));
            }
        }
        seen.contains(&start)
    })
}

fn fit_block(block: &mut Block) {
    for s in block.iter_mut() {
        if let Stmt::Extern(e) = s {
            match e {
                Extern::Random { result, low, .. } => *s = Stmt::Assign(result.clone(), low.clone()),
                Extern::Truncate(_) => *s = Stmt::Extern(Extern::Log(String::new(), vec![])),
                Extern::VerifyChecksum { payload, data, .. } | Extern::UpdateChecksum { payload, data, .. } => {
                    *payload = false;
                    data.retain(|d| matches!(d, CheckData::Value(_)));
                }
                _ => {}
            }
        }
        walk::stmt_exprs_mut(s, &mut fit_expr);
        walk::stmt_blocks_mut(s, &mut fit_block);
    }
}

fn fit_expr(e: &mut Expr) {
    let wide = e.ty.width() > 64;
    if let ExprKind::Binary(op, a, _) = &mut e.kind {
        let signed = matches!(a.ty, Ty::Int(_));
        match op {
            BinOp::Mul | BinOp::Div | BinOp::Mod if wide => *op = BinOp::Xor,
            BinOp::AddSat | BinOp::SubSat if wide && signed => *op = BinOp::Add,
            BinOp::Shr if wide && signed => *op = BinOp::Shl,
            _ => {}
        }
    }
    walk::sub_exprs_mut(e, &mut fit_expr);
}

#[test]
fn random_programs_agree() {
    if !testkit::root_or_skip("random_programs_agree") {
        return;
    }
    let seen = check_all(|seed| random_ir(rng(seed)), random_packets, seeds(0..40));
    seen.most_fit_and_drop_too();
}

/// Programs whose parsers have likely ways: their packets run through text of their own.
#[test]
fn random_programs_with_classes_agree() {
    if !testkit::root_or_skip("random_programs_with_classes_agree") {
        return;
    }
    let seen = check_all(|seed| random_ir_with_classes(rng(seed)), random_packets, seeds(2000..2020));
    seen.most_fit_and_drop_too();
}

/// Programs of text, with what only text has: declarations in parsers, sub-parsers, functions, arguments that are copied in and out.
#[test]
fn random_programs_of_text_agree() {
    if !testkit::root_or_skip("random_programs_of_text_agree") {
        return;
    }
    let make = |seed| {
        let text = p4_gen::program(seed);
        p4_check::compile_str(&format!("seed_{seed}.p4"), &text, &p4_check::Options::default())
            .unwrap_or_else(|e| panic!("{}", e.render()))
            .ir
    };
    let packets = |source: &mut ChaCha8Rng, n: usize| {
        let mut of_text = p4_gen::random::Rng::new(source.random());
        (0..n).map(|_| (p4_gen::packet(&mut of_text), PortId(source.random_range(0..9)))).collect()
    };
    // Some are larger than the kernel takes, and few drop anything.
    let seen = check_all(make, packets, seeds(0..18));
    assert!(seen.fit * 2 >= seen.all, "{seen:?}");
}

/// Makes so many, with the ports that they come by.
type Packets = fn(&mut ChaCha8Rng, usize) -> Vec<(Vec<u8>, PortId)>;

/// What a run has seen.
#[derive(Debug)]
struct Seen {
    all: u64,
    fit: u64,
    hits: u64,
    misses: u64,
    kinds: [u64; 8],
    refused: BTreeMap<String, u64>,
}

impl Seen {
    fn most_fit_and_drop_too(&self) {
        assert!(self.fit * 4 >= self.all * 3 && self.kinds[3] > 10 * self.fit, "{self:?}");
    }
}

/// Every other one in the form that the loader takes for programs that are too large otherwise.
fn check_all(make: fn(u64) -> Ir, packets: Packets, seeds: std::ops::Range<u64>) -> Seen {
    let mut seen = Seen { all: seeds.end - seeds.start, fit: 0, hits: 0, misses: 0, kinds: [0; 8], refused: BTreeMap::new() };
    let mut read = 0;
    for seed in seeds {
        let mut ir = make(seed);
        make_fit(&mut ir);
        if let Err(why) = p4_emit::bpf::emit_xdp(&ir) {
            *seen.refused.entry(why.kind().to_owned()).or_default() += 1;
            continue;
        }
        let (ir, mode) = (Arc::new(ir), if seed % 2 == 0 { Mode::Whole } else { Mode::Subset });
        let load = if seed / 2 % 2 == 0 { common::load } else { common::load_simple };
        let native = match load(&ir, seed, mode) {
            Err(LoadError::Limit(_)) => {
                *seen.refused.entry("larger than the kernel takes".into()).or_default() += 1;
                continue;
            }
            other => other.unwrap_or_else(|e| panic!("seed {seed}: {e}")),
        };
        let pair = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut pair = Pair::of(ir, native, seed, mode);
            let mut source = rng(seed ^ 0xfeed);
            let most = if loops(&pair.ir) { 24 } else { 3500 };
            let mut some = |n| {
                packets(&mut source, n).into_iter().map(|(mut bytes, port)| {
                    bytes.truncate(most);
                    (bytes, port)
                })
            };
            let first: Vec<_> = some(150).collect();
            pair.run(&first);
            pair.fill(0.8);
            pair.run(&first);
            pair.run(&some(100).collect::<Vec<_>>());
            pair.check_state();
            read += pair.check_entries(1 + seed as usize % 5).0;
            pair
        }));
        let pair = pair.unwrap_or_else(|_| panic!("seed {seed} failed"));
        for table in pair.ir.program.tables.values() {
            let (h, m) = pair.hits_and_misses(&table.name);
            seen.hits += h;
            seen.misses += m;
        }
        seen.kinds.iter_mut().zip(pair.kinds).for_each(|(sum, n)| *sum += n);
        seen.fit += 1;
    }
    println!("{seen:?}");
    // Their tables hold little: `read_back.rs` has more.
    assert!(read > 0, "{read} entries read back");
    let least = 20 * seen.fit;
    assert!(seen.hits > least && seen.misses > least && seen.kinds[0] > 30 * seen.fit, "{seen:?}");
    seen
}
