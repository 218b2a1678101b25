//! `splitplane run` as a switch in front of a foreign UPF (CeUPF, §2): the pipeline on its ports, and the operator's rules at run time.
//!
//! There is no PFCP here: rules come over a Unix socket ([`crate::manage::socket`]) and are kept by [`::ceupf::Book`]. A request is one
//! batch for the target, all or nothing, and bursts see all of it or nothing of it.

mod config;
pub mod requests;
pub mod rules;
#[cfg(test)]
mod tests;

pub use config::{Config, Where};

use crate::datapath::open::{OpenPort, Waiting, open_each, start_engine};
use crate::manage::report::{Count, PortReport, ProgramReport};
use crate::manage::socket::Server;
use crate::process::args::Args;
use ::ceupf::{Book, Idle, Installed, Refusal, Rule, Selector, Staged, Way};
use base::PortId;
use cli::failure::Failure;
use cli::input::{Input, Next};
use cli::report_file::ReportFile;
use crossbeam_channel::{Receiver, bounded};
use engine::{Engine, Event};
use p4_driver::Program;
use p4_driver::objects::Objects;
use requests::{MAX_REQUEST, Reply, Request, RuleLine, RuleRow};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use target_api::Target;

/// Runs until stopped.
pub fn run(config: &Config, args: &Args) -> Result<(), Failure> {
    let program = compile(config)?;
    Book::new(config.arrangement(), &program.ir.program).map_err(|e| Failure::Usage(e.to_string()))?;
    let objects = args.objects();
    check_compiler(config, &program, &objects)?;
    let mut report_file = args.report.as_deref().map(ReportFile::prepare).transpose()?;
    if args.check {
        let path = args.config.as_deref().unwrap_or(std::path::Path::new("upf.toml"));
        return cli::output::print_out(format_args!("{}: good\n", path.display()));
    }
    tracing::info!(program = program.ir.program.name, fingerprint = %program.ir.program.fingerprint, "compiled");
    let (ids, ports): (Vec<_>, Vec<_>) = config.ports().into_iter().unzip();
    let ports = open_each(&ports, ids, &config.workers, &config.dpdk, None)?;
    crate::process::privileges::drop_others(&config.all_ports(), false)?;
    let input = Input::listen_as_daemon(args.until_input_ends)?;
    let running = Ceupf::start_with(config, program, ports, objects)?;
    let server = Server::start(&config.ceupf.control, MAX_REQUEST, {
        let rules = running.rules.clone();
        move |request, _| rules.answer(request)
    })?;
    cli::output::line("ready");
    let mut before = Report::default();
    loop {
        if let Next::End = input.next(Duration::from_secs(1)) {
            break;
        }
        while let Some(signal) = input.other() {
            tracing::info!(?signal, "ignored");
        }
        running.log_events();
        running.rules.step_aside(running.start.elapsed());
        cli::log_limit::tell_left_out();
        if let Some(thread) = running.engine.failed() {
            return Err(Failure::Failed(format!("{thread} has failed: this is a bug")));
        }
        if args.live {
            let now = running.report();
            live_lines(&now, &before).iter().all(cli::output::line);
            before = now;
        }
    }
    server.stop();
    let report = running.stop();
    if let Some(file) = &mut report_file {
        file.write(&report)?;
    }
    if report.imbalance != 0 {
        return Err(Failure::Failed(format!("{} packets are not accounted for: this is a bug", report.imbalance)));
    }
    Ok(())
}

/// The program. A program of the operator's own is told how many rules it is to have room for; ours gets its room behind the compiler ([`fit`]), so that its code, which is
/// shipped, is the same for any number.
pub fn compile(config: &Config) -> Result<Program, Failure> {
    let program = match &config.program {
        Some(program) => Program::compile(program, &[], &[("RULES".to_owned(), config.ceupf.max_rules.to_string())])?,
        None => Program::compile(std::path::Path::new("ceupf.p4"), &[], &[])?,
    };
    program.makes_no_copies()?;
    Ok(program)
}

