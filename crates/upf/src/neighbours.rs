//! Neighbours: which have a next hop number, which MAC address they have, and who waits for it (RFC 826, RFC 4861 §7).
//!
//! Every neighbour has a number in table `nexthop` and a host route to it. Neighbours of the configuration keep theirs;
//! tunnel peers get one when a session names them; others when a first packet to them is punted by the port's
//! common number. The last two go when nobody names them and they do not answer, or to make room.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use base::PortId;
use program::{Batch, Op};
use wire::ethernet::Mac;

use crate::config;
use crate::hops::{Hop, Plan, nexthop_entry, route_entry};
use crate::host::Action;
use crate::ids::Ids;
use crate::networks::Vrf;
use crate::reply;

/// Between two questions.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// Questions before a neighbour is given up.
const TRIES: u8 = 3;
/// How long a neighbour that was given up is not asked again.
const HOLD_DOWN: Duration = Duration::from_secs(5);
/// After that time a neighbour's MAC address is confirmed.
const CONFIRM_AFTER: Duration = Duration::from_secs(60);
/// A neighbour that nobody names stays at least that long.
const KEEP_AT_LEAST: Duration = Duration::from_secs(30);
/// Packets that wait for one neighbour, and for all.
const MAX_WAITING: usize = 32;
const MAX_WAITING_TOTAL: usize = 4096;
/// Packets given back to the pipeline because the table lagged behind, for one neighbour in one second.
const MAX_LAGGING: u32 = 256;

/// A packet that waits for a MAC address.
#[derive(Debug)]
pub enum Waiting {
    /// From the pipeline: goes through it again.
    Punted(PortId, Vec<u8>),
    /// Our own frame, which lacks the destination MAC address.
    Own(Vec<u8>),
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
    /// Start of the second that `lagging` counts in.
    lagging_since: Duration,
    lagging: u32,
}

impl Neighbour {
    fn mac(&self) -> Option<Mac> {
        match self.state {
            State::Fixed(mac) | State::Known { mac, .. } | State::Confirming { mac, .. } => Some(mac),
            State::Unknown | State::Asking { .. } | State::GivenUp { .. } => None,
        }
    }

    fn wanted(&self) -> bool {
        self.permanent || self.held > 0
    }
}

/// What the neighbours live in.
#[derive(Clone, Copy)]
pub struct Here<'a> {
    /// Ports, and what has a number already.
    pub plan: &'a Plan,
    /// Names of the program.
    pub ids: &'a Ids,
    /// The time.
    pub now: Duration,
}

/// All neighbours.
#[derive(Debug)]
pub struct Neighbours {
    by_number: BTreeMap<u16, Neighbour>,
    by_address: HashMap<(Vrf, IpAddr), u16>,
    free: VecDeque<u16>,
    /// Neighbours that neither the configuration nor a session names, at most.
    max_gleaned: usize,
    waiting: usize,
}

