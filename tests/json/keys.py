#!/usr/bin/env python3
"""Holds JSON reports against docs/json.md: tests/json/keys.py SCHEMA FILE...

Every key that a file has must be in the table of the schema, with a type the table names; every key of the table must be
in some file. Prints what is not so; status 1.
"""
import json
import pathlib
import re
import sys

GROUPS = {"gpu", "sm", "noc", "l2", "dram"}  # statistics of blocks
DOC = pathlib.Path(__file__).resolve().parents[2] / "docs/json.md"
TYPES = {"string": str, "integer": int, "boolean": bool, "number": float, "null": type(None), "array": list,
         "object": dict}


def tables(schema):
    """{key: types} of the schema; {key} of the statistics."""
    keys, stats, section = {}, set(), ""
    for line in DOC.read_text().splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [c.strip() for c in line.split("|")[1:-1]]
        if section == schema and len(cells) == 4 and cells[0].startswith("`"):
            for key in re.findall(r"`([^`]+)`", cells[0]):
                keys[key] = re.split(r", | or ", cells[1])
        if section == "Statistics" and len(cells) == 3 and re.match(r"\w+\.", cells[0]):
            stats.add(cells[0])
    return keys, stats


def walk(value, path):
    """(path, value) of everything that is not an object, and of empty objects."""
    if isinstance(value, dict):
        for k, v in value.items():
            yield from walk(v, path + [k])
    elif isinstance(value, list):
        yield path, value
        for v in value:
            yield from walk(v, path[:-1] + [path[-1] + "[]"])
    else:
        yield path, value


def fits(value, types):
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int) and "number" in types:
        return True
    return any(isinstance(value, TYPES[t]) for t in types)


def pattern(key):
    return re.compile(".+".join(re.escape(part) for part in key.split("*")))


def statistic(path, prefix, stats):
    """The row of a statistic below `prefix`, or None."""
    rest = path[len(prefix):] if path[:len(prefix)] == prefix else []
    if len(rest) == 2 and ".".join(rest) in stats:
        return ".".join(rest)
    if len(rest) == 3 and ".".join(rest[:2]) + ".*" in stats:
        return ".".join(rest[:2]) + ".*"
    return None


def check(schema, files):
    keys, stats = tables(schema)
    prefix = {"warpstep-run-1": ["stats"], "warpstep-trace-1": ["kernels[]"]}.get(schema)
    patterns = [(key, pattern(key)) for key in keys]
    seen, wrong = set(), set()
    for name in files:
        doc = json.load(open(name))
        if doc.get("schema") != schema or list(doc)[0] != "schema":
            wrong.add(f"{name}: schema {doc.get('schema')}")
        for path, value in walk(doc, []):
            key = ".".join(path)
            row = statistic(path, prefix, stats) if prefix else None
            hits = [k for k, p in patterns if p.fullmatch(key)]
            if prefix and path[:len(prefix)] == prefix and path[len(prefix)] in GROUPS:
                if row is None:
                    wrong.add(f"{key} is printed, not documented")
                seen.update([".".join(path[:len(prefix) + 1]) + ".*", row])
            elif isinstance(value, list) and any(k.startswith(key + "[]") for k in keys):
                seen.update(hits)
            elif not hits:
                wrong.add(f"{key} is printed, not documented")
            else:
                seen.update(hits)
                if not any(fits(value, keys[k]) for k in hits):
                    wrong.add(f"{key}: {value!r} is not {' or '.join(keys[hits[0]])}")
    wanted = set(keys) | (stats if prefix else set())
    wrong.update(f"{key} is documented, not printed by any run" for key in wanted - seen)
    return sorted(wrong)


if __name__ == "__main__":
    found = check(sys.argv[1], sys.argv[2:])
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))
