//! A URR that loses its last PDR while it stays (TS 29.244 §8.2.41, TERMR): what it has measured is in that answer, and its next report begins behind it.

use super::Stop;
use super::lab::{Lab, QFI};

/// Beside the session's own.
const URR: u32 = 9;
/// Of Usage Report Trigger.
const TERMR: u32 = 1 << 11;

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    lab.associate()?;
    let session = lab.session(0)?;
    let gnb = (0, session.plan.gnb.teid);
    let mut bytes = lab.uplink(&session, 0, QFI, 0)?;
    lab.step("the SMF has all packets measured by another URR too")?;
    lab.measure_too(&session, URR)?;
    let mut measured = 0;
    for _ in 0..2 {
        measured += lab.uplink(&session, 0, QFI, 0)?;
        measured += lab.downlink(&session, 0, gnb, QFI)?;
    }
    lab.step("its PDRs name it no more: it is reported, with every byte")?;
    let answer = lab.measure_no_more(&session)?;
    lab.expect_reported(&answer, (URR, TERMR), measured)?;
    lab.step("packets go on; it measures nothing")?;
    bytes += measured + lab.downlink(&session, 0, gnb, QFI)?;
    lab.expect_no_paging()?;
    let usage = lab.delete(&session)?;
    lab.expect_usage(usage, bytes)?;
    lab.release()
}
