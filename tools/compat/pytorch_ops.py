#!/usr/bin/env python3
"""PyTorch's own operator database on the simulated GPU, beside its CPU.

For each operator of torch.testing._internal.common_methods_invocations.op_db a bounded number of its sample inputs is
computed on both, and, where PyTorch says that it has gradients, these, too. Workers under `warpstep exec` take one
operator after the other; one that does not answer within the limit is ended, one whose GPU has failed starts again.

    tools/compat/pytorch_ops.py --python torch-env/bin/python --out ops.jsonl [OPERATOR ...]
    tools/compat/pytorch_ops.py --summary ops.jsonl        # the tables of docs/compatibility.md

What is compared, and how near: as PyTorch's own test of devices against the CPU does (test_compare_cpu): after the
operator's output_process_fn_grad, which takes out what is not determined, such as signs of eigenvectors. An operator
whose CPU gives another result with another seed is random, one of UNSET returns memory as it is: of those shapes and
types are compared.
"""

import argparse
import collections
import dataclasses
import json
import os
import queue
import re
import select
import subprocess
import sys
import tempfile
import threading
import time

# Where PyTorch itself has another result on a GPU, or nothing, and its own tests leave it out.
DIFFERS = {
    "as_strided.partial_views": "looks at memory beside the tensor, which is not copied with it",
    "native_batch_norm": "the CPU returns no statistics in evaluation, the GPU does",
    "_native_batch_norm_legit": "the CPU returns no statistics in evaluation, the GPU does",
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu": "the CPU's alone",
    "native_layer_norm": "of half precision the GPU's statistics are float32, the CPU's are not",
    "_batch_norm_with_update": "of half precision the GPU's statistics are float32, the CPU's are not",
    "sort": "of equal values either may come first unless `stable` asks for an order",
    "argsort": "of equal values either may come first unless `stable` asks for an order",
    "msort": "of equal values either may have the gradient",
    "kthvalue": "of equal values either place may be named",
    "topk": "of equal values either place may be named",
    "mode": "of equal values either place may be named",
    "renorm": "of complex numbers and the largest norm the CPU's gradient is NaN, the GPU's is not",
    "tensor_split": "takes its sections from the CPU's memory alone",
}
ORDERLESS = {"linalg.eig", "linalg.eigvals"}  # eigenvalues alone are compared, sorted: their order is not determined
ABSENT = re.compile("Could not run 'aten::|(is|are) not supported on CUDA|not implemented for 'CUDA'|not supported for CUDA")
UNSET = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_", "resize_as_"}
REFUSED = re.compile(r"warpstep: (\S+): warpstep's own (\S+) does not have")
TOLERANCE = {"float64": 1e-7, "complex128": 1e-7, "float16": 1e-2, "bfloat16": 4e-2}  # 1e-3 of all others
BIGGEST = 1 << 20  # elements of a sample's tensors together


# The worker: inside `warpstep exec`, one operator a line of its input.


def tensors(torch, tree):
    from torch.utils._pytree import tree_leaves
    return [x for x in tree_leaves(tree) if isinstance(x, torch.Tensor)]


def moved(torch, tree, where):
    """The same on that device, with leaves of its own for gradients: operators may write to their inputs."""
    from torch.utils._pytree import tree_map

    def one(x):
        if not isinstance(x, torch.Tensor):
            return x
        return x.detach().to(where, copy=True).requires_grad_(x.requires_grad)

    return tree_map(one, tree)


def settled(kwargs):
    """Options of linear_cross_entropy: "auto" keeps sums in 16 bits on a GPU and in float32 on the CPU. Both do as the GPU does."""
    options = kwargs.get("options")
    if getattr(options, "acc_policy", None) == "auto":
        kwargs["options"] = dataclasses.replace(options, acc_policy="compact")
    return kwargs


