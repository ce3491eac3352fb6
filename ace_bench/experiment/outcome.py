"""A planned cell, what became of it, and telling the user about all that did not finish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hydra.core.utils import JobReturn, JobStatus

from ace_bench.experiment import stopping

if TYPE_CHECKING:
    from ace_bench.experiment.cell import CellResult
    from ace_bench.experiment.spec import CellSpec


@dataclass(frozen=True, slots=True)
class Planned:
    """A cell of a plan: its id, the overrides it comes from, its resolved config, and that config checked."""

    id: str
    job: tuple[str, ...]
    config: dict[str, Any]
    spec: CellSpec

    @property
    def folder(self) -> Path:
        """Where the cell's rows land."""
        return self.spec.experiment_dir / self.id


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a launch came to, one result a cell, in plan order."""

    results: list[CellResult]
    reported: bool = True  # whether the report after the launch could be written

    @property
    def exit_code(self) -> int:
        """0 all finished, 130 stopped, 1 a cell failed or the report could not be written."""
        statuses = {r.status for r in self.results}
        return stopping.EXIT_STOPPED if "stopped" in statuses else int("failed" in statuses or not self.reported)


def result_of(planned: Planned, job: JobReturn | None, status: str, why: str) -> CellResult:
    """The result of a cell; `status` and `why` are those of a cell without one (it never ran, or nobody knows)."""
    from ace_bench.experiment.cell import CellResult

    # Never job.return_value: of a failed job it raises, so that only the first failure is told (known fault B03).
    value = None if job is None else job._return_value
    if job is not None and job.status is JobStatus.COMPLETED and value is not None:
        return cast("CellResult", value)
    if isinstance(value, BaseException):
        status, why = "failed", f"{type(value).__name__}: {value}"
    return CellResult(planned.id, cast(Any, status), why, str(planned.folder))


def tell(results: Sequence[CellResult]) -> None:
    """Print every failure and every stop: the cell, the sentence, where its log is."""
    bad = [r for r in results if r.status != "finished"]
    if not bad:
        return
    count = {s: sum(r.status == s for r in results) for s in ("finished", "failed", "stopped")}
    counts = ", ".join(f"{n} {s}" for s, n in count.items())
    print(f"{len(results)} cells: {counts}.")
    for r in bad:
        print(f"  {r.cell} {r.status}: {r.sentence}\n    log: {r.folder}")
