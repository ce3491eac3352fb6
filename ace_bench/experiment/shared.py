"""What the cells of one process share: response stores, limits and clients. Made at first use, closed after the launch.

One client per model and experiment, so that a request two cells have in common is paid once (single flight).
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from ace_bench.experiment.spec import CellSpec, Part
from ace_bench.llm import Client, Limits, ModelSettings, Price, ResponseStore, Route
from ace_bench.llm.pricing import price_of

_lock = threading.Lock()
_made: dict[str, Any] = {}


def route(spec: CellSpec, model: Part) -> Route:
    """The client and settings of a model of the cell. Raises the sentences of store, limits and transport."""
    canonical = spec.canonical()
    settings = model_settings(model)
    with _lock:
        store = _once(f"store {spec.cache.mode} {spec.cache.path}", lambda: _store(spec))
        limits = _once(f"limits {spec.experiment_dir} {canonical['limits']}", lambda: _limits(spec))
        key = f"client {spec.cache} {spec.experiment_dir} {json.dumps(model.canonical(), sort_keys=True)}"
        made: Client = _once(
            key, lambda: Client(_transport(model), store, limits, price=price(model), model=model.name)
        )
        return Route(made, settings)


def model_settings(model: Part) -> ModelSettings:
    """The request side of a model: name, endpoint, parameters."""
    asked: ModelSettings = model.settings.asked(model.name)  # type: ignore[attr-defined]
    return asked


def price(model: Part) -> Price | None:
    """The list price of a model; None when it has none, which is not a price of zero."""
    settings: Any = model.settings
    asked = model_settings(model)
    return price_of(getattr(settings, "price", None), asked.name, asked.endpoint)


def is_simulated(spec: CellSpec) -> bool:
    """Whether a simulated model answers some of the cell's calls: such a run is watermarked."""
    return any(bool(getattr(model.cls, "simulated", False)) for model in (spec.model, *spec.roles.values()))


def close() -> None:
    """Close every store; the next cell makes its own again."""
    with _lock:
        for value in _made.values():
            if isinstance(value, ResponseStore):
                value.close()
        _made.clear()


def _transport(model: Part) -> Any:
    return model.cls(model.settings)


def _store(spec: CellSpec) -> ResponseStore:
    path = Path(spec.cache.path)
    if spec.cache.mode == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
    return ResponseStore(path, spec.cache.mode)


def _limits(spec: CellSpec) -> Limits:
    caps = spec.limits
    return Limits(
        calls=caps.calls, tokens=caps.tokens, dollars=caps.dollars, cell_calls=caps.cell_calls, cell_tokens=caps.cell_tokens,
        concurrency=caps.concurrency,
    )  # fmt: skip


def _once(key: str, make: Any) -> Any:
    if key not in _made:
        _made[key] = make()
    return _made[key]
