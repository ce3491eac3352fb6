"""The embeddings of a cell: rows, who pays, the cache by text, resume, replay, limits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ace_bench.llm import Client, Limits, ModelSettings, Price, ResponseStore, RetryPolicy, Session
from ace_bench.llm.embedders.base import unit
from ace_bench.llm.embedders.metered import Embeddings, embed_client, settles
from ace_bench.llm.transports.scripted import ScriptedTransport
from ace_bench.llm.types import BudgetExceeded, ProviderFailure, ReplayMiss, TransportError, Usage

PRICE = Price(2.0, 2.0, 2.0, 0.0, 0.0, "test", "2026-01-01")
SAME = {"latency_s": None, "queue_s": None}


class Fake:
    """An embedder that remembers what reached it: a token a letter when it is a provider's."""

    scale, batch = "none", 3

    def __init__(self, endpoint: str = "local", failures: int = 0) -> None:
        self.id, self.endpoint, self.failures = "fake/1", endpoint, failures
        self.seen: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> tuple[Any, Usage]:
        if self.failures:
            self.failures -= 1
            raise TransportError("busy", retryable=True, charged=False)
        self.seen.append(list(texts))
        rows = [list(hashlib.sha256(t.encode("utf-8", "surrogatepass")).digest()) for t in texts]
        paid = Usage(sum(map(len, texts)), 0, 0, 0, 0)
        return unit(np.array(rows) - 128), paid if self.endpoint != "local" else Usage(0, 0, 0, 0, 0)


class Cell:
    """A cell over one store; `step` is one step of it, whose rows come back."""

    def __init__(
        self, store: ResponseStore, fake: Fake, name: str = "cell", limits: Limits | None = None,
        rows: list[dict[str, Any]] | None = None,
    ) -> None:  # fmt: skip
        self.rows = rows if rows is not None else []
        limits = limits or Limits()
        earlier = [r["request"] for r in self.rows if r["purpose"] == "embed" and r["needed"] and settles(r)]
        client = embed_client(fake, store, limits, PRICE)  # type: ignore[arg-type]
        client.retry = RetryPolicy(sleep=lambda s: None)
        embeddings = Embeddings(client, fake, 0.8, earlier)  # type: ignore[arg-type]
        model = Client(ScriptedTransport([]), store, limits, price=PRICE)
        settings = ModelSettings("m", "scripted", {"max_tokens": 10})
        self.session = Session(model, settings, 0, name, "instance", embeddings=embeddings)

    def step(
        self, position: int, *asks: Sequence[str], phase: str = "adapt", shapes: bool = False, commit: bool = True
    ) -> tuple[list[dict[str, Any]], list[Any]]:
        calls = self.session.step(phase, 0, 0, position)
        vectors = [calls.embed(texts, call_phase=phase, sample=None, shapes_state=shapes) for texts in asks]
        if commit:
            self.rows += calls.rows
        return calls.rows, vectors


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., ResponseStore]]:
    made: list[ResponseStore] = []

    def make(mode: Any = "write", name: str = "r.db") -> ResponseStore:
        made.append(ResponseStore(tmp_path / name, mode))
        return made[-1]

    yield make
    for store in made:
        store.close()