/// Gives our program's tables and counter of rules the room that the configuration wants.
fn fit(config: &Config, program: &mut program::Program) {
    if config.program.is_some() {
        return;
    }
    let rules = u64::from(config.ceupf.max_rules);
    for table in ["gtp_encap", "gtp_decap"].into_iter().filter_map(|name| program.table(name)).collect::<Vec<_>>() {
        program.tables[table].size = rules;
    }
    if let Some(counter) = program.counter("rules") {
        program.counters[counter].size = rules;
    }
}

/// Whether the program's code is there, or a compiler for it: `--check` must not call good what cannot start.
fn check_compiler(config: &Config, program: &Program, objects: &Objects) -> Result<(), Failure> {
    if config.ceupf.target == Where::Asic {
        return Ok(());
    }
    let key = if config.ceupf.cc.is_some() { "ceupf.cc: " } else { "" };
    let x86 = program.x86()?;
    if x86.bridge.is_some() {
        return Err(p4_driver::Error::Cut(x86.program.name.clone()).into());
    }
    target_x86::check(&x86.text, &options(config, objects.clone())).map_err(|e| Failure::Usage(format!("{key}{e}")))
}

fn options(config: &Config, Objects { shipped, cache }: Objects) -> target_x86::Options {
    // The seed keys the tables' hashes: traffic must not be able to aim at one hash bucket.
    target_x86::Options { cc: config.ceupf.cc.clone(), seed: rand::random(), shipped, cache, ..Default::default() }
}

/// A running switch.
pub struct Ceupf {
    /// What rules do, whatever their source.
    pub rules: Arc<Rules>,
    engine: Arc<Engine>,
    events: Receiver<Event>,
    start: Instant,
}

impl Ceupf {
    /// Starts workers on open ports, without rules.
    #[cfg(test)]
    pub fn start(config: &Config, program: Program, ports: Vec<OpenPort>) -> Result<Ceupf, Failure> {
        Ceupf::start_with(config, program, ports, Objects::default())
    }

    /// As [`Ceupf::start`], with the program's object from `objects`.
    pub fn start_with(config: &Config, program: Program, ports: Vec<OpenPort>, objects: Objects) -> Result<Ceupf, Failure> {
        let usage = |e: String| Failure::Usage(e);
        let target = load(config, program, objects)?;
        let book = Book::new(config.arrangement(), target.program()).map_err(|e| usage(e.to_string()))?;
        target.apply(&book.initial()).map_err(|e| usage(format!("the configuration does not fit the tables: {e}")))?;
        let names: BTreeMap<PortId, String> = config.ports().into_iter().map(|(id, port)| (id, port.name)).collect();
        let label = |port: &OpenPort| (port.id, names.get(&port.id).cloned().unwrap_or_default(), port.driver.clone());
        let labels = ports.iter().map(label).collect();
        let (sender, events) = bounded(1024);
        let engine = start_engine(&config.workers, &target, ports, Waiting::default(), sender);
        let engine = Arc::new(engine.map_err(|e| usage(e.to_string()))?);
        let idle = (config.ceupf.idle_s > 0).then(|| Idle::new(Duration::from_secs(config.ceupf.idle_s)));
        let rules = Arc::new(Rules {
            target,
            book: Mutex::new(book),
            idle: Mutex::new(idle),
            refused: Mutex::new(0),
            stepped_aside: Mutex::new(0),
            engine: engine.clone(),
            ports: labels,
        });
        Ok(Ceupf { rules, engine, events, start: Instant::now() })
    }

    /// What has been counted so far.
    pub fn report(&self) -> Report {
        let ledger = self.engine.ledger();
        let program = self.rules.target.program();
        let mut report = Report {
            elapsed_ms: self.start.elapsed().as_millis() as u64,
            program: (&**program).into(),
            target: self.rules.target.name().to_owned(),
            modelled: self.rules.target.capabilities().modelled,
            imbalance: ledger.imbalance(),
            refused: *lock(&self.rules.refused),
            ..Report::default()
        };
        for (id, name, driver) in &self.rules.ports {
            let count = ledger.ports.get(id).cloned().unwrap_or_default();
            let row = PortReport {
                driver: driver.clone(),
                received: count.received.into(),
                transmitted: count.transmitted.into(),
                lost_before_us: count.device.rx_full + count.device.rx_invalid,
                lost_after_us: count.device.tx_invalid,
                ..PortReport::default()
            };
            report.ports.insert(name.clone(), row);
        }
        report.dropped = ledger.dropped.iter().map(|(code, count)| (program.reason_name(*code), (*count).into())).collect();
        report.stepped_aside = *lock(&self.rules.stepped_aside);
        if let Reply::Rules { rules, ways, capacity, .. } = self.rules.list() {
            (report.rules, report.ways, report.capacity) = (rules, ways, capacity);
        }
        report
    }

