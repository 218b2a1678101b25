//! Calls to the architecture.

use super::Refused;
use super::code::{Code, meet};
use crate::expr::{convert, head, paren};
use cranelift_entity::EntityRef;
use p4_ir::origin::Construct;
use p4_ir::{CounterId, Expr, ExprKind, Extern, Ir, LValue, MeterId, Stmt, VarId};
use program::packing::cells_grow;
use program::{CountUnit, LengthSource};
use std::collections::HashMap;

impl Code<'_> {
    pub(super) fn extern_call(&mut self, e: &Extern) -> Result<(), Refused> {
        match e {
            Extern::Count { counter, index } => {
                let index = self.index(index)?;
                self.count(e, *counter, &index)
            }
            Extern::DirectCount(counter) => {
                let attached = self.ir.program.counters[*counter].table;
                match self.in_table {
                    // The default action has no cell: `direct` is 0 there, and 0 less 1 is beyond the end.
                    Some(table) if attached == Some(table) => self.count(e, *counter, "(uint64_t)e->direct - 1"),
                    _ => Ok(()),
                }
            }
            Extern::Meter { meter, index, result } => self.meter(e, *meter, index, result),
            Extern::DirectMeter { result, .. } => self.assign(result, "0u"),
            Extern::RegisterRead { register, index, result } => {
                let (map, width) = self.register(*register)?;
                let index = self.index(index)?;
                self.assign_cut(result, &format!("sp_register_read({map}_at, {index})"), width.max(64))
            }
            Extern::RegisterWrite { register, index, value } => {
                self.only_once(Construct::Register, "register writes")?;
                let (map, _) = self.register(*register)?;
                let (index, value) = (self.index(index)?, self.expr(value)?);
                let site = self.site(e, self.registers.len());
                if site == self.registers.len() {
                    self.registers.push(map.clone());
                }
                self.line(format!("sp_register_write({map}_at, {index}, {value}, &c->undo_register[{site}]);"));
                Ok(())
            }
            Extern::Hash { result, algorithm, base, data, max } => self.hash(result, *algorithm, base, data, max),
            Extern::Random { result, low, high } => {
                if low.ty.width() > 64 {
                    return Err(self.refuse_because(Construct::Random, "random numbers of more than 64 bits"));
                }
                let (low, high) = (self.expr(low)?, self.expr(high)?);
                self.assign_cut(result, &format!("sp_random({low}, {high})"), 64)
            }
            Extern::MarkToDrop => {
                self.write_standard("egress_spec", "511u");
                self.write_standard("mcast_grp", "0u");
                Ok(())
            }
            Extern::VerifyChecksum { condition, data, checksum, algorithm, payload } => self.when(condition, |c| {
                let (computed, from) = c.checksum(*algorithm, data, *payload)?;
                let computed = convert(&computed, from, checksum.ty.width());
                let found = c.expr(checksum)?;
                let right = c.known.clone();
                c.open(format!("if ({} != {})", paren(&computed), paren(&found)));
                c.write_standard("checksum_error", "1u");
                c.close();
                c.known = meet(c.known.take(), right);
                Ok(())
            }),
            Extern::UpdateChecksum { condition, data, checksum, algorithm, payload } => self.when(condition, |c| {
                let (computed, from) = c.checksum(*algorithm, data, *payload)?;
                c.assign_cut(checksum, &computed, from)
            }),
            // They have no effect that a packet or a counter could show.
            Extern::Assert(..) | Extern::Log(..) | Extern::Stage(_) => Ok(()),
            Extern::Truncate(bytes) => {
                let (text, width) = (self.expr(bytes)?, bytes.ty.width());
                if width > 64 {
                    return Err(self.refuse_because(Construct::Truncate, format!("a length of {width} bits")));
                }
                let text = paren(&text);
                self.line(format!(
                    "c->keep = {};",
                    if width > 32 { format!("{text} < 0xffffffffu ? (uint32_t){text} : 0xffffffffu") } else { text }
                ));
                Ok(())
            }
            Extern::Digest { receiver, data } => self.digest(e, receiver, data),
            Extern::Replicate { kind, .. } => Err(self.refuse_because(Construct::Copies, kind.name())),
            // The whole packet goes to the next target, which calls the service.
            Extern::Service { .. } => {
                let failed = self.jump("failed");
                self.line(failed);
                Ok(())
            }
        }
    }

    fn index(&mut self, e: &Expr) -> Result<String, Refused> {
        if e.ty.width() > 64 {
            return Err(self.refuse(format!("an index of {} bits", e.ty.width())));
        }
        let text = self.expr(e)?;
        Ok(format!("(uint64_t){}", paren(&text)))
    }

    fn when(&mut self, condition: &Expr, each: impl FnOnce(&mut Self) -> Result<(), Refused>) -> Result<(), Refused> {
        let text = self.expr(condition)?;
        if text == "0" || text == "0u" {
            return Ok(());
        }
        let before = self.known.clone();
        // Sums are declared in a block of their own in any case.
        self.open(if text == "1u" { String::new() } else { format!("if {}", head(&text)) });
        self.assume(condition, true);
        each(self)?;
        self.close();
        self.known = meet(self.known.take(), before);
        Ok(())
    }

    fn length(&mut self, source: LengthSource) -> Result<String, Refused> {
        Ok(match (source, self.ir.intrinsic.pdu_length) {
            (LengthSource::Frame, _) => "c->length".into(),
            (LengthSource::Pdu, Some(v)) => {
                let width = self.ir.vars[v].ty.width();
                if width > 64 {
                    return Err(self.refuse(format!("a length of {width} bits")));
                }
                self.read_var(v)
            }
            (LengthSource::Pdu, None) => "0".into(),
        })
    }

    /// The number of a call's place: `next` if it has none yet.
    pub(super) fn site(&mut self, e: &Extern, next: usize) -> usize {
        *self.sites.entry((std::ptr::from_ref(e).addr(), self.applied)).or_insert(next)
    }

    /// What is done at the packet's end, or undone, is noted once a place: so it may be done only once a packet.
    pub(super) fn only_once(&self, construct: Construct, what: &str) -> Result<(), Refused> {
        if self.loops > 0 { Err(self.refuse_because(construct, format!("{what} in loops"))) } else { Ok(()) }
    }

    fn not_in_parser(&self, construct: Construct, what: &str) -> Result<(), Refused> {
        if self.in_parser { Err(self.refuse_because(construct, format!("{what} in the parser"))) } else { Ok(()) }
    }

    fn count(&mut self, e: &Extern, counter: CounterId, index: &str) -> Result<(), Refused> {
        self.not_in_parser(Construct::Counter, "counters")?;
        self.only_once(Construct::Counter, "counters")?;
        let info = &self.ir.program.counters[counter];
        let packets = if info.unit == CountUnit::Bytes { "0" } else { "1" };
        let bytes = if info.unit == CountUnit::Packets { "0".to_owned() } else { self.length(info.length)? };
        let counter = counter.index();
        let site = self.site(e, self.counts.len());
        if site == self.counts.len() {
            self.counts.push(counter);
        }
        self.line(format!("sp_pend(&c->count[{site}], {index}, SP_CELLS({counter}), {packets}, {bytes});"));
        Ok(())
    }

    /// Fetches the cells that parameters name, long before they are counted in: reading a byte of one is all that BPF has for that. Where one is a
    /// meter's, the clock is read first: that waits for all that is in flight, and later there is more.
    pub(super) fn touch(&mut self, params: &[VarId]) {
        let cells: Vec<(VarId, Cells)> =
            params.iter().flat_map(|p| self.cells.get(p).into_iter().flatten().map(|cells| (*p, cells.clone()))).collect();
        let mut metered: Vec<VarId> = cells.iter().filter(|(_, cells)| cells.meter).map(|(p, _)| *p).collect();
        metered.dedup();
        // Cell 0 is for those that need none, as a rule, and is at hand then.
        if !metered.is_empty() {
            let any: Vec<String> = metered.into_iter().map(|p| paren(&self.read_var(p))).collect();
            self.line(format!("if ({}) (void)sp_now(c);", any.join(" | ")));
        }
        for (param, Cells { array, a_core, .. }) in cells.into_iter().filter(|(_, cells)| cells.large) {
            let text = paren(&self.read_var(param));
            let (base, last) = match a_core {
                Some(counter) => (format!("c->cpu * SP_CELLS({counter}) + "), format!("SP_CELLS({counter})")),
                None => (String::new(), format!("SP_ENTRIES({array})")),
            };
            let failed = self.jump("failed");
            self.line(format!("if ({text} && {text} < {last} && !sp_touch({array}_at({base}(uint32_t){text}))) {failed}"));
        }
    }

    fn meter(&mut self, e: &Extern, meter: MeterId, index: &Expr, result: &LValue) -> Result<(), Refused> {
        self.not_in_parser(Construct::Meter, "meters")?;
        self.only_once(Construct::Meter, "meters")?;
        let info = &self.ir.program.meters[meter];
        let index = self.index(index)?;
        let units = if info.unit == CountUnit::Packets { "1".to_owned() } else { self.length(info.length)? };
        let meter = meter.index();
        let site = self.site(e, self.meters.len());
        if site == self.meters.len() {
            self.meters.push(meter);
        }
        self.open("");
        let last = if cells_grow(info.size, info.table) { format!("SP_ENTRIES(sp_p{meter})") } else { "0".to_owned() };
        self.line(format!(
            "uint32_t colour = sp_execute(c, sp_p{meter}_at, sp_q{meter}_at, {index}, {last}, {units}, &c->undo_meter[{site}]);"
        ));
        let failed = self.jump("failed");
        self.line(format!("if (colour == SP_BUSY) {failed}"));
        self.assign_cut(result, "colour", 32)?;
        self.close();
        Ok(())
    }

    fn register(&self, register: p4_ir::RegisterId) -> Result<(String, u32), Refused> {
        self.not_in_parser(Construct::Register, "registers")?;
        let info = &self.ir.program.registers[register];
        if info.initial != 0 {
            return Err(self.refuse_because(Construct::Register, format!("register {} with an initial value", info.name)));
        }
        if info.width > 64 {
            return Err(self.refuse_because(Construct::Register, format!("register {} of {} bits", info.name, info.width)));
        }
        Ok((format!("sp_r{}", register.index()), info.width))
    }
}

