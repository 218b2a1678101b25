//! AF_PACKET ports on real interfaces. Needs root; says so and passes without.

mod common;

use std::time::Instant;

use common::*;
use pktio::af_packet::Options;
use pktio::{AfPacket, Interface, Port, PortError, interface};

fn open(interface: &str) -> AfPacket {
    AfPacket::open("n3", interface, Options::default()).unwrap()
}

#[test]
fn frames_of_all_lengths_cross_both_ways_unchanged() {
    in_namespace(|| {
        let (a, b) = veth();
        let (mut a, mut b) = (open(&a), open(&b));
        assert_eq!(a.max_frame(), 1514);
        exchange(&mut a, &mut b, 60);
        assert_eq!((a.device_drops(), b.device_drops()), Default::default());
    });
}

#[test]
fn jumbo_frames_cross_and_longer_ones_are_counted() {
    in_namespace(|| {
        let (name_a, name_b) = veth();
        for name in [&name_a, &name_b] {
            ip(&format!("link set {name} mtu 9000"));
        }
        let (mut a, mut b) = (open(&name_a), open(&name_b));
        assert_eq!(a.max_frame(), 9014);
        exchange(&mut a, &mut b, 4);
        let frames = [frame(1, 9015), frame(2, 200), frame(3, 9200), frame(4, 60)];
        send(&mut a, &frames);
        let got = collect(&mut b, 2, is_ours);
        assert_eq!(got, [frames[1].clone(), frames[3].clone()]);
        assert_eq!(a.device_drops().tx_invalid, 2);
    });
}

#[test]
fn checksums_left_unfinished_are_finished() {
    in_namespace(|| {
        let (a, b) = veth();
        let socket = kernel_side(&a);
        let mut port = open(&b);
        for i in 0..500usize {
            socket.send(&vec![i as u8; 1 + i * 3 % 1400]).unwrap();
        }
        let got = collect(&mut port, 500, is_kernels_udp);
        assert_eq!(got.len(), 500);
        for frame in &got {
            assert!(checksums_are_right(frame), "{frame:02x?}");
        }
    });
}

#[test]
fn packets_beyond_the_mtu_are_cut_in_order() {
    in_namespace(|| {
        let (a, b) = veth();
        let socket = kernel_side(&a);
        let mut port = open(&b);
        let bytes: Vec<u8> = (0..20_500u32).map(|i| (i / 7) as u8).collect();
        for _ in 0..20 {
            send_segmented(&socket, &bytes, 1000);
        }
        // A small one behind must not overtake.
        send_segmented(&socket, b"last", 1000);
        let got = collect(&mut port, 20 * 21 + 1, is_kernels_udp);
        assert_eq!(got.len(), 20 * 21 + 1);
        for (i, frame) in got.iter().enumerate() {
            assert!(checksums_are_right(frame), "frame {i}");
            let place = i % 21;
            let expected = if i == 420 { &b"last"[..] } else { &bytes[place * 1000..(place * 1000 + 1000).min(20_500)] };
            assert!(&frame[42..] == expected, "frame {i}: {} bytes", frame.len());
        }
        assert_eq!(port.device_drops(), Default::default());
    });
}

#[test]
fn turning_offloads_off_stops_them_at_the_source() {
    in_namespace(|| {
        let (a, _) = veth();
        let changed = interface::disable_offloads(&a).unwrap();
        assert!(changed.contains(&"tx") && changed.contains(&"tso"), "{changed:?}");
        assert_eq!(interface::disable_offloads(&a).unwrap(), Vec::<&str>::new(), "a second time there is nothing left to do");
    });
}

#[test]
fn tcp_with_all_offloads_passes() {
    in_namespace(|| tcp_through(|label, name| Box::new(AfPacket::open(label, name, Options::default()).unwrap()), 8));
}

#[test]
fn vlan_tags_are_put_back() {
    in_namespace(|| {
        let (a, b) = veth();
        if !vlan5(&a) {
            return;
        }
        let socket = kernel_side("vlan5");
        let mut port = open(&b);
        socket.send(&[7; 100]).unwrap();
        send_segmented(&socket, &[8; 2500], 1000);
        let is_tagged = |p: &base::Packet| p.data().get(12..18) == Some(&[0x81, 0, 0, 5, 8, 0]) && p.data().get(27) == Some(&17);
        let got = collect(&mut port, 4, is_tagged);
        assert_eq!(got.iter().map(Vec::len).collect::<Vec<_>>(), [146, 1046, 1046, 546]);
        for frame in got {
            assert!(checksums_are_right(&frame[4..]));
        }
    });
}

#[test]
fn tagged_frames_cross_with_their_tags() {
    in_namespace(|| {
        let (a, b) = veth();
        let (mut a, mut b) = (open(&a), open(&b));
        // The kernel takes the tag out on receipt, with or without VLAN interfaces.
        let frames: Vec<Vec<u8>> = (0..50).map(|i| tagged(&frame(i, 60 + i as usize * 29), 0x8100 + (i % 2) as u16 * 0x7a8)).collect();
        send(&mut a, &frames);
        let got = collect(&mut b, 50, |p| p.data().get(16..18) == Some(&[0x88, 0xb5]));
        assert!(got == frames, "{:02x?} is not {:02x?}", got.first(), frames[0]);
        let mut small = [base::Packet::empty(0)];
        send(&mut a, &frames[..1]);
        pktio::wait(&[b.fd().unwrap()], PATIENCE).unwrap();
        assert_eq!(b.receive(&mut small).unwrap(), 1);
        assert_eq!((small[0].data(), small[0].headroom()), (&frames[0][..], base::HEADROOM));
    });
}

