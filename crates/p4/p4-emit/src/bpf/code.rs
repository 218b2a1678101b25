//! The text so far, and what is known at the place where it grows.

use super::Refused;
use crate::model::Model;
use cranelift_entity::EntityRef;
use p4_ir::origin::{Construct, Holder};
use p4_ir::{ActionId, HeaderId, Ir, LabelId, StackId, StateId, TableId, VarId};
use program::packing::CellLayout;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most sets of valid headers that are told apart.
const MAX_SETS: usize = 16;

/// What is known of which headers are valid, and of variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Certainly valid, or not.
    pub sure: BTreeMap<HeaderId, bool>,
    /// All sets of valid headers that a packet may have here; `None`: any, or too many.
    pub sets: Option<BTreeSet<BTreeSet<HeaderId>>>,
    /// What variables certainly hold.
    pub values: BTreeMap<VarId, u128>,
}

impl Facts {
    /// Exactly these headers are valid.
    pub(super) fn exactly(ir: &Ir, valid: &BTreeSet<HeaderId>) -> Facts {
        let sure = ir.headers.keys().map(|h| (h, valid.contains(&h))).collect();
        Facts { sure, sets: Some(BTreeSet::from([valid.clone()])), values: BTreeMap::new() }
    }

    /// A header has become valid or invalid, or it is seen that it is.
    fn note(&mut self, h: HeaderId, valid: bool) {
        self.sure.insert(h, valid);
        if let Some(sets) = &mut self.sets {
            *sets = std::mem::take(sets)
                .into_iter()
                .map(|mut set| {
                    if valid {
                        set.insert(h)
                    } else {
                        set.remove(&h)
                    };
                    set
                })
                .collect();
        }
    }

    fn meet(mut self, other: Facts) -> Facts {
        self.sure.retain(|h, valid| other.sure.get(h) == Some(valid));
        self.values.retain(|v, value| other.values.get(v) == Some(value));
        self.sets = match (self.sets, other.sets) {
            (Some(a), Some(b)) => Some(a.into_iter().chain(b).collect()).filter(|sets: &BTreeSet<_>| sets.len() <= MAX_SETS),
            _ => None,
        };
        self
    }
}

/// What is known where the text grows; `None` where no packet comes.
pub(super) type Known = Option<Facts>;

/// What holds on both ways.
pub(super) fn meet(a: Known, b: Known) -> Known {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.meet(b)),
        (a, None) => a,
        (None, b) => b,
    }
}

/// The emitter.
pub(super) struct Code<'a> {
    pub ir: &'a Ir,
    pub model: &'a Model,
    pub layouts: Vec<CellLayout>,
    pub text: String,
    indent: usize,
    number: u32,
    pub known: Known,
    /// Labels in force: C name, and what is known at each jump to it.
    pub labels: HashMap<LabelId, (String, Known)>,
    /// Where `exit` goes.
    pub exit: String,
    /// C labels that something jumps to.
    pub jumped: BTreeSet<String>,
    /// Parameters that are read from the entry, in the action that runs.
    pub bound: HashMap<VarId, String>,
    /// Parameters that only their own action reads and that are never written.
    pub bindable: BTreeSet<VarId>,
    /// Parameters that become the number of a cell.
    pub cells: HashMap<VarId, Vec<super::externs::Cells>>,
    /// Variables that the context must hold.
    pub vars: BTreeSet<VarId>,
    /// Places of counts, meters and register writes: the map's C name, of counts and meters the number.
    pub counts: Vec<usize>,
    pub meters: Vec<usize>,
    pub registers: Vec<String>,
    /// Places of emits of the class that is printed; the header's offset, if that is known. The most that a class has.
    pub emits: Vec<(HeaderId, Option<u32>)>,
    pub most_emits: usize,
    /// What was emitted so far, while it is known.
    pub emitted: Option<u32>,
    /// The class that is printed; `None`: for all packets.
    pub class: Option<usize>,
    /// Numbers of the places of counts, meters, register writes and digests, by the statement and the look-up whose action it is in:
    /// the same in the text of all classes.
    pub sites: HashMap<(usize, usize), usize>,
    /// The look-up whose action is printed.
    pub applied: usize,
    /// The table whose action is printed.
    pub in_table: Option<TableId>,
    /// Whether a parser state is printed.
    pub in_parser: bool,
    /// Where the parser is, while the text tells; `None`: at `cursor`.
    pub at: Option<u32>,
    /// Copies of states, by where they are reached; those that are yet to be printed; states that are printed once.
    pub copies: BTreeSet<(StateId, Option<u32>)>,
    pub waiting: Vec<(StateId, Option<u32>)>,
    /// Those of them that few packets come to.
    pub unlikely: Vec<(StateId, Option<u32>)>,
    pub anywhere: BTreeSet<StateId>,
    /// Stacks whose next index is used.
    pub stacks: BTreeSet<StackId>,
    /// Bytes that are hashed at once, at most.
    pub hashed: u32,
    /// Places of digests: the number of values, the receiver among them.
    pub digests: Vec<usize>,
    /// Loops around the current statement.
    pub loops: u32,
    /// For refusals.
    pub place: String,
    pub holder: Option<Holder>,
}

