//! From C text to a BPF object: clang, as a child process, once for each text.

use crate::LoadError;
use c_compile::{Cache, Job, Shipped};
use object::{Object as _, ObjectSymbol as _, SymbolKind};
use std::path::{Path, PathBuf};
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
    defines: Vec<(String, u32)>,
    asked: Option<PathBuf>,
    shipped: Option<Shipped>,
}

/// Where objects come from.
#[derive(Clone, Copy, Default)]
pub(crate) struct Objects<'a> {
    /// The compiler that was asked for: with one nothing is taken that is shipped.
    pub cc: Option<&'a Path>,
    pub shipped: Option<&'a Shipped>,
    pub cache: Option<&'a Cache>,
}

type Outcome = Result<Arc<Vec<u8>>, LoadError>;

/// The latest ones, the oldest first. Programs that replace others, and tests, load the same text again and again.
static RECENT: Mutex<Vec<(Source, Arc<OnceLock<Outcome>>)>> = Mutex::new(Vec::new());

/// The compiler that is used: `asked`, otherwise `clang` on the path.
pub fn compiler(asked: Option<&Path>) -> Result<PathBuf, LoadError> {
    c_compile::find(asked, &["clang"]).map_err(|asked| LoadError::NoCompiler(asked.unwrap_or_else(|| "clang".into())))
}

/// Takes the object of `text` that is shipped or kept, or compiles it. `defines` are numbers that the text leaves open.
pub(crate) fn compile(text: &str, defines: &[(String, u32)], objects: &Objects) -> Outcome {
    let Objects { cc, shipped, .. } = *objects;
    let shipped = shipped.filter(|_| cc.is_none());
    let source = Source { text: text.to_owned(), defines: defines.to_vec(), asked: cc.map(Path::to_owned), shipped: shipped.cloned() };
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
    let outcome = slot.get_or_init(|| run(&source, objects.cache)).clone();
    if outcome.is_err() {
        // It may be another time: a compiler that is installed meanwhile, a disk that has room again.
        RECENT.lock().unwrap_or_else(PoisonError::into_inner).retain(|(_, other)| !Arc::ptr_eq(other, &slot));
    }
    outcome
}

/// Compiles `text` ahead, once with each of these `defines`; names of the files in `to`.
pub(crate) fn ahead(text: &str, cc: Option<&Path>, forms: &[Vec<(String, u32)>], to: &Shipped) -> Result<Vec<String>, LoadError> {
    let compiler = compiler(cc)?;
    let add = |defines: &Vec<(String, u32)>| {
        let arguments = arguments(defines);
        let name = to.add(&Job { what: "XDP", text, compiler: &compiler, arguments: &arguments }).map_err(|e| refusal(&compiler, e))?;
        jumps_reach(&to.get("XDP", text, &arguments).unwrap_or_default())?;
        Ok(name)
    };
    forms.iter().map(add).collect()
}

fn run(source: &Source, cache: Option<&Cache>) -> Outcome {
    let arguments = arguments(&source.defines);
    let bytes = match source.shipped.as_ref().and_then(|shipped| shipped.get("XDP", &source.text, &arguments)) {
        Some(bytes) => bytes,
        None => compile_here(source, &arguments, cache)?,
    };
    jumps_reach(&bytes)?;
    Ok(Arc::new(bytes))
}

/// LLVM's option without which stores at the ends of branches become one, whose address then is in a register, and soon on the stack, from far
/// above.
const NO_SINKING: [&str; 2] = ["-mllvm", "-sink-common-insts=0"];

fn arguments(defines: &[(String, u32)]) -> Vec<String> {
    // Version 3 of the instruction set has 32-bit arithmetic and compare-and-swap; kernels know it since 5.12. Words are read
    // from addresses of any alignment, so the type of a pointer says nothing of what it may alias.
    // Types, as the kernel wants to know those of a loop's callback.
    let flags = ["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-fno-builtin", "-fno-strict-aliasing", "-w", "-c"];
    let flags = flags.iter().chain(&NO_SINKING).map(|flag| (*flag).to_owned());
    flags.chain(defines.iter().map(|(name, n)| format!("-D{name}={n}u"))).collect()
}

