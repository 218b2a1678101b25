//! `splitplane-lab p4`: P4 programs by the thousand, a corpus with its packet tests ([`conformance`]) and random ones ([`fuzz`]).

pub mod conformance;
pub mod fuzz;

use cli::failure::Failure;

/// P4 programs by the thousand.
#[derive(clap::Subcommand, Debug)]
pub enum P4Command {
    /// Runs a folder of programs and packet tests, and counts those that behave correctly.
    Conformance(conformance::Args),
    /// Runs random programs on the interpreter and as native code, until something differs or time is up.
    Fuzz(fuzz::Args),
    /// One of the checks of `conformance`, in a process of its own.
    #[command(hide = true)]
    ConformanceJob(conformance::JobArgs),
}

/// Does one.
pub fn p4(command: &P4Command) -> Result<(), Failure> {
    match command {
        P4Command::Conformance(args) => conformance::conformance(args),
        P4Command::Fuzz(args) => fuzz::fuzz(args),
        P4Command::ConformanceJob(args) => conformance::job(args),
    }
}
