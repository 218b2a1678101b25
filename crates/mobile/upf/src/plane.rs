//! The user plane that a PFCP node commands: rules of sessions in, one batch for the data plane out.
//!
//! [`Plane::commit`](pfcp::rules::UserPlane::commit) is the path of a session, top to bottom: outline the new rules, stage
//! numbers for them, make the entries, take the difference to the installed entries, commit, release what is no longer used. An
//! error at any step leaves everything unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

pub use base::BufferFate;
use base::PortId;
use pfcp::packed::PackedMap;
use pfcp::rules::{
    CommitError, Counters, Lasting, LastingCell, OuterHeader, Returning, RuleId, Seid, SessionRules, Usage, UserPlane, VolumeLimit,
};
use program::{ApplyError, Batch, CounterId, Entry, MAX_BURST, MeterConfig, MeterId, Op, Program, RuleError};
use serde::{Deserialize, Serialize};
use wire::gtpu::SessionContainer;

use crate::alloc::{Exhausted, FilterSets, NumberPool};
use crate::config::{ConfigError, NetworkConfig};
use crate::hops::NoNextHop;
use crate::host::{self, Action, HeldPeers, Host};
use crate::ids::{BindError, Ids};
use crate::lower::{
    self, Act, Context, DELETE_CONTAINER, Disposition, Encapsulation, Key, Lookup, MeterKey, Numbers, Outline, SessionEntry, Treatment,
    UsageKey,
};
use crate::networks::{Networks, Vrf};
use crate::pdr_index::PdrIndex;
use crate::static_rules;

/// What a data plane may want to know of the session that a batch belongs to, for deciding where it lives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionInfo {
    /// The session, as our F-SEID numbers it.
    pub seid: Seid,
    /// Whether the session ends with this batch.
    pub ends: bool,
    /// IPv4 addresses of the UE in its PDRs.
    pub ue_ipv4s: Vec<Ipv4Addr>,
    /// IPv6 prefixes (/64) of the UE in its PDRs.
    pub ue_ipv6s: Vec<Ipv6Addr>,
    /// Whether a rate is enforced on it.
    pub has_meters: bool,
    /// Whether a PDR of it buffers.
    pub buffers: bool,
    /// DSCPs that its tunnels are marked with, sorted.
    pub dscps: Vec<u8>,
    /// QFIs that its PDRs mark packets with, sorted.
    pub qfis: Vec<u8>,
    /// TEIDs of ours that its packets come by, sorted.
    pub teids: Vec<u32>,
    /// Its slice: type, and differentiator if it has one.
    pub s_nssai: Option<(u8, Option<u32>)>,
}

/// What carries the packets: the application binds targets, workers and ports to it.
pub trait DataPlane {
    /// Applies all of `batch`, or with an error nothing of it (but for [`ApplyError::Unknown`]), and settles the packets waiting under PDR numbers:
    /// those to release pass through the pipeline in order before any later packet of the PDR.
    /// On return no packet is processed under the old entries any more, so that counters read afterwards are final.
    fn apply(&mut self, session: &SessionInfo, batch: &Batch, buffers: &[(u32, BufferFate)]) -> Result<(), ApplyError>;

    /// The entries of several new sessions as one change, all or none as in [`DataPlane::apply`]. `None`: it takes them one by one only.
    fn apply_together(&mut self, sessions: &[SessionInfo], batch: &Batch) -> Option<Result<(), ApplyError>> {
        let _ = (sessions, batch);
        None
    }

    /// A session has ended: what it was, and what it has carried. Its [`DataPlane::apply`] had [`SessionInfo::ends`].
    fn ended(&mut self, session: &SessionInfo, carried: Usage) {
        let _ = (session, carried);
    }

    /// Whether packets wait for a port's rate, and [`DataPlane::treat`] is to be told how.
    fn has_queues(&self) -> bool {
        false
    }

    /// How packets of these PDR numbers wait for a port's rate from now on, and where they are charged; `None`: their session or PDR has ended, and those
    /// that wait are to be dropped. `rules`: the session's.
    fn treat(&mut self, rules: Option<&SessionRules>, treatments: &[(u32, Option<Treatment>)]) {
        let _ = (rules, treatments);
    }

    /// A session has a guaranteed bit rate, and nothing waits for ports' rates: it is without effect.
    fn cannot_guarantee(&mut self, seid: Seid) {
        let _ = seid;
    }

    /// A cell of a counter, summed over all targets.
    fn count(&mut self, counter: CounterId, cell: u64) -> target_api::Count;

    /// As [`DataPlane::count`], without packets that were counted a moment ago, wait for a port's rate and are about to be taken off again.
    fn charged(&mut self, counter: CounterId, cell: u64) -> target_api::Count {
        self.count(counter, cell)
    }

    /// As [`DataPlane::count`] in two parts: what outlasts this process, in cells of the same numbers, and the rest. `None`: nothing outlasts it.
    fn lasting_count(&mut self, counter: CounterId, cell: u64) -> Option<LastingCount> {
        let _ = (counter, cell);
        None
    }

    /// By what the cells that outlast this process are known to the next one.
    fn epoch(&self) -> Option<u64> {
        None
    }

    /// Units that a cell of a meter still holds, on the target that holds every session. `None`: not known.
    fn meter_left(&mut self, meter: MeterId, cell: u64) -> Option<u64> {
        let _ = (meter, cell);
        None
    }

    /// Bytes of all packets that have come so far, or were let go from a buffer: never less than counters have counted.
    /// `None`: not known.
    fn carried(&mut self) -> Option<u64> {
        None
    }

    /// Sends a frame as it is.
    fn transmit(&mut self, port: PortId, frame: Vec<u8>);
}

/// The two parts of a cell's count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastingCount {
    /// What the next process finds.
    pub lasting: target_api::Count,
    /// What ends with this one.
    pub rest: target_api::Count,
}

/// Why there is no user plane.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The operator's doing.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The program's.
    #[error(transparent)]
    Bind(#[from] BindError),
}

/// Why a changed configuration does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenewError {
    /// The operator's doing.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// It names more routers and neighbours than there is room for.
    #[error(transparent)]
    NoNextHop(#[from] NoNextHop),
    /// Sessions live by what would go.
    #[error(transparent)]
    InUse(#[from] InUseError),
}

/// Something of the configuration that cannot go, as sessions live by it: they end, or are modified, first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InUseError {
    /// An address that tunnels of sessions end at, or are sent from.
    #[error("sessions have tunnels at {0}, which would go: keep it until they have ended")]
    Endpoint(Ipv4Addr),
    /// A network instance that packets of sessions come from or go to.
    #[error("sessions are in the network instance \"{0}\", whose last port would go: keep it until they have ended")]
    Network(String),
}

/// A changed network configuration, before the data plane has it: see [`Plane::prepare`].
pub struct Renewal {
    context: Context,
    beside_hops: Vec<Op>,
    host: host::Renewal,
    /// What the data plane must get: all of it, or the configuration stays as it is.
    pub batch: Batch,
}

