//! Look-ups that stand for calls of services: the generated code calls back while its burst runs.

use crate::abi::{CLane, CPacket, CTable, Place};
use crate::tables::ProgramTable;
use base::{MAX_PACKET, PortId};
use cranelift_entity::EntityRef;
use program::{BitField, Program, TableId};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use target::{Asks, BURST, FIELDS_MAX, Question};

/// What a lane has for them.
pub(crate) struct AskTables(Vec<AskTable>);

/// Of one: how its key is a request, and how an answer is a record.
struct AskTable {
    table: TableId,
    /// Where the key's bytes are the request's, as they are where each field is of whole bytes: how many.
    plain: Option<usize>,
    /// The fields otherwise.
    request: Vec<(Place, BitField)>,
    answer: Vec<(BitField, Place)>,
    /// A record for each packet, with the action that takes the answer.
    records: Box<[u64]>,
    record_words: usize,
    /// The burst's [`Asking`], while it runs.
    asking: *mut c_void,
}

/// A burst that may ask.
pub(crate) struct Asking<'a> {
    pub asks: &'a mut dyn Asks,
    /// All of its packets, and the lengths of their buffers.
    pub packets: *mut CPacket,
    pub sizes: &'a [usize; BURST],
    pub lane: *const CLane,
}

impl AskTables {
    pub(crate) fn new(program: &Program, tables: &[ProgramTable]) -> AskTables {
        let fields = |widths: Vec<u32>| {
            let mut offset = 0;
            let field = |width| {
                offset += width;
                BitField { offset: offset - width, width }
            };
            widths.into_iter().map(field).collect::<Vec<_>>()
        };
        let new = |table: &TableId| {
            let (info, layout) = (&program.tables[*table], tables[table.index()].layout());
            let request: Vec<_> = layout.fields.iter().copied().zip(fields(info.keys.iter().map(|key| key.width).collect())).collect();
            let is_plain =
                request.iter().all(|(place, field)| field.width as usize == 8 * place.bytes && field.offset as usize == 8 * place.offset);
            let plain = is_plain.then(|| layout.key_len.min(FIELDS_MAX));
            // The first action takes the answer.
            let action = info.actions[0].action;
            let widths = program.actions[action].params.iter().map(|param| param.width).collect();
            let places = layout.actions.get(&action).into_iter().flatten().copied();
            let answer = fields(widths).into_iter().zip(places).collect();
            let mut record = Vec::new();
            layout.write_record(&mut record, action, &[], u32::MAX);
            let record_words = record.len().div_ceil(8);
            record.resize(8 * record_words, 0);
            let words = record.repeat(BURST);
            let words = words.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("it has 8 bytes")));
            AskTable { table: *table, plain, request, answer, records: words.collect(), record_words, asking: std::ptr::null_mut() }
        };
        AskTables(program.asks.iter().map(new).collect())
    }

    /// Lets look-ups of these tables ask.
    ///
    /// # Safety
    /// `tables` are the lane's, and nobody else uses them until [`AskTables::end`]; `asking` stays where it is until then.
    pub(crate) unsafe fn begin(&mut self, tables: *mut CTable, asking: &mut Asking<'_>) {
        let asking = (&raw mut *asking).cast();
        for ask in &mut self.0 {
            ask.asking = asking;
            // SAFETY: the program has this table, and the caller's promise.
            unsafe {
                let view = tables.add(ask.table.index());
                (*view).lookup = Some(look_up);
                (*view).table = (&raw mut *ask).cast_const().cast();
            }
        }
    }

    /// They are empty again.
    ///
    /// # Safety
    /// As for [`AskTables::begin`].
    pub(crate) unsafe fn end(&mut self, tables: *mut CTable) {
        for ask in &mut self.0 {
            // SAFETY: as above.
            unsafe {
                let view = tables.add(ask.table.index());
                (*view).lookup = None;
                (*view).table = std::ptr::null();
            }
        }
    }
}

