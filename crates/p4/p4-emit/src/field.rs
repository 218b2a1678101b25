//! Header fields: loads and stores of bits at a fixed place of bytes in network order.

use crate::emitter::local_type;

/// C text of the field of `width` bits at bit `offset` of the `len` bytes at `at`.
pub(crate) fn load(at: &str, len: u32, offset: u32, width: u32) -> String {
    if width == 0 {
        return "0".into();
    }
    let Some((start, size)) = window(len, offset, width) else {
        return format!("({})sp_get_bits({at}, {offset}, {width})", local_type(width));
    };
    let shift = (start + size) * 8 - (offset + width);
    let mut text = format!("sp_ld{}({})", size * 8, plus(at, start));
    if shift > 0 {
        text = format!("({text} >> {shift})");
    }
    let whole = size * 8 - shift == width;
    if local_type(size * 8) != local_type(width) {
        text = format!("({}){text}", local_type(width));
    }
    let natural = matches!(width, 32 | 64) && local_type(size * 8) != local_type(width);
    if whole || natural { text } else { format!("({text} & {})", mask(width)) }
}

/// C statement that stores `value`, which has no bits above `width`, there.
pub(crate) fn store(at: &str, len: u32, offset: u32, width: u32, value: &str) -> String {
    if width == 0 {
        return String::new();
    }
    let whole = offset.is_multiple_of(8) && width.is_multiple_of(8);
    if whole {
        let at = plus(at, offset / 8);
        match width / 8 {
            1 | 2 | 4 | 8 | 16 => return format!("sp_st{width}({at}, {value});"),
            3 | 5 | 6 | 7 => return format!("sp_st{width}({at}, {value});"),
            _ => return format!("sp_set_bits({at}, 0, {width}, {value});"),
        }
    }
    match window(len, offset, width) {
        Some((start, size)) if size <= 8 => {
            let shift = (start + size) * 8 - (offset + width);
            let (at, bits, ty) = (plus(at, start), size * 8, local_type(size * 8));
            let keep = !(((1u128 << width) - 1) << shift) & ((1u128 << bits) - 1);
            let suffix = if size == 8 { "ull" } else { "u" };
            let shifted = if shift == 0 { format!("({ty})({value})") } else { format!("(({ty})({value}) << {shift})") };
            format!("sp_st{bits}({at}, (sp_ld{bits}({at}) & {keep:#x}{suffix}) | {shifted});")
        }
        _ => format!("sp_set_bits({at}, {offset}, {width}, {value});"),
    }
}

/// Bytes of 1, 2, 4, 8 or 16 that hold the field and lie in the header.
pub(crate) fn window(len: u32, offset: u32, width: u32) -> Option<(u32, u32)> {
    let first = offset / 8;
    let bytes = (offset + width).div_ceil(8) - first;
    if bytes > 16 {
        return None;
    }
    let size = bytes.next_power_of_two();
    let start = first.min(len.checked_sub(size)?);
    (start + size >= first + bytes).then_some((start, size))
}

/// C text of the mask of `width` bits, of the type the value has.
pub(crate) fn mask(width: u32) -> String {
    match width {
        0..=31 => format!("{:#x}", (1u64 << width) - 1),
        32 => "0xffffffffu".into(),
        33..=63 => format!("{:#x}ull", (1u64 << width) - 1),
        64 => "0xffffffffffffffffull".into(),
        _ => constant(width, u128::MAX >> (128 - width.min(128))),
    }
}

/// C text of a constant of `width` bits.
pub(crate) fn constant(width: u32, value: u128) -> String {
    match width {
        // Unsuffixed, a number would be signed.
        0..=32 if value < 10 => format!("{value}u"),
        0..=32 => format!("{value:#x}u"),
        33..=64 => format!("{value:#x}ull"),
        _ => format!("SP_U128({:#x}ull, {:#x}ull)", (value >> 64) as u64, value as u64),
    }
}

/// `at + bytes`.
pub(crate) fn plus(at: &str, bytes: u32) -> String {
    if bytes == 0 { at.to_owned() } else { format!("{at} + {bytes}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_stay_inside_the_header() {
        assert_eq!(load("p", 14, 0, 48), "(sp_ld64(p) >> 16)");
        assert_eq!(load("p", 14, 48, 48), "(sp_ld64(p + 6) >> 16)");
        assert_eq!(load("p", 14, 96, 16), "sp_ld16(p + 12)");
        assert_eq!(load("p", 20, 51, 13), "(sp_ld16(p + 6) & 0x1fff)");
        assert_eq!(load("p", 6, 0, 48), "(uint64_t)sp_get_bits(p, 0, 48)");
        assert_eq!(load("p", 8, 32, 24), "(sp_ld32(p + 4) >> 8)");
        assert_eq!(load("p", 7, 32, 24), "(sp_ld32(p + 3) & 0xffffff)");
        assert_eq!(load("p", 1, 0, 4), "(sp_ld8(p) >> 4)");
    }

    #[test]
    fn stores_touch_only_the_field() {
        assert_eq!(store("p", 20, 0, 4, "v"), "sp_st8(p, (sp_ld8(p) & 0xfu) | ((uint32_t)(v) << 4));");
        assert_eq!(store("p", 20, 96, 32, "v"), "sp_st32(p + 12, v);");
        assert_eq!(store("p", 14, 48, 48, "v"), "sp_st48(p + 6, v);");
    }
}
