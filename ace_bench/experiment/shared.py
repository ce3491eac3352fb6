"""What the cells of one process share: response stores, limits and clients. Made at first use, closed after the launch.

One client per model and experiment, so that a request two cells have in common is paid once (single flight).
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from ace_bench.experiment.spec import CellSpec
from ace_bench.llm import Client, Limits, ModelSettings, ResponseStore

_lock = threading.Lock()
_made: dict[str, Any] = {}


def client(spec: CellSpec) -> Client:
    """The client of the cell's model. Raises the sentences of store, limits and transport."""
    canonical = spec.canonical()
    with _lock:
        store = _once(f"store {spec.cache.mode} {spec.cache.path}", lambda: _store(spec))
        limits = _once(f"limits {spec.experiment_dir} {canonical['limits']}", lambda: _limits(spec))
        key = f"client {spec.cache} {spec.experiment_dir} {json.dumps(canonical['model'], sort_keys=True)}"
        made: Client = _once(key, lambda: Client(_transport(spec), store, limits, model=spec.model.name))
        return made


def model_settings(spec: CellSpec) -> ModelSettings:
    """The request side of the cell's model: name, endpoint, parameters."""
    asked: ModelSettings = spec.model.settings.asked(spec.model.name)  # type: ignore[attr-defined]
    return asked


def is_simulated(spec: CellSpec) -> bool:
    """Whether no language model stands behind the cell."""
    return bool(getattr(_transport(spec), "simulated", False))


def close() -> None:
    """Close every store; the next cell makes its own again."""
    with _lock:
        for value in _made.values():
            if isinstance(value, ResponseStore):
                value.close()
        _made.clear()


def _transport(spec: CellSpec) -> Any:
    return spec.model.cls(spec.model.settings)


def _store(spec: CellSpec) -> ResponseStore:
    path = Path(spec.cache.path)
    if spec.cache.mode == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
    return ResponseStore(path, spec.cache.mode)


def _limits(spec: CellSpec) -> Limits:
    caps = spec.limits
    return Limits(
        calls=caps.calls, tokens=caps.tokens, cell_calls=caps.cell_calls, cell_tokens=caps.cell_tokens,
        concurrency=caps.concurrency,
    )  # fmt: skip


def _once(key: str, make: Any) -> Any:
    if key not in _made:
        _made[key] = make()
    return _made[key]