def run(torch, op, sample, seed, backward, where):
    """Outputs and gradients. The weights of the sum whose gradient is taken are the same on both sides."""
    torch.manual_seed(seed)
    kwargs = settled(dict(sample.kwargs))
    if "device" in kwargs:
        kwargs["device"] = where
    inputs = moved(torch, (sample.input, sample.args, kwargs), where)
    out = op(inputs[0], *inputs[1], **inputs[2])
    if sample.output_process_fn_grad:
        out = sample.output_process_fn_grad(out)
    if op.name in ORDERLESS:
        values = tensors(torch, out)[0].detach().cpu()
        rows = [sorted(row.tolist(), key=lambda v: (round(v.real, 2), v.imag)) for row in values.reshape(-1, values.shape[-1])]
        return torch.tensor(rows, dtype=values.dtype), []
    leaves = [x for x in tensors(torch, inputs) if x.requires_grad]
    roots = [x for x in tensors(torch, out) if x.requires_grad] if backward else []
    if not leaves or not roots:
        return out, []
    draw = torch.Generator().manual_seed(1)
    weights = [torch.randn(x.shape, generator=draw, dtype=torch.float64).to(x.dtype).to(x.device) for x in roots]
    return out, torch.autograd.grad(roots, leaves, weights, allow_unused=True)


def compare(torch, got, want, tolerance, values):
    from torch.testing import assert_close
    got, want = tensors(torch, got), tensors(torch, want)
    if len(got) != len(want):
        raise AssertionError(f"{len(got)} results in the place of {len(want)}")
    for g, w in zip(got, want):
        if g.shape != w.shape or g.dtype != w.dtype:
            raise AssertionError(f"{tuple(g.shape)} {g.dtype} in the place of {tuple(w.shape)} {w.dtype}")
        if values:
            if w.dtype == torch.complex32:
                g, w = g.to(torch.complex64), w.to(torch.complex64)
            assert_close(g.detach(), w.detach(), rtol=tolerance, atol=tolerance, equal_nan=True, check_device=False,
                         check_stride=False)


def comparable(torch, x):
    """Values without NaN, of a type that the CPU compares."""
    x = x.detach().to(torch.complex64) if x.dtype == torch.complex32 else x.detach()
    return torch.nan_to_num(x) if x.is_floating_point() or x.is_complex() else x


def same(torch, a, b):
    return all(torch.equal(comparable(torch, x), comparable(torch, y)) for x, y in zip(tensors(torch, a), tensors(torch, b))
               if x.layout == torch.strided)


def as_near(torch, op, sample, got, want):
    """Whether the GPU is as near to the result in double precision as the CPU: at most three times as far, or four roundings."""
    from torch.utils._pytree import tree_map

    def wide(x):
        if not isinstance(x, torch.Tensor) or not (x.is_floating_point() or x.is_complex()):
            return x
        return x.detach().to(torch.complex128 if x.is_complex() else torch.float64).requires_grad_(x.requires_grad)

    class Wide:
        input, args, kwargs = tree_map(wide, (sample.input, sample.args, sample.kwargs))
        output_process_fn_grad = sample.output_process_fn_grad

    exact = run(torch, op, Wide, 0, bool(want[1]), "cpu")
    for g, w, e in zip(tensors(torch, got), tensors(torch, want), tensors(torch, exact)):
        if g.shape != w.shape or g.dtype != w.dtype:
            return False
        if not e.numel():
            continue
        far = lambda x: (x.detach().cpu().to(e.dtype) - e.detach()).abs().max().item()
        eps = torch.finfo(w.dtype).eps if w.is_floating_point() or w.is_complex() else 0
        if not far(g) <= 3 * far(w) + 4 * eps * e.detach().abs().max().item():
            return False
    return len(tensors(torch, got)) == len(tensors(torch, exact))


def is_random(torch, op, sample, backward, want):
    return any(not same(torch, want, run(torch, op, sample, seed, backward, "cpu")) for seed in range(2, 10))


def one_sample(torch, op, sample, dtype, backward):
    """'passed', 'random', 'skipped' (the CPU cannot), 'absent' (PyTorch has it on the CPU alone), or why it failed."""
    try:
        want = run(torch, op, sample, 0, backward, "cpu")
        again = run(torch, op, sample, 1, backward, "cpu")
    except Exception:
        return "skipped"
    values = op.name not in UNSET and same(torch, want, again)
    try:
        got = run(torch, op, sample, 0, backward, "cuda")
        torch.cuda.synchronize()
        compare(torch, got, want, TOLERANCE.get(dtype, 1e-3), values)
    except AssertionError as e:
        if is_random(torch, op, sample, backward, want):
            return "random"
        try:
            if values and as_near(torch, op, sample, got, want):
                return "passed"
        except Exception:  # no double precision of this one
            pass
        return "wrong: " + " ".join(str(e).split())[:300]
    except Exception as e:
        if ABSENT.search(str(e)):
            return "absent"
        return f"error: {type(e).__name__}: " + " ".join(str(e).split())[:300]
    return "passed" if values else "random"


