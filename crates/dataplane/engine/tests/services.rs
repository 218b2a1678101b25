//! The engine with lanes that call a service: packets that it keeps come back, are sent and are counted once, while nothing else comes in; those of one flow that it
//! keeps come out in their order, wherever it runs.

use base::{DropReason, Packet, PortId, Verdict};
use crossbeam_channel::bounded;
use engine::{Engine, Settings};
use pktio::Port;
use pktio::memory::{MemoryPort, pair};
use service::caller::Rings;
use service::{Access, Call, Caller, Deployment, Field, Interface, Outcome, Place, Reason, Service, Setting, SettingError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use target_api::{Lane, Returned, Target};
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
    request: &[Field { name: "flow", width: 8 }],
    answer: &[],
    key: Some(0),
    reasons: &["refused"],
    access: |_| Access::Read,
    sends_own: false,
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
        let call = |packet: &mut Packet| {
            let flow = packet.data()[2];
            let fields = std::array::from_fn(|i| if i == 0 { flow } else { 0 });
            Call::new(std::mem::replace(packet, Packet::void()), 0, fields, 0)
        };
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

    target_api::lane_without!(process_asking, take_extra, ran_by, shape, count, with_rates);
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

/// The engine with one worker, its lane's service at `place`, a port in and a port out: the far ends.
fn start(place: &Place) -> (Engine, Arc<Deployment>, MemoryPort, MemoryPort) {
    let deployment = Arc::new(Deployment::new(place, make(), Rings::default()).unwrap());
    let called = deployment.clone();
    let calling = move || CallingLane { caller: called.caller(), out: Vec::new() };
    let lane = move |_| Box::new(Watched::new(Box::new(calling()))) as Box<dyn Lane>;
    let target: Arc<dyn Target> = Arc::new(StandIn::new(lane));
    let (near, far_in) = pair("in", "far in", 256);
    let (out, far_out) = pair("out", "far out", 256);
    let ports: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(near)), (PortId(1), Box::new(out))];
    let (sender, _events) = bounded(16);
    let engine = Engine::start(&target, vec![ports], Settings::default(), sender).unwrap();
    (engine, deployment, far_in, far_out)
}

fn make() -> service::caller::Make {
    Arc::new(|| Box::<Late>::default())
}

#[test]
fn packets_that_a_service_keeps_come_back_without_another_packet_and_are_counted_once() {
    for place in [Place::Lane, Place::Threads(2)] {
        let (engine, _, mut far_in, mut far_out) = start(&place);
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

const FLOWS: u8 = 7;
const MANY: u8 = 240;

/// Of all flows in turn: what waits for its service keeps its order within a flow, and so does what does not wait. The two overtake each other.
#[test]
fn packets_of_a_flow_that_wait_for_their_service_keep_their_order_in_each_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.sock");
    for place in [Place::Lane, Place::Threads(1), Place::Threads(3), Place::Process(path.clone())] {
        let (engine, deployment, mut far_in, mut far_out) = start(&place);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            if matches!(place, Place::Process(_)) {
                scope.spawn(|| service::process::serve(&path, &make(), &stop).unwrap());
            }
            let _stops = Stops(&stop);
            let (mut got, mut burst) = (Vec::new(), (0..64).map(|_| Packet::empty(0)).collect::<Vec<_>>());
            let mut take = |far_out: &mut MemoryPort, got: &mut Vec<u8>| {
                let k = far_out.receive(&mut burst).unwrap();
                got.extend(burst[..k].iter().map(|packet| packet.data()[1]).filter(|number| *number < MANY));
            };
            wait_until("somebody serves", || {
                far_in.transmit(&[Packet::new(&[ANSWER, MANY, 0, 0], PortId(0))]).unwrap();
                take(&mut far_out, &mut got);
                deployment.counters().answered > 0
            });
            for number in 0..MANY {
                let packet = [Packet::new(&[if number.is_multiple_of(5) { ANSWER } else { KEEP }, number, number % FLOWS, 0], PortId(0))];
                wait_until("there is room", || {
                    take(&mut far_out, &mut got);
                    far_in.transmit(&packet).unwrap() == 1
                });
            }
            wait_until("packets come out", || {
                take(&mut far_out, &mut got);
                got.len() >= usize::from(MANY)
            });
            for flow in 0..FLOWS {
                for waits in [false, true] {
                    let of = |number: &u8| number % FLOWS == flow && number.is_multiple_of(5) != waits;
                    let own: Vec<u8> = got.iter().copied().filter(of).collect();
                    assert_eq!(own, (0..MANY).filter(of).collect::<Vec<_>>(), "{place}, flow {flow}, waits: {waits}");
                }
            }
            let counters = deployment.counters();
            assert!(counters.kept >= u64::from(MANY) / 5 * 4 && counters.imbalance() == 0, "{place}: {counters:?}");
        });
        engine.stop();
    }
}

/// Ends the thread that serves also if the test fails.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
