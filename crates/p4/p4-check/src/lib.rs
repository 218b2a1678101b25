//! From P4_16 source to the flat IR: names, types, constants, v1model's architecture, and lowering.
//!
//! ```text
//! compile_file ─ p4_syntax::parse ─ declarations ─ pipeline ─ finish ─ verify ─► Compiled { ir, warnings }
//!                                        │             │
//!                     types, constants, instances   parser states, controls, actions, tables: lowered where used
//! ```
//! - **The folders are floors**, of which a lower one imports none above it: `types`, `names`, `values`, `lower`, `arch`, `whole`.
//! - **Checking is lowering**: a body is checked by lowering it where it is used, when all types are known. What `main`
//!   does not reach is lowered for its faults only, after the result is complete.
//! - **Everything is inlined** but the actions that tables run. Arguments that do not overlap stand for parameters
//!   directly; others are copied in and out (P4_16 §6.8).
//! - **Programs for PSA are compiled** to an IR of two pipes, which the interpreter and x86 run (`arch/psa.rs` lists what is left out), those for PNA to v1model's one
//!   pipe (`arch/pna.rs`), those for TNA to one that a chip model places ([`compile_for_chip_file`]). Programs for other architectures are checked like any other ([`check_file`]), with our own `tna.p4`, `ebpf_model.p4`, `xdp_model.p4` and
//!   `ubpf_model.p4`; nothing is made of them.
//! - **What is not supported is refused** with a diagnostic `unsupported` at its place: nothing is compiled to something else.
//!   Among it: division of values wider than 128 bits, other packages than `V1Switch`, `PSA_Switch` and `PNA_NIC`, varbit fields
//!   that are not last, `lpm` keys wider than 128 bits.
//!
//! Codes in the IR: `error` values are `bit<16>` positions in `Program::errors` (`NoError` is 0), plain enums are
//! `bit<32>` positions, enums with an underlying type are values of that type.
//!
//! Annotations beyond the language's: `@split("horizontal")` on tables; `@drop_reason`, `@mark`, `@pdu_length` on fields of
//! the user metadata; `@pdu_length` on counters and meters. `@id` is P4Runtime's (`whole/ids.rs`).
#![forbid(unsafe_code)]

mod arch;
mod lower;
mod names;
mod types;
mod values;
mod whole;

use names::cx::Mode;
pub use names::mentions::{Index, Member, Mention, Unknown};
use p4_ir::Ir;
use p4_syntax::Parsed;
pub use p4_syntax::{Diagnostic, SourceFile, SourceMap, Span};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Our `core.p4`, found by `#include <core.p4>`.
pub const CORE_P4: &str = include_str!("../arch/core.p4");
/// Our `v1model.p4`, found by `#include <v1model.p4>`.
pub const V1MODEL_P4: &str = include_str!("../arch/v1model.p4");
/// `service.p4`: what a v1model program calls and P4 cannot do.
pub const SERVICE_P4: &str = include_str!("../../../../p4/include/service.p4");
/// Our `psa.p4`.
pub const PSA_P4: &str = include_str!("../arch/psa.p4");
/// Our `pna.p4`.
pub const PNA_P4: &str = include_str!("../arch/pna.p4");
/// Our `tna.p4`.
pub const TNA_P4: &str = include_str!("../arch/tna.p4");
/// Our `ebpf_model.p4`.
pub const EBPF_MODEL_P4: &str = include_str!("../arch/ebpf_model.p4");
/// Our `xdp_model.p4`.
pub const XDP_MODEL_P4: &str = include_str!("../arch/xdp_model.p4");
/// Our `ubpf_model.p4`.
pub const UBPF_MODEL_P4: &str = include_str!("../arch/ubpf_model.p4");

/// Where includes are found and which macros are defined.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folders searched for includes, before the built-in files.
    pub include_paths: Vec<PathBuf>,
    /// Macros defined from the start, as by `-Dname=value`.
    pub defines: BTreeMap<String, String>,
    /// More built-in files, by the name that an include gives: for programs that an application carries in itself.
    pub builtin: Option<fn(&str) -> Option<&'static str>>,
}

/// A program that compiled.
#[derive(Debug)]
pub struct Compiled {
    /// The program; satisfies [`p4_ir::verify`].
    pub ir: Ir,
    /// What to think about.
    pub warnings: Vec<Diagnostic>,
    /// The sources, to show the warnings with.
    pub map: SourceMap,
}

impl Compiled {
    /// The warnings as text; empty if there are none.
    pub fn render_warnings(&self) -> String {
        p4_syntax::render_all(&self.warnings, &self.map)
    }
}

/// Diagnostics as text; empty if there are none.
pub fn render(diagnostics: &[Diagnostic], map: &SourceMap) -> String {
    p4_syntax::render_all(diagnostics, map)
}

