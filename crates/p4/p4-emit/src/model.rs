//! What the emitter knows of a program before it prints a line: C names, where each header's bytes may be, and which
//! variables never change.

use crate::graph::visit_all;
use base::MAX_PACKET;
use cranelift_entity::EntityRef;
use p4_analysis::control::actions;
use p4_analysis::effects::{Place, stmt_writes};
use p4_ir::{Expr, ExprKind, Extern, HeaderId, HeaderRef, Ir, LValue, StackId, Stmt, TableId, walk};
use program::MatchKind;
use std::collections::{BTreeMap, BTreeSet};

/// Where the bytes of a header instance may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// It is never valid.
    Nowhere,
    /// Only in the packet: it is extracted and never made.
    Packet,
    /// Only in the context's scratch bytes: it is made and never extracted.
    Scratch,
    /// Either.
    Both,
}

/// What a variable is in the generated code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It may change.
    Plain,
    /// Nothing writes it but the architecture at the beginning: this expression.
    Fixed(String),
    /// Nothing ever writes it.
    Zero,
}

/// Most entries of a table that is near: they stay in the processor's caches.
pub const NEAR_ENTRIES: u64 = 4096;

/// When a table is *near*: a packet of a class looks it up where it is applied, unless the packet before had the same key, and waits for no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Near {
    /// It has room for few entries.
    Always,
    /// While it has few, as the host says: most tables of routes do.
    WhileSmall,
}

/// The tables of this pass.
pub struct Model {
    /// C name of each variable.
    pub vars: Vec<String>,
    /// What each variable is.
    pub kinds: Vec<Kind>,
    /// C name of each header, without prefix.
    pub headers: Vec<String>,
    /// Where each header's bytes may be.
    pub homes: Vec<Home>,
    /// Bytes of each header without its varbit field.
    pub fixed_len: Vec<u32>,
    /// Most bytes of each header's varbit field as declared; 0 if it has none.
    pub varbit_len: Vec<u32>,
    /// C name of each stack, without prefix.
    pub stacks: Vec<String>,
    /// Table, action, counter, meter and register names.
    pub tables: Vec<String>,
    /// Action names.
    pub actions: Vec<String>,
    /// Counter names.
    pub counters: Vec<String>,
    /// Meter names.
    pub meters: Vec<String>,
    /// Register names.
    pub registers: Vec<String>,
    /// Words of 64 bits of the longest digest, with its length; 0 if there is none.
    pub digest_words: usize,
    /// C name of each value set.
    pub sets: Vec<String>,
    /// Stacks whose next index is used.
    pub indexed: BTreeSet<StackId>,
    /// Elements of deep stacks that are reached by an index, with their stack and position. Their pointers are an array in the context: as locals, each place where
    /// one of them may change would concern all of them, and the C compiler's time would grow with the square of the depth.
    pub in_arrays: BTreeMap<HeaderId, (StackId, usize)>,
    /// `truncate` is used.
    pub truncates: bool,
    /// There are loops as statements.
    pub loops: bool,
    /// Variables that are read from records.
    pub action_params: crate::action_params::ActionParams,
    /// Headers whose fields may be C locals.
    pub made_by_field: BTreeSet<HeaderId>,
    /// Headers all of whose fields are written one by one ([`crate::fields::written_by_field`]).
    pub written_by_field: BTreeSet<HeaderId>,
    /// Words of 64 bits of header validity.
    pub valid_words: usize,
}

/// Deepest stack whose elements' pointers are locals.
const MOST_POINTERS: usize = 8;

impl Model {
    /// When a table is near; `None`: never.
    ///
    /// Never is one whose records name cells of counters, meters or registers: it has an entry for each flow or session, so that hardly a packet has the key of
    /// the one before, and what is asked for early has to be there when it is used.
    pub fn near(&self, ir: &Ir, table: TableId) -> Option<Near> {
        let info = &ir.program.tables[table];
        if actions(ir, table).iter().any(|action| self.action_params.cells.contains_key(action)) {
            return None;
        }
        // Each packet asks a question of its own.
        let asks = ir.program.asks.iter().any(|ask| ask.table == table);
        if asks || info.keys.is_empty() || !info.keys.iter().all(|k| matches!(k.kind, MatchKind::Exact | MatchKind::Lpm)) {
            return None;
        }
        let routes = info.keys.iter().any(|k| k.kind == MatchKind::Lpm);
        if info.size <= NEAR_ENTRIES { Some(Near::Always) } else { routes.then_some(Near::WhileSmall) }
    }

