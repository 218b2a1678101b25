//! How far away is the data network? A thread between two interfaces that carries every frame to the other one, later: [`link`] with raw sockets.

use crate::demo::netns::Namespace;
use base::Packet;
use cli::failure::Failure;
use link::{Config, Link};
use pktio::{AfPacket, Port};
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wire::{ethernet, ipv4};

/// Frames that are received at a time.
const BURST: usize = 64;
/// Longest frame of these links.
const FRAME_BYTES: usize = 2048;
/// How late a frame may be carried on.
const NAP: Duration = Duration::from_micros(100);
/// The same while nothing is on the way.
const IDLE_NAP: Duration = Duration::from_millis(10);
/// How often a frame is offered to a device that is busy.
const ATTEMPTS: u32 = 1000;

/// The running line.
pub(super) struct DelayLine {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<Carried, Failure>>>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    delay_ns: AtomicU64,
}

/// What came out of the UPF.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// Bytes of IPv4 packets by source.
    pub uplink: HashMap<Ipv4Addr, u64>,
    /// Frames that were lost on the line, both ways: none, or the machine was too slow.
    pub lost: u64,
}

impl DelayLine {
    /// Carries frames between the interfaces `n6` and `dn` of a namespace.
    pub(super) fn start(line: &Namespace) -> Result<DelayLine, Failure> {
        let options = pktio::af_packet::Options { promiscuous: true, ..Default::default() };
        let open = || -> Result<_, pktio::PortError> { Ok([AfPacket::open("n6", "n6", options)?, AfPacket::open("dn", "dn", options)?]) };
        let ports = line.inside(open)?.map_err(|e| Failure::Failed(e.to_string()))?;
        let shared = Arc::new(Shared::default());
        let of_thread = shared.clone();
        let carry = move || {
            super::stay_on_this_cpu()?;
            Line::new(ports)?.carry(&of_thread)
        };
        let thread = std::thread::Builder::new().name("delay-line".into()).spawn(carry);
        let thread = thread.map_err(|e| Failure::Failed(format!("cannot start a thread: {e}")))?;
        Ok(DelayLine { shared, thread: Some(thread) })
    }

    /// What comes from now on is so long on its way, in each direction.
    pub(super) fn delay(&self, delay: Duration) {
        self.shared.delay_ns.store(delay.as_nanos() as u64, Relaxed);
    }

    /// Carries what has come so far, and ends.
    pub(super) fn end(mut self) -> Result<Carried, Failure> {
        self.shared.stop.store(true, Relaxed);
        let thread = self.thread.take().expect("it ends once");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for DelayLine {
    fn drop(&mut self) {
        self.shared.stop.store(true, Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

struct Line {
    ports: [AfPacket; 2],
    /// From the port of that number to the other one.
    links: [Link<Packet>; 2],
    burst: Vec<Packet>,
    spare: Vec<Packet>,
    carried: Carried,
    began: Instant,
}

impl Line {
    fn new(ports: [AfPacket; 2]) -> Result<Line, Failure> {
        let link = |seed| Link::new(Config::default(), seed).map_err(|e| Failure::Failed(e.to_string()));
        let burst = (0..BURST).map(|_| Packet::empty(FRAME_BYTES)).collect();
        Ok(Line { ports, links: [link(0)?, link(1)?], burst, spare: Vec::new(), carried: Carried::default(), began: Instant::now() })
    }

    fn carry(mut self, shared: &Shared) -> Result<Carried, Failure> {
        let mut delay_ns = 0;
        loop {
            // Before it receives: what has come until then is carried.
            let stop = shared.stop.load(Relaxed);
            let wanted_ns = shared.delay_ns.load(Relaxed);
            if wanted_ns != delay_ns {
                delay_ns = wanted_ns;
                self.links.iter_mut().try_for_each(|link| link.set_delay(delay_ns)).map_err(|e| Failure::Failed(e.to_string()))?;
            }
            let received = self.receive(0)? + self.receive(1)?;
            let sent = self.transmit(0)? + self.transmit(1)?;
            if received + sent > 0 {
                continue;
            }
            match self.links.iter().filter_map(Link::next_arrival).min() {
                Some(at_ns) => std::thread::sleep(NAP.min(Duration::from_nanos(at_ns.saturating_sub(self.now_ns())))),
                None if stop => return Ok(self.carried),
                None => {
                    let fds: Vec<_> = self.ports.iter().filter_map(Port::fd).collect();
                    pktio::wait(&fds, IDLE_NAP).map_err(|e| Failure::Failed(format!("the delay line cannot wait: {e}")))?;
                }
            }
        }
    }

    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    fn receive(&mut self, from: usize) -> Result<usize, Failure> {
        let received = self.ports[from].receive(&mut self.burst).map_err(|e| Failure::Failed(e.to_string()))?;
        let now_ns = self.now_ns();
        for i in 0..received {
            let spare = self.spare.pop().unwrap_or_else(|| Packet::empty(FRAME_BYTES));
            let packet = std::mem::replace(&mut self.burst[i], spare);
            if from == 0 {
                self.count(packet.data());
            }
            let bytes = packet.len();
            if self.links[from].send(packet, bytes, now_ns).is_err() {
                self.carried.lost += 1;
            }
        }
        Ok(received)
    }

    fn count(&mut self, frame: &[u8]) {
        let Ok(frame) = ethernet::Frame::new_checked(frame) else { return };
        if frame.ethertype() == ethernet::IPV4
            && let Ok(packet) = ipv4::Packet::new_checked(frame.payload())
        {
            *self.carried.uplink.entry(packet.src()).or_default() += packet.bytes().len() as u64;
        }
    }

    fn transmit(&mut self, from: usize) -> Result<usize, Failure> {
        let now_ns = self.now_ns();
        let mut due = Vec::new();
        while due.len() < BURST
            && let Some(packet) = self.links[from].receive(now_ns)
        {
            due.push(packet);
        }
        if due.is_empty() {
            return Ok(0);
        }
        let to = &mut self.ports[1 - from];
        let (mut sent, mut attempts) = (0, 0);
        while sent < due.len() && attempts < ATTEMPTS {
            sent += to.transmit(&due[sent..]).map_err(|e| Failure::Failed(e.to_string()))?;
            to.flush().map_err(|e| Failure::Failed(e.to_string()))?;
            attempts += 1;
        }
        self.carried.lost += (due.len() - sent) as u64;
        let count = due.len();
        self.spare.extend(due);
        Ok(count)
    }
}
