//! The service on threads of its own: a pair of rings for each lane and thread. A request's key chooses its thread, so that what belongs to one key has one
//! owner and stays in order.

use crate::caller::Make;
use crate::owner::{End, Message, Owner, Taken};
use crate::{Call, Interface, Outcome, Reason, Service, Setting, SettingError};
use crossbeam_channel::{Receiver, Sender, TryRecvError, unbounded};
use crossbeam_utils::CachePadded;
use rtrb::{Consumer, Producer, RingBuffer};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, fence};
use std::thread::Thread;
use std::time::Duration;

/// Rounds without work before a thread sleeps, and how long it sleeps at most: a lane wakes it.
const SPINS: u32 = 256;
const NAP: Duration = Duration::from_millis(1);
/// How long a lane waits for an answer that a thread is working on, before it looks again; and for one of a packet that is kept.
const SOON_NS: u64 = 50_000;
const LATER_NS: u64 = 1_000_000;

/// The threads of one service.
pub(crate) struct Threads {
    interface: &'static Interface,
    ring: usize,
    threads: Vec<Handle>,
}

struct Handle {
    lanes: Sender<ThreadEnd>,
    wake: Arc<Wake>,
}

/// How a lane wakes a thread.
struct Wake {
    sleeping: CachePadded<AtomicBool>,
    thread: Thread,
}

/// What a lane and a thread tell each other beside the rings.
#[derive(Default)]
struct Shared {
    /// The lane's time.
    now_ns: CachePadded<AtomicU64>,
    /// Packets of the lane that the service keeps.
    waiting: CachePadded<AtomicU64>,
}

impl Threads {
    /// `count` threads, each with an instance of its own; rings for `ring` calls.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub(crate) fn start(make: &Make, count: usize, ring: usize) -> std::io::Result<Threads> {
        let interface = make().interface();
        let start = |index: usize| {
            let (lanes, added) = unbounded();
            let service = make();
            let (ready, wake) = crossbeam_channel::bounded(1);
            std::thread::Builder::new().name(format!("{}-{index}", interface.name)).spawn(move || {
                let wake = Arc::new(Wake { sleeping: CachePadded::default(), thread: std::thread::current() });
                if ready.send(wake.clone()).is_ok() {
                    run(service, &added, &wake);
                }
            })?;
            let wake = wake.recv().map_err(|_| std::io::Error::other("the service's thread ended at once"))?;
            Ok(Handle { lanes, wake })
        };
        Ok(Threads { interface, ring, threads: (0..count).map(start).collect::<std::io::Result<_>>()? })
    }

    /// A lane's ends.
    pub(crate) fn client(&self) -> ThreadsClient {
        let shards = self.threads.iter().map(|thread| {
            let (to, requests) = RingBuffer::new(self.ring);
            let (answers, from) = RingBuffer::new(self.ring);
            let shared = Arc::new(Shared::default());
            // A thread ends when nobody can call it any more, and not before.
            let _ = thread.lanes.send(ThreadEnd { requests, answers, shared: shared.clone() });
            thread.wake.thread.unpark();
            Shard { to, from, shared, wake: thread.wake.clone(), outstanding: 0, settings: VecDeque::new() }
        });
        ThreadsClient { interface: self.interface, shards: shards.collect(), now_ns: 0 }
    }
}

/// A thread's loop, until there is neither a lane nor one that may make lanes.
fn run(service: Box<dyn Service>, added: &Receiver<ThreadEnd>, wake: &Wake) {
    let mut owner = Owner::new(service);
    let mut idle = 0;
    loop {
        match added.try_recv() {
            Ok(end) => owner.add(end),
            Err(TryRecvError::Disconnected) if owner.is_empty() => return,
            Err(_) => {}
        }
        idle = if owner.round() > 0 { 0 } else { idle + 1 };
        if idle > SPINS {
            // A lane looks at this after it has put calls into the ring; the fences see to it that one of us sees the other.
            wake.sleeping.store(true, Relaxed);
            fence(SeqCst);
            if owner.ends_mut().all(|end| end.requests.is_empty()) {
                std::thread::park_timeout(NAP);
            }
            wake.sleeping.store(false, Relaxed);
        }
    }
}

