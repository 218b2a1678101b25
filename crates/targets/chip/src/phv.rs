//! Allocation of packet header vector containers to headers and metadata.
//!
//! Whole-pipeline allocation: what a stage reads or writes has its containers from end to end. Headers that no packet has together
//! share containers, and so do metadata that are not read any more with those that are not yet written. The bytes of headers that only parser
//! and deparser see lie in containers that stages do not reach, and those that stages only read, on a chip that has such, in containers that they
//! cannot compute in.
//! Not modelled: groups of containers, fields that must share one, sharing by metadata that no packet has together.

use crate::describe::{Containers, Phv};
use crate::lack::{Fault, Lack};
use crate::parse::after;
use crate::sites::{Loc, Site, Sites, width};
use crate::varbit::Lengths;
use p4_analysis::effects::architecture;
use p4_ir::walk::{all_stmts, read_vars, stmt_exprs};
use p4_ir::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Metadata of less bits lie side by side in one container.
const FLAG: u64 = 5;
/// Limit of parser states for which exclusion is computed.
const MOST_STATES: usize = 2000;

/// Containers in use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PhvUse {
    /// That stages reach: bits of a container, how many are used, how many there are.
    pub normal: Vec<(u64, u64, u64)>,
    /// That stages read, and set as a whole.
    pub read_only: Vec<(u64, u64, u64)>,
    /// That only parser and deparser reach, or stages copy.
    pub tagalong: Vec<(u64, u64, u64)>,
    /// Bits of containers of the first kind that are used.
    pub bits: u64,
    /// Of these there are.
    pub bits_of: u64,
}

/// Allocates for the pipes of a pipeline together. `span` is the first and the last stage of a node.
pub(crate) fn phv_use(wants: &[Wants], span: &dyn Fn(usize) -> Option<(usize, usize)>, phv: &Phv, lacks: &mut Vec<Lack>) -> PhvUse {
    let mut normal = Pool::new(&phv.normal);
    let mut read_only = Pool::new(&phv.read_only);
    let mut tagalong = Pool::new(&phv.tagalong);
    let mut needed = 0;
    let mut fits = true;
    for wants in wants {
        // Pieces that stay in the packet need no container; those beyond their number do.
        let mut hidden = wants.hidden.clone();
        if let Some(p) = phv.pieces {
            let (mut number, (pieces, beside)) = (p.count, wants.left.clone());
            let beyond = |bytes: &u64| {
                let needed = bytes.div_ceil(p.bytes.max(1));
                let fits = needed <= number;
                number -= if fits { needed } else { 0 };
                !fits
            };
            hidden = pieces.into_iter().filter(beyond).chain(beside).collect();
        }
        for bytes in &hidden {
            if !tagalong.take_bytes(*bytes) && !read_only.take_bytes(*bytes) {
                // What does not fit there takes the others' room.
                fits &= normal.take_bytes(*bytes);
                needed += bytes * 8;
            }
        }
        let (written, read) = if phv.read_only.is_empty() { (&wants.reached, &[][..]) } else { (&wants.written, &wants.read[..]) };
        for bytes in read {
            if !read_only.take_bytes(*bytes) {
                fits &= normal.take_bytes(*bytes);
                needed += bytes * 8;
            }
        }
        for bytes in written {
            needed += bytes * 8;
            fits &= normal.take_bytes(*bytes);
        }
        let (words, flags) = metadata(&wants.metadata, span);
        for (bytes, count) in words {
            needed += bytes * count * 8;
            fits &= (0..count).all(|_| normal.take_bytes(bytes));
        }
        let flags = (flags + wants.headers).div_ceil(8);
        needed += flags * 8;
        fits &= (0..flags).all(|_| normal.take_bytes(1));
    }
    let bits_of = phv.normal.iter().map(|c| c.bits * c.count).sum();
    if !fits {
        lacks.push(Lack::of("", Fault::Containers { needed_bits: needed, of_bits: bits_of }));
    }
    let bits = normal.used().iter().map(|(bits, used, _)| bits * used).sum();
    PhvUse { normal: normal.used(), read_only: read_only.used(), tagalong: tagalong.used(), bits, bits_of }
}

