//! Neighbours: their next hop numbers and MAC addresses, and the packets that wait for them (RFC 826, RFC 4861 §7).
//!
//! Every neighbour has a number in table `nexthop` and a host route to it. Neighbours of the configuration keep theirs;
//! tunnel peers get one when a session names them, and are asked at once; others when a first packet to them is punted by the port's
//! common number. The last are removed when they do not answer, or to make room for each other: strangers never displace those that the
//! configuration or a session names.
//!
//! **Trust.** A MAC address is taken from a reply to our own request. Unsolicited messages (gratuitous ARP, ARP requests,
//! unsolicited advertisements) create and change no entry: if one names another MAC address than we know, both are probed by
//! unicast (as RFC 4861 §7.3 and RFC 5227 §2.4 probe before a change), and the new one is accepted if it answers and the old one does not.
//! Limit: on a link where an attacker answers first, and keeps answering, it is believed. Configure such neighbours.
//!
//! **Order.** Waiting packets are not released by an [`Action`] each: [`Action::Resolved`] says that all of them, and those in flight to us, must go
//! before any later packet, and [`Neighbours::release`] returns them.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use base::PortId;
use program::{Batch, Entry, Op};
use wire::ethernet::Mac;

use crate::budget::Budget;
use crate::config;
use crate::hops::{Hop, Identity, Plan, nexthop_entry, route_entry};
use crate::host::Action;
use crate::ids::Ids;
use crate::networks::Vrf;
use crate::reply;

/// Between two questions.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// Questions before a neighbour is given up; so nothing waits for longer than as many seconds.
const TRIES: u8 = 3;
/// How long a neighbour that was given up is not asked again.
const HOLD_DOWN: Duration = Duration::from_secs(5);
/// After that time a neighbour's MAC address is confirmed.
const CONFIRM_AFTER: Duration = Duration::from_secs(60);
/// Interval of probes to a neighbour that reportedly has another MAC address: a fail-over is followed within a second.
const VERIFY_EVERY: Duration = Duration::from_millis(300);
/// How long other claims are ignored once a neighbour has answered such a probe.
const CLAIM_HOLD: Duration = Duration::from_secs(1);
/// Minimum lifetime of a neighbour that neither configuration nor sessions name.
const KEEP_AT_LEAST: Duration = Duration::from_secs(30);
/// Packets that wait for one neighbour: one that the configuration or a session names, and another.
const MAX_WAITING_WANTED: usize = 512;
const MAX_WAITING: usize = 32;
/// And for all; for neighbours that are not named at most half of it.
const MAX_WAITING_TOTAL: usize = 4096;
/// Times in a second that a table which lagged behind is written again, for one neighbour.
const MAX_LAGGING: u32 = 16;

/// A packet that waits for a MAC address.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// From the pipeline: goes through it again.
    Punted(PortId, Vec<u8>),
    /// Our own frame, which lacks the destination MAC address.
    Own(Vec<u8>),
}

/// What is released when a neighbour is resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// What the data plane must get first.
    pub batch: Batch,
    /// Packets to go through the pipeline again, in order: ingress port and frame.
    pub packets: Vec<(PortId, Vec<u8>)>,
    /// Frames of our own, to be sent after them.
    pub own: Vec<(PortId, Vec<u8>)>,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// Given by the configuration.
    Fixed(Mac),
    /// Not asked.
    Unknown,
    /// Asked `tries` times, next at.
    Asking { tries: u8, next: Duration },
    /// Known since.
    Known { mac: Mac, since: Duration },
    /// Known, and being confirmed.
    Confirming { mac: Mac, tries: u8, next: Duration },
    /// Known, but claimed to be at `claimed`: both are probed. `heard`: that one has answered.
    Verifying { mac: Mac, claimed: Mac, heard: bool, tries: u8, next: Duration },
    /// Did not answer; not asked again until.
    GivenUp { until: Duration },
}

