//! Random programs that keep every invariant, with entries and packets that reach into them: what passes and targets
//! are compared on. The same seed gives the same.
//!
//! Programs use all of the IR except digests, logging, truncation and the `random` extern; clones, multicast, packets that
//! are sent round and copies of varbit fields only where [`Shape::Copies`] asks for them.
//! Their loops end. Keys are a few bits wide, so that look-ups hit; the parser branches on a few bits for the same reason.

use base::PortId;
use p4_ir::*;
use program::{Batch, CountUnit, Entry, KeyMatch, LengthSource, MatchKind, MeterConfig, Mirror, Op, Replica};

/// A small generator (splitmix64) that draws from a seed.
///
/// Not the crate rand: a seed that a regression test or a report names must give the same program for ever, and rand may change what its ranges draw
/// with each release but patches.
pub struct Rng(u64);

impl Rng {
    /// From a seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Below `n`, which is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// Once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A value of that width: often small, all ones or a single bit, where mistakes show.
    pub fn value(&mut self, width: u32) -> u128 {
        let wide = u128::from(self.bits()) << 64 | u128::from(self.bits());
        let value = match self.below(6) {
            0 => wide & 3,
            1 => u128::MAX,
            2 => 1u128.checked_shl(wide as u32 % 128).unwrap_or(0),
            3 => 0,
            _ => wide,
        };
        value & Bits::mask(width)
    }
}

/// What a program is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Shape {
    /// One packet in, one out; registers up to the widest.
    #[default]
    Plain,
    /// It copies packets and sends them round; registers of up to 64 bits, and no look at a stack's index outside of the
    /// parser: what every target can do.
    Copies,
    /// It calls services; otherwise as for [`Shape::Copies`], without the copies.
    Calls,
    /// It does both.
    CallsAndCopies,
    /// Nothing that keeps packets from being told apart by how they were parsed: no loops, stacks only by fixed elements,
    /// a parser of marked states that extract each header once, and seldom more than one meter or register.
    Classes,
    /// As [`Shape::Classes`], and it calls services.
    ClassesAndCalls,
}

impl Shape {
    /// Whether packets are copied and sent round.
    pub fn copies(self) -> bool {
        matches!(self, Shape::Copies | Shape::CallsAndCopies)
    }

    /// Whether services are called.
    pub fn calls(self) -> bool {
        matches!(self, Shape::Calls | Shape::CallsAndCopies | Shape::ClassesAndCalls)
    }

    /// Whether packets may be told apart by how they were parsed.
    fn has_classes(self) -> bool {
        matches!(self, Shape::Classes | Shape::ClassesAndCalls)
    }

    /// Whether the program is cut for a target.
    fn cut(self) -> bool {
        self.copies() || self.calls()
    }
}

/// What the services of a program of [`Shape::Calls`] do, by nothing but the request and the payload: they answer, one of them changes the payload, and now
/// and then they drop, which is the reason that is returned.
pub fn serve(service: ServiceId, request: &[u8], payload: &mut Vec<u8>, answer: &mut [u8]) -> Option<u8> {
    let mut seed = Rng::new(u64::from(service.as_u32()));
    for byte in request.iter().chain(&*payload) {
        seed = Rng::new(seed.bits() ^ u64::from(*byte));
    }
    answer.iter_mut().for_each(|b| *b = seed.bits() as u8);
    if service.as_u32() == 1 {
        payload.iter_mut().for_each(|b| *b ^= seed.bits() as u8);
        match seed.below(4) {
            0 => payload.push(seed.bits() as u8),
            1 => drop(payload.pop()),
            _ => {}
        }
    }
    seed.once_in(16).then_some(70 + service.as_u32() as u8)
}

/// A program that makes one packet of one.
pub fn program(seed: u64) -> Ir {
    shaped(seed, Shape::Plain)
}

/// A program of that shape.
pub fn shaped(seed: u64, shape: Shape) -> Ir {
    let mut g = Generator { rng: Rng::new(seed), ir: Ir::v1model(&format!("random_{seed}.p4")), shape, ..Generator::default() };
    g.ordered_left = match shape {
        Shape::Classes | Shape::ClassesAndCalls => g.rng.below(3),
        // Packets need no order: targets call services for many at once.
        Shape::Calls | Shape::CallsAndCopies if seed.is_multiple_of(2) => 0,
        _ => usize::MAX,
    };
    g.headers();
    g.vars();
    g.objects();
    g.tables();
    match shape {
        Shape::Classes | Shape::ClassesAndCalls => g.parser_of_classes(),
        _ => g.parser(),
    }
    g.pipeline();
    g.ir
}

/// Entries and meters for a program of [`program`], all of which fit.
pub fn entries(ir: &Ir, seed: u64) -> Batch {
    let mut rng = Rng::new(seed);
    let mut ops = Vec::new();
    for (table, info) in &ir.program.tables {
        let mut seen: Vec<(Vec<KeyMatch>, u32)> = Vec::new();
        for _ in 0..rng.below(12) {
            let keys: Vec<KeyMatch> = info.keys.iter().map(|k| key(&mut rng, k.kind, k.width)).collect();
            let prioritised = info.keys.iter().any(|k| !matches!(k.kind, MatchKind::Exact | MatchKind::Lpm));
            let priority = if prioritised { rng.below(4) as u32 } else { 0 };
            if seen.contains(&(keys.clone(), priority)) {
                continue;
            }
            seen.push((keys.clone(), priority));
            let action = rng.pick(&info.actions).action;
            let args = ir.program.actions[action].params.iter().map(|p| rng.value(p.width)).collect();
            ops.push(Op::Insert(Entry { table, keys, priority, action, args }));
        }
    }
    for (meter, info) in &ir.program.meters {
        for index in (0..info.size).filter(|_| rng.once_in(2)).collect::<Vec<_>>() {
            let cir = rng.bits() % 1_000_000;
            let config = MeterConfig { cir, cbs: rng.bits() % 500, pir: cir + rng.bits() % 1_000_000, pbs: rng.bits() % 1000 };
            ops.push(Op::Meter { meter, index, config: Some(config) });
        }
    }
    Batch { ops }
}

