"""PyTorch beyond layers: CUDA graphs, mixed precision, sparse, structured and nested tensors, linear algebra, quantisation, distributions,
process groups, under `warpstep exec`: equal to the CPU."""

import copy
import os

import torch
import torch.nn.functional as F
from torch import nn

import checks
from both import close, model_both, random


def cuda_graph():
    m = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 8)).cuda()
    x = torch.zeros(16, 32, device="cuda")
    s = torch.cuda.Stream()
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        for _ in range(3):
            m(x)
    torch.cuda.current_stream().wait_stream(s)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = m(x)
    for i in range(3):
        z = random(16, 32, seed=i).cuda()
        x.copy_(z)
        graph.replay()
        close("graph", [y], [m(z)], 1e-6)


def graphed_callables():
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Dropout(0.0), nn.Linear(64, 8)).cuda()
    ref = copy.deepcopy(m)
    gm = torch.cuda.make_graphed_callables(m, (random(16, 32).cuda(),))
    o1, o2 = torch.optim.SGD(gm.parameters(), 0.1), torch.optim.SGD(ref.parameters(), 0.1)
    for i in range(4):
        x, y = random(16, 32, seed=i).cuda(), random(16, 8, seed=i + 9).cuda()
        for mm, o in ((gm, o1), (ref, o2)):
            o.zero_grad()
            F.mse_loss(mm(x), y).backward()
            o.step()
    close("weights", gm.parameters(), ref.parameters(), 1e-5)


def graph_training():
    torch.manual_seed(0)
    m = nn.Linear(16, 16).cuda()
    ref = copy.deepcopy(m)
    o1 = torch.optim.Adam(m.parameters(), 0.01, capturable=True)
    o2 = torch.optim.Adam(ref.parameters(), 0.01)
    x, y = random(8, 16).cuda(), random(8, 16, seed=1).cuda()
    s = torch.cuda.Stream()
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        for _ in range(3):
            o1.zero_grad(set_to_none=True)
            F.mse_loss(m(x), y).backward()
            o1.step()
    torch.cuda.current_stream().wait_stream(s)
    graph = torch.cuda.CUDAGraph()
    o1.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = F.mse_loss(m(x), y)
        loss.backward()
        o1.step()
    for i in range(3):
        graph.replay()
    for _ in range(6):
        o2.zero_grad()
        F.mse_loss(ref(x), y).backward()
        o2.step()
    close("weights", m.parameters(), ref.parameters(), 1e-4)


def graph_random():
    graph = torch.cuda.CUDAGraph()
    x = torch.ones(1000, device="cuda")
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        F.dropout(x, 0.5)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        y = F.dropout(x, 0.5)
    torch.cuda.manual_seed(3)
    graph.replay()
    a = y.clone()
    graph.replay()
    b = y.clone()
    torch.cuda.manual_seed(3)
    graph.replay()
    c = y.clone()
    assert torch.equal(a, c) and not torch.equal(a, b)


def amp():
    torch.manual_seed(0)
    for kind in (torch.float16, torch.bfloat16):
        m = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 10))
        ref = copy.deepcopy(m).double()
        m = m.cuda()
        o1, o2 = torch.optim.SGD(m.parameters(), 0.05), torch.optim.SGD(ref.parameters(), 0.05)
        scaler = torch.amp.GradScaler("cuda", enabled=kind == torch.float16)
        for i in range(3):
            x, t = random(4, 3, 8, 8, seed=i), torch.arange(4)
            with torch.autocast("cuda", kind):
                loss = F.cross_entropy(m(x.cuda()), t.cuda())
            o1.zero_grad()
            scaler.scale(loss).backward()
            scaler.unscale_(o1)
            torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)
            scaler.step(o1)
            scaler.update()
            l2 = F.cross_entropy(ref(x.double()), t)
            o2.zero_grad()
            l2.backward()
            torch.nn.utils.clip_grad_norm_(ref.parameters(), 1.0)
            o2.step()
            assert abs(loss.item() - l2.item()) < 0.05 * (1 + abs(l2.item())), (kind, loss, l2)


