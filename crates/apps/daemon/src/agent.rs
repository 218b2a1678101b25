//! The control plane's one thread: N4 messages, punted packets and time, in the order in which they come.
//!
//! A PFCP message: `receive_n4` → `pfcp::Node::receive` → `upf::Plane` → `EngineAndTargets::apply` → answer by `flush`.

use crate::carried::Punted;
use crate::config::{Config, Role};
use crate::dataplane::{EngineAndTargets, Targets};
use crate::kernel::Kernel;
use crate::look::{self, Look, LookQuery};
use crate::n4_socket::{Datagram, Datagrams, Output};
use crate::placement::Placement;
use crate::reload::{Reloaded, Running};
use crate::report::{
    BurstTime, Count, MessageCount, MoveReport, OffloadReport, PeerReport, PortReport, PuntReport, QueueReport, Report, SessionCount,
    ShapedReport, TableReport, TargetReport, WorkerReport,
};
use crate::sessions::{SessionDetail, SessionPage, SessionQuery};
use crate::store::{HeldLease, Store};
use base::{Packet, PortId};
use crossbeam_channel::{Receiver, SendError, Sender, select};
use engine::Engine;
use offload::comeback::Event;
use offload::{Comeback, Split};
use p4_ir::Ir;
use pfcp::node::{Node, SessionView};
use pfcp::rules::{CommitError, Counters, OuterHeader, Seid, SessionRules, Usage, UserPlane, VolumeLimit};
use pfcp::stats::MessageCounts;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use target::Ahead;
use upf::host::Action;
use upf::plane::Plane;

/// Period of looking at neighbours and retransmissions; volume limits have a time of their own.
const TICK: Duration = Duration::from_millis(50);
/// Ticks from one look for free pages of the allocator's to the next: large ones go after four, within a second.
const TICKS_PER_RETIREMENT: u32 = 5;
/// Moves of sessions that are kept for reports.
const DECISIONS: usize = 64;
/// Limit of worker events processed before a tick.
const EVENTS_BEFORE_TICK: usize = 1024;
/// N4 messages that are answered before other work has its turn, at most.
const MESSAGES_AT_ONCE: usize = 64;
/// Of these, how many are given to the store together: a millisecond's work at most, and its thread is woken once.
const WRITTEN_TOGETHER: usize = 16;
/// Events of the backlog that are dealt with from one look at N4 to the next.
const EVENTS_AT_ONCE: usize = 256;
/// At the end, how long final usage reports may be without any being acknowledged: a retransmission or two.
const FINALS_PATIENCE: Duration = Duration::from_secs(4);
/// Ended sessions whose last counts are kept for the report.
const ENDED_KEPT: usize = 100_000;
/// Sessions that are counted for a report from one look at N4 to the next.
const COUNTED_AT_ONCE: usize = 512;

/// What the agent is asked from outside.
pub enum Request {
    /// A snapshot, without single sessions.
    Report {
        /// Where it goes.
        reply: Sender<Report>,
    },
    /// Counts of some sessions, of those that have ended too.
    Counts {
        /// The first ones, or where the last answer said.
        from: CountsFrom,
        /// Where they go, and where to go on; `None`: these were the last.
        reply: Sender<(Vec<SessionCount>, Option<CountsFrom>)>,
    },
    /// Sessions that are asked for, among the next few: see [`Agent::sessions_page`].
    Sessions {
        /// Which, checked.
        query: SessionQuery,
        /// Where they go.
        reply: Sender<SessionPage>,
    },
    /// One session whole; `None`: there is none.
    Session {
        /// Our SEID.
        seid: Seid,
        /// Where it goes.
        reply: Sender<Option<SessionDetail>>,
    },
    /// New associations and sessions are refused from now on, or no longer.
    Drain {
        /// Refused.
        on: bool,
        /// Called when it is done.
        reply: Sender<()>,
    },
    /// The configuration is this one from now on, or nothing changes.
    Reload {
        /// Valid by itself.
        config: Box<Config>,
        /// The text that it was made from, which must still be the one that runs.
        based_on: Option<String>,
        /// Only says what would change.
        dry_run: bool,
        /// What changes, or why nothing does.
        reply: Sender<Result<Reloaded, String>>,
    },
    /// The text of the configuration that runs.
    Text {
        /// `None`: there is none.
        reply: Sender<Option<String>>,
    },
    /// Copies of the next packets are asked for.
    Look {
        /// Which, checked.
        query: LookQuery,
        /// Who asks, for the audit log.
        who: String,
        /// The number to ask with.
        reply: Sender<u32>,
    },
    /// What was seen since the last question.
    Seen {
        /// The number.
        id: u32,
        /// With what stories are told by.
        story: bool,
        /// Some packets, or why there are none.
        reply: Sender<Result<look::Part, String>>,
    },
    /// No more packets are asked for.
    EndLook {
        /// The number.
        id: u32,
        /// Called when it is done.
        reply: Sender<()>,
    },
    /// Stop: sessions are released, peers are notified.
    Stop,
}

/// Where a list of all sessions' counts goes on: those that live, then those that have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountsFrom {
    /// Behind this SEID.
    Live(Option<Seid>),
    /// Without the first so many.
    Ended(usize),
}

/// A port's name, driver and side, for reports.
#[derive(Clone, Debug)]
pub struct PortLabel {
    /// Number in the data plane.
    pub id: PortId,
    /// Name in the configuration.
    pub name: String,
    /// Driver in use.
    pub driver: String,
    /// What it is for: user packets that arrive by another port than one to the core are uplink.
    pub role: Role,
    /// Its network instance.
    pub network_instance: String,
    /// Whether its interface is away, and how often it was there again.
    pub down: bool,
    /// See [`PortLabel::down`].
    pub reopened: u64,
}

