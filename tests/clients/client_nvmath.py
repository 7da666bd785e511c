"""nvmath-python on CuPy's arrays, against NumPy: products with epilogues (cuBLASLt), FFTs (cuFFT), systems (cuDSS), contractions (cuTENSOR). cuDSS and
cuTENSOR are NVIDIA's own, with stripped runtimes inside."""
import cupy as cp
import cupyx.scipy.sparse
import numpy as np
import nvmath
import scipy.sparse
from nvmath.linalg.advanced import Matmul, MatmulEpilog, matmul

import checks

rng = np.random.default_rng(1)


def near(got, want, limit):
    error = np.abs(cp.asnumpy(got) - want).max() / np.abs(want).max()
    assert error < limit, error


def draw(*shape, dtype="f4"):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)


def products():
    for dtype, limit in (("f4", 1e-5), ("f8", 1e-12), ("f2", 5e-3), ("c8", 1e-5)):
        a, b = draw(77, 45, dtype=dtype), draw(45, 33, dtype=dtype)
        near(matmul(cp.asarray(a), cp.asarray(b)).astype("c16"), a.astype("c16") @ b, limit)


def epilogues():
    for name in ("RELU", "GELU", "BIAS", "RELU_BIAS", "GELU_BIAS", "RELU_AUX", "GELU_AUX", "RELU_AUX_BIAS"):
        a, b, bias = draw(64, 48), draw(48, 32), draw(64, 1)
        inputs = {"bias": cp.asarray(bias)} if "BIAS" in name else None
        got = matmul(cp.asarray(a), cp.asarray(b), epilog=MatmulEpilog[name], epilog_inputs=inputs)
        x = a.astype("f8") @ b + (bias if inputs else 0)
        x = np.maximum(x, 0) if "RELU" in name else x
        x = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) if "GELU" in name else x
        near(got[0] if isinstance(got, tuple) else got, x, 1e-3)


def plans():
    a = draw(64, 64)
    with Matmul(cp.asarray(a), cp.asarray(a)) as product:
        found = product.plan()[0]
        assert found.capabilities.strided_batch_support
        near(product.execute(), a.astype("f8") @ a, 1e-5)


def transforms():
    for shape in ((64,), (60,), (8, 12, 10), (97,)):
        axes = tuple(range(1, len(shape) + 1))
        for dtype, limit in (("c8", 1e-5), ("c16", 1e-12)):
            a = draw(3, *shape, dtype=dtype)
            near(nvmath.fft.fft(cp.asarray(a), axes=axes), np.fft.fftn(a, axes=axes), limit)
    a = draw(4, 50)
    f = nvmath.fft.rfft(cp.asarray(a), axes=[1])
    near(f, np.fft.rfft(a), 1e-5)
    near(nvmath.fft.irfft(f, axes=[1]) / 50, a, 1e-5)


def systems():
    a = (scipy.sparse.random(50, 50, density=0.1, random_state=1) + scipy.sparse.eye(50) * 5).tocsr()
    b = rng.standard_normal(50)
    near(nvmath.sparse.advanced.direct_solver(cupyx.scipy.sparse.csr_matrix(a), cp.asarray(b)), np.linalg.solve(a.toarray(), b), 1e-10)


def contractions():
    a, b, c, d = draw(5, 6, 7), draw(7, 6, 9), draw(9, 4), draw(6, 9)
    near(nvmath.tensor.binary_contraction("ijk,kjl->il", cp.asarray(a), cp.asarray(b)), np.einsum("ijk,kjl->il", a, b), 1e-5)
    near(nvmath.tensor.ternary_contraction("ij,jk,kl->il", cp.asarray(a[:, :, 0].copy()), cp.asarray(d), cp.asarray(c)), a[:, :, 0] @ d @ c, 1e-5)


checks.run([products, epilogues, plans, transforms, systems, contractions])
