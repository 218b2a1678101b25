//! Look-ups that stand for calls of services: the generated code calls back while its burst runs, with the requests of all packets that have come there.

use crate::abi::{CLane, CPacket, CTable, Place};
use crate::tables::ProgramTable;
use base::{MAX_PACKET, PortId};
use cranelift_entity::EntityRef;
use program::{BitField, Program, TableId};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use target_api::{Asks, BURST, FIELDS_MAX, Order, Outcome, Question};

/// What a lane has for them.
pub(crate) struct AskTables(Vec<AskTable>);

/// Of one: how its key is a request, and how an answer is a record.
struct AskTable {
    table: TableId,
    request: RequestForm,
    answer: Vec<AnswerField>,
    /// A record for each packet, with the action that takes the answer.
    records: Box<[u64]>,
    record_words: usize,
    /// The burst's [`Asking`], while it runs.
    asking: *mut c_void,
}

/// How a key is a request.
enum RequestForm {
    /// Its bytes are the request's, as they are where each field is of whole bytes: those of so many words, under a mask.
    Words([u64; FIELDS_MAX / 8], usize),
    /// Field by field.
    Fields(Vec<(Place, BitField)>),
}

/// Where a field of the answer goes.
struct AnswerField {
    field: BitField,
    /// Of one of 1, 2, 4 or 8 whole bytes: the first. It is read as it was written, or the processor would wait until the answer is in its cache.
    whole: Option<usize>,
    to: Place,
}

impl AnswerField {
    fn new(field: BitField, to: Place) -> AnswerField {
        let is_whole = field.offset.is_multiple_of(8) && field.width as usize == 8 * to.bytes && matches!(to.bytes, 1 | 2 | 4 | 8);
        AnswerField { field, whole: is_whole.then_some(field.offset as usize / 8), to }
    }

    #[inline]
    fn value(&self, fields: &[u8; FIELDS_MAX]) -> u128 {
        let Some(first) = self.whole else { return self.field.get(fields) };
        let bytes = &fields[first..first + self.to.bytes];
        match *bytes {
            [a] => a.into(),
            [a, b] => u16::from_be_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_be_bytes([a, b, c, d]).into(),
            _ => bytes.try_into().map_or(0, u64::from_be_bytes).into(),
        }
    }
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
            let len = layout.key_len.min(FIELDS_MAX);
            let mask = |word: usize| (0..8).filter(|at| 8 * word + at < len).fold(0, |mask, at| mask | 0xff << (8 * at));
            let request = match is_plain {
                true => RequestForm::Words(std::array::from_fn(mask), len.div_ceil(8)),
                false => RequestForm::Fields(request),
            };
            // The first action takes the answer.
            let action = info.actions[0].action;
            let widths = program.actions[action].params.iter().map(|param| param.width).collect();
            let places = layout.actions.get(&action).into_iter().flatten().copied();
            let answer = fields(widths).into_iter().zip(places).map(|(field, to)| AnswerField::new(field, to)).collect();
            let mut record = Vec::new();
            layout.write_record(&mut record, action, &[], u32::MAX);
            let record_words = record.len().div_ceil(8);
            record.resize(8 * record_words, 0);
            let words = record.repeat(BURST);
            let words = words.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("it has 8 bytes")));
            AskTable { table: *table, request, answer, records: words.collect(), record_words, asking: std::ptr::null_mut() }
        };
        AskTables(program.asks.iter().map(|ask| new(&ask.table)).collect())
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
    #[inline(always)]
    fn request(&self, key: &[u8]) -> [u8; FIELDS_MAX] {
        match &self.request {
            RequestForm::Words(masks, words) => {
                // In registers, and written once: bytes that are written one by one and then moved together have to be waited for.
                let word = |at: usize| if at < *words { u64::from_le_bytes(key.as_chunks::<8>().0[at]) & masks[at] } else { 0 };
                // SAFETY: four words are 32 bytes.
                unsafe {
                    std::mem::transmute::<[u64; FIELDS_MAX / 8], [u8; FIELDS_MAX]>([word(0), word(1), word(2), word(3)].map(u64::to_le))
                }
            }
            RequestForm::Fields(all) => {
                let mut fields = [0; FIELDS_MAX];
                for (place, field) in all {
                    let bytes = &key[place.offset..place.offset + place.bytes];
                    field.set(&mut fields, bytes.iter().fold(0, |value, byte| value << 8 | u128::from(*byte)) >> place.shift);
                }
                fields
            }
        }
    }

    /// The record of packet `k` with that answer.
    #[inline(always)]
    fn record(&mut self, k: usize, fields: &[u8; FIELDS_MAX]) -> *mut u8 {
        let record = self.records[k * self.record_words..][..self.record_words].as_mut_ptr().cast::<u8>();
        for field in &self.answer {
            let (value, place) = (field.value(fields), &field.to);
            // SAFETY: the place is within the record, as the layout was checked to be.
            unsafe {
                let to = record.add(place.offset);
                match place.bytes {
                    1 => to.write(value as u8),
                    2 => to.cast::<[u8; 2]>().write((value as u16).to_le_bytes()),
                    4 => to.cast::<[u8; 4]>().write((value as u32).to_le_bytes()),
                    8 => to.cast::<[u8; 8]>().write((value as u64).to_le_bytes()),
                    n => std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), to, n.min(16)),
                }
            }
        }
        record
    }
}

