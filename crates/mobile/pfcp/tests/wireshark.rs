//! Does another implementation read the node related messages as we mean them? Wireshark's dissector, where it is installed.

mod common;

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;

use common::*;
use pfcp::codec::{AlternativeSmfIpAddress, CsidNode, FqCsid, Ie, Message, MessageType, PeerAddress};
use pfcp::config::Config;

/// A capture of UDP datagrams between the port of PFCP, as raw IPv4.
fn capture(datagrams: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0002_0004, 0, 0, 65_535, 101] {
        file.extend(match word {
            0x0002_0004 => [2, 0, 4, 0],
            word => word.to_le_bytes(),
        });
    }
    for datagram in datagrams {
        let length = 28 + datagram.len();
        for word in [1, 0, length as u32, length as u32] {
            file.extend(word.to_le_bytes());
        }
        let total = (length as u16).to_be_bytes();
        file.extend([0x45, 0, total[0], total[1], 0, 0, 0, 0, 64, 17, 0, 0, 127, 0, 0, 7, 127, 0, 0, 4]);
        let udp = (length as u16 - 20).to_be_bytes();
        file.extend([0x22, 0x65, 0x22, 0x65, udp[0], udp[1], 0, 0]);
        file.extend(datagram);
    }
    file
}

/// Each message's fields, as Wireshark reads them.
fn dissected(name: &str, messages: &[Message], fields: &[&str]) -> Option<Vec<String>> {
    let octets: Vec<Vec<u8>> = messages.iter().map(|message| message.encode().unwrap()).collect();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.pcap", std::process::id()));
    std::fs::write(&file, capture(&octets)).unwrap();
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&file).args(["-T", "fields", "-E", "separator=;", "-E", "aggregator=,"]);
    for field in fields.iter().chain(&["_ws.malformed", "_ws.expert.message"]) {
        command.args(["-e", field]);
    }
    let output = command.output();
    std::fs::remove_file(&file).unwrap();
    let Ok(output) = output else {
        println!("skipped: needs tshark");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

#[test]
fn wireshark_reads_what_the_node_tells_of_itself() {
    let mut bench = Bench::alone(Config { max_sessions: 2, ..config() });
    let ies = vec![Ie::NodeId(smf_node()), Ie::RecoveryTimeStamp(SMF_STARTED), Ie::CpFunctionFeatures(vec![3])];
    bench.ask(MessageType::AssociationSetupRequest, None, ies);
    bench.node.note_backlog(500, 1000, bench.now);
    let (_, established) = bench.establish(simple_session(1, 1, [10, 45, 0, 1], vec![]));
    let mut messages = vec![established];
    for works in [false, true] {
        bench.node.gtpu_path(GNB, works, bench.now);
        messages.push(bench.sent_one());
    }
    bench.node.begin_release(std::time::Duration::from_secs(90), bench.now);
    messages.push(bench.sent_one());
    let fields = [
        "pfcp.msg_type",
        "pfcp.metric",
        "pfcp.timer_unit",
        "pfcp.timer_value",
        "pfcp.node_report_type.upfr",
        "pfcp.node_report_type.uprr",
        "pfcp.remote_gtp_u_peer_flags.v4",
        "pfcp.ie_type",
        "pfcp.node_id_ipv4",
    ];
    let Some(lines) = dissected("node", &messages, &fields) else { return };
    testkit::assert_golden("tests/wireshark.expected", &(lines.join("\n") + "\n"));
}

#[test]
fn wireshark_reads_the_sets_that_we_read() {
    let smf = Ipv4Addr::new(127, 0, 0, 4);
    let csids = |node, node_type| Ie::FqCsid(FqCsid { node, csids: vec![1, 0x0203], node_type });
    let deletion = vec![
        Ie::NodeId(smf_node()),
        csids(CsidNode::Ipv4(smf), None),
        csids(CsidNode::Ipv6("2001:db8::4".parse().unwrap()), Some(2)),
        csids(CsidNode::Number(0x2620_1007), None),
    ];
    let info = Ie::SessionChangeInfo(vec![
        csids(CsidNode::Ipv4(smf), None),
        Ie::GroupId(b"set-1".to_vec()),
        Ie::CpIpAddress(PeerAddress { ipv4: Some(smf), ipv6: Some("2001:db8::4".parse().unwrap()) }),
        Ie::AlternativeSmfIpAddress(AlternativeSmfIpAddress { preferred: false, ipv4: Some(Ipv4Addr::new(127, 0, 0, 5)), ipv6: None }),
    ]);
    let messages = [
        Message::node(MessageType::SessionSetDeletionRequest, 1, deletion),
        Message::node(MessageType::SessionSetModificationRequest, 2, vec![Ie::NodeId(smf_node()), info]),
    ];
    let fields =
        ["pfcp.msg_type", "pfcp.fq_csid_node_id_type", "pfcp.csid", "pfcp.group_id", "pfcp.cp_ip_address.ipv4", "pfcp.cp_ip_address.ipv6"];
    let Some(lines) = dissected("sets", &messages, &fields) else { return };
    testkit::assert_golden("tests/wireshark_sets.expected", &(lines.join("\n") + "\n"));
}
