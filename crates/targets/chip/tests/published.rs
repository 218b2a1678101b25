//! Constructs of programs that their authors ran on the chip: are they taken, in no more stages than there, or refused by name?

use chip::{Chip, Placement, Sizes};

/// `tests/tna/construct.p4` around declarations, statements of ingress and of the parser's state.
fn place(declarations: &str, statements: &str, parsed: &str) -> Result<Placement, String> {
    let around = std::fs::read_to_string("tests/tna/construct.p4").unwrap();
    let text = around.replace("DECLARATIONS", declarations).replace("STATEMENTS", statements);
    place_text(&text.replacen("meta.f = 0;", &format!("meta.f = 0; {parsed}"), 1))
}

fn place_text(text: &str) -> Result<Placement, String> {
    let mut ir = p4_check::compile_for_chip_str("own.p4", text, &p4_check::Options::default()).map_err(|f| f.render())?.ir;
    p4_passes::optimise(&mut ir).unwrap();
    chip::place(&ir, &Chip::named("tofino1").unwrap(), &Sizes::default()).map_err(|r| r.to_string())
}

fn stage(p: &Placement, name: &str) -> usize {
    p.stages.iter().position(|s| s.parts.iter().any(|part| part.name == name)).unwrap_or_else(|| panic!("{name}: {p}"))
}

/// Trees of decisions: a table for each feature writes its bits of a codeword, and one table looks the whole up.
#[test]
fn tables_that_write_other_bits_of_a_wide_variable_share_a_stage() {
    let of = |width: u32, first: &str, second: &str| {
        let table = |name: &str, key: &str, bits: &str, width: &str| {
            format!(
                "action set_{name}(bit<{width}> code) {{ codes[{bits}] = code; }}
                table {name} {{ key = {{ {key}: ternary; }} actions = {{ set_{name}; @defaultonly NoAction; }}
                    default_action = NoAction(); size = 64; }}"
            )
        };
        let half = (width / 2).to_string();
        let both = format!(
            "bit<{width}> codes = 0; {} {}
            action leaf(bit<8> kind) {{ hdr.t.a = kind; }}
            table leaves {{ key = {{ codes: ternary; }} actions = {{ leaf; @defaultonly NoAction; }} default_action = NoAction(); size = 64; }}",
            table("one", "hdr.t.h", first, &half),
            table("two", "hdr.t.i", second, &half)
        );
        let p = place(&both, "one.apply(); two.apply(); leaves.apply();", "").unwrap_or_else(|r| panic!("{r}"));
        ["one", "two", "leaves"].map(|name| stage(&p, name))
    };
    assert_eq!(of(90, "89:45", "44:0"), [0, 0, 1], "wide ones lie in several containers, cut where they are written");
    assert_eq!(of(90, "89:45", "45:1"), [0, 1, 2], "one bit is written by both");
    assert_eq!(of(16, "15:8", "7:0"), [0, 0, 1]);
    assert_eq!(of(8, "7:4", "3:0"), [0, 1, 2], "both are in one byte");
}

/// A clock of 48 bits in two registers.
#[test]
fn what_a_register_says_goes_to_some_bits_of_a_variable_in_its_stage() {
    let register = |name: &str, width: u32| {
        format!(
            "Register<bit<{width}>, bit<8>>(256) {name};
            RegisterAction<bit<{width}>, bit<8>, bit<{width}>>({name}) read_{name} = {{ void apply(inout bit<{width}> value, out bit<{width}> rv) {{ rv = value; }} }};"
        )
    };
    let declarations = format!("bit<48> last = 0; {} {} ", register("low", 32), register("high", 16))
        + "action found(bit<8> kind) { hdr.t.a = kind; }
        table seen { key = { last: exact; } actions = { found; @defaultonly NoAction; } default_action = NoAction(); size = 64; }";
    let statements = "last[31:0] = read_low.execute(hdr.t.b); last[47:32] = read_high.execute(hdr.t.b); seen.apply();";
    let p = place(&declarations, statements, "").unwrap_or_else(|r| panic!("{r}"));
    assert_eq!(["low", "high", "seen"].map(|name| stage(&p, name)), [0, 0, 1], "{p}");
}

