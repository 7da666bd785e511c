"""The launch of triton_softmax.case: softmax of 20 rows by Triton. Without a GPU and without PyTorch (what the launcher wants of a
tensor is data_ptr() and dtype):

  warpstep capture -o FOLDER --gpu rtx-3070 python triton_softmax.py
"""
import ctypes

import numpy as np
import triton
import triton.language as tl


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
def softmax_kernel(x, y, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + i, values / tl.sum(values, axis=0), mask=i < columns)


call("cuInit", 0)
device, context = ctypes.c_int(), ctypes.c_void_p()
call("cuDeviceGet", ctypes.byref(device), 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
call("cuCtxSetCurrent", context)
x = np.random.default_rng(2).standard_normal((20, 100), dtype=np.float32)
y = Buffer(np.zeros_like(x))
softmax_kernel[(20,)](Buffer(x), y, 100, BLOCK=128)
e = np.exp(x - x.max(axis=1, keepdims=True))
np.testing.assert_allclose(y.numpy(), e / e.sum(axis=1, keepdims=True), rtol=1e-5)
