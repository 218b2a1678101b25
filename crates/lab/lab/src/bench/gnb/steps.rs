//! How many packets a second does the gNodeB's program carry, step by step, on one core? Beside step 3 and the whole downlink written by hand.

use super::bearers::{self, Security, Services, entries};
use super::failed;
use super::traffic::{IN_FLIGHT, Runner};
use crate::bench::contestant::ForwardAll;
use crate::bench::measure::Rounds;
use crate::bench::options::Common;
use crate::bench::{report, upf};
use ciphering::{Choice, Nea, Nia};
use cli::failure::Failure;
use p4_interp::Machine;
use p4_ir::Ir;
use program::{Batch, Mirror, Op};
use serde_json::{Value, json};
use service::{Deployment, Place};
use std::sync::Arc;
use target_api::Target;

/// Forwarded frames of each contestant that are compared with the interpreter's.
const VERIFIED: usize = 32_768;
/// Packets before the bearers' order repeats.
const NUMBERS: usize = 1 << 20;
/// Packets of a bearer that are kept at most: some times more than are. A buffer takes room for all of them, and four contestants have one for each bearer.
const WINDOW: u32 = 64;

/// Who runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// No program: what frames and bursts cost by themselves.
    Ports,
    /// Step 3 by hand.
    Hand,
    /// A step of the program.
    Step(u8),
    /// Step 5 with PDCP's security.
    Ciphered(Nea, Option<Nia>),
    /// The whole downlink by hand, RLC AM without security, acknowledged.
    HandWhole,
    /// The whole program, RLC AM, acknowledged.
    Whole(Nea, Option<Nia>),
}

const EVERYBODY: [Who; 13] = [
    Who::Ports,
    Who::Hand,
    Who::Step(0),
    Who::Step(1),
    Who::Step(2),
    Who::Step(3),
    Who::Step(4),
    Who::Step(5),
    Who::Ciphered(Nea::Nea2, Some(Nia::Nia2)),
    Who::Ciphered(Nea::Nea1, None),
    Who::HandWhole,
    Who::Whole(Nea::Nea0, None),
    Who::Whole(Nea::Nea2, Some(Nia::Nia2)),
];

impl Who {
    fn name(self) -> String {
        let security = |nea: Nea, nia: Option<Nia>| {
            let nia = nia.map_or_else(String::new, |nia| format!(" + {nia:?}").to_uppercase());
            format!("{nea:?}").to_uppercase() + &nia
        };
        match self {
            Who::Ports => "frames and bursts alone".into(),
            Who::Hand => "step 3, C by hand".into(),
            Who::HandWhole => "the whole downlink, RLC AM, NEA0, C by hand".into(),
            Who::Step(0) => "step 0: MAC addresses swapped".into(),
            Who::Step(1) => "step 1: and GTP-U off".into(),
            Who::Step(2) => "step 2: and headers of SDAP, PDCP, RLC".into(),
            Who::Step(3) => "step 3: and the table of bearers".into(),
            Who::Step(4) => "step 4: and a clone, dropped".into(),
            Who::Step(step) => format!("step {step}: and a copy to the buffer in the lane, a STATUS for {IN_FLIGHT}"),
            Who::Ciphered(nea, nia) => format!("step 5 with {}", security(nea, nia)),
            Who::Whole(nea, nia) => format!("the whole program, downlink, RLC AM, {}", security(nea, nia)),
        }
    }

    /// Mpps that are to be reached.
    fn aim(self) -> Option<f64> {
        match self {
            Who::Step(3) => Some(20.0),
            Who::Step(5) => Some(10.0),
            Who::Ciphered(Nea::Nea2, _) => Some(7.0),
            Who::Ciphered(..) => Some(5.0),
            Who::Whole(Nea::Nea0, _) => Some(7.0),
            Who::Whole(..) => Some(3.0),
            _ => None,
        }
    }

    fn security(self) -> Security {
        match self {
            Who::Ciphered(nea, nia) | Who::Whole(nea, nia) => Security { nea, nia },
            _ => Security::NONE,
        }
    }

