"""What one cell will ask: calls, tokens and dollars by purpose, out of what its method and its benchmark declare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ace_bench.experiment import shared
from ace_bench.experiment.build import Built
from ace_bench.experiment.planning import stretches, texts
from ace_bench.experiment.planning.amounts import NOTHING, UNKNOWN, Amount, exactly, merged, total
from ace_bench.experiment.planning.stretches import Stretch
from ace_bench.experiment.planning.texts import Texts
from ace_bench.experiment.spec import CellSpec, OfflineSpec, OnlineSpec, Part
from ace_bench.llm.limits import output_bound
from ace_bench.llm.prices import PER, Price

UNDECLARED = "undeclared"  # the purpose of calls of a method that does not say what it asks
Counts = dict[str, Amount]


@dataclass(frozen=True, slots=True)
class Need:
    """Of one purpose: calls, input and output tokens, dollars (None: the model has no price)."""

    calls: Amount
    input: Amount
    output: Amount
    dollars: Amount | None

    def times(self, cells: int) -> Need:
        """The same for so many cells."""
        n = exactly(cells)
        return Need(self.calls * n, self.input * n, self.output * n, None if self.dollars is None else self.dollars * n)


NO_NEED = Need(NOTHING, NOTHING, NOTHING, NOTHING)


def summed(needs: list[Need]) -> Need:
    """Their sum; one unpriced part makes the dollars unpriced."""
    dollars = [need.dollars for need in needs]
    known = [amount for amount in dollars if amount is not None]
    return Need(
        total(n.calls for n in needs), total(n.input for n in needs), total(n.output for n in needs),
        total(known) if len(known) == len(dollars) else None,
    )  # fmt: skip


def needs(spec: CellSpec, built: Built) -> dict[str, Need]:
    """By purpose. Nothing is asked and nothing is run for it."""
    made = _Cell(spec, built)
    parts = [made.stretch(one) for one in made.stretches] + ([made.fit()] if made.batch else [])
    out: dict[str, Need] = {}
    for part in parts:
        for purpose, need in part.items():
            out[purpose] = summed([out.get(purpose, NO_NEED), need])
    return {purpose: need for purpose, need in out.items() if need.calls.high != 0}


class _Cell:
    """One cell under the arithmetic."""

    def __init__(self, spec: CellSpec, built: Built) -> None:
        self.spec, self.streams = spec, built.streams
        self.cls, self.settings = spec.method.cls, spec.method.settings
        self.batch = isinstance(spec.protocol, OfflineSpec) and hasattr(self.cls, "fit")
        splits = {"train": built.streams.train, "val": built.streams.val, "test": built.streams.test}
        start = None if built.start is None else built.start.playbook.render()
        self.texts: Texts = texts.measure(built.prompts, splits, start)
        self.attempt = _declared(spec.benchmark, "expected_calls", {"solve": Amount(1, None)})
        self.prepare = _declared(spec.method, "expected_prepare_calls", {})
        self.growth = self._growth()
        self.stretches = self._stretches()

    def _stretches(self) -> list[Stretch]:
        train, val, test = (len(split) for split in (self.streams.train, self.streams.val, self.streams.test))
        match self.spec.protocol:
            case OnlineSpec(window=window, probe=probe):
                return stretches.online(test, window, probe)
            case OfflineSpec(epochs=epochs, eval_every=every, probe=probe):
                if self.batch:
                    return stretches.fitted(train, test)
                validates = self.spec.select == "gt"
                return stretches.offline(
                    train, val, test, epochs=epochs, eval_every=every, validates=validates, probe=probe
                )
            case _:
                return stretches.frozen(test)

    def stretch(self, one: Stretch) -> dict[str, Need]:
        """Its visits: each prepares, attempts and perhaps learns."""
        asked = [self.prepare, self.attempt]
        if one.learns:
            asked.append(self.attempts(_declared(self.spec.method, "expected_calls", {UNDECLARED: UNKNOWN})))
        calls = {purpose: count * exactly(one.visits) for purpose, count in merged(asked).items()}
        return self.priced(calls, self.texts.tasks.get(one.split, self.texts.largest), self.context(one.updates))

    def fit(self) -> dict[str, Need]:
        """A batch method's one step, over training and validation tasks of any size."""
        declare = getattr(self.cls, "expected_fit_calls", None)
        asked: Counts = {UNDECLARED: UNKNOWN}
        if declare is not None:
            asked = _amounts(declare(self.settings, len(self.streams.train), len(self.streams.val)))
        whole = self.context(len(self.streams.train))
        return self.priced(self.attempts(asked), self.texts.largest, Amount(0, whole.high))

    def attempts(self, asked: Counts) -> Counts:
        """`asked` with its attempts ("solve") spelled out as the benchmark's calls."""
        tries = asked.get("solve", NOTHING)
        rest = {purpose: count for purpose, count in asked.items() if purpose != "solve"}
        return merged([rest, {purpose: count * tries for purpose, count in self.attempt.items()}])

    def context(self, updates: float) -> Amount:
        """Tokens of the context after so many updates."""
        return self.texts.start + self.growth * exactly(updates)

    def _growth(self) -> Amount:
        declare = getattr(self.cls, "expected_growth", None)
        if declare is not None:
            return Amount(*declare(self.settings))
        return Amount(0, texts.GROWTH + (self.texts.largest.high or 0))

    def priced(self, calls: Counts, task: Amount, context: Amount) -> dict[str, Need]:
        """Tokens and dollars of calls about such a task with such a context."""
        turns = self.attempt.get("solve", exactly(1))
        reply = self.output("solve", context)
        out = {}
        for purpose, count in calls.items():
            if purpose not in texts.SHORTEST or purpose == "embed":  # embeddings: counted as calls only
                out[purpose] = Need(count, UNKNOWN, UNKNOWN, UNKNOWN)
                continue
            read = count * texts.prompt(self.texts, purpose, task, context, reply, turns)
            written = count * self.output(purpose, context)
            out[purpose] = Need(count, read, written, dollars(shared.price(self.model(purpose)), read, written))
        return out

    def model(self, purpose: str) -> Part:
        """The model that answers `purpose`."""
        roles: Mapping[Any, Part] = self.spec.roles
        return roles.get(purpose, self.spec.model)

    def output(self, purpose: str, context: Amount) -> Amount:
        model = self.model(purpose)
        limit = output_bound(shared.model_settings(model).params)
        return texts.output(purpose, context, limit, bool(getattr(model.cls, "simulated", False)))


def dollars(price: Price | None, read: Amount, written: Amount) -> Amount | None:
    """From all tokens at the cheapest class they can be (all of the input cached) to all at the dearest."""
    if price is None:
        return None
    low = read.low * min(price.input, price.cached_input) + written.low * min(price.output, price.reasoning)
    if read.high is None or written.high is None:
        return Amount(low / PER, None)
    high = read.high * max(price.input, price.cached_input, price.cache_write)
    return Amount(low / PER, (high + written.high * max(price.output, price.reasoning)) / PER)


def _declared(part: Part, name: str, otherwise: Counts) -> Counts:
    declare = getattr(part.cls, name, None)
    return otherwise if declare is None else _amounts(declare(part.settings))


def _amounts(declared: Mapping[str, tuple[int, int]]) -> Counts:
    return {purpose: Amount(low, high) for purpose, (low, high) in declared.items()}
