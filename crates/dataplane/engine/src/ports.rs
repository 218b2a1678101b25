//! Ports that come and go while packets flow.
//!
//! A new port can be sent by at once, and is not received from until [`Engine::listen`]: in between its caller changes the tables, so that what has
//! arrived meanwhile is known when it is run. Before a port goes, the caller lets no packet lead to it any more. What has arrived by it is run, what waits
//! for it is sent, or dropped as `port_down`, and its counts stay.

use crate::command::Command;
use crate::control::{Control, Engine, EngineError, Inner};
use crate::master::MasterCommand;
use crate::port::EnginePort;
use crate::queues::{Line, QueueSettings};
use crate::scale::{Moves, Steered, is_fixed};
use base::PortId;
use crossbeam_channel::{Sender, bounded};
use pktio::Port;
use std::sync::{Arc, PoisonError};

/// A port to be added.
pub struct NewPort {
    /// Its number, which no other has.
    pub id: PortId,
    /// For each worker that there may be the devices that it polls; where a master receives, for that one alone.
    pub of_workers: Vec<Vec<Box<dyn Port>>>,
    /// Its rate, and queues in which packets wait for it.
    pub queues: Option<QueueSettings>,
}

impl Engine {
    /// Adds a port, by which packets can be sent when this returns. With an error nothing has changed.
    ///
    /// # Errors
    /// [`EngineError::Config`] if it does not fit what the engine was started with: how many workers there may be, and how packets come to them.
    pub fn add_port(&self, port: NewPort) -> Result<(), EngineError> {
        let inner = &self.inner;
        let moves = inner.moves();
        inner.may_add(&port)?;
        let id = port.id;
        let added = inner.add_port(&moves, port);
        if added.is_err() {
            let _ = inner.remove_port(&moves, id);
        }
        added
    }

    /// From now on packets are received from a port that was added.
    ///
    /// # Errors
    /// If a worker has failed, or all have stopped.
    pub fn listen(&self, id: PortId) -> Result<(), EngineError> {
        let _moves = self.inner.moves();
        let mut control = self.inner.lock();
        if let Some(master) = &control.master {
            return master.commands.send(MasterCommand::Listen(id)).map_err(|_| EngineError::Stopped);
        }
        for slot in control.running() {
            control.send(slot, Command::Listen(id))?;
        }
        let waiting = control.slots.iter_mut().filter_map(|slot| slot.ports.as_mut());
        waiting.flatten().filter(|port| port.id == id).for_each(|port| port.listens = true);
        Ok(())
    }

    /// Takes a port away. When this returns its devices are closed.
    ///
    /// # Errors
    /// As [`Engine::listen`].
    pub fn remove_port(&self, id: PortId) -> Result<(), EngineError> {
        self.inner.remove_port(&self.inner.moves(), id)
    }
}

fn refuse(what: String) -> Result<(), EngineError> {
    Err(EngineError::Config(what))
}

/// What steers packets to a port's queues.
fn steered(port: &NewPort) -> Vec<(usize, u16, Steered)> {
    let of = |(slot, devices): (usize, &Vec<Box<dyn Port>>)| {
        let steering = devices.iter().filter_map(|device| device.steering());
        steering.map(|(queue, steering)| (slot, queue, (port.id, steering))).collect::<Vec<_>>()
    };
    port.of_workers.iter().enumerate().flat_map(of).collect()
}

impl Inner {
    fn may_add(&self, port: &NewPort) -> Result<(), EngineError> {
        let NewPort { id, of_workers, queues } = port;
        let control = self.lock();
        if control.stopped {
            return Err(EngineError::Stopped);
        }
        if id.0 > PortId::MAX || self.ports.read().unwrap_or_else(PoisonError::into_inner).contains(id) {
            return refuse(format!("port number {id} is in use or exceeds {}", PortId::MAX));
        }
        let wanted = if control.master.is_some() { 1 } else { control.slots.len() };
        if of_workers.len() != wanted {
            return refuse(format!("port {id} has devices for {} workers instead of {wanted}", of_workers.len()));
        }
        if queues.is_some() && control.master.is_some() {
            return refuse("ports have no queues where one thread sends for all workers".into());
        }
        let (Some(table), None) = (&self.table, &control.master) else { return Ok(()) };
        let fits = |(slot, queue, (_, steering)): &(usize, u16, Steered)| {
            usize::from(*queue) == *slot && steering.buckets() == table.len() && steering.queues() >= wanted
        };
        if !steered(port).iter().all(fits) {
            return refuse(format!("port {id} cannot be steered together with the others: worker n must have queue n of each"));
        }
        Ok(())
    }

