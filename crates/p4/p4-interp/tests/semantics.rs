//! One small program for each rule of the crate's text.

mod common;

use base::{DropReason, HEADROOM, MAX_PACKET, PortId, Verdict, VerdictKind};
use common::{put, set};
use p4_interp::{Machine, Mode, STEP_LIMIT};
use p4_ir::*;
use program::{Batch, KeyMatch, MatchKind, Op, RuleError};
use std::sync::Arc;

const TOO_SHORT: u128 = 1;
const NO_MATCH: u128 = 2;
const STACK_BOUNDS: u128 = 3;
const HEADER_SHORT: u128 = 4;
const TIMEOUT: u128 = 5;
const INVALID_ARGUMENT: u128 = 6;

/// A program with a result header of one 32-bit field that is always emitted first, and a packet header `h` of 2 bytes.
struct Small {
    ir: Ir,
    result: HeaderId,
    h: HeaderId,
    byte: HeaderTypeId,
}

fn small() -> Small {
    let mut ir = Ir::v1model("small.p4");
    let r = ir.add_header_type("result_t", &[("value", 32)], None);
    let byte = ir.add_header_type("byte_t", &[("v", 8)], None);
    let ht = ir.add_header_type("h_t", &[("a", 4), ("b", 12)], None);
    let result = ir.add_header("result", r);
    let h = ir.add_header("h", ht);
    ir.ingress_mut().push(Stmt::SetValid(HeaderRef::Static(result), true));
    ir.deparser_mut().push(Stmt::Emit(HeaderRef::Static(result)));
    Small { ir, result, h, byte }
}

impl Small {
    /// `result.value = e` at the end of ingress.
    fn report(&mut self, e: Expr) {
        let wide = e.cast_up();
        let stmt = put(&self.ir, self.result, "value", wide);
        self.ir.ingress_mut().push(stmt);
    }

    /// Reports `parser_error`.
    fn report_error(&mut self) {
        let e = Expr::var(&self.ir, self.ir.standard("parser_error"));
        self.report(e);
    }

    fn run(&self, packet: &[u8]) -> (Verdict, Vec<u8>) {
        let mut m = Machine::new(Arc::new(self.ir.clone())).expect("runs");
        let out = m.process(packet, PortId(7), 123_456_789, Mode::Whole);
        (out.verdict, out.bytes.to_vec())
    }

    /// The reported value, and the bytes behind it.
    fn value(&self, packet: &[u8]) -> (u128, Vec<u8>) {
        let (verdict, bytes) = self.run(packet);
        assert_eq!(verdict.kind, VerdictKind::Forward);
        (u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).into(), bytes[4..].to_vec())
    }
}

trait CastUp {
    fn cast_up(self) -> Expr;
}

impl CastUp for Expr {
    /// To `bit<32>`.
    fn cast_up(self) -> Expr {
        let e = if self.ty == Ty::Bool { self.cast(Ty::Bit(1)) } else { self };
        e.cast(Ty::Bit(32))
    }
}

fn extract(h: HeaderRef) -> Stmt {
    Stmt::Extract { header: h, varbit_bits: None }
}

fn fixed(h: HeaderId) -> HeaderRef {
    HeaderRef::Static(h)
}

const ACCEPT: Transition = Transition::Goto(Next::Accept);

#[test]
fn standard_metadata_is_set_on_entry() {
    for (field, expected) in [("ingress_port", 7), ("packet_length", 3), ("ingress_global_timestamp", 123_456), ("instance_type", 0)] {
        let mut s = small();
        let e = Expr::var(&s.ir, s.ir.standard(field));
        s.report(e);
        assert_eq!(s.value(&[1, 2, 3]), (expected, vec![1, 2, 3]), "{field}");
    }
}

#[test]
fn a_short_packet_consumes_nothing_and_is_not_dropped() {
    let mut s = small();
    s.ir.add_state("start", vec![extract(fixed(s.h)), extract(fixed(s.h))], ACCEPT);
    s.ir.deparser_mut().push(Stmt::Emit(fixed(s.h)));
    s.report_error();
    // The first extract stays, the second fails.
    assert_eq!(s.value(&[0xab, 0xcd, 0xee]), (TOO_SHORT, vec![0xab, 0xcd, 0xee]));
    assert_eq!(s.value(&[0xab]), (TOO_SHORT, vec![0xab]));
    assert_eq!(s.value(&[]), (TOO_SHORT, vec![]));
    assert_eq!(s.value(&[1, 2, 3, 4, 5]), (0, vec![3, 4, 5]));
}