def scaler_infinite():
    scaler = torch.amp.GradScaler("cuda", init_scale=65536.0)
    w = nn.Parameter(torch.ones(4, device="cuda"))
    o = torch.optim.SGD([w], 1.0)
    scaler.scale((w * float("inf")).sum()).backward()
    scaler.step(o)
    scaler.update()
    assert scaler.get_scale() == 32768.0 and torch.equal(w.detach().cpu(), torch.ones(4))


def sparse_products():
    a = random(30, 20) * (torch.rand(30, 20, generator=torch.Generator().manual_seed(1)) < 0.2)
    b = random(20, 7, seed=2)
    for kind, lim in ((torch.float32, 1e-5), (torch.float64, 1e-12), (torch.complex64, 1e-5)):
        A, B = a.to(kind), b.to(kind)
        for make in (lambda t: t.to_sparse_csr(), lambda t: t.to_sparse_coo(), lambda t: t.to_sparse_csc()):
            close("spmm", [make(A).cuda() @ B.cuda()], [A @ B], lim)
            close("spmv", [make(A).cuda() @ B[:, 0].contiguous().cuda()], [A @ B[:, 0]], lim)
        C = (random(20, 25, seed=4) * (torch.rand(20, 25, generator=torch.Generator().manual_seed(5)) < 0.2)).to(kind)
        close("spgemm", [(A.to_sparse_csr().cuda() @ C.to_sparse_csr().cuda()).to_dense()], [A @ C], lim)
        close("spgemm coo", [torch.sparse.mm(A.to_sparse_coo().cuda(), C.to_sparse_coo().cuda()).to_dense()], [A @ C], lim)


def sparse_half():
    a = random(30, 20) * (torch.rand(30, 20, generator=torch.Generator().manual_seed(1)) < 0.2)
    b = random(20, 7, seed=2)
    for kind, limit in ((torch.float16, 3e-3), (torch.bfloat16, 2e-2)):
        sparse, dense = a.to(kind), b.to(kind)
        close(f"CSR of {kind}", [sparse.to_sparse_csr().cuda() @ dense.cuda()], [sparse.float() @ dense.float()], limit)


def structured():
    if torch.cuda.get_device_capability()[0] != 8:  # PyTorch has CUTLASS's way for these alone; cuSPARSELt is closed
        return
    a, b = random(128, 128).half(), random(128, 64, seed=1).half()
    a.view(-1, 4)[:, 2:] = 0
    torch.sparse.SparseSemiStructuredTensor._FORCE_CUTLASS = True
    close("2:4", [torch.sparse.to_sparse_semi_structured(a.cuda()) @ b.cuda()], [a.float() @ b.float()], 3e-3)


def sparse_backward():
    a = random(30, 20) * (torch.rand(30, 20, generator=torch.Generator().manual_seed(1)) < 0.2)
    b = random(20, 7, seed=2)
    r = []
    for d in ("cpu", "cuda"):
        A = a.to_sparse_coo().to(d).detach().requires_grad_()
        B = b.to(d).detach().requires_grad_()
        o = torch.sparse.mm(A, B)
        (o**2).sum().backward()
        r.append([o, A.grad.to_dense(), B.grad])
    close("sparse backward", r[1], r[0], 1e-5)
    r = []
    for d in ("cpu", "cuda"):
        A = a.to_sparse_csr().to(d).detach().requires_grad_()
        B = b.to(d).detach().requires_grad_()
        o = A @ B
        (o**2).sum().backward()
        r.append([o, A.grad.to_dense(), B.grad])
    close("csr backward", r[1], r[0], 1e-5)
    close(
        "softmax",
        [torch.sparse.softmax(a.to_sparse_coo().cuda(), 1).to_dense()],
        [torch.sparse.softmax(a.to_sparse_coo(), 1).to_dense()],
        1e-5,
    )


