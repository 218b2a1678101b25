// The UPF at a glance.

import { chart } from "../chart.js";
import { h } from "../dom.js";
import { bps, count, nanoseconds, perSecond, pps } from "../format.js";
import { droppedPackets, latest, powers, quantiles, rates, report } from "../model.js";
import { picture } from "../picture.js";
import { table } from "../table.js";

const narrow = matchMedia("(max-width: 700px)");

export const title = "Overview";

export function render() {
  const now = latest();
  const tile = (name, value, more, href) =>
    h(href ? "a" : "div", { class: "tile", href, "data-tile": name }, h("span", { class: "label" }, name), h("b", null, value), h("span", { class: "more" }, more));
  return [
    h("h1", null, title),
    h(
      "div",
      { class: "tiles" },
      tile("Sessions", count(report.n4.sessions), `${count(report.n4.established)} since the start`, "#/sessions"),
      tile("Received", pps(now.received_pps), bps(now.received_bps)),
      tile("Sent", pps(now.sent_pps), bps(now.sent_bps)),
      tile("Dropped", pps(now.dropped), `${count(droppedPackets(report))} since the start`, "#/drops"),
      tile("N4", perSecond(now.n4_received), `${count(report.n4.rejected)} rejected since the start`, "#/n4"),
    ),
    h("section", { class: "card" }, h("h2", null, "What flows where"), picture(report, rates, narrow.matches), key()),
    h(
      "div",
      { class: "charts" },
      chart("throughput", "Throughput", "What targets carry, with tunnels as it comes.", [
        { name: "uplink", tone: 1, value: (sample) => sample.uplink_bps },
        { name: "downlink", tone: 2, value: (sample) => sample.downlink_bps },
        ...(Object.values(report.ports).some((port) => port.role === "both") ? [{ name: "either way", tone: 3, value: (sample) => sample.either_bps }] : []),
      ], bps),
      chart("packets", "Packets", null, [
        { name: "received", tone: 1, value: (sample) => sample.received_pps },
        { name: "sent", tone: 2, value: (sample) => sample.sent_pps },
        { name: "dropped", tone: 4, value: (sample) => sample.dropped },
      ], pps),
      chart("latency", "Latency in a worker", "From taking a burst of packets to having sent it. What XDP carries is not in it.", [
        { name: "half below", tone: 1, value: (sample) => sample.half },
        { name: "99 % below", tone: 2, value: (sample) => sample.most },
      ], nanoseconds),
      report.shaped.queued > 0
        ? chart("waited", "Waiting for a rate", "Packets over their rate, with qos.mode = \"shape\".", [
            { name: "half below", tone: 1, value: (sample) => sample.wait_half },
            { name: "99 % below", tone: 2, value: (sample) => sample.wait_most },
          ], nanoseconds)
        : null,
    ),
    ports(),
    queues(),
    workers(),
  ];
}

function key() {
  const entry = (way, text) => h("span", { class: "key" }, h("span", { class: `swatch ${way}`, "aria-hidden": "true" }), text);
  return h("p", { class: "legend" }, entry("tone1", "uplink"), entry("tone2", "downlink"), h("span", { class: "key" }, "A line's width is its rate; grey: none."));
}

function ports() {
  const rows = Object.entries(report.ports).map(([name, port]) => ({ name, port, rate: rates?.ports[name] }));
  return table(
    "Ports",
    [
      { head: "Port", cell: ({ name }) => name },
      { head: "Side", cell: ({ port }) => port.role },
      { head: "Network instance", cell: ({ port }) => port.network_instance },
      { head: "Driver", cell: ({ port }) => (port.down ? h("span", { class: "bad-text" }, `${port.driver}, away`) : port.driver) },
      { head: "Received", number: true, cell: ({ port }) => count(port.received.packets) },
      { head: "Sent", number: true, cell: ({ port }) => count(port.transmitted.packets) },
      { head: "Receives", number: true, cell: ({ rate }) => bps(rate?.received.bps) },
      { head: "Sends", number: true, cell: ({ rate }) => bps(rate?.transmitted.bps) },
      { head: "Lost", number: true, cell: ({ port }) => count(port.lost_before_us + port.lost_after_us) },
    ],
    rows,
  );
}

/** Queues of ports with a rate, and what waits for the rate of its session or class; nothing where no packet has waited. */
function queues() {
  const ofPort = ([port, { waiting }]) => (waiting ?? []).map((queue, number) => ({ port, number, queue }));
  const shaped = { port: "rates", number: null, queue: report.shaped };
  const rows = [...Object.entries(report.ports).flatMap(ofPort), shaped].filter(({ queue }) => queue.queued > 0 || Object.keys(queue.dropped).length > 0);
  if (rows.length === 0) return null;
  const dropped = ({ queue }) => Object.entries(queue.dropped).map(([reason, packets]) => `${reason} ${count(packets)}`);
  return table(
    "Queues",
    [
      { head: "Port", cell: ({ port }) => port },
      { head: "Queue", cell: ({ number }) => (number === null ? "–" : count(number)) },
      { head: "Waited", number: true, cell: ({ queue }) => count(queue.queued) },
      { head: "Sent", number: true, cell: ({ queue }) => count(queue.sent.packets) },
      { head: "Marked", number: true, cell: ({ queue }) => count(queue.marked) },
      { head: "Dropped", cell: (row) => dropped(row).join(", ") || "–" },
      { head: "99 % waited below", number: true, cell: ({ queue }) => nanoseconds(quantiles(powers(queue.delays), [], [0.99])[0]) },
    ],
    rows,
  );
}

function workers() {
  const rows = report.load.map((worker) => ({ worker, rate: rates?.load.find(({ slot }) => slot === worker.slot) }));
  return table(
    "Workers",
    [
      { head: "Worker", cell: ({ worker }) => count(worker.slot) },
      { head: "Busy", number: true, cell: ({ rate }) => (rate ? `${Math.min(100, rate.busy * 100).toFixed(0)} %` : "–") },
      { head: "Receives", number: true, cell: ({ rate }) => pps(rate?.pps) },
      { head: "Packets", number: true, cell: ({ worker }) => count(worker.packets) },
      { head: "Queue filled", number: true, cell: ({ worker }) => `${(worker.waiting_permille / 10).toFixed(0)} %` },
      { head: "Buckets of UEs", number: true, cell: ({ worker }) => count(worker.buckets) },
    ],
    rows,
  );
}
