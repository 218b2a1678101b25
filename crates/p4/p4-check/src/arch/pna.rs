//! What does a program for the Portable NIC Architecture (draft 0.5) become? One pipe, as v1model's: so every target runs it, and its copies and what it sends
//! round are v1model's.
//!
//! ```text
//! main parser     the parser
//! pre control     the beginning of ingress, on headers of its own that nothing parses
//! main control    ingress
//! main deparser   the deparser
//!                 egress: mirrors, recirculates, and sets the port; empty in a program that does neither of the first two
//! ```
//! - **Where a packet goes** the last of `send_to_port`, `drop_packet` and `recirculate` says; without any it is dropped. A packet to `PNA_PORT_CPU` is punted. Ports are
//!   below 509, and one for any other is dropped: with `NO_PORT`, if the program has no field for the reason.
//! - **`mirror_packet`**: the copy is the packet as the main control leaves it, goes through the deparser with all metadata, and then to the ports of the clone session. The draft
//!   lets a session have other contents, loops and samples too: not here.
//! - **Recirculated packets** are parsed again, with `pass` one higher; the user's metadata begin at zero.
//! - **Directions**: the draft leaves it to a target which ports are the host's. `@host_ports(3, 4)` in front of the package's instance says so; all others are the network's.
//!
//! Left out, and refused by name: entries that the data plane adds (`add_on_miss`) or that go by themselves, decryption ahead of the parser, `exit` in the pre control, more than one mirror
//! slot, headers in metadata of a program that mirrors. Its externs are PSA's (`psa_externs.rs`).

use super::pipes::{Blocks, Part, Shared};
use super::psa;
use crate::lower::arch::Arch;
use crate::lower::args::{Param, Subst};
use crate::lower::cx::Cx;
use crate::lower::forwarding::Pna;
use crate::names::sink::R;
use crate::types::fold::{binary, cast, mux, slice, unary};
use crate::types::*;
use crate::values::body::Stage;
use p4_ir::origin::Construct;
use p4_ir::{BinOp, Bits, Block, Expr, ExprKind, Extern, LValue, PipeId, Replicate, Stmt, Ty, UnOp, VarId};
use p4_syntax::{Span, ast};

/// `PNA_PORT_CPU`.
const CPU: u128 = 0xffff_fffd;
/// Bits of a port, as in v1model.
const PORT: u32 = 9;
/// Bits of `PassNumber_t`.
const PASS: u32 = 3;

pub(super) fn arch<'a>() -> Arch<'a> {
    Arch { package: "PNA_NIC", pipeline: Cx::pna_pipeline, function: Cx::pna_function, property: Cx::pna_property, ..psa::arch() }
}

impl<'a> Cx<'a> {
    /// Lowers `PNA_NIC(main_parser, pre_control, main_control, main_deparser)`; a later draft has no pre control.
    fn pna_pipeline(&mut self, args: &[Tv], span: Span) -> R<()> {
        let (parser, pre, control, deparser) = match args {
            [parser, pre, control, deparser] => (parser, Some(pre), control, deparser),
            [parser, control, deparser] => (parser, None, control, deparser),
            _ => return Err(self.error("arity", span, "PNA_NIC takes a parser, two controls and a deparser")),
        };
        let host_ports = self.host_ports()?;
        let mut standard = |name: &str, width: u32| {
            let v = self.new_var(&format!("standard.{name}"), Ty::Bit(width));
            self.build.ir.intrinsic.standard.insert(name.to_owned(), v);
            v
        };
        let (ingress_port, timestamp) = (standard("ingress_port", PORT), standard("ingress_global_timestamp", 48));
        standard("packet_length", 32);
        let egress_port = standard("egress_port", PORT);
        let mut own = |name: &str, width: u32| self.new_var(&format!("pna.{name}"), Ty::Bit(width));
        self.whole.pna = Some(Pna {
            ingress_port,
            timestamp,
            port: own("port", PORT),
            reason: None,
            pass: own("pass", PASS),
            recirculate: own("recirculate", 1),
            mirror: own("mirror", 1),
            session: own("session", 16),
            in_main: false,
            slot: None,
            recirculated: None,
            host_ports,
        });
        let pipe = PipeId::from_u32(0);
        let mut shared = Shared::new();
        let roles = ["packet_in", "main_headers", "main_meta", "parser_input"];
        let args = self.pna_args(parser, &roles, &mut shared)?;
        self.pipe_parser(pipe, parser, args)?;
        let mut told = self.pna_told(&shared, "parser_input")?;
        let init = &mut self.build.ir.pipes[pipe].parser.init;
        told.append(init);
        *init = told;

        // What both controls have is declared by now, but the reason is the user's metadata's if they have one.
        let pre = match pre {
            Some(pre) => self.pna_pre_control(pre, &mut shared)?,
            None => Block::new(),
        };
        let args = self.pna_args(control, &["main_headers", "main_meta", "main_input", "main_output"], &mut shared)?;
        if self.build.ir.intrinsic.drop_reason.is_none() {
            let reason = self.new_var("pna.reason", Ty::Bit(8));
            self.build.ir.intrinsic.drop_reason = Some(reason);
            self.pna()?.reason = Some(reason);
        }
        self.pna()?.in_main = true;
        let main = self.pipe_control(pipe, control, Stage::Ingress, args);
        self.pna()?.in_main = false;
        let main = main?;
        let mut ingress = self.pna_told(&shared, "main_input")?;
        let port = self.pna()?.port;
        ingress.push(assign(port, PORT, base::PortId::DROP.0.into()));
        ingress.extend(pre);
        let args = self.pna_args(deparser, &["packet_out", "main_headers", "main_meta", "main_output"], &mut shared)?;
        let deparser = self.pipe_control(pipe, deparser, Stage::Deparser, args)?;
        let egress = self.pna_egress(egress_port, &shared, &mut ingress)?;
        ingress.extend(main);
        *self.build.ir.ingress_mut() = ingress;
        *self.build.ir.egress_mut() = egress;
        *self.build.ir.deparser_mut() = deparser;
        Ok(())
    }

