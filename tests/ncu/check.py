#!/usr/bin/env python3
"""Reads what `warpstep ncu` printed as known readers of Nsight Compute's CSV do, and holds it against what `warpstep exec --cold
--json` said of the same launches, and against the formulas of Nsight Compute's documentation.

  check.py raw RAW.csv EXEC.json         the raw page of --set full and more: counters, formulas, pandas where it is
  check.py details DETAILS.csv LABELS    the details page: columns, rules; sections, labels and units as in the file LABELS
  check.py source SASS.csv LINES.csv RAW.csv   the source page of one launch: sums are its counters
  check.py pattern DETAILS.csv SASS.csv RAW.csv   rule MemoryCacheAccessPattern of the first launch, from the sectors of its instructions
"""
import csv
import json
import math
import re
import sys

WHO = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"]
RULES = ["Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup"]
STALLS = {"barrier": "barrier", "branch_resolving": "branch_resolving", "dispatch_stall": "dispatch_stall", "drain": "drain",
          "imc_miss": "imc_miss", "lg_throttle": "lg_throttle", "long_scoreboard": "long_scoreboard",
          "math_pipe_throttle": "math_pipe_throttle", "membar": "membar", "mio_throttle": "mio_throttle",
          "no_instruction": "no_instruction", "not_selected": "not_selected", "selected": "selected",
          "short_scoreboard": "short_scoreboard", "sleeping": "sleeping", "wait": "wait"}


def near(a, b, what, tolerance=0.006):
    """Two numbers that are printed with two decimals."""
    assert math.isclose(a, b, rel_tol=1e-3, abs_tol=tolerance), "%s: %r, not %r" % (what, a, b)


def csv_part(path):
    """Lines from the header on, as readers find it: a program's own output and ==PROF== lines stand before."""
    with open(path, newline="", encoding="utf-8") as f:
        lines = f.read().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith('"ID","Process ID","Process Name",'))
    return lines[at:]


def read_raw(path):
    """A dict for each launch, numbers where there are some. The second line is units."""
    lines = csv_part(path)
    header = next(csv.reader(lines[:1]))
    units = dict(zip(header, next(csv.reader(lines[1:2]))))
    assert header[:11] == WHO, header[:11]
    assert header[11:] == sorted(header[11:]) and len(set(header)) == len(header)
    assert all(units[name] == "" for name in WHO)
    rows = list(csv.DictReader([lines[0]] + lines[2:]))  # as casio's reader: the units line is dropped
    for row in rows:
        assert None not in row and None not in row.values(), "a row of another length"
        for name in header[11:]:
            row[name] = math.nan if row[name] == "n/a" else float(row[name])
    return rows, units


def against_exec(m, launch, clock):
    cycles = launch["cycles"]
    assert m["sm__cycles_elapsed.max"] == cycles == m["gpc__cycles_elapsed.max"]
    assert m["smsp__inst_executed.sum"] == launch["warp_insts"] == m["sm__inst_issued.sum"]
    assert m["smsp__thread_inst_executed_pred_on.sum"] == launch["thread_insts"]
    assert m["dram__bytes.sum"] == launch["dram_bytes"]
    assert m["gpu__time_duration.sum"] == round(cycles * clock / 1000), (m["gpu__time_duration.sum"], cycles * clock)
    warp_cycles = sum(launch["warp_state"].values())
    assert m["smsp__pcsamp_sample_count"] == warp_cycles
    for theirs, ours in STALLS.items():
        near(m["smsp__average_warps_issue_stalled_%s_per_issue_active.ratio" % theirs], launch["warp_state"][ours] / launch["warp_insts"],
             theirs)
    near(m["smsp__issue_active.avg.pct_of_peak_sustained_active"], 100 * launch["warp_insts"] / sum(launch["slot"].values()), "slots")
    flops = m["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"] + m["smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"] + \
        2 * m["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"]
    assert flops == launch["work"]["fp32"], (flops, launch["work"])
    assert m["smsp__sass_thread_inst_executed_op_integer_pred_on.sum"] == launch["work"]["integer"]


def highest(m, name, parts, suffix):
    known = [m[part + suffix] for part in parts if not math.isnan(m[part + suffix])]
    near(m[name + suffix], max(known), name)


