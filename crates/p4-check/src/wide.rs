//! What is a `bit<W>` wider than the IR's widest value? Pieces of up to that width, side by side, the first one on top.
//!
//! Header fields, variables and parameters of such types exist, are assigned, copied, compared and sliced; arithmetic on
//! them, casts and literals do not.

use crate::consteval;
use crate::cx::{Cx, R};
use crate::types::*;
use crate::value::*;
use base::MAX_WIDTH;
use p4_syntax::Span;
use std::rc::Rc;

impl<'a> Cx<'a> {
    /// The type of that width, above [`MAX_WIDTH`].
    pub fn wide(&mut self, width: u32) -> Type {
        if let Some(t) = self.wide_types.get(&width) {
            return t.clone();
        }
        let mut fields = Vec::new();
        let mut high = width;
        while high > 0 {
            let piece = high.min(MAX_WIDTH);
            let name = format!("[{}:{}]", high - 1, high - piece);
            fields.push(FieldType { name: name.into(), ty: Type::bit(piece), flat: fields.len() as u32, tags: Vec::new() });
            high -= piece;
        }
        self.next_type_id += 1;
        let leaves = fields.len() as u64;
        let composite = Composite { id: self.next_type_id, kind: Kind::Struct, name: wide_name(width), fields, leaves, generic: None };
        let ty = Type::Composite(Rc::new(composite));
        self.wide_types.insert(width, ty.clone());
        ty
    }

    /// Bits `hi` down to `lo` of a value of such a type: a place where they lie in one piece, else a value.
    pub fn wide_slice(&mut self, v: &Tv, c: &Rc<Composite>, hi: u32, lo: u32, span: Span) -> R<Tv> {
        if hi - lo >= MAX_WIDTH {
            return Err(self.unsupported(span, format!("a slice of more than {MAX_WIDTH} bits")));
        }
        let mut above: u32 = c.fields.iter().map(|f| f.ty.scalar().map_or(0, |t| t.width())).sum();
        let mut found: Option<Tv> = None;
        for i in 0..c.fields.len() {
            let piece = self.field(v, c, i, span)?;
            let below = above - piece.ty.scalar().map_or(0, |t| t.width());
            if lo < above && hi >= below {
                let (h, l) = (hi.min(above - 1) - below, lo.max(below) - below);
                let part = self.slice_of(&piece, &h.into(), &l.into(), span)?;
                found = Some(match found {
                    None => part,
                    Some(high) => {
                        let (Some(a), Some(b)) = (high.val.scalar(), part.val.scalar()) else {
                            return Err(self.bug(span, "a slice of this"));
                        };
                        Tv::expr(Type::bit(a.ty.width() + b.ty.width()), consteval::concat(a, b), span)
                    }
                });
            }
            above = below;
        }
        found.ok_or_else(|| self.bug(span, "a slice of this"))
    }
}

/// How such a type is spelled: also how it is told from a struct of the program.
pub(crate) fn wide_name(width: u32) -> String {
    format!("bit<{width}>")
}

/// The width of such a type.
pub(crate) fn wide_width(t: &Type) -> Option<u32> {
    match t {
        Type::Composite(c) => c.name.strip_prefix("bit<")?.strip_suffix('>')?.parse().ok(),
        _ => None,
    }
}
