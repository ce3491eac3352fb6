"""`ace-bench doctor`: what is installed, which models can run, where data is, and what to do about each gap."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import typer

from ace_bench.cli.errors import sentences

HELP = (
    "What is installed, which models can run, where data is, and what to do about each gap. Reads only; sends nothing."
)
_REQUIREMENT = re.compile(r"""^(?P<name>[\w.-]+)(\[[^\]]*\])?[^;]*; extra == ["'](?P<extra>[\w-]+)["']""")
_SELF = "ace-bench"
_LITTLE_DISK = 3e9  # bytes; the largest weights need twice their 1.1 GB while they are joined


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: under which heading, whether all is well, what there is, and what to do if it is not."""

    part: str
    good: bool
    text: str
    advice: str = ""

    def line(self) -> str:
        """As printed."""
        return f"  {'ok' if self.good else '--'}  {self.text}" + (f"\n        -> {self.advice}" if self.advice else "")


def doctor() -> None:
    """The verb (see `HELP`). A gap is no error: the exit code is 0."""
    with sentences():
        part = ""
        for finding in findings():
            if finding.part != part:
                part = finding.part
                typer.echo(part)
            typer.echo(finding.line())


def findings() -> Iterator[Finding]:
    """Everything there is to say, in order."""
    from ace_bench import __version__

    yield Finding("Program", True, f"ace-bench {__version__}, Python {platform.python_version()}, {sys.executable}")
    yield from extras()
    yield from local_models()
    yield from providers()
    yield from benchmarks()
    yield from data()
    yield from places()


def extras() -> Iterator[Finding]:
    """Each extra and the packages it still lacks."""
    wanted: dict[str, list[str]] = {}
    for line in requires(_SELF) or ():
        if (found := _REQUIREMENT.match(line)) and found["name"] != _SELF:
            wanted.setdefault(found["extra"], []).append(found["name"])
    for extra, packages in sorted(wanted.items()):
        lacks = [name for name in packages if _version(name) is None]
        have = ", ".join(f"{name} {_version(name)}" for name in packages if name not in lacks)
        text = f"extra {extra}: {have or 'nothing'}" + (f"; lacks {', '.join(lacks)}" if lacks else "")
        yield Finding("Extras", not lacks, text, f'pip install "{_SELF}[{extra}]"' if lacks else "")


def local_models() -> Iterator[Finding]:
    """Which models can run on this machine without a key."""
    from ace_bench.llm import weights

    yield Finding("Models", True, "simulated: always (no language model; its reports are watermarked)")
    lacks = [name for name in ("xllamacpp", "litellm") if importlib.util.find_spec(name) is None]
    for name, made in weights.catalog().items():
        here = weights.present(name)
        lacking = lacks if made.kind == "language model" else []
        title = f"model=local/{name}" if made.kind == "language model" else f"embedder weights {name}"
        todo = [f"ace-bench model fetch {name} ({made.size / 1e6:,.0f} MB)"] * (not here)
        todo += [f'pip install "{_SELF}[local]" (lacks {", ".join(lacking)})'] * bool(lacking)
        yield Finding("Models", not todo, f"{title}: {'weights here' if here else 'no weights'}", "; ".join(todo))


def providers() -> Iterator[Finding]:
    """Which model presets find their key in the environment (names of variables only), or want a server of one's own."""
    from ace_bench.experiment.shipped import shipped

    for file in sorted((shipped("conf") / "model").glob("*.yaml")):
        if found := re.search(r"^api_key_env: *([A-Z][A-Z0-9_]*)", file.read_text(encoding="utf-8"), re.MULTILINE):
            there = bool(os.environ.get(found[1]))
            text = f"model={file.stem}: {found[1]} is {'set' if there else 'not set'}"
            yield Finding("Models", there, text, "" if there else f"export {found[1]}=... (never in a config file)")
        elif found := re.search(r"^endpoint: *(http://\S+)", file.read_text(encoding="utf-8"), re.MULTILINE):
            yield Finding("Models", True, f"model={file.stem}: no key; wants a server at {found[1]} (not asked)")


def benchmarks() -> Iterator[Finding]:
    """Whether each benchmark that needs more than a file (an engine, a sandbox) can run with its defaults."""
    from ace_bench.experiment import plugins

    for name in plugins.names("benchmarks"):
        kind = plugins.load("benchmarks", name)
        if missing := getattr(kind, "missing", None):
            said = missing(kind.Settings())
            yield Finding(
                "Benchmarks", said is None, f"benchmark={name}: {'can' if said is None else 'cannot'} run", said or ""
            )


def data() -> Iterator[Finding]:
    """Bundled sets and the user's own folder."""
    from ace_bench.experiment.shipped import shipped

    sets = sorted(p.name for p in shipped("tasks").iterdir() if p.is_dir() and list(p.glob("*.jsonl")))
    yield Finding("Data", True, f"bundled: {', '.join(sets)} ({shipped('tasks')})")
    named = os.environ.get("ACE_BENCH_DATA")
    if named and Path(named).is_dir():
        yield Finding("Data", True, f"ACE_BENCH_DATA: {named}")
    else:
        text = f"ACE_BENCH_DATA names no folder: {named}" if named else "ACE_BENCH_DATA is not set"
        yield Finding("Data", False, text, "only for the released data files: point it at the folder that holds them")


def places() -> Iterator[Finding]:
    """Cache folder, results, room on the disk."""
    from ace_bench.llm import weights

    home = weights.home()
    size = sum(file.stat().st_size for file in home.rglob("*") if file.is_file()) if home.is_dir() else 0
    yield Finding("Disk", True, f"cache {home} (ACE_BENCH_HOME): {size / 1e6:,.0f} MB")
    answers = Path("results") / "responses.db"
    if answers.is_file():
        yield Finding("Disk", True, f"response cache {answers}: {answers.stat().st_size / 1e6:,.1f} MB")
    root = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(root).free
    enough = free >= _LITTLE_DISK
    advice = "" if enough else "make room, or set ACE_BENCH_HOME to a folder on another disk"
    yield Finding("Disk", enough, f"free at {root}: {free / 1e9:,.1f} GB", advice)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