/// A thread's end.
struct ThreadEnd {
    requests: Consumer<Message>,
    answers: Producer<Call>,
    shared: Arc<Shared>,
}

impl End for ThreadEnd {
    fn take(&mut self) -> Taken {
        // Before the last look: what was put in before the lane went is taken.
        let gone = self.requests.is_abandoned();
        match self.requests.pop() {
            Ok(message) => Taken::Message(message),
            Err(_) if gone => Taken::Gone,
            Err(_) => Taken::Nothing,
        }
    }

    fn give(&mut self, call: Call) -> Result<(), Call> {
        self.answers.push(call).map_err(|rtrb::PushError::Full(call)| call)
    }

    fn publish(&mut self, waiting: u64) {
        self.shared.waiting.store(waiting, Relaxed);
    }

    fn now_ns(&self) -> u64 {
        self.shared.now_ns.load(Relaxed)
    }
}

/// A lane's end of all threads.
pub(crate) struct ThreadsClient {
    interface: &'static Interface,
    shards: Vec<Shard>,
    now_ns: u64,
}

/// A lane's end of one thread.
struct Shard {
    to: Producer<Message>,
    from: Consumer<Call>,
    shared: Arc<Shared>,
    wake: Arc<Wake>,
    /// Packets that went there and have not come back.
    outstanding: u64,
    /// Changes for which the ring had no room. Calls wait behind them.
    settings: VecDeque<Setting>,
}

impl Shard {
    /// Sends what waits; whether the ring is free for calls.
    fn flush(&mut self) -> bool {
        while let Some(setting) = self.settings.pop_front() {
            if let Err(rtrb::PushError::Full(Message::Set(setting))) = self.to.push(Message::Set(setting)) {
                self.settings.push_front(setting);
                return false;
            }
        }
        true
    }

    fn say_time(&self, now_ns: u64) {
        self.shared.now_ns.store(now_ns, Relaxed);
    }

    fn wake(&self) {
        fence(SeqCst);
        if self.wake.sleeping.load(Relaxed) {
            self.wake.thread.unpark();
        }
    }
}

impl Service for ThreadsClient {
    fn interface(&self) -> &'static Interface {
        self.interface
    }

    fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        self.now_ns = now_ns;
        for shard in &mut self.shards {
            shard.say_time(now_ns);
            shard.flush();
        }
        let shards = self.shards.len();
        for call in burst {
            let at = if shards == 1 { 0 } else { shard_of(self.interface.steering_key(&call.fields), shards) };
            let shard = &mut self.shards[at];
            if !shard.settings.is_empty() || shard.to.is_full() {
                call.drop_for(Reason::FULL);
                continue;
            }
            let taken = call.take();
            match shard.to.push(Message::Call(taken)) {
                Ok(()) => shard.outstanding += 1,
                Err(_) => call.drop_for(Reason::LOST),
            }
        }
        self.shards.iter().for_each(Shard::wake);
    }

    fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        self.now_ns = now_ns;
        for shard in &mut self.shards {
            shard.say_time(now_ns);
            shard.flush();
            // What comes while we look waits for the next poll.
            for _ in 0..shard.from.slots() {
                let Ok(call) = shard.from.pop() else { break };
                shard.outstanding -= u64::from(call.outcome != Outcome::Copy);
                out.push(call);
            }
            if shard.from.is_abandoned() && shard.from.is_empty() {
                out.extend((0..std::mem::take(&mut shard.outstanding)).map(|_| Call::lost()));
            }
        }
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        let delay = |shard: &Shard| match shard.outstanding.saturating_sub(shard.shared.waiting.load(Relaxed)) {
            _ if shard.outstanding == 0 && shard.settings.is_empty() => None,
            0 if shard.from.is_empty() => Some(LATER_NS),
            _ => Some(SOON_NS),
        };
        Some(self.now_ns + self.shards.iter().filter_map(delay).min()?)
    }

    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        for shard in &mut self.shards {
            shard.settings.push_back(setting.clone());
            shard.flush();
            shard.wake();
        }
        Ok(())
    }
}

/// Spreads keys that are dense or have a stride.
fn shard_of(key: u64, shards: usize) -> usize {
    let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((hash * shards as u64) >> 32) as usize
}
