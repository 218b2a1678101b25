//! AF_XDP ports on veth in native mode. Needs root; says so and passes without.

mod common;

use std::time::{Duration, Instant};

use common::*;
use pktio::af_xdp::{Frames, Mode, Options};
use pktio::{AfPacket, AfXdp, Port, PortError, interface, open_best};

fn open(interface: &str) -> AfXdp {
    AfXdp::open("n3", interface, Options::default()).unwrap()
}

fn raw(interface: &str) -> AfPacket {
    AfPacket::open("n6", interface, Default::default()).unwrap()
}

#[test]
fn frames_of_all_lengths_cross_both_ways_unchanged() {
    in_namespace(|| {
        let (name_a, name_b) = veth();
        let (mut a, mut b) = (open(&name_a), raw(&name_b));
        assert_eq!(a.name(), format!("n3 (af_xdp {name_a})"));
        assert!(!a.zero_copy());
        exchange(&mut a, &mut b, 60);
        assert_eq!((a.device_drops(), b.device_drops()), Default::default());
    });
}

#[test]
fn both_ends_may_be_af_xdp() {
    in_namespace(|| {
        let (a, b) = veth();
        let (mut a, mut b) = (open(&a), open(&b));
        exchange(&mut a, &mut b, 60);
        assert_eq!((a.device_drops(), b.device_drops()), Default::default());
    });
}

#[test]
fn generic_mode_works_too() {
    in_namespace(|| {
        let (a, b) = veth();
        let mut a = AfXdp::open("n3", &a, Options { mode: Mode::Generic, zero_copy: true, ..Options::default() }).unwrap();
        exchange(&mut a, &mut raw(&b), 10);
    });
}

#[test]
fn many_more_frames_than_buffers_circulate() {
    in_namespace(|| {
        let (a, b) = veth();
        let options = Options { ring: 64, ..Options::default() };
        let mut a = AfXdp::open("n3", &a, options).unwrap();
        let mut b = AfXdp::open("n6", &b, options).unwrap();
        // 100 rounds of 48 each way through 64 frames a direction.
        exchange(&mut a, &mut b, 100);
    });
}

#[test]
fn unfinished_checksums_are_finished_here_or_at_the_source() {
    in_namespace(|| {
        let (a, b) = veth();
        let socket = kernel_side(&a);
        let wrong = |finish: bool| {
            wait_for_program(&b, false);
            let mut port = AfXdp::open("n3", &b, Options { finish_checksums: Some(finish), ..Options::default() }).unwrap();
            for i in 0..200usize {
                socket.send(&vec![i as u8; 1 + i * 7 % 1400]).unwrap();
            }
            let got = collect(&mut port, 200, is_kernels_udp);
            assert_eq!(got.len(), 200);
            got.iter().filter(|frame| !checksums_are_right(frame)).count()
        };
        assert!(wrong(false) > 190, "without help they arrive unfinished");
        assert_eq!(wrong(true), 0);
        interface::disable_offloads(&a).unwrap();
        assert_eq!(wrong(false), 0, "without offloads the sender finishes them");
    });
}

#[test]
fn the_kernel_cuts_packets_beyond_the_mtu() {
    in_namespace(|| {
        let (a, b) = veth();
        let socket = kernel_side(&a);
        let mut port = open(&b);
        let bytes: Vec<u8> = (0..20_500u32).map(|i| (i / 7) as u8).collect();
        // Each is taken before the next: together they are more than a queue of the kernel's holds.
        let mut got = Vec::new();
        for _ in 0..20 {
            send_segmented(&socket, &bytes, 1000);
            got.extend(collect(&mut port, 21, is_kernels_udp));
        }
        assert_eq!(got.len(), 20 * 21);
        for (i, frame) in got.iter().enumerate() {
            let place = i % 21;
            assert!(checksums_are_right(frame) && frame[42..] == bytes[place * 1000..(place * 1000 + 1000).min(20_500)], "frame {i}");
        }
    });
}

