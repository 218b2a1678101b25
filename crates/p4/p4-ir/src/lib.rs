//! The typed, flat intermediate form of a P4 program: what the passes transform, the interpreter runs and the
//! emitter prints.
//!
//! The front end has already resolved names and generics, evaluated constants, inlined sub-parsers, sub-controls,
//! functions and directly called actions, and flattened structs. What is left:
//! - **variables**: one flat space of scalars for metadata, locals and action parameters; P4 has no recursion, so
//!   every one is a fixed slot. All are zero when a packet enters.
//! - **headers**: a flat space of instances; a stack is a row of them.
//! - **pipes**, from parser to deparser: which blocks there are is the architecture's (`shape`).
//! - **blocks** of structured statements; `return` has become [`Stmt::Break`] out of a [`Stmt::Labeled`] block.
//! - tables, actions, counters, meters and registers, whose plain-data side is [`program::Program`].
//!
//! Expressions have no side effects: calls inside expressions were hoisted into statements before them.
//! `display` prints the text form; `verify` lists and checks every invariant.
#![forbid(unsafe_code)]

pub mod arith;
pub mod build;
mod display;
pub mod origin;
mod shape;
mod verify;
pub mod walk;

pub use base::Bits;
pub use display::{Namer, key_match};
pub use program::{ActionId, CounterId, MeterId, Program, RegisterId, ServiceId, TableId, ValueSetId, ValueSetInfo as ValueSet};
pub use shape::{Architecture, Control, Parser, Pipe, PipeId, Role};
pub use verify::{MAX_DEPTH, VerifyError, verify};

use cranelift_entity::{PrimaryMap, entity_impl};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);
    };
}
id!(/// A scalar variable.
    VarId, "v");
id!(/// A header type.
    HeaderTypeId, "ht");
id!(/// A header instance.
    HeaderId, "h");
id!(/// A header stack.
    StackId, "stack");
id!(/// A parser state.
    StateId, "state");
id!(/// A label of a block that can be left early.
    LabelId, "label");

/// A whole program.
#[derive(Clone, Debug, Default)]
pub struct Ir {
    /// The plain-data side: names, keys, sizes, reasons.
    pub program: Program,
    /// Header types.
    pub header_types: PrimaryMap<HeaderTypeId, HeaderType>,
    /// Header instances, stack elements included.
    pub headers: PrimaryMap<HeaderId, Header>,
    /// Header stacks.
    pub stacks: PrimaryMap<StackId, Stack>,
    /// Variables.
    pub vars: PrimaryMap<VarId, Var>,
    /// Parser states; `accept` and `reject` are not among them.
    pub states: PrimaryMap<StateId, State>,
    /// What the program is written for.
    pub arch: Architecture,
    /// The blocks that a packet goes through, as the architecture orders them.
    pub pipes: PrimaryMap<PipeId, Pipe>,
    /// Code of the actions that tables run, beside `program.actions`.
    pub actions: PrimaryMap<ActionId, ActionCode>,
    /// Code of the tables, beside `program.tables`.
    pub tables: PrimaryMap<TableId, TableCode>,
    /// Labels, for their names.
    pub labels: PrimaryMap<LabelId, String>,
    /// The variables through which the architecture and the program talk.
    pub intrinsic: Intrinsics,
    /// Where the source has what a target may refuse; empty in programs that no source was. Changes nothing.
    pub origins: origin::Origins,
}

/// Statements in order.
pub type Block = Vec<Stmt>;

/// A scalar type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Ty {
    /// `bit<W>`; also `error` and enums, as their code.
    Bit(u32),
    /// `int<W>`, two's complement.
    Int(u32),
    /// `bool`, held as one bit.
    Bool,
}

impl Ty {
    /// Width in bits.
    pub fn width(self) -> u32 {
        match self {
            Ty::Bit(w) | Ty::Int(w) => w,
            Ty::Bool => 1,
        }
    }
}

/// A header type: fields in wire order, most significant bit first, total a whole number of bytes.
#[derive(Clone, Debug)]
pub struct HeaderType {
    /// Name in the source.
    pub name: String,
    /// Fields.
    pub fields: Vec<Field>,
    /// Bits without the varbit field.
    pub fixed_bits: u32,
}

