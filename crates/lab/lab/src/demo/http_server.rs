//! What do the demo's users download? Seeded pseudo-random bytes, from an HTTP server in the data network.

use cli::failure::Failure;
use cli::input::{Input, Next};
use std::net::SocketAddr;
use std::time::Duration;

/// Where it listens, and how long.
#[derive(clap::Args, Debug)]
pub struct HttpArgs {
    /// Address to listen on.
    #[arg(long)]
    listen: SocketAddr,
    /// Ends when standard input ends.
    #[arg(long)]
    until_input_ends: bool,
}

/// Runs it.
pub fn http_server(args: &HttpArgs) -> Result<(), Failure> {
    let input = Input::listen(args.until_input_ends)?;
    let _server = traffic::dn::Server::start(args.listen).map_err(|e| Failure::Usage(format!("cannot listen on {}: {e}", args.listen)))?;
    println!("ready");
    while !matches!(input.next(Duration::from_millis(200)), Next::End) {}
    Ok(())
}
