/* Annotated machine code beside the lines it comes from. A row of one side, chosen with the mouse or the keyboard, marks what
 * belongs to it on the other: arrows go up and down, Escape lets go. */
"use strict";

const SHOWN_INSTRUCTIONS = 1500;

/* "long_scoreboard 62 %, wait 10 %": the two largest but the issue itself. */
function mostly(states, cycles) {
  return Object.entries(states).filter(([name, n]) => name !== "selected" && n * 20 >= cycles)
    .sort((a, b) => b[1] - a[1]).slice(0, 2).map(([name, n]) => `${name} ${Math.round(100 * n / cycles)} %`).join(", ");
}

function hex(value) {
  return "0x" + value.toString(16).padStart(4, "0");
}

/* Rows of the instructions; share: of all warp-cycles of the launch. */
function instructionRows(report) {
  const all = at(report, "stats", "sm", "warp_cycles");
  return report.listing.instructions.map((i, order) => ({
    order, at: i.at, section: i.section, text: i.text, issued: i.issued, cycles: i.cycles || 0, share: ratio(i.cycles || 0, all),
    lanes: ratio(i.threads || 0, i.issued), sectors: i.sectors ? ratio(i.sectors, i.issued) : null,
    conflicts: i.passes ? i.conflicts || 0 : null, live: i.live ? i.live.registers || 0 : null,
    mostly: mostly(i.warp_state, i.cycles || 0), states: i.warp_state,
    place: i.line ? i.file + ":" + i.line : null, called: i.called || [],
  }));
}

/* Rows of the source lines, with the sums of their instructions; gaps between those that are shown. */
function sourceRows(report, instructions) {
  const rows = [], byPlace = new Map();
  report.listing.files.forEach((file, f) => {
    let last = 0;
    for (const {line, text} of file.lines) {
      const row = {order: rows.length, file: f, line, text, place: f + ":" + line, cycles: 0, issued: 0, gap: line !== last + 1};
      rows.push(row);
      byPlace.set(row.place, row);
      last = line;
    }
  });
  for (const i of instructions) {
    if (i.place && !byPlace.has(i.place)) addUnseen(report, rows, byPlace, i.place);
    const row = byPlace.get(i.place);
    if (!row) continue;
    row.cycles += i.cycles;
    row.issued += i.issued;
  }
  const all = at(report, "stats", "sm", "warp_cycles");
  for (const row of rows) row.share = row.issued ? ratio(row.cycles, all) : null;
  return rows;
}

/* A line of a file that could not be read. */
function addUnseen(report, rows, byPlace, place) {
  const [f, line] = place.split(":").map(Number);
  const row = {order: rows.length, file: f, line, text: "", place, cycles: 0, issued: 0};
  rows.push(row);
  byPlace.set(place, row);
}

function fileName(report, f) {
  return report.listing.files[f].name.split("/").pop();
}

/* --- the view ------------------------------------------------------------------------------------------------------- */

function heat(share) {
  return element("span", {class: "heat", style: `width: ${(Math.min(1, share || 0) * 4).toFixed(2)}rem`, "aria-hidden": "true"});
}

function shareCell(value) {
  return element("span", {}, known(value) ? percent(value) + " " : "", heat(value));
}

function codeView(report) {
  const instructions = instructionRows(report), lines = sourceRows(report, instructions);
  const hottest = inOrder(instructions, "cycles", true).slice(0, SHOWN_INSTRUCTIONS);
  const details = element("p", {id: "code-details", "aria-live": "polite"}, "Choose an instruction or a line.");
  const view = {report, details, instructions: inOrder(hottest, "order", false), lines};
  const panes = element("div", {class: lines.length ? "panes" : null},
    lines.length ? pane("Source lines", sourceTable(view)) : noSource(), pane("Instructions", sassTable(view)));
  const left = instructions.length - hottest.length + report.listing.left_out;
  const note = left > 0 ? element("p", {class: "note"}, `${count(left)} instructions that cost less are not shown.`) : null;
  return element("div", {keydown: (event) => event.key === "Escape" && choose(view, null, null)}, details, panes, note, rest(report));
}

function noSource() {
  return element("p", {class: "note"}, "The code names no source lines: nvcc -lineinfo writes them.");
}

/* Warps that have ended stay until their CTA does: cycles of no instruction. */
function rest(report) {
  const all = at(report, "stats", "sm", "warp_cycles");
  const here = sum(report.listing.instructions.map((i) => i.cycles || 0));
  if (report.listing.left_out || !(all > here)) return null;
  return element("p", {class: "note"}, `${count(all - here)} warp-cycles (${percent((all - here) / all)}) are of warps that had ` +
    "ended and waited for others of their CTA.");
}

