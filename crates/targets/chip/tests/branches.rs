//! What a packet does on one way only binds nothing on another: tables behind a hit or a miss, what one action writes, tables that share an
//! action profile; and what is side by side in one place.

use chip::{Chip, Placement, Refusal, Sizes};

/// `tests/tna/externs.p4` with declarations ahead of `apply` and statements at its beginning.
fn place(declarations: &str, statements: &str) -> Result<Placement, Refusal> {
    let text = std::fs::read_to_string("tests/tna/externs.p4").unwrap();
    let text = text.replacen("    apply {\n        tenants.apply();", &format!("{declarations}\n    apply {{\n{statements}"), 1);
    let compiled = p4_check::compile_for_chip_str("own.p4", &text, &p4_check::Options::default());
    let mut ir = compiled.unwrap_or_else(|f| panic!("{}", f.render())).ir;
    p4_passes::optimise(&mut ir).unwrap();
    chip::place(&ir, &Chip::named("tofino1").unwrap(), &Sizes::default())
}

fn stage(p: &Placement, name: &str) -> usize {
    p.stages.iter().position(|s| s.parts.iter().any(|part| part.name == name)).unwrap_or_else(|| panic!("{name}: {p}"))
}

/// The chip's compiler has the same rule: its users must exclude each other. What was refused was a shared profile of any kind.
#[test]
fn tables_share_a_profile_if_no_packet_uses_it_in_both() {
    let others = "table others {
        key = { hdr.tag.kind: exact; }
        actions = { send; @defaultonly NoAction; }
        const default_action = NoAction();
        implementation = ways;
        size = 512;
    }";
    let p = place(others, "if (!tenants.apply().hit) { others.apply(); }").unwrap_or_else(|r| panic!("{r}"));
    assert_eq!(p.capacity("Ingress.ways.members"), Some(256));
    let twice = place(others, "tenants.apply(); others.apply();").unwrap_err().to_string();
    assert!(twice.contains("table Ingress.ways.members: a packet can reach it twice"), "{twice}");
}

#[test]
fn a_table_behind_a_miss_waits_only_for_what_a_miss_writes() {
    let table = |name: &str, default: &str| {
        format!(
            "table {name} {{
                key = {{ hdr.tag.id: exact; }}
                actions = {{ send; @defaultonly NoAction; @defaultonly none; }}
                {default};
                size = 512;
            }}"
        )
    };
    let both = |default: &str, second: &str| {
        let none = "action none() { for_tm.ucast_egress_port = 7; }";
        let p = place(&format!("{none} {} {}", table("first", default), table("second", "const default_action = NoAction()")), second);
        let p = p.unwrap_or_else(|r| panic!("{r}"));
        (stage(&p, "first"), stage(&p, "second"))
    };
    let behind_miss = "if (!first.apply().hit) { second.apply(); }";
    let (first, second) = both("const default_action = NoAction()", behind_miss);
    assert_eq!(first, second, "only what was found has set the port");
    let (first, second) = both("const default_action = none()", behind_miss);
    assert!(first < second, "the default sets it too");
    let (first, second) = both("default_action = NoAction()", behind_miss);
    assert!(first < second, "and any may, if the control plane chooses it");
    let (first, second) = both("const default_action = NoAction()", "if (first.apply().hit) { second.apply(); }");
    assert!(first < second);
    let of_another = "switch (first.apply().action_run) { NoAction: { second.apply(); } default: { } }";
    let (first, second) = both("default_action = none()", of_another);
    assert_eq!(first, second, "the other actions have not run");
}

#[test]
fn parts_of_a_field_are_written_side_by_side() {
    let last = |writes: &str| {
        let set = format!("action set(bit<16> low) {{ {writes} }}");
        let table = "table parts { key = { hdr.tag.id: exact; } actions = { set; } size = 512; }";
        let read = "parts.apply(); if (meta.bytes == 5) { hdr.tag.kind = 9; }";
        place(&format!("{set} {table}"), read)
            .unwrap_or_else(|r| panic!("{r}"))
            .stages
            .iter()
            .flat_map(|s| &s.parts)
            .filter(|p| p.name.starts_with("parts"))
            .count()
    };
    assert_eq!(last("meta.bytes[15:0] = low; meta.bytes[31:16] = hdr.tag.kind;"), 1);
    assert_eq!(last("meta.bytes[15:0] = low; meta.bytes[16:1] = hdr.tag.kind;"), 2, "the second is over the first");
    assert_eq!(last("meta.bytes[15:0] = low; meta.bytes[31:16] = meta.bytes[15:0];"), 2, "it reads the first");
}

/// Hash rounds are sums, and beside them something that is only looked at behind them: all of the row waited for all of the row.
#[test]
fn what_has_nothing_to_do_with_each_other_does_not_wait_for_each_other() {
    let table = "table kinds { key = { hdr.tag.kind: exact; } actions = { send; @defaultonly NoAction; } size = 512;
        default_action = NoAction(); }";
    let sums = "meta.bytes = meta.bytes + meta.seen; meta.bytes = meta.bytes ^ meta.seen; meta.bytes = meta.bytes + (bit<32>)hdr.tag.id;";
    let p = place(table, &format!("{sums} hdr.tag.kind = hdr.tag.id + 1; kinds.apply();")).unwrap_or_else(|r| panic!("{r}"));
    assert_eq!(stage(&p, "kinds"), 1);
    let p = place(table, &format!("{sums} hdr.tag.kind = meta.bytes[15:0] + 1; kinds.apply();")).unwrap_or_else(|r| panic!("{r}"));
    assert_eq!(stage(&p, "kinds"), 4);
}