def told(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


WHO = ("served_from", "needed", "billed", "input")


def test_one_row_a_batch_and_each_text_once(opened: Any) -> None:
    fake = Fake()
    rows, (vectors,) = Cell(opened(), fake).step(0, ["a", "b", "a", "c", "d"])
    assert fake.seen == [["a", "b", "c"], ["d"]]
    assert told(rows, "purpose", "model", "ordinal", *WHO) == [
        ("embed", "fake/1", 0, "provider", True, True, 0), ("embed", "fake/1", 1, "provider", True, True, 0),
    ]  # fmt: skip
    assert vectors.shape == (5, 32)
    assert vectors.dtype == np.float32
    assert (vectors[0] == vectors[2]).all()
    assert not (vectors[0] == vectors[1]).all()
    assert [row["cost"] for row in rows] == [0.0, 0.0]


def test_a_text_counts_once_a_cell(opened: Any) -> None:
    fake = Fake()
    cell = Cell(opened(), fake)
    cell.step(0, ["a", "b"])
    rows, (vectors,) = cell.step(1, ["b", "a"], ["b", "c"])[0], cell.step(2, ["a"])[1]
    assert fake.seen == [["a", "b"], ["c"]]
    assert told(rows, *WHO) == [("provider", True, True, 0)]
    assert len(vectors) == 1
    assert cell.step(3, [])[1][0].shape == (0, 0)
    assert cell.step(3, ["a"])[0] == []


def test_what_another_cell_embedded_is_needed_and_not_billed(opened: Any) -> None:
    store, fake = opened(), Fake("http://x")
    one, two = Cell(store, fake, "one"), Cell(store, fake, "two")
    mine = one.step(0, ["aaa", "b"])[1][0]
    rows, (vectors,) = two.step(0, ["b", "aaa"])
    assert fake.seen == [["aaa", "b"]]
    assert told(rows, *WHO) == [("cache", True, False, 4)]
    assert (vectors == mine[::-1]).all()


def test_a_batch_known_in_part_pays_for_the_rest_alone(opened: Any) -> None:
    store, fake = opened(), Fake("http://x")
    Cell(store, fake, "one").step(0, ["aaa"])
    rows, (vectors,) = Cell(store, fake, "two").step(0, ["aaa", "bb", "c"])
    assert fake.seen == [["aaa"], ["bb", "c"]]
    assert told(rows, "attempt", *WHO) == [(0, "provider", False, True, 3), (1, "cache", True, False, 6)]
    cold, (alone,) = Cell(opened(name="cold.db"), Fake("http://x"), "two").step(0, ["aaa", "bb", "c"])
    assert (vectors == alone).all()
    needed = [row for row in rows if row["needed"]]
    for name in ("request", "response", "input", "cost", "model", "ordinal"):
        assert [r[name] for r in needed] == [r[name] for r in cold], name  # needed does not depend on the cache


@pytest.mark.parametrize("before", [[], ["b"], ["a", "b", "c"]])
def test_killed_after_the_call_and_resumed_the_rows_are_equal(opened: Any, before: list[str]) -> None:
    store, fake = opened(), Fake("http://x")
    if before:
        Cell(store, fake, "other").step(0, before)
    asks = (["a", "b"], ["c", "a", "dd"])
    cell = Cell(store, fake)
    first = cell.step(0, ["x"])[0]
    lost, vectors = cell.step(1, *asks, commit=False)  # paid, durable, and the process dies before the journal
    paid = [list(batch) for batch in fake.seen]
    again, got = Cell(store, fake, rows=list(first)).step(1, *asks)
    assert fake.seen == paid  # nothing is paid twice
    assert [r | SAME for r in again] == [r | SAME for r in lost]
    assert all((a == b).all() for a, b in zip(got, vectors, strict=True))


@pytest.mark.parametrize("stop", [1, 2])
def test_killed_between_any_two_writes_and_resumed(opened: Any, monkeypatch: pytest.MonkeyPatch, stop: int) -> None:
    """A batch known in part writes: the paid part, then the whole with the texts. Cut after each."""
    store, fake = opened(), Fake("http://x")
    Cell(store, fake, "other").step(0, ["a"])
    whole = ResponseStore.put_all

    def cut(self: ResponseStore, rows: Any) -> Any:
        done = whole(self, rows if stop == 1 else rows[:1])  # 2: the first commit of the second write
        cuts.append(len(rows))
        if len(cuts) == stop:
            raise KeyboardInterrupt
        return done

    cuts: list[int] = []
    monkeypatch.setattr(ResponseStore, "put_all", cut)
    with pytest.raises(KeyboardInterrupt):
        Cell(store, fake).step(1, ["a", "b", "c"])
    monkeypatch.undo()
    rows, _ = Cell(store, fake).step(1, ["a", "b", "c"])
    assert fake.seen == [["a"], ["b", "c"]]
    assert told(rows, "attempt", *WHO) == [(0, "provider", False, True, 2), (1, "cache", True, False, 3)]


def test_a_resumed_cell_knows_what_it_embedded(opened: Any) -> None:
    store, fake = opened(), Fake()
    cell = Cell(store, fake)
    want = cell.step(0, ["a", "b"])[1][0]
    resumed = Cell(store, fake, rows=cell.rows)
    rows, (vectors,) = resumed.step(1, ["b", "a"])
    assert rows == []
    assert (vectors == want[::-1]).all()


def test_replay_sends_nothing_and_a_miss_stops_the_cell(opened: Any) -> None:
    fake = Fake()
    recorded = Cell(opened(), fake).step(0, ["a", "b"])[0]
    silent = Fake()
    cell = Cell(opened("replay"), silent, "again")
    rows = cell.step(0, ["a", "b"])[0]
    assert told(rows, *WHO) == [("cache", True, False, 0)]
    assert [r["response"] for r in rows] == [r["response"] for r in recorded]
    with pytest.raises(ReplayMiss, match="cache=replay"):
        cell.step(1, ["other"])
    with pytest.raises(ReplayMiss):  # stopped for good, for every purpose
        cell.session.step("adapt", 0, 0, 2).ask(
            "reflect", [{"role": "user", "content": "x"}], call_phase="adapt", sample=None
        )
    assert silent.seen == []


def test_replay_needs_only_the_requests_that_the_rows_name(opened: Any, tmp_path: Path) -> None:
    """What a capsule packs: the responses under the digests in the rows, also of calls known in part or in whole."""
    store, fake = opened(), Fake()
    Cell(store, fake, "other").step(0, ["a", "b"])
    cell = Cell(store, fake)
    cell.step(0, ["a"], ["b", "c"])
    packed = opened(name="packed.db")
    for row in cell.rows:
        kept = store.get(row["request"])
        packed.put(row["request"], kept.body, kept.payer)
    again = Cell(opened("replay", "packed.db"), Fake(), "cell").step(0, ["a"], ["b", "c"])[0]
    needed = [row for row in cell.rows if row["needed"]]
    assert [(r["request"], r["response"]) for r in again if r["needed"]] == [
        (r["request"], r["response"]) for r in needed
    ]


@pytest.mark.parametrize("mode", ["off", "read"])
def test_a_cache_that_records_nothing_asks_each_process_anew(opened: Any, mode: str) -> None:
    Cell(opened(), Fake()).step(0, ["z"])
    store, fake = opened(mode), Fake()
    cell = Cell(store, fake)
    cell.step(0, ["a"])
    assert cell.step(1, ["a"])[0] == []  # within the process it is known
    assert len(Cell(store, fake, rows=cell.rows).step(1, ["a"])[0]) == 1
    assert fake.seen == [["a"], ["a"]]


def test_steps_that_only_score_stand_alone_whatever_the_timing(opened: Any) -> None:
    fake = Fake()
    cell = Cell(opened(), fake)
    cell.step(0, ["known"])

    def scored(position: int) -> list[dict[str, Any]]:
        return cell.step(position, ["known", "shared", f"own {position}"], phase="score", commit=False)[0]

    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(scored, range(8)))
    assert [len([r for r in some if r["needed"]]) for some in rows] == [1] * 8
    assert cell.step(9, ["shared"])[0] != []
    online = cell.step(10, ["next"], phase="score", shapes=True)[0]
    assert told(online, "shapes_state", "call_phase") == [(True, "score")]
    assert cell.step(11, ["next"])[0] == []


