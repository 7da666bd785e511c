#!/usr/bin/env python3
"""A layer of Llama-2-7B in half precision on a simulated A100 or H100, beside what was measured on one.

    tools/compat/transformer_block.py --python torch-env/bin/python --gpu a100-sxm4-80gb [--tokens 512] [--parallel 1] [--keep FILE.json]
    tools/compat/transformer_block.py --gpu a100-sxm4-80gb --tokens 512 --summary FILE.json    # the table of a run that was kept

The layer: RMS norm, product for Q, K, V, rotary embedding, causal attention, product, sum, RMS norm, product for gate and up, SiLU times up, product, sum. Products, norms,
attention and sums are PyTorch's calls from the unmodified package; the other two are kernels in Triton, one pass each, as inference servers have them. --parallel N takes the
N-th part of the heads and of the inner width, the share of a GPU among N. Two of its output rows are compared with the CPU's in single precision.
Measured: transformer_block.csv, medians of 20 repetitions that microsoft/vidur (7d475133, data/profiling/compute) has published; attention is not among them.
All launches are timed in full. Environment: BIN (build/warpstep)."""
import argparse
import csv
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH, INNER, HEADS, HEAD = 4096, 11008, 32, 128
PRODUCTS = ("attn_pre_proj", "attn_post_proj", "mlp_up_proj", "mlp_down_proj")
OPERATIONS = ("input_layernorm", "attn_pre_proj", "attn_rope", "attention", "attn_post_proj", "add", "post_attention_layernorm", "mlp_up_proj", "mlp_act",
              "mlp_down_proj", "add")


