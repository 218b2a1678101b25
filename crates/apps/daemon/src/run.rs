//! `splitplane run`: the UPF as a daemon. This file builds it from the configuration; `agent.rs` is its main loop.

#[cfg(test)]
mod tests;

use crate::agent::ports::PortNumbers;
use crate::agent::reload::Running;
use crate::agent::{Agent, AtEnd, Datapath, Life};
use crate::config::lower::{Link, key_of_network, machine, network_config, pfcp_config};
use crate::config::{Config, FastTarget, Fault, OnStop};
use crate::datapath::open::{OpenPort, Waiting, label, open_each, queues, start_engine};
use crate::datapath::placement::{Placement, Wishes};
use crate::datapath::targets::EngineAndTargets;
use crate::datapath::xdp::Kernel;
use crate::manage::control::{Control, Reply};
use crate::manage::report::{HEADER, Report, drops, live_lines};
use crate::manage::request::{CountsFrom, PortLabel, Request};
use crate::n4::output::Output;
use crate::n4::socket::Datagrams;
use crate::n4::stamp;
use crate::n4::store::{Back, Moment, Opened};
pub use crate::process::args::Args;
use crate::process::predecessor;
use crate::process::supervisor::Supervisor;
use base::PortId;
use buffer::idle::{IdleBuffer, Limits};
use cli::failure::Failure;
use cli::input::{Input, Next};
use cli::report_file::ReportFile;
use cli::stop::Other;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded, unbounded};
use engine::{MarkSettings, Marks, Queues, ShapeSettings};
use offload::Split;
use p4_driver::Program;
use p4_driver::objects::Objects;
use service::Deployment;
use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};
use target_api::Target;
use upf::networks::Networks;
use upf::plane::Plane;

