//! What do architectures have of their own? A file for each, which gives its [`Arch`]; `pipes.rs` is what they have in common.

mod pipes;
mod pna;
mod psa;
mod psa_externs;
mod tna;
mod v1model;

use crate::lower::arch::Arch;

/// All whose programs are compiled.
pub(crate) fn all<'a>() -> Vec<Arch<'a>> {
    vec![v1model::arch(), psa::arch(), pna::arch(), tna::arch()]
}
