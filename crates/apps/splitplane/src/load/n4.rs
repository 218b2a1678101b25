//! `splitplane load n4`: the SMF of `load::n4` as a command.

use super::{Rate, failure, rate, write};
use cli::failure::Failure;
use cli::output::print_out;
use cli::stop::Stop;
use load::n4::outcome::{Outcome, Phase};
use load::n4::plan::{Ends, Kind, MOST_SESSIONS, Mix, Modification, Plan};
use load::n4::{Loader, Of, Progress, Settings};
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use traffic::Tunnel;
use traffic::plan::Shape;

/// From one line about a phase that goes on to the next.
const TOLD: Duration = Duration::from_secs(5);

/// Options of `load n4`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The UPF's N4 address.
    #[arg(long)]
    upf: SocketAddr,
    /// Our N4 address. The UPF sends its requests to port 8805, in general [default: port 8805 of the address by which the UPF is reached].
    #[arg(long)]
    local: Option<SocketAddr>,
    /// The gNodeB's N3 address, where downlink tunnels end. No packet is sent to it.
    #[arg(long)]
    gnb: Ipv4Addr,
    /// Sessions that are there while modifications, or a mix, are measured.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_SESSIONS)))]
    sessions: u32,
    /// Kinds of requests at once, by their parts: establish=1,modify=8,delete=1. Up to twice as many sessions are there then [default: one kind after the
    /// other: all sessions are established, modified for a time, deleted].
    #[arg(long)]
    mix: Option<Mix>,
    /// How long modifications, or a mix, are sent, in seconds.
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    seconds: f64,
    /// Requests a second (`20k`), whether earlier ones are answered or not; `max`: as many as --window lets go. With a --mix of the mix alone.
    #[arg(long, default_value = "max", value_parser = rate)]
    rate: Rate,
    /// Requests in flight at most [default: 64; with a --rate 4096].
    #[arg(long)]
    window: Option<usize>,
    /// Time until a request is sent again (T1), in milliseconds.
    #[arg(long, default_value_t = 3000)]
    t1_ms: u64,
    /// How often a request is sent in all (N1).
    #[arg(long, default_value_t = 3)]
    n1: u32,
    /// What a modification does: `handover`: the downlink goes to another tunnel, there and back; `idle`: the UE goes idle (BUFF, NOCP), and is active again.
    #[arg(long, default_value = "handover")]
    modification: Modification,
    /// Message style: open5gs, free5gc or simple (two PDRs and FARs, a QER, a URR).
    #[arg(long, default_value = "simple")]
    shape: Shape,
    /// DNN, and network instance of the core side.
    #[arg(long, default_value = "internet")]
    dnn: String,
    /// Network instance of the access side [default: not said].
    #[arg(long)]
    access_instance: Option<String>,
    /// The first UE's address.
    #[arg(long, default_value = "10.45.0.2")]
    ue: Ipv4Addr,
    /// The first downlink TEID, at the gNodeB.
    #[arg(long, default_value_t = 1)]
    gnb_teid: u32,
    /// The UPF's N3 address: we choose uplink TEIDs [default: the UPF chooses them].
    #[arg(long)]
    upf_n3: Option<Ipv4Addr>,
    /// The first uplink TEID, where we choose them.
    #[arg(long, default_value_t = 1, requires = "upf_n3")]
    teid: u32,
    /// Leaves sessions and association there.
    #[arg(long)]
    keep: bool,
    /// Which sessions are taken next: the same with the same number.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Writes the figures to this file, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Runs it.
pub(super) fn n4(args: &Args) -> Result<(), Failure> {
    // Before anything that must be cleaned up.
    let stop = Stop::install().map_err(|e| Failure::Failed(e.to_string()))?;
    let window = args.window.unwrap_or(if args.rate.0.is_some() { 4096 } else { 64 });
    let settings =
        Settings { window, t1: Duration::from_millis(args.t1_ms), n1: args.n1, modification: args.modification, seed: args.seed };
    // Sessions come and go by a mix.
    let most = if args.mix.is_some() { args.sessions.saturating_mul(2).min(MOST_SESSIONS) } else { args.sessions };
    let mut loader = Loader::new(args.ends(), args.plan(), most, settings).map_err(failure)?;
    loader.associate().map_err(failure)?;
    print_out(format_args!("{} sessions at {}, up to {window} requests in flight\n{}\n", args.sessions, args.upf, Phase::HEAD))?;
    let outcome = args.phases(&mut loader, &stop);
    // The UPF ends what is left of the sessions.
    let released = if args.keep { Ok(()) } else { loader.release().map_err(failure) };
    outcome.and(released)?;
    let outcome = loader.outcome();
    if outcome.unexpected > 0 {
        print_out(format_args!("{} datagrams were no answer to a request in flight\n", outcome.unexpected))?;
    }
    let figures = json!({
        "load": "n4", "sessions": args.sessions, "window": window, "t1_ms": args.t1_ms, "n1": args.n1, "outcome": outcome,
    });
    write(args.json.as_deref(), figures)?;
    refused_all(outcome)
}

/// A kind of which nothing was accepted: the UPF was not measured.
fn refused_all(outcome: &Outcome) -> Result<(), Failure> {
    let asked = |kind: &Kind| outcome.phases.iter().any(|phase| phase.requests.iter().any(|requests| requests.kind == *kind));
    match Kind::ALL.into_iter().filter(asked).find(|kind| outcome.accepted(*kind) == 0) {
        Some(kind) => Err(Failure::Failed(format!("no request of kind {} was accepted", kind.name()))),
        None => Ok(()),
    }
}

impl Args {
    fn ends(&self) -> Ends {
        let any: IpAddr = if self.upf.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        Ends { local: self.local.unwrap_or(SocketAddr::new(any, load::n4::PORT)), upf: self.upf }
    }

    fn plan(&self) -> Plan {
        Plan {
            shape: self.shape,
            dnn: self.dnn.clone(),
            access: self.access_instance.clone(),
            gnb: self.gnb,
            gnb_teid: self.gnb_teid,
            uplink: self.upf_n3.map(|addr| Tunnel { addr, teid: self.teid }),
            ue: self.ue,
            node: self.ends().local.ip(),
        }
    }

    /// All phases, or those until we are to stop; each is printed when it is over.
    fn phases(&self, loader: &mut Loader, stop: &Stop) -> Result<(), Failure> {
        let time = Duration::from_secs_f64(self.seconds);
        let measured = self.mix.map_or(Of::Modifications(time), |mix| Of::Mix(mix, time));
        let last = (!self.keep).then_some(Of::Deletions);
        for of in [Of::Sessions(self.sessions), measured].into_iter().chain(last) {
            // What only leads to a mix, or away from it, is not measured.
            let rate = self.rate.0.filter(|_| self.mix.is_none() || matches!(of, Of::Mix(..)));
            let mut told = Instant::now();
            let goes_on = |Progress { done, sessions }: Progress| {
                if told.elapsed() >= TOLD {
                    told = Instant::now();
                    eprintln!("{done} requests done, {sessions} sessions");
                }
                !stop.requested()
            };
            let phase = loader.run(of, rate, goes_on).map_err(failure)?;
            print_out(format_args!("{phase}"))?;
            if stop.requested() {
                return Ok(());
            }
        }
        Ok(())
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|seconds| (0.001..=1e6).contains(seconds)).ok_or_else(|| "expected seconds, from 0.001 to 1000000".to_owned())
}
