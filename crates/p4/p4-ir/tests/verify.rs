//! Every invariant has a program that breaks it, and the sample program breaks none.

use p4_ir::*;
use program::{CountUnit, Entry, KeyMatch, LengthSource, MatchKind};

/// A small but complete program: parse, one table with a direct counter, deparse.
fn sample() -> Ir {
    let mut ir = Ir::v1model("sample.p4");
    let eth = ir.add_header_type("ethernet_t", &[("dst", 48), ("src", 48), ("etype", 16)], None);
    let opt = ir.add_header_type("opt_t", &[("len", 8)], Some(("data", 320)));
    let h = ir.add_header("hdr.eth", eth);
    let o = ir.add_header("hdr.opt", opt);
    let s = ir.add_stack("hdr.tags", eth, 2);
    let flag = ir.add_var("meta.flag", Ty::Bool);
    let next = ir.add_state(
        "more",
        vec![
            Stmt::Extract { header: HeaderRef::Static(o), varbit_bits: Some(Expr::bit(32, 8)) },
            Stmt::Extract { header: HeaderRef::Next(s), varbit_bits: None },
        ],
        Transition::Goto(Next::Accept),
    );
    let key = Expr::field(&ir, h, "etype");
    let select = Transition::Select {
        keys: vec![key.clone()],
        cases: vec![
            SelectCase { sets: vec![KeySet::Value { value: Bits::new(16, 0x800), mask: Bits::new(16, 0xffff) }], next: Next::State(next) },
            SelectCase { sets: vec![KeySet::Any], next: Next::Accept },
        ],
    };
    ir.parser_mut().start = None;
    ir.add_state("start", vec![Stmt::Extract { header: HeaderRef::Static(h), varbit_bits: None }], select);
    let port = ir.standard("egress_spec");
    let fwd = ir.add_action("fwd", &[("port", 9)], |ir, p| vec![Stmt::Assign(LValue::Var(port), Expr::var(ir, p[0]))]);
    let drop = ir.add_action("drop", &[], |_, _| vec![Stmt::Extern(Extern::MarkToDrop), Stmt::Exit]);
    let t = ir.add_table("t", vec![("hdr.eth.etype", key, MatchKind::Exact)], &[fwd, drop], drop);
    let c = ir.add_counter("t_counter", 1024, Some(t));
    ir.actions[fwd].body.push(Stmt::Extern(Extern::DirectCount(c)));
    ir.actions[drop].body.insert(0, Stmt::Extern(Extern::DirectCount(c)));
    ir.program.tables[t].entries.push(Entry { table: t, keys: vec![KeyMatch::Exact(0x800)], priority: 0, action: fwd, args: vec![1] });
    let l = ir.add_label("done");
    *ir.ingress_mut() = vec![Stmt::Labeled(
        l,
        vec![
            Stmt::Apply { table: t, hit: Some(flag), action_run: None },
            Stmt::If(Expr::var(&ir, flag), vec![Stmt::Break(l)], vec![]),
            Stmt::SetValid(HeaderRef::Static(h), false),
        ],
    )];
    *ir.deparser_mut() = vec![Stmt::Emit(HeaderRef::Static(h)), Stmt::Emit(HeaderRef::Static(o))];
    ir
}

#[test]
fn the_sample_is_sound() {
    assert_eq!(verify(&sample()), Ok(()));
    assert_eq!(verify(&Ir::new(Architecture::V1Model)), Ok(()));
}

