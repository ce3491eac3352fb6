"""What one cell asks: draws, addresses, structured replies with one repair, and the `calls` rows."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ace_bench.llm.client import Client, Outcome
from ace_bench.llm.rows import Row, call_rows
from ace_bench.llm.types import CallStopped, Message, Purpose, Reply, Request, drawn

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ace_bench.llm.embedders.base import Array
    from ace_bench.llm.embedders.metered import Embeddings

# Parameters that are not the user's to set: another part of the request says them, or they would change its meaning.
_RESERVED = frozenset({"model", "messages", "seed", "n", "stream", "tools", "response_format", "api_key", "api_base",
                       "base_url", "timeout", "num_retries", "max_retries", "extra_headers"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model, where, and how it samples. All of it is part of the cache key except `share_greedy`.

    `endpoint` is a base URL (http...) or the name of a provider. `params` are sent as they are, None values left out.
    `share_greedy`: at temperature 0, let equal requests share one response over seeds and draws. `json_mode`: ask the
    provider for a JSON object whenever a schema is asked for. A reserved parameter is a ValueError.
    """

    name: str
    endpoint: str
    params: Mapping[str, Any] = field(default_factory=dict)
    share_greedy: bool = False
    json_mode: bool = False

    def __post_init__(self) -> None:
        if wrong := sorted(_RESERVED & self.params.keys()):
            raise ValueError(
                f"model.params of {self.name!r} sets {', '.join(wrong)}, which ace_bench sets itself or cannot honour. "
                "Remove it; params is for sampling, such as temperature, top_p and max_tokens."
            )

    @property
    def shares(self) -> bool:
        """Whether equal requests share one response whatever the seed and draw."""
        return self.share_greedy and self.params.get("temperature") == 0

    def sent(self) -> tuple[tuple[str, Any], ...]:
        """The parameters in the order of their names."""
        return tuple(sorted((k, v) for k, v in self.params.items() if v is not None))


@dataclass(frozen=True, slots=True)
class Route:
    """Where calls of a purpose go: a client and the settings of its model."""

    client: Client
    settings: ModelSettings


class Session:
    """All model calls of one cell. Thread-safe; once stopped (limit, provider, replay miss) it stays so.

    `seed` is the run's seed and goes into every request, `cell` the cell's id, `instance` the random id of its folder,
    `used` the request digests in the cell's journal, so that a resumed cell goes on counting draws where it was.
    `roles` gives purposes a model of their own (paper, Table 16: the Reflector's); the others use `settings`.
    `embeddings` answers `embed`; a cell whose method does not embed has none.
    Raises ValueError when the client's limits cannot be kept for this model.
    """

    def __init__(
        self,
        client: Client,
        settings: ModelSettings,
        seed: int,
        cell: str,
        instance: str,
        used: Iterable[str] = (),
        roles: Mapping[str, Route] | None = None,
        embeddings: Embeddings | None = None,
    ) -> None:
        self._main, self._roles = Route(client, settings), dict(roles or {})
        for route in (self._main, *self._roles.values()):
            route.client.limits.check(route.settings.name, route.settings.params, route.client.price)
        self.embeddings = embeddings
        if embeddings is not None:
            self._roles["embed"] = Route(embeddings.client, ModelSettings(embeddings.model, embeddings.endpoint))
        self.seed, self.cell, self.instance = seed, cell, instance
        self._used = set(used)
        self._next: dict[str, int] = {}  # first draw of a stem that may be free: saves trying all of them again
        self._lock = threading.Lock()
        self._stop: CallStopped | None = None

    def step(self, phase: str, epoch: int, round: int, position: int) -> StepCalls:
        """The calls of one step, addressed by these four."""
        return StepCalls(self, phase, epoch, round, position)

    def route(self, purpose: str) -> Route:
        """The model that answers calls of `purpose`."""
        return self._roles.get(purpose, self._main)

    def request(
        self, settings: ModelSettings, messages: Sequence[Message], sample: str | None, schema: str | None
    ) -> tuple[Request, str]:
        """The next request with these messages, and its digest. Takes the lowest draw this cell has not used yet."""
        shared = settings.shares
        request = Request(
            model=settings.name,
            endpoint=settings.endpoint,
            messages=tuple(dict(m) for m in messages),  # the caller may change its own afterwards
            params=settings.sent(),
            seed=0 if shared else self.seed,
            draw=("" if shared else sample or "", 0),
            schema=schema,
        )
        stem = request.stem()
        scope, first = request.draw[0], drawn(stem, request.draw)
        if shared:
            return request, first
        with self._lock:
            n = self._next.get(first, 0)
            digest = drawn(stem, (scope, n)) if n else first
            while digest in self._used:
                n += 1
                digest = drawn(stem, (scope, n))
            self._used.add(digest)
            if n:
                self._next[first] = n + 1
        return (replace(request, draw=(scope, n)) if n else request), digest

    def complete(self, request: Request, purpose: Purpose, payer: str, digest: str) -> Outcome:
        """Pass on to the client, unless this session was stopped; then the same stop is raised again."""
        if self._stop is not None:
            raise type(self._stop)(str(self._stop))
        try:
            return self.route(purpose).client.complete(request, purpose, payer, self.cell, digest)
        except CallStopped as stop:
            self._stop = self._stop or stop
            raise


