//! Network namespaces and veth pairs that exist only as long as their guard.

use crate::programs;
use cli::failure::Failure;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// After this time kernels have nothing more to say about new addresses.
const QUIET: Duration = Duration::from_millis(300);

/// How long [`remove_at_end_of_input`] looks again: a namespace may just be in the making, a process on its way into it.
const LAST_LOOKS: Duration = Duration::from_secs(1);

/// Three namespaces: RAN side, UPF, data network, joined by a veth pair each side of the UPF. Removed on drop, and
/// with them all devices and processes' sockets in them; also if this process is interrupted or killed.
pub(crate) struct Networks {
    /// RAN side: interface `n3`.
    pub ran: Namespace,
    /// UPF: interfaces `n3` and `n6`, without kernel addresses: the UPF itself answers there.
    pub upf: Namespace,
    /// Data network: interface `n6`.
    pub dn: Namespace,
    /// Between UPF and data network, if requested: interface `n6` towards the UPF, `dn` towards the data network. Who opens them carries the
    /// frames; the kernel does not.
    pub line: Option<Namespace>,
    /// Goes last.
    _caretaker: Caretaker,
}

/// Two namespaces: the UPF, and a tester that is on both of its sides. Interfaces `n3` and `n6` in each. Removed as [`Networks`] are.
pub(crate) struct TesterNetworks {
    /// UPF: without kernel addresses.
    pub upf: Namespace,
    /// The tester, which answers for all that it needs there: without kernel addresses too.
    pub tester: Namespace,
    /// Goes last.
    _caretaker: Caretaker,
}

/// Whether the far ends of veth pairs leave checksums and segmentation to their devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offloads {
    On,
    Off,
}

/// Sets of namespaces that this process has made.
static SETS: AtomicU32 = AtomicU32::new(0);

/// One namespace.
pub(crate) struct Namespace {
    name: String,
}

impl Networks {
    /// Creates them under names that carry this process's number.
    /// The veth pairs have `queues` queues each way.
    pub(crate) fn create(queues: u8) -> Result<Networks, Failure> {
        Networks::build(queues, false, Offloads::Off)
    }

    /// The same, one queue each way, with a line between UPF and data network.
    pub(crate) fn with_line() -> Result<Networks, Failure> {
        Networks::build(1, true, Offloads::Off)
    }

    /// The same, one queue each way.
    pub(crate) fn with_offloads(offloads: Offloads) -> Result<Networks, Failure> {
        Networks::build(1, false, offloads)
    }

    fn build(queues: u8, line: bool, offloads: Offloads) -> Result<Networks, Failure> {
        let id = match SETS.fetch_add(1, Ordering::Relaxed) {
            0 => std::process::id().to_string(),
            set => format!("{}-{set}", std::process::id()),
        };
        let name = |side: &str| format!("splitplane-{side}-{id}");
        let caretaker = Caretaker::start(&[name("ran"), name("upf"), name("dn"), name("line")])?;
        let networks = Networks {
            ran: Namespace::create(name("ran"))?,
            upf: Namespace::create(name("upf"))?,
            dn: Namespace::create(name("dn"))?,
            line: line.then(|| Namespace::create(name("line"))).transpose()?,
            _caretaker: caretaker,
        };
        for ns in [&networks.ran, &networks.upf, &networks.dn] {
            ns.ip(&["link", "set", "lo", "up"])?;
        }
        // The kernel must add no packet of its own: each one is accounted for.
        for ns in [Some(&networks.upf), networks.line.as_ref()].into_iter().flatten() {
            ns.sysctl("net.ipv6.conf.all.disable_ipv6=1")?;
            ns.sysctl("net.ipv6.conf.default.disable_ipv6=1")?;
        }
        networks.ran.sysctl("net.ipv6.conf.default.accept_ra=0")?;
        networks.dn.sysctl("net.ipv6.conf.default.accept_ra=0")?;
        // Multicast listener reports, at once: they are to be over before anybody counts.
        networks.dn.sysctl("net.ipv6.conf.default.mldv2_unsolicited_report_interval=10")?;
        networks.ran.sysctl("net.ipv4.conf.all.rp_filter=0")?;
        networks.ran.sysctl("net.ipv4.conf.default.rp_filter=0")?;
        networks.upf.join("n3", &networks.ran, "n3", queues, offloads)?;
        match &networks.line {
            None => networks.upf.join("n6", &networks.dn, "n6", queues, offloads)?,
            Some(line) => {
                networks.upf.join("n6", line, "n6", queues, offloads)?;
                line.join("dn", &networks.dn, "n6", queues, offloads)?;
            }
        }
        networks.address()?;
        std::thread::sleep(QUIET);
        Ok(networks)
    }

