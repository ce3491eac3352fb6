"""The detectable difference: against the real contrast, and against what must hold of any design."""

from __future__ import annotations

import numpy as np
import pytest

from ace_bench.stats.bootstrap import generator
from ace_bench.stats.intervals import estimates
from ace_bench.stats.power import ASSUMED, Assumed, _right, _shift_for, detectable


def test_more_of_anything_detects_less() -> None:
    plain = detectable(60, 3, 3)
    assert plain is not None
    for design in ((200, 3, 3), (60, 6, 3), (60, 3, 6)):
        more = detectable(*design)
        assert more is not None
        assert more < plain
    noisier = detectable(60, 3, 3, Assumed(run=0.8, seed=0.8))
    assert noisier is not None
    assert noisier > plain


def test_it_repeats_and_knows_when_nothing_can_be_found() -> None:
    assert detectable(60, 3, 3) == detectable(60, 3, 3)
    assert detectable(3, 1, 1) is None
    with pytest.raises(ValueError, match="at least one item"):
        detectable(0, 3, 3)


def test_one_run_agrees_with_the_closed_form() -> None:
    """Paired binary scores of one run, new items: (1.96 + 0.84) SDs of the mean difference."""
    n, found = 400, detectable(400, 1, 1, Assumed(seed=0, order=0, run=0))
    assert found is not None
    item = ASSUMED.item * generator("closed form").standard_normal(200_000)
    weak = _right(item + _shift_for(0.5, item))
    strong = _right(item + _shift_for(0.5 + found, item))
    variance = float((weak * (1 - weak) + strong * (1 - strong)).mean() + (strong - weak).var())
    assert found == pytest.approx((1.96 + 0.84) * (variance / n) ** 0.5, rel=0.08)


def test_the_real_contrast_finds_it_four_times_in_five() -> None:
    """120 fresh data sets with the difference told, each through `estimates` as the report does it."""
    items, seeds, orders = 60, 3, 3
    difference = detectable(items, seeds, orders)
    assert difference is not None
    rng = generator("power by hand")

    def arm(item: np.ndarray, rate: float) -> np.ndarray:
        own = (0.15 * rng.standard_normal((1, seeds, 1)) + 0.15 * rng.standard_normal((1, 1, orders))
               + 0.15 * rng.standard_normal((1, seeds, orders)))  # fmt: skip
        wide = 1.2 * generator("wide").standard_normal(100_000)
        return (rng.random((items, seeds, orders)) < _right(item + own + _shift_for(rate, wide))).astype(float)

    found = 0
    for n in range(120):
        item = 1.2 * rng.standard_normal((items, 1, 1))
        table = arm(item, 0.5 + difference) - arm(item, 0.5)
        ((effect,), _) = estimates(table[..., None], name=("power", n), replicates=400, support=(-1.0, 1.0))
        found += effect.low > 0
    assert 0.68 <= found / 120 <= 0.92  # 80 percent, and three standard errors of 120 data sets
