//! `[[queue]]`: queues of ports that have a rate.

use super::{Fault, Port, Role, Slice};
use serde::Deserialize;
use shaper::codel::Law;
use shaper::{PortSettings, QUEUES, QueueSettings, Service};

/// `[[queue]]`. Those that the file does not name have weight 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// 0 to 7; 0 takes what nothing sends elsewhere.
    pub number: u8,
    /// Before all queues of lower numbers that are strict, and all that are not.
    #[serde(default)]
    pub strict: bool,
    /// Share of what strict queues leave.
    pub weight: Option<u16>,
    /// QoS flows whose packets wait here.
    #[serde(default)]
    pub qfi: Vec<u8>,
    /// DSCPs of frames that leave, whose packets wait here.
    #[serde(default)]
    pub dscp: Vec<u8>,
    /// How long a packet may wait, in milliseconds.
    pub queue_ms: Option<u32>,
}

/// A weight of 1000 is far from one of 1; a round of all queues stays below 12 MB.
const MOST_WEIGHT: u16 = 1000;
const MOST_QUEUE_MS: u32 = 1000;
/// As [`shaper::codel::Law`] has it, ten times its target.
const QUEUE_MS: u32 = 50;
/// Packets that wait for one port in one worker: 32 MiB of them.
const MOST_PACKETS: usize = 1 << 14;

/// All blocks.
pub(super) fn validate(queues: &[Queue]) -> Result<(), Fault> {
    for (i, queue) in queues.iter().enumerate() {
        let (fault, before) = (|name: &str, what: String| Err(Fault::new(format!("queue[{i}].{name}"), what)), &queues[..i]);
        if usize::from(queue.number) >= QUEUES {
            return fault("number", format!("expected 0 to {}", QUEUES - 1));
        }
        if let Some(other) = before.iter().position(|of| of.number == queue.number) {
            return fault("number", format!("expected a number of its own: queue[{other}] has it"));
        }
        if queue.weight.is_some() && queue.strict {
            return fault("weight", "a strict queue has none: remove it, or `strict`".into());
        }
        if queue.weight.is_some_and(|weight| !(1..=MOST_WEIGHT).contains(&weight)) {
            return fault("weight", format!("expected 1 to {MOST_WEIGHT}"));
        }
        if queue.queue_ms.is_some_and(|ms| !(1..=MOST_QUEUE_MS).contains(&ms)) {
            return fault("queue_ms", format!("expected 1 to {MOST_QUEUE_MS} milliseconds"));
        }
        type Keys = fn(&Queue) -> &[u8];
        let lists: [(&str, Keys, _); 2] = [("qfi", |of| &of.qfi, 1..=63), ("dscp", |of| &of.dscp, 0..=63)];
        for (name, keys, range) in lists {
            for (n, key) in keys(queue).iter().enumerate() {
                let at = format!("{name}[{n}]");
                if !range.contains(key) {
                    return fault(&at, format!("expected {} to {}", range.start(), range.end()));
                }
                if queue.number == 0 {
                    return fault(&at, "queue 0 takes what no other does: remove the key".into());
                }
                if let Some(other) = before.iter().position(|of| keys(of).contains(key)) {
                    return fault(&at, format!("expected in one queue only: queue[{other}] has it"));
                }
            }
        }
    }
    Ok(())
}

/// As the scheduler of a port of that rate takes them.
pub(super) fn port_settings(queues: &[Queue], slices: &[Slice], rate_kbps: u64) -> PortSettings {
    let mut settings = PortSettings {
        rate: rate_kbps.saturating_mul(125),
        queues: [QueueSettings::default(); QUEUES],
        slices: super::slice::settings(slices),
        packets: MOST_PACKETS,
        law: Law::default(),
    };
    for of in &mut settings.queues {
        of.delay_ns = u64::from(QUEUE_MS) * 1_000_000;
    }
    for queue in queues {
        let Some(of) = settings.queues.get_mut(usize::from(queue.number)) else { continue };
        of.service = if queue.strict { Service::Strict } else { Service::Weighted(queue.weight.unwrap_or(1)) };
        of.delay_ns = u64::from(queue.queue_ms.unwrap_or(QUEUE_MS)) * 1_000_000;
    }
    settings
}

/// Which queue a packet waits in: the first that is not 0 of its QoS flow's and its DSCP's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fill {
    /// By QFI of the PDU session container that it leaves with.
    pub qfi: [u8; 64],
    /// By DSCP of the frame's own IP header: of a tunnel's, where there is one.
    pub dscp: [u8; 64],
    /// Whether frames are inside VXLAN (RFC 7348).
    overlay: bool,
    /// Whether GTP-U may leave by it. Where not, a user's datagrams to its port are the user's.
    tunnels: bool,
}

/// Ethernet, IPv4, UDP and VXLAN headers around a frame.
const OVERLAY_BYTES: usize = 14 + 20 + 8 + 8;

impl Fill {
    pub(super) fn new(queues: &[Queue], port: &Port) -> Fill {
        let mut fill = Fill { qfi: [0; 64], dscp: [0; 64], overlay: port.vxlan, tunnels: port.role != Role::Core };
        for queue in queues {
            for (keys, map) in [(&queue.qfi, &mut fill.qfi), (&queue.dscp, &mut fill.dscp)] {
                for key in keys {
                    map[usize::from(*key & 63)] = queue.number;
                }
            }
        }
        fill
    }
}

impl engine::Fill for Fill {
    fn queue(&self, frame: &[u8]) -> u8 {
        let class = wire::user::class(frame);
        let of = |map: &[u8; 64], key: Option<u8>| key.and_then(|key| map.get(usize::from(key)).copied()).filter(|queue| *queue > 0);
        of(&self.qfi, class.qfi).or_else(|| of(&self.dscp, class.dscp)).unwrap_or(0)
    }

    fn charged_bytes(&self, frame: &[u8]) -> usize {
        let frame = if self.overlay { frame.get(OVERLAY_BYTES..).unwrap_or_default() } else { frame };
        let plain = frame.len().saturating_sub(wire::ethernet::HEADER_LEN);
        // The frame ends where the user's packet ends (`trim.p4`).
        if self.tunnels { wire::user::packet(frame).map_or(plain, <[u8]>::len) } else { plain }
    }
}
