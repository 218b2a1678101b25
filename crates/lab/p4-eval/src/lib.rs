//! A second opinion on what a P4 program means: packets through the syntax tree, with nothing lowered.
//!
//! Interpreter and targets all run what `p4-check` makes of a program, so a fault in lowering is the same in each of them. This crate
//! shares nothing with it but the parser. It follows the text of the specification literally, as slowly as that is: an argument is
//! copied to a variable of its own and back (P4_16 §6.8), every value carries its type, numbers are of any size. It is for tests and
//! `splitplane-lab p4 fuzz` only.
//!
//! Programs are taken to be free of errors; what this does not know gives [`Stop::Cannot`], never a guess. Where P4 leaves open what
//! happens, it does as the interpreter says that it does: storage starts at zero, a field of an invalid header reads zero and is not
//! written, a header made valid has zero in its fields, `v1model` continues after a parser error. What a program should not depend on
//! (variables and `out` parameters before anything is assigned) may differ.
//!
//! Left out: copies of packets (clone, multicast, resubmit, recirculate), meters (always green, as cells without a
//! configuration are), direct counters, digests, value sets with members, action profiles, `random`, annotations that change the
//! control plane's names of actions.
#![forbid(unsafe_code)]

mod names;
mod value;

mod call;
mod expr;
mod externs;
mod packet;
mod place;
mod stmt;
mod table;

use names::{Entity, Scopes};
use p4_syntax::ast;
use place::Place;
use std::collections::HashMap;
use value::Value;

pub use packet::Outcome;

/// Why evaluation did not go on to the next statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// `exit`
    Exit,
    /// `return`, with its value.
    #[doc(hidden)]
    Return(Returned),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// The parser rejects with this error.
    Reject(String),
    /// This crate does not know how; why.
    Cannot(String),
}

/// What a `return` gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Returned(pub(crate) Value);

impl Stop {
    pub(crate) fn cannot(what: impl Into<String>) -> Stop {
        Stop::Cannot(what.into())
    }
}

pub(crate) type R<T> = Result<T, Stop>;

/// Most statements that one packet runs.
const FUEL: u64 = 1 << 20;

/// A program that runs.
pub struct Evaluator<'a> {
    scopes: Scopes<'a>,
    /// All variables; those of a call lie at the end while it lasts.
    store: Vec<Value>,
    objects: Vec<Object<'a>>,
    tables: Vec<table::Table<'a>>,
    /// Instances that calls of the form `C.apply()` made, by the place of the call and the instance that it stands in.
    anonymous: HashMap<(usize, String), usize>,
    /// Paths of the instances that are being applied, outermost first.
    active: Vec<String>,
    /// The program's errors by their codes.
    errors: Vec<String>,
    /// The instances of the package's arguments, in order.
    blocks: Vec<usize>,
    packet: packet::Packet,
    fuel: u64,
    /// Calls of functions, actions, parsers and controls with an `inout` or `out` argument so far.
    pub calls_that_copy: u64,
}

/// An instance.
pub(crate) enum Object<'a> {
    Packet,
    Counter {
        name: String,
        cells: Vec<u64>,
    },
    Register {
        name: String,
        cells: Vec<Value>,
    },
    /// Anything that has no effect here.
    Inert,
    Block(Instance<'a>),
}

/// An instance of a parser or control, with its persistent state.
#[derive(Clone)]
pub(crate) struct Instance<'a> {
    pub decl: Block<'a>,
    pub path: String,
    /// The global scope with the constructor's arguments.
    pub scope: usize,
    pub objects: HashMap<&'a str, usize>,
    pub tables: HashMap<&'a str, usize>,
}

#[derive(Clone, Copy)]
pub(crate) enum Block<'a> {
    Parser(&'a ast::ParserDecl),
    Control(&'a ast::ControlDecl),
}

impl<'a> Block<'a> {
    pub(crate) fn params(self) -> &'a [ast::Param] {
        match self {
            Block::Parser(p) => &p.params,
            Block::Control(c) => &c.params,
        }
    }

    pub(crate) fn locals(self) -> &'a [ast::Decl] {
        match self {
            Block::Parser(p) => p.body.as_ref().map_or(&[], |b| &b.locals),
            Block::Control(c) => c.body.as_ref().map_or(&[], |b| &b.locals),
        }
    }

    pub(crate) fn constructor_params(self) -> &'a [ast::Param] {
        match self {
            Block::Parser(p) => &p.constructor_params,
            Block::Control(c) => &c.constructor_params,
        }
    }

    pub(crate) fn type_params(self) -> &'a [ast::Ident] {
        match self {
            Block::Parser(p) => &p.type_params,
            Block::Control(c) => &c.type_params,
        }
    }
}

impl<'a> Evaluator<'a> {
    /// Of a program for v1model whose syntax tree, with `v1model.p4` included, has no errors.
    pub fn new(program: &'a ast::Program) -> Result<Evaluator<'a>, Stop> {
        let mut e = Evaluator {
            scopes: Scopes::new(),
            store: Vec::new(),
            objects: vec![Object::Packet],
            tables: Vec::new(),
            anonymous: HashMap::new(),
            active: Vec::new(),
            errors: Vec::new(),
            blocks: Vec::new(),
            packet: packet::Packet::default(),
            fuel: FUEL,
            calls_that_copy: 0,
        };
        e.declare_all(program)?;
        Ok(e)
    }

    /// Packets counted in a cell of the counter of that name.
    pub fn counter(&self, name: &str, index: u64) -> Option<u64> {
        self.objects.iter().find_map(|o| match o {
            Object::Counter { name: n, cells } if called(n, name) => cells.get(index as usize).copied(),
            _ => None,
        })
    }

    /// A cell of the register of that name, as its bits.
    pub fn register(&self, name: &str, index: u64) -> Option<u128> {
        self.objects.iter().find_map(|o| match o {
            Object::Register { name: n, cells } if called(n, name) => match cells.get(index as usize)? {
                Value::Bits { value, width, .. } => u128::try_from(&value::pattern(value, *width)).ok(),
                Value::Bool(b) => Some(u128::from(*b)),
                _ => None,
            },
            _ => None,
        })
    }

    /// Hits and misses of the table of that full name.
    pub fn table_stats(&self, name: &str) -> Option<(u64, u64)> {
        self.tables.iter().find(|t| t.name == name).map(|t| (t.hits, t.misses))
    }

    pub(crate) fn burn(&mut self) -> R<()> {
        self.fuel = self.fuel.checked_sub(1).ok_or_else(|| Stop::cannot("a program that runs for so long"))?;
        Ok(())
    }

    /// A variable of its own.
    pub(crate) fn new_slot(&mut self, value: Value) -> usize {
        self.store.push(value);
        self.store.len() - 1
    }

    pub(crate) fn declare(&mut self, scope: usize, name: &'a str, entity: Entity<'a>) {
        self.scopes.declare(scope, name, entity);
    }

    pub(crate) fn declare_variable(&mut self, scope: usize, name: &'a str, value: Value) -> usize {
        let slot = self.new_slot(value);
        self.declare(scope, name, Entity::Variable(Place::variable(slot)));
        slot
    }
}

/// Whether a name is that of an instance, perhaps without the path before it.
fn called(full: &str, name: &str) -> bool {
    full.strip_suffix(name).is_some_and(|path| path.is_empty() || path.ends_with('.'))
}
