"""The crossed bootstrap: items, seeds and orders are resampled independently (statistics.md, recommended default 2).

Every draw weights the score table by the product of three counts. All columns of one call share the draws, so that a
difference of two columns is a paired one. All sums are exact in float64 (see `_whole`), hence the same bytes on every
machine, whatever the BLAS and its threads.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

REPLICATES = 10_000


def generator(*names: object) -> np.random.Generator:
    """A random generator derived from names alone: adding a table never moves another table's bars."""
    text = "\x1f".join(["ace_bench.stats", *map(str, names)])
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))


def counts(rng: np.random.Generator, n: int, rows: int) -> Floats:
    """How often each of `n` units is drawn in `n` draws with replacement; shape (rows, n)."""
    drawn = rng.integers(0, n, size=(rows, n), dtype=np.int64) + n * np.arange(rows, dtype=np.int64)[:, None]
    return np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def _whole(values: Floats, total: int) -> tuple[Floats, float]:
    """`values` on a binary grid as whole numbers, and the grid's scale.

    Weights of a draw add up to `total`, so every sum stays below 2**52 and is exact: order of summation cannot matter.
    Scores that are 0 or 1 (or k/4) lie on the grid; others move by at most 2**-31 of their size.
    """
    top = float(np.max(np.abs(values), initial=0.0))
    bits = 52 - math.ceil(math.log2(total * max(top, 1.0) + 1.0))
    scale = 2.0 ** min(30, bits)
    return np.rint(values * scale), scale


def _by_cluster(table: Floats, clusters: Sequence[str]) -> Floats:
    """Sum the rows of each cluster: the clusters then stand in the place of the items."""
    names = sorted(set(clusters))
    place = {name: row for row, name in enumerate(names)}
    out = np.zeros((len(names), table.shape[1]))
    np.add.at(out, [place[name] for name in clusters], table)
    return out


def crossed_bootstrap(
    y: Floats,
    rng: np.random.Generator,
    replicates: int = REPLICATES,
    *,
    clusters: Sequence[str] | None = None,
    chunk: int = 500,
) -> Floats:
    """Resampled means of each column of `y`.

    `y` is (items, seeds, orders, columns) with NaN where there is no score; the result is (replicates, columns). A
    replicate that drew no score at all of a column is NaN there. `clusters` names the cluster of each item: whole
    clusters are drawn. ValueError for another shape, an empty axis, or no cluster name for some item.
    """
    if y.ndim != 4 or 0 in y.shape:
        raise ValueError(f"scores must be (items, seeds, orders, columns), none of them empty; got shape {y.shape}")
    items, seeds, orders, columns = y.shape
    if clusters is not None and len(clusters) != items:
        raise ValueError(f"{len(clusters)} cluster names for {items} items; give one a item")
    seen = ~np.isnan(y)
    # A cluster can weigh more than one item, so the bound counts its size.
    largest = 1 if clusters is None else max(list(clusters).count(name) for name in set(clusters))
    whole, scale = _whole(np.where(seen, y, 0.0), items * seeds * orders * largest)
    table = np.concatenate([whole, seen], axis=3, dtype=np.float64).reshape(items, -1)
    if clusters is not None:
        table = _by_cluster(table, clusters)
    out = []
    for start in range(0, replicates, chunk):
        rows = min(chunk, replicates - start)
        cells = (counts(rng, len(table), rows) @ table).reshape(rows, seeds * orders, 2 * columns)
        runs = counts(rng, seeds, rows)[:, :, None] * counts(rng, orders, rows)[:, None, :]
        sums = np.matmul(runs.reshape(rows, 1, -1), cells)[:, 0, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            out.append(sums[:, :columns] / sums[:, columns:] / scale)
    return np.concatenate(out)