/// The user plane of all sessions.
pub struct Plane<D> {
    ids: Ids,
    context: Context,
    initial: Batch,
    /// What the configuration has in the tables beside next hops and routes.
    beside_hops: Vec<Op>,
    max_sessions: usize,
    sessions: PackedMap<Session>,
    pools: Pools,
    /// Session and PDR of a PDR number.
    pdrs: PdrIndex,
    /// The session that has a key of the look-up tables. A tree: it grows and shrinks a node at a time.
    lookups: BTreeMap<Lookup, Seid>,
    host: Host,
    /// Host actions that were not fetched yet.
    pending: Vec<Action>,
    /// URRs of sessions that came back, whose cells of before may still count.
    returning: Vec<(Seid, u32, Counters)>,
    /// Bytes that those have counted since they were recorded.
    returned: u64,
    data: D,
}

/// All numbers that sessions are given.
struct Pools {
    pdrs: NumberPool,
    groups: NumberPool,
    usage: NumberPool,
    meters: NumberPool,
    filter_sets: FilterSets,
}

/// How many of each kind are in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InUse {
    /// Sessions.
    pub sessions: usize,
    /// PDR numbers.
    pub pdrs: usize,
    /// PDR groups with filters.
    pub groups: usize,
    /// Usage cells.
    pub usage_cells: usize,
    /// Meter cells.
    pub meter_cells: usize,
    /// Filter sets, shared by all sessions.
    pub filter_sets: usize,
}

/// What is kept of a session, packed. [`Charged`] is its beginning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Session {
    /// What all cells that it no longer has have counted, each once; of a session that came back at least what a URR had counted.
    carried: Usage,
    /// By URR: what cells that it no longer has have counted.
    accrued: BTreeMap<u32, Usage>,
    numbers: Numbers,
    /// As last sent to the data plane.
    info: SessionInfo,
    entries: Vec<SessionEntry>,
    /// Rates of the meter cells, in the order of `numbers.meters`, in kbit/s.
    rates_kbps: Vec<u64>,
    /// What the quota cells are set to, in the order of `numbers.quotas`.
    quotas: Vec<Quota>,
    /// PDRs that buffer.
    buffering: BTreeSet<u16>,
    peers: BTreeSet<(Vrf, Ipv4Addr)>,
}

/// A volume quota in a meter cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Quota {
    /// The URR's counter at its end.
    end: u64,
    /// What the cell was last filled with.
    bytes: u64,
}

/// The first fields of [`Session`]: where its usage is.
#[derive(Deserialize)]
struct Charged {
    carried: Usage,
    accrued: BTreeMap<u32, Usage>,
    cells: Vec<(UsageKey, u32)>,
}

/// A session's next state, and what the data plane is to change for it.
struct Change {
    new: Session,
    peers: HeldPeers,
    batch: Batch,
    /// The PDR of each change.
    owners: Vec<Option<u16>>,
}

impl Session {
    /// A URR that has just come counts from there, and its quotas with it.
    fn count_on(&mut self, urr_id: u32, usage: Usage) {
        self.accrued.insert(urr_id, usage);
        self.carried = self.carried.most(usage);
        for ((key, _), quota) in self.numbers.quotas.iter().zip(&mut self.quotas).filter(|((key, _), _)| key.urr_id == urr_id) {
            quota.end = quota.end.saturating_add(key.side.of_usage(usage));
        }
    }
}

/// Why a quota's cell holds less than is left of the quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Short {
    /// A cell does not hold so much at once.
    MoreIsThere,
    /// Packets have taken from it that were dropped behind it, as those whose TTL is over.
    Lost,
}

/// Numbers taken for a session that is not committed yet.
#[derive(Default)]
struct Fresh {
    pdrs: Vec<u32>,
    groups: Vec<u32>,
    usage: Vec<u32>,
    meters: Vec<u32>,
    /// One for each hold.
    filter_sets: Vec<u16>,
    /// Those whose entries must be inserted.
    new_sets: Vec<u16>,
}

fn session_entries(program: &Program, ids: &Ids) -> u64 {
    let tables = [ids.tables.pdr_by_teid, ids.tables.pdr_by_ue_ipv4, ids.tables.pdr_by_ue_ipv6, ids.tables.pdr_by_class];
    tables.map(|id| program.tables[id].size).iter().sum()
}

/// PDR numbers are below this.
pub fn most_pdr_numbers(program: &Program, ids: &Ids) -> usize {
    // PDRs behind one that takes everything have a number and no entry: some more than entries.
    usize::try_from(session_entries(program, ids).saturating_mul(2)).unwrap_or(usize::MAX).min(u32::MAX as usize)
}

impl<D: DataPlane> Plane<D> {
    /// A user plane without sessions. Its [`Plane::initial_batch`] must be applied before the first commit.
    pub fn new(config: &NetworkConfig, program: &Program, data: D) -> Result<Plane<D>, SetupError> {
        config.validate()?;
        let ids = Ids::bind(program)?;
        let entries = session_entries(program, &ids);
        let cells = |size: u64| u32::try_from(size.saturating_sub(1)).unwrap_or(u32::MAX - 1);
        let max_sessions = if config.max_sessions == 0 { usize::MAX } else { config.max_sessions as usize };
        Ok(Plane {
            context: Context::new(config),
            initial: static_rules::initial(config, &ids),
            beside_hops: static_rules::beside_hops(config, &Networks::new(config), &ids),
            max_sessions,
            sessions: PackedMap::default(),
            pools: Pools {
                pdrs: NumberPool::new("PDR numbers", cells(most_pdr_numbers(program, &ids) as u64)),
                groups: NumberPool::new("PDR groups", cells(entries)),
                usage: NumberPool::new("usage cells", cells(ids.usage_cells)),
                meters: NumberPool::new("meter cells", cells(ids.mbr_cells)),
                filter_sets: FilterSets::default(),
            },
            pdrs: PdrIndex::default(),
            lookups: BTreeMap::new(),
            host: Host::new(config, &ids),
            pending: Vec::new(),
            returning: Vec::new(),
            returned: 0,
            ids,
            data,
        })
    }

    /// Entries that follow from the configuration alone.
    pub fn initial_batch(&self) -> &Batch {
        &self.initial
    }

    /// What a changed configuration comes to; nothing has changed yet. Overlays and what sessions' rates are made of must be as they were. Sessions keep their entries: what their rules mean by the changed configuration counts when the SMF changes them.
    pub fn prepare(&self, config: &NetworkConfig) -> Result<Renewal, RenewError> {
        config.validate()?;
        let host = self.host.prepare(config)?;
        self.check_in_use(host.networks())?;
        let beside_hops = static_rules::beside_hops(config, host.networks(), &self.ids);
        let inserts = |entries: &[Entry]| entries.iter().cloned().map(Op::Insert).collect::<Vec<Op>>();
        let before = [&self.beside_hops[..], &inserts(&host.before)].concat();
        let after = [&beside_hops[..], &inserts(&host.after)].concat();
        let batch = static_rules::difference(&before, &after, &self.ids);
        let longest_packet = self.context.longest_packet.max(Context::new(config).longest_packet);
        let context = Context { networks: host.networks().clone(), longest_packet, ..self.context.clone() };
        Ok(Renewal { context, beside_hops, host, batch })
    }

