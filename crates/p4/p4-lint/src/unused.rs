//! What is declared and never used? Variables, parameters, actions, instances and functions; of what is global only what stands in the
//! program's own file, as files that are included may serve others. Names that begin with `_` are meant to be unused.
//!
//! Not here: tables that are never applied and states that nothing goes to, which the checker sees; parameters of parsers and controls, which
//! the architecture asks for.

use crate::Files;
use p4_syntax::Diagnostic;
use p4_syntax::ast::{self, DeclKind, Direction, Expr, ExprKind, Ident, Stmt, StmtKind, TablePropertyKind, Transition};
use std::collections::HashMap;

/// What may turn out to be unused.
struct Item<'a> {
    name: &'a Ident,
    /// What it is, in words.
    what: String,
    variable: bool,
    read: bool,
    written: bool,
}

struct Finder<'a> {
    items: Vec<Item<'a>>,
    /// Innermost last; names of what is not followed are there too, as they hide others.
    scopes: Vec<HashMap<&'a str, Option<usize>>>,
}

pub(crate) fn find(program: &ast::Program, files: &Files) -> Vec<Diagnostic> {
    let mut f = Finder { items: Vec::new(), scopes: vec![HashMap::new()] };
    // What nothing uses in a file without `main` is for others to use.
    let whole = program.decls.iter().any(|d| matches!(&d.kind, DeclKind::Instantiation(i) if i.name.name == "main"));
    for d in &program.decls {
        let Some(name) = d.name() else { continue };
        let what = match &d.kind {
            DeclKind::Function(x) if x.body.is_some() => "function",
            DeclKind::Action(_) => "action",
            DeclKind::Parser(p) if p.body.is_some() => "parser",
            DeclKind::Control(c) if c.body.is_some() => "control",
            DeclKind::Instantiation(i) if i.name.name != "main" => "instance",
            _ => "",
        };
        // One item for all functions of a name.
        if f.scopes[0].contains_key(name.name.as_str()) {
            continue;
        }
        let follow = whole && !what.is_empty() && files.is_main(name.span);
        f.declare(name, follow.then(|| format!("{what} `{}`", name.name)), false);
    }
    program.decls.iter().for_each(|d| f.decl(d));
    f.items.iter().filter_map(Item::warning).collect()
}

impl Item<'_> {
    fn warning(&self) -> Option<Diagnostic> {
        let message = match (self.read, self.written) {
            _ if self.name.name.starts_with('_') => return None,
            (true, _) => return None,
            (false, true) => format!("{} is assigned, but never read", self.what),
            (false, false) => format!("{} is never used", self.what),
        };
        Some(Diagnostic::warning("unused", self.name.span, message))
    }
}

