//! How is a syntax tree written as P4 text? The reverse of the parser: what is printed parses to an equal tree, spans
//! apart.
//!
//! Layout is fixed: four spaces a level, one declaration or statement a line. Parentheses are put where binding strength
//! asks for them, and around a sign behind a cast, where the parser would otherwise have to know the name to be a type.

mod decls;
mod stmts;

use crate::ast::*;
use crate::lexer::quote;
use std::fmt::Write as _;

/// A whole program as text.
pub fn print_program(program: &Program) -> String {
    let mut printer = Printer::default();
    for (i, decl) in program.decls.iter().enumerate() {
        if i > 0 {
            printer.out.push('\n');
        }
        printer.decl(decl);
    }
    printer.out
}

/// An expression as text.
pub fn print_expr(expr: &Expr) -> String {
    let mut printer = Printer::default();
    printer.expr(expr, Binding::Loosest);
    printer.out
}

/// A type as text.
pub fn print_type(ty: &Type) -> String {
    let mut printer = Printer::default();
    printer.ty(ty);
    printer.out
}

/// How tight an expression must bind to stand somewhere without parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    /// Anything may stand here.
    Loosest,
    /// Anything but `?:`.
    Binary(u8),
    /// An operand of a prefix operator.
    Prefix,
    /// The base of a member, an index or a call.
    Postfix,
}

#[derive(Default)]
struct Printer {
    out: String,
    indent: usize,
}

impl Printer {
    // -- layout -------------------------------------------------------------------------------------------------------

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Starts a line at the current indentation.
    fn start(&mut self) {
        self.out.extend(std::iter::repeat_n("    ", self.indent));
    }

    fn end(&mut self, text: &str) {
        self.put(text);
        self.out.push('\n');
    }

