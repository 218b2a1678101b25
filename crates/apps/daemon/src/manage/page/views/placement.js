// Which target holds what, and why: over time, and the last moves.

import { chart } from "../chart.js";
import { h } from "../dom.js";
import { bps, count, duration, perSecond, pps } from "../format.js";
import { rates, report, targetsInOrder } from "../model.js";
import { facts, table } from "../table.js";

export const title = "Placement";

/** Why a session is moved: `offload.recent` of docs/report.md. */
const WHY = {
  rule: "a rule of split.rules",
  urgent: "delay-critical by a rule",
  worth: "its rate is worth the room",
  evicted: "a session of more worth takes its room",
  idle: "it has no traffic",
  policy: "the policy wants it there, and it was not",
  not_chosen: "the policy does not want it there any more",
  out_of_service: "its target went out of service",
  metered: "it got a rate, which is policed in one place",
  no_room: "it has changed, and did not fit any more",
  looked_at: "a trace or capture looks at its packets",
};
const OUTCOME = { done: "done", no_room: "no room", failed: "failed" };

export function render() {
  const { offload } = report;
  const targets = targetsInOrder(report);
  return [
    h("h1", null, title),
    h(
      "section",
      { class: "card" },
      h("h2", null, "Policy"),
      facts([
        ["split.policy", h("code", null, offload.policy)],
        ["Moved to the fast target", count(offload.moved_to_fast)],
        ["Moved to the base target", count(offload.moved_to_base)],
        ["Moves that failed", count(offload.moves_failed)],
        ["Had no room", count(offload.refused)],
      ]),
    ),
    h(
      "div",
      { class: "charts" },
      chart("placed", "Sessions by target", null, targets.map(([name], i) => ({ name, tone: (i % 4) + 1, value: (sample) => sample.targets[name] })), count),
      chart("moves", "Moves", null, [
        { name: "to fast", tone: 1, value: (sample) => sample.to_fast },
        { name: "to base", tone: 2, value: (sample) => sample.to_base },
        { name: "failed", tone: 4, value: (sample) => sample.moves_failed },
      ], perSecond),
    ),
    table(
      "Targets",
      [
        { head: "Target", cell: ({ name, of }) => (of.modelled ? `${name} (modelled)` : name) },
        { head: "State", cell: ({ of }) => (of.out_of_service ? h("span", { class: "bad-text" }, "out of service") : "in service") },
        { head: "Sessions", number: true, cell: ({ of }) => count(of.sessions) },
        { head: "Uplink", number: true, cell: ({ rate }) => bps(rate?.uplink.bps) },
        { head: "Downlink", number: true, cell: ({ rate }) => bps(rate?.downlink.bps) },
        { head: "Packets up", number: true, cell: ({ of }) => count(of.uplink.packets) },
        { head: "Packets down", number: true, cell: ({ of }) => count(of.downlink.packets) },
        { head: "Either way", number: true, cell: ({ of }) => count(of.either.packets) },
        { head: "Dropped", number: true, cell: ({ of }) => count(of.dropped.packets) },
        { head: "To control plane", number: true, cell: ({ of }) => count(of.punted.packets) },
        { head: "To slow path", number: true, cell: ({ rate }) => pps(rate?.slow_path) },
        { head: "Times out", number: true, cell: ({ of }) => count(of.fell_over) },
      ],
      targets.map(([name, of]) => ({ name, of, rate: rates?.targets[name] })),
    ),
    moves([...offload.recent].reverse(), "Last moves", "None since the start."),
    ...targets.map(([name, of]) => fill(name, of)),
  ];
}

/** A list of moves. */
export function moves(list, caption, empty) {
  return table(
    caption,
    [
      { head: "Session", cell: (move) => (move.sessions === 1 ? h("a", { href: `#/sessions/${move.seid}` }, move.seid) : `${count(move.sessions)} sessions`) },
      { head: "When", number: true, cell: (move) => `${duration(Math.max(0, report.elapsed_ms - move.at_ms))} ago` },
      { head: "To", cell: (move) => move.to },
      { head: "Why", class: "text", cell: (move) => WHY[move.why] ?? move.why },
      { head: "Outcome", cell: (move) => (move.outcome === "done" ? "done" : h("span", { class: "bad-text" }, OUTCOME[move.outcome] ?? move.outcome)) },
    ],
    list,
    { empty },
  );
}

function fill(name, of) {
  const rows = Object.entries(of.tables).filter(([, table]) => table.entries > 0 || table.hits + table.misses > 0);
  const short = of.short_tables ?? [];
  return table(
    `Tables of ${name}`,
    [
      { head: "Table", cell: ([table]) => (short.includes(table) ? `${table} (too short: packets take the slow path)` : table) },
      { head: "Entries", number: true, cell: ([, table]) => count(table.entries) },
      { head: "Capacity", number: true, cell: ([, table]) => count(table.capacity) },
      { head: "Filled", number: true, cell: ([, table]) => (table.capacity ? `${((100 * table.entries) / table.capacity).toFixed(1)} %` : "–") },
      { head: "Hits", number: true, cell: ([, table]) => count(table.hits) },
      { head: "Misses", number: true, cell: ([, table]) => count(table.misses) },
    ],
    rows,
  );
}
