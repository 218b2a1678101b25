//! Xn handover without a change of UPF (TS 23.502 §4.9.1.2.2): the path switch moves all QoS flows, and the old tunnel gets an End
//! Marker for each FAR that asks (step 5).

use super::Stop;
use super::lab::{CALL_QFI, Lab, QFI};

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    lab.associate()?;
    let mut session = lab.session(0)?;
    lab.add_call(&session)?;
    let old = (0, session.plan.gnb.teid);
    lab.activate_call(&mut session, old)?;
    lab.downlink(&session, 0, old, QFI)?;
    lab.downlink(&session, 1, old, CALL_QFI)?;
    lab.step("the target gNodeB asks for the path: both flows' FARs move, with an end marker each (steps 2 to 5)")?;
    let new = lab.switch_path(&mut session, 1, true)?;
    lab.expect_end_markers(0, old.1, 2)?;
    lab.downlink(&session, 0, new, QFI)?;
    lab.downlink(&session, 1, new, CALL_QFI)?;
    lab.uplink(&session, 1, QFI, 0)?;
    lab.uplink(&session, 1, CALL_QFI, 1)?;
    lab.step("and back")?;
    let back = lab.switch_path(&mut session, 0, true)?;
    lab.expect_end_markers(1, new.1, 2)?;
    lab.downlink(&session, 0, back, QFI)?;
    lab.delete(&session)?;
    lab.release()
}
