#!/usr/bin/env python3
"""From HBM to shared memory on a B300: the programs of Antoniomv7/gb300-microbench, memory_paths/, beside what it has published.

  memory_paths.py SOURCE WORK [--jobs N]    SOURCE: a checkout of that project (commit 1f27767e was used)

Each SM keeps 16 to 64 KiB under way, in 2 to 8 stages, by cp.async (ldgsts) or by tensor copies (tma). Rates are from two
sizes, 24 and 72 MiB, with caches emptied before, so that what a launch costs is not in them; the published ones are of
runs that are long enough to have none. Needs nvcc and, for tma, headers of CUDA 13.1 or of NVIDIA/cccl (CCCL names a
checkout). BIN: the program (build/warpstep)."""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ.get("BIN", str(ROOT / "build/warpstep"))
SIZES = (24, 72)


def build(source, work):
    cccl = os.environ.get("CCCL")
    include = [f"-I{cccl}/{part}" for part in ("libcudacxx/include", "cub", "thrust")] if cccl else []
    for method in ("ldgsts", "tma"):
        subprocess.run(["nvcc", "-std=c++17", "-O3", "-arch=sm_103a", *include, "-o", work / method,
                        source / "memory_paths" / f"{method}.cu"], check=True)


def published(source):
    """GB/s by (method, stages, KiB under way)."""
    with open(source / "results/memory_paths.csv", encoding="utf-8") as f:
        return {(r["method"], int(r["stages"]), int(r["bytes_in_flight_kib"])): float(r["mean"]) for r in csv.DictReader(f)
                if r["metric"] == "median_effective_gbps" and r["section"] == "configuration"}


def run(work, method, stages, kib, mib):
    """Bytes and time, ps, of the kernel."""
    out = work / f"{method}-{stages}-{kib}-{mib}.json"
    command = [BIN, "exec", "--gpu", "b300", "--cold", "--quiet", "--time-kernels", "benchmark_kernel", "--json", out, work / method,
               "--stages", stages, "--bytes-in-flight-kib", kib, "--working-set-mib", mib, "--run-kind", "smoke", "--passes", 1,
               "--repetitions", 1, "--warmup-ms", 0]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True,
                          env={**os.environ, "EXPECTED_GPU_UUID": "simulated"})
    header, row = list(csv.reader(done.stdout.splitlines()))[-2:]
    with open(out, encoding="utf-8") as f:
        launch = [l for l in json.load(f)["launches"] if "benchmark_kernel" in l["kernel"]][-1]
    return int(row[header.index("useful_bytes")]), launch["end_ps"] - launch["start_ps"]


def rate(work, key):
    (small, t0), (large, t1) = (run(work, *key, mib) for mib in SIZES)
    return (large - small) / (t1 - t0) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    build(args.source, args.work)
    want = published(args.source)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        got = dict(zip(want, pool.map(lambda key: rate(args.work, key), want)))
    print("| method | stages | KiB under way | GB/s | published | error |\n|---|--:|--:|--:|--:|--:|")
    for key in sorted(want):
        print(f"| {key[0]} | {key[1]} | {key[2]} | {got[key]:.0f} | {want[key]:.0f} | {100 * (got[key] / want[key] - 1):+.1f} % |")
    errors = [abs(got[k] / want[k] - 1) for k in want]
    print(f"\n{len(errors)} rows: mean {100 * sum(errors) / len(errors):.1f} %, worst {100 * max(errors):.1f} %")


if __name__ == "__main__":
    sys.exit(main())
