"""A program for a page: two kernels of Numba's CUDA target, results checked."""
import numpy as np
from numba import cuda


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def total(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, 0, x[i])


x = np.arange(1000, dtype=np.float32)
y = np.ones_like(x)
out = np.zeros(1, dtype=np.float32)
saxpy[4, 256](np.float32(2), x, y)
total[4, 256](x, out)
assert (y == 2 * x + 1).all() and out[0] == x.sum()
