//! How is the program loaded into the kernel's XDP hook, ahead of the engine, and how do its misses reach the engine's ports?
//!
//! Load, attach to each interface, join sockets, and, when tables and workers are ready, go live ([`Kernel::go_live`]). Until
//! then XDP forwards nothing. Where this kernel has verified the program before ([`crate::datapath::verified`]), it does so again on a thread of its own, and the program
//! passes all packets to x86 meanwhile ([`Kernel::begin_verification`]). Ports of drivers other than `af_xdp` and `auto` take no part: packets that arrive there the
//! base target runs, and packets that leave by them go to the slow path.

use crate::config::{Config, FastTarget, Port};
use crate::datapath::verified::Verified;
use base::PortId;
use cli::failure::Failure;
use crossbeam_channel::{Receiver, TryRecvError, bounded};
use p4_driver::Program;
use p4_driver::objects::Objects;
use pktio::{AfXdp, Interface, interface};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use target_api::{Ahead, Recovery};
use target_xdp::probe::{self, Probe};
use target_xdp::{EntryPoints, Keep, LoadError, Mode, Options, Xdp, sends_redirected, socket_key};

/// Entries that each other table holds if it is declared with so many, where there may be as many sessions: routes, neighbours, filters. What does not fit runs
/// on x86.
const OTHERS: u64 = 16_384;
/// Fewest of these and of those that sessions have, if the configuration does not say how many: where there are few sessions, too, each may have several rules and filters, and a reload may bring routes.
const LEAST: u64 = 4096;

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
    verification: Verification,
}

/// How far the kernel is with the program.
enum Verification {
    /// It has taken it.
    Done,
    /// It is to be asked, and has taken it before.
    Expected(Verified),
    /// It is at it, on a thread of its own.
    Pending(Receiver<Result<(), LoadError>>),
    /// It has refused it this time: packets go through x86 until the next start.
    Refused,
}

/// Ticks of the agent between two checks of the egress interfaces: half a second.
const TICKS_BETWEEN: u32 = 10;
/// Index of the loopback interface, which each network namespace has: whether the kernel says anything.
const LOOPBACK: u32 = 1;
/// Looks from one trial of a veth that took nothing to the next: it counts each as a frame that it dropped.
const LOOKS_BETWEEN: u32 = 10;

struct Hooked {
    port: PortId,
    /// Where its sockets are in the program's maps: of no other at the same time.
    slot: u32,
    name: String,
    interface: Interface,
    mode: Mode,
    /// Whether it was deleted, and the program is not attached to a new one of its name yet.
    away: bool,
    /// Whether it transmitted redirected packets at the last check.
    sends: Option<bool>,
    tried: Tried,
    refused: Refused,
}

/// Redirected frames that a port's interface has dropped since the program came onto it. Only a veth's are known: other drivers count them under
/// names of their own.
#[derive(Default)]
struct Refused {
    /// What the interface had counted when it was last read.
    seen: u64,
    total: u64,
}

impl Refused {
    /// The program comes onto an interface: what that has counted so far is not ours.
    fn begin(&mut self, interface: &str) {
        self.seen = probe::refused(interface).unwrap_or_default();
    }

    fn read(&mut self, interface: &str) -> u64 {
        if let Ok(now) = probe::refused(interface) {
            self.total += now.saturating_sub(self.seen);
            self.seen = now;
        }
        self.total
    }
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

/// Entries of each session table, and of each other one. Most of the latter take their memory when the program is loaded, so there are no more than the
/// configuration has use for.
fn entries(config: &Config) -> (u64, u64) {
    let of_sessions = (config.n4.max_sessions as u64).max(1).next_power_of_two();
    let configured = config.routes.len() + config.neighbours.len() + config.firewall.len() + config.classes.len();
    let others = of_sessions.clamp(LEAST, OTHERS).max(2 * configured as u64);
    match config.split.capacity {
        Some(capacity) => (capacity, capacity.max(OTHERS)),
        None => (of_sessions.max(LEAST), others),
    }
}

impl Kernel {
    /// Loads the program where the configuration has XDP as its fast target.
    pub fn load_if_asked(config: &Config, program: &Program, objects: &Objects) -> Result<Option<Kernel>, Failure> {
        match config.split.fast {
            Some(FastTarget::Xdp) => Kernel::load(config, program, objects, None).map(Some),
            _ => Ok(None),
        }
    }

    /// As [`Kernel::load_if_asked`]; where it is known from `folder` that this kernel takes the program it is verified when
    /// [`Kernel::begin_verification`] is called.
    pub fn load_early_if_asked(config: &Config, program: &Program, objects: &Objects) -> Result<Option<Kernel>, Failure> {
        // What a daemon before has left there forwards meanwhile, and this one's place is taken by one that is whole.
        let folder = c_compile::environment::state().filter(|_| config.split.keep.is_none());
        match config.split.fast {
            Some(FastTarget::Xdp) => Kernel::load(config, program, objects, folder.as_deref()).map(Some),
            _ => Ok(None),
        }
    }

