//! What stands in front of the program on N3: which entries there are which bearers? `p4/gnb/front.p4` says what it does with their packets.
//!
//! A bearer whose downlink runs there has its COUNT there, and nowhere else: the program behind it has an entry that drops what is handed on (`in_front`). So this is not a chain
//! of targets that hold the same (`offload::Split`): a bearer is on one of two. Uplink is the program's behind, as services do it.
//!
//! Frames leave for a radio unit's own MAC address. A bearer has its entries from when that is known ([`Front::reached`]); until then its packets are handed on and dropped
//! before they have a number.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;

use gnb::rlc::SnLength;
use gnb::rlc::pdu::UmSnLength;
use program::{ApplyError, Batch, CounterId, MeterConfig, MeterId, Op, RegisterId};
use target_api::Target;

use crate::Bearer;
use crate::config::{self, Drb, GnbUe, RlcMode};
use crate::counts::Count;
use crate::pipeline::{N3, RADIO, Row, Rows, entry, mac, rate};

/// Our side of the interfaces.
#[derive(Clone, Debug)]
pub struct Station {
    /// N3's address, and its interface's MAC address.
    pub n3: (Ipv4Addr, [u8; 6]),
    /// The radio's address, and its interface's MAC address.
    pub radio: (SocketAddrV4, [u8; 6]),
    /// Addresses of the radio's interface, with the lengths of their networks: radio units are there, as frames go to them without a router.
    pub networks: Vec<(IpAddr, u8)>,
    /// Longest RLC PDU: of a grant, and of what the radio's interface sends.
    pub pdu_bytes: u16,
    /// Bits of RLC PDUs a second.
    pub rate_bps: u64,
}

/// A target in front with the bearers that run there.
pub struct Front {
    target: Arc<dyn Target>,
    station: Station,
    downlink: CounterId,
    sent: CounterId,
    high: CounterId,
    spent: RegisterId,
    bearers: BTreeMap<Bearer, Placed>,
    units: Units,
    macs: HashMap<Ipv4Addr, [u8; 6]>,
    held: Rows,
}

/// A bearer that runs here.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The bearer's number, of its counters and its COUNT.
    pub number: u32,
    /// What brings the cell of its COUNT to 0.
    pub count_base: u32,
    /// Its radio unit.
    unit: SocketAddrV4,
    flows: Vec<u128>,
    teid: u128,
    /// Of `set_bearer`, up to the number of the peer, and behind it.
    head: Vec<u128>,
    upf: u128,
    reflective: Vec<bool>,
}

impl Placed {
    /// Of a checked configuration.
    pub fn new(ue: &GnbUe, drb: &Drb, number: u32, count_base: u32, pdu_bytes: u16) -> Placed {
        let session = ue.session.expect("a checked configuration has a session");
        let Some(SocketAddr::V4(unit)) = ue.radio else { unreachable!("a checked configuration has IPv4 addresses for the program") };
        let RlcMode::Um(bits) = drb.rlc else { unreachable!("a checked configuration has UM in front") };
        let flows: Vec<_> = ue.sdap.flows.iter().filter(|(_, of)| *of == drb.sdap.id).map(|(qfi, _)| *qfi).collect();
        let long = u128::from(bits == UmSnLength::Bits12);
        let mut head = vec![number.into(), 1, long, u128::from(drb.pdcp_sn == SnLength::Bits18), drb.sdap.downlink_header.into(), 0];
        head.extend([0, 0, ue.id.into(), drb.sdap.id.get().into(), count_base.into(), pdu_bytes.into()]);
        Placed {
            number,
            count_base,
            unit,
            reflective: flows.iter().map(|qfi| ue.sdap.reflective.contains(qfi)).collect(),
            flows: flows.into_iter().map(|qfi| qfi.get().into()).collect(),
            teid: session.downlink_teid.into(),
            head,
            upf: u32::from(session.uplink.addr).into(),
        }
    }