/// A field of a header.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name in the source.
    pub name: String,
    /// Type; for a varbit field `Bit` of its maximum, never read as a number.
    pub ty: Ty,
    /// Distance from the header's first bit, in bits. Exact, as a varbit field may only come last.
    pub offset_bits: u32,
    /// Whether it is `varbit<W>`; at most one, the last.
    pub varbit: bool,
}

/// A header instance.
#[derive(Clone, Debug)]
pub struct Header {
    /// Path in the source, e.g. `hdr.outer_ipv4` or `hdr.mpls[1]`.
    pub name: String,
    /// Its type.
    pub ty: HeaderTypeId,
    /// Members of one header union: setting one valid makes the others invalid.
    pub union: Option<u32>,
}

/// A header stack.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Path in the source.
    pub name: String,
    /// Its elements, all of one type.
    pub elements: Vec<HeaderId>,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// Path in the source, e.g. `meta.teid`, `UpfIngress.hit`.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// What it is to the program.
    pub role: VarRole,
}

/// What a variable is to the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VarRole {
    /// Its own, or metadata.
    #[default]
    Own,
    /// A callee's parameter, which is copied in, or in and out (P4_16 §6.8).
    Parameter,
    /// One that is copied out only: undefined until it is written.
    OutParameter,
}

/// A parser state.
#[derive(Clone, Debug)]
pub struct State {
    /// Name in the source.
    pub name: String,
    /// What it does.
    pub body: Block,
    /// Where it goes.
    pub next: Transition,
    /// `@likely`: many packets are accepted from here; `@unlikely`: few packets come here. Targets may treat packets of likely
    /// ways apart; it changes no result.
    pub likely: Option<bool>,
}

/// Where a parser state goes.
#[derive(Clone, Debug)]
pub enum Transition {
    /// Always there.
    Goto(Next),
    /// To the first case whose sets all match; none: error `NoMatch`, reject.
    Select {
        /// What is looked at.
        keys: Vec<Expr>,
        /// In order.
        cases: Vec<SelectCase>,
    },
}

/// A case of a select.
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// One a key; or a single [`KeySet::ValueSet`].
    pub sets: Vec<KeySet>,
    /// Where to.
    pub next: Next,
}

/// A set that a select key is compared with.
#[derive(Clone, Debug)]
pub enum KeySet {
    /// Equal under the mask (all ones for a plain value).
    Value {
        /// Value.
        value: Bits,
        /// Mask.
        mask: Bits,
    },
    /// Inclusive.
    Range {
        /// Low.
        low: Bits,
        /// High.
        high: Bits,
    },
    /// `_` or `default`.
    Any,
    /// A value set, matched on all keys together.
    ValueSet(ValueSetId),
}

/// Target of a parser transition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// A state.
    State(StateId),
    /// Done.
    Accept,
    /// Error; the reason is in `parser_error`.
    Reject,
}

/// Code of an action that tables run.
#[derive(Clone, Debug, Default)]
pub struct ActionCode {
    /// The variables that receive the entry's arguments, as in `ActionInfo::params`.
    pub params: Vec<VarId>,
    /// What it does.
    pub body: Block,
}

/// Code of a table.
#[derive(Clone, Debug, Default)]
pub struct TableCode {
    /// Key expressions, as in `TableInfo::keys`.
    pub keys: Vec<Expr>,
    /// What a program for a chip says of the table's memory.
    pub memory: TableMemory,
}

/// In which memory of a chip a table is to lie: annotations and properties of TNA. No other target asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TableMemory {
    /// Prefixes by partition (`@alpm`, `implementation = Alpm(...)`).
    pub alpm: Option<Partitions>,
    /// Entries by partition, which a key chooses: how many partitions.
    pub atcam: Option<u64>,
    /// In TCAM, whatever the keys (`@ternary(1)`).
    pub ternary: bool,
    /// Entries that need several rows for their ranges (`@entries_with_ranges`).
    pub ranges: Option<u64>,
    /// Bits of a hash that entries hold in place of the key (`proxy_hash`).
    pub proxy_hash: Option<u32>,
}

