//! AF_XDP sockets on the queues of an interface: packets skip the kernel's stack.
//!
//! A program of a few instructions redirects what arrives by a queue to the queue's socket ([`AfXdp::open_queues`]), or to one of
//! several sockets of the queue, a worker each, by the UE that a packet is of ([`AfXdp::open_steered`]): then buckets of UEs move
//! between workers while packets flow ([`crate::Steering`]), and there may be more workers than queues. The program hangs on a
//! BPF link that this process holds: when the ports are dropped or the process ends, however it ends, the interface is as it was.
//!
//! Frames are 4 KiB, of which the kernel keeps 256 bytes: longest packet 3840 bytes, so MTU 3822 at most. Copy mode works with
//! every driver; zero-copy is tried first if asked for.
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
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use base::Packet;

use crate::code::Instruction;
use crate::indirection::Indirection;
use crate::sys::bpf::{self, Hook};
use crate::sys::net::index_exists;
use crate::sys::xsk::{self, Copying, MAX_FRAME, Xsk};
use crate::{DeviceDrops, Interface, Port, PortError, Steering, checksum, ue_program};

pub use crate::ue_program::Frames;

/// How to open [`AfXdp`] ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where the redirecting program runs.
    pub mode: Mode,
    /// Try zero-copy before copy mode.
    pub zero_copy: bool,
    /// Frames in each direction, a power of two: to receive, of each socket of a queue, up to four; to send, of the queue. 4 KiB each,
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
    /// Keeps our program attached while any port is open; `None` behind another program.
    _program: Option<Arc<Program>>,
    /// Which worker's it is, and what says which packets are.
    steering: Option<(u16, Arc<Indirection>)>,
    finish_checksums: bool,
    /// Whether another program marks packets by flow.
    joined: bool,
    zero_copy: bool,
    refused: u64,
    /// How it was opened, if it is the interface's only one: then it can be reopened alone.
    alone: Option<Options>,
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
}

/// The steering program, for another XDP program to tail-call. It has the same context.
pub struct Steerer(Arc<Program>);

impl AsFd for Steerer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.program.as_fd()
    }
}

/// A program of ours, its map of sockets, and the link that holds it on the interface: closing that detaches it.
struct Program {
    map: OwnedFd,
    program: OwnedFd,
    link: Option<OwnedFd>,
}

/// Where a queue's sockets are in a map: the first, and how far each is from the one before.
struct Place<'m> {
    sockets: BorrowedFd<'m>,
    first: u32,
    step: u32,
}

/// What a program that a port has joined may leave in the eight bytes in front of a packet, as XDP metadata: this, and in the low 32 bits
/// [`Packet::flow`].
pub const FLOW_MARK: u64 = 0x5350_464c << 32;

/// Idle receives after which the socket is asked for an error: rings stay silent when an interface goes away.
const IDLE_CHECK: u32 = 512;
/// Fewest frames a direction that are worth having.
const LEAST_RING: u32 = 64;
/// Most sockets of a queue: as many workers as an engine has.
const MOST_WORKERS: usize = 64;

impl AfXdp {
    /// Opens queue 0 of `interface` as the port that the configuration calls `label` (`n3`).
    /// Packets of other queues go to the kernel; a warning says so.
    ///
    /// # Errors
    /// [`PortError::Config`] for a missing, downed or busy interface, an MTU that does not fit, a driver without native mode;
    /// [`PortError::Permission`] naming the missing capability (CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF).
    pub fn open(label: &str, interface: &str, options: Options) -> Result<AfXdp, PortError> {
        let mut ports = AfXdp::open_queues(label, interface, &[0], options)?;
        ports.pop().ok_or_else(|| PortError::Config(format!("{label}: no queue was asked for")))
    }

    /// Opens several queues, which share one program: a port each, in the order of `queues`.
    ///
    /// # Errors
    /// As [`AfXdp::open`]; and [`PortError::Config`] if there is no such queue.
    pub fn open_queues(label: &str, interface: &str, queues: &[u32], options: Options) -> Result<Vec<AfXdp>, PortError> {
        let interface = Interface::find(label, interface)?.require_up()?;
        check(&interface, queues, options)?;
        let program = Arc::new(Program::load(&interface, interface.rx_queues, ue_program::by_queue)?.attach(&interface, options.mode)?);
        let place = |queue| Ok(Place { sockets: program.map.as_fd(), first: queue, step: 1 });
        let ports = open_all(label, &interface, queues, place, Some(&program), None, options)?;
        let mut ports: Vec<AfXdp> = ports.into_iter().flatten().collect();
        if let ([port], 1) = (&mut ports[..], interface.rx_queues) {
            port.alone = Some(options);
        }
        Ok(ports)
    }

