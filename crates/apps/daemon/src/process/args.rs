//! The options of `splitplane run`.

use p4_driver::objects::Objects;
use std::path::PathBuf;

/// Options of `run`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Configuration file (docs/configuration.md).
    #[arg(long, required_unless_present = "print_config")]
    pub(crate) config: Option<PathBuf>,
    /// Checks the configuration, the program and the machine, and exits.
    #[arg(long)]
    pub check: bool,
    /// Prints an example configuration.
    #[arg(long)]
    pub(crate) print_config: bool,
    /// Prints sessions, rates by target and direction, and drops by reason, once a second.
    #[arg(long)]
    pub live: bool,
    /// Writes all counters to this file, as JSON, at exit and on SIGUSR1.
    #[arg(long)]
    pub report: Option<PathBuf>,
    /// Also stops when standard input ends, not only on SIGINT and SIGTERM.
    #[arg(long)]
    pub until_input_ends: bool,
    /// Compiles the program even if its object is shipped or cached, and caches nothing.
    #[arg(long)]
    pub no_cache: bool,
}

impl Args {
    /// Where objects come from, unless they are to be compiled.
    pub fn objects(&self) -> Objects {
        c_compile::clear_away(&c_compile::environment::temporary());
        if self.no_cache { Objects::default() } else { Objects::find() }
    }
}
