//! From C text to a loaded object: the system's compiler, and the dynamic linker.

use crate::abi::ProcessFn;
use crate::{LoadError, Options};
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
pub const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-O3",
    "-march=native",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-fno-stack-protector",
    "-fPIC",
    "-shared",
    "-nostdlib",
    "-w",
];

/// Compiles, or takes the object that is kept, and loads.
pub(crate) fn compile(text: &str, options: &Options) -> Result<Object, LoadError> {
    let compiler = compiler(options.cc.as_deref())?;
    let arguments: Vec<String> = FLAGS.iter().map(|flag| (*flag).to_owned()).chain(options.flags.iter().cloned()).collect();
    let job = c_compile::Job { what: "x86", text, compiler: &compiler, arguments: &arguments };
    let object = c_compile::compile(&job, options.cache.as_ref()).map_err(|e| match e {
        c_compile::Error::Io(what) => LoadError::Io(what),
        c_compile::Error::Refused(said) => {
            let errors: Vec<_> = said.lines().filter(|l| l.contains("error")).take(3).collect();
            LoadError::Compiler { compiler: compiler.clone(), errors: errors.join("; ") }
        }
    })?;
    // The linker wants a file, which is ours alone, and has a name that no other object of this process has. The object stays mapped when its
    // file goes.
    let fail = |e: std::io::Error| LoadError::Io(format!("no temporary file: {e}"));
    let mut file =
        tempfile::Builder::new().prefix("splitplane-").suffix(".so").tempfile_in(c_compile::environment::temporary()).map_err(fail)?;
    std::io::Write::write_all(&mut file, &object).map_err(fail)?;
    load(file.path())
}

/// The compiler that is used: the one asked for, else that of the environment, if its word counts, else the first that is there.
///
/// # Errors
/// [`LoadError::NoSuchCompiler`] and [`LoadError::NoCompiler`].
pub fn compiler(asked: Option<&Path>) -> Result<PathBuf, LoadError> {
    let of_environment = c_compile::environment::trusted("CC").map(PathBuf::from);
    c_compile::find(asked.or(of_environment.as_deref()), &["clang", "gcc", "cc"])
        .map_err(|asked| asked.map_or(LoadError::NoCompiler, LoadError::NoSuchCompiler))
}

fn load(object: &Path) -> Result<Object, LoadError> {
    let fail = |e: libloading::Error| LoadError::Object(e.to_string());
    // SAFETY: the object has just been compiled from generated text, which has no initialisers that run on loading.
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