/// Runs until stopped.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.print_config {
        return cli::output::print_out(include_str!("../../../../docs/upf.example.toml"));
    }
    // They must not end a start that takes its time, either.
    cli::stop::hold_others().map_err(|e| Failure::Failed(format!("cannot hold signals: {e}")))?;
    let path = args.config.as_deref().unwrap_or(Path::new("upf.toml"));
    if let Some(config) = crate::ceupf::Config::load_if_asked(path)? {
        return crate::ceupf::run(&config, args);
    }
    let config = Config::load(path)?;
    // The program has refused a wrong one.
    if crate::manage::control::asked_filter().is_ok_and(|asked| asked.is_none())
        && let Some(filter) = &config.log.filter
    {
        crate::manage::control::set_log(filter).map_err(|what| config.fault("log.filter", what))?;
    }
    let program = config.program.clone().unwrap_or_else(|| PathBuf::from("upf.p4"));
    let mut program = Program::compile(&program, &[], &config.defines())?;
    if config.split.fast == Some(FastTarget::Xdp) {
        program.fit(config.n4.max_sessions as u64);
    }
    tracing::info!(program = program.ir.program.name, fingerprint = %program.ir.program.fingerprint, "compiled");
    tracing::info!(
        "packets over an MBR {}",
        if config.qos.shapes() { "wait (qos.mode \"shape\")" } else { "are dropped (qos.mode \"police\")" }
    );
    check(&config, &program)?;
    let objects = args.objects();
    let warnings = config.check_machine(objects.are_there()).map_err(|fault| config.source.failure(&fault))?;
    // Without a compiler what is shipped or kept must be of this very program, or the start would end there.
    if target_x86::compiler(config.engine.cc.as_deref()).is_err() {
        let Objects { shipped, cache } = objects.clone();
        let options = target_x86::Options { shipped, cache, ..Default::default() };
        target_x86::check(&program.x86()?.text, &options).map_err(|e| Failure::Usage(e.to_string()))?;
    }
    for warning in warnings.into_iter().chain(crate::config::peers::allowed(&config.n4).warning) {
        tracing::warn!("{warning}");
    }
    let mut report_file = args.report.as_deref().map(ReportFile::prepare).transpose()?;
    if args.check {
        return cli::output::print_out(format_args!("{}: good\n", path.display()));
    }
    let early = match config.shared_store() {
        Some(_) => match Early::stand_by(&config, &program, args, objects.clone())? {
            Some(early) => Some(early),
            None => return Ok(()),
        },
        None => None,
    };
    let n4 = N4::bind(&config)?.stamped();
    tracing::info!("N4 is bound to {}; requests are answered when the UPF is ready", config.n4.listen);
    // A standby is not asked. The address that N4 waited for is there.
    let api = crate::manage::api::Bound::new(&config.api).map_err(|fault| config.source.failure(&fault))?;
    let (mut kernel, early) = match early {
        Some(Early { kernel, input, loaded, store }) => (kernel, Some((input, loaded, store))),
        None => (Kernel::load_early_if_asked(&config, &program, &objects)?, None),
    };
    let ports = open_ports(&config, kernel.as_mut())?;
    crate::process::privileges::drop_others(&config.ports, kernel.is_some())?;
    let (input, before_ports) = match early {
        Some((input, loaded, store)) => (input, BeforePorts { n4, store, loaded: Some(loaded), objects, confine: true }),
        None => {
            let input = Input::listen_as_daemon(args.until_input_ends)?;
            // It has threads of its own: they get no capabilities and no signals.
            let store = Opened::open(&config)?;
            (input, BeforePorts { n4, store, loaded: None, objects, confine: true })
        }
    };
    // Signals are held by now, also for this thread.
    kernel.as_mut().map_or(Ok(()), Kernel::begin_verification)?;
    let upf = Upf::start_with(&config, program, ports, kernel, before_ports)?;
    let control = upf.control().with_file(path);
    let socket = crate::manage::control::listen(config.control.socket.as_deref(), control.clone())?;
    let api = api.map(|bound| bound.start(control.clone())).transpose()?;
    while !upf.is_ready() && !upf.has_ended() && !matches!(input.next(READY_LOOK), Next::End) {}
    // This thread has compiled and loaded, and asks for little from now on.
    (0..RETIREMENTS).for_each(|_| allocator::retire());
    cli::output::line("ready");
    let mut supervisor = Supervisor::ready();
    watch(args, &input, (&upf, &control), report_file.as_mut(), &mut supervisor);
    supervisor.stopping();
    drop((socket, api));
    let report = upf.stop()?;
    if let Some(file) = &mut report_file {
        file.write(&report)?;
    }
    if report.imbalance != 0 {
        return Err(Failure::Failed(format!("{} packets are not accounted for: this is a bug", report.imbalance)));
    }
    Ok(())
}

/// Shows what is seen of a UPF that runs, until it is to end.
fn watch(
    args: &Args,
    input: &Input,
    (upf, control): (&Upf, &Control),
    mut report_file: Option<&mut ReportFile>,
    supervisor: &mut Supervisor,
) {
    let (mut live, mut header) = (args.live, true);
    let (mut shown, mut logged) = (Report::default(), Report::default());
    let mut next_view = Instant::now() + VIEW;
    let mut views: u32 = 0;
    loop {
        if let Next::End = input.next(next_view.saturating_duration_since(Instant::now())) {
            return;
        }
        while let Some(signal) = input.other() {
            told(signal, upf, control, report_file.as_deref_mut());
        }
        if Instant::now() < next_view {
            continue;
        }
        next_view += VIEW;
        views = views.wrapping_add(1);
        if upf.has_ended() {
            return;
        }
        supervisor.alive(Instant::now(), || upf.report(false).is_ok());
        let log = views.is_multiple_of(VIEWS_BETWEEN_DROPS);
        if log {
            cli::log_limit::tell_left_out();
        }
        if !live && !log {
            continue;
        }
        let now = match upf.report(false) {
            Ok(now) => now,
            Err(why) => {
                tracing::warn!("{why}");
                continue;
            }
        };
        if log {
            let drops = drops(&now, &logged);
            if !drops.is_empty() {
                tracing::warn!("packets dropped in the last {} s: {}", (VIEW * VIEWS_BETWEEN_DROPS).as_secs(), drops.join(", "));
            }
            if now.lost_lines > logged.lost_lines {
                tracing::warn!("{} lines of log or live view could not be written", now.lost_lines - logged.lost_lines);
            }
            logged = now.clone();
        }
        if live {
            let lines = header.then(|| HEADER.to_owned()).into_iter().chain(live_lines(&now, &shown));
            header = false;
            if !{ lines }.all(cli::output::line) && cli::output::is_gone() {
                tracing::warn!("standard output is closed: live view stopped");
                live = false;
            }
            shown = now;
        }
    }
}

