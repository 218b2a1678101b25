//! How does a P4 program shape packets? As a [`::service::Service`] over [`Shaper`]: the program names a queue and says how many bytes the packet counts; it goes on
//! when the queue's rate lets it.
//!
//! A packet within the rate, with none of its queue before it, is answered at once. Any other waits, and packets of one queue go on in their order. Queues and their
//! rates are settings: the index is the queue's number.
//!
//! Left out of what [`Shaper`] has: rates above a queue's own, guaranteed rates and weights. Queues here share nothing.

use crate::codel::Law;
use crate::shaper::{Fate, Limits, Offered, Rates, Reason, Shaper, Take};
use crate::tree::{MAX_BURST, Node, Tree};
use ::service::{
    Access, AtOnce, Call, FIELDS_MAX, Field, Interface, Kept, Order, Outcome, Question, Requests, Service, Setting, SettingError,
};

/// In `flags` of a request: the sender understands marks (ECT, RFC 3168).
pub const MARKS: u8 = 1;
/// In `flags` of an answer: mark the packet as having met congestion (CE).
pub const MARK: u8 = 1;

/// Most queues of an instance.
pub const MAX_QUEUES: usize = 1 << 20;
/// Most packets of an instance that wait.
pub const MAX_PACKETS: u32 = 1 << 24;
/// Packets that one poll gives at most: a lane goes on with others.
const BURST: usize = 64;

/// Fields and reasons.
pub static INTERFACE: Interface = Interface {
    name: "shaper",
    request: &[Field { name: "queue", width: 32 }, Field { name: "bytes", width: 32 }, Field { name: "flags", width: 8 }],
    answer: &[Field { name: "waited_us", width: 32 }, Field { name: "flags", width: 8 }],
    key: Some(0),
    reasons: &["queue_full", "packets", "late", "codel", "no_rate", "no_queue"],
    access: |_| Access::None,
    sends_own: false,
    check_setting: |index, value| match value {
        _ if index as usize >= MAX_QUEUES => Err(SettingError::Index { index, limit: MAX_QUEUES as u32 }),
        Some(value) => read_queue(index, value).map(drop),
        None => Ok(()),
    },
};

/// There is no such queue.
pub const NO_QUEUE: ::service::Reason = ::service::Reason::own(5);

fn reason(reason: Reason) -> ::service::Reason {
    match reason {
        Reason::QueueFull | Reason::Longest => ::service::Reason::own(0),
        Reason::Full => ::service::Reason::own(1),
        Reason::Late => ::service::Reason::own(2),
        Reason::Codel => ::service::Reason::own(3),
        Reason::NoRate => ::service::Reason::own(4),
        Reason::Ended => ::service::Reason::STOPPING,
    }
}

/// A request, as a program's fields say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Number of the queue.
    pub queue: u32,
    /// What the packet counts, at least 1: whether headers are among it is the program's to say.
    pub bytes: u32,
    /// [`MARKS`].
    pub flags: u8,
}

impl Request {
    /// As fields.
    pub fn fields(self) -> [u8; FIELDS_MAX] {
        let mut fields = [0; FIELDS_MAX];
        fields[..4].copy_from_slice(&self.queue.to_be_bytes());
        fields[4..8].copy_from_slice(&self.bytes.to_be_bytes());
        fields[8] = self.flags;
        fields
    }

    /// From fields.
    #[inline]
    pub fn read(fields: &[u8; FIELDS_MAX]) -> Request {
        let &[q0, q1, q2, q3, b0, b1, b2, b3, flags, ..] = fields;
        Request { queue: u32::from_be_bytes([q0, q1, q2, q3]), bytes: u32::from_be_bytes([b0, b1, b2, b3]), flags }
    }
}

/// An answer, as a program's fields say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// How long the packet has waited, in microseconds.
    pub waited_us: u32,
    /// [`MARK`].
    pub flags: u8,
}

/// Bytes of an answer.
const ANSWER_LEN: usize = 5;

impl Answer {
    fn bytes(self) -> [u8; ANSWER_LEN] {
        let [a, b, c, d] = self.waited_us.to_be_bytes();
        [a, b, c, d, self.flags]
    }

    fn fields(self) -> [u8; FIELDS_MAX] {
        let mut fields = [0; FIELDS_MAX];
        fields[..ANSWER_LEN].copy_from_slice(&self.bytes());
        fields
    }

