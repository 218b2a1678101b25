//! A gNodeB of `p4/gnb.p4`: which entries of the program, and which settings of its services, are the bearers of a configuration? And what has it counted?
//!
//! A bearer's number is its place in the configuration: the program's tables lead to it, counters and services know the bearer by it. What runs lanes and
//! ports is elsewhere: `run/pipeline.rs` does with the engine.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use base::PortId;
use buffer::Limits;
use buffer::service::{BufferService, Pace};
use ciphering::service::{CipherService, key_setting};
use ciphering::{Choice, Direction, Nea};
use engine::Delays;
use gnb::pdcp::{CountGuard, OrderConfig};
use gnb::rlc::pdu::UmSnLength;
use gnb::rlc::um::UmRxConfig;
use gnb::rlc::{SnLength, am_rx};
use p4_driver::objects::Objects;
use program::{ApplyError, Batch, CounterId, Entry, KeyMatch, MeterConfig, MeterId, Op, Program, RegisterId};
use radio_bearer::{RadioBearerService, RlcConfig};
use service::caller::Rings;
use service::{Deployment, Place};
use target_api::Target;
use wire::gtpu;

use crate::bearer::{self, format};
use crate::config::{self, Drb, Gnb, GnbUe, Radio, RlcMode};
use crate::control::{Action, Change, Done, Numbers};
use crate::counts::{BearerCounts, Count, CountState, Drops, Report, UeCounts, UeReport, add_count, count};
use crate::front::{self, Front};
use crate::n3::{self, Asked};

/// The port of N3: those below 128 are tunnels (p4/include/splitplane.p4).
pub const N3: PortId = PortId(0);
/// The port of the radio.
pub const RADIO: PortId = PortId(128);
/// How long a downlink packet may wait for the radio's rate, in ns: what waits for longer is dropped, before it has a number.
pub const WAIT_NS: u64 = config::P4_DISCARD_MS * 1_000_000;
/// What the rate may save up, in ns, as [`crate::grants`] does.
const DEPTH_NS: u64 = 4_000_000;
/// What is sent again has this part of the radio's rate at most: a UE that says that it misses everything must leave the others' new packets the rest.
const AGAIN_PART: u64 = 2;
/// Packets and bytes that the buffer keeps in all; each bearer has limits of its own.
const LIMITS: Limits = Limits { packets: 1 << 22, bytes: 8 << 30 };
/// Of the program's reasons those from here to 63 say that a packet has been processed, and are no drops (p4/gnb/metadata.p4).
const PROCESSED: u8 = 48;

/// Why the program cannot run; the text names what is wrong.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// It does not compile here.
    #[error("{0}")]
    Program(String),
    /// A service does not start.
    #[error("service {name}: {why}")]
    Service {
        /// Which.
        name: &'static str,
        /// Why not.
        why: String,
    },
    /// There are too many.
    #[error("ue: more than {limit} bearers")]
    Bearers {
        /// As many may be.
        limit: u32,
    },
    /// The bearers do not fit the tables.
    #[error("the bearers do not fit the program's tables: {0}")]
    Tables(#[from] ApplyError),
    /// The target in front of the program.
    #[error("split.fast: {0}")]
    Front(String),
}

/// The program with its bearers in place.
pub struct Pipeline {
    /// What makes lanes.
    pub target: Arc<dyn Target>,
    /// What stands in front of it on N3.
    pub front: Option<Front>,
    services: Vec<Arc<Deployment>>,
    names: Names,
    pdu_bytes: u16,
    /// Bytes that were sent again, and that the radio's rate has not been charged for.
    owed: Arc<AtomicU64>,
    /// `discardTimer` by bearer: what waits for longer for the radio's rate is dropped.
    delays: Delays,
    state: State,
    /// Bearers and directions whose COUNT is high, as was told.
    told: BTreeMap<(crate::Bearer, u8), CountState>,
    /// What UEs had counted on bearers whose numbers are others' now.
    ended: BTreeMap<u16, UeReport>,
}

/// What is in the tables, and whose numbers are taken.
struct State {
    ues: BTreeMap<u16, GnbUe>,
    bearers: BTreeMap<crate::Bearer, Placed>,
    numbers: Numbers<u16>,
    peers: Peers,
}

/// A bearer's place.
#[derive(Clone, Copy, Debug)]
struct Placed {
    number: u32,
    /// Its downlink, and its COUNT, are the target's in front.
    fast: bool,
    /// Where COUNT begins, or without RLC AM what brings the cell that its number's last bearer has left to 0 (p4/gnb/bearer.p4).
    count_base: u32,
}

/// UPFs and radio units, by number, and how many bearers go there.
#[derive(Clone, Debug)]
struct Peers {
    ours: [SocketAddrV4; 2],
    numbers: HashMap<(PortId, SocketAddrV4), (u32, usize)>,
    free: Vec<u32>,
}

