//! How much of the processors had others, while something was measured? The evidence for a figure that a busy machine has spoilt.

use std::collections::HashMap;

/// Clock ticks of all processors: in all, and those that programs had, with those of other machines on the same processors. Interrupts are nobody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    all: u64,
    stolen: u64,
    programs: u64,
}

/// Where the processors' clocks stand.
pub(super) struct Processors {
    ticks: Ticks,
    ours: u64,
}

impl Processors {
    /// As they stand; `None`: this kernel does not say.
    pub(super) fn now() -> Option<Processors> {
        let ticks = ticks(&std::fs::read_to_string("/proc/stat").ok()?)?;
        let stats = std::fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| {
            let is_process = entry.file_name().to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
            // It may have ended meanwhile.
            is_process.then(|| std::fs::read_to_string(entry.path().join("stat")).ok()).flatten()
        });
        Some(Processors { ticks, ours: of_tree(std::process::id(), stats.filter_map(|stat| process(&stat))) })
    }

    /// The share of the processors' time since then that others had: programs that neither we nor processes of ours have started, and other machines.
    pub(super) fn others_since(&self, before: &Processors) -> f64 {
        let (now, then) = (self.ticks, before.ticks);
        // Rounded apart, so that the difference may be a tick less than none.
        let programs = (now.programs - then.programs).saturating_sub(self.ours.saturating_sub(before.ours));
        (programs + now.stolen - then.stolen) as f64 / (now.all - then.all).max(1) as f64
    }
}

/// The first line of /proc/stat (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal.
fn ticks(text: &str) -> Option<Ticks> {
    let fields: Vec<u64> = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().map_while(|field| field.parse().ok()).collect();
    let [user, nice, system, _, _, _, _, stolen, ..] = fields[..] else { return None };
    Some(Ticks { all: fields[..8].iter().sum(), stolen, programs: user + nice + system })
}

/// Of /proc/PID/stat (proc_pid_stat(5)): process, parent, and ticks with those of children that it has waited for.
fn process(text: &str) -> Option<(u32, u32, u64)> {
    // The name may have spaces and parentheses.
    let (head, tail) = (text.split_once(' ')?.0, text.rsplit_once(')')?.1);
    let fields: Vec<&str> = tail.split_whitespace().collect();
    let ticks = fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some((head.parse().ok()?, fields.get(1)?.parse().ok()?, ticks))
}

/// Ticks of a process and of all below it.
fn of_tree(root: u32, processes: impl Iterator<Item = (u32, u32, u64)>) -> u64 {
    let (mut children, mut ticks) = (HashMap::<u32, Vec<u32>>::new(), HashMap::new());
    for (process, parent, spent) in processes {
        children.entry(parent).or_default().push(process);
        ticks.insert(process, spent);
    }
    let (mut sum, mut left) = (0, vec![root]);
    while let Some(process) = left.pop() {
        sum += ticks.remove(&process).unwrap_or(0);
        left.extend(children.remove(&process).unwrap_or_default());
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_had_is_told_from_what_we_had() {
        let at = |user: u64, steal: u64, idle: u64| ticks(&format!("cpu  {user} 5 15 {idle} 1 0 9 {steal} 0 0\ncpu0 1 2 3\n")).unwrap();
        assert_eq!(at(100, 0, 1000), Ticks { all: 1130, stolen: 0, programs: 120 });
        let before = Processors { ticks: at(100, 0, 1000), ours: 50 };
        let alone = Processors { ticks: at(180, 0, 1020), ours: 130 };
        assert_eq!(alone.others_since(&before), 0.0);
        let beside = Processors { ticks: at(160, 20, 1020), ours: 70 };
        assert_eq!(beside.others_since(&before), 0.6);
        assert_eq!(ticks("cpu 1 2 3\n"), None);
    }

    #[test]
    fn a_tree_of_processes_is_summed_with_what_they_have_waited_for() {
        let line = |id: u32, parent: u32, name: &str| format!("{id} ({name}) S {parent} 1 1 0 -1 4194304 1 2 3 4 1 2 30 400 20 0 1 0");
        assert_eq!(process(&line(7, 3, "a) S (b")), Some((7, 3, 433)));
        assert_eq!(process("7 (short) S 3 1"), None);
        let of = [(7, 3), (8, 7), (9, 8), (4, 1), (3, 1)].map(|(id, parent)| (id, parent, u64::from(id)));
        assert_eq!((of_tree(7, of.into_iter()), of_tree(3, of.into_iter()), of_tree(2, of.into_iter())), (24, 27, 0));
    }

    #[test]
    fn this_machine_says_it() {
        let before = Processors::now().unwrap();
        let mut sum = 0u64;
        while Processors::now().unwrap().ours < before.ours + 5 {
            sum = (0..1_000_000u64).fold(sum, |sum, n| sum.rotate_left(1) ^ n);
        }
        std::hint::black_box(sum);
        let share = Processors::now().unwrap().others_since(&before);
        assert!((0.0..1.0).contains(&share), "{share}");
    }
}
