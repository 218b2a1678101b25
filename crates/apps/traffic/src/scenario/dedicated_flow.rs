//! A dedicated QoS flow (TS 23.502 §4.3.3.2) whose PDRs have SDF filter and QFI alone: tunnel and UE's address are those that the session's first PDRs
//! have named.

use super::Stop;
use super::lab::{CALL_QFI, Lab, QFI};

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    lab.associate()?;
    let session = lab.session(0)?;
    let gnb = (0, session.plan.gnb.teid);
    lab.downlink(&session, 1, gnb, QFI)?;
    for round in 1..=2 {
        lab.step(&format!("flow {round}: its PDRs name neither F-TEID nor UE address (§4.3.3.2 step 2b)"))?;
        lab.add_dedicated(&session)?;
        lab.step("its packets take it both ways, others do not")?;
        lab.downlink(&session, 1, gnb, CALL_QFI)?;
        lab.uplink(&session, 0, CALL_QFI, 1)?;
        lab.downlink(&session, 0, gnb, QFI)?;
        lab.uplink(&session, 0, QFI, 0)?;
        lab.step("the flow is removed")?;
        lab.remove_dedicated(&session)?;
        lab.downlink(&session, 1, gnb, QFI)?;
    }
    lab.delete(&session)?;
    lab.release()
}