/// As the generated code says it (`p4-emit/src/turns.rs`).
fn order_of(in_order: u64) -> Order {
    match in_order {
        0 => Order::Any,
        1 => Order::Places,
        _ => Order::Packets,
    }
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
    let (asked, here, order, first, payloads) = unsafe {
        let CLane { asked, asking: here, in_order, payload, .. } = &*asking.lane;
        (*asked, *here, order_of(*in_order), here.offset_from(asking.packets) as usize, payload)
    };
    let mut questions = [const { MaybeUninit::<Question<'_>>::uninit() }; BURST];
    let n = n.min(asked.count_ones() as usize);
    let mut left = asked;
    for (k, question) in questions[..n].iter_mut().enumerate() {
        let i = left.trailing_zeros() as usize;
        left &= left - 1;
        // SAFETY: the packet is one of the burst's.
        let CPacket { buffer, start, length, port, .. } = unsafe { &*here.add(i) };
        let payload = payloads[i].min(*length);
        let (from, to) = ((start + payload) as usize, asking.sizes[first + i].min(*start as usize + MAX_PACKET));
        // SAFETY: a part of the packet's buffer, which the lane has borrowed; buffers do not overlap, and the generated code waits.
        let room = unsafe { std::slice::from_raw_parts_mut(buffer.add(from), to - from) };
        // SAFETY: `n` keys lie so far apart, each as long as the layout says.
        let key = unsafe { std::slice::from_raw_parts(keys.add(k * stride), stride) };
        let (packet, len) = ((first + i) as u32, length - payload);
        question.write(Question { fields: ask.request(key), room, len, packet, port: PortId(*port as u16), outcome: Outcome::Pending });
    }
    // SAFETY: the first `n` have been written.
    let questions = unsafe { std::slice::from_raw_parts_mut(questions.as_mut_ptr().cast::<Question<'_>>(), n) };
    asking.asks.ask(ask.table, questions, order);
    let (mut hits, mut left) = (0, asked);
    for (k, question) in questions.iter().enumerate() {
        let i = left.trailing_zeros() as usize;
        left &= left - 1;
        if question.outcome != Outcome::Answered {
            continue;
        }
        hits |= 1 << k;
        let record = ask.record(k, &question.fields);
        // SAFETY: there is room for the records of all keys; the packet is one of the burst's.
        unsafe {
            *out.add(k) = record;
            let view = &mut *here.add(i);
            // Whatever it was answered with, the packet ends within its buffer.
            let payload = payloads[i].min(view.length);
            let end = asking.sizes[first + i].min(view.start as usize + MAX_PACKET) as u32;
            view.length = payload.saturating_add(question.len).min(end - view.start);
        }
    }
    hits
}
