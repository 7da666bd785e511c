/* The roofline (own SVG) and use over time (dygraphs, where the page has it). */
"use strict";

/* --- roofline ------------------------------------------------------------------------------------------------------- */

/* Logarithmic axes: {of(value): pixel, ticks: [values]}. */
function logAxis(low, high, from, to) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const of = (value) => from + (Math.log10(value) - first) / (last - first) * (to - from);
  const ticks = [];
  for (let i = first; i <= last; i++) ticks.push(10 ** i);
  return {of, ticks, low: 10 ** first, high: 10 ** last};
}

/* Kinds of arithmetic that the launch did: [name, roofline]. */
function rooflineKinds(roofline) {
  return Object.entries(roofline || {}).filter(([, r]) => r.per_second > 0 && r.per_byte > 0 && r.peak_per_second > 0);
}

function rooflineChart(roofline, before) {
  const kinds = rooflineKinds(roofline);
  if (!kinds.length) return null;
  const all = kinds.concat(rooflineKinds(before));
  const x = logAxis(Math.min(...all.map(([, r]) => Math.min(r.per_byte, r.ridge_per_byte) / 3)),
    Math.max(...all.map(([, r]) => Math.max(r.per_byte, r.ridge_per_byte) * 3)), 70, 690);
  const y = logAxis(Math.min(...all.map(([, r]) => r.per_second / 3)),
    Math.max(...all.map(([, r]) => r.peak_per_second * 1.5)), 330, 20);
  const svg = drawing("svg", {class: "chart", viewBox: "0 0 720 380", role: "img", "aria-labelledby": "roofline-text"},
    drawing("title", {id: "roofline-text"}, "Roofline: operations per second over operations per byte of DRAM"));
  svg.append(...logGrid(x, y), ...kinds.flatMap(([, r], i) => roof(r, x, y, i)));
  rooflineKinds(before).forEach(([name, r]) => svg.append(...point(name + ", baseline", r, x, y, 0, true)));
  kinds.forEach(([name, r], i) => svg.append(...point(name, r, x, y, i, false)));
  return svg;
}

function logGrid(x, y) {
  const vertical = x.ticks.flatMap((t) => [
    drawing("path", {class: "grid", d: `M${x.of(t)} 20V330`}),
    drawing("text", {class: "faint", x: x.of(t), y: 348, "text-anchor": "middle"}, short(t))]);
  const horizontal = y.ticks.flatMap((t) => [
    drawing("path", {class: "grid", d: `M70 ${y.of(t)}H690`}),
    drawing("text", {class: "faint", x: 62, y: y.of(t) + 4, "text-anchor": "end"}, short(t))]);
  const names = [
    drawing("text", {class: "faint", x: 380, y: 370, "text-anchor": "middle"}, "operations per byte of DRAM"),
    drawing("text", {class: "faint", x: -175, y: 14, "text-anchor": "middle", transform: "rotate(-90)"}, "operations/s")];
  return [...vertical, ...horizontal, ...names];
}

/* min(peak, intensity x bandwidth). */
function roof(r, x, y, hue) {
  const slope = r.dram_peak_per_second;
  const left = Math.max(x.low, y.low / slope);
  const ridge = Math.min(Math.max(r.ridge_per_byte, left), x.high);
  const top = Math.min(r.peak_per_second, ridge * slope);
  return [drawing("path", {class: "roof", style: `stroke: var(--hue-${hue + 1}); stroke-width: 2`,
    d: `M${x.of(left)} ${y.of(left * slope)}L${x.of(ridge)} ${y.of(top)}H690`})];
}

function point(name, r, x, y, hue, hollow) {
  const cx = x.of(r.per_byte), cy = y.of(r.per_second);
  const color = `var(--hue-${hue + 1})`;
  const right = cx < 430;
  return [
    drawing("circle", {cx, cy, r: 6, style: hollow ? `fill: none; stroke: ${color}; stroke-width: 2` : `fill: ${color}`}),
    drawing("text", {x: right ? cx + 10 : cx - 10, y: cy + 18, "text-anchor": right ? "start" : "end"},
      `${name}: ${short(r.per_second)}/s at ${decimal(r.per_byte, 2)}`)];
}

/* --- use over time -------------------------------------------------------------------------------------------------- */

/* Columns of the chart: what the series counts, beside its peak in an SM cycle. */
function usageColumns(report) {
  const sms = at(report, "stats", "gpu", "sms");
  const peak = (unit) => at(report, "speed", unit, "peak_per_cycle");
  return [
    {key: "warp_insts", title: "issue slots", peak: peak("issue_slots")},
    {key: "l1_busy_cycles", title: "L1 and shared", peak: peak("l1_shared")},
    {key: "l2_bytes", title: "L2", peak: peak("l2")},
    {key: "dram_bytes", title: "DRAM", peak: peak("dram")},
    {key: "warp_cycles", title: "resident warps", peak: sms * at(report, "occupancy", "max_warps")},
  ];
}

/* Rows {from, until, warp_insts, ..., "share:warp_insts", ...} of report.usage; shares are of 1, null where a peak is not known. */
function usageRows(report) {
  const usage = report.usage, columns = usageColumns(report);
  return usage.until_cycle.map((until, i) => {
    const from = i ? usage.until_cycle[i - 1] : 0;
    const row = {from, until};
    for (const c of columns) {
      row[c.key] = usage[c.key][i];
      row["share:" + c.key] = ratio(usage[c.key][i], c.peak * (until - from));
    }
    return row;
  });
}

/* A step plot in `place`, which must be in the document; its legend, with the values under the mouse, in `legend`. */
function usageChart(place, legend, report) {
  const columns = usageColumns(report), rows = usageRows(report);
  const values = (row) => columns.map((c) => (row["share:" + c.key] === null ? null : 100 * row["share:" + c.key]));
  const data = rows.map((row) => [row.from, ...values(row)]);
  const last = rows[rows.length - 1];
  data.push([last.until, ...values(last)]);
  const css = getComputedStyle(document.documentElement);
  return new Dygraph(place, data, {
    labels: ["cycle", ...columns.map((c) => c.title)],
    colors: columns.map((c, i) => css.getPropertyValue(`--hue-${i + 1}`).trim()),
    labelsDiv: legend, stepPlot: true, strokeWidth: 1.5, legend: "always", includeZero: true,
    xlabel: "cycle of the launch", ylabel: "% of peak", gridLineColor: css.getPropertyValue("--line").trim(),
    axes: {x: {valueFormatter: (v) => "cycle " + count(v) + ":", axisLabelFormatter: (v) => short(v)},
           y: {valueFormatter: (v) => decimal(v, 1) + " %"}},
  });
}
