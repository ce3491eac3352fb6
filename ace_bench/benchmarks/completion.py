"""Task and scenario goal completion, from rows of the `steps` table (AppWorld's TGC and SGC).

A scenario counts only when all its tasks succeeded. A task without a score counts as failed and is told apart in `errors`;
a task that was never run counts as failed when its scenario was met, so a part of a split cannot look better than it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Completion:
    """`tgc` and `sgc` in percent with one decimal, None when there is no row; and what they are made of."""

    tgc: float | None
    sgc: float | None
    tasks: int
    scenarios: int
    errors: int  # tasks without a score
    missing: int  # tasks of a met scenario without a row


def goal_completion(rows: Iterable[Mapping[str, Any]], size: int = 3) -> Completion:
    """TGC and SGC over `rows` with columns sample, group (the scenario) and score; scenarios have `size` tasks.

    Success is a score of 1: partial credit enters neither. Fractions are rounded to 4 digits and percentages to 1, as the
    engine of AppWorld does. Two rows of one sample are a ValueError: pass one phase, epoch and cell at a time.
    """
    scenarios: dict[str, dict[str, float | None]] = defaultdict(dict)
    for row in rows:
        tasks = scenarios[row["group"]]
        if row["sample"] in tasks:
            raise ValueError(
                f"sample {row['sample']} has two rows; give the rows of one phase, epoch and cell at a time"
            )
        tasks[row["sample"]] = row["score"]
    scores = [score for tasks in scenarios.values() for score in tasks.values()]
    missing = sum(max(0, size - len(tasks)) for tasks in scenarios.values())
    whole = sum(len(tasks) >= size and all(score == 1 for score in tasks.values()) for tasks in scenarios.values())
    return Completion(
        _percent(sum(score == 1 for score in scores), len(scores) + missing), _percent(whole, len(scenarios)),
        len(scores) + missing, len(scenarios), sum(score is None for score in scores), missing,
    )  # fmt: skip


def _percent(part: int, whole: int) -> float | None:
    return round(100 * round(part / whole, 4), 1) if whole else None
