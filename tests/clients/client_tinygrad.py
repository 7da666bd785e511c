"""tinygrad's CUDA backend: writes CUDA C, has NVRTC compile it, launches through the driver."""
import numpy as np
from tinygrad import Device, Tensor, TinyJit, dtypes

import checks

RNG = np.random.default_rng(1)
A, B = (RNG.standard_normal((24, 32)).astype(np.float32) for _ in range(2))


def same(there, here, **tolerance):
    np.testing.assert_allclose(there.numpy(), here, **({"rtol": 1e-4, "atol": 1e-5} | tolerance))


def backend():
    assert Device.DEFAULT == "CUDA"


def elementwise():
    a, b = Tensor(A), Tensor(B)
    same(a + b * 2 - a / (b.abs() + 1), A + B * 2 - A / (np.abs(B) + 1))
    same(a.exp().log(), A)
    same(a.sin() + a.tanh() + a.sigmoid(), np.sin(A) + np.tanh(A) + 1 / (1 + np.exp(-A)))
    same((a < b).where(a, b), np.minimum(A, B))


def reductions():
    a = Tensor(A)
    same(a.sum(), A.sum())
    same(a.max(axis=1), A.max(axis=1))
    same(a.mean(axis=0), A.mean(axis=0))
    same(a.argmax(axis=1), A.argmax(axis=1))
    same(a.cumsum(axis=1), np.cumsum(A, axis=1))
    shifted = np.exp(A - A.max(axis=1, keepdims=True))
    same(a.softmax(axis=1), shifted / shifted.sum(axis=1, keepdims=True))


def matmul():
    same(Tensor(A) @ Tensor(B).T, A @ B.T)
    h, g = A.astype(np.float16), B.astype(np.float16)
    same(Tensor(h).matmul(Tensor(g).T, dtype=dtypes.float), h.astype(np.float32) @ g.T.astype(np.float32),
         rtol=1e-2, atol=1e-2)


def convolution():
    x = RNG.standard_normal((1, 3, 9, 9)).astype(np.float32)
    w = RNG.standard_normal((4, 3, 3, 3)).astype(np.float32)
    expected = np.zeros((1, 4, 7, 7), np.float32)
    for i in range(7):
        for j in range(7):
            expected[0, :, i, j] = (w * x[0, :, i:i + 3, j:j + 3]).sum(axis=(1, 2, 3))
    same(Tensor(x).conv2d(Tensor(w)), expected)


def movement():
    a = Tensor(A)
    same(a.permute(1, 0).flip(0)[2:10, ::3], A.T[::-1][2:10, ::3])
    same(a.pad(((1, 2), (0, 3))), np.pad(A, ((1, 2), (0, 3))))
    same(Tensor.cat(a, a, dim=1), np.concatenate([A, A], axis=1))
    same(a[Tensor([3, 5, 3])], A[[3, 5, 3]])


def types():
    for kind in np.int8, np.uint8, np.int32, np.int64, np.float64:
        x = np.arange(100).astype(kind)
        same(Tensor(x) * 2 + 1, x * kind(2) + kind(1))


def gradients():
    a, b = Tensor(A), Tensor(B)
    same((a * b).relu().sum().gradient(a)[0], np.where(A * B > 0, B, 0))


def jit():
    @TinyJit
    def step(x):
        return (x * 2 + 1).realize()

    for value in range(5):  # recorded in the second, replayed as a CUDA graph from then on
        x = np.full(100, value, np.float32)
        same(step(Tensor(x).realize()), x * 2 + 1)


def random_numbers():
    x = Tensor.rand(1000).numpy()
    assert 0 <= x.min() and x.max() < 1 and 0.4 < x.mean() < 0.6


checks.run([backend, elementwise, reductions, matmul, convolution, movement, types, gradients, jit, random_numbers])
