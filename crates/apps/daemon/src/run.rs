//! `splitplane run`: the UPF as a daemon. This file builds it from the configuration; `agent.rs` is its main loop.

#[cfg(test)]
mod tests;

use crate::agent::{Agent, CountsFrom, PortLabel, Request};
use crate::config::{
    Config, Driver, FastTarget, Fault, FirewallAction, OnStop, Prefix, RequestPort, Role, Route, Steering, TrafficClass, Workers,
};
use crate::control::{Control, Reply};
use crate::dataplane::{EngineAndTargets, Targets};
use crate::failure::Failure;
use crate::input::{Input, Next};
use crate::kernel::Kernel;
use crate::n4_socket::{Datagrams, Output};
use crate::objects::Objects;
use crate::placement::{Placement, Wishes};
use crate::ports::PortNumbers;
use crate::program::Program;
use crate::reload::Running;
use crate::report::{HEADER, Report, drops, live_lines};
use crate::report_file::ReportFile;
use crate::stop::Other;
use crate::store::{Back, Moment, Opened};
use crate::supervisor::Supervisor;
use base::PortId;
use buffer::idle::{IdleBuffer, Limits};
use crossbeam_channel::{RecvTimeoutError, Sender, bounded, unbounded};
use engine::{
    BalanceSettings, Engine, EngineError, Event, MarkSettings, Marks, QueueSettings, Queues, Settings, ShapeSettings, SteerFn, WorkerPorts,
};
use p4_ir::Ir;
use pktio::Port;
use pktio::af_xdp::Frames;
use service::{Deployment, SharedDeployment};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};
use target::Target;
use upf::config::Policing;
use upf::networks::Networks;
use upf::plane::Plane;

/// Options of `run`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Configuration file (docs/configuration.md).
    #[arg(long, required_unless_present = "print_config")]
    pub(crate) config: Option<PathBuf>,
    /// Checks the configuration, the program and the machine, and exits.
    #[arg(long)]
    pub check: bool,
    /// Prints an example configuration.
    #[arg(long)]
    print_config: bool,
    /// Prints sessions, rates by target and direction, and drops by reason, once a second.
    #[arg(long)]
    pub live: bool,
    /// Writes all counters to this file, as JSON, at exit and on SIGUSR1.
    #[arg(long)]
    pub report: Option<PathBuf>,
    /// Also stops when standard input ends, not only on SIGINT and SIGTERM.
    #[arg(long)]
    pub until_input_ends: bool,
    /// Compiles the program even if its object is shipped or cached, and caches nothing.
    #[arg(long)]
    pub no_cache: bool,
}

