#!/usr/bin/env python3
"""Batches of tensor memory's products on a B300: the programs of Antoniomv7/gb300-microbench, umma_throughput/, beside
what it has published.

    tools/tmem/batches.py SOURCE WORK [--method 1sm|2sm]   SOURCE: a checkout of that project (commit 1f27767e was used)

A batch is 4 to 256 products, a commit and a wait for it. Prints a table: cycles of a batch as published, here, what is
missing here, and the error of the rate (FLOP per cycle); the programs check their products themselves. Status 1: a
product is wrong, or a rate is more than 5 % off at 16 products or more. Needs nvcc of CUDA 13.1, whose code is what
that project publishes, and headers of NVIDIA/cccl (CCCL names a checkout). BIN: the program (build/warpstep), NVCC: the
compiler."""
import argparse
import csv
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ.get("BIN", str(ROOT / "build/warpstep"))
NVCC = os.environ.get("NVCC", "nvcc")
ROWS = {"1sm": 128, "2sm": 256}
LIMIT = 0.05
K = 16
SHOW_ID = """#include <cstdio>
int main() {
  cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); std::printf("GPU-");
  for (int i = 0; i < 16; i++)
    std::printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)p.uuid.bytes[i]);
}
"""


def compiled(source, to):
    cccl = os.environ.get("CCCL")
    include = [f"-I{cccl}/{part}" for part in ("libcudacxx/include", "cub", "thrust")] if cccl else []
    if not to.exists():
        options = ["-std=c++17", "-O3", "-lineinfo", "-arch=compute_103a", "-code=sm_103a", "-cudart", "shared"]
        subprocess.run([NVCC, *options, *include, "-o", to, source], check=True)
    return to


def device_id(work):
    (work / "show_id.cu").write_text(SHOW_ID)
    program = compiled(work / "show_id.cu", work / "show_id")
    command = [BIN, "exec", "--functional", "--quiet", "--gpu", "b300", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def published(source, method):
    """Cycles of a batch by (columns, products)."""
    found = {}
    with open(source / "results/umma_throughput.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (row["method"], row["metric"]) == (f"umma_{method}", "median_flops_per_cycle"):
                columns, products = int(row["n"]), int(row["depth"])
                found[columns, products] = 2 * ROWS[method] * columns * K * products / float(row["mean"])
    return found


def elapsed(program, key, batches, environment):
    """Cycles of so many batches; None when the products are wrong."""
    command = [BIN, "exec", "--quiet", "--gpu", "b300", program, "--run-kind", "smoke", "--n", key[0]]
    command += ["--depth", key[1], "--iterations", batches, "--warmup-iterations", 0, "--repetitions", 1]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, env=environment)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    return int(rows[0]["elapsed_cycles"]) if done.returncode == 0 and rows and rows[0]["correctness"] == "OK" else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--method", choices=list(ROWS), action="append")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "EXPECTED_GPU_UUID": device_id(arguments.work)}
    well = True
    print("| program | columns | products | published | here | missing | rate |\n|---|--:|--:|--:|--:|--:|--:|")
    for method in arguments.method or ROWS:
        program = compiled(arguments.source / f"umma_throughput/umma_{method}.cu", arguments.work / f"umma_{method}")
        for key, cycles in sorted(published(arguments.source, method).items()):
            few, many = (elapsed(program, key, n, environment) for n in (4, 12))
            here = None if few is None or many is None else (many - few) / 8
            error = None if here is None else cycles / here - 1
            well &= error is not None and (key[1] < 16 or abs(error) <= LIMIT)
            ours = "wrong | |" if here is None else f"{here:.0f} | {cycles - here:.0f} | {100 * error:+.1f} %"
            print(f"| umma_{method} | {key[0]} | {key[1]} | {cycles:.0f} | {ours} |", flush=True)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
