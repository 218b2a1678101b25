//! From a VRF and the bits of a field to a value: arrays of 2^16 and then 2^8 cells where routes are many, a trie where they
//! are few.
//!
//! A VRF of few routes is one trie ([`Trie`]). With [`TOP_MIN`] routes it gets a *top*, a cell for each 16 first bits. A cell holds the
//! value of the longest prefix of up to 16 bits there; or, if longer ones lie below it, the number of a trie of them (a *tail*) or, above
//! [`DENSE_MIN`] of them, of a *dense* node of 2^8 cells that work alike for the next 8 bits. Below those are only tails. So a
//! route of IPv4 is mostly found by two loads, of which the first is of memory that stays in the cache.
//!
//! A short prefix is written to the cells that it covers, at its own level only: a cell with something below keeps its own value beside (for a dense
//! node in `defaults`, for a tail as the trie's prefix of no bits), and a look-up that finds nothing below falls back to what it
//! has met so far. The default route is kept once a VRF. So the dearest change is of a /1, of 32768 cells
//! (0.13 ms with both sides and a million routes); a /8 is 256.
//!
//! What may be asked of memory is bounded by the routes there are: a dense node (1 KiB) stands for at least
//! [`DENSE_MIN`] / 2 of them, a top (256 KiB) for [`TOP_MIN`] / 2 as long as there are [`FREE_TOPS`] at most, then for [`TOP_MIN_LATER`] / 2.

use super::trie::{Lanes, Trie};
use crate::{BURST, prefetch};
use pages::Array;
use std::collections::BTreeMap;

/// Bits of the key that select a cell of a top, and of a dense node.
const TOP_BITS: u32 = 16;
const DENSE_BITS: u32 = 8;
const TOP_CELLS: usize = 1 << TOP_BITS;
const DENSE_CELLS: usize = 1 << DENSE_BITS;

/// Routes from which on a VRF has a top; from 50 to 120 M look-ups a second with 64 routes of IPv4.
const TOP_MIN: u64 = 32;
/// Limit of tops at that price: 16 MiB of them.
const FREE_TOPS: usize = 64;
/// Routes from which on a VRF has a top when there are that many: 64 bytes a route.
const TOP_MIN_LATER: u64 = 4_096;
/// More routes than this below a cell of a top make a dense node of them. With 128: 49 in place of 62 M look-ups a second of a million routes of
/// IPv4, and no more of IPv6.
const DENSE_MIN: usize = 6;

/// A cell: 0 for nothing; or a value; or one of the two kinds of what lies below, and its number.
type Cell = u32;
const BELOW: Cell = 1 << 31;
const IS_DENSE: Cell = 1 << 30;
const NUMBER: Cell = IS_DENSE - 1;

/// A value in a cell is a handle and, above it, the bits of its prefix at this level, less 1: a shorter one does not displace it.
const HANDLE_BITS: u32 = 27;
/// The part of a value that is the caller's.
const HANDLE: u32 = (1 << HANDLE_BITS) - 1;

/// No top.
const NONE: u32 = u32::MAX;

pub(super) struct Levels {
    vrfs: Vec<Vrf>,
    free_vrfs: Vec<u32>,
    tops: Cells,
    dense: Cells,
    /// Of each dense node: the value of the cell that it took the place of, and what else is known.
    defaults: Array<Cell>,
    nodes: Vec<Node>,
    trie: Trie,
}

struct Vrf {
    /// Number of its top; without one all prefixes are in `trie`.
    top: u32,
    trie: u32,
    /// Value of the prefix of no bits, if it has a top.
    default: u32,
    routes: u64,
    own: Own,
}

#[derive(Default)]
struct Node {
    /// Routes here and in tails below.
    routes: u32,
    own: Own,
}

/// The prefixes of a level itself, by [`position`]: its cells do not tell of one that longer ones cover.
type Own = BTreeMap<u32, Cell>;

