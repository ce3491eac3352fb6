"""Tables, figures and the HTML report, made from the rows on disk alone (design, principle 6). Names load on first use.

The tables have a module each: `report.summary.summary` and `report.contrasts_table.contrasts_table`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_WHERE = {"ReportPaths": "build", "build_report": "build", "summary_text": "plain"}

__all__ = ["ReportPaths", "build_report", "summary_text"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
