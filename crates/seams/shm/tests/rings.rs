//! Does a ring carry each record once and whole, and does a hostile other side find nothing but an error?

use rand::Rng;
use shm::ring::{NOTES_LEN, ring_words};
use shm::{Consumer, Corrupt, Producer, Region};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

const CAPACITY: usize = 64;

fn pair() -> (Arc<Region>, Producer, Consumer) {
    let region = Arc::new(Region::create(ring_words(CAPACITY)).unwrap());
    (region.clone(), Producer::new(region.clone(), 0, CAPACITY), Consumer::new(region, 0, CAPACITY))
}

#[test]
fn records_come_out_whole_and_in_order_however_they_wrap() {
    let mut rng = testkit::rng(7);
    let (_, mut producer, mut consumer) = pair();
    let (mut sent, mut got, mut full) = (0u32, 0u32, 0);
    while got < 5000 {
        let len = rng.random_range(0..120usize);
        let bytes: Vec<u8> = (0..len).map(|i| (sent as usize * 7 + i) as u8).collect();
        if producer.begin(2 + len.div_ceil(8), sent).unwrap() {
            producer.put(len as u64);
            producer.put_bytes(&bytes);
            producer.publish();
            sent += 1;
        } else {
            full += 1;
        }
        while rng.random_bool(0.4) {
            let Some((number, words)) = consumer.begin().unwrap() else { break };
            assert_eq!(number, got);
            let len = consumer.take() as usize;
            assert_eq!(words, 1 + len.div_ceil(8));
            let mut bytes = vec![0; len];
            consumer.take_bytes(&mut bytes);
            assert!(bytes.iter().enumerate().all(|(i, byte)| *byte == (got as usize * 7 + i) as u8));
            assert_eq!(consumer.take(), 0, "behind the record's end");
            consumer.release();
            got += 1;
        }
    }
    assert!(full > 100, "the ring was full {full} times");
}

#[test]
fn a_place_outside_the_ring_or_a_record_that_is_not_there_is_an_error() {
    for tail in [CAPACITY as u64 + 1, u64::MAX, 1 << 63] {
        let (region, _, mut consumer) = pair();
        region.words()[0].store(tail, Relaxed);
        assert_eq!(consumer.begin(), Err(Corrupt), "tail {tail}");
    }
    for first in [0, 3, u64::MAX, 0x1_0000_0000] {
        let (region, _, mut consumer) = pair();
        region.words()[0].store(2, Relaxed);
        region.words()[16 + NOTES_LEN].store(first, Relaxed);
        assert_eq!(consumer.begin(), Err(Corrupt), "a record of {first:x} in two words");
    }
    for head in [5, u64::MAX] {
        let (region, mut producer, _) = pair();
        assert!(producer.begin(4, 0).unwrap());
        (0..3).for_each(|_| producer.put(0));
        producer.publish();
        region.words()[8].store(head, Relaxed);
        assert_eq!(producer.begin(CAPACITY, 0), Err(Corrupt), "head {head}");
    }
}

#[test]
fn a_wiped_record_is_gone_from_memory() {
    let (region, mut producer, mut consumer) = pair();
    producer.begin(4, 1).unwrap();
    (0..3).for_each(|_| producer.put(0x5ec2_e7ed));
    producer.publish();
    let (_, words) = consumer.begin().unwrap().unwrap();
    assert_eq!(consumer.take(), 0x5ec2_e7ed);
    consumer.wipe(words);
    consumer.release();
    assert!(region.words()[16 + NOTES_LEN..].iter().all(|word| word.load(Relaxed) == 0));
}
