//! Do ports by which the kernel routes work again when their interface is deleted and made anew? As root, in namespaces of their own.

mod common;

use std::net::{IpAddr, Ipv4Addr, SocketAddrV4, UdpSocket};
use std::time::Instant;

use base::{Packet, PortId};
use common::{PATIENCE, buffers, in_namespace, ip, ip_output};
use pktio::{Port, TransmitOnly, TunPort, UdpPort};

const OURS: Ipv4Addr = Ipv4Addr::new(10, 45, 0, 1);

/// A user's packet to the kernel, of so many bytes behind UDP.
fn frame(to: Ipv4Addr, port: u16, payload: &[u8]) -> Packet {
    let datagram = common::frames::udp(port, payload);
    Packet::new(&common::frames::ethernet(&common::frames::ipv4([10, 45, 0, 2], to.octets(), 17, &datagram)), PortId(0))
}

/// Sends a datagram through the port until the kernel's socket has it, and one back until the port has it.
fn exchange(receiver: &mut dyn Port, sender: &mut dyn Port, kernel: &UdpSocket, what: &[u8]) {
    let deadline = Instant::now() + PATIENCE;
    let mut got = [0; 64];
    let port = kernel.local_addr().unwrap().port();
    let n = loop {
        assert!(Instant::now() < deadline, "the kernel gets nothing");
        sender.transmit(&[frame(OURS, port, what)]).unwrap();
        if let Ok((n, from)) = kernel.recv_from(&mut got)
            && got[..n] == *what
        {
            assert_eq!(from.ip(), IpAddr::from([10, 45, 0, 2]));
            break n;
        }
    };
    loop {
        assert!(Instant::now() < deadline, "the port gets nothing");
        kernel.send_to(&got[..n], (Ipv4Addr::new(10, 45, 0, 2), 99)).unwrap();
        let mut packets = buffers(4);
        let n = receiver.receive(&mut packets).unwrap();
        if packets[..n].iter().any(|packet| packet.data().ends_with(what)) {
            return;
        }
    }
}

#[test]
fn a_tun_device_that_is_deleted_is_made_again_for_all_workers() {
    in_namespace(|| {
        let addresses = [(IpAddr::from(OURS), 16)];
        let options = pktio::tun::Options { addresses: &addresses, mtu: Some(1400), gso_max_size: Some(60_000), ..Default::default() };
        let mut first = TunPort::open("n6", "sp-n6", options).unwrap();
        assert!(ip_output("-d link show sp-n6").contains("gso_max_size 60000"));
        first.set_mac([2, 0, 0, 0, 0, 9]);
        let mut others: Vec<Box<dyn Port>> = (0..2).map(|_| Box::new(TransmitOnly(first.try_clone().unwrap())) as Box<dyn Port>).collect();
        let mut first: Box<dyn Port> = Box::new(first);
        for round in 0..3u8 {
            let kernel = UdpSocket::bind((OURS, 0)).unwrap();
            kernel.set_nonblocking(true).unwrap();
            for other in &mut others {
                exchange(&mut first, other, &kernel, &[round; 30]);
            }
            drop(kernel);
            ip("link del sp-n6");
            let deadline = Instant::now() + PATIENCE;
            while first.receive(&mut buffers(4)).is_ok() {
                assert!(Instant::now() < deadline, "the removal was not noticed");
            }
            // A worker that only sends comes first, or one that receives.
            if round == 1 {
                first = first.reopen().unwrap().unwrap();
            }
            for other in &mut others {
                assert!(other.transmit(&[frame(OURS, 9, &[0])]).is_err(), "the removal was not noticed");
                *other = other.reopen().unwrap().unwrap();
            }
            if round != 1 {
                first = first.reopen().unwrap().unwrap();
            }
            assert_eq!(first.max_frame(), 1414);
        }
        let kernel = UdpSocket::bind((OURS, 0)).unwrap();
        kernel.set_nonblocking(true).unwrap();
        exchange(&mut first, &mut others[1], &kernel, b"at the end");
        let mut packets = buffers(4);
        kernel.send_to(b"mac", (Ipv4Addr::new(10, 45, 0, 2), 99)).unwrap();
        let deadline = Instant::now() + PATIENCE;
        while first.receive(&mut packets).unwrap() == 0 {
            assert!(Instant::now() < deadline);
        }
        assert_eq!(packets[0].data()[..6], [2, 0, 0, 0, 0, 9], "our MAC address stays");
    });
}

/// A socket stays bound to its address, so that nothing has to be opened again.
#[test]
fn a_udp_port_carries_on_when_its_interface_is_made_anew() {
    in_namespace(|| {
        let make = || {
            ip("link add n3 type veth peer name far");
            ip("address add 10.3.0.1/24 dev n3");
            ip("link set n3 up");
            ip("link set far up");
        };
        make();
        let mut port = UdpPort::bind("n3", SocketAddrV4::new(Ipv4Addr::new(10, 3, 0, 1), 2152), None).unwrap();
        let own = UdpSocket::bind("10.3.0.1:0").unwrap();
        own.set_nonblocking(true).unwrap();
        let to_own = || frame(Ipv4Addr::new(10, 3, 0, 1), own.local_addr().unwrap().port(), b"there");
        for round in 0..3u8 {
            let deadline = Instant::now() + PATIENCE;
            loop {
                assert!(Instant::now() < deadline, "round {round}: nothing comes through");
                assert_eq!(port.transmit(&[to_own()]).unwrap(), 1);
                let mut got = [0; 16];
                if matches!(own.recv_from(&mut got), Ok((5, from)) if from == "10.3.0.1:2152".parse().unwrap()) {
                    break;
                }
            }
            own.send_to(&[round], "10.3.0.1:2152").unwrap();
            let mut packets = buffers(4);
            while !(0..port.receive(&mut packets).unwrap()).any(|i| packets[i].data()[42..] == [round]) {
                assert!(Instant::now() < deadline, "round {round}: nothing arrives");
            }
            ip("link del n3");
            // What is sent meanwhile is lost, and the port lives.
            let before = port.device_drops().tx_invalid;
            assert_eq!(port.transmit(&[to_own()]).unwrap(), 1);
            assert_eq!((port.device_drops().tx_invalid, port.receive(&mut packets).unwrap()), (before + 1, 0));
            make();
        }
    });
}
