//! From P4 source to a running target. Running, printing, compiling ahead, measuring and planning a program all go this way.
//!
//! | file | question it answers |
//! |---|---|
//! | `lib.rs` | how is a program read and checked, and what becomes of it? |
//! | [`shipped`] | which programs are in the binary? |
//! | [`stages`] | what is done to it on its way to a target, in which order? |
//! | `x86.rs` | how does it run on x86, with its services? |
//! | `refusal.rs` | why is there no program, or none for a target, and where in the source? |
//! | [`objects`] | where does its object code come from? |
//! | `diagnostics.rs` | how does an editor read what the compiler says? |
#![forbid(unsafe_code)]

mod diagnostics;
pub mod objects;
mod refusal;
pub mod shipped;
pub mod stages;
mod x86;

pub use p4_emit::MAX_CUTS;
pub use p4_passes::bridge::replicates;
pub use refusal::{Error, Refusal};
pub use x86::X86Program;

use p4_ir::Ir;
use p4_ir::origin::Construct;
use shipped::built_in;
use stages::{Form, Work};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Compiles a program to optimised IR: the file at `path`, or the built-in program of that name if there is no such file.
/// Warnings go to standard error.
///
/// # Errors
/// [`Error::NoProgram`], [`Error::Wrong`] and [`Error::Pass`].
pub fn compile(path: &Path, include_paths: &[PathBuf], defines: &[(String, String)]) -> Result<Ir, Error> {
    Program::compile(path, include_paths, defines).map(Program::into_ir)
}

/// As [`compile`], of a shipped program, whatever files there are.
///
/// # Errors
/// [`Error::NotShipped`] and [`Error::Pass`].
pub fn compile_shipped(name: &str) -> Result<Ir, Error> {
    Program::compile_shipped(name, &[]).map(Program::into_ir)
}

/// As [`compile`], before any stage.
///
/// # Errors
/// [`Error::NoProgram`] and [`Error::Wrong`].
pub fn compile_unoptimised(path: &Path, include_paths: &[PathBuf], defines: &[(String, String)]) -> Result<Ir, Error> {
    Ok(Source::find(path, include_paths, defines)?.compile_loudly()?.ir)
}

/// Compiles a program for a model of a chip, and optimises it.
///
/// # Errors
/// As for [`compile`].
pub fn compile_for_chip(path: &Path, include_paths: &[PathBuf], defines: &[(String, String)]) -> Result<Ir, Error> {
    optimise(Source::find(path, include_paths, defines)?.compile_for_chip()?.ir)
}

/// As [`compile_for_chip`], of a shipped program, whatever files there are.
///
/// # Errors
/// As for [`compile_shipped`].
pub fn compile_shipped_for_chip(name: &str) -> Result<Ir, Error> {
    optimise(Source::shipped(name, &[])?.compile_for_chip()?.ir)
}

/// A checked program, optimised.
///
/// # Errors
/// [`Error::Pass`].
pub fn optimise(ir: Ir) -> Result<Ir, Error> {
    Ok(Work::checked(ir).finish(Form::Ir)?.ir.into_owned())
}

/// The text of an optimised program for the kernel's XDP hook.
///
/// # Errors
/// [`Error::Refused`], without the line of the source, as that is not at hand: see [`Program::xdp_text`].
pub fn xdp_text(ir: &Ir) -> Result<String, Error> {
    Ok(Work::optimised(ir).finish(Form::Xdp)?.text)
}

/// Sessions that counters and meters have room for at least: a session may have many URRs and QERs.
const LEAST_ROOM: u64 = 1 << 14;

/// A program with its sources, for targets that may refuse it, and its texts for those that were asked.
pub struct Program {
    /// Optimised.
    pub ir: Arc<Ir>,
    /// `None`: it was made elsewhere, and refusals name no line.
    sources: Option<p4_check::SourceMap>,
    /// A start wants them twice: to see whether there are any, and to load them.
    x86: OnceCell<X86Program>,
    xdp: OnceCell<String>,
}

/// An optimised program without its sources.
impl From<Ir> for Program {
    fn from(ir: Ir) -> Program {
        Program { ir: Arc::new(ir), sources: None, x86: OnceCell::new(), xdp: OnceCell::new() }
    }
}

impl Program {
    /// As [`compile`].
    ///
    /// # Errors
    /// As for [`compile`].
    pub fn compile(path: &Path, include_paths: &[PathBuf], defines: &[(String, String)]) -> Result<Program, Error> {
        Program::of(Source::find(path, include_paths, defines)?.compile_loudly()?)
    }

