//! A gNodeB: CU-UP and DU in one, or one of them with the other behind F1-U.

use std::collections::{BTreeMap, HashMap};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use ciphering::Engine;
use gnb::nru::Frame;

use crate::Bearer;
use crate::config::{self, Gnb, GnbUe, Role};
use crate::control::{Action, Change, Done};
use crate::counts::{Drops, Report, UeReport, count};
use crate::cu::{self, Cu, ToDu};
use crate::du::{self, Du, ToCu};
use crate::f1u::{self, Datagram};
use crate::n3;

/// What is to be sent. The caller takes it out.
#[derive(Default, Debug)]
pub struct Output {
    /// GTP-U by N3.
    pub n3: Vec<(SocketAddrV4, Vec<u8>)>,
    /// GTP-U by F1-U.
    pub f1u: Vec<(SocketAddrV4, Vec<u8>)>,
    /// RLC PDUs by radio.
    pub radio: Vec<(SocketAddr, Vec<u8>)>,
}

/// A gNodeB, or a part of it.
pub struct Node {
    cu: Option<Cu>,
    du: Option<Du>,
    /// Where the other part is, and the tunnels there by bearer and here by TEID.
    f1u: Option<F1u>,
    from_cu: cu::Output,
    from_du: du::Output,
    /// What UEs had counted that were released.
    ended: BTreeMap<u16, UeReport>,
    drops: Drops,
}

struct F1u {
    role: Role,
    address: Ipv4Addr,
    peer: SocketAddrV4,
    teids: HashMap<Bearer, u32>,
    bearers: HashMap<u32, Bearer>,
}

impl Node {
    /// From a checked configuration.
    pub fn new(config: &Gnb, engine: Engine) -> Node {
        let cu = config.n3.map(|n3| Cu::new(n3, engine, &config.ues));
        let du = config.radio.as_ref().map(|radio| Du::new(radio, &config.ues));
        let f1u = config.f1u.map(|(address, peer)| {
            let mut f1u = F1u { role: config.role, address, peer: config::gtpu(peer), teids: HashMap::new(), bearers: HashMap::new() };
            config.ues.iter().for_each(|ue| f1u.add(ue));
            f1u
        });
        let (from_cu, from_du) = (cu::Output::default(), du::Output::default());
        Node { cu, du, f1u, from_cu, from_du, ended: BTreeMap::new(), drops: Drops::new() }
    }

    /// Does what was asked, between two calls of [`Node::run`]. It was checked.
    ///
    /// # Errors
    /// With the name of the field; nothing has changed then.
    pub fn act(&mut self, action: Action<'_>, now_ns: u64, out: &mut Output) -> Result<Done, String> {
        match action {
            Action::Change(change) | Action::Prepare { change, .. } => self.change(change, now_ns),
            Action::Counts => return Ok(Done::Counts(self.cu.as_ref().map(Cu::counts).unwrap_or_default())),
            Action::Report => return Ok(Done::Report(self.report())),
            Action::Recover(ues) => {
                // RLC first: what PDCP sends again goes by the new one.
                self.du.iter_mut().for_each(|du| ues.iter().for_each(|ue| du.re_establish(*ue, now_ns)));
                self.cu.iter_mut().for_each(|cu| ues.iter().for_each(|ue| cu.recover(*ue, now_ns, &mut self.from_cu)));
                return Ok(Done::All);
            }
            Action::Rekey(ues) => {
                self.du.iter_mut().for_each(|du| ues.iter().for_each(|ue| du.rekey(ue, now_ns)));
                self.cu.iter_mut().for_each(|cu| ues.iter().for_each(|ue| cu.rekey(ue, now_ns, &mut self.from_cu)));
                return Ok(Done::All);
            }
            Action::HandOver(_) | Action::Status(_) => {}
        }
        // A checked request for a handover is one to a gNodeB that is both.
        let (Some(cu), Some(du)) = (&mut self.cu, &mut self.du) else { return Ok(Done::All) };
        match action {
            Action::Change(_) | Action::Counts | Action::Report | Action::Recover(_) | Action::Rekey(_) => Ok(Done::All),
            Action::Prepare { from, forwarding, .. } => {
                cu.prepare(from, forwarding);
                forwarding.iter().for_each(|of| du.prepare(of.id));
                Ok(Done::All)
            }
            Action::HandOver(forwarding) => {
                // What RLC knows to be delivered need not go.
                self.run(now_ns, out);
                let (Some(cu), Some(du)) = (&mut self.cu, &mut self.du) else { return Ok(Done::All) };
                forwarding.iter().for_each(|of| du.leave(of.id));
                Ok(Done::Left(cu.hand_over(forwarding, &mut self.from_cu)))
            }
            Action::Status(statuses) => {
                let arrived = cu.arrive(statuses, now_ns, &mut self.from_cu).map_err(|error| error.to_string())?;
                // Before any frame for them.
                arrived.iter().for_each(|of| du.arrive(of.ue, &of.next));
                Ok(Done::All)
            }
        }
    }

