#!/usr/bin/env python3
"""Textbook kernels on six boards beside what their authors' nvbench measured.

    tools/validation/textbook_boards.py SOURCE WORK [--only TEXT] [--set KEY=VALUE] [--record]

SOURCE is github.com/R100001/Programming-Massively-Parallel-Processors at commit a972fb50; its kernels are compiled into
WORK (nvcc in the path). Runs the rows of data/textbook_boards/nvbench.csv whose board or kernel contains TEXT and prints
measured and simulated microseconds; --record writes the errors into the file.
"""
import argparse
import os
import pathlib
import statistics
import subprocess

import commented_csv

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "data/textbook_boards/nvbench.csv"
ARCH = {"rtx-2060": "75", "rtx-3060": "86", "rtx-3080": "86", "rtx-3060ti": "86", "rtx-3070ti": "86", "gtx-1650": "75"}
WARPSTEP = os.environ.get("BIN", str(ROOT / "build/warpstep"))


def program(source, work, preset):
    path = work / f"textbook_boards.{ARCH[preset]}"
    if not path.exists():
        subprocess.run(["nvcc", "-std=c++17", "-O3", "-w", f"-arch=sm_{ARCH[preset]}", "-cudart", "shared", "-o", path,
                        "-I", source / "Performance-Tests-NvBench", ROOT / "tools/validation/textbook_boards.cu"],
                       check=True)
    return path


def simulated(path, row, settings):
    command = [WARPSTEP, "exec", "--gpu", row["preset"], "--clock", row["clock_mhz"], *(word for s in settings for word in ("--set", s)),
               str(path), row["kernel"], row["size"], row["threads"], row["launches"]]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0])


def run(rows, options):
    options.work.mkdir(parents=True, exist_ok=True)
    for row in rows:
        if options.only not in row["preset"] and options.only not in row["kernel"]:
            continue
        path = program(options.source, options.work.resolve(), row["preset"])
        us, published = simulated(path, row, options.set), float(row["published_us"])
        row["error_pct"] = f"{100 * (us / published - 1):.1f}"
        print(f"{row['preset']:10}{row['kernel']:18}{row['size']:>8}{published:9.2f}{us:9.2f}{row['error_pct']:>8} %  "
              f"{row['split']}", flush=True)


def table(rows):
    for preset in ARCH:
        errors = [float(row["error_pct"]) for row in rows
                  if row["preset"] == preset and row["split"] == "held-out" and row["error_pct"]]
        if errors:
            print(f"{preset}: {len(errors)} rows held out: bias {statistics.mean(errors):+.1f} %, "
                  f"mean {statistics.mean(map(abs, errors)):.1f} %, worst {max(errors, key=abs):+.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    rows = commented_csv.read(DATA)
    run(rows, options)
    table(rows)
    if options.record:
        commented_csv.write(DATA, rows)


if __name__ == "__main__":
    main()
