"""The table of contrasts: every arm against the baseline of its comparison."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ace_bench.report.rows import load
from ace_bench.stats.bootstrap import REPLICATES
from ace_bench.stats.contrasts import Contrast, Contrasts, against_baseline

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "benchmark", "protocol", "feedback", "model", "order_kind", "arm", "baseline",
    "effect", "effect_low", "effect_high", "label", "p", "p_holm", "family",
    "strict_effect", "strict_low", "strict_high", "strict_label",
    "items", "seeds", "orders", "run_pairs", "scored_pairs", "dropped_pairs",
)  # fmt: skip


def contrasts_table(
    experiment_dir: str | Path, *, baseline: str | None = None, replicates: int = REPLICATES
) -> pd.DataFrame:
    """Differences in score (arm minus baseline, in [-1, 1]) with interval, raw and Holm-adjusted p and every n.

    `baseline`: an arm label or a method; default: method `base`. Comparisons without that arm have no rows.
    """
    return table_of(against_baseline(load(experiment_dir).found, baseline, replicates=replicates))


def table_of(contrasts: Contrasts) -> pd.DataFrame:
    """The same from contrasts already computed."""
    import pandas as pd

    return pd.DataFrame([_row(c) for c in contrasts.rows], columns=list(COLUMNS))


def _row(c: Contrast) -> dict[str, Any]:
    out: dict[str, Any] = {name: getattr(c.group, name) for name in c.group.__slots__}
    e, s = c.effect, c.strict
    out |= {"arm": c.arm, "baseline": c.baseline}
    out |= {"effect": e.value, "effect_low": e.low, "effect_high": e.high, "label": e.label}
    out |= {"p": c.p, "p_holm": c.p_adjusted, "family": c.family}
    out |= {"strict_effect": s.value, "strict_low": s.low, "strict_high": s.high, "strict_label": s.label}
    out |= {"items": e.n_items, "seeds": e.n_seeds, "orders": e.n_orders, "run_pairs": e.n_cells}
    return out | {"scored_pairs": e.n_scored, "dropped_pairs": c.dropped}