def sparse_bsr():
    a = random(32, 48)
    a[:16, 16:32] = 0
    a[16:, :16] = 0
    A = a.to_sparse_bsr((16, 16)).cuda()
    b = random(48, 24, seed=2)
    close("bsr to dense", [A.to_dense()], [a], 0)
    close("bsr mm", [A @ b.cuda()], [a @ b], 1e-5)
    close("bsr mv", [A @ b[:, 0].contiguous().cuda()], [a @ b[:, 0]], 1e-5)


def nested():
    parts = [random(n, 16, seed=n) for n in (3, 7, 5)]
    for layout in (torch.strided, torch.jagged):
        n = torch.nested.nested_tensor([p.cuda() for p in parts], layout=layout)
        lin = nn.Linear(16, 8)
        want = [lin(p) for p in parts]
        got = copy.deepcopy(lin).cuda()(n)
        close("nested linear", got.unbind(), want, 1e-5)
        close("padded", [torch.nested.to_padded_tensor(n, 0.0)], [torch.nn.utils.rnn.pad_sequence(parts, batch_first=True)], 0)


def nested_attention():
    qs = [[random(n, 4, 16, seed=n + i) for n in (3, 7, 5)] for i in (0, 20, 40)]
    for kind, lim in ((torch.float32, 1e-4), (torch.float16, 5e-3)):
        t = [torch.nested.nested_tensor([x.to(kind) for x in q], layout=torch.jagged, device="cuda").transpose(1, 2) for q in qs]
        got = F.scaled_dot_product_attention(*t).transpose(1, 2)
        want = [
            F.scaled_dot_product_attention(*(q[i].to(kind).float().transpose(0, 1) for q in qs)).transpose(0, 1) for i in range(3)
        ]
        close(f"nested {kind}", got.unbind(), want, lim)


def fft_all():
    for kind in (torch.float32, torch.float64):
        x = random(3, 20, 15).to(kind)
        lim = 1e-5 if kind == torch.float32 else 1e-12
        for f in (
            torch.fft.fft,
            torch.fft.rfft,
            torch.fft.fft2,
            torch.fft.rfft2,
            torch.fft.fftn,
            torch.fft.rfftn,
            torch.fft.hfft,
            torch.fft.ihfft,
            torch.fft.ifft,
            torch.fft.irfft,
        ):
            close(f.__name__, [f(x.cuda())], [f(x)], lim)
    x = random(2, 4000)
    w = torch.hann_window(256)
    s = torch.stft(x, 256, 64, window=w, return_complex=True)
    c = torch.stft(x.cuda(), 256, 64, window=w.cuda(), return_complex=True)
    close("stft", [c], [s], 1e-5)
    close("istft", [torch.istft(c, 256, 64, window=w.cuda())], [torch.istft(s, 256, 64, window=w)], 1e-5)
    h = random(4, 64).half()
    close("half", [torch.view_as_real(torch.fft.fft(h.cuda())).float()], [torch.view_as_real(torch.fft.fft(h.float()))], 3e-3)


def linalg_all():
    a, b = random(3, 12, 12).double(), random(3, 12, 4, seed=3).double()
    symmetric = a @ a.mT + torch.eye(12).double()
    tall, sides = random(3, 20, 12).double(), random(3, 20, 2, seed=4).double()
    L = torch.linalg

    def same(name, f, *given, limit=1e-9):
        close(name, [f(*(t.cuda() for t in given))], [f(*given)], limit)

    same("solve", L.solve, a, b)
    same("inv", L.inv, a)
    same("det", L.det, a)
    same("cholesky", L.cholesky, symmetric)
    same("eigvalsh", L.eigvalsh, symmetric)
    same("svdvals", L.svdvals, a)
    same("lstsq", lambda x, y: L.lstsq(x, y).solution, tall, sides)
    same("matrix_exp", lambda x: L.matrix_exp(x / 4), a)
    same("pinv", L.pinv, a)
    same("cholesky_solve", lambda x, s: torch.cholesky_solve(x, L.cholesky(s)), b, symmetric)
    same("cholesky_inverse", lambda s: torch.cholesky_inverse(L.cholesky(s)), symmetric)
    same("eigvals", lambda x: L.eigvals(x).abs().sort().values, a)
    q, r = L.qr(a.cuda())
    close("qr", [q @ r], [a], 1e-10)
    p, lower, upper = L.lu(a.cuda())
    close("lu", [p @ lower @ upper], [a], 1e-10)
    for driver in ("gesvd", "gesvdj", "gesvda"):
        close(driver, [L.svdvals(a.cuda(), driver=driver)], [L.svdvals(a)], 1e-9)


