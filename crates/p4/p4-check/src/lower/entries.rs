//! Which entries does a table start with, and in which order do they win? (P4_16 §14.2.1.4)

use super::cx::Cx;
use super::declared::{Key, Listed};
use crate::names::scope::Entity;
use crate::names::sink::{R, count};
use crate::types::wide::{known_numbers, numbers};
use crate::types::*;
use p4_ir::{Bits, TableId};
use p4_syntax::{Diagnostic, Span, ast};
use program::{Entry, KeyMatch, MatchKind};
use std::collections::{HashMap, hash_map};

impl<'a> Cx<'a> {
    /// The table's own entries, and whether they are constant.
    pub(crate) fn entries(
        &mut self,
        decl: &'a ast::TableDecl,
        table: TableId,
        keys: &[Key],
        listed: &[Listed<'a>],
    ) -> R<(Vec<Entry>, bool)> {
        let at = |key: bool| {
            decl.properties.iter().position(|p| match p.kind {
                ast::TablePropertyKind::Key(_) => key,
                ast::TablePropertyKind::Entries(_) => !key,
                _ => false,
            })
        };
        if let (Some(key), Some(entries)) = (at(true), at(false))
            && entries < key
        {
            return Err(self.error("table", decl.properties[entries].span, "the entries must stand after the key"));
        }
        let Some((is_const, entries)) = decl.entries() else {
            self.priorities(decl, false, keys, &[])?;
            return Ok((Vec::new(), false));
        };
        if keys.is_empty() && !entries.is_empty() {
            return Err(self.error("table", entries[0].span, "a table without keys cannot have entries"));
        }
        let order = self.priorities(decl, is_const, keys, entries)?;
        let mut out: Vec<Entry> = Vec::new();
        let mut first: HashMap<(u32, Vec<KeyMatch>), Span> = HashMap::new();
        let mut failed = None;
        for (e, priority) in entries.iter().zip(order) {
            match self.entry(e, table, keys, listed, priority) {
                Ok(entry) => {
                    match first.entry((entry.priority, entry.keys.clone())) {
                        hash_map::Entry::Occupied(other) => {
                            let d = Diagnostic::error("duplicate", e.keyset.span, "this entry repeats another");
                            failed = Some(self.report(d.with_place(*other.get(), "the other one")));
                        }
                        hash_map::Entry::Vacant(slot) => {
                            slot.insert(e.keyset.span);
                        }
                    }
                    out.push(entry);
                }
                Err(e) => failed = Some(e),
            }
        }
        failed.map_or(Ok((out, is_const)), Err)
    }

    /// The priority of each entry as the target takes it: larger wins, 0 where keys are only exact and lpm.
    fn priorities(&mut self, decl: &'a ast::TableDecl, is_const: bool, keys: &[Key], entries: &'a [ast::TableEntry]) -> R<Vec<u32>> {
        let prioritised = keys.iter().any(|k| !matches!(k.kind, MatchKind::Exact | MatchKind::Lpm));
        let largest_wins = match decl.property("largest_priority_wins") {
            Some((_, e)) => {
                let v = self.pure(e, "`largest_priority_wins`")?;
                let b = self.as_bool(v)?;
                matches!(b.kind, p4_ir::ExprKind::Const(b) if b.is_true())
            }
            None => true,
        };
        let delta = match decl.property("priority_delta") {
            Some((_, e)) => {
                let n = self.const_int(e, "`priority_delta`")?;
                match i64::try_from(&n) {
                    Ok(n) if (1..=1 << 20).contains(&n) => n,
                    _ => return Err(self.error("out-of-range", e.span, format!("a priority delta cannot be {n}"))),
                }
            }
            None => 1,
        };
        if is_const && let Some(p) = entries.iter().find_map(|e| e.priority.as_ref()) {
            let d = Diagnostic::error("table", p.span, "constant entries win in the order in which they stand and take no priorities");
            return Err(self.report(d.with_help("write `entries` without `const`")));
        }
        let mut given: Vec<Option<i64>> = Vec::new();
        for e in entries {
            given.push(match &e.priority {
                None => None,
                Some(p) => {
                    if !prioritised {
                        let message = "priorities make no difference in a table of exact and lpm keys";
                        return Err(self.error("table", p.span, message));
                    }
                    let n = self.const_int(p, "a priority")?;
                    match i64::try_from(&n) {
                        Ok(n) if (0..=i64::from(u32::MAX)).contains(&n) => Some(n),
                        _ => return Err(self.error("out-of-range", p.span, format!("a priority cannot be {n}"))),
                    }
                }
            });
        }
        if !prioritised {
            return Ok(vec![0; entries.len()]);
        }
        if let (Some(None), true, Some(first)) = (given.first(), given.iter().any(Option::is_some), entries.first()) {
            let d = Diagnostic::error("table", first.span, "the first entry needs a priority, as a later one has its own");
            return Err(self.report(d.with_help("write `priority = ...:` in front of it")));
        }
        // BMv2's older `@priority(n)`, where the smallest wins, counts for the whole table.
        let mut annotated = Vec::new();
        for (i, e) in entries.iter().enumerate() {
            let n = match ast::find_annotation(&e.action.annotations, "priority") {
                Some(a) => match a.int().and_then(|n| u32::try_from(n).ok()) {
                    Some(n) => Some(n),
                    None => return Err(self.error("annotation", a.span, "a priority is given as `@priority(number)`")),
                },
                None => None,
            };
            annotated.push((n.is_some(), u32::MAX - n.unwrap_or(i as u32 + 1)));
        }
        if annotated.iter().any(|(given, _)| *given) {
            return Ok(annotated.into_iter().map(|(_, p)| p).collect());
        }
        // The first entry without a priority of its own is the highest ("the order in the source", §14.2.1.4).
        let n = entries.len() as i64;
        let mut next = if largest_wins { (n - 1) * delta + 1 } else { 1 };
        let mut out = Vec::new();
        for (e, p) in entries.iter().zip(given) {
            let p = p.unwrap_or(next);
            next = if largest_wins { p - delta } else { p + delta };
            let stored = if largest_wins { p } else { i64::from(u32::MAX) - p };
            match u32::try_from(stored) {
                Ok(p) => out.push(p),
                Err(_) => {
                    let d = Diagnostic::error("out-of-range", e.span, "the priority of this entry would fall below 0");
                    return Err(self.report(d.with_help("give an earlier entry a larger `priority = ...`")));
                }
            }
        }
        if !largest_wins && !is_const {
            // Entries that come later state their priority in the target's terms.
            let span = decl.property("largest_priority_wins").map_or(decl.name.span, |(p, _)| p.span);
            self.warn("priority", span, "priorities of entries added at run time are larger-wins all the same");
        }
        Ok(out)
    }

    fn entry(&mut self, e: &'a ast::TableEntry, table: TableId, keys: &[Key], listed: &[Listed<'a>], priority: u32) -> R<Entry> {
        let matches = self.entry_keys(&e.keyset, keys)?;
        let path = &e.action.path;
        let found = match self.lookup(path)?[0] {
            Entity::Action(i, _) => listed.iter().find(|l| l.index == i),
            _ => return Err(self.error("not-an-action", path.span, format!("`{}` is not an action", path.name.name))),
        };
        let Some(l) = found else {
            let message = format!("action `{}` is not in the table's list of actions", path.name.name);
            return Err(self.error("table", path.span, message));
        };
        if !l.usage.entry {
            return Err(self.error("table", path.span, format!("action `{}` is @defaultonly and cannot be in an entry", l.name)));
        }
        let args = self.entry_args(l.index, e.action.args.as_deref(), l.args, e.action.span)?;
        Ok(Entry { table, keys: matches, priority, action: l.id, args })
    }

