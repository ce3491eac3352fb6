"""Where the files that travel with the package are: `conf/` and `tasks/`."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def shipped(name: str) -> Path:
    """The folder `conf` or `tasks`: inside the installed package, or beside it in a checkout.

    Never through `importlib.resources`: an editable install also carries a stale copy, which must not be read.
    Raises `FileNotFoundError` with a sentence when the installation lacks the folder.
    """
    for folder in (PACKAGE / name, PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"The folder {name!r} is not in this installation of ace_bench ({PACKAGE}); reinstall it.")
