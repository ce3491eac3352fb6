"""`ace-bench data`: what public data there is, getting it, checking it, and where it lies."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ace_bench.cli.errors import BadInput, sentences

HELP = """Public data: list | fetch | verify | path | setup.

Copies lie under --root, else under the folder ACE_BENCH_DATA names, else in ./data."""

app = typer.Typer(name="data", help=HELP, no_args_is_help=True)
Names = Annotated[
    list[str], typer.Argument(metavar="NAME...", help="Names or groups of `ace-bench data list`, or all.")
]
Root = Annotated[Path | None, typer.Option("--root", help="The data folder.")]


@contextmanager
def _told() -> Iterator[None]:
    """Our own errors, too, are sentences for the user."""
    from ace_bench.data import DataMissing, FetchError
    from ace_bench.data.unpack import UnpackError

    with sentences():
        try:
            yield
        except (DataMissing, FetchError, UnpackError, ValueError) as error:
            raise BadInput(str(error)) from error
        except KeyError as error:
            raise BadInput(str(error.args[0])) from error


@app.command("list", help="What there is: name, place, size, revision, licence, and whether a copy is here.")
def list_(root: Root = None) -> None:
    """The verb `list`."""
    with _told():
        from ace_bench.data import SOURCES, data_root
        from ace_bench.data.root import place

        folder = data_root(root)
        typer.echo(f"Data folder: {folder}")
        for source in SOURCES:
            here = "here" if place(source, folder).exists() else "-"
            size = "size unknown" if source.size is None else f"{source.size:,} bytes"
            pinned = source.revision or "not pinned"
            digest = "SHA-256 known" if source.sha256 else "SHA-256 of the first copy"
            typer.echo(
                f"{source.name:18}{here:6}{source.path}  ({source.group}; {size}; {pinned[:12]}; {digest}; {source.licence})"
            )


@app.command("fetch", help="Download what is not here yet, and check it. A good copy is never touched.")
def fetch_(names: Names, root: Root = None) -> None:
    """The verb `fetch`. Every name is tried; exit code 1 when one failed."""
    with _told():
        from ace_bench.data import FetchError, chosen, data_root, fetch
        from ace_bench.data.unpack import UnpackError

        folder, failed = data_root(root), 0
        for source in chosen(names):
            if source.revision is None:
                typer.echo(
                    f"{source.name}: no revision is known to pin it to; the copy that comes now is the one to keep."
                )
            try:
                done = fetch(source, folder)
            except (FetchError, UnpackError) as error:
                failed += 1
                typer.echo(f"ace-bench: {error}", err=True)
                continue
            typer.echo(
                f"{source.name}: {done.status}, {folder / source.path}"
                + (f" ({done.bytes:,} bytes)" if done.bytes else "")
            )
        if failed:
            raise typer.Exit(1)


@app.command("verify", help="Check the copies that are here. Exit code 1 when one is bad.")
def verify(names: Annotated[list[str] | None, typer.Argument(metavar="[NAME...]")] = None, root: Root = None) -> None:
    """The verb `verify`. A source named one by one must be there; of the others, those that are there are checked."""
    with _told():
        from ace_bench.data import chosen, data_root, state_of

        folder, wrong = data_root(root), 0
        for source in chosen(names or ["all"]):
            state = state_of(source, folder)
            wrong += state.status == "bad" or (state.status == "missing" and source.name in (names or []))
            typer.echo(f"{source.name:18}{state.status:11}{state.reason}")
        if wrong:
            raise typer.Exit(1)


@app.command("path", help="Print where a file (or an unpacked folder) lies.")
def path_(name: Annotated[str, typer.Argument(metavar="NAME")], root: Root = None) -> None:
    """The verb `path`. Exit code 2 when there is no copy."""
    with _told():
        from ace_bench.data import data_root, located

        typer.echo(str(located(name, data_root(root))))


@app.command(
    "setup", help="Make what a benchmark needs besides files: `setup appworld` (its engine; its data, if fetched)."
)
def setup(
    name: Annotated[str, typer.Argument(metavar="appworld")],
    root: Root = None,
    python: Annotated[
        str | None, typer.Option("--python", help="The interpreter to build the environment from.")
    ] = None,
) -> None:
    """The verb `setup`. Repeating it is harmless."""
    with _told():
        from ace_bench.data import DataMissing, appworld_setup, chosen, data_root, located, state_of

        if name != "appworld":
            raise BadInput(f"There is nothing to set up for {name!r}. Known: appworld.")
        try:
            appworld_setup.setup_engine(typer.echo, python or sys.executable)
            bundle, (source,) = located("appworld", data_root(root)), chosen(["appworld"])
            if (state := state_of(source, data_root(root))).status != "good":
                raise BadInput(
                    f"{bundle} is not the official bundle: {state.reason}. Run: ace-bench data fetch appworld"
                )
            appworld_setup.setup_data(bundle, typer.echo)
        except DataMissing as missing:
            typer.echo(f"The official tasks are not here. {missing} A root of your own: benchmark.root=PATH.")
        except appworld_setup.SetupError as error:
            raise BadInput(str(error)) from error
