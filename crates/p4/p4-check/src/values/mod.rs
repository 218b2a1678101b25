//! What can be done with values whose types are known? This floor writes IR, and sees no expression or statement of the source.

pub(crate) mod body;
pub(crate) mod budget;
pub(crate) mod builder;
pub(crate) mod coerce;
pub(crate) mod constant;
pub(crate) mod cx;
pub(crate) mod data;
pub(crate) mod layout;
pub(crate) mod ops;
pub(crate) mod origins;
pub(crate) mod parts;
pub(crate) mod places;
pub(crate) mod storage;
pub(crate) mod unions;
pub(crate) mod wide_ops;
