//! The service in a second process: two rings in shared memory for each lane, and a socket by which each side knows that the other lives.
//!
//! **The packet stays with the pipeline.** What crosses is the request, the payload as far as the service reads it, and back the answer, with the payload if the
//! service changed it. So nothing that the second process does, and no kill, can lose or forge more of a packet than its payload: when it ends, all its
//! packets come out as lost, with their tags. It is a service of the same build that answers; what comes from it is checked as if it were not.
//!
//! Whoever connects says which service it is; the lane answers the first that does with the rings. One process serves all lanes, as state has one owner: while it lives,
//! others are turned away. When it ends, lanes see the closed socket within [`CHECK_NS`] of their time, and take the next that connects: its settings are
//! put in place again.

use crate::caller::Make;
use crate::owner::{End, Message, Owner, Taken};
use crate::setting::{Settings, VALUE_MAX};
use crate::{Access, Call, FIELDS_MAX, Interface, Kept, Outcome, Reason, Service, Setting, SettingError};
use base::{MAX_PACKET, Packet};
use shm::door::{self, Door, HELLO_LEN, Heard};
use shm::ring::ring_words;
use shm::{Consumer, Corrupt, Producer, Region, RegionError};
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zeroize::Zeroizing;

/// How often a lane looks whether the other process lives, or has come: 10 ms.
pub const CHECK_NS: u64 = 10_000_000;
/// How long whoever connects may take to say who it is, and how many may be about to at a time: of more, who came first is turned away.
const HELLO_NS: u64 = 1_000_000_000;
const GUESTS: usize = 16;
/// Most packets of a lane that are with the service.
const SLOTS_MAX: usize = 1 << 20;
/// How long a lane waits for an answer that is being worked on, before it looks again; and for one of a packet that is kept.
const SOON_NS: u64 = 50_000;
const LATER_NS: u64 = 1_000_000;

/// Kinds of records.
const REQUEST: u32 = 1;
const SET: u32 = 2;
const ANSWER: u32 = 3;
/// Notes of the ring of requests: the lane's time; whether the service sleeps and wants to be woken.
const NOW: usize = 0;
const SLEEPING: usize = 1;
/// Note of the ring of answers: packets that the service keeps.
const WAITING: usize = 0;
/// In the word behind a request's first, and an answer's: the payload follows the fields.
const GIVEN: u64 = 1 << 31;
const ANSWER_GIVEN: u64 = 1 << 15;

/// A service in another process, before there are lanes.
pub(crate) struct Process {
    interface: &'static Interface,
    meeting: Arc<Mutex<Meeting>>,
    settings: Arc<Settings>,
    ring: usize,
}

/// Where lanes meet the process.
struct Meeting {
    door: Door,
    /// The process that serves, while lanes are attached to it.
    process: i32,
    attached: usize,
}

impl Process {
    pub(crate) fn listen(interface: &'static Interface, path: &Path, settings: Arc<Settings>, ring: usize) -> std::io::Result<Process> {
        let meeting = Meeting { door: Door::listen(path)?, process: 0, attached: 0 };
        Ok(Process { interface, meeting: Arc::new(Mutex::new(meeting)), settings, ring })
    }

    pub(crate) fn client(&self) -> ProcessClient {
        ProcessClient {
            interface: self.interface,
            meeting: self.meeting.clone(),
            settings: self.settings.clone(),
            ring: self.ring,
            link: Link::Absent,
            guests: VecDeque::new(),
            slots: Vec::new(),
            free: Vec::new(),
            heads: Vec::new(),
            lost: Vec::new(),
            now_ns: 0,
            next_check_ns: 0,
        }
    }
}

/// A lane's end.
pub(crate) struct ProcessClient {
    interface: &'static Interface,
    meeting: Arc<Mutex<Meeting>>,
    settings: Arc<Settings>,
    ring: usize,
    link: Link,
    /// Who has connected and has not said yet who it is.
    guests: VecDeque<Guest>,
    /// Packets that are with the service, by the number under which it knows them.
    slots: Vec<Option<Kept>>,
    free: Vec<u32>,
    /// Of a look at the answers.
    heads: Vec<Head>,
    /// What was lost, to come out.
    lost: Vec<Call>,
    now_ns: u64,
    next_check_ns: u64,
}

