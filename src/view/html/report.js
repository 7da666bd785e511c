/* The sections of the page, for the launch that is chosen. */
"use strict";

const page = JSON.parse(byId("data").textContent);

const SECTIONS = [
  ["launches", "Launches", showLaunches], ["links", "Links", showLinks], ["summary", "Summary", showSummary],
  ["limiter", "Limiter and advice", showLimiter],
  ["speed", "Speed of light", showSpeed], ["roofline", "Roofline", showRoofline], ["memory", "Memory", showMemory],
  ["time", "Over time", showTime], ["stalls", "Stalls", showStalls], ["code", "Code", showCode],
  ["occupancy", "Occupancy", showOccupancySection], ["changes", "Changes", showChanges],
  ["machine", "Machine", showMachine],
];

/* --- what it was before --------------------------------------------------------------------------------------------- */

/* The report or the launch of the baseline that stands for this run; undefined: none. */
function baselineOf(run) {
  const base = page.baseline;
  if (!base) return undefined;
  if (!base.launches) return base;
  return base.launches.find((l) => l.launch === run.number && l.kernel === run.report.kernel);
}

/* Launches of a program have fewer keys than a run: what both have. */
function figures(report) {
  if (!report) return {};
  const sm = at(report, "stats", "sm");
  return {
    cycles: at(report, "stats", "gpu", "cycles") ?? report.cycles,
    instructions: at(report, "stats", "warp_insts") ?? report.warp_insts,
    slot: sm ? sm.slot : report.slot, warp_state: sm ? sm.warp_state : report.warp_state,
    dram: sm ? at(report, "stats", "dram", "dram_read_bytes") + at(report, "stats", "dram", "dram_write_bytes") : report.dram_bytes,
    limiter: typeof report.limiter === "string" ? report.limiter : at(report, "limiter", "id"),
  };
}

function change(is, was, lessIsBetter) {
  if (!known(is) || !known(was) || was === 0) return null;
  const share = is / was - 1;
  const kind = Math.abs(share) < 0.0005 ? "same" : share < 0 === lessIsBetter ? "less" : "more";
  return element("small", {class: kind}, `${share > 0 ? "+" : ""}${percent(share)}, was ${count(was)}`);
}

/* --- sections ------------------------------------------------------------------------------------------------------- */

function showLaunches() {
  if (!page.program) return null;
  const runs = new Map(page.runs.map((run, i) => [run.number, i]));
  const rows = page.program.launches.map((l) => ({
    number: l.launch, name: plainName(l.kernel), grid: dims(l.grid), block: dims(l.block), instructions: l.warp_insts,
    cycles: l.cycles, us: l.timed || l.estimated ? (l.end_ps - l.start_ps) / 1e6 : null, limiter: l.limiter, run: runs.get(l.launch),
    gpu: l.gpu, link: at(l, "links", "taken"), wait: readWait(l.links),
  }));
  const machine = page.program.links !== undefined;
  const link = (value, row) => row.run === undefined ? String(value)
    : element("button", {type: "button", click: () => chooseRun(row.run)}, String(value));
  const left = page.program.launches_left_out;
  return [
    element("p", {class: "note"}, `Launches: ${count(rows.length + (left || 0))} on ${page.program.gpu}; those whose number is a ` +
      "button can be shown below: the longest that were timed alone." + (left ? ` ${count(left)} of them are not in this table.` : "")),
    table({id: "launch-table", rows, columns: [
      {key: "number", title: "Launch", number: true, show: link}, {key: "name", title: "Kernel"},
      ...(machine ? [{key: "gpu", title: "GPU", number: true}] : []),
      {key: "grid", title: "Grid"}, {key: "block", title: "Block"}, {key: "instructions", title: "Warp instructions", number: true},
      {key: "cycles", title: "Cycles", number: true, show: (v) => (known(v) ? count(v) : "")},
      {key: "us", title: "µs", number: true, show: (v) => (known(v) ? decimal(v, 2) : "")},
      ...(machine ? [
        {key: "link", title: "Link taken", number: true, show: (v) => (known(v) ? percent(v) : "")},
        {key: "wait", title: "ns of an answer", number: true, show: (v) => (known(v) ? count(v) : "")}] : []),
      {key: "limiter", title: "Bound by"}],
      row: (row) => (row.run !== undefined && row.run === chosenRun() ? {class: "chosen"} : {})}),
  ];
}

