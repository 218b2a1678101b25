//! What does the control plane know of a packet that is sent, by its mark? How it is to wait for a port's rate, and where it is charged.
//!
//! One thread writes, workers read. What is known of a mark is two words: a worker that reads while they change may treat a packet by the old half.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Slices of a port: their numbers are below this.
pub const SLICES: usize = 64;
/// Highest weight of a flow.
pub const MOST_WEIGHT: u16 = 1000;
/// Marks whose words lie together: memory is taken for those that are used.
const CHUNK: usize = 4096;

/// How packets of a mark are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Treatment {
    /// Cell of the counter that the program charges them in; 0: they are not charged.
    pub cell: u32,
    /// Their slice of a port, below [`SLICES`]; one beyond counts as 0, which is for what belongs to no other.
    pub slice: u8,
    /// Their flow: what shares a queue with others in turns.
    pub flow: u32,
    /// Its share of that: at most [`MOST_WEIGHT`]; 0 counts as 1.
    pub weight: u16,
    /// Its guaranteed rate in kbit/s; 0: none. A flow with one is another than that of the same number without.
    pub guaranteed_kbps: u32,
}

/// Treatments by mark.
pub struct Marks(Box<[OnceLock<Box<[Words]>>]>);

impl std::fmt::Debug for Marks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Marks({})", self.0.len() * CHUNK)
    }
}

/// Bits from the lowest: cell 32, life 15, slice 6, weight 10, whether there is one 1; and flow 32, rate 32.
#[derive(Default)]
struct Words([AtomicU64; 2]);

/// A mark's life ends when it is taken from what it belongs to: the next one's packets are others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life(u16);

const LIFE: u32 = 32;
const SLICE: u32 = 47;
const WEIGHT: u32 = 53;
const IS_THERE: u64 = 1 << 63;
/// Lives, of which the next one after the last is the first: a packet does not wait for as many.
const LIVES: u16 = 1 << (SLICE - LIFE);

impl Marks {
    /// For marks below `size`, of which nothing is known.
    pub fn new(size: usize) -> Marks {
        Marks((0..size.div_ceil(CHUNK)).map(|_| OnceLock::new()).collect())
    }

    /// What holds for packets of a mark from now on; `None`: what they belonged to has ended, and those that wait are dropped. Marks beyond the size are not known.
    pub fn set(&self, mark: u32, treatment: Option<Treatment>) {
        let Some(chunk) = self.0.get(mark as usize / CHUNK) else { return };
        let words = &chunk.get_or_init(|| (0..CHUNK).map(|_| Words::default()).collect())[mark as usize % CHUNK].0;
        let life = (words[0].load(Ordering::Relaxed) >> LIFE) as u16 % LIVES;
        match treatment {
            Some(Treatment { cell, slice, flow, weight, guaranteed_kbps }) => {
                let slice = if usize::from(slice) < SLICES { u64::from(slice) } else { 0 };
                let weight = u64::from(weight.min(MOST_WEIGHT));
                words[1].store(u64::from(guaranteed_kbps) << 32 | u64::from(flow), Ordering::Relaxed);
                let first = IS_THERE | weight << WEIGHT | slice << SLICE | u64::from(life) << LIFE | u64::from(cell);
                words[0].store(first, Ordering::Release);
            }
            None => words[0].store(u64::from((life + 1) % LIVES) << LIFE, Ordering::Release),
        }
    }

    pub(crate) fn get(&self, mark: u32) -> Option<(Treatment, Life)> {
        let words = &self.0.get(mark as usize / CHUNK)?.get()?[mark as usize % CHUNK].0;
        let [first, second] = [words[0].load(Ordering::Acquire), words[1].load(Ordering::Relaxed)];
        let treatment = Treatment {
            cell: first as u32,
            slice: (first >> SLICE) as u8 % SLICES as u8,
            flow: second as u32,
            weight: (first >> WEIGHT) as u16 % (1 << (63 - WEIGHT)),
            guaranteed_kbps: (second >> 32) as u32,
        };
        (first & IS_THERE != 0).then_some((treatment, Life((first >> LIFE) as u16 % LIVES)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_for_a_mark_is_found_until_it_ends_and_the_next_life_is_another() {
        let marks = Marks::new(10_000);
        let of = |n: u32| Treatment { cell: n, slice: n as u8 % 64, flow: !n, weight: (n % 1001) as u16, guaranteed_kbps: n / 2 };
        assert!([0, 7, 4096, 9_999, 12_287, 12_288, u32::MAX].iter().all(|mark| marks.get(*mark).is_none()));
        for mark in [0, 7, 4096, 9_999, u32::MAX] {
            marks.set(mark, Some(of(u32::MAX - mark)));
        }
        let (first, life) = marks.get(7).unwrap();
        assert_eq!(first, of(u32::MAX - 7));
        marks.set(7, Some(of(1)));
        assert_eq!(marks.get(7), Some((of(1), life)), "changed, it is still the same one's");
        marks.set(7, None);
        assert!(marks.get(7).is_none() && marks.get(u32::MAX).is_none());
        marks.set(7, Some(Treatment { slice: u8::MAX, weight: u16::MAX, ..of(1) }));
        assert_eq!(marks.get(7).unwrap().0, Treatment { slice: 0, weight: MOST_WEIGHT, ..of(1) });
        assert_ne!(marks.get(7).unwrap().1, life);
        // However many there have been.
        let mut before = life;
        for _ in 0..70_000 {
            marks.set(7, None);
            marks.set(7, Some(of(1)));
            let (treatment, life) = marks.get(7).unwrap();
            assert!(treatment == of(1) && life != before);
            before = life;
        }
        assert_eq!(marks.get(9_999).unwrap().0, of(u32::MAX - 9_999));
    }
}
