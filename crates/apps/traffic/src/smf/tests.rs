//! The SMF against this repository's own PFCP node over loopback UDP, with a user plane that only remembers.

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::Instant;

use pfcp::config::{GtpuAddress, RequestPort, UePool};
use pfcp::node::Node;
use pfcp::rules::{self as upf_rules, CommitError, Interface, OuterHeader, Seid, SessionRules, UserPlane};
use wire::gtpu;

use super::*;
use crate::plan::{Charging, Filter, Qos};

/// How long anything may take that does not depend on how busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);
const N3: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);
const GNB: Tunnel = Tunnel { addr: Ipv4Addr::new(10, 3, 0, 2), teid: 0x77 };

/// A user plane that remembers.
#[derive(Default)]
struct Recorder {
    rules: BTreeMap<Seid, SessionRules>,
    usage: BTreeMap<(Seid, u32), upf_rules::Usage>,
    end_markers: Vec<OuterHeader>,
}

impl UserPlane for Recorder {
    fn commit(&mut self, seid: Seid, new: Option<&SessionRules>) -> Result<Vec<(u32, upf_rules::Usage)>, CommitError> {
        let old = self.rules.remove(&seid);
        self.rules.extend(new.map(|new| (seid, new.clone())));
        let gone = old.into_iter().flat_map(|old| old.urrs.into_keys()).filter(|id| new.is_none_or(|new| !new.urrs.contains_key(id)));
        Ok(gone.map(|id| (id, self.usage.get(&(seid, id)).copied().unwrap_or_default())).collect())
    }

    fn usage(&mut self, seid: Seid, urr_id: u32) -> upf_rules::Usage {
        self.usage.get(&(seid, urr_id)).copied().unwrap_or_default()
    }

    fn packets(&mut self, _: Seid) -> u64 {
        0
    }

    fn send_end_marker(&mut self, to: OuterHeader) {
        self.end_markers.push(to);
    }

    fn commit_dropping(&mut self, seid: Seid, new: &SessionRules) -> Result<Vec<(u32, upf_rules::Usage)>, CommitError> {
        self.commit(seid, Some(new))
    }

    fn counters(&mut self, seid: Seid, urr_id: u32) -> upf_rules::Counters {
        upf_rules::Counters { usage: self.usage(seid, urr_id), lasting: None }
    }

    fn outlasts(&self) -> bool {
        false
    }

    fn continue_lasting(&mut self, _: Seid, _: u32, _: &upf_rules::Counters) {}

    fn limit_usage(&mut self, _: Seid, _: u32, _: upf_rules::VolumeLimit) -> Result<(), CommitError> {
        Ok(())
    }

    fn continue_usage(&mut self, _: Seid, _: u32, _: upf_rules::Usage) {}

    fn carried(&mut self) -> Option<u64> {
        None
    }

    fn drop_buffered(&mut self, _: Seid) {}
}

