//! The text form of the IR: every table, action, variable, header, parser state and block, in a fixed order.
//!
//! It is for people and for goldens: stable (it follows the ids, never a hash map), complete (two programs that
//! differ print differently) and readable (names instead of ids wherever a name is unique; otherwise `name#v7`).
//! It also prints broken IR, since that is when one wants to look at it.

use crate::*;
use program::{CountUnit, KeyMatch, LengthSource, MatchKind};
use std::collections::HashMap;
use std::fmt::{self, Write};

impl fmt::Display for Ir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut p = Printer { ir: self, names: Namer::new(self), out: String::new(), depth: 0 };
        p.program();
        f.write_str(&p.out)
    }
}

/// Names for the ids of one program, and the text of its expressions.
pub struct Namer<'a> {
    ir: &'a Ir,
    vars: Vec<String>,
    headers: Vec<String>,
}

impl<'a> Namer<'a> {
    /// Names for `ir`.
    pub fn new(ir: &'a Ir) -> Namer<'a> {
        let vars = unique(ir.vars.iter().map(|(id, v)| (v.name.as_str(), id.to_string())));
        let headers = unique(ir.headers.iter().map(|(id, h)| (h.name.as_str(), id.to_string())));
        Namer { ir, vars, headers }
    }

    /// A variable's name.
    pub fn var(&self, id: VarId) -> String {
        self.vars.get(id.as_u32() as usize).cloned().unwrap_or_else(|| id.to_string())
    }

    /// A header's name.
    pub fn header(&self, id: HeaderId) -> String {
        self.headers.get(id.as_u32() as usize).cloned().unwrap_or_else(|| id.to_string())
    }

    /// A stack's name.
    pub fn stack(&self, id: StackId) -> String {
        self.ir.stacks.get(id).map_or_else(|| id.to_string(), |s| s.name.clone())
    }

    /// A parser state's name with its id, since sub-parsers repeat names.
    pub fn state(&self, id: StateId) -> String {
        self.ir.states.get(id).map_or_else(|| id.to_string(), |s| format!("{id}.{}", s.name))
    }

    /// A label's name with its id.
    pub fn label(&self, id: LabelId) -> String {
        self.ir.labels.get(id).map_or_else(|| id.to_string(), |s| format!("{id}.{s}"))
    }

    /// A table's full name.
    pub fn table(&self, id: TableId) -> String {
        self.ir.program.tables.get(id).map_or_else(|| id.to_string(), |t| t.full_name.clone())
    }

    /// An action's full name.
    pub fn action(&self, id: ActionId) -> String {
        self.ir.program.actions.get(id).map_or_else(|| id.to_string(), |a| a.full_name.clone())
    }

    /// A counter's name.
    pub fn counter(&self, id: CounterId) -> String {
        self.ir.program.counters.get(id).map_or_else(|| id.to_string(), |c| c.name.clone())
    }

    /// A meter's name.
    pub fn meter(&self, id: MeterId) -> String {
        self.ir.program.meters.get(id).map_or_else(|| id.to_string(), |m| m.name.clone())
    }

    /// A register array's name.
    pub fn register(&self, id: RegisterId) -> String {
        self.ir.program.registers.get(id).map_or_else(|| id.to_string(), |r| r.name.clone())
    }

    /// A service's name.
    pub fn service(&self, id: ServiceId) -> String {
        self.ir.program.services.get(id).map_or_else(|| id.to_string(), |s| s.name.clone())
    }

    /// A field's name without its header's.
    pub fn field(&self, ty: Option<HeaderTypeId>, field: u32) -> String {
        let ty = ty.and_then(|t| self.ir.header_types.get(t));
        ty.and_then(|t| t.fields.get(field as usize)).map_or_else(|| format!("field{field}"), |f| f.name.clone())
    }

    /// A header reference, e.g. `hdr.ipv4`, `hdr.mpls.next`, `hdr.mpls[meta.i]`.
    pub fn header_ref(&self, header: &HeaderRef) -> String {
        match header {
            HeaderRef::Static(h) => self.header(*h),
            HeaderRef::Next(s) => format!("{}.next", self.stack(*s)),
            HeaderRef::Last(s) => format!("{}.last", self.stack(*s)),
            HeaderRef::Index(s, i) => format!("{}[{}]", self.stack(*s), self.expr(i)),
        }
    }

    /// A header reference and a field of it.
    pub fn field_ref(&self, header: &HeaderRef, field: u32) -> String {
        format!("{}.{}", self.header_ref(header), self.field(self.ir.type_of(header), field))
    }

    /// What an assignment writes to.
    pub fn lvalue(&self, dst: &LValue) -> String {
        match dst {
            LValue::Var(v) => self.var(*v),
            LValue::Field(h, i) => self.field_ref(h, *i),
            LValue::Slice(base, hi, lo) => format!("{}[{hi}:{lo}]", self.lvalue(base)),
        }
    }

    /// An expression, every operator in parentheses.
    pub fn expr(&self, e: &Expr) -> String {
        let mut out = String::new();
        self.write_expr(&mut out, e);
        out
    }

    fn write_expr(&self, out: &mut String, e: &Expr) {
        match &e.kind {
            ExprKind::Const(bits) => out.push_str(&constant(e.ty, *bits)),
            ExprKind::Var(v) => out.push_str(&self.var(*v)),
            ExprKind::Field(h, i) => out.push_str(&self.field_ref(h, *i)),
            ExprKind::IsValid(h) => {
                out.push_str(&self.header_ref(h));
                out.push_str(".isValid()");
            }
            ExprKind::LastIndex(s) => put(out, format_args!("{}.lastIndex", self.stack(*s))),
            ExprKind::NextIndex(s) => put(out, format_args!("{}.nextIndex", self.stack(*s))),
            ExprKind::VarbitBits(h, i) => put(out, format_args!("{}.sizeInBits()", self.field_ref(h, *i))),
            ExprKind::VarbitEq(a, b) => put(out, format_args!("(varbit {} == varbit {})", self.header_ref(a), self.header_ref(b))),
            ExprKind::Unary(op, a) => {
                out.push_str(unary(*op));
                self.write_expr(out, a);
            }
            ExprKind::Binary(op, a, b) => {
                out.push('(');
                self.write_expr(out, a);
                put(out, format_args!(" {} ", binary(*op)));
                self.write_expr(out, b);
                out.push(')');
            }
            ExprKind::Cast(a) => {
                put(out, format_args!("({})", e.ty));
                self.write_expr(out, a);
            }
            ExprKind::Slice(a, hi, lo) => {
                self.write_expr(out, a);
                put(out, format_args!("[{hi}:{lo}]"));
            }
            ExprKind::Concat(a, b) => {
                out.push('(');
                self.write_expr(out, a);
                out.push_str(" ++ ");
                self.write_expr(out, b);
                out.push(')');
            }
            ExprKind::Mux(c, a, b) => {
                out.push('(');
                self.write_expr(out, c);
                out.push_str(" ? ");
                self.write_expr(out, a);
                out.push_str(" : ");
                self.write_expr(out, b);
                out.push(')');
            }
        }
    }
}

/// `bit<9>`, `int<8>`, `bool`.
impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Bit(w) => write!(f, "bit<{w}>"),
            Ty::Int(w) => write!(f, "int<{w}>"),
            Ty::Bool => f.write_str("bool"),
        }
    }
}

