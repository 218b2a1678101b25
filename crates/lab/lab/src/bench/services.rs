//! `bench services`: what do the services beside the pipeline carry, called from a lane? A file for each.

pub(crate) mod buffer;
mod called;
mod cipher;
pub(crate) mod seam;

use super::options::Common;
use cli::failure::Failure;

/// Services beside the pipeline.
#[derive(clap::Subcommand, Debug)]
pub enum ServicesCommand {
    /// Keeping packets until they are acknowledged: RLC AM, and as published.
    Buffer(Common),
    /// NEA1 to NEA3, NIA1 to NIA3 and pairs of them, beside libipsec-mb alone.
    Cipher(cipher::Args),
    /// The way to a service: in the lane, on a thread, in a second process.
    Seam(Common),
}

/// Runs one.
pub(super) fn services(command: &ServicesCommand) -> Result<(), Failure> {
    match command {
        ServicesCommand::Buffer(common) => buffer::buffer(common).map(drop),
        ServicesCommand::Cipher(args) => cipher::cipher(args).map(drop),
        ServicesCommand::Seam(common) => seam::seam(common).map(drop),
    }
}
