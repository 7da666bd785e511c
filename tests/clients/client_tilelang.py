"""TileLang: a product of tiles that it writes in CUDA C++ and nvcc compiles (CUDA_HOME: the toolkit), on PyTorch's tensors."""
import tilelang
import tilelang.language as T
import torch

import checks


@tilelang.jit(out_idx=[-1])
def product(m, n, k, bm, bn, bk, kind="float16"):
    @T.prim_func
    def kernel(a: T.Tensor((m, k), kind), b: T.Tensor((k, n), kind), out: T.Tensor((m, n), kind)):
        with T.Kernel(T.ceildiv(n, bn), T.ceildiv(m, bm), threads=128) as (bx, by):
            x, y = T.alloc_shared((bm, bk), kind), T.alloc_shared((bk, bn), kind)
            total = T.alloc_fragment((bm, bn), "float32")
            T.clear(total)
            for step in T.Pipelined(T.ceildiv(k, bk), num_stages=2):
                T.copy(a[by * bm, step * bk], x)
                T.copy(b[step * bk, bx * bn], y)
                T.gemm(x, y, total)
            T.copy(total, out[by * bm, bx * bn])

    return kernel


def products():
    a, b = torch.randn(128, 96).half(), torch.randn(96, 128).half()
    got = product(128, 128, 96, 64, 64, 32)(a.cuda(), b.cuda()).cpu().double()
    want = a.double() @ b.double()
    assert (got - want).abs().max() < 1e-3 * want.abs().max()


checks.run([products])