/// What becomes of a cell's value when a prefix comes or goes.
#[derive(Clone, Copy)]
enum Paint {
    /// This, where no longer prefix is.
    Over(Cell),
    /// The second for the first.
    Instead(Cell, Cell),
}

/// Lanes in arrays of cells, and at which cell.
struct Down {
    lane: [u8; BURST],
    lanes: usize,
    at: [u32; BURST],
}

impl Paint {
    fn of(self, own: Cell) -> Cell {
        match self {
            Paint::Over(value) if own == 0 || own >> HANDLE_BITS <= value >> HANDLE_BITS => value,
            Paint::Instead(old, value) if own == old => value,
            _ => own,
        }
    }
}

impl Levels {
    pub(super) fn new() -> Levels {
        Levels {
            vrfs: Vec::new(),
            free_vrfs: Vec::new(),
            tops: Cells::new(TOP_CELLS),
            dense: Cells::new(DENSE_CELLS),
            defaults: Array::default(),
            nodes: Vec::new(),
            trie: Trie::default(),
        }
    }

    /// A new VRF without routes.
    pub(super) fn add_vrf(&mut self) -> u32 {
        let vrf = Vrf { top: NONE, trie: self.trie.add_root(), default: 0, routes: 0, own: Own::new() };
        if let Some(number) = self.free_vrfs.pop() {
            self.vrfs[number as usize] = vrf;
            return number;
        }
        self.vrfs.push(vrf);
        u32::try_from(self.vrfs.len() - 1).expect("no more VRFs than entries")
    }

    /// Takes away one that is empty.
    pub(super) fn remove_vrf(&mut self, vrf: u32) {
        debug_assert!(self.is_empty(vrf));
        self.trie.remove_root(self.vrfs[vrf as usize].trie);
        self.free_vrfs.push(vrf);
    }

    pub(super) fn is_empty(&self, vrf: u32) -> bool {
        self.vrfs[vrf as usize].routes == 0
    }

    /// The handle of the prefix of `len` bits, left-aligned in `bits`.
    pub(super) fn get(&self, vrf: u32, bits: u128, len: u32) -> Option<u32> {
        let vrf = &self.vrfs[vrf as usize];
        if vrf.top == NONE {
            return self.trie.get(vrf.trie, bits, len);
        }
        let of_own = |own: &Own, bits, len| own.get(&position(bits, len)).map(|value| value & HANDLE);
        match len {
            0 => return (vrf.default != 0).then_some(vrf.default),
            1..=TOP_BITS => return of_own(&vrf.own, bits, len),
            _ => {}
        }
        let cell = self.tops.all[top_cell(vrf.top, bits)];
        let (bits, len) = (bits << TOP_BITS, len - TOP_BITS);
        let Some(node) = as_dense(cell) else { return self.trie.get(as_tail(cell)?, bits, len) };
        if len <= DENSE_BITS {
            return of_own(&self.nodes[node as usize].own, bits, len);
        }
        self.trie.get(as_tail(self.dense.all[dense_cell(node, bits)])?, bits << DENSE_BITS, len - DENSE_BITS)
    }

    /// Adds a prefix, or replaces the handle of an existing one.
    pub(super) fn set(&mut self, vrf: u32, bits: u128, len: u32, handle: u32) {
        debug_assert!(handle != 0 && handle <= HANDLE);
        let is_new = self.get(vrf, bits, len).is_none();
        let Vrf { top, trie, routes, .. } = &mut self.vrfs[vrf as usize];
        *routes += u64::from(is_new);
        if *top != NONE {
            return self.set_in_top(vrf, bits, len, handle, is_new);
        }
        self.trie.set(*trie, bits, len, handle);
        let enough = if self.tops.used() < FREE_TOPS { TOP_MIN } else { TOP_MIN_LATER };
        if is_new && *routes >= enough {
            *top = self.tops.add();
            let all = self.trie.take_all(*trie);
            for (bits, len, handle) in all {
                self.set_in_top(vrf, bits, len, handle, true);
            }
        }
    }

