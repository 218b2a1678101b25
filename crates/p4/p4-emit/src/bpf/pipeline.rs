//! The file as a whole, and a packet's way through v1model's blocks.

use super::Refused;
use super::code::{Code, Facts, kept_type};
use super::deparser::{self, Ending};
use crate::model::Model;
use cranelift_entity::EntityRef;
use p4_analysis::effects;
use p4_analysis::live::Liveness;
use p4_ir::origin::Construct;
use p4_ir::{Architecture, HeaderId, Ir, Role};
use program::packing::cells_grow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Most sets of headers that packets of a class leave with for which there is text of its own.
const MAX_ENDINGS: usize = 8;

/// The whole text.
pub(super) fn program(ir: &Ir) -> Result<String, Refused> {
    let model = Model::new(ir);
    let mut code = Code::new(ir, &model);
    if ir.arch != Architecture::V1Model {
        return Err(code.refuse(format!("programs for {}", ir.arch.name())));
    }
    if ir.headers.len() > 64 {
        return Err(code.refuse_because(Construct::Stack, format!("{} headers, more than 64", ir.headers.len())));
    }
    multicast(ir, &code)?;
    packet(&mut code)?;
    let mut out = format!("/* {}: generated; changes are lost. */\n\n", ir.program.name.replace("*/", ""));
    out.push_str(include_str!("prelude.h"));
    out.push('\n');
    names(&mut out, &code);
    out.push_str(&code.table_types());
    cells(&mut out, &code);
    context(&mut out, &code);
    out.push_str(include_str!("runtime.h"));
    out.push('\n');
    if !code.digests.is_empty() {
        out.push_str(include_str!("digest.h"));
        out.push('\n');
    }
    if code.hashed > 0 {
        out.push_str(include_str!("hash.h"));
        out.push('\n');
    }
    out.push_str(&code.table_functions());
    ends(&mut out, &code);
    out.push_str("/* One packet. Gives what becomes of it. */\nSP_CALL int sp_packet(struct xdp_md *ctx, struct sp_context *c)\n{\n");
    out.push_str(&code.text);
    out.push_str("}\n\n");
    out.push_str(include_str!("entry.h"));
    Ok(out)
}

/// The body of `sp_packet`.
fn packet(c: &mut Code) -> Result<(), Refused> {
    let ir = c.ir;
    for line in [
        "uint8_t *data = (uint8_t *)(long)ctx->data, *end = (uint8_t *)(long)ctx->data_end;",
        "uint32_t cursor = 0, rounds = 0, turns = 0, emitted = 0;",
        "struct sp_control *control = sp_control_at(0);",
        "const uint64_t seen = *(volatile uint64_t *)&control->generation;",
        "c->generation = (uint32_t)seen;",
        "c->empty = (uint32_t)(seen >> 32);",
        "c->subset = control->subset;",
        "c->slow_path = *(volatile uint32_t *)&control->slow_path;",
        "c->length = (uint32_t)SP_LENGTH;",
        "uint64_t valid = 0;",
        "c->valid = 0;",
        "c->flow = 0;",
        "c->follows = 0;",
        "sp_clear(c);",
        "(void)rounds, (void)turns, (void)valid;",
    ] {
        c.line(line);
    }
    if c.model.truncates {
        c.line("c->keep = 0xffffffffu;");
    }
    c.write_standard("ingress_port", "c->port");
    c.write_standard("packet_length", "c->length");
    if reads(ir, "ingress_global_timestamp") {
        c.write_standard("ingress_global_timestamp", "(sp_now(c) / 1000) & 0xffffffffffffull");
    }
    c.line("");
    c.parser()?;
    c.line("");
    let classes = super::class::classes(ir);
    let text = c.each_class(&classes, |c, came| {
        if let Some(known) = &mut c.known {
            known.values = at_first(ir);
        }
        stages(c, Some(came))
    })?;
    let only_with_classes = |c: &mut Code, text: &str| {
        if !classes.is_empty() {
            let _ = write!(c.text, "#ifndef SP_SIMPLE\n{text}#endif\n");
        }
    };
    let mut ways = String::new();
    for (i, class) in classes.iter().enumerate() {
        let (bits, parsed) = (c.valid_bits(class), c.fixed_bytes(class));
        let _ = writeln!(ways, "        if (c->cursor == {parsed} && c->valid == ({bits})) goto class_{};", i + 1);
    }
    let ways = format!("    if (!c->slow_path) {{\n{ways}    }}\n");
    only_with_classes(c, &ways);
    c.known = Some(Facts { values: at_first(ir), ..Facts::default() });
    stages(c, None)?;
    only_with_classes(c, &text);
    for (label, lines) in [
        ("dropped", &["sp_commit(c);", "return SP_DROP;"][..]),
        ("no_room", &["sp_commit(c);", "c->reason = SP_NO_HEADROOM;", "return SP_DROP;"]),
        ("stuck", &["goto failed;"]),
        ("failed", &["if (!c->subset) {", "    c->reason = SP_TARGET_FAILED;", "    return SP_DROP;", "}", "goto hand_on;"]),
        ("hand_on", &["sp_undo(c);", "return SP_NEXT;"]),
    ] {
        if label == "hand_on" {
            c.jumped.insert(label.into());
        }
        if c.jumped.contains(label) {
            c.label(label);
            lines.iter().for_each(|l| c.line(l));
        }
    }
    Ok(())
}