impl Ir {
    /// The header type behind a reference; `None` where an id is out of range.
    pub fn type_of(&self, header: &HeaderRef) -> Option<HeaderTypeId> {
        let id = match header {
            HeaderRef::Static(h) => Some(*h),
            HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _) => {
                self.stacks.get(*s).and_then(|s| s.elements.first().copied())
            }
        };
        id.and_then(|h| self.headers.get(h)).map(|h| h.ty)
    }

    /// The type of what can be assigned; `None` where an id is out of range.
    pub fn place_type(&self, place: &LValue) -> Option<Ty> {
        match place {
            LValue::Var(v) => self.vars.get(*v).map(|v| v.ty),
            LValue::Field(h, index) => self.header_types.get(self.type_of(h)?)?.fields.get(*index as usize).map(|f| f.ty),
            LValue::Slice(_, high, low) => Some(Ty::Bit(high.checked_sub(*low)? + 1)),
        }
    }
}

struct Printer<'a> {
    ir: &'a Ir,
    names: Namer<'a>,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    fn program(&mut self) {
        let ir = self.ir;
        self.line(format_args!("program {}", ir.program.name));
        if ir.arch != Architecture::V1Model {
            self.line(format_args!("architecture {}", ir.arch.name()));
        }
        self.line(format_args!("errors {}", ir.program.errors.join(" ")));
        for (code, name) in &ir.program.reasons {
            self.line(format_args!("reason {code} {name}"));
        }
        self.headers();
        for (id, v) in &ir.vars {
            self.line(format_args!("var {id} {}: {}", v.name, v.ty));
        }
        self.intrinsics();
        self.objects();
        for (id, _) in &ir.program.actions {
            self.action(id);
        }
        for (id, _) in &ir.program.tables {
            self.table(id);
        }
        for (id, pipe) in &ir.pipes {
            if !pipe.name.is_empty() {
                self.line(format_args!("{id} {}", pipe.name));
            }
            self.parser(&pipe.parser);
            for control in &pipe.controls {
                self.top(control.role.name(), &control.body);
            }
            self.top("deparser", &pipe.deparser);
        }
    }

    fn headers(&mut self) {
        let ir = self.ir;
        for (id, ty) in &ir.header_types {
            self.open(format_args!("header_type {id} {} fixed_bits {} {{", ty.name, ty.fixed_bits));
            for f in &ty.fields {
                let ty = if f.varbit { format!("varbit<{}>", f.ty.width()) } else { f.ty.to_string() };
                self.line(format_args!("{}: {ty} @{}", f.name, f.offset_bits));
            }
            self.close("}");
        }
        for (id, h) in &ir.headers {
            let ty = ir.header_types.get(h.ty).map_or("?", |t| t.name.as_str());
            let union = h.union.map_or_else(String::new, |u| format!(" union {u}"));
            self.line(format_args!("header {id} {}: {} {ty}{union}", h.name, h.ty));
        }
        for (id, s) in &ir.stacks {
            let elements: Vec<String> = s.elements.iter().map(|h| self.names.header(*h)).collect();
            self.line(format_args!("stack {id} {}: {}", s.name, elements.join(" ")));
        }
    }

    fn intrinsics(&mut self) {
        let i = &self.ir.intrinsic;
        let standard: Vec<String> = i.standard.iter().map(|(n, v)| format!("standard {n} = {}", self.names.var(*v))).collect();
        for s in standard {
            self.line(format_args!("{s}"));
        }
        for (name, var) in [("drop_reason", i.drop_reason), ("mark", i.mark), ("pdu_length", i.pdu_length)] {
            if let Some(v) = var {
                let v = self.names.var(v);
                self.line(format_args!("@{name} = {v}"));
            }
        }
        for (number, vars) in &i.field_lists {
            let vars: Vec<String> = vars.iter().map(|v| self.names.var(*v)).collect();
            self.line(format_args!("@field_list({number}) = {}", vars.join(", ")));
        }
    }

    fn objects(&mut self) {
        let ir = self.ir;
        for (id, v) in &ir.program.value_sets {
            let widths: Vec<String> = v.widths.iter().map(|w| format!("bit<{w}>")).collect();
            self.line(format_args!("value_set {id} {}: ({}) size {}", v.name, widths.join(", "), v.size));
        }
        for (id, c) in &ir.program.counters {
            let of = self.attached(c.table);
            self.line(format_args!("counter {id} {}: {} cells of {}{}{of}", c.name, c.size, unit(c.unit), length(c.length)));
        }
        for (id, m) in &ir.program.meters {
            let of = self.attached(m.table);
            self.line(format_args!("meter {id} {}: {} cells of {}{}{of}", m.name, m.size, unit(m.unit), length(m.length)));
        }
        for (id, r) in &ir.program.registers {
            let initial = if r.initial == 0 { String::new() } else { format!(", {:#x} at first", r.initial) };
            self.line(format_args!("register {id} {}: {} cells of bit<{}>{initial}", r.name, r.size, r.width));
        }
        for (id, s) in &ir.program.services {
            let fields =
                |all: &[program::ParamInfo]| all.iter().map(|f| format!("{}: bit<{}>", f.name, f.width)).collect::<Vec<_>>().join(", ");
            self.line(format_args!("service {id} {}: ({}) -> ({})", s.name, fields(&s.request), fields(&s.answer)));
        }
    }

    fn attached(&self, table: Option<TableId>) -> String {
        table.map_or_else(String::new, |t| format!(", direct of {}", self.names.table(t)))
    }

    fn action(&mut self, id: ActionId) {
        let info = &self.ir.program.actions[id];
        let Some(code) = self.ir.actions.get(id) else {
            return self.line(format_args!("action {id} {} without code", info.full_name));
        };
        let params: Vec<String> = info
            .params
            .iter()
            .enumerate()
            .map(|(i, p)| {
                let var = code.params.get(i).map_or_else(|| "?".to_owned(), |v| self.names.var(*v));
                format!("{}: {} = {var}", p.name, p.width)
            })
            .collect();
        self.open(format_args!("action {id} {}({}) {{", info.full_name, params.join(", ")));
        self.block(&code.body);
        self.close("}");
    }

    fn table(&mut self, id: TableId) {
        let info = &self.ir.program.tables[id];
        self.open(format_args!("table {id} {} size {}{} {{", info.full_name, info.size, if info.split { " split" } else { "" }));
        let code = self.ir.tables.get(id);
        for (i, k) in info.keys.iter().enumerate() {
            let expr = code.and_then(|c| c.keys.get(i)).map_or_else(|| "?".to_owned(), |e| self.names.expr(e));
            self.line(format_args!("key {}: bit<{}> {} = {expr}", k.name, k.width, kind(k.kind)));
        }
        for u in &info.actions {
            let only = match (u.entry, u.default) {
                (true, true) => "",
                (true, false) => " tableonly",
                (false, true) => " defaultonly",
                (false, false) => " unused",
            };
            let name = self.names.action(u.action);
            self.line(format_args!("action {name}{only}"));
        }
        let (action, args) = &info.default_action;
        let (name, args) = (self.names.action(*action), list(args));
        self.line(format_args!("default{} {name}({args})", if info.const_default { " const" } else { "" }));
        for (name, attached) in [
            ("direct_counter", info.direct_counter.map(|c| self.names.counter(c))),
            ("direct_meter", info.direct_meter.map(|m| self.names.meter(m))),
        ] {
            if let Some(a) = attached {
                self.line(format_args!("{name} {a}"));
            }
        }
        for e in &info.entries {
            let keys: Vec<String> = e.keys.iter().map(key_match).collect();
            let (name, args) = (self.names.action(e.action), list(&e.args));
            let constant = if info.const_entries { "const " } else { "" };
            self.line(format_args!("{constant}entry {}: {} -> {name}({args})", e.priority, keys.join(", ")));
        }
        self.close("}");
    }

    fn parser(&mut self, parser: &Parser) {
        let ir = self.ir;
        self.top("parser_init", &parser.init);
        let start = parser.start.map_or_else(|| "none".to_owned(), |s| self.names.state(s));
        self.line(format_args!("start {start}"));
        // The only parser's states are all of them, reached or not.
        let own = (ir.pipes.len() > 1).then(|| ir.states_from(parser.start));
        for (id, s) in ir.states.iter().filter(|(id, _)| own.as_ref().is_none_or(|own| own.contains(id))) {
            let name = self.names.state(id);
            let mark = s.likely.map_or("", |likely| if likely { "@likely " } else { "@unlikely " });
            self.open(format_args!("{mark}state {name} {{"));
            self.block(&s.body);
            match &s.next {
                Transition::Goto(n) => {
                    let n = self.next(*n);
                    self.line(format_args!("goto {n}"));
                }
                Transition::Select { keys, cases } => {
                    let keys: Vec<String> = keys.iter().map(|k| self.names.expr(k)).collect();
                    self.open(format_args!("select ({}) {{", keys.join(", ")));
                    for c in cases {
                        let sets: Vec<String> = c.sets.iter().map(|s| self.key_set(s)).collect();
                        let next = self.next(c.next);
                        self.line(format_args!("({}) -> {next}", sets.join(", ")));
                    }
                    self.close("}");
                }
            }
            self.close("}");
        }
    }

    fn key_set(&self, set: &KeySet) -> String {
        match set {
            KeySet::Value { value, mask } if mask.value() == Bits::mask(mask.width()) => value.to_string(),
            KeySet::Value { value, mask } => format!("{value} &&& {mask}"),
            KeySet::Range { low, high } => format!("{low} .. {high}"),
            KeySet::Any => "_".into(),
            KeySet::ValueSet(id) => self.ir.program.value_sets.get(*id).map_or_else(|| id.to_string(), |v| format!("{id}.{}", v.name)),
        }
    }

    fn next(&self, next: Next) -> String {
        match next {
            Next::State(s) => self.names.state(s),
            Next::Accept => "accept".into(),
            Next::Reject => "reject".into(),
        }
    }

    fn top(&mut self, name: &str, block: &Block) {
        if block.is_empty() {
            return self.line(format_args!("{name} {{}}"));
        }
        self.open(format_args!("{name} {{"));
        self.block(block);
        self.close("}");
    }

    fn block(&mut self, block: &Block) {
        for s in block {
            self.stmt(s);
        }
    }

    fn stmt(&mut self, s: &Stmt) {
        let text = match s {
            Stmt::If(cond, then, els) => {
                let cond = self.names.expr(cond);
                self.open(format_args!("if {cond} {{"));
                self.block(then);
                if !els.is_empty() {
                    self.close("} else {");
                    self.depth += 1;
                    self.block(els);
                }
                return self.close("}");
            }
            Stmt::Switch { on, cases, default } => {
                let on = self.names.expr(on);
                self.open(format_args!("switch {on} {{"));
                for (values, body) in cases {
                    let values: Vec<String> = values.iter().map(Bits::to_string).collect();
                    self.open(format_args!("case {} {{", values.join(", ")));
                    self.block(body);
                    self.close("}");
                }
                self.open(format_args!("default {{"));
                self.block(default);
                self.close("}");
                return self.close("}");
            }
            Stmt::Labeled(label, body) => {
                let label = self.names.label(*label);
                self.open(format_args!("{label}: {{"));
                self.block(body);
                return self.close("}");
            }
            Stmt::Loop(body) => {
                self.open(format_args!("loop {{"));
                self.block(body);
                return self.close("}");
            }
            Stmt::Apply { table, hit, action_run } => {
                let mut text = String::new();
                if let Some(v) = hit {
                    put(&mut text, format_args!("hit {}, ", self.names.var(*v)));
                }
                if let Some(v) = action_run {
                    put(&mut text, format_args!("action_run {}, ", self.names.var(*v)));
                }
                format!("{text}apply {}", self.names.table(*table))
            }
            other => self.simple(other),
        };
        self.line(format_args!("{text}"));
    }

    /// Statements of one line.
    fn simple(&self, s: &Stmt) -> String {
        let n = &self.names;
        match s {
            Stmt::Assign(dst, value) => format!("{} = {}", n.lvalue(dst), n.expr(value)),
            Stmt::SetValid(h, true) => format!("{}.setValid()", n.header_ref(h)),
            Stmt::SetValid(h, false) => format!("{}.setInvalid()", n.header_ref(h)),
            Stmt::CopyHeader { dst, src } => format!("copy header {} <- {}", n.header_ref(dst), n.header_ref(src)),
            Stmt::CopyVarbit { dst, src } => format!("copy varbit {} <- {}", n.header_ref(dst), n.header_ref(src)),
            Stmt::CopyStack { dst, src } => format!("copy stack {} <- {}", n.stack(*dst), n.stack(*src)),
            Stmt::Push(s, k) => format!("{}.push_front({k})", n.stack(*s)),
            Stmt::Pop(s, k) => format!("{}.pop_front({k})", n.stack(*s)),
            Stmt::Break(l) => format!("break {}", n.label(*l)),
            Stmt::Exit => "exit".into(),
            Stmt::Extract { header, varbit_bits: None } => format!("extract {}", n.header_ref(header)),
            Stmt::Extract { header, varbit_bits: Some(b) } => format!("extract {}, varbit {}", n.header_ref(header), n.expr(b)),
            Stmt::Advance(e) => format!("advance {}", n.expr(e)),
            Stmt::Lookahead(dst, 0) => format!("{} = lookahead", n.lvalue(dst)),
            Stmt::Lookahead(dst, skip) => format!("{} = lookahead behind {skip} bytes", n.lvalue(dst)),
            Stmt::Verify(cond, error) => {
                let error = self.ir.program.errors.get(error.value() as usize).map_or_else(|| error.to_string(), String::clone);
                format!("verify {}, error.{error}", n.expr(cond))
            }
            Stmt::Emit(h) => format!("emit {}", n.header_ref(h)),
            Stmt::Extern(e) => self.external(e),
            Stmt::If(..) | Stmt::Switch { .. } | Stmt::Labeled(..) | Stmt::Loop(..) | Stmt::Apply { .. } => String::new(),
        }
    }

    fn external(&self, e: &Extern) -> String {
        let n = &self.names;
        let exprs = |es: &[Expr]| es.iter().map(|e| n.expr(e)).collect::<Vec<_>>().join(", ");
        let checked = |data: &[CheckData]| {
            let all = data.iter().map(|d| match d {
                CheckData::Value(e) => n.expr(e),
                CheckData::Varbit(h, i) => n.field_ref(h, *i),
            });
            all.collect::<Vec<_>>().join(", ")
        };
        let with = |payload: bool| if payload { " with_payload" } else { "" };
        match e {
            Extern::Count { counter, index } => format!("{}.count({})", n.counter(*counter), n.expr(index)),
            Extern::DirectCount(c) => format!("{}.count()", n.counter(*c)),
            Extern::Meter { meter, index, result } => {
                format!("{} = {}.execute({})", n.lvalue(result), n.meter(*meter), n.expr(index))
            }
            Extern::DirectMeter { meter, result } => format!("{} = {}.read()", n.lvalue(result), n.meter(*meter)),
            Extern::RegisterRead { register, index, result } => {
                format!("{} = {}.read({})", n.lvalue(result), n.register(*register), n.expr(index))
            }
            Extern::RegisterWrite { register, index, value } => {
                format!("{}.write({}, {})", n.register(*register), n.expr(index), n.expr(value))
            }
            Extern::Hash { result, algorithm, base, data, max } => {
                let data = exprs(data);
                format!("{} = hash {algorithm:?}({data}) base {} max {}", n.lvalue(result), n.expr(base), n.expr(max))
            }
            Extern::Random { result, low, high } => format!("{} = random({}, {})", n.lvalue(result), n.expr(low), n.expr(high)),
            Extern::MarkToDrop => "mark_to_drop".into(),
            Extern::VerifyChecksum { condition, data, checksum, algorithm, payload } => {
                let (cond, data, sum) = (n.expr(condition), checked(data), n.expr(checksum));
                format!("verify_checksum{} {algorithm:?} if {cond}: ({data}) is {sum}", with(*payload))
            }
            Extern::UpdateChecksum { condition, data, checksum, algorithm, payload } => {
                let (cond, data, sum) = (n.expr(condition), checked(data), n.lvalue(checksum));
                format!("update_checksum{} {algorithm:?} if {cond}: {sum} = ({data})", with(*payload))
            }
            Extern::Digest { receiver, data } => format!("digest({}, {{{}}})", n.expr(receiver), exprs(data)),
            Extern::Assert(e, hard) => format!("{}({})", if *hard { "assert" } else { "assume" }, n.expr(e)),
            Extern::Log(text, values) => format!("log_msg({text:?}, {{{}}})", exprs(values)),
            Extern::Truncate(e) => format!("truncate({})", n.expr(e)),
            Extern::Replicate { kind, session, fields } => {
                let arg = |e: &Option<Expr>| e.as_ref().map_or_else(|| "-".to_owned(), |e| n.expr(e));
                format!("{}(session {}, fields {})", replicate(*kind), arg(session), arg(fields))
            }
            Extern::Stage(stage) => format!("stage {stage}"),
            Extern::Service { service, request, answer } => {
                let name = n.service(*service);
                match answer {
                    None => format!("send {name}({})", exprs(request)),
                    Some(answer) => {
                        let answer: Vec<String> = answer.iter().map(|l| n.lvalue(l)).collect();
                        format!("({}) = call {name}({})", answer.join(", "), exprs(request))
                    }
                }
            }
        }
    }

    fn line(&mut self, text: fmt::Arguments<'_>) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        put(&mut self.out, text);
        self.out.push('\n');
    }

    fn open(&mut self, text: fmt::Arguments<'_>) {
        self.line(text);
        self.depth += 1;
    }

    fn close(&mut self, text: &str) {
        self.depth -= 1;
        self.line(format_args!("{text}"));
    }
}

