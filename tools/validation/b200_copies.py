#!/usr/bin/env python3
"""From HBM to shared memory on a B200: programs of SemiAnalysisAI/microbench-blackwell beside what it has published.

  b200_copies.py SOURCE WORK [--only KIND] [--every N] [--jobs N]    SOURCE: a checkout of that project (commit 9a068d85 was used)

ldgsts_throughput: CTAs on an SM, stages, threads and bytes of each cp.async vary; tma2d_throughput: CTAs, stages and
rows of a tensor copy; tma2dmcast_throughput (mcast): CTAs that copy the same, in clusters or not, by one copy for all or each
for itself. The published runs move 2 GB; here a run moves 12 MiB (mcast: 32), another one 36 (96), both with empty caches, and
the difference counts, so that what a launch costs is not in it. The programs are changed in that size alone. --every N:
each Nth row of the published table. Needs nvcc.
BIN: the program (build/warpstep)."""
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
VOLUME = "MAX_DATA_VOLUME = 2LL * 1024 * 1024 * 1024;"
KINDS = {
    "ldgsts": {"source": "ldgsts_throughput/ldgsts_tput.cu", "results": "ldgsts_throughput/ldgsts_tput.csv",
               "key": {"CTAS_PER_SM": "CTAsPerSM", "NUM_STAGES": "NumStages", "THREADS_PER_BLOCK": "ThreadsPerBlock", "LOAD_T": "LoadType"},
               "cycles": "SMCyclesAvg", "sizes": (12, 36), "sm": "100", "libraries": []},
    "tma": {"source": "tma2d_throughput/tma2d_tput.cu", "results": "tma2d_throughput/tma2d_tput_results.csv",
            "key": {"CTAS_PER_SM": "CTAsPerSM", "NUM_STAGES": "NumStages", "SMEM_WIDTH": "SmemWidth", "SMEM_HEIGHT": "SmemHeight"},
            "cycles": "SMCyclesAvg", "sizes": (12, 36), "sm": "100a", "libraries": ["-lcuda"]},
    "mcast": {"source": "tma2dmcast_throughput/tma2dmcast_tput.cu", "results": "tma2dmcast_throughput/tma2dmcast_sweep_full.csv",
              "key": {"USE_MULTICAST": "mode", "CLUSTER_SIZE": "cluster_size", "SHARING_GROUP_SIZE": "sharing_group", "SMEM_WIDTH": "smem_width",
                      "SMEM_HEIGHT": "smem_height"},
              "cycles": "sm_cycles", "sizes": (32, 96), "sm": "100a", "libraries": ["-lcuda"]},
}
LOAD_BYTES = {"float": 4, "float2": 8, "float4": 16}
SMS, WARPS, WHOLE = 148, 4, 2 << 30


def part(row):
    """Bytes that all CTAs copy at once: what the program aligns its volume to."""
    if "LoadType" in row:
        return SMS * int(row["CTAsPerSM"]) * int(row["NumStages"]) * int(row["ThreadsPerBlock"]) * LOAD_BYTES[row["LoadType"]]
    if "mode" in row:
        groups = SMS if int(row["mode"]) <= 2 else SMS // int(row["sharing_group"])
        return WARPS * int(row["smem_width"]) * int(row["smem_height"]) * 4 * groups
    return SMS * int(row["CTAsPerSM"]) * int(row["SmemWidth"]) * int(row["SmemHeight"]) * 4


def moved(row, size):
    """Bytes that a program copies of `size`: with cp.async an iteration copies for one stage and steps over the others."""
    return size // part(row) * part(row) // (int(row["NumStages"]) if "LoadType" in row else 1)


def run(kind, source, work, name, row, size):
    """Cycles of the kernel that copies about `size` bytes, and how many they are."""
    k = KINDS[kind]
    program, out = work / f"{name}-{size >> 20}", work / f"{name}-{size >> 20}.json"
    text = (source / k["source"]).read_text(encoding="utf-8")
    if VOLUME not in text:
        sys.exit(f"{k['source']}: not the program that this script knows: no '{VOLUME}'")
    copy = program.with_suffix(".cu")
    copy.write_text(text.replace(VOLUME, f"MAX_DATA_VOLUME = {size};"), encoding="utf-8")
    subprocess.run(["nvcc", "-std=c++17", "-gencode", f"arch=compute_{k['sm']},code=sm_{k['sm']}", *(f"-D{d}={row[c]}" for d, c in k["key"].items()),
                    "-o", program, copy, *k["libraries"]], check=True)
    subprocess.run([BIN, "exec", "--gpu", "b200", "--cold", "--quiet", "--json", out, program], check=True, stdout=subprocess.DEVNULL)
    with open(out, encoding="utf-8") as f:
        return json.load(f)["launches"][-1]["cycles"], moved(row, size)


def bytes_per_cycle(kind, source, work, row):
    """Of an SM: simulated, published."""
    name = "-".join([kind, *(row[c] for c in KINDS[kind]["key"].values())])
    (c0, b0), (c1, b1) = (run(kind, source, work, name, row, size) for size in (mib << 20 for mib in KINDS[kind]["sizes"]))
    return (b1 - b0) / (c1 - c0) / SMS, moved(row, WHOLE) / float(row[KINDS[kind]["cycles"]]) / SMS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    for kind in [args.only] if args.only else KINDS:
        with open(args.source / KINDS[kind]["results"], encoding="utf-8") as f:
            rows = list(csv.DictReader(line for line in f if line.strip()))[::args.every]
        columns = list(KINDS[kind]["key"].values())
        print("| " + " | ".join([kind, *columns, "bytes/cycle and SM", "published", "error"]) + " |", flush=True)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            errors = []
            for row, (got, want) in zip(rows, pool.map(lambda r: bytes_per_cycle(kind, args.source, args.work, r), rows)):
                errors.append(got / want - 1)
                print(f"| {kind} | " + " | ".join(row[c] for c in columns) + f" | {got:.2f} | {want:.2f} | {100 * errors[-1]:+.1f} % |", flush=True)
        sizes = sorted(abs(e) for e in errors)
        print(f"{kind}: {len(sizes)} rows: mean {100 * sum(sizes) / len(sizes):.1f} %, p90 {100 * sizes[len(sizes) * 9 // 10]:.1f} %, "
              f"worst {100 * sizes[-1]:.1f} %, bias {100 * sum(errors) / len(errors):+.1f} %")


if __name__ == "__main__":
    sys.exit(main())