    /// From fields.
    pub fn read(fields: &[u8; FIELDS_MAX]) -> Answer {
        let &[a, b, c, d, flags, ..] = fields;
        Answer { waited_us: u32::from_be_bytes([a, b, c, d]), flags }
    }
}

/// A queue's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// Rate in bytes a second; 0 lets nothing pass.
    pub rate: u64,
    /// Bytes that may pass at once, 1 to [`MAX_BURST`]: no packet may be longer.
    pub burst: u32,
}

/// A queue's setting: its index is the queue's number.
pub fn queue_setting(config: &QueueConfig) -> Vec<u8> {
    [&config.rate.to_be_bytes()[..], &config.burst.to_be_bytes()].concat()
}

fn read_queue(index: u32, value: &[u8]) -> Result<QueueConfig, SettingError> {
    let wrong = |what: &str| SettingError::Value { index, what: what.to_owned() };
    let (rate, rest) = value.split_first_chunk().ok_or_else(|| wrong("expected a queue's 12 bytes"))?;
    let burst = rest.try_into().map_err(|_| wrong("expected a queue's 12 bytes"))?;
    let config = QueueConfig { rate: u64::from_be_bytes(*rate), burst: u32::from_be_bytes(burst) };
    if !(1..=MAX_BURST).contains(&config.burst) {
        return Err(wrong("expected a burst of 1 byte to 1 GiB"));
    }
    Ok(config)
}

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Queues have numbers below this, 1 to [`MAX_QUEUES`].
    pub queues: u32,
    /// Packets of all queues together, 1 to [`MAX_PACKETS`].
    pub packets: u32,
    /// How long a packet may wait, in ns.
    pub delay_ns: u64,
    /// CoDel's.
    pub law: Law,
}

/// A packet that waits.
struct Waiting {
    kept: Kept,
    since_ns: u64,
}

/// What may become of a packet without waiting.
enum Now {
    Goes,
    Dropped(::service::Reason),
    Waits,
}

/// One instance: queues, and what waits in them.
pub struct ShaperService {
    shaper: Shaper<Waiting>,
    rates: Queues,
    now_ns: u64,
}

/// Rates of the queues that were set. Others take no memory in the tree.
struct Queues {
    tree: Tree,
    /// Each queue's node, plus one; 0: it was never set.
    nodes: Vec<u32>,
    configs: Vec<Option<QueueConfig>>,
}

impl Rates for Queues {
    fn take(&mut self, leaf: u32, size: u32, now_ns: u64) -> Take {
        let Some(node) = self.nodes[leaf as usize].checked_sub(1) else { return Take::Never };
        match self.tree.take(node, size, now_ns) {
            Take::At { at_ns, .. } => Take::At { node: leaf, at_ns },
            other => other,
        }
    }

    fn give_back(&mut self, leaf: u32, size: u32, guaranteed: bool) {
        if let Some(node) = self.nodes[leaf as usize].checked_sub(1) {
            self.tree.give_back(node, size, guaranteed);
        }
    }

    fn when_ns(&self, leaf: u32, size: u32, now_ns: u64) -> u64 {
        self.nodes[leaf as usize].checked_sub(1).map_or(now_ns, |node| self.tree.when_ns(node, size, now_ns))
    }

    fn rate(&self, leaf: u32) -> u64 {
        self.nodes[leaf as usize].checked_sub(1).map_or(0, |node| self.tree.rate(node))
    }
}

impl ShaperService {
    /// With no queue set.
    ///
    /// # Panics
    /// If a size is beyond its limit.
    pub fn new(sizes: Sizes) -> ShaperService {
        let Sizes { queues, packets, delay_ns, law } = sizes;
        assert!(
            queues as usize <= MAX_QUEUES && packets <= MAX_PACKETS,
            "{sizes:?}: at most {MAX_QUEUES} queues and {MAX_PACKETS} packets"
        );
        let rates = Queues { tree: Tree::default(), nodes: vec![0; queues as usize], configs: vec![None; queues as usize] };
        ShaperService { shaper: Shaper::new(Limits { nodes: queues, packets, delay_ns, law }), rates, now_ns: 0 }
    }

