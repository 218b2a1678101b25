//! Internet checksums (RFC 1071) over fields, a word of the header at a time.
//!
//! 2^16 is 1 modulo 2^16 - 1, so a piece that ends `k` bits before a 16-bit boundary adds its value times 2^k, however long it is.

use super::Refused;
use super::code::Code;
use crate::expr::{paren, slice};
use crate::field::load;
use cranelift_entity::EntityRef;
use p4_ir::origin::Construct;
use p4_ir::{CheckData, ExprKind, HashAlgorithm, HeaderId, HeaderRef};

impl Code<'_> {
    /// Prints what sums the data and gives C text of the checksum, with its width.
    pub(super) fn checksum(&mut self, algorithm: HashAlgorithm, data: &[CheckData], payload: bool) -> Result<(String, u32), Refused> {
        if payload {
            return Err(self.refuse_because(Construct::Checksum, "checksums over the payload"));
        }
        if algorithm != HashAlgorithm::Csum16 {
            return self.other_checksum(algorithm, data);
        }
        let sum = format!("sum{}", self.unique());
        self.line(format!("uint64_t {sum} = 0;"));
        if self.sum_words(&sum, data)? {
            // Of sums in another byte order the bytes are in another order.
            return Ok((format!("(uint32_t)__builtin_bswap16((uint16_t)sp_fold_words({sum}))"), 16));
        }
        let (mut at, mut done) = (0, 0);
        while done < data.len() {
            match &data[done] {
                CheckData::Varbit(r, _) => {
                    if done + 1 != data.len() || at % 16 != 0 {
                        let what = "a checksum over a varbit field that is not its last, on a boundary of 16 bits";
                        return Err(self.refuse_because(Construct::Checksum, what));
                    }
                    self.each(r, |c, h| {
                        if let Some(h) = h {
                            c.sum_varbit(&sum, h);
                        }
                        Ok(())
                    })?;
                    done += 1;
                }
                CheckData::Value(e) => {
                    let (run, bits) = self.run(&data[done..])?;
                    if let Some((h, offset)) = run.0 {
                        self.sum_header(&sum, h, offset, bits, at);
                    } else {
                        let (text, width) = (self.expr(e)?, e.ty.width());
                        let mut left = width;
                        while left > 0 {
                            let take = left.min(32 - (at + width - left) % 16).min(32);
                            let piece = slice(&text, width, left - 1, left - take);
                            left -= take;
                            let shift = (16 - (at + width - left) % 16) % 16;
                            self.line(format!("{sum} += (uint64_t){} << {shift};", paren(&piece)));
                        }
                    }
                    at += bits;
                    done += run.1;
                }
            }
        }
        Ok((format!("sp_fold({sum})"), 16))
    }

    /// Sums what is whole words of 16 bits in headers that are valid as the machine loads it, if all data is that.
    fn sum_words(&mut self, sum: &str, data: &[CheckData]) -> Result<bool, Refused> {
        let (mut loads, mut done) = (Vec::new(), 0);
        while done < data.len() {
            let ((Some((h, offset)), n), bits) = self.run(&data[done..])? else { return Ok(false) };
            if self.known_valid(h) != Some(true) || offset % 8 != 0 || bits % 16 != 0 {
                return Ok(false);
            }
            let (mut at, end) = (offset / 8, (offset + bits) / 8);
            while at < end {
                let len = if end - at >= 4 { 4 } else { 2 };
                loads.push(format!("{sum} += *(const uint{}_t *)({});", 8 * len, crate::field::plus(&self.home(h), at)));
                at += len;
            }
            done += n;
        }
        if loads.len() >= 256 {
            return Ok(false);
        }
        loads.iter().for_each(|l| self.line(l));
        Ok(true)
    }

    /// Fields that follow each other in one header, as the data begins: the header with the first bit, their number, all bits.
    #[allow(clippy::type_complexity)]
    fn run(&self, data: &[CheckData]) -> Result<((Option<(HeaderId, u32)>, usize), u32), Refused> {
        let ir = self.ir;
        let field = |d: &CheckData| -> Result<Option<(HeaderId, u32, u32)>, Refused> {
            let CheckData::Value(e) = d else { return Ok(None) };
            let ExprKind::Field(r, index) = &e.kind else { return Ok(None) };
            // Which element of a stack it is may be known only at run time: then it is a value like others.
            let HeaderRef::Static(h) = *r else { return Ok(None) };
            let f = &ir.header_types[ir.headers[h].ty].fields[*index as usize];
            Ok((!f.varbit).then_some((h, f.offset_bits, f.ty.width())))
        };
        let Some((h, offset, mut bits)) = field(&data[0])? else {
            let CheckData::Value(e) = &data[0] else { return Ok(((None, 1), 0)) };
            return Ok(((None, 1), e.ty.width()));
        };
        let mut n = 1;
        while let Some(d) = data.get(n)
            && let Some((other, next, width)) = field(d)?
            && (other, next) == (h, offset + bits)
        {
            bits += width;
            n += 1;
        }
        Ok(((Some((h, offset)), n), bits))
    }

    fn sum_header(&mut self, sum: &str, h: HeaderId, offset: u32, bits: u32, at: u32) {
        let known = self.known_valid(h);
        if known == Some(false) {
            return;
        }
        if known.is_none() {
            let valid = self.is_valid(h);
            self.open(format!("if ({valid})"));
        }
        let mut done = 0;
        while done < bits {
            let take = (bits - done).min(32 - (at + done) % 16);
            let text = load(&self.home(h), self.home_len(h), offset + done, take);
            done += take;
            let shift = (16 - (at + done) % 16) % 16;
            let shifted = if shift == 0 { String::new() } else { format!(" << {shift}") };
            self.line(format!("{sum} += (uint64_t){}{shifted};", paren(&text)));
        }
        if known.is_none() {
            self.close();
        }
    }

    /// What is beyond the field's length is zero and adds nothing.
    fn sum_varbit(&mut self, sum: &str, h: HeaderId) {
        let (fixed, most) = (self.model.fixed_len[h.index()], self.model.varbit_len[h.index()]);
        let valid = self.is_valid(h);
        self.open(format!("if ({valid})"));
        for i in (0..most).step_by(4) {
            let take = (most - i).min(4);
            let text = load(&self.home(h), self.home_len(h), (fixed + i) * 8, take * 8);
            let shift = if take % 2 == 1 { " << 8" } else { "" };
            self.line(format!("{sum} += (uint64_t){}{shift};", paren(&text)));
        }
        self.close();
    }
}