enum Link {
    Absent,
    Attached(Box<Attached>),
}

struct Guest {
    stream: UnixStream,
    process: i32,
    hello: [u8; HELLO_LEN],
    heard: usize,
    until_ns: u64,
}

struct Attached {
    stream: UnixStream,
    to: Producer,
    from: Consumer,
    /// Changes for which the ring had no room. Calls wait behind them.
    settings: VecDeque<Setting>,
    outstanding: u64,
    /// There may be more answers than one look takes.
    more: bool,
}

impl Service for ProcessClient {
    fn interface(&self) -> &'static Interface {
        self.interface
    }

    fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        self.look(now_ns);
        let Link::Attached(attached) = &mut self.link else {
            return burst.iter_mut().for_each(|call| call.drop_for(Reason::DOWN));
        };
        let mut broken = attached.say_time(now_ns).is_err();
        // Free places lie anywhere: what putting a packet there waits for is waited for once.
        let free = &self.free[self.free.len().saturating_sub(burst.len())..];
        std::hint::black_box(free.iter().filter(|slot| self.slots[**slot as usize].is_some()).count());
        for call in burst {
            if broken {
                call.drop_for(Reason::LOST);
                continue;
            }
            if self.free.is_empty() && self.slots.len() == SLOTS_MAX || !attached.settings.is_empty() {
                call.drop_for(Reason::FULL);
                continue;
            }
            let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
            match send(&mut attached.to, self.interface, slot, call) {
                Ok(true) => {
                    attached.outstanding += 1;
                    let kept = Some(call.keep());
                    match self.slots.get_mut(slot as usize) {
                        Some(place) => *place = kept,
                        None => self.slots.push(kept),
                    }
                    continue;
                }
                Ok(false) => call.drop_for(Reason::FULL),
                Err(Corrupt) => {
                    broken = true;
                    call.drop_for(Reason::LOST);
                }
            }
            if (slot as usize) < self.slots.len() {
                self.free.push(slot);
            }
        }
        if broken {
            return self.detach("has damaged the shared memory");
        }
        attached.to.publish();
        attached.wake();
    }

    fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        self.look(now_ns);
        if let Link::Attached(attached) = &mut self.link {
            let (slots, free, heads) = (&mut self.slots, &mut self.free, &mut self.heads);
            let received = attached.say_time(now_ns).and_then(|()| receive(attached, self.interface, slots, free, heads, out));
            if received.is_err() {
                self.detach("has damaged the shared memory");
            }
        }
        out.append(&mut self.lost);
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        if !self.lost.is_empty() {
            return Some(0);
        }
        let Link::Attached(attached) = &self.link else { return Some(self.next_check_ns) };
        if attached.more {
            return Some(self.now_ns);
        }
        let delay = match attached.outstanding.saturating_sub(attached.from.note(WAITING).load(Relaxed)) {
            _ if attached.outstanding == 0 && attached.settings.is_empty() => return Some(self.next_check_ns),
            0 => LATER_NS,
            _ => SOON_NS,
        };
        Some(self.next_check_ns.min(self.now_ns + delay))
    }

    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        // Who comes later is given all that are in place.
        if let Link::Attached(attached) = &mut self.link {
            attached.settings.push_back(setting.clone());
            if attached.flush().is_err() {
                self.detach("has damaged the shared memory");
            }
        }
        Ok(())
    }
}

impl ProcessClient {
    /// Now and then: is the other process there, or somebody new?
    #[inline]
    fn look(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        if now_ns >= self.next_check_ns {
            self.next_check_ns = now_ns + CHECK_NS;
            self.check();
        }
    }

