//! Programs: the built-in ones, or a file of the user's, compiled to IR.

use crate::failure::Failure;
use p4_ir::Ir;
use std::cell::OnceCell;
use std::path::Path;

/// The shipped programs and what they include, by the path that an `#include` names.
const BUILT_IN: &[(&str, &str)] = &[
    ("upf.p4", include_str!("../../../../p4/upf.p4")),
    ("l2fwd.p4", include_str!("../../../../p4/l2fwd.p4")),
    ("l2switch.p4", include_str!("../../../../p4/l2switch.p4")),
    ("p4wire.p4", include_str!("../../../../p4/p4wire.p4")),
    ("ceupf.p4", include_str!("../../../../p4/ceupf.p4")),
    ("gnb.p4", include_str!("../../../../p4/gnb.p4")),
    ("tna/upf.p4", include_str!("../../../../p4/tna/upf.p4")),
    ("tna/heavy.p4", include_str!("../../../../p4/tna/heavy.p4")),
    ("tna/published.p4", include_str!("../../../../p4/tna/published.p4")),
    // What those share among themselves, by the name that they include it by.
    ("standard.p4", include_str!("../../../../p4/tna/standard.p4")),
    ("ipg.p4", include_str!("../../../../p4/tna/ipg.p4")),
    ("tunnel.p4", include_str!("../../../../p4/tna/tunnel.p4")),
    // The steps of the gNodeB.
    ("gnb/headers.p4", include_str!("../../../../p4/gnb/headers.p4")),
    ("gnb/metadata.p4", include_str!("../../../../p4/gnb/metadata.p4")),
    ("gnb/parser.p4", include_str!("../../../../p4/gnb/parser.p4")),
    ("gnb/frame.p4", include_str!("../../../../p4/gnb/frame.p4")),
    ("gnb/bearer.p4", include_str!("../../../../p4/gnb/bearer.p4")),
    ("gnb/pdcp.p4", include_str!("../../../../p4/gnb/pdcp.p4")),
    ("gnb/rlc.p4", include_str!("../../../../p4/gnb/rlc.p4")),
    ("gnb/radio.p4", include_str!("../../../../p4/gnb/radio.p4")),
    ("gnb/peer.p4", include_str!("../../../../p4/gnb/peer.p4")),
    ("gnb/downlink.p4", include_str!("../../../../p4/gnb/downlink.p4")),
    ("gnb/uplink.p4", include_str!("../../../../p4/gnb/uplink.p4")),
    ("gnb/front.p4", include_str!("../../../../p4/gnb/front.p4")),
    ("gnb/steps.p4", include_str!("../../../../p4/gnb/steps.p4")),
    ("include/splitplane.p4", include_str!("../../../../p4/include/splitplane.p4")),
    ("include/headers.p4", include_str!("../../../../p4/include/headers.p4")),
    ("include/metadata.p4", include_str!("../../../../p4/include/metadata.p4")),
    ("include/parser.p4", include_str!("../../../../p4/include/parser.p4")),
    ("include/checksum.p4", include_str!("../../../../p4/include/checksum.p4")),
    ("include/station.p4", include_str!("../../../../p4/include/station.p4")),
    ("include/user.p4", include_str!("../../../../p4/include/user.p4")),
    ("include/firewall.p4", include_str!("../../../../p4/include/firewall.p4")),
    ("include/session.p4", include_str!("../../../../p4/include/session.p4")),
    ("include/enforce.p4", include_str!("../../../../p4/include/enforce.p4")),
    ("include/route.p4", include_str!("../../../../p4/include/route.p4")),
    ("include/trim.p4", include_str!("../../../../p4/include/trim.p4")),
    ("include/police.p4", include_str!("../../../../p4/include/police.p4")),
    ("include/tunnel.p4", include_str!("../../../../p4/include/tunnel.p4")),
    ("include/relay.p4", include_str!("../../../../p4/include/relay.p4")),
    ("include/usage.p4", include_str!("../../../../p4/include/usage.p4")),
    ("include/heavy.p4", include_str!("../../../../p4/include/heavy.p4")),
];

fn built_in(name: &str) -> Option<&'static str> {
    // Programs in a folder of their own go one up for what they share.
    let name = name.strip_prefix("../").unwrap_or(name);
    BUILT_IN.iter().find(|(path, _)| *path == name).map(|(_, text)| *text)
}

/// Lines of a shipped program and of all that shipped programs include.
pub fn shipped_lines(name: &str) -> usize {
    let parts = BUILT_IN.iter().filter(|(path, _)| *path == name || path.starts_with("include/"));
    parts.map(|(_, text)| text.lines().count()).sum()
}