/* How long loads and atomics of a launch waited for memory behind links, on average; undefined: there were none. */
function readWait(links) {
  return links && links.reads ? Math.round(links.read_wait_ps / links.reads / 1000) : undefined;
}

/* What a direction of a link carried over the program's time, in per cent of its rate: bars, a step each. */
function linkBars(link, steps) {
  const most = link.mbps * link.step_ps / 1e6;
  const bars = link.step_bytes.map((bytes, i) => (bytes ? `M${i} 20V${(20 - 20 * Math.min(1, bytes / most)).toFixed(2)}h1V20z` : ""));
  return drawing("svg", {viewBox: `0 0 ${steps} 20`, preserveAspectRatio: "none", class: "bars", role: "img",
    "aria-label": `${link.from} to ${link.to} over time`}, drawing("path", {d: bars.join("")}));
}

function showLinks() {
  const links = page.program && page.program.links;
  if (!links) return null;
  if (!links.length) return element("p", {class: "note"}, "Nothing has gone over a link.");
  const steps = Math.max(...links.map((l) => l.step_bytes.length));
  const rows = links.map((l) => ({...l, name: `${l.from} > ${l.to}`, taken: l.taken_ps / page.program.time_ps}));
  return [
    element("p", {class: "note"}, "Each direction of each link that has carried something, over the whole program: copies, and what " +
      `kernels read and wrote behind links. A bar is ${decimal(links[0].step_ps / 1e6, 0)} µs, its height what it takes of the rate.`),
    table({id: "link-table", rows, sort: "taken", down: true, columns: [
      {key: "name", title: "Link"}, {key: "kind", title: "Kind"}, {key: "mbps", title: "MB/s", number: true},
      {key: "messages", title: "Messages", number: true},
      {key: "payload_bytes", title: "Payload", number: true, show: (v) => short(v, "B")},
      {key: "bytes", title: "With headers", number: true, show: (v) => short(v, "B")},
      {key: "taken", title: "Taken", number: true, show: (v) => percent(v)},
      {key: "from", title: "Over time", show: (v, row) => linkBars(row, steps)}]}),
  ];
}

function card(title, value, note) {
  return element("div", {}, element("dt", {}, title), element("dd", {}, value, note || null));
}

function showSummary(report, run) {
  const now = figures(report), was = figures(baselineOf(run));
  const g = at(report, "stats", "gpu") || {}, sm = at(report, "stats", "sm") || {};
  const traffic = at(report, "stats", "l2") ? levels(report.stats) : {};
  const l = report.launch, result = report.result.status;
  return element("dl", {class: "cards", id: "cards"},
    card("Cycles", count(now.cycles), change(now.cycles, was.cycles, true)),
    card("Time", known(g.time_ps) ? decimal(g.time_ps / 1e6, 2) + " µs" : "n/a"),
    card("Warp instructions", count(now.instructions), change(now.instructions, was.instructions, true)),
    card("IPC of busy SMs", decimal(sm.ipc, 2)), card("Lanes of an instruction", decimal(sm.lanes, 1)),
    card("Resident warps", decimal(sm.occupancy, 1), element("small", {}, `of ${count(at(report, "occupancy", "max_warps"))} per busy SM`)),
    card("Hits in L1", percent(traffic.l1Hits)), card("Hits in L2", percent(traffic.l2Hits)),
    card("DRAM", short(now.dram, "B"), change(now.dram, was.dram, true)),
    card("Grid, block", `${dims(l.grid)}; ${dims(l.block)}`),
    card("Registers, shared", `${l.registers_per_thread}; ${short(l.shared_static_bytes + l.shared_dynamic_bytes, "B")}`),
    card("Result", result));
}