/// Clone sessions and multicast groups for a program of [`Shape::Copies`]: some of those that it names, and empty ones.
pub fn copies(seed: u64) -> Batch {
    let mut rng = Rng::new(seed);
    let mut ops = Vec::new();
    for group in 1..3 {
        let replicas = (0..rng.below(4)).map(|_| Replica { port: PortId(rng.below(9) as u16), rid: rng.below(3) as u16 }).collect();
        ops.push(Op::Multicast { group, replicas });
    }
    for session in 0..3 {
        let to = match rng.below(4) {
            0 => continue,
            1 => Mirror::Group(1 + rng.below(3) as u16),
            2 => Mirror::Port(PortId::PUNT),
            _ => Mirror::Port(PortId(rng.below(9) as u16)),
        };
        ops.push(Op::Mirror { session, to: Some(to) });
    }
    Batch { ops }
}

/// A packet of up to 80 bytes.
pub fn packet(rng: &mut Rng) -> Vec<u8> {
    let len = if rng.once_in(4) { rng.below(12) } else { rng.below(80) };
    (0..len).map(|_| rng.value(8) as u8).collect()
}

fn key(rng: &mut Rng, kind: MatchKind, width: u32) -> KeyMatch {
    let max = Bits::mask(width);
    let value = u128::from(rng.bits()) & max;
    match kind {
        MatchKind::Exact => KeyMatch::Exact(value),
        MatchKind::Lpm => {
            let prefix_len = rng.below(width as usize + 1) as u32;
            KeyMatch::Lpm { value: value & !Bits::mask(width - prefix_len), prefix_len }
        }
        MatchKind::Ternary => {
            let mask = u128::from(rng.bits()) & max;
            KeyMatch::Ternary { value: value & mask, mask }
        }
        MatchKind::Range => {
            let other = u128::from(rng.bits()) & max;
            KeyMatch::Range { low: value.min(other), high: value.max(other) }
        }
        MatchKind::Optional => KeyMatch::Optional((!rng.once_in(3)).then_some(value)),
    }
}

/// Which statements may stand in the block that is being made.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    #[default]
    Parser,
    Control,
    Action,
}

#[derive(Default)]
struct Generator {
    rng: Rng,
    ir: Ir,
    /// Variables that statements read and write.
    pool: Vec<VarId>,
    /// Four `bit<8>` variables that are used far more often than the others, so that values meet; they end up in the mark.
    hot: Vec<VarId>,
    /// Headers that are not in stacks.
    plain: Vec<HeaderId>,
    stacks: Vec<StackId>,
    /// The table whose actions are being made, if it has a direct counter.
    direct: Option<CounterId>,
    open_labels: Vec<LabelId>,
    /// Loops around the statement that is made.
    loops: usize,
    place: Place,
    shape: Shape,
    /// Meters and registers that may still be used: packets of classes keep their order in one stage only.
    ordered_left: usize,
}

impl Default for Rng {
    fn default() -> Rng {
        Rng::new(0)
    }
}

impl Generator {
    fn headers(&mut self) {
        let ir = &mut self.ir;
        let base = ir.add_header_type("base_t", &[("a", 4), ("b", 12), ("c", 16)], None);
        let odd = ir.add_header_type("odd_t", &[("x", 1), ("y", 33), ("z", 3), ("w", 64), ("v", 3)], None);
        ir.header_types[odd].fields[1].ty = Ty::Int(33);
        let wide = ir.add_header_type("wide_t", &[("p", 3), ("q", 128), ("r", 5)], None);
        let option = ir.add_header_type("option_t", &[("len", 3), ("kind", 5)], Some(("data", 56)));
        let tag = ir.add_header_type("tag_t", &[("more", 1), ("v", 7)], None);
        for (name, ty) in [("h.base", base), ("h.odd", odd), ("h.wide", wide), ("h.option", option), ("h.base2", base)] {
            let h = self.ir.add_header(name, ty);
            self.plain.push(h);
        }
        for (name, ty) in [("h.u.tag", tag), ("h.u.base", base)] {
            let h = self.ir.add_header(name, ty);
            self.ir.headers[h].union = Some(0);
            self.plain.push(h);
        }
        if self.shape.cut() {
            let h = self.ir.add_header("h.option2", option);
            self.plain.push(h);
        }
        for name in ["h.tags", "h.spare"] {
            let s = self.ir.add_stack(name, tag, 3);
            self.stacks.push(s);
        }
    }

    fn vars(&mut self) {
        let types = [1, 3, 8, 16, 32, 48, 64, 100, 128].map(Ty::Bit).into_iter();
        let types = types.chain([8, 33, 128].map(Ty::Int)).chain([Ty::Bool; 3]).chain([Ty::Bit(8), Ty::Bit(32)]);
        for (i, ty) in types.enumerate() {
            let v = self.ir.add_var(&format!("meta.m{i}"), ty);
            self.pool.push(v);
        }
        let named = |ir: &mut Ir, name: &str, width| ir.add_var(name, Ty::Bit(width));
        let reason = named(&mut self.ir, "meta.reason", 8);
        let mark = named(&mut self.ir, "meta.mark", 32);
        let pdu = named(&mut self.ir, "meta.pdu", 16);
        self.ir.intrinsic.drop_reason = Some(reason);
        self.ir.intrinsic.mark = Some(mark);
        if !self.shape.cut() {
            self.ir.intrinsic.pdu_length = Some(pdu);
        }
        let standard = ["egress_spec", "packet_length", "parser_error", "checksum_error"].map(|n| self.ir.standard(n));
        self.hot = (0..4).map(|i| self.ir.add_var(&format!("meta.hot{i}"), Ty::Bit(8))).collect();
        self.pool.extend(&self.hot);
        self.pool.extend([reason, mark, pdu, standard[0], standard[1], standard[2], standard[3]]);
        if self.shape == Shape::Calls {
            self.pool.extend(["instance_type", "egress_rid", "egress_port"].map(|n| self.ir.standard(n)));
        }
        if self.shape.copies() {
            let i = &mut self.ir.intrinsic;
            i.field_lists.insert(0, self.hot[..2].to_vec());
            i.field_lists.insert(1, [&self.hot[1..], &self.pool[5..8], &self.pool[12..13]].concat());
            self.pool.extend(["instance_type", "egress_rid", "egress_port", "mcast_grp"].map(|n| self.ir.standard(n)));
        }
    }

