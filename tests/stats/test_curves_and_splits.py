"""Curves against hand computation, bands over runs, and the first/repeat split."""

from __future__ import annotations

import math

import numpy as np
import pytest
from stats_rows import cell, compare, read, steps

from ace_bench.stats.bootstrap import generator
from ace_bench.stats.curves import context_tokens, cumulative_accuracy, windowed_accuracy
from ace_bench.stats.splits import split_scores


def experiment(scores: dict[str, list[float | None]], seeds: int = 1):  # type: ignore[no-untyped-def]
    cells = [cell(name, "ace", seed=n % seeds, order=n // seeds) for n, name in enumerate(scores)]
    rows = steps(scores)
    return compare(cells, rows)[0], read(rows)


def test_cumulative_by_hand() -> None:
    found, rows = experiment({"a": [1, None, 0, 1]})
    got = cumulative_accuracy(found.arms[0], rows, ("t",))
    assert got.mean == pytest.approx([1, 1, 1 / 2, 2 / 3])
    assert got.label == "one run"
    assert np.isnan(got.low).all()


def test_window_by_hand() -> None:
    found, rows = experiment({"a": [1, 0, 0, 1], "b": [0, 0, 1, 1]}, seeds=2)
    got = windowed_accuracy(found.arms[0], rows, ("t",), window=2, replicates=200)
    assert got.mean == pytest.approx([0.5, 0.25, 0.25, 0.75])
    with pytest.raises(ValueError, match="at least one attempt"):
        windowed_accuracy(found.arms[0], rows, ("t",), window=0)


def test_whole_runs_are_resampled_together() -> None:
    """Two runs, one all right and one all wrong: each draw is 0, 1/2 or 1 along its whole curve."""
    found, rows = experiment({"a": [1] * 6, "b": [0] * 6}, seeds=2)
    got = cumulative_accuracy(found.arms[0], rows, ("t",), replicates=500)
    assert (set(got.low), set(got.high), set(got.mean)) == ({0.0}, {1.0}, {0.5})
    assert got.axes == ("seeds",)
    assert got.label == "indicative"
    assert got.runs.shape == (2, 6)


def test_more_runs_narrow_the_band() -> None:
    def width(n: int) -> float:
        scores = {str(r): list(map(float, generator("w", r).random(20) < 0.5)) for r in range(n * n)}
        found, rows = experiment(scores, seeds=n)
        got = cumulative_accuracy(found.arms[0], rows, ("t",), replicates=800)
        return float((got.high - got.low)[-1])

    assert width(6) < width(2)


def test_runs_of_unlike_length_end_where_they_end() -> None:
    found, rows = experiment({"a": [1, 1, 1], "b": [0]}, seeds=2)
    got = context_tokens(found.arms[0], rows, ("t",), replicates=100)
    assert got.mean.tolist() == [10, 20, 30]
    assert math.isnan(got.runs[1, 2])


def test_split_by_hand() -> None:
    found, _ = experiment({"a": [1, 0, 0, 1], "b": [0, 1, 1, None]}, seeds=2)
    got = split_scores(found, 0, replicates=300)
    assert (got.first.value, got.first.n_scored) == (0.5, 2)
    assert (got.repeat.value, got.repeat.n_scored, got.repeat.n_errors) == (3 / 5, 5, 1)
    assert (got.score.value, got.strict.value) == (4 / 7, 4 / 8)
    assert "unscored = 0" in got.strict.estimator
