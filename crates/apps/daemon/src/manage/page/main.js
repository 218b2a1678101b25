// The page's loop: asks the daemon for its report each second, and shows the view that the address names.

import { Failed, get } from "./api.js";
import { h, morphChildren } from "./dom.js";
import { clock, duration } from "./format.js";
import * as model from "./model.js";
import * as drops from "./views/drops.js";
import * as n4 from "./views/n4.js";
import * as overview from "./views/overview.js";
import * as placement from "./views/placement.js";
import * as session from "./views/session.js";
import * as sessions from "./views/sessions.js";

const EVERY_MS = 1000;
/** While nobody looks. */
const EVERY_HIDDEN_MS = 10_000;

const VIEWS = [["", overview], ["sessions", sessions], ["drops", drops], ["placement", placement], ["n4", n4]];

let shown = null;
/** Whether the search is to have the focus when it is shown. */
let toSearch = false;
/** Since when there is no answer, and what the daemon said instead. */
let away = null;
let answered = 0;

/** The view that the address names, and what of it. */
function wanted() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, rest] = path.split("/");
  if (name === "sessions" && rest) return { view: session, name, of: safely(rest) };
  const known = VIEWS.find(([of]) => of === name) ?? VIEWS[0];
  return { view: known[1], name: known[0], of: new URLSearchParams(query ?? "") };
}

function safely(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function navigate(event) {
  const next = wanted();
  if (shown && shown.view !== next.view) shown.view.close?.();
  shown = next;
  next.view.open?.(next.of, draw);
  draw();
  if (event) {
    // As after loading a page: from the top, and for screen readers too.
    scrollTo(0, 0);
    document.getElementById("main").focus({ preventScroll: true });
  }
  if (toSearch) focusSearch();
}

function focusSearch() {
  const input = document.getElementById("q");
  // Not before the first report is there.
  toSearch = input === null;
  input?.focus();
}

function draw() {
  if (!shown) return;
  const { report } = model;
  document.title = `${shown.view === session ? `Session ${shown.of}` : shown.view.title} – Splitplane`;
  morphChildren(document.getElementById("header"), [header(report)]);
  morphChildren(document.getElementById("notice"), notices(report));
  const main = document.getElementById("main");
  const content = report ? shown.view.render() : [h("h1", null, "Splitplane"), h("p", { class: "note" }, away ? "" : "Asking the daemon …")];
  const view = shown.view === session ? "session" : shown.name;
  main.dataset.at = String(answered);
  morphChildren(main, [h("div", { class: "view", "data-key": `view-${view}`, "data-view": view || "overview" }, content)]);
}

function header(report) {
  const link = ([name, view]) => h("a", { href: `#/${name}`, "aria-current": shown.name === name ? "page" : null }, view.title);
  const state = away ? ["away", "away"] : !report ? ["asked", "…"] : report.draining ? ["draining", "draining"] : ["live", "live"];
  return h(
    "div",
    { class: "bar" },
    h("a", { class: "brand", href: "#/" }, "Splitplane"),
    h("nav", { "aria-label": "Views" }, VIEWS.map(link)),
    h(
      "p",
      { class: "state" },
      report ? h("span", { class: "program", title: `fingerprint ${report.program.fingerprint}` }, `${report.program.name}, up ${duration(report.elapsed_ms)}`) : null,
      h("span", { class: `pill ${state[0]}`, "data-state": state[0] }, state[1]),
    ),
  );
}

function notices(report) {
  const list = [];
  if (away) {
    const since = report ? `What is shown is from ${clock(answered)}. ` : "";
    list.push(h("p", { class: "notice bad" }, `${away.message}. ${since}It is asked again each second.`));
  }
  if (!away && report?.draining) list.push(h("p", { class: "notice" }, "It drains: new associations and sessions are rejected. ", h("code", null, "splitplane set drain off"), " ends that."));
  if (!away && report && report.imbalance !== 0 && settled(report)) list.push(h("p", { class: "notice bad" }, `${report.imbalance} packets are not accounted for: a defect, please report it.`));
  return list;
}

/** Packets in flight are not accounted for yet: only what stays is told. */
let imbalances = [];
function settled(report) {
  return imbalances.length >= 10 && imbalances.every((n) => n === report.imbalance);
}

async function ask() {
  try {
    const report = await get("/v1/report");
    model.take(report, Date.now());
    imbalances = [...imbalances.slice(-9), report.imbalance];
    answered = Date.now();
    away = null;
    shown?.view.tick?.();
  } catch (e) {
    if (!(e instanceof Failed)) throw e;
    const message = e.status === 0 ? "The daemon does not answer" : `The daemon says: ${e.message}`;
    away = { message };
    if (e.status === 0) model.takeNothing(Date.now());
  }
  draw();
}

async function loop() {
  for (;;) {
    const began = Date.now();
    try {
      await ask();
    } catch (e) {
      // A defect of the page's: said, and not the end of it.
      console.error(e);
    }
    const every = document.hidden ? EVERY_HIDDEN_MS : EVERY_MS;
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(100, began + every - Date.now()));
      document.addEventListener("visibilitychange", () => (clearTimeout(timer), resolve()), { once: true });
    });
  }
}

addEventListener("hashchange", navigate);
matchMedia("(max-width: 700px)").addEventListener("change", draw);
addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, select, textarea, dialog");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (shown.view === sessions) return focusSearch();
  toSearch = true;
  location.hash = "#/sessions";
});
navigate();
loop();
