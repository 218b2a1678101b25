//! How do messages come over a pipe? With a head that says how long they are (Language Server Protocol 3.17, "Base Protocol"). `lsp-server`'s own reader takes as
//! much memory as that says.

use crossbeam_channel::bounded;
use lsp_server::{Connection, Message};
use std::io::{self, BufRead, Error, ErrorKind, Read, Write};
use std::thread::JoinHandle;

/// Longest head: a few lines of some ten characters.
const MAX_HEAD: u64 = 4096;
/// Longest content: a document, and each octet of it may be escaped as six. Programs of a megabyte are rare.
const MAX_CONTENT: u64 = 64 << 20;

/// What carries messages from standard input and to standard output.
pub(crate) struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Ends when the connection has.
    pub(crate) fn join(self) -> io::Result<()> {
        let of = |thread: JoinHandle<io::Result<()>>| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        of(self.reader).and(of(self.writer))
    }
}

/// A connection by standard input and output.
pub(crate) fn stdio() -> io::Result<(Connection, Threads)> {
    let (sender, to_write) = bounded::<Message>(0);
    let (read_one, receiver) = bounded(0);
    let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
    let writer = thread("lsp-writer").spawn(move || {
        let mut out = io::stdout().lock();
        to_write.iter().try_for_each(|message| message.write(&mut out))?;
        out.flush()
    })?;
    let reader = thread("lsp-reader").spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(message) = read(&mut input)? {
            let is_exit = matches!(&message, Message::Notification(n) if n.method == "exit");
            // A server that has ended reads no more.
            if read_one.send(message).is_err() || is_exit {
                break;
            }
        }
        Ok(())
    })?;
    Ok((Connection { sender, receiver }, Threads { reader, writer }))
}

/// The next message; `None`: there is none.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let wrong = |what: String| Error::new(ErrorKind::InvalidData, what);
    let mut octets = Vec::new();
    let mut length = None;
    loop {
        let from = octets.len();
        input.by_ref().take(MAX_HEAD - from as u64).read_until(b'\n', &mut octets)?;
        let line = &octets[from..];
        match line {
            [] if from == 0 => return Ok(None),
            b"\r\n" => break,
            _ if !line.ends_with(b"\n") => {
                return Err(wrong(format!("a message's head that does not end, or is longer than {MAX_HEAD} bytes")));
            }
            _ => {}
        }
        let line = String::from_utf8_lossy(line);
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("Content-Length")
        {
            let said = value.trim().parse().ok().filter(|length| *length <= MAX_CONTENT);
            length = Some(said.ok_or_else(|| wrong(format!("Content-Length: expected at most {MAX_CONTENT}")))?);
        }
    }
    let length = length.ok_or_else(|| wrong("a message's head without Content-Length".into()))?;
    // Memory is taken as octets come.
    input.by_ref().take(length).read_to_end(&mut octets)?;
    Message::read(&mut &octets[..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        read(&mut text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_message_is_no_longer_than_memory_is_for() {
        for length in ["99999999999999999999", "18446744073709551615", "1000000000000", "-1", "67108865", "x"] {
            assert!(refused(&format!("Content-Length: {length}\r\n\r\n{{}}")).contains("at most 67108864"), "{length}");
        }
        assert!(refused(&format!("X: {}\r\n\r\n", "x".repeat(1 << 20))).contains("longer than 4096"));
        assert!(refused(&"X: y\r\n".repeat(1 << 20)).contains("longer than 4096"));
        assert!(refused("Content-Type: x\r\n\r\n{}").contains("without Content-Length"));
        // Less comes than was said.
        assert!(read(&mut &b"Content-Length: 1000\r\n\r\n{}"[..]).is_err());
    }

    #[test]
    fn messages_come_one_after_the_other() {
        let one = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let text = format!("content-length: {}\r\nContent-Type: application/vscode-jsonrpc\r\n\r\n{one}", one.len()).repeat(2);
        let mut input = text.as_bytes();
        for _ in 0..2 {
            assert!(matches!(read(&mut input).unwrap(), Some(Message::Notification(n)) if n.method == "exit"));
        }
        assert!(read(&mut input).unwrap().is_none());
    }
}
