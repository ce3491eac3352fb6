"""`ace-bench run`: compose a plan out of the configs and overrides, check it, run it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ace_bench.cli.completion import complete
from ace_bench.cli.errors import EXIT_USAGE, sentences

HELP = """Run cells: one, or as many as a preset or commas ask for. The same command resumes what did not finish.

OVERRIDES are Hydra's: group=choice, key=value, key=1,2,3 (sweeps), +new=value.

Examples: ace-bench run experiment=quickstart; ace-bench run method=ace,base seed=0,1,2 name=mine"""
HINT = """Nothing to run. Name a preset or choose by groups, for example
  ace-bench run experiment=quickstart
  ace-bench run method=ace benchmark=rulebook seed=0,1,2 name=mine
Presets: {presets}. See also: ace-bench run --help, ace-bench run --cfg job"""


class Cfg(StrEnum):
    """Which part of the config `--cfg` prints."""

    job = "job"
    hydra = "hydra"
    all = "all"


def run(
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="[OVERRIDES]...", autocompletion=complete, show_default=False)
    ] = None,
    multirun: Annotated[bool, typer.Option("--multirun", "-m", help="Accepted and implied.")] = False,
    cfg: Annotated[Cfg | None, typer.Option("--cfg", help="Print the config and run nothing.")] = None,
    config_dir: Annotated[Path | None, typer.Option("--config-dir", help="A folder of your own configs.")] = None,
) -> None:
    """The verb (see `HELP`)."""
    given = list(overrides or [])
    if not given and cfg is None:
        typer.echo(HINT.format(presets=", ".join(presets(config_dir))), err=True)
        raise typer.Exit(EXIT_USAGE)
    with sentences(given):
        if cfg is not None:
            _show(given, cfg, config_dir)
            return
        from ace_bench.experiment.sweeper import launch

        raise typer.Exit(launch(given, config_dir).exit_code)


def presets(config_dir: Path | None = None) -> list[str]:
    """Names of the experiment presets, sorted."""
    from ace_bench.experiment.shipped import shipped

    roots = [d / "experiment" for d in (shipped("conf"), config_dir) if d is not None]
    return sorted({p.relative_to(r).with_suffix("").as_posix() for r in roots for p in r.rglob("*.yaml")})


def _show(overrides: list[str], cfg: Cfg, config_dir: Path | None) -> None:
    from ace_bench.experiment.compose import CONFIG, session

    with session(config_dir) as hydra:
        hydra.show_cfg(CONFIG, overrides, cfg_type=cfg.value, package=None)
