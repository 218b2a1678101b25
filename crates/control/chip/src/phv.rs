//! Allocation of packet header vector containers to headers and metadata.
//!
//! Whole-pipeline allocation: what a stage reads or writes has its containers from end to end. Headers that no packet has together
//! share containers. The bytes of headers that only parser and deparser see lie in containers that stages do not reach.
//! Not modelled: groups of containers, fields that must share one, sharing by the stages in which metadata live.

use crate::describe::{Containers, Phv};
use crate::lack::{Fault, Lack};
use crate::parse::after;
use crate::sites::{Loc, Sites, width};
use p4_ir::walk::all_stmts;
use p4_ir::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Limit of parser states for which exclusion is computed.
const MOST_STATES: usize = 2000;

/// Containers in use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PhvUse {
    /// That stages reach: bits of a container, how many are used, how many there are.
    pub normal: Vec<(u64, u64, u64)>,
    /// That only parser and deparser reach, or stages copy.
    pub tagalong: Vec<(u64, u64, u64)>,
    /// Bits of containers of the first kind that are used.
    pub bits: u64,
    /// Of these there are.
    pub bits_of: u64,
}

/// Allocates for the pipes of a pipeline together.
pub(crate) fn phv_use(ir: &Ir, pipes: &[(PipeId, Sites)], phv: &Phv, lacks: &mut Vec<Lack>) -> PhvUse {
    let mut normal = Pool::new(&phv.normal);
    let mut tagalong = Pool::new(&phv.tagalong);
    let mut needed = 0;
    let mut fits = true;
    for (pipe, sites) in pipes {
        let wants = wants(ir, &ir.pipes[*pipe], sites);
        for bytes in wants.hidden {
            if !tagalong.take_bytes(bytes) {
                // What does not fit there takes the others' room.
                fits &= normal.take_bytes(bytes);
                needed += bytes * 8;
            }
        }
        for bytes in wants.reached {
            needed += bytes * 8;
            fits &= normal.take_bytes(bytes);
        }
        for bits in wants.metadata {
            needed += bits.div_ceil(8) * 8;
            fits &= normal.take_bytes(bits.div_ceil(8));
        }
        needed += wants.flags.div_ceil(8) * 8;
        for _ in 0..wants.flags.div_ceil(8) {
            fits &= normal.take_bytes(1);
        }
    }
    let bits_of = phv.normal.iter().map(|c| c.bits * c.count).sum();
    if !fits {
        lacks.push(Lack::of("", Fault::Containers { needed_bits: needed, of_bits: bits_of }));
    }
    let bits = normal.used().iter().map(|(bits, used, _)| bits * used).sum();
    PhvUse { normal: normal.used(), tagalong: tagalong.used(), bits, bits_of }
}

/// What one pipe wants.
struct Wants {
    /// Bytes of headers, a slot each, that stages reach; and that they do not.
    reached: Vec<u64>,
    hidden: Vec<u64>,
    /// Widths of metadata wider than a flag.
    metadata: Vec<u64>,
    /// Bits that share containers: validity and flags.
    flags: u64,
}

fn wants(ir: &Ir, pipe: &Pipe, sites: &Sites) -> Wants {
    let mut touched: BTreeSet<Loc> = BTreeSet::new();
    for s in &sites.all {
        touched.extend(s.match_reads.iter().chain(&s.action_reads).chain(&s.writes));
    }
    let mut present: BTreeSet<HeaderId> = BTreeSet::new();
    for id in ir.states_from(pipe.parser.start) {
        all_stmts(&ir.states[id].body, &mut |s| {
            if let Stmt::Extract { header, .. } = s {
                present.extend(elements(ir, header));
            }
        });
    }
    all_stmts(&pipe.deparser, &mut |s| {
        if let Stmt::Emit(h) = s {
            present.extend(elements(ir, h));
        }
    });
    let travels = present.clone();
    present.extend(touched.iter().filter_map(|l| match l {
        Loc::Field(h, _) | Loc::Valid(h) => Some(*h),
        _ => None,
    }));
    // Bytes of each header: reached by stages, or not.
    let mut slots: BTreeMap<HeaderId, (u64, u64)> = BTreeMap::new();
    for h in &present {
        let ty = &ir.header_types[ir.headers[*h].ty];
        let mut bytes: BTreeSet<u64> = BTreeSet::new();
        for (i, f) in ty.fields.iter().enumerate() {
            if touched.contains(&Loc::Field(*h, i as u32)) && !f.varbit {
                let (from, to) = (u64::from(f.offset_bits), u64::from(f.offset_bits + f.ty.width()));
                bytes.extend(from / 8..to.div_ceil(8));
            }
        }
        let all = u64::from(ty.fixed_bits).div_ceil(8);
        let seen = bytes.len() as u64;
        // A header that is neither parsed nor sent is only what the stages make of it.
        let hidden = if travels.contains(h) { all.saturating_sub(seen) } else { 0 };
        slots.insert(*h, (seen, hidden));
    }
    let overlay = Overlay::of(ir, pipe);
    let group = |part: &dyn Fn(&(u64, u64)) -> u64| {
        let mut order: Vec<HeaderId> = present.iter().copied().collect();
        order.sort_by_key(|h| (std::cmp::Reverse(part(&slots[h])), *h));
        let mut groups: Vec<(u64, Vec<HeaderId>)> = Vec::new();
        for h in order {
            let size = part(&slots[&h]);
            if size == 0 {
                continue;
            }
            match groups.iter_mut().find(|(_, members)| members.iter().all(|m| overlay.exclusive(*m, h))) {
                Some((_, members)) => members.push(h),
                None => groups.push((size, vec![h])),
            }
        }
        groups.into_iter().map(|(size, _)| size).collect::<Vec<_>>()
    };
    let mut wants = Wants { reached: group(&|s| s.0), hidden: group(&|s| s.1), metadata: Vec::new(), flags: present.len() as u64 };
    for l in &touched {
        if let Loc::Var(_) | Loc::Temp(..) = l {
            let bits = u64::from(width(ir, *l));
            if bits < 5 { wants.flags += bits } else { wants.metadata.push(bits) }
        }
    }
    wants.metadata.sort_by_key(|b| std::cmp::Reverse(*b));
    wants
}

