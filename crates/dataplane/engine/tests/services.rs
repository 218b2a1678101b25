//! The engine with lanes that call a service: packets that it keeps come back, are sent and are counted once, while nothing else comes in.

use base::{DropReason, Packet, PortId, Verdict};
use crossbeam_channel::bounded;
use engine::{Engine, Settings};
use pktio::Port;
use pktio::memory::{MemoryPort, pair};
use service::caller::Rings;
use service::{Access, Call, Caller, Deployment, FIELDS_MAX, Interface, Outcome, Place, Reason, Service, Setting, SettingError};
use std::sync::Arc;
use std::time::{Duration, Instant};
use target::{Lane, Returned, Target};
use target_kit::{StandIn, Watched};

const PATIENCE: Duration = Duration::from_secs(60);
const DELAY_NS: u64 = 2_000_000;
/// First bytes of packets: what the service does with them.
const ANSWER: u8 = 0;
const KEEP: u8 = 1;
const REFUSE: u8 = 2;
const KEEP_AND_COPY: u8 = 3;

static INTERFACE: Interface = Interface {
    name: "late",
    request: &[],
    answer: &[],
    key: None,
    reasons: &["refused"],
    access: |_| Access::Read,
    check_setting: |_, _| Ok(()),
};

#[derive(Default)]
struct Late(Vec<(u64, Call)>);

impl Service for Late {
    fn interface(&self) -> &'static Interface {
        &INTERFACE
    }

    fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        for call in burst {
            match call.payload()[0] {
                ANSWER => call.answer(&[]),
                REFUSE => call.drop_for(Reason::own(0)),
                _ => self.0.push((now_ns + DELAY_NS, call.take())),
            }
        }
    }

    fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        for (_, mut call) in self.0.extract_if(.., |(due_ns, _)| *due_ns <= now_ns) {
            if call.payload()[0] == KEEP_AND_COPY {
                out.push(call.copy(&[]));
            }
            call.answer(&[]);
            out.push(call);
        }
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        self.0.first().map(|(due_ns, _)| *due_ns)
    }

    fn set(&mut self, _: &Setting) -> Result<(), SettingError> {
        Ok(())
    }
}

/// Gives each packet to the service and forwards what comes back.
struct CallingLane {
    caller: Caller,
    out: Vec<Call>,
}

fn verdict(call: &Call) -> Verdict {
    match call.outcome {
        Outcome::Answered | Outcome::Copy => Verdict::forward(PortId(1)),
        Outcome::Dropped(reason) => Verdict::drop(reason.as_drop()),
        Outcome::Kept | Outcome::Pending => Verdict::kept(),
    }
}

impl Lane for CallingLane {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        let call = |packet: &mut Packet| Call::new(std::mem::replace(packet, Packet::void()), 0, [0; FIELDS_MAX], 0);
        let mut calls: Vec<Call> = packets.iter_mut().map(call).collect();
        self.caller.call(&mut calls, now_ns);
        for ((packet, to), call) in packets.iter_mut().zip(verdicts).zip(calls) {
            *to = verdict(&call);
            *packet = call.packet;
        }
    }

    fn poll(&mut self, now_ns: u64, into: &mut Vec<Returned>) {
        self.caller.poll(now_ns, &mut self.out);
        into.extend(self.out.drain(..).map(|call| {
            let (verdict, copy) = (verdict(&call), call.outcome == Outcome::Copy);
            Returned { packet: call.packet, verdict, copy }
        }));
    }

    fn next_poll_ns(&self) -> Option<u64> {
        self.caller.next_deadline_ns()
    }
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::yield_now();
    }
}

/// The numbers of packets that came out.
fn received(port: &mut MemoryPort, n: usize) -> Vec<u8> {
    let mut got = Vec::new();
    let mut burst: Vec<Packet> = (0..64).map(|_| Packet::empty(0)).collect();
    wait_until("packets come out", || {
        let k = port.receive(&mut burst).unwrap();
        got.extend(burst[..k].iter().map(|packet| packet.data()[1]));
        got.len() >= n
    });
    got
}

#[test]
fn packets_that_a_service_keeps_come_back_without_another_packet_and_are_counted_once() {
    for place in [Place::Lane, Place::Threads(2)] {
        let make: service::caller::Make = Arc::new(|| Box::<Late>::default());
        let deployment = Deployment::new(&place, make, Rings::default()).unwrap();
        let calling = move || CallingLane { caller: deployment.caller(), out: Vec::new() };
        let lane = move |_| Box::new(Watched::new(Box::new(calling()))) as Box<dyn Lane>;
        let target: Arc<dyn Target> = Arc::new(StandIn::new(lane));
        let (near, mut far_in) = pair("in", "far in", 256);
        let (out, mut far_out) = pair("out", "far out", 256);
        let ports: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(near)), (PortId(1), Box::new(out))];
        let (sender, _events) = bounded(16);
        let engine = Engine::start(&target, vec![ports], Settings::default(), sender).unwrap();
        for (number, what) in [KEEP, ANSWER, REFUSE, KEEP_AND_COPY, KEEP].into_iter().enumerate() {
            let packet = Packet::new(&[what, number as u8, 7, 7], PortId(0));
            assert_eq!(far_in.transmit(&[packet]).unwrap(), 1);
        }
        // Packet 1 did not wait in the lane; those that waited keep their order; 3 comes twice.
        let mut got = received(&mut far_out, 5);
        let kept: Vec<u8> = got.iter().copied().filter(|number| *number != 1).collect();
        assert_eq!(kept, [0, 3, 3, 4], "{place}");
        got.sort_unstable();
        assert_eq!(got, [0, 1, 3, 3, 4], "{place}");
        wait_until("the ledger balances", || engine.ledger().imbalance() == 0 && engine.ledger().with_services() == 0);
        let ledger = engine.ledger();
        assert_eq!(ledger.ports[&PortId(1)].transmitted.packets, 5, "{place}");
        assert_eq!(ledger.dropped.get(&DropReason::SERVICE_REFUSED.0).map(|count| count.packets), Some(1), "{place}");
        assert_eq!(ledger.copied.packets, 1, "{place}");
        assert!(ledger.kept.packets >= 3 && ledger.kept.packets == ledger.returned.packets, "{place}: {ledger:?}");
        engine.stop();
    }
}
