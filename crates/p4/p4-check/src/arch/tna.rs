//! What does a program for the Tofino Native Architecture become, when it is to be placed on a model of a chip? An ingress and an egress
//! pipe of one IR for each `Pipeline` of its `Switch`, with what its externs do put in the IR's terms.
//!
//! ```text
//! Counter, DirectCounter, Meter, DirectMeter, Hash, Random   the IR's own
//! Register with RegisterAction.execute                       read, the body of `apply`, write: one access of the cell
//! DirectRegister with DirectRegisterAction.execute           the same, of the cell that the table's entry has
//! Checksum.update                                            an update of the block that computes checksums
//! Checksum.subtract_all_and_deposit                          a unit of the parser, and a number that comes with the packet
//! Resubmit, Mirror, Digest                                   replications and digests
//! ActionProfile, ActionSelector                              tables of members and groups behind the table, as v1model's
//! RegisterParam.read                                         the value that it starts with
//! port_metadata_unpack                                       a lookahead, and an advance by what the chip puts there
//! Lpf, Wred, DirectLpf, DirectWred                           meters, with which they share units and memory; what they filter is not counted
//! ParserCounter                                              a bit that the parser matches on
//! Alpm, Atcam, @alpm, @ternary, proxy_hash                   where the table's entries lie (`p4_ir::TableMemory`), and nothing else
//! MathUnit.execute, predicate                                a hash of what it is given: the table's values take nothing of the chip
//! ```
//! It is not meant to be run: hash polynomials, the colours of meters as TNA numbers them, the order of deparser and checksums, and what the
//! traffic manager does between ingress and egress are not in it. Left out, and refused by name: several
//! parsers, and of the second generation (`t2na.p4`) the ghost thread, register actions with several results, and stacks of parser counters.

use super::pipes::{Blocks, Part, Shared};
use crate::lower::arch::Arch;
use crate::lower::args::Param;
use crate::lower::cx::{Cx, TNA};
use crate::lower::instances::{ObjKind, ProfileDecl, RegisterProgram};
use crate::names::scope::Entity;
use crate::names::sink::R;
use crate::types::fold;
use crate::types::*;
use crate::values::body::{Body, Frame, Region};
use crate::values::data::{count_unit, leaves};
use p4_ir::{Architecture, BinOp, Bits, CheckData, Expr, ExprKind, Extern, HashAlgorithm, LValue, PipeId, Replicate, Role, Stmt, Ty};
use p4_syntax::{Span, ast};
use program::{CountUnit, CounterInfo, LengthSource, MeterInfo, RegisterInfo};

/// Bits of a port's metadata in front of a packet: `PORT_METADATA_SIZE`.
const PORT_METADATA_BITS: u128 = 64;

/// Partitions of a table of prefixes, and subtrees of each, where the program does not say.
const PARTITIONS: u64 = 1024;
const SUBTREES: u64 = 2;
/// Annotations of a table's memory that have a number.
const MEMORY_NUMBERS: &[&str] = &[
    "ternary",
    "entries_with_ranges",
    "alpm",
    "algorithmic_lpm",
    "alpm_partitions",
    "algorithmic_lpm_partitions",
    "alpm_subtrees_per_partition",
    "algorithmic_lpm_subtrees_per_partition",
    "atcam_number_partitions",
];
/// Far more than any chip has.
const MOST_PARTITIONS: u64 = 1 << 20;
const MOST_SUBTREES: u64 = 1 << 10;

pub(super) fn arch<'a>() -> Arch<'a> {
    Arch {
        for_chips: true,
        kind: Cx::tna_kind,
        function: Cx::tna_function,
        method: Cx::tna_method,
        property: |_, name, _| Ok(matches!(name, "filters" | "registers" | "alpm" | "atcam" | "proxy_hash")),
        memory: Cx::tna_memory,
        ..Arch::of(TNA, Cx::tna_switch)
    }
}

