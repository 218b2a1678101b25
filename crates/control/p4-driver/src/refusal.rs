//! Errors of compiling and loading a program: is the program, the machine or the compiler at fault, and at which line of the source?

use crate::shipped;
use p4_ir::Ir;
use p4_ir::origin::Origin;

/// Why a program is not compiled or not loaded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such file, nor a shipped program.
    #[error("{0}: no such file, nor a shipped program ({programs})", programs = shipped::PROGRAMS.join(", "))]
    NoProgram(String),
    /// No shipped program has this name.
    #[error("{0}: no shipped program")]
    NotShipped(String),
    /// The program has errors: the compiler's diagnostics.
    #[error("{0}")]
    Wrong(String),
    /// A target does not take the program.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A pass broke the program: our fault.
    #[error("{program}: {error}")]
    Pass {
        /// The program's name.
        program: String,
        /// What it broke.
        error: p4_passes::PassError,
    },
    /// x86 does not load it.
    #[error("{program}: {error}")]
    Load {
        /// The program's name.
        program: String,
        /// Why.
        error: target_x86::LoadError,
    },
    /// XDP does not compile it.
    #[error("{program}: {error}")]
    Xdp {
        /// The program's name.
        program: String,
        /// Why.
        error: target_xdp::LoadError,
    },
    /// The services that it calls are not there.
    #[error("{program}: {error}")]
    Services {
        /// The program's name.
        program: String,
        /// Which, or why.
        error: target_api::ServicesError,
    },
    /// A program that is cut was to run as one that makes one packet of one, without services.
    #[error("{0}: it copies packets or calls services, and runs where nothing does that for it")]
    Cut(String),
    /// The folder of objects.
    #[error("{folder}: {why}")]
    Folder {
        /// Its path.
        folder: std::path::PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl Error {
    /// Whether we are at fault, not the program, its author or the machine.
    pub fn is_ours(&self) -> bool {
        matches!(self, Error::Pass { .. })
    }

    /// A refusal with the line of the source that is the reason; other errors as they are.
    pub(crate) fn shown_in(self, sources: Option<&p4_check::SourceMap>) -> Error {
        match (self, sources) {
            (Error::Refused(refusal), Some(sources)) => Error::Refused(refusal.shown_in(sources)),
            (other, _) => other,
        }
    }
}

/// What of a program a target does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", shown.as_deref().unwrap_or(why))]
pub struct Refusal {
    /// What it does not take, in one line.
    pub why: String,
    /// Words that are the same for all refusals of such a construct, where the target has them.
    pub kind: Option<String>,
    /// Where in the source that is, as far as the IR tells.
    pub origin: Option<Origin>,
    /// The same with its line of the source, as the compiler shows its own errors.
    pub(crate) shown: Option<String>,
}

impl Refusal {
    /// The place is that of the construct; where the target names none, that of the program's `main`.
    pub(crate) fn new(ir: &Ir, origin: Option<Origin>, why: &dyn std::fmt::Display) -> Refusal {
        Refusal { why: why.to_string(), kind: None, origin: origin.or(ir.origins.main()), shown: None }
    }

    fn shown_in(self, sources: &p4_check::SourceMap) -> Refusal {
        let shown = p4_check::render_refusal(sources, self.origin, &self.why).trim_end().to_owned();
        Refusal { shown: Some(shown), ..self }
    }
}

impl From<Error> for cli::failure::Failure {
    fn from(error: Error) -> cli::failure::Failure {
        if error.is_ours() { Self::Failed(error.to_string()) } else { Self::Usage(error.to_string()) }
    }
}