    /// `{`, one item a line, `}` without a line end.
    fn braced<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.end("{");
        self.indent += 1;
        for it in items {
            item(self, it);
        }
        self.indent -= 1;
        self.start();
        self.put("}");
    }

    fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        for (i, it) in items.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            item(self, it);
        }
    }

    // -- annotations --------------------------------------------------------------------------------------------------

    /// Annotations with a space behind each; pragmas end their line.
    fn annotations(&mut self, annotations: &[Annotation]) {
        for annotation in annotations {
            self.annotation(annotation);
            if matches!(annotation.body, AnnotationBody::Pragma(_)) {
                self.end("");
                self.start();
            } else {
                self.put(" ");
            }
        }
    }

    fn annotation(&mut self, annotation: &Annotation) {
        let name = &annotation.name.name;
        match &annotation.body {
            AnnotationBody::None => self.put(&format!("@{name}")),
            AnnotationBody::Unstructured(tokens) => {
                self.put(&format!("@{name}("));
                self.annotation_tokens(tokens);
                self.put(")");
            }
            AnnotationBody::Exprs(exprs) => {
                self.put(&format!("@{name}["));
                self.list(exprs, |p, e| p.expr(e, Binding::Loosest));
                self.put("]");
            }
            AnnotationBody::Pairs(pairs) => {
                self.put(&format!("@{name}["));
                self.list(pairs, Self::field_init);
                self.put("]");
            }
            AnnotationBody::Pragma(tokens) => {
                self.put(&format!("@pragma {name} "));
                self.annotation_tokens(tokens);
            }
        }
    }

    fn annotation_tokens(&mut self, tokens: &[AnnotationToken]) {
        for (i, token) in tokens.iter().enumerate() {
            if i > 0 {
                self.put(" ");
            }
            match &token.kind {
                AnnotationTokenKind::Word(text) | AnnotationTokenKind::Other(text) => self.put(text),
                AnnotationTokenKind::Int(lit) => self.put(&lit.text()),
                AnnotationTokenKind::Str(text) => self.put(&quote(text)),
                AnnotationTokenKind::Punct(text) => self.put(text),
            }
        }
    }

    // -- types --------------------------------------------------------------------------------------------------------

    fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Bool => self.put("bool"),
            TypeKind::Error => self.put("error"),
            TypeKind::MatchKind => self.put("match_kind"),
            TypeKind::String => self.put("string"),
            TypeKind::Void => self.put("void"),
            TypeKind::Int => self.put("int"),
            TypeKind::Bit(None) => self.put("bit"),
            TypeKind::Bit(Some(width)) => self.sized("bit", width),
            TypeKind::SizedInt(width) => self.sized("int", width),
            TypeKind::Varbit(width) => self.sized("varbit", width),
            TypeKind::Named { path, args } => {
                self.path(path);
                if !args.is_empty() {
                    self.type_args(args);
                }
            }
            TypeKind::Stack { elem, size } => {
                self.ty(elem);
                self.put("[");
                self.expr(size, Binding::Loosest);
                self.put("]");
            }
            TypeKind::Tuple(args) => {
                self.put("tuple");
                self.type_args(args);
            }
            TypeKind::List(elem) => {
                self.put("list");
                self.type_args(std::slice::from_ref(&**elem));
            }
            TypeKind::DontCare => self.put("_"),
        }
    }

    fn sized(&mut self, name: &str, width: &Expr) {
        self.put(name);
        let plain = matches!(width.kind, ExprKind::Int(_) | ExprKind::Path(_));
        self.put(if plain { "<" } else { "<(" });
        self.expr(width, Binding::Loosest);
        self.put(if plain { ">" } else { ")>" });
    }

    fn type_args(&mut self, args: &[Type]) {
        self.put("<");
        self.list(args, Self::ty);
        self.put(">");
    }

    fn path(&mut self, path: &Path) {
        if path.global {
            self.put(".");
        }
        self.put(&path.name.name);
    }

    // -- expressions --------------------------------------------------------------------------------------------------

    /// An expression, in parentheses if it binds looser than its place needs.
    fn expr(&mut self, expr: &Expr, place: Binding) {
        if binding(expr) < place {
            self.put("(");
            self.bare_expr(expr);
            self.put(")");
        } else {
            self.bare_expr(expr);
        }
    }

    fn bare_expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Bool(value) => self.put(if *value { "true" } else { "false" }),
            ExprKind::Int(lit) => self.put(&lit.text()),
            ExprKind::Str(text) => self.put(&quote(text)),
            ExprKind::Path(path) => self.path(path),
            ExprKind::Type(ty) => self.ty(ty),
            ExprKind::This => self.put("this"),
            ExprKind::Invalid => self.put("{#}"),
            ExprKind::Dots => self.put("..."),
            ExprKind::Default => self.put("default"),
            ExprKind::DontCare => self.put("_"),
            ExprKind::Member { base, member } => {
                self.expr(base, Binding::Postfix);
                self.put(&format!(".{}", member.name));
            }
            ExprKind::Index { base, index } => {
                self.expr(base, Binding::Postfix);
                self.put("[");
                self.expr(index, Binding::Loosest);
                self.put("]");
            }
            ExprKind::Slice { base, hi, lo } => self.slice(base, hi, ":", lo),
            ExprKind::PlusSlice { base, lo, width } => self.slice(base, lo, " +: ", width),
            ExprKind::Call { callee, type_args, args } => {
                self.expr(callee, Binding::Postfix);
                if !type_args.is_empty() {
                    self.type_args(type_args);
                }
                self.args(args);
            }
            ExprKind::Unary { op, operand } => {
                self.put(op.text());
                // `++` would be another token.
                let plain = !matches!(operand.kind, ExprKind::Unary { .. });
                self.expr(operand, if plain { Binding::Prefix } else { Binding::Postfix });
            }
            ExprKind::Cast { ty, operand } => {
                self.put("(");
                self.ty(ty);
                self.put(") ");
                let signed = matches!(operand.kind, ExprKind::Unary { .. });
                self.expr(operand, if signed { Binding::Postfix } else { Binding::Prefix });
            }
            ExprKind::Binary { op, left, right } => {
                self.expr(left, Binding::Binary(op.precedence()));
                self.put(&format!(" {} ", op.text()));
                self.expr(right, Binding::Binary(op.precedence() + 1));
            }
            ExprKind::Ternary { cond, then, otherwise } => {
                self.expr(cond, Binding::Binary(0));
                self.put(" ? ");
                self.expr(then, Binding::Loosest);
                self.put(" : ");
                self.expr(otherwise, Binding::Loosest);
            }
            ExprKind::List { items, rest } => {
                self.put("{");
                self.list(items, |p, item| p.expr(item, Binding::Loosest));
                self.rest(*rest, items.is_empty());
            }
            ExprKind::Struct { fields, rest } => {
                self.put("{");
                self.list(fields, Self::field_init);
                self.rest(*rest, fields.is_empty());
            }
            ExprKind::Mask { value, mask } => self.pair(value, "&&&", mask),
            ExprKind::Range { lo, hi } => self.pair(lo, "..", hi),
        }
    }

    fn slice(&mut self, base: &Expr, first: &Expr, between: &str, second: &Expr) {
        self.expr(base, Binding::Postfix);
        self.put("[");
        self.expr(first, Binding::Loosest);
        self.put(between);
        self.expr(second, Binding::Loosest);
        self.put("]");
    }

    fn pair(&mut self, left: &Expr, between: &str, right: &Expr) {
        self.expr(left, Binding::Loosest);
        self.put(&format!(" {between} "));
        self.expr(right, Binding::Loosest);
    }

    /// The end of an initialiser.
    fn rest(&mut self, rest: bool, empty: bool) {
        self.put(match (rest, empty) {
            (false, _) => "}",
            (true, true) => "...}",
            (true, false) => ", ...}",
        });
    }

    fn field_init(&mut self, field: &FieldInit) {
        self.put(&format!("{} = ", field.name.name));
        self.expr(&field.value, Binding::Loosest);
    }

    fn args(&mut self, args: &[Arg]) {
        self.put("(");
        self.list(args, |p, arg| {
            if let Some(name) = &arg.name {
                p.put(&format!("{} = ", name.name));
            }
            p.expr(&arg.value, Binding::Loosest);
        });
        self.put(")");
    }
}

/// How tight an expression binds as it is printed.
fn binding(expr: &Expr) -> Binding {
    match &expr.kind {
        ExprKind::Ternary { .. } | ExprKind::Mask { .. } | ExprKind::Range { .. } => Binding::Loosest,
        ExprKind::Binary { op, .. } => Binding::Binary(op.precedence()),
        ExprKind::Unary { .. } | ExprKind::Cast { .. } => Binding::Prefix,
        _ => Binding::Postfix,
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&print_type(self))
    }
}

impl std::fmt::Display for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&print_expr(self))
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.global {
            f.write_char('.')?;
        }
        f.write_str(&self.name.name)
    }
}