    /// Gives the far ends their addresses and routes, or gives back those that went with a link that was down.
    pub(crate) fn address(&self) -> Result<(), Failure> {
        self.ran.ip(&["address", "replace", "10.3.0.2/24", "dev", "n3"])?;
        self.dn.ip(&["address", "replace", "10.6.0.2/24", "dev", "n6"])?;
        self.dn.ip(&["-6", "address", "replace", "2001:db8:6::2/64", "dev", "n6", "nodad"])?;
        self.dn.ip(&["route", "replace", "10.45.0.0/16", "via", "10.6.0.1"])?;
        self.dn.ip(&["-6", "route", "replace", "2001:db8:45::/48", "via", "2001:db8:6::1"])
    }

    /// One more way between UPF and RAN side: interface `bulk` in both, with an address at the far end, which takes what XDP redirects.
    pub(crate) fn add_bulk(&self) -> Result<(), Failure> {
        self.upf.join("bulk", &self.ran, "bulk", 1, Offloads::Off)?;
        self.ran.ip(&["address", "replace", "10.4.0.2/24", "dev", "bulk"])?;
        self.ran.offloads_off("bulk", true)
    }

    /// Deletes N6's pair and creates it again, with the addresses of its far end.
    pub(crate) fn make_n6_anew(&self, queues: u8) -> Result<(), Failure> {
        self.upf.ip(&["link", "delete", "n6"])?;
        self.upf.join("n6", &self.dn, "n6", queues, Offloads::Off)?;
        self.address()
    }

    /// Has captures at the far ends see frames as they were sent, though GRO is on for what XDP redirects. An older `ip` goes without.
    pub(crate) fn keep_frames_apart(&self) {
        for (ns, link) in [(&self.ran, "n3"), (&self.dn, "n6")] {
            let _ = ns.ip(&["link", "set", link, "gro_max_size", "1600"]);
        }
    }

    /// Lets the far ends take what XDP redirects to the UPF's ends, or not.
    pub(crate) fn take_redirected(&self, take: bool) -> Result<(), Failure> {
        self.ran.offloads_off("n3", take)?;
        self.dn.offloads_off("n6", take)
    }
}

impl TesterNetworks {
    /// Creates them; `name` tells those of this process apart. The veth pairs have `queues` queues each way.
    pub(crate) fn create(name: &str, queues: u8) -> Result<TesterNetworks, Failure> {
        let of = |part: &str| format!("splitplane-{name}-{part}-{}", std::process::id());
        let caretaker = Caretaker::start(&[of("upf"), of("tester")])?;
        let networks =
            TesterNetworks { upf: Namespace::create(of("upf"))?, tester: Namespace::create(of("tester"))?, _caretaker: caretaker };
        for ns in [&networks.upf, &networks.tester] {
            ns.ip(&["link", "set", "lo", "up"])?;
            // The kernel must add no packet of its own: each one is accounted for.
            ns.sysctl("net.ipv6.conf.all.disable_ipv6=1")?;
            ns.sysctl("net.ipv6.conf.default.disable_ipv6=1")?;
        }
        for link in ["n3", "n6"] {
            networks.upf.join(link, &networks.tester, link, queues, Offloads::Off)?;
            // What XDP redirects to a veth arrives only so.
            networks.tester.offloads_off(link, true)?;
        }
        Ok(networks)
    }
}

impl Namespace {
    fn create(name: String) -> Result<Namespace, Failure> {
        run("ip", &["netns", "add", &name])?;
        Ok(Namespace { name })
    }

    /// A veth pair, one end here under `name`. The far end has no IPv6 address of its own making.
    fn join(&self, name: &str, far: &Namespace, far_name: &str, queues: u8, offloads: Offloads) -> Result<(), Failure> {
        let queues = queues.to_string();
        let queues = ["numrxqueues", &queues, "numtxqueues", &queues];
        let near = ["link", "add", name, "netns", &self.name, "mtu", "1600"];
        let pair = ["type", "veth", "peer", "name", far_name, "netns", &far.name];
        run("ip", &[&near[..], &queues, &pair, &queues].concat())?;
        far.ip(&["link", "set", far_name, "mtu", "1600", "addrgenmode", "none"])?;
        for (ns, name) in [(self, name), (far, far_name)] {
            if offloads == Offloads::Off {
                ns.offloads_off(name, false)?;
            }
            ns.ip(&["link", "set", name, "up"])?;
        }
        Ok(())
    }

