//! Packets with the same headers, worked on apart from others by text that knows which ones they have.
//!
//! What the parser extracts on its ways through states without loops and varbit fields to one that is marked `@likely` and
//! accepts is a class: a set of headers. For each the pipeline is printed again with all validity known, up to where that
//! ends: what leaves a block early goes on in the text for all packets, as both keep everything in the context. Which class a
//! packet has is seen by its valid headers alone, so a class that no way leads to, or two, would do no harm.

use super::Refused;
use super::code::Code;
use cranelift_entity::EntityRef;
use p4_ir::{HeaderId, HeaderRef, Ir, Next, StateId, Stmt, Transition};
use std::collections::BTreeSet;

/// Most classes: each costs the compiler and the verifier a program's time.
const MAX_CLASSES: usize = 6;
/// Most states on all ways.
const MAX_STEPS: usize = 2000;

/// Header sets of likely packets.
pub fn classes(ir: &Ir) -> Vec<BTreeSet<HeaderId>> {
    // Without unions, so that what was extracted is what is valid.
    let plain = ir.headers.values().all(|h| h.union.is_none());
    let exits = |b: &p4_ir::Block| {
        let mut found = false;
        p4_ir::walk::all_stmts(b, &mut |s| found |= matches!(s, Stmt::Exit));
        found
    };
    let mut ways = Ways { ir, path: Vec::new(), valid: Vec::new(), found: Vec::new(), steps: 0 };
    if let Some(start) = ir.start.filter(|_| plain && !exits(&ir.deparser) && ir.parser_init.is_empty()) {
        ways.state(start);
    }
    ways.found
}

struct Ways<'a> {
    ir: &'a Ir,
    path: Vec<StateId>,
    valid: Vec<HeaderId>,
    found: Vec<BTreeSet<HeaderId>>,
    steps: usize,
}

impl Ways<'_> {
    fn state(&mut self, id: StateId) {
        let state = &self.ir.states[id];
        self.steps += 1;
        if self.path.contains(&id) || state.likely == Some(false) || self.steps > MAX_STEPS {
            return;
        }
        let before = self.valid.len();
        for s in &state.body {
            match s {
                Stmt::Extract { header: HeaderRef::Static(h), varbit_bits: None } => self.valid.push(*h),
                Stmt::Assign(..) | Stmt::Lookahead(..) | Stmt::Verify(..) | Stmt::Extern(_) => {}
                _ => return self.valid.truncate(before),
            }
        }
        self.path.push(id);
        let nexts: Vec<Next> = match &state.next {
            Transition::Goto(next) => vec![*next],
            Transition::Select { cases, .. } => cases.iter().map(|c| c.next).collect(),
        };
        let mut seen = BTreeSet::new();
        for next in nexts {
            match next {
                Next::State(s) if seen.insert(s) => self.state(s),
                Next::Accept if state.likely == Some(true) => {
                    let class: BTreeSet<HeaderId> = self.valid.iter().copied().collect();
                    if self.found.len() < MAX_CLASSES && !self.found.contains(&class) {
                        self.found.push(class);
                    }
                }
                _ => {}
            }
        }
        self.path.pop();
        self.valid.truncate(before);
    }
}

impl Code<'_> {
    /// C text of a class's valid bits.
    pub fn class_bits(&self, class: &BTreeSet<HeaderId>) -> String {
        let bits: Vec<String> = class.iter().map(|h| format!("SP_BIT(V_{})", self.model.headers[h.index()])).collect();
        if bits.is_empty() { "0".into() } else { bits.join(" | ") }
    }

    /// The text that `print` gives for each class.
    pub fn each_class(
        &mut self,
        classes: &[BTreeSet<HeaderId>],
        print: impl Fn(&mut Self) -> Result<(), Refused>,
    ) -> Result<String, Refused> {
        let outer = std::mem::take(&mut self.text);
        for (i, class) in classes.iter().enumerate() {
            self.class = Some(i + 1);
            self.known = Some(self.ir.headers.keys().map(|h| (h, class.contains(&h))).collect());
            self.jumped.insert(format!("class_{}", i + 1));
            self.label(&format!("class_{}", i + 1));
            self.open("");
            print(self)?;
            self.close();
        }
        self.class = None;
        Ok(std::mem::replace(&mut self.text, outer))
    }
}
