//! What does RLC AM of the crate `gnb` cost? A PDU that is received, in order and not; a STATUS for each SDU that it frees.
//!
//! PDUs and SDUs are made before time is taken. A pass whose SDUs are compared comes before those that are measured.

use super::failed;
use crate::bench::measure::{Rounds, thread_time};
use crate::bench::options::Common;
use crate::bench::report;
use buffer::status::emit;
use cli::failure::Failure;
use gnb::rlc::am_rx::{self, AmRx};
use gnb::rlc::am_tx::{self, AmTx, TxEvent};
use gnb::rlc::pdu::{AmPdu, Amd, Si};
use gnb::rlc::{QueueLimits, SnLength};
use serde_json::{Value, json};
use std::time::Duration;

const SN: SnLength = SnLength::Bits18;
/// SDUs of a window, all of which are in flight.
const WINDOW: u32 = 16_384;
const BYTES: usize = 128;
const MS: u64 = 1_000_000;
/// A STATUS PDU may be asked for after so many PDUs, as a grant comes.
const ASK: usize = 32;

/// Rows: what, nanoseconds each, and the aim.
pub(super) fn rlc(common: &Common) -> Result<Vec<Value>, Failure> {
    let window = common.size(WINDOW, 512);
    let in_order: Vec<u32> = (0..window).collect();
    let mut swapped = in_order.clone();
    swapped.swap(0, window as usize - 1);
    let reverse: Vec<u32> = in_order.iter().rev().copied().collect();
    let orders = [
        ("in order".to_owned(), in_order, Some(100.0)),
        (format!("first and last of {window} swapped"), swapped, Some(300.0)),
        ("in reverse order".to_owned(), reverse, None),
    ];
    let mut cases: Vec<(String, Option<f64>, Case, Rounds)> = Vec::new();
    for (what, order, aim) in orders {
        let pdus = order.iter().map(|sn| pdu(*sn)).collect();
        let case = Case::Receive { pdus, window };
        cases.push((format!("RLC AM, a PDU of {BYTES} B received, {what}"), aim, case, Rounds::default()));
    }
    for each in [64, window.min(2048)] {
        let case = Case::Status { each, window };
        cases.push((format!("RLC AM, a STATUS about {each} SDUs, for each SDU freed"), Some(10.0), case, Rounds::default()));
    }
    let mut verified = Vec::new();
    for (_, _, case, _) in &cases {
        verified.push(case.verify()?);
    }
    for _ in 0..common.rounds() {
        for (_, _, case, rounds) in &mut cases {
            let (mut spent, mut many) = (Duration::ZERO, 0);
            while spent < common.round() {
                let (time, count) = case.pass(&mut |_| {})?;
                spent += time;
                many += count;
            }
            rounds.0.push(spent.as_nanos() as f64 / f64::from(many));
        }
    }
    let rows = cases.into_iter().zip(verified).map(|((what, aim, _, rounds), verified)| {
        let mut row = report::rate(&what, "ns", &rounds, verified);
        row["aim"] = json!(aim);
        row["note"] = json!(aim.map_or_else(String::new, |aim| format!("aim {aim}")));
        row
    });
    Ok(rows.collect())
}

/// Bytes of SDU `sn`.
fn sdu(sn: u32) -> Vec<u8> {
    sn.to_be_bytes().into_iter().cycle().take(BYTES).collect()
}

fn pdu(sn: u32) -> Vec<u8> {
    let mut pdu = Vec::new();
    Amd { poll: sn % 32 == 31, si: Si::Whole, sn, so: 0, data: &sdu(sn) }.emit(SN, &mut pdu);
    pdu
}

enum Case {
    Receive { pdus: Vec<Vec<u8>>, window: u32 },
    Status { each: u32, window: u32 },
}

impl Case {
    /// Each SDU is there once, with its bytes: how many.
    fn verify(&self) -> Result<usize, Failure> {
        let mut all = Vec::new();
        self.pass(&mut |sdu| all.push(sdu.to_vec()))?;
        all.sort();
        let window = match self {
            Case::Receive { window, .. } | Case::Status { window, .. } => *window,
        };
        let count = all.len();
        if !all.into_iter().eq((0..window).map(sdu)) {
            return Err(failed(format!("RLC AM: {count} SDUs came, not each of {window} once with its bytes")));
        }
        Ok(count)
    }

    /// All once: time, and how many. `done` gets each SDU that was received or freed.
    fn pass(&self, done: &mut dyn FnMut(&[u8])) -> Result<(Duration, u32), Failure> {
        match self {
            Case::Receive { pdus, window } => receive(pdus, *window, done),
            Case::Status { each, window } => status(*each, *window, done),
        }
    }
}

fn receive(pdus: &[Vec<u8>], window: u32, done: &mut dyn FnMut(&[u8])) -> Result<(Duration, u32), Failure> {
    let config = am_rx::RxConfig { sn_length: SN, window, partial_bytes: 1 << 20, reassembly_ns: 35 * MS, status_prohibit_ns: 0 };
    let mut rx = AmRx::new(config).map_err(|e| failed(format!("{e:?}")))?;
    let (mut status, mut now_ns) = (Vec::with_capacity(1 << 16), 0);
    let begin = thread_time();
    for (at, pdu) in pdus.iter().enumerate() {
        now_ns += 4000;
        let Ok(AmPdu::Data(data)) = AmPdu::parse(pdu, SN) else { return Err(failed("an AMD PDU is not one")) };
        rx.receive(&data, now_ns, &mut |sdu| done(sdu)).map_err(|drop| failed(format!("a PDU was dropped: {drop:?}")))?;
        rx.advance(now_ns);
        if at % ASK == ASK - 1 {
            status.clear();
            rx.pull_status(1500, now_ns, &mut status);
        }
    }
    let spent = thread_time() - begin;
    match rx.counters().delivered == pdus.len() as u64 {
        true => Ok((spent, pdus.len() as u32)),
        false => Err(failed("RLC AM: SDUs are missing")),
    }
}

fn status(each: u32, window: u32, done: &mut dyn FnMut(&[u8])) -> Result<(Duration, u32), Failure> {
    let config = am_tx::TxConfig {
        sn_length: SN,
        window,
        queue: QueueLimits { sdus: 1 << 20, bytes: 1 << 40 },
        poll_retransmit_ns: 45 * MS,
        poll_pdu: Some(32),
        poll_byte: None,
        max_retransmissions: 32,
    };
    let mut tx = AmTx::new(config).map_err(|e| failed(format!("{e:?}")))?;
    let mut out = Vec::new();
    for sn in 0..window {
        out.clear();
        tx.enqueue(sn, sdu(sn)).map_err(|_| failed("no room for an SDU"))?;
        tx.pull(2 * BYTES, 0, &mut out);
    }
    let statuses: Vec<Vec<u8>> = (each..=window)
        .step_by(each as usize)
        .map(|ack| {
            let mut pdu = Vec::new();
            emit(SN, ack, &[], &mut pdu);
            pdu
        })
        .collect();
    // Kept: to give memory back is not the entity's work.
    let mut freed = Vec::with_capacity(window as usize);
    let begin = thread_time();
    for pdu in &statuses {
        let mut take = |event| {
            if let TxEvent::Delivered { sdu, .. } = event {
                freed.push(sdu);
            }
        };
        tx.status(pdu, &mut take).map_err(|fault| failed(format!("a STATUS was refused: {fault:?}")))?;
    }
    let spent = thread_time() - begin;
    freed.iter().for_each(|sdu| done(sdu));
    Ok((spent, freed.len() as u32))
}
