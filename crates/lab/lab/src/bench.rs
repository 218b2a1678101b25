//! `splitplane-lab bench`: how fast is it, compared with the alternatives, with output bytes verified? A file for each question.
//!
//! All figures of a table come from one process and one run, rounds interleaved, medians with their spread, because shared machines
//! drift. `docs/performance.md` says how to read and repeat them.

mod compile;
mod detect;
mod dpdk;
pub(crate) mod gnb;
mod hybrid;
pub(crate) mod latency;
mod n4;
mod ports;
pub(crate) mod qos;
mod quota;
pub(crate) mod services;
mod tables;
pub mod upf;
pub(crate) mod workers;
pub(crate) mod xdp;

// What they share, in the order of use.
pub mod contestant;
pub mod measure;
mod micro;
mod namespace;
pub(crate) mod options;
pub mod report;
mod sdf;
pub mod source;
mod swx;
mod wire;

use cli::failure::Failure;
use serde_json::{Map, Value, json};
pub(crate) use upf_kit::sessions;

/// Benchmarks.
#[derive(clap::Subcommand, Debug)]
pub enum BenchCommand {
    /// The UPF's pipeline on one core, both directions, beside hand-written C, DPDK and the interpreter.
    Upf(upf::Args),
    /// Match tables alone, SDF filters, and changes during look-ups.
    Tables(tables::Args),
    /// One and two workers, steered by ports and by the engine.
    Workers(workers::Args),
    /// Latency through the engine, open loop, without coordinated omission.
    Latency(latency::Args),
    /// The UPF's pipeline in XDP beside a hand-written program, alone and from veth to veth (as root).
    Xdp(xdp::Args),
    /// N4: sessions per second, slowest response and memory, with up to a million sessions.
    N4(n4::Args),
    /// TCP through the daemon's drivers over veth pairs, beside the kernel's own forwarding (as root).
    Ports(ports::Args),
    /// TCP of a user with an MBR through the running daemon, packets over the rate waiting or dropped (as root; 15 minutes).
    Qos(qos::Args),
    /// The gNodeB's pipeline step by step beside hand-written C and XDP, its bearers' memory, and RLC's entities.
    Gnb(gnb::Args),
    /// Volume quotas at full rate: by how much one is passed, in the packet path and by polls.
    Quota(quota::Args),
    /// A small chip (modelled) in front of x86: its share of the traffic, and the load left for x86.
    Hybrid(hybrid::Args),
    /// Compile time, from P4 to native code.
    Compile(compile::Args),
    /// DPDK ports: devices alone, and the UPF between two processes.
    Dpdk(dpdk::Args),
    /// Heavy-hitter detectors: accuracy by memory.
    Detect(detect::Args),
    /// Services beside the pipeline.
    #[command(subcommand)]
    Services(services::ServicesCommand),
    /// All that measure speed.
    All(options::Common),
}

/// Runs one, or all.
pub fn bench(command: &BenchCommand) -> Result<(), Failure> {
    match command {
        BenchCommand::Upf(args) => upf::upf(args).map(drop),
        BenchCommand::Tables(args) => tables::tables(args).map(drop),
        BenchCommand::Workers(args) => workers::workers(args).map(drop),
        BenchCommand::Latency(args) => latency::latency(args).map(drop),
        BenchCommand::Xdp(args) => xdp::xdp(args).map(drop),
        BenchCommand::N4(args) => n4::n4(args).map(drop),
        BenchCommand::Ports(args) => ports::ports(args).map(drop),
        BenchCommand::Qos(args) => qos::qos(args).map(drop),
        BenchCommand::Gnb(args) => gnb::gnb(args).map(drop),
        BenchCommand::Quota(args) => quota::quota(args).map(drop),
        BenchCommand::Hybrid(args) => hybrid::hybrid(args).map(drop),
        BenchCommand::Compile(args) => compile::compile(args).map(drop),
        BenchCommand::Dpdk(args) => dpdk::dpdk(args).map(drop),
        BenchCommand::Detect(args) => detect::detect(args).map(drop),
        BenchCommand::Services(command) => services::services(command),
        BenchCommand::All(common) => all(common),
    }
}

/// One after the other; the file gets all figures.
fn all(common: &options::Common) -> Result<(), Failure> {
    let each = common.without_file();
    let mut figures = Map::new();
    let mut keep = |of: Value| {
        let name = of["bench"].as_str().unwrap_or_default().to_owned();
        figures.insert(name, of);
        println!();
    };
    keep(upf::upf(&upf::Args::with(each.clone()))?);
    keep(tables::tables(&tables::Args::with(each.clone()))?);
    keep(workers::workers(&workers::Args::with(each.clone()))?);
    keep(latency::latency(&latency::Args::with(each.clone()))?);
    keep(n4::n4(&n4::Args::with(each.clone()))?);
    keep(hybrid::hybrid(&hybrid::Args::with(each.clone()))?);
    keep(compile::compile(&compile::Args::with(each.clone()))?);
    // DPDK may be missing on a machine; all else may not.
    keep(match dpdk::dpdk(&dpdk::Args::with(each)) {
        Err(Failure::Usage(why)) => {
            println!("bench dpdk is left out: {why}");
            json!({ "bench": "dpdk", "absent": why, "rows": [] })
        }
        other => other?,
    });
    common.write(&json!({ "bench": "all", "benches": figures }))
}
