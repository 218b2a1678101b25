//! Arrays whose address is in a program's text: each is one value of a map, so that no look-up is between the text and an entry.
//!
//! The text (`SP_MEMORY` of p4-emit's `bpf/prelude.h`) describes each in the section `memory`, by number and length, and names it in 64-bit
//! constants by that number. The maps are made first; then each such constant becomes the kernel's form of an address in a map
//! (`BPF_PSEUDO_MAP_VALUE`), which the verifier knows the bounds of. The loader crate does the same for global variables only, whose maps
//! user space cannot map into its memory.

use crate::LoadError;
use crate::object::blame_age;
use crate::sys::{self, Shared};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// `SP_MEMORY_NUMBER`: what such a constant has above its low 16 bits. A number that a P4 program has of its own is not likely to be one; if it is,
/// the program is refused or computes nonsense, within its own maps.
const NAMED: u64 = 0x5370_6c69_7470;
/// `BPF_LD | BPF_DW | BPF_IMM`: a constant of 64 bits, in two places of 8 bytes; its operands are the low and the high half of it.
const LOAD_CONSTANT: u8 = 0x18;
/// `BPF_PSEUDO_MAP_VALUE`, as such an instruction's source register: the halves are a map's descriptor and an offset.
const OF_MAP: u8 = 2;

/// An array.
pub(crate) struct Memory {
    /// Its name in the text.
    pub name: String,
    /// Bytes.
    pub len: usize,
    number: u32,
    map: OwnedFd,
}

impl Memory {
    /// Makes the maps that an object file describes, and puts them in the place of their numbers.
    pub(crate) fn place(bytes: &mut [u8]) -> Result<Vec<Memory>, LoadError> {
        let (described, text) = describe(bytes)?;
        let make = |(name, number, len): (String, u32, u32)| {
            let map = sys::array_create(&name, len)
                .map_err(|e| LoadError::Kernel(blame_age(format!("cannot make {len} bytes of {name}: {e}"), &sys::kernel_release())))?;
            Ok(Memory { name, len: len as usize, number, map })
        };
        let all: Vec<Memory> = described.into_iter().map(make).collect::<Result<_, LoadError>>()?;
        for range in text {
            let mut instructions = bytes[range].chunks_exact_mut(8);
            while let Some(first) = instructions.next() {
                if first[0] != LOAD_CONSTANT {
                    continue;
                }
                let Some(second) = instructions.next() else { break };
                let Some(number) = named(first, second) else { continue };
                let memory = all.iter().find(|m| m.number == number);
                let memory = memory.ok_or_else(|| LoadError::Layout(format!("memory {number} is not described")))?;
                first[1] = first[1] & 0xf | OF_MAP << 4;
                first[4..].copy_from_slice(&memory.map.as_raw_fd().to_ne_bytes());
                second[4..].fill(0);
            }
        }
        Ok(all)
    }

    /// The bytes.
    pub(crate) fn shared(&self) -> std::io::Result<Shared> {
        Shared::map(self.map.as_fd(), self.len)
    }
}

/// The number of the array that a constant names. One with a source register is no constant, or not any more.
fn named(first: &[u8], second: &[u8]) -> Option<u32> {
    let half = |of: &[u8]| u32::from_ne_bytes([of[4], of[5], of[6], of[7]]);
    let value = u64::from(half(second)) << 32 | u64::from(half(first));
    (first[1] >> 4 == 0 && value >> 16 == NAMED).then_some(value as u32 & 0xffff)
}

/// Names, numbers and lengths, and where the instructions are in the file.
#[allow(clippy::type_complexity)]
fn describe(bytes: &[u8]) -> Result<(Vec<(String, u32, u32)>, Vec<std::ops::Range<usize>>), LoadError> {
    let bad = |what: &str| LoadError::Layout(format!("the compiler's object: {what}"));
    let file = object::File::parse(bytes).map_err(|e| bad(&e.to_string()))?;
    let text = file.sections().filter(|s| s.kind() == SectionKind::Text).filter_map(|s| s.file_range());
    let text = text.map(|(from, len)| from as usize..(from + len) as usize).collect();
    let Some(section) = file.section_by_name("memory") else { return Ok((Vec::new(), text)) };
    let data = section.data().map_err(|e| bad(&e.to_string()))?;
    let mut all = Vec::new();
    for symbol in file.symbols().filter(|s| s.section_index() == Some(section.index()) && s.size() > 0) {
        let name = symbol.name().map_err(|e| bad(&e.to_string()))?;
        let words = data.get(symbol.address() as usize..).and_then(|d| d.first_chunk::<8>()).ok_or_else(|| bad(name))?;
        let word = |at: usize| u32::from_ne_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
        all.push((name.to_owned(), word(0), word(4)));
    }
    Ok((all, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
        struct memory { unsigned number, len; };
        struct memory first __attribute__((section(\"memory\"), used)) = {0, 8};
        struct memory second __attribute__((section(\"memory\"), used)) = {7, 1 << 20};
        unsigned long f(void) {
            unsigned long *a, *b, c;
            __asm__(\"%0 = %1 ll\" : \"=r\"(a) : \"i\"(0x53706c6974700000ll));
            __asm__(\"%0 = %1 ll\" : \"=r\"(b) : \"i\"(0x53706c6974700000ll | NUMBER));
            __asm__(\"%0 = %1 ll\" : \"=r\"(c) : \"i\"(0x53706c6974710007ll));
            return *a + *b + c;
        }";

    fn compiled(number: u32) -> Vec<u8> {
        crate::compile::compile(TEXT, None, &[("NUMBER".to_owned(), number)], None).unwrap().to_vec()
    }

    #[test]
    fn what_the_text_names_is_described_and_other_constants_are_none_of_it() {
        let bytes = compiled(7);
        let (mut described, text) = describe(&bytes).unwrap();
        described.sort();
        assert_eq!(described, [("first".to_owned(), 0, 8), ("second".to_owned(), 7, 1 << 20)]);
        let slots: Vec<&[u8]> = text.into_iter().flat_map(|range| bytes[range].chunks_exact(8)).collect();
        let constants = slots.windows(2).filter(|two| two[0][0] == LOAD_CONSTANT).map(|two| named(two[0], two[1]));
        let mut numbers: Vec<Option<u32>> = constants.collect();
        numbers.sort();
        assert_eq!(numbers, [None, Some(0), Some(7)]);
    }

    #[test]
    fn what_is_not_described_is_refused() {
        if sys::require_capabilities().is_err() {
            testkit::skip("no right to make maps");
            return;
        }
        let named = Memory::place(&mut compiled(7)).unwrap();
        assert_eq!(named.iter().map(|m| m.len).sum::<usize>(), 8 + (1 << 20));
        assert!(matches!(Memory::place(&mut compiled(6)), Err(LoadError::Layout(why)) if why == "memory 6 is not described"));
        assert!(matches!(describe(b"no ELF"), Err(LoadError::Layout(_))));
    }
}
