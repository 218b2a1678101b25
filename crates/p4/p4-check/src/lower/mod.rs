//! What do expressions, statements and declarations become? A file for each construct; all of them extend [`cx::Cx`].

pub(crate) mod action;
pub(crate) mod arch;
pub(crate) mod args;
pub(crate) mod block;
pub(crate) mod call;
pub(crate) mod cx;
pub(crate) mod declared;
pub(crate) mod entries;
pub(crate) mod expr;
pub(crate) mod externs;
pub(crate) mod forwarding;
pub(crate) mod ids;
mod in_hash;
pub(crate) mod instances;
pub(crate) mod members;
pub(crate) mod objects;
pub(crate) mod parser;
pub(crate) mod profile;
pub(crate) mod resolve;
pub(crate) mod stand_in;
pub(crate) mod stmt;
pub(crate) mod table;
pub(crate) mod uses;
