// What do two reports say of the time in between? Rates, and a history of them since the page was opened.

/** Samples that are kept: ten minutes. */
const KEPT = 600;

export const history = [];
export let report = null;
/** Rates of the last span; null until there are two reports. */
export let rates = null;

const sum = (values) => values.reduce((a, b) => a + b, 0);
export const isCore = (port) => port.role === "core";

/** Takes a report that has just come. */
export function take(next, at) {
  const before = report;
  report = next;
  // One that started again begins at zero.
  if (before && next.elapsed_ms < before.elapsed_ms) {
    history.length = 0;
    rates = null;
    return;
  }
  if (!before || next.elapsed_ms === before.elapsed_ms) return;
  rates = between(next, before);
  history.push(sample(next, before, rates, at));
  if (history.length > KEPT) history.shift();
}

/** A gap, where the daemon was away. */
export function takeNothing(at) {
  if (history.length > 0 && !history[history.length - 1].away) history.push({ at, away: true });
}

/** A list of maps' keys. */
const keys = (...maps) => [...new Set(maps.flatMap((map) => Object.keys(map ?? {})))].sort();

function between(now, was) {
  const span = (now.elapsed_ms - was.elapsed_ms) / 1000;
  const per = (a, b) => Math.max(0, (a ?? 0) - (b ?? 0)) / span;
  const count = (a, b) => ({ pps: per(a?.packets, b?.packets), bps: 8 * per(a?.bytes, b?.bytes) });
  const each = (a, b, of) => Object.fromEntries(keys(a).map((key) => [key, of(a[key], b?.[key])]));
  return {
    span,
    ports: each(now.ports, was.ports, (a, b) => ({
      received: count(a.received, b?.received),
      transmitted: count(a.transmitted, b?.transmitted),
      lost: per(a.lost_before_us + a.lost_after_us, (b?.lost_before_us ?? 0) + (b?.lost_after_us ?? 0)),
    })),
    targets: each(now.targets, was.targets, (a, b) => ({
      uplink: count(a.uplink, b?.uplink),
      downlink: count(a.downlink, b?.downlink),
      either: count(a.either, b?.either),
      dropped: per(a.dropped.packets, b?.dropped.packets),
      slow_path: per(a.slow_path, b?.slow_path),
    })),
    dropped: each(now.dropped, was.dropped, (a, b) => per(a.packets, b?.packets)),
    refused: each(now.refused, was.refused, per),
    host_unsent: each(now.host_unsent, was.host_unsent, per),
    n4: each(now.n4, was.n4, per),
    n4_messages: each(now.n4_messages, was.n4_messages, (a, b) => ({ received: per(a.received, b?.received), sent: per(a.sent, b?.sent) })),
    punted: sum(keys(now.punted).map((key) => per(now.punted[key].packets, was.punted?.[key]?.packets))),
    load: now.load.map((worker) => {
      const before = was.load.find((w) => w.slot === worker.slot);
      return { slot: worker.slot, pps: per(worker.packets, before?.packets), busy: per(worker.busy_us, before?.busy_us) / 1e6 };
    }),
    moves: {
      fast: per(now.offload.moved_to_fast, was.offload.moved_to_fast),
      base: per(now.offload.moved_to_base, was.offload.moved_to_base),
      failed: per(now.offload.moves_failed, was.offload.moves_failed),
    },
    time: quantiles(now.burst_times, was.burst_times, [0.5, 0.99]),
    rate_wait: quantiles(powers(now.shaped.delays), powers(was.shaped.delays), [0.5, 0.99]),
  };
}

/** A list of counts, number `i` below `2^i` microseconds, as the list that `burst_times` is. */
export function powers(counts) {
  return (counts ?? []).map((packets, i) => ({ below_ns: 2 ** i * 1000, packets }));
}

/** Nanoseconds below which these shares of the packets between two histograms were, or NaN where there were none. */
export function quantiles(now, was, shares) {
  const before = new Map((was ?? []).map(({ below_ns, packets }) => [below_ns, packets]));
  const grown = (now ?? []).map(({ below_ns, packets }) => ({ below_ns, packets: Math.max(0, packets - (before.get(below_ns) ?? 0)) }));
  const all = sum(grown.map(({ packets }) => packets));
  return shares.map((share) => {
    let seen = 0;
    for (const { below_ns, packets } of grown) {
      seen += packets;
      if (packets > 0 && seen >= share * all) return below_ns;
    }
    return NaN;
  });
}

function sample(now, was, r, at) {
  const ports = Object.entries(now.ports);
  const of = (which, way, unit) => sum(ports.filter(([, port]) => which(port)).map(([name]) => r.ports[name][way][unit]));
  const all = () => true;
  // Of users, not of ports, which also receive ARP and what is dropped.
  const carried = (way) => sum(Object.values(r.targets).map((target) => target[way].bps));
  return {
    at,
    uplink_bps: carried("uplink"),
    downlink_bps: carried("downlink"),
    either_bps: carried("either"),
    received_pps: of(all, "received", "pps"),
    received_bps: of(all, "received", "bps"),
    sent_pps: of(all, "transmitted", "pps"),
    sent_bps: of(all, "transmitted", "bps"),
    dropped: sum(Object.values(r.dropped)) + sum(Object.values(r.refused)),
    punted: r.punted,
    half: r.time[0],
    most: r.time[1],
    wait_half: r.rate_wait[0],
    wait_most: r.rate_wait[1],
    targets: Object.fromEntries(Object.entries(now.targets).map(([name, target]) => [name, target.sessions])),
    to_fast: r.moves.fast,
    to_base: r.moves.base,
    moves_failed: r.moves.failed,
    n4_received: r.n4.received,
    n4_sent: r.n4.sent,
    n4_rejected: r.n4.rejected,
  };
}

/** The newest sample, or an empty one. */
export function latest() {
  const last = history[history.length - 1];
  return last && !last.away ? last : { targets: {} };
}

/** Dropped by program and engine and by the control plane, as the report's own sum. */
export function droppedPackets(of) {
  return sum(Object.values(of.dropped).map((c) => c.packets)) + sum(Object.values(of.refused));
}

/** Targets with the fast one first. */
export function targetsInOrder(of) {
  return Object.entries(of.targets).sort(([, a], [, b]) => Number(a.base) - Number(b.base));
}
