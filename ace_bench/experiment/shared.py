"""What the cells of one process share: response stores, limits and clients. Made at first use, closed after the launch.

One client per model and experiment, so that a request two cells have in common is paid once (single flight).
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path
from typing import Any

from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.spec import CellSpec, Part
from ace_bench.llm import Client, Limits, ModelSettings, Price, ResponseStore, Route
from ace_bench.llm.embedders import Embedder
from ace_bench.llm.embedders.metered import Embeddings, embed_client
from ace_bench.llm.pricing import price_of
from ace_bench.llm.transports.replay import Unreachable

_lock = threading.Lock()
_made: dict[str, Any] = {}


def route(spec: CellSpec, model: Part) -> Route:
    """The client and settings of a model of the cell. Raises the sentences of store, limits and transport."""
    settings = model_settings(model)
    with _lock:
        store, caps = _common(spec)
        key = f"client {spec.cache} {spec.experiment_dir} {json.dumps(model.canonical(), sort_keys=True)}"
        made: Client = _once(
            key, lambda: Client(_transport(spec, model), store, caps, price=price(model), model=model.name)
        )
        return Route(made, settings)


def embeddings(spec: CellSpec, earlier: Iterable[str]) -> Embeddings | None:
    """What `run.embed` of the cell asks (None: its method does not embed). `earlier`: see `Embeddings`."""
    made, part = embedder(spec), spec.embedder
    if made is None or part is None:
        return None
    settings: Any = part.settings
    with _lock:
        store, caps = _common(spec)
        billed = price_of(getattr(settings, "price", None), getattr(settings, "model", part.name), made.endpoint)
        key = f"embed {spec.cache} {spec.experiment_dir} {json.dumps(part.canonical(), sort_keys=True)}"
        client: Client = _once(key, lambda: embed_client(made, store, caps, billed))
    return Embeddings(client, made, settings.threshold, earlier)


def embedder(spec: CellSpec) -> Embedder | None:
    """The embedder of the cell, its weights loaded once a process; None when its method does not embed."""
    part = spec.embedder
    if part is None:
        return None
    with _lock:
        key = f"embedder {json.dumps(part.canonical(), sort_keys=True)}"
        made: Embedder = _once(key, lambda: part.cls(part.settings))
        return made


def _common(spec: CellSpec) -> tuple[ResponseStore, Limits]:
    """The store and the limits of the cell's experiment. Call it under the lock."""
    store: ResponseStore = _once(f"store {spec.cache.mode} {spec.cache.path}", lambda: _store(spec))
    caps: Limits = _once(f"limits {spec.experiment_dir} {spec.canonical()['limits']}", lambda: limits(spec))
    return store, caps


def model_settings(model: Part) -> ModelSettings:
    """The request side of a model: name, endpoint, parameters."""
    asked: ModelSettings = model.settings.asked(model.name)  # type: ignore[attr-defined]
    return asked


def price(model: Part) -> Price | None:
    """The list price of a model; None when it has none, which is not a price of zero. `PlanError`: an unknown name."""
    settings: Any = model.settings
    asked = model_settings(model)
    try:
        return price_of(getattr(settings, "price", None), asked.name, asked.endpoint)
    except KeyError as e:
        raise PlanError(f"model.price of {model.name!r}: {e.args[0]}") from e


def price_digest(spec: CellSpec) -> str:
    """SHA-256 over the list prices the cell is billed at, sources and dates included."""
    models = [("", spec.model), *sorted((str(role), model) for role, model in spec.roles.items())]
    prices = [(role, astuple(found) if (found := price(model)) else None) for role, model in models]
    return hashlib.sha256(repr(prices).encode()).hexdigest()


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


def _transport(spec: CellSpec, model: Part) -> Any:
    """The transport, unless the run is a replay: that reaches nobody, so it needs no key and no provider's library."""
    return Unreachable() if spec.cache.mode == "replay" else model.cls(model.settings)


def _store(spec: CellSpec) -> ResponseStore:
    path = Path(spec.cache.path)
    if spec.cache.mode == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
    return ResponseStore(path, spec.cache.mode)


def limits(spec: CellSpec) -> Limits:
    """The caps and the pace that the config asks for."""
    caps = spec.limits
    return Limits(
        calls=caps.calls, tokens=caps.tokens, dollars=caps.dollars, cell_calls=caps.cell_calls,
        cell_tokens=caps.cell_tokens, cell_dollars=caps.cell_dollars, concurrency=caps.concurrency,
        requests_per_minute=caps.requests_per_minute, tokens_per_minute=caps.tokens_per_minute,
    )  # fmt: skip


def _once(key: str, make: Any) -> Any:
    if key not in _made:
        _made[key] = make()
    return _made[key]
