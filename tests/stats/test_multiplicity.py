"""Adjusted p values against worked examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from ace_bench.stats.multiplicity import benjamini_hochberg, holm


def test_holm_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]).p == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_nan_is_dropped_and_reported() -> None:
    got = holm([0.02, math.nan, 0.01])
    assert (got.family, got.dropped) == (2, [1])
    assert got.p[0] == pytest.approx(0.02)
    assert math.isnan(got.p[1])
    assert got.p[2] == pytest.approx(0.02)


def test_empty_family() -> None:
    assert holm([]) == ([], 0, [])
    assert benjamini_hochberg([math.nan]).family == 0


def test_p_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.2])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_benjamini_hochberg_is_scipys(p: list[float]) -> None:
    assert benjamini_hochberg(p).p == pytest.approx(list(false_discovery_control(p)))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_between_raw_and_bonferroni_and_keeps_the_order(p: list[float]) -> None:
    adjusted = np.array(holm(p).p)
    assert np.all(adjusted >= np.array(p))
    assert np.all(adjusted <= np.minimum(1, len(p) * np.array(p)) + 1e-12)
    assert np.all(np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0)
