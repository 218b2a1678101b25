//! Does any expression or type survive being printed and parsed? Random trees, the same ones on every run.

mod common;

use common::without_spans;
use p4_syntax::ast::*;
use p4_syntax::{BigInt, FileId, Options, Span, parse_str, printer};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const AT: Span = Span { file: FileId(0), lo: 0, hi: 0 };

fn ident(name: &str) -> Ident {
    Ident { name: name.to_string(), span: AT }
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: AT }
}

fn boxed(e: Expr) -> Box<Expr> {
    Box::new(e)
}

fn ty(kind: TypeKind) -> Type {
    Type { kind, span: AT }
}

/// Names declared in [`PRELUDE`] as values and, capitalised, as types, so that no form is ambiguous.
const PRELUDE: &str = "const int a = 1; const int b = 1; const int key = 1; header T {} extern G<A> {}\n";

fn name() -> impl Strategy<Value = Ident> {
    prop_oneof![Just(ident("a")), Just(ident("b")), Just(ident("key"))]
}

fn path(name: Ident, global: bool) -> Path {
    Path { global, name, span: AT }
}

fn int() -> impl Strategy<Value = IntLit> {
    let width = prop_oneof![Just(None), (1u32..200, any::<bool>()).prop_map(|(bits, signed)| Some(IntWidth { bits, signed }))];
    (any::<u128>(), width, prop_oneof![Just(2u8), Just(8), Just(10), Just(16)]).prop_map(|(value, width, radix)| IntLit {
        value: BigInt::from(value),
        width,
        radix,
    })
}

fn leaf() -> impl Strategy<Value = Expr> {
    prop_oneof![
        any::<bool>().prop_map(|b| expr(ExprKind::Bool(b))),
        int().prop_map(|i| expr(ExprKind::Int(i))),
        (name(), any::<bool>()).prop_map(|(n, g)| expr(ExprKind::Path(path(n, g)))),
        "[ -~\n\t]{0,8}".prop_map(|s| expr(ExprKind::Str(s))),
        Just(expr(ExprKind::This)),
        Just(expr(ExprKind::Invalid)),
        Just(expr(ExprKind::Member { base: boxed(expr(ExprKind::Type(Box::new(ty(TypeKind::Error))))), member: ident("e") })),
    ]
}

fn leaf_type() -> impl Strategy<Value = Type> {
    prop_oneof![
        Just(ty(TypeKind::Bool)),
        Just(ty(TypeKind::Error)),
        Just(ty(TypeKind::Int)),
        Just(ty(TypeKind::String)),
        Just(ty(TypeKind::Bit(None))),
        any::<bool>().prop_map(|g| ty(TypeKind::Named { path: path(ident("T"), g), args: Vec::new() })),
    ]
}

/// Types, with `width` giving the expressions inside.
fn types(width: BoxedStrategy<Expr>) -> impl Strategy<Value = Type> {
    leaf_type().prop_recursive(3, 12, 3, move |inner| {
        let list = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            width.clone().prop_map(|w| ty(TypeKind::Bit(Some(boxed(w))))),
            width.clone().prop_map(|w| ty(TypeKind::SizedInt(boxed(w)))),
            width.clone().prop_map(|w| ty(TypeKind::Varbit(boxed(w)))),
            list.clone().prop_map(|args| ty(TypeKind::Tuple(args))),
            list.prop_map(|args| ty(TypeKind::Named { path: path(ident("G"), false), args })),
            inner.clone().prop_map(|t| ty(TypeKind::List(Box::new(t)))),
            (inner, width.clone()).prop_map(|(t, size)| ty(TypeKind::Stack { elem: Box::new(t), size: boxed(size) })),
        ]
    })
}

fn unary_op() -> impl Strategy<Value = UnaryOp> {
    prop_oneof![Just(UnaryOp::Not), Just(UnaryOp::BitNot), Just(UnaryOp::Neg), Just(UnaryOp::Plus)]
}

fn bin_op() -> impl Strategy<Value = BinOp> {
    use BinOp::*;
    prop::sample::select(vec![
        Mul, Div, Mod, Add, Sub, SatAdd, SatSub, Concat, Shl, Shr, BitAnd, BitXor, BitOr, Lt, Le, Gt, Ge, Eq, Ne, And, Or,
    ])
}