function showLimiter(report) {
  if (!report.limiter) return element("p", {class: "note"}, "Not known: the kernel did not run to its end.");
  const verdict = element("div", {class: "verdict"}, element("strong", {id: "limiter-name"}, report.limiter.name),
    element("p", {id: "limiter-evidence"}, report.limiter.evidence));
  if (at(report, "limiter", "id") === "links") return [verdict, element("p", {class: "note"},
    "What it costs is simulated when asked for: warpstep exec --machine NAME --what-if link_rate,link_latency PROGRAM")];
  if (!report.limiter.costs) return verdict;
  if (!report.what_if) return [verdict, element("p", {class: "note"},
    "What it costs is simulated when asked for: " + (page.program ? "warpstep capture, then " : "") +
    `warpstep run --what-if ${report.limiter.costs}`)];
  const idle = report.what_if.filter((w) => !w.seen).map((w) => w.name.replaceAll("_", " "));
  return [verdict, element("p", {}, "The same launch, simulated again without one of its costs:"), whatIfTable(report),
    idle.length ? element("p", {class: "note"}, `There was nothing to leave out of: ${idle.join(", ")}.`) : null];
}

function whatIfTable(report) {
  const rows = report.what_if.filter((w) => w.seen).map((w) => ({...w, name: w.name.replaceAll("_", " ")}));
  return table({id: "what-if", rows, sort: "speedup", down: true, columns: [
    {key: "name", title: "Without"}, {key: "text", title: "That is"}, {key: "cycles", title: "Cycles", number: true},
    {key: "speedup", title: "Speed-up", number: true, show: (v) => (known(v) ? decimal(v, 2) + " ×" : "n/a")},
    {key: "why", title: ""}]});
}

function showSpeed(report) {
  if (!report.speed) return null;
  const rows = Object.entries(report.speed).map(([key, s]) => ({name: key.replaceAll("_", " "), ...s}));
  return table({id: "speed-table", caption: "Each unit's use against its peak: over the whole kernel, and while it could work",
    rows, sort: "active", down: true, columns: [
      {key: "name", title: "Unit"}, {key: "amount", title: "Amount", number: true}, {key: "unit", title: "of"},
      {key: "peak_per_cycle", title: "Peak per cycle", number: true, show: (v) => decimal(v, 1)},
      {key: "elapsed", title: "Of kernel", number: true, show: percent}, {key: "active", title: "Of active", number: true, show: percent},
      {key: "active", title: "", bar: (row) => row.active}]});
}

function showRoofline(report, run) {
  if (!report.roofline) return null;
  const chart = rooflineChart(report.roofline, at(baselineOf(run), "roofline"));
  const rows = Object.entries(report.roofline).map(([name, r]) => ({name, ...r}));
  const rate = (v) => short(v) + "/s";
  return [chart || element("p", {class: "note"}, "No arithmetic on DRAM's data: nothing to draw."),
    table({id: "roofline-table", rows, columns: [
      {key: "name", title: "Operations"}, {key: "per_second", title: "Rate", number: true, show: rate},
      {key: "peak_per_second", title: "Peak", number: true, show: rate},
      {key: "per_byte", title: "Per byte of DRAM", number: true, show: (v) => decimal(v, 2)},
      {key: "ridge_per_byte", title: "Where roofs meet", number: true, show: (v) => decimal(v, 2)},
      {key: "dram_bytes_per_second", title: "DRAM B/s", number: true, show: (v) => short(v)},
      {key: "dram_peak_per_second", title: "Peak B/s", number: true, show: (v) => short(v)}]})];
}

