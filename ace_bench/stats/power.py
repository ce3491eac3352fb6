"""What difference between two arms a design can detect: our own contrast, simulated under stated assumptions.

Scores are right or wrong. On the logit scale an item has an effect that both arms share; each arm has effects of its own
for a seed, an order and a run (a method is path dependent). The test is the one of the report: the 95 percent interval of
the paired difference from the crossed bootstrap excludes 0 (`contrasts`). The SDs are assumptions, those of statistics.md:
the answer is as good as they are, so it is printed with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ace_bench.stats.bootstrap import Floats, crossed_bootstrap, generator

POWER, LEVEL = 0.8, 0.95
DATASETS, REPLICATES = 200, 400
_CELLS = 2_000_000  # scores simulated at a time: fewer data sets for a large design, for speed
_FEWEST, _MOST_ITEMS = 60, 2_000


@dataclass(frozen=True, slots=True)
class Assumed:
    """`rate`: accuracy of the weaker arm; the others: SDs on the logit scale."""

    rate: float = 0.5  # where a difference is hardest to see
    item: float = 1.2
    seed: float = 0.15
    order: float = 0.15
    run: float = 0.15

    def __str__(self) -> str:
        return (
            f"weaker arm right in {self.rate:.0%} of items, SDs on the logit scale: item {self.item:g} (shared by both "
            f"arms), seed {self.seed:g}, order {self.order:g}, run {self.run:g} (each arm its own)"
        )


ASSUMED = Assumed()


def detectable(items: int, seeds: int, orders: int, assumed: Assumed = ASSUMED) -> float | None:
    """The smallest difference in mean score (0 to 1) found with 80 percent power; None when none that is possible is.

    In `DATASETS` simulated experiments the interval's lower end lies a margin below the estimate, and scatters about its
    mean. The difference looked for is the one at which 80 percent of the lower ends are above 0: the mean margin, plus
    0.84 SDs of the lower end. Since the noise depends
    a little on d, it is done twice, the second time at the answer of the first. More than 2,000 items count as
    2,000, which errs on the safe side. The same design gives the same answer. ValueError for a design without a run.
    """
    if min(items, seeds, orders) < 1:
        raise ValueError(f"a design needs at least one item, seed and order, not {items} x {seeds} x {orders}")
    simulated = _Simulated((min(items, _MOST_ITEMS), seeds, orders), assumed)
    difference = min(0.1, (1 - assumed.rate) / 2)
    for _ in range(2):
        difference = simulated.needed(difference)
        if not difference < 1 - assumed.rate:
            return None
    return float(difference)


class _Simulated:
    """Experiments of one design. All draws are made once, so that two differences are compared on the same noise."""

    def __init__(self, design: tuple[int, int, int], assumed: Assumed) -> None:
        items, seeds, orders = design
        sets = max(_FEWEST, min(DATASETS, _CELLS // (items * seeds * orders)))
        rng = generator("power", design, assumed)
        self.design, self.assumed = design, assumed
        item = assumed.item * rng.standard_normal((items, 1, 1, sets))
        self.logits = [item + self._own(rng, seeds, orders, sets) for _ in range(2)]
        self.uniform = [rng.random((items, seeds, orders, sets), dtype=np.float32) for _ in range(2)]
        self.level = _shift_for(assumed.rate, self.logits[0])

    def _own(self, rng: np.random.Generator, seeds: int, orders: int, sets: int) -> Floats:
        """What an arm has to itself: seed, order and run effects."""
        a = self.assumed
        own: Floats = (
            a.seed * rng.standard_normal((1, seeds, 1, sets))
            + a.order * rng.standard_normal((1, 1, orders, sets))
            + a.run * rng.standard_normal((1, seeds, orders, sets))
        )
        return own

    def needed(self, difference: float) -> float:
        """The difference that would be found, given the noise at a true `difference`."""
        better = _shift_for(self.assumed.rate + difference, self.logits[1])
        weak, strong = (
            (u < _right(logit + shift)).astype(np.float64)
            for u, logit, shift in zip(self.uniform, self.logits, (self.level, better), strict=True)
        )
        table = strong - weak
        draws = crossed_bootstrap(table, generator("power", self.design, "draws"), REPLICATES)
        lower = np.quantile(draws, (1 - LEVEL) / 2, axis=0)
        margin = float((table.mean(axis=(0, 1, 2)) - lower).mean())
        return margin + NormalDist().inv_cdf(POWER) * float(lower.std(ddof=1))


def _right(logit: Floats) -> Floats:
    p: Floats = 1.0 / (1.0 + np.exp(-logit))
    return p


def _shift_for(rate: float, logits: Floats) -> float:
    """The shift of the logits at which the mean probability is `rate` (bisection on a thinned table)."""
    some = logits.ravel()[:: max(1, logits.size // 20_000)]
    low, high = -12.0, 12.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if float(_right(some + middle).mean()) < rate else (low, middle)
    return (low + high) / 2
