//! The interface of the generated code, as it is declared at the top of its text, and the layout that it describes.

use crate::LoadError;
use base::Verdict;
use program::{ActionId, Program, TableId};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::AtomicU64;

/// Version of the interface that this crate speaks; the text's `sp_layout` begins with its own.
const VERSION: u32 = 6;
/// No such thing, in `sp_layout`.
const NONE: u32 = u32::MAX;

/// `struct sp_packet`.
#[repr(C)]
pub(crate) struct CPacket {
    pub buffer: *mut u8,
    pub start: u32,
    pub length: u32,
    pub port: u32,
    /// Where meters are waited for: how many of its meters are behind it, and by number and units the last one that it executed.
    pub metered: u32,
}

/// `struct sp_table`.
#[repr(C)]
pub(crate) struct CTable {
    pub table: *const c_void,
    pub lookup: Option<table::ffi::LookupFn>,
    /// Null where the code cannot look up by itself.
    pub exact: *const table::ffi::ExactIndex,
    pub miss: *const u8,
    pub hits: AtomicU64,
    pub misses: AtomicU64,
    /// 1 if a packet looks it up by itself, where packets of a burst do so together otherwise: it has few entries.
    pub small: u64,
}

/// `struct sp_cell`.
#[repr(C)]
pub(crate) struct CCell {
    pub packets: AtomicU64,
    pub bytes: AtomicU64,
}

/// `struct sp_counter`.
#[repr(C)]
pub(crate) struct CCounter {
    pub cells: *mut CCell,
    pub size: u64,
    /// Bytes from one cell to the next.
    pub stride: u64,
}

/// `struct sp_meter`. Zeros are a cell that is not configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub(crate) struct CMeter {
    pub committed: u64,
    pub peak: u64,
    pub last_ns: u64,
    /// Number of its profile, [`ONE_RATE`] and [`WAITING`].
    pub profile: u32,
    pub lock: u32,
}

pub(crate) use target_api::{ONE_RATE, WAITING};

/// `struct sp_profile`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct CProfile {
    pub cir: u64,
    /// In 10^-9 units.
    pub cbs: u64,
    pub pir: u64,
    /// In 10^-9 units.
    pub pbs: u64,
}

// As another target shares them.
const _: () = assert!(size_of::<CMeter>() == 8 * target_api::CELL_WORDS && size_of::<CProfile>() == 8 * target_api::PROFILE_WORDS);

/// `struct sp_meters`.
#[repr(C)]
pub(crate) struct CMeters {
    pub cells: *mut CMeter,
    pub size: u64,
    /// Bytes from one cell to the next.
    pub stride: u64,
    pub profiles: *const CProfile,
    /// Whether other lanes use the cells too.
    pub shared: u64,
    /// A bit for each cell that packets of this lane wait for; null: what is red does not wait.
    pub waiting: *mut u64,
}

impl CMeters {
    /// Address of a cell, or of none if there are not so many.
    pub(crate) fn at(&self, index: u32) -> *mut CMeter {
        self.cells.wrapping_byte_add(index as usize * self.stride as usize)
    }
}

/// `struct sp_register`.
#[repr(C)]
pub(crate) struct CRegister {
    pub cells: *mut AtomicU64,
    pub size: u64,
    /// Bytes from one cell to the next.
    pub stride: u64,
}

/// `struct sp_range`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct CRange {
    pub mask: [u64; 2],
    pub low: [u64; 2],
    pub high: [u64; 2],
}

/// `struct sp_set`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct CSet {
    pub members: *const CRange,
    pub size: u64,
}

/// `struct sp_digests`.
#[repr(C)]
pub(crate) struct CDigests {
    pub words: *mut u64,
    pub size: u64,
    pub head: AtomicU64,
    pub tail: AtomicU64,
    pub lost: AtomicU64,
}

