//! How does a parser become states of the IR? Sub-parsers are inlined where they are applied (P4_16 §13).

use super::args::{Args, Binding, Param, Subst};
use super::cx::Cx;
use super::ids::IdOf;
use super::instances::ObjKind;
use crate::names::decls::BlockDecl;
use crate::names::scope::{Entity, ScopeId, nearest};
use crate::names::sink::{R, count};
use crate::types::*;
use crate::values::body::{Body, Copies, Frame, Region};
use crate::values::origins::origin;
use p4_ir::origin::{Construct, Holder};
use p4_ir::{Bits, ExprKind, KeySet, Next, SelectCase, State, StateId, Transition, Ty, ValueSet, ValueSetId};
use p4_syntax::{Diagnostic, Span, ast};
use std::collections::{HashMap, HashSet};

/// Where the states of one parser instance are.
struct Targets<'a> {
    states: HashMap<&'a str, StateId>,
    accept: Next,
}

impl<'a> Cx<'a> {
    /// `p.apply(args)` in a state: the state ends here, and another continues after the sub-parser.
    pub(crate) fn apply_parser(&mut self, obj: ObjId, args: &'a [ast::Arg], span: Span) -> R<()> {
        if self.body.region != Region::Parser {
            return Err(self.error("misplaced", span, "a parser can be applied only in the states of a parser"));
        }
        let Some(state) = self.body.state else {
            return Err(self.unsupported(span, "applying a parser inside of another statement"));
        };
        let ObjKind::Block(inst) = self.kind(obj) else { return Err(self.bug(span, "parser")) };
        let (block, targs) = (inst.block, inst.targs.clone());
        let decl = self.decls.block(block);
        let name = decl.name().name.clone();
        let mut subst = Subst::default();
        let params = self.block_params(block, &targs, &mut subst)?;
        let found = self.match_args(&name, decl.params(), args, span)?;
        let callee = self.scopes.add(ScopeId::GLOBAL, decl.seen());
        let values = self.eval_args(&name, &params, &found, &mut subst, callee, span)?;
        self.settle_targs(obj, &subst);
        let name = format!("{}.after", self.objects.path(obj));
        let after = self.build.ir.states.push(State { name, body: Vec::new(), next: Transition::Goto(Next::Reject), likely: None });
        self.nested(span, |cx| {
            let (start, copy_out) = cx.inline_parser(obj, &params, values, Next::State(after), true, span)?;
            // What `inline_parser` emitted (copy-in, initial values) is still part of this state.
            cx.build.end_state(state);
            cx.build.ir.states[state].next = Transition::Goto(start);
            cx.body.state = Some(after);
            cx.copy_out(&copy_out)
        })
    }

