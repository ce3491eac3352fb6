"""The manifest of a cell: what was run, on what, with which code; and what differs when it is to be resumed."""

from __future__ import annotations

import datetime
import functools
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ace_bench.store.atomic import write_atomic
from ace_bench.store.errors import ManifestError
from ace_bench.store.secrets import MASK

# Packages whose version can change a number, or the bytes of a request.
PACKAGES = (
    "hydra-core", "omegaconf", "pydantic", "numpy", "scipy", "pandas", "pyarrow", "matplotlib",
    "litellm", "openai", "tiktoken", "gepa", "dspy", "textgrad",
)  # fmt: skip
_GIT_SECONDS = 5
_once = threading.Lock()


def _git(folder: Path, *arguments: str) -> str | None:
    """Output of a read-only git command in `folder`, None when git is absent, slow, or says no."""
    # A git hook sets GIT_DIR and the like, which would point at another checkout.
    environ = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {"GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder, env=environ, capture_output=True, timeout=_GIT_SECONDS, check=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip()


def git_state_of(folder: Path) -> dict[str, Any] | None:
    """`{"commit", "dirty"}` of the checkout that tracks the package in `folder`, None when there is none.

    A package installed below somebody's checkout is not part of it: git must track its `__init__.py`. dirty is None
    when git did not answer in time.
    """
    if _git(folder, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return None
    status = _git(folder, "status", "--porcelain")
    return {"commit": commit, "dirty": None if status is None else bool(status)}


@functools.cache
def _git_state() -> dict[str, Any] | None:
    return git_state_of(Path(__file__).resolve().parents[1])


@functools.cache
def _packages() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def build(config: Mapping[str, Any], digests: Mapping[str, str], extra: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of a cell that starts now. Git and the package versions are asked once a process.

    config: the resolved config. digests: name to digest (config, data, order, prompts, ...). extra: anything else.
    """
    with _once:  # 64 cells start at once: one git, not 64
        git, packages = _git_state(), _packages()
    return {
        "config": dict(config),
        "digests": dict(digests),
        # the root package is loaded whenever we are; asking it by name would be an import against the direction
        "ace_bench": sys.modules[__name__.partition(".")[0]].__version__,
        "git": git and dict(git),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": dict(packages),
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "extra": dict(extra),
    }


def write(path: str | Path, manifest: Mapping[str, Any], mask: Callable[[Any], Any]) -> None:
    """Write `mask(manifest)` as strict JSON, durably (`Masker.mask` is the mask). Raises ManifestError."""
    try:
        text = json.dumps(mask(dict(manifest)), indent=2, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise ManifestError(f"Manifest {path} cannot be written as JSON ({error}); put plain values into the config "
                            "(no NaN, no objects).") from error  # fmt: skip
    write_atomic(Path(path), text.encode("ascii") + b"\n")


def read(path: str | Path) -> dict[str, Any]:
    """The manifest at `path`, as it was written (masked). Raises ManifestError when it is absent or damaged."""
    try:
        found = json.loads(Path(path).read_bytes())
    except FileNotFoundError:
        raise ManifestError(f"There is no manifest {path}; the cell was never started, or is not ours.") from None
    except ValueError as error:
        raise ManifestError(f"Manifest {path} is not JSON ({error}); move the folder away and run it anew.") from None
    parts = found if isinstance(found, dict) else {}
    lacking = [key for key in ("config", "digests") if not isinstance(parts.get(key), dict)]
    if lacking:
        raise ManifestError(f"Manifest {path} has no {lacking[0]}; move the cell folder away and run the cell anew.")
    return parts


def _leaves(value: Any, at: str) -> Iterator[tuple[str, str]]:
    """(path, JSON of the value) of every leaf; an empty dict or list is a leaf."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{at}.{key}" if at else str(key))
    elif isinstance(value, list | tuple) and value:
        for index, item in enumerate(value):
            yield from _leaves(item, f"{at}.{index}" if at else str(index))
    else:
        yield at, json.dumps(value)


def _same(old: str, new: str) -> bool:
    """Equal, where a mask on either side stands for anything: a secret is no part of what was run."""
    if old == new or json.dumps(MASK) in (old, new):
        return True
    for masked, plain in ((old, new), (new, old)):
        if MASK in masked and re.fullmatch(".+".join(re.escape(part) for part in masked.split(MASK)), plain, re.S):
            return True
    return False


def _pairs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, str | None, str | None]]:
    """(path, old JSON, new JSON) of the leaves that differ, old order first, None where absent."""
    before, after = dict(_leaves(old, "")), dict(_leaves(new, ""))
    for at in [*before, *(at for at in after if at not in before)]:
        one, two = before.get(at), after.get(at)
        if one is None or two is None or not _same(one, two):
            yield at, one, two


def _short(value: str | None) -> str:
    return "absent" if value is None else value if len(value) <= 80 else f"{value[:77]}..."


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Why a cell with manifest `old` cannot be resumed as `new`: a sentence for each digest and key that differs.

    Only `config` and `digests` count; versions, machine and times may change. A mask matches any value.
    The sentences quote values: mask `new` first (or the sentences), or a secret in it could be shown.
    """
    return [f"The {at} digest was {_short(one)} and is {_short(two)} now."
            for at, one, two in _pairs(old["digests"], new["digests"])] + [
            f"Config key {at} was {_short(one)} and is {_short(two)} now."
            for at, one, two in _pairs(old["config"], new["config"])]  # fmt: skip
