//! What does control code ask of a worker? Commands go down a channel of each.

use crate::message::{Aside, Drained, Hold};
use crate::port::EnginePort;
use base::{Packet, PortId};
use crossbeam_channel::Sender;

/// What control code asks of a worker, between two bursts.
pub(crate) enum Command {
    /// Through the program.
    Inject(Vec<Packet>),
    /// Straight out of a port.
    Transmit { port: PortId, packet: Packet },
    /// Stop between two bursts.
    Hold(Hold),
    /// Drop the sender between two bursts.
    Pass(Sender<()>),
    /// Put packets of some buckets aside; the sender is dropped when that has begun.
    Aside(Aside, Sender<()>),
    /// Say when all is received that waits in these ports now, and has left: the sender is then dropped.
    Drain(Drained, Sender<()>),
    /// One more device of a port, behind those that there are; the sender is dropped when the worker has it.
    AddPort(Box<EnginePort>, Sender<()>),
    /// Receive from a port that was added.
    Listen(PortId),
    /// A port goes: run what it has received, send what waits for it or drop it, and close its devices; the sender is dropped then.
    RemovePort(PortId, Sender<()>),
    /// There are packets in the ring.
    Wake,
    /// End.
    Stop,
}
