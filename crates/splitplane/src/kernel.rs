//! How does the program come into the kernel's XDP hook, ahead of the engine, and how do the engine's ports get what it hands on?
//!
//! Load, attach to each interface, join sockets, and, when tables and workers are ready, go live ([`Kernel::go_live`]). Until
//! then interfaces carry nothing. Ports of drivers other than `af_xdp` and `auto` have no part in this: what comes by them the
//! base target runs, and what leaves by them is handed on.

use crate::config::{Config, Port};
use crate::failure::Failure;
use base::PortId;
use p4_ir::Ir;
use pktio::{AfXdp, Interface};
use std::os::fd::AsFd;
use std::sync::Arc;
use target_xdp::{LoadError, Mode, Options, Xdp, sends_redirected, socket_key};

/// Entries that each session table holds if the configuration does not say.
const CAPACITY: u64 = 65_536;

/// The program in the kernel, and the interfaces that it hangs on.
pub struct Kernel {
    /// The target.
    pub xdp: Arc<Xdp>,
    hooked: Vec<Hooked>,
    ticks: u32,
}

/// Ticks of the agent from one look at the ways out to the next: half a second.
const TICKS_BETWEEN: u32 = 10;

struct Hooked {
    port: PortId,
    name: String,
    interface: Interface,
    mode: Mode,
    /// Whether it sends what is redirected to it, when last looked at.
    sends: Option<bool>,
}

impl Kernel {
    /// Loads the program, for the kernel to verify; no interface knows of it yet.
    pub fn load(config: &Config, ir: &Ir) -> Result<Kernel, Failure> {
        let text = p4_emit::bpf::emit_xdp(ir).map_err(|e| Failure::Usage(e.to_string()))?;
        let split_entries = config.split.capacity.unwrap_or(CAPACITY);
        // The seed keys the tables' hashes: traffic must not be able to aim at one bucket.
        let options = Options { entries: split_entries.max(CAPACITY), split_entries, seed: rand::random(), ..Options::default() };
        let xdp = Xdp::load(Arc::new(ir.program.clone()), &text, &options).map_err(failure)?;
        Ok(Kernel { xdp: Arc::new(xdp), hooked: Vec::new(), ticks: 0 })
    }

    /// Attaches the program to the port's interface and opens its queues for `workers`, which get what the program hands on.
    pub fn open(&mut self, port: &Port, id: PortId, workers: usize) -> Result<Vec<Vec<AfXdp>>, Failure> {
        let (slot, interface) = self.hook(port, id)?;
        let sockets = self.xdp.sockets().map_err(failure)?;
        let joined = pktio::af_xdp::Joined { sockets: sockets.as_fd(), key: &|queue| socket_key(slot, queue) };
        pktio::join_queues(&port.name, &interface, workers, &joined).map_err(|e| Failure::Usage(e.to_string()))
    }

    /// As [`Kernel::open`], where each of the workers gets its UEs' packets.
    pub fn open_steered(&mut self, port: &Port, id: PortId, workers: usize) -> Result<Vec<Vec<AfXdp>>, Failure> {
        let (slot, interface) = self.hook(port, id)?;
        let joined = pktio::join_steered(&port.name, &interface, workers, crate::run::frames(id));
        let (ports, steerer) = joined.map_err(|e| Failure::Usage(e.to_string()))?;
        self.xdp.set_steerer(slot, steerer.as_fd()).map_err(failure)?;
        Ok(ports)
    }

    /// Attaches the program to the port's interface; the slot and the interface's name.
    fn hook(&mut self, port: &Port, id: PortId) -> Result<(u32, String), Failure> {
        let found = Interface::find(&port.name, port.interface.as_deref().unwrap_or_default());
        let interface = found.map_err(|e| Failure::Usage(e.to_string()))?;
        let slot = self.hooked.len() as u32;
        let mode = self.xdp.attach(&interface.name, interface.index).map_err(failure)?;
        let name = interface.name.clone();
        self.hooked.push(Hooked { port: id, name: port.name.clone(), interface, mode, sends: None });
        Ok((slot, name))
    }

    /// Lets the program carry packets: its tables are filled, and workers poll the sockets.
    pub fn go_live(&mut self) -> Result<(), Failure> {
        self.look_at_ways_out();
        for (slot, hooked) in self.hooked.iter().enumerate() {
            self.xdp.set_port(hooked.interface.index, Some((hooked.port, slot as u32))).map_err(failure)?;
            let mode = if hooked.mode == Mode::Native { "in the driver" } else { "before the stack" };
            tracing::info!(port = hooked.name, interface = hooked.interface.name, mode, "XDP carries packets");
            if hooked.interface.driver == "veth" {
                let hint = "XDP finishes no checksums: turn off checksum offload at the veth's far end (`ethtool -K NAME tx off`)";
                tracing::info!(port = hooked.name, "{hint}");
            }
        }
        Ok(())
    }

    /// The agent's tick.
    pub fn tick(&mut self) {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(TICKS_BETWEEN) {
            self.look_at_ways_out();
        }
    }

    /// Looks which interfaces send what is redirected to them, now and then: a veth's far end may change its mind, and the kernel
    /// would lose the packets without a word. What leaves by the others goes through x86.
    fn look_at_ways_out(&mut self) {
        // What comes in before the stack leaves through it, which any interface can.
        let native = self.hooked.iter().any(|h| h.mode == Mode::Native);
        for Hooked { port, name, interface, sends, .. } in &mut self.hooked {
            let veth = interface.driver == "veth";
            let now = !native || sends_redirected(interface.index).unwrap_or(!veth);
            if *sends == Some(now) {
                continue;
            }
            if let Err(error) = self.xdp.set_way_out(*port, now.then_some(interface.index)) {
                tracing::error!("{name}: {error}");
            }
            let remedy = if veth { ": turn GRO on at its far end (`ethtool -K NAME gro on`), or run an XDP program there" } else { "" };
            match (now, *sends) {
                (false, _) => tracing::warn!(
                    "{name}: the interface sends nothing that XDP redirects to it, so what leaves by it goes through x86{remedy}"
                ),
                (true, Some(false)) => tracing::info!("{name}: the interface sends again what XDP redirects to it"),
                (true, _) => {}
            }
            *sends = Some(now);
        }
    }
}

fn failure(error: LoadError) -> Failure {
    Failure::Usage(format!("split.fast = \"xdp\": {error}"))
}
