"""cuTile: kernels of tiles that NVIDIA's tileiras compiles, launched with blocks of one thread, on PyTorch's tensors."""
import cuda.tile as ct
import torch

import checks

torch.manual_seed(0)
STREAM = torch.cuda.current_stream()


@ct.kernel
def add(a, b, out, size: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.load(a, index=(i,), shape=(size,)) + ct.load(b, index=(i,), shape=(size,)))


@ct.kernel
def product(a, b, out, m: ct.Constant[int], n: ct.Constant[int], k: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((m, n), 0, dtype=ct.float32)
    for step in range(ct.num_tiles(a, axis=1, shape=(m, k))):
        x = ct.load(a, index=(i, step), shape=(m, k), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(step, j), shape=(k, n), padding_mode=ct.PaddingMode.ZERO)
        total = ct.mma(x, y, total)
    ct.store(out, index=(i, j), tile=ct.astype(total, out.dtype))


@ct.kernel
def softmax(x, out, width: ct.Constant[int]):
    row = ct.load(x, index=(ct.bid(0), 0), shape=(1, width))
    e = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(out, index=(ct.bid(0), 0), tile=e / ct.sum(e, axis=1, keepdims=True))


@ct.kernel
def histogram(x, counts, size: ct.Constant[int]):
    ct.atomic_add(counts, (ct.load(x, index=(ct.bid(0),), shape=(size,)),), 1)


def sums():
    a, b = torch.randn(1000).cuda(), torch.randn(1000).cuda()
    out = torch.empty_like(a)
    ct.launch(STREAM, (ct.cdiv(1000, 128),), add, (a, b, out, 128))
    assert torch.equal(out, a + b)


def products():
    for kind, limit in ((torch.float16, 2e-3), (torch.bfloat16, 1e-2)):
        a, b = torch.randn(100, 72).to(kind), torch.randn(72, 130).to(kind)
        out = torch.empty(100, 130, dtype=kind, device="cuda")
        ct.launch(STREAM, (ct.cdiv(100, 64), ct.cdiv(130, 64)), product, (a.cuda(), b.cuda(), out, 64, 64, 32))
        want = a.double() @ b.double()
        assert (out.cpu().double() - want).abs().max() <= limit * want.abs().max()


def rows():
    x = torch.randn(33, 128)
    out = torch.empty(33, 128, device="cuda")
    ct.launch(STREAM, (33,), softmax, (x.cuda(), out, 128))
    assert torch.allclose(out.cpu(), x.softmax(1), rtol=1e-5, atol=1e-7)


def atomics():
    x = torch.randint(0, 50, (512,), dtype=torch.int32)
    counts = torch.zeros(50, dtype=torch.int32, device="cuda")
    ct.launch(STREAM, (4,), histogram, (x.cuda(), counts, 128))
    assert torch.equal(counts.cpu().long(), torch.bincount(x, minlength=50))


def captured():
    """The same launch in a graph."""
    a, out = torch.randn(256).cuda(), torch.zeros(256, device="cuda")
    ct.launch(STREAM, (2,), add, (a, a, out, 128))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        ct.launch(torch.cuda.current_stream(), (2,), add, (a, a, out, 128))
    a.fill_(3.0)
    graph.replay()
    assert (out == 6).all()


checks.run([sums, products, rows, atomics, captured])
