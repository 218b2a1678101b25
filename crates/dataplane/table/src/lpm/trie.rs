//! A trie of 6 bits a step whose nodes are two bitmaps (a "tree bitmap"): compact even for sparse prefixes, and a
//! prefix is added or removed by changing one node and its parents' arrays.
//!
//! A node stands for a prefix of 6k bits. `internal` tells which of the 63 prefixes of 0 to 5 further bits exist, in the
//! order of a heap: shorter first, then by value, so the longest that fits a key is the highest bit of those on its way.
//! `external` tells which of the 64 next steps have a node. Both kinds lie in arrays without gaps, where a bit's
//! position is the number of bits set below it; a single value lies in the node itself.
//!
//! Steps where there is nothing to decide have no nodes: a node says which bits it skips ([`Skip`]), which a key must have. So a trie of n
//! prefixes has about 2n nodes at most; where more than [`MAX_SKIP`] bits have nothing to decide, one more for each so many.

use crate::{BURST, prefetch};
use pages::Array;

/// Bits of a step.
const STEP: u32 = 6;

#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
struct Node {
    internal: u64,
    external: u64,
    /// Bits before those that the bitmaps are about.
    skip: Skip,
    /// First child.
    children: u32,
    /// First value, or the only one itself.
    values: u32,
}

/// Up to 54 bits that a key must have, the first one highest, and in the lowest 6 bits how many.
#[derive(Clone, Copy, Default)]
struct Skip(u64);

const MAX_SKIP: u32 = 54;

impl Skip {
    /// The first `len` of these bits.
    fn new(bits: u64, len: u32) -> Skip {
        Skip(bits & !(u64::MAX >> len) | u64::from(len))
    }

    #[inline(always)]
    fn len(self) -> u32 {
        self.0 as u32 & 63
    }

    /// Whether a key continues with them.
    #[inline(always)]
    fn fits(self, bits: u64) -> bool {
        (bits ^ self.0) & !(u64::MAX >> self.len()) == 0
    }

    /// How many of them, in whole steps, a prefix has too.
    fn common(self, bits: u64, len: u32) -> u32 {
        (bits ^ self.0).leading_zeros().min(self.len()).min(len) / STEP * STEP
    }
}

/// Bits of `internal` on the way of the next 6 bits of a key.
const ON_THE_WAY: [u64; 64] = {
    let mut table = [0; 64];
    let mut step = 0;
    while step < 64 {
        let mut len = 0;
        while len < STEP {
            table[step] |= 1 << ((1 << len) - 1 + (step >> (STEP - len)));
            len += 1;
        }
        step += 1;
    }
    table
};

/// A forest of such tries with shared arrays; a root is a node's number. Values are below 2^31.
#[derive(Default)]
pub(super) struct Trie {
    nodes: Blocks<Node>,
    values: Blocks<u32>,
}

/// One key a lane: where it is and the bits that are left, and in `best` what it has found.
pub(super) struct Lanes {
    pub(super) node: [u32; BURST],
    pub(super) high: [u64; BURST],
    pub(super) low: [u64; BURST],
    /// A value, 0 for none, or [`POSITION`] and where it is.
    pub(super) best: [u32; BURST],
    /// Lanes still walking, and their number.
    pub(super) active: [u8; BURST],
    pub(super) actives: usize,
}

const POSITION: u32 = 1 << 31;

impl Lanes {
    /// Takes 1 to 63 bits from a lane's key, of which `low` is in use unless `LEN` is 4 bytes.
    #[inline(always)]
    pub(super) fn shift<const LEN: usize>(&mut self, i: usize, bits: u32) {
        self.high[i] <<= bits;
        if LEN != 4 {
            self.high[i] |= self.low[i] >> (64 - bits);
            self.low[i] <<= bits;
        }
    }
}

impl Trie {
    /// A new empty trie.
    pub(super) fn add_root(&mut self) -> u32 {
        self.nodes.resize(0, 0, 0, Some(Node::default()))
    }

    /// Removes an empty trie.
    pub(super) fn remove_root(&mut self, root: u32) {
        debug_assert!(self.is_empty(root));
        self.nodes.resize(root, 1, 0, None);
    }

    fn is_empty(&self, root: u32) -> bool {
        let node = self.nodes.all[root as usize];
        node.internal == 0 && node.external == 0
    }

