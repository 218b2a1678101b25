//! Why a program does not fit a chip: what ran out or is not possible, at which table or state, and in which stage.

use crate::resource::Resource;

/// One reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The table, register, parser state or piece of code; empty where the program as a whole is meant.
    pub at: String,
    /// The stage, from 0, where it is about one.
    pub stage: Option<usize>,
    /// What.
    pub fault: Fault,
}

/// What ran out or cannot be done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Fault {
    /// A stage has too little left, and there is no later one.
    Resource {
        resource: Resource,
        needed: u64,
        left: u64,
    },
    /// Even an empty stage has too little.
    AnyStage {
        resource: Resource,
        needed: u64,
        of: u64,
    },
    /// What it depends on ends in the last stage. The chain, in order.
    Stages {
        chain: Vec<String>,
    },
    /// Two places of one table or of its cells depend on each other.
    Cycle,
    /// A packet can reach it twice.
    Twice,
    /// Its cells are in another stage already.
    Apart {
        cells: String,
    },
    /// A table that spans stages cannot have indexed cells, which live in one.
    Spans {
        cells: String,
    },
    /// Containers.
    Containers {
        needed_bits: u64,
        of_bits: u64,
    },
    ParserRows {
        needed: u64,
        of: u64,
    },
    ParserDepth {
        needed: u64,
        of: u64,
    },
    ParserChecksums {
        needed: u64,
        of: u64,
    },
    DeparserEntries {
        needed: u64,
        of: u64,
    },
    DeparserChecksums {
        needed: u64,
        of: u64,
    },
    Comparisons {
        needed: u64,
        of: u64,
    },
    RegisterWidth {
        needed: u64,
        of: u64,
    },
    RegisterPrograms {
        needed: u64,
        of: u64,
    },
    Digests {
        needed: u64,
        of: u64,
    },
    /// A parser moves fields; it does not compute.
    ParserArithmetic(String),
    Varbit,
    /// The length of such a field follows from more than a parser selects on.
    VarbitLength(String),
    /// More is extracted behind such a field.
    BehindVarbit,
    Loop,
    Truncate,
    StackIndex,
    HashRange,
    Arithmetic(String),
    Shift(String),
    Wide(String),
    /// An action that would take several stages.
    SeveralSteps(String),
    /// An action that goes by a condition.
    Decides(String),
    /// A condition on what must be computed first.
    Compares(String),
    /// More than a gateway looks at.
    Condition {
        pairs: u64,
        equal: u64,
        order: u64,
    },
    /// More than a register's ALU does in one go.
    RegisterProgram(String),
    RegisterOperands {
        needed: u64,
        of: u64,
    },
    /// Cells of a width that no ALU has.
    RegisterCell(u64),
    /// Reached by some of the actions that entries name.
    SomeActions {
        cells: String,
    },
    /// Reached by data of the entry in one action and by the packet in another.
    SeveralWays {
        cells: String,
    },
    PrefixAndMask,
    RangeWidth {
        needed: u64,
        of: u64,
    },
    TooLarge,
    Entries {
        needed: u64,
        of: u64,
    },
    Tables {
        needed: u64,
        of: u64,
    },
    Memory {
        needed: u64,
        left: u64,
    },
    /// Sizes name something that the program does not have.
    Unknown,
    /// The chip is of the other kind.
    Kind,
    /// So many pipelines, where one is asked for.
    Pipelines(usize),
}

impl Lack {
    pub(crate) fn of(at: &str, fault: Fault) -> Lack {
        Lack { at: at.to_owned(), stage: None, fault }
    }
}

