//! Which timers may be due? One wheel of ticks for all bearers; a timer is linked in it, so starting and stopping allocate nothing.

/// No neighbour, or not linked.
pub(crate) const NONE: u32 = u32::MAX;

/// Slots of the wheel: more ticks than the longest timer has.
pub(crate) const SLOTS: usize = 4096;

/// A timer's place in the wheel. It lies beside what it times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    slot: u32,
    previous: u32,
    next: u32,
}

impl Place {
    /// In no slot.
    pub(crate) const NOWHERE: Place = Place { slot: NONE, previous: NONE, next: NONE };

    /// Of a timer of a slot that was taken: it is linked no more. The next one's number, or [`NONE`].
    pub(crate) fn leave(&mut self) -> u32 {
        std::mem::replace(self, Place::NOWHERE).next
    }

    /// Whether it is linked.
    pub(crate) fn is_linked(&self) -> bool {
        self.slot != NONE
    }
}

/// Holds the places of all timers.
pub(crate) trait Places {
    /// Of the timer with this number.
    fn place(&mut self, timer: u32) -> &mut Place;
}

/// First timer of each slot.
pub(crate) struct Wheel(Box<[u32]>);

impl Wheel {
    /// Without timers.
    pub(crate) fn new() -> Wheel {
        Wheel(vec![NONE; SLOTS].into_boxed_slice())
    }

    /// Links a timer, which is not linked, where `tick` is.
    pub(crate) fn link(&mut self, places: &mut impl Places, timer: u32, tick: u64) {
        let slot = (tick % SLOTS as u64) as u32;
        let next = std::mem::replace(&mut self.0[slot as usize], timer);
        *places.place(timer) = Place { slot, previous: NONE, next };
        if next != NONE {
            places.place(next).previous = timer;
        }
    }

    /// Takes a timer out, wherever it is.
    pub(crate) fn unlink(&mut self, places: &mut impl Places, timer: u32) {
        let Place { slot, previous, next } = std::mem::replace(places.place(timer), Place::NOWHERE);
        if slot == NONE {
            return;
        }
        match previous {
            NONE => self.0[slot as usize] = next,
            previous => places.place(previous).next = next,
        }
        if next != NONE {
            places.place(next).previous = previous;
        }
    }

    /// Empties the slot where `tick` is: the first of its timers, the others follow by [`Place::leave`].
    pub(crate) fn take(&mut self, tick: u64) -> u32 {
        std::mem::replace(&mut self.0[(tick % SLOTS as u64) as usize], NONE)
    }
}