    /// What the prefix of `len` bits, left-aligned in `bits`, stands for.
    pub(super) fn get(&self, root: u32, mut bits: u128, mut len: u32) -> Option<u32> {
        let mut at = root;
        loop {
            let node = &self.nodes.all[at as usize];
            if len < node.skip.len() || !node.skip.fits(high(bits)) {
                return None;
            }
            bits <<= node.skip.len();
            len -= node.skip.len();
            if len < STEP {
                let bit = heap_position(bits, len);
                return has(node.internal, bit).then(|| self.value(node, bit));
            }
            let step = take_step(&mut bits);
            at = has(node.external, step).then(|| node.children + rank(node.external, step))?;
            len -= STEP;
        }
    }

    /// Adds a prefix, or replaces the value of an existing one.
    pub(super) fn set(&mut self, root: u32, mut bits: u128, mut len: u32, value: u32) {
        debug_assert!(value < POSITION);
        let mut at = root;
        loop {
            if self.is_empty(at) {
                self.nodes.all[at as usize].skip = Skip::new(high(bits), (len / STEP * STEP).min(MAX_SKIP));
            }
            let skip = self.nodes.all[at as usize].skip;
            let common = skip.common(high(bits), len);
            if common < skip.len() {
                self.split(at, common);
            }
            bits <<= common;
            len -= common;
            if len < STEP {
                break;
            }
            let step = take_step(&mut bits);
            let Node { external, children, .. } = self.nodes.all[at as usize];
            let position = rank(external, step);
            if !has(external, step) {
                let moved = self.nodes.resize(children, external.count_ones(), position, Some(Node::default()));
                let node = &mut self.nodes.all[at as usize];
                (node.external, node.children) = (external | 1 << step, moved);
            }
            at = self.nodes.all[at as usize].children + position;
            len -= STEP;
        }
        self.set_value(at, heap_position(bits, len), value);
    }

    /// Puts a node after the first `common` bits that a node skips, and the node below it.
    fn split(&mut self, at: u32, common: u32) {
        let node = self.nodes.all[at as usize];
        let rest = node.skip.0 << common;
        let child = Node { skip: Skip::new(rest << STEP, node.skip.len() - common - STEP), ..node };
        let children = self.nodes.resize(0, 0, 0, Some(child));
        let external = 1 << (rest >> (64 - STEP));
        self.nodes.all[at as usize] = Node { internal: 0, external, skip: Skip::new(node.skip.0, common), children, values: 0 };
    }

    fn set_value(&mut self, at: u32, bit: u32, value: u32) {
        let Node { internal, values, .. } = self.nodes.all[at as usize];
        let position = rank(internal, bit);
        let values = match (internal.count_ones(), has(internal, bit)) {
            (0, _) | (1, true) => value,
            (_, true) => {
                self.values.all[(values + position) as usize] = value;
                values
            }
            (1, false) => {
                let only = self.values.resize(0, 0, 0, Some(values));
                self.values.resize(only, 1, position, Some(value))
            }
            (many, false) => self.values.resize(values, many, position, Some(value)),
        };
        let node = &mut self.nodes.all[at as usize];
        (node.internal, node.values) = (internal | 1 << bit, values);
    }

    /// Removes an existing prefix, and nodes that are no longer needed.
    pub(super) fn remove(&mut self, root: u32, mut bits: u128, mut len: u32) {
        let mut way = Vec::with_capacity(128 / STEP as usize + 1);
        let mut at = root;
        loop {
            let node = &self.nodes.all[at as usize];
            bits <<= node.skip.len();
            len -= node.skip.len();
            if len < STEP {
                break;
            }
            let step = take_step(&mut bits);
            way.push((at, step));
            at = node.children + rank(node.external, step);
            len -= STEP;
        }
        self.remove_value(at, heap_position(bits, len));
        while self.is_empty(at) {
            let Some((parent, step)) = way.pop() else { break };
            let Node { external, children, .. } = self.nodes.all[parent as usize];
            let moved = self.nodes.resize(children, external.count_ones(), rank(external, step), None);
            let node = &mut self.nodes.all[parent as usize];
            (node.external, node.children) = (external & !(1 << step), moved);
            at = parent;
        }
        self.merge(at);
    }

    fn remove_value(&mut self, at: u32, bit: u32) {
        let Node { internal, values, .. } = self.nodes.all[at as usize];
        let position = rank(internal, bit);
        let values = match internal.count_ones() {
            1 => 0,
            2 => {
                let only = self.values.all[(values + 1 - position) as usize];
                let rest = self.values.resize(values, 2, position, None);
                self.values.resize(rest, 1, 0, None);
                only
            }
            many => self.values.resize(values, many, position, None),
        };
        let node = &mut self.nodes.all[at as usize];
        (node.internal, node.values) = (internal & !(1 << bit), values);
    }

