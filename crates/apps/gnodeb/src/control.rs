//! What is a running gNodeB asked about its UEs and their bearers, and what changes then?
//!
//! A request is a line of JSON, and so is its reply. The verbs stand for procedures of E1AP and F1AP, which are not here (TS 37.483 §8.3, TS 38.473 §8.3): UE
//! contexts are set up, modified and released; those of a handover are in [`crate::handover`]. A request changes all that it names or, if anything of it is wrong, nothing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;

use daemon::manage::socket::Refused;
use gnb::sdap::DrbId;
use serde::{Deserialize, Serialize};

use crate::Bearer;
use crate::config::{self, ConfigError, Datapath, Gnb, GnbTables, GnbUe, GnbUeTable, MAX_FILE, RlcMode, Role, UsedKeys, wrong};
use crate::counts::{Report, UeCounts};
use crate::handover::{FIRST_TEID, Forwarding, SnStatus, Tunnels};

/// Most bytes of a request: as a file.
pub const MAX_REQUEST: u64 = MAX_FILE as u64;

/// What is asked. `T` is a UE's table as it is written in a file: [`GnbUeTable`], or anything that is written like it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request<T> {
    /// UEs with their sessions and bearers.
    Create {
        /// Numbers that are not there yet.
        ue: Vec<T>,
    },
    /// UEs are as these tables say from now on. A bearer whose table is as it was goes on; any other is released and begins anew.
    Modify {
        /// Numbers that are there.
        ue: Vec<T>,
    },
    /// UEs with their bearers end.
    Release {
        /// Their numbers.
        ue: Vec<u16>,
    },
    /// What is there.
    List {},
    /// Where the bearers' COUNTs are: from [`CountState::High`](crate::counts::CountState) on a bearer needs new keys.
    Counts {},
    /// What was counted so far: packets, drops by reason, radio link failures.
    Report {},
    /// PDCP recovers data, over RLC that begins anew, of bearers of RLC AM (TS 38.323 §5.5; E1AP's PDCP Data Recovery): the UEs are told at the same time.
    Recover {
        /// Their numbers.
        ue: Vec<u16>,
    },
    /// Bearers get other keys, and go on: PDCP is re-established over RLC that begins anew (RRC's `reestablishPDCP`, TS 38.331 §5.3.5.6.5). The UEs are told at the same
    /// time. COUNT of bearers of RLC UM begins anew.
    Rekey {
        /// Numbers that are there; only `ciphering`, `integrity` and keys may be other than they were.
        ue: Vec<T>,
    },
    /// UEs that come from another gNodeB: as `create`, but their bearers wait for its numbers.
    Prepare {
        /// The other's N3 address.
        from: Ipv4Addr,
        /// Numbers that are not there yet.
        ue: Vec<T>,
    },
    /// UEs go to another gNodeB.
    Handover {
        /// What it has answered to `prepare`.
        ue: Vec<Forwarding>,
    },
    /// UEs that were prepared go on here.
    Status {
        /// What the other has answered to `handover`.
        ue: Vec<SnStatus>,
    },
}

/// What UEs are asked. `T` is a UE's table: [`config::UeTable`], or anything that is written like it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum UeRequest<T> {
    /// UEs go to another cell, or get other keys: only `gnb`, `ciphering`, `integrity` and keys may be other than they were (TS 38.331 §5.3.5.5).
    Reconfigure {
        /// Numbers that are there.
        ue: Vec<T>,
    },
    /// As the gNodeB's `recover` (RRC's `recoverPDCP` and `reestablishRLC`).
    Recover {
        /// Numbers that are there.
        ue: Vec<u16>,
    },
}

/// Reads the tables `[[ue]]` of a file that has nothing else. What is in them the gNodeB checks.
///
/// # Errors
/// [`ConfigError`].
pub fn read_ues(text: &str) -> Result<Vec<serde_json::Value>, ConfigError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        ue: Vec<serde_json::Value>,
    }
    config::read(text).map(|file: File| file.ue)
}

