#!/usr/bin/env python3
"""PyTorch's own test/test_*.py on the simulated GPU: passed, failed, skipped, and why.

    tools/compat/pytorch_tests.py --python torch-env/bin/python --repo pytorch --out torch.jsonl [FILE ...]
    tools/compat/pytorch_tests.py --summary torch.jsonl       # the table of docs/compatibility.md

The interpreter needs torch, pytest, expecttest and hypothesis (skipped with a line where it has no PyTorch). The repository is a PyTorch source tree, best of
the package's version: an older one's tests may import decorators that the package's test library no longer has, which are then decorators that do
nothing, and the output names them. FILE is one of its folder test; of its tests those for a GPU run (--only another regular expression). How they are
run and counted: counted.py. Environment: BIN (build/warpstep), GPU (rtx-3070), or MACHINE (several GPUs: 2x-rtx-3090-nvlink)."""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import counted

FILES = ("test_torch.py", "test_nn.py", "test_reductions.py", "test_linalg.py", "test_sort_and_select.py", "test_indexing.py", "test_scatter_gather_ops.py",
         "nn/test_convolution.py", "nn/test_pooling.py", "nn/test_embedding.py", "nn/test_dropout.py", "nn/test_multihead_attention.py", "test_cuda.py",
         "test_view_ops.py", "test_shape_ops.py", "test_tensor_creation_ops.py", "test_binary_ufuncs.py", "test_type_promotion.py", "test_spectral_ops.py",
         "test_segment_reductions.py", "test_sparse.py", "test_sparse_csr.py", "test_foreach.py", "test_transformers.py", "test_native_mha.py",
         "test_matmul_cuda.py", "inductor/test_torchinductor.py", "inductor/test_cuda_repro.py")
# What an older tree imports from PyTorch's test library and the package's no longer has.
PLUGIN = '''
import importlib, os, pkgutil
import torch.testing._internal as _internal
class Gone:
    """A decorator that does nothing, whether it is used with arguments or without."""
    def __init__(self, name):
        self.name = name
    def __call__(self, *args, **kwargs):
        return args[0] if len(args) == 1 and not kwargs and callable(args[0]) else (lambda f: f)
try:
    import torch.testing._internal.common_nn as _nn
    _nn.new_module_tests = _nn.get_new_module_tests()  # a list until 2.5
except (ImportError, AttributeError):
    pass
def gone_from(module):
    old = getattr(module, "__getattr__", None)
    def missing(name):
        if name.startswith("__"):
            raise AttributeError(name)
        if old:
            try:
                return old(name)
            except AttributeError:
                pass
        with open(os.environ["WS_GONE"], "a") as out:
            out.write(f"{module.__name__}.{name}\\\\n")
        return Gone(name)
    module.__getattr__ = missing
for _m in pkgutil.iter_modules(_internal.__path__):
    if _m.name.startswith("common_") and _m.name not in ("common_distributed", "common_fsdp"):
        try:
            gone_from(importlib.import_module("torch.testing._internal." + _m.name))
        except ImportError:
            pass
'''.replace("\\\\n", "\\n")


def copy_of(repo, name):
    """The tree's folder test, without what pytest of another version refuses. Beside the tree's own `torch` the import would take that.
    Until 2.5 some classes called their parent's setUp so that, as the package makes classes of devices now, it calls itself."""
    tests = pathlib.Path(name) / "test"
    shutil.copytree(repo / "test", tests)
    for path in tests.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if "super(self.__class__, self)" in text:
            path.write_text(text.replace("super(self.__class__, self)", "super()"), encoding="utf-8")
    for other in ("conftest.py", "pytest_shard_custom.py"):
        (tests / other).unlink(missing_ok=True)
    if (repo / "tools").is_dir():
        shutil.copytree(repo / "tools", pathlib.Path(name) / "tools")
    return tests


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--repo", type=pathlib.Path)
    p.add_argument("--out", default="pytorch_tests.jsonl")
    p.add_argument("--only", default="(?i)cuda|gpu", help="regular expression: tests by pytest's names")
    counted.options(p)
    p.add_argument("files", nargs="*")
    args = p.parse_args()
    if args.summary:
        return counted.summary(args.summary, by_file=True)
    if subprocess.run([args.python, "-c", "import torch, pytest, expecttest"], capture_output=True, check=False).returncode:
        print(f"ok pytorch_tests # SKIP {args.python} does not have torch, pytest and expecttest")
        return 0
    good = True
    with tempfile.TemporaryDirectory() as name, open(args.out, "a", encoding="utf-8") as out:
        tests = copy_of(args.repo, name)
        gone = pathlib.Path(name) / "gone"
        # Older tests leave TF32 switched on, which the package takes for a failure of the test.
        environment = {"WS_ONLY": args.only, "WS_GONE": str(gone), "PYTORCH_TESTING_DEVICE_ONLY_FOR": "cuda", "TORCHINDUCTOR_COMPILE_THREADS": "1",
                       "PYTORCH_DISABLE_FP32_PRECISION_LEAK_CHECK": "1"}
        for file in args.files or FILES:
            gone.write_text("", encoding="utf-8")
            good = counted.run_file(args, tests, file, str(pathlib.Path(file).parent), out, environment, PLUGIN) and good
            if names := sorted(set(gone.read_text(encoding="utf-8").split())):
                print("  not in this PyTorch:", " ".join(names), flush=True)
    return not good


sys.exit(main())
