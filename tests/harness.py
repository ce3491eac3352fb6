"""A cell in a temporary folder without Hydra: what the tests of methods and protocols run."""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ace_bench.benchmarks.rulebook import Rulebook
from ace_bench.contracts import Sample
from ace_bench.llm import Client, ResponseStore, Session
from ace_bench.llm.transports.simulated import SimulatedTransport
from ace_bench.llm.types import Completion, Purpose, Request
from ace_bench.methods.ace import Ace
from ace_bench.methods.append_only import AppendOnly
from ace_bench.methods.base import Base
from ace_bench.methods.dynamic_cheatsheet import DynamicCheatsheet
from ace_bench.methods.full_rewrite import FullRewrite
from ace_bench.methods.local_edit import LocalEdit
from ace_bench.prompts import Prompts
from ace_bench.protocols.online import online
from ace_bench.protocols.orders import ordered
from ace_bench.protocols.timeline import Parts, Timeline
from ace_bench.store import Journal, Texts

PROMPTS = Prompts()
METHODS = {
    "base": Base, "ace": Ace, "append_only": AppendOnly, "full_rewrite": FullRewrite, "local_edit": LocalEdit,
    "dynamic_cheatsheet": DynamicCheatsheet,
}  # fmt: skip


class Recorder:
    """A transport that passes on and remembers each request: (purpose, digest, messages)."""

    simulated = True

    def __init__(self, inner: Any, mangle: Callable[[Purpose, str], str] | None = None) -> None:
        self.inner, self.mangle = inner, mangle
        self.seen: list[tuple[str, str, Any]] = []
        self._lock = threading.Lock()

    def complete(self, request: Request, purpose: Purpose, request_digest: str) -> Completion:
        with self._lock:
            self.seen.append((purpose, request_digest, request.messages))
        done = self.inner.complete(request, purpose, request_digest)
        if self.mangle is None:
            return done
        text = self.mangle(purpose, done.text)
        status = "ok" if text else "empty"
        return Completion(text, status, "stop", done.usage, done.model, done.latency_s)

    def purposes(self) -> Counter[str]:
        return Counter(purpose for purpose, _, _ in self.seen)

    def digests(self) -> Counter[str]:
        return Counter(digest for _, digest, _ in self.seen)


def simulated(**parameters: Any) -> Recorder:
    return Recorder(SimulatedTransport(SimulatedTransport.Settings(parameters=parameters)))


def rulebook(n: int = 40, **settings: Any) -> Rulebook:
    return Rulebook(Rulebook.Settings(train=n, val=10, test=n, **settings), PROMPTS)


def word_vectors(texts: Sequence[str]) -> Any:
    """Unit rows that count words: an embedder for tests, for `StepRun.embed`."""
    import numpy as np

    rows = np.zeros((len(texts), 97))
    for i, text in enumerate(texts):
        for word in text.split():
            rows[i, sum(word.encode()) % 97] += 1
    return rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-9)


def method(name: str, **knobs: Any) -> Any:
    cls = METHODS[name]
    return cls(cls.Settings(**knobs), PROMPTS)


@dataclass
class Ran:
    """What a run left: rows by table, the requests, and the final state."""

    rows: dict[str, list[dict[str, Any]]]
    transport: Recorder
    state: Any
    texts: Texts
    extra: dict[str, Any] = field(default_factory=dict)

    def scores(self) -> list[float]:
        return [r["score"] for r in self.rows["steps"] if r["phase"] == "score" and r["score"] is not None]

    def state_bytes(self, how: Any) -> str:
        return json.dumps(how.dump(self.state), sort_keys=True)


def run(
    folder: Path, how: Any, benchmark: Any, *, transport: Recorder | None = None, regime: str = "gt", seed: int = 0,
    order: int = 0, protocol: Callable[[Timeline, Sequence[Sample]], Any] | None = None, split: str = "test",
    workers: int = 1, watch: Callable[[], None] = lambda: None, mode: str = "write",
) -> Ran:  # fmt: skip
    """Run `protocol` (default: strict online) over the ordered split; again in the same folder, it resumes."""
    folder.mkdir(parents=True, exist_ok=True)
    transport = transport or simulated()
    store = ResponseStore(folder / "responses.db", mode)
    with Journal.open(folder / "journal.jsonl") as journal:
        texts = Texts(folder / "texts")
        used = [c["request"] for record in journal.records for c in record["rows"].get("calls", ())]
        from ace_bench.llm import ModelSettings

        session = Session(
            Client(transport, store), ModelSettings("simulated", "simulated"), seed, "cell", "instance", used
        )
        parts = Parts(how, benchmark, session, journal, texts, regime=regime, seed=seed, watch=watch, workers=workers)
        samples = [s for name in benchmark.splits() for s in benchmark.samples(name)]
        timeline = Timeline(parts, samples)
        stream = ordered(benchmark.samples(split), "shuffled", order)
        try:
            held = (protocol or (lambda line, s: online(line, s, 1)))(timeline, stream)
            timeline.end(held)
            rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
            for record in journal.records:
                for table, some in record["rows"].items():
                    rows[table] += some
            return Ran(rows, transport, held.state, texts)
        finally:
            store.close()


TIMING = ("latency_s", "queue_s", "adapt_latency_s")


def stripped(rows: dict[str, list[dict[str, Any]]], *also: str) -> str:
    """The rows as one text, without what time decides."""
    drop = {*TIMING, *also}
    clean = {t: [{k: v for k, v in row.items() if k not in drop} for row in some] for t, some in sorted(rows.items())}
    return json.dumps(clean, sort_keys=True)
