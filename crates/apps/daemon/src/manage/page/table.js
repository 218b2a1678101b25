// How does a table look? A heading, columns that may be numbers, and a line that says so when it is empty. Wide ones scroll in their own frame.

import { h } from "./dom.js";

/** `columns`: `{ head, cell: row => child, number }`. */
export function table(heading, columns, rows, { empty = "None.", headless = false } = {}) {
  const kind = (column) => ({ class: column.number ? "number" : column.class });
  const grid = () =>
    h(
      "div",
      // One that is wider than its frame is scrolled by keyboard, too.
      { class: "scroll", tabindex: 0, role: "region", "aria-label": heading },
      h(
        "table",
        { "aria-label": heading },
        h("thead", null, h("tr", null, columns.map((column) => h("th", { scope: "col", ...kind(column) }, column.head)))),
        h("tbody", null, rows.map((row) => h("tr", null, columns.map((column) => h("td", kind(column), column.cell(row)))))),
      ),
    );
  return h(
    "section",
    { class: "card", "data-key": `table-${heading}` },
    headless ? null : h("h2", null, heading),
    rows.length === 0 ? h("p", { class: "empty" }, empty) : grid(),
  );
}

/** Names and values, one below the other. */
export function facts(list) {
  return h("dl", { class: "facts" }, list.filter(Boolean).map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
}