class StepCalls:
    """The calls of one step of the cell's journal. `ask` may be called from several threads.

    Then, though, the order of their ordinals depends on timing, and with it which of them a resume finds paid.
    """

    def __init__(self, session: Session, phase: str, epoch: int, round: int, position: int) -> None:
        self.session = session
        self.address = {"cell": session.cell, "phase": phase, "epoch": epoch, "round": round, "position": position}
        self._payer = f"{session.instance}/{session.cell}/{phase}/{epoch}/{round}/{position}/"
        self._rows: dict[int, list[Row]] = {}
        self._asked = 0
        self._lock = threading.Lock()

    @property
    def rows(self) -> list[Row]:
        """The `calls` rows so far: by ordinal, then by attempt."""
        with self._lock:
            return [row for ordinal in sorted(self._rows) for row in self._rows[ordinal]]

    def ask(
        self,
        purpose: Purpose,
        messages: Sequence[Message],
        *,
        call_phase: str,
        sample: str | None,
        schema: type[BaseModel] | None = None,
        repair: bool = True,
        shapes_state: bool = False,
    ) -> Reply:
        """One model call, and one more when `schema` is asked for, the reply does not fit and `repair` allows it.

        A reply that was refused, empty, cut or too long for the model is not repaired. Raises ProviderFailure,
        BudgetExceeded or ReplayMiss (BaseExceptions), also for every later ask of the session.
        """
        common: Row = {"sample": sample, "purpose": purpose, "call_phase": call_phase, "shapes_state": shapes_state}
        reply = self._ask(messages, schema, {**common, "repair": False})
        if schema is None or reply.data is not None or not repair or reply.status != "ok":
            return reply
        again = [*messages, {"role": "assistant", "content": reply.text}, _correction(reply.problem or "", schema)]
        return self._ask(again, schema, {**common, "repair": True})

    def _ask(self, messages: Sequence[Message], schema: type[BaseModel] | None, common: Row) -> Reply:
        session = self.session
        ordinal, _ = self.claim()
        route = session.route(common["purpose"])
        wanted = _schema_text(schema) if schema is not None and route.settings.json_mode else None
        request, digest = session.request(route.settings, messages, common["sample"], wanted)
        return _reply(self.call(ordinal, request, digest, common), digest, schema)

    def embed(self, texts: Sequence[str], *, call_phase: str, sample: str | None, shapes_state: bool = False) -> Array:
        """(n, d) float32 unit rows for the texts (see `embedders.metered`). Raises as `ask` does."""
        common: Row = {"sample": sample, "call_phase": call_phase, "shapes_state": shapes_state}
        return self.embeddings.embed(self, texts, common)

    @property
    def embeddings(self) -> Embeddings:
        """The cell's embeddings. Raises RuntimeError when its method did not say that it embeds."""
        if self.session.embeddings is None:
            raise RuntimeError(
                "This cell has no embedder, yet its method asks for one. A method that embeds says so: its class has "
                "`embeds(settings) -> bool`, a classmethod, true for settings that do."
            )
        return self.session.embeddings

    def claim(self) -> tuple[int, str]:
        """The next ordinal of the step, and the payer's address of the call that takes it."""
        with self._lock:
            ordinal, self._asked = self._asked, self._asked + 1
        return ordinal, f"{self._payer}{ordinal}"

    def call(self, ordinal: int, request: Request, digest: str, common: Row) -> Outcome:
        """The answer to a request made ready; its rows are kept, also those of an ask that got no reply."""
        price = self.session.route(common["purpose"]).client.price
        head = {**self.address, "ordinal": ordinal, **common}
        try:
            outcome = self.session.complete(request, common["purpose"], f"{self._payer}{ordinal}", digest)
        except CallStopped as stop:
            self.record(ordinal, call_rows(head, request, digest, stop.attempts, price))
            raise
        self.record(ordinal, call_rows(head, request, digest, outcome.attempts, price, outcome))
        return outcome

    def record(self, ordinal: int, rows: list[Row]) -> None:
        """Keep these rows as those of the call, in place of what was kept before."""
        with self._lock:
            self._rows[ordinal] = rows

    def recorded(self, ordinal: int) -> list[Row]:
        """The rows of a call."""
        with self._lock:
            return self._rows[ordinal]


def _reply(outcome: Outcome, digest: str, schema: type[BaseModel] | None) -> Reply:
    done = outcome.completion
    data, problem = None, None
    if schema is not None and done.status in ("ok", "truncated"):
        from ace_bench.llm.structured import parse  # brings pydantic; only who asks for a schema needs it

        parsed = parse(done.text, schema)
        data, problem = parsed.data, parsed.problem
    if schema is not None and data is None and done.status != "ok":
        problem = done.status
    extra = {"key": digest, "latency_s": done.latency_s}
    return Reply(done.text, done.status, done.finish_reason, data, problem, done.reasoning_text, extra)


def _correction(problem: str, schema: type[BaseModel]) -> Message:
    """What the model is told when its reply did not fit."""
    content = (
        f"That reply could not be used: {problem}. Send the whole reply once more, as one JSON object and nothing "
        f"else, with these fields: {', '.join(schema.model_fields)}."
    )
    return {"role": "user", "content": content}


@functools.lru_cache(maxsize=64)
def _schema_text(schema: type[BaseModel]) -> str:
    return json.dumps(schema.model_json_schema(), sort_keys=True)
