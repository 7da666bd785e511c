#!/usr/bin/env python3
"""What the suites of `warpstep validate` say in one line each, from the recorded errors of their held-out rows.

  summary.py [--check] [--root DIR]     --check: fails unless the first table of docs/accuracy.md says the same

Columns as there: rows, mean of the errors without sign, the 90th percentile of them, rank correlation of simulated and measured times, worst,
bias. Suites that compare only rows compiled to the same code (`agree`) are not summed up: which rows those are a run has to say. The
check then asks only that the table has a line of that suite."""
import argparse
import csv
import math
import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def percentile(values, p):
    at = p * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def ranks(values):
    """From 1; equal values share the mean of theirs."""
    return [sum(x < v for x in values) + (sum(x == v for x in values) + 1) / 2 for v in values]


def correlation(xs, ys):
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = math.sqrt(sum((x - mx) ** 2 for x in xs) * sum((y - my) ** 2 for y in ys))
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / spread if spread else math.nan


def summary(pairs):
    """(cells of the table, worst, bias) of (measured time, error in percent) of each row."""
    errors = [e for _, e in pairs]
    sizes = sorted(map(abs, errors))
    rank = correlation(ranks([m for m, _ in pairs]), ranks([m * (100 + e) for m, e in pairs]))
    cells = [str(len(pairs)), f"{sum(sizes) / len(sizes):.1f} %", f"{percentile(sizes, 0.9):.1f} %", f"{rank:.3f}"]
    return cells, sizes[-1], sum(errors) / len(errors)


def held_out(folder, suite):
    recorded = {r["id"]: float(r["error_pct"]) for r in rows_of(folder / f"{suite}.recorded.csv")}
    return [(float(r["measured"]), recorded[r["id"]]) for r in rows_of(folder / f"{suite}.csv")
            if r["split"] != "fitted" and r["id"] in recorded]


def lines_of_page(text):
    """suite -> [rows, mean, p90, rank] of the table whose last column says `--suite NAME`."""
    found = {}
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 7 and (named := re.match(r"`--suite ([\w-]+)`", cells[6])):
            found[named.group(1)] = cells[2:6]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=TREE)
    args = parser.parse_args()
    folder, bad = args.root / "data/validation", []
    page = lines_of_page((args.root / "docs/accuracy.md").read_text())
    for path in sorted(folder.glob("*.suite")):
        suite = path.stem
        if suite not in page:
            bad.append(f"docs/accuracy.md: the table of results has no line of the suite {suite}")
        if re.search(r"^agree = ", path.read_text(), re.M) or not (pairs := held_out(folder, suite)):
            continue
        cells, worst, bias = summary(pairs)
        if not args.check:
            print(f"{suite:22} | {' | '.join(cells)} |   worst {worst:.1f} %, bias {bias:+.1f} %")
        elif page.get(suite, cells) != cells:
            bad.append(f"docs/accuracy.md: {suite} has {', '.join(page[suite])} in the table of results; the recorded errors give {', '.join(cells)}")
    if args.check:
        print("\n".join(bad), end="\n" if bad else "")
    return 1 if args.check and bad else 0


if __name__ == "__main__":
    sys.exit(main())