    /// Removes an existing prefix.
    pub(super) fn remove(&mut self, vrf: u32, bits: u128, len: u32) {
        let Vrf { top, trie, routes, .. } = &mut self.vrfs[vrf as usize];
        *routes -= 1;
        let (top, trie, routes) = (*top, *trie, *routes);
        if top == NONE {
            return self.trie.remove(trie, bits, len);
        }
        self.remove_in_top(vrf, bits, len);
        let too_few = if self.tops.used() <= FREE_TOPS { TOP_MIN / 2 } else { TOP_MIN_LATER / 2 };
        if routes < too_few {
            for (bits, len, handle) in self.take_top(vrf) {
                self.trie.set(trie, bits, len, handle);
            }
        }
    }

    fn set_in_top(&mut self, vrf: u32, bits: u128, len: u32, handle: u32, is_new: bool) {
        let Vrf { top, default, own, .. } = &mut self.vrfs[vrf as usize];
        let at = top_cell(*top, bits);
        match len {
            0 => *default = handle,
            1..=TOP_BITS => {
                let value = value(handle, len);
                own.insert(position(bits, len), value);
                for at in at..at + (1 << (TOP_BITS - len)) {
                    self.tops.all[at] = self.painted(self.tops.all[at], Paint::Over(value));
                }
            }
            _ => {
                let (bits, len, cell) = (bits << TOP_BITS, len - TOP_BITS, self.tops.all[at]);
                if let Some(node) = as_dense(cell) {
                    self.nodes[node as usize].routes += u32::from(is_new);
                    return self.set_in_dense(node, bits, len, handle);
                }
                let tail = self.set_in_tail(cell, bits, len, handle);
                // The cell's own value is one of the trie's.
                let many = is_new && self.trie.count_up_to(tail, DENSE_MIN + 2) == DENSE_MIN + 2;
                self.tops.all[at] = if many { self.make_dense(tail) } else { BELOW | tail };
            }
        }
    }

    fn remove_in_top(&mut self, vrf: u32, bits: u128, len: u32) {
        let Vrf { top, default, own, .. } = &mut self.vrfs[vrf as usize];
        let at = top_cell(*top, bits);
        match len {
            0 => *default = 0,
            1..=TOP_BITS => {
                let paint = take_own(own, bits, len);
                for at in at..at + (1 << (TOP_BITS - len)) {
                    self.tops.all[at] = self.painted(self.tops.all[at], paint);
                }
            }
            _ => {
                let (bits, len, cell) = (bits << TOP_BITS, len - TOP_BITS, self.tops.all[at]);
                self.tops.all[at] = match as_dense(cell) {
                    Some(node) => self.remove_in_dense(node, bits, len),
                    None => self.remove_in_tail(cell, bits, len),
                };
            }
        }
    }

    fn set_in_dense(&mut self, node: u32, bits: u128, len: u32, handle: u32) {
        let at = dense_cell(node, bits);
        if len <= DENSE_BITS {
            let value = value(handle, len);
            self.nodes[node as usize].own.insert(position(bits, len), value);
            for at in at..at + (1 << (DENSE_BITS - len)) {
                self.dense.all[at] = self.painted(self.dense.all[at], Paint::Over(value));
            }
        } else {
            self.dense.all[at] = BELOW | self.set_in_tail(self.dense.all[at], bits << DENSE_BITS, len - DENSE_BITS, handle);
        }
    }

    /// Gives the cell above as it is to be then.
    fn remove_in_dense(&mut self, node: u32, bits: u128, len: u32) -> Cell {
        let at = dense_cell(node, bits);
        let Node { routes, own } = &mut self.nodes[node as usize];
        *routes -= 1;
        let few = *routes as usize <= DENSE_MIN / 2;
        if len <= DENSE_BITS {
            let paint = take_own(own, bits, len);
            for at in at..at + (1 << (DENSE_BITS - len)) {
                self.dense.all[at] = self.painted(self.dense.all[at], paint);
            }
        } else {
            self.dense.all[at] = self.remove_in_tail(self.dense.all[at], bits << DENSE_BITS, len - DENSE_BITS);
        }
        if !few {
            return BELOW | IS_DENSE | node;
        }
        let mut cell = self.defaults[node as usize];
        for (bits, len, handle) in self.take_dense(node) {
            cell = BELOW | self.set_in_tail(cell, bits, len, handle);
        }
        cell
    }

