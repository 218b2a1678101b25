//! `splitplane smf` and `ran`: the emulators of the crate `traffic` as commands.
//!
//! Each prints `ready` when it works, and ends on SIGINT or SIGTERM, or with `--until-input-ends` when its standard
//! input ends; then it cleans up and writes its report.

use clap::Args;
use cli::failure::Failure;
use cli::input::{Input, Next};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use traffic::plan::{Address, Pool, SessionPlan, Shape};
use traffic::smf::{Event, Session, Smf};
use traffic::{SessionRecord, Tunnel};

const POLL: Duration = Duration::from_millis(20);
/// Time that the emulated paging of an idle UE takes.
const PAGING: Duration = Duration::from_millis(60);

/// Options of `smf`.
#[derive(Args, Debug)]
pub(crate) struct SmfArgs {
    /// The UPF's N4 address.
    #[arg(long, required_unless_present = "scenario")]
    upf: Option<SocketAddr>,
    /// Our N4 address.
    #[arg(long, required_unless_present = "scenario")]
    local: Option<SocketAddr>,
    /// Our N4-U address, for router solicitations.
    #[arg(long)]
    n4u: Option<SocketAddrV4>,
    /// The gNodeB's N3 address, where downlink tunnels end.
    #[arg(long, required_unless_present = "scenario")]
    gnb: Option<Ipv4Addr>,
    /// Message style: open5gs, free5gc or simple.
    #[arg(long, default_value = "open5gs")]
    shape: Shape,
    /// Sessions.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    sessions: u32,
    /// UE addresses: IPv4 network.
    #[arg(long, default_value = "10.45.0.0/16", value_parser = network_v4)]
    ipv4: (Ipv4Addr, u8),
    /// UE addresses: IPv6 network.
    #[arg(long, default_value = "2001:db8:45::/48", value_parser = network_v6)]
    ipv6: (std::net::Ipv6Addr, u8),
    /// Maximum bit rate of each session in kbit/s, both directions.
    #[arg(long)]
    mbr_kbps: Option<u64>,
    /// The UPF's N3 address, where the SMF chooses TEIDs (free5gc).
    #[arg(long)]
    upf_n3: Option<Ipv4Addr>,
    /// Writes the session records for `ran` to this file, one JSON object per line.
    #[arg(long, required_unless_present = "scenario")]
    records: Option<PathBuf>,
    /// Writes the usage that the UPF reported to this file, as JSON, at exit.
    #[arg(long)]
    report: Option<PathBuf>,
    /// Reads commands (`idle N`, `active N`, `switch N ADDRESS TEID`) from standard input, and exits at its end.
    #[arg(long)]
    until_input_ends: bool,
    #[command(flatten)]
    scenario: ScenarioArgs,
}

/// Options of `smf --scenario`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Scenarios: procedures step by step, as SMF, gNodeBs and data network at once")]
pub(crate) struct ScenarioArgs {
    /// Runs this procedure of TS 23.502 and exits: 0 all as expected, 1 something was not, 2 it cannot run with these options. `list` prints
    /// them, `all` runs all. Uses UDP sockets on --local, --gnb, --gnb2, --psa and --dn.
    #[arg(long, value_name = "NAME")]
    scenario: Option<String>,
    /// Second gNodeB's N3 address, for handovers.
    #[arg(long, default_value = "127.0.0.3")]
    gnb2: Ipv4Addr,
    /// The UPF behind N9, for `ulcl`.
    #[arg(long)]
    psa: Option<Ipv4Addr>,
    /// The UPF's N9 address, for `ulcl` where the SMF chooses TEIDs (free5gc).
    #[arg(long)]
    upf_n9: Option<Ipv4Addr>,
    /// Network instance of N9, if it is not the DNN.
    #[arg(long)]
    n9_instance: Option<String>,
    /// An address of this machine that the UPF reaches on N6; route the UEs to the UPF.
    #[arg(long, default_value = "10.45.0.1")]
    dn: Ipv4Addr,
    /// UDP ports on it: for the default QoS flow and for a call.
    #[arg(long, num_args = 2, default_values_t = [5000, 5001])]
    dn_ports: Vec<u16>,
    /// DNN and network instance.
    #[arg(long, default_value = "internet")]
    dnn: String,
}

/// Options of `ran`.
#[derive(Args, Debug)]
pub(crate) struct RanArgs {
    /// The gNodeB's N3 address.
    #[arg(long)]
    gnb: Ipv4Addr,
    /// Session records written by `smf`.
    #[arg(long)]
    records: PathBuf,
    /// Writes the counters to this file, as JSON, at exit.
    #[arg(long)]
    report: Option<PathBuf>,
    /// Ends when standard input ends.
    #[arg(long)]
    until_input_ends: bool,
}

