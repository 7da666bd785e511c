#!/usr/bin/env python3
"""Lists every preset value that is still tagged guess, with the measurement that would settle it.

  guesses.py [--check] [--root DIR]     writes docs/guesses.md; --check: fails when it is not up to date

data/validation/settle.csv names the measurement of each key by the first prefix that matches. A guess without
one, a prefix that no guess has, and a tag that this script does not understand are errors."""
import argparse
import collections
import csv
import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
TAG = '"guess'
GROUP = re.compile(r"(\w+)\s*=\s*\{")
VALUE = re.compile(r'(\w+)\s*=\s*\((.*),\s*"guess:?\s*(.*)"\);?$')
HEAD = """# Preset values that are guesses

Written by `tools/validation/guesses.py` from `presets/*.cfg` and `data/validation/settle.csv`; every other value has a source.
Guesses that are no value of a preset, such as which pipe HFMA2.MMA takes on GA10x, stand in [docs/deviations.md](deviations.md).

| key | values | why this value | what would settle it |
|---|---|---|---|
"""


def guesses(text):
    """(key, value, reason) of each guess in the text of a preset file."""
    groups = []
    for line in text.splitlines():
        line = line.strip()
        group, value = GROUP.match(line), VALUE.match(line)
        if group:
            groups.append(group[1])
        elif line.startswith("}"):
            groups.pop()
        elif value:
            yield ".".join([*groups, value[1]]), value[2], value[3]


def collect(root):
    """key -> [(preset, value, reason)]. Tags are counted apart, so that none is missed for its form."""
    found = collections.defaultdict(list)
    for path in sorted((root / "presets").glob("*.cfg")):
        text = path.read_text()
        here = list(guesses(text))
        if len(here) != text.count(TAG):
            sys.exit(f"{path}: {text.count(TAG)} values are tagged guess, {len(here)} of them understood")
        for key, value, reason in here:
            found[key].append((path.stem, value, reason))
    return dict(sorted(found.items()))


def measurements(keys, rules):
    """key -> measurement."""
    settled, used = {}, set()
    for key in keys:
        rule = next((r for r in rules if key.startswith(r["prefix"])), None)
        if rule is None:
            sys.exit(f"data/validation/settle.csv: no measurement for {key}")
        settled[key] = rule["measurement"]
        used.add(rule["prefix"])
    for rule in rules:
        if rule["prefix"] not in used:
            sys.exit(f"data/validation/settle.csv: no guess begins with {rule['prefix']}; delete the line")
    return settled


def table(root):
    lines = (root / "data/validation/settle.csv").read_text().splitlines()
    rules = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    found = collect(root)
    settled = measurements(found, rules)
    text = HEAD
    for key, values in found.items():
        shown = ", ".join(f"{preset} {value}" for preset, value, _ in values)
        reasons = "; ".join(dict.fromkeys(reason for _, _, reason in values if reason)) or "-"
        text += f"| `{key}` | {shown} | {reasons} | {settled[key]} |\n"
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=TREE)
    options = parser.parse_args()
    page, text = options.root / "docs/guesses.md", table(options.root)
    if not options.check:
        page.write_text(text)
    elif page.read_text() != text:
        sys.exit("docs/guesses.md does not list the guesses of presets/; run tools/validation/guesses.py")


if __name__ == "__main__":
    main()
