"""KeOps: kernels that it writes and NVRTC compiles, without matrices in memory, against NumPy's sums over all pairs."""
import numpy as np
from pykeops.numpy import LazyTensor

import checks

rng = np.random.default_rng(0)
X, Y, B = rng.random((300, 3)), rng.random((400, 3)), rng.random((400, 2))
SQUARES = ((X[:, None] - Y[None]) ** 2).sum(-1)


def distances(kind):
    return ((LazyTensor(X.astype(kind)[:, None]) - LazyTensor(Y.astype(kind)[None])) ** 2).sum(-1)


def close(got, want, limit):
    assert np.abs(got.reshape(want.shape) - want).max() <= limit * np.abs(want).max()


def gaussian_sums():
    for kind, limit in (("float32", 2e-6), ("float64", 1e-14)):
        values = LazyTensor(B.astype(kind)[None])
        close(((-distances(kind)).exp() * values).sum(1, backend="GPU"), np.exp(-SQUARES) @ B, limit)


def sums_of_columns():
    close((-distances("float64").sqrt()).exp().sum(0, backend="GPU"), np.exp(-np.sqrt(SQUARES)).sum(0), 1e-14)


def neighbours():
    d = distances("float64")
    assert (d.argmin(1, backend="GPU").ravel() == SQUARES.argmin(1)).all()
    assert (d.argKmin(5, 1, backend="GPU") == SQUARES.argsort(1)[:, :5]).all()


def logarithms_of_sums():
    close(distances("float32").logsumexp(1, backend="GPU"), np.log(np.exp(SQUARES).sum(1)), 2e-6)


checks.run([gaussian_sums, sums_of_columns, neighbours, logarithms_of_sums])
