"""`hydra/sweeper=plan`: from overrides and a preset to a plan of distinct, checked cells; then the launch.

A preset's `points` are crossed with its `params`; a key on the command line replaces both. All cells are checked
before the first one runs. Exit codes: 0 all finished, 1 a cell failed, 130 stopped (a refused plan is 2, by the CLI).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.errors import HydraException
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from ace_bench.experiment import progress, stopping
from ace_bench.experiment.launcher import ThreadsLauncher, run_task
from ace_bench.experiment.outcome import Outcome, Planned, result_of, tell
from ace_bench.experiment.plugins import PlanError

if TYPE_CHECKING:
    from ace_bench.experiment.cell import CellResult

# Of the whole experiment, not of a cell: they are no part of the identity, so sweeping them would merge cells silently.
SHARED = ("name", "results", "limits", "cache")
BASIC = "hydra._internal.core_plugins.basic_launcher.BasicLauncher"
TOLD = 20  # that many refused jobs are told, the rest counted


class PlanSweeper(Sweeper):
    """See the module. `params`: key -> values as on the command line (`"0,1,2"`); `points`: a list of such mappings."""

    def __init__(self, params: Any = None, points: Any = None) -> None:
        self.params, self.points = params, points
        self.config: DictConfig  # set by `setup`, as are loader and launcher
        self.launcher: Launcher
        self._same_sweep: set[int] = set()

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Called by Hydra; makes the launcher."""
        self.loader, self.config = hydra_context.config_loader, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def jobs(self, arguments: Sequence[str]) -> list[tuple[str, ...]]:
        """The override lists of the plan, before composition. Raises `PlanError` for a sweep over presets."""
        from ace_bench.experiment.compose import BasicSweeper

        parser, out = OverridesParser.create(config_loader=self.loader), []
        params = _mapping(self.params, "hydra.sweeper.params")
        for point in _points(self.points):
            own = [f"{k}={_grammar(v, k)}" for k, v in {**params, **point}.items()]
            overrides = parser.parse_overrides([*own, *arguments])
            if any(o.key_or_group == "experiment" and o.is_sweep_override() for o in overrides):
                raise PlanError(
                    "A preset names a folder and its tables, so presets are not swept: run them one at a time "
                    "(experiment=NAME)."
                )
            out += [tuple(job) for job in BasicSweeper.split_arguments(overrides, None)[0]]
        return out

    def plan(self, arguments: Sequence[str]) -> list[Planned]:
        """The distinct cells, checked. Raises `PlanError` with everything wrong in the plan."""
        from ace_bench.experiment.compose import CellComposer
        from ace_bench.experiment.spec import check

        self._same_sweep.clear()
        composer = CellComposer(cast(Any, self.loader), self.config)
        cells: dict[str, Planned] = {}
        wrong: dict[str, list[str]] = {}  # sentence -> jobs
        for job in self.jobs(arguments):
            try:
                self._refuse_dropped(composer.base(job))
                config = composer.cell(job)
                spec = check(config)
                cells.setdefault(_shared_key(cell := spec.id(), config), Planned(cell, job, config, spec))
            except (PlanError, HydraException, OmegaConfBaseException) as e:
                wrong.setdefault(_sentence(e), []).append(" ".join(job))
        if wrong:
            raise PlanError(_refusal(wrong))
        self._refuse_plan(list(cells.values()))
        _refuse_data(list(cells.values()))
        return list(cells.values())

    def sweep(self, arguments: list[str]) -> Outcome:
        """Plan, launch, tell the failures, write the summary."""
        plan = self.plan(arguments)
        _make_folder(plan[0].spec.experiment_dir)
        if isinstance(self.launcher, ThreadsLauncher):
            self.launcher.prepared = {p.job: p.config for p in plan}  # no second composition
        with progress.showing() as shown:
            shown.plan(len(plan))
            results = list(self._launch(plan))
            for r in results:  # those no thread of this process told (joblib, never started)
                shown.cell_finished(r.cell, r.status, r.sentence)
        tell(results)
        return Outcome(results, _finish(plan[0].spec.experiment_dir, results))

    def _launch(self, plan: Sequence[Planned]) -> Iterator[CellResult]:
        returned: Sequence[JobReturn] = []
        status, why = "stopped", "Not started; the same command runs it."
        guard: AbstractContextManager[None] = stopping.signals() if self._in_process() else nullcontext()
        try:
            with guard:
                returned = self.launcher.launch([p.job for p in plan], initial_job_idx=0)
        except KeyboardInterrupt:
            why = "The launch was stopped; the same command resumes it."
        except Exception as e:  # a launcher that broke: a worker process that died, a config that does not pickle
            status = "failed"
            why = f"The launcher broke ({type(e).__name__}: {e}); finished cells are kept, run it again for the rest."
        for planned, job in zip(plan, [*returned, *[None] * (len(plan) - len(returned))], strict=True):
            yield result_of(planned, job, status, why)

    def _in_process(self) -> bool:
        # By name: Hydra's plug-in scan executes its modules anew, so its classes are not those one imports.
        own = type(self.launcher)
        return isinstance(self.launcher, ThreadsLauncher) or f"{own.__module__}.{own.__qualname__}" == BASIC

    def _refuse_dropped(self, base: DictConfig) -> None:
        """A group choice of this job brings a sweep of its own, which would be dropped silently (known fault B02)."""
        if id(base) not in self._same_sweep and base.hydra.sweeper != self.config.hydra.sweeper:
            raise PlanError("A swept choice has a sweep of its own (hydra.sweeper), which would be lost: run it alone.")
        self._same_sweep.add(id(base))  # the composer keeps its bases, so an id stays that base's

    def _refuse_plan(self, plan: Sequence[Planned]) -> None:
        if not plan:
            raise PlanError("The plan has no cells: one of the sweeps has no values (a glob that matches nothing?).")
        for key in SHARED:
            if any(p.config[key] != plan[0].config[key] for p in plan):
                raise PlanError(f"{key} is of the whole experiment and cannot differ between its cells: launch twice.")
        from ace_bench.experiment.planning.caps import refuse_unkept

        refuse_unkept([p.spec for p in plan])
        caps = plan[0].spec.limits.capped()
        one = self._in_process() or dict(getattr(self.launcher, "joblib", {})).get("n_jobs") == 1
        if caps and not one:
            raise PlanError(
                f"limits.{caps[0]} cannot be kept by several processes (limits are not shared between them yet): use "
                "hydra/launcher=threads, or hydra.launcher.n_jobs=1, or leave the limit out."
            )


