//! One table in memory that programs read while it changes.
//!
//! A hash chain begins in its home cell and continues in cells behind the homes. A change writes new cells that no generation
//! sees yet, and notes which cells end; [`Store::commit`] stamps them, and the caller then moves the generation on. A cell that
//! has ended waits until no packet of its generations is left, is then unlinked, and after a second wait used again. A batch that ends
//! something is followed by a wait ([`crate::state::State::wait_for_packets`]); if there is still no room, two more are made.
//!
//! **A table that grows** ([`program::packing::grows`]) begins with few home cells and has twice as many each time that half of them are used
//! ([`Store::make_room`]). Cells keep their numbers: home cells come first, up to the most that there may be, and those behind them follow.

use crate::segments::entries_of_segment;
use crate::sys::Shared;
use crate::waits::Waits;
use program::packing::{ACTION, CellLayout, FROM, KEY, MAX_CHAIN, MAX_STEPS, MAX_TUPLES, NEXT, PENDING, Place, TO, TUPLE};
use program::{ActionId, Entry, KeyMatch, MatchKind, TableInfo};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use target_api::Picker;

const _: () = assert!(FROM.is_multiple_of(8) && TO == FROM + 4, "both are one word");

/// `to` of what has no end.
const FOR_EVER: u32 = u32::MAX;
/// `from` of what is not seen yet.
const NEVER: u32 = u32::MAX;
/// Numbers of masks that are in use, were listed before this batch, or wait to be reused: when there are so many, at least half of
/// them can be freed, so that the wait is rare.
const MOST_NUMBERS: usize = 4 * MAX_TUPLES;

/// Why an entry was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It exists.
    Exists,
    /// It does not.
    Missing,
    /// No room, or more collisions than a look-up goes through.
    Full,
    /// More masks than a look-up goes through.
    Masks,
}

/// A cell's part in the change that is being made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Live,
    /// Written in this batch.
    New,
    /// Ends with this batch.
    Ending,
    /// Written and ended in this batch: no packet sees it.
    Stillborn,
    /// Ended; packets may still see it.
    Limbo,
}

/// A mask that entries have in common.
struct Tuple {
    mask: Vec<u64>,
    members: u64,
    /// No member ranks higher.
    most: u64,
    /// Whether the programs' list has it, and with which `most`.
    listed: Option<u64>,
}

/// An entry's key as cells have it.
struct Packed {
    words: Vec<u64>,
    mask: Vec<u64>,
    /// Priority, or length of the prefix.
    priority: u32,
    bounds: Vec<(Place, u128)>,
}

/// One step of a batch, for its undoing.
enum Step {
    Wrote(u32),
    Ended(u32),
}

/// What an entry runs, and its cell of the direct counter.
pub(crate) struct Held {
    pub action: ActionId,
    pub args: Vec<u128>,
    pub direct: Option<u32>,
}

/// A table.
pub(crate) struct Store {
    layout: Arc<CellLayout>,
    kinds: Vec<MatchKind>,
    widths: Vec<u32>,
    seed: u64,
    cells: Shared,
    /// Home cells in use, of so many that there may be.
    homes: u32,
    most_homes: u32,
    /// Where programs read it, less one; of tables that grow.
    homes_word: Option<HomesWord>,
    states: Vec<State>,
    /// Cells behind the homes that are free.
    free: Vec<u32>,
    unused: u32,
    pub capacity: u64,
    pub len: u64,
    tuples: Vec<Tuple>,
    /// Free mask numbers, in no list that packets may see.
    free_tuples: Vec<u16>,
    by_mask: BTreeMap<Vec<u64>, u16>,
    /// The two copies of the list of masks.
    masks: Option<Shared>,
    defaults: Shared,
    /// Which copies are in force, and the wait that the others were taken out of force before.
    default_copy: usize,
    masks_copy: usize,
    /// The generations from which the other copies of default and masks are not seen.
    retired: [u32; 2],
    default: (ActionId, Vec<u128>),
    /// The program's.
    first_default: ActionId,
    new_default: Option<(ActionId, Vec<u128>)>,
    longest: usize,
    steps: Vec<Step>,
    /// Ended before that many waits; unlinked before that many.
    limbo: Vec<u32>,
    unlinked: Vec<u32>,
    /// Homes that have become free since the last batch.
    vacant: Vec<u32>,
    waits: Arc<Waits>,
    /// Orders entries of equal priority: the first one wins.
    inserted: u32,
    /// Direct counters.
    direct_free: Vec<u32>,
    direct_used: u32,
    /// Direct cells that are to be zero when this batch is seen.
    direct_clear: Vec<u32>,
    /// Whether a packet's flow is known by this table, so that its entries can be pending.
    of_flows: bool,
    /// Whether entries that come now are pending, what they are marked with then, and the pending ones with their marks.
    comes_pending: bool,
    age: u16,
    pending: Vec<(u32, u16)>,
    /// Those of them that were there when the wait began that is to end.
    draining: Vec<(u32, u16)>,
}