/// How a chip's table of prefixes is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partitions {
    /// How many there are.
    pub number: u64,
    /// Subtrees of prefixes in each.
    pub subtrees: u64,
    /// Bits of the prefix that are compared within one, if not all that the key has.
    pub subset: Option<u32>,
    /// Bits of keys that are not `lpm`, and of the one that is, that all entries of a partition share and that are not compared again.
    pub shared: (u32, u32),
}

/// Variables with a meaning to the architecture. v1model's `standard_metadata` fields are always present in a
/// v1model program; the annotated ones only where the program has them.
#[derive(Clone, Debug, Default)]
pub struct Intrinsics {
    /// `standard_metadata` fields by name (`ingress_port`, `egress_spec`, `egress_port`, `instance_type`,
    /// `packet_length`, `ingress_global_timestamp`, `mcast_grp`, `checksum_error`, `parser_error`, `priority`, ...).
    pub standard: std::collections::BTreeMap<String, VarId>,
    /// The metadata field marked `@drop_reason`.
    pub drop_reason: Option<VarId>,
    /// The metadata field marked `@mark`.
    pub mark: Option<VarId>,
    /// The metadata field marked `@pdu_length`: what counters and meters of `LengthSource::Pdu` take, in bytes.
    pub pdu_length: Option<VarId>,
    /// Metadata that a clone, resubmitted or recirculated packet keeps, by the number of the field list
    /// (`@field_list(number)`).
    pub field_lists: std::collections::BTreeMap<u8, Vec<VarId>>,
}

/// A header, fixed or chosen at run time.
#[derive(Clone, Debug, PartialEq)]
pub enum HeaderRef {
    /// This one.
    Static(HeaderId),
    /// `stack.next`: only in parsers; beyond the end is error `StackOutOfBounds`.
    Next(StackId),
    /// `stack.last`.
    Last(StackId),
    /// `stack[expr]`; out of range reads zero and ignores writes.
    Index(StackId, Box<Expr>),
}

/// What can be assigned.
#[derive(Clone, Debug, PartialEq)]
pub enum LValue {
    /// A variable.
    Var(VarId),
    /// A field by its position; writing to an invalid header has no effect.
    Field(HeaderRef, u32),
    /// Bits `hi` down to `lo` of another.
    Slice(Box<LValue>, u32, u32),
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `dst = value`; the types are equal.
    Assign(LValue, Expr),
    /// `setValid` (a newly valid header's fields are zero) or `setInvalid`.
    SetValid(HeaderRef, bool),
    /// Copies validity and all fields.
    CopyHeader {
        /// To.
        dst: HeaderRef,
        /// From.
        src: HeaderRef,
    },
    /// Copies the varbit field of a header, as long as it is now, to that of another, where it fits; an invalid source is
    /// an empty field, and an invalid destination is not written.
    CopyVarbit {
        /// To.
        dst: HeaderRef,
        /// From.
        src: HeaderRef,
    },
    /// Copies all elements and the next index.
    CopyStack {
        /// To.
        dst: StackId,
        /// From.
        src: StackId,
    },
    /// `push_front(n)`.
    Push(StackId, u32),
    /// `pop_front(n)`.
    Pop(StackId, u32),
    /// `if`.
    If(Expr, Block, Block),
    /// `switch`: the first case that holds the value; else the default.
    Switch {
        /// What is looked at.
        on: Expr,
        /// Values and bodies.
        cases: Vec<(Vec<Bits>, Block)>,
        /// Otherwise.
        default: Block,
    },
    /// A block that [`Stmt::Break`] leaves.
    Labeled(LabelId, Block),
    /// Leaves the enclosing block of that label.
    Break(LabelId),
    /// Runs a block again until a break leaves an outer label (P4 `for` loops). Targets bound the rounds.
    Loop(Block),
    /// `exit`: ends the current top-level block (ingress or egress).
    Exit,
    /// Looks a table up and runs the action.
    Apply {
        /// The table.
        table: TableId,
        /// Bool variable that receives whether it hit.
        hit: Option<VarId>,
        /// `Bit(32)` variable that receives the number of the action that ran ([`ActionId`] as u32).
        action_run: Option<VarId>,
    },
    /// Parser only: `extract(h)`. Too few bytes left: error `PacketTooShort`.
    Extract {
        /// Header; becomes valid.
        header: HeaderRef,
        /// Length of its varbit field in bits, a multiple of 8 (else error `ParserInvalidArgument`), at most
        /// its maximum (else `HeaderTooShort`).
        varbit_bits: Option<Expr>,
    },
    /// Parser only: `advance(bits)`.
    Advance(Expr),
    /// Parser only: `dst = lookahead<bit<W>>()` where `W` is the width of `dst`, that many bytes ahead. Too few bytes left: error
    /// `PacketTooShort`.
    Lookahead(LValue, u32),
    /// Parser only: `verify(condition, error)`.
    Verify(Expr, Bits),
    /// Deparser only: appends the header if it is valid.
    Emit(HeaderRef),
    /// v1model and core externs.
    Extern(Extern),
}