def formulas(m):
    sms, seconds = m["launch__sm_count"], m["gpu__time_duration.sum"] * 1e-9
    cycles = m["sm__cycles_elapsed.max"]
    for unit in ("l1tex", "lts"):
        assert m[unit + "__t_bytes.sum"] == 32 * m[unit + "__t_sectors.sum"]
        assert m[unit + "__t_sectors_lookup_hit.sum"] + m[unit + "__t_sectors_lookup_miss.sum"] == m[unit + "__t_sectors.sum"]
    assert m["dram__bytes.sum"] == m["dram__bytes_read.sum"] + m["dram__bytes_write.sum"] == 32 * m["dram__sectors.sum"]
    assert m["sm__cycles_elapsed.sum"] == sms * cycles and m["sm__cycles_elapsed.avg"] == m["sm__cycles_elapsed.min"] == cycles
    near(m["sm__inst_executed.avg"], m["sm__inst_executed.sum"] / sms, "avg")
    near(m["sm__inst_executed.avg.per_cycle_elapsed"], m["sm__inst_executed.sum"] / sms / cycles, "per_cycle_elapsed")
    near(m["sm__inst_executed.avg.per_cycle_active"], m["sm__inst_executed.sum"] / m["sm__cycles_active.sum"], "per_cycle_active")
    near(m["sm__warps_active.avg.pct_of_peak_sustained_active"], 100 * m["sm__warps_active.avg.per_cycle_active"] /
         m["device__attribute_max_warps_per_multiprocessor"], "occupancy")
    assert math.isclose(m["dram__bytes.sum.per_second"], m["dram__bytes.sum"] / seconds, rel_tol=1e-3)
    assert m["launch__thread_count"] == m["launch__grid_size"] * m["launch__block_size"]
    suffix = ".avg.pct_of_peak_sustained_elapsed"
    highest(m, "sm__throughput", ("sm__instruction_throughput", "sm__memory_throughput"), suffix)
    highest(m, "gpu__compute_memory_throughput",
            ("gpu__compute_memory_access_throughput", "gpu__compute_memory_request_throughput"), suffix)
    highest(m, "dram__throughput", ("dram__bytes", "dram__cycles_active"), suffix)
    peak = m["dram__bytes.sum.peak_sustained"] * m["dram__cycles_elapsed.avg.per_second"]
    near(m["dram__bytes.sum.pct_of_peak_sustained_elapsed"], 100 * m["dram__bytes.sum.per_second"] / peak, "of DRAM")
    assert m["smsp__inst_executed.sum"] == m["sm__inst_executed.sum"] == 4 * sms * m["smsp__inst_executed.avg"] or \
        math.isclose(m["smsp__inst_executed.sum"], 4 * sms * m["smsp__inst_executed.avg"], rel_tol=1e-2, abs_tol=4 * sms * 0.006)
    instances(m)
    not_issued(m)
    # What is not known is n/a, never 0.
    for name in ("lts__average_gcomp_input_sector_success_rate.pct", "launch__shared_mem_config_size", "no_such_metric.sum"):
        assert math.isnan(m[name]), name


def instances(m):
    """Least and most of one SM, slice, channel: around the average; of CTAs by how many there are, which go to the SMs in turn."""
    sms, ctas = m["launch__sm_count"], m["launch__grid_size"]
    for name in ("sm__cycles_active", "sm__inst_executed", "sm__ctas_launched", "sm__warps_active", "l1tex__t_sectors",
                 "lts__t_sectors", "dram__bytes", "smsp__cycles_active", "smsp__inst_executed", "smsp__warps_active",
                 "smsp__warps_launched", "smsp__issue_inst0", "smsp__inst_executed_pipe_lsu"):
        assert m[name + ".min"] <= m[name + ".avg"] + 0.006 and m[name + ".avg"] - 0.006 <= m[name + ".max"] <= m[name + ".sum"], name
    if ctas <= sms:
        assert m["sm__ctas_launched.max"] == 1 and m["sm__ctas_launched.min"] == (ctas == sms)
    if ctas == 1:
        assert m["sm__inst_executed.max"] == m["sm__inst_executed.sum"] and m["sm__cycles_active.max"] == m["sm__cycles_active.sum"]
    assert m["sm__ctas_launched.max"] >= ctas / sms
    warps = math.ceil(m["launch__block_size"] / 32)  # warp w of a CTA is on scheduler w mod 4
    if ctas == 1:
        assert m["smsp__warps_launched.max"] == math.ceil(warps / 4) and m["smsp__cycles_active.max"] == m["sm__cycles_active.max"]
    assert m["smsp__inst_executed.max"] >= m["sm__inst_executed.max"] / 4 - 0.006
    assert m["smsp__inst_executed.max"] + m["smsp__issue_inst0.min"] <= m["smsp__cycles_active.max"]
    assert math.isnan(m["smsp__inst_executed_op_global_ld.max"])  # numbers by name are of all together


