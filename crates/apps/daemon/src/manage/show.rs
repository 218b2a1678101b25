//! `splitplane show`: what a running UPF is asked, and how its answers look for people.

mod text;

use crate::manage::control::{MAX_REQUEST, Reply, Request, path_to_ask};
use crate::manage::report::Report;
use crate::manage::request::Reloaded;
use crate::manage::sessions::{SessionPage, SessionQuery, seid_text};
use crate::manage::socket::ask;
use cli::failure::Failure;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// From one look at the workers to the next.
const SPAN: Duration = Duration::from_secs(1);

/// Options of `show`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The UPF's socket: `control.socket` of its configuration [default: $XDG_RUNTIME_DIR/splitplane/upf.sock if there is one, else /run/splitplane/upf.sock].
    #[arg(long, global = true)]
    socket: Option<PathBuf>,
    /// Prints JSON: the fields are in docs/report.md.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    what: What,
}

/// What is shown.
#[derive(clap::Subcommand, Debug)]
enum What {
    /// The UPF at a glance.
    Overview,
    /// Sessions, by ascending SEID, a page at a time.
    Sessions(Filter),
    /// One session whole: rules, placement, counters, packets that wait.
    Session {
        /// Our SEID, such as 0x1f or 31.
        #[arg(value_parser = seid_text::parse)]
        seid: u64,
    },
    /// Ports: received, sent, lost; and the share of each worker.
    Ports,
    /// Packets dropped, refused, lost and rejected, by reason and by port.
    Drops,
    /// Tables: entries, capacity, hits and misses.
    Tables,
    /// Targets: sessions, traffic, moves, times out of service.
    Targets,
    /// Workers: load in one second, packets that wait, buckets of UEs.
    Workers,
    /// Peers on N4 and their messages.
    Peers,
    /// Which sessions the fast target holds by which policy, and the last moves.
    Offload,
    /// Everything but single sessions, as JSON: what `run --report` writes.
    Report,
    /// The counters as OpenMetrics text, for Prometheus: docs/metrics.md.
    Metrics,
}

/// Which sessions.
#[derive(clap::Args, Debug)]
struct Filter {
    /// UE address.
    #[arg(long)]
    ue: Option<IpAddr>,
    /// TEID of ours, such as 0x1f or 31.
    #[arg(long, value_parser = teid)]
    teid: Option<u32>,
    /// DNN or network instance.
    #[arg(long)]
    dnn: Option<String>,
    /// Slice: `1` or `1-010203`.
    #[arg(long)]
    slice: Option<String>,
    /// Name of the target that holds them.
    #[arg(long)]
    target: Option<String>,
    /// Sessions behind this SEID: the end of the page before.
    #[arg(long, value_parser = seid_text::parse)]
    after: Option<u64>,
    /// Sessions of the page, at most 1000 [default: 100].
    #[arg(long)]
    limit: Option<u32>,
    /// All pages, one after the other; with --json a line for each.
    #[arg(long, conflicts_with_all = ["after", "limit"])]
    all: bool,
}

fn teid(text: &str) -> Result<u32, String> {
    let wrong = "expected a TEID in hexadecimal or decimal, such as 0x1f";
    seid_text::parse(text).ok().and_then(|teid| u32::try_from(teid).ok()).ok_or_else(|| wrong.to_owned())
}

/// Options of `log` and `drain`.
#[derive(clap::Args, Debug)]
pub struct SetArgs {
    /// The UPF's socket, as for `show`.
    #[arg(long, global = true)]
    socket: Option<PathBuf>,
    #[command(subcommand)]
    what: Set,
}

/// What is changed.
#[derive(clap::Subcommand, Debug)]
enum Set {
    /// What is logged from now on, as in RUST_LOG: `info`, or `warn,pfcp=debug`.
    Log {
        /// The filter.
        filter: String,
    },
    /// Refuses new associations and sessions, or takes them again; those that there are go on until they end.
    Drain {
        /// `on` or `off`.
        #[arg(value_parser = ["on", "off"])]
        state: String,
    },
}

/// Runs `set`.
pub fn set(args: &SetArgs) -> Result<(), Failure> {
    let request = match &args.what {
        Set::Log { filter } => Request::Log { filter: filter.clone() },
        Set::Drain { state } => Request::Drain { on: state == "on" },
    };
    match asked(&path(args.socket.as_deref()), &request)? {
        Reply::Done {} => Ok(()),
        other => Err(unexpected(&other)),
    }
}

