"""`capsule verify`: unpack, run every cell again out of the packed responses, compare every row. No socket is opened."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ace_bench.experiment import shared
from ace_bench.experiment.capsule import files
from ace_bench.experiment.capsule.box import CapsuleError, safe, unpack
from ace_bench.experiment.capsule.compare import compare
from ace_bench.experiment.capsule.export import RESPONSES
from ace_bench.experiment.cell import run_cell
from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.spec import check
from ace_bench.llm.cache import ResponseStore

_BATCH = 1000  # responses put into the store at a time


@dataclass(frozen=True, slots=True)
class Verified:
    """How it went. `differences`: a sentence for each cell that is not identical, in the order of the cells."""

    cells: int
    rows: int
    made_by: str
    differences: tuple[str, ...]

    @property
    def identical(self) -> bool:
        """Whether every row of every cell is."""
        return not self.differences


def verify(
    path: Path, given: Mapping[str, Path] | None = None, told: Callable[[str], None] = lambda line: None
) -> Verified:
    """Run the capsule at `path` again in a temporary folder. `given`: config key -> a needed file that is not inside.

    `told` gets a line a cell. Raises CapsuleError when the capsule cannot be used: changed, damaged, a file missing.
    """
    with TemporaryDirectory(prefix="ace-bench-capsule-") as name:
        folder = Path(name).resolve()
        manifest = unpack(path, folder)
        _refuse_missing(path, manifest, given or {})
        _fill_store(path, folder)
        rows, differences = 0, []
        for cell in manifest["cells"]:
            count, difference = _cell(path, folder, str(cell), given or {})
            rows += count
            differences += [difference] if difference else []
            told(f"{cell}: {'differs' if difference else 'identical'}")
        shared.close()
        return Verified(len(manifest["cells"]), rows, str(manifest.get("made_by")), tuple(differences))


def _refuse_missing(path: Path, manifest: Mapping[str, Any], given: Mapping[str, Path]) -> None:
    for need in manifest["needs"]:
        key = str(need.get("key"))
        if key not in given:
            raise CapsuleError(
                f"{path} does not hold the file {need.get('name')!r} of {key} (it {need.get('why')}). Give it: "
                f"--file {key}=PATH (SHA-256 {need.get('digest')})."
            )
    if unused := sorted(set(given) - {str(need.get("key")) for need in manifest["needs"]}):
        raise CapsuleError(f"--file {unused[0]}=...: the capsule needs no file for {unused[0]}.")


def _fill_store(path: Path, folder: Path) -> None:
    """The packed responses as a response store."""
    rows: list[tuple[str, str, str]] = []
    try:
        with (
            (folder / RESPONSES).open(encoding="utf-8") as lines,
            closing(ResponseStore(folder / "responses.db")) as store,
        ):
            for line in lines:
                row = json.loads(line)
                rows.append((row["key"], row["body"], row["payer"]))
                if len(rows) == _BATCH:
                    store.put_all(rows)
                    rows = []
            store.put_all(rows)
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise CapsuleError(f"The responses in {path} cannot be read ({e!r}); the capsule was changed.") from None


def _cell(path: Path, folder: Path, cell: str, given: Mapping[str, Path]) -> tuple[int, str | None]:
    """Run one cell again. Rows compared, and the first difference."""
    at = folder / "cells" / cell
    try:
        config: files.Config = json.loads((at / "config.json").read_text(encoding="utf-8"))
        named = set(config["digests"])
        _place(config, folder, given)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as e:
        raise CapsuleError(
            f"The config of cell {cell} in {path} cannot be read ({e!r}); the capsule was changed."
        ) from None
    try:
        spec = check(config)
    except PlanError as e:
        return 0, f"Cell {cell} cannot be run here: {e}"
    if set(spec.digests) != named or spec.id() != cell:
        return 0, f"Cell {cell}: its config, or a file it names, is not the one of the run (this is cell {spec.id()})."
    result = run_cell(config)
    if result.status != "finished":
        return 0, f"Cell {cell} did not run to its end: {result.sentence}"
    return compare(cell, at, Path(result.folder))


def _place(config: files.Config, folder: Path, given: Mapping[str, Path]) -> None:
    """Have a portable config point into `folder`, and at the files given."""
    digests = config.pop("digests")
    config["results"] = str(folder / "rerun")
    config["cache"] = {"mode": "replay", "path": str(folder / "responses.db")}
    for key in digests:
        kind, at = files.split(files.at(config, key))
        if kind == "" and at.startswith("shipped:"):
            continue
        if not safe(at):
            raise ValueError(f"{key} points out of the capsule: {at}")
        files.put(config, key, str(given[key].resolve() if at.startswith(files.NEEDED) else folder / at))
