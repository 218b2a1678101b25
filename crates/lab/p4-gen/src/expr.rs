//! Expressions of a type, out of what is in scope.

use crate::{Callable, Direction, Generator, Param, Place, Ty, Var, fields, is_header};

impl Generator {
    pub(crate) fn expr(&mut self, ty: Ty, depth: usize) -> String {
        match ty {
            Ty::Named(name) => self.composite(name, depth),
            _ if depth == 0 => self.leaf(ty),
            Ty::Bool => self.boolean(depth),
            Ty::Bit(w) | Ty::Int(w) => self.number(ty, w, depth),
        }
    }

    fn composite(&mut self, name: &'static str, depth: usize) -> String {
        let known: Vec<Var> = self.vars.iter().filter(|v| v.ty == Ty::Named(name)).cloned().collect();
        if !known.is_empty() && !self.rng.once_in(3) {
            return self.pick(&known).text;
        }
        if is_header(name) && self.rng.once_in(6) {
            return format!("({name}) {{#}}");
        }
        let values: Vec<String> = fields(name).iter().map(|(_, t)| self.expr(*t, depth.saturating_sub(1))).collect();
        if self.rng.once_in(2) {
            let named: Vec<String> = fields(name).iter().zip(values).map(|((f, _), v)| format!("{f} = {v}")).collect();
            return format!("({name}) {{ {} }}", named.join(", "));
        }
        format!("({name}) {{ {} }}", values.join(", "))
    }

