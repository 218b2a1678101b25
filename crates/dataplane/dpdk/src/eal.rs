//! DPDK's start: once per process, from a thread of ours, and with options from an allow list.
//!
//! DPDK parses its options as a command line: some print and exit, some load code, and after a wrong one it cannot be started again. So an
//! operator's options are checked against [`ALLOWED`] first, and so is what is known to make the start fail.
//!
//! - Everything is in private memory: no files are left behind, however the process ends. (`--in-memory`, which DPDK 22.11
//!   does not take together with `--no-huge`: there `--no-shconf` has the same effect.)
//! - Only requested devices are probed: by default DPDK takes every device that is bound to its drivers.
//! - DPDK's lcores are not used. A worker registers with DPDK when it first touches a port.
//! - DPDK is never stopped: it cannot be started twice. Devices are closed when their last port is dropped.
//!
//! Absent: secondary processes, DPDK's telemetry socket.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::shim::{self, error_text};
use crate::{Device, Error, log};

/// How DPDK is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Memory in huge pages (`true`), in normal ones (`false`), or in huge ones if enough are free.
    pub huge_pages: Option<bool>,
    /// Memory that is taken at the start, in MiB. With huge pages more is taken when it is needed; with normal ones this is all.
    pub memory_mib: u32,
    /// Further options; each is one of [`ALLOWED`].
    pub eal_args: Vec<String>,
    /// Devices that will be opened: those on the PCI bus must be known from the start.
    pub devices: Vec<Device>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { huge_pages: None, memory_mib: 256, eal_args: Vec::new(), devices: Vec::new() }
    }
}

/// Options that an operator may give, as `--name=value` or `--name`, and what a value looks like.
pub const ALLOWED: &[(&str, Value)] = &[
    ("--base-virtaddr", Value::Address),
    ("--force-max-simd-bitwidth", Value::OneOf(&["64", "128", "256", "512"])),
    ("--iova-mode", Value::OneOf(&["pa", "va"])),
    ("--log-level", Value::Log),
    ("--single-file-segments", Value::None),
    ("--socket-limit", Value::Numbers),
    ("--socket-mem", Value::Numbers),
    ("--vfio-intr", Value::OneOf(&["legacy", "msi", "msix"])),
    ("--vfio-vf-token", Value::Uuid),
];

/// Form of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// There is none.
    None,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// MiB for each NUMA node, at most a TiB: `1024,1024`.
    Numbers,
    /// `0x` and up to 16 digits.
    Address,
    /// Log type and level: `lib.eal:debug`.
    Log,
    /// As RFC 9562 writes it.
    Uuid,
}

/// A folder for each size of huge pages.
const HUGE_PAGES: &str = "/sys/kernel/mm/hugepages";
/// Most memory that is taken at the start, in MiB: 1 TiB.
const MOST_MEMORY_MIB: u32 = 1 << 20;
/// Options at most: DPDK keeps them in arrays.
const MOST_OPTIONS: usize = 32;
/// DPDK 22.11 knows no processors beyond (RTE_MAX_LCORE of Debian's build).
const MOST_CPUS: usize = 128;

static STARTED: Mutex<Option<Result<Settings, Error>>> = Mutex::new(None);

/// Starts DPDK, if it is not yet. A second start asks for the same memory and options, and may name other devices.
///
/// # Errors
/// [`Error::Absent`] without DPDK; [`Error::Config`] for options that are not allowed, or other settings than the first start's;
/// [`Error::Permission`] without huge pages if they are requested; [`Error::Device`] if DPDK does not start, which is final.
pub fn start(settings: &Settings) -> Result<(), Error> {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    match started.as_ref() {
        Some(Ok(first)) => {
            let same = first.eal_args == settings.eal_args && first.huge_pages == settings.huge_pages;
            return if same { Ok(()) } else { Err(Error::Config("DPDK is started already, with other settings".into())) };
        }
        Some(Err(e)) => return Err(e.clone()),
        None => {}
    }
    let options = options(settings)?;
    let api = shim::api()?;
    tracing::info!(release = shim::BUILT_WITH, ?options, "starting DPDK");
    log::forget();
    let result = match run(api, &options) {
        0 => Ok(settings.clone()),
        error if -error == libc::EALREADY => {
            tracing::info!("DPDK is already initialised in this process: its options stay");
            Ok(settings.clone())
        }
        error => Err(Error::Device(format!("DPDK does not start: {}{}", error_text(api, error), log::complaints()))),
    };
    let answer = result.as_ref().map(drop).map_err(Clone::clone);
    *started = Some(result);
    answer
}

