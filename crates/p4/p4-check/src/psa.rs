//! What does a program for the Portable Switch Architecture become? Two pipes of one IR, with storage for what passes between their blocks.
//!
//! Each parameter of a block has a role by its position. Parameters of one role share one storage: the architecture copies between blocks,
//! which is the same, as none of them runs beside another. The fields of `psa_*_metadata_t` are in [`p4_ir::Intrinsics::standard`] by
//! role and name (`ingress_output.drop`); what goes with a packet to its next pass is in `field_lists`, by the number of the path.
//!
//! Left out, and refused by name: direct counters, meters, hashes, checksums, random numbers, digests, action profiles, registers with an initial value,
//! the functions `psa_normal` and its like, headers in the metadata that goes with a packet, and instances outside of blocks.

use crate::args::Binding;
use crate::cx::{Body, Cx, R, Region, Stage};
use crate::objects::ObjKind;
use crate::scope::ScopeId;
use crate::types::*;
use crate::value::*;
use p4_ir::{Architecture, Block, LValue, Next, PipeId, Role, Stmt};
use p4_syntax::Span;
use std::collections::HashMap;

/// A block of a pipe: what its parameters are, in order.
type Params = &'static [&'static str];

/// Parser, control and deparser of each pipe.
const PIPES: [(&str, Stage, Role, [Params; 3]); 2] = [
    (
        "IngressPipeline",
        Stage::Ingress,
        Role::Ingress,
        [
            &["packet_in", "ingress_headers", "ingress_meta", "ingress_parser_input", "resubmit", "recirculate"],
            &["ingress_headers", "ingress_meta", "ingress_input", "ingress_output"],
            &["packet_out", "clone_i2e", "resubmit", "normal", "ingress_headers", "ingress_meta", "ingress_output"],
        ],
    ),
    (
        "EgressPipeline",
        Stage::Egress,
        Role::Egress,
        [
            &["packet_in", "egress_headers", "egress_meta", "egress_parser_input", "normal", "clone_i2e", "clone_e2e"],
            &["egress_headers", "egress_meta", "egress_input", "egress_output"],
            &["packet_out", "clone_e2e", "recirculate", "egress_headers", "egress_meta", "egress_output", "egress_deparser_input"],
        ],
    ),
];

/// What a packet takes along, and on which paths: members of `PSA_PacketPath_t`.
const TAKEN: [(&str, &[u8]); 5] =
    [("normal", &[1, 2]), ("clone_i2e", &[3]), ("clone_e2e", &[4]), ("resubmit", &[5]), ("recirculate", &[6])];

/// The architecture's own structs.
const OWN: [&str; 7] = [
    "ingress_parser_input",
    "ingress_input",
    "ingress_output",
    "egress_parser_input",
    "egress_input",
    "egress_output",
    "egress_deparser_input",
];

impl<'a> Cx<'a> {
    /// Lowers `PSA_Switch(IngressPipeline(...), pre, EgressPipeline(...), bqe)`.
    pub(crate) fn psa_pipeline(&mut self, args: &[Tv], span: Span) -> R<()> {
        let [ingress, _, egress, _] = args else {
            return Err(self.error("arity", span, "PSA_Switch takes two pipelines and two engines"));
        };
        (self.ir.arch, self.ir.pipes) = (Architecture::Psa, Architecture::Psa.pipes());
        let mut shared = HashMap::new();
        for ((pipe, (package, stage, role, params)), arg) in PIPES.iter().enumerate().zip([ingress, egress]) {
            let parts: Vec<Tv> = match self.object(arg).map(|o| self.kind(o)) {
                Some(ObjKind::Package(id, parts)) if self.packages[id.0 as usize].name.name == *package => {
                    parts.iter().map(|(_, v)| v.clone()).collect()
                }
                _ => return Err(self.error("type-mismatch", span, format!("an `{package}` is wanted here"))),
            };
            let [parser, control, deparser] = parts.as_slice() else {
                return Err(self.error("arity", span, format!("an `{package}` has a parser, a control and a deparser")));
            };
            self.psa_parser(PipeId::from_u32(pipe as u32), parser, params[0], &mut shared)?;
            *self.ir.control_mut(*role) = self.psa_control(control, *stage, params[1], &mut shared)?;
            self.ir.pipes[PipeId::from_u32(pipe as u32)].deparser = self.psa_control(deparser, Stage::Deparser, params[2], &mut shared)?;
        }
        self.psa_taken(&shared)
    }