/// Options of `reload`.
#[derive(clap::Args, Debug)]
pub struct ReloadArgs {
    /// The UPF's socket, as for `show`.
    #[arg(long)]
    socket: Option<PathBuf>,
    /// Says what would change, and changes nothing.
    #[arg(long)]
    dry_run: bool,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// Runs `reload`.
pub fn reload(args: &ReloadArgs) -> Result<(), Failure> {
    let reloaded = match asked(&path(args.socket.as_deref()), &Request::Reload { dry_run: args.dry_run })? {
        Reply::Reloaded(reloaded) => reloaded,
        other => return Err(unexpected(&other)),
    };
    if args.json {
        print_json(&reloaded)?;
    } else {
        cli::output::print_out(text::reloaded(&reloaded, args.dry_run))?;
    }
    outcome(&reloaded)
}

/// What did not work is an error, though the rest is done.
fn outcome(reloaded: &Reloaded) -> Result<(), Failure> {
    match reloaded.failed.join("; ") {
        none if none.is_empty() => Ok(()),
        failed => Err(Failure::Failed(format!("the configuration was taken over, but {failed}"))),
    }
}

/// Runs `show`.
pub fn show(args: &Args) -> Result<(), Failure> {
    let path = path(args.socket.as_deref());
    match &args.what {
        What::Sessions(filter) => return sessions(&path, filter, args.json),
        What::Session { seid } => {
            return match asked(&path, &Request::Session { seid: *seid })? {
                Reply::Session(session) if args.json => print_json(&session),
                Reply::Session(session) => cli::output::print_out(text::session(&session)),
                other => Err(unexpected(&other)),
            };
        }
        _ => {}
    }
    let now = report(&path)?;
    if args.json && !matches!(args.what, What::Metrics) {
        return json(&args.what, &now);
    }
    cli::output::print_out(match args.what {
        What::Overview | What::Sessions(_) | What::Session { .. } => text::overview(&now),
        What::Ports => text::ports(&now),
        What::Drops => text::drops(&now),
        What::Tables => text::tables(&now),
        What::Targets => text::targets(&now),
        What::Workers => {
            std::thread::sleep(SPAN);
            text::workers(&report(&path)?, &now)
        }
        What::Peers => text::peers(&now),
        What::Offload => text::offload(&now),
        What::Metrics => crate::manage::metrics::text(now),
        What::Report => return print_json(&now),
    })
}

/// The part of the report that is asked for.
fn json(what: &What, report: &Report) -> Result<(), Failure> {
    match what {
        What::Ports => print_json(&report.ports),
        What::Drops => print_json(&report.drops()),
        What::Tables => print_json(&report.tables),
        What::Targets => print_json(&report.targets),
        What::Workers => print_json(&report.load),
        What::Peers => print_json(&report.peers),
        What::Offload => print_json(&report.offload),
        What::Overview | What::Report | What::Metrics | What::Sessions(_) | What::Session { .. } => print_json(report),
    }
}

fn sessions(path: &Path, filter: &Filter, json: bool) -> Result<(), Failure> {
    let Filter { ue, teid, dnn, slice, target, after, limit, all } = filter;
    let mut query = SessionQuery {
        ue: *ue,
        teid: *teid,
        dnn: dnn.clone(),
        slice: slice.clone(),
        target: target.clone(),
        after: *after,
        limit: if *all { Some(crate::manage::sessions::MOST) } else { *limit },
    };
    query.validate().map_err(Failure::Usage)?;
    let mut header = true;
    loop {
        let page = page(path, query.clone())?;
        if json {
            print_json(&page)?;
        } else {
            cli::output::print_out(text::sessions(&page, header, !*all))?;
        }
        header = false;
        match page.next {
            Some(next) if *all => query.after = Some(next),
            _ => return Ok(()),
        }
    }
}

/// A page: asked for again from where the UPF stopped, until it is full or all sessions were looked at.
fn page(path: &Path, mut query: SessionQuery) -> Result<SessionPage, Failure> {
    let most = query.page();
    let mut whole = SessionPage::default();
    loop {
        let part = match asked(path, &Request::Sessions(query.clone()))? {
            Reply::Sessions(page) => page,
            other => return Err(unexpected(&other)),
        };
        whole.sessions.extend(part.sessions);
        whole.looked_at += part.looked_at;
        (whole.next, whole.total) = (part.next, part.total);
        if part.next.is_none() || whole.sessions.len() >= most {
            return Ok(whole);
        }
        query.after = part.next;
        query.limit = u32::try_from(most - whole.sessions.len()).ok();
    }
}

fn report(path: &Path) -> Result<Report, Failure> {
    match asked(path, &Request::Report {})? {
        Reply::Report(report) => Ok(*report),
        other => Err(unexpected(&other)),
    }
}

fn path(given: Option<&Path>) -> PathBuf {
    given.map_or_else(path_to_ask, Path::to_owned)
}

/// Asks; an error of the UPF's is ours.
fn asked(path: &Path, request: &Request) -> Result<Reply, Failure> {
    match ask(path, request, MAX_REQUEST)? {
        Reply::Error { message } => Err(Failure::Failed(message)),
        reply => Ok(reply),
    }
}

fn unexpected(reply: &Reply) -> Failure {
    let text: String = format!("{reply:?}").chars().take(100).collect();
    Failure::Failed(format!("the UPF answered something else: {text}"))
}

fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(|e| Failure::Failed(e.to_string()))?;
    cli::output::print_out(format_args!("{text}\n"))
}
