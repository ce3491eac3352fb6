"""DDXPlus: the fixed list, both rules by table, bad rows, and nothing of the target in a prompt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ace_bench.benchmarks.ddxplus import LABELS, DDXPlus, strict_label, upstream_label
from ace_bench.benchmarks.jsonl import DataError
from ace_bench.contracts import Episode

RULES = [  # answer, upstream, strict
    ("12. Bronchiolitis", 12, 12), ("12.", 12, 12), ("12", None, 12), ("bronchiolitis", None, 12),
    ("12) Bronchiolitis", None, 12), ("12. Croup", 12, None), ("I think 12. Or 13.", 12, None), ("99.", None, None),
    ("99. 12. Bronchiolitis", None, None), ("3.5 or 12.", 3, None), ("012.", 12, None), ("", None, None),
    ("none", None, None), ("12.Bronchiolitis.", 12, 12), ("48. whooping cough", 48, 48), ("49.", None, None),
    ("-1.", 1, None), ("\ud83d", None, None), ("9" * 5000 + ".", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "upstream", "strict"), RULES)
def test_both_rules(text, upstream, strict):
    assert (upstream_label(text), strict_label(text)) == (upstream, strict)


@given(st.text())
def test_no_text_breaks_a_rule(text):
    for label in (upstream_label(text), strict_label(text)):
        assert label is None or 0 <= label < len(LABELS)


@pytest.mark.parametrize("text", ["1" * 200_000, " 1" + " " * 200_000 + "2", "1." * 100_000 + "x"])
def test_long_texts_are_quick(text):
    upstream_label(text)
    strict_label(text)


def test_the_list_is_that_of_the_published_numbering():
    assert len(set(LABELS)) == 49
    assert list(LABELS) == sorted(LABELS)  # code points: SLE before Sarcoidosis, URTI before Unstable angina
    assert [LABELS[i] for i in (0, 24, 38, 39, 45, 48)] == [
        "Acute COPD exacerbation / infection", "Influenza", "SLE", "Sarcoidosis", "URTI", "Whooping cough",
    ]  # fmt: skip


def test_sizes_labels_and_one_group(make):
    benchmark = make(DDXPlus)
    assert [len(benchmark.samples(split)) for split in benchmark.splits()] == [60, 30, 60]
    for split in ("train", "test"):
        assert len({s.target for s in benchmark.samples(split)}) == 49
    assert {s.task.group for s in benchmark.samples("test")} == {"all"}
    assert benchmark.shared() == {}


@pytest.mark.parametrize("primary", ["upstream", "strict"])
def test_outcomes(make, scored, primary):
    benchmark = make(DDXPlus, primary=primary)
    sample = next(s for s in benchmark.samples("test") if s.target == "12. Bronchiolitis")
    assert scored(benchmark, sample, "12. bronchiolitis").outcome == "right"
    assert scored(benchmark, sample, "13. Bronchitis").outcome == "wrong"
    assert scored(benchmark, sample, "no idea").outcome == "unparsed"
    assert scored(benchmark, sample, None, "refused").named == {"upstream": 0.0, "strict": 0.0}
    assert scored(benchmark, sample, "12. Croup").correct is (primary == "upstream")


def test_pathology_is_read_in_any_case_and_an_unknown_one_is_a_bad_row(make, rows_file):
    rows = [{"PATIENT_PROFILE": "Age: 1", "PATHOLOGY": "gerd"}, {"PATIENT_PROFILE": "Age: 2", "PATHOLOGY": "gout"},
            {"PATHOLOGY": "gerd"}, {"PATIENT_PROFILE": None, "PATHOLOGY": "gerd"}]  # fmt: skip
    with pytest.raises(DataError, match=r"line 2: the pathology 'gout' is none of the 49 diagnoses"):
        make(DDXPlus, test=rows_file(rows)).samples("test")
    benchmark = make(DDXPlus, test=rows_file(rows), on_bad_row="skip")
    assert [s.target for s in benchmark.samples("test")] == ["21. GERD"]
    assert [bad.line for bad in benchmark.file("test").bad] == [2, 3, 4]


def test_other_columns_never_reach_the_prompt(make, says, rows_file):
    row = {"PATIENT_PROFILE": "Age: 1", "PATHOLOGY": "GERD", "DIFFERENTIAL_DIAGNOSIS": "CANARY", "EVIDENCES": "CANARY"}
    benchmark = make(DDXPlus, test=rows_file([row]))
    ask = says(solve='{"final_answer": "1."}')
    sample = benchmark.samples("test")[0]
    episode = benchmark.solve("", sample.task, ask)
    assert "CANARY" not in ask.prompt()
    feedback = benchmark.observe(sample, episode, benchmark.score(sample, episode))
    assert feedback.environment == "The answer was read as 1. Acute dystonic reactions."
    assert "GERD" in feedback.details


def test_environment_is_silent_about_the_target(make):
    benchmark = make(DDXPlus)
    one, two = benchmark.samples("test")[:2]
    for value in ("3. Acute otitis media", "x", None):
        said = set()
        for sample in (one, two):
            episode = Episode(sample.task, "t", value, "ok" if value else "empty")
            said.add(benchmark.observe(sample, episode, benchmark.score(sample, episode)).environment)
        assert len(said) == 1
