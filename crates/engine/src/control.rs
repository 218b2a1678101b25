//! The control plane's handle on running workers.

use crate::buffer::{BufferLimits, Buffers};
use crate::ledger::{Ledger, WorkerLedger};
use crate::worker::Worker;
use base::{Packet, PortId};
use crossbeam_channel::{Receiver, Sender, bounded};
use pktio::Port;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;
use target::Target;

/// The ports that one worker polls. Several may have one number: the queues of one interface; the first of them sends.
pub type WorkerPorts = Vec<(PortId, Box<dyn Port>)>;

/// Choices of the operator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// How much may wait in idle-mode buffers.
    pub buffers: BufferLimits,
}

/// What workers tell the control plane.
#[derive(Debug)]
pub enum Event {
    /// A packet that the program punted.
    Punt {
        /// The packet as the program left it.
        packet: Packet,
        /// The program's reason.
        reason: u8,
        /// The program's mark.
        mark: u32,
    },
    /// A packet of a PDR went into its empty buffer, or as many wait there again.
    Buffering {
        /// The PDR's number.
        pdr: u32,
    },
    /// A port failed and is no longer used.
    PortDown {
        /// Which.
        port: PortId,
        /// Why.
        why: String,
    },
}

/// What becomes of a PDR's buffered packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferFate {
    /// They run through the program again, in order, before any later packet.
    Release,
    /// They are dropped as `buffer_discarded`.
    Discard,
}

/// Why the engine did not start or did not answer.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Caller's fault.
    #[error("{0}")]
    Config(String),
    /// A worker thread is gone.
    #[error("worker {0} has stopped")]
    WorkerGone(usize),
}

pub(crate) enum Command {
    /// Through the program.
    Inject(Vec<Packet>),
    /// Straight out of a port.
    Transmit { port: PortId, packet: Packet },
    /// Stop between two bursts, say so, and go on with what `resume` brings.
    Hold { arrived: Sender<()>, resume: Receiver<Vec<(u32, BufferFate)>> },
    /// End.
    Stop,
}

/// Running workers. Stopped by [`Engine::stop`] or on drop.
pub struct Engine {
    workers: Vec<Running>,
    ledgers: Vec<Arc<WorkerLedger>>,
    ports: Vec<PortId>,
}

struct Running {
    commands: Sender<Command>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Engine {
    /// Starts one thread for each element of `workers`. Packets that are punted and buffers that fill go to `events`.
    pub fn start(
        target: &Arc<dyn Target>,
        workers: Vec<WorkerPorts>,
        settings: Settings,
        events: Sender<Event>,
    ) -> Result<Engine, EngineError> {
        let mut ports: Vec<PortId> = workers.iter().flatten().map(|(id, _)| *id).collect();
        ports.sort();
        ports.dedup();
        if let Some(bad) = ports.iter().find(|id| id.0 > PortId::MAX) {
            return Err(EngineError::Config(format!("port number {bad} exceeds {}", PortId::MAX)));
        }
        let epoch = Instant::now();
        let mut engine = Engine { workers: Vec::new(), ledgers: Vec::new(), ports };
        for (index, ports) in workers.into_iter().enumerate() {
            let ledger = Arc::new(WorkerLedger::new(ports.iter().map(|(id, _)| *id)));
            let (commands, receiver) = bounded(1024);
            let buffers = Buffers::new(settings.buffers);
            let worker = Worker::new(target.lane(index), ports, buffers, receiver, events.clone(), ledger.clone(), epoch);
            let thread = std::thread::Builder::new()
                .name(format!("worker-{index}"))
                .spawn(move || worker.run())
                .map_err(|e| EngineError::Config(format!("cannot start worker {index}: {e}")))?;
            engine.workers.push(Running { commands, thread: Mutex::new(Some(thread)) });
            engine.ledgers.push(ledger);
        }
        Ok(engine)
    }

    /// Runs packets through the program as if they had come in by their `port`.
    pub fn inject(&self, packets: Vec<Packet>) -> Result<(), EngineError> {
        self.send(0, Command::Inject(packets))
    }

    /// Sends a frame straight out of `port`.
    pub fn transmit(&self, port: PortId, packet: Packet) -> Result<(), EngineError> {
        self.send(0, Command::Transmit { port, packet })
    }

    /// Makes a change while every worker stands between two bursts, and settles buffers before they go on: so that
    /// no packet that comes after the change overtakes one that waited before it. If `change` fails, nothing is settled.
    pub fn settle<E>(&self, buffers: &[(u32, BufferFate)], change: impl FnOnce() -> Result<(), E>) -> Result<Result<(), E>, EngineError> {
        let (arrived, arrivals) = bounded(self.workers.len());
        let mut resumes = Vec::with_capacity(self.workers.len());
        for index in 0..self.workers.len() {
            let (resume, receiver) = bounded(1);
            self.send(index, Command::Hold { arrived: arrived.clone(), resume: receiver })?;
            resumes.push(resume);
        }
        drop(arrived);
        for index in 0..self.workers.len() {
            arrivals.recv().map_err(|_| EngineError::WorkerGone(index))?;
        }
        let result = change();
        for resume in resumes {
            let _ = resume.send(if result.is_ok() { buffers.to_vec() } else { Vec::new() });
        }
        Ok(result)
    }

    /// Counters of all workers now.
    pub fn ledger(&self) -> Ledger {
        Ledger::sum(self.ledgers.iter().map(Arc::as_ref))
    }

    /// The numbers of all ports.
    pub fn ports(&self) -> &[PortId] {
        &self.ports
    }

    /// Stops all workers after their current burst. What waits in buffers is dropped as `stopping`. The counts remain;
    /// calls that need a worker fail from now on. Stopping twice is no fault.
    pub fn stop(&self) {
        for worker in &self.workers {
            let _ = worker.commands.send(Command::Stop);
        }
        for worker in &self.workers {
            let thread = worker.thread.lock().unwrap_or_else(|e| e.into_inner()).take();
            if let Some(thread) = thread {
                let _ = thread.join();
            }
        }
    }

    fn send(&self, worker: usize, command: Command) -> Result<(), EngineError> {
        self.workers[worker].commands.send(command).map_err(|_| EngineError::WorkerGone(worker))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop();
    }
}