    /// Whether sessions need an endpoint or a network instance that `after` lacks.
    fn check_in_use(&self, after: &Networks) -> Result<(), InUseError> {
        let before = &self.context.networks;
        let gone: BTreeSet<Ipv4Addr> = before.all_endpoints().filter(|ip| !after.all_endpoints().any(|left| left == *ip)).collect();
        let left: BTreeSet<Vrf> = after.vrfs().collect();
        let closed: BTreeSet<Vrf> = before.vrfs().filter(|vrf| !left.contains(vrf)).collect();
        if gone.is_empty() && closed.is_empty() {
            return Ok(());
        }
        let network = |vrf: Vrf| InUseError::Network(before.name(vrf).unwrap_or_default().to_owned());
        if let Some(endpoint) =
            gone.iter().find(|ip| self.lookups.range(Lookup::Teid(**ip, 0)..=Lookup::Teid(**ip, u32::MAX)).next().is_some())
        {
            return Err(InUseError::Endpoint(*endpoint));
        }
        for vrf in &closed {
            let (first, last) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::BROADCAST);
            let mut v4 = self.lookups.range(Lookup::UeIpv4(*vrf, first)..=Lookup::UeIpv4(*vrf, last));
            let mut v6 = self.lookups.range(Lookup::UeIpv6(*vrf, 0)..=Lookup::UeIpv6(*vrf, u64::MAX));
            if v4.next().is_some() || v6.next().is_some() || self.host.has_peers(*vrf) {
                return Err(network(*vrf));
            }
        }
        // What they are sent by is in their entries alone: a second's work for a million sessions.
        for (_, session) in self.sessions.iter_after(None) {
            for set_pdr in
                session.entries.iter().filter_map(|entry| if let Act::SetPdr(set_pdr) = &entry.act { Some(set_pdr) } else { None })
            {
                if gone.contains(&set_pdr.tunnel_src) {
                    return Err(InUseError::Endpoint(set_pdr.tunnel_src));
                }
                if closed.contains(&set_pdr.out_vrf) {
                    return Err(network(set_pdr.out_vrf));
                }
            }
        }
        Ok(())
    }

    /// Goes on by a changed configuration, when the data plane has [`Renewal::batch`].
    pub fn renew(&mut self, renewal: Renewal, now: Duration) -> Vec<Action> {
        let Renewal { context, beside_hops, host, .. } = renewal;
        (self.context, self.beside_hops) = (context, beside_hops);
        let actions = self.host.renew(host, now);
        self.after_host(actions)
    }

    /// Ids of the program's tables, actions and reasons.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The data plane.
    pub fn data(&self) -> &D {
        &self.data
    }

    /// The data plane.
    pub fn data_mut(&mut self) -> &mut D {
        &mut self.data
    }

    /// Session and PDR of the number that a buffered packet carries.
    pub fn pdr(&self, number: u32) -> Option<(Seid, u16)> {
        self.pdrs.get(number)
    }

    /// The session that a tunnel of ours belongs to.
    pub fn session_of_tunnel(&self, endpoint: Ipv4Addr, teid: u32) -> Option<Seid> {
        self.lookups.get(&Lookup::Teid(endpoint, teid)).copied()
    }

    /// The sessions that a TEID of ours belongs to: one for each of our addresses, at most.
    pub fn sessions_of_teid(&self, teid: u32) -> Vec<Seid> {
        let (mut found, mut from) = (Vec::new(), Some(Ipv4Addr::UNSPECIFIED));
        // From address to address: they are few, and tunnels many.
        while let Some(first) = from
            && let Some((Lookup::Teid(endpoint, _), _)) = self.lookups.range(Lookup::Teid(first, 0)..).next()
        {
            found.extend(self.session_of_tunnel(*endpoint, teid));
            from = u32::from(*endpoint).checked_add(1).map(Ipv4Addr::from);
        }
        found
    }

    /// The sessions that packets to an IPv4 address of a UE belong to: one for each network instance, at most.
    pub fn sessions_of_ue_ipv4(&self, address: Ipv4Addr) -> Vec<Seid> {
        let (mut found, mut from) = (Vec::new(), Some(Vrf::MIN));
        while let Some(first) = from
            && let Some((Lookup::UeIpv4(vrf, _), _)) = self.lookups.range(Lookup::UeIpv4(first, Ipv4Addr::UNSPECIFIED)..).next()
        {
            found.extend(self.lookups.get(&Lookup::UeIpv4(*vrf, address)));
            from = vrf.checked_add(1);
        }
        found
    }

    /// The same for an IPv6 address, by its /64.
    pub fn sessions_of_ue_ipv6(&self, address: Ipv6Addr) -> Vec<Seid> {
        let prefix = (u128::from(address) >> 64) as u64;
        let (mut found, mut from) = (Vec::new(), Some(Vrf::MIN));
        while let Some(first) = from
            && let Some((Lookup::UeIpv6(vrf, _), _)) = self.lookups.range(Lookup::UeIpv6(first, 0)..).next()
        {
            found.extend(self.lookups.get(&Lookup::UeIpv6(*vrf, prefix)));
            from = vrf.checked_add(1);
        }
        found
    }

    /// The PDR numbers of a session's PDRs, by PDR ID: the queues of the buffer that its packets wait in.
    pub fn pdr_numbers(&self, seid: Seid) -> Vec<(u16, u32)> {
        self.sessions.get(seid).map_or(Vec::new(), |session| session.numbers.pdrs)
    }

    /// How many of each kind are in use.
    pub fn in_use(&self) -> InUse {
        InUse {
            sessions: self.sessions.len(),
            pdrs: self.pools.pdrs.used(),
            groups: self.pools.groups.used(),
            usage_cells: self.pools.usage.used(),
            meter_cells: self.pools.meters.used(),
            filter_sets: self.pools.filter_sets.used(),
        }
    }

    /// The session's own entries; the filter sets that they name are shared.
    pub fn entries(&self, seid: Seid) -> Vec<SessionEntry> {
        self.sessions.get(seid).map_or(Vec::new(), |session| session.entries)
    }

    /// What the data plane knows of an existing session.
    pub fn info(&self, seid: Seid) -> Option<SessionInfo> {
        self.sessions.get(seid).map(|session| session.info)
    }

    /// What another target needs to run a session's packets beside the entries that all sessions share: its own entries, and the rates
    /// of its meters. `None` if there is no such session.
    pub fn copy(&self, seid: Seid) -> Option<Batch> {
        let session = self.sessions.get(seid)?;
        let meter = |((_, cell), kbps): (&(MeterKey, u32), &u64)| Op::Meter {
            meter: self.ids.mbr,
            index: u64::from(*cell),
            config: Some(lower::meter_config(*kbps, self.context.policing)),
        };
        let meters = session.numbers.meters.iter().zip(&session.rates_kbps).map(meter);
        let quotas = session.numbers.quotas.iter().zip(&session.quotas).map(|((_, cell), quota)| self.quota_op(*cell, Some(quota.bytes)));
        let entries = session.entries.iter().map(|entry| Op::Insert(entry.entry(&self.ids)));
        Some(Batch { ops: meters.chain(quotas).chain(entries).collect() })
    }

    /// The rates that are enforced on a session's packets, in kbit/s, and the meter of each as the data plane has it, with its cell.
    pub fn rates(&self, seid: Seid) -> Vec<(MeterKey, u64, MeterConfig, u32)> {
        let Some(session) = self.sessions.get(seid) else { return Vec::new() };
        let meters = session.numbers.meters.iter().zip(&session.rates_kbps);
        meters.map(|((key, cell), kbps)| (*key, *kbps, lower::meter_config(*kbps, self.context.policing), *cell)).collect()
    }

    /// What a session has carried since it was established, whatever URRs it has: never less than any of them has counted. One that came back from a
    /// store begins at what its URRs had counted. `None`: there is no such session.
    pub fn carried_by(&mut self, seid: Seid) -> Option<Usage> {
        let Charged { carried, cells, .. } = self.sessions.prefix(seid)?;
        Some(self.with_cells(carried, &cells))
    }

    fn with_cells(&mut self, mut usage: Usage, cells: &[(UsageKey, u32)]) -> Usage {
        for (key, cell) in cells {
            add(&mut usage, key, self.data.count(self.ids.usage, u64::from(*cell)));
        }
        usage
    }

    /// The host, and beside it the data plane that it is to act on.
    pub fn host_and_data(&mut self) -> (&mut Host, &mut D) {
        (&mut self.host, &mut self.data)
    }

    /// The host: neighbours and answers.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Deals with a punted packet: see [`Host::punt`]. End Markers are relayed here.
    pub fn punt(&mut self, packet: &[u8], port: PortId, reason: u8, mark: u32, now: Duration) -> Vec<Action> {
        // It came before its session was in the tables: the tunnel is there now, and an Error Indication would end it.
        let tunnel = self.host.unknown_tunnel(packet, port, reason);
        let actions = match tunnel.and_then(|(endpoint, teid)| self.session_of_tunnel(endpoint, teid)) {
            Some(_) => self.host.drop_early(),
            None => {
                let asked = self.host.asked_for(packet, port, reason);
                match asked.is_some_and(|(vrf, ip)| self.lookups.contains_key(&Lookup::UeIpv4(vrf, ip))) {
                    true => self.host.punt_for_ue(packet, port, reason, mark, now),
                    false => self.host.punt(packet, port, reason, mark, now),
                }
            }
        };
        self.after_host(actions)
    }

    /// Does what is due: see [`Host::poll`].
    pub fn poll(&mut self, now: Duration) -> Vec<Action> {
        let actions = self.host.poll(now);
        self.after_host(actions)
    }

    /// At the end: see [`Host::stop`].
    pub fn stop_host(&mut self, more: usize) -> Vec<Action> {
        let actions = self.host.stop(more);
        self.after_host(actions)
    }

    /// Sessions that came back go on counting from what their cells of before have counted to the end, as `left` finds it by epoch and cell: packets
    /// run by the new entries only. A cell that is not found, or counts less than was recorded, is another's by now: then what was recorded counts. How
    /// many packets were counted while nobody looked.
    pub fn take_over(&mut self, left: impl Fn(u64, u32) -> Option<target_api::Count>) -> u64 {
        let mut packets = 0;
        for (seid, urr_id, Counters { usage: mut total, lasting }) in std::mem::take(&mut self.returning) {
            let Lasting { epoch, cells } = lasting.unwrap_or_default();
            for cell in cells {
                let recorded = target_api::Count { packets: cell.packets, bytes: cell.bytes };
                let now = left(epoch, cell.cell).filter(|now| now.packets >= recorded.packets && now.bytes >= recorded.bytes);
                let now = now.unwrap_or(recorded);
                let since = target_api::Count { packets: now.packets - recorded.packets, bytes: now.bytes - recorded.bytes };
                add_in(&mut total, cell.uplink, since);
                packets += since.packets;
                self.returned = self.returned.saturating_add(since.bytes);
            }
            if let Some(mut session) = self.sessions.open(seid)
                && let Some(accrued) = session.accrued.get_mut(&urr_id)
            {
                // Reports may have told more than the record.
                *accrued = accrued.most(total);
                session.carried = session.carried.most(total);
                // What is left of its quotas is known with the next word of where they end.
                let Session { numbers, quotas, .. } = &mut *session;
                let cells = numbers.quotas.iter().zip(quotas).filter(|((key, _), _)| key.urr_id == urr_id);
                cells.for_each(|(_, quota)| quota.end = u64::MAX);
            }
        }
        packets
    }

    /// Sends frames; other host actions wait until they are fetched.
    fn send_or_keep(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Transmit { port, frame } => self.data.transmit(port, frame),
                action => self.pending.push(action),
            }
        }
    }

    fn after_host(&mut self, actions: Vec<Action>) -> Vec<Action> {
        let mut out = std::mem::take(&mut self.pending);
        for action in actions {
            match action {
                Action::EndMarker { endpoint, teid, container } => out.extend(self.relay_end_marker(endpoint, teid, container)),
                action => out.push(action),
            }
        }
        out
    }

    /// An End Marker goes where the packets of its tunnel go, if that is a tunnel (TS 23.502 §4.9.1.3.3: forwarded data at
    /// a handover; N9).
    fn relay_end_marker(&mut self, endpoint: Ipv4Addr, teid: u32, container: Option<SessionContainer>) -> Vec<Action> {
        let drop = |reason| vec![Action::Unsent { reason }];
        let Some(session) = self.session_of_tunnel(endpoint, teid).and_then(|seid| self.sessions.get(seid)) else {
            return drop("end_marker_unknown_tunnel");
        };
        let lookup = Key::Lookup(Lookup::Teid(endpoint, teid));
        let group = session.entries.iter().find(|e| e.key == lookup).map(|e| e.act);
        let of_tunnel = session.entries.iter().filter(|e| match (group, e.key) {
            (Some(Act::Classify(group, _)), Key::Class(g, _)) => g == group,
            _ => e.key == lookup,
        });
        let next: BTreeMap<(u32, Ipv4Addr), bool> = of_tunnel
            .filter_map(|e| match e.act {
                Act::SetPdr(p) if p.encapsulation != Encapsulation::None => {
                    Some(((p.tunnel_teid, p.tunnel_dst), p.flags & DELETE_CONTAINER == 0))
                }
                _ => None,
            })
            .collect();
        if next.is_empty() {
            return drop("end_marker");
        }
        let mut out = Vec::new();
        for ((teid, ipv4), goes_on) in next {
            out.extend(self.host.end_marker(OuterHeader { teid, ipv4 }, container.filter(|_| goes_on)));
        }
        out
    }

    /// What a session's rules are from now on; `drops`: what waits for it is dropped with the change. The final counts of URRs that are gone.
    fn commit_with(&mut self, seid: Seid, rules: Option<&SessionRules>, drops: bool) -> Result<Vec<(u32, Usage)>, CommitError> {
        let known = self.sessions.contains(seid);
        if !known && rules.is_none() {
            return Ok(Default::default());
        }
        if !known && self.sessions.len() >= self.max_sessions {
            return Err(CommitError::NoResources(format!("all {} sessions are in use", self.max_sessions)));
        }
        let outline = rules.map(|rules| lower::outline(rules, &self.context)).transpose()?.unwrap_or_default();
        let old = self.sessions.get(seid).unwrap_or_default();
        let mut new = self.replace(seid, &old, &outline, rules.is_none(), drops)?;
        let ended = rules.is_none().then(|| old.info.clone());
        // Before old cells are read for the last time: what leaves a queue from now on is charged to the new ones.
        self.treat(seid, rules, &outline, &new.numbers);
        self.settle(seid, old, &mut new);
        let urrs: BTreeSet<u32> = rules.iter().flat_map(|r| r.urrs.keys().copied()).collect();
        // All cells of a URR that is gone are gone: what has accrued is final.
        let mut finals = Vec::new();
        new.accrued.retain(|urr_id, usage| {
            let stays = urrs.contains(urr_id);
            if !stays {
                finals.push((*urr_id, *usage));
            }
            stays
        });
        for urr_id in urrs {
            new.accrued.entry(urr_id).or_default();
        }
        match ended {
            None => self.sessions.insert(seid, &new),
            Some(info) => {
                self.sessions.discard(seid);
                self.data.ended(&info, new.carried);
            }
        }
        Ok(finals)
    }

    /// Stages, commits, and returns the session's new state; with an error all is as before.
    fn replace(&mut self, seid: Seid, old: &Session, outline: &Outline, ends: bool, drops: bool) -> Result<Session, CommitError> {
        let mut fresh = Fresh::default();
        let fates = fates(old, outline, drops);
        let result = self.change(seid, old, outline, ends, &mut fresh).and_then(|change| self.apply(change, &fates));
        if result.is_err() {
            self.unstage(fresh);
        }
        result
    }

    fn apply(&mut self, change: Change, fates: &[(u32, BufferFate)]) -> Result<Session, CommitError> {
        let Change { new, peers, batch, owners } = change;
        if let Err(error) = self.data.apply(&new.info, &batch, fates) {
            self.host.undo_hold(peers);
            return Err(self.refusal(error, &owners));
        }
        let asked = self.host.ask_peers(&peers);
        self.send_or_keep(asked);
        Ok(new)
    }

    /// New sessions as one change; `false`: nothing has changed, and each is to be tried alone.
    fn insert_together(&mut self, sessions: &[Returning<'_>]) -> bool {
        if sessions.iter().any(|session| self.sessions.contains(session.seid)) || self.sessions.len() + sessions.len() > self.max_sessions {
            return false;
        }
        let mut staged = Vec::with_capacity(sessions.len());
        let (mut infos, mut together, mut whole) = (Vec::with_capacity(sessions.len()), Batch::default(), true);
        for session in sessions {
            let mut fresh = Fresh::default();
            let outline = lower::outline(session.rules, &self.context);
            let change = outline.and_then(|outline| self.change(session.seid, &Session::default(), &outline, false, &mut fresh));
            let Ok(Change { new, peers, batch, .. }) = change else {
                self.unstage(fresh);
                whole = false;
                break;
            };
            infos.push(new.info.clone());
            together.ops.extend(batch.ops);
            staged.push((new, peers, fresh));
        }
        if !whole || !matches!(self.data.apply_together(&infos, &together), Some(Ok(()))) {
            // What a later one shares with an earlier one, the earlier one has taken.
            for (_, peers, fresh) in staged.into_iter().rev() {
                self.host.undo_hold(peers);
                self.unstage(fresh);
            }
            return false;
        }
        for (session, (mut new, peers, _)) in sessions.iter().zip(staged) {
            let asked = self.host.ask_peers(&peers);
            self.send_or_keep(asked);
            self.settle(session.seid, Session::default(), &mut new);
            let may_be_guaranteed = session.rules.qers.values().any(|qer| qer.gbr_kbps.is_some());
            if (self.data.has_queues() || may_be_guaranteed)
                && let Ok(outline) = lower::outline(session.rules, &self.context)
            {
                self.treat(session.seid, Some(session.rules), &outline, &new.numbers);
            }
            let counted = |urr_id: &u32| (*urr_id, session.counters.get(urr_id).copied().unwrap_or_default());
            session.rules.urrs.keys().map(counted).for_each(|(urr_id, usage)| new.count_on(urr_id, usage));
            self.sessions.insert(session.seid, &new);
            session.recorded.iter().for_each(|(urr_id, counters)| self.continue_lasting(session.seid, *urr_id, counters));
        }
        true
    }

    /// Stages a session's next state. With an error only `fresh` has been taken.
    fn change(&mut self, seid: Seid, old: &Session, outline: &Outline, ends: bool, fresh: &mut Fresh) -> Result<Change, CommitError> {
        for group in &outline.groups {
            if let Some(by) = self.lookups.get(&group.lookup).copied().filter(|by| *by != seid) {
                let rule = RuleId::Pdr(group.members.first().copied().unwrap_or_default());
                return Err(CommitError::Taken { rule, by, why: format!("another session has its key in table {}", group.lookup.table()) });
            }
        }
        let numbers = self.stage(outline, &old.numbers, fresh).map_err(|e| CommitError::NoResources(e.to_string()))?;
        let buffering = outline.dispositions().filter(|(_, d)| *d == Disposition::Buffer).map(|(id, _)| id);
        let new = Session {
            info: info(seid, ends, outline),
            entries: outline.entries(&numbers),
            rates_kbps: outline.meters.values().copied().collect(),
            quotas: self.quotas(old, &numbers, outline),
            buffering: buffering.collect(),
            peers: outline.peers.clone(),
            carried: Usage::default(),
            accrued: BTreeMap::new(),
            numbers,
        };
        let peers = self.host.hold_peers(outline.peers.difference(&old.peers).copied());
        let mut peers = peers.map_err(|e| CommitError::NoResources(e.to_string()))?;
        let (mut batch, mut owners) = self.batch(old, &new, fresh);
        owners.splice(0..0, peers.ops.iter().map(|_| None));
        batch.ops.splice(0..0, peers.ops.drain(..));
        Ok(Change { new, peers, batch, owners })
    }

    /// Numbers for `outline`: those that the session has where they are for the same, else new ones, noted in `fresh`.
    fn stage(&mut self, outline: &Outline, old: &Numbers, fresh: &mut Fresh) -> Result<Numbers, Exhausted> {
        let pools = &mut self.pools;
        let mut numbers = Numbers::default();
        for id in outline.pdr_ids() {
            numbers.pdrs.push((id, keep_or_take(&old.pdrs, &id, &mut pools.pdrs, &mut fresh.pdrs)?));
        }
        for group in &outline.groups {
            let Some(filters) = &group.filters else { continue };
            let number = keep_or_take(&old.groups, &group.lookup, &mut pools.groups, &mut fresh.groups)?;
            numbers.groups.push((group.lookup, number));
            // Taken again even if it is the old set, which is released after the commit.
            let (set, new) = pools.filter_sets.hold(filters)?;
            fresh.filter_sets.push(set);
            if new {
                fresh.new_sets.push(set);
            }
            numbers.filter_sets.push((group.lookup, set));
        }
        for key in &outline.usage {
            numbers.usage.push((key.clone(), keep_or_take(&old.usage, key, &mut pools.usage, &mut fresh.usage)?));
        }
        for key in outline.meters.keys() {
            numbers.meters.push((*key, keep_or_take(&old.meters, key, &mut pools.meters, &mut fresh.meters)?));
        }
        for key in outline.quotas.keys() {
            numbers.quotas.push((*key, keep_or_take(&old.quotas, key, &mut pools.meters, &mut fresh.meters)?));
        }
        Ok(numbers)
    }

    /// Gives numbers back that were taken for a commit that did not come about.
    fn unstage(&mut self, fresh: Fresh) {
        let Fresh { pdrs, groups, usage, meters, filter_sets, new_sets: _ } = fresh;
        pdrs.into_iter().for_each(|n| self.pools.pdrs.give_back(n));
        groups.into_iter().for_each(|n| self.pools.groups.give_back(n));
        usage.into_iter().for_each(|n| self.pools.usage.give_back(n));
        meters.into_iter().for_each(|n| self.pools.meters.give_back(n));
        filter_sets.into_iter().for_each(|n| drop(self.pools.filter_sets.release(n)));
    }

    /// The session's new state and the batch that leads there from `old`; `owners` names the PDR of each op.
    fn batch(&self, old: &Session, new: &Session, fresh: &Fresh) -> (Batch, Vec<Option<u16>>) {
        let (mut ops, mut owners) = (Vec::new(), Vec::new());
        let mut push = |op: Op, owner: Option<u16>| {
            ops.push(op);
            owners.push(owner);
        };
        let find = |list: &[SessionEntry], key: &Key| list.binary_search_by_key(key, |e| e.key).ok();
        // What leads to other entries goes first and comes last. Keys sort classes before look-ups.
        for gone in old.entries.iter().rev().filter(|e| find(&new.entries, &e.key).is_none()) {
            push(Op::Delete(gone.entry(&self.ids)), None);
        }
        for set in self.unused_sets(&old.numbers) {
            if let Some((content, _)) = self.pools.filter_sets.get(set) {
                content.entries(set, &self.ids).for_each(|e| push(Op::Delete(e), None));
            }
        }
        for cell in &fresh.usage {
            push(Op::ClearCounter { counter: self.ids.usage, index: u64::from(*cell) }, None);
        }
        self.meter_ops(old, new).into_iter().for_each(|op| push(op, None));
        let first = new.entries.first().map(|e| e.pdr_id);
        for set in &fresh.new_sets {
            if let Some((content, _)) = self.pools.filter_sets.get(*set) {
                content.entries(*set, &self.ids).for_each(|e| push(Op::Insert(e), first));
            }
        }
        for entry in &new.entries {
            match find(&old.entries, &entry.key).map(|at| &old.entries[at]) {
                None => push(Op::Insert(entry.entry(&self.ids)), Some(entry.pdr_id)),
                Some(before) if before.act != entry.act => push(Op::Modify(entry.entry(&self.ids)), Some(entry.pdr_id)),
                Some(_) => {}
            }
        }
        (Batch { ops }, owners)
    }

    /// Sets whose last users are those of `numbers`.
    fn unused_sets(&self, numbers: &Numbers) -> Vec<u16> {
        let mut holds: BTreeMap<u16, u32> = BTreeMap::new();
        for (_, set) in &numbers.filter_sets {
            *holds.entry(*set).or_default() += 1;
        }
        let last = |(set, holds): &(u16, u32)| self.pools.filter_sets.get(*set).is_some_and(|(_, users)| users == *holds);
        holds.into_iter().filter(last).map(|(set, _)| set).collect()
    }

    fn meter_ops(&self, old: &Session, new: &Session) -> Vec<Op> {
        let meter = self.ids.mbr;
        let mut ops = Vec::new();
        for (key, cell) in &old.numbers.meters {
            if find_meter(new, key).is_none() {
                ops.push(Op::Meter { meter, index: u64::from(*cell), config: None });
            }
        }
        for ((key, cell), kbps) in new.numbers.meters.iter().zip(&new.rates_kbps) {
            // A rate that stays keeps its buckets.
            if find_meter(old, key) != Some((*cell, *kbps)) {
                ops.push(Op::Meter { meter, index: u64::from(*cell), config: Some(lower::meter_config(*kbps, self.context.policing)) });
            }
        }
        for (key, cell) in &old.numbers.quotas {
            if lower::number(&new.numbers.quotas, key) != *cell {
                ops.push(self.quota_op(*cell, None));
            }
        }
        for ((key, cell), quota) in new.numbers.quotas.iter().zip(&new.quotas) {
            // One that stays holds what is left of it.
            if lower::number(&old.numbers.quotas, key) != *cell {
                ops.push(self.quota_op(*cell, Some(quota.bytes)));
            }
        }
        ops
    }

    fn quota_op(&self, cell: u32, bytes: Option<u64>) -> Op {
        Op::Meter { meter: self.ids.mbr, index: u64::from(cell), config: bytes.map(lower::quota_config) }
    }

    /// The quotas of a session's next state: those that stay as they are, and whole ones from what has been used so far.
    fn quotas(&mut self, old: &Session, numbers: &Numbers, outline: &Outline) -> Vec<Quota> {
        let mut quotas = Vec::with_capacity(numbers.quotas.len());
        for ((key, cell), bytes) in numbers.quotas.iter().zip(outline.quotas.values()) {
            let before = old.numbers.quotas.iter().zip(&old.quotas).find(|((k, c), _)| k == key && c == cell);
            quotas.push(match before {
                Some((_, quota)) => *quota,
                None => {
                    let used = key.side.of_usage(self.usage_of(&old.accrued, &old.numbers.usage, key.urr_id));
                    Quota { end: used.saturating_add(*bytes), bytes: self.bucket(*bytes) }
                }
            });
        }
        quotas
    }

    /// What a cell is filled with of which so many bytes may be used: as long as any may, the longest packet passes. So a quota is passed by less than that,
    /// and what has been counted tells that it is used up.
    fn bucket(&self, left: u64) -> u64 {
        match left {
            0 => 0,
            left => left.saturating_add(u64::from(self.context.longest_packet) - 1).min(MAX_BURST),
        }
    }

    fn usage_of(&mut self, accrued: &BTreeMap<u32, Usage>, cells: &[(UsageKey, u32)], urr_id: u32) -> Usage {
        let mut usage = accrued.get(&urr_id).copied().unwrap_or_default();
        for (key, cell) in cells {
            if key.urr_ids.contains(&urr_id) {
                add(&mut usage, key, self.data.charged(self.ids.usage, u64::from(*cell)));
            }
        }
        usage
    }

    /// Fills a quota's cell with what is left until its end.
    fn fill_quota(&mut self, session: &mut Session, at: usize, end: u64) -> Result<(), CommitError> {
        let Some((key, cell)) = session.numbers.quotas.get(at).copied() else { return Ok(()) };
        let used = key.side.of_usage(self.usage_of(&session.accrued, &session.numbers.usage, key.urr_id));
        let bytes = self.bucket(end.saturating_sub(used));
        let batch = Batch { ops: vec![self.quota_op(cell, Some(bytes))] };
        self.data.apply(&session.info, &batch, &[]).map_err(|error| self.refusal(error, &[]))?;
        session.quotas[at] = Quota { end, bytes };
        Ok(())
    }

    /// Takes everything out of a quota's cell. After that no packet is in flight that has taken from it and is yet to be counted.
    fn empty_quota(&mut self, session: &Session, at: usize) -> Result<(), CommitError> {
        let Some((_, cell)) = session.numbers.quotas.get(at).copied() else { return Ok(()) };
        let batch = Batch { ops: vec![self.quota_op(cell, Some(0))] };
        self.data.apply(&session.info, &batch, &[]).map_err(|error| self.refusal(error, &[]))
    }

    /// Whether a quota's cell is to be filled again before the quota ends.
    fn is_short(&mut self, session: &Session, at: usize) -> Option<Short> {
        let ((key, cell), quota) = (*session.numbers.quotas.get(at)?, *session.quotas.get(at)?);
        let left = self.data.meter_left(self.ids.mbr, u64::from(cell))?;
        let used = key.side.of_usage(self.usage_of(&session.accrued, &session.numbers.usage, key.urr_id));
        let wanted = self.bucket(quota.end.saturating_sub(used));
        if wanted >= MAX_BURST && left < MAX_BURST / 2 {
            return Some(Short::MoreIsThere);
        }
        // What is lost is missed before the next look, which is when all that the counters have left is carried.
        let (longest, missing) = (u64::from(self.context.longest_packet), wanted.saturating_sub(left));
        (wanted < MAX_BURST && missing > 0 && (left < longest || missing >= longest)).then_some(Short::Lost)
    }

    /// Tells how packets of a session's PDRs wait for ports' rates.
    fn treat(&mut self, seid: Seid, rules: Option<&SessionRules>, outline: &Outline, numbers: &Numbers) {
        if self.data.has_queues() {
            let treatments: Vec<_> = outline.treatments(seid, numbers).into_iter().map(|(pdr, treatment)| (pdr, Some(treatment))).collect();
            self.data.treat(rules, &treatments);
        } else if outline.has_guarantee() {
            self.data.cannot_guarantee(seid);
        }
    }

    /// Updates the records after a commit: usage of released cells, numbers, look-ups.
    fn settle(&mut self, seid: Seid, old: Session, new: &mut Session) {
        (new.carried, new.accrued) = (old.carried, old.accrued);
        if self.data.has_queues() {
            // What waits is not charged any more, then what was charged is final.
            let gone = |(id, number): &&(u16, u32)| lower::number(&new.numbers.pdrs, id) != *number;
            let ended: Vec<_> = old.numbers.pdrs.iter().filter(gone).map(|(_, number)| (*number, None)).collect();
            self.data.treat(None, &ended);
        }
        for (key, cell) in &old.numbers.usage {
            if lower::number(&new.numbers.usage, key) != *cell {
                let count = self.data.charged(self.ids.usage, u64::from(*cell));
                add(&mut new.carried, key, count);
                for urr_id in &key.urr_ids {
                    add(new.accrued.entry(*urr_id).or_default(), key, count);
                }
                self.pools.usage.give_back(*cell);
            }
        }
        for (id, number) in &old.numbers.pdrs {
            if lower::number(&new.numbers.pdrs, id) != *number {
                self.pdrs.remove(*number);
                self.pools.pdrs.give_back(*number);
            }
        }
        for (id, number) in &new.numbers.pdrs {
            self.pdrs.insert(*number, seid, *id);
        }
        for (lookup, number) in &old.numbers.groups {
            if lower::number(&new.numbers.groups, lookup) != *number {
                self.pools.groups.give_back(*number);
            }
        }
        for (key, cell) in &old.numbers.meters {
            if lower::number(&new.numbers.meters, key) != *cell {
                self.pools.meters.give_back(*cell);
            }
        }
        for (key, cell) in &old.numbers.quotas {
            if lower::number(&new.numbers.quotas, key) != *cell {
                self.pools.meters.give_back(*cell);
            }
        }
        for (_, set) in &old.numbers.filter_sets {
            self.pools.filter_sets.release(*set);
        }
        for (vrf, ip) in old.peers.difference(&new.peers) {
            self.host.release_peer(*vrf, *ip);
        }
        for lookup in lookups(&old.entries) {
            self.lookups.remove(&lookup);
        }
        self.lookups.extend(lookups(&new.entries).map(|lookup| (lookup, seid)));
    }

    /// The refusal of a batch in the terms of the session's rules.
    fn refusal(&self, error: ApplyError, owners: &[Option<u16>]) -> CommitError {
        let owner = |op: usize| owners.get(op).copied().flatten();
        let ApplyError::Refused(refused) = &error else { return CommitError::System(error.to_string()) };
        match refused {
            RuleError::Full { .. } | RuleError::Masks { .. } => CommitError::NoResources(error.to_string()),
            RuleError::Exists { op, table } => match owner(*op) {
                Some(pdr_id) => {
                    let why = format!("another session has its key in table {table}");
                    CommitError::Rule { rule: RuleId::Pdr(pdr_id), why }
                }
                None => CommitError::System(error.to_string()),
            },
            RuleError::Invalid { .. } | RuleError::Missing { .. } => CommitError::System(error.to_string()),
        }
    }
}

