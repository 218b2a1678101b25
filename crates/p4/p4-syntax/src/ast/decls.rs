//! What is declared: types, externs, parsers, controls, actions, functions (P4_16 §6.8, §7, §10 - §14), and tables (§14.2).

use super::{Annotation, Arg, Block, Expr, Ident, Path, Stmt, Type};
use crate::span::Span;

/// A declaration: top level, or local to a parser, control, block or object initialiser.
///
/// The parser only puts a kind where the grammar allows it: tables and actions with tables appear in controls, value sets
/// in parsers, variables in parsers, controls and blocks.
#[derive(Clone, PartialEq, Debug)]
pub struct Decl {
    /// Annotations in front, in order.
    pub annotations: Vec<Annotation>,
    /// What is declared.
    pub kind: DeclKind,
    /// From the first annotation to the closing `;` or `}`.
    pub span: Span,
}

/// The kinds of declaration.
#[derive(Clone, PartialEq, Debug)]
pub enum DeclKind {
    /// `const T x = e;`
    Const(ConstDecl),
    /// `T x;` or `T x = e;`
    Var(VarDecl),
    /// `error { A, B }`
    Error(Vec<Ident>),
    /// `match_kind { exact, lpm }`
    MatchKind(Vec<Ident>),
    /// `struct`, `header` or `header_union`
    Composite(CompositeDecl),
    /// `enum`, with or without an underlying type
    Enum(EnumDecl),
    /// `typedef T N;` or `type T N;`
    Typedef(TypedefDecl),
    /// `extern E { ... }`
    Extern(ExternDecl),
    /// A function, with a body or (behind `extern`) without
    Function(FunctionDecl),
    /// `action a(...) { ... }`
    Action(ActionDecl),
    /// `parser P(...);` or `parser P(...) { ... }`
    Parser(ParserDecl),
    /// `control C(...);` or `control C(...) { ... }`
    Control(ControlDecl),
    /// `package P(...);`
    Package(PackageDecl),
    /// `T(args) x;`
    Instantiation(Instantiation),
    /// `table t { ... }`
    Table(TableDecl),
    /// `value_set<T>(n) vs;`
    ValueSet(ValueSetDecl),
}

impl Decl {
    /// The declared name; `None` for `error` and `match_kind`, which declare many.
    pub fn name(&self) -> Option<&Ident> {
        Some(match &self.kind {
            DeclKind::Const(d) => &d.name,
            DeclKind::Var(d) => &d.name,
            DeclKind::Error(_) | DeclKind::MatchKind(_) => return None,
            DeclKind::Composite(d) => &d.name,
            DeclKind::Enum(d) => &d.name,
            DeclKind::Typedef(d) => &d.name,
            DeclKind::Extern(d) => &d.name,
            DeclKind::Function(d) => &d.name,
            DeclKind::Action(d) => &d.name,
            DeclKind::Parser(d) => &d.name,
            DeclKind::Control(d) => &d.name,
            DeclKind::Package(d) => &d.name,
            DeclKind::Instantiation(d) => &d.name,
            DeclKind::Table(d) => &d.name,
            DeclKind::ValueSet(d) => &d.name,
        })
    }
}

/// `const ty name = value;` (P4_16 §11.1)
#[derive(Clone, PartialEq, Debug)]
pub struct ConstDecl {
    /// The declared type.
    pub ty: Type,
    /// The name.
    pub name: Ident,
    /// The value, a compile-time constant once checked.
    pub value: Expr,
}

/// `ty name [= init];` (P4_16 §11.2)
#[derive(Clone, PartialEq, Debug)]
pub struct VarDecl {
    /// The declared type.
    pub ty: Type,
    /// The name.
    pub name: Ident,
    /// The initial value, if any.
    pub init: Option<Expr>,
}

/// `struct`, `header` or `header_union` (P4_16 §7.2.2 - §7.2.5)
#[derive(Clone, PartialEq, Debug)]
pub struct CompositeDecl {
    /// Which of the three.
    pub kind: CompositeKind,
    /// The name.
    pub name: Ident,
    /// Generic parameters, usually none.
    pub type_params: Vec<Ident>,
    /// The fields in order.
    pub fields: Vec<FieldDecl>,
}