/// An action and its arguments.
pub(crate) type Row = (&'static str, Vec<u128>);
/// Entries by table and key.
pub(crate) type Rows = BTreeMap<(&'static str, Vec<u128>), Row>;

/// The program's objects.
struct Names {
    radio_rate: MeterId,
    spent: RegisterId,
    downlink: CounterId,
    uplink: CounterId,
    sent: CounterId,
    received: CounterId,
    retransmissions: CounterId,
    max_retransmissions: CounterId,
    downlink_high: CounterId,
    uplink_high: CounterId,
    uplink_count: RegisterId,
}

impl Names {
    fn counters(&self) -> impl Iterator<Item = CounterId> {
        let high = [self.downlink_high, self.uplink_high];
        [self.downlink, self.uplink, self.sent, self.received, self.retransmissions, self.max_retransmissions].into_iter().chain(high)
    }

    fn of(program: &Program) -> Names {
        let counter = |name: &str| program.counter(name).expect("a counter of p4/gnb.p4");
        let register =
            |name: &str| program.registers.iter().find(|(_, of)| of.name == name).map(|(id, _)| id).expect("a register of p4/gnb.p4");
        Names {
            spent: register("spent"),
            radio_rate: program.meter("radio_rate").expect("the meter of p4/gnb.p4"),
            downlink: counter("downlink_packets"),
            uplink: counter("uplink_packets"),
            sent: counter("radio_sent"),
            received: counter("radio_received"),
            retransmissions: counter("retransmissions"),
            max_retransmissions: counter("max_retransmissions"),
            downlink_high: counter("downlink_count_high"),
            uplink_high: counter("uplink_count_high"),
            uplink_count: register("uplink_count"),
        }
    }
}

/// How the program is compiled.
#[derive(Default)]
pub struct Build {
    /// Where its object comes from, if it need not be compiled.
    pub objects: Objects,
    /// Further arguments for the C compiler.
    pub flags: Vec<String>,
    /// The C compiler; none: the machine's.
    pub cc: Option<PathBuf>,
    /// Which ciphers.
    pub ciphers: Choice,
}

impl Pipeline {
    /// Compiles the program, and puts the bearers in place. `config` was checked, for `datapath = "p4"`.
    ///
    /// # Errors
    /// [`PipelineError`].
    pub fn new(config: &Gnb, build: Build) -> Result<Pipeline, PipelineError> {
        Pipeline::behind(config, build, None)
    }

    /// As [`Pipeline::new`], behind what stands in front.
    ///
    /// # Errors
    /// [`PipelineError`].
    pub fn behind(config: &Gnb, build: Build, front: Option<Front>) -> Result<Pipeline, PipelineError> {
        let bearers = config.ues.iter().map(|ue| ue.drbs.len()).sum();
        // Services have places for what may come.
        let places = if config.control.is_some() { config::P4_BEARERS } else { bearers };
        let Build { objects: Objects { shipped, cache }, flags, cc, ciphers } = build;
        Pipeline::over(config, places, ciphers, front, |services| {
            let refused = |error: p4_driver::Error| PipelineError::Program(error.to_string());
            let program = p4_driver::Program::compile_shipped("gnb.p4", &[]).map_err(refused)?;
            // The seed keys the tables' hashes: traffic must not be able to aim at one hash bucket.
            let options = target_x86::Options { cc, flags, shipped, cache, seed: rand::random(), ..Default::default() };
            program.x86().and_then(|x86| x86.load(&options, services)).map(Arc::from).map_err(refused)
        })
    }

    /// The same over the target that `load` gives, behind `front`, which runs the program with these services, for as many bearers as there are `places`.
    ///
    /// # Errors
    /// [`PipelineError`].
    pub fn over(
        config: &Gnb,
        places: usize,
        ciphers: Choice,
        front: Option<Front>,
        load: impl FnOnce(&[Arc<Deployment>]) -> Result<Arc<dyn Target>, PipelineError>,
    ) -> Result<Pipeline, PipelineError> {
        let (n3, radio) = (config.n3, config.radio);
        let (n3, radio) = (n3.expect("a checked configuration has n3"), radio.expect("a checked configuration has a radio"));
        // What is in front has its part of the rate.
        let rate_bps = radio.rate_bps - config.split.map_or(0, |split| split.rate_bps);
        let owed = Arc::new(AtomicU64::new(0));
        let again = Pace { bytes_per_s: rate_bps / 8 / AGAIN_PART, sent: owed.clone() };
        let services = services(places, ciphers, again)?;
        let target = load(&services)?;
        let names = Names::of(target.program());
        if front.is_none() && config.split.is_some() {
            return Err(PipelineError::Front("there is nothing in front".into()));
        }
        target.apply(&stations(target.program(), n3, &radio, names.radio_rate, rate_bps))?;
        let pdu_bytes = u16::try_from(radio.pdu_bytes).expect("a checked configuration has grants of up to MAX_PDU");
        let state = State {
            ues: BTreeMap::new(),
            bearers: BTreeMap::new(),
            numbers: Numbers::new(places as u32),
            peers: Peers { ours: [config::gtpu(n3), v4(radio.address)], numbers: HashMap::new(), free: Vec::new() },
        };
        let delays = Delays::new(places as u32);
        let mut pipeline =
            Pipeline { target, front, services, names, pdu_bytes, owed, delays, state, told: BTreeMap::new(), ended: BTreeMap::new() };
        pipeline.change(&Change { set: config.ues.clone(), released: Vec::new() })?;
        Ok(pipeline)
    }

    /// Does what was asked. It was checked.
    ///
    /// # Errors
    /// Why not; nothing has changed then. A handover and a recovery are not for the program.
    pub fn act(&mut self, action: Action<'_>) -> Result<Done, String> {
        match action {
            Action::Change(change) => self.change(change).map(|()| Done::All).map_err(|error| error.to_string()),
            Action::Counts => Ok(Done::Counts(self.counts())),
            // Counts of bearers only: the engine and the host that run it add theirs (`run::pipeline`).
            Action::Report => {
                let mut ues = BTreeMap::new();
                self.report(&mut ues);
                Ok(Done::Report(Report { ues: ues.into_values().collect(), drops: Drops::new() }))
            }
            // The service `buffer` keeps PDUs by RLC's numbers.
            Action::Recover(_) => {
                Err("datapath: bearers of \"p4\" keep their RLC, and so cannot recover data: configure \"entities\"".into())
            }
            Action::Rekey(_) => {
                Err("datapath: bearers of \"p4\" keep their RLC, and so cannot go on under other keys: configure \"entities\"".into())
            }
            Action::Prepare { .. } | Action::HandOver(_) | Action::Status(_) => {
                Err("datapath: bearers of \"p4\" cannot be handed over yet: configure \"entities\"".into())
            }
        }
    }

    /// UEs come, change and go, while lanes run. A bearer whose configuration stays as it was goes on.
    ///
    /// # Errors
    /// [`PipelineError`]; nothing has changed then.
    pub fn change(&mut self, change: &Change) -> Result<(), PipelineError> {
        if let Some(front) = &self.front {
            let fast = change.set.iter().filter(|ue| ue.drbs.iter().any(|drb| drb.fast));
            fast.filter_map(|ue| ue.radio.map(|radio| (ue.id, radio.ip())))
                .try_for_each(|(id, unit)| front.reaches(unit).map_err(|why| PipelineError::Front(format!("radio of UE {id}: {why}"))))?;
        }
        let (program, state) = (self.target.program(), &self.state);
        let touched = change.released.iter().copied().chain(change.set.iter().map(|ue| ue.id));
        let before: Vec<&GnbUe> = touched.filter_map(|id| state.ues.get(&id)).collect();
        let set: Vec<&GnbUe> = change.set.iter().collect();
        // Which bearers go on; others of these begin or end.
        let was: BTreeMap<crate::Bearer, &Drb> = before.iter().flat_map(|ue| keyed(ue)).collect();
        let is: BTreeMap<crate::Bearer, &Drb> = set.iter().flat_map(|ue| keyed(ue)).collect();
        let begin: Vec<(crate::Bearer, &Drb)> =
            is.iter().filter(|(of, drb)| was.get(*of) != Some(*drb)).map(|(of, drb)| (*of, *drb)).collect();
        let end: Vec<crate::Bearer> = was.iter().filter(|(of, drb)| is.get(*of) != Some(*drb)).map(|(of, _)| *of).collect();

        let (mut ops, mut counted, mut again) = (Vec::new(), Vec::new(), Vec::new());
        let (mut bearers, mut numbers, mut peers) = (state.bearers.clone(), state.numbers.clone(), state.peers.clone());
        for (bearer, _) in &begin {
            let Some((number, last)) = numbers.take() else { return Err(PipelineError::Bearers { limit: numbers.limit() }) };
            let fast = is[bearer].fast;
            let mut placed = Placed { number, fast, count_base: 0 };
            if let Some(last) = last {
                placed.count_base = match &self.front {
                    Some(front) if fast => front.count_base(number),
                    // The buffer numbers the packets of a bearer from 0.
                    _ if matches!(is[bearer].rlc, RlcMode::Am(_)) => 0,
                    _ => (self.cell(self.names.spent, number) as u32).wrapping_neg(),
                };
                counted.push(self.counted(number, last));
                again.push(number);
                ops.extend(self.names.counters().map(|counter| Op::ClearCounter { counter, index: number.into() }));
            }
            bearers.insert(*bearer, placed);
        }
        set.iter().for_each(|ue| peers.take(ue, program, &mut ops));
        let rows = |ues: &[&GnbUe], bearers: &BTreeMap<crate::Bearer, Placed>| {
            let mut rows = Rows::new();
            for ue in ues {
                keyed(ue).for_each(|(bearer, drb)| add_rows(&mut rows, ue, drb, bearers[&bearer], self.pdu_bytes, &peers));
            }
            rows
        };
        let (old, new) = (rows(&before, &state.bearers), rows(&set, &bearers));
        ops.extend(old.iter().filter(|(key, _)| !new.contains_key(*key)).map(|(key, row)| Op::Delete(entry(program, key, row))));
        for (key, row) in &new {
            match old.get(key) {
                None => ops.push(Op::Insert(entry(program, key, row))),
                Some(before) if before != row => ops.push(Op::Modify(entry(program, key, row))),
                Some(_) => {}
            }
        }
        before.iter().for_each(|ue| peers.give_back(ue, program, &mut ops));
        let in_front = match &self.front {
            None => None,
            Some(front) => {
                let gone: Vec<crate::Bearer> = was.iter().filter(|(_, drb)| drb.fast).map(|(of, _)| *of).collect();
                let come = set.iter().flat_map(|ue| keyed(ue).map(move |(of, drb)| (of, *ue, drb))).filter(|(_, _, drb)| drb.fast);
                let come = come.map(|(of, ue, drb)| {
                    let Placed { number, count_base, .. } = bearers[&of];
                    (of, front::Placed::new(ue, drb, number, count_base, front.pdu_bytes()))
                });
                Some(front.prepare(gone, come.collect(), &again)?)
            }
        };
        // Services first: what comes by a new entry finds its bearer there.
        let settings = begin.iter().try_for_each(|(bearer, drb)| set_services(&self.services, bearers[bearer].number, drb));
        let batch = Batch { ops };
        // Each has said that it takes its part before the first changes.
        let applied = settings.and_then(|()| Ok(self.target.check(&batch)?)).and_then(|()| {
            if let (Some(front), Some(prepared)) = (&mut self.front, in_front) {
                front.apply(prepared)?;
            }
            Ok(self.target.apply(&batch)?)
        });
        if let Err(error) = applied {
            begin.iter().for_each(|(bearer, _)| unset_services(&self.services, bearers[bearer].number));
            return Err(error);
        }
        for (bearer, drb) in &begin {
            self.delays.set(bearers[bearer].number, drb.discard_ns.unwrap_or(u64::MAX));
        }
        for bearer in &end {
            let number = state.bearers[bearer].number;
            unset_services(&self.services, number);
            numbers.give_back(number, bearer.ue);
            if !is.contains_key(bearer) {
                bearers.remove(bearer);
            }
        }
        for report in counted {
            self.ended.entry(report.ue).or_insert_with(|| UeReport { ue: report.ue, ..UeReport::default() }).absorb(&report);
        }
        let mut ues = std::mem::take(&mut self.state.ues);
        change.released.iter().for_each(|id| drop(ues.remove(id)));
        ues.extend(change.set.iter().map(|ue| (ue.id, ue.clone())));
        self.state = State { ues, bearers, numbers, peers };
        Ok(())
    }

    /// A cell of a register.
    fn cell(&self, register: RegisterId, number: u32) -> u64 {
        let mut cells = Vec::new();
        if let Some(registers) = self.target.facets().registers {
            // The program has it, with a cell for each bearer.
            let _ = registers.read_registers(register, number.into()..u64::from(number) + 1, &mut cells);
        }
        cells.first().copied().unwrap_or_default()
    }

    /// Where COUNTs are. That of the uplink is known when it is high.
    pub fn counts(&self) -> Vec<UeCounts> {
        let mut ues: BTreeMap<u16, Vec<BearerCounts>> = BTreeMap::new();
        for (bearer, placed) in &self.state.bearers {
            ues.entry(bearer.ue).or_default().push(self.counts_of(*bearer, *placed));
        }
        ues.into_iter().map(|(id, drb)| UeCounts { id, drb }).collect()
    }

    fn counts_of(&self, bearer: crate::Bearer, placed: Placed) -> BearerCounts {
        let number = placed.number;
        let in_front = self.front.as_ref().and_then(|front| front.next_count(bearer));
        // Each packet that was counted has spent one.
        let downlink = in_front.unwrap_or_else(|| self.target.counter(self.names.downlink, number.into()).packets as u32);
        let is_high = self.target.counter(self.names.uplink_high, number.into()).packets > 0;
        let uplink = is_high.then(|| (self.cell(self.names.uplink_count, number) as u32).saturating_add(1));
        BearerCounts::new(bearer.drb, downlink, uplink)
    }

    /// Tells the operator of COUNTs that have become high since the last call. It looks at each bearer: a COUNT is high for 2^30 packets before its end, so some seconds
    /// between calls are short.
    pub fn tell_of_counts(&mut self) {
        self.told.retain(|(bearer, _), _| self.state.bearers.contains_key(bearer));
        for (bearer, placed) in self.state.bearers.clone() {
            let BearerCounts { downlink_count, uplink_count, .. } = self.counts_of(bearer, placed);
            for (direction, next) in [(Direction::Downlink, downlink_count), (Direction::Uplink, uplink_count.unwrap_or(0))] {
                let (key, state) = ((bearer, direction as u8), CountState::of(next));
                if state == CountState::Ok {
                    self.told.remove(&key);
                } else if self.told.insert(key, state) != Some(state) {
                    bearer::log(bearer, direction, state);
                }
            }
        }
    }

    /// The meter whose red packets wait.
    pub fn radio_rate(&self) -> MeterId {
        self.names.radio_rate
    }

    /// Bytes that were sent again: what waits for the radio's rate waits for them, too.
    pub fn owed(&self) -> Arc<AtomicU64> {
        self.owed.clone()
    }

    /// How long packets of a bearer may wait, by its number.
    pub fn delays(&self) -> Delays {
        self.delays.clone()
    }

    /// What bearers' numbers are below: what their packets wait in is numbered as they are.
    pub fn bearers(&self) -> u32 {
        self.state.numbers.limit()
    }

    /// Adds what the bearers have carried, of UEs that were released too.
    pub fn report(&self, ues: &mut BTreeMap<u16, UeReport>) {
        let live = self.state.bearers.iter().map(|(bearer, placed)| (placed.number, bearer.ue));
        let free = self.state.numbers.were().copied();
        let counted = live.chain(free).map(|(number, ue)| self.counted(number, ue));
        for report in self.ended.values().cloned().chain(counted) {
            ues.entry(report.ue).or_insert_with(|| UeReport { ue: report.ue, ..UeReport::default() }).absorb(&report);
        }
    }

    /// What a bearer of a UE has carried.
    fn counted(&self, number: u32, ue: u16) -> UeReport {
        let names = &self.names;
        let (fast, fast_sent, fast_high) = self.front.as_ref().map(|front| front.counted(number)).unwrap_or_default();
        let sum = |mut count: Count, more| {
            add_count(&mut count, more);
            count
        };
        let cell = |counter| self.target.counter(counter, number.into());
        let both = |counter| {
            let target_api::Count { packets, bytes } = cell(counter);
            Count { packets, bytes }
        };
        UeReport {
            ue,
            downlink: sum(both(names.downlink), fast),
            downlink_fast: fast,
            uplink: both(names.uplink),
            radio_sent: sum(both(names.sent), fast_sent),
            radio_received: both(names.received),
            retransmissions: cell(names.retransmissions).packets,
            radio_link_failures: cell(names.max_retransmissions).packets,
            count_high: [names.downlink_high, names.uplink_high].map(|of| u64::from(cell(of).packets > 0)).iter().sum::<u64>()
                + u64::from(fast_high),
            ..UeReport::default()
        }
    }

    /// Adds drops: those of the program and of what runs it by their codes, those of services by the services' reasons.
    pub fn drops(&self, by_code: impl IntoIterator<Item = (u8, u64)>, drops: &mut Drops) {
        let refused = base::DropReason::SERVICE_REFUSED.0;
        for (code, packets) in by_code {
            // What services refuse is told by them, and by their reasons.
            if packets > 0 && !(PROCESSED..64).contains(&code) && code != refused {
                *drops.entry(format!("pipeline.{}", self.target.program().reason_name(code))).or_default() += packets;
            }
        }
        for service in &self.services {
            let (interface, counters) = (service.interface(), service.counters());
            for (reason, packets) in counters.dropped.iter().filter(|(reason, packets)| **packets > 0 && reason.as_drop().0 == refused) {
                *drops.entry(format!("{}.{}", interface.name, interface.reason_name(*reason))).or_default() += packets;
            }
        }
    }

    /// Calls of services that are not accounted for: zero between bursts, or there is a defect.
    pub fn imbalance(&self) -> i64 {
        self.services.iter().map(|service| service.counters().imbalance()).sum()
    }
}

/// The services, each in the worker itself: there is one worker, and a call costs least there.
fn services(bearers: usize, ciphers: Choice, again: Pace) -> Result<Vec<Arc<Deployment>>, PipelineError> {
    let cipher = |why: ciphering::Error| PipelineError::Service { name: "cipher", why: why.to_string() };
    CipherService::new(ciphers).map_err(cipher)?;
    let makes: [(&'static str, service::caller::Make); 3] = [
        ("buffer", Arc::new(move || Box::new(BufferService::new(bearers, LIMITS).paced(again.clone())))),
        ("cipher", Arc::new(move || Box::new(CipherService::new(ciphers).expect("one was made")))),
        ("radio_bearer", Arc::new(move || Box::new(RadioBearerService::new(bearers)))),
    ];
    let deploy = |(name, make)| {
        let deployment = Deployment::new(&Place::Lane, make, Rings::default());
        deployment.map(Arc::new).map_err(|error| PipelineError::Service { name, why: error.to_string() })
    };
    makes.into_iter().map(deploy).collect()
}

/// Takes a bearer's settings away: what services keep of it is dropped.
fn unset_services(services: &[Arc<Deployment>], number: u32) {
    for service in services {
        // It was in range when it was set.
        let _ = service.set(number, None);
    }
}

/// Puts a bearer's settings in place.
fn set_services(services: &[Arc<Deployment>], number: u32, drb: &Drb) -> Result<(), PipelineError> {
    let set = |name: &'static str, value: zeroize::Zeroizing<Vec<u8>>| {
        let service = services.iter().find(|service| service.interface().name == name).expect("all are there");
        service.set(number, Some(value)).map_err(|error| PipelineError::Service { name, why: error.to_string() })
    };
    if is_protected(drb) {
        set("cipher", key_setting(drb.ciphering, &drb.keys.cipher, drb.integrity.map(|nia| (nia, &drb.keys.integrity))))?;
    }
    set("radio_bearer", radio_bearer::bearer_setting(&receiving(drb)).into())?;
    match drb.rlc {
        RlcMode::Am(sn_length) => set("buffer", buffer::service::bearer_setting(&transmitting(drb, sn_length)).into()),
        RlcMode::Um(_) => Ok(()),
    }
}

fn is_protected(drb: &Drb) -> bool {
    drb.ciphering != Nea::Nea0 || drb.integrity.is_some()
}

/// The receiving sides, as [`crate::bearer`] has them.
fn receiving(drb: &Drb) -> radio_bearer::BearerConfig {
    let rlc = match drb.rlc {
        RlcMode::Um(sn_length) => {
            RlcConfig::Um(UmRxConfig { sn_length, reassembly_ns: drb.rlc_timers.reassembly_ns, partial_bytes: bearer::PARTIAL_BYTES })
        }
        RlcMode::Am(sn_length) => RlcConfig::Am(am_rx::RxConfig {
            sn_length,
            window: drb.window,
            partial_bytes: bearer::PARTIAL_BYTES,
            reassembly_ns: drb.rlc_timers.reassembly_ns,
            status_prohibit_ns: drb.rlc_timers.status_prohibit_ns,
        }),
    };
    let order = OrderConfig {
        sn_length: drb.pdcp_sn_uplink,
        window: drb.window,
        bytes: drb.queue_bytes,
        reordering_ns: drb.reordering_ns,
        out_of_order: false,
        stop: CountGuard::default().stop,
    };
    radio_bearer::BearerConfig { rlc, format: format(drb, Direction::Uplink), order }
}

/// RLC AM's transmitting side.
fn transmitting(drb: &Drb, sn_length: SnLength) -> buffer::rlc::BearerConfig {
    buffer::rlc::BearerConfig {
        sn_length: match sn_length {
            SnLength::Bits12 => buffer::status::SnLength::Bits12,
            SnLength::Bits18 => buffer::status::SnLength::Bits18,
        },
        window: drb.window,
        bytes: drb.queue_bytes,
        poll_retransmit_ms: (drb.rlc_timers.poll_retransmit_ns / 1_000_000) as u32,
        poll_pdu: drb.rlc_timers.poll_pdu,
        poll_byte: drb.rlc_timers.poll_byte,
        max_retransmissions: drb.rlc_timers.max_retransmissions,
    }
}

fn keyed(ue: &GnbUe) -> impl Iterator<Item = (crate::Bearer, &Drb)> {
    ue.drbs.iter().map(|drb| (crate::Bearer { ue: ue.id, drb: drb.sdap.id }, drb))
}

/// What the tables hold whatever the bearers.
fn stations(program: &Program, n3: Ipv4Addr, radio: &Radio, radio_rate: MeterId, rate_bps: u64) -> Batch {
    let mac = mac(pktio::OUR_MAC);
    let station = |port: PortId, address: Ipv4Addr| {
        Op::Insert(entry(program, &("station", vec![port.0.into()]), &("ours", vec![mac, u32::from(address).into()])))
    };
    let meter = Op::Meter { meter: radio_rate, index: 0, config: Some(rate(rate_bps)) };
    Batch { ops: vec![station(N3, n3), station(RADIO, *v4(radio.address).ip()), meter] }
}

/// The radio's rate, or a part of it.
pub(crate) fn rate(rate_bps: u64) -> MeterConfig {
    let rate = rate_bps / 8;
    let burst = (u128::from(rate) * u128::from(DEPTH_NS) / 1_000_000_000) as u64 + config::MAX_PDU as u64;
    MeterConfig { cir: rate, cbs: burst, pir: rate, pbs: burst }
}

pub(crate) fn entry(program: &Program, (table, keys): &(&'static str, Vec<u128>), (action, args): &Row) -> Entry {
    let table = program.table(table).expect("a table of p4/gnb.p4");
    let is_meant = |name: &str| name.rsplit('.').next() == Some(*action);
    let actions = program.tables[table].actions.iter().map(|used| used.action);
    let action = { actions }.find(|a| is_meant(&program.actions[*a].name)).expect("an action of p4/gnb.p4");
    let keys = keys.iter().map(|key| KeyMatch::Exact(*key)).collect();
    Entry { table, keys, priority: 0, action, args: args.clone() }
}

/// Which argument of the downlink `set_bearer` asks the UE to follow.
pub(crate) const REFLECTIVE: usize = 5;

/// A bearer's entries.
fn add_rows(rows: &mut Rows, ue: &GnbUe, drb: &Drb, placed: Placed, pdu_bytes: u16, peers: &Peers) {
    let Placed { number, count_base, fast } = placed;
    let session = ue.session.expect("a checked configuration has a session");
    let [(_, upf), (_, unit)] = ends(ue);
    let [upf_peer, unit_peer] = peers.of(ue);
    let (mode, long) = match drb.rlc {
        RlcMode::Um(bits) => (1, bits == UmSnLength::Bits12),
        RlcMode::Am(bits) => (2, bits == SnLength::Bits18),
    };
    let formats = |pdcp_sn| [number.into(), mode, long.into(), u128::from(pdcp_sn == SnLength::Bits18)];
    let protection: [u128; 2] = [is_protected(drb).into(), number.into()];
    let id = drb.sdap.id;
    let mut down = formats(drb.pdcp_sn).to_vec();
    down.extend([drb.sdap.downlink_header.into(), 0]);
    down.extend(protection);
    down.extend([ue.id.into(), id.get().into(), count_base.into(), pdu_bytes.into(), unit_peer]);
    down.push(u32::from(*upf.ip()).into());
    let again = vec![mode, long.into(), ue.id.into(), id.get().into(), unit_peer];
    rows.insert(("bearer_by_number", vec![number.into()]), ("set_bearer", again));
    let key = u128::from(session.downlink_teid);
    let flows: Vec<u128> = ue.sdap.flows.iter().filter(|(_, drb)| *drb == id).map(|(qfi, _)| qfi.get().into()).collect();
    for qfi in &flows {
        let mut down = down.clone();
        down[REFLECTIVE] = u128::from(ue.sdap.reflective.iter().any(|of| u128::from(of.get()) == *qfi));
        let row = if fast { ("in_front", Vec::new()) } else { ("set_bearer", down) };
        rows.insert(("bearer_by_flow", vec![key, *qfi]), row);
    }
    if ue.sdap.default_drb == Some(id) {
        rows.insert(("default_bearer", vec![key]), ("set_bearer", down));
    }
    let mut up = formats(drb.pdcp_sn_uplink).to_vec();
    up.push(drb.sdap.uplink_header.into());
    up.extend(protection);
    // A bearer without header has one flow, which says what its packets are of.
    let qfi = flows.first().copied().unwrap_or_default();
    up.extend([qfi, session.uplink.teid.into(), unit_peer, upf_peer, u32::from(*unit.ip()).into(), unit.port().into()]);
    rows.insert(("bearer_by_ue", vec![ue.id.into(), id.get().into()]), ("set_bearer", up));
}

/// The UPF and the radio unit of a UE.
fn ends(ue: &GnbUe) -> [(PortId, SocketAddrV4); 2] {
    let session = ue.session.expect("a checked configuration has a session");
    let unit = v4(ue.radio.expect("a checked configuration has a radio address"));
    [(N3, config::gtpu(session.uplink.addr)), (RADIO, unit)]
}

impl Peers {
    /// The numbers of a UE's, which has taken them.
    fn of(&self, ue: &GnbUe) -> [u128; 2] {
        ends(ue).map(|end| self.numbers[&end].0.into())
    }

    /// One more UE goes there: an end that is new gets an entry.
    fn take(&mut self, ue: &GnbUe, program: &Program, ops: &mut Vec<Op>) {
        for end in ends(ue) {
            if let Some((_, uses)) = self.numbers.get_mut(&end) {
                *uses += 1;
                continue;
            }
            // Numbers are without gaps but for those that are free.
            let number = self.free.pop().unwrap_or(self.numbers.len() as u32 + 1);
            self.numbers.insert(end, (number, 1));
            ops.push(Op::Insert(self.entry(end, number, program)));
        }
    }

    /// One less: an end where nobody goes loses its entry.
    fn give_back(&mut self, ue: &GnbUe, program: &Program, ops: &mut Vec<Op>) {
        for end in ends(ue) {
            let Some((number, uses)) = self.numbers.get_mut(&end) else { continue };
            *uses -= 1;
            if *uses == 0 {
                let number = *number;
                self.numbers.remove(&end);
                self.free.push(number);
                ops.push(Op::Delete(self.entry(end, number, program)));
            }
        }
    }

    fn entry(&self, (port, to): (PortId, SocketAddrV4), number: u32, program: &Program) -> Entry {
        let from = self.ours[usize::from(port == RADIO)];
        let address = |address: &SocketAddrV4| u128::from(u32::from(*address.ip()));
        let (ours, theirs) = (mac(pktio::OUR_MAC), mac(pktio::PEER_MAC));
        let args = vec![port.0.into(), ours, theirs, address(&from), address(&to), from.port().into(), to.port().into()];
        entry(program, &("peer", vec![number.into()]), &("send", args))
    }
}

pub(crate) fn mac(bytes: [u8; 6]) -> u128 {
    bytes.iter().fold(0, |all, byte| all << 8 | u128::from(*byte))
}

fn v4(address: SocketAddr) -> SocketAddrV4 {
    match address {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(_) => unreachable!("a checked configuration has IPv4 addresses for the program"),
    }
}

/// What the program gives to the control plane: messages of N3 (TS 29.281 §7).
pub struct Host {
    n3: Ipv4Addr,
    teids: HashMap<u32, u16>,
    end_markers: BTreeMap<u16, u64>,
    drops: Drops,
}

impl Host {
    /// For the tunnels of a checked configuration.
    pub fn new(config: &Gnb) -> Host {
        let teids = config.ues.iter().filter_map(|ue| ue.session.map(|session| (session.downlink_teid, ue.id))).collect();
        let n3 = config.n3.expect("a checked configuration has n3");
        Host { n3, teids, end_markers: BTreeMap::new(), drops: Drops::new() }
    }

    /// UEs have come, changed or gone.
    pub fn change(&mut self, change: &Change) {
        let touched: BTreeSet<u16> = change.released.iter().copied().chain(change.set.iter().map(|ue| ue.id)).collect();
        self.teids.retain(|_, id| !touched.contains(id));
        self.teids.extend(change.set.iter().filter_map(|ue| ue.session.map(|session| (session.downlink_teid, ue.id))));
    }

    /// A frame of N3 that was punted. Gives the frame of the answer, if there is one.
    pub fn frame(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        let Some((from, datagram)) = datagram(frame) else { return self.count("n3.not_gtpu") };
        let Ok(repr) = gtpu::Packet::new_checked(datagram).and_then(|packet| gtpu::Repr::parse(&packet)) else {
            return self.count("n3.malformed");
        };
        if let gtpu::Message::GPdu { .. } = repr.message {
            // A flow that no bearer takes, of a tunnel that is there.
            if self.teids.contains_key(&repr.teid) {
                return self.count("sdap.no_rule");
            }
            self.count("n3.unknown_teid");
            return Some(self.answer(config::gtpu(*from.ip()), &n3::error_indication(repr.teid, self.n3)));
        }
        match n3::read(&repr) {
            Asked::Answer(answer) => Some(self.answer(from, &answer)),
            Asked::EndMarker(teid) => match self.teids.get(&teid) {
                Some(ue) => {
                    *self.end_markers.entry(*ue).or_default() += 1;
                    None
                }
                None => self.count("n3.unknown_teid"),
            },
            Asked::Nothing(reason) => self.count(reason),
        }
    }

    /// Adds what was counted.
    pub fn report(&self, ues: &mut BTreeMap<u16, UeReport>, drops: &mut Drops) {
        for (ue, markers) in &self.end_markers {
            ues.entry(*ue).or_insert_with(|| UeReport { ue: *ue, ..UeReport::default() }).end_markers += markers;
        }
        for (reason, number) in &self.drops {
            *drops.entry(reason.clone()).or_default() += number;
        }
    }

    fn count(&mut self, reason: &'static str) -> Option<Vec<u8>> {
        count(&mut self.drops, reason);
        None
    }

    fn answer(&self, to: SocketAddrV4, payload: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        let ethernet = wire::ethernet::Repr {
            dst: wire::ethernet::Mac(pktio::PEER_MAC),
            src: wire::ethernet::Mac(pktio::OUR_MAC),
            ethertype: wire::ethernet::IPV4,
        };
        ethernet.emit(&mut frame);
        let payload_len = payload.len() + 8;
        wire::ipv4::Repr { src: self.n3, dst: *to.ip(), protocol: wire::ipv4::UDP, tos: 0, ttl: 64, payload_len }.emit(&mut frame);
        wire::udp::Repr { src_port: gtpu::PORT, dst_port: to.port() }.emit_ipv4(self.n3, *to.ip(), payload, &mut frame);
        frame
    }
}

/// The GTP-U datagram in a frame, and where it is from.
fn datagram(frame: &[u8]) -> Option<(SocketAddrV4, &[u8])> {
    let frame = wire::ethernet::Frame::new_checked(frame).ok()?;
    if frame.ethertype() != wire::ethernet::IPV4 {
        return None;
    }
    let ipv4 = wire::ipv4::Packet::new_checked(frame.payload()).ok()?;
    if ipv4.protocol() != wire::ipv4::UDP || ipv4.is_fragment() {
        return None;
    }
    let udp = wire::udp::Datagram::new_checked(ipv4.payload()).ok()?;
    (udp.dst_port() == gtpu::PORT).then(|| (SocketAddrV4::new(ipv4.src(), udp.src_port()), udp.payload()))
}