#[test]
fn the_sample_prints_as_expected() {
    let text = sample().to_string();
    let tail = &text[text.find("action action0").expect("actions are printed")..];
    assert_eq!(
        tail,
        "\
action action0 fwd(port: 9 = fwd.port) {
  standard_metadata.egress_spec = fwd.port
  t_counter.count()
}
action action1 drop() {
  t_counter.count()
  mark_to_drop
  exit
}
table table0 t size 1024 {
  key hdr.eth.etype: bit<16> exact = hdr.eth.etype
  action fwd
  action drop
  default drop()
  direct_counter t_counter
  entry 0: 0x800 -> fwd(0x1)
}
parser_init {}
start state1.start
state state0.more {
  extract hdr.opt, varbit 32w0x8
  extract hdr.tags.next
  goto accept
}
state state1.start {
  extract hdr.eth
  select (hdr.eth.etype) {
    (16w0x800) -> state0.more
    (_) -> accept
  }
}
verify_checksum {}
ingress {
  label0.done: {
    hit meta.flag, apply t
    if meta.flag {
      break label0.done
    }
    hdr.eth.setInvalid()
  }
}
egress {}
compute_checksum {}
deparser {
  emit hdr.eth
  emit hdr.opt
}
"
    );
    let head = "program sample.p4\nerrors NoError PacketTooShort";
    assert!(text.starts_with(head), "{text}");
    assert!(text.contains("header_type ht1 opt_t fixed_bits 8 {\n  len: bit<8> @0\n  data: varbit<320> @8\n}\n"), "{text}");
    assert!(text.contains("stack stack0 hdr.tags: hdr.tags[0] hdr.tags[1]\n"), "{text}");
}

/// Breaks the sample, and expects an error that says `expected`.
fn breaks(expected: &str, change: impl FnOnce(&mut Ir)) {
    let mut ir = sample();
    change(&mut ir);
    let errors = verify(&ir).expect_err(expected);
    assert!(errors.iter().any(|e| e.0.contains(expected)), "wanted {expected:?}, got {errors:?}");
    // Broken programs print too: that is how one looks at them.
    assert!(ir.to_string().starts_with("program"));
}

fn var(i: u32) -> VarId {
    VarId::from_u32(i)
}

fn expr(kind: ExprKind, ty: Ty) -> Expr {
    Expr { kind, ty }
}

/// `flag = <expr>` in ingress.
fn assign_flag(ir: &mut Ir, e: Expr) {
    let flag = ir.vars.iter().find(|(_, v)| v.name == "meta.flag").map(|(id, _)| id).expect("flag exists");
    ir.ingress_mut().push(Stmt::Assign(LValue::Var(flag), e));
}

#[test]
fn pipes_are_those_of_the_architecture() {
    breaks("blocks are not those of psa", |ir| ir.arch = Architecture::Psa);
    breaks("blocks are not those of v1model", |ir| {
        ir.pipes.push(Architecture::V1Model.pipes().into_iter().next().expect("one").1);
    });
    breaks("blocks are not those of v1model", |ir| ir.pipes.values_mut().for_each(|p| p.controls.swap(1, 2)));
}

#[test]
fn each_pipe_has_states_of_its_own() {
    let mut ir = Ir::new(Architecture::Psa);
    let end = || Transition::Goto(Next::Accept);
    let [a, b, shared] = ["a", "b", "shared"].map(|name| ir.add_state(name, vec![], end()));
    for (pipe, start) in ir.pipes.values_mut().zip([a, b]) {
        pipe.parser.start = Some(start);
    }
    ir.states[b].next = Transition::Goto(Next::State(shared));
    assert_eq!(verify(&ir), Ok(()));
    let text = ir.to_string();
    let order =
        ["architecture psa", "pipe0 ingress", "state0.a {", "ingress {}", "pipe1 egress", "state1.b {", "state2.shared {", "egress {}"];
    let places: Vec<usize> = order.iter().map(|line| text.find(line).unwrap_or_else(|| panic!("no {line:?} in {text}"))).collect();
    assert!(places.is_sorted(), "{text}");
    ir.states[a].next = Transition::Goto(Next::State(shared));
    let faults = verify(&ir).expect_err("shared");
    assert!(faults.iter().any(|f| f.0.contains("state2 is reached from two parsers")), "{faults:?}");
}

