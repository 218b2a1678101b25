//! Statements.

use crate::{Callable, Generator, Place, Ty, Var, is_header};

impl Generator {
    pub(crate) fn stmts(&mut self, count: usize, depth: usize) {
        for _ in 0..count {
            self.stmt(depth);
        }
    }

    /// Statements between braces, whose variables end with them.
    fn braces(&mut self, head: &str, depth: usize) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
        let vars = self.vars.len();
        let count = 1 + self.rng.below(2);
        self.stmts(count, depth - 1);
        self.vars.truncate(vars);
        self.indent -= 1;
        self.line("}");
    }

    fn stmt(&mut self, depth: usize) {
        match self.rng.below(if depth > 0 { 20 } else { 12 }) {
            0..=3 => self.assign(),
            4..=7 => self.call(),
            8 => self.declare(),
            9 => self.validity(),
            10 => self.compound(),
            11 => self.leave(),
            12 | 13 => {
                let condition = self.expr(Ty::Bool, 2);
                self.braces(&format!("if ({condition})"), depth);
                if self.rng.once_in(2) {
                    self.braces("else", depth);
                }
            }
            14 if self.place != Place::Parser => self.switch(depth),
            15 if self.place != Place::Parser && !self.in_loop => self.looped(depth),
            16 if self.place == Place::Control => self.sub(),
            17 if self.place == Place::Control && !self.tables.is_empty() => self.registers(),
            18 => {
                self.braces("", depth);
            }
            _ => self.assign(),
        }
    }

    fn assign(&mut self) {
        let targets: Vec<Var> = self.vars.iter().filter(|v| v.write).cloned().collect();
        if targets.is_empty() {
            return;
        }
        let ty = self.pick(&targets).ty;
        let ty = if self.rng.once_in(4) { Ty::Bit(1 + self.rng.below(8) as u32) } else { ty };
        if let Some(place) = self.place(ty) {
            let value = self.expr(ty, 3);
            self.line(&format!("{place} = {value};"));
        }
    }

    fn compound(&mut self) {
        let ty = self.pick(&[Ty::Bit(8), Ty::Bit(3), Ty::Int(8)]);
        if let Some(place) = self.place(ty) {
            let (op, value) = (self.pick(&["+=", "-=", "&=", "|=", "^=", "|+|=", "|-|="]), self.expr(ty, 2));
            self.line(&format!("{place} {op} {value};"));
        }
    }

    fn call(&mut self) {
        let may = |c: &&Callable| !c.action || matches!(self.place, Place::Control | Place::Action);
        let fit: Vec<Callable> = self.callables.iter().filter(may).cloned().collect();
        if fit.is_empty() || self.calls == 0 {
            return self.assign();
        }
        let f = self.pick(&fit);
        match self.call_of(&f, true) {
            Some(call) => self.line(&format!("{call};")),
            None => self.assign(),
        }
    }

    pub(crate) fn declare(&mut self) {
        let ty = if self.rng.once_in(4) { Ty::Named(self.pick(&["opt_t", "tag_t", "pair_t"])) } else { self.pick(&crate::SCALARS) };
        let (name, value) = (self.fresh("v"), self.expr(ty, 2));
        self.line(&format!("{} {name} = {value};", ty.text()));
        self.add(&name, ty, true);
    }

    fn validity(&mut self) {
        let headers: Vec<Var> = self.vars.iter().filter(|v| v.write && matches!(v.ty, Ty::Named(n) if is_header(n))).cloned().collect();
        let stacks: Vec<String> = self.stacks.iter().filter(|(_, w)| *w).map(|(s, _)| s.clone()).collect();
        match self.rng.below(4) {
            0 if !stacks.is_empty() => {
                let (stack, op) = (self.pick(&stacks), self.pick(&["push_front", "pop_front"]));
                let n = 1 + self.rng.below(2);
                self.line(&format!("{stack}.{op}({n});"));
            }
            1 if !stacks.is_empty() => {
                let (element, op) = (self.element(), self.pick(&["setValid", "setInvalid", "setValid"]));
                self.line(&format!("{element}.{op}();"));
            }
            _ if !headers.is_empty() => {
                let (h, op) = (self.pick(&headers), self.pick(&["setValid", "setInvalid", "setValid"]));
                self.line(&format!("{}.{op}();", h.text));
            }
            _ => self.assign(),
        }
    }

    /// A way out under a condition.
    fn leave(&mut self) {
        let condition = self.expr(Ty::Bool, 1);
        let what = match (self.place, self.result) {
            _ if self.in_loop && self.rng.once_in(2) => self.pick(&["break", "continue"]).to_owned(),
            (Place::Parser, _) => return self.assign(),
            (Place::Function, Some(ty)) => format!("return {}", self.expr(ty, 2)),
            (Place::Function, None) => "return".into(),
            (Place::Control | Place::Action, _) if self.rng.once_in(3) => "exit".into(),
            (Place::Control | Place::Action, _) => "return".into(),
        };
        // Often enough packets go on.
        let guard = self.expr(Ty::Bit(3), 0);
        self.line(&format!("if ({guard} == 5 && {condition}) {{ {what}; }}"));
    }

    fn switch(&mut self, depth: usize) {
        let key = self.expr(Ty::Bit(3), 2);
        self.line(&format!("switch ({key}) {{"));
        self.indent += 1;
        let first = self.rng.below(4);
        if self.rng.once_in(2) {
            self.line(&format!("{}:", first + 4));
        }
        self.braces(&format!("{first}:"), depth);
        self.braces(&format!("{}:", (first + 1) % 4), depth);
        if self.rng.once_in(2) {
            self.braces("default:", depth);
        }
        self.indent -= 1;
        self.line("}");
    }

    fn looped(&mut self, depth: usize) {
        let name = self.fresh("i");
        let head = if self.rng.once_in(2) {
            format!("for (bit<8> {name} in 1 .. {})", 1 + self.rng.below(3))
        } else {
            format!("for (bit<8> {name} = 0; {name} < {}; {name} = {name} + 1)", 1 + self.rng.below(3))
        };
        self.in_loop = true;
        let vars = self.vars.len();
        self.add(&name, Ty::Bit(8), false);
        self.braces(&head, depth);
        self.vars.truncate(vars);
        self.in_loop = false;
    }

    /// Applies the sub-control, where there is one.
    fn sub(&mut self) {
        if self.tables.is_empty() {
            return self.assign();
        }
        let headers: Vec<Var> = self.vars.iter().filter(|v| v.write && v.ty == Ty::Named("opt_t")).cloned().collect();
        let (Some(x), Some(z), false) = (self.place(Ty::Bit(8)), self.place(Ty::Int(8)), headers.is_empty()) else { return };
        let (h, y) = (self.pick(&headers).text, self.expr(Ty::Bit(8), 1));
        self.line(&format!("sub.apply({x}, {h}, {y}, {z});"));
    }

    fn registers(&mut self) {
        let index = self.expr(Ty::Bit(3), 1);
        match self.rng.below(3) {
            0 => {
                let value = self.expr(Ty::Bit(8), 1);
                self.line(&format!("cells.write((bit<32>) ({index}), {value});"));
            }
            1 => {
                if let Some(place) = self.place(Ty::Bit(8)) {
                    self.line(&format!("cells.read({place}, (bit<32>) ({index}));"));
                }
            }
            _ => self.line(&format!("seen.count((bit<32>) ({index}));")),
        }
    }

    /// One of the ways to apply a table; each is applied once.
    pub(crate) fn apply(&mut self, table: usize) {
        let table = self.tables[table].clone();
        let name = &table.name;
        match self.rng.below(4) {
            0 => self.line(&format!("{name}.apply();")),
            1 => self.braces(&format!("if ({name}.apply().hit)"), 2),
            2 => {
                self.calls = self.calls.max(1);
                let value = self.expr(Ty::Bit(8), 2);
                self.line(&format!("meta.hot = meta.hot + ({name}.apply().miss ? {value} : meta.hot);"));
            }
            _ => {
                self.line(&format!("switch ({name}.apply().action_run) {{"));
                self.indent += 1;
                let first = self.pick(&table.actions);
                self.line(&format!("{first}:"));
                self.braces("NoAction:", 2);
                self.braces("default:", 2);
                self.indent -= 1;
                self.line("}");
            }
        }
    }
}
