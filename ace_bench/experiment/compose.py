"""Composing cells. The one file that uses names of `hydra._internal` (checked with 1.3.2 to 1.3.8; pinned < 1.4).

Hydra composes a cell in about 0.1 s. Here the groups of a job are composed once and its values are set on a copy:
a thousand cells in a few seconds, equal to Hydra's own result (tests/experiment/test_exp_compose.py).
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from hydra import version
from hydra._internal.callbacks import Callbacks
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_search_path_impl import ConfigSearchPathImpl
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.types import HydraContext, RunMode
from omegaconf import DictConfig, OmegaConf

from ace_bench.experiment import datapath
from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.shipped import shipped

CONFIG = "config"
__all__ = ["CONFIG", "BasicSweeper", "CellComposer", "compose_master", "context_of", "session"]


class CellComposer:
    """Composes jobs (lists of overrides) into cells (plain, resolved dicts without Hydra's own node)."""

    def __init__(self, loader: ConfigLoaderImpl, master: DictConfig) -> None:
        self.loader, self.master = loader, master
        self.parser = OverridesParser.create(config_loader=loader)
        self.bases: dict[tuple[str, ...], DictConfig] = {}
        self._stripped: dict[int, DictConfig] = {}  # by id of the base: the same without Hydra's node
        self._parsed: dict[str, tuple[Override, bool]] = {}

    def base(self, job: Sequence[str]) -> DictConfig:
        """The full config of the job's group choices, Hydra's node included."""
        groups = tuple(str(o.input_line) for o, group in self._parse(job) if group)
        if groups not in self.bases:
            self.bases[groups] = self.loader.load_sweep_config(self.master, list(groups))
        return self.bases[groups]

    def cell(self, job: Sequence[str]) -> dict[str, Any]:
        """The cell, resolved. A value still missing stays `???`: the typed check tells all of them at once."""
        base = self.base(job)
        if id(base) not in self._stripped:
            stripped = OmegaConf.masked_copy(base, [str(k) for k in base if k != "hydra"])
            OmegaConf.set_struct(stripped, True)  # masked_copy drops the flag: without it a typo makes a new key
            self._stripped[id(base)] = stripped
        cell = copy.deepcopy(self._stripped[id(base)])
        ConfigLoaderImpl._apply_overrides_to_config([o for o, group in self._parse(job) if not group], cell)
        return cast(dict[str, Any], OmegaConf.to_container(cell, resolve=True))

    def _parse(self, job: Sequence[str]) -> list[tuple[Override, bool]]:
        # ANTLR takes 2 ms an override, and a plan repeats the same few in every job.
        for line in job:
            if line not in self._parsed:
                (override,) = self.parser.parse_overrides([line])
                self._parsed[line] = (override, self._is_group(override))
        return [self._parsed[line] for line in job]

    def _is_group(self, o: Override) -> bool:
        return o.is_delete() or o.is_hydra_override() or self.loader.repository.group_exists(o.key_or_group)


def _search_path(config_dir: Path | None) -> ConfigSearchPathImpl:
    path = cast(ConfigSearchPathImpl, create_config_search_path(str(shipped("conf"))))
    if config_dir is not None:
        folder = config_dir.resolve()
        if not folder.is_dir():
            raise PlanError(f"--config-dir {config_dir}: there is no such folder.")
        path.prepend(provider="command-line", path=f"file://{folder}", anchor=SearchPathQuery(provider="schema"))
    return path


@contextlib.contextmanager
def session(config_dir: Path | None = None) -> Iterator[Hydra]:
    """A Hydra over the shipped configs, and over those in `config_dir` (which win). Several a process, one at a time.

    Raises `PlanError` when `config_dir` is no folder.
    """
    # We drive Hydra ourselves: `hydra.main` would read sys.argv and print tracebacks of its own.
    path = _search_path(config_dir)
    datapath.register()
    version.setbase("1.3")
    GlobalHydra.instance().clear()
    try:
        yield Hydra.create_main_hydra2("ace_bench", path)
    finally:
        GlobalHydra.instance().clear()


def compose_master(hydra: Hydra, overrides: Sequence[str]) -> DictConfig:
    """The config a plan starts from: the root config under the overrides that are not swept."""
    return hydra.compose_config(CONFIG, list(overrides), run_mode=RunMode.MULTIRUN, with_log_configuration=False)


def context_of(hydra: Hydra, overrides: Sequence[str]) -> tuple[DictConfig, HydraContext]:
    """The master config for the overrides, and what Hydra's plug-ins want to be set up with."""
    master = compose_master(hydra, overrides)
    return master, HydraContext(config_loader=hydra.config_loader, callbacks=Callbacks(master))