#[test]
fn ids_and_sizes() {
    breaks("no v999", |ir| assign_flag(ir, expr(ExprKind::Var(var(999)), Ty::Bool)));
    breaks("no h77", |ir| ir.deparser_mut().push(Stmt::Emit(HeaderRef::Static(HeaderId::from_u32(77)))));
    breaks("no stack7", |ir| ir.ingress_mut().push(Stmt::Push(StackId::from_u32(7), 1)));
    breaks("no table7", |ir| ir.ingress_mut().push(Stmt::Apply { table: TableId::from_u32(7), hit: None, action_run: None }));
    breaks("state9, which does not exist", |ir| ir.states[StateId::from_u32(0)].next = Transition::Goto(Next::State(StateId::from_u32(9))));
    breaks("states but no start", |ir| ir.parser_mut().start = None);
    breaks("no label9", |ir| ir.ingress_mut().push(Stmt::Labeled(LabelId::from_u32(9), vec![])));
    breaks("not 1 to 128 bits", |ir| {
        ir.add_var("wide", Ty::Bit(129));
    });
    breaks("not 1 to 128 bits", |ir| {
        ir.add_var("none", Ty::Bit(0));
    });
    breaks("constant 8w0x1 as bool", |ir| assign_flag(ir, expr(ExprKind::Const(Bits::new(8, 1)), Ty::Bool)));
}

#[test]
fn headers() {
    let ty = HeaderTypeId::from_u32(0);
    breaks("is at 1, not 0", move |ir| ir.header_types[ty].fields[0].offset_bits = 1);
    breaks("fixed_bits is 113, not 112", move |ir| ir.header_types[ty].fixed_bits = 113);
    breaks("not the last", |ir| {
        let ty = &mut ir.header_types[HeaderTypeId::from_u32(1)];
        ty.fields.push(Field { name: "x".into(), ty: Ty::Bit(8), offset_bits: 328, varbit: false });
        ty.fixed_bits = 16;
    });
    breaks("not whole bytes", |ir| {
        ir.add_header_type("odd", &[("x", 7)], None);
    });
    breaks("two places", |ir| {
        let elements = ir.stacks[StackId::from_u32(0)].elements.clone();
        ir.stacks.push(Stack { name: "again".into(), elements });
    });
    breaks("no elements", |ir| {
        ir.stacks.push(Stack { name: "empty".into(), elements: vec![] });
    });
}

#[test]
fn expression_types() {
    let b8 = || Expr::bit(8, 1);
    breaks("assignment of a bit<8> to a bool", |ir| assign_flag(ir, b8()));
    breaks("Add of a bit<8> and a bit<16>", |ir| assign_flag(ir, Expr::binary(BinOp::Add, b8(), Expr::bit(16, 1))));
    breaks("Div of a int<8> and a int<8>", |ir| {
        let i = || Expr::constant(Ty::Int(8), 3);
        assign_flag(ir, Expr::binary(BinOp::Div, i(), i()))
    });
    breaks("Lt of a bool", |ir| assign_flag(ir, Expr::binary(BinOp::Lt, Expr::bool(true), Expr::bool(true))));
    breaks("LAnd of a bit<8>", |ir| assign_flag(ir, Expr::binary(BinOp::LAnd, b8(), Expr::bool(true))));
    breaks("Not of a bit<8>", |ir| assign_flag(ir, expr(ExprKind::Unary(UnOp::Not, Box::new(b8())), Ty::Bit(8))));
    breaks("cast of a bit<8> to bool", |ir| assign_flag(ir, b8().cast(Ty::Bool)));
    breaks("slice [8:0] of a bit<8>", |ir| assign_flag(ir, b8().slice(8, 0)));
    breaks("of type bit<16> says bit<8>", |ir| assign_flag(ir, expr(ExprKind::Concat(Box::new(b8()), Box::new(b8())), Ty::Bit(8))));
    breaks("arms of ?:", |ir| {
        let kind = ExprKind::Mux(Box::new(Expr::bool(true)), Box::new(b8()), Box::new(Expr::bool(true)));
        assign_flag(ir, expr(kind, Ty::Bit(8)))
    });
    breaks("varbit field data used as a number", |ir| {
        let o = HeaderRef::Static(HeaderId::from_u32(1));
        assign_flag(ir, expr(ExprKind::Field(o, 1), Ty::Bit(320)))
    });
}

