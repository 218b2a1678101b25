//! What an editor sends to the language server: anything is answered or refused, and the session goes on.

/// Messages of one conversation: each may have a program checked.
const MOST: usize = 16;

/// Reads `data` as a client's end of the connection. Files that a program includes are opened, as an editor's are.
pub fn run(data: &[u8]) {
    let answered = p4_lsp::converse(data, MOST, p4_lsp::Options::default());
    assert!(answered.responses <= answered.requests, "{answered:?}");
    assert!(!answered.whole || answered.responses == answered.requests, "a request without a response: {answered:?}");
}
