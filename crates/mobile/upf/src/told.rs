//! Of a packet that is not sent on, is the sender told, and how often (RFC 1122 §3.2.2, RFC 1812 §4.3.2, RFC 4443 §2.4)?

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::time::Duration;

use wire::{icmp, ipv4, ipv6};

use crate::budget::Budget;

/// Extension headers of IPv6 that are walked over; the program passes packets of four (p4/include/parser.p4).
const MAX_EXTENSIONS: usize = 8;
/// Senders are told apart by a hash of so many values: they cost 12 KiB a port, and a sender that floods takes the turns of one in so many.
const SENDERS: usize = 256;
/// The part of all errors that one sender may have.
const OF_ONE: u32 = 10;

/// Errors that may be sent.
#[derive(Debug)]
pub(crate) struct Errors {
    all: Budget,
    senders: Vec<Budget>,
}

impl Errors {
    pub(crate) fn new(per_s: u32) -> Errors {
        Errors { all: Budget::new(per_s), senders: (0..SENDERS).map(|_| Budget::new(per_s.div_ceil(OF_ONE))).collect() }
    }

    /// Whether one more may be sent to that sender, which is then spent. A UE has a /64 of IPv6, and so is it taken for one.
    pub(crate) fn take(&mut self, to: IpAddr, now: Duration) -> bool {
        let mut hasher = DefaultHasher::new();
        match to {
            IpAddr::V4(ip) => ip.hash(&mut hasher),
            IpAddr::V6(ip) => ip.octets()[..8].hash(&mut hasher),
        }
        let sender = hasher.finish() as usize % SENDERS;
        self.senders[sender].take(now) && self.all.take(now)
    }
}

/// Whether a packet, its lengths being right, may be answered by an error: not if it is one, or a fragment other than the first, which does not say what it is.
/// Groups, broadcast and senders that are none never come here: the program drops them.
pub(crate) fn may_be_told(packet: &[u8]) -> bool {
    if let Ok(packet) = ipv4::Packet::new_checked(packet) {
        return !packet.is_later_fragment() && (packet.protocol() != ipv4::ICMP || is_no_error(false, packet.payload()));
    }
    let Ok(packet) = ipv6::Packet::new_checked(packet) else { return false };
    let (mut next, mut rest) = (packet.next_header(), packet.payload());
    for _ in 0..MAX_EXTENSIONS {
        let length = match (next, rest) {
            (ipv6::ICMPV6, _) => return is_no_error(true, rest),
            (FRAGMENT, [_, _, high, low, ..]) if u16::from_be_bytes([*high, *low]) & 0xfff8 == 0 => 8,
            (HOP_BY_HOP | ROUTING | DESTINATION | MOBILITY | HIP | SHIM6, [_, units, ..]) => 8 + 8 * usize::from(*units),
            (HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION | MOBILITY | HIP | SHIM6, _) => return false,
            _ => return true,
        };
        let Some(behind) = rest.get(length..) else { return false };
        (next, rest) = (rest[0], behind);
    }
    false
}

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;
const MOBILITY: u8 = 135;
const HIP: u8 = 139;
const SHIM6: u8 = 140;

fn is_no_error(v6: bool, message: &[u8]) -> bool {
    message.first().is_some_and(|message_type| !icmp::may_be_error(v6, *message_type))
}
