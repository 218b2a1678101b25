//! Does a small program lie on the chip as it should, and is what does not fit refused by what ran out? The programs of
//! `plans/`, each beside the text of its plan.

use chip::{Chip, Resource, Sizes};
use p4_ir::Ir;
use std::path::{Path, PathBuf};

const TOFINO1: &str = include_str!("../data/tofino1.toml");

fn compile(path: &Path) -> Ir {
    let options = p4_check::Options { include_paths: vec![PathBuf::from("tests/plans")], ..Default::default() };
    let mut ir = p4_check::compile_file(path, &options).unwrap_or_else(|f| panic!("{}", f.render())).ir;
    p4_passes::optimise(&mut ir).unwrap();
    ir
}

fn plan(ir: &Ir, chip: &Chip) -> String {
    match chip::place(ir, chip, &Sizes::default()) {
        Ok(p) => p.to_string(),
        Err(r) => format!("{}: {r}\n", ir.program.name),
    }
}

#[test]
fn small_programs_lie_as_their_plans_say() {
    let chip = Chip::named("tofino1").unwrap();
    let mut programs: Vec<PathBuf> = std::fs::read_dir("tests/plans").unwrap().map(|e| e.unwrap().path()).collect();
    programs.retain(|p| p.extension().is_some_and(|e| e == "p4"));
    programs.sort();
    let mut refused = 0;
    for path in &programs {
        let text = plan(&compile(path), &chip);
        refused += usize::from(text.contains("does not fit"));
        assert!(text.contains("(modelled)"), "a model's figures are called modelled");
        testkit::assert_golden(path.with_extension("plan"), &text);
    }
    assert!(refused >= 8 && programs.len() - refused >= 5, "{refused} of {} are refused", programs.len());
}

/// Makes one figure of the chip smaller at a time: each must be what the refusal names.
#[test]
fn every_resource_that_runs_out_is_named() {
    let ir = compile(Path::new("tests/plans/all_resources.p4"));
    assert!(chip::place(&ir, &Chip::named("tofino1").unwrap(), &Sizes::default()).is_ok());
    let mut all = String::new();
    for (figure, smaller, resource) in [
        ("sram_blocks = 80", "sram_blocks = 2", Resource::Sram),
        ("map_rams = 48", "map_rams = 1", Resource::MapRam),
        ("tcam_blocks = 24", "tcam_blocks = 0", Resource::Tcam),
        ("exact_crossbar_bytes = 128", "exact_crossbar_bytes = 3", Resource::ExactCrossbar),
        ("ternary_crossbar_bytes = 66", "ternary_crossbar_bytes = 1", Resource::TernaryCrossbar),
        ("hash_bits = 416", "hash_bits = 20", Resource::HashBits),
        ("hash_slices = 6", "hash_slices = 0", Resource::HashSlices),
        ("exact_tables = 16", "exact_tables = 0", Resource::ExactTables),
        ("ternary_tables = 8", "ternary_tables = 0", Resource::TernaryTables),
        ("logical_tables = 16", "logical_tables = 0", Resource::LogicalTables),
        ("gateways = 16", "gateways = 0", Resource::Gateways),
        ("meter_alus = 4", "meter_alus = 0", Resource::MeterAlus),
        ("stats_alus = 4", "stats_alus = 0", Resource::StatsAlus),
        ("instructions = 32", "instructions = 1", Resource::Instructions),
        ("action_data_bytes = 128", "action_data_bytes = 3", Resource::ActionData),
        ("result_buses = 16", "result_buses = 0", Resource::ResultBuses),
    ] {
        let refusal = refusal(&ir, figure, smaller);
        assert!(refusal.contains(resource.name()), "{smaller}: {refusal}");
        all += &format!("{smaller}\n  {}\n", refusal.replace('\n', "\n  "));
    }
    for (figure, smaller, what) in [
        ("stages = 12", "stages = 1", "stages"),
        (
            "normal = [{ bits = 32, count = 64 }, { bits = 16, count = 96 }, { bits = 8, count = 64 }]",
            "normal = [{ bits = 8, count = 4 }]",
            "packet header vector",
        ),
        ("tcam_rows = 256", "tcam_rows = 0", "parser TCAM rows"),
        ("egress_depth_bytes = 160", "depth_bytes = 11", "parser depth"),
        ("entries = 192", "entries = 2", "deparser entries"),
    ] {
        let refusal = refusal(&ir, figure, smaller);
        assert!(refusal.contains(what), "{smaller}: {refusal}");
        all += &format!("{smaller}\n  {}\n", refusal.replace('\n', "\n  "));
    }
    testkit::assert_golden("tests/refusals.txt", &all);
}

fn refusal(ir: &Ir, figure: &str, smaller: &str) -> String {
    assert!(TOFINO1.contains(figure), "{figure}");
    let chip = Chip::parse(&TOFINO1.replacen(figure, smaller, 1)).unwrap_or_else(|e| panic!("{smaller}: {e}"));
    match chip::place(ir, &chip, &Sizes::default()) {
        Ok(p) => panic!("{smaller}: fits\n{p}"),
        Err(r) => r.to_string(),
    }
}

