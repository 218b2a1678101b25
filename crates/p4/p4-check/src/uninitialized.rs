//! Which variables are read before anything is assigned to them? Those declared without a value, of which no part has been written on any
//! way to some read: so nothing is said of what only some ways leave open, and what is said is always so.
//!
//! Not here: `out` parameters that are not set, fields of structs one by one, headers that are not valid.

use crate::cx::Cx;
use crate::value::{Tv, Val};
use p4_analysis::control::actions;
use p4_analysis::effects::{Place, stmt_writes};
use p4_ir::{Block, Expr, Ir, LValue, Stmt, VarId, walk};
use p4_syntax::{Span, ast};
use std::collections::{BTreeSet, HashMap};

/// A variable declared without a value.
pub(crate) struct Declared<'a> {
    name: &'a ast::Ident,
    parts: Vec<VarId>,
}

impl<'a> Cx<'a> {
    /// Notes a variable that has no value yet. With headers in it that is nothing: they are invalid.
    pub(crate) fn note_unset(&mut self, name: &'a ast::Ident, v: &Tv) {
        if !self.whole.unused_walk && plain(&v.val) {
            let mut parts = Vec::new();
            crate::program::variables(&v.val, &mut parts);
            self.whole.unset.push(Declared { name, parts });
        }
    }

    /// Warns, when the program is whole.
    pub(crate) fn uninitialized(&mut self) {
        let declared = std::mem::take(&mut self.whole.unset);
        if declared.is_empty() || self.sink.has_errors() {
            return;
        }
        let ir = &self.build.ir;
        let of = declared.iter().enumerate().flat_map(|(i, d)| d.parts.iter().map(move |v| (*v, i))).collect();
        let mut w = Walker { ir, of, written: vec![false; declared.len()], log: Vec::new(), found: BTreeSet::new() };
        for pipe in ir.pipes.values() {
            w.block(&pipe.parser.init);
            // States come in any order, and more than once.
            let states: Vec<&Block> = ir.states_from(pipe.parser.start).into_iter().map(|s| &ir.states[s].body).collect();
            states.iter().for_each(|s| w.writes(s));
            states.iter().for_each(|s| w.block(s));
            pipe.after_parser().for_each(|b| w.block(b));
        }
        let found: BTreeSet<(Span, &str)> = w.found.iter().map(|i| (declared[*i].name.span, declared[*i].name.name.as_str())).collect();
        for (span, name) in found {
            self.warn("uninitialized", span, format!("`{name}` is read before anything is assigned to it"));
        }
    }
}

/// Whether a value is made of variables only.
pub(crate) fn plain(v: &Val) -> bool {
    match v {
        Val::Place(LValue::Var(_), _) => true,
        Val::Agg(vs) | Val::Array(vs) => vs.iter().all(plain),
        _ => false,
    }
}

struct Walker<'a> {
    ir: &'a Ir,
    /// Which declaration a variable belongs to.
    of: HashMap<VarId, usize>,
    /// Of which some way here has written some part.
    written: Vec<bool>,
    /// These in the order in which that came to be known, so that it can be taken back.
    log: Vec<usize>,
    found: BTreeSet<usize>,
}

impl Walker<'_> {
    fn block(&mut self, block: &[Stmt]) {
        for s in block {
            self.stmt(s);
        }
    }

    fn stmt(&mut self, s: &Stmt) {
        walk::stmt_exprs(s, &mut |e| self.read(e));
        match s {
            Stmt::If(_, a, b) => self.branches([a, b].into_iter()),
            Stmt::Switch { cases, default, .. } => self.branches(cases.iter().map(|(_, b)| b).chain([default])),
            // The second round sees what the first has written.
            Stmt::Loop(body) => {
                self.writes(body);
                self.block(body);
            }
            Stmt::Labeled(_, body) => self.block(body),
            Stmt::Apply { table, .. } => {
                let ir = self.ir;
                ir.tables[*table].keys.iter().for_each(|k| self.read(k));
                let run = actions(ir, *table);
                self.branches(run.into_iter().map(|a| &ir.actions[a].body));
            }
            _ => {}
        }
        let ir = self.ir;
        stmt_writes(ir, s, &mut |p| self.write(p));
    }

    /// Blocks of which one runs.
    fn branches<'b>(&mut self, blocks: impl Iterator<Item = &'b Block>) {
        let before = self.log.len();
        let mut after: BTreeSet<usize> = BTreeSet::new();
        for b in blocks {
            self.block(b);
            for i in self.log.split_off(before) {
                self.written[i] = false;
                after.insert(i);
            }
        }
        after.into_iter().for_each(|i| self.set(i));
    }

    /// All that a block may write, without a look at what it reads.
    fn writes(&mut self, block: &Block) {
        let ir = self.ir;
        walk::all_stmts(block, &mut |s| {
            stmt_writes(ir, s, &mut |p| self.write(p));
            if let Stmt::Apply { table, .. } = s {
                actions(ir, *table).into_iter().for_each(|a| self.writes(&ir.actions[a].body));
            }
        });
    }

    fn write(&mut self, place: Place) {
        if let Place::Var(v) = place
            && let Some(i) = self.of.get(&v).copied()
        {
            self.set(i);
        }
    }

    fn set(&mut self, i: usize) {
        if !std::mem::replace(&mut self.written[i], true) {
            self.log.push(i);
        }
    }

    fn read(&mut self, e: &Expr) {
        let (of, written, found) = (&self.of, &self.written, &mut self.found);
        walk::read_vars(e, &mut |v| {
            if let Some(i) = of.get(&v)
                && !written[*i]
            {
                found.insert(*i);
            }
        });
    }
}