/// A signal that does not end a daemon.
fn told(signal: Other, upf: &Upf, control: &Control, report_file: Option<&mut ReportFile>) {
    match (signal, report_file) {
        (Other::HangUp, _) => match control.answer(crate::manage::control::Request::Reload { dry_run: false }, "SIGHUP") {
            Reply::Error { message } => tracing::error!("SIGHUP: {message}"),
            Reply::Reloaded(reloaded) if !reloaded.failed.is_empty() => {
                tracing::error!("SIGHUP: configuration reloaded, but {}", reloaded.failed.join("; "));
            }
            _ => tracing::info!("SIGHUP: configuration reloaded"),
        },
        (Other::User1, Some(file)) => match upf.report(true).and_then(|report| file.write(&report)) {
            Ok(()) => tracing::info!("SIGUSR1: report written"),
            Err(why) => tracing::warn!("SIGUSR1: cannot write the report: {why}"),
        },
        (Other::User1, None) => tracing::info!("SIGUSR1 ignored: no --report given"),
        (Other::User2, _) => tracing::info!("SIGUSR2 ignored"),
    }
}

/// From one line of the live view to the next.
const VIEW: Duration = Duration::from_secs(1);
/// Seconds from one line about drops to the next, if there were any.
const VIEWS_BETWEEN_DROPS: u32 = 10;

/// What a node whose store is shared has before it serves: all that takes its time, but neither address nor port, which may be another node's.
struct Early {
    kernel: Option<Kernel>,
    input: Input,
    loaded: Loaded,
    store: Option<Opened>,
}

impl Early {
    /// Waits until the node may serve; `None`: it was told to end before that.
    fn stand_by(config: &Config, program: &Program, args: &Args, objects: Objects) -> Result<Option<Early>, Failure> {
        let kernel = Kernel::load_if_asked(config, program, &objects)?;
        crate::process::privileges::drop_others(&config.ports, kernel.is_some())?;
        let input = Input::listen_as_daemon(args.until_input_ends)?;
        let loaded = Loaded::load(config, program, kernel.as_ref(), objects)?;
        let store = Opened::open_unless(config, &|| matches!(input.next(Duration::ZERO), Next::End))?;
        Ok(store.map(|store| Early { kernel, input, loaded, store: Some(store) }))
    }
}

/// The program in its targets, and what it calls beside them.
struct Loaded {
    services: crate::datapath::services::Running,
    targets: Arc<Split>,
}

impl Loaded {
    fn load(config: &Config, program: &Program, kernel: Option<&Kernel>, objects: Objects) -> Result<Loaded, Failure> {
        let services = crate::datapath::services::start(config)?;
        let targets = load_targets(config, program, kernel, objects, &services.deployments)?;
        Ok(Loaded { services, targets })
    }
}

/// What is had before the engine starts.
struct BeforePorts {
    n4: N4,
    store: Option<Opened>,
    /// `None`: it is still to be loaded.
    loaded: Option<Loaded>,
    objects: Objects,
    /// Whether the process is the daemon's own: then no program is started in it any more once everything is compiled.
    confine: bool,
}

