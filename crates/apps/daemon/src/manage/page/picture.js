// What flows where? Ports, targets and control plane as a picture; a line's width is its rate.

import { s } from "./dom.js";
import { bps, count, perSecond, plural, pps } from "./format.js";
import { isCore, targetsInOrder } from "./model.js";

const BOX = { width: 218, height: 76 };
const GAP = 22;

/** The picture; `narrow`: from top to bottom. */
export function picture(report, rates, narrow) {
  const left = Object.entries(report.ports).filter(([, port]) => !isCore(port));
  const right = Object.entries(report.ports).filter(([, port]) => isCore(port));
  const targets = targetsInOrder(report);
  return narrow ? downwards(report, rates, left, right, targets) : across(report, rates, left, right, targets);
}

/** Middle of item `i` of `n`, around `centre`. */
const offset = (i, n, size) => (i - (n - 1) / 2) * (size + GAP);

function across(report, rates, left, right, targets) {
  const rows = Math.max(left.length, right.length, targets.length);
  const body = rows * (BOX.height + GAP) + 20;
  const top = 100;
  const centre = top + body / 2;
  const height = top + body + 84;
  const place = (list, x) => list.map(([name, of], i) => ({ name, of, x, y: centre + offset(i, list.length, BOX.height) }));
  const columns = { left: place(left, 8), targets: place(targets, 371), right: place(right, 734) };
  const engine = { x: 341, y: top, width: 278, height: body };
  return draw(report, rates, columns, {
    width: 960,
    height,
    engine,
    agent: { x: 371, y: 6, width: BOX.width, height: 70 },
    dropped: { x: 371, y: top + body + 22, width: BOX.width, height: 56 },
    // Where lines meet before they part.
    knots: { left: [{ x: 298, y: centre }, "h"], right: [{ x: 662, y: centre }, "h"] },
    ends: (box, side) => (side === "left" ? { x: box.x, y: box.y } : { x: box.x + BOX.width, y: box.y }),
  });
}

function downwards(report, rates, left, right, targets) {
  const x = 61;
  let y = 98;
  const stack = (list) => list.map(([name, of]) => {
    const box = { name, of, x, y: y + BOX.height / 2 };
    y += BOX.height + GAP;
    return box;
  });
  const agent = { x, y: 6, width: BOX.width, height: 70 };
  const columns = { left: stack(left) };
  y += 44;
  const engine = { x: 41, y: y - 16, width: 258 };
  columns.targets = stack(targets);
  engine.height = y - GAP + 16 - engine.y;
  y += 60;
  columns.right = stack(right);
  const dropped = { x, y: y + 2, width: BOX.width, height: 56 };
  return draw(report, rates, columns, {
    width: 340,
    height: y + 66,
    narrow: true,
    engine,
    agent,
    dropped,
  });
}

