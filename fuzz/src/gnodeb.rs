//! A gNodeB, of the entities and of the program, a CU-UP and a DU between hostile peers: any datagrams of N3, F1-U and radio, at any time, are taken or counted, and what is kept
//! stays bounded. And its configuration: any text is read, or refused in one line that is fit for a log; so are requests, of which a refused one changes nothing.

use ciphering::{Choice, Engine};
use gnodeb::config::{Gnb, GnbTables, GnbUeTable, UeTable, Ues, UesTables};
use gnodeb::control::{Bearers, Reply, Request, UeRequest};
use gnodeb::node::{Node, Output};
use gnodeb::pipeline::Host;

const UE: &str = "id = 1\nflows = [{ qfi = 1, drb = 1 }]\n";
const DRB: &str = "[[ue.drb]]\nid = 1\nrlc = \"am\"\nrlc_sn_bits = 12\npdcp_sn_bits = 12\nciphering = 0\nintegrity = 0\nwindow = 16\nqueue_kbytes = 64\ndu_kbytes = 16\n";
const F1U: &str = "f1u = { cu_teid = 1, du_teid = 1 }\n";
const RADIO: &str = "[radio]\naddress = \"127.0.0.1:1\"\nrate_mbps = 10\npdu_bytes = 200\n";
const SESSION: &str = "session = { upf = \"10.0.0.1\", uplink_teid = 1, downlink_teid = 1 }\n";

fn node(role: &str) -> Node {
    let config = Gnb::parse(&text(role)).expect("a configuration");
    Node::new(&config, Engine::new(Choice::Portable).expect("the portable one is there"))
}

fn text(role: &str) -> String {
    let (core, air, split) = (role != "du", role != "cu-up", role != "both");
    let part = |is_there: bool, text: &'static str| if is_there { text } else { "" };
    let peers = part(split, "f1u = { address = \"10.0.0.3\", peer = \"10.0.0.3\" }\n");
    format!(
        "role = \"{role}\"\ndatapath = \"entities\"\n{}{peers}{}[[ue]]\n{UE}{}{}{DRB}{}",
        part(core, "n3 = \"10.0.0.2\"\n"),
        part(air, RADIO),
        part(air, "radio = \"127.0.0.1:2\"\n"),
        part(core, SESSION),
        part(split, F1U),
    )
}

/// Requests, a line each.
fn requests(lines: &str) {
    let (tables, config) = GnbTables::parse(&text("both")).expect("a configuration");
    let mut node = Node::new(&config, Engine::new(Choice::Portable).expect("the portable one is there"));
    let mut bearers = Bearers::new(tables, config);
    let mut out = Output::default();
    for line in lines.lines() {
        let Ok(request) = daemon::manage::socket::read::<Request<GnbUeTable>>(line.as_bytes(), "a request") else { continue };
        let before = bearers.config().clone();
        let reply = bearers.ask(request, &mut |action| node.act(action, 0, &mut out));
        match reply {
            Reply::Error { message } => {
                assert!(!message.is_empty() && !message.contains(char::is_control), "{message:?} is not fit for a log");
                assert_eq!(*bearers.config(), before);
            }
            Reply::Ues { ue, .. } => assert_eq!(ue.len(), before.ues.len()),
            Reply::Counts { ue } => assert!(ue.len() <= before.ues.len()),
            Reply::Done { .. } | Reply::Report(_) | Reply::Prepared { .. } | Reply::Status { .. } => {}
        }
        node.run(0, &mut out);
    }
    let _ = node.report();
    ues(lines);
}

/// Requests to UEs.
fn ues(lines: &str) {
    let text = format!("{}[[ue]]\n{UE}gnb = \"127.0.0.1:1\"\nqfi = 1\nipv4 = \"10.0.0.9\"\n{DRB}", RADIO);
    let (mut tables, config) = UesTables::parse(&text).expect("a configuration");
    let mut ue = gnodeb::ue::Ue::new(&config.ues[0], &config.radio, Engine::new(Choice::Portable).expect("the portable one is there"));
    for line in lines.lines() {
        let asked = match daemon::manage::socket::read::<UeRequest<UeTable>>(line.as_bytes(), "a request") {
            Ok(UeRequest::Reconfigure { ue }) => ue,
            Ok(UeRequest::Recover { ue: ids }) => {
                if let Ok(set) = tables.named(&ids) {
                    set.iter().for_each(|config| ue.recover(config, 0));
                }
                continue;
            }
            Err(_) => continue,
        };
        match tables.reconfigure(asked) {
            Ok((changed, _, set)) => {
                tables = changed;
                set.iter().for_each(|config| ue.reconfigure(config, 0, &mut |_| {}));
                ue.run(0, &mut |_| {}, &mut |_, _| {});
            }
            Err(error) => assert!(!error.to_string().contains(char::is_control)),
        }
    }
}