/// Calls to the architecture.
#[derive(Clone, Debug, PartialEq)]
pub enum Extern {
    /// `counter.count(index)`; beyond the end: no effect.
    Count {
        /// Counter.
        counter: CounterId,
        /// Cell.
        index: Expr,
    },
    /// `direct_counter.count()`: the cell of the entry that the enclosing action runs for.
    DirectCount(CounterId),
    /// `meter.execute_meter(index, result)`: 0 green, 1 yellow, 2 red; a cell that is not configured is green.
    Meter {
        /// Meter.
        meter: MeterId,
        /// Cell.
        index: Expr,
        /// Receives the colour.
        result: LValue,
    },
    /// `direct_meter.read(result)`.
    DirectMeter {
        /// Meter.
        meter: MeterId,
        /// Receives the colour.
        result: LValue,
    },
    /// `register.read(result, index)`; beyond the end reads zero.
    RegisterRead {
        /// Register.
        register: RegisterId,
        /// Cell.
        index: Expr,
        /// Receives the value.
        result: LValue,
    },
    /// `register.write(index, value)`.
    RegisterWrite {
        /// Register.
        register: RegisterId,
        /// Cell.
        index: Expr,
        /// Value.
        value: Expr,
    },
    /// `hash(result, algo, base, data, max)`: `base + digest(data) % max`, or `base` if `max` is 0.
    Hash {
        /// Receives the value.
        result: LValue,
        /// Algorithm.
        algorithm: HashAlgorithm,
        /// Lowest result.
        base: Expr,
        /// What is hashed: fields concatenated in wire order.
        data: Vec<Expr>,
        /// Number of results.
        max: Expr,
    },
    /// `random(result, lo, hi)`, both included.
    Random {
        /// Receives the value.
        result: LValue,
        /// Lowest.
        low: Expr,
        /// Highest.
        high: Expr,
    },
    /// What follows is for that stage of a chain of targets, counted from 0. No program says so: whoever cuts one for a chain puts it where a stage ends, and
    /// the bridge makes a stop of it. On a target that runs the whole program it does nothing.
    Stage(u8),
    /// `mark_to_drop`: `egress_spec` becomes 511 and `mcast_grp` 0.
    MarkToDrop,
    /// `verify_checksum[_with_payload]`: sets `checksum_error` when wrong.
    VerifyChecksum {
        /// Only if this holds.
        condition: Expr,
        /// What is summed.
        data: Vec<CheckData>,
        /// What the sum must be.
        checksum: Expr,
        /// Algorithm.
        algorithm: HashAlgorithm,
        /// Whether the payload follows the data.
        payload: bool,
    },
    /// `update_checksum[_with_payload]`.
    UpdateChecksum {
        /// Only if this holds.
        condition: Expr,
        /// What is summed.
        data: Vec<CheckData>,
        /// Receives the sum.
        checksum: LValue,
        /// Algorithm.
        algorithm: HashAlgorithm,
        /// Whether the payload follows the data.
        payload: bool,
    },
    /// `digest(receiver, data)`.
    Digest {
        /// Receiver's number.
        receiver: Expr,
        /// What is sent.
        data: Vec<Expr>,
    },
    /// `assert` (`hard`) or `assume`.
    Assert(Expr, bool),
    /// `log_msg(text, values)`.
    Log(String, Vec<Expr>),
    /// `truncate(bytes)`.
    Truncate(Expr),
    /// `clone`, `resubmit`, `recirculate` and their `_preserving_field_list` forms.
    Replicate {
        /// Which.
        kind: Replicate,
        /// Clone session.
        session: Option<Expr>,
        /// Number of the field list whose metadata survives; a number without fields keeps nothing.
        fields: Option<Expr>,
    },
    /// `service.call(request, answer)` or `service.send(request)`. The service sees the request and the packet's payload. It may change the
    /// payload of a packet that it is called for, drop that packet, or keep it for a while; what is sent to it is a copy. In ingress and
    /// egress only, outside of loops and of actions that tables run.
    Service {
        /// Which.
        service: ServiceId,
        /// As in `ServiceInfo::request`.
        request: Vec<Expr>,
        /// What receives the answer, in the order of `ServiceInfo::answer`; `None`: no answer is waited for.
        answer: Option<Vec<LValue>>,
    },
}

