//! What does one side of the tester do? It sends its direction's packets when they are due, counts and times those of the other
//! direction, mirrors some of them, and answers ARP and GTP-U echo, as a neighbour must. Time is an argument.

use crate::frames::{self, Maker};
use crate::outcome::OwnDrops;
use crate::plan::{Plan, Sizes};
use crate::seen::{Arrival, Seen};
use crate::sink::{self, Received};
use crate::tag::Tag;
use crate::{Direction, Error};
use base::Packet;
use hdrhistogram::Histogram;
use pktio::{DeviceDrops, Port, PortError};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use wire::ethernet::Mac;
use wire::{arp, ethernet, gtpu};

/// Packets that a port is offered at once.
const BURST: usize = 64;
/// Replies that wait for the port at most.
const MOST_REPLIES: usize = 4096;
/// A sender that is late has this share of the trial more for what is due.
const GRACE: u64 = 100;

/// Where a side stands.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Our MAC address.
    pub mac: Mac,
    /// Our IP address, for which we answer ARP.
    pub address: Ipv4Addr,
    /// Whom frames are sent to; asked for by ARP if `next_hop` is `None`.
    pub gateway: Ipv4Addr,
    /// Its MAC address.
    pub next_hop: Option<Mac>,
}

/// What both sides know of a trial while it runs; by direction.
#[derive(Default)]
pub struct Board {
    /// Numbers below this may be on their way.
    announced: [AtomicU64; 2],
    pub(crate) sent: [AtomicU64; 2],
    pub(crate) received: [AtomicU64; 2],
    /// Of replies to a direction's packets.
    pub(crate) replies_sent: [AtomicU64; 2],
    pub(crate) replies_received: [AtomicU64; 2],
    /// Whether all is sent.
    pub(crate) done: [AtomicBool; 2],
}

/// What a side sends in a trial.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Names the trial.
    pub trial: u8,
    /// Packets a second; `None`: as many as go.
    pub rate: Option<f64>,
    /// Length in nanoseconds.
    pub duration_ns: u64,
    /// Of how many packets one is mirrored; 0: none.
    pub mirror: u32,
    /// Lengths.
    pub sizes: Sizes,
}

/// What a side has counted in a trial: what it received is of the other direction, replies of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: u64,
    pub(crate) sent_until_ns: u64,
    pub(crate) received: u64,
    pub(crate) received_bytes: u64,
    pub(crate) duplicates: u64,
    pub(crate) reordered: u64,
    pub(crate) too_late: u64,
    pub(crate) misdelivered: u64,
    pub(crate) foreign: u64,
    pub(crate) error_indications: u64,
    /// Replies to the other direction's packets.
    pub(crate) mirrored: u64,
    pub(crate) not_mirrored: u64,
    pub(crate) replies_received: u64,
}

/// One side.
pub struct Side {
    sends: Direction,
    plan: Arc<Plan>,
    /// Receive queues; the first one sends.
    ports: Vec<Box<dyn Port>>,
    link: Link,
    arrivals: Vec<Packet>,
    requests: Batch,
    replies: Batch,
    control: Batch,
    seen: Seen,
    seen_replies: Seen,
    trial: Option<Running>,
    pub(crate) counts: Counts,
    pub(crate) latency: Histogram<u64>,
    pub(crate) rtt: Histogram<u64>,
    drops_before: DeviceDrops,
}

/// A trial that runs.
struct Running {
    task: Task,
    maker: Maker,
    board: Arc<Board>,
    /// Packets in all, where there is a rate.
    total: u64,
    done: bool,
}

impl Side {
    /// Sends a direction's packets from these ports.
    ///
    /// # Errors
    /// [`Error::Usage`] without a port.
    pub fn new(sends: Direction, plan: Arc<Plan>, ports: Vec<Box<dyn Port>>, link: Link) -> Result<Side, Error> {
        if ports.is_empty() {
            return Err(Error::Usage("a side has no port".into()));
        }
        Ok(Side {
            sends,
            plan,
            ports,
            link,
            arrivals: (0..BURST).map(|_| Packet::empty(0)).collect(),
            requests: Batch::default(),
            replies: Batch::default(),
            control: Batch::default(),
            seen: Seen::default(),
            seen_replies: Seen::default(),
            trial: None,
            counts: Counts::default(),
            latency: histogram()?,
            rtt: histogram()?,
            drops_before: DeviceDrops::default(),
        })
    }