/// `struct sp_lane`.
#[repr(C)]
pub(crate) struct CLane {
    pub tables: *mut CTable,
    pub counters: *const CCounter,
    pub meters: *const CMeters,
    pub registers: *const CRegister,
    pub sets: *const CSet,
    pub digests: *const CDigests,
    pub run: *mut c_void,
    pub random: u64,
    /// Of a look-up that stands for a call: the packets that wait for it, as bits of the sub-burst at `asking`, and where their payloads start.
    pub asked: u64,
    pub asking: *mut CPacket,
    /// In which order its service is called: 0 any, 1 place by place in that of the packets, 2 in that of the packets.
    pub in_order: u64,
    pub payload: [u32; target_api::BURST],
}

/// `sp_process`.
pub(crate) type ProcessFn = unsafe extern "C" fn(lane: *mut CLane, packets: *mut CPacket, verdicts: *mut Verdict, n: u32, now_ns: u64);

// `struct sp_verdict` is `Verdict` itself.
const _: () = assert!(size_of::<Verdict>() == 8 && std::mem::offset_of!(Verdict, mark) == 4 && std::mem::offset_of!(Verdict, port) == 2);

/// Place of a number in a key or record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// First byte.
    pub offset: usize,
    /// Number of bytes.
    pub bytes: usize,
    /// How far a key field is shifted to the left.
    pub shift: u32,
}

/// Key and record of a table.
#[derive(Clone, Debug)]
pub(crate) struct TableLayout {
    /// Bytes of a key.
    pub key_len: usize,
    /// Its fields in the order of declaration.
    pub fields: Vec<Place>,
    /// Bytes of a record.
    pub record_len: usize,
    /// Where the action's number is, of 16 bits.
    pub action: usize,
    /// Where the entry's number is, of 32 bits.
    pub handle: Option<usize>,
    /// The parameters of each action.
    pub actions: BTreeMap<ActionId, Vec<Place>>,
}

/// Reads `sp_layout` and checks that it is about this program: tables, and the most words of a digest.
pub(crate) fn read_layout(words: &[u32], program: &Program) -> Result<(Vec<TableLayout>, u64), LoadError> {
    let mut r = Reader { words, at: 0 };
    let version = r.next()?;
    if version != VERSION {
        return Err(LoadError::Layout(format!("version {version} of the interface, not {VERSION}")));
    }
    for (what, has) in [
        ("tables", program.tables.len()),
        ("counters", program.counters.len()),
        ("meters", program.meters.len()),
        ("registers", program.registers.len()),
        ("value sets", program.value_sets.len()),
    ] {
        let n = r.next()? as usize;
        if n != has {
            return Err(LoadError::Layout(format!("{n} {what}, but the program has {has}")));
        }
    }
    let digest_words = r.next()?.into();
    let tables = program.tables.keys().map(|id| r.table(program, id)).collect::<Result<_, _>>()?;
    if r.at != words.len() {
        return Err(LoadError::Layout("numbers left over".into()));
    }
    Ok((tables, digest_words))
}

