//! ICMP echo and those errors that routers send, for IPv4 (RFC 792) and IPv6 (RFC 4443).

use crate::{Error, Result, checksum};
use std::net::{IpAddr, Ipv6Addr};

/// Bytes before the data of an echo message.
pub const ECHO_HEADER_LEN: usize = 8;

/// View of a message of either version whose checksum is right.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a>(&'a [u8]);

impl<'a> Message<'a> {
    /// ICMP for IPv4.
    pub fn new_checked_v4(data: &'a [u8]) -> Result<Message<'a>> {
        if data.len() < 4 {
            return Err(Error::Truncated("icmp"));
        }
        if checksum::finish(checksum::sum(data)) != 0 {
            return Err(Error::Checksum("icmp"));
        }
        Ok(Message(data))
    }

    /// ICMPv6, whose checksum covers the addresses.
    pub fn new_checked_v6(data: &'a [u8], src: Ipv6Addr, dst: Ipv6Addr) -> Result<Message<'a>> {
        if data.len() < 4 {
            return Err(Error::Truncated("icmpv6"));
        }
        let pseudo = checksum::pseudo_ipv6(src, dst, crate::ipv6::ICMPV6, data.len());
        if checksum::finish(pseudo + checksum::sum(data)) != 0 {
            return Err(Error::Checksum("icmpv6"));
        }
        Ok(Message(data))
    }

    /// Type.
    pub fn message_type(&self) -> u8 {
        self.0[0]
    }

    /// Code.
    pub fn code(&self) -> u8 {
        self.0[1]
    }

    /// What follows type, code and checksum.
    pub fn body(&self) -> &'a [u8] {
        &self.0[4..]
    }
}

/// Meaning of an echo message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo<'a> {
    /// Reply, or request.
    pub reply: bool,
    /// Identifier and sequence number as they stand.
    pub ident: [u8; 4],
    /// Data, to be sent back.
    pub data: &'a [u8],
}

