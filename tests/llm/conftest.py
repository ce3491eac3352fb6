"""Shared by the tests of `ace_bench.llm`."""

import pytest

from ace_bench.llm import ResponseStore, RetryPolicy
from ace_bench.llm.types import Request


@pytest.fixture
def store(tmp_path):
    store = ResponseStore(tmp_path / "responses.sqlite")
    yield store
    store.close()


@pytest.fixture
def quick():
    """The usual retries without the waiting."""
    return RetryPolicy(sleep=lambda s: None)


@pytest.fixture
def request_of():
    """Build a request with one user message."""

    def build(text="hello", model="m", endpoint="http://127.0.0.1:1/v1", seed=1, draw=("s", 0), schema=None, **params):
        params = {"temperature": 0.7, "max_tokens": 100, **params}
        messages = ({"role": "user", "content": text},)
        return Request(model, endpoint, messages, tuple(sorted(params.items())), seed, draw, schema)

    return build