/// A node with its socket and thread.
struct TestUpf {
    address: SocketAddr,
    inside: Arc<Mutex<(Node, Recorder)>>,
    began: Instant,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl TestUpf {
    fn start(change: impl FnOnce(&mut pfcp::config::Config)) -> TestUpf {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        let address = socket.local_addr().unwrap();
        let mut config = pfcp::config::Config::new(NodeId::Ipv4(Ipv4Addr::LOCALHOST), address.ip(), 1000);
        config.request_port = RequestPort::Source;
        config.heartbeat_period = None;
        let gtpu = |ipv4: Ipv4Addr, interface| GtpuAddress { ipv4, network_instance: None, interface: Some(interface), default: false };
        config.gtpu = vec![gtpu(Ipv4Addr::LOCALHOST, Interface::CpFunction), gtpu(N3, Interface::Access)];
        config.ue_pools = vec![UePool {
            network_instance: None,
            ipv4: Some((Ipv4Addr::new(10, 46, 0, 0), 16)),
            ipv6: Some(("2001:db8:46::".parse().unwrap(), 48)),
        }];
        change(&mut config);
        let inside = Arc::new(Mutex::new((Node::new(config).unwrap(), Recorder::default())));
        let (began, stopping) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let (theirs, stop) = (inside.clone(), stopping.clone());
        let thread = std::thread::spawn(move || {
            let mut buffer = [0; 65_536];
            while !stop.load(Ordering::Relaxed) {
                let received = socket.recv_from(&mut buffer);
                let mut inside = theirs.lock().unwrap();
                let (node, plane) = &mut *inside;
                let now = began.elapsed();
                if let Ok((length, from)) = received {
                    node.receive(from, &buffer[..length], now, plane);
                }
                node.handle_timeout(now, plane);
                while let Some((to, octets)) = node.poll_transmit() {
                    socket.send_to(&octets, to).unwrap();
                }
            }
        });
        TestUpf { address, inside, began, stopping, thread: Some(thread) }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Node, &mut Recorder, Duration) -> T) -> T {
        let mut inside = self.inside.lock().unwrap();
        let (node, plane) = &mut *inside;
        act(node, plane, self.began.elapsed())
    }

    fn rules(&self, session: &Session) -> SessionRules {
        self.with(|_, plane, _| plane.rules[&session.up_seid].clone())
    }

    fn set_usage(&self, session: &Session, urr_ids: &[u32], bytes: (u64, u64)) {
        let usage = upf_rules::Usage {
            uplink_bytes: bytes.0,
            downlink_bytes: bytes.1,
            uplink_packets: bytes.0 / 100,
            downlink_packets: bytes.1 / 100,
        };
        self.with(|_, plane, _| plane.usage.extend(urr_ids.iter().map(|id| ((session.up_seid, *id), usage))));
    }

    /// An associated SMF. Its N4-U socket has a port of its own, for the standard one may be taken.
    fn smf(&self) -> Smf {
        let mut config = Config::new("127.0.0.1:0".parse().unwrap(), self.address);
        config.n4u = Some("127.0.0.1:0".parse().unwrap());
        config.upf_n3 = Some(N3);
        config.n1 = PATIENCE.as_secs() as u32;
        let smf = Smf::connect(config).unwrap();
        let upf = smf.associate().unwrap();
        assert_eq!((upf.recovery_ntp_s, upf.node_id), (1000, NodeId::Ipv4(Ipv4Addr::LOCALHOST)));
        smf
    }
}

impl Drop for TestUpf {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        let joined = self.thread.take().unwrap().join();
        assert!(joined.is_ok() || std::thread::panicking());
    }
}

fn plan(shape: Shape) -> SessionPlan {
    SessionPlan {
        ue_ipv4: Address::Given(Ipv4Addr::new(10, 45, 0, 2)),
        ue_ipv6: Address::Given("2001:db8:45:1::".parse().unwrap()),
        ..SessionPlan::new(shape, GNB)
    }
}

fn next(events: &Receiver<Event>) -> Event {
    events.recv_timeout(PATIENCE).expect("an event")
}