#[test]
fn own_packets_are_not_heard() {
    in_namespace(|| {
        let (a, b) = veth();
        let (mut a, mut b) = (open(&a), open(&b));
        send(&mut a, &[frame(1, 100)]);
        assert_eq!(collect(&mut b, 1, is_ours).len(), 1);
        assert_eq!(a.receive(&mut buffers(4)).unwrap(), 0);
    });
}

#[test]
fn a_full_buffer_is_counted() {
    in_namespace(|| {
        let (a, b) = veth();
        let mut a = open(&a);
        let mut b = AfPacket::open("n3", &b, Options { buffer_bytes: 1, ..Options::default() }).unwrap();
        send(&mut a, &(0..500).map(|i| frame(i, 1000)).collect::<Vec<_>>());
        // Nothing is taken before something is lost: the kernel may be late with what was sent.
        let end = Instant::now() + PATIENCE;
        let (mut packets, mut got, mut lost) = (buffers(600), 0, 0);
        while got + lost < 500 {
            assert!(Instant::now() < end, "got {got}, lost {lost}");
            lost = b.device_drops().rx_full;
            let n = if lost > 0 { b.receive(&mut packets).unwrap() } else { 0 };
            got += packets[..n].iter().filter(|p| is_ours(p)).count() as u64;
        }
        assert!(got > 0 && lost > 0 && got + lost >= 500, "got {got}, lost {lost}");
        assert_eq!(b.device_drops().rx_full, lost, "counts stay");
    });
}

#[test]
fn down_is_waited_out_and_removal_is_an_error() {
    in_namespace(|| {
        let (name_a, name_b) = veth();
        let (mut a, mut b) = (open(&name_a), open(&name_b));
        let mut packets = buffers(4);
        ip(&format!("link set {name_a} down"));
        for _ in 0..10 {
            assert_eq!(a.receive(&mut packets).unwrap(), 0);
        }
        let lost = [base::Packet::new(&frame(1, 100), base::PortId(0))];
        assert_eq!(a.transmit(&lost).unwrap(), 1);
        assert_eq!(a.device_drops().tx_invalid, 1);
        let down = AfPacket::open("n3", &name_a, Options::default()).err().unwrap();
        assert_eq!(down.to_string(), format!("interface `{name_a}` is down: run `ip link set {name_a} up`"));
        ip(&format!("link set {name_a} up"));
        wait_until_up(&name_a);
        wait_until_up(&name_b);
        exchange(&mut a, &mut b, 1);
        ip(&format!("link del {name_a}"));
        let deadline = Instant::now() + PATIENCE;
        let error = loop {
            match a.receive(&mut packets) {
                Err(e) => break e,
                Ok(_) => assert!(Instant::now() < deadline, "the removal was not noticed"),
            }
        };
        assert!(matches!(error, PortError::Io { .. }));
        assert!(error.to_string().contains(&format!("`{name_a}` was removed")), "{error}");
        assert!(a.receive(&mut packets).is_err(), "and stays an error");
        assert!(b.transmit(&lost).is_err(), "the far end went with it");
    });
}

#[test]
fn an_interface_is_described() {
    in_namespace(|| {
        let (a, _) = veth();
        ip(&format!("link set {a} address 02:00:00:00:00:77 mtu 1400"));
        ip(&format!("address add 10.9.0.1/24 dev {a}"));
        let found = Interface::find("n3", &a).unwrap();
        assert_eq!((found.mac, found.mtu, found.up), ([2, 0, 0, 0, 0, 0x77], 1400, true));
        assert_eq!((found.driver.as_str(), found.rx_queues), ("veth", 1));
        assert_eq!(found.addresses, [("10.9.0.1".parse().unwrap(), 24)]);
        ip("tuntap add dev spt0 mode tun");
        let tun = Interface::find("n3", "spt0").unwrap_err().to_string();
        assert!(tun.contains("does not carry Ethernet"), "{tun}");
    });
}

#[test]
fn the_missing_capability_is_named() {
    in_namespace(|| {
        let (a, _) = veth();
        // SAFETY: the raw call changes the ids, and with them the capabilities, of the calling thread only, which ends after this.
        let dropped = unsafe { libc::syscall(libc::SYS_setresuid, 65534, 65534, 65534) };
        assert_eq!(dropped, 0);
        let error = AfPacket::open("n3", &a, Options::default()).err().unwrap();
        assert!(matches!(&error, PortError::Permission(text) if text.contains("CAP_NET_RAW")), "{error}");
        let error = pktio::AfXdp::open("n3", &a, Default::default()).err().unwrap();
        assert!(matches!(&error, PortError::Permission(text) if text.contains("CAP_BPF")), "{error}");
        let error = interface::disable_offloads(&a).unwrap_err();
        assert!(matches!(&error, PortError::Permission(text) if text.contains("CAP_NET_ADMIN")), "{error}");
    });
}

#[test]
fn an_interface_that_is_deleted_and_made_anew_is_opened_again() {
    in_namespace(|| {
        let (name_a, name_b) = veth();
        let mut a: Box<dyn Port> = Box::new(AfPacket::open("n3", &name_a, Default::default()).unwrap());
        ip(&format!("link del {name_a}"));
        let deadline = Instant::now() + PATIENCE;
        while a.receive(&mut buffers(4)).is_ok() {
            assert!(Instant::now() < deadline, "the removal was not noticed");
        }
        let error = a.reopen().unwrap().err().unwrap().to_string();
        assert!(error.contains(&format!("no interface `{name_a}`")), "{error}");
        assert_eq!(veth(), (name_a, name_b.clone()));
        let mut a = a.reopen().unwrap().unwrap();
        let mut b = AfPacket::open("n6", &name_b, Default::default()).unwrap();
        exchange(&mut a, &mut b, 5);
    });
}