    fn objects(&mut self) {
        let c = self.ir.add_counter("frames", 4, None);
        let p = self.ir.add_counter("pdus", 4, None);
        if !self.shape.cut() {
            self.ir.program.counters[p].length = LengthSource::Pdu;
        }
        self.ir.program.counters[c].unit = *self.rng.pick(&[CountUnit::Both, CountUnit::Packets, CountUnit::Bytes]);
        if self.shape.has_classes() || self.ordered_left > 0 {
            self.ir.add_meter("bytes", 4, CountUnit::Bytes);
            self.ir.add_meter("packets", 4, CountUnit::Packets);
            self.ir.add_register("small", 4, 8);
            self.ir.add_register("wide", 4, self.wide());
        }
        if self.shape.calls() {
            self.ir.add_service("answers", &[("a", 8), ("b", 3), ("c", 64)], &[("x", 8), ("y", 9), ("z", 1), ("w", 32)]);
            self.ir.add_service("rewrites", &[("a", 16)], &[("x", 8)]);
            self.ir.add_service("silent", &[], &[]);
        }
    }

    /// Width of the wider register.
    fn wide(&self) -> u32 {
        if self.shape.cut() { 64 } else { 128 }
    }

    fn tables(&mut self) {
        use MatchKind::*;
        let shapes: [&[MatchKind]; 5] = [&[Exact], &[Exact, Exact], &[Lpm, Exact], &[Ternary, Range, Exact], &[Optional, Lpm]];
        for i in 0..3 {
            let shape = *self.rng.pick(&shapes);
            self.direct = None;
            let counter = (i == 0 && self.rng.once_in(2)).then(|| self.ir.add_counter("direct", 1024, None));
            self.direct = counter;
            self.place = Place::Action;
            let mut actions = Vec::new();
            for j in 0..2 {
                let params: Vec<(String, u32)> =
                    (0..self.rng.below(3)).map(|k| (format!("p{k}"), *self.rng.pick(&[1, 3, 8, 9, 16, 128]))).collect();
                let params: Vec<(&str, u32)> = params.iter().map(|(n, w)| (n.as_str(), *w)).collect();
                let a = self.ir.add_action(&format!("t{i}_action{j}"), &params, |_, _| vec![]);
                actions.push(a);
                let params = self.ir.actions[a].params.clone();
                self.pool.extend(&params);
                self.ir.actions[a].body = self.stmts(6, 2);
                // Other blocks only read what the entry gave by way of the action.
                self.pool.truncate(self.pool.len() - params.len());
            }
            let miss = self.ir.add_action(&format!("t{i}_miss"), &[], |_, _| vec![]);
            self.ir.actions[miss].body = self.stmts(2, 1);
            let keys = shape.iter().map(|k| ("key", self.narrow(), *k)).collect();
            let t = self.ir.add_table(&format!("t{i}"), keys, &actions, miss);
            self.ir.program.tables[t].split = self.rng.once_in(2);
            if let Some(c) = counter {
                self.ir.program.counters[c].table = Some(t);
                self.ir.program.tables[t].direct_counter = Some(c);
            }
        }
        self.direct = None;
    }

    /// An expression of one to three bits.
    fn narrow(&mut self) -> Expr {
        let width = 1 + self.rng.below(3) as u32;
        self.expr(Ty::Bit(width), 2)
    }

    fn parser(&mut self) {
        self.place = Place::Parser;
        let (base, option) = (self.plain[0], self.plain[3]);
        let count = 6;
        let to = |rng: &mut Rng| match rng.below(8) {
            0 => Next::Accept,
            1 if rng.once_in(3) => Next::Reject,
            _ => Next::State(StateId::from_u32(rng.below(count) as u32)),
        };
        for i in 0..count {
            let mut body = self.stmts(2, 1);
            let what = match i {
                0 => Stmt::Extract { header: HeaderRef::Static(base), varbit_bits: None },
                1 => {
                    let len = Expr::field(&self.ir, option, "len").cast(Ty::Bit(32));
                    let bits = Expr::binary(BinOp::Shl, len, Expr::bit(8, 3));
                    body.push(Stmt::Extract { header: HeaderRef::Static(option), varbit_bits: Some(Expr::bit(32, 0)) });
                    Stmt::Extract { header: HeaderRef::Static(option), varbit_bits: Some(bits) }
                }
                2 => Stmt::Extract { header: HeaderRef::Next(self.stacks[0]), varbit_bits: None },
                _ => {
                    let h = *self.rng.pick(&[self.plain[1], self.plain[2], self.plain[4], self.plain[5], self.plain[6]]);
                    Stmt::Extract { header: HeaderRef::Static(h), varbit_bits: None }
                }
            };
            body.push(what);
            if self.rng.once_in(3) {
                let dst = LValue::Var(*self.rng.pick(&self.pool));
                body.push(Stmt::Lookahead(dst, 0));
            }
            if self.rng.once_in(4) {
                body.push(Stmt::Advance(Expr::bit(32, 8 * self.rng.below(3) as u128)));
            }
            if self.rng.once_in(4) {
                let cond = self.expr(Ty::Bool, 2);
                let code = self.rng.below(self.ir.program.errors.len()) as u128;
                body.push(Stmt::Verify(cond, Bits::new(32, code)));
            }
            let next = if self.rng.once_in(4) {
                Transition::Goto(to(&mut self.rng))
            } else {
                let mut keys = vec![self.last_tag_or_narrow()];
                if self.rng.once_in(2) {
                    keys.push(self.narrow());
                }
                let mut cases = Vec::new();
                for _ in 0..1 + self.rng.below(4) {
                    let sets = keys.iter().map(|k| self.key_set(k.ty.width())).collect();
                    cases.push(SelectCase { sets, next: to(&mut self.rng) });
                }
                if !self.rng.once_in(4) {
                    cases.push(SelectCase { sets: vec![KeySet::Any; keys.len()], next: to(&mut self.rng) });
                }
                Transition::Select { keys, cases }
            };
            self.ir.add_state(&format!("s{i}"), body, next);
        }
    }

