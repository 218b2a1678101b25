//! Script text to commands: lines, words and names. Values are `value`'s.

use super::value::{action_value, key_match, number, wide_match, wide_value};
use super::{Command, Comparison, Pattern, Script, ScriptError};
use base::PortId;
use p4_ir::{ActionId, TableId};
use program::{Batch, Entry, KeyMatch, MatchKind, MeterConfig, Mirror, Op, Program, RegisterId, Replica, TableInfo};
use std::collections::BTreeMap;

/// Reads a script against the program whose names it uses.
pub fn parse(text: &str, program: &Program) -> Result<Script, ScriptError> {
    let mut commands = Vec::new();
    let mut copies = Copies::default();
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let command = command(line, program, &mut copies).map_err(|what| ScriptError { line: i + 1, what })?;
        commands.push((i + 1, command));
    }
    Ok(Script { commands })
}

/// What a script has said of multicast so far.
#[derive(Default)]
struct Copies {
    /// By their handles.
    nodes: Vec<Vec<Replica>>,
    groups: BTreeMap<u16, Vec<Replica>>,
}

fn command(line: &str, program: &Program, copies: &mut Copies) -> Result<Command, String> {
    let (word, rest) = word(line);
    match word {
        "add" => add(rest, program).map(|e| one(Op::Insert(e))),
        "setdefault" => set_default(rest, program).map(one),
        "remove" if rest == "all" => Ok(Command::RemoveAll),
        "remove" => remove(rest, program).map(|e| one(Op::Delete(e))),
        "packet" => packet(rest),
        "expect" => expect(rest),
        "no_packet" => nothing_more(rest, Command::NoPacket),
        "wait" => Ok(Command::Wait),
        "check_counter" => check_counter(rest, program),
        "mirroring_add" | "mirroring_add_mc" => mirroring(rest, word == "mirroring_add_mc"),
        "mirroring_get" => Ok(Command::Wait),
        "mc_mgrp_create" | "mc_node_create" | "mc_node_associate" => multicast(word, rest, copies),
        "pvs_add" | "pvs_remove" => value_set(rest, program, word == "pvs_add"),
        "register_read" => register_read(rest, program),
        "register_write" => register_write(rest, program),
        "register_reset" => register_reset(rest, program),
        "meter_set_rates" => meter_rates(rest, program, false),
        "meter_array_set_rates" => meter_rates(rest, program, true),
        "meter_get_rates" => Ok(Command::Wait),
        other => Err(format!("command {other} is not supported")),
    }
}

fn one(op: Op) -> Command {
    Command::Apply(Batch { ops: vec![op] })
}

fn nothing_more(rest: &str, command: Command) -> Result<Command, String> {
    if rest.is_empty() { Ok(command) } else { Err(format!("{rest:?} is too much")) }
}

/// `TABLE [PRIORITY] KEY:VALUE ... ACTION(PARAM:VALUE, ...) [= HANDLE]`
fn add(text: &str, program: &Program) -> Result<Entry, String> {
    let (table, rest) = table(text, program)?;
    let info = &program.tables[table];
    let (priority, keys, rest) = priority_and_keys(rest, info)?;
    let open = rest.find('(').ok_or("no action")?;
    let name = rest[..open].trim_end();
    let quoted = name.strip_prefix('"').and_then(|n| n.strip_suffix('"')).is_some_and(|n| !n.contains('"'));
    if let Some(space) = name.rfind(char::is_whitespace).filter(|_| !quoted) {
        return Err(format!("{:?} is not KEY:VALUE", name[..space].trim_end()));
    }
    let action = action(name, program, info)?;
    let args = arguments(&rest[open..], program, action)?;
    Ok(Entry { table, keys: whole(keys, info)?, priority, action, args })
}

/// `TABLE [PRIORITY] KEY:VALUE ...`
fn remove(text: &str, program: &Program) -> Result<Entry, String> {
    let (table, rest) = table(text, program)?;
    let info = &program.tables[table];
    let (priority, keys, rest) = priority_and_keys(rest, info)?;
    if !rest.is_empty() {
        return Err(format!("{rest:?} is not KEY:VALUE"));
    }
    Ok(Entry { table, keys: whole(keys, info)?, priority, action: info.default_action.0, args: vec![] })
}

