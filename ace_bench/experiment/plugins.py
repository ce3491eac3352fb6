"""The registry of plug-ins: methods, benchmarks, transports and embedders, ours and those of other packages.

All come through entry points, so a package of yours adds its own without a fork:

    [project.entry-points."ace_bench.methods"]
    mine = "my_package.mine:Mine"
    [project.entry-points."ace_bench.conf"]      # a package (with __init__.py) of config groups
    mine = "my_package.conf"
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin

from ace_bench.experiment.shipped import shipped

Group = Literal["methods", "benchmarks", "transports", "embedders"]


class PlanError(Exception):
    """Something asked for cannot be run; nothing was. The message is one or more sentences for the user."""


@cache  # reading all distributions of an environment takes 10 ms or more; a plan asks thousands of times
def found(group: Group) -> tuple[EntryPoint, ...]:
    """The installed entry points of `group`, sorted by name (tests replace this)."""
    return tuple(sorted(entry_points(group=f"ace_bench.{group}"), key=lambda e: (e.name, e.value)))


def names(group: Group) -> list[str]:
    """The names known in `group`, sorted."""
    return sorted({e.name for e in found(group)})


def load(group: Group, name: str) -> type[Any]:
    """The class behind `name`.

    Raises `PlanError`: unknown name, two different plug-ins of one name, or a plug-in that fails to import.
    """
    entries = {e.value: e for e in found(group) if e.name == name}  # one distribution may be listed twice on sys.path
    kind = group.removesuffix("s")
    if not entries:
        known = ", ".join(names(group)) or "none; install ace_bench (pip install -e .)"
        raise PlanError(f"There is no {kind} named {name!r}. Known {group}: {known}.")
    if len(entries) > 1:
        both = " and ".join(f"{_origin(e)} ({e.value})" for e in entries.values())
        raise PlanError(f"Two plug-ins give a {kind} named {name!r}: {both}. Uninstall one or rename it.")
    return _import(kind, next(iter(entries.values())))


def _import(kind: str, entry: EntryPoint) -> type[Any]:
    try:
        loaded = entry.load()
    except Exception as e:  # whatever a foreign module raises while it is imported
        said = f"{type(e).__name__}: {e}"
        raise PlanError(
            f"The {kind} {entry.name!r} of {_origin(entry)} ({entry.value}) cannot be imported: {said}. "
            "Repair or reinstall that package."
        ) from e
    if not isinstance(loaded, type):
        raise PlanError(f"The {kind} {entry.name!r} of {_origin(entry)} ({entry.value}) is not a class.")
    return loaded


def _origin(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unnamed distribution"


class ConfSearchPath(SearchPathPlugin):
    """Appends `pkg://<value>` to Hydra's search path for every entry point of group `ace_bench.conf`."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Runs in every Hydra application of the environment, so it leaves those of others alone."""
        main = [item.path for item in search_path.get_path() if item.provider == "main"]
        if main != [str(shipped("conf"))]:
            return
        for entry in sorted(entry_points(group="ace_bench.conf"), key=lambda e: (e.name, e.value)):
            search_path.append(provider=f"ace_bench.conf:{entry.name}", path=f"pkg://{entry.value}")