impl<D: DataPlane> UserPlane for Plane<D> {
    fn commit(&mut self, seid: Seid, rules: Option<&SessionRules>) -> Result<Vec<(u32, Usage)>, CommitError> {
        self.commit_with(seid, rules, false)
    }

    fn commit_dropping(&mut self, seid: Seid, rules: &SessionRules) -> Result<Vec<(u32, Usage)>, CommitError> {
        self.commit_with(seid, Some(rules), true)
    }

    fn usage(&mut self, seid: Seid, urr_id: u32) -> Usage {
        let Some(Charged { accrued, cells, .. }) = self.sessions.prefix(seid) else { return Usage::default() };
        self.usage_of(&accrued, &cells, urr_id)
    }

    fn limit_usage(&mut self, seid: Seid, urr_id: u32, ends: VolumeLimit) -> Result<(), CommitError> {
        let Some(mut session) = self.sessions.get(seid) else { return Ok(()) };
        let before = session.quotas.clone();
        for at in 0..session.quotas.len() {
            let (key, _) = session.numbers.quotas[at];
            let Some(end) = key.side.of_limit(ends).filter(|_| key.urr_id == urr_id) else { continue };
            if end != session.quotas[at].end {
                self.fill_quota(&mut session, at, end)?;
                continue;
            }
            match self.is_short(&session, at) {
                None => {}
                Some(Short::MoreIsThere) => self.fill_quota(&mut session, at, end)?,
                Some(Short::Lost) => {
                    self.empty_quota(&session, at)?;
                    self.fill_quota(&mut session, at, end)?;
                }
            }
        }
        if session.quotas != before {
            self.sessions.insert(seid, &session);
        }
        Ok(())
    }