def test_limits_hold_for_a_provider_and_not_for_this_machine(opened: Any) -> None:
    fake, limits = Fake("http://x"), Limits(calls=1)
    cell = Cell(opened(), fake, limits=limits)
    cell.step(0, ["a"])
    with pytest.raises(BudgetExceeded, match="model calls"):
        cell.step(1, ["b"])
    assert fake.seen == [["a"]]
    assert limits.spent().calls == 1
    local = Limits(calls=1, dollars=1)
    Cell(opened(), Fake(), limits=local).step(0, ["a"], ["b"], ["c"])
    assert local.spent().calls == 0


def test_a_provider_is_tried_again_and_each_attempt_has_a_row(opened: Any) -> None:
    rows = Cell(opened(), Fake("http://x", failures=1)).step(0, ["aa"])[0]
    assert told(rows, "attempt", "status", *WHO) == [
        (0, "error", "provider", False, True, 0), (1, "ok", "provider", True, True, 2),
    ]  # fmt: skip
    assert rows[1]["cost"] == pytest.approx(2 * 2.0 / 1e6)


def test_an_embedder_that_breaks_ends_the_cell_with_a_sentence(opened: Any) -> None:
    class Broken(Fake):
        def embed(self, texts: Sequence[str]) -> tuple[Any, Usage]:
            raise ValueError("weights are gone")

    cell = Cell(opened(), Broken())
    calls = cell.session.step("adapt", 0, 0, 0)
    with pytest.raises(ProviderFailure, match="weights are gone"):
        calls.embed(["a"], call_phase="adapt", sample=None)
    assert told(calls.rows, "status", "needed") == [("error", False)]


def test_a_cell_without_an_embedder_says_what_to_declare(opened: Any) -> None:
    client = Client(ScriptedTransport([]), opened())
    calls = Session(client, ModelSettings("m", "scripted"), 0, "c", "i").step("adapt", 0, 0, 0)
    with pytest.raises(RuntimeError, match=r"embeds\(settings\)"):
        calls.embed(["a"], call_phase="adapt", sample=None)


def test_any_text_has_a_vector_and_a_place(opened: Any) -> None:
    texts = ["", "\ud83d", "a\0b", "x" * 10_000]
    cell = Cell(opened(), Fake())
    vectors = cell.step(0, texts)[1][0]
    assert len({v.tobytes() for v in vectors}) == 4
    again = Cell(opened(), Fake(), "other").step(0, texts)[1][0]
    assert (again == vectors).all()


def test_unreported_tokens_are_unknown_not_zero(opened: Any) -> None:
    class Mute(Fake):
        def embed(self, texts: Sequence[str]) -> tuple[Any, Usage]:
            return super().embed(texts)[0], Usage()

    store, fake = opened(), Mute("http://x")
    assert told(Cell(store, fake, "one").step(0, ["a"])[0], "input", "cost") == [(None, None)]
    rows = Cell(store, fake, "two").step(0, ["a", "b"])[0]
    assert told(rows, "input", "needed") == [(None, False), (None, True)]