    /// Lowers a parser instance's states; `accept` becomes `accept`. Initial values and copies go to the current block.
    pub(crate) fn inline_parser(
        &mut self,
        obj: ObjId,
        params: &[Param<'a>],
        args: Args,
        accept: Next,
        nested: bool,
        span: Span,
    ) -> R<(Next, Copies)> {
        let path = self.objects.path(obj).to_owned();
        let ObjKind::Block(inst) = self.kind(obj) else { return Err(self.bug(span, "parser")) };
        let inst = inst.clone();
        let BlockDecl::Parser(decl, seen) = self.decls.block(inst.block) else { return Err(self.bug(span, "parser")) };
        let Some(body) = &decl.body else {
            if self.whole.unused_walk {
                return Ok((accept, Vec::new()));
            }
            return Err(self.error("no-body", span, format!("parser `{}` has no body", decl.name.name)));
        };
        // A generic one is looked at by itself too: here its type parameters are known.
        if decl.type_params.is_empty() {
            self.whole.lowers(decl);
        }
        let outer = self.type_scope((ScopeId::GLOBAL, seen), &decl.type_params, &inst.targs, &mut Subst::default());
        self.declare_constructor_params(outer, &decl.constructor_params, &inst.args);
        let (_, copy_out) = self.bind(outer, &path, params, args, Binding::Share)?;
        let locals = self.new_scope(outer);
        let mut frames = self.body.frames.clone();
        frames.push(Frame { copy_out: copy_out.clone(), ..Frame::default() });
        let inner = Body { scope: locals, region: Region::Parser, path, frames, state: None, ..self.body.clone() };
        let start = self.in_body(inner, |cx| {
            for d in &body.locals {
                let _ = cx.parser_local(d);
            }
            cx.states(decl, body, accept, nested)
        })?;
        Ok((start, copy_out))
    }

    fn parser_local(&mut self, d: &'a ast::Decl) -> R<()> {
        match &d.kind {
            // A sub-parser's states are copied for each application.
            ast::DeclKind::Instantiation(i) => self.declare_instance(i, &d.annotations, true),
            ast::DeclKind::ValueSet(v) => self.declare_value_set(v, &d.annotations),
            _ => self.local(d),
        }
    }

    /// Lowers all states; gives the start.
    fn states(&mut self, decl: &'a ast::ParserDecl, body: &'a ast::ParserBody, accept: Next, nested: bool) -> R<Next> {
        let mut targets = Targets { states: HashMap::new(), accept };
        let mut first: HashMap<&str, Span> = HashMap::new();
        let prefix = if nested { format!("{}.", self.body.path) } else { String::new() };
        for s in &body.states {
            let name = s.name.name.as_str();
            if matches!(name, "accept" | "reject") {
                self.error("duplicate", s.name.span, format!("state `{name}` is built in and cannot be declared"));
                continue;
            }
            if let Some(span) = first.insert(name, s.name.span) {
                let d = Diagnostic::error("duplicate", s.name.span, format!("state `{name}` is declared twice"));
                self.report(d.with_place(span, "first declared here"));
                continue;
            }
            let label = match ast::find_annotation(&s.annotations, "name").and_then(ast::Annotation::string) {
                Some(n) => n,
                None => name,
            };
            let (name_in_ir, next) = (format!("{prefix}{label}"), Transition::Goto(Next::Reject));
            let marked = |name| ast::find_annotation(&s.annotations, name).is_some();
            let likely = if marked("unlikely") { Some(false) } else { marked("likely").then_some(true) };
            self.build.ir.origins.hold(Holder::State(name_in_ir.clone()), origin(s.span));
            let id = self.build.ir.states.push(State { name: name_in_ir, body: Vec::new(), next, likely });
            targets.states.insert(name, id);
        }
        let Some(start) = targets.states.get("start").copied() else {
            let message = format!("parser `{}` has no state `start`", decl.name.name);
            return Err(self.error("parser", decl.name.span, message));
        };
        self.ends(decl, body);
        let mut reached: HashSet<&str> = HashSet::from(["start"]);
        let mut last: HashSet<StateId> = HashSet::new();
        for s in &body.states {
            let Some(id) = targets.states.get(s.name.name.as_str()).copied() else { continue };
            if !last.insert(id) {
                continue;
            }
            self.lower_state(s, id, &targets);
            reached.extend(names(s));
        }
        for s in body.states.iter().filter(|s| !reached.contains(s.name.name.as_str())) {
            self.warn("unreachable", s.name.span, format!("no state goes to state `{}`", s.name.name));
        }
        Ok(Next::State(start))
    }

    /// A parser that can only go round is a mistake: some state that `start` leads to must accept or reject.
    fn ends(&mut self, decl: &'a ast::ParserDecl, body: &'a ast::ParserBody) {
        let by_name: HashMap<&str, &ast::ParserState> = body.states.iter().map(|s| (s.name.name.as_str(), s)).collect();
        let mut seen: HashSet<&str> = HashSet::from(["start"]);
        let mut work = vec!["start"];
        while let Some(name) = work.pop() {
            // What is not declared has its own message; `accept` and `reject` are not declared either.
            let Some(s) = by_name.get(name) else { return };
            let default = |c: &ast::SelectCase| matches!(c.keyset.elems.as_slice(), [e] if matches!(e.kind, ast::ExprKind::Default | ast::ExprKind::DontCare));
            match &s.transition {
                Some(ast::Transition::Select(select)) if !select.cases.iter().any(default) => return,
                None => return,
                _ => {}
            }
            work.extend(names(s).into_iter().filter(|n| seen.insert(n)));
        }
        let message = format!("parser `{}` never accepts or rejects: its states lead only to each other", decl.name.name);
        self.error("parser", decl.name.span, message);
    }

    fn lower_state(&mut self, s: &'a ast::ParserState, id: StateId, targets: &Targets<'a>) {
        let scope = self.inner_scope();
        let body = Body { scope, state: Some(id), ..self.body.clone() };
        let outer = self.build.replace_block(Vec::new());
        self.in_body(body, |cx| {
            cx.stmts(&s.stmts);
            let next = cx.transition(s, targets);
            // A sub-parser in the statements has moved on to a state of its own.
            let at = cx.body.state.unwrap_or(id);
            cx.build.end_state(at);
            if let Ok(next) = next {
                cx.build.ir.states[at].next = next;
            }
        });
        self.build.replace_block(outer);
    }

    fn transition(&mut self, s: &'a ast::ParserState, targets: &Targets<'a>) -> R<Transition> {
        match &s.transition {
            None => {
                let message = format!("state `{}` has no transition, so it rejects", s.name.name);
                self.warn("no-transition", s.name.span, message);
                Ok(Transition::Goto(Next::Reject))
            }
            Some(ast::Transition::Direct(name)) => Ok(Transition::Goto(self.target(name, targets)?)),
            Some(ast::Transition::Select(select)) => self.select_transition(select, targets),
        }
    }

    fn target(&mut self, name: &'a ast::Ident, targets: &Targets<'a>) -> R<Next> {
        match (name.name.as_str(), targets.states.get(name.name.as_str())) {
            (_, Some(id)) => Ok(Next::State(*id)),
            ("accept", None) => Ok(targets.accept),
            ("reject", None) => Ok(Next::Reject),
            (text, None) => {
                let known = targets.states.keys().copied().chain(["accept", "reject"]);
                let near = nearest(text, known);
                let mut d = Diagnostic::error("undeclared", name.span, format!("there is no state `{text}`"));
                if let Some(near) = near {
                    d = d.with_help(format!("did you mean `{near}`?"));
                }
                Err(self.report(d))
            }
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // select (P4_16 §13.6)

    fn select_transition(&mut self, select: &'a ast::Select, targets: &Targets<'a>) -> R<Transition> {
        let values = self.exprs(select.keys.iter());
        let mut failed = None;
        let mut cases = Vec::new();
        let mut keys: Vec<(Type, p4_ir::Expr)> = Vec::new();
        let mut shapes: Vec<Type> = Vec::new();
        match values {
            Ok(values) => {
                for v in &values {
                    shapes.push(tuple_of(&v.ty).unwrap_or(Type::Bad));
                    if let Err(e) = self.select_keys(v, &mut keys) {
                        failed = Some(e);
                    }
                }
            }
            Err(e) => failed = Some(e),
        }
        let mut open = true;
        let bad_keys = failed;
        for c in &select.cases {
            let next = self.target(&c.next, targets);
            let sets = match bad_keys {
                // Without keys only the names can be checked.
                Some(e) => Err(e),
                None => self.case_sets(&c.keyset, &keys, &shapes),
            };
            match (sets, next) {
                (Ok(None), Ok(_)) => {}
                (Ok(Some(sets)), Ok(next)) => {
                    if !open {
                        self.warn("unreachable", c.keyset.span, "an earlier case matches everything, so this one never does");
                    }
                    open &= !sets.iter().all(|s| matches!(s, KeySet::Any));
                    cases.push(SelectCase { sets, next });
                }
                (Err(e), _) | (_, Err(e)) => failed = Some(e),
            }
        }
        if let Some(e) = failed {
            return Err(e);
        }
        // A constant key decides now.
        if let [(_, key)] = keys.as_slice()
            && matches!(key.kind, ExprKind::Const(_))
            && cases.len() == 1
            && !open
        {
            return Ok(Transition::Goto(cases[0].next));
        }
        Ok(Transition::Select { keys: keys.into_iter().map(|(_, e)| e).collect(), cases })
    }

    /// A key of a struct or tuple type stands for its fields.
    fn select_keys(&mut self, v: &Tv, keys: &mut Vec<(Type, p4_ir::Expr)>) -> R<()> {
        if let (Some(e), Some(_)) = (v.val.scalar(), v.ty.scalar()) {
            keys.push((v.ty.clone(), e));
            return Ok(());
        }
        match (&v.ty, &v.val) {
            (Type::Bad, _) => Err(self.poisoned()),
            (Type::Composite(c), _) if c.kind == Kind::Struct => {
                for i in 0..c.fields.len() {
                    let f = self.field(v, c, i, v.span)?;
                    self.select_keys(&f, keys)?;
                }
                Ok(())
            }
            (Type::Tuple(ts), Val::Agg(vs)) => {
                ts.iter().zip(vs.iter()).try_for_each(|(t, x)| self.select_keys(&Tv::value(t.clone(), x.clone(), v.span), keys))
            }
            (Type::ListLit(_), Val::List(vs, _)) => vs.iter().try_for_each(|x| self.select_keys(x, keys)),
            (Type::Int, _) => {
                let d = Diagnostic::error("type-mismatch", v.span, "a number without width cannot be selected on");
                Err(self.report(d))
            }
            (t, _) => Err(self.error("type-mismatch", v.span, format!("{t} cannot be selected on"))),
        }
    }

    /// The sets of a case, one a scalar key; `None` if one of them is empty, so that it never matches.
    fn case_sets(&mut self, set: &'a ast::Keyset, keys: &[(Type, p4_ir::Expr)], shapes: &[Type]) -> R<Option<Vec<KeySet>>> {
        let mut elems: &'a [ast::Expr] = set.elems.as_slice();
        if let [one] = elems {
            if matches!(one.kind, ast::ExprKind::DontCare | ast::ExprKind::Default) {
                return Ok(Some(vec![KeySet::Any; keys.len()]));
            }
            if let Some(id) = self.value_set(one)? {
                let have: Vec<u32> = keys.iter().map(|(t, _)| t.scalar().map_or(0, Ty::width)).collect();
                if self.build.ir.program.value_sets[id].widths != have {
                    let message = "the value set's elements do not have the type of the select's keys";
                    return Err(self.error("type-mismatch", one.span, message));
                }
                self.build.note(Construct::ValueSet, one.span);
                return Ok(Some(vec![KeySet::ValueSet(id)]));
            }
            if let ast::ExprKind::List { items, rest: false } = &one.kind
                && (shapes.len() > 1 || shapes[0].scalar().is_some())
            {
                elems = items;
            }
        }
        // `select(s)` of a struct may have its fields listed without further parentheses.
        let fields = match shapes {
            [one] if elems.len() > 1 && wide_of(one).is_none() => parts(one),
            _ => None,
        };
        let shapes = fields.as_deref().unwrap_or(shapes);
        if elems.len() != shapes.len() {
            let message = format!("the select looks at {}, but this case has {}", count(shapes.len(), "value"), elems.len());
            return Err(self.error("arity", set.span, message));
        }
        let mut sets = Vec::new();
        for (e, t) in elems.iter().zip(shapes) {
            self.sets_of(e, t, &mut sets)?;
        }
        let empty = |s: &KeySet| matches!(s, KeySet::Range { low, high } if low.value() > high.value());
        Ok(if sets.iter().any(empty) { None } else { Some(sets) })
    }

    /// The sets for one key, which may be a struct or tuple.
    fn sets_of(&mut self, e: &'a ast::Expr, ty: &Type, into: &mut Vec<KeySet>) -> R<()> {
        let Some(parts) = parts(ty) else {
            into.push(self.key_set(e, ty)?);
            return Ok(());
        };
        match &e.kind {
            ast::ExprKind::DontCare | ast::ExprKind::Default => parts.iter().try_for_each(|t| self.sets_of(e, t, into)),
            _ if wide_of(ty).is_some() => self.wide_sets(e, ty, into),
            ast::ExprKind::List { items, rest: false } if items.len() == parts.len() => {
                items.iter().zip(&parts).try_for_each(|(e, t)| self.sets_of(e, t, into))
            }
            _ => Err(self.error("type-mismatch", e.span, format!("a list of {} sets is wanted for this key", parts.len()))),
        }
    }

    /// The sets for the pieces of a wide key, the top one first.
    fn wide_sets(&mut self, e: &'a ast::Expr, ty: &Type, into: &mut Vec<KeySet>) -> R<()> {
        let (value, mask) = match &e.kind {
            ast::ExprKind::Mask { value, mask } => (self.wide_pieces(value, ty)?, Some(self.wide_pieces(mask, ty)?)),
            ast::ExprKind::Range { .. } => return Err(self.unsupported(e.span, format!("a range of {ty}"))),
            _ => (self.wide_pieces(e, ty)?, None),
        };
        for (i, value) in value.into_iter().enumerate() {
            let all = Bits::new(value.width(), u128::MAX);
            let mask = mask.as_ref().map_or(all, |m| m[i]);
            into.push(KeySet::Value { value: Bits::new(value.width(), value.value() & mask.value()), mask });
        }
        Ok(())
    }

    fn wide_pieces(&mut self, e: &'a ast::Expr, ty: &Type) -> R<Vec<Bits>> {
        let v = self.pure(e, "a value to match")?;
        let v = self.coerce(v, ty, "the value to match")?;
        let pieces = match &v.val {
            Val::Agg(pieces) => pieces.iter().map(Val::bits).collect(),
            _ => None,
        };
        pieces.ok_or_else(|| self.unsupported(e.span, "a value to match that is not known at compile time"))
    }

    fn key_set(&mut self, e: &'a ast::Expr, ty: &Type) -> R<KeySet> {
        let width = ty.scalar().map_or(1, Ty::width);
        let bits = |v: u128| Bits::new(width, v);
        match &e.kind {
            ast::ExprKind::DontCare | ast::ExprKind::Default => Ok(KeySet::Any),
            ast::ExprKind::Mask { value, mask } => {
                let (v, m) = (self.set_value(value, ty)?, self.set_mask(mask, ty)?);
                Ok(KeySet::Value { value: bits(v & m), mask: bits(m) })
            }
            ast::ExprKind::Range { lo, hi } => {
                // Of an enum the range is one of its underlying values.
                let ends = match ty {
                    Type::Enum(en) => en.underlying.clone().unwrap_or(Type::Bad),
                    t => t.clone(),
                };
                let (low, high) = (self.set_value(lo, &ends)?, self.set_value(hi, &ends)?);
                if low > high {
                    self.warn("unreachable", e.span, "the range is empty: its start is above its end");
                }
                Ok(KeySet::Range { low: bits(low), high: bits(high) })
            }
            _ => match self.value_set(e)? {
                Some(id) if self.build.ir.program.value_sets[id].widths != [width] => {
                    let message = format!("the value set's elements are not of the key's type {ty}");
                    Err(self.error("type-mismatch", e.span, message))
                }
                // Stands for whatever is in the set.
                Some(_) if self.check_only() => Ok(KeySet::Value { value: bits(0), mask: bits(Bits::mask(width)) }),
                Some(_) => Err(self.unsupported(e.span, "a value set for one of several keys")),
                None => {
                    let v = self.pure(e, "a value to match")?;
                    let v = self.coerce(v, ty, "the value to match")?;
                    let Some(v) = v.val.bits().map(Bits::value) else {
                        return Err(self.unsupported(e.span, "a value to match that is not known at compile time"));
                    };
                    Ok(KeySet::Value { value: bits(v), mask: bits(Bits::mask(width)) })
                }
            },
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Value sets (P4_16 §13.11)

    fn value_set(&mut self, e: &'a ast::Expr) -> R<Option<ValueSetId>> {
        let ast::ExprKind::Path(path) = &e.kind else { return Ok(None) };
        match self.find(path).as_deref() {
            Ok([Entity::ValueSet(id), ..]) => Ok(Some(*id)),
            _ => Ok(None),
        }
    }

    pub(crate) fn declare_value_set(&mut self, v: &'a ast::ValueSetDecl, annotations: &'a [ast::Annotation]) -> R<()> {
        let name = self.control_plane_name(&v.name.name, annotations);
        let made = self.resolve(&v.ty).and_then(|ty| {
            let mut widths = Vec::new();
            self.widths(&ty, v.ty.span, &mut widths)?;
            let n = self.const_int(&v.size, "the size of a value set")?;
            let Ok(size) = u64::try_from(&n) else {
                return Err(self.error("out-of-range", v.size.span, format!("a value set cannot have {n} elements")));
            };
            let id = self.build.ir.program.value_sets.push(ValueSet { name, size, widths });
            self.note_id(IdOf::ValueSet(id), annotations);
            Ok(id)
        });
        match made {
            Ok(id) => {
                self.declare(&v.name, Entity::ValueSet(id));
                Ok(())
            }
            Err(e) => {
                self.declare(&v.name, Entity::Bad);
                Err(e)
            }
        }
    }

    fn widths(&mut self, ty: &Type, span: Span, into: &mut Vec<u32>) -> R<()> {
        if let Some(t) = ty.scalar() {
            into.push(t.width());
            return Ok(());
        }
        match ty {
            Type::Composite(c) if c.kind == Kind::Struct => c.fields.iter().try_for_each(|f| self.widths(&f.ty, span, into)),
            Type::Tuple(ts) => ts.iter().try_for_each(|t| self.widths(t, span, into)),
            t => Err(self.error("type-mismatch", span, format!("a value set cannot hold {t}"))),
        }
    }
}

/// The types that a struct or tuple key consists of; `None` for a scalar.
fn parts(ty: &Type) -> Option<Vec<Type>> {
    match ty {
        Type::Composite(c) => Some(c.fields.iter().map(|f| f.ty.clone()).collect()),
        Type::Tuple(ts) => Some(ts.to_vec()),
        _ => None,
    }
}

/// The states a state may go to.
fn names(s: &ast::ParserState) -> Vec<&str> {
    match &s.transition {
        None => Vec::new(),
        Some(ast::Transition::Direct(n)) => vec![n.name.as_str()],
        Some(ast::Transition::Select(s)) => s.cases.iter().map(|c| c.next.name.as_str()).collect(),
    }
}