    /// Puts the only child of a node without values in its place, if it can skip what was between.
    fn merge(&mut self, at: u32) {
        let node = self.nodes.all[at as usize];
        if node.internal != 0 || node.external.count_ones() != 1 {
            return;
        }
        let child = self.nodes.all[node.children as usize];
        let before = node.skip.len() + STEP;
        if before + child.skip.len() > MAX_SKIP {
            return;
        }
        let step = u64::from(node.external.trailing_zeros()) << (64 - before);
        let bits = Skip::new(node.skip.0, node.skip.len()).0 & !(u64::MAX >> node.skip.len()) | step | child.skip.0 >> before;
        self.nodes.all[at as usize] = Node { skip: Skip::new(bits, before + child.skip.len()), ..child };
        self.nodes.resize(node.children, 1, 0, None);
    }

    /// How many prefixes there are, or `limit` if there are more; in time that grows with `limit` only.
    pub(super) fn count_up_to(&self, root: u32, limit: usize) -> usize {
        let mut count = 0;
        let mut todo = vec![root];
        while let Some(at) = todo.pop()
            && count < limit
        {
            let node = &self.nodes.all[at as usize];
            count += node.internal.count_ones() as usize;
            todo.extend((0..node.external.count_ones().min(limit as u32)).map(|i| node.children + i));
        }
        count.min(limit)
    }

    /// Empties a trie. Its prefixes: bits, length, value.
    pub(super) fn take_all(&mut self, root: u32) -> Vec<(u128, u32, u32)> {
        let mut all = Vec::new();
        let mut todo = vec![(root, 0u128, 0)];
        while let Some((at, mut bits, mut len)) = todo.pop() {
            let node = &self.nodes.all[at as usize];
            bits |= u128::from(node.skip.0 & !(u64::MAX >> node.skip.len())) << 64 >> len;
            len += node.skip.len();
            let further = |value: u32, of: u32| bits | (u128::from(value) << (127 - of) << 1).checked_shr(len).unwrap_or(0);
            for bit in (0..63).filter(|bit| has(node.internal, *bit)) {
                let of = (bit + 1).ilog2();
                all.push((further(bit + 1 - (1 << of), of), len + of, self.value(node, bit)));
            }
            for step in (0..64).filter(|step| has(node.external, *step)) {
                todo.push((node.children + rank(node.external, step), further(step, STEP), len + STEP));
            }
        }
        for (bits, len, _) in &all {
            self.remove(root, *bits, *len);
        }
        all
    }

    #[cfg(test)]
    pub(super) fn nodes_used(&self) -> usize {
        self.nodes.all.len() - self.nodes.free.iter().enumerate().map(|(len, list)| len * list.len()).sum::<usize>()
    }

    fn value(&self, node: &Node, bit: u32) -> u32 {
        if node.internal.count_ones() == 1 { node.values } else { self.values.all[(node.values + rank(node.internal, bit)) as usize] }
    }

    /// Walks all lanes down, a step of each at a time so that their cache misses overlap.
    #[inline(always)]
    pub(super) fn walk<const LEN: usize>(&self, lanes: &mut Lanes) {
        while lanes.actives > 0 {
            let mut still = 0;
            for a in 0..lanes.actives {
                let i = usize::from(lanes.active[a]) % BURST;
                let node = &self.nodes.all[lanes.node[i] as usize];
                let fits = node.skip.fits(lanes.high[i]);
                let skipped = node.skip.len();
                // At most 54 bits: the step is in `high` too.
                let step = lanes.high[i] << skipped >> (64 - STEP);
                // Of what does not fit any bits do, it stops here.
                lanes.shift::<LEN>(i, skipped + STEP);
                let fitting = node.internal & ON_THE_WAY[step as usize];
                // With nothing fitting the shift is by 63 at most and the position is not used.
                let longest = 63 ^ (fitting | 1).leading_zeros();
                let is_only = node.internal & node.internal.wrapping_sub(1) == 0;
                let found = if is_only { node.values } else { POSITION | (node.values + rank(node.internal, longest)) };
                lanes.best[i] = if fits && fitting != 0 { found } else { lanes.best[i] };
                let child = node.children + rank(node.external, step as u32);
                lanes.node[i] = child;
                prefetch(self.node_address(child));
                lanes.active[still] = i as u8;
                still += usize::from(fits & has(node.external, step as u32));
            }
            lanes.actives = still;
        }
    }

    /// Address of a node, for a prefetch; of any number.
    #[inline(always)]
    pub(super) fn node_address(&self, node: u32) -> *const u8 {
        self.nodes.all.as_ptr().wrapping_add(node as usize).cast()
    }

