//! A call: the SMF adds a QoS flow with its own filters (TS 23.502 §4.3.3.2), the call's packets take it, it is removed again.

use super::Stop;
use super::lab::{CALL_QFI, Lab, QFI};

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    lab.associate()?;
    let mut session = lab.session(0)?;
    let gnb = (0, session.plan.gnb.teid);
    lab.downlink(&session, 1, gnb, QFI)?;
    for round in 1..=2 {
        lab.step(&format!("call {round}: the SMF makes the QoS flow's rules (§4.3.3.2 step 2b)"))?;
        lab.add_call(&session)?;
        lab.step("until the gNodeB has it too, its downlink packets go on in the default flow")?;
        if lab.call_has_no_tunnel_yet() {
            lab.downlink(&session, 1, gnb, QFI)?;
            lab.expect_no_paging()?;
        }
        lab.step("the gNodeB has the QoS flow: the call's packets take it, others do not (step 9)")?;
        lab.activate_call(&mut session, gnb)?;
        lab.downlink(&session, 1, gnb, CALL_QFI)?;
        lab.uplink(&session, 0, CALL_QFI, 1)?;
        lab.downlink(&session, 0, gnb, QFI)?;
        lab.uplink(&session, 0, QFI, 0)?;
        lab.step("the call ends: the QoS flow is removed (§4.3.3.2)")?;
        lab.remove_call(&session)?;
        lab.downlink(&session, 1, gnb, QFI)?;
    }
    lab.delete(&session)?;
    lab.release()
}