function draw(report, rates, columns, at) {
  const lines = [];
  const rateOf = (of) => of ?? { pps: NaN, bps: NaN };
  const links = [];
  const port = (name) => rates?.ports[name];
  const target = (name) => rates?.targets[name];
  const middle = at.engine;
  const link = (from, to, rate, way) => links.push({ from, to, rate: rateOf(rate), way });
  if (at.narrow) {
    // One line for each side and way: the boxes have the numbers.
    const total = (list, way) => ({ bps: list.reduce((sum, { name }) => sum + (port(name)?.[way].bps ?? NaN), 0), pps: 0 });
    const x = at.width / 2;
    const bottom = (list) => Math.max(...list.map((box) => box.y)) + BOX.height / 2;
    const topOf = (list) => Math.min(...list.map((box) => box.y)) - BOX.height / 2;
    if (columns.left.length) {
      const ends = [bottom(columns.left), middle.y];
      link({ x: x - 24, y: ends[0] }, { x: x - 24, y: ends[1] }, total(columns.left, "received"), "up");
      link({ x: x + 24, y: ends[1] }, { x: x + 24, y: ends[0] }, total(columns.left, "transmitted"), "down");
    }
    if (columns.right.length) {
      const ends = [middle.y + middle.height, topOf(columns.right)];
      link({ x: x - 24, y: ends[0] }, { x: x - 24, y: ends[1] }, total(columns.right, "transmitted"), "up");
      link({ x: x + 24, y: ends[1] }, { x: x + 24, y: ends[0] }, total(columns.right, "received"), "down");
    }
  } else {
    const [knotLeft] = at.knots.left;
    const [knotRight] = at.knots.right;
    const up = (p) => ({ x: p.x, y: p.y - 9 });
    const down = (p) => ({ x: p.x, y: p.y + 9 });
    for (const box of columns.left) {
      const end = at.ends(box, "right");
      link(up(end), up(knotLeft), port(box.name)?.received, "up");
      link(down(knotLeft), down(end), port(box.name)?.transmitted, "down");
    }
    for (const box of columns.targets) {
      // What ports of both sides send comes in on the left.
      const { uplink, either } = target(box.name) ?? {};
      link(up(knotLeft), up(at.ends(box, "left")), uplink && { bps: uplink.bps + either.bps, pps: uplink.pps + either.pps }, "up");
      link(up(at.ends(box, "right")), up(knotRight), target(box.name)?.uplink, "up");
      link(down(knotRight), down(at.ends(box, "right")), target(box.name)?.downlink, "down");
      link(down(at.ends(box, "left")), down(knotLeft), target(box.name)?.downlink, "down");
    }
    for (const box of columns.right) {
      const end = at.ends(box, "left");
      link(up(knotRight), up(end), port(box.name)?.transmitted, "up");
      link(down(end), down(knotRight), port(box.name)?.received, "down");
    }
    if (columns.right.length === 0) {
      // One-armed: what leaves goes back to the left.
      links.splice(0, links.length, ...links.filter(({ from, to }) => from.x <= 400 && to.x <= 400));
    }
  }
  const most = Math.max(1, ...links.map(({ rate }) => rate.bps).filter(Number.isFinite));
  for (const { from, to, rate, way } of links) {
    const flows = rate.bps > 0;
    const width = flows ? 1.5 + 8.5 * Math.sqrt(rate.bps / most) : 1;
    const bend = (to.x - from.x) / 2;
    const d = at.narrow ? `M${from.x} ${from.y}L${to.x} ${to.y}` : `M${from.x} ${from.y}C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`;
    lines.push(s("path", { class: `flow ${way}${flows ? "" : " still"}`, d, "stroke-width": width.toFixed(1) }));
  }

  const title = "The UPF as a picture: ports left and right, targets in between, control plane above, drops below.";
  const controlled = s("line", { class: "wire", x1: middle.x + middle.width / 2, x2: middle.x + middle.width / 2, y1: at.agent.y + at.agent.height, y2: middle.y });
  const fell = s("line", { class: "wire", x1: middle.x + middle.width / 2, x2: middle.x + middle.width / 2, y1: middle.y + middle.height, y2: at.dropped.y });
  return s(
    "svg",
    { class: `picture${at.narrow ? " narrow" : ""}`, viewBox: `0 0 ${at.width} ${at.height}`, role: "img", "aria-label": title, "data-key": at.narrow ? "picture-narrow" : "picture" },
    at.narrow ? null : [controlled, fell],
    s("rect", { class: "engine", x: middle.x, y: middle.y, width: middle.width, height: middle.height, rx: 10 }),
    lines,
    agentBox(report, rates, at.agent),
    columns.left.map((box) => portBox(box, port(box.name))),
    columns.targets.map((box) => targetBox(box, target(box.name))),
    slowPath(columns.targets, rates),
    columns.right.map((box) => portBox(box, port(box.name))),
    droppedBox(report, rates, at.dropped),
  );
}

