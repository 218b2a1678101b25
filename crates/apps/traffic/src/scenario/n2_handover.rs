//! N2 handover with indirect forwarding (TS 23.502 §4.9.1.3): the source gNodeB sends what it still has through the UPF to the
//! target, the path is switched, both tunnels are ended by End Markers.

use super::lab::{Lab, QFI};
use super::{Stop, i_upf};

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    handover(lab, false)
}

/// As an SMF in use (Open5GS) does when the first answer is late: the removal comes again, some 0.3 ms behind, under another sequence number.
pub(super) fn run_twice(lab: &mut Lab<'_>) -> Result<(), Stop> {
    handover(lab, true)
}

fn handover(lab: &mut Lab<'_>, twice: bool) -> Result<(), Stop> {
    lab.associate()?;
    let mut session = lab.session(0)?;
    let old = (0, session.plan.gnb.teid);
    lab.downlink(&session, 0, old, QFI)?;
    lab.step("the target gNodeB is prepared: a tunnel for what the source forwards (§4.9.1.3.2 step 11d)")?;
    let forwarded = (1, 0x7777);
    let tunnel = lab.forward_indirectly(&session, forwarded)?;
    lab.step("the source forwards what it has: it reaches the target, with its QFI (§4.9.1.3.3 step 3b)")?;
    lab.relay(&session, 0, tunnel, forwarded)?;
    lab.relay(&session, 0, tunnel, forwarded)?;
    lab.step("RQI, PPI and the number that PDCP gave a packet reach it too (TS 29.281 §5.2.1)")?;
    for container in i_upf::downlink() {
        lab.relay_extensions(&session, (0, tunnel), forwarded, &[container, (i_upf::PDCP_NUMBER, vec![0x12, 0x34])])?;
    }
    lab.step("until the UE has come, new packets go to the source")?;
    lab.downlink(&session, 0, old, QFI)?;
    lab.step("the UE has come: the path is switched, the source gets an end marker (step 8a, 9)")?;
    let new = lab.switch_path(&mut session, 1, false)?;
    lab.expect_end_markers(0, old.1, 1)?;
    lab.downlink(&session, 0, new, QFI)?;
    lab.uplink(&session, 1, QFI, 0)?;
    lab.step("the source's last packet, and its end marker, pass through the UPF too")?;
    lab.relay(&session, 0, tunnel, forwarded)?;
    lab.end_marker(0, tunnel)?;
    lab.expect_end_markers(1, forwarded.1, 1)?;
    lab.step("the forwarding tunnel is removed (step 16)")?;
    match twice {
        false => lab.end_indirect(&session)?,
        true => lab.end_indirect_twice(&session)?,
    }
    lab.downlink(&session, 0, new, QFI)?;
    lab.delete(&session)?;
    lab.release()
}