/// `TABLE ACTION(PARAM:VALUE, ...)`
fn set_default(text: &str, program: &Program) -> Result<Op, String> {
    let (table, rest) = table(text, program)?;
    let open = rest.find('(').ok_or("no action")?;
    let action = action(rest[..open].trim(), program, &program.tables[table])?;
    let args = arguments(&rest[open..], program, action)?;
    Ok(Op::SetDefault { table, action, args })
}

fn table<'t>(text: &'t str, program: &Program) -> Result<(TableId, &'t str), String> {
    let (name, rest) = word(text);
    let all = program.tables.iter().map(|(id, t)| (id, vec![t.full_name.as_str(), t.name.as_str()]));
    named(name, all).map(|id| (id, rest)).map_err(|e| format!("table {e}"))
}

fn action(name: &str, program: &Program, table: &TableInfo) -> Result<ActionId, String> {
    let name = unquote(name);
    let all = table.actions.iter().filter_map(|u| {
        let info = program.actions.get(u.action)?;
        // An action that the table gives arguments of its own is a copy for it, named ACTION.TABLE; one of a profile's
        // members may be a copy named ACTION.PROFILE.
        let parts = || table.full_name.split('.').rev().take(2);
        let original = |name: &'_ str| parts().find_map(|p| name.strip_suffix(p).and_then(|n| n.strip_suffix('.')).map(str::len));
        let mut names = vec![info.full_name.as_str(), info.name.as_str()];
        names.extend(original(&info.full_name).map(|len| &info.full_name[..len]));
        Some((u.action, names))
    });
    named(name, all).map_err(|e| format!("action {e} of table {}", table.name))
}

/// The priority, the keys that are given, and what follows them.
fn priority_and_keys<'t>(text: &'t str, info: &'t TableInfo) -> Result<(u32, Vec<Option<KeyMatch>>, &'t str), String> {
    let (first, behind) = word(text);
    let (priority, mut rest) = first.parse::<u32>().map_or((0, text.trim()), |p| (p, behind));
    let mut keys: Vec<Option<KeyMatch>> = vec![None; info.keys.len()];
    while let Some((name, behind)) = key_name(rest, info) {
        let (value, behind) = word(behind);
        rest = behind;
        let name = plain_key(name);
        let all = info.keys.iter().enumerate().map(|(i, k)| (i, vec![k.name.as_str()]));
        if let Some(parts) = pieces(&name, info.keys.iter().map(|k| (k.name.as_str(), k.width))) {
            let widths: Vec<u32> = parts.clone().map(|i| info.keys[i].width).collect();
            let matches = wide_match(value, info.keys[parts.start].kind, &widths).map_err(|e| format!("key {name}: {e}"))?;
            for (i, m) in parts.zip(matches) {
                if keys[i].replace(m).is_some() {
                    return Err(format!("key {name} is given twice"));
                }
            }
            continue;
        }
        let i = named(&name, all).map_err(|e| format!("key {e} of table {}", info.name))?;
        let key = &info.keys[i];
        let m = key_match(value, key.kind, key.width).map_err(|e| format!("key {}: {e}", key.name))?;
        if keys[i].replace(m).is_some() {
            return Err(format!("key {} is given twice", key.name));
        }
    }
    // Scripts give priorities to tables of any kind; where they decide nothing they say nothing.
    let prioritised = info.keys.iter().any(|k| !matches!(k.kind, MatchKind::Exact | MatchKind::Lpm));
    Ok((if prioritised { priority } else { 0 }, keys, rest))
}

/// All keys: what is left out matches everything, if it can.
fn whole(keys: Vec<Option<KeyMatch>>, info: &TableInfo) -> Result<Vec<KeyMatch>, String> {
    let whole = |(k, m): (&program::KeyInfo, Option<KeyMatch>)| match (m, k.kind) {
        (Some(m), _) => Ok(m),
        (None, MatchKind::Exact) => Err(format!("key {} is missing", k.name)),
        (None, MatchKind::Lpm) => Ok(KeyMatch::Lpm { value: 0, prefix_len: 0 }),
        (None, MatchKind::Ternary) => Ok(KeyMatch::Ternary { value: 0, mask: 0 }),
        (None, MatchKind::Range) => Ok(KeyMatch::Range { low: 0, high: base::Bits::mask(k.width) }),
        (None, MatchKind::Optional) => Ok(KeyMatch::Optional(None)),
    };
    info.keys.iter().zip(keys).map(whole).collect()
}