/// The control plane.
pub struct Agent {
    /// N4 sessions.
    pub node: Node,
    /// Rules to entries, and the host.
    pub plane: Plane<EngineAndTargets>,
    /// Targets, for reports and the host's entries.
    pub targets: Targets,
    /// What the program calls beside the pipeline.
    pub services: crate::services::Running,
    /// Workers.
    pub engine: Arc<Engine>,
    /// The program in the kernel, if there is one.
    pub kernel: Option<Kernel>,
    /// What N4 sends.
    pub output: Arc<Output>,
    /// Messages that N4's queue had no room for.
    pub n4_dropped: Arc<AtomicU64>,
    /// Where N4's sessions survive a crash, if that is asked for.
    pub store: Option<Store>,
    /// Sessions stay in the store when the UPF is stopped.
    pub keeps_sessions: bool,
    /// XDP's program goes on while the daemon is away: `split.keep`.
    pub xdp_stays: bool,
    /// At the end peers may take so long to release their associations.
    pub graceful_release: Option<Duration>,
    /// Peers were asked to, and this is when the time is over.
    pub leaves_by: Option<Instant>,
    /// Ports, for reports.
    pub ports: Vec<PortLabel>,
    /// Sessions that are gone.
    pub ended: Vec<SessionCount>,
    /// What workers tell, and what of it was looked through already and is to be dealt with first.
    pub events: Receiver<engine::Event>,
    /// See [`Agent::events`].
    pub backlog: VecDeque<engine::Event>,
    /// Punted packets without a consumer, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// What was punted, by port.
    pub punted: Punted,
    /// Frames of the host that could not be sent, by reason.
    pub host_unsent: BTreeMap<&'static str, u64>,
    /// The last moves of sessions, oldest first.
    pub decisions: VecDeque<MoveReport>,
    /// What moves sessions between targets, where that is asked for.
    pub placement: Option<Placement>,
    /// What brings a fast target back that fell over, and its sessions.
    pub comeback: Comeback,
    /// Time zero: the recovery time stamp.
    pub start: Instant,
    /// Time at the start of this process.
    pub age: Duration,
    /// Whether nothing is punted any more: what was has its fate.
    pub stopped: bool,
    /// Why it ended, if it was not asked to.
    pub failed: Option<String>,
    /// Sessions still to be released at shutdown.
    pub still_ending: Arc<AtomicUsize>,
    /// Set when all targets have come into service since the start.
    pub ready: Arc<AtomicBool>,
    /// Ticks since the start, modulo their type.
    pub ticks: u32,
    /// The configuration in use, where it can change.
    pub running: Option<Running>,
    /// Sessions behind this one are to be looked at again: their place may be another by a changed configuration.
    pub reconsidering: Option<Option<Seid>>,
    /// Who looks at packets.
    pub look: Option<Look>,
    /// The program, by which packets' stories are told; `None`: none are.
    pub ir: Option<Arc<Ir>>,
    /// Of a store that is closed. The last to be dropped: another node serves when this one's ports are closed.
    pub lease: Option<HeldLease>,
}

impl Agent {
    /// Runs until [`Request::Stop`], or until a thread of the engine's has failed: a UPF that is up and forwards nothing is worse than
    /// one that is gone.
    pub fn run(&mut self, datagrams: &Datagrams, requests: &Receiver<Request>) {
        let (mut next_tick, mut next_poll) = (Instant::now(), Instant::now());
        let events = self.events.clone();
        // What ended sessions were in is free, and an idle agent asks for nothing by which the allocator would come to give it back.
        let _returner = allocator::Returner::start().inspect_err(|e| tracing::error!("no thread that gives memory back: {e}"));
        loop {
            let (waiting, room) = datagrams.backlog();
            self.node.note_backlog(waiting, room, self.start.elapsed());
            select! {
                recv(datagrams.heartbeats) -> datagram => if let Ok(datagram) = datagram { self.receive_n4(&datagram) },
                recv(datagrams.others) -> datagram => if let Ok(datagram) = datagram {
                    self.receive_n4(&datagram);
                    self.receive_waiting(datagrams, MESSAGES_AT_ONCE - 1);
                },
                recv(events) -> event => if let Ok(event) = event { self.event(event) },
                recv(requests) -> request => match request {
                    Ok(Request::Stop) if self.leaves_by.is_none() && self.begin_release() => {}
                    Ok(Request::Stop) | Err(_) => return self.stop(datagrams),
                    Ok(asked) => self.answer(asked),
                },
                default(if self.backlog.is_empty() { self.until_next(next_tick.min(next_poll)) } else { Duration::ZERO }) => {}
            }
            self.plane.data_mut().poll();
            self.deal_with_backlog(EVENTS_AT_ONCE);
            if Instant::now() >= next_tick {
                // A neighbour whose answer waits here has not been silent, whatever kept us from it.
                (0..EVENTS_BEFORE_TICK).map_while(|_| events.try_recv().ok()).for_each(|event| self.event(event));
                self.tick();
                if let Some(thread) = self.engine.failed() {
                    self.failed = Some(format!("{thread} has failed: this is a bug"));
                    return self.stop(datagrams);
                }
                next_tick = Instant::now() + TICK;
            }
            if Instant::now() >= next_poll {
                self.poll_usage();
                next_poll = Instant::now() + self.node.next_poll();
            }
            self.node_timeout();
            self.checkpoint();
            self.flush();
            if let Some(by) = self.leaves_by {
                let left = by.saturating_duration_since(Instant::now());
                // Who waits for the end sees that it comes nearer.
                self.still_ending.store(left.as_millis() as usize, Ordering::Relaxed);
                if left.is_zero() || self.node.associations().next().is_none() {
                    return self.stop(datagrams);
                }
            }
        }
    }

    /// Asks peers to release their associations, and goes on meanwhile; whether that is wanted, and there are any.
    fn begin_release(&mut self) -> bool {
        let keeps = self.keeps_sessions && self.store.as_ref().is_some_and(Store::is_good);
        let Some(period) = self.graceful_release.filter(|_| !keeps && self.node.associations().next().is_some()) else { return false };
        tracing::info!(seconds = period.as_secs(), "peers are asked to release their associations");
        self.node.begin_release(period, self.start.elapsed());
        self.leaves_by = Some(Instant::now() + period);
        true
    }

    /// Has counters recorded that have moved: a slice of them, as messages may wait.
    fn checkpoint(&mut self) {
        let now = self.start.elapsed();
        if self.node.next_checkpoint().is_some_and(|at| at <= now) {
            self.node.checkpoint(now, &mut WithLastCounts { plane: &mut self.plane, ended: &mut self.ended });
        }
    }

    /// Who asked may have gone.
    fn answer(&mut self, asked: Request) {
        match asked {
            Request::Report { reply } => drop(reply.send(self.report(false))),
            Request::Counts { from, reply } => drop(reply.send(self.counts(from))),
            Request::Sessions { query, reply } => drop(reply.send(self.sessions_page(&query))),
            Request::Session { seid, reply } => drop(reply.send(self.session_detail(seid))),
            Request::Drain { on, reply } => {
                self.node.set_draining(on);
                let _ = reply.send(());
            }
            Request::Reload { config, based_on, dry_run, reply } => {
                let running = self.running.as_ref().map(|running| &running.config.source.text);
                let stale = based_on.is_some_and(|text| running != Some(&text));
                let changed_meanwhile = || Err("the configuration has changed meanwhile; nothing was changed".to_owned());
                let answer = if stale { changed_meanwhile() } else { self.reload(*config, dry_run) };
                if let Err(SendError(answer)) = reply.send(answer)
                    && !dry_run
                {
                    let (value, outcome) = answer.map_or_else(|why| (String::new(), why), |of| (of.changes.join("; "), of.outcome()));
                    tracing::info!(target: "audit", what = "reload", value, outcome, "audit: late, and nobody waited for the answer");
                }
            }
            Request::Text { reply } => drop(reply.send(self.running.as_ref().map(|running| running.config.source.text.clone()))),
            Request::Look { query, who, reply } => drop(reply.send(self.look(&query, who))),
            Request::Seen { id, story, reply } => drop(reply.send(self.seen(id, story))),
            Request::EndLook { id, reply } => {
                self.end_look_of(id);
                let _ = reply.send(());
            }
            Request::Stop => {}
        }
    }

