//! The UPF restarts (TS 23.527 §4.3): its heartbeats show it, it knows nothing, and the SMF establishes the sessions again.

use super::Stop;
use super::lab::{Lab, QFI};

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    let before = lab.associate()?;
    let old = lab.session(0)?;
    lab.downlink(&old, 0, (0, old.plan.gnb.teid), QFI)?;
    lab.step("the UPF restarts: its heartbeats say so")?;
    lab.restart_upf(before)?;
    lab.step("the SMF associates, and establishes the session again as it was")?;
    lab.associate()?;
    lab.expect_unknown(&old)?;
    let mut session = lab.establish(old.plan.clone())?;
    lab.activate(&mut session, 0)?;
    lab.uplink(&session, 0, QFI, 0)?;
    lab.downlink(&session, 0, (0, session.plan.gnb.teid), QFI)?;
    lab.delete(&session)?;
    lab.release()
}
