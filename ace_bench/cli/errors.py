"""Bad input as sentences: what the user got wrong never ends in a traceback of ours."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import typer

EXIT_USAGE = 2


class BadInput(Exception):
    """What the user gave cannot be used; the message is the sentence to print."""


@contextmanager
def sentences(overrides: Sequence[str] = ()) -> Iterator[None]:
    """Within: an error of the user's (config, plan, file) is printed to stderr and ends with exit code 2.

    Values of secret-looking keys in `overrides` are masked: Hydra quotes overrides in its messages.
    """
    try:
        yield
    except Exception as e:
        if not _is_users(e):
            raise
        typer.echo(f"ace-bench: {_masked(_text(e), overrides)}", err=True)
        raise typer.Exit(EXIT_USAGE) from None


def _is_users(error: Exception) -> bool:
    # Imported only now: a run without an error should not wait for it twice.
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    from ace_bench.experiment.plugins import PlanError
    from ace_bench.store.errors import StoreError

    ours = (BadInput, PlanError, StoreError)
    return isinstance(error, (*ours, HydraException, OmegaConfBaseException, YAMLError, OSError))


_UNKNOWN = re.compile(r"Could not override '([^']+)'\.\nTo append")  # Hydra would have one append a misspelt key with +
_SECTIONS = (
    "method", "benchmark", "protocol", "feedback", "model", "embedder", "order", "limits", "cache", "seed", "name", "results",
    "prompts", "start", "select", "experiment",
)  # fmt: skip


def _text(error: Exception) -> str:
    if unknown := _UNKNOWN.match(str(error)):
        return _unknown_key(unknown[1])
    where = getattr(error, "override", None)  # Hydra's parse error does not say which override it means
    parts = [f"{where}: {error}" if where else str(error).strip() or type(error).__name__]
    if error.__cause__ is not None and type(error.__cause__).__module__.startswith(("omegaconf", "yaml")):
        parts.append(str(error.__cause__).strip())
    return "\n".join(parts)


def _unknown_key(key: str) -> str:
    head, dot, rest = key.partition(".")
    near = difflib.get_close_matches(head, _SECTIONS, 1)
    if head not in _SECTIONS:
        return f"{key} is no key of the config." + (f" Did you mean {near[0]}{dot}{rest}?" if near else "")
    return f"{key} is no key of the config with this choice of {head}; its knobs stand in conf/{head}/NAME.yaml."


def _masked(text: str, overrides: Sequence[str]) -> str:
    from ace_bench.store.secrets import Masker

    pairs = [o.partition("=") for o in overrides]
    return Masker([{key.rsplit(".", 1)[-1]: value.strip("'\"")} for key, _, value in pairs]).mask(text)
