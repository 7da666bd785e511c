#!/usr/bin/env python3
"""tags.py: a struct, union or enum that a header of src/ shows has its tag for itself: no other file of src/ defines one of the same
name. (Tags that two .c files have for themselves may be alike.)
"""
import collections
import pathlib
import re
import sys


def main():
    where = collections.defaultdict(list)
    for path in sorted(pathlib.Path("src").rglob("*.[ch]")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        for tag in re.findall(r"^(?:static |const |typedef )*(?:struct|union|enum) (\w+)\s*\{", text, re.M):
            where[tag].append(str(path))
    wrong = [f"tag {t} has several meanings: {', '.join(f)}" for t, f in sorted(where.items())
             if len(f) > 1 and any(name.endswith(".h") for name in f)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