#[test]
fn open5gs_sessions_have_their_rules() {
    let upf = TestUpf::start(|_| {});
    let smf = upf.smf();
    let mut session = smf.establish(&plan(Shape::Open5gs)).unwrap();
    let rules = upf.rules(&session);
    assert_eq!((rules.pdrs.len(), rules.fars.len(), rules.urrs.len(), rules.qers.len(), rules.bars.len()), (4, 3, 1, 1, 1));
    // The UPF chose: one tunnel for all uplink PDRs, another on N4-U.
    let tunnel = |id: u16| rules.pdrs[&id].pdi.f_teid.unwrap();
    assert_eq!(tunnel(2), tunnel(4));
    assert_eq!((tunnel(2).ipv4, tunnel(3).ipv4), (N3, Ipv4Addr::LOCALHOST));
    assert_eq!(session.uplink, Tunnel { addr: N3, teid: tunnel(2).teid });
    assert_eq!(session.from_cp, Some(Tunnel { addr: Ipv4Addr::LOCALHOST, teid: tunnel(3).teid }));
    assert_eq!(rules.pdrs[&1].pdi.network_instance.as_deref(), Some("internet"));
    assert!(rules.pdrs[&4].pdi.sdf_filters[0].flow.is_some());
    assert!(rules.fars[&1].action.buffer && rules.fars[&1].action.notify);
    let n4u = smf.n4u().unwrap();
    let to_cp = rules.fars[&3].forwarding.clone().unwrap();
    assert_eq!((to_cp.destination, to_cp.outer_header.unwrap().ipv4), (Interface::CpFunction, *n4u.ip()));

    smf.set_active(&mut session, GNB).unwrap();
    let far = upf.rules(&session).fars[&1].clone();
    assert!(far.action.forward && !far.action.buffer);
    assert_eq!(far.forwarding.unwrap().outer_header, Some(OuterHeader { teid: GNB.teid, ipv4: GNB.addr }));
    let record = session.record();
    assert_eq!((record.seid, record.uplink, record.downlink, record.qfi), (session.up_seid, session.uplink, GNB, Some(9)));
    assert_eq!(record.ue_ipv4, Some(Ipv4Addr::new(10, 45, 0, 2)));
    smf.delete(&session).unwrap();
    assert_eq!(upf.with(|node, plane, _| (node.session_count(), plane.rules.len(), node.resources_in_use())), (0, 0, 0));
}

#[test]
fn free5gc_sessions_have_their_rules() {
    let upf = TestUpf::start(|_| {});
    let smf = upf.smf();
    let plan = SessionPlan { qos: Qos { qfi: Some(1), mbr_kbps: Some((1000, 2000)), ..Qos::default() }, ..plan(Shape::Free5gc) };
    let mut session = smf.establish(&plan).unwrap();
    let rules = upf.rules(&session);
    assert_eq!((rules.pdrs.len(), rules.fars.len(), rules.urrs.len(), rules.qers.len()), (2, 2, 2, 2));
    assert_eq!(session.uplink.addr, N3);
    assert_eq!(rules.pdrs[&2].pdi.f_teid.unwrap().teid, session.uplink.teid);
    for pdr in rules.pdrs.values() {
        assert_eq!((pdr.urr_ids.len(), pdr.qer_ids.len()), (2, 2));
        assert!(pdr.pdi.ue_ip.is_some());
    }
    assert_eq!((rules.qers[&1].qfi, rules.qers[&1].mbr_kbps, rules.qers[&2].mbr_kbps), (Some(1), None, Some((1000, 2000))));
    assert_eq!((rules.urrs[&2].period_s, rules.urrs[&1].volume_threshold.unwrap().total), (Some(30), Some(100 << 20)));
    assert!(rules.fars[&1].action.forward);
    smf.set_rate(&mut session, (5, 6)).unwrap();
    assert_eq!(upf.rules(&session).qers[&2].mbr_kbps, Some((5, 6)));
    assert_eq!(session.plan.qos.mbr_kbps, Some((5, 6)));
}

#[test]
fn simple_sessions_with_addresses_of_the_upf() {
    let upf = TestUpf::start(|_| {});
    let smf = upf.smf();
    let chosen = SessionPlan { ue_ipv4: Address::ChosenByUpf, ue_ipv6: Address::ChosenByUpf, ..plan(Shape::Simple) };
    let session = smf.establish(&chosen).unwrap();
    let rules = upf.rules(&session);
    assert_eq!(rules.pdrs[&1].pdi.ue_ip.unwrap().ipv4, session.ue_ipv4);
    assert_eq!(rules.pdrs[&2].pdi.ue_ip.unwrap().ipv6, session.ue_ipv6.map(|prefix| (prefix, 64)));
    assert_eq!(session.ue_ipv4.unwrap().octets()[..2], [10, 46]);
    assert_eq!(session.ue_ipv6.unwrap().segments()[..3], [0x2001, 0xdb8, 0x46]);
    let other = smf.establish(&chosen).unwrap();
    assert_ne!((other.ue_ipv4, other.uplink.teid), (session.ue_ipv4, session.uplink.teid));
    assert_eq!(upf.with(|node, _, _| node.session_count()), 2);
    smf.release().unwrap();
    assert_eq!(upf.with(|node, _, _| node.session_count()), 0);
    assert!(matches!(smf.establish(&chosen), Err(SmfError::NotAssociated)));
}

