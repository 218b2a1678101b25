//! `splitplane-lab attack`: the daemon under attack, with honest users beside it, in namespaces of our own. What holds, and what does not.
//!
//! Attacks are data ([`list`]): frames ([`frames`]), or code ([`acts`]). [`ground`] has the daemon, the SMF and its heartbeats,
//! [`users`] the honest traffic that is counted.

mod acts;
mod frames;
mod ground;
mod list;
mod users;

use cli::failure::Failure;
use ground::{Beats, Ground, Heart};
use list::{ATTACKS, Attack, Doing, MayLose};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use users::Count;

/// Options of `attack`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Prints the list.
    #[arg(long)]
    list: bool,
    /// Only these attacks, by name or prefix, e.g. `n4-`.
    #[arg(long)]
    only: Vec<String>,
    /// Fewer, shorter and slower attacks; times are printed but not checked.
    #[arg(long)]
    short: bool,
    /// Target of the daemon.
    #[arg(long, value_enum)]
    target: Vec<Target>,
    /// Folder for configurations, reports and logs.
    #[arg(long, default_value = "out/attack")]
    out: PathBuf,
}

/// `--target`.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// x86 over AF_XDP.
    X86,
    /// XDP in front of it, half of the sessions there.
    Xdp,
}

/// Longest that an SMF may wait for a heartbeat's answer.
const ANSWER: Duration = Duration::from_millis(100);
/// Memory may stay above what it was by so much: a tenth, and pages that an allocator keeps.
const MEMORY: (f64, u64) = (1.1, 2048);
/// How long memory has to come back.
const MEMORY_PATIENCE: Duration = Duration::from_secs(5);
/// After an attack packets flow again within so long, or the daemon does not recover by itself.
const RECOVERY: Duration = Duration::from_secs(60);
/// Frames of others (ARP, neighbour discovery, what was in flight) in a count of frames that left, at most.
const BACKGROUND: u64 = 100;
/// Honest traffic before and after each attack.
const CALM: Duration = Duration::from_millis(200);

/// What one attack came to.
struct Row {
    honest: Count,
    beats: Beats,
    memory_kib: (u64, u64),
    /// Why it does not hold.
    faults: Vec<String>,
}

/// Runs the list. Success only if everything holds.
pub fn attack(args: &Args) -> Result<(), Failure> {
    let chosen = |a: &&Attack| {
        let wanted = args.only.is_empty() || args.only.iter().any(|name| a.name.starts_with(name.as_str()));
        wanted && (a.short || !args.short || !args.only.is_empty())
    };
    let attacks: Vec<&Attack> = ATTACKS.iter().filter(chosen).collect();
    if attacks.is_empty() {
        return Err(Failure::Usage(format!("--only {}: there is no such attack; --list prints them", args.only.join(" "))));
    }
    if args.list {
        for a in &attacks {
            println!("{:<24} {:<10} {}  {}", a.name, format!("{:?}", a.from), if a.short { "short" } else { "     " }, a.what);
        }
        return Ok(());
    }
    if let Some(why) = crate::demo::lacks_root() {
        return Err(Failure::Usage(format!("{why}: attacks are run in network namespaces of our own, which take root")));
    }
    let targets = if args.target.is_empty() { vec![Target::X86, Target::Xdp] } else { args.target.clone() };
    let mut failed = Vec::new();
    for target in targets {
        let out = args.out.join(format!("{target:?}").to_lowercase());
        std::fs::create_dir_all(&out).map_err(|e| Failure::Usage(format!("cannot create {}: {e}", out.display())))?;
        let out = out.canonicalize().map_err(|e| Failure::Usage(format!("{}: {e}", out.display())))?;
        let name = match target {
            Target::X86 => "x86 over AF_XDP",
            Target::Xdp => "XDP in front of x86",
        };
        println!(
            "{name}\n{:<24} {:>8} {:>6} {:>7} {:>5} {:>9} {:>15}  verdict",
            "attack", "honest", "lost", "", "late", "heartbeat", "memory, MiB"
        );
        let mut ground = Ground::make(&out, target)?;
        failed.extend(run(&mut ground, &attacks, args.short)?.into_iter().map(|attack| format!("{attack} on {target:?}").to_lowercase()));
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::Failed(format!("{} do not hold: {}", failed.len(), failed.join(", ")))) }
}

/// Runs attacks on one ground; the names of those that do not hold.
fn run(ground: &mut Ground, attacks: &[&Attack], short: bool) -> Result<Vec<String>, Failure> {
    let mut failed = Vec::new();
    // As long as heartbeats are answered in time without an attack, it is the attack that delays them.
    let mut judge_time = !short;
    for attack in attacks {
        ground.daemon()?;
        let row = one(ground, attack, short)?;
        let mut faults = row.faults;
        if judge_time && row.beats.longest > ANSWER + attack.stopped {
            if attack.name == "none" {
                judge_time = false;
                println!(
                    "This machine is busy: a heartbeat took {:?} without any attack. Times are printed and do not decide.",
                    row.beats.longest
                );
            } else {
                faults.push(format!("a heartbeat took {:.0} ms", row.beats.longest.as_secs_f64() * 1e3));
            }
        }
        let mib = |kib: u64| kib as f64 / 1024.0;
        println!(
            "{:<24} {:>8} {:>6} {:>6.2}% {:>5} {:>6.1} ms {:>6.1} -> {:>5.1}  {}",
            attack.name,
            row.honest.sent,
            row.honest.lost(),
            row.honest.share() * 100.0,
            row.honest.reordered,
            row.beats.longest.as_secs_f64() * 1e3,
            mib(row.memory_kib.0),
            mib(row.memory_kib.1),
            if faults.is_empty() { "holds".to_owned() } else { format!("FAILS: {}", faults.join("; ")) }
        );
        let bad = !faults.is_empty();
        if bad {
            failed.push(attack.name.to_owned());
        }
        // What an attack has broken is not to be held against the next one.
        if (bad || attack.last) && !ledger(ground) {
            failed.push(format!("ledger after {}", attack.name));
        }
    }
    if ground.daemon.is_some() && !ledger(ground) {
        failed.push("ledger".into());
    }
    Ok(failed)
}

