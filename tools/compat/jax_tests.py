#!/usr/bin/env python3
"""JAX's own tests on the simulated GPU: passed, failed, skipped, and why.

    git clone --branch jax-v0.10.2 https://github.com/jax-ml/jax
    tools/compat/jax_tests.py --python jax-env/bin/python --repo jax --out jax.jsonl [FILE ...]
    tools/compat/jax_tests.py --summary jax.jsonl         # the table of docs/compatibility.md

The interpreter needs jax with its CUDA 13 plug-in, pytest and absl-py (skipped with a line where it has no JAX); the repository's version is that of the
package. FILE is one of its folder tests; how they are run and counted: counted.py. Of each test with generated parameters CASES are taken (2).
Environment: BIN (build/warpstep), GPU (rtx-3070), or MACHINE (several GPUs: 2x-rtx-3090-nvlink)."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import counted

FILES = ("lax_numpy_test.py", "lax_test.py", "nn_test.py", "linalg_test.py", "fft_test.py", "random_test.py", "lax_control_flow_test.py", "lax_autodiff_test.py",
         "lax_scipy_test.py", "lax_numpy_reducers_test.py", "lax_numpy_indexing_test.py", "lax_numpy_einsum_test.py", "image_test.py")
# JAX takes no GPU for there without a device file; XLA would time kernels, which without time never differ.
PLUGIN = '''
import jax._src.hardware_utils
jax._src.hardware_utils._NVIDIA_GPU_DEVICES = ["/dev/null"]
'''


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--repo", type=pathlib.Path)
    p.add_argument("--out", default="jax.jsonl")
    counted.options(p)
    p.add_argument("files", nargs="*")
    args = p.parse_args()
    if args.summary:
        return counted.summary(args.summary)
    if subprocess.run([args.python, "-c", "import jax, pytest"], capture_output=True, check=False).returncode:
        print(f"ok jax_tests # SKIP {args.python} does not have jax and pytest")
        return 0
    environment = {"XLA_FLAGS": "--xla_gpu_autotune_level=0", "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "JAX_PLATFORMS": "cuda,cpu",
                   "JAX_NUM_GENERATED_CASES": os.environ.get("CASES", "2")}
    good = True
    with tempfile.TemporaryDirectory() as name, open(args.out, "a", encoding="utf-8") as out:
        tests = pathlib.Path(name) / "tests"  # beside the repository's own sources `import jax` would take those
        shutil.copytree(args.repo / "tests", tests)
        for file in args.files or FILES:
            good = counted.run_file(args, tests, file, "tests", out, environment, PLUGIN) and good
    return not good


sys.exit(main())
