// One session's story: who it is, where it runs and why, what its rules do with a packet, what was counted, what waits.

import { get, Failed } from "../api.js";
import { h } from "../dom.js";
import { bps, bytes, count, duration, kbps, plural, teid } from "../format.js";
import { report } from "../model.js";
import { facts, table } from "../table.js";
import { moves } from "./placement.js";

let seid = null;
let detail = null;
let before = null;
let error = null;
let ended = false;
let asking = null;
let redraw = () => {};

export function open(wanted, draw) {
  redraw = draw;
  // An answer about the session before must not be taken for this one's.
  close();
  if (wanted !== seid) [detail, before] = [null, null];
  seid = wanted;
  [error, ended] = [null, false];
  ask();
}

export function close() {
  asking?.abort();
  asking = null;
}

export function tick() {
  if (!asking && !ended) ask();
}

async function ask() {
  const mine = new AbortController();
  asking = mine;
  try {
    const next = await get(`/v1/sessions/${encodeURIComponent(seid)}`, mine.signal);
    if (mine.signal.aborted) return;
    [before, detail, error] = [detail, { ...next, at: performance.now() }, null];
  } catch (e) {
    if (mine.signal.aborted) return;
    if (!(e instanceof Failed)) throw e;
    // That the daemon is away the page says by itself.
    if (e.status !== 0 && e.status !== 429) {
      ended = e.status === 404 && detail !== null;
      error = e.message;
    }
  } finally {
    if (asking === mine) asking = null;
  }
  redraw();
}

export function render() {
  const back = h("p", { class: "back" }, h("a", { href: "#/sessions" }, "All sessions"));
  if (!detail) return [back, h("h1", null, `Session ${seid}`), h("p", { class: error ? "error" : "note", role: "status" }, error ?? "Asking …")];
  const { session, placement, rules, usage, waiting } = detail;
  const ues = [...session.ue_ipv4s, ...session.ue_ipv6s.map((prefix) => `${prefix}/64`)];
  const held = Object.values(waiting).reduce((a, b) => a + b, 0);
  return [
    back,
    h("h1", null, `Session ${session.seid}`),
    ended ? h("p", { class: "error", role: "status" }, "This session has ended. What is shown is from before.") : error ? h("p", { class: "error", role: "status" }, error) : null,
    h("div", { class: "columns" }, identity(session, ues), where(placement, session), traffic(session, held)),
    packets(rules, usage, waiting),
    counted(rules, usage),
    moves(report.offload.recent.filter((move) => move.seid === session.seid), "Moves of this session", "None of the last 64 moves was of this session."),
    h("details", { class: "card" }, h("summary", null, "Rules as JSON"), h("pre", { tabindex: 0 }, JSON.stringify(rules, null, 2))),
  ];
}

function identity(session, ues) {
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Who"),
    facts([
      ["UE", ues.length ? ues.map((ue) => h("span", { class: "line-of-cell" }, ue)) : "–"],
      ["DNN", (session.dnn ?? session.network_instances.join(", ")) || "–"],
      ["Network instances", session.network_instances.join(", ") || "–"],
      ["Slice", session.slice ?? "not sent"],
      ["SMF", session.smf],
      ["SMF's SEID", session.cp_seid],
      ["Reports go to", detail.reports_to],
      ["Age", duration(session.age_ms)],
    ]),
  );
}

function where(placement, session) {
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Where it runs, and why"),
    facts([
      ["Target", h("b", null, placement.target)],
      ["Reason", h("code", null, placement.reason)],
      ["In words", placement.why],
      placement.bps !== null ? ["Measured", `${bps(placement.bps)}, ${count(placement.pps)} packets a second`] : null,
      placement.here_ms !== null ? ["There for", duration(placement.here_ms)] : null,
      ["Table entries", count(detail.entries)],
      ["State", session.buffers ? "idle: its packets are buffered" : "active"],
    ]),
  );
}

function traffic(session, held) {
  const span = before ? (detail.at - before.at) / 1000 : 0;
  const rate = (way) => (span > 0 ? bps((8 * Math.max(0, session[way].bytes - before.session[way].bytes)) / span) : "–");
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Traffic"),
    facts([
      ["Uplink now", rate("uplink")],
      ["Uplink", `${plural(session.uplink.packets, "packet")}, ${bytes(session.uplink.bytes)}`],
      ["Downlink now", rate("downlink")],
      ["Downlink", `${plural(session.downlink.packets, "packet")}, ${bytes(session.downlink.bytes)}`],
      ["Wait for the UE", plural(held, "packet")],
    ]),
    Object.keys(detail.rules.urrs).length === 0 ? h("p", { class: "note" }, "It has no URR, so nothing counts its packets.") : null,
  );
}

/** What becomes of a packet, in the order in which PDRs are looked at. */
function packets(rules, usage, waiting) {
  const rows = Object.entries(rules.pdrs).map(([id, pdr]) => ({ id, pdr })).sort((a, b) => a.pdr.precedence - b.pdr.precedence || a.id - b.id);
  return table(
    "What becomes of a packet: the first rule that detects it decides",
    [
      { head: "PDR", cell: ({ id, pdr }) => [h("b", null, id), h("span", { class: "line-of-cell dim" }, `precedence ${count(pdr.precedence)}`)] },
      { head: "Detects", class: "text", cell: ({ pdr }) => lines(detects(pdr.pdi)) },
      { head: "Does", class: "text", cell: ({ pdr }) => lines(does(pdr, rules)) },
      { head: "Enforces", class: "text", cell: ({ pdr }) => lines(pdr.qer_ids.flatMap((id) => enforces(id, rules.qers[id]))) },
      { head: "Counted by", cell: ({ pdr }) => lines(pdr.urr_ids.map((id) => `URR ${id}`)) },
      { head: "Waiting", number: true, cell: ({ id }) => count(waiting[id] ?? 0) },
    ],
    rows,
  );
}

