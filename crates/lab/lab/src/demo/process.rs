//! Child processes of the demo: started in a namespace, awaited until ready, stopped by closing their input.

use super::netns::Namespace;
use crate::programs;
use cli::failure::Failure;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A running part of the demo. Killed on drop if it was not stopped.
pub(crate) struct Part {
    name: &'static str,
    log: PathBuf,
    child: Child,
    lines: Receiver<String>,
}

impl Part {
    /// Starts `splitplane` with `args` inside `ns`. Its lines of output come through [`Part::wait_for`]; `echo` shows
    /// those after `ready` on our own output. Its log goes to a file of its name in `logs`.
    pub(crate) fn start(name: &'static str, ns: &Namespace, args: &[&str], logs: &Path, echo: bool) -> Result<Part, Failure> {
        Part::of(&programs::splitplane()?, name, ns, args, logs, echo)
    }

    /// As [`Part::start`], of the HTTP server, which is this program's.
    pub(crate) fn http_server(ns: &Namespace, listen: &str, logs: &Path) -> Result<Part, Failure> {
        let args = ["http-server", "--listen", listen, "--until-input-ends"];
        Part::of(&programs::own()?, "HTTP server", ns, &args, logs, false)
    }

    fn of(program: &Path, name: &'static str, ns: &Namespace, args: &[&str], logs: &Path, echo: bool) -> Result<Part, Failure> {
        let mut command = ns.command(&program.display().to_string(), args);
        let log = logs.join(format!("{}.log", name.to_lowercase().replace(' ', "-")));
        let file = std::fs::File::create(&log).map_err(|e| Failure::Usage(format!("cannot write {}: {e}", log.display())))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(file);
        let mut child = command.spawn().map_err(|e| Failure::Failed(format!("cannot start {name}: {e}")))?;
        let (sender, lines) = channel();
        let out = child.stdout.take().ok_or_else(|| Failure::Failed(format!("{name} has no output")))?;
        std::thread::spawn(move || {
            let mut ready = false;
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if echo && ready {
                    println!("{line}");
                } else {
                    ready |= line == "ready";
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            }
        });
        Ok(Part { name, log, child, lines })
    }

    /// Waits until the part prints a line that begins so.
    pub(crate) fn wait_for(&mut self, begin: &str, limit: Duration) -> Result<String, Failure> {
        let end = Instant::now() + limit;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) if line.starts_with(begin) => return Ok(line),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Failure::Failed(format!("{} did not say `{begin}` within {limit:?}", self.name)));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
                    let said = std::fs::read_to_string(&self.log).unwrap_or_default();
                    return Err(Failure::Failed(format!("{} ended before it said `{begin}` ({status}): {}", self.name, why(&said))));
                }
            }
        }
    }

    /// Its process number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has not ended yet.
    pub(crate) fn lives(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Why it ended, as its log has it.
    pub(crate) fn last_words(&self) -> String {
        why(&std::fs::read_to_string(&self.log).unwrap_or_default()).to_owned()
    }

    /// Nobody reads its output from now on: what it writes next meets a broken pipe.
    pub(crate) fn close_output(&mut self) {
        // The thread that reads ends with the next line that it cannot write, and closes the pipe.
        self.lines = channel().1;
    }

    /// The last line of its log with these words.
    pub(crate) fn logged(&self, words: &str) -> Option<String> {
        let said = std::fs::read_to_string(&self.log).unwrap_or_default();
        said.lines().rfind(|line| line.contains(words)).map(str::to_owned)
    }

    /// Gives the part a line of input.
    pub(crate) fn tell(&mut self, line: &str) -> Result<(), Failure> {
        let input = self.child.stdin.as_mut().ok_or_else(|| Failure::Failed(format!("{} is stopping", self.name)))?;
        writeln!(input, "{line}").and_then(|()| input.flush()).map_err(|e| Failure::Failed(format!("{} does not listen: {e}", self.name)))
    }

    /// Closes the part's input, which tells it to stop, and waits for its good end.
    pub(crate) fn stop(mut self, limit: Duration) -> Result<(), Failure> {
        drop(self.child.stdin.take());
        let end = Instant::now() + limit;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    return Err(Failure::Failed(format!("{} ended badly ({status}); its log is {}", self.name, self.log.display())));
                }
                Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
                Ok(None) => return Err(Failure::Failed(format!("{} did not stop within {limit:?}", self.name))),
                Err(e) => return Err(Failure::Failed(format!("{}: {e}", self.name))),
            }
        }
    }
}

/// Of a log the line that says why a command failed; a compiler's complaints may follow it.
fn why(log: &str) -> &str {
    let own = log.lines().rfind(|line| line.starts_with("splitplane: ") || line.starts_with("splitplane-lab: "));
    own.or_else(|| log.lines().rfind(|line| !line.trim().is_empty())).unwrap_or("nothing in its log")
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that runs for a while in the background and needs nothing of us, such as `iperf3 -s`.
pub(crate) struct Background(Child);

impl Background {
    /// Starts it, without output.
    pub(crate) fn start(mut command: Command, name: &str) -> Result<Background, Failure> {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Background).map_err(|e| Failure::Usage(format!("cannot start {name}: {e}; `make setup` installs it")))
    }

    /// As [`Background::start`], with its output kept for [`Background::output`].
    pub(crate) fn start_with_output(mut command: Command, name: &str) -> Result<Background, Failure> {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().map(Background).map_err(|e| Failure::Usage(format!("cannot start {name}: {e}; `make setup` installs it")))
    }

    /// Asks it to end, as a terminal does, and waits: for a program that has something to write first.
    pub(crate) fn interrupt(mut self) {
        super::netns::signal("INT", &self.0.id().to_string());
        let end = Instant::now() + Duration::from_secs(5);
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until it ends by itself; what it printed.
    pub(crate) fn output(mut self) -> String {
        let mut text = String::new();
        if let Some(out) = self.0.stdout.as_mut() {
            let _ = std::io::Read::read_to_string(out, &mut text);
        }
        let _ = self.0.wait();
        text
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_it_ended_is_found_among_complaints() {
        assert_eq!(why("INFO open\nsplitplane: no clang: 1 error\n  x.c:1: no\n\n"), "splitplane: no clang: 1 error");
        assert_eq!(why("thread 'main' panicked\nnote: more\n \n"), "note: more");
        assert_eq!(why("\n\n"), "nothing in its log");
    }
}
