//! Runs one program on a native target and in the reference interpreter with the same entries and packets, and compares everything
//! that can be seen: verdicts, bytes, counters, registers, statistics.

pub mod random_ir;
pub mod read_back;
pub mod user_plane;

use base::{Packet, PortId, Verdict, VerdictKind};
use p4_interp::{Event, Machine, Mode, Recorder};
use p4_ir::Ir;
use program::{ActionId, ApplyError, Batch, Entry, KeyMatch, MatchKind, MeterConfig, Op, RegisterId, RuleError, TableId};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;
use std::sync::Arc;
use target_api::{Count, HeldEntry, Lane, Target};

/// Chooses an argument by the names of action and parameter. Asked without a parameter, it refuses the action with 0.
pub type Choose = fn(&mut ChaCha8Rng, &str, &str) -> Option<u128>;

/// A kind of native target: what it shows beyond [`Target`], and what of a comparison its limits change.
pub trait Native {
    /// The target.
    type Target: Target;
    /// What a test may choose when it loads.
    type Choice: ?Sized;
    /// For messages.
    const NAME: &'static str;
    /// Whether rules get few different masks, as rules of people have.
    const FEW_MASKS: bool = false;
    /// Compiles and loads.
    fn load(ir: &Arc<Ir>, seed: u64, mode: Mode, choice: &Self::Choice) -> Self::Target;
    /// A cell of a register.
    fn register(target: &Self::Target, register: RegisterId, index: u64) -> Option<u128>;
    /// The direct counter of an entry.
    fn entry_count(target: &Self::Target, entry: &Entry) -> Option<Count>;
    /// Whether it takes packets of that length.
    fn takes(_len: usize) -> bool {
        true
    }
    /// Room of a table that the interpreter gives room for so many.
    fn capacity(capacity: u64) -> u64 {
        capacity
    }
    /// Whether it may refuse a batch so that the interpreter takes.
    fn may_refuse(_target: &Self::Target, _error: &RuleError) -> bool {
        false
    }
}

/// The two, side by side.
pub struct Pair<T: Native> {
    pub ir: Arc<Ir>,
    pub machine: Machine,
    pub native: T::Target,
    pub mode: Mode,
    pub lane: Box<dyn Lane>,
    pub rng: ChaCha8Rng,
    /// Verdicts by kind.
    pub kinds: [u64; 8],
    /// Verdicts by kind and reason.
    pub reasons: BTreeMap<(VerdictKind, u8), u64>,
    /// Packets by the colour that a meter gave.
    pub metered: [u64; 3],
    /// Keys that were looked up, since they were last taken.
    pub seen: Vec<(TableId, Vec<u128>)>,
    /// Chooses arguments by action and parameter; random where it does not.
    pub choose: Choose,
    /// Forwarded packets by port, 0 to 2.
    pub colours: [u64; 3],
    /// Batches that only the native target refused, and others.
    pub refused: u64,
    pub accepted: u64,
    now_ns: u64,
}

impl<T: Native> Pair<T> {
    /// Both hold the whole of every table, or a subset.
    pub fn load(ir: Ir, seed: u64, mode: Mode, choice: &T::Choice) -> Pair<T> {
        if let Err(errors) = p4_ir::verify(&ir) {
            panic!("the test's IR is wrong: {}", errors.iter().map(|e| e.to_string()).collect::<Vec<_>>().join("\n"));
        }
        let ir = Arc::new(ir);
        let native = T::load(&ir, seed, mode, choice);
        Pair::of(ir, native, seed, mode)
    }

    /// With a target that has loaded the program.
    pub fn of(ir: Arc<Ir>, native: T::Target, seed: u64, mode: Mode) -> Pair<T> {
        let machine = Machine::new(ir.clone()).unwrap_or_else(|e| panic!("{e}"));
        let lane = native.lane(0);
        Pair {
            ir,
            machine,
            native,
            mode,
            lane,
            rng: ChaCha8Rng::seed_from_u64(seed),
            kinds: [0; 8],
            reasons: BTreeMap::new(),
            metered: [0; 3],
            seen: Vec::new(),
            choose: |_, _, _| None,
            colours: [0; 3],
            refused: 0,
            accepted: 0,
            now_ns: 1_000,
        }
    }

