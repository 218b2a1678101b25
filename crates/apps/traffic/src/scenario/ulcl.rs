//! An uplink classifier is inserted and removed (TS 23.502 §4.3.5.4, §4.3.5.5). The UPF stands between gNodeB and the session's
//! anchor behind N9, and becomes a local anchor for what the classifier's filters take out.

use super::Stop;
use super::lab::{Lab, QFI};

/// Number of the anchor among the tunnel nodes.
pub(super) const PSA: usize = 2;
/// The anchor's end of the N9 tunnel.
pub(super) const PSA_TEID: u32 = 0x9999;

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    lab.associate()?;
    lab.step("the session, anchored behind N9: uplink goes there, downlink comes from there")?;
    let (session, n9) = lab.session_over_n9(PSA_TEID, true)?;
    let gnb = (0, session.plan.gnb.teid);
    lab.uplink_to_psa(&session, 0, 0, PSA_TEID)?;
    lab.uplink_to_psa(&session, 0, 1, PSA_TEID)?;
    lab.relay(&session, PSA, n9, gnb)?;
    lab.step("the classifier is inserted: port 2 of the data network is reached locally (§4.3.5.4 step 4)")?;
    lab.insert_classifier(&session)?;
    lab.uplink(&session, 0, QFI, 1)?;
    lab.downlink(&session, 1, gnb, QFI)?;
    lab.step("all else goes over N9 as before")?;
    lab.uplink_to_psa(&session, 0, 0, PSA_TEID)?;
    lab.relay(&session, PSA, n9, gnb)?;
    lab.step("the classifier is removed (§4.3.5.5 step 3)")?;
    lab.remove_classifier(&session)?;
    lab.uplink_to_psa(&session, 0, 1, PSA_TEID)?;
    lab.relay(&session, PSA, n9, gnb)?;
    lab.delete(&session)?;
    lab.release()
}
