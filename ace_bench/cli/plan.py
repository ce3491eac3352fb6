"""`ace-bench plan`: what a command would take, before its first call."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ace_bench.cli.completion import complete
from ace_bench.cli.errors import EXIT_USAGE, sentences

HELP = """Say what a run will take: cells, calls by purpose, tokens, dollars, and the difference its design can detect.

OVERRIDES are those of `ace-bench run`. Nothing is run and no call is made.

Example: ace-bench plan experiment=quickstart model.price=deepseek/deepseek-v3.1"""
HINT = "Nothing to plan. Give the overrides of a run, for example\n  ace-bench plan experiment=quickstart"


def plan(
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="[OVERRIDES]...", autocompletion=complete, show_default=False)
    ] = None,
    config_dir: Annotated[Path | None, typer.Option("--config-dir", help="A folder of your own configs.")] = None,
) -> None:
    """The verb (see `HELP`)."""
    given = list(overrides or [])
    if not given:
        typer.echo(HINT, err=True)
        raise typer.Exit(EXIT_USAGE)
    with sentences(given):
        from ace_bench.experiment.planning.estimate import estimate
        from ace_bench.experiment.planning.lines import text
        from ace_bench.experiment.sweeper import plan as planned

        typer.echo(text(estimate(planned(given, config_dir))), nl=False)
