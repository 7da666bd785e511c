"""RAPIDS cuDF against pandas: groups, joins, sorts, windows, text, dates. Its libraries have a stripped CUDA runtime inside."""
import io

import cudf
import numpy as np
import pandas as pd

import checks

random = np.random.default_rng(0)
frame = pd.DataFrame({"k": random.integers(0, 20, 3000), "v": random.random(3000), "n": random.integers(-9, 9, 3000)})
names = pd.DataFrame({"k": np.arange(0, 40, 2), "name": [f"group {i}" for i in range(20)]})


def same(ours, theirs):
    ours = ours.to_pandas()
    if isinstance(theirs, pd.Series):
        pd.testing.assert_series_equal(ours, theirs, check_dtype=False, check_names=False, rtol=1e-9)
    else:
        pd.testing.assert_frame_equal(ours, theirs, check_dtype=False, rtol=1e-9)


def groups():
    def work(f):
        return f.groupby("k").agg({"v": ["sum", "mean", "max", "std"], "n": ["count", "min"]}).sort_index()
    same(work(cudf.from_pandas(frame)), work(frame))


def joins():
    for how in ("inner", "left", "outer"):
        def work(f, g):
            return f.merge(g, on="k", how=how).sort_values(["k", "v"]).reset_index(drop=True)[["k", "v", "n"]]
        same(work(cudf.from_pandas(frame), cudf.from_pandas(names)), work(frame, names))


def sorts_and_masks():
    def work(f):
        return f[(f.v > 0.25) & (f.n != 3)].sort_values(["n", "v"], ascending=[False, True]).reset_index(drop=True)
    same(work(cudf.from_pandas(frame)), work(frame))


def windows_and_sums():
    ours = cudf.from_pandas(frame)
    same(ours.v.rolling(7).mean(), frame.v.rolling(7).mean())
    same(ours.n.cumsum(), frame.n.cumsum())
    assert np.isclose(ours.v.quantile(0.3), frame.v.quantile(0.3))


def text():
    words = pd.Series(["alpha", "Beta", None, "gamma delta", "beta"] * 50)
    ours = cudf.from_pandas(words)
    same(ours.str.upper().fillna("-"), words.str.upper().fillna("-"))
    same(ours.str.len().fillna(-1), words.str.len().fillna(-1))
    same(ours.str.contains("eta").fillna(False), words.str.contains("eta").fillna(False).astype(bool))


def dates():
    when = pd.Series(pd.date_range("2024-02-27", periods=100, freq="7h"))
    ours = cudf.from_pandas(when)
    same(ours.dt.day, when.dt.day)
    same(ours.dt.dayofweek, when.dt.dayofweek)


def files():
    text_of = frame.head(500).to_csv(index=False)
    same(cudf.read_csv(io.StringIO(text_of)), pd.read_csv(io.StringIO(text_of)))
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    buffer.seek(0)
    same(cudf.read_parquet(buffer), frame)


checks.run([groups, joins, sorts_and_masks, windows_and_sums, text, dates, files])
