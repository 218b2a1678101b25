//! Do the ciphers do through the seam what they do when they are called directly, in each place? The twin is the portable engine, a job at a time.

use base::{Packet, PortId};
use ciphering::service::{CipherService, NO_KEY, Request, WRONG_MAC, key_setting};
use ciphering::{Choice, Direction, Engine, Job, MAC_LEN, Nea, Nia, Outcome, Step};
use rand::Rng;
use service::caller::{Make, Rings};
use service::{Call, Caller, Deployment, GROWTH_MAX, Place, Question, Reason, SettingError};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const KEYS: u16 = 32;
const FRONT: usize = 30;

fn make() -> Make {
    Arc::new(|| Box::new(CipherService::new(Choice::Fastest).unwrap()))
}

/// The burst as it comes back, in the order of tags.
fn run(caller: &mut Caller, mut burst: Vec<Call>, now_ns: &mut u64) -> Vec<Call> {
    let (end, n) = (Instant::now() + PATIENCE, burst.len());
    caller.call(&mut burst, *now_ns);
    let mut out: Vec<Call> = burst.into_iter().filter(|call| call.outcome != service::Outcome::Kept).collect();
    while out.len() < n {
        assert!(Instant::now() < end, "{} of {n} came back", out.len());
        *now_ns += 1_000_000;
        caller.poll(*now_ns, &mut out);
        std::thread::yield_now();
    }
    out.sort_by_key(|call| call.tag);
    out
}

/// The same burst as questions about packets that stay where they are.
fn run_in_place(caller: &mut Caller, mut burst: Vec<Call>) -> Vec<Call> {
    let mut buffers: Vec<Vec<u8>> = burst.iter().map(|call| [call.packet.data(), &[0xa5; GROWTH_MAX]].concat()).collect();
    let mut questions: Vec<Question<'_>> = Vec::new();
    for (call, buffer) in burst.iter().zip(&mut buffers) {
        let (room, len) = (&mut buffer[FRONT..], call.payload_len);
        questions.push(Question {
            fields: call.fields,
            room,
            len,
            packet: call.tag,
            port: call.packet.port,
            outcome: service::Outcome::Pending,
        });
    }
    caller.answer(&mut questions, 1);
    for (call, question) in burst.iter_mut().zip(&questions) {
        (call.fields, call.outcome, call.payload_len) = (question.fields, question.outcome, question.len);
    }
    for (call, buffer) in burst.iter_mut().zip(&buffers) {
        call.packet.set(&buffer[..FRONT + call.payload_len as usize]);
    }
    burst
}

type BearerKeys = (Nea, [u8; 16], Option<(Nia, [u8; 16])>);

/// What the engine makes of one packet by itself.
fn twin(engine: &mut Engine, (nea, cipher, integrity): &BearerKeys, request: Request, mut payload: Vec<u8>) -> (Vec<u8>, Outcome) {
    let cipher = engine.cipher_key(*nea, cipher);
    let integrity = integrity.map(|(nia, key)| engine.integrity_key(nia, &key));
    let mac = if integrity.is_some() { MAC_LEN } else { 0 };
    // The PDU in one piece.
    let prefix = usize::from(request.prefix_bytes);
    payload.splice(..0, request.prefix.to_be_bytes()[4 - prefix..].iter().copied());
    if request.step == Step::Protect {
        payload.resize(payload.len() + mac, 0);
    }
    let Request { count, bearer, direction, step, clear_bytes, .. } = request;
    let (cipher, integrity, clear) = (Some(&cipher), integrity.as_ref(), usize::from(clear_bytes) + prefix);
    let mut jobs = [Job { cipher, integrity, count, bearer, direction, step, clear, data: &mut payload, outcome: Outcome::Pending }];
    engine.run(&mut jobs);
    let outcome = jobs[0].outcome;
    if step == Step::Recover && outcome == Outcome::Done {
        payload.truncate(payload.len() - mac);
    }
    payload.drain(..prefix);
    (payload, outcome)
}

