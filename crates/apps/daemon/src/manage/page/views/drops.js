// What was dropped, refused or lost, and what each reason means: the text is that of docs/reasons.md, which the daemon has.

import { get, Failed } from "../api.js";
import { h } from "../dom.js";
import { count, perSecond, pps } from "../format.js";
import { rates, report } from "../model.js";
import { table } from "../table.js";

export const title = "Drops";

/** By group and name. */
let meanings = null;
let asking = false;
let redraw = () => {};

export function open(_, draw) {
  redraw = draw;
  tick();
}

export function tick() {
  if (!meanings && !asking) ask();
}

async function ask() {
  asking = true;
  try {
    const list = await get("/v1/reasons");
    meanings = new Map(list.map((of) => [`${of.by} ${of.reason}`, of]));
    redraw();
  } catch (e) {
    // Asked again with the next report.
    if (!(e instanceof Failed)) throw e;
  } finally {
    asking = false;
  }
}

const meaning = (reason, ...groups) => groups.map((by) => meanings?.get(`${by} ${reason}`)).find(Boolean);

export function render() {
  const { dropped, refused, host_unsent, ports, n4, punted } = report;
  const of = (field, reason, note) => Object.entries(ports).filter(([, port]) => port[field]?.[reason] > 0).map(([name, port]) => `${name}${note} ${count(port[field][reason])}`);
  const byPort = (reason) => [...of("dropped", reason, ""), ...of("unsent", reason, " (leaving)")].join(", ");
  const packets = Object.entries(dropped).map(([reason, of]) => ({ reason, total: of.packets, rate: rates?.dropped[reason], ports: byPort(reason), of: meaning(reason, "program", "engine") }));
  const host = Object.entries(refused).map(([reason, total]) => ({ reason, total, rate: rates?.refused[reason], of: meaning(reason, "control_plane") }));
  const unsent = Object.entries(host_unsent).map(([reason, total]) => ({ reason, total, rate: rates?.host_unsent[reason], of: meaning(reason, "host_unsent") }));
  const prefix = "dropped_";
  const messages = Object.entries(n4).filter(([name, total]) => name.startsWith(prefix) && total > 0).map(([name, total]) => {
    const reason = name.slice(prefix.length);
    return { reason, total, rate: rates?.n4[name], of: meaning(reason, "n4") };
  });
  const lost = Object.entries(ports).map(([name, port]) => ({ name, port })).filter(({ port }) => port.lost_before_us + port.lost_after_us > 0);
  const given = Object.entries(punted).map(([reason, of]) => ({ reason, total: of.packets, rate: undefined, of: meaning(reason, "punt") }));
  return [
    h("h1", null, title),
    h("p", { class: "note" }, "Each packet is counted under one reason. A reason that grows slowly is normal on most networks."),
    reasons("Packets dropped by program and engine", packets, pps, true),
    reasons("Packets that the control plane refused", host, pps),
    reasons("Frames of its own that the control plane could not send", unsent, pps),
    table(
      "Frames lost by kernel or device",
      [
        { head: "Port", cell: ({ name }) => name },
        { head: "Before we saw them", number: true, cell: ({ port }) => count(port.lost_before_us) },
        { head: "When we had sent them", number: true, cell: ({ port }) => count(port.lost_after_us) },
      ],
      lost,
    ),
    reasons("N4 messages dropped without a response", messages, perSecond),
    reasons("Given to the control plane: no drops", given, null),
  ];
}

const grown = (a, b) => b.total - a.total;

function reasons(caption, rows, rate, ports = false) {
  return table(
    caption,
    [
      { head: "Reason", cell: ({ reason }) => h("code", null, reason) },
      { head: "Total", number: true, cell: ({ total }) => count(total) },
      rate ? { head: "Now", number: true, cell: (row) => rate(row.rate) } : null,
      ports ? { head: "By port", class: "text", cell: (row) => row.ports || "–" } : null,
      { head: "Meaning", class: "text wide", cell: ({ of }) => of?.meaning ?? "–" },
      { head: "What to do", class: "text", cell: ({ of }) => of?.what_to_do || "–" },
    ].filter(Boolean),
    rows.sort(grown),
  );
}
