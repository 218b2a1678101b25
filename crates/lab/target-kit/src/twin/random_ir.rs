//! Random programs that use every construct the emitter knows, and packets that their parsers like.

use base::{Bits, PortId};
use p4_ir::*;
use program::{CountUnit, MatchKind};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const WIDTHS: [u32; 22] = [1, 2, 3, 7, 8, 9, 13, 16, 17, 24, 31, 32, 33, 40, 48, 56, 63, 64, 65, 100, 127, 128];

/// Makes programs.
pub struct Maker {
    rng: ChaCha8Rng,
    ir: Ir,
    /// What statements may use.
    scope: Scope,
    labels: Vec<LabelId>,
    budget: u32,
    tables_left: Vec<TableId>,
    /// Without what keeps packets from being of a class: stacks, loops, `truncate`, states that do much.
    plain: bool,
    /// So many more uses of a meter, a register or random numbers.
    ordered_left: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    Parser,
    Control,
    Action,
    Checksum,
    Deparser,
}

/// A random program.
pub fn random_ir(rng: ChaCha8Rng) -> Ir {
    random(rng, false)
}

/// One whose packets may be of classes: its states are marked, and nothing that classes exclude is frequent.
pub fn random_ir_with_classes(mut rng: ChaCha8Rng) -> Ir {
    let mut ir = random(ChaCha8Rng::from_seed(rng.random()), true);
    let share = rng.random_range(0.3..1.0);
    for (_, state) in &mut ir.states {
        state.likely = if rng.random_bool(share) { Some(true) } else { rng.random_bool(0.1).then_some(false) };
    }
    ir
}

fn random(mut rng: ChaCha8Rng, plain: bool) -> Ir {
    let ordered_left = if plain { rng.random_range(0..2) } else { u32::MAX };
    let ir = Ir::v1model("random.p4");
    let mut m = Maker { rng, ir, scope: Scope::Control, labels: vec![], budget: 0, tables_left: vec![], plain, ordered_left };
    m.declare();
    if plain {
        m.plain_parser();
    } else {
        m.parser();
    }
    m.actions_and_tables();
    m.scope = Scope::Checksum;
    *m.ir.control_mut(Role::VerifyChecksum) = m.checksums(false);
    *m.ir.control_mut(Role::ComputeChecksum) = m.checksums(true);
    m.scope = Scope::Control;
    m.tables_left = m.ir.tables.keys().collect();
    let mut ingress = m.block(60, 4);
    if m.chance(0.5) {
        let spec = m.ir.standard("egress_spec");
        let port = m.rng.random_range(500..512u32);
        ingress.push(Stmt::Assign(LValue::Var(spec), Expr::bit(9, port.into())));
    }
    *m.ir.ingress_mut() = ingress;
    *m.ir.egress_mut() = m.block(20, 3);
    m.scope = Scope::Deparser;
    m.deparser();
    m.ir
}

