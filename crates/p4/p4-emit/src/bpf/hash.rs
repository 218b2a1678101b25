//! `hash()`, checksums that are not sums, and digests: data laid down in the context in wire order.

use super::Refused;
use super::code::Code;
use crate::expr::paren;
use crate::field::store;
use p4_ir::origin::Construct;
use p4_ir::{CheckData, Expr, Extern, HashAlgorithm, LValue};

/// Most bytes that are hashed: the verifier walks through each round of a loop over them.
const MOST_HASHED: u32 = 128;
/// Most values of a digest.
const MOST_VALUES: usize = 64;

impl Code<'_> {
    /// `result = base + hash(data) % max`; `base` if `max` is 0.
    pub(super) fn hash(
        &mut self,
        result: &LValue,
        algorithm: HashAlgorithm,
        base: &Expr,
        data: &[Expr],
        max: &Expr,
    ) -> Result<(), Refused> {
        self.open("");
        let (base_text, max_text) = (paren(&self.expr(base)?), paren(&self.expr(max)?));
        let n = self.unique();
        let texts = data.iter().map(|e| Ok((self.expr(e)?, e.ty.width()))).collect::<Result<Vec<_>, Refused>>()?;
        let (hash, _) = self.digest_of(algorithm, &texts)?;
        self.line(format!("const uint64_t hash{n} = {hash};"));
        let modulo = |max: &str| format!("({max} ? hash{n} % {max} : 0)");
        let rest = match max.ty.width() {
            0..=64 => {
                self.line(format!("const uint64_t max{n} = {max_text};"));
                modulo(&format!("max{n}"))
            }
            _ => {
                self.line(format!("const uint64_t max{n} = (uint64_t){max_text}, above{n} = (uint64_t)({max_text} >> 64);"));
                format!("(above{n} ? hash{n} : {})", modulo(&format!("max{n}")))
            }
        };
        self.assign_cut(result, &format!("((sp_u128){base_text} + {rest})"), 128)?;
        self.close();
        Ok(())
    }

    /// C text of a checksum that is no RFC 1071 sum, and its width.
    pub(super) fn other_checksum(&mut self, algorithm: HashAlgorithm, data: &[CheckData]) -> Result<(String, u32), Refused> {
        let mut texts = Vec::new();
        for d in data {
            match d {
                CheckData::Value(e) => texts.push((self.expr(e)?, e.ty.width())),
                CheckData::Varbit(..) => {
                    return Err(self.refuse_because(Construct::Checksum, "a checksum of this kind over a varbit field"));
                }
            }
        }
        self.digest_of(algorithm, &texts)
    }

    /// Lays the data down and gives C text of its digest, with its width.
    fn digest_of(&mut self, algorithm: HashAlgorithm, data: &[(String, u32)]) -> Result<(String, u32), Refused> {
        let bits: u32 = data.iter().fold(0, |sum, (_, width)| sum.saturating_add(*width));
        let bytes = bits.div_ceil(8);
        if bytes > MOST_HASHED {
            let what = format!("hash() and checksums over {bytes} bytes, more than {MOST_HASHED}");
            return Err(self.refuse_because(Construct::Hash, what));
        }
        self.hashed = self.hashed.max(bytes.max(1));
        // Sums of 16 bits read a whole word at the end.
        self.line(format!("sp_zero(c->hashed, {});", bytes.next_multiple_of(2).max(8)));
        let mut at = 0;
        for (text, width) in data.iter().filter(|(_, width)| *width > 0) {
            self.line(store("c->hashed", MOST_HASHED + 16, at, *width, text));
            at += width;
        }
        let (name, width) = match algorithm {
            HashAlgorithm::Csum16 => ("csum16", 16),
            HashAlgorithm::Xor16 => ("xor16", 16),
            HashAlgorithm::Crc16 => ("crc16", 16),
            HashAlgorithm::Crc32 => ("crc32", 32),
            HashAlgorithm::Identity => ("identity", 64),
        };
        Ok((format!("sp_{name}(c->hashed, {bytes})"), width))
    }

    /// Notes a digest, which is sent at the packet's end.
    pub(super) fn digest(&mut self, call: &Extern, receiver: &Expr, data: &[Expr]) -> Result<(), Refused> {
        if data.len() > MOST_VALUES {
            return Err(self.refuse_because(Construct::Digest, format!("a digest of {} values, more than {MOST_VALUES}", data.len())));
        }
        self.only_once(Construct::Digest, "digests")?;
        let site = self.site(call, self.digests.len());
        if site == self.digests.len() {
            self.digests.push(data.len() + 1);
        }
        for (i, e) in [receiver].into_iter().chain(data).enumerate() {
            let text = paren(&self.expr(e)?);
            self.line(format!("c->digest_{site}.values[{i}][0] = (uint64_t){text};"));
            let high = if e.ty.width() > 64 { format!("(uint64_t)({text} >> 64)") } else { "0".into() };
            self.line(format!("c->digest_{site}.values[{i}][1] = {high};"));
        }
        self.line(format!("c->digest_{site}.at = {};", site + 1));
        Ok(())
    }
}