    /// Ends the workers; the final counts.
    pub fn stop(self) -> Report {
        self.engine.stop();
        self.log_events();
        self.report()
    }

    /// The program punts and buffers nothing; ports may fail.
    fn log_events(&self) {
        for event in self.events.try_iter() {
            if let Event::PortDown { port, why } = event {
                let name = self.rules.ports.iter().find(|(id, ..)| *id == port).map_or("?", |(_, name, _)| name.as_str());
                tracing::error!(port = name, "port is down: {why}");
            }
        }
    }
}

/// Loads the program where the configuration wants it.
fn load(config: &Config, mut program: Program, objects: Objects) -> Result<Arc<dyn Target>, Failure> {
    program.resize(|program| fit(config, program));
    if config.ceupf.target == Where::Asic {
        let asic = target_asic::Asic::load(program.ir, target_asic::Chip::default());
        return Ok(Arc::new(asic.map_err(|e| Failure::Usage(e.to_string()))?));
    }
    Ok(Arc::from(program.x86()?.load(&options(config, objects), &[])?))
}

/// The installed rules and the target that holds them.
pub struct Rules {
    target: Arc<dyn Target>,
    book: Mutex<Book>,
    /// None: rules do not step aside.
    idle: Mutex<Option<Idle>>,
    /// Requests that were understood and could not be done.
    refused: Mutex<u64>,
    /// Rules that have stepped aside.
    stepped_aside: Mutex<u64>,
    /// Knows what was lost.
    engine: Arc<Engine>,
    /// Ports by number: name and driver.
    ports: Vec<(PortId, String, String)>,
}

