#!/usr/bin/env python3
"""What PyTorch's wheel has of its own tests of modules, losses and optimisers on the simulated GPU: passed, failed, skipped, and why.

    tools/compat/pytorch_modules.py --python torch-env/bin/python --out modules.jsonl [test_nn|test_optimizers ...]
    tools/compat/pytorch_modules.py --summary modules.jsonl       # the table of docs/compatibility.md

The interpreter needs torch, pytest and expecttest (skipped with a line where it has no PyTorch). The tests: pytorch_module_tests.py; how they are run and
counted: counted.py. Environment: BIN (build/warpstep), GPU (rtx-3070), or MACHINE (several GPUs: 2x-rtx-3090-nvlink)."""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import counted

GROUPS = ("test_nn", "test_optimizers")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--out", default="pytorch_modules.jsonl")
    counted.options(p)
    p.add_argument("groups", nargs="*")
    args = p.parse_args()
    if args.summary:
        return counted.summary(args.summary)
    if subprocess.run([args.python, "-c", "import torch, pytest, expecttest"], capture_output=True, check=False).returncode:
        print(f"ok pytorch_modules # SKIP {args.python} does not have torch, pytest and expecttest")
        return 0
    good = True
    with tempfile.TemporaryDirectory() as name, open(args.out, "a", encoding="utf-8") as out:
        folder = pathlib.Path(name)
        shutil.copy(pathlib.Path(__file__).parent / "pytorch_module_tests.py", folder)
        for group in args.groups or GROUPS:
            good = counted.run_file(args, folder, f"pytorch_module_tests.py::{group}", group, out) and good
    return not good


sys.exit(main())