/// The word of a table that grows in `sp_homes`.
pub(crate) struct HomesWord {
    pub words: Shared,
    pub at: usize,
}

impl HomesWord {
    fn set(&self, homes: u32) {
        self.words.word(4 * self.at).store(homes - 1, Ordering::Release);
    }
}

/// Memory and sizes of a store.
pub(crate) struct Room {
    pub cells: Shared,
    /// Most home cells; those of a table that does not grow.
    pub homes: u32,
    pub homes_word: Option<HomesWord>,
    pub total: u32,
    pub masks: Option<Shared>,
    pub defaults: Shared,
    pub capacity: u64,
    pub seed: u64,
    pub waits: Arc<Waits>,
}

/// Home cells and all cells for a table of that capacity.
pub(crate) fn cells_for(capacity: u64) -> (u32, u32) {
    // Half full at most, so that nearly every entry is in its home. The numbers are constants of the compiled text: few different
    // ones, so that tables of about that size can share it.
    let most = capacity.max(16).next_power_of_two().min(1 << 28);
    (2 * most as u32, (2 * most + most.max(capacity) / 2 + 256) as u32)
}

/// Bytes of one copy of a table's list of masks.
pub(crate) fn masks_len(layout: &CellLayout) -> usize {
    16 + MAX_TUPLES * (16 + layout.key_len)
}

impl Store {
    pub(crate) fn new(info: &TableInfo, layout: CellLayout, room: Room) -> Store {
        let mut store = Store {
            of_flows: info.split && !info.keys.is_empty() && !layout.wild,
            comes_pending: false,
            age: 1,
            pending: Vec::new(),
            draining: Vec::new(),
            kinds: info.keys.iter().map(|k| k.kind).collect(),
            widths: info.keys.iter().map(|k| k.width).collect(),
            layout: Arc::new(layout),
            seed: room.seed,
            cells: room.cells,
            homes: room.homes,
            most_homes: room.homes,
            homes_word: room.homes_word,
            states: vec![State::Free; room.total as usize],
            free: Vec::new(),
            unused: room.homes,
            capacity: room.capacity,
            len: 0,
            tuples: Vec::new(),
            free_tuples: Vec::new(),
            by_mask: BTreeMap::new(),
            masks: room.masks,
            defaults: room.defaults,
            default_copy: 0,
            masks_copy: 0,
            retired: [0; 2],
            default: info.default_action.clone(),
            first_default: info.default_action.0,
            new_default: None,
            longest: 1,
            steps: Vec::new(),
            limbo: Vec::new(),
            unlinked: Vec::new(),
            vacant: Vec::new(),
            waits: room.waits,
            inserted: 0,
            direct_free: Vec::new(),
            direct_used: 0,
            direct_clear: Vec::new(),
        };
        if let Some(word) = &store.homes_word {
            store.homes = room.homes.min(entries_of_segment(store.layout.len) as u32);
            word.set(store.homes);
        }
        let (action, args) = store.default.clone();
        store.write_default(0, action, &args, 0, FOR_EVER);
        store.write_default(1, action, &args, NEVER, 0);
        if let Some(masks) = &mut store.masks {
            let len = masks_len(&store.layout);
            stamp(masks, 0, 0, FOR_EVER);
            stamp(masks, len, NEVER, 0);
        }
        store
    }

    /// As it was at first, without entries. No packet may be in flight.
    pub(crate) fn anew(self, info: &TableInfo) -> Store {
        let Store { layout, mut cells, most_homes: homes, homes_word, states, mut masks, mut defaults, capacity, seed, waits, .. } = self;
        cells.zero();
        defaults.zero();
        masks.iter_mut().for_each(Shared::zero);
        let total = states.len() as u32;
        Store::new(info, (*layout).clone(), Room { cells, homes, homes_word, total, masks, defaults, capacity, seed, waits })
    }

    /// Sees to it that so many entries more, and as many again, would fit the home cells, as far as there may be so many. Between two batches. Where the
    /// kernel has no memory chains become longer, until an entry is refused.
    pub(crate) fn make_room(&mut self, more: u64) {
        let wanted = (self.len + more).min(self.capacity);
        while self.homes_word.is_some() && self.homes < self.most_homes && 2 * wanted > u64::from(self.homes) {
            if !self.double() {
                return;
            }
        }
    }

