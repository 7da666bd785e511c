"""JAX: XLA compiles to PTX and machine code itself, launches through the driver, calls cuBLAS, cuFFT, cuSOLVER and cuDNN. It takes no GPU for there
when /dev/nvidia0 and /dev/nvidiactl are not, so it is told another file to look at. Without autotuning, which times kernels."""
import os

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ["JAX_PLATFORMS"] = "cuda"
import jax._src.hardware_utils

jax._src.hardware_utils._NVIDIA_GPU_DEVICES = ["/dev/null"]
import jax
import jax.numpy as jnp
import numpy as np

import checks

jax.config.update("jax_default_matmul_precision", "highest")
rng = np.random.RandomState(1)
A, B = rng.randn(64, 48).astype(np.float32), rng.randn(48, 32).astype(np.float32)


def near(got, want, limit=1e-5):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and np.abs(got - want).max() <= limit * (np.abs(want).max() + 1e-6), np.abs(got - want).max()


def device():
    assert jax.devices()[0].platform == "gpu"


def elements():
    near(jax.jit(lambda x: jnp.tanh(x) * 2 + x.sum(axis=1, keepdims=True))(A), np.tanh(A) * 2 + A.sum(1, keepdims=True))


def product():
    near(jnp.asarray(A) @ jnp.asarray(B), A @ B)
    near(jnp.einsum("ij,kj->ik", A, A), A @ A.T)


def gradient():
    near(jax.grad(lambda x: (jnp.sin(x) ** 2).sum())(jnp.asarray(A)), np.sin(2 * A))


def vectorised():
    near(jax.vmap(lambda r: r / jnp.linalg.norm(r))(jnp.asarray(A)), A / np.linalg.norm(A, axis=1, keepdims=True))


def sorting():
    near(jnp.sort(jnp.asarray(A)), np.sort(A), 0)
    near(jnp.cumsum(jnp.asarray(A), axis=1), A.cumsum(1))


def fourier():
    near(jnp.fft.fft(jnp.asarray(A)), np.fft.fft(A))


def numbers():
    x = jax.random.normal(jax.random.key(1), (4096,))
    assert abs(float(x.mean())) < 0.06 and abs(float(x.std()) - 1) < 0.05


def loop():
    total, before = jax.lax.scan(lambda c, x: (c + x, c), 0.0, jnp.arange(10.0))
    near(total, np.float32(45)), near(before, np.arange(10) * (np.arange(10) - 1) / 2)


def systems():
    spd = A.T @ A
    near(jnp.linalg.cholesky(jnp.asarray(spd)), np.linalg.cholesky(spd))
    near(jnp.linalg.svd(jnp.asarray(A), compute_uv=False), np.linalg.svd(A, compute_uv=False))
    near(jnp.linalg.solve(jnp.asarray(spd), jnp.ones(48)), np.linalg.solve(spd.astype(np.float64), np.ones(48)), 1e-3)


def convolution():
    x, w = rng.randn(1, 3, 8, 8).astype(np.float32), rng.randn(4, 3, 3, 3).astype(np.float32)
    want = np.zeros((1, 4, 6, 6))
    for i in range(6):
        for j in range(6):
            want[0, :, i, j] = np.einsum("ocij,cij->o", w, x[0, :, i : i + 3, j : j + 3])
    near(jax.lax.conv(x, w, (1, 1), "VALID"), want)


def training():
    """A network of two layers learns; its losses are those of the same steps in NumPy."""
    x, y = rng.randn(32, 8).astype(np.float32), rng.randn(32, 1).astype(np.float32)
    w1, w2 = rng.randn(8, 16).astype(np.float32) / 3, rng.randn(16, 1).astype(np.float32) / 4
    step = jax.jit(jax.value_and_grad(lambda p: ((jnp.tanh(x @ p[0]) @ p[1] - y) ** 2).mean()))
    p, q = (jnp.asarray(w1), jnp.asarray(w2)), [w1.astype(np.float64), w2.astype(np.float64)]
    for _ in range(3):
        loss, g = step(p)
        p = tuple(a - 0.1 * b for a, b in zip(p, g))
        h = np.tanh(x @ q[0])
        e = h @ q[1] - y
        near(loss, (e ** 2).mean())
        back = 2 * e / e.size
        q = [q[0] - 0.1 * x.T @ ((back @ q[1].T) * (1 - h * h)), q[1] - 0.1 * h.T @ back]


def attention():
    """cuDNN's, and its gradients, beside XLA's own in float32; lengths of sequences are rows that count."""
    rows, keys = 60, jax.random.split(jax.random.key(2), 4)

    def gradients(implementation, kind, heads_kv, options):
        q, k, v, g = (jax.random.normal(key, (2, rows, n, 64)).astype(jnp.float16).astype(kind) for key, n in zip(keys, (4, heads_kv, heads_kv, 4)))

        def loss(q, k, v):
            o = jax.nn.dot_product_attention(q, k, v, implementation=implementation, **options)
            return (o.astype(jnp.float32) * g.astype(jnp.float32)).sum(), o

        d, o = jax.jit(jax.grad(loss, argnums=(0, 1, 2), has_aux=True))(q, k, v)
        return [o, *d]

    lengths = {"query_seq_lengths": jnp.array([50, 60], jnp.int32), "key_value_seq_lengths": jnp.array([31, 60], jnp.int32)}
    window = {"is_causal": True, "local_window_size": (16, 0)}
    for heads_kv, options in ((4, {}), (2, {"is_causal": True}), (4, lengths), (4, window)):
        for got, want in zip(gradients("cudnn", jnp.float16, heads_kv, options), gradients("xla", jnp.float32, heads_kv, options)):
            near(got.astype(jnp.float32), want, 4e-3)


checks.run([device, elements, product, gradient, vectorised, sorting, fourier, numbers, loop, systems, convolution, training, attention])