struct Reader<'a> {
    words: &'a [u32],
    at: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Result<u32, LoadError> {
        let word = self.words.get(self.at).ok_or_else(|| LoadError::Layout("too short".into()))?;
        self.at += 1;
        Ok(*word)
    }

    /// A place of at least `width` bits that ends within `len` bytes.
    fn place(&mut self, shifted: bool, width: u32, len: usize, what: &str) -> Result<Place, LoadError> {
        let place = Place { offset: self.next()? as usize, bytes: self.next()? as usize, shift: if shifted { self.next()? } else { 0 } };
        let fits = place.bytes <= 16 && place.offset + place.bytes <= len && place.bytes * 8 >= (width + place.shift) as usize;
        if fits { Ok(place) } else { Err(LoadError::Layout(format!("{what} does not fit its place"))) }
    }

    fn table(&mut self, program: &Program, id: TableId) -> Result<TableLayout, LoadError> {
        let info = &program.tables[id];
        let key_len = self.next()? as usize;
        if self.next()? as usize != info.keys.len() {
            return Err(LoadError::Layout(format!("another number of key fields for table {}", info.name)));
        }
        let fields = info.keys.iter().map(|k| self.place(true, k.width, key_len, &k.name)).collect::<Result<_, _>>()?;
        let (record_len, action, handle) = (self.next()? as usize, self.next()? as usize, self.next()?);
        let handle = (handle != NONE).then_some(handle as usize);
        if action + 2 > record_len || handle.is_some_and(|h| h + 4 > record_len) {
            return Err(LoadError::Layout(format!("a record of table {} that is too short", info.name)));
        }
        let mut actions = BTreeMap::new();
        for _ in 0..self.next()? {
            let number = self.next()?;
            let id = ActionId::from_u32(number);
            let action = program.actions.get(id).ok_or_else(|| LoadError::Layout(format!("action {number}, which the program has not")))?;
            if self.next()? as usize != action.params.len() {
                return Err(LoadError::Layout(format!("another number of parameters for action {}", action.name)));
            }
            let places = action.params.iter().map(|p| self.place(false, p.width, record_len, &p.name)).collect::<Result<_, _>>()?;
            actions.insert(id, places);
        }
        let used = info.actions.iter().map(|u| u.action).chain([info.default_action.0]);
        if let Some(missing) = used.into_iter().find(|a| !actions.contains_key(a)) {
            return Err(LoadError::Layout(format!("no action {} in table {}", program.actions[missing].name, info.name)));
        }
        Ok(TableLayout { key_len, fields, record_len, action, handle, actions })
    }
}

impl TableLayout {
    /// Makes the record of an entry in place of what is there.
    pub(crate) fn write_record(&self, record: &mut Vec<u8>, action: ActionId, args: &[u128], handle: u32) {
        record.clear();
        record.resize(self.record_len, 0);
        record[self.action..self.action + 2].copy_from_slice(&(action.as_u32() as u16).to_ne_bytes());
        if let Some(at) = self.handle {
            record[at..at + 4].copy_from_slice(&handle.to_ne_bytes());
        }
        for (place, arg) in self.actions.get(&action).into_iter().flatten().zip(args) {
            // Little endian: the low bytes come first.
            record[place.offset..place.offset + place.bytes].copy_from_slice(&arg.to_le_bytes()[..place.bytes]);
        }
    }

    /// The action in a record, and its arguments.
    pub(crate) fn read_record(&self, record: &[u8]) -> (ActionId, Vec<u128>) {
        let action = ActionId::from_u32(u16::from_ne_bytes([record[self.action], record[self.action + 1]]).into());
        let arg = |place: &Place| {
            let mut bytes = [0; 16];
            bytes[..place.bytes].copy_from_slice(&record[place.offset..place.offset + place.bytes]);
            u128::from_le_bytes(bytes)
        };
        (action, self.actions.get(&action).into_iter().flatten().map(arg).collect())
    }

    /// Reads a value from a key.
    pub(crate) fn get(&self, key: &[u8], field: usize) -> u128 {
        let Place { offset, bytes, shift } = self.fields[field];
        key[offset..offset + bytes].iter().fold(0, |value, byte| value << 8 | u128::from(*byte)) >> shift
    }

    /// The entry's number in a record.
    pub(crate) fn handle_of(&self, record: &[u8]) -> Option<u32> {
        let at = self.handle?;
        Some(u32::from_ne_bytes(record.get(at..at + 4)?.try_into().ok()?))
    }

    /// Writes a value into a key.
    pub(crate) fn put(&self, key: &mut [u8], field: usize, value: u128) {
        let Place { offset, bytes, shift } = self.fields[field];
        key[offset..offset + bytes].copy_from_slice(&(value << shift).to_be_bytes()[16 - bytes..]);
    }
}