fn conform(place: &Place, seed: u64, in_place: bool) {
    let mut rng = testkit::rng(seed);
    let deployment = Deployment::new(place, make(), Rings::default()).unwrap();
    let keys: Vec<BearerKeys> = (0..KEYS)
        .map(|i| {
            let (nea, nia) = (Nea::try_from(i as u8 % 4).unwrap(), i as u8 / 4 % 5);
            (nea, rng.random(), Nia::try_from(nia).ok().map(|nia| (nia, rng.random())))
        })
        .collect();
    for (index, (nea, cipher, integrity)) in keys.iter().enumerate() {
        let value = key_setting(*nea, cipher, integrity.as_ref().map(|(nia, key)| (*nia, key)));
        deployment.set(index as u32, Some(value)).unwrap();
    }
    let (mut caller, mut now_ns) = (deployment.caller(), 1);
    let mut engine = Engine::new(Choice::Portable).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        if let Place::Process(path) = place {
            scope.spawn(|| service::process::serve(path, &make(), &stop).unwrap());
            let end = Instant::now() + PATIENCE;
            let probe = || Call::new(Packet::new(&[0; 8], PortId(0)), 0, [0xff; service::FIELDS_MAX], 0);
            while run(&mut caller, vec![probe()], &mut now_ns)[0].outcome == service::Outcome::Dropped(Reason::DOWN) {
                assert!(Instant::now() < end, "nobody came");
                now_ns += 10_000_000;
            }
        }
        let (mut done, mut wrong, mut missing) = (0, 0, 0);
        for _ in 0..30 {
            let mut asked = Vec::new();
            let burst: Vec<Call> = (0..40u32)
                .map(|tag| {
                    let request = Request {
                        key_index: rng.random_range(0..KEYS + 2),
                        count: rng.random(),
                        bearer: rng.random_range(0..34),
                        direction: if rng.random() { Direction::Uplink } else { Direction::Downlink },
                        step: if rng.random() { Step::Protect } else { Step::Recover },
                        clear_bytes: rng.random_range(0..8),
                        prefix: rng.random(),
                        prefix_bytes: rng.random_range(0..=4),
                    };
                    let bytes: Vec<u8> = (0..FRONT + rng.random_range(1..1500)).map(|_| rng.random()).collect();
                    let mut bytes = bytes;
                    // Half of what is to be recovered was protected before.
                    if let (Step::Recover, Some(keys), true) = (request.step, keys.get(usize::from(request.key_index)), rng.random()) {
                        let protect = Request { step: Step::Protect, ..request };
                        let (protected, _) = twin(&mut engine, keys, protect, bytes[FRONT..].to_vec());
                        bytes.splice(FRONT.., protected);
                    }
                    asked.push((request, bytes.clone()));
                    Call::new(Packet::new(&bytes, PortId(2)), FRONT, request.fields(), tag)
                })
                .collect();
            let burst = if in_place { run_in_place(&mut caller, burst) } else { run(&mut caller, burst, &mut now_ns) };
            for (call, (request, bytes)) in burst.iter().zip(asked) {
                let Some(keys) = keys.get(usize::from(request.key_index)) else {
                    assert_eq!(call.outcome, service::Outcome::Dropped(NO_KEY));
                    missing += 1;
                    continue;
                };
                let (expected, outcome) = twin(&mut engine, keys, request, bytes[FRONT..].to_vec());
                match outcome {
                    Outcome::Done => {
                        assert_eq!((call.outcome, &call.packet.data()[..FRONT]), (service::Outcome::Answered, &bytes[..FRONT]));
                        assert!(call.payload() == expected, "{place}: {request:?}");
                        assert_eq!(call.fields[..2], (expected.len() as u16).to_be_bytes());
                        done += 1;
                    }
                    Outcome::WrongMac => {
                        assert_eq!(call.outcome, service::Outcome::Dropped(WRONG_MAC));
                        wrong += 1;
                    }
                    _ => assert!(matches!(call.outcome, service::Outcome::Dropped(_)), "{outcome:?}: {:?}", call.outcome),
                }
            }
        }
        assert!(done > 500 && wrong > 50 && missing > 20, "{done} done, {wrong} wrong, {missing} without keys");
        assert_eq!(deployment.counters().imbalance(), 0);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn the_ciphers_do_the_same_in_each_place() {
    conform(&Place::Lane, 1, false);
    conform(&Place::Threads(2), 2, false);
    let folder = tempfile::tempdir().unwrap();
    conform(&Place::Process(folder.path().join("cipher.sock")), 3, false);
}

#[test]
fn the_ciphers_do_the_same_where_packets_stay_in_their_buffers() {
    conform(&Place::Lane, 4, true);
}

#[test]
fn a_payload_without_room_for_a_mac_or_the_header_in_front_is_refused_as_it_was() {
    let deployment = Deployment::new(&Place::Lane, make(), Rings::default()).unwrap();
    deployment.set(0, Some(key_setting(Nea::Nea2, &[7; 16], Some((Nia::Nia2, &[8; 16]))))).unwrap();
    let (direction, clear_bytes) = (Direction::Uplink, 0);
    let request = |step, prefix_bytes| Request { key_index: 0, count: 0, bearer: 0, direction, step, clear_bytes, prefix: 1, prefix_bytes };
    let mut caller = deployment.caller();
    for (step, prefix_bytes, room) in [(Step::Protect, 0, 3), (Step::Protect, 2, 5), (Step::Recover, 2, 1)] {
        let mut buffer = [3; 70];
        let fields = request(step, prefix_bytes).fields();
        let room = &mut buffer[..64 + room];
        let mut question = [Question { fields, room, len: 64, packet: 0, port: PortId(0), outcome: service::Outcome::Pending }];
        caller.answer(&mut question, 1);
        assert!(matches!(question[0].outcome, service::Outcome::Dropped(_)), "{step:?}, {prefix_bytes}: {:?}", question[0].outcome);
        assert_eq!((question[0].payload(), question[0].len), (&[3; 64][..], 64));
    }
    assert_eq!(deployment.counters().imbalance(), 0);
}

#[test]
fn a_setting_that_is_no_key_is_refused_and_a_removed_key_is_gone() {
    let deployment = Deployment::new(&Place::Lane, make(), Rings::default()).unwrap();
    let value = key_setting(Nea::Nea2, &[7; 16], None);
    for wrong in [value[1..].to_vec(), [&[9], &value[1..]].concat(), [&[0, 9], &value[2..]].concat(), Vec::new()] {
        assert!(matches!(deployment.set(0, Some(wrong.into())), Err(SettingError::Value { .. })));
    }
    assert!(matches!(deployment.set(1 << 16, Some(value.clone())), Err(SettingError::Index { .. })));
    deployment.set(3, Some(value)).unwrap();
    deployment.set(3, None).unwrap();
    let (direction, step) = (Direction::Uplink, Step::Protect);
    let request = Request { key_index: 3, count: 0, bearer: 0, direction, step, clear_bytes: 0, prefix: 0, prefix_bytes: 0 };
    let long = Request { prefix_bytes: 5, ..request };
    let calls = vec![
        Call::new(Packet::new(&[0; 64], PortId(0)), 0, request.fields(), 0),
        Call::new(Packet::new(&[0; 64], PortId(0)), 0, long.fields(), 1),
    ];
    let out = run(&mut deployment.caller(), calls, &mut 0);
    assert_eq!(out[0].outcome, service::Outcome::Dropped(NO_KEY));
    assert_eq!(out[1].outcome, service::Outcome::Dropped(Reason::MALFORMED));
}
