/* Tables that are sorted by their headings, with the mouse or the keyboard.
 *
 *   table({id, caption, columns: [{key, title, number, show, bar}], rows: [{...}], sort: "key", down: true})
 *
 * show(value, row) is the text of a cell, or an element; a number is kept in data-value as it is in the data. bar: a share
 * of 1, drawn. Sorting goes by row[key], a number or text; what is not known comes last.
 */
"use strict";

function table(description) {
  const body = element("tbody");
  const state = {...description, body, key: description.sort || null, down: Boolean(description.down)};
  state.headings = description.columns.map((column) => heading(state, column));
  fillBody(state);
  markHeadings(state);
  const caption = description.caption ? element("caption", {}, description.caption) : null;
  const head = element("thead", {}, element("tr", {}, state.headings));
  const whole = element("table", {id: description.id}, caption, head, body);
  return element("div", {class: "scroll"}, whole);
}

function heading(state, column) {
  if (!column.title) return element("td");
  const button = element("button", {type: "button", click: () => sortBy(state, column)}, column.title);
  return element("th", {scope: "col", class: column.number ? "number" : null, "data-key": column.key}, button);
}

/* Numbers begin with the largest, text with the first; again turns the order. */
function sortBy(state, column) {
  state.down = state.key === column.key ? !state.down : Boolean(column.number);
  state.key = column.key;
  fillBody(state);
  markHeadings(state);
}

function markHeadings(state) {
  for (const th of state.headings) {
    if (th.dataset.key === state.key && state.key) th.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    else th.removeAttribute("aria-sort");
  }
}

function compare(a, b) {
  if (known(a) && known(b)) return a - b;
  return String(a).localeCompare(String(b), "en", {numeric: true});
}

function absent(value) {
  return value === null || value === undefined || Number.isNaN(value);
}

function inOrder(rows, key, down) {
  return rows.slice().sort((x, y) => {
    const a = x[key], b = y[key];
    if (absent(a) || absent(b)) return absent(a) - absent(b);
    return down ? compare(b, a) : compare(a, b);
  });
}

function fillBody(state) {
  const rows = state.key ? inOrder(state.rows, state.key, state.down) : state.rows;
  state.body.replaceChildren(...rows.map((row) => tableRow(state, row)));
  if (state.filled) state.filled(state);
}

function tableRow(state, row) {
  const tr = element("tr", state.row ? state.row(row) : {}, state.columns.map((column) => cell(column, row)));
  row.element = tr;
  return tr;
}

function cell(column, row) {
  const value = row[column.key];
  if (column.bar) return element("td", {class: "bar"}, bar(column.bar(row)));
  const text = column.show ? column.show(value, row) : column.number ? count(value) : absent(value) ? "" : String(value);
  const kind = [column.number ? "number" : "", column.code ? "code" : ""].join(" ").trim();
  return element("td", {class: kind || null, "data-value": known(value) ? value : null}, text);
}

/* A share of 1 as a bar; it says nothing that the number beside it does not. */
function bar(share) {
  const width = known(share) ? Math.max(0, Math.min(1, share)) * 100 : 0;
  return drawing("svg", {viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true"},
    drawing("rect", {class: "track", width: 100, height: 8, rx: 1}),
    drawing("rect", {width, height: 8, rx: 1, style: "fill: var(--hue-1)"}));
}
