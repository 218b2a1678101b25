//! Node reports (§6.2.9): all CP functions are told that the path to a GTP-U peer has failed, or that it works again.
//!
//! Left out: reports of clock drift, of a path's QoS, and of a peer's restart.

use std::net::Ipv4Addr;
use std::time::Duration;

use super::{About, Node};
use crate::codec::{Ie, Message, MessageType, PeerAddress};
use crate::stats::LogCause;

/// UPFR and UPRR of Node Report Type (§8.2.69).
const UPFR: u8 = 1 << 0;
const UPRR: u8 = 1 << 1;

impl Node {
    /// A GTP-U peer of sessions does not answer echo requests any more, or `works` again.
    pub fn gtpu_path(&mut self, peer: Ipv4Addr, works: bool, now: Duration) {
        if let Some(left_out) = self.may_log(LogCause::Path, now) {
            tracing::warn!(%peer, works, left_out, "GTP-U path");
        }
        let remote = vec![Ie::RemoteGtpuPeer(PeerAddress { ipv4: Some(peer), ipv6: None })];
        let (report_type, report) = match works {
            false => (UPFR, Ie::UserPlanePathFailureReport(remote)),
            true => (UPRR, Ie::UserPlanePathRecoveryReport(remote)),
        };
        let peers: Vec<_> = self.associations.values().map(|association| self.heard_at(association, association.peer)).collect();
        for to in peers {
            let ies = vec![Ie::NodeId(self.config.node_id.clone()), Ie::NodeReportType(report_type), report.clone()];
            if self.request(to, Message::node(MessageType::NodeReportRequest, 0, ies), About::NodeReport, now) {
                self.stats.node_reports += 1;
            }
        }
    }
}
