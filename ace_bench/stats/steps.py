"""The `steps` rows as numpy columns, with an index of the rows of each cell and phase."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ace_bench.store.schema import PHASES

# What `Steps` needs of the table; the rest of a step row is never loaded here.
COLUMNS = (
    "cell", "phase", "epoch", "round", "position", "sample", "group", "first", "outcome", "score",
    "context_tokens", "bullets",
)  # fmt: skip
_TEXT = ("cell", "phase", "sample", "group", "outcome")

Ints = NDArray[np.int64]


class Steps:
    """Columns of the `steps` table (an Arrow table with at least `COLUMNS`).

    Text columns are held as codes into `names[column]` (sorted); `score` and `bullets` carry NaN for an unknown.
    """

    def __init__(self, table: Any) -> None:
        self.names: dict[str, list[str]] = {}
        self.values: dict[str, NDArray[Any]] = {}
        for column in COLUMNS:
            array = table.column(column).combine_chunks()
            if column in _TEXT:
                self.names[column], self.values[column] = _codes(array)
            else:
                self.values[column] = _numbers(column, array)
        self._index = self._find_rows()

    def _find_rows(self) -> dict[tuple[str, str], Ints]:
        v = self.values
        rank = np.array([PHASES.index(name) for name in self.names["phase"]], dtype=np.int64)
        phase = rank[v["phase"]] if len(rank) else v["phase"]
        order = np.lexsort((v["position"], v["round"], v["epoch"], phase, v["cell"]))
        key = v["cell"][order] * len(PHASES) + phase[order]
        starts = np.flatnonzero(np.diff(key, prepend=-1))
        found = {}
        for rows in np.split(order, starts[1:]) if len(order) else []:
            cell = self.names["cell"][v["cell"][rows[0]]]
            found[cell, self.names["phase"][v["phase"][rows[0]]]] = rows
        return found

    def rows(self, cell: str, phase: str) -> Ints:
        """Row numbers of one cell and phase in the order they happened; empty when there are none."""
        return self._index.get((cell, phase), np.empty(0, dtype=np.int64))

    def column(self, name: str, rows: Ints) -> NDArray[Any]:
        """Values (codes for text columns) of column `name` at `rows`."""
        return self.values[name][rows]

    def outcomes(self, rows: Ints) -> dict[str, int]:
        """How often each outcome class occurs in `rows`; only classes that occur."""
        tally = np.bincount(self.values["outcome"][rows], minlength=len(self.names["outcome"]))
        return {name: int(n) for name, n in zip(self.names["outcome"], tally, strict=True) if n}


def _codes(array: Any) -> tuple[list[str], NDArray[Any]]:
    """Sorted distinct texts, and the place of each row's text among them."""
    coded = array.dictionary_encode()
    found = coded.dictionary.to_pylist()
    names = sorted(found)
    where = {name: place for place, name in enumerate(names)}
    place = np.array([where[name] for name in found], dtype=np.int64)
    raw = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return names, place[raw] if len(place) else raw


def _numbers(column: str, array: Any) -> NDArray[Any]:
    values: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    if column == "first":
        return values.astype(np.bool_)
    return values.astype(np.float64 if column in ("score", "bullets", "context_tokens") else np.int64)
