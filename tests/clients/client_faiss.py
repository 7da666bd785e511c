"""FAISS: nearest neighbours on the GPU are the CPU's, exact, by inverted lists, and with quantised vectors; products by cuBLAS."""
import faiss
import numpy as np

import checks

RANDOM = np.random.default_rng(3)
VECTORS, QUERIES = (RANDOM.standard_normal((n, 16)).astype(np.float32) for n in (500, 12))
GPU = faiss.StandardGpuResources()


def same_as_cpu(kind, metric=faiss.METRIC_L2):
    def check():
        cpu = faiss.index_factory(16, kind, metric)
        cpu.train(VECTORS), cpu.add(VECTORS)
        gpu = faiss.index_cpu_to_gpu(GPU, 0, cpu)
        if hasattr(cpu, "nprobe"):
            cpu.nprobe = gpu.nprobe = 4
        (d, i), (e, j) = cpu.search(QUERIES, 5), gpu.search(QUERIES, 5)
        np.testing.assert_allclose(d, e, rtol=1e-4, atol=1e-4)
        assert (i == j).mean() > 0.95  # those of the same distance may change places
    check.__name__ = kind.replace(",", "_") + ("_product" if metric == faiss.METRIC_INNER_PRODUCT else "")
    return check


checks.run([same_as_cpu("Flat"), same_as_cpu("Flat", faiss.METRIC_INNER_PRODUCT), same_as_cpu("IVF8,Flat"), same_as_cpu("IVF8,SQ8")])
