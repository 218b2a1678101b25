//! Is what `docs/gnb.md` shows of a packet's way what `splitplane p4 trace` prints?

mod common;

use base::PortId;
use common::*;
use p4_interp::{Mode, Recorder, render_trace};
use std::path::Path;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn trace(gnb: &mut Interpreted, port: PortId, bytes: &[u8]) -> (String, Vec<u8>) {
    let mut recorder = Recorder::default();
    let out = gnb.machine.process_traced(bytes, port, MS, Mode::Whole, &mut recorder);
    let out = out.bytes.to_vec();
    (render_trace(gnb.machine.ir(), &recorder.events, false), out)
}

/// Replaces what is between a marker and the fence's end.
fn put(page: &mut String, name: &str, text: &str) {
    let begin = format!("<!-- {name} -->\n```\n");
    let from = page.find(&begin).unwrap_or_else(|| panic!("no {begin}")) + begin.len();
    let to = from + page[from..].find("```\n").expect("the fence ends");
    page.replace_range(from..to, text);
}

#[test]
fn the_page_about_the_gnodeb_shows_its_packets_as_they_are() {
    let b = Bearer { nia: Some(ciphering::Nia::Nia2), ..Bearer::new(5) };
    let mut gnb = Interpreted::new(std::slice::from_ref(&b));
    // ICMP echo to the UE.
    let mut user = vec![0x45, 0, 0, 28, 0, 1, 0, 0, 63, 1, 0, 0, 198, 51, 100, 1, 10, 45, 0, 2];
    let sum = checksum(&user);
    user[10..12].copy_from_slice(&sum.to_be_bytes());
    user.extend([8, 0, 0xf7, 0xfd, 0, 1, 0, 1]);
    let down = from_upf(&b, &user);
    let (text, radio) = trace(&mut gnb, N3, &down);
    // The UE's answer, under the same keys: PDCP of COUNT 0 with an SDAP header, in one AMD PDU.
    let engine = &mut ciphering::Engine::new(ciphering::Choice::Portable).unwrap();
    let config = gnb::pdcp::TxConfig {
        format: b.format(ciphering::Direction::Uplink),
        acknowledged: false,
        window: 1,
        queue_sdus: 1,
        bytes: 1 << 16,
        discard_ns: None,
        guard: gnb::pdcp::CountGuard::default(),
    };
    let mut tx = gnb::pdcp::Tx::new(config).unwrap();
    user[12..20].rotate_left(4);
    user[20] = 0;
    user[22] = 0xff;
    tx.enqueue([&[0x80 | b.qfi][..], &user].concat(), 0).unwrap();
    let mut packets = [tx.pull(0, &mut |_| {}).unwrap()];
    b.security(engine, ciphering::Direction::Uplink).run(engine, &mut packets);
    let [packet] = packets;
    let pdu = [&[0x80, 0, 0][..], &tx.finish(packet).unwrap().1].concat();
    let up = from_ue(&b, &pdu);
    let (back, tunnel) = trace(&mut gnb, RADIO, &up);
    assert!(text.contains("forward") && back.contains("forward"), "{text}{back}");

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/gnb.md");
    let was = std::fs::read_to_string(&path).expect("the page");
    let mut page = was.clone();
    put(&mut page, "downlink in", &format!("{}\n", hex(&down)));
    put(&mut page, "downlink trace", &text);
    put(&mut page, "downlink out", &format!("{}\n", hex(&radio)));
    put(&mut page, "uplink in", &format!("{}\n", hex(&up)));
    put(&mut page, "uplink trace", &back);
    put(&mut page, "uplink out", &format!("{}\n", hex(&tunnel)));
    if page != was {
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, page).expect("written");
        } else {
            panic!("docs/gnb.md is not what p4 trace prints: UPDATE=1 cargo test -p radio-bearer --test trace");
        }
    }
}