#[test]
fn the_smaller_of_two_is_one_instruction() {
    let smallest = |with: &str| {
        let table = "action found(bit<8> kind) { hdr.t.a = kind; }
            table ranks { key = { hdr.t.w: exact; } actions = { found; @defaultonly NoAction; } default_action = NoAction(); size = 64; }";
        stage(&place(table, &format!("hdr.t.w = {with}; ranks.apply();"), "").unwrap_or_else(|r| panic!("{r}")), "ranks")
    };
    assert_eq!(smallest("min(hdr.t.x, hdr.t.y)"), 1);
    assert_eq!(smallest("max(hdr.t.x, hdr.t.y)"), 1);
}

/// Which of its two conditions held is what an ALU says beside its cell.
#[test]
fn a_register_says_which_of_its_conditions_held() {
    let lock = |conditions: &str| {
        format!(
            "Register<bit<8>, bit<8>>(256) lock;
            RegisterAction<bit<8>, bit<8>, bit<4>>(lock) update = {{ void apply(inout bit<8> value, out bit<4> rv) {{
                bool first = hdr.t.c == 3; bool second = value + hdr.t.d == 1;
                rv = this.predicate({conditions});
                if (first && !second) {{ value = 0; }} else if (!first && second) {{ value = 10; }} }} }};"
        )
    };
    let p = place(&lock("first, second"), "hdr.t.a = (bit<8>)update.execute(hdr.t.b);", "").unwrap_or_else(|r| panic!("{r}"));
    assert_eq!(stage(&p, "lock"), 0);
    // Two comparators: a third condition is one too many, and only an ALU has them.
    let third = place(&lock("first, value == 7"), "hdr.t.a = (bit<8>)update.execute(hdr.t.b);", "").unwrap_err();
    assert!(third.contains("comparisons of the stateful ALU: 3 needed, there are 2"), "{third}");
    let outside = place("", "hdr.t.a = this.predicate(true, false);", "").unwrap_err();
    assert!(outside.contains("`this` may stand in the methods of an instance only"), "{outside}");
}

/// The chip's compiler writes such a shift as the bits that are left of it.
#[test]
fn bits_of_a_shift_are_no_operation() {
    let action = |value: &str| {
        let go = format!("action go() {{ hdr.t.h = {value}; }}");
        let table =
            "table t { key = { hdr.t.i: exact; } actions = { go; @defaultonly NoAction; } default_action = NoAction(); size = 64; }";
        place(&format!("{go} {table}"), "t.apply();", "").map(drop)
    };
    assert_eq!(action("(bit<16>)(hdr.t.x >> 16) + 1"), Ok(()));
    assert_eq!(action("hdr.t.k - (hdr.t.x << 8)[31:16]"), Ok(()));
    let two = action("(bit<16>)(hdr.t.x >> 20) + 1").unwrap_err();
    assert!(two.contains("make it two actions"), "zeros come in from above: {two}");
    let register = "Register<bit<16>, bit<8>>(256) r; RegisterAction<bit<16>, bit<8>, bit<16>>(r) go = {
        void apply(inout bit<16> value, out bit<16> rv) { value = value + (bit<16>)(hdr.t.x >> 16); rv = value; } };";
    assert!(place(register, "hdr.t.h = go.execute(hdr.t.a);", "").is_ok());
    assert_eq!(place("", "if ((bit<16>)(hdr.t.x >> 16) == 3) { hdr.t.b = 2; }", "").map(|p| p.stages_used()), Ok(1));
}

