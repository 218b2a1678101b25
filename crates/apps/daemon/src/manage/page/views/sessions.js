// Which sessions are there? Found by SEID, UE address, TEID, DNN, slice or target; the daemon looks and gives a page at a time.

import { get, Failed } from "../api.js";
import { h } from "../dom.js";
import { bytes, count, duration, teid } from "../format.js";
import { report } from "../model.js";
import { table } from "../table.js";

const PAGE = 50;
/** A page is asked for again so often while it is shown. */
const AGAIN_MS = 5000;

export const title = "Sessions";

/** What is looked for, from the address of the page. */
let query = new URLSearchParams();
/** Where the pages before this one began. */
let starts = [];
let state = { rows: [], next: null, looked_at: 0, total: 0, error: null, busy: false, at: 0 };
let stop = null;
let redraw = () => {};

const KINDS = [
  ["auto", "anything"],
  ["ue", "UE address"],
  ["seid", "SEID"],
  ["teid", "TEID"],
  ["dnn", "DNN"],
  ["slice", "slice"],
  ["target", "target"],
];

/** Called when the page's address changes to this view. */
export function open(parameters, draw) {
  redraw = draw;
  query = parameters;
  starts = [];
  search(null);
}

export function close() {
  stop?.abort();
  stop = null;
}

/** Called with each report. */
export function tick() {
  if (!state.busy && !state.error && Date.now() - state.at > AGAIN_MS && cheap()) search(starts[starts.length - 1] ?? null, true);
}

/** Whether an index answers, so that it may be asked again and again. */
const cheap = () => !["dnn", "slice", "target"].includes(kind());

/** What is meant by what was typed. */
function kind() {
  const chosen = query.get("by") ?? "auto";
  const text = (query.get("q") ?? "").trim();
  if (chosen !== "auto" || text === "") return chosen;
  if (/^(0x[0-9a-f]+|\d+)$/i.test(text)) return "number";
  if (/^\d+\.\d+\.\d+\.\d+$/.test(text) || (text.includes(":") && /^[0-9a-f:.]+$/i.test(text))) return "ue";
  return "dnn";
}

/** A TEID as the API takes it; null for what is none. */
function numberOf(text) {
  const n = /^(0x[0-9a-f]+|\d+)$/i.test(text) ? Number(text) : NaN;
  return n <= 0xffffffff ? n : null;
}

async function search(after, quiet = false) {
  stop?.abort();
  const mine = new AbortController();
  stop = mine;
  const text = (query.get("q") ?? "").trim();
  state = quiet ? { ...state, busy: true } : { rows: [], next: null, looked_at: 0, total: state.total, error: null, busy: true, at: 0 };
  redraw();
  try {
    const found = { rows: [], next: null, looked_at: 0, total: state.total };
    const by = kind();
    if (text !== "" && (by === "seid" || by === "number")) {
      const session = await one(text, mine.signal);
      if (session) found.rows.push(session);
    }
    const teidOf = by === "number" || by === "teid" ? numberOf(text) : undefined;
    if (by === "teid" && text !== "" && teidOf === null) throw new Failed(400, "expected a TEID in hexadecimal or decimal, such as 0x1f");
    if (text === "" || (by !== "seid" && teidOf !== null)) {
      const what = new URLSearchParams({ limit: PAGE });
      if (text !== "") what.set(by === "number" ? "teid" : by, by === "number" || by === "teid" ? teidOf : text);
      let from = after;
      // The daemon looks through so many sessions for an answer, and this goes on until a page is full.
      do {
        if (from !== null) what.set("after", from);
        what.set("limit", PAGE - Math.min(PAGE - 1, found.rows.length));
        const page = await get(`/v1/sessions?${what}`, mine.signal);
        const known = new Set(found.rows.map(({ seid }) => seid));
        found.rows.push(...page.sessions.filter(({ seid }) => !known.has(seid)));
        found.next = page.next;
        found.looked_at += page.looked_at;
        found.total = page.total;
        from = page.next;
        if (!quiet) {
          state = { ...found, error: null, busy: true, at: Date.now() };
          redraw();
        }
      } while (from !== null && found.rows.length < PAGE);
    }
    state = { ...found, error: null, busy: false, at: Date.now() };
  } catch (e) {
    if (mine.signal.aborted) return;
    if (!(e instanceof Failed)) throw e;
    // An old page is better than none while the daemon is away: the page says so.
    state = quiet && e.status === 0 ? { ...state, busy: false, at: Date.now() } : { ...state, error: e.message, busy: false };
  }
  redraw();
}