/// Pieces that metadata take at once where they are most, by their bytes, and bits of flags. Each piece of 4, 2 or 1 bytes lies in one place from
/// where it is first written to where it is last read; there another one may be written.
fn metadata(all: &[Metadata], span: &dyn Fn(usize) -> Option<(usize, usize)>) -> ([(u64, u64); 3], u64) {
    // What each size takes more or less of from a moment on. A stage has two: it reads, and then writes.
    let mut changes: [BTreeMap<usize, i64>; 4] = Default::default();
    for m in all.iter().filter(|m| m.travels()) {
        let first = match m.from_parser {
            true => Some(0),
            false => {
                let written = m.written.iter().filter_map(|n| span(*n)).map(|(first, _)| 2 * first + 1);
                // What is read before it is written is cleared just there.
                let read = m.read.iter().filter_map(|n| span(*n)).map(|(first, _)| 2 * first);
                written.chain(read).min()
            }
        };
        let last = match m.to_deparser {
            true => Some(usize::MAX - 1),
            false => {
                let written = m.written.iter().filter_map(|n| span(*n)).map(|(_, last)| 2 * last + 1);
                written.chain(m.read.iter().filter_map(|n| span(*n)).map(|(_, last)| 2 * last)).max()
            }
        };
        let (Some(first), Some(last)) = (first, last) else { continue };
        let mut take = |size: usize, n: i64| {
            *changes[size].entry(first).or_default() += n;
            *changes[size].entry(last + 1).or_default() -= n;
        };
        if m.bits < FLAG {
            take(3, m.bits as i64);
            continue;
        }
        let bytes = m.bits.div_ceil(8);
        take(0, (bytes / 4) as i64);
        take(1, (bytes % 4 / 2) as i64);
        take(2, (bytes % 2) as i64);
    }
    let most = |n: usize| {
        let mut now = 0;
        changes[n].values().fold(0, |most: i64, change| {
            now += change;
            most.max(now)
        }) as u64
    };
    ([(4, most(0)), (2, most(1)), (1, most(2))], most(3))
}

/// What one pipe wants.
pub(crate) struct Wants {
    /// Bytes of headers, a slot each, that stages reach; and that they do not.
    reached: Vec<u64>,
    hidden: Vec<u64>,
    /// Those that stages reach once more: that they compute, or that share a byte with such, and that they only read or set as a whole.
    written: Vec<u64>,
    read: Vec<u64>,
    /// What stages do not reach once more: the longest piece of each header, and the rest.
    left: (Vec<u64>, Vec<u64>),
    /// Headers: a bit of validity each.
    headers: u64,
    metadata: Vec<Metadata>,
}

/// A variable, or what one operation hands to the next.
struct Metadata {
    bits: u64,
    /// The parser may set it, or the chip does.
    from_parser: bool,
    /// The deparser reads it, or the chip does.
    to_deparser: bool,
    /// Nodes that write and read it.
    written: BTreeSet<usize>,
    read: BTreeSet<usize>,
}

impl Metadata {
    /// Whether it is in a container from one stage to the next: what only the stage that writes it reads goes over the stage's buses.
    fn travels(&self) -> bool {
        self.from_parser || self.to_deparser || self.written.union(&self.read).count() != 1
    }
}