    /// Looks the program over.
    pub fn new(ir: &Ir) -> Model {
        let mut names = Names::default();
        let vars = ir.vars.values().map(|v| names.unique(&v.name)).collect();
        let strip = |name: &str| name.strip_prefix("hdr.").unwrap_or(name).to_owned();
        let mut names = Names::default();
        let headers = ir.headers.values().map(|h| names.unique(&strip(&h.name))).collect();
        let mut names = Names::default();
        let stacks = ir.stacks.values().map(|s| names.unique(&strip(&s.name))).collect();
        let mut names = Names::default();
        let tables = ir.program.tables.values().map(|t| names.unique(&t.name)).collect();
        let mut names = Names::default();
        let actions = ir.program.actions.values().map(|a| names.unique(&a.name)).collect();
        let mut names = Names::default();
        let counters = ir.program.counters.values().map(|c| names.unique(&c.name)).collect();
        let mut names = Names::default();
        let meters = ir.program.meters.values().map(|m| names.unique(&m.name)).collect();
        let mut names = Names::default();
        let registers = ir.program.registers.values().map(|r| names.unique(&r.name)).collect();
        let mut names = Names::default();
        let sets = ir.program.value_sets.values().map(|s| names.unique(&s.name)).collect();
        let (mut fixed_len, mut varbit_len) = (Vec::new(), Vec::new());
        for header in ir.headers.values() {
            let ty = &ir.header_types[header.ty];
            fixed_len.push(ty.fixed_bits / 8);
            varbit_len.push(ty.fields.iter().filter(|f| f.varbit).map(|f| f.ty.width() / 8).sum());
            debug_assert!(ty.fixed_bits.is_multiple_of(8), "the IR's verifier has seen to it");
        }
        let mut model = Model {
            vars,
            kinds: Vec::new(),
            headers,
            homes: Vec::new(),
            fixed_len,
            varbit_len,
            stacks,
            tables,
            actions,
            counters,
            meters,
            registers,
            sets,
            digest_words: digest_words(ir),
            indexed: BTreeSet::new(),
            in_arrays: BTreeMap::new(),
            truncates: false,
            loops: false,
            action_params: crate::action_params::find(ir),
            made_by_field: crate::fields::made_by_field(ir),
            written_by_field: crate::fields::written_by_field(ir),
            valid_words: ir.headers.len().div_ceil(64).max(1),
        };
        model.action_params.cells = crate::action_params::cells(ir, &model);
        model.find_homes(ir);
        model.find_kinds(ir);
        model
    }

