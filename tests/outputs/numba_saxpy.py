"""The launch of numba_saxpy.case: y = a x + y by Numba. Without a GPU:

  warpstep capture -o FOLDER --gpu rtx-3070 python numba_saxpy.py
"""
import numpy as np
from numba import cuda


@cuda.jit(lineinfo=True)
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


x, y = np.random.default_rng(1).random((2, 1000), dtype=np.float32)
device = cuda.to_device(y)
saxpy[4, 256](np.float32(2), cuda.to_device(x), device)
np.testing.assert_allclose(device.copy_to_host(), 2 * x + y, rtol=1e-6)
