//! Where do the veth pairs of benchmarks live? In network namespaces without a name, which go, interfaces and all, with the last who
//! uses them: however a benchmark ends, nothing stays behind. As root.

use cli::failure::Failure;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::os::fd::AsFd;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long interfaces may take to come up.
const PATIENCE: Duration = Duration::from_secs(5);

/// Does `work` with this thread in a new namespace; then the thread is back. `what` tells namespaces of this process apart.
pub(super) fn inside<T>(what: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let here = File::open("/proc/thread-self/ns/net").map_err(failed)?;
    let name = format!("splitplane-bench-{}-{what}", std::process::id());
    ip(&["netns", "add", &name])?;
    let there = File::open(format!("/run/netns/{name}")).map_err(failed);
    // The name goes at once: whatever becomes of us, nothing stays behind.
    ip(&["netns", "delete", &name])?;
    let refused = |e: rustix::io::Errno| Failure::Usage(format!("cannot enter a network namespace: {e} (needs root)"));
    move_into_link_name_space(there?.as_fd(), Some(LinkNameSpaceType::Network)).map_err(refused)?;
    let result = quiet().and_then(|()| work());
    move_into_link_name_space(here.as_fd(), Some(LinkNameSpaceType::Network)).map_err(failed)?;
    result
}

/// The kernel must send nothing of its own.
fn quiet() -> Result<(), Failure> {
    for which in ["all", "default"] {
        std::fs::write(format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6"), "1").map_err(failed)?;
    }
    Ok(())
}

/// A veth pair of one queue each way. Both ends are up when this returns.
pub(super) fn pair(near: &str, far: &str) -> Result<(), Failure> {
    let queues = ["numrxqueues", "1", "numtxqueues", "1"];
    ip(&[&["link", "add", near][..], &queues, &["type", "veth", "peer", "name", far], &queues].concat())?;
    for name in [near, far] {
        ip(&["link", "set", name, "up"])?;
    }
    let deadline = Instant::now() + PATIENCE;
    while !ip(&["link", "show", near])?.contains("state UP") {
        if Instant::now() > deadline {
            return Err(Failure::Failed(format!("{near} does not come up")));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Runs `ip`; what it says.
pub(super) fn ip(args: &[&str]) -> Result<String, Failure> {
    let output = Command::new("ip").args(args).output().map_err(|e| Failure::Usage(format!("`ip` cannot be run: {e}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Failure::Usage(format!("ip {}: {} (needs root)", args.join(" "), String::from_utf8_lossy(&output.stderr).trim())))
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}