fn field(name: Ident, value: Expr) -> FieldInit {
    FieldInit { name, value, span: AT }
}

fn arg((name, value): (Option<Ident>, Expr)) -> Arg {
    Arg { name, value, span: AT }
}

fn exprs() -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(5, 40, 4, |inner| {
        let pair = (inner.clone(), inner.clone());
        let types = types(leaf().boxed()).boxed();
        let dont_care = Just(expr(ExprKind::DontCare));
        let args = prop::collection::vec((prop::option::of(name()), prop_oneof![4 => inner.clone(), 1 => dont_care]).prop_map(arg), 0..3);
        let type_args = prop_oneof![Just(Vec::new()), prop::collection::vec(types.clone(), 1..3)];
        // What stands in front of `.`, `[` and `(` in real programs; a literal there would not be an l-value or callee.
        let callee = (name(), any::<bool>())
            .prop_map(|(n, g)| expr(ExprKind::Member { base: boxed(expr(ExprKind::Path(path(n, g)))), member: ident("m") }));
        prop_oneof![
            (unary_op(), inner.clone()).prop_map(|(op, e)| expr(ExprKind::Unary { op, operand: boxed(e) })),
            (bin_op(), pair.clone()).prop_map(|(op, (l, r))| expr(ExprKind::Binary { op, left: boxed(l), right: boxed(r) })),
            (inner.clone(), pair.clone())
                .prop_map(|(c, (t, o))| { expr(ExprKind::Ternary { cond: boxed(c), then: boxed(t), otherwise: boxed(o) }) }),
            (types, inner.clone()).prop_map(|(t, e)| expr(ExprKind::Cast { ty: Box::new(t), operand: boxed(e) })),
            (inner.clone(), name()).prop_map(|(base, member)| expr(ExprKind::Member { base: boxed(base), member })),
            pair.clone().prop_map(|(base, index)| expr(ExprKind::Index { base: boxed(base), index: boxed(index) })),
            (inner.clone(), pair.clone())
                .prop_map(|(base, (hi, lo))| { expr(ExprKind::Slice { base: boxed(base), hi: boxed(hi), lo: boxed(lo) }) }),
            (inner.clone(), pair)
                .prop_map(|(base, (lo, width))| { expr(ExprKind::PlusSlice { base: boxed(base), lo: boxed(lo), width: boxed(width) }) }),
            (callee, type_args, args).prop_map(|(callee, type_args, args)| expr(ExprKind::Call { callee: boxed(callee), type_args, args })),
            (prop::collection::vec(inner.clone(), 0..4), any::<bool>()).prop_map(|(items, rest)| expr(ExprKind::List { items, rest })),
            (prop::collection::vec((name(), inner), 1..3), any::<bool>()).prop_map(|(fields, rest)| {
                expr(ExprKind::Struct { fields: fields.into_iter().map(|(n, v)| field(n, v)).collect(), rest })
            }),
        ]
    })
}

/// `const <ty> x = <value>;` behind the prelude, printed, parsed and printed again.
fn survives(ty: Type, value: Expr) -> Result<(), TestCaseError> {
    let decl = ConstDecl { ty, name: ident("x"), value };
    let program = Program { decls: vec![Decl { annotations: Vec::new(), kind: DeclKind::Const(decl), span: AT }] };
    let text = printer::print_program(&program);
    let mut parsed = parse_str("printed", &format!("{PRELUDE}{text}"), &Options::default());
    prop_assert!(parsed.is_ok(), "{text}\n{}", parsed.render());
    let last = parsed.program.decls.pop().into_iter().collect();
    let again = Program { decls: last };
    prop_assert_eq!(without_spans(&program), without_spans(&again), "{}", text);
    prop_assert_eq!(printer::print_program(&again), text);
    Ok(())
}

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn random_expressions_survive() {
    runner(20_000).run(&exprs(), |e| survives(ty(TypeKind::Int), e)).unwrap();
}

#[test]
fn random_types_survive() {
    runner(10_000).run(&types(leaf().boxed()), |t| survives(t, expr(ExprKind::Bool(true)))).unwrap();
}
