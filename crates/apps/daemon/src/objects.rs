//! Where does a program's object code come from? From what was compiled ahead and lies beside the binary, from an earlier start, or from the C
//! compiler of this machine, in that order.

use crate::failure::Failure;
use crate::program::Program;
use c_compile::{Cache, Shipped};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Places to look in before the compiler is asked.
#[derive(Clone, Default, Debug)]
pub struct Objects {
    /// What was compiled ahead.
    pub shipped: Option<Shipped>,
    /// What earlier starts have compiled.
    pub cache: Option<Cache>,
}

impl Objects {
    /// Those of this machine that are safe. What is not is logged.
    pub fn find() -> Objects {
        c_compile::clear_away(&c_compile::environment::temporary());
        let shipped = Shipped::beside_the_binary().unwrap_or_else(|why| {
            tracing::warn!("shipped objects are not used: {why}");
            None
        });
        let cache = c_compile::environment::cache().map(|folder| Cache::open(&folder)).transpose().unwrap_or_else(|why| {
            tracing::warn!("compiled programs are not cached: {why}");
            None
        });
        if let Some(cache) = &cache {
            cache.clear_away();
        }
        Objects { shipped, cache }
    }

    /// Whether there are any, so that no compiler may be needed. A program that has none among them is refused when it is loaded.
    pub fn are_there(&self) -> bool {
        self.shipped.is_some() || self.cache.as_ref().is_some_and(Cache::has_objects)
    }
}

/// A program to be compiled ahead.
pub struct Ahead {
    /// A file, or the name of a shipped program.
    pub program: PathBuf,
    /// Its folders of includes.
    pub include: Vec<PathBuf>,
    /// Its macros.
    pub defines: Vec<(String, String)>,
    /// Whether it runs in the kernel, too, where BPF can express it.
    pub xdp: bool,
}

impl Ahead {
    fn of(program: &str, defines: &[(&str, &str)], xdp: bool) -> Ahead {
        let defines = defines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Ahead { program: program.into(), include: Vec::new(), defines, xdp }
    }
}

/// All that a configuration can ask for without a P4 program of its own.
pub fn all() -> Vec<Ahead> {
    const SHAPE: (&str, &str) = ("SHAPE", "1");
    const QUEUES: (&str, &str) = ("QUEUES", "1");
    const HEAVY: (&str, &str) = ("HEAVY", "1");
    vec![
        Ahead::of("upf.p4", &[], true),
        Ahead::of("upf.p4", &[SHAPE], true),
        // XDP sends by other ports than those with a rate.
        Ahead::of("upf.p4", &[QUEUES], true),
        Ahead::of("upf.p4", &[SHAPE, QUEUES], true),
        // What tells the rates of sessions is asked for with a fast target only.
        Ahead::of("upf.p4", &[HEAVY], true),
        Ahead::of("upf.p4", &[SHAPE, HEAVY], true),
        Ahead::of("upf.p4", &[QUEUES, HEAVY], true),
        Ahead::of("upf.p4", &[SHAPE, QUEUES, HEAVY], true),
        Ahead::of("ceupf.p4", &[], false),
    ]
}

/// Fills `folder` with the objects of `programs`, on as many threads as there are processors; how many objects they have. Objects that are there stay.
///
/// # Errors
/// A program's, the compiler's, or the folder's.
pub fn compile_ahead(programs: &[Ahead], folder: &Path, cc: Option<&Path>) -> Result<BTreeSet<String>, Failure> {
    let usage = |e: &dyn std::fmt::Display| Failure::Usage(e.to_string());
    let to = Shipped::create(folder).map_err(|e| usage(&e))?;
    let mut texts = Vec::new();
    let mut names = BTreeSet::new();
    for ahead in programs {
        let program = Program::compile(&ahead.program, &ahead.include, &ahead.defines)?;
        let xdp = ahead.xdp.then(|| program.xdp_text()).transpose()?.map(str::to_owned);
        let x86 = p4_emit::emit_x86(&program.ir).map_err(|e| usage(&format!("{}: {e}", ahead.program.display())))?;
        texts.extend(xdp.map(|text| (true, text)).into_iter().chain([(false, x86)]));
    }
    let compile = |(xdp, text): &(bool, String)| {
        if *xdp {
            target_xdp::compile_ahead(text, cc, &to).map_err(|e| usage(&e))
        } else {
            target_x86::compile_ahead(text, cc, &to).map_err(|e| usage(&e))
        }
    };
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(text) = texts.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            done.extend(compile(text)?);
        }
        Ok::<_, Failure>(done)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let done: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    for of_thread in done {
        names.extend(of_thread?);
    }
    names.extend(target_xdp::probe::Probe::compile_ahead(cc, &to).map_err(|e| usage(&e))?);
    Ok(names)
}

/// Removes objects of other programs and versions than those named.
pub fn remove_others(folder: &Path, names: &BTreeSet<String>) -> Result<(), Failure> {
    let usage = |e: &dyn std::fmt::Display| Failure::Usage(format!("{}: {e}", folder.display()));
    Shipped::open(folder).map_err(|e| usage(&e))?.keep_only(names).map_err(|e| usage(&e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    const PLAIN: &str = "
[n4]
listen = \"127.0.0.1:8805\"
peers = [\"127.0.0.0/8\"]
[[port]]
name = \"n3\"
driver = \"auto\"
interface = \"n3\"
role = \"access\"
network_instance = \"access\"
addresses = [\"10.3.0.1/24\"]
gtpu = [\"10.3.0.1\"]
[[port]]
name = \"n6\"
driver = \"auto\"
interface = \"n6\"
role = \"core\"
network_instance = \"internet\"
addresses = [\"10.6.0.1/24\"]
";

    /// One that is missing would ask for a compiler on a machine that has none.
    #[test]
    fn every_program_that_a_configuration_can_ask_for_is_compiled_ahead() {
        let mut asked = 0;
        for qos in ["", "[qos]\nmode = \"police\"\n", "[qos]\nmode = \"shape\"\n"] {
            let planned = |fast: &str| format!("[split]\nfast = \"{fast}\"\npolicy = \"planned\"\nrates = \"cells\"\n");
            let fast = |fast: &str| format!("[split]\nfast = \"{fast}\"\n");
            for split in [String::new(), fast("xdp"), fast("asic"), planned("xdp"), planned("asic")] {
                // XDP sends by no port with a rate.
                for rate in ["", "rate_kbps = 1000000\n", "driver = \"af_packet\"\nrate_kbps = 1000000\n"] {
                    // Not all go together.
                    let Ok(config) = Config::parse(&format!("{PLAIN}{rate}{qos}{split}")) else { continue };
                    let (defines, xdp) = (config.defines(), split.contains("xdp"));
                    let all = all();
                    let found = all.iter().find(|a| a.program == Path::new("upf.p4") && a.defines == defines && (a.xdp || !xdp));
                    assert!(found.is_some(), "{rate}{qos}{split}");
                    asked += 1;
                }
            }
        }
        assert!(asked >= 12, "{asked}");
        assert!(all().iter().any(|a| a.program == Path::new("ceupf.p4")));
    }
}