impl Maker {
    fn chance(&mut self, p: f64) -> bool {
        self.rng.random_bool(p)
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.random_range(0..of.len())]
    }

    fn number(&mut self, width: u32) -> u128 {
        let all = Bits::mask(width);
        match self.rng.random_range(0..5) {
            0 => 0,
            1 => all,
            2 | 3 => self.rng.random_range(0..8u128) & all,
            _ => self.rng.random::<u128>() & all,
        }
    }

    fn declare(&mut self) {
        for i in 0..self.rng.random_range(2..6) {
            let mut fields = Vec::new();
            let mut bits = 0;
            for f in 0..self.rng.random_range(1..7) {
                let width = self.pick(&WIDTHS);
                fields.push((format!("f{f}"), width));
                bits += width;
            }
            if bits % 8 != 0 {
                fields.push(("pad".into(), 8 - bits % 8));
            }
            let fields: Vec<_> = fields.iter().map(|(n, w)| (&n[..], *w)).collect();
            let varbit = self.chance(if self.plain { 0.05 } else { 0.3 }).then_some(("rest", 8 * self.rng.random_range(1..40)));
            self.ir.add_header_type(&format!("t{i}"), &fields, varbit);
        }
        let types: Vec<_> = self.ir.header_types.keys().collect();
        for i in 0..self.rng.random_range(2..7) {
            let ty = self.pick(&types);
            self.ir.add_header(&format!("hdr.h{i}"), ty);
        }
        if self.chance(if self.plain { 0.05 } else { 0.3 }) {
            for i in 0..2 {
                let ty = self.pick(&types);
                let h = self.ir.add_header(&format!("hdr.u.m{i}"), ty);
                self.ir.headers[h].union = Some(0);
            }
        }
        for i in 0..if self.plain { 0 } else { self.rng.random_range(0..3) } {
            let ty = self.pick(&types);
            self.ir.add_stack(&format!("hdr.s{i}"), ty, 1 + i + 1);
        }
        for i in 0..self.rng.random_range(6..16) {
            let width = self.pick(&WIDTHS);
            let ty = match self.rng.random_range(0..8) {
                0 => Ty::Bool,
                1 => Ty::Int(width.max(2)),
                _ => Ty::Bit(width),
            };
            self.ir.add_var(&format!("meta.v{i}"), ty);
        }
        let reason = self.ir.add_var("meta.reason", Ty::Bit(8));
        let mark = self.ir.add_var("meta.mark", Ty::Bit(32));
        let pdu = self.ir.add_var("meta.pdu", Ty::Bit(32));
        self.ir.intrinsic.drop_reason = Some(reason);
        self.ir.intrinsic.mark = Some(mark);
        self.ir.intrinsic.pdu_length = Some(pdu);
        for i in 0..self.rng.random_range(0..3) {
            let unit = self.pick(&[CountUnit::Packets, CountUnit::Bytes, CountUnit::Both]);
            let size = self.pick(&[1, 8, 2000]);
            let c = self.ir.add_counter(&format!("c{i}"), size, None);
            self.ir.program.counters[c].unit = unit;
            if self.chance(0.5) {
                self.ir.program.counters[c].length = program::LengthSource::Pdu;
            }
        }
        if self.chance(0.4) {
            let unit = self.pick(&[CountUnit::Packets, CountUnit::Bytes]);
            self.ir.add_meter("m0", 4, unit);
        }
        if self.chance(0.4) {
            let width = self.pick(&[1, 8, 32, 48, 64, 65, 100, 128]);
            self.ir.add_register("r0", 5, width);
        }
    }

    /// States in a row with jumps forward, and sometimes back.
    fn parser(&mut self) {
        self.scope = Scope::Parser;
        let n = self.rng.random_range(2..7u32);
        let mut headers: Vec<HeaderRef> = self.ir.headers.keys().map(HeaderRef::Static).collect();
        headers.extend(self.ir.stacks.keys().flat_map(|s| [HeaderRef::Next(s), HeaderRef::Next(s)]));
        for i in 0..n {
            let mut body = Vec::new();
            for _ in 0..self.rng.random_range(0..3) {
                let header = headers[self.rng.random_range(0..headers.len())].clone();
                let ty = self.ir.type_of(&header).unwrap();
                let varbit = self.ir.header_types[ty].fields.iter().any(|f| f.varbit);
                let varbit_bits = varbit.then(|| {
                    let bytes = self.expr(Ty::Bit(8), 1);
                    let narrow = Expr::binary(BinOp::And, bytes, Expr::bit(8, 0x0f)).cast(Ty::Bit(32));
                    if self.chance(0.9) { Expr::binary(BinOp::Shl, narrow, Expr::bit(8, 3)) } else { narrow }
                });
                body.push(Stmt::Extract { header, varbit_bits });
            }
            body.extend(self.block(3, 1));
            if self.chance(0.2) {
                let bytes = self.rng.random_range(0..3);
                body.push(Stmt::Advance(Expr::bit(32, bytes * 8 + u128::from(self.rng.random_bool(0.1)))));
            }
            if self.chance(0.3) {
                let v = self.some_var();
                body.push(Stmt::Lookahead(LValue::Var(v), self.rng.random_range(0..3)));
            }
            if self.chance(0.2) {
                let condition = self.expr(Ty::Bool, 2);
                body.push(Stmt::Verify(condition, Bits::new(32, 2)));
            }
            let next = self.transition(i, n);
            self.ir.add_state(&format!("s{i}"), body, next);
        }
    }

    /// States that extract headers they have not had, and go by the low bits of what they have.
    fn plain_parser(&mut self) {
        self.scope = Scope::Parser;
        let mut headers: Vec<HeaderId> = self.ir.headers.keys().collect();
        let mut had: Vec<HeaderId> = Vec::new();
        let n = self.rng.random_range(2..6u32);
        for i in 0..n {
            let mut body = Vec::new();
            for _ in 0..self.rng.random_range(1..3) {
                if headers.is_empty() {
                    break;
                }
                let h = headers.swap_remove(self.rng.random_range(0..headers.len()));
                let varbit = self.ir.header_types[self.ir.headers[h].ty].fields.iter().any(|f| f.varbit);
                let varbit_bits = varbit.then(|| Expr::bit(32, 16));
                body.push(Stmt::Extract { header: HeaderRef::Static(h), varbit_bits });
                had.push(h);
            }
            for _ in 0..self.rng.random_range(0..3) {
                let v = self.some_var();
                let value =
                    if self.chance(0.5) { Expr::constant(self.ir.vars[v].ty, self.rng.random()) } else { self.expr(self.ir.vars[v].ty, 1) };
                body.push(Stmt::Assign(LValue::Var(v), value));
            }
            if self.chance(0.3) {
                let v = self.some_var();
                body.push(Stmt::Lookahead(LValue::Var(v), self.rng.random_range(0..3)));
            }
            let mut next = Transition::Goto(self.next(i, n));
            let from = had.get(self.rng.random_range(0..had.len().max(1))).copied();
            let field = from.and_then(|h| {
                let f = &self.ir.header_types[self.ir.headers[h].ty].fields[0];
                (!f.varbit).then(|| (Expr { kind: ExprKind::Field(HeaderRef::Static(h), 0), ty: f.ty }, f.ty.width()))
            });
            if let Some((key, width)) = field {
                let key = if width > 2 { key.slice(1, 0) } else { key };
                let width = width.min(2);
                let cases = (0..3).map(|c| {
                    let value = KeySet::Value { value: Bits::new(width, c), mask: Bits::new(width, u128::MAX) };
                    SelectCase { sets: vec![if c == 2 { KeySet::Any } else { value }], next: self.next(i, n) }
                });
                next = Transition::Select { keys: vec![key], cases: cases.collect() };
            }
            self.ir.add_state(&format!("s{i}"), body, next);
        }
    }

    fn transition(&mut self, at: u32, n: u32) -> Transition {
        if self.chance(0.3) {
            return Transition::Goto(self.next(at, n));
        }
        let keys: Vec<Expr> = (0..self.rng.random_range(1..4))
            .map(|_| {
                let width = self.pick(&WIDTHS);
                let e = self.expr(Ty::Bit(width), 1);
                if width > 3 && self.chance(0.6) { e.slice(2, 0) } else { e }
            })
            .collect();
        let mut cases = Vec::new();
        for _ in 0..self.rng.random_range(1..5) {
            let sets = keys
                .iter()
                .map(|k| {
                    let width = k.ty.width();
                    match self.rng.random_range(0..5) {
                        0 => KeySet::Any,
                        1 => {
                            let mask = self.number(width);
                            KeySet::Value { value: Bits::new(width, self.number(width) & mask), mask: Bits::new(width, mask) }
                        }
                        2 => {
                            let (a, b) = (self.number(width), self.number(width));
                            KeySet::Range { low: Bits::new(width, a.min(b)), high: Bits::new(width, a.max(b)) }
                        }
                        _ => KeySet::Value { value: Bits::new(width, self.number(width)), mask: Bits::new(width, u128::MAX) },
                    }
                })
                .collect();
            let next = self.next(at, n);
            cases.push(SelectCase { sets, next });
        }
        if self.chance(0.7) {
            let next = self.next(at, n);
            cases.push(SelectCase { sets: keys.iter().map(|_| KeySet::Any).collect(), next });
        }
        Transition::Select { keys, cases }
    }

    fn next(&mut self, at: u32, n: u32) -> Next {
        match self.rng.random_range(0..20) {
            0 => Next::Reject,
            1 => Next::Accept,
            2 => Next::State(StateId::from_u32(self.rng.random_range(0..n))),
            _ if at + 1 < n => Next::State(StateId::from_u32(self.rng.random_range(at + 1..n))),
            _ => Next::Accept,
        }
    }

    fn actions_and_tables(&mut self) {
        let n = self.rng.random_range(1..5);
        let kinds = [MatchKind::Exact, MatchKind::Exact, MatchKind::Lpm, MatchKind::Ternary, MatchKind::Range, MatchKind::Optional];
        for i in 0..n {
            self.scope = Scope::Control;
            let mut keys = Vec::new();
            let mut lpm = false;
            for k in 0..self.rng.random_range(0..4) {
                let width = self.pick(&WIDTHS);
                let e = self.expr(Ty::Bit(width), 1);
                let mut kind = self.pick(&kinds);
                if kind == MatchKind::Lpm && std::mem::replace(&mut lpm, true) {
                    kind = MatchKind::Exact;
                }
                keys.push((["k0", "k1", "k2", "k3"][k], e, kind));
            }
            let mut actions = vec![self.ir.add_action(&format!("nothing{i}"), &[], |_, _| vec![])];
            for a in 0..self.rng.random_range(1..4) {
                let params: Vec<_> = (0..self.rng.random_range(0..4)).map(|p| (["p0", "p1", "p2", "p3"][p], self.pick(&WIDTHS))).collect();
                // The body may use the parameters, so they must exist first.
                let id = self.ir.add_action(&format!("a{i}_{a}"), &params, |_, _| vec![]);
                self.scope = Scope::Action;
                let body = self.block(8, 2);
                self.ir.actions[id].body = body;
                actions.push(id);
            }
            let default = actions[0];
            let table = self.ir.add_table(&format!("table{i}"), keys, &actions, default);
            self.ir.program.tables[table].size = self.pick(&[1, 4, 1024]);
            if self.chance(0.4) {
                let counter = self.ir.add_counter(&format!("direct{i}"), 0, Some(table));
                self.ir.program.counters[counter].size = self.ir.program.tables[table].size;
                for a in &actions[1..] {
                    self.ir.actions[*a].body.insert(0, Stmt::Extern(Extern::DirectCount(counter)));
                }
            }
        }
    }

    fn checksums(&mut self, update: bool) -> Block {
        let mut block = Vec::new();
        for _ in 0..self.rng.random_range(0..3) {
            let condition = self.expr(Ty::Bool, 1);
            let algorithm = self.pick(&[
                HashAlgorithm::Csum16,
                HashAlgorithm::Csum16,
                HashAlgorithm::Crc16,
                HashAlgorithm::Crc32,
                HashAlgorithm::Xor16,
                HashAlgorithm::Identity,
            ]);
            let payload = self.chance(0.3);
            let data = self.check_data();
            block.push(Stmt::Extern(if update {
                let checksum = self.some_bits();
                Extern::UpdateChecksum { condition, data, checksum, algorithm, payload }
            } else {
                let width = self.pick(&[8, 16, 32]);
                Extern::VerifyChecksum { condition, data, checksum: self.expr(Ty::Bit(width), 1), algorithm, payload }
            }));
        }
        block
    }

    fn check_data(&mut self) -> Vec<CheckData> {
        let mut data = Vec::new();
        for _ in 0..self.rng.random_range(1..4) {
            if self.chance(0.5) {
                let headers: Vec<_> = self.ir.headers.keys().collect();
                let h = self.pick(&headers);
                let skipped = self.rng.random_range(0..8);
                let fields = self.ir.header_types[self.ir.headers[h].ty].fields.clone();
                for (i, f) in fields.iter().enumerate().filter(|(i, _)| *i != skipped) {
                    data.push(if f.varbit {
                        CheckData::Varbit(HeaderRef::Static(h), i as u32)
                    } else {
                        CheckData::Value(Expr { kind: ExprKind::Field(HeaderRef::Static(h), i as u32), ty: f.ty })
                    });
                }
            } else {
                let width = self.pick(&WIDTHS);
                data.push(CheckData::Value(self.expr(Ty::Bit(width), 1)));
            }
        }
        data
    }

    fn deparser(&mut self) {
        let mut headers: Vec<_> = self.ir.headers.keys().collect();
        if self.chance(0.4) {
            for i in (1..headers.len()).rev() {
                headers.swap(i, self.rng.random_range(0..=i));
            }
        }
        let conditional = self.chance(if self.plain { 0.1 } else { 0.3 });
        for h in headers {
            let emit = Stmt::Emit(HeaderRef::Static(h));
            let stmt = if conditional && self.chance(0.3) { Stmt::If(self.expr(Ty::Bool, 1), vec![emit], vec![]) } else { emit };
            self.ir.deparser_mut().push(stmt);
        }
    }

    // ---- statements ----

    fn block(&mut self, budget: u32, depth: u32) -> Block {
        self.budget = budget;
        self.inner(depth)
    }

    fn inner(&mut self, depth: u32) -> Block {
        let mut block = Vec::new();
        for _ in 0..self.rng.random_range(0..8) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            block.push(self.stmt(depth));
            if matches!(block.last(), Some(Stmt::Break(_) | Stmt::Exit)) {
                break;
            }
        }
        block
    }

    fn stmt(&mut self, depth: u32) -> Stmt {
        let control = matches!(self.scope, Scope::Control | Scope::Action);
        match self.rng.random_range(0..24) {
            0..=4 if depth > 0 => {
                let condition = self.expr(Ty::Bool, 2);
                Stmt::If(condition, self.inner(depth - 1), self.inner(depth - 1))
            }
            5 if depth > 0 => {
                let width = self.pick(&WIDTHS);
                let on = self.expr(Ty::Bit(width), 1);
                let cases = (0..self.rng.random_range(1..4))
                    .map(|_| {
                        let values = (0..self.rng.random_range(1..3)).map(|_| Bits::new(width, self.number(width))).collect();
                        (values, self.inner(depth - 1))
                    })
                    .collect();
                Stmt::Switch { on, cases, default: self.inner(depth - 1) }
            }
            6 if depth > 0 => {
                let label = self.ir.add_label("l");
                self.labels.push(label);
                let body = self.inner(depth - 1);
                self.labels.pop();
                Stmt::Labeled(label, body)
            }
            7 if depth > 0 && self.scope != Scope::Parser && !self.plain => {
                // `for (v = 0; v < n; v = v + 1)`: a variable of its own counts.
                let (label, v) = (self.ir.add_label("loop"), self.ir.add_var("i", Ty::Bit(8)));
                self.labels.push(label);
                let end = if self.chance(0.03) { 255 } else { self.rng.random_range(0..4) };
                let done = Expr::binary(BinOp::Ge, Expr::var(&self.ir, v), Expr::bit(8, end));
                let step = Expr::binary(if end == 255 { BinOp::Sub } else { BinOp::Add }, Expr::var(&self.ir, v), Expr::bit(8, 1));
                let mut body = vec![Stmt::If(done, vec![Stmt::Break(label)], vec![])];
                body.extend(self.inner(depth - 1));
                body.push(Stmt::Assign(LValue::Var(v), if end == 255 { Expr::bit(8, 0) } else { step }));
                self.labels.pop();
                let start = Stmt::Assign(LValue::Var(v), Expr::bit(8, 0));
                let outer = self.ir.add_label("for");
                Stmt::Labeled(outer, vec![start, Stmt::Labeled(label, vec![Stmt::Loop(body)])])
            }
            8 if !self.labels.is_empty() => Stmt::Break(*self.labels.last().unwrap()),
            9 if control && self.chance(0.3) => Stmt::Exit,
            10..=13 if self.scope == Scope::Control && !self.tables_left.is_empty() => {
                let i = self.rng.random_range(0..self.tables_left.len());
                let table = self.tables_left[i];
                let hit = self.chance(0.4).then(|| self.ir.add_var("hit", Ty::Bool));
                let action_run = self.chance(0.4).then(|| self.ir.add_var("run", Ty::Bit(32)));
                Stmt::Apply { table, hit, action_run }
            }
            14 | 15 => {
                let h = self.some_header();
                Stmt::SetValid(h, self.chance(0.6))
            }
            16 => self.copy(),
            17 if !self.ir.stacks.is_empty() => {
                let stacks: Vec<_> = self.ir.stacks.keys().collect();
                let (s, n) = (self.pick(&stacks), self.rng.random_range(0..3));
                if self.chance(0.5) { Stmt::Push(s, n) } else { Stmt::Pop(s, n) }
            }
            18 | 19 if control => match self.external() {
                Stmt::Extern(Extern::Truncate(_)) if self.plain => Stmt::Extern(Extern::Log("text".into(), vec![])),
                s @ Stmt::Extern(
                    Extern::Meter { .. } | Extern::RegisterRead { .. } | Extern::RegisterWrite { .. } | Extern::Random { .. },
                ) => {
                    let some = self.ordered_left > 0;
                    self.ordered_left = self.ordered_left.saturating_sub(u32::from(self.plain));
                    if some { s } else { Stmt::Extern(Extern::MarkToDrop) }
                }
                s => s,
            },
            _ => {
                let to = self.some_lvalue();
                let width = self.ir.type_of_lvalue(&to);
                let value = self.expr(width, 3);
                Stmt::Assign(to, value)
            }
        }
    }

    fn copy(&mut self) -> Stmt {
        let dst = self.some_header();
        let ty = self.ir.type_of(&dst);
        for _ in 0..10 {
            let src = self.some_header();
            if self.ir.type_of(&src) == ty {
                return Stmt::CopyHeader { dst, src };
            }
        }
        Stmt::CopyHeader { src: dst.clone(), dst }
    }

    fn external(&mut self) -> Stmt {
        let index = self.expr(Ty::Bit(32), 1);
        let small = Expr::binary(BinOp::And, index.clone(), Expr::bit(32, 7));
        let index = if self.chance(0.8) { small } else { index };
        let counters: Vec<_> = self.ir.program.counters.iter().filter(|(_, c)| c.table.is_none()).map(|(id, _)| id).collect();
        Stmt::Extern(match self.rng.random_range(0..7) {
            0 | 1 if !counters.is_empty() => Extern::Count { counter: self.pick(&counters), index },
            2 if !self.ir.program.meters.is_empty() => Extern::Meter { meter: MeterId::from_u32(0), index, result: self.some_bits() },
            3 if !self.ir.program.registers.is_empty() => {
                let register = RegisterId::from_u32(0);
                let width = self.ir.program.registers[register].width;
                if self.chance(0.5) {
                    let v = self.ir.add_var("read", Ty::Bit(width));
                    Extern::RegisterRead { register, index, result: LValue::Var(v) }
                } else {
                    Extern::RegisterWrite { register, index, value: self.expr(Ty::Bit(width), 2) }
                }
            }
            4 => {
                let algorithm = self.pick(&[
                    HashAlgorithm::Csum16,
                    HashAlgorithm::Crc16,
                    HashAlgorithm::Crc32,
                    HashAlgorithm::Xor16,
                    HashAlgorithm::Identity,
                ]);
                let width = self.pick(&WIDTHS);
                let data = (0..self.rng.random_range(1..4)).map(|_| self.any(1)).collect();
                let (base, max) = (self.expr(Ty::Bit(width), 1), self.expr(Ty::Bit(width), 1));
                Extern::Hash { result: self.some_bits(), algorithm, base, data, max }
            }
            5 => {
                let to = self.some_var();
                let ty = self.ir.vars[to].ty;
                if let Ty::Bit(_) = ty {
                    let (low, high) = (self.expr(ty, 1), self.expr(ty, 1));
                    Extern::Random { result: LValue::Var(to), low, high }
                } else {
                    Extern::MarkToDrop
                }
            }
            6 if self.rng.random_bool(0.3) => {
                let bytes = self.expr(Ty::Bit(32), 1);
                Extern::Truncate(Expr::binary(BinOp::And, bytes, Expr::bit(32, 0xff)))
            }
            _ => Extern::Log("text".into(), vec![]),
        })
    }

    fn some_var(&mut self) -> VarId {
        loop {
            let vars: Vec<_> = self.ir.vars.keys().collect();
            let v = self.pick(&vars);
            let name = &self.ir.vars[v].name;
            // Loop variables are their loop's own; copies to groups are not supported.
            if name != "i" && name != "standard_metadata.mcast_grp" && name != "standard_metadata.parser_error" {
                return v;
            }
        }
    }

    fn some_header(&mut self) -> HeaderRef {
        let stacks: Vec<_> = self.ir.stacks.keys().collect();
        if !stacks.is_empty() && self.chance(0.2) {
            let s = self.pick(&stacks);
            if self.scope == Scope::Parser && self.chance(0.5) {
                return if self.chance(0.5) { HeaderRef::Last(s) } else { HeaderRef::Next(s) };
            }
            let index = self.expr(Ty::Bit(8), 1);
            let index = if self.chance(0.7) { Expr::binary(BinOp::And, index, Expr::bit(8, 1)) } else { index };
            return HeaderRef::Index(s, Box::new(index));
        }
        let headers: Vec<_> = self.ir.headers.keys().collect();
        HeaderRef::Static(self.pick(&headers))
    }

    fn some_field(&mut self) -> Option<(HeaderRef, u32, Ty)> {
        let h = self.some_header();
        let fields = &self.ir.header_types[self.ir.type_of(&h)?].fields;
        let i = self.rng.random_range(0..fields.len());
        (!fields[i].varbit).then(|| (h, i as u32, fields[i].ty))
    }

    fn some_lvalue(&mut self) -> LValue {
        let base = match self.some_field() {
            Some((h, i, _)) if self.chance(0.5) => LValue::Field(h, i),
            _ => LValue::Var(self.some_var()),
        };
        let Ty::Bit(width) = self.ir.type_of_lvalue(&base) else { return base };
        if self.chance(0.8) {
            return base;
        }
        let (a, b) = (self.rng.random_range(0..width), self.rng.random_range(0..width));
        LValue::Slice(Box::new(base), a.max(b), a.min(b))
    }

    fn some_bits(&mut self) -> LValue {
        loop {
            let to = self.some_lvalue();
            if let Ty::Bit(_) = self.ir.type_of_lvalue(&to) {
                return to;
            }
        }
    }

    // ---- expressions ----

    /// Of any `bit` type.
    fn any(&mut self, depth: u32) -> Expr {
        let width = self.pick(&WIDTHS);
        self.expr(Ty::Bit(width), depth)
    }

    fn expr(&mut self, ty: Ty, depth: u32) -> Expr {
        if depth == 0 || self.chance(0.25) {
            return self.leaf(ty);
        }
        let width = ty.width();
        if ty == Ty::Bool {
            return match self.rng.random_range(0..6) {
                0 => Expr::is_valid_ref(self.some_header()),
                1 => {
                    let (a, b) = (self.expr(Ty::Bool, depth - 1), self.expr(Ty::Bool, depth - 1));
                    let op = self.pick(&[BinOp::LAnd, BinOp::LOr, BinOp::Eq, BinOp::Ne]);
                    Expr::binary(op, a, b)
                }
                2 => Expr::unary(UnOp::Not, self.expr(Ty::Bool, depth - 1)),
                _ => {
                    let width = self.pick(&WIDTHS).max(2);
                    let ty = if self.chance(0.3) { Ty::Int(width) } else { Ty::Bit(width) };
                    let (a, b) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
                    let op = self.pick(&[BinOp::Eq, BinOp::Ne, BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ge]);
                    Expr::binary(op, a, b)
                }
            };
        }
        let signed = matches!(ty, Ty::Int(_));
        match self.rng.random_range(0..12) {
            0..=3 => {
                let op = self.pick(&[BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::AddSat, BinOp::SubSat, BinOp::And, BinOp::Or, BinOp::Xor]);
                Expr::binary(op, self.expr(ty, depth - 1), self.expr(ty, depth - 1))
            }
            4 if !signed => {
                let op = self.pick(&[BinOp::Div, BinOp::Mod]);
                Expr::binary(op, self.expr(ty, depth - 1), self.expr(ty, depth - 1))
            }
            5 => {
                let amount = if self.chance(0.5) {
                    Expr::bit(8, self.rng.random_range(0..u128::from(width) + 3))
                } else {
                    let w = self.pick(&WIDTHS);
                    let e = self.expr(Ty::Bit(w), depth - 1);
                    if self.chance(0.7) { Expr::binary(BinOp::And, e, Expr::bit(w, 15)) } else { e }
                };
                let op = self.pick(&[BinOp::Shl, BinOp::Shr]);
                Expr::binary(op, self.expr(ty, depth - 1), amount)
            }
            6 => {
                let op = self.pick(&[UnOp::Neg, UnOp::BitNot]);
                Expr::unary(op, self.expr(ty, depth - 1))
            }
            7 | 8 => {
                let w = self.pick(&WIDTHS).max(2);
                let from = if self.chance(0.4) { Ty::Int(w) } else { Ty::Bit(w) };
                self.expr(from, depth - 1).cast(ty)
            }
            9 if !signed => {
                let more = self.rng.random_range(0..=(128 - width));
                let lo = self.rng.random_range(0..=more);
                self.expr(Ty::Bit(width + more), depth - 1).slice(lo + width - 1, lo)
            }
            10 if !signed && width > 1 => {
                let low = self.rng.random_range(1..width);
                let (a, b) = (self.expr(Ty::Bit(width - low), depth - 1), self.expr(Ty::Bit(low), depth - 1));
                Expr { kind: ExprKind::Concat(Box::new(a), Box::new(b)), ty }
            }
            _ => {
                let c = self.expr(Ty::Bool, depth - 1);
                let (a, b) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
                Expr { kind: ExprKind::Mux(Box::new(c), Box::new(a), Box::new(b)), ty }
            }
        }
    }

    fn leaf(&mut self, ty: Ty) -> Expr {
        let found = match self.rng.random_range(0..6) {
            0 => None,
            1 | 2 => self.some_leaf_field(),
            3 if !self.ir.stacks.is_empty() && self.scope == Scope::Parser => {
                Some(Expr { kind: ExprKind::LastIndex(StackId::from_u32(0)), ty: Ty::Bit(32) })
            }
            _ => {
                let v = self.some_var();
                Some(Expr::var(&self.ir, v))
            }
        };
        match found {
            Some(e) if e.ty == ty => e,
            Some(e) if e.ty != Ty::Bool && ty != Ty::Bool => e.cast(ty),
            Some(e) if ty == Ty::Bool && e.ty == Ty::Bit(1) => e.cast(ty),
            Some(e) if ty == Ty::Bool && e.ty != Ty::Bool => {
                let zero = Expr::constant(e.ty, 0);
                Expr::binary(BinOp::Ne, e, zero)
            }
            _ => {
                let value = self.number(ty.width());
                Expr::constant(ty, value)
            }
        }
    }

    /// A field of a fixed header, as a leaf must not recurse.
    fn some_leaf_field(&mut self) -> Option<Expr> {
        let headers: Vec<_> = self.ir.headers.keys().collect();
        let h = self.pick(&headers);
        let fields = &self.ir.header_types[self.ir.headers[h].ty].fields;
        let i = self.rng.random_range(0..fields.len());
        let f = &fields[i];
        (!f.varbit).then_some(Expr { kind: ExprKind::Field(HeaderRef::Static(h), i as u32), ty: f.ty })
    }
}

