#!/usr/bin/env python3
"""Barriers of a grid and nothing else beside measured ones: data/small_kernels/barriers.csv.

    tools/validation/barriers.py [--record]

Compiles barriers.cu for each board (nvcc in the path), runs the rows and prints measured and simulated microseconds; --record writes
the errors into the file.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "data/small_kernels/barriers.csv"
ARCH = {"b300": "103", "rtx-3090": "86"}
WARPSTEP = os.environ.get("BIN", str(ROOT / "build/warpstep"))


def simulated(program, row):
    command = [WARPSTEP, "exec", "--quiet", "--gpu", row["preset"], "--clock", row["mhz"], program, row["mode"], row["ctas"], row["threads"]]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--record", action="store_true")
    record = parser.parse_args().record
    comment, head, *rows = DATA.read_text().splitlines()
    rows = [dict(zip(head.split(","), row.split(","))) for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        for board, arch in ARCH.items():
            source = ROOT / "tools/validation/barriers.cu"
            subprocess.run(["nvcc", "-std=c++17", f"-arch=sm_{arch}", "-cudart", "shared", "-o", f"{folder}/{board}", source], check=True)
        for row in rows:
            us, published = simulated(f"{folder}/{row['preset']}", row), float(row["published_us"])
            row["error_pct"] = f"{100 * (us / published - 1):.1f}"
            print(f"{row['preset']:10}{row['mode']:9}{row['ctas']:>4} CTAs{published:7.2f}{us:7.2f}{row['error_pct']:>7} %  {row['split']}", flush=True)
    errors = [float(row["error_pct"]) for row in rows if row["split"] == "held-out"]
    print(f"{len(errors)} rows held out: mean {statistics.mean(map(abs, errors)):.1f} %, bias {statistics.mean(errors):+.1f} %")
    if record:
        DATA.write_text("\n".join([comment, head] + [",".join(row.values()) for row in rows]) + "\n")


if __name__ == "__main__":
    main()
