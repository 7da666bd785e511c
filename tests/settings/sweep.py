#!/usr/bin/env python3
"""Every parameter over its documented range: a run with it ends with right results, or is refused in one line.

  tests/settings/sweep.py [--gpu NAME] [--kernels a,b,c] [--keys REGEX] [--sample N] [--pairs N] [--seed S] [--jobs N]

Each key of `warpstep gpus --keys` is set to its ends, their neighbours, values around the preset's own and powers of
two inside; names and truth values to each there is. With --pairs, also random settings of two to four keys at
once. A run may not crash, hang, fail an assertion of ours, fault, or give other results than the references; the last not where the
parameter's own text says that they may be wrong. `--sample N`
takes every Nth run of the list (make test does, tests/settings/run.sh; all of them is for the night). BIN names the program."""
import argparse
import collections
import concurrent.futures
import math
import os
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ.get("BIN", str(ROOT / "build/warpstep"))
LIMIT_S, MAX_CYCLES = 120, 5_000_000
OK, LIMIT, REFUSED = 0, 5, 2


def output(*arguments):
    done = subprocess.run([BIN, *arguments], capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def ranges():
    """{key or prefix.*: (least, most) or None}"""
    rows = [line.split(" | ") for line in output("gpus", "--keys")[0].splitlines()[2:]]
    found = {}
    for row in rows:
        ends = re.fullmatch(r"(\d+)\.\.(\d+)", row[1].strip())
        found[row[0].strip("| ")] = (int(ends[1]), int(ends[2])) if ends else None
    return found


def wrong_data():
    """Keys with which results may be wrong, as `gpus --keys` says of them."""
    rows = [line.split(" | ") for line in output("gpus", "--keys")[0].splitlines()[2:]]
    return {row[0].strip("| ") for row in rows if "may be wrong" in row[-1]}


def own_values(gpu):
    """{key: value} of the preset."""
    lines = output("gpus", "--resolve", gpu)[0].splitlines()
    return {line.split()[0]: line[33:].split("  ")[0].strip() for line in lines}


def choices(gpu, key):
    said = output("run", "kernels/vecadd/vecadd.launch", "--gpu", gpu, "--set", f"{key}=?")[1]
    names = re.search(r"not one of (.*)", said)
    return re.findall(r"[a-z_0-9]+", names[1]) if names else ["true", "false"]


def inside(least, most, own):
    values = {least, least + 1, most - 1, most, own - 1, own + 1, own // 2, 2 * own, 8 * own}
    values |= {math.isqrt(max(least, 1) * most), (least + most) // 2}
    values |= {1 << k for k in range(0, most.bit_length(), 5)}
    return sorted(v for v in values if least <= v <= most and v != own)


def values_of(gpu, key, limits, own):
    if key == "name":
        return ["", "x" * 63, "x" * 64]
    if limits is None:
        return [c for c in choices(gpu, key) if c != own]
    if own.startswith("["):
        return ["0", str(limits[1]), f"0,{limits[1]}", f"{limits[0]},{limits[0] + 1}", ",".join(map(str, range(1, 17))),
                ",".join(map(str, range(1, 18)))]
    return [str(v) for v in inside(*limits, int(own))]


def settings(options):
    limits, own = ranges(), own_values(options.gpu)
    every = {}
    for key, value in own.items():
        group = key if key in limits else key.rsplit(".", 1)[0] + ".*"
        if re.search(options.keys, key):
            every[key] = values_of(options.gpu, key, limits[group], value)
    yield from ([(key, v)] for key, values in every.items() for v in values)
    rng = random.Random(options.seed)
    for _ in range(options.pairs):
        keys = rng.sample(sorted(every), rng.randint(2, 4))
        yield [(key, rng.choice(every[key] or [own[key]])) for key in keys]


def run(gpu, kernel, setting, unchecked):
    """'' when it went as it may, else what happened; and the kind of end. unchecked: keys with which results do not count."""
    command = [BIN, "run", f"kernels/{kernel}/{kernel}.launch", "--gpu", gpu, "--quiet", "--max-cycles", str(MAX_CYCLES)]
    command += ["--no-check"] if any(key in unchecked and value == "true" for key, value in setting) else []
    for key, value in setting:
        command += ["--set", f"{key}={value}"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=False, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return f"no end within {LIMIT_S} s", "hang"
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode in (OK, LIMIT):
        return "", "ran" if done.returncode == OK else "ran to the limit of cycles"
    if done.returncode == REFUSED and said and "\n" not in said:
        return "", "refused"
    return f"status {done.returncode}: {said[:300]}", "bad"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", default="rtx-3070")
    parser.add_argument("--kernels", default="vecadd,reduce_shfl,hist_shared")
    parser.add_argument("--keys", default="")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    jobs = [(k, s) for s in settings(options) for k in options.kernels.split(",")][options.seed % options.sample::options.sample]
    unchecked = wrong_data()
    for kernel in options.kernels.split(","):
        why, end = run(options.gpu, kernel, [], unchecked)
        if end != "ran":
            sys.exit(f"{kernel} does not run as it is ({end}): {why or 'make refs'}")
    ends, failed = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (kernel, setting), (why, end) in zip(jobs, pool.map(lambda j: run(options.gpu, *j, unchecked), jobs)):
            ends[end] += 1
            failed += bool(why)
            if why or options.v:
                text = " ".join(f"--set {k}={v}" for k, v in setting)
                print(f"{end}: {options.gpu} {kernel} {text}: {why}", flush=True)
    print(f"{len(jobs)} settings on {options.gpu}: " + ", ".join(f"{n} {end}" for end, n in sorted(ends.items())))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
