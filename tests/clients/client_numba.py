"""Numba's CUDA target (numba-cuda): compiles to PTX, has the driver's libraries make machine code of it, launches
through cuda.core."""
import math

import numpy as np
from numba import cuda, float32, vectorize
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

import checks

TILE = 16


@cuda.jit
def add_kernel(x, y, z):
    i = cuda.grid(1)
    if i < x.size:
        z[i] = x[i] + y[i]


def add():
    x = np.arange(1000, dtype=np.float32)
    z = np.zeros_like(x)
    add_kernel[8, 128](x, 2 * x, z)
    np.testing.assert_array_equal(z, 3 * x)


@cuda.jit
def matmul_kernel(a, b, c):
    ta = cuda.shared.array((TILE, TILE), float32)
    tb = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.grid(2)
    total = float32(0)
    for k in range(a.shape[1] // TILE):
        ta[x, y] = a[row, k * TILE + y]
        tb[x, y] = b[k * TILE + x, column]
        cuda.syncthreads()
        for j in range(TILE):
            total += ta[x, j] * tb[j, y]
        cuda.syncthreads()
    c[row, column] = total


def matmul():
    rng = np.random.default_rng(1)
    a = rng.random((64, 64), dtype=np.float32)
    b = rng.random((64, 64), dtype=np.float32)
    c = np.zeros_like(a)
    matmul_kernel[(4, 4), (TILE, TILE)](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)


@cuda.jit
def atomic_kernel(x, result):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(result, 0, x[i])
        cuda.atomic.max(result, 1, x[i])


def atomics():
    x = np.arange(1000, dtype=np.int32)
    result = np.zeros(2, np.int32)
    atomic_kernel[8, 128](x, result)
    assert list(result) == [x.sum(), 999]


def reduction():
    total = cuda.reduce(lambda a, b: a + b)
    assert total(np.arange(1000, dtype=np.float64)) == 499500


@cuda.jit(device=True)
def damped(x):
    return math.sin(x) * math.exp(-x)


@cuda.jit
def damped_kernel(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = damped(x[i])


def device_function():
    x = np.linspace(0, 1, 100)
    y = cuda.device_array(100)
    damped_kernel[1, 128](cuda.to_device(x), y)
    np.testing.assert_allclose(y.copy_to_host(), np.sin(x) * np.exp(-x), rtol=1e-12)


def ufunc():
    @vectorize(["float32(float32, float32)"], target="cuda")
    def product(a, b):
        return a * b

    x = np.arange(64, dtype=np.float32)
    np.testing.assert_array_equal(product(x, x), x * x)


def streams():
    x = np.ones(64, np.float32)
    stream, event = cuda.stream(), cuda.event()
    with stream.auto_synchronize():
        there = cuda.to_device(x, stream=stream)
        event.record(stream)
    event.synchronize()
    np.testing.assert_array_equal(there.copy_to_host(), x)


@cuda.jit
def shuffle_kernel(x):
    i = cuda.threadIdx.x
    x[i] = cuda.shfl_sync(0xFFFFFFFF, i, (i + 1) % 32)


def shuffle():
    x = np.zeros(32, np.int32)
    shuffle_kernel[1, 32](x)
    np.testing.assert_array_equal(x, (np.arange(32) + 1) % 32)


@cuda.jit
def random_kernel(states, x):
    i = cuda.grid(1)
    x[i] = xoroshiro128p_uniform_float32(states, i)


def random_numbers():
    x = np.zeros(128, np.float32)
    random_kernel[1, 128](create_xoroshiro128p_states(128, seed=1), x)
    assert 0 <= x.min() and x.max() < 1 and 0.3 < x.mean() < 0.7 and np.unique(x).size > 100


@cuda.jit
def grid_sync_kernel(x, rounds):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for _ in range(rounds):
        other = x[(i + cuda.blockDim.x) % x.size]  # a thread of the next block
        grid.sync()
        x[i] = other + 1
        grid.sync()


def grid_sync():
    x = np.arange(128, dtype=np.int32)
    grid_sync_kernel[4, 32](x, 3)
    np.testing.assert_array_equal(x, np.roll(np.arange(128), -96) + 3)


checks.run([add, matmul, atomics, reduction, device_function, ufunc, streams, shuffle, random_numbers, grid_sync])