#[test]
fn tcp_with_all_offloads_passes() {
    in_namespace(|| tcp_through(|label, name| Box::new(AfXdp::open(label, name, Options::default()).unwrap()), 8));
}

#[test]
fn long_frames_pass_and_larger_mtus_are_refused() {
    in_namespace(|| {
        let (name_a, name_b) = veth();
        for name in [&name_a, &name_b] {
            ip(&format!("link set {name} mtu 3400"));
        }
        {
            let (mut a, mut b) = (open(&name_a), open(&name_b));
            assert_eq!(a.max_frame(), 3414);
            exchange(&mut a, &mut b, 5);
            send(&mut a, &[frame(1, 3900), frame(2, 100)]);
            assert_eq!(collect(&mut b, 1, is_ours), [frame(2, 100)]);
            assert_eq!(a.device_drops().tx_invalid, 1, "longer than a frame");
        }
        wait_for_program(&name_a, false);
        wait_for_program(&name_b, false);
        ip(&format!("link set {name_b} mtu 9000"));
        let error = AfXdp::open("n3", &name_a, Options::default()).err().unwrap().to_string();
        assert!(error.contains("far end") && error.contains(&name_a), "{error}");
        ip(&format!("link set {name_a} mtu 9000"));
        let error = AfXdp::open("n3", &name_a, Options::default()).err().unwrap().to_string();
        assert!(error.starts_with(&format!("MTU 9000 of `{name_a}` does not fit af_xdp")), "{error}");
    });
}

#[test]
fn nothing_stays_behind_and_a_busy_interface_is_named() {
    in_namespace(|| {
        let (a, b) = veth();
        for _ in 0..5 {
            let port = open(&a);
            assert!(ip_output(&format!("link show {a}")).contains("xdp"), "the program is attached");
            let busy = AfXdp::open("n3", &a, Options::default()).err().unwrap();
            assert!(matches!(busy, PortError::Held(_)));
            assert!(busy.to_string().contains(&format!("`{a}` already runs an XDP program")), "{busy}");
            drop(port);
            wait_for_program(&a, false);
        }
        exchange(&mut open(&a), &mut raw(&b), 2);
    });
}

/// Not a test by itself: the process that [`a_process_that_dies_leaves_nothing`] starts and kills.
#[test]
fn holds_a_port_until_killed() {
    let Ok(name) = std::env::var(HELD_INTERFACE) else { return };
    let _port = AfXdp::open("n3", &name, Options { ring: 64, ..Options::default() }).unwrap();
    // Not for ever: the other test may fail before it kills us, and our input ends with it.
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
}

const HELD_INTERFACE: &str = "PKTIO_TEST_HELD_INTERFACE";

#[test]
fn a_process_that_dies_leaves_nothing() {
    in_namespace(|| {
        let (a, _) = veth();
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "holds_a_port_until_killed"])
            .env(HELD_INTERFACE, &a)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        wait_for_program(&a, true);
        // SIGKILL: no destructor runs.
        child.kill().unwrap();
        child.wait().unwrap();
        wait_for_program(&a, false);
    });
}

