#!/usr/bin/env python3
"""Sensitivity tables of Huerta et al., MICRO 2025, on kernels of the corpus.

  tools/studies/sensitivity.py [--gpu rtx-a6000] [--jobs 2] [--csv FILE] [--set KEY=VALUE]... [KERNEL...]

Runs each kernel (20 unless named) on every machine of Tables 5 (instruction prefetcher), 6 (register
file) and 7 (dependence mechanism) and prints, as Markdown, the mean speed-up over the first column beside the
published one, then the speed-up of each kernel. A speed-up is a ratio of cycles; the mean is arithmetic,
as in the paper. Launch latency is left out: these kernels are short. Under a minute.
--set applies to every machine, e.g. gpu.sms=1 to fill an SM.
Needs `make all refs`. Results are not compared here; tests/run.sh does that.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

KERNELS = (
    "aes128 attention_naive bfs conv2d fft_radix4 heat2d hist_shared interpreter lu mma_f16 nbody "
    "needleman_wunsch raytrace reduce_shfl scan sgemm_reg sgemm_tiled sha256 spmv_vector stencil3d"
).split()

BASE = {}  # the preset: 8 lines of stream buffer, one read port and a register cache, control bits
BOARD = {"issue.dependence": "scoreboard"}

# Table: title, first column is the reference, rows of (name, settings, published mean speed-up).
TABLES = [
    ("Table 5: stream buffer of the instruction prefetcher, lines", [
        ("off", {"l0i.stream_lines": 0}, 1.0),
        ("1", {"l0i.stream_lines": 1}, 1.08),
        ("2", {"l0i.stream_lines": 2}, 1.19),
        ("4", {"l0i.stream_lines": 4}, 1.29),
        ("8", BASE, 1.37),
        ("16", {"l0i.stream_lines": 16}, 1.40),
        ("32", {"l0i.stream_lines": 32}, 1.40),
        ("perfect", {"icache.perfect": "true"}, 1.50),
    ]),
    ("Table 6: register read ports per bank, register-file cache", [
        ("1, cache", BASE, 1.0),
        ("1, no cache", {"regfile.cache": "false"}, 0.974),
        ("2, no cache", {"regfile.cache": "false", "regfile.read_ports": 2}, 1.006),
        ("ideal", {"regfile.perfect": "true"}, 1.008),
    ]),
    ("Table 7: control bits, scoreboards by the readers they can count", [
        ("control bits", BASE, 1.0),
        ("1", {**BOARD, "scoreboard.consumers": 1}, 0.95),
        ("3", {**BOARD, "scoreboard.consumers": 3}, 0.98),
        ("63", {**BOARD, "scoreboard.consumers": 63}, 0.98),
        ("unlimited", {**BOARD, "scoreboard.consumers": 0}, 0.98),
    ]),
]


def machine(settings):
    return tuple(sorted((k, str(v)) for k, v in settings.items()))


def cycles(args, kernel, settings):
    """Cycles of one kernel on one machine."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [args.bin, "run", f"kernels/{kernel}/{kernel}.launch", "--gpu", args.gpu,
                   "--no-check", "--quiet", "--threads", "1", "--json", out.name,
                   "--set", "launch.latency_cycles=0"]
        for key, value in settings:
            command += ["--set", f"{key}={value}"]
        for setting in args.set:
            command += ["--set", setting]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stderr or done.stdout}")
        return json.load(out)["stats"]["gpu"]["cycles"]


def measure(args):
    """{(kernel, machine): cycles}, each machine once however many tables name it."""
    machines = {machine(row[1]) for _, rows in TABLES for row in rows}
    jobs = [(k, m) for k in args.kernels for m in sorted(machines)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        return dict(zip(jobs, pool.map(lambda j: cycles(args, *j), jobs)))


def speedups(measured, kernels, rows):
    """{kernel: [speed-up of each row over the first]}"""
    out = {}
    for kernel in kernels:
        times = [measured[kernel, machine(row[1])] for row in rows]
        out[kernel] = [times[0] / t for t in times]
    return out


def print_row(name, values):
    print("| " + " | ".join([name] + [f"{v:.3f}" for v in values]) + " |")


def print_table(title, rows, ratios):
    print(f"\n{title}\n")
    print("| | " + " | ".join(row[0] for row in rows) + " |")
    print("|---" * (len(rows) + 1) + "|")
    print_row("published, mean of 128", [row[2] for row in rows])
    columns = list(zip(*ratios.values()))
    print_row(f"here, mean of {len(ratios)}", [sum(c) / len(c) for c in columns])
    for kernel, values in ratios.items():
        print_row(kernel, values)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", default="rtx-a6000")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "warpstep"))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--csv", help="also write kernel, settings, cycles")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", default=KERNELS)
    args = parser.parse_args()
    if not os.access(args.bin, os.X_OK):
        sys.exit(f"no {args.bin}; run make first")
    measured = measure(args)
    if args.csv:
        with open(args.csv, "w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow(["kernel", "settings", "cycles"])
            for (kernel, settings), value in measured.items():
                writer.writerow([kernel, " ".join(f"{k}={v}" for k, v in settings), value])
    for title, rows in TABLES:
        print_table(title, rows, speedups(measured, args.kernels, rows))


if __name__ == "__main__":
    main()