fn compile_here(source: &Source, arguments: &[String], cache: Option<&Cache>) -> Result<Vec<u8>, LoadError> {
    // LLVM's own options may be removed from the compiler: without this one the program is slower.
    let without: Vec<String> = arguments.iter().filter(|a| !NO_SINKING.contains(&a.as_str())).cloned().collect();
    let compiler = match (compiler(source.asked.as_deref()), cache) {
        (Err(missing), Some(cache)) if source.asked.is_none() => {
            let kept = |arguments: &[String]| c_compile::kept("XDP", &source.text, arguments, cache);
            return kept(arguments).or_else(|| kept(&without)).ok_or(missing);
        }
        (compiler, _) => compiler?,
    };
    let compile = |arguments: &[String]| {
        let job = Job { what: "XDP", text: &source.text, compiler: &compiler, arguments };
        c_compile::compile(&job, cache)
    };
    let mut object = compile(arguments);
    if matches!(&object, Err(c_compile::Error::Refused(said)) if said.contains("sink-common-insts")) {
        object = compile(&without);
    }
    object.map_err(|e| refusal(&compiler, e))
}

fn refusal(compiler: &Path, error: c_compile::Error) -> LoadError {
    match error {
        c_compile::Error::Io(what) => LoadError::Io(what),
        // Text that is right may still hold more values at once than fit, or be longer than a jump.
        c_compile::Error::Refused(said) if said.contains("stack limit of 512 bytes") => {
            LoadError::Limit("it holds more values at once than BPF's stack of 512 bytes".into())
        }
        c_compile::Error::Refused(said) if said.contains("out of insn range") || said.contains("branch target out of range") => {
            LoadError::Limit("a jump is farther than BPF's 32,767 instructions".into())
        }
        c_compile::Error::Refused(said) => {
            LoadError::Compiler { compiler: compiler.to_owned(), errors: said.chars().take(MOST_ERRORS).collect() }
        }
    }
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

    fn with(compiler: &Path) -> Objects<'_> {
        Objects { cc: Some(compiler), ..Objects::default() }
    }

    /// A jump across so many instructions.
    fn long(instructions: usize) -> String {
        format!(
            "int f(int x) {{ if (x == 5) goto out;\n__asm__ volatile(\".rept {instructions}\\n r0 = 1\\n .endr\" ::: \"r0\");\nout: return x; }}"
        )
    }

    #[test]
    fn functions_that_are_longer_than_a_jump_are_refused() {
        let error = compile(&long(32_768), &[], &Objects::default()).unwrap_err();
        assert!(matches!(&error, LoadError::Limit(_)), "{error}");
        compile(&long(32_700), &[], &Objects::default()).unwrap();
    }

    #[test]
    fn a_text_is_compiled_once_and_failures_are_not_kept() {
        let text = "int g(void) { return SP_KEPT_TEST; }";
        let first = [("SP_KEPT_TEST".to_owned(), 1)];
        let object = compile(text, &first, &Objects::default()).unwrap();
        let again = compile(text, &first, &Objects::default()).unwrap();
        assert!(Arc::ptr_eq(&object, &again));
        let other = compile(text, &[("SP_KEPT_TEST".to_owned(), 2)], &Objects::default()).unwrap();
        assert_ne!(object, other);
        let missing = Path::new("/there/is/no/compiler");
        assert_eq!(compile(text, &first, &with(missing)), Err(LoadError::NoCompiler(missing.to_owned())));
        assert!(compile(text, &[], &Objects::default()).is_err());
        let kept = RECENT.lock().unwrap();
        assert!(kept.len() <= KEPT && kept.iter().all(|(_, outcome)| !matches!(outcome.get(), Some(Err(_)))));
    }

    #[test]
    fn a_compiler_without_the_option_of_llvm_does() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("clang");
        let script = "#!/bin/sh\ncase \"$*\" in *-mllvm*) echo \"Unknown command line argument '-sink-common-insts=0'\" >&2; exit 1;; esac\nexec clang \"$@\"\n";
        testkit::script(&other, script);
        compile("int h(void) { return 1; }", &[], &with(&other)).unwrap();
        assert!(matches!(compile("no C", &[], &with(&other)), Err(LoadError::Compiler { .. })));
    }

    /// They would jump anywhere.
    #[test]
    fn what_is_no_object_is_refused() {
        assert!(matches!(jumps_reach(b"no ELF"), Err(LoadError::Layout(_))));
    }
}