/// The reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "lowercase")]
pub enum Reply<T> {
    /// It is done.
    Done {
        /// UEs that were named.
        ues: usize,
    },
    /// What is there, without keys.
    Ues {
        /// Our N3 address, if we have one.
        n3: Option<Ipv4Addr>,
        /// Tables as in a file.
        ue: Vec<T>,
    },
    /// Where COUNTs are.
    Counts {
        /// UEs with a bearer at least.
        ue: Vec<UeCounts>,
    },
    /// What was counted so far.
    Report(Report),
    /// UEs may come.
    Prepared {
        /// For `handover`, to the other gNodeB.
        ue: Vec<Forwarding>,
    },
    /// UEs have left.
    Status {
        /// For `status`, to the other gNodeB.
        ue: Vec<SnStatus>,
    },
    /// Nothing has changed.
    Error {
        /// Why, with the name of the field.
        message: String,
    },
}

impl<T> From<Refused> for Reply<T> {
    fn from(Refused(message): Refused) -> Reply<T> {
        Reply::Error { message }
    }
}

/// What becomes different, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// UEs that are new, or other than they were.
    pub set: Vec<GnbUe>,
    /// UEs that are no more.
    pub released: Vec<u16>,
}

/// What is to be done, checked.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// UEs come, change and go.
    Change(&'a Change),
    /// UEs may come from another gNodeB.
    Prepare {
        /// They are new.
        change: &'a Change,
        /// The other's N3 address.
        from: Ipv4Addr,
        /// By which it forwards.
        forwarding: &'a [Forwarding],
    },
    /// UEs go to another gNodeB.
    HandOver(&'a [Forwarding]),
    /// UEs that were prepared go on here.
    Status(&'a [SnStatus]),
    /// Where are COUNTs?
    Counts,
    /// What was counted?
    Report,
    /// Bearers of RLC AM begin their RLC anew, and PDCP sends again what the UE may not have.
    Recover(&'a [u16]),
    /// Bearers of these UEs go on under the keys that are given here.
    Rekey(&'a [GnbUe]),
}

/// What was done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Done {
    /// All of it.
    All,
    /// Of [`Action::HandOver`]: where the UEs' bearers have ended.
    Left(Vec<SnStatus>),
    /// Of [`Action::Counts`].
    Counts(Vec<UeCounts>),
    /// Of [`Action::Report`].
    Report(Report),
}

/// Does what is asked, all or nothing. Its error is the reply.
pub type Apply<'a> = &'a mut dyn FnMut(Action<'_>) -> Result<Done, String>;

/// Where a UE's handover is.
#[derive(Clone, Debug)]
enum Moving {
    /// It may come.
    Prepared(Vec<Tunnels>),
    /// It has come. What was under way may still be forwarded.
    Arrived(Vec<Tunnels>),
    /// It has left.
    Left,
}

impl Moving {
    fn teids(&self) -> impl Iterator<Item = u32> {
        let (Moving::Prepared(tunnels) | Moving::Arrived(tunnels)) = self else { return [].iter().flat_map(teids) };
        tunnels.iter().flat_map(teids)
    }
}

fn teids(tunnels: &Tunnels) -> [u32; 2] {
    [tunnels.downlink_teid, tunnels.uplink_teid]
}

/// UEs as they were configured, and as they were asked to be since.
pub struct Bearers {
    tables: GnbTables,
    config: Gnb,
    moving: BTreeMap<u16, Moving>,
    /// A forwarding tunnel gets this TEID or the next that is free, so that one that has ended is not soon another's.
    next_teid: u32,
    used: UsedKeys,
}

impl Bearers {
    /// Of a file.
    pub fn new(tables: GnbTables, config: Gnb) -> Bearers {
        let mut used = UsedKeys::default();
        config.ues.iter().for_each(|ue| used.add(ue.id, &ue.drbs));
        Bearers { tables, config, moving: BTreeMap::new(), next_teid: FIRST_TEID, used }
    }

    /// All that is set.
    pub fn config(&self) -> &Gnb {
        &self.config
    }

    /// Answers a request. What changes is done by `apply`.
    pub fn ask(&mut self, request: Request<GnbUeTable>, apply: Apply<'_>) -> Reply<GnbUeTable> {
        let reply = match request {
            Request::List {} => return Reply::Ues { n3: self.config.n3, ue: self.tables.ues().to_vec() },
            Request::Counts {} => self.counts(apply),
            Request::Report {} => self.report(apply),
            Request::Recover { ue } => self.recover(&ue, apply),
            Request::Rekey { ue } => self.rekey(ue, apply),
            Request::Create { ue } => self.create(ue, apply),
            Request::Modify { ue } => self.modify(ue, apply),
            Request::Release { ue } => self.change(ue.len(), self.tables.release(&ue), apply),
            Request::Prepare { from, ue } => self.prepare(from, ue, apply),
            Request::Handover { ue } => self.hand_over(ue, apply),
            Request::Status { ue } => self.status(&ue, apply),
        };
        reply.unwrap_or_else(|ConfigError(message)| Reply::Error { message })
    }

    fn change(&mut self, ues: usize, checked: Checked, apply: Apply<'_>) -> Replied {
        let (tables, config) = checked?;
        self.teids_are_free(&config)?;
        let change = change(&self.config.ues, &config.ues);
        apply(Action::Change(&change)).map_err(ConfigError)?;
        change.released.iter().for_each(|id| drop(self.moving.remove(id)));
        change.set.iter().for_each(|ue| self.used.add(ue.id, &ue.drbs));
        (self.tables, self.config) = (tables, config);
        Ok(Reply::Done { ues })
    }

    fn create(&mut self, ues: Vec<GnbUeTable>, apply: Apply<'_>) -> Replied {
        let ids: Vec<u16> = ues.iter().map(GnbUeTable::id).collect();
        let checked = self.tables.create(ues)?;
        self.keys_are_new(&ids, &checked.1, |_| true)?;
        self.change(ids.len(), Ok(checked), apply)
    }

    fn counts(&mut self, apply: Apply<'_>) -> Replied {
        if self.config.role == Role::Du {
            return Err(wrong("role", "COUNT is PDCP's: ask the CU-UP"));
        }
        match apply(Action::Counts).map_err(ConfigError)? {
            Done::Counts(ue) => Ok(Reply::Counts { ue }),
            _ => Ok(Reply::Counts { ue: Vec::new() }),
        }
    }

    fn report(&mut self, apply: Apply<'_>) -> Replied {
        match apply(Action::Report).map_err(ConfigError)? {
            Done::Report(report) => Ok(Reply::Report(report)),
            _ => Ok(Reply::Report(Report::default())),
        }
    }

    fn recover(&mut self, ids: &[u16], apply: Apply<'_>) -> Replied {
        for (at, id) in each_once(ids.iter().copied())?.zip(ids) {
            self.ue(&at, *id)?;
            self.is_not_moving(&at, *id)?;
        }
        apply(Action::Recover(ids)).map_err(ConfigError)?;
        Ok(Reply::Done { ues: ids.len() })
    }

    fn rekey(&mut self, ues: Vec<GnbUeTable>, apply: Apply<'_>) -> Replied {
        if self.config.role == Role::Du {
            return Err(wrong("role", "keys are PDCP's: `recover` the DU, and ask the CU-UP"));
        }
        let ids: Vec<u16> = ues.iter().map(GnbUeTable::id).collect();
        let (tables, config) = self.tables.modify(ues)?;
        let mut set = Vec::with_capacity(ids.len());
        for (at, id) in each_once(ids.iter().copied())?.zip(&ids) {
            self.is_not_moving(&at, *id)?;
            let Some(after) = config.ues.iter().find(|ue| ue.id == *id) else { continue };
            if !after.differs_by_keys_only(self.ue(&at, *id)?) {
                return Err(wrong(
                    at,
                    "only `ciphering`, `integrity` and keys may be other than before, and a bearer keeps its MAC-I or has none",
                ));
            }
            let um = after.drbs.iter().position(|drb| matches!(drb.rlc, RlcMode::Um(_)));
            if let Some(drb) = um.filter(|_| self.config.role == Role::CuUp) {
                return Err(wrong(
                    format!("{at}.drb[{drb}].rlc"),
                    "a DU apart does not learn that COUNT of RLC UM begins at 0: release the UE and create it",
                ));
            }
            set.push(after.clone());
        }
        // With RLC AM COUNT goes on: what goes again under an old key is as it was.
        self.keys_are_new(&ids, &config, |(_, drb)| !matches!(drb.rlc, RlcMode::Am(_)))?;
        apply(Action::Rekey(&set)).map_err(ConfigError)?;
        set.iter().for_each(|ue| self.used.add(ue.id, &ue.drbs));
        (self.tables, self.config) = (tables, config);
        Ok(Reply::Done { ues: ids.len() })
    }

    fn is_not_moving(&self, at: &str, id: u16) -> Result<(), ConfigError> {
        match self.moving.get(&id) {
            Some(Moving::Prepared(_) | Moving::Left) => Err(wrong(format!("{at}.id"), format!("UE {id} is being handed over"))),
            _ => Ok(()),
        }
    }

    fn modify(&mut self, ues: Vec<GnbUeTable>, apply: Apply<'_>) -> Replied {
        for (number, ue) in ues.iter().enumerate() {
            self.is_not_moving(&format!("ue[{number}]"), ue.id())?;
        }
        let ids: Vec<u16> = ues.iter().map(GnbUeTable::id).collect();
        let checked = self.tables.modify(ues)?;
        let before = |of: Bearer, drb: &config::Drb| {
            let ue = self.config.ues.iter().find(|ue| ue.id == of.ue);
            // The program's services have no verb for other parameters of a bearer.
            let goes_on = |before: &config::Drb| if self.config.datapath == Datapath::P4 { before == drb } else { drb.goes_on(before) };
            ue.is_some_and(|ue| ue.drbs.iter().any(goes_on))
        };
        self.keys_are_new(&ids, &checked.1, |(of, drb)| !before(of, drb))?;
        self.change(ids.len(), Ok(checked), apply)
    }

    /// A bearer that begins at COUNT 0 begins under keys that it has not had: one would cipher two packets alike (TS 33.501 §6.9.4). `begins`: which of those UEs' do.
    fn keys_are_new(&self, ids: &[u16], after: &Gnb, begins: impl Fn((Bearer, &config::Drb)) -> bool) -> Result<(), ConfigError> {
        for (number, id) in ids.iter().enumerate() {
            let Some(ue) = after.ues.iter().find(|ue| ue.id == *id) else { continue };
            for (at, drb) in ue.drbs.iter().enumerate().filter(|(_, drb)| begins((Bearer { ue: *id, drb: drb.sdap.id }, drb))) {
                self.used.check(*id, drb, format!("ue[{number}].drb[{at}]"))?;
            }
        }
        Ok(())
    }

    fn prepare(&mut self, from: Ipv4Addr, ues: Vec<GnbUeTable>, apply: Apply<'_>) -> Replied {
        let to = self.is_whole()?;
        other_gnodeb("from", from, to)?;
        let ids: Vec<u16> = ues.iter().map(GnbUeTable::id).collect();
        let (tables, config) = self.tables.create(ues)?;
        // With RLC AM COUNT goes on: what goes again under an old key is as it was.
        self.keys_are_new(&ids, &config, |(_, drb)| !matches!(drb.rlc, RlcMode::Am(_)))?;
        self.teids_are_free(&config)?;
        let change = change(&self.config.ues, &config.ues);
        let mut taken: BTreeSet<u32> = self.moving.values().flat_map(Moving::teids).collect();
        taken.extend(downlink_teids(&config).map(|(_, teid)| teid));
        let mut teid = || loop {
            let teid = self.next_teid;
            self.next_teid = teid.checked_add(1).unwrap_or(FIRST_TEID);
            if taken.insert(teid) {
                return teid;
            }
        };
        let mut tunnels = |id: DrbId| Tunnels { id: id.get(), downlink_teid: teid(), uplink_teid: teid() };
        let of_ue = |ue: &GnbUe| Forwarding { id: ue.id, to, drb: ue.drbs.iter().map(|drb| tunnels(drb.sdap.id)).collect() };
        let forwarding: Vec<Forwarding> = change.set.iter().map(of_ue).collect();
        apply(Action::Prepare { change: &change, from, forwarding: &forwarding }).map_err(ConfigError)?;
        self.moving.extend(forwarding.iter().map(|of| (of.id, Moving::Prepared(of.drb.clone()))));
        change.set.iter().for_each(|ue| self.used.add(ue.id, &ue.drbs));
        (self.tables, self.config) = (tables, config);
        Ok(Reply::Prepared { ue: forwarding })
    }

    fn hand_over(&mut self, ues: Vec<Forwarding>, apply: Apply<'_>) -> Replied {
        let ours = self.is_whole()?;
        for (at, of) in each_once(ues.iter().map(|of| of.id))?.zip(&ues) {
            let ue = self.ue(&at, of.id)?;
            match self.moving.get(&of.id) {
                None | Some(Moving::Arrived(_)) => {}
                Some(Moving::Prepared(_)) => return Err(wrong(format!("{at}.id"), format!("UE {} has not come yet", of.id))),
                Some(Moving::Left) => return Err(wrong(format!("{at}.id"), format!("UE {} has left", of.id))),
            }
            other_gnodeb(&format!("{at}.to"), of.to, ours)?;
            bearers_of(&at, of.drb.iter().map(|drb| drb.id), ue.drbs.iter().map(|drb| drb.sdap.id))?;
            let mut seen = BTreeSet::from([0]);
            if !of.drb.iter().flat_map(teids).all(|teid| seen.insert(teid)) {
                return Err(wrong(format!("{at}.drb"), "expected a TEID of its own, not 0, for each tunnel"));
            }
        }
        let Done::Left(statuses) = apply(Action::HandOver(&ues)).map_err(ConfigError)? else { return Ok(Reply::Done { ues: 0 }) };
        self.moving.extend(ues.iter().map(|of| (of.id, Moving::Left)));
        Ok(Reply::Status { ue: statuses })
    }

    fn status(&mut self, ues: &[SnStatus], apply: Apply<'_>) -> Replied {
        self.is_whole()?;
        for (at, of) in each_once(ues.iter().map(|of| of.id))?.zip(ues) {
            let ue = self.ue(&at, of.id)?;
            if !matches!(self.moving.get(&of.id), Some(Moving::Prepared(_))) {
                return Err(wrong(format!("{at}.id"), format!("UE {} was not prepared to come", of.id)));
            }
            let acknowledged = ue.drbs.iter().filter(|drb| matches!(drb.rlc, RlcMode::Am(_)));
            bearers_of(&at, of.drb.iter().map(|drb| drb.id), acknowledged.map(|drb| drb.sdap.id))?;
        }
        apply(Action::Status(ues)).map_err(ConfigError)?;
        for of in ues {
            if let Some(Moving::Prepared(tunnels)) = self.moving.remove(&of.id) {
                self.moving.insert(of.id, Moving::Arrived(tunnels));
            }
        }
        Ok(Reply::Done { ues: ues.len() })
    }

    /// Our N3 address. Only a gNodeB that is CU-UP and DU can hand over.
    fn is_whole(&self) -> Result<Ipv4Addr, ConfigError> {
        match (self.config.role, self.config.n3) {
            (Role::Both, Some(n3)) => Ok(n3),
            _ => Err(wrong("role", "a handover is between gNodeBs that are \"both\": not with CU-UP and DU apart")),
        }
    }

    fn ue(&self, at: &str, id: u16) -> Result<&GnbUe, ConfigError> {
        self.config.ues.iter().find(|ue| ue.id == id).ok_or_else(|| wrong(format!("{at}.id"), format!("there is no UE {id}")))
    }

    /// No session's TEID is that of a forwarding tunnel.
    fn teids_are_free(&self, config: &Gnb) -> Result<(), ConfigError> {
        let ours: BTreeSet<u32> = self.moving.values().flat_map(Moving::teids).collect();
        match downlink_teids(config).find(|(_, teid)| ours.contains(teid)) {
            Some((ue, teid)) => Err(wrong(format!("session.downlink_teid of UE {ue}"), format!("{teid} is a forwarding tunnel's"))),
            None => Ok(()),
        }
    }
}

type Checked = Result<(GnbTables, Gnb), ConfigError>;
type Replied = Result<Reply<GnbUeTable>, ConfigError>;

fn downlink_teids(config: &Gnb) -> impl Iterator<Item = (u16, u32)> {
    config.ues.iter().filter_map(|ue| Some((ue.id, ue.session?.downlink_teid)))
}

/// How errors name UEs of a request, each of which is named once.
fn each_once(ids: impl Iterator<Item = u16>) -> Result<impl Iterator<Item = String>, ConfigError> {
    let mut seen = BTreeSet::new();
    for (number, id) in ids.enumerate() {
        if !seen.insert(id) {
            return Err(wrong(format!("ue[{number}].id"), format!("UE {id} is named twice")));
        }
    }
    Ok((0..seen.len()).map(|number| format!("ue[{number}]")))
}

fn other_gnodeb(field: &str, address: Ipv4Addr, ours: Ipv4Addr) -> Result<(), ConfigError> {
    if address == ours || address.is_unspecified() || address.is_multicast() || address.is_broadcast() {
        return Err(wrong(field, "expected another gNodeB's N3 address"));
    }
    Ok(())
}

/// The bearers that are named must be those that there are, each once.
fn bearers_of(at: &str, named: impl Iterator<Item = u8>, there: impl Iterator<Item = DrbId>) -> Result<(), ConfigError> {
    let (mut named, mut there): (Vec<u8>, Vec<u8>) = (named.collect(), there.map(DrbId::get).collect());
    named.sort_unstable();
    there.sort_unstable();
    if named == there { Ok(()) } else { Err(wrong(format!("{at}.drb"), format!("expected the bearers {there:?}, each once"))) }
}

fn change(old: &[GnbUe], new: &[GnbUe]) -> Change {
    let mut before: BTreeMap<u16, &GnbUe> = old.iter().map(|ue| (ue.id, ue)).collect();
    let set = new.iter().filter(|ue| before.remove(&ue.id) != Some(*ue)).cloned().collect();
    Change { set, released: before.into_keys().collect() }
}

/// Numbers below a limit, the least recently used first.
#[derive(Clone, Debug)]
pub(crate) struct Numbers<T> {
    next: u32,
    limit: u32,
    free: VecDeque<(u32, T)>,
}

impl<T> Numbers<T> {
    pub(crate) fn new(limit: u32) -> Numbers<T> {
        Numbers { next: 0, limit, free: VecDeque::new() }
    }

    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    /// One that is free, with what it was last.
    pub(crate) fn take(&mut self) -> Option<(u32, Option<T>)> {
        if self.next < self.limit {
            self.next += 1;
            return Some((self.next - 1, None));
        }
        self.free.pop_front().map(|(number, was)| (number, Some(was)))
    }

    pub(crate) fn give_back(&mut self, number: u32, was: T) {
        self.free.push_back((number, was));
    }

    /// What those that are free were last.
    pub(crate) fn were(&self) -> impl Iterator<Item = &(u32, T)> {
        self.free.iter()
    }
}
