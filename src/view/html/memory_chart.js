/* Where data went: instructions of each space, L1 and shared memory, L2, DRAM, with traffic on the arrows between them. */
"use strict";

const SECTOR_BYTES = 32;

/* Spaces and the classes of instructions (mem_class of the statistics) that touch them. */
const SPACES = [
  {name: "Global", classes: ["global_ld", "global_st", "global_atom", "global_red", "ldgsts"]},
  {name: "Local", classes: ["local_ld", "local_st"]},
  {name: "Texture", classes: ["tex"]},
  {name: "Shared", classes: ["shared_ld", "shared_st", "shared_atom"]},
];

function classSum(sm, row, classes) {
  return sum(classes.map((name) => at(sm, row, name) || 0));
}

/* What each space did: instructions; sectors and those found in L1; passes through the banks of shared memory. */
function spaces(sm) {
  return SPACES.map((space) => ({
    name: space.name,
    instructions: classSum(sm, "mem_class", space.classes),
    sectors: classSum(sm, "class_sectors", space.classes),
    hits: classSum(sm, "class_hits", space.classes),
    passes: classSum(sm, "class_passes", space.classes),
    conflicts: classSum(sm, "class_conflicts", space.classes),
  }));
}

/* Traffic between levels; sectors are of 32 bytes. */
function levels(stats) {
  const l2 = stats.l2, dram = stats.dram;
  const reads = sum(["read", "atom", "code"].map((op) => l2.op_sectors[op]));
  const writes = l2.op_sectors.write + l2.op_sectors.red;
  return {
    l1Requests: stats.sm.global_lines + stats.sm.texture_lines,
    l1Hits: ratio(stats.sm.l1_hit_sectors + stats.sm.l1_merge_sectors, stats.sm.l1_read_sectors),
    l2Requests: sum(Object.values(l2.op_requests)), l2Reads: reads, l2Writes: writes,
    l2Misses: sum(Object.values(l2.op_misses)),
    l2Hits: ratio(reads + writes - sum(Object.values(l2.op_misses)), reads + writes),
    dramReads: dram.dram_reads, dramWrites: dram.dram_writes,
    readBytes: dram.dram_read_bytes, writeBytes: dram.dram_write_bytes,
  };
}

function memoryChart(stats) {
  const rows = spaces(stats.sm), l = levels(stats);
  const svg = drawing("svg",
    {class: "chart flows", viewBox: "0 0 980 372", role: "img", "aria-labelledby": "memory-text"},
    drawing("title", {id: "memory-text"}, "Memory chart: what instructions asked of L1 and shared memory, L2 and DRAM"),
    arrowHead());
  rows.forEach((row, i) => svg.append(...spaceRow(row, 10 + 92 * i)));
  svg.append(
    ...box(400, 10, 110, 260, "L1", ["hit " + percent(l.l1Hits), count(l.l1Requests) + " lines"]),
    ...box(400, 286, 110, 76, "Shared", [count(rows[3].conflicts) + " conflicts"]),
    ...box(650, 10, 110, 260, "L2", ["hit " + percent(l.l2Hits), count(l.l2Requests) + " requests"]),
    ...box(870, 10, 100, 260, "DRAM", []),
    ...flow(510, 650, 92, l.l2Reads, [short(l.l2Reads * SECTOR_BYTES, "B"), count(l.l2Reads) + " sectors"], "read"),
    ...flow(510, 650, 170, l.l2Writes, [short(l.l2Writes * SECTOR_BYTES, "B"), count(l.l2Writes) + " sectors"], "write"),
    ...flow(760, 870, 92, l.readBytes, [short(l.readBytes, "B"), count(l.dramReads) + " reads"], "read"),
    ...flow(760, 870, 170, l.writeBytes, [short(l.writeBytes, "B"), count(l.dramWrites) + " writes"], "write"));
  return svg;
}

const HITS_NOTE = "A hit is a sector that is there or on its way; lines are of 128 bytes, one for each request to L1. Bytes are of " +
  "sectors, 32 each; data of shared memory, and what copies bring past L1, is not among those of instructions.";

function arrowHead() {
  return drawing("defs", {}, drawing("marker",
    {id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse",
     orient: "auto-start-reverse"}, drawing("path", {class: "head", d: "M0 0L8 4L0 8z"})));
}