/// The key that a text begins with, and what is behind its colon; `None` if it begins with something else. A name is what the control plane has, whatever
/// characters are in it, or its last parts; blanks in it may be others.
fn key_name<'t>(text: &'t str, info: &'t TableInfo) -> Option<(&'t str, &'t str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let (name, behind) = quoted.split_once('"')?;
        return Some((name, behind.trim_start().strip_prefix(':')?.trim_start()));
    }
    let mut found: Option<(&str, &str)> = None;
    for key in &info.keys {
        let name = key.name.as_str();
        // A wide key's pieces have one name together.
        let base = name.strip_suffix(']').and_then(|n| n.rsplit_once('[')).filter(|(_, bits)| bits.contains(':')).map(|(base, _)| base);
        for name in [Some(name), base].into_iter().flatten() {
            let parts = name.match_indices('.').map(|(dot, _)| &name[dot + 1..]);
            for part in [name].into_iter().chain(parts).filter(|part| !part.is_empty()) {
                let behind = strip_spaced(text, part).and_then(|behind| behind.trim_start().strip_prefix(':'));
                if let Some(behind) = behind.filter(|_| found.is_none_or(|(longest, _)| part.len() > longest.len())) {
                    found = Some((part, behind.trim_start()));
                }
            }
        }
    }
    if found.is_some() {
        return found;
    }
    // A name that the table does not have in these words: it ends at a colon that is in no bracket, and has no blanks outside of them.
    let mut depth = 0u32;
    for (at, c) in text.char_indices() {
        match c {
            ':' if depth == 0 => return Some((&text[..at], text[at + 1..].trim_start())),
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            c if c.is_whitespace() && depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// What is behind a name that a text begins with, but for blanks.
fn strip_spaced<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = text;
    for c in name.chars().filter(|c| !c.is_whitespace()) {
        rest = rest.trim_start().strip_prefix(c)?;
    }
    Some(rest)
}

/// `(PARAM:VALUE, ...) [= HANDLE]`, in any order of the parameters.
fn arguments(text: &str, program: &Program, action: ActionId) -> Result<Vec<u128>, String> {
    let info = &program.actions[action];
    let close = text.rfind(')').ok_or("no closing parenthesis")?;
    let after = text[close + 1..].trim();
    if !after.is_empty() && !after.starts_with('=') {
        return Err(format!("{after:?} after the action"));
    }
    let inner = text.get(1..close).unwrap_or("").trim();
    let mut args: Vec<Option<u128>> = vec![None; info.params.len()];
    let params = || info.params.iter().map(|p| (p.name.as_str(), p.width));
    let mut position = 0;
    for arg in inner.split(',').map(str::trim).filter(|a| !a.is_empty()) {
        // A wide parameter's pieces have colons in their names, a value has none.
        let (i, value) = match arg.rsplit_once(':') {
            Some((name, value)) => {
                let name = unquote(name.trim());
                let found = pieces(name, params()).map(|p| p.start).or_else(|| info.params.iter().position(|p| p.name == name));
                (found.ok_or_else(|| format!("action {} has no parameter {name}", info.name))?, value.trim())
            }
            None => (position, arg),
        };
        position += 1;
        let base = info.params.get(i).and_then(|p| p.name.split_once('[')).map(|(base, _)| base);
        if let Some(parts) = base.and_then(|base| pieces(base, params())).filter(|p| p.start == i) {
            let widths: Vec<u32> = parts.clone().map(|i| info.params[i].width).collect();
            let values = wide_value(value, &widths).map_err(|e| format!("parameter {}: {e}", base.unwrap_or_default()))?;
            position = parts.end;
            for (i, value) in parts.zip(values) {
                if args[i].replace(value).is_some() {
                    return Err(format!("parameter {} is given twice", info.params[i].name));
                }
            }
            continue;
        }
        let param = info.params.get(i).ok_or_else(|| format!("action {} has only {} parameters", info.name, info.params.len()))?;
        let value = action_value(value, param.width).map_err(|e| format!("parameter {}: {e}", param.name))?;
        if args[i].replace(value).is_some() {
            return Err(format!("parameter {} is given twice", param.name));
        }
    }
    let missing = |(a, p): (Option<u128>, &program::ParamInfo)| a.ok_or_else(|| format!("parameter {} is missing", p.name));
    args.into_iter().zip(&info.params).map(missing).collect()
}

fn packet(text: &str) -> Result<Command, String> {
    let (port, rest) = port(text)?;
    let digits: Vec<u8> = nibbles(rest)?.into_iter().map(|n| n.ok_or("a packet to send has no *")).collect::<Result<_, _>>()?;
    if !digits.len().is_multiple_of(2) {
        return Err("an odd number of digits".into());
    }
    Ok(Command::Packet { port, bytes: digits.chunks(2).map(|d| d[0] << 4 | d[1]).collect() })
}

fn expect(text: &str) -> Result<Command, String> {
    let (port, rest) = port(text)?;
    if rest.is_empty() {
        return Ok(Command::Expect { port, pattern: None });
    }
    let (digits, exact_length) = match rest.strip_suffix('$') {
        Some(digits) => (digits, true),
        None => (rest, false),
    };
    Ok(Command::Expect { port, pattern: Some(Pattern { nibbles: nibbles(digits)?, exact_length }) })
}

fn port(text: &str) -> Result<(PortId, &str), String> {
    let (port, rest) = word(text);
    let number = port.parse::<u16>().ok().filter(|p| *p <= PortId::PUNT.0).ok_or_else(|| format!("{port:?} is not a port"))?;
    Ok((PortId(number), rest))
}

fn nibbles(text: &str) -> Result<Vec<Option<u8>>, String> {
    let digit = |c: char| match c {
        '*' => Ok(None),
        c => c.to_digit(16).map(|d| Some(d as u8)).ok_or_else(|| format!("{c:?} is not a hexadecimal digit")),
    };
    text.chars().filter(|c| !c.is_whitespace()).map(digit).collect()
}

/// `SESSION PORT` or `SESSION GROUP`.
fn mirroring(text: &str, group: bool) -> Result<Command, String> {
    let (session, to) = word(text);
    let to = match group {
        true => Mirror::Group(small(to)?),
        false => Mirror::Port(port(to)?.0),
    };
    Ok(one(Op::Mirror { session: small(session)?, to: Some(to) }))
}

fn multicast(command: &str, text: &str, copies: &mut Copies) -> Result<Command, String> {
    let (first, rest) = word(text);
    match command {
        "mc_node_create" => {
            let rid = small(first)?;
            let ports: Vec<PortId> = rest.split_whitespace().map(|p| port(p).map(|(p, _)| p)).collect::<Result<_, _>>()?;
            copies.nodes.push(ports.into_iter().map(|port| Replica { port, rid }).collect());
            Ok(Command::Wait)
        }
        "mc_node_associate" => {
            let group: u16 = small(first)?;
            let node: usize = small(rest)?;
            let node = copies.nodes.get(node).ok_or_else(|| format!("there is no node {node}"))?;
            let replicas = copies.groups.get_mut(&group).ok_or_else(|| format!("there is no group {group}"))?;
            replicas.extend(node);
            if replicas.len() > program::MAX_REPLICAS {
                return Err(format!("more than {} copies", program::MAX_REPLICAS));
            }
            Ok(one(Op::Multicast { group, replicas: replicas.clone() }))
        }
        _ => {
            copies.groups.entry(small(first)?).or_default();
            nothing_more(rest, Command::Wait)
        }
    }
}

/// A number that fits its type.
fn small<N: TryFrom<u128>>(text: &str) -> Result<N, String> {
    N::try_from(number(text.trim())?).map_err(|_| format!("{text} is too large"))
}

/// `SET VALUE ...`
fn value_set(text: &str, program: &Program, add: bool) -> Result<Command, String> {
    let (name, rest) = word(text);
    let set = named(name, program.value_sets.iter().map(|(id, s)| (id, vec![s.name.as_str()]))).map_err(|e| format!("value set {e}"))?;
    let widths = &program.value_sets[set].widths;
    let values: Vec<&str> = rest.split_whitespace().collect();
    if values.len() != widths.len() {
        return Err(format!("{} values for {} fields", values.len(), widths.len()));
    }
    let member = values.iter().zip(widths).map(|(v, w)| key_match(v, MatchKind::Ternary, *w)).collect::<Result<_, _>>()?;
    Ok(one(if add { Op::InsertValue { set, member } } else { Op::DeleteValue { set, member } }))
}

fn register<'t>(text: &'t str, program: &Program) -> Result<(RegisterId, &'t str), String> {
    let (name, rest) = word(text);
    let all = program.registers.iter().map(|(id, r)| (id, vec![r.name.as_str()]));
    named(name, all).map(|id| (id, rest)).map_err(|e| format!("register {e}"))
}

