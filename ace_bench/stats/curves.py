"""Curves by position with pointwise bands: whole runs are resampled together (statistics.md, default 7).

Items stay fixed: a band says where the curve would run if we reran. Points of one curve are autocorrelated, so the band
is no test of single steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ace_bench.stats.bootstrap import REPLICATES, Floats, counts, generator
from ace_bench.stats.design import Arm
from ace_bench.stats.intervals import LEVEL, design_label
from ace_bench.stats.steps import Steps


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """A mean curve. `x`: positions from 1; `mean`, `low`, `high`: (positions,); `runs`: (runs, positions), raw curves.

    With one run `low` and `high` are NaN and the label is "one run". `axes`: what was resampled.
    """

    x: Floats
    mean: Floats
    low: Floats
    high: Floats
    runs: Floats
    axes: tuple[str, ...]
    label: str


def series(arm: Arm, steps: Steps, column: str, phase: str = "score") -> Floats:
    """Values of a step column by place in the stream: (seeds, orders, positions), NaN where there is none."""
    seeds, orders = sorted({s for s, _ in arm.cells}), sorted({o for _, o in arm.cells})
    rows = {place: steps.rows(cell, phase) for place, cell in arm.cells.items()}
    out = np.full((len(seeds), len(orders), max(map(len, rows.values()))), np.nan)
    for (seed, order), found in rows.items():
        out[seeds.index(seed), orders.index(order), : len(found)] = steps.column(column, found)
    return out


def band(
    top: Floats, bottom: Floats, name: Sequence[object], *, replicates: int = REPLICATES, level: float = LEVEL
) -> Band:
    """The band of the ratio top / bottom, both (seeds, orders, positions), zero where a run has nothing."""
    seeds, orders, length = top.shape
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = top.sum(axis=(0, 1)) / bottom.sum(axis=(0, 1))
        runs = (top / bottom).reshape(-1, length)
    runs = runs[~np.isnan(runs).all(axis=1)]
    x = np.arange(1, length + 1, dtype=np.float64)
    axes = tuple(axis for axis, n in (("seeds", seeds), ("orders", orders)) if n > 1)
    if len(runs) < 2:
        return Band(x, mean, np.full(length, np.nan), np.full(length, np.nan), runs, (), "one run")
    low, high = _limits(top, bottom, name, replicates, level)
    return Band(x, mean, low, high, runs, axes, design_label(seeds, orders))


def _limits(
    top: Floats, bottom: Floats, name: Sequence[object], replicates: int, level: float
) -> tuple[Floats, Floats]:
    """Percentile limits; positions go in blocks so that the memory stays small."""
    seeds, orders, length = top.shape
    rng = generator("curve", *name)
    by_seed, by_order = counts(rng, seeds, replicates), counts(rng, orders, replicates)
    weight = (by_seed[:, :, None] * by_order[:, None, :]).reshape(replicates, -1)
    low, high = np.empty(length), np.empty(length)
    for start in range(0, length, 64):
        at = slice(start, min(start + 64, length))
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = (weight @ top.reshape(-1, length)[:, at]) / (weight @ bottom.reshape(-1, length)[:, at])
        low[at], high[at] = _quantiles(drawn, level)
    return low, high


def _quantiles(drawn: Floats, level: float) -> tuple[Floats, Floats]:
    """Percentiles by column; a draw without data does not count, a column without any is NaN."""
    ordered = np.sort(drawn, axis=0)  # NaN last
    n = (~np.isnan(drawn)).sum(axis=0)
    edge = (1 - level) / 2
    columns = np.arange(drawn.shape[1])
    low = np.floor(edge * np.maximum(n - 1, 0)).astype(np.int64)
    high = np.ceil((1 - edge) * np.maximum(n - 1, 0)).astype(np.int64)
    return ordered[low, columns], ordered[high, columns]


def cumulative_accuracy(
    arm: Arm, steps: Steps, name: Sequence[object], *, replicates: int = REPLICATES, level: float = LEVEL
) -> Band:
    """Mean score of the attempts up to each position (online accuracy so far); the unscored do not count."""
    y = series(arm, steps, "score")
    scored = ~np.isnan(y)
    top, bottom = np.cumsum(np.where(scored, y, 0.0), axis=2), np.cumsum(scored, axis=2, dtype=np.float64)
    return band(top, bottom, name, replicates=replicates, level=level)


def windowed_accuracy(
    arm: Arm,
    steps: Steps,
    name: Sequence[object],
    *,
    window: int = 20,
    replicates: int = REPLICATES,
    level: float = LEVEL,
) -> Band:
    """Mean score of the last `window` attempts at each position (fewer at the start). ValueError below 1."""
    if window < 1:
        raise ValueError(f"a window holds at least one attempt; got {window}")
    y = series(arm, steps, "score")
    scored = ~np.isnan(y)
    top, bottom = _moving(np.where(scored, y, 0.0), window), _moving(scored.astype(np.float64), window)
    return band(top, bottom, name, replicates=replicates, level=level)


def _moving(values: Floats, window: int) -> Floats:
    total = np.cumsum(values, axis=2)
    before = np.zeros_like(total)
    before[..., window:] = total[..., :-window]
    return total - before


def context_tokens(
    arm: Arm,
    steps: Steps,
    name: Sequence[object],
    *,
    phase: str = "score",
    replicates: int = REPLICATES,
    level: float = LEVEL,
) -> Band:
    """Estimated tokens of the context shown at each position; `phase` is adapt for an offline run."""
    tokens = series(arm, steps, "context_tokens", phase)
    there = ~np.isnan(tokens)
    return band(np.where(there, tokens, 0.0), there.astype(np.float64), name, replicates=replicates, level=level)
