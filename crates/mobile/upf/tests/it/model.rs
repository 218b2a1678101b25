//! A data plane that keeps tables, meters and counters in maps: what a target must do, without packets.

use std::collections::BTreeMap;
use std::fmt::Write;

use base::PortId;
use pfcp::rules::SessionRules;
use program::{ApplyError, Batch, CounterId, Entry, KeyMatch, MatchKind, MeterConfig, MeterId, Op, Program, RuleError};
use upf::lower::Treatment;
use upf::plane::{BufferFate, DataPlane, LastingCount, SessionInfo};

/// Identity of an entry.
type Identity = (String, Vec<KeyMatch>, u32);

/// Tables, meters and counters of a program.
#[derive(Clone)]
pub(crate) struct Model {
    pub program: Program,
    pub tables: BTreeMap<Identity, Entry>,
    pub meters: BTreeMap<(String, u64), MeterConfig>,
    pub counters: BTreeMap<u64, target_api::Count>,
    /// Counters that outlast the process, with its number; what else a cell has counted is in `counters`.
    pub lasting: Option<(u64, BTreeMap<u64, target_api::Count>)>,
    /// What the meters' cells hold, where it is not as much as at first.
    pub left: BTreeMap<u64, u64>,
    /// Whether the next batch is refused after so many of its ops.
    pub refuse_after: Option<(usize, ApplyError)>,
    pub fates: Vec<(u32, BufferFate)>,
    pub infos: Vec<SessionInfo>,
    pub batches: Vec<Batch>,
    pub sent: Vec<(PortId, Vec<u8>)>,
    /// How PDR numbers are treated where packets wait for ports' rates, if they do.
    pub treated: Option<BTreeMap<u32, Treatment>>,
    /// Sessions whose guaranteed rates have no effect.
    pub unguaranteed: Vec<u64>,
}

impl Model {
    pub(crate) fn new(program: Program) -> Model {
        Model {
            program,
            tables: BTreeMap::new(),
            meters: BTreeMap::new(),
            counters: BTreeMap::new(),
            lasting: None,
            left: BTreeMap::new(),
            refuse_after: None,
            fates: Vec::new(),
            infos: Vec::new(),
            batches: Vec::new(),
            sent: Vec::new(),
            treated: None,
            unguaranteed: Vec::new(),
        }
    }

    /// All or nothing.
    pub(crate) fn apply(&mut self, batch: &Batch) -> Result<(), ApplyError> {
        let before = (self.tables.clone(), self.meters.clone(), self.counters.clone());
        let refuse_after = self.refuse_after.take();
        for (at, op) in batch.ops.iter().enumerate() {
            let refused = refuse_after.as_ref().filter(|(after, _)| *after == at).map(|(_, error)| error.clone());
            if let Err(error) = refused.map_or(Ok(()), Err).and_then(|()| Ok(self.apply_op(at, op)?)) {
                (self.tables, self.meters, self.counters) = before;
                return Err(error);
            }
        }
        Ok(())
    }

    fn apply_op(&mut self, at: usize, op: &Op) -> Result<(), RuleError> {
        self.program.check_op(at, op)?;
        match op {
            Op::Insert(e) => {
                let (table, identity) = self.identity(e);
                let count = self.tables.keys().filter(|(name, ..)| *name == table).count() as u64;
                let capacity = self.program.tables[e.table].size;
                if self.tables.contains_key(&identity) {
                    return Err(RuleError::Exists { op: at, table });
                }
                if count >= capacity {
                    return Err(RuleError::Full { op: at, table, capacity });
                }
                self.tables.insert(identity, e.clone());
            }
            Op::Modify(e) => {
                let (table, identity) = self.identity(e);
                *self.tables.get_mut(&identity).ok_or(RuleError::Missing { op: at, table })? = e.clone();
            }
            Op::Delete(e) => {
                let (table, identity) = self.identity(e);
                self.tables.remove(&identity).ok_or(RuleError::Missing { op: at, table })?;
            }
            Op::SetDefault { .. } => {}
            Op::Meter { meter, index, config } => {
                self.left.remove(index);
                let cell = (self.program.meters[*meter].name.clone(), *index);
                match config {
                    Some(config) => drop(self.meters.insert(cell, *config)),
                    None => drop(self.meters.remove(&cell)),
                }
            }
            Op::ClearCounter { index, .. } => drop(self.counters.remove(index)),
            Op::EntryMeter { .. } | Op::Mirror { .. } | Op::Multicast { .. } | Op::InsertValue { .. } | Op::DeleteValue { .. } => {
                unreachable!("the lowering of rules makes no such change: {op:?}")
            }
        }
        Ok(())
    }

    fn identity(&self, e: &Entry) -> (String, Identity) {
        let table = &self.program.tables[e.table];
        let prioritised = table.keys.iter().any(|k| !matches!(k.kind, MatchKind::Exact | MatchKind::Lpm));
        let priority = if prioritised { e.priority } else { 0 };
        (table.name.clone(), (table.name.clone(), e.keys.clone(), priority))
    }