fn elements(ir: &Ir, h: &HeaderRef) -> Vec<HeaderId> {
    match h {
        HeaderRef::Static(id) => vec![*id],
        HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _) => ir.stacks[*s].elements.clone(),
    }
}

/// Which headers no packet has together.
struct Overlay {
    /// Headers that may be together.
    together: BTreeSet<(HeaderId, HeaderId)>,
    /// That stages make valid, so that they may be with any.
    made: BTreeSet<HeaderId>,
    known: bool,
}

impl Overlay {
    fn of(ir: &Ir, pipe: &Pipe) -> Overlay {
        let mut made = BTreeSet::new();
        let controls = pipe.controls.iter().map(|c| &c.body);
        for block in controls.chain(ir.actions.values().map(|a| &a.body)) {
            all_stmts(block, &mut |s| match s {
                Stmt::SetValid(h, true) | Stmt::CopyHeader { dst: h, .. } => made.extend(elements(ir, h)),
                Stmt::CopyStack { dst: s, .. } | Stmt::Push(s, _) | Stmt::Pop(s, _) => made.extend(ir.stacks[*s].elements.iter().copied()),
                _ => {}
            });
        }
        let states = ir.states_from(pipe.parser.start);
        let mut together = BTreeSet::new();
        let known = states.len() <= MOST_STATES;
        let takes: BTreeMap<StateId, BTreeSet<HeaderId>> = states
            .iter()
            .map(|id| {
                let mut taken = BTreeSet::new();
                all_stmts(&ir.states[*id].body, &mut |s| {
                    if let Stmt::Extract { header, .. } = s {
                        taken.extend(elements(ir, header));
                    }
                });
                (*id, taken)
            })
            .collect();
        for from in states.iter().filter(|_| known) {
            if takes[from].is_empty() {
                continue;
            }
            let mut seen = BTreeSet::new();
            let mut todo = vec![*from];
            while let Some(id) = todo.pop() {
                if seen.insert(id) {
                    todo.extend(after(&ir.states[id].next));
                }
            }
            for a in &takes[from] {
                for b in seen.iter().flat_map(|s| &takes[s]) {
                    together.insert((*a, *b));
                    together.insert((*b, *a));
                }
            }
        }
        Overlay { together, made, known }
    }

    fn exclusive(&self, a: HeaderId, b: HeaderId) -> bool {
        self.known && !self.made.contains(&a) && !self.made.contains(&b) && !self.together.contains(&(a, b))
    }
}

/// Containers that are left.
struct Pool {
    /// Bits, left, there; widest first.
    left: Vec<(u64, u64, u64)>,
}

impl Pool {
    fn new(kinds: &[Containers]) -> Pool {
        let mut left: Vec<(u64, u64, u64)> = kinds.iter().map(|c| (c.bits, c.count, c.count)).collect();
        left.sort_by_key(|k| std::cmp::Reverse(k.0));
        Pool { left }
    }

    /// Containers for so many bytes: the widest that are filled, then the narrowest that hold the rest; wider ones where
    /// those have run out. False, and nothing taken, if there are too few.
    fn take_bytes(&mut self, bytes: u64) -> bool {
        let before = self.left.clone();
        let mut bits = bytes * 8;
        while bits > 0 {
            let full = self.left.iter_mut().find(|(width, left, _)| *left > 0 && *width <= bits);
            let chosen = match full {
                Some(k) => Some(k),
                None => self.left.iter_mut().rev().find(|(_, left, _)| *left > 0),
            };
            let Some((width, left, _)) = chosen else {
                self.left = before;
                return false;
            };
            *left -= 1;
            bits = bits.saturating_sub(*width);
        }
        true
    }

    fn used(&self) -> Vec<(u64, u64, u64)> {
        self.left.iter().map(|(bits, left, of)| (*bits, of - left, *of)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_filled_from_wide_to_narrow() {
        let kinds = [Containers { bits: 8, count: 2 }, Containers { bits: 16, count: 2 }, Containers { bits: 32, count: 2 }];
        let mut pool = Pool::new(&kinds);
        assert!(pool.take_bytes(7));
        assert_eq!(pool.used(), [(32, 1, 2), (16, 1, 2), (8, 1, 2)]);
        assert!(pool.take_bytes(4) && pool.take_bytes(1) && pool.take_bytes(1), "one byte in the 16 bits that are left");
        assert_eq!(pool.used(), [(32, 2, 2), (16, 2, 2), (8, 2, 2)]);
        assert!(!pool.take_bytes(1));
    }
}
