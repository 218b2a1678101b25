//! Processes in network namespaces: started, waited for, ended.
#![allow(dead_code)]

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Network namespaces. Removed on drop.
pub(crate) struct Namespaces(pub Vec<String>);

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new("ip").args(["netns", "delete", name]).status();
        }
    }
}

/// A process that is killed if the test fails before it ends. Its standard output stays open.
pub(crate) struct Part {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Part {
    /// Starts a command in a namespace and waits until it says `word`; what it said, if it ends instead.
    pub(crate) fn try_start(ns: &str, args: &[&str], word: &str) -> Result<Part, String> {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", ns]).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut part = Part { child, output };
        let mut said = String::new();
        while !said.contains(word) {
            if part.output.read_line(&mut said).unwrap() == 0 {
                return Err(said);
            }
        }
        Ok(part)
    }

    pub(crate) fn start(ns: &str, args: &[&str], word: &str) -> Part {
        Part::try_start(ns, args, word).unwrap_or_else(|said| panic!("{args:?}: {said}"))
    }

    /// `splitplane` with these arguments, ready. The SMF gives up on an answer after 4 s, and a busy machine may take longer.
    pub(crate) fn splitplane(ns: &str, args: &[&str]) -> Part {
        let args = [&[env!("CARGO_BIN_EXE_splitplane")], args, &["--until-input-ends"]].concat();
        let mut tries = (0..5).map(|_| Part::try_start(ns, &args, "ready"));
        tries.find_map(Result::ok).unwrap_or_else(|| panic!("{args:?} does not start"))
    }

    pub(crate) fn stop(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn run(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{program} {args:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}