#[derive(Debug)]
struct Neighbour {
    vrf: Vrf,
    /// Position of the port.
    port: usize,
    ip: IpAddr,
    state: State,
    waiting: VecDeque<Waiting>,
    /// Of the configuration: never goes.
    permanent: bool,
    /// Sessions that name it.
    held: u32,
    born: Duration,
    /// Neighbours for which other claims are ignored until then.
    claims_from: Duration,
    /// Start of the second that `lagging` counts in.
    lagging_since: Duration,
    lagging: u32,
}

impl Neighbour {
    fn mac(&self) -> Option<Mac> {
        match self.state {
            State::Fixed(mac) | State::Known { mac, .. } | State::Confirming { mac, .. } | State::Verifying { mac, .. } => Some(mac),
            State::Unknown | State::Asking { .. } | State::GivenUp { .. } => None,
        }
    }

    fn wanted(&self) -> bool {
        self.permanent || self.held > 0
    }

    /// Where its port is by the plan after `before`, if it is there.
    fn port_in(&self, plan: &Plan, before: &Plan) -> Option<usize> {
        plan.position(before.ports[self.port].id)
    }

    /// Whether it is a neighbour by this plan after `before`, which does not name it: no route leads elsewhere.
    fn stays(&self, plan: &Plan, before: &Plan) -> bool {
        plan.on_link(self.vrf, self.ip).is_some_and(|port| self.port_in(plan, before) == Some(port))
    }

    /// Whether a question of ours has no answer yet.
    fn is_asked(&self) -> bool {
        matches!(self.state, State::Asking { .. } | State::Confirming { .. } | State::Verifying { .. })
    }
}

/// What the neighbours live in.
#[derive(Clone, Copy)]
pub(crate) struct Here<'a> {
    /// Ports, and what has a number already.
    pub plan: &'a Plan,
    /// Names of the program.
    pub ids: &'a Ids,
    /// The time.
    pub now: Duration,
}

/// All neighbours.
#[derive(Debug)]
pub(crate) struct Neighbours {
    by_number: BTreeMap<u16, Neighbour>,
    by_address: HashMap<(Vrf, IpAddr), u16>,
    free: VecDeque<u16>,
    /// Neighbours that neither the configuration nor a session names, at most: those that have answered, and those that have not (yet). Each
    /// kind displaces its own only, so that requests for unused addresses do not displace existing neighbours.
    max_answering: usize,
    max_silent: usize,
    /// Such neighbours that are made in a second.
    made: Budget,
    /// Packets that wait, and of those the ones that the pipeline has punted.
    waiting: usize,
    punted_waiting: usize,
}

impl Neighbours {
    /// Those of the configuration; `capacity` is the size of table `nexthop`, `per_s` how many others are asked for the first time in a second.
    pub(crate) fn new(plan: &Plan, capacity: u64, per_s: u32) -> Neighbours {
        let last = capacity.min(u64::from(u16::MAX)) as u16;
        let free: VecDeque<u16> = (1..=last).filter(|n| plan.hop(*n).is_none()).collect();
        let max_gleaned = free.len() / 2;
        let max_silent = max_gleaned / 4;
        let mut all = Neighbours {
            by_number: BTreeMap::new(),
            by_address: HashMap::new(),
            free,
            max_answering: max_gleaned - max_silent,
            max_silent,
            made: Budget::new(per_s),
            waiting: 0,
            punted_waiting: 0,
        };
        for (number, hop) in &plan.hops {
            if let Hop::Neighbour { vrf, port, ip, mac } = hop {
                let state = mac.map_or(State::Unknown, State::Fixed);
                all.add(*number, *vrf, *port, *ip, state, Duration::ZERO);
                if let Some(n) = all.by_number.get_mut(number) {
                    n.permanent = true;
                }
            }
        }
        all
    }

    /// Numbers that nobody has.
    pub(crate) fn free(&self) -> impl Iterator<Item = u16> {
        self.free.iter().copied()
    }

