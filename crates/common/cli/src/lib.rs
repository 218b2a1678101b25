//! What every command of ours has: how it fails, is stopped, prints, logs, and reads and writes files that a user names.
#![forbid(unsafe_code)]

pub mod failure;
pub mod files;
pub mod input;
pub mod log_limit;
pub mod output;
pub mod report_file;
pub mod secrets;
pub mod stop;