    /// As [`compile_shipped`], with build options.
    ///
    /// # Errors
    /// As for [`compile_shipped`].
    pub fn compile_shipped(name: &str, defines: &[(String, String)]) -> Result<Program, Error> {
        Program::of(Source::shipped(name, defines)?.compile()?)
    }

    /// As [`compile`], of a text that messages call `name`.
    ///
    /// # Errors
    /// [`Error::Wrong`] and [`Error::Pass`].
    pub fn compile_text(name: &str, text: &str, defines: &[(String, String)]) -> Result<Program, Error> {
        Program::of(Source::text(name, text, defines).compile()?)
    }

    fn of(compiled: p4_check::Compiled) -> Result<Program, Error> {
        Ok(Program { sources: Some(compiled.map), ..Program::from(optimise(compiled.ir)?) })
    }

    /// Leaves room for so many sessions (16,384 at least) in counters and meters that are declared as multiples of the session tables. Arrays of
    /// the kernel's take all their memory at once, whether they are used or not. The generated text is the same.
    pub fn fit(&mut self, sessions: u64) {
        let sessions = sessions.max(LEAST_ROOM);
        self.resize(|program| {
            let Some(declared) = program.tables.values().filter(|t| t.split).map(|t| t.size).max() else { return };
            let fitted = |size: u64| if size.is_multiple_of(declared) { (size / declared * sessions).min(size) } else { size };
            program.counters.values_mut().filter(|c| c.table.is_none()).for_each(|c| c.size = fitted(c.size));
            program.meters.values_mut().filter(|m| m.table.is_none()).for_each(|m| m.size = fitted(m.size));
        });
    }

    /// Gives tables and cells other sizes, which no target's text depends on.
    pub fn resize(&mut self, sizes: impl Fn(&mut program::Program)) {
        sizes(&mut Arc::make_mut(&mut self.ir).program);
        if let Some(x86) = self.x86.get_mut() {
            sizes(&mut x86.program);
        }
    }

    /// The IR alone. A program that is loaded needs its sources no more.
    pub fn into_ir(self) -> Ir {
        Arc::unwrap_or_clone(self.ir)
    }

    /// The program for x86, cut where it copies packets or calls services.
    ///
    /// # Errors
    /// [`Error::Refused`], which shows the construct in its source, and [`Error::Pass`].
    pub fn x86(&self) -> Result<&X86Program, Error> {
        if let Some(x86) = self.x86.get() {
            return Ok(x86);
        }
        let x86 = X86Program::of(&self.ir).map_err(|e| e.shown_in(self.sources.as_ref()))?;
        Ok(self.x86.get_or_init(|| x86))
    }

    /// Its text for the kernel's XDP hook.
    ///
    /// # Errors
    /// [`Error::Refused`], which shows the construct in its source.
    pub fn xdp_text(&self) -> Result<&str, Error> {
        if let Some(text) = self.xdp.get() {
            return Ok(text);
        }
        let text = xdp_text(&self.ir).map_err(|e| e.shown_in(self.sources.as_ref()))?;
        Ok(self.xdp.get_or_init(|| text))
    }

    /// The program after the stages of x86 up to "cut", optimised again; `None` where there is nothing to cut.
    ///
    /// # Errors
    /// As for [`Program::x86`].
    pub fn cut(&self) -> Result<Option<(Ir, program::Bridge)>, Error> {
        let Work { ir, bridge, .. } = Work::optimised(&self.ir).finish_cut().map_err(|e| e.shown_in(self.sources.as_ref()))?;
        Ok(bridge.map(|bridge| (ir.into_owned(), bridge)))
    }

    /// Refuses a program that copies packets or sends them round, for those who cannot say where copies go.
    ///
    /// # Errors
    /// [`Error::Refused`], which shows the first such construct.
    pub fn makes_no_copies(&self) -> Result<(), Error> {
        if !replicates(&self.ir) {
            return Ok(());
        }
        let origin = [Construct::Copies, Construct::Multicast].iter().find_map(|c| self.ir.origins.find(*c, None));
        let why = "the program copies packets or sends them round, and nothing in a configuration says where copies go";
        Err(Error::from(Refusal::new(&self.ir, origin, &why)).shown_in(self.sources.as_ref()))
    }
}

