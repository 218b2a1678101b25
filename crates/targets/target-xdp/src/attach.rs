//! The program on interfaces: attaching, port numbers, egress interfaces, detaching.
//!
//! **It never outlives the process**, unless that is asked for ([`crate::keep`]). Each interface has a BPF link, whose only descriptor is here. When the process ends, be it
//! by a crash or SIGKILL, the kernel closes the descriptor, detaches the program, and frees program and maps with
//! it: there is nothing to clean up, no packet is forwarded by stale entries, and the next start finds the interface
//! free. So a kernel without links for XDP (before 5.9) is refused, rather than served by programs that stay behind. The price:
//! while the process is down, the interface forwards nothing.
//!
//! **From attaching to forwarding** there are three steps, so that no packet is lost: [`attach`] attaches the program, which then
//! passes all packets to the kernel; sockets of the next target join `sp_sockets`; [`set_port`] starts forwarding.

use crate::object::{Object, chain};
use crate::sys::{self, Shared};
use crate::{LoadError, features};
use aya::maps::xdp::DevMap;
use base::PortId;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

/// Where the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the driver, before the kernel has made anything of the frame.
    Native,
    /// In front of the kernel's network stack: slow, for interfaces whose driver cannot.
    Generic,
}

/// An interface that the program hangs on.
pub(crate) struct Attached {
    /// Its number.
    pub ifindex: u32,
    /// Where the program runs.
    pub mode: Mode,
    /// Holds it there.
    pub link: OwnedFd,
    /// A process before has left a program there, which runs until [`replace`].
    pub was_left: bool,
}

/// `sp_ports` has that many.
const MOST_INTERFACES: u32 = 1024;
/// `SP_SLOTS`, `SP_QUEUES` and `SP_CLOSED` of the emitted text.
pub(crate) const SLOTS: u32 = 64;
const QUEUES: u32 = 16;
const CLOSED: u64 = 1 << 16;
/// `sp_ways` has that many: all port numbers.
const PORTS: u64 = 512;

/// Where the socket of a receive queue belongs in `sp_sockets`: a row of 16 queues for each slot, where slots number our
/// interfaces from 0. `None` for slots from 64 and queues from 16 on: what comes by such a queue goes to the kernel's stack.
pub fn socket_key(slot: u32, queue: u32) -> Option<u32> {
    (slot < SLOTS && queue < QUEUES).then(|| slot * QUEUES + queue)
}

/// How far behind a queue's socket in `sp_sockets` that of its reserve is: of what must not be lost behind users' packets (`sp_is_urgent`).
pub const RESERVE: u32 = SLOTS * QUEUES;

/// What is attached: what passes all packets on, until the kernel has verified the program itself.
const PROGRAMS: [&str; 2] = ["sp_xdp", "sp_pass"];

/// Attaches the program by a link. It passes all packets to the kernel until [`set_port`].
pub(crate) fn attach(object: &Object, interface: &str, ifindex: u32) -> Result<Attached, LoadError> {
    let fail = |error: String| LoadError::Attach { interface: interface.to_owned(), error };
    set_port(object, ifindex, None, false).map_err(|e| fail(e.to_string()))?;
    let program = object.first_of(&PROGRAMS)?;
    let create = |flags| sys::link_create(program.as_fd(), ifindex, flags);
    let (link, mode) = match create(sys::XDP_IN_DRIVER) {
        Ok(link) => (link, Mode::Native),
        Err(e) if matches!(e.raw_os_error(), Some(libc::EBUSY | libc::EEXIST)) => {
            let remedy = format!(
                "stop its owner, run `ip link set {interface} xdp off`, or delete what an earlier start has left in the folder `split.keep`"
            );
            return Err(fail(format!("it already runs an XDP program: {remedy}")));
        }
        Err(native) => {
            let link = create(sys::XDP_IN_STACK)
                .map_err(|e| fail(format!("the kernel attaches no XDP program to it, neither native ({native}) nor generic ({e})")))?;
            tracing::warn!("{interface}: the driver does not support XDP ({native}): using generic mode, which is slow");
            (link, Mode::Generic)
        }
    };
    Ok(Attached { ifindex, mode, link, was_left: false })
}

/// Takes up a link by which another program hangs there: it runs until [`replace`].
pub(crate) fn adopt(object: &Object, ifindex: u32, (link, mode): (OwnedFd, Mode)) -> Result<Attached, LoadError> {
    set_port(object, ifindex, None, false)?;
    Ok(Attached { ifindex, mode, link, was_left: true })
}

