#!/usr/bin/env python3
"""The page of --html (src/view/html): scripts make text of text (nothing that parses HTML or code, nothing that asks a network), lines and
functions are short, a name is given once, and every file is built in (mk/html.mk). Syntax, where node is installed."""
import pathlib
import re
import shutil
import subprocess
import sys

FORBIDDEN = re.compile(r"\b(innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|srcdoc|document\.write|eval|Function|fetch|"
                       r"XMLHttpRequest|WebSocket|EventSource|importScripts|sendBeacon|setTimeout|localStorage)\b")
WIDTH, FUNCTION_MAX = 140, 40
HERE = pathlib.Path("src/view/html")


def functions(lines):
    """(name, first line, length) of functions that begin in column 0 and end with a brace there."""
    start = name = None
    for i, line in enumerate(lines, 1):
        if match := re.match(r"function\*? (\w+)\(", line):
            start, name = i, match.group(1)
        elif line == "}" and start:
            yield name, start, i - start + 1
            start = None


def main():
    bad, named = [], {}
    built = pathlib.Path("mk/html.mk").read_text()
    scripts = sorted(HERE.glob("*.js"))
    for path in sorted(HERE.iterdir()):
        lines = path.read_text().splitlines()
        if path.name not in built:
            bad.append(f"{path}: not built in (mk/html.mk)")
        bad += [f"{path}:{i}: {len(x)} columns, more than {WIDTH}" for i, x in enumerate(lines, 1) if len(x) > WIDTH]
        if path.suffix != ".js":
            continue
        bad += [f"{path}:{i}: {m.group(1)}" for i, x in enumerate(lines, 1) if (m := FORBIDDEN.search(x))]
        for name, line, length in functions(lines):
            if length > FUNCTION_MAX:
                bad.append(f"{path}:{line}: {name} has {length} lines, more than {FUNCTION_MAX}")
            if name in named:
                bad.append(f"{path}:{line}: {name} is in {named[name]}, too")
            named[name] = path
    if shutil.which("node"):
        whole = "".join(p.read_text() for p in scripts)
        done = subprocess.run(["node", "--check", "-"], input=whole, capture_output=True, text=True)
        bad += done.stderr.splitlines()[:5] if done.returncode else []
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
