//! Answers of a running UPF as text for people. Names that come from peers are escaped.

use crate::manage::report::{Count, Drops, MessageCount, Report, ShapedReport, TableReport, WorkerReport};
use crate::manage::request::Reloaded;
use crate::manage::sessions::{RateReport, SessionDetail, SessionPage, SessionRow, seid_text};
use pfcp::rules::{AddressMatch, ApplyAction, Far, HeaderRemoval, Pdr, Qer, SdfFilter, Urr, VolumeLimit};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Longest name of a peer's that is shown, in characters.
const NAME: usize = 64;

/// A table; columns whose heading begins with `>` are numbers, at the right.
fn columns(heading: &[&str], rows: &[Vec<String>], with_heading: bool) -> String {
    let names: Vec<String> = heading.iter().map(|name| name.trim_start_matches('>').to_owned()).collect();
    let lines: Vec<&Vec<String>> = with_heading.then_some(&names).into_iter().chain(rows).collect();
    let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for line in &lines {
        let mut text = String::new();
        for (column, cell) in line.iter().enumerate() {
            let wide = width(column);
            let gap = if column == 0 { "" } else { "  " };
            let _ = if heading[column].starts_with('>') { write!(text, "{gap}{cell:>wide$}") } else { write!(text, "{gap}{cell:<wide$}") };
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

/// What a peer chose, fit for a terminal.
fn name(text: &str) -> String {
    text.escape_debug().take(NAME).collect()
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    let text = items.into_iter().collect::<Vec<_>>().join(",");
    if text.is_empty() { "-".into() } else { text }
}

/// `1h02m03s`.
fn span(ms: u64) -> String {
    let s = ms / 1000;
    match (s / 86400, s / 3600 % 24, s / 60 % 60, s % 60) {
        (0, 0, 0, s) => format!("{s}s"),
        (0, 0, m, s) => format!("{m}m{s:02}s"),
        (0, h, m, s) => format!("{h}h{m:02}m{s:02}s"),
        (d, h, m, _) => format!("{d}d{h:02}h{m:02}m"),
    }
}

fn count(what: Count) -> String {
    format!("{} packets, {} bytes", what.packets, what.bytes)
}

fn sum<'a>(counts: impl IntoIterator<Item = &'a Count>) -> Count {
    let mut sum = Count::default();
    counts.into_iter().for_each(|count| sum += *count);
    sum
}

/// The UPF at a glance.
pub(super) fn overview(now: &Report) -> String {
    let mut out = String::new();
    let mut line = |what: &str, text: String| {
        let _ = writeln!(out, "{what:<10} {text}");
    };
    line("program", format!("{} {}, up {}", now.program.name, now.program.fingerprint, span(now.elapsed_ms)));
    let n4 = |name: &str| now.n4.get(name).copied().unwrap_or_default();
    let state = if now.draining { ", draining: new ones are refused" } else { "" };
    line("sessions", format!("{}, {} ending{state}", n4("sessions"), n4("sessions_ending")));
    let lost = now.peers.iter().filter(|peer| peer.lost).count();
    line(
        "N4",
        format!(
            "{} peers, {lost} lost; {} messages received, {} sent, {} rejected",
            now.peers.len(),
            n4("received"),
            n4("sent"),
            n4("rejected")
        ),
    );
    line("received", count(sum(now.ports.values().map(|port| &port.received))));
    line("sent", count(sum(now.ports.values().map(|port| &port.transmitted))));
    let drops = now.drops();
    line("dropped", format!("{} packets; lost by ports: {}", drops.packets(), drops.lost()));
    line("punted", format!("{} packets, {} refused", sum(now.punted.values()).packets, now.refused.values().sum::<u64>()));
    line("waiting", format!("{} packets for idle UEs", now.buffered.packets.saturating_sub(now.released.packets)));
    for (target, of) in &now.targets {
        let out_of_service = if of.out_of_service { ", out of service" } else { "" };
        line("target", format!("{}: {} sessions{out_of_service}", name(target), of.sessions));
    }
    for (port, of) in now.ports.iter().filter(|(_, of)| of.down) {
        line("port", format!("{} ({}) is down", name(port), of.driver));
    }
    if now.imbalance != 0 {
        line("imbalance", format!("{} packets: in flight, or a defect if it stays", now.imbalance));
    }
    out
}

/// A page of sessions.
pub(super) fn sessions(page: &SessionPage, heading: bool, say_next: bool) -> String {
    let rows: Vec<Vec<String>> = page.sessions.iter().map(row).collect();
    let names = [
        "SEID",
        "UE",
        "TEIDs",
        "DNN",
        "slice",
        "SMF",
        "target",
        "reason",
        ">age",
        ">up packets",
        ">up bytes",
        ">down packets",
        ">down bytes",
    ];
    let mut out = columns(&names, &rows, heading);
    if say_next {
        let _ = match page.next {
            Some(next) => writeln!(out, "{} of {} sessions; next page: --after {}", rows.len(), page.total, seid_text::text(next)),
            None => writeln!(out, "{} of {} sessions", rows.len(), page.total),
        };
    }
    out
}

fn ues(row: &SessionRow) -> String {
    let v4 = row.ue_ipv4s.iter().map(ToString::to_string);
    list(v4.chain(row.ue_ipv6s.iter().map(|prefix| format!("{prefix}/64"))))
}

/// The DNN, or the network instances of the PDRs where the SMF sent none.
fn dnn(row: &SessionRow) -> String {
    row.dnn.as_deref().map_or_else(|| list(row.network_instances.iter().map(|of| name(of))), name)
}

fn row(row: &SessionRow) -> Vec<String> {
    vec![
        seid_text::text(row.seid),
        ues(row),
        list(row.teids.iter().map(|teid| format!("{teid:#x}"))),
        dnn(row),
        row.slice.clone().unwrap_or_else(|| "-".into()),
        name(&row.smf),
        if row.buffers { format!("{} (idle)", name(&row.target)) } else { name(&row.target) },
        name(&row.reason),
        span(row.age_ms),
        row.uplink.packets.to_string(),
        row.uplink.bytes.to_string(),
        row.downlink.packets.to_string(),
        row.downlink.bytes.to_string(),
    ]
}

/// One session whole.
pub(super) fn session(of: &SessionDetail) -> String {
    let row = &of.session;
    let mut out = String::new();
    let mut line = |text: String| {
        let _ = writeln!(out, "{text}");
    };
    line(format!(
        "session {}: established {} ago by {} as {}, reports to {}",
        seid_text::text(row.seid),
        span(row.age_ms),
        name(&row.smf),
        seid_text::text(row.cp_seid),
        of.reports_to
    ));
    line(format!("UE {}, DNN {}, slice {}", ues(row), dnn(row), row.slice.as_deref().unwrap_or("-")));
    line(format!("on {}: {} ({}); {} entries", name(&of.placement.target), of.placement.why, of.placement.reason, of.entries));
    if let (Some(pps), Some(bps)) = (of.placement.pps, of.placement.bps) {
        line(format!("  there for {}, {pps} packets/s, {bps} bit/s", span(of.placement.here_ms.unwrap_or_default())));
    }
    line(format!("up {}; down {}", count(row.uplink), count(row.downlink)));
    for (id, pdr) in &of.rules.pdrs {
        line(format!("PDR {id}: {}", pdr_text(pdr)));
        pdr.pdi.sdf_filters.iter().for_each(|filter| line(format!("  filter {}", filter_text(filter))));
        if let Some(packets) = of.waiting.get(id) {
            line(format!("  {packets} packets wait"));
        }
    }
    of.rules.fars.iter().for_each(|(id, far)| line(format!("FAR {id}: {}", far_text(far))));
    for (id, qer) in &of.rules.qers {
        line(format!("QER {id}: {}", qer_text(qer)));
        for RateReport { uplink, kbps, burst_bytes, waiting, .. } in of.rates.iter().filter(|rate| rate.qer_id == *id) {
            let side = if *uplink { "up" } else { "down" };
            let waiting = if *waiting > 0 { format!(", {waiting} packets wait") } else { String::new() };
            line(format!("  {side} {kbps} kbit/s, {burst_bytes} bytes at once after a pause{waiting}"));
        }
    }
    for (id, urr) in &of.rules.urrs {
        line(format!("URR {id}: {}", urr_text(urr)));
        if let Some(usage) = of.usage.get(id) {
            line(format!("  up {}; down {}", count(usage.uplink), count(usage.downlink)));
        }
    }
    for (id, bar) in &of.rules.bars {
        let delay = bar.notification_delay.map(|steps| format!("notify after {} ms", u32::from(steps) * 50));
        let suggested = bar.suggested_packets.map(|packets| format!("keep {packets} packets"));
        line(format!("BAR {id}: {}", list(delay.into_iter().chain(suggested))));
    }
    if of.rules.inactivity_s > 0 {
        line(format!("inactivity is reported after {} s", of.rules.inactivity_s));
    }
    out
}

fn ids<T: ToString>(what: &str, ids: &[T]) -> String {
    if ids.is_empty() { String::new() } else { format!(", {what} {}", list(ids.iter().map(T::to_string))) }
}

fn pdr_text(pdr: &Pdr) -> String {
    let mut out = format!("precedence {}, from {}", pdr.precedence, pdr.pdi.source_interface);
    if let Some(instance) = &pdr.pdi.network_instance {
        let _ = write!(out, " ({})", name(instance));
    }
    if let Some(tunnel) = pdr.pdi.f_teid {
        let _ = write!(out, ", TEID {:#x} at {}", tunnel.teid, tunnel.ipv4);
    }
    if let Some(ue) = pdr.pdi.ue_ip {
        let v4 = ue.ipv4.map(|address| address.to_string());
        let v6 = ue.ipv6.map(|(prefix, length)| format!("{prefix}/{length}"));
        let side = if ue.destination { "to" } else { "from" };
        let _ = write!(out, ", {side} UE {}", list(v4.into_iter().chain(v6)));
    }
    out += &ids("QFI", &pdr.pdi.qfis);
    out += match pdr.outer_header_removal {
        HeaderRemoval::No => "",
        HeaderRemoval::Gtpu => ", outer header removed",
        HeaderRemoval::GtpuAndContainer => ", outer header and PDU session container removed",
    };
    out += &ids("FAR", &pdr.far_id.into_iter().collect::<Vec<_>>());
    out += &ids("QER", &pdr.qer_ids);
    out + &ids("URR", &pdr.urr_ids)
}

fn filter_text(filter: &SdfFilter) -> String {
    let mut out = Vec::new();
    if let Some(flow) = &filter.flow {
        let side = |address: &AddressMatch, ports: &[(u16, u16)]| {
            let address = match address {
                AddressMatch::Any => "any".to_owned(),
                AddressMatch::Assigned => "assigned".to_owned(),
                AddressMatch::Prefix(address, length) => format!("{address}/{length}"),
            };
            let ports = ports.iter().map(|(low, high)| if low == high { low.to_string() } else { format!("{low}-{high}") });
            let ports = ports.collect::<Vec<_>>().join(",");
            if ports.is_empty() { address } else { format!("{address} {ports}") }
        };
        let protocol = flow.protocol.map_or_else(|| "ip".to_owned(), |protocol| protocol.to_string());
        out.push(format!(
            "permit out {protocol} from {} to {}",
            side(&flow.remote, &flow.remote_ports),
            side(&flow.local, &flow.local_ports)
        ));
    }
    out.extend(filter.tos.map(|(value, mask)| format!("TOS {value:#x}/{mask:#x}")));
    out.extend(filter.spi.map(|spi| format!("SPI {spi:#x}")));
    out.extend(filter.flow_label.map(|label| format!("flow label {label:#x}")));
    out.extend(filter.filter_id.map(|id| format!("ID {id}")));
    list(out)
}

fn far_text(far: &Far) -> String {
    let ApplyAction { drop, forward, buffer, notify } = far.action;
    let actions = [(drop, "drop"), (forward, "forward"), (buffer, "buffer"), (notify, "notify")];
    let mut out = actions.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect::<Vec<_>>().join(", ");
    if let Some(to) = &far.forwarding {
        let _ = write!(out, " to {}", to.destination);
        if let Some(instance) = &to.network_instance {
            let _ = write!(out, " ({})", name(instance));
        }
        if let Some(tunnel) = to.outer_header {
            let _ = write!(out, ", tunnel {:#x} to {}", tunnel.teid, tunnel.ipv4);
        }
        if let Some((value, mask)) = to.tos {
            let _ = write!(out, ", TOS {value:#x}/{mask:#x}");
        }
    }
    out + &ids("BAR", &far.bar_id.into_iter().collect::<Vec<_>>())
}

fn qer_text(qer: &Qer) -> String {
    let gate = |open| if open { "open" } else { "closed" };
    let mut out = format!("gate up {}, down {}", gate(qer.uplink_open), gate(qer.downlink_open));
    for (what, rates) in [("MBR", qer.mbr_kbps), ("GBR", qer.gbr_kbps)] {
        if let Some((up, down)) = rates {
            let _ = write!(out, ", {what} up {up}, down {down} kbit/s");
        }
    }
    out += &ids("QFI", &qer.qfi.into_iter().collect::<Vec<_>>());
    if qer.rqi { out + ", RQI" } else { out }
}

fn urr_text(urr: &Urr) -> String {
    let mut out: Vec<String> = Vec::new();
    out.extend(
        [(urr.measure_volume, "volume"), (urr.measure_duration, "duration")]
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, word)| (*word).to_owned()),
    );
    let limit = |what: &str, limit: Option<VolumeLimit>| {
        let VolumeLimit { total, uplink, downlink } = limit?;
        let parts = [("", total), ("up ", uplink), ("down ", downlink)];
        Some(format!("{what} {} bytes", list(parts.into_iter().filter_map(|(side, bytes)| Some(format!("{side}{}", bytes?))))))
    };
    out.extend(limit("threshold", urr.volume_threshold));
    out.extend(limit("quota", urr.volume_quota));
    for (what, seconds) in [("every", urr.period_s), ("time threshold", urr.time_threshold_s), ("time quota", urr.time_quota_s)] {
        out.extend(seconds.map(|s| format!("{what} {s} s")));
    }
    for (what, events) in [("threshold", urr.event_threshold), ("quota", urr.event_quota)] {
        out.extend(events.map(|n| format!("{what} {n} events")));
    }
    if urr.exhausted {
        out.push("quota used up".into());
    }
    out.push(format!("triggers {:#08x}", urr.triggers));
    out.join(", ")
}

