//! From C text to a BPF object: clang, as a child process, once for each text.

use crate::LoadError;
use object::{Object as _, ObjectSymbol as _, SymbolKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Most characters of the compiler's complaints that are passed on.
const MOST_ERRORS: usize = 4000;
/// Objects that are kept: as many as one program is loaded with at a time, with different room.
const KEPT: usize = 4;
/// Bytes of the longest function: a jump reaches 2^15 instructions of 8 bytes each way.
const LONGEST_FUNCTION: u64 = 8 << 15;

/// What an object is made of.
#[derive(Clone, PartialEq, Eq)]
struct Source {
    text: String,
    compiler: PathBuf,
    defines: Vec<(String, u32)>,
}

type Outcome = Result<Arc<Vec<u8>>, LoadError>;

/// The latest ones, the oldest first. Programs that replace others, and tests, load the same text again and again.
static RECENT: Mutex<Vec<(Source, Arc<OnceLock<Outcome>>)>> = Mutex::new(Vec::new());

/// Compiles `text`. `cc` is the compiler, otherwise `clang` on the path. `defines` are numbers that the text leaves open.
pub fn compile(text: &str, cc: Option<&Path>, defines: &[(String, u32)]) -> Outcome {
    let compiler = cc.unwrap_or(Path::new("clang")).to_owned();
    let source = Source { text: text.to_owned(), compiler, defines: defines.to_vec() };
    let slot = {
        let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        let known = recent.iter().position(|(known, _)| *known == source);
        let kept = known.map_or_else(|| (source.clone(), Arc::default()), |i| recent.remove(i));
        let slot = kept.1.clone();
        recent.push(kept);
        let too_many = recent.len().saturating_sub(KEPT);
        recent.drain(..too_many);
        slot
    };
    // Who comes meanwhile with the same text waits for this one.
    let outcome = slot.get_or_init(|| run(&source)).clone();
    if outcome.is_err() {
        // It may be another time: a compiler that is installed meanwhile, a disk that has room again.
        RECENT.lock().unwrap_or_else(PoisonError::into_inner).retain(|(_, other)| !Arc::ptr_eq(other, &slot));
    }
    outcome
}

fn run(source: &Source) -> Outcome {
    let folder = tempfile::tempdir().map_err(|e| LoadError::Io(format!("no temporary folder: {e}")))?;
    let (file, object) = (folder.path().join("program.c"), folder.path().join("program.o"));
    std::fs::write(&file, &source.text).map_err(|e| LoadError::Io(format!("cannot write {}: {e}", file.display())))?;
    // Version 3 of the instruction set has 32-bit arithmetic and compare-and-swap; kernels know it since 5.12. Words are read
    // from addresses of any alignment, so the type of a pointer says nothing of what it may alias.
    // Types, as the kernel wants to know those of a loop's callback.
    let flags = ["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-fno-builtin", "-fno-strict-aliasing", "-w", "-c"];
    // Else stores at the ends of branches become one, whose address then is in a register, and soon on the stack, from far above. LLVM's own
    // options are not for ever: without this one the program is slower.
    let no_sinking = ["-mllvm", "-sink-common-insts=0"];
    let compile = |more: &[&str]| {
        let output = Command::new(&source.compiler)
            .args(flags)
            .args(more)
            .args(source.defines.iter().map(|(name, n)| format!("-D{name}={n}u")))
            .arg(&file)
            .arg("-o")
            .arg(&object)
            .output();
        output.map_err(|e| {
            if e.kind() == std::io::ErrorKind::NotFound {
                LoadError::NoCompiler(source.compiler.clone())
            } else {
                LoadError::Io(format!("cannot run {}: {e}", source.compiler.display()))
            }
        })
    };
    let mut output = compile(&no_sinking)?;
    if !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("sink-common-insts") {
        output = compile(&[])?;
    }
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        // Text that is right may still hold more values at once than fit, or be longer than a jump.
        if errors.contains("stack limit of 512 bytes") {
            return Err(LoadError::Limit("it holds more values at once than BPF's stack of 512 bytes".into()));
        }
        if errors.contains("out of insn range") || errors.contains("branch target out of range") {
            return Err(LoadError::Limit("a jump is farther than BPF's 32,767 instructions".into()));
        }
        let errors = errors.replace(&*file.to_string_lossy(), "program.c");
        return Err(LoadError::Compiler { compiler: source.compiler.clone(), errors: errors.chars().take(MOST_ERRORS).collect() });
    }
    let bytes = std::fs::read(&object).map_err(|e| LoadError::Io(format!("cannot read {}: {e}", object.display())))?;
    jumps_reach(&bytes)?;
    Ok(Arc::new(bytes))
}

