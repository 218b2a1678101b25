//! What does a P4_16 program say? The syntax tree, after preprocessing and before names and types are looked at.
//!
//! Every node carries a [`Span`]. Names are unresolved: whether `f(x)` is a function, method, action or constructor call,
//! and whether `a.b` reads a field or names an enum member, is for the checker. Trees made by the parser are at most
//! [`crate::MAX_DEPTH`] nodes deep per nested construct, so recursive walks fit an ordinary thread's stack.

mod decls;
mod exprs;
mod stmts;

pub use decls::*;
pub use exprs::*;
pub use stmts::*;

use crate::span::Span;
use num_bigint::BigInt;

/// A whole program, includes expanded (P4_16 §6, `p4program`).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// The top-level declarations in source order.
    pub decls: Vec<Decl>,
}

/// A name where it is declared or used.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ident {
    /// The text of the name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// A reference by name: `x`, or `.x` for the top-level `x` (P4_16 §6.8).
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// Whether a leading dot forces look-up at top level.
    pub global: bool,
    /// The name.
    pub name: Ident,
    /// Dot and name.
    pub span: Span,
}

// ---------------------------------------------------------------------------------------------------------------------
// Annotations (P4_16 §20)

/// `@name`, `@name(tokens)`, `@name[structured]` or `@pragma name tokens`.
#[derive(Clone, PartialEq, Debug)]
pub struct Annotation {
    /// The name behind the `@` (for a pragma the name behind `@pragma`).
    pub name: Ident,
    /// What follows the name.
    pub body: AnnotationBody,
    /// The whole annotation.
    pub span: Span,
}

/// The argument of an annotation.
#[derive(Clone, PartialEq, Debug)]
pub enum AnnotationBody {
    /// Nothing: `@name`.
    None,
    /// Any tokens with balanced parentheses: `@name(...)`.
    Unstructured(Vec<AnnotationToken>),
    /// Expressions: `@name[1, "a"]` (possibly none: `@name[]`).
    Exprs(Vec<Expr>),
    /// Key-value pairs: `@name[a = 1, b = 2]`.
    Pairs(Vec<FieldInit>),
    /// The rest of the line: `@pragma name ...`.
    Pragma(Vec<AnnotationToken>),
}

/// One token of an unstructured annotation.
#[derive(Clone, PartialEq, Debug)]
pub struct AnnotationToken {
    /// What it is.
    pub kind: AnnotationTokenKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of token told apart inside an unstructured annotation.
#[derive(Clone, PartialEq, Debug)]
pub enum AnnotationTokenKind {
    /// A name or keyword.
    Word(String),
    /// A number.
    Int(IntLit),
    /// A string, escapes resolved.
    Str(String),
    /// An operator or bracket, as spelled.
    Punct(&'static str),
    /// Characters that are no token of P4.
    Other(String),
}

impl Annotation {
    /// The string of `@name("text")` or `@name["text"]`; `None` for any other body.
    pub fn string(&self) -> Option<&str> {
        match &self.body {
            AnnotationBody::Unstructured(tokens) | AnnotationBody::Pragma(tokens) => match tokens.as_slice() {
                [AnnotationToken { kind: AnnotationTokenKind::Str(s), .. }] => Some(s),
                _ => None,
            },
            AnnotationBody::Exprs(exprs) => match exprs.as_slice() {
                [Expr { kind: ExprKind::Str(s), .. }] => Some(s),
                _ => None,
            },
            _ => None,
        }
    }

    /// The number of `@name(7)` or `@name[7]`; `None` for any other body.
    pub fn int(&self) -> Option<&BigInt> {
        match &self.body {
            AnnotationBody::Unstructured(tokens) | AnnotationBody::Pragma(tokens) => match tokens.as_slice() {
                [AnnotationToken { kind: AnnotationTokenKind::Int(i), .. }] => Some(&i.value),
                _ => None,
            },
            AnnotationBody::Exprs(exprs) => match exprs.as_slice() {
                [Expr { kind: ExprKind::Int(i), .. }] => Some(&i.value),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The annotation called `name`, if there is one (the last wins).
pub fn find_annotation<'a>(annotations: &'a [Annotation], name: &str) -> Option<&'a Annotation> {
    annotations.iter().rev().find(|a| a.name.name == name)
}

// ---------------------------------------------------------------------------------------------------------------------
// Types (P4_16 §7)

/// A type as written.
#[derive(Clone, PartialEq, Debug)]
pub struct Type {
    /// Which.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// The kinds of type.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeKind {
    /// `bool`
    Bool,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// `string`
    String,
    /// `void`
    Void,
    /// `int`, of any size
    Int,
    /// `bit` (one bit) or `bit<w>`
    Bit(Option<Box<Expr>>),
    /// `int<w>`
    SizedInt(Box<Expr>),
    /// `varbit<w>`
    Varbit(Box<Expr>),
    /// A named type, with type arguments if `<...>` is there (empty if it is not)
    Named {
        /// The name.
        path: Path,
        /// The type arguments.
        args: Vec<Type>,
    },
    /// `elem[size]`, a header stack (array)
    Stack {
        /// The element type.
        elem: Box<Type>,
        /// The number of elements.
        size: Box<Expr>,
    },
    /// `tuple<...>`
    Tuple(Vec<Type>),
    /// `list<T>`
    List(Box<Type>),
    /// `_` as a type argument
    DontCare,
}