function box(x, y, width, height, name, lines) {
  const middle = x + width / 2, first = y + height / 2 - 8 * lines.length;
  return [
    drawing("rect", {class: "box", x, y, width, height, rx: 6}),
    drawing("text", {class: "name", x: middle, y: first + 5, "text-anchor": "middle"}, name),
    ...lines.map((line, i) => drawing("text", {class: "faint", x: middle, y: first + 24 + 16 * i, "text-anchor": "middle"}, line)),
  ];
}

/* An arrow with what goes along it above and below; "read" points at who asked. The more, the thicker. */
function flow(from, to, y, amount, texts, kind) {
  const width = amount > 0 ? Math.min(6, 1 + Math.log10(amount) / 2) : 1;
  const ends = kind === "read" ? {"marker-start": "url(#head)"} : kind === "write" ? {"marker-end": "url(#head)"} :
    {"marker-start": "url(#head)", "marker-end": "url(#head)"};
  const middle = (from + to) / 2;
  return [
    drawing("path", {class: amount > 0 ? "flow" : "flow idle", d: `M${from + 4} ${y}H${to - 4}`, "stroke-width": width, ...ends}),
    drawing("text", {x: middle, y: y - 9, "text-anchor": "middle"}, texts[0]),
    drawing("text", {class: "faint", x: middle, y: y + 19, "text-anchor": "middle"}, texts[1]),
  ];
}

function spaceRow(row, y) {
  const shared = row.name === "Shared";
  const hits = row.sectors ? `, hit ${percent(row.hits / row.sectors)}` : "";
  const texts = shared ? [count(row.passes) + " passes", count(row.conflicts) + " of them conflicts"]
    : [short(row.sectors * SECTOR_BYTES, "B"), `${count(row.sectors)} sectors${hits}`];
  return [
    ...box(10, y, 150, 76, row.name, [count(row.instructions) + " instructions"]),
    ...flow(160, 400, y + 38, shared ? row.passes : row.sectors, texts, ""),
  ];
}

function memoryTable(stats) {
  const names = SPACES.flatMap((space) => space.classes.map((name) => ({space: space.name, name})));
  const sm = stats.sm;
  const rows = names.map(({space, name}) => ({
    space, name, instructions: sm.mem_class[name], sectors: sm.class_sectors[name], bytes: sm.class_sectors[name] * SECTOR_BYTES,
    each: ratio(sm.class_sectors[name], sm.mem_class[name]), hits: ratio(sm.class_hits[name], sm.class_sectors[name]),
    passes: sm.class_passes[name], conflicts: sm.class_conflicts[name],
  })).filter((row) => row.instructions > 0);
  return table({
    id: "memory-classes", caption: "Memory instructions by space and operation", sort: "bytes", down: true, rows,
    columns: [
      {key: "space", title: "Space"}, {key: "name", title: "Operation"},
      {key: "instructions", title: "Instructions", number: true}, {key: "sectors", title: "Sectors", number: true},
      {key: "bytes", title: "Bytes", number: true},
      {key: "each", title: "Sectors each", number: true, show: (v) => decimal(v, 2)},
      {key: "hits", title: "Hits in L1", number: true, show: (v) => (known(v) ? percent(v) : "")},
      {key: "passes", title: "Passes", number: true}, {key: "conflicts", title: "Conflicts", number: true},
    ],
  });
}

function levelTable(stats) {
  const l2 = stats.l2, rows = Object.keys(l2.op_requests).map((name) => ({
    name, requests: l2.op_requests[name], sectors: l2.op_sectors[name], bytes: l2.op_sectors[name] * SECTOR_BYTES,
    hits: ratio(l2.op_sectors[name] - l2.op_misses[name], l2.op_sectors[name])}));
  const d = stats.dram;
  rows.push({name: "DRAM read", requests: d.dram_reads, bytes: d.dram_read_bytes},
    {name: "DRAM write", requests: d.dram_writes, bytes: d.dram_write_bytes});
  return table({
    id: "memory-levels", caption: "Requests of SMs to L2, and of L2 to DRAM", rows,
    columns: [
      {key: "name", title: "Operation"}, {key: "requests", title: "Requests", number: true},
      {key: "sectors", title: "Sectors", number: true, show: (v) => (known(v) ? count(v) : "")},
      {key: "bytes", title: "Bytes", number: true},
      {key: "hits", title: "Hits in L2", number: true, show: (v) => (known(v) ? percent(v) : "")},
    ],
  });
}