    fn poll_usage(&mut self) {
        self.node.poll_usage(self.start.elapsed(), &mut WithLastCounts { plane: &mut self.plane, ended: &mut self.ended });
    }

    /// Does what is due in the node: a slice of it, as messages may wait.
    fn node_timeout(&mut self) {
        let now = self.start.elapsed();
        if self.node.next_deadline().is_some_and(|at| at <= now) {
            self.node.handle_timeout(now, &mut WithLastCounts { plane: &mut self.plane, ended: &mut self.ended });
        }
    }

    fn receive_n4(&mut self, (from, bytes): &Datagram) {
        let now = self.start.elapsed();
        self.node.receive(*from, bytes, now, &mut WithLastCounts { plane: &mut self.plane, ended: &mut self.ended });
    }

    fn receive_waiting(&mut self, datagrams: &Datagrams, most: usize) {
        for (n, datagram) in std::iter::from_fn(|| datagrams.try_next()).take(most).enumerate() {
            self.receive_n4(&datagram);
            // Answers do not wait for the messages behind them, but for those that are written to the store with theirs.
            if self.store.is_none() || (n + 1) % WRITTEN_TOGETHER == 0 {
                self.flush();
            }
        }
        self.flush();
    }

    fn event(&mut self, event: engine::Event) {
        self.backlog.push_back(event);
        self.deal_with_backlog(1);
    }

    fn deal_with_backlog(&mut self, most: usize) {
        for _ in 0..most {
            let Some(event) = self.backlog.pop_front() else { return };
            self.deal_with(event);
        }
    }

    fn deal_with(&mut self, event: engine::Event) {
        let now = self.start.elapsed();
        match event {
            engine::Event::Punt { packet, reason, mark } => {
                self.punted.came(packet.port, packet.len());
                let actions = self.plane.punt(packet.data(), packet.port, reason, mark, now);
                self.act(actions);
            }
            engine::Event::Buffering { queue: pdr } => match self.plane.pdr(pdr) {
                Some((seid, pdr_id)) => self.node.downlink_data(seid, pdr_id, now),
                // The session went while its packet was on the way here.
                None => tracing::debug!(pdr, "packets are buffered for a PDR that no longer exists"),
            },
            engine::Event::PortDown { port, why } => {
                for label in self.ports.iter_mut().filter(|p| p.id == port) {
                    label.down = true;
                    tracing::error!(port = label.name, "port is down: {why}");
                }
            }
            engine::Event::PortUp { port } => {
                for label in self.ports.iter_mut().filter(|p| p.id == port) {
                    (label.down, label.reopened) = (false, label.reopened + 1);
                    tracing::warn!(port = label.name, "port is up again; our MAC address on it stays as it was");
                }
                let (host, _) = self.plane.host_and_data();
                let actions = host.port_up(port, now);
                self.act(actions);
            }
        }
    }

    /// Lets go what waits for a neighbour, with what workers have punted for it since, before anything that comes later.
    fn resolved(&mut self, number: u16) -> Result<(), String> {
        let Agent { plane, events, backlog, punted, .. } = self;
        let mut released = upf::host::Released::default();
        let (mut late, mut others) = (Vec::new(), VecDeque::new());
        let (host, data) = plane.host_and_data();
        let result = data.release(|| {
            for event in std::mem::take(backlog).into_iter().chain(events.try_iter()) {
                match event {
                    engine::Event::Punt { packet, reason, mark }
                        if host.punted_for(packet.data(), packet.port, reason, mark) == Some(number) =>
                    {
                        punted.came(packet.port, packet.len());
                        late.push(packet);
                    }
                    event => others.push_back(event),
                }
            }
            let of = |packet: &Packet| (packet.port, packet.data().to_vec());
            released = host.release(number, late.iter().map(of));
            let waiting = std::mem::take(&mut released.packets);
            waiting.iter().for_each(|(port, frame)| punted.went_back(*port, frame.len()));
            (std::mem::take(&mut released.batch), waiting.iter().map(|(port, frame)| Packet::new(frame, *port)).collect())
        });
        *backlog = others;
        for (port, frame) in released.own {
            upf::plane::DataPlane::transmit(self.plane.data_mut(), port, frame);
        }
        result
    }

    pub(crate) fn act(&mut self, actions: Vec<Action>) {
        for action in actions {
            let result = match action {
                Action::Transmit { port, frame } => {
                    upf::plane::DataPlane::transmit(self.plane.data_mut(), port, frame);
                    Ok(())
                }
                Action::Reinject { port, frame } if frame.len() <= base::MAX_PACKET => {
                    self.punted.went_back(port, frame.len());
                    self.engine.inject(vec![Packet::new(&frame, port)]).map_err(|e| e.to_string())
                }
                Action::Reinject { .. } => Err("a frame to go round again is too long".into()),
                Action::Apply(batch) => self.plane.data_mut().apply(batch).map_err(|e| e.to_string()),
                Action::Resolved { number } => self.resolved(number),
                Action::Unsent { reason } => {
                    *self.host_unsent.entry(reason).or_default() += 1;
                    Ok(())
                }
                Action::Path { peer, works } => {
                    self.node.gtpu_path(peer, works, self.start.elapsed());
                    Ok(())
                }
                Action::ErrorIndication { peer, teid } => {
                    self.node.error_indication(teid, peer.into(), self.start.elapsed());
                    Ok(())
                }
                Action::Drop { reason } => {
                    *self.refused.entry(reason).or_default() += 1;
                    Ok(())
                }
                // The plane has handed it on already.
                Action::EndMarker { .. } => Ok(()),
            };
            if let Err(why) = result {
                tracing::error!("host function failed: {why}");
            }
        }
    }

    fn tick(&mut self) {
        let now = self.start.elapsed();
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(TICKS_PER_RETIREMENT) {
            allocator::retire();
        }
        let actions = self.plane.poll(now);
        self.act(actions);
        self.engine.age_buffers();
        self.look_tick();
        if let Some(kernel) = &mut self.kernel {
            kernel.tick();
        }
        if let Targets::Split(split) = &self.targets.clone() {
            self.take_into_service(split);
            self.reconsider(split, now);
            self.bring_back(split, now.as_nanos() as u64);
            if let Some(placement) = &mut self.placement {
                placement.tick(now, packets_now(), &mut self.plane, split);
            }
            self.take_decisions(split);
        }
    }

    /// Moves that were made or tried since the last time.
    fn take_decisions(&mut self, split: &Split) {
        let at_ms = self.start.elapsed().as_millis() as u64;
        self.decisions.extend(split.take_decisions().into_iter().map(|of| MoveReport::new(of, at_ms)));
        self.decisions.drain(..self.decisions.len().saturating_sub(DECISIONS));
    }

