//! Which programs does the laboratory start? The UPF and its emulators as operators have them, `splitplane`, which lies beside this program; and this program itself,
//! for what only the laboratory needs.

use cli::failure::Failure;
use std::path::{Path, PathBuf};

/// The program that operators install: it runs the UPF, the gNodeB, the emulators and the load.
///
/// # Errors
/// If it is not beside this program.
pub(crate) fn splitplane() -> Result<PathBuf, Failure> {
    beside(&own()?)
}

/// This program.
pub(crate) fn own() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|e| Failure::Failed(format!("cannot find this program: {e}")))
}

fn beside(own: &Path) -> Result<PathBuf, Failure> {
    let path = own.with_file_name("splitplane");
    if path.is_file() {
        return Ok(path);
    }
    let fault = "there is no such program, and splitplane-lab starts the UPF that lies beside it";
    Err(Failure::Usage(format!("{}: {fault}; `make build` makes both, `cargo build -p splitplane` the missing one", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upf_is_the_one_beside_the_laboratory() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("splitplane-lab");
        let why = beside(&own).unwrap_err().to_string();
        let missing = folder.path().join("splitplane");
        assert!(why.starts_with(&missing.display().to_string()) && why.contains("cargo build -p splitplane"), "{why}");
        std::fs::write(&missing, "").unwrap();
        assert_eq!(beside(&own).unwrap(), missing);
    }
}
