"""The kernels that JAX brings in Pallas (jax.experimental.pallas.ops.gpu), against NumPy and its own references: by Triton everywhere, by Mosaic GPU on
an H100 (warpgroup products, tensor copies, clusters) and a B200 (products in tensor memory, of one CTA and of pairs)."""
import os

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ["JAX_PLATFORMS"] = "cuda"
import jax._src.hardware_utils

jax._src.hardware_utils._NVIDIA_GPU_DEVICES = ["/dev/null"]
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.gpu import layer_norm as ln
from jax.experimental.pallas.ops.gpu import softmax as sm

import checks

jax.config.update("jax_default_matmul_precision", "highest")
rng = np.random.default_rng(1)
CAPABILITY = jax.devices()[0].compute_capability


def draw(shape, dtype=jnp.float16):
    return jnp.asarray(rng.standard_normal(shape), dtype)


def wide(x):
    return np.asarray(x.astype(jnp.float32)).astype(np.float64)


def near(got, want, limit=1e-2):
    error = np.abs(wide(got) - want).max() / np.abs(want).max()
    assert error < limit, error


def softmax():
    x = draw((8, 200), jnp.float32)
    e = np.exp(wide(x))
    near(sm.softmax(x), e / e.sum(1, keepdims=True), 1e-5)


def layer_norm_gradients():
    operands = draw((4, 64, 128), jnp.float32), draw((128,), jnp.float32), draw((128,), jnp.float32)

    def gradients(norm):
        return jax.grad(lambda *a: (norm(*a) ** 2).sum(), (0, 1, 2))(*operands)

    for got, want in zip(gradients(ln.layer_norm), gradients(ln.layer_norm_reference)):
        near(got, wide(want), 1e-4)


def hopper_products():
    from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu as mm

    m, n = mm.MatmulDimension.M, mm.MatmulDimension.N
    for dtype in (jnp.float16, jnp.bfloat16):
        for ways in ({}, {"wg_dimension": m}, {"cluster_dimension": m}, {"cluster_dimension": n, "grid_minor_dim": m, "grid_tile_width": 2}):
            a, b = draw((512, 256), dtype), draw((256, 512), dtype)
            config = mm.TuningConfig(tile_m=64, tile_n=64, tile_k=64, max_concurrent_steps=4, **ways)
            near(mm.matmul(a, b, None, config), wide(a) @ wide(b))


def hopper_groups():
    from jax.experimental.pallas.ops.gpu import ragged_dot_mgpu, transposed_ragged_dot_mgpu

    sizes = (100, 0, 300, 112)
    a, b, groups = draw((512, 128)), draw((4, 128, 256)), jnp.array(sizes, jnp.int32)
    shape = dict(block_m=64, block_n=64, block_k=64, max_concurrent_steps=2, grid_block_n=1)
    ends = np.cumsum(sizes)
    want = np.concatenate([wide(a)[e - s:e] @ wide(b)[i] for i, (s, e) in enumerate(zip(sizes, ends))])
    near(ragged_dot_mgpu.ragged_dot(a, b, group_sizes=groups, **shape), want)
    c = draw((512, 256))
    want = transposed_ragged_dot_mgpu.ref_transposed_ragged_dot(a, c, groups)
    near(transposed_ragged_dot_mgpu.transposed_ragged_dot(a, c, group_sizes=groups, **shape), wide(want))


def hopper_mixed_product():
    from jax.experimental.pallas.ops.gpu import hopper_mixed_type_matmul_mgpu as mm

    a, b = jnp.asarray(rng.integers(-100, 100, (256, 256)), jnp.int8), draw((256, 256))
    config = mm.TuningConfig(tile_m=64, tile_n=64, tile_k=64, max_concurrent_steps=2)
    near(mm.mixed_matmul_kernel(a, b, out_dtype=jnp.float16, config=config), wide(a) @ wide(b))


def hopper_attention():
    from jax.experimental.pallas.ops.gpu import attention_mgpu as at

    blocks = dict(block_q=64, block_kv=64, max_concurrent_steps=2)
    q, k, v = (draw((1, 256, 2, 64)) for _ in range(3))
    for causal in (False, True):
        near(at.attention(q, k, v, at.TuningConfig(causal=causal, **blocks)), wide(at.attention_reference(q, k, v, causal=causal)))
    near(at.attention_with_pipeline_emitter(q, k, v, at.TuningConfig(**blocks)), wide(at.attention_reference(q, k, v)))
    config = at.TuningConfig(block_q_dkv=64, block_kv_dkv=64, block_q_dq=64, block_kv_dq=64, compute_wgs_bwd=1, **blocks)

    def gradients(attention):
        return jax.grad(lambda *a: (attention(*a).astype(jnp.float32) ** 2).sum(), (0, 1, 2))(q, k, v)

    for got, want in zip(gradients(lambda *a: at.attention(*a, config)), gradients(at.attention_reference)):
        near(got, wide(want), 3e-2)


def blackwell_products():
    from jax.experimental.pallas.ops.gpu import blackwell_matmul_mgpu as mm

    for dtype in (jnp.float16, jnp.bfloat16):
        for pairs in (False, True):
            a, b = draw((512, 256), dtype), draw((256, 512), dtype)
            config = mm.TuningConfig(tile_m=128, tile_n=128, tile_k=64, max_concurrent_steps=2, collective=pairs)
            near(mm.matmul_kernel(a, b, config), wide(a) @ wide(b))


def blackwell_groups():
    from jax.experimental.pallas.ops.gpu import blackwell_matmul_mgpu as mm
    from jax.experimental.pallas.ops.gpu import blackwell_ragged_dot_mgpu as rd

    a, b, groups = draw((1024, 128)), draw((4, 128, 256)), jnp.array([200, 0, 600, 224], jnp.int32)
    config = rd.TuningConfig(tile_m=128, tile_n=64, tile_k=64, max_concurrent_steps=2, collective=True, grid_tile_width=1,
                             grid_minor_dim=mm.MatmulDimension.M)
    near(rd.ragged_dot_kernel(a, b, groups, config), wide(rd.ragged_dot_reference(a, b, groups)))


OF = {"9.0": [hopper_products, hopper_groups, hopper_mixed_product, hopper_attention], "10.0": [blackwell_products, blackwell_groups]}
checks.run([softmax, layer_norm_gradients] + OF.get(CAPABILITY, []))
