"""CuPy's functions that call libraries, on warpstep's own ones, beside NumPy and SciPy. SciPy is wanted for the sparse ones alone."""
import importlib.util

import cupy as cp
import numpy as np

import checks

R = np.random.default_rng(5)
A, B = R.standard_normal((40, 40)), R.standard_normal((40, 24))
S = A @ A.T + 40 * np.eye(40)


def same(there, here, atol):
    np.testing.assert_allclose(cp.asnumpy(there), here, rtol=1e-6, atol=atol)


def products():
    for kind, near in (np.float32, 1e-4), (np.float64, 1e-11), (np.complex64, 1e-4):
        a, b = A.astype(kind), B.astype(kind)
        same(cp.asarray(a) @ cp.asarray(b), a @ b, atol=near)
        same(cp.matmul(cp.asarray(np.stack([a] * 3)), cp.asarray(b)), np.stack([a @ b] * 3), atol=near)
    same(cp.einsum("ij,kj->ik", cp.asarray(A), cp.asarray(S)), A @ S.T, atol=1e-10)


def fourier():
    for name in "fft", "ifft", "rfft", "fft2", "rfft2", "ifftn", "hfft":
        same(getattr(cp.fft, name)(cp.asarray(A)), getattr(np.fft, name)(A), atol=1e-9)


def solvers():
    s, b = cp.asarray(S), cp.asarray(B)
    same(cp.linalg.solve(s, b), np.linalg.solve(S, B), atol=1e-9)
    same(cp.linalg.inv(s), np.linalg.inv(S), atol=1e-9)
    same(cp.linalg.lstsq(s, b)[0], np.linalg.lstsq(S, B, rcond=None)[0], atol=1e-9)
    same(cp.linalg.cholesky(s), np.linalg.cholesky(S), atol=1e-9)
    same(cp.linalg.slogdet(s)[1], np.linalg.slogdet(S)[1], atol=1e-9)
    same(abs(cp.linalg.qr(cp.asarray(A))[1]), abs(np.linalg.qr(A)[1]), atol=1e-9)


def spectra():
    same(cp.linalg.eigvalsh(cp.asarray(S)), np.linalg.eigvalsh(S), atol=1e-9)
    same(cp.linalg.svd(cp.asarray(A), compute_uv=False), np.linalg.svd(A, compute_uv=False), atol=1e-9)
    u, s, v = cp.linalg.svd(cp.asarray(B), full_matrices=False)
    same((u * s) @ v, B, atol=1e-9)


def random_numbers():
    x, n = cp.random.rand(100000), cp.random.randn(100000)
    assert abs(float(x.mean()) - 0.5) < 0.01 and abs(float(n.mean())) < 0.02 and abs(float(n.std()) - 1) < 0.02


def sparse():
    import cupyx.scipy.sparse as gpu
    import cupyx.scipy.sparse.linalg as gpu_linalg
    import scipy.sparse as cpu
    m = cpu.random(60, 60, 0.1, format="csr", random_state=1)
    n, x = cpu.random(60, 60, 0.1, format="csr", random_state=2), R.standard_normal(60)
    gm, gn, gx = gpu.csr_matrix(m), gpu.csr_matrix(n), cp.asarray(x)
    same(gm @ gx, m @ x, atol=1e-10)
    same((gm @ gn).toarray(), (m @ n).toarray(), atol=1e-10)
    same((gm + gn).toarray(), (m + n).toarray(), atol=1e-12)
    same((2 * gm - gn).toarray(), (2 * m - n).toarray(), atol=1e-12)
    same(gm.T.toarray(), m.T.toarray(), atol=0)
    same(gm.tocsc().toarray(), m.toarray(), atol=0)
    coo = m.tocoo()
    p = R.permutation(coo.nnz)
    mixed = gpu.coo_matrix((cp.asarray(coo.data[p]), (cp.asarray(coo.row[p]), cp.asarray(coo.col[p]))), shape=(60, 60))
    same(mixed.tocsr().toarray(), m.toarray(), atol=0)
    same(gm[5].toarray(), m[5].toarray(), atol=0)
    t = cpu.tril(m @ m.T + 10 * cpu.eye(60)).tocsr()
    same(gpu_linalg.spsolve_triangular(gpu.csr_matrix(t), gx), np.linalg.solve(t.toarray(), x), atol=1e-9)
    q = (m @ m.T + 10 * cpu.eye(60)).tocsr()
    same(gpu_linalg.cg(gpu.csr_matrix(q), gx, rtol=1e-10)[0], np.linalg.solve(q.toarray(), x), atol=1e-7)
    for kind, near in (np.float32, 1e-4), (np.float64, 1e-10), (np.complex64, 1e-4), (np.complex128, 1e-10):
        a = (m + 9 * cpu.eye(60) + (1j * n if np.dtype(kind).kind == "c" else n)).tocsr().astype(kind)
        b = np.stack([x, -2 * x], 1).astype(kind)
        same(gpu_linalg.spsolve(gpu.csr_matrix(a), cp.asarray(b)), np.linalg.solve(a.toarray(), b), atol=near)
        same(gpu_linalg.factorized(gpu.csr_matrix(a))(cp.asarray(b)), np.linalg.solve(a.toarray(), b), atol=near)


tests = [products, fourier, solvers, spectra, random_numbers]
if importlib.util.find_spec("scipy"):
    tests.append(sparse)
else:
    print("sparse: skipped, no SciPy")
checks.run(tests)
