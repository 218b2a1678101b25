//! The control plane's one thread: N4 messages, punted packets and time, in the order in which they come.
//!
//! A PFCP message: `receive_n4` → `pfcp::Node::receive` → `upf::Plane` → `EngineAndTargets::apply` → answer by `flush`.

pub mod capture;
mod parts;
pub(crate) mod ports;
mod queries;
pub mod reload;
mod report;

pub use parts::{AtEnd, Datapath, Life, N4};

use crate::agent::parts::{Counted, Placing};
use crate::agent::reload::Running;
use crate::datapath::placement::Placement;
use crate::manage::report::{MoveReport, Report};
use crate::manage::request::Request;
use crate::n4::socket::{Datagram, Datagrams};
use crate::n4::store::{HeldLease, Store};
use base::Packet;
use capture::Look;
use crossbeam_channel::{Receiver, SendError, select};
use offload::comeback::Event;
use p4_ir::Ir;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use target_api::Target;
use upf::host::Action;

/// Period of looking at neighbours and retransmissions; volume limits have a time of their own.
const TICK: Duration = Duration::from_millis(50);
/// Ticks from one look for free pages of the allocator's to the next: large ones go after four, within a second.
const TICKS_PER_RETIREMENT: u32 = 5;
/// Ticks from one look at the machine's addresses to the next: a second.
const TICKS_PER_LOOK_AT_MACHINE: u32 = 20;
/// Moves of sessions that are kept for reports.
const DECISIONS: usize = 64;
/// Limit of worker events processed before a tick.
const EVENTS_BEFORE_TICK: usize = 1024;
/// N4 messages that are answered before other work has its turn, at most.
const MESSAGES_AT_ONCE: usize = 64;
/// Of these, how many are given to the store together: a millisecond's work at most, and its thread is woken once.
const WRITTEN_TOGETHER: usize = 16;
/// Without a store, how many are answered together: some tenths of a millisecond's work, and the peer is woken once.
const ANSWERED_TOGETHER: usize = 8;
/// Events of the backlog that are dealt with from one look at N4 to the next.
const EVENTS_AT_ONCE: usize = 256;
/// At the end, how long final usage reports may be without any being acknowledged: a retransmission or two. And those of peers that say nothing at all: each was
/// sent two requests at least, and some answer to them takes a few milliseconds.
const FINALS_PATIENCE: Duration = Duration::from_secs(4);
const ABSENT_PATIENCE: Duration = Duration::from_millis(600);

/// The control plane. Parts are dropped in this order: the next daemon, which waits for N4's address, finds the interfaces free.
pub struct Agent {
    datapath: Datapath,
    n4: N4,
    placing: Placing,
    counted: Counted,
    life: Life,
    /// The configuration in use, where it can change.
    running: Option<Running>,
    /// Who looks at packets.
    look: Option<Look>,
    /// The program, by which packets' stories are told; `None`: none are.
    ir: Option<Arc<Ir>>,
    /// Of a store that is closed. The last to be dropped: another node serves when this one's ports are closed.
    lease: Option<HeldLease>,
}

impl Agent {
    /// Makes an agent of these parts. `planner` moves sessions, where that is asked for; `running` is the configuration in use, where it can change; `ir` the program, where
    /// stories of packets are told.
    pub fn new(n4: N4, datapath: Datapath, planner: Option<Placement>, life: Life, running: Option<Running>, ir: Option<Arc<Ir>>) -> Agent {
        let placing = Placing { planner, ..Placing::default() };
        Agent { n4, datapath, placing, counted: Counted::default(), life, running, look: None, ir, lease: None }
    }

    /// Before it runs: asks for associations where SMFs listen, and tells neighbours of our addresses if `announces`.
    pub fn begin(&mut self, smfs: &[IpAddr], announces: bool) {
        for smf in smfs {
            // Where it listens, whoever asks (TS 29.244 clause 4.2.2).
            self.n4.node.associate(SocketAddr::new(*smf, pfcp::codec::PORT), self.life.start.elapsed());
        }
        if announces {
            let (host, _) = self.datapath.plane.host_and_data();
            let actions = host.announce(self.life.start.elapsed());
            self.act(actions);
        }
    }

