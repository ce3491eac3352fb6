"""The bundled notes, their controls, and what the adapter reads and says."""

import importlib.util
from pathlib import Path

import pytest

from ace_bench.benchmarks import house_labels
from ace_bench.benchmarks.house_labels import LABELS, HouseLabels, nearest_baseline, read_label, rotated
from ace_bench.benchmarks.jsonl import DataError, tasks_folder
from ace_bench.contracts import Episode
from ace_bench.llm.embedders.wordllama import WordllamaEmbedder, WordllamaSettings
from ace_bench.prompts import Prompts

NEAREST_WORDS, NEAREST_EMBEDDED = 6 / 36, 11 / 36  # the figures in docs/local.md and tasks/house_labels/README.md


def _maker():
    spec = importlib.util.spec_from_file_location("make_house_labels", tasks_folder() / "make_house_labels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = _maker()


def make(**knobs):
    return HouseLabels(HouseLabels.Settings(**knobs), Prompts())


def episode(sample, answer, status="ok"):
    return Episode(sample.task, "", answer, status)


def test_the_generator_writes_the_committed_bytes(tmp_path):
    MAKER.write(tmp_path)
    for file in tmp_path.iterdir():
        assert file.read_bytes() == (Path(tasks_folder()) / "house_labels" / file.name).read_bytes(), file.name
    assert tuple(word for word, _, _ in MAKER.KINDS) == LABELS


def test_splits_are_balanced_and_disjoint():
    bench = make()
    counts = {split: [s.target for s in bench.samples(split)] for split in bench.splits()}
    assert {split: len(x) for split, x in counts.items()} == {"train": 18, "val": 18, "test": 36}
    assert all(len({x.count(label) for label in LABELS}) == 1 for x in counts.values())
    assert set(counts["train"][:6]) == set(LABELS)  # a limit of six keeps every label
    assert bench._files.shared() == {}
    assert all(label.lower() not in s.task.input.lower().split() for s in bench.samples("test") for label in LABELS)


def test_only_the_kind_of_thing_carries_over():
    """No thing stands in two notes, and no sentence tells of a word: each stands around things of several kinds."""
    bench, things, words = make(), [], {}
    for sample in (s for split in bench.splits() for s in bench.samples(split)):
        [at] = [n for n, line in enumerate(MAKER.SENTENCES) if _thing(line, sample.task.input)]
        things.append(_thing(MAKER.SENTENCES[at], sample.task.input))
        words.setdefault(at, []).append(sample.target)
    assert len(set(things)) == len(things) == 72
    assert all(len(some) == 6 and len(set(some)) >= 3 for some in words.values())


def _thing(line, note):
    before, after = line.split("{thing}")
    held = note.startswith(before) and note.endswith(after)
    return note[len(before) : len(note) - len(after)] if held else None


def test_rotation_changes_every_test_target_and_nothing_else():
    plain, turned = make(), make(test_labels="rotated")
    assert plain.samples("train") == turned.samples("train")
    pairs = list(zip(plain.samples("test"), turned.samples("test"), strict=True))
    assert all(a.task == b.task and b.target == rotated(a.target) != a.target for a, b in pairs)
    assert sorted(rotated(label) for label in LABELS) == sorted(LABELS)


def test_a_learner_that_knows_the_rule_is_wrong_everywhere_under_rotation():
    rule = {s.task.id: s.target for s in make().samples("test")}
    for knobs, score in (({}, 1.0), ({"test_labels": "rotated"}, 0.0)):
        bench = make(**knobs)
        values = [bench.score(s, episode(s, rule[s.task.id])).value for s in bench.samples("test")]
        assert sum(values) / len(values) == score


@pytest.mark.parametrize(
    ("answer", "read"),
    [("Topaz", "Topaz"), (" topaz. ", "Topaz"), ('"Quartz"', "Quartz"), ("Topaz, Comet", None), ("", None)],
)
def test_reading(answer, read):
    assert read_label(answer) == read


def test_outcomes():
    bench = make()
    sample = bench.samples("test")[0]
    assert bench.score(sample, episode(sample, sample.target)).outcome == "right"
    assert bench.score(sample, episode(sample, rotated(sample.target))).outcome == "wrong"
    assert bench.score(sample, episode(sample, "a long story")).outcome == "unparsed"
    assert bench.score(sample, episode(sample, None, "truncated")).outcome == "truncated"
    assert bench.score(sample, episode(sample, None, "error")).value is None


def test_the_environment_does_not_tell_the_target():
    said = set()
    for knobs in ({}, {"test_labels": "rotated"}):
        bench = make(**knobs)
        sample = bench.samples("test")[0]
        for answer in ("Topaz", "nonsense", None):
            made = episode(sample, answer, "ok" if answer else "empty")
            said.add((answer, bench.observe(sample, made, bench.score(sample, made)).environment))
    assert len(said) == 3


def test_nearest_baseline():
    bench = make()
    found = nearest_baseline(bench)
    assert found == pytest.approx(NEAREST_WORDS)
    assert nearest_baseline(bench, lambda known, asked: 0.0) == pytest.approx(1 / 6)  # always the first train note


def test_nearest_by_a_static_embedder():
    if said := WordllamaEmbedder.missing(WordllamaSettings()):
        pytest.skip(said)
    embedder = WordllamaEmbedder(WordllamaSettings())
    vectors = {
        s.task.input: embedder.vector(s.task.input) for split in ("train", "test") for s in make().samples(split)
    }
    found = nearest_baseline(make(), lambda known, asked: float(vectors[known] @ vectors[asked]))
    assert found == pytest.approx(NEAREST_EMBEDDED)


def test_a_bad_target_is_named(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"context": "a note", "target": "Zulu"}\n')
    with pytest.raises(DataError, match="Zulu"):
        make(test=str(tmp_path / "x.jsonl")).samples("test")


def test_words_in_common():
    assert house_labels.words_in_common("A b c", "b C d") == pytest.approx(0.5)
    assert house_labels.words_in_common("", "") == 0.0
