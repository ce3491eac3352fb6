"""Paired differences against a baseline: same items, seeds, orders and draws for both arms (statistics.md, 3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ace_bench.stats.bootstrap import REPLICATES, Floats
from ace_bench.stats.design import Comparison, Group
from ace_bench.stats.intervals import LEVEL, Estimate, estimates
from ace_bench.stats.multiplicity import Adjusted, holm

DEFAULT_BASELINE = "base"


@dataclass(frozen=True, slots=True)
class Contrast:
    """`arm` minus `baseline`. `effect`: over attempts both scored; `strict`: an attempt without a score counts 0.

    `p`: two-sided, from the bootstrap distribution of the difference; `p_adjusted`: over the `family` of that size.
    `dropped`: paired attempts left out of `effect` because one of the two has no score.
    """

    group: Group
    arm: str
    baseline: str
    effect: Estimate
    strict: Estimate
    p: float
    p_adjusted: float
    family: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Contrasts:
    """All contrasts of an experiment, and sentences on what could not be compared."""

    rows: tuple[Contrast, ...]
    notes: tuple[str, ...]


def find_baseline(comparison: Comparison, baseline: str | None) -> int | str:
    """The number of the baseline arm, or the sentence saying why there is none.

    `baseline` is an arm label or a method with one arm; None means method `base`.
    """
    wanted = baseline or DEFAULT_BASELINE
    labels = [arm.label for arm in comparison.arms]
    if wanted in labels:
        return labels.index(wanted)
    found = [a for a, arm in enumerate(comparison.arms) if arm.method == wanted]
    if len(found) == 1:
        return found[0]
    names = "; ".join(labels)
    if found:
        return f"{comparison.group}: several arms are of method {wanted}; name one as the baseline: {names}"
    return f"{comparison.group}: no arm {wanted!r} to compare with; name a baseline (--baseline), one of: {names}"


def contrast(
    comparison: Comparison, arm: int, baseline: int, *, replicates: int = REPLICATES, level: float = LEVEL
) -> Contrast:
    """The paired difference of two arms, on the items, seeds and orders both have; `p_adjusted` is still `p`."""
    where = np.ix_(*comparison.common((arm, baseline)))
    y, strict = comparison.y[where], comparison.strict[where]
    both = (comparison.ran[..., arm] & comparison.ran[..., baseline])[where]
    table = np.stack([v[..., arm] - v[..., baseline] for v in (y, strict)], axis=-1)
    name = ("contrast", comparison.group)
    ran = np.stack([both, both], axis=-1)
    (effect, all_in), draws = estimates(
        table, name=name, ran=ran, replicates=replicates, level=level, support=(-1.0, 1.0)
    )
    effect = replace(effect, estimator="paired difference: " + effect.estimator)
    all_in = replace(all_in, estimator="paired difference, unscored = 0: " + all_in.estimator)
    p = _p_value(effect, draws[:, 0])
    labels = comparison.arms[arm].label, comparison.arms[baseline].label
    return Contrast(comparison.group, *labels, effect, all_in, p, p, 1, effect.n_errors)


def _p_value(effect: Estimate, draws: Floats) -> float:
    """Two-sided p by inverting the percentile interval; never 0. NaN without scores.

    Constant differences leave nothing to resample: then the exact sign test over items.
    """
    if effect.label == "no scores":
        return math.nan
    if effect.label == "degenerate":
        return 1.0 if effect.value == 0 else min(1.0, 2.0 * 0.5**effect.n_items)
    draws = draws[~np.isnan(draws)]
    tail = min(int((draws <= 0).sum()), int((draws >= 0).sum()))
    return min(1.0, 2 * (tail + 1) / (len(draws) + 1))


def against_baseline(
    found: Sequence[Comparison],
    baseline: str | None = None,
    *,
    replicates: int = REPLICATES,
    level: float = LEVEL,
    adjust: Callable[[Sequence[float]], Adjusted] = holm,
) -> Contrasts:
    """Every arm against the baseline of its comparison; one family over the whole experiment.

    Without `baseline` the arm of method `base` is taken; where there is none, a note says so. `adjust` is `holm`
    (confirmatory) or `benjamini_hochberg` (exploratory sweeps). Contrasts without a p leave the family and are noted.
    """
    rows: list[Contrast] = []
    notes: list[str] = []
    for comparison in found:
        base = find_baseline(comparison, baseline)
        if isinstance(base, str):
            notes.append(base)
            continue
        arms = (a for a in range(len(comparison.arms)) if a != base)
        rows += [contrast(comparison, a, base, replicates=replicates, level=level) for a in arms]
    adjusted = adjust([row.p for row in rows])
    rows = [replace(r, p_adjusted=p, family=adjusted.family) for r, p in zip(rows, adjusted.p, strict=True)]
    notes += [f"{rows[i].group}: {rows[i].arm} and {rows[i].baseline} share no scored attempt; not in the family"
              for i in adjusted.dropped]  # fmt: skip
    return Contrasts(tuple(rows), tuple(notes))