    /// Adds to the tail below a cell, or to a new one. Its number.
    fn set_in_tail(&mut self, cell: Cell, bits: u128, len: u32, handle: u32) -> u32 {
        let tail = as_tail(cell).unwrap_or_else(|| {
            let tail = self.trie.add_root();
            if cell != 0 {
                self.trie.set(tail, 0, 0, cell);
            }
            tail
        });
        self.trie.set(tail, bits, len, handle);
        tail
    }

    /// Gives the cell as it is to be then.
    fn remove_in_tail(&mut self, cell: Cell, bits: u128, len: u32) -> Cell {
        let Some(tail) = as_tail(cell) else { return cell };
        self.trie.remove(tail, bits, len);
        let own = self.trie.get(tail, 0, 0);
        if self.trie.count_up_to(tail, 2) > usize::from(own.is_some()) {
            return cell;
        }
        self.painted(cell, Paint::Instead(own.unwrap_or(0), 0));
        self.trie.remove_root(tail);
        own.unwrap_or(0)
    }

    /// A cell after a change of its own value, which is kept apart if something lies below it.
    fn painted(&mut self, cell: Cell, paint: Paint) -> Cell {
        if let Some(node) = as_dense(cell) {
            let own = &mut self.defaults[node as usize];
            *own = paint.of(*own);
        } else if let Some(tail) = as_tail(cell) {
            let own = self.trie.get(tail, 0, 0).unwrap_or(0);
            match paint.of(own) {
                new if new == own => {}
                0 => self.trie.remove(tail, 0, 0),
                new => self.trie.set(tail, 0, 0, new),
            }
        } else {
            return paint.of(cell);
        }
        cell
    }

    /// Makes a dense node of a tail. The cell above.
    fn make_dense(&mut self, tail: u32) -> Cell {
        let node = self.dense.add();
        if node as usize == self.nodes.len() {
            self.nodes.push(Node::default());
            self.defaults.grow(1, 0);
        }
        self.defaults[node as usize] = 0;
        for (bits, len, handle) in self.trie.take_all(tail) {
            if len == 0 {
                self.defaults[node as usize] = handle;
            } else {
                self.nodes[node as usize].routes += 1;
                self.set_in_dense(node, bits, len, handle);
            }
        }
        self.trie.remove_root(tail);
        BELOW | IS_DENSE | node
    }

    /// Takes a dense node apart. Its prefixes but the one that was the cell's above.
    fn take_dense(&mut self, node: u32) -> Vec<(u128, u32, u32)> {
        let mut all: Vec<_> = unplaced(&std::mem::take(&mut self.nodes[node as usize]).own).collect();
        for at in 0..DENSE_CELLS {
            self.take_tail(self.dense.all[node as usize * DENSE_CELLS + at], at, DENSE_BITS, &mut all);
        }
        self.dense.remove(node);
        all
    }

    /// Takes a VRF's top apart. All its prefixes.
    fn take_top(&mut self, vrf: u32) -> Vec<(u128, u32, u32)> {
        let Vrf { top, default, own, .. } = &mut self.vrfs[vrf as usize];
        let (top, default, own) = (std::mem::replace(top, NONE), std::mem::take(default), std::mem::take(own));
        let mut all: Vec<_> = (default != 0).then_some((0, 0, default)).into_iter().chain(unplaced(&own)).collect();
        for at in 0..TOP_CELLS {
            let cell = self.tops.all[top as usize * TOP_CELLS + at];
            if let Some(node) = as_dense(cell) {
                all.extend(self.take_dense(node).into_iter().map(|taken| below(taken, at, TOP_BITS)));
            } else {
                self.take_tail(cell, at, TOP_BITS, &mut all);
            }
        }
        self.tops.remove(top);
        all
    }

