//! Variables that only ever hold a parameter of one action are read from the record in which the action found it.
//!
//! Records stay where they are while a burst is worked on. So an action that sets many variables, as that of a rule does,
//! keeps one pointer for the packet instead of copying them all; the variables are read where they are used. Before the
//! action has run they are zero, as those of the record `sp_zero_...` that the pointer leads to at first.

use crate::emitter::{Cells, Emitter};
use crate::graph::visit_all;
use crate::layout::member;
use crate::model::Model;
use cranelift_entity::EntityRef;
use p4_analysis::control::actions;
use p4_analysis::effects::read_anywhere;
use p4_ir::{ActionId, ExprKind, Extern, Ir, LValue, Stmt, TableId, VarId, walk};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Fewer variables than that are copied.
const FEW: usize = 4;

/// The variables, their actions and which parameter they are; and for each such action a table whose records hold it.
#[derive(Default)]
pub struct ActionParams {
    /// By variable.
    pub vars: BTreeMap<VarId, (ActionId, usize)>,
    /// By action.
    pub tables: BTreeMap<ActionId, TableId>,
    /// The cells that each such action asks for, and the parameter that is their index.
    pub(crate) cells: BTreeMap<ActionId, BTreeSet<(Cells, usize)>>,
}

/// Finds them.
pub(crate) fn find(ir: &Ir) -> ActionParams {
    // How often each variable is written.
    let mut writes: BTreeMap<VarId, usize> = BTreeMap::new();
    visit_all(ir, &mut |stmt| {
        let mut wrote = |v: VarId| *writes.entry(v).or_default() += 1;
        walk::stmt_lvalues(stmt, &mut |l| l.root_var().into_iter().for_each(&mut wrote));
        if let Stmt::Apply { hit, action_run, .. } = stmt {
            hit.iter().chain(action_run).for_each(|v| wrote(*v));
        }
    });
    let architecture: BTreeSet<VarId> = ir.intrinsic.standard.values().copied().collect();
    let mut tables: BTreeMap<ActionId, Vec<TableId>> = BTreeMap::new();
    for table in ir.program.tables.keys() {
        actions(ir, table).into_iter().for_each(|action| tables.entry(action).or_default().push(table));
    }
    let mut found = ActionParams::default();
    for (action, code) in &ir.actions {
        let with = tables.get(&action).map_or(&[][..], |with| &with[..]);
        let Some(table) = with.first() else { continue };
        // In the records of all tables the parameters must be at the same places.
        let counted = |t: &TableId| ir.program.tables[*t].direct_counter.is_some() || ir.program.tables[*t].direct_meter.is_some();
        if with.iter().any(|t| counted(t) != counted(table)) {
            continue;
        }
        let mut vars = BTreeMap::new();
        for stmt in &code.body {
            if let Stmt::Assign(LValue::Var(v), e) = stmt
                && let ExprKind::Var(from) = e.kind
                && let Some(param) = code.params.iter().position(|p| *p == from)
                && writes.get(v) == Some(&1)
                && !writes.contains_key(&from)
                && !code.params.contains(v)
                && !architecture.contains(v)
                && !found.vars.contains_key(v)
            {
                vars.insert(*v, (action, param));
            }
        }
        // The action itself must not see them change before it says so.
        let mut seen = BTreeSet::new();
        walk::all_stmts(&code.body, &mut |s| walk::stmt_exprs(s, &mut |e| walk::read_vars(e, &mut |v| seen.extend([v]))));
        // Nor may it end before.
        let straight = code.body.iter().all(|s| matches!(s, Stmt::Assign(LValue::Var(_), _)));
        if vars.len() >= FEW && straight && !vars.keys().any(|v| seen.contains(v)) {
            found.tables.insert(action, *table);
            found.vars.extend(vars);
        }
    }
    // An action whose code also runs elsewhere than in tables has its statements there too: those count as writes. What
    // nothing reads is not worth a word.
    let mut read = read_anywhere(ir);
    let intrinsics = [ir.intrinsic.mark, ir.intrinsic.drop_reason, ir.intrinsic.pdu_length];
    read.extend(intrinsics.into_iter().flatten());
    found.vars.retain(|v, _| read.contains(v));
    found
}

/// The records that pointers lead to before the action has run.
pub(crate) fn text(ir: &Ir, model: &Model) -> String {
    let mut out = String::new();
    for (action, table) in &model.action_params.tables {
        let (a, t) = (&model.actions[action.index()], &model.tables[table.index()]);
        let _ = writeln!(out, "static const struct record_{t} sp_zero_{a};");
    }
    if !out.is_empty() {
        let _ = writeln!(out);
    }
    debug_assert!(model.action_params.vars.values().all(|(a, p)| *p < ir.program.actions[*a].params.len()));
    out
}

