//! AF_XDP sockets on the queues of an interface: packets skip the kernel's stack.
//!
//! A program of a few instructions redirects what arrives by a queue to the queue's socket ([`AfXdp::open_queues`]), or to one of
//! several sockets of the queue, a worker each, by an address in the packet ([`AfXdp::open_steered`]): then buckets of addresses move
//! between workers while packets flow ([`crate::Steering`]), and there may be more workers than queues. The program hangs on a
//! BPF link that this process holds: when the ports are dropped or the process ends, however it ends, the interface is as it was.
//! ARP, neighbour discovery and a tunnel protocol's messages of paths have a small ring of their own on each queue, of which the first worker takes
//! up to a fourth of a burst: neither a flood of users' packets nor one of theirs costs the other its place.
//!
//! Frames are 2 KiB up to an MTU of 1774, otherwise 4 KiB, of which the kernel keeps 256 bytes: longest packet 3840 bytes, so MTU 3822 at most. What
//! is longer than the MTU that the interface had when it was opened may be dropped, and is counted. Copy mode works with every driver; zero-copy is tried
//! first if asked for.
//!
//! On veth
//! - the program must run at the receiving end only; what the port transmits reaches the far end as from any sender;
//! - the kernel refuses native mode if the *far* end's MTU exceeds about 3.5 KB, and stops it from sending packets beyond its MTU
//!   (segmentation offload) while the program is attached;
//! - the far end's kernel still leaves checksums unfinished, and nothing in the packet says so. The port recognises such packets
//!   ([`Options::finish_checksums`], on for veth) and finishes them. Checksums inside a tunnel cannot be told apart: turn
//!   off the sender's offloads with [`crate::interface::disable_offloads`];
//! - VLAN tags that the far end's kernel left to its device are lost: the same remedy.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::sync::Arc;

use base::Packet;

use crate::indirection::Indirection;
use crate::sys::net::index_exists;
use crate::sys::xsk::{Copying, Xsk};
use crate::xdp_device::{Device, Opened, SocketMap, check, ring_of_each};
use crate::{DeviceDrops, Interface, Port, PortError, Steering, checksum, steer_program};

pub use crate::steer_program::{Frames, Tunnels};

/// How to open [`AfXdp`] ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where the redirecting program runs.
    pub mode: Mode,
    /// Try zero-copy before copy mode.
    pub zero_copy: bool,
    /// Frames in each direction, a power of two: to receive, of each socket of a queue, up to four; to send, of the queue. 2 or 4 KiB each,
    /// locked in memory: without CAP_IPC_LOCK fewer are taken if the memlock limit asks for it.
    pub ring: u32,
    /// Finish TCP and UDP checksums that a local sender left unfinished; `None`: if the driver is veth.
    pub finish_checksums: Option<bool>,
}

impl Default for Options {
    fn default() -> Options {
        Options { mode: Mode::Native, zero_copy: false, ring: 2048, finish_checksums: None }
    }
}

/// Where an XDP program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the driver, before the kernel makes a socket buffer: needs support by the driver.
    Native,
    /// In the stack: any driver, slower.
    Generic,
}

/// The port of one queue, or of one worker on one queue. See the file's top.
pub struct AfXdp {
    name: String,
    interface: Interface,
    xsk: Xsk,
    /// Where ARP, neighbour discovery and messages of paths come: the first worker's, of each queue.
    reserve: Option<Xsk>,
    /// Keeps our program while any port is open, and reopens the port.
    device: Arc<Device>,
    queue: u32,
    worker: u16,
    finish_checksums: bool,
    /// Whether another program marks packets by flow.
    joined: bool,
    zero_copy: bool,
    refused: u64,
    /// Receives in a row that found nothing.
    idle: u32,
    removed: bool,
}

/// Another XDP program that redirects packets to our sockets.
pub struct Joined<'p> {
    /// Its map of sockets (XSKMAP).
    pub sockets: BorrowedFd<'p>,
    /// Where in it a receive queue's socket belongs.
    pub key: &'p dyn Fn(u32) -> Option<u32>,
    /// How far behind that the socket for what must not be lost behind users' packets belongs.
    pub reserve: u32,
}

/// The steering program, for another XDP program to tail-call. It has the same context.
pub struct Steerer(Arc<Device>);

