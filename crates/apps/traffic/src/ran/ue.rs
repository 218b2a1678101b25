//! One UE: its session, its link (device or memory), and its counters.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv6Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use super::network::UeDevice;
use super::report::{Counter, UeReport};
use super::{UeNumber, lock, read, write};
use crate::record::SessionRecord;

/// Why a user packet was dropped here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// Uplink: neither IPv4 nor IPv6.
    NotIp,
    /// Uplink: the system refuses the datagram.
    SendFailed,
    /// Downlink: the packet in the tunnel is no whole IP packet.
    Malformed,
    /// Downlink: it is not for this UE.
    WrongDestination,
    /// Downlink: no PDU session container where the session has a QoS flow.
    NoContainer,
    /// Downlink: the container is one for uplink.
    UplinkContainer,
    /// Downlink: a QoS flow that the session has not.
    WrongQfi,
    /// Downlink: the device takes no packet.
    DeviceRefused,
    /// Downlink, without devices: the packets were not fetched.
    QueueFull,
}

impl DropReason {
    /// All, in the order of their declaration.
    pub const ALL: [DropReason; 9] = [
        DropReason::NotIp,
        DropReason::SendFailed,
        DropReason::Malformed,
        DropReason::WrongDestination,
        DropReason::NoContainer,
        DropReason::UplinkContainer,
        DropReason::WrongQfi,
        DropReason::DeviceRefused,
        DropReason::QueueFull,
    ];
    /// Those of uplink packets.
    pub const UPLINK: [DropReason; 2] = [DropReason::NotIp, DropReason::SendFailed];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::NotIp => "not_ip",
            DropReason::SendFailed => "send_failed",
            DropReason::Malformed => "malformed",
            DropReason::WrongDestination => "wrong_destination",
            DropReason::NoContainer => "no_session_container",
            DropReason::UplinkContainer => "uplink_session_container",
            DropReason::WrongQfi => "wrong_qfi",
            DropReason::DeviceRefused => "device_refused",
            DropReason::QueueFull => "queue_full",
        }
    }
}

/// Where a UE's packets come from and go to.
pub(super) enum Link {
    Device(Box<UeDevice>),
    Memory(Queue),
}

impl Link {
    pub(crate) fn memory() -> Link {
        Link::Memory(Queue::default())
    }
}

pub(super) struct Ue {
    pub number: UeNumber,
    pub link: Link,
    session: RwLock<SessionRecord>,
    pub uplink: Counter,
    pub downlink: Counter,
    drops: [Counter; DropReason::ALL.len()],
    pub router_solicitations: AtomicU64,
    pub router_advertisements: AtomicU64,
    pub end_markers: AtomicU64,
    pub error_indications: AtomicU64,
    /// The prefix of the last router advertisement.
    prefix: (Mutex<Option<Ipv6Addr>>, Condvar),
}

impl Ue {
    pub(crate) fn new(number: UeNumber, session: SessionRecord, link: Link) -> Ue {
        Ue {
            number,
            link,
            session: RwLock::new(session),
            uplink: Counter::default(),
            downlink: Counter::default(),
            drops: Default::default(),
            router_solicitations: AtomicU64::new(0),
            router_advertisements: AtomicU64::new(0),
            end_markers: AtomicU64::new(0),
            error_indications: AtomicU64::new(0),
            prefix: Default::default(),
        }
    }

    pub(crate) fn session(&self) -> std::sync::RwLockReadGuard<'_, SessionRecord> {
        read(&self.session)
    }

    pub(crate) fn set_session(&self, session: SessionRecord) {
        *write(&self.session) = session;
    }

    pub(crate) fn dropped(&self, reason: DropReason, bytes: usize) {
        self.drops[reason as usize].add(bytes);
    }

    /// Notes a router advertisement.
    pub(crate) fn advertised(&self, prefix: Ipv6Addr) {
        self.router_advertisements.fetch_add(1, Ordering::Relaxed);
        *lock(&self.prefix.0) = Some(prefix);
        self.prefix.1.notify_all();
    }

    pub(crate) fn forget_prefix(&self) {
        *lock(&self.prefix.0) = None;
    }

    /// The prefix of the next router advertisement, if it comes in time.
    pub(crate) fn wait_prefix(&self, timeout: Duration) -> Option<Ipv6Addr> {
        let prefix = lock(&self.prefix.0);
        let result = self.prefix.1.wait_timeout_while(prefix, timeout, |prefix| prefix.is_none());
        *result.unwrap_or_else(PoisonError::into_inner).0
    }

    pub(crate) fn report(&self) -> UeReport {
        let session = self.session();
        let (tun, kernel) = match &self.link {
            Link::Device(device) => (Some(device.name.clone()), device.kernel_counts()),
            Link::Memory(_) => (None, None),
        };
        let drops = DropReason::ALL.into_iter().map(|reason| (reason.name().to_owned(), self.drops[reason as usize].count()));
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        UeReport {
            seid: session.seid,
            ue_ipv4: session.ue_ipv4,
            ue_ipv6: session.ue_ipv6,
            tun,
            uplink: self.uplink.count(),
            downlink: self.downlink.count(),
            kernel_tx: kernel.map(|(tx, _, _)| tx),
            kernel_rx: kernel.map(|(_, rx, _)| rx),
            kernel_tx_dropped: kernel.map(|(_, _, dropped)| dropped),
            drops: drops.filter(|(_, count)| count.packets > 0).collect::<BTreeMap<_, _>>(),
            router_solicitations: load(&self.router_solicitations),
            router_advertisements: load(&self.router_advertisements),
            end_markers: load(&self.end_markers),
            error_indications: load(&self.error_indications),
        }
    }
}

/// Downlink packets of a UE without device.
#[derive(Default)]
pub(super) struct Queue {
    packets: Mutex<VecDeque<Vec<u8>>>,
    arrived: Condvar,
}

impl Queue {
    /// Packets that wait at most.
    const CAPACITY: usize = 65_536;

    /// Whether there was room.
    pub(crate) fn push(&self, packet: &[u8]) -> bool {
        let mut packets = lock(&self.packets);
        if packets.len() >= Queue::CAPACITY {
            return false;
        }
        packets.push_back(packet.to_vec());
        self.arrived.notify_one();
        true
    }

    pub(crate) fn pop(&self, timeout: Duration) -> Option<Vec<u8>> {
        let deadline = Instant::now() + timeout;
        let mut packets = lock(&self.packets);
        loop {
            if let Some(packet) = packets.pop_front() {
                return Some(packet);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            packets = self.arrived.wait_timeout(packets, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
