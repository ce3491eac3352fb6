"""The 95 percent interval of ONE new run: what a published single value is to be compared with (design, section 6)."""

from __future__ import annotations

import math

import numpy as np

from ace_bench.stats.bootstrap import Bools, Floats
from ace_bench.stats.intervals import LEVEL, Estimate, degenerate_bounds, design_label, nothing, sizes_of


def prediction_interval(
    y: Floats, *, level: float = LEVEL, new_items: bool = False, support: tuple[float, float] | None = (0.0, 1.0)
) -> Estimate:
    """Where the mean of one new run (new seed, new order) falls with probability `level`.

    `y`: (items, seeds, orders), NaN = unscored. The items are these very items, unless `new_items`: then as many new
    ones. Variances come from pairs of runs that share neither seed nor order; the quantile is Student's with
    Satterthwaite degrees of freedom. With one run only the binomial noise of the items stands in ("items only").
    """
    scored: Bools = ~np.isnan(y)
    if not scored.any():
        return nothing(level, scored)
    sizes = sizes_of(scored)
    values = y[scored]
    value = math.fsum(values.tolist()) / len(values)
    if sizes[3] == 1:
        # Two independent runs on the same items differ by about twice the within-run variance.
        spread, df = 2 * float(np.var(values)) / len(values), math.inf
    else:
        spread, df = _run_spread(_means(y, (0,)), sizes[1], sizes[2])
    if new_items and sizes[0] > 1:
        means = _means(y, (1, 2))
        spread += 2 * float(np.var(means[~np.isnan(means)], ddof=1)) / sizes[0]
    label = design_label(sizes[1], sizes[2]) if spread > 0 else "degenerate"
    if spread > 0:
        half = _quantile(level, df) * math.sqrt(spread)
        low, high = value - half, value + half
    else:
        low, high = (value, value) if support is None else degenerate_bounds(value, sizes[0], support, level)
    if support is not None:
        low, high = max(support[0], low), min(support[1], high)
    axes = ["items"] if new_items or sizes[3] == 1 else []
    axes += [axis for axis, n in zip(("seeds", "orders"), sizes[1:3], strict=True) if n > 1]
    how = "mean of scored attempts, prediction interval of one new run"
    lost = int((~scored).sum())
    return Estimate(value, low, high, level, how, tuple(axes), *sizes, len(values), lost, label)


def _means(y: Floats, axis: tuple[int, ...]) -> Floats:
    """Means over `axis` of what is scored; NaN where nothing is."""
    with np.errstate(invalid="ignore"):
        means: Floats = np.nansum(y, axis=axis) / (~np.isnan(y)).sum(axis=axis)
    return means


def _run_spread(runs: Floats, seeds: int, orders: int) -> tuple[float, float]:
    """Variance of (new run - our mean) and its degrees of freedom, from the table of run means (seeds, orders)."""
    s, o = np.nonzero(~np.isnan(runs))
    m = runs[s, o]
    half_square = (m[:, None] - m[None, :]) ** 2 / 2
    pair = ~np.eye(len(m), dtype=np.bool_)
    same_s, same_o = s[:, None] == s[None, :], o[:, None] == o[None, :]

    def mean(where: Bools) -> float:
        return float(half_square[where].mean()) if where.any() else math.nan

    apart, by_seed, by_order = mean(pair & ~same_s & ~same_o), mean(pair & same_s), mean(pair & same_o)
    if math.isnan(apart) or math.isnan(by_seed) or math.isnan(by_order):
        total = mean(pair)
        return total * (1 + 1 / len(m)), len(m) - 1.0
    seed, order = max(0.0, apart - by_seed), max(0.0, apart - by_order)
    rest = max(0.0, apart - seed - order)
    spread = (seed + order + rest) + seed / seeds + order / orders + rest / len(m)
    parts = [(seed + rest / orders, seeds - 1), (order + rest / seeds, orders - 1)]
    parts.append((rest * max(0.0, 1 - 1 / orders - 1 / seeds), (seeds - 1) * (orders - 1)))
    weight = sum(part**2 / df for part, df in parts)
    return spread, (sum(part for part, _ in parts) ** 2 / weight if weight > 0 else math.inf)


def _quantile(level: float, df: float) -> float:
    """Two-sided quantile of Student's t (normal for infinite `df`)."""
    from scipy.special import ndtri, stdtrit  # scipy costs half a second: only who predicts pays it

    p = 0.5 + level / 2
    return float(ndtri(p) if math.isinf(df) else stdtrit(max(df, 1.0), p))
