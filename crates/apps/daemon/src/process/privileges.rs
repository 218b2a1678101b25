//! Privileges after start: only those needed to reopen the ports.
//!
//! Capabilities belong to threads, and threads inherit them: they are dropped after the ports are open and before the first thread starts.
//! When everything is compiled, system calls that a UPF never makes are forbidden for all threads: starting programs, above all.

use crate::config::{Driver, Port};
use caps::{CapSet, Capability, CapsHashSet};
use cli::failure::Failure;
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

/// Turns core dumps of this process off, to files and to programs that take them, and other processes of this user away from its memory: there are keys in it. Programs that
/// are started from here are not meant.
///
/// # Errors
/// If the kernel refuses.
pub fn no_core_dumps() -> std::io::Result<()> {
    use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(())
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

/// Whether a port needs what [`drop_others`] has given up for these.
pub(crate) fn were_given_up<'a>(port: &Port, ports: impl IntoIterator<Item = &'a Port>, xdp: bool) -> bool {
    let kept = needed(ports, xdp);
    let has = |capability: &Capability| caps::has_cap(None, CapSet::Effective, *capability).unwrap_or(true);
    needed([port], xdp).iter().any(|capability| !kept.contains(capability) && !has(capability))
}

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

/// System calls that a UPF that runs has no use for, and who takes it over has. Not a list of all that it uses: that is the C library's and the
/// drivers' business (DPDK's too), and one call that is missing there ends the daemon.
const FORBIDDEN: &[libc::c_long] = &[
    // Other programs, and what belongs to other processes.
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // File systems and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    // The kernel itself, and large parts of it that nobody here needs.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_personality,
    // The same numbers in the x32 ABI, which few kernels take, and which has execve and execveat under numbers of its own.
    #[cfg(target_arch = "x86_64")]
    0x4000_0208,
    #[cfg(target_arch = "x86_64")]
    0x4000_0221,
];

/// Forbids, for all threads that there are and will be, for good, what no UPF does: it is refused with EPERM. To be called when everything is
/// compiled. A kernel without such filters is no reason not to start.
pub fn forbid_programs() {
    match forbid() {
        Ok(()) => tracing::info!("{} system calls are forbidden from now on, execve among them", FORBIDDEN.len()),
        Err(why) => tracing::warn!("no system call is forbidden: {why}"),
    }
}

fn forbid() -> Result<(), Box<dyn std::error::Error>> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads};
    // Without conditions on arguments.
    let rules = FORBIDDEN.iter().map(|call| (*call, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let filter: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, refused, std::env::consts::ARCH.try_into()?)?.try_into()?;
    Ok(apply_filter_all_threads(&filter)?)
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::process::Command;

    const CONFINED: &str = "SPLITPLANE_TEST_CONFINED";

    /// In a process of its own, as it is for good.
    #[test]
    fn runs_confined() {
        if std::env::var_os(CONFINED).is_none() {
            return;
        }
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let earlier = std::thread::spawn(move || wait.recv().map(|()| Command::new("true").spawn().map(drop)));
        super::forbid().unwrap();
        go.send(()).unwrap();
        let later = std::thread::spawn(|| Command::new("true").spawn().map(drop)).join().unwrap();
        for outcome in [Command::new("true").spawn().map(drop), earlier.join().unwrap().unwrap(), later] {
            assert_eq!(outcome.unwrap_err().kind(), ErrorKind::PermissionDenied);
        }
        assert!(std::fs::read_to_string("/proc/self/status").unwrap().contains("Seccomp:\t2"), "all else goes on");
        println!("refused");
    }

    #[test]
    fn no_thread_of_a_daemon_that_was_taken_over_starts_a_program() {
        let me = std::env::current_exe().unwrap();
        let run = Command::new(me)
            .args(["--exact", "process::privileges::tests::runs_confined", "--nocapture"])
            .env(CONFINED, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && said.contains("refused"), "{said}{}", String::from_utf8_lossy(&run.stderr));
    }
}