def not_issued(m):
    """Samples in cycles without an issue: none of a warp that issues; all others where a scheduler has one warp alone."""
    stalled = "smsp__pcsamp_warps_issue_stalled_"
    states = [name for name in m if name.startswith(stalled) and not name.endswith("_not_issued")]
    assert len(states) == 17, states
    for name in states:
        without = m[name + "_not_issued"]
        if name == stalled + "selected":
            assert without == 0
        elif m["smsp__warps_launched.max"] == 1 and m["launch__grid_size"] == 1:
            assert without == m[name], name
        else:
            assert 0 <= without <= m[name], name


def check_units(units):
    for name, unit in {"sm__cycles_elapsed.max": "cycle", "gpu__time_duration.sum": "ns", "dram__bytes.sum": "byte",
                       "dram__bytes.sum.per_second": "byte/second", "lts__t_sectors.sum": "sector", "smsp__inst_executed.sum": "inst",
                       "sm__inst_executed.avg.per_cycle_active": "inst/cycle", "launch__registers_per_thread": "register/thread",
                       "dram__cycles_elapsed.avg.per_second": "hz", "sm__throughput.avg.pct_of_peak_sustained_elapsed": "%",
                       "sm__warps_active.avg.per_cycle_active": "warp", "launch__shared_mem_per_block_static": "byte/block"}.items():
        assert units[name] == unit, (name, units[name], unit)


def with_pandas(path, rows):
    """As gpuFLOPBench reads it, and casio: thousands, the units row dropped."""
    try:
        import pandas
    except ImportError:
        return
    import io
    table = pandas.read_csv(io.StringIO("".join(csv_part(path))), skiprows=[1], thousands=",")
    assert len(table) == len(rows) and table["dram__bytes.sum"].astype(float).tolist() == [r["dram__bytes.sum"] for r in rows]


def check_raw(path, json_path):
    rows, units = read_raw(path)
    with open(json_path, encoding="utf-8") as f:
        launches = json.load(f)["launches"]
    assert len(rows) == len(launches), (len(rows), len(launches))
    check_units(units)
    for i, (row, launch) in enumerate(zip(rows, launches)):
        assert row["ID"] == str(i) and row["Device"] == "0" and row["CC"] == "8.6" and row["Context"] == "1"
        assert row["Grid Size"] == "(%d, %d, %d)" % tuple(launch["grid"]) and row["Block Size"] == "(%d, %d, %d)" % tuple(launch["block"])
        against_exec(row, launch, 580)  # ps of a cycle at 1725 MHz
        formulas(row)
    with_pandas(path, rows)


def check_details(path, labels_path):
    rows = list(csv.reader(csv_part(path)))
    header = rows[0]
    assert header == WHO + ["Section Name", "Metric Name", "Metric Unit", "Metric Value"] + RULES, header
    table = [dict(zip(header, row)) for row in rows[1:]]
    assert all(len(row) == len(header) for row in rows)
    with open(labels_path, encoding="utf-8") as f:
        want = [line.rstrip("\n").split("\t") for line in f]
    launches = sorted({int(r["ID"]) for r in table})
    assert launches == list(range(len(launches)))
    for launch in launches:
        mine = [r for r in table if r["ID"] == str(launch)]
        got = [[r["Section Name"], r["Metric Name"], r["Metric Unit"]] for r in mine if r["Metric Name"]]
        assert got == want, next((g, w) for g, w in zip(got + [None], want + [None]) if g != w)
        rules = [r for r in mine if r["Rule Name"]]
        assert any(r["Rule Name"] == "SOLBottleneck" for r in rules)
        for r in rules:
            assert r["Rule Type"] in ("OPT", "INF", "WRN") and r["Rule Description"] and not r["Metric Value"]
            assert (r["Estimated Speedup Type"] in ("local", "global")) == bool(r["Estimated Speedup"])
            assert not r["Estimated Speedup"] or 0 <= float(r["Estimated Speedup"]) <= 100, r


def number(text):
    return 0 if text == "n/a" else float(text)


