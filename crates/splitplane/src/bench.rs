//! `splitplane bench`.
use crate::failure::Failure;
/// x
#[derive(clap::Subcommand, Debug)]
pub enum BenchCommand { /// x
 Upf }
/// x
pub fn bench(_c: &BenchCommand) -> Result<(), Failure> { Ok(()) }