/// Variables that neither the parser nor anything outside the program sets: they are zero.
fn at_first(ir: &Ir) -> BTreeMap<p4_ir::VarId, u128> {
    let mut set: BTreeSet<p4_ir::VarId> = ir.intrinsic.standard.values().copied().collect();
    for block in std::iter::once(&ir.parser().init).chain(ir.states.values().map(|s| &s.body)) {
        p4_ir::walk::all_stmts(block, &mut |s| p4_ir::walk::stmt_lvalues(s, &mut |l| set.extend(l.root_var())));
    }
    ir.vars.keys().filter(|v| !set.contains(v)).map(|v| (v, 0)).collect()
}

/// What follows the parser, for packets that came with these headers or for all.
fn stages(c: &mut Code, came: Option<&[HeaderId]>) -> Result<(), Refused> {
    let ir = c.ir;
    top(c, "verify_checksum", ir.control(Role::VerifyChecksum))?;
    top(c, "ingress", ir.ingress())?;
    let spec = ir.intrinsic.standard.get("egress_spec").copied();
    let dropped = c.jump("dropped");
    if let Some(v) = spec {
        let spec = c.read_var(v);
        c.line(format!("if ({spec} == 511) {dropped}"));
        c.write_standard("egress_port", &spec);
    }
    top(c, "egress", ir.egress())?;
    if let Some(v) = spec.filter(|_| !ir.egress().is_empty()) {
        let spec = c.read_var(v);
        c.line(format!("if ({spec} == 511) {dropped}"));
    }
    let sets = came.and(c.known.as_ref()).and_then(|known| known.sets.clone()).unwrap_or_default();
    let Some(came) = came.filter(|_| !sets.is_empty() && sets.len() <= MAX_ENDINGS) else { return finish(c, None) };
    // Where the packet has its headers is certain if they came in one order only.
    let changed = if super::class::in_order(ir, came) { deparser::changed(ir) } else { ir.headers.keys().collect() };
    // What a packet came with stays, as a rule, and little is put before it.
    let mut sets: Vec<_> = sets.into_iter().collect();
    sets.sort_by_key(BTreeSet::len);
    for (i, set) in sets.iter().enumerate() {
        let last = i + 1 == sets.len();
        let bits = c.valid_bits(set);
        c.open(if last { String::new() } else { format!("if (c->valid == ({bits}))") });
        c.known = Some(Facts::exactly(ir, set));
        let ending = c.ending(came, set, &changed);
        finish(c, ending.as_ref())?;
        c.close();
    }
    Ok(())
}

