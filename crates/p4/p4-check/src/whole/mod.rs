//! What is the whole program? Its declarations in order, what must hold of them, and what nothing uses.

pub(crate) mod ids;
pub(crate) mod program;
pub(crate) mod rules;
pub(crate) mod shadow;
pub(crate) mod unused;
pub(crate) mod zero_width;
