#!/usr/bin/env python3
"""Compiles a CUDA file of device code for a target that the installed nvcc no longer knows (sm_70, sm_72).

  nvrtc_cubin.py --packages DIR -arch=sm_70 [-fmad=false] [-I FOLDER] [--ptx] -o OUT.cubin FILE.cu

DIR holds NVIDIA's run-time compiler and headers of CUDA 11.8, as pip unpacks them; --install has it do so when they are missing:

  python3 -m pip install --target DIR --no-deps nvidia-cuda-nvrtc-cu11==11.8.89 \\
      nvidia-cuda-runtime-cu11==11.8.89 nvidia-cuda-nvcc-cu11==11.8.89

No GPU, driver or host compiler takes part. The run-time compiler reads no header of the host's C++ library, so
HOST_HEADERS stands in for the few lines of them that device code uses.
"""
import argparse
import ctypes
import os
import subprocess
import sys

PACKAGES = ("nvidia-cuda-nvrtc-cu11==11.8.89", "nvidia-cuda-runtime-cu11==11.8.89", "nvidia-cuda-nvcc-cu11==11.8.89")
SUCCESS = 0

INTEGERS = """#pragma once
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
typedef unsigned long uint64_t; typedef long intptr_t; typedef unsigned long uintptr_t;
"""
TRAITS = """#pragma once
namespace std {
template <bool B, typename T, typename F> struct conditional { typedef T type; };
template <typename T, typename F> struct conditional<false, T, F> { typedef F type; };
}
"""
HOST_HEADERS = {"cstdint": INTEGERS, "stdint.h": INTEGERS, "cstdio": "", "cassert": "", "assert.h": "",
                "climits": "", "type_traits": TRAITS}
# What nvcc has from the host's <math.h> without being asked.
PRELUDE = "#include <sm_61_intrinsics.hpp>\n#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#define NAN __int_as_float(0x7fffffff)\n#endif\n"


class Refused(Exception):
    """The compiler did not take the source; the text is its log."""


def install(folder):
    """Fetches the packages into `folder` unless they are there."""
    if not os.path.exists(library_path(folder)):
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, *PACKAGES],
                       check=True, env=os.environ | {"PIP_ROOT_USER_ACTION": "ignore"})


def library_path(folder):
    return os.path.join(folder, "nvidia", "cuda_nvrtc", "lib", "libnvrtc.so.11.2")


def options(args):
    flags = [f"-arch={args.arch}", "-std=c++17", "-default-device", "-device-int128"]
    for package in ("cuda_runtime", "cuda_nvcc"):
        flags.append("-I" + os.path.join(args.packages, "nvidia", package, "include"))
    flags += ["-I" + folder for folder in args.I + [os.path.dirname(os.path.abspath(args.source))]]
    return flags + ["-D" + d for d in args.D] + ([f"-fmad={args.fmad}"] if args.fmad else [])


def strings(items):
    return (ctypes.c_char_p * len(items))(*[i.encode() for i in items])


def fetch(lib, program, what):
    """The log, cubin or PTX of a program, as nvrtcGet<what>Size and nvrtcGet<what> hand it out."""
    size = ctypes.c_size_t()
    if getattr(lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) != SUCCESS:
        raise Refused(f"no {what}")
    data = ctypes.create_string_buffer(size.value)
    getattr(lib, f"nvrtcGet{what}")(program, data)
    return data.raw


def compile_source(args):
    lib = ctypes.CDLL(library_path(args.packages))
    with open(args.source, encoding="utf-8") as f:
        text = PRELUDE + f'#line 1 "{args.source}"\n' + f.read()
    program, flags = ctypes.c_void_p(), options(args)
    names, bodies = strings(list(HOST_HEADERS)), strings(list(HOST_HEADERS.values()))
    lib.nvrtcCreateProgram(ctypes.byref(program), text.encode(), args.source.encode(), len(HOST_HEADERS), bodies, names)
    if lib.nvrtcCompileProgram(program, len(flags), strings(flags)) != SUCCESS:
        raise Refused(fetch(lib, program, "ProgramLog").rstrip(b"\0").decode())
    return fetch(lib, program, "PTX").rstrip(b"\0") if args.ptx else fetch(lib, program, "CUBIN")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--packages", required=True, metavar="DIR", help="where the packages are")
    p.add_argument("--install", action="store_true", help="fetch them when they are missing")
    p.add_argument("--version", action="store_true", help="print the compiler's version and end")
    p.add_argument("--ptx", action="store_true", help="write PTX")
    p.add_argument("-arch", default="sm_70")
    p.add_argument("-fmad")
    p.add_argument("-I", action="append", default=[], metavar="FOLDER")
    p.add_argument("-D", action="append", default=[], metavar="NAME=VALUE")
    p.add_argument("-o", dest="out")
    p.add_argument("source", nargs="?")
    args = p.parse_args()
    if args.install:
        install(args.packages)
    if args.version:
        print(PACKAGES[0].replace("==", " "))
        return 0
    if not args.source or not args.out:
        p.error("an input and -o are needed")
    try:
        data = compile_source(args)
    except Refused as e:
        sys.stderr.write(f"nvrtc_cubin.py: {args.source}: {e}\n")
        return 1
    with open(args.out, "wb") as f:
        f.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