    fn continue_usage(&mut self, seid: Seid, urr_id: u32, usage: Usage) {
        if let Some(mut session) = self.sessions.open(seid) {
            session.count_on(urr_id, usage);
        }
    }

    fn counters(&mut self, seid: Seid, urr_id: u32) -> Counters {
        let Some(epoch) = self.data.epoch() else { return Counters { usage: self.usage(seid, urr_id), lasting: None } };
        let Some(Charged { accrued, cells, .. }) = self.sessions.prefix(seid) else { return Counters::default() };
        let mut usage = accrued.get(&urr_id).copied().unwrap_or_default();
        let mut lasting = Vec::new();
        for (key, cell) in cells.iter().filter(|(key, _)| key.urr_ids.contains(&urr_id)) {
            let Some(count) = self.data.lasting_count(self.ids.usage, u64::from(*cell)) else {
                add(&mut usage, key, self.data.count(self.ids.usage, u64::from(*cell)));
                continue;
            };
            add(&mut usage, key, count.rest);
            add(&mut usage, key, count.lasting);
            let target_api::Count { packets, bytes } = count.lasting;
            lasting.push(LastingCell { cell: *cell, uplink: key.uplink, packets, bytes });
        }
        Counters { usage, lasting: Some(Lasting { epoch, cells: lasting }) }
    }

