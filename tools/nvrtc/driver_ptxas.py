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


LONGEST = 1 << 30  # bytes of a cubin or log


class Refused(Exception):
    """No cubin; the message says why, that of an assembler which did not take the text is its log."""


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


class Compiler:
    """NVIDIA's PTX Compiler API as a library has it; what it says is not believed."""

    def __init__(self, path):
        self.path, self.api = path, ctypes.CDLL(os.path.abspath(path))

    def call(self, name, *args):
        """Status of nvPTXCompiler<name>; 0 is success."""
        try:
            return getattr(self.api, "nvPTXCompiler" + name)(*args)
        except AttributeError:
            raise Refused(f"{self.path}: no assembler, it has no nvPTXCompiler{name}") from None

    def bytes_of(self, size, what, handle):
        """What the assembler hands out by two calls: how long it is, then it. None: it failed, or is longer than any."""
        n = ctypes.c_size_t()
        if self.call(size, handle, ctypes.byref(n)) or n.value > LONGEST:
            return None
        text = ctypes.create_string_buffer(n.value + 1)
        return None if self.call(what, handle, text) else text.raw[:n.value]

    def assemble(self, ptx, options):
        """The cubin of `ptx` (bytes)."""
        handle = ctypes.c_void_p()
        if self.call("Create", ctypes.byref(handle), ctypes.c_size_t(len(ptx)), ptx):
            raise Refused(f"{self.path}: the assembler does not start")
        words = (ctypes.c_char_p * len(options))(*(os.fsencode(o) for o in options))
        if self.call("Compile", handle, len(options), words):
            log = self.bytes_of("GetErrorLogSize", "GetErrorLog", handle) or b""
            log = log.decode(errors="replace").strip("\0 \n")
            raise Refused(log or f"{self.path}: the assembler refuses, and does not say why")
        cubin = self.bytes_of("GetCompiledProgramSize", "GetCompiledProgram", handle)
        if not cubin or not cubin.startswith(b"\x7fELF"):
            raise Refused(f"{self.path}: what the assembler made is no cubin")
        return cubin


def write_whole(path, data):
    """The file is there whole or not at all."""
    part = f"{path}.{os.getpid()}"
    try:
        pathlib.Path(part).write_bytes(data)
        os.replace(part, path)
    except OSError:
        pathlib.Path(part).unlink(missing_ok=True)
        raise


def main():
    p = argparse.ArgumentParser(description=__doc__, allow_abbrev=False,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--library", dest="driver", required=True, metavar="LIB")
    p.add_argument("--version", action="store_true")
    p.add_argument("-arch", metavar="sm_NN")
    p.add_argument("-o", metavar="OUT.cubin")
    p.add_argument("ptx", nargs="?", metavar="FILE.ptx")
    args, options = p.parse_known_args()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            library = library_of(args.driver, scratch)
            if args.version:
                print(release(library))
                return 0
            if not (args.arch and args.o and args.ptx):
                p.error("-arch, -o and FILE.ptx are needed")
            ptx = pathlib.Path(args.ptx).read_bytes()
            write_whole(args.o, Compiler(library).assemble(ptx, ["--gpu-name=" + args.arch, *options]))
        except (Refused, OSError, subprocess.CalledProcessError) as e:
            print(f"driver_ptxas.py: {e}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