    fn psa_body(&self, stage: Stage, region: Region) -> Body {
        Body { scope: ScopeId::GLOBAL, region, stage, path: String::new(), frames: Vec::new(), state: None, by_table: false }
    }

    fn psa_parser(&mut self, pipe: PipeId, p: &Tv, roles: Params, shared: &mut HashMap<&'static str, Tv>) -> R<()> {
        let (obj, block) = self.block_of(p)?;
        let params = self.block_params(block, &[], &mut crate::args::Subst::default())?;
        let args = self.psa_args(&params, roles, shared, p.span)?;
        let body = self.psa_body(Stage::Parser, Region::Parser);
        let (result, init) =
            self.block(|cx| cx.in_body(body, |cx| cx.inline_parser(obj, &params, args.into(), Next::Accept, false, p.span)));
        let (start, _) = result?;
        // Headers are invalid when a pipe begins, so the reset of the `out` parameter says nothing new.
        let init = init.into_iter().filter(|s| !matches!(s, Stmt::SetValid(_, false))).collect();
        self.ir.pipes[pipe].parser.init = init;
        if let Next::State(s) = start {
            self.ir.pipes[pipe].parser.start = Some(s);
        }
        Ok(())
    }

    fn psa_control(&mut self, arg: &Tv, stage: Stage, roles: Params, shared: &mut HashMap<&'static str, Tv>) -> R<Block> {
        let (obj, block) = self.block_of(arg)?;
        let params = self.block_params(block, &[], &mut crate::args::Subst::default())?;
        let args = self.psa_args(&params, roles, shared, arg.span)?;
        let body = self.psa_body(stage, Region::Control);
        let (result, out) = self.block(|cx| cx.in_body(body, |cx| cx.run_control(obj, &params, args.into(), Binding::Share, arg.span)));
        result?;
        Ok(out)
    }

    /// The storage of each parameter, by its role.
    fn psa_args(
        &mut self,
        params: &[crate::args::Param<'a>],
        roles: Params,
        shared: &mut HashMap<&'static str, Tv>,
        span: Span,
    ) -> R<Vec<Tv>> {
        if params.len() != roles.len() {
            let message = format!("this block has {} parameters, not {}", params.len(), roles.len());
            return Err(self.error("arity", span, message));
        }
        let mut args = Vec::new();
        for (p, role) in params.iter().zip(roles) {
            if let "packet_in" | "packet_out" = *role {
                let kind = if *role == "packet_in" { ObjKind::PacketIn } else { ObjKind::PacketOut };
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
                    self.psa_storage(role, &arg)?;
                    shared.insert(role, arg.clone());
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

    /// What the architecture knows of a new storage.
    fn psa_storage(&mut self, role: &str, v: &Tv) -> R<()> {
        if role.ends_with("_meta") {
            return self.tagged_fields(v);
        }
        let (true, Some(c), Val::Agg(vals)) = (OWN.contains(&role), v.ty.composite(Kind::Struct), &v.val) else { return Ok(()) };
        for (f, val) in c.fields.iter().zip(vals.iter()) {
            if let Val::Place(LValue::Var(id), _) = val {
                self.ir.intrinsic.standard.insert(format!("{role}.{}", f.name), *id);
            }
        }
        Ok(())
    }

    /// Notes what goes with a packet to its next pass.
    fn psa_taken(&mut self, shared: &HashMap<&'static str, Tv>) -> R<()> {
        for (role, paths) in TAKEN {
            let Some(v) = shared.get(role) else { continue };
            if !plain(&v.val) {
                return Err(self.unsupported(v.span, "a header in metadata that goes with a packet"));
            }
            let mut vars = Vec::new();
            crate::program::variables(&v.val, &mut vars);
            for path in paths {
                self.ir.intrinsic.field_lists.insert(*path, vars.clone());
            }
        }
        Ok(())
    }
}

/// Whether a value is made of variables only.
fn plain(v: &Val) -> bool {
    match v {
        Val::Place(LValue::Var(_), _) => true,
        Val::Agg(vs) | Val::Array(vs) => vs.iter().all(plain),
        _ => false,
    }
}
