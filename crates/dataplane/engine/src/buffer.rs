//! A worker's end of the service where packets wait that the program buffers. All workers share it; control code releases them by queue
//! ([`crate::Engine::end_buffering`]).

use crate::ledger::WorkerLedger;
use base::{DropReason, Packet};
use service::{Call, Caller, FIELDS_MAX, Interface, Mismatch, Outcome, SharedDeployment};
use std::sync::Arc;

/// What came of a packet for the buffer.
pub(crate) enum Given {
    /// It waits. Control code is to hear of it, or knows.
    Waits { notify: bool },
    /// Its queue is being released. When that is over it goes through the program again, before any later packet of its flow.
    Again(Packet),
    /// It is dropped.
    Dropped(Packet, DropReason),
}

pub(crate) struct Buffer {
    service: Arc<SharedDeployment>,
    caller: Caller,
    /// The worker: it comes back with each packet.
    slot: u32,
    displaced: Vec<Call>,
}

/// Whether a service can be the buffer: a queue goes in, whether to notify control code comes out.
pub(crate) fn check(interface: &Interface) -> Result<(), Mismatch> {
    interface.check([("queue", 32)], [("notify", 8)])
}

impl Buffer {
    pub(crate) fn new(service: &Arc<SharedDeployment>, slot: usize) -> Buffer {
        Buffer { caller: service.caller(), service: service.clone(), slot: slot as u32, displaced: Vec::new() }
    }

    /// Gives it a packet as it was received, and counts what had to make room.
    pub(crate) fn give(&mut self, queue: u32, packet: Packet, now_ns: u64, ledger: &WorkerLedger) -> Given {
        let mut fields = [0; FIELDS_MAX];
        fields[..4].copy_from_slice(&queue.to_be_bytes());
        let mut burst = [Call::new(packet, 0, fields, self.slot)];
        self.caller.call(&mut burst, now_ns);
        if self.caller.next_deadline_ns().is_some() {
            self.caller.poll(now_ns, &mut self.displaced);
            self.displaced.drain(..).for_each(|call| count_dropped(&self.service, &call, ledger));
        }
        let [call] = burst;
        match call.outcome {
            Outcome::Kept => Given::Waits { notify: call.fields[0] == 1 },
            Outcome::Dropped(reason) => Given::Dropped(call.packet, self.service.as_drop(reason)),
            _ => Given::Again(call.packet),
        }
    }

    /// Whether a queue is being released.
    pub(crate) fn is_releasing(&self) -> bool {
        self.service.is_closed()
    }
}

/// Counts a packet that waited and is dropped.
pub(crate) fn count_dropped(service: &SharedDeployment, call: &Call, ledger: &WorkerLedger) {
    let Outcome::Dropped(reason) = call.outcome else { return };
    ledger.released.add(1, call.packet.len());
    ledger.count_drop(service.as_drop(reason), call.packet.len());
}
