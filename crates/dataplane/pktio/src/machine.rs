//! Which addresses does the machine's kernel take for its own, in the calling thread's network namespace?
//!
//! Those of its table of local routes (rtnetlink(7)): addresses of all interfaces, their broadcast addresses, anycast addresses that routers have, and what the
//! operator routed to the machine itself. Groups are not among them.

use std::io::{self, ErrorKind, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use crate::sys::net::only_what_is_asked_for;

/// Most networks: a machine with more has users' packets sorted by a firewall of its own.
const MOST: usize = 4096;
/// The kernel's answers come at once: this is against waiting without end.
const PATIENCE: Duration = Duration::from_secs(1);
/// `struct nlmsghdr` and `struct rtmsg`, in bytes.
const HEADER: usize = 16;
const ROUTE: usize = 12;

/// The networks, sorted: mostly single addresses.
///
/// # Errors
/// What the kernel says, or if they are more than 4096.
pub fn networks() -> io::Result<Vec<(IpAddr, u8)>> {
    let mut found = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let mut socket = Socket::new(Domain::from(libc::AF_NETLINK), Type::RAW, None)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        // Kernels before 4.20 tell of all tables.
        let _ = only_what_is_asked_for(&socket);
        socket.send(&request(family as u8))?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let n = socket.read(&mut buffer)?;
            if n == 0 {
                return Err(io::Error::from(ErrorKind::UnexpectedEof));
            }
            if !read_messages(&buffer[..n], &mut found)? {
                break;
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// RTM_GETROUTE for all of the local table.
fn request(family: u8) -> Vec<u8> {
    const REQUEST_DUMP: u16 = 0x01 | 0x300;
    let mut message = ((HEADER + ROUTE) as u32).to_ne_bytes().to_vec();
    message.extend(libc::RTM_GETROUTE.to_ne_bytes());
    message.extend(REQUEST_DUMP.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([family, 0, 0, 0, libc::RT_TABLE_LOCAL, 0, 0, 0]);
    message.extend([0; 4]);
    message
}

/// Takes the routes out of what the kernel has sent at once. Whether more follows.
fn read_messages(mut bytes: &[u8], found: &mut Vec<(IpAddr, u8)>) -> io::Result<bool> {
    const DONE: u16 = libc::NLMSG_DONE as u16;
    const ERROR: u16 = libc::NLMSG_ERROR as u16;
    while bytes.len() >= HEADER {
        let length = word(bytes, 0) as usize;
        let kind = u16::from_ne_bytes([bytes[4], bytes[5]]);
        let Some(body) = bytes.get(HEADER..length) else { return Err(io::Error::from(ErrorKind::InvalidData)) };
        match kind {
            DONE => return Ok(false),
            ERROR if body.len() >= 4 => return Err(io::Error::from_raw_os_error(-(word(body, 0) as i32))),
            libc::RTM_NEWROUTE => found.extend(own_network(body)),
            _ => {}
        }
        if found.len() > MOST {
            return Err(io::Error::other(format!("this machine has more than {MOST} addresses")));
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(true)
}

/// The network of a route, if packets to it are for the machine.
fn own_network(body: &[u8]) -> Option<(IpAddr, u8)> {
    const DESTINATION: u16 = libc::RTA_DST;
    let route = body.get(..ROUTE)?;
    let (family, len, table, kind) = (i32::from(route[0]), route[1], route[4], route[7]);
    // Those of other tables are for packets that a rule of the operator's chose.
    if table != libc::RT_TABLE_LOCAL || !matches!(kind, libc::RTN_LOCAL | libc::RTN_BROADCAST | libc::RTN_ANYCAST) {
        return None;
    }
    let mut attributes = &body[ROUTE..];
    let mut destination: &[u8] = &[];
    while attributes.len() >= 4 {
        let length = usize::from(u16::from_ne_bytes([attributes[0], attributes[1]]));
        if u16::from_ne_bytes([attributes[2], attributes[3]]) == DESTINATION {
            destination = attributes.get(4..length)?;
        }
        if length < 4 {
            return None;
        }
        attributes = attributes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    match family {
        libc::AF_INET if len <= 32 => Some((Ipv4Addr::from(<[u8; 4]>::try_from(destination).ok()?).into(), len)),
        libc::AF_INET6 if len <= 128 => Some((Ipv6Addr::from(<[u8; 16]>::try_from(destination).ok()?).into(), len)),
        _ => None,
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut message = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
        message.extend(kind.to_ne_bytes());
        message.extend([0; 10]);
        message.extend(body);
        message
    }

    fn route(family: i32, len: u8, kind: u8, destination: &[u8]) -> Vec<u8> {
        let mut body = vec![family as u8, len, 0, 0, 255, 2, 0, kind, 0, 0, 0, 0];
        // RTA_OIF before it.
        body.extend([8, 0, 4, 0, 1, 0, 0, 0]);
        body.extend(((destination.len() + 4) as u16).to_ne_bytes());
        body.extend(1u16.to_ne_bytes());
        body.extend(destination);
        body
    }

    #[test]
    fn local_broadcast_and_anycast_routes_are_the_machines_own() {
        let mut found = Vec::new();
        let v6: Ipv6Addr = "fd00::1".parse().unwrap();
        let bodies = [
            route(libc::AF_INET, 8, libc::RTN_LOCAL, &[127, 0, 0, 0]),
            route(libc::AF_INET, 32, libc::RTN_BROADCAST, &[10, 45, 255, 255]),
            route(libc::AF_INET, 16, libc::RTN_UNICAST, &[10, 45, 0, 0]),
            route(libc::AF_INET6, 128, libc::RTN_ANYCAST, &v6.octets()),
            route(libc::AF_INET6, 8, libc::RTN_MULTICAST, &[0xff; 16]),
            route(libc::AF_INET, 33, libc::RTN_LOCAL, &[10, 0, 0, 1]),
        ];
        let bytes: Vec<u8> = bodies.iter().flat_map(|body| message(libc::RTM_NEWROUTE, body)).collect();
        assert!(read_messages(&bytes, &mut found).unwrap());
        let broadcast = Ipv4Addr::new(10, 45, 255, 255);
        assert_eq!(found, [(Ipv4Addr::new(127, 0, 0, 0).into(), 8), (broadcast.into(), 32), (v6.into(), 128)]);
        assert!(!read_messages(&message(libc::NLMSG_DONE as u16, &[0; 4]), &mut found).unwrap());
        let refused = read_messages(&message(libc::NLMSG_ERROR as u16, &(-libc::EPERM).to_ne_bytes()), &mut found);
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::EPERM));
        for cut in 0..bytes.len() {
            let _ = read_messages(&bytes[..cut], &mut Vec::new());
        }
    }

    #[test]
    fn this_machine_has_its_loopback_network() {
        let found = networks().unwrap();
        assert!(found.contains(&(Ipv4Addr::new(127, 0, 0, 0).into(), 8)) || found.contains(&(Ipv4Addr::LOCALHOST.into(), 32)), "{found:?}");
    }
}