/// Ports that are not open yet, with a MAC address and an MTU as usual.
fn usual_links(config: &Config) -> Vec<Link> {
    let link = |(n, id): (usize, PortId)| Link { id, mac: [2, 0, 0, 0, 0, n as u8 + 1], mtu: 1500 };
    port_ids(config).into_iter().enumerate().map(link).collect()
}

/// What can be checked before anything is opened: addresses and routes, N4, the tables' room.
fn check(config: &Config, program: &Program) -> Result<(), Failure> {
    let ir = &program.ir;
    let usage = |e: String| Failure::Usage(e);
    let network = network_config(config, &usual_links(config), &[]);
    network.validate().map_err(|e| config.source.failure(&Fault::foreign(&e.0, key_of_network)))?;
    for doubt in network.doubts() {
        eprintln!("splitplane: warning: {doubt}");
    }
    pfcp::node::Node::new(pfcp_config(config)?).map_err(|e| usage(e.to_string()))?;
    let ids = upf::ids::Ids::bind(&ir.program).map_err(|e| usage(e.to_string()))?;
    let room = ir.program.tables[ids.tables.pdr_by_teid].size;
    if config.n4.max_sessions as u64 > room {
        return Err(config.fault("n4.max_sessions", format!("expected at most {room}: the program's tables hold no more")));
    }
    if config.split.fast == Some(FastTarget::Xdp) {
        program.xdp_text()?;
    }
    program.makes_no_copies()?;
    program.x86()?;
    crate::datapath::services::check(config, &ir.program)?;
    for (position, op) in upf::static_rules::initial(&network, &ids).ops.iter().enumerate() {
        ir.program.check_op(position, op).map_err(|e| usage(format!("the configuration does not fit the tables: {e}")))?;
    }
    Ok(())
}

/// Numbers of the ports, by their roles (p4/include/splitplane.p4).
pub(crate) fn port_ids(config: &Config) -> Vec<PortId> {
    let mut numbers = PortNumbers::default();
    // The configuration has at most 64 ports.
    config.ports.iter().map(|port| numbers.of(port).unwrap_or_default()).collect()
}

fn open_ports(config: &Config, kernel: Option<&mut Kernel>) -> Result<Vec<OpenPort>, Failure> {
    open_each(&config.ports, port_ids(config), &config.workers, &config.dpdk, kernel)
}

/// Timeout for a snapshot; signals are not handled meanwhile.
const REPORT_PATIENCE: Duration = Duration::from_secs(5);
/// How long the agent may release no session at the end, where some are left, and how often we look.
const STOP_PATIENCE: Duration = Duration::from_secs(60);
const STOP_LOOK: Duration = Duration::from_millis(2);

/// Calls after which [`allocator::retire`] has let go of all that a thread does not use.
const RETIREMENTS: usize = 16;

/// How often a start looks whether all targets are in service.
const READY_LOOK: Duration = Duration::from_millis(5);

/// A running UPF.
pub struct Upf {
    requests: Sender<Request>,
    agent: std::thread::JoinHandle<Agent>,
    still_ending: Arc<AtomicUsize>,
    ready: Arc<AtomicBool>,
}

impl Upf {
    /// Starts workers and agent on open ports, behind the program in the kernel if there is one.
    pub fn start(config: &Config, program: impl Into<Program>, ports: Vec<OpenPort>, kernel: Option<Kernel>) -> Result<Upf, Failure> {
        let before_ports =
            BeforePorts { n4: N4::bind(config)?, store: Opened::open(config)?, loaded: None, objects: Objects::default(), confine: false };
        Upf::start_with(config, program.into(), ports, kernel, before_ports)
    }