    /// States that go forward and mark where ways end that count; each header is extracted once on every way, at a
    /// place that is known.
    fn parser_of_classes(&mut self) {
        self.place = Place::Parser;
        let mut headers: Vec<HeaderId> = [0, 1, 2, 4].map(|i| self.plain[i]).to_vec();
        let tags = self.ir.stacks[self.stacks[0]].elements.clone();
        headers.extend(&tags[..2]);
        if self.rng.once_in(4) {
            // One whose packets are of no class.
            headers.push(*self.rng.pick(&self.plain[5..7]));
        }
        for i in (1..headers.len()).rev() {
            let other = self.rng.below(i + 1);
            headers.swap(i, other);
        }
        let count = 2 + self.rng.below(headers.len() - 1);
        let mut left = headers.into_iter();
        let mut had: Vec<(HeaderId, u32, u32)> = Vec::new();
        for i in 0..count {
            let mut body = Vec::new();
            for h in left.by_ref().take(1 + usize::from(self.rng.once_in(5))) {
                body.push(Stmt::Extract { header: HeaderRef::Static(h), varbit_bits: None });
                let fields = &self.ir.header_types[self.ir.headers[h].ty].fields;
                had.extend(fields.iter().enumerate().map(|(f, field)| (h, f as u32, field.ty.width())));
            }
            for _ in 0..self.rng.below(3) {
                let v = *self.rng.pick(&self.pool);
                let ty = self.ir.vars[v].ty;
                body.push(if self.rng.once_in(4) && ty != Ty::Bool {
                    Stmt::Lookahead(LValue::Var(v), 0)
                } else {
                    let depth = self.rng.below(3);
                    Stmt::Assign(LValue::Var(v), self.expr(ty, depth))
                });
            }
            if self.rng.once_in(6) {
                let cond = self.expr(Ty::Bool, 1);
                body.push(Stmt::Verify(cond, Bits::new(32, 2)));
            }
            let to = |g: &mut Generator| match g.rng.below(12) {
                0 => Next::Accept,
                1 if g.rng.once_in(2) => Next::Reject,
                _ if i + 1 < count => Next::State(StateId::from_u32((i + 1 + g.rng.below(count - i - 1)) as u32)),
                _ => Next::Accept,
            };
            let next = if had.is_empty() || self.rng.once_in(4) {
                Transition::Goto(to(self))
            } else {
                let (h, field, width) = *self.rng.pick(&had);
                let ty = self.ir.header_types[self.ir.headers[h].ty].fields[field as usize].ty;
                let key = Expr { kind: ExprKind::Field(HeaderRef::Static(h), field), ty }.slice(width.min(2) - 1, 0);
                let mut cases = Vec::new();
                for _ in 0..1 + self.rng.below(3) {
                    cases.push(SelectCase { sets: vec![self.key_set(key.ty.width())], next: to(self) });
                }
                cases.push(SelectCase { sets: vec![KeySet::Any], next: to(self) });
                Transition::Select { keys: vec![key], cases }
            };
            let state = self.ir.add_state(&format!("s{i}"), body, next);
            self.ir.states[state].likely = match self.rng.below(8) {
                0 => None,
                1 if i > 0 && self.rng.once_in(3) => Some(false),
                _ => Some(true),
            };
        }
    }

    fn last_tag_or_narrow(&mut self) -> Expr {
        if self.rng.once_in(3) {
            return Expr { kind: ExprKind::Field(HeaderRef::Last(self.stacks[0]), 0), ty: Ty::Bit(1) };
        }
        self.narrow()
    }

    fn key_set(&mut self, width: u32) -> KeySet {
        let mut bits = || Bits::new(width, self.rng.bits().into());
        let (a, b) = (bits(), bits());
        match self.rng.below(4) {
            0 => KeySet::Any,
            1 => KeySet::Range { low: a.min(b), high: a.max(b) },
            2 => KeySet::Value { value: Bits::new(width, a.value() & b.value()), mask: b },
            _ => KeySet::Value { value: a, mask: Bits::new(width, u128::MAX) },
        }
    }

