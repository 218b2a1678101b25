//! Do all implementations agree, on bursts of any mixture? The portable one is the twin of the others.

mod common;

use ciphering::{Choice, Direction, Engine, Fault, Job, Key, LONGEST, MAC_LEN, Nea, Nia, Outcome, Step};
use common::engines;
use proptest::prelude::*;
use rand::Rng;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One packet to be.
#[derive(Clone, Debug)]
struct Packet {
    nea: Option<u8>,
    nia: Option<u8>,
    keys: [[u8; 16]; 2],
    count: u32,
    bearer: u8,
    down: bool,
    clear: usize,
    /// Bytes before the packet in its buffer: what it is out of alignment by.
    offset: usize,
    seed: u8,
    len: usize,
}

impl Packet {
    fn plain(&self) -> Vec<u8> {
        (0..self.len).map(|i| (i as u8).wrapping_mul(31).wrapping_add(self.seed)).collect()
    }

    fn direction(&self) -> Direction {
        if self.down { Direction::Downlink } else { Direction::Uplink }
    }
}

fn packet() -> impl Strategy<Value = Packet> {
    let len = prop_oneof![8 => 1usize..=2000, 1 => 2001usize..=9000, 1 => 1usize..=20];
    let keys = any::<[[u8; 16]; 2]>();
    let algorithms = (proptest::option::weighted(0.9, 0u8..4), proptest::option::weighted(0.6, 0u8..4));
    (algorithms, keys, any::<u32>(), 0u8..32, any::<bool>(), 0usize..4, 0usize..16, any::<u8>(), len).prop_map(
        |((nea, nia), keys, count, bearer, down, clear, offset, seed, len)| {
            let len = len + nia.map_or(0, |_| MAC_LEN);
            let clear = clear.min(len - nia.map_or(0, |_| MAC_LEN));
            Packet { nea, nia, keys, count, bearer, down, clear, offset, seed, len }
        },
    )
}

/// The burst's packets and outcomes after a step.
fn run(engine: &mut Engine, packets: &[Packet], input: &[Vec<u8>], step: Step) -> (Vec<Vec<u8>>, Vec<Outcome>) {
    type Keys = (Option<Key<Nea>>, Option<Key<Nia>>);
    let keys: Vec<Keys> = packets
        .iter()
        .map(|p| {
            let nea = p.nea.map(|n| engine.cipher_key(Nea::try_from(n).expect("known"), &p.keys[0]));
            let nia = p.nia.map(|n| engine.integrity_key(Nia::try_from(n).expect("known"), &p.keys[1]));
            (nea, nia)
        })
        .collect();
    // Bytes around each packet must stay.
    const AROUND: u8 = 0xa5;
    let mut buffers: Vec<Vec<u8>> =
        packets.iter().zip(input).map(|(p, data)| [&vec![AROUND; p.offset][..], data, &[AROUND; 16]].concat()).collect();
    let mut jobs: Vec<Job<'_>> = packets
        .iter()
        .zip(&mut buffers)
        .zip(&keys)
        .map(|((p, buffer), (nea, nia))| Job {
            cipher: nea.as_ref(),
            integrity: nia.as_ref(),
            count: p.count,
            bearer: p.bearer,
            direction: p.direction(),
            step,
            clear: p.clear,
            data: &mut buffer[p.offset..p.offset + p.len],
            outcome: Outcome::Pending,
        })
        .collect();
    engine.run(&mut jobs);
    let outcomes = jobs.iter().map(|job| job.outcome).collect();
    for (p, buffer) in packets.iter().zip(&buffers) {
        let outside = buffer[..p.offset].iter().chain(&buffer[p.offset + p.len..]);
        assert!(outside.copied().all(|byte| byte == AROUND), "{}: bytes beside {p:?} were written", engine.name());
    }
    (packets.iter().zip(buffers).map(|(p, buffer)| buffer[p.offset..p.offset + p.len].to_vec()).collect(), outcomes)
}

