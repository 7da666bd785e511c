"""CuTe DSL (nvidia-cutlass-dsl): kernels in Python that its own compiler makes, on PyTorch's tensors."""
import cutlass
import cutlass.cute as cute
import torch
from cutlass.cute.runtime import from_dlpack

import checks


@cute.kernel
def add_kernel(a: cute.Tensor, b: cute.Tensor, out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    width, _, _ = cute.arch.block_dim()
    at = block * width + thread
    n = out.shape[1]
    out[at // n, at % n] = a[at // n, at % n] + b[at // n, at % n]


@cute.jit
def add(a: cute.Tensor, b: cute.Tensor, out: cute.Tensor):
    m, n = a.shape
    add_kernel(a, b, out).launch(grid=((m * n) // 256, 1, 1), block=(256, 1, 1))


@cute.kernel
def product_kernel(a: cute.Tensor, b: cute.Tensor, out: cute.Tensor):
    j, i, _ = cute.arch.thread_idx()
    bj, bi, _ = cute.arch.block_idx()
    row, column = bi * 16 + i, bj * 16 + j
    total = cutlass.Float32(0.0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, column]
    out[row, column] = total


@cute.jit
def product(a: cute.Tensor, b: cute.Tensor, out: cute.Tensor):
    m, n = out.shape
    product_kernel(a, b, out).launch(grid=(n // 16, m // 16, 1), block=(16, 16, 1))


def launch(what, *tensors):
    given = [from_dlpack(t, assumed_align=16) for t in tensors]
    cute.compile(what, *given)(*given)
    torch.cuda.synchronize()


def sums():
    a, b = torch.randn(64, 128).cuda(), torch.randn(64, 128).cuda()
    out = torch.zeros_like(a)
    launch(add, a, b, out)
    assert torch.equal(out, a + b)


def products():
    a, b, out = torch.randn(32, 40).cuda(), torch.randn(40, 48).cuda(), torch.zeros(32, 48, device="cuda")
    launch(product, a, b, out)
    want = a.cpu().double() @ b.cpu().double()
    assert (out.cpu().double() - want).abs().max() < 1e-5 * want.abs().max()


checks.run([sums, products])