/// Where a program is, and how it is read.
struct Source<'a> {
    name: &'a Path,
    /// `None`: it is a file.
    text: Option<&'a str>,
    options: p4_check::Options,
}

impl<'a> Source<'a> {
    /// The file, or the shipped program of that name if there is no such file.
    fn find(path: &'a Path, include_paths: &[PathBuf], defines: &[(String, String)]) -> Result<Source<'a>, Error> {
        let text = path.to_str().filter(|_| !path.exists()).and_then(built_in);
        if text.is_none() && !path.exists() {
            return Err(Error::NoProgram(path.display().to_string()));
        }
        Ok(Source { name: path, text, options: options(include_paths, defines) })
    }

    fn shipped(name: &'a str, defines: &[(String, String)]) -> Result<Source<'a>, Error> {
        let text = built_in(name).ok_or_else(|| Error::NotShipped(name.to_owned()))?;
        Ok(Source::text(name, text, defines))
    }

    fn text(name: &'a str, text: &'a str, defines: &[(String, String)]) -> Source<'a> {
        Source { name: Path::new(name), text: Some(text), options: options(&[], defines) }
    }

    /// Reads it in one of the ways that there are of text and of a file.
    fn read<T>(
        &self,
        of_text: impl FnOnce(&str, &str, &p4_check::Options) -> T,
        of_file: impl FnOnce(&Path, &p4_check::Options) -> T,
    ) -> T {
        match self.text {
            Some(text) => of_text(&self.name.to_string_lossy(), text, &self.options),
            None => of_file(self.name, &self.options),
        }
    }

    fn compile(&self) -> Result<p4_check::Compiled, Error> {
        self.read(p4_check::compile_str, p4_check::compile_file).map_err(wrong)
    }

    /// As [`Source::compile`], with warnings to standard error.
    fn compile_loudly(&self) -> Result<p4_check::Compiled, Error> {
        let compiled = self.compile()?;
        eprint!("{}", compiled.render_warnings());
        Ok(compiled)
    }

    fn compile_for_chip(&self) -> Result<p4_check::Compiled, Error> {
        self.read(p4_check::compile_for_chip_str, p4_check::compile_for_chip_file).map_err(wrong)
    }
}

fn wrong(failure: p4_check::Failure) -> Error {
    Error::Wrong(failure.render().trim_end().to_owned())
}

/// How a program is read: with its includes and macros, and what is built in.
pub fn options(include_paths: &[PathBuf], defines: &[(String, String)]) -> p4_check::Options {
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
        diagnostics::json(&self.diagnostics, &self.sources)
    }
}

/// A program without fault.
pub enum Good {
    /// One that can be compiled, as data.
    Program(Box<program::Program>),
    /// One for another architecture, whose package has that name: types and names are checked, no more.
    Other(String),
}

/// Checks a program of any architecture: one for v1model or PSA as it is compiled, others as far as types and names go.
///
/// # Errors
/// [`Error::NoProgram`].
pub fn check(path: &Path, include_paths: &[PathBuf], defines: &[(String, String)]) -> Result<Checked, Error> {
    let source = Source::find(path, include_paths, defines)?;
    let wrong = |f: p4_check::Failure| Checked { program: None, diagnostics: f.diagnostics, sources: f.map };
    let failure = match source.read(p4_check::compile_str, p4_check::compile_file) {
        Ok(c) => {
            return Ok(Checked { program: Some(Good::Program(Box::new(c.ir.program))), diagnostics: c.warnings, sources: c.map });
        }
        Err(failure) => failure,
    };
    let Some(architecture) = failure.other_architecture.clone() else { return Ok(wrong(failure)) };
    Ok(match source.read(p4_check::check_str, p4_check::check_file) {
        Ok((sources, diagnostics)) => Checked { program: Some(Good::Other(architecture)), diagnostics, sources },
        Err(failure) => wrong(failure),
    })
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
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/splitplane/tests/corpus");
        let copies = Program::compile(&corpus.join("copies.p4"), &[], &[]).unwrap();
        assert!(p4_emit::emit_x86(&copies.ir).is_err(), "it copies");
        assert!(copies.x86().unwrap().text.contains("generated"));
        let upf = Program::compile(Path::new("upf.p4"), &[], &[]).unwrap();
        assert_eq!(upf.x86().unwrap().text, p4_emit::emit_x86(&upf.ir).unwrap(), "one that does not is not cut");
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
