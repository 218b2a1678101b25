//! Packets with the same headers, worked on apart from others by text that knows which ones they have.
//!
//! What the parser extracts on its ways through states without loops and varbit fields to one that is marked `@likely` and
//! accepts is a class: a set of headers. For each the pipeline is printed again with all validity known, up to where that
//! ends: what leaves a block early goes on in the text for all packets, as both keep everything in the context. Which class a
//! packet has is seen by its valid headers and by how far it was parsed, so a class that no way leads to, or two, would do no harm. Where a
//! class's headers lie in the packet is relied on only if the parser extracts them in one order, whichever way it takes ([`in_order`]).

use super::Refused;
use super::code::{Code, Facts};
use cranelift_entity::EntityRef;
use p4_analysis::control::exits;
use p4_ir::{HeaderId, HeaderRef, Ir, Next, StateId, Stmt, Transition};
use std::collections::{BTreeMap, BTreeSet};

/// Most classes: each costs the compiler and the verifier a program's time.
const MAX_CLASSES: usize = 6;
/// Most states on all ways.
const MAX_STEPS: usize = 2000;

/// Headers of likely packets, in the order in which they are extracted; no two have the same set of them.
pub(super) fn classes(ir: &Ir) -> Vec<Vec<HeaderId>> {
    // Without unions, so that what was extracted is what is valid.
    let plain = ir.headers.values().all(|h| h.union.is_none());
    let mut ways = Ways { ir, path: Vec::new(), valid: Vec::new(), found: Vec::new(), steps: 0 };
    if let Some(start) = ir.parser().start.filter(|_| plain && !exits(ir.deparser()) && ir.parser().init.is_empty()) {
        ways.state(start);
    }
    ways.found
}

/// Whether all packets that come with these headers, and no other byte before the payload, have them in this order.
pub(super) fn in_order(ir: &Ir, came: &[HeaderId]) -> bool {
    let mut extracted: BTreeMap<StateId, Vec<HeaderId>> = BTreeMap::new();
    for (id, state) in &ir.states {
        let mut only_extracts = true;
        let list = extracted.entry(id).or_default();
        p4_ir::walk::all_stmts(&state.body, &mut |s| match s {
            Stmt::Extract { header: HeaderRef::Static(h), .. } => list.push(*h),
            Stmt::Extract { .. }
            | Stmt::SetValid(..)
            | Stmt::CopyHeader { .. }
            | Stmt::CopyStack { .. }
            | Stmt::Push(..)
            | Stmt::Pop(..) => {
                only_extracts = false;
            }
            _ => {}
        });
        if !only_extracts {
            return false;
        }
    }
    // From a state on, what may still be extracted must not stand before what it extracts.
    let place = |h: &HeaderId| came.iter().position(|c| c == h);
    let disordered =
        |first: &[HeaderId], then: &[HeaderId]| first.iter().filter_map(place).any(|a| then.iter().filter_map(place).any(|b| b <= a));
    extracted.iter().all(|(id, list)| {
        let within = (1..list.len()).any(|i| disordered(&list[..i], &list[i..]));
        !within && !super::parser::behind(ir, *id).iter().any(|next| disordered(list, &extracted[next]))
    })
}

struct Ways<'a> {
    ir: &'a Ir,
    path: Vec<StateId>,
    valid: Vec<HeaderId>,
    found: Vec<Vec<HeaderId>>,
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
                Stmt::Extract { header: HeaderRef::Static(h), varbit_bits: None } if !self.valid.contains(h) => self.valid.push(*h),
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
                    let set = |class: &[HeaderId]| class.iter().copied().collect::<BTreeSet<_>>();
                    let known = self.found.iter().any(|other| set(other) == set(&self.valid));
                    if self.found.len() < MAX_CLASSES && !known {
                        self.found.push(self.valid.clone());
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
    /// C text of the valid bits of a packet that has these headers.
    pub(super) fn valid_bits<'h>(&self, set: impl IntoIterator<Item = &'h HeaderId>) -> String {
        let bits: Vec<String> = set.into_iter().map(|h| format!("SP_BIT(V_{})", self.model.headers[h.index()])).collect();
        if bits.is_empty() { "0".into() } else { bits.join(" | ") }
    }

    /// The text that `print` gives for each class.
    pub(super) fn each_class(
        &mut self,
        classes: &[Vec<HeaderId>],
        print: impl Fn(&mut Self, &[HeaderId]) -> Result<(), Refused>,
    ) -> Result<String, Refused> {
        let outer = std::mem::take(&mut self.text);
        for (i, class) in classes.iter().enumerate() {
            self.class = Some(i + 1);
            self.known = Some(Facts::exactly(self.ir, &class.iter().copied().collect()));
            self.jumped.insert(format!("class_{}", i + 1));
            self.label(&format!("class_{}", i + 1));
            self.open("");
            print(self, class)?;
            self.close();
        }
        self.class = None;
        Ok(std::mem::replace(&mut self.text, outer))
    }
}
