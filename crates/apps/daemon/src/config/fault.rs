//! A configuration error as the user sees it: file, line, key, value, and what was expected.
//!
//! Keys are written as the file has them: `route[0].via` is the first `[[route]]`'s `via`.

use cli::failure::Failure;
use cli::secrets::{is_secret, without_keys};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Longest value that is shown, in characters.
const SHOWN: usize = 60;
/// Longest key that is shown: unknown ones are whatever a file has.
const KEY: usize = 100;
/// Longest message of other crates that is passed on, in characters: they quote what they did not expect.
const MESSAGE: usize = 400;

/// What is wrong with the value of a key, or with its absence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Such as `port[1].gtpu[0]`; empty for the file as a whole.
    pub key: String,
    /// What was expected, and why where it is not plain.
    pub what: String,
}

impl Fault {
    /// A fault of this key.
    pub fn new(key: impl Into<String>, what: impl Into<String>) -> Fault {
        Fault { key: key.into(), what: what.into() }
    }

    /// From a text of the form `key: why` with another crate's names, which `rename` turns into ours.
    pub fn foreign(text: &str, rename: impl Fn(&str) -> String) -> Fault {
        match text.split_once(": ") {
            Some((key, what)) if !key.contains(' ') => Fault::new(rename(key), what),
            _ => Fault::new("", text),
        }
    }
}

/// The text that faults are shown in.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Name of the file; empty if there is none.
    pub file: String,
    /// What is in it.
    pub text: String,
}

/// One part of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part<'a> {
    Name(&'a str),
    Index(usize),
}

impl Source {
    /// The whole message on one line.
    pub fn show(&self, fault: &Fault) -> String {
        let (at, value) = self.locate(&fault.key);
        let (key, what) = (one_line(&fault.key, KEY), one_line(&without_keys(&fault.what), MESSAGE));
        let place = match (self.file.is_empty(), at) {
            (false, Some(at)) => format!("{}:{}: ", self.file, self.line(at)),
            (false, None) => format!("{}: ", self.file),
            (true, Some(at)) => format!("line {}: ", self.line(at)),
            (true, None) => String::new(),
        };
        match (fault.key.is_empty(), value) {
            (true, _) => format!("{place}{what}"),
            (false, Value::Missing) => format!("{place}{key} is missing: {what}"),
            (false, Value::Table) => format!("{place}{key}: {what}"),
            // Also under a key that does not exist.
            (false, Value::Text(span)) if is_secret(&fault.key, self.text.get(span.clone()).unwrap_or_default()) => {
                format!("{place}{key}: {what}")
            }
            (false, Value::Text(span)) => {
                format!("{place}{key} = {}: {what}", one_line(self.text.get(span).unwrap_or_default(), SHOWN))
            }
        }
    }

    /// As [`Source::show`], as the end of the command.
    pub fn failure(&self, fault: &Fault) -> Failure {
        Failure::Usage(self.show(fault))
    }

    /// What the reader of TOML and the types' own readers said, in the same form.
    pub fn explain(&self, error: &toml::de::Error) -> String {
        let Ok(tree) = DeTable::parse(&self.text) else {
            let at = error.span().map_or(0, |s| s.start);
            let what = one_line(&without_keys(&format!("no TOML: {}", error.message())), MESSAGE);
            return if self.file.is_empty() {
                format!("line {}: {what}", self.line(at))
            } else {
                format!("{}:{}: {what}", self.file, self.line(at))
            };
        };
        let mut key = String::new();
        if let Some(span) = error.span() {
            let mut best = usize::MAX;
            innermost(tree.get_ref(), "", &span, &mut best, &mut key);
        }
        let message = error.message();
        let child = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
        let quoted = |prefix: &str| message.strip_prefix(prefix)?.split_once('`');
        if let Some((name, _)) = quoted("missing field `") {
            return self.show(&Fault::new(child(name), "required"));
        }
        if let Some((name, rest)) = quoted("unknown field `") {
            // The key's own span was met.
            let of = if key.ends_with(name) { key.clone() } else { child(name) };
            let expected = rest.trim_start_matches(", ").replace('`', "");
            return self.show(&Fault::new(of, format!("unknown key: {expected}")));
        }
        if let Some((_, rest)) = quoted("unknown variant `") {
            return self.show(&Fault::new(key, rest.trim_start_matches(", ").replace('`', "\"")));
        }
        let what = match message.rsplit_once(", expected ") {
            Some((before, expected)) if before.starts_with("invalid ") => format!("expected {}", in_words(expected)),
            _ => expected_address(message).unwrap_or(message).to_owned(),
        };
        self.show(&Fault::new(key, what))
    }