impl AsFd for Steerer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.program().expect("a device whose packets are steered has a program for it")
    }
}

/// What a program that a port has joined may leave in the eight bytes in front of a packet, as XDP metadata: this, and in the low 32 bits
/// [`Packet::flow`].
pub const FLOW_MARK: u64 = 0x5350_464c << 32;

/// Idle receives after which the socket is asked for an error: rings stay silent when an interface goes away.
const IDLE_CHECK: u32 = 512;
/// Of the packets of a receive call so many, a fourth, may be the reserve's, so that a flood of it does not displace users' packets.
const RESERVE_SHARE: usize = 4;
/// Most sockets of a queue: as many workers as an engine has.
const MOST_WORKERS: usize = 64;

impl AfXdp {
    /// Opens queue 0 of `interface` as the port that the configuration calls `label` (`lan`).
    /// Packets of other queues go to the kernel; a warning says so.
    ///
    /// # Errors
    /// [`PortError::Config`] for a missing, downed or busy interface, an MTU that does not fit, a driver without native mode;
    /// [`PortError::Permission`] naming the missing capability (CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF).
    pub fn open(label: &str, interface: &str, options: Options) -> Result<AfXdp, PortError> {
        let mut ports = AfXdp::open_queues(label, interface, &[0], Frames::default(), options)?;
        ports.pop().ok_or_else(|| PortError::Config(format!("{label}: no queue was asked for")))
    }

    /// Opens several queues, which share one program: a port each, in the order of `queues`. `frames` tells what is on the wire.
    ///
    /// # Errors
    /// As [`AfXdp::open`]; and [`PortError::Config`] if there is no such queue.
    pub fn open_queues(label: &str, interface: &str, queues: &[u32], frames: Frames, options: Options) -> Result<Vec<AfXdp>, PortError> {
        let interface = Interface::find(label, interface)?.require_up()?;
        check(&interface, queues, options)?;
        let instructions = |sockets: BorrowedFd<'_>| steer_program::by_queue(frames, sockets, interface.rx_queues);
        let map = SocketMap::load(&interface, 1, Some(options.mode), instructions)?;
        let places = queues.iter().map(|queue| (*queue, *queue)).collect();
        let (device, opened) = Device::open(label, &interface, places, map, None, options)?;
        Ok(ports(&Arc::new(device), opened, false).into_iter().flatten().collect())
    }

    /// Opens all queues for `workers` workers: for each worker its ports, one for each queue. Packets go to workers by their addresses,
    /// as [`Port::steering`] says, all to worker 0 at first; `frames` tells where the address is in them.
    ///
    /// # Errors
    /// As [`AfXdp::open`]; and [`PortError::Config`] for no worker or more than 64; [`PortError::Io`] where the kernel cannot tell
    /// when packets have left its hands (`nohz_full` cores).
    pub fn open_steered(
        label: &str,
        interface: &str,
        workers: usize,
        frames: Frames,
        options: Options,
    ) -> Result<Vec<Vec<AfXdp>>, PortError> {
        AfXdp::steered(label, interface, workers, frames, options, false).map(|(ports, _)| ports)
    }

    /// Opens several queues that another XDP program, attached already, redirects to: a port each, in the order of
    /// `queues`. `options.mode` has no effect. Reopened ports join again; the caller attaches its program.
    ///
    /// # Errors
    /// As [`AfXdp::open_queues`]; and [`PortError::Config`] if the program has no place for a queue.
    pub fn join_queues(label: &str, interface: &str, queues: &[u32], options: Options, program: &Joined) -> Result<Vec<AfXdp>, PortError> {
        let interface = Interface::find(label, interface)?.require_up()?;
        check(&interface, queues, options)?;
        let place = |queue: &u32| {
            let none =
                || format!("the XDP program has no place for queue {queue} of `{}`: reduce queues with `ethtool -L`", interface.name);
            let key = (program.key)(*queue).ok_or_else(|| PortError::Config(none()))?;
            Ok((*queue, key))
        };
        let places = queues.iter().map(place).collect::<Result<_, PortError>>()?;
        let copy = program.sockets.try_clone_to_owned();
        let sockets = copy.map_err(|e| PortError::io(format!("af_xdp on `{}`: the program's map", interface.name), e))?;
        let map = SocketMap { sockets, step: program.reserve, program: None, hook: None };
        let (device, opened) = Device::open(label, &interface, places, map, None, options)?;
        Ok(ports(&Arc::new(device), opened, true).into_iter().flatten().collect())
    }