    fn find_homes(&mut self, ir: &Ir) {
        let (mut extracted, mut made) = (BTreeSet::new(), BTreeSet::new());
        let all = |r: &HeaderRef| -> Vec<HeaderId> {
            match r {
                HeaderRef::Static(h) => vec![*h],
                HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _) => ir.stacks[*s].elements.clone(),
            }
        };
        let (mut indexed, mut reached) = (BTreeSet::new(), BTreeSet::new());
        visit_all(ir, &mut |stmt| match stmt {
            Stmt::Extract { header, .. } => extracted.extend(all(header)),
            Stmt::SetValid(header, true) => made.extend(all(header)),
            Stmt::CopyHeader { dst, .. } | Stmt::CopyVarbit { dst, .. } => made.extend(all(dst)),
            Stmt::CopyStack { dst, src } => {
                made.extend(&ir.stacks[*dst].elements);
                indexed.extend([*dst, *src]);
            }
            Stmt::Push(stack, _) | Stmt::Pop(stack, _) => {
                made.extend(&ir.stacks[*stack].elements);
                indexed.insert(*stack);
            }
            Stmt::Extern(Extern::Truncate(_)) => self.truncates = true,
            Stmt::Loop(_) => self.loops = true,
            _ => {}
        });
        visit_headers(ir, &mut |r| {
            if let HeaderRef::Next(s) | HeaderRef::Last(s) = r {
                indexed.insert(*s);
            }
            if let HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _) = r {
                reached.insert(*s);
            }
        });
        visit_exprs(ir, &mut |e| {
            if let ExprKind::LastIndex(s) | ExprKind::NextIndex(s) = &e.kind {
                indexed.insert(*s);
            }
        });
        self.indexed = indexed;
        self.homes = ir
            .headers
            .keys()
            .map(|h| match (extracted.contains(&h), made.contains(&h)) {
                (false, false) => Home::Nowhere,
                (true, false) => Home::Packet,
                (false, true) => Home::Scratch,
                (true, true) => Home::Both,
            })
            .collect();
        for s in reached.into_iter().filter(|s| ir.stacks[*s].elements.len() > MOST_POINTERS) {
            let elements = &ir.stacks[s].elements;
            if elements.iter().all(|h| matches!(self.homes[h.index()], Home::Packet | Home::Both)) {
                self.in_arrays.extend(elements.iter().enumerate().map(|(i, h)| (*h, (s, i))));
            }
        }
    }

    fn find_kinds(&mut self, ir: &Ir) {
        let mut written = BTreeSet::new();
        visit_all(ir, &mut |stmt| {
            stmt_writes(ir, stmt, &mut |place| {
                if let Place::Var(v) = place {
                    written.insert(v);
                }
            });
        });
        written.extend(ir.actions.values().flat_map(|a| &a.params));
        let standard = &ir.intrinsic.standard;
        for name in ["egress_spec", "egress_port", "mcast_grp", "checksum_error", "parser_error"] {
            written.extend(standard.get(name));
        }
        let fixed =
            BTreeMap::from([("ingress_port", "pk->port"), ("packet_length", "pk->length"), ("ingress_global_timestamp", "run->now_us")]);
        self.kinds = ir
            .vars
            .keys()
            .map(|v| match standard.iter().find(|(_, id)| **id == v).and_then(|(name, _)| fixed.get(&name[..])) {
                _ if written.contains(&v) => Kind::Plain,
                Some(text) => {
                    let width = ir.vars[v].ty.width();
                    let wide = if width > 64 {
                        "sp_u128"
                    } else if width > 32 {
                        "uint64_t"
                    } else {
                        "uint32_t"
                    };
                    Kind::Fixed(mask(&format!("({wide}){text}"), width, if *text == "run->now_us" { 48 } else { 32 }))
                }
                None => Kind::Zero,
            })
            .collect();
    }

    /// Most bytes of a header: a varbit field comes out of a packet.
    pub fn len_at_most(&self, h: HeaderId) -> u64 {
        u64::from(self.fixed_len[h.index()]) + u64::from(self.varbit_len[h.index()].min(MAX_PACKET as u32))
    }

    /// Name of a header's pointer, or its place in the context's array of them.
    pub fn pointer(&self, h: HeaderId) -> String {
        match self.in_arrays.get(&h) {
            Some((s, i)) => format!("at_{}[{i}]", self.stacks[s.index()]),
            None => format!("h_{}", self.headers[h.index()]),
        }
    }

    /// Name of the local that holds a header's varbit length in bytes.
    pub fn length(&self, h: HeaderId) -> String {
        format!("n_{}", self.headers[h.index()])
    }
}

/// `text`, of a value below 2^`have`, modulo 2^`width`.
fn mask(text: &str, width: u32, have: u32) -> String {
    if width >= have || width == 0 { text.to_owned() } else { format!("({text} & {:#x})", (1u128 << width) - 1) }
}

/// Calls `each` with every expression and its parts.
fn visit_exprs(ir: &Ir, each: &mut dyn FnMut(&Expr)) {
    fn parts(e: &Expr, each: &mut dyn FnMut(&Expr)) {
        each(e);
        walk::sub_exprs(e, &mut |sub| parts(sub, each));
    }
    visit_all(ir, &mut |stmt| walk::stmt_exprs(stmt, &mut |e| parts(e, each)));
    walk::other_exprs(ir, &mut |e| parts(e, each));
}