/// Compiles a program to optimised IR: the file at `path`, or the built-in program of that name if there is no such file.
/// Warnings go to standard error. The error is the compiler's diagnostics.
pub fn compile(path: &Path, include_paths: &[std::path::PathBuf], defines: &[(String, String)]) -> Result<Ir, Failure> {
    Program::compile(path, include_paths, defines).map(|program| program.ir)
}

/// As [`compile`], of a shipped program, whatever files there are.
pub fn shipped(name: &str) -> Result<Ir, Failure> {
    Program::compile_shipped(name, &[]).map(Program::into_ir)
}

/// Sessions that counters and meters have room for at least: a session may have many URRs and QERs.
const LEAST_ROOM: u64 = 1 << 14;

/// A program with its sources, for targets that may refuse it.
pub struct Program {
    /// Optimised.
    pub ir: Ir,
    sources: p4_check::SourceMap,
    /// The start wants it twice: to see whether there is one, and to load it.
    xdp: OnceCell<String>,
}

impl Program {
    /// As [`compile`].
    pub fn compile(path: &Path, include_paths: &[std::path::PathBuf], defines: &[(String, String)]) -> Result<Program, Failure> {
        let (mut ir, sources) = compile_with_sources(path, include_paths, defines)?;
        p4_passes::optimise(&mut ir).map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))?;
        Ok(Program { ir, sources, xdp: OnceCell::new() })
    }

    /// As [`shipped`], with build options.
    pub fn compile_shipped(name: &str, defines: &[(String, String)]) -> Result<Program, Failure> {
        let text = built_in(name).ok_or_else(|| Failure::Usage(format!("{name}: no shipped program")))?;
        let compiled = p4_check::compile_str(name, text, &options(&[], defines));
        let compiled = compiled.map_err(|f| Failure::Usage(f.render().trim_end().to_owned()))?;
        let (mut ir, sources) = (compiled.ir, compiled.map);
        p4_passes::optimise(&mut ir).map_err(|e| Failure::Failed(format!("{name}: {e}")))?;
        Ok(Program { ir, sources, xdp: OnceCell::new() })
    }

    /// Leaves room for so many sessions (16,384 at least) in counters and meters that are declared as multiples of the session tables. Arrays of
    /// the kernel's take all their memory at once, whether they are used or not. The generated text is the same.
    pub fn fit(&mut self, sessions: u64) {
        self.xdp = OnceCell::new();
        let program = &mut self.ir.program;
        let Some(declared) = program.tables.values().filter(|t| t.split).map(|t| t.size).max() else { return };
        let sessions = sessions.max(LEAST_ROOM);
        let fitted = |size: u64| if size.is_multiple_of(declared) { (size / declared * sessions).min(size) } else { size };
        program.counters.values_mut().filter(|c| c.table.is_none()).for_each(|c| c.size = fitted(c.size));
        program.meters.values_mut().filter(|m| m.table.is_none()).for_each(|m| m.size = fitted(m.size));
    }

    /// Without its sources, for which nobody asks once it is loaded.
    pub fn into_ir(self) -> Ir {
        self.ir
    }

    /// Its text for x86. What copies packets or calls services is cut there, as a target has it. The error shows the construct in its source, as
    /// far as that is known.
    pub fn x86_text(&self) -> Result<String, Failure> {
        let cut = p4_passes::bridge::cut(&self.ir).map_err(|e| Failure::Usage(e.to_string()))?;
        let cut = match cut {
            Some((mut cut, _)) => {
                p4_passes::optimise(&mut cut).map_err(|e| Failure::Failed(format!("{}: {e}", self.ir.program.name)))?;
                Some(cut)
            }
            None => None,
        };
        let shown = |e: p4_emit::EmitError| {
            let origin = e.origin(&self.ir);
            Failure::Usage(p4_check::render_refusal(&self.sources, origin, &e.to_string()).trim_end().to_owned())
        };
        p4_emit::emit_x86(cut.as_ref().unwrap_or(&self.ir)).map_err(shown)
    }

    /// Its text for the kernel's XDP hook. The error names the construct that is refused, and shows it in its source.
    pub fn xdp_text(&self) -> Result<&str, Failure> {
        if let Some(text) = self.xdp.get() {
            return Ok(text);
        }
        let shown = |e: p4_emit::bpf::Refused| p4_check::render_refusal(&self.sources, e.origin, &e.to_string()).trim_end().to_owned();
        let text = p4_emit::bpf::emit_xdp(&self.ir).map_err(|e| Failure::Usage(shown(e)))?;
        Ok(self.xdp.get_or_init(|| text))
    }
}

/// Compiles a program for a model of a chip, and optimises it.
pub fn compile_for_chip(path: &Path, include_paths: &[std::path::PathBuf], defines: &[(String, String)]) -> Result<Ir, Failure> {
    let options = options(include_paths, defines);
    let compiled = match source(path)? {
        Some((name, text)) => p4_check::compile_for_chip_str(name, text, &options),
        None => p4_check::compile_for_chip_file(path, &options),
    };
    optimised(compiled, &path.display().to_string())
}