#[test]
fn select_takes_the_first_match_or_fails() {
    let mut s = small();
    let key = |n: &str| Expr::field(&s.ir, s.h, n);
    let keys = vec![key("a"), key("b")];
    let bits = |w, v| Bits::new(w, v);
    let case = |a, b, next| SelectCase { sets: vec![a, b], next };
    let cases = vec![
        case(KeySet::Value { value: bits(4, 1), mask: bits(4, 3) }, KeySet::Any, Next::Accept),
        case(KeySet::Any, KeySet::Range { low: bits(12, 5), high: bits(12, 6) }, Next::Reject),
    ];
    s.ir.add_state("start", vec![extract(fixed(s.h))], Transition::Select { keys, cases });
    s.report_error();
    assert_eq!(s.value(&[0x50, 0x00]).0, 0);
    assert_eq!(s.value(&[0x20, 0x06]).0, 0);
    assert_eq!(s.value(&[0x20, 0x07]).0, NO_MATCH);
}

#[test]
fn value_sets_are_filled_by_the_control_plane() {
    let mut s = small();
    let set = s.ir.program.value_sets.push(ValueSet { name: "ports".into(), size: 1, widths: vec![4, 12] });
    let keys = vec![Expr::field(&s.ir, s.h, "a"), Expr::field(&s.ir, s.h, "b")];
    let cases = vec![SelectCase { sets: vec![KeySet::ValueSet(set)], next: Next::Accept }];
    s.ir.add_state("start", vec![extract(fixed(s.h))], Transition::Select { keys, cases });
    s.report_error();
    let mut m = Machine::new(Arc::new(s.ir)).expect("runs");
    let error = |m: &mut Machine, p: &[u8]| m.process(p, PortId(0), 0, Mode::Whole).bytes[3];
    assert_eq!(error(&mut m, &[0x12, 0x34]), NO_MATCH as u8);
    let member = vec![KeyMatch::Exact(1), KeyMatch::Ternary { value: 0x230, mask: 0xff0 }];
    let insert = |member| Batch { ops: vec![Op::InsertValue { set, member }] };
    m.apply(&insert(member.clone())).expect("fits");
    assert!(matches!(m.apply(&insert(member.clone())), Err(RuleError::Exists { .. })));
    assert!(matches!(m.apply(&insert(vec![KeyMatch::Exact(2), KeyMatch::Exact(0)])), Err(RuleError::Full { .. })));
    assert!(matches!(m.apply(&insert(vec![KeyMatch::Exact(16), KeyMatch::Exact(0)])), Err(RuleError::Invalid { .. })), "too wide");
    assert_eq!(error(&mut m, &[0x12, 0x34]), 0);
    assert_eq!(error(&mut m, &[0x12, 0x44]), NO_MATCH as u8);
    // A batch that fails later puts the member back.
    let delete = Op::DeleteValue { set, member };
    assert!(matches!(m.apply(&Batch { ops: vec![delete.clone(), delete.clone()] }), Err(RuleError::Missing { op: 1, .. })));
    assert_eq!(error(&mut m, &[0x12, 0x34]), 0);
    m.apply(&Batch { ops: vec![delete] }).expect("it is there");
    assert_eq!(error(&mut m, &[0x12, 0x34]), NO_MATCH as u8);
}

#[test]
fn verify_advance_and_lookahead() {
    let mut s = small();
    let v = s.ir.add_var("next16", Ty::Bit(16));
    let ok = Expr::binary(BinOp::Ne, Expr::var(&s.ir, v), Expr::bit(16, 0xffff));
    let bits = Expr::var(&s.ir, v).slice(7, 0);
    let body = vec![Stmt::Lookahead(LValue::Var(v), 0), Stmt::Verify(ok, Bits::new(32, NO_MATCH)), Stmt::Advance(bits)];
    s.ir.add_state("start", body, ACCEPT);
    s.report_error();
    assert_eq!(s.value(&[0, 16, 9, 9]), (0, vec![9, 9]));
    assert_eq!(s.value(&[0, 0, 9, 9]), (0, vec![0, 0, 9, 9]));
    assert_eq!(s.value(&[0, 33, 9, 9]), (INVALID_ARGUMENT, vec![0, 33, 9, 9]));
    assert_eq!(s.value(&[0, 40, 9, 9]), (TOO_SHORT, vec![0, 40, 9, 9]));
    assert_eq!(s.value(&[0xff, 0xff, 9, 9]), (NO_MATCH, vec![0xff, 0xff, 9, 9]));
    assert_eq!(s.value(&[1]), (TOO_SHORT, vec![1]));
}

