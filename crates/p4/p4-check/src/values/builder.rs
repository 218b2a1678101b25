//! How does the IR grow? Variables, headers and labels with names of their own, and the statements of the body that is being lowered, each
//! noted with where it comes from.

use super::origins::{of_stmt, origin};
use crate::types::*;
use p4_ir::origin::Construct;
use p4_ir::{Architecture, Block, HeaderId, HeaderTypeId, Ir, LabelId, StackId, StateId, Stmt, Ty, Var, VarId, VarRole};
use p4_syntax::Span;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The IR under construction.
pub(crate) struct Builder {
    pub ir: Ir,
    /// Statements of the body so far.
    out: Block,
    /// What is being lowered: the innermost statement, call or expression.
    at: Span,
    names: HashMap<String, u32>,
    header_types: HashMap<u32, HeaderTypeId>,
    /// Variables that are written once, so that their value may be used later.
    stable: HashSet<VarId>,
}

impl Builder {
    pub(crate) fn new(arch: Architecture) -> Builder {
        Builder {
            ir: Ir::new(arch),
            out: Vec::new(),
            at: Span::default(),
            names: HashMap::new(),
            header_types: HashMap::new(),
            stable: HashSet::new(),
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Names and storage

    /// A name no other variable, header or stack has: the second `x` becomes `x#2`.
    pub(crate) fn unique(&mut self, name: &str) -> String {
        let n = self.names.entry(name.to_owned()).or_insert(0);
        *n += 1;
        if *n == 1 { name.to_owned() } else { format!("{name}#{n}") }
    }

    pub(crate) fn new_var(&mut self, name: &str, ty: Ty) -> VarId {
        let name = self.unique(name);
        self.ir.vars.push(Var { name, ty, role: VarRole::Own })
    }

    pub(crate) fn new_label(&mut self, name: String) -> LabelId {
        self.ir.labels.push(name)
    }

    /// The value of a variable stays what it is.
    pub(crate) fn set_stable(&mut self, v: VarId) {
        self.stable.insert(v);
    }

    /// It changes after all.
    pub(crate) fn set_unstable(&mut self, v: VarId) {
        self.stable.remove(&v);
    }

    pub(crate) fn is_stable(&self, v: VarId) -> bool {
        self.stable.contains(&v)
    }

    pub(crate) fn header_type(&mut self, c: &Rc<Composite>) -> HeaderTypeId {
        if let Some(id) = self.header_types.get(&c.id) {
            return *id;
        }
        let mut fields = Vec::new();
        let mut offset = 0;
        flatten_header(c, "", &mut fields, &mut offset);
        // v1model pads a header to whole bytes, behind its last field (as BMv2 does).
        let varbit = fields.last().is_some_and(|f| f.varbit);
        if offset % 8 != 0 && !varbit {
            let ty = Ty::Bit(8 - offset % 8);
            fields.push(p4_ir::Field { name: "_padding".into(), ty, offset_bits: offset, varbit: false });
        }
        let fixed_bits = fields.iter().filter(|f| !f.varbit).map(|f| f.ty.width()).sum();
        let id = self.ir.header_types.push(p4_ir::HeaderType { name: c.name.clone(), fields, fixed_bits });
        self.header_types.insert(c.id, id);
        id
    }

    pub(crate) fn new_header(&mut self, name: &str, c: &Rc<Composite>, union: Option<u32>) -> HeaderId {
        let ty = self.header_type(c);
        let name = self.unique(name);
        self.ir.headers.push(p4_ir::Header { name, ty, union })
    }

    pub(crate) fn new_stack(&mut self, name: &str, size: u32, c: &Rc<Composite>, span: Span) -> (StackId, Vec<HeaderId>) {
        let name = self.unique(name);
        let elements: Vec<HeaderId> = (0..size).map(|i| self.new_header(&format!("{name}[{i}]"), c, None)).collect();
        self.note(Construct::Stack, span);
        (self.ir.stacks.push(p4_ir::Stack { name, elements: elements.clone() }), elements)
    }

    /// The header that is a varbit variable.
    pub(crate) fn new_varbit(&mut self, name: &str, width: u32) -> HeaderId {
        let ty = self.varbit_type(width);
        let name = self.unique(name);
        self.ir.headers.push(p4_ir::Header { name, ty, union: None })
    }

    fn varbit_type(&mut self, width: u32) -> HeaderTypeId {
        let name = format!("varbit<{width}>");
        if let Some((id, _)) = self.ir.header_types.iter().find(|(_, t)| t.name == name) {
            return id;
        }
        let field = p4_ir::Field { name: "value".into(), ty: Ty::Bit(width), offset_bits: 0, varbit: true };
        self.ir.header_types.push(p4_ir::HeaderType { name, fields: vec![field], fixed_bits: 0 })
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Statements

    pub(crate) fn emit(&mut self, s: Stmt) {
        if let Some(construct) = of_stmt(&self.ir, &s) {
            self.note(construct, self.at);
        }
        self.out.push(s);
    }

    /// Notes where something is that a target may refuse.
    pub(crate) fn note(&mut self, construct: Construct, span: Span) {
        self.ir.origins.note(construct, origin(span));
    }

    /// What is lowered from now on is at `span`; gives what was before.
    pub(crate) fn move_to(&mut self, span: Span) -> Span {
        std::mem::replace(&mut self.at, span)
    }

    /// The place behind what has been emitted, for [`Builder::since`] and [`Builder::insert`].
    pub(crate) fn mark(&self) -> usize {
        self.out.len()
    }

    /// What has been emitted since.
    pub(crate) fn since(&self, mark: usize) -> &[Stmt] {
        &self.out[mark..]
    }

    /// Puts statements at a place; what has been emitted since follows them.
    pub(crate) fn insert(&mut self, mark: usize, block: Block) {
        self.out.splice(mark..mark, block);
    }

    /// Adds statements that have been emitted to a block of their own.
    pub(crate) fn append(&mut self, block: Block) {
        self.out.extend(block);
    }

    /// What is emitted from now on is another block; gives the one so far.
    pub(crate) fn replace_block(&mut self, block: Block) -> Block {
        std::mem::replace(&mut self.out, block)
    }

    /// What has been emitted is the body of a parser state; a new block begins.
    pub(crate) fn end_state(&mut self, state: StateId) {
        self.ir.states[state].body = std::mem::take(&mut self.out);
    }
}

fn flatten_header(c: &Composite, prefix: &str, fields: &mut Vec<p4_ir::Field>, offset: &mut u32) {
    for f in &c.fields {
        let name = format!("{prefix}{}", f.name);
        flatten_field(&f.ty, name, fields, offset);
    }
}

fn flatten_field(ty: &Type, name: String, fields: &mut Vec<p4_ir::Field>, offset: &mut u32) {
    let (ty, varbit) = match ty {
        Type::Varbit(w) => (Ty::Bit(*w), true),
        Type::Composite(c) => return flatten_header(c, &format!("{name}."), fields, offset),
        Type::New(n) => return flatten_field(&n.target, name, fields, offset),
        Type::Stack(t, n) => return (0..*n).for_each(|i| flatten_field(t, format!("{name}[{i}]"), fields, offset)),
        // A field of a bad type has been reported; a bit in its place keeps the rest going.
        other => (other.scalar().unwrap_or(Ty::Bit(1)), false),
    };
    fields.push(p4_ir::Field { name, ty, offset_bits: *offset, varbit });
    *offset = offset.saturating_add(ty.width());
}
