//! What does a reload do to packets that flow, what does it say of what failed, and what are targets said to have carried?

use super::queues::{Bench, GNB, GNB_MAC, N3, QUEUES, ue, uplink};
use super::*;
use crate::manage::control::Request;
use crate::manage::request::Reloaded;

fn reload(bench: &Bench, from: &str, to: &str) -> Reloaded {
    assert!(bench.text.contains(from), "{from}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bench.text.replace(from, to)).unwrap();
    match bench.upf.control().with_file(file.path()).answer(Request::Reload { dry_run: false }, "a test") {
        Reply::Reloaded(reloaded) => reloaded,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_class_that_a_reload_changes_has_another_queue_from_the_next_packet_on() {
    let class = |queue: u8| format!("[[class]]\nfrom = \"{}/32\"\nqueue = {queue}\n", ue(0));
    let mut bench = Bench::start(61, &format!("{QUEUES}{}", class(5)));
    let session = bench.session(0, |_| ());
    let packets = |range: std::ops::Range<u16>| range.map(|number| uplink(&session, 0, 0, number)).collect::<Vec<_>>();
    bench.send(&packets(0..20));
    bench.collect(20);
    let reloaded = reload(&bench, &class(5), &class(2));
    assert_eq!((reloaded.changes.len(), reloaded.failed.len()), (2, 0), "{reloaded:?}");
    bench.send(&packets(20..50));
    bench.collect(30);
    let report = bench.stop();
    let sent: Vec<u64> = report.ports["n6"].waiting.iter().map(|of| of.sent.packets).collect();
    assert_eq!(sent, [0, 0, 30, 0, 0, 20, 0, 0], "{:?}", report.ports["n6"]);
}

/// The rest stays: it cannot be taken back. This process has no log that could change.
#[test]
fn what_fails_when_a_reload_is_made_is_in_its_answer() {
    let bench = Bench::start(65, "[log]\nfilter = \"info\"\n");
    let reloaded = reload(&bench, "filter = \"info\"", "filter = \"debug\"");
    assert_eq!(reloaded.changes, ["log.filter: \"info\" -> \"debug\""]);
    assert_eq!(reloaded.failed, ["log.filter: this program's log cannot be changed"]);
    bench.stop();
}

#[test]
fn a_target_has_carried_users_packets_and_neither_arp_nor_what_is_dropped() {
    // Without a rate: none waits for so long that it is dropped.
    let mut bench = Bench::start_with(69, None, "");
    let session = bench.session(0, |_| ());
    let up: Vec<Packet> = (0..30).map(|number| uplink(&session, 0, 0, number)).collect();
    // Who has N3's address?
    let arp =
        [&[0xff; 6][..], &GNB_MAC, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1], &GNB_MAC, &GNB.octets(), &[0; 6], &N3.octets(), &[0; 18]].concat();
    let arps: Vec<Packet> = (0..3).map(|_| Packet::new(&arp, PortId(0))).collect();
    bench.send(&up);
    bench.send(&arps);
    let to = |n: u8| frame(N6_MAC, ROUTER_MAC, &packet(REMOTE, ue(n), 64, 7, 100));
    // Of the second UE there is no session.
    let down: Vec<Packet> = (0..18).map(|n| Packet::new(&to(u8::from(n >= 11)), PortId(0))).collect();
    assert_eq!(bench.n6.transmit(&down).unwrap(), down.len());
    bench.collect(30);
    let end = Instant::now() + PATIENCE;
    let report = loop {
        let report = bench.upf.report(false).unwrap();
        let row = &report.targets["x86"];
        if [row.uplink, row.downlink, row.dropped, row.punted].map(|count| count.packets) == [30, 11, 7, 3] {
            break report;
        }
        assert!(Instant::now() < end, "{row:?} {:?}", report.ports);
        std::thread::yield_now();
    };
    let row = &report.targets["x86"];
    assert_eq!((row.either.packets, row.punted.bytes), (0, 3 * arp.len() as u64));
    assert_eq!((row.uplink.bytes, row.downlink.bytes), (30 * up[0].len() as u64, 11 * down[0].len() as u64));
    let received = |port: &str| report.ports[port].received.packets;
    assert_eq!((received("n3"), received("n6")), (33, 18));
    // The page's and the metrics' numbers are the same.
    let metrics = crate::manage::metrics::text(report);
    for line in [
        "splitplane_target_carried_packets_total{target=\"x86\",from=\"access\"} 30\n",
        "splitplane_target_carried_packets_total{target=\"x86\",from=\"core\"} 11\n",
        "splitplane_target_dropped_packets_total{target=\"x86\"} 7\n",
        "splitplane_target_punted_packets_total{target=\"x86\"} 3\n",
    ] {
        assert!(metrics.contains(line), "{line} is not in {metrics}");
    }
    bench.stop();
}
