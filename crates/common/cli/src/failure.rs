//! How a command fails: one line for the user, and an exit code.

use std::process::ExitCode;

/// Why a command did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// Bad usage, configuration or input: exit code 2.
    Usage(String),
    /// The work itself failed, or a check did: exit code 1.
    Failed(String),
}

impl Failure {
    /// Exit code by the project's convention.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::Usage(_) => 2,
            Failure::Failed(_) => 1,
        })
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Failure::Usage(text) | Failure::Failed(text)) = self;
        f.write_str(text)
    }
}