impl<'a> Finder<'a> {
    fn declare(&mut self, name: &'a Ident, what: Option<String>, variable: bool) {
        let item = what.map(|what| {
            self.items.push(Item { name, what, variable, read: false, written: false });
            self.items.len() - 1
        });
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(&name.name, item);
        }
    }

    fn inside(&mut self, f: impl FnOnce(&mut Self)) {
        self.scopes.push(HashMap::new());
        f(self);
        self.scopes.pop();
    }

    fn item(&mut self, path: &ast::Path) -> Option<&mut Item<'a>> {
        let name = path.name.name.as_str();
        let found = match path.global {
            true => self.scopes[0].get(name),
            false => self.scopes.iter().rev().find_map(|s| s.get(name)),
        };
        let at = (*found?)?;
        self.items.get_mut(at)
    }

    fn read(&mut self, path: &ast::Path) {
        if let Some(item) = self.item(path) {
            item.read = true;
        }
    }

    /// Names of types: of parsers, controls and instances that are constructed.
    fn ty(&mut self, ty: &'a ast::Type) {
        match &ty.kind {
            ast::TypeKind::Named { path, args } => {
                self.read(path);
                args.iter().for_each(|a| self.ty(a));
            }
            ast::TypeKind::Bit(Some(e)) | ast::TypeKind::SizedInt(e) | ast::TypeKind::Varbit(e) => self.expr(e),
            ast::TypeKind::Stack { elem, size } => {
                self.ty(elem);
                self.expr(size);
            }
            ast::TypeKind::Tuple(all) => all.iter().for_each(|a| self.ty(a)),
            ast::TypeKind::List(elem) => self.ty(elem),
            _ => {}
        }
    }

    fn decl(&mut self, d: &'a ast::Decl) {
        match &d.kind {
            DeclKind::Const(c) => {
                self.ty(&c.ty);
                self.expr(&c.value);
            }
            DeclKind::Composite(c) => c.fields.iter().for_each(|f| self.ty(&f.ty)),
            DeclKind::Typedef(ast::TypedefDecl { target: ast::TypedefTarget::Type(t), .. }) => self.ty(t),
            DeclKind::Extern(e) => e.methods.iter().for_each(|m| self.types_of(&m.params)),
            DeclKind::Package(p) => self.types_of(&p.params),
            DeclKind::Function(f) => {
                self.ty(&f.ret);
                let of = format!("function `{}`", f.name.name);
                self.inside(|s| s.callable(&f.params, &of, f.body.as_ref()));
            }
            DeclKind::Action(a) => self.action(a),
            DeclKind::Parser(p) => self.inside(|s| {
                s.block_params(&p.params, &p.constructor_params);
                for local in p.body.iter().flat_map(|b| &b.locals) {
                    s.local(local);
                }
                for state in p.body.iter().flat_map(|b| &b.states) {
                    s.inside(|s| s.state(state));
                }
            }),
            DeclKind::Control(c) => self.inside(|s| {
                s.block_params(&c.params, &c.constructor_params);
                let Some(body) = &c.body else { return };
                // An action may use tables and instances that stand behind it only by mistake, so one turn declares and uses.
                body.locals.iter().for_each(|d| s.local(d));
                s.inside(|s| s.stmts(&body.apply.stmts));
            }),
            DeclKind::Instantiation(i) => self.instantiation(i),
            _ => {}
        }
    }

    fn types_of(&mut self, params: &'a [ast::Param]) {
        for p in params {
            self.ty(&p.ty);
            p.default.iter().for_each(|e| self.expr(e));
        }
    }

    fn block_params(&mut self, params: &'a [ast::Param], constructor: &'a [ast::Param]) {
        self.types_of(params);
        self.types_of(constructor);
        params.iter().chain(constructor).for_each(|p| self.declare(&p.name, None, false));
    }

    fn callable(&mut self, params: &'a [ast::Param], of: &str, body: Option<&'a ast::Block>) {
        self.types_of(params);
        for p in params {
            // Whether results are set is a matter of its own.
            let follow = body.is_some() && p.direction != Some(Direction::Out);
            self.declare(&p.name, follow.then(|| format!("parameter `{}` of {of}", p.name.name)), false);
        }
        if let Some(body) = body {
            self.inside(|s| s.stmts(&body.stmts));
        }
    }

    fn action(&mut self, a: &'a ast::ActionDecl) {
        let of = format!("action `{}`", a.name.name);
        self.inside(|s| s.callable(&a.params, &of, Some(&a.body)));
    }

    fn instantiation(&mut self, i: &'a ast::Instantiation) {
        self.ty(&i.ty);
        i.args.iter().for_each(|a| self.expr(&a.value));
        for m in i.members.iter().flatten() {
            self.inside(|s| match &m.kind {
                // Its parameters are the extern's.
                DeclKind::Function(f) => {
                    s.block_params(&f.params, &[]);
                    f.body.iter().for_each(|b| s.inside(|s| s.stmts(&b.stmts)));
                }
                _ => s.local(m),
            });
        }
    }

    /// A declaration in a parser, control or block.
    fn local(&mut self, d: &'a ast::Decl) {
        match &d.kind {
            DeclKind::Var(v) => {
                self.ty(&v.ty);
                v.init.iter().for_each(|e| self.expr(e));
                self.declare(&v.name, Some(format!("variable `{}`", v.name.name)), true);
                let at = self.items.len() - 1;
                self.items[at].written = v.init.is_some();
            }
            DeclKind::Const(c) => {
                self.decl(d);
                self.declare(&c.name, None, false);
            }
            DeclKind::Action(a) => {
                self.action(a);
                self.declare(&a.name, Some(format!("action `{}`", a.name.name)), false);
            }
            DeclKind::Table(t) => {
                self.table(t);
                self.declare(&t.name, None, false);
            }
            DeclKind::Instantiation(i) => {
                self.instantiation(i);
                self.declare(&i.name, Some(format!("instance `{}`", i.name.name)), false);
            }
            DeclKind::ValueSet(v) => {
                self.ty(&v.ty);
                self.expr(&v.size);
                self.declare(&v.name, Some(format!("value set `{}`", v.name.name)), false);
            }
            _ => self.decl(d),
        }
    }

    fn table(&mut self, t: &'a ast::TableDecl) {
        for p in &t.properties {
            match &p.kind {
                TablePropertyKind::Key(keys) => keys.iter().for_each(|k| self.expr(&k.expr)),
                TablePropertyKind::Actions(actions) => actions.iter().for_each(|a| self.action_ref(a)),
                TablePropertyKind::Entries(entries) => {
                    for e in entries {
                        e.priority.iter().for_each(|x| self.expr(x));
                        e.keyset.elems.iter().for_each(|x| self.expr(x));
                        self.action_ref(&e.action);
                    }
                }
                TablePropertyKind::Custom { value, .. } => self.expr(value),
            }
        }
    }

    fn action_ref(&mut self, a: &'a ast::ActionRef) {
        self.read(&a.path);
        a.args.iter().flatten().for_each(|x| self.expr(&x.value));
    }

    fn state(&mut self, s: &'a ast::ParserState) {
        self.stmts(&s.stmts);
        if let Some(Transition::Select(select)) = &s.transition {
            select.keys.iter().for_each(|k| self.expr(k));
            select.cases.iter().flat_map(|c| &c.keyset.elems).for_each(|e| self.expr(e));
        }
    }

    fn stmts(&mut self, list: &'a [Stmt]) {
        list.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, s: &'a Stmt) {
        match &s.kind {
            StmtKind::Empty | StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) | StmtKind::Exit => {}
            StmtKind::Decl(d) => self.local(d),
            StmtKind::Assign { target, value, .. } => {
                self.expr(value);
                self.target(target);
            }
            StmtKind::Call(e) | StmtKind::Return(Some(e)) => self.expr(e),
            StmtKind::Block(b) => self.inside(|s| s.stmts(&b.stmts)),
            StmtKind::If { arms, otherwise } => {
                for arm in arms {
                    self.expr(&arm.cond);
                    self.inside(|s| s.stmt(&arm.then));
                }
                otherwise.iter().for_each(|o| self.inside(|s| s.stmt(o)));
            }
            StmtKind::Switch { key, cases } => {
                self.expr(key);
                // Labels may name actions, which is no use of them.
                for c in cases {
                    if !matches!(c.label.kind, ExprKind::Path(_)) {
                        self.expr(&c.label);
                    }
                    c.body.iter().for_each(|b| self.inside(|s| s.stmts(&b.stmts)));
                }
            }
            StmtKind::For { init, cond, update, body, .. } => self.inside(|s| {
                s.stmts(init);
                s.expr(cond);
                s.stmts(update);
                s.inside(|s| s.stmt(body));
            }),
            StmtKind::ForIn { ty, var, collection, body, .. } => self.inside(|s| {
                ty.iter().for_each(|t| s.ty(t));
                s.expr(collection);
                // A loop that only counts its turns has a variable that nothing reads.
                match ty {
                    Some(_) => s.declare(var, None, false),
                    None => s.read(&ast::Path { global: false, name: var.clone(), span: var.span }),
                }
                s.inside(|s| s.stmt(body));
            }),
        }
    }

    /// The left side of an assignment: the variable is written, what stands in indices is read.
    fn target(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Path(path) => match self.item(path) {
                Some(item) if item.variable => item.written = true,
                Some(item) => item.read = true,
                None => {}
            },
            ExprKind::Member { base, .. } => self.target(base),
            ExprKind::Index { base, index } => {
                self.target(base);
                self.expr(index);
            }
            ExprKind::Slice { base, hi, lo } => {
                self.target(base);
                self.expr(hi);
                self.expr(lo);
            }
            ExprKind::PlusSlice { base, lo, width } => {
                self.target(base);
                self.expr(lo);
                self.expr(width);
            }
            _ => self.expr(e),
        }
    }

    fn expr(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Path(path) => self.read(path),
            ExprKind::Type(ty) => self.ty(ty),
            ExprKind::Cast { ty, .. } => self.ty(ty),
            ExprKind::Call { type_args, .. } => type_args.iter().for_each(|t| self.ty(t)),
            _ => {}
        }
        e.operands(&mut |x| self.expr(x));
    }
}