#[test]
fn paging_is_told_and_ends_with_activity() {
    for shape in [Shape::Open5gs, Shape::Free5gc, Shape::Simple] {
        let upf = TestUpf::start(|_| {});
        let smf = upf.smf();
        let events = smf.events().unwrap();
        assert!(smf.events().is_none());
        let mut session = smf.establish(&plan(shape)).unwrap();
        smf.set_active(&mut session, GNB).unwrap();
        smf.set_idle(&session).unwrap();
        assert!(upf.rules(&session).fars[&1].action.buffer);
        upf.with(|node, _, now| node.downlink_data(session.up_seid, 1, now));
        assert_eq!(next(&events), Event::DownlinkData { seid: session.up_seid, pdr_ids: vec![1] });
        smf.set_active(&mut session, GNB).unwrap();
        assert!(upf.rules(&session).fars[&1].action.forward);
        // The report was answered: it does not come again.
        assert!(events.recv_timeout(Duration::from_millis(50)).is_err());
        assert_eq!(upf.with(|node, _, _| node.stats().unanswered_requests), 0);
    }
}

#[test]
fn a_path_switch_sends_an_end_marker() {
    let upf = TestUpf::start(|_| {});
    let smf = upf.smf();
    let mut session = smf.establish(&plan(Shape::Simple)).unwrap();
    let target = Tunnel { addr: Ipv4Addr::new(10, 3, 0, 3), teid: 0x99 };
    let relay = smf.forward_indirectly(&session, target).unwrap();
    assert_eq!(relay.addr, N3);
    let rules = upf.rules(&session);
    assert_eq!(rules.pdrs[&5].pdi.f_teid.unwrap().teid, relay.teid);
    assert_eq!(rules.fars[&4].forwarding.clone().unwrap().outer_header.unwrap().ipv4, target.addr);
    smf.path_switch(&mut session, target).unwrap();
    assert_eq!(session.record().downlink, target);
    assert_eq!(upf.with(|_, plane, _| plane.end_markers.clone()), [OuterHeader { teid: GNB.teid, ipv4: GNB.addr }]);
    smf.end_indirect(&session).unwrap();
    assert_eq!(upf.rules(&session).pdrs.len(), 2);
}

#[test]
fn usage_comes_with_reports_queries_and_deletion() {
    for (shape, urrs) in [(Shape::Open5gs, &[1][..]), (Shape::Free5gc, &[1, 2]), (Shape::Simple, &[1])] {
        let upf = TestUpf::start(|_| {});
        let smf = upf.smf();
        let events = smf.events().unwrap();
        let charging = Charging { volume_threshold: Some(1000), period_s: None, volume_quota: None };
        let session = smf.establish(&SessionPlan { charging, ..plan(shape) }).unwrap();
        upf.set_usage(&session, urrs, (300, 900));
        upf.with(|node, plane, now| node.poll_usage(now, plane));
        // Octet 5, bit 2: volume threshold (§8.2.41).
        assert_eq!(next(&events), Event::Usage { seid: session.up_seid, urr_id: 1, triggers: 2 });
        upf.set_usage(&session, urrs, (400, 1000));
        let now = smf.query(&session).unwrap();
        assert_eq!((now.uplink_bytes, now.downlink_bytes, now.ended), (400, 1000, false));
        upf.set_usage(&session, urrs, (500, 1500));
        let end = smf.delete(&session).unwrap();
        assert_eq!((end.seid, end.uplink_bytes, end.downlink_bytes), (session.up_seid, 500, 1500));
        assert_eq!((end.uplink_packets, end.downlink_packets, end.ended), (Some(5), Some(15), true));
        assert_eq!(end.urrs.len(), urrs.len());
        assert!(end.urrs.iter().all(|urr| urr.usage.total_bytes == 2000 && urr.lost == 0 && urr.repeated == 0), "{end:?}");
        assert_eq!(smf.report().sessions, [end]);
        let again = smf.delete(&session).unwrap_err().to_string();
        assert!(again.contains("Session context not found (cause 65)"), "{again}");
    }
}