    /// Twice as many home cells: a hash has one bit more. Entries whose bit is set are copied to their new homes, where no packet looks; then packets
    /// are told the new number, and when none is left that began with the old one the first copies go. A packet finds one copy or the other. Says
    /// whether it was done.
    fn double(&mut self) -> bool {
        let (old, new) = (self.homes, 2 * self.homes);
        if self.cells.make_room(self.base(old)..self.base(new)).is_err() {
            return false;
        }
        // What is left has entries or is free.
        self.reclaim();
        self.reclaim();
        if !(self.limbo.is_empty() && self.unlinked.is_empty()) {
            return false;
        }
        let moving: Vec<(u32, u32)> = (0..old).flat_map(|home| self.moving(home, new)).collect();
        self.homes = new;
        let mut copies = Vec::with_capacity(moving.len());
        for (_, at) in &moving {
            let copied = self.copy(*at);
            copies.extend(copied);
            if copied.is_none() {
                // No room behind the homes. Nobody has seen the copies.
                copies.into_iter().for_each(|copy| self.forget(copy));
                self.homes = old;
                return false;
            }
        }
        let moved: BTreeMap<u32, u32> = moving.iter().map(|(_, at)| *at).zip(copies).collect();
        for list in [&mut self.pending, &mut self.draining] {
            let more: Vec<_> = list.iter().filter_map(|(at, mark)| Some((*moved.get(at)?, *mark))).collect();
            list.extend(more);
        }
        if let Some(word) = &self.homes_word {
            word.set(new);
        }
        if let Err(e) = self.waits.wait() {
            // The constructor of the target has seen that this works; should it ever not, cells are only reused sooner.
            tracing::warn!("cannot wait for packets: {e}");
        }
        for (home, at) in moving {
            stamp(&self.cells, self.base(at), NEVER, 0);
            if at == home {
                self.states[at as usize] = State::Free;
                self.vacant.push(at);
            } else {
                self.unlink_behind(home, at);
                self.states[at as usize] = State::Limbo;
                self.unlinked.push(at);
            }
        }
        true
    }

    /// Entries of a home's chain whose home is another one of `homes`.
    fn moving(&self, home: u32, homes: u32) -> Vec<(u32, u32)> {
        let (mut found, mut at) = (Vec::new(), home);
        loop {
            if self.states[at as usize] == State::Live && self.hash(&self.words(at), self.tuple_of(at)) & (homes - 1) != home {
                found.push((home, at));
            }
            at = self.word(at, NEXT);
            if at == 0 {
                return found;
            }
        }
    }

    /// The same entry at its home, or behind it, seen as the first one is.
    fn copy(&mut self, from: u32) -> Option<u32> {
        let mut cell = vec![0; self.layout.len];
        self.cells.read(self.base(from), &mut cell);
        let home = self.home(&self.words(from), self.tuple_of(from));
        let at = match self.states[home as usize] {
            State::Free => home,
            _ if self.fits(self.chain(home) + 1) => self.cell_behind()?,
            _ => return None,
        };
        self.cells.write(self.base(at) + ACTION, &cell[ACTION..]);
        if at != home {
            self.link(home, at);
        }
        self.cells.long(self.base(at) + FROM).store(self.cells.long(self.base(from) + FROM).load(Ordering::Relaxed), Ordering::Release);
        self.states[at as usize] = State::Live;
        Some(at)
    }

    /// A copy that no packet has seen, and no chain that one walks over has.
    fn forget(&mut self, at: u32) {
        stamp(&self.cells, self.base(at), NEVER, 0);
        self.states[at as usize] = State::Free;
        self.cells.word(self.base(at) + NEXT).store(0, Ordering::Release);
        if at >= self.most_homes {
            self.free.push(at);
        }
    }

    /// Adds an entry; seen after [`Store::commit`].
    pub(crate) fn insert(&mut self, e: &Entry) -> Result<(), Refusal> {
        let key = self.pack(e);
        if self.find(&key).is_some() {
            return Err(Refusal::Exists);
        }
        if self.len >= self.capacity {
            return Err(Refusal::Full);
        }
        let direct = match self.layout.direct {
            Some(_) => Some(self.new_direct()?),
            None => None,
        };
        let seq = self.inserted;
        self.inserted = self.inserted.wrapping_add(1);
        let rank = u64::from(key.priority) << 32 | u64::from(!seq);
        let pending = if self.comes_pending { self.age } else { 0 };
        match self.write_entry(&key, rank, direct.map_or(0, |d| d + 1), pending, e.action, &e.args) {
            Ok(()) => {
                self.len += 1;
                Ok(())
            }
            Err(refusal) => {
                // Given back, so that it is not given back twice.
                self.direct_free.extend(direct.and_then(|_| self.direct_clear.pop()));
                Err(refusal)
            }
        }
    }

    /// New action and arguments; rank and direct counter stay.
    pub(crate) fn modify(&mut self, e: &Entry) -> Result<(), Refusal> {
        let key = self.pack(e);
        let (_, at) = self.find(&key).ok_or(Refusal::Missing)?;
        let rank = if self.layout.wild { self.long(at, self.layout.rank) } else { 0 };
        let direct = self.layout.direct.map_or(0, |d| self.word(at, d));
        // No older than it was.
        let pending = match self.of_flows {
            true if self.comes_pending => self.age,
            true => self.half(at, PENDING),
            false => 0,
        };
        self.write_entry(&key, rank, direct, pending, e.action, &e.args)?;
        self.end(at);
        Ok(())
    }

    pub(crate) fn delete(&mut self, e: &Entry) -> Result<(), Refusal> {
        let key = self.pack(e);
        let (_, at) = self.find(&key).ok_or(Refusal::Missing)?;
        self.end(at);
        self.len -= 1;
        Ok(())
    }

