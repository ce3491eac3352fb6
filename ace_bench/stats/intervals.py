"""An estimate and its interval. Every number carries its estimator, the axes resampled, and its n (faults B39, B40)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ace_bench.stats.bootstrap import REPLICATES, Bools, Floats, crossed_bootstrap, generator

AXES = ("items", "seeds", "orders")
LEVEL = 0.95
# Below this many seeds or orders no resampling gives an honest 95 percent interval (statistics.md, limits).
ENOUGH = 5


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval.

    `value`, `low`, `high`: in the unit of the data; NaN only when nothing was scored (label "no scores").
    `axes`: what was resampled. `n_cells`: runs with an attempt. `n_scored`: attempts with a score, `n_errors`: without.
    `label`: "" (5 seeds x 5 orders or more), "indicative" (fewer), "items only" (one run: run-to-run variance is not in
    it), "degenerate" (all scores equal: bounds from the number of items alone), "no scores".
    """

    value: float
    low: float
    high: float
    level: float
    estimator: str
    axes: tuple[str, ...]
    n_items: int
    n_seeds: int
    n_orders: int
    n_cells: int
    n_scored: int
    n_errors: int
    label: str


def _z(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)


def design_label(seeds: int, orders: int) -> str:
    """What an interval from so many seeds and orders is worth: "", "indicative" or "items only"."""
    if seeds == orders == 1:
        return "items only"
    return "" if min(seeds, orders) >= ENOUGH else "indicative"


def wilson(successes: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Wilson score interval of a proportion; never of zero width. ValueError when n is not positive."""
    if n < 1:
        raise ValueError("a Wilson interval needs at least one attempt")
    z, p = _z(level), successes / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - half) if p > 0 else 0.0, min(1.0, middle + half) if p < 1 else 1.0


def degenerate_bounds(value: float, n: int, support: tuple[float, float], level: float = LEVEL) -> tuple[float, float]:
    """Bounds when all `n` items gave the same `value`: at most a Wilson share of new items lies elsewhere in `support`.

    At the ends of [0, 1] these are the Wilson bounds of 0 of n and n of n.
    """
    share = wilson(0, n, level)[1]
    return value + share * (support[0] - value), value + share * (support[1] - value)


def estimate(
    y: Floats,
    *,
    name: Sequence[object],
    ran: Bools | None = None,
    replicates: int = REPLICATES,
    level: float = LEVEL,
    support: tuple[float, float] | None = (0.0, 1.0),
    clusters: Sequence[str] | None = None,
) -> Estimate:
    """The estimate of one table `y` of shape (items, seeds, orders); see `estimates`."""
    wide = None if ran is None else ran[..., None]
    found, _ = estimates(
        y[..., None], name=name, ran=wide, replicates=replicates, level=level, support=support, clusters=clusters
    )
    return found[0]


def estimates(
    y: Floats,
    *,
    name: Sequence[object],
    ran: Bools | None = None,
    replicates: int = REPLICATES,
    level: float = LEVEL,
    support: tuple[float, float] | None = (0.0, 1.0),
    clusters: Sequence[str] | None = None,
) -> tuple[list[Estimate], Floats]:
    """Estimates of the columns of `y` (items, seeds, orders, columns), all under the same draws, and the draws.

    `ran` (same shape) marks attempts; default: those with a score. `name` names the random generator. `support` is the
    range of the data, None when unbounded. The draws are (replicates, columns); (0, columns) when nothing ran.
    """
    present = ~np.isnan(y) if ran is None else ran | ~np.isnan(y)
    keep = [np.flatnonzero(present.any(axis=tuple(a for a in range(4) if a != axis))) for axis in range(3)]
    y, present = y[np.ix_(*keep)], present[np.ix_(*keep)]
    kept = None if clusters is None else [clusters[int(i)] for i in keep[0]]
    if not y.size or not present.any():
        return [nothing(level, present[..., c]) for c in range(y.shape[3])], np.empty((0, y.shape[3]))
    draws = crossed_bootstrap(y, generator(*name), replicates, clusters=kept)
    found = [_one(y[..., c], present[..., c], draws[:, c], level, support, kept) for c in range(y.shape[3])]
    return found, draws


def nothing(level: float, present: Bools, estimator: str = "none: no attempt has a score") -> Estimate:
    """The estimate of a table without any score: all NaN, and says so."""
    n = sizes_of(present)
    nan = math.nan
    return Estimate(nan, nan, nan, level, estimator, (), *n, 0, int(present.sum()), "no scores")


def sizes_of(present: Bools) -> tuple[int, int, int, int]:
    """Items, seeds, orders and runs with at least one attempt."""
    return (
        int(present.any(axis=(1, 2)).sum()),
        int(present.any(axis=(0, 2)).sum()),
        int(present.any(axis=(0, 1)).sum()),
        int(present.any(axis=0).sum()),
    )


def _one(
    y: Floats,
    present: Bools,
    draws: Floats,
    level: float,
    support: tuple[float, float] | None,
    clusters: Sequence[str] | None,
) -> Estimate:
    scored = ~np.isnan(y)
    values = y[scored]
    if not len(values):
        return nothing(level, present)
    sizes = sizes_of(present)
    value = math.fsum(values.tolist()) / len(values)
    items = np.flatnonzero(scored.any(axis=(1, 2)))
    independent = len(items) if clusters is None else len({clusters[int(i)] for i in items})
    low, high, how, label = _bounds(values, value, draws, level, support, sizes, independent, clusters is not None)
    axes = tuple(axis for axis, n in zip(AXES, y.shape, strict=True) if n > 1)
    if clusters is not None:
        axes = tuple("clusters of items" if axis == "items" else axis for axis in axes)
    return Estimate(value, low, high, level, how, axes, *sizes, len(values), int(present.sum()) - len(values), label)


def _bounds(
    values: Floats, value: float, draws: Floats, level: float, support: tuple[float, float] | None,
    sizes: tuple[int, int, int, int], independent: int, clustered: bool,
) -> tuple[float, float, str, str]:  # fmt: skip
    """Low, high, how they were made, and the label."""
    mean = "mean of scored attempts"
    label = design_label(sizes[1], sizes[2])
    if bool(np.all(values == values[0])):
        return *_constant(value, independent, support, level), f"{mean}, bounds of constant data", "degenerate"
    binary = support == (0.0, 1.0) and bool(np.all((values == 0) | (values == 1)))
    if label == "items only" and binary and not clustered:
        return *wilson(value * len(values), len(values), level), f"{mean}, Wilson", label
    low, high = np.nanquantile(draws, [(1 - level) / 2, (1 + level) / 2])
    if low == high:
        return *_constant(value, independent, support, level), f"{mean}, bounds of constant data", "degenerate"
    return float(low), float(high), f"{mean}, crossed bootstrap percentile", label


def _constant(value: float, n: int, support: tuple[float, float] | None, level: float) -> tuple[float, float]:
    return (value, value) if support is None else degenerate_bounds(value, n, support, level)