/// A parser's write may be ored with what is there; it computes nothing else.
#[test]
fn a_parser_sets_bits_in_what_is_there() {
    assert!(place("", "", "meta.m = meta.m | 5; meta.n = hdr.t.h | meta.n;").is_ok());
    assert!(place("", "", "meta.m = (bit<16>)(hdr.t.x >> 16);").is_ok());
    let sum = place("", "if (meta.m == 3) { hdr.t.a = 1; }", "meta.m = hdr.t.h + 5;").unwrap_err();
    assert!(sum.contains("the parser cannot compute (hdr.t.h + 16w0x5)"), "{sum}");
    let other = place("", "if (meta.m == 3) { hdr.t.a = 1; }", "meta.m = hdr.t.h | hdr.t.i;").unwrap_err();
    assert!(other.contains("the parser cannot compute"), "{other}");
}

/// Options of a header: for each length a state of the parser, and pieces that nobody but the deparser sees.
#[test]
fn a_field_of_variable_length_is_extracted_and_emitted() {
    let around = std::fs::read_to_string("tests/tna/construct.p4").unwrap();
    let with = |extract: &str, statements: &str| {
        let text = around
            .replace(
                "struct headers_t { tag_h t; }",
                "header options_h { varbit<320> o; } struct headers_t { tag_h t; options_h o; options_h p; }",
            )
            .replace("packet.extract(hdr.t); meta.m = 0;", "packet.extract(hdr.t); meta.m = 0; transition options; } state options {")
            .replacen("meta.n = 0; meta.o = 0; meta.f = 0; transition accept; }", &format!("{extract} transition accept; }}"), 1)
            .replace("apply { packet.emit(hdr.t); }", "apply { packet.emit(hdr.t); packet.emit(hdr.o); }")
            .replace("DECLARATIONS", "")
            .replace("STATEMENTS", statements);
        place_text(&text).map(|p| (p.parsers[0].depth_bytes, p.parsers[0].tcam_rows, p.parsers[0].deparser_entries))
    };
    let (none, rows, pieces) = with("", "").unwrap();
    assert_eq!(with("packet.extract(hdr.o, 64);", ""), Ok((none + 8, rows, pieces + 2)));
    // 5 to 15 words: 11 lengths, of which three take two steps, and 16 values to be told apart.
    let ihl = "packet.extract(hdr.o, (bit<32>)(hdr.t.a[3:0] - 5) * 32);";
    assert_eq!(with(ihl, ""), Ok((none + 40, rows + 16 + 11 + 3, pieces + 10)));
    let said = |extract: &str, statements: &str| with(extract, statements).unwrap_err();
    let bits = said("packet.extract(hdr.o, (bit<32>)hdr.t.a[3:0]);", "");
    assert!(bits.contains("options: the length of a field of variable length must be a constant, or follow in whole bytes"), "{bits}");
    let wide = said("packet.extract(hdr.o, (bit<32>)hdr.t.h * 8);", "");
    assert!(wide.contains("from one field of at most 10 bits"), "{wide}");
    let behind = said("packet.extract(hdr.o, 64); packet.extract(hdr.p, 32);", "");
    assert!(behind.contains("must be the last that a state extracts"), "{behind}");
    for use_ in ["hdr.o.setValid();", "hdr.o = hdr.p;", "if (hdr.o.o == hdr.p.o) { hdr.t.a = 1; }"] {
        let refused = said(ihl, use_);
        assert!(refused.contains("fields of variable length are extracted and emitted only"), "{use_}: {refused}");
    }
}