/// What a target refuses, in the form of the compiler's own diagnostics: with the line of the source, where it is known.
pub fn render_refusal(map: &SourceMap, origin: Option<p4_ir::origin::Origin>, message: &str) -> String {
    match origin {
        Some(origin) => p4_syntax::render(&Diagnostic::error("target", values::origins::span(origin), message), map),
        None => format!("error[target]: {message}\n"),
    }
}

/// A program that did not compile: the caller's (the program author's) fault.
#[derive(Debug)]
pub struct Failure {
    /// The sources.
    pub map: SourceMap,
    /// At least one error, and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The package of `main`, if the program is for another architecture than the one that is compiled.
    pub other_architecture: Option<String>,
}

impl Failure {
    /// All diagnostics as text.
    pub fn render(&self) -> String {
        p4_syntax::render_all(&self.diagnostics, &self.map)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render())
    }
}

impl std::error::Error for Failure {}

/// Compiles the program at `path`, for v1model, PSA or PNA.
pub fn compile_file(path: &Path, options: &Options) -> Result<Compiled, Failure> {
    compile(with_syntax(options, |o| p4_syntax::parse_file(path, o)), Mode::Run)
}

/// Compiles a program given as text; `name` stands for it in messages.
pub fn compile_str(name: &str, text: &str, options: &Options) -> Result<Compiled, Failure> {
    compile(with_syntax(options, |o| p4_syntax::parse_str(name, text, o)), Mode::Run)
}

/// What [`check_file`] and [`check_str`] find: warnings, or else errors.
pub type Checked = Result<(SourceMap, Vec<Diagnostic>), Failure>;

/// Checks a program of any architecture without making anything of it: other packages, unknown externs, header sizes and a
/// missing `main` are no errors then, and what could not run here is none either. Where that keeps something from being
/// checked, a warning `unchecked` says so. Gives the warnings.
pub fn check_file(path: &Path, options: &Options) -> Checked {
    compile(with_syntax(options, |o| p4_syntax::parse_file(path, o)), Mode::Check).map(|c| (c.map, c.warnings))
}

/// As [`check_file`], of text.
pub fn check_str(name: &str, text: &str, options: &Options) -> Checked {
    compile(with_syntax(options, |o| p4_syntax::parse_str(name, text, o)), Mode::Check).map(|c| (c.map, c.warnings))
}

/// What an editor wants to know of a program, right or wrong.
#[derive(Debug)]
pub struct Analysis {
    /// The sources.
    pub map: SourceMap,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The names, as far as the program could be understood: with a syntax error there are none.
    pub index: Index,
}

/// Checks, as [`check_file`] does, the text that an editor has for the file at `path`.
pub fn analyse(path: &Path, text: &str, options: &Options) -> Analysis {
    let Parsed { map, program, mut diagnostics } = with_syntax(options, |o| p4_syntax::parse_text(path, text, o));
    if p4_syntax::has_errors(&diagnostics) {
        return Analysis { map, diagnostics, index: Index::default() };
    }
    let Lowered { diagnostics: mut found, index, .. } = on_a_thread(|| check(&map, &program, Mode::Check, true));
    found.sort_by_key(|d| (d.span.file, d.span.lo, d.span.hi));
    diagnostics.extend(found);
    Analysis { map, diagnostics, index }
}

/// The built-in file of that name, as `#include` gives it: `core.p4` and the architectures.
pub fn builtin(name: &str) -> Option<&'static str> {
    match name {
        "core.p4" => Some(CORE_P4),
        "v1model.p4" => Some(V1MODEL_P4),
        "service.p4" => Some(SERVICE_P4),
        "psa.p4" | "bmv2/psa.p4" => Some(PSA_P4),
        "dpdk/psa.p4" => Some("#define PSA_DPDK_EXTRAS\n#include <psa.p4>\n"),
        "pna.p4" => Some(PNA_P4),
        "dpdk/pna.p4" => Some("#define PNA_DPDK_EXTRAS\n#include <pna.p4>\n"),
        "tna.p4" | "tofino1_specs.p4" | "tofino1_base.p4" | "tofino1_arch.p4" => Some(TNA_P4),
        "t2na.p4" | "tofino2_specs.p4" | "tofino2_base.p4" | "tofino2_arch.p4" => {
            Some("#ifndef __TARGET_TOFINO__\n#define __TARGET_TOFINO__ 2\n#endif\n#include <tna.p4>\n")
        }
        "ebpf_model.p4" => Some(EBPF_MODEL_P4),
        "xdp_model.p4" => Some(XDP_MODEL_P4),
        "ubpf_model.p4" => Some(UBPF_MODEL_P4),
        _ => None,
    }
}

fn with_syntax<T>(options: &Options, f: impl FnOnce(&p4_syntax::Options) -> T) -> T {
    f(&p4_syntax::Options {
        include_paths: options.include_paths.clone(),
        defines: options.defines.clone(),
        builtin: &|name| builtin(name).or_else(|| options.builtin.and_then(|more| more(name))),
    })
}