def shapes(tokens, parallel):
    """m, n, k of each product."""
    return {"attn_pre_proj": (tokens, 3 * WIDTH // parallel, WIDTH), "attn_post_proj": (tokens, WIDTH, WIDTH // parallel),
            "mlp_up_proj": (tokens, 2 * INNER // parallel, WIDTH), "mlp_down_proj": (tokens, WIDTH, INNER // parallel)}


# Inside `warpstep exec`.


def weights(torch, parallel):
    def make(rows, columns):
        return (torch.randn(rows, columns, dtype=torch.float32) / math.sqrt(columns)).half()
    s = shapes(1, parallel)
    w = {name: make(n, k) for name, (_, n, k) in s.items()}
    w["norm1"] = w["norm2"] = torch.ones(WIDTH, dtype=torch.float16)
    return w


def reference(torch, x, w, heads, rows):
    """The layer on the CPU in single precision, the last `rows` of its output."""
    def norm(v, g):
        return v * torch.rsqrt((v * v).mean(-1, keepdim=True) + 1e-5) * g.float()
    x = x.float()
    n = x.shape[0]
    q, k, v = (norm(x, w["norm1"]) @ w["attn_pre_proj"].float().t()).view(n, 3, heads, HEAD).unbind(1)
    angle = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, HEAD, 2) / HEAD)
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    def turn(t):
        a, b = t[..., : HEAD // 2], t[..., HEAD // 2 :]
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)
    q, k = turn(q)[-rows:].transpose(0, 1), turn(k).transpose(0, 1)
    score = q @ k.transpose(1, 2) / math.sqrt(HEAD)
    score = score.masked_fill(torch.arange(n)[None, :] > torch.arange(n - rows, n)[:, None], -math.inf)
    y = (score.softmax(-1) @ v.transpose(0, 1)).transpose(0, 1).reshape(rows, -1)
    x = x[-rows:] + y @ w["attn_post_proj"].float().t()
    gate, up = (norm(x, w["norm2"]) @ w["mlp_up_proj"].float().t()).chunk(2, -1)
    return x + (torch.nn.functional.silu(gate) * up) @ w["mlp_down_proj"].float().t()


def kernels():
    import triton
    import triton.language as tl

    @triton.jit
    def silu_times(x, out, inner, BLOCK: tl.constexpr):
        row, at = tl.program_id(0).to(tl.int64), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        gate = tl.load(x + row * 2 * inner + at, at < inner).to(tl.float32)
        up = tl.load(x + row * 2 * inner + inner + at, at < inner).to(tl.float32)
        tl.store(out + row * inner + at, (gate / (1 + tl.exp(-gate)) * up).to(tl.float16), at < inner)

    @triton.jit
    def rotate(qkv, table, stride, HEADS_OF_Q_K: tl.constexpr, HALF: tl.constexpr):
        row, head = tl.program_id(0).to(tl.int64), tl.arange(0, HEADS_OF_Q_K)[:, None]
        at = tl.arange(0, HALF)[None, :]
        cos, sin = tl.load(table + row * 2 * HALF + at), tl.load(table + row * 2 * HALF + HALF + at)
        p = qkv + row * stride + head * 2 * HALF + at
        a, b = tl.load(p).to(tl.float32), tl.load(p + HALF).to(tl.float32)
        tl.store(p, (a * cos - b * sin).to(tl.float16))
        tl.store(p + HALF, (b * cos + a * sin).to(tl.float16))

    return silu_times, rotate


def inner(args):
    import torch
    from torch.nn import functional
    torch.manual_seed(1)
    torch.set_grad_enabled(False)
    silu_times, rotate = kernels()
    heads, width = HEADS // args.parallel, INNER // args.parallel
    w = weights(torch, args.parallel)
    x = torch.randn(args.tokens, WIDTH).half()
    angle = torch.arange(args.tokens)[:, None] / 10000 ** (torch.arange(0, HEAD, 2) / HEAD)
    table, g, xg = torch.cat((angle.cos(), angle.sin()), -1).float().cuda(), {k: v.cuda() for k, v in w.items()}, x.cuda()
    room = torch.empty(args.tokens, width, dtype=torch.float16, device="cuda")

    def turn(qkv):
        rotate[(args.tokens,)](qkv, table, qkv.stride(0), 2 * heads, HEAD // 2)

    def act(h):
        silu_times[(args.tokens, (width + 2047) // 2048)](h, room, width, 2048)

    def attend(qkv):
        q, k, v = qkv.view(args.tokens, 3, heads, HEAD).unbind(1)
        q, k, v = (t.transpose(0, 1).unsqueeze(0) for t in (q, k, v))
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True).squeeze(0).transpose(0, 1).reshape(args.tokens, -1)

    def norm(t, name):
        return functional.rms_norm(t, (WIDTH,), g[name], 1e-5)

    torch.backends.cuda.enable_cudnn_sdp(False)
    # What is short runs once before, so that its code is in the caches.
    qkv, h = (torch.empty(args.tokens, n, dtype=torch.float16, device="cuda") for n in (3 * heads * HEAD, 2 * width))
    norm(xg, "norm1"), turn(qkv), attend(qkv), act(h), xg + xg
    torch.cuda.synchronize()
    qkv = functional.linear(norm(xg, "norm1"), g["attn_pre_proj"])
    turn(qkv)
    y = xg + functional.linear(attend(qkv), g["attn_post_proj"])
    h = functional.linear(norm(y, "norm2"), g["mlp_up_proj"])
    act(h)
    out = (y + functional.linear(room, g["mlp_down_proj"]))[-2:].cpu().float()
    want = reference(torch, x, w, heads, 2)
    off = ((out - want).abs().max() / want.abs().max()).item()
    print(f"largest error of two rows beside the CPU's: {off:.1e} of the largest element")
    return off > 1e-2


# Outside.


def operation(name, last):
    """Which operations a kernel may be, by its name."""
    if name.startswith("warpstep_"):
        return "product"
    for words, kind in (("norm|Norm", "norm"), ("rotate", "attn_rope"), ("flash|fmha|attention", "attention"), ("silu_times", "mlp_act")):
        if re.search(words, name):
            return kind
    return "attention" if last == "attention" and re.search("copy|direct", name) else "add"


def times(path):
    """us of each operation of the layer, from its last norm but one on."""
    data = json.loads(pathlib.Path(path).read_text())
    launches = [(operation(l["kernel"], ""), l["kernel"], (l["end_ps"] - l["start_ps"]) / 1e6) for l in data["launches"]]
    first = [i for i, l in enumerate(launches) if l[0] == "product"][0]
    while launches[first][0] != "norm":
        first -= 1
    while first > 0 and launches[first - 1][0] == "norm":
        first -= 1
    todo, out, names = list(OPERATIONS), [], []
    for kind, name, us in launches[first:]:
        here = todo[0] if todo else ""
        fits = kind == here or (kind == "norm" and "norm" in here) or (kind == "product" and here in PRODUCTS)
        adds = "gemm_parts" in name  # of the product before it
        if fits and not adds:
            out.append([todo.pop(0), us])
            names.append(name)
        elif out:
            out[-1][1] += us
            if adds:
                names[-1] += " + parts"
    return data, out, names


def table(args, path):
    data, rows, names = times(path)
    kind = "h100" if args.gpu.startswith("h100") else "a100"
    with open(ROOT / "tools/compat/transformer_block.csv", encoding="utf-8") as f:
        lines = csv.DictReader(line for line in f if not line.startswith("#"))
        measured = {r["operation"]: float(r["us"]) for r in lines
                    if (r["gpu"], int(r["tokens"]), int(r["parallel"])) == (kind, args.tokens, args.parallel)}
    print(f"{data['gpu']}, {args.tokens} tokens, a {args.parallel}th part" if args.parallel > 1 else f"{data['gpu']}, {args.tokens} tokens")
    print("\n| operation | simulated us | measured us | off by | TFLOP/s, simulated and measured | kernel |\n|---|--:|--:|--:|---|---|")
    sums = {"products": [0, 0], "others": [0, 0]}
    for (name, us), kernel in zip(rows, names):
        want = measured.get(name)
        rate = ""
        if name in PRODUCTS:
            m, n, k = shapes(args.tokens, args.parallel)[name]
            rate = f"{2e-6 * m * n * k / us:.0f}" + (f", {2e-6 * m * n * k / want:.0f}" if want else "")
        if want:
            part = sums["products" if name in PRODUCTS else "others"]
            part[0] += us
            part[1] += want
        short = kernel if kernel.startswith("warpstep") else subprocess.run(["c++filt", kernel], capture_output=True, text=True, check=False).stdout.strip()
        short = re.sub(r"^void |at::native::|\(anonymous namespace\)::", "", short).split("<")[0].split("(")[0]
        print(f"| {name} | {us:.1f} | {want if want else '-'} | {f'{100 * (us / want - 1):+.0f} %' if want else ''} | {rate} | `{short}` |")
    for name, (us, want) in [*sums.items(), ("together", [sum(v[i] for v in sums.values()) for i in range(2)])]:
        if want:
            print(f"| {name} | {us:.1f} | {want:.0f} | {100 * (us / want - 1):+.1f} % | | |")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--gpu", default="a100-sxm4-80gb")
    p.add_argument("--tokens", type=int, default=512)
    p.add_argument("--parallel", type=int, default=1)
    p.add_argument("--keep", type=pathlib.Path)
    p.add_argument("--threads", type=int, default=1, help="host threads; times do not depend on them")
    p.add_argument("--functional", action="store_true", help="results alone, to try the script")
    p.add_argument("--summary", type=pathlib.Path)
    p.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.inner:
        return inner(args)
    if args.summary:
        return table(args, args.summary)
    if subprocess.run([args.python, "-c", "import torch, triton"], capture_output=True, check=False).returncode:
        print(f"ok transformer_block # SKIP {args.python} does not have torch and triton")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        out = args.keep or pathlib.Path(scratch) / "block.json"
        mode = ["--functional"] if args.functional else []
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([os.environ.get("BIN", ROOT / "build/warpstep"), "exec", "--quiet", *mode, "--threads", str(args.threads), "--gpu", args.gpu, "--json", out, args.python, "-W", "ignore",
                               __file__, "--inner", "--tokens", str(args.tokens), "--parallel", str(args.parallel)], check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        table(args, out)
        print(f"\n{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.0f} s of processor time")
        return done.returncode


sys.exit(main())
