//! A UE with two PDU sessions in two slices goes idle (TS 23.502 §4.2.6), is paged for one of them and then the other, and comes
//! back (§4.2.3.3).

use super::Stop;
use super::lab::{Lab, QFI};

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    lab.associate()?;
    let mut sessions = Vec::new();
    for (n, slice) in [(1, None), (2, Some(0x00_0001))].into_iter().enumerate() {
        let mut plan = lab.plan(n as u32);
        plan.slice = Some(slice);
        let mut session = lab.establish(plan)?;
        lab.activate(&mut session, 0)?;
        sessions.push(session);
    }
    lab.step("AN release: both sessions' downlink packets are to wait (§4.2.6 step 6a)")?;
    for session in &sessions {
        lab.idle(session)?;
    }
    lab.step("packets come for the second slice only: one report, of that session (§4.2.3.3 step 2a)")?;
    let first = lab.downlink_waits(&sessions[1], 0)?;
    let second = lab.downlink_waits(&sessions[1], 0)?;
    lab.expect_paging(&sessions[1])?;
    lab.expect_no_paging()?;
    lab.step("the UE answers: that session's packets come in order (§4.2.3.2 step 12)")?;
    let gnb = |session: &super::Session| (0, session.plan.gnb.teid);
    lab.activate(&mut sessions[1], 0)?;
    lab.expect_downlink(&first, gnb(&sessions[1]), QFI)?;
    lab.expect_downlink(&second, gnb(&sessions[1]), QFI)?;
    lab.downlink(&sessions[1], 0, gnb(&sessions[1]), QFI)?;
    lab.step("the first slice's session is idle still, and reported for itself")?;
    let waiting = lab.downlink_waits(&sessions[0], 0)?;
    lab.expect_paging(&sessions[0])?;
    lab.activate(&mut sessions[0], 0)?;
    lab.expect_downlink(&waiting, gnb(&sessions[0]), QFI)?;
    lab.step("idle again, back by the other gNodeB without being paged")?;
    lab.idle(&sessions[0])?;
    lab.activate(&mut sessions[0], 1)?;
    lab.downlink(&sessions[0], 0, (1, sessions[0].plan.gnb.teid), QFI)?;
    lab.expect_no_paging()?;
    for session in &sessions {
        lab.delete(session)?;
    }
    lab.release()
}
