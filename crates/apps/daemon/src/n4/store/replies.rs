//! A connection to a server of the Redis protocol (RESP2) that takes bounded memory and time for each reply, whatever the server says. The client
//! crate encodes commands and knows what values mean; its own connection reads as much as comes.

use redis::{Client, Cmd, ConnectionAddr, ConnectionLike, ErrorKind, RedisError, RedisResult, Value, parse_redis_value};
use std::io::{BufRead, BufReader, Error, ErrorKind as Io, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// What a reply may take in memory, in octets: [`super::replica`] asks for a thousand records at a time, of some KiB each.
const LONGEST: usize = 128 << 20;
/// Of these, what each value takes besides its octets.
const OF_VALUE: usize = 64;
/// Longest line, of an error or a number.
const MAX_LINE: usize = 64 << 10;
/// Arrays within arrays: entries of a stream are four deep.
const MAX_DEPTH: usize = 8;
/// A reply may come in pieces, each within the connection's patience, and all within so many times that.
const PATIENCES: u32 = 10;

/// A connection, with what has been read and not used of it.
pub(super) struct Connection {
    stream: BufReader<Box<dyn Stream>>,
    patience: Duration,
    longest: usize,
    db: i64,
    /// Nothing went wrong so far: what comes next is the reply to what is asked next.
    sound: bool,
}

trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

impl Connection {
    /// Connects, and says who asks; each step within `patience`.
    pub(super) fn open(client: &Client, patience: Duration) -> RedisResult<Connection> {
        let info = client.get_connection_info();
        let stream: Box<dyn Stream> = match info.addr() {
            ConnectionAddr::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))?;
                Box::new(stream)
            }
            ConnectionAddr::Tcp(host, port) => {
                let mut last = Error::new(Io::NotFound, "its name has no address");
                let addresses = (&**host, *port).to_socket_addrs()?;
                let reached = addresses.into_iter().find_map(|at| TcpStream::connect_timeout(&at, patience).map_err(|e| last = e).ok());
                let stream = reached.ok_or(last)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))?;
                Box::new(stream)
            }
            _ => return Err(RedisError::from((ErrorKind::InvalidClientConfig, "neither TCP nor a Unix socket"))),
        };
        let settings = info.redis_settings();
        let mut connection = Connection { stream: BufReader::new(stream), patience, longest: LONGEST, db: settings.db(), sound: true };
        if let Some(password) = settings.password() {
            redis::cmd("AUTH").arg(settings.username()).arg(password).query::<()>(&mut connection)?;
        }
        if settings.db() != 0 {
            redis::cmd("SELECT").arg(settings.db()).query::<()>(&mut connection)?;
        }
        Ok(connection)
    }

    fn ask(&mut self, command: &[u8]) -> RedisResult<Value> {
        if !std::mem::replace(&mut self.sound, false) {
            return Err(Error::new(Io::NotConnected, "an earlier reply was not read to its end").into());
        }
        self.stream.get_mut().write_all(command)?;
        let until = Instant::now() + self.patience * PATIENCES;
        let value = Reply { stream: &mut self.stream, left: self.longest, until }.value(0)?;
        self.sound = true;
        Ok(value)
    }
}

impl ConnectionLike for Connection {
    fn req_packed_command(&mut self, command: &[u8]) -> RedisResult<Value> {
        self.ask(command)
    }

    fn req_command(&mut self, command: &Cmd) -> RedisResult<Value> {
        self.ask(&command.get_packed_command())
    }

    /// Of pipelines, of which there are none.
    fn req_packed_commands(&mut self, _: &[u8], _: usize, _: usize) -> RedisResult<Vec<Value>> {
        Err(RedisError::from((ErrorKind::Client, "there are no pipelines")))
    }

    fn supports_pipelining(&self) -> bool {
        false
    }

    fn get_db(&self) -> i64 {
        self.db
    }

    fn check_connection(&mut self) -> bool {
        redis::cmd("PING").query::<()>(self).is_ok()
    }

    fn is_open(&self) -> bool {
        self.sound
    }
}

/// A reply that is read.
struct Reply<'a, R> {
    stream: &'a mut R,
    /// What it may still take.
    left: usize,
    until: Instant,
}

fn unreadable(what: &str) -> RedisError {
    RedisError::from((ErrorKind::Parse, "its reply", what.to_owned()))
}

