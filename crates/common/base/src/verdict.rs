//! What becomes of a packet: forward, buffer, punt or drop, always with a reason when it does not go on.

use crate::PortId;

/// Why a packet was dropped or punted.
///
/// Codes 0 to 127 belong to the P4 program: it declares them as the serializable enum of its `@drop_reason`
/// metadata field. Codes from 128 belong to the engine and its targets, and are the constants here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct DropReason(pub u8);

impl DropReason {
    /// No reason was given: a program that drops so is reported as a defect by the conformance kit.
    pub const NONE: DropReason = DropReason(0);
    /// The parser rejected the packet (any P4 parser error).
    pub const PARSER_REJECT: DropReason = DropReason(128);
    /// The deparsed packet needs more room in front than the buffer has, or exceeds `MAX_PACKET`.
    pub const NO_HEADROOM: DropReason = DropReason(129);
    /// `egress_spec` names a port that does not exist.
    pub const NO_PORT: DropReason = DropReason(130);
    /// The transmit queue of the port stayed full.
    pub const TX_FULL: DropReason = DropReason(131);
    /// The queue to the control plane was full.
    pub const PUNT_FULL: DropReason = DropReason(132);
    /// The idle-mode buffer of the session, or all buffers together, were full.
    pub const BUFFER_FULL: DropReason = DropReason(133);
    /// The buffered packets were discarded because the FAR was changed to DROP or the session was deleted.
    pub const BUFFER_DISCARDED: DropReason = DropReason(134);
    /// A target failed while it held the packet.
    pub const TARGET_FAILED: DropReason = DropReason(135);
    /// The packet exceeds the transmit port's MTU.
    pub const TX_TOO_LONG: DropReason = DropReason(136);
    /// The control plane had no use for the punted packet.
    pub const PUNT_REFUSED: DropReason = DropReason(137);
    /// Longer than `MAX_PACKET` on receipt.
    pub const RX_TOO_LONG: DropReason = DropReason(138);
    /// The engine stopped while the packet was waiting.
    pub const STOPPING: DropReason = DropReason(139);
    /// The packet's worker was given more than it could take.
    pub const WORKER_FULL: DropReason = DropReason(140);
    /// The packet has waited in an idle-mode buffer for longer than the operator lets it.
    pub const BUFFER_AGED: DropReason = DropReason(141);
    /// The port that it was to leave by is away: its interface was removed.
    pub const PORT_DOWN: DropReason = DropReason(142);
    /// The way to a service that the program calls was full.
    pub const SERVICE_FULL: DropReason = DropReason(143);
    /// A service that the program calls ended while it had the packet.
    pub const SERVICE_LOST: DropReason = DropReason(144);
    /// A service that the program calls does not run.
    pub const SERVICE_DOWN: DropReason = DropReason(145);
    /// A service that the program calls dropped the packet for a reason of its own, which its counters name.
    pub const SERVICE_REFUSED: DropReason = DropReason(146);

    /// The packets that wait for the rate take as long as they may, or all that wait are as many as may wait.
    pub const SHAPER_FULL: DropReason = DropReason(147);
    /// The packet waited for its rate, and CoDel dropped it so that its sender slows down.
    pub const SHAPER_CODEL: DropReason = DropReason(148);
    /// The packet has waited for its rate for longer than it may.
    pub const SHAPER_LATE: DropReason = DropReason(149);
    /// The queue of the port that the packet was to leave by holds as much as may wait there.
    pub const QUEUE_FULL: DropReason = DropReason(150);
    /// The packet waited for the port that it was to leave by, and CoDel dropped it so that its sender slows down.
    pub const QUEUE_CODEL: DropReason = DropReason(151);
    /// The packet has waited for the port that it was to leave by for longer than it may.
    pub const QUEUE_LATE: DropReason = DropReason(152);
    /// The packet waited for the port that it was to leave by, and what it belonged to has ended.
    pub const QUEUE_ENDED: DropReason = DropReason(153);