function showMemory(report) {
  if (!at(report, "stats", "l2")) return null;
  return [element("div", {class: "scroll"}, memoryChart(report.stats)), element("p", {class: "note"}, HITS_NOTE),
    memoryTable(report.stats), levelTable(report.stats)];
}

function showTime(report) {
  if (!at(report, "usage", "until_cycle", "length") || !report.speed) return null;
  const place = element("div", {class: "series", role: "img", "aria-label": "Use of units over the time of the launch; as a table below"});
  const columns = usageColumns(report);
  const numbers = element("details", {}, element("summary", {}, "As a table"),
    table({id: "usage-table", rows: usageRows(report), columns: [
      {key: "from", title: "From cycle", number: true}, {key: "until", title: "Until", number: true},
      ...columns.map((c) => ({key: "share:" + c.key, title: c.title, number: true, show: percent}))]}));
  if (typeof Dygraph === "undefined") return [element("p", {class: "note"}, "This build has no chart library."), numbers];
  const legend = element("div", {class: "legend"});
  later.push(() => charts.push(usageChart(place, legend, report)));
  return [legend, place, element("p", {class: "note screen"}, "Drag to look closer, double-click for all of it."), numbers];
}

function ranking(id, caption, counts, before) {
  const all = sum(Object.values(counts)), was = sum(Object.values(before || {}));
  const rows = Object.entries(counts).filter(([name, n]) => n || at(before, name)).map(([name, n]) => ({
    name, n, share: ratio(n, all), was: was ? ratio(before[name] || 0, was) : null}));
  const columns = [{key: "name", title: "State"}, {key: "n", title: "Count", number: true},
    {key: "share", title: "Share", number: true, show: percent}, {key: "share", title: "", bar: (row) => row.share}];
  if (was) columns.splice(3, 0, {key: "was", title: "Baseline", number: true, show: percent});
  return table({id, caption, rows, columns, sort: "n", down: true});
}

function showStalls(report, run) {
  const now = figures(report), was = figures(baselineOf(run));
  if (!now.slot) return null;
  return [ranking("warp-states", "Warp-cycles by what warps were in", now.warp_state, was.warp_state),
    ranking("issue-slots", "Issue slots by what they went to", now.slot, was.slot)];
}

function showCode(report) {
  return at(report, "listing", "instructions", "length") ? codeView(report) : null;
}

function showOccupancySection(report) {
  return at(report, "gpu", "parameters") ? occupancyCalculator(report) : null;
}

/* Numbers of two reports by their paths: [[path, number]]. */
function* numbersOf(value, path) {
  if (known(value)) yield [path, value];
  else if (value && typeof value === "object" && !Array.isArray(value))
    for (const [key, inside] of Object.entries(value)) yield* numbersOf(inside, path ? path + "." + key : key);
}

function showChanges(report, run) {
  if (!page.baseline) return null;
  const before = baselineOf(run), name = element("span", {class: "code"}, page.baseline_name || "");
  if (!before) return element("p", {class: "note"}, "The baseline ", name, " has no such launch.");
  return [element("p", {}, "Compared with ", name, ":"), changedSettings(report, before), changedNumbers(report, before)];
}

function changedSettings(report, before) {
  const now = at(report, "gpu", "parameters") || {}, was = at(before, "gpu", "parameters") || {};
  const rows = Object.keys(now).filter((key) => was[key] && was[key].value !== now[key].value)
    .map((key) => ({key, was: was[key].value, now: now[key].value}));
  return rows.length ? table({id: "changed-settings", caption: "Parameters of the machine that differ", rows,
    columns: [{key: "key", title: "Parameter"}, {key: "was", title: "Baseline"}, {key: "now", title: "Here"}]}) : null;
}

