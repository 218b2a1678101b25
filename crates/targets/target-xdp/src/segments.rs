//! Where does the memory of an array come from that grows? From maps of one value each, made as cells of it are used. The first one's address is in the
//! programs' text; the others are in a map of maps, where programs find them (`SP_SEGMENTED` of p4-emit's `bpf/prelude.h`). Cells stay where they are, so what is counted and measured in them goes on.
//!
//! User space maps them one behind the other. Where a segment is missing it finds zeros, and may write: such cells are of the target behind this one alone
//! then, and no segment is put there any more ([`Segments::give_up`]). A program that comes to one passes its packet on.

use crate::sys::{self, Shared};
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a segment: `SP_SEGMENT_LEN`.
pub(crate) const SEGMENT_LEN: usize = 1 << 18;
/// Descriptors that are open at once while segments are made.
const AT_ONCE: usize = 64;

/// Entries of such length in a segment: a power of two.
pub(crate) fn entries_of_segment(entry_len: usize) -> usize {
    1 << (SEGMENT_LEN / entry_len).ilog2()
}

/// The map of maps of a program, for all its arrays that grow.
pub(crate) struct Outer {
    map: OwnedFd,
    /// For tests: how many segments there may be yet.
    left: AtomicU32,
    /// Until [`Outer::open`]: segments and where they go.
    first: Mutex<Option<(Vec<u32>, Vec<OwnedFd>)>>,
}

impl Outer {
    /// With room for so many segments, of which `most` may be made.
    pub(crate) fn new(segments: u32, most: u32) -> io::Result<Outer> {
        let like = sys::array_create("sp_segment", SEGMENT_LEN as u32)?;
        let map = sys::array_of_maps_create("sp_segments", segments.max(1), like.as_fd())?;
        Ok(Outer { map, left: AtomicU32::new(most), first: Mutex::new(Some(Default::default())) })
    }

    /// Gives programs what has been made so far, in one call for all arrays: each takes a grace period. No program runs yet.
    pub(crate) fn open(&self) -> io::Result<()> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        first.map_or(Ok(()), |(keys, maps)| sys::maps_put(self.map.as_fd(), &keys, &maps))
    }

    fn put(&self, keys: Vec<u32>, maps: &[OwnedFd]) -> io::Result<()> {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *first {
            Some((all_keys, all_maps)) => {
                all_keys.extend(keys);
                all_maps.extend(maps.iter().map(OwnedFd::try_clone).collect::<io::Result<Vec<_>>>()?);
                // Not more descriptors at once than are usual.
                if all_keys.len() >= AT_ONCE {
                    sys::maps_put(self.map.as_fd(), &std::mem::take(all_keys), &std::mem::take(all_maps))?;
                }
                Ok(())
            }
            None => sys::maps_put(self.map.as_fd(), &keys, maps),
        }
    }

    pub(crate) fn map(&self) -> &OwnedFd {
        &self.map
    }

    fn make(&self, name: &str) -> io::Result<OwnedFd> {
        let one_less = |left: u32| left.checked_sub(1);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).map_err(|_| io::Error::from_raw_os_error(libc::ENOMEM))?;
        sys::array_create(name, SEGMENT_LEN as u32)
    }
}

/// Those of one array.
pub(crate) struct Segments {
    name: String,
    outer: Option<Arc<Outer>>,
    /// Where they begin in it.
    base: u32,
    /// Bytes of a segment that cells lie in, a multiple of a page.
    len: usize,
    slots: Mutex<Slots>,
}

