/* How many CTAs an SM holds, by the rules of src/time/gpu/occupancy.c: warps, CTA slots, registers (allocated per warp, each
 * sub-core with a register file of its own) and shared memory. */
"use strict";

function parameter(report, key) {
  return Number(at(report, "gpu", "parameters", key, "value"));
}

function limitsOf(report) {
  const p = (key) => parameter(report, "sm." + key);
  return {
    subCores: p("sub_cores"), maxWarps: p("max_warps"), maxCtas: p("max_ctas"), maxThreads: p("max_threads_per_cta"),
    registers: p("registers"), granule: p("register_granule"), shared: p("shared_bytes"), sharedOfCta: p("shared_per_cta_max"),
    reserved: p("shared_reserved_per_cta"), sharedGranule: p("shared_granule"),
  };
}

function roundUp(value, unit) {
  return Math.ceil(value / unit) * unit;
}

/* CTAs of an SM if only this limited them. kernel: {registers, threads, shared (bytes)}. */
function ctasByLimit(limits, kernel) {
  const lanes = 32;
  const warps = Math.max(1, Math.ceil(kernel.threads / lanes));
  const ofWarp = roundUp(Math.max(1, kernel.registers) * lanes, limits.granule);
  const byRegisters = Math.floor(limits.registers / limits.subCores / ofWarp) * limits.subCores;
  const shared = roundUp(kernel.shared + limits.reserved, limits.sharedGranule) || limits.sharedGranule;
  return {
    warps,
    ctas: [
      ["CTA slots", limits.maxCtas], ["warps", Math.floor(limits.maxWarps / warps)],
      ["registers", Math.floor(byRegisters / warps)], ["shared memory", Math.floor(limits.shared / shared)],
    ],
  };
}

/* {ctas, warps, limiter}: the first of those that limit most. */
function occupancyOf(limits, kernel) {
  const by = ctasByLimit(limits, kernel);
  const [limiter, ctas] = by.ctas.reduce((least, one) => (one[1] < least[1] ? one : least));
  return {ctas, warps: ctas * by.warps, limiter, by: by.ctas};
}

function kernelOf(report) {
  const l = report.launch;
  return {registers: l.registers_per_thread, threads: l.block[0] * l.block[1] * l.block[2],
          shared: l.shared_static_bytes + l.shared_dynamic_bytes};
}

/* --- the calculator ------------------------------------------------------------------------------------------------- */

function occupancyCalculator(report) {
  const limits = limitsOf(report), kernel = kernelOf(report);
  const fields = [
    numberField("registers", "registers of a thread", kernel.registers, 1, 255),
    numberField("threads", "threads of a CTA", kernel.threads, 1, limits.maxThreads),
    numberField("shared", "bytes of shared memory of a CTA", kernel.shared, 0, limits.sharedOfCta),
  ];
  const result = element("output", {id: "occupancy-result", for: "occupancy-registers occupancy-threads occupancy-shared"});
  const place = element("div");
  const update = () => showOccupancy(limits, readFields(fields), result, place);
  const form = element("form", {class: "occupancy", input: update, submit: (event) => event.preventDefault()},
    fields.map((f) => element("label", {for: f.input.id}, f.text, f.input)));
  update();
  return element("div", {}, form, element("p", {"aria-live": "polite"}, result), place);
}

function numberField(name, text, value, min, max) {
  const input = element("input", {type: "number", id: "occupancy-" + name, value, min, max, step: 1, required: ""});
  return {name, text, input, min, max};
}

/* What is no number in the range of its field counts as the nearest that is. */
function readFields(fields) {
  return Object.fromEntries(fields.map((f) => {
    const value = Math.trunc(Number(f.input.value));
    return [f.name, known(value) ? Math.min(f.max, Math.max(f.min, value)) : f.min];
  }));
}

function showOccupancy(limits, kernel, result, place) {
  const o = occupancyOf(limits, kernel), share = ratio(o.warps, limits.maxWarps);
  result.textContent = o.ctas === 0 ? `no CTA fits: limited by ${o.limiter}`
    : `${o.ctas} CTAs = ${o.warps} of ${limits.maxWarps} warps (${percent(share)}), limited by ${o.limiter}`;
  const rows = o.by.map(([name, ctas]) => ({name, ctas, limit: ctas === o.ctas ? "the limit" : ""}));
  place.replaceChildren(
    table({id: "occupancy-limits", caption: "CTAs of an SM if only this limited them", rows,
      columns: [{key: "name", title: "Limit"}, {key: "ctas", title: "CTAs", number: true}, {key: "limit", title: ""}]}),
    table({id: "occupancy-steps", caption: "Fewer registers or less shared memory, as far as they change something",
      rows: steps(limits, kernel),
      columns: [{key: "what", title: "With"}, {key: "ctas", title: "CTAs", number: true},
        {key: "warps", title: "Warps", number: true}, {key: "limiter", title: "Limited by"}]}));
}

/* The next numbers of registers and of bytes that give more CTAs, and the next that give fewer. */
function steps(limits, kernel) {
  const now = occupancyOf(limits, kernel).ctas;
  const find = (key, values, text) => {
    const value = values.find((v) => occupancyOf(limits, {...kernel, [key]: v}).ctas !== now);
    return value === undefined ? [] : [{what: `${value.toLocaleString("en")} ${text}`, ...occupancyOf(limits, {...kernel, [key]: value})}];
  };
  const down = (from, to, unit) => range((from - to) / unit, (i) => Math.max(to, from - unit * (i + 1)));
  const up = (from, to, unit) => range((to - from) / unit, (i) => Math.min(to, from + unit * (i + 1)));
  const unit = limits.sharedGranule;
  return [
    ...find("registers", down(kernel.registers, 1, 1), "registers"), ...find("registers", up(kernel.registers, 255, 1), "registers"),
    ...find("shared", down(kernel.shared, 0, unit), "bytes of shared memory"),
    ...find("shared", up(kernel.shared, limits.sharedOfCta, unit), "bytes of shared memory"),
  ];
}

function range(n, value) {
  return Array.from({length: Math.max(0, Math.min(4096, Math.ceil(n)))}, (_, i) => value(i));
}