function changedNumbers(report, before) {
  const source = (r) => (r.stats ? r.stats : figures(r));
  const was = new Map(numbersOf(source(before), ""));
  const rows = [...numbersOf(before.stats ? report.stats : figures(report), "")]
    .filter(([key, n]) => was.has(key) && was.get(key) !== n)
    .map(([key, n]) => ({key, was: was.get(key), now: n, share: was.get(key) ? n / was.get(key) - 1 : null}))
    .map((row) => ({...row, size: Math.abs(row.share === null ? Infinity : row.share)}));
  if (!rows.length) return element("p", {class: "note"}, "No number differs.");
  return table({id: "changed-numbers", caption: `${count(rows.length)} numbers that differ`, rows, columns: [
    {key: "key", title: "Number"}, {key: "was", title: "Baseline", number: true, show: (v) => v.toLocaleString("en")},
    {key: "now", title: "Here", number: true, show: (v) => v.toLocaleString("en")},
    {key: "share", title: "Change", number: true, show: (v) => (known(v) ? (v > 0 ? "+" : "") + percent(v) : "")}]});
}

function showMachine(report) {
  const parameters = at(report, "gpu", "parameters");
  if (!parameters) return null;
  const rows = Object.entries(parameters).map(([key, p]) => ({key, value: p.value, source: p.source}));
  return element("details", {}, element("summary", {}, `All ${rows.length} parameters of ${report.gpu.name}`),
    table({id: "parameters", rows, columns: [
      {key: "key", title: "Parameter"}, {key: "value", title: "Value"}, {key: "source", title: "Where it comes from"}]}));
}

/* --- the page ------------------------------------------------------------------------------------------------------- */

let current = 0;       // which of page.runs is shown
let later = [];        // what has to wait until the sections are in the document
const charts = [];     // of the library, which draws on a canvas that knows no style sheet

function chosenRun() {
  return current;
}

function section(run, [id, title, show]) {
  const content = run || id === "launches" || id === "links" ? show(run && run.report, run) : null;
  if (!content) return null;
  return element("section", {id, "aria-labelledby": id + "-title"}, element("h2", {id: id + "-title"}, title), content);
}

function chooseRun(i) {
  current = i;
  showPage();
  const select = byId("launch");
  if (select) select.focus();
}

function chooser() {
  if (page.runs.length < 2) return null;
  const option = (run, i) => element("option", {value: i, selected: i === current ? "" : null},
    `${run.number}: ${plainName(run.report.kernel)}, ${count(at(run.report, "stats", "gpu", "cycles"))} cycles`);
  return element("label", {for: "launch"}, "Launch",
    element("select", {id: "launch", change: (event) => chooseRun(Number(event.target.value))}, page.runs.map(option)));
}

function showHead(run) {
  const name = run ? plainName(run.report.kernel) : "no launch was timed alone";
  byId("title").textContent = name;
  document.title = name + " - warpstep";
  const gpu = run ? `${run.report.kernel} for sm_${run.report.launch.target_sm} on ${run.report.gpu.name}` : "";
  byId("subtitle").textContent = gpu;
}

function showPage() {
  const run = page.runs[current];
  charts.splice(0).forEach((chart) => chart.destroy());
  later = [];
  showHead(run);
  byId("chooser").replaceChildren(...[chooser()].filter(Boolean));
  const shown = SECTIONS.map((one) => section(run, one)).filter(Boolean);
  byId("main").replaceChildren(...shown);
  byId("sections").replaceChildren(...shown.map((s) =>
    element("li", {}, element("a", {href: "#" + s.id}, s.querySelector("h2").textContent))));
  later.forEach((draw) => draw());
}

function showFooter() {
  const has = typeof Dygraph !== "undefined";
  byId("charts-note").textContent = has ? `Charts over time: dygraphs ${Dygraph.VERSION || ""} (MIT licence).`
    : "Built without a chart library (Debian's libjs-dygraphs): use over time is a table.";
  if (!has) byId("charts-licence").remove();
}

showPage();
showFooter();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showPage);
addEventListener("beforeprint", () => charts.forEach((chart) => chart.resize()));