    /// UEs come, change and go, between two calls of [`Node::run`]. It was checked.
    pub fn change(&mut self, change: &Change, now_ns: u64) {
        let mut report = self.counted(&mut Drops::new());
        for id in &change.released {
            if let Some(of) = report.remove(id) {
                self.ended.entry(*id).or_insert_with(|| UeReport { ue: *id, ..UeReport::default() }).absorb(&of);
            }
        }
        let Change { set, released } = change;
        self.cu.iter_mut().for_each(|cu| cu.change(set, released, now_ns));
        self.du.iter_mut().for_each(|du| du.change(set, released));
        if let Some(f1u) = &mut self.f1u {
            // TEIDs may pass from one to another.
            released.iter().chain(set.iter().map(|ue| &ue.id)).for_each(|id| f1u.remove(*id));
            set.iter().for_each(|ue| f1u.add(ue));
        }
    }

    /// A datagram of N3.
    pub fn n3(&mut self, datagram: &[u8], from: SocketAddrV4, now_ns: u64) {
        if let Some(cu) = &mut self.cu {
            cu.n3(datagram, from, now_ns, &mut self.from_cu);
        }
    }

    /// A datagram of the radio.
    pub fn radio(&mut self, datagram: &[u8], from: SocketAddr, now_ns: u64) {
        if let Some(du) = &mut self.du {
            du.radio(datagram, from, now_ns, &mut self.from_du);
        }
    }

    /// A datagram of F1-U.
    pub fn f1u(&mut self, datagram: &[u8], from: SocketAddrV4, now_ns: u64, out: &mut Output) {
        let Some(f1u) = &self.f1u else { return };
        if from.ip() != f1u.peer.ip() {
            return count(&mut self.drops, "f1u.wrong_source");
        }
        let (teid, frame, pdu) = match f1u::parse(datagram) {
            Ok(Datagram::GPdu { teid, frame, pdu }) => (teid, frame, pdu),
            Ok(Datagram::Echo(answer)) => return out.f1u.push((from, answer)),
            Err(fault) => return count(&mut self.drops, fault.name()),
        };
        let Some(bearer) = f1u.bearers.get(&teid).copied() else {
            count(&mut self.drops, "f1u.unknown_teid");
            // TS 29.281 §7.3.1.
            return out.f1u.push((config::gtpu(*from.ip()), n3::error_indication(teid, f1u.address)));
        };
        let drop = match (&mut self.cu, &mut self.du, frame) {
            // A report and the UE's PDU may come in one G-PDU: each is taken for itself.
            (Some(cu), _, frame) => {
                let is_empty = frame.is_none() && pdu.is_empty();
                let drop = match frame {
                    Some(Ok(Frame::DeliveryStatus(status))) => {
                        cu.status(bearer, &status, now_ns, &mut self.from_cu);
                        None
                    }
                    Some(Ok(Frame::UserData(_))) => Some("f1u.wrong_frame"),
                    Some(Err(fault)) => Some(f1u::container_fault(fault)),
                    None => is_empty.then_some("f1u.empty"),
                };
                if !pdu.is_empty() {
                    cu.uplink(bearer, [pdu.to_vec()], now_ns, &mut self.from_cu);
                }
                drop
            }
            (None, Some(du), Some(Ok(Frame::UserData(frame)))) => {
                du.downlink(bearer, Some(&frame), pdu.to_vec());
                None
            }
            // A CU without flow control writes no container.
            (None, Some(du), None) if !pdu.is_empty() => {
                du.downlink(bearer, None, pdu.to_vec());
                None
            }
            (None, _, None) => Some("f1u.empty"),
            (None, _, Some(Err(fault))) => Some(f1u::container_fault(fault)),
            (None, _, Some(Ok(_))) => Some("f1u.wrong_frame"),
        };
        if let Some(reason) = drop {
            count(&mut self.drops, reason);
        }
    }