impl AskTable {
    #[inline]
    fn request(&self, key: &[u8]) -> [u8; FIELDS_MAX] {
        let mut fields = [0; FIELDS_MAX];
        if let Some(len) = self.plain {
            fields[..len].copy_from_slice(&key[..len]);
            return fields;
        }
        for (place, field) in &self.request {
            let bytes = &key[place.offset..place.offset + place.bytes];
            field.set(&mut fields, bytes.iter().fold(0, |value, byte| value << 8 | u128::from(*byte)) >> place.shift);
        }
        fields
    }

    /// The record of packet `k` with that answer.
    #[inline]
    fn record(&mut self, k: usize, fields: &[u8; FIELDS_MAX]) -> *mut u8 {
        let record = self.records[k * self.record_words..][..self.record_words].as_mut_ptr().cast::<u8>();
        for (field, place) in &self.answer {
            let value = field.get(fields).to_le_bytes();
            // SAFETY: the place is within the record, as the layout was checked to be.
            unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), record.add(place.offset), place.bytes) };
        }
        record
    }
}

/// The numbers of its ones.
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        first
    })
}

/// As the look-up of any table: the hits of `n` keys, and their records.
///
/// # Safety
/// Called by the generated code of a lane that has begun to ask, with the [`AskTable`] that it was given.
unsafe extern "C" fn look_up(table: *const c_void, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
    // SAFETY: `begin` gave these out, and the lane, which does nothing else until this returns, has them to itself. It has written the packets that wait.
    let (ask, asking) = unsafe {
        let ask = &mut *table.cast::<AskTable>().cast_mut();
        let asking = &mut *ask.asking.cast::<Asking<'_>>();
        (ask, asking)
    };
    // SAFETY: as above; `asking` is within `packets`.
    let (asked, here, first) = unsafe {
        let CLane { asked, asking: here, .. } = &*asking.lane;
        (*asked, *here, here.offset_from(asking.packets) as usize)
    };
    let mut questions = [const { MaybeUninit::<Question<'_>>::uninit() }; BURST];
    let n = n.min(asked.count_ones() as usize);
    let waiting = || ones(asked).take(n).enumerate();
    for ((k, i), question) in waiting().zip(&mut questions) {
        // SAFETY: the packet is one of the burst's.
        let (CPacket { buffer, start, length, port, .. }, payload) = unsafe { (&*here.add(i), (*asking.lane).payload[i]) };
        let payload = payload.min(*length);
        let (from, to) = ((start + payload) as usize, asking.sizes[first + i].min(*start as usize + MAX_PACKET));
        // SAFETY: a part of the packet's buffer, which the lane has borrowed; buffers do not overlap, and the generated code waits.
        let room = unsafe { std::slice::from_raw_parts_mut(buffer.add(from), to - from) };
        // SAFETY: `n` keys lie so far apart, each as long as the layout says.
        let key = unsafe { std::slice::from_raw_parts(keys.add(k * stride), stride) };
        question.write(Question {
            packet: first + i,
            port: PortId(*port as u16),
            fields: ask.request(key),
            answered: false,
            room,
            len: (length - payload) as usize,
        });
    }
    // SAFETY: the first `n` have been written.
    let questions = unsafe { std::slice::from_raw_parts_mut(questions.as_mut_ptr().cast::<Question<'_>>(), n) };
    asking.asks.ask(ask.table, questions);
    let mut hits = 0;
    for ((k, i), question) in waiting().zip(&*questions) {
        if !question.answered {
            continue;
        }
        hits |= 1 << k;
        let record = ask.record(k, &question.fields);
        // SAFETY: there is room for the records of all keys; the packet is one of the burst's.
        unsafe {
            *out.add(k) = record;
            let (view, payload) = (&mut *here.add(i), (*asking.lane).payload[i]);
            // Whatever it was answered with, the packet ends within its buffer.
            view.length = payload.min(view.length) + question.len.min(question.room.len()) as u32;
        }
    }
    hits
}
