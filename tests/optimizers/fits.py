"""A fit in a temporary folder: what the tests of the optimisers run."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from harness import PROMPTS, Ran, Recorder, run, simulated

from ace_bench.benchmarks.rulebook import Rulebook
from ace_bench.methods.optimizers.bootstrap_method import BootstrapFewShot
from ace_bench.methods.optimizers.gepa_method import Gepa
from ace_bench.methods.optimizers.miprov2_method import MiproV2
from ace_bench.methods.optimizers.textgrad_method import TextGrad
from ace_bench.protocols.offline import offline

METHODS = {"gepa": Gepa, "miprov2": MiproV2, "bootstrap_fewshot": BootstrapFewShot, "textgrad": TextGrad}
SEARCHERS = ("gepa", "miprov2", "textgrad")
SMALL: dict[str, dict[str, Any]] = {
    "gepa": {"metric_calls": 80}, "miprov2": {"metric_calls": 100}, "textgrad": {"metric_calls": 80},
    "bootstrap_fewshot": {},
}  # fmt: skip


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip where the library of a method is absent."""
    absent = [f"{name}: {said}" for name in names if (said := METHODS[name].missing())]
    return pytest.mark.skipif(bool(absent), reason="; ".join(absent) or "all there")


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def world(train: int = 24, val: int = 10, test: int = 8, **settings: Any) -> Rulebook:
    return Rulebook(Rulebook.Settings(train=train, val=val, test=test, **settings), PROMPTS)


def made(name: str, **knobs: Any) -> Any:
    cls = METHODS[name]
    return cls(cls.Settings(**{**SMALL[name], **knobs}), PROMPTS)


def fit(
    folder: Path, how: Any, *, benchmark: Rulebook | None = None, transport: Recorder | None = None, regime: str = "gt",
    seed: int = 0, mode: str = "write",
) -> Ran:  # fmt: skip
    """An offline run: fit on train and val, score on test. Again in the same folder, it resumes."""
    benchmark = benchmark or world()

    def protocol(timeline: Any, stream: Any) -> Any:
        train, val = (benchmark.samples(split) for split in ("train", "val"))
        return offline(timeline, train, val, stream, epochs=1, eval_every=100, select="gt")

    return run(
        folder,
        how,
        benchmark,
        transport=transport or simulated(),
        regime=regime,
        seed=seed,
        protocol=protocol,
        mode=mode,
    )


def log(ran: Ran) -> list[tuple[str, str]]:
    """The calls in order: purpose and request."""
    return [(c["purpose"], c["request"]) for c in sorted(ran.rows["calls"], key=_place)]


def _place(call: dict[str, Any]) -> tuple[Any, ...]:
    return (call["phase"], call["epoch"], call["round"], call["position"], call["ordinal"])
