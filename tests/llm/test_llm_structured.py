"""Structured replies: what is found in model text, and what is refused (B36, B38)."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from ace_bench.llm.structured import MAX_TEXT, drop_thoughts, parse


class Delta(BaseModel):
    """A schema that any object would fit, were its fields not looked at."""

    reasoning: str = ""
    operations: list[dict[str, str]] = []


class Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")
    answer: int


FENCED = '```json\n{"answer": 7}\n```'
DELTA = '{"reasoning": "r", "operations": [{"type": "ADD", "content": "c"}]}'


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": 7}',
        ' \n{"answer": 7}\n',
        FENCED,
        f"Sure!\n{FENCED}\nDone.",
        'Sure: {"answer": 7}. Done.',
        f'Like {{"answer": 1}}, so\n{FENCED}',
        f'{FENCED}\nnot {{"answer": 1}}',
        'first {"answer": 1}, then {"answer": 7}',
        'a set {1, 2} and {x} and {} then {"answer": 7}',
        'use {"key} or {"other": [} but {"answer": 7} {',
        '<think>{"answer": 1}</think>{"answer": 7}',
        'I think {"answer": 1}</think>\n{"answer": 7}',
        '{"answer": 7, "note": "braces } in { strings"}',
        '{"answer": 7, "note": "</think> said"}',
        '{"wrong": 1} {"answer": 7} {"wrong": 2}',
        '~~~\n{"answer": 7}\n~~~',
        '```\n{"answer": 1}\n```\n' + FENCED,
        '```json {"answer": 7} ```',
        '{"answer": 7} {"answer": "seven"}',
        "\ufeff" + '{"answer": 7}',
        '````json\n{"answer": 7}\n````',
    ],
)
def test_the_answer_is_found(text):
    assert parse(text, Answer).data == Answer(answer=7)


def test_a_fence_inside_a_string_does_not_end_the_object():
    code = "do:\n```python\nx = {'a': 1}\n```\nand {\"operations\": []}"
    reply = json.dumps({"reasoning": code, "operations": []})
    for text in (
        reply,
        f"```json\n{reply}\n```",
        f"Here:\n```json\n{json.dumps(json.loads(reply), indent=1)}\n```\nok",
    ):
        assert parse(text, Delta).data == Delta(reasoning=code)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON object"),
        ("just words", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ("{'answer': 7}", "no JSON"),
        ('{"answer": 7,}', "no JSON object"),
        ('{"answer": 7, "answer": 8}', "'answer' is given twice"),
        ('{"answer": 7, "deep": {"k": 1, "k": 1}}', "'k' is given twice"),
        ('{"answer": NaN}', "NaN"),
        ('{"answer": 7, "x": -Infinity}', "-Infinity"),
        ('{"answer": 7, "x": 1e999}', "too large"),
        ('{"answer": "seven"}', "answer: Input should be a valid integer"),
        ('{"result": 7}', "none of the fields answer"),
        ("{}", "none of the fields"),
        ('<think>{"answer": 7}', "no JSON object"),
        ("```json\n```", "no JSON object"),
        ('so {"answer": NaN} it is', "NaN"),
    ],
)
def test_what_is_not_an_answer_is_refused_with_the_reason(text, problem):
    parsed = parse(text, Answer)
    assert parsed.data is None
    assert problem in parsed.problem


@given(st.integers(1, len(DELTA) - 1))
def test_a_cut_answer_never_passes_for_a_smaller_one(end):
    assert parse(DELTA[:end], Delta).data is None
    assert parse(f"```json\n{DELTA[:end]}", Delta).data is None
    example = '{"reasoning": "example", "operations": []}'
    if end > 1:
        assert parse(f"Like {example}: {DELTA[:end]}", Delta).data is None


@pytest.mark.parametrize(
    "tail", ["tru", "-", "1", "1.", "1e", "1e-", '"\\', '"\\u00', "nul", "[", "{", '"a"', '{"a":', " "]
)
def test_a_cut_value_is_seen_as_cut(tail):
    assert (
        parse('{"operations": []} no: {"reasoning": "x", "operations": [{"reasoning": "y"}, ' + tail, Delta).data
        is None
    )


def test_an_inner_object_is_no_answer_of_a_broken_one():
    assert parse('{"operations": [{"type": "ADD", "content": "c"},]}', Delta).data is None


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200), st.dictionaries(st.text(max_size=5), st.text(max_size=9) | st.integers(), max_size=4))
def test_no_text_raises_and_a_whole_object_is_always_read(text, more):
    parse(text, Answer)
    value = {key: said for key, said in more.items() if "think>" not in f"{key}{said}"} | {"answer": 3}
    assert parse(json.dumps(value), Answer).data == Answer(answer=3)
    prose = text.replace("{", "(").replace("}", ")").replace("think>", "").replace("`", "").replace("~", "")
    assert parse(f"{prose}\n{json.dumps(value, indent=1)}\n{prose}", Answer).data == Answer(answer=3)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000,
        "}" * 100_000,
        '{"' * 100_000,
        '{"a":' * 100_000,
        '{"a":{' * 50_000 + "}" * 10,
        "[" * 100_000,
        '{"a": 1} ' * 50_000,
        '{"answer": "x"} ' * 50_000,
        "<think>" * 50_000,
        "```\n" * 100_000,
        '{"a",' * 100_000,
        "{" + " " * 500_000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        '{"answer": ' + "9" * 100_000 + "}",
        "``` " + " " * 300_000 + "x",
        "{" + ",".join(f'"k{i}": 1' for i in range(30_000)) + ', "k1": 2}',
        '{"a" 1} ' * 60_000,
        "{\n" * 200_000,
    ],
    ids=range(18),
)
def test_hostile_texts_are_refused_quickly(text):
    began = time.process_time()
    assert parse(text, Answer).data is None
    assert time.process_time() - began < 2


def test_limits_are_told():
    assert "longer than" in parse(" " * (MAX_TEXT + 1), Answer).problem
    assert "broken objects" in parse('{"a" 1} ' * 2000 + '{"answer": 7}', Answer).problem


def test_aliases_count_as_fields():
    class Aliased(BaseModel):
        answer: int = Field(validation_alias=AliasChoices("final_answer", "result"))

    assert parse('{"result": 3}', Aliased).data.answer == 3


def test_thoughts_are_dropped_wherever_they_stand():
    assert drop_thoughts("a<think>b</think>c<think>d</think>e") == "ace"
    assert drop_thoughts("a<think>b") == "a"
    assert drop_thoughts("b</think>c") == "c"
