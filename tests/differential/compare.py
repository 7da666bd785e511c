#!/usr/bin/env python3
"""Compares the disassembly of `warpstep disasm` with that of NVIDIA's nvdisasm, word by word.

compare.py [--bin WARPSTEP] [--nvdisasm PROGRAM] [--samples N] FILE...

FILEs are cubins, or anything that holds some: fat binaries, objects, programs. Every
different instruction word of their code (control information but for the reuse bits set aside) is
printed by both programs as a plain list of words, so that labels, symbols and relocations play no
part; only white space is made alike. For each target: words, different words, share printed alike
(weighted by how often a word occurs), then the classes of differences: the mnemonic and what is
missing and added in our text, numbers replaced by #, with the most frequent words of each. Status 1:
some differ.
"""
import argparse
import ctypes
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

CONTROL = ((1 << 17) - 1) << 105  # stall, yield, counters, wait mask: all but the reuse bits
CUDA = 190  # e_machine
CONTAINER = struct.pack("<IHH", 0xBA55ED50, 1, 16)
SASS, ZSTD, LZ4 = 2, 0x8000, 0x2000  # kind and flags of its entries


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


def unpack(flags, data, size):
    """An entry of a fat binary as it was before compression; libzstd and liblz4 are warpstep's own needs."""
    if not flags & (ZSTD | LZ4):
        return data
    to = ctypes.create_string_buffer(size)
    if flags & ZSTD:
        zstd = ctypes.CDLL("libzstd.so.1")
        zstd.ZSTD_findFrameCompressedSize.restype = zstd.ZSTD_decompress.restype = ctypes.c_size_t
        frame = zstd.ZSTD_findFrameCompressedSize(data, ctypes.c_size_t(len(data)))
        zstd.ZSTD_decompress(to, ctypes.c_size_t(size), data, ctypes.c_size_t(frame))
    else:
        ctypes.CDLL("liblz4.so.1").LZ4_decompress_safe_partial(data, to, len(data), size, size)
    return to.raw


def entries(data, at):
    """The cubins of the fat binary at an offset."""
    (size,) = struct.unpack_from("<Q", data, at + 8)
    end = min(at + 16 + size, len(data) - 64)
    at += 16
    while at < end:
        kind, _, header, padded, packed = struct.unpack_from("<HHIQI", data, at)
        flags, _, plain = struct.unpack_from("<QQQ", data, at + 40)
        if kind == SASS:
            yield unpack(flags, data[at + header:at + header + (packed or padded)], plain)
        at += header + padded


def images(data):
    """The cubins in a file: itself, or those of the fat binaries in it, wherever they lie."""
    if data[:4] == b"\x7fELF" and data[18:20] == struct.pack("<H", CUDA):
        yield data
        return
    at = data.find(CONTAINER)
    while at >= 0:
        yield from entries(data, at)
        at = data.find(CONTAINER, at + 1)


def count_words(image, words):
    """Adds the code of a cubin to {word without control: [occurrences, a whole word]}."""
    for name, kind, data in sections(image):
        if not name.startswith(b".text.") or kind == 8:
            continue
        for at in range(0, len(data) - 15, 16):
            word = int.from_bytes(data[at:at + 16], "little")
            words.setdefault(word & ~CONTROL, [0, word])[0] += 1


def files(paths):
    """A folder stands for the cubins, fat binaries and objects in it."""
    for path in map(pathlib.Path, paths):
        inside = sorted(path.rglob("*")) if path.is_dir() else []
        yield from [file for file in inside if file.suffix in (".cubin", ".fatbin", ".o")] if inside else [path]


def collect(paths):
    """target -> {word without control: [occurrences, a whole word]}"""
    found = {}
    for path in files(paths):
        for image in images(path.read_bytes()):
            count_words(image, found.setdefault(target_of(image), {}))
    return found


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr.strip() or done.returncode}")
    return done.stdout.splitlines()


def plain(text):
    return " ".join(text.replace(";", " ;").replace("] [", "][").split())


def oracle_lines(program, sm, path):
    suffix = "a" if sm >= 90 else ""
    lines = run([program, "--binary", f"SM{sm}{suffix}", path])
    lines = [re.match(r"\s*/\*[0-9a-f]+\*/\s*(.*)", line) for line in lines]
    return [plain(match.group(1)) for match in lines if match]


def our_lines(program, sm, path):
    lines = run([program, "disasm", "--words", "--no-ctrl", "--sm", str(sm), path])
    return [plain(line.split(maxsplit=1)[1]) for line in lines]


def mnemonic(text):
    return re.sub(r"^@!?U?P\w+ ", "", text).split(" ")[0].split(".")[0]


def tokens(text):
    return re.findall(r"[.A-Za-z_]+[0-9A-Za-z_.]*|[^A-Za-z_.\s]+", text)


def difference(our, their):
    """What their text has and ours lacks, and the reverse, without numbers."""
    lacks = [t for t in tokens(their) if t not in tokens(our)]
    adds = [t for t in tokens(our) if t not in tokens(their)]
    shape = [re.sub(r"0x[0-9a-f]+|[0-9]+", "#", " ".join(part)) for part in (lacks, adds)]
    return f"{mnemonic(their)}: -[{shape[0]}] +[{shape[1]}]" if any(shape) else f"{mnemonic(their)}: order"


def report(groups, samples):
    for name, group in sorted(groups.items(), key=lambda item: -sum(entry[0] for entry in item[1])):
        print(f"  {sum(entry[0] for entry in group)} words, {name}")
        for _, word, our, their in sorted(group, reverse=True)[:samples]:
            print(f"    {word:032x}\n      ours   {our}\n      theirs {their}")


def compare(options, sm, words):
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(b"".join(word.to_bytes(16, "little") for _, word in words.values()))
        file.flush()
        theirs = oracle_lines(options.nvdisasm, sm, file.name)
        ours = our_lines(options.bin, sm, file.name)
    if len(ours) != len(words) or len(theirs) != len(words):
        sys.exit(f"sm_{sm}: {len(words)} words, {len(ours)} lines of ours, {len(theirs)} of theirs")
    groups, equal, total = {}, 0, 0
    for (times, word), our, their in zip(words.values(), ours, theirs):
        total += times
        if our == their:
            equal += times
        else:
            groups.setdefault(difference(our, their), []).append((times, word, our, their))
    share = int(1e6 * equal / total) / 1e4
    print(f"sm_{sm}: {total} words, {len(words)} different, {share:.4f} % printed alike")
    report(groups, options.samples)
    return not groups


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/warpstep")
    parser.add_argument("--nvdisasm", default="nvdisasm")
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    found = collect(options.files)
    results = [compare(options, sm, found[sm]) for sm in sorted(found) if found[sm]]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