    /// As [`AfXdp::open_steered`], for packets that another XDP program, attached already, redirects: by a
    /// tail call to the program that comes with the ports. `options.mode` has no effect.
    ///
    /// # Errors
    /// As [`AfXdp::open_steered`].
    pub fn join_steered(
        label: &str,
        interface: &str,
        workers: usize,
        frames: Frames,
        options: Options,
    ) -> Result<(Vec<Vec<AfXdp>>, Steerer), PortError> {
        let (ports, device) = AfXdp::steered(label, interface, workers, frames, options, true)?;
        Ok((ports, Steerer(device)))
    }

    fn steered(
        label: &str,
        interface: &str,
        workers: usize,
        frames: Frames,
        options: Options,
        joined: bool,
    ) -> Result<(Vec<Vec<AfXdp>>, Arc<Device>), PortError> {
        if !(1..=MOST_WORKERS).contains(&workers) {
            return Err(PortError::Config(format!("{label}: {workers} workers, instead of 1 to {MOST_WORKERS}")));
        }
        let interface = Interface::find(label, interface)?.require_up()?;
        let queues = interface.rx_queues;
        let all: Vec<u32> = (0..queues).collect();
        check(&interface, &all, options)?;
        let indirection = Arc::new(Indirection::new(&interface.name, workers)?);
        let instructions = |sockets: BorrowedFd<'_>| steer_program::by_address(frames, indirection.map(), sockets, queues, workers as u32);
        let map = SocketMap::load(&interface, workers, (!joined).then_some(options.mode), instructions)?;
        let options = Options { ring: ring_of_each(options.ring, workers), ..options };
        let places = all.iter().map(|queue| (*queue, *queue)).collect();
        let (device, opened) = Device::open(label, &interface, places, map, Some((workers, indirection)), options)?;
        let device = Arc::new(device);
        let mut of_workers: Vec<Vec<AfXdp>> = (0..workers).map(|_| Vec::new()).collect();
        for ports in ports(&device, opened, joined) {
            of_workers.iter_mut().zip(ports).for_each(|(worker, port)| worker.push(port));
        }
        Ok((of_workers, device))
    }

    fn new(device: &Arc<Device>, opened: Opened, joined: bool) -> AfXdp {
        let Opened { interface, queue, worker, xsk, reserve, copying } = opened;
        let of_queue = if interface.rx_queues > 1 { format!(" queue {queue}") } else { String::new() };
        let of_worker = if device.steered.is_some() { format!(" worker {worker}") } else { String::new() };
        AfXdp {
            name: format!("{} (af_xdp {}{of_queue}{of_worker})", device.label, interface.name),
            xsk,
            reserve,
            device: device.clone(),
            queue,
            worker,
            finish_checksums: device.options.finish_checksums.unwrap_or(interface.driver == "veth"),
            joined,
            zero_copy: copying == Copying::Zero,
            interface,
            refused: 0,
            idle: 0,
            removed: false,
        }
    }

    /// The interface as it was when opened.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Whether the device reads and writes the port's memory itself.
    pub fn zero_copy(&self) -> bool {
        self.zero_copy
    }

    /// Lets the kernel send what is queued. One kick sends a limited number, so several may be due; what a busy
    /// device leaves over goes with a later flush.
    fn kick(&mut self) -> Result<(), PortError> {
        let mut left = self.xsk.unsent();
        while left > 0 && self.xsk.wants_kick() {
            match self.xsk.kick() {
                Ok(()) => {}
                Err(e) => match (e.raw_os_error(), e.kind()) {
                    (_, ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                    (Some(libc::EBUSY | libc::ENOBUFS | libc::ENOMEM), _) => break,
                    (Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV), _) => return self.ask_link(),
                    _ => return Err(PortError::io(format!("{}: transmit", self.name), e)),
                },
            }
            let now = self.xsk.unsent();
            if now >= left {
                break;
            }
            left = now;
        }
        Ok(())
    }

    /// The interface is down or gone: which of the two?
    fn ask_link(&mut self) -> Result<(), PortError> {
        self.removed |= !index_exists(self.interface.index);
        if !self.removed {
            return Ok(());
        }
        Err(PortError::io(
            format!("{}: interface `{}` was removed while in use", self.name, self.interface.name),
            io::Error::from_raw_os_error(libc::ENXIO),
        ))
    }
}