#[test]
fn varbit_lengths_are_checked_and_kept() {
    let mut s = small();
    let opt = s.ir.add_header_type("opt_t", &[("len", 8)], Some(("data", 32)));
    let (o, copy) = (s.ir.add_header("o", opt), s.ir.add_header("copy", opt));
    let len = s.ir.add_var("len", Ty::Bit(8));
    let extract = Stmt::Extract { header: fixed(o), varbit_bits: Some(Expr::var(&s.ir, len)) };
    s.ir.add_state("start", vec![Stmt::Lookahead(LValue::Var(len), 0), extract], ACCEPT);
    let size = Expr { kind: ExprKind::VarbitBits(fixed(copy), 1), ty: Ty::Bit(32) };
    s.ir.ingress_mut().push(Stmt::CopyHeader { dst: fixed(copy), src: fixed(o) });
    let error = Expr::var(&s.ir, s.ir.standard("parser_error"));
    let both = Expr::binary(BinOp::Add, Expr::binary(BinOp::Shl, error, Expr::bit(8, 16)), size);
    s.report(both);
    s.ir.deparser_mut().push(Stmt::Emit(fixed(copy)));
    assert_eq!(s.value(&[16, 1, 2, 3]), (16, vec![16, 1, 2, 3]));
    assert_eq!(s.value(&[0, 1]), (0, vec![0, 1]));
    assert_eq!(s.value(&[12, 1, 2]).0, INVALID_ARGUMENT << 16);
    assert_eq!(s.value(&[32, 1, 2]).0, TOO_SHORT << 16);
    assert_eq!(s.value(&[40, 1, 2, 3, 4, 5]).0, HEADER_SHORT << 16);
    assert_eq!(s.value(&[40, 1, 2]).0, TOO_SHORT << 16);
}

/// A program that extracts bytes onto a stack of 3 until one is zero, then runs `ingress`, and emits the stack.
fn stack_program(ingress: impl FnOnce(&mut Small, StackId)) -> Small {
    let mut s = small();
    let stack = s.ir.add_stack("st", s.byte, 3);
    let last = Expr { kind: ExprKind::Field(HeaderRef::Last(stack), 0), ty: Ty::Bit(8) };
    let again = StateId::from_u32(0);
    let zero = KeySet::Value { value: Bits::new(8, 0), mask: Bits::new(8, 255) };
    let cases = vec![SelectCase { sets: vec![zero], next: Next::Accept }, SelectCase { sets: vec![KeySet::Any], next: Next::State(again) }];
    s.ir.add_state("more", vec![extract(HeaderRef::Next(stack))], Transition::Select { keys: vec![last], cases });
    ingress(&mut s, stack);
    for i in 0..3 {
        s.ir.deparser_mut().push(Stmt::Emit(HeaderRef::Index(stack, Box::new(Expr::bit(32, i)))));
    }
    s
}

#[test]
fn stacks_fill_overflow_and_know_their_indices() {
    let indices = |s: &mut Small, st| {
        let last = Expr { kind: ExprKind::LastIndex(st), ty: Ty::Bit(32) };
        let next = Expr { kind: ExprKind::NextIndex(st), ty: Ty::Bit(32) };
        let error = Expr::var(&s.ir, s.ir.standard("parser_error"));
        let add = |a, b| Expr::binary(BinOp::Add, a, b);
        let shl = |a, n| Expr::binary(BinOp::Shl, a, Expr::bit(8, n));
        s.report(add(shl(error, 16), add(shl(last, 8), next)));
    };
    let s = stack_program(indices);
    assert_eq!(s.value(&[5, 0, 9]), (0x0102, vec![5, 0, 9]));
    assert_eq!(s.value(&[5, 6, 7, 8]), ((STACK_BOUNDS << 16) + 0x0203, vec![5, 6, 7, 8]));
    // An empty stack's last index is 2^32-1, here shifted and added modulo 2^32.
    assert_eq!(s.value(&[]).0, ((TOO_SHORT << 16) + 0xffff_ff00) & 0xffff_ffff);
}

