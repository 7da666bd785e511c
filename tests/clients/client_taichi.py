"""Taichi: kernels that its compiler makes through LLVM, with a runtime of its own on the GPU and the driver interface."""
import numpy as np
import taichi as ti

import checks

ti.init(arch=ti.cuda)
N = 1000
x, total, counts = ti.field(ti.f32, N), ti.field(ti.f32, ()), ti.field(ti.i32, 16)
NUMBERS = np.arange(N, dtype=np.float32)
WANT = np.sin(NUMBERS * np.float32(0.01)) + np.sqrt(NUMBERS)


@ti.kernel
def fill():
    for i in x:
        x[i] = ti.sin(i * 0.01) + ti.sqrt(float(i))


@ti.kernel
def add_up():
    for i in x:
        total[None] += x[i]
        ti.atomic_add(counts[i % 16], i)


@ti.kernel
def longest(m: ti.i32) -> ti.i32:
    best = 0
    for i in range(1, m):
        k, steps = i, 0
        while k != 1:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            steps += 1
        ti.atomic_max(best, steps)
    return best


@ti.kernel
def smooth(a: ti.types.ndarray(), b: ti.types.ndarray()):
    for i, j in b:
        b[i, j] = (a[i, j] + a[i + 1, j] + a[i, j + 1]) / 3


def elementwise():
    fill()
    np.testing.assert_allclose(x.to_numpy(), WANT, rtol=1e-5, atol=1e-5)


def sums():
    fill(), add_up()
    np.testing.assert_allclose(total[None], WANT.sum(), rtol=1e-5)
    np.testing.assert_array_equal(counts.to_numpy(), [np.arange(i, N, 16).sum() for i in range(16)])


def loops():
    def steps(k):
        n = 0
        while k != 1:
            k, n = (k // 2 if k % 2 == 0 else 3 * k + 1), n + 1
        return n
    assert longest(2000) == max(map(steps, range(1, 2000)))


def arrays():
    a, b = np.random.default_rng(4).random((33, 65)).astype(np.float32), np.zeros((32, 64), np.float32)
    smooth(a, b)
    np.testing.assert_allclose(b, (a[:-1, :-1] + a[1:, :-1] + a[:-1, 1:]) / 3, rtol=1e-5)


assert ti.cfg.arch == ti.cuda
checks.run([elementwise, sums, loops, arrays])
