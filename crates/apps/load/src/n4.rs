//! Load for a UPF's N4: session requests of an SMF, as fast as they are answered or at a rate, counted and timed.
//!
//! One thread, one socket: [`Loader`] sends what is due while fewer requests than its window are in flight, matches answers by sequence number, sends a
//! request again after T1, N1 times in all (TS 29.244 §6.4), and answers what the UPF asks.
//!
//! | file | question |
//! |---|---|
//! | [`plan`] | which sessions, and what is asked of the UPF? |
//! | [`template`] | how is a request made at full rate? |
//! | `socket` | how are many sent and received at once? |
//! | [`outcome`] | what came of it? |

pub mod outcome;
pub mod plan;
mod socket;
pub mod template;

use crate::Error;
use crate::tester::{Clock, clock};
use outcome::{Outcome, Phase, Tally};
pub use pfcp::codec::PORT;
use pfcp::codec::{self, Cause, Ie, Message, MessageType, find};
use pfcp::config::ntp_seconds;
use plan::{Ends, Kind, Mix, Modification, Plan, Templates, cp_seid, node_id};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use socket::{BURST, Socket};
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use traffic::smf::cause_name;

/// Sequence numbers have 24 bits.
const SEQUENCES: u32 = 0xff_ffff;
/// A request that is sent so long after it was due was late.
const LATE_NS: u64 = 1_000_000;
/// What waits to be sent at most, and buffers that are kept for it.
const WAITING: usize = 8 * BURST;
/// Entries of [`Loader::resends`] for each request in flight before those that were answered are taken out.
const STALE: usize = 4;
/// The longest sleep without a datagram: whether we are to stop is asked again then.
const NAP: Duration = Duration::from_millis(50);

/// How requests are sent.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Requests in flight, at most.
    pub window: usize,
    /// Time until a request is sent again (T1).
    pub t1: Duration,
    /// How often a request is sent in all (N1).
    pub n1: u32,
    /// What a modification does.
    pub modification: Modification,
    /// Which sessions are asked for, and which kind is next.
    pub seed: u64,
}

impl Settings {
    /// Whether they can be followed.
    ///
    /// # Errors
    /// [`Error::Usage`] names the option.
    pub fn validate(&self) -> Result<(), Error> {
        let wrong = |text: &str| Err(Error::Usage(text.to_owned()));
        match self {
            Settings { window, .. } if !(1..=1 << 20).contains(window) => wrong("--window: from 1 to 1048576 requests"),
            Settings { t1, .. } if t1.is_zero() || *t1 > Duration::from_secs(600) => wrong("--t1-ms: from 1 to 600000"),
            Settings { n1, .. } if !(1..=100).contains(n1) => wrong("--n1: from 1 to 100"),
            _ => Ok(()),
        }
    }
}

/// What a phase asks for.
#[derive(Clone, Copy, Debug)]
pub enum Of {
    /// Sessions, until there are so many.
    Sessions(u32),
    /// Modifications of sessions that are there, for a time.
    Modifications(Duration),
    /// Kinds by their parts, for a time. Where a kind is impossible, as no session is there or there are as many as may be, another one is asked for.
    Mix(Mix, Duration),
    /// Deletions, until no session is there.
    Deletions,
}

/// How far a phase is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Requests that were answered or given up.
    pub done: u64,
    /// Sessions that are there.
    pub sessions: u64,
}

/// An SMF that only asks.
pub struct Loader {
    socket: Socket,
    settings: Settings,
    plan: Plan,
    templates: Templates,
    sessions: Vec<Session>,
    /// Numbers of sessions that are not there, and those that are and have no request in flight.
    free: Vec<u32>,
    idle: Vec<u32>,
    /// By sequence number.
    in_flight: HashMap<u32, Request>,
    /// When a request is sent again, and how often it had been sent: in the order of time. Those that were answered meanwhile count no more.
    resends: VecDeque<(u64, u32, u32)>,
    /// The request of the association, and its answer.
    asked: Option<(u32, MessageType)>,
    answer: Option<Message>,
    /// What is to be sent. The first `sent` are.
    out: Vec<Vec<u8>>,
    sent: usize,
    /// Buffers of what was sent.
    spare: Vec<Vec<u8>>,
    sequence: u32,
    random: ChaCha8Rng,
    clock: Clock,
    started_at_ntp_s: u32,
    tallies: Tallies,
    outcome: Outcome,
}

