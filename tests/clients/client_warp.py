"""NVIDIA Warp: its library has a stripped CUDA runtime inside, which nvidia-cuda-runtime of the same version names (docs/python.md)."""
import numpy as np
import warp as wp

import checks

wp.config.quiet = True
wp.init()
GPU = "cuda:0"
random = np.random.default_rng(0)


@wp.kernel
def axpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def lengths(p: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    wp.atomic_add(out, 0, wp.length(p[wp.tid()]))


@wp.kernel
def neighbours(grid: wp.uint64, p: wp.array(dtype=wp.vec3), near: float, out: wp.array(dtype=int)):
    i = wp.tid()
    count = int(0)
    for j in wp.hash_grid_query(grid, p[i], near):
        if wp.length(p[i] - p[j]) <= near:
            count += 1
    out[i] = count


@wp.kernel
def closest(mesh: wp.uint64, p: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    q = wp.mesh_query_point(mesh, p[i], 10.0)
    out[i] = wp.length(wp.mesh_eval_position(mesh, q.face, q.u, q.v) - p[i])


@wp.kernel
def tiled(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = wp.tile_zeros(shape=(16, 16), dtype=float)
    for k in range(4):
        total += wp.tile_matmul(wp.tile_load(a, shape=(16, 16), offset=(i * 16, k * 16)),
                                wp.tile_load(b, shape=(16, 16), offset=(k * 16, j * 16)))
    wp.tile_store(c, total, offset=(i * 16, j * 16))


def launches_and_graphs():
    x, y = random.random((2, 1000), dtype=np.float32)
    gx, gy = wp.array(x, device=GPU), wp.array(y, device=GPU)
    wp.launch(axpy, dim=1000, inputs=[2.0, gx, gy], device=GPU)
    assert np.allclose(gy.numpy(), y + 2 * x)
    with wp.ScopedCapture(device=GPU) as capture:
        wp.launch(axpy, dim=1000, inputs=[0.5, gx, gy], device=GPU)
    for _ in range(4):
        wp.capture_launch(capture.graph)
    assert np.allclose(gy.numpy(), y + 4 * x)


def gradients():
    p = random.random((500, 3), dtype=np.float32) + 0.1
    gp = wp.array(p, dtype=wp.vec3, device=GPU, requires_grad=True)
    out = wp.zeros(1, device=GPU, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(lengths, dim=500, inputs=[gp, out], device=GPU)
    tape.backward(out)
    norm = np.linalg.norm(p, axis=1, keepdims=True)
    assert np.allclose(out.numpy(), norm.sum(), rtol=1e-5) and np.allclose(gp.grad.numpy(), p / norm, atol=1e-6)


def hash_grid():
    p = random.random((300, 3), dtype=np.float32)
    gp, out = wp.array(p, dtype=wp.vec3, device=GPU), wp.zeros(300, dtype=int, device=GPU)
    grid = wp.HashGrid(8, 8, 8, device=GPU)
    grid.build(gp, 0.2)
    wp.launch(neighbours, dim=300, inputs=[grid.id, gp, 0.2, out], device=GPU)
    distance = np.linalg.norm(p[:, None].astype(np.float64) - p, axis=2)
    assert np.abs(distance - 0.2).min() > 1e-7 and (out.numpy() == (distance <= 0.2).sum(axis=1)).all()


def mesh():
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=np.float32)  # a square at z = 0
    surface = wp.Mesh(wp.array(corners, dtype=wp.vec3, device=GPU), wp.array([0, 1, 2, 0, 2, 3], dtype=int, device=GPU))
    p = random.random((100, 3), dtype=np.float32)
    out = wp.zeros(100, device=GPU)
    wp.launch(closest, dim=100, inputs=[surface.id, wp.array(p, dtype=wp.vec3, device=GPU), out], device=GPU)
    assert np.allclose(out.numpy(), p[:, 2], atol=1e-6)


def primitives():
    keys = random.permutation(1000).astype(np.int32)
    both = wp.array(np.concatenate([keys, np.zeros(1000, np.int32)]), device=GPU)
    values = wp.array(np.arange(2000, dtype=np.int32), device=GPU)
    wp.utils.radix_sort_pairs(both, values, 1000)
    assert (both.numpy()[:1000] == np.arange(1000)).all() and (keys[values.numpy()[:1000]] == np.arange(1000)).all()
    total = wp.zeros(1000, dtype=int, device=GPU)
    wp.utils.array_scan(wp.array(keys, device=GPU), total, inclusive=True)
    assert (total.numpy() == np.cumsum(keys)).all()


def tiles():
    a, b = random.random((2, 64, 64), dtype=np.float32)
    c = wp.zeros((64, 64), device=GPU)
    wp.launch_tiled(tiled, dim=(4, 4), inputs=[wp.array(a, device=GPU), wp.array(b, device=GPU), c], block_dim=64, device=GPU)
    assert np.allclose(c.numpy(), a @ b, rtol=1e-5)


checks.run([launches_and_graphs, gradients, hash_grid, mesh, primitives, tiles])
