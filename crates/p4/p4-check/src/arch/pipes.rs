//! How do a parser, a control and a deparser become a pipe of the IR? Each block is lowered with storage for its parameters. Parameters of
//! one *role* share one storage: the architecture copies between blocks, which is the same, as none of them runs beside another. What
//! the roles are, and what the architecture knows of a storage, its own file says: `psa.rs`, `pna.rs`, `tna.rs`, `v1model.rs`.

use crate::lower::args::{Binding, Param, Subst};
use crate::lower::cx::Cx;
use crate::lower::instances::ObjKind;
use crate::names::decls::BlockDecl;
use crate::names::scope::{Entity, ScopeId};
use crate::names::sink::R;
use crate::types::*;
use crate::values::body::{Body, Region, Stage};
use crate::values::origins::origin;
use p4_ir::{Block, Expr, ExprKind, HeaderRef, LValue, Next, PipeId, Role, State, Stmt, Transition, walk};
use p4_syntax::{Span, ast};
use std::collections::HashMap;

/// Storage by role.
pub(super) type Shared = HashMap<String, Tv>;

/// A block of a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Parser,
    Control,
    Deparser,
}

/// The roles of a block's parameters, in order: `packet_in`, `packet_out`, or a storage.
type Roles<'a> = fn(&mut Cx<'a>, PipeId, Part, &[Param<'a>], Span) -> R<Vec<String>>;
/// Told of each new storage.
type Storage<'a> = fn(&mut Cx<'a>, PipeId, &str, &Tv) -> R<()>;

/// What an architecture of several pipes says of its blocks.
pub(super) struct Blocks<'a> {
    pub roles: Roles<'a>,
    pub storage: Storage<'a>,
}

impl<'a> Cx<'a> {
    /// Lowers the three blocks of a pipe whose control has that role.
    pub(super) fn pipe(&mut self, of: &Blocks<'a>, pipe: PipeId, role: Role, blocks: [&Tv; 3], shared: &mut Shared) -> R<()> {
        let stage = if role == Role::Egress { Stage::Egress } else { Stage::Ingress };
        for (part, block) in [Part::Parser, Part::Control, Part::Deparser].into_iter().zip(blocks) {
            let (_, id) = self.block_of(block)?;
            let params = self.block_params(id, &[], &mut Subst::default())?;
            let roles = (of.roles)(self, pipe, part, &params, block.span)?;
            let args = self.pipe_args(of, pipe, &params, &roles, shared, block.span)?;
            match part {
                Part::Parser => self.pipe_parser(pipe, block, args)?,
                Part::Control => *self.build.ir.pipes[pipe].control_mut(role) = self.pipe_control(pipe, block, stage, args)?,
                Part::Deparser => {
                    if let BlockDecl::Control(decl, _) = self.decls.block(id)
                        && let Some(body) = &decl.body
                    {
                        let origin = origin(decl.name.span.to(body.apply.span));
                        self.build.ir.origins.hold(p4_ir::origin::Holder::Deparser(pipe), origin);
                    }
                    self.build.ir.pipes[pipe].deparser = self.pipe_control(pipe, block, Stage::Deparser, args)?;
                }
            }
        }
        Ok(())
    }

