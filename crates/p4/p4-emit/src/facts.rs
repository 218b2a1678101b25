//! What is known of the packets of a class ([`crate::class`]) at a place of the program.
//!
//! All packets of a class were parsed alike, so at first everything is known: which headers are valid, at which distance
//! from the packet's first byte each lies, and what the parser has put into variables: constants, or numbers that can
//! be read from the packet again. Where ways meet, less is known.

use cranelift_entity::EntityRef;
use p4_ir::{BinOp, Expr, ExprKind, HeaderId, HeaderRef, UnOp, VarId, arith};
use std::collections::{BTreeMap, BTreeSet};

/// Where a valid header's bytes are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Place {
    /// So many bytes behind the packet's first one, as it was received.
    Packet(u32),
    /// In the context's scratch bytes.
    Scratch,
    /// In C locals, field by field ([`crate::fields`]).
    Fields,
}

/// The valid headers, and where they are.
pub(crate) type Way = BTreeMap<HeaderId, Place>;

/// What a variable holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Known {
    /// A number.
    Const(u128),
    /// What this C text reads, until one of these headers is written to.
    Text(String, BTreeSet<HeaderId>),
}

/// Longest text that stands for a variable.
const MAX_TEXT: usize = 240;
/// Most combinations of valid headers that are told apart.
pub(crate) const MAX_WAYS: usize = 24;

/// All that is known.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Facts {
    /// One of these holds.
    pub ways: BTreeSet<Way>,
    /// What variables hold.
    pub values: BTreeMap<VarId, Known>,
    /// What fields hold.
    pub fields: BTreeMap<(HeaderId, u32), u128>,
    /// Bytes that the packet surely has.
    pub length: u32,
    /// There were more ways than [`MAX_WAYS`], and some have been left out: nothing that is known here may be relied on.
    pub overflow: bool,
    /// Headers that may have been written to since they came.
    pub touched: BTreeSet<HeaderId>,
    /// Fields of headers in the packet whose C locals hold what was written to them ([`crate::fields`]).
    pub held: BTreeSet<(HeaderId, u32)>,
}

impl Facts {
    /// What is known where two ways meet.
    pub(crate) fn meet(&mut self, other: &Facts) {
        self.ways.extend(other.ways.iter().cloned());
        self.overflow |= other.overflow;
        while self.ways.len() > MAX_WAYS {
            // A row of conditions that each make a header valid would double them each time.
            self.overflow = true;
            self.ways.pop_last();
        }
        self.values.retain(|v, known| other.values.get(v) == Some(known));
        self.fields.retain(|f, value| other.fields.get(f) == Some(value));
        self.length = self.length.min(other.length);
        self.touched.extend(&other.touched);
        self.held.retain(|field| other.held.contains(field));
    }

    /// The payload may have changed, and the packet's length: variables that were read from the packet are in the context.
    pub(crate) fn forget_texts(&mut self) {
        self.values.retain(|_, known| matches!(known, Known::Const(_)));
    }

    /// Whether a header is valid, if that is known.
    pub(crate) fn valid(&self, h: HeaderId) -> Option<bool> {
        let n = self.ways.iter().filter(|w| w.contains_key(&h)).count();
        if n == 0 {
            Some(false)
        } else if n == self.ways.len() {
            Some(true)
        } else {
            None
        }
    }

    /// Where a header is wherever it is valid; `None` if it is never valid, an error if that differs.
    pub(crate) fn place(&self, h: HeaderId) -> Result<Option<Place>, ()> {
        let places: BTreeSet<Place> = self.ways.iter().filter_map(|w| w.get(&h).copied()).collect();
        match places.len() {
            0 | 1 => Ok(places.first().copied()),
            _ => Err(()),
        }
    }

    /// A test has shown that a header is valid or not.
    pub(crate) fn assume_valid(&mut self, h: HeaderId, valid: bool) {
        self.ways.retain(|w| w.contains_key(&h) == valid);
    }

    /// A header becomes valid there wherever it is not, or invalid.
    pub(crate) fn set_valid(&mut self, h: HeaderId, place: Option<Place>) {
        self.fields.retain(|(other, _), _| *other != h);
        self.held.retain(|(other, _)| *other != h);
        let ways = std::mem::take(&mut self.ways);
        self.ways = ways
            .into_iter()
            .map(|mut w| {
                match place {
                    Some(place) => drop(w.entry(h).or_insert(place)),
                    None => drop(w.remove(&h)),
                }
                w
            })
            .collect();
    }

    /// A header's bytes have changed.
    pub(crate) fn written(&mut self, h: HeaderId) {
        self.touched.insert(h);
        self.values.retain(|_, known| !matches!(known, Known::Text(_, of) if of.contains(&h)));
        self.fields.retain(|(other, _), _| *other != h);
        self.held.retain(|(other, _)| *other != h);
    }