/// A key match as in P4's entries: `0x1`, `0x0a000000/8`, `0x1 &&& 0xff`, `0x1 .. 0x5`, `_`.
pub fn key_match(m: &KeyMatch) -> String {
    match m {
        KeyMatch::Exact(v) => format!("{v:#x}"),
        KeyMatch::Lpm { value, prefix_len } => format!("{value:#x}/{prefix_len}"),
        KeyMatch::Ternary { mask: 0, .. } | KeyMatch::Optional(None) => "_".into(),
        KeyMatch::Ternary { value, mask } => format!("{value:#x} &&& {mask:#x}"),
        KeyMatch::Range { low, high } => format!("{low:#x} .. {high:#x}"),
        KeyMatch::Optional(Some(v)) => format!("{v:#x}"),
    }
}

impl Replicate {
    /// Name of the extern in v1model.
    pub fn name(self) -> &'static str {
        replicate(self)
    }
}

/// Names as they are where unique, with the id behind them where not.
fn unique<'s>(items: impl Iterator<Item = (&'s str, String)>) -> Vec<String> {
    let items: Vec<(&str, String)> = items.collect();
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (name, _) in &items {
        *seen.entry(name).or_default() += 1;
    }
    items.iter().map(|(name, id)| if seen[name] == 1 { (*name).to_owned() } else { format!("{name}#{id}") }).collect()
}