    /// Entries of tables whose name starts so, and meters, one a line, as people read them.
    pub(crate) fn dump(&self, tables: &[&str]) -> String {
        let mut out = String::new();
        for prefix in tables {
            let mut lines: Vec<String> =
                self.tables.iter().filter(|((name, ..), _)| name.starts_with(prefix)).map(|(_, e)| self.line(e)).collect();
            lines.sort();
            lines.iter().for_each(|line| writeln!(out, "{line}").unwrap());
        }
        for ((name, cell), c) in &self.meters {
            writeln!(out, "{name}[{cell}] {} B/s burst {} B", c.pir, c.pbs).unwrap();
        }
        out
    }

    fn line(&self, e: &Entry) -> String {
        let table = &self.program.tables[e.table];
        let mut line = table.name.clone();
        for (key, info) in e.keys.iter().zip(&table.keys) {
            let value = |v: u128| value(&info.name, info.width, v);
            match *key {
                KeyMatch::Exact(v) => write!(line, " {}={}", info.name, value(v)).unwrap(),
                KeyMatch::Lpm { value: v, prefix_len } => write!(line, " {}={}/{prefix_len}", info.name, value(v)).unwrap(),
                KeyMatch::Ternary { mask: 0, .. } | KeyMatch::Range { low: 0, high: 0xffff } => {}
                KeyMatch::Ternary { value: v, mask } if mask == base::Bits::mask(info.width) => {
                    write!(line, " {}={}", info.name, value(v)).unwrap();
                }
                KeyMatch::Ternary { value: v, mask } => write!(line, " {}={}&{mask:#x}", info.name, value(v)).unwrap(),
                KeyMatch::Range { low, high } => write!(line, " {}={low}-{high}", info.name).unwrap(),
                KeyMatch::Optional(v) => write!(line, " {}={v:?}", info.name).unwrap(),
            }
        }
        if e.priority != 0 {
            write!(line, " priority {}", e.priority).unwrap();
        }
        let action = &self.program.actions[e.action];
        write!(line, " -> {}", action.name).unwrap();
        for (arg, param) in e.args.iter().zip(&action.params) {
            // Parameters of set_pdr that are zero say nothing.
            if *arg != 0 || action.params.len() < 4 {
                write!(line, " {}={}", param.name, value(&param.name, param.width, *arg)).unwrap();
            }
        }
        line
    }
}

fn value(name: &str, width: u32, v: u128) -> String {
    let address = ["endpoint", "ue", "ue_ipv4", "tunnel_dst", "tunnel_src", "address", "destination", "remote", "local", "src", "dst"];
    match (width, name) {
        (32, _) if address.contains(&name) => std::net::Ipv4Addr::from(v as u32).to_string(),
        (128, _) => std::net::Ipv6Addr::from(v).to_string(),
        (64, _) => std::net::Ipv6Addr::from(v << 64).to_string(),
        (48, _) => format!("{v:012x}"),
        (_, "disposition") => ["forward", "drop", "buffer", "gate_closed", "quota_exhausted"][v as usize].into(),
        (_, "encapsulation") => ["none", "gtpu", "psc_downlink", "psc_uplink"][v as usize].into(),
        (_, "teid" | "tunnel_teid" | "psc_qos") => format!("{v:#x}"),
        _ => v.to_string(),
    }
}

impl DataPlane for Model {
    fn has_queues(&self) -> bool {
        self.treated.is_some()
    }

    fn cannot_guarantee(&mut self, seid: u64) {
        self.unguaranteed.push(seid);
    }

    fn treat(&mut self, _: Option<&SessionRules>, treatments: &[(u32, Option<Treatment>)]) {
        let Some(treated) = &mut self.treated else { return };
        for (number, treatment) in treatments {
            match treatment {
                Some(treatment) => treated.insert(*number, *treatment),
                None => treated.remove(number),
            };
        }
    }

    fn apply(&mut self, session: &SessionInfo, batch: &Batch, buffers: &[(u32, BufferFate)]) -> Result<(), ApplyError> {
        self.apply(batch)?;
        self.fates.extend_from_slice(buffers);
        self.infos.push(session.clone());
        self.batches.push(batch.clone());
        Ok(())
    }

    fn apply_together(&mut self, sessions: &[SessionInfo], batch: &Batch) -> Option<Result<(), ApplyError>> {
        let outcome = self.apply(batch);
        if outcome.is_ok() {
            self.infos.extend_from_slice(sessions);
            self.batches.push(batch.clone());
        }
        Some(outcome)
    }

    fn count(&mut self, counter: CounterId, cell: u64) -> target_api::Count {
        let mut count = self.counters.get(&cell).copied().unwrap_or_default();
        count += self.lasting_count(counter, cell).unwrap_or_default().lasting;
        count
    }

    fn epoch(&self) -> Option<u64> {
        self.lasting.as_ref().map(|(epoch, _)| *epoch)
    }

    fn lasting_count(&mut self, _: CounterId, cell: u64) -> Option<LastingCount> {
        let of = |counters: &BTreeMap<u64, target_api::Count>| counters.get(&cell).copied().unwrap_or_default();
        let (_, lasting) = self.lasting.as_ref()?;
        Some(LastingCount { lasting: of(lasting), rest: of(&self.counters) })
    }

    fn meter_left(&mut self, meter: MeterId, cell: u64) -> Option<u64> {
        let full = self.meters.get(&(self.program.meters[meter].name.clone(), cell))?.pbs;
        Some(self.left.get(&cell).copied().unwrap_or(full))
    }

    fn transmit(&mut self, port: PortId, frame: Vec<u8>) {
        self.sent.push((port, frame));
    }
}