#[test]
fn constants_that_are_added_one_after_the_other_are_one() {
    let steps = |sum: &str| {
        let table = "table sizes { key = { meta.bytes: exact; } actions = { send; @defaultonly NoAction; } size = 512;
            default_action = NoAction(); }";
        stage(&place(table, &format!("meta.bytes = {sum}; sizes.apply();")).unwrap_or_else(|r| panic!("{r}")), "sizes")
    };
    assert_eq!(steps("meta.seen + 20 + 8 - 14"), 1);
    assert_eq!(steps("meta.seen + 20; meta.bytes = meta.bytes + meta.seen"), 2);
}

#[test]
fn exclusive_ors_are_one_hash_and_what_is_overwritten_is_nothing() {
    let steps = |statements: &str| {
        let table = "table sizes { key = { meta.bytes: exact; } actions = { send; @defaultonly NoAction; } size = 512;
            default_action = NoAction(); }";
        stage(&place(table, &format!("{statements} sizes.apply();")).unwrap_or_else(|r| panic!("{r}")), "sizes")
    };
    assert_eq!(steps("meta.bytes = meta.seen ^ meta.bytes ^ (bit<32>)hdr.tag.id ^ (bit<32>)hdr.tag.kind;"), 1);
    assert_eq!(
        steps("meta.bytes = meta.bytes + (bit<32>)hdr.tag.id; meta.bytes = meta.seen ^ meta.bytes ^ (bit<32>)hdr.tag.kind;"),
        2,
        "a sum is none"
    );
    assert_eq!(steps("meta.bytes = meta.seen + 1; hdr.tag.kind = 5; hdr.tag.kind = 6; meta.bytes = (bit<32>)hdr.tag.id;"), 1);
    let parts = "hdr.tag.kind = meta.left; hdr.tag.kind = 6; meta.bytes = (bit<32>)(hdr.tag.kind + 1);";
    assert_eq!(steps(parts), steps("hdr.tag.kind = 6; meta.bytes = (bit<32>)(hdr.tag.kind + 1);"));
}

/// The hash unit gives an index to a stage's cells in that stage, and what they say is an operand of its instructions.
#[test]
fn a_hash_is_an_index_and_what_cells_say_an_operand_of_their_stage() {
    let declarations = "Hash<bit<16>>(HashAlgorithm_t.CRC32) places;
        table said { key = { meta.bytes: exact; } actions = { send; @defaultonly NoAction; } size = 512;
        default_action = NoAction(); }";
    let behind = |statements: &str| {
        let text = std::fs::read_to_string("tests/tna/externs.p4").unwrap();
        // The register's own use further on would be a second one.
        let text = text.replacen("meta.seen = meta.seen + latest.execute(0);", "", 1);
        let own = format!("{declarations}\n    apply {{\n{statements} said.apply();");
        let text = text.replacen("    apply {\n        tenants.apply();", &own, 1);
        let compiled = p4_check::compile_for_chip_str("own.p4", &text, &p4_check::Options::default());
        let mut ir = compiled.unwrap_or_else(|f| panic!("{}", f.render())).ir;
        p4_passes::optimise(&mut ir).unwrap();
        let p = chip::place(&ir, &Chip::named("tofino1").unwrap(), &Sizes::default()).unwrap_or_else(|r| panic!("{r}"));
        stage(&p, "said")
    };
    assert_eq!(behind("bit<16> at = places.get({ hdr.tag.id }); meta.bytes = latest.execute((bit<1>)at);"), 1);
    assert_eq!(behind("bit<16> at = hdr.tag.id + 1; meta.bytes = latest.execute((bit<1>)at);"), 2, "a sum is a field first");
    assert_eq!(behind("meta.bytes = meta.seen + latest.execute(0);"), 1);
    assert_eq!(behind("meta.bytes = (bit<32>)places.get({ hdr.tag.id });"), 1);
}

/// What keeps the outcome of a condition is no step before another condition.
#[test]
fn a_condition_by_its_name_is_the_condition() {
    let gate = |statements: &str| {
        let p = place("", statements).unwrap_or_else(|r| panic!("{r}"));
        p.stages.iter().position(|s| s.parts.iter().any(|x| x.kind == chip::Kind::Gateway && x.name.contains("same"))).unwrap_or(usize::MAX)
    };
    let queues = "if (same) { for_tm.qid = 1; } else { for_tm.qid = 2; }";
    let named = "bool same = hdr.tag.id == 5 && hdr.tag.kind == 6;";
    assert_eq!(gate(&format!("{named} {queues}")), 0);
    let changed = "bool same = hdr.tag.id == 5 && hdr.tag.kind == 6; hdr.tag.id = 7;";
    assert_eq!(gate(&format!("{changed} {queues}")), 1, "the field is another by then");
}

#[test]
fn a_condition_and_a_table_behind_it_are_one_logical_table() {
    let table = |name: &str| {
        format!(
            "table {name} {{ key = {{ hdr.tag.id: exact; }} actions = {{ send; @defaultonly NoAction; }} size = 512; default_action = NoAction(); }}"
        )
    };
    let tables = |statements: &str| {
        let p = place(&format!("{} {}", table("one"), table("two")), statements).unwrap_or_else(|r| panic!("{r}"));
        p.stages.iter().map(|s| s.used[chip::Resource::LogicalTables]).sum::<u64>()
    };
    let alone = tables("one.apply();");
    assert_eq!(tables("if (hdr.tag.kind == 3) { one.apply(); }"), alone);
    assert_eq!(tables("if (hdr.tag.kind == 3) { if (hdr.tag.id == 4) { one.apply(); } else { two.apply(); } }"), alone + 2);
}
