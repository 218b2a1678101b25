//! Prints a program's IR as C: the text that becomes native code on x86.
//!
//! # How the generated code works
//! A burst of up to 64 packets is run through the program stage by stage ([`graph`]): the first stage parses and runs up to
//! the first table look-up; each further stage looks one table up for all packets that have come to it, in one call into
//! the host or by itself (`lookup.h`: exact tables, packets of a class), and runs the action and what follows up to the next look-up. Packets that wait for a stage are bits of a
//! 64-bit word, so they are always worked on in the order in which they came. A program that uses one meter or register
//! in several stages would still see it used out of order: it is run with bursts of one packet. A service that is called in several stages
//! is called in the order of the packets where no packet comes to two of them: they take turns ([`turns`]).
//!
//! Headers stay in the packet: a header instance is a pointer to bytes in network order, into the packet if it was
//! extracted, into scratch bytes of the packet's context if the program made it ([`model::Home`]). An invalid header's
//! pointer leads to zero bytes, so reads need no test; writes are tested unless validity is known at that
//! place. The deparser moves as little as it can ([`deparser`]).
//!
//! Packets that are parsed alike, in ways that the program marks as likely, are a *class* ([`class`]) and have stages of
//! their own, printed by the same code with more known about them ([`facts`]): keys are written when a packet starts to
//! wait for a look-up ([`wait`]), made headers are C locals ([`fields`]), and it is known which bytes the deparser moves
//! where. Code behind an `if` that makes headers is duplicated into its branches ([`tails`]). Variables that a rule's action sets are read from its
//! record ([`action_params`]), for all packets.
//!
//! # Interface
//! The text's own first part (`runtime.h`) declares it: the host calls `sp_process` with a `struct sp_lane` that holds
//! tables, counters, meters, registers, value sets and a ring for digests, and describes entries by `sp_layout` ([`layout`]). The text needs no header
//! files and, once compiled, no other library than `memcpy`, `memset` and `memmove`.
//!
//! What a program means is said by `p4-interp`; the differences are: after a drop the packet's bytes are unspecified
//! (its window is as received), as headers are changed in place; clone, recirculate and resubmit are refused with an
//! [`EmitError`] that names them.
#![forbid(unsafe_code)]

mod action_params;
mod alike;
pub mod bpf;
mod class;
mod deparser;
mod emitter;
mod expr;
mod externs;
mod facts;
mod field;
mod fields;
pub mod graph;
pub mod layout;
pub mod model;
mod near;
mod parser;
mod stages;
mod stmt;
mod tails;
mod turns;
mod wait;

use p4_analysis::effects::Ordered;
use p4_ir::origin::{Construct, Origin};
use p4_ir::{Architecture, Ir};
use std::fmt::Write;

/// What the dialect lacks, or what is wrong with the IR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmitError {
    /// The program uses a construct that cannot be expressed.
    Unsupported {
        /// Its name.
        what: String,
        /// Its kind, where it is one of those that sources are searched for.
        construct: Option<Construct>,
    },
    /// The IR breaks an invariant: a defect of the compiler.
    Invalid(String),
}

impl EmitError {
    /// The first construct of that kind in the source, as far as the IR tells.
    pub fn origin(&self, ir: &Ir) -> Option<Origin> {
        match self {
            EmitError::Unsupported { construct: Some(construct), .. } => ir.origins.find(*construct, None),
            _ => None,
        }
    }

    pub(crate) fn unsupported(construct: impl Into<Option<Construct>>, what: impl Into<String>) -> EmitError {
        EmitError::Unsupported { what: what.into(), construct: construct.into() }
    }

    pub(crate) fn invalid(what: impl Into<String>) -> EmitError {
        EmitError::Invalid(what.into())
    }
}

impl std::fmt::Display for EmitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EmitError::Unsupported { what, .. } => write!(f, "the x86 target does not support {what}"),
            EmitError::Invalid(what) => write!(f, "broken intermediate form: {what}"),
        }
    }
}

impl std::error::Error for EmitError {}

/// Most places where a program may look tables up, jump or exit: what is deeper nested than a thread's stack takes is refused.
pub const MAX_CUTS: usize = 4096;

/// The program as C text for x86.
pub fn emit_x86(ir: &Ir) -> Result<String, EmitError> {
    if ir.arch != Architecture::V1Model {
        return Err(EmitError::unsupported(None, format!("programs for {}", ir.arch.name())));
    }
    let mut cuts = 0;
    for block in ir.pipes.values().flat_map(p4_ir::Pipe::after_parser) {
        graph::visit(block, &mut |s| cuts += usize::from(matches!(s, p4_ir::Stmt::Apply { .. })));
    }
    if cuts > MAX_CUTS {
        return Err(EmitError::unsupported(Construct::Table, format!("{cuts} places of table look-ups; at most {MAX_CUTS}")));
    }
    check_multicast(ir)?;
    // Each look-up nests what follows it, so the depth is that of the program, not of its text.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        let handle = thread.spawn_scoped(scope, || emit(ir)).map_err(|e| EmitError::invalid(format!("no thread: {e}")))?;
        handle.join().map_err(|_| EmitError::invalid("the emitter panicked"))?
    })
}