    fn pipeline(&mut self) {
        self.place = Place::Control;
        let base = self.plain[0];
        let sum = |ir: &Ir| vec![CheckData::Value(Expr::field(ir, base, "a")), CheckData::Value(Expr::field(ir, base, "b"))];
        let option = CheckData::Varbit(HeaderRef::Static(self.plain[3]), 2);
        if self.rng.once_in(2) {
            let mut data = sum(&self.ir);
            data.push(option.clone());
            let condition = self.expr(Ty::Bool, 1);
            let checksum = Expr::field(&self.ir, base, "c");
            let payload = self.rng.once_in(2);
            let algorithm = HashAlgorithm::Csum16;
            let verify = Extern::VerifyChecksum { condition, data, checksum, algorithm, payload };
            *self.ir.control_mut(Role::VerifyChecksum) = vec![Stmt::Extern(verify)];
        }
        let mut ingress = self.stmts(14, 3);
        let spec = self.ir.standard("egress_spec");
        let port = *self.rng.pick(&[1, 2, 3, 4, 509, 510]);
        ingress.insert(0, Stmt::Assign(LValue::Var(spec), Expr::bit(9, port)));
        for table in self.ir.program.tables.keys().collect::<Vec<_>>() {
            let at = 1 + self.rng.below(ingress.len());
            ingress.insert(at, self.apply(table));
        }
        if self.shape.calls() && self.rng.once_in(2) {
            let at = 1 + self.rng.below(ingress.len());
            ingress.insert(at, self.call());
        }
        if self.shape == Shape::CallsAndCopies {
            let at = 1 + self.rng.below(ingress.len());
            ingress.insert(at, self.round());
        }
        *self.ir.ingress_mut() = ingress;
        *self.ir.egress_mut() = self.stmts(8, 2);
        let hot = self.hot.iter().map(|v| Expr::var(&self.ir, *v));
        let join = |a: Expr, b: Expr| Expr { ty: Ty::Bit(a.ty.width() + 8), kind: ExprKind::Concat(Box::new(a), Box::new(b)) };
        if let (Some(all), Some(mark)) = (hot.reduce(join), self.ir.intrinsic.mark) {
            self.ir.egress_mut().push(Stmt::Assign(LValue::Var(mark), all));
        }
        if self.rng.once_in(2) {
            let mut data = sum(&self.ir);
            data.insert(1, option);
            let condition = self.expr(Ty::Bool, 1);
            let checksum = LValue::field(&self.ir, base, "c");
            let algorithm = *self.rng.pick(&[HashAlgorithm::Csum16, HashAlgorithm::Crc32]);
            let update = Extern::UpdateChecksum { condition, data, checksum, algorithm, payload: self.rng.once_in(2) };
            *self.ir.control_mut(Role::ComputeChecksum) = vec![Stmt::Extern(update)];
        }
        if self.shape.has_classes() {
            return self.ends_of_classes();
        }
        *self.ir.deparser_mut() = self.plain.iter().map(|h| Stmt::Emit(HeaderRef::Static(*h))).collect();
        for s in self.stacks.clone() {
            let elements = self.ir.stacks[s].elements.clone();
            self.ir.deparser_mut().extend(elements.into_iter().map(|h| Stmt::Emit(HeaderRef::Static(h))));
        }
    }

    /// A checksum of a header that is often made, and a deparser that emits headers in any order.
    fn ends_of_classes(&mut self) {
        for h in [self.plain[4], self.plain[6]] {
            if self.rng.once_in(2) {
                let valid = Expr { kind: ExprKind::IsValid(HeaderRef::Static(h)), ty: Ty::Bool };
                let condition = if self.rng.once_in(4) { self.expr(Ty::Bool, 1) } else { valid };
                let mut data = vec![CheckData::Value(Expr::field(&self.ir, h, "a")), CheckData::Value(Expr::field(&self.ir, h, "b"))];
                if self.rng.once_in(3) {
                    data.push(CheckData::Value(self.any_number()));
                }
                let checksum = LValue::field(&self.ir, h, "c");
                let algorithm = HashAlgorithm::Csum16;
                let update = Extern::UpdateChecksum { condition, data, checksum, algorithm, payload: self.rng.once_in(6) };
                self.ir.control_mut(Role::ComputeChecksum).push(Stmt::Extern(update));
            }
        }
        let stacks = self.stacks.iter().flat_map(|s| self.ir.stacks[*s].elements.clone());
        let mut order: Vec<HeaderId> = self.plain.iter().copied().chain(stacks).collect();
        for _ in 0..self.rng.below(4) {
            let (a, b) = (self.rng.below(order.len()), self.rng.below(order.len()));
            order.swap(a, b);
        }
        order.truncate(order.len() - self.rng.below(3));
        *self.ir.deparser_mut() = order.into_iter().map(|h| Stmt::Emit(HeaderRef::Static(h))).collect();
        if self.rng.once_in(6) {
            let cond = self.expr(Ty::Bool, 1);
            let last = self.ir.deparser_mut().pop().into_iter().collect();
            self.ir.deparser_mut().push(Stmt::If(cond, last, vec![]));
        }
    }

    /// A number of whole bytes.
    fn any_number(&mut self) -> Expr {
        let width = *self.rng.pick(&[8, 16, 32, 48]);
        self.expr(Ty::Bit(width), 1)
    }

    fn apply(&mut self, table: TableId) -> Stmt {
        let of = |ty: Ty, g: &Generator| g.pool.iter().copied().filter(|v| g.ir.vars[*v].ty == ty).collect::<Vec<_>>();
        let (bools, words) = (of(Ty::Bool, self), of(Ty::Bit(32), self));
        let hit = self.rng.once_in(2).then(|| *self.rng.pick(&bools));
        // `packet_length` is among the words: writing it is legal.
        let action_run = self.rng.once_in(3).then(|| *self.rng.pick(&words));
        Stmt::Apply { table, hit, action_run }
    }

    fn stmts(&mut self, count: usize, depth: usize) -> Block {
        let count = self.rng.below(count + 1);
        (0..count).map(|_| self.stmt(depth)).collect()
    }