/// Runs the SMF emulator.
pub(crate) fn smf(args: &SmfArgs) -> Result<(), Failure> {
    if let Some(name) = &args.scenario.scenario {
        return scenarios(args, name);
    }
    let input = Input::listen(args.until_input_ends)?;
    let fail = |e: traffic::smf::SmfError| Failure::Failed(e.to_string());
    let mut config = traffic::smf::Config::new(given(args.local, "--local")?, given(args.upf, "--upf")?);
    config.n4u = args.n4u;
    config.upf_n3 = args.upf_n3;
    let smf = Smf::connect(config).map_err(|e| Failure::Usage(e.to_string()))?;
    let events = smf.events();
    smf.associate().map_err(fail)?;
    let mut sessions = Vec::with_capacity(args.sessions as usize);
    for n in 0..args.sessions {
        sessions.push(establish(&smf, args, n)?);
    }
    let records: Vec<SessionRecord> = sessions.iter().map(Session::record).collect();
    let path = given(args.records.as_ref(), "--records")?;
    let file = std::fs::File::create(path).map_err(|e| Failure::Usage(format!("cannot create {}: {e}", path.display())))?;
    traffic::record::write(&records, std::io::BufWriter::new(file)).map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))?;
    println!("ready");

    let mut paging: Vec<(Instant, u64)> = Vec::new();
    loop {
        match input.next(POLL) {
            Next::Line(line) => command(&smf, &mut sessions, &line)?,
            Next::End => break,
            Next::Nothing => {}
        }
        while let Some(event) = events.as_ref().and_then(|e| e.try_recv().ok()) {
            match event {
                Event::DownlinkData { seid, .. } => paging.push((Instant::now() + PAGING, seid)),
                other => tracing::info!(?other, "from the UPF"),
            }
        }
        let (due, later): (Vec<_>, Vec<_>) = paging.into_iter().partition(|(at, _)| *at <= Instant::now());
        paging = later;
        for (_, seid) in due {
            if let Some(session) = sessions.iter_mut().find(|s| s.up_seid == seid) {
                let gnb = session.plan.gnb;
                smf.set_active(session, gnb).map_err(fail)?;
                println!("paged {seid}");
            }
        }
    }
    for session in &sessions {
        smf.delete(session).map_err(fail)?;
    }
    smf.release().map_err(fail)?;
    write_report(args.report.as_deref(), &smf.report())
}

fn establish(smf: &Smf, args: &SmfArgs, n: u32) -> Result<Session, Failure> {
    let pool = Pool { ipv4: Some(args.ipv4), ipv6: Some(args.ipv6) };
    let (ipv4, ipv6) = pool.nth(n).ok_or_else(|| Failure::Usage(format!("the address pools have no more than {n} UEs")))?;
    let gnb = Tunnel { addr: given(args.gnb, "--gnb")?, teid: n + 1 };
    let mut plan = SessionPlan::new(args.shape, gnb);
    plan.ue_ipv4 = ipv4.map_or(Address::None, Address::Given);
    plan.ue_ipv6 = ipv6.map_or(Address::None, Address::Given);
    plan.qos.mbr_kbps = args.mbr_kbps.map(|rate| (rate, rate));
    let fail = |e: traffic::smf::SmfError| Failure::Failed(format!("session {}: {e}", n + 1));
    let mut session = smf.establish(&plan).map_err(fail)?;
    if plan.buffers_first() {
        // The gNodeB has answered: its end of the tunnel is known now.
        smf.set_active(&mut session, gnb).map_err(fail)?;
    }
    Ok(session)
}

/// `idle N`, `active N`, and `switch N ADDRESS TEID` for the path to another gNodeB; N from 0 in the order of the records.
fn command(smf: &Smf, sessions: &mut [Session], line: &str) -> Result<(), Failure> {
    let mut words = line.split_whitespace();
    let (verb, number) = (words.next(), words.next().and_then(|n| n.parse::<usize>().ok()));
    let session = number.and_then(|n| sessions.get_mut(n));
    let fail = |e: traffic::smf::SmfError| Failure::Failed(e.to_string());
    match (verb, session) {
        (Some("idle"), Some(session)) => {
            smf.set_idle(session).map_err(fail)?;
            println!("idle {}", session.up_seid);
        }
        (Some("active"), Some(session)) => {
            let gnb = session.plan.gnb;
            smf.set_active(session, gnb).map_err(fail)?;
            println!("active {}", session.up_seid);
        }
        (Some("switch"), Some(session)) => match (words.next().map(str::parse), words.next().map(str::parse)) {
            (Some(Ok(addr)), Some(Ok(teid))) => {
                smf.path_switch(session, Tunnel { addr, teid }).map_err(fail)?;
                println!("switched {}", session.up_seid);
            }
            _ => eprintln!("splitplane: `{line}`: expected `switch N`, a gNodeB's IPv4 address, and a TEID"),
        },
        (None, _) => {}
        _ => eprintln!("splitplane: `{line}` is not `idle N`, `active N` or `switch N ...` with the number of a session"),
    }
    Ok(())
}

