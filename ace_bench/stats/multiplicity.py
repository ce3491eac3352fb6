"""Adjusted p values. A NaN p is not a member of the family: it is dropped and reported (statistics.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Adjusted(NamedTuple):
    """`p`: adjusted, in the order given, NaN where dropped; `family`: its size; `dropped`: places of the NaN."""

    p: list[float]
    family: int
    dropped: list[int]


def _sorted(p: Sequence[float]) -> tuple[np.ndarray, np.ndarray, list[int]]:
    values = np.asarray(p, dtype=np.float64)
    if np.any((values < 0) | (values > 1)):
        raise ValueError("p values must lie between 0 and 1")
    kept = np.flatnonzero(~np.isnan(values))
    order = kept[np.argsort(values[kept], kind="stable")]
    return values, order, [int(i) for i in np.flatnonzero(np.isnan(values))]


def _put(values: np.ndarray, order: np.ndarray, adjusted: np.ndarray, dropped: list[int]) -> Adjusted:
    out = np.full(len(values), np.nan)
    out[order] = np.minimum(adjusted, 1.0)
    return Adjusted([float(x) for x in out], len(order), dropped)


def holm(p: Sequence[float]) -> Adjusted:
    """Holm's step-down p values: controls the chance of any false positive in the family (confirmatory)."""
    values, order, dropped = _sorted(p)
    n = len(order)
    return _put(values, order, np.maximum.accumulate(values[order] * (n - np.arange(n))), dropped)


def benjamini_hochberg(p: Sequence[float]) -> Adjusted:
    """Benjamini-Hochberg p values: controls the share of false positives among findings (exploratory sweeps)."""
    values, order, dropped = _sorted(p)
    n = len(order)
    raw = values[order] * n / np.arange(1, n + 1)
    return _put(values, order, np.minimum.accumulate(raw[::-1])[::-1], dropped)