    /// Whether copies are kept until they are acknowledged.
    fn is_kept(self) -> bool {
        matches!(self, Who::Step(5) | Who::Ciphered(..) | Who::HandWhole | Who::Whole(..))
    }

    /// The same program by hand.
    fn by_hand(self) -> Option<Who> {
        match self {
            Who::Step(3) => Some(Who::Hand),
            Who::Whole(Nea::Nea0, None) => Some(Who::HandWhole),
            _ => None,
        }
    }

    fn compile(self, bearers: u32) -> Result<Ir, Failure> {
        match self {
            Who::Ports | Who::Hand => bearers::compile(Some(3), bearers, &[]),
            Who::Step(step) => bearers::compile(Some(step), bearers, &[]),
            Who::Ciphered(..) => bearers::compile(Some(5), bearers, &["CIPHER"]),
            Who::HandWhole | Who::Whole(..) => bearers::compile(None, bearers, &[]),
        }
    }

    fn entries(self, ir: &Ir, bearers: u32) -> Result<Batch, Failure> {
        let mut batch = entries(&ir.program, bearers, self.security())?;
        if self == Who::Step(4) {
            batch.ops.push(Op::Mirror { session: 1, to: Some(Mirror::Port(bearers::N3)) });
        }
        Ok(batch)
    }
}

/// A step that calls no service, with its bearers.
pub(crate) fn target(who: Who, bearers: u32) -> Result<Arc<dyn Target>, Failure> {
    let ir = who.compile(bearers)?;
    let target = p4_driver::X86Program::of(&ir)?.load(&Default::default(), &[])?;
    target.apply(&who.entries(&ir, bearers)?).map_err(failed)?;
    Ok(Arc::from(target))
}

/// One who runs.
pub(crate) struct Contestant {
    pub(crate) who: Who,
    pub(super) runner: Runner,
    services: Vec<Arc<Deployment>>,
    /// Keeps what its lane is of.
    _target: Option<Box<dyn Target>>,
    judge: Option<Machine>,
    pub(crate) rounds: Rounds,
}

impl Contestant {
    /// With `bearers` of them, the buffer at its place.
    pub(crate) fn new(who: Who, bearers: u32, numbers: &Arc<[u32]>, buffer: &Place) -> Result<Contestant, Failure> {
        let ir = Arc::new(who.compile(bearers)?);
        let security = who.security();
        let batch = who.entries(&ir, bearers)?;
        let services = match who.is_kept() && who != Who::HandWhole {
            true => Services::new(bearers, WINDOW, buffer, security, Choice::Fastest)?.all.to_vec(),
            false => Vec::new(),
        };
        let (target, lane) = match who {
            Who::Ports => (None, Box::new(ForwardAll) as Box<dyn target_api::Lane>),
            Who::Hand => {
                let flows = u64::from(bearers);
                let usable = |e: baseline::LimitError| Failure::Usage(e.to_string());
                let mut gnb = baseline::gnb::Gnb::new(Arc::new(ir.program.clone()), flows, flows).map_err(usable)?;
                let downlink = batch
                    .ops
                    .iter()
                    .filter(|op| matches!(op, Op::Insert(entry) if ir.program.tables[entry.table].name == "bearer_by_flow"));
                gnb.install(&Batch { ops: downlink.cloned().collect() }).map_err(failed)?;
                (None, gnb.lane())
            }
            Who::HandWhole => {
                let flows = u64::from(bearers);
                let usable = |e: baseline::LimitError| Failure::Usage(e.to_string());
                let mut whole = baseline::whole::Whole::new(Arc::new(ir.program.clone()), flows, flows, WINDOW).map_err(usable)?;
                whole.install(&batch).map_err(failed)?;
                (None, whole.lane())
            }
            _ => {
                let target = p4_driver::X86Program::of(&ir)?.load(&Default::default(), &services)?;
                target.apply(&batch).map_err(failed)?;
                let lane = target.lane(0);
                (Some(target), lane)
            }
        };
        let judge = match who {
            Who::Ports => None,
            _ => {
                let mut judge = Machine::new(ir.clone()).map_err(failed)?;
                if who.is_kept() {
                    // The other engine, so that ciphertext is compared too.
                    let services = Services::new(bearers, WINDOW, &Place::Lane, security, Choice::Portable)?;
                    judge.set_services(Box::new(inline::Inline::new(&ir.program, &services.all).map_err(failed)?));
                }
                judge.apply(&batch).map_err(failed)?;
                Some(judge)
            }
        };
        let named = |name: &str| (0..=u8::MAX).find(|reason| ir.program.reason_name(*reason) == name);
        let ends = ["status_processed"].into_iter().filter_map(named).collect();
        let runner = Runner::new(lane, numbers.clone(), who.is_kept(), ends);
        Ok(Contestant { who, runner, services, _target: target, judge, rounds: Rounds::default() })
    }