    pub(crate) fn set_default(&mut self, action: ActionId, args: &[u128]) {
        self.new_default = Some((action, args.to_vec()));
    }

    /// Offers all entries, with their actions, arguments and direct counter cells. Between two batches.
    pub(crate) fn offer_to(&self, picker: &mut Picker<'_, Held>) {
        let mut keys = Vec::with_capacity(self.kinds.len());
        let mut cell = vec![0; self.layout.len];
        for at in (0..self.states.len() as u32).filter(|at| self.states[*at as usize] == State::Live) {
            self.cells.read(self.base(at), &mut cell);
            let mask = self.tuples.get(usize::from(self.tuple_of(at))).map(|tuple| &tuple.mask[..]);
            keys.clear();
            keys.extend((0..self.kinds.len()).map(|field| self.key_of(&cell, mask, field)));
            let ranked = self.kinds.iter().any(|kind| !matches!(kind, MatchKind::Exact | MatchKind::Lpm));
            let priority = if ranked { (self.long(at, self.layout.rank) >> 32) as u32 } else { 0 };
            picker.offer(&keys, priority, || {
                let action = ActionId::from_u32(u16::from_ne_bytes([cell[ACTION], cell[ACTION + 1]]).into());
                let args = self.layout.args[action.as_u32() as usize].iter().map(|place| get(&cell, *place)).collect();
                Held { action, args, direct: self.layout.direct.and_then(|direct| self.word(at, direct).checked_sub(1)) }
            });
        }
    }

