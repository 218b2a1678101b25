//! What do the entities cost? Nanoseconds for each PDU, the median of several rounds on one thread:
//! `cargo run --release -p gnb --example gnb_speed`.
//!
//! PDUs and SDUs are made before the clock starts. SDUs that come up are counted by their bytes, so that nothing is optimised away.

use std::hint::black_box;
use std::time::Instant;

use buffer::status::{Nack, SnLength, emit};
use gnb::pdcp::pdu::Format;
use gnb::pdcp::rx::Prepared;
use gnb::pdcp::{CountGuard, Kind, Rx, RxConfig, Security, Tx, TxConfig};
use gnb::rlc::QueueLimits;
use gnb::rlc::am_rx::{AmRx, RxConfig as RlcRxConfig};
use gnb::rlc::am_tx::{AmTx, TxConfig as RlcTxConfig, TxEvent};
use gnb::rlc::pdu::{AmPdu, Amd, Si};

const ROUNDS: usize = 15;
const MS: u64 = 1_000_000;
const SN: SnLength = SnLength::Bits18;
const WINDOW: u32 = 16_384;

/// Runs `round` several times: it gives the ns that it took and how much it did. Prints the median of ns for each.
fn measure(what: &str, mut round: impl FnMut() -> (u64, u64)) {
    let mut each: Vec<f64> = (0..ROUNDS).map(|_| round()).map(|(ns, many)| ns as f64 / many as f64).collect();
    each.sort_by(f64::total_cmp);
    println!("{what:<62} {:7.1} ns  ({:.1} to {:.1})", each[ROUNDS / 2], each[0], each[ROUNDS - 1]);
}

fn timed(work: impl FnOnce()) -> u64 {
    let started = Instant::now();
    work();
    started.elapsed().as_nanos() as u64
}

fn rlc_rx() -> AmRx {
    let config = RlcRxConfig { sn_length: SN, window: WINDOW, partial_bytes: 1 << 20, reassembly_ns: 35 * MS, status_prohibit_ns: 0 };
    AmRx::new(config).expect("valid")
}

fn rlc_tx() -> AmTx<Vec<u8>> {
    let config = RlcTxConfig {
        sn_length: SN,
        window: WINDOW,
        queue: QueueLimits { sdus: 1 << 20, bytes: 1 << 40 },
        poll_retransmit_ns: 45 * MS,
        poll_pdu: Some(32),
        poll_byte: None,
        max_retransmissions: 32,
    };
    AmTx::new(config).expect("valid")
}

fn amd_pdus(many: u32, bytes: usize) -> Vec<Vec<u8>> {
    let data = vec![7; bytes];
    (0..many)
        .map(|sn| {
            let mut pdu = Vec::new();
            Amd { poll: sn % 32 == 31, si: Si::Whole, sn, so: 0, data: &data }.emit(SN, &mut pdu);
            pdu
        })
        .collect()
}

/// The receiving side takes PDUs, 35 ms apart in all, and is asked for a STATUS after each `ask`.
fn receive(pdus: &[Vec<u8>], ask: usize) -> (u64, u64) {
    let mut rx = rlc_rx();
    let (mut bytes, mut status) = (0, Vec::with_capacity(1 << 16));
    let ns = timed(|| {
        for (at, pdu) in pdus.iter().enumerate() {
            let now = at as u64 * 4000;
            let Ok(AmPdu::Data(data)) = AmPdu::parse(pdu, SN) else { unreachable!("AMD PDUs") };
            rx.receive(&data, now, &mut |sdu| bytes += sdu.len()).expect("in the window");
            rx.advance(now);
            if at % ask == ask - 1 {
                status.clear();
                black_box(rx.pull_status(1500, now, &mut status));
            }
        }
    });
    assert!(bytes > 0 && rx.counters().delivered == pdus.len() as u64);
    (ns, pdus.len() as u64)
}