    /// Loads the program, compiled if there is no object of it; the kernel verifies it, unless it is known from `folder` that it will take it. It is
    /// attached to no interface yet.
    fn load(config: &Config, program: &Program, objects: &Objects, folder: Option<&Path>) -> Result<Kernel, Failure> {
        let text = program.xdp_text()?;
        let (split_entries, shared_entries) = entries(config);
        // The seed keys the tables' hashes: traffic must not be able to aim at one hash bucket.
        let (entries, entry) = (split_entries.max(shared_entries), EntryPoints::Interfaces);
        let Objects { shipped, cache } = objects.clone();
        let ids = upf::ids::Ids::bind(&program.ir.program).map_err(|e| Failure::Usage(e.to_string()))?;
        let keep = config.split.keep.clone().map(|folder| Keep { folder, counter: ids.usage, epoch: rand::random() });
        let sizes = (entries, split_entries, shared_entries, config.n4.max_sessions);
        let verified = folder.and_then(|folder| Verified::open(folder, text, sizes, &target_xdp::sys::kernel_release()));
        let later = verified.as_ref().and_then(Verified::form);
        let seed = rand::random();
        let sized = Options { entries, split_entries, shared_entries, cells_as_named: true, ..Options::default() };
        let options = Options { seed, entry, shipped, cache, keep, later, ..sized };
        let xdp = Xdp::load(Arc::new(program.ir.program.clone()), text, &options).map_err(failure)?;
        xdp.load_no_more();
        let asks = c_compile::environment::trusted(PROBE_VARIABLE).is_none_or(|value| value != "1");
        let probe = if asks && sends_redirected(LOOPBACK).is_some() { None } else { load_probe(objects) };
        let verification = match verified {
            Some(verified) if later.is_some() => Verification::Expected(verified),
            verified => {
                if let Some(verified) = verified {
                    verified.keep(xdp.form());
                }
                Verification::Done
            }
        };
        Ok(Kernel { xdp: Arc::new(xdp), hooked: Vec::new(), ticks: 0, asks, probe, verification })
    }

    /// Has the kernel verify the program, if it has not, on a thread of its own, which has this one's privileges.
    pub fn begin_verification(&mut self) -> Result<(), Failure> {
        let Verification::Expected(verified) = std::mem::replace(&mut self.verification, Verification::Done) else { return Ok(()) };
        // Its targets may be made later than it is verified: it comes into service when the agent says so.
        self.xdp.retire();
        let (done, pending) = bounded(1);
        let xdp = self.xdp.clone();
        let verify = move || {
            let result = xdp.verify();
            if result.is_err() {
                verified.forget();
            }
            // The agent may have ended.
            let _ = done.send(result);
        };
        let thread = std::thread::Builder::new().name("verifier".into()).spawn(verify);
        thread.map_err(|e| Failure::Failed(format!("cannot start a thread: {e}")))?;
        self.verification = Verification::Pending(pending);
        Ok(())
    }

    /// Whether the program is still to be verified: until [`Kernel::verified`] it passes all packets to x86.
    pub fn is_pending(&self) -> bool {
        matches!(self.verification, Verification::Expected(_) | Verification::Pending(_))
    }

    /// Whether the kernel has refused the program: it stays out of service.
    pub fn is_refused(&self) -> bool {
        matches!(self.verification, Verification::Refused)
    }

    /// The outcome, when it is there, once: whether the program may be taken into service.
    pub fn verified(&mut self) -> Option<bool> {
        let Verification::Pending(pending) = &self.verification else { return None };
        let result = match pending.try_recv() {
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => Err("the thread that verifies it has failed: this is a bug".to_owned()),
            Ok(result) => result.map_err(|e| e.to_string()),
        };
        let is_good = result.is_ok();
        self.verification = if is_good { Verification::Done } else { Verification::Refused };
        if let Err(why) = result {
            tracing::error!("XDP forwards nothing: {why}; all packets go through x86: restart to try again");
        }
        Some(is_good)
    }

    /// Says that the program carries packets.
    pub fn say_active(&self) {
        self.hooked.iter().for_each(Hooked::say_active);
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
        let joined = pktio::join_steered(&port.name, &interface, workers, super::open::frames(id));
        let (ports, steerer) = joined.map_err(|e| Failure::Usage(e.to_string()))?;
        self.xdp.set_steerer(slot, steerer.as_fd()).map_err(failure)?;
        Ok(ports)
    }