/** The session of a SEID, if there is one. */
async function one(text, signal) {
  try {
    return (await get(`/v1/sessions/${encodeURIComponent(text)}`, signal)).session;
  } catch (e) {
    if (e instanceof Failed && e.status === 404) return null;
    throw e;
  }
}

const addressOf = (q, by) => `#/sessions?${new URLSearchParams({ ...(q ? { q } : {}), ...(by && by !== "auto" ? { by } : {}) })}`;

export function render() {
  const text = query.get("q") ?? "";
  const submit = (event) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const wanted = addressOf(String(form.get("q")).trim(), form.get("by"));
    // The same again is a new search.
    if (location.hash === wanted) search(null);
    else location.hash = wanted;
  };
  const option = ([value, name]) => h("option", { value, selected: (query.get("by") ?? "auto") === value }, name);
  return [
    h("h1", null, title),
    h(
      "form",
      { class: "search", role: "search", onsubmit: submit, "data-key": `search-${query}` },
      h("label", { for: "q" }, "Find"),
      h("input", { id: "q", name: "q", type: "search", value: text, maxlength: 255, placeholder: "UE address, SEID, TEID or DNN", spellcheck: "false", autocomplete: "off", autocapitalize: "none" }),
      h("label", { for: "by" }, "by"),
      h("select", { id: "by", name: "by" }, KINDS.map(option)),
      h("button", { type: "submit" }, "Search"),
      text ? h("a", { href: "#/sessions", class: "button" }, "All") : null,
    ),
    state.error ? h("p", { class: "error", role: "alert" }, state.error) : null,
    h("p", { class: "note", role: "status" }, told(text)),
    table("Sessions", COLUMNS, state.rows, { empty: state.busy ? "Looking …" : text ? "No session is like this." : "There are no sessions.", headless: true }),
    h(
      "p",
      { class: "pager" },
      h("button", { type: "button", disabled: starts.length === 0, onclick: () => (starts.pop(), search(starts[starts.length - 1] ?? null)) }, "Previous page"),
      h("span", null, `Page ${count(starts.length + 1)}`),
      h("button", { type: "button", disabled: state.busy || state.next === null, onclick: () => (starts.push(state.next), search(state.next)) }, "Next page"),
    ),
  ];
}

function told(text) {
  const all = state.total || report?.n4.sessions || 0;
  const shown = `${count(state.rows.length)} shown`;
  if (text === "") return `${count(all)} sessions, by ascending SEID; ${shown}.`;
  if (state.busy) return `Looking: ${count(state.looked_at)} of ${count(all)} sessions looked at, ${shown}.`;
  return `${state.next !== null ? `${shown}, there may be more` : shown}; ${count(all)} sessions in all.`;
}

const COLUMNS = [
  { head: "SEID", cell: (row) => h("a", { href: `#/sessions/${row.seid}` }, row.seid) },
  { head: "UE", cell: (row) => [...row.ue_ipv4s, ...row.ue_ipv6s.map((prefix) => `${prefix}/64`)].map((ue) => h("span", { class: "line-of-cell" }, ue)) },
  { head: "DNN", class: "text", cell: (row) => row.dnn ?? row.network_instances.join(", ") },
  { head: "Slice", cell: (row) => row.slice ?? "–" },
  { head: "TEIDs", cell: (row) => row.teids.map((n) => h("span", { class: "line-of-cell" }, teid(n))) },
  { head: "Target", cell: (row) => row.target },
  { head: "Reason", cell: (row) => row.reason },
  { head: "State", cell: (row) => (row.buffers ? "idle, buffers" : "active") },
  { head: "Up", number: true, cell: (row) => h("span", { title: `${count(row.uplink.packets)} packets` }, bytes(row.uplink.bytes)) },
  { head: "Down", number: true, cell: (row) => h("span", { title: `${count(row.downlink.packets)} packets` }, bytes(row.downlink.bytes)) },
  { head: "Age", number: true, cell: (row) => duration(row.age_ms) },
];
