"""Reading sheets and answers from free text: the released rules, and the strict ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ace_bench.prompts.tagged import answer_in, sheet_in

CASES = [  # text, strict, released
    ("a <cheatsheet>\n x \n</cheatsheet> b", "x", "x"),
    ("<cheatsheet>x</cheatsheet><cheatsheet>y</cheatsheet>", "x", "x"),  # the first counts
    ("<cheatsheet>x and then cut", None, "x and then cut"),
    ("<cheatsheet> </cheatsheet>", None, ""),
    ("no tag", None, None), ("", None, None), ("</cheatsheet>", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "strict", "released"), CASES)
def test_sheets(text, strict, released):
    assert sheet_in(text, "strict") == strict
    assert sheet_in(text, "released") == released


@pytest.mark.parametrize(("text", "answer"), [
    ("<answer>1</answer> no: <answer>\n 2 \n</answer>", "2"), ("<answer>3", "3"), ("<answer></answer>", ""),
    ("FINAL ANSWER:\n```\n4\n```", "4"), ("FINAL ANSWER: '''5''' or ```6```", "5"),
    ("FINAL ANSWER\n```python\nprint(7)\n```", "print(7)"), ("FINAL ANSWER: 8", None), ("```9```", None), ("", None),
])  # fmt: skip
def test_answers(text, answer):
    assert answer_in(text) == answer


@given(st.text(st.sampled_from("<>/acheswrt'`\n FINALANSWER"), max_size=60))
def test_no_text_raises(text):
    answer_in(text)
    assert sheet_in(text, "strict") in (None, sheet_in(text, "released"))