    /// Gives XDP what it must hold when the kernel has verified its program.
    fn take_into_service(&mut self, split: &Split) {
        let Some(kernel) = &mut self.kernel else { return };
        let Some(is_good) = kernel.verified() else { return };
        if is_good {
            match split.recover() {
                Ok(()) => kernel.say_active(),
                // As one that has fallen over, it is tried again.
                Err(why) => tracing::warn!("XDP does not come into service: {why}"),
            }
        }
        self.ready.store(true, Ordering::Release);
    }

    /// Rebuilds a retired fast target, and restores its sessions if no planner moves them.
    fn bring_back(&mut self, split: &Split, now_ns: u64) {
        if self.kernel.as_ref().is_some_and(|kernel| kernel.is_pending() || kernel.is_refused()) {
            return;
        }
        let name = split.fast().name();
        let seconds = |ns: u64| ns as f64 / 1e9;
        match self.comeback.tick(split, now_ns) {
            None => {}
            Some(Event::FellOver { retry_in_ns }) => {
                tracing::warn!(
                    "{name} is out of service: its sessions run on {}; next attempt in {:.0} s",
                    split.base().name(),
                    seconds(retry_in_ns)
                );
            }
            Some(Event::StaysOut { attempts, why, retry_in_ns }) => {
                tracing::warn!(
                    "{name} stays out of service after attempt {attempts} ({why}); next attempt in {:.0} s",
                    seconds(retry_in_ns)
                );
            }
            Some(Event::CameBack { attempts, out_ns }) => {
                tracing::info!("{name} is back in service after {:.1} s, at attempt {attempts}", seconds(out_ns));
            }
        }
        let plane = &self.plane;
        let copy = |seid: u64| Some((plane.data().wishes().of(&plane.info(seid)?), plane.copy(seid)?));
        let executed = self.comeback.bring_back(split, now_ns, copy);
        if executed != Default::default() {
            tracing::debug!(executed.to_fast, executed.failed, "sessions restored");
        }
    }

    fn flush(&mut self) {
        let datagrams = std::iter::from_fn(|| self.node.poll_transmit());
        match &mut self.store {
            None => datagrams.for_each(|(to, octets)| self.output.send(to, &octets)),
            Some(store) => {
                let datagrams = datagrams.collect();
                store.write(self.node.take_changes(), datagrams, &self.output);
                self.node.set_store_away(store.is_away());
                // What is refused for that changes nothing, and need not wait.
                std::iter::from_fn(|| self.node.poll_refusal()).for_each(|(to, octets)| self.output.send(to, &octets));
            }
        }
    }

    fn until_next(&self, next_tick: Instant) -> Duration {
        let timer = self.node.next_deadline().into_iter().chain(self.node.next_checkpoint()).min();
        let timer = timer.map(|at| at.saturating_sub(self.start.elapsed()));
        let tick = next_tick.saturating_duration_since(Instant::now());
        timer.map_or(tick, |t| t.min(tick))
    }

    /// Releases all sessions, or has them kept for the next start; N4 is answered meanwhile.
    fn stop(&mut self, datagrams: &Datagrams) {
        // What ends by a fault of its own comes back as after a crash.
        let keeps = (self.keeps_sessions || self.failed.is_some()) && self.store.as_ref().is_some_and(Store::is_good);
        if keeps {
            // What is carried behind the last look at the counters nobody would charge.
            if !self.xdp_stays {
                self.targets.retire_fast();
            }
            self.engine.stop();
            // A server that writes all of them at once answers nothing meanwhile, and the lease would end.
            self.node.begin_checkpoint();
            let now = self.start.elapsed();
            while self.node.checkpoint_slice(now, &mut WithLastCounts { plane: &mut self.plane, ended: &mut self.ended }) {
                self.flush();
            }
        } else {
            self.release(datagrams);
            if let Some(kernel) = &self.kernel {
                kernel.leave_nothing();
            }
        }
        self.flush();
        if let Some(store) = self.store.take() {
            self.lease = store.close(!keeps);
        }
    }

    fn release(&mut self, datagrams: &Datagrams) {
        // Sessions are released without waiting for packets in flight in XDP.
        self.targets.retire_fast();
        self.node.release_all(self.start.elapsed());
        self.flush();
        while self.node.sessions_ending() > 0 {
            self.still_ending.store(self.node.sessions_ending(), Ordering::Relaxed);
            self.node_timeout();
            self.receive_waiting(datagrams, MESSAGES_AT_ONCE);
            self.flush();
        }
        // Final usage is acknowledged, or given up when nobody acknowledges any. Heartbeats are answered meanwhile.
        let (mut left, mut progress) = (usize::MAX, Instant::now());
        while self.node.final_reports_pending() > 0 {
            let now_left = self.node.final_reports_pending();
            if now_left != left {
                (left, progress) = (now_left, Instant::now());
                self.still_ending.store(left, Ordering::Relaxed);
            } else if progress.elapsed() >= FINALS_PATIENCE {
                self.node.abandon_final_reports(self.start.elapsed());
                break;
            }
            self.node_timeout();
            self.receive_waiting(datagrams, MESSAGES_AT_ONCE);
            self.flush();
            let wait = self.until_next(Instant::now() + TICK);
            select! {
                recv(datagrams.heartbeats) -> datagram => if let Ok(datagram) = datagram { self.receive_n4(&datagram) },
                recv(datagrams.others) -> datagram => if let Ok(datagram) = datagram { self.receive_n4(&datagram) },
                default(wait) => {}
            }
            self.flush();
        }
    }

    /// After workers have stopped: drops punted packets that were not processed, and packets that wait for neighbours.
    pub fn drop_punts(&mut self) {
        let left = std::mem::take(&mut self.backlog).into_iter().chain(self.events.try_iter());
        let of_punt = |event| if let engine::Event::Punt { packet, .. } = event { Some(packet) } else { None };
        let left = left.filter_map(of_punt).inspect(|packet| self.punted.came(packet.port, packet.len())).count();
        let actions = self.plane.stop_host(left);
        for action in actions {
            // Tables and ports are of no use any more.
            if let Action::Drop { .. } | Action::Unsent { .. } = action {
                self.act(vec![action]);
            }
        }
        self.stopped = true;
    }

