"""Intervals and labels on every awkward table: constant, one item, one run, NaN (faults B17, B18, B39)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from ace_bench.stats.bootstrap import generator
from ace_bench.stats.intervals import degenerate_bounds, estimate, wilson
from ace_bench.stats.prediction import prediction_interval

nan = math.nan


def table(items: int, seeds: int, orders: int, key: str = "y") -> np.ndarray:
    return generator(key).integers(0, 2, (items, seeds, orders)).astype(float)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (3, 10), (1, 1), (480, 1000)])
def test_wilson_is_scipys(k: int, n: int) -> None:
    expected = binomtest(k, n).proportion_ci(method="wilson")
    assert wilson(k, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_needs_an_attempt() -> None:
    with pytest.raises(ValueError, match="at least one attempt"):
        wilson(0, 0)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_degenerate_bounds_are_wilsons_at_the_ends(value: float) -> None:
    assert degenerate_bounds(value, 12, (0.0, 1.0)) == pytest.approx(wilson(12 * value, 12), abs=1e-12)


@pytest.mark.parametrize(("seeds", "orders", "label"), [(5, 5, ""), (4, 5, "indicative"), (5, 4, "indicative"),
                                                        (1, 5, "indicative"), (1, 1, "items only")])  # fmt: skip
def test_labels_follow_the_design(seeds: int, orders: int, label: str) -> None:
    e = estimate(table(30, seeds, orders), name=("t",), replicates=400)
    assert (e.label, e.n_cells) == (label, seeds * orders)
    assert e.axes == tuple(a for a, n in (("items", 30), ("seeds", seeds), ("orders", orders)) if n > 1)
    assert e.low < e.value < e.high


def test_one_run_of_binary_scores_is_wilson() -> None:
    y = table(40, 1, 1)
    e = estimate(y, name=("t",))
    assert (e.low, e.high) == wilson(y.sum(), 40)


def test_one_run_of_graded_scores_is_a_bootstrap_over_items() -> None:
    y = generator("g").choice([0, 0.25, 0.5, 1], (200, 1, 1))
    e = estimate(y, name=("t",), replicates=4000)
    assert e.label == "items only"
    assert (e.high - e.low) / 2 == pytest.approx(1.96 * y.std() / math.sqrt(200), rel=0.06)


@pytest.mark.parametrize("shape", [(20, 5, 5), (20, 1, 1), (1, 1, 1), (1, 5, 5)])
@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_constant_data_are_marked_and_have_width(shape: tuple[int, ...], value: float) -> None:
    e = estimate(np.full(shape, value), name=("t",), replicates=200)
    assert (e.value, e.label) == (value, "degenerate")
    assert 0 <= e.low <= value <= e.high <= 1
    assert e.high - e.low >= 0.1 if shape[0] == 20 else e.high - e.low > 0.7  # 25 copies of one item are one item


def test_nothing_scored_says_so() -> None:
    e = estimate(np.full((3, 2, 2), nan), name=("t",), ran=np.ones((3, 2, 2), dtype=bool))
    assert e.label == "no scores"
    assert math.isnan(e.value)
    assert (e.n_scored, e.n_errors, e.n_items, e.n_cells) == (0, 12, 3, 4)


def test_b18_one_nan() -> None:
    y = np.array([1.0, nan, 0.0, 1.0]).reshape(4, 1, 1)
    e = estimate(y, name=("t",), ran=np.ones((4, 1, 1), dtype=bool))
    assert (e.value, e.n_scored, e.n_errors) == (2 / 3, 3, 1)


def test_empty_axes_are_left_out_of_the_counts() -> None:
    y = np.full((6, 3, 2), nan)
    y[:4, :2, :1] = table(4, 2, 1, "part")
    e = estimate(y, name=("t",), replicates=100)
    assert (e.n_items, e.n_seeds, e.n_orders, e.n_cells, e.n_errors) == (4, 2, 1, 2, 0)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 3), st.integers(0, 9999), st.floats(0, 1))
def test_never_unmarked_nan_or_zero_width(items: int, seeds: int, orders: int, key: int, hole: float) -> None:
    rng = generator("any", key)
    y = rng.integers(0, 2, (items, seeds, orders)).astype(float)
    y[rng.random(y.shape) < hole] = nan
    e = estimate(y, name=("t",), replicates=60)
    if e.label == "no scores":
        assert np.isnan(y).all()
    else:
        assert 0 <= e.low < e.high <= 1
        assert e.value == pytest.approx(np.nanmean(y))


def test_clusters_are_the_unit() -> None:
    y = np.repeat(table(30, 1, 1), 4, axis=0)
    names = [str(n // 4) for n in range(120)]
    wide = estimate(y, name=("t",), clusters=names)
    narrow = estimate(y, name=("t",))
    assert wide.axes == ("clusters of items",)
    assert wide.high - wide.low > 1.6 * (narrow.high - narrow.low)


def test_prediction_is_wider_than_the_mean() -> None:
    y = table(50, 5, 5)
    p, e = prediction_interval(y), estimate(y, name=("t",), replicates=500)
    assert p.value == e.value
    assert p.label == ""
    one = prediction_interval(y[:, :1, :1])
    assert one.label == "items only"
    assert one.high - one.low == pytest.approx(2 * 1.96 * math.sqrt(2 * y[:, 0, 0].var() / 50), rel=1e-3)
    assert prediction_interval(np.ones((9, 5, 5))).label == "degenerate"
    new = prediction_interval(y, new_items=True)
    assert new.high - new.low > p.high - p.low