/// What an instruction cannot hold is in action memory: a container of which the constant is too large, and several flags, which are set under a
/// mask. An encapsulation took too few blocks by two fifths.
#[test]
fn constants_of_an_encapsulation_are_action_data() {
    let around = std::fs::read_to_string("tests/tna/construct.p4").unwrap();
    let blocks = |set: &str| {
        let action = format!(
            "bit<1> known = 0; bit<2> way = 0; action go(bit<32> teid) {{ hdr.e.setValid(); hdr.e.teid = teid; {set} }}
            table t {{ key = {{ hdr.t.x: exact; }} actions = {{ go; @defaultonly NoAction; }} default_action = NoAction(); size = 16384; }}"
        );
        let text = around
            .replace(
                "struct headers_t { tag_h t; }",
                "header e_h { bit<16> src; bit<16> dst; bit<32> teid; bit<16> rest; } struct headers_t { tag_h t; e_h e; }",
            )
            .replace("apply { packet.emit(hdr.t); }", "apply { packet.emit(hdr.t); packet.emit(hdr.e); }")
            .replace("DECLARATIONS", &action)
            .replace("STATEMENTS", "t.apply(); if (known == 1 && way == 2) { hdr.t.a = 1; }");
        place_text(&text).unwrap_or_else(|r| panic!("{r}")).tables[0].sram_blocks
    };
    let plain = blocks("");
    assert_eq!(blocks("hdr.e.src = 2152; hdr.e.rest = 2152;"), plain, "each is in a container of its own");
    assert_eq!(blocks("hdr.e.src = 1; hdr.e.dst = 2;"), plain, "an instruction holds 21 bits of a container");
    // 32 bits more do not go with the entry: they are four in a row of action data.
    assert_eq!(blocks("hdr.e.src = 2152; hdr.e.dst = 2152;"), plain + 4);
    assert_eq!(blocks("known = 1;"), plain, "one flag is an instruction");
    assert_eq!(blocks("known = 1; way = 2;"), plain + 2);
}

/// The same with a control before ingress, and other containers than Tofino 1's if wanted.
fn place_with(control: &str, declarations: &str, statements: &str, chip: &str) -> Result<Placement, String> {
    let around = std::fs::read_to_string("tests/tna/construct.p4").unwrap();
    let text = around.replace("DECLARATIONS", declarations).replace("STATEMENTS", statements);
    let text = text.replacen("control Ingress(", &format!("{control}\ncontrol Ingress("), 1);
    let mut ir = p4_check::compile_for_chip_str("own.p4", &text, &p4_check::Options::default()).map_err(|f| f.render())?.ir;
    p4_passes::optimise(&mut ir).unwrap();
    chip::place(&ir, &Chip::parse(chip).unwrap(), &Sizes::default()).map_err(|r| r.to_string())
}

const TOFINO1: &str = include_str!("../data/tofino1.toml");

/// A sum of values: each control had two words of its own, and a stage before and behind it.
#[test]
fn a_field_that_a_control_gets_and_gives_back_is_no_copy() {
    let control = "control Sum(in bit<32> value, out bit<32> sum, in bit<8> at) {
        Register<bit<32>, bit<8>>(256) sums;
        RegisterAction<bit<32>, bit<8>, bit<32>>(sums) add = { void apply(inout bit<32> kept, out bit<32> rv) { kept = kept + value; rv = kept; } };
        action added() { sum = add.execute(at); }
        table what { key = { at: exact; } actions = { added; NoAction; } default_action = NoAction(); size = 64; }
        apply { what.apply(); } }";
    let table = "action found(bit<8> kind) { hdr.t.c = kind; }
        table sums { key = { hdr.t.x: exact; } actions = { found; @defaultonly NoAction; } default_action = NoAction(); size = 64; }";
    let with = |to: &str| {
        let p = place_with(control, &format!("Sum() sum; {table}"), &format!("sum.apply(hdr.t.x, {to}, hdr.t.b); sums.apply();"), TOFINO1);
        let p = p.unwrap_or_else(|r| panic!("{r}"));
        (stage(&p, "sums"), p.phv.bits)
    };
    // What comes back to another field is moved there by the table's own action: it is never a field beside.
    let (same, bits) = with("hdr.t.x");
    assert_eq!(same, 1, "the table that looks at the sum is right behind the one that makes it");
    let (_, other) = with("hdr.t.y");
    assert!(bits < other, "{bits} of {other} bits: only the other field's word comes on top");
    assert!(other - bits <= 32, "{bits} of {other} bits");
}

