"""Where copies of public data lie: `--root` or `data.root`, else the environment variable ACE_BENCH_DATA, else `./data`."""

from __future__ import annotations

import os
from pathlib import Path

from ace_bench.data.sources import SOURCES, Source

ENVIRONMENT = "ACE_BENCH_DATA"


class DataMissing(LookupError):
    """A file that is not where it should be; the message says how to get it."""


def data_root(given: str | Path | None = None) -> Path:
    """The data folder; it need not exist."""
    named = given or os.environ.get(ENVIRONMENT) or "data"
    return Path(named).expanduser()


def place(source: Source, root: Path) -> Path:
    """What an adapter reads: the file, or the folder an archive was unpacked to."""
    return root / (source.unpacked or source.path)


def located(name: str, root: Path, sources: tuple[Source, ...] = SOURCES) -> Path:
    """The path of a source by name. Raises `DataMissing`: no such name, or no such file yet."""
    by_name = {source.name: source for source in sources}
    if name not in by_name:
        raise DataMissing(f"There is no data named {name!r}. Known: {', '.join(by_name)}.")
    path = place(by_name[name], root)
    if not path.exists():
        raise DataMissing(
            f"There is no {path}. Get it with: ace-bench data fetch {name} (or set {ENVIRONMENT} to a copy)."
        )
    return path
