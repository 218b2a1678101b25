//! Does a variable inside a body hide a parameter? `Headers h = h;` means something else before and behind it, and what an
//! `out` parameter should have been given is lost without a word, so it is refused (as by p4c).
//!
//! What stands beside the parameters, such as a table of a control, may have the name of one of them: P4_16 §6.8 lets it.

use crate::lower::cx::Cx;
use p4_syntax::ast::{self, Decl, DeclKind, Ident, Stmt, StmtKind};
use p4_syntax::{Diagnostic, Span};
use std::collections::HashMap;

/// Parameters that are seen, by name.
type Params<'a> = HashMap<&'a str, Span>;

impl<'a> Cx<'a> {
    /// Looks at the bodies of all parsers, controls, actions and functions.
    pub(crate) fn shadowed_params(&mut self, program: &'a ast::Program) {
        for d in &program.decls {
            self.shadows_in(d, &mut Params::new());
        }
    }

    fn shadows_in(&mut self, d: &'a Decl, params: &mut Params<'a>) {
        let (own, blocks, locals): (Vec<&'a [ast::Param]>, Vec<&'a [Stmt]>, &'a [Decl]) = match &d.kind {
            DeclKind::Control(c) => match &c.body {
                Some(b) => (vec![&c.params, &c.constructor_params], vec![&b.apply.stmts], &b.locals),
                None => return,
            },
            DeclKind::Parser(p) => match &p.body {
                Some(b) => (vec![&p.params, &p.constructor_params], b.states.iter().map(|s| &s.stmts[..]).collect(), &b.locals),
                None => return,
            },
            DeclKind::Action(a) => (vec![&a.params], vec![&a.body.stmts], &[]),
            DeclKind::Function(f) => match &f.body {
                Some(b) => (vec![&f.params], vec![&b.stmts], &[]),
                None => return,
            },
            _ => return,
        };
        let before = params.clone();
        params.extend(own.into_iter().flatten().map(|p| (p.name.name.as_str(), p.name.span)));
        for local in locals {
            // From here on that name is not the parameter.
            if let Some(name) = local.name() {
                params.remove(name.name.as_str());
            }
            self.shadows_in(local, params);
        }
        blocks.into_iter().flatten().for_each(|s| self.shadows_in_stmt(s, params));
        *params = before;
    }

    // The parser has bounded how deep statements are inside each other.
    fn shadows_in_stmt(&mut self, s: &'a Stmt, params: &Params<'a>) {
        match &s.kind {
            StmtKind::Decl(d) => {
                if let Some(name) = d.name() {
                    self.shadows(name, params);
                }
            }
            StmtKind::Block(b) => b.stmts.iter().for_each(|s| self.shadows_in_stmt(s, params)),
            StmtKind::If { arms, otherwise } => {
                arms.iter().for_each(|a| self.shadows_in_stmt(&a.then, params));
                if let Some(s) = otherwise {
                    self.shadows_in_stmt(s, params);
                }
            }
            StmtKind::Switch { cases, .. } => {
                cases.iter().filter_map(|c| c.body.as_ref()).flat_map(|b| &b.stmts).for_each(|s| self.shadows_in_stmt(s, params));
            }
            StmtKind::For { init, body, .. } => {
                init.iter().for_each(|s| self.shadows_in_stmt(s, params));
                self.shadows_in_stmt(body, params);
            }
            StmtKind::ForIn { var, body, .. } => {
                self.shadows(var, params);
                self.shadows_in_stmt(body, params);
            }
            _ => {}
        }
    }

    fn shadows(&mut self, name: &'a Ident, params: &Params<'a>) {
        if let Some(param) = params.get(name.name.as_str()) {
            let d = Diagnostic::error("duplicate", name.span, format!("`{}` hides a parameter of that name", name.name));
            self.report(d.with_place(*param, "the parameter").with_help("give it another name"));
        }
    }
}
