//! Names that no other test, running now on this machine, has taken: for interfaces, namespaces, files.

use std::sync::atomic::{AtomicU32, Ordering};

/// Longest name of a network interface (IFNAMSIZ without its NUL).
pub const IFNAME_MAX: usize = 15;

/// `prefix` and a few letters and digits, at most [`IFNAME_MAX`] bytes: the prefix is cut if need be.
///
/// Unique by the process's number and a count in it; a name left behind by a process long gone may come again.
pub fn unique_name(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    name(prefix, std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn name(prefix: &str, process: u32, count: u32) -> String {
    // A dash keeps process 1, count 23 apart from process 12, count 3.
    let own = format!("{}-{}", base36(process), base36(count));
    let mut room = IFNAME_MAX.saturating_sub(own.len()).min(prefix.len());
    while !prefix.is_char_boundary(room) {
        room -= 1;
    }
    format!("{}{own}", &prefix[..room])
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_differ_and_fit_an_interface() {
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| (0..100).map(|_| unique_name("veth")).collect::<Vec<_>>())).collect();
        let names: Vec<String> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 400);
        assert!(names.iter().all(|name| name.starts_with("veth") && name.len() <= IFNAME_MAX), "{names:?}");
    }

    #[test]
    fn the_prefix_gives_way() {
        // The largest process number of Linux (proc_sys_kernel(5)), and a large count.
        let own = "2hwcg-zzz";
        assert_eq!(name("sp", 4_194_304, 46_655), format!("sp{own}"));
        assert_eq!(name("a-long-prefix", 4_194_304, 46_655), format!("a-long{own}"));
        assert_eq!(name("größe", 4_194_304, 46_655), format!("größ{own}"));
        assert_eq!(name("größß", 4_194_304, 46_655), format!("größ{own}"), "not half a letter");
        assert_eq!(name("x", u32::MAX, u32::MAX).len(), IFNAME_MAX);
        assert_ne!(name("", 1, 36 * 2 + 3), name("", 36 + 2, 3));
    }
}
