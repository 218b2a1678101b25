//! Waits for packets in flight (`src/cores.rs`): all orders in which one core and the one who waits can see each other's loads and stores.
//! The core runs packets, the other shows generation after generation, waits, and uses the cells of the one before again. A processor
//! that reorders as x86 does, and one that keeps only what depends on each other; and each part of the protocol left out, to see it missed.
//!
//! The one who waits has full barriers between its stores and loads, so its steps are taken one by one.

use std::collections::HashSet;

const PACKETS: usize = 3;
/// Generations that are shown, each followed by a wait.
const WAITS: u8 = 3;

/// A packet's instructions. `Exchange` is a full barrier, and done only by a packet that has found that the core rests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Begin,
    LoadRests,
    Exchange,
    LoadGeneration,
    LoadCell,
    End,
}
use Step::*;
const STEPS: [Step; 6] = [Begin, LoadRests, Exchange, LoadGeneration, LoadCell, End];
const ALL: usize = PACKETS * STEPS.len();

fn is_load(step: Step) -> bool {
    matches!(step, LoadRests | LoadGeneration | LoadCell)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Processor {
    /// A load may be done before a store that precedes it; else in order.
    X86,
    /// Whatever does not depend on each other may be done in any order.
    Weak,
}

/// What is left out, or done otherwise.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// No interrupt before `begun` is read.
    NoInterrupt,
    /// None after the last packet has ended.
    NoLastInterrupt,
    /// A core is told that it rests after its interrupt.
    RestsLate,
    /// A packet takes that back by a store.
    NoExchange,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Core {
    /// Steps done, a bit each, and what the loads of each packet gave.
    done: u32,
    rests: [bool; PACKETS],
    generation: [u8; PACKETS],
    /// Whether the cell was used again when it was read. That counts once nothing before it is left to be done, or it may be read anew.
    wrong: [bool; PACKETS],
}

impl Core {
    fn has_gone_wrong(&self) -> bool {
        let through = |packet: usize| (1u32 << (packet * STEPS.len() + 5)) - 1;
        (0..PACKETS).any(|packet| self.wrong[packet] && self.done & through(packet) == through(packet))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
enum At {
    #[default]
    Show,
    LookRests,
    TellRests,
    Interrupt,
    InterruptFirst,
    TellLate,
    ReadBegun,
    ReadEnded,
    LastInterrupt,
    Reuse,
    Finished,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
struct State {
    core: Core,
    generation: u8,
    begun: u8,
    ended: u8,
    rests: bool,
    /// Cells of generations before this one are used again.
    reused: u8,
    at: At,
    /// What the waiter has read, and whether the core was interrupted in this wait.
    known: u8,
    interrupted: bool,
}

struct Model {
    processor: Processor,
    fault: Fault,
    seen: HashSet<State>,
    /// Ends in which some packet read an old generation and the waiter was through all waits, and ends in which a core rested unasked.
    old: usize,
    rested: usize,
}

/// Whether a packet reads a cell after its end of life, in some order.
fn goes_wrong(processor: Processor, fault: Fault) -> (bool, Model) {
    let mut model = Model { processor, fault, seen: HashSet::new(), old: 0, rested: 0 };
    let mut left = vec![State::default()];
    while let Some(state) = left.pop() {
        if !model.seen.insert(state) {
            continue;
        }
        if state.core.has_gone_wrong() {
            return (true, model);
        }
        model.core_steps(&state, &mut left);
        model.waiter_steps(&state, &mut left);
        if state.at == At::Finished && state.core.done == (1 << ALL) - 1 {
            model.old += usize::from(state.core.generation.iter().any(|g| *g < WAITS));
            model.rested += usize::from(state.core.rests.contains(&true));
        }
    }
    (false, model)
}

impl Model {
    /// All that the core may do next.
    fn core_steps(&self, state: &State, left: &mut Vec<State>) {
        for i in (0..ALL).filter(|i| state.core.done >> i & 1 == 0) {
            let (packet, step) = (i / STEPS.len(), STEPS[i % STEPS.len()]);
            if (0..i).any(|j| state.core.done >> j & 1 == 0 && !self.may_pass(state, i, j)) {
                continue;
            }
            let mut next = *state;
            next.core.done |= 1 << i;
            match step {
                Begin => next.begun = packet as u8 + 1,
                LoadRests => {
                    next.core.rests[packet] = state.rests;
                    if state.rests {
                        // What was done ahead, in the belief that it does not rest, is done again.
                        next.core.done &= (1 << (i + 1)) - 1;
                    }
                }
                Exchange if state.core.rests[packet] => next.rests = false,
                Exchange => {}
                LoadGeneration => next.core.generation[packet] = state.generation,
                LoadCell => next.core.wrong[packet] = state.core.generation[packet] < state.reused,
                End => next.ended = packet as u8 + 1,
            }
            left.push(next);
        }
    }

    /// Whether a step may be done before an earlier one that is not done yet.
    fn may_pass(&self, state: &State, later: usize, earlier: usize) -> bool {
        let of = |i: usize| (i / STEPS.len(), STEPS[i % STEPS.len()]);
        let ((_, l), (packet, e)) = (of(later), of(earlier));
        let known = state.core.done >> (packet * STEPS.len() + 1) & 1 == 1;
        match (e, l) {
            // Only a packet that has found that the core rests does something there, and who does not know goes on as if it did not.
            (Exchange, _) if self.fault == Fault::NoExchange => is_load(l) && l != LoadRests,
            (Exchange, _) => !(known && state.core.rests[packet]) && (is_load(l) || (known && self.processor == Processor::Weak)),
            (_, Exchange) => false,
            // The same word, or what was read says what is read.
            (LoadRests, LoadRests) | (Begin, Begin) | (End, End) | (LoadGeneration, LoadCell | LoadGeneration) => false,
            // A store is not done before it is known that it is to be.
            (LoadRests, Begin | End) => false,
            (Begin | End, _) if is_load(l) => true,
            _ => self.processor == Processor::Weak,
        }
    }

    /// The core stands between two instructions, as it may now: those before are done, and of those behind, loads that were done ahead are forgotten.
    fn interrupts(state: &State) -> Vec<State> {
        let mut all = Vec::new();
        for p in 0..=ALL {
            let before = (1u32 << p) - 1;
            let ahead = state.core.done & !before;
            let stores = (0..ALL).any(|i| ahead >> i & 1 == 1 && !is_load(STEPS[i % STEPS.len()]));
            if state.core.done & before == before && !stores {
                let mut next = *state;
                next.core.done = before;
                all.push(next);
            }
        }
        all
    }

    fn waiter_steps(&self, state: &State, left: &mut Vec<State>) {
        let mut go = |at, change: &dyn Fn(&mut State)| {
            let mut next = State { at, ..*state };
            change(&mut next);
            left.push(next);
        };
        match state.at {
            At::Show => go(At::LookRests, &|s| s.generation += 1),
            At::LookRests if state.rests => go(At::ReadEnded, &|s| s.interrupted = false),
            At::LookRests => {
                // How often a core rests is nobody's business here: it may at any wait.
                go(At::Interrupt, &|s| s.interrupted = true);
                go(if self.fault == Fault::RestsLate { At::InterruptFirst } else { At::TellRests }, &|s| s.interrupted = true);
            }
            At::TellRests => go(At::Interrupt, &|s| s.rests = true),
            At::Interrupt if self.fault == Fault::NoInterrupt => go(At::ReadBegun, &|_| ()),
            At::Interrupt => left.extend(Model::interrupts(state).into_iter().map(|s| State { at: At::ReadBegun, ..s })),
            At::InterruptFirst => left.extend(Model::interrupts(state).into_iter().map(|s| State { at: At::TellLate, ..s })),
            At::TellLate => go(At::ReadBegun, &|s| s.rests = true),
            At::ReadBegun => go(At::ReadEnded, &|s| s.known = s.begun),
            At::ReadEnded if state.ended < state.known => {}
            At::ReadEnded if state.interrupted && self.last_interrupt() => go(At::LastInterrupt, &|_| ()),
            At::ReadEnded => go(At::Reuse, &|_| ()),
            At::LastInterrupt => left.extend(Model::interrupts(state).into_iter().map(|s| State { at: At::Reuse, ..s })),
            At::Reuse => {
                let at = if state.generation == WAITS { At::Finished } else { At::Show };
                go(at, &|s| s.reused = s.generation);
            }
            At::Finished => {}
        }
    }

    fn last_interrupt(&self) -> bool {
        self.processor == Processor::Weak && self.fault != Fault::NoLastInterrupt
    }
}

#[test]
fn no_packet_reads_a_cell_that_is_used_again() {
    for processor in [Processor::X86, Processor::Weak] {
        let (wrong, model) = goes_wrong(processor, Fault::None);
        assert!(!wrong);
        assert!(model.seen.len() > 1000 && model.old > 10 && model.rested > 10, "{} states", model.seen.len());
    }
}

#[test]
fn each_part_of_a_wait_is_needed() {
    for fault in [Fault::NoInterrupt, Fault::RestsLate, Fault::NoExchange] {
        assert!(goes_wrong(Processor::X86, fault).0 && goes_wrong(Processor::Weak, fault).0);
    }
    assert!(goes_wrong(Processor::Weak, Fault::NoLastInterrupt).0);
    assert!(!goes_wrong(Processor::X86, Fault::NoLastInterrupt).0);
}
