//! What the log says: SEIDs are text there too, as a number of JSON has 53 bits for many readers; and what nobody is answered is in the log.

mod common;

use common::*;
use pfcp::codec::{Cause, Ie, MessageType, NodeId, SmfSetId, Volume};
use pfcp::config::{AllowedPeers, Config, Network};
use std::io::Write;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn seids_are_text_in_the_log_as_they_are_everywhere() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().json().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    let seid = tracing::subscriber::with_default(subscriber, || {
        let mut bench = Bench::new();
        let (seid, _) = bench.establish(simple_session(u64::MAX - 1, 0x101, [10, 45, 0, 2], Vec::new()));
        // One that there is not is rejected, and the line says which.
        bench.modify(seid ^ 1, Vec::new());
        bench.delete(seid);
        seid
    });
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let values: Vec<&str> = text.match_indices("seid\":").map(|(at, name)| &text[at + name.len()..]).collect();
    assert!(values.len() >= 3, "{text}");
    assert!(values.iter().all(|value| value.starts_with("\"0x") || value.starts_with("\"\"")), "{text}");
    for named in [seid, seid ^ 1, u64::MAX - 1] {
        assert!(text.contains(&format!("\"{named:#x}\"")), "{named:#x} is not in {text}");
    }
}

/// Each is accepted, and neither is told that it does not act for the other's sessions.
#[test]
fn smfs_of_a_set_that_the_operator_lists_apart_are_named_in_the_log_and_others_are_not() {
    let second = Ipv4Addr::new(127, 0, 0, 66);
    let entries = |lists: &[&[Ipv4Addr]]| {
        let networks = |list: &&[Ipv4Addr]| list.iter().map(|address| Network::one((*address).into())).collect();
        lists.iter().map(|list| AllowedPeers { networks: networks(list), together: false }).collect()
    };
    let first = Ipv4Addr::new(127, 0, 0, 4);
    for (peers, set, apart) in [
        (entries(&[&[first], &[second]]), "a", true),
        (entries(&[&[first, second]]), "a", false),
        (entries(&[&[first], &[second]]), "b", false),
    ] {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt().json().with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, || {
            let mut bench = Bench::alone(Config { peers, ..config() });
            let of_set = |name: &str| vec![Ie::SmfSetId(SmfSetId(name.into()))];
            bench.ask(MessageType::AssociationSetupRequest, None, [setup_ies(SMF_STARTED), of_set("a")].concat());
            bench.smf.set_ip(second.into());
            let own = vec![Ie::NodeId(NodeId::Ipv4(second)), Ie::RecoveryTimeStamp(SMF_STARTED)];
            bench.ask(MessageType::AssociationSetupRequest, None, [own, of_set(set)].concat());
        });
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert!(text.contains("associated"), "{text}");
        assert_eq!(text.contains("SMFs of one set"), apart, "{text}");
    }
}

/// What is lost of a session is said in one line, which says whose it was.
#[test]
fn usage_that_cannot_be_reported_names_its_session_once() {
    const VOLTH: u32 = 1 << 1;
    let threshold = || vec![urr(1, VOLTH, vec![Ie::VolumeThreshold(Volume { total: Some(1000), ..Volume::default() })])];
    let logged = |act: &dyn Fn(&mut Bench, u64)| {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt().json().with_max_level(tracing::Level::WARN).with_writer(move || writer.clone()).finish();
        let seid = tracing::subscriber::with_default(subscriber, || {
            let mut bench = Bench::new();
            let (seid, _) = bench.establish(simple_session(7, 0x101, [10, 45, 0, 2], threshold()));
            act(&mut bench, seid);
            assert_eq!(bench.node.session_count(), 0);
            seid
        });
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let told: Vec<String> = text.lines().filter(|line| line.contains("cannot be reported")).map(str::to_owned).collect();
        assert_eq!(told.len(), 1, "{text}");
        assert_eq!(told[0].matches(&format!("{seid:#x}")).count(), 1, "{}", told[0]);
        told[0].clone()
    };
    // The CP function says to a report that it does not know the session, of which more has been measured meanwhile.
    let line = logged(&|bench, seid| {
        bench.count(seid, 1, 600, 600);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        let report = bench.sent_one();
        bench.count(seid, 1, 700, 700);
        bench.answer(&report, vec![Ie::Cause(Cause::SESSION_CONTEXT_NOT_FOUND)]);
    });
    assert!(line.contains("\"reports\":2"), "{line}");
    // It has restarted.
    let line = logged(&|bench, seid| {
        bench.count(seid, 1, 100, 100);
        bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED + 1));
        bench.pass(std::time::Duration::ZERO);
    });
    assert!(line.contains("restarted") && line.contains("\"reports\":1"), "{line}");
}

#[test]
fn what_is_not_answered_is_named_without_what_is_in_it() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().json().with_max_level(tracing::Level::WARN).with_writer(move || writer.clone()).finish();
    tracing::subscriber::with_default(subscriber, || {
        let mut bench = Bench::new();
        let threshold = urr(1, 1 << 1, vec![Ie::VolumeThreshold(Volume { total: Some(1000), ..Volume::default() })]);
        let (seid, _) = bench.establish(simple_session(7, 0x101, [10, 45, 0, 2], vec![threshold]));
        bench.count(seid, 1, 600, 600);
        // The CP function answers nothing any more.
        let pass = |bench: &mut Bench| {
            for _ in 0..60 {
                bench.pass(std::time::Duration::from_secs(1));
                bench.node.poll_usage(bench.now, &mut bench.plane);
                bench.sent();
            }
        };
        pass(&mut bench);
        bench.count(seid, 1, 700, 700);
        bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
        pass(&mut bench);
    });
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let told: Vec<&str> = text.lines().filter(|line| line.contains("no response to a request of ours")).collect();
    for about in ["\"about\":\"usage of session 0x", "\"about\":\"final usage, CP SEID 0x7 of 127.0.0.4, 1 reports\""] {
        assert!(told.iter().any(|line| line.contains(about)), "{about} is not in {text}");
    }
    assert!(told.iter().all(|line| line.contains("\"to\":\"127.0.0.4:8805\"") && !line.contains('[') && line.len() < 300), "{told:?}");
}
