//! What are types and values by themselves? The lowest floor: it knows no names and reports nothing.

pub(crate) mod fold;
pub(crate) mod ty;
pub(crate) mod value;
pub(crate) mod wide;

pub(crate) use fold::{boolean, constant, var};
pub(crate) use ty::*;
pub(crate) use value::*;
