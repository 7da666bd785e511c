"""XGBoost: boosted trees on the GPU give the CPU's, for each kind of objective; its library holds the static runtime and Thrust's and
CUB's kernels. Without a least weight of a child: on the GPU a split that it forbids may hide others of the 32 beside it
(evaluate_splits.cu looks for the best of them first)."""
import numpy as np
import xgboost as xgb

import checks

RANDOM = np.random.default_rng(1)
X = RANDOM.standard_normal((300, 8)).astype(np.float32)
Y = (2 * X[:, 0] + np.sin(X[:, 1]) + X[:, 2] * X[:, 3]).astype(np.float32)


def both(label, rounds=5, **parameters):
    """Predictions of the CPU and of the GPU."""
    data = xgb.DMatrix(X, label)
    train = lambda device: xgb.train({"device": device, "max_depth": 4, "tree_method": "hist", "min_child_weight": 0} | parameters, data, rounds).predict(data)
    return train("cpu"), train("cuda")


def same(pair, **tolerance):
    np.testing.assert_allclose(*pair, **({"rtol": 1e-4, "atol": 1e-5} | tolerance))


def regression():
    same(both(Y))


def classification():
    same(both((Y > 0).astype(int), objective="binary:logistic"))


def classes():
    same(both(np.digitize(Y, [-1, 0, 1]), objective="multi:softprob", num_class=4))


def missing_values():
    kept = X[:, 5].copy()
    X[::3, 5] = np.nan
    try:
        same(both(Y))
    finally:
        X[:, 5] = kept


checks.run([regression, classification, classes, missing_values])
