//! Does the load of N4 count what a UPF does with its requests? Against a UPF of a few lines, which loses, refuses and asks as it is told.

use load::n4::outcome::{Phase, Requests};
use load::n4::plan::{Ends, Kind, Modification, Plan};
use load::n4::{Loader, Of, Settings};
use pfcp::codec::{self, Cause, FSeid, Ie, Message, MessageType, NodeId, find};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use traffic::plan::Shape;

/// What the UPF does, and what it has seen.
#[derive(Default)]
struct Upf {
    /// The first copy of one of so many requests is lost, and no copy of one of so many establishments is answered; 0: of none.
    loses_one_of: u32,
    never_answers_one_of: u32,
    refuses_one_of: u32,
    /// By its SEID: the SMF's, the UE, the downlink TEID as it was established or last changed, `None`: idle.
    sessions: BTreeMap<u64, (u64, Ipv4Addr, Option<u32>)>,
    ues: BTreeSet<Ipv4Addr>,
    made: u64,
    answers: BTreeMap<u32, Vec<u8>>,
    seen: BTreeSet<u32>,
    counts: BTreeMap<MessageType, u32>,
}

impl Upf {
    fn answer(&mut self, octets: &[u8]) -> Option<Vec<u8>> {
        let request = codec::decode(octets).expect("a request of the codec's");
        let sequence = request.sequence;
        if self.loses_one_of > 0 && sequence.is_multiple_of(self.loses_one_of) && self.seen.insert(sequence) {
            return None;
        }
        if let Some(answer) = self.answers.get(&sequence) {
            return Some(answer.clone());
        }
        let count = self.counts.entry(request.kind).or_default();
        *count += 1;
        let of_these = |n: u32| n > 0 && (*count).is_multiple_of(n);
        if request.kind == MessageType::SessionEstablishmentRequest && of_these(self.never_answers_one_of) {
            *count -= 1;
            return None;
        }
        let refused = request.kind.is_session_related() && of_these(self.refuses_one_of);
        let cause = if refused { Cause::NO_RESOURCES } else { Cause::REQUEST_ACCEPTED };
        let mut ies = vec![Ie::NodeId(NodeId::Ipv4(Ipv4Addr::LOCALHOST)), Ie::Cause(cause)];
        let seid = if refused { Some(0) } else { self.accept(&request, &mut ies) };
        let kind = request.kind.response().expect("a request");
        let answer = Message { seid: seid.filter(|_| kind.is_session_related()), ..Message::node(kind, sequence, ies) }.encode().unwrap();
        self.answers.insert(sequence, answer.clone());
        Some(answer)
    }

    /// The SMF's SEID.
    fn accept(&mut self, request: &Message, ies: &mut Vec<Ie>) -> Option<u64> {
        let seid = request.seid?;
        let far = |ies: &[Ie]| {
            ies.iter()
                .filter_map(|ie| match ie {
                    Ie::CreateFar(far) | Ie::UpdateFar(far) => Some(far.clone()),
                    _ => None,
                })
                .collect::<Vec<_>>()
        };
        let tunnel = |ies: &[Ie]| {
            let parameters = |ie: &Ie| match ie {
                Ie::ForwardingParameters(ies) | Ie::UpdateForwardingParameters(ies) => {
                    find!(ies, OuterHeaderCreation).and_then(|header| header.teid)
                }
                _ => None,
            };
            far(ies).iter().flatten().find_map(parameters)
        };
        match request.kind {
            MessageType::SessionEstablishmentRequest => {
                let cp = find!(request.ies, FSeid).expect("the SMF's F-SEID").seid;
                let pdi = |ie: &Ie| match ie {
                    Ie::CreatePdr(ies) => find!(ies, Pdi).and_then(|pdi| find!(pdi, UeIpAddress)).and_then(|ue| ue.ipv4),
                    _ => None,
                };
                let ue = request.ies.iter().find_map(pdi).expect("the UE's address");
                assert!(self.ues.insert(ue), "{ue} is there already");
                self.made += 1;
                self.sessions.insert(self.made, (cp, ue, tunnel(&request.ies)));
                ies.push(Ie::FSeid(FSeid { seid: self.made, ipv4: Some(Ipv4Addr::LOCALHOST), ipv6: None }));
                Some(cp)
            }
            MessageType::SessionModificationRequest => {
                let session = self.sessions.get_mut(&seid).expect("a session that is there");
                let new = tunnel(&request.ies);
                assert_ne!(session.2, new, "each changes something");
                session.2 = new;
                Some(session.0)
            }
            MessageType::SessionDeletionRequest => {
                let (cp, ue, _) = self.sessions.remove(&seid).expect("a session that is there");
                self.ues.remove(&ue);
                Some(cp)
            }
            other => panic!("{other:?}"),
        }
    }
}

