"""Small versions of the simulations of statistics.md: coverage and false positives, fixed seed, loose bounds."""

from __future__ import annotations

import numpy as np
import pytest

from ace_bench.stats.bootstrap import crossed_bootstrap, generator
from ace_bench.stats.prediction import prediction_interval


def _effects(rng: np.random.Generator, items: int, seeds: int, orders: int, run: float) -> np.ndarray:
    """Logits of one method: seed, order and run effects."""
    return (
        rng.normal(0, run, (1, seeds, 1)) + rng.normal(0, run, (1, 1, orders)) + rng.normal(0, run, (1, seeds, orders))
    )


def _scores(rng: np.random.Generator, item: np.ndarray, seeds: int, orders: int, run: float) -> np.ndarray:
    logit = item[:, None, None] + _effects(rng, len(item), seeds, orders, run)
    return (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(float)


def _truth(run: float) -> float:
    rng = generator("truth")
    logit = rng.normal(0.5, 1.2, 10**6) + rng.normal(0, run * np.sqrt(3), 10**6)
    return float((1 / (1 + np.exp(-logit))).mean())


def coverage(trials: int, items: int, seeds: int, orders: int) -> tuple[float, float]:
    """Coverage of the crossed bootstrap and of a bootstrap over items alone."""
    truth, hits, naive = _truth(0.15), 0, 0
    for t in range(trials):
        rng = generator("coverage", t)
        y = _scores(rng, rng.normal(0.5, 1.2, items), seeds, orders, 0.15)
        for flat, table in ((False, y[..., None]), (True, y.mean(axis=(1, 2))[:, None, None, None])):
            low, high = np.quantile(crossed_bootstrap(table, rng, 600), [0.025, 0.975])
            inside = low <= truth <= high
            naive, hits = naive + (flat and inside), hits + (not flat and inside)
    return hits / trials, naive / trials


def false_positives(trials: int, items: int, seeds: int, orders: int) -> tuple[float, float]:
    """Equal methods that share items, seeds and orders: paired crossed bootstrap, and z over all item-runs."""
    crossed = z_test = 0
    for t in range(trials):
        rng = generator("null", t)
        item = rng.normal(0.5, 1.2, items)
        a, b = (_scores(rng, item, seeds, orders, 0.15) for _ in range(2))
        d = a - b
        low, high = np.quantile(crossed_bootstrap(d[..., None], rng, 600), [0.025, 0.975])
        crossed += not low <= 0 <= high
        spread = np.sqrt((a.var() + b.var()) / a.size)
        z_test += abs(d.mean()) > 1.96 * spread
    return crossed / trials, z_test / trials


def test_coverage_small() -> None:
    crossed, items_only = coverage(120, 100, 5, 3)
    assert crossed >= 0.89
    assert crossed > items_only + 0.02


def test_false_positives_small() -> None:
    crossed, _ = false_positives(120, 100, 5, 3)
    assert crossed <= 0.07


@pytest.mark.slow
def test_coverage_and_false_positives_full() -> None:
    crossed, items_only = coverage(200, 200, 5, 3)
    assert crossed >= 0.92
    assert items_only <= 0.90
    assert false_positives(200, 200, 5, 3)[0] <= 0.07


def test_prediction_interval_covers_one_new_run() -> None:
    """Ours is 5 seeds x 5 orders; the new run has the same items, another seed and another order."""
    hits = {"prediction": 0, "mean": 0}
    for t in range(200):
        rng = generator("prediction", t)
        item = rng.normal(0.5, 1.2, 80)
        everything = _scores(rng, item, 6, 6, 0.5)
        ours, new = everything[:, :5, :5], everything[:, 5, 5].mean()
        e = prediction_interval(ours)
        hits["prediction"] += e.low <= new <= e.high
        half = 1.96 * ours.mean(axis=0).std() / 5
        hits["mean"] += abs(new - e.value) <= half
    assert hits["prediction"] >= 0.90 * 200
    assert hits["mean"] < 0.6 * 200  # the interval of our mean is the wrong yardstick
