#!/usr/bin/env python3
"""symbols.py BUILD: names that objects of src/ show to each other.

Each is defined once. Archives hide it when two objects define the same function: the linker takes whichever it needs
first. Each is used by another object, or a test looks in; what only its own file uses is static, what nobody uses goes.
Names that a library exports are for others; which of src/cuda/ those are, the version script says.
"""
import collections
import itertools
import os
import pathlib
import re
import subprocess
import sys

CUDA_NAME = re.compile(r"cu[A-Z]|cuda[A-Z]|__cuda|nvml[A-Z]|cupti[A-Z]")  # mk/cuda.map


def objects(build):
    """Those of sources that there are: name from the build folder on."""
    for obj in sorted(pathlib.Path(build, "src").rglob("*.o")):
        name = obj.relative_to(build)
        if name.with_name(name.name.split(".")[0] + ".c").exists():  # else: of a source that has moved
            yield str(name)


def table(build, names):
    """(object, symbol, defined, function, exported) of all global symbols."""
    listing = subprocess.run(["readelf", "-sW", *names], cwd=build, capture_output=True, text=True, check=True).stdout
    name = names[0]
    for line in listing.splitlines():
        if line.startswith("File: "):
            name = line[6:]
        cells = line.split()
        if len(cells) == 8 and cells[4] == "GLOBAL":
            exported = cells[5] == "DEFAULT" and (not name.startswith("src/cuda/") or CUDA_NAME.match(cells[7]))
            yield name, cells[7], cells[6] != "UND", cells[3] == "FUNC", exported


def words(*folders):
    """How often each word stands in each C file: {word: {file: n}}. Comments do not count."""
    found = collections.defaultdict(collections.Counter)
    for folder in folders:
        for path in itertools.chain(*(pathlib.Path(folder).rglob(f"*.{end}") for end in ("c", "h", "def"))):
            text = re.sub(r"/\*.*?\*/", "", path.read_text(errors="replace"), flags=re.S)
            for word in re.findall(r"\w+", text):
                found[word][str(path)] += 1
    return found


def unused(rows):
    """Lines about functions that nobody outside their file uses."""
    used = {symbol for _, symbol, defined, _, _ in rows if not defined}
    used |= {"__wrap_" + symbol for symbol in used}  # whom the linker sends there (Makefile)
    used.add("program_leaves")  # to whom it gives another name (mk/cuda.mk)
    text = words("src", "tests", "tools", "bench")
    for name, symbol, defined, function, exported in rows:
        if not defined or not function or exported or symbol in used or symbol == "main":
            continue
        own = os.path.join(os.path.dirname(name), os.path.basename(name).split(".")[0] + ".c")
        if any(not f.startswith("src/") for f in text[symbol]):
            continue
        if text[symbol][own] > 1:
            yield f"{own}: {symbol} is used by no other file: make it static"
        else:
            yield f"{own}: nobody uses {symbol}"


def main():
    rows = list(table(sys.argv[1], list(objects(sys.argv[1]))))
    where = collections.defaultdict(list)
    for name, symbol, defined, _, _ in rows:
        if defined:
            where[symbol].append(name)
    wrong = [f"{s} is defined in {', '.join(o)}" for s, o in sorted(where.items())
             if len(o) > 1 and s != "main"]  # of two programs
    wrong += sorted(set(unused(rows)))
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