/// The last checksums and the deparser.
fn finish(c: &mut Code, ending: Option<&Ending>) -> Result<(), Refused> {
    let ir = c.ir;
    top(c, "compute_checksum", ir.control(Role::ComputeChecksum))?;
    if let Some(ending) = ending {
        c.check_room(ending);
    } else {
        // A header's offset is known only if all emits are in a row.
        let straight = ir.deparser().iter().all(|s| matches!(s, p4_ir::Stmt::Emit(p4_ir::HeaderRef::Static(_))));
        c.emitted = straight.then_some(0);
        if !straight {
            // No emit may be reached, and then what is there is the last packet's.
            c.line("_Pragma(\"unroll\") for (uint32_t i = 0; i < sizeof(c->v.emit) / sizeof(c->v.emit[0]); i++) c->v.emit[i] = 0;");
        }
        top(c, "deparser", ir.deparser())?;
        let no_room = c.jump("no_room");
        c.line(format!("if (emitted > SP_HEADROOM + c->cursor || emitted + (c->length - c->cursor) > SP_MAX_PACKET) {no_room}"));
    }
    let port = match ir.intrinsic.standard.get("egress_port") {
        Some(v) => c.read_var(*v),
        None => "0".into(),
    };
    c.line(format!("c->out_port = {port};"));
    c.line("const int here = c->out_port != 510 && c->out_port != 509;");
    let hand_on = c.jump("hand_on");
    c.line(format!("if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) {hand_on}"));
    if c.model.truncates {
        // What `keep` says becomes how many bytes are to go. The kernel leaves no fewer than an Ethernet header.
        let length = match ending {
            Some(ending) => format!("c->length - {} + {}", ending.parsed, ending.written),
            None => "c->length - c->cursor + emitted".into(),
        };
        let failed = c.jump("failed");
        c.line(format!("const uint32_t whole = {length};"));
        c.line(format!("if (whole > c->keep && c->keep < 14) {failed}"));
        c.line("c->keep = whole > c->keep ? whole - c->keep : 0;");
    }
    match ending {
        Some(ending) => c.write_known(ending),
        None => c.write_headers(),
    }
    if c.model.truncates {
        let failed = c.jump("failed");
        c.line(format!("if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) {failed}"));
    }
    c.line("sp_commit(c);");
    c.line("return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;");
    c.line("");
    Ok(())
}

fn top(c: &mut Code, name: &str, block: &p4_ir::Block) -> Result<(), Refused> {
    if block.is_empty() {
        return Ok(());
    }
    c.line(format!("/* {name} */"));
    c.place = name.into();
    // A packet of a class that leaves the block early continues as others do.
    c.exit = format!("end_of_{name}");
    c.open("");
    c.block(block)?;
    c.close();
    if c.class.is_none() {
        let exit = c.exit.clone();
        c.label(&exit);
        c.known = Some(Facts::default());
    }
    Ok(())
}

fn names(out: &mut String, c: &Code) {
    let mut list = |prefix: &str, names: &[String]| {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().enumerate().map(|(i, n)| format!("{prefix}_{n} = {i}")).collect();
            let _ = writeln!(out, "enum {{ {} }};", names.join(", "));
        }
    };
    list("V", &c.model.headers);
    list("ACTION", &c.model.actions);
    out.push('\n');
}

/// Maps of counters, meters and registers.
fn cells(out: &mut String, c: &Code) {
    for (id, info) in &c.ir.program.counters {
        let (n, name) = (id.index(), &c.model.counters[id.index()]);
        let grows = cells_grow(info.size, info.table);
        array(out, &format!("sp_n{n}"), "struct sp_row", &format!("counter {name}"), grows);
    }
    for (id, info) in &c.ir.program.meters {
        let (m, name) = (id.index(), &c.model.meters[id.index()]);
        array(out, &format!("sp_p{m}"), "struct sp_meter", &format!("meter {name}"), cells_grow(info.size, info.table));
        array(out, &format!("sp_q{m}"), "struct sp_profile", "its rates", false);
    }
    for (id, _) in &c.ir.program.registers {
        array(out, &format!("sp_r{}", id.index()), "uint64_t", &format!("register {}", c.model.registers[id.index()]), false);
    }
    out.push('\n');
}