impl<'a> Echo<'a> {
    /// Reads a message of ICMP (`v6` false) or ICMPv6; `None` if it is no echo message.
    pub fn parse(message: &Message<'a>, v6: bool) -> Result<Option<Echo<'a>>> {
        let reply = match (v6, message.message_type()) {
            (false, 8) | (true, 128) => false,
            (false, 0) | (true, 129) => true,
            _ => return Ok(None),
        };
        let Some((ident, data)) = message.body().split_first_chunk::<4>() else {
            return Err(Error::Truncated("icmp echo"));
        };
        if message.code() != 0 {
            return Err(Error::Malformed("icmp echo code"));
        }
        Ok(Some(Echo { reply, ident: *ident, data }))
    }

    /// Bytes that `emit` appends.
    pub fn buffer_len(&self) -> usize {
        ECHO_HEADER_LEN + self.data.len()
    }

    /// Appends the message as ICMP or ICMPv6, as the addresses are; both must be of one version.
    pub fn emit(&self, src: IpAddr, dst: IpAddr, out: &mut Vec<u8>) {
        let start = out.len();
        let message_type = match (src, self.reply) {
            (IpAddr::V4(_), false) => 8,
            (IpAddr::V4(_), true) => 0,
            (IpAddr::V6(_), false) => 128,
            (IpAddr::V6(_), true) => 129,
        };
        out.extend_from_slice(&[message_type, 0, 0, 0]);
        out.extend_from_slice(&self.ident);
        out.extend_from_slice(self.data);
        let pseudo = match (src, dst) {
            (IpAddr::V6(src), IpAddr::V6(dst)) => checksum::pseudo_ipv6(src, dst, crate::ipv6::ICMPV6, self.buffer_len()),
            _ => 0,
        };
        let sum = checksum::finish(pseudo + checksum::sum(&out[start..]));
        out[start + 2..start + 4].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Whether a message of this type is an error, or of a type that nobody knows: no error answers it (RFC 1122 §3.2.2, RFC 4443 §2.4 (e)).
pub fn may_be_error(v6: bool, message_type: u8) -> bool {
    const REDIRECT_V6: u8 = 137;
    match v6 {
        false => !matches!(message_type, 0 | 8..=10 | 13..=18),
        true => message_type < 128 || message_type == REDIRECT_V6,
    }
}

/// Why a router has not sent a packet on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It does not fit the next link, which takes so many bytes (RFC 1191 §4, RFC 4443 §3.2).
    TooBig {
        /// Bytes of an IP packet.
        mtu: u16,
    },
    /// Its TTL has ended (RFC 792, RFC 4443 §3.3).
    TimeExceeded,
}

impl Problem {
    /// Bytes before the packet that it is about.
    const HEADER_LEN: usize = 8;

    /// Bytes of the packet that a message quotes: as many as fit 576 bytes (RFC 1812 §4.3.2.3), of IPv6 1280 (RFC 4443 §2.4 (c)).
    fn quoted(about: &[u8], v6: bool) -> &[u8] {
        let room = if v6 { 1280 - crate::ipv6::HEADER_LEN } else { 576 - crate::ipv4::HEADER_LEN } - Problem::HEADER_LEN;
        &about[..about.len().min(room)]
    }

    /// Bytes that `emit` appends.
    pub fn buffer_len(self, about: &[u8], v6: bool) -> usize {
        Problem::HEADER_LEN + Problem::quoted(about, v6).len()
    }

    /// Appends the message about an IP packet, as ICMP or ICMPv6, as the addresses are; both must be of one version.
    pub fn emit(self, src: IpAddr, dst: IpAddr, about: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        let v6 = src.is_ipv6();
        let (message_type, code, mtu) = match (self, v6) {
            (Problem::TooBig { mtu }, false) => (3, 4, mtu),
            (Problem::TooBig { mtu }, true) => (2, 0, mtu),
            (Problem::TimeExceeded, false) => (11, 0, 0),
            (Problem::TimeExceeded, true) => (3, 0, 0),
        };
        out.extend_from_slice(&[message_type, code, 0, 0, 0, 0]);
        out.extend_from_slice(&mtu.to_be_bytes());
        out.extend_from_slice(Problem::quoted(about, v6));
        let pseudo = match (src, dst) {
            (IpAddr::V6(src), IpAddr::V6(dst)) => checksum::pseudo_ipv6(src, dst, crate::ipv6::ICMPV6, out.len() - start),
            _ => 0,
        };
        let sum = checksum::finish(pseudo + checksum::sum(&out[start..]));
        out[start + 2..start + 4].copy_from_slice(&sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echoes_survive() {
        let (a, b): (Ipv6Addr, Ipv6Addr) = ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap());
        let echo = Echo { reply: true, ident: [1, 2, 0, 9], data: b"hello" };
        let mut out = Vec::new();
        echo.emit(a.into(), b.into(), &mut out);
        let view = Message::new_checked_v6(&out, a, b).unwrap();
        assert_eq!(Echo::parse(&view, true), Ok(Some(echo)));
        assert_eq!(Message::new_checked_v6(&out, a, a).unwrap_err(), Error::Checksum("icmpv6"));

        let mut out = Vec::new();
        let request = Echo { reply: false, ..echo };
        request.emit("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap(), &mut out);
        assert_eq!(out[..2], [8, 0]);
        assert_eq!(Echo::parse(&Message::new_checked_v4(&out).unwrap(), false), Ok(Some(request)));
        assert!(Message::new_checked_v4(&out[..3]).is_err());
    }

    #[test]
    fn an_error_names_what_fits_and_quotes_as_much_as_it_may() {
        let (a, b): (Ipv6Addr, Ipv6Addr) = ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap());
        let mut out = Vec::new();
        let problem = Problem::TooBig { mtu: 1456 };
        problem.emit(a.into(), b.into(), &[7; 1500], &mut out);
        let view = Message::new_checked_v6(&out, a, b).unwrap();
        assert_eq!((view.message_type(), view.code(), &view.body()[..5], out.len()), (2, 0, &[0, 0, 5, 176, 7][..], 1280 - 40));
        assert_eq!(problem.buffer_len(&[7; 1500], true), out.len());

        let mut out = Vec::new();
        problem.emit("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap(), &[7; 1500], &mut out);
        let view = Message::new_checked_v4(&out).unwrap();
        assert_eq!((view.message_type(), view.code(), &view.body()[..5], out.len()), (3, 4, &[0, 0, 5, 176, 7][..], 576 - 20));

        let mut out = Vec::new();
        Problem::TimeExceeded.emit("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap(), &[7; 28], &mut out);
        let view = Message::new_checked_v4(&out).unwrap();
        assert_eq!((view.message_type(), view.code(), view.body().len()), (11, 0, 4 + 28));
    }

    #[test]
    fn what_asks_is_told_from_what_may_be_an_error() {
        assert_eq!(
            [0, 8, 13, 3, 5, 11, 12, 40].map(|message_type| may_be_error(false, message_type)),
            [false, false, false, true, true, true, true, true]
        );
        assert_eq!(
            [128, 129, 135, 1, 2, 127, 137].map(|message_type| may_be_error(true, message_type)),
            [false, false, false, true, true, true, true]
        );
    }
}