#[test]
fn the_most_sessions_that_fit_are_found_and_one_more_row_is_not() {
    let chip = Chip::named("tofino1").unwrap();
    let mut ir = compile(Path::new("tests/plans/exact_across_stages.p4"));
    assert_eq!(chip::max_sessions(&ir, &chip, &Sizes::default()), None, "no table is marked");
    let large = ir.program.table("large").unwrap();
    ir.program.tables[large].split = true;
    let most = chip::max_sessions(&ir, &chip, &Sizes::default()).unwrap();
    assert!(chip::place(&ir, &chip, &Sizes::sessions(most)).is_ok());
    assert!(chip::place(&ir, &chip, &Sizes::sessions(most + most / 50)).is_err());
    // With its 32 bits of data in rows of their own, four a row, nine entries take two rows and nine quarters; there are 880 blocks before
    // the last stage, and a tenth may be lost to ways and rounding.
    let best = 880 * 1024 * 9 * 4 / 17 + 80 * 1024;
    assert!(most <= best && most > best * 9 / 10, "{most} of {best}");
    let p = chip::place(&ir, &chip, &Sizes::sessions(100_000)).unwrap();
    assert_eq!(p.capacity("large"), Some(100_000));
    let two = Sizes { set: [("small".to_owned(), 5000)].into(), ..Sizes::sessions(100_000) };
    assert_eq!(chip::place(&ir, &chip, &two).unwrap().capacity("small"), Some(5000));
    let wrong = Sizes { set: [("smal".to_owned(), 5000)].into(), ..Sizes::default() };
    assert!(chip::place(&ir, &chip, &wrong).unwrap_err().to_string().contains("smal: there is no table"));
}

#[test]
fn the_picture_shows_each_block_and_says_that_it_is_modelled() {
    let chip = Chip::named("tofino1").unwrap();
    let mut ir = compile(Path::new("tests/plans/exact_across_stages.p4"));
    let large = ir.program.table("large").unwrap();
    ir.program.tables[large].name = "<large>&\"".to_owned();
    let p = chip::place(&ir, &chip, &Sizes::default()).unwrap();
    let svg = p.to_svg();
    assert!(svg.contains("(modelled)") && svg.contains("&lt;large&gt;&amp;&quot;") && !svg.contains("<large>"));
    let used: u64 = p.stages.iter().map(|s| s.used[Resource::Sram]).sum();
    let grey = svg.matches("width=\"6\" height=\"6\" fill=\"#eeeeee\"").count() as u64;
    let squares = svg.matches("width=\"6\" height=\"6\"").count() as u64;
    let tcam: u64 = p.stages.iter().map(|s| s.used[Resource::Tcam]).sum();
    assert_eq!(squares, 12 * (80 + 24));
    assert_eq!(squares - grey, used + tcam);
    assert_eq!(svg.matches("<svg").count(), 1);
    assert_eq!(svg.matches('<').count(), svg.matches('>').count());
}

/// Deep and wide programs end in an answer: as deep as the verifier lets them be, and wider than the model looks at.
#[test]
fn programs_that_are_deep_or_large_are_answered() {
    use p4_ir::{BinOp, Expr, LValue, Stmt};
    let chip = Chip::named("tofino1").unwrap();
    let mut ir = Ir::v1model("deep.p4");
    // The architecture reads it.
    let v = ir.intrinsic.standard["egress_spec"];
    let is = |ir: &Ir, n: u128| Expr::binary(BinOp::Eq, Expr::var(ir, v), Expr::bit(9, n));
    let mut block = vec![Stmt::Assign(LValue::Var(v), Expr::bit(9, 1))];
    for n in 0..400 {
        block = vec![Stmt::If(is(&ir, n), block, Vec::new())];
    }
    *ir.ingress_mut() = block;
    p4_ir::verify(&ir).unwrap();
    let deep = chip::place(&ir, &chip, &Sizes::default()).unwrap_err().to_string();
    assert!(deep.contains("logical tables"), "400 conditions, in 192 logical tables: {deep}");
    let mut sum = Expr::var(&ir, v);
    for _ in 0..900 {
        sum = Expr::binary(BinOp::Add, sum, Expr::var(&ir, v));
    }
    *ir.ingress_mut() = vec![Stmt::Assign(LValue::Var(v), sum)];
    let long = chip::place(&ir, &chip, &Sizes::default()).unwrap_err();
    assert_eq!(long.stages_needed, Some(900), "a sum a stage");
    let other = |ir: &Ir| Stmt::If(is(ir, 7), vec![Stmt::Assign(LValue::Var(v), Expr::bit(9, 1))], Vec::new());
    *ir.ingress_mut() = (0..5000).map(|_| other(&ir)).collect();
    let large = chip::place(&ir, &chip, &Sizes::default()).unwrap_err().to_string();
    assert!(large.contains("too large to be modelled"), "{large}");
}