#[test]
fn statements_in_their_places() {
    let h = || HeaderRef::Static(HeaderId::from_u32(0));
    breaks("emit in Control", |ir| ir.ingress_mut().push(Stmt::Emit(h())));
    breaks("extract in Control", |ir| ir.egress_mut().push(Stmt::Extract { header: h(), varbit_bits: None }));
    breaks("apply in Action", |ir| {
        let apply = Stmt::Apply { table: TableId::from_u32(0), hit: None, action_run: None };
        ir.actions[ActionId::from_u32(0)].body.push(apply)
    });
    breaks("exit in Deparser", |ir| ir.deparser_mut().push(Stmt::Exit));
    breaks("stack.next or stack.last in Control", |ir| ir.ingress_mut().push(Stmt::SetValid(HeaderRef::Next(StackId::from_u32(0)), true)));
    breaks("wrong number of arguments", |ir| {
        let body = &mut ir.states[StateId::from_u32(1)].body;
        body[0] = Stmt::Extract { header: h(), varbit_bits: Some(Expr::bit(32, 0)) };
    });
    breaks("outside of its block", |ir| ir.ingress_mut().push(Stmt::Break(LabelId::from_u32(0))));
    breaks("names two blocks", |ir| ir.egress_mut().push(Stmt::Labeled(LabelId::from_u32(0), vec![])));
    breaks("verify_checksum without", |ir| {
        ir.intrinsic.standard.remove("checksum_error");
        ir.control_mut(Role::VerifyChecksum).push(Stmt::Extern(Extern::VerifyChecksum {
            condition: Expr::bool(true),
            data: vec![],
            checksum: Expr::bit(16, 0),
            algorithm: HashAlgorithm::Csum16,
            payload: false,
        }));
    });
    breaks("update_checksum in Control", |ir| {
        let checksum = LValue::field(ir, HeaderId::from_u32(0), "etype");
        ir.egress_mut().push(Stmt::Extern(Extern::UpdateChecksum {
            condition: Expr::bool(true),
            data: vec![],
            checksum,
            algorithm: HashAlgorithm::Csum16,
            payload: false,
        }));
    });
}

#[test]
fn beside_the_program() {
    let t = TableId::from_u32(0);
    breaks("1 key expressions for 2 keys", move |ir| {
        let key = ir.program.tables[t].keys[0].clone();
        ir.program.tables[t].keys.push(key);
    });
    breaks("key hdr.eth.etype of 17 bits", move |ir| ir.program.tables[t].keys[0].width = 17);
    breaks("variables for 1 parameters", |ir| {
        ir.actions[ActionId::from_u32(0)].params.clear();
    });
    breaks("arguments [512] do not fit", move |ir| ir.program.tables[t].entries[0].args = vec![512]);
    breaks("does not fit key", move |ir| ir.program.tables[t].entries[0].keys = vec![KeyMatch::Optional(None)]);
    breaks("is not attached to it", |ir| ir.program.counters[CounterId::from_u32(0)].table = None);
    breaks("not attached to table1", |ir| {
        let fwd = ActionId::from_u32(0);
        let drop = ActionId::from_u32(1);
        ir.add_table("other", vec![], &[fwd], drop);
    });
    breaks("not an indexed counter", |ir| {
        let counter = CounterId::from_u32(0);
        ir.ingress_mut().push(Stmt::Extern(Extern::Count { counter, index: Expr::bit(8, 0) }));
    });
    breaks("no @pdu_length", |ir| ir.program.counters[CounterId::from_u32(0)].length = LengthSource::Pdu);
    breaks("counts packets and bytes", |ir| {
        ir.add_meter("m", 4, CountUnit::Both);
    });
    breaks("holds 32 bits", |ir| {
        let register = ir.add_register("r", 4, 32);
        ir.ingress_mut().push(Stmt::Extern(Extern::RegisterWrite { register, index: Expr::bit(8, 0), value: Expr::bit(8, 0) }));
    });
    breaks("egress_spec is bit<32>", |ir| {
        let v = ir.standard("egress_spec");
        ir.vars[v].ty = Ty::Bit(32);
    });
    breaks("@mark is bit<48>", |ir| ir.intrinsic.mark = Some(ir.standard("ingress_global_timestamp")));
}

