//! Prints a program's IR as C for the kernel's XDP hook: one packet at a time, checked by the kernel's verifier.
//!
//! # How the generated code works
//! - **A context for each core** (`struct sp_context`, in an array map) holds variables and headers: BPF's stack has 512
//!   bytes only. What is read back from a map is unknown to the verifier, so paths that meet again are one path to it.
//! - **Headers are copied** into the context when they are extracted, and written in front of the rest of the packet when
//!   they are emitted ([`deparser`]). Until then the packet is as it came: handing it on needs no repair.
//! - **Tables** ([`tables`]) are array maps that user space writes directly: hash chains of cells, each with the span of
//!   generations that see it. A packet reads the generation once, so it sees a batch of changes whole or not at all.
//! - **Arrays that grow** with sessions (`SP_SEGMENTED` in `prelude.h`): tables of sessions, filters, large counters and meters. Beyond the first segment a
//!   look-up finds the next one; a packet that would use a cell that has no memory yet goes to the slow path.
//! - **Arrays** (`SP_MEMORY` in `prelude.h`): cells of tables, meters and counters, contexts, the control block and the ledger are one value of a map
//!   each where they fit, and the loader puts its address into the text: an index is compared and added, and no look-up is between.
//! - **The parser's states** ([`parser`]) are printed for each place in the packet where they are reached, as far as the text tells
//!   these places: what they read has a fixed address. States marked `@unlikely` come last, as copies are few.
//! - **Classes** ([`class`]): packets that have the same likely headers run through text of their own, which knows what is valid; at its
//!   end it is known for each set of headers what lies where ([`deparser`]), and what nobody changed stays there.
//! - **Variables that certainly hold a constant** ([`code::Facts`]) are that constant, and branches that depend on them only are not printed.
//! - **Empty tables** whose default action does nothing are passed over: a bit beside the generation says so, so that it is true of
//!   the generation that the packet sees.
//! - **Variables** are cleared when a packet comes if some way reads them before it writes them ([`live`]); others are not.
//! - **Counters** are added to when the packet's end is known, in a row of cells of its core; meters and registers are
//!   changed at once and set back when the packet goes to the slow path ([`externs`]).
//! - **Who waits until no packet is in flight** reads what each core counts in its context: `sp_begin` before the generation is read, and `sp_end`
//!   when no table is read any more.
//! - Of two entry points, `sp_xdp` is attached to interfaces; `sp_test` takes port and time from the bytes in front of the
//!   packet and leaves the verdict there.
//!
//! # What is refused, by name and place
//! Products, quotients and random numbers of more than 64 bits, value sets, clones, multicast, checksums over payload,
//! hashes of more than 128 bytes, registers wider than 64 bits, counters, meters, registers and tables in the parser,
//! what counts, writes or sends in loops, more than
//! 64 headers. The place is the parser state, table, action or block, and the span of the source that
//! [`p4_ir::origin`] has for it.
//! A packet that runs more than 32 times through loops of the parser or through loops that look tables up, or more than 1,024 times through
//! others, goes to the slow path; so does one that `truncate` leaves fewer than 14 bytes of.

mod checksum;
mod class;
mod code;
mod deparser;
mod expr;
mod externs;
mod hash;
mod parser;
mod pipeline;
mod stacks;
mod stmt;
mod tables;

use p4_ir::Ir;
use p4_ir::origin::{Construct, Origin};

/// What BPF cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The kind of construct, where it is one of those that sources are searched for.
    pub construct: Option<Construct>,
    /// The construct.
    pub what: String,
    /// Where it is: `table pdr_by_teid in upf.p4`.
    pub place: String,
    /// Where in the source, as far as the IR tells.
    pub origin: Option<Origin>,
}

impl Refused {
    /// Words that are the same for all refusals of such a construct.
    pub fn kind(&self) -> &str {
        self.construct.map_or(self.what.as_str(), |c| c.name())
    }

    /// The refusal without its place.
    pub fn message(&self) -> String {
        format!("the xdp target does not support {}", self.what)
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message(), self.place)
    }
}

impl std::error::Error for Refused {}

/// The program as C text for clang's BPF target.
pub fn emit_xdp(ir: &Ir) -> Result<String, Refused> {
    let failed = |what: String| Refused { construct: None, what, place: ir.program.name.clone(), origin: None };
    // Statements nest as deep as the program does.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        let handle = thread.spawn_scoped(scope, || pipeline::program(ir)).map_err(|e| failed(format!("no thread: {e}")))?;
        handle.join().map_err(|_| failed("this program: the emitter panicked".into()))?
    })
}