fn constant(ty: Ty, bits: Bits) -> String {
    match ty {
        Ty::Bool if bits.width() == 1 => if bits.is_true() { "true" } else { "false" }.into(),
        Ty::Int(w) if bits.width() == w => format!("{w}s{}", bits.signed()),
        _ => bits.to_string(),
    }
}

fn list(args: &[u128]) -> String {
    args.iter().map(|a| format!("{a:#x}")).collect::<Vec<_>>().join(", ")
}

fn kind(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Ternary => "ternary",
        MatchKind::Range => "range",
        MatchKind::Optional => "optional",
    }
}

fn unit(unit: CountUnit) -> &'static str {
    match unit {
        CountUnit::Packets => "packets",
        CountUnit::Bytes => "bytes",
        CountUnit::Both => "packets_and_bytes",
    }
}

fn length(length: LengthSource) -> &'static str {
    match length {
        LengthSource::Frame => "",
        LengthSource::Pdu => " of @pdu_length",
    }
}

fn replicate(kind: Replicate) -> &'static str {
    match kind {
        Replicate::CloneI2E => "clone (ingress to egress)",
        Replicate::CloneE2E => "clone (egress to egress)",
        Replicate::Resubmit => "resubmit",
        Replicate::Recirculate => "recirculate",
    }
}

fn unary(op: UnOp) -> &'static str {
    match op {
        UnOp::Neg => "-",
        UnOp::BitNot => "~",
        UnOp::Not => "!",
    }
}

fn binary(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Mod => "%",
        BinOp::AddSat => "|+|",
        BinOp::SubSat => "|-|",
        BinOp::And => "&",
        BinOp::Or => "|",
        BinOp::Xor => "^",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
        BinOp::LAnd => "&&",
        BinOp::LOr => "||",
    }
}

/// Writing to a `String` cannot fail.
fn put(out: &mut String, text: fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}
