//! What is computed: expressions (P4_16 §8), literals (§6.4.3) and operators.

use super::{Ident, Path, Type};
use crate::span::Span;
use num_bigint::BigInt;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// Which.
    pub kind: ExprKind,
    /// Where. Parentheses around an expression are not part of the tree but are part of its span.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// `true`, `false`
    Bool(bool),
    /// `7`, `8w0xFF`, `4s1`
    Int(IntLit),
    /// `"text"`, escapes resolved
    Str(String),
    /// A name (a value, type, function, action, ... - unresolved)
    Path(Path),
    /// A type where it is the base of a member: `error.NoError`, `H<bit<8>>.apply(...)`; or a callee with no simple
    /// name
    Type(Box<Type>),
    /// `this`
    This,
    /// `base.member`; the base may name a type
    Member {
        /// Left of the dot.
        base: Box<Expr>,
        /// Right of the dot.
        member: Ident,
    },
    /// `base[index]`
    Index {
        /// The stack or tuple.
        base: Box<Expr>,
        /// The index.
        index: Box<Expr>,
    },
    /// `base[hi:lo]`
    Slice {
        /// The sliced value.
        base: Box<Expr>,
        /// Highest bit, included.
        hi: Box<Expr>,
        /// Lowest bit, included.
        lo: Box<Expr>,
    },
    /// `base[lo +: width]`
    PlusSlice {
        /// The sliced value.
        base: Box<Expr>,
        /// Lowest bit, may vary at run time.
        lo: Box<Expr>,
        /// Number of bits.
        width: Box<Expr>,
    },
    /// `callee<type_args>(args)`: function, method, action or constructor call
    Call {
        /// What is called.
        callee: Box<Expr>,
        /// Type arguments; empty if there are none.
        type_args: Vec<Type>,
        /// Arguments.
        args: Vec<Arg>,
    },
    /// `-a`, `!a`, ...
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `a + b`, ...
    Binary {
        /// The operator.
        op: BinOp,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `cond ? then : otherwise`
    Ternary {
        /// The condition.
        cond: Box<Expr>,
        /// The value if true.
        then: Box<Expr>,
        /// The value if false.
        otherwise: Box<Expr>,
    },
    /// `(ty) operand`, also `(ty) { ... }`
    Cast {
        /// The type.
        ty: Box<Type>,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `{ a, b }` or with `...` at the end for default values of the rest
    List {
        /// The elements.
        items: Vec<Expr>,
        /// Whether `...` ends the list.
        rest: bool,
    },
    /// `{ f = a, g = b }` or with `...` at the end
    Struct {
        /// The fields.
        fields: Vec<FieldInit>,
        /// Whether `...` ends the list.
        rest: bool,
    },
    /// `{#}`, an invalid header or header union
    Invalid,
    /// `...`, the default value of the type wanted
    Dots,
    /// `default` in a keyset or a switch
    Default,
    /// `_` in a keyset or as an argument of an `out` parameter
    DontCare,
    /// `value &&& mask` in a keyset
    Mask {
        /// The value.
        value: Box<Expr>,
        /// Bits that count.
        mask: Box<Expr>,
    },
    /// `lo .. hi` in a keyset or a `for`; both ends included
    Range {
        /// Lowest value.
        lo: Box<Expr>,
        /// Highest value.
        hi: Box<Expr>,
    },
}

impl Expr {
    /// The expressions of which it consists directly, in the order in which they are written.
    pub fn operands<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Call { callee, args, .. } => {
                f(callee);
                args.iter().for_each(|x| f(&x.value));
            }
            ExprKind::Member { base, .. } => f(base),
            ExprKind::Index { base: a, index: b }
            | ExprKind::Binary { left: a, right: b, .. }
            | ExprKind::Mask { value: a, mask: b }
            | ExprKind::Range { lo: a, hi: b } => {
                f(a);
                f(b);
            }
            ExprKind::Slice { base: a, hi: b, lo: c }
            | ExprKind::PlusSlice { base: a, lo: b, width: c }
            | ExprKind::Ternary { cond: a, then: b, otherwise: c } => {
                f(a);
                f(b);
                f(c);
            }
            ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => f(operand),
            ExprKind::List { items, .. } => items.iter().for_each(f),
            ExprKind::Struct { fields, .. } => fields.iter().for_each(|x| f(&x.value)),
            ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Str(_)
            | ExprKind::Path(_)
            | ExprKind::Type(_)
            | ExprKind::This
            | ExprKind::Invalid
            | ExprKind::Dots
            | ExprKind::Default
            | ExprKind::DontCare => {}
        }
    }
}

/// A number as written (P4_16 §6.4.3.2)
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct IntLit {
    /// The digits' value, never negative; not yet cut to the width.
    pub value: BigInt,
    /// `8w` or `8s`; `None` for a number of any size.
    pub width: Option<IntWidth>,
    /// The base it was written in: 2, 8, 10 or 16.
    pub radix: u8,
}

/// The width prefix of a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntWidth {
    /// Bits.
    pub bits: u32,
    /// `s` (signed) rather than `w`.
    pub signed: bool,
}

/// One `name = value` of a struct initialiser or structured annotation.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldInit {
    /// The field.
    pub name: Ident,
    /// Its value.
    pub value: Expr,
    /// Both.
    pub span: Span,
}

/// One argument: `value` or `name = value`; the value may be [`ExprKind::DontCare`].
#[derive(Clone, PartialEq, Debug)]
pub struct Arg {
    /// The parameter, if named.
    pub name: Option<Ident>,
    /// The value.
    pub value: Expr,
    /// Both.
    pub span: Span,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `~`
    BitNot,
    /// `-`
    Neg,
    /// `+`
    Plus,
}

impl UnaryOp {
    /// The operator as spelled.
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Not => "!",
            UnaryOp::BitNot => "~",
            UnaryOp::Neg => "-",
            UnaryOp::Plus => "+",
        }
    }
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Mod,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `|+|`, saturating
    SatAdd,
    /// `|-|`, saturating
    SatSub,
    /// `++`, concatenation
    Concat,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&&`
    And,
    /// `||`
    Or,
}

impl BinOp {
    /// The operator as spelled.
    pub fn text(self) -> &'static str {
        match self {
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::Mod => "%",
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::SatAdd => "|+|",
            BinOp::SatSub => "|-|",
            BinOp::Concat => "++",
            BinOp::Shl => "<<",
            BinOp::Shr => ">>",
            BinOp::BitAnd => "&",
            BinOp::BitXor => "^",
            BinOp::BitOr => "|",
            BinOp::Lt => "<",
            BinOp::Le => "<=",
            BinOp::Gt => ">",
            BinOp::Ge => ">=",
            BinOp::Eq => "==",
            BinOp::Ne => "!=",
            BinOp::And => "&&",
            BinOp::Or => "||",
        }
    }

    /// Binding strength, higher binds tighter. As in C, except that `&`, `^` and `|` bind tighter than comparisons, and
    /// `++` binds like `+` (P4_16 §8).
    pub fn precedence(self) -> u8 {
        match self {
            BinOp::Mul | BinOp::Div | BinOp::Mod => 10,
            BinOp::Add | BinOp::Sub | BinOp::SatAdd | BinOp::SatSub | BinOp::Concat => 9,
            BinOp::Shl | BinOp::Shr => 8,
            BinOp::BitAnd => 7,
            BinOp::BitXor => 6,
            BinOp::BitOr => 5,
            BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => 4,
            BinOp::Eq | BinOp::Ne => 3,
            BinOp::And => 2,
            BinOp::Or => 1,
        }
    }
}