    /// Compares with the interpreter, which ends with it, and fills the buffer.
    pub(crate) fn verify(&mut self, count: usize) -> Result<usize, Failure> {
        let Some(mut judge) = self.judge.take() else { return Ok(count) };
        let verified = self.runner.verify(&self.who.name(), &mut judge, count)?;
        self.runner.settle()?;
        Ok(verified)
    }

    pub(crate) fn round(&mut self, common: &Common) -> Result<u64, Failure> {
        let (mpps, packets) = self.runner.round(common.round())?;
        self.rounds.0.push(mpps);
        Ok(packets)
    }

    /// Whether every packet that services got is accounted for, and none was refused.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        for service in &self.services {
            let counters = service.counters();
            if counters.imbalance() != 0 || !counters.dropped.is_empty() {
                return Err(failed(format!("{}: service {}: {counters:?}", self.who.name(), service.interface().name)));
            }
        }
        Ok(())
    }
}

/// Bearers at random, the same ones in every run.
pub(crate) fn numbers(bearers: u32, common: &Common) -> Arc<[u32]> {
    upf::numbers(bearers, common.size(NUMBERS, 4096))
}

/// Everybody, verified, then rounds in turn.
pub(super) fn steps(bearers: u32, common: &Common) -> Result<Vec<Value>, Failure> {
    let numbers = numbers(bearers, common);
    let mut contestants = Vec::new();
    for who in EVERYBODY {
        match Contestant::new(who, bearers, &numbers, &Place::Lane) {
            Ok(contestant) => contestants.push(contestant),
            Err(Failure::Usage(why)) if matches!(who, Who::Hand | Who::HandWhole) => println!("  {} takes no part: {why}", who.name()),
            Err(other) => return Err(other),
        }
    }
    let (mut verified, bar) = (Vec::new(), report::progress(u64::from(common.rounds()) * contestants.len() as u64));
    for contestant in &mut contestants {
        verified.push(contestant.verify(common.size(VERIFIED, 1024))?);
    }
    for _ in 0..common.rounds() {
        for contestant in &mut contestants {
            contestant.round(common)?;
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    contestants.iter().try_for_each(Contestant::finish)?;
    let rounds_of = |who: Who| contestants.iter().find(|c| c.who == who).map(|c| &c.rounds);
    let rows = contestants.iter().zip(verified).map(|(c, verified)| {
        let mut row = report::rate(&c.who.name(), "Mpps", &c.rounds, verified);
        let mut notes = Vec::new();
        if let Some(aim) = c.who.aim() {
            row["aim"] = json!(aim);
            notes.push(format!("aim {aim}"));
        }
        if let Some(hand) = c.who.by_hand().and_then(rounds_of) {
            let ratio = c.rounds.ratio(hand);
            row["of_hand"] = ratio.json();
            notes.push(format!("{:.2} of by hand, aim 0.6", ratio.median()));
        }
        row["note"] = json!(notes.join("; "));
        row
    });
    Ok(rows.collect())
}
