//! The UPF as a daemon, without the command line around it: configuration, agent, ports and targets put together.
//!
//! | file | question it answers |
//! |---|---|
//! | [`config`] | what does the operator ask for, and can it be obeyed? |
//! | [`run`] | how does a UPF come of a configuration? |
//! | [`agent`] | what does the control plane's thread do, and in which order? |
//! | [`n4_socket`], [`n4`] | which PFCP messages come first, and who may send any? |
//! | [`dataplane`] | how do session changes reach targets and workers? |
//! | [`placement`] | which sessions are on the fast target? |
//! | [`kernel`], [`dpdk_ports`] | how do XDP and DPDK become ports? |
//! | [`program`], [`chip_model`] | which P4 program runs, and what of it has room on a chip? |
//! | [`report`], [`report_file`] | what was counted, and where is it written? |
//! | [`ceupf`], [`rules`], [`control_socket`] | what of this serves a switch in front of a foreign UPF? |
//! | [`privileges`] | what may the daemon do once it has started? |
//! | [`input`], [`stop`], [`output`], [`failure`] | how do commands hear of their end, speak, and fail? |
#![forbid(unsafe_code)]

pub mod agent;
pub mod ceupf;
pub mod chip_model;
pub mod config;
pub mod control_socket;
pub mod dataplane;
pub mod dpdk_ports;
pub mod failure;
pub mod input;
pub mod kernel;
pub mod n4;
pub mod n4_socket;
pub mod output;
pub mod placement;
pub mod privileges;
pub mod program;
pub mod report;
pub mod report_file;
pub mod rules;
pub mod run;
pub mod stop;

/// For the fuzzer: what reads files of the user's.
#[doc(hidden)]
pub mod fuzzing {
    /// A text as each kind of configuration; why it is none.
    pub fn configurations(text: &str) -> [Result<(), String>; 2] {
        [crate::config::Config::parse(text).map(drop), crate::ceupf::Config::parse(text).map(drop)]
    }
}