    fn stmt(&mut self, depth: usize) -> Stmt {
        match self.rng.below(if depth == 0 { 12 } else { 17 }) {
            0..=4 => {
                let (dst, ty) = self.lvalue();
                let depth = self.rng.below(4);
                let value = self.expr(ty, depth);
                Stmt::Assign(dst, value)
            }
            5 => Stmt::SetValid(self.header(), !self.rng.once_in(3)),
            6 => self.copy(),
            7 if self.shape.has_classes() => Stmt::SetValid(self.header(), true),
            7 => {
                let (s, n) = (*self.rng.pick(&self.stacks), self.rng.below(5) as u32);
                if self.rng.once_in(2) { Stmt::Push(s, n) } else { Stmt::Pop(s, n) }
            }
            8 if self.rng.once_in(3) && self.place != Place::Parser => Stmt::Exit,
            9 if !self.open_labels.is_empty() => Stmt::Break(*self.rng.pick(&self.open_labels)),
            8..=11 => self.external(),
            12 | 13 => {
                let cond = self.expr(Ty::Bool, 2);
                Stmt::If(cond, self.stmts(3, depth - 1), self.stmts(2, depth - 1))
            }
            14 => {
                let on = self.narrow();
                let width = on.ty.width();
                let mut cases = Vec::new();
                for _ in 0..self.rng.below(3) {
                    let values = (0..1 + self.rng.below(2)).map(|_| Bits::new(width, self.rng.bits().into())).collect();
                    cases.push((values, self.stmts(2, depth - 1)));
                }
                Stmt::Switch { on, cases, default: self.stmts(2, depth - 1) }
            }
            15 => {
                let label = self.ir.add_label("block");
                self.open_labels.push(label);
                let body = self.stmts(4, depth - 1);
                self.open_labels.pop();
                Stmt::Labeled(label, body)
            }
            _ if self.shape.has_classes() => Stmt::SetValid(self.header(), true),
            _ => self.counted_loop(depth - 1),
        }
    }

    /// A loop of up to four rounds, on a variable of its own.
    fn counted_loop(&mut self, depth: usize) -> Stmt {
        let label = self.ir.add_label("loop");
        let i = self.ir.add_var("i", Ty::Bit(4));
        let at = Expr::var(&self.ir, i);
        let rounds = Expr::bit(4, self.rng.below(5) as u128);
        let done = Expr::binary(BinOp::Ge, at.clone(), rounds);
        let next = Expr::binary(BinOp::AddSat, at, Expr::bit(4, 1));
        let mut body = vec![Stmt::If(done, vec![Stmt::Break(label)], vec![]), Stmt::Assign(LValue::Var(i), next)];
        self.open_labels.push(label);
        self.loops += 1;
        body.extend(self.stmts(2, depth));
        self.loops -= 1;
        self.open_labels.pop();
        Stmt::Labeled(label, vec![Stmt::Assign(LValue::Var(i), Expr::bit(4, 0)), Stmt::Loop(body)])
    }

    fn copy(&mut self) -> Stmt {
        if self.shape.cut() && self.rng.once_in(3) {
            let (a, b) = (HeaderRef::Static(self.plain[3]), HeaderRef::Static(self.plain[7]));
            return if self.rng.once_in(2) { Stmt::CopyVarbit { dst: a, src: b } } else { Stmt::CopyVarbit { dst: b, src: a } };
        }
        if !self.shape.has_classes() && self.rng.once_in(4) {
            return Stmt::CopyStack { dst: self.stacks[1], src: self.stacks[0] };
        }
        let dst = self.header();
        let ty = self.ir.type_of(&dst);
        for _ in 0..20 {
            let src = self.header();
            if self.ir.type_of(&src) == ty {
                return Stmt::CopyHeader { dst, src };
            }
        }
        Stmt::CopyHeader { src: dst.clone(), dst }
    }

    fn external(&mut self) -> Stmt {
        if self.place == Place::Parser {
            let (dst, ty) = self.lvalue();
            return Stmt::Assign(dst, self.expr(ty, 2));
        }
        if let Some(c) = self.direct
            && self.rng.once_in(2)
        {
            return Stmt::Extern(Extern::DirectCount(c));
        }
        if self.shape.calls() && self.place == Place::Control && self.loops == 0 && self.rng.once_in(2) {
            return self.call();
        }
        if self.shape.copies() && self.rng.once_in(3) {
            return self.round();
        }
        let index = self.narrow();
        let indexed: Vec<CounterId> = self.ir.program.counters.keys().filter(|c| self.ir.program.counters[*c].name != "direct").collect();
        let mut what = self.rng.below(7);
        if (2..=4).contains(&what) {
            if self.ordered_left == 0 {
                what = 1;
            } else {
                self.ordered_left -= 1;
            }
        }
        Stmt::Extern(match what {
            6 if self.rng.once_in(2) => Extern::MarkToDrop,
            0 | 1 => Extern::Count { counter: *self.rng.pick(&indexed), index },
            2 => {
                let meters: Vec<MeterId> = self.ir.program.meters.keys().collect();
                Extern::Meter { meter: *self.rng.pick(&meters), index, result: LValue::Var(self.pool[2]) }
            }
            3 => {
                let wide = if self.shape.cut() { 6 } else { 8 };
                let (register, result) = if self.rng.once_in(2) { (0, self.pool[2]) } else { (1, self.pool[wide]) };
                Extern::RegisterRead { register: RegisterId::from_u32(register), index, result: LValue::Var(result) }
            }
            4 => {
                let (register, width) = if self.rng.once_in(2) { (0, 8) } else { (1, self.wide()) };
                let value = self.expr(Ty::Bit(width), 2);
                Extern::RegisterWrite { register: RegisterId::from_u32(register), index, value }
            }
            _ => {
                let all =
                    [HashAlgorithm::Csum16, HashAlgorithm::Xor16, HashAlgorithm::Crc16, HashAlgorithm::Crc32, HashAlgorithm::Identity];
                let algorithm = *self.rng.pick(&all);
                let data = (0..self.rng.below(3)).map(|_| self.any_expr(1)).collect();
                let (base, max) = (self.expr(Ty::Bit(16), 1), self.expr(Ty::Bit(16), 1));
                Extern::Hash { result: LValue::Var(self.pool[3]), algorithm, base, data, max }
            }
        })
    }