/// Short messages of NEA2 are ciphered beside the library where the processor can.
#[test]
fn each_length_of_nea2_is_ciphered_as_in_rust_and_nothing_beside_it_is_touched() {
    let mut rng = testkit::rng(17);
    let of = |rng: &mut testkit::Rng, len: usize| Packet {
        nea: Some(2),
        nia: None,
        keys: rng.random(),
        count: rng.random(),
        bearer: rng.random_range(0..32),
        down: rng.random(),
        clear: rng.random_range(0..=3.min(len)),
        offset: rng.random_range(0..64),
        seed: rng.random(),
        len,
    };
    let packets: Vec<Packet> = (0..=600).map(|len| of(&mut rng, len)).collect();
    let plain: Vec<Vec<u8>> = packets.iter().map(Packet::plain).collect();
    let results: Vec<_> = engines().iter_mut().map(|engine| run(engine, &packets, &plain, Step::Protect)).collect();
    for (bytes, outcomes) in &results {
        assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Done));
        for (len, (bytes, expected)) in bytes.iter().zip(&results[0].0).enumerate() {
            assert_eq!(bytes, expected, "{len} bytes");
        }
    }
    assert_ne!(results[0].0[600], plain[600]);
}

/// MACs of NIA2 are computed beside the library where the processor can, several messages at a time: alone, in bursts of one length, of rising ones and of any, and at
/// the end of the memory that may be read.
#[test]
fn each_length_of_nia2_has_the_mac_of_rust_and_nothing_beside_it_is_touched() {
    let mut rng = testkit::rng(18);
    let of = |rng: &mut testkit::Rng, len: usize| Packet {
        nea: [None, Some(2)][rng.random_range(0..2)],
        nia: Some(2),
        keys: rng.random(),
        count: rng.random(),
        bearer: rng.random_range(0..32),
        down: rng.random(),
        clear: rng.random_range(0..=3.min(len)),
        offset: rng.random_range(0..64),
        seed: rng.random(),
        len: len + MAC_LEN,
    };
    let rising: Vec<usize> = (1..=600).collect();
    let same: Vec<usize> = [1, 8, 9, 24, 25, 64, 72, 1400].into_iter().flat_map(|len| [len; 20]).collect();
    let any: Vec<usize> = (0..400).map(|_| rng.random_range(1..2000)).collect();
    let packets: Vec<Packet> = rising.iter().chain(&same).chain(&any).map(|len| of(&mut rng, *len)).collect();
    for burst in [1, 3, 8, 9, 32, packets.len()] {
        for packets in packets.chunks(burst) {
            let plain: Vec<Vec<u8>> = packets.iter().map(Packet::plain).collect();
            let results: Vec<_> = engines().iter_mut().map(|engine| run(engine, packets, &plain, Step::Protect)).collect();
            for (bytes, outcomes) in &results {
                assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Done));
                assert_eq!(bytes, &results[0].0, "bursts of {burst}");
            }
            // And the other way, which checks the MAC.
            let engine = &mut engines().pop().expect("one is always there");
            let (back, outcomes) = run(engine, packets, &results[0].0, Step::Recover);
            assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Done));
            assert!(back.iter().zip(&plain).all(|(back, plain)| back[..back.len() - MAC_LEN] == plain[..plain.len() - MAC_LEN]));
        }
    }
}

