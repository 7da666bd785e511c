#!/usr/bin/env python3
"""What outputs about a launch say, against the counters of its report (run --json).

  check.py annotate TEXT JSON [FILE]      columns of the instructions add up; FILE: a source file that lines must name
  check.py details TEXT JSON              every unit with its share, the roofline, the occupancy
  check.py what_if TEXT JSON              the table has the rows, cycles and speed-ups of the JSON
  check.py diff TEXT OLD.json NEW.json    what changed in the configuration, and both numbers of cycles
"""
import json
import re
import sys


def equal(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, expected {wanted}")


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def number(text):
    return int(text.replace(",", "") or 0)


def annotate(path, report, source=None):
    """Columns are as wide as their heading says: cycles 14, then 6, issued 12, lanes 6, sectors 8, conflicts 9."""
    sums, lines, on = {"warp_cycles": 0, "warp_insts": 0, "shared_conflicts": 0}, 0, False
    for line in text_of(path).splitlines():
        on |= line.startswith("Instructions of ")
        if not on or not re.match(r" *[0-9]", line):
            continue
        sums["warp_cycles"] += number(line[:14].strip())
        if "of warps that had ended" in line:
            continue
        lines += 1
        sums["warp_insts"] += number(line[22:34].strip())
        sums["shared_conflicts"] += number(line[51:60].strip())
    sm = load(report)["stats"]
    equal("sums", sums, {key: sm["sm"][key] if key in sm["sm"] else sm[key] for key in sums})
    if lines < 10:
        sys.exit(f"{lines} instructions")
    if source and not re.search(rf"^ .*{re.escape(source)}:[0-9]+", text_of(path), re.M):
        sys.exit(f"no line of {source}")


def details(path, report):
    """A row for each unit, in the order of the JSON, with both shares; then roofs and CTAs."""
    text, said = text_of(path), load(report)
    rows = text[text.index("Units, of their peak"):text.index("Roofline")].splitlines()[1:]
    equal("units", len(rows), len(said["speed"]))
    for row, (name, unit) in zip(rows, said["speed"].items()):
        shares = [unit[key] for key in ("elapsed", "active")]
        equal(name, re.findall(r"([0-9.]+) %|(n/a)(?: *$|  )", row)[-2:],
              [("", "n/a") if x is None else (f"{100 * x:.1f}", "") for x in shares])
    equal("CTAs", int(re.search(r"Occupancy +([0-9]+) CTAs", text).group(1)), said["occupancy"]["ctas"])
    equal("DRAM", "DRAM, TB/s" in text, True)


def what_if(path, report):
    text, said = text_of(path), load(report)
    rows = said["what_if"]
    seen = [row for row in rows if row["seen"] and row["cycles"] is not None]
    if not seen:
        sys.exit("no row")
    base = number(re.search(r"^ *all costs +([0-9,]+)", text, re.M).group(1))
    for row in seen:
        line = re.search(rf"^ *{row['name']} +([0-9,]+) .* ([0-9.]+) x", text, re.M)
        equal(row["name"], number(line.group(1)), row["cycles"])
        equal(row["name"], line.group(2), f"{base / row['cycles']:.2f}")


def diff(path, old, new):
    text, cycles = text_of(path), [load(x)["stats"]["gpu"]["cycles"] for x in (old, new)]
    if cycles[0] == cycles[1]:
        sys.exit("nothing changed")
    for value in cycles:
        if f"{value:,}" not in text and str(value) not in text:
            sys.exit(f"no {value} cycles")
    if not re.search(r"l1\.perfect +false +true", text):
        sys.exit("no change of l1.perfect")


if __name__ == "__main__":
    {"annotate": annotate, "details": details, "what_if": what_if, "diff": diff}[sys.argv[1]](*sys.argv[2:])
