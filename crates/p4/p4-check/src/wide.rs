//! What is a `bit<W>` or `int<W>` wider than the IR's widest value? Pieces of up to that width, side by side, the first one on top.
//!
//! Header fields, variables and parameters of such types are assigned, copied, compared and sliced as structs of pieces; what
//! operators and casts do with the pieces is in [`crate::wide_ops`]. They cannot be keys of tables and of selects.

use crate::cx::{Cx, R};
use crate::types::*;
use crate::value::*;
use base::MAX_WIDTH;
use p4_syntax::Span;
use std::fmt;
use std::rc::Rc;

impl<'a> Cx<'a> {
    /// The type of that width, above [`MAX_WIDTH`].
    pub(crate) fn wide(&mut self, w: Wide) -> Type {
        self.decls.wide_type(w.width, w.signed, |id| {
            let mut fields = Vec::new();
            let mut high = w.width;
            for piece in pieces(w.width) {
                let name = format!("[{}:{}]", high - 1, high - piece);
                fields.push(FieldType { name: name.into(), ty: Type::bit(piece), flat: fields.len() as u32, tags: Vec::new() });
                high -= piece;
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

/// The widths of the pieces of a value, the top one first.
pub(crate) fn pieces(width: u32) -> impl Iterator<Item = u32> {
    (0..width.div_ceil(MAX_WIDTH)).map(move |i| (width - i * MAX_WIDTH).min(MAX_WIDTH))
}