/// Calls `each` with every reference to a header.
fn visit_headers(ir: &Ir, each: &mut dyn FnMut(&HeaderRef)) {
    visit_all(ir, &mut |stmt| {
        walk::stmt_lvalues(stmt, &mut |l| lvalue_header(l, each));
        match stmt {
            Stmt::SetValid(h, _) | Stmt::Extract { header: h, .. } | Stmt::Emit(h) => each(h),
            Stmt::CopyHeader { dst, src } | Stmt::CopyVarbit { dst, src } => {
                each(dst);
                each(src);
            }
            _ => {}
        }
    });
    visit_exprs(ir, &mut |e| {
        if let ExprKind::Field(h, _) | ExprKind::IsValid(h) | ExprKind::VarbitBits(h, _) = &e.kind {
            each(h);
        }
        if let ExprKind::VarbitEq(a, b) = &e.kind {
            each(a);
            each(b);
        }
    });
}

fn lvalue_header(l: &LValue, each: &mut dyn FnMut(&HeaderRef)) {
    match l {
        LValue::Var(_) => {}
        LValue::Field(h, _) => each(h),
        LValue::Slice(inner, ..) => lvalue_header(inner, each),
    }
}

/// A digest's length, and two words for the receiver and each value.
fn digest_words(ir: &Ir) -> usize {
    let mut most = 0;
    crate::graph::visit_all(ir, &mut |s| {
        if let Stmt::Extern(p4_ir::Extern::Digest { data, .. }) = s {
            most = most.max(1 + 2 * (1 + data.len()));
        }
    });
    most
}

/// Makes C identifiers that differ from each other and from C's words and the generator's own.
#[derive(Default)]
struct Names(
    /// Those given away, and with which number the next one like it is tried.
    BTreeMap<String, u32>,
);

impl Names {
    fn unique(&mut self, name: &str) -> String {
        let mut text: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        while text.ends_with('_') {
            text.pop();
        }
        if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) {
            text.insert(0, 'x');
        }
        if RESERVED.contains(&&text[..])
            || [
                "sp_",
                "h_",
                "n_",
                "s_",
                "to_",
                "f_",
                "next_",
                "valid",
                "node_",
                "wait_",
                "begin_",
                "word_",
                "table_",
                "skip",
                "small_",
                "near_",
                "key_",
                "found_",
                "asked_",
                "hashing_",
                "counter_",
                "meter_",
                "register_",
                "rule_",
                "uint",
                "size_t",
                "__",
                "ACTION_",
                "TABLE_",
                "COUNTER_",
                "METER_",
                "REGISTER_",
                "SP_",
                "S_",
                "SET_",
                "V_",
            ]
            .iter()
            .any(|p| text.starts_with(p))
        {
            text.insert_str(0, "p4_");
        }
        // The generator's own constants end in numbers.
        let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
        if stem.len() < text.len() && ["x", "sum", "bytes", "max", "hash", "b"].contains(&stem) {
            text.insert_str(0, "p4_");
        }
        let Some(mut number) = self.0.get(&text).copied() else {
            self.0.insert(text.clone(), 2);
            return text;
        };
        let candidate = loop {
            let candidate = format!("{text}_{number}");
            number += 1;
            if !self.0.contains_key(&candidate) {
                break candidate;
            }
        };
        self.0.insert(candidate.clone(), 2);
        self.0.insert(text, number);
        candidate
    }
}

const RESERVED: &[&str] = &[
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "asm",
    "typeof",
    "bool",
    "true",
    "false",
    "main",
    "memcpy",
    "memset",
    "memmove",
    "linux",
    "unix",
    "i386",
    "c",
    "p",
    "wait",
    "found",
    "class",
    "i",
    "j",
    "k",
    "m",
    "n",
    "r",
    "t",
    "pk",
    "run",
    "bit",
    "todo",
    "payload",
    "end",
    "first",
    "at",
    "moved",
    "visits",
    "hits",
    "key",
    "done",
    "parsed",
    "miss",
    "table",
    "colour",
    "sum",
    "index",
    "action",
    "lane",
    "left",
    "hit",
    "gathered",
    "gathered_end",
    "steps",
];
