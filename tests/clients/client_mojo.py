"""Mojo: programs compiled by its LLVM to PTX and launched through its runtime (the driver interface), each in a process of its own: kernels written here,
and a product of its library `linalg`, which has kernels for each generation (warpgroups on sm_90, tensor memory on sm_100). Each program counts what is wrong."""
import pathlib
import subprocess
import sys
import tempfile

import checks

SUMS = """
from std.atomic import Atomic
from std.math import ceildiv, exp
from std.memory import stack_allocation
from max.gpu import barrier, block_idx, global_idx, thread_idx
from max.gpu.host import DeviceContext
from max.gpu.memory import AddressSpace
from max.gpu.primitives import warp
from layout import TileTensor, row_major

comptime N = 10000
comptime BLOCK = 256
comptime BLOCKS = ceildiv(N, BLOCK)

def sums(x: TileTensor[DType.int32, type_of(row_major[N]()), MutAnyOrigin], of_blocks: TileTensor[DType.int32, type_of(row_major[BLOCKS]()), MutAnyOrigin],
         of_all: TileTensor[DType.int32, type_of(row_major[1]()), MutAnyOrigin]):
    var parts = stack_allocation[BLOCK // 32, Scalar[DType.int32], address_space=AddressSpace.SHARED]()
    var i = global_idx.x
    var mine: Int32 = 0
    if i < N:
        mine = rebind[Int32](x[i])
    var s = warp.sum(mine)
    if thread_idx.x % 32 == 0:
        parts[thread_idx.x // 32] = s
    barrier()
    if thread_idx.x == 0:
        var all: Int32 = 0
        for w in range(BLOCK // 32):
            all += parts[w]
        of_blocks[block_idx.x] = all
        _ = Atomic.fetch_add(of_all.ptr, all)

def main() raises:
    var ctx = DeviceContext()
    var x = ctx.enqueue_create_buffer[DType.int32](N)
    var b = ctx.enqueue_create_buffer[DType.int32](BLOCKS)
    var a = ctx.enqueue_create_buffer[DType.int32](1)
    with x.map_to_host() as h:
        for i in range(N): h[i] = Int32((i * 7919) % 1009 - 500)
    a.enqueue_fill(0)
    ctx.enqueue_function[sums](TileTensor(x, row_major[N]()), TileTensor(b, row_major[BLOCKS]()), TileTensor(a, row_major[1]()), grid_dim=BLOCKS, block_dim=BLOCK)
    var bad = 0
    var all: Int32 = 0
    with b.map_to_host() as h:
        for j in range(BLOCKS):
            var s: Int32 = 0
            for i in range(j * BLOCK, min(N, (j + 1) * BLOCK)): s += Int32((i * 7919) % 1009 - 500)
            all += s
            if h[j] != s: bad += 1
    with a.map_to_host() as h:
        if h[0] != all: bad += 1
    print("wrong:", bad)
"""

# Products of small integers: exact in BF16 with sums in FP32, then rounded once.
PRODUCT = """
from max.gpu.host import DeviceContext
from layout import TileTensor, row_major
from linalg.matmul.gpu import _matmul_gpu

comptime M = 200
comptime N = 136
comptime K = 328
comptime T = DType.bfloat16

def main() raises:
    var ctx = DeviceContext()
    var ab = ctx.enqueue_create_buffer[T](M * K)
    var bb = ctx.enqueue_create_buffer[T](N * K)
    var cb = ctx.enqueue_create_buffer[T](M * N)
    with ab.map_to_host() as h:
        for i in range(M * K): h[i] = BFloat16(Float32((i * 7919) % 17 - 8))
    with bb.map_to_host() as h:
        for i in range(N * K): h[i] = BFloat16(Float32((i * 104729) % 13 - 6))
    cb.enqueue_fill(0)
    _matmul_gpu[use_tensor_core=True, transpose_b=True](TileTensor(cb, row_major[M, N]()), TileTensor(ab, row_major[M, K]()), TileTensor(bb, row_major[N, K]()), ctx)
    ctx.synchronize()
    var bad = 0
    with cb.map_to_host() as h:
        for i in range(M):
            for j in range(N):
                var s: Float32 = 0
                for k in range(K):
                    s += Float32(((i * K + k) * 7919) % 17 - 8) * Float32(((j * K + k) * 104729) % 13 - 6)
                if h[i * N + j] != s.cast[T](): bad += 1
    print("wrong:", bad)
"""


def run(source):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "program.mojo"
        file.write_text(source)
        done = subprocess.run([pathlib.Path(sys.executable).parent / "mojo", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-200:]
    assert done.stdout.strip() == "wrong: 0", done.stdout


def sums_of_blocks():
    run(SUMS)


def product_of_its_library():
    run(PRODUCT)


checks.run([sums_of_blocks, product_of_its_library])
