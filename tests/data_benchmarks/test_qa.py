"""`qa`: columns by name, four ways of scoring, bad rows, ids that never collide."""

import pytest

from ace_bench.benchmarks.jsonl import DataError
from ace_bench.benchmarks.qa import QA, letter

CHOICE = {"scoring": "choice", "options": "options"}


@pytest.mark.parametrize("settings", [{}, {"scoring": "numeric"}, CHOICE], ids=["exact", "numeric", "choice"])
def test_gold_and_empty(make, scored, settings):
    benchmark = make(QA, **settings)
    for split in benchmark.splits():
        for sample in benchmark.samples(split):
            assert scored(benchmark, sample, sample.target).value == 1.0
            assert scored(benchmark, sample, "").outcome == "unparsed"


@pytest.mark.parametrize(
    ("settings", "answer", "outcome"),
    [
        ({}, " 155. ", "right"), ({}, "155.0", "wrong"), ({"scoring": "numeric"}, "155.0", "right"),
        ({"scoring": "numeric"}, "$155", "right"), ({"scoring": "numeric"}, "156", "wrong"),
        ({"scoring": "numeric"}, "about 155", "unparsed"), ({"scoring": "numeric", "tolerance": 1.0}, "156", "right"),
        ({"scoring": "numeric", "tolerance": 1.0}, "156.1", "wrong"), ({"scoring": "numeric"}, "15500%", "wrong"),
        ({"scoring": "numeric", "percent": "fraction"}, "15500%", "right"), (CHOICE, "A", "right"), (CHOICE, "a.", "right"),
        (CHOICE, "(A)", "right"), (CHOICE, "155", "right"), (CHOICE, "A. 155", "right"), (CHOICE, "B", "wrong"),
        (CHOICE, "E", "unparsed"), (CHOICE, "A. 145", "unparsed"), (CHOICE, "A or B", "unparsed"),
    ],
)  # fmt: skip
def test_rules(make, scored, settings, answer, outcome):
    benchmark = make(QA, **settings)
    sample = benchmark.samples("test")[0]  # 155, options 155 145 165 152
    assert scored(benchmark, sample, answer).outcome == outcome


def test_columns_of_a_file_of_ones_own(make, rows_file):
    rows = [{"problem": "How much?", "solution": 12, "key": 7, "kind": "sums"},
            {"problem": "And this?", "solution": "13", "key": "8", "kind": "sums"}]  # fmt: skip
    path = rows_file(rows)
    benchmark = make(QA, test=path, question="problem", answer="solution", id="key", group="kind", scoring="numeric")
    assert [(s.task.input, s.target, s.task.group) for s in benchmark.samples("test")] == [
        ("How much?", "12", "sums"), ("And this?", "13", "sums")
    ]  # fmt: skip
    assert [s.task.id.partition("-")[0] for s in benchmark.samples("test")] == ["7", "8"]


def test_equal_ids_of_two_files_stay_apart(make, rows_file):
    one = rows_file([{"question": "A?", "answer": "1", "id": 0}], "a.jsonl")
    two = rows_file([{"question": "B?", "answer": "2", "id": 0}], "b.jsonl")
    benchmark = make(QA, train=one, test=two, id="id")
    assert benchmark.samples("train")[0].task.id != benchmark.samples("test")[0].task.id


@pytest.mark.parametrize(
    ("row", "settings", "reason"),
    [
        ({"answer": "1"}, {}, r"no column 'question' \(columns: answer\)"),
        ({"question": "Q", "answer": None}, {}, "must hold a text or a number, not 'None'"),
        ({"question": "Q", "answer": True}, {}, "must hold a text or a number"),
        ({"question": "Q", "answer": "x"}, {"scoring": "numeric"}, "'x' is not a number"),
        ({"question": "Q", "answer": "A"}, {"scoring": "choice"}, "needs a column of options"),
        ({"question": "Q", "answer": "A", "options": "a b"}, CHOICE, "must hold a list of 2 to 26 options"),
        ({"question": "Q", "answer": "A", "options": ["a"]}, CHOICE, "must hold a list of 2 to 26 options"),
        ({"question": "Q", "answer": "A", "options": ["x", "X"]}, CHOICE, "the same option twice"),
        ({"question": "Q", "answer": "E", "options": ["x", "y"]}, CHOICE, "neither one letter nor the text"),
        ({"question": "Q", "answer": "A", "options": ["B", "A"]}, CHOICE, "neither one letter nor the text"),  # two readings
        ({"question": "Q", "answer": 2, "options": ["x", "y"]}, CHOICE, "no place in a list of 2 options"),
        ({"question": "Q", "answer": "1", "id": None}, {"id": "id"}, "column 'id'"),
    ],
)  # fmt: skip
def test_bad_rows(make, rows_file, row, settings, reason):
    with pytest.raises(DataError, match=reason):
        make(QA, test=rows_file([row]), **settings).samples("test")


def test_options_as_json_text_and_answers_as_places(make, rows_file):
    rows = [
        {"question": "Q", "answer": 1, "options": '["x", "y"]'},
        {"question": "Q", "answer": "x", "options": ["x", "y"]},
    ]
    benchmark = make(QA, test=rows_file(rows), **CHOICE)
    assert [s.target for s in benchmark.samples("test")] == ["B", "A"]
    assert benchmark.samples("test")[0].task.input == "Q\n\nOptions:\nA. x\nB. y"


@pytest.mark.parametrize(
    ("text", "found"), [("b", "B"), ("y", "B"), ("B) y", "B"), ("C", None), ("", None), ("x y", None)]
)
def test_letters(text, found):
    assert letter(text, {"A": "x", "B": "y"}) == found


def test_own_instructions_and_the_form_reach_the_prompt(make, says):
    ask = says(solve='{"final_answer": "1"}')
    benchmark = make(QA, scoring="numeric", instructions="You are good at sums.")
    benchmark.solve("", benchmark.samples("test")[0].task, ask)
    assert "You are good at sums. The answer is one number in plain digits." in ask.prompt()