impl Emitter<'_> {
    /// C text of a variable that is read from a record.
    pub(crate) fn action_param(&mut self, v: VarId) -> Option<String> {
        let (action, param) = *self.model.action_params.vars.get(&v)?;
        self.scope_record(action);
        let name = &self.model.actions[action.index()];
        Some(format!("rule_{name}->{name}.{}", member(self.ir, action, param)))
    }

    /// Text by which an action that is about to run keeps its record.
    pub(crate) fn lend(&mut self, action: ActionId) {
        if !self.model.action_params.tables.contains_key(&action) {
            return;
        }
        self.scope_record(action);
        let name = self.model.actions[action.index()].clone();
        let through = if self.shared.records.contains(&action) { format!(" c->rule_{name} = rule_{name};") } else { String::new() };
        self.line(format!("rule_{name} = (const void *)r;{through}"));
        let vars = &self.model.action_params.vars;
        if let Some(facts) = self.facts_mut() {
            facts.values.retain(|v, _| vars.get(v).is_none_or(|(a, _)| *a != action));
        }
        self.prefetch(action);
    }

    /// Asks for the cells of counters, meters and registers whose index is a parameter of the action: they are used later.
    fn prefetch(&mut self, action: ActionId) {
        self.prefetch_of(action, "r");
    }

    /// The same of a record.
    fn prefetch_of(&mut self, action: ActionId, record: &str) {
        let (ir, model) = (self.ir, self.model);
        let name = &model.actions[action.index()];
        let cells: Vec<_> = model.action_params.cells.get(&action).into_iter().flatten().collect();
        let mut seen = BTreeSet::new();
        let (first, more): (Vec<_>, Vec<_>) = cells.into_iter().partition(|(of, _)| seen.insert(*of));
        let expect = |e: &mut Self, list: &[&(Cells, usize)]| {
            for (of, param) in list {
                let of = e.cells(*of);
                e.line(format!("sp_expect({of}, {record}->{name}.{});", member(ir, action, *param)));
            }
        };
        expect(self, &first);
        if !more.is_empty() {
            // Most rules use one cell of an array; the numbers of the others are 0.
            let others = more.iter().map(|(_, param)| format!("{record}->{name}.{}", member(ir, action, *param)));
            self.open(format!("if ({})", others.collect::<Vec<_>>().join(" | ")));
            expect(self, &more);
            self.close();
        }
    }

    /// Whether this stage asks for the cells of an action's record again, which it was handed: a burst of 64 has more lines than the cache nearest to the
    /// processor keeps.
    pub(crate) fn asks_again(&self, action: ActionId) -> bool {
        self.uses_near() && self.model.action_params.cells.contains_key(&action)
    }

    /// Asks again for the cells of a packet that comes soon.
    pub(crate) fn prefetch_ahead(&mut self, action: ActionId) {
        let (name, table) = (&self.model.actions[action.index()], self.model.action_params.tables[&action]);
        self.open(format!("if (todo & bit << {AHEAD})"));
        let table = &self.model.tables[table.index()];
        self.line(format!("const struct record_{table} *const soon = sp_context(run, i + {AHEAD})->rule_{name};"));
        self.prefetch_of(action, "soon");
        self.close();
    }
}

/// How many packets later one comes whose cells are asked for again.
const AHEAD: usize = 3;

/// Those of all actions.
pub(crate) fn cells(ir: &Ir, model: &Model) -> BTreeMap<ActionId, BTreeSet<(Cells, usize)>> {
    let mut cells: BTreeMap<ActionId, BTreeSet<(Cells, usize)>> = BTreeMap::new();
    visit_all(ir, &mut |s| {
        let index = match s {
            Stmt::Extern(Extern::Meter { index, .. } | Extern::Count { index, .. } | Extern::RegisterRead { index, .. }) => index,
            _ => return,
        };
        let ExprKind::Var(v) = index.kind else { return };
        let Some((action, param)) = model.action_params.vars.get(&v) else { return };
        let of = match s {
            Stmt::Extern(Extern::Meter { meter, .. }) => Cells::Meter(*meter),
            Stmt::Extern(Extern::Count { counter, .. }) => Cells::Counter(*counter),
            Stmt::Extern(Extern::RegisterRead { register, .. }) if ir.program.registers[*register].width <= 64 => {
                Cells::Register(*register)
            }
            _ => return,
        };
        cells.entry(*action).or_default().insert((of, *param));
    });
    cells
}
