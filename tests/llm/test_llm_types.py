"""Requests: what is in the key, and how it is made (B07, B09, B35)."""

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ace_bench.llm.types import Request, Usage, drawn

BASE = Request("m", "e", ({"role": "user", "content": "q"},), (("temperature", 0.5),), 0, ("s", 0))


@pytest.mark.parametrize(
    "change",
    [
        {"model": "m2"},
        {"endpoint": "e2"},
        {"messages": ({"role": "system", "content": "q"},)},
        {"seed": 1},
        {"messages": ({"role": "user", "content": "q "},)},
        {"params": (("temperature", 0.6),)},
        {"params": ()},
        {"messages": ({"role": "user", "content": "q", "name": "n"},)},
        {"draw": ("s", 1)},
        {"draw": ("t", 0)},
        {"schema": "{}"},
        {"messages": BASE.messages * 2},
    ],
)
def test_everything_that_can_change_the_answer_is_in_the_digest(change):
    assert replace(BASE, **change).digest() != BASE.digest()


@given(st.text(st.characters(), max_size=50), st.integers(0, 3))
def test_any_text_has_a_digest_and_the_stem_gives_the_same(text, n):
    request = replace(BASE, messages=({"role": "user", "content": text + "\ud83d"},), draw=("s", n))
    stem = request.stem()
    assert drawn(stem, ("s", n)) == drawn(stem, ("s", n)) == request.digest()
    assert drawn(stem, ("s", n + 1)) != request.digest()


@given(st.lists(st.text(max_size=4), min_size=1, max_size=3), st.lists(st.text(max_size=4), min_size=1, max_size=3))
def test_only_equal_contents_have_equal_digests(one, two):
    digests = [
        replace(BASE, messages=tuple({"role": "user", "content": text} for text in texts)).digest()
        for texts in (one, two)
    ]
    assert (digests[0] == digests[1]) == (one == two)


def test_the_order_of_keys_does_not_matter():
    other = replace(BASE, messages=({"content": "q", "role": "user"},))
    assert other.digest() == BASE.digest()


def test_usage_totals_keep_unknowns():
    assert Usage().input_total() is None
    assert Usage().output_total() is None
    assert Usage(1, 2, 3, 4, 5).input_total() == 6
    assert Usage(1, None, None, 4, None).output_total() == 4


def test_importing_the_package_brings_neither_pydantic_nor_litellm():
    code = (
        "import sys, ace_bench.llm, ace_bench.llm.types, ace_bench.llm.session;"
        "print([m for m in ('pydantic', 'litellm', 'sqlite3') if m in sys.modules and m != 'sqlite3'])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"
