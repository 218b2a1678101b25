//! What is a `bit<W>` or `int<W>` wider than the IR's widest value? Pieces of up to that width, side by side, the first one on top.
//!
//! Header fields, variables and parameters of such types are assigned, copied, compared and sliced as structs of pieces; what
//! operators and casts do with the pieces is in [`crate::wide_ops`]. As the key of a table and as a parameter of an action each piece is a
//! key or a parameter of its own, whose name ends in the bits that it is: `address[159:32]`, `address[31:0]`.

use crate::cx::{Cx, R};
use crate::resolve::bottom;
use crate::types::*;
use crate::value::*;
use base::MAX_WIDTH;
use p4_ir::{Expr, Ty};
use p4_syntax::Span;
use std::fmt;
use std::rc::Rc;

impl<'a> Cx<'a> {
    /// The type of that width, above [`MAX_WIDTH`].
    pub(crate) fn wide(&mut self, w: Wide) -> Type {
        self.decls.wide_type(w.width, w.signed, |id| {
            let mut fields = Vec::new();
            for (name, piece) in named_pieces(w.width) {
                fields.push(FieldType { name: name.into(), ty: Type::bit(piece), flat: fields.len() as u32, tags: Vec::new() });
            }
            let leaves = fields.len() as u64;
            Type::Composite(Rc::new(Composite { id, kind: Kind::Struct, name: w.to_string(), fields, leaves, generic: None }))
        })
    }

    /// Bits `hi` down to `lo` of a value of such a type: a place if it is one and they are not too many, else a value.
    pub(crate) fn wide_slice(&mut self, v: &Tv, c: &Rc<Composite>, hi: u32, lo: u32, span: Span) -> R<Tv> {
        if hi - lo >= MAX_WIDTH {
            return self.wide_bits(v, hi, lo, span);
        }
        let mut above: u32 = c.fields.iter().map(|f| f.ty.scalar().map_or(0, |t| t.width())).sum();
        let mut found: Vec<Val> = Vec::new();
        for i in 0..c.fields.len() {
            let piece = self.field(v, c, i, span)?;
            let below = above - piece.ty.scalar().map_or(0, |t| t.width());
            if lo < above && hi >= below {
                let (h, l) = (hi.min(above - 1) - below, lo.max(below) - below);
                found.push(self.slice_of(&piece, &h.into(), &l.into(), span)?.val);
            }
            above = below;
        }
        let ty = Type::bit(hi - lo + 1);
        match found.len() {
            1 => Ok(Tv { ty, val: found.swap_remove(0), access: v.access, span }),
            _ if found.iter().all(|p| p.place().is_some()) => Ok(Tv { ty, val: Val::Joined(found.into()), access: v.access, span }),
            _ => self.wide_bits(v, hi, lo, span),
        }
    }
}

/// What such a type is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wide {
    /// In bits.
    pub width: u32,
    /// Whether it is `int<W>`.
    pub signed: bool,
}

/// P4's spelling: also how it is told from a struct of the program.
impl fmt::Display for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<{}>", if self.signed { "int" } else { "bit" }, self.width)
    }
}

/// What a type of that kind is.
pub(crate) fn wide_of(t: &Type) -> Option<Wide> {
    let Type::Composite(c) = t else { return None };
    let (signed, rest) = match c.name.strip_prefix("bit<") {
        Some(rest) => (false, rest),
        None => (true, c.name.strip_prefix("int<")?),
    };
    Some(Wide { width: rest.strip_suffix('>')?.parse().ok()?, signed })
}

/// The numbers that a value of this type is for the control plane, each with the end of its name and its type: one without an end, or
/// pieces. `None` if it is none.
pub(crate) fn numbers(t: &Type) -> Option<Vec<(String, Ty)>> {
    match (t.scalar(), wide_of(bottom(t))) {
        (Some(ty), _) => Some(vec![(String::new(), ty)]),
        (None, Some(w)) => Some(named_pieces(w.width).map(|(name, width)| (name, Ty::Bit(width))).collect()),
        (None, None) => None,
    }
}

/// The expressions of these numbers.
pub(crate) fn number_exprs(v: &Val) -> Option<Vec<Expr>> {
    match v {
        Val::Agg(pieces) => pieces.iter().map(Val::scalar).collect(),
        v => Some(vec![v.scalar()?]),
    }
}

/// These numbers, if they are known at compile time.
pub(crate) fn known_numbers(v: &Val) -> Option<Vec<u128>> {
    match v {
        Val::Agg(pieces) => pieces.iter().map(|p| p.bits().map(|b| b.value())).collect(),
        v => Some(vec![v.bits()?.value()]),
    }
}

/// The pieces of a value by name and width, the top one first.
fn named_pieces(width: u32) -> impl Iterator<Item = (String, u32)> {
    pieces(width).scan(width, |high, piece| {
        let top = std::mem::replace(high, *high - piece);
        Some((format!("[{}:{}]", top - 1, *high), piece))
    })
}

/// The widths of the pieces of a value, the top one first.
pub(crate) fn pieces(width: u32) -> impl Iterator<Item = u32> {
    (0..width.div_ceil(MAX_WIDTH)).map(move |i| (width - i * MAX_WIDTH).min(MAX_WIDTH))
}
