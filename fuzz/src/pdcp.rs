//! PDCP entities (TS 38.323): any PDU is refused by name with nothing changed, or taken; SDUs come up in order and once; a status report about what
//! was not sent changes nothing; no more is kept than is allowed.
//!
//! The first byte chooses the bearer; then steps: a byte that says what is done, one that says how much, and for a PDU as many bytes. Nothing is
//! ciphered: with a MAC-I nothing would get past it.

use ciphering::{Choice, Direction, Engine};
use gnb::pdcp::pdu::{Format, Pdu};
use gnb::pdcp::rx::Prepared;
use gnb::pdcp::{CountGuard, Kind, Rx, RxConfig, Security, SnLength, Tx, TxConfig};

const MS: u64 = 1_000_000;
const WINDOW: u32 = 48;
const BYTES: u64 = 10_000;

/// Takes the steps that `data` holds.
pub fn run(data: &[u8]) {
    let Some((first, mut rest)) = data.split_first() else { return };
    let flag = |bit: u8| first >> bit & 1 != 0;
    let sn_length = if flag(0) { SnLength::Bits18 } else { SnLength::Bits12 };
    let format = Format { kind: Kind::Drb, sn_length, integrity: false, sdap_header: flag(1) };
    // COUNT's end is near.
    let guard = if flag(2) { CountGuard { notify: 20, stop: 40 } } else { CountGuard::default() };
    let (acknowledged, out_of_order) = (flag(3), flag(4));
    let discard_ns = flag(5).then_some(30 * MS);
    let reordering_ns = flag(6).then_some(if flag(7) { 0 } else { 20 * MS });
    let tx = TxConfig { format, acknowledged, window: WINDOW, queue_sdus: 32, bytes: BYTES, discard_ns, guard };
    let rx = RxConfig { format, acknowledged, window: WINDOW, bytes: BYTES, reordering_ns, out_of_order, guard };
    let (mut tx, mut rx) = (Tx::new(tx).expect("a bearer as RRC configures it"), Rx::new(rx).expect("a bearer as RRC configures it"));
    let security = Security { cipher: None, integrity: None, bearer: 0, direction: Direction::Downlink };
    let mut engine = Engine::new(Choice::Portable).expect("is always there");
    let mut now = 0;
    // COUNTs that came up since the last re-establishment, and how often.
    let mut up: Vec<u32> = Vec::new();
    while let [what, many, behind @ ..] = rest {
        let what = what % 6;
        let pdu = if what == 0 { &behind[..behind.len().min(usize::from(*many))] } else { &[] };
        rest = &behind[pdu.len()..];
        match what {
            0 => match rx.prepare(pdu.to_vec()) {
                Ok(Prepared::Data(packet)) => {
                    let count = packet.count;
                    assert!(count < guard.stop && count & sn_length.mask() == sn_of(&format, pdu), "COUNT has the PDU's number");
                    let mut packets = [packet];
                    security.run(&mut engine, &mut packets);
                    let [packet] = packets;
                    let before = (*rx.state(), up.len());
                    if rx.finish(packet, now, &mut |count, _| up.push(count)).is_err() {
                        assert_eq!(before, (*rx.state(), up.len()), "what is refused changes nothing");
                    }
                }
                Ok(Prepared::Status(report)) => {
                    let before = tx.queued();
                    let bad = tx.counters().bad_reports;
                    tx.status(&report.report(), &mut |_| {});
                    assert!(tx.counters().bad_reports == bad || tx.queued() == before, "a report that lies changes nothing");
                }
                Err(_) => {}
            },
            1 => {
                let _ = tx.enqueue(vec![0; usize::from(*many)], now);
            }
            2 => {
                if let Some(packet) = tx.pull(now, &mut |_| {}) {
                    let mut packets = [packet];
                    security.run(&mut engine, &mut packets);
                    let [packet] = packets;
                    let (count, pdu) = tx.finish(packet).expect("a job that was run");
                    assert!(count < guard.stop && count < tx.tx_next());
                    assert_eq!(format.parse(&pdu), Ok(Pdu::Data { sn: count & sn_length.mask() }), "what we send is read back");
                }
            }
            3 => {
                now += u64::from(*many) * MS;
                tx.advance(now, &mut |_| {});
                rx.advance(now, &mut |count, _| up.push(count));
            }
            4 => {
                let mut report = Vec::new();
                rx.status_report(&mut report);
                assert!(matches!(format.parse(&report), Ok(Pdu::Status(_))), "what we send is read back");
                tx.delivered(u32::from(*many));
            }
            _ if *many < 8 => {
                tx.re_establish();
                rx.re_establish(&mut |count, _| up.push(count));
                check(&mut up, out_of_order);
                if !acknowledged {
                    up.clear();
                }
            }
            _ => tx.recover_data(),
        }
        let state = rx.state();
        assert!(state.rx_deliv <= state.rx_next && state.rx_next - state.rx_deliv <= WINDOW, "what waits is in the window");
        assert!(rx.waiting().1 <= BYTES && tx.queued().2 <= BYTES && tx.queued().1 <= WINDOW as usize);
    }
    check(&mut up, out_of_order);
}

fn sn_of(format: &Format, pdu: &[u8]) -> u32 {
    match format.parse(pdu) {
        Ok(Pdu::Data { sn }) => sn,
        other => panic!("{other:?}"),
    }
}

/// Each COUNT came up once, and in order unless that is not asked for.
fn check(up: &mut [u32], out_of_order: bool) {
    if out_of_order {
        up.sort_unstable();
    }
    assert!(up.windows(2).all(|pair| pair[0] < pair[1]), "an SDU comes up once, in order");
}