/// `REGISTER INDEX [OP NUMBER]`
fn register_read(text: &str, program: &Program) -> Result<Command, String> {
    let (register, rest) = register(text, program)?;
    let (index, rest) = word(rest);
    let wanted = match rest {
        "" => None,
        _ => Some(comparison(rest)?),
    };
    Ok(Command::CheckRegister { register, index: small(index)?, wanted })
}

/// Most cells that one line sets.
const MOST_METERS: u64 = 1 << 16;

/// `METER INDEX RATE:BURST RATE:BURST` or, for all cells, `METER RATE:BURST RATE:BURST`: the committed rate, then the peak rate, in units per microsecond.
fn meter_rates(text: &str, program: &Program, all: bool) -> Result<Command, String> {
    let (name, rest) = word(text);
    let meters = program.meters.iter().map(|(id, m)| (id, vec![m.name.as_str()]));
    let meter = named(name, meters).map_err(|e| format!("meter {e}"))?;
    let size = program.meters[meter].size;
    let (cells, rest) = match all {
        true if size > MOST_METERS => return Err(format!("meter {name} has {size} cells, more than {MOST_METERS}")),
        true => (0..size, rest),
        false => {
            let (index, rest) = word(rest);
            let index: u64 = small(index)?;
            (index..index.saturating_add(1), rest)
        }
    };
    let rates: Vec<(u64, u64)> = rest.split_whitespace().map(rate).collect::<Result<_, _>>()?;
    let [(cir, cbs), (pir, pbs)] = rates[..] else { return Err(format!("{} rates, not two", rates.len())) };
    let config = Some(MeterConfig { cir, cbs, pir, pbs });
    Ok(Command::Apply(Batch { ops: cells.map(|index| Op::Meter { meter, index, config }).collect() }))
}

