//! Do operators bind, and do the ambiguous forms resolve, as P4_16 §8 says? Trees shown as prefix notation.

mod common;

use common::parse_expr;
use p4_syntax::ast::{Expr, ExprKind, UnaryOp};

/// `a + b * c` as `(+ a (* b c))`
fn shape(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::Int(lit) => lit.text(),
        ExprKind::Str(text) => format!("{text:?}"),
        ExprKind::Path(path) => path.to_string(),
        ExprKind::Type(ty) => format!("<{ty}>"),
        ExprKind::This => "this".into(),
        ExprKind::Member { base, member } => format!("(. {} {})", shape(base), member.name),
        ExprKind::Index { base, index } => format!("([] {} {})", shape(base), shape(index)),
        ExprKind::Slice { base, hi, lo } => format!("([:] {} {} {})", shape(base), shape(hi), shape(lo)),
        ExprKind::PlusSlice { base, lo, width } => format!("([+:] {} {} {})", shape(base), shape(lo), shape(width)),
        ExprKind::Call { callee, type_args, args } => {
            let types: String = type_args.iter().map(|t| format!(" <{t}>")).collect();
            let name = |a: &p4_syntax::ast::Arg| a.name.as_ref().map_or(String::new(), |n| format!("{}=", n.name));
            let args: String = args.iter().map(|a| format!(" {}{}", name(a), shape(&a.value))).collect();
            format!("(call {}{types}{args})", shape(callee))
        }
        ExprKind::Unary { op, operand } => format!("({} {})", if *op == UnaryOp::Neg { "neg" } else { op.text() }, shape(operand)),
        ExprKind::Binary { op, left, right } => format!("({} {} {})", op.text(), shape(left), shape(right)),
        ExprKind::Ternary { cond, then, otherwise } => format!("(? {} {} {})", shape(cond), shape(then), shape(otherwise)),
        ExprKind::Cast { ty, operand } => format!("(as {ty} {})", shape(operand)),
        ExprKind::List { items, rest } => {
            format!("[{}{}]", items.iter().map(shape).collect::<Vec<_>>().join(" "), if *rest { " ..." } else { "" })
        }
        ExprKind::Struct { fields, rest } => {
            let fields: Vec<String> = fields.iter().map(|f| format!("{}={}", f.name.name, shape(&f.value))).collect();
            format!("{{{}{}}}", fields.join(" "), if *rest { " ..." } else { "" })
        }
        ExprKind::Invalid => "{#}".into(),
        ExprKind::Dots => "...".into(),
        ExprKind::Default => "default".into(),
        ExprKind::DontCare => "_".into(),
        ExprKind::Mask { value, mask } => format!("(&&& {} {})", shape(value), shape(mask)),
        ExprKind::Range { lo, hi } => format!("(.. {} {})", shape(lo), shape(hi)),
    }
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    // `g` and `G` are generic, `f` is not; `T` is a type; `v` is a value; other names are unknown.
    let prelude = "extern R g<R>(in R x); extern G<A> { void m<B>(in B b); } header T {} extern bit f(in bit x); const int v = 1;";
    for (text, expected) in cases {
        assert_eq!(shape(&parse_expr(prelude, text)), *expected, "{text}");
    }
}

#[test]
fn operators_bind_by_precedence() {
    check(&[
        ("a + b * c", "(+ a (* b c))"),
        ("a * b + c", "(+ (* a b) c)"),
        ("a - b - c", "(- (- a b) c)"),
        ("a << b + c", "(<< a (+ b c))"),
        ("a & b == c", "(== (& a b) c)"),
        ("a | b ^ c & d", "(| a (^ b (& c d)))"),
        ("a & b << c", "(& a (<< b c))"),
        ("a < b == c < d", "(== (< a b) (< c d))"),
        ("a == b && c || d", "(|| (&& (== a b) c) d)"),
        ("a || b && c", "(|| a (&& b c))"),
        ("a ++ b + c ++ d", "(++ (+ (++ a b) c) d)"),
        ("a |+| b |-| c", "(|-| (|+| a b) c)"),
        ("a ? b : c ? d : e", "(? a b (? c d e))"),
        ("a ? b ? c : d : e", "(? a (? b c d) e)"),
        ("a || b ? c : d", "(? (|| a b) c d)"),
        ("(a + b) * c", "(* (+ a b) c)"),
        ("-a + ~b", "(+ (neg a) (~ b))"),
        ("!a.b", "(! (. a b))"),
        ("- - +a", "(neg (neg (+ a)))"),
        ("-a[3:0]", "(neg ([:] a 3 0))"),
        ("a >> b > c >= d", "(>= (> (>> a b) c) d)"),
        ("1 % 2 / 3", "(/ (% 1 2) 3)"),
    ]);
}

