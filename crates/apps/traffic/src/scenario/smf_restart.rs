//! The SMF restarts (TS 23.527 §4.3): it associates again with another recovery time stamp, its sessions are gone, and the same UEs
//! get new ones at once.

use super::Stop;
use super::lab::{Lab, QFI};

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    lab.associate()?;
    let old = [lab.session(0)?, lab.session(1)?];
    lab.uplink(&old[0], 0, QFI, 0)?;
    lab.step("the SMF restarts and associates again")?;
    lab.started_ntp_s += 60;
    lab.associate()?;
    lab.step("the same UEs get sessions at once")?;
    let new = [lab.session(0)?, lab.session(1)?];
    for session in &new {
        lab.uplink(session, 0, QFI, 0)?;
        lab.downlink(session, 0, (0, session.plan.gnb.teid), QFI)?;
    }
    lab.step("what was before is gone")?;
    for session in &old {
        lab.expect_unknown(session)?;
        lab.uplink_lost(session, 0, 0)?;
    }
    for session in &new {
        lab.delete(session)?;
    }
    lab.release()
}
