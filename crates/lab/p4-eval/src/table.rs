//! Which entry of a table does a packet meet, and what runs then (P4_16 §14.2)?

use crate::call::{Argument, Body};
use crate::names::Entity;
use crate::value::{Ty, Value, cast, pattern};
use crate::{Evaluator, R, Stop};
use p4_syntax::BigInt;
use p4_syntax::ast::{self, ExprKind};
use program::{Batch, KeyMatch, Op, Program};

pub(crate) struct Table<'a> {
    /// As the control plane calls it.
    pub name: String,
    decl: &'a ast::TableDecl,
    /// What its entries and default action see.
    scope: usize,
    entries: Vec<Entry<'a>>,
    default: Option<Run>,
    pub hits: u64,
    pub misses: u64,
}

struct Entry<'a> {
    keys: Keys<'a>,
    /// Larger wins; of equal ones the first.
    priority: BigInt,
    run: Run,
}

#[derive(Clone, PartialEq)]
enum Keys<'a> {
    Written(&'a ast::Keyset),
    Given(Vec<KeyMatch>),
}

/// An action of the table's list, and the values of its parameters without direction.
#[derive(Clone)]
struct Run {
    position: usize,
    args: Vec<Value>,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new_table(&mut self, decl: &'a ast::TableDecl, name: String) -> R<usize> {
        if decl.property("implementation").is_some() {
            return Err(Stop::cannot("an action profile"));
        }
        self.tables.push(Table { name, decl, scope: 0, entries: Vec::new(), default: None, hits: 0, misses: 0 });
        Ok(self.tables.len() - 1)
    }

    /// Entries and default action as the program says; its names are looked up in `scope`.
    pub(crate) fn fill_table(&mut self, table: usize, scope: usize) -> R<()> {
        let decl = self.tables[table].decl;
        self.tables[table].scope = scope;
        if let Some((_, value)) = decl.property("default_action") {
            let (path, args) = match &value.kind {
                ExprKind::Path(p) => (p, None),
                ExprKind::Call { callee, args, .. } => match &callee.kind {
                    ExprKind::Path(p) => (p, Some(args.as_slice())),
                    _ => return Err(Stop::cannot("this default action")),
                },
                _ => return Err(Stop::cannot("this default action")),
            };
            self.tables[table].default = self.run_of(decl, path, args, scope)?;
        }
        let Some((is_const, list)) = decl.entries() else { return Ok(()) };
        let flag = |e: &mut Self, name: &str| -> R<Option<Value>> { decl.property(name).map(|(_, v)| e.eval(v, scope)).transpose() };
        let larger = flag(self, "largest_priority_wins")?.is_none_or(|v| v == Value::Bool(true));
        let delta = flag(self, "priority_delta")?.map_or(Ok(BigInt::from(1)), |v| v.number())?;
        let mut priorities = Vec::new();
        for e in list {
            priorities.push(match &e.priority {
                Some(p) => Some(self.eval(p, scope)?.number()?),
                None => None,
            });
        }
        // §14.2.1.4.1
        let n = list.len();
        let step = if larger { -delta.clone() } else { delta.clone() };
        let mut priority = match priorities.first() {
            Some(Some(first)) => first.clone(),
            _ if larger && !is_const => delta * BigInt::from(n.saturating_sub(1)) + 1,
            _ => BigInt::from(1),
        };
        for (i, (e, given)) in list.iter().zip(priorities).enumerate() {
            if let Some(p) = given {
                priority = p;
            } else if i > 0 {
                priority += &step;
            }
            // Of constant entries the first that matches wins.
            let rank = if is_const {
                BigInt::from(n - i)
            } else if larger {
                priority.clone()
            } else {
                -priority.clone()
            };
            let run = self.run_of(decl, &e.action.path, e.action.args.as_deref(), scope)?;
            let run = run.ok_or_else(|| Stop::cannot("an entry whose action is not in the list"))?;
            self.tables[table].entries.push(Entry { keys: Keys::Written(&e.keyset), priority: rank, run });
        }
        Ok(())
    }

    fn action(&self, path: &ast::Path, scope: usize) -> R<(&'a ast::ActionDecl, usize)> {
        match self.find(scope, path)? {
            Entity::Action(decl, from) => Ok((decl, from)),
            _ => Err(Stop::cannot("this action")),
        }
    }

