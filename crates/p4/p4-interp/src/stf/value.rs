//! Numbers and key matches as scripts write them.

use base::Bits;
use program::{KeyMatch, MatchKind};

/// A number: decimal, or `0x`, `0b`, `0o`; `_` between digits is skipped.
pub(super) fn number(text: &str) -> Result<u128, String> {
    let (radix, digits) = radix(text);
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    // `from_str_radix` would take a sign.
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(format!("{text:?} is not a number"));
    }
    u128::from_str_radix(&digits, radix).map_err(|_| format!("{text:?} is too large"))
}

/// An action's argument: a number that fits.
pub(super) fn action_value(text: &str, width: u32) -> Result<u128, String> {
    fits(number(text)?, width)
}

/// A key's value for a key of that kind and width.
pub(super) fn key_match(text: &str, kind: MatchKind, width: u32) -> Result<KeyMatch, String> {
    match kind {
        MatchKind::Exact => action_value(text, width).map(KeyMatch::Exact),
        MatchKind::Optional => match text {
            "*" | "_" => Ok(KeyMatch::Optional(None)),
            _ => action_value(text, width).map(|v| KeyMatch::Optional(Some(v))),
        },
        MatchKind::Range => {
            let (low, high) = text.split_once("->").or_else(|| text.split_once("..")).unwrap_or((text, text));
            let (low, high) = (action_value(low, width)?, action_value(high, width)?);
            if low > high { Err(format!("{text:?} is empty")) } else { Ok(KeyMatch::Range { low, high }) }
        }
        MatchKind::Lpm => {
            let (value, prefix_len) = prefix(text, width)?;
            Ok(KeyMatch::Lpm { value: value & !Bits::mask(width - prefix_len), prefix_len })
        }
        MatchKind::Ternary => {
            let (value, mask) = masked(text, width)?;
            Ok(KeyMatch::Ternary { value: value & mask, mask })
        }
    }
}

/// The numbers of at most 128 bits, the top one first, that a wider one is made of.
pub(super) fn wide_value(text: &str, widths: &[u32]) -> Result<Vec<u128>, String> {
    let (values, masks): (Vec<u128>, Vec<u128>) = wide_digits(text, widths)?.into_iter().unzip();
    if masks.iter().zip(widths).all(|(m, w)| *m == Bits::mask(*w)) { Ok(values) } else { Err(format!("{text:?} is not a number")) }
}

/// As [`key_match`], for a key that is such numbers.
pub(super) fn wide_match(text: &str, kind: MatchKind, widths: &[u32]) -> Result<Vec<KeyMatch>, String> {
    match kind {
        MatchKind::Ternary => {
            let parts = match text.split_once("&&&") {
                Some((value, mask)) => wide_value(value, widths)?.into_iter().zip(wide_value(mask, widths)?).collect(),
                None if text == "*" => vec![(0, 0); widths.len()],
                None => wide_digits(text, widths)?,
            };
            Ok(parts.into_iter().map(|(value, mask)| KeyMatch::Ternary { value: value & mask, mask }).collect())
        }
        MatchKind::Optional if matches!(text, "*" | "_") => Ok(vec![KeyMatch::Optional(None); widths.len()]),
        MatchKind::Optional => Ok(wide_value(text, widths)?.into_iter().map(|v| KeyMatch::Optional(Some(v))).collect()),
        MatchKind::Exact => Ok(wide_value(text, widths)?.into_iter().map(KeyMatch::Exact).collect()),
        MatchKind::Lpm | MatchKind::Range => Err("a key of more than 128 bits is not of kind lpm or range".to_owned()),
    }
}

