"""MAX: a graph that its compiler makes kernels of (a product, softmax and a norm of layers in one), against NumPy."""
import numpy as np
from max import driver
from max.dtype import DType
from max.engine import InferenceSession
from max.graph import DeviceRef, Graph, TensorType, ops

import checks

M, N, K = 64, 96, 128


def graph():
    gpu = DeviceRef.GPU()
    whole = DType.float32
    with Graph("checks", input_types=[TensorType(whole, (M, K), gpu), TensorType(whole, (K, N), gpu)]) as g:
        a, b = (x.tensor for x in g.inputs)
        product = ops.cast(ops.matmul(ops.cast(a, DType.bfloat16), ops.cast(b, DType.bfloat16)), whole)
        one, zero = (ops.constant(f(N, np.float32), whole, gpu) for f in (np.ones, np.zeros))
        g.output(product, ops.softmax(product), ops.layer_norm(product, one, zero, 1e-5))
    return g


def product_softmax_norm():
    gpu = driver.Accelerator()
    model = InferenceSession(devices=[gpu]).load(graph())
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, shape).astype(np.float32) / 8 for shape in ((M, K), (K, N)))
    x, y, z = (o.to(driver.CPU()).to_numpy() for o in model.execute(*(driver.Buffer.from_numpy(v).to(gpu) for v in (a, b))))
    assert np.abs(x - a @ b).max() <= np.abs(a @ b).max() / 256  # one rounding to BF16
    e = np.exp(x - x.max(1, keepdims=True))
    assert np.abs(y - e / e.sum(1, keepdims=True)).max() <= 1e-6
    norm = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    assert np.abs(z - norm).max() <= 5e-6


checks.run([product_softmax_norm])
