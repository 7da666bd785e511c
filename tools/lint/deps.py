#!/usr/bin/env python3
"""Dependency rule: which folder of src/ may include which, which folder of src/cuda/, and which block of src/time/ which.

base <- config, stats, isa <- load, func, time, trace <- host <- sanitize <- view, api; view <- debug, ncu <- cuda, cli. func and time never include
each other. A block of src/time/ includes its own header, base, isa, stats, config and message
headers; blocks.txt names the headers that several blocks share and the parts a block is made of.
The netlist sees everything.

An instruction set is named where its code is loaded and executed, where CUDA programs and those of Linux run or are debugged, and by what is about it alone
(NAMES_SETS): all others know instructions by isa/inst.h, isa/isa.h and isa/step.h.
"""
import pathlib
import re
import sys

LOW = {"base", "config", "stats", "isa"}
MAY = {
    "base": {"base"},
    "config": {"base", "config", "isa"},  # one preset key for each latency class and pipe
    "stats": {"base", "stats"},
    "isa": {"base", "isa"},
    "load": LOW | {"load"},
    "func": LOW | {"func"},
    "time": LOW | {"time"},
    "trace": LOW | {"load", "trace"},
    "sanitize": LOW | {"load", "func", "host", "sanitize"},
    "host": LOW | {"load", "func", "time", "trace", "host", "warpstep"},
    "view": LOW | {"load", "func", "time", "host", "view", "warpstep"},
    "debug": LOW | {"load", "func", "host", "view", "debug"},
    "ncu": LOW | {"load", "func", "time", "host", "view", "ncu"},
    "api": LOW | {"load", "func", "time", "host", "view", "api", "warpstep"},
    "cuda": LOW | {"load", "func", "time", "trace", "host", "sanitize", "view", "debug", "ncu", "cuda"},
    "smi": {"smi", "cuda"},  # a program that asks NVML
    "libs": {"libs"},  # programs of the simulated GPU, too: all they know is the driver interface
    "probe": LOW | {"load", "func", "time", "host", "probe"},
    "validate": {"base", "load", "validate"},
    "study": {"base", "config", "study", "warpstep"},
    "cli": LOW | {"load", "func", "time", "trace", "host", "view", "probe", "validate", "study", "sanitize", "debug", "ncu", "cli", "warpstep"},
}
SETS = ("isa/sass/", "func/sass/", "isa/rv64/", "func/rv64/")
# sanitize: what instructions mean for its checks is asked in watched.h; cli: disassembler, assembler's check, list of
# instructions.
NAMES_SETS = (*SETS, "host/linux/", "load/", "cuda/", "debug/", "sanitize/watched.h", "sanitize/finding.h",
              "cli/cmd_disasm.c", "cli/cmd_isa.c", "cli/isa_check.c")
CUDA = {"core": {"core"}, "driver": {"core", "driver"}, "runtime": {"core", "runtime"}, "nvml": {"core", "nvml"},
        "cupti": {"core", "cupti"},
        "guest": {"core", "driver", "runtime", "guest"}}
# Programs of a simulated CPU run in this process, and so does their CUDA.
ALSO = {("cli/exec_rv64.c", "cuda/guest/cuda_guest.h")}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
STAT_DEF = re.compile(r'^\s*#\s*define\s+STAT_DEF\s+"([^"]+)"', re.M)


def read_blocks(path):
    """blocks.txt: the shared headers, and for each block (path without suffix) its parts."""
    shared, parts = set(), {}
    for line in path.read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "shared":
            shared.update(words[1:])
        elif words[0] == "block":
            parts.setdefault(words[1], set()).update(words[2:])
        else:
            sys.exit(f"{path}: unknown line: {line}")
    return shared, parts


def block_may_include(block, header, shared, parts):
    if header.count("/") == 1:  # time/*.h: the engine and its messages
        return True
    stem = header.rsplit(".", 1)[0]
    if stem == block or header in shared:
        return True
    return header in parts.get(block, set())


def cuda_may_include(name, header):
    folder = name.split("/")[1]
    return folder not in CUDA or header.split("/")[1] in CUDA[folder]


def main():
    root = pathlib.Path("src")
    shared, parts = read_blocks(pathlib.Path("tools/lint/blocks.txt"))
    bad = []
    for path in sorted(root.rglob("*.[ch]")):
        name = path.relative_to(root).as_posix()
        layer = name.split("/")[0]
        text = path.read_text()
        for header in INCLUDE.findall(text) + STAT_DEF.findall(text):
            target = header.split("/")[0]
            if "/" not in header or target not in MAY.keys() | {"warpstep"}:
                bad.append(f"{path}: include \"{header}\" by its path from src/ or include/")
            elif target not in MAY.get(layer, set()) and (name, header) not in ALSO:
                bad.append(f"{path}: {layer}/ must not include \"{header}\"")
            elif header.startswith(SETS) and not name.startswith(NAMES_SETS):
                bad.append(f"{path}: include \"{header}\": only an instruction set's own folders, load/, cuda/ and debug/ name it "
                           "(isa/isa.h)")
            elif layer == target == "cuda" and not cuda_may_include(name, header):
                bad.append(f"{path}: {name.split('/')[1]}/ of src/cuda/ must not include \"{header}\"")
            elif layer == "time" and target == "time" and not re.search(r"/netlist\.[ch]$", name):
                block = name.rsplit(".", 1)[0]
                if not block_may_include(block, header, shared, parts):
                    bad.append(f"{path}: block includes \"{header}\" of another block "
                               "(tools/lint/blocks.txt says which are shared)")
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
