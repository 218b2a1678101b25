//! Who else uses an interface? Two programs that take all packets of one interface would each carry every packet.

use std::io::{self, Read};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use rustix::process::getuid;
use socket2::{Domain, Socket, Type};

use crate::{Interface, PortError};

/// The kernel's answers come at once: this is against waiting without end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Says to other processes of this network namespace that an interface is taken, until it is dropped. It is a socket of the abstract namespace
/// (unix(7)), which the kernel removes with the process. Drivers that the kernel gives to one user at a time (AF_XDP) need none.
pub(crate) struct Claim {
    _listener: UnixListener,
}

impl Claim {
    /// Claims `interface`. `None` if a process of a user without our rights has a socket of that name: it could not open a port.
    ///
    /// # Errors
    /// [`PortError::Held`] if another process of root or of our user has claimed it.
    pub(crate) fn of(interface: &Interface) -> Result<Option<Claim>, PortError> {
        let failed = |e| PortError::io(format!("claiming `{}`", interface.name), e);
        let address = SocketAddr::from_abstract_name(format!("splitplane/interface/{}", interface.index)).map_err(failed)?;
        let taken = match UnixListener::bind_addr(&address) {
            Ok(listener) => return Ok(Some(Claim { _listener: listener })),
            Err(e) if e.kind() == io::ErrorKind::AddrInUse => UnixStream::connect_addr(&address),
            Err(e) => return Err(failed(e)),
        };
        let owner = taken.ok().and_then(|stream| rustix::net::sockopt::socket_peercred(&stream).ok()).map(|peer| peer.uid);
        match owner {
            Some(uid) if uid.is_root() || uid == getuid() => {
                Err(PortError::Held(format!("another splitplane has `{}` open with af_packet: stop its owner", interface.name)))
            }
            _ => {
                tracing::warn!(
                    interface = interface.name,
                    "a process of another user has its name: whether another splitplane uses it is not known"
                );
                Ok(None)
            }
        }
    }
}

/// Whether an XDP program runs on the interface of this index (`IFLA_XDP` of rtnetlink(7)).
///
/// # Errors
/// What the kernel says.
pub(crate) fn runs_xdp(index: u32) -> io::Result<bool> {
    let mut socket = Socket::new(Domain::from(libc::AF_NETLINK), Type::RAW, None)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send(&get_link(index))?;
    let mut answer = vec![0; 1 << 16];
    let n = socket.read(&mut answer)?;
    attached(&answer[..n])
}

/// RTM_GETLINK.
fn get_link(index: u32) -> Vec<u8> {
    const REQUEST: u16 = 1;
    let mut message = 32_u32.to_ne_bytes().to_vec();
    message.extend(libc::RTM_GETLINK.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    // struct ifinfomsg: family, type, index, flags, change.
    message.extend([0; 4]);
    message.extend(index.to_ne_bytes());
    message.extend([0; 8]);
    message
}

/// Reads the answer to [`get_link`].
fn attached(answer: &[u8]) -> io::Result<bool> {
    const ERROR: u16 = libc::NLMSG_ERROR as u16;
    /// Of linux/if_link.h; an interface without a program has 0 there.
    const IFLA_XDP: u16 = 43;
    const IFLA_XDP_ATTACHED: u16 = 2;
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let half = |at: usize| Some(u16::from_ne_bytes(answer.get(at..at + 2)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_ne_bytes(answer.get(at..at + 4)?.try_into().ok()?));
    match half(4).ok_or_else(invalid)? {
        ERROR => return Err(io::Error::from_raw_os_error((word(16).ok_or_else(invalid)? as i32).wrapping_neg())),
        libc::RTM_NEWLINK => {}
        _ => return Err(invalid()),
    }
    // Behind struct nlmsghdr and struct ifinfomsg.
    let body = answer.get(32..word(0).ok_or_else(invalid)? as usize).ok_or_else(invalid)?;
    let xdp = attribute(body, IFLA_XDP);
    Ok(xdp.and_then(|xdp| attribute(xdp, IFLA_XDP_ATTACHED)).and_then(|mode| mode.first()).is_some_and(|mode| *mode != 0))
}

/// The payload of the first attribute of a kind (`struct rtattr`).
fn attribute(mut attributes: &[u8], kind: u16) -> Option<&[u8]> {
    /// `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`.
    const FLAGS: u16 = 0xc000;
    while let [a, b, c, d, ..] = *attributes {
        let length = usize::from(u16::from_ne_bytes([a, b]));
        let payload = attributes.get(4..length)?;
        if u16::from_ne_bytes([c, d]) & !FLAGS == kind {
            return Some(payload);
        }
        attributes = attributes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rtattr(kind: u16, payload: &[u8]) -> Vec<u8> {
        let mut bytes = (payload.len() as u16 + 4).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(payload);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn answer(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = (body.len() as u32 + 16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(body);
        bytes
    }

    #[test]
    fn an_interface_runs_xdp_if_the_kernel_says_so() {
        let with = |mode: u8| {
            let link = [vec![0; 16], rtattr(3, b"eth0\0"), rtattr(43, &[rtattr(2, &[mode]), rtattr(4, &[7, 0, 0, 0])].concat())];
            answer(libc::RTM_NEWLINK, &link.concat())
        };
        assert!(attached(&with(1)).unwrap() && !attached(&with(0)).unwrap());
        assert!(!attached(&answer(libc::RTM_NEWLINK, &[0; 16])).unwrap());
        let refused = attached(&answer(2, &(-libc::ENODEV).to_ne_bytes())).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::ENODEV));
        // Nothing that is cut short is read beyond its end.
        for length in 0..with(1).len() {
            let _ = attached(&with(1)[..length]);
        }
        assert_eq!(attribute(&[2, 0, 43, 0], 43), None, "shorter than itself");
    }
}