    /// Opens all queues for `workers` workers: for each worker its ports, one for each queue. Packets go to workers by their UEs,
    /// as [`Port::steering`] says, all to worker 0 at first; `frames` tells where the UE is in them.
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
        let attach = |program: Program, interface: &Interface| program.attach(interface, options.mode);
        AfXdp::steered(label, interface, workers, frames, options, attach).map(|(ports, _)| ports)
    }

    /// Opens several queues that another XDP program, attached already, redirects to: a port each, in the order of
    /// `queues`. `options.mode` has no effect.
    ///
    /// # Errors
    /// As [`AfXdp::open_queues`]; and [`PortError::Config`] if the program has no place for a queue.
    pub fn join_queues(label: &str, interface: &str, queues: &[u32], options: Options, program: &Joined) -> Result<Vec<AfXdp>, PortError> {
        let interface = Interface::find(label, interface)?.require_up()?;
        check(&interface, queues, options)?;
        let place = |queue: u32| {
            let none =
                || format!("the XDP program has no place for queue {queue} of `{}`: reduce queues with `ethtool -L`", interface.name);
            let key = (program.key)(queue).ok_or_else(|| PortError::Config(none()))?;
            Ok(Place { sockets: program.sockets, first: key, step: 1 })
        };
        let ports = open_all(label, &interface, queues, place, None, None, options)?;
        Ok(ports.into_iter().flatten().map(AfXdp::join).collect())
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
        let (ports, program) = AfXdp::steered(label, interface, workers, frames, options, |program, _| Ok(program))?;
        let ports = ports.into_iter().map(|of_worker| of_worker.into_iter().map(AfXdp::join).collect());
        Ok((ports.collect(), Steerer(program)))
    }

    fn join(mut self) -> AfXdp {
        self.joined = true;
        self
    }

    fn steered(
        label: &str,
        interface: &str,
        workers: usize,
        frames: Frames,
        options: Options,
        attach: impl FnOnce(Program, &Interface) -> Result<Program, PortError>,
    ) -> Result<(Vec<Vec<AfXdp>>, Arc<Program>), PortError> {
        if !(1..=MOST_WORKERS).contains(&workers) {
            return Err(PortError::Config(format!("{label}: {workers} workers, instead of 1 to {MOST_WORKERS}")));
        }
        let interface = Interface::find(label, interface)?.require_up()?;
        let queues = interface.rx_queues;
        let all: Vec<u32> = (0..queues).collect();
        check(&interface, &all, options)?;
        let indirection = Arc::new(Indirection::new(&interface.name, workers)?);
        let instructions = |sockets: BorrowedFd<'_>| ue_program::by_ue(frames, indirection.map(), sockets, queues);
        let program = Program::load(&interface, queues * workers as u32, instructions)?;
        let program = Arc::new(attach(program, &interface)?);
        let options = Options { ring: ring_of_each(options.ring, workers), ..options };
        // `ue_program::by_ue` looks for them there.
        let place = |queue| Ok(Place { sockets: program.map.as_fd(), first: queue, step: queues });
        let of_queues = open_all(label, &interface, &all, place, Some(&program), Some((workers, &indirection)), options)?;
        let mut of_workers: Vec<Vec<AfXdp>> = (0..workers).map(|_| Vec::new()).collect();
        for ports in of_queues {
            of_workers.iter_mut().zip(ports).for_each(|(worker, port)| worker.push(port));
        }
        Ok((of_workers, program))
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

impl Program {
    /// A program on a map for so many sockets; no interface knows of it yet.
    fn load(interface: &Interface, sockets: u32, instructions: impl Fn(BorrowedFd<'_>) -> Vec<Instruction>) -> Result<Program, PortError> {
        let map = bpf::create_socket_map(sockets).map_err(|e| explain(interface, "creating the socket map", e))?;
        let program = bpf::load(&instructions(map.as_fd())).map_err(|e| explain(interface, "loading the XDP program", e))?;
        Ok(Program { map, program, link: None })
    }

    fn attach(mut self, interface: &Interface, mode: Mode) -> Result<Program, PortError> {
        let hook = match mode {
            Mode::Native => Hook::Native,
            Mode::Generic => Hook::Generic,
        };
        let link = bpf::attach(self.program.as_fd(), interface.index, hook).map_err(|e| explain_attach(interface, mode, e))?;
        self.link = Some(link);
        Ok(self)
    }
}

impl Port for AfXdp {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        let (finish, joined) = (self.finish_checksums, self.joined);
        let mut places = packets.iter_mut();
        let count = self.xsk.receive(places.len(), |bytes, word| {
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
            if packet.len() > MAX_FRAME || packet.is_empty() {
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
        self.kick()
    }

    /// Not of an interface with several sockets: they share a program, and workers.
    fn reopen(&self) -> Option<Result<Box<dyn Port>, PortError>> {
        let label = self.name.split(" (").next().unwrap_or_default();
        Some(AfXdp::open(label, &self.interface.name, self.alone?).map(|port| Box::new(port) as Box<dyn Port>))
    }

    fn unsent(&self) -> usize {
        self.xsk.unsent() as usize
    }

    fn max_frame(&self) -> usize {
        self.interface.max_frame().min(MAX_FRAME)
    }

    fn device_drops(&mut self) -> DeviceDrops {
        let Ok(statistics) = self.xsk.statistics() else {
            return DeviceDrops { tx_invalid: self.refused, ..DeviceDrops::default() };
        };
        // In copy mode an empty fill ring, which is counted for the whole queue, also counts as dropped, by socket.
        let empty = statistics.rx_fill_ring_empty_descs.min(statistics.rx_dropped);
        DeviceDrops {
            rx_full: statistics.rx_ring_full + empty,
            rx_invalid: statistics.rx_invalid_descs + statistics.rx_dropped - empty,
            tx_invalid: statistics.tx_invalid_descs + self.refused,
        }
    }

    fn fd(&self) -> Option<RawFd> {
        Some(self.xsk.raw_fd())
    }

    fn waiting(&self) -> Option<usize> {
        Some(self.xsk.waiting())
    }

    fn steering(&self) -> Option<(u16, Arc<dyn Steering>)> {
        self.steering.as_ref().map(|(worker, indirection)| (*worker, indirection.clone() as Arc<dyn Steering>))
    }
}

/// What can be known to fail before anything is changed.
fn check(interface: &Interface, queues: &[u32], options: Options) -> Result<(), PortError> {
    let name = &interface.name;
    // Room for the Ethernet header and one VLAN tag.
    let most = MAX_FRAME - 18;
    if interface.mtu > most {
        let mtu = interface.mtu;
        return Err(PortError::Config(format!("MTU {mtu} of `{name}` does not fit af_xdp: lower it to {most} or use af_packet")));
    }
    if !options.ring.is_power_of_two() || options.ring < LEAST_RING || options.ring > 1 << 16 {
        return Err(PortError::Config(format!("af_xdp ring of {} frames: use a power of two from {LEAST_RING} to 65536", options.ring)));
    }
    if let Some(queue) = queues.iter().find(|queue| **queue >= interface.rx_queues) {
        return Err(PortError::Config(format!("`{name}` has no queue {queue}: it has {}", interface.rx_queues)));
    }
    if queues.len() < interface.rx_queues as usize {
        let text = "packets of the queues that are not opened stay with the kernel: reduce queues with `ethtool -L`";
        tracing::warn!(interface = %name, queues = interface.rx_queues, opened = queues.len(), "{text}");
    }
    Ok(())
}

/// The frames of a queue's sockets stay within four times what one would have.
fn ring_of_each(ring: u32, workers: usize) -> u32 {
    let share = (4 * u64::from(ring) / workers as u64).min(ring.into()) as u32;
    let power = if share.is_power_of_two() { share } else { share.next_power_of_two() / 2 };
    power.max(LEAST_RING)
}

/// For each queue its port, or those of its workers.
fn open_all<'m>(
    label: &str,
    interface: &Interface,
    queues: &[u32],
    place: impl Fn(u32) -> Result<Place<'m>, PortError>,
    program: Option<&Arc<Program>>,
    steered: Option<(usize, &Arc<Indirection>)>,
    options: Options,
) -> Result<Vec<Vec<AfXdp>>, PortError> {
    let mut of_queues = Vec::new();
    for &queue in queues {
        let Place { sockets: map, first, step } = place(queue)?;
        let (sockets, copying) = open_sockets(interface, queue, steered.map_or(1, |(workers, _)| workers), options)?;
        let of_queue = if interface.rx_queues > 1 { format!(" queue {queue}") } else { String::new() };
        let mut ports = Vec::new();
        for (worker, xsk) in (0u16..).zip(sockets) {
            let key = first + u32::from(worker) * step;
            bpf::add_socket(map, key, xsk.fd()).map_err(|e| explain(interface, "joining the program's map", e))?;
            let of_worker = if steered.is_some() { format!(" worker {worker}") } else { String::new() };
            ports.push(AfXdp {
                name: format!("{label} (af_xdp {}{of_queue}{of_worker})", interface.name),
                interface: interface.clone(),
                xsk,
                _program: program.cloned(),
                steering: steered.map(|(_, indirection)| (worker, indirection.clone())),
                finish_checksums: options.finish_checksums.unwrap_or(interface.driver == "veth"),
                joined: false,
                zero_copy: copying == Copying::Zero,
                refused: 0,
                alone: None,
                idle: 0,
                removed: false,
            });
        }
        of_queues.push(ports);
    }
    Ok(of_queues)
}

/// Bound sockets. Halves the rings while the memlock limit refuses them; waits a little for a queue whose last owner just left.
fn open_sockets(interface: &Interface, queue: u32, count: usize, options: Options) -> Result<(Vec<Xsk>, Copying), PortError> {
    const BUSY_TRIES: u32 = 25;
    const BUSY_WAIT: Duration = Duration::from_millis(20);
    let modes: &[Copying] = if options.zero_copy { &[Copying::Zero, Copying::Copy] } else { &[Copying::Copy] };
    let mut ring = options.ring;
    let mut tries = 0;
    'reopen: loop {
        let sockets = match xsk::open(ring, count) {
            Ok(sockets) => sockets,
            Err((_, e)) if e.raw_os_error() == Some(libc::ENOBUFS) && ring > LEAST_RING => {
                tracing::warn!(interface = %interface.name, frames = ring / 2, "memlock limit: fewer af_xdp frames");
                ring /= 2;
                continue;
            }
            Err((what, e)) => return Err(explain(interface, what, e)),
        };
        for (i, &copying) in modes.iter().enumerate() {
            match xsk::bind(&sockets, interface.index, queue, copying) {
                Ok(()) => return Ok((sockets, copying)),
                Err(e) if i + 1 < modes.len() => {
                    tracing::info!(interface = %interface.name, error = %e, "no zero-copy: using copy mode");
                }
                Err(e) if e.raw_os_error() == Some(libc::EBUSY) && tries < BUSY_TRIES => {
                    tries += 1;
                    std::thread::sleep(BUSY_WAIT);
                    continue 'reopen;
                }
                Err(e) if e.raw_os_error() == Some(libc::EBUSY) => {
                    let text = format!("queue {queue} of `{}` is taken by another AF_XDP socket: stop its owner", interface.name);
                    return Err(PortError::Held(text));
                }
                Err(e) => return Err(explain(interface, "binding", e)),
            }
        }
    }
}

fn explain(interface: &Interface, what: &str, e: io::Error) -> PortError {
    let name = &interface.name;
    match (e.raw_os_error(), e.kind()) {
        (_, ErrorKind::PermissionDenied) => {
            let needed = if what.contains("socket") && !what.contains("map") { "CAP_NET_RAW" } else { "CAP_BPF and CAP_NET_ADMIN" };
            PortError::Permission(format!("af_xdp on `{name}`: {what} needs {needed}: run as root or grant it"))
        }
        (Some(libc::EAFNOSUPPORT), _) => PortError::Config(format!("af_xdp on `{name}`: this kernel has no AF_XDP: use af_packet")),
        (Some(libc::ENOBUFS), _) => PortError::Permission(format!(
            "af_xdp on `{name}`: {what}: the memlock limit is too low: raise `ulimit -l` or grant CAP_IPC_LOCK"
        )),
        _ => PortError::io(format!("af_xdp on `{name}`: {what}"), e),
    }
}

fn explain_attach(interface: &Interface, mode: Mode, e: io::Error) -> PortError {
    let name = &interface.name;
    let driver = &interface.driver;
    match e.raw_os_error() {
        Some(libc::EBUSY | libc::EEXIST) => {
            PortError::Held(format!("`{name}` already runs an XDP program: stop its owner or run `ip link set {name} xdp off`"))
        }
        Some(libc::EOPNOTSUPP) if mode == Mode::Native => {
            PortError::Config(format!("driver `{driver}` of `{name}` has no native XDP: use af_packet or the generic mode"))
        }
        Some(libc::ERANGE) if driver == "veth" => PortError::Config(format!(
            "the far end of veth `{name}` has too large an MTU for native XDP: lower it below 3500 or use af_packet"
        )),
        Some(libc::EINVAL | libc::ERANGE) => {
            PortError::Config(format!("driver `{driver}` of `{name}` refuses native XDP (MTU {}, offloads or queues): {e}", interface.mtu))
        }
        _ => explain(interface, "attaching the XDP program", e),
    }
}
