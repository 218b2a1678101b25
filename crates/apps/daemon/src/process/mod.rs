//! The daemon as a process: its options and privileges, its service manager, and the daemon before it.

pub(crate) mod args;
pub mod machine;
pub(crate) mod predecessor;
pub mod privileges;
pub(crate) mod supervisor;
