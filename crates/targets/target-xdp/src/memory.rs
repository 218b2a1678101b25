//! Arrays whose address is in a program's text: each is one value of a map, so that no look-up is between the text and an entry.
//!
//! The text (`SP_MEMORY` of p4-emit's `bpf/prelude.h`) describes each in the section `memory`, by number and an entry's length, and names it in
//! 64-bit constants by that number. The maps are made first; then each such constant becomes the kernel's form of an address in a map
//! (`BPF_PSEUDO_MAP_VALUE`), which the verifier knows the bounds of. The loader crate does the same for global variables only, whose maps
//! user space cannot map into its memory.
//!
//! Arrays that grow ([`crate::segments`]) are found by a look-up, in a map of maps whose descriptor, and where in it the array begins, come into the text in the
//! same way.
//!
//! Sizes come into the text in the same way: constants name the number of an array's entries (`SP_SIZED`), of a table's home cells and of a
//! counter's cells. The verifier and the kernel's compiler see plain constants, and one object serves all capacities and numbers of cores.

use crate::LoadError;
use crate::object::{Sizes, blame_age};
use crate::segments::{Outer, SEGMENT_LEN, Segments, entries_of_segment};
use crate::sys::{self, Shared};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;

/// `SP_MEMORY_NUMBER` and its siblings: what such a constant has above its low 16 bits. A number that a P4 program has of its own is not likely to
/// be one; if it is, the program is refused or computes nonsense, within its own maps.
const NAMED: [(u64, Named); 6] = [
    (0x5370_6c69_7470, Named::Address),
    (0x5370_6c69_7471, Named::Entries),
    (0x5370_6c69_7472, Named::Homes),
    (0x5370_6c69_7473, Named::Cells),
    (0x5370_6c69_7474, Named::Base),
    (0x5370_6c69_7475, Named::Segments),
];
/// `BPF_LD | BPF_DW | BPF_IMM`: a constant of 64 bits, in two places of 8 bytes; its operands are the low and the high half of it.
const LOAD_CONSTANT: u8 = 0x18;
/// `BPF_PSEUDO_MAP_FD`, as such an instruction's source register: the low half is a map's descriptor.
const MAP: u8 = 1;
/// `BPF_PSEUDO_MAP_VALUE`, as such an instruction's source register: the halves are a map's descriptor and an offset.
const OF_MAP: u8 = 2;

/// What a constant names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Named {
    /// Of an array.
    Address,
    /// Of an array.
    Entries,
    /// Of a table, less one.
    Homes,
    /// Of a counter.
    Cells,
    /// Of an array in segments, in the map of maps.
    Base,
    /// That map.
    Segments,
}

/// An array.
pub(crate) struct Memory {
    /// Its name in the text.
    pub name: String,
    /// Bytes.
    pub len: usize,
    entries: u32,
    number: u32,
    place: Place,
}

/// Where an array lies.
enum Place {
    /// In a map of its own.
    Whole(OwnedFd),
    /// In segments of so many bytes: the first one, and where in the map of maps it would be.
    Segments { first: OwnedFd, base: u32, len: usize },
}

/// An array as the text has it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Described {
    name: String,
    number: u32,
    /// Bytes of an entry.
    len: u32,
    /// 0: the loader says.
    entries: u32,
    segmented: bool,
}

/// All arrays of a program.
pub(crate) struct Memories {
    pub all: Vec<Memory>,
    /// What is in segments.
    outer: Option<Arc<Outer>>,
}