/// As [`compile_for_chip`], of a shipped program, whatever files there are.
pub fn shipped_for_chip(name: &str) -> Result<Ir, Failure> {
    let text = built_in(name).ok_or_else(|| Failure::Usage(format!("{name}: no shipped program")))?;
    optimised(p4_check::compile_for_chip_str(name, text, &options(&[], &[])), name)
}

fn optimised(compiled: Result<p4_check::Compiled, p4_check::Failure>, name: &str) -> Result<Ir, Failure> {
    let mut ir = compiled.map_err(|f| Failure::Usage(f.render().trim_end().to_owned()))?.ir;
    p4_passes::optimise(&mut ir).map_err(|e| Failure::Failed(format!("{name}: {e}")))?;
    Ok(ir)
}

/// How a program is read: with its includes and macros, and what is built in.
pub fn options(include_paths: &[std::path::PathBuf], defines: &[(String, String)]) -> p4_check::Options {
    p4_check::Options { include_paths: include_paths.to_vec(), defines: defines.iter().cloned().collect(), builtin: Some(built_in) }
}

/// What a check found.
pub struct Checked {
    /// The program, if nothing is wrong with it.
    pub program: Option<Good>,
    /// Errors and warnings, by their places in the sources.
    pub diagnostics: Vec<p4_check::Diagnostic>,
    /// The sources.
    pub sources: p4_check::SourceMap,
}

impl Checked {
    /// The diagnostics, for people.
    pub fn text(&self) -> String {
        p4_check::render(&self.diagnostics, &self.sources)
    }

    /// The same for editors.
    pub fn json(&self) -> String {
        crate::diagnostics::json(&self.diagnostics, &self.sources)
    }
}

/// A program without fault.
pub enum Good {
    /// One that can be compiled, as data.
    Program(Box<program::Program>),
    /// One for another architecture, whose package has that name: types and names are checked, no more.
    Other(String),
}

/// Checks a program of any architecture: one for v1model or PSA as it is compiled, others as far as types and names go. Fails if there is no such program.
pub fn check(path: &Path, include_paths: &[std::path::PathBuf], defines: &[(String, String)]) -> Result<Checked, Failure> {
    let options = options(include_paths, defines);
    let shipped = source(path)?;
    let compiled = match shipped {
        Some((name, text)) => p4_check::compile_str(name, text, &options),
        None => p4_check::compile_file(path, &options),
    };
    let wrong = |f: p4_check::Failure| Checked { program: None, diagnostics: f.diagnostics, sources: f.map };
    let failure = match compiled {
        Ok(c) => {
            return Ok(Checked { program: Some(Good::Program(Box::new(c.ir.program))), diagnostics: c.warnings, sources: c.map });
        }
        Err(failure) => failure,
    };
    let Some(architecture) = failure.other_architecture.clone() else { return Ok(wrong(failure)) };
    let checked = match shipped {
        Some((name, text)) => p4_check::check_str(name, text, &options),
        None => p4_check::check_file(path, &options),
    };
    Ok(match checked {
        Ok((sources, diagnostics)) => Checked { program: Some(Good::Other(architecture)), diagnostics, sources },
        Err(failure) => wrong(failure),
    })
}

/// The shipped program of that name, unless there is a file.
fn source(path: &Path) -> Result<Option<(&str, &'static str)>, Failure> {
    let shipped = path.to_str().filter(|_| !path.exists()).and_then(|name| built_in(name).map(|text| (name, text)));
    if shipped.is_none() && !path.exists() {
        let why = "no such file, nor a shipped program (upf.p4, gnb.p4, l2fwd.p4, l2switch.p4, p4wire.p4, ceupf.p4, tna/upf.p4, tna/heavy.p4, tna/published.p4)";
        return Err(Failure::Usage(format!("{}: {why}", path.display())));
    }
    Ok(shipped)
}

/// As [`compile`], before any pass.
pub fn compile_unoptimised(path: &Path, include_paths: &[std::path::PathBuf], defines: &[(String, String)]) -> Result<Ir, Failure> {
    compile_with_sources(path, include_paths, defines).map(|(ir, _)| ir)
}