    /// What has been counted so far.
    pub fn report(&mut self, list_sessions: bool) -> Report {
        let program = self.targets.target().program().clone();
        let ledger = self.engine.ledger();
        let mut report = Report {
            elapsed_ms: self.start.elapsed().saturating_sub(self.age).as_millis() as u64,
            program: (&*program).into(),
            injected: ledger.injected.into(),
            buffered: ledger.buffered.into(),
            released: ledger.released.into(),
            services: self.services.report(),
            shaped: (&self.engine.shaped()).into(),
            imbalance: ledger.imbalance(),
            workers: self.engine.received_by_worker(),
            moved_buckets: self.engine.moved().buckets,
            lost_lines: crate::output::lost(),
            ..Report::default()
        };
        for (code, count) in &ledger.dropped {
            report.dropped.insert(program.reason_name(*code), (*count).into());
        }
        report.refused = self.refused.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect();
        report.host_unsent = self.host_unsent.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect();
        let fates = self.plane.host().fates();
        report.punts = PuntReport {
            answered: fates.answered,
            taken: fates.taken,
            sent_on: fates.sent_on,
            waiting: fates.waiting,
            dropped: fates.dropped,
        };
        report.imbalance += fates.imbalance();
        if self.stopped {
            let punted: u64 = ledger.punted.values().map(|count| count.packets).sum();
            report.imbalance += punted as i64 - fates.punted as i64;
        }
        for (code, count) in &ledger.punted {
            report.punted.insert(program.reason_name(*code), (*count).into());
        }
        let by_reason = |counts: &BTreeMap<u8, target::Count>| {
            counts.iter().map(|(code, count)| (program.reason_name(*code), count.packets)).collect::<BTreeMap<String, u64>>()
        };
        let (by_worker, waiting) = (self.engine.ports_by_worker(), self.engine.queues());
        for port in &self.ports {
            let count = ledger.ports.get(&port.id).cloned().unwrap_or_default();
            let queue = |(worker, ports): (usize, &BTreeMap<PortId, engine::PortCount>)| {
                let of = ports.get(&port.id)?;
                Some(QueueReport { worker: worker as u16, received: of.received.into(), transmitted: of.transmitted.into() })
            };
            let row = PortReport {
                dropped: by_reason(&count.dropped),
                unsent: by_reason(&count.unsent),
                waiting: waiting.get(&port.id).map(|queues| queues.iter().map(ShapedReport::from).collect()).unwrap_or_default(),
                queues: by_worker.iter().enumerate().filter_map(queue).collect(),
                role: port.role.name().into(),
                network_instance: port.network_instance.clone(),
                driver: port.driver.clone(),
                received: count.received.into(),
                transmitted: count.transmitted.into(),
                lost_before_us: count.device.rx_full + count.device.rx_invalid,
                lost_after_us: count.device.tx_invalid,
                down: port.down,
                reopened: port.reopened,
                ..PortReport::default()
            };
            report.ports.insert(port.name.clone(), row);
        }
        let target = self.targets.target();
        report.tables = tables_of(&*target);
        report.load = self.engine.gauges().into_iter().map(WorkerReport::from).collect();
        report.burst_times = self.engine.burst_times().into_iter().map(|(below_ns, packets)| BurstTime { below_ns, packets }).collect();
        report.draining = self.node.is_draining();
        self.report_ahead(&mut report);
        self.report_targets(&mut report, &ledger);
        self.report_n4(&mut report);
        if list_sessions {
            report.sessions = self.ended.clone();
            for session in self.node.sessions() {
                report.sessions.push(session_count(&mut self.plane, session.seid, &session.rules));
            }
        }
        report
    }

    /// Counts of the next sessions: see [`Request::Counts`].
    fn counts(&mut self, from: CountsFrom) -> (Vec<SessionCount>, Option<CountsFrom>) {
        match from {
            CountsFrom::Live(after) => {
                let next: Vec<SessionView> = self.node.sessions_after(after).take(COUNTED_AT_ONCE).collect();
                let more = next.last().filter(|_| next.len() == COUNTED_AT_ONCE).map(|last| CountsFrom::Live(Some(last.seid)));
                let counts = next.iter().map(|session| session_count(&mut self.plane, session.seid, &session.rules)).collect();
                (counts, Some(more.unwrap_or(CountsFrom::Ended(0))))
            }
            CountsFrom::Ended(from) => {
                let counts: Vec<SessionCount> = self.ended.iter().skip(from).take(COUNTED_AT_ONCE).cloned().collect();
                let to = from + counts.len();
                (counts, (to < self.ended.len()).then_some(CountsFrom::Ended(to)))
            }
        }
    }

    /// Adds what the fast target carried before the engine saw it.
    fn report_ahead(&self, report: &mut Report) {
        let Targets::Split(split) = &self.targets else { return };
        let Some(carried) = split.fast().facets().ahead.map(Ahead::carried) else { return };
        for label in &self.ports {
            let Some(row) = report.ports.get_mut(&label.name) else { continue };
            row.received_ahead = carried.received.get(&label.id).copied().unwrap_or_default().into();
            row.transmitted_ahead = carried.sent.get(&label.id).copied().unwrap_or_default().into();
            row.received += row.received_ahead;
            row.transmitted += row.transmitted_ahead;
        }
        for (reason, count) in &carried.dropped {
            *report.dropped.entry(split.base().program().reason_name(reason.0)).or_default() += (*count).into();
        }
        let packets = |counts: &mut dyn Iterator<Item = &target::Count>| counts.map(|c| c.packets).sum::<u64>() as i64;
        report.imbalance +=
            packets(&mut carried.received.values()) - packets(&mut carried.sent.values()) - packets(&mut carried.dropped.values());
    }

    fn report_targets(&mut self, report: &mut Report, ledger: &engine::Ledger) {
        let sessions = self.node.session_count() as u64;
        match &self.targets {
            Targets::Whole(target) => {
                let mut row = TargetReport { base: true, modelled: target.capabilities().modelled, sessions, ..TargetReport::default() };
                row.tables = report.tables.clone();
                for label in &self.ports {
                    row.add_from(label.role, self.punted.carried(label.id, ledger));
                    let dropped = ledger.ports.get(&label.id).map(|of| &of.dropped);
                    dropped.into_iter().flat_map(BTreeMap::values).for_each(|count| row.dropped += (*count).into());
                }
                ledger.punted.values().for_each(|count| row.punted += (*count).into());
                report.targets.insert(target.name().to_owned(), row);
                report.offload.policy = "none".into();
            }
            Targets::Split(split) => {
                let split = split.clone();
                self.take_decisions(&split);
                let moves = split.moves();
                report.offload = OffloadReport {
                    policy: split.policy().name().into(),
                    moved_to_fast: moves.to_front,
                    moved_to_base: moves.to_base,
                    moves_failed: moves.failed,
                    refused: split.refused_by_fast(),
                    recent: self.decisions.iter().cloned().collect(),
                };
                let on_fast = split.sessions_on_fast() as u64;
                let role = |id: PortId| self.ports.iter().find(|label| label.id == id).map_or(Role::Both, |label| label.role);
                for (stage, target, held) in [(0, split.fast(), on_fast), (1, split.base(), sessions.saturating_sub(on_fast))] {
                    let mut row = TargetReport {
                        base: stage == 1,
                        modelled: target.capabilities().modelled,
                        sessions: held,
                        ..TargetReport::default()
                    };
                    split.ran_of(stage).iter().for_each(|(port, ran)| row.add_ran(role(*port), ran));
                    if let Some(ahead) = target.facets().ahead {
                        row.add_ahead(&ahead.carried(), role);
                    }
                    row.tables = tables_of(target);
                    row.slow_path = target.facets().ahead.map_or(0, |ahead| ahead.carried().slow_path);
                    if stage == 0 {
                        row.out_of_service = split.is_retired();
                        (row.fell_over, row.came_back) = (split.retirements(), self.comeback.came_back());
                        let short = self.kernel.iter().flat_map(|k| k.xdp.slow_path_tables());
                        row.short_tables = short.filter_map(|t| Some(target.program().tables.get(t)?.name.clone())).collect();
                    }
                    report.targets.insert(target.name().to_owned(), row);
                }
            }
        }
    }