#[test]
fn the_parser() {
    let s = StateId::from_u32(1);
    breaks("case of 0 sets for 1 keys", move |ir| {
        if let Transition::Select { cases, .. } = &mut ir.states[s].next {
            cases[1].sets.clear();
        }
    });
    breaks("does not fit its key", move |ir| {
        if let Transition::Select { cases, .. } = &mut ir.states[s].next {
            cases[0].sets = vec![KeySet::Range { low: Bits::new(16, 5), high: Bits::new(16, 4) }];
        }
    });
    breaks("has other widths", move |ir| {
        let set = ir.program.value_sets.push(ValueSet { name: "ports".into(), size: 4, widths: vec![8] });
        if let Transition::Select { cases, .. } = &mut ir.states[s].next {
            cases[0].sets = vec![KeySet::ValueSet(set)];
        }
    });
    breaks("no error", move |ir| ir.states[s].body.push(Stmt::Verify(Expr::bool(true), Bits::new(32, 99))));
}

#[test]
fn nesting_is_bounded_and_bounded_programs_are_safe_to_walk() {
    let mut ir = sample();
    let mut e = Expr::bit(8, 1);
    for _ in 0..MAX_DEPTH - 3 {
        e = Expr::unary(UnOp::BitNot, e);
    }
    let v = ir.add_var("x", Ty::Bit(8));
    ir.ingress_mut().push(Stmt::Assign(LValue::Var(v), e.clone()));
    assert_eq!(verify(&ir), Ok(()));
    assert!(ir.clone().to_string().contains("~~~~~"));
    for _ in 0..4 {
        e = Expr::unary(UnOp::BitNot, e);
    }
    ir.ingress_mut().push(Stmt::Assign(LValue::Var(v), e));
    let errors = verify(&ir).expect_err("too deep");
    assert!(errors[0].0.contains("nest deeper"), "{errors:?}");

    let mut ir = sample();
    let mut block = vec![];
    for _ in 0..MAX_DEPTH - 2 {
        block = vec![Stmt::If(Expr::bool(true), block, vec![])];
    }
    *ir.ingress_mut() = block;
    assert_eq!(verify(&ir), Ok(()));
    assert!(ir.to_string().lines().count() > MAX_DEPTH);
}

#[test]
fn services_are_called_in_ingress_and_egress_outside_of_loops() {
    let with = |change: fn(&mut Ir, Stmt, Stmt)| {
        let mut ir = sample();
        let service = ir.add_service("s", &[("a", 48), ("b", 1)], &[("x", 16)]);
        let v = ir.add_var("meta.v", Ty::Bit(16));
        let h = ir.headers.keys().next().expect("there are some");
        let request = vec![Expr::field(&ir, h, "dst"), Expr::bool(true)];
        let call = Stmt::Extern(Extern::Service { service, request: request.clone(), answer: Some(vec![LValue::Var(v)]) });
        let short = Stmt::Extern(Extern::Service { service, request: request[..1].to_vec(), answer: Some(vec![LValue::Var(v)]) });
        change(&mut ir, call, short);
        verify(&ir).map_err(|e| e.into_iter().map(|e| e.0).collect::<Vec<_>>().join("; "))
    };
    assert_eq!(with(|ir, call, _| ir.ingress_mut().push(Stmt::If(Expr::bool(true), vec![call], vec![]))), Ok(()));
    assert_eq!(with(|ir, call, _| ir.egress_mut().push(call)), Ok(()));
    let refused = |change, expected: &str| {
        let error = with(change).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    };
    refused(|ir, call, _| ir.deparser_mut().push(call), "a call of a service in Deparser");
    refused(|ir, call, _| ir.actions.values_mut().for_each(|a| a.body.push(call.clone())), "a call of a service in Action");
    refused(|ir, call, _| ir.ingress_mut().push(Stmt::Loop(vec![call])), "a call of a service in a loop");
    refused(|ir, _, short| ir.ingress_mut().push(short), "request [Some(Bit(48))] of service0");
}