#[test]
fn push_pop_copy_and_out_of_range_indices() {
    let s = stack_program(|s, st| s.ir.ingress_mut().push(Stmt::Push(st, 1)));
    assert_eq!(s.value(&[5, 6, 0, 9]).1, [5, 6, 9]);
    let s = stack_program(|s, st| s.ir.ingress_mut().extend([Stmt::Push(st, 7)]));
    assert_eq!(s.value(&[5, 6, 0, 9]).1, [9]);
    let s = stack_program(|s, st| {
        let next = Expr { kind: ExprKind::NextIndex(st), ty: Ty::Bit(32) };
        s.ir.ingress_mut().push(Stmt::Pop(st, 1));
        s.report(next)
    });
    assert_eq!(s.value(&[5, 6, 0, 9]), (2, vec![6, 0, 9]));
    let s = stack_program(|s, st| {
        let other = s.ir.add_stack("other", s.byte, 3);
        s.ir.ingress_mut().extend([Stmt::CopyStack { dst: other, src: st }, Stmt::Pop(st, 3), Stmt::CopyStack { dst: st, src: other }]);
        let next = Expr { kind: ExprKind::NextIndex(st), ty: Ty::Bit(32) };
        s.report(next)
    });
    assert_eq!(s.value(&[5, 0, 9]), (2, vec![5, 0, 9]));
    let s = stack_program(|s, st| {
        let at = |i| HeaderRef::Index(st, Box::new(Expr::bit(8, i)));
        s.ir.ingress_mut().push(Stmt::Assign(LValue::Field(at(200), 0), Expr::bit(8, 1)));
        s.ir.ingress_mut().push(Stmt::Assign(LValue::Slice(Box::new(LValue::Field(at(0), 0)), 7, 4), Expr::bit(4, 0xf)));
        s.ir.ingress_mut().push(Stmt::CopyHeader { dst: at(1), src: at(99) });
        s.report(Expr { kind: ExprKind::Field(at(255), 0), ty: Ty::Bit(8) })
    });
    assert_eq!(s.value(&[5, 6, 0, 9]), (0, vec![0xf5, 0, 9]));
}

#[test]
fn invalid_headers_read_zero_and_are_not_written() {
    let mut s = small();
    let a = |s: &Small| Expr::field(&s.ir, s.h, "a");
    let write = put(&s.ir, s.h, "a", Expr::bit(4, 5));
    s.ir.ingress_mut().push(write.clone());
    let e = a(&s);
    s.report(e);
    assert_eq!(s.value(&[]).0, 0);
    // setValid zeroes; again it leaves the fields; setInvalid and setValid zero again.
    let valid = |v| Stmt::SetValid(fixed(HeaderId::from_u32(1)), v);
    s.ir.ingress_mut().extend([valid(true), write, valid(true)]);
    let e = a(&s);
    s.report(e);
    assert_eq!(s.value(&[]).0, 5);
    s.ir.ingress_mut().extend([valid(false), valid(true)]);
    let e = a(&s);
    s.report(e);
    assert_eq!(s.value(&[]).0, 0);
}

#[test]
fn one_member_of_a_union_is_valid_at_a_time() {
    let mut s = small();
    let b1 = s.ir.add_header("u.x", s.byte);
    let b2 = s.ir.add_header("u.y", s.byte);
    s.ir.headers[b1].union = Some(0);
    s.ir.headers[b2].union = Some(0);
    let both = |x, y| {
        let to = |h| Expr::is_valid(h).cast(Ty::Bit(1));
        Expr { kind: ExprKind::Concat(Box::new(to(x)), Box::new(to(y))), ty: Ty::Bit(2) }
    };
    s.ir.add_state("start", vec![extract(fixed(b1))], ACCEPT);
    s.report(both(b1, b2));
    assert_eq!(s.value(&[1]).0, 0b10);
    s.ir.ingress_mut().push(Stmt::SetValid(fixed(b2), true));
    s.report(both(b1, b2));
    assert_eq!(s.value(&[1]).0, 0b01);
    s.ir.ingress_mut().push(Stmt::CopyHeader { dst: fixed(b1), src: fixed(b2) });
    s.report(both(b1, b2));
    assert_eq!(s.value(&[1]).0, 0b10);
}

