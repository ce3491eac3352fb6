"""Intervals, contrasts and curves over rows on disk (design, section 6). A name loads its module on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_WHERE = {
    "Arm": "design",
    "Comparison": "design",
    "Group": "design",
    "comparisons": "design",
    "Steps": "steps",
    "crossed_bootstrap": "bootstrap",
    "generator": "bootstrap",
    "Estimate": "intervals",
    "estimate": "intervals",
    "estimates": "intervals",
    "wilson": "intervals",
    "prediction_interval": "prediction",
    "Contrast": "contrasts",
    "Contrasts": "contrasts",
    "against_baseline": "contrasts",
    "benjamini_hochberg": "multiplicity",
    "holm": "multiplicity",
    "Band": "curves",
    "band": "curves",
    "cumulative_accuracy": "curves",
    "windowed_accuracy": "curves",
    "context_tokens": "curves",
    "SplitScores": "splits",
    "split_scores": "splits",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