/// Ends the daemon, and looks whether every packet is accounted for.
fn ledger(ground: &mut Ground) -> bool {
    let begin = Instant::now();
    let said = match ground.end() {
        Ok(Some(report)) if report.imbalance == 0 => {
            let took = begin.elapsed();
            let received: u64 = report.ports.values().map(|port| port.received.packets).sum();
            let dropped: u64 = report.dropped.values().map(|count| count.packets).sum();
            let reasons = report.dropped.len();
            println!(
                "{:<24} balanced: {received} packets received, {dropped} dropped for {reasons} reasons; ended in {took:.1?}",
                "ledger"
            );
            return true;
        }
        Ok(Some(report)) => format!("{} packets are not accounted for", report.imbalance),
        Ok(None) => return true,
        Err(why) => why.to_string(),
    };
    println!("{:<24} FAILS: {said}", "ledger");
    false
}

/// Frames that have left by the interface that an attacker at N3 or N6 does not see.
fn left_behind(ground: &Ground, from_n3: bool) -> Result<u64, Failure> {
    let (far, interface) = if from_n3 { (&ground.net.dn, "n6") } else { (&ground.net.ran, "n3") };
    Ok(ground::came(far, interface)?.0)
}

/// Runs one attack beside honest traffic.
fn one(ground: &mut Ground, attack: &Attack, short: bool) -> Result<Row, Failure> {
    let scale = acts::Scale {
        count: attack.count,
        time: if short { Duration::from_millis(250) } else { Duration::from_secs(3) },
        calm: if short { Duration::from_millis(60) } else { CALM },
        rate: if short { 2000 } else { 20_000 },
    };
    let from_n3 = attack.from == list::Vantage::N3;
    let left_before = left_behind(ground, from_n3)?;
    let daemon = ground.daemon()?;
    let before_kib = daemon.memory_kib().unwrap_or(0);
    let heart = Heart::start(daemon.smf.clone());
    let traffic = ground.users.start();
    std::thread::sleep(scale.calm);
    let mut faults = Vec::new();
    let done = match attack.doing {
        Doing::Nothing => {
            std::thread::sleep(scale.time);
            Ok(Vec::new())
        }
        Doing::Act(act) => act(ground, &scale),
        Doing::Flood(make) => ground.send_frames(from_n3, make, None, scale.time).map(|_| Vec::new()),
        Doing::Frames { make, .. } => ground.send_frames(from_n3, make, Some(scale.rate), scale.time).map(|_| Vec::new()),
    };
    match done {
        Ok(achieved) => faults.extend(achieved),
        Err(why) => faults.push(why.to_string()),
    }
    let may_lose = list::may_lose(attack);
    let alive = ground.daemon()?.part.lives();
    if may_lose == MayLose::Meanwhile && alive {
        let begin = Instant::now();
        if !traffic.flows_again(RECOVERY) {
            faults.push(format!("packets of some users do not flow again within {:.0} s", begin.elapsed().as_secs_f64()));
        }
    }
    std::thread::sleep(scale.calm);
    let beats = if alive { Some(heart) } else { None };
    let (honest, received) = traffic.stop();
    if let Doing::Frames { stays_out: true, .. } = attack.doing {
        let honest = if from_n3 { received.0 } else { received.1 };
        let through = (left_behind(ground, from_n3)? - left_before).saturating_sub(honest);
        if through > BACKGROUND {
            faults.push(format!("{through} frames of it went through"));
        }
    }
    let beats = beats.map(Heart::stop).unwrap_or_default();
    let daemon = ground.daemon()?;
    let mut after_kib = daemon.memory_kib().unwrap_or(0);
    // What many attacks add up to is looked at, too.
    let most = (before_kib.min(daemon.started_kib) as f64 * MEMORY.0) as u64 + MEMORY.1;
    let end = Instant::now() + MEMORY_PATIENCE;
    while after_kib > most && Instant::now() < end {
        std::thread::sleep(CALM);
        after_kib = daemon.memory_kib().unwrap_or(0);
    }
    if !daemon.part.lives() {
        faults.insert(0, format!("the daemon is gone: {}", daemon.part.last_words()));
        return Ok(Row { honest, beats, memory_kib: (before_kib, after_kib), faults });
    }
    if after_kib > most {
        let percent = |of: u64| after_kib as f64 / of.max(1) as f64 * 100.0;
        faults.push(format!(
            "memory is {:.0} % of what it was, {:.0} % of that at start",
            percent(before_kib),
            percent(daemon.started_kib)
        ));
    }
    if beats.unanswered > 0 || beats.answered == 0 {
        faults.push(format!("{} heartbeats unanswered, {} answered", beats.unanswered, beats.answered));
    }
    let lost = match may_lose {
        MayLose::Nothing => honest.lost() > 0,
        MayLose::Share(share) => honest.share() >= share,
        MayLose::Meanwhile => false,
    };
    if lost {
        faults.push(format!("honest users lost {} of {} packets", honest.lost(), honest.sent));
    }
    if honest.reordered > 0 || honest.twice > 0 {
        faults.push(format!("{} honest packets overtaken, {} doubled", honest.reordered, honest.twice));
    }
    Ok(Row { honest, beats, memory_kib: (before_kib, after_kib), faults })
}