    /// Numbers by neighbour.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (Identity, u16)> {
        self.by_address.iter().map(|((vrf, ip), number)| (Identity::Neighbour(*vrf, *ip), *number))
    }

    /// Entries of all neighbours as they are now; routes only to those that the configuration does not name, the others have theirs by the plan.
    pub(crate) fn entries(&self, plan: &Plan, ids: &Ids) -> Vec<Entry> {
        let of = |(number, n): (&u16, &Neighbour)| {
            let nexthop = nexthop_entry(*number, &plan.ports[n.port], n.mac(), ids);
            let route = (!n.permanent).then(|| route_entry(n.vrf, (n.ip, config::width(n.ip)), *number, ids));
            std::iter::once(nexthop).chain(route)
        };
        self.by_number.iter().flat_map(of).collect()
    }

    /// What [`Neighbours::entries`], which are of `before`, will be after [`Neighbours::renew`].
    pub(crate) fn entries_after(&self, before: &Plan, plan: &Plan, ids: &Ids) -> Vec<Entry> {
        let mut entries = Vec::new();
        for (number, n) in self.by_number.iter().filter(|(number, n)| plan.hop(**number).is_none() && n.stays(plan, before)) {
            let Some(port) = n.port_in(plan, before) else { continue };
            entries.push(nexthop_entry(*number, &plan.ports[port], n.mac(), ids));
            entries.push(route_entry(n.vrf, (n.ip, config::width(n.ip)), *number, ids));
        }
        for (number, hop) in &plan.hops {
            if let Hop::Neighbour { port, mac, .. } = hop {
                // Behind another port it may be another.
                let known = self.by_number.get(number).filter(|n| n.port_in(plan, before) == Some(*port));
                let mac = mac.or_else(|| known.and_then(Neighbour::mac));
                entries.push(nexthop_entry(*number, &plan.ports[*port], mac, ids));
            }
        }
        entries
    }

    /// The plan is another one from now on, made of the numbers of `before` ([`Plan::renewed`]), and the data plane has
    /// [`Neighbours::entries_after`]. Who is known stays known, and those that the configuration names now are asked for. `held`: how many sessions
    /// name a neighbour.
    pub(crate) fn renew(&mut self, before: &Plan, here: Here<'_>, per_s: u32, held: impl Fn(Vrf, IpAddr) -> u32, out: &mut Vec<Action>) {
        let Here { plan, now, .. } = here;
        self.made = Budget::new(per_s);
        let goes = |(number, n): &(&u16, &Neighbour)| plan.hop(**number).is_none() && !n.stays(plan, before);
        let gone: Vec<u16> = self.by_number.iter().filter(goes).map(|(number, _)| *number).collect();
        for number in gone {
            self.drop_waiting(number, "neighbour_given_up", out);
            self.forget(number);
        }
        for n in self.by_number.values_mut() {
            n.permanent = false;
            if let State::Fixed(mac) = n.state {
                // It is confirmed soon.
                n.state = State::Known { mac, since: Duration::ZERO };
            }
            match n.port_in(plan, before) {
                Some(port) => n.port = port,
                // The configuration names it on another port: it is asked for there.
                None => n.state = State::Unknown,
            }
        }
        let mut resolved = Vec::new();
        for (number, hop) in &plan.hops {
            let Hop::Neighbour { vrf, port, ip, mac } = hop else { continue };
            if !self.by_number.contains_key(number) {
                self.add(*number, *vrf, *port, *ip, State::Unknown, now);
            }
            let Some(n) = self.by_number.get_mut(number) else { continue };
            if n.port != *port {
                n.state = State::Unknown;
            }
            (n.permanent, n.port) = (true, *port);
            if let Some(mac) = mac {
                n.state = State::Fixed(*mac);
                resolved.extend((!n.waiting.is_empty()).then_some(*number));
            } else {
                self.ask(*number, here, out);
            }
        }
        out.extend(resolved.into_iter().map(|number| Action::Resolved { number }));
        self.by_number.values_mut().for_each(|n| n.held = held(n.vrf, n.ip));
        // Those that were never a neighbour's number come back here.
        let known: BTreeSet<u16> = self.free.iter().copied().collect();
        self.free.extend(before.hops.keys().filter(|number| !known.contains(number)));
        let taken = &self.by_number;
        self.free.retain(|number| !taken.contains_key(number) && plan.hop(*number).is_none());
    }

    fn add(&mut self, number: u16, vrf: Vrf, port: usize, ip: IpAddr, state: State, now: Duration) {
        let neighbour = Neighbour {
            vrf,
            port,
            ip,
            state,
            waiting: VecDeque::new(),
            permanent: false,
            held: 0,
            born: now,
            claims_from: Duration::ZERO,
            lagging_since: now,
            lagging: 0,
        };
        self.by_number.insert(number, neighbour);
        self.by_address.insert((vrf, ip), number);
    }

    /// The number of a neighbour.
    pub(crate) fn number(&self, vrf: Vrf, ip: IpAddr) -> Option<u16> {
        self.by_address.get(&(vrf, ip)).copied()
    }

    /// The MAC address of a neighbour, if it is known.
    pub(crate) fn mac(&self, vrf: Vrf, ip: IpAddr) -> Option<Mac> {
        self.number(vrf, ip).and_then(|number| self.by_number.get(&number)).and_then(Neighbour::mac)
    }

    /// Whether that is a neighbour of ours, with that MAC address.
    pub(crate) fn is_known(&self, vrf: Vrf, ip: IpAddr, mac: Mac) -> bool {
        self.mac(vrf, ip) == Some(mac)
    }

    /// Neighbours, those of the configuration included.
    pub(crate) fn len(&self) -> usize {
        self.by_number.len()
    }

    /// Packets from the pipeline that wait.
    pub(crate) fn punted_waiting(&self) -> usize {
        self.punted_waiting
    }

    /// Makes a neighbour of `ip` if it is none: its number, and the inserts that it needs.
    pub(crate) fn ensure(&mut self, vrf: Vrf, port: usize, ip: IpAddr, here: Here<'_>) -> Option<(u16, Vec<Op>)> {
        let Here { plan, ids, now } = here;
        if let Some(number) = self.number(vrf, ip) {
            return Some((number, Vec::new()));
        }
        let number = self.free.pop_front()?;
        self.add(number, vrf, port, ip, State::Unknown, now);
        let nexthop = nexthop_entry(number, &plan.ports[port], None, ids);
        let route = route_entry(vrf, (ip, config::width(ip)), number, ids);
        Some((number, vec![Op::Insert(nexthop), Op::Insert(route)]))
    }

    /// Makes room for one more neighbour that no session names: one that has not answered goes, if one must. Its packets are lost.
    pub(crate) fn make_room(&mut self, here: Here<'_>, out: &mut Vec<Action>) -> Result<(), &'static str> {
        self.made.take(here.now).then_some(()).ok_or("neighbour_rate")?;
        let silent = || self.by_number.iter().filter(|(_, n)| !n.wanted() && n.mac().is_none());
        if silent().count() < self.max_silent && !self.free.is_empty() {
            return Ok(());
        }
        // Who has been asked and has had time to answer.
        let asked = silent().filter(|(_, n)| here.now.saturating_sub(n.born) >= ASK_EVERY);
        let number = asked.min_by_key(|(_, n)| n.born).map(|(number, _)| *number).ok_or("neighbours_full")?;
        self.remove(number, here, out);
        Ok(())
    }

    /// Removes the oldest resolved neighbour that is not named, if there are too many, but not `newest`.
    fn thin_out(&mut self, newest: u16, here: Here<'_>, out: &mut Vec<Action>) {
        let answering = || self.by_number.iter().filter(|(_, n)| !n.wanted() && n.mac().is_some());
        if answering().count() > self.max_answering
            && let Some((number, _)) = answering().filter(|(number, _)| **number != newest).min_by_key(|(_, n)| n.born)
        {
            self.remove(*number, here, out);
        }
    }

    /// Removes a neighbour that is not named; packets may wait for it.
    fn remove(&mut self, number: u16, here: Here<'_>, out: &mut Vec<Action>) {
        let Here { plan, ids, .. } = here;
        self.drop_waiting(number, "neighbour_given_up", out);
        let Some(n) = self.by_number.remove(&number) else { return };
        self.by_address.remove(&(n.vrf, n.ip));
        self.free.push_back(number);
        let route = route_entry(n.vrf, (n.ip, config::width(n.ip)), number, ids);
        let nexthop = nexthop_entry(number, &plan.ports[n.port], None, ids);
        out.push(Action::Apply(Batch { ops: vec![Op::Delete(route), Op::Delete(nexthop)] }));
    }

    fn drop_waiting(&mut self, number: u16, reason: &'static str, out: &mut Vec<Action>) {
        let Some(n) = self.by_number.get_mut(&number) else { return };
        for packet in n.waiting.drain(..) {
            self.waiting -= 1;
            out.push(match packet {
                Waiting::Punted(..) => {
                    self.punted_waiting -= 1;
                    Action::Drop { reason }
                }
                Waiting::Own(_) => Action::Unsent { reason },
            });
        }
    }

    /// All that waits is dropped, at the end.
    pub(crate) fn drop_all_waiting(&mut self, reason: &'static str, out: &mut Vec<Action>) {
        let numbers: Vec<u16> = self.by_number.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.drop_waiting(number, reason, out));
    }

    /// A session names the neighbour.
    pub(crate) fn hold(&mut self, number: u16) {
        if let Some(n) = self.by_number.get_mut(&number) {
            n.held += 1;
        }
    }

    /// A session no longer names the neighbour.
    pub(crate) fn release_hold(&mut self, vrf: Vrf, ip: Ipv4Addr) {
        if let Some(n) = self.number(vrf, ip.into()).and_then(|number| self.by_number.get_mut(&number)) {
            n.held = n.held.saturating_sub(1);
        }
    }

    /// Undoes [`Neighbours::ensure`] of a neighbour whose inserts were refused.
    pub(crate) fn forget(&mut self, number: u16) {
        if let Some(n) = self.by_number.remove(&number) {
            self.by_address.remove(&(n.vrf, n.ip));
            self.free.push_back(number);
        }
    }

    /// Asks for the MAC address, if it is unknown and not asked for yet.
    pub(crate) fn ask(&mut self, number: u16, here: Here<'_>, out: &mut Vec<Action>) {
        if let Some(n) = self.by_number.get_mut(&number)
            && n.state == State::Unknown
        {
            n.state = State::Asking { tries: 1, next: here.now + ASK_EVERY };
            out.extend(reply::ask(&here.plan.ports[n.port], n.ip, None));
        }
    }

    /// Sends a packet to the neighbour, or keeps it until its MAC address is known.
    pub(crate) fn send(&mut self, number: u16, packet: Waiting, here: Here<'_>, out: &mut Vec<Action>) -> Result<(), &'static str> {
        let Here { plan, now, .. } = here;
        let n = self.by_number.get_mut(&number).ok_or("nexthop_unknown")?;
        let port = &plan.ports[n.port];
        let punted = matches!(packet, Waiting::Punted(..));
        match (n.mac(), packet) {
            (Some(mac), Waiting::Own(mut frame)) if n.waiting.is_empty() => {
                set_destination(&mut frame, mac);
                out.push(Action::Transmit { port: port.id, frame });
                return Ok(());
            }
            // The table said "unresolved": it lags behind, or an update was lost. Once more, but not for ever.
            (Some(_), packet) => {
                if now.saturating_sub(n.lagging_since) >= Duration::from_secs(1) {
                    (n.lagging_since, n.lagging) = (now, 0);
                }
                n.lagging += 1;
                if n.lagging > MAX_LAGGING {
                    return Err("nexthop_lags");
                }
                n.waiting.push_back(packet);
                out.push(Action::Resolved { number });
            }
            (None, _) if matches!(n.state, State::GivenUp { until } if now < until) => return Err("neighbour_unreachable"),
            (None, packet) => {
                let (most, in_all) =
                    if n.wanted() { (MAX_WAITING_WANTED, MAX_WAITING_TOTAL) } else { (MAX_WAITING, MAX_WAITING_TOTAL / 2) };
                if n.waiting.len() >= most || self.waiting >= in_all {
                    return Err("neighbour_queue_full");
                }
                n.waiting.push_back(packet);
                if !matches!(n.state, State::Asking { .. }) {
                    n.state = State::Asking { tries: 1, next: now + ASK_EVERY };
                    out.extend(reply::ask(port, n.ip, None));
                }
            }
        }
        self.waiting += 1;
        self.punted_waiting += usize::from(punted);
        Ok(())
    }

    /// Hands out what waits for a neighbour that is resolved, in order, and the entry that lets later packets pass.
    pub(crate) fn release(&mut self, number: u16, here: Here<'_>) -> Released {
        let Some(n) = self.by_number.get_mut(&number) else { return Released::default() };
        // It may have been given up since.
        let Some(mac) = n.mac() else { return Released::default() };
        let port = &here.plan.ports[n.port];
        let entry = nexthop_entry(number, port, Some(mac), here.ids);
        let mut released = Released { batch: Batch { ops: vec![Op::Modify(entry)] }, ..Released::default() };
        self.waiting -= n.waiting.len();
        for packet in n.waiting.drain(..) {
            match packet {
                Waiting::Punted(port, frame) => released.packets.push((port, frame)),
                Waiting::Own(mut frame) => {
                    set_destination(&mut frame, mac);
                    released.own.push((port.id, frame));
                }
            }
        }
        self.punted_waiting -= released.packets.len();
        released
    }

    /// A neighbour on `port` announced its MAC address to us: as a reply, if we asked. Only known neighbours are accepted:
    /// others can fill no table.
    pub(crate) fn answer(&mut self, port: usize, ip: IpAddr, mac: Mac, here: Here<'_>, out: &mut Vec<Action>) -> Result<(), &'static str> {
        let Here { plan, now, .. } = here;
        let Some(number) = self.number(plan.ports[port].vrf, ip) else { return Ok(()) };
        let Some(n) = self.by_number.get_mut(&number).filter(|n| n.port == port) else { return Ok(()) };
        if !n.is_asked() || !mac.is_unicast() {
            return self.claim(port, ip, mac, here, out);
        }
        match &mut n.state {
            State::Verifying { claimed, heard, .. } if *claimed == mac => {
                *heard = true;
                return Ok(());
            }
            // The one that we know is there: who said something else is not believed.
            State::Verifying { mac: known, .. } if *known == mac => {
                n.state = State::Known { mac, since: now };
                n.claims_from = now + CLAIM_HOLD;
                return Ok(());
            }
            State::Confirming { mac: known, .. } if *known == mac => {
                n.state = State::Known { mac, since: now };
                return Ok(());
            }
            State::Asking { .. } => {}
            _ => return self.claim(port, ip, mac, here, out),
        }
        n.state = State::Known { mac, since: now };
        out.push(Action::Resolved { number });
        self.thin_out(number, here, out);
        Ok(())
    }

    /// Somebody says unasked that a neighbour on `port` has that MAC address.
    pub(crate) fn claim(&mut self, port: usize, ip: IpAddr, mac: Mac, here: Here<'_>, out: &mut Vec<Action>) -> Result<(), &'static str> {
        let Here { plan, now, .. } = here;
        let Some(number) = self.number(plan.ports[port].vrf, ip) else { return Ok(()) };
        let Some(n) = self.by_number.get_mut(&number).filter(|n| n.port == port) else { return Ok(()) };
        let at = &plan.ports[port];
        match n.state {
            _ if !mac.is_unicast() => Err("neighbour_malformed"),
            State::Fixed(known) if known != mac => Err("neighbour_fixed"),
            State::Known { mac: known, .. } | State::Confirming { mac: known, .. } if known != mac => {
                if now < n.claims_from {
                    return Err("neighbour_conflict");
                }
                n.state = State::Verifying { mac: known, claimed: mac, heard: false, tries: 1, next: now + VERIFY_EVERY };
                out.extend([known, mac].into_iter().filter_map(|mac| reply::ask(at, n.ip, Some(mac))));
                Ok(())
            }
            State::Verifying { mac: known, claimed, .. } if mac != known && mac != claimed => Err("neighbour_conflict"),
            // A sign of life: it need not wait until it is asked again.
            State::GivenUp { .. } if now >= n.claims_from => {
                n.claims_from = now + CLAIM_HOLD;
                n.state = State::Unknown;
                self.ask(number, here, out);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A port was reopened, maybe on another interface: its neighbours are resolved again.
    pub(crate) fn port_up(&mut self, port: usize, here: Here<'_>, out: &mut Vec<Action>) {
        for (number, n) in self.by_number.iter_mut().filter(|(_, n)| n.port == port) {
            if n.mac().is_some() && !matches!(n.state, State::Fixed(_)) {
                n.state = State::Unknown;
                let entry = nexthop_entry(*number, &here.plan.ports[port], None, here.ids);
                out.push(Action::Apply(Batch { ops: vec![Op::Modify(entry)] }));
            }
        }
    }

    /// Asks, confirms and gives up what is due.
    pub(crate) fn poll(&mut self, here: Here<'_>, out: &mut Vec<Action>) {
        let Here { plan, ids, now } = here;
        let (mut gone, mut silent) = (Vec::new(), Vec::new());
        for (number, n) in &mut self.by_number {
            let port = &plan.ports[n.port];
            match n.state {
                State::Unknown if n.wanted() => {
                    n.state = State::Asking { tries: 1, next: now + ASK_EVERY };
                    out.extend(reply::ask(port, n.ip, None));
                }
                State::Asking { tries, next } if now >= next => {
                    if tries < TRIES {
                        n.state = State::Asking { tries: tries + 1, next: now + ASK_EVERY };
                        out.extend(reply::ask(port, n.ip, None));
                    } else {
                        n.state = State::GivenUp { until: now + HOLD_DOWN };
                        silent.push(*number);
                    }
                }
                State::GivenUp { until } if now >= until => {
                    if n.wanted() {
                        n.state = State::Unknown;
                    } else {
                        gone.push(*number);
                    }
                }
                State::Known { mac, since } if now.saturating_sub(since) >= CONFIRM_AFTER => {
                    n.state = State::Confirming { mac, tries: 1, next: now + ASK_EVERY };
                    out.extend(reply::ask(port, n.ip, Some(mac)));
                }
                State::Confirming { mac, tries, next } if now >= next => {
                    if tries < TRIES {
                        n.state = State::Confirming { mac, tries: tries + 1, next: now + ASK_EVERY };
                        out.extend(reply::ask(port, n.ip, Some(mac)));
                    } else {
                        n.state = State::Unknown;
                        let entry = nexthop_entry(*number, port, None, ids);
                        out.push(Action::Apply(Batch { ops: vec![Op::Modify(entry)] }));
                        if !n.wanted() {
                            gone.push(*number);
                        }
                    }
                }
                State::Verifying { mac, claimed, heard, tries, next } if now >= next => {
                    if tries < TRIES {
                        n.state = State::Verifying { mac, claimed, heard, tries: tries + 1, next: now + VERIFY_EVERY };
                        let ask = |mac| reply::ask(port, n.ip, Some(mac));
                        out.extend([mac, claimed].into_iter().filter_map(ask));
                    } else if heard {
                        n.state = State::Known { mac: claimed, since: now };
                        let entry = nexthop_entry(*number, port, Some(claimed), ids);
                        out.push(Action::Apply(Batch { ops: vec![Op::Modify(entry)] }));
                    } else {
                        n.state = State::Confirming { mac, tries: 1, next: now + ASK_EVERY };
                        out.extend(reply::ask(port, n.ip, Some(mac)));
                    }
                }
                // Left behind by sessions that are gone, never asked for.
                State::Unknown if now.saturating_sub(n.born) >= KEEP_AT_LEAST => gone.push(*number),
                _ => {}
            }
        }
        silent.into_iter().for_each(|number| self.drop_waiting(number, "neighbour_unreachable", out));
        gone.into_iter().for_each(|number| self.remove(number, here, out));
    }
}

/// Writes the destination MAC address of a frame of ours.
fn set_destination(frame: &mut [u8], mac: Mac) {
    if let Some(destination) = frame.first_chunk_mut::<6>() {
        *destination = mac.0;
    }
}
