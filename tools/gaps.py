#!/usr/bin/env python3
"""Smallest distances, in cycles, from fixed-latency producers to their consumers that the compiler
emits, over kernels/, beside the preset's gap.* table: `gaps.py [-v] [--kernels A,B...] [--tight N] [TARGET...]`,
TARGET as 86:rtx-3070.

A cell is seen/gap; '<' marks a distance below the preset's gap (the checker finds a hazard there), '>'
one above it. -v adds the kernel each distance is from and its two instructions. BIN names the program
(build/warpstep). The references of `make refs` must be there. Status 1 when any cell has '<', or fewer than N
cells of a target are equal."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

TARGETS = ["70:v100", "75:rtx-2080ti", "80:a100", "86:rtx-3070", "90:h200", "100:b200", "120:rtx-5070ti"]
ROLES = ["same pipe", "other pipe", "queued", "address", "guard", "predicate"]
TABLE = "  smallest distance seen / gap"
ROW = re.compile(r"    (\w+)((?: +(?:\d+|-) /\s*\d+){%d})$" % len(ROLES))
CELL = re.compile(r"(\d+|-) /\s*(\d+)")
WHERE = re.compile(r"    (.+), (\d+):$")


def run(launch, preset):
    """Output of one kernel, the part with the distances."""
    command = [os.environ.get("BIN", "build/warpstep"), "run", str(launch), "--gpu", preset,
               "--hazards", "gaps", "--no-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"gaps.py: {launch} on {preset}: {done.stderr.strip()}")
    lines = done.stdout.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith(TABLE)), len(lines))
    return lines[start + 1:]


def read(lines):
    """(class, role) -> (distance or None, gap, text of the two instructions)."""
    found, cls = {}, None
    for i, line in enumerate(lines):
        if row := ROW.match(line):
            cls = row.group(1)
            for role, (seen, gap) in zip(ROLES, CELL.findall(row.group(2))):
                found[cls, role] = (None if seen == "-" else int(seen), int(gap), "")
        elif (where := WHERE.match(line)) and cls:
            seen, gap, _ = found[cls, where.group(1)]
            pair = [part.split(None, 2)[2] for part in lines[i + 1:i + 3]]
            found[cls, where.group(1)] = (seen, gap, " -> ".join(pair))
    return found


def built_for(launch, sm):
    names = launch.with_suffix(".targets")
    return not names.exists() or not {f"sm_{sm}", f"sm_{sm}a"}.isdisjoint(names.read_text().split())


def measure(sm, preset, kernels):
    """The smallest over the corpus, or the kernels named, with the kernel it is from."""
    launches = [p for p in sorted(pathlib.Path("kernels").glob("*/*.launch"))
                if built_for(p, sm) and (not kernels or p.stem in kernels)]
    least = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for launch, lines in zip(launches, pool.map(lambda p: run(p, preset), launches)):
            for key, (seen, gap, text) in read(lines).items():
                old = least.get(key)
                if old is None or (seen is not None and (old[0] is None or seen < old[0])):
                    least[key] = (seen, gap, f"{launch.stem}: {text}")
    return least


def show(least, verbose):
    """Prints the table; returns the number of cells below the preset's gap, and of equal ones."""
    classes = sorted({cls for cls, _ in least})
    print("  " + " " * 14 + "".join(f"{role:>13}" for role in ROLES))
    short = equal = 0
    for cls in classes:
        line = f"  {cls:<14}"
        for role in ROLES:
            seen, gap, _ = least[cls, role]
            sign = " " if seen in (None, gap) else "<" if seen < gap else ">"
            short += sign == "<"
            equal += seen == gap
            line += f"{'-' if seen is None else seen:>8} /{gap:>2} {sign}"
        print(line)
    if verbose:
        for (cls, role), (seen, gap, text) in sorted(least.items()):
            if seen is not None:
                print(f"  {cls}, {role}: {seen} ({gap}) {text}")
    return short, equal


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--kernels", default="")
    parser.add_argument("--tight", type=int, default=0)
    parser.add_argument("targets", nargs="*", default=TARGETS)
    args = parser.parse_args()
    status = 0
    for target in args.targets:
        sm, preset = target.split(":")
        print(f"sm_{sm} ({preset})")
        short, equal = show(measure(sm, preset, args.kernels.split(",") if args.kernels else []), args.v)
        print(f"  {equal} cells equal, {short} below")
        status |= short > 0 or equal < args.tight
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