/// Which composite type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum CompositeKind {
    /// `struct`
    Struct,
    /// `header`
    Header,
    /// `header_union`
    HeaderUnion,
}

/// One field of a struct, header or header union.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldDecl {
    /// Annotations in front.
    pub annotations: Vec<Annotation>,
    /// The field's type.
    pub ty: Type,
    /// The field's name.
    pub name: Ident,
    /// The whole field.
    pub span: Span,
}

/// `enum [ty] name { members }` (P4_16 §7.2.1)
#[derive(Clone, PartialEq, Debug)]
pub struct EnumDecl {
    /// The underlying type of a serializable enum.
    pub underlying: Option<Type>,
    /// The name.
    pub name: Ident,
    /// The members in order.
    pub members: Vec<EnumMember>,
}

/// One member of an enum.
#[derive(Clone, PartialEq, Debug)]
pub struct EnumMember {
    /// The name.
    pub name: Ident,
    /// The value, given for serializable enums only.
    pub value: Option<Expr>,
    /// The whole member.
    pub span: Span,
}

/// `typedef target name;` or `type target name;` (P4_16 §7.3, §7.4)
#[derive(Clone, PartialEq, Debug)]
pub struct TypedefDecl {
    /// `true` for `type` (a new type), `false` for `typedef` (another name).
    pub is_new_type: bool,
    /// What the name stands for.
    pub target: TypedefTarget,
    /// The new name.
    pub name: Ident,
}

/// What a typedef names.
#[derive(Clone, PartialEq, Debug)]
pub enum TypedefTarget {
    /// An existing type.
    Type(Type),
    /// A struct, header, header union or enum declared on the spot.
    Decl(Box<Decl>),
}

/// `extern name<...> { methods }` (P4_16 §7.2.10)
#[derive(Clone, PartialEq, Debug)]
pub struct ExternDecl {
    /// The name.
    pub name: Ident,
    /// Generic parameters.
    pub type_params: Vec<Ident>,
    /// Constructors and methods in order.
    pub methods: Vec<Method>,
}

/// A constructor or method prototype of an extern.
#[derive(Clone, PartialEq, Debug)]
pub struct Method {
    /// Annotations in front.
    pub annotations: Vec<Annotation>,
    /// Whether the program must supply the body at instantiation.
    pub is_abstract: bool,
    /// The result; `None` for a constructor.
    pub ret: Option<Type>,
    /// The name; equals the extern's name for a constructor.
    pub name: Ident,
    /// Generic parameters.
    pub type_params: Vec<Ident>,
    /// Parameters.
    pub params: Vec<Param>,
    /// The whole prototype.
    pub span: Span,
}

/// A function (P4_16 §10); also the body of an abstract method in an instantiation.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionDecl {
    /// The result.
    pub ret: Type,
    /// The name.
    pub name: Ident,
    /// Generic parameters.
    pub type_params: Vec<Ident>,
    /// Parameters.
    pub params: Vec<Param>,
    /// The body; `None` for `extern` functions.
    pub body: Option<Block>,
}

/// An action (P4_16 §14.1)
#[derive(Clone, PartialEq, Debug)]
pub struct ActionDecl {
    /// The name.
    pub name: Ident,
    /// Parameters: with a direction from the data plane, without from the control plane.
    pub params: Vec<Param>,
    /// The body.
    pub body: Block,
}

/// One parameter of anything that takes parameters (P4_16 §6.8)
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// Annotations in front, such as `@optional`.
    pub annotations: Vec<Annotation>,
    /// The direction, if given.
    pub direction: Option<Direction>,
    /// The type.
    pub ty: Type,
    /// The name.
    pub name: Ident,
    /// The default value, if given.
    pub default: Option<Expr>,
    /// The whole parameter.
    pub span: Span,
}

/// Parameter directions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Direction {
    /// `in`
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
}