impl<'a> Code<'a> {
    pub(super) fn new(ir: &'a Ir, model: &'a Model) -> Code<'a> {
        Code {
            ir,
            model,
            layouts: ir.program.tables.keys().map(|t| CellLayout::new(&ir.program, t)).collect(),
            text: String::new(),
            indent: 1,
            number: 0,
            known: Some(Facts::default()),
            labels: HashMap::new(),
            exit: String::new(),
            jumped: BTreeSet::new(),
            bound: HashMap::new(),
            bindable: bindable(ir),
            cells: super::externs::cells(ir),
            vars: BTreeSet::new(),
            counts: Vec::new(),
            meters: Vec::new(),
            registers: Vec::new(),
            emits: Vec::new(),
            most_emits: 0,
            emitted: None,
            class: None,
            sites: HashMap::new(),
            applied: 0,
            in_table: None,
            in_parser: false,
            at: None,
            copies: BTreeSet::new(),
            waiting: Vec::new(),
            unlikely: Vec::new(),
            anywhere: BTreeSet::new(),
            stacks: BTreeSet::new(),
            hashed: 0,
            digests: Vec::new(),
            loops: 0,
            place: String::new(),
            holder: None,
        }
    }

    /// Refuses what is no construct of its own: its place is what it stands in.
    pub(super) fn refuse(&self, what: impl Into<String>) -> Refused {
        self.refusal(None, what.into())
    }

    pub(super) fn refuse_because(&self, construct: Construct, what: impl Into<String>) -> Refused {
        self.refusal(Some(construct), what.into())
    }

    fn refusal(&self, construct: Option<Construct>, what: String) -> Refused {
        let place = if self.place.is_empty() { String::new() } else { format!("{} in ", self.place) };
        let origins = &self.ir.origins;
        let origin = match construct {
            Some(construct) => origins.find(construct, self.holder.as_ref()),
            None => self.holder.as_ref().and_then(|h| origins.holder(h)),
        };
        Refused { construct, what, place: format!("{place}{}", self.ir.program.name), origin }
    }

    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        self.text.extend(std::iter::repeat_n("    ", self.indent));
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    pub(super) fn open(&mut self, text: impl AsRef<str>) {
        self.line(format!("{} {{", text.as_ref()).trim_start());
        self.indent += 1;
    }

    pub(super) fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    pub(super) fn or_else(&mut self) {
        self.indent -= 1;
        self.line("} else {");
        self.indent += 1;
    }

    /// A C label. A statement must follow one.
    pub(super) fn label(&mut self, name: &str) {
        if self.jumped.contains(name) {
            let indent = std::mem::replace(&mut self.indent, 0);
            self.line(format!("{name}:;"));
            self.indent = indent;
        }
    }

    /// A jump; no packet comes behind it.
    pub(super) fn goto(&mut self, label: &str) {
        self.jumped.insert(label.to_owned());
        self.line(format!("goto {label};"));
        self.known = None;
    }

    /// C text of a jump under a condition.
    pub(super) fn jump(&mut self, label: &str) -> String {
        self.jumped.insert(label.to_owned());
        format!("goto {label};")
    }

    pub(super) fn unique(&mut self) -> u32 {
        self.number += 1;
        self.number
    }

    /// C text that reads a variable.
    pub(super) fn read_var(&mut self, v: VarId) -> String {
        if let Some(text) = self.bound.get(&v) {
            return text.clone();
        }
        self.vars.insert(v);
        format!("c->v.{}", self.model.vars[v.index()])
    }

    pub(super) fn write_var(&mut self, v: VarId, value: &str) {
        self.vars.insert(v);
        self.note_value(v, literal(value));
        let name = &self.model.vars[v.index()];
        self.line(format!("c->v.{name} = {value};"));
    }

    /// From here on a variable holds this, or nothing is known of it.
    pub(super) fn note_value(&mut self, v: VarId, value: Option<u128>) {
        if let Some(known) = &mut self.known {
            match value {
                Some(value) => known.values.insert(v, value),
                None => known.values.remove(&v),
            };
        }
    }

    /// Sets a field of `standard_metadata`, if the program has it.
    pub(super) fn write_standard(&mut self, name: &str, value: &str) {
        if let Some(v) = self.ir.intrinsic.standard.get(name) {
            self.write_var(*v, value);
        }
    }

    /// C name of a header's bytes.
    pub(super) fn home(&self, h: HeaderId) -> String {
        format!("c->h_{}", self.model.headers[h.index()])
    }

    /// C text of the valid bits: the parser has them at hand.
    pub(super) fn valid(&self) -> &'static str {
        if self.in_parser { "SP_VALID" } else { "c->valid" }
    }

    /// C text that is non-zero if a header is valid.
    pub(super) fn is_valid(&self, h: HeaderId) -> String {
        match self.known.as_ref().and_then(|k| k.sure.get(&h)) {
            Some(true) => "1u".into(),
            Some(false) => "0u".into(),
            None => format!("(uint32_t)({} >> V_{} & 1)", self.valid(), self.model.headers[h.index()]),
        }
    }

    pub(super) fn known_valid(&self, h: HeaderId) -> Option<bool> {
        self.known.as_ref().and_then(|k| k.sure.get(&h)).copied()
    }

    pub(super) fn note_valid(&mut self, h: HeaderId, valid: bool) {
        if let Some(known) = &mut self.known {
            known.note(h, valid);
        }
    }

    /// Bytes that a header's home has: what it holds, and room so that a word may be read from any byte of it.
    pub(super) fn home_len(&self, h: HeaderId) -> u32 {
        (self.model.fixed_len[h.index()] + self.model.varbit_len[h.index()] + 8).next_multiple_of(8)
    }

    /// Bytes of these headers without their varbit fields.
    pub(super) fn fixed_bytes<'h>(&self, headers: impl IntoIterator<Item = &'h HeaderId>) -> u32 {
        headers.into_iter().map(|h| self.model.fixed_len[h.index()]).sum()
    }

    pub(super) fn action_name(&self, action: ActionId) -> &str {
        &self.model.actions[action.index()]
    }
}

