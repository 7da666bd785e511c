#!/usr/bin/env python3
"""Applications and named kernels on a V100 beside published cycles and counters, and beside what Accel-Sim and GPGPU-Sim say.

    tools/validation/apps_v100.py PROGRAMS WORK [--only REGEX] [--limit SECONDS] [--record]
    tools/validation/apps_v100.py --table

PROGRAMS holds the executables, compiled for sm_70 and named as the column `program` of data/apps_v100/*.csv. Inputs of the published
sizes are written into WORK. Runs the rows whose program matches REGEX, those of which one run takes more than SECONDS excepted, and
prints them; --record writes what was simulated into the files, --table prints the means of what is there.
"""
import argparse
import csv
import fcntl
import io
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess

import commented_csv

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "data/apps_v100"
WARPSTEP = os.environ.get("BIN", str(ROOT / "build/warpstep"))
MHZ = 1447  # of GPGPU-Sim's configuration of the board since AccelWattch; docs/accuracy.md says why it is not the base clock of 1,132
METRICS = {
    "l1_load_hit": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1_load_miss": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum",
    "l1_store": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store": "smsp__inst_executed_op_shared_st.sum",
    "l2_read": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2": "lts__t_sectors_srcunit_tex.sum",
    "dram_read": "dram__sectors_read.sum",
    "dram_write": "dram__sectors_write.sum",
    "cycles": "sm__cycles_elapsed.max",
}
COUNTERS = ["l1_load", "l1_load_miss", "l1_store", "shared", "l2_read", "l2_write", "dram_read", "dram_write"]


