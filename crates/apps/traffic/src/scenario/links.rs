//! How do a scenario's packets get to the UPF and back? By UDP sockets, or as a test likes.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::time::Duration;

use super::{Addresses, Stop};

/// How long to wait for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// It must come.
    Expected,
    /// It must not come.
    Unexpected,
}

/// The wires to a UPF. Nodes on its tunnels are numbered: gNodeBs 0 and 1, the UPF behind N9 is 2.
pub trait Links {
    /// Sends a PFCP message as the SMF.
    fn send_n4(&mut self, octets: &[u8]) -> io::Result<()>;
    /// The next PFCP message to the SMF.
    fn receive_n4(&mut self, patience: Patience) -> io::Result<Option<Vec<u8>>>;
    /// Sends a GTP-U message from a node's port 2152 to that of `to`.
    fn send_tunnel(&mut self, node: usize, to: Ipv4Addr, octets: &[u8]) -> io::Result<()>;
    /// The next GTP-U message to a node.
    fn receive_tunnel(&mut self, node: usize, patience: Patience) -> io::Result<Option<Vec<u8>>>;
    /// Sends a datagram from one of the data network's ports.
    fn send_dn(&mut self, port: usize, to: SocketAddrV4, payload: &[u8]) -> io::Result<()>;
    /// The next datagram to one of the data network's ports, and whose it is.
    fn receive_dn(&mut self, port: usize, patience: Patience) -> io::Result<Option<(SocketAddrV4, Vec<u8>)>>;
    /// Restarts the UPF, or tells the user to do so now.
    fn restart_upf(&mut self) -> io::Result<()>;
    /// Lets a tenth of a second pass, where time is real.
    fn pause(&mut self);
}

/// UDP sockets on addresses of this machine. Needs a route to the UEs by the UPF's N6, and no privilege.
pub struct Sockets {
    upf: SocketAddr,
    n4: UdpSocket,
    tunnels: Vec<UdpSocket>,
    dn: Vec<UdpSocket>,
}

/// Time for an answer of N4, after which the request is sent again.
const ANSWERED: Duration = Duration::from_secs(1);
/// From one look for a UPF that restarts to the next.
const PAUSE: Duration = Duration::from_millis(100);
/// Time for a packet that must come, on a busy machine too, and for one that must not.
const EXPECTED: Duration = Duration::from_secs(5);

const UNEXPECTED: Duration = Duration::from_millis(200);

impl Sockets {
    /// Opens all sockets that `addresses` ask for, and N4 between `local` and `upf`.
    pub fn open(local: SocketAddr, upf: SocketAddr, addresses: &Addresses) -> Result<Sockets, Stop> {
        let bind = |what: &str, address: SocketAddr| {
            UdpSocket::bind(address).map_err(|error| Stop::Unusable(format!("{what} socket {address}: {error}")))
        };
        let tunnel = |ip: Ipv4Addr| bind("GTP-U", SocketAddr::new(IpAddr::V4(ip), wire::gtpu::PORT));
        let nodes = addresses.gnbs.into_iter().chain(addresses.psa);
        Ok(Sockets {
            upf,
            n4: bind("N4", local)?,
            tunnels: nodes.map(tunnel).collect::<Result<_, _>>()?,
            dn: addresses
                .dn_ports
                .into_iter()
                .map(|port| bind("data network", SocketAddr::new(IpAddr::V4(addresses.dn), port)))
                .collect::<Result<_, _>>()?,
        })
    }
}

fn receive(socket: &UdpSocket, expected: Duration, patience: Patience) -> io::Result<Option<(SocketAddr, Vec<u8>)>> {
    socket.set_read_timeout(Some(if patience == Patience::Expected { expected } else { UNEXPECTED }))?;
    let mut buffer = vec![0; 65_536];
    match socket.recv_from(&mut buffer) {
        Ok((length, from)) => {
            buffer.truncate(length);
            Ok(Some((from, buffer)))
        }
        // Refused: an ICMP error about what was sent before, as good as nothing.
        Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::ConnectionRefused) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Links for Sockets {
    fn send_n4(&mut self, octets: &[u8]) -> io::Result<()> {
        self.n4.send_to(octets, self.upf).map(drop)
    }

    fn receive_n4(&mut self, patience: Patience) -> io::Result<Option<Vec<u8>>> {
        Ok(receive(&self.n4, ANSWERED, patience)?.filter(|(from, _)| from.ip() == self.upf.ip()).map(|(_, octets)| octets))
    }

    fn send_tunnel(&mut self, node: usize, to: Ipv4Addr, octets: &[u8]) -> io::Result<()> {
        self.tunnels[node].send_to(octets, (to, wire::gtpu::PORT)).map(drop)
    }

    fn receive_tunnel(&mut self, node: usize, patience: Patience) -> io::Result<Option<Vec<u8>>> {
        Ok(receive(&self.tunnels[node], EXPECTED, patience)?.map(|(_, octets)| octets))
    }

    fn send_dn(&mut self, port: usize, to: SocketAddrV4, payload: &[u8]) -> io::Result<()> {
        self.dn[port].send_to(payload, to).map(drop)
    }

    fn receive_dn(&mut self, port: usize, patience: Patience) -> io::Result<Option<(SocketAddrV4, Vec<u8>)>> {
        Ok(receive(&self.dn[port], EXPECTED, patience)?.and_then(|(from, payload)| match from {
            SocketAddr::V4(from) => Some((from, payload)),
            SocketAddr::V6(_) => None,
        }))
    }

    fn restart_upf(&mut self) -> io::Result<()> {
        eprintln!("restart the UPF now: it is waited for a minute");
        Ok(())
    }

    fn pause(&mut self) {
        std::thread::sleep(PAUSE);
    }
}
