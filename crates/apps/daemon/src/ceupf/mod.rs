//! `splitplane run` as a switch in front of a foreign UPF (CeUPF, §2): the pipeline on its ports, and the operator's rules at run time.
//!
//! There is no PFCP here: rules come over a Unix socket ([`crate::control_socket`]) and are kept by [`::ceupf::Book`]. A request is one
//! batch for the target, all or nothing, and bursts see all of it or nothing of it.

mod config;
pub mod requests;
#[cfg(test)]
mod tests;

pub use config::{Config, Where};

use crate::control_socket::Server;
use crate::failure::Failure;
use crate::input::{Input, Next};
use crate::objects::Objects;
use crate::report::{Count, PortReport, ProgramReport};
use crate::report_file::ReportFile;
use crate::run::{Args, OpenPort};
use ::ceupf::{Book, Installed, Refusal, Rule, Selector, Staged, Way};
use base::PortId;
use crossbeam_channel::{Receiver, bounded};
use engine::{Engine, Event};
use p4_ir::Ir;
use requests::{MAX_REQUEST, Reply, Request, RuleLine, RuleRow};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use target::Target;

/// Runs until stopped.
pub fn run(config: &Config, args: &Args) -> Result<(), Failure> {
    let ir = compile(config)?;
    Book::new(config.arrangement(), &ir.program).map_err(|e| Failure::Usage(e.to_string()))?;
    let mut report_file = args.report.as_deref().map(ReportFile::prepare).transpose()?;
    if args.check {
        let path = args.config.as_deref().unwrap_or(std::path::Path::new("upf.toml"));
        return crate::output::print_out(format_args!("{}: good\n", path.display()));
    }
    tracing::info!(program = ir.program.name, fingerprint = %ir.program.fingerprint, "compiled");
    let (ids, ports): (Vec<_>, Vec<_>) = config.ports().into_iter().unzip();
    let ports = crate::run::open_each(&ports, ids, &config.workers, &config.dpdk, None)?;
    crate::privileges::drop_others(&config.all_ports(), false)?;
    let input = Input::listen_as_daemon(args.until_input_ends)?;
    let running = Ceupf::start_with(config, ir, ports, args.objects())?;
    let server = Server::start(&config.ceupf.control, MAX_REQUEST, {
        let rules = running.rules.clone();
        move |request, _| rules.answer(request)
    })?;
    crate::output::line("ready");
    let mut before = Report::default();
    loop {
        if let Next::End = input.next(Duration::from_secs(1)) {
            break;
        }
        while let Some(signal) = input.other() {
            tracing::info!(?signal, "ignored");
        }
        running.log_events();
        crate::log_limit::tell_left_out();
        if let Some(thread) = running.engine.failed() {
            return Err(Failure::Failed(format!("{thread} has failed: this is a bug")));
        }
        if args.live {
            let now = running.report();
            live_lines(&now, &before).iter().all(crate::output::line);
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

/// The program with room for the rules that the configuration wants.
pub fn compile(config: &Config) -> Result<Ir, Failure> {
    let program = config.program.clone().unwrap_or_else(|| PathBuf::from("ceupf.p4"));
    crate::program::compile(&program, &[], &[("RULES".to_owned(), config.ceupf.max_rules.to_string())])
}

/// A running switch.
pub struct Ceupf {
    /// What rules do, whatever their source.
    pub rules: Arc<Rules>,
    engine: Engine,
    events: Receiver<Event>,
    /// Ports by number: name and driver.
    ports: Vec<(PortId, String, String)>,
    start: Instant,
}

impl Ceupf {
    /// Starts workers on open ports, without rules.
    #[cfg(test)]
    pub fn start(config: &Config, ir: Ir, ports: Vec<OpenPort>) -> Result<Ceupf, Failure> {
        Ceupf::start_with(config, ir, ports, Objects::default())
    }

    /// As [`Ceupf::start`], with the program's object from `objects`.
    pub fn start_with(config: &Config, ir: Ir, ports: Vec<OpenPort>, objects: Objects) -> Result<Ceupf, Failure> {
        let usage = |e: String| Failure::Usage(e);
        let book = Book::new(config.arrangement(), &ir.program).map_err(|e| usage(e.to_string()))?;
        let target = load(config, ir, objects)?;
        target.apply(&book.initial()).map_err(|e| usage(format!("the configuration does not fit the tables: {e}")))?;
        let names: BTreeMap<PortId, String> = config.ports().into_iter().map(|(id, port)| (id, port.name)).collect();
        let label = |port: &OpenPort| (port.id, names.get(&port.id).cloned().unwrap_or_default(), port.driver.clone());
        let labels = ports.iter().map(label).collect();
        let (sender, events) = bounded(1024);
        let engine = crate::run::start_engine(&config.workers, &target, ports, crate::run::Waiting::default(), sender);
        let engine = engine.map_err(|e| usage(e.to_string()))?;
        let rules = Arc::new(Rules { target, book: Mutex::new(book), refused: Mutex::new(0) });
        Ok(Ceupf { rules, engine, events, ports: labels, start: Instant::now() })
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
        for (id, name, driver) in &self.ports {
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
        if let Reply::Rules { rules, ways, capacity } = self.rules.list() {
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
                let name = self.ports.iter().find(|(id, ..)| *id == port).map_or("?", |(_, name, _)| name.as_str());
                tracing::error!(port = name, "port is down: {why}");
            }
        }
    }
}

/// Loads the program where the configuration wants it.
fn load(config: &Config, ir: Ir, objects: Objects) -> Result<Arc<dyn Target>, Failure> {
    if config.ceupf.target == Where::Asic {
        let asic = target_asic::Asic::load(Arc::new(ir), target_asic::Chip::default());
        return Ok(Arc::new(asic.map_err(|e| Failure::Usage(e.to_string()))?));
    }
    let text = p4_emit::emit_x86(&ir).map_err(|e| Failure::Usage(format!("{}: {e}", ir.program.name)))?;
    // The seed keys the tables' hashes: traffic must not be able to aim at one hash bucket.
    let Objects { shipped, cache } = objects;
    let options = target_x86::Options { cc: config.ceupf.cc.clone(), seed: rand::random(), shipped, cache, ..Default::default() };
    let x86 = target_x86::X86::load(Arc::new(ir.program), &text, &options).map_err(|e| Failure::Usage(e.to_string()))?;
    Ok(Arc::new(x86))
}

/// The installed rules and the target that holds them.
pub struct Rules {
    target: Arc<dyn Target>,
    book: Mutex<Book>,
    /// Requests that were understood and could not be done.
    refused: Mutex<u64>,
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
        Reply::Rules { rules, ways: Way::ALL.map(way).into_iter().collect(), capacity: book.capacity() }
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
