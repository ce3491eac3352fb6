"""A planned cell, what became of it, and telling the user about all that did not finish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hydra.core.utils import JobReturn, JobStatus

from ace_bench.experiment import stopping

EXIT_LIMIT = 3  # a cap of `limits` was reached; a higher one goes on

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
        """0 all finished, 130 stopped by the user, 3 stopped by a limit, 1 a cell failed or there is no report."""
        statuses = {r.status for r in self.results}
        if "stopped" in statuses and stopping.stopped():
            return stopping.EXIT_STOPPED
        return 1 if "failed" in statuses or not self.reported else EXIT_LIMIT if "stopped" in statuses else 0


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


def _log(folder: str) -> Path:
    """The cell's log, or its folder when it wrote none."""
    log = Path(folder) / "log.txt"
    return log if log.is_file() else Path(folder)


def tell(results: Sequence[CellResult]) -> None:
    """Print every failure and every stop: the cell, the sentence, where its log is."""
    bad = [r for r in results if r.status != "finished"]
    if not bad:
        return
    count = {s: sum(r.status == s for r in results) for s in ("finished", "failed", "stopped")}
    counts = ", ".join(f"{n} {s}" for s, n in count.items())
    print(f"{len(results)} cells: {counts}.")
    for r in bad:
        print(f"  {r.cell} {r.status}: {r.sentence}\n    log: {_log(r.folder)}")