    /// Whether it knows whom to send to.
    pub(crate) fn is_resolved(&self) -> bool {
        self.link.next_hop.is_some()
    }

    /// The address that it asks for.
    pub(crate) fn gateway(&self) -> Ipv4Addr {
        self.link.gateway
    }

    /// Asks for the next hop's MAC address, unless it is known.
    pub(crate) fn ask(&mut self) {
        if self.link.next_hop.is_none() {
            self.send_arp(arp::Operation::Request, Mac::default(), self.link.gateway);
        }
    }

    /// Begins a trial.
    ///
    /// # Errors
    /// [`Error::Usage`] if a frame is longer than the port's.
    pub(crate) fn begin(&mut self, task: Task, board: Arc<Board>) -> Result<(), Error> {
        let to = self.link.next_hop.unwrap_or(Mac::BROADCAST);
        let maker = Maker::new(&self.plan, self.sends, task.sizes, self.link.mac, to);
        let most = self.ports[0].max_frame();
        if maker.longest() > most {
            let name = self.ports[0].name();
            return Err(Error::Usage(format!(
                "{name}: frames of {} bytes, at most {most} fit: raise its MTU or send shorter ones",
                maker.longest()
            )));
        }
        let total = task.rate.map_or(u64::MAX, |rate| (rate * task.duration_ns as f64 / 1e9).ceil() as u64);
        for batch in [&mut self.requests, &mut self.replies] {
            batch.clear();
        }
        self.seen.clear();
        self.seen_replies.clear();
        self.latency.reset();
        self.rtt.reset();
        self.counts = Counts::default();
        self.drops_before = self.device_drops();
        self.trial = Some(Running { task, maker, board, total, done: false });
        Ok(())
    }

    /// What our ports have dropped since the trial began.
    pub(crate) fn own_drops(&mut self) -> OwnDrops {
        let before = self.drops_before;
        OwnDrops::since(self.device_drops(), before)
    }

    fn device_drops(&mut self) -> DeviceDrops {
        self.ports.iter_mut().map(|port| port.device_drops()).fold(DeviceDrops::default(), |sum, of| DeviceDrops {
            rx_full: sum.rx_full + of.rx_full,
            rx_invalid: sum.rx_invalid + of.rx_invalid,
            tx_invalid: sum.tx_invalid + of.tx_invalid,
        })
    }

    /// Receives what is there and sends what is due; whether there was anything. `clock` gives nanoseconds since the trial began.
    ///
    /// # Errors
    /// [`PortError`] of a port.
    pub(crate) fn poll(&mut self, clock: &dyn Fn() -> u64) -> Result<bool, PortError> {
        let received = self.receive(clock)?;
        let sent = self.send(clock())?;
        Ok(received || sent)
    }

    fn receive(&mut self, clock: &dyn Fn() -> u64) -> Result<bool, PortError> {
        let mut any = false;
        for queue in 0..self.ports.len() {
            let count = self.ports[queue].receive(&mut self.arrivals)?;
            if count == 0 {
                continue;
            }
            any = true;
            let now_ns = clock();
            let arrivals = std::mem::take(&mut self.arrivals);
            for packet in &arrivals[..count] {
                self.take(sink::read(packet.data(), &self.plan, self.sends.back()), now_ns);
            }
            self.arrivals = arrivals;
        }
        Ok(any)
    }