/// All that a control gets was copied, there and back, because one field of it goes by itself too.
#[test]
fn a_header_that_a_control_gets_beside_its_own_field_is_no_copy() {
    let control = "control Most(in bit<16> value, out bit<16> most, inout tag_h t) { apply {
        if (t.a == 1) { most = t.i; } else { most = value; } t.d = 3; } }";
    let table = "action found(bit<8> kind) { hdr.t.c = kind; }
        table ways { key = { hdr.t.b: exact; } actions = { found; @defaultonly NoAction; } default_action = NoAction(); size = 64; }";
    let p = place_with(control, &format!("Most() most; {table}"), "most.apply(hdr.t.h, hdr.t.h, hdr.t); ways.apply();", TOFINO1);
    let p = p.unwrap_or_else(|r| panic!("{r}"));
    assert_eq!(stage(&p, "ways"), 0, "nobody changes its key: {p}");
    assert!(p.phv.bits <= 28 * 8 + 64, "{} bits: a header of 28 bytes, metadata, and what goes in and out", p.phv.bits);
}

/// A queue pair's number is made of two pieces of a field.
#[test]
fn an_index_of_picked_bits_goes_to_the_cells_in_the_stage_of_their_table() {
    let register = "Register<bit<32>, bit<8>>(256) r; RegisterAction<bit<32>, bit<8>, bit<32>>(r) read = {
        void apply(inout bit<32> value, out bit<32> rv) { value = value + 1; rv = value; } };
        action take() { hdr.t.y = read.execute(INDEX); }
        table t { key = { hdr.t.h: exact; } actions = { take; @defaultonly NoAction; } default_action = NoAction(); size = 64; }";
    let stages = |index: &str| place(&register.replace("INDEX", index), "t.apply();", "").map(|p| p.stages_used());
    assert_eq!(stages("hdr.t.a"), Ok(1));
    assert_eq!(stages("hdr.t.x[20:17] ++ hdr.t.x[3:0]"), Ok(1));
}

/// Who has been seen, and whether this one is among them.
#[test]
fn what_is_copied_and_worked_on_is_one_step() {
    let action = |set: &str| {
        let go = format!("action go() {{ {set} }}");
        let table =
            "table t { key = { hdr.t.h: exact; } actions = { go; @defaultonly NoAction; } default_action = NoAction(); size = 64; }";
        place(&format!("{go} {table}"), "t.apply();", "").map(|p| p.stages_used())
    };
    assert_eq!(action("hdr.t.x = hdr.t.y; hdr.t.z = hdr.t.x & hdr.t.w;"), Ok(1));
    // The copy keeps what was there before.
    assert_eq!(action("hdr.t.x = hdr.t.y; hdr.t.y = hdr.t.w; hdr.t.z = hdr.t.x & hdr.t.w;"), Ok(2));
    let register = "Register<bit<32>, bit<8>>(256) seen; RegisterAction<bit<32>, bit<8>, bit<32>>(seen) mark = {
        void apply(inout bit<32> value, out bit<32> rv) { rv = value; value = value | hdr.t.x; } };
        action go() { hdr.t.y = mark.execute(hdr.t.a); hdr.t.z = hdr.t.y & hdr.t.x; }
        table t { key = { hdr.t.h: exact; } actions = { go; @defaultonly NoAction; } default_action = NoAction(); size = 64; }";
    assert_eq!(place(register, "t.apply();", "").map(|p| p.stages_used()), Ok(1));
}

