"""PyCUDA: kernels by nvcc, launches by cuFuncSetBlockShape, cuParamSetv and cuLaunchGrid, arrays, textures' arrays, contexts."""
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel

import checks

random = np.random.default_rng(0)
module = SourceModule("""
__constant__ float factor[4];
__global__ void scale(float *to, const float *from, int n, float add)
{
  extern __shared__ float stage[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  stage[threadIdx.x] = i < n ? from[i] : 0;
  __syncthreads();
  if (i < n) to[i] = stage[threadIdx.x] * factor[i % 4] + add;
}
""")


def launches():
    x = random.random(1000, dtype=np.float32)
    factor = np.array([1, 2, 3, 4], np.float32)
    cuda.memcpy_htod(module.get_global("factor")[0], factor)
    out = np.empty_like(x)
    scale = module.get_function("scale")
    want = x * np.tile(factor, 250) + np.float32(0.5)
    scale(cuda.Out(out), cuda.In(x), np.int32(1000), np.float32(0.5), block=(128, 1, 1), grid=(8, 1), shared=512)
    assert np.allclose(out, want)
    scale.prepare("PPif")
    gx, gout = gpuarray.to_gpu(x), gpuarray.zeros(1000, np.float32)
    scale.prepared_call((8, 1), (128, 1, 1), gout.gpudata, gx.gpudata, 1000, 0.5, shared_size=512)
    assert np.allclose(gout.get(), want)


def arrays():
    a, b = random.random((2, 40, 50))
    ga, gb = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    assert np.allclose((2 * ga + gb / ga - 1).get(), 2 * a + b / a - 1)
    assert np.isclose(gpuarray.dot(ga, gb).get(), (a * b).sum()) and gpuarray.max(ga).get() == a.max()


def kernels_from_expressions():
    x, y = random.random((2, 3000), dtype=np.float32)
    gx, gy = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    out = gpuarray.empty_like(gx)
    ElementwiseKernel("float a, float *x, float *y, float *z", "z[i] = a * x[i] + y[i]")(2, gx, gy, out)
    assert np.allclose(out.get(), 2 * x + y)
    norm = ReductionKernel(np.float32, "0", "a + b", map_expr="x[i] * x[i]", arguments="float *x")
    assert np.isclose(norm(gx).get(), (x * x).sum())
    count = gpuarray.to_gpu(np.arange(3000, dtype=np.int32) % 7)
    InclusiveScanKernel(np.int32, "a + b")(count)
    assert (count.get() == np.cumsum(np.arange(3000) % 7)).all()


def streams_and_events():
    stream, begin, end = cuda.Stream(), cuda.Event(), cuda.Event()
    host = cuda.pagelocked_empty(4096, np.int32)
    host[:] = np.arange(4096)
    device = cuda.mem_alloc(host.nbytes)
    begin.record(stream)
    cuda.memcpy_htod_async(device, host, stream)
    host[:] = 0
    cuda.memcpy_dtoh_async(host, device, stream)
    end.record(stream)
    end.synchronize()
    assert (host == np.arange(4096)).all() and end.time_since(begin) > 0


def contexts():
    other = cuda.Device(0).make_context()
    try:
        assert (gpuarray.arange(10, dtype=np.int32) + 1).get().sum() == 55
    finally:
        other.pop()
        other.detach()
    assert pycuda.autoinit.context.get_device() == cuda.Device(0)


checks.run([launches, arrays, kernels_from_expressions, streams_and_events, contexts])