/// Runs until stopped.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.print_config {
        return crate::output::print_out(include_str!("../../../../docs/upf.example.toml"));
    }
    // They must not end a start that takes its time, either.
    crate::stop::hold_others().map_err(|e| Failure::Failed(format!("cannot hold signals: {e}")))?;
    let path = args.config.as_deref().unwrap_or(Path::new("upf.toml"));
    if let Some(config) = crate::ceupf::Config::load_if_asked(path)? {
        return crate::ceupf::run(&config, args);
    }
    let config = Config::load(path)?;
    // The program has refused a wrong one.
    if crate::control::asked_filter().is_ok_and(|asked| asked.is_none())
        && let Some(filter) = &config.log.filter
    {
        crate::control::set_log(filter).map_err(|what| config.fault("log.filter", what))?;
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
    for warning in warnings.into_iter().chain(crate::n4::allowed(&config.n4).warning) {
        tracing::warn!("{warning}");
    }
    let mut report_file = args.report.as_deref().map(ReportFile::prepare).transpose()?;
    if args.check {
        return crate::output::print_out(format_args!("{}: good\n", path.display()));
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
    let api = crate::api::Bound::new(&config.api).map_err(|fault| config.source.failure(&fault))?;
    let (mut kernel, early) = match early {
        Some(Early { kernel, input, loaded, store }) => (kernel, Some((input, loaded, store))),
        None => (Kernel::load_early_if_asked(&config, &program, &objects)?, None),
    };
    let ports = open_ports(&config, kernel.as_mut())?;
    crate::privileges::drop_others(&config.ports, kernel.is_some())?;
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
    let upf = Upf::start_with(&config, program.into_ir(), ports, kernel, before_ports)?;
    let control = upf.control().with_file(path);
    let socket = crate::control::listen(config.control.socket.as_deref(), control.clone())?;
    let api = api.map(|bound| bound.start(control.clone())).transpose()?;
    while !upf.is_ready() && !upf.has_ended() && !matches!(input.next(READY_LOOK), Next::End) {}
    // This thread has compiled and loaded, and asks for little from now on.
    (0..RETIREMENTS).for_each(|_| allocator::retire());
    crate::output::line("ready");
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
            crate::log_limit::tell_left_out();
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
            if !{ lines }.all(crate::output::line) && crate::output::is_gone() {
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
        (Other::HangUp, _) => match control.answer(crate::control::Request::Reload { dry_run: false }, "SIGHUP") {
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

impl Args {
    /// Where objects come from, unless they are to be compiled.
    pub fn objects(&self) -> Objects {
        c_compile::clear_away(&c_compile::environment::temporary());
        if self.no_cache { Objects::default() } else { Objects::find() }
    }
}

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
        crate::privileges::drop_others(&config.ports, kernel.is_some())?;
        let input = Input::listen_as_daemon(args.until_input_ends)?;
        let loaded = Loaded::load(config, &Arc::new(program.ir.clone()), kernel.as_ref(), objects)?;
        let store = Opened::open_unless(config, &|| matches!(input.next(Duration::ZERO), Next::End))?;
        Ok(store.map(|store| Early { kernel, input, loaded, store: Some(store) }))
    }
}

/// The program in its targets, and what it calls beside them.
struct Loaded {
    services: crate::services::Running,
    targets: Targets,
}

impl Loaded {
    fn load(config: &Config, ir: &Arc<Ir>, kernel: Option<&Kernel>, objects: Objects) -> Result<Loaded, Failure> {
        let services = crate::services::start(config)?;
        let targets = load_targets(config, ir, kernel, objects, &services.deployments)?;
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
    let network = network_config(config, &usual_links(config));
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
    crate::services::check(config, &ir.program)?;
    for (position, op) in upf::static_rules::initial(&network, &ids).ops.iter().enumerate() {
        ir.program.check_op(position, op).map_err(|e| usage(format!("the configuration does not fit the tables: {e}")))?;
    }
    Ok(())
}

/// What the agent must know of a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) id: PortId,
    pub(crate) mac: [u8; 6],
    /// Longest IP packet, in bytes.
    pub(crate) mtu: u16,
}

impl Link {
    pub(crate) fn of(open: &OpenPort) -> Link {
        Link { id: open.id, mac: open.mac, mtu: mtu(open) }
    }
}

/// A port of the configuration, opened.
pub struct OpenPort {
    /// Number in the data plane.
    pub id: PortId,
    /// For each worker the devices that it polls.
    pub of_workers: Vec<Vec<Box<dyn Port>>>,
    /// Driver in use.
    pub driver: String,
    /// Our MAC address.
    pub mac: [u8; 6],
}

/// Numbers of the ports, by their roles (p4/include/splitplane.p4).
pub(crate) fn port_ids(config: &Config) -> Vec<PortId> {
    let mut numbers = PortNumbers::default();
    // The configuration has at most 64 ports.
    config.ports.iter().map(|port| numbers.of(port).unwrap_or_default()).collect()
}

/// What the program that steers must know of a port's frames.
pub fn frames(id: PortId) -> Frames {
    let upf::steer::Expects { tunnels, vxlan } = upf::steer::expects(id);
    Frames { tunnels: tunnels.then_some(gtpu_steering::GTPU), vxlan }
}

fn open_ports(config: &Config, kernel: Option<&mut Kernel>) -> Result<Vec<OpenPort>, Failure> {
    open_each(&config.ports, port_ids(config), &config.workers, &config.dpdk, kernel)
}

/// Opens ports under these numbers.
pub fn open_each(
    ports: &[crate::config::Port],
    ids: Vec<PortId>,
    workers: &Workers,
    dpdk: &crate::dpdk_ports::Dpdk,
    mut kernel: Option<&mut Kernel>,
) -> Result<Vec<OpenPort>, Failure> {
    let fail = |e: pktio::PortError| Failure::Usage(e.to_string());
    crate::dpdk_ports::start(ports, dpdk)?;
    let by_ue = workers.steering == Steering::Xdp;
    let workers = workers.of_ports();
    let mut open = Vec::new();
    for (port, id) in ports.iter().zip(ids) {
        let interface = port.interface.as_deref().unwrap_or_default();
        let mut device_mac = None;
        let boxed = |share: Vec<pktio::AfXdp>| share.into_iter().map(|p| Box::new(p) as Box<dyn Port>).collect();
        let (of_workers, driver): (Vec<Vec<Box<dyn Port>>>, &str) = match (port.driver, &mut kernel) {
            (Driver::AfXdp | Driver::Auto, Some(kernel)) => {
                let shares = if by_ue { kernel.open_steered(port, id, workers)? } else { kernel.open(port, id, workers)? };
                (shares.into_iter().map(boxed).collect(), "af_xdp")
            }
            (Driver::AfXdp | Driver::Auto, None) if by_ue => {
                let shares = pktio::open_steered(&port.name, interface, workers, frames(id)).map_err(fail)?;
                (shares.into_iter().map(boxed).collect(), "af_xdp")
            }
            (Driver::AfXdp, None) => {
                let shares = pktio::open_queues(&port.name, interface, workers, frames(id)).map_err(fail)?;
                (shares.into_iter().map(boxed).collect(), "af_xdp")
            }
            (Driver::AfPacket, _) => {
                let ports = pktio::open_shared(&port.name, interface, workers).map_err(fail)?;
                (ports.into_iter().map(|p| vec![p]).collect(), "af_packet")
            }
            (Driver::Auto, None) => {
                let opened = pktio::open_best(&port.name, interface, workers, frames(id)).map_err(fail)?;
                if let Some(why) = &opened.fell_back {
                    tracing::warn!(port = port.name, "AF_XDP is not available, using AF_PACKET: {why}");
                }
                (opened.ports, if opened.fell_back.is_some() { "af_packet" } else { "af_xdp" })
            }
            (Driver::Udp, _) => {
                let Some(SocketAddr::V4(local)) = port.listen else {
                    return Err(Failure::Usage(format!("port `{}`: listen must be an IPv4 address and port", port.name)));
                };
                let mut first = pktio::UdpPort::bind(&port.name, local, port.mtu).map_err(fail)?;
                if let Some(mac) = port.mac {
                    first.set_mac(mac.0);
                }
                let mut of_workers: Vec<Vec<Box<dyn Port>>> = Vec::new();
                for _ in 1..workers {
                    of_workers.push(vec![Box::new(pktio::TransmitOnly(first.try_clone().map_err(fail)?))]);
                }
                of_workers.insert(0, vec![Box::new(first)]);
                (of_workers, "udp")
            }
            (Driver::Tun, _) => {
                let addresses: Vec<_> = port.addresses.iter().map(|p| (p.address, p.len)).collect();
                let options = pktio::tun::Options { addresses: &addresses, mtu: port.mtu };
                let mut first = pktio::TunPort::open(&port.name, interface, options).map_err(fail)?;
                if let Some(mac) = port.mac {
                    first.set_mac(mac.0);
                }
                let mut of_workers: Vec<Vec<Box<dyn Port>>> = Vec::new();
                for _ in 1..workers {
                    of_workers.push(vec![Box::new(pktio::TransmitOnly(first.try_clone().map_err(fail)?))]);
                }
                of_workers.insert(0, vec![Box::new(first)]);
                (of_workers, "tun")
            }
            (Driver::Pcap, _) => {
                let opened = pktio::pcap::PcapPort::open(&port.name, port.input.as_deref(), port.output.as_deref());
                (vec![vec![Box::new(opened.map_err(fail)?)]], "pcap")
            }
            (Driver::Dpdk, _) => {
                let (ports, mac) = crate::dpdk_ports::open(port, workers)?;
                device_mac = Some(mac);
                (ports.into_iter().map(|p| vec![Box::new(p) as Box<dyn Port>]).collect(), "dpdk")
            }
        };
        let mac = match (port.mac, port.driver) {
            (Some(mac), _) => mac.0,
            (None, Driver::Dpdk) => device_mac.unwrap_or_default(),
            (None, Driver::Udp | Driver::Tun | Driver::Pcap) => pktio::OUR_MAC,
            (None, _) => pktio::interface::Interface::find(&port.name, interface).map_err(fail)?.mac,
        };
        tracing::info!(port = port.name, driver, "open");
        open.push(OpenPort { id, of_workers, driver: driver.to_owned(), mac });
    }
    Ok(open)
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
    pub fn start(config: &Config, ir: Ir, ports: Vec<OpenPort>, kernel: Option<Kernel>) -> Result<Upf, Failure> {
        let before_ports =
            BeforePorts { n4: N4::bind(config)?, store: Opened::open(config)?, loaded: None, objects: Objects::default(), confine: false };
        Upf::start_with(config, ir, ports, kernel, before_ports)
    }

    fn start_with(
        config: &Config,
        ir: Ir,
        ports: Vec<OpenPort>,
        mut kernel: Option<Kernel>,
        before_ports: BeforePorts,
    ) -> Result<Upf, Failure> {
        let links: Vec<Link> = ports.iter().map(Link::of).collect();
        let network = network_config(config, &links);
        network.validate().map_err(|e| config.source.failure(&Fault::foreign(&e.0, key_of_network)))?;
        let ir = Arc::new(ir);
        // Processes inherit no more than the ports need, and later none can be started.
        let Loaded { services, targets } = match before_ports.loaded {
            Some(loaded) => loaded,
            None => Loaded::load(config, &ir, kernel.as_ref(), before_ports.objects)?,
        };
        if before_ports.confine {
            crate::privileges::forbid_programs();
        }
        let ids = upf::ids::Ids::bind(&ir.program).map_err(|e| Failure::Usage(e.to_string()))?;
        let initial = upf::static_rules::initial(&network, &ids);
        targets.target().apply(&initial).map_err(|e| Failure::Usage(format!("the configuration does not fit the tables: {e}")))?;

        let labels: Vec<PortLabel> = config.ports.iter().zip(&ports).map(|(port, open)| label(port, open)).collect();
        let (events, events_in) = bounded(65_536);
        let max_age = match config.engine.buffer_max_age_s {
            0 => Duration::MAX,
            seconds => Duration::from_secs(seconds),
        };
        let limits = Limits { per_queue: config.engine.buffer_packets_per_pdr, total: config.engine.buffer_packets, max_age };
        let buffer = IdleBuffer::deploy(limits);
        let shape =
            config.qos.limits(ids.mbr_cells).map(|limits| ShapeSettings { meter: ids.mbr, queues: Queues::Cells, limits, delays: None });
        let queues = queues(config, &ports);
        // PDR numbers are the program's marks of what it sends.
        let marks = (!queues.is_empty()).then(|| Arc::new(Marks::new(upf::plane::most_pdr_numbers(&ir.program, &ids))));
        let known = marks.clone().map(|marks| MarkSettings { marks, counter: ids.usage });
        let waiting = Waiting { buffer: Some(buffer), shape, queues, marks: known };
        let engine = start_engine(&config.workers, &targets.target(), ports, waiting, events).map_err(|e| Failure::Usage(e.to_string()))?;
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
        let placement = Placement::new(config, &targets, &ids).map_err(|e| Failure::Usage(e.to_string()))?;
        let socket = Arc::new(if is_old { before_ports.n4.socket } else { before_ports.n4.when_it_may_answer() });
        let output = Arc::new(Output::new(socket.clone()));
        let still_ending = Arc::new(AtomicUsize::new(0));
        let ready = Arc::new(AtomicBool::new(!kernel.as_ref().is_some_and(Kernel::is_pending)));
        let mut agent = Agent {
            node,
            plane,
            targets,
            services,
            engine,
            kernel,
            output: output.clone(),
            n4_dropped: Default::default(),
            store: store.map(|store| store.start(output)).transpose()?,
            graceful_release: (config.n4.graceful_release_s > 0).then(|| Duration::from_secs(config.n4.graceful_release_s)),
            leaves_by: None,
            xdp_stays: config.split.keep.is_some(),
            keeps_sessions: config.n4.store.as_ref().is_some_and(|store| store.on_stop == OnStop::Keep),
            ports: labels,
            ended: Vec::new(),
            events: events_in,
            backlog: Default::default(),
            refused: Default::default(),
            punted: Default::default(),
            host_unsent: Default::default(),
            decisions: Default::default(),
            placement,
            comeback: Default::default(),
            start,
            age: start.elapsed(),
            stopped: false,
            failed: None,
            still_ending: still_ending.clone(),
            ready: ready.clone(),
            ticks: 0,
            running: Some(Running::new(config, links)),
            reconsidering: None,
            look: None,
            ir: Some(ir),
            lease: None,
        };
        for smf in &config.n4.associate {
            // Where it listens, whoever asks (TS 29.244 clause 4.2.2).
            agent.node.associate(SocketAddr::new(*smf, pfcp::codec::PORT), agent.start.elapsed());
        }
        if config.shared_store().is_some() {
            let (host, _) = agent.plane.host_and_data();
            let actions = host.announce(agent.start.elapsed());
            agent.act(actions);
        }
        let datagrams = Datagrams::read(socket, agent.n4_dropped.clone())?;
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
        // The last answers and end markers are on their way through the worker.
        std::thread::sleep(Duration::from_millis(50));
        agent.engine.stop();
        agent.drop_punts();
        match agent.failed.take() {
            Some(why) => Err(Failure::Failed(why)),
            None => Ok(agent.report(true)),
        }
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

/// Where packets wait in workers: for an idle UE, for a rate, and for a port.
#[derive(Default)]
pub struct Waiting {
    buffer: Option<Arc<SharedDeployment>>,
    shape: Option<ShapeSettings>,
    queues: Vec<QueueSettings>,
    marks: Option<MarkSettings>,
}

/// Of ports that have a rate.
fn queues(config: &Config, ports: &[OpenPort]) -> Vec<QueueSettings> {
    config.ports.iter().zip(ports).filter_map(|(port, open)| queues_of(config, port, open.id)).collect()
}

/// Of a port, if it has a rate.
pub(crate) fn queues_of(config: &Config, port: &crate::config::Port, id: PortId) -> Option<QueueSettings> {
    let (queues, fill) = config.port_queues(port)?;
    Some(QueueSettings { port: id, queues, fill: Arc::new(fill) })
}

/// For reports.
pub(crate) fn label(port: &crate::config::Port, open: &OpenPort) -> PortLabel {
    PortLabel {
        id: open.id,
        name: port.name.clone(),
        driver: open.driver.clone(),
        role: port.role,
        network_instance: port.network_instance.clone(),
        down: false,
        reopened: 0,
    }
}

/// Whether and how UEs move, and workers come and go, by themselves.
pub(crate) fn balance(workers: &Workers) -> Option<BalanceSettings> {
    let range = workers.range();
    let scaling = (range.0 < range.1).then_some(range);
    let usual = BalanceSettings::default();
    let balance = BalanceSettings { workers: scaling, moves: if workers.rebalance { usual.moves } else { 0 }, ..usual };
    (workers.rebalance || scaling.is_some()).then_some(balance)
}

/// Workers on their ports, or on those of a master.
pub fn start_engine(
    workers: &Workers,
    target: &Arc<dyn Target>,
    ports: Vec<OpenPort>,
    waiting: Waiting,
    events: Sender<Event>,
) -> Result<Engine, EngineError> {
    let balance = balance(workers);
    let by_ue = workers.steering == Steering::Xdp;
    let port_hash = by_ue.then_some(upf::steer::ue_hash as SteerFn);
    // Not so users' packets that are punted: of unknown TEIDs, and to neighbours that are asked for.
    let vital_punts = ["arp", "host", "gtpu_signalling"].iter().filter_map(|name| target.program().reason(name)).collect();
    let Waiting { buffer, shape, queues, marks } = waiting;
    let cores = workers.cores.clone();
    let settings = Settings { buffer, balance, port_hash, vital_punts, shape, queues, marks, cores, ..Settings::default() };
    let mut shares: Vec<WorkerPorts> = (0..workers.of_ports()).map(|_| Vec::new()).collect();
    for port in ports {
        for (share, devices) in shares.iter_mut().zip(port.of_workers) {
            share.extend(devices.into_iter().map(|device| (port.id, device)));
        }
    }
    if !workers.steered() {
        let count = if by_ue { workers.count } else { shares.len() };
        return Engine::start_some(target, shares, count, settings, events);
    }
    Engine::start_steered(target, shares.remove(0), upf::steer::ue_hash, workers.count, settings, events)
}

fn load_targets(
    config: &Config,
    ir: &Arc<Ir>,
    kernel: Option<&Kernel>,
    Objects { shipped, cache }: Objects,
    services: &[Arc<Deployment>],
) -> Result<Targets, Failure> {
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
    let x86 = load_x86(ir, &options, services)?;
    let networks = Networks::new(&network_config(config, &usual_links(config)));
    let split = |fast: Box<dyn Target>, base| {
        let fast = crate::egress::by_other_ways(fast, &config.split.egress, &networks)?;
        let split = offload::Split::new(fast, base, config.split.policy.to_offload()).map_err(|e| Failure::Usage(e.to_string()))?;
        Ok(Targets::Split(Arc::new(split)))
    };
    match config.split.fast {
        None => Ok(Targets::Whole(Arc::from(x86))),
        Some(FastTarget::Asic) if config.split.chip.is_some() => {
            let chip = config.split.chip.as_deref().unwrap_or_default();
            let model = crate::chip_model::model(chip, ir, config.split.capacity)?;
            let asic = target_asic::Asic::load_model(ir.clone(), &model).map_err(|e| Failure::Usage(e.to_string()))?;
            split(Box::new(asic.sharing(of_chip)), x86)
        }
        Some(FastTarget::Asic) => {
            let chip = config.split.capacity.map_or_else(Default::default, |session_entries| target_asic::Chip { session_entries });
            let asic = target_asic::Asic::load(ir.clone(), chip).map_err(|e| Failure::Usage(e.to_string()))?;
            split(Box::new(asic.sharing(of_chip)), x86)
        }
        Some(FastTarget::Xdp) => {
            let kernel = kernel.ok_or_else(|| Failure::Usage("split.fast = \"xdp\" needs interfaces of the kernel".into()))?;
            let targets = split(Box::new(kernel.xdp.clone()), x86)?;
            if let Targets::Split(split) = &targets
                && kernel.is_pending()
            {
                split.hold_back();
            }
            Ok(targets)
        }
    }
}

/// The program as native code. One that calls services is cut where it does, and driven by who calls them.
pub fn load_x86(ir: &Ir, options: &target_x86::Options, services: &[Arc<Deployment>]) -> Result<Box<dyn Target>, Failure> {
    let refused = |e: &dyn std::fmt::Display| Failure::Usage(format!("{}: {e}", ir.program.name));
    let load = |ir: &Ir| {
        let text = p4_emit::emit_x86(ir).map_err(|e| refused(&e))?;
        target_x86::X86::load(Arc::new(ir.program.clone()), &text, options).map_err(|e| refused(&e))
    };
    // Where copies of packets go nobody could say here: a program that makes some is refused below.
    let cut = if ir.program.services.is_empty() || p4_passes::bridge::replicates(ir) {
        None
    } else {
        p4_passes::bridge::cut(ir).map_err(|e| refused(&e))?
    };
    let Some((mut cut, bridge)) = cut else { return Ok(Box::new(load(ir)?)) };
    p4_passes::optimise(&mut cut).map_err(|e| Failure::Failed(e.to_string()))?;
    Ok(Box::new(target::Replicating::new(load(&cut)?, bridge).with_services(services).map_err(|e| refused(&e))?))
}

/// How long a node that takes over waits for its N4 address to be moved to this host, and how often it looks.
const ADDRESS_PATIENCE: Duration = Duration::from_secs(30);
const ADDRESS_LOOK: Duration = Duration::from_millis(10);

/// N4's socket, and when it was bound: the Recovery Time Stamp (TS 29.244 §8.2.65).
///
/// The stamp has whole seconds, and peers know a restart by a later one. Where it is not certain to be later than that of the daemon before
/// ([`crate::started`]), nothing is answered in the second of the stamp: whoever has seen it sees a later one of the next daemon, which cannot
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
        let mut bound = UdpSocket::bind(config.n4.listen);
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
        let bound_at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ok(N4 { socket, bound_at, since: Instant::now(), stamp: None })
    }

    /// With a stamp that is later than that of the daemon before, where a folder for that is at hand.
    fn stamped(mut self) -> N4 {
        let Some(folder) = c_compile::environment::state() else { return self };
        let listen = self.socket.local_addr();
        match listen.and_then(|listen| crate::started::next(&folder, listen, self.bound_at.as_secs())) {
            Ok(stamp) => self.stamp = Some(stamp),
            Err(why) => {
                tracing::info!("N4 answers from the next second on: the time of this start is not kept in {}: {why}", folder.display())
            }
        }
        self
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

/// Longest IP packet that a port sends, in bytes.
fn mtu(open: &OpenPort) -> u16 {
    let frame = open.of_workers.iter().flatten().map(|p| p.max_frame()).min().unwrap_or(0);
    u16::try_from(frame.saturating_sub(14)).unwrap_or(u16::MAX).min(upf::config::MAX_MTU)
}

/// The file's name of a key that [`upf::config`] names.
pub(crate) fn key_of_network(key: &str) -> String {
    const NAMES: [(&str, &str); 14] = [
        ("ports[", "port["),
        ("routes[", "route["),
        ("neighbours[", "neighbour["),
        ("traffic_classes[", "class["),
        ("vxlan.vnis[", "vxlan.network["),
        ("vxlan.remotes[", "vxlan.remote["),
        (".gtpu_endpoints", ".gtpu"),
        (".source_ports", ".from_ports"),
        (".destination_ports", ".to_ports"),
        (".source", ".from"),
        (".destination", ".to"),
        (".rate", ".rate_bps"),
        (".local_vtep", ".local"),
        (".remote_vtep", ".remote"),
    ];
    NAMES.iter().fold(key.to_owned(), |key, (theirs, ours)| key.replacen(theirs, ours, 1))
}

pub(crate) fn network_config(config: &Config, links: &[Link]) -> upf::config::NetworkConfig {
    let ports = config.ports.iter().zip(links).map(|(port, link)| upf::config::PortConfig {
        id: link.id,
        name: port.name.clone(),
        mac: link.mac,
        mtu: link.mtu,
        addresses: port.own_addresses().iter().map(|p| (p.address, p.len)).collect(),
        network_instance: port.network_instance.clone(),
        role: match port.role {
            Role::Access => upf::config::Role::Access,
            Role::Core => upf::config::Role::Core,
            Role::Both => upf::config::Role::Both,
            Role::Cp => upf::config::Role::CpFunction,
        },
        gtpu_endpoints: port.endpoints(),
        proxy_prefixes: Vec::new(),
        far_end: port.is_kernels().then_some(pktio::PEER_MAC),
        default: port.default,
    });
    let id_of = |name: &str| config.ports.iter().zip(links).find(|(p, _)| p.name == name).map(|(_, link)| link.id).unwrap_or_default();
    upf::config::NetworkConfig {
        ports: ports.collect(),
        routes: config.routes.iter().map(route).chain(kernels_routes(config, links)).collect(),
        neighbours: config
            .neighbours
            .iter()
            .map(|n| upf::config::StaticNeighbour { port: id_of(&n.port), ip: n.ip, mac: n.mac.0 })
            .collect(),
        firewall: config
            .firewall
            .iter()
            .map(|rule| upf::config::FirewallRule {
                permit: rule.action == FirewallAction::Permit,
                source: rule.from.map(|p| p.network()),
                destination: rule.to.map(|p| p.network()),
                protocol: rule.protocol,
                destination_ports: rule.to_ports,
                ..Default::default()
            })
            .collect(),
        vxlan: config.vxlan.as_ref().map(|vxlan| upf::config::VxlanConfig {
            local_vteps: vxlan.local.clone(),
            vnis: vxlan.networks.iter().map(|n| (n.vni, n.network_instance.clone())).collect(),
            remotes: vxlan
                .remotes
                .iter()
                .map(|r| upf::config::VxlanRemote {
                    network_instance: r.network_instance.clone(),
                    gateway: r.gateway,
                    mac: r.mac.0,
                    port: id_of(&r.port),
                    vni: r.vni,
                    local_vtep: r.local,
                    remote_vtep: r.remote,
                    underlay_mac: r.underlay_mac.0,
                })
                .collect(),
        }),
        traffic_classes: config.classes.iter().map(|class| traffic_class(class, config.qos.class_policing())).collect(),
        zero_mbr_unlimited: config.n4.zero_mbr_unlimited,
        policing: config.qos.policing(),
        max_sessions: u32::try_from(config.n4.max_sessions).unwrap_or(u32::MAX),
        host: upf::config::HostLimits {
            answers_per_s: config.host.answers_per_s,
            error_indications_per_s: config.host.error_indications_per_s,
            neighbours_per_s: config.host.neighbours_per_s,
            gtpu_echo_s: config.host.gtpu_echo_s,
        },
    }
}

fn route(route: &Route) -> upf::config::Route {
    let via = upf::config::Via::Gateway(route.via);
    upf::config::Route { network_instance: route.network_instance.clone(), prefix: route.prefix.network(), via }
}

/// Where the kernel routes, everything goes that has no route of its own.
fn kernels_routes(config: &Config, links: &[Link]) -> Vec<upf::config::Route> {
    let v4 = (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
    let v6 = (IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0);
    let mut routes = Vec::new();
    for (port, link) in config.ports.iter().zip(links).filter(|(port, _)| port.is_kernels()) {
        let given = |prefix| {
            let same = |r: &&Route| r.network_instance.eq_ignore_ascii_case(&port.network_instance) && r.prefix.network() == prefix;
            config.routes.iter().find(same).is_some()
        };
        let wanted: &[_] = if port.driver == Driver::Tun { &[v4, v6] } else { &[v4] };
        routes.extend(wanted.iter().filter(|prefix| !given(**prefix)).map(|prefix| upf::config::Route {
            network_instance: port.network_instance.clone(),
            prefix: *prefix,
            via: upf::config::Via::Connected(link.id),
        }));
    }
    routes
}

fn traffic_class(class: &TrafficClass, policing: Policing) -> upf::config::TrafficClass {
    let network = |prefix: &Option<Prefix>| match prefix.as_ref().map(|p| p.network()) {
        Some((IpAddr::V4(address), len)) => Some((address, len)),
        _ => None,
    };
    upf::config::TrafficClass {
        // Addresses tell the version; without them the traffic class is for both.
        ip_version: (class.from.is_some() || class.to.is_some()).then_some(4),
        tos: class.dscp.map(|dscp| (dscp << 2, 0xfc)),
        source: network(&class.from),
        destination: network(&class.to),
        protocol: class.protocol,
        source_ports: None,
        destination_ports: class.to_ports,
        queue: class.queue,
        rate: class.rate_bps.map(|rate| (rate, class.burst_bytes.unwrap_or_else(|| policing.burst(rate / 8)).max(Policing::MIN_BURST))),
    }
}

pub(crate) fn pfcp_config(config: &Config) -> Result<pfcp::config::Config, Failure> {
    use pfcp::codec::NodeId;
    let node_id = match config.n4.node_id.as_deref() {
        None => match config.n4.listen.ip() {
            IpAddr::V4(a) => NodeId::Ipv4(a),
            IpAddr::V6(a) => NodeId::Ipv6(a),
        },
        Some(text) => match text.parse() {
            Ok(IpAddr::V4(a)) => NodeId::Ipv4(a),
            Ok(IpAddr::V6(a)) => NodeId::Ipv6(a),
            Err(_) => NodeId::Fqdn(text.to_owned()),
        },
    };
    // The socket's, once it is bound.
    let started_at_ntp_s = 0;
    let mut out = pfcp::config::Config::new(node_id, config.n4.listen.ip(), started_at_ntp_s);
    for port in &config.ports {
        let interface = match port.role {
            Role::Access => Some(pfcp::rules::Interface::Access),
            Role::Cp => Some(pfcp::rules::Interface::CpFunction),
            Role::Both | Role::Core => None,
        };
        out.gtpu.extend(port.endpoints().into_iter().map(|ipv4| pfcp::config::GtpuAddress {
            ipv4,
            network_instance: Some(port.network_instance.to_lowercase()),
            interface,
            default: port.default,
        }));
    }
    // Where SEIDs and TEIDs come from: the system's randomness, seen by nobody else.
    out.seed = Some(rand::random());
    out.peers = crate::n4::allowed(&config.n4).peers;
    out.max_sessions = config.n4.max_sessions;
    out.max_sessions_per_peer = config.n4.max_sessions_per_peer.unwrap_or(config.n4.max_sessions);
    out.max_associations_per_peer = config.n4.max_associations_per_peer;
    out.messages_per_second = config.n4.messages_per_second;
    out.max_outstanding_per_peer = config.n4.max_outstanding_per_peer;
    out.max_answers_per_peer = config.n4.max_answers_per_peer;
    out.error_indications_per_second = config.n4.error_indications_per_second;
    out.heartbeat_period = (config.n4.heartbeat_s > 0).then(|| Duration::from_secs(config.n4.heartbeat_s));
    if config.n4.keep_lost_s > 0 {
        out.on_loss = pfcp::config::OnLoss::Keep(Some(Duration::from_secs(config.n4.keep_lost_s)));
    }
    out.records = config.n4.store.as_ref().map(|store| Duration::from_secs(store.counters_within_s));
    out.request_port = match config.n4.request_port {
        RequestPort::Standard => pfcp::config::RequestPort::Standard,
        RequestPort::Source => pfcp::config::RequestPort::Source,
    };
    for pool in &config.pools {
        let wrong = |what: &str| Failure::Usage(format!("pool.{what}: wrong IP version"));
        let ipv4 = match pool.ipv4.map(|p| p.network()) {
            Some((IpAddr::V4(a), len)) => Some((a, len)),
            None => None,
            Some(_) => return Err(wrong("ipv4")),
        };
        let ipv6 = match pool.ipv6.map(|p| p.network()) {
            Some((IpAddr::V6(a), len)) => Some((a, len)),
            None => None,
            Some(_) => return Err(wrong("ipv6")),
        };
        let network_instance = pool.network_instance.as_ref().map(|n| n.to_lowercase());
        out.ue_pools.push(pfcp::config::UePool { network_instance, ipv4, ipv6 });
    }
    Ok(out)
}