#[test]
fn hit_action_run_and_exit() {
    let mut s = small();
    let (hit, run) = (s.ir.add_var("hit", Ty::Bool), s.ir.add_var("run", Ty::Bit(32)));
    let p = Expr::var(&s.ir, s.ir.standard("ingress_port"));
    s.ir.add_action("unused", &[], |_, _| vec![]);
    let leave = s.ir.add_action("leave", &[("x", 8)], |_, _| vec![Stmt::Exit]);
    let stay = s.ir.add_action("stay", &[], |_, _| vec![]);
    let t = s.ir.add_table("t", vec![("p", p, MatchKind::Exact)], &[leave], stay);
    s.ir.ingress_mut().push(Stmt::Apply { table: t, hit: Some(hit), action_run: Some(run) });
    let e = Expr::binary(BinOp::Add, Expr::var(&s.ir, run), Expr::var(&s.ir, hit).cast_up());
    s.report(e);
    let mut m = Machine::new(Arc::new(s.ir)).expect("runs");
    let value = |m: &mut Machine, port| m.process(&[], PortId(port), 0, Mode::Whole).bytes[3];
    assert_eq!(value(&mut m, 7), 2);
    let entry = common::entry(t, vec![KeyMatch::Exact(7)], leave, &[1]);
    m.apply(&program::Batch { ops: vec![program::Op::Insert(entry)] }).expect("fits");
    // The action exits before the report.
    assert_eq!(value(&mut m, 7), 0);
    assert_eq!(value(&mut m, 8), 2);
}

#[test]
fn switch_labels_and_loops() {
    let mut s = small();
    let (i, sum) = (s.ir.add_var("i", Ty::Bit(8)), s.ir.add_var("sum", Ty::Bit(32)));
    let (outer, inner) = (s.ir.add_label("outer"), s.ir.add_label("inner"));
    let var = |s: &Small, v| Expr::var(&s.ir, v);
    let add = |s: &Small, n| set(sum, Expr::binary(BinOp::Add, var(s, sum), Expr::bit(32, n)));
    let is = |s: &Small, n| Expr::binary(BinOp::Eq, var(s, i), Expr::bit(8, n));
    let body = vec![
        set(i, Expr::binary(BinOp::Add, var(&s, i), Expr::bit(8, 1))),
        Stmt::If(is(&s, 6), vec![Stmt::Break(outer)], vec![]),
        Stmt::Labeled(
            inner,
            vec![
                Stmt::Switch {
                    on: var(&s, i),
                    cases: vec![
                        (vec![Bits::new(8, 1), Bits::new(8, 2)], vec![add(&s, 1)]),
                        (vec![Bits::new(8, 3)], vec![Stmt::Break(inner)]),
                    ],
                    default: vec![add(&s, 1000)],
                },
                add(&s, 10),
            ],
        ),
    ];
    s.ir.ingress_mut().push(Stmt::Labeled(outer, vec![Stmt::Loop(body)]));
    let e = var(&s, sum);
    s.report(e);
    // Rounds 1, 2: 11 each; 3: nothing; 4, 5: 1010 each.
    assert_eq!(s.value(&[]).0, 2042);
}

#[test]
fn nothing_runs_for_ever() {
    let mut s = small();
    let again = StateId::from_u32(0);
    s.ir.add_state("spin", vec![], Transition::Goto(Next::State(again)));
    s.report_error();
    assert_eq!(s.value(&[1]), (TIMEOUT, vec![1]));
    let mut s = small();
    let (l, never) = (s.ir.add_label("l"), s.ir.add_var("never", Ty::Bool));
    let leave = Stmt::If(Expr::var(&s.ir, never), vec![Stmt::Break(l)], vec![]);
    s.ir.egress_mut().push(Stmt::Labeled(l, vec![Stmt::Loop(vec![leave])]));
    assert_eq!(s.run(&[1]), (Verdict::drop(DropReason::TARGET_FAILED), vec![1]));
    const { assert!(STEP_LIMIT > MAX_PACKET as u32) };
}

