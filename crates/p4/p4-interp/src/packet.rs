//! The state of one packet in flight: variables, headers, the parser's cursor, the bytes written.

use crate::wire::{get_bits, put_bits};
use base::Bits;
use p4_ir::{HeaderId, Ir, StackId, VarId};
use std::collections::HashMap;
use std::sync::Arc;

/// Where things are in [`PacketState`]; made once for a program.
pub(crate) struct Layout {
    /// Position of each header's first field in `fields`.
    first_field: Vec<usize>,
    /// Fields of each header, varbit included.
    field_count: Vec<usize>,
    /// Each header's union, if any.
    union: Vec<Option<u32>>,
    /// Members of each union.
    members: HashMap<u32, Vec<HeaderId>>,
    total_fields: usize,
}

impl Layout {
    pub(crate) fn new(ir: &Ir) -> Layout {
        let mut layout = Layout { first_field: vec![], field_count: vec![], union: vec![], members: HashMap::new(), total_fields: 0 };
        for (id, h) in &ir.headers {
            let fields = ir.header_types[h.ty].fields.len();
            layout.first_field.push(layout.total_fields);
            layout.field_count.push(fields);
            layout.total_fields += fields;
            layout.union.push(h.union);
            if let Some(u) = h.union {
                layout.members.entry(u).or_default().push(id);
            }
        }
        layout
    }
}

/// Variables, headers and cursor of the packet in work. Kept between packets for its memory.
#[derive(Clone)]
pub(crate) struct PacketState {
    layout: Arc<Layout>,
    vars: Vec<u128>,
    valid: Vec<bool>,
    /// All fields of all headers; meaningless while the header is invalid.
    fields: Vec<u128>,
    /// The varbit field's bytes of each header, as long as they are now.
    varbits: Vec<Vec<u8>>,
    next_index: Vec<u32>,
    /// Bytes that the parser has consumed.
    pub cursor: usize,
    /// What is behind the cursor, once a service has been called.
    pub payload: Option<Vec<u8>>,
    /// The deparsed packet.
    pub out: Vec<u8>,
    /// Set by `truncate`.
    pub keep_bytes: Option<usize>,
}

impl PacketState {
    pub(crate) fn new(ir: &Ir) -> PacketState {
        let layout = Layout::new(ir);
        PacketState {
            vars: vec![0; ir.vars.len()],
            valid: vec![false; ir.headers.len()],
            fields: vec![0; layout.total_fields],
            varbits: vec![Vec::new(); ir.headers.len()],
            next_index: vec![0; ir.stacks.len()],
            cursor: 0,
            payload: None,
            out: Vec::new(),
            keep_bytes: None,
            layout: Arc::new(layout),
        }
    }

    /// All variables zero.
    pub(crate) fn clear_vars(&mut self) {
        self.vars.fill(0);
    }

    /// Everything zero and invalid, for the next packet.
    pub(crate) fn reset(&mut self) {
        self.vars.fill(0);
        self.valid.fill(false);
        self.next_index.fill(0);
        self.cursor = 0;
        self.payload = None;
        self.out.clear();
        self.keep_bytes = None;
    }

    pub(crate) fn var(&self, v: VarId) -> u128 {
        self.vars[v.as_u32() as usize]
    }

    /// `value` fits the variable's width.
    pub(crate) fn set_var(&mut self, v: VarId, value: u128) {
        self.vars[v.as_u32() as usize] = value;
    }

    pub(crate) fn is_valid(&self, h: HeaderId) -> bool {
        self.valid[index(h)]
    }

    /// A field, or zero if the header is invalid.
    pub(crate) fn field(&self, h: HeaderId, field: u32) -> u128 {
        let at = index(h);
        if self.valid[at] { self.fields[self.layout.first_field[at] + field as usize] } else { 0 }
    }

    /// Writes a field, if the header is valid; tells whether it is.
    pub(crate) fn set_field(&mut self, h: HeaderId, field: u32, value: u128) -> bool {
        let at = index(h);
        if self.valid[at] {
            self.fields[self.layout.first_field[at] + field as usize] = value;
        }
        self.valid[at]
    }

    /// All fields of a header (a varbit one as zero).
    pub(crate) fn fields(&self, h: HeaderId) -> &[u128] {
        let at = index(h);
        let first = self.layout.first_field[at];
        &self.fields[first..first + self.layout.field_count[at]]
    }

