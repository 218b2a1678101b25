//! Devices of DPDK that need neither hardware nor privileges nor huge pages: ring, null, capture files.

mod common;

use common::*;
use dpdk::{DpdkPort, Error, Options};
use pktio::{DeviceDrops, PcapWriter, Port};

/// Ours is the only copy: DPDK's buffers circulate between the ring's ends.
#[test]
fn a_ring_gives_back_every_byte_of_frames_of_all_lengths() {
    if !started() {
        return;
    }
    let mut port = open_one("net_ring0");
    assert_eq!((port.name(), port.max_frame(), port.link_is_up()), ("n3 (dpdk net_ring0)", 1514, true));
    let mut number = 0;
    for _ in 0..400 {
        let frames = burst(&mut number, 1514, 96);
        send(&mut port, &frames);
        assert!(collect(&mut port, 96) == frames, "frames up to {number} differ");
    }
    // More than the ring's and the pool's buffers together.
    assert_eq!(number, 38_400);
    assert_eq!(port.device_drops(), DeviceDrops::default());
}

#[test]
fn a_full_ring_takes_no_more_and_loses_nothing() {
    if !started() {
        return;
    }
    let mut port = open_one("net_ring1");
    let packets: Vec<base::Packet> = (0..5000).map(|i| base::Packet::new(&frame(i, 100), base::PortId(0))).collect();
    let mut taken = 0;
    loop {
        let n = port.transmit(&packets[taken..]).unwrap();
        if n == 0 {
            break;
        }
        taken += n;
    }
    assert!((512..5000).contains(&taken), "{taken} frames");
    let got = collect(&mut port, taken);
    assert_eq!(got.len(), taken);
    assert!(got.iter().enumerate().all(|(i, data)| *data == frame(i as u32, 100)));
    // It has room again.
    send(&mut port, &[frame(1, 60)]);
    assert_eq!(collect(&mut port, 1), [frame(1, 60)]);
}

#[test]
fn queues_are_ports_of_their_own_in_threads_of_their_own() {
    if !started() {
        return;
    }
    let ports = open("net_ring2", Options { queues: 2, ..Options::default() }).unwrap();
    assert_eq!(
        ports.iter().map(|p| p.name().to_owned()).collect::<Vec<_>>(),
        ["n3 (dpdk net_ring2 queue 0)", "n3 (dpdk net_ring2 queue 1)"]
    );
    let run = |mut port: DpdkPort, first: u32| {
        std::thread::spawn(move || {
            let mut number = first;
            for _ in 0..100 {
                let frames = burst(&mut number, 1514, 64);
                send(&mut port, &frames);
                assert!(collect(&mut port, 64) == frames, "{}: frames up to {number} differ", port.name());
            }
            port
        })
    };
    let threads: Vec<_> = ports.into_iter().zip([0, 1 << 20]).map(|(port, first)| run(port, first)).collect();
    let back: Vec<DpdkPort> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    drop(back);
    // Closed with its last port, it can be opened again.
    let mut again = open_one("net_ring2");
    send(&mut again, &[frame(7, 333)]);
    assert_eq!(collect(&mut again, 1), [frame(7, 333)]);
}

#[test]
fn an_mtu_within_the_devices_limits_is_taken() {
    if !started() {
        return;
    }
    let mut port = open("net_ring3", Options { mtu: Some(9000), ..Options::default() }).unwrap().remove(0);
    assert_eq!(port.max_frame(), 9014);
    let mut number = 0;
    for _ in 0..50 {
        let frames = burst(&mut number, 9014, 32);
        send(&mut port, &frames);
        assert!(collect(&mut port, 32) == frames, "frames up to {number} differ");
    }
    // Longer ones were not to be offered: counted, not sent.
    let long = base::Packet::new(&frame(1, 9015), base::PortId(0));
    assert_eq!(port.transmit(&[long]).unwrap(), 1);
    assert_eq!(port.device_drops().tx_invalid, 1);
    drop(port);
    let error = open("net_ring3", Options { mtu: Some(60_000), ..Options::default() }).map(drop).unwrap_err();
    assert!(error.to_string().contains("MTU 60000 is not between"), "{error}");
}

#[test]
fn null_delivers_for_ever_and_forgets() {
    if !started() {
        return;
    }
    let mut port = open_one("net_null0,size=128");
    let mut packets = buffers(64);
    for _ in 0..1000 {
        assert_eq!(port.receive(&mut packets).unwrap(), 64);
        assert!(packets.iter().all(|p| p.data() == [0; 128] && p.headroom() == base::HEADROOM));
        assert_eq!(port.transmit(&packets).unwrap(), 64);
    }
    assert_eq!(port.device_drops(), DeviceDrops::default());
}

#[test]
fn capture_files_are_read_and_written() {
    if !started() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.pcap"), folder.path().join("out.pcap"));
    let frames: Vec<Vec<u8>> = (0..500).map(|i| frame(i, 60 + i as usize * 2)).collect();
    let mut writer = PcapWriter::create(&input).unwrap();
    for (i, frame) in frames.iter().enumerate() {
        writer.write(i as u64, frame).unwrap();
    }
    writer.flush().unwrap();
    drop(writer);
    let device = format!("net_pcap0,rx_pcap={},tx_pcap={}", input.display(), output.display());
    let mut port = open_one(&device);
    let got = collect(&mut port, 500);
    assert!(got == frames, "got {} frames", got.len());
    send(&mut port, &got);
    drop(port);
    let written: Vec<Vec<u8>> =
        pktio::pcap::read_all(&std::fs::read(&output).unwrap()).unwrap().into_iter().map(|packet| packet.data).collect();
    assert!(written == frames, "{} frames written", written.len());
}

#[test]
fn what_cannot_be_opened_says_what_to_do() {
    if !started() {
        return;
    }
    for (device, queues, expected) in [
        ("0000:7f:1f.7", 1, "vfio-pci"),
        ("net_ring9", 100, "lower engine.workers"),
        ("net_ring9", 0, "has 16 queues"),
        ("net_null9,no_such_argument=1", 1, "net_null9"),
        ("net_pcap9,rx_pcap=/no/such/file.pcap", 1, "net_pcap9"),
        ("net_af_packet9,iface=nosuchif0", 1, "is there an interface `nosuchif0`"),
        ("net_memif9,role=nobody", 1, "net_memif9"),
    ] {
        let error = open(device, Options { queues, ..Options::default() }).map(drop).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(expected) && !text.contains('\n'), "{device}: {text}");
        assert!(!matches!(error, Error::Absent(_)), "{device}: {text}");
    }
    let first = open_one("net_null8");
    assert!(open("net_null8", Options::default()).map(drop).unwrap_err().to_string().contains("open already"));
    drop(first);
    open_one("net_null8");
}
