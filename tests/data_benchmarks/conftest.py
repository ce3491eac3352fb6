"""An agent that says what it is told, and nothing that reaches the network."""

import json

import pytest

from ace_bench.contracts import Episode
from ace_bench.llm.structured import parse
from ace_bench.llm.types import Reply
from ace_bench.prompts import Prompts


class Says:
    """An `ask` that replies with fixed texts by purpose, and keeps the messages."""

    def __init__(self, **texts):
        self.texts, self.seen = texts, []

    def __call__(self, purpose, messages, schema=None, repair=True):
        self.seen.append((purpose, messages))
        text = self.texts[purpose]
        return Reply(text, "ok" if text else "empty", data=parse(text, schema).data if text and schema else None)

    def prompt(self):
        return "\n".join(m["content"] for _, messages in self.seen for m in messages)


def answer(value):
    return json.dumps({"final_answer": value})


@pytest.fixture
def says():
    return Says


@pytest.fixture
def make():
    """make(Class, **settings) -> the benchmark."""
    return lambda cls, **settings: cls(cls.Settings(**settings), Prompts())


@pytest.fixture
def scored():
    """scored(benchmark, sample, answer) -> Score, as after a solve with that answer."""

    def score(benchmark, sample, value, status="ok"):
        return benchmark.score(sample, Episode(sample.task, "trace", value, status))

    return score


@pytest.fixture
def rows_file(tmp_path):
    """rows_file(rows) -> the path of a JSONL file that holds them."""

    def write(rows, name="rows.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(path)

    return write
