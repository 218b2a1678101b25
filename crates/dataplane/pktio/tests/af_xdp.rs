//! AF_XDP ports on veth in native mode. Needs root; says so and passes without.

mod common;

use std::time::{Duration, Instant};

use common::*;
use pktio::af_xdp::{Mode, Options};
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
        let mut ports = AfXdp::open_queues("n3", &name, &[0, 1], Options::default()).unwrap();
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
        let error = AfXdp::open_queues("n3", &name, &[2], Options::default()).err().unwrap().to_string();
        assert_eq!(error, format!("`{name}` has no queue 2: it has 2"));
    });
}

#[test]
fn the_best_port_is_picked_and_a_fallback_says_why() {
    in_namespace(|| {
        let (a, _) = veth();
        let best = open_best("n3", &a, 1).unwrap();
        assert_eq!((best.ports[0][0].name(), &best.fell_back), (format!("n3 (af_xdp {a})").as_str(), &None));
        // Who holds it would answer beside us, and carry each packet a second time.
        let held = open_best("n3", &a, 1).err().unwrap();
        assert!(matches!(&held, PortError::Held(why) if why.contains("already runs an XDP program")), "{held}");
        drop(best.ports);
        ip("link set lo mtu 1500");
        let fallback = open_best("n3", "lo", 1).unwrap();
        assert_eq!(fallback.ports[0][0].name(), "n3 (af_packet lo)");
        let reason = fallback.fell_back.unwrap();
        assert!(reason.contains("of `lo` has no native XDP: use af_packet or the generic mode"), "{reason}");
        let error = open_best("n3", "no-such-if0", 1).err().unwrap();
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
