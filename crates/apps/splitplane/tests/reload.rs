//! Does a daemon take over a changed configuration while packets flow, all of it or nothing? As root, in network namespaces of its own; every frame that
//! comes out is compared, in order per session.

#[allow(dead_code)] // It is for other tests, too.
mod netns;

use netns::{Daemon, PATIENCE, Testbed, testbed_or_skip};
use std::time::{Duration, Instant};

const SESSIONS: u32 = 8;
/// Packets of each session and direction that are on their way, at most.
const IN_FLIGHT: usize = 16;
const BUSY: Duration = Duration::from_millis(400);

/// With a socket of its own: others may run on this machine.
fn with_socket(bed: &Testbed, config: &str) -> String {
    format!("{config}[control]\nsocket = \"{}\"\n", socket(bed))
}

fn socket(bed: &Testbed) -> String {
    bed.folder().join("control.sock").display().to_string()
}

/// `splitplane` with these arguments, on the daemon's socket, while every session has packets both ways on their way: whether it went well, and what it said.
fn ask_busy(bed: &mut Testbed, arguments: &[&str]) -> (bool, String) {
    let all: Vec<usize> = (0..SESSIONS as usize).collect();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_splitplane"));
    command.args(arguments).args(["--socket", &socket(bed)]);
    let asking = std::thread::spawn(move || command.output().unwrap());
    let end = Instant::now() + PATIENCE;
    while !asking.is_finished() {
        assert!(Instant::now() < end, "no answer");
        bed.step(&all, IN_FLIGHT);
    }
    let out = asking.join().unwrap();
    (out.status.success(), format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr)))
}

/// All of the daemon's packets by its own count: (dropped, not accounted for).
fn balance(daemon: &Daemon) -> (u64, i64) {
    let report = daemon.report();
    let dropped = report["dropped"].as_object().unwrap().values().map(|count| count["packets"].as_u64().unwrap()).sum();
    (dropped, report["imbalance"].as_i64().unwrap())
}

/// What a user on N6 at the gateway's place would notice: nothing. The default route goes by another router with the same MAC address, a firewall comes, a class
/// of traffic, a pool and a level of the log.
#[test]
fn a_configuration_changes_under_traffic_and_nothing_is_lost() {
    testbed_or_skip("a_configuration_changes_under_traffic_and_nothing_is_lost", |mut bed| {
        let config =
            with_socket(&bed, &Testbed::config("xdp", 0.5)) + "[[pool]]\nnetwork_instance = \"internet\"\nipv4 = \"10.98.0.0/24\"\n";
        let daemon = bed.start_daemon(&config);
        bed.connect();
        bed.establish(SESSIONS);
        let all: Vec<usize> = (0..SESSIONS as usize).collect();
        bed.run_busy(&all, IN_FLIGHT, BUSY);
        let changed = config.replace("policy = { share = 0.5 }", "policy = \"none\"")
            + "[log]\nfilter = \"debug\"\n\
               [[route]]\nnetwork_instance = \"internet\"\nprefix = \"203.0.113.0/24\"\nvia = \"10.6.0.2\"\n\
               [[firewall]]\naction = \"deny\"\nto = \"203.0.113.0/24\"\n\
               [[pool]]\nnetwork_instance = \"internet\"\nipv4 = \"10.99.0.0/24\"\n";
        std::fs::write(daemon.config(), &changed).unwrap();
        let (good, said) = ask_busy(&mut bed, &["reload", "--dry-run"]);
        assert!(good && said.contains("+ firewall") && said.contains("this was a dry run"), "{said}");
        let sessions = |bed: &mut Testbed| {
            let (good, said) = ask_busy(bed, &["show", "targets", "--json"]);
            assert!(good, "{said}");
            serde_json::from_str::<serde_json::Value>(&said).unwrap()["xdp"]["sessions"].as_u64().unwrap()
        };
        let before = sessions(&mut bed);
        assert!(before > 0, "a dry run changes nothing");
        let (good, said) = ask_busy(&mut bed, &["reload"]);
        assert!(good && said.contains("split.policy: { share = 0.5 } -> \"none\"") && said.ends_with("done\n"), "{said}");
        // They leave XDP, under traffic.
        let end = Instant::now() + PATIENCE;
        while sessions(&mut bed) > 0 {
            assert!(Instant::now() < end, "sessions stay in XDP");
        }
        bed.run_busy(&all, IN_FLIGHT, BUSY);
        // And back; the daemon is told by a signal.
        std::fs::write(daemon.config(), &config).unwrap();
        daemon.signal("-HUP");
        while sessions(&mut bed) < before {
            assert!(Instant::now() < end, "sessions do not come back");
        }
        bed.run_busy(&all, IN_FLIGHT, BUSY);
        assert_eq!(balance(&daemon), (0, 0));
        let offered = bed.offered.clone();
        let charged = bed.delete_sessions();
        for (n, offered) in offered.iter().enumerate() {
            assert_eq!(charged[&bed.ue(n)], offered.bytes, "session {n}");
        }
        let report = daemon.stop();
        assert_eq!(report["dropped"].as_object().unwrap().len(), 0, "{report:#}");
    });
}

#[test]
fn a_wrong_file_changes_nothing_and_its_error_names_the_key() {
    testbed_or_skip("a_wrong_file_changes_nothing_and_its_error_names_the_key", |mut bed| {
        let config = with_socket(&bed, &around());
        let daemon = bed.start_daemon(&config);
        bed.connect();
        bed.establish(SESSIONS);
        // A firewall that would drop everything, beside each fault.
        let deny = "[[firewall]]\naction = \"deny\"\n";
        for (fault, names) in [
            ("[[route]]\nnetwork_instance = \"internet\"\nprefix = \"0.0.0.0/0\"\nvia = \"192.0.2.1\"\n", "route["),
            ("[[pool]]\nipv4 = \"10.45.0.1/16\"\n", "pool["),
            ("[log]\nfilter = \"pfcp=loud\"\n", "log.filter"),
            ("[workers]\ncount = 2\n", "a restart is needed for workers.count"),
            ("[[firewall]]\naction = \"allow\"\n", "firewall[1].action"),
            ("nonsense\n", "no TOML"),
        ] {
            std::fs::write(daemon.config(), format!("{config}{deny}{fault}")).unwrap();
            let (good, said) = ask_busy(&mut bed, &["reload"]);
            assert!(!good && said.contains(names) && said.contains("nothing was changed"), "{fault}: {said}");
        }
        bed.run_traffic(200);
        assert_eq!(balance(&daemon), (0, 0));
        // The rule alone: now it drops.
        std::fs::write(daemon.config(), format!("{config}{deny}")).unwrap();
        let (good, said) = ask_busy_of_none(&bed);
        assert!(good, "{said}");
        bed.send_in_vain(20);
        let end = Instant::now() + PATIENCE;
        while balance(&daemon) != (20, 0) {
            assert!(Instant::now() < end, "{:#}", daemon.report()["dropped"]);
        }
    });
}

fn ask_busy_of_none(bed: &Testbed) -> (bool, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_splitplane"));
    let out = command.args(["reload", "--socket", &socket(bed)]).output().unwrap();
    (out.status.success(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// x86 alone.
fn around() -> String {
    let config = Testbed::config("xdp", 1.0);
    config.split("[split]").next().unwrap().to_owned()
}
