"""`hydra/launcher=threads`: the cells of a plan as threads of one process.

The main thread composes; the threads get plain dicts and never touch Hydra. `hydra.job.env_set` and Hydra's
`on_job_*` callbacks are not honoured here.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, cast

from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf

from ace_bench.experiment import stopping
from ace_bench.experiment.plugins import PlanError

_TICK_S = 0.2  # short waits: Python delivers signals to the main thread between them


def run_task(config: Any) -> Any:
    """What every launcher calls for a cell: `ace_bench.experiment.cell.run_cell` on the resolved, plain config.

    None when a stop came before the cell began. In a module of its own right, so that processes can import it.
    """
    if stopping.stopped():
        return None
    from ace_bench.experiment.cell import run_cell

    if isinstance(config, DictConfig):  # Hydra's own launchers hand out a DictConfig
        config = OmegaConf.to_container(config, resolve=True)
    return run_cell(config)


class ThreadsLauncher(Launcher):
    """Runs cells in `workers` threads. `prepared` holds cells already composed by the sweeper, by job."""

    def __init__(self, workers: int = 16) -> None:
        self.workers = workers
        self.prepared: dict[tuple[str, ...], dict[str, Any]] = {}

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Called by Hydra. Raises `PlanError` when `workers` is no positive integer."""
        if isinstance(self.workers, bool) or not isinstance(self.workers, int) or self.workers < 1:
            raise PlanError(f"hydra.launcher.workers = {self.workers!r} must be an integer of at least 1.")
        self.loader, self.task_function, self.config = hydra_context.config_loader, task_function, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run all jobs; each gets its own status. A failure of one never ends the others."""
        jobs = [JobReturn(overrides=list(o), cfg=cast(Any, self._cell(o))) for o in job_overrides]
        with ThreadPoolExecutor(min(self.workers, len(jobs) or 1), thread_name_prefix="cell") as pool:
            futures: set[Future[None]] = {pool.submit(self._run, job) for job in jobs}
            while wait(futures, timeout=_TICK_S).not_done:
                pass
        return jobs

    def _cell(self, job: Sequence[str]) -> dict[str, Any]:
        if tuple(job) in self.prepared:
            return self.prepared[tuple(job)]
        from ace_bench.experiment.compose import CellComposer

        return CellComposer(cast(Any, self.loader), self.config).cell(job)

    def _run(self, job: JobReturn) -> None:
        try:
            # A stop before the cell began leaves no value: nothing of it ran.
            job.return_value = None if stopping.stopped() else self.task_function(cast(Any, job.cfg))
            job.status = JobStatus.COMPLETED
        except BaseException as e:  # BudgetExceeded and ProviderFailure are no Exceptions
            job.return_value, job.status = e, JobStatus.FAILED