#[test]
fn periodic_reports_add_up() {
    let upf = TestUpf::start(|_| {});
    let smf = upf.smf();
    let events = smf.events().unwrap();
    let charging = Charging { volume_threshold: None, period_s: Some(1), volume_quota: None };
    let session = smf.establish(&SessionPlan { charging, ..plan(Shape::Free5gc) }).unwrap();
    upf.set_usage(&session, &[1, 2], (100, 200));
    assert_eq!(next(&events), Event::Usage { seid: session.up_seid, urr_id: 2, triggers: 1 });
    let end = smf.delete(&session).unwrap();
    let sums: Vec<_> = end.urrs.iter().map(|urr| (urr.urr_id, urr.reports, urr.usage.total_bytes)).collect();
    assert_eq!(sums, [(1, 1, 300), (2, 2, 300)]);
}

#[test]
fn dedicated_flows_come_and_go() {
    let upf = TestUpf::start(|_| {});
    let smf = upf.smf();
    let flow = |dscp: u8, qfi: u8| FlowPlan {
        filters: vec![Filter { dscp: Some(dscp), flow: Some("permit out 17 from any 5001 to assigned".into()) }],
        qos: Qos { qfi: Some(qfi), mbr_kbps: Some((64, 64)), gbr_kbps: Some((32, 64)), closed: (false, true) },
        precedence: 10,
    };
    for shape in [Shape::Open5gs, Shape::Free5gc, Shape::Simple] {
        let mut session = smf.establish(&SessionPlan { flows: vec![flow(46, 5)], dscp: Some(46), ..plan(shape) }).unwrap();
        let base = if shape == Shape::Open5gs { 4 } else { 2 };
        let rules = upf.rules(&session);
        assert_eq!((rules.pdrs.len(), rules.pdrs[&17].pdi.f_teid), (base + 2, rules.pdrs[&2].pdi.f_teid));
        let qer = rules.qers[&16];
        assert_eq!((qer.qfi, qer.mbr_kbps, qer.uplink_open, qer.downlink_open), (Some(5), Some((64, 64)), true, false));
        assert_eq!(qer.gbr_kbps, Some((32, 64)));
        assert_eq!(rules.pdrs[&16].pdi.sdf_filters[0].tos, Some((46 << 2, 0xfc)));
        smf.add_flow(&mut session, flow(10, 6)).unwrap();
        smf.remove_flow(&mut session, 0).unwrap();
        smf.add_flow(&mut session, flow(12, 7)).unwrap();
        let rules = upf.rules(&session);
        assert_eq!((rules.pdrs.len(), rules.qers[&16].qfi, rules.qers[&17].qfi), (base + 4, Some(7), Some(6)));
        assert!(
            rules
                .pdrs
                .values()
                .filter(|pdr| pdr.pdi.source_interface == Interface::Access)
                .all(|pdr| { pdr.pdi.f_teid.unwrap().teid == session.uplink.teid })
        );
        let qfis: Vec<_> = session.record().flows.iter().map(|flow| (flow.dscp, flow.qfi)).collect();
        assert_eq!(qfis, [(10, 6), (12, 7)]);
        assert!(smf.remove_flow(&mut session, 2).is_err());
        smf.set_idle(&session).unwrap();
        smf.set_active(&mut session, GNB).unwrap();
        assert_eq!(upf.rules(&session).fars[&1].forwarding.clone().unwrap().tos, Some((46 << 2, 0xfc)));
        smf.delete(&session).unwrap();
    }
}

