"""After a launch: the report of the whole experiment from the rows on disk, and its summary on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ace_bench.experiment import shared
from ace_bench.experiment.cell import CellResult


def finish(experiment_dir: Path, results: Sequence[CellResult]) -> None:
    """Close what the cells shared; build and name the report when any cell finished."""
    shared.close()
    if not any(result.status == "finished" for result in results):
        print("No cell finished, so there is no report.")
        return
    from ace_bench.report import build_report, summary_text

    paths = build_report(experiment_dir)
    print(summary_text(experiment_dir))
    print(f"Report: {paths.html}")