impl Memories {
    /// Makes the maps that an object file describes, and puts them, and sizes, in the place of their numbers.
    pub(crate) fn place(bytes: &mut [u8], sizes: &Sizes) -> Result<Memories, LoadError> {
        let (described, text) = describe(bytes)?;
        let mut segments = 0;
        let all: Vec<Memory> = described.into_iter().map(|d| make(d, sizes, &mut segments)).collect::<Result<_, LoadError>>()?;
        let outer = (segments > 0).then(|| Outer::new(segments, sizes.most_segments).map(Arc::new)).transpose();
        let outer = outer.map_err(|e| refused(format!("cannot make a map of {segments} maps: {e}")))?;
        for range in text {
            let mut instructions = bytes[range].chunks_exact_mut(8);
            while let Some(first) = instructions.next() {
                if first[0] != LOAD_CONSTANT {
                    continue;
                }
                let Some(second) = instructions.next() else { break };
                let Some((what, number)) = named(first, second) else { continue };
                let memory = || {
                    let memory = all.iter().find(|m| m.number == number);
                    memory.ok_or_else(|| LoadError::Layout(format!("memory {number} is not described")))
                };
                let size = |sizes: &[u32], what: &str| {
                    let size = sizes.get(number as usize).copied();
                    size.ok_or_else(|| LoadError::Layout(format!("the number of {what} {number} is not known")))
                };
                let mut kind = 0;
                let value = match what {
                    Named::Address => {
                        kind = OF_MAP;
                        let memory = memory()?;
                        let (Place::Whole(map) | Place::Segments { first: map, .. }) = &memory.place;
                        map.as_raw_fd() as u32
                    }
                    Named::Base => {
                        let memory = memory()?;
                        let not = || LoadError::Layout(format!("{} is not in segments", memory.name));
                        let Place::Segments { base, .. } = memory.place else { return Err(not()) };
                        base
                    }
                    Named::Segments => {
                        kind = MAP;
                        let outer = outer.as_ref().ok_or_else(|| LoadError::Layout("no array is in segments".into()))?;
                        outer.map().as_raw_fd() as u32
                    }
                    Named::Entries => memory()?.entries,
                    Named::Homes => size(&sizes.homes, "home cells of table")?,
                    Named::Cells => size(&sizes.cells, "cells of counter")?,
                };
                first[1] = first[1] & 0xf | kind << 4;
                first[4..].copy_from_slice(&value.to_ne_bytes());
                second[4..].fill(0);
            }
        }
        Ok(Memories { all, outer })
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Memory> {
        self.all.iter().find(|m| m.name == name)
    }

    /// What has been made of arrays that grow is seen by programs: none runs yet.
    pub(crate) fn open(&self) -> std::io::Result<()> {
        self.outer.as_ref().map_or(Ok(()), |outer| outer.open())
    }

    /// The bytes. Of an array that grows those of the first segment are there; it is asked for once.
    pub(crate) fn shared(&self, memory: &Memory) -> std::io::Result<Shared> {
        match (&memory.place, &self.outer) {
            (Place::Segments { first, base, len }, Some(outer)) => {
                let segments = Segments::new(&memory.name, outer.clone(), *base, *len, memory.len, first.try_clone()?);
                let shared = Shared::reserve(segments, memory.len)?;
                shared.put(0, first.as_fd(), *len)?;
                Ok(shared)
            }
            (Place::Whole(map), _) => Shared::map(map.as_fd(), memory.len),
            (Place::Segments { .. }, None) => Err(std::io::Error::other("no array is in segments")),
        }
    }
}

impl Memory {
    /// One more descriptor of it; none of one that is in segments.
    pub(crate) fn descriptor(&self) -> Option<std::io::Result<OwnedFd>> {
        match &self.place {
            Place::Whole(map) => Some(map.try_clone()),
            Place::Segments { .. } => None,
        }
    }
}

fn make(described: Described, sizes: &Sizes, segments: &mut u32) -> Result<Memory, LoadError> {
    let Described { name, number, len: entry_len, entries, segmented } = described;
    let said = || sizes.entries.iter().find(|(of, _)| *of == name).map(|(_, n)| *n);
    let entries = if entries == 0 { said() } else { Some(entries) };
    let entries = entries.ok_or_else(|| LoadError::Layout(format!("the number of entries of {name} is not known")))?;
    let many = || LoadError::Layout(format!("{name} has {entries} entries of {entry_len} bytes: too many"));
    if segmented {
        let base = *segments;
        let segment = entries_of_segment(entry_len as usize);
        *segments = base.checked_add(entries.div_ceil(segment as u32)).ok_or_else(many)?;
        let (all, len) = (entries as usize * entry_len as usize, segment * entry_len as usize);
        let first = sys::array_create(&name, SEGMENT_LEN as u32);
        let first = first.map_err(|e| refused(format!("cannot make the first {SEGMENT_LEN} bytes of {name}: {e}")))?;
        return Ok(Memory { name, len: all, entries, number, place: Place::Segments { first, base, len } });
    }
    let len = entry_len.checked_mul(entries).ok_or_else(many)?;
    let map = sys::array_create(&name, len).map_err(|e| refused(format!("cannot make {len} bytes of {name}: {e}")))?;
    Ok(Memory { name, len: len as usize, entries, number, place: Place::Whole(map) })
}

fn refused(why: String) -> LoadError {
    LoadError::Kernel(blame_age(why, &sys::kernel_release()))
}

/// What a constant names, and its number. One with a source register is no constant, or not any more.
fn named(first: &[u8], second: &[u8]) -> Option<(Named, u32)> {
    let half = |of: &[u8]| u32::from_ne_bytes([of[4], of[5], of[6], of[7]]);
    let value = u64::from(half(second)) << 32 | u64::from(half(first));
    let (_, what) = NAMED.iter().find(|(above, _)| first[1] >> 4 == 0 && value >> 16 == *above)?;
    Some((*what, value as u32 & 0xffff))
}

/// The arrays, and where the instructions are in the file.
fn describe(bytes: &[u8]) -> Result<(Vec<Described>, Vec<std::ops::Range<usize>>), LoadError> {
    let bad = |what: &str| LoadError::Layout(format!("the compiler's object: {what}"));
    let file = object::File::parse(bytes).map_err(|e| bad(&e.to_string()))?;
    let text = file.sections().filter(|s| s.kind() == SectionKind::Text).filter_map(|s| s.file_range());
    let text = text.map(|(from, len)| from as usize..(from + len) as usize).collect();
    let Some(section) = file.section_by_name("memory") else { return Ok((Vec::new(), text)) };
    let data = section.data().map_err(|e| bad(&e.to_string()))?;
    let mut all = Vec::new();
    for symbol in file.symbols().filter(|s| s.section_index() == Some(section.index()) && s.size() > 0) {
        let name = symbol.name().map_err(|e| bad(&e.to_string()))?;
        let words = data.get(symbol.address() as usize..).and_then(|d| d.first_chunk::<16>()).ok_or_else(|| bad(name))?;
        let word = |at: usize| u32::from_ne_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
        all.push(Described { name: name.to_owned(), number: word(0), len: word(4), entries: word(8), segmented: word(12) != 0 });
    }
    Ok((all, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
        struct memory { unsigned number, len, entries, segmented; };
        struct memory first __attribute__((section(\"memory\"), used)) = {0, 8, 1};
        struct memory second __attribute__((section(\"memory\"), used)) = {7, 1 << 10, 0};
        unsigned long f(void) {
            unsigned long *a, *b, c, d, e;
            __asm__(\"%0 = %1 ll\" : \"=r\"(a) : \"i\"(0x53706c6974700000ll));
            __asm__(\"%0 = %1 ll\" : \"=r\"(b) : \"i\"(0x53706c6974700000ll | NUMBER));
            __asm__(\"%0 = %1 ll\" : \"=r\"(c) : \"i\"(0x53706c6974710007ll));
            __asm__(\"%0 = %1 ll\" : \"=r\"(d) : \"i\"(0x53706c6974790007ll));
            __asm__(\"%0 = %1 ll\" : \"=r\"(e) : \"i\"(0x53706c6974720001ll));
            return *a + *b + c + d + e;
        }";

    fn compiled(number: u32) -> Vec<u8> {
        crate::compile::compile(TEXT, &[("NUMBER".to_owned(), number)], &Default::default()).unwrap().to_vec()
    }

    fn sizes() -> Sizes {
        Sizes { entries: vec![("second".to_owned(), 1 << 10)], homes: vec![0, 4095], ..Sizes::default() }
    }

    fn constants(bytes: &[u8]) -> Vec<u64> {
        let (_, text) = describe(bytes).unwrap();
        let slots: Vec<&[u8]> = text.into_iter().flat_map(|range| bytes[range].chunks_exact(8)).collect();
        let constants = slots.windows(2).filter(|two| two[0][0] == LOAD_CONSTANT && two[0][1] >> 4 == 0);
        let half = |of: &[u8]| u64::from(u32::from_ne_bytes([of[4], of[5], of[6], of[7]]));
        let mut values: Vec<u64> = constants.map(|two| half(two[1]) << 32 | half(two[0])).collect();
        values.sort();
        values
    }

    #[test]
    fn what_the_text_names_is_described_and_other_constants_are_none_of_it() {
        let bytes = compiled(7);
        let (mut described, text) = describe(&bytes).unwrap();
        described.sort();
        let array = |name: &str, number, len, entries| Described { name: name.to_owned(), number, len, entries, segmented: false };
        assert_eq!(described, [array("first", 0, 8, 1), array("second", 7, 1 << 10, 0)]);
        let slots: Vec<&[u8]> = text.into_iter().flat_map(|range| bytes[range].chunks_exact(8)).collect();
        let constants = slots.windows(2).filter(|two| two[0][0] == LOAD_CONSTANT).map(|two| named(two[0], two[1]));
        let mut numbers: Vec<Option<(Named, u32)>> = constants.collect();
        numbers.sort();
        use Named::{Address, Entries, Homes};
        assert_eq!(numbers, [None, Some((Address, 0)), Some((Address, 7)), Some((Entries, 7)), Some((Homes, 1))]);
    }

    #[test]
    fn sizes_are_put_where_the_text_names_them() {
        if sys::require_capabilities().is_err() {
            testkit::skip("no right to make maps");
            return;
        }
        let mut bytes = compiled(7);
        let memory = Memories::place(&mut bytes, &sizes()).unwrap();
        assert_eq!(memory.all.iter().map(|m| m.len).sum::<usize>(), 8 + (1 << 20));
        assert_eq!(constants(&bytes), [1 << 10, 4095, 0x5370_6c69_7479_0007]);
    }

    #[test]
    fn what_is_not_described_is_refused() {
        if sys::require_capabilities().is_err() {
            testkit::skip("no right to make maps");
            return;
        }
        let refused = |number, sizes: &Sizes| match Memories::place(&mut compiled(number), sizes) {
            Err(LoadError::Layout(why)) => why,
            other => panic!("{:?}", other.map(|m| m.all.len())),
        };
        assert_eq!(refused(6, &sizes()), "memory 6 is not described");
        assert_eq!(refused(7, &Sizes { homes: vec![1], ..sizes() }), "the number of home cells of table 1 is not known");
        assert_eq!(refused(7, &Sizes { entries: Vec::new(), ..sizes() }), "the number of entries of second is not known");
        let many = vec![("second".to_owned(), u32::MAX)];
        assert!(refused(7, &Sizes { entries: many, ..sizes() }).contains("too many"));
        assert!(matches!(describe(b"no ELF"), Err(LoadError::Layout(_))));
    }
}