#[test]
fn all_implementations_agree_on_mixed_bursts_and_undo_their_own_work() {
    // How often each algorithm was met, and lengths beyond what ZUC's lanes take.
    let met: [AtomicUsize; 8] = Default::default();
    let long = AtomicUsize::new(0);
    proptest!(ProptestConfig::with_cases(64), |(packets in proptest::collection::vec(packet(), 1..=70), break_at in any::<usize>())| {
        for p in &packets {
            for (i, number) in [(0, p.nea), (4, p.nia)] {
                if let Some(number) = number {
                    met[i + usize::from(number)].fetch_add(1, Ordering::Relaxed);
                }
            }
            long.fetch_add(usize::from(p.len > 8188), Ordering::Relaxed);
        }
        let plain: Vec<Vec<u8>> = packets.iter().map(Packet::plain).collect();
        let mut first: Option<Vec<Vec<u8>>> = None;
        for mut engine in engines() {
            let (mut protected, outcomes) = run(&mut engine, &packets, &plain, Step::Protect);
            prop_assert!(outcomes.iter().all(|o| *o == Outcome::Done), "{}: {outcomes:?}", engine.name());
            match &first {
                None => first = Some(protected.clone()),
                Some(first) => for (i, p) in packets.iter().enumerate() {
                    prop_assert_eq!(&protected[i], &first[i], "{}: {:?}", engine.name(), p);
                },
            }
            // One bit is broken on the way.
            let broken = break_at % packets.len();
            let last = packets[broken].len - 1;
            protected[broken][last] ^= 0x80;
            let (recovered, outcomes) = run(&mut engine, &packets, &protected, Step::Recover);
            for (i, p) in packets.iter().enumerate() {
                let checked = p.nia.is_some_and(|nia| nia != 0);
                let expected = if i == broken && checked { Outcome::WrongMac } else { Outcome::Done };
                prop_assert_eq!(outcomes[i], expected, "{}: {:?}", engine.name(), p);
                let payload = p.len - p.nia.map_or(0, |_| MAC_LEN);
                if i != broken {
                    prop_assert_eq!(&recovered[i][..payload], &plain[i][..payload], "{}: {:?}", engine.name(), p);
                }
            }
        }
    });
    for (i, met) in met.iter().enumerate() {
        let met = met.load(Ordering::Relaxed);
        assert!(met >= 100, "algorithm {i} was met only {met} times");
    }
    assert!(long.load(Ordering::Relaxed) >= 5);
}

#[test]
fn every_burst_size_and_a_packet_alone_are_right() {
    let one = |i: usize, nea: u8, nia: u8| Packet {
        nea: Some(nea),
        nia: Some(nia),
        keys: [[i as u8; 16], [i as u8 ^ 0x55; 16]],
        count: i as u32,
        bearer: (i % 32) as u8,
        down: i.is_multiple_of(2),
        clear: 2,
        offset: i % 7,
        seed: i as u8,
        len: 64 + i,
    };
    let mut engines = engines();
    for number in 1..=3 {
        for burst in 1..=70 {
            let packets: Vec<Packet> = (0..burst).map(|i| one(i, number, number)).collect();
            let plain: Vec<Vec<u8>> = packets.iter().map(Packet::plain).collect();
            let results: Vec<_> = engines.iter_mut().map(|engine| run(engine, &packets, &plain, Step::Protect)).collect();
            assert!(results.iter().all(|result| result == &results[0]), "algorithm {number}, burst of {burst}");
        }
    }
}