    fn entry_keys(&mut self, set: &'a ast::Keyset, keys: &[Key]) -> R<Vec<KeyMatch>> {
        let any = |e: &ast::Expr| matches!(e.kind, ast::ExprKind::DontCare | ast::ExprKind::Default);
        if let [one] = set.elems.as_slice()
            && keys.len() > 1
            && any(one)
        {
            let all: Vec<Vec<KeyMatch>> = keys.iter().map(|k| self.any_match(k, one.span)).collect::<R<_>>()?;
            return Ok(all.concat());
        }
        // `{a, b}` is the older form of `(a, b)`.
        let elems = match set.elems.as_slice() {
            [ast::Expr { kind: ast::ExprKind::List { items, rest: false }, .. }] => items.as_slice(),
            other => other,
        };
        if elems.len() != keys.len() {
            let message = format!("the table has {}, but the entry has {}", count(keys.len(), "key"), elems.len());
            return Err(self.error("arity", set.span, message));
        }
        let all: Vec<Vec<KeyMatch>> = elems.iter().zip(keys).map(|(e, k)| self.entry_key(e, k)).collect::<R<_>>()?;
        Ok(all.concat())
    }

    fn any_match(&mut self, k: &Key, span: Span) -> R<Vec<KeyMatch>> {
        if k.kind == MatchKind::Exact {
            return Err(self.error("table", span, "an exact key needs a value"));
        }
        let any = |width: &u32| match k.kind {
            MatchKind::Lpm => KeyMatch::Lpm { value: 0, prefix_len: 0 },
            MatchKind::Range => KeyMatch::Range { low: 0, high: Bits::mask(*width) },
            MatchKind::Optional => KeyMatch::Optional(None),
            MatchKind::Ternary | MatchKind::Exact => KeyMatch::Ternary { value: 0, mask: 0 },
        };
        Ok(k.widths.iter().map(any).collect())
    }