/// Makes the program of `object` run where another one runs, in one step: each packet runs in one of the two. With an error the
/// old one stays. On an interface that was deleted none runs, and none is to: that is no error.
pub(crate) fn replace(object: &Object, attached: &Attached) -> Result<(), LoadError> {
    let program = object.first_of(&PROGRAMS)?;
    match sys::link_update(attached.link.as_fd(), program.as_fd()) {
        // The kernel has cut the link, or is about to.
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENOLINK | libc::ENODEV)) => Ok(()),
        Err(e) => Err(LoadError::Attach { interface: attached.ifindex.to_string(), error: e.to_string() }),
        Ok(()) => Ok(()),
    }
}

/// Writes `sp_ports`: from now on packets of an interface come in by that port, and packets of the slow path go to sockets of the slot: all
/// of it if the interface is `closed`.
pub(crate) fn set_port(object: &Object, ifindex: u32, port: Option<(PortId, u32)>, closed: bool) -> Result<(), LoadError> {
    if let Some((port, slot)) = port
        && (slot >= SLOTS || u64::from(port.0) >= PORTS)
    {
        return Err(LoadError::Io(format!("port {port} in slot {slot}: there are {PORTS} and {SLOTS}")));
    }
    let closed = if closed { CLOSED } else { 0 };
    let value = port.map_or(0, |(port, slot)| u64::from(slot) << 32 | closed | (u64::from(port.0) + 1));
    ports(object, ifindex)?.long(8 * ifindex as usize).store(value, Ordering::Release);
    Ok(())
}

/// From now on all packets of the interface go to the slow path.
pub(crate) fn close(object: &Object, ifindex: u32) -> Result<(), LoadError> {
    ports(object, ifindex)?.long(8 * ifindex as usize).fetch_or(CLOSED, Ordering::Release);
    Ok(())
}

/// From now on they are run again, if it has a port.
pub(crate) fn open(object: &Object, ifindex: u32) -> Result<(), LoadError> {
    ports(object, ifindex)?.long(8 * ifindex as usize).fetch_and(!CLOSED, Ordering::Release);
    Ok(())
}

fn ports(object: &Object, ifindex: u32) -> Result<Shared, LoadError> {
    if ifindex >= MOST_INTERFACES {
        return Err(LoadError::Io(format!("interface number {ifindex} is beyond {MOST_INTERFACES}")));
    }
    object.shared("sp_ports", MOST_INTERFACES.into(), 8)
}

/// Writes `sp_out` and `sp_ways`: packets that leave by that port leave from here, or go to the slow path.
pub(crate) fn set_way_out(object: &mut Object, port: PortId, ifindex: Option<u32>) -> Result<(), LoadError> {
    if u64::from(port.0) >= PORTS {
        return Err(LoadError::Io(format!("port {port}: there are {PORTS}")));
    }
    if let Some(ifindex) = ifindex {
        let map = object.map_mut("sp_out").ok_or_else(|| LoadError::Layout("no map sp_out".into()))?;
        let mut map = DevMap::try_from(map).map_err(|e| LoadError::Kernel(chain(&e)))?;
        map.set(port.0.into(), ifindex, None, 0).map_err(|e| LoadError::Kernel(chain(&e)))?;
    }
    let ways = object.shared("sp_ways", PORTS, 8)?;
    ways.long(8 * usize::from(port.0)).store(ifindex.is_some().into(), Ordering::Release);
    Ok(())
}

/// Whether an interface sends frames that programs of other interfaces redirect to it. If it does not, they are lost
/// silently: of a veth, the *far* end must run a program or have GRO on. `None`: the kernel does not say (before Linux 6.3).
pub fn sends_redirected(ifindex: u32) -> Option<bool> {
    features::of(ifindex).map(|features| features & features::SENDS_REDIRECTED != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_queue_of_each_interface_has_a_place_of_its_own() {
        let keys: std::collections::BTreeSet<u32> =
            (0..SLOTS).flat_map(|slot| (0..QUEUES).map(move |queue| socket_key(slot, queue).unwrap())).collect();
        assert_eq!((keys.len(), keys.first(), keys.last()), (1024, Some(&0), Some(&1023)));
        assert_eq!((socket_key(64, 0), socket_key(0, 16), socket_key(u32::MAX, u32::MAX)), (None, None, None));
    }
}
