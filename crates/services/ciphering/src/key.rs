//! How is a key held, and wiped?
//!
//! A key is expanded once, when a bearer gets it, and lies in one box until it is dropped, which wipes it. It is neither `Clone` nor
//! `Copy`, and its `Debug` prints the algorithm only.

use std::fmt;

use crate::{ipsec_mb, portable};

/// Bytes of a key.
pub const KEY_LEN: usize = 16;

/// An algorithm number that TS 33.501 §5.11.1 does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown security algorithm {0}: expected 0 to 3")]
pub struct UnknownAlgorithm(pub u8);

/// Ciphering algorithm (TS 33.501 §5.11.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nea {
    /// Null.
    Nea0,
    /// SNOW 3G.
    Nea1,
    /// AES in counter mode.
    Nea2,
    /// ZUC.
    Nea3,
}

/// Integrity algorithm (TS 33.501 §5.11.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nia {
    /// Null: a MAC-I of zeros, which is not checked (TS 33.501 §D.1).
    Nia0,
    /// SNOW 3G.
    Nia1,
    /// AES-CMAC.
    Nia2,
    /// ZUC.
    Nia3,
}

impl TryFrom<u8> for Nea {
    type Error = UnknownAlgorithm;

    fn try_from(number: u8) -> Result<Nea, UnknownAlgorithm> {
        [Nea::Nea0, Nea::Nea1, Nea::Nea2, Nea::Nea3].get(usize::from(number)).copied().ok_or(UnknownAlgorithm(number))
    }
}

impl TryFrom<u8> for Nia {
    type Error = UnknownAlgorithm;

    fn try_from(number: u8) -> Result<Nia, UnknownAlgorithm> {
        [Nia::Nia0, Nia::Nia1, Nia::Nia2, Nia::Nia3].get(usize::from(number)).copied().ok_or(UnknownAlgorithm(number))
    }
}

/// A bearer's key for one algorithm, expanded for the implementation that made it: see [`crate::Engine::cipher_key`].
pub struct Key<A> {
    pub(crate) algorithm: A,
    pub(crate) form: Form,
}

/// In whose form a key is. Each wipes itself on drop.
pub(crate) enum Form {
    /// For [`crate::portable`].
    Portable(portable::Prepared),
    /// For [`crate::ipsec_mb`].
    IpsecMb(Box<ipsec_mb::Expanded>),
}

impl<A: Copy> Key<A> {
    /// What it is for.
    pub fn algorithm(&self) -> A {
        self.algorithm
    }
}

impl<A: fmt::Debug> fmt::Debug for Key<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}