def spread(items, most):
    """At most `most` of them, the first and the last among them."""
    if len(items) <= most:
        return items
    return [items[i * (len(items) - 1) // (most - 1)] for i in range(most)] if most > 1 else items[:1]


def one_operator(torch, op, dtypes, only, most, errors):
    """The record of an operator."""
    known = {str(t).replace("torch.", "") for t in op.supported_dtypes("cuda")}
    here = [d for d in dtypes if d in known]
    if not here and not only:
        here = sorted(known & {"int64", "bool", "complex64", "float64"})[-1:]
    record = {"op": op.name + ("." + op.variant_test_name if op.variant_test_name else ""), "types": {}}
    for dtype in here:
        kind = getattr(torch, dtype)
        backward = op.supports_autograd and kind in op.supported_backward_dtypes("cuda")
        torch.manual_seed(0)
        try:
            samples = list(op.sample_inputs("cpu", kind, requires_grad=backward))
        except Exception as e:
            record["types"][dtype] = {"skipped": 1, "why": [f"no samples: {type(e).__name__}"]}
            continue
        small = [s for s in samples
                 if sum(t.numel() for t in tensors(torch, (s.input, s.args, s.kwargs))) <= BIGGEST]
        count, why = collections.Counter(), []
        for sample in spread(small, most):
            at = errors.seek(0, os.SEEK_END)
            result = one_sample(torch, op, sample, dtype, backward)
            errors.seek(at)
            refused = REFUSED.findall(errors.read())
            if result.startswith("error") and refused:
                result = f"refused: {refused[0][0]}"
            if result.startswith(("wrong", "error")) and record["op"] in DIFFERS:
                result = "differs"
            count[result.split(":")[0]] += 1
            if ":" in result and result not in why:
                why.append(result)
            if "CUDA error" in result:
                record["types"][dtype] = dict(count, why=why)
                record["dead"] = True
                return record
        record["types"][dtype] = dict(count, why=why)
    return record


def unseeded():
    """The database gives random operators a seed of its own at each call; here the seed is that of run()."""
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.testing._internal") and hasattr(module, "wrapper_set_seed"):
            module.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)


def worker(args):
    errors = tempfile.TemporaryFile("w+")
    os.dup2(errors.fileno(), 2)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what operators print
    import torch
    torch.set_num_threads(1)
    from torch.testing._internal.common_methods_invocations import op_db
    unseeded()
    answers.write(json.dumps({"names": [o.name + ("." + o.variant_test_name if o.variant_test_name else "")
                                        for o in op_db]}) + "\n")
    answers.flush()
    for line in sys.stdin:
        started = time.process_time()
        record = one_operator(torch, op_db[int(line)], args.types.split(","), args.only, args.samples, errors)
        record["seconds"] = round(time.process_time() - started, 1)
        answers.write(json.dumps(record) + "\n")
        answers.flush()
        if record.get("dead"):
            return 0
    return 0


# The parent: hands out operators, keeps the limit.


class Worker:
    def __init__(self, args):
        command = [args.bin, "exec", "--functional", "--quiet", "--gpu", args.gpu, args.python, "-W", "ignore", __file__,
                   "--worker", "--types", args.types, "--samples", str(args.samples)] + ["--only"] * args.only
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
                                        stderr=subprocess.DEVNULL, env=dict(os.environ, CUDA_MODULE_LOADING="LAZY"))
        self.names = self.answer(300)["names"]

    def answer(self, seconds):
        """The next record; None: the limit is over, or the worker has ended."""
        end, text = time.monotonic() + seconds, b""
        while not text.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            part = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not part:
                return None
            text += part
        return json.loads(text)

    def ask(self, index, seconds):
        try:
            self.process.stdin.write(f"{index}\n".encode())
            self.process.stdin.flush()
        except OSError:
            return None
        return self.answer(seconds)

    def end(self):
        try:
            os.killpg(self.process.pid, 9)
        except ProcessLookupError:
            pass
        self.process.wait()


