//! Does the model refuse what the chip's compiler refuses, and nothing that it takes? One construct at a time, with the compiler's verdict.

use chip::{Chip, Sizes};

#[test]
fn the_model_says_of_each_construct_what_the_chips_compiler_says() {
    let around = std::fs::read_to_string("tests/tna/construct.p4").unwrap();
    let list = std::fs::read_to_string("tests/tna/constructs.txt").unwrap();
    let chip = Chip::named("tofino1").unwrap();
    let (mut taken, mut refused, mut wrong) = (0, 0, Vec::new());
    for line in list.lines().filter(|l| !l.starts_with('#')) {
        let [verdict, name, declarations, statements] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let text = around.replace("DECLARATIONS", declarations).replace("STATEMENTS", statements);
        let placed = match p4_check::compile_for_chip_str(name, &text, &p4_check::Options::default()) {
            Ok(compiled) => {
                let mut ir = compiled.ir;
                p4_passes::optimise(&mut ir).unwrap();
                chip::place(&ir, &chip, &Sizes::default()).map(drop).map_err(|r| r.to_string())
            }
            Err(f) => Err(f.render()),
        };
        let right = match verdict {
            "takes" => placed.is_ok(),
            "refuses" => placed.is_err(),
            "unseen" => placed.is_ok(),
            _ => panic!("{line}"),
        };
        taken += u64::from(verdict == "takes");
        refused += u64::from(verdict == "refuses");
        if !right {
            wrong.push(format!("{name}: the compiler {verdict} it, the model: {placed:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(taken >= 80 && refused >= 60, "{taken} taken, {refused} refused");
}

/// What a program that does not fit is told: the place, the fault and the way out.
#[test]
fn a_refusal_says_where_and_what_to_do() {
    let around = std::fs::read_to_string("tests/tna/construct.p4").unwrap();
    let said = |declarations: &str, statements: &str| {
        let text = around.replace("DECLARATIONS", declarations).replace("STATEMENTS", statements);
        let mut ir =
            p4_check::compile_for_chip_str("own.p4", &text, &p4_check::Options::default()).unwrap_or_else(|f| panic!("{}", f.render())).ir;
        p4_passes::optimise(&mut ir).unwrap();
        chip::place(&ir, &Chip::named("tofino1").unwrap(), &Sizes::default()).unwrap_err().to_string()
    };
    let table = |action: &str| {
        format!(
            "action go(bit<8> p) {{ {action} }}
            table t {{ key = {{ hdr.t.h: exact; }} actions = {{ go; @defaultonly NoAction; }} default_action = NoAction(); size = 64; }}"
        )
    };
    let decides = said(&table("if (hdr.t.a == 1) { hdr.t.b = p; }"), "t.apply();");
    assert!(decides.contains("t.go: an action cannot decide by (hdr.t.a == 8w0x1)"), "{decides}");
    let steps = said(&table("hdr.t.x = hdr.t.y + hdr.t.z; hdr.t.w = hdr.t.x + 1;"), "t.apply();");
    assert!(steps.contains("make it two actions"), "{steps}");
    let register = "Register<bit<16>, bit<8>>(256) r;
        RegisterAction<bit<16>, bit<8>, bit<16>>(r) go = { void apply(inout bit<16> value) { value = value >> 4; } };";
    let shifts = said(register, "go.execute(hdr.t.a);");
    assert!(shifts.contains("r: the stateful ALU does one sum or logical operation"), "{shifts}");
    let condition = said("", "if (hdr.t.h > 1600) { hdr.t.b = 1; }");
    assert!(condition.contains("16 for more or less; there is room for 4 bytes"), "{condition}");
}
