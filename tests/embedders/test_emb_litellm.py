"""Embeddings through litellm, with a stand-in for the library: what is sent, what is read, what an error becomes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ace_bench.llm.embedders.litellm import LitellmEmbedder
from ace_bench.llm.transports import litellm as chat
from ace_bench.llm.types import TransportError

pytest.importorskip("litellm", reason='needs pip install "ace-bench[litellm]"')
KEY = "sk-very-secret"


class Library:
    """Stands in for litellm: answers what `reply` says and remembers what was sent."""

    def __init__(self, reply: Any) -> None:
        self.reply, self.sent = reply, list[dict[str, Any]]()

    def embedding(self, **arguments: Any) -> Any:
        self.sent.append(arguments)
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def answer(*rows: list[float], tokens: Any = 7) -> Any:
    data = [{"index": i, "embedding": row} for i, row in enumerate(rows)]
    return SimpleNamespace(data=data[::-1], usage=SimpleNamespace(prompt_tokens=tokens))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("EMBED_KEY", KEY)

    def make(reply: Any, **settings: Any) -> tuple[LitellmEmbedder, Library]:
        library = Library(reply)
        monkeypatch.setattr(chat, "_litellm", lambda: library)
        known = {"model": "text-small", "endpoint": "openai", "threshold": 0.9, "api_key_env": "EMBED_KEY"} | settings
        return LitellmEmbedder(LitellmEmbedder.Settings(**known)), library

    return make


def test_one_attempt_with_nothing_hidden_in_it(made: Any) -> None:
    embedder, library = made(answer([3.0, 4.0], [0.0, 2.0]), dimensions=2)
    rows, usage = embedder.embed(["a", "\ud83d"])
    assert (
        rows.round(6).tolist() == np.float32([[0.6, 0.8], [0.0, 1.0]]).tolist()
    )  # in the order asked, not in that of the reply
    assert (usage.input, usage.output) == (7, 0)
    (sent,) = library.sent
    assert sent["model"] == "openai/text-small"
    assert sent["input"] == ["a", "\ufffd\ufffd\ufffd"]
    assert (sent["num_retries"], sent["max_retries"], sent["dimensions"], sent["api_base"]) == (0, 0, 2, None)
    assert embedder.id == "litellm/text-small/2"


def test_a_server_is_reached_by_its_url_in_its_dialect(made: Any) -> None:
    embedder, library = made(answer([1.0]), endpoint="http://127.0.0.1:9/v1", api_key_env=None)
    embedder.embed(["a"])
    assert library.sent[0]["api_base"] == "http://127.0.0.1:9/v1"
    assert "dimensions" not in library.sent[0]


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (answer([1.0]), "1 vectors for 2 texts"),
        (answer([1.0], [float("nan")]), "cannot be read"),
        (SimpleNamespace(data=None), "cannot be read"),
    ],
)
def test_a_reply_that_is_no_vectors_is_a_failed_attempt(made: Any, reply: Any, sentence: str) -> None:
    with pytest.raises(TransportError, match=sentence) as caught:
        made(reply)[0].embed(["a", "b"])
    assert caught.value.retryable


def test_an_error_does_not_show_the_key(made: Any) -> None:
    with pytest.raises(TransportError) as caught:
        made(RuntimeError(f"bad key {KEY}"))[0].embed(["a"])
    assert KEY not in str(caught.value)
    assert "[key]" in str(caught.value)


def test_tokens_that_are_not_told_are_unknown(made: Any) -> None:
    assert made(answer([1.0], tokens=None))[0].embed(["a"])[1].input is None


def test_no_key_is_told_while_planning_and_a_replay_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMBED_KEY", raising=False)
    settings = LitellmEmbedder.Settings(model="m", endpoint="openai", threshold=0.9, api_key_env="EMBED_KEY")
    assert "EMBED_KEY" in str(LitellmEmbedder.missing(settings))
    assert LitellmEmbedder(settings).id == "litellm/m"
