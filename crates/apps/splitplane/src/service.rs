//! `service`: runs a service of a pipeline's in a process of its own.
//!
//! The pipeline listens (`place = { process = PATH }` of the service) and hands out shared memory; this connects, waits while nobody listens, and connects again
//! when the pipeline was restarted. Keys and bearers come from the pipeline. Ending it is safe: the pipeline counts what it had as lost.

use cli::failure::Failure;
use daemon::config::service_kind::{Kind, Sizes};
use daemon::process::privileges::no_core_dumps;
use service::process::{ServeError, serve};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Runs a service.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which one.
    name: Kind,
    /// The socket at which the pipeline listens.
    #[arg(long, value_name = "PATH")]
    connect: PathBuf,
    /// Also stops when standard input ends.
    #[arg(long)]
    until_input_ends: bool,
    #[command(flatten)]
    sizes: Sizes,
}

pub(crate) fn service(args: &Args) -> Result<(), Failure> {
    let wrong = |(key, what): (&str, String)| Failure::Usage(format!("--{}: {what}", key.replace('_', "-")));
    args.name.check(&args.sizes).map_err(wrong)?;
    if args.name == Kind::Cipher {
        no_core_dumps().map_err(|error| Failure::Failed(format!("core dumps cannot be turned off, and there will be keys: {error}")))?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    if args.until_input_ends {
        let stop = stop.clone();
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            stop.store(true, Relaxed);
        });
    }
    serve(&args.connect, &args.name.make(args.sizes), &stop).map_err(|error| match error {
        ServeError::Panicked(_) | ServeError::System(_) => Failure::Failed(error.to_string()),
    })
}
