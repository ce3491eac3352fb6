"""The timeline of a cell: steps that happen once, in order, each durable before the next begins (principles 3 and 7).

A protocol is written as if it ran without a break. `visit` and `note` look first whether the journal already holds their
address: then they give back what was recorded and nothing is asked. So resuming is running again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ace_bench.contracts import Benchmark, Method, Regime, Sample, Task, Update
from ace_bench.llm.session import Session
from ace_bench.llm.types import CallStopped
from ace_bench.protocols import rows
from ace_bench.protocols.address import Address
from ace_bench.protocols.run import StepRun
from ace_bench.store import Journal, Texts


class Held:
    """A state by the digest of its stored form; it is loaded only when somebody looks at it."""

    def __init__(self, key: str, load: Callable[[str], Any], state: Any = None) -> None:
        self.key, self._load, self._state = key, load, state

    @property
    def state(self) -> Any:
        """The state itself."""
        if self._state is None:
            self._state = self._load(self.key)
        return self._state


@dataclass(frozen=True, slots=True)
class Visit:
    """What a protocol may know of a step: the state after it and the score (None: no score)."""

    held: Held
    score: float | None


@dataclass(frozen=True, slots=True)
class Parts:
    """What a timeline is made of."""

    method: Method
    benchmark: Benchmark
    session: Session
    journal: Journal
    texts: Texts
    regime: Regime
    seed: int
    watch: Callable[[], None] = lambda: None  # called before each step: progress, and the stop that ends a run
    workers: int = 1  # threads of a frozen scoring pass


class Timeline:
    """Runs steps and records them. One thread calls it; a frozen pass may use a pool inside."""

    def __init__(self, parts: Parts, samples: Iterable[Sample]) -> None:
        self.parts = parts
        self.samples = {sample.task.id: sample for sample in samples}
        self.done = {Address(*r["at"]): r for r in map(_light, parts.journal.records) if r["at"]}
        self.learned = self.events = self.calls = 0  # adaptation steps finished; bullet events and needed calls so far
        self.last: Address | None = None

    def start(self) -> Held:
        """The initial state, recorded as version 0."""
        at = Address("adapt", 0, 0, -1)
        if at not in self.done:
            run = self._run(at, learns=True)
            state = self.parts.method.start(run)
            held = self._hold(state)
            made = rows.state_row(at, Update(state), held.key)
            self._commit({"at": at, "state": held.key, "score": None, "learned": False, "events": 0,
                          "calls": _needed(run), "rows": {"states": [made], "calls": run.calls.rows}})  # fmt: skip
        else:
            self._count(self.done[at])
        return Held(self.done[at]["state"], self._load)

    def visit(self, at: Address, held: Held, sample: Sample, *, learn: bool, first: bool) -> Visit:
        """Answer `sample` with the state as it is; score; only then, if `learn`, reveal and update."""
        if at not in self.done:
            self.parts.watch()
            self._commit(self._body(at, held, sample, learn, first))
        else:
            self._count(self.done[at])
        return self._visited(at, held)

    def visit_all(self, ats: Sequence[tuple[Address, Sample, bool]], held: Held) -> Iterator[Visit]:
        """Frozen answers, in a pool of `workers` threads; recorded in order, so the journal does not depend on timing."""
        todo = [(at, sample, first) for at, sample, first in ats if at not in self.done]
        with ThreadPoolExecutor(max(1, min(self.parts.workers, len(todo) or 1))) as pool:
            bodies = {at: pool.submit(self._watched, at, held, sample, first) for at, sample, first in todo}
            try:
                for at, _, _ in ats:
                    if at in bodies:
                        self._commit(bodies.pop(at).result())
                    else:
                        self._count(self.done[at])
                    yield self._visited(at, held)
            finally:
                for body in bodies.values():
                    body.cancel()

    def fit(self, held: Held, train: Sequence[Task], select: Sequence[Task]) -> Held:
        """A batch method's whole fit as one step: a resume asks again, and the response cache answers for free."""
        at = Address("adapt", 0, 0, 0)
        if at not in self.done:
            self.parts.watch()
            run, method = self._run(at, learns=True), self.parts.method
            with self._attempts_kept(run):
                update = method.fit(held.state, train, select, run)  # type: ignore[attr-defined]
            after = held if update.state is held.state else self._hold(update.state)
            changes = rows.bullet_rows(at, update, self.events, self.learned, None, self.parts.benchmark)
            self._commit({
                "at": at, "state": after.key, "score": None, "learned": True, "events": len(changes),
                "calls": _needed(run), "held": after,
                "rows": {"calls": run.calls.rows, "feedback": run.ledger, "candidates": run.candidates,
                         "bullets": changes, "states": [rows.state_row(at, update, after.key)]},
            })  # fmt: skip
        else:
            self._count(self.done[at])
        return self._visited(at, held).held

    def flush(self, held: Held, epoch: int) -> Held:
        """The end of a pass, for methods that hold something back (`flush(state, run) -> Update`)."""
        flush = getattr(self.parts.method, "flush", None)
        if flush is None:
            return held
        at = Address("adapt", epoch, self.learned, -3)
        if at not in self.done:
            run = self._run(at, learns=True)
            update = flush(held.state, run)
            after = held if update.state is held.state else self._hold(update.state)
            changes = rows.bullet_rows(at, update, self.events, self.learned, None, self.parts.benchmark)
            made = [rows.state_row(at, update, after.key)] if update.state is not held.state else []
            self._commit({
                "at": at, "state": after.key, "score": None, "learned": False, "events": len(changes),
                "calls": _needed(run), "held": after,
                "rows": {"calls": run.calls.rows, "bullets": changes, "states": made},
            })  # fmt: skip
        else:
            self._count(self.done[at])
        return self._visited(at, held).held

    def note(self, at: Address, table_rows: Mapping[str, list[dict[str, Any]]]) -> None:
        """Record rows that belong to no visit (a decision, the end of the run), once."""
        if at not in self.done:
            self._commit({"at": at, "state": None, "score": None, "learned": False, "events": 0,
                          "calls": 0, "rows": dict(table_rows)})  # fmt: skip

    def end(self, held: Held) -> None:
        """Every bullet still alive is censored here."""
        at = Address("adapt", 0, 0, -2)
        made = rows.bullet_ends(self.last or at, held.state, self.events, self.learned, self.parts.benchmark)
        self.note(at, {"bullets": made})

    def _watched(self, at: Address, held: Held, sample: Sample, first: bool) -> dict[str, Any]:
        self.parts.watch()
        return self._body(at, held, sample, False, first)

    def _body(self, at: Address, held: Held, sample: Sample, learn: bool, first: bool) -> dict[str, Any]:
        """One step: its record. Everything in it is in memory; `_commit` makes it count."""
        run = self._run(at, learns=learn)
        with self._attempts_kept(run):
            return self._played(run, at, held, sample, learn, first)

    @contextmanager
    def _attempts_kept(self, run: StepRun) -> Iterator[None]:
        """Failed attempts were tried, and may have been charged: when they end the step, they are recorded without it."""
        try:
            yield
        except CallStopped:
            failed = [row for row in run.calls.rows if not row["needed"]]
            if failed:
                self.parts.journal.append({"at": None, "state": None, "score": None, "learned": False, "events": 0,
                                           "calls": 0, "rows": {"calls": failed}})  # fmt: skip
            raise

    def _played(
        self, run: StepRun, at: Address, held: Held, sample: Sample, learn: bool, first: bool
    ) -> dict[str, Any]:
        state, method = held.state, self.parts.method
        run.sample = sample.task.id
        context = method.prepare(state, sample.task, run)
        if context.text != state.render():
            self.parts.texts.put(context.text)
        episode, score = run.played(context, sample.task)
        if at.phase == "select":
            run.enter(sample.task.id, "correct", 1)  # picking by validation reads labels
        update, after = Update(state), held
        if learn:
            run.phase = "adapt"
            update = method.update(state, run.told(episode, score), run)
            after = held if update.state is state else self._hold(update.state)
        made = rows.StepRows(at, sample, episode, score, context, state, held.key, first, learn, run.calls.rows)
        changes = rows.bullet_rows(at, update, self.events, self.learned, sample, self.parts.benchmark) if learn else []
        return {
            "at": at, "state": after.key, "score": score.value, "learned": learn, "events": len(changes),
            "calls": _needed(run),
            "rows": {
                "steps": [made.row()], "calls": run.calls.rows, "feedback": run.ledger, "bullets": changes,
                "states": [rows.state_row(at, update, after.key)] if learn else [],
            },
            "held": after,
        }  # fmt: skip

    def _run(self, at: Address, *, learns: bool) -> StepRun:
        p = self.parts
        calls = p.session.step(at.phase, at.epoch, at.round, at.position)
        return StepRun(
            at,
            p.benchmark,
            self.samples,
            calls,
            regime=p.regime,
            seed=p.seed,
            step=self.learned,
            learns=learns,
            keep=p.texts.put,
        )

    def _commit(self, record: dict[str, Any]) -> None:
        held = record.pop("held", None)
        self.parts.journal.append(record)
        self.done[record["at"]] = _light(record) | {"held": held}
        self._count(record)

    def _count(self, record: Mapping[str, Any]) -> None:
        self.learned += record["learned"]
        self.events += record["events"]
        self.calls += record["calls"]
        if record["learned"]:
            self.last = Address(*record["at"])

    def _visited(self, at: Address, before: Held) -> Visit:
        record = self.done[at]
        held = record.pop("held", None)
        if held is None:
            held = before if record["state"] == before.key else Held(record["state"], self._load)
        return Visit(held, record["score"])

    def _hold(self, state: Any) -> Held:
        text = json.dumps(self.parts.method.dump(state), separators=(",", ":"), allow_nan=False)
        return Held(self.parts.texts.put(text), self._load, state)

    def _load(self, key: str) -> Any:
        return self.parts.method.load(json.loads(self.parts.texts.get(key)))


def _light(record: Mapping[str, Any]) -> dict[str, Any]:
    """What the timeline needs of a record: not its rows."""
    return {key: record[key] for key in ("at", "state", "score", "learned", "events", "calls")}


def _needed(run: StepRun) -> int:
    return sum(row["needed"] for row in run.calls.rows)