    fn take(&mut self, received: Received, now_ns: u64) {
        match received {
            Received::Ours(tag, bytes) => self.take_ours(tag, bytes, now_ns),
            Received::Misdelivered(tag) if self.trial.as_ref().is_some_and(|trial| trial.task.trial == tag.trial) => {
                self.counts.misdelivered += 1;
            }
            Received::Misdelivered(_) | Received::Foreign => self.counts.foreign += 1,
            Received::ErrorIndication => self.counts.error_indications += 1,
            Received::Echo { from, mac, sequence } => self.answer_echo(from, mac, sequence),
            Received::Arp(message) => self.take_arp(&message),
        }
    }

    fn take_ours(&mut self, tag: Tag, bytes: usize, now_ns: u64) {
        let Some(running) = &self.trial else { return };
        // What an earlier trial has left behind.
        if tag.trial != running.task.trial {
            return;
        }
        let of = if tag.reply { self.sends } else { self.sends.back() };
        let mirror = u64::from(running.task.mirror);
        let is_mirrored = mirror > 0 && tag.sequence.is_multiple_of(mirror);
        // Nobody has sent these.
        if tag.sequence >= running.board.announced[of as usize].load(Acquire) || (tag.reply && !is_mirrored) {
            self.counts.foreign += 1;
            return;
        }
        let took_ns = now_ns.saturating_sub(tag.time_ns).max(1);
        if tag.reply {
            if matches!(self.seen_replies.note(tag.sequence / mirror), Arrival::InOrder | Arrival::Reordered) {
                self.counts.replies_received += 1;
                running.board.replies_received[of as usize].store(self.counts.replies_received, Relaxed);
                self.rtt.saturating_record(took_ns);
            }
            return;
        }
        match self.seen.note(tag.sequence) {
            Arrival::InOrder => {}
            Arrival::Reordered => self.counts.reordered += 1,
            Arrival::Duplicate => return self.counts.duplicates += 1,
            Arrival::TooLate => return self.counts.too_late += 1,
        }
        self.counts.received += 1;
        self.counts.received_bytes += bytes as u64;
        running.board.received[of as usize].store(self.counts.received, Relaxed);
        self.latency.saturating_record(took_ns);
        if is_mirrored {
            let reply = Tag { direction: self.sends, reply: true, ..tag };
            match self.replies.slot(MOST_REPLIES) {
                Some(packet) => _ = running.maker.write(&self.plan, &reply, packet),
                None => self.counts.not_mirrored += 1,
            }
        }
    }

    fn take_arp(&mut self, message: &arp::Repr) {
        let wanted = message.sender_ip == self.link.gateway;
        if message.operation == arp::Operation::Reply && wanted && self.link.next_hop.is_none() {
            self.link.next_hop = Some(message.sender_mac);
        }
        if message.operation == arp::Operation::Request && message.target_ip == self.link.address {
            self.send_arp(arp::Operation::Reply, message.sender_mac, message.sender_ip);
        }
    }

    fn send_arp(&mut self, operation: arp::Operation, target_mac: Mac, target_ip: Ipv4Addr) {
        let to = if operation == arp::Operation::Request { Mac::BROADCAST } else { target_mac };
        let mut frame = Vec::with_capacity(60);
        ethernet::Repr { dst: to, src: self.link.mac, ethertype: ethernet::ARP }.emit(&mut frame);
        arp::Repr { operation, sender_mac: self.link.mac, sender_ip: self.link.address, target_mac, target_ip }.emit(&mut frame);
        // The shortest frame without its check sequence.
        frame.resize(60, 0);
        self.send_control(&frame);
    }

    fn answer_echo(&mut self, from: Ipv4Addr, mac: Mac, sequence: Option<u16>) {
        let mut message = Vec::new();
        gtpu::Repr::new(0, Some(sequence.unwrap_or(0)), gtpu::Message::EchoResponse).emit(&mut message);
        let mut frame = Vec::new();
        ethernet::Repr { dst: mac, src: self.link.mac, ethertype: ethernet::IPV4 }.emit(&mut frame);
        frames::tunnel(&mut frame, self.link.address, from, &message);
        frame.resize(frame.len().max(60), 0);
        self.send_control(&frame);
    }

    /// What does not fit is asked for again.
    fn send_control(&mut self, frame: &[u8]) {
        if let Some(packet) = self.control.slot(BURST) {
            packet.set(frame);
        }
    }

