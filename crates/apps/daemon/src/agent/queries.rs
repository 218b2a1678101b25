//! How does the agent answer questions about sessions? From indexes where there is one, else some sessions at a time.

use crate::agent::Agent;
use crate::agent::report::counted;
use crate::manage::report::Count;
use crate::manage::sessions::{PlacementReport, RateReport, SessionDetail, SessionPage, SessionQuery, SessionRow, UsageReport};
use offload::Reason;
use pfcp::node::SessionView;
use pfcp::rules::{Seid, Usage, UserPlane};
use program::MeterConfig;
use std::collections::BTreeSet;
use std::net::IpAddr;
use upf::lower::MeterKey;

/// Sessions that are looked at in one go: a millisecond or two, after which N4 and punted packets have their turn.
const LOOKED_AT: usize = 512;

impl Agent {
    /// Sessions that are asked for, at most a page, among the next [`LOOKED_AT`] at most; the caller asks for the rest with `next`.
    pub(crate) fn sessions_page(&mut self, query: &SessionQuery) -> SessionPage {
        let total = self.n4.node.session_count() as u64;
        let mut page = SessionPage { total, ..SessionPage::default() };
        if let Some(known) = self.known_to_indexes(query) {
            for seid in known {
                let Some(view) = self.n4.node.session(seid) else { continue };
                page.looked_at += 1;
                page.sessions.extend(self.row(view, query));
                if page.sessions.len() >= query.page() {
                    page.next = page.sessions.last().map(|row| row.seid);
                    break;
                }
            }
            return page;
        }
        let views: Vec<SessionView> = self.n4.node.sessions_after(query.after).take(LOOKED_AT).collect();
        let mut more = views.len() == LOOKED_AT;
        let mut last = None;
        let mut left = views.len();
        for view in views {
            left -= 1;
            page.looked_at += 1;
            last = Some(view.seid);
            page.sessions.extend(self.row(view, query));
            if page.sessions.len() >= query.page() {
                more |= left > 0;
                break;
            }
        }
        page.next = last.filter(|_| more);
        page
    }

    /// Sessions of a TEID or UE address, if these are asked for and found; they may fail other conditions.
    fn known_to_indexes(&self, query: &SessionQuery) -> Option<BTreeSet<Seid>> {
        let of_ue = query.ue.map(|ue| match ue {
            IpAddr::V4(address) => self.datapath.plane.sessions_of_ue_ipv4(address),
            IpAddr::V6(address) => self.datapath.plane.sessions_of_ue_ipv6(address),
        });
        let found = query.teid.map(|teid| self.datapath.plane.sessions_of_teid(teid)).or(of_ue)?;
        // A PDR that is not executed, behind one that takes everything, is in no index.
        Some(found.into_iter().collect::<BTreeSet<_>>()).filter(|found| !found.is_empty())
    }

    /// A session's row, if it is asked for.
    fn row(&mut self, view: SessionView, query: &SessionQuery) -> Option<SessionRow> {
        let mut row = self.row_without_counts(&view);
        if !query.matches(&row) {
            return None;
        }
        let counted = counted(&mut self.datapath.plane, view.seid);
        (row.uplink, row.downlink) = (counted.uplink, counted.downlink);
        row.reason = self.placement_of(view.seid).reason;
        Some(row)
    }

    fn row_without_counts(&self, view: &SessionView) -> SessionRow {
        let info = self.datapath.plane.info(view.seid).unwrap_or_default();
        let instances = view.rules.pdrs.values().filter_map(|pdr| pdr.pdi.network_instance.clone());
        let mut teids: Vec<u32> = view.rules.pdrs.values().filter_map(|pdr| Some(pdr.pdi.f_teid?.teid)).collect();
        teids.sort_unstable();
        teids.dedup();
        SessionRow {
            seid: view.seid,
            cp_seid: view.cp.seid,
            smf: view.node_id.to_string(),
            ue_ipv4s: view.ue_ipv4(),
            ue_ipv6s: view.ue_ipv6().into_iter().map(|(prefix, _)| prefix).collect(),
            dnn: view.dnn.clone(),
            network_instances: instances.collect::<BTreeSet<_>>().into_iter().collect(),
            slice: view.rules.s_nssai.map(|(sst, sd)| sd.map_or_else(|| sst.to_string(), |sd| format!("{sst}-{sd:06x}"))),
            teids,
            target: self.datapath.plane.data().target_of(view.seid),
            age_ms: self.life.start.elapsed().saturating_sub(view.since).as_millis() as u64,
            buffers: info.buffers,
            ..SessionRow::default()
        }
    }

    /// One session whole.
    pub(crate) fn session_detail(&mut self, seid: Seid) -> Option<SessionDetail> {
        let view = self.n4.node.session(seid)?;
        let mut session = self.row_without_counts(&view);
        let counted = counted(&mut self.datapath.plane, seid);
        (session.uplink, session.downlink) = (counted.uplink, counted.downlink);
        let placement = self.placement_of(seid);
        session.reason.clone_from(&placement.reason);
        let usage = view.rules.urrs.keys().map(|urr| (*urr, UsageReport::from(self.datapath.plane.usage(seid, *urr)))).collect();
        let waiting =
            self.datapath.plane.pdr_numbers(seid).into_iter().map(|(pdr, queue)| (pdr, self.datapath.engine.waiting_in(queue) as u64));
        let waiting = waiting.filter(|(_, packets)| *packets > 0).collect();
        Some(SessionDetail {
            session,
            reports_to: view.peer.to_string(),
            placement,
            usage,
            waiting,
            rates: self.datapath.plane.rates(seid).into_iter().map(|rate| self.rate(rate)).collect(),
            entries: self.datapath.plane.entries(seid).len() as u64,
            rules: view.rules,
        })
    }

    fn rate(&self, (of, kbps, meter, cell): (MeterKey, u64, MeterConfig, u32)) -> RateReport {
        let waiting = self.datapath.engine.waiting_for_rate(cell);
        RateReport { qer_id: of.qer_id, uplink: of.uplink, kbps, burst_bytes: meter.cbs, waiting }
    }

    /// Where a session is, and why.
    fn placement_of(&self, seid: Seid) -> PlacementReport {
        let target = self.datapath.plane.data().target_of(seid);
        let split = &self.datapath.targets;
        let (Some(_), Some(info)) = (split.fast(), self.datapath.plane.info(seid)) else {
            return PlacementReport {
                target,
                reason: Reason::OnlyTarget.name().into(),
                why: Reason::OnlyTarget.text().into(),
                ..Default::default()
            };
        };
        let wishes = self.datapath.plane.data().wishes().of(&info);
        let standing = self.placing.planner.as_ref().and_then(|p| p.standing_of(seid, self.life.start.elapsed()));
        let looked_at = !split.is_on_fast(seid) && self.is_looked_at(seid, split);
        let reason = if looked_at { Reason::LookedAt } else { split.reason(&wishes, standing.as_ref()) };
        PlacementReport {
            target,
            reason: reason.name().into(),
            why: reason.text().into(),
            pps: standing.as_ref().map(|s| s.pps as u64),
            bps: standing.as_ref().map(|s| s.bps as u64),
            here_ms: standing.as_ref().map(|s| s.here_ns / 1_000_000),
        }
    }
}

impl From<Usage> for UsageReport {
    fn from(usage: Usage) -> UsageReport {
        UsageReport {
            uplink: Count { packets: usage.uplink_packets, bytes: usage.uplink_bytes },
            downlink: Count { packets: usage.downlink_packets, bytes: usage.downlink_bytes },
        }
    }
}