    fn add_port(&self, _moves: &Moves, port: NewPort) -> Result<(), EngineError> {
        let mut control = self.lock();
        self.ports.write().unwrap_or_else(PoisonError::into_inner).push(port.id);
        if let Some(queues) = &port.queues {
            let marks = self.settings.marks.as_ref().map(|of| of.marks.clone());
            self.lines.lock().unwrap_or_else(PoisonError::into_inner).insert(port.id, Line::new(queues.clone(), marks));
        }
        if control.master.is_some() {
            return Self::add_to_master(&control, port);
        }
        self.steer_as_others(&steered(&port))?;
        let NewPort { id, mut of_workers, .. } = port;
        let running = control.running();
        // Who alone receives from a port must run.
        let alone = of_workers.iter().position(|devices| devices.iter().any(|device| is_fixed(&**device)));
        if let (Some(at), Some(first), true) = (alone, running.first(), self.table.is_some())
            && !running.contains(&at)
        {
            of_workers.swap(at, *first);
        }
        for (slot, devices) in of_workers.into_iter().enumerate() {
            self.add_to_slot(&mut control, slot, id, devices)?;
        }
        Ok(())
    }

    fn add_to_master(control: &Control, port: NewPort) -> Result<(), EngineError> {
        let Some(master) = &control.master else { return Ok(()) };
        for device in port.of_workers.into_iter().flatten() {
            let port = EnginePort::open(port.id, device, &master.ledger).deaf();
            let slots = control.running().into_iter();
            let handles = slots.map(|slot| Ok((slot, port.transmitter(&control.slots[slot].ledger)?)));
            let handles: Vec<(usize, EnginePort)> = handles.collect::<Result<_, EngineError>>()?;
            master.ask(|done| MasterCommand::AddPort(Box::new(port), done))?;
            for (slot, handle) in handles {
                control.ask(slot, |done| Command::AddPort(Box::new(handle), done))?;
            }
        }
        Ok(())
    }

    /// Its buckets are where those of the other ports are.
    fn steer_as_others(&self, steered: &[(usize, u16, Steered)]) -> Result<(), EngineError> {
        let Some(table) = &self.table else { return Ok(()) };
        let pairs: Vec<(u16, u16)> = table.owners().into_iter().enumerate().map(|(bucket, owner)| (bucket as u16, owner)).collect();
        let mut all = self.steering.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, _, (id, steering)) in steered {
            if all.iter().any(|(known, same)| known == id && Arc::ptr_eq(same, steering)) {
                continue;
            }
            steering.assign(&pairs)?;
            steering.settle()?;
            all.push((*id, steering.clone()));
        }
        Ok(())
    }

    /// Gives a slot's worker a port's devices, or keeps them for the one that will run there.
    fn add_to_slot(&self, control: &mut Control, slot: usize, id: PortId, devices: Vec<Box<dyn Port>>) -> Result<(), EngineError> {
        if devices.iter().any(|device| is_fixed(&**device)) {
            control.slots[slot].fixed.insert(id);
        }
        for device in devices {
            let at = &mut control.slots[slot];
            let mut port = EnginePort::open(id, device, &at.ledger).deaf();
            match &mut at.ports {
                Some(ports) => ports.push(port),
                None => {
                    if let Some(line) = self.lines.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
                        port.queues = Some(line.queues());
                    }
                    control.ask(slot, |done| Command::AddPort(Box::new(port), done))?;
                }
            }
        }
        Ok(())
    }

    fn remove_port(&self, _moves: &Moves, id: PortId) -> Result<(), EngineError> {
        let mut control = self.lock();
        self.steering.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _)| *of != id);
        for slot in control.running() {
            control.ask(slot, |done| Command::RemovePort(id, done))?;
        }
        if let Some(master) = &control.master {
            master.ask(|done| MasterCommand::RemovePort(id, done))?;
        }
        for slot in &mut control.slots {
            slot.fixed.remove(&id);
            if let Some(ports) = &mut slot.ports {
                ports.retain(|port| port.id != id);
            }
        }
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        self.ports.write().unwrap_or_else(PoisonError::into_inner).retain(|of| *of != id);
        Ok(())
    }
}

impl Control {
    /// Gives a worker a command with a sender in it, and waits until it drops that.
    fn ask(&self, slot: usize, command: impl FnOnce(Sender<()>) -> Command) -> Result<(), EngineError> {
        let (done, wait) = bounded(0);
        self.send(slot, command(done))?;
        while wait.recv().is_ok() {}
        Ok(())
    }
}