    #[cold]
    fn check(&mut self) {
        if let Link::Attached(attached) = &mut self.link {
            let mut ignored = [0; 64];
            if door::hear(&mut attached.stream, &mut ignored) == Heard::Closed {
                self.detach("has ended");
            }
            return;
        }
        // Who says nothing keeps nobody out who does.
        for _ in 0..GUESTS {
            let Some((stream, process)) = lock(&self.meeting).door.accept() else { break };
            let until_ns = self.now_ns.saturating_add(HELLO_NS);
            self.guests.push_back(Guest { stream, process, hello: [0; HELLO_LEN], heard: 0, until_ns });
        }
        let more = self.guests.len().saturating_sub(GUESTS);
        self.guests.drain(..more);
        for _ in 0..self.guests.len() {
            let Some(mut guest) = self.guests.pop_front() else { return };
            match door::hear(&mut guest.stream, &mut guest.hello[guest.heard..]) {
                Heard::Bytes(n) => guest.heard += n,
                Heard::Nothing if self.now_ns < guest.until_ns => {}
                Heard::Nothing | Heard::Closed => continue,
            }
            if guest.heard < HELLO_LEN {
                self.guests.push_back(guest);
            } else if self.greet(guest) {
                return self.guests.clear();
            }
        }
    }

    /// Answers one that has said who it is with the rings; whether it serves from now on.
    fn greet(&mut self, Guest { stream, process, hello, .. }: Guest) -> bool {
        let service = self.interface.name;
        if hello != hello_of(self.interface) {
            tracing::error!(service, process, "turned away: another service, or of another version; run the same build");
            return false;
        }
        {
            let mut meeting = lock(&self.meeting);
            if meeting.attached > 0 && meeting.process != process {
                tracing::warn!(service, process, "turned away: process {} serves", meeting.process);
                return false;
            }
            (meeting.process, meeting.attached) = (process, meeting.attached + 1);
        }
        match self.attach(stream) {
            Ok(()) => tracing::info!(service, process, "attached"),
            Err(error) => {
                tracing::error!(service, process, "not attached: {error}");
                self.leave();
            }
        }
        matches!(self.link, Link::Attached(_))
    }

    fn attach(&mut self, stream: UnixStream) -> Result<(), RegionError> {
        let region = Arc::new(Region::create(2 * ring_words(self.ring))?);
        door::send_region(&stream, &hello_of(self.interface), &region)?;
        let (to, from) = rings(region, self.ring, Producer::new, Consumer::new);
        let settings = self.settings.all().into();
        let mut attached = Box::new(Attached { stream, to, from, settings, outstanding: 0, more: false });
        // The ring is new: nothing in it can be damaged yet.
        let _ = attached.say_time(self.now_ns);
        self.link = Link::Attached(attached);
        Ok(())
    }

    /// Whoever was there is not any more.
    fn leave(&mut self) {
        self.link = Link::Absent;
        lock(&self.meeting).attached -= 1;
    }

    #[cold]
    fn detach(&mut self, why: &str) {
        let before = self.lost.len();
        self.lost.extend(self.slots.drain(..).flatten().map(Kept::into_call));
        self.lost[before..].iter_mut().for_each(|call| call.drop_for(Reason::LOST));
        self.free.clear();
        tracing::error!(service = self.interface.name, lost = self.lost.len() - before, "the service's process {why}: what it had is lost");
        self.leave();
    }
}

impl Drop for ProcessClient {
    fn drop(&mut self) {
        if !matches!(self.link, Link::Absent) {
            self.leave();
        }
    }
}

impl Attached {
    /// And sends changes that waited for room.
    fn say_time(&mut self, now_ns: u64) -> Result<(), Corrupt> {
        self.to.note(NOW).store(now_ns, Relaxed);
        if self.settings.is_empty() { Ok(()) } else { self.flush() }
    }

