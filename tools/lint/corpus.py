#!/usr/bin/env python3
"""The size of the corpus (kernels with a launch file, their cubins for the targets that tests/run.sh runs) is what documents say it is.

corpus.py            prints the documents that say something else; status 1 when any does
corpus.py --update   writes the numbers into them
"""
import pathlib
import re
import sys

PAIRED = (75, 80, 86, 90, 100, 120)  # the targets of docs/blocks/hazard.md's count of pairs
PHRASES = (r"corpus of (?P<kernels>\d+) kernels", r"(?P<kernels>\d+) kernels of the corpus",
           r"\((?P<kernels>\d+) kernels, (?P<pairs>\d+) pairs on", r"all (?P<pairs>\d+) give the results",
           r"\| `kernels/` \| (?P<kernels>\d+) \|")


def main():
    folders = [p.parent for p in sorted(pathlib.Path("kernels").glob("*/*.launch"))]
    size = {"kernels": len(set(folders)),
            "pairs": sum((f / f"{f.name}.sm_{t}.cubin").exists() for f in set(folders) for t in PAIRED)}
    update, status, seen = "--update" in sys.argv[1:], 0, set()
    for page in [pathlib.Path("README.md"), *sorted(pathlib.Path("docs").rglob("*.md"))]:
        text = now = page.read_text()
        for phrase in PHRASES:
            for found in re.finditer(phrase, text):
                seen.add(phrase)
                right = found.group()
                for what, number in found.groupdict().items():
                    right = right.replace(number, str(size[what]))
                if right != found.group() and not update:
                    print(f"{page}: '{found.group()}', but there are {size['kernels']} kernels and {size['pairs']} pairs")
                    status = 1
                now = now.replace(found.group(), right)
        if update and now != text:
            page.write_text(now)
    for phrase in PHRASES:
        if phrase not in seen:
            print(f"no document says '{phrase}' any more: take it out of tools/lint/corpus.py")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