struct Slots {
    of: Vec<Slot>,
    /// Descriptors: of the first one, and, where they are asked for, of all.
    held: Vec<(usize, OwnedFd)>,
    holds: bool,
    /// Whether it was said that there is no memory.
    said: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Slot {
    Missing,
    Made,
    /// The target behind uses it.
    GivenUp,
}

impl Segments {
    /// Of an array of `bytes` bytes, whose first segment is there.
    pub(crate) fn new(name: &str, outer: Arc<Outer>, base: u32, len: usize, bytes: usize, first: OwnedFd) -> Segments {
        let mut of = vec![Slot::Missing; bytes.div_ceil(len).max(1)];
        of[0] = Slot::Made;
        let slots = Slots { of, held: vec![(0, first)], holds: false, said: false };
        Segments { name: name.to_owned(), outer: Some(outer), base, len, slots: Mutex::new(slots) }
    }

    /// None at all, of memory that is put together otherwise.
    pub(crate) fn none() -> Segments {
        let slots = Slots { of: Vec::new(), held: Vec::new(), holds: false, said: false };
        Segments { name: String::new(), outer: None, base: 0, len: 1, slots: Mutex::new(slots) }
    }

    /// Makes those that are missing in this part of `memory`.
    pub(crate) fn make_room(&self, memory: &Shared, range: Range<usize>) -> io::Result<()> {
        let (first, end) = (range.start / self.len, range.end.div_ceil(self.len));
        let mut slots = self.lock();
        let Some(asked) = slots.of.get(first..end.min(slots.of.len())) else { return Ok(()) };
        if asked.iter().all(|slot| *slot == Slot::Made) {
            return Ok(());
        }
        let missing: Vec<usize> = (first..).zip(asked).filter(|(_, slot)| **slot == Slot::Missing).map(|(at, _)| at).collect();
        let given_up = missing.len() < asked.iter().filter(|slot| **slot != Slot::Made).count();
        let made = missing.chunks(AT_ONCE).try_for_each(|some| self.make(memory, &mut slots, some));
        match &made {
            Err(e) if !slots.said => {
                let what = "what needs it runs on x86";
                tracing::error!("{} of the xdp target cannot grow: {e}: {what}", self.name);
                slots.said = true;
            }
            Ok(()) => slots.said = false,
            Err(_) => {}
        }
        made?;
        if given_up { Err(io::Error::from_raw_os_error(libc::ENOMEM)) } else { Ok(()) }
    }

    fn make(&self, memory: &Shared, slots: &mut Slots, at: &[usize]) -> io::Result<()> {
        let Some(outer) = &self.outer else { return Ok(()) };
        let maps: Vec<OwnedFd> = at.iter().map(|_| outer.make(&self.name)).collect::<io::Result<_>>()?;
        let keys: Vec<u32> = at.iter().map(|at| self.base + *at as u32).collect();
        for (at, map) in at.iter().zip(&maps) {
            memory.put(at * self.len, map.as_fd(), self.len)?;
        }
        outer.put(keys, &maps)?;
        at.iter().for_each(|at| slots.of[*at] = Slot::Made);
        if slots.holds {
            slots.held.extend(at.iter().copied().zip(maps));
        }
        Ok(())
    }

    /// No segments are put into this part any more: others write there.
    pub(crate) fn give_up(&self, range: Range<usize>) {
        let mut slots = self.lock();
        for at in range.start / self.len..range.end.div_ceil(self.len) {
            if let Some(slot @ Slot::Missing) = slots.of.get_mut(at) {
                *slot = Slot::GivenUp;
            }
        }
    }

    /// From now on descriptors of segments are kept.
    pub(crate) fn hold(&self) {
        self.lock().holds = true;
    }

    /// Those that were kept, in the array's order.
    pub(crate) fn held(&self) -> io::Result<Vec<OwnedFd>> {
        let mut slots = self.lock();
        slots.held.sort_by_key(|(at, _)| *at);
        slots.held.iter().map(|(_, fd)| fd.try_clone()).collect()
    }

    /// The parts that have memory.
    pub(crate) fn made(&self, bytes: usize) -> Vec<Range<usize>> {
        let slots = self.lock();
        let made = slots.of.iter().enumerate().filter(|(_, slot)| **slot != Slot::Missing);
        made.map(|(at, _)| at * self.len..((at + 1) * self.len).min(bytes)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