/// Waits until an XDP program is attached or not. A program goes when the last copy of its link is closed, and a process that
/// another test is just starting holds a copy until it has begun.
fn wait_for_program(name: &str, attached: bool) {
    let deadline = Instant::now() + PATIENCE;
    while ip_output(&format!("link show {name}")).contains("xdp") != attached {
        assert!(Instant::now() < deadline, "{name}: attached should be {attached}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn lost_packets_are_counted() {
    in_namespace(|| {
        let (a, b) = veth();
        let mut a = AfXdp::open("n3", &a, Options { ring: 64, ..Options::default() }).unwrap();
        let mut b = raw(&b);
        // In parts that the kernel's own queue holds, however late it is: what is lost is lost to our ring.
        let (frames, end) = ((0..1000).map(|i| frame(i, 100)).collect::<Vec<_>>(), Instant::now() + PATIENCE);
        for (n, part) in frames.chunks(100).enumerate() {
            send(&mut b, part);
            while a.device_drops().rx_full < 100 * (n as u64 + 1) - 64 {
                assert!(Instant::now() < end, "{:?}", a.device_drops());
            }
        }
        let got = collect(&mut a, 64, is_ours);
        assert_eq!(got.len(), 64);
        let drops = a.device_drops();
        assert_eq!((drops.rx_full, drops.rx_invalid), (1000 - 64, 0), "{drops:?}");
    });
}

#[test]
fn down_is_waited_out_and_removal_is_an_error() {
    in_namespace(|| {
        let (name_a, name_b) = veth();
        let (mut a, mut b) = (open(&name_a), raw(&name_b));
        let mut packets = buffers(4);
        ip(&format!("link set {name_a} down"));
        for _ in 0..2000 {
            assert_eq!(a.receive(&mut packets).unwrap(), 0);
        }
        // Whether and when it goes out is not said: it is none of those that are compared.
        let mut lost = frame(999, 100);
        lost[13] = 0xb6;
        let lost = [base::Packet::new(&lost, base::PortId(0))];
        assert_eq!(a.transmit(&lost).unwrap(), 1);
        a.flush().unwrap();
        ip(&format!("link set {name_a} up"));
        wait_until_up(&name_a);
        wait_until_up(&name_b);
        // What waited in the ring may still go out.
        a.flush().unwrap();
        exchange(&mut a, &mut b, 2);
        ip(&format!("link del {name_a}"));
        let deadline = Instant::now() + PATIENCE;
        let error = loop {
            match a.receive(&mut packets) {
                Err(e) => break e,
                Ok(_) => assert!(Instant::now() < deadline, "the removal was not noticed"),
            }
        };
        assert!(error.to_string().contains(&format!("`{name_a}` was removed")), "{error}");
        a.transmit(&lost).unwrap();
        assert!(a.flush().is_err());
    });
}

#[test]
fn several_queues_share_one_program() {
    in_namespace(|| {
        let id = std::process::id();
        ip(&format!("link add spa{id} numrxqueues 2 numtxqueues 2 type veth peer name spb{id} numrxqueues 2 numtxqueues 2"));
        for name in ["spa", "spb"] {
            ip(&format!("link set {name}{id} up"));
        }
        let name = format!("spa{id}");
        let mut ports = AfXdp::open_queues("n3", &name, &[0, 1], Frames::default(), Options::default()).unwrap();
        assert_eq!(ports[1].name(), format!("n3 (af_xdp {name} queue 1)"));
        let mut far = raw(&format!("spb{id}"));
        // Each queue transmits; what comes back lands on either.
        for port in &mut ports {
            send(port, &[frame(1, 100)]);
            assert_eq!(collect(&mut far, 1, is_ours).len(), 1);
        }
        send(&mut far, &(0..100).map(|i| frame(i, 100)).collect::<Vec<_>>());
        let mut got = 0;
        let deadline = Instant::now() + PATIENCE;
        let mut packets = buffers(32);
        while got < 100 && Instant::now() < deadline {
            for port in &mut ports {
                let n = port.receive(&mut packets).unwrap();
                got += packets[..n].iter().filter(|p| is_ours(p)).count();
            }
        }
        assert_eq!(got, 100);
        drop(ports.remove(0));
        assert!(ip_output(&format!("link show {name}")).contains("xdp"), "the other queue still needs the program");
        drop(ports);
        wait_for_program(&name, false);
        let error = AfXdp::open_queues("n3", &name, &[2], Frames::default(), Options::default()).err().unwrap().to_string();
        assert_eq!(error, format!("`{name}` has no queue 2: it has 2"));
    });
}

#[test]
fn the_best_port_is_picked_and_a_fallback_says_why() {
    in_namespace(|| {
        let (a, _) = veth();
        let best = open_best("n3", &a, 1, Frames::default(), true).unwrap();
        assert_eq!((best.ports[0][0].name(), &best.fell_back), (format!("n3 (af_xdp {a})").as_str(), &None));
        // Who holds it would answer beside us, and carry each packet a second time.
        let held = open_best("n3", &a, 1, Frames::default(), true).err().unwrap();
        assert!(matches!(&held, PortError::Held(why) if why.contains("already runs an XDP program")), "{held}");
        drop(best.ports);
        ip("link set lo mtu 1500");
        let fallback = open_best("n3", "lo", 1, Frames::default(), true).unwrap();
        assert_eq!(fallback.ports[0][0].name(), "n3 (af_packet lo)");
        let reason = fallback.fell_back.unwrap();
        assert!(reason.contains("of `lo` has no native XDP: use af_packet or the generic mode"), "{reason}");
        let error = open_best("n3", "no-such-if0", 1, Frames::default(), true).err().unwrap();
        assert_eq!(error.to_string(), "no interface `no-such-if0`: create it or change ports.n3.interface");
    });
}

#[test]
fn tagged_frames_cross_with_their_tags() {
    in_namespace(|| {
        let (a, b) = veth();
        let (mut a, mut b) = (open(&a), raw(&b));
        let frames: Vec<Vec<u8>> = (0..50).map(|i| tagged(&frame(i, 60 + i as usize * 29), 0x8100)).collect();
        let accept = |p: &base::Packet| p.data().get(16..18) == Some(&[0x88, 0xb5]);
        send(&mut a, &frames);
        assert!(collect(&mut b, 50, accept) == frames);
        send(&mut b, &frames);
        assert!(collect(&mut a, 50, accept) == frames);
    });
}

#[test]
fn tags_left_beside_the_frame_are_kept_by_turning_offloads_off() {
    in_namespace(|| {
        let (a, b) = veth();
        interface::disable_offloads(&a).unwrap();
        if !vlan5(&a) {
            return;
        }
        let socket = kernel_side("vlan5");
        let mut port = open(&b);
        socket.send(&[7; 100]).unwrap();
        let is_tagged = |p: &base::Packet| p.data().get(12..18) == Some(&[0x81, 0, 0, 5, 8, 0]) && p.data().get(27) == Some(&17);
        let got = collect(&mut port, 1, is_tagged);
        assert_eq!(got.iter().map(Vec::len).collect::<Vec<_>>(), [146]);
        assert!(checksums_are_right(&got[0][4..]));
    });
}

#[test]
fn odd_ring_sizes_are_refused() {
    in_namespace(|| {
        let (a, _) = veth();
        for ring in [0, 1, 100, 1 << 17] {
            let error = AfXdp::open("n3", &a, Options { ring, ..Options::default() }).err().unwrap();
            assert!(error.to_string().contains("power of two"), "{error}");
        }
    });
}

#[test]
fn an_interface_that_is_deleted_and_made_anew_is_opened_again() {
    in_namespace(|| {
        let (name_a, name_b) = veth();
        let mut a: Box<dyn Port> = Box::new(open(&name_a));
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

/// Waits until a port has noticed that its interface is gone.
fn wait_for_removal(port: &mut dyn Port) {
    let deadline = Instant::now() + PATIENCE;
    while port.receive(&mut buffers(4)).is_ok() {
        assert!(Instant::now() < deadline, "{}: the removal was not noticed", port.name());
    }
}

#[test]
fn ports_that_share_an_interface_are_opened_again_one_by_one() {
    in_namespace(|| {
        let (near, far) = veth_of("s", 2);
        let queues = |_: &str| {
            let ports = AfXdp::open_queues("n3", &near, &[0, 1], Frames::default(), Options::default()).unwrap();
            ports.into_iter().map(|port| Box::new(port) as Box<dyn Port>).collect::<Vec<_>>()
        };
        let workers = |_: &str| {
            let ports = AfXdp::open_steered("n3", &near, 2, Frames::default(), Options { ring: 256, ..Options::default() }).unwrap();
            ports.into_iter().flatten().map(|port| Box::new(port) as Box<dyn Port>).collect::<Vec<_>>()
        };
        for open in [&queues as &dyn Fn(&str) -> Vec<Box<dyn Port>>, &workers] {
            let mut ports = open(&near);
            let names: Vec<String> = ports.iter().map(|port| port.name().to_owned()).collect();
            // Frames without a UE go to worker 0 at first; now they are worker 1's, if there are workers.
            let steering = ports[0].steering().map(|(_, steering)| steering);
            if let Some(steering) = &steering {
                steering.assign(&[(0, 1)]).unwrap();
            }
            for round in 0..3 {
                ip(&format!("link del {near}"));
                ports.iter_mut().for_each(|port| wait_for_removal(&mut **port));
                assert!(ports[0].reopen().unwrap().is_err(), "there is none yet");
                assert_eq!(veth_of("s", 2), (near.clone(), far.clone()));
                if round == 1 {
                    // Deleted once more, when only one port has come back: what waits for the others is of no use any more.
                    ports[0] = ports[0].reopen().unwrap().unwrap();
                    ip(&format!("link del {near}"));
                    wait_for_removal(&mut *ports[0]);
                    veth_of("s", 2);
                }
                for port in &mut ports {
                    *port = port.reopen().unwrap().unwrap();
                }
                assert_eq!(ports.iter().map(|port| port.name().to_owned()).collect::<Vec<_>>(), names);
                let mut raw = raw(&far);
                for port in &mut ports {
                    send(port, &[frame(1, 100)]);
                    assert_eq!(collect(&mut raw, 1, is_ours).len(), 1, "each port sends");
                }
                send(&mut raw, &(0..100).map(|i| frame(i, 100)).collect::<Vec<_>>());
                let (mut got, mut of_worker_1, deadline, mut packets) = (0, 0, Instant::now() + PATIENCE, buffers(32));
                while got < 100 && Instant::now() < deadline {
                    for port in &mut ports {
                        let n = port.receive(&mut packets).unwrap();
                        let ours = packets[..n].iter().filter(|p| is_ours(p)).count();
                        got += ours;
                        of_worker_1 += if port.steering().is_some_and(|(worker, _)| worker == 1) { ours } else { 0 };
                    }
                }
                assert_eq!(got, 100);
                assert_eq!(of_worker_1, if steering.is_some() { 100 } else { 0 }, "buckets stay where they were");
            }
            drop(ports);
            wait_for_program(&near, false);
        }
    });
}

/// Frames that have a ring of their own, and such that have not, each a little different from one that has.
fn urgent_and_not() -> [Vec<Vec<u8>>; 2] {
    let ethernet = |ethertype: u16, rest: &[u8]| [&[2, 0, 0, 0, 0, 0xbb, 2, 0, 0, 0, 0, 0xaa][..], &ethertype.to_be_bytes(), rest].concat();
    let six = |next: u8, hops: u8, kind: u8| {
        let mut packet = vec![0x60, 0, 0, 0, 0, 24, next, hops];
        packet.extend([0; 32]);
        packet.push(kind);
        packet.resize(64, 0);
        ethernet(0x86dd, &packet)
    };
    let gtpu = |protocol: u8, port: u16, fragment: u16, kind: u8| {
        let mut packet = vec![0x45, 0, 0, 40, 0, 0];
        packet.extend(fragment.to_be_bytes());
        packet.extend([64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 8, 104]);
        packet.extend(port.to_be_bytes());
        packet.extend([0, 20, 0, 0, 0x32, kind]);
        packet.resize(60, 0);
        ethernet(0x0800, &packet)
    };
    let urgent = vec![
        ethernet(0x0806, &[0; 46]),
        six(58, 255, 133),
        six(58, 255, 135),
        six(58, 255, 137),
        gtpu(17, 2152, 0, 1),
        gtpu(17, 2152, 0x4000, 2),
        gtpu(17, 2152, 0, 31),
    ];
    let mut short = six(58, 255, 135);
    short.truncate(54);
    let not = vec![
        ethernet(0x0807, &[0; 46]),
        six(58, 254, 135),
        six(58, 255, 132),
        six(58, 255, 138),
        six(17, 255, 135),
        short,
        gtpu(17, 2152, 0, 32),
        gtpu(17, 2152, 0, 254),
        gtpu(17, 2152, 0, 255),
        gtpu(6, 2152, 0, 1),
        gtpu(17, 2153, 0, 1),
        gtpu(17, 2152, 0x2000, 1),
        gtpu(17, 2152, 1, 1),
    ];
    [urgent, not]
}

#[test]
fn what_keeps_links_and_paths_alive_has_a_place_when_users_packets_fill_the_ring() {
    in_namespace(|| {
        let (near, far) = veth();
        let [urgent, not] = urgent_and_not();
        let frames = Frames { tunnels: Some(gtpu_steering::GTPU), vxlan: false };
        let options = Options { ring: 64, ..Options::default() };
        for steered in [false, true] {
            let mut port = if steered {
                AfXdp::open_steered("n3", &near, 2, frames, options).unwrap().remove(0).remove(0)
            } else {
                AfXdp::open_queues("n3", &near, &[0], frames, options).unwrap().remove(0)
            };
            let mut raw = raw(&far);
            // More than the ring holds of frames that are no such, and then those.
            let (users, end) = (not.iter().cycle().take(200).cloned().collect::<Vec<_>>(), Instant::now() + PATIENCE);
            send(&mut raw, &users);
            while port.device_drops().rx_full < 200 - 64 {
                assert!(Instant::now() < end, "{:?}", port.device_drops());
            }
            send(&mut raw, &urgent);
            let mut got = collect(&mut port, 64 + urgent.len(), |_| true);
            got.sort();
            let mut wanted: Vec<_> = users[..64].iter().chain(&urgent).cloned().collect();
            wanted.sort();
            assert_eq!(got, wanted);
            assert_eq!(port.device_drops().rx_full, 200 - 64, "what is lost is counted, and no other");
            drop((port, raw));
            wait_for_program(&near, false);
        }
    });
}

#[test]
fn a_flood_of_arp_leaves_users_their_ring_and_three_fourths_of_each_burst() {
    in_namespace(|| {
        let (near, far) = veth();
        let [urgent, _] = urgent_and_not();
        let mut port =
            AfXdp::open_queues("n3", &near, &[0], Frames::default(), Options { ring: 512, ..Options::default() }).unwrap().remove(0);
        let mut raw = raw(&far);
        let users: Vec<_> = (0..120).map(|n| frame(n, 60)).collect();
        let arp = vec![urgent[0].clone(); 100];
        // The reserve holds 256. In parts, as above.
        let end = Instant::now() + PATIENCE;
        for n in 1..=6u64 {
            send(&mut raw, &arp);
            while port.device_drops().rx_full < (100 * n).saturating_sub(256) {
                assert!(Instant::now() < end, "{:?}", port.device_drops());
            }
        }
        send(&mut raw, &users);
        let mut packets = buffers(32);
        while port.waiting().is_none_or(|waiting| waiting < 256 + 120) {
            assert!(Instant::now() < end, "{:?}", port.waiting());
        }
        let bursts: Vec<usize> = (0..5)
            .map(|_| {
                assert_eq!(port.receive(&mut packets).unwrap(), 32);
                packets.iter().filter(|p| is_ours(p)).count()
            })
            .collect();
        assert_eq!(bursts, [24; 5]);
        assert_eq!(port.device_drops().rx_full, 600 - 256);
    });
}