/// The number that C text is, if it is one as [`crate::field::constant`] prints it.
pub(super) fn literal(text: &str) -> Option<u128> {
    if let Some((high, low)) = text.strip_prefix("SP_U128(").and_then(|t| t.strip_suffix(')')).and_then(|t| t.split_once(", ")) {
        return Some(literal(high)? << 64 | literal(low)?);
    }
    let digits = text.strip_suffix("ull").or_else(|| text.strip_suffix('u'))?;
    digits.strip_prefix("0x").map_or_else(|| digits.parse().ok(), |hex| u128::from_str_radix(hex, 16).ok())
}

/// C type in which a value of `width` bits is kept.
pub(super) fn kept_type(width: u32) -> &'static str {
    match width {
        0..=8 => "uint8_t",
        9..=16 => "uint16_t",
        17..=32 => "uint32_t",
        33..=64 => "uint64_t",
        _ => "sp_kept128",
    }
}

/// Parameters that are read in their own action only, and never written: they need no variable.
fn bindable(ir: &Ir) -> BTreeSet<VarId> {
    let mut params: BTreeSet<VarId> = BTreeSet::new();
    let mut twice = BTreeSet::new();
    for v in ir.actions.values().flat_map(|a| &a.params) {
        if !params.insert(*v) {
            twice.insert(*v);
        }
    }
    let strike = |block: &p4_ir::Block, own: &[VarId], params: &mut BTreeSet<VarId>| {
        p4_ir::walk::all_stmts(block, &mut |s| {
            p4_ir::walk::stmt_exprs(s, &mut |e| {
                p4_ir::walk::read_vars(e, &mut |v| {
                    if !own.contains(&v) {
                        params.remove(&v);
                    }
                });
            });
            p4_ir::walk::stmt_lvalues(s, &mut |l| {
                if let Some(v) = l.root_var() {
                    params.remove(&v);
                }
            });
            if let p4_ir::Stmt::Apply { hit, action_run, .. } = s {
                for v in hit.iter().chain(action_run) {
                    params.remove(v);
                }
            }
        });
    };
    for pipe in ir.pipes.values() {
        strike(&pipe.parser.init, &[], &mut params);
        pipe.after_parser().for_each(|b| strike(b, &[], &mut params));
    }
    for state in ir.states.values() {
        strike(&state.body, &[], &mut params);
        if let p4_ir::Transition::Select { keys, .. } = &state.next {
            for key in keys {
                p4_ir::walk::read_vars(key, &mut |v| {
                    params.remove(&v);
                });
            }
        }
    }
    for action in ir.actions.values() {
        strike(&action.body, &action.params, &mut params);
    }
    for key in ir.tables.values().flat_map(|t| &t.keys) {
        p4_ir::walk::read_vars(key, &mut |v| {
            params.remove(&v);
        });
    }
    let intrinsic = &ir.intrinsic;
    for v in intrinsic.standard.values().chain(&intrinsic.drop_reason).chain(&intrinsic.mark).chain(&intrinsic.pdu_length) {
        params.remove(v);
    }
    params.retain(|v| !twice.contains(v));
    params
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::constant;

    #[test]
    fn numbers_are_read_as_they_are_printed_and_nothing_else_is() {
        for (width, value) in [(1, 1), (9, 511), (32, 9), (32, 10), (48, 7), (64, u64::MAX.into()), (128, 3 << 70 | 5), (128, u128::MAX)] {
            assert_eq!(literal(&constant(width, value)), Some(value), "{}", constant(width, value));
        }
        for text in ["c->v.x", "ACTION_u", "u", "0xu", "4", "(4u)", "SP_U128(a, 0x1ull)", "4u + 4u"] {
            assert_eq!(literal(text), None, "{text}");
        }
    }
}