    /// Name of an engine reason; `None` for codes of the program and for unused ones.
    pub fn engine_name(self) -> Option<&'static str> {
        Some(match self {
            DropReason::PARSER_REJECT => "parser_reject",
            DropReason::NO_HEADROOM => "no_headroom",
            DropReason::NO_PORT => "no_port",
            DropReason::TX_FULL => "tx_full",
            DropReason::PUNT_FULL => "punt_full",
            DropReason::BUFFER_FULL => "buffer_full",
            DropReason::BUFFER_DISCARDED => "buffer_discarded",
            DropReason::TARGET_FAILED => "target_failed",
            DropReason::TX_TOO_LONG => "tx_too_long",
            DropReason::PUNT_REFUSED => "punt_refused",
            DropReason::RX_TOO_LONG => "rx_too_long",
            DropReason::STOPPING => "stopping",
            DropReason::WORKER_FULL => "worker_full",
            DropReason::BUFFER_AGED => "buffer_aged",
            DropReason::PORT_DOWN => "port_down",
            DropReason::SERVICE_FULL => "service_full",
            DropReason::SERVICE_LOST => "service_lost",
            DropReason::SERVICE_DOWN => "service_down",
            DropReason::SERVICE_REFUSED => "service_refused",
            DropReason::SHAPER_FULL => "shaper_full",
            DropReason::SHAPER_CODEL => "shaper_codel",
            DropReason::SHAPER_LATE => "shaper_late",
            DropReason::QUEUE_FULL => "queue_full",
            DropReason::QUEUE_CODEL => "queue_codel",
            DropReason::QUEUE_LATE => "queue_late",
            DropReason::QUEUE_ENDED => "queue_ended",
            _ => return None,
        })
    }
}

/// The kind of a [`Verdict`]. The numbers are part of the generated code's interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
pub enum VerdictKind {
    /// Transmit on `port`.
    Forward = 0,
    /// Keep in the idle-mode buffer named by `mark`.
    Buffer = 1,
    /// Give to the control plane, with `reason` and `mark`.
    Punt = 2,
    /// Drop for `reason`.
    #[default]
    Drop = 3,
    /// This target holds only a subset and missed: the packet, unchanged, goes to the next target.
    Next = 4,
    /// A service that the program called has the packet, which is gone from the burst: it comes back by the lane's poll.
    Kept = 5,
    /// The target has done its part. The packet, with a bridge header in front, goes on at stage `port` of the chain, or at a later one. Only lanes of a
    /// program that was cut for a chain give it, and only to the chain.
    Resume = 6,
    /// Keep until the cell `mark` of the shaped meter lets it pass: it is over its rate, which is the `reason`.
    Shape = 7,
}

/// What a target decided for one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Verdict {
    /// Forward, buffer, punt, drop, next, kept, resume or shape.
    pub kind: VerdictKind,
    /// Reason of a drop, punt or shape; of a forward, 1 to 7, the queue of the port.
    pub reason: u8,
    /// Egress port of a forward; stage of a resume.
    pub port: u16,
    /// The program's `@mark` field: for `upf.p4` the number of the forwarding action set (see `upf`).
    pub mark: u32,
}

impl Verdict {
    /// Transmit on `port`.
    pub fn forward(port: PortId) -> Verdict {
        Verdict { kind: VerdictKind::Forward, port: port.0, ..Verdict::default() }
    }

    /// Drop for `reason`.
    pub fn drop(reason: DropReason) -> Verdict {
        Verdict { kind: VerdictKind::Drop, reason: reason.0, ..Verdict::default() }
    }

    /// As a program says it, whose packets that wait for a rate go to the port of the buffer with a reason ([`PortId::BUFFER`]).
    pub fn of_program(self) -> Verdict {
        let kind = if self.kind == VerdictKind::Buffer && self.reason != 0 { VerdictKind::Shape } else { self.kind };
        Verdict { kind, ..self }
    }

    /// Hand on, unchanged, to the next target.
    pub fn next() -> Verdict {
        Verdict { kind: VerdictKind::Next, ..Verdict::default() }
    }

    /// Goes on at that stage of a chain, counted from 0.
    pub fn resume(stage: u8) -> Verdict {
        Verdict { kind: VerdictKind::Resume, port: stage.into(), ..Verdict::default() }
    }

    /// A service has it.
    pub fn kept() -> Verdict {
        Verdict { kind: VerdictKind::Kept, ..Verdict::default() }
    }
}
