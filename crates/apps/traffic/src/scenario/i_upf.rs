//! The UPF stands between gNodeB and anchor (TS 23.501 §6.3.3): what each says of a packet in extension headers reaches the other (TS 29.281 §5.2.1, TS
//! 29.244 table 8.2.64-1 note 1). The SMF gives no QER: the QoS flow is the anchor's to tell.

use super::Stop;
use super::lab::{Extension, Lab, QFI};
use super::ulcl::{PSA, PSA_TEID};

/// PDU Session Container, and two that go on: Service Class Indicator, PDCP PDU Number.
const CONTAINER: u8 = 0x85;
const SERVICE_CLASS: u8 = 0x20;
pub(super) const PDCP_NUMBER: u8 = 0xc0;

/// DL PDU SESSION INFORMATION (TS 38.415 §5.5.2.1) with RQI, and with PPI 5.
pub(super) fn downlink() -> [Extension; 3] {
    [vec![0, QFI], vec![0, 0x40 | QFI], vec![0, 0xc0 | QFI, 0xa0, 0, 0, 0]].map(|content| (CONTAINER, content))
}

/// UL PDU SESSION INFORMATION (§5.5.2.2), the second with a DL time stamp repeated.
fn uplink() -> [Extension; 2] {
    [vec![0x10, QFI], [&[0x18, QFI][..], &[7; 28]].concat()].map(|content| (CONTAINER, content))
}

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    lab.associate()?;
    let (session, n9) = lab.session_over_n9(PSA_TEID, false)?;
    let (gnb, psa) = ((0, session.plan.gnb.teid), (PSA, PSA_TEID));
    let class: Extension = (SERVICE_CLASS, vec![0x5a, 0]);
    let number: Extension = (PDCP_NUMBER, vec![0x12, 0x34]);
    lab.step("downlink: QFI, RQI and PPI come to the gNodeB as the anchor sent them, in a row of extension headers too")?;
    for container in downlink() {
        lab.relay_extensions(&session, (PSA, n9), gnb, std::slice::from_ref(&container))?;
        lab.relay_extensions(&session, (PSA, n9), gnb, &[class.clone(), container.clone(), number.clone()])?;
    }
    lab.step("uplink: the anchor gets the QFI, and what QoS monitoring needs")?;
    for container in uplink() {
        lab.relay_extensions(&session, (0, session.uplink), psa, std::slice::from_ref(&container))?;
        lab.relay_extensions(&session, (0, session.uplink), psa, &[container.clone(), class.clone()])?;
    }
    lab.step("what comes without them goes on without")?;
    lab.relay_extensions(&session, (PSA, n9), gnb, &[])?;
    lab.relay_extensions(&session, (0, session.uplink), psa, &[])?;
    lab.delete(&session)?;
    lab.release()
}
