//! What do the steps of Memarian et al.'s pipeline do, on x86 and on a model of their NIC?

use super::Args;
use super::cores::Growth;
use super::papers::papers;
use crate::bench::gnb::BEARERS;
use crate::bench::gnb::bearers::{FRAME, compile};
use crate::bench::gnb::steps::{Contestant, Who, numbers};
use chip::{Chip, Form, Sizes, Tiers, place_in_tiers};
use cli::failure::Failure;
use p4_ir::Ir;
use service::Place;

/// How x86 is measured.
pub(super) const X86_RULE: &str = "Measured: `p4/gnb.p4` with STEP as native code, 65,536 bearers drawn at random, frames of 128 bytes, memory to memory, by the own time of each core; output bytes compared with the interpreter's.";
/// How the NIC is modelled.
pub(super) const NIC_RULE: &str = "Modelled: the same program on the model of the paper's card (`nfp4000`, docs/chips.md): the longest way of a packet through its cores and memory, or the line. Fitted in one point: each instruction costs as much as gives the paper's rate of step 3, and the others follow. A clone is received, ordered and sent once more.";

/// Frames a second, in millions, that the paper's line brings: it counts 128 bytes at 40 Gbit/s, without what is between frames.
pub(super) const LINE_MPPS: f64 = 40e9 / (FRAME as f64 * 8.0) / 1e6;

/// The step by what it adds.
pub(super) const STEPS: [&str; 6] = ["L2 forwarding", "+ GTP-U off", "+ headers", "+ 64K bearers", "+ clone", "+ copy to the buffer"];

/// Mpps of one core.
pub(super) fn x86(who: Who, args: &Args) -> Result<f64, Failure> {
    let common = args.common();
    let bearers = args.size(BEARERS, 128);
    let mut contestant = Contestant::new(who, bearers, &numbers(bearers, &common), &Place::Lane)?;
    contestant.verify(args.size(4096, 256))?;
    for _ in 0..common.rounds() {
        contestant.round(&common)?;
    }
    contestant.finish()?;
    Ok(contestant.rounds.median())
}

/// The same on one core, and on two at once, each with bearers of its own.
pub(super) fn x86_growth(who: Who, args: &Args) -> Result<Growth, Failure> {
    Growth::measure(|| x86(who, args))
}

/// The model of the paper's card.
pub(super) fn card() -> Result<Chip, Failure> {
    Chip::named("nfp4000").map_err(|e| Failure::Failed(e.to_string()))
}

/// A step on it.
pub(super) struct Nic {
    pub(super) mpps: f64,
    /// Microseconds of the longest way of a packet, without ports and queues.
    pub(super) us: f64,
}

/// A step on the card; a copy to the host is a clone there.
pub(super) fn nic_step(step: u8) -> Result<Nic, Failure> {
    nic(&compile(Some(step.min(4)), BEARERS, &[])?, step >= 4)
}

/// Any program; `clones`: it makes a second packet of each.
pub(super) fn nic(ir: &Ir, clones: bool) -> Result<Nic, Failure> {
    let chip = card()?;
    let Form::Cores(cores) = &chip.form else { return Err(Failure::Failed("the card's model has no cores".into())) };
    let cycles = |ir: &Ir| -> Result<(f64, f64), Failure> {
        let placed = place_in_tiers(ir, &chip, &Sizes::sessions(BEARERS.into()));
        let Tiers { busy_cycles, memory_cycles, .. } = placed.map_err(|refusal| Failure::Failed(refusal.to_string()))?;
        Ok((busy_cycles as f64, memory_cycles as f64))
    };
    let mhz = (cores.clock_mhz * cores.count) as f64;
    let fitted = papers().memarian_steps.cell(0, 3).map_or(f64::INFINITY, |claim| claim.value);
    let times = mhz / (fitted * cycles(&compile(Some(3), BEARERS, &[])?)?.0);
    let (busy, memory) = cycles(ir)?;
    let busy = times * (busy + if clones { cores.packet_cycles as f64 } else { 0.0 });
    let (by_instructions, by_memory) = (mhz / busy, mhz * cores.threads as f64 / (busy + memory));
    Ok(Nic { mpps: by_instructions.min(by_memory).min(LINE_MPPS), us: (busy + memory) / cores.clock_mhz as f64 })
}
