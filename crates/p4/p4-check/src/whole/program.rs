//! What is the whole program? Its top-level declarations, the pipeline behind `main`, and what can be told only behind it.

use crate::lower::arch::Arch;
use crate::lower::cx::Cx;
use crate::lower::declared::Foreign;
use crate::lower::instances::ObjKind;
use crate::names::cx::Mode;
use crate::names::decls::BlockDecl;
use crate::names::scope::{Entity, ScopeId};
use crate::names::sink::R;
use crate::types::*;
use crate::values::origins::origin;
use p4_syntax::{Diagnostic, Span, ast};
use std::collections::HashMap;

impl<'a> Cx<'a> {
    /// Declares everything at top level, in order.
    pub(crate) fn declarations(&mut self, program: &'a ast::Program) {
        for d in &program.decls {
            if self.sink.is_stopped() {
                return;
            }
            let _ = self.declaration(d);
        }
    }

    fn declaration(&mut self, d: &'a ast::Decl) -> R<()> {
        let seen = self.scopes.seen(ScopeId::GLOBAL);
        match &d.kind {
            ast::DeclKind::Const(c) => return self.declare_const(c),
            ast::DeclKind::Var(v) => {
                self.declare(&v.name, Entity::Bad);
                return Err(self.error("misplaced", d.span, "variables cannot be declared at top level"));
            }
            ast::DeclKind::Error(names) => {
                for n in names {
                    if let Some(first) = self.decls.add_error(&n.name, n.span) {
                        let d = Diagnostic::error("duplicate", n.span, format!("error `{}` is declared twice", n.name));
                        self.report(d.with_place(first, "first declared here"));
                    }
                }
            }
            ast::DeclKind::MatchKind(names) => {
                for n in names {
                    if let Some(first) = self.decls.add_match_kind(&n.name, n.span) {
                        let d = Diagnostic::error("duplicate", n.span, format!("match kind `{}` is declared twice", n.name));
                        self.report(d.with_place(first, "first declared here"));
                    }
                }
            }
            ast::DeclKind::Composite(c) => self.declare_composite(c, &d.annotations),
            ast::DeclKind::Enum(e) => self.declare_enum(e),
            ast::DeclKind::Typedef(t) => self.declare_typedef(t),
            ast::DeclKind::Extern(e) => {
                let id = self.decls.add_extern(e);
                self.declare(&e.name, Entity::Extern(id));
            }
            ast::DeclKind::Function(f) => self.declare(&f.name, Entity::Function(f)),
            ast::DeclKind::Action(a) => self.declare_action(a, &d.annotations),
            ast::DeclKind::Parser(p) => self.declare_block(BlockDecl::Parser(p, seen)),
            ast::DeclKind::Control(c) => self.declare_block(BlockDecl::Control(c, seen)),
            ast::DeclKind::Package(p) => {
                let id = self.decls.add_package(p);
                self.declare(&p.name, Entity::Package(id));
            }
            ast::DeclKind::Instantiation(i) => return self.declare_instance(i, &d.annotations, false),
            ast::DeclKind::Table(t) => return Err(self.error("misplaced", t.name.span, "a table can be declared in a control only")),
            ast::DeclKind::ValueSet(v) => return self.declare_value_set(v, &d.annotations),
        }
        Ok(())
    }

    fn declare_block(&mut self, decl: BlockDecl<'a>) {
        let id = self.decls.add_block(decl);
        self.declare(decl.name(), Entity::Block(id));
        self.check_param_names(decl);
    }

    /// With a body they become declarations, which are told apart as all others.
    fn check_param_names(&mut self, decl: BlockDecl<'a>) {
        if decl.has_body() {
            return;
        }
        let mut first: HashMap<&str, Span> = HashMap::new();
        for p in decl.params().iter().chain(decl.constructor_params()) {
            if let Some(span) = first.insert(&p.name.name, p.name.span) {
                let d = Diagnostic::error("duplicate", p.name.span, format!("parameter `{}` is declared twice", p.name.name));
                self.report(d.with_place(span, "first declared here"));
            }
        }
    }

