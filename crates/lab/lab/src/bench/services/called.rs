//! What does a call cost a P4 program? The program `called.p4` as native code, with a call of a service in the lane that does nothing and without it: what a
//! packet takes longer. And what does it cost to send a copy of a packet to a service, by the packet's length?
//!
//! Verified: each program's bytes and verdicts are the interpreter's.

use super::seam::{deploy, wrong};
use crate::bench::measure::{Rounds, thread_time};
use crate::bench::options::Common;
use crate::bench::report;
use base::{Packet, PortId, Verdict};
use cli::failure::Failure;
use p4_driver::{Program, X86Program};
use p4_interp::{Machine, Mode, ServiceCall, ServiceFate, Services};
use p4_ir::{Ir, ServiceId};
use program::{Batch, Entry, KeyMatch, Op};
use serde_json::{Value, json};
use service::caller::Make;
use service::{Access, AtOnce, Call, Field, Interface, Place, Question, Service, Setting, SettingError};
use std::sync::Arc;
use target_api::{BURST, Lane, Target};

const TEXT: &str = include_str!("called.p4");
/// Destinations.
const ROUTES: usize = 256;

/// Rows in nanoseconds a packet: a call that is asked while the burst runs, one that stops the program, and a copy that is sent, which is a copy of the payload.
pub(super) fn called(common: &Common) -> Result<Vec<Value>, Failure> {
    let call = |what: &str, at_once| (what.to_owned(), "CALL", at_once);
    let send = |bytes: usize| (format!("sent from P4, in the lane, a copy of {bytes} B"), "SEND", AtOnce::NEVER);
    let calls = [
        call("called from P4, in the lane, a service that does nothing", AtOnce::ALWAYS),
        call("the same, of a service that may keep the packet", AtOnce::NEVER),
        send(64),
    ];
    let mut rows = beyond(64, &calls, common)?;
    for bytes in [128, 1400] {
        rows.extend(beyond(bytes, &[send(bytes)], common)?);
    }
    Ok(rows)
}

/// What each takes longer than the program without it, for frames of one length.
fn beyond(bytes: usize, what: &[(String, &str, AtOnce)], common: &Common) -> Result<Vec<Value>, Failure> {
    let mut contestants = vec![Contestant::new("NONE", AtOnce::NEVER, bytes)?];
    for (_, define, at_once) in what {
        contestants.push(Contestant::new(define, *at_once, bytes)?);
    }
    let mut verified = 0;
    for contestant in &mut contestants {
        verified += contestant.verify()?;
    }
    let mut rounds = vec![Rounds::default(); contestants.len()];
    for _ in 0..common.rounds() {
        for (contestant, rounds) in contestants.iter_mut().zip(&mut rounds) {
            rounds.0.push(contestant.round(common));
        }
    }
    let without = rounds.remove(0);
    let row = |((what, ..), with): (&(String, &str, AtOnce), &Rounds)| {
        let more = Rounds(with.0.iter().zip(&without.0).map(|(with, without)| with - without).collect());
        let mut row = report::rate(what, "ns", &more, verified);
        row["note"] = json!(format!("more than the {:.2} of the program without it", without.median()));
        row["without"] = without.json();
        row
    };
    Ok(what.iter().zip(&rounds).map(row).collect())
}

static INTERFACE: Interface = Interface {
    name: "null",
    request: &[Field { name: "bearer", width: 32 }, Field { name: "sn", width: 32 }],
    answer: &[Field { name: "result", width: 8 }],
    key: None,
    reasons: &[],
    access: |_| Access::None,
    sends_own: false,
    check_setting: |_, _| Ok(()),
};

/// Answers zeros.
struct Null(AtOnce);

impl Service for Null {
    fn interface(&self) -> &'static Interface {
        &INTERFACE
    }

    fn call(&mut self, burst: &mut [Call], _: u64) {
        burst.iter_mut().for_each(|call| call.answer(&[0]));
    }

    fn answer(&mut self, burst: &mut [Question<'_>], _: u64) {
        burst.iter_mut().for_each(|question| question.answer(&[0]));
    }

    fn at_once(&self) -> AtOnce {
        self.0
    }

    fn set(&mut self, _: &Setting) -> Result<(), SettingError> {
        Ok(())
    }
}

struct Twin;