/// A parser type or a parser (P4_16 §13)
#[derive(Clone, PartialEq, Debug)]
pub struct ParserDecl {
    /// The name.
    pub name: Ident,
    /// Generic parameters (of a parser type).
    pub type_params: Vec<Ident>,
    /// Parameters of the application.
    pub params: Vec<Param>,
    /// Parameters of the constructor; empty if there is no second list.
    pub constructor_params: Vec<Param>,
    /// `None` for a parser type.
    pub body: Option<ParserBody>,
}

/// The inside of a parser.
#[derive(Clone, PartialEq, Debug)]
pub struct ParserBody {
    /// Constants, variables, instances and value sets, in order.
    pub locals: Vec<Decl>,
    /// The states, in order.
    pub states: Vec<ParserState>,
}

/// `state name { statements transition }`
#[derive(Clone, PartialEq, Debug)]
pub struct ParserState {
    /// Annotations in front.
    pub annotations: Vec<Annotation>,
    /// The name.
    pub name: Ident,
    /// The statements before the transition.
    pub stmts: Vec<Stmt>,
    /// Where to go; `None` means `reject` (P4_16 §13.5).
    pub transition: Option<Transition>,
    /// The whole state.
    pub span: Span,
}

/// How a state ends.
#[derive(Clone, PartialEq, Debug)]
pub enum Transition {
    /// `transition name;`
    Direct(Ident),
    /// `transition select(...) { ... }`
    Select(Select),
}

/// A select expression (P4_16 §13.6)
#[derive(Clone, PartialEq, Debug)]
pub struct Select {
    /// The values looked at. The grammar allows none.
    pub keys: Vec<Expr>,
    /// The cases, tried in order.
    pub cases: Vec<SelectCase>,
    /// From `select` to `}`.
    pub span: Span,
}

/// `keyset : next;`
#[derive(Clone, PartialEq, Debug)]
pub struct SelectCase {
    /// What to match.
    pub keyset: Keyset,
    /// The state to go to.
    pub next: Ident,
    /// The whole case.
    pub span: Span,
}

/// The set side of a select case or of a table entry: one element a key, or a single `default`/`_` for all.
#[derive(Clone, PartialEq, Debug)]
pub struct Keyset {
    /// Elements: ordinary expressions, [`ExprKind::Mask`](crate::ast::ExprKind::Mask), [`ExprKind::Range`](crate::ast::ExprKind::Range), [`ExprKind::Default`](crate::ast::ExprKind::Default) or
    /// [`ExprKind::DontCare`](crate::ast::ExprKind::DontCare).
    pub elems: Vec<Expr>,
    /// The whole set with its parentheses.
    pub span: Span,
}

/// `value_set<ty>(size) name;` (P4_16 §13.11)
#[derive(Clone, PartialEq, Debug)]
pub struct ValueSetDecl {
    /// The element type.
    pub ty: Type,
    /// How many elements it must hold.
    pub size: Expr,
    /// The name.
    pub name: Ident,
}

/// A control type or a control (P4_16 §14)
#[derive(Clone, PartialEq, Debug)]
pub struct ControlDecl {
    /// The name.
    pub name: Ident,
    /// Generic parameters (of a control type).
    pub type_params: Vec<Ident>,
    /// Parameters of the application.
    pub params: Vec<Param>,
    /// Parameters of the constructor; empty if there is no second list.
    pub constructor_params: Vec<Param>,
    /// `None` for a control type.
    pub body: Option<ControlBody>,
}

/// The inside of a control.
#[derive(Clone, PartialEq, Debug)]
pub struct ControlBody {
    /// Constants, variables, instances, actions and tables, in order.
    pub locals: Vec<Decl>,
    /// The `apply` block.
    pub apply: Block,
}

/// `package name(...);` (P4_16 §7.2.13)
#[derive(Clone, PartialEq, Debug)]
pub struct PackageDecl {
    /// The name.
    pub name: Ident,
    /// Generic parameters.
    pub type_params: Vec<Ident>,
    /// Constructor parameters.
    pub params: Vec<Param>,
}

