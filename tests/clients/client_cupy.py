"""CuPy: every one of its modules holds the static runtime; kernels come from NVRTC, some from machine code in the
package. What calls libraries is in client_cupy_libs.py."""
import cupy as cp
import numpy as np

import checks

N = np.arange(1000, dtype=np.float64)


def same(there, here, **tolerance):
    np.testing.assert_allclose(cp.asnumpy(there), here, **({"rtol": 1e-6} | tolerance))


def raw_kernel():
    kernel = cp.RawKernel(
        r"""extern "C" __global__ void add(const float *x, const float *y, float *z, int n)
        { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = x[i] + y[i]; }""", "add")
    x = cp.arange(1000, dtype=cp.float32)
    z = cp.zeros_like(x)
    kernel((8,), (128,), (x, 2 * x, z, np.int32(1000)))
    same(z, 3 * N)


def raw_module():
    module = cp.RawModule(code=r"""extern "C" { __constant__ float c[4];
        __global__ void k(float *x) { x[threadIdx.x] = c[threadIdx.x & 3]; } }""")
    cp.ndarray((4,), cp.float32, module.get_global("c"))[...] = cp.array([1, 2, 3, 4], cp.float32)
    x = cp.zeros(32, cp.float32)
    module.get_function("k")((1,), (32,), (x,))
    same(x, np.tile([1, 2, 3, 4], 8))


def elementwise_kernel():
    x = cp.asarray(N)
    same(cp.ElementwiseKernel("T a, T b", "T c", "c = a * b + 1", "product")(x, x), N * N + 1)
    same(cp.where(x > 5, cp.sqrt(x), -x), np.where(N > 5, np.sqrt(N), -N))
    same(x[:, None] * x[None, :], N[:, None] * N[None, :])


def reduction_kernel():
    x = cp.asarray(N)
    same(cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "squares")(x), (N * N).sum())
    same(x.sum(), N.sum())
    same(x.argmax(), N.argmax())
    same(cp.cumsum(x), np.cumsum(N))


def sorting():
    x = cp.asarray(N % 37)
    same(cp.sort(x), np.sort(N % 37))
    same((x[cp.argsort(x)]), np.sort(N % 37))
    same(cp.unique(x), np.unique(N % 37))


def indexing():
    x = cp.asarray(N)
    same(x[cp.array([3, 5, 9])], N[[3, 5, 9]])
    same(x[x > 990], N[N > 990])


def fusion():
    @cp.fuse
    def fused(a):
        return a * 2 + cp.sin(a)

    same(fused(cp.asarray(N)), N * 2 + np.sin(N), atol=1e-9)


def generator():
    x = cp.random.default_rng(1).random(1000)
    assert 0.4 < float(x.mean()) < 0.6


def streams():
    stream, event = cp.cuda.Stream(), cp.cuda.Event()
    with stream:
        y = cp.asarray(N) * 2
        event.record()
    event.synchronize()
    same(y, N * 2)


def graph():
    increment = cp.RawKernel('extern "C" __global__ void i(double *x) { x[threadIdx.x] += 1; }', "i")
    x = cp.zeros(10)
    increment((1,), (10,), (x,))
    cp.cuda.Device().synchronize()
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        increment((1,), (10,), (x,))
        recorded = stream.end_capture()
        recorded.launch()
        recorded.launch()
        stream.synchronize()
    same(x, np.full(10, 3))


def pools():
    for malloc in cp.cuda.MemoryPool(cp.cuda.malloc_managed).malloc, cp.cuda.MemoryAsyncPool().malloc:
        cp.cuda.set_allocator(malloc)
        same(cp.ones(10) * 2, np.full(10, 2))
    cp.cuda.set_allocator(cp.get_default_memory_pool().malloc)


def texture():
    from cupy.cuda import runtime, texture as t
    channel = t.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    array = t.CUDAarray(channel, 8, 4)
    array.copy_from(cp.arange(32, dtype=cp.float32).reshape(4, 8))
    texels = t.TextureObject(
        t.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array),
        t.TextureDescriptor((runtime.cudaAddressModeClamp,) * 2, runtime.cudaFilterModePoint,
                            runtime.cudaReadModeElementType))
    kernel = cp.RawKernel(
        r"""extern "C" __global__ void k(cudaTextureObject_t t, float *x)
        { x[threadIdx.y * 8 + threadIdx.x] = tex2D<float>(t, threadIdx.x + .5f, threadIdx.y + .5f); }""", "k")
    x = cp.zeros(32, cp.float32)
    kernel((1,), (8, 4), (texels, x))
    same(x, np.arange(32))


checks.run([raw_kernel, raw_module, elementwise_kernel, reduction_kernel, sorting, indexing, fusion, generator,
            streams, graph, pools, texture])