impl Port for AfXdp {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        let (finish, joined) = (self.finish_checksums, self.joined);
        let mut places = packets.iter_mut();
        let share = places.len().div_ceil(RESERVE_SHARE);
        let urgent = self.reserve.as_mut().map_or(0, |xsk| {
            xsk.receive(share, |bytes, _| {
                let Some(packet) = places.next() else { return };
                packet.set(bytes);
                packet.flow = 0;
            })
        });
        let count = urgent
            + self.xsk.receive(places.len(), |bytes, word| {
                let Some(packet) = places.next() else { return };
                packet.set(bytes);
                packet.flow = if joined && word >> 32 == FLOW_MARK >> 32 { word as u32 } else { 0 };
                if finish {
                    checksum::complete_if_unfinished(packet.data_mut());
                }
            });
        if count > 0 {
            self.idle = 0;
            return Ok(count);
        }
        self.idle = self.idle.wrapping_add(1);
        if self.idle.is_multiple_of(IDLE_CHECK) {
            if self.removed || self.xsk.pending_error().is_err() {
                self.ask_link()?;
            }
            // What a busy device left over must not wait for the next packet to send.
            self.kick()?;
        }
        Ok(0)
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        let mut taken = 0;
        self.xsk.reserve(packets.len());
        for packet in packets {
            if packet.len() > self.xsk.max_frame() || packet.is_empty() {
                self.refused += 1;
            } else if !self.xsk.transmit(packet.data()) {
                break;
            }
            taken += 1;
        }
        self.xsk.submit();
        if taken < packets.len() {
            self.flush()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> Result<(), PortError> {
        // A worker that ends keeps nothing from the others.
        self.xsk.give_back();
        if let Some(reserve) = &mut self.reserve {
            reserve.give_back();
        }
        self.kick()
    }

    fn reopen(&self) -> Option<Result<Box<dyn Port>, PortError>> {
        let port = |opened| Box::new(AfXdp::new(&self.device, opened, self.joined)) as Box<dyn Port>;
        Some(self.device.open_again(self.queue, self.worker).map(port))
    }

    fn unsent(&self) -> usize {
        self.xsk.unsent() as usize
    }

    fn max_frame(&self) -> usize {
        self.interface.max_frame().min(self.xsk.max_frame())
    }

    fn device_drops(&mut self) -> DeviceDrops {
        let mut drops = DeviceDrops { tx_invalid: self.refused, ..DeviceDrops::default() };
        for statistics in [Some(&self.xsk), self.reserve.as_ref()].into_iter().flatten().filter_map(|xsk| xsk.statistics().ok()) {
            // In copy mode an empty fill ring, which is counted for the whole queue, also counts as dropped, by socket.
            let empty = statistics.rx_fill_ring_empty_descs.min(statistics.rx_dropped);
            drops.rx_full += statistics.rx_ring_full + empty;
            drops.rx_invalid += statistics.rx_invalid_descs + statistics.rx_dropped - empty;
            drops.tx_invalid += statistics.tx_invalid_descs;
        }
        drops
    }

    fn fd(&self) -> Option<RawFd> {
        Some(self.xsk.raw_fd())
    }

    /// A fourth of what is received may be the reserve's, and comes in front of what waits: so much more is received before that is.
    fn waiting(&self) -> Option<usize> {
        let waiting = self.xsk.waiting();
        let reserve = self.reserve.as_ref().map_or(0, |reserve| reserve.waiting() + waiting.div_ceil(RESERVE_SHARE - 1));
        Some(waiting + reserve)
    }

    fn steering(&self) -> Option<(u16, Arc<dyn Steering>)> {
        self.device.steered.as_ref().map(|(_, indirection)| (self.worker, indirection.clone() as Arc<dyn Steering>))
    }
}

/// The ports of a device, in the order of its sockets.
fn ports(device: &Arc<Device>, of_queues: Vec<Vec<Opened>>, joined: bool) -> Vec<Vec<AfXdp>> {
    let port = |opened| AfXdp::new(device, opened, joined);
    of_queues.into_iter().map(|opened| opened.into_iter().map(port).collect()).collect()
}
