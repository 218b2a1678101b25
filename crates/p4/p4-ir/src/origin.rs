//! Where in the source are the constructs that not every target can express?
//!
//! Statements and expressions carry no places: passes move, split and join them freely. What is kept instead, by the front
//! end, is a list beside the program: each construct that some target refuses, with the span of its text, and the spans of
//! parser states, actions and tables. A refusal names a construct and what it stands in; [`Origins::find`] gives the first such
//! construct of the source in there. Where several stand together and a pass has removed one of them, it may be that one.

use crate::{ActionId, PipeId, TableId};

/// A range of bytes of a source file, as the front end numbers files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Origin {
    /// The file.
    pub file: u32,
    /// First byte.
    pub low: u32,
    /// Behind the last one.
    pub high: u32,
}

impl Origin {
    fn contains(&self, other: &Origin) -> bool {
        self.file == other.file && self.low <= other.low && other.high <= self.high
    }
}

/// What a target may refuse.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
#[allow(missing_docs)]
pub enum Construct {
    Product,
    Saturation,
    Shift,
    StackIndex,
    Stack,
    Varbit,
    Loop,
    Table,
    ParserLoop,
    ValueSet,
    Checksum,
    Hash,
    Random,
    Digest,
    Truncate,
    Copies,
    Service,
    Multicast,
    Counter,
    Meter,
    Register,
    Parsing,
    Emit,
}

impl Construct {
    /// In words, for counting what is refused.
    pub fn name(self) -> &'static str {
        match self {
            Construct::Product => "products and quotients of wide numbers",
            Construct::Saturation => "saturating arithmetic of wide numbers with sign",
            Construct::Shift => "shifts of wide numbers with sign",
            Construct::StackIndex => "an index of a header stack in another's index",
            Construct::Stack => "more headers than bits of a word",
            Construct::Varbit => "varbit fields",
            Construct::Loop => "loops",
            Construct::Table => "tables",
            Construct::ParserLoop => "loops of the parser",
            Construct::ValueSet => "value sets",
            Construct::Checksum => "checksums",
            Construct::Hash => "hash()",
            Construct::Random => "random()",
            Construct::Digest => "digest()",
            Construct::Truncate => "truncate()",
            Construct::Copies => "clone, resubmit and recirculate",
            Construct::Service => "calls of services",
            Construct::Multicast => "multicast",
            Construct::Counter => "counters",
            Construct::Meter => "meters",
            Construct::Register => "registers",
            Construct::Parsing => "parsing outside the parser",
            Construct::Emit => "emit",
        }
    }
}

/// Something with a name that constructs stand in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Holder {
    /// A parser state, by its name in the IR, as passes renumber them.
    State(String),
    /// An action that tables run.
    Action(ActionId),
    /// A table.
    Table(TableId),
    /// The deparser of a pipe.
    Deparser(PipeId),
}

/// The list.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    constructs: Vec<(Construct, Origin)>,
    holders: Vec<(Holder, Origin)>,
    main: Option<Origin>,
}

impl Origins {
    /// Notes a construct. One that is lowered at several places is noted once.
    pub fn note(&mut self, construct: Construct, origin: Origin) {
        if self.constructs.last() != Some(&(construct, origin)) {
            self.constructs.push((construct, origin));
        }
    }

    /// Notes what constructs stand in.
    pub fn hold(&mut self, holder: Holder, origin: Origin) {
        self.holders.push((holder, origin));
    }

    /// Notes where `main` is: the place of a refusal that has no other.
    pub fn note_main(&mut self, origin: Origin) {
        self.main = Some(origin);
    }

    /// Where `main` is.
    pub fn main(&self) -> Option<Origin> {
        self.main
    }

    /// A holder's own span.
    pub fn holder(&self, holder: &Holder) -> Option<Origin> {
        self.holders.iter().find(|(other, _)| other == holder).map(|(_, origin)| *origin)
    }

    /// The first such construct in the holder; else the first one anywhere; else the holder.
    pub fn find(&self, construct: Construct, holder: Option<&Holder>) -> Option<Origin> {
        let outer = holder.and_then(|h| self.holder(h));
        let all = || self.constructs.iter().filter(|(c, _)| *c == construct).map(|(_, origin)| *origin);
        let inside = outer.and_then(|outer| all().filter(|o| outer.contains(o)).min());
        inside.or_else(|| all().min()).or(outer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_one_in_the_holder_is_found_then_any_then_the_holder() {
        let at = |low, high| Origin { file: 0, low, high };
        let mut origins = Origins::default();
        for low in [70, 10, 50] {
            origins.note(Construct::Hash, at(low, low + 4));
        }
        origins.hold(Holder::State("a".into()), at(40, 80));
        origins.hold(Holder::State("b".into()), at(90, 95));
        let (a, b) = (Holder::State("a".into()), Holder::State("b".into()));
        assert_eq!(origins.find(Construct::Hash, Some(&a)), Some(at(50, 54)));
        assert_eq!(origins.find(Construct::Hash, Some(&b)), Some(at(10, 14)));
        assert_eq!(origins.find(Construct::Hash, None), Some(at(10, 14)));
        assert_eq!(origins.find(Construct::Random, Some(&b)), Some(at(90, 95)));
        assert_eq!(origins.find(Construct::Random, None), None);
    }
}
