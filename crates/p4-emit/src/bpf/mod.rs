//! Prints a program's IR as C for the kernel's XDP hook: one packet at a time, checked by the kernel's verifier.
//!
//! # How the generated code works
//! - **A context for each core** (`struct sp_context`, in an array map) holds variables and headers: BPF's stack has 512
//!   bytes only. What is read back from a map is unknown to the verifier, so paths that meet again are one path to it.
//! - **Headers are copied** into the context when they are extracted, and written in front of the rest of the packet when
//!   they are emitted ([`deparser`]). Until then the packet is as it came: handing it on needs no repair.
//! - **Tables** ([`tables`]) are array maps that user space writes directly: hash chains of cells, each with the span of
//!   generations that see it. A packet reads the generation once, so it sees a batch of changes whole or not at all.
//! - **Counters** are added to when the packet's end is known, in a row of cells of its core; meters and registers are
//!   changed at once and set back when the packet is handed on ([`externs`]).
//! - Of two entry points, `sp_xdp` is attached to interfaces; `sp_test` takes port and time from the bytes in front of the
//!   packet and leaves the verdict there.
//!
//! # What is refused, by name and place
//! Stacks with an index known only at run time, `push_front` and `pop_front`, value sets, loops outside the parser, digests of
//! packets other than csum16, `hash`, `random`, `digest`, `truncate`, clones, checksums over payload, registers wider than
//! 64 bits, more than 64 headers. The IR has no lines of the source: the place is the parser state, table, action or block.
//! A packet that runs more than 32 times through loops of the parser is handed on.

mod checksum;
mod code;
mod deparser;
mod expr;
mod externs;
mod parser;
mod pipeline;
mod stmt;
mod tables;

use p4_ir::Ir;

/// What BPF cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The construct.
    pub what: String,
    /// Where it is: `table pdr_by_teid in upf.p4`.
    pub place: String,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the xdp target does not support {} ({})", self.what, self.place)
    }
}

impl std::error::Error for Refused {}

/// The program as C text for clang's BPF target.
pub fn emit_xdp(ir: &Ir) -> Result<String, Refused> {
    let failed = |what: String| Refused { what, place: ir.program.name.clone() };
    // Statements nest as deep as the program does.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        let handle = thread.spawn_scoped(scope, || pipeline::program(ir)).map_err(|e| failed(format!("no thread: {e}")))?;
        handle.join().map_err(|_| failed("this program: the emitter panicked".into()))?
    })
}