/// Stack of the thread that checks, in bytes: [`lower::cx::Cx::nested`] bounds the depth, and this holds it with room to spare
/// in unoptimised builds.
const STACK: usize = 128 << 20;

/// Compiles the program at `path` for a model of a chip: one for v1model or PSA as ever; one for TNA to be placed, not to be run (`arch/tna.rs`).
pub fn compile_for_chip_file(path: &Path, options: &Options) -> Result<Compiled, Failure> {
    compile(with_syntax(options, |o| p4_syntax::parse_file(path, o)), Mode::Chip)
}

/// As [`compile_for_chip_file`], of text.
pub fn compile_for_chip_str(name: &str, text: &str, options: &Options) -> Result<Compiled, Failure> {
    compile(with_syntax(options, |o| p4_syntax::parse_str(name, text, o)), Mode::Chip)
}

fn compile(parsed: Parsed, mode: Mode) -> Result<Compiled, Failure> {
    let check_only = mode == Mode::Check;
    let Parsed { map, program, diagnostics } = parsed;
    if p4_syntax::has_errors(&diagnostics) {
        return Err(Failure { map, diagnostics, other_architecture: None });
    }
    let Lowered { ir, diagnostics: mut found, other_architecture, .. } = on_a_thread(|| {
        let mut result = check(&map, &program, mode, false);
        if check_only && !p4_syntax::has_errors(&result.diagnostics) {
            result.diagnostics.extend(clashes(&map, &program));
        }
        if !p4_syntax::has_errors(&result.diagnostics) {
            result.ir.program.fingerprint = fingerprint(&program);
        }
        result
    });
    let mut all = diagnostics;
    found.sort_by_key(|d| (d.span.file, d.span.lo, d.span.hi));
    all.extend(found);
    if p4_syntax::has_errors(&all) {
        return Err(Failure { map, diagnostics: all, other_architecture });
    }
    Ok(Compiled { ir, warnings: all, map })
}

/// Runs the checker with the stack that it needs.
fn on_a_thread(run: impl FnOnce() -> Lowered + Send) -> Lowered {
    let result = std::thread::scope(|s| match std::thread::Builder::new().stack_size(STACK).spawn_scoped(s, run) {
        Ok(thread) => thread.join().map_err(|_| "the compiler failed on this program; this is a fault of the compiler"),
        Err(_) => Err("no thread could be started"),
    });
    result.unwrap_or_else(|what| Lowered { diagnostics: vec![Diagnostic::error("internal", Span::default(), what)], ..Lowered::default() })
}

/// What went into the program: its text as it is parsed, in the one form that the printer gives it. Build options are in it by what they made of the
/// text.
fn fingerprint(program: &p4_syntax::ast::Program) -> ::program::Fingerprint {
    ::program::Fingerprint(Sha256::digest(p4_syntax::printer::print_program(program)).into())
}

/// Faults of a program without others that only show when all instances are known: names that clash for the control plane.
/// What else keeps it from being compiled is not looked at.
fn clashes(map: &SourceMap, program: &p4_syntax::ast::Program) -> Vec<Diagnostic> {
    check(map, program, Mode::Run, false).diagnostics.into_iter().filter(|d| d.is_error() && d.code == "duplicate").collect()
}

/// What lowering gives.
#[derive(Default)]
struct Lowered {
    ir: Ir,
    diagnostics: Vec<Diagnostic>,
    /// As [`Failure::other_architecture`].
    other_architecture: Option<String>,
    index: Index,
}

/// `indexed`: an editor wants the names.
fn check(map: &SourceMap, program: &p4_syntax::ast::Program, mode: Mode, indexed: bool) -> Lowered {
    let check_only = mode == Mode::Check;
    let mut cx = lower::cx::Cx::new(map, mode, arch::all());
    cx.mentions.find_deprecated(&program.decls);
    if indexed {
        cx.mentions.want(program);
    }
    cx.declarations(program);
    cx.rules(program);
    let (name, end) = match map.files().next() {
        Some((id, f)) => (f.name.clone(), Span::new(id, f.text.len() as u32, f.text.len() as u32)),
        None => (String::new(), Span::default()),
    };
    if !check_only {
        let _ = cx.pipeline(end);
    }
    cx.finish(&name);
    let mut ir = cx.build.ir.clone();
    if !cx.sink.has_errors() && !check_only {
        whole::zero_width::erase(&mut ir);
        // A broken invariant is the compiler's fault, but running such a program would be worse than refusing it.
        if let Err(faults) = p4_ir::verify(&ir) {
            for f in faults.iter().take(5) {
                cx.error("internal", end, format!("the compiler produced a broken program: {f}"));
            }
        }
    }
    cx.check_unused(program);
    if !cx.sink.has_errors() {
        for d in p4_lint::warnings(program, map) {
            cx.report(d);
        }
    }
    Lowered {
        ir,
        diagnostics: cx.values.names.sink.into_diagnostics(),
        other_architecture: cx.whole.other_architecture,
        index: cx.values.names.mentions.into_index(),
    }
}
