#!/usr/bin/env python3
"""circles.py BUILD: which source files need each other, directly or through others.

A file needs another when its object has an undefined symbol that the other defines. Files of a circle can only be understood
together, so a circle has at most three files, all of one folder.

The folders of src/cuda/ are layers also for what is declared by hand (entry points have no headers): core needs nothing of the
interfaces, and they need nothing of each other.
"""
import os
import re
import subprocess
import sys

LARGEST = 3
ABOVE = {"src/cuda/core": ("src/cuda/driver", "src/cuda/runtime", "src/cuda"),
         "src/cuda/driver": ("src/cuda/runtime", "src/cuda"),
         "src/cuda/runtime": ("src/cuda/driver", "src/cuda")}
# cudaGetDriverEntryPoint is, by its documentation, cuGetProcAddress under another name.
MAY_CALL = {("src/cuda/runtime/runtime_device", "src/cuda/driver/driver_lookup")}


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


def upward(graph):
    """Calls against the layers of src/cuda/."""
    return ["%s must not call %s" % (name, target) for name in sorted(graph) for target in sorted(graph[name])
            if os.path.dirname(target) in ABOVE.get(os.path.dirname(name), ()) and (name, target) not in MAY_CALL]


def main():
    graph = needs(sys.argv[1])
    bad = upward(graph)
    for members in circles(graph):
        if len(members) > LARGEST or len({os.path.dirname(m) for m in members}) > 1:
            bad.append("circle of %d files (at most %d, of one folder): %s" % (len(members), LARGEST, " ".join(members)))
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
