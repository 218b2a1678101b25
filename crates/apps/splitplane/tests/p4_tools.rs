//! The compiler's commands as a shell and an editor use them.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};

/// A program without fault but for a variable that nothing reads.
const UNUSED: &str = "#include <core.p4>\n#include <v1model.p4>\nheader h_t { bit<8> tag; }\nstruct headers { h_t h; }\nstruct meta { }\n\
    parser P(packet_in p, out headers hdr, inout meta m, inout standard_metadata_t s) { state start { p.extract(hdr.h); transition accept; } }\n\
    control C(inout headers hdr, inout meta m) { apply { } }\n\
    control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {\n    apply { bit<8> spare = 1; hdr.h.tag = 2; }\n}\n\
    control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { } }\n\
    control D(packet_out p, in headers hdr) { apply { p.emit(hdr.h); } }\nV1Switch(P(), C(), I(), E(), C(), D()) main;\n";

fn p4(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_splitplane")).arg("p4").args(args).output().expect("the binary runs")
}

#[test]
fn warnings_fail_a_check_only_if_they_are_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("unused.p4");
    let path = file.display().to_string();
    std::fs::write(&file, UNUSED).unwrap();
    let words = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();

    let output = p4(&["check", &path]);
    assert!(output.status.success() && words(&output).contains("warning[unused"), "{}", words(&output));
    let output = p4(&["check", "--werror", &path]);
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    assert!(words(&output).contains("unused.p4:9:"), "{}", words(&output));

    std::fs::write(&file, UNUSED.replace("bit<8> spare = 1; ", "")).unwrap();
    let output = p4(&["check", "--werror", &path]);
    assert!(output.status.success(), "{}", words(&output));
}

/// A chip's compiler says by macros which chip it is for: a program of two generations was planned as of the first, or not at all.
#[test]
fn a_program_is_planned_with_the_macros_of_its_chip() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("generations.p4");
    let program = "#if __TARGET_TOFINO__ != GENERATION || !defined(__p4c__)\n#error another compiler\n#endif\n";
    std::fs::write(&file, format!("{program}{UNUSED}")).unwrap();
    let plan = |chip: &str, generation: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane"));
        command.arg("plan").arg(&file).args(["--chip", chip, "-D", &format!("GENERATION={generation}")]);
        let output = command.output().expect("the binary runs");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(plan("tofino1", "1"), (true, String::new()));
    assert_eq!(plan("tofino2", "2"), (true, String::new()));
    let (planned, said) = plan("tofino2", "1");
    assert!(!planned && said.contains("another compiler"), "{said}");
    let own = Command::new(env!("CARGO_BIN_EXE_splitplane"))
        .arg("plan")
        .arg(&file)
        .args(["-D", "GENERATION=7", "-D", "__TARGET_TOFINO__=7"])
        .output()
        .expect("the binary runs");
    assert!(own.status.success(), "what the command line says comes first: {}", String::from_utf8_lossy(&own.stderr));
}

/// One message of the protocol: its length, an empty line, its text.
fn answer(from: &mut impl BufRead) -> serde_json::Value {
    let mut len = 0;
    loop {
        let mut line = String::new();
        assert_ne!(from.read_line(&mut line).unwrap(), 0, "the server ended");
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => len = value.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let mut text = vec![0; len];
    from.read_exact(&mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn an_editor_talks_to_the_language_server_over_standard_input_and_output() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_splitplane"))
        .args(["p4", "lsp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut to = server.stdin.take().unwrap();
    let mut from = BufReader::new(server.stdout.take().unwrap());
    let mut tell = |message: serde_json::Value| {
        let text = message.to_string();
        write!(to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        to.flush().unwrap();
    };
    tell(serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {} } }));
    assert!(answer(&mut from)["result"]["capabilities"]["hoverProvider"].as_bool().unwrap());
    tell(serde_json::json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
    let document = serde_json::json!({ "uri": "file:///unused.p4", "languageId": "p4", "version": 1, "text": UNUSED });
    tell(serde_json::json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } }));
    let told = loop {
        let message = answer(&mut from);
        if message["method"] == "textDocument/publishDiagnostics" {
            break message;
        }
    };
    let found = told["params"]["diagnostics"].as_array().unwrap();
    assert!(found.iter().any(|d| d["range"]["start"]["line"] == 8 && d["message"].as_str().unwrap().contains("spare")), "{told}");
    tell(serde_json::json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" }));
    while answer(&mut from)["id"] != 2 {}
    tell(serde_json::json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert!(server.wait().unwrap().success());
}
