"""Whether an optimiser's library is there, in the version this code was written against. Imports none of them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from importlib.util import find_spec

# Extra -> the packages it pins. What is worked around here (docs/optimizers.md) is behaviour of exactly these versions.
PINS: dict[str, dict[str, str | None]] = {
    "gepa": {"gepa": "0.1.4"},
    "dspy": {"dspy": "3.4.1", "optuna": None},
    "textgrad": {"textgrad": "0.1.8"},
}


def missing(extra: str) -> str | None:
    """What is absent or of another version, and the command that installs it; None when all is there."""
    for package, pin in PINS[extra].items():
        if find_spec(package) is None:
            return f'it needs the package {package}, which is not installed. Run: pip install "ace-bench[{extra}]"'
        if pin is not None and _version(package) != pin:
            return (
                f"it is written for {package} {pin}, and {package} {_version(package)} is installed. "
                f'Run: pip install "ace-bench[{extra}]"'
            )
    return None


def version(extra: str) -> str:
    """The packages of an extra with their versions, for the record."""
    return ", ".join(f"{package} {_version(package)}" for package in PINS[extra])


def _version(package: str) -> str:
    try:
        return installed(package)
    except PackageNotFoundError:
        return "(unknown)"
