//! DPDK: its Ethernet devices as ports of ours, and its SWX pipeline as a contestant in benchmarks.
//!
//! | question | file |
//! |---|---|
//! | which devices may a configuration name? | [`device`] |
//! | how is DPDK started, once in a process, and without its exits and panics? | [`eal`] |
//! | how does a device become ports, one for each worker? | [`port`] |
//! | how fast is the other P4 on x86, SWX? | [`swx`] |
//!
//! The functions of DPDK are in a shim in C that is loaded when it is first needed ([`available`]): a build without libdpdk, or a machine
//! without it, has everything else.
#![deny(unsafe_code)]

pub mod device;
pub mod eal;
mod log;
#[allow(unsafe_code)]
pub mod port;
#[allow(unsafe_code)]
mod shim;
pub mod swx;

pub use device::Device;
pub use eal::{Settings, start, start_shared};
pub use port::{DpdkPort, Options, open};
pub use shim::BUILT_WITH;

/// Whether this build and this machine have DPDK.
///
/// # Errors
/// [`Error::Absent`] with what to do.
pub fn available() -> Result<(), Error> {
    shim::api().map(drop)
}

/// Why something of DPDK is not available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not in this build, or not on this machine.
    #[error("{0}")]
    Absent(String),
    /// The operator's: a device or an option that cannot be.
    #[error("{0}")]
    Config(String),
    /// The operator's: a capability or memory that the process lacks.
    #[error("{0}")]
    Permission(String),
    /// DPDK's or the device's.
    #[error("{0}")]
    Device(String),
}

impl From<Error> for pktio::PortError {
    fn from(error: Error) -> pktio::PortError {
        match error {
            Error::Permission(text) => pktio::PortError::Permission(text),
            Error::Absent(text) | Error::Config(text) | Error::Device(text) => pktio::PortError::Config(text),
        }
    }
}