    fn start_with(
        config: &Config,
        program: Program,
        ports: Vec<OpenPort>,
        mut kernel: Option<Kernel>,
        before_ports: BeforePorts,
    ) -> Result<Upf, Failure> {
        let links: Vec<Link> = ports.iter().map(Link::of).collect();
        let network = network_config(config, &links, &machine(config).map_err(Failure::Failed)?);
        network.validate().map_err(|e| config.source.failure(&Fault::foreign(&e.0, key_of_network)))?;
        // Processes inherit no more than the ports need, and later none can be started.
        let Loaded { services, targets } = match before_ports.loaded {
            Some(loaded) => loaded,
            None => Loaded::load(config, &program, kernel.as_ref(), before_ports.objects)?,
        };
        let ir = program.ir;
        if before_ports.confine {
            crate::process::privileges::forbid_programs();
        }
        let ids = upf::ids::Ids::bind(&ir.program).map_err(|e| Failure::Usage(e.to_string()))?;
        let initial = upf::static_rules::initial(&network, &ids);
        targets.apply(&initial).map_err(|e| Failure::Usage(format!("the configuration does not fit the tables: {e}")))?;

        let labels: Vec<PortLabel> = config.ports.iter().zip(&ports).map(|(port, open)| label(port, open)).collect();
        let (events, events_in) = bounded(65_536);
        let max_age = match config.engine.buffer_max_age_s {
            0 => Duration::MAX,
            seconds => Duration::from_secs(seconds),
        };
        let limits = Limits { per_queue: config.engine.buffer_packets_per_pdr, total: config.engine.buffer_packets, max_age };
        let buffer = IdleBuffer::deploy(limits);
        let shape = config.qos.limits(ids.mbr_cells).map(|limits| ShapeSettings {
            meter: ids.mbr,
            queues: Queues::Cells,
            limits,
            delays: None,
            owed: None,
        });
        let queues = queues(config, &ports);
        // PDR numbers are the program's marks of what it sends.
        let marks = (!queues.is_empty()).then(|| Arc::new(Marks::new(upf::plane::most_pdr_numbers(&ir.program, &ids))));
        let known = marks.clone().map(|marks| MarkSettings { marks, counter: ids.usage });
        let waiting = Waiting { buffer: Some(buffer), shape, queues, marks: known };
        let engine = start_engine(&config.workers, &(targets.clone() as Arc<dyn Target>), ports, waiting, events)
            .map_err(|e| Failure::Usage(e.to_string()))?;
        let engine = Arc::new(engine);
        let was_left = kernel.as_ref().is_some_and(Kernel::was_left);
        if let Some(kernel) = kernel.as_mut().filter(|_| !was_left) {
            kernel.go_live()?;
        }
        let wishes = Wishes::new(&config.split).map_err(|e| Failure::Usage(e.to_string()))?;
        let data = EngineAndTargets::new(targets.clone(), engine.clone()).with_wishes(wishes);
        let data = data.with_lasting(kernel.as_ref().map(|k| &k.xdp)).with_queues(marks, config);
        let mut plane = Plane::new(&network, &ir.program, data).map_err(|e| Failure::Usage(e.to_string()))?;
        let mut store = before_ports.store;
        if let Some(store) = &store {
            // What is in the kernel would go on until the process is gone.
            let targets = targets.clone();
            store.before_the_end(move || targets.retire_fast());
        }
        let now = before_ports.n4.moment();
        let Back { mut node, start, is_old } = match &mut store {
            Some(store) => store.bring_back(pfcp_config(config)?, now, &mut plane).map_err(|what| config.fault("n4.store", what))?,
            None => Back::new(pfcp_config(config)?, now).map_err(Failure::Usage)?,
        };
        if let Some(kernel) = kernel.as_mut().filter(|_| was_left) {
            kernel.go_live()?;
        }
        take_over(kernel.as_ref(), &mut plane, &mut node, start, store.as_mut()).map_err(|what| config.fault("n4.store", what))?;
        let planner = Placement::new(config, &targets, &ids).map_err(|e| Failure::Usage(e.to_string()))?;
        let socket = Arc::new(if is_old { before_ports.n4.socket } else { before_ports.n4.when_it_may_answer() });
        let output = Arc::new(Output::new(socket.clone())?);
        let still_ending = Arc::new(AtomicUsize::new(0));
        let ready = Arc::new(AtomicBool::new(!kernel.as_ref().is_some_and(Kernel::is_pending)));
        let at_end = AtEnd {
            keeps_sessions: config.n4.store.as_ref().is_some_and(|store| store.on_stop == OnStop::Keep),
            xdp_stays: config.split.keep.is_some(),
            graceful_release: (config.n4.graceful_release_s > 0).then(|| Duration::from_secs(config.n4.graceful_release_s)),
        };
        let dropped = Arc::new(AtomicU64::new(0));
        let store = store.map(|store| store.start(output.clone())).transpose()?;
        let n4 = crate::agent::N4 { node, output, dropped: dropped.clone(), store };
        let backlog = Default::default();
        let datapath = Datapath { plane, targets, services, engine, events: events_in, backlog, kernel, ports: labels };
        let life = Life::new(start, at_end, ready.clone(), still_ending.clone());
        let mut agent = Agent::new(n4, datapath, planner, life, Some(Running::new(config, links)), Some(ir));
        agent.begin(&config.n4.associate, config.shared_store().is_some());
        let datagrams = Datagrams::read(socket, dropped)?;
        let (requests, requests_in) = unbounded();
        let agent = std::thread::Builder::new()
            .name("agent".into())
            .spawn(move || {
                agent.run(&datagrams, &requests_in);
                agent
            })
            .map_err(|e| Failure::Failed(format!("cannot start the agent: {e}")))?;
        Ok(Upf { requests, agent, still_ending, ready })
    }