    #[inline]
    fn ask(&mut self, request: Request, now_ns: u64) -> Now {
        let Request { queue, bytes, .. } = request;
        if bytes == 0 {
            return Now::Dropped(::service::Reason::MALFORMED);
        }
        if self.rates.configs.get(queue as usize).copied().flatten().is_none() {
            return Now::Dropped(NO_QUEUE);
        }
        if self.shaper.waits(queue) {
            return Now::Waits;
        }
        match self.rates.take(queue, bytes, now_ns) {
            Take::Now { .. } => Now::Goes,
            Take::Never => Now::Dropped(reason(Reason::NoRate)),
            Take::At { .. } => Now::Waits,
        }
    }

    #[inline]
    fn see_time(&mut self, now_ns: u64) -> u64 {
        self.now_ns = self.now_ns.max(now_ns);
        self.now_ns
    }
}

impl Service for ShaperService {
    fn interface(&self) -> &'static Interface {
        &INTERFACE
    }

    fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        let now_ns = self.see_time(now_ns);
        for call in burst {
            let request = Request::read(&call.fields);
            match self.ask(request, now_ns) {
                Now::Goes => call.answer(&Answer::default().bytes()),
                Now::Dropped(reason) => call.drop_for(reason),
                Now::Waits => {
                    let Request { queue, bytes, flags } = request;
                    let packet = Waiting { kept: call.keep(), since_ns: now_ns };
                    if let Offered::Dropped(Waiting { kept, .. }, why) =
                        self.shaper.offer(queue, packet, bytes, flags & MARKS != 0, now_ns, &mut self.rates, &mut |_| ())
                    {
                        *call = kept.into_ended([0; FIELDS_MAX], Outcome::Dropped(reason(why)));
                    }
                }
            }
        }
    }

    fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        let now_ns = self.see_time(now_ns);
        self.shaper.poll(now_ns, &mut self.rates, BURST, &mut |fate| match fate {
            Fate::Sent { packet: Waiting { kept, since_ns }, mark, .. } => {
                let waited_us = u32::try_from((now_ns - since_ns) / 1000).unwrap_or(u32::MAX);
                let answer = Answer { waited_us, flags: if mark { MARK } else { 0 } };
                out.push(kept.into_ended(answer.fields(), Outcome::Answered));
            }
            Fate::Dropped { packet: Waiting { kept, .. }, reason: why, .. } => {
                out.push(kept.into_ended([0; FIELDS_MAX], Outcome::Dropped(reason(why))));
            }
            Fate::Idle { .. } => {}
        });
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        self.shaper.next_ns()
    }

    /// Whether a packet waits depends on those before it: what has to is declined, and all behind it, which may be of the same queue.
    fn at_once(&self) -> AtOnce {
        AtOnce { requests: Requests::All, order: Order::Packets }
    }

    fn answer(&mut self, burst: &mut [Question<'_>], now_ns: u64) {
        let now_ns = self.see_time(now_ns);
        for question in burst {
            match self.ask(Request::read(&question.fields), now_ns) {
                Now::Goes => question.answer(&Answer::default().bytes()),
                Now::Dropped(reason) => question.drop_for(reason),
                Now::Waits => break,
            }
        }
    }

    /// A queue that is removed lets nothing pass: what waits in it is dropped (`no_rate`) when its turn comes.
    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        let (index, limit) = (setting.index, self.rates.configs.len() as u32);
        let Queues { tree, nodes, configs } = &mut self.rates;
        let Some(place) = configs.get_mut(index as usize) else { return Err(SettingError::Index { index, limit }) };
        let config = setting.value.as_ref().map(|value| read_queue(index, value)).transpose()?;
        if *place == config {
            return Ok(());
        }
        let QueueConfig { rate, burst } = config.unwrap_or(QueueConfig { rate: 0, burst: 1 });
        let node = &mut nodes[index as usize];
        let changed = match node.checked_sub(1) {
            Some(at) => tree.change(at, rate, 0, burst, self.now_ns),
            None => {
                let fresh = Node { parent: None, rate, burst, guaranteed: 0, weight: 1 };
                tree.add(fresh, self.now_ns).map(|at| *node = at + 1)
            }
        };
        changed.map_err(|fault| SettingError::Value { index, what: fault.to_string() })?;
        *place = config;
        Ok(())
    }
}