/// An array of values of which the loader says how many there are: in segments if it `grows`, else one value of a map, or, where the loader says that they
/// are too many bytes, one each.
pub(super) fn array(out: &mut String, name: &str, ty: &str, what: &str, grows: bool) {
    let _ = if grows {
        writeln!(out, "/* {what} */\nSP_SEGMENTED({name}, {ty})")
    } else {
        writeln!(out, "/* {what} */\n#ifndef {name}_large\nSP_SIZED({name}, {ty})\n#else\nSP_ARRAY({name}, {ty}, 1)\n#endif")
    };
}

/// What a core works in. The loader reads the head, up to `rests`.
fn context(out: &mut String, c: &Code) {
    let (ir, model) = (c.ir, c.model);
    out.push_str(
        "typedef unsigned __int128 sp_kept128 __attribute__((aligned(8)));\n\nstruct sp_vars {\n    /* Zero when a packet comes. */\n",
    );
    let live = Liveness::new(ir);
    let live = live.at_start();
    // By size, so that little lies between them.
    let mut vars: Vec<_> = c.vars.iter().collect();
    vars.sort_by_key(|v| (!live.contains(v), std::cmp::Reverse(ir.vars[**v].ty.width().div_ceil(8).next_power_of_two().min(16))));
    let (first, rest) = vars.split_at(vars.partition_point(|v| live.contains(v)));
    let var = |v: p4_ir::VarId| format!("    {} {};\n", kept_type(ir.vars[v].ty.width()), model.vars[v.index()]);
    out.extend(first.iter().map(|v| var(**v)));
    for s in &c.stacks {
        let _ = writeln!(out, "    uint32_t next_{};", model.stacks[s.index()]);
    }
    out.push_str("    /* Written before they are read. */\n    uint64_t written[0];\n");
    out.extend(rest.iter().map(|v| var(**v)));
    if c.most_emits > 0 {
        let _ = writeln!(out, "    uint16_t emit[{}];", c.most_emits);
    }
    let words = c.layouts.iter().map(|l| l.key_len / 8).max().unwrap_or(0).max(1);
    let tables = ir.program.tables.len().max(1);
    let _ = writeln!(
        out,
        "    uint8_t last;\n}} __attribute__((aligned(8)));\n\nstruct sp_scan {{\n    uint64_t next;\n    uint64_t tuple;\n    uint64_t found;\n    uint64_t best;\n    uint32_t at;\n    uint32_t walking;\n}};\n\nstruct sp_context {{\n    uint64_t ends[8];\n    uint64_t hits[{tables}];\n    uint64_t misses[{tables}];\n    uint64_t lost;\n    uint64_t begun;\n    uint64_t rests;\n    uint64_t now_ns;\n    SP_FORGOTTEN uint64_t valid;\n    uint32_t timed;\n    uint32_t attached;\n    uint32_t flow;\n    uint32_t follows;\n    uint32_t home;\n    uint32_t generation;\n    uint32_t empty;\n    uint32_t subset;\n    uint32_t slow_path;\n    uint32_t port;\n    uint32_t out_port;\n    uint32_t reason;\n    uint32_t length;\n    uint32_t cpu;\n    uint32_t cursor;\n    uint32_t keep;\n    struct sp_scan scan;\n    uint64_t key[{words}];\n    uint64_t masked[{words}];\n    SP_FORGOTTEN struct sp_vars v;"
    );
    for (ty, name, n) in [
        ("struct sp_pending", "count", c.counts.len()),
        ("struct sp_meter_undo", "undo_meter", c.meters.len()),
        ("struct sp_register_undo", "undo_register", c.registers.len()),
    ] {
        if n > 0 {
            let _ = writeln!(out, "    {ty} {name}[{n}];");
        }
    }
    if c.hashed > 0 {
        out.push_str("    uint8_t hashed[144] __attribute__((aligned(8)));\n");
    }
    for (site, values) in c.digests.iter().enumerate() {
        let _ = writeln!(
            out,
            "    struct {{\n        uint32_t at;\n        uint32_t count;\n        uint64_t values[{values}][2];\n    }} digest_{site};"
        );
    }
    for h in ir.headers.keys() {
        let name = &model.headers[h.index()];
        let _ = writeln!(out, "    uint8_t h_{name}[{}] __attribute__((aligned(8)));", c.home_len(h));
        if model.varbit_len[h.index()] > 0 {
            let _ = writeln!(out, "    uint32_t len_{name};");
        }
    }
    out.push_str("} __attribute__((aligned(64)));\nSP_SIZED(sp_contexts, struct sp_context)\n\n");
}

