"""Non-interference: what a regime hides changes not one byte of any request (design, section 3, principle 3)."""

import random
from dataclasses import replace

import pytest
from harness import METHODS, method, rulebook, run, simulated, word_vectors

from ace_bench.benchmarks.rulebook import BAYS
from ace_bench.contracts import Score
from ace_bench.protocols import run as run_module
from ace_bench.protocols.run import StepRun

N = 200
FEW = 30  # for variants whose prompts grow with every sample
# The online methods and their variants: (name, knobs). Batch methods here run under `gt` alone, or have their own tests.
CASES = [(name, {}) for name in METHODS] + [
    ("full_rewrite", {"protected": 5}),
    *(("dynamic_cheatsheet", {"variant": v}) for v in ("retrieval_synthesis", "dynamic_retrieval", "full_history")),
]
LEARNS = [case for case in CASES if case[0] != "base"]


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr(StepRun, "embed", lambda self, texts: word_vectors(texts), raising=False)


class Permuted:
    """A benchmark whose targets are permuted among its samples; inputs stay. With `keep_bits` only wrong ones move."""

    def __init__(self, inner, keep_bits=None):
        self.inner, self.keep_bits = inner, keep_bits
        self.name = inner.name
        self._samples = {split: self._permuted(split) for split in inner.splits()}

    def _permuted(self, split):
        samples = list(self.inner.samples(split))
        targets = [s.target for s in samples]
        random.Random("permute").shuffle(targets)
        return tuple(replace(s, target=self._target(s, t)) for s, t in zip(samples, targets, strict=True))

    def _target(self, sample, target):
        if self.keep_bits is None:
            return target
        if sample.task.id not in self.keep_bits:
            return sample.target
        answer, right = self.keep_bits[sample.task.id]
        return sample.target if right else next(b for b in BAYS if b not in (answer, sample.target))

    def splits(self):
        return self.inner.splits()

    def samples(self, split):
        return self._samples[split]

    def __getattr__(self, name):
        return getattr(self.inner, name)


def world(case):
    return rulebook(FEW if case[1] else N)


def requests(folder, case, benchmark, regime):
    return run(folder, method(case[0], **case[1]), benchmark, regime=regime).transport.seen


@pytest.mark.parametrize("regime", ["execution", "none"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_hidden_targets_change_no_request(tmp_path, case, regime):
    benchmark = world(case)
    permuted = Permuted(benchmark)
    moved = [a.target != b.target for a, b in zip(benchmark.samples("test"), permuted.samples("test"), strict=True)]
    assert sum(moved) > len(moved) / 2
    assert requests(tmp_path / "a", case, benchmark, regime) == requests(tmp_path / "b", case, permuted, regime)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_under_outcome_only_the_bits_matter(tmp_path, case):
    benchmark = world(case)
    first = run(tmp_path / "a", method(case[0], **case[1]), benchmark, regime="outcome")
    bits = {r["sample"]: (r["answer"], r["score"] == 1.0) for r in first.rows["steps"]}
    moved = Permuted(benchmark, keep_bits=bits)
    assert any(a.target != b.target for a, b in zip(benchmark.samples("test"), moved.samples("test"), strict=True))
    assert first.transport.seen == requests(tmp_path / "b", case, moved, "outcome")


@pytest.mark.parametrize("regime", ["outcome", "execution", "none"])
@pytest.mark.parametrize("case", LEARNS, ids=str)
def test_without_the_filter_the_requests_do_change(tmp_path, monkeypatch, case, regime):
    monkeypatch.setattr(run_module, "reveal", lambda feedback, regime: feedback)
    benchmark = world(case)
    assert requests(tmp_path / "a", case, benchmark, regime) != requests(
        tmp_path / "b", case, Permuted(benchmark), regime
    )


def test_a_score_that_differs_tells_a_method_nothing(tmp_path):
    """Not even the outcome class passes: an episode holds no score."""
    benchmark = rulebook(60)

    class Liar(Permuted):
        def score(self, sample, episode):
            return Score(0.0, False, "wrong", {"exact": 0.0})

    liar = Liar(benchmark)
    assert requests(tmp_path / "a", ("ace", {}), benchmark, "execution") == requests(
        tmp_path / "b", ("ace", {}), liar, "execution"
    )


@pytest.mark.parametrize(("regime", "fields", "bits"), [
    ("gt", "correct,target,score", 1), ("outcome", "correct", 1), ("execution", "", 0), ("none", "", 0),
])  # fmt: skip
def test_the_ledger_says_what_was_revealed(tmp_path, regime, fields, bits):
    ran = run(tmp_path, method("append_only"), rulebook(10), regime=regime)
    assert [(r["fields"], r["bits"]) for r in ran.rows["feedback"]] == [(fields, bits)] * 10


def test_every_attempt_is_in_the_ledger(tmp_path):
    ran = run(
        tmp_path, method("ace", rounds=3, reflection="retry"), rulebook(10), transport=simulated(reflect=0.0, prior=0.0)
    )
    attempts = sum(r["purpose"] == "solve" for r in ran.rows["calls"])
    assert len(ran.rows["feedback"]) == attempts > 10