def lines(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text("\n".join(map(str, values)) + "\n")


def graph(path, nodes):
    """As Rodinia's generator: two to four edges of each node to any, both ways."""
    ends = [[] for _ in range(nodes)]
    for node in range(nodes):
        for _ in range(random.randint(2, 4)):
            other = random.randrange(nodes)
            ends[node].append(other)
            ends[other].append(node)
    first, rows = 0, [nodes]
    for e in ends:
        rows.append(f"{first} {len(e)}")
        first += len(e)
    lines(path, rows + ["", random.randrange(nodes), "", first] + [f"{x} {random.randint(1, 10)}" for e in ends for x in e])


def matrix(path, rows, columns):
    lines(path, [f"{rows} {columns}"] + [" ".join(f"{random.random():.4f}" for _ in range(columns)) for _ in range(rows)])


def inputs(work):
    random.seed(1)
    data, top = work / "run/a/b/data", work / "run"
    for size in (512, 1024):
        lines(data / f"temp_{size}", (f"{random.uniform(323, 343):.6f}" for _ in range(size * size)))
        lines(data / f"power_{size}", (f"{random.uniform(0, .01):.6f}" for _ in range(size * size)))
    for name, nodes in (("4096", 4096), ("65536", 65536), ("1MW_6", 1000000)):
        if not (data / f"graph{name}.txt").exists():
            graph(data / f"graph{name}.txt", nodes)
    lines(data / "mil.txt", [1000000] + random.sample(range(1000000), 1000000))
    lines(data / "command.txt", ["j 6000 3000", "k 10000"])
    lines(data / "512.dat", [512] + [" ".join(f"{random.uniform(1, 10) + 500 * (i == j):.4f}" for j in range(512)) for i in range(512)])
    lines(data / "filelist_4", (f"data/cane4_{i}.db" for i in range(4)))
    for i in range(4):
        lines(data / f"cane4_{i}.db", (f"1980  1  1  0 ALBERTO   7 {random.uniform(7, 70):5.1f} {random.uniform(0, 358):5.1f}   45  312" for _ in range(10691)))
    for name, size in (("192", 192), ("rgb", 1024)):
        (data / f"{name}.bmp").write_bytes(random.randbytes(3 * size * size + 64))
    lines(top / "data/srad/image.pgm", ["P2", "458 502", "255"] + [random.randint(1, 255) for _ in range(458 * 502)])
    matrix(data / "matrix1.txt", 1024, 992)
    matrix(data / "matrix2t.txt", 1056, 992)
    (data / "128x128x32.bin").write_bytes(b"\0\0\x80\x3f" * (128 * 128 * 32))
    return top / "a/b"


def warpstep(command, folder, limit):
    try:
        return subprocess.run([WARPSTEP, *map(str, command)], cwd=folder, check=True, capture_output=True, text=True, timeout=limit).stdout
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as e:
        print(f"  {command[-2:]}: {type(e).__name__}", (getattr(e, "stderr", "") or "")[-200:], flush=True)
        return None


def application(row, programs, folder, limit):
    """The sum of all launches, one after the other."""
    out = folder / f"{row['id']}.json".replace("/", "_")
    options = row["options"].split()
    if warpstep(["exec", "--quiet", "--gpu", "quadro-gv100", "--clock", MHZ, *options, "--json", out, programs / row["program"],
                 *row["arguments"].split()], folder, limit) is None:
        return False
    row["cycles"] = str(round(sum(launch["cycles"] for launch in json.loads(out.read_text())["launches"])))
    return True


def kernel(row, programs, folder, limit):
    """The mean of the launches of a name, each with empty caches, as Nsight Compute has them."""
    out = folder / f"{row['id']}.csv"
    if warpstep(["ncu", "--quiet", "--csv", "--page", "raw", "--log-file", out, "--gpu", "quadro-gv100", "--param", f"gpu.clock_khz={MHZ}000",
                 "--metrics", ",".join(METRICS.values()), "-k", row["kernel"], *row["options"].split(), programs / row["program"],
                 *row["arguments"].split()], folder, limit) is None:
        return False
    text = out.read_text()
    table = list(csv.DictReader(io.StringIO(text[text.index('"ID"'):])))[1:]
    mean = {name: statistics.mean(float(launch[metric].replace(",", "")) for launch in table) for name, metric in METRICS.items()}
    mean["l1_load"] = mean["l1_load_hit"] + mean["l1_load_miss"]
    mean["l2_write"] = mean["l2"] - mean["l2_read"]  # no row has atomics in global memory
    mean["shared"] = mean["shared_load"] + mean["shared_store"]
    for name in ["cycles", *COUNTERS]:
        row[name] = f"{mean[name]:.0f}"
    return True


KINDS = {"kernels.csv": kernel, "applications.csv": application}


def error(model, measured):
    return 100 * (float(model) / float(measured) - 1)


def summary(name, errors, pairs):
    size = sorted(map(abs, errors))
    p90 = size[min(len(size) - 1, -(-9 * len(size) // 10) - 1)]
    logs = [[math.log(float(x)) for x in column] for column in zip(*pairs)]
    print(f"{name:12} {len(errors):3} rows  mean {statistics.mean(size):6.1f} %  median {statistics.median(size):6.1f} %  p90 {p90:6.1f} %  "
          f"bias {statistics.mean(errors):+7.1f} %  correlation {correlation(*map(numbers, zip(*pairs))):.3f}, of logarithms {correlation(*logs):.3f}")


def numbers(column):
    return [float(x) for x in column]


def correlation(a, b):
    x, y = statistics.mean(a), statistics.mean(b)
    return sum((p - x) * (q - y) for p, q in zip(a, b)) / math.sqrt(sum((p - x)**2 for p in a) * sum((q - y)**2 for q in b))


def table():
    for name in KINDS:
        rows = [row for row in commented_csv.read(DATA / name) if row["cycles"]]
        print(f"{name}: {len(rows)} rows ran")
        for model in ("cycles", "accelsim", "gpgpusim3"):
            if len(rows) > 1 and f"{model}" in rows[0]:
                pairs = [(row[model], row["hw_cycles"]) for row in rows]
                summary("warpstep" if model == "cycles" else model, [error(*pair) for pair in pairs], pairs)
        for counter in COUNTERS if "l1_load" in (rows or [{}])[0] else []:
            pairs = [(row[counter], row[f"hw_{counter}"]) for row in rows if float(row[f"hw_{counter}"])]
            errors = [error(*pair) for pair in pairs]
            print(f"  {counter:13} {len(errors):3} rows  median {statistics.median(map(abs, errors)):5.1f} %  "
                  f"worst {max(errors, key=abs):+7.1f} %  within 1 %: {sum(abs(e) <= 1 for e in errors)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("programs", type=pathlib.Path, nargs="?")
    parser.add_argument("work", type=pathlib.Path, nargs="?")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=3600)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table or not options.work:
        return table()
    folder = inputs(options.work.resolve())
    for name, run in KINDS.items():
        rows = commented_csv.read(DATA / name)
        for row in rows:
            program = options.programs.resolve() / row["program"]
            if not re.search(options.only, f"{name}:{row['id']}") or not program.exists():
                continue
            if run(row, options.programs.resolve(), folder, options.limit):
                print(f"{row['id']:44} {float(row['hw_cycles']):12.0f} {float(row['cycles']):12.0f} {error(row['cycles'], row['hw_cycles']):+7.1f} %",
                      *(f"{c} {row[c]}/{float(row['hw_' + c]):.0f}" for c in COUNTERS if c in row), flush=True)
                if options.record:
                    record(name, row)


def record(name, done):
    """One row at a time: several of these may run at once."""
    with open(DATA / name, encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        rows = commented_csv.read(DATA / name)
        commented_csv.write(DATA / name, [done if row["id"] == done["id"] else row for row in rows])


if __name__ == "__main__":
    main()
