//! From C text to a loaded object: the system's compiler, a temporary folder, the dynamic linker.

use crate::abi::ProcessFn;
use crate::{LoadError, Options};
use libloading::Library;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A loaded object.
pub struct Object {
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

/// Compiles and loads.
pub fn compile(text: &str, options: &Options) -> Result<Object, LoadError> {
    let compiler = find_compiler(options)?;
    let folder =
        tempfile::Builder::new().prefix("splitplane-").tempdir().map_err(|e| LoadError::Io(format!("no temporary folder: {e}")))?;
    let (source, object) = (folder.path().join("program.c"), folder.path().join("program.so"));
    std::fs::write(&source, text).map_err(|e| LoadError::Io(format!("{}: {e}", source.display())))?;
    let started = std::time::Instant::now();
    let output = Command::new(&compiler)
        .args(FLAGS)
        .args(&options.flags)
        .arg(&source)
        .arg("-o")
        .arg(&object)
        .output()
        .map_err(|e| LoadError::Io(format!("{}: {e}", compiler.display())))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let errors: Vec<_> = errors.lines().filter(|l| l.contains("error")).take(3).collect();
        return Err(LoadError::Compiler { compiler, errors: errors.join("; ") });
    }
    tracing::debug!(compiler = %compiler.display(), ms = started.elapsed().as_millis() as u64, lines = text.lines().count(), "compiled");
    // The object stays mapped when its file goes with the folder.
    load(&object)
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

fn find_compiler(options: &Options) -> Result<PathBuf, LoadError> {
    if let Some(cc) = &options.cc {
        return search(cc).ok_or_else(|| LoadError::NoSuchCompiler(cc.clone()));
    }
    if let Some(cc) = std::env::var_os("CC").filter(|cc| !cc.is_empty()) {
        let cc = PathBuf::from(cc);
        return search(&cc).ok_or(LoadError::NoSuchCompiler(cc));
    }
    ["clang", "gcc", "cc"].iter().find_map(|name| search(Path::new(name))).ok_or(LoadError::NoCompiler)
}

/// A program by its path, or by its name on `PATH`.
fn search(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return name.is_file().then(|| name.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|p| p.is_file())
}