    /// Whether all targets have come into service since the start. N4 is answered before, and x86 carries the packets.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// What asks it, from any thread.
    pub fn control(&self) -> Control {
        Control::new(self.requests.clone())
    }

    /// A snapshot. Sessions are asked for some at a time: N4 does not wait for all of them. The error, if the agent does not answer in time, is no end of it.
    pub fn report(&self, sessions: bool) -> Result<Report, Failure> {
        let mut report = self.ask(|reply| Request::Report { reply })?;
        if !sessions {
            return Ok(report);
        }
        let (mut live, mut from) = (Vec::new(), Some(CountsFrom::Live(None)));
        while let Some(asked) = from {
            let (counts, next) = self.ask(|reply| Request::Counts { from: asked, reply })?;
            (if matches!(asked, CountsFrom::Live(_)) { &mut live } else { &mut report.sessions }).extend(counts);
            from = next;
        }
        // Those that have ended meanwhile count as they were at their end.
        let ended: BTreeSet<u64> = report.sessions.iter().map(|session| session.seid).collect();
        report.sessions.extend(live.into_iter().filter(|session| !ended.contains(&session.seid)));
        Ok(report)
    }

    fn ask<T>(&self, request: impl FnOnce(Sender<T>) -> Request) -> Result<T, Failure> {
        let (reply, answer) = bounded(1);
        let ended = || Failure::Failed("the agent has ended".into());
        self.requests.send(request(reply)).map_err(|_| ended())?;
        answer.recv_timeout(REPORT_PATIENCE).map_err(|e| match e {
            RecvTimeoutError::Timeout => Failure::Failed(format!("the agent has not answered for {REPORT_PATIENCE:?}")),
            RecvTimeoutError::Disconnected => ended(),
        })
    }

    /// Whether it has ended by itself, which is a defect: [`Upf::stop`] tells why.
    pub fn has_ended(&self) -> bool {
        self.agent.is_finished()
    }

    /// Ends sessions, agent and workers; the final counts. The error, if the agent gets no further, is for the process to end with:
    /// what it has in the kernel goes with it.
    pub fn stop(self) -> Result<Report, Failure> {
        let _ = self.requests.send(Request::Stop);
        // A million sessions take their time: what counts is that they go.
        let (mut left, mut progress) = (usize::MAX, Instant::now());
        while !self.agent.is_finished() {
            let now_left = self.still_ending.load(Ordering::Relaxed);
            if now_left != left {
                (left, progress) = (now_left, Instant::now());
            }
            if progress.elapsed() >= STOP_PATIENCE {
                return Err(Failure::Failed(format!("the agent has released no session for {STOP_PATIENCE:?}: {left} are not released")));
            }
            std::thread::sleep(STOP_LOOK);
        }
        let mut agent = self.agent.join().map_err(|_| Failure::Failed("the agent failed: this is a bug".into()))?;
        // The last answers and end markers are in flight through the worker.
        std::thread::sleep(Duration::from_millis(50));
        agent.end().map_err(Failure::Failed)
    }
}

