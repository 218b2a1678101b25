//! Picking the fastest port that an interface offers, and dividing an interface among workers.

use crate::{AfPacket, AfXdp, Interface, Port, PortError, TransmitOnly, af_packet, af_xdp};

/// Frames in each direction of a queue: some milliseconds of a fast sender while the worker waits for its core.
const RING: u32 = 8192;
/// The same behind a program that carries most packets itself.
const RING_BEHIND: u32 = RING / 2;

/// How often, and after what time, an interface is tried again that another program holds: half a second.
const HELD_TRIES: u32 = 10;
const HELD_WAIT: std::time::Duration = std::time::Duration::from_millis(50);

/// What [`open_best`] opened.
pub struct Opened {
    /// For each worker its ports.
    pub ports: Vec<Vec<Box<dyn Port>>>,
    /// Why it is not AF_XDP, if it is not.
    pub fell_back: Option<String>,
}

/// Opens `interface` for `workers` with AF_XDP in native mode, or else with AF_PACKET, as the port that the configuration calls
/// `label`. `gso` is that of [`af_packet::Options`].
///
/// # Errors
/// [`PortError::Config`] if there is no such interface or it is down; [`PortError::Held`] if another program's XDP runs on it; [`PortError::Permission`] without CAP_NET_RAW.
pub fn open_best(label: &str, interface: &str, workers: usize, frames: af_xdp::Frames, gso: bool) -> Result<Opened, PortError> {
    // What neither kind can mend is reported once, as itself.
    let index = Interface::find(label, interface)?.require_up()?.index;
    let mut opened = open_queues(label, interface, workers, frames);
    // The kernel takes the program of a process that has just ended away in its own time.
    for _ in 0..HELD_TRIES {
        if !matches!(opened, Err(PortError::Held(_))) {
            break;
        }
        std::thread::sleep(HELD_WAIT);
        opened = open_queues(label, interface, workers, frames);
    }
    let reason = match opened {
        Ok(shares) => {
            let boxed = |share: Vec<AfXdp>| share.into_iter().map(|p| Box::new(p) as Box<dyn Port>).collect();
            return Ok(Opened { ports: shares.into_iter().map(boxed).collect(), fell_back: None });
        }
        // By AF_PACKET we would see each packet beside who carries it, and send it a second time.
        Err(held @ PortError::Held(_)) => return Err(held),
        Err(e) => match &e {
            PortError::Io { source, .. } => format!("{e}: {source}"),
            _ => e.to_string(),
        },
    };
    tracing::info!(interface, index, reason, "AF_XDP is not available: using AF_PACKET");
    let ports = open_shared(label, interface, workers, gso)?.into_iter().map(|port| vec![port]).collect();
    Ok(Opened { ports, fell_back: Some(reason) })
}

/// Opens all receive queues of `interface` with AF_XDP and divides them among `workers`: each gets at least one.
///
/// # Errors
/// As [`AfXdp::open`]; and [`PortError::Config`] if there are fewer queues than workers.
pub fn open_queues(label: &str, interface: &str, workers: usize, frames: af_xdp::Frames) -> Result<Vec<Vec<AfXdp>>, PortError> {
    divide(label, interface, workers, |all, options| AfXdp::open_queues(label, interface, all, frames, options))
}

/// As [`open_queues`], behind another XDP program that is attached already and redirects packets.
///
/// # Errors
/// As [`AfXdp::join_queues`]; and [`PortError::Config`] if there are fewer queues than workers.
pub fn join_queues(label: &str, interface: &str, workers: usize, program: &af_xdp::Joined) -> Result<Vec<Vec<AfXdp>>, PortError> {
    let open = |all: &[u32], options| AfXdp::join_queues(label, interface, all, behind(options), program);
    divide(label, interface, workers, open)
}

/// Opens all receive queues of `interface` with AF_XDP for `workers`, each of which gets the packets of its addresses: see [`AfXdp::open_steered`].
///
/// # Errors
/// As there.
pub fn open_steered(label: &str, interface: &str, workers: usize, frames: af_xdp::Frames) -> Result<Vec<Vec<AfXdp>>, PortError> {
    AfXdp::open_steered(label, interface, workers, frames, usual())
}

/// As [`open_steered`], behind another XDP program: see [`AfXdp::join_steered`].
///
/// # Errors
/// As there.
pub fn join_steered(
    label: &str,
    interface: &str,
    workers: usize,
    frames: af_xdp::Frames,
) -> Result<(Vec<Vec<AfXdp>>, af_xdp::Steerer), PortError> {
    AfXdp::join_steered(label, interface, workers, frames, behind(usual()))
}

fn behind(options: af_xdp::Options) -> af_xdp::Options {
    af_xdp::Options { ring: RING_BEHIND, ..options }
}

fn usual() -> af_xdp::Options {
    af_xdp::Options { ring: RING, ..af_xdp::Options::default() }
}

fn divide(
    label: &str,
    interface: &str,
    workers: usize,
    open: impl FnOnce(&[u32], af_xdp::Options) -> Result<Vec<AfXdp>, PortError>,
) -> Result<Vec<Vec<AfXdp>>, PortError> {
    let queues = Interface::find(label, interface)?.rx_queues;
    if (queues as usize) < workers {
        let text = format!(
            "`{interface}` has {queues} receive queues for {workers} workers: lower workers.count, add queues with `ethtool -L`, or let a master steer (workers.steering)"
        );
        return Err(PortError::Config(text));
    }
    let all: Vec<u32> = (0..queues).collect();
    let mut shares: Vec<Vec<AfXdp>> = (0..workers).map(|_| Vec::new()).collect();
    for (queue, port) in open(&all, usual())?.into_iter().enumerate() {
        shares[queue % workers].push(port);
    }
    Ok(shares)
}

/// Opens `interface` with AF_PACKET: the first worker receives, all send. `gso` is that of [`af_packet::Options`].
///
/// # Errors
/// As [`AfPacket::open`].
pub fn open_shared(label: &str, interface: &str, workers: usize, gso: bool) -> Result<Vec<Box<dyn Port>>, PortError> {
    let options = af_packet::Options { gso, ..af_packet::Options::default() };
    let mut ports: Vec<Box<dyn Port>> = vec![Box::new(AfPacket::open(label, interface, options)?)];
    for _ in 1..workers {
        // What this socket receives is never read: it need not be kept.
        let options = af_packet::Options { buffer_bytes: 4096, ..options };
        ports.push(Box::new(TransmitOnly(AfPacket::open(label, interface, options)?)));
    }
    Ok(ports)
}
