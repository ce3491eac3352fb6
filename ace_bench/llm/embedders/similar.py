"""From vectors to pairs: the numpy half of semantic dedup (`playbook.semantic` holds the rule and knows no numpy)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

DECIMALS = 6
_BLOCK = 512  # rows at a time: a product of 512 x n at most is in memory


def similar_pairs(ids: Sequence[str], vectors: Any, floor: float) -> list[tuple[str, str, float]]:
    """(a, b, cosine) for every two ids whose unit vectors have a cosine of `floor` or more, a before b in `ids`.

    `vectors` is (n, d), the rows in the order of `ids`. Cosines are rounded to 6 decimals: equal texts get 1.0, and the
    noise of float32 decides nothing. Raises ValueError when the rows are not as many as the ids.
    """
    import numpy as np

    if len(ids) < 2:
        return []
    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2 or len(rows) != len(ids):
        raise ValueError(f"{len(ids)} ids need as many rows of vectors, not an array of shape {rows.shape}.")
    out: list[tuple[str, str, float]] = []
    for start in range(0, len(ids), _BLOCK):
        cosines = np.round(np.clip(rows[start : start + _BLOCK] @ rows.T, -1.0, 1.0), DECIMALS)
        for i, j in zip(*np.nonzero(cosines >= floor), strict=True):
            if start + i < j:
                out.append((ids[start + i], ids[j], float(cosines[i, j])))
    return out