    #[cold]
    fn flush(&mut self) -> Result<(), Corrupt> {
        while let Some(setting) = self.settings.front() {
            let value = setting.value.as_ref().map(|value| value.as_slice());
            let bytes = value.unwrap_or_default();
            if !self.to.begin(1 + 2 + bytes.len().div_ceil(8), SET)? {
                break;
            }
            self.to.put(setting.version);
            self.to.put(u64::from(setting.index) << 32 | value.map_or(0, |value| value.len() as u64 + 1));
            self.to.put_bytes(bytes);
            self.settings.pop_front();
        }
        self.to.publish();
        self.wake();
        Ok(())
    }

    fn wake(&mut self) {
        std::sync::atomic::fence(SeqCst);
        if self.to.note(SLEEPING).load(Relaxed) != 0 {
            door::wake(&mut self.stream);
        }
    }
}

/// Writes a request. False: there is no room.
#[inline]
fn send(to: &mut Producer, interface: &Interface, slot: u32, call: &mut Call) -> Result<bool, Corrupt> {
    let access = (interface.access)(&call.fields);
    call.returns_payload = access == Access::Write;
    let payload = match access {
        Access::None => &[],
        Access::Read | Access::Write => call.payload(),
    };
    let (given, fields) = (payload.len(), interface.request_words());
    if !to.begin(2 + fields + given.div_ceil(8), REQUEST)? {
        return Ok(false);
    }
    to.put(u64::from(slot) << 32 | if given > 0 { GIVEN } else { 0 } | u64::from(call.payload_len));
    to.put_bytes(&call.fields[..8 * fields]);
    to.put_bytes(payload);
    Ok(true)
}

/// An answer without its payload.
struct Head {
    slot: u32,
    code: u8,
    detail: u8,
    payload_len: usize,
    given: usize,
    fields: [u8; FIELDS_MAX],
}

/// Answers that are read before the packets that they are about are looked at.
const HEADS: usize = 32;

/// Answers of one look, about: a process that writes on and on must not hold its lane.
const MOST: usize = 1 << 14;

/// Takes answers, each with so many words of fields. An error is the other process's fault: what it had is lost then.
fn receive(
    attached: &mut Attached,
    interface: &Interface,
    slots: &mut [Option<Kept>],
    free: &mut Vec<u32>,
    heads: &mut Vec<Head>,
    out: &mut Vec<Call>,
) -> Result<(), Corrupt> {
    let before = out.len();
    loop {
        heads.clear();
        let broken = read_heads(&mut attached.from, interface.answer_words(), heads).is_err();
        // Where packets lie is as random as the order of the answers: their cache misses overlap.
        // Both ends, which may be in two lines.
        let there = |head: &Head| slots.get(head.slot as usize).and_then(Option::as_ref).is_some_and(|kept| !kept.packet().is_void());
        std::hint::black_box(heads.iter().filter(|head| there(head)).count());
        let more = !heads.is_empty();
        for head in heads.drain(..) {
            attached.outstanding = attached.outstanding.saturating_sub(u64::from(head.code != COPIED));
            settle(&mut attached.from, head, interface.sends_own, slots, free, out)?;
        }
        if broken {
            return Err(Corrupt);
        }
        attached.more = more && out.len() - before >= MOST;
        if !more || attached.more {
            break;
        }
    }
    attached.from.release();
    Ok(())
}

/// Some answers; the last may have a payload, which is still to be taken.
fn read_heads(from: &mut Consumer, field_words: usize, heads: &mut Vec<Head>) -> Result<(), Corrupt> {
    while heads.len() < HEADS
        && let Some((kind, words)) = from.begin()?
    {
        let first = from.take();
        let (slot, code, detail) = ((first >> 32) as u32, first as u8, (first >> 8) as u8 & 0x7f);
        let payload_len = usize::from((first >> 16) as u16);
        let given = if first & ANSWER_GIVEN != 0 { payload_len } else { 0 };
        let mut fields = [0; FIELDS_MAX];
        from.take_bytes(&mut fields[..8 * field_words]);
        if kind != ANSWER || words != 1 + field_words + given.div_ceil(8) {
            return Err(Corrupt);
        }
        heads.push(Head { slot, code, detail, payload_len, given, fields });
        if given > 0 {
            break;
        }
    }
    Ok(())
}

