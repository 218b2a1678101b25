//! A trie of 6 bits a step whose nodes are two bitmaps (a "tree bitmap"): compact however sparse the prefixes, and a
//! prefix comes or goes by changing one node and its parents' arrays.
//!
//! A node stands for a prefix of 6k bits. `internal` tells which of the 63 prefixes of 0 to 5 further bits exist, in the
//! order of a heap: shorter first, then by value, so the longest that fits a key is the highest bit of those on its way.
//! `external` tells which of the 64 next steps have a node. Both kinds lie in arrays without gaps, where a bit's
//! position is the number of bits set below it.

use crate::{BURST, prefetch};

/// Bits of a step.
const STEP: u32 = 6;

#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
struct Node {
    internal: u64,
    external: u64,
    /// First child and first result.
    children: u32,
    results: u32,
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

/// A forest of such tries with shared arrays; a root is a node's number.
#[derive(Default)]
pub(super) struct Trie {
    nodes: Blocks<Node>,
    results: Blocks<u32>,
}

/// One key a lane: where it is and the bits that are left, and in `best` what it has found.
pub(super) struct Lanes {
    pub(super) node: [u32; BURST],
    pub(super) high: [u64; BURST],
    pub(super) low: [u64; BURST],
    /// A result's position plus 1, 0 for none.
    pub(super) best: [u32; BURST],
    /// Lanes still on their way, and their number.
    pub(super) active: [u8; BURST],
    pub(super) actives: usize,
}

impl Trie {
    /// A new empty trie.
    pub(super) fn add_root(&mut self) -> u32 {
        self.nodes.resize(0, 0, 0, Some(Node::default()))
    }

    /// Takes an empty trie away.
    pub(super) fn remove_root(&mut self, root: u32) {
        debug_assert!(self.is_empty(root));
        self.nodes.resize(root, 1, 0, None);
    }

    pub(super) fn is_empty(&self, root: u32) -> bool {
        let node = self.nodes.all[root as usize];
        node.internal == 0 && node.external == 0
    }

    /// What the prefix of `len` bits, left-aligned in `bits`, stands for.
    pub(super) fn get(&self, root: u32, mut bits: u128, mut len: u32) -> Option<u32> {
        let mut at = root;
        while len >= STEP {
            let (node, step) = (&self.nodes.all[at as usize], take_step(&mut bits));
            at = has(node.external, step).then(|| node.children + rank(node.external, step))?;
            len -= STEP;
        }
        let (node, bit) = (&self.nodes.all[at as usize], heap_position(bits, len));
        has(node.internal, bit).then(|| self.results.all[(node.results + rank(node.internal, bit)) as usize])
    }

    /// Adds a prefix, or gives one that is there another result.
    pub(super) fn set(&mut self, root: u32, mut bits: u128, mut len: u32, result: u32) {
        let mut at = root;
        while len >= STEP {
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
        let bit = heap_position(bits, len);
        let node = &mut self.nodes.all[at as usize];
        if has(node.internal, bit) {
            self.results.all[(node.results + rank(node.internal, bit)) as usize] = result;
            return;
        }
        node.results = self.results.resize(node.results, node.internal.count_ones(), rank(node.internal, bit), Some(result));
        node.internal |= 1 << bit;
    }

    /// Takes out a prefix that is there, and the nodes that nothing needs any more.
    pub(super) fn remove(&mut self, root: u32, mut bits: u128, mut len: u32) {
        let mut way = Vec::with_capacity(128 / STEP as usize + 1);
        let mut at = root;
        while len >= STEP {
            let (node, step) = (&self.nodes.all[at as usize], take_step(&mut bits));
            way.push((at, step));
            at = node.children + rank(node.external, step);
            len -= STEP;
        }
        let bit = heap_position(bits, len);
        let node = &mut self.nodes.all[at as usize];
        node.results = self.results.resize(node.results, node.internal.count_ones(), rank(node.internal, bit), None);
        node.internal &= !(1 << bit);
        while let Some((parent, step)) = way.pop() {
            if !self.is_empty(at) {
                break;
            }
            let Node { external, children, .. } = self.nodes.all[parent as usize];
            let moved = self.nodes.resize(children, external.count_ones(), rank(external, step), None);
            let node = &mut self.nodes.all[parent as usize];
            (node.external, node.children) = (external & !(1 << step), moved);
            at = parent;
        }
    }

    /// Walks all lanes down, a step of each at a time so that their cache misses overlap.
    pub(super) fn walk(&self, lanes: &mut Lanes) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the instruction.
            return unsafe { self.walk_with_popcnt(lanes) };
        }
        self.walk_lanes(lanes);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt")]
    fn walk_with_popcnt(&self, lanes: &mut Lanes) {
        self.walk_lanes(lanes);
    }

    #[inline(always)]
    fn walk_lanes(&self, lanes: &mut Lanes) {
        while lanes.actives > 0 {
            let mut still = 0;
            for a in 0..lanes.actives {
                let i = usize::from(lanes.active[a]) % BURST;
                let node = &self.nodes.all[lanes.node[i] as usize];
                let step = (lanes.high[i] >> (64 - STEP)) as u32;
                lanes.high[i] = lanes.high[i] << STEP | lanes.low[i] >> (64 - STEP);
                lanes.low[i] <<= STEP;
                let fitting = node.internal & ON_THE_WAY[step as usize];
                // With nothing fitting the shift is by 63 at most and the position is not used.
                let longest = 63 ^ (fitting | 1).leading_zeros();
                let position = node.results + rank(node.internal, longest) + 1;
                lanes.best[i] = if fitting != 0 { position } else { lanes.best[i] };
                let child = node.children + rank(node.external, step);
                lanes.node[i] = child;
                prefetch(self.nodes.all.as_ptr().wrapping_add(child as usize).cast());
                lanes.active[still] = i as u8;
                still += usize::from(has(node.external, step));
            }
            lanes.actives = still;
        }
    }

    /// Address of a lane's result, for a prefetch.
    #[inline(always)]
    pub(super) fn result_address(&self, best: u32) -> *const u8 {
        self.results.all.as_ptr().wrapping_add(best.wrapping_sub(1) as usize).cast()
    }

    /// A lane's result, 0 for none.
    #[inline(always)]
    pub(super) fn result(&self, best: u32) -> u32 {
        if best == 0 { 0 } else { self.results.all[best as usize - 1] }
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

/// Arrays of up to 64 elements within one vector; given back ones are kept by length.
struct Blocks<T> {
    all: Vec<T>,
    free: Vec<Vec<u32>>,
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Blocks { all: Vec::new(), free: vec![Vec::new(); 65] }
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
        self.all.resize(at + len as usize, T::default());
        u32::try_from(at + len as usize).expect("MAX_LPM_CAPACITY keeps positions within 32 bits") - len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every length from two sides; when the prefixes are gone, so are the nodes, and their room is used again.
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
            assert_eq!(free(&trie.results.free), trie.results.all.len());
            sizes.push((trie.nodes.all.len(), trie.results.all.len()));
        }
        assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
        trie.remove_root(root);
        assert_eq!(trie.add_root(), root);
    }
}