fn main() {
    for bytes in [128, 1400] {
        let pdus = amd_pdus(WINDOW, bytes);
        measure(&format!("RLC AM receive, in order, {bytes} B"), || receive(&pdus, 32));
        let mut swapped = pdus.clone();
        swapped.swap(0, WINDOW as usize - 1);
        measure(&format!("RLC AM receive, first and last of {WINDOW} swapped, {bytes} B"), || receive(&swapped, 32));
        let reverse: Vec<Vec<u8>> = pdus.iter().rev().cloned().collect();
        measure(&format!("RLC AM receive, reverse order, {bytes} B"), || receive(&reverse, 32));
        let (even, odd): (Vec<_>, Vec<_>) = pdus.iter().cloned().enumerate().partition(|(at, _)| at % 2 == 0);
        let halves: Vec<Vec<u8>> = even.into_iter().chain(odd).map(|(_, pdu)| pdu).collect();
        measure(&format!("RLC AM receive, even then odd numbers, {bytes} B"), || receive(&halves, 32));
        measure(&format!("RLC AM send, a grant for each SDU, {bytes} B"), || {
            let mut tx = rlc_tx();
            let sdus: Vec<Vec<u8>> = (0..WINDOW).map(|_| vec![7; bytes]).collect();
            for (tag, sdu) in sdus.into_iter().enumerate() {
                tx.enqueue(tag as u32, sdu).expect("room");
            }
            let mut out = Vec::with_capacity(2000);
            let ns = timed(|| {
                for _ in 0..WINDOW {
                    out.clear();
                    black_box(tx.pull(2000, 0, &mut out));
                }
            });
            (ns, u64::from(WINDOW))
        });
    }
    for (what, each, nacked) in
        [("2048 at once", 2048, false), ("64 at once", 64, false), ("2048 at once, every 64th named by a NACK", 2048, true)]
    {
        measure(&format!("STATUS, for each SDU freed, {what}"), || {
            let mut tx = rlc_tx();
            for tag in 0..WINDOW {
                tx.enqueue(tag, vec![7; 100]).expect("room");
                tx.pull(2000, 0, &mut Vec::new()).expect("sent");
            }
            let nacks = |from: u32, to: u32| (from..to).step_by(64).map(Nack::of).collect::<Vec<_>>();
            let statuses: Vec<Vec<u8>> = (each..=WINDOW)
                .step_by(each as usize)
                .map(|ack| {
                    let mut pdu = Vec::new();
                    emit(SN, ack, &if nacked { nacks(ack - each, ack) } else { Vec::new() }, &mut pdu);
                    pdu
                })
                .collect();
            // Kept: giving memory back is not the entity's work.
            let mut freed = Vec::with_capacity(WINDOW as usize);
            let ns = timed(|| {
                for pdu in &statuses {
                    tx.status(pdu, &mut |event| {
                        if let TxEvent::Delivered { sdu, .. } = event {
                            freed.push(sdu);
                        }
                    })
                    .expect("a STATUS about what was sent");
                }
            });
            (ns, freed.len() as u64)
        });
    }
    pdcp();
}

/// Both sides of PDCP without a cipher's work.
fn pdcp() {
    let format = Format { kind: Kind::Drb, sn_length: SN, integrity: false, sdap_header: false };
    let guard = CountGuard::default();
    let config =
        TxConfig { format, acknowledged: true, window: WINDOW, queue_sdus: 1 << 20, bytes: 1 << 40, discard_ns: Some(100 * MS), guard };
    let rx =
        RxConfig { format, acknowledged: true, window: WINDOW, bytes: 1 << 30, reordering_ns: Some(100 * MS), out_of_order: false, guard };
    let security = Security { cipher: None, integrity: None, bearer: 0, direction: ciphering::Direction::Downlink };
    let mut engine = ciphering::Engine::new(ciphering::Choice::Portable).expect("is always there");
    let mut made = Vec::new();
    measure("PDCP send, 128 B, NEA0: pull and finish, without the engine", || {
        let mut tx = Tx::new(config).expect("valid");
        for _ in 0..WINDOW {
            tx.enqueue(vec![7; 128], 0).expect("room");
        }
        let mut packets = Vec::with_capacity(WINDOW as usize);
        let pulled = timed(|| packets.extend(std::iter::from_fn(|| tx.pull(0, &mut |_| {}))));
        security.run(&mut engine, &mut packets);
        made.clear();
        let finished = timed(|| made.extend(packets.drain(..).filter_map(|packet| tx.finish(packet))));
        (pulled + finished, u64::from(WINDOW))
    });
    let mut receive = |what: &str, order: &dyn Fn(usize) -> usize| {
        measure(&format!("PDCP receive, 128 B, NEA0, {what}: prepare and finish"), || {
            let mut rx = Rx::new(rx).expect("valid");
            let pdus: Vec<Vec<u8>> = (0..made.len()).map(|at| made[order(at)].1.clone()).collect();
            let mut packets = Vec::with_capacity(pdus.len());
            let prepared = timed(|| {
                for pdu in pdus {
                    if let Ok(Prepared::Data(packet)) = rx.prepare(pdu) {
                        packets.push(packet);
                    }
                }
            });
            security.run(&mut engine, &mut packets);
            let mut bytes = 0;
            let finished = timed(|| {
                for packet in packets.drain(..) {
                    rx.finish(packet, 0, &mut |_, sdu| bytes += sdu.len()).expect("new");
                }
            });
            assert_eq!(bytes, 128 * made.len());
            (prepared + finished, made.len() as u64)
        });
    };
    receive("in order", &|at| at);
    let last = WINDOW as usize - 1;
    receive("first and last swapped", &move |at| {
        if at == 0 {
            last
        } else if at == last {
            0
        } else {
            at
        }
    });
}
