#!/usr/bin/env python3
"""Presets: one value per line, each with its source; what is inherited exists; a value that equals
the inherited one with the same source is not stated again. (That all keys are there and in range is
the loader's business: tests/unit/test_config.c.) `presets.py -v` lists the guesses."""
import pathlib
import re
import sys

VALUE = re.compile(r'(\w+)\s*=\s*\((.*), "((?:doc|ubench|paper|fit): \S.*|guess(?:: .+)?)"\);$')
INHERIT = re.compile(r'inherit\s*=\s*"([\w-]+)";$')
OPEN = re.compile(r"(\w+)\s*=\s*\{$")


def read(path):
    """key -> (value, source, line), the inherited name, and complaints."""
    keys, group, parent, bad = {}, [], None, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if m := OPEN.match(line):
            group.append(m.group(1))
        elif line == "};":
            group.pop()
        elif m := INHERIT.match(line):
            parent = m.group(1)
        elif m := VALUE.match(line):
            keys[".".join(group + [m.group(1)])] = (m.group(2), m.group(3), number)
        else:
            bad.append(f'{path}:{number}: not KEY = (value, "tag: text");')
    return keys, parent, bad


def main():
    folder = pathlib.Path("presets")
    files = {p.stem: read(p) for p in sorted(folder.glob("*.cfg"))}
    bad, guesses = [], []
    for p in sorted(folder.glob("machines/*.cfg")):
        keys, parent, complaints = read(p)
        bad += complaints + ([f"{p}: machines inherit nothing"] if parent else [])
        guesses += [f"{p}:{n}: {k} = {v} ({s})" for k, (v, s, n) in keys.items() if s.startswith("guess")]
    for name, (keys, parent, complaints) in files.items():
        bad += complaints
        if parent is not None and parent not in files:
            bad.append(f"{folder}/{name}.cfg: inherits '{parent}', which does not exist")
            continue
        inherited = files[parent][0] if parent else {}
        for key, (value, source, line) in keys.items():
            where = f"{folder}/{name}.cfg:{line}"
            if key in inherited and inherited[key][:2] == (value, source):
                bad.append(f"{where}: {key} repeats the inherited value")
            if source.startswith("guess"):
                guesses.append(f"{where}: {key} = {value} ({source})")
    if "-v" in sys.argv:
        print("\n".join(guesses))
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