/// An array of counters or meters, one of whose cells a parameter names.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Cells {
    /// Its C name.
    array: String,
    /// The counter's number: each core has a row of its cells.
    a_core: Option<usize>,
    meter: bool,
    /// Whether it is in segments, and it is worth while to fetch its cells ahead.
    large: bool,
}

/// Parameters of actions that become the number of a cell of a counter or meter, as far as plain assignments tell.
pub(super) fn cells(ir: &Ir) -> HashMap<VarId, Vec<Cells>> {
    let mut of: HashMap<VarId, Vec<Cells>> = HashMap::new();
    let mut note = |index: &Expr, array: Cells| {
        if let Some(v) = variable(index) {
            let arrays = of.entry(v).or_default();
            if !arrays.contains(&array) {
                arrays.push(array);
            }
        }
    };
    crate::graph::visit_all(ir, &mut |s| match s {
        Stmt::Extern(Extern::Count { counter, index }) => {
            let info = &ir.program.counters[*counter];
            let array = format!("sp_n{}", counter.index());
            note(index, Cells { array, a_core: Some(counter.index()), meter: false, large: cells_grow(info.size, info.table) });
        }
        Stmt::Extern(Extern::Meter { meter, index, .. }) => {
            let info = &ir.program.meters[*meter];
            let array = format!("sp_p{}", meter.index());
            note(index, Cells { array, a_core: None, meter: true, large: cells_grow(info.size, info.table) });
        }
        _ => {}
    });
    let mut params = HashMap::new();
    for action in ir.actions.values() {
        for p in &action.params {
            let mut arrays = of.get(p).cloned().unwrap_or_default();
            p4_ir::walk::all_stmts(&action.body, &mut |s| {
                if let Stmt::Assign(LValue::Var(to), value) = s
                    && variable(value) == Some(*p)
                {
                    arrays.extend(of.get(to).cloned().unwrap_or_default());
                }
            });
            if !arrays.is_empty() {
                params.insert(*p, arrays);
            }
        }
    }
    params
}

/// The variable that an expression is, but for its width.
fn variable(e: &Expr) -> Option<VarId> {
    match &e.kind {
        ExprKind::Var(v) => Some(*v),
        ExprKind::Cast(inner) => variable(inner),
        _ => None,
    }
}
