//! Packet tests in BMv2's STF format: [`parse`] reads a script, [`run`] plays it on a [`Device`].
//!
//! A line is a command; `#` starts a comment. Hexadecimal digits may be spaced; names may be quoted.
//! ```text
//! add TABLE [PRIORITY] KEY:VALUE ... ACTION(PARAM:VALUE, ...) [= HANDLE]
//! setdefault TABLE ACTION(PARAM:VALUE, ...)
//! remove all | remove TABLE [PRIORITY] KEY:VALUE ...
//! packet PORT HEX...
//! expect PORT [HEX... [$]]
//! no_packet
//! check_counter COUNTER(INDEX) [packets | bytes] OP NUMBER
//! mirroring_add SESSION PORT | mirroring_add_mc SESSION GROUP | mirroring_get SESSION
//! mc_mgrp_create GROUP | mc_node_create RID PORT ... | mc_node_associate GROUP NODE
//! pvs_add SET VALUE ... | pvs_remove SET VALUE ...
//! register_write REGISTER INDEX VALUE | register_reset REGISTER | register_read REGISTER INDEX [OP NUMBER]
//! meter_set_rates METER INDEX RATE:BURST RATE:BURST | meter_array_set_rates METER RATE:BURST RATE:BURST | meter_get_rates ...
//! wait
//! ```
//! - A key value is a number (decimal, `0x`, `0b`, `0o`), digits with `*` for whatever, `VALUE/PREFIX`,
//!   `VALUE&&&MASK` or `LOW->HIGH`; a key that is left out matches everything, unless it is exact. Larger priorities win.
//! - Names may leave out leading parts (`t` for `ingress.t`), if that is unambiguous. A key's name is the control plane's: it may have brackets, colons and
//!   blanks (`h.isValid():1`, `h.f[7:4]:0xa`), also without quotes.
//! - Each `packet` runs at once. Each output is compared with the port's next `expect`, in order: all digits but `*`
//!   must be equal, and with `$` the packet must end there. `expect PORT` alone allows any packets on that port.
//! - At the end, and at `no_packet`, an output that no line expects and an `expect` that no output met are failures.
//! - Nodes of multicast groups are numbered from 0 in the order of their `mc_node_create`. A value of a value set is one
//!   match a field, as key values are written. `register_read` without comparison only looks whether there is such a cell.
//! - A meter's rates are the committed and the peak one, in units per microsecond, each with its burst in units.
//! - `mirroring_get` and `meter_get_rates` show something to a person elsewhere, and do nothing here.
//!
//! Scripts are untrusted text: whatever is in them gives a script or an error with its line.

mod check;
mod parse;
mod play;
mod value;

pub use check::Failure;
pub use parse::parse;
pub use play::{MachineDevice, Report, run, way_out};

use crate::Count;
use base::PortId;
use program::{ApplyError, Batch, CounterId, RegisterId};

/// What a script runs on.
pub trait Device {
    /// Applies all changes or none.
    fn apply(&mut self, batch: &Batch) -> Result<(), ApplyError>;

    /// Runs one packet; gives the packets that leave, with their ports (510 and 509 for punted and buffered ones).
    fn process(&mut self, port: PortId, bytes: &[u8]) -> Vec<(PortId, Vec<u8>)>;

    /// A cell of an indexed counter.
    fn counter(&mut self, counter: CounterId, index: u64) -> Count;

    /// A cell of a register; `None` beyond its end, or if the device does not show it.
    fn register(&mut self, register: RegisterId, index: u64) -> Option<u128>;

    /// Sets a cell of a register; tells whether it could.
    fn set_register(&mut self, register: RegisterId, index: u64, value: u128) -> bool;
}

/// A script that fits a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Commands with the numbers of their lines, from 1.
    pub commands: Vec<(usize, Command)>,
}

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `add`, `setdefault` or `remove` of one entry.
    Apply(Batch),
    /// `remove all`: whatever the script has added.
    RemoveAll,
    /// `packet`.
    Packet {
        /// Where it comes in.
        port: PortId,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// `expect`.
    Expect {
        /// Where it should leave.
        port: PortId,
        /// What it should be; `None`: anything, also nothing.
        pattern: Option<Pattern>,
    },
    /// `no_packet`: everything expected so far has come, and nothing else.
    NoPacket,
    /// `check_counter`.
    CheckCounter {
        /// The counter.
        counter: CounterId,
        /// The cell.
        index: u64,
        /// Whether bytes are looked at; packets otherwise.
        bytes: bool,
        /// How it is compared.
        comparison: Comparison,
        /// With what.
        number: u64,
    },
    /// `register_read`.
    CheckRegister {
        /// The register.
        register: RegisterId,
        /// The cell.
        index: u64,
        /// What it should be.
        wanted: Option<(Comparison, u128)>,
    },
    /// `register_write`, and `register_reset` for each cell.
    SetRegister {
        /// The register.
        register: RegisterId,
        /// The cells.
        cells: std::ops::Range<u64>,
        /// What they become.
        value: u128,
    },
    /// `wait`: packets run at once here, so there is nothing to wait for.
    Wait,
}

/// An expected packet: hexadecimal digits, `None` for `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Digits.
    pub nibbles: Vec<Option<u8>>,
    /// Whether the packet ends there.
    pub exact_length: bool,
}

/// How a counter is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What is wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ScriptError {
    /// From 1.
    pub line: usize,
    /// What.
    pub what: String,
}