    /// Bytes of the varbit field as it is now; none if the header is invalid or has no such field.
    pub(crate) fn varbit(&self, h: HeaderId) -> &[u8] {
        let at = index(h);
        if self.valid[at] { &self.varbits[at] } else { &[] }
    }

    /// `setValid` zeroes a header that was invalid and makes its union's others invalid (P4_16 §8.20); one that was
    /// valid stays as it is.
    pub(crate) fn set_valid(&mut self, h: HeaderId, valid: bool) {
        let at = index(h);
        if valid && !self.valid[at] {
            self.clear(h);
        }
        self.valid[at] = valid;
    }

    /// Copies validity and all fields; no source means an invalid one.
    pub(crate) fn copy_header(&mut self, dst: HeaderId, src: Option<HeaderId>) {
        let Some(src) = src.filter(|s| self.is_valid(*s)) else {
            self.valid[index(dst)] = false;
            return;
        };
        if src == dst {
            return;
        }
        let (to, from) = (index(dst), index(src));
        let first = self.layout.first_field[from];
        self.fields.copy_within(first..first + self.layout.field_count[from], self.layout.first_field[to]);
        let mut bytes = std::mem::take(&mut self.varbits[to]);
        bytes.clone_from(&self.varbits[from]);
        self.varbits[to] = bytes;
        self.invalidate_rivals(dst);
        self.valid[to] = true;
    }

    /// Copies the varbit field, if the destination is valid; no source means an empty one.
    pub(crate) fn copy_varbit(&mut self, dst: HeaderId, src: Option<HeaderId>) {
        let to = index(dst);
        if !self.valid[to] || src == Some(dst) {
            return;
        }
        let mut bytes = std::mem::take(&mut self.varbits[to]);
        bytes.clear();
        if let Some(src) = src {
            bytes.extend_from_slice(self.varbit(src));
        }
        self.varbits[to] = bytes;
    }

    /// Fills a header from the start of `bytes`, `varbit_bytes` of them being its varbit field.
    ///
    /// # Panics
    /// If `bytes` is shorter than that.
    pub(crate) fn extract(&mut self, ir: &Ir, h: HeaderId, bytes: &[u8], varbit_bytes: usize) {
        self.clear(h);
        let at = index(h);
        let ty = &ir.header_types[ir.headers[h].ty];
        let first = self.layout.first_field[at];
        for (i, f) in ty.fields.iter().enumerate() {
            let offset = f.offset_bits as usize;
            if f.varbit {
                self.varbits[at].extend_from_slice(&bytes[offset / 8..offset / 8 + varbit_bytes]);
            } else {
                self.fields[first + i] = get_bits(bytes, offset, f.ty.width());
            }
        }
        self.valid[at] = true;
    }

    /// Appends a valid header to the output; tells whether it was valid.
    pub(crate) fn emit(&mut self, ir: &Ir, h: HeaderId) -> bool {
        let at = index(h);
        if !self.valid[at] {
            return false;
        }
        let ty = &ir.header_types[ir.headers[h].ty];
        let start = self.out.len();
        self.out.resize(start + ty.fixed_bits as usize / 8, 0);
        let first = self.layout.first_field[at];
        for (i, f) in ty.fields.iter().enumerate().filter(|(_, f)| !f.varbit) {
            put_bits(&mut self.out[start..], f.offset_bits as usize, f.ty.width(), self.fields[first + i]);
        }
        self.out.extend_from_slice(&self.varbits[at]);
        true
    }

    pub(crate) fn next_index(&self, s: StackId) -> u32 {
        self.next_index[s.as_u32() as usize]
    }

    pub(crate) fn set_next_index(&mut self, s: StackId, next: u32) {
        self.next_index[s.as_u32() as usize] = next;
    }

    fn clear(&mut self, h: HeaderId) {
        let at = index(h);
        let first = self.layout.first_field[at];
        self.fields[first..first + self.layout.field_count[at]].fill(0);
        self.varbits[at].clear();
        self.invalidate_rivals(h);
    }

    fn invalidate_rivals(&mut self, h: HeaderId) {
        let layout = self.layout.clone();
        let members = layout.union[index(h)].and_then(|u| layout.members.get(&u));
        for rival in members.into_iter().flatten().filter(|m| **m != h) {
            self.valid[index(*rival)] = false;
        }
    }
}

/// `value` cut to the width.
pub(crate) fn cut(value: u128, width: u32) -> u128 {
    value & Bits::mask(width)
}

fn index(h: HeaderId) -> usize {
    h.as_u32() as usize
}