/// Digits of `0x`, `0b` or `0o`, `*` for any, as values and masks of these widths. A decimal number has at most 128 bits.
fn wide_digits(text: &str, widths: &[u32]) -> Result<Vec<(u128, u128)>, String> {
    let (radix, digits) = radix(text);
    let each = match radix {
        16 => 4,
        8 => 3,
        2 => 1,
        _ => {
            let value = number(text)?;
            let last = widths.len() - 1;
            let low = |i: usize| if i == last { value & Bits::mask(widths[last]) } else { 0 };
            let mut parts: Vec<(u128, u128)> = widths.iter().enumerate().map(|(i, w)| (low(i), Bits::mask(*w))).collect();
            if widths[last] < 128 && last > 0 {
                parts[last - 1].0 = value >> widths[last];
            }
            return Ok(parts);
        }
    };
    // The lowest bit first: whether it is set, and whether it counts.
    let mut bits: Vec<(bool, bool)> = Vec::new();
    for c in digits.chars().rev().filter(|c| *c != '_') {
        let digit = if c == '*' { None } else { Some(c.to_digit(radix).ok_or_else(|| format!("{text:?} is not a number"))?) };
        bits.extend((0..each).map(|b| (digit.is_some_and(|d| d >> b & 1 == 1), digit.is_some())));
    }
    let width: u32 = widths.iter().sum();
    if bits.is_empty() || bits.iter().skip(width as usize).any(|(set, _)| *set) {
        return Err(if bits.is_empty() { format!("{text:?} is not a number") } else { format!("{text} does not fit {width} bits") });
    }
    // Digits that the text does not have are zero, and count.
    bits.resize(width as usize, (false, true));
    let mut parts = Vec::new();
    let mut low = width as usize;
    for w in widths {
        low -= *w as usize;
        let part = bits[low..low + *w as usize].iter().rev();
        parts.push(part.fold((0, 0), |(v, m), (set, counts)| (v << 1 | u128::from(*set), m << 1 | u128::from(*counts))));
    }
    Ok(parts)
}

/// `VALUE/LENGTH`; or digits ending in `*`, as many bits as they leave; or a plain number, of the whole width.
fn prefix(text: &str, width: u32) -> Result<(u128, u32), String> {
    if let Some((value, len)) = text.split_once('/') {
        let len = len.parse::<u32>().ok().filter(|l| *l <= width).ok_or_else(|| format!("{len:?} is not a prefix length"))?;
        return Ok((action_value(value, width)?, len));
    }
    let (value, mask) = masked(text, width)?;
    let len = (mask << (128 - width)).leading_ones();
    if mask != Bits::mask(width) & !Bits::mask(width - len) {
        return Err(format!("{text:?} is not a prefix"));
    }
    Ok((value, len))
}

/// `VALUE&&&MASK`, digits with `*`, `VALUE/LENGTH`, or a plain number under a full mask.
fn masked(text: &str, width: u32) -> Result<(u128, u128), String> {
    if let Some((value, mask)) = text.split_once("&&&") {
        return Ok((action_value(value, width)?, action_value(mask, width)?));
    }
    if text == "*" {
        return Ok((0, 0));
    }
    if text.contains('/') {
        let (value, len) = prefix(text, width)?;
        return Ok((value, Bits::mask(width) & !Bits::mask(width - len)));
    }
    if !text.contains('*') {
        return Ok((action_value(text, width)?, Bits::mask(width)));
    }
    let (radix, digits) = radix(text);
    let bits = match radix {
        16 => 4,
        8 => 3,
        2 => 1,
        _ => return Err(format!("{text:?}: * needs 0x, 0b or 0o")),
    };
    let (mut value, mut care) = (0u128, 0u128);
    for c in digits.chars().filter(|c| *c != '_') {
        let digit = if c == '*' { Some(0) } else { c.to_digit(radix) };
        let digit = digit.ok_or_else(|| format!("{text:?} is not a number"))?;
        if (value | care).leading_zeros() < bits {
            return Err(format!("{text:?} is too large"));
        }
        value = value << bits | u128::from(digit);
        care = care << bits | if c == '*' { 0 } else { Bits::mask(bits) };
    }
    // Digits that the text does not have are zero, and count; digits beyond the width must be zero or `*`.
    let written = bits * digits.chars().filter(|c| *c != '_').count() as u32;
    let mask = (care | !Bits::mask(written)) & Bits::mask(width);
    Ok((fits(value, width)?, mask))
}

fn radix(text: &str) -> (u32, &str) {
    let head = |c: char| text.strip_prefix('0').and_then(|t| t.strip_prefix([c, c.to_ascii_uppercase()]));
    match (head('x'), head('b'), head('o')) {
        (Some(d), _, _) => (16, d),
        (_, Some(d), _) => (2, d),
        (_, _, Some(d)) => (8, d),
        _ => (10, text),
    }
}

