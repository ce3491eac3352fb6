"""The embeddings of one cell: asked through the same client, store, limits and rows as completions.

What is *needed* must not depend on what some cache holds, so a text counts once a cell: the first step that shapes the
state and asks for it makes the row. A step that only scores leaves no such mark, for such steps may run side by side.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ace_bench.llm.cache import Stored, StoreError
from ace_bench.llm.client import Client, Outcome, decode, encode
from ace_bench.llm.embedders.base import LOCAL, Array, Embedder
from ace_bench.llm.embedders.packing import Vector, pack, pack_one, shares, text_key, together, unpack, unpack_one
from ace_bench.llm.limits import Limits
from ace_bench.llm.prices import Price
from ace_bench.llm.retry import of_completion
from ace_bench.llm.rows import Row, call_rows
from ace_bench.llm.types import Completion, ProviderFailure, Purpose, Request

if TYPE_CHECKING:
    from ace_bench.llm.cache import ResponseStore
    from ace_bench.llm.session import StepCalls

FREE = Price(0.0, 0.0, 0.0, 0.0, 0.0, "computed on this machine", "")


class EmbedTransport:
    """An embedder as the client knows it: the contents of the messages are the texts, the reply packs their vectors."""

    simulated = False

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def complete(self, request: Request, purpose: Purpose, request_digest: str) -> Completion:
        """One attempt at embedding all texts of the request."""
        import time

        texts = [message["content"] for message in request.messages]
        keys = [text_key(request.model, request.endpoint, text) for text in texts]
        began = time.perf_counter()
        rows, usage = self.embedder.embed(texts)
        took = time.perf_counter() - began
        return Completion(pack(keys, rows), "ok", None, usage, request.model, took)


def embed_client(embedder: Embedder, store: ResponseStore, limits: Limits, price: Price | None) -> Client:
    """The client of an embedder. One on this machine is free, and takes nothing of the limits."""
    local = embedder.endpoint == LOCAL
    return Client(
        EmbedTransport(embedder),
        store,
        Limits() if local else limits,
        price=FREE if local else price,
        model=embedder.id,
    )


class Embeddings:
    """What `run.embed` of a cell asks. Thread-safe. `earlier` are the requests of its recorded embed rows that settle.

    `threshold` is the embedder's own (its Settings). A text whose vector cannot be found again on resume (a cache that
    records nothing) is asked for anew.
    """

    def __init__(self, client: Client, embedder: Embedder, threshold: float, earlier: Iterable[str] = ()) -> None:
        self.client, self.threshold = client, threshold
        self.model, self.endpoint, self.batch = embedder.id, embedder.endpoint, embedder.batch
        self._settled: dict[str, Array] = {}
        self._lock = threading.Lock()
        for key in earlier:
            if (stored := client.store.get(key)) is not None:
                self._settled.update(unpack(decode(stored, client.store)[0].text))

    def embed(self, calls: StepCalls, texts: Sequence[str], common: Row) -> Array:
        """(n, d) float32 unit rows, in the order of `texts`; (0, 0) for none. Rows go to `calls`.

        `common` holds sample, call_phase and shapes_state of the rows. Raises CallStopped, as an ask does.
        """
        import numpy as np

        wanted = {text_key(self.model, self.endpoint, text): text for text in texts}
        with self._lock:
            found = {key: self._settled[key] for key in wanted if key in self._settled}
        new = [key for key in wanted if key not in found]
        for start in range(0, len(new), self.batch):
            chunk = {key: wanted[key] for key in new[start : start + self.batch]}
            found |= _Call(self, calls, chunk, {**common, "purpose": "embed", "repair": False}).vectors()
        if settles(common):
            with self._lock:
                self._settled.update({key: found[key] for key in new})
        rows = [found[text_key(self.model, self.endpoint, text)] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, 0), np.float32)


def settles(row: Mapping[str, Any]) -> bool:
    """Whether the texts of an embed row count as embedded for all later steps: one step at a time shapes the state."""
    return row["call_phase"] == "adapt" or bool(row["shapes_state"])


class _Call:
    """One call: texts that this cell has not settled, some of which the store may know from others."""

    def __init__(self, of: Embeddings, calls: StepCalls, texts: dict[str, str], common: Row) -> None:
        self.of, self.store, self.calls, self.texts, self.common = of, of.client.store, calls, texts, common
        self.ordinal, self.payer = calls.claim()
        self.request, self.key = self._request(texts)

    def vectors(self) -> dict[str, Array]:
        """The vectors by key; the rows are recorded, and what was new is durable."""
        with _told():
            known, own = self._known()
        if len(own) == len(self.texts):
            return self._whole()
        return self._in_part(known, own)

    def _known(self) -> tuple[dict[str, Vector], list[str]]:
        """What others left in the store, and the keys that must reach the embedder (or did, if this call was killed)."""
        stored = self.store.get(self.key)
        if stored is not None and stored.payer != self._in_part_by:
            return {}, list(self.texts)  # the whole call is there
        bodies = {key: self.store.get(key) for key in self.texts}
        others = {key: body for key, body in bodies.items() if body is not None and body.payer != self.payer}
        known = {key: unpack_one(body.body) for key, body in others.items()}
        return known, [key for key in self.texts if key not in known]

    def _whole(self) -> dict[str, Array]:
        outcome = self.calls.call(self.ordinal, self.request, self.key, self.common)
        if outcome.billed:
            self._keep(self._shared(outcome.completion))
        return unpack(outcome.completion.text)

    def _in_part(self, known: dict[str, Vector], own: list[str]) -> dict[str, Array]:
        """Pay for `own` alone. Its rows are billed and not needed; the row of the whole call is needed and not billed."""
        vectors, paid = dict(known), list[Row]()
        if own:
            request, key = self._request({k: self.texts[k] for k in own})
            done = self.calls.call(self.ordinal, request, key, self.common).completion
            vectors |= self._shared(done)
            paid = [{**row, "needed": False} for row in self.calls.recorded(self.ordinal)]
        vectors = {key: vectors[key] for key in self.texts}
        rows, usage, latency_s = together(vectors)
        done = Completion(pack(list(vectors), rows), "ok", None, usage, self.of.model, latency_s)
        attempt = of_completion(done)
        whole = (self.key, encode(done, (attempt,)), self._in_part_by)
        self._keep({key: vectors[key] for key in own}, whole)
        head = {**self.calls.address, "ordinal": self.ordinal, **self.common}
        outcome = Outcome(done, (attempt,), "cache", False, 0.0)
        (needed,) = call_rows(head, self.request, self.key, (attempt,), self.of.client.price, outcome)
        self.calls.record(self.ordinal, [*paid, {**needed, "attempt": len(paid)}])
        return dict(zip(vectors, rows, strict=True))

    @property
    def _in_part_by(self) -> str:
        """The payer of a call that was known in part: nobody's address, so it is billed to none."""
        return f"{self.payer}/in part"

    def _shared(self, done: Completion) -> dict[str, Vector]:
        """The vectors of a call, each with its share of what the call took."""
        rows = unpack(done.text)
        parts = shares([self.texts[key] for key in rows], done.usage, done.latency_s, rows.values())
        return dict(zip(rows, parts, strict=True))

    def _keep(self, vectors: Mapping[str, Vector], *before: tuple[str, str, str]) -> list[Stored]:
        with _told():
            records = [(key, pack_one(vector), self.payer) for key, vector in vectors.items()]
            return self.store.put_all([*before, *records])

    def _request(self, texts: Mapping[str, str]) -> tuple[Request, str]:
        messages = tuple({"role": "user", "content": text} for text in texts.values())
        request = Request(self.of.model, self.of.endpoint, messages, params=(), seed=0, draw=("", 0))
        return request, request.digest()


@contextmanager
def _told() -> Iterator[None]:
    """A store that fails ends the cell as it does in the client."""
    try:
        yield
    except StoreError as error:
        raise ProviderFailure(str(error)) from error
