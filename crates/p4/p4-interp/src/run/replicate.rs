//! Clones, multicast copies, resubmitted and recirculated packets: how one packet becomes several, in v1model. What PSA does is in
//! `psa.rs`; the passes, their order and their limits are the same.
//!
//! - Requests of ingress take effect at its end (clone to egress, then resubmit, else multicast); those of egress at its end
//!   (clone to egress) and behind the deparser (recirculation). Of two requests of one kind the later one counts, and one that
//!   is made in the other block does not.
//! - **Metadata** of a new pass is zero but for `ingress_port`, `packet_length` (of a recirculated packet: its new length),
//!   `ingress_global_timestamp`, `instance_type`, in egress `egress_port` and `egress_rid`, and the fields of the field
//!   list, with their values at the end of the block that asked. Multicast copies keep everything.
//! - **Bytes**: a clone from ingress and a resubmitted packet are the packet as received, parsed again; a clone from egress
//!   and a multicast copy have the headers as they were at the end of that block.
//! - The pass that continues is finished first, then the new ones in the order in which they were asked for.
//! - A packet makes at most [`MAX_PASSES`] passes, and of no lineage more than [`MAX_GENERATIONS`]: what is beyond is
//!   dropped with `TARGET_FAILED`.
//! - The first pass's result is the packet's; if that pass was resubmitted, recirculated or multicast, then the result of
//!   what took its place (the group's first copy). All others are [`Extra`]s.
//! - A subset of a program (`Mode::Subset`) has no part in this: its packet goes to the next target.

use super::{Halt, Input, Run, Standard, Why};
use crate::machine::State;
use crate::packet::PacketState;
use crate::trace::{Event, Tracer};
use base::{DropReason, PortId, Verdict, VerdictKind};
use p4_ir::{Architecture, Ir, Replicate, VarId};
use program::Mirror;
use std::collections::VecDeque;

/// Most passes that one received packet makes in all.
pub const MAX_PASSES: usize = 1024;
/// Most times that a packet, its copies and theirs are sent round or cloned in a row.
pub const MAX_GENERATIONS: u8 = 16;

/// A packet that came into being beside the one that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra {
    /// What becomes of it.
    pub verdict: Verdict,
    /// Its bytes; of a dropped one those it began its last pass with.
    pub bytes: Vec<u8>,
}

/// What a pass has asked for so far: the number of the field list, and the clone session.
#[derive(Default)]
pub(super) struct Requests {
    clone: [Option<(u32, Option<u8>)>; 2],
    resubmit: Option<Option<u8>>,
    recirculate: Option<Option<u8>>,
}

/// A pass that is still to be made.
pub(crate) struct Pass {
    /// Whether its result is the received packet's.
    main: bool,
    generation: u8,
    instance_type: u32,
    from: From,
    bytes: Vec<u8>,
    keep: Vec<(VarId, u128)>,
    /// Port and replica number, for passes that begin in egress.
    egress: Option<(PortId, u16)>,
}

pub(super) enum From {
    Parser,
    /// With headers and, for multicast, metadata.
    Egress(Box<PacketState>),
}

/// `instance_type`, as BMv2 numbers it.
mod instance {
    pub(super) const INGRESS_CLONE: u32 = 1;
    pub(super) const EGRESS_CLONE: u32 = 2;
    pub(super) const RECIRCULATED: u32 = 4;
    pub(super) const REPLICATED: u32 = 5;
    pub(super) const RESUBMITTED: u32 = 6;
}

