#!/usr/bin/env python3
"""Which measured rows parameters of the model were fitted on, and which are held out, for good.

  splits.py [--check | --add] [--root DIR]

data/validation/held-out.csv lists every row that nobody has fitted on; a row leaves it when a parameter is chosen
while looking at it, and then stands in data/validation/fitted.csv, with what was chosen, from where it never returns.
The column `split` of the suites has to say the same; --check: fails when it does not. --add lists rows of new suites
that stand in neither. Without an option: prints how many rows of each suite are which."""
import argparse
import collections
import csv
import pathlib
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
FILES = {"held-out": "held-out.csv", "fitted": "fitted.csv"}


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def listed(folder):
    """split -> {(suite, id)}"""
    return {split: {(r["suite"], r["id"]) for r in rows_of(folder / name)} for split, name in FILES.items()}


def suites(folder):
    """(suite, id) -> split, of every row that `warpstep validate` knows."""
    found = {}
    for suite in sorted(folder.glob("*.suite")):
        for row in rows_of(folder / f"{suite.stem}.csv"):
            found[suite.stem, row["id"]] = row["split"]
    return found


def faults(found, lists):
    both = lists["held-out"] & lists["fitted"]
    yield from (f"{s}: {i} is in both lists: what was fitted once is not held out" for s, i in sorted(both))
    for (suite, row), split in found.items():
        other = "fitted" if split == "held-out" else "held-out"
        if (suite, row) in lists[other]:
            yield f"{suite}.csv: {row} is called {split} and stands in {FILES[other]}"
        elif (suite, row) not in lists[split]:
            yield f"{suite}.csv: {row} is in neither list; a new suite: splits.py --add"
    for split, name in FILES.items():
        yield from (f"{name}: {s} has no row {i}" for s, i in sorted(lists[split] - found.keys()))


def add(folder, found, lists):
    known = lists["held-out"] | lists["fitted"]
    for split, name in FILES.items():
        with (folder / name).open("a") as file:
            for suite, row in found:
                if (suite, row) not in known and found[suite, row] == split:
                    file.write(f"{suite},{row}" + (",\n" if split == "fitted" else "\n"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--add", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=TREE)
    options = parser.parse_args()
    folder = options.root / "data/validation"
    found, lists = suites(folder), listed(folder)
    if options.add:
        add(folder, found, lists)
        lists = listed(folder)
    wrong = list(faults(found, lists))
    for line in wrong:
        print(line)
    if not options.check:
        for (suite, split), n in sorted(collections.Counter((s, v) for (s, _), v in found.items()).items()):
            print(f"{suite:24} {split:9} {n:4}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
