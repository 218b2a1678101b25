//! UM, case by case: which segments are taken, which SDUs are given up, and how grants cut an SDU.

use gnb::rlc::pdu::{Si, UmSnLength, Umd};
use gnb::rlc::um::{UmDrop, UmRx, UmRxConfig, UmTx};
use gnb::rlc::{ConfigError, MAX_SDU, QueueLimits, Refusal};

const MS: u64 = 1_000_000;
const CONFIG: UmRxConfig = UmRxConfig { sn_length: UmSnLength::Bits6, reassembly_ns: 35 * MS, partial_bytes: 20_000 };
const QUEUE: QueueLimits = QueueLimits { sdus: 8, bytes: 20_000 };

struct Receiver {
    rx: UmRx,
    up: Vec<usize>,
}

impl Receiver {
    fn new() -> Receiver {
        Receiver { rx: UmRx::new(CONFIG).unwrap(), up: Vec::new() }
    }

    fn take(&mut self, si: Si, sn: u32, so: u16, len: usize, now: u64) -> Result<(), UmDrop> {
        let mut pdu = Vec::new();
        Umd { si, sn, so, data: &vec![7; len] }.emit(CONFIG.sn_length, &mut pdu);
        let (state, bytes) = (*self.rx.state(), self.rx.partial_bytes());
        let result = self.rx.receive(&pdu, now, &mut |sdu| self.up.push(sdu.len()));
        assert!(result.is_ok() || (state, bytes) == (*self.rx.state(), self.rx.partial_bytes()), "what is dropped changes nothing");
        result
    }
}

#[test]
fn a_segment_that_does_not_fit_is_counted_by_reason() {
    let mut receiver = Receiver::new();
    receiver.take(Si::First, 0, 0, 10, 0).unwrap();
    assert_eq!(receiver.take(Si::First, 0, 0, 10, 0), Err(UmDrop::Duplicate));
    receiver.take(Si::Last, 0, 20, 10, 0).unwrap();
    assert_eq!(receiver.take(Si::Middle, 0, 29, 2, 0), Err(UmDrop::BeyondSdu));
    assert_eq!(receiver.take(Si::Last, 1, 9000, 300, 0), Err(UmDrop::BeyondSdu));
    receiver.take(Si::Middle, 1, 9000, 100, 0).unwrap();
    receiver.take(Si::Middle, 2, 9000, 100, 0).unwrap();
    assert_eq!(receiver.take(Si::Middle, 3, 9000, 100, 0), Err(UmDrop::PartialBytes));
    receiver.take(Si::Middle, 0, 10, 10, 0).unwrap();
    assert_eq!(receiver.up, [30]);
    assert_eq!(receiver.take(Si::First, 0, 0, 10, 0), Err(UmDrop::Late));
    assert_eq!(receiver.rx.receive(&[0], 0, &mut |_| {}), Err(UmDrop::Length));
    assert_eq!(receiver.rx.receive(&[0x80, 0, 0, 1], 0, &mut |_| {}), Err(UmDrop::Offset));
    assert_eq!(UmDrop::ALL.map(|reason| receiver.rx.dropped(reason)), [1, 1, 1, 1, 2, 0, 1]);
    assert_eq!(receiver.rx.partial_bytes(), 18_200);
}

#[test]
fn an_sdu_is_given_up_when_reassembly_runs_out_and_a_later_one_is_not() {
    let mut receiver = Receiver::new();
    receiver.take(Si::First, 0, 0, 10, 0).unwrap();
    assert_eq!(receiver.rx.next_deadline(), None, "nothing is missing before what came");
    receiver.take(Si::First, 1, 0, 10, MS).unwrap();
    assert_eq!(receiver.rx.next_deadline(), Some(36 * MS));
    receiver.take(Si::First, 2, 0, 10, 2 * MS).unwrap();
    receiver.rx.advance(36 * MS - 1);
    assert_eq!(receiver.rx.abandoned(), 0);
    receiver.rx.advance(36 * MS);
    // RX_Timer_Trigger was 2: what came after the timer had started has a time of its own.
    assert_eq!((receiver.rx.abandoned(), receiver.rx.state().rx_next_reassembly), (2, 2));
    assert_eq!(receiver.take(Si::Last, 1, 10, 5, 37 * MS), Err(UmDrop::Late));
    receiver.take(Si::Last, 2, 10, 5, 37 * MS).unwrap();
    assert_eq!((receiver.up, receiver.rx.next_deadline(), receiver.rx.partial_bytes()), (vec![15], None, 0));
}

