#!/usr/bin/env python3
"""CuPy's own tests on the simulated GPU: passed, failed, skipped, and why.

    git clone --branch v14.2.0 https://github.com/cupy/cupy
    tools/compat/cupy_tests.py --python cupy-env/bin/python --repo cupy --out cupy.jsonl [DIRECTORY ...]
    tools/compat/cupy_tests.py --summary cupy.jsonl       # the table of docs/compatibility.md

The interpreter needs cupy, pytest, hypothesis and scipy (skipped with a line where it has no CuPy); the repository's version is that of the package. How
they are run and counted: counted.py. With --rest only what --out has no good result for.
Environment: BIN (build/warpstep), GPU (rtx-3070), or MACHINE (several GPUs: 2x-rtx-3090-nvlink)."""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import counted

DIRECTORIES = ("core_tests", "creation_tests", "linalg_tests", "fft_tests", "random_tests", "sparse_tests", "cuda_tests", "jit_tests", "libraries")
PLACES = {"sparse_tests": "cupyx_tests/scipy_tests/sparse_tests", "jit_tests": "cupyx_tests/jit_tests"}
# Files whose folder is that of other groups, too.
LIBRARIES = ("cupy_tests/test_cublas.py", *(f"cupyx_tests/test_{name}.py" for name in ("cusolver", "cusparse", "cutensor", "lapack", "cupyx", "optimize", "pinned_array", "runtime", "rsqrt", "time")))
# What a file may run: all combinations of parameters would take days.
ENVIRONMENT = {"CUPY_TEST_FULL_COMBINATION": "0"}


def files_of(tests, directory):
    if directory == "libraries":
        return [tests / name for name in LIBRARIES]
    place = tests / PLACES.get(directory, f"cupy_tests/{directory}")
    return sorted(place.rglob("test_*.py"))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--repo", type=pathlib.Path)
    p.add_argument("--out", default="cupy.jsonl")
    counted.options(p)
    p.add_argument("directories", nargs="*")
    args = p.parse_args()
    if args.summary:
        return counted.summary(args.summary)
    if subprocess.run([args.python, "-c", "import cupy, pytest"], capture_output=True, check=False).returncode:
        print(f"ok cupy_tests # SKIP {args.python} does not have cupy and pytest")
        return 0
    good = True
    with tempfile.TemporaryDirectory() as name, open(args.out, "a", encoding="utf-8") as out:
        scratch = pathlib.Path(name)
        # Beside the repository's own sources `import cupy` would take those.
        shutil.copytree(args.repo / "tests", scratch / "tests")
        shutil.copy(args.repo / "pyproject.toml", scratch / "tests")
        for directory in args.directories or DIRECTORIES:
            files = [scratch / "tests" / directory] if directory.endswith(".py") else files_of(scratch / "tests", directory)
            for file in files:
                group = next((d.name for d in file.parents if d.name.endswith("_tests")), "")
                good = counted.run_file(args, scratch / "tests", file.relative_to(scratch / "tests"), group, out, ENVIRONMENT) and good
    return not good


sys.exit(main())
