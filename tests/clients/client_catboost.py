"""CatBoost: what it learns on the GPU is what it learns on the CPU, where both are asked for the same algorithm. Its library holds the
static runtime of CUDA 11.8."""
import catboost
import numpy as np

import checks

RANDOM = np.random.default_rng(2)
X = RANDOM.standard_normal((600, 6)).astype(np.float32)
Y = 2 * X[:, 0] + np.sin(X[:, 1])
SAME = dict(iterations=6, depth=4, learning_rate=0.3, verbose=False, random_seed=1, bootstrap_type="No", boosting_type="Plain",
            border_count=32, random_strength=0, leaf_estimation_iterations=1, leaf_estimation_method="Newton", score_function="L2",
            boost_from_average=True, feature_border_type="GreedyLogSum", l2_leaf_reg=3, allow_writing_files=False)


def regression():
    one, other = (catboost.CatBoostRegressor(task_type=t, **SAME).fit(X, Y).predict(X) for t in ("CPU", "GPU"))
    np.testing.assert_allclose(one, other, atol=1e-5)
    assert np.mean((one - Y) ** 2) < np.var(Y) / 4


def classification():
    model = catboost.CatBoostClassifier(iterations=5, depth=4, task_type="GPU", verbose=False, random_seed=1, allow_writing_files=False)
    assert (model.fit(X, (Y > 0).astype(int)).predict(X) == (Y > 0)).mean() > 0.9


checks.run([regression, classification])
