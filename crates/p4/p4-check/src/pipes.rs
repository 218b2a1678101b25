//! How do a parser, a control and a deparser become a pipe of the IR? Each block is lowered with storage for its parameters. Parameters of
//! one *role* share one storage: the architecture copies between blocks, which is the same, as none of them runs beside another. What
//! the roles are, and what the architecture knows of a storage, its own file says: `psa.rs`, `pna.rs`, `tna.rs`; v1model's is in `program.rs`.

use crate::args::{Binding, Param, Subst};
use crate::cx::{Body, Cx, R, Region, Stage};
use crate::objects::ObjKind;
use crate::scope::ScopeId;
use crate::types::*;
use crate::value::*;
use p4_ir::{Block, Next, PipeId, Role, Stmt};
use p4_syntax::Span;
use std::collections::HashMap;

/// Storage by role.
pub(crate) type Shared = HashMap<String, Tv>;

/// A block of a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Parser,
    Control,
    Deparser,
}

/// The roles of a block's parameters, in order: `packet_in`, `packet_out`, or a storage.
type Roles<'a> = fn(&mut Cx<'a>, PipeId, Part, &[Param<'a>], Span) -> R<Vec<String>>;
/// Told of each new storage.
type Storage<'a> = fn(&mut Cx<'a>, PipeId, &str, &Tv) -> R<()>;

/// What an architecture of several pipes says of its blocks.
pub(crate) struct Blocks<'a> {
    pub roles: Roles<'a>,
    pub storage: Storage<'a>,
}

impl<'a> Cx<'a> {
    /// Lowers the three blocks of a pipe whose control has that role.
    pub(crate) fn pipe(&mut self, of: &Blocks<'a>, pipe: PipeId, role: Role, blocks: [&Tv; 3], shared: &mut Shared) -> R<()> {
        let stage = if role == Role::Egress { Stage::Egress } else { Stage::Ingress };
        for (part, block) in [Part::Parser, Part::Control, Part::Deparser].into_iter().zip(blocks) {
            let (_, id) = self.block_of(block)?;
            let params = self.block_params(id, &[], &mut Subst::default())?;
            let roles = (of.roles)(self, pipe, part, &params, block.span)?;
            let args = self.pipe_args(of, pipe, &params, &roles, shared, block.span)?;
            match part {
                Part::Parser => self.pipe_parser(pipe, block, args)?,
                Part::Control => *self.build.ir.pipes[pipe].control_mut(role) = self.pipe_control(pipe, block, stage, args)?,
                Part::Deparser => self.build.ir.pipes[pipe].deparser = self.pipe_control(pipe, block, Stage::Deparser, args)?,
            }
        }
        Ok(())
    }

    /// The storage of each parameter, by its role.
    pub(crate) fn pipe_args(
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
    pub(crate) fn pipe_parser(&mut self, pipe: PipeId, arg: &Tv, args: Vec<Tv>) -> R<()> {
        let (obj, params) = self.pipe_params(arg, args.len())?;
        let body = pipe_body(pipe, Stage::Parser, Region::Parser);
        let (result, init) =
            self.block(|cx| cx.in_body(body, |cx| cx.inline_parser(obj, &params, args.into(), Next::Accept, false, arg.span)));
        let (start, _) = result?;
        // Headers are invalid when a pipe begins, so the reset of the `out` parameter says nothing new.
        let parser = &mut self.build.ir.pipes[pipe].parser;
        parser.init = init.into_iter().filter(|s| !matches!(s, Stmt::SetValid(_, false))).collect();
        if let Next::State(s) = start {
            parser.start = Some(s);
        }
        Ok(())
    }

    /// Lowers a control or the deparser of a pipe.
    pub(crate) fn pipe_control(&mut self, pipe: PipeId, arg: &Tv, stage: Stage, args: Vec<Tv>) -> R<Block> {
        let (obj, params) = self.pipe_params(arg, args.len())?;
        let body = pipe_body(pipe, stage, Region::Control);
        let (result, out) = self.block(|cx| cx.in_body(body, |cx| cx.run_control(obj, &params, args.into(), Binding::Share, arg.span)));
        result?;
        Ok(out)
    }

    fn pipe_params(&mut self, arg: &Tv, given: usize) -> R<(ObjId, Vec<Param<'a>>)> {
        let (obj, block) = self.block_of(arg)?;
        let params = self.block_params(block, &[], &mut Subst::default())?;
        if given != params.len() {
            let what = if self.decls.block(block).is_parser() { "parser" } else { "control" };
            let message = format!("this {what} has {} parameters, not {given}", params.len());
            return Err(self.error("arity", arg.span, message));
        }
        Ok((obj, params))
    }

    /// The parser or control that an argument of a package is.
    pub(crate) fn block_of(&mut self, v: &Tv) -> R<(ObjId, BlockId)> {
        match (self.object(v), &v.ty) {
            (Some(o), Type::Block(b, _)) => Ok((o, *b)),
            _ => Err(self.error("type-mismatch", v.span, "a parser or control is wanted here")),
        }
    }

    /// The arguments of a package instance, if it is of the package of that name.
    pub(crate) fn package_parts(&self, v: &Tv, package: &str) -> Option<Vec<Tv>> {
        match self.object(v).map(|o| self.kind(o)) {
            Some(ObjKind::Package(id, parts)) if self.decls.package(*id).name.name == package => {
                Some(parts.iter().map(|(_, v)| v.clone()).collect())
            }
            _ => None,
        }
    }
}

fn pipe_body(pipe: PipeId, stage: Stage, region: Region) -> Body {
    Body { pipe, region, stage, ..Body::new(ScopeId::GLOBAL) }
}