#[test]
fn a_segment_from_beyond_the_window_moves_it_and_numbers_wrap() {
    let mut receiver = Receiver::new();
    let mut expected = 0;
    // The window has 32 of 64 numbers; one of three SDUs is never whole.
    for sn in 0..300u32 {
        receiver.take(Si::First, sn % 64, 0, 10, 0).unwrap();
        if sn % 3 != 0 {
            receiver.take(Si::Last, sn % 64, 10, 5, 0).unwrap();
            expected += 1;
        }
        let state = receiver.rx.state();
        assert_eq!(state.rx_next_highest, sn + 1);
        assert!(state.rx_next_highest - state.rx_next_reassembly <= 32);
    }
    assert_eq!(receiver.up.len(), expected);
    // Those of the last window wait.
    assert_eq!(receiver.rx.abandoned() as usize + receiver.rx.partial_bytes() / 10, 100);
    assert!(receiver.rx.partial_bytes() <= 11 * 10);
    receiver.rx.re_establish();
    assert_eq!((receiver.rx.partial_bytes(), receiver.rx.next_deadline(), receiver.rx.state().rx_next_highest), (0, None, 0));
}

#[test]
fn an_sdu_is_cut_as_its_grants_are_and_only_segments_spend_a_number() {
    let mut tx = UmTx::new(UmSnLength::Bits12, QUEUE).unwrap();
    let pulled = |tx: &mut UmTx<Vec<u8>>, grant| {
        let mut out = Vec::new();
        tx.pull(grant, &mut out)?;
        let pdu = Umd::parse(&out, UmSnLength::Bits12).expect("ours");
        Some((pdu.si, pdu.sn, pdu.so, pdu.data.len()))
    };
    for tag in 0..4 {
        tx.enqueue(tag, vec![7; 10]).unwrap();
    }
    assert_eq!(pulled(&mut tx, 11), Some((Si::Whole, 0, 0, 10)));
    // One byte less than the whole: the first segment's header is longer by one.
    assert_eq!(pulled(&mut tx, 10), Some((Si::First, 0, 0, 8)));
    assert_eq!(pulled(&mut tx, 4), None, "a header with an offset and no byte");
    assert_eq!(pulled(&mut tx, 5), Some((Si::Middle, 0, 8, 1)));
    assert_eq!(pulled(&mut tx, 5), Some((Si::Last, 0, 9, 1)));
    assert_eq!(pulled(&mut tx, 3), Some((Si::First, 1, 0, 1)));
    assert_eq!((tx.discard(2), tx.discard(3)), (None, Some(vec![7; 10])), "of 2 a byte was sent");
    assert_eq!(pulled(&mut tx, 100), Some((Si::Last, 1, 1, 9)));
    assert!(!tx.has_data());
    // A single byte is never cut.
    tx.enqueue(4, vec![7]).unwrap();
    assert_eq!((pulled(&mut tx, 1), pulled(&mut tx, 2)), (None, Some((Si::Whole, 0, 0, 1))));
    tx.enqueue(5, vec![7; 10]).unwrap();
    assert_eq!(pulled(&mut tx, 5), Some((Si::First, 2, 0, 3)));
    tx.re_establish();
    assert_eq!(pulled(&mut tx, 100), None);
}

#[test]
fn limits_hold_and_a_configuration_out_of_range_is_refused() {
    let mut tx = UmTx::new(UmSnLength::Bits6, QUEUE).unwrap();
    assert_eq!(tx.enqueue(0, vec![0; MAX_SDU + 1]).unwrap_err().reason, Refusal::TooLong);
    (0..2).for_each(|tag| tx.enqueue(tag, vec![0; 9000]).unwrap());
    assert_eq!(tx.enqueue(2, vec![0; 2001]).unwrap_err().reason, Refusal::QueueBytes);
    assert_eq!((tx.refused(Refusal::TooLong), tx.refused(Refusal::QueueBytes)), (1, 1));
    assert_eq!(UmRx::new(UmRxConfig { partial_bytes: 100, ..CONFIG }).err(), Some(ConfigError::Room("partial_bytes")));
    assert_eq!(UmRx::new(UmRxConfig { reassembly_ns: 4001 * MS, ..CONFIG }).err(), Some(ConfigError::Timer("reassembly_ns")));
}
