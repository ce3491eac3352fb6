"""Plans, and what really happens when they run: shared by the tests of `ace-bench plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ace_bench.experiment import shared
from ace_bench.experiment.cell import run_cell
from ace_bench.experiment.planning.estimate import ExperimentPlan, estimate
from ace_bench.experiment.sweeper import plan
from ace_bench.store.tables import read_table

PRICED = ["model.price=deepseek/deepseek-v3.1"]


def planned(folder: Path, *overrides: str) -> ExperimentPlan:
    """The plan of a command."""
    return estimate(plan([*overrides, f"results={folder}", f"cache.path={folder}/responses.db"]))


def ran(folder: Path, *overrides: str) -> list[dict[str, Any]]:
    """The needed calls of the same command, run cell after cell."""
    cells = plan([*overrides, f"results={folder}", f"cache.path={folder}/responses.db"])
    for cell in cells:
        result = run_cell(cell.config)
        assert result.status == "finished", result.sentence
    shared.close()
    rows = read_table([cell.folder for cell in cells], "calls").to_pylist()
    return [row for row in rows if row["needed"]]
