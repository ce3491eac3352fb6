"""BIRD's overall figure: the scores of the difficulties, weighted by how many items each has."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

DIFFICULTIES = ("simple", "moderate", "challenging")
UNRATED = "unrated"


def difficulty_of(sample: str) -> str:
    """The difficulty in a sample id (`moderate-12-3fa9c1`)."""
    return sample.partition("-")[0]


def by_difficulty(rows: Iterable[Mapping[str, Any]], column: str = "score") -> dict[str, dict[str, float | int | None]]:
    """Difficulty, and `overall` -> n (items), scored (with a score) and mean (over these; None without any).

    `rows` are rows of table `steps` with phase score; `column` is `score` or a name in its `scores` (`execution`,
    `multiset`, `judge`). Overall = sum of n x mean over the difficulties / sum of n: an item without a score counts as
    its difficulty's mean, and is visible as n - scored. A difficulty without any score makes the overall mean unknown.
    """
    values: dict[str, list[float | None]] = defaultdict(list)
    for row in rows:
        named = {"score": row["score"], **json.loads(row["scores"])}
        values[difficulty_of(row["sample"])].append(None if row["score"] is None else named.get(column))
    order = [d for d in (*DIFFICULTIES, UNRATED) if d in values]
    out = {d: _mean(values[d]) for d in order}
    means = [(out[d]["n"] or 0, out[d]["mean"]) for d in order]
    total, scored = sum(n for n, _ in means), sum(out[d]["scored"] or 0 for d in order)
    known = total and all(mean is not None for _, mean in means)
    overall = sum(n * (mean or 0.0) for n, mean in means) / total if known else None
    return {**out, "overall": {"n": total, "scored": scored, "mean": overall}}


def _mean(values: list[float | None]) -> dict[str, float | int | None]:
    scored = [value for value in values if value is not None]
    return {"n": len(values), "scored": len(scored), "mean": sum(scored) / len(scored) if scored else None}
