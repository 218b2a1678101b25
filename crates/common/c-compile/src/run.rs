//! One run of the compiler, or none where its object is kept.

use crate::{Cache, environment, work};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What the text is called in the compiler's messages.
const SOURCE: &str = "program.c";
const OBJECT: &str = "program.o";

/// What is to be compiled.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// What it is, for the log: `x86`.
    pub what: &'a str,
    /// C text.
    pub text: &'a str,
    /// The compiler, as [`find`] gives it.
    pub compiler: &'a Path,
    /// Its arguments, without file names.
    pub arguments: &'a [String],
}

/// Why there is no object.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// Files, or the compiler cannot be started.
    #[error("{0}")]
    Io(String),
    /// It refused the text: all that it said.
    #[error("{0}")]
    Refused(String),
}

/// Finds a compiler by path, or by name on `PATH`: `asked`, else the first of `names` that exists.
///
/// # Errors
/// The requested compiler, if it does not exist; `None` if none was requested and none of `names` exists.
pub fn find(asked: Option<&Path>, names: &[&str]) -> Result<PathBuf, Option<PathBuf>> {
    match asked {
        Some(asked) => search(asked).ok_or_else(|| Some(asked.to_owned())),
        None => names.iter().find_map(|name| search(Path::new(name))).ok_or(None),
    }
}

fn search(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        // It runs in another folder than this.
        return std::path::absolute(name).ok().filter(|path| path.is_file());
    }
    std::env::split_paths(&environment::path()).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The object of `job`: one that is kept, or a new one, which is then kept.
///
/// # Errors
/// As [`Error`] says. Nothing is left behind.
pub fn compile(job: &Job, cache: Option<&Cache>) -> Result<Vec<u8>, Error> {
    let kept = cache.map(|cache| Ok::<_, Error>((cache, fingerprint(job)?))).transpose()?;
    if let Some((cache, fingerprint)) = &kept
        && let Some(object) = cache.get(fingerprint)
    {
        tracing::info!("using the cached object of the {} program, in {}", job.what, cache.folder().display());
        return Ok(object);
    }
    tracing::info!("compiling the {} program: {} lines of C, by {}", job.what, job.text.lines().count(), job.compiler.display());
    let started = Instant::now();
    let object = run(job, cache)?;
    tracing::info!("compiled the {} program in {:.1} s", job.what, started.elapsed().as_secs_f64());
    if let Some((cache, fingerprint)) = &kept {
        cache.put(fingerprint, &object);
    }
    Ok(object)
}

/// The object of this text and these arguments that was last used of those that a compiler made here, whichever: for machines from which the compiler has
/// been removed.
pub fn kept(what: &str, text: &str, arguments: &[String], cache: &Cache) -> Option<Vec<u8>> {
    let object = cache.get_latest(&fingerprint_here(text, arguments))?;
    tracing::info!("no compiler: using the cached object of the {what} program, in {}", cache.folder().display());
    Some(object)
}

pub(crate) fn run(job: &Job, cache: Option<&Cache>) -> Result<Vec<u8>, Error> {
    let base = cache.map_or_else(environment::temporary, |cache| cache.folder().to_owned());
    let folder = work::make(&base).map_err(|e| Error::Io(format!("no temporary folder in {}: {e}", base.display())))?;
    let folder = folder.folder.path();
    let (source, object) = (folder.join(SOURCE), folder.join(OBJECT));
    let written = work::private().open(&source).and_then(|mut file| std::io::Write::write_all(&mut file, job.text.as_bytes()));
    written.map_err(|e| Error::Io(format!("{}: {e}", source.display())))?;
    let output = command(job.compiler, folder).args(job.arguments).arg(SOURCE).arg("-o").arg(OBJECT).output();
    let output = output.map_err(|e| cannot_start(job.compiler, &e))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::Refused(if said.trim().is_empty() { output.status.to_string() } else { said }));
    }
    std::fs::read(&object).map_err(|e| Error::Io(format!("{}: {e}", object.display())))
}

fn cannot_start(compiler: &Path, error: &std::io::Error) -> Error {
    Error::Io(format!("cannot run {}: {error}", compiler.display()))
}

/// The compiler in `folder`. It has no variables of the environment that choose headers, plug-ins or programs, and ends when the thread does
/// that waits for it.
fn command(compiler: &Path, folder: &Path) -> Command {
    let mut command = Command::new(compiler);
    command.env_clear().env("PATH", environment::path()).env("LC_ALL", "C").env("TMPDIR", folder).current_dir(folder).stdin(Stdio::null());
    let parent = rustix::process::getpid();
    let die_with_parent = move || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // It may have gone before that.
        if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(std::io::ErrorKind::BrokenPipe.into()) }
    };
    // SAFETY: between fork and exec it makes two system calls, and neither allocates nor takes a lock.
    unsafe { command.pre_exec(die_with_parent) };
    command
}

/// All that an object depends on: text, arguments and the processor, whose kind `-march=native` looks at, and, behind a `-`, the compiler and its version.
fn fingerprint(job: &Job) -> Result<String, Error> {
    let version = command(job.compiler, Path::new("/")).arg("--version").output().map_err(|e| cannot_start(job.compiler, &e))?;
    let real = job.compiler.canonicalize().unwrap_or_else(|_| job.compiler.to_owned());
    let file = std::fs::metadata(&real).ok();
    let changed = file.as_ref().and_then(|file| file.modified().ok());
    let changed = changed.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
    let changed = changed.as_nanos().to_le_bytes();
    let len = file.map_or(0, |file| file.len()).to_le_bytes();
    let real = OsString::from(real);
    let of_compiler: [&[u8]; 4] = [real.as_encoded_bytes(), &len, &changed, &version.stdout];
    Ok(format!("{}-{}", fingerprint_here(job.text, job.arguments), digest(of_compiler.into_iter())))
}

/// What an object depends on but for the compiler.
fn fingerprint_here(text: &str, arguments: &[String]) -> String {
    digest(std::iter::once(processor().as_bytes()).chain(of_text(text, arguments)))
}

/// What an object depends on that is for given processors, by whatever compiler.
pub(crate) fn fingerprint_of(text: &str, arguments: &[String]) -> String {
    digest(of_text(text, arguments))
}

fn of_text<'a>(text: &'a str, arguments: &'a [String]) -> impl Iterator<Item = &'a [u8]> {
    let version = env!("CARGO_PKG_VERSION");
    [version.as_bytes(), text.as_bytes()].into_iter().chain(arguments.iter().map(String::as_bytes))
}

/// Of parts with their lengths: no two lists of parts are the same bytes.
fn digest<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Kind and features of the first processor: compilers ask no other.
fn processor() -> String {
    const LINES: [&str; 8] = ["vendor_id", "cpu family", "model", "model name", "stepping", "cache size", "flags", "Features"];
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default().lines();
    first.filter(|line| line.split_once(':').is_some_and(|(key, _)| LINES.contains(&key.trim()))).collect::<Vec<_>>().join("\n")
}