    fn report_n4(&self, report: &mut Report) {
        let stats = self.node.stats();
        let mut row = |name: &str, value: u64| {
            report.n4.insert(name.to_owned(), value);
        };
        row("sessions", self.node.session_count() as u64);
        row("sessions_ending", self.node.sessions_ending() as u64);
        row("received", stats.received);
        row("sent", stats.sent.saturating_sub(self.output.unsent()));
        row("unsent", self.output.unsent());
        if let Some(store) = &self.store {
            row("store_records", store.counts.records.load(Ordering::Relaxed));
            row("store_batches", store.counts.batches.load(Ordering::Relaxed));
            row("store_failed", store.counts.failed.load(Ordering::Relaxed).into());
            row("store_away", store.is_away().into());
        }
        row("established", stats.established);
        row("modified", stats.modified);
        row("ended", stats.ended);
        row("downlink_data_reports", stats.downlink_data_reports);
        row("usage_reports", stats.usage_reports);
        row("usage_reports_lost", stats.lost_usage_reports);
        for (why, count) in &stats.lost_usage {
            row(&format!("usage_reports_lost_{}", why.name()), *count);
        }
        row("final_reports_kept", self.node.final_reports_kept() as u64);
        row("inactivity_reports", stats.inactivity_reports);
        row("node_reports", stats.node_reports);
        row("requests_failed_over", stats.failovers);
        let (load, reduction) = self.node.load();
        row("load_percent", load.into());
        row("overload_reduction_percent", reduction.into());
        row("unknown_elements", stats.unknown_elements);
        row("rejected", stats.messages.rejected.values().sum());
        row("foreign", stats.foreign);
        let no_room = self.n4_dropped.load(Ordering::Relaxed);
        row("dropped", stats.dropped.values().sum::<u64>() + no_room);
        if no_room > 0 {
            row("dropped_queue_full", no_room);
        }
        for (reason, count) in &stats.dropped {
            row(&format!("dropped_{}", reason.name()), *count);
        }
        (report.n4_messages, report.n4_rejected) = messages(&stats.messages);
        let peer = |of: pfcp::node::AssociationView<'_>| {
            let (messages, rejected) = self.node.messages_of(of.node_id).map(messages).unwrap_or_default();
            PeerReport {
                node_id: of.node_id.to_string(),
                address: of.peer.to_string(),
                sessions: of.sessions as u64,
                lost: of.lost,
                age_ms: self.start.elapsed().saturating_sub(of.since).as_millis() as u64,
                messages,
                rejected,
            }
        };
        report.peers = self.node.associations().map(peer).collect();
    }
}

/// The clock of packets' time stamps, in workers and in the kernel.
fn packets_now() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

/// Messages by type, and rejections by cause.
fn messages(counts: &MessageCounts) -> (BTreeMap<String, MessageCount>, BTreeMap<String, u64>) {
    let mut by_type: BTreeMap<String, MessageCount> = BTreeMap::new();
    for (kind, n) in &counts.received {
        by_type.entry(kind.name()).or_default().received += n;
    }
    for (kind, n) in &counts.sent {
        by_type.entry(kind.name()).or_default().sent += n;
    }
    (by_type, counts.rejected.iter().map(|(cause, n)| (cause.text(), *n)).collect())
}

/// The tables of a target.
fn tables_of(target: &dyn target::Target) -> BTreeMap<String, TableReport> {
    let row = |(id, table): (program::TableId, &program::TableInfo)| {
        let s = target.table_stats(id);
        (table.name.clone(), TableReport { entries: s.entries, capacity: s.capacity, hits: s.hits, misses: s.misses })
    };
    target.program().tables.iter().map(row).collect()
}

/// Counts of a session that lives.
pub(crate) fn session_count(plane: &mut Plane<EngineAndTargets>, seid: Seid, rules: &SessionRules) -> SessionCount {
    let usages: Vec<(u32, Usage)> = rules.urrs.keys().map(|urr| (*urr, plane.usage(seid, *urr))).collect();
    count_of(plane, seid, &usages)
}

/// A session's packets are counted by each of its URRs: the one that sees most has seen them all.
fn count_of(plane: &Plane<EngineAndTargets>, seid: Seid, usages: &[(u32, Usage)]) -> SessionCount {
    let all = usages.iter().map(|(_, u)| *u).max_by_key(|u| u.uplink_bytes + u.downlink_bytes).unwrap_or_default();
    let known = plane.info(seid).unwrap_or_default();
    SessionCount {
        seid,
        ue_ipv4: known.ue_ipv4s.first().copied(),
        ue_ipv6: known.ue_ipv6s.first().copied(),
        target: plane.data().target_of(seid),
        uplink: Count { packets: all.uplink_packets, bytes: all.uplink_bytes },
        downlink: Count { packets: all.downlink_packets, bytes: all.downlink_bytes },
        ended: false,
    }
}

/// The user plane as N4 commands it; keeps the last counts of sessions that end.
struct WithLastCounts<'a> {
    plane: &'a mut Plane<EngineAndTargets>,
    ended: &'a mut Vec<SessionCount>,
}