impl<'a> Cx<'a> {
    /// Lowers `Switch(Pipeline(...), ...)`.
    fn tna_switch(&mut self, args: &[Tv], span: Span) -> R<()> {
        let mut pipelines: Vec<&Tv> = Vec::new();
        for arg in args {
            // Pipes of the chip that run the same are one pipeline.
            if !pipelines.iter().any(|known| self.object(known) == self.object(arg)) {
                pipelines.push(arg);
            }
        }
        self.build.ir.arch = Architecture::Tna;
        self.build.ir.pipes = Architecture::Tna.pipelines(pipelines.len());
        let checksum_error = self.new_var("checksum_error", Ty::Bit(1));
        self.build.ir.intrinsic.standard.insert("checksum_error".to_owned(), checksum_error);
        for (arg, pipes) in pipelines.iter().zip(self.build.ir.pipelines()) {
            let Some(parts) = self.package_parts(arg, "Pipeline") else {
                return Err(self.unsupported(span, "a pipe that is not a `Pipeline`"));
            };
            if pipelines.len() > 1 {
                self.tna_name_blocks(arg, &parts);
            }
            let directions = parts.chunks_exact(3).zip(pipes).zip([Role::Ingress, Role::Egress]);
            if let Some(ghost) = parts.get(6) {
                return Err(self.unsupported(ghost.span, "a ghost thread"));
            }
            if parts.len() != 6 {
                return Err(self.error("arity", span, "a `Pipeline` has six parsers and controls"));
            }
            for ((blocks, pipe), role) in directions {
                let of = Blocks { roles: Cx::tna_roles, storage: Cx::tna_storage };
                self.pipe(&of, pipe, role, [&blocks[0], &blocks[1], &blocks[2]], &mut Shared::new())?;
            }
        }
        Ok(())
    }

    /// Two pipelines may have blocks of one type: their instances then go by the pipeline's name.
    fn tna_name_blocks(&mut self, pipeline: &Tv, blocks: &[Tv]) {
        let Some(prefix) = self.object(pipeline).map(|o| self.objects.path(o).to_owned()) else { return };
        for block in blocks {
            if let Some(o) = self.object(block) {
                self.objects.put_inside(o, &prefix);
            }
        }
    }

