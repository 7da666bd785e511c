#!/usr/bin/env python3
"""symbols.py BUILD: every name that objects of src/ show to each other is defined once. Archives hide it when two objects define the same
function: the linker takes whichever it needs first."""
import collections
import pathlib
import subprocess
import sys



def defined(obj):
    out = subprocess.run(["nm", "-g", "--defined-only", obj], capture_output=True, text=True, check=True).stdout
    return [line.split()[-1] for line in out.splitlines() if line.split()[-2] not in "uvVwW"]


def main():
    where = collections.defaultdict(list)
    for obj in sorted(pathlib.Path(sys.argv[1], "src").rglob("*.o")):
        name = obj.relative_to(sys.argv[1])
        if name.with_name(name.name.split(".")[0] + ".c").exists():  # else: of a source that has moved
            for symbol in defined(obj):
                where[symbol].append(str(name))
    twice = {s: o for s, o in where.items() if len(o) > 1}
    for symbol, objects in sorted(twice.items()):
        print(f"{symbol} is defined in {', '.join(objects)}")
    return bool(twice)


if __name__ == "__main__":
    sys.exit(main())