/// Starts DPDK unless it runs already, however that was done: for benchmarks, several parts of which need it and none owns it. In huge pages
/// if `huge_mib` are free in them, of which 256 at most are taken at once; else in `normal_mib` of normal pages, which the kernel gives when
/// they are touched.
///
/// # Errors
/// As [`start`].
pub fn start_shared(huge_mib: u32, normal_mib: u32) -> Result<(), Error> {
    if require_started().is_ok() {
        return Ok(());
    }
    let huge = free_huge_mib(Path::new(HUGE_PAGES)) >= u64::from(huge_mib);
    let memory_mib = if huge { huge_mib.min(256) } else { normal_mib };
    start(&Settings { huge_pages: Some(huge), memory_mib, ..Settings::default() })
}

/// That DPDK runs.
///
/// # Errors
/// [`Error::Config`] if it was not started; the first start's error if that failed.
pub(crate) fn require_started() -> Result<(), Error> {
    match STARTED.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
        Some(Ok(_)) => Ok(()),
        Some(Err(e)) => Err(e.clone()),
        None => Err(Error::Config("DPDK is not started".into())),
    }
}

/// Names of the open devices; held while devices come and go, which DPDK takes from one thread at a time. DPDK itself would open a device
/// twice.
pub(crate) fn open_devices() -> MutexGuard<'static, Vec<String>> {
    static OPEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The command line for DPDK.
fn options(settings: &Settings) -> Result<Vec<CString>, Error> {
    check_settings(settings)?;
    let mut options: Vec<String> = vec!["splitplane".into(), "--no-telemetry".into()];
    let socket_memory = settings.eal_args.iter().find(|option| option.starts_with("--socket-"));
    if use_huge_pages(settings)? {
        options.push("--in-memory".into());
    } else {
        options.extend(["--no-huge".into(), "--no-shconf".into()]);
        if let Some(option) = socket_memory {
            return Err(Error::Config(format!("eal_args: `{option}` needs huge pages: set huge_pages = true")));
        }
    }
    if !settings.eal_args.iter().any(|option| option.starts_with("--socket-mem=")) {
        options.push(format!("-m{}", settings.memory_mib));
    }
    options.push(format!("--lcores=0@({})", cpus()?));
    let pci: Vec<&Device> = settings.devices.iter().filter(|device| device.is_pci()).collect();
    if pci.is_empty() {
        options.push("--no-pci".into());
    }
    for device in pci {
        options.push(format!("--allow={}", device.text()));
    }
    options.extend(settings.eal_args.iter().cloned());
    options.into_iter().map(|o| CString::new(o).map_err(|_| Error::Config("an option has a zero byte".into()))).collect()
}

/// Whether DPDK may be started so, as far as that can be known without starting it.
///
/// # Errors
/// [`Error::Config`] naming the setting.
pub fn check_settings(settings: &Settings) -> Result<(), Error> {
    if settings.eal_args.len() > MOST_OPTIONS {
        return Err(Error::Config(format!("eal_args: more than {MOST_OPTIONS} options")));
    }
    if settings.memory_mib == 0 || settings.memory_mib > MOST_MEMORY_MIB {
        return Err(Error::Config(format!("memory_mib {} is not between 1 and {MOST_MEMORY_MIB}", settings.memory_mib)));
    }
    let mut names: Vec<&str> = Vec::new();
    for option in &settings.eal_args {
        let name = check_option(option)?;
        if names.contains(&name) && name != "--log-level" {
            return Err(Error::Config(format!("eal_args: `{name}` is there twice")));
        }
        names.push(name);
    }
    for (i, device) in settings.devices.iter().enumerate() {
        if settings.devices[..i].iter().any(|other| other.name() == device.name()) {
            return Err(Error::Config(format!("device `{}` is there twice", device.name())));
        }
    }
    Ok(())
}