    /// Takes away the tail below a cell, whose own value is not one of its prefixes.
    fn take_tail(&mut self, cell: Cell, at: usize, level_bits: u32, all: &mut Vec<(u128, u32, u32)>) {
        let Some(tail) = as_tail(cell) else { return };
        all.extend(self.trie.take_all(tail).into_iter().filter(|(_, len, _)| *len > 0).map(|taken| below(taken, at, level_bits)));
        self.trie.remove_root(tail);
    }

    /// Finds what fits each lane, of those in `lanes.active`. They come with their VRF in `node`; afterwards, see [`Levels::handle`].
    #[inline(always)]
    pub(super) fn look_up<const LEN: usize>(&self, lanes: &mut Lanes) {
        let mut down = Down { lane: [0; BURST], lanes: 0, at: [0; BURST] };
        let mut tails = 0;
        for a in 0..lanes.actives {
            let i = usize::from(lanes.active[a]) % BURST;
            let vrf = &self.vrfs[lanes.node[i] as usize];
            if vrf.top == NONE {
                lanes.node[i] = vrf.trie;
                lanes.active[tails] = i as u8;
                tails += 1;
            } else {
                self.enter_top(vrf, i, lanes, &mut down);
            }
        }
        lanes.actives = tails;
        self.descend::<LEN>(lanes, &mut down);
    }

    /// The same, all lanes being of one VRF.
    #[inline(always)]
    pub(super) fn look_up_in<const LEN: usize>(&self, vrf: u32, lanes: &mut Lanes) {
        let vrf = &self.vrfs[vrf as usize];
        if vrf.top == NONE {
            lanes.node = [vrf.trie; BURST];
            return self.trie.walk::<LEN>(lanes);
        }
        let mut down = Down { lane: [0; BURST], lanes: 0, at: [0; BURST] };
        for i in 0..lanes.actives.min(BURST) {
            self.enter_top(vrf, i, lanes, &mut down);
        }
        lanes.actives = 0;
        self.descend::<LEN>(lanes, &mut down);
    }

    #[inline(always)]
    fn enter_top(&self, vrf: &Vrf, i: usize, lanes: &mut Lanes, down: &mut Down) {
        lanes.best[i] = vrf.default;
        down.at[i] = vrf.top << TOP_BITS | (lanes.high[i] >> (64 - TOP_BITS)) as u32;
        prefetch(self.tops.all.as_ptr().wrapping_add(down.at[i] as usize).cast());
        down.lane[down.lanes] = i as u8;
        down.lanes += 1;
    }

    /// A level at a time, and without branches on what a cell is: neighbouring keys rarely agree on it.
    #[inline(always)]
    fn descend<const LEN: usize>(&self, lanes: &mut Lanes, down: &mut Down) {
        let mut tails = lanes.actives;
        let mut denses = 0;
        for a in 0..down.lanes {
            let i = usize::from(down.lane[a]) % BURST;
            let cell = self.tops.all[down.at[i] as usize];
            let (is_dense, is_tail) = (cell >= BELOW | IS_DENSE, cell >> 30 == 2);
            lanes.best[i] = if is_value(cell) { cell } else { lanes.best[i] };
            let number = if cell >= BELOW { cell & NUMBER } else { 0 };
            lanes.node[i] = number;
            let next = lanes.high[i] << TOP_BITS >> (64 - DENSE_BITS);
            down.at[i] = number.wrapping_mul(DENSE_CELLS as u32) | next as u32;
            let in_dense = self.dense.all.as_ptr().wrapping_add(number as usize * DENSE_CELLS + next as usize);
            prefetch(if is_tail { self.trie.node_address(number) } else { in_dense.cast() });
            lanes.shift::<LEN>(i, if is_dense { TOP_BITS + DENSE_BITS } else { TOP_BITS });
            down.lane[denses] = i as u8;
            denses += usize::from(is_dense);
            lanes.active[tails % BURST] = i as u8;
            tails += usize::from(is_tail);
        }
        for a in 0..denses {
            let i = usize::from(down.lane[a]) % BURST;
            let cell = self.dense.all[down.at[i] as usize];
            let default = self.defaults[lanes.node[i] as usize];
            let best = if default != 0 { default } else { lanes.best[i] };
            lanes.best[i] = if is_value(cell) { cell } else { best };
            lanes.node[i] = cell & NUMBER;
            lanes.active[tails % BURST] = i as u8;
            tails += usize::from(cell >= BELOW);
            prefetch(self.trie.node_address(if cell >= BELOW { cell & NUMBER } else { 0 }));
        }
        lanes.actives = tails;
        if tails > 0 {
            self.trie.walk::<LEN>(lanes);
        }
    }

