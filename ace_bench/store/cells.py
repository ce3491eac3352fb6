"""The cell folders of an experiment."""

from __future__ import annotations

from pathlib import Path

from ace_bench.store.errors import StoreError
from ace_bench.store.folder import INSTANCE, is_finished


def cell_folders(experiment_dir: str | Path, finished: bool | None = None) -> list[Path]:
    """The cell folders directly under `experiment_dir`, sorted by name.

    finished: True for finished cells only, False for unfinished ones only (running, stopped or killed), None for all.
    Raises StoreError when `experiment_dir` is not a folder.
    """
    root = Path(experiment_dir)
    if not root.is_dir():
        raise StoreError(f"There is no experiment folder {root}; run the experiment first, or check --results.")
    found = sorted(p.parent for p in root.glob(f"*/{INSTANCE}"))
    return [p for p in found if finished is None or is_finished(p) is finished]
