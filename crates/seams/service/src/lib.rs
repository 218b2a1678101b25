//! What a P4 program calls and P4 cannot do: the one seam between a lane and what keeps packets, runs timers or ciphers.
//!
//! | file | question it answers |
//! |---|---|
//! | [`call`] | what goes to a service with a packet, and what may come of it? |
//! | [`question`] | and if the answer is wanted at once? |
//! | [`interface`] | which fields has a service, and do they agree with the program's? |
//! | [`counters`] | what became of all calls? |
//! | [`setting`] | how does control code reach a service: its keys, its bearers? |
//! | [`caller`] | what does a lane have of a service? |
//! | [`place`] | where does it run, by configuration alone? |
//! | `lane` | the service in the lane itself |
//! | `owner` | one instance of a service that lanes call from elsewhere |
//! | `threads` | that on threads of their own |
//! | [`process`] | that in a second process |
//! | [`shared`] | what has a service that all lanes share, and that control code releases by key? |
//!
//! A service sees bursts of [`Call`]s. Each is answered at once, kept, or dropped with a [`Reason`]; what is kept comes out later, by
//! [`Service::poll`]. **Every packet that is given in comes out once.** Time is an argument: a service reads no clock, wherever it runs.
//!
//! A service that a program calls is a [`Service`]; where packets wait ahead of the program, for control code to release them, is a [`Shared`] one.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod call;
pub mod caller;
pub mod counters;
pub mod interface;
mod lane;
mod owner;
pub mod place;
pub mod process;
pub mod question;
pub mod setting;
pub mod shared;
mod threads;

pub use call::{Call, FIELDS_MAX, Kept, Outcome, Reason};
pub use caller::{Caller, Deployment};
pub use counters::Counters;
pub use interface::{Access, Field, Interface, Mismatch};
pub use place::Place;
pub use question::Question;
pub use setting::{Setting, SettingError};
pub use shared::{Shared, SharedDeployment};

/// What a service answers at once.
#[derive(Clone, Copy, Debug)]
pub struct AtOnce {
    /// Which requests.
    pub requests: Requests,
    /// In which order those of one burst must be made.
    pub order: Order,
}

/// An order of the calls of a burst: each is in those behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// Any: no call depends on earlier ones.
    Any,
    /// Where packets make several calls one after the other, those at the first place may come before those at the second, of all packets. At each place they come in
    /// the order of the packets.
    Places,
    /// In the order of the packets: all calls of one before those of the next.
    Packets,
}

/// Requests, by their fields, that are answered, dropped or declined at once, whatever their packets are: none is kept, and its payload becomes longer by at
/// most [`GROWTH_MAX`].
#[derive(Clone, Copy, Debug)]
pub enum Requests {
    /// None.
    None,
    /// Every one: nobody has to ask about each.
    All,
    /// Those of which this is true.
    Those(fn(&[u8; FIELDS_MAX]) -> bool),
}

impl AtOnce {
    /// Nothing.
    pub const NEVER: AtOnce = AtOnce { requests: Requests::None, order: Order::Packets };
    /// Everything, and no call depends on another.
    pub const ALWAYS: AtOnce = AtOnce { requests: Requests::All, order: Order::Any };
}

/// Most bytes by which a call that is answered at once makes a payload longer: a MAC, a trailer.
pub const GROWTH_MAX: usize = 64;

/// A service, or the way to one that runs elsewhere: both look alike to a lane.
pub trait Service: Send {
    /// Its name, fields and reasons.
    fn interface(&self) -> &'static Interface;

    /// Does what each call of `burst` asks for, and sets its [`Outcome`] to something else than [`Outcome::Pending`]. Of an answered call the packet may
    /// have changed from its payload on, and [`Call::fields`] are the answer; of a dropped one the packet is still there, to be counted. A kept one is moved
    /// out ([`Call::take`], [`Call::keep`]).
    ///
    /// `now_ns` never goes back. A burst has as many calls as the caller likes; it may be empty.
    fn call(&mut self, burst: &mut [Call], now_ns: u64);

    /// Appends calls that were kept and are not any longer, answered or dropped, and copies of kept ones ([`Outcome::Copy`]). Callers ask after each burst
    /// and when [`Service::next_deadline_ns`] has come.
    fn poll(&mut self, _now_ns: u64, _out: &mut Vec<Call>) {}

    /// When [`Service::poll`] should be called at the latest, though no call comes. `None`: there is nothing to wait for.
    fn next_deadline_ns(&self) -> Option<u64> {
        None
    }

    /// Which requests this instance answers or drops at once: a lane may make such calls while its program runs, by [`Service::answer`]. Asked once.
    fn at_once(&self) -> AtOnce {
        AtOnce::NEVER
    }

    /// Does what [`Service::call`] does, of requests that [`Service::at_once`] names and whose packets stay where they are: each is answered or dropped, or left
    /// pending with nothing changed, if the packet must be kept after all: then it is called. Where the order of calls matters, all behind the first that is
    /// declined are declined. As it is here each question is made a call, with a copy of its payload; a service that works on them in place saves that.
    fn answer(&mut self, burst: &mut [Question<'_>], now_ns: u64) {
        question::by_calls(self, burst, now_ns);
    }

    /// Puts one of the service's settings in place, or removes it. Setting the value that is there changes nothing.
    ///
    /// # Errors
    /// With nothing changed: see [`SettingError`].
    fn set(&mut self, setting: &Setting) -> Result<(), SettingError>;
}