    /// Headers and the user's metadata come first, behind the packet; the others are optional, and told by their types.
    fn tna_roles(&mut self, _: PipeId, _: Part, params: &[Param<'a>], _: Span) -> R<Vec<String>> {
        let mut roles = Vec::new();
        let mut users = ["headers", "metadata"].into_iter();
        for p in params {
            let role = match &p.ty {
                Type::Extern(id, _) => {
                    let name = self.decls.ext(*id).name.name.clone();
                    if name != "packet_in" && name != "packet_out" {
                        return Err(self.unsupported(p.ast.span, format!("a parameter of extern `{name}`")));
                    }
                    name
                }
                Type::Composite(c) => users.next().map_or_else(|| c.name.to_string(), str::to_owned),
                ty => return Err(self.error("type-mismatch", p.ast.span, format!("a struct or header is wanted, not {ty}"))),
            };
            roles.push(role);
        }
        Ok(roles)
    }

    /// The chip looks at intrinsic metadata, so what is written there is not lost.
    fn tna_storage(&mut self, pipe: PipeId, _: &str, v: &Tv) -> R<()> {
        let (Some(c), Val::Agg(vals)) = (v.ty.composite(Kind::Struct), &v.val) else { return Ok(()) };
        if !c.name.contains("intrinsic_metadata") {
            return Ok(());
        }
        // The first pipeline's go by the names of the architecture.
        let prefix = if pipe.as_u32() < 2 { String::new() } else { format!("{}.", self.build.ir.pipes[pipe].name) };
        for (f, val) in c.fields.iter().zip(vals.iter()) {
            if let Val::Place(LValue::Var(id), _) = val {
                self.build.ir.intrinsic.standard.insert(format!("{prefix}{}.{}", c.name, f.name), *id);
            }
        }
        Ok(())
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Instances

    /// An instance of one of TNA's externs; `None` for the others.
    pub(super) fn tna_kind(&mut self, name: &str, targs: &[Type], values: &[Tv], path: &str, span: Span) -> R<Option<ObjKind<'a>>> {
        let owned = path.to_owned();
        let length = LengthSource::Frame;
        let bits = targs.first().and_then(Type::wire_bits).and_then(|bits| u32::try_from(bits).ok());
        Ok(Some(match (name, values) {
            ("Counter", [size, unit, ..]) => {
                let info = CounterInfo { name: owned, size: self.cells(size)?, unit: count_unit(unit), length, table: None, bits };
                ObjKind::Counter(self.build.ir.program.counters.push(info))
            }
            ("DirectCounter", [unit, ..]) => {
                let info = CounterInfo { name: owned, size: 0, unit: count_unit(unit), length, table: None, bits };
                ObjKind::DirectCounter(self.build.ir.program.counters.push(info))
            }
            ("Meter", [size, unit, ..]) => {
                let info = MeterInfo { name: owned, size: self.cells(size)?, unit: count_unit(unit), length, table: None };
                ObjKind::Meter(self.build.ir.program.meters.push(info))
            }
            ("DirectMeter", [unit, ..]) => {
                let info = MeterInfo { name: owned, size: 0, unit: count_unit(unit), length, table: None };
                ObjKind::DirectMeter(self.build.ir.program.meters.push(info))
            }
            ("Lpf" | "Wred", [size, ..]) => {
                let info = MeterInfo { name: owned, size: self.cells(size)?, unit: CountUnit::Packets, length, table: None };
                ObjKind::Meter(self.build.ir.program.meters.push(info))
            }
            ("DirectLpf" | "DirectWred", _) => {
                let info = MeterInfo { name: owned, size: 0, unit: CountUnit::Packets, length, table: None };
                ObjKind::DirectMeter(self.build.ir.program.meters.push(info))
            }
            ("ParserCounter", []) => ObjKind::ParserCounter(self.new_var(path, Ty::Bool)),
            ("Register" | "DirectRegister", given) => {
                let cell = targs.first().cloned().unwrap_or(Type::Bad);
                let width = match cell.wire_bits() {
                    Some(w) if (1..=128).contains(&w) => w as u32,
                    _ => return Err(self.unsupported(span, format!("a register of {cell}"))),
                };
                let size = match given {
                    [size, ..] if name == "Register" => self.cells(size)?,
                    _ => 0,
                };
                let info = RegisterInfo { name: owned, size, width, initial: 0, table: None };
                ObjKind::Cells(self.build.ir.program.registers.push(info), cell)
            }
            ("RegisterParam", [start]) => ObjKind::RegisterParam(start.clone()),
            ("Alpm" | "Atcam", given) => {
                // What is left out may come as zero.
                let mut numbers = [0; 3];
                for (n, v) in numbers.iter_mut().zip(given) {
                    *n = if matches!(v.val, Val::None) { 0 } else { self.cells(v)? };
                }
                let [number, subtrees, subset] = numbers;
                let number = if number == 0 { PARTITIONS } else { number };
                let subtrees = if name == "Atcam" {
                    1
                } else if subtrees == 0 {
                    SUBTREES
                } else {
                    subtrees
                };
                let subset = u32::try_from(subset).ok().filter(|bits| *bits > 0);
                ObjKind::Partitions(p4_ir::Partitions { number, subtrees, subset, shared: (0, 0) })
            }
            ("ActionProfile", [size]) => {
                ObjKind::Profile(ProfileDecl { size: self.cells(size)?, algorithm: None, groups: None, lowered: None })
            }
            // Of the profile that it selects from, or of a size.
            ("ActionSelector", [first, rest @ ..]) => {
                // The last two of the forms with groups: members of one at most, and how many.
                let groups = match rest {
                    [.., most, number] if rest.len() >= 4 => Some((self.cells(number)?, self.cells(most)?)),
                    _ => None,
                };
                let size = match self.object(first).map(|o| self.kind(o)) {
                    Some(ObjKind::Profile(p)) => p.size,
                    _ => self.cells(first)?,
                };
                ObjKind::Profile(ProfileDecl { size, algorithm: Some(Some(HashAlgorithm::Crc32)), groups, lowered: None })
            }
            _ => return Ok(None),
        }))
    }

    /// What the program says of a table's memory.
    fn tna_memory(
        &mut self,
        decl: &'a ast::TableDecl,
        annotations: &'a [ast::Annotation],
        keys: &[program::KeyInfo],
    ) -> R<p4_ir::TableMemory> {
        let number = |name: &str| -> Option<u64> { ast::find_annotation(annotations, name)?.int().and_then(|n| u64::try_from(n).ok()) };
        for a in annotations.iter().filter(|a| MEMORY_NUMBERS.contains(&a.name.name.as_str()) && a.int().is_none()) {
            self.warn("ignored", a.span, format!("`@{}` wants a number, and is ignored", a.name.name));
        }
        let any = |names: &[&str]| names.iter().find_map(|name| number(name));
        let mut memory = p4_ir::TableMemory {
            ternary: number("ternary").is_some_and(|n| n != 0),
            ranges: number("entries_with_ranges"),
            ..Default::default()
        };
        if any(&["alpm", "algorithmic_lpm"]).is_some_and(|n| n != 0) {
            let number = any(&["alpm_partitions", "algorithmic_lpm_partitions"]).unwrap_or(PARTITIONS);
            let subtrees = any(&["alpm_subtrees_per_partition", "algorithmic_lpm_subtrees_per_partition"]).unwrap_or(SUBTREES);
            memory.alpm = Some(p4_ir::Partitions { number, subtrees, subset: None, shared: (0, 0) });
        }
        for name in ["implementation", "alpm", "atcam"] {
            let Some((_, value)) = decl.property(name) else { continue };
            let v = self.expr(value)?;
            match (self.object(&v).map(|o| self.kind(o)), name) {
                (Some(ObjKind::Partitions(partitions)), "atcam") => memory.atcam = Some(partitions.number),
                (Some(ObjKind::Partitions(partitions)), _) => memory.alpm = Some(*partitions),
                (_, "implementation") => {}
                _ => return Err(self.error("type-mismatch", value.span, format!("`{name}` must name an instance that says how"))),
            }
        }
        if let Some(alpm) = &mut memory.alpm {
            let excluding = ["alpm_atcam_exclude_field_msbs", "algorithmic_lpm_atcam_exclude_field_msbs"];
            for a in annotations.iter().filter(|a| excluding.contains(&a.name.name.as_str())) {
                let (name, bits) = named_bits(a);
                let Some(key) = keys.iter().find(|k| k.name == name || k.name.ends_with(&format!(".{name}"))) else {
                    return Err(self.error("annotation", a.span, format!("`{name}` is no key of the table")));
                };
                let (others, prefix) = &mut alpm.shared;
                let of = if key.kind == program::MatchKind::Lpm { prefix } else { others };
                *of += bits.unwrap_or(key.width).min(key.width);
            }
        }
        if decl.key().unwrap_or(&[]).iter().any(|k| k.match_kind.name == "atcam_partition_index") {
            memory.atcam = memory.atcam.or(any(&["atcam_number_partitions"])).or(Some(PARTITIONS));
        }
        let mut numbers = memory.alpm.map(|cut| (cut.number, cut.subtrees)).into_iter().chain(memory.atcam.map(|number| (number, 1)));
        if let Some((number, subtrees)) = numbers.find(|(number, subtrees)| *number > MOST_PARTITIONS || *subtrees > MOST_SUBTREES) {
            let message = format!("a table cannot have {number} partitions of {subtrees} subtrees");
            return Err(self.error("out-of-range", decl.name.span, message));
        }
        if let Some((_, value)) = decl.property("proxy_hash") {
            let v = self.expr(value)?;
            memory.proxy_hash = match &v.ty {
                Type::Extern(_, args) => args.first().and_then(Type::wire_bits).and_then(|bits| u32::try_from(bits).ok()),
                _ => return Err(self.error("type-mismatch", value.span, "`proxy_hash` must name a hash")),
            };
        }
        Ok(memory)
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Calls

    /// A method of one of TNA's externs; `None` if it is none of those that are lowered.
    pub(super) fn tna_method(&mut self, obj: ObjId, ext: &str, method: &str, args: &[Tv], ret: &Type, span: Span) -> R<Option<Tv>> {
        let void = Tv::value(Type::Void, Val::None, span);
        let action = match self.kind(obj) {
            ObjKind::RegisterAction(p) => Some(p.clone()),
            _ => None,
        };
        if let (Some(program), "execute", given) = (action, method, args) {
            // That of a direct one is the entry's number, which comes with the entry.
            let entry = Tv::expr(Type::bit(32), Expr::bit(32, 0), span);
            return self.register_action(&program, given.first().unwrap_or(&entry), ret, span).map(Some);
        }
        if let (ObjKind::RegisterAction(_) | ObjKind::Acts(_), "predicate", conditions) = (self.kind(obj), method, args) {
            let conditions = conditions.iter().map(|c| self.scalar(c)).collect::<R<Vec<Expr>>>()?;
            return self.by_own_unit(conditions, ret, "a predicate", span).map(Some);
        }
        if let (ObjKind::RegisterParam(start), "read", []) = (self.kind(obj), method, args) {
            let start = start.clone().at(span);
            let value = self.coerce(start, ret, "the value of a register's parameter")?;
            return Ok(Some(Tv { access: Access::Read("a computed value"), ..value }));
        }
        if let ObjKind::ParserCounter(counter) = self.kind(obj) {
            return Ok(self.parser_counter(*counter, method, args, ret, span));
        }
        enum K {
            Counter(p4_ir::CounterId),
            DirectCounter(p4_ir::CounterId),
            Meter(p4_ir::MeterId),
            DirectMeter(p4_ir::MeterId),
            Cells(p4_ir::RegisterId, Type),
            Other,
        }
        let kind = match self.kind(obj) {
            ObjKind::Counter(c) => K::Counter(*c),
            ObjKind::DirectCounter(c) => K::DirectCounter(*c),
            ObjKind::Meter(m) => K::Meter(*m),
            ObjKind::DirectMeter(m) => K::DirectMeter(*m),
            ObjKind::Cells(r, t) => K::Cells(*r, t.clone()),
            _ => K::Other,
        };
        Ok(Some(match (kind, ext, method, args) {
            (K::Counter(counter), _, "count", [index, ..]) => {
                let index = self.unsigned(index)?;
                self.emit(Stmt::Extern(Extern::Count { counter, index }));
                void
            }
            (K::DirectCounter(c), _, "count", _) => {
                self.emit(Stmt::Extern(Extern::DirectCount(c)));
                void
            }
            (K::Meter(meter), _, "execute", [first, rest @ ..]) => {
                // A filter takes what it filters first.
                let index = match (ext, rest) {
                    ("Lpf" | "Wred", [index, ..]) => index,
                    _ => first,
                };
                let index = self.unsigned(index)?;
                let result = self.temp(Ty::Bit(8));
                self.emit(Stmt::Extern(Extern::Meter { meter, index, result: LValue::Var(result) }));
                self.meter_result(result, ret, span)?
            }
            (K::DirectMeter(meter), _, "execute", _) => {
                let result = self.temp(Ty::Bit(8));
                self.emit(Stmt::Extern(Extern::DirectMeter { meter, result: LValue::Var(result) }));
                self.meter_result(result, ret, span)?
            }
            (K::Cells(register, cell), _, "read", [index]) => {
                let index = self.unsigned(index)?;
                let (_, value) = self.read_cell(register, &cell, &index, span)?;
                value
            }
            (K::Cells(register, _), _, "write", [index, value]) => {
                let index = self.unsigned(index)?;
                let value = self.joined(value, span)?;
                self.emit(Stmt::Extern(Extern::RegisterWrite { register, index, value }));
                void
            }
            (_, "Hash", "get", [data]) => {
                let width = match ret.scalar() {
                    Some(t) => t.width(),
                    None => return Err(self.unsupported(span, format!("a hash of type {ret}"))),
                };
                let mut list = Vec::new();
                self.flatten_data(data, &mut list)?;
                let data = self.plain_data(list, span)?;
                let result = self.temp(Ty::Bit(width));
                let (base, max) = (Expr::bit(width, 0), Expr::bit(128, 1u128.checked_shl(width).unwrap_or(u128::MAX)));
                let algorithm = HashAlgorithm::Crc32;
                self.emit(Stmt::Extern(Extern::Hash { result: LValue::Var(result), algorithm, base, data, max }));
                Tv::expr(ret.clone(), var(result, Ty::Bit(width)), span)
            }
            // What its table makes of a number does not matter to who places the program: a hash of it stands for it.
            (_, "MathUnit", "execute", [x]) => {
                let x = self.scalar(x)?;
                self.by_own_unit(vec![x], ret, "a math unit", span)?
            }
            (_, "Random", "get", []) => {
                let width = match ret.scalar() {
                    Some(t) => t.width(),
                    None => return Err(self.unsupported(span, format!("a random number of type {ret}"))),
                };
                let result = self.temp(Ty::Bit(width));
                let (low, high) = (Expr::bit(width, 0), Expr::bit(width, Bits::mask(width)));
                self.emit(Stmt::Extern(Extern::Random { result: LValue::Var(result), low, high }));
                Tv::expr(ret.clone(), var(result, Ty::Bit(width)), span)
            }
            (_, "Checksum", "add" | "subtract", [_]) => void,
            (_, "Checksum", "verify", []) => {
                // One unit of the parser; which data it sums does not matter to it.
                let (condition, checksum) = (Expr::bool(true), Expr::bit(16, 0));
                let algorithm = HashAlgorithm::Csum16;
                let check = Extern::VerifyChecksum { condition, data: Vec::new(), checksum, algorithm, payload: false };
                self.pipe_mut().control_mut(Role::VerifyChecksum).push(Stmt::Extern(check));
                let error = self.build.ir.intrinsic.standard.get("checksum_error").copied();
                let Some(error) = error else { return Err(self.bug(span, "a checksum")) };
                let wrong = var(error, Ty::Bit(1));
                let right = fold::binary(BinOp::Eq, wrong, Expr::bit(1, 0));
                let cast = match ret.scalar() {
                    Some(t) => fold::cast(right, t),
                    None => right,
                };
                Tv::expr(ret.clone(), cast, span)
            }
            // The unit sums what is left of the packet, and puts the sum into a container as the packet arrives.
            (_, "Checksum", "subtract_all_and_deposit", [residual]) => {
                let algorithm = HashAlgorithm::Csum16;
                let check = Extern::VerifyChecksum {
                    condition: Expr::bool(true),
                    data: Vec::new(),
                    checksum: Expr::bit(16, 0),
                    algorithm,
                    payload: false,
                };
                self.pipe_mut().control_mut(Role::VerifyChecksum).push(Stmt::Extern(check));
                let name = "checksum_residual".to_owned();
                let sum = match self.build.ir.intrinsic.standard.get(&name) {
                    Some(sum) => *sum,
                    None => {
                        let sum = self.new_var(&name, Ty::Bit(16));
                        self.build.ir.intrinsic.standard.insert(name, sum);
                        sum
                    }
                };
                let sum = Tv::expr(Type::bit(16), var(sum, Ty::Bit(16)), span);
                let sum = self.coerce(sum, &residual.ty, "a checksum")?;
                self.store(residual, &sum)?;
                void
            }
            (_, "Checksum", "update" | "get", data) => {
                let mut list: Vec<CheckData> = Vec::new();
                if let Some(data) = data.first() {
                    self.flatten_data(data, &mut list)?;
                }
                let sum = self.temp(Ty::Bit(16));
                let (condition, algorithm) = (Expr::bool(true), HashAlgorithm::Csum16);
                let update = Extern::UpdateChecksum { condition, data: list, checksum: LValue::Var(sum), algorithm, payload: false };
                self.pipe_mut().control_mut(Role::ComputeChecksum).push(Stmt::Extern(update));
                Tv::expr(ret.clone(), var(sum, Ty::Bit(16)), span)
            }
            (_, "Resubmit", "emit", _) => {
                self.emit(Stmt::Extern(Extern::Replicate { kind: Replicate::Resubmit, session: None, fields: None }));
                void
            }
            (_, "Mirror", "emit", [session, ..]) => {
                let session = Some(self.unsigned(session)?);
                self.emit(Stmt::Extern(Extern::Replicate { kind: Replicate::CloneI2E, session, fields: None }));
                void
            }
            (_, "Digest", "pack", [data]) => {
                let mut list = Vec::new();
                self.flatten_data(data, &mut list)?;
                let name = data.ty.declared_name().map(str::to_owned);
                let data = self.plain_data(list, span)?;
                self.ids.note_digest(name.as_deref(), data.iter().map(|e| e.ty.width()).collect());
                self.emit(Stmt::Extern(Extern::Digest { receiver: Expr::bit(32, 0), data }));
                void
            }
            _ => return Ok(None),
        }))
    }

    /// What a register's ALU makes of these by a unit of its own, as a hash of them.
    fn by_own_unit(&mut self, data: Vec<Expr>, ret: &Type, what: &str, span: Span) -> R<Tv> {
        let Some(ty) = ret.scalar() else { return Err(self.unsupported(span, format!("{what} of {ret}"))) };
        let result = self.temp(ty);
        let width = ty.width();
        let (base, max) = (Expr::bit(width, 0), Expr::bit(128, 1u128.checked_shl(width).unwrap_or(u128::MAX)));
        let algorithm = HashAlgorithm::Crc32;
        self.emit(Stmt::Extern(Extern::Hash { result: LValue::Var(result), algorithm, base, data, max }));
        Ok(Tv::expr(ret.clone(), var(result, ty), span))
    }

    /// A colour, or what a filter gives, in the type that is wanted.
    fn meter_result(&mut self, result: p4_ir::VarId, ret: &Type, span: Span) -> R<Tv> {
        let value = var(result, Ty::Bit(8));
        match ret.scalar() {
            Some(ty) => Ok(Tv::expr(ret.clone(), fold::cast(value, ty), span)),
            None => Err(self.unsupported(span, format!("a filter of {ret}"))),
        }
    }

    /// What a parser's counter does: the unit counts by itself, and the parser matches on what it says.
    fn parser_counter(&mut self, says: p4_ir::VarId, method: &str, args: &[Tv], ret: &Type, span: Span) -> Option<Tv> {
        match (method, args) {
            ("set", [_] | [_, _, _, _, _]) | ("increment" | "decrement", [_]) => Some(Tv::value(Type::Void, Val::None, span)),
            ("is_zero" | "is_negative", []) => Some(Tv::expr(ret.clone(), var(says, Ty::Bool), span)),
            _ => None,
        }
    }

    /// `max`, `min` and what else TNA has as functions; `None` for the others.
    fn tna_function(&mut self, name: &str, args: &[Tv], ret: &Type, span: Span) -> R<Option<Tv>> {
        Ok(match (name, args) {
            ("max" | "min", [a, b]) => {
                let (a, b) = (self.scalar(a)?, self.scalar(b)?);
                let op = if name == "max" { BinOp::Gt } else { BinOp::Lt };
                let ty = a.ty;
                let first = fold::binary(op, a.clone(), b.clone());
                let kind = ExprKind::Mux(Box::new(first), Box::new(a), Box::new(b));
                Some(Tv::expr(ret.clone(), Expr { kind, ty }, span))
            }
            ("sizeInBits" | "sizeInBytes", [header]) => {
                let Some(bits) = header.ty.wire_bits() else {
                    return Err(self.unsupported(span, format!("the size of a {}", header.ty)));
                };
                let size = if name == "sizeInBytes" { bits.div_ceil(8) } else { bits };
                Some(Tv::expr(ret.clone(), Expr::bit(32, u128::from(size)), span))
            }
            ("invalidate", [_]) => Some(Tv::value(Type::Void, Val::None, span)),
            ("port_metadata_unpack", [_]) => {
                let read = self.lookahead(ret, span)?;
                // Of the generation that the program is for.
                let bits = match self.scopes.global("PORT_METADATA_SIZE") {
                    Some((Entity::Value(v), _)) => v.val.bits().map_or(PORT_METADATA_BITS, Bits::value),
                    _ => PORT_METADATA_BITS,
                };
                self.emit(Stmt::Advance(Expr::bit(32, bits)));
                Some(read)
            }
            _ => None,
        })
    }

    /// Reads the cell, does what `apply` says, writes it.
    fn register_action(&mut self, program: &RegisterProgram<'a>, index: &Tv, ret: &Type, span: Span) -> R<Tv> {
        let ObjKind::Cells(register, cell) = self.kind(program.register) else { return Err(self.bug(span, "a register")) };
        let (register, cell) = (*register, cell.clone());
        let mut index = self.unsigned(index)?;
        // Evaluated once: the body must not change it.
        if index.as_const().is_none() && !matches!(index.kind, ExprKind::Var(_) | ExprKind::Field(..)) {
            let at = self.temp(index.ty);
            self.emit_assign(LValue::Var(at), index.clone());
            index = var(at, index.ty);
        }
        let (_, now) = self.read_cell(register, &cell, &index, span)?;
        let Some(body) = &program.apply.body else { return Err(self.bug(span, "a register action")) };
        let scope = self.scopes.add(program.scope, program.seen);
        let params = self.resolve_params(&program.apply.params, scope)?;
        if params.len() > 2 {
            return Err(self.unsupported(program.apply.name.span, "a register action with several results"));
        }
        let path = self.local_name(&program.apply.name.name);
        let value = Tv { ty: cell.clone(), val: self.storage(&format!("{path}.value"), &cell, span)?, access: Access::Write, span };
        self.store(&value, &now)?;
        let result = match ret {
            // `RegisterAction<T, I, void>` gives nothing.
            Type::Void => Tv::value(Type::Void, Val::None, span),
            _ => Tv { ty: ret.clone(), val: self.storage(&format!("{path}.rv"), ret, span)?, access: Access::Write, span },
        };
        for (p, v) in params.iter().zip([&value, &result]) {
            self.declare_in(scope, &p.ast.name, Entity::Value(Tv { span: p.ast.name.span, ..v.clone() }));
        }
        let mut frames = self.body.frames.clone();
        frames.push(Frame::default());
        let inner = Body { scope, region: Region::Function, path, frames, state: None, ..self.body.clone() };
        let outer = self.this.replace(program.this.clone());
        let block = self.nested(span, |cx| cx.callable_body(inner, body));
        self.this = outer;
        self.build.append(block?);
        let value = self.joined(&value, span)?;
        self.emit(Stmt::Extern(Extern::RegisterWrite { register, index, value }));
        Ok(Tv { access: Access::Read("a computed value"), ..result })
    }

    fn read_cell(&mut self, register: p4_ir::RegisterId, cell: &Type, index: &Expr, span: Span) -> R<(p4_ir::VarId, Tv)> {
        let width = self.build.ir.program.registers[register].width;
        let all = self.temp(Ty::Bit(width));
        self.emit(Stmt::Extern(Extern::RegisterRead { register, index: index.clone(), result: LValue::Var(all) }));
        let mut high = width;
        let val = self.cut(cell, &[var(all, Ty::Bit(width))], &mut high, span)?;
        Ok((all, Tv::value(cell.clone(), val, span)))
    }

    /// The scalars of a value side by side.
    pub(super) fn joined(&mut self, v: &Tv, span: Span) -> R<Expr> {
        let mut parts = Vec::new();
        leaves(&v.val, &mut parts);
        let mut all: Option<Expr> = None;
        for p in parts {
            let Some(e) = p.scalar() else { return Err(self.bug(span, "the value of a register")) };
            let e = fold::cast(e.clone(), Ty::Bit(e.ty.width()));
            all = Some(match all {
                None => e,
                Some(high) => fold::concat(high, e),
            });
        }
        match all {
            Some(e) => Ok(e),
            None => Err(self.bug(span, "the value of a register")),
        }
    }

    fn pipe_mut(&mut self) -> &mut p4_ir::Pipe {
        let pipe = self.body.pipe;
        &mut self.build.ir.pipes[pipe]
    }
}

/// The last name in an annotation, and the number behind it: `@exclude(hdr.ip.dst, 20)`.
fn named_bits(a: &ast::Annotation) -> (String, Option<u32>) {
    use ast::{AnnotationBody, AnnotationTokenKind as Token};
    let (AnnotationBody::Unstructured(tokens) | AnnotationBody::Pragma(tokens)) = &a.body else { return (String::new(), None) };
    let (mut name, mut bits) = (String::new(), None);
    for token in tokens {
        match &token.kind {
            Token::Word(word) => name = word.clone(),
            Token::Str(text) => name = text.clone(),
            Token::Int(i) => bits = u32::try_from(&i.value).ok(),
            _ => {}
        }
    }
    (name, bits)
}
