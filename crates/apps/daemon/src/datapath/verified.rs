//! Which form of the XDP program has this kernel taken before? Verifying takes the kernel most of a second. Where the outcome is known N4 answers
//! meanwhile, and x86 carries the packets; where it is not, the start waits for it, since a form that is refused means another program.
//!
//! A line of text in the folder of what a daemon must know of the one before. It is a hint: if it is wrong, XDP stays out of service and says so.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use target_xdp::Form;

const NAME: &str = "xdp-verified";
/// Longest file: a hash, a kernel's release, a form.
const LONGEST: u64 = 256;

/// What the outcome was for one text, with its sizes, on this kernel.
pub(super) struct Verified {
    path: PathBuf,
    /// Of the text, its sizes and the kernel.
    of: String,
}

impl Verified {
    /// Of the text with these sizes, as the daemons before have kept it in `folder`. `None`: nothing can be kept there.
    pub(super) fn open(folder: &Path, text: &str, sizes: impl Hash, kernel: &str) -> Option<Verified> {
        crate::n4::stamp::own_folder(folder).map_err(|e| tracing::info!("{}: {e}", folder.display())).ok()?;
        let mut hasher = DefaultHasher::new();
        (text, sizes, kernel).hash(&mut hasher);
        Some(Verified { path: folder.join(NAME), of: format!("{:016x}", hasher.finish()) })
    }

    /// The form that the kernel has taken.
    pub(super) fn form(&self) -> Option<Form> {
        let file = std::fs::File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(&self.path).ok()?;
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        match text.trim().split_once(' ') {
            Some((of, "full")) if of == self.of => Some(Form::Full),
            Some((of, "simple")) if of == self.of => Some(Form::Simple),
            _ => None,
        }
    }

    /// It has taken this one.
    pub(super) fn keep(&self, form: Form) {
        let form = if form == Form::Full { "full" } else { "simple" };
        let written = || {
            let folder = self.path.parent().unwrap_or(Path::new("/"));
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            writeln!(file, "{} {form}", self.of)?;
            file.persist(&self.path).map_err(|e| e.error).map(drop)
        };
        if let Err(e) = written() {
            tracing::info!("the next start waits for the kernel's verifier again: {}: {e}", self.path.display());
        }
    }

    /// It has refused what it was to take.
    pub(super) fn forget(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kernel_took_is_known_of_this_text_with_these_sizes_on_this_kernel_alone() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let of = |text: &str, size: u64, kernel: &str| Verified::open(&state, text, (size, 7), kernel).unwrap();
        let known = of("text", 1, "6.18");
        assert_eq!(known.form(), None);
        for form in [Form::Simple, Form::Full] {
            known.keep(form);
            assert_eq!(of("text", 1, "6.18").form(), Some(form));
        }
        for other in [of("texts", 1, "6.18"), of("text", 2, "6.18"), of("text", 1, "6.19")] {
            assert_eq!(other.form(), None);
        }
        for damaged in ["", "full", "0 full", "\u{0}\n", &"x".repeat(1 << 20)] {
            std::fs::write(&known.path, damaged).unwrap();
            assert_eq!(known.form(), None, "{}", damaged.len());
        }
        std::fs::write(&known.path, [0xff, 0xfe]).unwrap();
        assert_eq!(known.form(), None);
        known.keep(Form::Full);
        known.forget();
        assert_eq!(known.form(), None);
    }
}
