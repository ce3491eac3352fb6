"""TGC and SGC of AppWorld from rows of the `steps` table: by split, by difficulty, and the named means of the paper.

The rows say all that is needed: `scores` holds, beside the score, `difficulty` (1 to 3) and `challenge` (0: test_normal or
an adaptation split, 1: test_challenge).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ace_bench.benchmarks.appworld.tasks import DIFFICULTIES
from ace_bench.benchmarks.completion import Completion, goal_completion

NORMAL, CHALLENGE = "test_normal", "test_challenge"


@dataclass(frozen=True, slots=True)
class Figures:
    """Completions by split and part ("all", "difficulty_1", ...), and the means of columns, None when one is unknown.

    `mean_two`: of TGC and SGC on test_normal. `mean_four`: of both on both test splits (paper, Table 1: average).
    """

    parts: Mapping[str, Mapping[str, Completion]]
    mean_two: float | None
    mean_four: float | None
    refused: int  # blocks that were not run, by our policy


def figures(rows: Iterable[Mapping[str, Any]]) -> Figures:
    """The figures of one cell, or of two that scored one split each: rows of phase score. Percent, one decimal."""
    told: list[dict[str, Any]] = [{**row, "named": json.loads(row["scores"])} for row in rows]
    normal, challenge = ([row for row in told if bool(row["named"]["challenge"]) is one] for one in (False, True))
    parts = {split: _parts(some) for split, some in ((NORMAL, normal), (CHALLENGE, challenge)) if some}
    two = _columns(parts.get(NORMAL))
    four = two + _columns(parts.get(CHALLENGE))
    return Figures(parts, _mean(two), _mean(four), int(sum(row["named"].get("refused", 0) for row in told)))


def _parts(rows: list[dict[str, Any]]) -> dict[str, Completion]:
    by = {f"difficulty_{d}": [r for r in rows if r["named"]["difficulty"] == d] for d in DIFFICULTIES}
    return {"all": goal_completion(rows), **{name: goal_completion(some) for name, some in by.items()}}


def _columns(part: Mapping[str, Completion] | None) -> list[float | None]:
    return [None, None] if part is None else [part["all"].tgc, part["all"].sgc]


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 1) if len(known) == len(values) else None