    /// A call of a service, now and then without an answer.
    fn call(&mut self) -> Stmt {
        let services: Vec<ServiceId> = self.ir.program.services.keys().collect();
        let service = *self.rng.pick(&services);
        let info = self.ir.program.services[service].clone();
        let request = info.request.iter().map(|f| self.expr(Ty::Bit(f.width), 2)).collect();
        let waits = !self.rng.once_in(4);
        let place = |g: &mut Generator, width: u32| {
            let fits: Vec<VarId> = g.pool.iter().copied().filter(|v| g.ir.vars[*v].ty.width() == width).collect();
            match g.rng.below(3) {
                0 => {
                    for _ in 0..20 {
                        let (h, i, ty) = g.field();
                        if ty.width() == width {
                            return LValue::Field(h, i);
                        }
                    }
                    LValue::Var(*g.rng.pick(&fits))
                }
                1 if width < 16 => LValue::Slice(Box::new(LValue::Var(g.pool[4])), width, 1),
                _ => LValue::Var(*g.rng.pick(&fits)),
            }
        };
        let answer = waits.then(|| info.answer.iter().map(|f| place(self, f.width)).collect());
        Stmt::Extern(Extern::Service { service, request, answer })
    }

    /// A clone, a group, another round.
    fn round(&mut self) -> Stmt {
        if self.rng.once_in(4) {
            let group = self.ir.standard("mcast_grp");
            return Stmt::Assign(LValue::Var(group), Expr::bit(16, self.rng.below(4) as u128));
        }
        let kind = *self.rng.pick(&[
            Replicate::CloneI2E,
            Replicate::CloneI2E,
            Replicate::CloneE2E,
            Replicate::CloneE2E,
            Replicate::Resubmit,
            Replicate::Recirculate,
        ]);
        let session = matches!(kind, Replicate::CloneI2E | Replicate::CloneE2E).then(|| Expr::bit(32, self.rng.below(4) as u128));
        let fields = (!self.rng.once_in(3)).then(|| Expr::bit(8, self.rng.below(3) as u128));
        Stmt::Extern(Extern::Replicate { kind, session, fields })
    }

    fn header(&mut self) -> HeaderRef {
        if self.rng.once_in(4) {
            let s = *self.rng.pick(&self.stacks);
            return match self.rng.below(4) {
                0 if self.place == Place::Parser && !self.shape.has_classes() => HeaderRef::Last(s),
                1 if !self.shape.has_classes() => HeaderRef::Index(s, Box::new(self.expr(Ty::Bit(3), 1))),
                _ => HeaderRef::Static(*self.rng.pick(&self.ir.stacks[s].elements)),
            };
        }
        HeaderRef::Static(*self.rng.pick(&self.plain))
    }

    /// A field that is a number, with its type.
    fn field(&mut self) -> (HeaderRef, u32, Ty) {
        let h = self.header();
        let fields = self.ir.type_of(&h).map(|t| &self.ir.header_types[t].fields);
        let numbers: Vec<(u32, Ty)> =
            fields.into_iter().flatten().enumerate().filter(|(_, f)| !f.varbit).map(|(i, f)| (i as u32, f.ty)).collect();
        let (i, ty) = *self.rng.pick(&numbers);
        (h, i, ty)
    }

    fn lvalue(&mut self) -> (LValue, Ty) {
        let (l, ty) = if self.rng.once_in(2) {
            (LValue::Var(*self.rng.pick(&self.hot)), Ty::Bit(8))
        } else if self.rng.once_in(2) {
            let v = *self.rng.pick(&self.pool);
            (LValue::Var(v), self.ir.vars[v].ty)
        } else {
            let (h, i, ty) = self.field();
            (LValue::Field(h, i), ty)
        };
        if ty == Ty::Bool || !self.rng.once_in(5) {
            return (l, ty);
        }
        let (hi, lo) = self.bounds(ty.width());
        (LValue::Slice(Box::new(l), hi, lo), Ty::Bit(hi - lo + 1))
    }

    fn bounds(&mut self, width: u32) -> (u32, u32) {
        let (a, b) = (self.rng.below(width as usize) as u32, self.rng.below(width as usize) as u32);
        (a.max(b), a.min(b))
    }

    fn any_expr(&mut self, depth: usize) -> Expr {
        let ty = self.ir.vars[*self.rng.pick(&self.pool)].ty;
        self.expr(ty, depth)
    }