    /// After it has run: stops workers, and gives the final counts; or tells why it ended, if it was not asked to.
    pub fn end(&mut self) -> Result<Report, String> {
        self.datapath.engine.stop();
        self.drop_punts();
        match self.life.failed.take() {
            Some(why) => Err(why),
            None => Ok(self.report(true)),
        }
    }

    /// Runs until [`Request::Stop`], or until a thread of the engine's has failed: a UPF that is up and forwards nothing is worse than
    /// one that is gone.
    pub fn run(&mut self, datagrams: &Datagrams, requests: &Receiver<Request>) {
        let (mut next_tick, mut next_poll) = (Instant::now(), Instant::now());
        let events = self.datapath.events.clone();
        // What ended sessions were in is free, and an idle agent asks for nothing by which the allocator would come to give it back.
        let _returner = allocator::Returner::start().inspect_err(|e| tracing::error!("no thread that gives memory back: {e}"));
        loop {
            let (waiting, room) = datagrams.backlog();
            self.n4.node.note_backlog(waiting, room, self.life.start.elapsed());
            select! {
                recv(datagrams.heartbeats) -> datagram => if let Ok(datagram) = datagram { self.receive_n4(&datagram) },
                recv(datagrams.others) -> datagram => if let Ok(datagram) = datagram {
                    self.receive_n4(&datagram);
                    self.receive_waiting(datagrams, MESSAGES_AT_ONCE - 1);
                },
                recv(events) -> event => if let Ok(event) = event { self.event(event) },
                recv(requests) -> request => match request {
                    Ok(Request::Stop) if self.life.leaves_by.is_none() && self.begin_release() => {}
                    Ok(Request::Stop) | Err(_) => return self.stop(datagrams),
                    Ok(asked) => self.answer(asked),
                },
                default(if self.datapath.backlog.is_empty() { self.until_next(next_tick.min(next_poll)) } else { Duration::ZERO }) => {}
            }
            self.datapath.targets.poll();
            self.deal_with_backlog(EVENTS_AT_ONCE);
            if Instant::now() >= next_tick {
                // A neighbour whose answer waits here has not been silent, whatever kept us from it.
                (0..EVENTS_BEFORE_TICK).map_while(|_| events.try_recv().ok()).for_each(|event| self.event(event));
                self.tick();
                if let Some(thread) = self.datapath.engine.failed() {
                    self.life.failed = Some(format!("{thread} has failed: this is a bug"));
                    return self.stop(datagrams);
                }
                next_tick = Instant::now() + TICK;
            }
            if Instant::now() >= next_poll {
                self.poll_usage();
                next_poll = Instant::now() + self.n4.node.next_poll();
            }
            self.node_timeout();
            self.checkpoint();
            self.flush();
            if let Some(by) = self.life.leaves_by {
                let left = by.saturating_duration_since(Instant::now());
                // Who waits for the end sees that it comes nearer.
                self.life.still_ending.store(left.as_millis() as usize, Ordering::Relaxed);
                // Who is lost releases nothing.
                if left.is_zero() || self.n4.node.associations().all(|association| association.lost_at.is_some()) {
                    return self.stop(datagrams);
                }
            }
        }
    }

    /// Asks peers to release their associations, and goes on meanwhile; whether that is wanted, and there are any.
    fn begin_release(&mut self) -> bool {
        let keeps = self.life.at_end.keeps_sessions && self.n4.store.as_ref().is_some_and(Store::is_good);
        let Some(period) = self.life.at_end.graceful_release.filter(|_| !keeps && self.n4.node.associations().next().is_some()) else {
            return false;
        };
        tracing::info!(seconds = period.as_secs(), "peers are asked to release their associations");
        self.n4.node.begin_release(period, self.life.start.elapsed());
        self.life.leaves_by = Some(Instant::now() + period);
        true
    }

