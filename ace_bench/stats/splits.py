"""The scores of an arm, whole and split into first-of-group and repeat (design, section 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ace_bench.stats.bootstrap import REPLICATES
from ace_bench.stats.design import Comparison
from ace_bench.stats.intervals import LEVEL, Estimate, estimates


@dataclass(frozen=True, slots=True)
class SplitScores:
    """`score`: over scored attempts; `strict`: unscored = 0; `first`, `repeat`: the first attempt of each group in its
    run, and the later ones. All four under the same draws. A frozen or offline test split is split the same way."""

    score: Estimate
    strict: Estimate
    first: Estimate
    repeat: Estimate


def split_scores(
    comparison: Comparison, arm: int, *, replicates: int = REPLICATES, level: float = LEVEL
) -> SplitScores:
    """The four estimates of one arm, on all the runs it has."""
    y, ran, first = comparison.y[..., arm], comparison.ran[..., arm], comparison.first[..., arm]
    nan = np.nan
    table = np.stack([y, comparison.strict[..., arm], np.where(first, y, nan), np.where(first, nan, y)], axis=-1)
    attempts = np.stack([ran, ran, ran & first, ran & ~first], axis=-1)
    found, _ = estimates(table, name=("score", comparison.group), ran=attempts, replicates=replicates, level=level)
    score, strict, first_, repeat = found
    strict = replace(strict, estimator=strict.estimator.replace("scored attempts", "all attempts, unscored = 0"))
    return SplitScores(score, strict, first_, repeat)