    /// Lowers the pipeline that `main` describes.
    pub(crate) fn pipeline(&mut self, end: Span) -> R<()> {
        let Some((main, span)) = self.whole.main else {
            if let Some((Entity::Bad, _)) = self.scopes.global("main") {
                return Err(self.poisoned());
            }
            let d = Diagnostic::error("no-main", end, "the program has no `main`");
            return Err(
                self.report(d.with_help("end it with `V1Switch(Parser(), Verify(), Ingress(), Egress(), Compute(), Deparser()) main;`"))
            );
        };
        self.build.ir.origins.note_main(origin(span));
        let ObjKind::Package(id, args) = self.kind(main) else {
            return Err(self.error("type-mismatch", span, "`main` must be an instance of a package"));
        };
        let args: Vec<Tv> = args.iter().map(|(_, v)| v.clone()).collect();
        let package = self.decls.package(*id).name.name.clone();
        let known = |arch: &&Arch<'a>| arch.package == package && (self.mode == Mode::Chip || !arch.for_chips);
        let Some(arch) = self.archs.iter().find(known).copied() else {
            let d = Diagnostic::error("unsupported", span, format!("architecture `{package}` is not supported"));
            self.whole.other_architecture = Some(package);
            return Err(
                self.report(d.with_note("this compiler knows v1model's package `V1Switch`, PSA's `PSA_Switch` and PNA's `PNA_NIC`"))
            );
        };
        if !arch.psa {
            return (arch.pipeline)(self, &args, span);
        }
        self.whole.psa = Some(arch);
        let result = (arch.pipeline)(self, &args, span);
        // What cannot be run can still be checked.
        self.whole.other_architecture = (result.is_err() || self.sink.has_errors()).then_some(package);
        result
    }

    // -----------------------------------------------------------------------------------------------------------------
    // What only the whole program can tell

    pub(crate) fn finish(&mut self, name: &str) {
        self.build.ir.program.name = name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned();
        self.build.ir.program.errors = self.decls.errors().map(str::to_owned).collect();
        if self.build.ir.intrinsic.pdu_length.is_none() {
            for span in std::mem::take(&mut self.whole.pdu_users) {
                let d = Diagnostic::error("annotation", span, "`@pdu_length` needs a metadata field marked `@pdu_length`");
                self.report(d.with_help("mark the field of the user metadata that holds the length in bytes"));
            }
        }
        self.direct_owners();
        self.same_names();
        self.name_objects();
        self.short_names();
    }

    /// The control plane finds tables and actions by their full names.
    fn same_names(&mut self) {
        let tables: Vec<(String, Span)> =
            self.tables.iter().filter(|t| t.id.is_some()).map(|t| (t.full_name.clone(), t.decl.name.span)).collect();
        let actions: Vec<(String, Span)> =
            self.actions.iter().filter(|a| !a.ids.is_empty()).map(|a| (a.full_name.clone(), a.decl.name.span)).collect();
        for (list, what) in [(tables, "tables"), (actions, "actions")] {
            let mut first: HashMap<String, Span> = HashMap::new();
            for (name, span) in list {
                if let Some(first) = first.insert(name.clone(), span) {
                    let message = format!("two {what} have the name `{name}` for the control plane");
                    let d = Diagnostic::error("duplicate", span, message);
                    self.report(d.with_place(first, "the other one").with_help("give one of them another `@name`"));
                }
            }
        }
    }

    /// A direct counter or meter belongs to a table. In the actions of other tables it has no effect, as in p4c and BMv2.
    fn direct_owners(&mut self) {
        for used in std::mem::take(&mut self.whole.foreign_uses) {
            let (name, effect) = match used.of {
                Foreign::Counter(c) => (&self.build.ir.program.counters[c].name, "nothing is counted there"),
                Foreign::Meter(m) => (&self.build.ir.program.meters[m].name, "packets are green there"),
            };
            let message = format!("action `{}` uses `{name}`, which is not attached to table `{}`: {effect}", used.action, used.table.name);
            let d = Diagnostic::warning("no-effect", used.table.span, message);
            self.report(d.with_help("attach it with the property `counters = ...` or `meters = ...`"));
        }
    }

    /// Drops the instance path from names where what is left is unique.
    fn short_names(&mut self) {
        let p = &mut self.build.ir.program;
        let short = |full: &str| full.rsplit('.').next().unwrap_or(full).to_owned();
        let unique = |names: Vec<String>| -> Vec<String> {
            let mut count: HashMap<String, u32> = HashMap::new();
            for n in &names {
                *count.entry(short(n)).or_insert(0) += 1;
            }
            names.into_iter().map(|n| if count[&short(&n)] == 1 { short(&n) } else { n }).collect()
        };
        let tables = unique(p.tables.values().map(|t| t.full_name.clone()).collect());
        p.tables.values_mut().zip(tables).for_each(|(t, n)| t.name = n);
        let actions = unique(p.actions.values().map(|a| a.full_name.clone()).collect());
        p.actions.values_mut().zip(actions).for_each(|(a, n)| a.name = n);
        let counters = unique(p.counters.values().map(|c| c.name.clone()).collect());
        p.counters.values_mut().zip(counters).for_each(|(c, n)| c.name = n);
        let meters = unique(p.meters.values().map(|m| m.name.clone()).collect());
        p.meters.values_mut().zip(meters).for_each(|(m, n)| m.name = n);
        let registers = unique(p.registers.values().map(|r| r.name.clone()).collect());
        p.registers.values_mut().zip(registers).for_each(|(r, n)| r.name = n);
    }
}