/// As [`compile_unoptimised`], with the sources.
fn compile_with_sources(
    path: &Path,
    include_paths: &[std::path::PathBuf],
    defines: &[(String, String)],
) -> Result<(Ir, p4_check::SourceMap), Failure> {
    let options = options(include_paths, defines);
    let result = match source(path)? {
        Some((name, text)) => p4_check::compile_str(name, text, &options),
        None => p4_check::compile_file(path, &options),
    };
    match result {
        Ok(compiled) => {
            eprint!("{}", compiled.render_warnings());
            Ok((compiled.ir, compiled.map))
        }
        Err(failure) => Err(Failure::Usage(failure.render().trim_end().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They passed for one another: both are `upf.p4`.
    #[test]
    fn a_shipped_program_with_another_build_option_is_another_program() {
        let of = |define: &[(String, String)]| compile(Path::new("upf.p4"), &[], define).unwrap().program;
        let (plain, heavy) = (of(&[]), of(&[("HEAVY".to_owned(), "1".to_owned())]));
        assert!(plain.name == heavy.name && !plain.is_same(&heavy) && plain.fingerprint != heavy.fingerprint);
        assert!(plain.is_same(&of(&[])));
        // What both have is called the same.
        let ids =
            |p: &program::Program| p.ids.tables.values().map(|t| (t.name.clone(), t.id)).collect::<std::collections::BTreeMap<_, _>>();
        let (plain, heavy) = (ids(&plain), ids(&heavy));
        assert!(plain.len() > 10 && plain.iter().all(|(name, id)| heavy[name] == *id));
    }

    /// Only programs of one packet for each had a text to look at, though all run.
    #[test]
    fn a_program_that_copies_packets_has_a_text_for_x86_cut_where_it_copies() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../splitplane/tests/corpus");
        let copies = Program::compile(&corpus.join("copies.p4"), &[], &[]).unwrap();
        assert!(p4_emit::emit_x86(&copies.ir).is_err(), "it copies");
        assert!(copies.x86_text().unwrap().contains("generated"));
        let upf = Program::compile(Path::new("upf.p4"), &[], &[]).unwrap();
        assert_eq!(upf.x86_text().unwrap(), p4_emit::emit_x86(&upf.ir).unwrap(), "one that does not is not cut");
    }

    /// Else no object that was compiled ahead is of its text.
    #[test]
    fn a_program_that_is_fitted_to_fewer_sessions_has_fewer_cells_and_the_same_text() {
        let mut program = Program::compile(Path::new("upf.p4"), &[], &[]).unwrap();
        let texts = |p: &Program| (p.xdp_text().unwrap().to_owned(), p4_emit::emit_x86(&p.ir).unwrap());
        let sizes = |p: &Program| {
            let counters = p.ir.program.counters.values().map(|c| c.size);
            counters.chain(p.ir.program.meters.values().map(|m| m.size)).collect::<Vec<u64>>()
        };
        let (whole, declared) = (texts(&program), sizes(&program));
        program.fit(4 << 20);
        assert_eq!(sizes(&program), declared);
        program.fit(200_000);
        assert_eq!(texts(&program), whole);
        let fitted = sizes(&program);
        assert_eq!((declared.iter().max(), fitted.iter().max()), (Some(&(4 << 20)), Some(&800_000)));
        assert!(fitted.contains(&1024), "traffic classes are no sessions: {fitted:?}");
    }

    #[test]
    fn the_shipped_programs_compile_without_a_warning() {
        let steps = (0..6).map(|step| ("gnb.p4", Some(("STEP", step.to_string()))));
        let plain = ["upf.p4", "gnb.p4", "l2fwd.p4", "l2switch.p4", "p4wire.p4", "ceupf.p4"].map(|name| (name, None));
        for (name, define) in
            plain.into_iter().chain([("upf.p4", Some(("HEAVY", String::new()))), ("gnb.p4", Some(("FRONT", String::new())))]).chain(steps)
        {
            let defines = define.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            let options = p4_check::Options { builtin: Some(built_in), defines, ..Default::default() };
            let compiled = p4_check::compile_str(name, built_in(name).unwrap(), &options).unwrap_or_else(|f| panic!("{}", f.render()));
            assert_eq!(compiled.render_warnings(), "", "{name}");
        }
        for name in ["tna/upf.p4", "tna/heavy.p4", "tna/published.p4"] {
            let options = p4_check::Options { builtin: Some(built_in), ..Default::default() };
            let checked = p4_check::check_str(name, built_in(name).unwrap(), &options).unwrap_or_else(|f| panic!("{}", f.render()));
            assert!(checked.1.is_empty(), "{name}: {}", p4_syntax::render_all(&checked.1, &checked.0));
            let failure = p4_check::compile_str(name, built_in(name).unwrap(), &options).unwrap_err();
            assert_eq!(failure.other_architecture.as_deref(), Some("Switch"), "{name}: it is checked, not compiled to run");
            let placed =
                p4_check::compile_for_chip_str(name, built_in(name).unwrap(), &options).unwrap_or_else(|f| panic!("{}", f.render()));
            assert_eq!(placed.ir.pipes.len(), 2, "{name}: ingress and egress");
            assert!(placed.warnings.is_empty(), "{name}");
        }
    }
}
