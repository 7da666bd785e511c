#!/usr/bin/env python3
"""How much the measured errors hang on the rows that values tagged `fit:` were chosen with.

  crossval.py [--suites A,B] [--only REGEX] [--keys K,L] [--splits N] [--cache DIR] [--programs DIR]

The rows of the suites (data/validation) are split in half at random, N times. On one half each parameter is fitted anew:
half, once and twice its value, one parameter after the other, the one with the least mean error is taken. The error of the
other half then says what the model is worth on rows that chose nothing. The spread over the splits is the error bar of
every mean in docs/accuracy.md. Simulations are kept in --cache and not repeated; BIN names the program (build/warpstep). --programs: where
the programs of suites that run some were built."""
import argparse
import csv
import hashlib
import os
import pathlib
import random
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ.get("BIN", str(ROOT / "build/warpstep"))
SUITES = "textbook-rtx-2080ti,clocks-rtx-8000,gemm-rtx-a6000,tuning-rtx-a6000,tuning-a100,gemm-rtx-3090"
KEYS = "launch.cta_latency,l2.atomic_interval,l2.dirty_permille,const.fl_bytes,noc.sm_request_bytes"
FACTORS = (0.5, 2)


def gpu_of(suite):
    for line in (ROOT / f"data/validation/{suite}.suite").read_text(encoding="utf-8").splitlines():
        if line.split("=")[0].strip() == "gpu":
            return line.split('"')[1]
    sys.exit(f"{suite}: no gpu")


def preset_values(gpu):
    """key -> (value, source)."""
    text = subprocess.run([BIN, "gpus", "--resolve", gpu], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) > 2 and words[1].lstrip("-").isdigit():
            found[words[0]] = (int(words[1]), line)
    return found


class Runs:
    """Errors of rows under settings, each simulated once."""

    def __init__(self, options):
        self.options = options
        self.cache = pathlib.Path(options.cache)
        self.cache.mkdir(parents=True, exist_ok=True)
        self.values = {suite: preset_values(gpu_of(suite)) for suite in options.suites.split(",")}

    def assignments(self, suite, factors):
        """KEY=VALUE of the keys whose value in this suite's preset is tagged fit; factors: key -> factor."""
        out = []
        for key, factor in sorted(factors.items()):
            value, line = self.values[suite].get(key, (0, ""))
            if " fit: " in line and factor != 1:
                out.append(f"{key}={max(1, round(value * factor))}")
        return out

    def errors(self, factors):
        """(suite, id) -> signed error in percent, of comparable rows."""
        found = {}
        for suite in self.values:
            for row in self.rows(suite, self.assignments(suite, factors)):
                if row["state"] == "comparable":
                    found[suite, row["id"]] = float(row["error_pct"])
        return found

    def rows(self, suite, sets):
        name = hashlib.sha256(repr((suite, sets, self.options.only)).encode()).hexdigest()[:16]
        path = self.cache / f"{name}.csv"
        if not path.exists():
            command = [BIN, "validate", "--suite", suite, "--quiet", "--csv", str(path) + ".new"]
            command += ["--only", self.options.only] if self.options.only else []
            command += ["--programs", self.options.programs] if self.options.programs else []
            for s in sets:
                command += ["--set", s]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode not in (0, 1) or not os.path.exists(str(path) + ".new"):
                if "no row" in done.stderr:
                    return []
                sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
            os.rename(str(path) + ".new", path)
        with open(path, newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))


def mean(errors, rows):
    """Infinite where a value is refused, so that rows do not run."""
    if not all(r in errors for r in rows):
        return float("inf")
    return statistics.fmean(abs(errors[r]) for r in rows)


def refit(runs, keys, rows):
    """Factor of each key that has the least mean error over these rows."""
    best = {}
    for key in keys:
        tried = {f: mean(runs.errors({key: f}), rows) for f in (1, *FACTORS)}
        best[key] = min(tried, key=lambda f: (tried[f], f != 1))
    together = runs.errors(best)
    return best if mean(together, rows) < mean(runs.errors({}), rows) else {key: 1 for key in keys}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suites", default=SUITES)
    parser.add_argument("--only", help="rows whose id or group matches")
    parser.add_argument("--keys", default=KEYS)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--cache", default=str(ROOT / "build/crossval"))
    parser.add_argument("--programs", help="as of warpstep validate")
    options = parser.parse_args()
    runs, keys = Runs(options), options.keys.split(",")
    base = runs.errors({})
    if len(base) < 4:
        sys.exit("fewer than four comparable rows")
    print(f"{len(base)} rows; mean error as it is {mean(base, base):.1f} %")
    print("split  fitted half: as it is, refitted   other half: as it is, refitted   taken")
    outside = []
    for split in range(options.splits):
        rows = sorted(base)
        random.Random(split).shuffle(rows)
        inner, outer = rows[:len(rows) // 2], rows[len(rows) // 2:]
        best = refit(runs, keys, inner)
        fitted = runs.errors(best)
        outside.append(mean(fitted, outer))
        taken = ", ".join(f"{k} x {f:g}" for k, f in best.items() if f != 1) or "nothing else"
        print(f"{split + 1:5}  {mean(base, inner):21.1f} {mean(fitted, inner):10.1f} {mean(base, outer):22.1f} "
              f"{outside[-1]:10.1f}   {taken}", flush=True)
    spread = statistics.stdev(outside) if len(outside) > 1 else float("nan")
    print(f"rows that chose nothing: {statistics.fmean(outside):.1f} % +- {spread:.1f}")


if __name__ == "__main__":
    main()
