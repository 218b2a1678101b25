//! `service`: runs a service of a pipeline's in a process of its own.
//!
//! The pipeline listens (`process:PATH` as the service's place) and hands out shared memory; this connects, waits while nobody listens, and connects again
//! when the pipeline was restarted. Keys and bearers come from the pipeline. Ending it is safe: the pipeline counts what it had as lost.

use buffer::Limits;
use buffer::rlc::MAX_BEARERS;
use buffer::service::BufferService;
use ciphering::Choice;
use ciphering::service::CipherService;
use daemon::failure::Failure;
use service::caller::Make;
use service::process::{ServeError, serve};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs a service.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which one.
    name: Name,
    /// The socket at which the pipeline listens.
    #[arg(long, value_name = "PATH")]
    connect: PathBuf,
    /// Of `buffer`: bearers have numbers below this, at most 1048576.
    #[arg(long, default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(1..=MAX_BEARERS as i64))]
    bearers: u32,
    /// Of `buffer`: most packets that it keeps.
    #[arg(long, default_value_t = 1 << 20)]
    packets: u32,
    /// Of `buffer`: most bytes of their payload.
    #[arg(long, default_value_t = 1 << 30)]
    bytes: u64,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Name {
    /// Keeps packets until they are acknowledged (RLC AM).
    Buffer,
    /// NEA0 to NEA3 and NIA0 to NIA3.
    Cipher,
}

pub(crate) fn service(args: &Args) -> Result<(), Failure> {
    let (bearers, limits) = (args.bearers as usize, Limits { packets: args.packets as usize, bytes: args.bytes });
    let make: Make = match args.name {
        Name::Buffer => Arc::new(move || Box::new(BufferService::new(bearers, limits))),
        Name::Cipher => Arc::new(|| Box::new(CipherService::new(Choice::Fastest).expect("an implementation is always there"))),
    };
    serve(&args.connect, &make, &AtomicBool::new(false)).map_err(|error| match error {
        ServeError::Panicked(_) | ServeError::System(_) => Failure::Failed(error.to_string()),
    })
}