def loader_pinned():
    x = torch.utils.data.TensorDataset(random(32, 5), torch.arange(32))
    for workers in (0, 2):
        got = []
        for a, b in torch.utils.data.DataLoader(x, 8, pin_memory=True, num_workers=workers):
            assert a.is_pinned()
            got.append(a.to("cuda", non_blocking=True).cpu())
        close("loader", [torch.cat(got)], [random(32, 5)], 0)


def attention_backends():
    from torch.nn.attention import sdpa_kernel, SDPBackend

    for kind, lim in ((torch.float16, 5e-3), (torch.bfloat16, 3e-2), (torch.float32, 1e-4)):
        for causal in (False, True):
            q, k, v = (random(2, 4, 40, 32, seed=i).to(kind) for i in range(3))
            Q, K, V = (t.float().clone().requires_grad_() for t in (q, k, v))
            w = F.scaled_dot_product_attention(Q, K, V, is_causal=causal)
            w.sum().backward()
            for be in (SDPBackend.MATH, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION):
                if kind == torch.float32 and be in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION):
                    continue
                p = [t.cuda().requires_grad_() for t in (q, k, v)]
                with sdpa_kernel(be):
                    o = F.scaled_dot_product_attention(*p, is_causal=causal)
                    o.sum().backward()
                close(f"{be} {kind} {causal}", [o] + [t.grad for t in p], [w] + [t.grad for t in (Q, K, V)], lim)


def varlen_attention():
    from torch.nn.attention.varlen import varlen_attn

    q, k, v = (random(15, 4, 32, seed=i).half() for i in range(3))
    cu = torch.tensor([0, 3, 10, 15], dtype=torch.int32)
    o = varlen_attn(q.cuda(), k.cuda(), v.cuda(), cu.cuda(), cu.cuda(), 7, 7)
    w = torch.cat(
        [
            F.scaled_dot_product_attention(*(t[a:b].float().transpose(0, 1) for t in (q, k, v))).transpose(0, 1)
            for a, b in ((0, 3), (3, 10), (10, 15))
        ]
    )
    close("varlen", [o], [w], 5e-3)


def grouped_mm():
    a, b = random(24, 32).bfloat16(), random(3, 32, 16, seed=1).bfloat16()
    offs = torch.tensor([8, 12, 24], dtype=torch.int32)
    want = torch.cat([a[s:e].float() @ b[i].float() for i, (s, e) in enumerate(((0, 8), (8, 12), (12, 24)))])
    close("grouped", [F.grouped_mm(a.cuda(), b.cuda(), offs=offs.cuda())], [want], 2e-2)


def int8_products():
    a, b = torch.randint(-100, 100, (32, 64), generator=torch.Generator().manual_seed(0)).to(torch.int8), torch.randint(
        -100, 100, (64, 48), generator=torch.Generator().manual_seed(1)
    ).to(torch.int8)
    close("int_mm", [torch._int_mm(a.cuda(), b.cuda())], [a.int() @ b.int()], 0)
    w = torch.randint(0, 256, (64, 32), generator=torch.Generator().manual_seed(2), dtype=torch.uint8)
    x = random(8, 64).bfloat16()
    p = torch._convert_weight_to_int4pack(w.cuda(), 2)
    sz = torch.ones(2, 64, 2, dtype=torch.bfloat16).cuda()
    sz[..., 1] = 0
    y = torch._weight_int4pack_mm(x.cuda(), p, 32, sz) if p is not None else None
    wide = torch.stack(((w >> 4), (w & 15)), -1).reshape(64, 64).float() - 8
    close("int4", [y], [x.float() @ wide.t()], 2e-2)