/// Makes the passes that the first one asked for, and those that they ask for. Takes and gives the received packet's
/// verdict; its bytes are in `p.out` again at the end.
#[allow(clippy::too_many_arguments)]
pub(super) fn rest<T: Tracer>(
    ir: &Ir,
    std: &Standard,
    state: &mut State,
    p: &mut PacketState,
    work: &mut super::Work,
    input: &Input<'_>,
    first: Verdict,
    tracer: &mut T,
) -> Verdict {
    let mut result = first;
    let mut out = p.out.clone();
    let mut made = 1;
    while let Some(pass) = work.queue.pop_front() {
        made += 1;
        let bytes = pass.bytes.as_slice();
        let own = Input { bytes, ..*input };
        let failed = Verdict::drop(DropReason::TARGET_FAILED);
        let verdict = if made > MAX_PASSES || pass.generation > MAX_GENERATIONS {
            failed
        } else {
            match &pass.from {
                From::Parser => p.reset(),
                From::Egress(state) => p.clone_from(state),
            }
            let mut run = Run::new(ir, std, state, p, work, &own, tracer);
            run.generation = pass.generation;
            run.main = pass.main;
            run.tell(|_| Event::Pass { instance_type: pass.instance_type });
            let decided = match run.copy(&pass) {
                Ok(decided) => decided,
                Err(Halt::Dropped(reason)) => (run.verdict(VerdictKind::Drop, Some(reason)), Why::ByService),
                Err(_) => (run.verdict(VerdictKind::Drop, Some(DropReason::TARGET_FAILED)), Why::Stuck),
            };
            run.tell(|_| Event::Decided { verdict: decided.0, why: decided.1 });
            if matches!(decided.1, Why::SentOn(_)) {
                continue;
            }
            decided.0
        };
        let leaves = super::rewrites(verdict.kind);
        if pass.main {
            result = verdict;
            std::mem::swap(&mut out, &mut p.out);
        } else {
            let bytes = if leaves { p.out.clone() } else { bytes.to_vec() };
            work.extra.push(Extra { verdict, bytes });
        }
    }
    p.out = out;
    result
}

impl<T: Tracer> Run<'_, '_, T> {
    /// One of the passes that are not the first.
    fn copy(&mut self, pass: &Pass) -> Result<(Verdict, Why), Halt> {
        if self.ir.arch == Architecture::Psa {
            self.keep(&pass.keep);
            return match pass.egress {
                Some((port, instance)) => self.psa_egress(pass.instance_type, port, instance),
                None => self.psa_ingress(pass.instance_type),
            };
        }
        let std = self.std;
        let in_egress = pass.egress.is_some();
        if matches!(pass.from, From::Parser) {
            self.arrive(pass.instance_type);
            self.keep(&pass.keep);
            // A list may name it, too.
            self.set_standard(std.instance_type, pass.instance_type.into());
            if !in_egress {
                return self.begin_at_parser();
            }
            // The parser's own metadata go with all other metadata.
            self.parse_v1model()?;
        }
        let Some((port, rid)) = pass.egress else { return self.begin_at_parser() };
        if pass.instance_type != instance::REPLICATED {
            self.p.clear_vars();
            self.arrive(pass.instance_type);
            self.keep(&pass.keep);
        }
        self.p.keep_bytes = None;
        self.set_standard(std.instance_type, pass.instance_type.into());
        self.set_standard(std.egress_spec, 0);
        self.set_standard(std.egress_port, port.0.into());
        self.set_standard(std.egress_rid, rid.into());
        self.begin_at_egress()
    }

    fn keep(&mut self, values: &[(VarId, u128)]) {
        for (var, value) in values {
            self.p.set_var(*var, *value);
        }
    }

    /// Notes what the program asked for.
    pub(super) fn request(&mut self, kind: Replicate, session: u128, fields: Option<u128>) {
        // A list that no field is in keeps nothing; so does a number that is none.
        let fields = fields.and_then(|f| u8::try_from(f).ok());
        let session = u32::try_from(session).unwrap_or(u32::MAX);
        self.tell(|_| Event::Asked(kind));
        match kind {
            Replicate::CloneI2E => self.requests.clone[0] = Some((session, fields)),
            Replicate::CloneE2E => self.requests.clone[1] = Some((session, fields)),
            Replicate::Resubmit => self.requests.resubmit = Some(fields),
            Replicate::Recirculate => self.requests.recirculate = Some(fields),
        }
    }

    /// Whether the end of ingress has more to do than to send the packet to one port.
    pub(super) fn copies_after_ingress(&self) -> bool {
        self.requests.clone[0].is_some() || self.requests.resubmit.is_some() || self.standard(self.std.multicast) != 0
    }