/// Adds to what sessions are charged what XDP has counted for them since it was recorded, while no daemon was there. That is in the store before
/// the count of then is forgotten.
fn take_over(
    kernel: Option<&Kernel>,
    plane: &mut Plane<EngineAndTargets>,
    node: &mut pfcp::node::Node,
    start: Instant,
    store: Option<&mut Opened>,
) -> Result<(), String> {
    let xdp = kernel.map(|kernel| &kernel.xdp).filter(|xdp| xdp.epoch().is_some());
    let packets = plane.take_over(|epoch, cell| xdp?.left_count(epoch, cell.into()));
    let (Some(xdp), Some(store)) = (xdp, store) else { return Ok(()) };
    node.record_all(start.elapsed(), plane);
    store.write_now(node.take_changes())?;
    xdp.forget_left();
    tracing::info!(packets, "XDP's program stays while the daemon is away; this is what it counted since the store was written");
    Ok(())
}

fn load_targets(
    config: &Config,
    program: &Program,
    kernel: Option<&Kernel>,
    Objects { shipped, cache }: Objects,
    services: &[Arc<Deployment>],
) -> Result<Arc<Split>, Failure> {
    let ir = &program.ir;
    // The seed keys the tables' hashes: traffic must not be able to aim at one hash bucket.
    // One token bucket per rate: packets on the slow path use XDP's, and what waits there is known to a chip.
    let meters = match (config.split.fast, kernel) {
        (Some(FastTarget::Asic), _) if config.qos.shapes() => {
            target_x86::shared_meters(&ir.program).map_err(|e| Failure::Usage(e.to_string()))?
        }
        (_, kernel) => kernel.map(|kernel| kernel.xdp.share_meters()).unwrap_or_default(),
    };
    let of_chip = meters.clone();
    let options = target_x86::Options { cc: config.engine.cc.clone(), seed: rand::random(), meters, shipped, cache, ..Default::default() };
    let x86 = program.x86()?.load(&options, services)?;
    let networks = Networks::new(&network_config(config, &usual_links(config), &[]));
    let split = |fast: Box<dyn Target>, base| {
        let fast = crate::datapath::egress::by_other_ways(fast, &config.split.egress, &networks)?;
        Split::new(fast, base, config.split.policy.to_offload()).map_err(|e| Failure::Usage(e.to_string()))
    };
    let targets = match config.split.fast {
        None => Split::alone(x86),
        Some(FastTarget::Asic) if config.split.chip.is_some() => {
            let chip = config.split.chip.as_deref().unwrap_or_default();
            let model = crate::chip_model::model(chip, ir, config.split.capacity)?;
            let asic = target_asic::Asic::load_model(ir.clone(), &model).map_err(|e| Failure::Usage(e.to_string()))?;
            split(Box::new(asic.sharing(of_chip)), x86)?
        }
        Some(FastTarget::Asic) => {
            let chip = config.split.capacity.map_or_else(Default::default, |session_entries| target_asic::Chip { session_entries });
            let asic = target_asic::Asic::load(ir.clone(), chip).map_err(|e| Failure::Usage(e.to_string()))?;
            split(Box::new(asic.sharing(of_chip)), x86)?
        }
        Some(FastTarget::Xdp) => {
            let kernel = kernel.ok_or_else(|| Failure::Usage("split.fast = \"xdp\" needs interfaces of the kernel".into()))?;
            let targets = split(Box::new(kernel.xdp.clone()), x86)?;
            if kernel.is_pending() {
                targets.hold_back();
            }
            targets
        }
    };
    Ok(Arc::new(targets))
}