#[test]
fn egress_spec_decides() {
    let port_of = |spec: u128, in_egress: Option<u128>| {
        let mut s = small();
        let v = s.ir.standard("egress_spec");
        let (reason, mark) = (s.ir.add_var("reason", Ty::Bit(8)), s.ir.add_var("mark", Ty::Bit(32)));
        s.ir.intrinsic.drop_reason = Some(reason);
        s.ir.intrinsic.mark = Some(mark);
        s.ir.ingress_mut().extend([set(v, Expr::bit(9, spec)), set(reason, Expr::bit(8, 42)), set(mark, Expr::bit(32, 0xfeed))]);
        s.ir.egress_mut().extend(in_egress.map(|e| set(v, Expr::bit(9, e))));
        s.run(&[9])
    };
    let verdict = |kind, port| Verdict { kind, reason: 42, port, mark: 0xfeed };
    let out = vec![0, 0, 0, 0, 9];
    assert_eq!(port_of(3, None), (verdict(VerdictKind::Forward, 3), out.clone()));
    assert_eq!(port_of(510, None), (verdict(VerdictKind::Punt, 0), out.clone()));
    // With a reason it waits for a rate.
    assert_eq!(port_of(509, None), (verdict(VerdictKind::Shape, 0), out.clone()));
    assert_eq!(port_of(511, None), (verdict(VerdictKind::Drop, 0), vec![9]));
    // In egress only the drop counts.
    assert_eq!(port_of(3, Some(5)), (verdict(VerdictKind::Forward, 3), out.clone()));
    assert_eq!(port_of(510, Some(5)), (verdict(VerdictKind::Punt, 0), out));
    assert_eq!(port_of(3, Some(511)), (verdict(VerdictKind::Drop, 0), vec![9]));
}

#[test]
fn registers_hash_random_and_truncate() {
    let mut s = small();
    let r = s.ir.add_register("r", 4, 32);
    let read = |s: &Small, index| {
        Stmt::Extern(Extern::RegisterRead { register: r, index: Expr::bit(32, index), result: LValue::field(&s.ir, s.result, "value") })
    };
    let value = Expr::field(&s.ir, s.result, "value");
    let plus = Expr::binary(BinOp::Add, value, Expr::bit(32, 3));
    let write = |index| Stmt::Extern(Extern::RegisterWrite { register: r, index: Expr::bit(32, index), value: plus.clone() });
    let block = [read(&s, 1), write(1), write(99)];
    s.ir.ingress_mut().extend(block);
    let mut m = Machine::new(Arc::new(s.ir.clone())).expect("runs");
    let last = |m: &mut Machine| m.process(&[], PortId(0), 0, Mode::Whole).bytes[3];
    assert_eq!([last(&mut m), last(&mut m)], [0, 3]);
    assert_eq!((m.register(r, 1), m.register(r, 2), m.register(r, 99)), (Some(6), Some(0), None));
    assert!(m.set_register(r, 1, 1 << 40 | 70) && !m.set_register(r, 4, 0));
    assert_eq!(last(&mut m), 70);
    let beyond = read(&s, 1 << 31);
    s.ir.ingress_mut().push(beyond);
    assert_eq!(s.value(&[]).0, 0);

    let hash = |max: u128| {
        let mut s = small();
        let hash = Stmt::Extern(Extern::Hash {
            result: LValue::field(&s.ir, s.result, "value"),
            algorithm: HashAlgorithm::Crc16,
            base: Expr::bit(32, 100),
            data: vec![Expr::bit(4, 3), Expr::bit(4, 1), Expr::bit(64, 0x3233_3435_3637_3839)],
            max: Expr::bit(32, max),
        });
        s.ir.ingress_mut().push(hash);
        s.value(&[]).0
    };
    assert_eq!(hash(0x10000), 100 + 0xbb3d);
    assert_eq!(hash(10), 100 + 0xbb3d % 10);
    assert_eq!(hash(0), 100);

    let mut s = small();
    let random = Extern::Random { result: LValue::field(&s.ir, s.result, "value"), low: Expr::bit(32, 5), high: Expr::bit(32, 7) };
    s.ir.ingress_mut().push(Stmt::Extern(random));
    s.ir.ingress_mut().push(Stmt::Extern(Extern::Truncate(Expr::bit(32, 5))));
    let mut m = Machine::new(Arc::new(s.ir)).expect("runs");
    let mut seen = [false; 8];
    for _ in 0..100 {
        let out = m.process(&[1, 2, 3], PortId(0), 0, Mode::Whole);
        assert_eq!(out.bytes.len(), 5);
        seen[out.bytes[3] as usize] = true;
    }
    assert_eq!(seen, [false, false, false, false, false, true, true, true]);
}

