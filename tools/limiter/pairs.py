#!/usr/bin/env python3
"""Runs the pairs of bench/limiters: is the limiter of the slow version named, and what does its removal predict beside the
cycles of the fast version? Prints a table (Markdown with --markdown).

    tools/limiter/pairs.py [--bin build/warpstep] [--markdown] [--check N] [PAIR...]

--check N: status 1 unless, of the pairs run, N are named and predicted within 20 %, and results of all are alike.
"""
import argparse
import array
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAIRS = ROOT / "bench/limiters"
WITHIN = 0.20
TOLERANCE = 1e-3  # of sums that round differently


def rows(wanted):
    for line in (PAIRS / "pairs.csv").read_text().splitlines():
        if not line.startswith("#"):
            row = line.split(",")
            if not wanted or row[0] in wanted:
                yield row


def run(program, launch, folder, *options):
    subprocess.run([program, "run", PAIRS / launch, "--quiet", "--json", folder / "report.json", "--out", folder, *options],
                   check=True, stdout=subprocess.DEVNULL)
    return json.loads((folder / "report.json").read_text())


def alike(slow, fast):
    """Bytes are equal, or words but zeros are, or floats are near."""
    a, b = (p.read_bytes() for p in (slow, fast))
    x, y = array.array("f", a), array.array("f", b)
    if a == b or [v for v in x if v] == [v for v in y if v]:
        return True
    return len(x) == len(y) and all(abs(p - q) <= TOLERANCE * max(1, abs(p)) for p, q in zip(x, y))


def measure(program, pair, buffer, expected, cost):
    with tempfile.TemporaryDirectory() as t:
        slow_dir, fast_dir = (pathlib.Path(t) / side for side in ("slow", "fast"))
        slow_dir.mkdir()
        fast_dir.mkdir()
        slow = run(program, f"{pair}_slow.launch", slow_dir, "--what-if", cost)
        fast = run(program, f"{pair}_fast.launch", fast_dir)
        same = alike(slow_dir / f"{buffer}.bin", fast_dir / f"{buffer}.bin")
    before, after = (r["stats"]["gpu"]["cycles"] for r in (slow, fast))
    actual, predicted = before / after, slow["what_if"][0]["speedup"] or 0
    return {"pair": pair, "named": slow["limiter"]["id"], "expected": expected, "slow": before, "fast": after,
            "actual": actual, "predicted": predicted, "error": abs(predicted - actual) / actual,
            "gain_error": abs(predicted - actual) / (actual - 1) if actual != 1 else float("inf"), "alike": same}


def show(r, markdown):
    named = r["named"] if r["named"] == r["expected"] else f"{r['named']}, not {r['expected']}"
    cells = [r["pair"], named, f"{r['slow']:,}", f"{r['fast']:,}", f"{r['actual']:.2f}", f"{r['predicted']:.2f}",
             f"{100 * r['error']:.0f} %", f"{100 * r['gain_error']:.0f} %"]
    if markdown:
        return "| " + " | ".join(cells) + " |"
    return "{:19s} {:38s} {:>8s} {:>8s} {:>7s} {:>7s} {:>6s} {:>6s}".format(*cells)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", default=ROOT / "build/warpstep")
    p.add_argument("--markdown", action="store_true")
    p.add_argument("--check", type=int)
    p.add_argument("pairs", nargs="*")
    a = p.parse_args()
    head = ["pair", "limiter named", "slow", "fast", "actual x", "predicted x", "error", "of the gain"]
    if a.markdown:
        print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    else:
        print("{:19s} {:38s} {:>8s} {:>8s} {:>7s} {:>7s} {:>6s} {:>6s}".format(*[h.replace("predicted x", "predict").replace("actual x", "actual").replace("of the gain", "gain") for h in head]))
    all_rows = [measure(a.bin, *row) for row in rows(set(a.pairs))]
    for r in all_rows:
        print(show(r, a.markdown))
    good = [r for r in all_rows if r["named"] == r["expected"] and r["error"] <= WITHIN]
    strict = [r for r in good if r["gain_error"] <= WITHIN]
    wrong = [r["pair"] for r in all_rows if not r["alike"]]
    print(f"\n{len(all_rows)} pairs: {sum(r['named'] == r['expected'] for r in all_rows)} named; named and speed-up predicted within 20 %: "
          f"{len(good)}; gain (speed-up - 1) within 20 %, too: {len(strict)}")
    if wrong:
        print("results differ: " + ", ".join(wrong))
    return 1 if wrong or (a.check is not None and len(good) < a.check) else 0


if __name__ == "__main__":
    sys.exit(main())
