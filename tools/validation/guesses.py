#!/usr/bin/env python3
"""Lists every preset value that is still tagged guess, with the measurement that would settle it.

  guesses.py [--check]     writes docs/guesses.md; --check: writes nothing

data/validation/settle.csv names the measurement of each key by its prefix; a guess without one is an error."""
import collections
import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROUP = re.compile(r"(\w+)\s*=\s*\{")
VALUE = re.compile(r'(\w+)\s*=\s*\((.*),\s*"guess:?\s*(.*)"\);?$')
HEAD = """# Preset values that are guesses

Written by `tools/validation/guesses.py` from `presets/*.cfg` and `data/validation/settle.csv`; every other value has a source.

| key | values | why this value | what would settle it |
|---|---|---|---|
"""


def guesses(path):
    """(key, value, reason) of each guess in a preset file."""
    groups = []
    for line in path.read_text().splitlines():
        line = line.strip()
        group, value = GROUP.match(line), VALUE.match(line)
        if group:
            groups.append(group[1])
        elif line.startswith("}"):
            groups.pop()
        elif value:
            yield ".".join([*groups, value[1]]), value[2], value[3]


def collect():
    found = collections.defaultdict(list)
    for path in sorted((ROOT / "presets").glob("*.cfg")):
        for key, value, reason in guesses(path):
            found[key].append((path.stem, value, reason))
    return dict(sorted(found.items()))


def measurement(key, rules):
    for rule in rules:
        if key.startswith(rule["prefix"]):
            return rule["measurement"]
    sys.exit(f"data/validation/settle.csv: no measurement for {key}")


def main():
    lines = (ROOT / "data/validation/settle.csv").read_text().splitlines()
    rules = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    text = HEAD
    for key, values in collect().items():
        shown = ", ".join(f"{preset} {value}" for preset, value, _ in values)
        reasons = "; ".join(dict.fromkeys(reason for _, _, reason in values if reason)) or "-"
        text += f"| `{key}` | {shown} | {reasons} | {measurement(key, rules)} |\n"
    if "--check" not in sys.argv[1:]:
        (ROOT / "docs/guesses.md").write_text(text)


if __name__ == "__main__":
    main()
