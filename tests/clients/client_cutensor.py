"""NVIDIA's cuTENSOR through its C interface: a contraction over two modes, a reduction and a permutation, beside NumPy."""
import ctypes as c
import importlib.metadata as metadata

import numpy as np
import torch

import checks

FOLDER = metadata.distribution("cutensor-cu13").locate_file("cutensor/lib/libcutensor.so.2")
LIB = c.CDLL(str(FOLDER))
P, F32, ALIGNMENT, IDENTITY, ADD = c.c_void_p, 0, 128, 1, 3
HANDLE, PREFERENCE = P(), P()
RNG = np.random.default_rng(0)
M, N, K, L = 12, 20, 8, 5


def call(name, *arguments):
    status = getattr(LIB, "cutensor" + name)(*arguments)
    assert status == 0, f"{name}: {status}"


def tensor(*shape):
    return np.asfortranarray(RNG.standard_normal(shape).astype(np.float32))


def upload(a):
    return torch.from_numpy(a.ravel(order="F").copy()).cuda()


def described(shape, modes):
    d, n = P(), len(shape)
    strides = [int(x) for x in np.cumprod((1,) + shape[:-1])]
    call("CreateTensorDescriptor", HANDLE, c.byref(d), c.c_uint32(n), (c.c_int64 * n)(*shape), (c.c_int64 * n)(*strides), F32, c.c_uint32(ALIGNMENT))
    return d, (c.c_int32 * n)(*map(ord, modes)), IDENTITY


def planned(kind, *operands):
    """The plan of an operation and its workspace."""
    op, plan, room = P(), P(), c.c_uint64()
    call("Create" + kind, HANDLE, c.byref(op), *operands, P.in_dll(LIB, "CUTENSOR_COMPUTE_DESC_32F"))
    call("EstimateWorkspaceSize", HANDLE, op, PREFERENCE, 2, c.byref(room))
    call("CreatePlan", HANDLE, c.byref(plan), op, PREFERENCE, room)
    return plan, torch.empty(max(1, room.value), dtype=torch.uint8, device="cuda"), room


def at(t):
    return P(t.data_ptr())


def near(got, want):
    assert np.abs(got.cpu().numpy().reshape(want.shape, order="F") - want).max() < 1e-4


def contraction():
    a, b, add = tensor(M, K, L), tensor(L, N, K), tensor(M, N)
    out = described((M, N), "mn")
    plan, room, size = planned("Contraction", *described(a.shape, "mkl"), *described(b.shape, "lnk"), *out, *out[:2])
    da, db, dc, d = upload(a), upload(b), upload(add), torch.zeros(M * N, device="cuda")
    call("Contract", HANDLE, plan, c.byref(c.c_float(1.5)), at(da), at(db), c.byref(c.c_float(0.5)), at(dc), at(d), at(room), size, P(0))
    near(d, 1.5 * np.einsum("mkl,lnk->mn", a, b) + 0.5 * add)


def reduction():
    a, out = tensor(M, K, L), described((L, M), "lm")
    plan, room, size = planned("Reduction", *described(a.shape, "mkl"), *out, *out[:2], ADD)
    da, d = upload(a), torch.zeros(L * M, device="cuda")
    call("Reduce", HANDLE, plan, c.byref(c.c_float(1.5)), at(da), c.byref(c.c_float(0)), at(d), at(d), at(room), size, P(0))
    near(d, 1.5 * a.sum(1).T)


def permutation():
    a = tensor(M, K, L)
    plan = planned("Permutation", *described(a.shape, "mkl"), *described((L, K, M), "lkm")[:2])[0]
    da, d = upload(a), torch.zeros(a.size, device="cuda")
    call("Permute", HANDLE, plan, c.byref(c.c_float(1.5)), at(da), at(d), P(0))
    near(d, 1.5 * a.transpose(2, 1, 0))


torch.zeros(1, device="cuda")
call("Create", c.byref(HANDLE))
call("CreatePlanPreference", HANDLE, c.byref(PREFERENCE), -1, 0)
checks.run([contraction, reduction, permutation])