/// Refuses functions in which a jump may be farther than its 16 bits: clang 14 cuts the number without a word, and the program
/// goes on elsewhere.
fn jumps_reach(bytes: &[u8]) -> Result<(), LoadError> {
    let file = object::File::parse(bytes).map_err(|e| LoadError::Layout(format!("the compiler's object: {e}")))?;
    let functions = file.symbols().filter(|s| s.kind() == SymbolKind::Text);
    match functions.filter(|s| s.size() > LONGEST_FUNCTION).max_by_key(|s| s.size()) {
        Some(longest) => {
            let name = longest.name().unwrap_or("a function");
            Err(LoadError::Limit(format!("{name} has {} instructions, and jumps reach 32,767", longest.size() / 8)))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A jump across so many instructions.
    fn long(instructions: usize) -> String {
        format!(
            "int f(int x) {{ if (x == 5) goto out;\n__asm__ volatile(\".rept {instructions}\\n r0 = 1\\n .endr\" ::: \"r0\");\nout: return x; }}"
        )
    }

    #[test]
    fn functions_that_are_longer_than_a_jump_are_refused() {
        let error = compile(&long(32_768), None, &[]).unwrap_err();
        assert!(matches!(&error, LoadError::Limit(_)), "{error}");
        compile(&long(32_700), None, &[]).unwrap();
    }

    #[test]
    fn a_text_is_compiled_once_and_failures_are_not_kept() {
        let text = "int g(void) { return SP_KEPT_TEST; }";
        let first = [("SP_KEPT_TEST".to_owned(), 1)];
        let object = compile(text, None, &first).unwrap();
        let again = compile(text, None, &first).unwrap();
        assert!(Arc::ptr_eq(&object, &again));
        let other = compile(text, None, &[("SP_KEPT_TEST".to_owned(), 2)]).unwrap();
        assert_ne!(object, other);
        let missing = Path::new("/there/is/no/compiler");
        assert_eq!(compile(text, Some(missing), &first), Err(LoadError::NoCompiler(missing.to_owned())));
        assert!(compile(text, None, &[]).is_err());
        let kept = RECENT.lock().unwrap();
        assert!(kept.len() <= KEPT && kept.iter().all(|(_, outcome)| !matches!(outcome.get(), Some(Err(_)))));
    }

    #[test]
    fn a_compiler_without_the_option_of_llvm_does() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("clang");
        let script = "#!/bin/sh\ncase \"$*\" in *-mllvm*) echo \"Unknown command line argument '-sink-common-insts=0'\" >&2; exit 1;; esac\nexec clang \"$@\"\n";
        std::fs::write(&other, script).unwrap();
        std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
        compile("int h(void) { return 1; }", Some(&other), &[]).unwrap();
        assert!(matches!(compile("no C", Some(&other), &[]), Err(LoadError::Compiler { .. })));
    }

    /// They would jump anywhere.
    #[test]
    fn what_is_no_object_is_refused() {
        assert!(matches!(jumps_reach(b"no ELF"), Err(LoadError::Layout(_))));
    }
}
