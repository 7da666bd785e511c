"""RAPIDS beside cuDF: cuML's estimators, cuVS's indices of neighbours, cuGraph's algorithms, against NumPy and networkx."""
import cupy as cp
import numpy as np

import checks

random = np.random.default_rng(0)


def clusters(width, spread=0.2):
    return np.concatenate([random.normal(5 * c, spread, (60, width)) for c in range(3)]).astype(np.float32)


def same_groups(labels):
    groups = np.asarray(labels).reshape(3, 60)
    assert all(len(set(g)) == 1 for g in groups.tolist()) and len(set(groups[:, 0].tolist())) == 3


def kmeans_and_dbscan():
    from cuml.cluster import DBSCAN, KMeans

    x = clusters(4)
    same_groups(cp.asnumpy(KMeans(n_clusters=3, random_state=0, n_init=1).fit(cp.asarray(x)).labels_))
    same_groups(DBSCAN(eps=2.0, min_samples=5).fit(x).labels_)


def regressions():
    from cuml.linear_model import LinearRegression, LogisticRegression, Ridge

    x, w = random.normal(size=(500, 8)).astype(np.float32), random.normal(size=8).astype(np.float32)
    y = x @ w + 1
    for model in (LinearRegression(algorithm="eig"), LinearRegression(algorithm="svd"), Ridge(alpha=1e-6)):
        model.fit(x, y)
        assert np.allclose(np.asarray(model.coef_).ravel(), w, atol=1e-3)
    above = (y > 1).astype(np.int32)
    assert LogisticRegression().fit(x, above).score(x, above) > 0.95


def decompositions():
    from cuml.decomposition import PCA

    x = random.normal(size=(200, 10)).astype(np.float32) * np.arange(10, 0, -1, dtype=np.float32)
    want = np.linalg.svd(x - x.mean(0))[1]
    assert np.allclose(np.asarray(PCA(n_components=3).fit(x).singular_values_), want[:3], rtol=1e-3)


def forest():
    """Waits by asking its stream without rest."""
    from cuml.ensemble import RandomForestClassifier

    x = random.normal(size=(400, 5)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] > 0).astype(np.int32)
    model = RandomForestClassifier(n_estimators=4, max_depth=6, random_state=1).fit(x, y)
    assert (np.asarray(model.predict(x)) == y).mean() > 0.8


def neighbours():
    from cuml.neighbors import NearestNeighbors
    from cuvs.neighbors import brute_force, ivf_flat

    x = random.normal(size=(300, 16)).astype(np.float32)
    far = ((x[:20, None] - x[None]) ** 2).sum(-1)
    order = np.argsort(far, kind="stable")[:, :5]
    distances = NearestNeighbors(n_neighbors=5).fit(x).kneighbors(x[:20])[0]
    assert np.allclose(np.asarray(distances) ** 2, np.sort(far)[:, :5], atol=1e-3)
    data, queries = cp.asarray(x), cp.asarray(x[:20])
    found = brute_force.search(brute_force.build(data), queries, 5)[1]
    assert (cp.asarray(found).get() == order).mean() > 0.99
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), data)
    found = ivf_flat.search(ivf_flat.SearchParams(n_probes=4), index, queries, 5)[1]
    assert (cp.asarray(found).get() == order).mean() > 0.99


def graphs():
    import cudf
    import cugraph
    import networkx as nx

    g = nx.gnm_random_graph(60, 200, seed=3)
    ends = cudf.DataFrame({"src": [a for a, _ in g.edges], "dst": [b for _, b in g.edges]})
    graph = cugraph.Graph()
    graph.from_cudf_edgelist(ends, source="src", destination="dst")
    ranks = cugraph.pagerank(graph).to_pandas().set_index("vertex")["pagerank"]
    want = nx.pagerank(g, tol=1e-8)
    assert all(abs(ranks[v] - want[v]) < 1e-4 for v in ranks.index)
    steps = cugraph.bfs(graph, 0).to_pandas().set_index("vertex")["distance"]
    assert all(steps[v] == n for v, n in nx.single_source_shortest_path_length(g, 0).items())
    assert cugraph.triangle_count(graph).to_pandas()["counts"].sum() == sum(nx.triangles(g).values())


checks.run([kmeans_and_dbscan, regressions, decompositions, forest, neighbours, graphs])
