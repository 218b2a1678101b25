//! STATUS PDUs of RLC AM (TS 38.322 §6.2.2.5): any bytes are refused with nothing changed, or take out what they acknowledge; each packet
//! comes out once or is still kept, and the work is bounded by the PDU's length and the packets freed.
//!
//! The first byte chooses the length of sequence numbers; then PDUs, each behind a byte that is its length.

use buffer::rlc::{BearerConfig, RlcBuffer};
use buffer::status::{self, SnLength, Status};
use buffer::{Event, Limits, Payload};

/// Packets that are kept before each PDU.
const KEPT: u32 = 48;
const BYTES: usize = 1000;
const MS: u64 = 1_000_000;

/// A packet that is nothing but its number.
struct Numbered(u32);

impl Payload for Numbered {
    fn sdu_bytes(&self) -> usize {
        BYTES
    }
}

/// Keeps packets, hands in the PDUs that `data` holds, and sends again what they ask for.
pub fn run(data: &[u8]) {
    let Some((first, mut rest)) = data.split_first() else { return };
    let sn_length = if first & 1 == 0 { SnLength::Bits12 } else { SnLength::Bits18 };
    let mut kept = RlcBuffer::new(1, Limits { packets: 1 << 16, bytes: 1 << 30 });
    let config = BearerConfig {
        sn_length,
        window: 1024,
        bytes: 1 << 24,
        poll_retransmit_ms: 45,
        poll_pdu: Some(4),
        poll_byte: None,
        max_retransmissions: 8,
    };
    kept.add(0, config).expect("a bearer as RRC configures it");
    let (mut given, mut sn, mut now) = (0, 0, 0);
    let mut out = Vec::new();
    while let Some((length, after)) = rest.split_first() {
        let (pdu, after) = after.split_at(after.len().min(usize::from(*length)));
        rest = after;
        for _ in 0..KEPT {
            if kept.keep(0, sn, Numbered(given), false, now).is_ok() {
                given += 1;
                sn = (sn + 1) & sn_length.mask();
            }
        }
        if let Ok(checked) = Status::new_checked(pdu, sn_length) {
            let nacks: Vec<_> = checked.nacks().collect();
            let mut written = Vec::new();
            status::emit(sn_length, checked.ack_sn(), &nacks, &mut written);
            let again = Status::new_checked(&written, sn_length).expect("what we write is read");
            assert!(again.ack_sn() == checked.ack_sn() && again.nacks().eq(nacks), "and means the same");
        }
        let (before, steps) = (kept.packets(), kept.counters().steps);
        let mut event = |event: Event<_, Numbered>| match event {
            Event::Acknowledged { packet, .. } | Event::Discarded { packet, .. } => out.push(packet.0),
            Event::MaxRetransmissions { .. } => {}
        };
        let outcome = kept.status(0, pdu, &mut event);
        now += 7 * MS;
        kept.advance(now, &mut event);
        assert!(outcome.is_ok() || kept.packets() == before, "a PDU that is refused changes nothing");
        // A NACK has two bytes at least, and its range names 255 packets at most.
        let most = (pdu.len() * 128 + before + 1) as u64;
        assert!(kept.counters().steps - steps <= most, "{} steps for {} bytes", kept.counters().steps - steps, pdu.len());
        for _ in 0..before {
            if kept.next_retransmission(now).is_none() {
                break;
            }
        }
        assert_eq!(out.len() + kept.packets(), given as usize, "a packet is kept, or came out");
    }
    kept.remove(0, &mut |event| {
        if let Event::Discarded { packet, .. } | Event::Acknowledged { packet, .. } = event {
            out.push(packet.0);
        }
    });
    out.sort_unstable();
    assert!(out.iter().copied().eq(0..given), "each packet came out once");
}
