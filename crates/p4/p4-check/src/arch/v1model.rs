//! What does a program for v1model become? The one pipe of `V1Switch`, whose blocks share headers, user metadata and standard metadata.
//!
//! What its externs become is in `lower/externs.rs`, as other architectures have them too.

use crate::lower::arch::Arch;
use crate::lower::args::Subst;
use crate::lower::cx::Cx;
use crate::lower::instances::ObjKind;
use crate::names::sink::R;
use crate::types::*;
use crate::values::body::Stage;
use p4_ir::{LValue, PipeId, Role};
use p4_syntax::Span;

pub(super) fn arch<'a>() -> Arch<'a> {
    Arch::of("V1Switch", Cx::v1_switch)
}

impl<'a> Cx<'a> {
    /// Lowers `V1Switch(parser, verify, ingress, egress, compute, deparser)`.
    fn v1_switch(&mut self, args: &[Tv], span: Span) -> R<()> {
        let [p, vr, ig, eg, ck, dep] = args else {
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
        let types = self.block_params(parser, &[], &mut Subst::default())?;
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
        self.standard_metadata(&out[2])?;
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

    /// Notes the fields of the standard metadata. A program may declare the architecture itself: a field that targets fill or read must be of v1model's type then;
    /// one that they know but never touch is the program's own if it is not.
    fn standard_metadata(&mut self, v: &Tv) -> R<()> {
        let (Some(c), Val::Agg(vals)) = (v.ty.composite(Kind::Struct), &v.val) else { return Ok(()) };
        let mut failed = None;
        for (f, val) in c.fields.iter().zip(vals.iter()) {
            let (wanted, touched) = match &*f.name {
                "ingress_port" | "egress_spec" | "egress_port" => (Type::bit(9), true),
                "instance_type" | "packet_length" => (Type::bit(32), true),
                "ingress_global_timestamp" => (Type::bit(48), true),
                "mcast_grp" | "egress_rid" => (Type::bit(16), true),
                "checksum_error" => (Type::bit(1), true),
                "parser_error" => (Type::Error, true),
                "enq_timestamp" | "deq_timedelta" => (Type::bit(32), false),
                "enq_qdepth" | "deq_qdepth" => (Type::bit(19), false),
                "egress_global_timestamp" => (Type::bit(48), false),
                "priority" => (Type::bit(3), false),
                _ => (f.ty.clone(), false),
            };
            let fits = f.ty.scalar() == wanted.scalar() && matches!(wanted, Type::Error) == matches!(f.ty, Type::Error);
            match val {
                Val::Place(LValue::Var(id), _) if fits => {
                    self.build.ir.intrinsic.standard.insert(f.name.to_string(), *id);
                }
                _ if touched => {
                    let message = format!("{}.{} is {} here; this target needs {wanted}", c.name, f.name, f.ty);
                    failed = Some(self.error("unsupported", f.span, message));
                }
                _ => {}
            }
        }
        failed.map_or(Ok(()), Err)
    }
}