    /// An action as a default action or an entry names it.
    fn run_of(&mut self, decl: &'a ast::TableDecl, path: &'a ast::Path, args: Option<&'a [ast::Arg]>, scope: usize) -> R<Option<Run>> {
        let list = decl.actions().unwrap_or(&[]);
        let (action, from) = self.action(path, scope)?;
        let same = |r: &ast::ActionRef| self.action(&r.path, scope).is_ok_and(|(a, _)| std::ptr::eq(a, action));
        let Some(position) = list.iter().position(same) else {
            // `NoAction` need not be listed.
            return if action.body.stmts.is_empty() { Ok(None) } else { Err(Stop::cannot("an action that is not in the list")) };
        };
        let args = args.unwrap_or(&[]);
        let bound = action.params.iter().filter(|p| p.direction.is_some()).count();
        // `a(x, 1)` repeats what the list binds; `a(1)` does not.
        let args = if args.len() == action.params.len() { &args[bound..] } else { args };
        let mut values = Vec::new();
        for (i, p) in action.params[bound..].iter().enumerate() {
            let named = args.iter().find(|a| a.name.as_ref().is_some_and(|n| n.name == p.name.name));
            let arg = named.or_else(|| args.get(i)).map(|a| &a.value).or(p.default.as_ref());
            let ty = self.resolve(&p.ty, from)?;
            values.push(self.eval(arg.ok_or_else(|| Stop::cannot("an action without its argument"))?, scope)?.becomes(&ty)?);
        }
        Ok(Some(Run { position, args: values }))
    }

    // -----------------------------------------------------------------------------------------------------------------
    // The control plane

    /// Applies changes of entries and default actions; `program` says which table and action an id means.
    pub fn apply(&mut self, batch: &Batch, program: &Program) -> Result<(), Stop> {
        for op in &batch.ops {
            match op {
                Op::Insert(e) | Op::Modify(e) | Op::Delete(e) => {
                    let (at, run) = self.given(program, e.table, e.action, &e.args)?;
                    let list = &mut self.tables[at].entries;
                    let (keys, priority) = (Keys::Given(e.keys.clone()), BigInt::from(e.priority));
                    let old = list.iter().position(|x| x.keys == keys && x.priority == priority);
                    match (op, old) {
                        (Op::Insert(_), None) => list.push(Entry { keys, priority, run }),
                        (Op::Modify(_), Some(i)) => list[i].run = run,
                        (Op::Delete(_), Some(i)) => {
                            list.remove(i);
                        }
                        _ => return Err(Stop::cannot("this change of an entry")),
                    }
                }
                Op::SetDefault { table, action, args } => {
                    let (at, run) = self.given(program, *table, *action, args)?;
                    self.tables[at].default = Some(run);
                }
                _ => return Err(Stop::cannot("a change of anything but entries")),
            }
        }
        Ok(())
    }