/// Finds it; `node_of` says the node of each site.
pub(crate) fn wants(ir: &Ir, pipe: &Pipe, sites: &Sites, node_of: &[usize]) -> Wants {
    let mut touched: BTreeMap<Loc, (BTreeSet<usize>, BTreeSet<usize>)> = BTreeMap::new();
    for (s, node) in sites.all.iter().zip(node_of) {
        for l in s.match_reads.iter().chain(&s.action_reads) {
            touched.entry(*l).or_default().1.insert(*node);
        }
        for l in &s.writes {
            touched.entry(*l).or_default().0.insert(*node);
        }
    }
    // What stages set as a whole lies in containers that they only read otherwise.
    let whole = |s: &Site, l: &Loc| s.moved.contains(l) && !s.computed.contains(l);
    let computed: BTreeSet<Loc> = sites.all.iter().flat_map(|s| s.writes.iter().filter(|l| !whole(s, l)).copied()).collect();
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
    present.extend(touched.keys().filter_map(|l| match l {
        Loc::Field(h, _) | Loc::Valid(h) => Some(*h),
        _ => None,
    }));
    // Pieces of a field of variable length are headers of their own.
    let variable = crate::varbit::of_pipe(ir, pipe);
    let variable_pieces: u64 = variable.values().map(|l| l.bytes.len() as u64).sum();
    // Bytes of each header: reached by stages, or not.
    let mut slots: BTreeMap<HeaderId, Slot> = BTreeMap::new();
    for h in &present {
        let ty = &ir.header_types[ir.headers[*h].ty];
        let (mut bytes, mut written): (BTreeSet<u64>, BTreeSet<u64>) = Default::default();
        for (i, f) in ty.fields.iter().enumerate() {
            let place = Loc::Field(*h, i as u32);
            if touched.contains_key(&place) && !f.varbit {
                let (from, to) = (u64::from(f.offset_bits), u64::from(f.offset_bits + f.ty.width()));
                bytes.extend(from / 8..to.div_ceil(8));
                // What begins within a byte lies with what is before it.
                if computed.contains(&place) || from % 8 != 0 {
                    written.extend(from / 8..to.div_ceil(8));
                }
            }
        }
        let all = u64::from(ty.fixed_bits).div_ceil(8) + variable.get(h).map_or(0, Lengths::longest);
        let seen = bytes.len() as u64;
        // The longest piece that no stage looks at.
        let (mut piece, mut run) = (0u64, 0);
        for byte in 0..u64::from(ty.fixed_bits).div_ceil(8) {
            run = if bytes.contains(&byte) { 0 } else { run + 1 };
            piece = piece.max(run);
        }
        // A header that is neither parsed nor sent is only what the stages make of it.
        let hidden = if travels.contains(h) { all.saturating_sub(seen) } else { 0 };
        let written = written.len() as u64;
        slots.insert(*h, Slot { reached: seen, hidden, piece, written, read: seen - written });
    }
    let overlay = Overlay::of(ir, pipe);
    // Only what comes with the packet can stay in it.
    for (h, slot) in &mut slots {
        slot.piece = if overlay.made.contains(h) { 0 } else { slot.piece.min(slot.hidden) };
    }
    let group = |part: &dyn Fn(&Slot) -> u64| {
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
    let behind = behind(ir, pipe);
    let mut metadata = Vec::new();
    for (l, (written, read)) in touched {
        let (from_parser, to_deparser) = match l {
            Loc::Var(v) => (sites.parsed.contains(&v), behind.contains(&v)),
            Loc::Temp(..) => (false, false),
            _ => continue,
        };
        if !sites.handles.contains(&l) {
            metadata.push(Metadata { bits: u64::from(width(ir, l)), from_parser, to_deparser, written, read });
        }
    }
    let (reached, hidden) = (group(&|s| s.reached), group(&|s| s.hidden));
    let (pieces, beside) = (group(&|s| s.piece), group(&|s| s.hidden - s.piece));
    Wants {
        reached,
        hidden,
        left: (pieces, beside),
        written: group(&|s| s.written),
        read: group(&|s| s.read),
        headers: present.len() as u64 + variable_pieces,
        metadata,
    }
}

/// Bytes of a header, as in [`Wants`].
struct Slot {
    reached: u64,
    hidden: u64,
    piece: u64,
    written: u64,
    read: u64,
}

/// The variables that are read behind the stages: by the deparser and its checksums, by digests and copies, by the chip.
fn behind(ir: &Ir, pipe: &Pipe) -> BTreeSet<VarId> {
    let mut all = architecture(ir);
    all.extend(ir.intrinsic.field_lists.values().flatten());
    let mut see = |s: &Stmt| stmt_exprs(s, &mut |e| read_vars(e, &mut |v| all.extend([v])));
    all_stmts(&pipe.deparser, &mut see);
    for control in &pipe.controls {
        all_stmts(&control.body, &mut |s| {
            if control.role.is_checksum() || matches!(s, Stmt::Extern(Extern::Digest { .. } | Extern::Replicate { .. })) {
                see(s);
            }
        });
    }
    for action in ir.actions.values() {
        all_stmts(&action.body, &mut |s| {
            if matches!(s, Stmt::Extern(Extern::Digest { .. } | Extern::Replicate { .. })) {
                see(s);
            }
        });
    }
    all
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

    #[test]
    fn metadata_share_places_one_after_the_other() {
        let var = |bits, written: usize, read: usize| Metadata {
            bits,
            from_parser: false,
            to_deparser: false,
            written: [written].into(),
            read: [read].into(),
        };
        // Node n is in stage n.
        let span = |node: usize| Some((node, node));
        // The second is written in the stage in which the first is last read, the third beside both.
        let all = [var(32, 0, 2), var(32, 2, 4), var(16, 1, 3), var(3, 0, 1), var(2, 1, 2)];
        assert_eq!(metadata(&all, &span), ([(4, 1), (2, 1), (1, 0)], 3));
        let meet = [var(32, 0, 3), var(32, 2, 4)];
        assert_eq!(metadata(&meet, &span).0[0], (4, 2));
        let kept = [Metadata { to_deparser: true, ..var(48, 0, 1) }, var(48, 4, 5), Metadata { from_parser: true, ..var(8, 9, 0) }];
        assert_eq!(metadata(&kept, &span), ([(4, 2), (2, 2), (1, 1)], 0));
        let within = [var(32, 2, 2), Metadata { to_deparser: true, ..var(16, 3, 3) }, Metadata { from_parser: true, ..var(8, 4, 4) }];
        assert_eq!(metadata(&within, &span), ([(4, 0), (2, 1), (1, 1)], 0), "the first goes from the table to its instruction");
    }
}