/// The second generation has containers that compute nothing, and what no stage looks at need not lie in any.
#[test]
fn what_stages_only_read_or_set_lies_in_containers_that_compute_nothing() {
    let chip = |more: &str| TOFINO1.replacen("tagalong = [", &format!("{more}\ntagalong = ["), 1);
    let read_only = chip("read_only = [{ bits = 32, count = 16 }, { bits = 16, count = 24 }, { bits = 8, count = 16 }]");
    let bits = |chip: &str, statements: &str| place_with("", "", statements, chip).map(|p| p.phv.bits);
    let both = |statements: &str| {
        let (all, some) = (bits(TOFINO1, statements).unwrap(), bits(&read_only, statements).unwrap());
        all - some
    };
    assert_eq!(both("if (hdr.t.x == 1) { hdr.t.y = 7; }"), 64, "one is read, one is set");
    assert_eq!(both("if (hdr.t.x == 1) { hdr.t.y = hdr.t.y + 7; }"), 32, "what is computed lies where it can be");
    assert_eq!(both("if (hdr.t.x == 1) { hdr.t.y[7:0] = hdr.t.a; }"), 40, "a part of a container is set by what computes");
    let without = |more: &str| {
        let from = TOFINO1.find("tagalong = [").unwrap();
        let to = from + TOFINO1[from..].find('\n').unwrap();
        format!("{}tagalong = []\n{more}{}", &TOFINO1[..from], &TOFINO1[to..])
    };
    // 28 bytes of which four are read.
    let read = "if (hdr.t.w == 1) { for_tm.ucast_egress_port = 2; }";
    let pieces = "pieces = { count = 16, bytes = 64 }\n";
    let (contained, left) = (bits(&without(""), read).unwrap(), bits(&without(pieces), read).unwrap());
    assert!(contained >= left + 24 * 8, "{contained} and {left} bits");
    // A piece is as long as it can be.
    assert_eq!(bits(&without("pieces = { count = 2, bytes = 1 }\n"), read), Ok(contained));
}

/// A program says by them for which generation it is, and which compiler has it.
#[test]
fn a_chip_has_the_macros_of_its_compiler() {
    let of = |chip: &str| Chip::named(chip).unwrap().macros;
    let generation = |chip: &str| of(chip).get("__TARGET_TOFINO__").cloned();
    assert_eq!(["tofino1", "tofino2", "nfp4000"].map(generation), [Some("1".to_owned()), Some("2".to_owned()), None]);
    assert!(["__p4c__", "__p4c_major__", "__p4c_minor__", "__p4c_patchlevel__"].iter().all(|name| of("tofino2").contains_key(*name)));
    let text = "#if __TARGET_TOFINO__ == 2\n#include <t2na.p4>\n#elif __TARGET_TOFINO__ == 1 && __p4c_major__ >= 9\n#include <tna.p4>\n#else\n#error other\n#endif\n";
    let around = std::fs::read_to_string("tests/tna/construct.p4").unwrap().replace("#include <core.p4>\n#include <tna.p4>\n", text);
    let text = around.replace("DECLARATIONS", "").replace("STATEMENTS", "");
    for chip in ["tofino1", "tofino2"] {
        let chip = Chip::named(chip).unwrap();
        let options = p4_check::Options { defines: chip.macros.clone().into_iter().collect(), ..Default::default() };
        let ir = p4_check::compile_for_chip_str("own.p4", &text, &options).unwrap_or_else(|f| panic!("{}", f.render())).ir;
        let depth = chip::place(&ir, &chip, &Sizes::default()).unwrap_or_else(|r| panic!("{r}")).parsers[0].depth_bytes;
        assert_eq!(depth, if chip.name == "tofino2" { 8 + 24 + 28 } else { 8 + 8 + 28 }, "a port's metadata is of the generation");
    }
    let wrong = include_str!("../data/tofino1.toml").replacen("__p4c__ =", "\"no name\" =", 1);
    assert!(Chip::parse(&wrong).unwrap_err().to_string().contains("`no name` is no name of a macro"));
}