    /// Does all that is due, and gives what is to be sent. To be called after a burst of datagrams, and when [`Node::next_deadline`] says so.
    pub fn run(&mut self, now_ns: u64, out: &mut Output) {
        if let Some(cu) = &mut self.cu {
            cu.advance(now_ns, &mut self.from_cu);
        }
        loop {
            self.pass_down(out);
            if let Some(du) = &mut self.du {
                du.transmit(now_ns, &mut self.from_du);
                du.advance(now_ns, &mut self.from_du);
            }
            self.pass_up(now_ns, out);
            out.n3.append(&mut self.from_cu.n3);
            out.radio.append(&mut self.from_du.radio);
            if self.from_cu.to_du.is_empty() {
                return;
            }
        }
    }

    fn pass_down(&mut self, out: &mut Output) {
        for message in self.from_cu.to_du.drain(..) {
            let ToDu { bearer, frame, pdu } = message;
            match (&mut self.du, &self.f1u) {
                (Some(du), _) => du.downlink(bearer, Some(&frame), pdu),
                (None, Some(f1u)) => {
                    let Some(teid) = f1u.teids.get(&bearer) else { continue };
                    out.f1u.push((f1u.peer, f1u::to_du(*teid, &ToDu { bearer, frame, pdu })));
                }
                (None, None) => {}
            }
        }
    }

    fn pass_up(&mut self, now_ns: u64, out: &mut Output) {
        for message in self.from_du.to_cu.drain(..) {
            match (&mut self.cu, &self.f1u) {
                (Some(cu), _) => match message {
                    ToCu::Pdu(bearer, pdu) => cu.uplink(bearer, [pdu], now_ns, &mut self.from_cu),
                    ToCu::Status(bearer, status) => cu.status(bearer, &status, now_ns, &mut self.from_cu),
                },
                (None, Some(f1u)) => {
                    let (ToCu::Pdu(bearer, _) | ToCu::Status(bearer, _)) = &message;
                    let Some(teid) = f1u.teids.get(bearer) else { continue };
                    out.f1u.push((f1u.peer, f1u::to_cu(*teid, &message)));
                }
                (None, None) => {}
            }
        }
    }

    /// When to call [`Node::run`] next, without any datagram.
    pub fn next_deadline(&self, now_ns: u64) -> Option<u64> {
        let cu = self.cu.as_ref().and_then(Cu::next_deadline);
        let du = self.du.as_ref().and_then(|du| du.next_deadline(now_ns));
        [cu, du].into_iter().flatten().min()
    }

    /// SDUs that wait in PDCP or are not delivered.
    pub fn queued(&self) -> usize {
        self.cu.as_ref().map_or(0, Cu::queued)
    }

    /// What was counted, of UEs that were released too.
    pub fn report(&self) -> Report {
        let mut drops = self.drops.clone();
        let mut ues = self.counted(&mut drops);
        for (id, before) in &self.ended {
            ues.entry(*id).or_insert_with(|| UeReport { ue: *id, ..UeReport::default() }).absorb(before);
        }
        Report { ues: ues.into_values().collect(), drops }
    }

    /// Of the UEs that are there; `drops` gets what belongs to none.
    fn counted(&self, drops: &mut Drops) -> BTreeMap<u16, UeReport> {
        let mut ues = BTreeMap::new();
        if let Some(cu) = &self.cu {
            cu.report(&mut ues, drops);
        }
        if let Some(du) = &self.du {
            du.report(&mut ues, drops);
        }
        ues
    }
}

impl F1u {
    fn add(&mut self, ue: &GnbUe) {
        for drb in &ue.drbs {
            let bearer = Bearer { ue: ue.id, drb: drb.sdap.id };
            let (cu_teid, du_teid) = drb.f1u.expect("a checked configuration has TEIDs for F1-U");
            let (there, here) = if self.role == Role::CuUp { (du_teid, cu_teid) } else { (cu_teid, du_teid) };
            self.teids.insert(bearer, there);
            self.bearers.insert(here, bearer);
        }
    }

    fn remove(&mut self, ue: u16) {
        self.teids.retain(|bearer, _| bearer.ue != ue);
        self.bearers.retain(|_, bearer| bearer.ue != ue);
    }
}
