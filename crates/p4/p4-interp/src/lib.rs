//! The reference interpreter: runs a program's IR one packet at a time, as plainly as possible.
//!
//! It is the oracle that every target is compared with, and, under the limits of a chip, the model of one. Its
//! meaning of a program is *the* meaning:
//!
//! - **Pipeline** (v1model): parser, verify_checksum, ingress, egress, compute_checksum, deparser. A parser error does
//!   not drop: `parser_error` is set, and the pipeline continues with what was extracted (as BMv2 does). After ingress and
//!   after egress `egress_spec == 511` drops; between them `egress_port` becomes `egress_spec`.
//! - **Start**: all variables zero, all headers invalid, then `ingress_port`, `packet_length` and
//!   `ingress_global_timestamp` (microseconds) are set. Other `standard_metadata` stays zero.
//! - **Verdict**: `egress_port` 510 punts, 509 buffers, anything else forwards. `reason` is `@drop_reason` and `mark` is
//!   `@mark`, read at the end, whatever the kind; `port` is that of a forward, else zero.
//! - **Output**: emitted valid headers, then everything behind the parser's cursor. Drop and Next leave the packet as
//!   it came. More bytes in front than [`base::HEADROOM`] plus what was parsed, or more than [`base::MAX_PACKET`] in all,
//!   is a drop with `NO_HEADROOM`.
//! - **Headers**: a field of an invalid header reads zero and is not written. `setValid` of an invalid header zeroes it.
//!   A stack index out of range reads an invalid header; only `extract` raises `StackOutOfBounds`.
//!   `lastIndex` of an empty stack is 2^32-1.
//! - **Extract** checks in P4_16 §12.8.2's order: `ParserInvalidArgument`, `PacketTooShort`, `HeaderTooShort`. An
//!   `advance` by no whole number of bytes is `ParserInvalidArgument`.
//! - **Limits**: after [`STEP_LIMIT`] parser states the parser ends with `ParserTimeout`; after as many rounds of
//!   loops the packet is dropped with `TARGET_FAILED`. So every program ends.
//! - **Subset mode**: a miss in a `@split` table, and a verdict that would be Punt or Buffer, become Next: the packet as
//!   received and no effect on counters, meters and registers.
//! - Log messages and assertions only reach the [`Tracer`]; digests wait
//!   for [`Machine::take_digests`].
//! - **Copies**: clones, multicast, resubmission and recirculation are as `run/replicate.rs` says; the packets that a
//!   packet became beside its own result are [`Machine::extra`].
//! - **Services** are called inline, as `run/service.rs` says: those of [`Machine::set_services`].
#![forbid(unsafe_code)]

mod machine;
mod run;

mod digest;
mod eval;
mod meter;
mod packet;
mod table;
mod wire;

pub mod stf;
pub mod trace;

pub use machine::{Machine, MachineError, TableStats};
pub use meter::{Colour, MeterCell, SharedCells};
pub use program::Digest;
pub use run::limits::{Beyond, Limits};
pub use run::replicate::{Extra, MAX_GENERATIONS, MAX_PASSES};
pub use run::service::{ServiceCall, ServiceFate, Services};
pub use run::{MAX_DIGESTS, Mode, Output, STEP_LIMIT};
pub use trace::{Event, NoTrace, Recorder, Tracer, render_trace};

/// Packets and bytes. For a counter of one unit the other is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes, as the counter's `LengthSource` measures them.
    pub bytes: u64,
}