/** A box of lines of text, the first one bold. */
function box(x, y, width, height, kind, rows) {
  const step = 18;
  const first = y + height / 2 - ((rows.length - 1) * step) / 2 + 4.5;
  return s(
    "g",
    { class: `box ${kind}` },
    s("rect", { x, y, width, height, rx: 6 }),
    rows.map((row, i) => s("text", { x: x + 12, y: first + i * step, class: i === 0 ? "name" : "detail" }, row)),
  );
}

/** A name that fits its box. */
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function portBox({ name, of, x, y }, rate) {
  const inward = rate ? `in ${pps(rate.received.pps)}, ${bps(rate.received.bps)}` : "in –";
  const outward = rate ? `out ${pps(rate.transmitted.pps)}, ${bps(rate.transmitted.bps)}` : "out –";
  const what = [of.role, of.driver].filter(Boolean).join(", ");
  return box(x, y - BOX.height / 2, BOX.width, BOX.height, of.down ? "port bad" : "port", [
    cut(`${name} · ${of.down ? "interface is away" : what}`, 30),
    inward,
    outward,
  ]);
}

function targetBox({ name, of, x, y }, rate) {
  const notes = [of.out_of_service ? "out of service" : null, of.modelled ? "modelled" : null].filter(Boolean).join(", ");
  return box(x, y - BOX.height / 2, BOX.width, BOX.height, of.out_of_service ? "target bad" : "target", [
    cut(notes ? `${name} · ${notes}` : name, 30),
    plural(of.sessions, "session"),
    rate ? ways(rate) : "–",
  ]);
}

function ways(rate) {
  const apart = `${pps(rate.uplink.pps)} up, ${pps(rate.downlink.pps)} down`;
  if (!(rate.either.pps > 0)) return apart;
  return rate.uplink.pps + rate.downlink.pps > 0 ? `${apart}, ${pps(rate.either.pps)}` : `${pps(rate.either.pps)} up or down`;
}

/** Packets that a target ahead of the engine passed to the one behind it. */
function slowPath(targets, rates) {
  return targets.slice(0, -1).flatMap((front, i) => {
    const rate = rates?.targets[front.name]?.slow_path;
    if (!(rate > 0)) return [];
    const x = front.x + BOX.width / 2;
    const [from, to] = [front.y + BOX.height / 2, targets[i + 1].y - BOX.height / 2];
    return [s("line", { class: "wire", x1: x, x2: x, y1: from, y2: to }), s("text", { class: "detail", x: x + 8, y: (from + to) / 2 + 4 }, `slow path ${pps(rate)}`)];
  });
}

function agentBox(report, rates, { x, y, width, height }) {
  const peers = report.peers.length;
  const n4 = rates ? `N4 ${perSecond(rates.n4.received)} in, ${perSecond(rates.n4.sent)} out` : "N4 –";
  const lost = report.peers.filter((peer) => peer.lost).length;
  return box(x, y, width, height, lost ? "agent bad" : "agent", [
    `control plane · ${plural(peers, "SMF")}${lost ? `, ${count(lost)} lost` : ""}`,
    n4,
    `punted ${rates ? pps(rates.punted) : "–"}`,
  ]);
}

function droppedBox(report, rates, { x, y, width, height }) {
  const reasons = rates ? [...Object.entries(rates.dropped), ...Object.entries(rates.refused)].filter(([, n]) => n > 0).sort(([, a], [, b]) => b - a) : [];
  const all = reasons.reduce((sum, [, n]) => sum + n, 0);
  return box(x, y, width, height, reasons.length ? "dropped some" : "dropped", [
    `dropped ${rates ? pps(all) : "–"}`,
    reasons.length ? cut(`${reasons[0][0]} ${pps(reasons[0][1])}${reasons.length > 1 ? `, ${reasons.length - 1} more` : ""}`, 32) : "nothing in the last second",
  ]);
}
