#!/usr/bin/env python3
"""circles.py BUILD: which source files need each other, directly or through others.

A file needs another when its object has an undefined symbol that the other defines. Files of a circle can only be understood
together, so a circle has at most three files, all of one folder. ALLOWED names the larger ones that there still are, with their
present size: it may only shrink.
"""
import os
import re
import subprocess
import sys

LARGEST = 3
ALLOWED = {"src/cuda/core/shim": 26, "src/cuda/entries": 6}  # a member of the circle: its size


def objects(build):
    """Object -> file without suffix. Of files compiled several times (name.LEVEL.o) one level stands for all."""
    found = {}
    for folder, _, names in os.walk(os.path.join(build, "src")):
        for name in names:
            stem = re.fullmatch(r"(\w+)(\.v3)?\.o", name)
            source = stem and os.path.relpath(os.path.join(folder, stem.group(1)), build)
            if source and os.path.exists(source + ".c"):  # else of a source that has moved
                found[os.path.join(folder, name)] = source
    return found


def needs(build):
    """File -> files that define what it uses."""
    files = objects(build)
    listing = subprocess.run(["nm", "-A", "-P", *files], capture_output=True, text=True, check=True).stdout
    where, used = {}, {name: set() for name in files.values()}
    for line in listing.splitlines():
        path, symbol, kind = line.replace(": ", " ", 1).split()[:3]
        if kind == "U":
            used[files[path]].add(symbol)
        elif kind.isupper():
            where[symbol] = files[path]
    return {name: {where[s] for s in symbols if s in where} - {name} for name, symbols in used.items()}


def circles(graph):
    """Strongly connected components of more than one file (Tarjan's algorithm)."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for target in sorted(graph[node]):
            if target not in number:
                visit(target)
            if target in stack:
                low[node] = min(low[node], low[target])
        if low[node] == number[node]:
            at = stack.index(node)
            members, stack[at:] = stack[at:], []
            if len(members) > 1:
                found.append(sorted(members))

    sys.setrecursionlimit(10 * len(graph) + 1000)
    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def main():
    bad = []
    for members in circles(needs(sys.argv[1])):
        allowed = max([n for name, n in ALLOWED.items() if name in members], default=LARGEST)
        folders = {os.path.dirname(m) for m in members}
        if len(members) < allowed and allowed > LARGEST:
            bad.append("circle around %s has %d files by now: say so in ALLOWED, which may only shrink" % (members[0], len(members)))
        if len(members) > allowed or (len(folders) > 1 and allowed == LARGEST):
            bad.append("circle of %d files (at most %d, of one folder): %s" %
                       (len(members), allowed, " ".join(members)))
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
