//! The user plane of a gNodeB as far as P4 cannot hold it: SDAP, PDCP and RLC entities. A UE's side is made of the same entities.
//!
//! | question | file |
//! |---|---|
//! | which radio bearer takes a QoS flow, and which flow is a packet of? | [`sdap`] (TS 37.324) |
//! | in which order, under which COUNT and key, for how long? | [`pdcp`] (TS 38.323) |
//! | in which pieces, and which of them again? | [`rlc`] (TS 38.322) |
//! | what do CU and DU tell each other with a packet? | [`nru`] (TS 38.425) |
//! | how does a PDU look in a capture that Wireshark reads? | [`framing`] |
//!
//! Nothing here does I/O, reads a clock or starts threads: time is nanoseconds, given with each call, and does not go back. An entity has timers
//! but no thread: its owner calls `advance` when `next_deadline` says so.
//!
//! PDUs are hostile. Each becomes a checked type once, in the `pdu` file of its layer. What is wrong with one, or with what it says, is
//! a named reason that is counted, and changes no other state.
//!
//! MAC and PHY are not here. A grant is a number of bytes that somebody else decides.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

/// An enum of reasons, each with its name in counters.
macro_rules! reasons {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(usize)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// All of them, in the order of their numbers.
            pub const ALL: [$name; [$($text),+].len()] = [$($name::$variant),+];

            /// Its name in counters.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                }
            }
        }
    };
}

pub mod framing;
pub mod nru;
pub mod pdcp;
pub mod rlc;
pub mod sdap;

/// The earlier of two times, where there are any.
fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Whether a timer that runs out at `deadline_ns` has run out.
fn expired(deadline_ns: Option<u64>, now_ns: u64) -> bool {
    deadline_ns.is_some_and(|deadline_ns| deadline_ns <= now_ns)
}