    /// What an entry says of one key: a match for each number that the key is.
    fn entry_key(&mut self, e: &'a ast::Expr, k: &Key) -> R<Vec<KeyMatch>> {
        match (&e.kind, k.kind) {
            (ast::ExprKind::DontCare | ast::ExprKind::Default, _) => self.any_match(k, e.span),
            (ast::ExprKind::Mask { value, mask }, MatchKind::Ternary | MatchKind::Lpm) => {
                let (values, masks) = (self.set_values(value, &k.ty)?, self.set_masks(mask, &k.ty)?);
                let mut matches = Vec::new();
                for ((v, m), width) in values.into_iter().zip(masks).zip(&k.widths) {
                    if k.kind == MatchKind::Ternary {
                        matches.push(KeyMatch::Ternary { value: v & m, mask: m });
                        continue;
                    }
                    let prefix_len = (m << (128 - width)).leading_ones().min(*width);
                    if m != Bits::mask(*width) & !Bits::mask(width - prefix_len) {
                        return Err(self.error("table", mask.span, "the mask of an lpm key must be a prefix: ones, then zeros"));
                    }
                    matches.push(KeyMatch::Lpm { value: v & m, prefix_len });
                }
                Ok(matches)
            }
            (ast::ExprKind::Mask { .. }, kind) => {
                let message = format!("a mask does not fit a key of kind `{}`", kind_name(kind));
                Err(self.error("table", e.span, message))
            }
            (ast::ExprKind::Range { lo, hi }, MatchKind::Range) => {
                let (low, high) = (self.set_value(lo, &k.ty)?, self.set_value(hi, &k.ty)?);
                if low > high {
                    return Err(self.error("out-of-range", e.span, "the range is empty: its start is above its end"));
                }
                Ok(vec![KeyMatch::Range { low, high }])
            }
            (ast::ExprKind::Range { .. }, kind) => {
                let message = format!("a range does not fit a key of kind `{}`", kind_name(kind));
                Err(self.error("table", e.span, message))
            }
            (_, kind) => {
                let values = self.set_values(e, &k.ty)?;
                let exactly = |(value, width): (u128, &u32)| match kind {
                    MatchKind::Exact => KeyMatch::Exact(value),
                    MatchKind::Lpm => KeyMatch::Lpm { value, prefix_len: *width },
                    MatchKind::Ternary => KeyMatch::Ternary { value, mask: Bits::mask(*width) },
                    MatchKind::Range => KeyMatch::Range { low: value, high: value },
                    MatchKind::Optional => KeyMatch::Optional(Some(value)),
                };
                Ok(values.into_iter().zip(&k.widths).map(exactly).collect())
            }
        }
    }

    /// A constant of the key's type in an entry or a select.
    pub(crate) fn set_value(&mut self, e: &'a ast::Expr, ty: &Type) -> R<u128> {
        let value = self.set_values(e, ty)?;
        one(&value).ok_or_else(|| self.bug(e.span, "a value to match"))
    }

    /// The numbers that such a constant is.
    fn set_values(&mut self, e: &'a ast::Expr, ty: &Type) -> R<Vec<u128>> {
        let v = self.pure(e, "a value to match")?;
        let v = self.coerce(v, ty, "the value to match")?;
        known_numbers(&v.val).ok_or_else(|| self.error("not-const", e.span, "a value to match must be known at compile time"))
    }

    /// A mask for a key: of the key's type, or of the bits below it.
    pub(crate) fn set_mask(&mut self, e: &'a ast::Expr, ty: &Type) -> R<u128> {
        let mask = self.set_masks(e, ty)?;
        one(&mask).ok_or_else(|| self.bug(e.span, "a mask"))
    }

    fn set_masks(&mut self, e: &'a ast::Expr, ty: &Type) -> R<Vec<u128>> {
        let v = self.pure(e, "a mask")?;
        let plain = match ty {
            Type::Enum(en) => en.underlying.as_ref().map(|t| bottom(t).clone()),
            t => Some(bottom(t).clone()),
        };
        let own = v.ty == *ty;
        let v = match plain {
            Some(t) if !own => self.coerce(v, &t, "the mask")?,
            _ => v,
        };
        let widths = numbers(ty).into_iter().flatten().map(|(_, ty)| Bits::mask(ty.width()));
        match known_numbers(&v.val) {
            Some(masks) => Ok(masks.into_iter().zip(widths).map(|(m, all)| m & all).collect()),
            None => Err(self.error("not-const", e.span, "a mask must be known at compile time")),
        }
    }
}

fn one(numbers: &[u128]) -> Option<u128> {
    if let [n] = numbers { Some(*n) } else { None }
}

fn kind_name(k: MatchKind) -> &'static str {
    match k {
        MatchKind::Exact => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Ternary => "ternary",
        MatchKind::Range => "range",
        MatchKind::Optional => "optional",
    }
}