/// Name of an allowed option.
fn check_option(option: &str) -> Result<&str, Error> {
    let (name, value) = match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    };
    let shown = option.chars().take(60).collect::<String>();
    let Some((name, form)) = ALLOWED.iter().find(|(allowed, _)| *allowed == name) else {
        let names: Vec<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
        return Err(Error::Config(format!(
            "eal_args: `{}` is not among the options that may be given, as `--name=value`: {}",
            shown.escape_debug(),
            names.join(", ")
        )));
    };
    let digits = |text: &str, most: usize| (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    let fits = match (form, value) {
        (Value::None, None) => true,
        (Value::OneOf(words), Some(value)) => words.contains(&value),
        (Value::Numbers, Some(value)) => value.split(',').count() <= 8 && value.split(',').all(|n| digits(n, 7)),
        (Value::Address, Some(value)) => value.strip_prefix("0x").is_some_and(|d| (1..=16).contains(&d.len()) && hex(d)),
        (Value::Log, Some(value)) => {
            let (kind, level) = value.rsplit_once(':').unwrap_or(("*", value));
            let levels = ["emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"];
            kind.len() <= 64
                && kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._*-".contains(&b))
                && (levels.contains(&level) || level.len() == 1 && ("1"..="8").contains(&level))
        }
        (Value::Uuid, Some(value)) => value.len() == 36 && value.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && value.split('-').all(hex),
        _ => false,
    };
    if fits { Ok(name) } else { Err(Error::Config(format!("eal_args: `{}`: the value does not fit the option", shown.escape_debug()))) }
}

/// Whether to use huge pages; an error if they are requested and there are none.
fn use_huge_pages(settings: &Settings) -> Result<bool, Error> {
    let free = free_huge_mib(Path::new(HUGE_PAGES));
    let enough = free >= u64::from(settings.memory_mib);
    match settings.huge_pages {
        Some(true) if !enough => {
            let pages = settings.memory_mib.div_ceil(2);
            Err(Error::Permission(format!(
                "{free} MiB are free in huge pages, {} MiB are asked for: reserve them with `sysctl vm.nr_hugepages={pages}`, or set huge_pages = false",
                settings.memory_mib
            )))
        }
        Some(wanted) => Ok(wanted),
        None => Ok(enough),
    }
}

/// Memory in free huge pages of all sizes, in MiB.
fn free_huge_mib(folder: &Path) -> u64 {
    let sizes = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let free = sizes.filter_map(|entry| {
        let name = entry.file_name();
        let kib: u64 = name.to_str()?.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        let pages: u64 = std::fs::read_to_string(entry.path().join("free_hugepages")).ok()?.trim().parse().ok()?;
        Some(kib.saturating_mul(pages) / 1024)
    });
    free.sum()
}

/// Processors that this process may run on, as DPDK reads a list. Its one lcore floats over all of them, so that no thread is bound.
#[allow(unsafe_code)]
fn cpus() -> Result<String, Error> {
    // SAFETY: an all-zero set is a valid empty one.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: pointer and size describe `set`.
    let error = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) };
    // SAFETY: the index is within the set.
    let list: Vec<String> = (0..MOST_CPUS).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).map(|cpu| cpu.to_string()).collect();
    if error != 0 || list.is_empty() {
        return Err(Error::Config(format!("DPDK runs on none but the first {MOST_CPUS} processors: this process may use none of them")));
    }
    Ok(list.join(","))
}

#[allow(unsafe_code)]
fn run(api: &shim::Api, options: &[CString]) -> i32 {
    // DPDK keeps pointers into its command line and reorders it: it gets one that lives for ever.
    let mut pointers: Vec<*mut c_char> = options.iter().map(|option| option.clone().into_raw()).collect();
    let count = pointers.len() as i32;
    pointers.push(std::ptr::null_mut());
    // SAFETY: `count` pointers to strings of C and a null pointer, none of which is ever freed; called once, see `start`.
    unsafe { (api.eal_init)(count, pointers.leak().as_mut_ptr(), log::line) }
}

/// Makes the calling thread known to DPDK, whose memory pools then keep a cache for it, until the thread ends.
pub(crate) fn register_thread() {
    thread_local! {
        static KNOWN: RefCell<Option<Known>> = const { RefCell::new(None) };
    }
    KNOWN.with(|known| {
        if known.borrow().is_none() {
            *known.borrow_mut() = Some(Known::register());
        }
    });
}

struct Known {
    registered: bool,
}

impl Known {
    #[allow(unsafe_code)]
    fn register() -> Known {
        // Without a number the pools work too, slower: with 128 threads DPDK has no more.
        // SAFETY: changes only thread-local state of DPDK, which is started: a port exists.
        let registered = shim::api().is_ok_and(|api| unsafe { (api.thread_register)() } == 0);
        if !registered {
            tracing::warn!("DPDK has no lcore id left for this thread: its ports work without an mbuf cache");
        }
        Known { registered }
    }
}