    fn outlasts(&self) -> bool {
        self.data.epoch().is_some()
    }

    fn continue_lasting(&mut self, seid: Seid, urr_id: u32, recorded: &Counters) {
        if recorded.lasting.is_some() {
            self.returning.push((seid, urr_id, recorded.clone()));
        }
    }

    fn restore(&mut self, sessions: &[Returning<'_>]) -> Vec<Result<(), CommitError>> {
        if self.insert_together(sessions) {
            return sessions.iter().map(|_| Ok(())).collect();
        }
        sessions.iter().map(|session| session.commit_to(self)).collect()
    }

    fn packets(&mut self, seid: Seid) -> u64 {
        self.carried_by(seid).map_or(0, Usage::packets)
    }

    fn carried(&mut self) -> Option<u64> {
        Some(self.data.carried()?.wrapping_add(self.returned))
    }

    fn send_end_marker(&mut self, to: OuterHeader) {
        let actions = self.host.end_marker(to, None);
        self.send_or_keep(actions);
    }

    fn drop_buffered(&mut self, seid: Seid) {
        let Some(session) = self.sessions.get(seid) else { return };
        let number = |id: &u16| lower::number(&session.numbers.pdrs, id);
        let waiting: Vec<_> = session.buffering.iter().map(|id| (number(id), BufferFate::Discard)).collect();
        if !waiting.is_empty() {
            // Nothing is changed, so nothing can be refused; a data plane that is gone has dropped its packets.
            let _ = self.data.apply(&session.info, &Batch::default(), &waiting);
        }
    }
}

fn info(seid: Seid, ends: bool, outline: &Outline) -> SessionInfo {
    let (dscps, qfis) = outline.marks();
    SessionInfo {
        seid,
        ends,
        ue_ipv4s: outline.ue_ipv4s.iter().copied().collect(),
        ue_ipv6s: outline.ue_ipv6s(),
        has_meters: !outline.meters.is_empty() || !outline.quotas.is_empty(),
        buffers: outline.dispositions().any(|(_, d)| d == Disposition::Buffer),
        dscps: dscps.into_iter().collect(),
        qfis: qfis.into_iter().collect(),
        teids: outline.tunnels.iter().map(|(_, teid)| *teid).collect::<BTreeSet<u32>>().into_iter().collect(),
        s_nssai: outline.s_nssai,
    }
}

/// What becomes of the packets waiting under the PDRs that have buffered; `drops`: none is sent.
fn fates(old: &Session, outline: &Outline, drops: bool) -> Vec<(u32, BufferFate)> {
    let now: BTreeMap<u16, Disposition> = outline.dispositions().collect();
    let fate = |id: &u16| match now.get(id) {
        Some(Disposition::Buffer) if !drops => None,
        Some(Disposition::Forward) if !drops => Some((lower::number(&old.numbers.pdrs, id), BufferFate::Release)),
        _ => Some((lower::number(&old.numbers.pdrs, id), BufferFate::Discard)),
    };
    old.buffering.iter().filter_map(fate).collect()
}

/// The keys of the look-up tables that entries have.
fn lookups(entries: &[SessionEntry]) -> impl Iterator<Item = Lookup> + '_ {
    entries.iter().filter_map(|entry| match entry.key {
        Key::Lookup(lookup) => Some(lookup),
        Key::Class(..) => None,
    })
}

