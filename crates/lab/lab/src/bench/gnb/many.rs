//! What does a bearer take when all are active, and is the rate kept?
//!
//! All bearers are active: each has sent and received, so that every layer has its state, with nothing in flight.

use super::bearers::{self, N3, RADIO};
use super::failed;
use super::steps::{Contestant, Who, numbers};
use crate::bench::contestant::resident_bytes;
use crate::bench::measure::Rounds;
use crate::bench::options::Common;
use crate::bench::report;
use base::{Packet, Verdict, VerdictKind};
use ciphering::{Choice, Nea};
use cli::failure::Failure;
use serde_json::{Value, json};
use service::Place;
use target_api::{BURST, Lane};

/// Bearers with which the rate of all is compared.
const FEW: u32 = 1024;

pub(super) fn bearers(bearers: u32, common: &Common) -> Result<Vec<Value>, Failure> {
    let mut rows = memory(bearers)?;
    rows.extend(rate(bearers, common)?);
    Ok(rows)
}

/// Bytes of a bearer, by what the kernel says of this process.
fn memory(bearers: u32) -> Result<Vec<Value>, Failure> {
    let ir = bearers::compile(None, bearers, &[])?;
    let before = resident_bytes();
    let security = bearers::Security::NONE;
    let services = bearers::Services::new(bearers, bearers::WINDOW, &Place::Lane, security, Choice::Fastest)?;
    let target = p4_driver::X86Program::of(&ir)?.load(&Default::default(), &services.all)?;
    target.apply(&bearers::entries(&ir.program, bearers, security)?).map_err(failed)?;
    let mut lane = target.lane(0);
    // Services take their settings when they are asked for something.
    lane.poll(0, &mut Vec::new());
    let installed = resident_bytes().saturating_sub(before);
    let mut sent = 0u32;
    let mut pass = |frame: &dyn Fn(u32) -> Vec<u8>, port| -> Result<(), Failure> {
        for from in (0..bearers).step_by(BURST) {
            let numbers = from..bearers.min(from + BURST as u32);
            let mut packets: Vec<Packet> = numbers.map(|n| Packet::new(&frame(n), port)).collect();
            sent += forwarded(lane.as_mut(), &mut packets)?;
        }
        Ok(())
    };
    pass(&bearers::downlink, N3)?;
    pass(&|n| bearers::uplink(n, &bearers::status(1)), RADIO)?;
    // RLC, PDCP and SDAP headers: number 0 of each.
    pass(&|n| bearers::uplink(n, &[&[0x80, 0, 0, 0x80, 0, 0, 0x89][..], &[n as u8; 60]].concat()), RADIO)?;
    if sent != 2 * bearers || services.all[0].counters().waiting() != 0 {
        return Err(failed(format!("{sent} of {} packets were forwarded, {:?}", 2 * bearers, services.all[0].counters())));
    }
    let active = resident_bytes().saturating_sub(before);
    let row = |what: &str, bytes: u64| {
        let each = Rounds(vec![bytes as f64 / f64::from(bearers)]);
        let mut row = report::rate(&format!("memory of a bearer, {bearers} of them, {what}"), "bytes", &each, sent as usize);
        row["note"] = json!(format!("{} MiB in all", bytes >> 20));
        row
    };
    Ok(vec![row("in tables and services", installed), row("active in both directions", active)])
}

/// How many packets of a burst are forwarded, at once or by a service.
fn forwarded(lane: &mut dyn Lane, packets: &mut [Packet]) -> Result<u32, Failure> {
    const NOW_NS: u64 = 1_000_000_000;
    let mut verdicts = vec![Verdict::default(); packets.len()];
    lane.process(packets, &mut verdicts, NOW_NS);
    let mut back = Vec::new();
    while lane.next_poll_ns().is_some_and(|at| at <= NOW_NS) {
        let before = back.len();
        lane.poll(NOW_NS, &mut back);
        if back.len() == before {
            break;
        }
    }
    let all = verdicts.iter().chain(back.iter().map(|returned| &returned.verdict));
    Ok(all.filter(|verdict| verdict.kind == VerdictKind::Forward).count() as u32)
}

/// Mpps of the whole program with all bearers, beside the same with few.
fn rate(bearers: u32, common: &Common) -> Result<Vec<Value>, Failure> {
    let who = Who::Whole(Nea::Nea0, None);
    let sizes = [FEW.min(bearers), bearers];
    let mut both = Vec::new();
    for bearers in sizes {
        both.push(Contestant::new(who, bearers, &numbers(bearers, common), &Place::Lane)?);
    }
    let mut verified = Vec::new();
    for contestant in &mut both {
        verified.push(contestant.verify(common.size(32_768, 1024))?);
    }
    for _ in 0..common.rounds() {
        for contestant in &mut both {
            contestant.round(common)?;
        }
    }
    both.iter().try_for_each(Contestant::finish)?;
    let ratio = both[1].rounds.ratio(&both[0].rounds);
    let rows = both.iter().zip(sizes).zip(verified).map(|((contestant, bearers), verified)| {
        let mut row =
            report::rate(&format!("the whole program, RLC AM, NEA0, {bearers} bearers active"), "Mpps", &contestant.rounds, verified);
        row["note"] = json!("");
        row
    });
    let mut rows: Vec<Value> = rows.collect();
    rows[1]["note"] = json!(format!("{:.2} of the rate with {}", ratio.median(), sizes[0]));
    rows[1]["ratio"] = ratio.json();
    Ok(rows)
}
