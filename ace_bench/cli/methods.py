"""`ace-bench methods`: a card of every method, built in or plugged in."""

from __future__ import annotations

from typing import Any

import typer

from ace_bench.cli.errors import sentences

HELP = "List the methods: what each is, where it may run, its calls per sample, and what it needs installed."
REGIMES = ("gt", "outcome", "execution", "none")


def methods() -> None:
    """The verb (see `HELP`)."""
    with sentences():
        from ace_bench.experiment import plugins

        for name in plugins.names("methods"):
            typer.echo("\n".join(card(name, plugins.load("methods", name))) + "\n")


def card(name: str, cls: type[Any]) -> list[str]:
    """The lines of one method: all of them read off its class."""
    first = (cls.__doc__ or "").strip().splitlines()[0] if cls.__doc__ else "(no description)"
    ours = sorted(getattr(cls, "our_regimes", ()))
    lines = [
        name,
        f"  {first}",
        f"  feedback   {', '.join(r for r in REGIMES if r in cls.regimes)}"
        + (f" (our construction: {', '.join(ours)})" if ours else ""),
        f"  protocols  {', '.join(sorted(cls.protocols))}{' (one fit, no updates)' if hasattr(cls, 'fit') else ''}",
        f"  calls      {_calls(cls)}",
    ]
    missing = getattr(cls, "missing", lambda: None)()
    return [*lines, f"  needs      {missing}"] if missing else lines


def _calls(cls: type[Any]) -> str:
    """Calls of one sample learned from, at default knobs: the attempt, then the update."""
    expected = getattr(cls, "expected_calls", None)
    if expected is None:
        return "not declared"
    try:
        asked = expected(cls.Settings())
    except ValueError:
        return "depends on knobs that have no default (ace-bench plan tells)"
    parts = [
        f"{low if low == high else f'{low} to {high}'} {purpose}" for purpose, (low, high) in asked.items() if high
    ]
    return (
        " + ".join(["1 solve", *parts]) + " a sample" if not hasattr(cls, "fit") else " + ".join(parts) or "none to fit"
    )