    /// Has counters recorded that have moved: a slice of them, as messages may wait.
    fn checkpoint(&mut self) {
        let now = self.life.start.elapsed();
        if self.n4.node.next_checkpoint().is_some_and(|at| at <= now) {
            self.n4.node.checkpoint(now, &mut self.datapath.plane);
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
                self.n4.node.set_draining(on);
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
        self.n4.node.poll_usage(self.life.start.elapsed(), &mut self.datapath.plane);
    }

    /// Does what is due in the node: a slice of it, as messages may wait.
    fn node_timeout(&mut self) {
        let now = self.life.start.elapsed();
        if self.n4.node.next_deadline().is_some_and(|at| at <= now) {
            self.n4.node.handle_timeout(now, &mut self.datapath.plane);
        }
    }

    fn receive_n4(&mut self, (from, bytes): &Datagram) {
        let now = self.life.start.elapsed();
        self.n4.output.heard(from.ip());
        self.n4.node.receive(*from, bytes, now, &mut self.datapath.plane);
    }

    fn receive_waiting(&mut self, datagrams: &Datagrams, most: usize) {
        let together = if self.n4.store.is_some() { WRITTEN_TOGETHER } else { ANSWERED_TOGETHER };
        for (n, datagram) in std::iter::from_fn(|| datagrams.try_next()).take(most).enumerate() {
            self.receive_n4(&datagram);
            // Answers wait for few of the messages behind them.
            if (n + 1) % together == 0 {
                self.flush();
            }
        }
        self.flush();
    }

    fn event(&mut self, event: engine::Event) {
        self.datapath.backlog.push_back(event);
        self.deal_with_backlog(1);
    }

    fn deal_with_backlog(&mut self, most: usize) {
        for _ in 0..most {
            let Some(event) = self.datapath.backlog.pop_front() else { return };
            self.deal_with(event);
        }
    }

    fn deal_with(&mut self, event: engine::Event) {
        let now = self.life.start.elapsed();
        match event {
            engine::Event::Punt { packet, reason, mark } => {
                self.counted.punted.came(packet.port, packet.len());
                let actions = self.datapath.plane.punt(packet.data(), packet.port, reason, mark, now);
                self.act(actions);
            }
            engine::Event::Buffering { queue: pdr } => match self.datapath.plane.pdr(pdr) {
                Some((seid, pdr_id)) => self.n4.node.downlink_data(seid, pdr_id, now),
                // The session went while its packet was on the way here.
                None => tracing::debug!(pdr, "packets are buffered for a PDR that no longer exists"),
            },
            engine::Event::PortDown { port, why } => {
                for label in self.datapath.ports.iter_mut().filter(|p| p.id == port) {
                    label.down = true;
                    tracing::error!(port = label.name, "port is down: {why}");
                }
            }
            engine::Event::PortUp { port } => {
                for label in self.datapath.ports.iter_mut().filter(|p| p.id == port) {
                    (label.down, label.reopened) = (false, label.reopened + 1);
                    tracing::warn!(port = label.name, "port is up again; our MAC address on it stays as it was");
                }
                let (host, _) = self.datapath.plane.host_and_data();
                let actions = host.port_up(port, now);
                self.act(actions);
            }
        }
    }

    /// Lets go what waits for a neighbour, with what workers have punted for it since, before anything that comes later.
    fn resolved(&mut self, number: u16) -> Result<(), String> {
        let Agent { datapath: Datapath { plane, events, backlog, .. }, counted: Counted { punted, .. }, .. } = self;
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
            upf::plane::DataPlane::transmit(self.datapath.plane.data_mut(), port, frame);
        }
        result
    }

