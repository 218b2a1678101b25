//! From C text to a loaded object: the system's compiler, and the dynamic linker.

use crate::abi::ProcessFn;
use crate::{LoadError, Options};
use c_compile::{Job, Shipped};
use libloading::Library;
use std::path::{Path, PathBuf};

/// A loaded object.
pub(crate) struct Object {
    /// Its entry point.
    pub process: ProcessFn,
    /// Bytes that it works in, for each lane.
    pub run_len: u64,
    /// Its `sp_layout`.
    pub layout: Vec<u32>,
    /// Keeps the code mapped.
    _library: Library,
}

/// What the generated code needs of a compiler: headers are read as other types than they were written, sums wrap, and
/// nothing but the compiler itself may be needed, C library headers included.
pub const FLAGS: &[&str] =
    &["-std=gnu11", "-O3", "-fno-strict-aliasing", "-fwrapv", "-fno-stack-protector", "-fPIC", "-shared", "-nostdlib", "-w"];

/// The processor that runs the compiler.
pub const NATIVE: &str = "native";

/// Levels of the x86-64 psABI that programs are compiled ahead for, the best first.
pub const LEVELS: &[&str] = &["x86-64-v4", "x86-64-v3", "x86-64-v2"];

/// The best of [`LEVELS`] that this processor has; `None` for a processor that is older than all.
pub fn level() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        let v2 = has!("sse4.2") && has!("ssse3") && has!("popcnt") && has!("cmpxchg16b");
        let v3 = v2 && has!("avx2") && has!("bmi1") && has!("bmi2") && has!("f16c") && has!("fma") && has!("lzcnt") && has!("movbe");
        let v4 = v3 && has!("avx512f") && has!("avx512bw") && has!("avx512cd") && has!("avx512dq") && has!("avx512vl");
        LEVELS.iter().zip([v4, v3, v2]).find(|(_, has)| *has).map(|(level, _)| *level)
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

fn arguments(processor: &str, more: &[String]) -> Vec<String> {
    let flags = FLAGS.iter().map(|flag| (*flag).to_owned());
    flags.chain([format!("-march={processor}")]).chain(more.iter().cloned()).collect()
}

/// Compiles `text` ahead, for all [`LEVELS`]; names of the files in `to`. By gcc, if it is there: it compiles more slowly than clang, but its code is
/// faster (docs/performance.md).
///
/// # Errors
/// As for [`crate::X86::load`].
pub fn compile_ahead(text: &str, cc: Option<&Path>, to: &Shipped) -> Result<Vec<String>, LoadError> {
    let compiler = first(cc, &["gcc", "clang", "cc"])?;
    let add = |level: &&str| {
        let job = Job { what: "x86", text, compiler: &compiler, arguments: &arguments(level, &[]) };
        to.add(&job).map_err(|e| refusal(&compiler, e))
    };
    LEVELS.iter().map(add).collect()
}

/// Takes the object that is shipped or kept, or compiles, and loads.
pub(crate) fn compile(text: &str, options: &Options) -> Result<Object, LoadError> {
    let object = match shipped(text, options) {
        Some(object) => object,
        None => compile_here(text, options)?,
    };
    // The linker wants a file, which is ours alone, and has a name that no other object of this process has. The object stays mapped when its
    // file goes.
    let fail = |e: std::io::Error| LoadError::Io(format!("no temporary file: {e}"));
    let mut file =
        tempfile::Builder::new().prefix("splitplane-").suffix(".so").tempfile_in(c_compile::environment::temporary()).map_err(fail)?;
    std::io::Write::write_all(&mut file, &object).map_err(fail)?;
    load(file.path())
}

/// Whether [`crate::X86::load`] would find an object of `text`, or a compiler for it. Nothing is compiled.
///
/// # Errors
/// [`LoadError::NoSuchCompiler`] and [`LoadError::NoCompiler`].
pub fn check(text: &str, options: &Options) -> Result<(), LoadError> {
    if options.cc.is_none() && shipped(text, options).is_some() {
        return Ok(());
    }
    match (compiler(options.cc.as_deref()), &options.cache) {
        (Err(LoadError::NoCompiler), Some(cache)) => {
            c_compile::kept("x86", text, &arguments(NATIVE, &options.flags), cache).map(drop).ok_or(LoadError::NoCompiler)
        }
        (compiler, _) => compiler.map(drop),
    }
}

/// That of the processor's level, unless a compiler was asked for.
fn shipped(text: &str, options: &Options) -> Option<Vec<u8>> {
    let shipped = options.shipped.as_ref().filter(|_| options.cc.is_none())?;
    shipped.get("x86", text, &arguments(level()?, &options.flags))
}

fn compile_here(text: &str, options: &Options) -> Result<Vec<u8>, LoadError> {
    let arguments = arguments(NATIVE, &options.flags);
    let compiler = match (compiler(options.cc.as_deref()), &options.cache) {
        (Err(LoadError::NoCompiler), Some(cache)) => return c_compile::kept("x86", text, &arguments, cache).ok_or(LoadError::NoCompiler),
        (compiler, _) => compiler?,
    };
    let job = Job { what: "x86", text, compiler: &compiler, arguments: &arguments };
    c_compile::compile(&job, options.cache.as_ref()).map_err(|e| refusal(&compiler, e))
}

fn refusal(compiler: &Path, error: c_compile::Error) -> LoadError {
    match error {
        c_compile::Error::Io(what) => LoadError::Io(what),
        c_compile::Error::Refused(said) => {
            let errors: Vec<_> = said.lines().filter(|l| l.contains("error")).take(3).collect();
            LoadError::Compiler { compiler: compiler.to_owned(), errors: errors.join("; ") }
        }
    }
}

/// The compiler that is used: the one asked for, else that of the environment, if its word counts, else the first that is there.
///
/// # Errors
/// [`LoadError::NoSuchCompiler`] and [`LoadError::NoCompiler`].
pub fn compiler(asked: Option<&Path>) -> Result<PathBuf, LoadError> {
    first(asked, &["clang", "gcc", "cc"])
}

fn first(asked: Option<&Path>, names: &[&str]) -> Result<PathBuf, LoadError> {
    let of_environment = c_compile::environment::trusted("CC").map(PathBuf::from);
    c_compile::find(asked.or(of_environment.as_deref()), names)
        .map_err(|asked| asked.map_or(LoadError::NoCompiler, LoadError::NoSuchCompiler))
}

fn load(object: &Path) -> Result<Object, LoadError> {
    let fail = |e: libloading::Error| LoadError::Object(e.to_string());
    // SAFETY: the object was compiled from generated text, which has no initialisers that run on loading; where it is shipped or was kept, nobody
    // else can have written it.
    let library = unsafe { Library::new(object) }.map_err(fail)?;
    // SAFETY: the text defines these with these types.
    let (process, run_len, layout) = unsafe {
        let process = *library.get::<ProcessFn>(b"sp_process\0").map_err(fail)?;
        let words = *library.get::<*const u32>(b"sp_layout\0").map_err(fail)?;
        let len = **library.get::<*const u32>(b"sp_layout_len\0").map_err(fail)? as usize;
        let run_len = **library.get::<*const u64>(b"sp_run_size\0").map_err(fail)?;
        (process, run_len, std::slice::from_raw_parts(words, len).to_vec())
    };
    Ok(Object { process, run_len, layout, _library: library })
}
