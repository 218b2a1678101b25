//! What does a program for the Portable Switch Architecture become? Two pipes of one IR, with storage for what passes between their blocks.
//!
//! Each parameter of a block has a role by its position; those of one role share one storage (`pipes.rs`). The fields of `psa_*_metadata_t` are in [`p4_ir::Intrinsics::standard`] by
//! role and name (`ingress_output.drop`); what goes with a packet to its next pass is in `field_lists`, by the number of the path.
//!
//! What its externs become is in `psa_externs.rs`. Left out, and refused by name: headers in the metadata that goes with a packet, and instances outside of blocks.

use super::pipes::{Blocks, Part, Shared};
use crate::lower::arch::Arch;
use crate::lower::args::Param;
use crate::lower::cx::Cx;
use crate::names::sink::R;
use crate::types::*;
use p4_ir::{Architecture, LValue, PipeId, Role};
use p4_syntax::{Span, ast};

/// A block of a pipe: what its parameters are, in order.
type Params = &'static [&'static str];

/// Parser, control and deparser of each pipe.
const PIPES: [(&str, Role, [Params; 3]); 2] = [
    (
        "IngressPipeline",
        Role::Ingress,
        [
            &["packet_in", "ingress_headers", "ingress_meta", "ingress_parser_input", "resubmit", "recirculate"],
            &["ingress_headers", "ingress_meta", "ingress_input", "ingress_output"],
            &["packet_out", "clone_i2e", "resubmit", "normal", "ingress_headers", "ingress_meta", "ingress_output"],
        ],
    ),
    (
        "EgressPipeline",
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

pub(super) fn arch<'a>() -> Arch<'a> {
    Arch {
        psa: true,
        kind: Cx::psa_kind,
        function: Cx::psa_function,
        method: Cx::psa_method,
        property: Cx::psa_property,
        ..Arch::of("PSA_Switch", Cx::psa_pipeline)
    }
}

impl<'a> Cx<'a> {
    /// Lowers `PSA_Switch(IngressPipeline(...), pre, EgressPipeline(...), bqe)`.
    fn psa_pipeline(&mut self, args: &[Tv], span: Span) -> R<()> {
        let [ingress, _, egress, _] = args else {
            return Err(self.error("arity", span, "PSA_Switch takes two pipelines and two engines"));
        };
        (self.build.ir.arch, self.build.ir.pipes) = (Architecture::Psa, Architecture::Psa.pipes());
        let mut shared = Shared::new();
        for ((pipe, (package, role, _)), arg) in
            self.build.ir.pipes.keys().collect::<Vec<_>>().into_iter().zip(PIPES).zip([ingress, egress])
        {
            let Some(parts) = self.package_parts(arg, package) else {
                return Err(self.error("type-mismatch", span, format!("an `{package}` is wanted here")));
            };
            let [parser, control, deparser] = parts.as_slice() else {
                return Err(self.error("arity", span, format!("an `{package}` has a parser, a control and a deparser")));
            };
            let blocks = Blocks { roles: Cx::psa_roles, storage: Cx::psa_storage };
            self.pipe(&blocks, pipe, role, [parser, control, deparser], &mut shared)?;
        }
        self.psa_taken(&shared)
    }

    fn psa_roles(&mut self, pipe: PipeId, part: Part, params: &[Param<'a>], span: Span) -> R<Vec<String>> {
        let (_, _, roles) = PIPES[pipe.as_u32() as usize];
        let roles = match part {
            Part::Parser => roles[0],
            Part::Control => roles[1],
            Part::Deparser => roles[2],
        };
        if params.len() != roles.len() {
            let message = format!("this block has {} parameters, not {}", params.len(), roles.len());
            return Err(self.error("arity", span, message));
        }
        Ok(roles.iter().map(|r| (*r).to_owned()).collect())
    }

    /// What the architecture knows of a new storage.
    fn psa_storage(&mut self, _: PipeId, role: &str, v: &Tv) -> R<()> {
        if role.ends_with("_meta") {
            return self.tagged_fields(v);
        }
        let (true, Some(c), Val::Agg(vals)) = (OWN.contains(&role), v.ty.composite(Kind::Struct), &v.val) else { return Ok(()) };
        for (f, val) in c.fields.iter().zip(vals.iter()) {
            if let Val::Place(LValue::Var(id), _) = val {
                self.build.ir.intrinsic.standard.insert(format!("{role}.{}", f.name), *id);
            }
        }
        Ok(())
    }

    /// Notes what goes with a packet to its next pass.
    fn psa_taken(&mut self, shared: &Shared) -> R<()> {
        for (role, paths) in TAKEN {
            let Some(v) = shared.get(role) else { continue };
            if !plain(&v.val) {
                return Err(self.unsupported(v.span, "a header in metadata that goes with a packet"));
            }
            let mut vars = Vec::new();
            variables(&v.val, &mut vars);
            for path in paths {
                self.build.ir.intrinsic.field_lists.insert(*path, vars.clone());
            }
        }
        Ok(())
    }

    /// A property of a table that only PSA has; whether it was one.
    pub(super) fn psa_property(&mut self, name: &str, property: &'a ast::TableProperty) -> R<bool> {
        if name == "psa_idle_timeout" {
            self.warn("ignored", property.span, "`psa_idle_timeout` is ignored: entries do not age here");
        }
        Ok(matches!(name, "psa_idle_timeout" | "psa_direct_counter" | "psa_direct_meter" | "psa_implementation"))
    }
}