def quantised():
    import torch.ao.quantization as q

    x = random(4, 6)
    for f in (
        lambda t: torch.fake_quantize_per_tensor_affine(t, 0.1, 0, -128, 127),
        lambda t: torch.fake_quantize_per_channel_affine(
            t, torch.full((6,), 0.1).to(t.device), torch.zeros(6, dtype=torch.int32).to(t.device), 1, -128, 127
        ),
    ):
        close("fake", [f(x.cuda())], [f(x)], 1e-6)
    o = q.MovingAverageMinMaxObserver().cuda()
    o(x.cuda())
    o2 = q.MovingAverageMinMaxObserver()
    o2(x)
    close("observer", o.calculate_qparams(), o2.calculate_qparams(), 1e-6)
    a = torch.quantize_per_tensor(x.cuda(), 0.1, 3, torch.qint8)
    close("q", [a.dequantize()], [torch.quantize_per_tensor(x, 0.1, 3, torch.qint8).dequantize()], 1e-6)


def distributed_gloo():
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29512", RANK="0", WORLD_SIZE="1")
    dist.init_process_group("gloo")
    t = torch.ones(8, device="cuda")
    dist.all_reduce(t)
    assert t.sum().item() == 8
    m = nn.parallel.DistributedDataParallel(nn.Linear(4, 4).cuda(), device_ids=[0])
    m(torch.ones(2, 4).cuda()).sum().backward()
    dist.destroy_process_group()


def distributed_nccl():
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", RANK="0", WORLD_SIZE="1")
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", device_id=torch.device("cuda", 0))
    t = torch.ones(8, device="cuda")
    dist.all_reduce(t)
    dist.broadcast(t, 0)
    torch.cuda.synchronize()
    assert t.sum().item() == 8
    dist.destroy_process_group()


def embedding_bag():
    e = nn.EmbeddingBag(20, 8, mode="mean")
    i = torch.randint(0, 20, (30,), generator=torch.Generator().manual_seed(0))
    off = torch.tensor([0, 5, 5, 20])
    model_both("bag", e, dict(input=i, offsets=off))
    model_both("bag max", nn.EmbeddingBag(20, 8, mode="max"), dict(input=i, offsets=off))
    model_both("embedding", nn.Embedding(20, 8, padding_idx=2), dict(input=i))


def grid_samples():
    x, gr = random(2, 3, 9, 8), torch.rand(2, 5, 6, 2, generator=torch.Generator().manual_seed(1)) * 2.4 - 1.2
    for mode in ("bilinear", "nearest", "bicubic"):
        for pad in ("zeros", "border", "reflection"):
            for al in (False, True):
                close(
                    f"{mode} {pad} {al}",
                    [F.grid_sample(x.cuda(), gr.cuda(), mode, pad, al)],
                    [F.grid_sample(x, gr, mode, pad, al)],
                    1e-4,
                )
    th = random(2, 2, 3)
    for al in (False, True):
        close("affine", [F.affine_grid(th.cuda(), (2, 3, 5, 6), al)], [F.affine_grid(th, (2, 3, 5, 6), al)], 1e-5)


def distributions():
    D = torch.distributions
    torch.manual_seed(0)
    for d in (
        D.Gamma(torch.tensor(2.0).cuda(), 1.0),
        D.Beta(torch.tensor(2.0).cuda(), torch.tensor(3.0).cuda()),
        D.Poisson(torch.tensor(4.0).cuda()),
        D.Normal(torch.tensor(1.0).cuda(), 2.0),
        D.Dirichlet(torch.ones(3).cuda()),
        D.Binomial(10, torch.tensor(0.3).cuda()),
        D.StudentT(torch.tensor(8.0).cuda()),
        D.VonMises(torch.tensor(0.0).cuda(), torch.tensor(4.0).cuda()),
    ):
        s = d.sample((4000,))
        assert abs((s.mean(0) - d.mean).abs().max().item()) < 0.15, d
    m = torch.multinomial(torch.tensor([0.1, 0.2, 0.7]).cuda(), 4000, True)
    assert abs((m == 2).float().mean().item() - 0.7) < 0.05
    assert torch.equal(torch.randperm(5000, device="cuda").sort().values.cpu(), torch.arange(5000))