    pub(crate) fn literal(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Bit(w) => format!("{w}w{}", self.rng.value(w)),
            Ty::Int(w) => format!("{w}s{}", self.rng.value(w - 1)),
            _ => self.pick(&["true", "false"]).into(),
        }
    }

    fn leaf(&mut self, ty: Ty) -> String {
        let known: Vec<Var> = self.vars.iter().filter(|v| v.ty == ty).cloned().collect();
        if !known.is_empty() && !self.rng.once_in(5) {
            return self.pick(&known).text;
        }
        if let Ty::Bit(w) = ty {
            let wider: Vec<(Var, u32)> = self.vars.iter().filter_map(|v| width(v.ty).filter(|n| *n > w).map(|n| (v.clone(), n))).collect();
            if !wider.is_empty() && self.rng.once_in(2) {
                let (v, n) = self.pick(&wider);
                let lo = self.rng.below((n - w + 1) as usize) as u32;
                return format!("{}[{}:{lo}]", v.text, lo + w - 1);
            }
        }
        if ty == Ty::Bit(7) && !self.stacks.is_empty() && self.rng.once_in(2) {
            return format!("{}.v", self.element());
        }
        self.literal(ty)
    }

    /// An element of a stack, by a constant or by a number that may lie beyond its end.
    pub(crate) fn element(&mut self) -> String {
        let (stack, _) = self.pick(&self.stacks.clone());
        match self.rng.below(3) {
            0 if self.place != Place::Parser => {
                let known: Vec<Var> = self.vars.iter().filter(|v| matches!(width(v.ty), Some(n) if n >= 3)).cloned().collect();
                if known.is_empty() {
                    return format!("{stack}[1]");
                }
                // Seldom beyond the end.
                let (index, bits) = (self.pick(&known).text, self.pick(&["1:0", "1:0", "2:0"]));
                format!("{stack}[{index}[{bits}]]")
            }
            _ => format!("{stack}[{}]", self.rng.below(3)),
        }
    }

    fn number(&mut self, ty: Ty, w: u32, depth: usize) -> String {
        let d = depth - 1;
        let signed = matches!(ty, Ty::Int(_));
        match self.rng.below(14) {
            0..=3 => self.call_expr(ty, d).unwrap_or_else(|| self.leaf(ty)),
            4 | 5 => {
                let op = self.pick(&["+", "-", "*", "|+|", "|-|", "&", "|", "^"]);
                format!("({} {op} {})", self.expr(ty, d), self.expr(ty, d))
            }
            6 => format!("({}({}))", self.pick(&["-", "~"]), self.expr(ty, d)),
            7 => {
                let op = self.pick(&["<<", ">>"]);
                let by = if self.rng.once_in(2) { self.expr(Ty::Bit(8), d) } else { self.rng.below(20).to_string() };
                format!("({} {op} {by})", self.expr(ty, d))
            }
            8 => format!("({} ? {} : {})", self.expr(Ty::Bool, d), self.expr(ty, d), self.expr(ty, d)),
            9 if !signed && w > 1 => {
                let left = 1 + self.rng.below(w as usize - 1) as u32;
                format!("({} ++ {})", self.expr(Ty::Bit(left), d), self.expr(Ty::Bit(w - left), d))
            }
            10 if signed => format!("((int<{w}>) ({}))", self.expr(Ty::Bit(w), d)),
            10 | 11 if !signed => {
                let from = self.pick(&[Ty::Bit(8), Ty::Bit(16), Ty::Bit(w)]);
                if from == ty && w > 1 {
                    return format!("((bit<{w}>) ({}))", self.expr(Ty::Int(w), d));
                }
                format!("((bit<{w}>) ({}))", self.expr(from, d))
            }
            12 if !signed && w < 16 => {
                let lo = self.rng.below((16 - w + 1) as usize) as u32;
                format!("({})[{}:{lo}]", self.expr(Ty::Bit(16), d), lo + w - 1)
            }
            12 if signed => {
                let from = if w == 8 { Ty::Int(16) } else { Ty::Int(8) };
                format!("((int<{w}>) ({}))", self.expr(from, d))
            }
            _ => self.leaf(ty),
        }
    }

    fn boolean(&mut self, depth: usize) -> String {
        let d = depth - 1;
        match self.rng.below(10) {
            0 | 1 => {
                let ty = self.pick(&[Ty::Bit(8), Ty::Bit(3), Ty::Int(8), Ty::Int(16), Ty::Bit(16)]);
                let op = self.pick(&["==", "!=", "<", "<=", ">", ">="]);
                format!("({} {op} {})", self.expr(ty, d), self.expr(ty, d))
            }
            2 | 3 => {
                let op = self.pick(&["&&", "||"]);
                format!("({} {op} {})", self.expr(Ty::Bool, d), self.expr(Ty::Bool, d))
            }
            4 => format!("(!{})", self.expr(Ty::Bool, d)),
            5 => {
                let headers: Vec<Var> = self.vars.iter().filter(|v| matches!(v.ty, Ty::Named(n) if is_header(n))).cloned().collect();
                match headers.is_empty() {
                    true => self.leaf(Ty::Bool),
                    false => format!("{}.isValid()", self.pick(&headers).text),
                }
            }
            6 => {
                let named: Vec<Var> = self.vars.iter().filter(|v| matches!(v.ty, Ty::Named(_))).cloned().collect();
                match named.is_empty() {
                    true => self.leaf(Ty::Bool),
                    false => {
                        let v = self.pick(&named);
                        format!("({} {} {})", v.text, self.pick(&["==", "!="]), self.expr(v.ty, d))
                    }
                }
            }
            7 | 8 => self.call_expr(Ty::Bool, d).unwrap_or_else(|| self.leaf(Ty::Bool)),
            _ => self.leaf(Ty::Bool),
        }
    }

    /// A call of a function with that result.
    fn call_expr(&mut self, ty: Ty, depth: usize) -> Option<String> {
        let fit: Vec<Callable> = self.callables.iter().filter(|c| c.result == Some(ty)).cloned().collect();
        if fit.is_empty() || self.calls == 0 {
            return None;
        }
        let f = self.pick(&fit);
        self.call_of(&f, depth > 0)
    }

    /// A call, if there is a place for each result.
    pub(crate) fn call_of(&mut self, f: &Callable, deep: bool) -> Option<String> {
        let writable = |p: &Param| {
            !matches!(p.direction, Direction::Out | Direction::InOut)
                || p.direction == Direction::Out
                || self.vars.iter().any(|v| v.write && fits(v, p.ty))
        };
        if !f.params.iter().all(writable) {
            return None;
        }
        self.calls = self.calls.saturating_sub(1);
        let args = self.arguments(&f.params, deep);
        Some(format!("{}({args})", f.name))
    }

    /// Arguments, now and then by name and in another order.
    pub(crate) fn arguments(&mut self, params: &[Param], deep: bool) -> String {
        let by_name = self.rng.once_in(3);
        let mut order: Vec<&Param> = params.iter().collect();
        if by_name {
            for i in (1..order.len()).rev() {
                let j = self.rng.below(i + 1);
                order.swap(i, j);
            }
        }
        let mut out = Vec::new();
        for p in order {
            let value = match p.direction {
                Direction::In | Direction::None => self.expr(p.ty, if deep { 2 } else { 1 }),
                Direction::Out if self.rng.once_in(10) => "_".into(),
                _ => self.place(p.ty).unwrap_or_else(|| "_".into()),
            };
            out.push(if by_name { format!("{} = {value}", p.name) } else { value });
        }
        out.join(", ")
    }

    /// Something to write to: a variable, a slice, an element of a stack.
    pub(crate) fn place(&mut self, ty: Ty) -> Option<String> {
        if ty == Ty::Named("tag_t") && self.stacks.iter().any(|(_, w)| *w) && self.rng.once_in(2) {
            return Some(self.element());
        }
        let known: Vec<Var> = self.vars.iter().filter(|v| v.write && fits(v, ty)).cloned().collect();
        if known.is_empty() {
            return None;
        }
        // The same place again and again shows what aliases do.
        let hot: Vec<Var> = known.iter().filter(|v| v.text.ends_with("hot") || v.text.ends_with("m8")).cloned().collect();
        let v = if !hot.is_empty() && self.rng.once_in(2) { self.pick(&hot) } else { self.pick(&known) };
        match (ty, width(v.ty)) {
            (Ty::Bit(w), Some(n)) if v.ty != ty => {
                let lo = self.rng.below((n - w + 1) as usize) as u32;
                Some(format!("{}[{}:{lo}]", v.text, lo + w - 1))
            }
            _ => Some(v.text),
        }
    }
}

/// Whether a variable, or a slice of it, is of a type.
fn fits(v: &Var, ty: Ty) -> bool {
    v.ty == ty || matches!((ty, width(v.ty)), (Ty::Bit(w), Some(n)) if n > w)
}

fn width(ty: Ty) -> Option<u32> {
    match ty {
        Ty::Bit(w) | Ty::Int(w) => Some(w),
        _ => None,
    }
}