    fn rows(&self, peer: u16, rows: &mut Rows) {
        for (qfi, reflective) in self.flows.iter().zip(&self.reflective) {
            let mut args = self.head.clone();
            args[crate::pipeline::REFLECTIVE] = u128::from(*reflective);
            args.extend([peer.into(), self.upf]);
            rows.insert(("bearer_by_flow", vec![self.teid, *qfi]), ("set_bearer", args));
        }
    }
}

/// Radio units by address: their numbers in the table `peer`, and how many bearers go there.
#[derive(Clone, Debug, Default)]
struct Units {
    numbers: BTreeMap<SocketAddrV4, (u16, usize)>,
    free: Vec<u16>,
}

/// Where an entry is.
type Key = (&'static str, Vec<u128>);

/// A change that was checked and not made yet.
pub struct Prepared {
    gone: Vec<Bearer>,
    come: Vec<(Bearer, Placed)>,
    units: Units,
    rows: Vec<(Key, Option<Row>)>,
    batch: Batch,
}

impl Units {
    fn take(&mut self, unit: SocketAddrV4) {
        if let Some((_, uses)) = self.numbers.get_mut(&unit) {
            *uses += 1;
            return;
        }
        // Numbers are without gaps but for those that are free. More than the table holds: it refuses the entry.
        let number = self.free.pop().unwrap_or(u16::try_from(self.numbers.len() + 1).unwrap_or(u16::MAX));
        self.numbers.insert(unit, (number, 1));
    }

    /// The number, when nobody goes there any more.
    fn give_back(&mut self, unit: &SocketAddrV4) -> Option<u16> {
        let (number, uses) = self.numbers.get_mut(unit)?;
        *uses -= 1;
        if *uses > 0 {
            return None;
        }
        let number = *number;
        self.numbers.remove(unit);
        self.free.push(number);
        Some(number)
    }
}

impl Front {
    /// Over a target that runs `p4/gnb.p4` with FRONT, and holds nothing yet.
    ///
    /// # Errors
    /// The target's.
    pub fn new(target: Arc<dyn Target>, station: Station) -> Result<Front, ApplyError> {
        let program = target.program();
        let counter = |name: &str| program.counter(name).expect("a counter of p4/gnb.p4");
        let (downlink, sent, high) = (counter("downlink_packets"), counter("radio_sent"), counter("downlink_count_high"));
        let spent = program.registers.iter().find(|(_, of)| of.name == "spent").map(|(id, _)| id).expect("a register of p4/gnb.p4");
        let meter: MeterId = program.meter("radio_rate").expect("the meter of p4/gnb.p4");
        let (address, ours) = station.n3;
        let row: Row = ("ours", vec![mac(ours), u32::from(address).into()]);
        let config: MeterConfig = rate(station.rate_bps);
        let ops =
            vec![Op::Insert(entry(program, &("station", vec![N3.0.into()]), &row)), Op::Meter { meter, index: 0, config: Some(config) }];
        target.apply(&Batch { ops })?;
        let (bearers, units, held, macs) = (BTreeMap::new(), Units::default(), Rows::new(), HashMap::new());
        Ok(Front { target, station, downlink, sent, high, spent, bearers, units, macs, held })
    }

    /// The target.
    pub fn target(&self) -> &Arc<dyn Target> {
        &self.target
    }

    /// Longest RLC PDU.
    pub fn pdu_bytes(&self) -> u16 {
        self.station.pdu_bytes
    }

    /// Whether frames come to a radio unit there; why not.
    ///
    /// # Errors
    /// It is on no network of the radio's interface, or it is ourselves.
    pub fn reaches(&self, unit: IpAddr) -> Result<(), String> {
        let IpAddr::V4(unit) = unit else { return Err("expected an IPv4 address".into()) };
        let networks = self.station.networks.iter().filter_map(|(address, len)| match address {
            IpAddr::V4(address) => Some((*address, *len)),
            IpAddr::V6(_) => None,
        });
        let mut near = networks.filter(|(address, len)| {
            let differs = u64::from(u32::from(*address) ^ u32::from(unit));
            differs >> (32 - (*len).min(32)) == 0
        });
        match near.next() {
            Some((address, _)) if address == unit => Err(format!("{unit} is our own address")),
            Some(_) => Ok(()),
            None => Err(format!("{unit} is on no network of the radio's interface, and there are no routes in front")),
        }
    }

    /// What brings the COUNT of a number's next bearer to 0.
    pub fn count_base(&self, number: u32) -> u32 {
        self.spent(number).wrapping_neg()
    }

    /// What the number's bearers have spent.
    fn spent(&self, number: u32) -> u32 {
        let mut cells = Vec::new();
        if let Some(registers) = self.target.facets().registers {
            // The program has it, with a cell for each bearer.
            let _ = registers.read_registers(self.spent, number.into()..u64::from(number) + 1, &mut cells);
        }
        cells.first().copied().unwrap_or_default() as u32
    }

    /// COUNT of the next packet of a bearer; `None`: it does not run here.
    pub fn next_count(&self, bearer: Bearer) -> Option<u32> {
        self.bearers.get(&bearer).map(|placed| self.spent(placed.number).wrapping_add(placed.count_base))
    }

    /// A change: these bearers go, or change, and those come, or are as said from now on. Numbers in `cleared` have new owners. Nothing has changed yet.
    ///
    /// # Errors
    /// The target has no room for it.
    pub fn prepare(&self, gone: Vec<Bearer>, come: Vec<(Bearer, Placed)>, cleared: &[u32]) -> Result<Prepared, ApplyError> {
        let of: BTreeSet<Bearer> = gone.iter().copied().chain(come.iter().map(|(bearer, _)| *bearer)).collect();
        let before: Vec<&Placed> = of.iter().filter_map(|bearer| self.bearers.get(bearer)).collect();
        let mut units = self.units.clone();
        come.iter().for_each(|(_, placed)| units.take(placed.unit));
        let left: Vec<u16> = before.iter().filter_map(|placed| units.give_back(&placed.unit)).collect();
        let peer = |number: u16| ("peer", vec![number.into()]);
        // A unit that others use too stays.
        let stale = self.rows_of(before.into_iter(), &self.units).into_keys().filter(|(table, _)| *table != "peer");
        let stale: Vec<Key> = stale.chain(left.into_iter().map(peer)).collect();
        let clear =
            |number: &u32| [self.downlink, self.sent, self.high].map(|counter| Op::ClearCounter { counter, index: (*number).into() });
        let mut batch = Batch { ops: cleared.iter().flat_map(clear).collect() };
        let rows = self.replace(stale, self.rows_of(come.iter().map(|(_, placed)| placed), &units), &mut batch.ops);
        self.target.check(&batch)?;
        Ok(Prepared { gone, come, units, rows, batch })
    }

    /// Makes a change that was prepared on this state.
    ///
    /// # Errors
    /// The target's; nothing has changed then.
    pub fn apply(&mut self, prepared: Prepared) -> Result<(), ApplyError> {
        let Prepared { gone, come, units, rows, batch } = prepared;
        self.target.apply(&batch)?;
        gone.iter().for_each(|bearer| drop(self.bearers.remove(bearer)));
        self.bearers.extend(come);
        self.units = units;
        self.hold(rows);
        Ok(())
    }

    fn hold(&mut self, rows: Vec<(Key, Option<Row>)>) {
        for (key, row) in rows {
            match row {
                Some(row) => drop(self.held.insert(key, row)),
                None => drop(self.held.remove(&key)),
            }
        }
    }

    /// Rows that the tables are to have for these bearers: none for who is not reached.
    fn rows_of<'a>(&self, bearers: impl Iterator<Item = &'a Placed>, units: &Units) -> Rows {
        let mut rows = Rows::new();
        for placed in bearers {
            let (Some(theirs), Some((number, _))) = (self.macs.get(placed.unit.ip()), units.numbers.get(&placed.unit)) else { continue };
            let (from, ours) = self.station.radio;
            let address = |address: &SocketAddrV4| u128::from(u32::from(*address.ip()));
            let mut args = vec![RADIO.0.into(), mac(ours), mac(*theirs), address(&from), address(&placed.unit)];
            args.extend([u128::from(from.port()), placed.unit.port().into()]);
            rows.insert(("peer", vec![(*number).into()]), ("send", args));
            placed.rows(*number, &mut rows);
        }
        rows
    }

    /// What makes `fresh` of `stale`: as operations, and as what the tables hold then.
    fn replace(&self, stale: Vec<Key>, fresh: Rows, ops: &mut Vec<Op>) -> Vec<(Key, Option<Row>)> {
        let (program, mut rows) = (self.target.program(), Vec::new());
        for key in stale.into_iter().filter(|key| !fresh.contains_key(key)) {
            if let Some(row) = self.held.get(&key) {
                ops.push(Op::Delete(entry(program, &key, row)));
                rows.push((key, None));
            }
        }
        for (key, row) in fresh {
            match self.held.get(&key) {
                None => ops.push(Op::Insert(entry(program, &key, &row))),
                Some(before) if *before != row => ops.push(Op::Modify(entry(program, &key, &row))),
                Some(_) => continue,
            }
            rows.push((key, Some(row)));
        }
        rows
    }

    /// Addresses of radio units.
    pub fn units(&self) -> BTreeSet<Ipv4Addr> {
        self.units.numbers.keys().map(|unit| *unit.ip()).collect()
    }

    /// A radio unit's MAC address is known, or another one: its bearers run here from now on.
    ///
    /// # Errors
    /// The target's; then they do not.
    pub fn reached(&mut self, unit: Ipv4Addr, theirs: [u8; 6]) -> Result<(), ApplyError> {
        if self.macs.get(&unit) == Some(&theirs) {
            return Ok(());
        }
        let before = self.macs.insert(unit, theirs);
        let here = self.bearers.values().filter(|placed| *placed.unit.ip() == unit);
        let mut batch = Batch::default();
        let rows = self.replace(Vec::new(), self.rows_of(here, &self.units), &mut batch.ops);
        if let Err(error) = self.target.apply(&batch) {
            match before {
                Some(before) => drop(self.macs.insert(unit, before)),
                None => drop(self.macs.remove(&unit)),
            }
            return Err(error);
        }
        self.hold(rows);
        Ok(())
    }

    /// Bearers, and of how many the radio unit is reached.
    pub fn running(&self) -> (usize, usize) {
        let reached = self.bearers.values().filter(|placed| self.macs.contains_key(placed.unit.ip())).count();
        (self.bearers.len(), reached)
    }

    /// Users' packets and RLC PDUs of a number's bearer, and whether its COUNT is high.
    pub fn counted(&self, number: u32) -> (Count, Count, bool) {
        let both = |counter| {
            let target_api::Count { packets, bytes } = self.target.counter(counter, number.into());
            Count { packets, bytes }
        };
        (both(self.downlink), both(self.sent), self.target.counter(self.high, number.into()).packets > 0)
    }
}

/// What of a frame of the radio is not its RLC PDU: IPv4, UDP and the framing.
pub const OVERHEAD: usize = 20 + 8 + 18;

/// The longest RLC PDU that fits a grant and an interface's MTU.
pub fn pdu_bytes(grant: usize, mtu: usize) -> u16 {
    let most = mtu.saturating_sub(OVERHEAD).clamp(config::MIN_PDU, config::MAX_PDU);
    u16::try_from(grant.min(most)).unwrap_or(u16::MAX)
}