const lines = (list) => (list.length ? list.map((text) => h("span", { class: "line-of-cell" }, text)) : "–");

const SIDES = { Access: "access", Core: "core", SgiLan: "SGi-LAN/N6-LAN", CpFunction: "SMF", VnInternal: "5G VN internal" };
const side = (name) => SIDES[name] ?? String(name);

function detects(pdi) {
  const ue = pdi.ue_ip;
  const addresses = ue ? [ue.ipv4, ue.ipv6 ? `${ue.ipv6[0]}/${ue.ipv6[1]}` : null].filter(Boolean) : [];
  return [
    `from ${side(pdi.source_interface)}${pdi.network_instance ? ` (${pdi.network_instance})` : ""}`,
    pdi.f_teid ? `tunnel ${teid(pdi.f_teid.teid)} at ${pdi.f_teid.ipv4}` : null,
    addresses.length ? `${ue.destination ? "to" : "from"} ${addresses.join(", ")}` : null,
    pdi.qfis.length ? `QFI ${pdi.qfis.join(", ")}` : null,
    ...pdi.sdf_filters.map(filter),
  ].filter(Boolean);
}

function filter(sdf) {
  const flow = sdf.flow;
  const end = (of, ports) => `${typeof of === "string" ? of.toLowerCase() : of.Prefix.join("/")}${ports.length ? ` ${ports.map(([a, b]) => (a === b ? a : `${a}-${b}`)).join(",")}` : ""}`;
  const parts = [
    flow ? `${flow.protocol === null ? "ip" : `protocol ${flow.protocol}`} from ${end(flow.remote, flow.remote_ports)} to ${end(flow.local, flow.local_ports)}` : null,
    sdf.tos ? `TOS ${sdf.tos[0]} mask ${sdf.tos[1]}` : null,
    sdf.spi !== null ? `SPI ${sdf.spi}` : null,
    sdf.flow_label !== null ? `flow label ${sdf.flow_label}` : null,
    sdf.filter_id !== null ? `filter ${sdf.filter_id}` : null,
  ];
  return parts.filter(Boolean).join(", ");
}

function does(pdr, rules) {
  const far = rules.fars[pdr.far_id];
  if (!far) return ["no FAR: dropped"];
  const action = far.action;
  const way = far.forwarding;
  const bar = far.bar_id === null ? null : rules.bars[far.bar_id];
  return [
    pdr.outer_header_removal ? "takes it out of its tunnel" : null,
    action.drop ? "drops it" : null,
    action.buffer ? `buffers it${action.notify ? " and tells the SMF of the first" : ""}` : null,
    action.forward && way ? `sends it to ${side(way.destination)}${way.network_instance ? ` (${way.network_instance})` : ""}` : null,
    action.forward && way?.outer_header ? `in tunnel ${teid(way.outer_header.teid)} at ${way.outer_header.ipv4}` : null,
    action.forward && way?.tos ? `with outer TOS ${way.tos[0]} mask ${way.tos[1]}` : null,
    action.forward && !way ? "forwards it, but nothing says where to: dropped" : null,
    bar && bar.suggested_packets !== null ? `keeps ${plural(bar.suggested_packets, "packet")} (BAR ${far.bar_id})` : null,
    `FAR ${pdr.far_id}`,
  ].filter(Boolean);
}

function enforces(id, qer) {
  if (!qer) return [`QER ${id} is missing`];
  const rate = (name, of) => (of ? `${name} ${kbps(of[0])} up, ${kbps(of[1])} down` : null);
  return [
    qer.uplink_open ? null : "uplink gate is closed",
    qer.downlink_open ? null : "downlink gate is closed",
    rate("MBR", qer.mbr_kbps),
    rate("GBR", qer.gbr_kbps),
    qer.qfi !== null ? `QFI ${qer.qfi}${qer.rqi ? ", reflective" : ""}` : null,
    `QER ${id}`,
  ].filter(Boolean);
}

function counted(rules, usage) {
  const limit = (of) => (of ? ["total", "uplink", "downlink"].filter((way) => of[way] !== null).map((way) => `${bytes(of[way])} ${way}`).join(", ") : null);
  const rows = Object.entries(rules.urrs).map(([id, urr]) => ({ id, urr, of: usage[id] }));
  return table(
    "Counters",
    [
      { head: "URR", cell: ({ id }) => id },
      { head: "Uplink packets", number: true, cell: ({ of }) => count(of?.uplink.packets) },
      { head: "Uplink bytes", number: true, cell: ({ of }) => count(of?.uplink.bytes) },
      { head: "Downlink packets", number: true, cell: ({ of }) => count(of?.downlink.packets) },
      { head: "Downlink bytes", number: true, cell: ({ of }) => count(of?.downlink.bytes) },
      {
        head: "Reports",
        class: "text",
        cell: ({ urr }) =>
          lines(
            [
              urr.exhausted ? "its quota is used up" : null,
              urr.inactive ? "measures nothing for now" : null,
              urr.period_s ? `every ${duration(urr.period_s * 1000)}` : null,
              limit(urr.volume_threshold) ? `at ${limit(urr.volume_threshold)}` : null,
              limit(urr.volume_quota) ? `quota ${limit(urr.volume_quota)}` : null,
              urr.time_threshold_s ? `after ${duration(urr.time_threshold_s * 1000)}` : null,
              urr.time_quota_s ? `quota ${duration(urr.time_quota_s * 1000)}` : null,
            ].filter(Boolean),
          ),
      },
    ],
    rows,
    { empty: "It has no URR." },
  );
}
