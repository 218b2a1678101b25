//! What does a statement do (P4_16 §12), and how does a parser go from state to state (§13)?

use crate::names::Entity;
use crate::value::{Value, binary, same};
use crate::{Evaluator, R, Returned, Stop};
use p4_syntax::BigInt;
use p4_syntax::ast::{self, DeclKind, ExprKind, StmtKind as K};

/// Parser states that one packet goes through before the parser gives up, as in the interpreter.
const STATES: u32 = 1 << 16;

impl<'a> Evaluator<'a> {
    pub(crate) fn block(&mut self, b: &'a ast::Block, scope: usize) -> R<()> {
        let inner = self.scopes.inside(scope);
        self.stmts(&b.stmts, inner)
    }

    pub(crate) fn stmts(&mut self, list: &'a [ast::Stmt], scope: usize) -> R<()> {
        list.iter().try_for_each(|s| self.stmt(s, scope))
    }

    /// A constant or variable.
    pub(crate) fn local(&mut self, d: &'a ast::Decl, scope: usize) -> R<()> {
        match &d.kind {
            DeclKind::Const(c) => self.declare_const(c, scope),
            DeclKind::Var(v) => {
                let ty = self.resolve(&v.ty, scope)?;
                let value = match &v.init {
                    Some(e) => self.eval(e, scope)?.becomes(&ty)?,
                    None => ty.start(),
                };
                self.declare_variable(scope, &v.name.name, value);
                Ok(())
            }
            _ => Err(Stop::cannot("this declaration")),
        }
    }

    fn stmt(&mut self, s: &'a ast::Stmt, scope: usize) -> R<()> {
        self.burn()?;
        match &s.kind {
            K::Empty => Ok(()),
            K::Decl(d) => self.local(d, scope),
            K::Assign { target, op, value } => {
                let to = self.place(target, scope)?.ok_or_else(|| Stop::cannot("an assignment to this"))?;
                let value = match op {
                    None => self.eval(value, scope)?,
                    Some(op) => {
                        let old = self.read(&to)?;
                        let value = self.eval(value, scope)?;
                        binary(*op, old, value)?
                    }
                };
                self.write(&to, value)
            }
            K::Call(e) => self.eval(e, scope).map(|_| ()),
            K::Block(b) => self.block(b, scope),
            K::If { arms, otherwise } => {
                for arm in arms {
                    if self.eval(&arm.cond, scope)?.truth()? {
                        return self.branch(&arm.then, scope);
                    }
                }
                otherwise.as_deref().map_or(Ok(()), |s| self.branch(s, scope))
            }
            K::Switch { key, cases } => self.switch(key, cases, scope),
            K::For { init, cond, update, body, .. } => {
                let inner = self.scopes.inside(scope);
                self.stmts(init, inner)?;
                while self.eval(cond, inner)?.truth()? {
                    self.burn()?;
                    if self.round(body, inner)? {
                        break;
                    }
                    self.stmts(update, inner)?;
                }
                Ok(())
            }
            K::ForIn { ty, var, collection, body, .. } => {
                let inner = self.scopes.inside(scope);
                let values = self.collection(collection, inner)?;
                let place = match ty {
                    Some(t) => {
                        let t = self.resolve(t, inner)?;
                        let slot = self.declare_variable(inner, &var.name, t.start());
                        crate::place::Place::variable(slot)
                    }
                    None => match self.scopes.find(inner, &var.name) {
                        Some(Entity::Variable(place)) => place.clone(),
                        _ => return Err(Stop::cannot("this loop variable")),
                    },
                };
                for v in values {
                    self.burn()?;
                    self.write(&place, v)?;
                    if self.round(body, inner)? {
                        break;
                    }
                }
                Ok(())
            }
            K::Break => Err(Stop::Break),
            K::Continue => Err(Stop::Continue),
            K::Return(value) => {
                let value = match value {
                    Some(e) => self.eval(e, scope)?,
                    None => Value::Void,
                };
                Err(Stop::Return(Returned(value)))
            }
            K::Exit => Err(Stop::Exit),
        }
    }

    fn branch(&mut self, s: &'a ast::Stmt, scope: usize) -> R<()> {
        let inner = self.scopes.inside(scope);
        self.stmt(s, inner)
    }

    /// A round of a loop; true after a `break`.
    fn round(&mut self, body: &'a ast::Stmt, scope: usize) -> R<bool> {
        match self.branch(body, scope) {
            Err(Stop::Break) => Ok(true),
            Err(Stop::Continue) | Ok(()) => Ok(false),
            Err(stop) => Err(stop),
        }
    }

