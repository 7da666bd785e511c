#!/usr/bin/env python3
"""globals.py BUILD: no writable global. Looks at the sections of the objects, not at nm's letters:
const tables of pointers lie in .data.rel.ro, which is fine."""
import pathlib
import re
import subprocess
import sys

# The CUDA interfaces have no handle that could carry the shim's one pointer.
ALLOWED = {"src/cuda/core/process.o": ["the_shim"],
           # Handles of cuFFT's plans are ints.
           "src/libs/cufft/fft_plans.o": ["the_plans"],
           # Tables of directions are asked for without a generator.
           "src/libs/curand/rand_directions.o": ["the_directions"],
           # cublas.h has no handle: one for the process.
           "src/libs/cublas/blas_legacy.o": ["the_legacy"],
           # Where a thread goes when memory runs out: of the thread, not of any simulation.
           "src/base/host_memory.o": ["innermost"],
           # malloc has no argument that could say whose memory is wanted.
           "src/cli/region.o": ["in_use"]}
WRITABLE = re.compile(r"^\.(data|bss|tdata|tbss)(?!\.rel\.ro)")


def sections(obj):
    out = subprocess.run(["objdump", "-h", obj], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        f = line.split()
        if len(f) >= 3 and f[0].isdigit():
            yield f[1], int(f[2], 16)


def symbols(obj):
    out = subprocess.run(["nm", obj], capture_output=True, text=True, check=True).stdout
    return [line.split()[-1] for line in out.splitlines() if line.split()[-2] in "dDbBC"]


def main():
    bad = False
    for obj in sorted(pathlib.Path(sys.argv[1], "src").rglob("*.o")):
        name = obj.relative_to(sys.argv[1])
        if not name.with_name(name.name.split(".")[0] + ".c").exists():
            continue  # of a source that has moved
        found = [name for name, size in sections(obj) if size and WRITABLE.match(name)]
        if found and symbols(obj) != ALLOWED.get(str(name)):
            print(f"{obj}: writable section {', '.join(found)}: {', '.join(symbols(obj))}")
            bad = True
    return bad


if __name__ == "__main__":
    sys.exit(main())