def func():
    from torch.func import vmap, grad, jacrev, jacfwd, hessian

    f = lambda x: (torch.sin(x) @ x)
    x = random(6)
    close(
        "func",
        [
            grad(f)(x.cuda()),
            jacrev(torch.sin)(x.cuda()),
            jacfwd(torch.sin)(x.cuda()),
            hessian(f)(x.cuda()),
            vmap(f)(random(3, 6).cuda()),
        ],
        [grad(f)(x), jacrev(torch.sin)(x), jacfwd(torch.sin)(x), hessian(f)(x), vmap(f)(random(3, 6))],
        1e-4,
    )


def optimizers():
    for o in ("Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD", "Muon"):
        if not hasattr(torch.optim, o):
            continue
        r = []
        for d in ("cpu", "cuda"):
            torch.manual_seed(0)
            m = nn.Linear(8, 8, bias=o != "Muon").to(d)
            op = getattr(torch.optim, o)(m.parameters(), lr=0.01)
            for i in range(4):
                op.zero_grad()
                (m(random(4, 8, seed=i).to(d)) ** 2).sum().backward()
                op.step()
            r.append(list(m.parameters()))
        close(o, r[1], r[0], 2e-4 if o != "Muon" else 2e-2)


def jiterator():
    f = torch.cuda.jiterator._create_jit_fn("template <typename T> T f(T x, T y) { return x * y + x; }")
    x, y = random(9), random(9, seed=1)
    close("jiterator", [f(x.cuda(), y.cuda())], [x * y + x], 1e-6)
    k = torch.cuda._compile_kernel(
        'extern "C" __global__ void twice(float *x, int n) { int i = threadIdx.x; if (i < n) x[i] *= 2; }', "twice"
    )
    z = x.cuda()
    k((1, 1, 1), (32, 1, 1), (z, 9))
    close("kernel", [z], [2 * x], 1e-6)


def special():
    S = torch.special
    x = random(50).double()
    for n in (
        "gammaln",
        "digamma",
        "erf",
        "erfinv",
        "i0",
        "i0e",
        "i1",
        "bessel_j0",
        "bessel_y0",
        "airy_ai",
        "ndtri",
        "log_ndtr",
        "expit",
        "zeta",
        "modified_bessel_k0",
    ):
        y = x.abs() * 0.3 + 0.1
        a = (y, y + 2) if n == "zeta" else (y,)
        a = (y + 1.5, y) if n == "zeta" else a
        close(n, [getattr(S, n)(*(t.cuda() for t in a)).nan_to_num(0)], [getattr(S, n)(*a).nan_to_num(0)], 1e-10)


def memory_pools():
    p = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(p):
        x = torch.ones(1000, device="cuda") * 2
    assert x.sum().item() == 2000
    y = torch.ones(100).share_memory_()
    s = x.untyped_storage()._share_cuda_()
    assert s
    t = torch.ones(64).pin_memory()
    torch.cuda.cudart().cudaHostUnregister if 0 else None
    torch.cuda.caching_allocator_alloc(1024)
    torch.cuda.memory_snapshot()


checks.run(
    [
        cuda_graph,
        graphed_callables,
        graph_training,
        graph_random,
        amp,
        scaler_infinite,
        sparse_products,
        sparse_half,
        structured,
        sparse_backward,
        sparse_bsr,
        nested,
        nested_attention,
        fft_all,
        linalg_all,
        loader_pinned,
        attention_backends,
        varlen_attention,
        grouped_mm,
        int8_products,
        quantised,
        distributed_gloo,
        distributed_nccl,
        embedding_bag,
        grid_samples,
        distributions,
        func,
        optimizers,
        jiterator,
        special,
        memory_pools,
    ]
)
