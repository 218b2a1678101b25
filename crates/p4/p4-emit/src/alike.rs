//! Stages of several classes are often the same but for numbers: where a header begins, which headers are valid, which stage comes next. Such
//! functions become one, which is given the class's numbers; each class keeps a function of its own name that calls it. A compiler's time goes
//! by what it compiles, so this takes a third of it off.
//!
//! This works on the text that the emitter has printed: tokens of our own C, and no more of C than that has. Functions are alike if they have
//! the same tokens but for numbers, for names of locals, and for other functions of their classes. A number keeps its type in C. What must be
//! known to the compiler stays: labels of `case`, lengths of copies, sizes of arrays.

use crate::stages::STAGE;
use std::collections::HashMap;
use std::fmt::Write;

/// What each function takes.
const PARAMS: &str = "(struct sp_run *const run, const uint64_t todo";
/// Locals are numbered by the stages that they are about, which differ from class to class.
const LOCALS: &[&str] = &["to_", "wait_", "n_", "begin_", "word_", "hashing_", "x", "b"];

/// A function of a class.
struct Function<'a> {
    name: &'a str,
    tokens: Vec<&'a str>,
    /// What it is like: the same text for functions that can be one.
    shape: String,
    /// Its own numbers and functions: place among the tokens, and the type.
    own: Vec<(usize, String)>,
    /// Its locals' names in the text of all.
    locals: HashMap<&'a str, String>,
}

