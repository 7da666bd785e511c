#!/usr/bin/env python3
"""Varies every field of every instruction and compares our disassembly with nvdisasm's.

modifiers.py [--bin WARPSTEP] [--nvdisasm PROGRAM] [--sm N]... [--seeds N] [--window BITS] [--samples N] FILE...

Seeds are words that decode: of each opcode some with different modifiers from the cubins in FILEs (see compare.py), and,
where a target has none, those of the other targets. In each seed every run of --window neighbouring bits
outside the opcode and the scheduling counters takes every value: guards, registers, kinds of operands, negation,
reuse bits, modifiers. nvdisasm says which of these words exist; of them, the classes

  foreign  the seed is another target's code and we do not decode it for this one
  unread   we do not decode it, although its text differs from the seed's
  text     we print something else
  ignored  (counted only) we do not decode a word whose text is the seed's: a bit that says nothing

are listed by mnemonic, changed bits and what differs. A class is a question, not an answer: what a row accepts is settled
by compiler output. Status 1: some differ.
"""
import argparse
import re
import subprocess
import sys
import tempfile

import compare

FREE = [bit for bit in range(12, 128) if bit != 91 and not 105 <= bit <= 121]  # no opcode, no counters
UNKNOWN = re.compile(r"INVALID|\?|error|undef|UNDEF|RESERVED|ILLEGAL", re.I)
NO_YIELD = 1 << 109  # nvdisasm writes .reuse only with it, and nvcc sets reuse bits only with it
BATCH = 1 << 16
NOP = 0x000FC000000000000000000000007918  # keeps the place of a word that is no instruction


def opcode(word):
    return word & 0xFFF | (word >> 91 & 1) << 12


def spread(words, count):
    """Up to `count` words of a list with as many different bits among them as a greedy choice finds."""
    chosen = words[:1]
    while len(chosen) < min(count, len(words)):
        chosen.append(max(words, key=lambda word: min(bin((word ^ other) & compare_mask()).count("1") for other in chosen)))
    return chosen


def compare_mask():
    """Bits that distinguish forms: modifiers, not registers, constants and counters."""
    return ((1 << 91) - (1 << 72)) | 0xF000 | 7 << 122


def seeds(found, sm, count):
    """{opcode: words}; those of other targets stand in for what this target's code lacks."""
    chosen = {}
    for target in sorted(found, key=lambda other: (other != sm, abs(other - sm))):
        here = {}
        for _, word in found[target].values():
            here.setdefault(opcode(word), []).append(word | NO_YIELD)
        for code, words in here.items():
            chosen.setdefault(code, spread(words, count))
    return chosen


def variants(word, window):
    """Every value of every run of `window` free bits, the word itself first."""
    seen = {word: None}
    for at in range(len(FREE)):
        bits = [bit for bit in FREE[at:at + window]]
        clear = word & ~sum(1 << bit for bit in bits)
        for value in range(1 << len(bits)):
            seen.setdefault(clear | sum(1 << bit for i, bit in enumerate(bits) if value >> i & 1))
    return list(seen)


