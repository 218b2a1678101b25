//! SIGTERM and SIGINT reach [`cli::stop::Stop`], and nothing else ends the process. It starts itself and signals that.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

fn main() {
    if std::env::args().any(|arg| arg == "child") {
        return child();
    }
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let me = std::env::current_exe().unwrap();
        let mut child = Command::new(me).arg("child").stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "asked to end");
        assert!(child.wait().unwrap().success());
        println!("test {signal} is seen ... ok");
    }
}

fn child() {
    let stop = cli::stop::Stop::install().unwrap();
    // Threads begun later leave the signals alone, too.
    let sleeper = std::thread::spawn(|| std::thread::sleep(Duration::from_millis(200)));
    assert!(!stop.requested());
    println!("ready");
    assert!(stop.wait(Duration::from_secs(20)));
    assert!(stop.requested());
    sleeper.join().unwrap();
    println!("asked to end");
}