    /// Line of an offset, from 1.
    fn line(&self, at: usize) -> usize {
        self.text.bytes().take(at).filter(|b| *b == b'\n').count() + 1
    }

    /// Where a key is, or what it would be in, and its value.
    fn locate(&self, key: &str) -> (Option<usize>, Value) {
        let Ok(tree) = DeTable::parse(&self.text) else { return (None, Value::Missing) };
        let mut at = None;
        let mut node: Option<&DeValue> = None;
        let mut table = Some(tree.get_ref());
        let mut span = 0..0;
        for part in parts(key) {
            let next = match part {
                Part::Name(name) => table.and_then(|t| t.iter().find(|(k, _)| k.get_ref() == name)).map(|(k, v)| (k.span().start, v)),
                Part::Index(i) => node.and_then(DeValue::as_array).and_then(|a| a.get(i)).map(|v| (v.span().start, v)),
            };
            let Some((start, value)) = next else { return (at, Value::Missing) };
            at = Some(start);
            span = value.span();
            node = Some(value.get_ref());
            table = value.get_ref().as_table();
        }
        match node {
            Some(value) if value.as_table().is_some() || value.as_array().is_some_and(|a| a.iter().any(|v| v.get_ref().is_table())) => {
                (at, Value::Table)
            }
            Some(_) => (at, Value::Text(span)),
            None => (at, Value::Missing),
        }
    }
}

/// What a key has.
enum Value {
    Missing,
    /// Blocks: their text is not shown.
    Table,
    Text(Range<usize>),
}

/// The deepest key whose name or value holds `span`.
fn innermost(table: &DeTable, path: &str, span: &Range<usize>, best: &mut usize, found: &mut String) {
    for (name, value) in table {
        let key = if path.is_empty() { name.get_ref().to_string() } else { format!("{path}.{}", name.get_ref()) };
        consider(&name.span(), &key, span, best, found);
        innermost_value(value.get_ref(), &value.span(), &key, span, best, found);
    }
}

fn innermost_value(value: &DeValue, place: &Range<usize>, key: &str, span: &Range<usize>, best: &mut usize, found: &mut String) {
    consider(place, key, span, best, found);
    if let Some(table) = value.as_table() {
        innermost(table, key, span, best, found);
    }
    for (i, element) in value.as_array().into_iter().flatten().enumerate() {
        innermost_value(element.get_ref(), &element.span(), &format!("{key}[{i}]"), span, best, found);
    }
}

fn consider(place: &Range<usize>, key: &str, span: &Range<usize>, best: &mut usize, found: &mut String) {
    let holds = place.start <= span.start && span.end <= place.end;
    // Of equal places the deeper one, which comes later.
    if holds && place.len() <= *best {
        *best = place.len();
        key.clone_into(found);
    }
}

/// The parts of `port[1].gtpu[0]`.
fn parts(key: &str) -> impl Iterator<Item = Part<'_>> {
    key.split(['.', '[']).filter(|part| !part.is_empty()).map(|part| match part.strip_suffix(']').map(str::parse) {
        Some(Ok(index)) => Part::Index(index),
        _ => Part::Name(part),
    })
}

/// What serde calls a type, as a user would.
fn in_words(expected: &str) -> &str {
    match expected {
        "usize" | "u64" => "a whole number, 0 or more",
        "u32" => "a whole number from 0 to 4294967295",
        "u16" => "a whole number from 0 to 65535",
        "u8" => "a whole number from 0 to 255",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "text in quotes",
        "path string" => "a path in quotes",
        "a sequence" => "a list in square brackets",
        "a tuple of size 2" | "an array of length 2" => "a list of two numbers, [low, high]",
        "socket address" => "an address and port, such as \"127.0.0.1:8805\"",
        "IP address" => "an IP address, such as \"10.0.0.1\"",
        "IPv4 address" => "an IPv4 address, such as \"10.0.0.1\"",
        text if text.starts_with("struct ") => "a table",
        text => text,
    }
}

/// The standard library's texts on addresses say nothing of what one looks like.
fn expected_address(message: &str) -> Option<&'static str> {
    Some(match message {
        "invalid socket address syntax" => "expected an address and port, such as \"127.0.0.1:8805\"",
        "invalid IP address syntax" => "expected an IP address, such as \"10.0.0.1\" or \"2001:db8::1\"",
        "invalid IPv4 address syntax" => "expected an IPv4 address, such as \"10.0.0.1\"",
        _ => return None,
    })
}

/// On one line, without control characters, and not longer than `most` characters.
fn one_line(text: &str, most: usize) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(most).collect();
    if line.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}
