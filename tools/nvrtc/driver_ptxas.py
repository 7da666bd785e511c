#!/usr/bin/env python3
"""Assembles PTX with the assembler inside of a driver: the way to one of CUDA 9.1 to 12.2 where no toolkit has it.

  driver_ptxas.py --library LIB -arch=sm_70 [OPTION...] -o OUT.cubin FILE.ptx

LIB is libnvidia-ptxjitcompiler.so.* of any driver, or one of Debian's packages of it (non-free), from which it is
taken. `--version` prints the release. Debian's packages, and whose assembler they have:

  libnvidia-legacy-390xx-ptxjitcompiler1   CUDA 9.1    libnvidia-tesla-460-ptxjitcompiler1   CUDA 11.2
  libnvidia-tesla-418-ptxjitcompiler1      CUDA 10.1   libnvidia-tesla-470-ptxjitcompiler1   CUDA 11.4
  libnvidia-tesla-450-ptxjitcompiler1      CUDA 11.0   libnvidia-tesla-535-ptxjitcompiler1   CUDA 12.2

Other options (-O0, --device-debug, --maxrregcount=N) go to the assembler as they are. PTX of a newer `.version` than it
knows is refused; writing an older one into a file that needs nothing newer is up to the caller. No GPU takes part. The
functions called are those of NVIDIA's PTX Compiler API, which these libraries export.
"""
import argparse
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile


class Refused(Exception):
    """The assembler did not take the text; the message is its log."""


def library_of(path, scratch):
    """The library itself, or the one that a package holds."""
    if not str(path).endswith(".deb"):
        return path
    subprocess.run(["dpkg-deb", "-x", path, scratch], check=True)
    found = sorted(p for p in pathlib.Path(scratch).rglob("libnvidia-ptxjitcompiler.so.*") if not p.is_symlink())
    if not found:
        raise Refused(f"{path}: this package has no libnvidia-ptxjitcompiler.so")
    return found[0]


def release(library):
    """What the assembler calls itself, as "10.1.354"; "unknown" where it does not say."""
    found = re.search(rb"Cuda compilation tools, release [\d.]+, V([\d.]+)", pathlib.Path(library).read_bytes())
    return found[1].decode() if found else "unknown"


def text_of(call, size, handle):
    """A log of the compiler's."""
    n = ctypes.c_size_t()
    size(handle, ctypes.byref(n))
    text = ctypes.create_string_buffer(n.value + 1)
    call(handle, text)
    return text.value.decode(errors="replace").strip()


def assemble(library, ptx, options):
    """The cubin of `ptx` (bytes)."""
    api = ctypes.CDLL(os.path.abspath(library))
    handle, n = ctypes.c_void_p(), ctypes.c_size_t()
    if api.nvPTXCompilerCreate(ctypes.byref(handle), ctypes.c_size_t(len(ptx)), ptx):
        raise Refused(f"{library}: the assembler does not start")
    words = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
    if api.nvPTXCompilerCompile(handle, len(options), words):
        raise Refused(text_of(api.nvPTXCompilerGetErrorLog, api.nvPTXCompilerGetErrorLogSize, handle))
    api.nvPTXCompilerGetCompiledProgramSize(handle, ctypes.byref(n))
    cubin = ctypes.create_string_buffer(n.value)
    api.nvPTXCompilerGetCompiledProgram(handle, cubin)
    return cubin.raw


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--library", required=True, metavar="LIB")
    p.add_argument("--version", action="store_true")
    p.add_argument("-arch", metavar="sm_NN")
    p.add_argument("-o", metavar="OUT.cubin")
    p.add_argument("ptx", nargs="?", metavar="FILE.ptx")
    args, options = p.parse_known_args()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            library = library_of(args.library, scratch)
            if args.version:
                print(release(library))
                return 0
            if not (args.arch and args.o and args.ptx):
                p.error("-arch, -o and FILE.ptx are needed")
            cubin = assemble(library, pathlib.Path(args.ptx).read_bytes(), ["--gpu-name=" + args.arch, *options])
            pathlib.Path(args.o).write_bytes(cubin)
        except (Refused, OSError, subprocess.CalledProcessError) as e:
            print(f"driver_ptxas.py: {e}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