def check_source(sass_path, lines_path, raw_path):
    raw, _ = read_raw(raw_path)
    m = raw[0]
    with open(sass_path, newline="", encoding="utf-8") as f:
        sass = [r for r in csv.reader(f) if r]
    assert sass[0][0] == "Kernel Name" and sass[0][1] == m["Kernel Name"] and sass[1][:2] == ["Address", "Source"]
    rows = [dict(zip(sass[1], r)) for r in sass[2:]]

    def total(of, name):
        return sum(number(r[name]) for r in of)

    counters = {"Instructions Executed": "smsp__inst_executed.sum",
                "Predicated-On Thread Instructions Executed": "smsp__thread_inst_executed_pred_on.sum",
                "L1 Wavefronts Shared": "memory_l1_wavefronts_shared", "L1 Wavefronts Shared Ideal": "memory_l1_wavefronts_shared_ideal",
                "L2 Theoretical Sectors Global": "memory_l2_theoretical_sectors_global",
                "L2 Theoretical Sectors Global Ideal": "memory_l2_theoretical_sectors_global_ideal",
                "L2 Theoretical Sectors Local": "memory_l2_theoretical_sectors_local"}
    for column, metric in counters.items():
        assert total(rows, column) == m[metric], (column, total(rows, column), m[metric])
    samples = total(rows, "# Samples")
    # Warps that have ended and wait for others of their CTA are at no instruction.
    assert m["smsp__pcsamp_sample_count"] - m["smsp__pcsamp_warps_issue_stalled_drain"] <= samples <= m["smsp__pcsamp_sample_count"]
    stalls = [c for c in sass[1] if c.startswith("stall_")]
    for r in rows:
        assert sum(number(r[c]) for c in stalls) == number(r["# Samples"]), r
        assert r["Address"].startswith("0x") and r["Source"]
    with open(lines_path, newline="", encoding="utf-8") as f:
        lines = [r for r in csv.reader(f) if r]
    assert lines[1][0] == "File Path" and lines[2][0] == "Function Name"
    assert lines[3][:4] == ["Line No", "Source", "Address", "Source"]
    of_lines = [r for r in lines[4:] if len(r) > 4 and r[2] == "-"]
    at = lines[3].index("Instructions Executed")
    assert of_lines and all(r[0].isdigit() for r in of_lines)
    behind = [r for r in lines[4:] if len(r) > 4 and r[2].startswith("0x")]
    assert sum(float(r[at]) for r in of_lines) == sum(float(r[at]) for r in behind) <= m["smsp__inst_executed.sum"]


def sector_use(path, opcode):
    """The share of the sectors of global accesses of one kind that their bytes would fill; None: there are no such accesses."""
    with open(path, newline="", encoding="utf-8") as f:
        lines = [r for r in csv.reader(f) if r]
    head = next(r for r in lines if "Source" in r and "Instructions Executed" in r)
    total, excess = (head.index("L2 Theoretical Sectors Global" + x) for x in ("", " Excessive"))
    rows = [r for r in lines if len(r) == len(head) and re.match(r"(@\S+ )?" + opcode, r[head.index("Source")])]
    sectors = sum(float(r[total] or 0) for r in rows)
    return 1 - sum(float(r[excess] or 0) for r in rows) / sectors if sectors else None


def check_pattern(details, sass, raw):
    m = read_raw(raw)[0][0]
    rows = [r for r in csv.DictReader(csv_part(details)) if r["ID"] == "0" and r["Rule Name"] == "MemoryCacheAccessPattern"]
    l1, l2 = (1 - m[name] / 100 for name in ("l1tex__t_sector_hit_rate.pct", "lts__t_sector_hit_rate.pct"))
    expected = []
    for opcode in ("LDG", "STG"):
        used = sector_use(sass, opcode)
        if used is None or used == 1:
            continue
        for level, arrives, name in (("L1TEX", 1, "l1tex__throughput.avg.pct_of_peak_sustained_active"),
                                     ("L2", l1, "lts__throughput.avg.pct_of_peak_sustained_elapsed"),
                                     ("DRAM", l1 * l2, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed")):
            if (1 - used) * arrives * m[name] > 0:
                expected.append((level, 32 * used, (1 - used) * arrives * m[name]))
    assert len(rows) == len(expected), (len(rows), expected)
    for row, (level, used, gain) in zip(rows, expected):
        text = row["Rule Description"]
        assert "at %s, %.1f are used" % (level, used) in text, (text, level, used)
        assert row["Estimated Speedup Type"] == "global"
        near(float(row["Estimated Speedup"]), gain, level, 0.02)
    print("%d findings" % len(rows))


if __name__ == "__main__":
    {"raw": check_raw, "details": check_details, "source": check_source, "pattern": check_pattern}[sys.argv[1]](*sys.argv[2:])