    /// The reverse of [`Store::pack`], of one field of a cell whose mask is `mask`; a table without masks has exact keys only.
    fn key_of(&self, cell: &[u8], mask: Option<&[u64]>, field: usize) -> KeyMatch {
        let Place { offset, len } = self.layout.keys[field];
        let value = get(cell, Place { offset: KEY + offset, len });
        let all = base::Bits::mask(self.widths[field]);
        let mask = mask.map_or(all, |words| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            get(&bytes, Place { offset, len })
        });
        match self.kinds[field] {
            MatchKind::Exact => KeyMatch::Exact(value),
            MatchKind::Lpm => KeyMatch::Lpm { value, prefix_len: mask.count_ones() },
            MatchKind::Ternary => KeyMatch::Ternary { value, mask },
            MatchKind::Optional => KeyMatch::Optional((mask != 0).then_some(value)),
            MatchKind::Range => {
                let bounds = self.layout.ranges.iter().find(|(at, ..)| *at == field);
                let (low, high) = bounds.map_or((value, value), |(_, low, high)| (get(cell, *low), get(cell, *high)));
                KeyMatch::Range { low, high }
            }
        }
    }

    /// The direct counter cell of an entry.
    pub(crate) fn direct_of(&self, e: &Entry) -> Option<u64> {
        let (_, at) = self.find(&self.pack(e))?;
        Some(u64::from(self.word(at, self.layout.direct?).checked_sub(1)?))
    }

    /// Direct counter cells that were given out in this batch and must begin at zero.
    pub(crate) fn take_direct_clear(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.direct_clear)
    }

    /// Makes the batch's changes those of generation `next`. They are invisible until the generation advances.
    pub(crate) fn commit(&mut self, next: u32) {
        self.go_home();
        for i in 0..self.steps.len() {
            let at = match self.steps[i] {
                Step::Wrote(at) | Step::Ended(at) => at,
            };
            let base = self.base(at);
            let state = match self.states[at as usize] {
                State::New => {
                    stamp(&self.cells, base, next, FOR_EVER);
                    if self.of_flows
                        && let pending @ 1.. = self.half(at, PENDING)
                    {
                        self.pending.push((at, pending));
                    }
                    State::Live
                }
                State::Ending => {
                    end(&self.cells, base, next);
                    self.limbo.push(at);
                    State::Limbo
                }
                State::Stillborn => {
                    self.limbo.push(at);
                    State::Limbo
                }
                other => other,
            };
            self.states[at as usize] = state;
        }
        self.steps.clear();
        if let Some((action, args)) = self.new_default.take() {
            let (old, new) = (self.default_copy, 1 - self.default_copy);
            self.waits.wait_for(self.retired[0]);
            self.write_default(new, action, &args, NEVER, 0);
            let len = self.layout.len;
            stamp(&self.defaults, new * len, next, FOR_EVER);
            end(&self.defaults, old * len, next);
            (self.default_copy, self.retired[0], self.default) = (new, next, (action, args));
        }
        self.list_masks(next);
    }

    /// Between two batches, when all packets in flight are of one generation: what it sees is as old as can be, and nothing else has a
    /// generation any more. It, and any other, continues to see the same.
    pub(crate) fn renumber(&mut self) {
        self.unlink();
        for at in (0..self.states.len()).filter(|at| self.states[*at] == State::Live) {
            stamp(&self.cells, self.base(at as u32), 0, FOR_EVER);
        }
        let defaults = [(&self.defaults, self.default_copy, self.layout.len)];
        let masks = self.masks.as_ref().map(|masks| (masks, self.masks_copy, masks_len(&self.layout)));
        for (memory, copy, len) in defaults.into_iter().chain(masks) {
            stamp(memory, copy * len, 0, FOR_EVER);
            stamp(memory, (1 - copy) * len, NEVER, 0);
        }
        self.retired = [0; 2];
    }

    /// Whether entries that come from now on are pending: uncounted packets of their keys may be in flight.
    pub(crate) fn set_pending(&mut self, pending: bool) {
        self.comes_pending = pending && self.of_flows;
    }

    /// Entries that are there are pending.
    pub(crate) fn all_pending(&mut self) {
        let age = self.age;
        for at in 0..self.states.len() as u32 {
            if self.of_flows && self.states[at as usize] == State::Live {
                self.cells.write(self.base(at) + PENDING, &age.to_ne_bytes());
                self.pending.push((at, age));
            }
        }
    }

    /// Whether there are pending entries, and from now on those that come are of another age.
    pub(crate) fn begin_drain(&mut self) -> bool {
        if !self.pending.is_empty() {
            self.draining.append(&mut self.pending);
            self.age = self.age.checked_add(1).unwrap_or(1);
        }
        !self.draining.is_empty()
    }

    /// Entries that were there at the last [`Store::begin_drain`] are pending no more.
    pub(crate) fn finish_drain(&mut self) {
        for (at, pending) in std::mem::take(&mut self.draining) {
            // The cell may be another's by now, or of an entry that begins with this batch.
            if self.half(at, PENDING) == pending {
                self.cells.write(self.base(at) + PENDING, &[0; 2]);
            }
        }
    }

    /// Whether packets find no entry, and the default action that the program gives the table. True of what is committed.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0 && self.default.0 == self.first_default
    }

    /// Takes the batch back.
    pub(crate) fn undo(&mut self) {
        self.new_default = None;
        self.direct_free.append(&mut self.direct_clear);
        for step in std::mem::take(&mut self.steps).into_iter().rev() {
            match step {
                Step::Ended(at) => {
                    let was_new = self.states[at as usize] == State::Stillborn;
                    self.states[at as usize] = if was_new { State::New } else { State::Live };
                    self.joined(at);
                }
                Step::Wrote(at) => {
                    self.left(at);
                    // Programs may walk over it, though they do not see it.
                    self.states[at as usize] = State::Limbo;
                    self.limbo.push(at);
                }
            }
        }
    }

    /// Restores what [`Store::undo`] cannot know.
    pub(crate) fn set_len(&mut self, len: u64) {
        self.len = len;
    }

    /// An entry that was modified lies behind its home, since its old version lay there. Now that this is free, it moves there: who looks
    /// it up finds it at once, and the cells behind the homes, which are fewer, do not run out however many entries are modified.
    fn go_home(&mut self) {
        for home in std::mem::take(&mut self.vacant) {
            let mut at = self.word(home, NEXT);
            while at != 0 && self.states[at as usize] != State::Live {
                at = self.word(at, NEXT);
            }
            if at == 0 || self.states[home as usize] != State::Free {
                continue;
            }
            let mut rest = vec![0; self.layout.len - ACTION];
            self.cells.read(self.base(at) + ACTION, &mut rest);
            self.write_cell(home, &rest);
            self.joined(home);
            self.end(at);
        }
    }

    /// What follows the link to the next cell, into a cell that no packet sees. The stamps first, and the link stays: programs may be walking over a
    /// home cell.
    fn write_cell(&mut self, at: u32, rest: &[u8]) {
        let base = self.base(at);
        stamp(&self.cells, base, NEVER, 0);
        self.cells.write(base + ACTION, rest);
        self.states[at as usize] = State::New;
        self.steps.push(Step::Wrote(at));
    }

    fn end(&mut self, at: u32) {
        self.left(at);
        self.states[at as usize] = if self.states[at as usize] == State::New { State::Stillborn } else { State::Ending };
        self.steps.push(Step::Ended(at));
    }

    fn joined(&mut self, at: u32) {
        let tuple = usize::from(self.tuple_of(at));
        if let Some(t) = self.tuples.get_mut(tuple) {
            t.members += 1;
        }
    }

    fn left(&mut self, at: u32) {
        let tuple = usize::from(self.tuple_of(at));
        if let Some(t) = self.tuples.get_mut(tuple) {
            t.members -= 1;
        }
    }

    fn write_entry(&mut self, key: &Packed, rank: u64, direct: u32, pending: u16, action: ActionId, args: &[u128]) -> Result<(), Refusal> {
        let tuple = if self.layout.wild { self.tuple(&key.mask)? } else { 0 };
        let home = self.home(&key.words, tuple);
        let at = self.place(home)?;
        let layout = self.layout.clone();
        let mut cell = vec![0; layout.len];
        cell[ACTION..ACTION + 2].copy_from_slice(&(action.as_u32() as u16).to_ne_bytes());
        let last = if layout.wild { (TUPLE, tuple) } else { (PENDING, pending) };
        cell[last.0..last.0 + 2].copy_from_slice(&last.1.to_ne_bytes());
        for (i, word) in key.words.iter().enumerate() {
            cell[KEY + 8 * i..KEY + 8 * i + 8].copy_from_slice(&word.to_ne_bytes());
        }
        if layout.wild {
            cell[layout.rank..layout.rank + 8].copy_from_slice(&rank.to_ne_bytes());
        }
        for (place, value) in &key.bounds {
            put(&mut cell, *place, *value);
        }
        if let Some(at) = layout.direct {
            cell[at..at + 4].copy_from_slice(&direct.to_ne_bytes());
        }
        for (place, value) in layout.args[action.as_u32() as usize].iter().zip(args) {
            put(&mut cell, *place, *value);
        }
        self.write_cell(at, &cell[ACTION..]);
        if at != home {
            self.link(home, at);
        }
        if let Some(t) = self.tuples.get_mut(usize::from(tuple)) {
            t.members += 1;
            t.most = t.most.max(rank | u64::from(u32::MAX));
        }
        Ok(())
    }

    /// A cell for an entry of that home, if a look-up may go so far.
    fn place(&mut self, home: u32) -> Result<u32, Refusal> {
        for attempt in 0..2 {
            let chain = self.chain(home);
            if self.states[home as usize] == State::Free {
                if self.fits(chain) {
                    self.longest = self.longest.max(chain);
                    return Ok(home);
                }
            } else if self.fits(chain + 1)
                && let Some(cell) = self.cell_behind()
            {
                self.longest = self.longest.max(chain + 1);
                return Ok(cell);
            }
            if attempt == 0 {
                self.reclaim();
                self.reclaim();
                if self.layout.wild {
                    self.longest = (0..self.homes).map(|h| self.chain(h)).max().unwrap_or(1);
                }
            }
        }
        Err(Refusal::Full)
    }

    /// A free cell behind the homes.
    fn cell_behind(&mut self) -> Option<u32> {
        self.free.pop().or_else(|| {
            let at = self.unused;
            let there = (at as usize) < self.states.len() && self.cells.make_room(self.base(at)..self.base(at + 1)).is_ok();
            self.unused += u32::from(there);
            there.then_some(at)
        })
    }

    /// Into the home's chain, behind the home.
    fn link(&self, home: u32, at: u32) {
        let after = self.word(home, NEXT);
        self.cells.word(self.base(at) + NEXT).store(after, Ordering::Release);
        self.cells.word(self.base(home) + NEXT).store(at, Ordering::Release);
    }

    /// Whether a chain of that many cells keeps look-ups within their bounds.
    fn fits(&self, chain: usize) -> bool {
        let tuples = self.tuples.iter().filter(|t| t.members > 0).count().max(1) + usize::from(self.layout.wild);
        chain <= MAX_CHAIN && (!self.layout.wild || tuples * chain.max(self.longest) <= MAX_STEPS)
    }

    /// Cells of a home's chain, the home included.
    fn chain(&self, home: u32) -> usize {
        let (mut n, mut at) = (1, self.word(home, NEXT));
        while at != 0 {
            n += 1;
            at = self.word(at, NEXT);
        }
        n
    }

    /// Waits until no packet sees what has ended, unlinks it, and frees what was unlinked before.
    fn reclaim(&mut self) {
        match self.waits.wait() {
            Ok(()) => self.unlink(),
            Err(e) => tracing::warn!("cannot wait for packets: {e}"),
        }
    }

    /// After a wait: unlinks what had ended before it, and frees what had been unlinked.
    pub(crate) fn unlink(&mut self) {
        for at in std::mem::take(&mut self.unlinked) {
            self.states[at as usize] = State::Free;
            self.free.push(at);
        }
        for at in std::mem::take(&mut self.limbo) {
            let base = self.base(at);
            stamp(&self.cells, base, NEVER, 0);
            if at < self.most_homes {
                self.states[at as usize] = State::Free;
                self.vacant.push(at);
                continue;
            }
            self.unlink_behind(self.home(&self.words(at), self.tuple_of(at)), at);
            self.unlinked.push(at);
        }
    }

    /// Takes a cell behind the homes out of a home's chain; who is at it finds the rest of the chain.
    fn unlink_behind(&self, home: u32, at: u32) {
        let mut before = home;
        loop {
            let next = self.word(before, NEXT);
            if next == at {
                let after = self.word(at, NEXT);
                self.cells.word(self.base(before) + NEXT).store(after, Ordering::Release);
            }
            if next == at || next == 0 {
                return;
            }
            before = next;
        }
    }

    /// A cell's key.
    fn words(&self, at: u32) -> Vec<u64> {
        (0..self.layout.key_len / 8).map(|i| self.long(at, KEY + 8 * i)).collect()
    }

    fn new_direct(&mut self) -> Result<u32, Refusal> {
        let cell = match self.direct_free.pop() {
            Some(cell) => cell,
            None if u64::from(self.direct_used) < self.capacity => {
                self.direct_used += 1;
                self.direct_used - 1
            }
            None => return Err(Refusal::Full),
        };
        self.direct_clear.push(cell);
        Ok(cell)
    }

    /// The direct counter cells of entries that this batch removes for good. Called before [`Store::commit`].
    pub(crate) fn release_direct(&mut self) {
        let Some(place) = self.layout.direct else { return };
        let mut gone = Vec::new();
        let mut kept = Vec::new();
        for step in &self.steps {
            let at = match step {
                Step::Wrote(at) | Step::Ended(at) => *at,
            };
            let cell = self.word(at, place).wrapping_sub(1);
            match self.states[at as usize] {
                State::New => kept.push(cell),
                _ => gone.push(cell),
            }
        }
        gone.sort_unstable();
        gone.dedup();
        self.direct_free.extend(gone.into_iter().filter(|c| !kept.contains(c)));
    }

    /// The number of a mask.
    fn tuple(&mut self, mask: &[u64]) -> Result<u16, Refusal> {
        let live = self.tuples.iter().filter(|t| t.members > 0).count();
        if let Some(id) = self.by_mask.get(mask).copied() {
            if self.tuples[usize::from(id)].members == 0 && live >= MAX_TUPLES {
                return Err(Refusal::Masks);
            }
            return Ok(id);
        }
        if live >= MAX_TUPLES {
            return Err(Refusal::Masks);
        }
        if self.free_tuples.is_empty() && self.tuples.len() >= MOST_NUMBERS {
            self.forget_masks();
        }
        let tuple = Tuple { mask: mask.to_vec(), members: 0, most: 0, listed: None };
        let id = match self.free_tuples.pop() {
            Some(id) => {
                self.tuples[usize::from(id)] = tuple;
                id
            }
            None => {
                self.tuples.push(tuple);
                self.tuples.len() as u16 - 1
            }
        };
        self.by_mask.insert(mask.to_vec(), id);
        Ok(id)
    }

    /// Frees the numbers of masks that no entry has any more. Cells that still have such a number are seen by no packet after the wait.
    /// One whose last entry goes with the batch that is being made is in the list until then, and stays.
    fn forget_masks(&mut self) {
        self.reclaim();
        for (id, t) in self.tuples.iter().enumerate().filter(|(_, t)| t.members == 0 && t.listed.is_none()) {
            self.by_mask.remove(&t.mask);
            self.free_tuples.push(id as u16);
        }
    }

    /// Rewrites the list of masks if what programs must know has changed.
    fn list_masks(&mut self, next: u32) {
        if self.masks.is_none() {
            return;
        }
        let wanted = |t: &Tuple| (t.members > 0).then_some(t.most);
        if self.tuples.iter().all(|t| wanted(t) == t.listed) {
            return;
        }
        self.waits.wait_for(self.retired[1]);
        let len = masks_len(&self.layout);
        let (old, new) = (self.masks_copy, 1 - self.masks_copy);
        for t in &mut self.tuples {
            t.listed = (t.members > 0).then_some(t.most);
            if t.members == 0 {
                t.most = 0;
            }
        }
        let mut list: Vec<(u64, usize)> = self.tuples.iter().enumerate().filter(|(_, t)| t.members > 0).map(|(i, t)| (t.most, i)).collect();
        list.sort_by(|a, b| b.cmp(a));
        let mut bytes = (list.len() as u64).to_ne_bytes().to_vec();
        for (most, i) in list {
            bytes.extend(most.to_ne_bytes());
            bytes.extend((i as u64).to_ne_bytes());
            self.tuples[i].mask.iter().for_each(|w| bytes.extend(w.to_ne_bytes()));
        }
        if let Some(masks) = &mut self.masks {
            masks.write(new * len + 8, &bytes);
            stamp(masks, new * len, next, FOR_EVER);
            end(masks, old * len, next);
        }
        (self.masks_copy, self.retired[1]) = (new, next);
    }

    fn write_default(&mut self, copy: usize, action: ActionId, args: &[u128], from: u32, to: u32) {
        let mut cell = vec![0; self.layout.len];
        cell[ACTION..ACTION + 2].copy_from_slice(&(action.as_u32() as u16).to_ne_bytes());
        for (place, value) in self.layout.args[action.as_u32() as usize].iter().zip(args) {
            put(&mut cell, *place, *value);
        }
        let base = copy * self.layout.len;
        stamp(&self.defaults, base, from, to);
        self.defaults.write(base + NEXT, &cell[NEXT..]);
    }

    /// The cell of an entry, as it will be after this batch, and its home.
    fn find(&self, key: &Packed) -> Option<(u32, u32)> {
        let tuple = if self.layout.wild { *self.by_mask.get(&key.mask)? } else { 0 };
        let home = self.home(&key.words, tuple);
        let mut at = home;
        loop {
            let there = matches!(self.states[at as usize], State::Live | State::New);
            if there && self.tuple_of(at) == tuple && self.is(at, key) {
                return Some((home, at));
            }
            at = self.word(at, NEXT);
            if at == 0 {
                return None;
            }
        }
    }

    /// Which mask an entry has; in a table without masks they all have the same.
    fn tuple_of(&self, at: u32) -> u16 {
        if self.layout.wild { self.half(at, TUPLE) } else { 0 }
    }

    fn is(&self, at: u32, key: &Packed) -> bool {
        let base = self.base(at);
        key.words.iter().enumerate().all(|(i, w)| self.long(at, KEY + 8 * i) == *w)
            && (!self.layout.wild || (self.long(at, self.layout.rank) >> 32) as u32 == key.priority)
            && key.bounds.iter().all(|(place, value)| {
                let mut bytes = [0; 16];
                self.cells.read(base + place.offset, &mut bytes[..place.len]);
                // Little-endian, as only such machines are supported; see `put`.
                u128::from_le_bytes(bytes) == *value
            })
    }

    fn home(&self, words: &[u64], tuple: u16) -> u32 {
        self.hash(words, tuple) & (self.homes - 1)
    }

    fn hash(&self, words: &[u64], tuple: u16) -> u32 {
        let hash = words.iter().fold(self.seed ^ u64::from(tuple), |h, w| {
            let product = (h ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            product ^ product >> 32
        });
        hash as u32
    }

    fn pack(&self, e: &Entry) -> Packed {
        let mut words = vec![0u64; self.layout.key_len / 8];
        let mut mask = vec![0u64; self.layout.key_len / 8];
        let mut bounds = Vec::new();
        let mut prefix = 0;
        for (i, (k, place)) in e.keys.iter().zip(&self.layout.keys).enumerate() {
            let all = base::Bits::mask(self.widths[i]);
            let (value, m) = match *k {
                KeyMatch::Exact(v) => (v, all),
                KeyMatch::Lpm { value, prefix_len } => {
                    prefix = prefix_len;
                    (value, all & !base::Bits::mask(self.widths[i].saturating_sub(prefix_len)))
                }
                KeyMatch::Ternary { value, mask } => (value, mask),
                KeyMatch::Range { low, high } if low == high => (low, all),
                KeyMatch::Range { .. } => (0, 0),
                KeyMatch::Optional(v) => (v.unwrap_or(0), if v.is_some() { all } else { 0 }),
            };
            set(&mut words, *place, value);
            set(&mut mask, *place, m);
            if let KeyMatch::Range { low, high } = *k
                && let Some((_, l, h)) = self.layout.ranges.iter().find(|(at, ..)| *at == i)
            {
                bounds.push((*l, low));
                bounds.push((*h, high));
            }
        }
        let ranked = e.keys.iter().any(|k| !matches!(k, KeyMatch::Exact(_) | KeyMatch::Lpm { .. }));
        Packed { words, mask, priority: if ranked { e.priority } else { prefix }, bounds }
    }

    fn base(&self, at: u32) -> usize {
        at as usize * self.layout.len
    }

    fn word(&self, at: u32, offset: usize) -> u32 {
        self.cells.word(self.base(at) + offset).load(Ordering::Relaxed)
    }

    fn long(&self, at: u32, offset: usize) -> u64 {
        self.cells.long(self.base(at) + offset).load(Ordering::Relaxed)
    }

    fn half(&self, at: u32, offset: usize) -> u16 {
        (self.word(at, offset & !3) >> ((offset & 3) * 8)) as u16
    }
}

