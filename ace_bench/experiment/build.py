"""From a checked cell to the objects that run it. Everything here is a plug-in's constructor called with its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ace_bench.contracts import Benchmark, Method, Sample
from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.spec import CellSpec, OfflineSpec
from ace_bench.experiment.warm import Warm, warm
from ace_bench.prompts import Prompts
from ace_bench.protocols.orders import order_digest, ordered


@dataclass(frozen=True, slots=True)
class Streams:
    """The samples a protocol walks through, in the order of the cell."""

    train: Sequence[Sample]
    val: Sequence[Sample]
    test: Sequence[Sample]

    def digest(self) -> str:
        """SHA-256 over the ids in order, of train and test."""
        return order_digest([*self.train, *self.test])

    def steps(self, spec: CellSpec) -> int:
        """How many steps the protocol takes over them: for progress."""
        if not isinstance(spec.protocol, OfflineSpec):
            again = spec.protocol.name == "online" and spec.protocol.window > 1
            return len(self.test) * (2 if again else 1)
        adapt = spec.protocol.epochs * len(self.train)
        passes = 1 + -(-adapt // spec.protocol.eval_every) if spec.select == "gt" else 0
        return adapt + passes * len(self.val) + len(self.test)


@dataclass(frozen=True, slots=True)
class Built:
    """The parts of a cell."""

    prompts: Prompts
    benchmark: Benchmark
    method: Method
    streams: Streams
    start: Warm | None = None


def build(spec: CellSpec) -> Built:
    """Make the parts. Raises `PlanError` where the data does not carry the protocol (an empty split)."""
    prompts = _prompts(spec)
    benchmark: Benchmark = spec.benchmark.cls(spec.benchmark.settings, prompts)
    start = warm(spec.start) if spec.start else None
    method: Method = spec.method.cls(spec.method.settings, prompts, start.playbook if start else None)
    return Built(prompts, benchmark, method, _streams(spec, benchmark), start)


def check_data(spec: CellSpec) -> None:
    """Read the data of a cell, before anything runs. Raises `PlanError` with what is wrong with it, and where."""
    try:
        _streams(spec, spec.benchmark.cls(spec.benchmark.settings, _prompts(spec)))
    except PlanError:
        raise
    except Exception as e:  # a loader's own sentence: file, line and reason
        raise PlanError(f"benchmark={spec.benchmark.name}: {e.args[0] if isinstance(e, KeyError) else e}") from e


def left_out(benchmark: Benchmark) -> list[str]:
    """The rows that a benchmark on files left out as bad (`on_bad_row: skip`), a sentence each; none is lost silently."""
    if not hasattr(benchmark, "file"):
        return []
    read = [benchmark.file(split) for split in benchmark.splits()]
    return [str(bad) for file in read if file is not None for bad in file.bad]


def _prompts(spec: CellSpec) -> Prompts:
    return Prompts.open(spec.prompts, labels=spec.feedback.regime == "gt")


def _streams(spec: CellSpec, benchmark: Benchmark) -> Streams:
    """The splits in order. Orders touch what is adapted on; a frozen test pass keeps file order."""
    kind, seed = spec.order.kind, spec.order.seed
    test = tuple(benchmark.samples("test"))
    if not isinstance(spec.protocol, OfflineSpec):
        _refuse_empty(spec, {"test": test})
        return Streams((), (), ordered(test, kind, seed) if spec.protocol.name == "online" else test)
    train, val = ordered(benchmark.samples("train"), kind, seed), tuple(benchmark.samples("val"))
    _refuse_empty(spec, {"train": train, "test": test} | ({"val": val} if spec.select == "gt" else {}))
    return Streams(train, val, test)


def _refuse_empty(spec: CellSpec, splits: Mapping[str, Sequence[Sample]]) -> None:
    for split, samples in splits.items():
        if not samples:
            raise PlanError(
                f"protocol {spec.protocol.name} needs the {split} split of benchmark {spec.benchmark.name}, which is empty; "
                f"give benchmark.{split}=PATH" + (" or select=last" if split == "val" else "")
            )
