"""The summary: one row per arm, benchmark, protocol, feedback and model, with every n beside the score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ace_bench.report.rows import Rows, load
from ace_bench.report.tokens import Usage, usage
from ace_bench.stats.bootstrap import REPLICATES
from ace_bench.stats.design import Arm, Comparison
from ace_bench.stats.intervals import Estimate
from ace_bench.stats.splits import split_scores
from ace_bench.store.schema import OUTCOMES

if TYPE_CHECKING:
    import pandas as pd

UNPRICED = "unpriced"
UNKNOWN = "unknown"
_PARTS = ("score", "strict", "first", "repeat")
COLUMNS = (
    "benchmark", "protocol", "feedback", "model", "order_kind", "arm", "method", "select", "simulated",
    *(f"{part}{end}" for part in _PARTS for end in ("", "_low", "_high", "_label")),
    "cells", "seeds", "orders", "items", "attempts", "scored", "unscored", *(f"n_{name}" for name in OUTCOMES),
    "calls_per_run", "input_tokens_per_run", "output_tokens_per_run", "cost_per_run",
    "cost_uncached_per_run", "cached_share", "input_cost_saving",
    "billed_input_tokens_per_run", "billed_output_tokens_per_run", "billed_cost_per_run",
    "adapt_latency_s_per_run", "context_tokens_end", "bullets_end", "labels_per_run", "bits_per_run",
)  # fmt: skip


def summary(experiment_dir: str | Path, *, replicates: int = REPLICATES) -> pd.DataFrame:
    """The summary of an experiment, one row per arm, columns `COLUMNS` (docs/report.md says what each is).

    Scores are in [0, 1], NaN when nothing was scored. `*_per_run` are means over the finished cells of the arm. A cost
    that cannot be known is the text "unpriced", a token count "unknown": never 0.
    """
    return summary_of(load(experiment_dir), replicates=replicates)


def summary_of(rows: Rows, *, replicates: int = REPLICATES) -> pd.DataFrame:
    """`summary` of rows already loaded."""
    import pandas as pd

    out = [_row(rows, c, a, replicates) for c in rows.found for a in range(len(c.arms))]
    return pd.DataFrame(out, columns=list(COLUMNS))


def _row(rows: Rows, comparison: Comparison, a: int, replicates: int) -> dict[str, Any]:
    group, arm = comparison.group, comparison.arms[a]
    cells = [rows.cell(cell) for _, cell in sorted(arm.cells.items())]
    out: dict[str, Any] = {name: getattr(group, name) for name in group.__slots__}
    out |= {"arm": arm.label, "method": arm.method, "select": "/".join(sorted({str(c["select"]) for c in cells}))}
    out["simulated"] = any(c["simulated"] for c in cells)
    split = split_scores(comparison, a, replicates=replicates)
    for part in _PARTS:
        out |= _estimate(part, getattr(split, part))
    score = split.score
    out |= {"cells": score.n_cells, "seeds": score.n_seeds, "orders": score.n_orders, "items": score.n_items}
    out |= {"attempts": score.n_scored + score.n_errors, "scored": score.n_scored, "unscored": score.n_errors}
    out |= _outcomes(rows, arm)
    out |= _spent([usage(rows.folders[cell]) for _, cell in sorted(arm.cells.items())])
    out["adapt_latency_s_per_run"] = _mean([c["adapt_latency_s"] for c in cells])
    out |= _at_end(rows, arm)
    out |= {f"{name}_per_run": _mean([c[name] for c in cells]) for name in ("labels", "bits")}
    return out


def _estimate(part: str, e: Estimate) -> dict[str, Any]:
    return {part: e.value, f"{part}_low": e.low, f"{part}_high": e.high, f"{part}_label": e.label}


def _outcomes(rows: Rows, arm: Arm) -> dict[str, int]:
    tally = dict.fromkeys(OUTCOMES, 0)
    for cell in arm.cells.values():
        for name, n in rows.steps.outcomes(rows.steps.rows(cell, "score")).items():
            tally[name] += n
    return {f"n_{name}": n for name, n in tally.items()}


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(np.asarray(values, dtype=np.float64))) if len(values) else float("nan")


def _spent(used: Sequence[Usage]) -> dict[str, Any]:
    def mean(name: str, otherwise: str) -> float | str:
        values = [getattr(u, name) for u in used]
        return otherwise if any(v is None for v in values) else _mean(values)

    return {
        "calls_per_run": mean("calls", UNKNOWN),
        "input_tokens_per_run": mean("input", UNKNOWN),
        "output_tokens_per_run": mean("output", UNKNOWN),
        "cost_per_run": mean("cost", UNPRICED),
        "cost_uncached_per_run": mean("cost_uncached", UNPRICED),
        "cached_share": _cached(used),
        "input_cost_saving": _saving(used),
        "billed_input_tokens_per_run": mean("billed_input", UNKNOWN),
        "billed_output_tokens_per_run": mean("billed_output", UNKNOWN),
        "billed_cost_per_run": mean("billed_cost", UNPRICED),
    }


def _cached(used: Sequence[Usage]) -> float | str:
    """Share of the input tokens sent to a provider that its prompt cache served; pooled over the runs."""
    known = [(u.asked_cached, u.asked_input) for u in used if u.asked_cached is not None and u.asked_input is not None]
    tokens = sum(asked for _, asked in known)
    return UNKNOWN if len(known) < len(used) or not tokens else sum(cached for cached, _ in known) / tokens


def _saving(used: Sequence[Usage]) -> float | str:
    """1 - K/(pN), the share of *input* cost that prompt-prefix caching saved (review, Eq. 12); pooled over the runs.

    K is what the input cost, pN what it would cost at the full price. Output is in neither.
    """
    known = [(u.cost_uncached - u.cost, u.input_cost_uncached) for u in used
             if u.cost is not None and u.cost_uncached is not None and u.input_cost_uncached is not None]  # fmt: skip
    if len(known) < len(used):
        return UNPRICED
    full = math.fsum(whole for _, whole in known)
    return math.fsum(saved for saved, _ in known) / full if full else 0.0


def _at_end(rows: Rows, arm: Arm) -> dict[str, float]:
    """Context shown at the last scored attempt, mean over runs; bullets are NaN for a method that has none."""
    last = np.array([rows.steps.rows(cell, "score")[-1] for _, cell in sorted(arm.cells.items())])
    return {
        "context_tokens_end": _mean(rows.steps.column("context_tokens", last).tolist()),
        "bullets_end": _mean(rows.steps.column("bullets", last).tolist()),
    }