    fn given(&mut self, program: &Program, table: program::TableId, action: program::ActionId, args: &[u128]) -> R<(usize, Run)> {
        let info = &program.tables[table];
        let at = self.tables.iter().position(|t| t.name == info.full_name);
        let at = at.ok_or_else(|| Stop::cannot(format!("table {}", info.full_name)))?;
        let position = info.actions.iter().position(|u| u.action == action).ok_or_else(|| Stop::cannot("this action"))?;
        let (decl, scope) = (self.tables[at].decl, self.tables[at].scope);
        let listed = decl.actions().and_then(|l| l.get(position)).ok_or_else(|| Stop::cannot("this action"))?;
        let (action, from) = self.action(&listed.path, scope)?;
        let (mut values, mut args) = (Vec::new(), args.iter());
        for p in action.params.iter().filter(|p| p.direction.is_none()) {
            let ty = self.resolve(&p.ty, from)?;
            // The control plane gives no number of no bits.
            let arg = if matches!(ty, Ty::Bits { width: 0, .. }) { Some(&0) } else { args.next() };
            let Some(arg) = arg else { break };
            values.push(match &ty {
                Ty::Enum(e) => Value::Enum(e.clone(), *arg as usize),
                _ => cast(Value::Number(BigInt::from(*arg)), &ty)?,
            });
        }
        Ok((at, Run { position, args: values }))
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Packets

    /// Whether it hit, and the name of the action that ran. `from` is the scope in which the table stands now.
    pub(crate) fn apply_table(&mut self, table: usize, from: usize) -> R<(bool, String)> {
        self.burn()?;
        let decl = self.tables[table].decl;
        let key = decl.key().unwrap_or(&[]);
        let mut values = Vec::new();
        for k in key {
            values.push(self.eval(&k.expr, from)?);
        }
        let kinds: Vec<&'a str> = key.iter().map(|k| k.match_kind.name.as_str()).collect();
        let ranked = kinds.iter().any(|k| !matches!(*k, "exact" | "lpm"));
        let mut best: Option<(BigInt, usize)> = None;
        for i in 0..self.tables[table].entries.len() {
            let Some(prefix) = self.entry_holds(table, i, &kinds, &values)? else { continue };
            let rank = if ranked { self.tables[table].entries[i].priority.clone() } else { BigInt::from(prefix) };
            if best.as_ref().is_none_or(|(b, _)| rank > *b) {
                best = Some((rank, i));
            }
        }
        let found = best.filter(|_| !key.is_empty()).map(|(_, i)| self.tables[table].entries[i].run.clone());
        let hit = found.is_some();
        *if hit { &mut self.tables[table].hits } else { &mut self.tables[table].misses } += 1;
        let Some(run) = found.or_else(|| self.tables[table].default.clone()) else {
            return Ok((hit, "NoAction".into()));
        };
        let listed = &decl.actions().unwrap_or(&[])[run.position];
        let (action, scope) = self.action(&listed.path, from)?;
        let bound = action.params.iter().filter(|p| p.direction.is_some()).count();
        let mut given = self.arguments(&action.params[..bound], listed.args.as_deref().unwrap_or(&[]), from, scope)?;
        given.extend(run.args.into_iter().map(|v| Some(Argument { to: None, value: Some(v), object: None, order: usize::MAX })));
        self.run_callable(Body::Action(action), &action.params, given, &[], scope)?;
        Ok((hit, listed.path.name.name.clone()))
    }

    /// Whether an entry matches, and the length of its prefix then.
    fn entry_holds(&mut self, table: usize, entry: usize, kinds: &[&str], values: &[Value]) -> R<Option<u32>> {
        let mut prefix = 0;
        match self.tables[table].entries[entry].keys.clone() {
            Keys::Given(keys) => {
                for (m, v) in keys.iter().zip(values) {
                    let (n, width) = (self.key_bits(v)?, width_of(v));
                    let holds = match *m {
                        KeyMatch::Exact(x) | KeyMatch::Optional(Some(x)) => n == BigInt::from(x),
                        KeyMatch::Optional(None) => true,
                        KeyMatch::Ternary { value, mask } => n & BigInt::from(mask) == BigInt::from(value),
                        KeyMatch::Range { low, high } => BigInt::from(low) <= n && n <= BigInt::from(high),
                        KeyMatch::Lpm { value, prefix_len } => {
                            prefix = prefix_len;
                            let below = width - prefix_len;
                            n >> below == BigInt::from(value) >> below
                        }
                    };
                    if !holds {
                        return Ok(None);
                    }
                }
            }
            Keys::Written(keyset) => {
                let scope = self.tables[table].scope;
                let everything = |e: &ast::Expr| matches!(e.kind, ExprKind::Default | ExprKind::DontCare);
                if keyset.elems.len() == 1 && everything(&keyset.elems[0]) {
                    return Ok(Some(0));
                }
                if keyset.elems.len() != values.len() {
                    return Err(Stop::cannot("this entry"));
                }
                for ((e, v), kind) in keyset.elems.iter().zip(values).zip(kinds) {
                    if !self.set_holds(e, v, scope)? {
                        return Ok(None);
                    }
                    if *kind == "lpm" {
                        prefix = match &e.kind {
                            ExprKind::Mask { mask, .. } => {
                                let mask = self.eval(mask, scope)?.becomes(&v.ty())?.number()?;
                                let bits = pattern(&mask, width_of(v));
                                (0..width_of(v)).filter(|i| bits.bit(u64::from(*i))).count() as u32
                            }
                            _ if everything(e) => 0,
                            _ => width_of(v),
                        };
                    }
                }
            }
        }
        Ok(Some(prefix))
    }

    /// A key's bits as the control plane writes them.
    fn key_bits(&self, v: &Value) -> R<BigInt> {
        match v {
            Value::Bits { value, width, .. } => Ok(pattern(value, *width)),
            Value::Error(name) => {
                let code = self.errors.iter().position(|e| e == name);
                Ok(BigInt::from(code.ok_or_else(|| Stop::cannot("an error without code"))?))
            }
            other => other.number(),
        }
    }
}

fn width_of(v: &Value) -> u32 {
    match v {
        Value::Bits { width, .. } => *width,
        Value::Bool(_) => 1,
        _ => 32,
    }
}
