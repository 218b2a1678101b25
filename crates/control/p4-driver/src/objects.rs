//! Where does a program's object code come from? From what was compiled ahead and lies beside the binary, from an earlier start, or from the C
//! compiler of this machine, in that order.

use crate::{Error, Program};
use c_compile::{Cache, Shipped};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

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

    /// The program.
    ///
    /// # Errors
    /// As for [`crate::compile`].
    pub fn compile(&self) -> Result<Program, Error> {
        Program::compile(&self.program, &self.include, &self.defines)
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
pub fn compile_ahead(programs: &[Ahead], folder: &Path, cc: Option<&Path>) -> Result<BTreeSet<String>, Error> {
    let to = Shipped::create(folder).map_err(|e| of_folder(folder, &e))?;
    let programs = programs.iter().map(|ahead| Ok((ahead.compile()?, ahead.xdp))).collect::<Result<Vec<_>, Error>>()?;
    let mut jobs: Vec<Job> = Vec::new();
    for (program, xdp) in &programs {
        let (name, x86) = (&program.ir.program.name, program.x86()?.text.as_str());
        if *xdp {
            let text = program.xdp_text()?;
            jobs.push(Box::new(|| target_xdp::compile_ahead(text, cc, &to).map_err(|error| Error::Xdp { program: name.clone(), error })));
        }
        jobs.push(Box::new(|| target_x86::compile_ahead(x86, cc, &to).map_err(|error| Error::Load { program: name.clone(), error })));
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.extend(job()?);
        }
        Ok::<_, Error>(done)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let done: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let mut names = BTreeSet::new();
    for of_thread in done {
        names.extend(of_thread?);
    }
    let probe = target_xdp::probe::Probe::compile_ahead(cc, &to);
    names.extend(probe.map_err(|error| Error::Xdp { program: "the probe of redirects".into(), error })?);
    Ok(names)
}

/// One text to be compiled: the names of its objects.
type Job<'a> = Box<dyn Fn() -> Result<Vec<String>, Error> + Sync + 'a>;

/// Removes objects of other programs and versions than those named.
///
/// # Errors
/// The folder's.
pub fn remove_others(folder: &Path, names: &BTreeSet<String>) -> Result<(), Error> {
    let others = Shipped::open(folder).map_err(|e| of_folder(folder, &e))?;
    others.keep_only(names).map_err(|e| of_folder(folder, &e))
}

fn of_folder(folder: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::Folder { folder: folder.to_owned(), why: why.to_string() }
}
