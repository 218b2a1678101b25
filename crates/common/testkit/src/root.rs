//! May this test make interfaces and network namespaces? If not, it says so.

/// CAP_NET_ADMIN's bit (capabilities(7)).
const CAP_NET_ADMIN: u32 = 12;

/// Whether the process has CAP_NET_ADMIN. If not, prints `skipped: needs root (CAP_NET_ADMIN): <test_name>`; the test returns.
///
/// ```no_run
/// # fn test() {
/// if !testkit::root_or_skip("two_namespaces_talk") {
///     return;
/// }
/// # }
/// ```
pub fn root_or_skip(test_name: &str) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let able = effective(&status).is_some_and(|capabilities| capabilities & 1 << CAP_NET_ADMIN != 0);
    if !able {
        crate::skip::tell("needs root (CAP_NET_ADMIN)", test_name);
    }
    able
}

/// The effective capabilities in the text of /proc/self/status (proc_pid_status(5)).
fn effective(status: &str) -> Option<u64> {
    let digits = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(digits.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effective_set_counts() {
        assert_eq!(effective("Name:\tx\nCapPrm:\t0000000000001000\nCapEff:\t0000000000000400\n"), Some(0x400));
        assert_eq!(effective("CapEff:\t000001ffffffffff\n"), Some(0x1ff_ffff_ffff));
        assert_eq!(effective("Name:\tx\n"), None);
        assert_eq!(effective("CapEff:\tnone\n"), None);
    }

    #[test]
    fn the_kernel_tells_ours() {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let able = effective(&status).unwrap() & 1 << CAP_NET_ADMIN != 0;
        assert_eq!(root_or_skip("the_kernel_tells_ours"), able);
    }
}
