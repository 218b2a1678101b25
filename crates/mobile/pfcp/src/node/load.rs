//! What CP functions are told of how busy this node is: load control (§6.2.3) and overload control information (§6.2.4).
//!
//! Load is the share of the sessions that there may be. Overload is how far messages queue, of which the owner tells ([`Node::note_backlog`]). A CP
//! function that announces the feature is told with the next response after each change; of overload, which part of its new requests it is to keep
//! back. While the queue is nearly full new sessions are rejected (cause 74), whoever asks.
//!
//! Left out: information in Session Report Requests, and priorities of messages.

use std::net::SocketAddr;
use std::time::Duration;

use super::Node;
use super::associations::Association;
use crate::codec::{Cause, Group, Ie, timer};
use crate::session::Rejection;

/// LOAD and OVRL of CP Function Features (§8.2.58).
const LOAD: u8 = 1 << 0;
const OVRL: u8 = 1 << 1;

/// Of a queue's room, in eighths: from where on there is overload, and from where on new sessions are rejected.
const OVERLOADED_FROM: usize = 1;
const REJECTED_FROM: usize = 7;

/// Reductions are multiples of this, in percent: not each message makes a new one.
const STEP: u8 = 10;
/// A reduction grows at once and falls by a step in this time: the queue may run empty, and full, before requests are fewer or more.
const FALLS: Duration = Duration::from_millis(100);
/// How long a reduction holds that is not told again, and when it is.
const VALID: Duration = Duration::from_secs(10);
const TOLD_AGAIN: Duration = Duration::from_secs(5);

/// A metric, and the sequence number by which newer ones are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Metric {
    sequence: u32,
    percent: u8,
}

/// How busy the node is.
#[derive(Default)]
pub(super) struct Load {
    load: Metric,
    /// By what part CP functions are to reduce their requests.
    reduction: Metric,
    reduced_at: Duration,
    /// New sessions are rejected.
    rejects: bool,
}

/// The sequence numbers that a CP function has been told last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    load: u32,
    reduction: u32,
}

impl Metric {
    /// Numbers grow, also over a crash after which the node goes on in its time.
    fn set(&mut self, percent: u8, now: Duration) {
        let from_time = (now.as_millis() / FALLS.as_millis()) as u32;
        *self = Metric { sequence: from_time.max(self.sequence.wrapping_add(1)), percent };
    }
}

impl Association {
    /// What its CP function is to be told, and has not been.
    fn untold(&self, load: &Load) -> (bool, bool) {
        let is_new = |feature: u8, now: u32, told: u32| self.cp_features & feature != 0 && now != told;
        (is_new(LOAD, load.load.sequence, self.told.load), is_new(OVRL, load.reduction.sequence, self.told.reduction))
    }
}

impl Node {
    /// Messages that wait to be received, and how many have room to. To be called often while there are any, and once when there are none any more.
    pub fn note_backlog(&mut self, waiting: usize, room: usize, now: Duration) {
        let room = room.max(1);
        let eighths = 8 * waiting.min(room);
        self.load.rejects = eighths >= REJECTED_FROM * room;
        let over = eighths.saturating_sub(OVERLOADED_FROM * room);
        let wanted = (100 * over).div_ceil((8 - OVERLOADED_FROM) * room).next_multiple_of(usize::from(STEP)).min(100) as u8;
        let (before, since) = (self.load.reduction.percent, now.saturating_sub(self.load.reduced_at));
        let percent = match wanted < before {
            true if since >= FALLS => wanted.max(before.saturating_sub(STEP)),
            true => before,
            false => wanted,
        };
        if percent != before || (percent > 0 && since >= TOLD_AGAIN) {
            self.load.reduction.set(percent, now);
            self.load.reduced_at = now;
        }
    }

    /// Percent of the sessions that there may be, and by how many percent CP functions are to reduce their requests.
    pub fn load(&self) -> (u8, u8) {
        (self.load.load.percent, self.load.reduction.percent)
    }

    /// Refuses a new session while messages queue up.
    pub(super) fn refuse_in_congestion(&self) -> Result<(), Rejection> {
        if self.load.rejects {
            return Err(Rejection::new(Cause::CONGESTION, "too many messages wait".into()));
        }
        Ok(())
    }

    /// Adds to a session's response what the CP function has not been told.
    pub(super) fn add_load(&mut self, ies: &mut Group, from: SocketAddr, now: Duration) {
        let percent = (100 * self.sessions.len()).div_ceil(self.config.max_sessions.max(1)).min(100) as u8;
        if percent != self.load.load.percent {
            self.load.load.set(percent, now);
        }
        let untold =
            |association: &&mut Association| association.is_of(from.ip(), &self.config) && association.untold(&self.load) != (false, false);
        let Some(association) = self.associations.values_mut().find(untold) else { return };
        let (of_load, of_reduction) = association.untold(&self.load);
        let of = |metric: Metric| vec![Ie::SequenceNumber(metric.sequence), Ie::Metric(metric.percent)];
        if of_load {
            ies.push(Ie::LoadControlInformation(of(self.load.load)));
            association.told.load = self.load.load.sequence;
        }
        if of_reduction {
            ies.push(Ie::OverloadControlInformation([of(self.load.reduction), vec![Ie::Timer(timer(VALID))]].concat()));
            association.told.reduction = self.load.reduction.sequence;
        }
    }
}