#[test]
fn what_cannot_be_run_is_refused_alone_and_left_as_it_was() {
    for mut engine in engines() {
        let (nea, nia) = (engine.cipher_key(Nea::Nea1, &[7; 16]), engine.integrity_key(Nia::Nia2, &[8; 16]));
        let cases: [(usize, usize, u8, bool, Outcome); 11] = [
            (LONGEST + 1, 0, 0, true, Outcome::Refused(Fault::TooLong)),
            (1 << 20, 0, 0, false, Outcome::Refused(Fault::TooLong)),
            (3, 0, 0, true, Outcome::Refused(Fault::TooShort)),
            (0, 0, 0, true, Outcome::Refused(Fault::TooShort)),
            (4, 0, 0, true, Outcome::Refused(Fault::TooShort)),
            (5, 1, 0, true, Outcome::Done),
            (20, 17, 0, true, Outcome::Refused(Fault::TooShort)),
            (20, usize::MAX, 0, false, Outcome::Refused(Fault::TooShort)),
            (20, 0, 32, false, Outcome::Refused(Fault::Bearer)),
            (0, 0, 0, false, Outcome::Done),
            (LONGEST, 16, 31, true, Outcome::Done),
        ];
        let mut data: Vec<Vec<u8>> = cases.iter().map(|(len, ..)| vec![0x11; *len]).collect();
        let job = |((_, clear, bearer, with_mac, _), data): (&(usize, usize, u8, bool, Outcome), _)| Job {
            cipher: Some(&nea),
            integrity: with_mac.then_some(&nia),
            count: 1,
            bearer: *bearer,
            direction: Direction::Uplink,
            step: Step::Protect,
            clear: *clear,
            data,
            outcome: Outcome::Pending,
        };
        let mut jobs: Vec<Job<'_>> = cases.iter().zip(data.iter_mut().map(Vec::as_mut_slice)).map(job).collect();
        engine.run(&mut jobs);
        let outcomes: Vec<Outcome> = jobs.iter().map(|job| job.outcome).collect();
        assert_eq!(outcomes, cases.map(|(.., outcome)| outcome), "{}", engine.name());
        for (case, data) in cases.iter().zip(&data).filter(|(case, _)| case.4 != Outcome::Done) {
            assert!(data.iter().all(|byte| *byte == 0x11), "{}: {case:?} was changed", engine.name());
        }
    }
}

#[test]
fn a_key_of_another_implementation_is_refused() {
    let mut engines = engines();
    for (i, other) in [(0, 1), (1, 0)] {
        if engines.len() < 2 {
            eprintln!("skipped: this needs two implementations");
            return;
        }
        let key = engines[other].cipher_key(Nea::Nea2, &[1; 16]);
        let mut data = [0x11; 40];
        let (count, bearer, direction, step) = (1, 1, Direction::Uplink, Step::Protect);
        let (cipher, integrity, outcome) = (Some(&key), None, Outcome::Pending);
        let mut jobs = [Job { cipher, integrity, count, bearer, direction, step, clear: 0, data: &mut data, outcome }];
        engines[i].run(&mut jobs);
        assert_eq!(jobs[0].outcome, Outcome::Refused(Fault::Key));
        assert_eq!(data, [0x11; 40]);
    }
}

#[test]
fn a_build_without_the_library_says_what_to_install_and_works() {
    match Engine::new(Choice::IpsecMb) {
        Ok(engine) => assert!(engine.name().starts_with("ipsec-mb "), "{}", engine.name()),
        Err(why) => {
            assert!(why.to_string().contains("libipsec-mb"), "{why}");
            assert_eq!(Engine::new(Choice::Fastest).expect("always").name(), format!("portable ({why})"));
        }
    }
}

#[test]
fn an_unknown_algorithm_is_an_error() {
    assert!((4..=255).all(|number| Nea::try_from(number).is_err() && Nia::try_from(number).is_err()));
    assert_eq!(Nea::try_from(9).expect_err("unknown").to_string(), "unknown security algorithm 9: expected 0 to 3");
}

#[test]
fn debug_prints_nothing_of_a_key() {
    for engine in engines() {
        for number in 0..4 {
            let nea = Nea::try_from(number).expect("known");
            let nia = Nia::try_from(number).expect("known");
            assert_eq!(format!("{:?}", engine.cipher_key(nea, &[0xee; 16])), format!("Key {{ algorithm: {nea:?}, .. }}"));
            assert_eq!(format!("{:?}", engine.integrity_key(nia, &[0xee; 16])), format!("Key {{ algorithm: {nia:?}, .. }}"));
        }
    }
}

#[test]
fn the_portable_implementation_is_always_there() {
    assert_eq!(Engine::new(Choice::Portable).expect("always").name(), "portable");
    assert!(!Engine::new(Choice::Fastest).expect("always").name().is_empty());
}