impl UserPlane for WithLastCounts<'_> {
    fn commit(&mut self, seid: Seid, new: Option<&SessionRules>) -> Result<Vec<(u32, Usage)>, CommitError> {
        let kept = new.is_none() && self.ended.len() < ENDED_KEPT;
        let before = kept.then(|| count_of(self.plane, seid, &[]));
        let last = self.plane.commit(seid, new)?;
        if let Some(before) = before {
            let counted = count_of(self.plane, seid, &last);
            self.ended.push(SessionCount { uplink: counted.uplink, downlink: counted.downlink, ended: true, ..before });
        }
        Ok(last)
    }

    fn commit_dropping(&mut self, seid: Seid, new: &SessionRules) -> Result<Vec<(u32, Usage)>, CommitError> {
        self.plane.commit_dropping(seid, new)
    }

    fn usage(&mut self, seid: Seid, urr_id: u32) -> Usage {
        self.plane.usage(seid, urr_id)
    }

    fn counters(&mut self, seid: Seid, urr_id: u32) -> Counters {
        self.plane.counters(seid, urr_id)
    }

    fn outlasts(&self) -> bool {
        self.plane.outlasts()
    }

    fn limit_usage(&mut self, seid: Seid, urr_id: u32, ends: VolumeLimit) -> Result<(), CommitError> {
        self.plane.limit_usage(seid, urr_id, ends)
    }

    fn continue_usage(&mut self, seid: Seid, urr_id: u32, usage: Usage) {
        self.plane.continue_usage(seid, urr_id, usage);
    }

    fn continue_lasting(&mut self, seid: Seid, urr_id: u32, recorded: &Counters) {
        self.plane.continue_lasting(seid, urr_id, recorded);
    }

    fn packets(&mut self, seid: Seid) -> u64 {
        self.plane.packets(seid)
    }

    fn carried(&mut self) -> Option<u64> {
        self.plane.carried()
    }

    fn send_end_marker(&mut self, to: OuterHeader) {
        self.plane.send_end_marker(to);
    }

    fn drop_buffered(&mut self, seid: Seid) {
        self.plane.drop_buffered(seid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::bench::sessions;
    use offload::Policy;
    use pfcp::codec::{self, Ie, Message, MessageType, NodeId};
    use std::net::SocketAddr;
    use target::Target;
    use target_asic::{Asic, Chip};
    use target_chaos::Chaos;

    const S: u64 = 1_000_000_000;

    /// Without ports and N4 traffic; sessions are committed to the plane.
    fn agent() -> (Agent, Arc<Split>, Arc<Chaos>) {
        let ir = Arc::new(crate::program::compile(std::path::Path::new("upf.p4"), &[], &[("SESSIONS".into(), "1024".into())]).unwrap());
        let chaos = Arc::new(Chaos::new(Box::new(Asic::load(ir.clone(), Chip::default()).unwrap()), 3));
        let base = Asic::oracle(ir.clone()).unwrap();
        let split = Arc::new(Split::new(Box::new(chaos.clone()), Box::new(base), Policy::Share(1.0)).unwrap());
        let targets = Targets::Split(split.clone());
        let (events, events_in) = crossbeam_channel::unbounded();
        let engine = Arc::new(Engine::start(&targets.target(), vec![Vec::new()], Default::default(), events).unwrap());
        let network = sessions::network();
        let plane = Plane::new(&network, &ir.program, EngineAndTargets::new(targets.clone(), engine.clone())).unwrap();
        let ids = upf::ids::Ids::bind(&ir.program).unwrap();
        split.apply(&upf::static_rules::initial(&network, &ids)).unwrap();
        let loopback = std::net::Ipv4Addr::LOCALHOST;
        let config = pfcp::config::Config::new(pfcp::codec::NodeId::Ipv4(loopback), loopback.into(), 0);
        let ports = vec![PortLabel {
            id: sessions::Direction::Downlink.port(),
            name: "n6".into(),
            driver: "none".into(),
            role: Role::Core,
            network_instance: "internet".into(),
            down: false,
            reopened: 0,
        }];
        let agent = Agent {
            node: Node::new(config).unwrap(),
            plane,
            targets,
            services: Default::default(),
            engine,
            kernel: None,
            output: Arc::new(Output::new(Arc::new(std::net::UdpSocket::bind((loopback, 0)).unwrap()))),
            n4_dropped: Default::default(),
            store: None,
            keeps_sessions: false,
            xdp_stays: false,
            graceful_release: None,
            leaves_by: None,
            ports,
            ended: Vec::new(),
            events: events_in,
            backlog: VecDeque::new(),
            refused: BTreeMap::new(),
            punted: Punted::default(),
            host_unsent: BTreeMap::new(),
            decisions: VecDeque::new(),
            placement: None,
            comeback: Comeback::default(),
            start: Instant::now(),
            age: Duration::ZERO,
            stopped: false,
            failed: None,
            still_ending: Default::default(),
            ready: Default::default(),
            ticks: 0,
            running: None,
            reconsidering: None,
            look: None,
            ir: None,
            lease: None,
        };
        (agent, split, chaos)
    }

    /// With a node that has an association, whose requests come to where that came from.
    fn with_an_association(agent: &mut Agent) -> SocketAddr {
        let loopback = std::net::Ipv4Addr::LOCALHOST;
        let mut config = pfcp::config::Config::new(NodeId::Ipv4(loopback), loopback.into(), 0);
        (config.request_port, config.heartbeat_period) = (pfcp::config::RequestPort::Source, None);
        config.gtpu = vec![pfcp::config::GtpuAddress { ipv4: sessions::UPF_N3, network_instance: None, interface: None, default: false }];
        agent.node = Node::new(config).unwrap();
        let smf = SocketAddr::from((loopback, 9));
        let setup = vec![Ie::NodeId(NodeId::Ipv4(loopback)), Ie::RecoveryTimeStamp(1), Ie::CpFunctionFeatures(vec![0])];
        answer_to(agent, smf, Message::node(MessageType::AssociationSetupRequest, 1, setup));
        smf
    }

    fn answer_to(agent: &mut Agent, smf: SocketAddr, request: Message) -> Message {
        agent.receive_n4(&(smf, request.encode().unwrap()));
        let answer = codec::decode(&agent.node.poll_transmit().unwrap().1).unwrap();
        assert_eq!(answer.cause(), Some(codec::Cause::REQUEST_ACCEPTED), "{answer:?}");
        answer
    }

    /// Its downlink packets go to a gNodeB.
    fn establish(agent: &mut Agent, smf: SocketAddr, n: u32) -> Seid {
        let ue = codec::UeIpAddress { ipv4: Some(sessions::ue(n).into()), destination: true, ..Default::default() };
        let pdr = vec![Ie::PdrId(1), Ie::Precedence(1), Ie::Pdi(vec![Ie::SourceInterface(1), Ie::UeIpAddress(ue)]), Ie::FarId(1)];
        let gnb = codec::OuterHeaderCreation::gtpu_ipv4(n + 1, sessions::GNB);
        let to = Ie::ForwardingParameters(vec![Ie::DestinationInterface(0), Ie::OuterHeaderCreation(gnb)]);
        let far = vec![Ie::FarId(1), Ie::ApplyAction(codec::ApplyActionFlags::FORW), to];
        let f_seid = codec::FSeid { seid: u64::from(n) + 1, ipv4: Some(std::net::Ipv4Addr::LOCALHOST), ipv6: None };
        let ies = vec![Ie::NodeId(NodeId::Ipv4(std::net::Ipv4Addr::LOCALHOST)), Ie::FSeid(f_seid), Ie::CreatePdr(pdr), Ie::CreateFar(far)];
        let answer = answer_to(agent, smf, Message::session(MessageType::SessionEstablishmentRequest, 0, n + 2, ies));
        codec::find!(answer.ies, FSeid).unwrap().seid
    }

    #[test]
    fn all_sessions_are_counted_some_at_a_time_and_each_once() {
        const SESSIONS: u32 = COUNTED_AT_ONCE as u32 + 100;
        let (mut agent, ..) = agent();
        let smf = with_an_association(&mut agent);
        let mut all: Vec<Seid> = (0..SESSIONS).map(|n| establish(&mut agent, smf, n)).collect();
        all.sort_unstable();
        let (mut live, mut ended, mut from, mut answers) = (Vec::new(), Vec::new(), Some(CountsFrom::Live(None)), 0);
        while let Some(asked) = from {
            let (counts, next) = agent.counts(asked);
            assert!(counts.len() <= COUNTED_AT_ONCE);
            (if matches!(asked, CountsFrom::Live(_)) { &mut live } else { &mut ended }).extend(counts.iter().map(|count| count.seid));
            from = next;
            answers += 1;
            // Some end meanwhile: one that was counted, and one that was not.
            if answers == 1 {
                for (sequence, seid) in [all[0], all[all.len() - 1]].into_iter().enumerate() {
                    let delete = Message::session(MessageType::SessionDeletionRequest, seid, SESSIONS + 2 + sequence as u32, Vec::new());
                    answer_to(&mut agent, smf, delete);
                }
            }
        }
        assert_eq!(answers, 3);
        assert_eq!((&live[..], &ended[..]), (&all[..all.len() - 1], &[all[0], all[all.len() - 1]][..]));
    }

    /// Its time is what it is told: the gNodeB is asked once a minute, and is given three times three seconds.
    #[test]
    fn an_smf_is_told_of_a_gnodeb_that_no_longer_answers() {
        let (mut agent, ..) = agent();
        let mut network = sessions::network();
        network.host.gtpu_echo_s = 60;
        let data = EngineAndTargets::new(agent.targets.clone(), agent.engine.clone());
        agent.plane = Plane::new(&network, &agent.targets.target().program().clone(), data).unwrap();
        let smf = with_an_association(&mut agent);
        establish(&mut agent, smf, 0);
        let mut reports = Vec::new();
        for _ in 0..80 {
            agent.start -= Duration::from_secs(1);
            agent.tick();
            reports.extend(std::iter::from_fn(|| agent.node.poll_transmit()).map(|(_, octets)| codec::decode(&octets).unwrap()));
        }
        let [report] = &reports[..] else { panic!("{reports:?}") };
        assert_eq!((report.kind, codec::find!(report.ies, NodeReportType)), (MessageType::NodeReportRequest, Some(&1)));
        let failed = codec::find!(report.ies, UserPlanePathFailureReport).unwrap();
        assert!(matches!(&failed[..], [Ie::RemoteGtpuPeer(peer)] if peer.ipv4 == Some(sessions::GNB)), "{failed:?}");
        let counted = agent.report(false);
        assert_eq!((counted.n4["node_reports"], counted.n4["sessions"]), (1, 1), "the session goes on");
    }

    #[test]
    fn at_the_end_peers_have_time_to_release_their_associations() {
        use pfcp::codec::{Cause, find};
        let (mut agent, ..) = agent();
        let loopback = std::net::Ipv4Addr::LOCALHOST;
        let mut config = pfcp::config::Config::new(NodeId::Ipv4(loopback), loopback.into(), 0);
        (config.request_port, config.heartbeat_period) = (pfcp::config::RequestPort::Source, None);
        (agent.node, agent.graceful_release) = (Node::new(config).unwrap(), Some(Duration::from_secs(600)));
        let socket = Arc::new(std::net::UdpSocket::bind((loopback, 0)).unwrap());
        agent.output = Arc::new(Output::new(socket.clone()));
        let upf = socket.local_addr().unwrap();
        let datagrams = Datagrams::read(socket, agent.n4_dropped.clone()).unwrap();
        let (requests, requests_in) = crossbeam_channel::unbounded();
        let running = std::thread::spawn(move || {
            agent.run(&datagrams, &requests_in);
            agent
        });
        let smf = std::net::UdpSocket::bind((loopback, 0)).unwrap();
        let receive = |kind: MessageType| loop {
            let mut octets = [0; 2048];
            let length = smf.recv(&mut octets).unwrap();
            let message = codec::decode(&octets[..length]).unwrap();
            if message.kind == kind {
                return message;
            }
            // What has no answer comes again.
            assert_eq!(message.kind, MessageType::AssociationUpdateRequest);
        };
        let ask = |kind: MessageType, sequence, ies| {
            smf.send_to(&Message::node(kind, sequence, ies).encode().unwrap(), upf).unwrap();
            receive(kind.response().unwrap())
        };
        let node_id = || Ie::NodeId(NodeId::Ipv4(loopback));
        let answer = ask(MessageType::AssociationSetupRequest, 1, vec![node_id(), Ie::RecoveryTimeStamp(1)]);
        assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
        requests.send(Request::Stop).unwrap();
        let asked = receive(MessageType::AssociationUpdateRequest);
        assert_eq!(find!(asked.ies, GracefulReleasePeriod), Some(&codec::timer(Duration::from_secs(600))));
        // It is there meanwhile.
        ask(MessageType::HeartbeatRequest, 2, vec![Ie::RecoveryTimeStamp(1)]);
        let answer = ask(MessageType::AssociationReleaseRequest, 3, vec![node_id()]);
        assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
        let agent = running.join().unwrap();
        assert_eq!((agent.node.associations().count(), agent.failed), (0, None));
    }

    /// Which is seen in the report, and in what its sessions are charged.
    #[test]
    fn a_fast_target_that_fell_over_comes_back_with_its_sessions() {
        let (mut agent, split, chaos) = agent();
        let mut lane = split.lane(1);
        let mut run = |agent: &mut Agent| {
            for n in 0..4 {
                let direction = sessions::Direction::Downlink;
                let mut packet = [Packet::new(&sessions::frame(direction, n), direction.port())];
                let mut verdict = [base::Verdict::default()];
                lane.process(&mut packet, &mut verdict, S);
                assert_eq!(verdict[0].kind, base::VerdictKind::Forward, "session {n}");
            }
            let report = agent.report(false);
            let row = |name: &str| (report.targets[name].sessions, report.targets[name].downlink.packets);
            let fast = &report.targets["chaos"];
            (row("chaos"), row("oracle").1, fast.out_of_service, fast.fell_over, fast.came_back)
        };
        for n in 0..4u32 {
            agent.plane.commit(u64::from(n) + 1, Some(&sessions::rules(n))).unwrap();
        }
        assert_eq!(run(&mut agent), ((4, 4), 0, false, 0, 0));
        chaos.kill();
        // The next change finds it out.
        agent.plane.commit(5, Some(&sessions::rules(4))).unwrap();
        agent.bring_back(&split, S);
        assert_eq!(run(&mut agent), ((0, 4), 4, true, 1, 0));
        // It is still dead at the first attempt.
        agent.bring_back(&split, 2 * S);
        assert_eq!(run(&mut agent), ((0, 4), 8, true, 1, 0));
        chaos.heal();
        agent.bring_back(&split, 3 * S);
        assert!(split.is_retired(), "it waits longer");
        agent.bring_back(&split, 4 * S);
        // The one that began meanwhile is there too.
        assert_eq!(run(&mut agent), ((5, 8), 8, false, 1, 1));
        let charged: Vec<u64> = (1..=5).map(|seid| agent.plane.charged(seid).unwrap().packets).collect();
        assert_eq!(charged, [4, 4, 4, 4, 0]);
    }
}