impl<R: BufRead> Reply<'_, R> {
    fn value(&mut self, depth: usize) -> RedisResult<Value> {
        self.spend(OF_VALUE)?;
        let line = self.line()?;
        let count = |text: &[u8]| {
            std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok()).ok_or_else(|| unreadable("has no number"))
        };
        match line.split_first() {
            Some((b'$', length)) => match count(length)? {
                -1 => Ok(Value::Nil),
                length => self.octets(usize::try_from(length).map_err(|_| unreadable("has no number"))?).map(Value::BulkString),
            },
            Some((b'*', _)) if depth >= MAX_DEPTH => Err(unreadable("is nested deeper than ours")),
            Some((b'*', length)) => match count(length)? {
                -1 => Ok(Value::Nil),
                // Each takes its part of what is left: memory is taken as they come.
                length => (0..length).map(|_| self.value(depth + 1)).collect::<RedisResult<Vec<Value>>>().map(Value::Array),
            },
            Some((b':', number)) => count(number).map(Value::Int),
            Some((b'+' | b'-', _)) => parse_redis_value(&[&line[..], b"\r\n"].concat()),
            _ => Err(unreadable("is not of the Redis protocol")),
        }
    }

    fn spend(&mut self, octets: usize) -> RedisResult<()> {
        self.left = self.left.checked_sub(octets).ok_or_else(|| unreadable("is longer than any of ours"))?;
        Ok(())
    }

    /// Some of what has come.
    fn some(&mut self) -> RedisResult<&[u8]> {
        if Instant::now() >= self.until {
            return Err(Error::new(Io::TimedOut, "its reply takes too long").into());
        }
        match self.stream.fill_buf()? {
            [] => Err(Error::new(Io::UnexpectedEof, "it has closed the connection").into()),
            some => Ok(some),
        }
    }

    /// The next line, without its end.
    fn line(&mut self) -> RedisResult<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            let some = self.some()?;
            let end = some.iter().position(|octet| *octet == b'\n');
            let used = end.map_or(some.len(), |end| end + 1);
            if line.len() + used > MAX_LINE {
                return Err(unreadable("has a line that is too long"));
            }
            line.extend_from_slice(&some[..used]);
            self.stream.consume(used);
            if end.is_some() {
                let text = line.strip_suffix(b"\r\n").ok_or_else(|| unreadable("has a line without an end"))?;
                return Ok(text.to_vec());
            }
        }
    }

    /// So many octets and the end of the line.
    fn octets(&mut self, length: usize) -> RedisResult<Vec<u8>> {
        self.spend(length)?;
        let mut octets = Vec::new();
        while octets.len() < length {
            let left = length - octets.len();
            let some = self.some()?;
            let used = some.len().min(left);
            octets.extend_from_slice(&some[..used]);
            self.stream.consume(used);
        }
        if self.line()?.is_empty() { Ok(octets) } else { Err(unreadable("is longer than it says")) }
    }
}

/// For the fuzz target `store`: any octets as a reply.
pub fn read_reply(mut octets: &[u8]) -> bool {
    Reply { stream: &mut octets, left: LONGEST, until: Instant::now() + Duration::from_secs(3600) }.value(0).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Of the tests: less to send.
    const FEW: usize = 1 << 20;

    fn read(mut octets: &[u8]) -> Result<Value, String> {
        let reply = Reply { stream: &mut octets, left: FEW, until: Instant::now() + Duration::from_secs(3600) }.value(0);
        reply.map_err(|e| e.to_string())
    }

    #[test]
    fn replies_are_what_the_crate_reads() {
        for text in [
            "+OK\r\n",
            "+PONG\r\n",
            ":-17\r\n",
            "$5\r\na\r\nbc\r\n",
            "$0\r\n\r\n",
            "$-1\r\n",
            "*-1\r\n",
            "*0\r\n",
            "*3\r\n$1\r\na\r\n*2\r\n:1\r\n$-1\r\n+x\r\n",
            "-LOADING it is\r\n",
            "-NOSCRIPT no\r\n",
        ] {
            assert_eq!(read(text.as_bytes()).unwrap(), parse_redis_value(text.as_bytes()).unwrap(), "{text:?}");
        }
    }

    #[test]
    fn a_reply_takes_bounded_memory_whatever_it_says() {
        let long = format!("+{}\r\n", "x".repeat(MAX_LINE));
        let deep = "*1\r\n".repeat(100);
        let many = format!("*9223372036854775807\r\n{}", ":1\r\n".repeat(FEW / OF_VALUE));
        for (text, says) in [
            ("$9223372036854775807\r\n", "longer than any of ours"),
            ("$1048577\r\n", "longer than any of ours"),
            ("$-2\r\n", "no number"),
            ("*99999999999999999999\r\n", "no number"),
            ("$2\r\nabc\r\n", "longer than it says"),
            ("*2\r\n:1\r\n", "closed"),
            ("$1000000\r\nx", "closed"),
            ("HTTP/1.1 200 OK\r\n", "not of the Redis protocol"),
            ("\r\n", "not of the Redis protocol"),
            (&long, "too long"),
            (&deep, "nested deeper"),
            (&many, "longer than any of ours"),
        ] {
            let why = read(text.as_bytes()).unwrap_err();
            assert!(why.contains(says), "{:?}: {why}", &text[..text.len().min(40)]);
        }
    }

    /// It took what came until the machine had no more memory.
    #[test]
    fn a_server_that_never_ends_its_reply_is_left() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = Client::open(format!("redis://{}", listener.local_addr().unwrap())).unwrap();
        let server = std::thread::spawn(move || {
            for reply in [&b"$1000000000\r\n"[..], b"*1000000000\r\n:1\r\n"] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut sent = stream.write_all(reply).map(|()| 0);
                let more = b":1\r\n".repeat(1 << 14);
                while let Ok(octets) = sent {
                    sent = stream.write_all(&more).map(|()| octets + more.len());
                    assert!(octets <= 64 * FEW, "it is still read");
                }
            }
        });
        for _ in 0..2 {
            let mut connection = Connection::open(&client, Duration::from_secs(60)).unwrap();
            connection.longest = FEW;
            let why = redis::cmd("GET").arg("x").query::<Value>(&mut connection).unwrap_err();
            assert!(why.to_string().contains("longer than any of ours"), "{why}");
            assert!(!connection.is_open() && redis::cmd("GET").arg("x").query::<Value>(&mut connection).is_err());
        }
        server.join().unwrap();
    }
}
