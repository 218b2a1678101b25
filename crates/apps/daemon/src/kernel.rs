//! How is the program loaded into the kernel's XDP hook, ahead of the engine, and how do its misses reach the engine's ports?
//!
//! Load, attach to each interface, join sockets, and, when tables and workers are ready, go live ([`Kernel::go_live`]). Until
//! then XDP forwards nothing. Ports of drivers other than `af_xdp` and `auto` take no part: packets that arrive there the
//! base target runs, and packets that leave by them go to the slow path.

use crate::config::{Config, Port};
use crate::failure::Failure;
use crate::objects::Objects;
use crate::program::Program;
use base::PortId;
use pktio::{AfXdp, Interface, interface};
use std::os::fd::AsFd;
use std::sync::Arc;
use target::Ahead;
use target_xdp::probe::{self, Probe};
use target_xdp::{EntryPoints, LoadError, Mode, Options, Xdp, sends_redirected, socket_key};

/// Entries that each session table holds if the configuration does not say.
const CAPACITY: u64 = 65_536;

/// With the value 1 in the environment the kernel is not asked which interfaces send what is redirected to them: see [`Probe`].
pub const PROBE_VARIABLE: &str = "SPLITPLANE_XDP_PROBE";

/// The program in the kernel, and the interfaces that it hangs on.
pub struct Kernel {
    /// The target.
    pub xdp: Arc<Xdp>,
    hooked: Vec<Hooked>,
    ticks: u32,
    /// Whether the kernel is asked what interfaces can do.
    asks: bool,
    /// Tries veths, where the kernel does not say. Loaded at the start: later no compiler may run.
    probe: Option<Probe>,
}

/// Ticks of the agent between two checks of the egress interfaces: half a second.
const TICKS_BETWEEN: u32 = 10;
/// Index of the loopback interface, which each network namespace has: whether the kernel says anything.
const LOOPBACK: u32 = 1;
/// Looks from one trial of a veth that took nothing to the next: it counts each as a frame that it dropped.
const LOOKS_BETWEEN: u32 = 10;

struct Hooked {
    port: PortId,
    name: String,
    interface: Interface,
    mode: Mode,
    /// Whether it was deleted, and the program is not attached to a new one of its name yet.
    away: bool,
    /// Whether it transmitted redirected packets at the last check.
    sends: Option<bool>,
    tried: Tried,
}

/// What was seen of a veth whose kernel does not say what it sends.
#[derive(Default)]
struct Tried {
    /// At the last check: frames that the program sent to it, and redirected frames that its far end accepted.
    sent: u64,
    taken: u64,
    looks: u32,
}

impl Tried {
    /// Whether a frame must be spent to find out: not while the far end takes what is sent, nor while nothing is; and seldom where it
    /// takes nothing.
    fn again(&mut self, sends: Option<bool>, sent: u64, taken: u64) -> bool {
        let (none_sent, none_taken) = (sent == self.sent, taken == self.taken);
        (self.sent, self.taken) = (sent, taken);
        self.looks = self.looks.wrapping_add(1);
        match sends {
            None => true,
            Some(true) => none_taken && !none_sent,
            Some(false) => self.looks.is_multiple_of(LOOKS_BETWEEN),
        }
    }
}

impl Kernel {
    /// Loads the program, compiled if there is no object of it; the kernel verifies it. It is attached to no interface yet.
    pub fn load(config: &Config, program: &Program, objects: &Objects) -> Result<Kernel, Failure> {
        let text = program.xdp_text()?;
        let split_entries = config.split.capacity.unwrap_or(CAPACITY);
        // The seed keys the tables' hashes: traffic must not be able to aim at one hash bucket.
        let (entries, entry) = (split_entries.max(CAPACITY), EntryPoints::Interfaces);
        let Objects { shipped, cache } = objects.clone();
        let options = Options { entries, split_entries, seed: rand::random(), entry, shipped, cache, ..Options::default() };
        let xdp = Xdp::load(Arc::new(program.ir.program.clone()), &text, &options).map_err(failure)?;
        let asks = c_compile::environment::trusted(PROBE_VARIABLE).is_none_or(|value| value != "1");
        let probe = if asks && sends_redirected(LOOPBACK).is_some() { None } else { load_probe(objects) };
        Ok(Kernel { xdp: Arc::new(xdp), hooked: Vec::new(), ticks: 0, asks, probe })
    }

