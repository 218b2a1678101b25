//! How are an interface's sockets, and the program that brings packets to them, opened and reopened?
//!
//! An interface that is deleted takes its sockets and the program's link with it. The program, its map and the table of buckets stay. When an interface
//! of the same name exists again, the program is attached to it and new sockets take the old ones' places in the map. Each port notices the deletion
//! on its worker's thread. The first one opens a queue for all its workers; the other workers' sockets wait here until they are fetched.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::af_xdp::{Mode, Options};
use crate::code::Instruction;
use crate::indirection::Indirection;
use crate::sys::bpf::{self, Hook};
use crate::sys::xsk::{self, Copying, MAX_FRAME, Xsk};
use crate::{Interface, PortError};

/// Fewest frames a direction that are worth having.
const LEAST_RING: u32 = 64;
/// Bytes of an Ethernet header and one VLAN tag.
const AROUND_MTU: usize = 18;
/// Places for what keeps links and paths alive ([`crate::steer_program`]): the neighbours of a large network, all at once.
const RESERVE: u32 = 256;

/// How an interface's sockets are opened, and what of it lives on while the interface is away.
pub(crate) struct Device {
    pub(crate) label: String,
    interface: String,
    pub(crate) options: Options,
    /// The queues, and for each where its first socket is in the map.
    queues: Vec<(u32, u32)>,
    map: SocketMap,
    /// Workers that share each queue, and what says which of them a packet is for.
    pub(crate) steered: Option<(usize, Arc<Indirection>)>,
    live: Mutex<Live>,
}

/// A map of sockets, and who brings packets to it.
pub(crate) struct SocketMap {
    pub(crate) sockets: OwnedFd,
    /// From a queue's socket for one worker to that for the next, and from the last one's to the reserve's.
    pub(crate) step: u32,
    /// Our program; none, if another target's program uses the map.
    pub(crate) program: Option<OwnedFd>,
    /// Where it is attached; none, if another program calls it.
    pub(crate) hook: Option<Mode>,
}

/// The interface as it is now.
#[derive(Default)]
struct Live {
    /// The kernel's number, which no later interface has.
    index: u32,
    /// Holds our program on it. Closing detaches.
    link: Option<OwnedFd>,
    /// Sockets that wait for their worker.
    waiting: Vec<Opened>,
}

/// A bound socket of a queue, for a worker.
pub(crate) struct Opened {
    pub(crate) interface: Interface,
    pub(crate) queue: u32,
    pub(crate) worker: u16,
    pub(crate) xsk: Xsk,
    /// The queue's, for its first worker.
    pub(crate) reserve: Option<Xsk>,
    pub(crate) copying: Copying,
}

impl SocketMap {
    /// A program of ours on a map for so many workers' sockets of each queue; no interface knows of it yet.
    pub(crate) fn load(
        interface: &Interface,
        workers: usize,
        hook: Option<Mode>,
        instructions: impl Fn(BorrowedFd<'_>) -> Vec<Instruction>,
    ) -> Result<SocketMap, PortError> {
        let queues = interface.rx_queues;
        // One more for the reserve.
        let sockets = queues * (workers as u32 + 1);
        let sockets = bpf::create_socket_map(sockets).map_err(|e| explain(interface, "creating the socket map", e))?;
        let program = bpf::load(&instructions(sockets.as_fd())).map_err(|e| explain(interface, "loading the XDP program", e))?;
        Ok(SocketMap { sockets, step: queues, program: Some(program), hook })
    }
}

impl Device {
    /// Opens all queues: for each its workers' sockets. Each port keeps the device.
    pub(crate) fn open(
        label: &str,
        interface: &Interface,
        queues: Vec<(u32, u32)>,
        map: SocketMap,
        steered: Option<(usize, Arc<Indirection>)>,
        options: Options,
    ) -> Result<(Device, Vec<Vec<Opened>>), PortError> {
        let (label, name) = (label.to_owned(), interface.name.clone());
        let device = Device { label, interface: name, options, queues, map, steered, live: Mutex::default() };
        device.lock().begin(&device, interface)?;
        let of_queues = device.queues.iter().map(|(queue, _)| device.open_queue(interface, *queue)).collect::<Result<_, _>>()?;
        Ok((device, of_queues))
    }