#[test]
fn postfix_forms_chain() {
    check(&[
        ("a.b.c[1].d", "(. ([] (. (. a b) c) 1) d)"),
        ("a[7:4][1:0]", "([:] ([:] a 7 4) 1 0)"),
        ("a[i +: 8]", "([+:] a i 8)"),
        ("a.f(1, x = 2, _)", "(call (. a f) 1 x=2 _)"),
        (".f(1)", "(call .f 1)"),
        ("error.NoError", "(. <error> NoError)"),
        ("t.apply().hit", "(. (call (. t apply)) hit)"),
        ("this.f(y = _)", "(call (. this f) y=_)"),
        ("a.apply.key.list", "(. (. (. a apply) key) list)"),
        ("f(1,)", "(call f 1)"),
    ]);
}

#[test]
fn less_than_and_type_arguments() {
    check(&[
        // Names known to be generic.
        ("g<bit<8>>(v)", "(call g <bit<8>> v)"),
        ("g<tuple<bit<8>, G<G<bit>>>>(v)", "(call g <tuple<bit<8>, G<G<bit>>>> v)"),
        ("G<bit>.m(v)", "(call (. <G<bit>> m) v)"),
        ("g<_>(v)", "(call g <_> v)"),
        // Names known not to be.
        ("v < a", "(< v a)"),
        ("v < a > (b)", "(> (< v a) b)"),
        // Unknown names and members, by what follows.
        ("a < b", "(< a b)"),
        ("a < b > (c)", "(call a <b> c)"),
        ("p.lookahead<bit<16>>()", "(call (. p lookahead) <bit<16>>)"),
        ("p.lookahead<T>().x", "(. (call (. p lookahead) <T>) x)"),
        ("a.b < c.d", "(< (. a b) (. c d))"),
        ("a.b < c && d > e", "(&& (< (. a b) c) (> d e))"),
        ("a.b < (c) + d", "(< (. a b) (+ c d))"),
        ("f(a < b, c > d)", "(call f (< a b) (> c d))"),
        // Widths are expressions up to the `>`, and may hold anything in parentheses.
        ("g<bit<W + 1>>(v)", "(call g <bit<(W + 1)>> v)"),
        ("g<bit<(W > 1 ? 1 : 2)>>(v)", "(call g <bit<(W > 1 ? 1 : 2)>> v)"),
        ("g<bit<(W >> 1)>>(v)", "(call g <bit<(W >> 1)>> v)"),
    ]);
}

#[test]
fn casts_and_parentheses() {
    check(&[
        ("(bit<8>) a", "(as bit<8> a)"),
        ("(bit<8>) a + b", "(+ (as bit<8> a) b)"),
        ("(bit<8>)(int<8>) -a", "(as bit<8> (as int<8> (neg a)))"),
        ("(T) { 1, 2 }", "(as T [1 2])"),
        ("(T) -1", "(as T (neg 1))"),
        ("(v) - 1", "(- v 1)"),
        ("(unknown) x", "(as unknown x)"),
        ("(unknown) - 1", "(- unknown 1)"),
        ("(G<bit<8>>) a", "(as G<bit<8>> a)"),
        ("(.T) a", "(as .T a)"),
        ("(T[3]) { a, b, c }", "(as T[3] [a b c])"),
        ("(v[3]) + 1", "(+ ([] v 3) 1)"),
        ("(tuple<bit<8>, bool>) { 1, true }", "(as tuple<bit<8>, bool> [1 true])"),
        ("(error) x", "(as error x)"),
        ("(error.A)", "(. <error> A)"),
        ("(list<bit>) { 1 }", "(as list<bit> [1])"),
    ]);
}

#[test]
fn initialisers_and_literals() {
    check(&[
        ("{}", "[]"),
        ("{#}", "{#}"),
        ("{1, 2,}", "[1 2]"),
        ("{1, ...}", "[1 ...]"),
        ("{...}", "[ ...]"),
        ("{a = 1, b = {c = 2}}", "{a=1 b={c=2}}"),
        ("{a = 1, ...,}", "{a=1 ...}"),
        ("{a == 1}", "[(== a 1)]"),
        ("...", "..."),
        ("16w0xBEEF", "16w0xBEEF"),
        ("4s0b1_0", "4s0b10"),
        ("\"a\\\"b\"", "\"a\\\"b\""),
    ]);
}