/// The number that `key` has had, or a new one.
fn keep_or_take<K: Ord>(old: &[(K, u32)], key: &K, pool: &mut NumberPool, fresh: &mut Vec<u32>) -> Result<u32, Exhausted> {
    match lower::number(old, key) {
        0 => {
            let number = pool.take()?;
            fresh.push(number);
            Ok(number)
        }
        number => Ok(number),
    }
}

/// Cell and rate of a meter.
fn find_meter(session: &Session, key: &MeterKey) -> Option<(u32, u64)> {
    let at = session.numbers.meters.binary_search_by_key(key, |(k, _)| *k).ok()?;
    Some((session.numbers.meters[at].1, *session.rates_kbps.get(at)?))
}

/// Adds the count of a cell to the direction that it is for.
fn add(usage: &mut Usage, key: &UsageKey, count: target_api::Count) {
    add_in(usage, key.uplink, count);
}

fn add_in(usage: &mut Usage, uplink: bool, count: target_api::Count) {
    let (bytes, packets) = match uplink {
        true => (&mut usage.uplink_bytes, &mut usage.uplink_packets),
        false => (&mut usage.downlink_bytes, &mut usage.downlink_packets),
    };
    *bytes = bytes.saturating_add(count.bytes);
    *packets = packets.saturating_add(count.packets);
}