impl Services for Twin {
    fn call(&mut self, _: ServiceId, _: ServiceCall<'_>) -> ServiceFate {
        ServiceFate::Answered
    }
}

struct Contestant {
    ir: Arc<Ir>,
    entries: Batch,
    lane: Box<dyn Lane>,
    packets: Vec<Packet>,
    verdicts: Vec<Verdict>,
    frames: Vec<Vec<u8>>,
    at: usize,
}

impl Contestant {
    fn new(define: &str, at_once: AtOnce, bytes: usize) -> Result<Contestant, Failure> {
        let ir = Program::compile_text("called.p4", TEXT, &[(define.to_owned(), "1".to_owned())])?.ir;
        let entries = entries(&ir)?;
        let target = native(&ir, at_once)?;
        target.apply(&entries).map_err(|error| wrong(&error.to_string()))?;
        let frames: Vec<Vec<u8>> = (0..ROUTES).map(|i| frame(i, bytes)).collect();
        let packets = (0..BURST).map(|_| Packet::empty(bytes)).collect();
        let verdicts = vec![Verdict::default(); BURST];
        Ok(Contestant { ir, entries, lane: target.lane(0), packets, verdicts, frames, at: 0 })
    }

    /// One burst of frames.
    fn burst(&mut self) {
        for packet in &mut self.packets {
            packet.set(&self.frames[self.at % ROUTES]);
            packet.port = PortId(1);
            self.at += 1;
        }
        self.lane.process(&mut self.packets, &mut self.verdicts, 1);
    }

    /// How many frames were compared with the interpreter.
    fn verify(&mut self) -> Result<usize, Failure> {
        let mut machine = Machine::new(self.ir.clone()).map_err(|error| wrong(&error.to_string()))?;
        machine.set_services(Box::new(Twin));
        machine.apply(&self.entries).map_err(|error| wrong(&error.to_string()))?;
        let mut verified = 0;
        while verified < ROUTES {
            let from = self.at;
            self.burst();
            for (i, (packet, verdict)) in self.packets.iter().zip(&self.verdicts).enumerate() {
                let out = machine.process(&self.frames[(from + i) % ROUTES], PortId(1), 1, Mode::Whole);
                if *verdict != out.verdict || packet.data() != out.bytes {
                    return Err(wrong("the program's packets are not the interpreter's"));
                }
                verified += 1;
            }
        }
        Ok(verified)
    }

    /// Nanoseconds a packet.
    fn round(&mut self, common: &Common) -> f64 {
        let (mut count, begin) = (0, thread_time());
        while thread_time() - begin < common.round() {
            for _ in 0..64 {
                self.burst();
            }
            count += 64 * BURST;
        }
        (thread_time() - begin).as_nanos() as f64 / count as f64
    }
}

fn native(ir: &Ir, at_once: AtOnce) -> Result<Box<dyn Target>, Failure> {
    let null: Make = Arc::new(move || Box::new(Null(at_once)));
    Ok(X86Program::of(ir)?.load(&Default::default(), &[Arc::new(deploy(&Place::Lane, null)?)])?)
}

fn destination(i: usize) -> u32 {
    0x0a00_0001 + 7 * i as u32
}

fn frame(i: usize, bytes: usize) -> Vec<u8> {
    let mut frame: Vec<u8> = (0..bytes).map(|at| (i + at) as u8).collect();
    frame[12..14].copy_from_slice(&[8, 0]);
    frame[30..34].copy_from_slice(&destination(i).to_be_bytes());
    frame
}

fn entries(ir: &Ir) -> Result<Batch, Failure> {
    let find = || {
        let (table, _) = ir.program.tables.iter().find(|(_, table)| table.name.ends_with("route"))?;
        let (action, _) = ir.program.actions.iter().find(|(_, action)| action.name.ends_with("forward"))?;
        Some((table, action))
    };
    let (table, action) = find().ok_or_else(|| wrong("the program has no routes"))?;
    let entry = |i: usize| Entry {
        table,
        keys: vec![KeyMatch::Exact(destination(i).into())],
        priority: 0,
        action,
        args: vec![2, 0x0200_0000_0000 + i as u128],
    };
    Ok(Batch { ops: (0..ROUTES).map(|i| Op::Insert(entry(i))).collect() })
}
