"""Triton: its compiler ends with ptxas, its launcher is a C extension over the driver. No PyTorch: what the
launcher wants of a tensor is data_ptr() and dtype."""
import ctypes

import numpy as np
import triton
import triton.language as tl

import checks

driver = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    result = getattr(driver, name)(*arguments)
    assert result == 0, (name, result)


class Buffer:
    """A copy of an array on the GPU."""

    def __init__(self, array):
        self.like, self.dtype = array, getattr(tl, str(array.dtype))
        pointer = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(array.nbytes))
        self.pointer = pointer.value
        call("cuMemcpyHtoD_v2", pointer, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))

    def data_ptr(self):
        return self.pointer

    def numpy(self):
        array = np.empty_like(self.like)
        call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(self.pointer),
             ctypes.c_size_t(array.nbytes))
        return array


@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(z + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


def vector_add():
    x, y = np.random.default_rng(1).random((2, 1000), dtype=np.float32)
    z = Buffer(np.zeros_like(x))
    add_kernel[(triton.cdiv(1000, 256),)](Buffer(x), Buffer(y), z, 1000, BLOCK=256)
    np.testing.assert_array_equal(z.numpy(), x + y)


@triton.jit
def softmax_kernel(x, y, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + i, values / tl.sum(values, axis=0), mask=i < columns)


def softmax():
    x = np.random.default_rng(2).standard_normal((20, 100), dtype=np.float32)
    y = Buffer(np.zeros_like(x))
    softmax_kernel[(20,)](Buffer(x), y, 100, BLOCK=128)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y.numpy(), e / e.sum(axis=1, keepdims=True), rtol=1e-5)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (first + k)[None, :])
        right = tl.load(b + (first + k)[:, None] * N + n[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + m[:, None] * N + n[None, :], total)


def matmul():
    rng = np.random.default_rng(3)
    a, b = (rng.random((128, 128), dtype=np.float32).astype(np.float16) for _ in range(2))
    c = Buffer(np.zeros((128, 128), np.float32))
    matmul_kernel[(2, 2)](Buffer(a), Buffer(b), c, 128, 128, 128, BM=64, BN=64, BK=32)
    np.testing.assert_allclose(c.numpy(), a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3)


@triton.jit
def tensor_matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    out = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(left.load([m, k]), right.load([n, k]).T, total)
    out.store([m, n], total)


def tensor_matmul():
    """Tensor maps made by the kernel, tensor copies, products of warpgroups or in tensor memory; edges inside of tiles."""
    workspace = []

    def allocate(size, align, stream):
        workspace.append(Buffer(np.zeros((size + 3) // 4, np.int32)))
        return workspace[-1]

    triton.set_allocator(allocate)
    rng = np.random.default_rng(4)
    M, N, K = 160, 192, 256
    a, b = (rng.random((rows, K), dtype=np.float32).astype(np.float16) for rows in (M, N))
    c = Buffer(np.zeros((M, N), np.float32))
    tile = 128 if arch == 100 else 64
    grid = (triton.cdiv(M, tile), triton.cdiv(N, tile))
    kernel = tensor_matmul_kernel[grid](Buffer(a), Buffer(b), c, M, N, K, BM=tile, BN=tile, BK=64)
    np.testing.assert_allclose(c.numpy(), a.astype(np.float32) @ b.astype(np.float32).T, rtol=1e-3)
    for instruction in ("cp.async.bulk.tensor", "tensormap.replace", PRODUCTS[arch]):
        assert instruction in kernel.asm["ptx"], instruction


# The primary context becomes current here: where PyTorch is installed, Triton asks it for its stream, and it makes none.
device, context = ctypes.c_int(), ctypes.c_void_p()
call("cuInit", 0)
call("cuDeviceGet", ctypes.byref(device), 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
call("cuCtxSetCurrent", context)
PRODUCTS = {90: "wgmma.mma_async", 100: "tcgen05.mma"}
arch = triton.runtime.driver.active.get_current_target().arch
checks.run([vector_add, softmax, matmul] + [tensor_matmul] * (arch in PRODUCTS))