    /// A command that will run inside.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name, program]).args(args).stdin(Stdio::null());
        command
    }

    /// Runs a command inside to its end; its output on success.
    pub(crate) fn run(&self, program: &str, args: &[&str]) -> Result<String, Failure> {
        finish(self.command(program, args), program, args)
    }

    /// Does some work in a thread inside: what it opens stays there.
    pub(crate) fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
        let path = format!("/run/netns/{}", self.name);
        let fail = |e: std::io::Error| Failure::Failed(format!("cannot enter {path}: {e}"));
        let file = std::fs::File::open(&path).map_err(fail)?;
        let there = || {
            move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).map_err(|e| fail(e.into()))?;
            Ok(work())
        };
        std::thread::scope(|scope| scope.spawn(there).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// MAC address of an interface.
    pub(crate) fn mac(&self, interface: &str) -> Result<[u8; 6], Failure> {
        let text = self.run("cat", &[&format!("/sys/class/net/{interface}/address")])?;
        let octets: Vec<u8> = text.trim().split(':').filter_map(|octet| u8::from_str_radix(octet, 16).ok()).collect();
        octets.try_into().map_err(|_| Failure::Failed(format!("{interface}: `{}` is no MAC address", text.trim())))
    }

    fn offloads_off(&self, interface: &str, gro: bool) -> Result<(), Failure> {
        let splitplane = programs::splitplane()?;
        let mut args = vec!["offloads-off", interface];
        args.extend(gro.then_some("--gro"));
        self.run(&splitplane.display().to_string(), &args).map(drop)
    }

    /// Runs `ip` on it.
    pub(crate) fn ip(&self, args: &[&str]) -> Result<(), Failure> {
        let mut all = vec!["-n", &self.name];
        all.extend(args);
        run("ip", &all)
    }

    pub(crate) fn sysctl(&self, setting: &str) -> Result<(), Failure> {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        let path = format!("/proc/sys/{}", key.replace('.', "/"));
        self.run("sh", &["-c", &format!("echo {value} > {path}")]).map(drop)
    }

    /// A kernel counter of an interface, from its statistics folder.
    pub(crate) fn counter(&self, interface: &str, name: &str) -> Result<u64, Failure> {
        let text = self.run("cat", &[&format!("/sys/class/net/{interface}/statistics/{name}")])?;
        text.trim().parse().map_err(|_| Failure::Failed(format!("{interface}: statistics/{name} is not a number: {text}")))
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        remove(&self.name);
    }
}

/// A process that does what our drops would have done if we are killed, or interrupted at the terminal. It waits at the end
/// of a pipe that we alone hold open; a process group of its own keeps it from being interrupted with us.
struct Caretaker(Child);

impl Caretaker {
    fn start(names: &[String]) -> Result<Caretaker, Failure> {
        let mut command = Command::new(programs::own()?);
        command.arg("remove-namespaces").args(names).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Caretaker).map_err(|e| Failure::Failed(format!("cannot start the demo's caretaker: {e}")))
    }
}

impl Drop for Caretaker {
    /// All is removed when we come here.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until standard input ends, then removes these namespaces and kills what runs in them.
pub fn remove_at_end_of_input(names: &[String]) {
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    let end = Instant::now() + LAST_LOOKS;
    while Instant::now() < end {
        names.iter().for_each(|name| remove(name));
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Removes a namespace, if it is there. What still runs inside would keep it alive without a name.
fn remove(name: &str) {
    if let Ok(out) = Command::new("ip").args(["netns", "pids", name]).stderr(Stdio::null()).output() {
        for pid in String::from_utf8_lossy(&out.stdout).split_whitespace() {
            signal("KILL", pid);
        }
    }
    let _ = Command::new("ip").args(["netns", "delete", name]).stderr(Stdio::null()).status();
}

/// Sends a signal. By the shell, which is everywhere: the program `kill` is not.
pub(crate) fn signal(name: &str, pid: &str) {
    let _ = Command::new("sh").args(["-c", &format!("kill -{name} {pid}")]).stderr(Stdio::null()).status();
}

/// Runs a program to its end.
pub(crate) fn run(program: &str, args: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    finish(command, program, args).map(drop)
}

fn finish(mut command: Command, program: &str, args: &[&str]) -> Result<String, Failure> {
    let line = || format!("{program} {}", args.join(" "));
    let out =
        command.output().map_err(|e| Failure::Usage(format!("cannot run `{}`: {e}; `make setup` installs what is needed", line())))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    let error = String::from_utf8_lossy(&out.stderr);
    Err(Failure::Failed(format!("`{}` failed: {}", line(), error.trim().lines().last().unwrap_or("no message"))))
}
