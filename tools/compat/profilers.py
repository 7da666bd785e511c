#!/usr/bin/env python3
"""Profilers of Python programs on the simulated GPU: what torch.profiler and triton.profiler (proton) say of each kernel is held against
`warpstep exec --json` of the same run (docs/profilers.md).

    tools/compat/profilers.py [--python torch-env/bin/python] [--gpu rtx-3070] [torch] [proton]

A profiler whose package the interpreter does not have is skipped with a line. Environment: BIN (build/warpstep)."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def profile_torch(out):
    """A small model, one step of it under the profiler; its trace to OUT."""
    import torch
    from torch.profiler import ProfilerActivity, profile
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
    x = torch.randn(16, 64).cuda()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        model(x).sum().backward()
        torch.cuda.synchronize()
    p.export_chrome_trace(out)


def profile_proton(out):
    """Two launches of a Triton kernel and one of PyTorch's in a scope of proton; its file to OUT.hatchet."""
    import torch
    import triton
    import triton.language as tl
    import triton.profiler as proton

    @triton.jit
    def plus_one(x, y, n, SIZE: tl.constexpr):
        i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
        tl.store(y + i, tl.load(x + i, i < n) + 1, i < n)

    x = torch.zeros(4096, device="cuda")
    y = torch.empty_like(x)
    torch.cuda.synchronize()
    proton.start(out, backend="cupti")
    with proton.scope("mine"):
        plus_one[(4,)](x, y, 4096, 1024)
        plus_one[(4,)](x, y, 4096, 1024)
        x.add_(y)
    torch.cuda.synchronize()
    proton.finalize()


def kernels_torch(out):
    """(name, ns) of each kernel, and whether each has the operator that launched it."""
    events = json.loads(pathlib.Path(out).read_text())["traceEvents"]
    kernels = sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"])
    calls = {e["args"]["correlation"] for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver")}
    known = {e["args"]["External id"] for e in events if e.get("cat") == "cpu_op" and "External id" in e["args"]}
    linked = all(k["args"]["correlation"] in calls and k["args"]["External id"] in known for k in kernels)
    return [k["dur"] * 1e3 for k in kernels], linked


def kernels_proton(out):
    """Sums of ns, as proton keeps them, of each kernel's name, below the scope."""
    tree = json.loads(pathlib.Path(out + ".hatchet").read_text())[0]
    scopes = [c for c in tree["children"] if c["frame"]["name"] == "mine"]
    leaves = [c["metrics"] for s in scopes for c in s["children"]]
    return sorted(m["time (ns)"] for m in leaves), sum(m["count"] for m in leaves) == 3


def check_torch(out, launches):
    said, linked = kernels_torch(out)
    true = [(l["end_ps"] - l["start_ps"]) / 1e3 for l in launches[-len(said):]] if said else []
    return len(said), max((abs(a - b) for a, b in zip(said, true)), default=1e9), linked


def check_proton(out, launches):
    said, linked = kernels_proton(out)
    last = [(l["end_ps"] - l["start_ps"]) / 1e3 for l in launches[-3:]]
    true = sorted([last[0] + last[1], last[2]])
    return len(said), max((abs(a - b) for a, b in zip(said, true)), default=1e9), linked and len(said) == 2


def run(name, args, scratch):
    """One line of what came out; whether it is right. A clock of cycles is known to some parts in 100,000."""
    needs = {"torch": "torch", "proton": "triton.profiler"}[name]
    if subprocess.run([args.python, "-c", f"import {needs}"], capture_output=True, check=False).returncode:
        print(f"ok profilers {name} # SKIP {args.python} does not have {needs}")
        return True
    binary = pathlib.Path(os.environ.get("BIN", ROOT / "build/warpstep"))
    out, record = str(scratch / name), str(scratch / f"{name}.json")
    env = dict(os.environ, TRITON_CUPTI_LIB_PATH=str(binary.parent / "cuda/libs"))
    done = subprocess.run([binary, "exec", "--quiet", "--gpu", args.gpu, "--json", record, args.python, "-W", "ignore", __file__, "--inside", out,
                           name], env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"not ok profilers {name}: {done.stderr.strip().splitlines()[-1:]}")
        return False
    launches = json.loads(pathlib.Path(record).read_text())["launches"]
    n, off, linked = (check_torch if name == "torch" else check_proton)(out, launches)
    right = off <= 3 and linked
    print(f"{'ok' if right else 'not ok'} profilers {name}: {n} entries, off --json by {off:.1f} ns at most, "
          f"{'all' if linked else 'not all'} where they belong")
    return right


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--gpu", default="rtx-3070")
    p.add_argument("--inside", help=argparse.SUPPRESS)
    p.add_argument("names", nargs="*", choices=[[], "torch", "proton"])
    args = p.parse_args()
    if args.inside:
        {"torch": profile_torch, "proton": profile_proton}[args.names[0]](args.inside)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        return not all([run(name, args, pathlib.Path(scratch)) for name in args.names or ("torch", "proton")])


sys.exit(main())
