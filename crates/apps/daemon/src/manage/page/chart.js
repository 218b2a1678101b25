// How does a quantity look over time? Lines over the last minutes, with the newest values in words; a pointer or the arrow keys read others.

import { h, s, morph } from "./dom.js";
import { clock } from "./format.js";
import { history } from "./model.js";

/** What is shown of the history: the shortest of these that has it all, else the longest. */
const SPANS = [[60_000, "1 min ago"], [300_000, "5 min ago"], [600_000, "10 min ago"]];
/** By chart, where its user points: 0 to 1 from the left. */
const pointed = new Map();

/** 1, 2 or 5 times a power of ten, at least `n`. */
function niceAbove(n) {
  if (!(n > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= n);
}

/**
 * A chart. `series`: `{ name, value: sample => number, tone: 1 to 4 }`. `format` writes a value.
 */
export function chart(id, title, note, series, format) {
  const draw = () => drawing(id, title, note, series, format, redraw);
  const redraw = () => {
    const there = document.querySelector(`[data-key="chart-${id}"]`);
    if (there) morph(there, draw());
  };
  return draw();
}

function drawing(id, title, note, series, format, redraw) {
  const last = history.length ? history[history.length - 1].at : Date.now();
  const age = history.length ? last - history[0].at : 0;
  const [span, spanText] = SPANS.find(([ms]) => ms >= age) ?? SPANS[SPANS.length - 1];
  const from = last - span;
  const shown = history.filter((sample) => sample.at >= from);
  const values = series.map(({ value }) => shown.map((sample) => (sample.away ? NaN : value(sample))));
  const top = niceAbove(Math.max(0, ...values.flat().filter(Number.isFinite)));
  const x = (sample) => ((sample.at - from) / span) * 100;
  const y = (n) => 100 - (n / top) * 100;

  const at = pointed.get(id);
  const wanted = at === undefined ? last : from + at * span;
  const nearest = shown.reduce((best, sample, i) => (best < 0 || Math.abs(sample.at - wanted) < Math.abs(shown[best].at - wanted) ? i : best), -1);
  const point = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    pointed.set(id, Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)));
    redraw();
  };
  const step = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") pointed.delete(id);
    else if (by && shown.length) {
      const to = shown[Math.min(shown.length - 1, Math.max(0, nearest + by))];
      pointed.set(id, (to.at - from) / span);
      event.preventDefault();
    } else return;
    redraw();
  };
  const leave = () => {
    pointed.delete(id);
    redraw();
  };

  const lines = values.map((of, n) => s("path", { class: `line tone${series[n].tone}`, d: path(shown, of, x, y) }));
  const cursor = at === undefined || nearest < 0 ? null : s("line", { class: "cursor", x1: x(shown[nearest]), x2: x(shown[nearest]), y1: 0, y2: 100 });
  const plot = s(
    "svg",
    { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" },
    [0, 50, 100].map((level) => s("line", { class: "grid", x1: 0, x2: 100, y1: level, y2: level })),
    lines,
    cursor,
  );
  const legend = series.map((one, n) => {
    const value = nearest < 0 ? NaN : values[n][nearest];
    return h("span", { class: "key" }, h("span", { class: `swatch tone${one.tone}`, "aria-hidden": "true" }), `${one.name} `, h("b", null, format(value)));
  });
  const time = at === undefined || nearest < 0 ? "now" : clock(shown[nearest].at);
  return h(
    "figure",
    { class: "chart", "data-key": `chart-${id}`, "data-chart": id },
    h("figcaption", null, h("h3", null, title, h("span", { class: "time" }, time)), note ? h("p", { class: "note" }, note) : null),
    h("p", { class: "legend" }, legend),
    h(
      "div",
      { class: "plot" },
      h("div", { class: "y", "aria-hidden": "true" }, h("span", null, format(top)), h("span", null, format(top / 2)), h("span", null, format(0))),
      h(
        "div",
        { class: "area", tabindex: 0, role: "img", "aria-label": `${title}: ${series.map((one, n) => `${one.name} ${format(nearest < 0 ? NaN : values[n][nearest])}`).join(", ")}, ${time}`, onpointermove: point, onpointerleave: leave, onkeydown: step },
        plot,
      ),
      h("div", { class: "x", "aria-hidden": "true" }, h("span", null, spanText), h("span", null, "now")),
    ),
  );
}

/** A line with gaps where there is no value. */
function path(samples, values, x, y) {
  let text = "";
  let drawing = false;
  samples.forEach((sample, i) => {
    const value = values[i];
    if (!Number.isFinite(value)) {
      drawing = false;
      return;
    }
    text += `${drawing ? "L" : "M"}${x(sample).toFixed(2)} ${y(value).toFixed(2)}`;
    drawing = true;
  });
  return text;
}