/// The text of all classes, with functions that are alike as one.
pub(crate) fn merge(text: &str) -> String {
    let (mut functions, mut rest, mut at): (Vec<Function<'_>>, Vec<&str>, usize) = Default::default();
    while let Some(begin) = text[at..].find(STAGE).map(|found| at + found) {
        let (head, end) = (begin + STAGE.len(), text[begin..].find("\n}\n").map_or(text.len(), |found| begin + found + 3));
        let name = text[head..end].split('(').next().unwrap_or_default();
        let body = text[head..end].find("\n{\n").map_or("", |found| &text[head + found..end]);
        functions.push(function(name, body));
        rest.push(&text[at..begin]);
        rest.push(&text[begin..end]);
        at = end;
    }
    let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
    functions.iter().enumerate().for_each(|(i, f)| groups.entry(&f.shape).or_default().push(i));
    let mut groups: Vec<Vec<usize>> = groups.into_values().filter(|of| of.len() > 1).collect();
    groups.sort_unstable();
    if groups.is_empty() {
        return text.to_owned();
    }
    let merged: Vec<usize> = groups.iter().flatten().copied().collect();
    let mut out = String::new();
    for i in &merged {
        let _ = writeln!(out, "static void {}{PARAMS});", functions[*i].name);
    }
    out.push('\n');
    for (i, part) in rest.iter().enumerate() {
        if i % 2 == 0 || !merged.contains(&(i / 2)) {
            out.push_str(part);
        }
    }
    out.push_str(&text[at..]);
    for (number, group) in groups.iter().enumerate() {
        let members: Vec<&Function<'_>> = group.iter().map(|i| &functions[*i]).collect();
        one(&mut out, number, &members);
    }
    out
}

/// One function for all of a group.
fn one(out: &mut String, number: usize, members: &[&Function<'_>]) {
    let first = members[0];
    // Places that have the same numbers in each class share a constant; those that have one number in all keep it.
    let mut constants: Vec<(Vec<&str>, &str)> = Vec::new();
    let mut at: HashMap<usize, usize> = HashMap::new();
    for (n, (place, ty)) in first.own.iter().enumerate() {
        let values: Vec<&str> = members.iter().map(|f| f.tokens[f.own[n].0]).collect();
        if values.iter().all(|v| *v == values[0]) {
            continue;
        }
        let known = constants.iter().position(|(of, with)| *of == values && with == ty);
        at.insert(
            *place,
            known.unwrap_or_else(|| {
                constants.push((values, ty));
                constants.len() - 1
            }),
        );
    }
    let what = first.name.split_once("_stage_").map_or(first.name, |(_, stage)| stage);
    let _ = writeln!(out, "\nstruct alike_{number} {{");
    for (n, (_, ty)) in constants.iter().enumerate() {
        let _ = writeln!(out, "    {ty} of_{n};");
    }
    let _ = writeln!(out, "    uint8_t none;\n}};\n\n{STAGE}alike_{number}_{what}{PARAMS}, const struct alike_{number} *const of)");
    let mut body = String::new();
    for (i, token) in first.tokens.iter().enumerate() {
        match (at.get(&i), first.locals.get(token)) {
            (Some(n), _) => drop(write!(body, "of_{n}")),
            (None, Some(local)) => body.push_str(local),
            (None, None) => body.push_str(token),
        }
    }
    let mut lines = body.trim_start_matches('\n').splitn(2, '\n');
    let _ = writeln!(out, "{}", lines.next().unwrap_or_default());
    for (n, (_, ty)) in constants.iter().enumerate() {
        let _ = writeln!(out, "    const {ty} of_{n} = of->of_{n};");
    }
    out.push_str(lines.next().unwrap_or_default());
    for (m, f) in members.iter().enumerate() {
        let values: String = constants.iter().map(|(values, _)| format!("{}, ", values[m])).collect();
        let _ = writeln!(out, "\nstatic void {}{PARAMS})\n{{", f.name);
        let _ = writeln!(out, "    static const struct alike_{number} of = {{{values}0}};\n    alike_{number}_{what}(run, todo, &of);\n}}");
    }
}

fn function<'a>(name: &'a str, body: &'a str) -> Function<'a> {
    let tokens = tokens(body);
    let mut f = Function { name, tokens: Vec::new(), shape: String::new(), own: Vec::new(), locals: HashMap::new() };
    // A copy's length, in a call of the compiler's own functions.
    let mut copies = false;
    for (i, token) in tokens.iter().enumerate() {
        let before = |n: usize| tokens[..i].iter().rev().filter(|t| !t.trim().is_empty()).nth(n).copied().unwrap_or_default();
        copies = match *token {
            t if t.starts_with("__builtin_mem") => true,
            t if t.contains('\n') => false,
            _ => copies,
        };
        if is_local(token) {
            let next = f.locals.len();
            let family = token.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
            let local = f.locals.entry(token).or_insert_with(|| format!("{family}_l{next}"));
            f.shape.push_str(local);
        } else if is_of_class(token) {
            f.shape.push_str("class_function");
            f.own.push((i, format!("__typeof__(&{token})")));
        } else if let Some(ty) = number_type(token) {
            let offset = before(0) == "+" && before(1) == "p";
            let size = before(0) == "[" && before(2) != "->";
            if before(0) == "case" || size || (copies && !offset) {
                f.shape.push_str(token);
            } else {
                f.shape.push_str(ty);
                f.own.push((i, ty.to_owned()));
            }
        } else {
            f.shape.push_str(token);
        }
    }
    f.tokens = tokens;
    f
}

/// Identifiers and numbers, `->`, and all else one character at a time.
fn tokens(text: &str) -> Vec<&str> {
    let (mut all, mut at) = (Vec::new(), 0);
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    while let Some(c) = text[at..].chars().next() {
        let len = match c {
            c if word(c) => text[at..].find(|c| !word(c)).unwrap_or(text.len() - at),
            '-' if text[at..].starts_with("->") => 2,
            c => c.len_utf8(),
        };
        all.push(&text[at..at + len]);
        at += len;
    }
    all
}

fn is_local(token: &str) -> bool {
    LOCALS.iter().any(|family| {
        let numbers = token.strip_prefix(family).unwrap_or_default();
        numbers.starts_with(|c: char| c.is_ascii_digit()) && numbers.bytes().all(|c| c.is_ascii_digit() || c == b'_')
    })
}

/// Whether it is a function of some class: `class_3_leave_0`.
fn is_of_class(token: &str) -> bool {
    let rest = token.strip_prefix("class_").unwrap_or_default();
    let number = rest.split('_').next().unwrap_or_default();
    !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()) && (rest.contains("_leave_") || rest.contains("_stage_"))
}

/// The type in C of a number (C11 6.4.4.1); `None` if it is none, or has a suffix that we do not print.
fn number_type(token: &str) -> Option<&'static str> {
    let digits = token.trim_end_matches(['u', 'l', 'U', 'L']);
    let (value, hexadecimal) = match digits.strip_prefix("0x") {
        Some(hex) => (u64::from_str_radix(hex, 16).ok()?, true),
        None => (digits.parse::<u64>().ok()?, false),
    };
    let small = value <= i32::MAX as u64;
    match &token[digits.len()..] {
        "" if small => Some("int"),
        "" if hexadecimal && value <= u64::from(u32::MAX) => Some("uint32_t"),
        "" if value <= i64::MAX as u64 => Some("long"),
        "u" if value <= u64::from(u32::MAX) => Some("uint32_t"),
        "" | "u" | "ull" => Some("uint64_t"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(name: &str, body: &str) -> String {
        format!("{STAGE}{name}{PARAMS})\n{{\n{body}}}\n")
    }

    #[test]
    fn numbers_have_their_types() {
        let types = ["50", "0x408e4010", "0x808e4010", "2147483648", "0x808e4010u", "0xffffffffffull", "7l", "x7", "0x"].map(number_type);
        let none = None;
        assert_eq!(types, [Some("int"), Some("int"), Some("uint32_t"), Some("long"), Some("uint32_t"), Some("uint64_t"), none, none, none]);
    }

    #[test]
    fn functions_that_differ_in_numbers_are_one() {
        let body = |at: u32, to: u32| {
            format!(
                "    uint64_t to_{to} = 0;\n    use(p + {at}, p + {at} + 2, 7);\n    case 3: break;\n    class_{to}_leave_0(c, p);\n    run->todo[{to}] |= to_{to};\n"
            )
        };
        let other = "    use(p + 50);\n    __builtin_memcpy(b, p + 8, 4);\n";
        let longer = "    use(p + 50);\n    __builtin_memcpy(b, p + 9, 6);\n";
        let text = [
            "int before;\n".to_owned(),
            stage("class_1_stage_4_t", &body(50, 40)),
            stage("class_1_stage_5_t", other),
            "int between;\n".to_owned(),
            stage("class_2_stage_4_t", &body(58, 80)),
            stage("class_2_stage_5_t", longer),
        ]
        .concat();
        let out = merge(&text);
        assert_eq!(out.matches("use(p + of_").count(), 1, "{out}");
        assert!(out.contains("use(p + of_1, p + of_1 + 2, 7)") || out.contains("use(p + of_0, p + of_0 + 2, 7)"), "{out}");
        assert!(out.contains("case 3:") && out.contains("int before;") && out.contains("int between;"), "{out}");
        assert!(out.contains("static const struct alike_0 of = {50, class_40_leave_0, 40, 0};"), "{out}");
        assert!(out.contains("static const struct alike_0 of = {58, class_80_leave_0, 80, 0};"), "{out}");
        for name in ["class_1_stage_5_t", "class_2_stage_5_t"] {
            assert!(out.contains(&format!("{STAGE}{name}")), "copies of other lengths: {out}");
        }
        assert_eq!(merge(&stage("class_1_stage_4_t", other)), stage("class_1_stage_4_t", other));
    }
}