/// An option that the command line's rules ask for.
fn given<T>(option: Option<T>, name: &str) -> Result<T, Failure> {
    option.ok_or_else(|| Failure::Usage(format!("{name} is missing")))
}

/// `smf --scenario`: lists them, or runs one or all.
fn scenarios(args: &SmfArgs, name: &str) -> Result<(), Failure> {
    use traffic::scenario::{ALL, Addresses, Sockets, Stop, named};

    if name == "list" {
        for scenario in ALL {
            println!("{:<13} {}", scenario.name, scenario.about);
        }
        return Ok(());
    }
    let chosen = match (name, named(name)) {
        ("all", _) => ALL.to_vec(),
        (_, Some(scenario)) => vec![scenario],
        (_, None) => return Err(Failure::Usage(format!("--scenario: unknown scenario `{name}`; `--scenario list` prints them"))),
    };
    let (local, upf, gnb) = (given(args.local, "--local")?, given(args.upf, "--upf")?, given(args.gnb, "--gnb")?);
    let more = &args.scenario;
    if args.shape == Shape::Free5gc && args.upf_n3.is_none() {
        return Err(Failure::Usage("--shape free5gc: this SMF chooses TEIDs, give the UPF's address for them with --upf-n3".into()));
    }
    let pool = Pool { ipv4: Some(args.ipv4), ipv6: None };
    let Some((Some(ue), _)) = pool.nth(0) else { return Err(Failure::Usage("--ipv4: the network has no address for a UE".into())) };
    let upf_n3 = args.upf_n3.unwrap_or(Ipv4Addr::UNSPECIFIED);
    let addresses = Addresses {
        smf: local.ip(),
        upf_n3,
        upf_n9: more.upf_n9.unwrap_or(upf_n3),
        gnbs: [gnb, more.gnb2],
        psa: more.psa,
        n9_instance: more.n9_instance.clone().unwrap_or_else(|| more.dnn.clone()),
        dn: more.dn,
        dn_ports: [more.dn_ports[0], more.dn_ports[1]],
        ue,
        dnn: more.dnn.clone(),
    };
    let failure = |stop: Stop| match stop {
        Stop::Failed(why) => Failure::Failed(why),
        Stop::Unusable(why) => Failure::Usage(why),
    };
    let mut sockets = Sockets::open(local, upf, &addresses).map_err(failure)?;
    for scenario in chosen {
        println!("{}: {}", scenario.name, scenario.about);
        scenario.run(args.shape, &addresses, &mut sockets, &mut std::io::stdout()).map_err(failure)?;
        println!("{}: as expected", scenario.name);
    }
    Ok(())
}

/// Runs the gNodeB emulator.
pub(crate) fn ran(args: &RanArgs) -> Result<(), Failure> {
    let input = Input::listen(args.until_input_ends)?;
    let file = std::fs::File::open(&args.records).map_err(|e| Failure::Usage(format!("cannot read {}: {e}", args.records.display())))?;
    let records =
        traffic::record::read(std::io::BufReader::new(file)).map_err(|e| Failure::Usage(format!("{}: {e}", args.records.display())))?;
    let config = traffic::ran::Config::new(SocketAddrV4::new(args.gnb, 2152));
    let ran = traffic::ran::Ran::start(config, &records).map_err(|e| Failure::Usage(e.to_string()))?;
    println!("ready");
    while !matches!(input.next(Duration::from_millis(200)), Next::End) {}
    let report = ran.stop();
    write_report(args.report.as_deref(), &report)
}

/// Writes a report as JSON, where a file is named.
pub(crate) fn write_report(path: Option<&Path>, report: &impl serde::Serialize) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let text = serde_json::to_string_pretty(report).map_err(|e| Failure::Failed(e.to_string()))?;
    std::fs::write(path, text).map_err(|e| Failure::Failed(format!("cannot write {}: {e}", path.display())))
}

fn network_v4(text: &str) -> Result<(Ipv4Addr, u8), String> {
    let prefix = daemon::config::Prefix::try_from(text.to_owned())?;
    match prefix.network() {
        (std::net::IpAddr::V4(a), len) => Ok((a, len)),
        _ => Err(format!("`{text}` is not an IPv4 network")),
    }
}

fn network_v6(text: &str) -> Result<(std::net::Ipv6Addr, u8), String> {
    let prefix = daemon::config::Prefix::try_from(text.to_owned())?;
    match prefix.network() {
        (std::net::IpAddr::V6(a), len) => Ok((a, len)),
        _ => Err(format!("`{text}` is not an IPv6 network")),
    }
}
