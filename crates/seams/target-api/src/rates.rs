//! Rates that packets wait for: the cells of one indexed meter, as a lane's worker asks them.
//!
//! With shaping a packet that finds its cell red is not dropped but given back ([`base::VerdictKind::Shape`]), and its worker keeps it until
//! the cell lets it pass. The cell stays the one token bucket of its rate, however many lanes and targets ask it.

/// Whether a cell lets a packet pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Its units are taken.
    Now,
    /// Not before that time, in ns, on the clock of [`crate::Lane::process`].
    At(u64),
    /// Never: the rate is zero, or the burst is smaller than the packet.
    Never,
}

/// The cells of the shaped meter. A cell that is not configured lets everything pass.
pub trait Rates {
    /// Takes units out of a cell's bucket, if it holds as many.
    fn take(&mut self, cell: u32, units: u32, now_ns: u64) -> Taken;

    /// When [`Rates::take`] will give a cell's units, if nobody else takes them, as far as that is known without taking any; else now.
    fn when_ns(&self, _cell: u32, _units: u32, now_ns: u64) -> u64 {
        now_ns
    }

    /// Gives back what was just taken.
    fn give_back(&mut self, cell: u32, units: u32);

    /// Units a second of a cell; [`u64::MAX`] if it is not configured.
    fn rate(&self, cell: u32) -> u64;

    /// A cell will be asked soon: a chance to have it come to the cache.
    fn look_ahead(&self, _cell: u32) {}

    /// Packets of this lane's worker wait for a cell, or do no longer: while they do, it is red for all that come and none overtakes them.
    fn set_waiting(&mut self, cell: u32, waits: bool);
}
