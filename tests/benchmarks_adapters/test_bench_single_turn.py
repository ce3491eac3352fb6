"""From a reply to an episode: every ending keeps its name."""

from __future__ import annotations

import pytest

from ace_bench.benchmarks.single_turn import answer_once, quote, said
from ace_bench.llm.types import Message, Reply
from ace_bench.prompts import Prompts

from .fakes import TASK, says


@pytest.mark.parametrize(
    ("answer", "status", "ended"),
    [
        ("15", "ok", "ok"), ("15", "truncated", "ok"), (None, "ok", "unparsed"), (None, "truncated", "truncated"),
        (None, "refused", "refused"), (None, "empty", "empty"), (None, "overflow", "overflow"),
        (None, "error", "error"),
    ],
)  # fmt: skip
def test_endings(answer: str | None, status: str, ended: str) -> None:
    episode = answer_once(Prompts(), "Do it.", "", TASK, says(answer, status))
    assert (episode.status, episode.answer, episode.trace) == (ended, answer, "the reply text")
    assert (said(ended) is None) == (ended == "ok")


@pytest.mark.parametrize(
    ("given", "text"),
    [(15.0, "15.0"), (15, "15"), ("15.00", "15.00"), (["A", "B"], "A,B"), (35e7, "350000000.0"), ([1, 2.0], "1,2.0")],
)
def test_spelling(given: object, text: str) -> None:
    assert answer_once(Prompts(), "", "", TASK, says(given)).answer == text


def test_used_bullets_once_in_order() -> None:
    ask = says("1", bullet_ids=["b2", "b1", "b2"])
    assert answer_once(Prompts(), "", "", TASK, ask).used == ("b2", "b1")


def test_prompt_holds_context_and_task_as_they_are() -> None:
    seen: list[Message] = []

    def ask(purpose: str, messages: tuple[Message, ...], schema: object = None, repair: bool = True) -> Reply:
        seen.extend(messages)
        return Reply("", "empty")

    answer_once(Prompts(), "INSTRUCT", "{lesson} {{task}} {0}", TASK, ask)
    text = "\n".join(message["content"] for message in seen)
    assert all(part in text for part in ("INSTRUCT", "{lesson} {{task}} {0}", "What is it?"))


def test_quotes_are_one_short_line() -> None:
    assert "\n" not in quote("a\nb\x00\ud83d")
    assert len(quote("x" * 500)) < 100
