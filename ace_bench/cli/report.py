"""`ace-bench report`: tables, figures and the HTML page of a finished (or half finished) experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ace_bench.cli.errors import BadInput, sentences

HELP = "Write the report of an experiment folder, from its rows on disk and nothing else."


def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the experiment: results/NAME.")],
    baseline: Annotated[str | None, typer.Option(help="Method the others are compared with.")] = None,
    replicates: Annotated[int | None, typer.Option(min=1, help="Bootstrap replicates.")] = None,
) -> None:
    """The verb (see `HELP`)."""
    with sentences():
        if not directory.is_dir():
            raise NotADirectoryError(f"{directory} is no folder; give the folder of an experiment, results/NAME.")
        from ace_bench.report import build_report, summary_text

        extra = {} if replicates is None else {"replicates": replicates}
        try:
            paths = build_report(directory, baseline=baseline, **extra)
            typer.echo(summary_text(directory))
        except ValueError as e:  # a baseline that is in no comparison
            raise BadInput(str(e)) from e
        typer.echo(f"Report: {paths.html}")