fn fits(value: u128, width: u32) -> Result<u128, String> {
    if value <= Bits::mask(width) { Ok(value) } else { Err(format!("{value:#x} does not fit {width} bits")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_all_bases() {
        assert_eq!(number("12"), Ok(12));
        assert_eq!(number("0x1_f"), Ok(31));
        assert_eq!(number("0b101"), Ok(5));
        assert_eq!(number("0o17"), Ok(15));
        for bad in ["", "0x", "-1", "+1", "12a", "0b2", "0x1ffffffffffffffffffffffffffffffff", "é"] {
            assert!(number(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn key_matches_of_every_kind() {
        let ternary = |t: &str, w| key_match(t, MatchKind::Ternary, w);
        assert_eq!(ternary("0x1*", 8), Ok(KeyMatch::Ternary { value: 0x10, mask: 0xf0 }));
        assert_eq!(ternary("0x**01", 16), Ok(KeyMatch::Ternary { value: 1, mask: 0xff }));
        assert_eq!(ternary("0b1*0", 3), Ok(KeyMatch::Ternary { value: 4, mask: 5 }));
        assert_eq!(ternary("0x*1", 16), Ok(KeyMatch::Ternary { value: 1, mask: 0xff0f }));
        assert_eq!(ternary("0x12&&&0xf0", 8), Ok(KeyMatch::Ternary { value: 0x10, mask: 0xf0 }));
        assert_eq!(ternary("7", 8), Ok(KeyMatch::Ternary { value: 7, mask: 0xff }));
        assert_eq!(ternary("0x********", 32), Ok(KeyMatch::Ternary { value: 0, mask: 0 }));
        assert!(ternary("1*", 8).is_err() && ternary("0x1**", 8).is_err() && ternary("0xg*", 8).is_err());
        let lpm = |t: &str, w| key_match(t, MatchKind::Lpm, w);
        assert_eq!(lpm("0x0a010203/8", 32), Ok(KeyMatch::Lpm { value: 0x0a00_0000, prefix_len: 8 }));
        assert_eq!(lpm("0x0a0102**", 32), Ok(KeyMatch::Lpm { value: 0x0a01_0200, prefix_len: 24 }));
        assert_eq!(lpm("5", 32), Ok(KeyMatch::Lpm { value: 5, prefix_len: 32 }));
        assert_eq!(lpm("0x0/0", 128), Ok(KeyMatch::Lpm { value: 0, prefix_len: 0 }));
        assert!(lpm("0x0/33", 32).is_err() && lpm("0x*1", 8).is_err());
        let range = |t: &str| key_match(t, MatchKind::Range, 8);
        assert_eq!(range("1->0x10"), Ok(KeyMatch::Range { low: 1, high: 16 }));
        assert_eq!(range("3"), Ok(KeyMatch::Range { low: 3, high: 3 }));
        assert!(range("3->2").is_err() && range("0->256").is_err());
        assert_eq!(key_match("*", MatchKind::Optional, 8), Ok(KeyMatch::Optional(None)));
        assert!(key_match("0x100", MatchKind::Exact, 8).is_err());
    }

    #[test]
    fn numbers_of_more_than_128_bits_are_read_in_pieces() {
        let widths = [128, 32];
        assert_eq!(wide_value("0x1_00000000_00000002", &widths), Ok(vec![1 << 32, 2]));
        assert_eq!(wide_value("5", &widths), Ok(vec![0, 5]));
        assert_eq!(wide_value("0x1ffffffff", &widths), wide_value("8589934591", &widths));
        assert_eq!(wide_value(&format!("0x{}", "f".repeat(40)), &widths), Ok(vec![u128::MAX, u32::MAX.into()]));
        assert!(wide_value(&format!("0x1{}", "0".repeat(40)), &widths).is_err() && wide_value("0x*", &widths).is_err());
        let ternary = |text: &str| wide_match(text, MatchKind::Ternary, &widths);
        let parts = |high: (u128, u128), low: (u128, u128)| Ok([high, low].map(|(value, mask)| KeyMatch::Ternary { value, mask }).to_vec());
        assert_eq!(ternary("0x1********"), parts((1, u128::MAX), (0, 0)));
        assert_eq!(ternary("0x1ffffffff&&&0x1000000ff"), parts((1, 1), (0xff, 0xff)));
        assert_eq!(ternary("*"), parts((0, 0), (0, 0)));
        assert!(wide_match("0x1/8", MatchKind::Lpm, &widths).is_err());
    }

    #[test]
    fn too_many_digits_are_refused_not_wrapped() {
        let long = format!("0x{}*", "f".repeat(40));
        assert!(key_match(&long, MatchKind::Ternary, 128).is_err());
        let stars = format!("0x{}", "*".repeat(500));
        // Digits that are all wild say nothing, however many they are.
        assert_eq!(key_match(&stars, MatchKind::Ternary, 128), Ok(KeyMatch::Ternary { value: 0, mask: 0 }));
    }
}