/// How long a node that takes over waits for its N4 address to be moved to this host, and how often it looks.
const ADDRESS_PATIENCE: Duration = Duration::from_secs(30);
const ADDRESS_LOOK: Duration = Duration::from_millis(10);

/// N4's socket, and when it was bound: the Recovery Time Stamp (TS 29.244 §8.2.65).
///
/// The stamp has whole seconds, and peers know a restart by a later one. Where it is not certain to be later than that of the daemon before
/// ([`crate::n4::stamp`]), nothing is answered in the second of the stamp: whoever has seen it sees a later one of the next daemon, which cannot
/// bind the address before this one has gone.
struct N4 {
    socket: UdpSocket,
    /// Since 1970.
    bound_at: Duration,
    since: Instant,
    /// Seconds since 1970, later than all before.
    stamp: Option<u64>,
}

impl N4 {
    fn bind(config: &Config) -> Result<N4, Failure> {
        let in_use = |e: &std::io::Error| e.kind() == std::io::ErrorKind::AddrInUse;
        let mut bound = predecessor::wait_for("n4.listen", || UdpSocket::bind(config.n4.listen), in_use);
        if config.shared_store().is_some() {
            // Who moves the address may learn only now that this node serves. One of this machine is free when the node before has ended.
            let may_come = |e: &std::io::Error| matches!(e.kind(), std::io::ErrorKind::AddrNotAvailable | std::io::ErrorKind::AddrInUse);
            let end = Instant::now() + ADDRESS_PATIENCE;
            while bound.as_ref().is_err_and(may_come) && Instant::now() < end {
                std::thread::sleep(ADDRESS_LOOK);
                bound = UdpSocket::bind(config.n4.listen);
            }
        }
        let socket = bound.map_err(|e| {
            let what = match e.kind() {
                std::io::ErrorKind::AddrInUse => "it is in use by another program".to_owned(),
                std::io::ErrorKind::AddrNotAvailable => "it is not an address of this machine".to_owned(),
                _ => e.to_string(),
            };
            config.fault("n4.listen", what)
        })?;
        Ok(N4 { socket, bound_at: unix_now(), since: Instant::now(), stamp: None })
    }

    /// With a stamp that is later than that of the daemon before, where a folder for that is at hand.
    fn stamped(mut self) -> N4 {
        let Some(folder) = c_compile::environment::state() else { return self };
        let listen = self.socket.local_addr();
        let next =
            |now: Duration| listen.as_ref().map_err(|e| e.kind().into()).and_then(|listen| stamp::next(&folder, *listen, now.as_secs()));
        loop {
            match next(self.bound_at) {
                Ok(stamp::Next::Stamp(stamp)) => self.stamp = Some(stamp),
                Ok(stamp::Next::Wait) => {
                    let left = Duration::from_nanos((1_000_000_000 - self.bound_at.subsec_nanos()).into());
                    std::thread::sleep(left);
                    (self.bound_at, self.since) = (unix_now(), Instant::now());
                    continue;
                }
                Err(why) => {
                    tracing::info!("N4 answers from the next second on: the time of this start is not kept in {}: {why}", folder.display())
                }
            }
            return self;
        }
    }

    /// When it was bound, with the Recovery Time Stamp of a new node.
    fn moment(&self) -> Moment {
        let now = Moment::new(self.bound_at, self.since);
        Moment { stamp: self.stamp.unwrap_or(now.stamp).max(now.stamp), ..now }
    }

    /// Ports and programs have mostly taken longer.
    fn when_it_may_answer(self) -> UdpSocket {
        if self.stamp.is_none() {
            let left = Duration::from_nanos((1_000_000_000 - self.bound_at.subsec_nanos()).into());
            std::thread::sleep(left.saturating_sub(self.since.elapsed()));
        }
        self.socket
    }
}

/// Since 1970.
fn unix_now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
