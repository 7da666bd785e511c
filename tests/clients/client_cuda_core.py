"""cuda.core, NVIDIA's own Python interface, on cuda.bindings, whose runtime module has a stripped CUDA runtime inside."""
import warnings

import numpy as np
from cuda.core import (Device, DeviceMemoryResource, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, Linker,
                       LinkerOptions, ManagedMemoryResource, Program, ProgramOptions, VirtualMemoryResource, launch)

import checks

warnings.filterwarnings("ignore", "The CUDA driver version is older")  # than NVRTC's
device = Device(0)
device.set_current()
stream = device.create_stream()
arch = "sm_%d%d" % device.compute_capability
source = """
template<typename T> __global__ void axpy(T a, const T *x, T *y, size_t n)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x) y[i] += a * x[i];
}
extern "C" __global__ void count(int *n) { atomicAdd(n, 1); }
"""
program = Program(source, code_type="c++", options=ProgramOptions(std="c++17", arch=arch))
code = program.compile("cubin", name_expressions=("axpy<float>", "axpy<double>"))
pinned = LegacyPinnedMemoryResource()


def host(n, kind):
    buffer = pinned.allocate(n * np.dtype(kind).itemsize)
    return buffer, np.from_dlpack(buffer).view(kind)


def typed_kernels():
    for kind, name in ((np.float32, "axpy<float>"), (np.float64, "axpy<double>")):
        (bx, x), (by, y) = host(5000, kind), host(5000, kind)
        x[:], y[:] = np.arange(5000), 1
        dx, dy = (device.allocate(bx.size, stream=stream) for _ in range(2))
        dx.copy_from(bx, stream=stream)
        dy.copy_from(by, stream=stream)
        kernel = code.get_kernel(name)
        assert kernel.num_arguments == 4
        launch(stream, LaunchConfig(grid=13, block=128), kernel, kind(0.5), dx, dy, 5000)
        dy.copy_to(by, stream=stream)
        stream.sync()
        assert (y == 1 + 0.5 * np.arange(5000)).all()


def counted(work):
    counter = device.allocate(4, stream=stream)
    counter.fill(0, stream=stream)
    work(counter)
    buffer, n = host(1, np.int32)
    counter.copy_to(buffer, stream=stream)
    stream.sync()
    return n[0]


def linked():
    kernel = Linker(program.compile("ptx"), options=LinkerOptions(arch=arch)).link("cubin").get_kernel("count")
    assert counted(lambda n: launch(stream, LaunchConfig(grid=4, block=64), kernel, n)) == 256


def graphs():
    kernel, config = code.get_kernel("count"), LaunchConfig(grid=1, block=32)

    def work(n):
        stream.sync()
        builder = device.create_graph_builder().begin_building()
        launch(builder, config, kernel, n)
        left, right = builder.split(2)
        launch(left, config, kernel, n)
        launch(right, config, kernel, n)
        graph = type(left).join(left, right).end_building().complete()
        for _ in range(3):
            graph.launch(stream)
    assert counted(work) == 3 * 3 * 32


def events():
    begin, end = (device.create_event(EventOptions(timing_enabled=True)) for _ in range(2))
    stream.record(begin)
    assert counted(lambda n: launch(stream, LaunchConfig(grid=2, block=32), code.get_kernel("count"), n)) == 64
    stream.record(end)
    end.sync()
    assert end - begin > 0 and begin.is_done


def memory_resources():
    for make in (lambda: DeviceMemoryResource(device), ManagedMemoryResource, lambda: VirtualMemoryResource(device)):
        buffer = make().allocate(1 << 16, stream=stream)
        buffer.fill(7, stream=stream)
        back, bytes_ = host(1 << 16, np.uint8)
        device.sync()
        back.copy_from(buffer, stream=stream) if buffer.size == back.size else None
        stream.sync()
        assert buffer.size >= 1 << 16 and (buffer.size != back.size or (bytes_ == 7).all())


def the_runtime():
    from cuda.bindings import runtime
    assert runtime.cudaGetDeviceCount() == (runtime.cudaError_t.cudaSuccess, 1)
    error, pointer = runtime.cudaMalloc(1000)
    assert error == runtime.cudaError_t.cudaSuccess
    assert runtime.cudaMemset(pointer, 3, 1000)[0] == 0
    back = np.zeros(1000, np.uint8)
    assert runtime.cudaMemcpy(back.ctypes.data, pointer, 1000, runtime.cudaMemcpyKind.cudaMemcpyDefault)[0] == 0
    assert (back == 3).all() and runtime.cudaFree(pointer)[0] == 0


checks.run([typed_kernels, linked, graphs, events, memory_resources, the_runtime])
