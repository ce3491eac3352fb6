"""What a report reads of an experiment: its `cells` rows, its `steps` columns, the names of cells without tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ace_bench.stats.design import Comparison, comparisons
from ace_bench.stats.steps import COLUMNS, Steps
from ace_bench.store.cells import cell_folders
from ace_bench.store.errors import StoreError
from ace_bench.store.tables import read_table, table_path


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of an experiment.

    `cells`: rows of the cells table, by cell id. `folders`: cell id -> folder, of all cells. `unfinished`:
    names of cell folders that have no tables yet. `found`: the comparisons the finished cells make.
    """

    name: str
    cells: tuple[Mapping[str, Any], ...]
    folders: Mapping[str, Path]
    unfinished: tuple[str, ...]
    steps: Steps
    found: tuple[Comparison, ...]

    def cell(self, cell: str) -> Mapping[str, Any]:
        """The cells row of `cell`."""
        return next(row for row in self.cells if row["cell"] == cell)

    @property
    def failed(self) -> tuple[Mapping[str, Any], ...]:
        """Rows of cells that have tables but did not finish."""
        return tuple(row for row in self.cells if row["status"] != "finished")

    @property
    def simulated(self) -> bool:
        """Whether any cell ran without a language model: the whole report is watermarked then."""
        return any(row["simulated"] for row in self.cells)


def load(experiment_dir: str | Path) -> Rows:
    """Read the experiment in `experiment_dir`. StoreError when it holds no cell folder, or a table cannot be read."""
    root = Path(experiment_dir)
    folders = cell_folders(root)
    if not folders:
        raise StoreError(f"{root} holds no cell folder; run the experiment first, or check the path.")
    having = [folder for folder in folders if table_path(folder, "cells").is_file()]
    cells, where = [], {}
    for folder in having:
        for row in read_table([folder], "cells").to_pylist():
            cells.append(row)
            where[str(row["cell"])] = folder
    done = [where[str(row["cell"])] for row in cells if row["status"] == "finished"]
    steps = Steps(read_table(done, "steps", COLUMNS))
    cells.sort(key=lambda row: str(row["cell"]))
    unfinished = tuple(folder.name for folder in folders if folder not in having)
    where |= {folder.name: folder for folder in folders if folder not in having}
    return Rows(root.resolve().name, tuple(cells), where, unfinished, steps, tuple(comparisons(cells, steps)))
