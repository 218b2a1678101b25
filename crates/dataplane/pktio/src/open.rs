//! Picking the fastest port that an interface offers, and dividing an interface among workers.

use std::net::IpAddr;

use crate::held::{Claim, runs_xdp};
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
    pub kind: Kind,
}

/// What [`open_best`] took.
#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    /// AF_XDP in native mode.
    AfXdp,
    /// AF_PACKET, as it is the faster one there: the interface hands over super-frames, which XDP would have cut.
    SuperFrames,
    /// AF_PACKET, as AF_XDP is not available, and why.
    FellBack(String),
}

/// Opens `interface` for `workers` with AF_XDP in native mode, or else with AF_PACKET, as the port that the configuration calls
/// `label`. `gso` is that of [`af_packet::Options`].
///
/// A veth for one worker, with `gso`, is opened with AF_PACKET where the kernel's own stack, which then sees the packets too, has nothing to do with
/// them ([`stack_is_quiet`]): the far end hands over TCP and bulk UDP as super-frames.
///
/// # Errors
/// [`PortError::Config`] if there is no such interface or it is down; [`PortError::Held`] if another program has it; [`PortError::Permission`] without CAP_NET_RAW.
pub fn open_best(label: &str, interface: &str, workers: usize, frames: af_xdp::Frames, gso: bool) -> Result<Opened, PortError> {
    // What neither kind can mend is reported once, as itself.
    let found = Interface::find(label, interface)?.require_up()?;
    let super_frames = gso && workers == 1 && found.driver == "veth" && stack_is_quiet(&found);
    let once = || if super_frames { open_unless_xdp(label, &found) } else { open_xdp(label, interface, workers, frames) };
    let mut opened = once();
    // The kernel takes the program of a process that has just ended away in its own time.
    for _ in 0..HELD_TRIES {
        if !matches!(opened, Err(PortError::Held(_))) {
            break;
        }
        std::thread::sleep(HELD_WAIT);
        opened = once();
    }
    let reason = match opened {
        // By AF_PACKET we would see each packet beside who carries it, and send it a second time.
        Ok(_) | Err(PortError::Held(_)) => return opened,
        Err(e) if super_frames => return Err(e),
        Err(e) => match &e {
            PortError::Io { source, .. } => format!("{e}: {source}"),
            _ => e.to_string(),
        },
    };
    let ports = open_shared(label, interface, workers, gso)?.into_iter().map(|port| vec![port]).collect();
    Ok(Opened { ports, kind: Kind::FellBack(reason) })
}

fn open_xdp(label: &str, interface: &str, workers: usize, frames: af_xdp::Frames) -> Result<Opened, PortError> {
    let boxed = |share: Vec<AfXdp>| share.into_iter().map(|p| Box::new(p) as Box<dyn Port>).collect();
    let shares = open_queues(label, interface, workers, frames)?;
    Ok(Opened { ports: shares.into_iter().map(boxed).collect(), kind: Kind::AfXdp })
}

/// Whether the kernel neither answers nor forwards packets of the interface: it has no addresses but those of the link, and forwarding is off.
fn stack_is_quiet(interface: &Interface) -> bool {
    let of_link = |address: &IpAddr| matches!(address, IpAddr::V6(ip) if ip.is_unicast_link_local());
    let forwards = |family: &str| {
        let setting = format!("/proc/sys/net/{family}/conf/{}/forwarding", interface.name);
        std::fs::read_to_string(setting).is_ok_and(|value| value.trim() != "0")
    };
    interface.addresses.iter().all(|(address, _)| of_link(address)) && !forwards("ipv4") && !forwards("ipv6")
}

/// With AF_PACKET for one worker, unless an XDP program runs there.
fn open_unless_xdp(label: &str, interface: &Interface) -> Result<Opened, PortError> {
    let name = &interface.name;
    if runs_xdp(interface.index).map_err(|e| PortError::io(format!("asking about XDP on `{name}`"), e))? {
        return Err(PortError::Held(format!("`{name}` already runs an XDP program: stop its owner or run `ip link set {name} xdp off`")));
    }
    Ok(Opened { ports: vec![open_shared(label, name, 1, true)?], kind: Kind::SuperFrames })
}

/// Opens all receive queues of `interface` with AF_XDP and divides them among `workers`: each gets at least one.
///
/// # Errors
/// As [`AfXdp::open`]; [`PortError::Config`] if there are fewer queues than workers, and [`PortError::Held`] if another process has opened it by
/// [`open_shared`].
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
    let found = Interface::find(label, interface)?;
    // The kernel would give XDP what an AF_PACKET port of another process waits for.
    let _nobody_else = Claim::of(&found)?;
    let queues = found.rx_queues;
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
/// As [`AfPacket::open`]; and [`PortError::Held`] if another process has opened it so.
pub fn open_shared(label: &str, interface: &str, workers: usize, gso: bool) -> Result<Vec<Box<dyn Port>>, PortError> {
    let options = af_packet::Options { gso, ..af_packet::Options::default() };
    let mut first = AfPacket::open(label, interface, options)?;
    first.claim()?;
    let mut ports: Vec<Box<dyn Port>> = vec![Box::new(first)];
    for _ in 1..workers {
        // What this socket receives is never read: it need not be kept.
        let options = af_packet::Options { buffer_bytes: 4096, ..options };
        ports.push(Box::new(TransmitOnly(AfPacket::open(label, interface, options)?)));
    }
    Ok(ports)
}
