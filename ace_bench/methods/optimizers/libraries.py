"""Importing the libraries: one at a time, as several cells may begin in threads, and each import is set up by its bridge."""

from __future__ import annotations

import importlib
import threading
from typing import Any

_LOCK = threading.Lock()


def load(name: str) -> Any:
    """A module by full name. The bridges (`dspy_bridge`, `textgrad_bridge`) do what is process-wide while they load."""
    with _LOCK:
        return importlib.import_module(name)


def bridge(name: str) -> Any:
    """One of the bridge modules beside this one."""
    return load(f"{__package__}.{name}")
