#!/usr/bin/env python3
"""coverage.py BUILD: executed lines and branches per folder of src/, from the counters that a MODE=cov
build left in BUILD. A file compiled several times (one object per x86-64 level) counts a line once. `-v`
lists the files, too."""
import collections
import json
import pathlib
import subprocess
import sys

GCOV = ["gcov", "--json-format", "--stdout", "--branch-probabilities"]


def reports(build):
    data = sorted(str(p.resolve()) for p in pathlib.Path(build, "src").rglob("*.gcda"))
    if not data:
        sys.exit(f"coverage: no counters in {build}: run make coverage")
    for start in range(0, len(data), 32):
        out = subprocess.run(GCOV + data[start:start + 32], capture_output=True, text=True, check=True)
        for line in out.stdout.splitlines():
            if line.startswith("{"):
                yield from json.loads(line)["files"]


def collect(build):
    """file -> (line -> count, (line, branch) -> count), summed over objects."""
    lines = collections.defaultdict(collections.Counter)
    branches = collections.defaultdict(collections.Counter)
    for report in reports(build):
        name = report["file"]
        if not name.startswith("src/"):
            continue
        for line in report["lines"]:
            lines[name][line["line_number"]] += line["count"]
            for i, branch in enumerate(line["branches"]):
                branches[name][line["line_number"], i] += branch["count"]
    return lines, branches


def share(counts):
    hit = sum(1 for n in counts if n)
    return f"{hit:7} / {len(counts):<7} {100 * hit / len(counts) if counts else 100:6.1f} %"


def table(lines, branches, key):
    rows = collections.defaultdict(lambda: ([], []))
    for name in lines:
        rows[key(name)][0].extend(lines[name].values())
        rows[key(name)][1].extend(branches[name].values())
    for row in sorted(rows):
        print(f"{row:32} {share(rows[row][0])}  {share(rows[row][1])}")


def main():
    lines, branches = collect([a for a in sys.argv[1:] if a != "-v"][0])
    print(f"{'folder':32} {'lines executed':26} branches taken")
    table(lines, branches, lambda name: name.rsplit("/", 1)[0])
    table(lines, branches, lambda name: "all")
    if "-v" in sys.argv:
        table(lines, branches, lambda name: name)


if __name__ == "__main__":
    main()
