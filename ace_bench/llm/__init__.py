"""The one door to every model: a metered, cached, bounded client, and the session a cell asks through.

Names are loaded when first used, so that importing this package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ace_bench.llm.cache import ResponseStore as ResponseStore
    from ace_bench.llm.cache import StoreError as StoreError
    from ace_bench.llm.client import Client as Client
    from ace_bench.llm.client import Outcome as Outcome
    from ace_bench.llm.limits import Limits as Limits
    from ace_bench.llm.limits import Spent as Spent
    from ace_bench.llm.prices import Price as Price
    from ace_bench.llm.prices import cost as cost
    from ace_bench.llm.retry import RetryPolicy as RetryPolicy
    from ace_bench.llm.session import ModelSettings as ModelSettings
    from ace_bench.llm.session import Route as Route
    from ace_bench.llm.session import Session as Session
    from ace_bench.llm.session import StepCalls as StepCalls

_HOME = {
    "ResponseStore": "cache", "StoreError": "cache", "Client": "client", "Outcome": "client", "Limits": "limits",
    "Spent": "limits", "Price": "prices", "cost": "prices", "RetryPolicy": "retry", "ModelSettings": "session",
    "Route": "session",
    "Session": "session", "StepCalls": "session",
}  # fmt: skip
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