impl Neighbours {
    /// Those of the configuration; `capacity` is the size of table `nexthop`.
    pub fn new(plan: &Plan, capacity: u64) -> Neighbours {
        let first = plan.hops.len() as u64 + 1;
        let last = capacity.min(u64::from(u16::MAX));
        let free: VecDeque<u16> = (first..=last).map(|n| n as u16).collect();
        let max_gleaned = free.len() / 2;
        let mut all = Neighbours { by_number: BTreeMap::new(), by_address: HashMap::new(), free, max_gleaned, waiting: 0 };
        for (hop, number) in plan.hops.iter().zip(1u16..) {
            if let Hop::Neighbour { vrf, port, ip, mac } = hop {
                let state = mac.map_or(State::Unknown, State::Fixed);
                all.add(number, *vrf, *port, *ip, state, Duration::ZERO);
                if let Some(n) = all.by_number.get_mut(&number) {
                    n.permanent = true;
                }
            }
        }
        all
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
            lagging_since: now,
            lagging: 0,
        };
        self.by_number.insert(number, neighbour);
        self.by_address.insert((vrf, ip), number);
    }

    /// The number of a neighbour.
    pub fn number(&self, vrf: Vrf, ip: IpAddr) -> Option<u16> {
        self.by_address.get(&(vrf, ip)).copied()
    }

    /// Neighbours, those of the configuration included.
    pub fn len(&self) -> usize {
        self.by_number.len()
    }

    /// Makes a neighbour of `ip` if it is none: its number, and the inserts that it needs.
    pub fn ensure(&mut self, vrf: Vrf, port: usize, ip: IpAddr, here: Here<'_>) -> Option<(u16, Vec<Op>)> {
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

    /// Makes room for one more neighbour that no session names: the batch that takes the oldest out, if one must go.
    pub fn make_room(&mut self, here: Here<'_>) -> Result<Option<Batch>, &'static str> {
        let Here { plan, ids, now } = here;
        let gleaned = || self.by_number.iter().filter(|(_, n)| !n.wanted());
        if gleaned().count() < self.max_gleaned && !self.free.is_empty() {
            return Ok(None);
        }
        let old_enough = gleaned().filter(|(_, n)| now.saturating_sub(n.born) >= KEEP_AT_LEAST);
        match old_enough.min_by_key(|(_, n)| n.born).map(|(number, _)| *number) {
            Some(number) => Ok(Some(self.remove(number, plan, ids))),
            None => Err("neighbours_full"),
        }
    }

    /// Forgets a neighbour that nobody names, and whom packets may wait for.
    fn remove(&mut self, number: u16, plan: &Plan, ids: &Ids) -> Batch {
        let Some(n) = self.by_number.remove(&number) else { return Batch::default() };
        self.waiting -= n.waiting.len();
        self.by_address.remove(&(n.vrf, n.ip));
        self.free.push_back(number);
        let route = route_entry(n.vrf, (n.ip, config::width(n.ip)), number, ids);
        let nexthop = nexthop_entry(number, &plan.ports[n.port], None, ids);
        Batch { ops: vec![Op::Delete(route), Op::Delete(nexthop)] }
    }

    /// A session names the neighbour.
    pub fn hold(&mut self, number: u16) {
        if let Some(n) = self.by_number.get_mut(&number) {
            n.held += 1;
        }
    }

    /// A session no longer names the neighbour.
    pub fn release(&mut self, vrf: Vrf, ip: Ipv4Addr) {
        if let Some(n) = self.number(vrf, ip.into()).and_then(|number| self.by_number.get_mut(&number)) {
            n.held = n.held.saturating_sub(1);
        }
    }

    /// Undoes [`Neighbours::ensure`] of a neighbour whose inserts were refused.
    pub fn forget(&mut self, number: u16) {
        if let Some(n) = self.by_number.remove(&number) {
            self.waiting -= n.waiting.len();
            self.by_address.remove(&(n.vrf, n.ip));
            self.free.push_back(number);
        }
    }

    /// Sends a packet to the neighbour, or keeps it until its MAC address is known.
    pub fn send(&mut self, number: u16, packet: Waiting, here: Here<'_>, out: &mut Vec<Action>) {
        let Here { plan, ids, now } = here;
        let Some(n) = self.by_number.get_mut(&number) else {
            return out.push(Action::Drop { reason: "nexthop_unknown" });
        };
        let port = &plan.ports[n.port];
        if let Some(mac) = n.mac() {
            return match packet {
                Waiting::Own(mut frame) => {
                    set_destination(&mut frame, mac);
                    out.push(Action::Transmit { port: port.id, frame });
                }
                // The table said "unresolved": it lags behind, or an update was lost. Once more, but not for ever.
                Waiting::Punted(port_id, frame) => {
                    if now.saturating_sub(n.lagging_since) >= Duration::from_secs(1) {
                        (n.lagging_since, n.lagging) = (now, 0);
                    }
                    n.lagging += 1;
                    if n.lagging > MAX_LAGGING {
                        return out.push(Action::Drop { reason: "nexthop_lags" });
                    }
                    if n.lagging == 1 {
                        let entry = nexthop_entry(number, port, Some(mac), ids);
                        out.push(Action::Apply(Batch { ops: vec![Op::Modify(entry)] }));
                    }
                    out.push(Action::Reinject { port: port_id, frame });
                }
            };
        }
        if matches!(n.state, State::GivenUp { until } if now < until) {
            return out.push(Action::Drop { reason: "neighbour_unreachable" });
        }
        if n.waiting.len() >= MAX_WAITING || self.waiting >= MAX_WAITING_TOTAL {
            return out.push(Action::Drop { reason: "neighbour_queue_full" });
        }
        n.waiting.push_back(packet);
        self.waiting += 1;
        if !matches!(n.state, State::Asking { .. }) {
            n.state = State::Asking { tries: 1, next: now + ASK_EVERY };
            out.extend(reply::ask(port, n.ip, None));
        }
    }

    /// A neighbour on `port` told its MAC address. Only those whom we know are listened to: others can fill no table.
    pub fn learn(&mut self, port: usize, ip: IpAddr, mac: Mac, here: Here<'_>, out: &mut Vec<Action>) {
        let Here { plan, ids, now } = here;
        let Some(number) = self.number(plan.ports[port].vrf, ip) else { return };
        let Some(n) = self.by_number.get_mut(&number) else { return };
        if n.port != port || matches!(n.state, State::Fixed(_)) || !mac.is_unicast() {
            return;
        }
        let before = n.mac();
        n.state = State::Known { mac, since: now };
        if before != Some(mac) {
            let entry = nexthop_entry(number, &plan.ports[port], Some(mac), ids);
            out.push(Action::Apply(Batch { ops: vec![Op::Modify(entry)] }));
        }
        self.waiting -= n.waiting.len();
        for packet in n.waiting.drain(..) {
            out.push(match packet {
                Waiting::Punted(port, frame) => Action::Reinject { port, frame },
                Waiting::Own(mut frame) => {
                    set_destination(&mut frame, mac);
                    Action::Transmit { port: plan.ports[port].id, frame }
                }
            });
        }
    }

    /// Asks, confirms and gives up what is due.
    pub fn poll(&mut self, here: Here<'_>, out: &mut Vec<Action>) {
        let Here { plan, ids, now } = here;
        let mut gone = Vec::new();
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
                        self.waiting -= n.waiting.len();
                        out.extend(n.waiting.drain(..).map(|_| Action::Drop { reason: "neighbour_unreachable" }));
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
                // Left behind by sessions that are gone, never asked for.
                State::Unknown if now.saturating_sub(n.born) >= KEEP_AT_LEAST => gone.push(*number),
                _ => {}
            }
        }
        for number in gone {
            let waiting = self.by_number.get(&number).map_or(0, |n| n.waiting.len());
            out.extend((0..waiting).map(|_| Action::Drop { reason: "neighbour_given_up" }));
            out.push(Action::Apply(self.remove(number, plan, ids)));
        }
    }
}

/// Writes the destination MAC address of a frame of ours.
fn set_destination(frame: &mut [u8], mac: Mac) {
    if let Some(destination) = frame.first_chunk_mut::<6>() {
        *destination = mac.0;
    }
}
