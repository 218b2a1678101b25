//! `splitplane-lab demo`: the whole hybrid user plane on real traffic, and an account of every byte at the end.
//!
//! As root: three namespaces, the UPF on real interfaces, an SMF and a gNodeB emulator, and unmodified programs as users
//! ([`namespaces`]). Without: the same sessions in one process over capture files ([`memory`]). With `--gnb`: a gNodeB and UEs with a radio that
//! loses, in place of the gNodeB emulator ([`gnb`]).

mod checks;
mod gnb;
mod handover;
mod http_server;
mod memory;
mod namespaces;
pub(crate) mod netns;
pub(crate) mod process;
mod processors;
mod radio_capture;

pub use http_server::{HttpArgs, http_server};
pub use netns::remove_at_end_of_input;

use cli::failure::Failure;
use std::path::PathBuf;

/// Options of the demo.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Sessions to set up, 2 to 250.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(2..=250))]
    sessions: u16,
    /// Share of the sessions on the fast target, 0 to 1.
    #[arg(long, default_value_t = 0.5)]
    share: f64,
    /// The fast target in front of x86. Without root always the switch chip model.
    #[arg(long, value_enum, default_value_t = Fast::Auto)]
    fast: Fast,
    /// Runs a gNodeB and UEs over a radio that loses, in place of the gNodeB emulator. As root.
    #[arg(long, conflicts_with_all = ["memory", "sessions", "workers"])]
    gnb: bool,
    /// UEs of `--gnb`, 2 to 100.
    #[arg(long, default_value_t = 20, requires = "gnb", value_parser = clap::value_parser!(u16).range(2..=100))]
    ues: u16,
    /// Share of the radio's datagrams that are lost, each way, with `--gnb`: 0 to 0.5. As many are reordered.
    #[arg(long, default_value_t = 0.05, requires = "gnb")]
    radio_loss: f64,
    /// Rate of the radio in Mbit/s, with `--gnb`: of all UEs downlink, of each uplink.
    #[arg(long, default_value_t = 100, requires = "gnb", value_parser = clap::value_parser!(u32).range(1..=1000))]
    radio_mbps: u32,
    /// Splits the gNodeB of `--gnb` into CU-UP and DU.
    #[arg(long, requires = "gnb")]
    split_gnb: bool,
    /// How often the goodput with and without the radio's loss is measured, with `--gnb`: the medians are compared. 0: never.
    #[arg(long, default_value_t = 3, requires = "gnb", value_parser = clap::value_parser!(u8).range(0..=9))]
    goodput_rounds: u8,
    /// What carries packets in the gNodeB of `--gnb`.
    #[arg(long, value_enum, requires = "gnb", conflicts_with = "split_gnb")]
    datapath: Option<Datapath>,
    /// Megabytes of the HTTP download.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    download_mb: u32,
    /// Worker threads of the UPF, 1 to 16; the veth pairs get as many queues.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    workers: u8,
    /// Runs in one process over capture files, even as root.
    #[arg(long)]
    memory: bool,
    /// Folder for reports, captures and logs.
    #[arg(long, default_value = "out")]
    out: PathBuf,
    /// Captures into `OUT/*.pcap`: all frames of N3 and N6 and all PFCP messages. With `--gnb` the radio, N3 and F1-U, the first 20,000 frames of each, and tshark must
    /// read all of them without a warning.
    #[arg(long)]
    capture: bool,
}

/// `--datapath`.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Datapath {
    /// The program `p4/gnb.p4` with its services, on x86.
    #[default]
    P4,
    /// The entities of the crate `gnb`: with CU-UP and DU apart always.
    Entities,
}

/// `--fast`.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Fast {
    /// XDP if the kernel allows it, else the switch chip model.
    Auto,
    /// The kernel's XDP hook.
    Xdp,
    /// The model of a switch chip.
    Asic,
}

/// Runs it. Success only if every check holds.
pub fn demo(args: &Args) -> Result<(), Failure> {
    if !(0.0..=1.0).contains(&args.share) {
        return Err(Failure::Usage(format!("--share {} is not between 0 and 1", args.share)));
    }
    std::fs::create_dir_all(&args.out).map_err(|e| Failure::Usage(format!("cannot create {}: {e}", args.out.display())))?;
    if args.fast == Fast::Xdp && args.memory {
        return Err(Failure::Usage("--fast xdp needs interfaces of the kernel: not with --memory".into()));
    }
    if args.gnb {
        if !(0.0..=0.5).contains(&args.radio_loss) {
            return Err(Failure::Usage(format!("--radio-loss {} is not between 0 and 0.5", args.radio_loss)));
        }
        return match lacks_root() {
            Some(why) => Err(Failure::Usage(format!("--gnb: {why}"))),
            None => gnb::run(args),
        };
    }
    if args.memory {
        memory::run(args)
    } else if let Some(why) = lacks_root() {
        if args.fast == Fast::Xdp {
            return Err(Failure::Usage(format!("--fast xdp: {why}")));
        }
        println!("{why}: running in one process over capture files. Left out: network namespaces, XDP, AF_XDP, TUN devices,");
        println!("ping, curl and iperf3. Run as root for all of it.\n");
        memory::run(args)
    } else {
        namespaces::run(args)
    }
}

/// Why namespaces are not available; `None` if they are.
pub(crate) fn lacks_root() -> Option<&'static str> {
    let probe = std::process::Command::new("unshare").args(["--net", "true"]).stderr(std::process::Stdio::null()).status();
    match probe {
        Ok(status) if status.success() => None,
        _ => Some("no root (CAP_SYS_ADMIN and CAP_NET_ADMIN)"),
    }
}