    fn send(&mut self, now_ns: u64) -> Result<bool, PortError> {
        let Side { ports, requests, replies, control, trial, counts, plan, sends, .. } = self;
        let port = &mut ports[0];
        let mut taken = control.transmit(port)?;
        let Some(running) = trial else {
            if taken > 0 {
                port.flush()?;
            }
            return Ok(taken > 0);
        };
        let mirrored = replies.transmit(port)?;
        if mirrored > 0 {
            counts.mirrored += mirrored as u64;
            // Replies are to packets of the other direction.
            running.board.replies_sent[sends.back() as usize].store(counts.mirrored, Relaxed);
        }
        if !running.done {
            let sent = running.send(*sends, plan, requests, counts.sent, port, now_ns)?;
            taken += sent;
            counts.sent += sent as u64;
            if sent > 0 {
                running.board.sent[*sends as usize].store(counts.sent, Relaxed);
            }
            running.done = running.is_over(counts.sent, now_ns);
            if running.done {
                requests.clear();
                counts.sent_until_ns = now_ns;
                running.board.done[*sends as usize].store(true, Release);
            }
        }
        if taken + mirrored > 0 {
            port.flush()?;
        }
        Ok(taken + mirrored > 0)
    }
}

impl Running {
    /// Makes packets that are due and offers them to the port; how many it took. `next` is the number of the first that it has not taken.
    fn send(
        &mut self,
        sends: Direction,
        plan: &Plan,
        batch: &mut Batch,
        next: u64,
        port: &mut Box<dyn Port>,
        now_ns: u64,
    ) -> Result<usize, PortError> {
        if batch.is_empty() {
            let due = match self.task.rate {
                None if now_ns < self.task.duration_ns => next + BURST as u64,
                None => next,
                Some(rate) => ((now_ns as f64 * rate / 1e9) as u64 + 1).min(self.total),
            };
            let until = due.min(next + BURST as u64).max(next);
            self.board.announced[sends as usize].store(until, Release);
            for sequence in next..until {
                // Latency counts from when a packet was due, whether or not it could be sent in time: no coordinated omission.
                let time_ns = self.task.rate.map_or(now_ns, |rate| (sequence as f64 * 1e9 / rate) as u64);
                let tag = Tag { trial: self.task.trial, direction: sends, reply: false, sequence, time_ns };
                if let Some(packet) = batch.slot(BURST) {
                    self.maker.write(plan, &tag, packet);
                }
            }
        }
        batch.transmit(port)
    }

    fn is_over(&self, sent: u64, now_ns: u64) -> bool {
        let end_ns = self.task.duration_ns;
        sent >= self.total || now_ns >= end_ns + if self.task.rate.is_some() { end_ns / GRACE } else { 0 }
    }
}

/// Packets for a port, in order. Buffers stay for the next ones.
#[derive(Default)]
struct Batch {
    packets: Vec<Packet>,
    filled: usize,
    given: usize,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.given == self.filled
    }

    fn clear(&mut self) {
        (self.filled, self.given) = (0, 0);
    }

    /// A packet to fill, the last in order; `None` if `most` are there.
    fn slot(&mut self, most: usize) -> Option<&mut Packet> {
        if self.filled == most {
            return None;
        }
        if self.filled == self.packets.len() {
            self.packets.push(Packet::empty(0));
        }
        self.filled += 1;
        self.packets.get_mut(self.filled - 1)
    }

    /// Offers what is there; how many the port took.
    fn transmit(&mut self, port: &mut Box<dyn Port>) -> Result<usize, PortError> {
        if self.is_empty() {
            return Ok(0);
        }
        let taken = port.transmit(&self.packets[self.given..self.filled])?;
        self.given += taken;
        if self.is_empty() {
            self.clear();
        }
        Ok(taken)
    }
}

/// From a nanosecond to a minute, three digits.
fn histogram() -> Result<Histogram<u64>, Error> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3).map_err(|e| Error::Failed(e.to_string()))
}