/// Has a UE of that node come from the gNodeB 10.0.0.4: its TEIDs are 0x80000000 and the next.
fn prepare(node: &mut Node, out: &mut Output) {
    let (tables, config) = GnbTables::parse(&text("both")).expect("a configuration");
    let mut bearers = Bearers::new(tables, config);
    let table = r#"{"id":2,"radio":"127.0.0.1:3","session":{"upf":"10.0.0.1","uplink_teid":2,"downlink_teid":2},"flows":[{"qfi":1,"drb":1}],
        "drb":[{"id":1,"rlc":"am","rlc_sn_bits":12,"pdcp_sn_bits":12,"ciphering":0,"window":16,"queue_kbytes":64,"du_kbytes":16}]}"#;
    let status = r#"{"do":"status","ue":[{"id":2,"drb":[{"id":1,"downlink_count":40,"uplink_count":9}]}]}"#;
    for request in [&*format!(r#"{{"do":"prepare","from":"10.0.0.4","ue":[{table}]}}"#), status] {
        let request = daemon::manage::socket::read(request.as_bytes(), "a request").expect("a request");
        let reply = bearers.ask(request, &mut |action| node.act(action, 0, out));
        assert!(!matches!(reply, Reply::Error { .. }));
    }
}

/// Frames that `p4/gnb.p4` punts: it believes nothing of the program that has passed them on. A byte for the length of each.
fn host(mut rest: &[u8]) {
    let text = format!(
        "role = \"both\"\ndatapath = \"p4\"\nn3 = \"10.0.0.2\"\n{}[[ue]]\n{UE}radio = \"127.0.0.1:2\"\n{SESSION}{}",
        RADIO.replace("pdu_bytes = 200\n", ""),
        DRB.replace("du_kbytes = 16\n", "")
    );
    let mut host = Host::new(&Gnb::parse(&text).expect("a configuration"));
    while let [length, more @ ..] = rest {
        let (frame, more) = more.split_at(usize::from(*length).min(more.len()));
        rest = more;
        if let Some(answer) = host.frame(frame) {
            assert!((42..1500).contains(&answer.len()), "{} bytes", answer.len());
        }
    }
    host.report(&mut Default::default(), &mut Default::default());
}

/// The first byte chooses: configurations, the program's host, or a role, with a UE that comes from another gNodeB or without. Then datagrams: a byte for the way, one for milliseconds, one for the length.
pub fn run(data: &[u8]) {
    let Some((first, mut rest)) = data.split_first() else { return };
    if first % 4 == 0 {
        let text = String::from_utf8_lossy(rest);
        requests(&text);
        for line in [Gnb::parse(&text).err(), Ues::parse(&text).err()].into_iter().flatten().map(|error| error.to_string()) {
            assert!(!line.is_empty() && line.chars().count() < 700 && !line.contains(char::is_control), "{line:?} is not fit for a log");
        }
        return;
    }
    if *first >= 0xf0 {
        return host(rest);
    }
    let mut node = node(["both", "cu-up", "du"][usize::from(first % 4 - 1)]);
    let (mut now, mut out) = (0, Output::default());
    if first % 4 == 1 && first & 0x80 != 0 {
        prepare(&mut node, &mut out);
    }
    let source = "10.0.0.4:2152".parse().expect("an address");
    let (upf, peer) = ("10.0.0.1:2152".parse().expect("an address"), "10.0.0.3:2152".parse().expect("an address"));
    while let [way, ms, length, more @ ..] = rest {
        let (datagram, more) = more.split_at(usize::from(*length).min(more.len()));
        rest = more;
        now += u64::from(*ms) * 1_000_000;
        match way % 4 {
            0 => node.n3(datagram, upf, now),
            1 => node.f1u(datagram, peer, now, &mut out),
            3 => node.n3(datagram, source, now),
            _ => node.radio(datagram, "127.0.0.1:2".parse().expect("an address"), now),
        }
        node.run(now, &mut out);
        // 64 KiB in PDCP of each of two, of at least a byte each with its header.
        assert!(node.queued() <= 2 * 65_536, "{} SDUs wait", node.queued());
        let _ = node.next_deadline(now);
        (out.n3, out.f1u, out.radio) = Default::default();
    }
    let _ = node.report();
}
