//! A gNodeB of `p4/gnb.p4` between N3 and radio: the engine's worker on two sockets, and the thread that answers for what it punts.
//!
//! There is one worker: the program's registers are a worker's own, and a bearer's packets of both directions meet there.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use base::{MAX_PACKET, Packet};
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use engine::{Engine, Event, Ledger, Queues, Settings, ShapeSettings};
use pktio::{Port, UdpPort};
use shaper::codel::Law;

use super::control::Control;
use super::front::{self, OnInterfaces};
use super::{RunError, TICK_MS};
use crate::config::{self, Gnb, GnbTables};
use crate::control::{Action, Done};
use crate::counts::{Drops, Report};
use crate::pipeline::{Build, Host, N3, Pipeline, RADIO, WAIT_NS};

/// Events of the worker that wait for us; of more, packets are dropped as `punt_full`.
const EVENTS: usize = 4096;
/// Packets that wait for the radio's rate, at most, whatever the rate.
const WAITING: u32 = 1 << 17;

/// How often COUNTs are looked at. From high to its end is 2^30 packets: a minute and a half at 12 million a second.
const COUNTS_EVERY: Duration = Duration::from_secs(10);

/// A gNodeB of the program with its sockets.
pub struct OverPipeline {
    pipeline: Pipeline,
    engine: Engine,
    events: Receiver<Event>,
    host: Host,
    control: Control,
    counts_told: Instant,
    /// What is in front of the pipeline.
    on: Option<OnInterfaces>,
}

impl OverPipeline {
    /// Compiles the program, opens the sockets and starts the worker.
    pub(super) fn start(tables: GnbTables, config: Gnb, build: Build) -> Result<OverPipeline, RunError> {
        let (front, mut on) = front::load(&config, &build)?.unzip();
        let mut pipeline = Pipeline::behind(&config, build, front)?;
        let mut ports: Vec<(base::PortId, Box<dyn Port>)> = Vec::new();
        let n3 = config.n3.map(|address| SocketAddr::V4(config::gtpu(address)));
        for (label, id, address) in [("n3", N3, n3), ("radio.address", RADIO, config.radio.map(|radio| radio.address))] {
            let Some(SocketAddr::V4(address)) = address else { continue };
            let mut port = UdpPort::bind(label, address, None)?;
            // A radio carries PDU by PDU, and a capture of it shows them so.
            port.set_gso(id == N3);
            ports.push((id, Box::new(port)));
        }
        let (sender, events) = bounded(EVENTS);
        // How fast senders are is not the radio's matter: they are not slowed down by marks, but by what waits.
        let law = Law { target_ns: WAIT_NS, interval_ns: WAIT_NS };
        let limits = shaper::Limits { nodes: pipeline.bearers(), packets: WAITING, delay_ns: WAIT_NS, law };
        let vital_punts = pipeline.target.program().reason("gtpu_signalling").into_iter().collect();
        let (meter, delays, owed) = (pipeline.radio_rate(), Some(pipeline.delays()), Some(pipeline.owed()));
        let shape = Some(ShapeSettings { meter, queues: Queues::OneCell, limits, delays, owed });
        let settings = Settings { vital_punts, shape, ..Settings::default() };
        let engine = Engine::start(&pipeline.target, vec![ports], settings, sender)?;
        if let (Some(on), Some(front)) = (&mut on, &mut pipeline.front) {
            on.go_live(front)?;
        }
        Ok(OverPipeline {
            pipeline,
            engine,
            events,
            host: Host::new(&config),
            control: Control::start(tables, config)?,
            counts_told: Instant::now(),
            on,
        })
    }

    /// Carries packets while `goes_on` says so; what was counted.
    pub(super) fn run(mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<Report, RunError> {
        while goes_on() {
            match self.events.recv_timeout(Duration::from_millis(TICK_MS)) {
                Ok(event) => self.take(event)?,
                Err(RecvTimeoutError::Timeout) => {}
                // The worker has ended by itself.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let OverPipeline { pipeline, host, control, on, engine, .. } = &mut self;
            if let (Some(on), Some(front)) = (on.as_mut(), &mut pipeline.front) {
                on.tick(front);
            }
            control.serve(&mut |action| {
                if matches!(action, Action::Report) {
                    return Ok(Done::Report(counted(pipeline, host, &engine.ledger(), on.as_ref())));
                }
                let done = pipeline.act(action)?;
                if let Action::Change(change) = action {
                    host.change(change);
                }
                Ok(done)
            });
            if self.counts_told.elapsed() >= COUNTS_EVERY {
                self.pipeline.tell_of_counts();
                self.counts_told = Instant::now();
            }
            if let Some(why) = self.engine.failed() {
                return Err(RunError::Worker(why));
            }
        }
        if let Some(on) = &mut self.on {
            on.leave();
        }
        self.engine.stop();
        self.report()
    }

    fn take(&mut self, event: Event) -> Result<(), RunError> {
        match event {
            Event::Punt { packet, .. } => {
                if let Some(answer) = self.host.frame(packet.data()).filter(|frame| frame.len() <= MAX_PACKET) {
                    self.engine.transmit(N3, Packet::new(&answer, N3))?;
                }
            }
            Event::PortDown { port, why } => tracing::warn!("port {port} is down: {why}"),
            Event::PortUp { port } => tracing::info!("port {port} is used again"),
            // The program has no such buffers.
            Event::Buffering { .. } => {}
        }
        Ok(())
    }

    fn report(&self) -> Result<Report, RunError> {
        let ledger = self.engine.ledger();
        let in_front = self.on.as_ref().map_or(0, OnInterfaces::imbalance);
        match (ledger.imbalance() + in_front, self.pipeline.imbalance()) {
            (0, 0) => Ok(counted(&self.pipeline, &self.host, &ledger, self.on.as_ref())),
            (packets, calls) => Err(RunError::Imbalance { packets, calls }),
        }
    }
}

/// What was counted so far.
fn counted(pipeline: &Pipeline, host: &Host, ledger: &Ledger, on: Option<&OnInterfaces>) -> Report {
    let (mut ues, mut drops) = (BTreeMap::new(), Drops::new());
    pipeline.report(&mut ues);
    host.report(&mut ues, &mut drops);
    pipeline.drops(ledger.dropped.iter().map(|(code, count)| (*code, count.packets)), &mut drops);
    let lost = ledger.ports.values().map(|port| port.device);
    let lost = lost.fold([0; 3], |sum, of| [sum[0] + of.rx_full, sum[1] + of.rx_invalid, sum[2] + of.tx_invalid]);
    for (reason, packets) in ["socket.full", "socket.invalid", "unsent"].into_iter().zip(lost).filter(|(_, packets)| *packets > 0) {
        drops.insert(reason.to_owned(), packets);
    }
    on.iter().for_each(|on| on.drops(&mut drops));
    Report { ues: ues.into_values().collect(), drops }
}