/// What is done at a packet's end, and what is taken back when it goes to the slow path; the program's reason and mark.
fn ends(out: &mut String, c: &Code) {
    let (ir, model) = (c.ir, c.model);
    out.push_str(
        "SP_INLINE void sp_clear(struct sp_context *c)\n{\n    sp_zero((uint8_t *)&c->v, __builtin_offsetof(struct sp_vars, written));\n",
    );
    for (array, n) in [("count", c.counts.len()), ("undo_meter", c.meters.len()), ("undo_register", c.registers.len())] {
        for i in 0..n {
            let _ = writeln!(out, "    c->{array}[{i}].at = 0;");
        }
    }
    for i in 0..c.digests.len() {
        let _ = writeln!(out, "    c->digest_{i}.at = 0;");
    }
    out.push_str("}\n\n");
    out.push_str("SP_INLINE void sp_commit(struct sp_context *c)\n{\n");
    for (site, counter) in c.counts.iter().enumerate() {
        let _ = writeln!(out, "    sp_count(c, sp_n{counter}_at, SP_CELLS({counter}), &c->count[{site}]);");
    }
    for (site, values) in c.digests.iter().enumerate() {
        let _ = writeln!(
            out,
            "    c->digest_{site}.count = {values};\n    if (c->digest_{site}.at && bpf_ringbuf_output(&sp_digests, &c->digest_{site}, sizeof c->digest_{site}, SP_NO_WAKEUP)) c->lost++;"
        );
    }
    out.push_str("    (void)c;\n}\n\nSP_INLINE void sp_undo(struct sp_context *c)\n{\n");
    for (site, meter) in c.meters.iter().enumerate().rev() {
        let _ = writeln!(out, "    sp_undo_meter(sp_p{meter}_at, sp_q{meter}_at, &c->undo_meter[{site}]);");
    }
    for (site, map) in c.registers.iter().enumerate().rev() {
        let _ = writeln!(out, "    sp_undo_register({map}_at, &c->undo_register[{site}]);");
    }
    out.push_str("    (void)c;\n}\n\n");
    for (name, var) in [("reason", ir.intrinsic.drop_reason), ("mark", ir.intrinsic.mark)] {
        let text = match var.filter(|v| c.vars.contains(v)) {
            Some(v) => format!("(uint32_t)c->v.{}", model.vars[v.index()]),
            None => "0".into(),
        };
        let _ = writeln!(out, "#define SP_{}(c) ({text})", name.to_uppercase());
    }
    out.push('\n');
}

/// Whether anything reads a field of `standard_metadata`.
fn reads(ir: &Ir, name: &str) -> bool {
    let Some(v) = ir.intrinsic.standard.get(name) else { return false };
    effects::read_anywhere(ir).contains(v)
}

/// Copies to a multicast group are made by no part of the pipeline.
fn multicast(ir: &Ir, c: &Code) -> Result<(), Refused> {
    let Some(group) = ir.intrinsic.standard.get("mcast_grp") else { return Ok(()) };
    let mut found = false;
    crate::graph::visit_all(ir, &mut |s| {
        if let p4_ir::Stmt::Assign(p4_ir::LValue::Var(v), e) = s
            && v == group
        {
            found |= !matches!(e.kind, p4_ir::ExprKind::Const(b) if b.value() == 0);
        }
    });
    if found { Err(c.refuse_because(Construct::Multicast, "multicast (mcast_grp)")) } else { Ok(()) }
}
