"""What a run may spend and how fast: reserved before a call under one lock, settled after it (known fault B16)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ace_bench.llm.pace import FREE, Gate
from ace_bench.llm.prices import Price, cost
from ace_bench.llm.types import BudgetExceeded, Request, Usage

OUTPUT_CAPS = ("max_tokens", "max_completion_tokens")
_PER_MESSAGE = 8  # tokens a chat template may add around a message, beyond its own bytes
_SHOWN = {"calls": "model calls", "tokens": "tokens", "dollars": "dollars"}


@dataclass(slots=True)
class Spent:
    """Calls (attempts at a provider), tokens and dollars; of one cell or of all."""

    calls: float = 0
    tokens: float = 0
    dollars: float = 0.0

    def add(self, other: Spent, sign: int = 1) -> None:
        """Add (or with -1 take away) in place."""
        self.calls += sign * other.calls
        self.tokens += sign * other.tokens
        self.dollars += sign * other.dollars


@dataclass(slots=True)
class _Account:
    """One budget: what is used, what calls under way may still use, and the caps."""

    name: str  # "" for the experiment, "cell_" for a cell: the prefix of the cap's option
    caps: Mapping[str, float | None]
    used: Spent = field(default_factory=Spent)
    held: Spent = field(default_factory=Spent)

    def obstacle(self, want: Spent, with_held: bool) -> str | None:
        """The kind of cap that `want` would pass, or None."""
        for kind, cap in self.caps.items():
            total = getattr(self.used, kind) + getattr(want, kind) + (getattr(self.held, kind) if with_held else 0)
            if cap is not None and total > cap + 1e-9:
                return kind
        return None


class Limits:
    """Caps for an experiment and for each of its cells, and the pace at each endpoint. None = no such limit.

    `calls` counts attempts that reach for a provider, `tokens` input and output together, `dollars` list prices.
    Answers from the cache take nothing. `concurrency`, `requests_per_minute` and `tokens_per_minute` hold for each
    endpoint; they queue and never reject (tokens by a quarter of the prompt's bytes, plus max_tokens). One object
    serves all threads of a process; limits are not shared between processes.
    """

    def __init__(
        self,
        *,
        calls: int | None = None,
        tokens: int | None = None,
        dollars: float | None = None,
        cell_calls: int | None = None,
        cell_tokens: int | None = None,
        cell_dollars: float | None = None,
        concurrency: int | None = None,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        for name, value in (("concurrency", concurrency), ("requests_per_minute", requests_per_minute),
                            ("tokens_per_minute", tokens_per_minute)):  # fmt: skip
            if value is not None and value <= 0:
                raise ValueError(f"limits.{name} is {value}, so no call could ever start. Give more than 0, or null.")
        self._cell_caps = {"calls": cell_calls, "tokens": cell_tokens, "dollars": cell_dollars}
        self._all = _Account("", {"calls": calls, "tokens": tokens, "dollars": dollars})
        self._cells: dict[str, _Account] = {}
        self._gates: dict[str, Gate] = {}
        self._pace = (concurrency, requests_per_minute, tokens_per_minute)
        self._clock, self._sleep = clock, sleep
        self._changed = threading.Condition()

    def check(self, model: str, params: Mapping[str, Any], price: Price | None) -> None:
        """Refuse, with a sentence (ValueError), caps that could not be kept for this model and these parameters."""
        caps = (*self._all.caps.items(), *self._cell_caps.items())
        capped = {kind for kind, cap in caps if cap is not None}
        if "dollars" in capped and price is None:
            raise ValueError(
                f"A dollar cap is set, but model {model!r} has no price, so the cap could never fire. "
                "Declare a price for it (0 if it is free), or cap calls or tokens instead."
            )
        if capped & {"tokens", "dollars"} and output_bound(params) is None:
            raise ValueError(
                f"A cap on tokens or dollars is set, but the parameters of model {model!r} bound no output. "
                "Set max_tokens, so that the worst case of a call can be reserved before it starts."
            )

    def spent(self, cell: str | None = None) -> Spent:
        """What was used so far, by one cell or by all."""
        with self._changed:
            account = self._all if cell is None else self._account(cell)
            return Spent(account.used.calls, account.used.tokens, account.used.dollars)

    def charge(self, cell: str, spent: Spent) -> None:
        """Enter what was paid earlier (before a resume). Never refuses; the next reservation may be."""
        with self._changed:
            for account in (self._all, self._account(cell)):
                account.used.add(spent)

    def charge_attempt(self, cell: str, usage: Usage, price: Price | None) -> None:
        """Enter one attempt that this cell paid for before it was killed. Unreported tokens count as none here."""
        self.charge(cell, true_spend(usage, Spent(1), price))

    @contextmanager
    def place(self, request: Request, cell: str, price: Price | None) -> Iterator[Place]:
        """Wait for a place at the endpoint and reserve the worst case; on leaving, settle to `place.usage`.

        Raises `BudgetExceeded` when the call would pass a cap even after the calls under way have ended.
        """
        began = self._clock()
        size = prompt_bytes(request.messages)
        output = output_bound(dict(request.params)) or 0
        want = Spent(1, size + output, price.worst_case(size, output) if price else 0.0)
        gate = self._gate(request.endpoint)
        with gate.slots or FREE:
            self._reserve(cell, want)
            place = Place(0.0)
            try:
                gate.wait_turn(size / 4 + output)
                place.queue_s = max(0.0, self._clock() - began)
                yield place
            finally:
                self._settle(cell, want, true_spend(place.usage, want, price))

    def _reserve(self, cell: str, want: Spent) -> None:
        with self._changed:
            accounts = (self._all, self._account(cell))
            while any(account.obstacle(want, with_held=True) for account in accounts):
                for account in accounts:
                    if kind := account.obstacle(want, with_held=False):
                        raise BudgetExceeded(_refusal(account, kind, want, cell))
                self._changed.wait()  # calls under way hold their worst case; what they leave may be enough
            for account in accounts:
                account.held.add(want)

    def _settle(self, cell: str, want: Spent, true: Spent) -> None:
        with self._changed:
            for account in (self._all, self._account(cell)):
                account.held.add(want, -1)
                if not account.held.calls:
                    account.held = Spent()  # no rounding error of a sum of dollars may stay behind
                account.used.add(true)
            self._changed.notify_all()

    def _account(self, cell: str) -> _Account:
        return self._cells.setdefault(cell, _Account("cell_", self._cell_caps))

    def _gate(self, endpoint: str) -> Gate:
        with self._changed:
            if endpoint not in self._gates:
                self._gates[endpoint] = Gate(*self._pace, self._clock, self._sleep)
            return self._gates[endpoint]


@dataclass(slots=True)
class Place:
    """A call's place: how long it waited for it, and the `usage` to settle to (None: keep all that was reserved)."""

    queue_s: float
    usage: Usage | None = None


def prompt_bytes(messages: tuple[Mapping[str, str], ...]) -> int:
    """A bound on the input tokens: no token is less than a byte of UTF-8."""
    return sum(_utf8(m["content"]) + _utf8(m["role"]) + _PER_MESSAGE for m in messages)


def output_bound(params: Mapping[str, Any]) -> int | None:
    """The most output tokens the parameters allow, or None when they set no bound."""
    caps = [int(params[name]) for name in OUTPUT_CAPS if params.get(name) is not None]
    return max(caps) if caps else None


def true_spend(usage: Usage | None, worst: Spent, price: Price | None) -> Spent:
    """What an attempt used; of an unknown the worst case (an unknown is not a zero)."""
    if usage is None or usage.input is None or usage.output is None:
        return worst
    return Spent(1, (usage.input_total() or 0) + (usage.output_total() or 0), cost(price, usage) or 0.0)


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _refusal(account: _Account, kind: str, want: Spent, cell: str) -> str:
    whose = f"cell {cell}" if account.name else "the experiment"
    used, more, cap = (getattr(account.used, kind), getattr(want, kind), account.caps[kind])
    return (
        f"The cap of {cap:g} {_SHOWN[kind]} for {whose} is reached: {used:g} used, and the next call may need {more:g} "
        f"more. Nothing was sent for it. Raise limits.{account.name}{kind} and run the same command again to go on."
    )
