//! How does an editor read what the compiler says? As a JSON list, one object for each error or warning, in the order of their places.

use p4_check::{Diagnostic, SourceMap, Span};
use serde_json::{Value, json};

/// The diagnostics as text: `severity`, `code`, `message`, the place in `file`, `line`, `column`, `end_line`, `end_column`, both counted from 1 in
/// characters, the end behind the last one; `label` and `help` or null; `notes`; and `related` places, each with a message.
pub(crate) fn json(all: &[Diagnostic], sources: &SourceMap) -> String {
    let all: Vec<Value> = all.iter().map(|d| diagnostic(d, sources)).collect();
    format!("{:#}\n", Value::from(all))
}

fn diagnostic(d: &Diagnostic, sources: &SourceMap) -> Value {
    let mut value = place(d.span, &d.message, sources);
    value["severity"] = if d.is_error() { "error" } else { "warning" }.into();
    value["code"] = d.code.into();
    value["label"] = d.label.clone().into();
    value["help"] = d.help.clone().into();
    value["notes"] = d.notes.clone().into();
    value["related"] = d.labels.iter().map(|l| place(l.span, &l.message, sources)).collect();
    value
}

fn place(span: Span, message: &str, sources: &SourceMap) -> Value {
    let (from, to) = (sources.line_col(span), sources.line_col(Span { lo: span.hi, ..span }));
    json!({
        "file": sources.get(span.file).map(|f| f.name.as_str()),
        "line": from.line, "column": from.col, "end_line": to.line, "end_column": to.col,
        "message": message,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editor_finds_message_place_and_help() {
        let text = "#include <core.p4>\nconst bit<8> a = 1;\nconst bit<8> \u{e7} = 2;\n";
        let failure = p4_check::check_str("x.p4", text, &Default::default()).unwrap_err();
        let all: Value = serde_json::from_str(&json(&failure.diagnostics, &failure.map)).unwrap();
        assert_eq!((&all[0]["severity"], &all[0]["file"]), (&"error".into(), &"x.p4".into()));
        assert_eq!((all[0]["line"].as_u64(), all[0]["column"].as_u64()), (Some(3), Some(14)));
        let text = "const bit<8> same = 1;\nconst bit<8> same = 2;\n";
        let failure = p4_check::check_str("x.p4", text, &Default::default()).unwrap_err();
        let all: Value = serde_json::from_str(&json(&failure.diagnostics, &failure.map)).unwrap();
        let d = &all[0];
        assert_eq!((&d["code"], &d["message"]), (&"duplicate".into(), &"`same` is declared twice".into()));
        assert_eq!((d["end_line"].as_u64(), d["end_column"].as_u64()), (Some(2), Some(18)));
        assert_eq!((d["related"][0]["line"].as_u64(), &d["related"][0]["message"]), (Some(1), &"first declared here".into()));
        assert_eq!(all.as_array().map(Vec::len), Some(1));
    }
}