def their_lines(program, sm, words):
    """{word: their text}; without those that are no instruction, which the program names or leaves out."""
    alive, bad_words = list(words), set()
    while True:
        with tempfile.NamedTemporaryFile(suffix=".bin") as file:
            file.write(b"".join(word.to_bytes(16, "little") for word in alive))
            file.flush()
            done = subprocess.run([program, "--binary", f"SM{sm}{'a' if sm >= 90 else ''}", file.name],
                                  capture_output=True, text=True)
        if done.returncode == 0:
            break
        bad = {int(at, 16) // 16 for at in re.findall(r"at address (0x[0-9a-f]+)", done.stderr)}
        if not bad:
            sys.exit(f"{program}: {done.stderr.strip()}")
        bad_words.update(alive[i] for i in bad)
        alive = [NOP if i in bad else word for i, word in enumerate(alive)]
    lines = [re.match(r"\s*/\*([0-9a-f]+)\*/\s*(.*)", line) for line in done.stdout.splitlines()]
    return {words[int(line.group(1), 16) // 16]: compare.plain(line.group(2)) for line in lines
            if line and words[int(line.group(1), 16) // 16] not in bad_words}


def our_lines(program, sm, words):
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(b"".join(word.to_bytes(16, "little") for word in words))
        file.flush()
        lines = compare.our_lines(program, sm, file.name)
    if len(lines) != len(words):
        sys.exit(f"sm_{sm}: {len(words)} words, {len(lines)} lines of ours")
    return dict(zip(words, lines))


RELATIVE = re.compile(r"\b(BRA|BSSY|CALL|RET|JMP|LEPC)\b")


def apart(text, place):
    """Text of a branch with its target as a distance, to compare words in different places."""
    if not RELATIVE.search(text):
        return text
    return re.sub(r"0x[0-9a-f]+(?= ;)", lambda number: hex(int(number.group(), 16) - place & 0xFFFFFFFFFFFFFFFF), text)


def bits_of(difference):
    return [bit for bit in range(128) if difference >> bit & 1]


class Result:
    def __init__(self):
        self.counts = dict.fromkeys(("words", "exist", "alike", "ignored", "foreign", "unread", "text"), 0)
        self.groups = {}

    def note(self, kind, changed, word, our, their):
        shape = compare.difference(our, their) if kind == "text" else compare.mnemonic(their)
        group = self.groups.setdefault((kind, f"{opcode(word):04x}", shape), {})
        group.setdefault(tuple(changed), (word, our, their))

    def judge(self, seed, word, our, their, same, known):
        self.counts["words"] += 1
        if their is None or UNKNOWN.search(their):
            return
        self.counts["exist"] += 1
        kind = "alike"
        if not known:
            kind = "foreign"
        elif our.startswith("?."):
            kind = "ignored" if same else "unread"
        elif our != their:
            kind = "text"
        self.counts[kind] += 1
        if kind in ("foreign", "unread", "text"):
            self.note(kind, bits_of(seed ^ word), word, our, their)


def examine(options, sm, chosen):
    """Batches of the variants of a target's seeds through both programs."""
    result, batch = Result(), []
    for words in chosen:
        for seed in words:
            batch += [(seed, word) for word in variants(seed, options.window)]
        if len(batch) > BATCH:
            judge_batch(options, sm, batch, result)
            batch = []
    judge_batch(options, sm, batch, result)
    return result


def judge_batch(options, sm, batch, result):
    words = list(dict.fromkeys(word for _, word in batch))
    place = {word: 16 * i for i, word in enumerate(words)}
    if not words:
        return
    theirs, ours = their_lines(options.nvdisasm, sm, words), our_lines(options.bin, sm, words)
    for seed, word in batch:
        if seed in theirs:
            their = theirs.get(word)
            same = their and apart(their, place[word]) == apart(theirs[seed], place[seed])
            result.judge(seed, word, ours[word], their, same, not ours[seed].startswith("?."))


def report(sm, result, samples):
    counts = result.counts
    print(f"sm_{sm}: " + ", ".join(f"{value} {name}" for name, value in counts.items()))
    for (kind, code, shape), group in sorted(result.groups.items()):
        fewest = sorted(group, key=len)
        common = sorted({bit for changed in fewest if len(changed) == len(fewest[0]) for bit in changed})
        print(f"  {kind} {code} {shape}: {len(group)} changes, bits {common}")
        for changed in fewest[:samples]:
            word, our, their = group[changed]
            print(f"    {word:032x} {list(changed)}\n      ours   {our}\n      theirs {their}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/warpstep")
    parser.add_argument("--nvdisasm", default="nvdisasm")
    parser.add_argument("--sm", type=int, action="append")
    parser.add_argument("--seeds", type=int, default=2, help="words of each opcode")
    parser.add_argument("--window", type=int, default=1, help="neighbouring bits varied together")
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    found = compare.collect(options.files)
    wrong = False
    for sm in options.sm or sorted(found):
        result = examine(options, sm, list(seeds(found, sm, options.seeds).values()))
        report(sm, result, options.samples)
        wrong |= bool(result.groups)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