    /// The storage of each parameter, by its role.
    pub(super) fn pipe_args(
        &mut self,
        of: &Blocks<'a>,
        pipe: PipeId,
        params: &[Param<'a>],
        roles: &[String],
        shared: &mut Shared,
        span: Span,
    ) -> R<Vec<Tv>> {
        let mut args = Vec::new();
        for (p, role) in params.iter().zip(roles) {
            if let "packet_in" | "packet_out" = role.as_str() {
                let kind = if role == "packet_in" { ObjKind::PacketIn } else { ObjKind::PacketOut };
                args.push(self.packet_object(role, kind, span)?);
                continue;
            }
            let mut arg = match shared.get(role) {
                Some(arg) if arg.ty == p.ty => arg.clone(),
                Some(arg) => {
                    let message = format!("this parameter is {}, where another block has {}", p.ty, arg.ty);
                    return Err(self.error("type-mismatch", p.ast.span, message));
                }
                None => {
                    let val = self.storage(&p.ast.name.name, &p.ty, p.ast.span)?;
                    let arg = Tv { ty: p.ty.clone(), val, access: Access::Write, span: p.ast.span };
                    (of.storage)(self, pipe, role, &arg)?;
                    shared.insert(role.clone(), arg.clone());
                    arg
                }
            };
            if !p.writes() {
                arg.access = Access::Read("an `in` parameter");
            }
            args.push(arg);
        }
        Ok(args)
    }

    /// Lowers the parser of a pipe.
    pub(super) fn pipe_parser(&mut self, pipe: PipeId, arg: &Tv, args: Vec<Tv>) -> R<()> {
        let (obj, params) = self.pipe_params(arg, &args)?;
        let body = pipe_body(pipe, Stage::Parser, Region::Parser);
        let (result, init) =
            self.block(|cx| cx.in_body(body, |cx| cx.inline_parser(obj, &params, args.into(), Next::Accept, false, arg.span)));
        let (start, _) = result?;
        let mut init = init;
        let start = match start {
            // What of the packet is looked at by the values that the parser's variables begin with is looked at in a state of its own.
            Next::State(start) if init.iter().any(needs_state) => {
                let name = format!("{}.locals", self.objects.path(obj));
                let body = std::mem::take(&mut init);
                Next::State(self.build.ir.states.push(State { name, body, next: Transition::Goto(Next::State(start)), likely: None }))
            }
            start => start,
        };
        // Headers are invalid when a pipe begins, so the reset of the `out` parameter says nothing new.
        let resets = init.iter().take_while(|s| matches!(s, Stmt::SetValid(_, false) | Stmt::Assign(LValue::Var(_), _))).count();
        let mut at = 0;
        init.retain(|s| {
            at += 1;
            at > resets || !matches!(s, Stmt::SetValid(_, false))
        });
        let parser = &mut self.build.ir.pipes[pipe].parser;
        parser.init = init;
        if let Next::State(s) = start {
            parser.start = Some(s);
        }
        Ok(())
    }

    /// Lowers a control or the deparser of a pipe.
    pub(super) fn pipe_control(&mut self, pipe: PipeId, arg: &Tv, stage: Stage, args: Vec<Tv>) -> R<Block> {
        let (obj, params) = self.pipe_params(arg, &args)?;
        let body = pipe_body(pipe, stage, Region::Control);
        let (result, out) = self.block(|cx| cx.in_body(body, |cx| cx.run_control(obj, &params, args.into(), Binding::Share, arg.span)));
        result?;
        Ok(out)
    }

    fn pipe_params(&mut self, arg: &Tv, args: &[Tv]) -> R<(ObjId, Vec<Param<'a>>)> {
        let (obj, block) = self.block_of(arg)?;
        let params = self.block_params(block, &[], &mut Subst::default())?;
        if args.len() != params.len() {
            let what = if self.decls.block(block).is_parser() { "parser" } else { "control" };
            let message = format!("this {what} has {} parameters, not {}", params.len(), args.len());
            return Err(self.error("arity", arg.span, message));
        }
        // A package that the program declares itself may say nothing of the types.
        if let Some((p, a)) = params.iter().zip(args).find(|(p, a)| p.ty != a.ty) {
            let message = format!("this parameter is {}, where another block has {}", p.ty, a.ty);
            return Err(self.error("type-mismatch", p.ast.span, message));
        }
        Ok((obj, params))
    }

    /// The parser or control that an argument of a package is.
    pub(super) fn block_of(&mut self, v: &Tv) -> R<(ObjId, BlockId)> {
        match (self.object(v), &v.ty) {
            (Some(o), Type::Block(b, _)) => Ok((o, *b)),
            _ => Err(self.error("type-mismatch", v.span, "a parser or control is wanted here")),
        }
    }

    /// The arguments of a package instance, if it is of the package of that name.
    pub(super) fn package_parts(&self, v: &Tv, package: &str) -> Option<Vec<Tv>> {
        match self.object(v).map(|o| self.kind(o)) {
            Some(ObjKind::Package(id, parts)) if self.decls.package(*id).name.name == package => {
                Some(parts.iter().map(|(_, v)| v.clone()).collect())
            }
            _ => None,
        }
    }

    /// `@drop_reason`, `@mark` and `@pdu_length` in the user metadata.
    pub(super) fn tagged_fields(&mut self, v: &Tv) -> R<()> {
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

    pub(super) fn packet_object(&mut self, name: &str, kind: ObjKind<'a>, span: Span) -> R<Tv> {
        let path = ast::Path { global: true, name: ast::Ident { name: name.to_owned(), span }, span };
        let found = self.find(&path);
        let Ok([Entity::Extern(id), ..]) = found.as_deref() else {
            return Err(self.error("undeclared", span, format!("extern `{name}` is not declared; include <core.p4>")));
        };
        let ty = Type::Extern(*id, [].into());
        let obj = self.new_object(name.to_owned(), kind);
        Ok(Tv { ty, val: Val::Obj(obj), access: Access::Read("an instance"), span })
    }
}

/// Whether a statement may stand in a parser's states only: it looks at the packet, at a stack's `next` or `last`, or may reject.
fn needs_state(s: &Stmt) -> bool {
    fn moves(h: &HeaderRef) -> bool {
        matches!(h, HeaderRef::Next(_) | HeaderRef::Last(_))
    }
    fn of_expr(e: &Expr) -> bool {
        let mut found = match &e.kind {
            ExprKind::Field(h, _) | ExprKind::IsValid(h) | ExprKind::VarbitBits(h, _) => moves(h),
            ExprKind::VarbitEq(a, b) => moves(a) || moves(b),
            _ => false,
        };
        walk::sub_exprs(e, &mut |e| found |= of_expr(e));
        found
    }
    let mut found = match s {
        Stmt::Extract { .. } | Stmt::Advance(_) | Stmt::Lookahead(..) | Stmt::Verify(..) => true,
        Stmt::SetValid(h, _) => moves(h),
        Stmt::CopyHeader { dst, src } | Stmt::CopyVarbit { dst, src } => moves(dst) || moves(src),
        _ => false,
    };
    walk::stmt_lvalues(s, &mut |l| {
        let mut at = l;
        while let LValue::Slice(base, ..) = at {
            at = base;
        }
        found |= matches!(at, LValue::Field(h, _) if moves(h));
    });
    walk::stmt_exprs(s, &mut |e| found |= of_expr(e));
    walk::stmt_blocks(s, &mut |b| found |= b.iter().any(needs_state));
    found
}

fn pipe_body(pipe: PipeId, stage: Stage, region: Region) -> Body {
    Body { pipe, region, stage, ..Body::new(ScopeId::GLOBAL) }
}
