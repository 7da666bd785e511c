#!/usr/bin/env python3
"""Live registers of `warpstep disasm --live` against those of nvdisasm --print-life-ranges.

usage: compare.py WARPSTEP NVDISASM CUBIN... [--show N] [--least PERCENT]

Counts instructions whose four numbers (registers, predicates, uniform registers, uniform predicates) are the same, in code
sections without calls and in sections with them: there nvdisasm does not look into the functions, so both differ by
their rules (docs/annotate.md). Exits with 1 when fewer than --least per cent agree in sections without calls.
"""
import argparse
import collections
import re
import subprocess
import sys

COLUMNS = {"GPR": 0, "UGPR": 1, "PRED": 2, "UPRED": 3}
LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)//\s*\|(.*)\|\s*$")


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def oracle(nvdisasm, cubin):
    """{section: {offset: (numbers, text)}}"""
    text = output(nvdisasm, "--life-range-mode", "narrow", "-c", cubin)
    if text is None:
        return None
    sections, now, heads = collections.defaultdict(dict), None, []
    for line in text.splitlines():
        head = re.match(r"^//-+ (\.text\S*)", line)
        if head:
            now, heads = sections[head.group(1)[len(".text."):]], []
        if not heads and "// |" in line and "GPR" in line:
            heads = [COLUMNS[c.strip()] for c in line.split("// |")[1].rstrip().rstrip("|").split("|")]
        found = LINE.match(line)
        if now is None or not found or not heads:
            continue
        numbers = [0, 0, 0, 0]
        for column, cell in zip(heads, found.group(3).split("|")):
            number = cell.split()
            numbers[column] = int(number[0]) if number and number[0].isdigit() else 0
        now[int(found.group(1), 16)] = (tuple(numbers), found.group(2).strip())
    return sections


def ours(warpstep, cubin):
    """[(function, {offset: numbers})]: functions in the order of the file."""
    functions, now = [], None
    for line in output(warpstep, "disasm", "--live", "--no-ctrl", cubin).splitlines():
        if re.match(r"^\S.*:$", line):
            now = {}
            functions.append((line[:-1], now))
        found = re.match(r"^  ([0-9a-f]{4,})\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)  ", line)
        if found:
            now[int(found.group(1), 16)] = tuple(int(found.group(i)) for i in range(2, 6))
    return functions


def sections_of(functions, known):
    """Functions that follow one that names a section lie in it."""
    sections, now = {}, None
    for name, code in functions:
        if name in known:
            now = sections.setdefault(name, {})
        if now is not None:
            now.update(code)
    return sections


def main():
    p = argparse.ArgumentParser()
    p.add_argument("warpstep")
    p.add_argument("nvdisasm")
    p.add_argument("cubins", nargs="+")
    p.add_argument("--show", type=int, default=0)
    p.add_argument("--least", type=float, default=0)
    a = p.parse_args()
    same, total = collections.Counter(), collections.Counter()
    for cubin in a.cubins:
        theirs = oracle(a.nvdisasm, cubin)
        if theirs is None:
            continue
        mine = sections_of(ours(a.warpstep, cubin), theirs)
        for section, lines in theirs.items():
            calls = any("CALL" in text or "RET." in text for _, text in lines.values())
            for at, (numbers, text) in sorted(lines.items()):
                total[calls] += 1
                we = mine.get(section, {}).get(at)
                same[calls] += we == numbers
                if we != numbers and a.show and not calls:
                    a.show -= 1
                    print(f"{cubin} {section}+{at:#x}: we {we}, nvdisasm {numbers}: {text}")
    for calls, what in ((False, "without calls"), (True, "with calls")):
        if total[calls]:
            print(f"{what}: {same[calls]} of {total[calls]} instructions, {100 * same[calls] / total[calls]:.2f} %")
    if not total[False] or 100 * same[False] < a.least * total[False]:
        sys.exit(1)


if __name__ == "__main__":
    main()
