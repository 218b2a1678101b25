//! Online charging whose first answer is a quota of nothing (TS 29.244 §5.2.2.2.1, TS 32.255 §5.2.1): nothing passes, the first packet that wants to is reported, and a
//! quota that comes lets packets pass.

use super::Stop;
use super::lab::{Lab, QFI};
use crate::plan::rules::{URR_SESSION, VOLQU};

/// As Usage Report Trigger (§8.2.41) has it: the same bit as in Reporting Triggers.
const REPORTED: (u32, u32) = (URR_SESSION, VOLQU);

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    lab.associate()?;
    let session = lab.session(0)?;
    let gnb = (0, session.plan.gnb.teid);
    let mut bytes = lab.uplink(&session, 0, QFI, 0)?;
    bytes += lab.downlink(&session, 0, gnb, QFI)?;
    lab.step("the CHF grants nothing, while packets flow: without a packet there is no report")?;
    lab.grant(&session, 0)?;
    lab.expect_no_paging()?;
    lab.step("the UE sends: nothing passes, and the SMF is told once")?;
    lab.uplink_lost(&session, 0, 0)?;
    lab.expect_usage_report(&session, REPORTED, bytes)?;
    lab.uplink_lost(&session, 0, 0)?;
    lab.downlink_waits(&session, 0)?;
    lab.expect_no_paging()?;
    lab.step("nothing again: the next packet is told, whichever way it goes")?;
    lab.grant(&session, 0)?;
    lab.downlink_waits(&session, 0)?;
    lab.expect_usage_report(&session, REPORTED, 0)?;
    lab.step("a quota comes: packets pass, and what was stopped does not")?;
    lab.grant(&session, 1 << 20)?;
    let mut granted = lab.uplink(&session, 0, QFI, 0)?;
    granted += lab.downlink(&session, 0, gnb, QFI)?;
    lab.expect_no_paging()?;
    let usage = lab.delete(&session)?;
    lab.expect_usage(usage, granted)?;
    lab.release()
}
