//! Which services there are, and how large one may be.

use service::Interface;

/// A service that we have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Keeps packets until they are acknowledged (RLC AM).
    Buffer,
    /// Keeps packets and sends them again every n ms until a status names them (Singh et al., Algorithm 1).
    Resubmit,
    /// NEA0 to NEA3 and NIA0 to NIA3.
    Cipher,
    /// The receiving sides of RLC and PDCP.
    #[value(name = "radio_bearer")]
    RadioBearer,
    /// Queues with rates, in which packets wait until they may go.
    Shaper,
}

/// How large a service is. What is not given has its default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct Sizes {
    /// Of `buffer` and `radio_bearer`: bearers have numbers below this, 1 to 1048576 [default: 16384].
    #[arg(long)]
    pub bearers: Option<u64>,
    /// Of `buffer`, `resubmit` and `shaper`: most packets that it keeps, 1 to 16777216 [default: 1048576].
    #[arg(long)]
    pub packets: Option<u64>,
    /// Of `buffer` and `resubmit`: most bytes of their payload [default: 1073741824].
    #[arg(long)]
    pub bytes: Option<u64>,
    /// Of `resubmit`: ms after which a packet is sent again, 1 to 60000 [default: 10].
    #[arg(long)]
    pub interval_ms: Option<u64>,
    /// Of `resubmit`: how often a packet is sent again before it is dropped, 1 to 65535 [default: 8].
    #[arg(long)]
    pub attempts: Option<u64>,
    /// Of `shaper`: queues have numbers below this, 1 to 1048576 [default: 16384].
    #[arg(long)]
    pub queues: Option<u64>,
    /// Of `shaper`: how long a packet may wait, 1 to 1000 ms [default: 20].
    #[arg(long)]
    pub queue_ms: Option<u64>,
    /// Of `shaper`: the standing delay of a queue that CoDel accepts, 1 to 1000 ms [default: 10].
    #[arg(long)]
    pub target_ms: Option<u64>,
}

/// As `qos.queue_ms` and `qos.target_ms`.
const MAX_MS: u64 = 1000;
const _: () = assert!(shaper::service::MAX_PACKETS as usize == buffer::resubmit::MAX_PACKETS);

/// One of them.
struct Size {
    key: &'static str,
    of: &'static [Kind],
    most: u64,
    default: u64,
    given: fn(&Sizes) -> Option<u64>,
}

const SIZES: [Size; 8] = [
    Size {
        key: "bearers",
        of: &[Kind::Buffer, Kind::RadioBearer],
        most: buffer::rlc::MAX_BEARERS as u64,
        default: 16_384,
        given: |s| s.bearers,
    },
    Size {
        key: "packets",
        of: &[Kind::Buffer, Kind::Resubmit, Kind::Shaper],
        most: buffer::resubmit::MAX_PACKETS as u64,
        default: 1 << 20,
        given: |s| s.packets,
    },
    Size { key: "bytes", of: &[Kind::Buffer, Kind::Resubmit], most: 1 << 40, default: 1 << 30, given: |s| s.bytes },
    Size {
        key: "interval_ms",
        of: &[Kind::Resubmit],
        most: buffer::resubmit::MAX_INTERVAL_MS as u64,
        default: 10,
        given: |s| s.interval_ms,
    },
    Size { key: "attempts", of: &[Kind::Resubmit], most: 65_535, default: 8, given: |s| s.attempts },
    Size { key: "queues", of: &[Kind::Shaper], most: shaper::service::MAX_QUEUES as u64, default: 16_384, given: |s| s.queues },
    Size { key: "queue_ms", of: &[Kind::Shaper], most: MAX_MS, default: 20, given: |s| s.queue_ms },
    Size { key: "target_ms", of: &[Kind::Shaper], most: MAX_MS, default: 10, given: |s| s.target_ms },
];

impl Sizes {
    /// One of them, or its default.
    ///
    /// # Panics
    /// If there is none of that key.
    pub fn number(&self, key: &str) -> u64 {
        let size = SIZES.iter().find(|size| size.key == key).expect("one of ours");
        (size.given)(self).unwrap_or(size.default)
    }

    /// The first that is given, by its key.
    pub fn first_given(&self) -> Option<&'static str> {
        SIZES.iter().find(|size| (size.given)(self).is_some()).map(|size| size.key)
    }

    /// As options of `splitplane service`.
    pub(crate) fn options(&self) -> Vec<String> {
        let given = |size: &Size| (size.given)(self).map(|n| format!("--{}={n}", size.key.replace('_', "-")));
        SIZES.iter().filter_map(given).collect()
    }
}

impl Kind {
    pub(crate) const ALL: [Kind; 5] = [Kind::Buffer, Kind::Resubmit, Kind::Cipher, Kind::RadioBearer, Kind::Shaper];

    /// By the name that programs and configurations call it.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.interface().name == name)
    }

    /// All names, for a message.
    pub fn names() -> String {
        Kind::ALL.map(|kind| format!("\"{}\"", kind.interface().name)).join(", ")
    }

    /// Its fields and reasons.
    pub fn interface(self) -> &'static Interface {
        match self {
            Kind::Buffer => &buffer::service::INTERFACE,
            Kind::Resubmit => &buffer::resubmit::service::INTERFACE,
            Kind::Cipher => &ciphering::service::INTERFACE,
            Kind::RadioBearer => &radio_bearer::INTERFACE,
            Kind::Shaper => &shaper::service::INTERFACE,
        }
    }

    /// Whether what it does to a packet follows from packets before: then all of one key must come to one instance.
    pub fn has_state(self) -> bool {
        self != Kind::Cipher
    }

    /// Whether sizes are its own and in their ranges.
    ///
    /// # Errors
    /// The key, and what was expected.
    pub fn check(self, sizes: &Sizes) -> Result<(), (&'static str, String)> {
        for Size { key, of, most, given, .. } in &SIZES {
            match given(sizes) {
                Some(_) if !of.contains(&self) => {
                    let names: Vec<&str> = of.iter().map(|kind| kind.interface().name).collect();
                    let names = match &names[..] {
                        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
                        _ => names.concat(),
                    };
                    return Err((key, format!("only for service {names}")));
                }
                Some(n) if n == 0 || n > *most => return Err((key, format!("expected 1 to {most}"))),
                _ => {}
            }
        }
        Ok(())
    }
}
