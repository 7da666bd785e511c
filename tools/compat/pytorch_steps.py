#!/usr/bin/env python3
"""One training step of each model of docs/pytorch.md in full time: its kernels with launches and times, as the tables of that page.

    tools/compat/pytorch_steps.py --python torch-env/bin/python [--gpu rtx-3070] [--keep DIR] [lstm transformer resnet]
    tools/compat/pytorch_steps.py --summary DIR/lstm.json ...     of runs that --keep has kept

A model takes one to several minutes of processor time; tests/clients/client_torch_train.py has them. Skipped with a line where the interpreter
has no PyTorch. Environment: BIN (build/warpstep)."""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ("lstm", "transformer", "resnet")
ROWS = 8


def short(symbol):
    """A kernel's name as c++filt has it, without its parameters and what its templates are made of."""
    name = subprocess.run(["c++filt", symbol], capture_output=True, text=True, check=False).stdout.strip() or symbol
    for part in ("void ", "at::native::", "(anonymous namespace)::"):
        name = name.replace(part, "")
    return name.split("<")[0].split("(")[0]


def table(path):
    data = json.loads(pathlib.Path(path).read_text())
    kernels = {}
    for launch in data["launches"]:
        row = kernels.setdefault(short(launch["kernel"]), [0, 0, 0.0])
        row[0] += 1
        row[1] += launch.get("cycles", 0)
        row[2] += (launch["end_ps"] - launch["start_ps"]) / 1e6
    total = [sum(r[i] for r in kernels.values()) for i in range(3)]
    print(f"\n{pathlib.Path(path).stem}: {data['gpu']}, {total[0]} launches, {total[1] / 1e6:.1f} million cycles, {total[2] / 1e3:.2f} ms in kernels, "
          f"{data['time_ps'] / 1e9:.2f} ms of simulated time\n")
    print("| kernel | launches | us | of the time |\n|---|--:|--:|--:|")
    rows = sorted(kernels.items(), key=lambda r: -r[1][2])
    for name, row in rows[:ROWS]:
        print(f"| `{name}` | {row[0]} | {row[2]:.1f} | {100 * row[2] / total[2]:.1f} % |")
    rest = [sum(r[i] for _, r in rows[ROWS:]) for i in range(3)]
    if rest[0]:
        print(f"| {len(rows) - ROWS} others | {rest[0]} | {rest[2]:.1f} | {100 * rest[2] / total[2]:.1f} % |")


def run(model, args, folder):
    if subprocess.run([args.python, "-c", "import torch"], capture_output=True, check=False).returncode:
        print(f"ok steps {model} # SKIP {args.python} does not have torch")
        return True
    out = folder / f"{model}.json"
    binary = os.environ.get("BIN", ROOT / "build/warpstep")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([binary, "exec", "--quiet", "--gpu", args.gpu, "--json", out, args.python, "-W", "ignore",
                           ROOT / "tests/clients/client_torch_train.py", model, "1", "gpu"], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        print(f"not ok steps {model}: {done.stderr.strip().splitlines()[-1:]}")
        return False
    table(out)
    print(f"\n{seconds:.0f} s of processor time")
    return True


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--gpu", default="rtx-3070")
    p.add_argument("--keep", type=pathlib.Path)
    p.add_argument("--summary", nargs="+")
    p.add_argument("models", nargs="*")
    args = p.parse_args()
    for path in args.summary or []:
        table(path)
    if args.summary:
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or pathlib.Path(scratch)
        folder.mkdir(exist_ok=True)
        return not all([run(m, args, folder) for m in args.models or MODELS])


sys.exit(main())