/// Of a session that is there.
#[derive(Clone, Copy, Default)]
struct Session {
    /// The UPF's.
    seid: u64,
    /// How often it was modified.
    turn: u32,
}

struct Request {
    kind: Kind,
    session: u32,
    due_ns: u64,
    sends: u32,
}

/// What is counted while a phase runs.
struct Tallies {
    of: [Tally; 3],
    late: u64,
    done: u64,
    /// When the last answer came.
    last_ns: u64,
}

impl Tallies {
    fn new() -> Result<Tallies, Error> {
        Ok(Tallies { of: [Tally::new()?, Tally::new()?, Tally::new()?], late: 0, done: 0, last_ns: 0 })
    }
}

impl Loader {
    /// For `most` sessions, at one time. The plan's node becomes our address, if it is unspecified.
    ///
    /// # Errors
    /// [`Error::Usage`] if the addresses, or the numbers of the plan, cannot be used.
    pub fn new(ends: Ends, mut plan: Plan, most: u32, settings: Settings) -> Result<Loader, Error> {
        settings.validate()?;
        plan.validate(most)?;
        let socket = Socket::open(ends.local, ends.upf)?;
        if plan.node.is_unspecified() {
            plan.node = socket.address()?;
        }
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Loader {
            socket,
            settings,
            templates: plan.templates(settings.modification)?,
            plan,
            sessions: vec![Session::default(); most as usize],
            free: (0..most).rev().collect(),
            idle: Vec::new(),
            in_flight: HashMap::new(),
            resends: VecDeque::new(),
            asked: None,
            answer: None,
            out: Vec::new(),
            sent: 0,
            spare: Vec::new(),
            // Not where another run has begun: a UPF keeps its answers for a while.
            sequence: since_1970.subsec_nanos() & SEQUENCES,
            random: ChaCha8Rng::seed_from_u64(settings.seed),
            clock: clock(),
            started_at_ntp_s: ntp_seconds(since_1970),
            tallies: Tallies::new()?,
            outcome: Outcome::default(),
        })
    }

    /// Sets the association up (TS 29.244 §6.2.6).
    ///
    /// # Errors
    /// [`Error::Failed`] if the UPF does not answer, or refuses.
    pub fn associate(&mut self) -> Result<(), Error> {
        let stamp = Ie::RecoveryTimeStamp(self.started_at_ntp_s);
        let ies = vec![Ie::NodeId(node_id(self.plan.node)), stamp, Ie::CpFunctionFeatures(vec![0])];
        self.ask(Message::node(MessageType::AssociationSetupRequest, 0, ies), MessageType::AssociationSetupResponse)
    }

    /// Releases the association (§6.2.8): the UPF ends the sessions that are left.
    ///
    /// # Errors
    /// As [`Loader::associate`].
    pub fn release(&mut self) -> Result<(), Error> {
        let ies = vec![Ie::NodeId(node_id(self.plan.node))];
        self.ask(Message::node(MessageType::AssociationReleaseRequest, 0, ies), MessageType::AssociationReleaseResponse)
    }

    /// What came of all that was run.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Sessions that are there and have no request in flight.
    pub fn sessions(&self) -> usize {
        self.idle.len()
    }

    /// Sends the requests of a phase and waits for their answers. `rate`: requests a second, or as many as the window lets go. `goes_on` is called some times
    /// a second: whether it goes on. What came of it is also in [`Loader::outcome`].
    ///
    /// # Errors
    /// [`Error::Usage`] if the rate is not from 0.001 to 1,000,000,000.
    /// [`Error::Failed`] if the socket fails, as when nothing listens at the UPF's address.
    pub fn run(&mut self, of: Of, rate: Option<f64>, mut goes_on: impl FnMut(Progress) -> bool) -> Result<Phase, Error> {
        if rate.is_some_and(|rate| !(1e-3..=1e9).contains(&rate)) {
            return Err(Error::Usage("--rate: from 0.001 to 1000000000 requests a second".into()));
        }
        self.tallies = Tallies::new()?;
        let began = (self.clock)();
        let for_a_time = |time: Duration| began.saturating_add(time.as_nanos() as u64);
        let (mut left, mut end) = match of {
            Of::Sessions(number) => (u64::from(number).saturating_sub(self.idle.len() as u64), u64::MAX),
            Of::Modifications(time) | Of::Mix(_, time) => (u64::MAX, for_a_time(time)),
            Of::Deletions => (self.idle.len() as u64, u64::MAX),
        };
        let interval = rate.map(|rate| 1e9 / rate);
        let (mut begun, mut look) = (0_u64, began);
        loop {
            let now = (self.clock)();
            if now >= look {
                look = now + NAP.as_nanos() as u64;
                if !goes_on(Progress { done: self.tallies.done, sessions: self.idle.len() as u64 }) {
                    end = 0;
                }
            }
            let received = self.receive()?;
            self.send_again((self.clock)());
            let now = (self.clock)();
            // When the next one is due.
            let due = |begun: u64| interval.map_or(now, |interval| began + (begun as f64 * interval) as u64);
            let mut possible = now < end && left > 0;
            while possible && due(begun) <= now && self.in_flight.len() < self.settings.window && self.out.len() < BURST {
                let Some((kind, session)) = self.draw(&of) else {
                    possible = false;
                    break;
                };
                let due = due(begun);
                self.tallies.late += u64::from(now - due > LATE_NS);
                self.request(kind, session, due, now);
                (left, begun) = (left - 1, begun + 1);
                possible = left > 0;
            }
            let out = self.out.len();
            self.flush()?;
            if !possible && self.in_flight.is_empty() && self.out.is_empty() {
                break;
            }
            if received == 0 && (self.out.len() == out || out == 0) {
                let next = if possible && self.in_flight.len() < self.settings.window { due(begun).min(end) } else { u64::MAX };
                let next = self.resends.front().map_or(next, |(at, ..)| next.min(*at)).min(look);
                self.socket.wait(!self.out.is_empty(), Duration::from_nanos(next.saturating_sub((self.clock)())));
            }
        }
        let seconds = self.tallies.last_ns.max(began).abs_diff(began) as f64 / 1e9;
        let of_kind = |kind: Kind| Some(self.tallies.of[kind as usize].outcome(kind, seconds)).filter(|requests| requests.sent > 0);
        let requests = Kind::ALL.into_iter().filter_map(of_kind).collect();
        let phase = Phase { seconds, asked_per_s: rate, late: self.tallies.late, requests };
        self.outcome.phases.push(phase.clone());
        Ok(phase)
    }

    /// What is asked for next; the session is in flight from now on.
    fn draw(&mut self, of: &Of) -> Option<(Kind, u32)> {
        let kinds = match of {
            Of::Sessions(_) => [Some(Kind::Establish), None],
            Of::Modifications(_) => [Some(Kind::Modify), None],
            Of::Deletions => [Some(Kind::Delete), None],
            Of::Mix(mix, _) => {
                let kind = mix.kind(self.random.random());
                let other = if kind == Kind::Establish { Kind::Delete } else { Kind::Establish };
                [Some(kind), Some(other)]
            }
        };
        kinds.into_iter().flatten().find_map(|kind| match kind {
            Kind::Establish => Some((kind, self.free.pop()?)),
            Kind::Modify | Kind::Delete if self.idle.is_empty() => None,
            Kind::Modify | Kind::Delete => {
                let at = self.random.random_range(0..self.idle.len());
                Some((kind, self.idle.swap_remove(at)))
            }
        })
    }

    fn request(&mut self, kind: Kind, session: u32, due_ns: u64, now: u64) {
        let sequence = self.next_sequence();
        let request = Request { kind, session, due_ns, sends: 0 };
        self.tallies.of[kind as usize].sent += 1;
        self.in_flight.insert(sequence, request);
        self.put(sequence, now);
    }

    /// A request of a session, which is in flight, once more.
    fn put(&mut self, sequence: u32, now: u64) {
        let Some(request) = self.in_flight.get_mut(&sequence) else { return };
        request.sends += 1;
        let Session { seid, turn } = self.sessions[request.session as usize];
        let template = match request.kind {
            Kind::Establish => &self.templates.establish,
            Kind::Modify => &self.templates.modify[turn as usize % 2],
            Kind::Delete => &self.templates.delete,
        };
        // Where a handover leads to.
        let subject = self.plan.subject(request.session, self.sessions.len() as u32, turn + u32::from(request.kind == Kind::Modify));
        let mut octets = self.spare.pop().unwrap_or_default();
        template.write(&subject, seid, sequence, &mut octets);
        self.out.push(octets);
        self.resends.push_back((now.saturating_add(self.settings.t1.as_nanos() as u64), sequence, request.sends));
        if self.resends.len() > STALE * self.in_flight.len().max(BURST) {
            self.resends.retain(|(_, sequence, sends)| self.in_flight.get(sequence).is_some_and(|request| request.sends == *sends));
        }
    }

    /// Sends again what has no answer after T1, or gives it up.
    fn send_again(&mut self, now: u64) {
        while let Some(&(at, sequence, sends)) = self.resends.front() {
            let waits = self.in_flight.get(&sequence).is_some_and(|request| request.sends == sends);
            // Room for new ones, too.
            if waits && (at > now || self.out.len() >= BURST) {
                return;
            }
            self.resends.pop_front();
            if !waits {
                continue;
            }
            if sends < self.settings.n1 {
                let kind = self.in_flight.get(&sequence).map(|request| request.kind);
                kind.into_iter().for_each(|kind| self.tallies.of[kind as usize].sent_again += 1);
                self.put(sequence, now);
            } else if let Some(request) = self.in_flight.remove(&sequence) {
                // Whether its session is there is not known: nobody asks for it again.
                self.tallies.of[request.kind as usize].lost += 1;
                self.tallies.done += 1;
            }
        }
    }

    /// Sends what is to be sent, as far as there is room.
    fn flush(&mut self) -> Result<(), Error> {
        while self.sent < self.out.len() {
            match self.socket.send(&self.out[self.sent..])? {
                0 => break,
                sent => self.sent += sent,
            }
        }
        self.spare.extend(self.out.drain(..self.sent));
        self.spare.truncate(WAITING);
        self.sent = 0;
        Ok(())
    }

    /// Deals with all that has come; how much.
    fn receive(&mut self) -> Result<usize, Error> {
        let mut all = 0;
        loop {
            let received = self.socket.receive()?;
            let now = (self.clock)();
            for n in 0..received {
                match codec::decode(self.socket.received(n)) {
                    Ok(message) if message.kind.response().is_some() => self.asked_by_upf(&message),
                    Ok(message) => self.answered(message, now),
                    Err(_) => self.outcome.unexpected += 1,
                }
            }
            all += received;
            // Another burst may be there, but what is due has its turn.
            if received < BURST || all >= 4 * BURST {
                return Ok(all);
            }
        }
    }

    fn answered(&mut self, message: Message, now: u64) {
        if self.asked == Some((message.sequence, message.kind)) {
            (self.asked, self.answer) = (None, Some(message));
            return;
        }
        let is_ours = |request: &&Request| {
            // A refusal may be of a session that the UPF does not know.
            let to = message.cause() != Some(Cause::REQUEST_ACCEPTED) || message.seid == Some(cp_seid(request.session));
            request.kind.answer() == message.kind && to
        };
        let of = self.in_flight.get(&message.sequence).filter(is_ours);
        let Some(&Request { kind, session, due_ns, .. }) = of else {
            self.outcome.unexpected += 1;
            return;
        };
        self.in_flight.remove(&message.sequence);
        let f_seid = find!(message.ies, FSeid).map(|f_seid| f_seid.seid);
        // Without a SEID a session that was accepted is of no use.
        let usable = kind != Kind::Establish || f_seid.is_some();
        let cause = message.cause().filter(|cause| *cause != Cause::REQUEST_ACCEPTED || usable).unwrap_or(Cause(0));
        self.tallies.of[kind as usize].answered(cause, now.saturating_sub(due_ns));
        (self.tallies.done, self.tallies.last_ns) = (self.tallies.done + 1, now);
        let of_session = &mut self.sessions[session as usize];
        let is_there = match (kind, cause) {
            (Kind::Establish, Cause::REQUEST_ACCEPTED) => {
                *of_session = Session { seid: f_seid.unwrap_or_default(), turn: 0 };
                true
            }
            (Kind::Modify, Cause::REQUEST_ACCEPTED) => {
                of_session.turn = of_session.turn.wrapping_add(1);
                true
            }
            (Kind::Delete, Cause::REQUEST_ACCEPTED) | (Kind::Establish, _) | (_, Cause::SESSION_CONTEXT_NOT_FOUND) => false,
            (Kind::Modify | Kind::Delete, _) => true,
        };
        if is_there { &mut self.idle } else { &mut self.free }.push(session);
    }

    /// Heartbeats and reports are answered, so that the UPF does not send them again, or takes us for dead.
    fn asked_by_upf(&mut self, request: &Message) {
        let accepted = || Ie::Cause(Cause::REQUEST_ACCEPTED);
        let ies = match request.kind {
            MessageType::HeartbeatRequest => vec![Ie::RecoveryTimeStamp(self.started_at_ntp_s)],
            MessageType::SessionReportRequest => vec![accepted()],
            MessageType::AssociationUpdateRequest | MessageType::NodeReportRequest => vec![Ie::NodeId(node_id(self.plan.node)), accepted()],
            _ => {
                self.outcome.unexpected += 1;
                return;
            }
        };
        let Some(kind) = request.kind.response() else { return };
        let of = request.seid.and_then(|seid| usize::try_from(seid.checked_sub(1)?).ok());
        let seid = of.and_then(|n| self.sessions.get(n)).map_or(0, |session| session.seid);
        let answer = Message {
            priority: request.priority,
            ..match request.seid {
                Some(_) => Message::session(kind, seid, request.sequence, ies),
                None => Message::node(kind, request.sequence, ies),
            }
        };
        // Who asks faster than answers go asks again.
        if let Ok(octets) = answer.encode()
            && self.out.len() < WAITING
        {
            self.out.push(octets);
            self.outcome.asked_of_us += 1;
        }
    }

    /// A request of the association, and its answer.
    fn ask(&mut self, mut request: Message, answer: MessageType) -> Result<(), Error> {
        request.sequence = self.next_sequence();
        let octets = request.encode().map_err(|e| Error::Usage(e.to_string()))?;
        (self.asked, self.answer) = (Some((request.sequence, answer)), None);
        for _ in 0..self.settings.n1 {
            self.out.push(octets.clone());
            let until = (self.clock)().saturating_add(self.settings.t1.as_nanos() as u64);
            while self.answer.is_none() && (self.clock)() < until {
                self.flush()?;
                self.socket.wait(!self.out.is_empty(), Duration::from_nanos(until.saturating_sub((self.clock)())));
                self.receive()?;
            }
            if let Some(answer) = self.answer.take() {
                return match answer.cause() {
                    Some(Cause::REQUEST_ACCEPTED) => Ok(()),
                    cause => Err(Error::Failed(format!("{:?} was refused: {}", request.kind, cause_name(cause.unwrap_or(Cause(0)))))),
                };
            }
        }
        self.asked = None;
        Err(Error::Failed(format!("{:?} was not answered, sent {} times", request.kind, self.settings.n1)))
    }

    /// One that no request in flight has.
    fn next_sequence(&mut self) -> u32 {
        loop {
            self.sequence = (self.sequence + 1) & SEQUENCES;
            if !self.in_flight.contains_key(&self.sequence) {
                return self.sequence;
            }
        }
    }
}
