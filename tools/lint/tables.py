#!/usr/bin/env python3
"""Tables (.def): every row is MACRO(arguments), rows of one macro have the same number of arguments
(unless the macro is variadic), no row stands twice, and where the first argument is an id it is
unique."""
import pathlib
import re
import sys

ROW = re.compile(r"([A-Z][A-Z0-9_]*)\s*\(")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
VARIADIC = re.compile(r"#\s*define\s+(\w+)\([^)]*\.\.\.\)")
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
UNIQUE_ID = re.compile(r"^(PARAM|STAT_|SEM)")


def blank(match):
    """Same number of lines, nothing in them."""
    return "\n" * match.group(0).count("\n")


def split(args):
    """Arguments at the top level of parentheses; strings are opaque."""
    out, depth, start, i = [], 0, 0, 0
    while i < len(args):
        string = STRING.match(args, i)
        if string:
            i = string.end()
            continue
        if args[i] in "([{":
            depth += 1
        elif args[i] in ")]}":
            depth -= 1
        elif args[i] == "," and depth == 0:
            out.append(args[start:i].strip())
            start = i + 1
        i += 1
    out.append(args[start:].strip())
    return out


def row_end(text, at):
    """Index behind the parenthesis that closes the one before `at`, or -1."""
    depth = 1
    while at < len(text):
        string = STRING.match(text, at)
        if string:
            at = string.end()
            continue
        depth += (text[at] == "(") - (text[at] == ")")
        at += 1
        if depth == 0:
            return at
    return -1


def check(path, variadic):
    text = COMMENT.sub(blank, path.read_text())
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)
    bad, counts, ids, rows, at = [], {}, {}, {}, 0
    while True:
        at += len(text[at:]) - len(text[at:].lstrip(" \t\n,\\"))
        if at >= len(text):
            return bad
        line = text.count("\n", 0, at) + 1
        match = ROW.match(text, at)
        end = row_end(text, match.end()) if match else -1
        if end < 0:
            return bad + [f"{path}:{line}: not a row: {text[at:at + 40].splitlines()[0]}"]
        macro, args = match.group(1), split(text[match.end():end - 1])
        if macro not in variadic and counts.setdefault(macro, len(args)) != len(args):
            bad.append(f"{path}:{line}: {macro} has {len(args)} arguments, {counts[macro]} before")
        row = (macro, *args)
        if row in rows:
            bad.append(f"{path}:{line}: the row of line {rows[row]} again")
        elif UNIQUE_ID.match(macro) and args[0] in ids:
            bad.append(f"{path}:{line}: id {args[0]} was taken in line {ids[args[0]]}")
        rows[row] = ids[args[0]] = line
        at = end


def main():
    files = [p for d in ("src", "tests") for p in sorted(pathlib.Path(d).rglob("*"))]
    variadic = {name for p in files if p.suffix in (".c", ".h", ".inc", ".def")
                for name in VARIADIC.findall(p.read_text())}
    bad = [b for p in files if p.suffix == ".def" for b in check(p, variadic)]
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