/// Does what an answer says with the packet that it is about.
#[inline]
fn settle(
    from: &mut Consumer,
    head: Head,
    sends_own: bool,
    slots: &mut [Option<Kept>],
    free: &mut Vec<u32>,
    out: &mut Vec<Call>,
) -> Result<(), Corrupt> {
    let Head { slot, code, detail, payload_len, given, fields } = head;
    if slot == Call::OWN_TAG {
        if !sends_own || code != COPIED || given != payload_len || payload_len > Call::OWN_MAX {
            return Err(Corrupt);
        }
        let mut payload = vec![0; payload_len];
        from.take_bytes(&mut payload);
        out.push(Call::own(&payload, &fields, 0));
        return Ok(());
    }
    let place = slots.get_mut(slot as usize).ok_or(Corrupt)?;
    let kept = place.as_ref().ok_or(Corrupt)?;
    let changed = matches!(code, ANSWERED | COPIED) && kept.returns_payload();
    let expected = if changed { payload_len } else { 0 };
    if given != expected || kept.payload() + payload_len > MAX_PACKET {
        return Err(Corrupt);
    }
    let dropped = match code {
        COPIED => {
            let mut copy = kept.copy(&fields);
            if changed {
                // Its length was checked.
                let _ = copy.resize_payload(payload_len);
                from.take_bytes(copy.payload_mut());
            }
            out.push(copy);
            return Ok(());
        }
        ANSWERED => None,
        DROPPED => Some(Reason::from_code(detail).ok_or(Corrupt)?),
        _ => return Err(Corrupt),
    };
    let Some(kept) = place.take() else { return Err(Corrupt) };
    free.push(slot);
    let (fields, outcome) = match dropped {
        Some(reason) => ([0; FIELDS_MAX], Outcome::Dropped(reason)),
        None => (fields, Outcome::Answered),
    };
    out.push(kept.into_ended(fields, outcome));
    if changed && let Some(call) = out.last_mut() {
        // Its length was checked.
        let _ = call.resize_payload(payload_len);
        from.take_bytes(call.payload_mut());
    }
    Ok(())
}

/// Outcomes as numbers.
const ANSWERED: u8 = 1;
const DROPPED: u8 = 2;
const COPIED: u8 = 3;

/// The rings of a region: of requests, then of answers.
fn rings<A, B>(
    region: Arc<Region>,
    capacity: usize,
    requests: impl Fn(Arc<Region>, usize, usize) -> A,
    answers: impl Fn(Arc<Region>, usize, usize) -> B,
) -> (A, B) {
    (requests(region.clone(), 0, capacity), answers(region, ring_words(capacity), capacity))
}