def _refuse_data(plan: Sequence[Planned]) -> None:
    """Bad data is told before the first call, each kind of it once: seeds and orders change nothing of what is read."""
    from ace_bench.experiment.build import check_data

    read: dict[str, Planned] = {}
    for p in plan:
        known = p.spec.canonical()
        key = {section: known[section] for section in ("benchmark", "protocol", "feedback", "select", "prompts")}
        read.setdefault(json.dumps(key, sort_keys=True), p)
    wrong: dict[str, list[str]] = {}
    for p in read.values():
        try:
            check_data(p.spec)
        except PlanError as e:
            wrong.setdefault(str(e), []).append(" ".join(p.job))
    if wrong:
        raise PlanError(_refusal(wrong))


def _make_folder(folder: Path) -> None:
    """The experiment's folder, made and tried before anything runs. Raises `PlanError` when nothing can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as e:
        raise PlanError(
            f"Nothing can be written to {folder} ({e.strerror}); give another folder with results=PATH."
        ) from e


def make_sweeper(hydra: Any, overrides: Sequence[str], task: TaskFunction = run_task) -> tuple[PlanSweeper, list[str]]:
    """The sweeper for these overrides, and the arguments of its `plan` and `sweep`."""
    from ace_bench.experiment.compose import context_of

    try:
        master, context = context_of(hydra, overrides)
        sweeper = Plugins.instance().instantiate_sweeper(hydra_context=context, task_function=task, config=master)
    except (RuntimeError, ImportError) as e:
        raise PlanError(f"A Hydra plug-in is missing; install this package (pip install -e .). Hydra said: {e}") from e
    if not isinstance(sweeper, PlanSweeper):
        raise PlanError("hydra/sweeper must stay `plan`: other sweepers neither check cells nor tell failures.")
    return sweeper, [str(o) for o in master.hydra.overrides.task]


def plan(overrides: Sequence[str], config_dir: Path | None = None) -> list[Planned]:
    """The plan for a command line; nothing runs. Raises `PlanError`, `HydraException` or `OmegaConfBaseException`."""
    from ace_bench.experiment.compose import session

    with session(config_dir) as hydra:
        sweeper, arguments = make_sweeper(hydra, overrides)
        return sweeper.plan(arguments)


def launch(overrides: Sequence[str], config_dir: Path | None = None, task: TaskFunction = run_task) -> Outcome:
    """Plan and run a command line. Raises as `plan` does, before anything runs."""
    from ace_bench.experiment.compose import session

    with session(config_dir) as hydra:
        sweeper, arguments = make_sweeper(hydra, overrides, task)
        return sweeper.sweep(arguments)


def _finish(experiment_dir: Path, results: list[CellResult]) -> bool:
    from ace_bench.experiment.finish import finish
    from ace_bench.store.errors import StoreError

    try:
        finish(experiment_dir, results)
    except (StoreError, OSError, ValueError) as e:
        print(f"The cells ran, but the report was not written: {e}\n  Try again: ace-bench report {experiment_dir}")
        return False
    return True


def _mapping(value: Any, where: str) -> dict[str, Any]:
    if value is not None and not isinstance(value, (Mapping, DictConfig)):
        raise PlanError(f"{where} must map keys to values, not be {value!r}.")
    return {str(k): v for k, v in (value or {}).items()}


def _points(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, (str, Mapping, DictConfig)):
        raise PlanError("hydra.sweeper.points must be a list of mappings.")
    return [_mapping(p, f"hydra.sweeper.points.{i}") for i, p in enumerate(value or [{}])]


def _grammar(value: Any, key: str) -> str:
    """A YAML value as Hydra's override grammar; a text is taken as written, so `"0,1"` sweeps."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (str, int, float)):
        return str(value)
    raise PlanError(f'hydra.sweeper: {key} must be a text such as "0,1,2" or one value, not {value!r}.')


def _shared_key(cell: str, config: Mapping[str, Any]) -> str:
    # Cells that differ only in what is shared must meet in `_refuse_plan`, not merge.
    return f"{cell} {[config[k] for k in SHARED]}"


def _sentence(error: Exception) -> str:
    cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else None
    text = "\n".join(str(e).strip() for e in (error, cause) if e is not None)
    return text or type(error).__name__


def _refusal(wrong: Mapping[str, list[str]]) -> str:
    lines = []
    for sentence, jobs in list(wrong.items())[:TOLD]:
        more = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
        lines.append(f"{sentence}\n  in: {jobs[0] or '(no overrides)'}{more}")
    if len(wrong) > TOLD:
        lines.append(f"... and {len(wrong) - TOLD} more of the kind.")
    return "\n".join(lines)