#[test]
fn checksums_are_verified_and_updated_also_over_payload_and_varbit() {
    let mut s = small();
    s.ir.add_state("start", vec![extract(fixed(s.h))], ACCEPT);
    let a = Expr::field(&s.ir, s.h, "a");
    let b = Expr::field(&s.ir, s.h, "b");
    s.ir.control_mut(Role::VerifyChecksum).push(Stmt::Extern(Extern::VerifyChecksum {
        condition: Expr::is_valid(s.h),
        data: vec![CheckData::Value(a.clone()), CheckData::Value(b.clone())],
        checksum: Expr::bit(16, 0xedcb),
        algorithm: HashAlgorithm::Csum16,
        payload: false,
    }));
    let wrong = Expr::var(&s.ir, s.ir.standard("checksum_error"));
    s.report(wrong);
    assert_eq!(s.value(&[0x12, 0x34]).0, 0);
    assert_eq!(s.value(&[0x12, 0x35]).0, 1);
    // The condition does not hold: the header is too short.
    assert_eq!(s.value(&[0x12]).0, 0);
    let value = LValue::Slice(Box::new(LValue::field(&s.ir, s.result, "value")), 15, 0);
    s.ir.control_mut(Role::ComputeChecksum).push(Stmt::Extern(Extern::UpdateChecksum {
        condition: Expr::bool(true),
        data: vec![CheckData::Value(a)],
        checksum: value,
        algorithm: HashAlgorithm::Csum16,
        payload: true,
    }));
    // 1 in four bits, then bytes ff 01: 1ff0 1000.
    assert_eq!(s.value(&[0x12, 0x34, 0xff, 0x01]).0, u128::from(!(0x1ff0u16 + 0x1000)));
}

#[test]
fn packets_that_do_not_fit_are_dropped() {
    let s = small();
    let room = MAX_PACKET - 4;
    assert_eq!(s.run(&vec![0; room]).0.kind, VerdictKind::Forward);
    assert_eq!(s.run(&vec![0; room + 1]), (Verdict::drop(DropReason::NO_HEADROOM), vec![0; room + 1]));
    assert_eq!(s.run(&vec![0; MAX_PACKET + 1]).0, Verdict::drop(DropReason::RX_TOO_LONG));
    let mut s = small();
    let fill = (HEADROOM - 4) as u128 / 16;
    let big = s.ir.add_header_type("big_t", &[("v", 128)], None);
    for i in 0..=fill {
        let h = s.ir.add_header(&format!("big{i}"), big);
        s.ir.ingress_mut().push(Stmt::SetValid(fixed(h), true));
        s.ir.deparser_mut().push(Stmt::Emit(fixed(h)));
        let expected = if i < fill { VerdictKind::Forward } else { VerdictKind::Drop };
        assert_eq!(s.run(&[1]).0.kind, expected, "{i}");
    }
    // What was parsed gives room.
    let parsed = s.ir.add_header("parsed", big);
    s.ir.add_state("start", vec![extract(fixed(parsed))], ACCEPT);
    assert_eq!(s.run(&[1; 16]).0.kind, VerdictKind::Forward);
}

#[test]
fn the_deepest_program_allowed_runs_on_a_threads_stack() {
    let mut s = small();
    let mut block = vec![];
    for _ in 0..MAX_DEPTH - 2 {
        block = vec![Stmt::If(Expr::bool(true), block, vec![])];
    }
    let stay = s.ir.add_action("deep", &[], |_, _| block.clone());
    let t = s.ir.add_table("t", vec![], &[], stay);
    let mut block = vec![Stmt::Apply { table: t, hit: None, action_run: None }];
    for _ in 0..MAX_DEPTH - 2 {
        block = vec![Stmt::If(Expr::bool(true), block, vec![])];
    }
    s.ir.ingress_mut().extend(block);
    let mut e = Expr::bit(32, 1);
    for _ in 0..MAX_DEPTH - 2 {
        e = Expr::unary(UnOp::BitNot, e);
    }
    let report = put(&s.ir, s.result, "value", e);
    s.ir.ingress_mut().push(report);
    assert_eq!(s.value(&[1]), (1, vec![1]));
}
