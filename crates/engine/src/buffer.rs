//! Idle-mode buffers: packets of a PDR whose FAR says BUFF, in order of arrival (TS 29.244 §5.2.3.1, §5.2.4).

use base::Packet;
use std::collections::{HashMap, VecDeque};

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLimits {
    /// Packets of one PDR.
    pub per_pdr: usize,
    /// Packets of one worker.
    pub total: usize,
}

impl Default for BufferLimits {
    fn default() -> BufferLimits {
        BufferLimits { per_pdr: 1024, total: 65536 }
    }
}

/// One worker's buffers, by PDR number.
pub(crate) struct Buffers {
    limits: BufferLimits,
    rows: HashMap<u32, VecDeque<Packet>>,
    held: usize,
}

/// What [`Buffers::push`] did.
pub(crate) enum Pushed {
    /// Kept, and the control plane is to be told: the first of its row, or as many wait again. What it was told before
    /// may have come to nothing (a report that nobody answered), or the FAR has been told anew to buffer and notify.
    Told,
    /// Kept.
    Kept,
    /// Refused; the packet comes back.
    Full(Packet),
}

impl Buffers {
    pub(crate) fn new(limits: BufferLimits) -> Buffers {
        Buffers { limits, rows: HashMap::new(), held: 0 }
    }

    pub(crate) fn push(&mut self, pdr: u32, packet: Packet) -> Pushed {
        let row_len = self.rows.get(&pdr).map_or(0, VecDeque::len);
        if row_len >= self.limits.per_pdr || self.held >= self.limits.total {
            return Pushed::Full(packet);
        }
        self.rows.entry(pdr).or_default().push_back(packet);
        self.held += 1;
        if (row_len + 1).is_power_of_two() { Pushed::Told } else { Pushed::Kept }
    }

    /// All packets of a PDR, oldest first; they wait no longer.
    pub(crate) fn take(&mut self, pdr: u32) -> VecDeque<Packet> {
        let row = self.rows.remove(&pdr).unwrap_or_default();
        self.held -= row.len();
        row
    }

    /// Everything, at the end.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = Packet> {
        self.held = 0;
        std::mem::take(&mut self.rows).into_values().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PortId;

    #[test]
    fn rows_keep_order_and_both_limits_hold() {
        let mut b = Buffers::new(BufferLimits { per_pdr: 2, total: 3 });
        let p = |n: u8| Packet::new(&[n], PortId(0));
        assert!(matches!(b.push(1, p(1)), Pushed::Told));
        assert!(matches!(b.push(1, p(2)), Pushed::Told));
        assert!(matches!(b.push(1, p(3)), Pushed::Full(_)), "row full");
        assert!(matches!(b.push(2, p(4)), Pushed::Told));
        assert!(matches!(b.push(2, p(5)), Pushed::Full(_)), "all full");
        let out: Vec<u8> = b.take(1).iter().map(|p| p.data()[0]).collect();
        assert_eq!(out, [1, 2]);
        assert!(matches!(b.push(1, p(6)), Pushed::Told), "an emptied row starts anew");
        assert_eq!(b.take_all().count(), 2);
    }

    #[test]
    fn a_growing_row_is_told_again_each_time_it_has_doubled() {
        let mut b = Buffers::new(BufferLimits { per_pdr: 100, total: 100 });
        let told = (1..=100).filter(|n| matches!(b.push(1, Packet::new(&[*n], PortId(0))), Pushed::Told));
        assert_eq!(told.collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 64]);
    }
}
