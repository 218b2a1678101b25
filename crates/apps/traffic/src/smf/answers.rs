//! What the SMF answers to the UPF's requests (TS 29.244 §6.2.2, §6.2.6.3, §6.2.7.3, §6.2.9, §6.3.5).

use std::collections::VecDeque;
use std::sync::mpsc::SyncSender;

use pfcp::codec::{Cause, FTeid, Ie, Message, MessageType, find};

use super::{Event, Shared, lock};
use crate::record::Tunnel;

/// Answers that are kept for requests that come again.
const KEPT: usize = 512;

/// Answers given, so that a repeated request has one effect.
#[derive(Default)]
pub(super) struct Answers {
    /// Request and answer, oldest first.
    given: VecDeque<(Vec<u8>, Vec<u8>)>,
}

impl Answers {
    /// The octets of the answer to a request of the UPF; `None`: a kind of request that is not for an SMF.
    pub(crate) fn answer(&mut self, request: &Message, octets: &[u8], shared: &Shared, events: &SyncSender<Event>) -> Option<Vec<u8>> {
        if let Some((_, answer)) = self.given.iter().find(|(asked, _)| asked == octets) {
            return Some(answer.clone());
        }
        let mut seid = None;
        let ies = match request.kind {
            MessageType::HeartbeatRequest => {
                if let Some(recovery_ntp_s) = find!(request.ies, RecoveryTimeStamp) {
                    note_recovery(shared, *recovery_ntp_s, events);
                }
                vec![Ie::RecoveryTimeStamp(shared.started_at_ntp_s)]
            }
            MessageType::SessionReportRequest => {
                let (up_seid, cause) = report(request, shared, events);
                seid = Some(up_seid);
                vec![Ie::Cause(cause)]
            }
            MessageType::AssociationSetupRequest => {
                vec![node_id(shared), accept(), Ie::RecoveryTimeStamp(shared.started_at_ntp_s), Ie::CpFunctionFeatures(vec![0])]
            }
            MessageType::AssociationUpdateRequest => {
                if find!(request.ies, PfcpAssociationReleaseRequest).is_some_and(|flags| flags & 0x01 != 0) {
                    let _ = events.try_send(Event::ReleaseWanted);
                }
                vec![node_id(shared), accept()]
            }
            MessageType::NodeReportRequest => vec![node_id(shared), accept()],
            _ => return None,
        };
        let answer = Message { seid, priority: request.priority, ..Message::node(request.kind.response()?, request.sequence, ies) };
        let answer = answer.encode().ok()?;
        // A heartbeat may be answered again each time.
        if request.kind != MessageType::HeartbeatRequest {
            if self.given.len() == KEPT {
                self.given.pop_front();
            }
            self.given.push_back((octets.to_vec(), answer.clone()));
        }
        Some(answer)
    }
}

/// A Session Report Request (§7.5.8): the UPF's SEID and the cause of the answer.
fn report(request: &Message, shared: &Shared, events: &SyncSender<Event>) -> (u64, Cause) {
    let mut state = lock(&shared.state);
    let Some(kept) = request.seid.and_then(|cp_seid| state.sessions.get_mut(&cp_seid)) else {
        return (0, Cause::SESSION_CONTEXT_NOT_FOUND);
    };
    let seid = kept.up_seid;
    // An event without a receiver, or after too many, is one that nobody asked for.
    let tell = |event: Event| drop(events.try_send(event));
    for (urr_id, triggers) in kept.book.enter(&request.ies) {
        tell(Event::Usage { seid, urr_id, triggers });
    }
    for ie in &request.ies {
        match ie {
            Ie::DownlinkDataReport(ies) => {
                let pdr_ids = ies.iter().filter_map(|ie| if let Ie::PdrId(id) = ie { Some(*id) } else { None });
                tell(Event::DownlinkData { seid, pdr_ids: pdr_ids.collect() });
            }
            Ie::ErrorIndicationReport(ies) => {
                let tunnel = find!(ies, FTeid).and_then(|f_teid| match f_teid {
                    FTeid::Given { teid, ipv4: Some(addr), .. } => Some(Tunnel { addr: *addr, teid: *teid }),
                    _ => None,
                });
                tell(Event::ErrorIndication { seid, tunnel });
            }
            _ => {}
        }
    }
    (seid, Cause::REQUEST_ACCEPTED)
}

/// Notices a restart: another recovery time stamp than at association (TS 23.007 §19A).
pub(super) fn note_recovery(shared: &Shared, recovery_ntp_s: u32, events: &SyncSender<Event>) {
    let mut state = lock(&shared.state);
    if let Some(upf) = &mut state.upf
        && upf.recovery_ntp_s != recovery_ntp_s
    {
        upf.recovery_ntp_s = recovery_ntp_s;
        let _ = events.try_send(Event::Restarted);
    }
}

fn node_id(shared: &Shared) -> Ie {
    Ie::NodeId(shared.config.node_id.clone())
}

fn accept() -> Ie {
    Ie::Cause(Cause::REQUEST_ACCEPTED)
}
