//! The account at the end: what kernels, gNodeB, UPF and SMF counted must be one number.

use cli::failure::Failure;
use daemon::manage::report::Report;
use std::net::Ipv4Addr;

/// Checks, printed as they are made.
#[derive(Default)]
pub(super) struct Checks {
    failed: Vec<String>,
    passed: usize,
    not_made: usize,
}

impl Checks {
    /// Notes one check, with what was seen.
    pub(super) fn check(&mut self, ok: bool, what: &str, seen: &str) {
        println!("  {} {what}{}{seen}", if ok { "ok  " } else { "FAIL" }, if seen.is_empty() { "" } else { ": " });
        if ok {
            self.passed += 1;
        } else {
            self.failed.push(what.to_owned());
        }
    }

    /// Notes a check that could not be made, and why: it has neither passed nor failed.
    pub(super) fn not_made(&mut self, what: &str, why: &str) {
        println!("  --   {what}: {why}");
        self.not_made += 1;
    }

    /// Notes that two counts must be equal.
    pub(super) fn equal(&mut self, what: &str, left: (&str, u64), right: (&str, u64)) {
        let seen = if left.1 == right.1 {
            format!("{} = {} = {}", left.0, right.0, left.1)
        } else {
            format!("{} {} but {} {}", left.0, left.1, right.0, right.1)
        };
        self.check(left.1 == right.1, what, &seen);
    }

    /// How many have passed, have failed, and were not made.
    #[cfg(test)]
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        (self.passed, self.failed.len(), self.not_made)
    }

    /// The outcome.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let not_made = if self.not_made > 0 { format!(", {} not made", self.not_made) } else { String::new() };
        println!("\n{} passed, {} failed{not_made}", self.passed, self.failed.len());
        if self.failed.is_empty() { Ok(()) } else { Err(Failure::Failed(format!("failed: {}", self.failed.join("; ")))) }
    }
}

/// The same session, as each party counted its bytes of user IP packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SessionBytes {
    /// UE.
    pub ue: Option<Ipv4Addr>,
    /// Name of the party and bytes (uplink, downlink): from the UE towards the SMF.
    pub parties: Vec<(&'static str, u64, u64)>,
}

/// Checks that all parties agree on every session, to the byte, but for `lost` bytes of downlink packets: a link between two of them has counted
/// those as lost, so that the parties nearer to the UEs have not seen them.
pub(super) fn sessions_agree(checks: &mut Checks, sessions: &[SessionBytes], lost: u64) {
    let names: Vec<&str> = sessions.first().map(|s| s.parties.iter().map(|p| p.0).collect()).unwrap_or_default();
    let missed = |s: &SessionBytes| s.parties.last().map_or(0, |far| far.2) - s.parties.first().map_or(0, |near| near.2);
    let in_order = |s: &&SessionBytes| s.parties.windows(2).all(|w| w[0].1 == w[1].1 && w[0].2 <= w[1].2);
    let missing: u64 = sessions.iter().filter(in_order).map(missed).sum();
    let agrees = |s: &&SessionBytes| in_order(s) && (missing == lost || missed(s) == 0);
    let bad: Vec<&SessionBytes> = sessions.iter().filter(|s| !agrees(s)).collect();
    for session in bad.iter().take(5) {
        let ue = session.ue.map_or_else(|| "?".to_owned(), |a| a.to_string());
        let counts: Vec<String> = session.parties.iter().map(|(n, up, down)| format!("{n} {up}/{down}")).collect();
        println!("       session {ue}, bytes up/down: {}", counts.join(", "));
    }
    let sum = |f: fn(&(&str, u64, u64)) -> u64| sessions.iter().filter_map(|s| s.parties.first()).map(f).sum::<u64>();
    let less =
        if lost == 0 { String::new() } else { format!("; {missing} B down were lost behind the UPF, and {lost} B by its port's count") };
    let seen = format!(
        "{} of {} sessions; {} B up, {} B down in all{less}",
        sessions.len() - bad.len(),
        sessions.len(),
        sum(|p| p.1),
        sum(|p| p.2)
    );
    let all = !sessions.is_empty() && bad.is_empty() && missing == lost;
    checks.check(all, &format!("bytes by session agree: {}", names.join(" = ")), &seen);
}

/// Checks that hold for any run of the UPF: the ledger, the reasons, every target with sessions at work.
pub(super) fn upf_is_sound(checks: &mut Checks, report: &Report) {
    checks.equal("every packet is accounted for", ("unaccounted packets", report.imbalance.unsigned_abs()), ("none", 0));
    checks.equal("no packet still waits in a buffer", ("buffered", report.buffered.packets), ("released", report.released.packets));
    let nameless = report.dropped.get("none").map_or(0, |c| c.packets);
    let by_program = report.dropped.iter().map(|(reason, c)| (reason, c.packets));
    let by_host = report.refused.iter().map(|(reason, n)| (reason, *n));
    let drops: Vec<String> = by_program.chain(by_host).map(|(reason, n)| format!("{reason} {n}")).collect();
    checks.check(nameless == 0, "no drop without a reason", &if drops.is_empty() { "no drops".into() } else { drops.join(", ") });
    for (name, target) in &report.targets {
        if report.sessions.iter().all(|session| session.target != *name) {
            continue;
        }
        let label = if target.modelled { format!("{name} (modelled)") } else { name.clone() };
        let seen = format!("{} packets up, {} down", target.uplink.packets, target.downlink.packets);
        checks.check(target.uplink.packets > 0 && target.downlink.packets > 0, &format!("target {label} carried both directions"), &seen);
    }
}