trait TypeOf {
    fn type_of_lvalue(&self, l: &LValue) -> Ty;
}

impl TypeOf for Ir {
    fn type_of_lvalue(&self, l: &LValue) -> Ty {
        match l {
            LValue::Var(v) => self.vars[*v].ty,
            LValue::Field(h, i) => self.header_types[self.type_of(h).unwrap()].fields[*i as usize].ty,
            LValue::Slice(_, hi, lo) => Ty::Bit(hi - lo + 1),
        }
    }
}

trait IsValidRef {
    fn is_valid_ref(h: HeaderRef) -> Expr;
}

impl IsValidRef for Expr {
    fn is_valid_ref(h: HeaderRef) -> Expr {
        Expr { kind: ExprKind::IsValid(h), ty: Ty::Bool }
    }
}

/// Packets of all lengths, with bytes that selects and loops like.
pub fn random_packets(rng: &mut ChaCha8Rng, n: usize) -> Vec<(Vec<u8>, PortId)> {
    (0..n)
        .map(|_| {
            let len = match rng.random_range(0..10) {
                0 => rng.random_range(0..30),
                1 => rng.random_range(500..2000),
                2 => 9216,
                _ => rng.random_range(60..300),
            };
            let kind = rng.random_range(0..3);
            let bytes = (0..len)
                .map(|_| match kind {
                    0 => rng.random(),
                    1 => rng.random_range(0..4),
                    _ => {
                        if rng.random_bool(0.5) {
                            rng.random()
                        } else {
                            rng.random_range(0..8)
                        }
                    }
                })
                .collect();
            (bytes, PortId(rng.random_range(0..4)))
        })
        .collect()
}