def serve(args, indices, names, results):
    w = None
    while True:
        try:
            index = indices.get_nowait()
        except queue.Empty:
            break
        w = w or Worker(args)
        started = time.monotonic()
        record = w.ask(index, args.limit)
        if record is None:
            status = "time limit" if w.process.poll() is None and time.monotonic() - started >= args.limit else "ended"
            record = {"op": names[index], "types": {}, "ended": status, "seconds": round(time.monotonic() - started, 1)}
        if "ended" in record or record.get("dead"):
            w.end()
            w = None
        results(record)
    if w:
        w.end()


def matching(args, names):
    done = set()
    if args.resume and os.path.exists(args.out):
        done = {json.loads(line)["op"] for line in open(args.out)}
    return [i for i, n in enumerate(names)
            if n not in done and (not args.operators or any(re.fullmatch(o, n) for o in args.operators))]


def drive(args):
    first = Worker(args)
    names, lock = first.names, threading.Lock()
    first.end()
    indices = queue.Queue()
    chosen = matching(args, names)
    for i in chosen:
        indices.put(i)
    with open(args.out, "a" if args.resume else "w") as out:
        def results(record):
            with lock:
                out.write(json.dumps(record) + "\n")
                out.flush()
                print(record["op"], verdict(record)[0], record["seconds"], *reasons(record)[:1], flush=True)
        threads = [threading.Thread(target=serve, args=(args, indices, names, results)) for _ in range(args.jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    return 0


# What came out.


def reasons(record):
    if "ended" in record:
        return [record["ended"]]
    return [w for t in record["types"].values() for w in t["why"]]


def verdict(record):
    """One word for an operator, and the library function that it lacks."""
    total = collections.Counter()
    for t in record["types"].values():
        total.update({k: v for k, v in t.items() if k != "why"})
    if "ended" in record:
        return record["ended"], None
    if not record["types"]:
        return "other types", None
    for word in ("wrong", "error", "refused"):
        if total[word]:
            lacks = [r.split(": ")[1] for r in reasons(record) if r.startswith("refused")]
            return word, lacks[0] if word == "refused" else None
    return next((w for w in ("random", "differs", "passed", "absent") if total[w]), "skipped"), None


def summary(args):
    records = [json.loads(line) for line in open(args.summary)]
    last = {r["op"]: r for r in records}
    by, lacks = collections.defaultdict(list), collections.defaultdict(list)
    compared = collections.Counter()
    for name, r in last.items():
        word, function = verdict(r)
        by[word].append(name)
        if function:
            lacks[function].append(name)
        for t in r["types"].values():
            compared.update({k: v for k, v in t.items() if k != "why"})
    print(f"{len(last)} operators, {sum(compared.values())} samples: " +
          ", ".join(f"{n} {w}" for w, n in compared.most_common()))
    print("\n| result | operators |\n|---|---|")
    for word in ("passed", "random", "differs", "absent", "skipped", "other types", "refused", "wrong", "error", "time limit", "ended"):
        print(f"| {word} | {len(by[word])} |")
    print("\n| function | operators |\n|---|---|")
    for function, names in sorted(lacks.items(), key=lambda x: -len(x[1])):
        print(f"| `{function}` | {len(names)}: {', '.join(names)} |")
    for word in ("wrong", "error", "time limit", "ended", "skipped"):
        for name in by[word]:
            print(f"{word}: {name}: {'; '.join(reasons(last[name]))[:400]}")
    return 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("operators", nargs="*", help="names (regular expressions); all where none is given")
    p.add_argument("--bin", default=os.environ.get("BIN", "build/warpstep"))
    p.add_argument("--python", default=os.environ.get("PYTHON", sys.executable), help="an interpreter with PyTorch")
    p.add_argument("--gpu", default="rtx-3070")
    p.add_argument("--types", default="float32", help="comma-separated; an operator that has none of them is tried with another")
    p.add_argument("--only", action="store_true", help="leave out operators that have none of the types")
    p.add_argument("--samples", type=int, default=6, help="sample inputs of each type at most")
    p.add_argument("--limit", type=float, default=120, help="seconds of an operator")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--out", default="pytorch_ops.jsonl")
    p.add_argument("--resume", action="store_true", help="go on with what is not in --out yet")
    p.add_argument("--summary", metavar="FILE", help="print the tables of an earlier run")
    p.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.worker:
        return worker(args)
    return summary(args) if args.summary else drive(args)


if __name__ == "__main__":
    sys.exit(main())