/// `ty(args) name [= { members }];` (P4_16 §11.3)
#[derive(Clone, PartialEq, Debug)]
pub struct Instantiation {
    /// What is instantiated: a named type, possibly with type arguments; an array of it for `T(args) x[n];`.
    pub ty: Type,
    /// Constructor arguments.
    pub args: Vec<Arg>,
    /// The instance's name.
    pub name: Ident,
    /// Bodies of abstract methods and nested instances; `None` without an initialiser.
    pub members: Option<Vec<Decl>>,
}

// ---------------------------------------------------------------------------------------------------------------------
// Tables (P4_16 §14.2)

/// `table name { properties }`
#[derive(Clone, PartialEq, Debug)]
pub struct TableDecl {
    /// The name.
    pub name: Ident,
    /// The properties in source order.
    pub properties: Vec<TableProperty>,
}

impl TableDecl {
    /// The key elements, if the table has a `key`.
    pub fn key(&self) -> Option<&[KeyElement]> {
        self.properties.iter().find_map(|p| match &p.kind {
            TablePropertyKind::Key(key) => Some(key.as_slice()),
            _ => None,
        })
    }

    /// The listed actions, if the table has `actions`.
    pub fn actions(&self) -> Option<&[ActionRef]> {
        self.properties.iter().find_map(|p| match &p.kind {
            TablePropertyKind::Actions(actions) => Some(actions.as_slice()),
            _ => None,
        })
    }

    /// Whether the entries are `const`, and the entries, if the table has `entries`.
    pub fn entries(&self) -> Option<(bool, &[TableEntry])> {
        self.properties.iter().find_map(|p| match &p.kind {
            TablePropertyKind::Entries(entries) => Some((p.is_const, entries.as_slice())),
            _ => None,
        })
    }

    /// The first property `name = value` (`default_action`, `size`, `implementation`, ...) with its property.
    pub fn property(&self, name: &str) -> Option<(&TableProperty, &Expr)> {
        self.properties.iter().find_map(|p| match &p.kind {
            TablePropertyKind::Custom { name: n, value } if n.name == name => Some((p, value)),
            _ => None,
        })
    }
}

/// One property of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableProperty {
    /// Annotations in front.
    pub annotations: Vec<Annotation>,
    /// Whether `const` stands in front.
    pub is_const: bool,
    /// Which property.
    pub kind: TablePropertyKind,
    /// The whole property.
    pub span: Span,
}

/// The kinds of table property.
#[derive(Clone, PartialEq, Debug)]
pub enum TablePropertyKind {
    /// `key = { ... }`
    Key(Vec<KeyElement>),
    /// `actions = { ... }`
    Actions(Vec<ActionRef>),
    /// `entries = { ... }`
    Entries(Vec<TableEntry>),
    /// `name = value;`, among them `default_action` and `size`
    Custom {
        /// The property's name.
        name: Ident,
        /// The property's value.
        value: Expr,
    },
}

/// `expr : match_kind @annotations;`
#[derive(Clone, PartialEq, Debug)]
pub struct KeyElement {
    /// What is looked up.
    pub expr: Expr,
    /// How: `exact`, `lpm`, `ternary`, `range`, `optional`, ...
    pub match_kind: Ident,
    /// Annotations behind the match kind, such as `@name("x")`.
    pub annotations: Vec<Annotation>,
    /// The whole element.
    pub span: Span,
}

/// An action named by a table: `a;`, `a(x);`
#[derive(Clone, PartialEq, Debug)]
pub struct ActionRef {
    /// Annotations in front (`@tableonly`, `@defaultonly`), or behind for an entry.
    pub annotations: Vec<Annotation>,
    /// The action.
    pub path: Path,
    /// Arguments; `None` if there are no parentheses.
    pub args: Option<Vec<Arg>>,
    /// The whole reference.
    pub span: Span,
}

/// `[const] [priority = p :] keyset : action(args) @annotations;` (P4_16 §14.2.1.4)
#[derive(Clone, PartialEq, Debug)]
pub struct TableEntry {
    /// Whether this entry alone is `const`.
    pub is_const: bool,
    /// The priority, if given.
    pub priority: Option<Expr>,
    /// What to match.
    pub keyset: Keyset,
    /// What to do; its `annotations` are the entry's.
    pub action: ActionRef,
    /// The whole entry.
    pub span: Span,
}