    /// Attaches the program to the port's interface; the slot and the interface's name.
    fn hook(&mut self, port: &Port, id: PortId) -> Result<(u32, String), Failure> {
        let found = Interface::find(&port.name, port.interface.as_deref().unwrap_or_default());
        let interface = found.map_err(|e| Failure::Usage(e.to_string()))?;
        let taken = |slot: &u32| self.hooked.iter().any(|hooked| hooked.slot == *slot);
        let slot = (0u32..).find(|slot| !taken(slot)).unwrap_or_default();
        if socket_key(slot, 0).is_none() {
            return Err(Failure::Usage(format!("split.fast = \"xdp\": port `{}`: XDP runs on as many interfaces as it can", port.name)));
        }
        let mode = self.xdp.attach(&interface.name, interface.index).map_err(failure)?;
        let name = interface.name.clone();
        let mut refused = Refused::default();
        refused.begin(&interface.name);
        self.hooked.push(Hooked {
            port: id,
            slot,
            name: port.name.clone(),
            refused,
            interface,
            mode,
            away: false,
            sends: None,
            tried: Tried::default(),
        });
        Ok((slot, name))
    }

    /// Whether a daemon before has left its program on an interface, where it forwards until [`Kernel::go_live`]: then that is to come when all
    /// sessions are back.
    pub fn was_left(&self) -> bool {
        self.xdp.was_left()
    }

    /// Nothing stays on the interfaces when the daemon ends.
    pub fn leave_nothing(&self) {
        if let Err(error) = self.xdp.leave_nothing() {
            tracing::error!("XDP's program stays on its interfaces: {error}: delete the files in the folder `split.keep`");
        }
    }

    /// Lets the program carry packets: its tables are filled, and workers poll the sockets.
    pub fn go_live(&mut self) -> Result<(), Failure> {
        self.look_at_ways_out();
        if self.is_pending() {
            tracing::info!("the kernel verifies the XDP program: until then all packets go through x86");
        }
        let is_pending = self.is_pending();
        for hooked in &self.hooked {
            hooked.go_live(&self.xdp, is_pending)?;
        }
        self.xdp.stay().map_err(failure)
    }

    /// The same for one port, which came later: the others carry packets.
    pub fn port_goes_live(&mut self, id: PortId) -> Result<(), Failure> {
        self.hooked.iter().filter(|hooked| hooked.port == id).try_for_each(|hooked| hooked.go_live(&self.xdp, self.is_pending()))
    }

    /// Takes the program off a port's interface. No packet leads there any more.
    pub fn close(&mut self, id: PortId) {
        for hooked in self.hooked.extract_if(.., |hooked| hooked.port == id).filter(|hooked| !hooked.away) {
            let forgotten = self.xdp.set_way_out(id, None).and_then(|()| self.xdp.detach(hooked.interface.index));
            if let Err(error) = forgotten {
                tracing::error!("{}: {error}", hooked.name);
            }
        }
    }

    /// Of the frames that the program sent, those that the ports' interfaces have dropped.
    pub fn refused(&mut self) -> impl Iterator<Item = (PortId, u64)> {
        self.hooked.iter_mut().map(|hooked| (hooked.port, hooked.refused.read(&hooked.interface.name)))
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
        for hooked in &mut self.hooked {
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
            if let Err(why) = hooked.come_back(&self.xdp) {
                tracing::debug!("{}: XDP is not on its interface again: {why}", hooked.name);
            }
        }
    }

    /// Looks which interfaces send what is redirected to them, now and then: a veth's far end may change its mind, and the kernel
    /// would lose the packets without a word. What leaves by the others goes through x86.
    pub fn look_at_ways_out(&mut self) {
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
    /// Lets the program carry what comes by its interface.
    fn go_live(&self, xdp: &Xdp, is_pending: bool) -> Result<(), Failure> {
        xdp.set_port(self.interface.index, Some((self.port, self.slot))).map_err(failure)?;
        if is_pending {
            return Ok(());
        }
        if xdp.is_retired() {
            tracing::warn!(port = self.name, interface = self.interface.name, "XDP forwards nothing: all packets go through x86");
            return Ok(());
        }
        self.say_active();
        Ok(())
    }

    fn say_active(&self) {
        let mode = if self.mode == Mode::Native { "in the driver" } else { "before the stack" };
        tracing::info!(port = self.name, interface = self.interface.name, mode, "XDP is active");
        if self.interface.driver == "veth" {
            let hint = "XDP cannot complete checksums: turn off checksum offload at the veth's far end (`ethtool -K NAME tx off`)";
            tracing::info!(port = self.name, "{hint}");
        }
    }

    /// Onto the interface that has the name now, if there is one.
    fn come_back(&mut self, xdp: &Xdp) -> Result<(), String> {
        let interface = Interface::find(&self.name, &self.interface.name).map_err(|e| e.to_string())?;
        let mode = xdp.attach(&interface.name, interface.index).map_err(|e| e.to_string())?;
        if let Err(error) = xdp.set_port(interface.index, Some((self.port, self.slot))) {
            // Without a port it would pass all packets to the kernel.
            return Err(xdp.detach(interface.index).err().unwrap_or(error).to_string());
        }
        tracing::warn!(port = self.name, interface = interface.name, "the interface exists again: XDP is attached");
        self.refused.begin(&interface.name);
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
