//! Privileges after start: only those needed to reopen the ports.
//!
//! Capabilities belong to threads, and threads inherit them: they are dropped after the ports are open and before the first thread starts.

use crate::config::{Driver, Port};
use crate::failure::Failure;
use caps::{CapSet, Capability, CapsHashSet};
use std::os::unix::fs::PermissionsExt;

/// Refuses to run where any local user could run own code with our privileges: a binary with file capabilities that everybody may execute. The
/// C compiler runs as that user, who can change what it writes, and we load it.
pub fn refuse_if_everybodys() -> Result<(), Failure> {
    if !c_compile::environment::more_than_the_caller() || rustix::process::getuid().is_root() {
        return Ok(());
    }
    let open_to_all = std::fs::metadata("/proc/self/exe").map_or(true, |binary| binary.permissions().mode() & 0o001 != 0);
    if !open_to_all {
        return Ok(());
    }
    Err(Failure::Usage(
        "this binary has file capabilities and may be run by everybody: any local user could run own code with them. Take them off \
         (`setcap -r`) and give them to a service (AmbientCapabilities= of systemd), or let one group alone run it (`chmod 750`): docs/security.md"
            .into(),
    ))
}

/// The capabilities that these ports need to be opened again, and XDP to be loaded again.
fn needed<'a>(ports: impl IntoIterator<Item = &'a Port>, xdp: bool) -> CapsHashSet {
    let mut needed = CapsHashSet::new();
    for port in ports {
        match port.driver {
            Driver::Udp | Driver::Pcap => {}
            Driver::Tun => needed.extend([Capability::CAP_NET_ADMIN]),
            // XDP programs are behind AF_XDP's sockets too.
            Driver::Auto | Driver::AfXdp => needed.extend(OF_XDP),
            // What its drivers do with devices nobody says; its threads are there already.
            Driver::Dpdk => return caps::all(),
            _ => needed.extend([Capability::CAP_NET_RAW, Capability::CAP_NET_ADMIN]),
        }
    }
    if xdp {
        needed.extend(OF_XDP);
    }
    needed
}

const OF_XDP: [Capability; 5] =
    [Capability::CAP_NET_RAW, Capability::CAP_NET_ADMIN, Capability::CAP_BPF, Capability::CAP_PERFMON, Capability::CAP_IPC_LOCK];

/// Gives up, for this thread and those that it will start, what the ports do not need, for good: a program that is started from here gets
/// no more, whoever's it is.
pub fn drop_others<'a>(ports: impl IntoIterator<Item = &'a Port>, xdp: bool) -> Result<(), Failure> {
    let keep = needed(ports, xdp);
    let names = give_up(&keep).map_err(|e| Failure::Failed(format!("cannot give up privileges: {e}")))?;
    tracing::info!("capabilities kept: {names}");
    Ok(())
}

fn give_up(keep: &CapsHashSet) -> Result<String, Box<dyn std::error::Error>> {
    rustix::thread::set_no_new_privs(true)?;
    let permitted: CapsHashSet = caps::read(None, CapSet::Permitted)?.intersection(keep).copied().collect();
    caps::clear(None, CapSet::Ambient)?;
    caps::clear(None, CapSet::Inheritable)?;
    // The bounding set can be lowered only with this, and without it nothing is gained by it.
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP)? {
        for beyond in caps::read(None, CapSet::Bounding)?.difference(keep) {
            caps::drop(None, CapSet::Bounding, *beyond)?;
        }
    }
    caps::set(None, CapSet::Effective, &permitted)?;
    caps::set(None, CapSet::Permitted, &permitted)?;
    let mut names: Vec<String> = permitted.iter().map(Capability::to_string).collect();
    names.sort();
    Ok(if names.is_empty() { "none".to_owned() } else { names.join(", ") })
}