/// `RATE:BURST`: units per second, and units.
fn rate(text: &str) -> Result<(u64, u64), String> {
    let (rate, burst) = text.split_once(':').ok_or_else(|| format!("{text:?} is not RATE:BURST"))?;
    let per_second = rate.parse::<f64>().ok().map(|r| (r * 1e6).round()).filter(|r| (0.0..1e18).contains(r));
    let per_second = per_second.ok_or_else(|| format!("{rate:?} is not a rate"))?;
    Ok((per_second as u64, small(burst)?))
}

/// `REGISTER INDEX VALUE`
fn register_write(text: &str, program: &Program) -> Result<Command, String> {
    let (register, rest) = register(text, program)?;
    let (index, value) = word(rest);
    let index: u64 = small(index)?;
    let value = action_value(value, program.registers[register].width)?;
    Ok(Command::SetRegister { register, cells: index..index.saturating_add(1), value })
}

/// `REGISTER`
fn register_reset(text: &str, program: &Program) -> Result<Command, String> {
    let (register, rest) = register(text, program)?;
    nothing_more(rest, Command::SetRegister { register, cells: 0..program.registers[register].size, value: 0 })
}

/// `COUNTER(INDEX) [packets | bytes] OP NUMBER`
fn check_counter(text: &str, program: &Program) -> Result<Command, String> {
    let (open, close) = (text.find('(').ok_or("no index")?, text.find(')').ok_or("no index")?);
    let name = unquote(text[..open].trim());
    let index = text.get(open + 1..close).ok_or("no index")?.trim();
    let all = program.counters.iter().map(|(id, c)| (id, vec![c.name.as_str()]));
    let counter = named(name, all).map_err(|e| format!("counter {e}"))?;
    if program.counters[counter].table.is_some() {
        return Err(format!("check_counter of direct counter {name} is not supported"));
    }
    let index = u64::try_from(number(index)?).map_err(|_| "the index is too large")?;
    let rest = text[close + 1..].trim();
    let (bytes, rest) = match word(rest) {
        ("packets", rest) => (false, rest),
        ("bytes", rest) => (true, rest),
        _ => (false, rest),
    };
    let (comparison, number) = comparison(rest)?;
    let number = u64::try_from(number).map_err(|_| "the number is too large")?;
    Ok(Command::CheckCounter { counter, index, bytes, comparison, number })
}

