#!/usr/bin/env python3
"""Lengths of lines, functions and files, and names of files, of which none is there twice. Long ones are listed as an invitation to look; above the hard
limits is an error. Tables (.def, .inc) have no limit. `sizes.py -v` lists all above the soft one."""
import pathlib
import re
import sys

README_MAX = 100
FUNCTION_LOOK, FUNCTION_MAX, FILE_MAX, WIDTH = 60, 150, 900, 120  # WIDTH: ColumnLimit of .clang-format, in src/
NAME = re.compile(r"(\w+)\s*\(")


def functions(lines):
    """(name, first line, length) of each function: its braces stand alone in column 0."""
    start = None
    for i, line in enumerate(lines):
        if line == "{":
            start = i
        elif line.startswith("}") and start is not None:
            head = start - 1
            while head > 0 and lines[head - 1].strip() and not lines[head - 1].startswith(("}", "#")):
                head -= 1
            match = NAME.search(" ".join(lines[head:start]))
            yield (match.group(1) if match else "?"), start + 1, i - start + 1
            start = None


def main():
    bad, look, named = [], [], {}
    files = [p for d in ("src", "include", "tests") for p in pathlib.Path(d).rglob("*.[ch]")]
    for path in sorted(files):
        lines = path.read_text().splitlines()
        if len(lines) > FILE_MAX:
            bad.append(f"{path}: {len(lines)} lines, more than {FILE_MAX}")
        if path.parts[0] == "src":
            bad += [f"{path}:{i}: {len(x)} columns, more than {WIDTH}" for i, x in enumerate(lines, 1) if len(x) > WIDTH]
            if path.name in named:
                bad.append(f"{path}: {named[path.name]} has the same name")
            named[path.name] = path
        for name, line, length in functions(lines):
            text = f"{path}:{line}: {name} has {length} lines"
            if length > FUNCTION_MAX:
                bad.append(f"{text}, more than {FUNCTION_MAX}")
            elif length > FUNCTION_LOOK:
                look.append((length, text))
    length = len(pathlib.Path("README.md").read_text().splitlines())
    if length >= README_MAX:
        bad.append(f"README.md: {length} lines, a newcomer reads fewer than {README_MAX}")
    look.sort(reverse=True)
    for _, text in look if "-v" in sys.argv else look[:3]:
        print(f"look again: {text}")
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
