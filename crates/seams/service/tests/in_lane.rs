//! Does each packet come out of a service in the lane once, also of one that gives no outcome or panics?

use base::{Packet, PortId};
use service::caller::Rings;
use service::{Access, Call, Deployment, FIELDS_MAX, Field, Interface, Outcome, Place, Question, Reason, Service, Setting, SettingError};
use std::sync::Arc;

static INTERFACE: Interface = Interface {
    name: "moody",
    request: &[Field { name: "mood", width: 8 }],
    answer: &[Field { name: "limit", width: 8 }],
    key: None,
    reasons: &["sad"],
    access: |_| Access::None,
    sends_own: false,
    check_setting: |index, _| if index < 2 { Ok(()) } else { Err(SettingError::Index { index, limit: 2 }) },
};

/// Does with a call what its field says: 0 answers, 1 keeps, 2 drops, 3 does nothing, 4 panics.
#[derive(Default)]
struct Moody {
    kept: Vec<Call>,
    limit: u8,
}

impl Service for Moody {
    fn interface(&self) -> &'static Interface {
        &INTERFACE
    }

    fn call(&mut self, burst: &mut [Call], _: u64) {
        for call in burst {
            match call.fields[0] {
                0 => call.answer(&[self.limit]),
                1 => self.kept.push(call.take()),
                2 => call.drop_for(Reason::own(0)),
                3 => {}
                _ => panic!("as asked for"),
            }
        }
    }

    fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        if now_ns >= 100 {
            for mut call in self.kept.drain(..) {
                out.push(call.copy(&[1]));
                call.answer(&[2]);
                out.push(call);
            }
        }
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        (!self.kept.is_empty()).then_some(100)
    }

    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        self.limit = setting.value.as_ref().map_or(0, |value| value[0]);
        Ok(())
    }
}

fn calls(moods: &[u8]) -> Vec<Call> {
    let call = |(i, mood): (usize, &u8)| {
        let mut fields = [0; FIELDS_MAX];
        fields[0] = *mood;
        Call::new(Packet::new(&[i as u8; 40], PortId(1)), 8, fields, i as u32)
    };
    moods.iter().enumerate().map(call).collect()
}

#[test]
fn every_packet_comes_out_once_with_its_tag_and_bytes() {
    let deployment = Deployment::new(&Place::Lane, Arc::new(|| Box::<Moody>::default()), Rings::default()).unwrap();
    let mut caller = deployment.caller();
    deployment.set(0, Some(vec![9].into())).unwrap();
    assert_eq!(deployment.set(2, None), Err(SettingError::Index { index: 2, limit: 2 }));
    let mut burst = calls(&[0, 1, 2, 3, 1]);
    caller.call(&mut burst, 1);
    let outcomes: Vec<Outcome> = burst.iter().map(|call| call.outcome).collect();
    let dropped = |reason| Outcome::Dropped(reason);
    assert_eq!(outcomes, [Outcome::Answered, Outcome::Kept, dropped(Reason::own(0)), dropped(Reason::UNANSWERED), Outcome::Kept]);
    assert_eq!(burst[0].fields[0], 9, "a setting is there with the next call");
    assert!(burst[1].packet.is_void() && burst[2].packet.data() == [2; 40]);

    let mut out = Vec::new();
    caller.poll(2, &mut out);
    assert!(out.is_empty() && caller.next_deadline_ns() == Some(100));
    caller.poll(100, &mut out);
    let polled: Vec<_> = out.iter().map(|call| (call.tag, call.outcome, call.packet.data()[39], call.fields[0])).collect();
    let expected = [(1, Outcome::Copy, 1, 1), (1, Outcome::Answered, 1, 2), (4, Outcome::Copy, 4, 1), (4, Outcome::Answered, 4, 2)];
    assert_eq!(polled, expected);
    let counters = deployment.counters();
    assert_eq!((counters.calls, counters.answered, counters.kept, counters.returned, counters.copies), (5, 3, 2, 2, 2));
    assert_eq!((counters.imbalance(), counters.waiting(), caller.next_deadline_ns()), (0, 0, None));
}

#[test]
fn a_service_that_panics_loses_what_it_had_and_stops_nobody() {
    let deployment = Deployment::new(&Place::Lane, Arc::new(|| Box::<Moody>::default()), Rings::default()).unwrap();
    let mut caller = deployment.caller();
    caller.call(&mut calls(&[1, 1, 1]), 1);
    let mut burst = calls(&[0, 1, 4, 0]);
    caller.call(&mut burst, 2);
    assert!(burst.iter().all(|call| call.outcome == Outcome::Dropped(Reason::LOST)));
    let mut burst = calls(&[0]);
    caller.call(&mut burst, 3);
    assert_eq!(burst[0].outcome, Outcome::Dropped(Reason::DOWN));
    assert_eq!(caller.next_deadline_ns(), Some(0));
    let mut out = Vec::new();
    caller.poll(4, &mut out);
    assert_eq!(out.len(), 3, "what it had kept");
    assert!(out.iter().all(|call| call.outcome == Outcome::Dropped(Reason::LOST) && call.tag == Call::NO_TAG));
    let counters = deployment.counters();
    assert_eq!((counters.dropped_for(Reason::LOST), counters.dropped_for(Reason::DOWN)), (7, 1));
    assert_eq!((counters.imbalance(), counters.waiting()), (0, 0));
}

/// Makes a payload longer by what its field says, and counts its bytes; as calls, or in place.
struct Longer {
    in_place: bool,
}

static LONGER: Interface = Interface {
    name: "longer",
    request: &[Field { name: "bytes", width: 8 }],
    answer: &[Field { name: "sum", width: 8 }],
    key: None,
    reasons: &[],
    access: |fields| if fields[0] == 0 { Access::Read } else { Access::Write },
    sends_own: false,
    check_setting: |index, _| Err(SettingError::Index { index, limit: 0 }),
};

fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

impl Service for Longer {
    fn interface(&self) -> &'static Interface {
        &LONGER
    }

    fn call(&mut self, burst: &mut [Call], _: u64) {
        for call in burst {
            let len = call.payload().len();
            let sum = sum(call.payload());
            if call.fields[0] == 99 {
                call.drop_for(Reason::MALFORMED);
            } else {
                assert!(call.resize_payload(len + usize::from(call.fields[0])));
                call.answer(&[sum]);
            }
        }
    }

    fn answer(&mut self, burst: &mut [Question<'_>], now_ns: u64) {
        if !self.in_place {
            return service::question::by_calls(self, burst, now_ns);
        }
        for question in burst {
            let (len, sum, bytes) = (question.len as usize, sum(question.payload()), question.fields[0]);
            match bytes {
                99 => question.drop_for(Reason::MALFORMED),
                _ if question.resize_payload(len + usize::from(bytes)) => question.answer(&[sum]),
                _ => question.drop_for(Reason::UNANSWERED),
            }
        }
    }

    fn set(&mut self, _: &Setting) -> Result<(), SettingError> {
        Ok(())
    }
}

/// What becomes of questions with 8 bytes of room.
fn questions(fields: &[u8], deployment: &Deployment) -> Vec<(Outcome, u8, Vec<u8>, Vec<u8>)> {
    let mut buffers = vec![[5; 48]; fields.len()];
    let question = |(buffer, field): (_, &u8)| {
        let buffer: &mut [u8; 48] = buffer;
        let mut fields = [0; FIELDS_MAX];
        fields[0] = *field;
        Question { fields, room: &mut buffer[..], len: 40, packet: 0, port: PortId(1), outcome: Outcome::Pending }
    };
    let mut burst: Vec<Question<'_>> = buffers.iter_mut().zip(fields).map(question).collect();
    deployment.caller().answer(&mut burst, 1);
    let end = |q: Question<'_>| (q.outcome, q.fields[0], q.payload().to_vec(), q.room.to_vec());
    burst.into_iter().map(end).collect()
}

fn lane(service: impl Fn() -> Box<dyn Service> + Send + Sync + 'static) -> Deployment {
    Deployment::new(&Place::Lane, Arc::new(service), Rings::default()).unwrap()
}

#[test]
fn a_question_ends_as_its_call_does_whether_the_service_works_in_place_or_not() {
    let all = [false, true].map(|in_place| {
        let deployment = lane(move || Box::new(Longer { in_place }));
        let ends = questions(&[0, 8, 99, 9, 3], &deployment);
        assert_eq!(deployment.counters().imbalance(), 0);
        assert_eq!((deployment.counters().answered, deployment.counters().dropped.values().sum::<u64>()), (3, 2));
        ends
    });
    assert_eq!(all[0], all[1]);
    let outcomes: Vec<Outcome> = all[0].iter().map(|end| end.0).collect();
    let [dropped, no_room] = [Reason::MALFORMED, Reason::UNANSWERED].map(Outcome::Dropped);
    assert_eq!(outcomes, [Outcome::Answered, Outcome::Answered, dropped, no_room, Outcome::Answered]);
    assert_eq!(all[0][1].2, [vec![5; 40], vec![0; 8]].concat());
    assert_eq!(all[0][3].3, [5; 48], "what did not fit has changed nothing");
}

/// Answers the first so many questions, and declines the rest.
struct Declines(usize);

impl Service for Declines {
    fn interface(&self) -> &'static Interface {
        &LONGER
    }

    fn call(&mut self, burst: &mut [Call], _: u64) {
        burst.iter_mut().for_each(|call| call.answer(&[7]));
    }

    fn answer(&mut self, burst: &mut [Question<'_>], _: u64) {
        burst.iter_mut().take(self.0).for_each(|question| question.answer(&[3]));
    }

    fn set(&mut self, _: &Setting) -> Result<(), SettingError> {
        Ok(())
    }
}

#[test]
fn a_question_that_is_declined_has_changed_nothing_and_counts_when_it_is_called() {
    let deployment = lane(|| Box::new(Declines(2)));
    let ends = questions(&[1, 1, 1, 1], &deployment);
    let outcomes: Vec<Outcome> = ends.iter().map(|end| end.0).collect();
    assert_eq!(outcomes, [Outcome::Answered, Outcome::Answered, Outcome::Pending, Outcome::Pending]);
    assert_eq!((ends[3].1, &ends[3].2), (1, &vec![5; 40]));
    assert_eq!((deployment.counters().calls, deployment.counters().answered, deployment.counters().imbalance()), (2, 2, 0));
    let mut burst = calls(&[1, 1]);
    deployment.caller().call(&mut burst, 1);
    assert_eq!((deployment.counters().calls, deployment.counters().answered, deployment.counters().imbalance()), (4, 4, 0));
}

#[test]
fn questions_that_a_service_keeps_leaves_or_panics_at_are_no_answers() {
    let deployment = lane(|| Box::<Moody>::default());
    let ends = |moods: &[u8]| questions(moods, &deployment).into_iter().map(|end| end.0).collect::<Vec<_>>();
    let unanswered = Outcome::Dropped(Reason::UNANSWERED);
    assert_eq!(ends(&[0, 1, 2, 3]), [Outcome::Answered, Outcome::Kept, Outcome::Dropped(Reason::own(0)), unanswered]);
    assert_eq!(ends(&[0, 4, 0]), [Outcome::Dropped(Reason::LOST); 3]);
    let counters = deployment.counters();
    assert_eq!((counters.calls, counters.answered, counters.kept, counters.imbalance()), (7, 1, 1, 0));
}