    fn collection(&mut self, e: &'a ast::Expr, scope: usize) -> R<Vec<Value>> {
        if let ExprKind::Range { lo, hi } = &e.kind {
            let (mut a, b) = (self.eval(lo, scope)?, self.eval(hi, scope)?);
            if let Value::Number(_) = a {
                a = a.becomes(&b.ty())?;
            }
            let (mut n, end, mut out) = (a.number()?, b.number()?, Vec::new());
            while n <= end {
                self.burn()?;
                out.push(crate::value::cast(Value::Number(n.clone()), &a.ty())?);
                n += 1;
            }
            return Ok(out);
        }
        match self.eval(e, scope)? {
            Value::Tuple(vs, _) | Value::Stack { elems: vs, .. } => Ok(vs),
            _ => Err(Stop::cannot("a for over this")),
        }
    }

    fn switch(&mut self, key: &'a ast::Expr, cases: &'a [ast::SwitchCase], scope: usize) -> R<()> {
        let on = self.eval(key, scope)?;
        let mut chosen = None;
        for (i, case) in cases.iter().enumerate() {
            let here = match (&case.label.kind, &on) {
                (ExprKind::Default, _) => chosen.is_none(),
                (ExprKind::Path(p), Value::Ran(action)) => p.name.name == *action,
                (_, Value::Ran(_)) => false,
                (_, on) => {
                    let label = self.eval(&case.label, scope)?.becomes(&on.ty())?;
                    same(&label, on)
                }
            };
            if here {
                chosen = Some(i);
                break;
            }
        }
        // A label without a body falls through to the next one that has it.
        match chosen.and_then(|i| cases[i..].iter().find_map(|c| c.body.as_ref())) {
            Some(body) => self.block(body, scope),
            None => Ok(()),
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Parsers

    pub(crate) fn parse(&mut self, body: &'a ast::ParserBody, scope: usize) -> R<()> {
        let mut at = "start";
        loop {
            match at {
                "accept" => return Ok(()),
                // `reject` as a state sets no error.
                "reject" => return Err(Stop::Reject(String::new())),
                _ => {}
            }
            self.packet.states += 1;
            if self.packet.states > STATES {
                return Err(Stop::Reject("ParserTimeout".into()));
            }
            let state = body.states.iter().find(|s| s.name.name == at).ok_or_else(|| Stop::cannot("a state that is not there"))?;
            let inner = self.scopes.inside(scope);
            self.stmts(&state.stmts, inner)?;
            at = match &state.transition {
                None => "reject",
                Some(ast::Transition::Direct(next)) => &next.name,
                Some(ast::Transition::Select(select)) => self.select(select, inner)?,
            };
        }
    }

    fn select(&mut self, select: &'a ast::Select, scope: usize) -> R<&'a str> {
        let mut keys = Vec::new();
        for k in &select.keys {
            keys.push(self.eval(k, scope)?);
        }
        for case in &select.cases {
            if self.keyset_holds(&case.keyset, &keys, scope)? {
                return Ok(&case.next.name);
            }
        }
        Err(Stop::Reject("NoMatch".into()))
    }

    fn keyset_holds(&mut self, keyset: &'a ast::Keyset, keys: &[Value], scope: usize) -> R<bool> {
        if let [one] = &keyset.elems[..]
            && matches!(one.kind, ExprKind::Default | ExprKind::DontCare)
        {
            return Ok(true);
        }
        if let [one] = &keyset.elems[..]
            && let ExprKind::Path(p) = &one.kind
            && let Ok(Entity::Nothing) = self.find(scope, p)
        {
            return Ok(false);
        }
        if keyset.elems.len() != keys.len() {
            return Err(Stop::cannot("this keyset"));
        }
        for (e, key) in keyset.elems.iter().zip(keys) {
            if !self.set_holds(e, key, scope)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a set as written holds a value (P4_16 §8.14).
    pub(crate) fn set_holds(&mut self, e: &'a ast::Expr, key: &Value, scope: usize) -> R<bool> {
        let number = |s: &mut Self, e: &'a ast::Expr| -> R<BigInt> { s.eval(e, scope)?.becomes(&key.ty())?.number() };
        Ok(match &e.kind {
            ExprKind::Default | ExprKind::DontCare => true,
            ExprKind::Mask { value, mask } => {
                let (v, m) = (number(self, value)?, number(self, mask)?);
                key.number()? & &m == v & m
            }
            ExprKind::Range { lo, hi } => {
                let (lo, hi) = (number(self, lo)?, number(self, hi)?);
                let key = key.number()?;
                lo <= key && key <= hi
            }
            _ => {
                let value = self.eval(e, scope)?.becomes(&key.ty())?;
                same(&value, key)
            }
        })
    }
}