/// `OP NUMBER`
fn comparison(text: &str) -> Result<(Comparison, u128), String> {
    const OPERATORS: [(&str, Comparison); 6] = [
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];
    let found = OPERATORS.iter().find_map(|(op, c)| text.strip_prefix(op).map(|n| (*c, n)));
    let (comparison, rest) = found.ok_or_else(|| format!("{text:?} does not compare"))?;
    Ok((comparison, number(rest.trim())?))
}

/// The one whose name is `name`; else the only one whose name ends with it behind a dot.
fn named<'p, I: Copy>(name: &str, all: impl Iterator<Item = (I, Vec<&'p str>)>) -> Result<I, String> {
    let name = unquote(name);
    let all: Vec<(I, Vec<&str>)> = all.collect();
    if let Some((id, _)) = all.iter().find(|(_, names)| names.contains(&name)) {
        return Ok(*id);
    }
    let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|head| head.ends_with('.'));
    let mut found = all.iter().filter(|(_, names)| names.iter().any(|n| ends(n, name) || ends(name, n)));
    match (found.next(), found.next()) {
        (Some((id, _)), None) => Ok(*id),
        (Some(_), Some(_)) => Err(format!("{name:?} is ambiguous")),
        (None, _) => Err(format!("{name:?} does not exist")),
    }
}

/// Where the pieces of a wide number of that name are among keys or parameters, if it is one: `name[159:32]`, `name[31:0]`.
fn pieces<'p>(name: &str, all: impl Iterator<Item = (&'p str, u32)>) -> Option<std::ops::Range<usize>> {
    let mut found: Option<(std::ops::Range<usize>, u32)> = None;
    for (i, (full, width)) in all.enumerate() {
        let Some((base, bits)) = full.strip_suffix(']').and_then(|f| f.rsplit_once('[')) else { continue };
        let (Some((high, low)), true) = (bits.split_once(':'), base == name || base.strip_suffix(name).is_some_and(|b| b.ends_with('.')))
        else {
            continue;
        };
        let (Ok(high), Ok(low)) = (high.parse::<u32>(), low.parse::<u32>()) else { continue };
        // A slice that the program itself has as its key is not followed by the rest down to bit 0.
        match &mut found {
            Some((range, next)) if range.end == i && high + 1 == *next => {
                range.end = i + 1;
                *next = low;
            }
            _ if width == 128 => found = Some((i..i + 1, low)),
            _ => {}
        }
    }
    found.filter(|(range, low)| *low == 0 && range.len() > 1).map(|(range, _)| range)
}

/// A key as the program writes it: STF also has `h.$valid$` for `h.isValid()`, and `h$0.f` for `h[0].f`.
fn plain_key(name: &str) -> String {
    let name = &name.replace("$valid$", "isValid()");
    let Some((head, tail)) = name.split_once('$') else { return name.to_owned() };
    let digits = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
    if digits == 0 { name.to_owned() } else { format!("{head}[{}]{}", &tail[..digits], &tail[digits..]) }
}

fn word(text: &str) -> (&str, &str) {
    match text.split_once(char::is_whitespace) {
        Some((first, rest)) => (first, rest.trim()),
        None => (text, ""),
    }
}

fn unquote(name: &str) -> &str {
    name.strip_prefix('"').and_then(|n| n.strip_suffix('"')).unwrap_or(name)
}
