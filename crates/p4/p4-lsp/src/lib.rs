//! A language server for P4_16: what an editor asks while a program is written (Language Server Protocol 3.17).
//!
//! It checks a program as `splitplane p4 check` does, whenever its text changes, and answers from that: diagnostics, where a name is declared,
//! what it is, which fields a value has. A file that an open program includes is part of that program, and is looked at as it was last saved.
//!
//! Left out: renaming, references, formatting, changes of a part of a document (each change brings all of its text).
#![forbid(unsafe_code)]

mod complete;
mod documents;
mod position;
mod transport;

use documents::Documents;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{Completion, GotoDefinition, HoverRequest, Request as _};
use lsp_types::*;
pub use p4_check::Options;

/// Why a server ends before its client asks it to. The client's fault, or the connection's.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client does not keep to the protocol, or is gone.
    #[error("the language client: {0}")]
    Protocol(#[from] lsp_server::ProtocolError),
    /// Standard input or output fails.
    #[error("the connection to the language client: {0}")]
    Io(#[from] std::io::Error),
    /// A folder for the built-in files cannot be made.
    #[error("a folder for built-in files: {0}")]
    Folder(std::io::Error),
    /// The client is gone.
    #[error("the language client closed the connection without `exit`")]
    Gone,
}

/// Serves a client over standard input and output until it says `exit`.
pub fn serve_stdio(options: Options) -> Result<(), ServeError> {
    let (connection, threads) = transport::stdio()?;
    let served = serve(&connection, options);
    drop(connection);
    threads.join()?;
    served
}

/// Serves a client until it says `exit`.
pub fn serve(connection: &Connection, options: Options) -> Result<(), ServeError> {
    let (id, _) = connection.initialize_start()?;
    let initialized = serde_json::json!({
        "capabilities": capabilities(),
        "serverInfo": { "name": "splitplane", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, initialized)?;
    let mut server = Server { connection, documents: Documents::new(options).map_err(ServeError::Folder)? };
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request)? {
                    return Ok(());
                }
                // What was typed before counts.
                server.publish()?;
                let response = server.request(request);
                server.send(Message::Response(response))?;
            }
            Message::Notification(n) => server.notification(n),
            Message::Response(_) => {}
        }
        // While more is waiting, such as the next key, an answer would be out of date at once.
        if connection.receiver.is_empty() {
            server.publish()?;
        }
    }
    Err(ServeError::Gone)
}

/// How a conversation went that was written down before it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answered {
    /// Requests that were sent.
    pub requests: usize,
    /// Requests that got a response; each one by one.
    pub responses: usize,
    /// Whether the server went through all of it: it ends before at `exit`, and where the protocol is not kept to.
    pub whole: bool,
}

/// Serves a client whose messages, as they come over a pipe, are all there already: at most `most` of them, up to the first that is none. The
/// greeting need not be among them. For tests of hostile input.
pub fn converse(mut input: &[u8], most: usize, options: Options) -> Answered {
    let (Connection { sender, receiver }, server) = Connection::memory();
    let greeting = |id: i32| Request::new(id.into(), "initialize".to_owned(), serde_json::json!({ "capabilities": {} }));
    let initialized = Notification::new("initialized".to_owned(), serde_json::json!({}));
    let mut messages = vec![Message::Request(greeting(i32::MIN)), Message::Notification(initialized)];
    messages.extend(std::iter::from_fn(|| transport::read(&mut input).ok().flatten()).take(most));
    let requests = messages.iter().filter(|m| matches!(m, Message::Request(_))).count();
    // Both ends are here and hold what is not read yet.
    messages.into_iter().for_each(|m| drop(sender.send(m)));
    drop(sender);
    let served = serve(&server, options);
    drop(server);
    let responses = receiver.iter().filter(|m| matches!(m, Message::Response(_))).count();
    Answered { requests, responses, whole: matches!(served, Err(ServeError::Gone)) }
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::FULL),
            save: Some(TextDocumentSyncSaveOptions::Supported(true)),
            ..Default::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        completion_provider: Some(CompletionOptions { trigger_characters: Some(vec![".".to_owned()]), ..Default::default() }),
        ..Default::default()
    }
}

struct Server<'c> {
    connection: &'c Connection,
    documents: Documents,
}

impl Server<'_> {
    fn send(&self, message: Message) -> Result<(), ServeError> {
        self.connection.sender.send(message).map_err(|_| ServeError::Gone)
    }

    /// Diagnostics of the programs that have changed.
    fn publish(&mut self) -> Result<(), ServeError> {
        for params in self.documents.diagnostics() {
            let notification = Notification::new(PublishDiagnostics::METHOD.to_owned(), params);
            self.send(Message::Notification(notification))?;
        }
        Ok(())
    }

    fn notification(&mut self, n: Notification) {
        // What cannot be read is the client's fault, and it waits for no answer.
        match n.method.as_str() {
            DidOpenTextDocument::METHOD => {
                if let Ok(p) = serde_json::from_value::<DidOpenTextDocumentParams>(n.params) {
                    self.documents.set(&p.text_document.uri, p.text_document.text, p.text_document.version);
                }
            }
            DidChangeTextDocument::METHOD => {
                if let Ok(mut p) = serde_json::from_value::<DidChangeTextDocumentParams>(n.params)
                    && let Some(change) = p.content_changes.pop()
                {
                    self.documents.set(&p.text_document.uri, change.text, p.text_document.version);
                }
            }
            DidSaveTextDocument::METHOD => self.documents.check_all(),
            DidCloseTextDocument::METHOD => {
                if let Ok(p) = serde_json::from_value::<DidCloseTextDocumentParams>(n.params) {
                    self.documents.close(&p.text_document.uri);
                }
            }
            _ => {}
        }
    }

    fn request(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let answer = match method.as_str() {
            GotoDefinition::METHOD => serde_json::from_value::<GotoDefinitionParams>(params)
                .map(|p| serde_json::to_value(self.documents.definition(&p.text_document_position_params))),
            HoverRequest::METHOD => serde_json::from_value::<HoverParams>(params)
                .map(|p| serde_json::to_value(self.documents.hover(&p.text_document_position_params))),
            Completion::METHOD => serde_json::from_value::<CompletionParams>(params)
                .map(|p| serde_json::to_value(self.documents.completion(&p.text_document_position))),
            _ => {
                let text = format!("`{method}` is not supported");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, text);
            }
        };
        match answer {
            Ok(Ok(value)) => Response::new_ok(id, value),
            Ok(Err(e)) => Response::new_err(id, ErrorCode::InternalError as i32, e.to_string()),
            Err(e) => Response::new_err(id, ErrorCode::InvalidParams as i32, format!("{method}: {e}")),
        }
    }
}