#[test]
fn refusals_are_told_in_words_and_leave_nothing() {
    let upf = TestUpf::start(|config| config.max_sessions = 1);
    let mut config = Config::new("127.0.0.1:0".parse().unwrap(), upf.address);
    config.n1 = PATIENCE.as_secs() as u32;
    let smf = Smf::connect(config).unwrap();
    assert!(matches!(smf.establish(&plan(Shape::Simple)), Err(SmfError::NotAssociated)));
    smf.associate().unwrap();
    let why = |plan: &SessionPlan| smf.establish(plan).unwrap_err().to_string();
    assert!(why(&plan(Shape::Free5gc)).contains("upf_n3"));
    let foreign = Some(Tunnel { addr: Ipv4Addr::new(192, 0, 2, 1), teid: 7 });
    assert!(why(&SessionPlan { uplink: foreign, ..plan(Shape::Free5gc) }).contains("failed rule PDR 2"));
    let filters = vec![Filter { flow: Some("permit out banana from any to assigned".into()), dscp: None }];
    let flows = vec![FlowPlan { filters, qos: Qos::default(), precedence: 1 }];
    assert!(
        why(&SessionPlan { flows, ..plan(Shape::Simple) }).contains("Rule creation/modification Failure (cause 73), failed rule PDR 16")
    );
    let session = smf.establish(&plan(Shape::Simple)).unwrap();
    assert!(why(&plan(Shape::Simple)).contains("No resources available (cause 75)"));
    assert_eq!(smf.report().sessions.len(), 1);
    smf.delete(&session).unwrap();
    assert_eq!(upf.with(|node, _, _| node.resources_in_use()), 0);
}

#[test]
fn silence_is_told_after_all_retransmissions() {
    let deaf = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut config = Config::new("127.0.0.1:0".parse().unwrap(), deaf.local_addr().unwrap());
    (config.t1, config.n1) = (Duration::from_millis(20), 3);
    let smf = Smf::connect(config).unwrap();
    let error = smf.associate().unwrap_err();
    assert!(matches!(error, SmfError::NoAnswer { sent: 3, .. }), "{error}");
    deaf.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let mut buffer = [0; 2000];
    let copies: Vec<_> = std::iter::from_fn(|| deaf.recv_from(&mut buffer).ok().map(|(length, _)| buffer[..length].to_vec())).collect();
    assert_eq!(copies.len(), 3);
    assert!(copies.iter().all(|copy| copy == &copies[0]));
    assert_eq!((smf.report().n4["sent"], smf.report().n4["sent_again"], smf.report().n4["unanswered"]), (1, 2, 1));
}

/// Half of all datagrams are lost on the way; nothing is done twice and nothing is forgotten.
#[test]
fn a_lossy_path_costs_time_only() {
    let upf = TestUpf::start(|config| config.t1 = Duration::from_millis(30));
    let relay = UdpSocket::bind("127.0.0.1:0").unwrap();
    relay.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    let mut config = Config::new("127.0.0.1:0".parse().unwrap(), relay.local_addr().unwrap());
    (config.t1, config.n1, config.heartbeat_period) = (Duration::from_millis(10), 6000, None);
    let smf = Smf::connect(config).unwrap();
    std::thread::scope(|scope| {
        let test = scope.spawn(|| {
            smf.associate().unwrap();
            let charging = Charging { volume_threshold: Some(100), ..Charging::default() };
            for n in 1..=10u64 {
                let session = smf.establish(&SessionPlan { charging, ..plan(Shape::Simple) }).unwrap();
                assert_eq!(upf.with(|node, _, _| node.session_count()), 1);
                upf.set_usage(&session, &[1], (n * 100, 0));
                upf.with(|node, plane, now| node.poll_usage(now, plane));
                smf.query(&session).unwrap();
                let end = smf.delete(&session).unwrap();
                // The threshold's report may come after the answer to the query, and is lost if it comes after the deletion.
                assert_eq!(end.uplink_bytes + end.urrs[0].lost * n * 100, n * 100, "{end:?}");
            }
        });
        let (mut buffer, mut numbers) = ([0; 65_536], testkit::rng(0x1055));
        while !test.is_finished() {
            let Ok((length, from)) = relay.recv_from(&mut buffer) else { continue };
            let to = if from == upf.address { smf.local() } else { upf.address };
            if rand::Rng::random(&mut numbers) {
                relay.send_to(&buffer[..length], to).unwrap();
            }
        }
    });
    assert!(smf.report().n4["sent_again"] > 10);
}

