#!/usr/bin/env python3
"""Compares the disassembly of `warpstep disasm` with that of NVIDIA's nvdisasm, word by word.

compare.py [--bin WARPSTEP] [--nvdisasm PROGRAM] [--samples N] FILE...

FILEs are cubins. Every different instruction word of their code (control information set aside) is
printed by both programs as a plain list of words, so that labels, symbols and relocations play no
part; only white space is made alike. For each target: words, different words, share printed alike
(weighted by how often a word occurs), and the differences grouped by mnemonic. Status 1: some differ.
"""
import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile

CONTROL = ((1 << 21) - 1) << 105
NEUTRAL = 1 << 105 | 7 << 110 | 7 << 113  # stall 1, no counters


def sections(image):
    """(name, type, bytes) of an ELF64 file."""
    (table,) = struct.unpack_from("<Q", image, 40)
    count, names = struct.unpack_from("<HH", image, 60)
    headers = [struct.unpack_from("<IIQQQQ", image, table + 64 * i) for i in range(count)]
    for name, kind, _, _, offset, size in headers:
        start = headers[names][4] + name
        yield image[start:image.index(b"\0", start)], kind, image[offset:offset + size]


def target_of(image):
    """sm number: e_flags bits 7:0, or 15:8 in files of ABI version 8."""
    (flags,) = struct.unpack_from("<I", image, 48)
    return flags >> 8 & 0xFF if image[8] >= 8 else flags & 0xFF


def collect(paths):
    """target -> {word: occurrences}"""
    found = {}
    for path in paths:
        with open(path, "rb") as file:
            image = file.read()
        if image[:4] != b"\x7fELF":
            sys.exit(f"{path}: not a cubin")
        words = found.setdefault(target_of(image), {})
        for name, kind, data in sections(image):
            if not name.startswith(b".text.") or kind == 8:
                continue
            for at in range(0, len(data) - 15, 16):
                word = int.from_bytes(data[at:at + 16], "little") & ~CONTROL | NEUTRAL
                words[word] = words.get(word, 0) + 1
    return found


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr.strip() or done.returncode}")
    return done.stdout.splitlines()


def oracle_lines(program, sm, path):
    suffix = "a" if sm >= 90 else ""
    lines = run([program, "--binary", f"SM{sm}{suffix}", path])
    lines = [re.match(r"\s*/\*[0-9a-f]+\*/\s*(.*)", line) for line in lines]
    return [" ".join(match.group(1).split()) for match in lines if match]


def our_lines(program, sm, path):
    lines = run([program, "disasm", "--words", "--no-ctrl", "--sm", str(sm), path])
    return [" ".join(line.split()[1:]) for line in lines]


def mnemonic(text):
    return re.sub(r"^@!?U?P\w+ ", "", text).split(" ")[0].split(".")[0]


def compare(options, sm, words):
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(b"".join(word.to_bytes(16, "little") for word in words))
        file.flush()
        theirs = oracle_lines(options.nvdisasm, sm, file.name)
        ours = our_lines(options.bin, sm, file.name)
    if len(ours) != len(words) or len(theirs) != len(words):
        sys.exit(f"sm_{sm}: {len(words)} words, {len(ours)} lines of ours, {len(theirs)} of theirs")
    groups, equal, total = {}, 0, sum(words.values())
    for (word, times), our, their in zip(words.items(), ours, theirs):
        if our == their:
            equal += times
        else:
            groups.setdefault(mnemonic(their), []).append((times, word, our, their))
    share = int(1e6 * equal / total) / 1e4
    print(f"sm_{sm}: {total} words, {len(words)} different, {share:.4f} % printed alike")
    for name, list_ in sorted(groups.items()):
        print(f"  {name}: {sum(entry[0] for entry in list_)} words")
        for _, word, our, their in list_[:options.samples]:
            print(f"    {word:032x}\n      ours   {our}\n      theirs {their}")
    return not groups


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/warpstep")
    parser.add_argument("--nvdisasm", default="nvdisasm")
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    found = collect([path for path in options.files if os.path.getsize(path)])
    results = [compare(options, sm, found[sm]) for sm in sorted(found) if found[sm]]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
