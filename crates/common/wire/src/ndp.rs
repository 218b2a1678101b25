//! Neighbour solicitations and advertisements (RFC 4861 §4.3, §4.4), as the body of an ICMPv6 message.

use crate::ethernet::Mac;
use crate::icmp::Message;
use crate::{Error, Result, bytes, checksum};
use std::net::Ipv6Addr;

/// ICMPv6 type of a neighbour solicitation.
pub const SOLICITATION: u8 = 135;
/// ICMPv6 type of a neighbour advertisement.
pub const ADVERTISEMENT: u8 = 136;

/// Meaning of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repr {
    /// Who has `target`?
    Solicitation {
        /// The address asked for.
        target: Ipv6Addr,
        /// Source link-layer address option.
        source: Option<Mac>,
    },
    /// `target` is here.
    Advertisement {
        /// The announced address.
        target: Ipv6Addr,
        /// Target link-layer address option.
        mac: Option<Mac>,
        /// S flag: in answer to a solicitation.
        solicited: bool,
        /// R flag.
        router: bool,
        /// O flag: a link-layer address that is known may be replaced (§7.2.5).
        override_known: bool,
    },
}

impl Repr {
    /// Reads a message; `None` if it is neither. The caller has seen that the hop limit is 255 (RFC 4861 §7.1).
    pub fn parse(message: &Message<'_>) -> Result<Option<Repr>> {
        if !matches!(message.message_type(), SOLICITATION | ADVERTISEMENT) {
            return Ok(None);
        }
        let body = message.body();
        if body.len() < 20 {
            return Err(Error::Truncated("neighbour discovery"));
        }
        let target = Ipv6Addr::from(bytes::<16>(body, 4));
        if message.code() != 0 || target.is_multicast() {
            return Err(Error::Malformed("neighbour discovery"));
        }
        Ok(Some(if message.message_type() == SOLICITATION {
            Repr::Solicitation { target, source: link_layer_option(&body[20..], 1)? }
        } else {
            Repr::Advertisement {
                target,
                mac: link_layer_option(&body[20..], 2)?,
                solicited: body[0] & 0x40 != 0,
                router: body[0] & 0x80 != 0,
                override_known: body[0] & 0x20 != 0,
            }
        }))
    }

    /// Appends the ICMPv6 message, with the checksum for these addresses.
    pub fn emit(&self, src: Ipv6Addr, dst: Ipv6Addr, out: &mut Vec<u8>) {
        let start = out.len();
        let (message_type, flags, target, option) = match *self {
            Repr::Solicitation { target, source } => (SOLICITATION, 0, target, source.map(|mac| (1, mac))),
            Repr::Advertisement { target, mac, solicited, router, override_known } => {
                let flags = u8::from(override_known) << 5 | u8::from(solicited) << 6 | u8::from(router) << 7;
                (ADVERTISEMENT, flags, target, mac.map(|mac| (2, mac)))
            }
        };
        out.extend_from_slice(&[message_type, 0, 0, 0, flags, 0, 0, 0]);
        out.extend_from_slice(&target.octets());
        if let Some((option, mac)) = option {
            out.extend_from_slice(&[option, 1]);
            out.extend_from_slice(&mac.0);
        }
        let pseudo = checksum::pseudo_ipv6(src, dst, crate::ipv6::ICMPV6, out.len() - start);
        let sum = checksum::finish(pseudo + checksum::sum(&out[start..]));
        out[start + 2..start + 4].copy_from_slice(&sum.to_be_bytes());
    }
}

/// The link-layer address in an option of type `wanted`. Options of length zero are refused (RFC 4861 §4.6).
fn link_layer_option(mut options: &[u8], wanted: u8) -> Result<Option<Mac>> {
    let mut found = None;
    while !options.is_empty() {
        let [kind, units, ..] = *options else { return Err(Error::Truncated("neighbour option")) };
        let length = usize::from(units) * 8;
        if length == 0 {
            return Err(Error::Malformed("neighbour option"));
        }
        let Some(option) = options.get(..length) else { return Err(Error::Truncated("neighbour option")) };
        if kind == wanted && length == 8 {
            let mac = Mac(bytes(option, 2));
            if !mac.is_unicast() {
                return Err(Error::Malformed("neighbour option"));
            }
            found = Some(mac);
        }
        options = &options[length..];
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_messages_survive() {
        let (a, b): (Ipv6Addr, Ipv6Addr) = ("fe80::1".parse().unwrap(), "fe80::2".parse().unwrap());
        let mac = Some(Mac([2, 0, 0, 0, 0, 7]));
        for repr in [
            Repr::Solicitation { target: b, source: mac },
            Repr::Solicitation { target: b, source: None },
            Repr::Advertisement { target: b, mac, solicited: true, router: true, override_known: true },
            Repr::Advertisement { target: b, mac, solicited: false, router: false, override_known: false },
        ] {
            let mut out = Vec::new();
            repr.emit(a, b, &mut out);
            assert_eq!(Repr::parse(&Message::new_checked_v6(&out, a, b).unwrap()), Ok(Some(repr)));
        }
    }

    #[test]
    fn bad_options_are_refused() {
        assert_eq!(link_layer_option(&[1, 0, 0, 0, 0, 0, 0, 0], 1), Err(Error::Malformed("neighbour option")));
        assert_eq!(link_layer_option(&[1], 1), Err(Error::Truncated("neighbour option")));
        assert_eq!(link_layer_option(&[1, 2, 0, 0, 0, 0, 0, 0], 1), Err(Error::Truncated("neighbour option")));
        assert_eq!(link_layer_option(&[1, 1, 1, 0, 0, 0, 0, 0], 1), Err(Error::Malformed("neighbour option")));
    }
}