#[test]
fn heartbeats_go_both_ways_and_tell_of_loss() {
    let upf = TestUpf::start(|config| config.heartbeat_period = Some(Duration::from_millis(30)));
    let mut config = Config::new("127.0.0.1:0".parse().unwrap(), upf.address);
    (config.t1, config.n1, config.heartbeat_period) = (Duration::from_secs(1), 3, Some(Duration::from_millis(40)));
    let smf = Smf::connect(config).unwrap();
    let events = smf.events().unwrap();
    smf.associate().unwrap();
    assert_eq!(smf.heartbeat().unwrap(), 1000);
    let end = Instant::now() + PATIENCE;
    while smf.report().n4.get("answered").is_none_or(|n| *n < 3) {
        assert!(Instant::now() < end, "{:?}", smf.report().n4);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(upf.with(|node, _, _| (node.associations().count(), node.stats().unanswered_requests)), (1, 0));
    drop(upf);
    assert_eq!(next(&events), Event::Lost);
}

#[test]
fn a_restart_is_noticed() {
    let upf = TestUpf::start(|_| {});
    let smf = upf.smf();
    let events = smf.events().unwrap();
    let fake = UdpSocket::bind("127.0.0.1:0").unwrap();
    let heartbeat = Message::node(MessageType::HeartbeatRequest, 5, vec![Ie::RecoveryTimeStamp(2000)]);
    fake.send_to(&heartbeat.encode().unwrap(), smf.local()).unwrap();
    assert_eq!(next(&events), Event::Restarted);
}

#[test]
fn router_solicitations_are_answered_on_n4u() {
    let upf = TestUpf::start(|_| {});
    let smf = upf.smf();
    let events = smf.events().unwrap();
    let session = smf.establish(&plan(Shape::Open5gs)).unwrap();
    let to_cp = upf.rules(&session).fars[&3].forwarding.clone().unwrap().outer_header.unwrap();
    let gateway = UdpSocket::bind("127.0.0.1:0").unwrap();
    gateway.set_read_timeout(Some(PATIENCE)).unwrap();
    let n4u = smf.n4u().unwrap();
    let mut buffer = [0; 2000];

    let mut echo = Vec::new();
    gtpu::Repr::new(0, Some(3), gtpu::Message::EchoRequest).emit(&mut echo);
    gateway.send_to(&echo, n4u).unwrap();
    let (length, _) = gateway.recv_from(&mut buffer).unwrap();
    let answer = gtpu::Repr::parse(&gtpu::Packet::new_checked(&buffer[..length]).unwrap()).unwrap();
    assert_eq!(answer, gtpu::Repr::new(0, Some(3), gtpu::Message::EchoResponse));

    let solicitation = crate::router::solicit("fe80::5".parse().unwrap());
    let mut datagram = Vec::new();
    gtpu::Repr::g_pdu(to_cp.teid, None, &solicitation).emit(&mut datagram);
    let (to, answer) = {
        let (events, _receiver) = sync_channel(1);
        n4u::answer(&datagram, gateway.local_addr().unwrap(), &smf.shared, &events).unwrap()
    };
    let from_cp = session.from_cp.unwrap();
    assert_eq!(to, SocketAddr::from((from_cp.addr, 2152)));
    let answer = gtpu::Repr::parse(&gtpu::Packet::new_checked(&answer).unwrap()).unwrap();
    let gtpu::Message::GPdu { payload } = answer.message else { panic!("{answer:?}") };
    assert_eq!((answer.teid, crate::router::advertised_prefix(payload)), (from_cp.teid, session.ue_ipv6));
    // The thread does the same with what comes by the socket.
    gateway.send_to(&datagram, n4u).unwrap();
    assert_eq!(next(&events), Event::RouterSolicitation { seid: session.up_seid });
    assert_eq!(smf.report().router_advertisements, 2);
    // Not for a session that has ended.
    smf.delete(&session).unwrap();
    gateway.send_to(&datagram, n4u).unwrap();
    assert!(events.recv_timeout(Duration::from_millis(50)).is_err());
}

#[test]
fn many_threads_share_an_smf() {
    let upf = TestUpf::start(|_| {});
    let smf = upf.smf();
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let smf = &smf;
            scope.spawn(move || {
                for n in 0..25u8 {
                    let ue = Address::Given(Ipv4Addr::new(10, 45, thread, 2 + n));
                    let session = smf.establish(&SessionPlan { ue_ipv4: ue, ue_ipv6: Address::None, ..plan(Shape::Simple) }).unwrap();
                    if n % 2 == 0 {
                        smf.delete(&session).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(upf.with(|node, _, _| node.session_count()), 48);
    assert_eq!(smf.report().sessions.iter().filter(|usage| usage.ended).count(), 52);
}

#[test]
fn hostile_octets_change_nothing() {
    use rand::{Rng, RngCore};
    let upf = TestUpf::start(|_| {});
    let smf = upf.smf();
    let session = smf.establish(&plan(Shape::Open5gs)).unwrap();
    let mut numbers = testkit::rng(0x5eed);
    let attacker = UdpSocket::bind("127.0.0.1:0").unwrap();
    let report = vec![
        Ie::ReportType(3),
        Ie::DownlinkDataReport(vec![Ie::PdrId(1)]),
        Ie::UsageReportInReportRequest(vec![Ie::UrrId(1), Ie::UrSeqn(0)]),
    ];
    let good = Message::session(MessageType::SessionReportRequest, session.cp_seid, 1, report).encode().unwrap();
    let mut tunnelled = Vec::new();
    gtpu::Repr::g_pdu(session.cp_seid as u32, None, &crate::router::solicit("fe80::1".parse().unwrap())).emit(&mut tunnelled);
    for round in 0..3000 {
        let mut octets = match round % 3 {
            0 => good.clone(),
            1 => tunnelled.clone(),
            _ => {
                let mut octets = vec![0; numbers.random_range(0..200)];
                numbers.fill_bytes(&mut octets);
                if let Some(first) = octets.first_mut() {
                    *first = *first & 0x1f | 0x20;
                }
                octets
            }
        };
        for _ in 0..numbers.random_range(1..4) {
            if !octets.is_empty() {
                let at = numbers.random_range(0..octets.len());
                octets[at] = numbers.random();
            }
        }
        octets.truncate(numbers.random_range(0..=octets.len()));
        attacker.send_to(&octets, smf.local()).unwrap();
        attacker.send_to(&octets, smf.n4u().unwrap()).unwrap();
        // Slowly enough for the sockets' buffers.
        if round % 50 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    // Both threads live.
    assert_eq!(smf.heartbeat().unwrap(), 1000);
    smf.delete(&session).unwrap();
    let mut echo = Vec::new();
    gtpu::Repr::new(0, Some(3), gtpu::Message::EchoRequest).emit(&mut echo);
    attacker.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let (mut buffer, end, n4u) = ([0; 2000], Instant::now() + PATIENCE, SocketAddr::V4(smf.n4u().unwrap()));
    // Again and again: the socket may be full of what came before.
    while attacker.recv_from(&mut buffer).ok().is_none_or(|(_, from)| from != n4u || buffer[1] != 2) {
        assert!(Instant::now() < end, "no echo response");
        attacker.send_to(&echo, n4u).unwrap();
    }
}