    /// Clones, then resubmits or copies to a group; gives the pass's end if it does not go on.
    pub(super) fn copy_after_ingress(&mut self) -> Result<Option<(Verdict, Why)>, Halt> {
        self.only_whole()?;
        if let Some((session, fields)) = self.requests.clone[0].take() {
            let keep = self.kept(fields);
            for egress in self.mirrored(session) {
                self.later(false, instance::INGRESS_CLONE, From::Parser, self.input.bytes.to_vec(), keep.clone(), Some(egress));
            }
        }
        if let Some(fields) = self.requests.resubmit.take() {
            let keep = self.kept(fields);
            self.later(self.main, instance::RESUBMITTED, From::Parser, self.input.bytes.to_vec(), keep, None);
            return Ok(Some((Verdict::default(), Why::SentOn("resubmitted"))));
        }
        let group = self.standard(self.std.multicast) as u16;
        if group == 0 {
            return Ok(None);
        }
        let replicas = self.state.groups.get(&group).cloned().unwrap_or_default();
        if replicas.is_empty() {
            return Ok(Some((self.verdict(VerdictKind::Drop, None), Why::EmptyGroup(group))));
        }
        for (i, r) in replicas.iter().enumerate() {
            let state = From::Egress(Box::new(self.p.clone()));
            self.later(self.main && i == 0, instance::REPLICATED, state, self.input.bytes.to_vec(), vec![], Some((r.port, r.rid)));
        }
        Ok(Some((Verdict::default(), Why::SentOn("multicast"))))
    }

    /// Clones at the end of egress.
    pub(super) fn copy_after_egress(&mut self) -> Result<(), Halt> {
        let Some((session, fields)) = self.requests.clone[1].take() else { return Ok(()) };
        self.only_whole()?;
        let keep = self.kept(fields);
        for egress in self.mirrored(session) {
            let state = From::Egress(Box::new(self.p.clone()));
            self.later(false, instance::EGRESS_CLONE, state, self.input.bytes.to_vec(), keep.clone(), Some(egress));
        }
        Ok(())
    }

    /// Sends the deparsed packet to the parser, if that was asked for.
    pub(super) fn recirculate(&mut self) -> Result<Option<(Verdict, Why)>, Halt> {
        let Some(fields) = self.requests.recirculate.take() else { return Ok(None) };
        self.only_whole()?;
        let keep = self.kept(fields);
        let bytes = self.p.out.clone();
        self.later(self.main, instance::RECIRCULATED, From::Parser, bytes, keep, None);
        Ok(Some((Verdict::default(), Why::SentOn("recirculated"))))
    }

    pub(super) fn only_whole(&self) -> Result<(), Halt> {
        if self.input.mode == super::Mode::Subset { Err(Halt::Copies) } else { Ok(()) }
    }

    /// The fields of a list with their values now.
    pub(super) fn kept(&self, fields: Option<u8>) -> Vec<(VarId, u128)> {
        let vars = fields.and_then(|f| self.ir.intrinsic.field_lists.get(&f));
        vars.into_iter().flatten().map(|v| (*v, self.p.var(*v))).collect()
    }

    /// Ports and replica numbers of a session's clones.
    pub(super) fn mirrored(&self, session: u32) -> Vec<(PortId, u16)> {
        match self.state.mirrors.get(&session) {
            None => vec![],
            Some(Mirror::Port(port)) => vec![(*port, 0)],
            Some(Mirror::Group(group)) => self.state.groups.get(group).into_iter().flatten().map(|r| (r.port, r.rid)).collect(),
        }
    }

    pub(super) fn later(
        &mut self,
        main: bool,
        instance_type: u32,
        from: From,
        bytes: Vec<u8>,
        keep: Vec<(VarId, u128)>,
        egress: Option<(PortId, u16)>,
    ) {
        let generation = self.generation + 1;
        // Beyond the limit everything is dropped alike, so more need not be kept.
        if self.work.queue.len() < MAX_PASSES {
            self.work.queue.push_back(Pass { main, generation, instance_type, from, bytes, keep, egress });
        }
    }

    /// `ingress_port`, `packet_length`, `ingress_global_timestamp` and `instance_type`.
    pub(super) fn arrive(&mut self, instance_type: u32) {
        let std = self.std;
        self.set_standard(std.ingress_port, self.input.port.0.into());
        self.set_standard(std.packet_length, self.input.bytes.len() as u128);
        self.set_standard(std.timestamp, u128::from(self.input.now_ns / 1000));
        if instance_type != 0 {
            self.set_standard(std.instance_type, instance_type.into());
        }
    }
}

/// Queues of passes.
pub(crate) type Queue = VecDeque<Pass>;