    fn expr(&mut self, ty: Ty, depth: usize) -> Expr {
        if depth == 0 || self.rng.once_in(5) {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        if self.rng.once_in(8) {
            let (c, a, b) = (self.expr(Ty::Bool, depth), self.expr(ty, depth), self.expr(ty, depth));
            return Expr { kind: ExprKind::Mux(Box::new(c), Box::new(a), Box::new(b)), ty };
        }
        match ty {
            Ty::Bool => self.bool_expr(depth),
            Ty::Bit(width) | Ty::Int(width) => self.number_expr(ty, width, depth),
        }
    }

    fn bool_expr(&mut self, depth: usize) -> Expr {
        match self.rng.below(6) {
            0 => Expr::unary(UnOp::Not, self.expr(Ty::Bool, depth)),
            1 => {
                let op = *self.rng.pick(&[BinOp::LAnd, BinOp::LOr, BinOp::Eq, BinOp::Ne]);
                Expr::binary(op, self.expr(Ty::Bool, depth), self.expr(Ty::Bool, depth))
            }
            2 if self.shape.cut() && self.rng.once_in(3) => {
                let (a, b) = (HeaderRef::Static(self.plain[3]), HeaderRef::Static(self.plain[7]));
                Expr { kind: ExprKind::VarbitEq(a, b), ty: Ty::Bool }
            }
            2 => Expr { kind: ExprKind::IsValid(self.header()), ty: Ty::Bool },
            3 => self.expr(Ty::Bit(1), depth).cast(Ty::Bool),
            _ => {
                let a = self.any_expr(depth);
                let ops = [BinOp::Eq, BinOp::Ne, BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ge];
                let op = *self.rng.pick(if a.ty == Ty::Bool { &ops[..2] } else { &ops[..] });
                let b = self.expr(a.ty, depth);
                Expr::binary(op, a, b)
            }
        }
    }

    fn number_expr(&mut self, ty: Ty, width: u32, depth: usize) -> Expr {
        match self.rng.below(12) {
            0 => {
                let op = *self.rng.pick(&[UnOp::Neg, UnOp::BitNot]);
                Expr::unary(op, self.expr(ty, depth))
            }
            1 => {
                let amount = self.expr(Ty::Bit(8), depth);
                let op = *self.rng.pick(&[BinOp::Shl, BinOp::Shr]);
                Expr::binary(op, self.expr(ty, depth), amount)
            }
            2 | 3 => {
                let from = self.any_expr(depth);
                if from.ty != Ty::Bool || ty == Ty::Bit(1) { from.cast(ty) } else { from.cast(Ty::Bit(1)).cast(ty) }
            }
            4 if width > 1 => {
                let low = 1 + self.rng.below(width as usize - 1) as u32;
                let high = if matches!(ty, Ty::Int(_)) { Ty::Int(width - low) } else { Ty::Bit(width - low) };
                let (a, b) = (self.expr(high, depth), self.expr(Ty::Bit(low), depth));
                Expr { kind: ExprKind::Concat(Box::new(a), Box::new(b)), ty }
            }
            5 | 6 if ty == Ty::Bit(width) => {
                let room = base::MAX_WIDTH - width;
                let extra = self.rng.below(room as usize + 1) as u32;
                let lo = self.rng.below(extra as usize + 1) as u32;
                self.expr(Ty::Bit(width + extra), depth).slice(lo + width - 1, lo)
            }
            _ => {
                use BinOp::*;
                let ops = [Add, Sub, Mul, AddSat, SubSat, And, Or, Xor, Div, Mod];
                // Division is for `bit` only.
                let ops = if matches!(ty, Ty::Int(_)) { &ops[..8] } else { &ops[..] };
                let op = *self.rng.pick(ops);
                Expr::binary(op, self.expr(ty, depth), self.expr(ty, depth))
            }
        }
    }

    /// A constant, variable or field of that type; a constant where there is nothing else.
    fn leaf(&mut self, ty: Ty) -> Expr {
        if ty == Ty::Bit(8) && !self.rng.once_in(3) {
            let v = *self.rng.pick(&self.hot);
            return Expr::var(&self.ir, v);
        }
        for _ in 0..6 {
            let e = match self.rng.below(5) {
                0 => break,
                1 | 2 => {
                    let (h, i, ty) = self.field();
                    Expr { kind: ExprKind::Field(h, i), ty }
                }
                3 if ty == Ty::Bit(32) && self.shape.cut() && self.place != Place::Parser => {
                    Expr { kind: ExprKind::VarbitBits(HeaderRef::Static(self.plain[3]), 2), ty }
                }
                3 if ty == Ty::Bit(32) => match self.rng.below(3) {
                    0 | 1 if self.shape.has_classes() => continue,
                    0 => Expr { kind: ExprKind::LastIndex(*self.rng.pick(&self.stacks)), ty },
                    1 => Expr { kind: ExprKind::NextIndex(*self.rng.pick(&self.stacks)), ty },
                    _ => Expr { kind: ExprKind::VarbitBits(HeaderRef::Static(self.plain[3]), 2), ty },
                },
                _ => {
                    let v = *self.rng.pick(&self.pool);
                    Expr::var(&self.ir, v)
                }
            };
            if e.ty == ty {
                return e;
            }
        }
        Expr::constant(ty, self.rng.value(ty.width()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_keep_the_invariants_and_are_the_same_for_a_seed() {
        for seed in 0..500 {
            let ir = shaped(seed, Shape::Copies);
            assert_eq!(verify(&ir), Ok(()), "seed {seed}\n{ir}");
            copies(seed).ops.iter().enumerate().for_each(|(i, op)| assert_eq!(ir.program.check_op(i, op), Ok(())));
            for shape in [Shape::Classes, Shape::ClassesAndCalls] {
                let ir = shaped(seed, shape);
                assert_eq!(verify(&ir), Ok(()), "seed {seed}\n{ir}");
            }
            let ir = program(seed);
            assert_eq!(verify(&ir), Ok(()), "seed {seed}\n{ir}");
            if seed % 50 == 0 {
                assert_eq!(ir.to_string(), program(seed).to_string());
                assert_ne!(ir.to_string(), program(seed + 1).to_string());
            }
            for (i, op) in entries(&ir, seed).ops.iter().enumerate() {
                assert_eq!(ir.program.check_op(i, op), Ok(()));
            }
        }
    }

    #[test]
    fn programs_use_the_whole_language() {
        let mut text = String::new();
        for seed in 0..200 {
            text.push_str(&program(seed).to_string());
            text.push_str(&shaped(seed, Shape::Copies).to_string());
        }
        let words = [
            "|+|",
            "|-|",
            ">>",
            "++",
            "?",
            ".last.",
            ".lastIndex",
            ".nextIndex",
            "sizeInBits",
            "setInvalid",
            "copy header",
            "copy stack",
            "push_front",
            "pop_front",
            "switch",
            "break",
            "loop",
            "exit",
            "hit ",
            "action_run",
            "varbit",
            "advance",
            "lookahead",
            "verify ",
            "execute",
            ".read(",
            ".write(",
            "hash",
            "verify_checksum",
            "update_checksum",
            "with_payload",
            "direct.count()",
            "split",
            "(int<",
            "] = ",
            "clone",
            "resubmit",
            "recirculate",
            "mcast_grp = ",
            "copy varbit",
            "(varbit ",
            "@field_list(1)",
        ];
        for word in words {
            assert!(text.contains(word), "no program has {word:?}");
        }
    }
}