    /// The socket of a queue and worker on the interface that has the name now. It may take some tens of milliseconds.
    pub(crate) fn open_again(&self, queue: u32, worker: u16) -> Result<Opened, PortError> {
        let interface = Interface::find(&self.label, &self.interface)?.require_up()?;
        let mut live = self.lock();
        if live.index != interface.index {
            let queues: Vec<u32> = self.queues.iter().map(|(queue, _)| *queue).collect();
            check(&interface, &queues, self.options)?;
            live.begin(self, &interface)?;
        }
        if let Some(at) = live.waiting.iter().position(|opened| (opened.queue, opened.worker) == (queue, worker)) {
            return Ok(live.waiting.swap_remove(at));
        }
        let mut opened = self.open_queue(&interface, queue)?;
        let at = opened.iter().position(|opened| opened.worker == worker);
        let ours = at.map(|at| opened.swap_remove(at)).ok_or_else(|| PortError::Config(format!("{}: no worker {worker}", self.label)))?;
        live.waiting.append(&mut opened);
        Ok(ours)
    }

    /// The program of ours that packets come through.
    pub(crate) fn program(&self) -> Option<BorrowedFd<'_>> {
        self.map.program.as_ref().map(AsFd::as_fd)
    }

    /// Bound sockets of a queue, in their places of the map.
    fn open_queue(&self, interface: &Interface, queue: u32) -> Result<Vec<Opened>, PortError> {
        let none = || PortError::Config(format!("{}: queue {queue} is not opened", self.label));
        let (_, first) = *self.queues.iter().find(|(of, _)| *of == queue).ok_or_else(none)?;
        let workers = self.steered.as_ref().map_or(1, |(workers, _)| *workers);
        let (mut sockets, copying) = open_sockets(interface, queue, workers, self.options)?;
        for (key, xsk) in (first..).step_by(self.map.step as usize).zip(&sockets) {
            bpf::add_socket(self.map.sockets.as_fd(), key, xsk.fd()).map_err(|e| explain(interface, "joining the program's map", e))?;
        }
        let mut reserve = sockets.pop();
        let opened = (0u16..).zip(sockets).map(|(worker, xsk)| Opened {
            interface: interface.clone(),
            queue,
            worker,
            xsk,
            reserve: reserve.take(),
            copying,
        });
        Ok(opened.collect())
    }

    /// What a panic left is closed or opened as a whole.
    fn lock(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    /// From now on it is this interface. Link and sockets of the previous one are closed.
    fn begin(&mut self, device: &Device, interface: &Interface) -> Result<(), PortError> {
        self.waiting.clear();
        self.link = None;
        if let (Some(program), Some(mode)) = (&device.map.program, device.map.hook) {
            let hook = match mode {
                Mode::Native => Hook::Native,
                Mode::Generic => Hook::Generic,
            };
            let link = bpf::attach(program.as_fd(), interface.index, hook).map_err(|e| explain_attach(interface, mode, e))?;
            self.link = Some(link);
        }
        self.index = interface.index;
        Ok(())
    }
}

/// What can be known to fail before anything is changed.
pub(crate) fn check(interface: &Interface, queues: &[u32], options: Options) -> Result<(), PortError> {
    let name = &interface.name;
    let most = MAX_FRAME - AROUND_MTU;
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
pub(crate) fn ring_of_each(ring: u32, workers: usize) -> u32 {
    let share = (4 * u64::from(ring) / workers as u64).min(ring.into()) as u32;
    let power = if share.is_power_of_two() { share } else { share.next_power_of_two() / 2 };
    power.max(LEAST_RING)
}

/// Bound sockets, one for each worker, and behind them the reserve's. Halves the rings while the memlock limit refuses them; waits a little for
/// a queue whose last owner just left.
fn open_sockets(interface: &Interface, queue: u32, workers: usize, options: Options) -> Result<(Vec<Xsk>, Copying), PortError> {
    const BUSY_TRIES: u32 = 75;
    const BUSY_WAIT: Duration = Duration::from_millis(20);
    let modes: &[Copying] = if options.zero_copy { &[Copying::Zero, Copying::Copy] } else { &[Copying::Copy] };
    let mut ring = options.ring;
    let mut tries = 0;
    'reopen: loop {
        let mut others = vec![ring; workers - 1];
        // Where memory is short the other ports need some, too.
        others.push(if ring < options.ring { ring / 8 } else { ring.min(RESERVE) });
        let sockets = match xsk::open(interface.mtu + AROUND_MTU, ring, &others) {
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