    /// Asks for what lanes have found.
    #[inline(always)]
    pub(super) fn prefetch_found(&self, best: &[u32]) {
        self.trie.prefetch_found(best);
    }

    /// The handle that a lane has found, 0 for none.
    #[inline(always)]
    pub(super) fn handle(&self, best: u32) -> u32 {
        self.trie.found(best) & HANDLE
    }
}

fn top_cell(top: u32, bits: u128) -> usize {
    top as usize * TOP_CELLS + (bits >> (128 - TOP_BITS)) as usize
}

fn dense_cell(node: u32, bits: u128) -> usize {
    node as usize * DENSE_CELLS + (bits >> (128 - DENSE_BITS)) as usize
}

/// Neither 0 nor something below.
#[inline(always)]
fn is_value(cell: Cell) -> bool {
    cell.wrapping_sub(1) < BELOW - 1
}

fn as_dense(cell: Cell) -> Option<u32> {
    (cell >= BELOW | IS_DENSE).then_some(cell & NUMBER)
}

fn as_tail(cell: Cell) -> Option<u32> {
    (cell >> 30 == 2).then_some(cell & NUMBER)
}

fn value(handle: u32, len: u32) -> Cell {
    (len - 1) << HANDLE_BITS | handle
}

/// Where a prefix of 1 to 16 bits stands among those of its level: shorter ones first, each at half the position of those below it.
fn position(bits: u128, len: u32) -> u32 {
    1 << len | (bits >> (128 - len)) as u32
}

/// The prefixes with those positions.
fn unplaced(own: &Own) -> impl Iterator<Item = (u128, u32, u32)> {
    own.iter().map(|(position, value)| {
        let len = position.ilog2();
        (u128::from(position - (1 << len)) << (128 - len), len, value & HANDLE)
    })
}

/// A prefix below cell `at` as one of the level above.
fn below((bits, len, handle): (u128, u32, u32), at: usize, level_bits: u32) -> (u128, u32, u32) {
    ((at as u128) << (128 - level_bits) | bits >> level_bits, level_bits + len, handle)
}

/// Removes an existing prefix: the next shorter one of its level takes its place.
fn take_own(own: &mut Own, bits: u128, len: u32) -> Paint {
    let at = position(bits, len);
    let old = own.remove(&at).expect("the prefix is there");
    let next = (1..len).find_map(|less| own.get(&(at >> less))).copied();
    Paint::Instead(old, next.unwrap_or(0))
}

/// Equal blocks of cells in one array; freed ones are reused.
struct Cells {
    all: Array<Cell>,
    block: usize,
    free: Vec<u32>,
}

impl Cells {
    fn new(block: usize) -> Cells {
        Cells { all: Array::default(), block, free: Vec::new() }
    }

    fn used(&self) -> usize {
        self.all.len() / self.block - self.free.len()
    }

    /// A block of zeros.
    fn add(&mut self) -> u32 {
        if let Some(number) = self.free.pop() {
            self.all[number as usize * self.block..][..self.block].fill(0);
            return number;
        }
        let number = self.all.len() / self.block;
        self.all.grow(self.block, 0);
        number as u32
    }

    fn remove(&mut self, number: u32) {
        self.free.push(number);
    }
}

#[cfg(test)]
mod tests;