/// On a thread, until it is dropped.
struct Running {
    upf: Arc<Mutex<Upf>>,
    address: SocketAddr,
    stops: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<u32>>,
}

impl Running {
    fn start(upf: Upf) -> Running {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        let (address, stops, upf) = (socket.local_addr().unwrap(), Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(upf)));
        let (inside, stop) = (upf.clone(), stops.clone());
        let run = move || {
            let (mut buffer, mut answers_to_us) = ([0; 2048], 0);
            while !stop.load(Ordering::Relaxed) {
                let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
                // Answers to what it asks below.
                if matches!(buffer[1], 2 | 57) {
                    answers_to_us += 1;
                    continue;
                }
                let answer = inside.lock().unwrap().answer(&buffer[..length]);
                let heartbeat = Message::node(MessageType::HeartbeatRequest, 1, vec![Ie::RecoveryTimeStamp(1)]);
                let report = Message::session(MessageType::SessionReportRequest, 1, 2, vec![Ie::ReportType(1)]);
                let asked = [heartbeat, report].map(|message| message.encode().unwrap());
                // What is no PFCP, an answer to no request, and one that comes twice.
                let odd = [vec![0x20], vec![0x21, 53, 0, 12, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0xf0, 0]];
                let all = answer.iter().chain(&answer).chain(&asked).chain(&odd);
                all.for_each(|octets| drop(socket.send_to(octets, from)));
            }
            answers_to_us
        };
        Running { upf, address, stops, thread: Some(std::thread::spawn(run)) }
    }

    /// How often the SMF answered it.
    fn stop(mut self) -> u32 {
        self.stops.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
    }
}

fn settings() -> Settings {
    let t1 = Duration::from_millis(100);
    Settings { window: 16, t1, n1: 50, modification: Modification::Handover, seed: 1 }
}

fn loader(upf: SocketAddr, sessions: u32, settings: Settings) -> Loader {
    let plan = Plan {
        shape: Shape::Simple,
        dnn: "internet".into(),
        access: None,
        gnb: Ipv4Addr::new(10, 3, 0, 2),
        gnb_teid: 1,
        uplink: None,
        ue: Ipv4Addr::new(10, 45, 0, 2),
        node: Ipv4Addr::UNSPECIFIED.into(),
    };
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Loader::new(Ends { local, upf }, plan, sessions, settings).unwrap()
}

fn only(phase: Phase) -> Requests {
    let [requests] = &phase.requests[..] else { panic!("{phase:?}") };
    requests.clone()
}

/// By sequence numbers alone, whatever is lost, comes twice or is no answer.
#[test]
fn each_request_is_counted_once_and_what_is_lost_is_sent_again() {
    let upf = Running::start(Upf { loses_one_of: 7, ..Upf::default() });
    let mut loader = loader(upf.address, 500, settings());
    loader.associate().unwrap();
    let made = only(loader.run(Of::Sessions(500), None, |_| true).unwrap());
    assert_eq!((made.kind, made.sent, made.accepted, made.lost, loader.sessions()), (Kind::Establish, 500, 500, 0, 500));
    assert!(made.sent_again >= 500 / 7, "{made:?}");
    assert!(made.latency.unwrap().max_us >= 100_000.0, "from the first time that it was sent");
    assert_eq!(upf.upf.lock().unwrap().sessions.len(), 500);
    let modified = only(loader.run(Of::Modifications(Duration::from_millis(300)), None, |_| true).unwrap());
    assert_eq!((modified.kind, modified.accepted, modified.lost), (Kind::Modify, modified.sent, 0));
    assert_eq!(u64::from(upf.upf.lock().unwrap().counts[&MessageType::SessionModificationRequest]), modified.sent);
    let deleted = only(loader.run(Of::Deletions, None, |_| true).unwrap());
    assert_eq!((deleted.kind, deleted.sent, deleted.accepted), (Kind::Delete, 500, 500));
    loader.release().unwrap();
    assert!(upf.upf.lock().unwrap().sessions.is_empty());
    // With each answer it came once more, and two that were none.
    let outcome = loader.outcome().clone();
    assert!(outcome.unexpected > 500 && outcome.asked_of_us > 0, "{outcome:?}");
    assert!(upf.stop() > 0);
}

