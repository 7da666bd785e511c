"""torch.compile, AOTInductor and flex_attention (Triton kernels) under `warpstep exec`: equal to the CPU."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

import checks
from both import close, random


def compile_model():
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(32, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 8))
    ref = copy.deepcopy(m)
    m = m.cuda()
    x = random(16, 32)
    c = torch.compile(m)
    y = c(x.cuda())
    (y**2).sum().backward()
    z = ref(x)
    (z**2).sum().backward()
    close("compile", [y] + [p.grad for p in m.parameters()], [z] + [p.grad for p in ref.parameters()], 1e-4)


def compile_reduce_overhead():
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 8))
    c = torch.compile(copy.deepcopy(m).cuda(), mode="reduce-overhead")
    with torch.no_grad():
        for i in range(4):
            x = random(16, 32, seed=i)
            close("cudagraphs", [c(x.cuda()).clone()], [m(x)], 1e-4)


def compile_dynamic():
    f = torch.compile(lambda x: torch.softmax(x, -1).cumsum(-1).sort(-1).values, dynamic=True)
    for n in (7, 50, 129):
        x = random(4, n)
        close("dynamic", [f(x.cuda())], [torch.softmax(x, -1).cumsum(-1).sort(-1).values], 1e-4)


def compile_optimizer():
    torch.manual_seed(0)
    m = nn.Linear(8, 8).cuda()
    r = copy.deepcopy(m)
    o = torch.optim.AdamW(m.parameters(), 0.01)
    o2 = torch.optim.AdamW(r.parameters(), 0.01)
    step = torch.compile(o.step)
    for i in range(3):
        x = random(4, 8, seed=i).cuda()
        for mm, oo, st in ((m, o, step), (r, o2, o2.step)):
            oo.zero_grad()
            (mm(x) ** 2).sum().backward()
            st()
    close("opt", m.parameters(), r.parameters(), 1e-5)


def aot_inductor():
    import tempfile

    m = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).cuda().eval()
    x = random(3, 16).cuda()
    with torch.no_grad():
        ep = torch.export.export(m, (x,))
    p = torch._inductor.aoti_compile_and_package(ep, package_path=tempfile.mkdtemp() + "/m.pt2")
    f = torch._inductor.aoti_load_package(p)
    close("aoti", [f(x)], [m(x)], 1e-5)


def flex():
    from torch.nn.attention.flex_attention import flex_attention, create_block_mask

    q, k, v = (random(1, 2, 128, 16, seed=i) for i in range(3))
    bm = create_block_mask(lambda b, h, i, j: (i >= j) & (i - j < 20), None, None, 128, 128, device="cuda")
    i = torch.arange(128)
    mask = (i[:, None] >= i) & (i[:, None] - i < 20)
    Q, K, V = (t.clone().requires_grad_() for t in (q, k, v))
    w = F.scaled_dot_product_attention(Q, K, V, mask)
    (w**2).sum().backward()
    p = [t.cuda().requires_grad_() for t in (q, k, v)]
    fa = torch.compile(flex_attention)
    o = fa(*p, block_mask=bm)
    (o**2).sum().backward()
    close("flex", [o] + [t.grad for t in p], [w] + [t.grad for t in (Q, K, V)], 5e-3)


checks.run([compile_model, compile_reduce_overhead, compile_dynamic, compile_optimizer, aot_inductor, flex])
