//! An engine on two veth pairs, one queue each: its workers share the queues' AF_XDP sockets, and a program in the kernel gives each
//! UE's packets to its worker. A thread at the far ends sends as fast as it can, and takes what comes out.
//!
//! The pairs are in a network namespace of their own (`namespace.rs`). As root.

use super::namespace;
use super::sessions::{Direction, N3, N6};
use base::{Packet, PortId};
use cli::failure::Failure;
use engine::{Engine, Event, Settings, SteerFn, WorkerPorts};
use pktio::af_xdp::Options;
use pktio::{AfXdp, Port};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use target_api::{BURST, Target};

/// Looks at the far end, and the time between two, that find nothing more before all counts as out.
const LAST_LOOKS: u32 = 20;
const LAST_LOOK: Duration = Duration::from_millis(1);

/// The engine, and the far ends of N3 and N6.
pub(super) struct Wire {
    /// It runs until this is dropped.
    pub engine: Engine,
    far: [AfXdp; 2],
}

impl Wire {
    /// With so many workers, pinned to the cores in turn.
    pub(super) fn new(target: &Arc<dyn Target>, workers: usize, cores: &[usize]) -> Result<Wire, Failure> {
        namespace::inside(&workers.to_string(), || Wire::inside(target, workers, cores))
    }

    fn inside(target: &Arc<dyn Target>, workers: usize, cores: &[usize]) -> Result<Wire, Failure> {
        let mut of_workers: Vec<WorkerPorts> = (0..workers).map(|_| Vec::new()).collect();
        let mut far = Vec::new();
        for id in [N3, N6] {
            let (near, end) = (format!("near{id}"), format!("far{id}"));
            namespace::pair(&near, &end)?;
            let ports =
                AfXdp::open_steered("near", &near, workers, daemon::datapath::open::frames(id), Options::default()).map_err(failed)?;
            for (worker, ports) in of_workers.iter_mut().zip(ports) {
                worker.extend(ports.into_iter().map(|port| (id, Box::new(port) as Box<dyn Port>)));
            }
            far.push(AfXdp::open("far", &end, Options::default()).map_err(failed)?);
        }
        let hash: SteerFn = upf::steer::ue_hash;
        let settings = Settings { cores: cores.to_vec(), port_hash: Some(hash), ..Settings::default() };
        let (events, _): (_, crossbeam_channel::Receiver<Event>) = crossbeam_channel::bounded(1);
        let engine = Engine::start(target, of_workers, settings, events).map_err(failed)?;
        let far = far.try_into().map_err(|_| Failure::Failed("two far ends".into()))?;
        Ok(Wire { engine, far })
    }

    /// Sends what `source` gives in a direction while `measure` runs, and until all of it is out.
    pub(super) fn feed<T>(
        &mut self,
        direction: Direction,
        mut source: impl Port,
        measure: impl FnOnce(&Engine) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Wire { engine, far: [n3, n6] } = self;
        let engine = &*engine;
        let (into, out) = if direction == Direction::Uplink { (n3, n6) } else { (n6, n3) };
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let stop = &stop;
            let feeder = std::thread::Builder::new().name("feeder".into()).spawn_scoped(scope, move || -> Result<(), pktio::PortError> {
                let mut burst: Vec<Packet> = (0..BURST).map(|_| Packet::empty(0)).collect();
                let mut taken: Vec<Packet> = (0..BURST).map(|_| Packet::new(&[], PortId(0))).collect();
                let mut quiet = 0;
                while quiet < LAST_LOOKS {
                    if stop.load(Relaxed) {
                        quiet += 1;
                        std::thread::sleep(LAST_LOOK);
                    } else {
                        let n = source.receive(&mut burst)?;
                        let mut sent = 0;
                        while sent < n {
                            sent += into.transmit(&burst[sent..n])?;
                            into.flush()?;
                        }
                    }
                    while out.receive(&mut taken)? > 0 || (stop.load(Relaxed) && engine.ledger().imbalance() != 0) {
                        quiet = 0;
                    }
                }
                Ok(())
            });
            let feeder = feeder.map_err(failed)?;
            let result = measure(engine);
            stop.store(true, Relaxed);
            feeder.join().map_err(|_| Failure::Failed("the feeder failed".into()))?.map_err(failed)?;
            result
        })
    }
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}