#[test]
fn refusals_are_counted_by_cause_and_requests_without_an_answer_are_lost() {
    let upf = Running::start(Upf { refuses_one_of: 5, never_answers_one_of: 11, ..Upf::default() });
    let mut loader = loader(upf.address, 200, Settings { t1: Duration::from_millis(20), n1: 2, ..settings() });
    loader.associate().unwrap();
    let made = only(loader.run(Of::Sessions(200), None, |_| true).unwrap());
    let refused: u64 = made.refused.values().sum();
    assert_eq!((made.sent, made.accepted + refused + made.lost), (200, 200));
    assert!(refused > 0 && made.lost > 0 && made.refused.keys().all(|cause| cause.contains("75")), "{made:?}");
    assert_eq!(loader.sessions() as u64, made.accepted);
    // Sessions whose deletion is refused are asked for once.
    let deleted = only(loader.run(Of::Deletions, None, |_| true).unwrap());
    let refused: u64 = deleted.refused.values().sum();
    assert_eq!((deleted.sent, deleted.accepted + refused + deleted.lost), (made.accepted, made.accepted));
}

#[test]
fn a_mix_has_its_parts_and_keeps_to_the_rate() {
    let upf = Running::start(Upf::default());
    let settings = Settings { window: 4096, t1: Duration::from_secs(60), modification: Modification::Idle, ..settings() };
    let mut loader = loader(upf.address, 100, settings);
    loader.associate().unwrap();
    loader.run(Of::Sessions(50), None, |_| true).unwrap();
    let mix = "establish=1,modify=8,delete=1".parse().unwrap();
    let phase = loader.run(Of::Mix(mix, Duration::from_secs(1)), Some(2000.0), |_| true).unwrap();
    let sent: BTreeMap<Kind, u64> = phase.requests.iter().map(|requests| (requests.kind, requests.sent)).collect();
    let all: u64 = sent.values().sum();
    assert!((1..=2000).contains(&all), "no more than the rate: {sent:?}");
    // A busy machine sends fewer, of the same parts.
    assert!(all < 200 || (sent[&Kind::Modify] > all / 2 && sent[&Kind::Establish] > 0 && sent[&Kind::Delete] > 0), "{sent:?}");
    assert_eq!(phase.requests.iter().map(|requests| requests.accepted).sum::<u64>(), all);
    assert_eq!(upf.upf.lock().unwrap().sessions.len(), loader.sessions());
}

#[test]
fn it_stops_when_it_is_told_and_says_when_nobody_is_there() {
    let upf = Running::start(Upf::default());
    let mut of_upf = loader(upf.address, 10, settings());
    of_upf.associate().unwrap();
    of_upf.run(Of::Sessions(10), None, |_| true).unwrap();
    let mut calls = 0;
    let phase = of_upf.run(Of::Modifications(Duration::from_secs(3600)), None, |_| {
        calls += 1;
        calls < 4
    });
    assert_eq!(only(phase.unwrap()).lost, 0);
    assert_eq!(calls, 4);
    // Its port is closed: the kernel says so.
    let nobody = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = loader(nobody, 1, settings()).associate().unwrap_err().to_string();
    assert!(error.contains(&nobody.to_string()) && error.contains("refused"), "{error}");
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let error = loader(silent.local_addr().unwrap(), 1, Settings { t1: Duration::from_millis(10), n1: 2, ..settings() }).associate();
    assert_eq!(error.unwrap_err().to_string(), "AssociationSetupRequest was not answered, sent 2 times");
}
