#!/usr/bin/env python3
"""Kernels of a microsecond beside what RRZE-HPC/gpu-benches measured: nodes of a graph, barriers of a grid.

    tools/validation/small_kernels.py [--only TEXT] [--record]

Compiles small_kernels.cu for each board (nvcc in the path), runs the rows of data/small_kernels/rrze.csv whose board or mode contains
TEXT, and prints measured and simulated microseconds; --record writes the errors into the file. --table prints means of the errors recorded.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

import commented_csv

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "data/small_kernels/rrze.csv"
ARCH = {"a100": "80", "a40": "86", "h200": "90", "l40": "89"}
WARPSTEP = os.environ.get("BIN", str(ROOT / "build/warpstep"))


def program(folder, board):
    path = pathlib.Path(folder) / board
    if not path.exists():
        source = ROOT / "tools/validation/small_kernels.cu"
        subprocess.run(["nvcc", "-std=c++17", f"-arch=sm_{ARCH[board]}", "-cudart", "shared", "-o", path, source], check=True)
    return path


def simulated(path, row):
    command = [WARPSTEP, "exec", "--gpu", row["preset"], str(path), row["mode"], row["elements"], row["threads"]]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0])


def run(rows, only):
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            if only not in row["preset"] and only not in row["mode"]:
                continue
            us, published = simulated(program(folder, row["preset"]), row), float(row["published_us"])
            row["error_pct"] = f"{100 * (us / published - 1):.1f}"
            print(f"{row['preset']:6}{row['mode']:16}{row['elements']:>6}{row['threads']:>6}{published:8.2f}{us:8.2f}"
                  f"{row['error_pct']:>8} %  {row['split']}", flush=True)


def table(rows):
    for board in ARCH:
        for mode in ("graph", "grid_sync", "atomic_barrier"):
            errors = [float(row["error_pct"]) for row in rows if row["preset"] == board and row["mode"] == mode
                      and row["split"] == "held-out" and row["error_pct"]]
            if errors:
                print(f"{board:6}{mode:16}{len(errors):3} rows held out: bias {statistics.mean(errors):+.1f} %, "
                      f"mean {statistics.mean(map(abs, errors)):.1f} %, worst {max(errors, key=abs):+.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    rows = commented_csv.read(DATA)
    if not options.table:
        run(rows, options.only)
    table(rows)
    if options.record:
        commented_csv.write(DATA, rows)


if __name__ == "__main__":
    main()
