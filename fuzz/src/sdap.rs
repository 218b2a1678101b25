//! SDAP entities (TS 37.324): any PDU on any bearer is refused by name, or is a packet or an end marker; whatever mapping a UE has followed, the network
//! reads what it sends.
//!
//! Steps: a byte that is the bearer, one that is the length of a PDU, and the PDU.

use gnb::sdap::{Config, Downlink, Drb, DrbId, Gnb, Qfi, Ue, Uplink};

/// Three bearers: with both headers, with one for uplink, with none.
fn config() -> Config {
    let id = |number| DrbId::new(number).expect("1 to 32");
    let drb = |number, uplink_header, downlink_header| Drb { id: id(number), uplink_header, downlink_header };
    let qfi = |number| Qfi::new(number).expect("below 64");
    Config {
        drbs: vec![drb(1, true, true), drb(2, true, false), drb(3, false, false), drb(4, false, true)],
        default_drb: Some(id(1)),
        flows: vec![(qfi(5), id(2)), (qfi(9), id(3)), (qfi(7), id(4))],
        reflective: Vec::new(),
    }
}

/// Takes the steps that `data` holds.
pub fn run(data: &[u8]) {
    let (mut gnb, mut ue) = (Gnb::new(&config()).expect("valid"), Ue::new(&config()).expect("valid"));
    let mut rest = data;
    while let [drb, len, behind @ ..] = rest {
        let (pdu, after) = behind.split_at(behind.len().min(usize::from(*len)));
        rest = after;
        let Some(drb) = DrbId::new(drb % 8) else { continue };
        match gnb.uplink(drb, pdu) {
            Ok(Uplink::Data { qfi, sdu }) => assert!(qfi.get() < 64 && !sdu.is_empty() && pdu.ends_with(sdu)),
            Ok(Uplink::EndMarker { qfi }) => assert!(pdu.len() == 1 && qfi.get() == pdu[0] & 0x3f),
            Err(_) => {}
        }
        if let Ok(Downlink { sdu, qfi, end_marker, .. }) = ue.downlink(drb, pdu) {
            assert!(!sdu.is_empty() && pdu.ends_with(sdu));
            if let Some(marker) = end_marker {
                assert_ne!(marker.drb, drb, "the bearer that the flow has left");
                let qfi = qfi.expect("a header moved it");
                let pdu = [marker.pdu];
                assert_eq!(gnb.uplink(marker.drb, &pdu), Ok(Uplink::EndMarker { qfi }), "what the UE sends is read");
            }
        }
    }
    for qfi in (0..64).filter_map(Qfi::new) {
        let up = ue.uplink(qfi).expect("there is a default bearer");
        let pdu: Vec<u8> = up.header.into_iter().chain([0x45]).collect();
        if up.header.is_some() {
            assert_eq!(gnb.uplink(up.drb, &pdu), Ok(Uplink::Data { qfi, sdu: &[0x45] }), "what the UE sends is read");
        }
    }
}
