"""MLX's CUDA backend: kernels of its own and by NVRTC, CUDA graphs, cuBLASLt, cuDNN's attention and convolutions as graphs, beside NumPy and its own CPU backend."""
import os
import tempfile

os.environ["MLX_PTX_CACHE_DIR"] = tempfile.mkdtemp()  # which GPU a kernel was made for is not in the name that MLX keeps it by
import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optimizers
import numpy as np
from mlx.utils import tree_map

import checks

rng = np.random.default_rng(0)
a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((33, 65), (65, 20)))
A, B = mx.array(a), mx.array(b)


def near(got, want, tolerance):
    got = np.array(got.astype(mx.float32))
    assert np.abs(got - want).max() <= tolerance * max(np.abs(want).max(), 1e-30), np.abs(got - want).max()


def elements_and_sums():
    near(mx.exp(A) + mx.tanh(A), np.exp(a) + np.tanh(a), 1e-6)
    near(mx.logsumexp(A, 1), np.log(np.exp(a).sum(1)), 1e-5)
    near(mx.argmax(A, 1), a.argmax(1), 0)
    near(mx.cumsum(A, 1), np.cumsum(a, 1), 1e-5)
    near(mx.sort(A, 1), np.sort(a, 1), 0)
    f = mx.compile(lambda x: mx.sigmoid(x) * x + mx.cos(x))
    near(f(A), a / (1 + np.exp(-a)) + np.cos(a), 1e-5)


def indices():
    near(A[mx.array([3, 1, 2])], a[[3, 1, 2]], 0)
    sums = mx.zeros((5, 65)).at[mx.array([1, 1, 3])].add(A[:3])
    near(sums, np.stack([0 * a[0], a[0] + a[1], 0 * a[0], a[2], 0 * a[0]]), 1e-6)


def products():
    near(A @ B, a @ b, 2e-3)  # TF32 where the GPU has it
    near(A.astype(mx.bfloat16) @ B.astype(mx.bfloat16), a @ b, 1e-2)
    near(A @ B[:, 0], a @ b[:, 0], 1e-5)


def attention():
    for kind, tolerance in ((mx.float32, 2e-3), (mx.float16, 4e-3)):
        for rows, heads, of_keys, depth in ((1, 8, 2, 64), (40, 4, 4, 64), (40, 4, 2, 128)):
            q, k, v = (rng.standard_normal((2, h, n, depth)).astype(np.float32) for h, n in ((heads, rows), (of_keys, 40), (of_keys, 40)))
            keys, values = (np.repeat(x, heads // of_keys, 1) for x in (k, v))
            s = np.einsum("bhqd,bhkd->bhqk", q, keys) * depth**-0.5
            if rows > 1:
                s = np.where(np.tril(np.ones((rows, 40))) > 0, s, -1e30)
            e = np.exp(s - s.max(-1, keepdims=True))
            got = mx.fast.scaled_dot_product_attention(*(mx.array(x).astype(kind) for x in (q, k, v)), scale=depth**-0.5,
                                                       mask="causal" if rows > 1 else None)
            near(got, np.einsum("bhqk,bhkd->bhqd", e / e.sum(-1, keepdims=True), values), tolerance)


def quantised():
    w, x = (mx.array(rng.standard_normal(shape).astype(np.float32)) for shape in ((64, 128), (7, 128)))
    for bits in (2, 3, 4, 8):
        q = mx.quantize(w, bits=bits)
        whole = np.array(mx.dequantize(*q, bits=bits, stream=mx.cpu))
        near(mx.dequantize(*q, bits=bits), whole, 1e-6)
        for rows in (1, 7):
            near(mx.quantized_matmul(x[:rows], *q, transpose=True, bits=bits), np.array(x)[:rows] @ whole.T, 5e-3)
    for mode in ("mxfp4", "mxfp8", "nvfp4"):
        q = mx.quantize(w, mode=mode)
        whole = np.array(mx.dequantize(*q, mode=mode).astype(mx.float32))
        near(mx.quantized_matmul(x.astype(mx.bfloat16), *q, transpose=True, mode=mode), np.array(x) @ whole.T, 2e-2)


def own_kernel():
    square = mx.fast.cuda_kernel(name="square", input_names=["x"], output_names=["y"],
                                 source="auto i = blockIdx.x * blockDim.x + threadIdx.x; if (i < 2145) y[i] = x[i] * x[i];")
    near(square(inputs=[A], grid=(2304, 1, 1), threadgroup=(256, 1, 1), output_shapes=[A.shape], output_dtypes=[mx.float32])[0], a * a, 1e-6)


def training():
    mx.random.seed(3)
    model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4))
    x, y = (mx.array(rng.standard_normal(shape).astype(np.float32)) for shape in ((20, 16), (20, 4)))
    start, losses = tree_map(np.array, model.parameters()), []
    for device in (mx.gpu, mx.cpu):
        mx.set_default_device(device)
        model.update(tree_map(mx.array, start))
        rule, of = optimizers.AdamW(1e-2), []
        step = nn.value_and_grad(model, lambda m: nn.losses.mse_loss(m(x), y))
        for _ in range(4):
            loss, gradients = step(model)
            rule.update(model, gradients)
            mx.eval(model.parameters(), rule.state, loss)
            of.append(loss.item())
        losses.append(of)
    mx.set_default_device(mx.gpu)
    assert np.abs(np.subtract(*losses)).max() < 1e-3, losses


checks.run([elements_and_sums, indices, products, attention, quantised, own_kernel, training])