    /// One of its fields has changed; `held`: its C local holds the new value.
    pub(crate) fn written_field(&mut self, h: HeaderId, index: u32, held: bool) {
        let others: Vec<_> = self.held.iter().copied().filter(|field| field.0 == h && field.1 != index).collect();
        self.written(h);
        self.held.extend(others);
        if held {
            self.held.insert((h, index));
        }
    }

    /// A condition has shown that an expression is a number.
    pub(crate) fn assume_equal(&mut self, e: &Expr, value: u128) {
        match &e.kind {
            ExprKind::Var(v) => drop(self.values.insert(*v, Known::Const(value))),
            ExprKind::Field(HeaderRef::Static(h), index) if self.valid(*h) == Some(true) => {
                self.fields.insert((*h, *index), value);
            }
            _ => {}
        }
    }

    /// The value of an expression, if it is known.
    pub(crate) fn evaluate(&self, e: &Expr) -> Option<u128> {
        match &e.kind {
            ExprKind::Const(bits) => Some(bits.value()),
            ExprKind::Var(v) => match self.values.get(v) {
                Some(Known::Const(value)) => Some(*value),
                _ => None,
            },
            ExprKind::Field(HeaderRef::Static(h), index) => match self.valid(*h) {
                Some(false) => Some(0),
                Some(true) => self.fields.get(&(*h, *index)).copied(),
                None => None,
            },
            ExprKind::IsValid(HeaderRef::Static(h)) => self.valid(*h).map(u128::from),
            ExprKind::Unary(op, a) => Some(arith::unary(*op, a.ty, self.evaluate(a)?)),
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.evaluate(a), self.evaluate(b));
                match (op, x, y) {
                    (BinOp::LAnd | BinOp::And, Some(0), _) | (BinOp::LAnd | BinOp::And, _, Some(0)) => Some(0),
                    (BinOp::LOr, Some(1), _) | (BinOp::LOr, _, Some(1)) => Some(1),
                    (_, Some(x), Some(y)) => Some(arith::binary(*op, a.ty, x, y)),
                    _ => None,
                }
            }
            ExprKind::Cast(a) => Some(arith::cast(a.ty, e.ty, self.evaluate(a)?)),
            ExprKind::Slice(a, hi, lo) => Some(arith::slice(self.evaluate(a)?, *hi, *lo)),
            ExprKind::Concat(a, b) if a.ty.width() > 0 => Some(arith::concat(self.evaluate(a)?, self.evaluate(b)?, b.ty.width())),
            ExprKind::Mux(condition, a, b) => match self.evaluate(condition) {
                Some(0) => self.evaluate(b),
                Some(_) => self.evaluate(a),
                None => None,
            },
            _ => None,
        }
    }

    /// What a variable holds that is set to an expression with this C text.
    pub(crate) fn known(&self, e: &Expr, text: &str) -> Option<Known> {
        if let Some(value) = self.evaluate(e) {
            return Some(Known::Const(value));
        }
        let mut headers = BTreeSet::new();
        (text.len() <= MAX_TEXT && self.readable(e, &mut headers)).then(|| Known::Text(text.to_owned(), headers))
    }

    /// Whether an expression is made of what can be read again later; from which headers.
    fn readable(&self, e: &Expr, headers: &mut BTreeSet<HeaderId>) -> bool {
        if self.evaluate(e).is_some() {
            return true;
        }
        match &e.kind {
            ExprKind::Var(v) => match self.values.get(v) {
                Some(Known::Const(_)) => true,
                Some(Known::Text(_, of)) => {
                    headers.extend(of);
                    true
                }
                None => false,
            },
            ExprKind::Field(HeaderRef::Static(h), _) => {
                headers.insert(*h);
                self.valid(*h) == Some(true) && matches!(self.place(*h), Ok(Some(Place::Packet(_))))
            }
            ExprKind::Unary(UnOp::Not | UnOp::BitNot | UnOp::Neg, a) | ExprKind::Cast(a) | ExprKind::Slice(a, ..) => {
                self.readable(a, headers)
            }
            ExprKind::Binary(_, a, b) | ExprKind::Concat(a, b) => self.readable(a, headers) && self.readable(b, headers),
            ExprKind::Mux(a, b, c) => [a, b, c].into_iter().all(|x| self.readable(x, headers)),
            _ => false,
        }
    }
}

/// The bits of validity of a way, a word of 64 headers at a time.
pub(crate) fn valid_bits(way: &Way, word: usize) -> u64 {
    way.keys().filter(|h| h.index() / 64 == word).fold(0, |bits, h| bits | 1 << (h.index() % 64))
}
