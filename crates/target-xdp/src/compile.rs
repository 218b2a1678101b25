//! From C text to a BPF object: clang, as a child process.

use crate::LoadError;
use std::path::Path;
use std::process::Command;

/// Most characters of the compiler's complaints that are passed on.
const MOST_ERRORS: usize = 4000;

/// Compiles `text`. `cc` is the compiler, otherwise `clang` on the path. `defines` are numbers that the text leaves open.
pub fn compile(text: &str, cc: Option<&Path>, defines: &[(String, u32)]) -> Result<Vec<u8>, LoadError> {
    let folder = tempfile::tempdir().map_err(|e| LoadError::Io(format!("no temporary folder: {e}")))?;
    let (source, object) = (folder.path().join("program.c"), folder.path().join("program.o"));
    std::fs::write(&source, text).map_err(|e| LoadError::Io(format!("cannot write {}: {e}", source.display())))?;
    let cc = cc.unwrap_or(Path::new("clang"));
    // Version 3 of the instruction set has 32-bit arithmetic and compare-and-swap; kernels know it since 5.12. Words are read
    // from addresses of any alignment, so the type of a pointer says nothing of what it may alias.
    // Types, as the kernel wants to know those of a loop's callback.
    let flags = ["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-fno-builtin", "-fno-strict-aliasing", "-w", "-c"];
    let output = Command::new(cc)
        .args(flags)
        .args(defines.iter().map(|(name, n)| format!("-D{name}={n}u")))
        .arg(&source)
        .arg("-o")
        .arg(&object)
        .output()
        .map_err(|e| {
            if e.kind() == std::io::ErrorKind::NotFound {
                LoadError::NoCompiler(cc.to_owned())
            } else {
                LoadError::Io(format!("cannot run {}: {e}", cc.display()))
            }
        })?;
    if !output.status.success() {
        // Text that is right may still hold more values at once than fit.
        if String::from_utf8_lossy(&output.stderr).contains("stack limit of 512 bytes") {
            return Err(LoadError::Limit("it holds more values at once than BPF's stack of 512 bytes".into()));
        }
        let errors = String::from_utf8_lossy(&output.stderr).replace(&*source.to_string_lossy(), "program.c");
        return Err(LoadError::Compiler { compiler: cc.to_owned(), errors: errors.chars().take(MOST_ERRORS).collect() });
    }
    std::fs::read(&object).map_err(|e| LoadError::Io(format!("cannot read {}: {e}", object.display())))
}
