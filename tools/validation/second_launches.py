#!/usr/bin/env python3
"""Bytes of DRAM of HeCBench's kernels, first and second profiled launch beside the model.

  second_launches.py PROFILING HECBENCH

PROFILING: cuda-profiling/profiling-data.csv of github.com/Scientific-Computing-Lab/gpuFLOPBench; HECBENCH: what
`warpstep validate --suite hecbench-rtx-3080 --csv` wrote. The profiler took two launches of each kernel. The counter of
the first one has traffic of others in it (an empty kernel: 49 KB, then 3 KB), so bytes are held against the second one.
Taken: rows whose code is comparable, that were held out, with the same grid, integer operations and, within 3 %, time in
both launches, and 100 KB or more in each."""
import csv
import sys

SAME_TIME, LEAST_BYTES = 0.03, 100_000


def launches(path):
    """program/kernel -> [(grid, operations, us, bytes)]"""
    found = {}
    for row in csv.DictReader(open(path)):
        if not row["targetName"].endswith("-cuda"):
            continue
        us = float(row["xtime"]) / 1e3
        key = row["targetName"].removesuffix("-cuda") + "/" + row["kernelName"]
        found.setdefault(key, []).append((row["Grid Size"], row["intops"], us, float(row["traffic"]) * us / 1e6))
    return found


def pairs(measured, simulated):
    """(id, bytes of the first launch, of the second, simulated) of each row that can be compared"""
    for row in csv.DictReader(open(simulated)):
        first, second = (measured.get(row["id"], []) + [None, None])[:2]
        if not second or row["state"] != "comparable" or row["split"] != "held-out" or first[:2] != second[:2]:
            continue
        if abs(first[2] / second[2] - 1) <= SAME_TIME and min(first[3], second[3]) >= LEAST_BYTES:
            yield row["id"], first[3], second[3], float(row["dram_bytes_simulated"])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rows = list(pairs(launches(sys.argv[1]), sys.argv[2]))
    if not rows:
        sys.exit("second_launches.py: no row of these two files can be compared")
    print(f"{'kernel':50}{'first':>12}{'second':>12}{'simulated':>12}{'second, %':>11}")
    for name, first, second, here in sorted(rows):
        print(f"{name:50}{first:12.0f}{second:12.0f}{here:12.0f}{100 * (here / second - 1):+11.1f}")
    for title, of in (("first", 1), ("second", 2)):
        print(f"mean error beside the {title} launch, {len(rows)} rows: "
              f"{sum(abs(r[3] / r[of] - 1) for r in rows) / len(rows):.1%}")


if __name__ == "__main__":
    main()