    /// Applies a batch to both, which must agree.
    pub fn apply(&mut self, ops: Vec<Op>) -> Result<(), RuleError> {
        let batch = Batch { ops };
        let b = self.native.apply(&batch).map_err(|error| match error {
            ApplyError::Refused(refused) => refused,
            other => panic!("{} does not take {batch:?}: {other}", T::NAME),
        });
        if let Err(error) = &b
            && T::may_refuse(&self.native, error)
        {
            self.refused += 1;
            return b;
        }
        self.accepted += 1;
        let a = self.machine.apply(&batch);
        assert_eq!(a, b, "interpreter and {} disagree about {batch:?}", T::NAME);
        b
    }

    /// Runs packets in bursts of random sizes through both and compares.
    pub fn run(&mut self, packets: &[(Vec<u8>, PortId)]) {
        let packets: Vec<_> = packets.iter().filter(|(p, _)| T::takes(p.len())).cloned().collect();
        let mut rest = &packets[..];
        while !rest.is_empty() {
            let n = self.rng.random_range(1..=64usize).min(rest.len());
            let (burst, after) = rest.split_at(n);
            rest = after;
            self.burst(burst);
        }
    }

    fn burst(&mut self, burst: &[(Vec<u8>, PortId)]) {
        self.now_ns += self.rng.random_range(0..2_000_000);
        let mut packets: Vec<_> = burst.iter().map(|(bytes, port)| Packet::new(bytes, *port)).collect();
        let mut verdicts = vec![Verdict::default(); burst.len()];
        self.lane.process(&mut packets, &mut verdicts, self.now_ns);
        for (i, (bytes, port)) in burst.iter().enumerate() {
            let mut recorder = Recorder::default();
            let out = self.machine.process_traced(bytes, *port, self.now_ns, self.mode, &mut recorder);
            let (expected, expected_bytes) = (out.verdict, out.bytes.to_vec());
            self.kinds[expected.kind as usize] += 1;
            if let (VerdictKind::Forward, Some(n)) = (expected.kind, self.colours.get_mut(usize::from(expected.port))) {
                *n += 1;
            }
            *self.reasons.entry((expected.kind, expected.reason)).or_default() += 1;
            for event in &recorder.events {
                match event {
                    Event::Lookup { table, keys, .. } => self.seen.push((*table, keys.clone())),
                    Event::Metered { colour, .. } => self.metered[usize::from(*colour).min(2)] += 1,
                    _ => {}
                }
            }
            let same = expected == verdicts[i] && (expected.kind == VerdictKind::Drop || expected_bytes == packets[i].data());
            if !same {
                panic!(
                    "packet {i} of {} on port {port}: {bytes:02x?}\ninterpreter {expected:?} {expected_bytes:02x?}\n{:11} {:?} {:02x?}\n{}",
                    burst.len(),
                    T::NAME,
                    verdicts[i],
                    packets[i].data(),
                    p4_interp::render_trace(&self.ir, &recorder.events, true),
                );
            }
            if expected.kind == VerdictKind::Drop {
                assert_eq!(packets[i].len(), bytes.len(), "a dropped packet's window is as received");
            }
        }
    }

