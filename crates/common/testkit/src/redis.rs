//! A server of the Redis protocol for one test: on a socket of its folder, and it writes nothing.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A start takes less, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server; it ends with this value.
pub struct Redis {
    child: Child,
    /// Where it is, for its clients.
    pub url: String,
}

impl Redis {
    /// Starts a server in `folder`; if this machine has none the calling test says that it is skipped.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_or_skip(folder: &Path) -> Option<Redis> {
        let socket = folder.join("redis.sock");
        let start = |program| {
            let mut command = Command::new(program);
            command.args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"]).arg(&socket).arg("--dir").arg(folder);
            command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().ok()
        };
        let Some(child) = ["valkey-server", "redis-server"].into_iter().find_map(start) else {
            crate::skip("needs valkey-server or redis-server");
            return None;
        };
        let redis = Redis { child, url: format!("redis+unix://{}", socket.display()) };
        let end = Instant::now() + PATIENCE;
        while UnixStream::connect(&socket).is_err() {
            assert!(Instant::now() < end, "the Redis server has not started");
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(redis)
    }

    /// Has it answer nothing, as if the network to it was cut, or go on.
    ///
    /// # Panics
    /// If the signal cannot be sent.
    pub fn cut_off(&self, off: bool) {
        let signal = if off { "-STOP" } else { "-CONT" };
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "cannot send a signal to the Redis server");
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