    /// Asks for the values that lanes have found, of those that are elsewhere.
    #[inline(always)]
    pub(super) fn prefetch_found(&self, best: &[u32]) {
        if best.iter().fold(0, |all, best| all | best) >= POSITION {
            for best in best {
                prefetch(self.values.all.as_ptr().wrapping_add((best & !POSITION) as usize).cast());
            }
        }
    }

    /// What a lane has found, 0 for nothing.
    #[inline(always)]
    pub(super) fn found(&self, best: u32) -> u32 {
        if best < POSITION { best } else { self.values.all[(best - POSITION) as usize] }
    }
}

#[inline(always)]
fn has(bitmap: u64, bit: u32) -> bool {
    bitmap >> bit & 1 == 1
}

/// Bits set below `bit`.
#[inline(always)]
fn rank(bitmap: u64, bit: u32) -> u32 {
    (bitmap & ((1 << bit) - 1)).count_ones()
}

fn high(bits: u128) -> u64 {
    (bits >> 64) as u64
}

fn take_step(bits: &mut u128) -> u32 {
    let step = (*bits >> (128 - STEP)) as u32;
    *bits <<= STEP;
    step
}

/// The bit of `internal` for a prefix of `len` < 6 further bits.
fn heap_position(bits: u128, len: u32) -> u32 {
    let value = bits.checked_shr(128 - len).unwrap_or(0) as u32;
    (1 << len) - 1 + value
}

/// Elements of one kind, whose positions share words with up to two other bits.
const MOST: usize = 1 << 30;

/// Arrays of up to 64 elements within one; freed ones are kept by length.
struct Blocks<T> {
    all: Array<T>,
    free: Vec<Vec<u32>>,
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Blocks { all: Array::default(), free: vec![Vec::new(); 65] }
    }
}

impl<T: Copy + Default> Blocks<T> {
    /// Moves the array of `len` elements at `at` to where it has one more, `add`, at `position`; or, with `None`, one less,
    /// without the one at `position`. Returns where.
    fn resize(&mut self, at: u32, len: u32, position: u32, add: Option<T>) -> u32 {
        let new_len = if add.is_some() { len + 1 } else { len - 1 };
        let to = self.take(new_len);
        let (from, before, into) = (at as usize, position as usize, to as usize);
        let (len, is_more) = (len as usize, usize::from(add.is_some()));
        self.all.copy_within(from..from + before, into);
        self.all.copy_within(from + before + 1 - is_more..from + len, into + before + is_more);
        if let Some(element) = add {
            self.all[into + before] = element;
        }
        if len > 0 {
            self.free[len].push(at);
        }
        to
    }

    fn take(&mut self, len: u32) -> u32 {
        if len == 0 {
            return 0;
        }
        if let Some(at) = self.free[len as usize].pop() {
            return at;
        }
        let at = self.all.len();
        // Entries would have to be moved through arrays of all lengths by the million, in over 32 GiB.
        assert!(at + len as usize <= MOST, "no more numbers of nodes");
        self.all.grow(len as usize, T::default());
        at as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every length from two sides; when the prefixes are deleted, so are the nodes, and their room is reused.
    #[test]
    fn removal_leaves_nothing_behind() {
        let prefixes: Vec<(u128, u32)> = (0..2000u128)
            .map(|i| ((i % 50).wrapping_mul(0x1234_5678_9abc_def1_0fed_cba9_8765_4321), (i / 50 * 3 % 129) as u32))
            .map(|(bits, len)| (bits & !(u128::MAX.checked_shr(len).unwrap_or(0)), len))
            .collect();
        let mut trie = Trie::default();
        let root = trie.add_root();
        let mut sizes = Vec::new();
        for _ in 0..3 {
            let mut kept = Vec::new();
            for (i, (bits, len)) in prefixes.iter().enumerate() {
                if trie.get(root, *bits, *len).is_none() {
                    trie.set(root, *bits, *len, i as u32);
                    kept.push((i as u32, *bits, *len));
                }
            }
            assert!(kept.len() > 1000);
            for (i, bits, len) in &kept {
                assert_eq!(trie.get(root, *bits, *len), Some(*i));
            }
            for (_, bits, len) in &kept {
                trie.remove(root, *bits, *len);
                assert_eq!(trie.get(root, *bits, *len), None);
            }
            assert!(trie.is_empty(root));
            let free = |free: &[Vec<u32>]| free.iter().enumerate().map(|(len, list)| len * list.len()).sum::<usize>();
            assert_eq!(free(&trie.nodes.free), trie.nodes.all.len() - 1);
            assert_eq!(free(&trie.values.free), trie.values.all.len());
            sizes.push((trie.nodes.all.len(), trie.values.all.len()));
        }
        assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
        trie.remove_root(root);
        assert_eq!(trie.add_root(), root);
    }
}