/// A piece of a checksum's or hash's input.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckData {
    /// A scalar, in wire order.
    Value(Expr),
    /// The varbit field of a header, as long as it is now.
    Varbit(HeaderRef, u32),
}

/// How packets are copied or sent round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replicate {
    /// Clone, ingress to egress.
    CloneI2E,
    /// Clone, egress to egress.
    CloneE2E,
    /// Resubmit.
    Resubmit,
    /// Recirculate.
    Recirculate,
}

/// v1model's `HashAlgorithm`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashAlgorithm {
    /// Internet checksum (RFC 1071).
    Csum16,
    /// As csum16, with the operands xored.
    Xor16,
    /// CRC-16 (ARC).
    Crc16,
    /// CRC-32 (IEEE).
    Crc32,
    /// The data itself.
    Identity,
}

/// An expression with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Type of the result.
    pub ty: Ty,
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A constant of the type's width.
    Const(Bits),
    /// A variable.
    Var(VarId),
    /// A field by its position; of an invalid header: zero.
    Field(HeaderRef, u32),
    /// `isValid()`.
    IsValid(HeaderRef),
    /// `stack.lastIndex` as `bit<32>`.
    LastIndex(StackId),
    /// `stack.nextIndex`, internal to stack operations.
    NextIndex(StackId),
    /// Bits of a varbit field as it is now (for `h.minSizeInBits` style arithmetic and goldens).
    VarbitBits(HeaderRef, u32),
    /// Whether the varbit fields of two headers are equally long and equal; of an invalid header it is empty.
    VarbitEq(HeaderRef, HeaderRef),
    /// One operand of the result's type.
    Unary(UnOp, Box<Expr>),
    /// Two operands of one type (shift amounts are `Bit` of any width).
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// Conversion: zero- or sign-extends by the operand's type, or truncates; bool to and from `bit<1>`.
    Cast(Box<Expr>),
    /// Bits `hi` down to `lo`.
    Slice(Box<Expr>, u32, u32),
    /// Left operand in the high bits.
    Concat(Box<Expr>, Box<Expr>),
    /// `condition ? a : b`.
    Mux(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// Unary operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnOp {
    /// `-`, modulo 2^W.
    Neg,
    /// `~`.
    BitNot,
    /// `!`.
    Not,
}

/// Binary operators. Signedness follows the operands' type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    /// Division and remainder: `bit` only; by zero gives zero.
    Div,
    Mod,
    /// Saturating.
    AddSat,
    SubSat,
    And,
    Or,
    Xor,
    Shl,
    /// Arithmetic for `int`.
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Short-circuit; operands have no side effects, so this is only a matter of speed.
    LAnd,
    LOr,
}
