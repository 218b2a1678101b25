//! N2 handover with indirect forwarding (TS 23.502 §4.9.1.3): the source gNodeB sends what it still has through the UPF to the
//! target, the path is switched, both tunnels are ended by End Markers.

use super::Stop;
use super::lab::{Lab, QFI};

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
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
    lab.end_indirect(&session)?;
    lab.downlink(&session, 0, new, QFI)?;
    lab.delete(&session)?;
    lab.release()
}