    fn pna(&mut self) -> R<&mut Pna> {
        if self.whole.pna.is_none() {
            return Err(self.bug(Span::default(), "a program for PNA"));
        }
        Ok(self.whole.pna.as_mut().expect("looked at above"))
    }

    /// The storage of a block's parameters.
    fn pna_args(&mut self, block: &Tv, roles: &[&str], shared: &mut Shared) -> R<Vec<Tv>> {
        let (_, id) = self.block_of(block)?;
        let params = self.block_params(id, &[], &mut Subst::default())?;
        if params.len() != roles.len() {
            let message = format!("this block has {} parameters, not {}", params.len(), roles.len());
            return Err(self.error("arity", block.span, message));
        }
        let roles: Vec<String> = roles.iter().map(|r| (*r).to_owned()).collect();
        let of = Blocks { roles: Cx::pna_no_roles, storage: Cx::pna_storage };
        self.pipe_args(&of, PipeId::from_u32(0), &params, &roles, shared, block.span)
    }

    /// They are given with each block.
    fn pna_no_roles(&mut self, _: PipeId, _: Part, _: &[Param<'a>], _: Span) -> R<Vec<String>> {
        Ok(Vec::new())
    }

    fn pna_storage(&mut self, _: PipeId, role: &str, v: &Tv) -> R<()> {
        if role == "main_meta" {
            self.tagged_fields(v)?;
        }
        let error = member(v, "parser_error").filter(|_| role == "main_input");
        if let Some((var, _)) = error {
            self.build.ir.intrinsic.standard.insert("parser_error".to_owned(), var);
        }
        Ok(())
    }

    /// The statements that set what the architecture tells a block.
    fn pna_told(&mut self, shared: &Shared, role: &str) -> R<Block> {
        let Some(input) = shared.get(role).cloned() else { return Ok(Block::new()) };
        let pna = self.pna()?;
        let port = var(pna.ingress_port, Ty::Bit(PORT));
        let from_host = is_one_of(&port, &pna.host_ports);
        let told = [
            ("input_port", port),
            ("direction", from_host),
            ("pass", var(pna.pass, Ty::Bit(PASS))),
            // A later draft's.
            ("recirculated", binary(BinOp::Ne, var(pna.pass, Ty::Bit(PASS)), Expr::bit(PASS, 0))),
            ("timestamp", var(pna.timestamp, Ty::Bit(48))),
        ];
        let known = told.into_iter().filter_map(|(name, value)| Some((member(&input, name)?, value)));
        Ok(known.map(|((v, ty), value)| Stmt::Assign(LValue::Var(v), as_type(value, ty))).collect())
    }

    /// The pre control: it runs ahead of the main parser, with which it shares nothing.
    fn pna_pre_control(&mut self, pre: &Tv, shared: &mut Shared) -> R<Block> {
        let args = self.pna_args(pre, &["pre_headers", "pre_meta", "pre_input", "pre_output"], shared)?;
        let body = self.pipe_control(PipeId::from_u32(0), pre, Stage::Ingress, args)?;
        let decrypt = shared.get("pre_output").and_then(|v| member(v, "decrypt")).map(|(v, _)| v);
        let (mut exits, mut decrypts, mut applies) = (false, false, false);
        let mut look = |body: &Block| {
            p4_ir::walk::all_stmts(body, &mut |s| match s {
                Stmt::Exit => exits = true,
                Stmt::Apply { .. } => applies = true,
                Stmt::Assign(LValue::Var(v), value) if Some(*v) == decrypt => {
                    decrypts |= !matches!(value.kind, ExprKind::Const(c) if c.value() == 0);
                }
                _ => {}
            })
        };
        look(&body);
        // Those of its own tables; there are no others yet.
        self.build.ir.actions.values().for_each(|a| look(&a.body));
        if exits {
            return Err(self.unsupported(pre.span, "`exit` in a pre control"));
        }
        if decrypts {
            return Err(self.unsupported(pre.span, "decryption ahead of the main parser"));
        }
        let mut told = self.pna_told(shared, "pre_input")?;
        told.extend(body);
        Ok(told)
    }

    /// Egress of a program that copies packets or sends them round: a packet that is dropped may have copies. Without, the port is where v1model looks for it.
    fn pna_egress(&mut self, egress_port: VarId, shared: &Shared, ingress: &mut Block) -> R<Block> {
        let pna = self.pna()?;
        let (port, pass, recirculate, mirror, session) = (pna.port, pna.pass, pna.recirculate, pna.mirror, pna.session);
        let (slot, recirculated) = (pna.slot, pna.recirculated);
        if slot.is_none() && recirculated.is_none() {
            self.build.ir.intrinsic.standard.insert("egress_spec".to_owned(), port);
            return Ok(Block::new());
        }
        let egress_spec = self.new_var("standard.egress_spec", Ty::Bit(PORT));
        self.build.ir.intrinsic.standard.insert("egress_spec".to_owned(), egress_spec);
        // Not of a copy, which begins in egress with a port of its own.
        let decided = self.new_var("pna.decided", Ty::Bit(1));
        ingress.push(assign(decided, 1, 1));
        let mut body = Block::new();
        if let Some((_, span)) = slot {
            let list = self.pna_mirrored(shared, span)?;
            let session = var(session, Ty::Bit(16));
            self.build.note(Construct::Copies, span);
            let copy = Stmt::Extern(Extern::Replicate { kind: Replicate::CloneE2E, session: Some(session), fields: Some(list) });
            body.push(Stmt::If(is_set(mirror), vec![copy], vec![]));
        }
        let from = |v: VarId| Stmt::Assign(LValue::Var(v), var(port, Ty::Bit(PORT)));
        let out = vec![from(egress_spec), from(egress_port)];
        match recirculated {
            None => body.extend(out),
            Some(span) => {
                let list = self.pna_list(vec![pass], span)?;
                self.build.note(Construct::Copies, span);
                let next = binary(BinOp::Add, var(pass, Ty::Bit(PASS)), Expr::bit(PASS, 1));
                let again = vec![
                    Stmt::Assign(LValue::Var(pass), next),
                    Stmt::Extern(Extern::Replicate { kind: Replicate::Recirculate, session: None, fields: Some(list) }),
                ];
                body.push(Stmt::If(is_set(recirculate), again, out));
            }
        }
        Ok(vec![Stmt::If(is_set(decided), body, vec![])])
    }

    /// What a copy takes along: all that the deparser may read but the headers.
    fn pna_mirrored(&mut self, shared: &Shared, span: Span) -> R<Expr> {
        let mut vars = Vec::new();
        for v in ["main_meta", "main_output"].into_iter().filter_map(|role| shared.get(role)) {
            if !plain(&v.val) {
                return Err(self.unsupported(v.span, "a header in metadata of a program that mirrors packets"));
            }
            variables(&v.val, &mut vars);
        }
        self.pna_list(vars, span)
    }

    /// The number of a field list.
    fn pna_list(&mut self, vars: Vec<VarId>, span: Span) -> R<Expr> {
        let lists = &mut self.build.ir.intrinsic.field_lists;
        let Some(number) = (0..=u8::MAX).rev().find(|n| !lists.contains_key(n)) else {
            return Err(self.unsupported(span, "more than 256 field lists"));
        };
        lists.insert(number, vars);
        Ok(constant(Bits::new(8, number.into()), Ty::Bit(8)))
    }

    /// `send_to_port` and its like, or one of PSA's; `None` for other functions.
    fn pna_function(&mut self, name: &str, args: &[Tv], ret: &Type, span: Span) -> R<Option<Tv>> {
        let Some(pna) = self.whole.pna.as_ref() else { return self.psa_function(name, args, ret, span) };
        let (port, reason, recirculate, mirror, session) = (pna.port, pna.reason, pna.recirculate, pna.mirror, pna.session);
        let no = |v: VarId| assign(v, 1, 0);
        match (name, args) {
            ("SelectByDirection", [direction, n2h, h2n]) => {
                // A later draft tells whether the port is the network's instead.
                let from_net = match self.scalar(direction)? {
                    e if e.ty == Ty::Bool => e,
                    e => binary(BinOp::Eq, e.clone(), constant(Bits::new(e.ty.width(), 0), e.ty)),
                };
                let (n2h, h2n) = (self.scalar(n2h)?, self.scalar(h2n)?);
                return Ok(Some(Tv::expr(ret.clone(), mux(from_net, n2h, h2n), span)));
            }
            ("is_host_port" | "is_net_port", [port]) => {
                let port = wide(self.unsigned(port)?);
                let host_ports = self.pna()?.host_ports.clone();
                let from_host = is_one_of(&port, &host_ports);
                let value = if name == "is_host_port" { from_host } else { unary(UnOp::Not, from_host) };
                return Ok(Some(Tv::expr(Type::Bool, value, span)));
            }
            ("send_to_port", [to]) => {
                self.in_main_control(name, span)?;
                let to = wide(self.unsigned(to)?);
                let number = |n: u128| constant(Bits::new(to.ty.width(), n), to.ty);
                let is_port = binary(BinOp::Lt, to.clone(), number(base::PortId::BUFFER.0.into()));
                let is_cpu = binary(BinOp::Eq, to.clone(), number(CPU));
                let [cpu, drop] = [base::PortId::PUNT, base::PortId::DROP].map(|p| Expr::bit(PORT, p.0.into()));
                let value = mux(is_port.clone(), slice(to, PORT - 1, 0), mux(is_cpu.clone(), cpu, drop));
                self.emit_assign(LValue::Var(port), value);
                let known = binary(BinOp::LOr, is_port, is_cpu);
                let no_port = base::DropReason::NO_PORT.0.into();
                self.pna_reason(reason, mux(known, Expr::bit(8, 0), Expr::bit(8, no_port)));
                self.emit(no(recirculate));
            }
            ("drop_packet", []) => {
                self.in_main_control(name, span)?;
                self.emit(assign(port, PORT, base::PortId::DROP.0.into()));
                self.pna_reason(reason, Expr::bit(8, 0));
                self.emit(no(recirculate));
            }
            // Also in the pre control: what the main control says comes later.
            ("recirculate", []) => {
                self.pna()?.recirculated.get_or_insert(span);
                self.emit(assign(port, PORT, 0));
                self.pna_reason(reason, Expr::bit(8, 0));
                self.emit(assign(recirculate, 1, 1));
            }
            ("mirror_packet", [slot, to]) => {
                self.in_main_control(name, span)?;
                let Some(number) = slot.val.bits().map(Bits::value) else {
                    return Err(self.unsupported(slot.span, "a mirror slot that is known only at run time"));
                };
                let unused = self.whole.unused_walk;
                match self.pna()?.slot {
                    Some((first, _)) if first != number && !unused => return Err(self.unsupported(slot.span, "more than one mirror slot")),
                    Some(_) => {}
                    None => self.pna()?.slot = Some((number, span)),
                }
                let to = self.unsigned(to)?;
                self.emit_assign(LValue::Var(session), cast(to, Ty::Bit(16)));
                self.emit(assign(mirror, 1, 1));
            }
            _ => return self.psa_function(name, args, ret, span),
        }
        Ok(Some(Tv::value(Type::Void, Val::None, span)))
    }

    fn pna_reason(&mut self, reason: Option<VarId>, value: Expr) {
        if let Some(reason) = reason {
            self.emit_assign(LValue::Var(reason), value);
        }
    }

    /// The draft has all but `recirculate` there alone.
    fn in_main_control(&mut self, name: &str, span: Span) -> R<()> {
        if self.pna()?.in_main || self.whole.unused_walk {
            return Ok(());
        }
        Err(self.error("misplaced", span, format!("`{name}` may be called in the main control only")))
    }

    /// `@host_ports(...)` in front of `main`.
    fn host_ports(&mut self) -> R<Vec<u128>> {
        let Some(annotation) = self.whole.host_ports else { return Ok(Vec::new()) };
        let wrong = "`@host_ports` takes numbers of ports below 509: `@host_ports(2, 3)`";
        let mut ports = Vec::new();
        if let ast::AnnotationBody::Unstructured(tokens) = &annotation.body {
            for (i, token) in tokens.iter().enumerate() {
                match &token.kind {
                    ast::AnnotationTokenKind::Int(n) if i % 2 == 0 => match u128::try_from(&n.value) {
                        Ok(port) if port < base::PortId::BUFFER.0.into() => ports.push(port),
                        _ => return Err(self.error("annotation", token.span, wrong)),
                    },
                    ast::AnnotationTokenKind::Punct(",") if i % 2 == 1 => {}
                    _ => return Err(self.error("annotation", token.span, wrong)),
                }
            }
        }
        if ports.is_empty() {
            return Err(self.error("annotation", annotation.span, wrong));
        }
        Ok(ports)
    }

    /// A property of a table that only PNA or PSA has; whether it was one.
    fn pna_property(&mut self, name: &str, property: &'a ast::TableProperty) -> R<bool> {
        if self.whole.pna.is_none() {
            return self.psa_property(name, property);
        }
        let what = match name {
            "pna_direct_counter" | "pna_direct_meter" | "pna_implementation" => return Ok(true),
            "pna_idle_timeout" => {
                self.warn("ignored", property.span, "`pna_idle_timeout` is ignored: entries do not age here");
                return Ok(true);
            }
            "add_on_miss" => "a table whose entries the data plane adds (`add_on_miss`)",
            "idle_timeout_with_auto_delete" => "a table whose entries go by themselves (`idle_timeout_with_auto_delete`)",
            "default_idle_timeout_for_data_plane_added_entries" => return Ok(true),
            _ => return self.psa_property(name, property),
        };
        let ast::TablePropertyKind::Custom { value, .. } = &property.kind else { return Ok(false) };
        let v = self.inner_block(|cx| cx.expr(value)).0?;
        match v.val.bits() {
            Some(b) if !b.is_true() => Ok(true),
            _ => Err(self.unsupported(property.span, what)),
        }
    }
}

/// The variable of a struct's member, if it is one.
fn member(v: &Tv, name: &str) -> Option<(VarId, Ty)> {
    let (c, Val::Agg(vals)) = (v.ty.composite(Kind::Struct)?, &v.val) else { return None };
    let at = c.fields.iter().position(|f| &*f.name == name)?;
    match vals.get(at) {
        Some(Val::Place(LValue::Var(id), ty)) => Some((*id, *ty)),
        _ => None,
    }
}

/// Whether a number is one of those.
fn is_one_of(e: &Expr, numbers: &[u128]) -> Expr {
    let is = |n: &u128| binary(BinOp::Eq, e.clone(), constant(Bits::new(e.ty.width(), *n), e.ty));
    numbers.iter().map(is).reduce(|a, b| binary(BinOp::LOr, a, b)).unwrap_or_else(|| constant(Bits::new(1, 0), Ty::Bool))
}

/// A number with room for any port of the architecture.
fn wide(e: Expr) -> Expr {
    let width = e.ty.width().max(32);
    cast(e, Ty::Bit(width))
}

fn assign(v: VarId, width: u32, n: u128) -> Stmt {
    Stmt::Assign(LValue::Var(v), Expr::bit(width, n))
}

fn is_set(flag: VarId) -> Expr {
    binary(BinOp::Eq, var(flag, Ty::Bit(1)), Expr::bit(1, 1))
}

/// A number or truth value as one of another type.
fn as_type(e: Expr, ty: Ty) -> Expr {
    match (e.ty, ty) {
        (Ty::Bool, Ty::Bool) => e,
        (Ty::Bool, _) => cast(cast(e, Ty::Bit(1)), ty),
        _ => cast(e, ty),
    }
}