    /// Attaches the program to the port's interface and opens its queues for `workers`, which get the packets that the program misses.
    pub fn open(&mut self, port: &Port, id: PortId, workers: usize) -> Result<Vec<Vec<AfXdp>>, Failure> {
        let (slot, interface) = self.hook(port, id)?;
        let sockets = self.xdp.sockets().map_err(failure)?;
        let key = |queue| socket_key(slot, queue);
        let joined = pktio::af_xdp::Joined { sockets: sockets.as_fd(), key: &key, reserve: target_xdp::RESERVE };
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
        self.hooked.push(Hooked { port: id, name: port.name.clone(), interface, mode, away: false, sends: None, tried: Tried::default() });
        Ok((slot, name))
    }

    /// Lets the program carry packets: its tables are filled, and workers poll the sockets.
    pub fn go_live(&mut self) -> Result<(), Failure> {
        self.look_at_ways_out();
        for (slot, hooked) in self.hooked.iter().enumerate() {
            self.xdp.set_port(hooked.interface.index, Some((hooked.port, slot as u32))).map_err(failure)?;
            if self.xdp.is_retired() {
                tracing::warn!(port = hooked.name, interface = hooked.interface.name, "XDP forwards nothing: all packets go through x86");
                continue;
            }
            let mode = if hooked.mode == Mode::Native { "in the driver" } else { "before the stack" };
            tracing::info!(port = hooked.name, interface = hooked.interface.name, mode, "XDP is active");
            if hooked.interface.driver == "veth" {
                let hint = "XDP cannot complete checksums: turn off checksum offload at the veth's far end (`ethtool -K NAME tx off`)";
                tracing::info!(port = hooked.name, "{hint}");
            }
        }
        Ok(())
    }

    /// The agent's tick.
    pub fn tick(&mut self) {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(TICKS_BETWEEN) {
            self.look_at_interfaces();
            self.look_at_ways_out();
        }
    }

    /// Attaches the program to an interface that was deleted and exists again. Ports reopen their sockets themselves.
    fn look_at_interfaces(&mut self) {
        for (slot, hooked) in (0u32..).zip(&mut self.hooked) {
            if !hooked.away {
                if interface::index_exists(hooked.interface.index) {
                    continue;
                }
                tracing::warn!(port = hooked.name, interface = hooked.interface.name, "the interface was deleted: XDP is detached");
                hooked.away = true;
                let forgotten = self.xdp.set_way_out(hooked.port, None).and_then(|()| self.xdp.detach(hooked.interface.index));
                if let Err(error) = forgotten {
                    tracing::error!("{}: {error}", hooked.name);
                }
            }
            if let Err(why) = hooked.come_back(&self.xdp, slot) {
                tracing::debug!("{}: XDP is not on its interface again: {why}", hooked.name);
            }
        }
    }

    /// Looks which interfaces send what is redirected to them, now and then: a veth's far end may change its mind, and the kernel
    /// would lose the packets without a word. What leaves by the others goes through x86.
    fn look_at_ways_out(&mut self) {
        // What comes in before the stack leaves through it, which any interface can.
        let native = self.hooked.iter().any(|h| h.mode == Mode::Native);
        for hooked in self.hooked.iter_mut().filter(|h| !h.away) {
            let (veth, index) = (hooked.interface.driver == "veth", hooked.interface.index);
            let told = if self.asks { sends_redirected(index) } else { None };
            let now = match told {
                _ if !native => true,
                Some(told) => told,
                None if veth => try_veth(&self.xdp, hooked, self.probe.as_ref()),
                // Drivers that run programs send what others redirect to them.
                None => true,
            };
            if hooked.sends == Some(now) {
                continue;
            }
            let Hooked { port, name, .. } = hooked;
            if let Err(error) = self.xdp.set_way_out(*port, now.then_some(index)) {
                tracing::error!("{name}: {error}");
            }
            let remedy = if veth { ": turn GRO on at its far end (`ethtool -K NAME gro on`), or run an XDP program there" } else { "" };
            match (now, hooked.sends) {
                (false, _) => tracing::warn!("{name}: {SENDS_NOTHING}; packets to it go through x86{remedy}"),
                (true, Some(false)) => tracing::info!("{name}: the interface transmits redirected packets again"),
                (true, _) => {}
            }
            hooked.sends = Some(now);
        }
    }
}