/// A book is consistent between changes, so it can be used after a panic.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rules {
    /// Does what a request asks for, or says why not.
    pub fn answer(&self, request: Request) -> Reply {
        let reply = match request {
            Request::Add { rules } => self.change(&rules, |book, rules: &[Rule]| book.stage_add(rules)),
            Request::Delete { rules } => self.change(&rules, |book, which: &[Selector]| book.stage_delete(which)),
            Request::List {} => return self.list(),
        };
        reply.unwrap_or_else(|error| {
            *lock(&self.refused) += 1;
            error
        })
    }

    fn change<T: std::str::FromStr<Err = ::ceupf::RuleError>>(
        &self,
        lines: &[RuleLine],
        stage: impl Fn(&Book, &[T]) -> Result<Staged, Refusal>,
    ) -> Result<Reply, Reply> {
        let error = |at: usize, message: String| Reply::Error { line: lines.get(at).map(|l| l.line), message };
        let parsed: Vec<T> = lines
            .iter()
            .enumerate()
            .map(|(at, line)| line.text.parse().map_err(|e: ::ceupf::RuleError| error(at, e.to_string())))
            .collect::<Result<_, _>>()?;
        let mut book = lock(&self.book);
        let staged = stage(&book, &parsed).map_err(|refusal| error(refusal.position, refusal.why.to_string()))?;
        // Those that go are shown with what they have counted until now.
        let touched = if staged.deleted().is_empty() { staged.added() } else { staged.deleted() };
        let rows = touched.iter().map(|installed| self.row(&book, installed, !staged.deleted().is_empty())).collect();
        self.target.apply(&staged.batch).map_err(|e| Reply::Error { line: None, message: format!("nothing was changed: {e}") })?;
        book.commit(staged);
        Ok(Reply::Changed { rules: rows })
    }

    /// All rules with what they have counted, and what went which way.
    pub fn list(&self) -> Reply {
        let book = lock(&self.book);
        let rules = book.rules().map(|installed| self.row(&book, installed, true)).collect();
        let way = |(way, name): (Way, &str)| (name.to_owned(), Count::from(self.target.counter(book.ways(), way as u64)));
        Reply::Rules { rules, ways: Way::ALL.map(way).into_iter().collect(), capacity: book.capacity(), lost: self.lost() }
    }

    /// Packets that the switch itself has lost, by port or reason; what is 0 is left out.
    fn lost(&self) -> BTreeMap<String, u64> {
        let (ledger, program) = (self.engine.ledger(), self.target.program());
        let by_reason = ledger.dropped.iter().map(|(code, count)| (program.reason_name(*code), count.packets));
        let by_port = self.ports.iter().flat_map(|(id, name, _)| {
            let device = ledger.ports.get(id).map(|port| port.device).unwrap_or_default();
            [(format!("{name}.lost_before_us"), device.rx_full + device.rx_invalid), (format!("{name}.lost_after_us"), device.tx_invalid)]
        });
        by_reason.chain(by_port).filter(|(_, packets)| *packets > 0).collect()
    }

    /// Takes the rules of UEs away that have been silent for too long: their packets go through the foreign UPF again.
    fn step_aside(&self, now: Duration) {
        let mut book = lock(&self.book);
        let mut idle = lock(&self.idle);
        let Some(idle) = idle.as_mut() else { return };
        let packets = |installed: &Installed| self.target.counter(book.hits(), installed.cell.into()).packets;
        let silent: Vec<Selector> = idle.look(&book, packets, now).into_iter().map(Selector::Id).collect();
        if silent.is_empty() {
            return;
        }
        let staged = book.stage_delete(&silent).map_err(|refusal| refusal.to_string());
        let done = staged.and_then(|staged| self.target.apply(&staged.batch).map(|()| staged).map_err(|e| e.to_string()));
        match done {
            Ok(staged) => {
                let first: Vec<String> = staged.deleted().iter().take(4).map(|of| of.rule.to_string()).collect();
                tracing::info!("{} rules of silent UEs have stepped aside: {}", staged.deleted().len(), first.join(", "));
                *lock(&self.stepped_aside) += staged.deleted().len() as u64;
                book.commit(staged);
            }
            // They stay, and are tried again.
            Err(why) => tracing::warn!("rules of silent UEs stay: {why}"),
        }
    }

    /// `counted`: the rule's cell is its own already.
    fn row(&self, book: &Book, installed: &Installed, counted: bool) -> RuleRow {
        let count = if counted { self.target.counter(book.hits(), installed.cell.into()).into() } else { Count::default() };
        RuleRow { id: installed.id, rule: installed.rule.to_string(), packets: count.packets, bytes: count.bytes }
    }
}

/// What the switch has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Milliseconds since start.
    pub elapsed_ms: u64,
    /// What runs.
    pub program: ProgramReport,
    /// Where the pipeline runs.
    pub target: String,
    /// Whether that is a model.
    pub modelled: bool,
    /// By port name.
    pub ports: BTreeMap<String, PortReport>,
    /// Packets by path; bytes of frames as received.
    pub ways: BTreeMap<String, Count>,
    /// Rules with their hits.
    pub rules: Vec<RuleRow>,
    /// Rules that fit.
    pub capacity: u32,
    /// Requests of operators that were refused.
    pub refused: u64,
    /// Rules that stepped aside, as their UEs were silent.
    pub stepped_aside: u64,
    /// Packets dropped, by reason.
    pub dropped: BTreeMap<String, Count>,
    /// Received less accounted for: zero, or a defect.
    pub imbalance: i64,
}

/// A line for the seconds since `before`: packets a second by way.
fn live_lines(now: &Report, before: &Report) -> Vec<String> {
    let seconds = ((now.elapsed_ms - before.elapsed_ms) as f64 / 1e3).max(1e-3);
    let rate = |(_, name): (Way, &str)| {
        let packets = |report: &Report| report.ways.get(name).copied().unwrap_or_default().packets;
        format!("{name} {:.0}/s", packets(now).saturating_sub(packets(before)) as f64 / seconds)
    };
    let mut parts: Vec<String> = Way::ALL.map(rate).to_vec();
    parts.push(format!("{} rules", now.rules.len()));
    parts.extend(now.dropped.iter().map(|(reason, count)| format!("dropped as {reason} {}", count.packets)));
    vec![parts.join("  ")]
}
