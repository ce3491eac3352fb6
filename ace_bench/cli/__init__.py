"""The command line, `ace-bench`: one file a verb. A verb imports its work when it runs, so that `--help` is quick.

Exit codes: 0 all went well; 1 a cell failed; 2 nothing was run, for what was asked cannot be; 3 a limit
was reached; 130 stopped.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ace_bench import __version__
from ace_bench.cli import capsule, data, doctor, methods, model, plan, report, run

app = typer.Typer(
    name="ace-bench",
    help="Compare ways of improving an agent's context: same tasks, feedback, order and budget for every method.",
    epilog="Exit codes: 0 all went well, 1 a cell failed, 2 nothing was run (the message says why), 3 a limit was "
    "reached, 130 stopped.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("run", help=run.HELP)(run.run)
app.command("plan", help=plan.HELP)(plan.plan)
app.command("report", help=report.HELP)(report.report)
app.command("methods", help=methods.HELP)(methods.methods)
app.command("doctor", help=doctor.HELP)(doctor.doctor)
app.add_typer(capsule.app, name="capsule")
app.add_typer(data.app, name="data")
app.add_typer(model.app, name="model")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"ace-bench {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None: ...


def main() -> None:
    """The console script."""
    app()


__all__ = ["app", "main"]