impl Hooked {
    /// Onto the interface that has the name now, if there is one.
    fn come_back(&mut self, xdp: &Xdp, slot: u32) -> Result<(), String> {
        let interface = Interface::find(&self.name, &self.interface.name).map_err(|e| e.to_string())?;
        let mode = xdp.attach(&interface.name, interface.index).map_err(|e| e.to_string())?;
        if let Err(error) = xdp.set_port(interface.index, Some((self.port, slot))) {
            // Without a port it would pass all packets to the kernel.
            return Err(xdp.detach(interface.index).err().unwrap_or(error).to_string());
        }
        tracing::warn!(port = self.name, interface = interface.name, "the interface exists again: XDP is attached");
        (self.interface, self.mode, self.away) = (interface, mode, false);
        (self.sends, self.tried) = (None, Tried::default());
        Ok(())
    }
}

/// The log's words for a way out that is none for XDP.
pub const SENDS_NOTHING: &str = "the interface does not transmit packets that XDP redirects to it";

/// The log's words for a frame that tried a way out and came to its far end: none of the UPF's.
pub const FAR_END_TOOK: &str = "a probe frame reached the interface's far end";

fn load_probe(objects: &Objects) -> Option<Probe> {
    match Probe::load(objects.shipped.as_ref()) {
        Ok(probe) => {
            tracing::info!(
                "the kernel does not report (before Linux 6.3), or is not asked, whether interfaces transmit redirected packets: probing each veth"
            );
            Some(probe)
        }
        Err(error) => {
            tracing::warn!(
                "the kernel does not report whether interfaces transmit redirected packets, and veths cannot be probed: {error}"
            );
            None
        }
    }
}

/// Whether a veth sends what is redirected to it, by what it counts, and, where that does not tell, by a frame. What cannot be found
/// out is a no.
fn try_veth(xdp: &Xdp, hooked: &mut Hooked, probe: Option<&Probe>) -> bool {
    let Some(probe) = probe else { return false };
    let Interface { name, index, mac, .. } = &hooked.interface;
    // What has been sent before it is asked what was taken.
    let sent = xdp.carried().sent.get(&hooked.port).map_or(0, |count| count.packets);
    let found = probe::taken(name).and_then(|taken| {
        if !hooked.tried.again(hooked.sends, sent, taken) {
            return Ok(hooked.sends == Some(true));
        }
        let found = probe.sends_redirected(name, *index, *mac)?;
        // The frame that tried it says nothing of those that come after it.
        hooked.tried.taken = probe::taken(name)?;
        if found {
            tracing::info!(port = hooked.name, "{FAR_END_TOOK}");
        }
        Ok(found)
    });
    found.unwrap_or_else(|error| {
        if hooked.sends != Some(false) {
            tracing::warn!("{}: cannot probe whether {name} transmits redirected packets: {error}", hooked.name);
        }
        false
    })
}

fn failure(error: LoadError) -> Failure {
    Failure::Usage(format!("split.fast = \"xdp\": {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame is spent when nothing is known, when what is sent is not taken, and now and then where nothing was taken.
    #[test]
    fn a_veth_is_tried_only_when_its_counts_do_not_tell() {
        let mut tried = Tried::default();
        assert!(tried.again(None, 0, 0));
        // Idle, and carrying.
        assert!(!tried.again(Some(true), 0, 0));
        assert!(!tried.again(Some(true), 10, 10));
        assert!(!tried.again(Some(true), 20, 11));
        // Others redirect to it, too: someone takes what comes.
        assert!(!tried.again(Some(true), 20, 15));
        // Sent, and not taken; the frame that tries it is taken, and counts.
        assert!(tried.again(Some(true), 21, 15));
        assert!(!tried.again(Some(true), 30, 16));
        let trials = (0..1000).filter(|_| tried.again(Some(false), 30, 16)).count();
        assert_eq!(trials, 1000 / LOOKS_BETWEEN as usize);
    }
}
