"""`ace-bench capsule`: an experiment as one file that anybody can run again without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ace_bench.cli.errors import BadInput, sentences

HELP = "Pack an experiment into one file, or run such a file again offline: export | verify."
EXPORT = (
    "Pack the finished cells of an experiment: configs, rows, manifests and the responses they used. No secret goes in."
)
VERIFY = """Run a capsule again out of its own responses, with no network, and say whether every row is identical.

Exit codes: 0 identical, 1 not, 2 the capsule cannot be used (changed, damaged, a file missing)."""
FILE = typer.Argument(metavar="FILE", help="The capsule, for example mine.capsule.zip.")

app = typer.Typer(name="capsule", help=HELP, no_args_is_help=True)


@app.command("export", help=EXPORT)
def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the experiment: results/NAME.")],
    file: Annotated[Path, FILE],
    cache: Annotated[
        Path | None, typer.Option(help="The response store, when it is not where the config says.")
    ] = None,
    file_mb: Annotated[float, typer.Option(min=0, help="Data files of yours up to this size go in.")] = 50,
) -> None:
    """The verb (see `EXPORT`)."""
    with sentences():
        from ace_bench.experiment.capsule.export import export as pack

        done = pack(directory, file, cache=cache, file_mb=file_mb)
        size = done.path.stat().st_size
        typer.echo(f"{done.path}: {done.cells} cells, {done.responses:,} responses, {size:,} bytes.")
        if done.left_out:
            typer.echo(f"Left out, for they did not finish: {', '.join(done.left_out)}.")
        for need in done.needs:
            typer.echo(f"Not inside: {need['name']} ({need['key']}); it {need['why']}. SHA-256 {need['digest']}.")
        typer.echo(f"To check it: ace-bench capsule verify {done.path}")


@app.command("verify", help=VERIFY)
def verify(
    file: Annotated[Path, FILE],
    files: Annotated[
        list[str] | None, typer.Option("--file", metavar="KEY=PATH", help="A file the capsule needs and does not hold.")
    ] = None,
) -> None:
    """The verb (see `VERIFY`)."""
    with sentences():
        given = dict(_pair(text) for text in files or ())
        from ace_bench.experiment.capsule.verify import verify as check

        done = check(file, given)
        if not done.identical:
            for line in done.differences:
                typer.echo(line)
            typer.echo(f"NOT identical: {len(done.differences)} of {done.cells} cells differ.")
            raise typer.Exit(1)
        typer.echo(
            f"Identical: {done.rows:,} rows of {done.cells} cells, run again from {file} (made by {done.made_by})."
        )


def _pair(text: str) -> tuple[str, Path]:
    key, equals, path = text.partition("=")
    if not (key and equals and path):
        raise BadInput(f"--file {text}: give KEY=PATH, for example benchmark.test=data/test.jsonl.")
    return key, Path(path)
