"""Paired differences, p values, families (faults B17, B40)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from stats_rows import cell, compare, steps

from ace_bench.stats.bootstrap import generator
from ace_bench.stats.contrasts import against_baseline, contrast, find_baseline
from ace_bench.stats.multiplicity import benjamini_hochberg


def pair(a: list[float | None], b: list[float | None]):  # type: ignore[no-untyped-def]
    """base scored `a`, method new scored `b`, one run each."""
    (found,) = compare([cell("a", "base"), cell("b", "new")], steps({"a": a, "b": b}))
    return found


def test_b40_pairing_is_used() -> None:
    """A and B agree on 95 of 100 items and differ 5:0: a paired result, not a two-sample one."""
    a = [1.0] * 60 + [0.0] * 40
    b = [1.0] * 65 + [0.0] * 35
    c = contrast(pair(a, b), 1, 0)
    assert c.effect.value == pytest.approx(0.05)
    assert 0.0 < c.effect.low < 0.02  # 5 discordant pairs, all one way; unpaired would reach down to -0.08
    assert 0.09 <= c.effect.high <= 0.11
    assert c.p < 0.03
    assert c.effect.label == "items only"
    assert c.effect.estimator.startswith("paired difference")


def test_b40_copies_are_not_new_items() -> None:
    """The same 100 items under 5 seeds x 3 orders, all copies: the interval stays that of 100 items."""
    a, b = [1.0] * 60 + [0.0] * 40, [1.0] * 65 + [0.0] * 35
    cells, rows = [], {}
    for s in range(5):
        for o in range(3):
            for method, values in (("base", a), ("new", b)):
                cells.append(cell(f"{method}{s}{o}", method, s, o))
                rows[f"{method}{s}{o}"] = values
    (found,) = compare(cells, steps(rows))
    many, one = contrast(found, 1, 0).effect, contrast(pair(a, b), 1, 0).effect
    assert many.high - many.low == pytest.approx(one.high - one.low, rel=0.15)
    assert (many.n_items, many.n_seeds, many.n_orders, many.n_cells) == (100, 5, 3, 15)


def test_b17_common_items_and_strict() -> None:
    a = [1.0] * 6 + [0.0] * 4
    b: list[float | None] = [1.0] * 6 + [0.0] * 2 + [None] * 2
    c = contrast(pair(a, b), 1, 0, replicates=500)
    assert (c.effect.value, c.effect.n_scored, c.dropped) == (0.0, 8, 2)
    assert (c.strict.value, c.strict.n_scored) == (0.0, 10)


def test_equal_methods_are_not_certain() -> None:
    a = [1.0, 0.0] * 20
    c = contrast(pair(a, list(a)), 1, 0, replicates=300)
    assert (c.effect.value, c.effect.label, c.p) == (0.0, "degenerate", 1.0)
    assert c.effect.low < -0.05 < 0.05 < c.effect.high


def test_constant_difference_uses_the_exact_sign_test() -> None:
    c = contrast(pair([0.0] * 5, [1.0] * 5), 1, 0, replicates=300)
    assert c.p == pytest.approx(2 / 32)
    assert c.effect.low < 1 == c.effect.high


def test_p_and_interval_agree() -> None:
    rng = generator("agree")
    for t in range(40):
        a, b = (list(map(float, rng.random(40) < p)) for p in (0.4, 0.4 + 0.2 * (t % 2)))
        c = contrast(pair(a, b), 1, 0, replicates=2000)
        if abs(c.p - 0.05) > 0.01:
            assert (c.p < 0.05) == (not c.effect.low <= 0 <= c.effect.high)


def test_no_shared_score_leaves_the_family() -> None:
    cells = [cell("a", "base"), cell("b", "new"), cell("c", "other")]
    found = compare(cells, steps({"a": [1, None, 0], "b": [None, 1, None], "c": [1, 1, 1]}))
    got = against_baseline(found, replicates=200)
    by_arm = {row.arm: row for row in got.rows}
    assert math.isnan(by_arm["new"].p)
    assert by_arm["other"].family == 1
    assert "share no scored attempt" in got.notes[0]


def test_family_is_the_whole_experiment() -> None:
    cells, rows = [], {}
    for feedback in ("gt", "none"):
        for method in ("base", "x", "y"):
            name = f"{method}-{feedback}"
            cells.append(cell(name, method, feedback=feedback))
            rows[name] = list(map(float, generator(name).random(30) < 0.5))
    got = against_baseline(compare(cells, steps(rows)), replicates=300)
    assert [row.family for row in got.rows] == [4] * 4
    assert all(row.p_adjusted >= row.p for row in got.rows)
    softer = against_baseline(compare(cells, steps(rows)), replicates=300, adjust=benjamini_hochberg)
    assert all(s.p_adjusted <= h.p_adjusted for s, h in zip(softer.rows, got.rows, strict=True))


def test_baseline_is_named_found_or_explained() -> None:
    cells = [cell("a", "ace", knobs={"k": 1}), cell("b", "ace", knobs={"k": 2}), cell("c", "dc")]
    (found,) = compare(cells, steps({"a": [1], "b": [0], "c": [0]}))
    assert "no arm 'base'" in str(find_baseline(found, None))
    assert "several arms are of method ace" in str(find_baseline(found, "ace"))
    assert find_baseline(found, "ace (k=2)") == 1
    assert find_baseline(found, "dc") == 2


def test_adding_an_arm_moves_no_other_bar() -> None:
    scores = {n: list(map(float, generator(n).random(25) < 0.5)) for n in ("base", "x", "y")}
    few = against_baseline(compare([cell(n, n) for n in ("base", "x")], steps({n: scores[n] for n in ("base", "x")})))
    more = against_baseline(compare([cell(n, n) for n in scores], steps(scores)))
    assert few.rows[0].effect == more.rows[0].effect
    assert np.isclose(few.rows[0].p, more.rows[0].p)
