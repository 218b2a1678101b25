//! Rates as a tree: port, slice, session, flow (TS 23.501 §5.7). A packet takes its bytes from all nodes on its way up at once, or from none.
//!
//! - **Maximum** (MFBR, Session-AMBR, Slice-MBR, link): a token bucket at each node.
//! - **Guaranteed** (GFBR): within it a leaf sends whatever the nodes above say, and they go into debt for it: the others wait for that. Guarantees
//!   that exceed the rate of a node above are the caller's fault, and starve the others.
//! - **Shared** nodes are nodes with several children, as a QER of several PDRs is one node.

use crate::shaper::{Rates, Take};

const NANO: i64 = 1_000_000_000;

/// One node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The node above; of the root none.
    pub parent: Option<u32>,
    /// Maximum rate in bytes a second.
    pub rate: u64,
    /// Burst in bytes, of both rates: at least the longest packet. At most [`MAX_BURST`].
    pub burst: u32,
    /// Of a leaf, its guaranteed rate in bytes a second; 0: none.
    pub guaranteed: u64,
    /// Of a leaf, its share of what is spare.
    pub weight: u32,
}

/// Longest burst in bytes.
pub const MAX_BURST: u32 = 1 << 30;

#[derive(Clone, Copy)]
struct Bucket {
    /// In 10^-9 bytes. Below zero: debt.
    tokens: i64,
    last_ns: u64,
}

/// A line of memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Held {
    node: Node,
    most: Bucket,
    guaranteed: Bucket,
}

/// Nodes by number.
#[derive(Default)]
pub struct Tree(Vec<Held>);

/// A node that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its parent is not there yet: parents come first, so there are no circles.
    Parent,
    /// Its burst is 0 or above [`MAX_BURST`].
    Burst,
    /// It has no such number.
    Unknown,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Fault::Parent => "the parent must be added before its children",
            Fault::Burst => "expected a burst of 1 byte to 1 GiB",
            Fault::Unknown => "no such node",
        })
    }
}

impl std::error::Error for Fault {}

impl Bucket {
    fn full(burst: u32, now_ns: u64) -> Bucket {
        Bucket { tokens: i64::from(burst) * NANO, last_ns: now_ns }
    }

    fn fill(&mut self, rate: u64, burst: u32, now_ns: u64) {
        let elapsed_ns = now_ns.saturating_sub(self.last_ns);
        if elapsed_ns > 0 {
            self.last_ns = now_ns;
            let gained = i64::try_from(u128::from(rate) * u128::from(elapsed_ns)).unwrap_or(i64::MAX);
            self.tokens = self.tokens.saturating_add(gained).min(i64::from(burst) * NANO);
        }
    }

    /// When it will hold `cost`, being filled.
    fn when(&self, rate: u64, cost: i64, now_ns: u64) -> u64 {
        let missing = i128::from(cost) - i128::from(self.tokens);
        if missing <= 0 {
            return now_ns;
        }
        now_ns.saturating_add(u64::try_from((missing as u128).div_ceil(rate.into())).unwrap_or(u64::MAX))
    }
}

impl Tree {
    /// Adds a node with full buckets; its number is how many there were.
    pub fn add(&mut self, node: Node, now_ns: u64) -> Result<u32, Fault> {
        if node.parent.is_some_and(|parent| parent as usize >= self.0.len()) {
            return Err(Fault::Parent);
        }
        if node.burst == 0 || node.burst > MAX_BURST {
            return Err(Fault::Burst);
        }
        let full = Bucket::full(node.burst, now_ns);
        self.0.push(Held { node, most: full, guaranteed: full });
        Ok((self.0.len() - 1) as u32)
    }

    /// Changes the rates of a node; what is in its buckets stays, as far as the new burst holds so much.
    pub fn change(&mut self, number: u32, rate: u64, guaranteed: u64, burst: u32, now_ns: u64) -> Result<(), Fault> {
        let held = self.0.get_mut(number as usize).ok_or(Fault::Unknown)?;
        if burst == 0 || burst > MAX_BURST {
            return Err(Fault::Burst);
        }
        held.most.fill(held.node.rate, held.node.burst.min(burst), now_ns);
        held.guaranteed.fill(held.node.guaranteed, held.node.burst.min(burst), now_ns);
        held.node = Node { rate, guaranteed, burst, ..held.node };
        Ok(())
    }

    fn charge(&mut self, leaf: u32, cost: i64) {
        let mut at = Some(leaf);
        while let Some(number) = at {
            let held = &mut self.0[number as usize];
            held.most.tokens = held.most.tokens.saturating_sub(cost).min(i64::from(held.node.burst) * NANO);
            at = held.node.parent;
        }
    }
}

impl Rates for Tree {
    fn take(&mut self, leaf: u32, size: u32, now_ns: u64) -> Take {
        let cost = i64::from(size) * NANO;
        let mut at = Some(leaf);
        let mut late = None;
        while let Some(number) = at {
            let Some(held) = self.0.get_mut(number as usize) else { return Take::Never };
            let Node { rate, burst, parent, .. } = held.node;
            if size > burst || rate == 0 {
                return Take::Never;
            }
            held.most.fill(rate, burst, now_ns);
            let at_ns = held.most.when(rate, cost, now_ns);
            if at_ns > now_ns && late.is_none() {
                late = Some((number, at_ns));
            }
            at = parent;
        }
        let Held { node, guaranteed, .. } = &mut self.0[leaf as usize];
        if node.guaranteed > 0 && late.is_none_or(|(number, _)| number != leaf) {
            guaranteed.fill(node.guaranteed, node.burst, now_ns);
            if guaranteed.tokens >= cost {
                guaranteed.tokens -= cost;
                self.charge(leaf, cost);
                return Take::Now { guaranteed: true };
            }
        }
        if let Some((node, at_ns)) = late {
            return Take::At { node, at_ns };
        }
        self.charge(leaf, cost);
        Take::Now { guaranteed: false }
    }

    fn give_back(&mut self, leaf: u32, size: u32, guaranteed: bool) {
        let cost = i64::from(size) * NANO;
        if guaranteed && let Some(held) = self.0.get_mut(leaf as usize) {
            held.guaranteed.tokens = held.guaranteed.tokens.saturating_add(cost).min(i64::from(held.node.burst) * NANO);
        }
        self.charge(leaf, -cost);
    }

    fn when_ns(&self, leaf: u32, size: u32, now_ns: u64) -> u64 {
        let alone = |held: &&Held| held.node.parent.is_none() && held.node.guaranteed == 0 && held.node.rate > 0 && size <= held.node.burst;
        // Of those above, and of what is guaranteed, only taking tells.
        let Some(Held { node, mut most, .. }) = self.0.get(leaf as usize).filter(alone).copied() else { return now_ns };
        most.fill(node.rate, node.burst, now_ns);
        most.when(node.rate, i64::from(size) * NANO, now_ns)
    }

    fn rate(&self, leaf: u32) -> u64 {
        self.0.get(leaf as usize).map_or(0, |held| held.node.rate)
    }

    fn weight(&self, leaf: u32) -> u32 {
        self.0.get(leaf as usize).map_or(1, |held| held.node.weight)
    }

    fn look_ahead(&self, leaf: u32) -> u64 {
        // Nodes above have many leaves, and are in the cache.
        self.0.get(leaf as usize).map_or(0, |held| held.most.last_ns)
    }
}