    /// Compares counters, registers and statistics.
    pub fn check_state(&self) {
        let program = &self.ir.program;
        for (id, info) in program.counters.iter().filter(|(_, c)| c.table.is_none()) {
            for i in 0..info.size.min(300) {
                let (a, b) = (self.machine.counter(id, i), self.native.counter(id, i));
                assert_eq!((a.packets, a.bytes), (b.packets, b.bytes), "counter {} cell {i}", info.name);
            }
        }
        for (id, info) in &program.registers {
            for i in 0..info.size {
                let (a, b) = (self.machine.register(id, i), T::register(&self.native, id, i));
                assert_eq!(a, b, "register {} cell {i}", info.name);
            }
        }
        for (id, info) in &program.tables {
            let (a, b) = (self.machine.table_stats(id), self.native.table_stats(id));
            let capacity = T::capacity(a.capacity);
            assert_eq!((a.entries, capacity, a.hits, a.misses), (b.entries, b.capacity, b.hits, b.misses), "table {}", info.name);
            for entry in self.machine.entries(id) {
                let (a, b) = (self.machine.entry_count(&entry), T::entry_count(&self.native, &entry));
                let pair = |packets, bytes| (packets, bytes);
                assert_eq!(a.map(|c| pair(c.packets, c.bytes)), b.map(|c| pair(c.packets, c.bytes)), "entry {entry:?}");
            }
        }
    }

    /// Reads all tables back, some entries at a time: what the interpreter holds, with the same counts. Gives the number of entries, and of those
    /// that have counted packets.
    pub fn check_entries(&self, chunk: usize) -> (usize, usize) {
        let tables = self.native.facets().tables.expect("a target that runs programs tells its entries");
        let (mut all, mut hit) = (0, 0);
        for (id, info) in &self.ir.program.tables {
            let held: Vec<HeldEntry> = target_api::in_chunks(tables, id, chunk).collect();
            let mut expected: Vec<HeldEntry> = (self.machine.entries(id).into_iter())
                .map(|entry| {
                    let count = self.machine.entry_count(&entry).map(|c| Count { packets: c.packets, bytes: c.bytes });
                    let priority = if info.has_priorities() { entry.priority } else { 0 };
                    HeldEntry { entry: Entry { priority, ..entry }, count }
                })
                .collect();
            expected.sort_by(|a, b| (&a.entry.keys, a.entry.priority).cmp(&(&b.entry.keys, b.entry.priority)));
            assert_eq!(held, expected, "table {}", info.name);
            all += held.len();
            hit += held.iter().filter(|held| held.count.is_some_and(|count| count != Count::default())).count();
        }
        (all, hit)
    }

    /// Hits and misses of a table so far.
    pub fn hits_and_misses(&self, name: &str) -> (u64, u64) {
        let stats = self.native.table_stats(self.ir.program.table(name).unwrap());
        (stats.hits, stats.misses)
    }

    /// A random entry that matches these keys, with random arguments.
    pub fn entry_for(&mut self, table: TableId, keys: &[u128]) -> Option<Entry> {
        let ir = self.ir.clone();
        let info = &ir.program.tables[table];
        let usable: Vec<_> = info.actions.iter().filter(|u| u.entry).collect();
        if usable.is_empty() || info.const_entries || info.keys.is_empty() {
            return None;
        }
        let action = self.action(&usable.iter().map(|u| u.action).collect::<Vec<_>>());
        let args = self.args(action);
        let mut ranked = false;
        let keys = info
            .keys
            .iter()
            .zip(keys)
            .map(|(k, v)| {
                let all = base::Bits::mask(k.width);
                ranked |= !matches!(k.kind, MatchKind::Exact | MatchKind::Lpm);
                match k.kind {
                    MatchKind::Exact => KeyMatch::Exact(*v),
                    MatchKind::Lpm => {
                        let prefix_len = self.rng.random_range(0..=k.width);
                        KeyMatch::Lpm { value: v & !base::Bits::mask(k.width - prefix_len), prefix_len }
                    }
                    MatchKind::Ternary => {
                        let mask = match self.rng.random_range(0..if T::FEW_MASKS { 30 } else { 4 }) {
                            n if n > 3 => {
                                if n % 2 == 0 {
                                    all
                                } else {
                                    0
                                }
                            }
                            0 => all,
                            1 => 0,
                            _ => self.number(k.width),
                        };
                        KeyMatch::Ternary { value: v & mask, mask }
                    }
                    MatchKind::Range => match self.rng.random_range(0..4) {
                        0 => KeyMatch::Range { low: *v, high: *v },
                        1 => KeyMatch::Range { low: 0, high: all },
                        _ => {
                            let (a, b) = (self.number(k.width), self.number(k.width));
                            KeyMatch::Range { low: a.min(*v), high: b.max(*v) }
                        }
                    },
                    MatchKind::Optional => KeyMatch::Optional(self.rng.random_bool(0.5).then_some(*v)),
                }
            })
            .collect();
        let priority = if ranked { self.rng.random_range(0..4) } else { 0 };
        Some(Entry { table, keys, priority, action, args })
    }