/// Says which generations see a cell or copy. One store: who reads the stamps while it is used again finds both of before, or both of after. What
/// is written behind them follows, so that a packet that finds them in force finds what they are of.
fn stamp(memory: &Shared, base: usize, from: u32, to: u32) {
    memory.long(base + FROM).store(u64::from(to) << 32 | u64::from(from), Ordering::Release);
    fence(Ordering::Release);
}

/// The same of one that generations see up to this one, excluded.
fn end(memory: &Shared, base: usize, to: u32) {
    stamp(memory, base, memory.word(base + FROM).load(Ordering::Relaxed), to);
}

/// A value in its place among words.
fn set(words: &mut [u64], place: Place, value: u128) {
    let word = place.offset / 8;
    words[word] |= (value as u64) << (place.offset % 8 * 8);
    if place.len == 16 {
        words[word + 1] = (value >> 64) as u64;
    }
}

/// A value in its place among bytes.
fn get(cell: &[u8], place: Place) -> u128 {
    let mut bytes = [0; 16];
    bytes[..place.len].copy_from_slice(&cell[place.offset..place.offset + place.len]);
    u128::from_le_bytes(bytes)
}

/// Puts one there.
fn put(cell: &mut [u8], place: Place, value: u128) {
    cell[place.offset..place.offset + place.len].copy_from_slice(&value.to_le_bytes()[..place.len]);
}

#[cfg(target_endian = "big")]
compile_error!("cells are written for little-endian machines");
