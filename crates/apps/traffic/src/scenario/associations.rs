//! Many SMFs with one UPF (TS 29.244 §6.2.6): what becomes of one is no matter of the others.

use pfcp::codec::NodeId;

use super::Stop;
use super::lab::{Lab, QFI};

/// SMFs, a session each. They share an address, as the SMFs of a set may.
const SMFS: u32 = 8;

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    let mut sessions = Vec::new();
    for n in 0..SMFS {
        lab.step(&format!("SMF {n} associates, with a session"))?;
        lab.node_id = NodeId::Fqdn(format!("smf{n}.scenario.test"));
        lab.associate()?;
        sessions.push(lab.session(n)?);
    }
    lab.step("each second one releases its association: its session ends with it")?;
    for n in (0..SMFS).step_by(2) {
        lab.node_id = NodeId::Fqdn(format!("smf{n}.scenario.test"));
        lab.release()?;
    }
    for (n, session) in sessions.iter().enumerate() {
        match n % 2 {
            0 => lab.expect_unknown(session)?,
            _ => {
                lab.uplink(session, 0, QFI, 0)?;
                lab.downlink(session, 0, (0, session.plan.gnb.teid), QFI)?;
            }
        }
    }
    lab.step("the others release theirs")?;
    for n in (1..SMFS).step_by(2) {
        lab.node_id = NodeId::Fqdn(format!("smf{n}.scenario.test"));
        lab.delete(&sessions[n as usize])?;
        lab.release()?;
    }
    Ok(())
}
