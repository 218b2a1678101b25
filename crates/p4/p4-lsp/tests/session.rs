//! Does an editor get what it asks for? A client by script, over the connection that a real one has but for the pipe.

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

const PROGRAM: &str = r#"#include <core.p4>
#include <v1model.p4>
#include "headers.p4"

struct meta { bit<9> port; }

parser P(packet_in packet, out headers hdr, inout meta m, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t std) {
    action send(bit<9> port) { std.egress_spec = port; }
    table forward {
        key = { hdr.ethernet.dst : exact; }
        actions = { send; }
    }
    apply {
        forward.apply();
        hdr.ethernet.type = 16w0x800; /* 😀 */ m.port = std.ingress_port;
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t std) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

const HEADERS: &str =
    "header ethernet_t {\n    bit<48> dst;\n    bit<48> src;\n    bit<16> type;\n}\nstruct headers { ethernet_t ethernet; }\n";

struct Client {
    connection: Connection,
    server: JoinHandle<Result<(), String>>,
    folder: tempfile::TempDir,
    last: i32,
}

impl Client {
    fn start() -> Client {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("headers.p4"), HEADERS).unwrap();
        let (connection, theirs) = Connection::memory();
        let server = std::thread::spawn(move || p4_lsp::serve(&theirs, Default::default()).map_err(|e| e.to_string()));
        let mut client = Client { connection, server, folder, last: 0 };
        let can = client.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(can["capabilities"]["completionProvider"]["triggerCharacters"], json!(["."]));
        client.tell("initialized", json!({}));
        client
    }

    fn tell(&self, method: &str, params: Value) {
        self.connection.sender.send(Message::Notification(Notification::new(method.to_owned(), params))).unwrap();
    }

    fn respond(&mut self, method: &str, params: Value) -> Response {
        self.last += 1;
        let id = RequestId::from(self.last);
        self.connection.sender.send(Message::Request(Request::new(id.clone(), method.to_owned(), params))).unwrap();
        loop {
            match self.connection.receiver.recv().unwrap() {
                Message::Response(r) if r.id == id => return r,
                _ => {}
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = self.respond(method, params);
        assert!(response.error.is_none(), "{method}: {:?}", response.error);
        response.result.unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    fn open(&self, name: &str, text: &str) {
        let document = json!({ "uri": self.uri(name), "languageId": "p4", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&self, name: &str, text: &str, version: i32) {
        let document = json!({ "uri": self.uri(name), "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": text }] }));
    }

    /// The diagnostics that come next for a file.
    fn diagnostics(&self, name: &str) -> Vec<Value> {
        loop {
            if let Message::Notification(n) = self.connection.receiver.recv().unwrap()
                && n.method == "textDocument/publishDiagnostics"
                && n.params["uri"] == self.uri(name)
            {
                return n.params["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    /// What is asked at the end of the first `text` of a document's `source`.
    fn at(&mut self, method: &str, name: &str, source: &str, text: &str) -> Value {
        let end = source.find(text).unwrap() + text.len();
        let line = source[..end].matches('\n').count();
        let character = source[..end].rsplit('\n').next().unwrap().encode_utf16().count();
        let params = json!({ "textDocument": { "uri": self.uri(name) }, "position": { "line": line, "character": character } });
        self.ask(method, params)
    }

    fn stop(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        assert_eq!(self.server.join().unwrap(), Ok(()));
    }
}

fn line_of(value: &Value) -> u64 {
    value["range"]["start"]["line"].as_u64().unwrap()
}

fn ends_with(uri: &Value, name: &str) -> bool {
    Path::new(uri.as_str().unwrap()).file_name().is_some_and(|n| n == name)
}

#[test]
fn diagnostics_come_with_each_change_and_go_when_the_fault_is_gone() {
    let client = Client::start();
    client.open("main.p4", PROGRAM);
    assert_eq!(client.diagnostics("main.p4"), Vec::<Value>::new());
    let wrong = PROGRAM.replace("m.port = std.ingress_port", "m.port = hdr.ethernet.dst");
    client.change("main.p4", &wrong, 2);
    let found = client.diagnostics("main.p4");
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["code"], &found[0]["severity"], &found[0]["source"]), (&json!("type-mismatch"), &json!(1), &json!("splitplane")));
    // Two UTF-16 units stand for the sign before it.
    let column = wrong.lines().nth(line_of(&found[0]) as usize).unwrap().find("hdr.ethernet.dst").unwrap() - 2;
    assert_eq!(found[0]["range"]["start"]["character"], json!(column));
    // A syntax error, and a warning.
    client.change("main.p4", &PROGRAM.replace("forward.apply();", "forward.apply()"), 3);
    assert_eq!(client.diagnostics("main.p4")[0]["code"], json!("syntax"));
    client.change("main.p4", &PROGRAM.replace("forward.apply();", ""), 4);
    let warned = client.diagnostics("main.p4");
    assert_eq!((&warned[0]["code"], &warned[0]["severity"]), (&json!("unused"), &json!(2)));
    client.change("main.p4", PROGRAM, 5);
    assert_eq!(client.diagnostics("main.p4"), Vec::<Value>::new());
    client.stop();
}

#[test]
fn a_fault_in_an_included_file_is_shown_there() {
    let client = Client::start();
    std::fs::write(client.path("headers.p4"), HEADERS.replace("bit<16> type", "bit<16> kind, x")).unwrap();
    client.open("main.p4", PROGRAM);
    let found = client.diagnostics("headers.p4");
    assert_eq!((line_of(&found[0]), &found[0]["code"]), (3, &json!("syntax")));
    std::fs::write(client.path("headers.p4"), HEADERS).unwrap();
    client.tell("textDocument/didSave", json!({ "textDocument": { "uri": client.uri("headers.p4") } }));
    assert_eq!(client.diagnostics("headers.p4"), Vec::<Value>::new());
    client.stop();
}

#[test]
fn names_lead_to_their_declarations() {
    let mut client = Client::start();
    client.open("main.p4", PROGRAM);
    let go = |client: &mut Client, text: &str| client.at("textDocument/definition", "main.p4", PROGRAM, text);
    let table = go(&mut client, "        forward");
    assert!(ends_with(&table["uri"], "main.p4"));
    assert_eq!(line_of(&table), 15);
    let parameter = go(&mut client, "std.egress_spec = port");
    assert_eq!(line_of(&parameter), 14);
    let field = go(&mut client, "        hdr.ethernet.type");
    assert!(ends_with(&field["uri"], "headers.p4"));
    assert_eq!(line_of(&field), 3);
    let builtin = go(&mut client, "inout standard_metadata_t");
    assert!(ends_with(&builtin["uri"], "v1model.p4"));
    let shown = std::fs::read_to_string(builtin["uri"].as_str().unwrap().strip_prefix("file://").unwrap()).unwrap();
    assert!(shown.lines().nth(line_of(&builtin) as usize).unwrap().contains("struct standard_metadata_t"));
    assert_eq!(go(&mut client, "transition acc"), Value::Null);
    client.stop();
}

#[test]
fn a_name_shows_its_type_and_width() {
    let mut client = Client::start();
    client.open("main.p4", PROGRAM);
    let hover = |client: &mut Client, text: &str| -> String {
        let found = client.at("textDocument/hover", "main.p4", PROGRAM, text);
        found["contents"]["value"].as_str().unwrap_or_default().replace("```p4\n", "").replace("\n```", "")
    };
    assert_eq!(hover(&mut client, "        hdr.ethernet.type"), "bit<16> type");
    assert_eq!(hover(&mut client, "packet.extract(hdr.ethernet"), "header ethernet_t ethernet // 112 bits");
    assert_eq!(hover(&mut client, "actions = { send"), "action send(bit<9> port)");
    assert_eq!(hover(&mut client, "        forward"), "table forward");
    assert!(hover(&mut client, "packet.extract").starts_with("method void extract"), "{}", hover(&mut client, "packet.extract"));
    client.stop();
}

#[test]
fn fields_are_completed_while_a_statement_is_unfinished() {
    let mut client = Client::start();
    let names =
        |found: &Value| -> Vec<String> { found.as_array().unwrap().iter().map(|i| i["label"].as_str().unwrap().to_owned()).collect() };
    let mut complete = |typed: &str, version: i32| {
        let text = PROGRAM.replace("forward.apply();", typed);
        if version == 1 {
            client.open("main.p4", &text);
        } else {
            client.change("main.p4", &text, version);
        }
        client.at("textDocument/completion", "main.p4", &text, typed)
    };
    let header = complete("hdr.ethernet.", 1);
    assert_eq!(names(&header), ["dst", "src", "type", "isValid", "setValid", "setInvalid"]);
    assert_eq!(header[0]["detail"], json!("bit<48>"));
    assert_eq!(names(&complete("bit<48> x = hdr.ethernet.s", 2)), ["dst", "src", "type", "isValid", "setValid", "setInvalid"]);
    assert_eq!(names(&complete("hdr.", 3)), ["ethernet"]);
    assert_eq!(names(&complete("if (hdr.", 4)), ["ethernet"]);
    assert_eq!(names(&complete("hdr", 5)), Vec::<String>::new());
    client.stop();
}

#[test]
fn what_is_no_request_of_ours_is_refused_and_the_session_goes_on() {
    let mut client = Client::start();
    let unknown = client.respond("textDocument/rename", json!({}));
    assert_eq!(unknown.error.unwrap().code, -32601);
    let wrong = client.respond("textDocument/hover", json!({ "position": "here" }));
    assert_eq!(wrong.error.unwrap().code, -32602);
    client.tell("textDocument/didOpen", json!({ "textDocument": 7 }));
    client.tell("textDocument/didOpen", json!({ "textDocument": { "uri": "untitled:1", "languageId": "p4", "version": 1, "text": "x" } }));
    client.open("main.p4", "control");
    assert!(!client.diagnostics("main.p4").is_empty());
    client.stop();
}

/// A message as it stands in a pipe.
fn framed(message: Value) -> Vec<u8> {
    let text = message.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

#[test]
fn each_request_is_answered_whatever_a_client_sends() {
    let request = |id: i32, method: &str, params: Value| framed(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    let told = |method: &str, params: Value| framed(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    let document =
        |text: &str| json!({ "textDocument": { "uri": "file:///nowhere/x.p4", "languageId": "p4", "version": 1, "text": text } });
    let at = |line: u32, character: u32| json!({ "textDocument": { "uri": "file:///nowhere/x.p4" }, "position": { "line": line, "character": character } });
    let mut talk = told("textDocument/didOpen", document("header h { bit<8> \u{1f600} ; }\ncontrol c(inout h x) { apply { x. } }"));
    talk.extend(request(1, "textDocument/completion", at(1, 34)));
    talk.extend(request(2, "textDocument/hover", at(u32::MAX, u32::MAX)));
    talk.extend(request(3, "textDocument/definition", json!({ "nothing": [] })));
    talk.extend(told("textDocument/didChange", json!({ "contentChanges": "none" })));
    talk.extend(request(4, "textDocument/rename", json!(null)));
    let answered = p4_lsp::converse(&talk, 100, Default::default());
    assert_eq!(answered, p4_lsp::Answered { requests: 5, responses: 5, whole: true });
    talk.extend(b"Content-Length: 1000000\r\n\r\n{");
    assert_eq!(p4_lsp::converse(&talk, 100, Default::default()), answered, "what is no message ends the conversation");
    for n in 0..talk.len() {
        let answered = p4_lsp::converse(&talk[..n], 100, Default::default());
        assert!(answered.whole && answered.requests == answered.responses, "{n} bytes: {answered:?}");
    }
    talk.clear();
    talk.extend(request(1, "shutdown", json!(null)));
    talk.extend(told("exit", json!(null)));
    talk.extend(request(2, "textDocument/hover", at(0, 0)));
    let ended = p4_lsp::converse(&talk, 100, Default::default());
    assert_eq!(ended, p4_lsp::Answered { requests: 3, responses: 2, whole: false }, "behind `exit` nothing is read");
}