impl std::fmt::Display for Lack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.at.is_empty() {
            write!(f, "{}: ", self.at)?;
        }
        if let Some(stage) = self.stage {
            write!(f, "stage {stage}: ")?;
        }
        match &self.fault {
            Fault::Resource { resource, needed, left } => write!(f, "{}: {needed} needed, {left} left", resource.name()),
            Fault::AnyStage { resource, needed, of } => write!(f, "{}: {needed} needed, a whole stage has {of}", resource.name()),
            Fault::Stages { chain } => write!(f, "stages: it waits for {}", chain.join(", then ")),
            Fault::Cycle => f.write_str("its places depend on each other, but it is in one place"),
            Fault::Twice => f.write_str("a packet can reach it twice; the chip reaches it once"),
            Fault::Apart { cells } => write!(f, "{cells} is in another stage already"),
            Fault::Spans { cells } => write!(f, "the table spans stages, but {cells} lives in one"),
            Fault::Containers { needed_bits, of_bits } => {
                write!(f, "packet header vector: {needed_bits} bits of containers needed, there are {of_bits}")
            }
            Fault::ParserRows { needed, of } => write!(f, "parser TCAM rows: {needed} needed, there are {of}"),
            Fault::ParserDepth { needed, of } => write!(f, "parser depth: at least {needed} bytes, the parser reaches {of}"),
            Fault::ParserChecksums { needed, of } => write!(f, "parser checksum units: {needed} needed, there are {of}"),
            Fault::DeparserEntries { needed, of } => write!(f, "deparser entries: {needed} needed, there are {of}"),
            Fault::DeparserChecksums { needed, of } => write!(f, "deparser checksum units: {needed} needed, there are {of}"),
            Fault::Comparisons { needed, of } => write!(f, "comparisons of the stateful ALU: {needed} needed, there are {of}"),
            Fault::RegisterWidth { needed, of } => write!(f, "register cell: {needed} bits, the stateful ALU has {of}"),
            Fault::RegisterPrograms { needed, of } => write!(f, "programs of the stateful ALU: {needed} needed, there are {of}"),
            Fault::Digests { needed, of } => write!(f, "kinds of digests: {needed} needed, there are {of}"),
            Fault::ParserArithmetic(e) => write!(f, "the parser cannot compute {e}"),
            Fault::Varbit => f.write_str("fields of variable length are extracted and emitted only, not set, copied or compared"),
            Fault::VarbitLength(e) => write!(
                f,
                "the length of a field of variable length must be a constant, or follow in whole bytes from one field of at most {} bits, not {e}",
                crate::varbit::MOST_BITS
            ),
            Fault::BehindVarbit => {
                f.write_str("a field of variable length must be the last that a state extracts: extract what follows in the next state")
            }
            Fault::Loop => f.write_str("there are no loops"),
            Fault::Truncate => f.write_str("packets are not truncated"),
            Fault::StackIndex => f.write_str("the index of a header stack must be a constant"),
            Fault::HashRange => f.write_str("the range of a hash must be constant"),
            Fault::Arithmetic(e) => write!(f, "there is no multiplier or divider for {e}"),
            Fault::Shift(e) => write!(f, "shifts are by constants only, not {e}"),
            Fault::Wide(e) => write!(f, "no sums of more than 64 bits: {e}"),
            Fault::SeveralSteps(e) => {
                write!(f, "an action runs in one stage, and {e} works on what is computed in it: make it two actions")
            }
            Fault::Decides(c) => {
                write!(f, "an action cannot decide by {c}: test it where the action is called, or make it part of the table's key")
            }
            Fault::Compares(c) => write!(f, "a condition compares fields as they are, not {c}: compute it in metadata before"),
            Fault::Condition { pairs, equal, order } => write!(
                f,
                "the condition compares {pairs} bytes of fields with others, {equal} bits with constants and {order} for more or less; there is room for 4 bytes, and 12 bits besides"
            ),
            Fault::RegisterProgram(e) => {
                write!(f, "the stateful ALU does one sum or logical operation of at most 32 bits for a value, and no shifts: {e}")
            }
            Fault::RegisterOperands { needed, of } => {
                write!(f, "operands of the stateful ALU from the packet: {needed} needed, there are {of}")
            }
            Fault::RegisterCell(bits) => write!(f, "register cell: {bits} bits; the stateful ALU has cells of 1, 8, 16, 32 and 64"),
            Fault::SomeActions { cells } => {
                write!(f, "{cells} must be used by all actions that entries may name, or by none: mark the others @defaultonly")
            }
            Fault::SeveralWays { cells } => {
                write!(f, "all actions must give {cells} its index in one way: from the entry, or from the same field")
            }
            Fault::PrefixAndMask => f.write_str("a table cannot match one field by lpm and another by ternary or range"),
            Fault::RangeWidth { needed, of } => write!(f, "range match of a field of {needed} bits: there are {of}"),
            Fault::TooLarge => f.write_str("the program is too large to be modelled"),
            Fault::Entries { needed, of } => write!(f, "{needed} entries, a table has at most {of}"),
            Fault::Tables { needed, of } => write!(f, "{needed} tables, there can be {of}"),
            Fault::Memory { needed, left } => write!(f, "{needed} bytes of memory needed, no tier has more than {left} left"),
            Fault::Unknown => f.write_str("there is no table, counter, meter or register of that name"),
            Fault::Kind => f.write_str("the chip is of the other kind"),
            Fault::Pipelines(n) => write!(f, "the program has {n} pipelines; the chip runs one of them in each of its pipes"),
        }
    }
}

/// A program that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why: at least one reason; what the chip cannot do at all comes first.
    pub lacks: Vec<Lack>,
    /// Stages that it would take of a chip with more of them, where only their number lacks.
    pub stages_needed: Option<usize>,
}

impl Refusal {
    pub(crate) fn of(lacks: Vec<Lack>) -> Refusal {
        Refusal { lacks, stages_needed: None }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("does not fit (modelled)")?;
        if let Some(n) = self.stages_needed {
            write!(f, "; with more stages of this kind it would take {n}")?;
        }
        for lack in &self.lacks {
            write!(f, "\n  {lack}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
