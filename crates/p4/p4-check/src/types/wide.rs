//! What is a `bit<W>` or `int<W>` wider than the IR's widest value? Pieces of up to that width, side by side, the first one on top.
//!
//! Header fields, variables and parameters of such types are assigned, copied, compared and sliced as structs of pieces; what
//! operators and casts do with the pieces is in `wide_ops.rs`. As the key of a table and as a parameter of an action each piece is a
//! key or a parameter of its own, whose name ends in the bits that it is: `address[159:32]`, `address[31:0]`.

use super::ty::bottom;
use super::ty::*;
use super::value::Val;
use base::MAX_WIDTH;
use p4_ir::{Expr, Ty};

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
pub(crate) fn named_pieces(width: u32) -> impl Iterator<Item = (String, u32)> {
    pieces(width).scan(width, |high, piece| {
        let top = std::mem::replace(high, *high - piece);
        Some((format!("[{}:{}]", top - 1, *high), piece))
    })
}

/// The widths of the pieces of a value, the top one first.
pub(crate) fn pieces(width: u32) -> impl Iterator<Item = u32> {
    (0..width.div_ceil(MAX_WIDTH)).map(move |i| (width - i * MAX_WIDTH).min(MAX_WIDTH))
}
