#!/usr/bin/env python3
"""Lists the opcodes that the tables have for some targets and lack for older ones.

opcodes.py [--nvdisasm PROGRAM] [FILE...]
opcodes.py --nvdisasm PROGRAM --unknown N...

Reads src/isa/sass/opcodes.def. For each opcode whose targets do not begin with the oldest: name, targets that have it and,
with --nvdisasm, the older ones for which nvdisasm prints a word of it (FILEs: cubins to take words from, see
tests/differential/compare.py; opcodes without one are tried with made-up words). These are the ones to provoke by compiling
code: what nvdisasm prints is where to look, what ptxas emits is what counts.

With --unknown: the opcodes that nvdisasm prints for each target sm_N and for which the tables have no row there, by
mnemonic, one with * where no row of the target has that mnemonic (10 s each).
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/differential"))
import compare  # noqa: E402
import modifiers  # noqa: E402

TARGETS = (75, 80, 86, 89, 90, 100, 110, 120)
NO_BARRIERS = 63 << 110 | 1 << 105  # without them nvdisasm knows no instruction of fixed latency
FILLS = (0, (1 << 91) - (1 << 81), 255 << 64, 255 << 64 | (1 << 91) - (1 << 81), 63 << 32, 255 << 16 | 255 << 24)


def ranges(source):
    """{macro: (first, last)} of the #defines that name targets."""
    found = {"SM75": (75, 121)}
    for name, body in re.findall(r"#define (\w+) (SM\(\d+, \d+\))", source):
        found[name] = tuple(map(int, re.findall(r"\d+", body)))
    return found


def forms(source):
    """{macro: mask of forms} of the F_ macros."""
    found = {}
    for name, body in re.findall(r"#define (F_\w+) \(?(.*?)\)?\s*(?:/\*.*)?$", source, re.M):
        found[name] = mask(body, found)
    return found


def mask(text, known):
    bits = sum(1 << int(n) for n in set(re.findall(r"FORM\((\d+)\)", text)))
    for name in re.findall(r"F_\w+", text):
        bits |= known[name]
    return bits


def opcodes_of(text, known):
    exact = re.match(r"OP\((0x[0-9a-f]+)\)", text)
    if exact:
        return [int(exact.group(1), 16)]
    base, which = re.match(r"\w+\((0x[0-9a-f]+), (.*)\)$", text).groups()
    return [int(base, 16) | (form & 7) << 9 | form >> 3 << 12 for form in range(16) if mask(which, known) >> form & 1]


def rows():
    """(name, first target, last target, opcode) of every row and form."""
    macros = (ROOT / "src/isa/sass/rows.c").read_text()
    targets, known = ranges(macros), forms(macros)
    text = re.sub(r"\s+", " ", (ROOT / "src/isa/sass/opcodes.def").read_text())
    row = r'"([^"]+)", (SM\(\d+, \d+\)|\w+), (OP\(0x[0-9a-f]+\)|(?:ALU|U)\(0x[0-9a-f]+, (?:[^()]|\([^()]*\))*\))'
    for name, which, number in re.findall(row, text):
        first, last = map(int, re.findall(r"\d+", which)) if which.startswith("SM(") else targets[which]
        for code in opcodes_of(number, known):
            yield name, first, last, code


def candidates():
    """{opcode: (names, targets that have it)} of what an older target lacks."""
    table = {}
    for name, first, last, code in rows():
        names, have = table.setdefault(code, (set(), set()))
        names.add(name)
        have.update(sm for sm in TARGETS if first <= sm <= last)
    return {code: entry for code, entry in table.items() if entry[1] and min(entry[1]) > TARGETS[0]}


def by_opcode(found):
    """{opcode: words}"""
    table = {}
    for words in found.values():
        for _, word in words.values():
            table.setdefault(modifiers.opcode(word), []).append(word)
    return table


def words_of(code, found):
    made = [code & 0xFFF | code >> 12 << 91 | 7 << 12 | fill & ~(1 << 91) | modifiers.NO_YIELD for fill in FILLS]
    return found.get(code, [])[:20] + made


def unknown(program, sm):
    """Prints what nvdisasm knows of a target beyond the tables."""
    have, ours = set(), set()
    for name, first, last, code in rows():
        if first <= sm <= last:
            have.add(code)
            ours.add(name.partition(".")[0])
    words = {word | NO_BARRIERS: code for code in range(1 << 13) if code not in have for word in words_of(code, {})}
    found = {}
    for word, text in modifiers.their_lines(program, sm, list(words)).items():
        if not modifiers.UNKNOWN.search(text):
            mnemonic = re.sub(r"^@\S+ ", "", text).split()[0].partition(".")[0]
            found.setdefault(mnemonic, {}).setdefault(words[word], text)
    for mnemonic, texts in sorted(found.items()):
        numbers = " ".join(f"{code:04x}" for code in texts)
        print(f"sm_{sm} {mnemonic}{'' if mnemonic in ours else '*'} {numbers}: {next(iter(texts.values()))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nvdisasm")
    parser.add_argument("--unknown", type=int, nargs="+", metavar="N")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    if options.unknown:
        for sm in options.unknown:
            unknown(options.nvdisasm, sm)
        return 0
    found = by_opcode(compare.collect(options.files))
    for code, (names, have) in sorted(candidates().items()):
        older = [sm for sm in TARGETS if sm < min(have)]
        line = f"{code:04x} {' '.join(sorted(names))}: sm_{', '.join(map(str, sorted(have)))}"
        for sm in older if options.nvdisasm else ():
            theirs = modifiers.their_lines(options.nvdisasm, sm, words_of(code, found))
            plain = [text for text in theirs.values() if not modifiers.UNKNOWN.search(text)]
            line += f"; sm_{sm}: {plain[0]}" if plain else ""
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
