//! What is between PSA's pipes (PSA 1.2 §6): where a packet goes that has left one of them, as the interpreter's `run/psa.rs` says.
//!
//! The program stops behind each pipe, so every pass ends here, but for packets that the target itself has dropped.

use super::{Arrival, Copies, MAX_PASSES, Pass, ReplicatingLane};
use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use program::{Bridge, Replica, Switch};
use std::collections::VecDeque;

/// `PSA_PacketPath_t`.
mod path {
    pub(super) const UNICAST: u8 = 1;
    pub(super) const MULTICAST: u8 = 2;
    pub(super) const CLONE_I2E: u8 = 3;
    pub(super) const CLONE_E2E: u8 = 4;
    pub(super) const RESUBMIT: u8 = 5;
    pub(super) const RECIRCULATE: u8 = 6;
}

/// `PSA_PORT_RECIRCULATE` and `PSA_PORT_CPU`. Ports from `OWN_PORTS` on are the architecture's.
const RECIRCULATE: PortId = PortId(0xfffa);
const CPU: PortId = PortId(0xfffd);
const OWN_PORTS: u32 = 0xffff_fff0;

/// A port as the program numbers it.
fn wide(port: PortId) -> u32 {
    if port == RECIRCULATE || port == CPU { 0xffff_0000 | u32::from(port.0) } else { port.0.into() }
}

/// The port that a program means, if there can be one.
fn narrow(number: u32) -> Option<PortId> {
    let port = PortId(number as u16);
    let known = if number >= OWN_PORTS { port == RECIRCULATE || port == CPU } else { number < OWN_PORTS & 0xffff };
    known.then_some(port)
}

impl ReplicatingLane {
    /// Does what a pipe has decided; the packet's end, or nothing if it continues as another pass.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn behind_pipe(
        &self,
        switch: &Switch,
        copies: &Copies,
        packet: &mut Packet,
        received: &[u8],
        (generation, main): (u8, bool),
        arrival: Arrival,
        queue: &mut VecDeque<Pass>,
    ) -> Option<Verdict> {
        let b = &self.bridge;
        let (said, left) = packet.data().split_at(b.len);
        let mut later = |main: bool, path: u8, to: To, bytes: &[u8]| {
            // As in the interpreter, what is beyond is dropped alike.
            if queue.len() < MAX_PASSES {
                let bytes = begin(b, switch, said, path, to, bytes);
                queue.push_back(Pass { main, generation: generation + 1, length: bytes.len() - b.len, bytes });
            }
        };
        let end = |kind: VerdictKind, reason: Option<DropReason>| {
            let reason = reason.map_or_else(|| b.drop_reason.get(said) as u8, |r| r.0);
            Verdict { kind, reason, mark: b.mark.map_or(0, |m| m.get(said)) as u32, ..Verdict::default() }
        };
        let session = b.session.get(said) as u32;
        let port = switch.port.get(said) as u32;
        if b.kind.get(said) as u8 == Bridge::AFTER_EGRESS {
            if b.clone.get(said) != 0 {
                copies.mirrored(session).into_iter().for_each(|to| later(false, path::CLONE_E2E, To::Egress(to), left));
            }
            if switch.drop.get(said) != 0 {
                return Some(end(VerdictKind::Drop, None));
            }
            if port == wide(RECIRCULATE) {
                later(main, path::RECIRCULATE, To::Ingress(RECIRCULATE), left);
                return None;
            }
            let verdict = match port == wide(CPU) {
                true => end(VerdictKind::Punt, None),
                false => Verdict { port: port as u16, ..end(VerdictKind::Forward, None) },
            };
            let (_, start, length) = packet.buffer_mut();
            packet.set_window(start + b.len, length - b.len);
            return Some(verdict);
        }
        if b.clone.get(said) != 0 {
            copies.mirrored(session).into_iter().for_each(|to| later(false, path::CLONE_I2E, To::Egress(to), received));
        }
        if switch.drop.get(said) != 0 {
            return Some(end(VerdictKind::Drop, None));
        }
        if b.resubmit.get(said) != 0 {
            later(main, path::RESUBMIT, To::Ingress(arrival.port), received);
            return None;
        }
        let group = b.multicast.map_or(0, |group| group.get(said));
        if group != 0 {
            let replicas = u16::try_from(group).ok().and_then(|group| copies.groups.get(&group)).map_or(&[][..], Vec::as_slice);
            if replicas.is_empty() {
                return Some(end(VerdictKind::Drop, None));
            }
            for (i, to) in replicas.iter().enumerate() {
                later(main && i == 0, path::MULTICAST, To::Egress(*to), left);
            }
            return None;
        }
        let Some(port) = narrow(port) else { return Some(end(VerdictKind::Drop, Some(DropReason::NO_PORT))) };
        later(main, path::UNICAST, To::Egress(Replica { port, rid: 0 }), left);
        None
    }
}

/// Where a pass begins.
enum To {
    /// In the ingress pipe, from that port.
    Ingress(PortId),
    /// In the egress pipe, for that port.
    Egress(Replica),
}

/// A packet with the bridge that its pass begins with: of what the last pipe said it has the class of service, and the metadata of its path.
fn begin(b: &Bridge, switch: &Switch, said: &[u8], path: u8, to: To, bytes: &[u8]) -> Vec<u8> {
    let mut whole = vec![0; b.len];
    let (kind, port, rid) = match to {
        To::Ingress(port) => (Bridge::PARSE_INGRESS, port, 0),
        To::Egress(Replica { port, rid }) => (Bridge::PARSE_EGRESS, port, rid),
    };
    b.kind.set(&mut whole, kind.into());
    switch.path.set(&mut whole, path.into());
    switch.port.set(&mut whole, wide(port).into());
    switch.instance.set(&mut whole, rid.into());
    if kind == Bridge::PARSE_EGRESS {
        switch.class_of_service.set(&mut whole, switch.class_of_service.get(said));
    }
    if let Some(length) = b.frame_length {
        length.set(&mut whole, bytes.len() as u128);
    }
    for field in b.field_lists.get(&path).into_iter().flatten().filter_map(|i| b.vars.get(*i)) {
        field.set(&mut whole, field.get(said));
    }
    whole.extend_from_slice(bytes);
    whole
}