impl Drop for Known {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        if let (true, Ok(api)) = (self.registered, shim::api()) {
            // SAFETY: of this thread, which touches no port any more.
            unsafe { (api.thread_unregister)() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(args: &[&str]) -> Settings {
        Settings { eal_args: args.iter().map(|a| (*a).to_owned()).collect(), ..Settings::default() }
    }

    #[test]
    fn options_of_the_list_pass() {
        let good = [
            "--iova-mode=va",
            "--single-file-segments",
            "--log-level=lib.eal:debug",
            "--log-level=pmd.*:8",
            "--socket-mem=512,512",
            "--vfio-vf-token=14d63f20-8445-11ea-8900-1f9ce7d5650d",
            "--base-virtaddr=0x200000000",
        ];
        check_settings(&with(&good)).unwrap();
        let line = options(&Settings { huge_pages: Some(false), ..with(&["--iova-mode=va"]) }).unwrap();
        let line: Vec<&str> = line.iter().map(|o| o.to_str().unwrap()).collect();
        assert_eq!(line[..5], ["splitplane", "--no-telemetry", "--no-huge", "--no-shconf", "-m256"]);
        assert!(line.contains(&"--no-pci") && line.last() == Some(&"--iova-mode=va"), "{line:?}");
    }

    /// Options that print and exit, load code, start other devices or processes, or are cut short.
    #[test]
    fn all_others_are_refused() {
        for bad in [
            "-h",
            "--help",
            "-v",
            "--version",
            "-d/tmp/evil.so",
            "-d=/tmp/evil.so",
            "--vdev=net_null0",
            "--proc-type=secondary",
            "--file-prefix=../../x",
            "--huge-dir=/etc",
            "--lcores=0-127",
            "--",
            "",
            "--iova-mode",
            "--iova-mode=xx",
            "--iova-mode=va --vdev=net_null0",
            "--single-file-segments=1",
            "--socket-mem=1,2,",
            "--socket-mem=99999999",
            "--log-level=lib eal:debug",
            "--log-level=",
            "--base-virtaddr=0xg",
            "--vfio-vf-token=1-2-3-4-5",
            "--legacy-mem",
            "--single-file",
            "x\0y",
        ] {
            let error = check_settings(&with(&[bad])).unwrap_err();
            assert!(matches!(&error, Error::Config(text) if text.starts_with("eal_args: ") && !text.contains('\0')), "{bad}: {error}");
        }
        assert!(check_settings(&with(&["--iova-mode=va", "--iova-mode=pa"])).unwrap_err().to_string().contains("twice"));
        assert!(check_settings(&with(&["--log-level=3"; 40])).unwrap_err().to_string().contains("more than 32"));
        let socket = options(&Settings { huge_pages: Some(false), ..with(&["--socket-mem=64"]) }).unwrap_err();
        assert!(socket.to_string().contains("needs huge pages"), "{socket}");
        assert!(check_settings(&Settings { memory_mib: 0, ..Settings::default() }).is_err());
    }

    #[test]
    fn missing_huge_pages_come_with_the_remedy() {
        let settings = Settings { huge_pages: Some(true), memory_mib: MOST_MEMORY_MIB, ..Settings::default() };
        let error = options(&settings).unwrap_err().to_string();
        assert!(error.contains("sysctl vm.nr_hugepages=524288") && error.contains("huge_pages = false"), "{error}");
        // Asked for nothing, the normal ones do.
        assert!(!use_huge_pages(&Settings { huge_pages: None, ..settings }).unwrap());
    }

    #[test]
    fn a_device_is_named_once() {
        let device = |text: &str| text.parse::<Device>().unwrap();
        let settings = Settings { devices: vec![device("net_null0,size=64"), device("net_null0,size=128")], ..Settings::default() };
        assert!(check_settings(&settings).unwrap_err().to_string().contains("twice"));
        let pci = Settings { huge_pages: Some(false), devices: vec![device("01:00.0"), device("net_null0")], ..Settings::default() };
        let line = options(&pci).unwrap();
        assert!(line.iter().any(|o| o.to_str() == Ok("--allow=0000:01:00.0")) && !line.iter().any(|o| o.to_str() == Ok("--no-pci")));
    }
}
