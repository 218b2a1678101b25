//! Which declarations does the program have, by name, and what is wrong with it? This floor knows types, but no source beyond declarations.

pub(crate) mod cx;
pub(crate) mod decls;
pub(crate) mod mentions;
pub(crate) mod scope;
pub(crate) mod sink;
