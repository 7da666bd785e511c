#!/usr/bin/env python3
"""The tables of entry points against the headers and the runtime library of an installed toolkit.

    tests/cuda/entries.py [--list] [--include DIR]

Every entry point that src/cuda/driver/driver.def claims must be one of cuda.h in the version that cudaTypedefs.h gives it, every version
there must be in the table, and what is defined here must take as many arguments as cuda.h says. --list: those of cuda.h that the
table lacks (cuGetProcAddress: CUDA_ERROR_NOT_FOUND; linked programs do not start, the loader names the symbol). Every name that the
toolkit's libcudart.so has must be in src/cuda/runtime/runtime.def: a static runtime's function that is not would ask a driver that is not
there. Without a toolkit it is skipped.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
UNTYPED = ("cuProfilerInitialize", "cuProfilerStart", "cuProfilerStop")  # of cudaProfiler.h, which has no types of them
GRAPHICS = ("cuGraphicsGLRegisterBuffer", "cuGraphicsGLRegisterImage")  # of cudaGL.h, which needs OpenGL's; none is served
ENTRY = re.compile(r"^(SERVED|MISSING)\((\w+), (\w+), (\d+)\)", re.M)
PROTOTYPE = re.compile(r"\bCUresult\s+(cu[A-Z]\w*)\s*\(")


def table(text):
    return [(kind == "SERVED", name, symbol, int(version)) for kind, name, symbol, version in ENTRY.findall(text)]


def preprocessed(source, include, *flags):
    return subprocess.run(["cc", "-E", "-P", *flags, "-I", include, "-x", "c", "-"], input=source, capture_output=True, text=True, check=True).stdout


def parameters(text):
    """Of a parameter list that begins at `text`: one string each, and what comes behind it."""
    parts, depth = [""], 0
    for i, c in enumerate(text):
        if c == ")" and not depth:
            parts = [p.strip() for p in parts]
            return [] if parts in ([""], ["void"]) else parts, text[i + 1:i + 20].lstrip()
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [], ""


def prototypes(text, end):
    """name -> parameters of the functions that are declared (end ";") or defined ("{")."""
    found = ((m[1], *parameters(text[m.end():])) for m in PROTOTYPE.finditer(text))
    return {name: args for name, args, behind in found if behind.startswith(end)}


def typedefs(include):
    """{(name, version)} of cudaTypedefs.h; the forms of a thread's own stream have names of their own."""
    text = (pathlib.Path(include) / "cudaTypedefs.h").read_text()
    return {(n, int(v)) for n, v in re.findall(r"\bPFN_(cu[A-Z]\w*?)_v(\d+)(?:_pt[sd][zs])?\)", text)}


def plain(name):
    """The name in cudaTypedefs.h of a form for a thread's own stream."""
    return re.sub(r"(_v\d+)?_pt[sd][zs]$", "", name)


def wrong(entries, declared, known, defined, newest):
    """What is wrong, a line each. newest: CUDA_VERSION of the header, which does not know later entry points."""
    for served, name, symbol, version in entries:
        if symbol not in declared and version > newest:
            continue
        if symbol in GRAPHICS and not served:
            continue
        if symbol not in declared:
            yield f"{symbol}: no such entry point in cuda.h"
        elif (plain(name), version) not in known and symbol not in UNTYPED:
            yield f"{name} of version {version}: not in cudaTypedefs.h, which has {sorted(v for n, v in known if n == plain(name))}"
        elif served and symbol not in defined:
            yield f"{symbol}: served, and no definition found"
        elif served and len(defined[symbol]) != len(declared[symbol]):
            yield f"{symbol}: {len(defined[symbol])} parameters here, {len(declared[symbol])} in cuda.h"
    have = {(plain(name), version) for _, name, _, version in entries}
    for name, version in sorted(known - have):  # an older version would be given in its place, with other parameters
        yield f"{name} of version {version}: not in the table"


def runtime_lacks(include):
    """Names of the toolkit's runtime library that runtime.def has not."""
    library = pathlib.Path(include).parent / "lib64/libcudart.so"
    if not library.exists():
        return []
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
    names = {line.split()[2].split("@")[0] for line in lines if line.split()[1] == "T"}
    here = re.findall(r"^(?:SERVED|MISSING)\((\w+)\)", (ROOT / "src/cuda/runtime/runtime.def").read_text(), re.M)
    return sorted(names - set(here))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--include", default=os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/include", help="folder with cuda.h")
    p.add_argument("--list", action="store_true", help="print what the table lacks")
    o = p.parse_args()
    if not os.path.exists(f"{o.include}/cudaTypedefs.h"):
        print(f"ok entry points # SKIP no cuda.h in {o.include}")
        return 0
    # all versions of an entry point under their own names, as the driver's library has them
    header = preprocessed("#define __CUDA_API_VERSION_INTERNAL\n#include <cuda.h>\n#include <cudaProfiler.h>\n", o.include, f"-I{ROOT}/src")
    declared, known = prototypes(header, ";"), typedefs(o.include)
    defined = {}
    for source in sorted((ROOT / "src/cuda/driver").glob("*.c")):
        defined |= prototypes(preprocessed(source.read_text(), f"{ROOT}/src", f"-I{ROOT}/include", "-D_GNU_SOURCE"), "{")
    entries = table((ROOT / "src/cuda/driver/driver.def").read_text())
    lacking = sorted(set(declared) - {symbol for _, _, symbol, _ in entries})
    if o.list:
        print("\n".join(lacking))
    newest = int(re.search(r"#define CUDA_VERSION (\d+)", (pathlib.Path(o.include) / "cuda.h").read_text())[1])
    bad = list(wrong(entries, declared, known, defined, newest))
    bad += [f"{name}: the runtime library has it, runtime.def has not" for name in runtime_lacks(o.include)]
    for line in bad:
        print("not ok entry points:", line)
    if not bad:
        print("ok entry points")
    print(f"# {len(entries)} entries, {sum(e[0] for e in entries)} served, {len(declared)} in cuda.h, "
          f"{len(lacking)} of them not in the table; {len(bad)} wrong")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
