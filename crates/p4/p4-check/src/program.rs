//! What is the whole program? Its top-level declarations, and v1model's pipeline behind `main`; PSA's is in `psa.rs`, PNA's in `pna.rs`, TNA's in `tna.rs`.

use crate::block::BlockDecl;
use crate::cx::{Cx, R, Stage};
use crate::objects::ObjKind;
use crate::scope::{Entity, ScopeId};
use crate::table::Foreign;
use crate::types::*;
use crate::value::*;
use p4_ir::{LValue, PipeId, Role};
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

    // -----------------------------------------------------------------------------------------------------------------
    // V1Switch

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
        let ObjKind::Package(id, args) = self.kind(main) else {
            return Err(self.error("type-mismatch", span, "`main` must be an instance of a package"));
        };
        let args: Vec<Tv> = args.iter().map(|(_, v)| v.clone()).collect();
        let package = self.decls.package(*id).name.name.clone();
        if self.mode == crate::Mode::Chip && package == crate::tna::PACKAGE {
            return self.tna_switch(&args, span);
        }
        if (package == "PSA_Switch" || package == crate::pna::PACKAGE) && !self.check_only() {
            self.whole.psa = true;
            let result = if package == crate::pna::PACKAGE { self.pna_pipeline(&args, span) } else { self.psa_pipeline(&args, span) };
            // What cannot be run can still be checked.
            self.whole.other_architecture = (result.is_err() || self.sink.has_errors()).then_some(package);
            return result;
        }
        if package != "V1Switch" {
            self.whole.other_architecture = Some(package.clone());
            let d = Diagnostic::error("unsupported", span, format!("architecture `{package}` is not supported"));
            return Err(
                self.report(d.with_note("this compiler knows v1model's package `V1Switch`, PSA's `PSA_Switch` and PNA's `PNA_NIC`"))
            );
        }
        let [p, vr, ig, eg, ck, dep] = args.as_slice() else {
            return Err(self.error("arity", span, "V1Switch takes six parsers and controls"));
        };
        let shared = self.pipeline_storage(p, ig, span)?;
        let pipe = PipeId::from_u32(0);
        let packet = self.packet_object("packet_in", ObjKind::PacketIn, p.span)?;
        self.pipe_parser(pipe, p, std::iter::once(packet).chain(shared.iter().cloned()).collect())?;
        let stages = [
            (vr, Stage::VerifyChecksum, Role::VerifyChecksum, 2),
            (ig, Stage::Ingress, Role::Ingress, 3),
            (eg, Stage::Egress, Role::Egress, 3),
            (ck, Stage::ComputeChecksum, Role::ComputeChecksum, 2),
        ];
        let mut failed = None;
        for (arg, stage, role, n) in stages {
            let args = shared.iter().take(n).cloned().collect();
            match self.pipe_control(pipe, arg, stage, args) {
                Ok(block) => *self.build.ir.control_mut(role) = block,
                Err(e) => failed = Some(e),
            }
        }
        let out = self.packet_object("packet_out", ObjKind::PacketOut, span)?;
        let headers = Tv { access: Access::Read("an `in` parameter"), ..shared[0].clone() };
        *self.build.ir.deparser_mut() = self.pipe_control(pipe, dep, Stage::Deparser, vec![out, headers])?;
        failed.map_or(Ok(()), Err)
    }

    /// Headers, user metadata and standard metadata: one storage that all stages share. v1model copies between the
    /// stages, which is the same, as none of them runs beside another.
    fn pipeline_storage(&mut self, p: &Tv, ig: &Tv, span: Span) -> R<Vec<Tv>> {
        let (_, parser) = self.block_of(p)?;
        let (_, ingress) = self.block_of(ig)?;
        let types = self.block_params(parser, &[], &mut crate::args::Subst::default())?;
        let names: Vec<String> = self.decls.block(ingress).params().iter().map(|p| p.name.name.clone()).collect();
        let ([_, h, m, s], [hn, mn, sn]) = (types.as_slice(), names.as_slice()) else {
            return Err(self.error("arity", span, "V1Switch wants a parser of four parameters and an ingress of three"));
        };
        for (t, what) in [(h, "headers"), (m, "metadata"), (s, "standard metadata")] {
            // One header alone is as good as a struct of one.
            if what == "headers" && t.ty.header().is_some() {
                continue;
            }
            if t.ty.composite(Kind::Struct).is_none() {
                return Err(self.error("type-mismatch", t.ast.span, format!("the {what} must be a struct, not {}", t.ty)));
            }
        }
        let mut out = Vec::new();
        for (t, name) in [(h, hn), (m, mn), (s, sn)] {
            let val = self.storage(name, &t.ty, t.ast.span)?;
            out.push(Tv { ty: t.ty.clone(), val, access: Access::Write, span: t.ast.span });
        }
        self.headers_only(&out[0].ty.clone(), out[0].span)?;
        self.standard_metadata(&out[2]);
        let (meta, standard) = (out[1].clone(), out[2].clone());
        let mut vars = Vec::new();
        [&meta, &standard].into_iter().for_each(|v| variables(&v.val, &mut vars));
        self.whole.metadata = vars.into_iter().collect();
        self.tagged_fields(&meta)?;
        self.tagged_fields(&standard)?;
        Ok(out)
    }

    /// v1model: every member of the headers is a header, a stack, a union or a struct of such. Bits and bools beside them
    /// are metadata.
    fn headers_only(&mut self, t: &Type, span: Span) -> R<()> {
        let Some(c) = t.composite(Kind::Struct) else { return Ok(()) };
        for f in &c.fields {
            match &f.ty {
                Type::Composite(inner) if inner.kind == Kind::Struct => self.headers_only(&f.ty, span)?,
                Type::Composite(_) | Type::Stack(..) | Type::Bits { .. } | Type::Bool => {}
                t => {
                    let message = format!("field `{}` of the headers is {t}; it must be a header, stack or union", f.name);
                    return Err(self.error("type-mismatch", span, message));
                }
            }
        }
        Ok(())
    }

    fn standard_metadata(&mut self, v: &Tv) {
        let (Some(c), Val::Agg(vals)) = (v.ty.composite(Kind::Struct), &v.val) else { return };
        for (f, val) in c.fields.iter().zip(vals.iter()) {
            if let Val::Place(LValue::Var(id), _) = val {
                self.build.ir.intrinsic.standard.insert(f.name.to_string(), *id);
            }
        }
    }

    /// `@drop_reason`, `@mark` and `@pdu_length` in the user metadata.
    pub(crate) fn tagged_fields(&mut self, v: &Tv) -> R<()> {
        let (Some(c), Val::Agg(vals)) = (v.ty.composite(Kind::Struct), &v.val) else { return Ok(()) };
        let c = c.clone();
        for (f, val) in c.fields.iter().zip(vals.iter()) {
            if f.ty.composite(Kind::Struct).is_some() {
                self.tagged_fields(&Tv::value(f.ty.clone(), val.clone(), v.span))?;
            }
            for tag in &f.tags {
                let (name, most) = match tag {
                    Tag::DropReason => ("drop_reason", 8),
                    Tag::Mark => ("mark", 32),
                    Tag::PduLength => ("pdu_length", 64),
                    Tag::FieldList(list) => {
                        let mut vars = Vec::new();
                        variables(val, &mut vars);
                        self.build.ir.intrinsic.field_lists.entry(*list).or_default().extend(vars);
                        continue;
                    }
                };
                let id = match (val, f.ty.scalar()) {
                    (Val::Place(LValue::Var(id), _), Some(p4_ir::Ty::Bit(w))) if w <= most => *id,
                    _ => {
                        let message = format!("the `@{name}` field `{}` must be bit<W> of at most {most} bits", f.name);
                        return Err(self.error("annotation", v.span, message));
                    }
                };
                let slot = match tag {
                    Tag::DropReason => &mut self.build.ir.intrinsic.drop_reason,
                    Tag::Mark => &mut self.build.ir.intrinsic.mark,
                    Tag::PduLength | Tag::FieldList(_) => &mut self.build.ir.intrinsic.pdu_length,
                };
                if slot.replace(id).is_some() {
                    return Err(self.error("annotation", v.span, format!("two metadata fields are marked `@{name}`")));
                }
                if *tag == Tag::DropReason {
                    self.reasons(&f.ty, v.span)?;
                }
            }
        }
        Ok(())
    }

    /// The names of drop and punt reasons: the members of the field's enum. Codes from 128 on are the engine's.
    fn reasons(&mut self, t: &Type, span: Span) -> R<()> {
        let Type::Enum(e) = t else { return Ok(()) };
        for (name, code) in &e.members {
            match u8::try_from(*code) {
                Ok(code) if code < 128 => self.build.ir.program.reasons.push((code, name.to_string())),
                _ => {
                    let message = format!("reason `{name}` of enum `{}` has code {code}; codes must be below 128", e.name);
                    return Err(self.error("annotation", span, message));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn packet_object(&mut self, name: &str, kind: ObjKind<'a>, span: Span) -> R<Tv> {
        let path = ast::Path { global: true, name: ast::Ident { name: name.to_owned(), span }, span };
        let found = self.find(&path);
        let Ok([Entity::Extern(id), ..]) = found.as_deref() else {
            return Err(self.error("undeclared", span, format!("extern `{name}` is not declared; include <core.p4>")));
        };
        let ty = Type::Extern(*id, [].into());
        let obj = self.new_object(name.to_owned(), kind);
        Ok(Tv { ty, val: Val::Obj(obj), access: Access::Read("an instance"), span })
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

/// The variables that a value consists of.
pub(crate) fn variables(v: &Val, into: &mut Vec<p4_ir::VarId>) {
    match v {
        Val::Place(LValue::Var(id), _) => into.push(*id),
        Val::Agg(vs) | Val::Array(vs) => vs.iter().for_each(|v| variables(v, into)),
        _ => {}
    }
}