/// By which both sides know that they mean the same service.
fn hello_of(interface: &Interface) -> [u8; HELLO_LEN] {
    let mut hello = [0; HELLO_LEN];
    hello[..20].copy_from_slice(b"splitplane service 2");
    let name = interface.name.as_bytes();
    hello[24..24 + name.len().min(24)].copy_from_slice(&name[..name.len().min(24)]);
    // FNV-1a over the fields' names and widths: a fault of ours is found by it, not an attack.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for field in interface.request.iter().chain(interface.answer) {
        for byte in field.name.bytes().chain(field.width.to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    hello[48..56].copy_from_slice(&hash.to_le_bytes());
    hello
}

fn lock(meeting: &Mutex<Meeting>) -> MutexGuard<'_, Meeting> {
    meeting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a process that serves ends.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The service has panicked.
    #[error("service {0}: panicked; start it again")]
    Panicked(&'static str),
    /// The system does not do its part.
    #[error("service: {0}")]
    System(#[from] std::io::Error),
}

/// How long a process that serves sleeps at most, and how long it waits before it connects again.
const NAP: Duration = Duration::from_millis(1);
const RETRY_ROUNDS: u32 = 100;
const SPINS: u32 = 256;

/// Serves the pipeline that listens at `path` until `stop` is set: in the second process. While nobody listens there it waits for it.
///
/// # Errors
/// If the service panics.
pub fn serve(path: &Path, make: &Make, stop: &AtomicBool) -> Result<(), ServeError> {
    let service = make();
    let interface = service.interface();
    interface.assert_sound();
    let mut server = Server { path: path.to_owned(), interface, owner: Owner::new(service), spare: None, wait: 0 };
    let (mut idle, mut rounds) = (0, 0u32);
    while !stop.load(Relaxed) {
        idle = if server.owner.round() > 0 { 0 } else { idle + 1 };
        if server.owner.is_down() {
            return Err(ServeError::Panicked(interface.name));
        }
        // A lane that comes is not in a hurry, and asking costs a system call.
        rounds = rounds.wrapping_add(1);
        if idle > SPINS || rounds.is_multiple_of(1 << 12) {
            server.meet();
        }
        if idle > SPINS {
            server.sleep();
        }
    }
    Ok(())
}

struct Server {
    path: PathBuf,
    interface: &'static Interface,
    owner: Owner<ProcessEnd>,
    /// A connection that the next lane may take.
    spare: Option<UnixStream>,
    /// Sleeps before the next attempt to connect.
    wait: u32,
}

impl Server {
    /// Sees to it that there is a connection for the next lane, and takes the rings if one has come.
    fn meet(&mut self) {
        self.wait = self.wait.saturating_sub(1);
        let Some(stream) = &self.spare else {
            if self.wait == 0 {
                self.spare = self.connect().ok();
                self.wait = RETRY_ROUNDS;
            }
            return;
        };
        match door::receive_region(stream) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.spare = None,
            Ok((hello, fd)) => {
                let Some(stream) = self.spare.take() else { return };
                self.wait = 0;
                match ProcessEnd::new(stream, self.interface, &hello, fd) {
                    Ok(end) => self.owner.add(end),
                    Err(error) => tracing::error!(service = self.interface.name, "not attached: {error}"),
                }
            }
        }
    }

    fn connect(&self) -> std::io::Result<UnixStream> {
        use std::io::Write;
        let mut stream = UnixStream::connect(&self.path)?;
        stream.write_all(&hello_of(self.interface))?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    }

    /// Until a lane has something, or a moment has passed.
    fn sleep(&mut self) {
        self.owner.ends_mut().for_each(|end| end.from.note(SLEEPING).store(1, Relaxed));
        std::sync::atomic::fence(SeqCst);
        // What came before a lane could see that we sleep.
        if self.owner.round() == 0 {
            let ends: Vec<&mut ProcessEnd> = self.owner.ends_mut().collect();
            let streams = ends.iter().map(|end| &end.stream).chain(&self.spare);
            door::wait(&streams.map(AsFd::as_fd).collect::<Vec<_>>(), NAP);
        }
        for end in self.owner.ends_mut() {
            end.from.note(SLEEPING).store(0, Relaxed);
            end.hear();
        }
    }
}

/// The second process's end of a lane's rings.
struct ProcessEnd {
    stream: UnixStream,
    to: Producer,
    from: Consumer,
    interface: &'static Interface,
    gone: bool,
}

impl ProcessEnd {
    fn new(stream: UnixStream, interface: &'static Interface, hello: &[u8; HELLO_LEN], fd: OwnedFd) -> Result<ProcessEnd, RegionError> {
        let region = Region::open(fd)?;
        let bytes = region.words().len() as u64 * 8;
        // Two rings of one size, a power of two.
        let capacity = (region.words().len() / 2).saturating_sub(ring_words(1) - 1);
        if *hello != hello_of(interface) || !capacity.is_power_of_two() || 2 * ring_words(capacity) != region.words().len() {
            return Err(RegionError::Size(bytes));
        }
        let (from, to) = rings(Arc::new(region), capacity, Consumer::new, Producer::new);
        Ok(ProcessEnd { stream, to, from, interface, gone: false })
    }

    /// Takes what woke us, and notices that the pipeline has ended.
    fn hear(&mut self) {
        let mut ignored = [0; 256];
        self.gone |= door::hear(&mut self.stream, &mut ignored) == Heard::Closed;
    }

    /// The next record, whatever it says.
    fn read(&mut self) -> Result<Option<Message>, Corrupt> {
        let Some((kind, words)) = self.from.begin()? else {
            self.from.release();
            return Ok(None);
        };
        match kind {
            REQUEST => self.read_request(words).map(|call| Some(Message::Call(call))),
            SET => self.read_setting(words).map(|setting| Some(Message::Set(setting))),
            _ => Err(Corrupt),
        }
    }

    #[inline]
    fn read_request(&mut self, words: usize) -> Result<Call, Corrupt> {
        let first = self.from.take();
        let payload_len = (first & (GIVEN - 1)) as usize;
        let given = if first & GIVEN != 0 { payload_len } else { 0 };
        let field_words = self.interface.request_words();
        if payload_len > MAX_PACKET || words != 1 + field_words + given.div_ceil(8) {
            return Err(Corrupt);
        }
        let mut fields = [0; FIELDS_MAX];
        self.from.take_bytes(&mut fields[..8 * field_words]);
        let mut packet = Packet::void();
        if given > 0 {
            packet = Packet::empty(given);
            let _ = packet.resize(given);
            self.from.take_bytes(packet.data_mut());
        }
        let mut call = Call::new(packet, 0, fields, (first >> 32) as u32);
        call.payload_len = payload_len as u32;
        call.returns_payload = (self.interface.access)(&call.fields) == Access::Write;
        Ok(call)
    }

    fn read_setting(&mut self, words: usize) -> Result<Setting, Corrupt> {
        let version = self.from.take();
        let second = self.from.take();
        let (index, len) = ((second >> 32) as u32, (second & 0xffff_ffff) as usize);
        let bytes = len.saturating_sub(1);
        if bytes > VALUE_MAX || words != 2 + bytes.div_ceil(8) {
            return Err(Corrupt);
        }
        let mut value = Zeroizing::new(vec![0; bytes]);
        self.from.take_bytes(&mut value);
        // It may be a key.
        self.from.wipe(words);
        Ok(Setting { version, index, value: (len > 0).then(|| Arc::new(value)) })
    }

    fn write(&mut self, call: &Call) -> Result<bool, Corrupt> {
        let (code, detail) = match call.outcome {
            Outcome::Answered => (ANSWERED, 0),
            Outcome::Copy => (COPIED, 0),
            Outcome::Dropped(reason) => (DROPPED, reason.code()),
            Outcome::Pending | Outcome::Kept => (DROPPED, Reason::UNANSWERED.code()),
        };
        let payload = if matches!(code, ANSWERED | COPIED) && call.returns_payload { call.payload() } else { &[] };
        let (given, fields) = (payload.len(), self.interface.answer_words());
        if !self.to.begin(2 + fields + given.div_ceil(8), ANSWER)? {
            return Ok(false);
        }
        // No packet is longer than 16 bits say, and a reason has 6.
        let len = if given > 0 { given as u64 } else { u64::from(call.payload_len) } & 0xffff;
        let flag = if given > 0 { ANSWER_GIVEN } else { 0 };
        self.to.put(u64::from(call.tag) << 32 | len << 16 | flag | u64::from(detail) << 8 | u64::from(code));
        self.to.put_bytes(&call.fields[..8 * fields]);
        self.to.put_bytes(payload);
        Ok(true)
    }
}

impl End for ProcessEnd {
    fn take(&mut self) -> Taken {
        if self.gone {
            return Taken::Gone;
        }
        match self.read() {
            Ok(Some(message)) => Taken::Message(message),
            Ok(None) => Taken::Nothing,
            Err(Corrupt) => {
                self.gone = true;
                Taken::Gone
            }
        }
    }

    fn give(&mut self, call: Call) -> Result<(), Call> {
        match self.write(&call) {
            Ok(false) => Err(call),
            Ok(true) => Ok(()),
            Err(Corrupt) => {
                self.gone = true;
                Ok(())
            }
        }
    }

    fn publish(&mut self, waiting: u64) {
        self.to.note(WAITING).store(waiting, Relaxed);
        self.to.publish();
        self.from.release();
    }

    fn now_ns(&self) -> u64 {
        self.from.note(NOW).load(Relaxed)
    }
}

/// What do both sides do with memory in which the other has written anything? For the fuzz target: panics if a promise is broken.
///
/// `requests` and `answers` lie in the rings, from their first word on. Returns how many messages the second process took, and how many packets came back.
#[doc(hidden)]
pub fn read_hostile(interface: &'static Interface, requests: &[u8], answers: &[u8]) -> (usize, usize) {
    const CAPACITY: usize = 1 << 9;
    const OUT: usize = 8;
    let fill = |region: &Region, at: usize, bytes: &[u8]| {
        for (word, chunk) in region.words()[at..at + ring_words(CAPACITY)].iter().zip(bytes.chunks(8)) {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            word.store(u64::from_le_bytes(bytes), Relaxed);
        }
    };
    let stream = || UnixStream::pair().expect("a pair of sockets").0;
    let region = Arc::new(Region::create(2 * ring_words(CAPACITY)).expect("a region"));
    let fd = region.fd().try_clone_to_owned().expect("a descriptor");

    // The second process, of what the pipeline writes.
    let mut end = ProcessEnd::new(stream(), interface, &hello_of(interface), fd).expect("a region of ours");
    fill(&region, 0, requests);
    let mut taken = 0;
    while let Taken::Message(message) = end.take() {
        taken += 1;
        assert!(taken <= CAPACITY, "a record has a word at least");
        if let Message::Call(mut call) = message {
            assert!(call.payload_len as usize <= MAX_PACKET && call.payload().len() <= MAX_PACKET);
            call.answer(&[1]);
            let _ = end.give(call);
        }
    }
    end.publish(0);

    // The pipeline, of what the second process writes.
    let region = Arc::new(Region::create(2 * ring_words(CAPACITY)).expect("a region"));
    let (to, from) = rings(region.clone(), CAPACITY, Producer::new, Consumer::new);
    let mut attached = Attached { stream: stream(), to, from, settings: VecDeque::new(), outstanding: OUT as u64, more: false };
    let call = |i: usize| Call::new(Packet::new(&[i as u8; 40], base::PortId(1)), 8, [i as u8 % 3; FIELDS_MAX], i as u32);
    let mut slots: Vec<Option<Kept>> = Vec::new();
    for (slot, mut call) in (0..OUT).map(call).enumerate() {
        assert_eq!(send(&mut attached.to, interface, slot as u32, &mut call), Ok(true));
        slots.push(Some(call.keep()));
    }
    attached.to.publish();
    fill(&region, ring_words(CAPACITY), answers);
    let (mut out, mut free, mut heads) = (Vec::new(), Vec::new(), Vec::new());
    let broken = receive(&mut attached, interface, &mut slots, &mut free, &mut heads, &mut out).is_err();
    let mut seen = [false; OUT];
    let (own, out): (Vec<Call>, Vec<Call>) = out.into_iter().partition(|call| call.tag == Call::OWN_TAG);
    assert!(own.iter().all(|call| call.outcome == Outcome::Copy && call.packet.len() <= MAX_PACKET), "they are in place of nobody's");
    for call in &out {
        assert_eq!(call.packet.data()[..8], [call.tag as u8; 8], "what is before the payload is the pipeline's");
        assert!(call.packet.len() <= MAX_PACKET);
        let again = call.outcome != Outcome::Copy && std::mem::replace(&mut seen[call.tag as usize], true);
        assert!(!again, "each comes out once");
    }
    let returned = seen.iter().filter(|seen| **seen).count();
    assert_eq!(returned + slots.iter().flatten().count(), OUT, "none is gone, broken: {broken}");
    assert_eq!(free.len(), returned);
    (taken, returned)
}