    pub(crate) fn act(&mut self, actions: Vec<Action>) {
        for action in actions {
            let result = match action {
                Action::Transmit { port, frame } => {
                    upf::plane::DataPlane::transmit(self.datapath.plane.data_mut(), port, frame);
                    Ok(())
                }
                Action::Reinject { port, frame } if frame.len() <= base::MAX_PACKET => {
                    self.counted.punted.went_back(port, frame.len());
                    self.datapath.engine.inject(vec![Packet::new(&frame, port)]).map_err(|e| e.to_string())
                }
                Action::Reinject { .. } => Err("a frame to go round again is too long".into()),
                Action::Apply(batch) => self.datapath.plane.data_mut().apply(&batch).map_err(|e| e.to_string()),
                Action::Resolved { number } => self.resolved(number),
                Action::Unsent { reason } => {
                    *self.counted.host_unsent.entry(reason).or_default() += 1;
                    Ok(())
                }
                Action::Path { peer, works } => {
                    self.n4.node.gtpu_path(peer, works, self.life.start.elapsed());
                    Ok(())
                }
                Action::ErrorIndication { peer, teid } => {
                    self.n4.node.error_indication(teid, peer.into(), self.life.start.elapsed());
                    Ok(())
                }
                Action::Drop { reason } => {
                    *self.counted.refused.entry(reason).or_default() += 1;
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
        let now = self.life.start.elapsed();
        self.life.ticks = self.life.ticks.wrapping_add(1);
        if self.life.ticks.is_multiple_of(TICKS_PER_RETIREMENT) {
            allocator::retire();
        }
        let actions = self.datapath.plane.poll(now);
        self.act(actions);
        self.datapath.engine.age_buffers();
        self.look_tick();
        if self.life.ticks.is_multiple_of(TICKS_PER_LOOK_AT_MACHINE) {
            self.follow_machine();
        }
        if let Some(kernel) = &mut self.datapath.kernel {
            kernel.tick();
        }
        self.take_into_service();
        self.reconsider(now);
        self.bring_back(now.as_nanos() as u64);
        if let Some(placement) = &mut self.placing.planner {
            placement.tick(now, packets_now(), &mut self.datapath.plane, &self.datapath.targets);
        }
        self.take_decisions();
    }

    /// Moves that were made or tried since the last time.
    fn take_decisions(&mut self) {
        let at_ms = self.life.start.elapsed().as_millis() as u64;
        self.placing.decisions.extend(self.datapath.targets.take_decisions().into_iter().map(|of| MoveReport::new(of, at_ms)));
        self.placing.decisions.drain(..self.placing.decisions.len().saturating_sub(DECISIONS));
    }

    /// Gives XDP what it must hold when the kernel has verified its program.
    fn take_into_service(&mut self) {
        let Some(kernel) = &mut self.datapath.kernel else { return };
        let Some(is_good) = kernel.verified() else { return };
        if is_good {
            match self.datapath.targets.recover() {
                Ok(()) => kernel.say_active(),
                // As one that has fallen over, it is tried again.
                Err(why) => tracing::warn!("XDP does not come into service: {why}"),
            }
        }
        self.life.ready.store(true, Ordering::Release);
    }

    /// Rebuilds a retired fast target, and restores its sessions if no planner moves them.
    fn bring_back(&mut self, now_ns: u64) {
        if self.datapath.kernel.as_ref().is_some_and(|kernel| kernel.is_pending() || kernel.is_refused()) {
            return;
        }
        let split = &self.datapath.targets;
        let Some(name) = split.fast().map(Target::name) else { return };
        let seconds = |ns: u64| ns as f64 / 1e9;
        match self.placing.comeback.tick(split, now_ns) {
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
        let plane = &self.datapath.plane;
        let copy = |seid: u64| Some((plane.data().wishes().of(&plane.info(seid)?), plane.copy(seid)?));
        let executed = self.placing.comeback.bring_back(split, now_ns, copy);
        if executed != Default::default() {
            tracing::debug!(executed.to_fast, executed.failed, "sessions restored");
        }
    }

    fn flush(&mut self) {
        let N4 { node, output, store, .. } = &mut self.n4;
        let next = |node: &mut pfcp::node::Node| {
            let (to, octets) = node.poll_transmit()?;
            output.know(to.ip(), || node.is_peer(to.ip()));
            Some((to, octets))
        };
        let Some(store) = store else {
            std::iter::from_fn(|| next(node)).for_each(|(to, octets)| output.send(to, &octets));
            return;
        };
        let datagrams = std::iter::from_fn(|| next(node)).collect();
        store.write(node.take_changes(), datagrams, output);
        node.set_store_away(store.is_away());
        // What is refused for that changes nothing, and need not wait.
        std::iter::from_fn(|| node.poll_refusal()).for_each(|(to, octets)| output.send(to, &octets));
    }

    fn until_next(&self, next_tick: Instant) -> Duration {
        let timer = self.n4.node.next_deadline().into_iter().chain(self.n4.node.next_checkpoint()).min();
        let timer = timer.map(|at| at.saturating_sub(self.life.start.elapsed()));
        let tick = next_tick.saturating_duration_since(Instant::now());
        timer.map_or(tick, |t| t.min(tick))
    }

    /// Releases all sessions, or has them kept for the next start; N4 is answered meanwhile.
    fn stop(&mut self, datagrams: &Datagrams) {
        // What ends by a fault of its own comes back as after a crash.
        let keeps = (self.life.at_end.keeps_sessions || self.life.failed.is_some()) && self.n4.store.as_ref().is_some_and(Store::is_good);
        if keeps {
            // What is carried behind the last look at the counters nobody would charge.
            if !self.life.at_end.xdp_stays {
                self.datapath.targets.retire_fast();
            }
            self.datapath.engine.stop();
            // A server that writes all of them at once answers nothing meanwhile, and the lease would end.
            self.n4.node.begin_checkpoint();
            let now = self.life.start.elapsed();
            while self.n4.node.checkpoint_slice(now, &mut self.datapath.plane) {
                self.flush();
            }
        } else {
            self.release(datagrams);
            if let Some(kernel) = &self.datapath.kernel {
                kernel.leave_nothing();
            }
        }
        self.flush();
        if let Some(store) = self.n4.store.take() {
            self.lease = store.close(!keeps);
        }
    }

    fn release(&mut self, datagrams: &Datagrams) {
        // Sessions are released without waiting for packets in flight in XDP.
        self.datapath.targets.retire_fast();
        self.n4.node.release_all(self.life.start.elapsed());
        self.flush();
        while self.n4.node.sessions_ending() > 0 {
            self.life.still_ending.store(self.n4.node.sessions_ending(), Ordering::Relaxed);
            self.node_timeout();
            self.receive_waiting(datagrams, MESSAGES_AT_ONCE);
            self.flush();
        }
        // Final usage is acknowledged, or given up when nobody acknowledges any. Heartbeats are answered meanwhile.
        let (mut left, mut progress) = (usize::MAX, Instant::now());
        while self.n4.node.final_reports_pending() > 0 {
            let now_left = self.n4.node.final_reports_pending();
            if now_left != left {
                (left, progress) = (now_left, Instant::now());
                self.life.still_ending.store(left, Ordering::Relaxed);
            } else if progress.elapsed() >= FINALS_PATIENCE || (progress.elapsed() >= ABSENT_PATIENCE && self.nobody_answers()) {
                self.n4.node.abandon_final_reports(self.life.start.elapsed());
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

    /// Whether no peer is there of those that final usage was sent to.
    fn nobody_answers(&self) -> bool {
        self.n4.node.usage_awaited_from().into_iter().all(|peer| self.n4.output.is_silent(peer, ABSENT_PATIENCE))
    }

    /// After workers have stopped: drops punted packets that were not processed, and packets that wait for neighbours.
    fn drop_punts(&mut self) {
        let left = std::mem::take(&mut self.datapath.backlog).into_iter().chain(self.datapath.events.try_iter());
        let of_punt = |event| if let engine::Event::Punt { packet, .. } = event { Some(packet) } else { None };
        let left = left.filter_map(of_punt).inspect(|packet| self.counted.punted.came(packet.port, packet.len())).count();
        let actions = self.datapath.plane.stop_host(left);
        for action in actions {
            // Tables and ports are of no use any more.
            if let Action::Drop { .. } | Action::Unsent { .. } = action {
                self.act(vec![action]);
            }
        }
        self.life.stopped = true;
    }
}

/// The clock of packets' time stamps, in workers and in the kernel.
fn packets_now() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::report::COUNTED_AT_ONCE;
    use crate::config::Role;
    use crate::datapath::targets::EngineAndTargets;
    use crate::manage::request::{CountsFrom, PortLabel};
    use crate::n4::output::Output;
    use engine::Engine;
    use offload::{Policy, Split};
    use pfcp::codec::{self, Ie, Message, MessageType, NodeId};
    use pfcp::node::Node;
    use pfcp::rules::{Seid, UserPlane};
    use std::net::SocketAddr;
    use target_asic::{Asic, Chip};
    use target_chaos::Chaos;
    use upf::plane::Plane;
    use upf_kit::sessions;

    const S: u64 = 1_000_000_000;

    /// Without ports and N4 traffic; sessions are committed to the plane.
    fn agent() -> (Agent, Arc<Split>, Arc<Chaos>) {
        let ir = Arc::new(p4_driver::compile(std::path::Path::new("upf.p4"), &[], &[("SESSIONS".into(), "1024".into())]).unwrap());
        let chaos = Arc::new(Chaos::new(Box::new(Asic::load(ir.clone(), Chip::default()).unwrap()), 3));
        let base = Asic::oracle(ir.clone()).unwrap();
        let split = Arc::new(Split::new(Box::new(chaos.clone()), Box::new(base), Policy::Share(1.0)).unwrap());
        let targets = split.clone();
        let (events, events_in) = crossbeam_channel::unbounded();
        let engine = Arc::new(Engine::start(&(split.clone() as Arc<dyn Target>), vec![Vec::new()], Default::default(), events).unwrap());
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
        let socket = Arc::new(std::net::UdpSocket::bind((loopback, 0)).unwrap());
        let output = Arc::new(Output::new(socket).unwrap());
        let n4 = N4 { node: Node::new(config).unwrap(), output, dropped: Default::default(), store: None };
        let (services, backlog) = Default::default();
        let datapath = Datapath { plane, targets, services, engine, events: events_in, backlog, kernel: None, ports };
        let life = Life::new(Instant::now(), AtEnd::default(), Default::default(), Default::default());
        let agent = Agent::new(n4, datapath, None, life, None, None);
        (agent, split, chaos)
    }

    /// With a node that has an association, whose requests come to where that came from.
    fn with_an_association(agent: &mut Agent) -> SocketAddr {
        let loopback = std::net::Ipv4Addr::LOCALHOST;
        let mut config = pfcp::config::Config::new(NodeId::Ipv4(loopback), loopback.into(), 0);
        (config.request_port, config.heartbeat_period) = (pfcp::config::RequestPort::Source, None);
        config.gtpu = vec![pfcp::config::GtpuAddress { ipv4: sessions::UPF_N3, network_instance: None, interface: None, default: false }];
        agent.n4.node = Node::new(config).unwrap();
        let smf = SocketAddr::from((loopback, 9));
        let setup = vec![Ie::NodeId(NodeId::Ipv4(loopback)), Ie::RecoveryTimeStamp(1), Ie::CpFunctionFeatures(vec![0])];
        answer_to(agent, smf, Message::node(MessageType::AssociationSetupRequest, 1, setup));
        smf
    }

    fn answer_to(agent: &mut Agent, smf: SocketAddr, request: Message) -> Message {
        agent.receive_n4(&(smf, request.encode().unwrap()));
        let answer = codec::decode(&agent.n4.node.poll_transmit().unwrap().1).unwrap();
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
        let data = EngineAndTargets::new(agent.datapath.targets.clone(), agent.datapath.engine.clone());
        agent.datapath.plane = Plane::new(&network, &agent.datapath.targets.program().clone(), data).unwrap();
        let smf = with_an_association(&mut agent);
        establish(&mut agent, smf, 0);
        let mut reports = Vec::new();
        for _ in 0..80 {
            agent.life.start -= Duration::from_secs(1);
            agent.tick();
            reports.extend(std::iter::from_fn(|| agent.n4.node.poll_transmit()).map(|(_, octets)| codec::decode(&octets).unwrap()));
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
        (agent.n4.node, agent.life.at_end.graceful_release) = (Node::new(config).unwrap(), Some(Duration::from_secs(600)));
        let socket = Arc::new(std::net::UdpSocket::bind((loopback, 0)).unwrap());
        agent.n4.output = Arc::new(Output::new(socket.clone()).unwrap());
        let upf = socket.local_addr().unwrap();
        let datagrams = Datagrams::read(socket, agent.n4.dropped.clone()).unwrap();
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
        assert_eq!((agent.n4.node.associations().count(), agent.life.failed), (0, None));
    }

    /// It waited four seconds, and sent the same report again and again.
    #[test]
    fn the_end_does_not_wait_for_an_smf_that_does_not_answer() {
        let (mut agent, ..) = agent();
        let loopback = std::net::Ipv4Addr::LOCALHOST;
        let mut config = pfcp::config::Config::new(NodeId::Ipv4(loopback), loopback.into(), 0);
        (config.request_port, config.heartbeat_period) = (pfcp::config::RequestPort::Source, None);
        (config.t1, config.n1) = (Duration::from_secs(1), 10);
        agent.n4.node = Node::new(config).unwrap();
        let socket = Arc::new(std::net::UdpSocket::bind((loopback, 0)).unwrap());
        agent.n4.output = Arc::new(Output::new(socket.clone()).unwrap());
        let datagrams = Datagrams::read(socket, agent.n4.dropped.clone()).unwrap();
        let smf = std::net::UdpSocket::bind((loopback, 0)).unwrap();
        let from = smf.local_addr().unwrap();
        let setup = vec![Ie::NodeId(NodeId::Ipv4(loopback)), Ie::RecoveryTimeStamp(1), Ie::CpFunctionFeatures(vec![0])];
        answer_to(&mut agent, from, Message::node(MessageType::AssociationSetupRequest, 1, setup));
        let ue = codec::UeIpAddress { ipv4: Some(sessions::ue(0).into()), destination: true, ..Default::default() };
        let pdi = Ie::Pdi(vec![Ie::SourceInterface(1), Ie::UeIpAddress(ue)]);
        let pdr = vec![Ie::PdrId(1), Ie::Precedence(1), pdi, Ie::FarId(1), Ie::UrrId(1)];
        let far = vec![Ie::FarId(1), Ie::ApplyAction(codec::ApplyActionFlags::DROP)];
        // A report of its volume every five seconds (PERIO).
        let urr = vec![Ie::UrrId(1), Ie::MeasurementMethod(2), Ie::ReportingTriggers(codec::Triggers(1)), Ie::MeasurementPeriod(5)];
        let f_seid = codec::FSeid { seid: 1, ipv4: Some(loopback), ipv6: None };
        let ies = vec![Ie::NodeId(NodeId::Ipv4(loopback)), Ie::FSeid(f_seid), Ie::CreatePdr(pdr), Ie::CreateFar(far), Ie::CreateUrr(urr)];
        answer_to(&mut agent, from, Message::session(MessageType::SessionEstablishmentRequest, 0, 2, ies));
        agent.life.start -= Duration::from_secs(6);
        agent.n4.node.handle_timeout(agent.life.start.elapsed(), &mut agent.datapath.plane);
        let (requests, requests_in) = crossbeam_channel::unbounded();
        requests.send(Request::Stop).unwrap();
        agent.run(&datagrams, &requests_in);
        smf.set_nonblocking(true).unwrap();
        let mut octets = [0; 2048];
        let sent = std::iter::from_fn(|| smf.recv(&mut octets).ok().map(|length| codec::decode(&octets[..length]).unwrap().kind));
        let reports = sent.filter(|kind| *kind == MessageType::SessionReportRequest).count();
        assert!((1..=2).contains(&reports), "{reports} copies of the report");
        assert_eq!(agent.n4.node.stats().lost_usage_reports, 1);
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
            agent.datapath.plane.commit(u64::from(n) + 1, Some(&sessions::rules(n))).unwrap();
        }
        assert_eq!(run(&mut agent), ((4, 4), 0, false, 0, 0));
        chaos.kill();
        // The next change finds it out.
        agent.datapath.plane.commit(5, Some(&sessions::rules(4))).unwrap();
        agent.bring_back(S);
        assert_eq!(run(&mut agent), ((0, 4), 4, true, 1, 0));
        // It is still dead at the first attempt.
        agent.bring_back(2 * S);
        assert_eq!(run(&mut agent), ((0, 4), 8, true, 1, 0));
        chaos.heal();
        agent.bring_back(3 * S);
        assert!(split.is_retired(), "it waits longer");
        agent.bring_back(4 * S);
        // The one that began meanwhile is there too.
        assert_eq!(run(&mut agent), ((5, 8), 8, false, 1, 1));
        let charged: Vec<u64> = (1..=5).map(|seid| agent.datapath.plane.carried_by(seid).unwrap().packets()).collect();
        assert_eq!(charged, [4, 4, 4, 4, 0]);
    }
}
