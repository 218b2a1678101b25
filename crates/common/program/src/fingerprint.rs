//! Is this the same program? File names do not tell: `upf.p4` is another program with other build options.

use std::fmt;

/// SHA-256 of a program's source as the compiler reads it: behind the preprocessor, without comments and layout. Includes and macros are in it by what
/// they expand to; the file's name is not. Zeros for a program that was not compiled from text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
