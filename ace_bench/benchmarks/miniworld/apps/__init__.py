"""The apps of the world. Each module declares one; the order here is the order of the docs."""

from __future__ import annotations

from ace_bench.benchmarks.miniworld.apps import contacts, docs, notes, supervisor, todo, wallet
from ace_bench.benchmarks.miniworld.registry import App

APPS: dict[str, App] = {module.app.name: module.app for module in (docs, supervisor, contacts, notes, wallet, todo)}
docs.known.update(APPS)
