//! Do tables lie in the network processor's memory as measured ones do, and is what has no room there refused?

use chip::{Chip, Sizes, place_in_tiers};
use p4_ir::{Expr, Ir, Stmt, Ty};
use program::MatchKind;

/// The table of Memarian et al. of UEs: a destination address to the number of a radio bearer.
fn bearer_table() -> Ir {
    let mut ir = Ir::v1model("bearers.p4");
    let to = ir.add_var("m.bearer", Ty::Bit(16));
    let address = ir.add_var("m.address", Ty::Bit(32));
    let set = ir.add_action("set_bearer", &[("n", 16)], |ir, p| vec![Stmt::Assign(p4_ir::LValue::Var(to), Expr::var(ir, p[0]))]);
    let none = ir.add_action("none", &[], |_, _| Vec::new());
    let key = Expr::var(&ir, address);
    let table = ir.add_table("bearers", vec![("ue", key, MatchKind::Exact)], &[set, none], none);
    ir.program.tables[table].split = true;
    *ir.ingress_mut() = vec![Stmt::Apply { table, hit: None, action_run: None }];
    p4_ir::verify(&ir).unwrap();
    ir
}

/// Table I measures 9.08 %, 15.03 % and 40.97 % of the cache with 1 K, 10 K and 64 K entries; there all tables lie behind the cache.
#[test]
fn the_cache_fills_as_it_was_measured() {
    let text = include_str!("../data/nfp4000.toml").replace("tables = true", "tables = false");
    let (before, cache) = text.split_once("name = \"EMU cache\"").unwrap();
    let text = format!("{before}name = \"EMU cache\"{}", cache.replacen("tables = false", "tables = true", 1));
    let chip = Chip::parse(&text).unwrap();
    let ir = bearer_table();
    for (entries, measured) in [(1 << 10, 9.08), (10 << 10, 15.03), (64 << 10, 40.97)] {
        let t = place_in_tiers(&ir, &chip, &Sizes::sessions(entries)).unwrap();
        let cache = t.tiers.iter().find(|t| t.name == "EMU cache").unwrap();
        assert!((cache.percent() - measured).abs() < 1.5, "{entries}: {} modelled, {measured} measured", cache.percent());
    }
}

#[test]
fn small_tables_lie_fast_and_large_ones_slow() {
    let chip = Chip::named("nfp4000").unwrap();
    let ir = bearer_table();
    let tier = |n| place_in_tiers(&ir, &chip, &Sizes::sessions(n)).unwrap().arrays[0].tier.clone();
    assert_eq!([tier(1000), tier(4000), tier(60_000)], ["CLS", "CTM", "IMU"]);
    let cycles = |n| place_in_tiers(&ir, &chip, &Sizes::sessions(n)).unwrap().memory_cycles;
    assert_eq!([cycles(1000), cycles(4000), cycles(60_000)], [100, 200, 500], "two accesses each");
    let t = place_in_tiers(&ir, &chip, &Sizes::sessions(60_000)).unwrap();
    // 150 for the packet, 60 for the look-up; nobody reads what the action writes, and there is no parser.
    assert_eq!((t.busy_cycles, t.bound), (210, "line"));
    assert!(t.to_string().contains("(modelled)"));
}

#[test]
fn more_than_a_table_or_a_tier_holds_is_refused() {
    let chip = Chip::named("nfp4000").unwrap();
    let ir = bearer_table();
    let refusal = place_in_tiers(&ir, &chip, &Sizes::sessions(65_537)).unwrap_err().to_string();
    assert!(refusal.contains("bearers: 65537 entries, a table has at most 65536"), "{refusal}");
    let text = include_str!("../data/nfp4000.toml").replace("2147483648", "1000000").replace("4194304", "4096").replace("6291456", "4096");
    let small = Chip::parse(&text).unwrap();
    let refusal = place_in_tiers(&ir, &small, &Sizes::sessions(60_000)).unwrap_err().to_string();
    assert!(refusal.contains("bearers: 1920000 bytes of memory needed, no tier has more than 390200 left"), "{refusal}");
    let few = Chip::parse(&include_str!("../data/nfp4000.toml").replace("tables = 256", "tables = 1")).unwrap();
    let mut two = bearer_table();
    let key = Expr::var(&two, two.standard("priority"));
    let none = two.program.action("none").unwrap();
    two.add_table("more", vec![("k", key, MatchKind::Exact)], &[none], none);
    assert!(place_in_tiers(&two, &few, &Sizes::default()).unwrap_err().to_string().contains("2 tables, there can be 1"));
    let tofino = Chip::named("tofino1").unwrap();
    assert!(place_in_tiers(&ir, &tofino, &Sizes::default()).is_err() && chip::place(&ir, &chip, &Sizes::default()).is_err());
}

/// Of two branches the dearer one counts, not both.
#[test]
fn a_packet_takes_one_of_two_branches() {
    let chip = Chip::named("nfp4000").unwrap();
    let mut ir = bearer_table();
    let one = ir.ingress_mut().remove(0);
    let key = Expr::var(&ir, ir.standard("ingress_port"));
    let none = ir.program.action("none").unwrap();
    let other = ir.add_table("ports", vec![("port", key, MatchKind::Exact)], &[none], none);
    let is = Expr::binary(p4_ir::BinOp::Eq, Expr::var(&ir, ir.standard("ingress_port")), Expr::bit(9, 1));
    *ir.ingress_mut() = vec![Stmt::If(is, vec![one], vec![Stmt::Apply { table: other, hit: None, action_run: None }])];
    let t = place_in_tiers(&ir, &chip, &Sizes::sessions(1000)).unwrap();
    // The table of ports found no room in the fastest tier, so its branch is the dearer one.
    assert_eq!(t.arrays.iter().map(|a| a.tier.as_str()).collect::<Vec<_>>(), ["CLS", "CTM"]);
    assert_eq!((t.busy_cycles, t.memory_cycles), (150 + 3 + 60, 2 * 100));
}