/// Ports, and what each worker did on them.
pub(super) fn ports(now: &Report) -> String {
    let mut rows = Vec::new();
    for (port, of) in &now.ports {
        let state = if of.down { "down" } else { "up" };
        let numbers = [
            of.received.packets,
            of.received.bytes,
            of.transmitted.packets,
            of.transmitted.bytes,
            of.lost_before_us,
            of.lost_after_us,
            of.reopened,
        ];
        let texts = [name(port), of.driver.clone(), state.to_owned()];
        rows.push(texts.into_iter().chain(numbers.map(|n| n.to_string())).collect());
        if of.received_ahead != Count::default() || of.transmitted_ahead != Count::default() {
            rows.push(part("  fast target", of.received_ahead, of.transmitted_ahead));
        }
        rows.extend(of.queues.iter().map(|queue| part(&format!("  worker {}", queue.worker), queue.received, queue.transmitted)));
    }
    let names = ["port", "driver", "state", ">received", ">bytes", ">sent", ">bytes", ">lost before", ">lost after", ">reopened"];
    columns(&names, &rows, true) + &port_queues(now)
}

/// Queues of ports that have a rate: what passed through them, what was dropped, and what delay half and 99 of 100 packets did not exceed.
fn port_queues(now: &Report) -> String {
    let mut rows = Vec::new();
    for (port, of) in &now.ports {
        // What was never used says nothing.
        let used = |of: &ShapedReport| of.queued > 0 || !of.dropped.is_empty();
        for (number, queue) in of.waiting.iter().enumerate().filter(|(_, queue)| used(queue)) {
            let dropped: u64 = queue.dropped.values().sum();
            let numbers = [queue.sent.packets, queue.sent.bytes, queue.marked, dropped, queue.delay_us(0.5), queue.delay_us(0.99)];
            rows.push([name(port), number.to_string()].into_iter().chain(numbers.map(|n| n.to_string())).collect());
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let names = ["port", ">queue", ">sent", ">bytes", ">marked", ">dropped", ">us (p50)", ">us (p99)"];
    format!("\n{}", columns(&names, &rows, true))
}

fn part(what: &str, received: Count, sent: Count) -> Vec<String> {
    let numbers = [received.packets, received.bytes, sent.packets, sent.bytes].map(|n| n.to_string());
    [what.to_owned(), String::new(), String::new()].into_iter().chain(numbers).chain([(); 3].map(|()| String::new())).collect()
}

/// Drops, by where they were counted.
pub(super) fn drops(now: &Report) -> String {
    let Drops { dropped, by_port, leaving, refused, host_unsent, lost, n4 } = now.drops();
    let mut rows = Vec::new();
    let mut row = |by: &str, port: &str, reason: &str, packets: u64, bytes: Option<u64>| {
        let bytes = bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
        rows.push(vec![by.to_owned(), name(port), name(reason), packets.to_string(), bytes]);
    };
    for (reason, count) in &dropped {
        row("program", "all", reason, count.packets, Some(count.bytes));
        for (way, ports) in [("came by", &by_port), ("was to leave by", &leaving)] {
            for (port, of) in ports {
                if let Some(packets) = of.get(reason).filter(|packets| **packets > 0) {
                    row(way, port, reason, *packets, None);
                }
            }
        }
    }
    refused.iter().for_each(|(reason, packets)| row("host", "-", reason, *packets, None));
    host_unsent.iter().for_each(|(reason, packets)| row("host, sending", "-", reason, *packets, None));
    for (port, of) in lost.iter().filter(|(_, of)| of.before_us + of.after_us > 0) {
        row("device", port, "lost_before_us", of.before_us, None);
        row("device", port, "lost_after_us", of.after_us, None);
    }
    n4.iter().for_each(|(reason, messages)| row("N4", "-", reason, *messages, None));
    if rows.is_empty() {
        return "nothing was dropped\n".into();
    }
    columns(&["by", "port", "reason", ">packets", ">bytes"], &rows, true)
}

/// Tables of the whole.
pub(super) fn tables(now: &Report) -> String {
    table_rows(&now.tables)
}

fn table_rows(tables: &BTreeMap<String, TableReport>) -> String {
    let row = |(table, of): (&String, &TableReport)| {
        let full = if of.capacity == 0 { "-".to_owned() } else { format!("{:.1} %", of.entries as f64 * 100.0 / of.capacity as f64) };
        let numbers = [of.entries, of.capacity].map(|n| n.to_string());
        let lookups = [of.hits, of.misses].map(|n| n.to_string());
        [name(table)].into_iter().chain(numbers).chain([full]).chain(lookups).collect()
    };
    let rows: Vec<Vec<String>> = tables.iter().map(row).collect();
    columns(&["table", ">entries", ">capacity", ">full", ">hits", ">misses"], &rows, true)
}

/// Targets, and the tables of each.
pub(super) fn targets(now: &Report) -> String {
    let mut out = String::new();
    for (target, of) in &now.targets {
        let modelled = if of.modelled { " (modelled)" } else { "" };
        let state = if of.out_of_service { "out of service" } else { "in service" };
        let _ = writeln!(
            out,
            "{}{modelled}: {state}, {} sessions, out of service {} times, back {} times",
            name(target),
            of.sessions,
            of.fell_over,
            of.came_back
        );
        let _ = writeln!(out, "  carried up {}; down {}", count(of.uplink), count(of.downlink));
        if of.either.packets > 0 {
            let _ = writeln!(out, "  carried from ports of role both {}", count(of.either));
        }
        let _ = writeln!(out, "  dropped {}; given to the control plane {}", count(of.dropped), count(of.punted));
        if of.slow_path > 0 {
            let _ = writeln!(out, "  passed to the slow path: {} packets", of.slow_path);
        }
        if !of.short_tables.is_empty() {
            let _ = writeln!(out, "  full tables, looked up on the slow path: {}", list(of.short_tables.iter().map(|table| name(table))));
        }
        table_rows(&of.tables).lines().for_each(|line| {
            let _ = writeln!(out, "  {line}");
        });
    }
    let offload = &now.offload;
    let _ = writeln!(
        out,
        "moves: {} to the fast target, {} back, {} failed; no room {} times",
        offload.moved_to_fast, offload.moved_to_base, offload.moves_failed, offload.refused
    );
    out
}

/// Load between two looks.
pub(super) fn workers(now: &Report, before: &Report) -> String {
    let span_us = (now.elapsed_ms.saturating_sub(before.elapsed_ms)).max(1) * 1000;
    let row = |of: &WorkerReport| {
        let was = before.load.iter().find(|was| was.slot == of.slot && was.packets <= of.packets).copied().unwrap_or_default();
        let busy = (of.busy_us.saturating_sub(was.busy_us) as f64 * 100.0 / span_us as f64).min(100.0);
        let pps = of.packets.saturating_sub(was.packets) * 1_000_000 / span_us;
        vec![
            of.slot.to_string(),
            format!("{busy:.0} %"),
            pps.to_string(),
            of.packets.to_string(),
            format!("{:.1} %", of.waiting_permille as f64 / 10.0),
            of.buckets.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = now.load.iter().map(row).collect();
    let mut out = columns(&[">worker", ">busy", ">packets/s", ">packets", ">ring full", ">buckets"], &rows, true);
    let _ = writeln!(out, "{} buckets moved since the start", now.moved_buckets);
    out
}

/// Peers and their messages.
pub(super) fn peers(now: &Report) -> String {
    let mut out = String::new();
    for peer in &now.peers {
        let state = match peer.lost_ms.filter(|_| peer.lost) {
            Some(ms) => format!("lost {} ago: it answers no heartbeats; associated", span(ms)),
            None => "associated".to_owned(),
        };
        let age = span(peer.age_ms);
        let _ = writeln!(out, "{} at {}: {state} {age} ago, {} sessions", name(&peer.node_id), peer.address, peer.sessions);
        out.push_str(&messages(&peer.messages));
        for (cause, requests) in &peer.rejected {
            let _ = writeln!(out, "  rejected {requests}: {cause}");
        }
    }
    let _ = writeln!(out, "all, since the start:");
    out.push_str(&messages(&now.n4_messages));
    for (cause, requests) in &now.n4_rejected {
        let _ = writeln!(out, "  rejected {requests}: {cause}");
    }
    for (counter, value) in now.n4.iter().filter(|(counter, value)| counter.starts_with("dropped_") && **value > 0) {
        let _ = writeln!(out, "  {counter}: {value}");
    }
    out
}

fn messages(by_type: &BTreeMap<String, MessageCount>) -> String {
    let row = |(kind, of): (&String, &MessageCount)| vec![format!("  {kind}"), of.received.to_string(), of.sent.to_string()];
    let rows: Vec<Vec<String>> = by_type.iter().map(row).collect();
    columns(&["  message", ">received", ">sent"], &rows, !rows.is_empty())
}

/// What the fast target holds, and why.
pub(super) fn offload(now: &Report) -> String {
    let offload = &now.offload;
    let mut out = String::new();
    let _ = writeln!(out, "policy {}", name(&offload.policy));
    for (target, of) in &now.targets {
        let state = if of.out_of_service { ", out of service" } else { "" };
        let _ = writeln!(out, "{}: {} sessions, {} wanted there{state}", name(target), of.sessions, of.wanted);
    }
    if offload.unplaced > 0 {
        let _ = writeln!(out, "{} sessions are yet to be looked at", offload.unplaced);
    }
    let _ = writeln!(
        out,
        "moves: {} to the fast target, {} back, {} failed; no room {} times",
        offload.moved_to_fast, offload.moved_to_base, offload.moves_failed, offload.refused
    );
    if !offload.recent.is_empty() {
        let row = |of: &crate::manage::report::MoveReport| {
            let whose = if of.seid == 0 { format!("{} sessions", of.sessions) } else { seid_text::text(of.seid) };
            vec![span(now.elapsed_ms.saturating_sub(of.at_ms)), whose, of.to.clone(), of.why.clone(), of.outcome.clone()]
        };
        let rows: Vec<Vec<String>> = offload.recent.iter().rev().map(row).collect();
        out.push_str(&columns(&[">ago", "session", "to", "why", "outcome"], &rows, true));
    }
    let _ = writeln!(out, "one session's reason: splitplane show session SEID");
    out
}

/// What a reload changed, or would change.
pub(super) fn reloaded(reloaded: &Reloaded, dry_run: bool) -> String {
    let mut out: String = reloaded.changes.iter().map(|line| format!("{line}\n")).collect();
    out += match (dry_run, reloaded.changes.is_empty() && reloaded.restart.is_empty()) {
        (_, true) => "nothing differs from the configuration in use\n",
        (true, false) => "nothing was changed: this was a dry run\n",
        (false, false) => "done\n",
    };
    reloaded.failed.iter().for_each(|why| out += &format!("failed: {why}\n"));
    if !reloaded.restart.is_empty() {
        out += &format!("a restart is needed for {}: without it the whole file is refused\n", reloaded.restart.join(", "));
    }
    out
}

#[cfg(test)]
mod tests;
