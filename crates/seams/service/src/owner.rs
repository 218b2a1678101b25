//! The owner's loop: one instance of a service, and the ways by which lanes call it, be they rings of a thread or memory shared with another process.
//!
//! Calls of one lane are taken in their order, and settings among them where they were made. Time is the latest that a lane has said.

use crate::lane::Guard;
use crate::{Call, Outcome, Service, Setting};
use std::collections::VecDeque;

/// Calls that are taken at once.
const BURST: usize = 64;
/// Answers that wait for a lane that does not take them; beyond it the lane's calls, and what time brings, wait too.
const BACKLOG_MAX: usize = 4096;

/// What a lane says.
pub(crate) enum Message {
    Call(Call),
    Set(Setting),
}

/// What a look at a lane's way found.
pub(crate) enum Taken {
    Message(Message),
    Nothing,
    /// The lane is gone, or has broken the way.
    Gone,
}

/// The owner's end of the way from and to a lane.
pub(crate) trait End {
    /// The next message.
    fn take(&mut self) -> Taken;
    /// Gives an answer to the lane; back if there is no room.
    fn give(&mut self, call: Call) -> Result<(), Call>;
    /// Ends a round: what was given is seen by the lane, and how many of its packets are kept.
    fn publish(&mut self, waiting: u64);
    /// The latest time that the lane has said.
    fn now_ns(&self) -> u64;
}

struct Lane<E> {
    route: u32,
    end: E,
    backlog: VecDeque<Call>,
    /// Packets of it that the service keeps.
    waiting: u64,
    gone: bool,
}

/// One instance of a service.
pub(crate) struct Owner<E> {
    guard: Guard,
    lanes: Vec<Lane<E>>,
    next_route: u32,
    /// Of the settings: each lane brings all of them, the same ones.
    version: u64,
    now_ns: u64,
    burst: Vec<Call>,
    out: Vec<Call>,
}

impl<E: End> Owner<E> {
    pub(crate) fn new(service: Box<dyn Service>) -> Owner<E> {
        Owner { guard: Guard::new(service), lanes: Vec::new(), next_route: 0, version: 0, now_ns: 0, burst: Vec::new(), out: Vec::new() }
    }

    pub(crate) fn add(&mut self, end: E) {
        self.lanes.push(Lane { route: self.next_route, end, backlog: VecDeque::new(), waiting: 0, gone: false });
        self.next_route = self.next_route.wrapping_add(1);
    }

    /// Whether no lane is there.
    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Whether the service has panicked.
    pub(crate) fn is_down(&self) -> bool {
        self.guard.is_down()
    }

    pub(crate) fn ends_mut(&mut self) -> impl Iterator<Item = &mut E> {
        self.lanes.iter_mut().map(|lane| &mut lane.end)
    }

    /// A burst of each lane, and what time brings; how much was done.
    pub(crate) fn round(&mut self) -> usize {
        self.now_ns = self.lanes.iter().map(|lane| lane.end.now_ns()).max().unwrap_or(0).max(self.now_ns);
        let mut done = 0;
        for at in 0..self.lanes.len() {
            done += self.serve(at);
        }
        if self.lanes.iter().all(|lane| lane.backlog.len() < BACKLOG_MAX) {
            self.guard.poll(self.now_ns, &mut self.out);
            done += self.out.len();
            let mut out = std::mem::take(&mut self.out);
            out.drain(..).for_each(|call| self.deliver(call, true));
            self.out = out;
        }
        if self.guard.is_down() {
            self.lose();
        }
        for lane in &mut self.lanes {
            lane.end.publish(lane.waiting);
        }
        self.lanes.retain(|lane| !lane.gone);
        done
    }

    /// One burst of a lane.
    fn serve(&mut self, at: usize) -> usize {
        let mut taken = 0;
        self.flush_backlog(at);
        while taken < BURST && self.lanes[at].backlog.len() < BACKLOG_MAX {
            match self.lanes[at].end.take() {
                Taken::Message(Message::Call(mut call)) => {
                    call.route = self.lanes[at].route;
                    self.burst.push(call);
                    taken += 1;
                }
                Taken::Message(Message::Set(setting)) => {
                    self.run(at);
                    self.set(&setting);
                    taken += 1;
                }
                Taken::Nothing => break,
                Taken::Gone => {
                    self.lanes[at].gone = true;
                    break;
                }
            }
        }
        self.run(at);
        taken
    }

    /// Runs what was taken from a lane.
    fn run(&mut self, at: usize) {
        if self.burst.is_empty() {
            return;
        }
        self.lanes[at].waiting += self.guard.call(&mut self.burst, self.now_ns);
        let mut burst = std::mem::take(&mut self.burst);
        burst.drain(..).filter(|call| call.outcome != Outcome::Kept).for_each(|call| self.deliver(call, false));
        self.burst = burst;
    }

    fn set(&mut self, setting: &Setting) {
        if setting.version <= self.version {
            return;
        }
        self.version = setting.version;
        if let Err(error) = self.guard.set(setting) {
            tracing::warn!(service = self.guard.interface.name, "{error}");
        }
    }

    /// To the lane that it came from; if that has gone, nobody wants it.
    fn deliver(&mut self, call: Call, was_kept: bool) {
        let Some(lane) = self.lanes.iter_mut().find(|lane| lane.route == call.route) else { return };
        if was_kept && call.outcome != Outcome::Copy {
            lane.waiting = lane.waiting.saturating_sub(1);
        }
        lane.give(call);
    }

    fn flush_backlog(&mut self, at: usize) {
        let lane = &mut self.lanes[at];
        while let Some(call) = lane.backlog.pop_front() {
            if let Err(call) = lane.end.give(call) {
                return lane.backlog.push_front(call);
            }
        }
    }

    /// What a service kept that is down is lost.
    fn lose(&mut self) {
        for lane in &mut self.lanes {
            for _ in 0..std::mem::take(&mut lane.waiting) {
                lane.give(Call::lost());
            }
        }
    }
}

impl<E: End> Lane<E> {
    fn give(&mut self, call: Call) {
        if !self.backlog.is_empty() {
            return self.backlog.push_back(call);
        }
        if let Err(call) = self.end.give(call) {
            self.backlog.push_back(call);
        }
    }
}
