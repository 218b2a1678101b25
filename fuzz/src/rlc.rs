//! RLC entities of a gNodeB (TS 38.322): any PDU is refused by name with nothing changed, or taken; nothing comes up twice, no more is kept than
//! is allowed, and what the entity sends fits its grant and is read back.
//!
//! The first byte chooses the mode and the length of sequence numbers; then steps: a byte that says what is done, one that says how much, and for
//! a PDU as many bytes.

use buffer::status::Status;
use gnb::rlc::am::{Am, AmDrop, Pulled};
use gnb::rlc::am_tx::TxEvent;
use gnb::rlc::pdu::{AmPdu, UmSnLength, Umd};
use gnb::rlc::um::{UmRx, UmRxConfig, UmTx};
use gnb::rlc::{QueueLimits, SnLength, am_rx, am_tx};

const MS: u64 = 1_000_000;
const WINDOW: u32 = 64;
const PARTIAL_BYTES: usize = 20_000;
const QUEUE: QueueLimits = QueueLimits { sdus: 32, bytes: 16_384 };

/// Takes the steps that `data` holds.
pub fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    match first & 3 {
        0 => am(SnLength::Bits12, rest),
        1 => am(SnLength::Bits18, rest),
        2 => um(UmSnLength::Bits6, rest),
        _ => um(UmSnLength::Bits12, rest),
    }
}

/// A step: what, how much, and the bytes of a PDU.
fn steps(mut rest: &[u8]) -> impl Iterator<Item = (u8, usize, &[u8])> {
    std::iter::from_fn(move || {
        let [what, many, behind @ ..] = rest else { return None };
        let pdu = if what & 3 == 0 { &behind[..behind.len().min(usize::from(*many))] } else { &[] };
        rest = &behind[pdu.len()..];
        Some((what & 3, usize::from(*many), pdu))
    })
}

fn am(sn_length: SnLength, rest: &[u8]) {
    let tx = am_tx::TxConfig {
        sn_length,
        window: WINDOW,
        queue: QUEUE,
        poll_retransmit_ns: 45 * MS,
        poll_pdu: Some(4),
        poll_byte: None,
        max_retransmissions: 3,
    };
    let rx =
        am_rx::RxConfig { sn_length, window: WINDOW, partial_bytes: PARTIAL_BYTES, reassembly_ns: 35 * MS, status_prohibit_ns: 5 * MS };
    let mut entity: Am<Vec<u8>> = Am::new(tx, rx).expect("a bearer as RRC configures it");
    let (mut now, mut given) = (0, 0u32);
    let mut back = Vec::new();
    for (what, many, pdu) in steps(rest) {
        match what {
            0 => {
                let (sent, received) = (*entity.tx().state(), *entity.rx().state());
                let mut up = 0;
                let mut event = |event: TxEvent<Vec<u8>>| {
                    if let TxEvent::Delivered { tag, sdu } = event {
                        assert_eq!(sdu.len(), 1 + tag as usize % 250, "the SDU of its tag");
                        back.push(tag);
                    }
                };
                let result = entity.receive(pdu, now, &mut |_| up += 1, &mut event);
                if let Err(drop) = result {
                    let same = (sent, received) == (*entity.tx().state(), *entity.rx().state());
                    assert!(same && up == 0, "{drop:?} changes nothing");
                }
                assert!(up <= 1, "a PDU makes one SDU whole at most");
                match AmPdu::parse(pdu, sn_length) {
                    Ok(AmPdu::Data(read)) => {
                        let mut written = Vec::new();
                        read.emit(sn_length, &mut written);
                        assert_eq!(AmPdu::parse(&written, sn_length), Ok(AmPdu::Data(read)), "what is written is read back");
                    }
                    Ok(AmPdu::Status(_)) => {}
                    Err(fault) => assert_eq!(result, Err(AmDrop::Pdu(fault))),
                }
            }
            1 => {
                if entity.enqueue(given, vec![given as u8; 1 + given as usize % 250]).is_ok() {
                    given += 1;
                }
            }
            2 => {
                let mut out = Vec::new();
                if let Some(pulled) = entity.pull(many, now, &mut out) {
                    assert!(pulled.bytes() == out.len() && out.len() <= many, "a PDU fits its grant");
                    match AmPdu::parse(&out, sn_length).expect("what we send is a PDU") {
                        AmPdu::Data(_) => assert!(matches!(pulled, Pulled::Data(_))),
                        AmPdu::Status(pdu) => {
                            let status = Status::new_checked(pdu, sn_length).expect("what we send is a STATUS");
                            assert!(status.nacks().all(|nack| nack.sn != status.ack_sn()), "ACK_SN is not named");
                        }
                    }
                }
            }
            _ => {
                now += many as u64 * MS;
                entity.advance(now, &mut |event| assert!(matches!(event, TxEvent::MaxRetransmissions { .. })));
            }
        }
        let (sent, received) = (entity.tx().state(), entity.rx().state());
        assert!(sent.tx_next.wrapping_sub(sent.tx_next_ack) <= WINDOW, "in flight is in the window");
        assert!(received.rx_next_highest.wrapping_sub(received.rx_next) <= WINDOW, "what is received is in the window");
        assert!(entity.rx().partial_bytes() <= PARTIAL_BYTES);
    }
    let many = back.len();
    back.sort_unstable();
    back.dedup();
    assert!(back.len() == many && back.iter().all(|tag| *tag < given), "an SDU is delivered once");
}

fn um(sn_length: UmSnLength, rest: &[u8]) {
    let mut tx = UmTx::new(sn_length, QUEUE).expect("a bearer as RRC configures it");
    let config = UmRxConfig { sn_length, reassembly_ns: 35 * MS, partial_bytes: PARTIAL_BYTES };
    let mut rx = UmRx::new(config).expect("a bearer as RRC configures it");
    let mut now = 0;
    for (what, many, pdu) in steps(rest) {
        match what {
            0 => {
                let state = *rx.state();
                let mut up = 0;
                let result = rx.receive(pdu, now, &mut |_| up += 1);
                assert!(up <= 1 && (result.is_ok() || (up == 0 && state == *rx.state())), "a PDU that is refused changes nothing");
                if let Ok(read) = Umd::parse(pdu, sn_length) {
                    let mut written = Vec::new();
                    read.emit(sn_length, &mut written);
                    assert_eq!(Umd::parse(&written, sn_length), Ok(read), "what is written is read back");
                }
            }
            1 => {
                let _ = tx.enqueue(0, vec![0; many]);
            }
            2 => {
                let mut out = Vec::new();
                if let Some(len) = tx.pull(many, &mut out) {
                    assert!(len == out.len() && len <= many, "a PDU fits its grant");
                    Umd::parse(&out, sn_length).expect("what we send is a PDU");
                }
            }
            _ => {
                now += many as u64 * MS;
                rx.advance(now);
            }
        }
        let state = rx.state();
        assert!(state.rx_next_highest.wrapping_sub(state.rx_next_reassembly) <= sn_length.window(), "what is waited for is in the window");
        assert!(rx.partial_bytes() <= PARTIAL_BYTES);
    }
}