function pane(name, content) {
  return element("div", {}, element("h3", {}, name), element("div", {class: "pane"}, content.firstChild));
}

function sassTable(view) {
  return table({
    id: "instructions", rows: view.instructions, sort: "order",
    row: (row) => rowAttributes(view, row, "instructions"), filled: roving,
    columns: [
      {key: "share", title: "Warp-cycles", number: true, show: shareCell}, {key: "issued", title: "Issued", number: true},
      {key: "lanes", title: "Lanes", number: true, show: (v) => decimal(v, 1)},
      {key: "order", title: "At", number: true, show: (v, row) => hex(row.at)},
      {key: "text", title: "Instruction", code: true}, {key: "mostly", title: "Mostly"},
      {key: "sectors", title: "Sectors each", number: true, show: (v) => (known(v) ? decimal(v, 1) : "")},
      {key: "conflicts", title: "Conflicts", number: true, show: (v) => (known(v) ? count(v) : "")},
      {key: "live", title: "Live registers", number: true, show: (v) => (known(v) ? count(v) : "")},
    ],
  });
}

function sourceTable(view) {
  const several = new Set(view.lines.map((row) => row.file)).size > 1;
  const name = (row) => (several ? fileName(view.report, row.file) + ":" : "") + row.line;
  return table({
    id: "source-lines", rows: view.lines, sort: "order",
    row: (row) => rowAttributes(view, row, "lines"), filled: roving,
    columns: [
      {key: "share", title: "Warp-cycles", number: true, show: (v) => (known(v) ? shareCell(v) : "")},
      {key: "issued", title: "Issued", number: true, show: (v) => (v ? count(v) : "")},
      {key: "order", title: "Line", number: true, show: (v, row) => name(row)}, {key: "text", title: "Source", code: true},
    ],
  });
}

/* --- choosing ------------------------------------------------------------------------------------------------------- */

function rowAttributes(view, row, side) {
  return {
    tabindex: -1, "data-place": row.place,
    class: view.chosen && view.chosen.has(row) ? "linked" : null,
    click: () => choose(view, row, side), focus: () => choose(view, row, side), keydown: moveInTable,
  };
}

/* One row of the table can be reached with Tab, the others from there with arrows. */
function roving(state) {
  if (state.body.firstChild) state.body.firstChild.setAttribute("tabindex", 0);
}

function moveInTable(event) {
  const row = event.currentTarget, body = row.parentNode;
  const to = {ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling, Home: body.firstChild,
              End: body.lastChild}[event.key];
  if (!to) return;
  event.preventDefault();
  for (const other of body.children) other.setAttribute("tabindex", -1);
  to.setAttribute("tabindex", 0);
  to.focus();
}

/* Rows that belong to a row of the other side, itself too. */
function linkedTo(view, row, side) {
  if (!row) return new Set();
  if (side === "lines") return new Set([row, ...view.instructions.filter((i) => i.place === row.place)]);
  const places = [row.place, ...row.called.map((c) => c.file + ":" + c.line)];
  return new Set([row, ...view.lines.filter((line) => places.includes(line.place))]);
}

function choose(view, row, side) {
  view.chosen = linkedTo(view, row, side);
  for (const one of [...view.instructions, ...view.lines])
    if (one.element) one.element.classList.toggle("linked", view.chosen.has(one));
  const other = [...view.chosen].find((one) => one !== row);
  if (other) scrollInPane(other.element);
  view.details.replaceChildren(...(row ? describe(view, row, side) : ["Choose an instruction or a line."]));
}

/* The other pane alone: the page stays where it is. */
function scrollInPane(tr) {
  const box = tr.closest(".pane"), top = tr.offsetTop - box.clientHeight / 3;
  if (tr.offsetTop < box.scrollTop + 40 || tr.offsetTop > box.scrollTop + box.clientHeight - 40) box.scrollTop = top;
}

function describe(view, row, side) {
  const head = element("strong", {class: "code"}, side === "lines" ? `${fileName(view.report, row.file)}:${row.line}` : row.text);
  const cost = ` ${count(row.cycles)} warp-cycles, issued ${count(row.issued)} times. `;
  if (side === "lines") return [head, cost];
  const states = Object.entries(row.states).sort((a, b) => b[1] - a[1]).map(([name, n]) => `${name} ${count(n)}`).join(", ");
  const call = (c) => `inlined ${c.function ? plainName(c.function) + " " : ""}from ${fileName(view.report, c.file)}:${c.line}`;
  const calls = row.called.map(call);
  return [head, cost, states, calls.length ? ". " + calls.join(", ") : ""];
}
