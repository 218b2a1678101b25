// N4: how many messages, of what kind, from whom, and what was rejected.

import { chart } from "../chart.js";
import { h } from "../dom.js";
import { count, duration, perSecond } from "../format.js";
import { rates, report } from "../model.js";
import { facts, table } from "../table.js";

export const title = "N4";

export function render() {
  const { n4, n4_messages, n4_rejected, peers } = report;
  return [
    h("h1", null, title),
    h(
      "section",
      { class: "card" },
      h("h2", null, "Sessions"),
      facts([
        ["Now", count(n4.sessions)],
        ["Established", count(n4.established)],
        ["Modified", count(n4.modified)],
        ["Ended", count(n4.ended)],
        ["Downlink Data Reports", count(n4.downlink_data_reports)],
        ["Usage Reports", count(n4.usage_reports)],
        ["Usage Reports lost", count(n4.usage_reports_lost)],
      ]),
    ),
    h(
      "div",
      { class: "charts" },
      chart("n4", "Messages", null, [
        { name: "received", tone: 1, value: (sample) => sample.n4_received },
        { name: "sent", tone: 2, value: (sample) => sample.n4_sent },
        { name: "rejected", tone: 4, value: (sample) => sample.n4_rejected },
      ], perSecond),
    ),
    table(
      "Peers",
      [
        { head: "Node ID", class: "text", cell: (peer) => peer.node_id },
        { head: "Address", cell: (peer) => peer.address },
        { head: "State", cell: (peer) => (peer.lost ? h("span", { class: "bad-text" }, "answers no heartbeats") : "associated") },
        { head: "Sessions", number: true, cell: (peer) => count(peer.sessions) },
        { head: "Received", number: true, cell: (peer) => count(total(peer.messages, "received")) },
        { head: "Sent", number: true, cell: (peer) => count(total(peer.messages, "sent")) },
        { head: "Rejected", number: true, cell: (peer) => count(Object.values(peer.rejected).reduce((a, b) => a + b, 0)) },
        { head: "Associated for", number: true, cell: (peer) => duration(peer.age_ms) },
      ],
      peers,
      { empty: "No SMF is associated. If one tries, look for stranger under Drops: it is missing in n4.peers." },
    ),
    table(
      "Messages by type",
      [
        { head: "Type", cell: ({ type }) => type },
        { head: "Received", number: true, cell: ({ of }) => count(of.received) },
        { head: "Now", number: true, cell: ({ rate }) => perSecond(rate?.received) },
        { head: "Sent", number: true, cell: ({ of }) => count(of.sent) },
        { head: "Now", number: true, cell: ({ rate }) => perSecond(rate?.sent) },
      ],
      Object.entries(n4_messages).map(([type, of]) => ({ type, of, rate: rates?.n4_messages[type] })),
    ),
    table(
      "Requests rejected, by cause",
      [
        { head: "Cause", class: "text", cell: ([cause]) => cause },
        { head: "Requests", number: true, cell: ([, n]) => count(n) },
      ],
      Object.entries(n4_rejected).sort(([, a], [, b]) => b - a),
    ),
  ];
}

const total = (messages, way) => Object.values(messages).reduce((sum, of) => sum + of[way], 0);
