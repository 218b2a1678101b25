//! PDU session establishment (TS 23.502 §4.3.2.2.1), user traffic both ways, and release (§4.3.4.2).

use super::Stop;
use super::lab::{Lab, QFI};

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    lab.step("the SMF associates with the UPF (TS 29.244 §6.2.6)")?;
    lab.associate()?;
    lab.step("the SMF establishes the session: N4 rules, downlink packets wait (§4.3.2.2.1 step 10)")?;
    let plan = lab.plan(0);
    let mut session = lab.establish(plan)?;
    lab.step("the UE sends before the gNodeB has answered: first uplink data (step 15)")?;
    let mut bytes = lab.uplink(&session, 0, QFI, 0)?;
    lab.step("an answer comes: it waits, and is reported")?;
    let waiting = lab.downlink_waits(&session, 0)?;
    lab.expect_paging(&session)?;
    lab.step("the gNodeB's tunnel is known: what waits is sent (step 16)")?;
    lab.activate(&mut session, 0)?;
    lab.expect_downlink(&waiting, (0, session.plan.gnb.teid), QFI)?;
    bytes += 28 + waiting.len() as u64;
    lab.step("traffic both ways")?;
    for _ in 0..3 {
        bytes += lab.uplink(&session, 0, QFI, 0)?;
        bytes += lab.downlink(&session, 0, (0, session.plan.gnb.teid), QFI)?;
    }
    lab.expect_no_paging()?;
    lab.step("the SMF releases the session: the last usage report has every byte (§4.3.4.2 step 2)")?;
    let usage = lab.delete(&session)?;
    lab.expect_usage(usage, bytes)?;
    lab.uplink_lost(&session, 0, 0)?;
    lab.release()
}
