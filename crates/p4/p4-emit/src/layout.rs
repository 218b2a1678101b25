//! Keys and records of tables: where in a key's bytes each field lies, and where in a record each action's parameters.
//!
//! The generated text describes both in `sp_layout`, an array of numbers that the C compiler fills in, so the code that writes
//! entries needs nothing but the compiled object and the [`program::Program`]. The array holds, in this order:
//! - [`VERSION`], and the numbers of tables, counters, meters, registers and value sets, and the most words of a digest;
//! - of each table: bytes of a key; the number of its fields, and of each its offset, its bytes and by how many bits it is
//!   shifted to the left; bytes of a record; offset of the action's number (16 bits); offset of the entry's number (32 bits) or
//!   [`NONE`]; the number of actions, and of each its number, the number of its parameters, and of each offset and bytes.
//!
//! Key fields are in network order, in whole bytes; a field matched by longest prefix is left-aligned in its bytes and comes
//! last. Record fields are in the machine's order, 1, 2, 4, 8 or 16 bytes.

use crate::EmitError;
use crate::emitter::{kept_len, kept_type};
use crate::model::Model;
use cranelift_entity::EntityRef;
use p4_analysis::control::actions;
use p4_ir::{ActionId, Ir, TableId};
use program::MatchKind;
use std::fmt::Write;

/// Version of the interface between generated code and its host.
pub const VERSION: u32 = 6;
/// No such thing.
pub const NONE: u32 = u32::MAX;

/// Place of a field in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// First byte.
    pub offset: u32,
    /// Number of bytes.
    pub bytes: u32,
    /// How far the value is shifted to the left.
    pub shift: u32,
}

/// Fields of a table's key in the order of declaration, and the key's length in bytes.
pub fn key_fields(ir: &Ir, table: TableId) -> (Vec<KeyField>, u32) {
    let keys = &ir.program.tables[table].keys;
    let ranked = keys.iter().any(|k| !matches!(k.kind, MatchKind::Exact | MatchKind::Lpm));
    let last = if ranked { None } else { keys.iter().position(|k| k.kind == MatchKind::Lpm) };
    let mut fields = vec![KeyField { offset: 0, bytes: 0, shift: 0 }; keys.len()];
    let mut at = 0;
    for i in (0..keys.len()).filter(|i| Some(*i) != last).chain(last) {
        let bytes = keys[i].width.div_ceil(8);
        let shift = if Some(i) == last { bytes * 8 - keys[i].width } else { 0 };
        fields[i] = KeyField { offset: at, bytes, shift };
        at += bytes;
    }
    (fields, at)
}

/// Bytes that a key takes in an array of keys.
pub fn key_stride(len: u32) -> u32 {
    len.next_multiple_of(8).max(8)
}

/// C name of the member of a record that holds a parameter.
pub fn member(ir: &Ir, action: ActionId, param: usize) -> String {
    let info = &ir.program.actions[action];
    let name: String = info.params[param].name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("{name}_{param}")
}

/// The structures of records, and `sp_layout`.
pub fn text(ir: &Ir, model: &Model) -> Result<String, EmitError> {
    let mut out = String::new();
    let program = &ir.program;
    for table in program.tables.keys() {
        record(ir, model, table, &mut out)?;
    }
    let counts = [program.tables.len(), program.counters.len(), program.meters.len(), program.registers.len(), program.value_sets.len()];
    let most = model.digest_words;
    let _ = writeln!(
        out,
        "const uint32_t sp_layout[] = {{\n    {VERSION}, {}, {}, {}, {}, {}, {most},",
        counts[0], counts[1], counts[2], counts[3], counts[4]
    );
    for (table, info) in &program.tables {
        let name = &model.tables[table.index()];
        let (fields, len) = key_fields(ir, table);
        let _ = write!(out, "    /* {name} */ {len}, {},", fields.len());
        for f in fields {
            let _ = write!(out, " {},{},{},", f.offset, f.bytes, f.shift);
        }
        let handle = match info.direct_counter.is_some() || info.direct_meter.is_some() {
            true => format!("__builtin_offsetof(struct record_{name}, handle)"),
            false => NONE.to_string(),
        };
        let actions = actions(ir, table);
        let _ = write!(
            out,
            "\n        sizeof(struct record_{name}), __builtin_offsetof(struct record_{name}, action), {handle}, {},",
            actions.len()
        );
        for action in actions {
            let params = &program.actions[action].params;
            let _ = write!(out, "\n        {}, {},", action.index(), params.len());
            for (i, p) in params.iter().enumerate() {
                let path = format!("{}.{}", model.actions[action.index()], member(ir, action, i));
                let _ = write!(out, " __builtin_offsetof(struct record_{name}, {path}), {},", kept_len(p.width));
            }
        }
        out.push('\n');
    }
    out.push_str("};\nconst uint32_t sp_layout_len = sizeof sp_layout / sizeof sp_layout[0];\n\n");
    Ok(out)
}

/// The record: number of the action, of the entry where a direct counter or meter wants it, and the parameters of any one action,
/// short ones first so that little is lost to alignment.
fn record(ir: &Ir, model: &Model, table: TableId, out: &mut String) -> Result<(), EmitError> {
    let (name, info) = (&model.tables[table.index()], &ir.program.tables[table]);
    let head = |pad: &str| {
        let handle =
            if info.direct_counter.is_some() || info.direct_meter.is_some() { format!("{pad}uint32_t handle;\n") } else { String::new() };
        format!("{handle}{pad}uint16_t action;\n")
    };
    let _ = writeln!(out, "struct record_{name} {{\n    union {{\n        struct {{\n{}        }};", head("            "));
    for action in actions(ir, table) {
        if action.index() > usize::from(u16::MAX) {
            return Err(EmitError::unsupported(None, "more than 65536 actions"));
        }
        let mut params: Vec<_> = ir.program.actions[action].params.iter().enumerate().collect();
        if params.is_empty() {
            continue;
        }
        params.sort_by_key(|(_, p)| kept_len(p.width));
        let _ = write!(out, "        struct {{\n{}", head("            ").replace("handle;", "handle_;").replace("action;", "action_;"));
        for (i, p) in params {
            let ty = if p.width > 64 { "sp_kept128" } else { kept_type(p.width) };
            let _ = writeln!(out, "            {ty} {};", member(ir, action, i));
        }
        let _ = writeln!(out, "        }} {};", model.actions[action.index()]);
    }
    out.push_str("    };\n};\n\n");
    Ok(())
}