    fn action(&mut self, of: &[ActionId]) -> ActionId {
        let (choose, ir) = (self.choose, self.ir.clone());
        for _ in 0..20 {
            let action = of[self.rng.random_range(0..of.len())];
            if choose(&mut self.rng, &ir.program.actions[action].name, "") != Some(0) {
                return action;
            }
        }
        of[0]
    }

    /// Arguments for an action.
    fn args(&mut self, action: ActionId) -> Vec<u128> {
        let ir = self.ir.clone();
        let info = &ir.program.actions[action];
        let choose = self.choose;
        info.params.iter().map(|p| choose(&mut self.rng, &info.name, &p.name).unwrap_or_else(|| self.number(p.width))).collect()
    }

    /// A random number of that width: often small, all ones or a single bit.
    pub fn number(&mut self, width: u32) -> u128 {
        let all = base::Bits::mask(width);
        match self.rng.random_range(0..6) {
            0 => 0,
            1 => all,
            2 => self.rng.random_range(0..4u128) & all,
            3 => (1u128 << self.rng.random_range(0..width.max(1))) & all,
            _ => self.rng.random::<u128>() & all,
        }
    }

    /// Fills the tables with entries for that share of the keys that have been seen, and changes some of them.
    pub fn fill(&mut self, share: f64) {
        let mut seen = std::mem::take(&mut self.seen);
        seen.sort();
        seen.dedup();
        for (table, keys) in seen {
            if !self.rng.random_bool(share) {
                continue;
            }
            if let Some(entry) = self.entry_for(table, &keys) {
                let _ = self.apply(vec![Op::Insert(entry.clone())]);
                if self.rng.random_bool(0.3)
                    && let Some(mut other) = self.entry_for(table, &keys)
                {
                    other.keys = entry.keys;
                    other.priority = entry.priority;
                    let op = if self.rng.random_bool(0.5) { Op::Modify(other) } else { Op::Delete(other) };
                    let _ = self.apply(vec![op]);
                }
            }
        }
        let program = self.ir.program.clone();
        for (meter, info) in program.meters.iter().filter(|(_, m)| m.table.is_none()) {
            for index in 0..info.size.min(16) {
                let cir = self.rng.random_range(0..200_000);
                let config = MeterConfig {
                    cir,
                    cbs: self.rng.random_range(0..2_000),
                    pir: cir + self.rng.random_range(0..200_000),
                    pbs: self.rng.random_range(0..4_000),
                };
                let config = self.rng.random_bool(0.8).then_some(config);
                self.apply(vec![Op::Meter { meter, index, config }]).unwrap();
            }
        }
        for (table, info) in &program.tables {
            let defaults: Vec<_> = info.actions.iter().filter(|u| u.default).collect();
            if info.const_default || defaults.is_empty() || !self.rng.random_bool(0.3) {
                continue;
            }
            let action = self.action(&defaults.iter().map(|u| u.action).collect::<Vec<_>>());
            let args = self.args(action);
            self.apply(vec![Op::SetDefault { table, action, args }]).unwrap();
        }
    }
}

/// The seed's own generator.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}