fn emit(ir: &Ir) -> Result<String, EmitError> {
    let model = model::Model::new(ir);
    let graph = graph::build(ir)?;
    // The first pass puts every variable into the context and finds which of them need be there.
    let everything = emitter::Shared {
        vars: ir.vars.keys().collect(),
        pointers: ir.headers.keys().collect(),
        lengths: ir.headers.keys().collect(),
        nexts: ir.stacks.keys().collect(),
        valid: true,
        records: model.action_params.tables.keys().copied().collect(),
    };
    let first = stages::print(ir, &model, &graph, everything, None)?;
    // Programs that must be run a packet at a time have no bursts to part.
    let plan = if graph.order_matters(ir) { None } else { turns::plan(vec![class::track(&first, 0)]) };
    let classes = match &plan {
        Some(plan) => class::classes(ir, &model, &graph, &first, plan)?,
        None => None,
    };
    let mut found = first.shared;
    let mut printed = stages::print(ir, &model, &graph, found.clone(), None)?;
    if let Some(classes) = &classes {
        found.extend(&classes.shared);
        printed.moves.extend(&classes.moves);
    }
    let mut out = format!("/* {}: generated; changes are lost. */\n\n", ir.program.name.replace("*/", ""));
    out.push_str(include_str!("runtime.h"));
    out.push_str(include_str!("meter.h"));
    out.push_str(&names(ir, &model));
    out.push_str(&layout::text(ir, &model)?);
    out.push_str(&action_params::text(ir, &model));
    out.push_str(&stages::frame(ir, &model, &graph, classes.as_ref(), &found));
    out.push_str(include_str!("run.h"));
    out.push_str(include_str!("lookup.h"));
    out.push_str(&deparser::move_functions(&printed.moves));
    out.push_str(printed.text.trim_start());
    match &classes {
        Some(classes) => {
            out.push('\n');
            out.push_str(&classes.text);
            out.push_str(&class::entry(&graph, &model, classes));
        }
        None => out.push_str(&stages::entry(&model, &graph, plan.as_ref().map(|plan| &plan.phases[..]))),
    }
    let plan = classes.as_ref().map(|classes| &classes.plan).or(plan.as_ref());
    for service in ir.program.services.keys() {
        let order = plan.map_or(turns::IN_ORDER, |plan| plan.order(Ordered::Calls(service)));
        out = out.replace(&format!("{}{};", stages::ORDER, service.as_u32()), &format!("{order};"));
    }
    out.push_str(include_str!("process.h"));
    Ok(out)
}

/// Numbers of headers, tables, actions and cells by name.
fn names(ir: &Ir, model: &model::Model) -> String {
    let mut out = String::new();
    let mut list = |prefix: &str, names: &[String], of: &dyn Fn(usize) -> usize| {
        if !names.is_empty() {
            out.push_str("enum {\n");
            for (i, name) in names.iter().enumerate() {
                let _ = writeln!(out, "    {prefix}_{name} = {},", of(i));
            }
            out.push_str("};\n\n");
        }
    };
    list("V", &model.headers, &|i| i % 64);
    list("TABLE", &model.tables, &|i| i);
    list("ACTION", &model.actions, &|i| i);
    list("COUNTER", &model.counters, &|i| i);
    list("METER", &model.meters, &|i| i);
    list("REGISTER", &model.registers, &|i| i);
    list("SET", &model.sets, &|i| i);
    let most = ir.headers.values().map(|h| {
        // Nothing is read of the varbit field of an invalid header.
        ir.header_types[h.ty].fixed_bits / 8
    });
    let _ = writeln!(
        out,
        "/* What the pointers of invalid headers lead to. Never written. */\nstatic const uint8_t sp_zeroes[{}];\n#define sp_nothing ((uint8_t *)sp_zeroes)\n",
        most.max().unwrap_or(0).max(16)
    );
    out
}

/// Copies to a multicast group are made by no part of the pipeline.
fn check_multicast(ir: &Ir) -> Result<(), EmitError> {
    let Some(group) = ir.intrinsic.standard.get("mcast_grp") else { return Ok(()) };
    let mut found = false;
    graph::visit_all(ir, &mut |s| {
        if let p4_ir::Stmt::Assign(p4_ir::LValue::Var(v), e) = s
            && v == group
        {
            found |= !matches!(e.kind, p4_ir::ExprKind::Const(b) if b.value() == 0) && e.kind != p4_ir::ExprKind::Var(*group);
        } else {
            p4_ir::walk::stmt_lvalues(s, &mut |l| found |= l.root_var() == Some(*group));
        }
    });
    if found { Err(EmitError::unsupported(Construct::Multicast, "multicast (mcast_grp)")) } else { Ok(()) }
}
