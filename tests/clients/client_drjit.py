"""Dr.Jit: PTX of its own (loops, calls through tables of functions, atomics, textures, gradients), against NumPy."""
import drjit as dr
import numpy as np
from drjit.cuda.ad import Float, Float64, Texture2f, Array2f, TensorXf, UInt

import checks

N = 5000


def close(got, want, limit=2e-6):
    want = np.asarray(want, dtype=np.float64)
    assert np.abs(got.numpy() - want).max() <= limit * max(1, np.abs(want).max())


def elementary():
    for kind, limit in ((Float, 2e-6), (Float64, 1e-14)):
        x = dr.linspace(kind, 0.01, 0.99, N)
        y = x.numpy().astype(np.float64)
        close(dr.sin(x) * dr.exp(x) + dr.sqrt(x) - dr.log(x), np.sin(y) * np.exp(y) + np.sqrt(y) - np.log(y), limit)


def loop():
    def steps(n):
        count = 0
        while n != 1:
            n, count = (3 * n + 1 if n & 1 else n >> 1), count + 1
        return count

    _, count = dr.while_loop((dr.arange(UInt, N) + 1, UInt(0)), lambda n, c: n != 1,
                             lambda n, c: (dr.select((n & 1) == 0, n >> 1, 3 * n + 1), c + 1))
    assert (count.numpy() == [steps(n + 1) for n in range(N)]).all()


def calls_and_gradients():
    x, which = dr.linspace(Float, 0.5, 3, N), dr.arange(UInt, N) % 3
    dr.enable_grad(x)
    result = dr.switch(which, [lambda x: x * x, lambda x: dr.sin(x), lambda x: dr.exp(-x)], x)
    dr.backward(dr.sum(result))
    y, w = dr.detach(x).numpy().astype(np.float64), which.numpy()
    close(result, np.choose(w, [y * y, np.sin(y), np.exp(-y)]))
    close(dr.grad(x), np.choose(w, [2 * y, np.cos(y), -np.exp(-y)]))


def atomics():
    at = (dr.arange(UInt, N) * 7919) % 257
    for mode in (dr.ReduceMode.Direct, dr.ReduceMode.Local, dr.ReduceMode.Expand):
        sums = dr.zeros(UInt, 257)
        dr.scatter_reduce(dr.ReduceOp.Add, sums, dr.arange(UInt, N), at, mode=mode)
        assert (sums.numpy() == np.bincount(at.numpy(), np.arange(N), 257)).all()


def reductions():
    x = (dr.arange(UInt, N) * 2654435761) >> 12
    y = x.numpy().astype(np.uint64)
    assert dr.sum(dr.cuda.ad.UInt64(x)).numpy()[0] == y.sum() and dr.max(x).numpy()[0] == y.max()
    assert (dr.cumsum(x).numpy() == (y.cumsum() & 0xFFFFFFFF)).all()
    assert (dr.block_sum(x, 50).numpy() == (y.reshape(-1, 50).sum(1) & 0xFFFFFFFF)).all()
    assert (dr.compress(x % 3 == 0).numpy() == np.flatnonzero(y % 3 == 0)).all()


def texture():
    image = np.random.default_rng(0).random((8, 9, 1)).astype(np.float32)
    texture = Texture2f(TensorXf(image), wrap_mode=dr.WrapMode.Clamp, filter_mode=dr.FilterMode.Linear)
    x, y = (np.random.default_rng(seed).random(500) * 1.4 - 0.2 for seed in (1, 2))
    got = texture.eval(Array2f(Float(x), Float(y)))[0]
    place = [np.floor(p * n - 0.5).astype(int) for p, n in ((x, 9), (y, 8))]
    part = [p * n - 0.5 - i for p, n, i in ((x, 9, place[0]), (y, 8, place[1]))]
    texel = lambda dx, dy: image[np.clip(place[1] + dy, 0, 7), np.clip(place[0] + dx, 0, 8), 0]
    rows = [texel(0, dy) * (1 - part[0]) + texel(1, dy) * part[0] for dy in (0, 1)]
    close(got, rows[0] * (1 - part[1]) + rows[1] * part[1], 6e-3)  # weights of a texture unit have 8 bits behind the point


checks.run([elementary, loop, calls_and_gradients, atomics, reductions, texture])
