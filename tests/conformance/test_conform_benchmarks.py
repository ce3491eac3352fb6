"""What every benchmark must pass, built in or plugged in (design, section 4). Benchmarks come from the registry.

A benchmark whose class says what it lacks (`missing(settings)`) is skipped with that sentence. All run with their defaults,
on at most `MOST` samples of a split.
"""

import dataclasses
import json
import os
import subprocess
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest
from bench_probe import fingerprint, made

from ace_bench.contracts import Score
from ace_bench.experiment import plugins
from ace_bench.llm.structured import parse
from ace_bench.llm.types import Reply
from ace_bench.protocols.orders import order_digest, ordered
from ace_bench.store.schema import OUTCOMES

NAMES = plugins.names("benchmarks")
MOST = 6  # samples of a split that are played; whole splits are looked at
LONG = 12  # characters: a target this long in a prompt is no accident
STATUSES = ("refused", "truncated", "empty", "overflow", "error")


def lacking(name):
    cls = plugins.load("benchmarks", name)
    return getattr(cls, "missing", lambda settings: None)(cls.Settings())


@pytest.fixture(scope="module")
def benchmarks():
    """The benchmarks that can run here, each made once."""
    return {name: made(name) for name in NAMES if lacking(name) is None}


@pytest.fixture(params=NAMES)
def benchmark(request, benchmarks):
    if (sentence := lacking(request.param)) is not None:
        pytest.skip(f"{request.param}: {sentence}")
    return benchmarks[request.param]


class Agent:
    """An `ask` that always says the same, however often it is asked, and keeps what it was shown."""

    def __init__(self, text, status=None):
        self.text, self.status, self.shown = text, status or ("ok" if text else "empty"), []

    def __call__(self, purpose, messages, schema=None, repair=True):
        self.shown.append("\n".join(m["content"] for m in messages))
        assert len(self.shown) < 200, "the episode does not end"
        data = parse(self.text, schema).data if schema and self.text else None
        return Reply(self.text, self.status, data=data)


def split_samples(benchmark):
    return [s for split in benchmark.splits() for s in benchmark.samples(split)]


def played(benchmark):
    """Some samples of every split, spread over it."""
    out = []
    for split in benchmark.splits():
        some = benchmark.samples(split)
        out += some[:: max(1, len(some) // MOST)][:MOST]
    return out


def gold(benchmark, sample):
    """The reply with full marks: the benchmark's own, or the target in the form of the solve role."""
    how = getattr(benchmark, "gold_reply", None)
    return how(sample) if how else json.dumps({"reasoning": "", "bullet_ids": [], "final_answer": sample.target})


def attempt(benchmark, sample, text):
    episode = benchmark.solve("", sample.task, Agent(text))
    return episode, benchmark.score(sample, episode)


def test_the_registry_knows_the_benchmarks():
    assert set(NAMES) >= {"rulebook", "finer", "formula", "ddxplus", "bird", "qa"}


def test_gold_agent_full_marks(benchmark):
    for sample in played(benchmark):
        episode, score = attempt(benchmark, sample, gold(benchmark, sample))
        assert (score.value, score.correct, score.outcome) == (1.0, True, "right"), (
            sample.task.id,
            score,
            episode.trace[-500:],
        )


@pytest.mark.parametrize("text", ["", "{}", '{"final_answer": ""}', "no idea"])
def test_empty_agent_none(benchmark, text):
    for sample in played(benchmark):
        _, score = attempt(benchmark, sample, text)
        assert score.value in (0.0, None)
        assert not score.correct
        assert not any(
            score.named.get(rule) for rule in ("upstream", "strict", "exact", "execution", "multiset", "tgc")
        )


@pytest.fixture(scope="module")
def elsewhere(benchmarks):
    """The fingerprints in two other processes, with other hash seeds and from another folder."""

    def ask(seed, folder):
        env = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(Path(__file__).parent)}
        script = str(Path(__file__).with_name("bench_probe.py"))
        done = subprocess.run(
            [sys.executable, script, *benchmarks], env=env, cwd=folder, check=True, capture_output=True
        )
        return json.loads(done.stdout)

    return [ask(1, "/"), ask(4242, Path(__file__).parent)]


def test_ids_inputs_and_digests_are_the_same_in_every_process(benchmark, benchmarks, elsewhere):
    (name,) = [name for name, made_ in benchmarks.items() if made_ is benchmark]
    here = fingerprint(benchmark)
    assert here == elsewhere[0][name] == elsewhere[1][name]
    assert here == fingerprint(made(name))


def test_orders_are_permutations_with_a_digest_of_their_own(benchmark):
    samples = benchmark.samples("test")
    digests = Counter()
    for kind in ("shuffled", "blocked", "interleaved"):
        for seed in (0, 1):
            stream = ordered(samples, kind, seed)
            assert sorted(s.task.id for s in stream) == sorted(s.task.id for s in samples)
            digests[kind, order_digest(stream)] += 1
    assert len(digests) == 6


def test_groups_are_named_and_stay_whole(benchmark):
    samples = benchmark.samples("test")
    assert all(isinstance(s.task.group, str) and s.task.group for s in split_samples(benchmark))
    blocks = [
        (group, len(list(some))) for group, some in groupby(ordered(samples, "blocked", 3), lambda s: s.task.group)
    ]
    assert sorted(blocks) == sorted(Counter(s.task.group for s in samples).items())


def test_a_group_does_not_tell_the_target(benchmark):
    for sample in split_samples(benchmark):
        group = sample.task.group
        assert sample.target.casefold() != group.casefold() or len(sample.target) < 3


HOSTILE = [
    "__import__('pathlib').Path('owned').write_text('x')", "len('ab')",
    "{0.__class__}", "%s%s%n", "{{task}}", "../../etc/passwd",
    "'; DROP TABLE ships; --", "DROP TABLE ships", "ATTACH 'owned' AS o", "\ud83d", "\x00", "\u202e1", "1e999999999", "nan",
    "9" * 100_000, "," * 100_000, "(" * 50_000, " 1" * 50_000, "[[" * 10_000, "a\n" * 50_000, "```sql\n" * 1000,
]  # fmt: skip


def test_hostile_answers_are_scored_without_effect(benchmark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = benchmark.data_digest()
    sample = benchmark.samples("test")[0]
    plain = benchmark.solve("", sample.task, Agent("no idea"))  # with all that an episode of this benchmark has
    for answer in HOSTILE:
        episode = dataclasses.replace(plain, trace=answer, answer=answer, status="ok")
        score = benchmark.score(sample, episode)
        check_score(score)
        assert not score.correct
        assert isinstance(benchmark.observe(sample, episode, score).environment, str)
    assert list(tmp_path.iterdir()) == []
    assert benchmark.data_digest() == before
    assert attempt(benchmark, sample, gold(benchmark, sample))[1].correct  # the next attempt is unaffected


def test_hostile_replies_end_as_episodes(benchmark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sample = benchmark.samples("test")[0]
    for text in (
        *HOSTILE[:12],
        json.dumps({"final_answer": HOSTILE[0]}),
        '{"final_answer": {"a": 1}}',
        '{"final_answer": NaN}',
    ):
        _, score = attempt(benchmark, sample, text)
        check_score(score)
        assert not score.correct
    assert list(tmp_path.iterdir()) == []


def check_score(score):
    assert isinstance(score, Score)
    assert score.outcome in OUTCOMES
    assert score.value is None or 0.0 <= score.value <= 1.0
    assert all(isinstance(v, float) and 0.0 <= v <= 1.0 for v in score.named.values())
    assert score.correct is (score.outcome == "right")


@pytest.mark.parametrize("status", STATUSES)
def test_an_attempt_without_an_answer_keeps_its_name(benchmark, status):
    sample = benchmark.samples("test")[0]
    episode = benchmark.solve("", sample.task, Agent("", status))
    score = benchmark.score(sample, episode)
    check_score(score)
    assert (score.value, score.correct) == (None if status == "error" else 0.0, False)
    # An environment may go on after a cut reply, and end without code that it could run.
    assert score.outcome == status or (status, score.outcome) == ("truncated", "unparsed")
    assert benchmark.observe(sample, episode, score).environment


def test_no_prompt_holds_a_target(benchmark):
    """Only what the task itself says may be shown: a target that the input does not hold is in no message."""
    for sample in played(benchmark):
        agent = Agent("no idea")
        benchmark.solve("", sample.task, agent)
        assert agent.shown
        if len(sample.target) >= LONG and sample.target not in sample.task.input:
            assert not any(sample.target in text for text in agent.shown), sample.task.id


def test_the_prompt_hangs_on_task_and_context_alone(benchmark):
    sample = benchmark.samples("test")[0]
    agents = [Agent("no idea") for _ in range(2)]
    for agent in agents:
        benchmark.solve("CONTEXT-CANARY", sample.task, agent)
    assert agents[0].shown == agents[1].shown
    assert "CONTEXT-CANARY" in agents[0].shown[0]


def test_the_environment_is_silent_about_the_target(benchmark):
    """Another target: other scores and details, the same words of the environment (regime `execution`)."""
    one = benchmark.samples("test")[0]
    others = [s.target for s in benchmark.samples("test") if s.target != one.target and same_shape(s, one)][:3]
    for text in ("no idea", gold(benchmark, one)):
        episode = benchmark.solve("", one.task, Agent(text))
        said = set()
        for target in (one.target, *others):
            sample = dataclasses.replace(one, target=target)
            said.add(benchmark.observe(sample, episode, benchmark.score(sample, episode)).environment)
        assert len(said) == 1


def same_shape(one, two):
    """Targets may be exchanged within a group (a statement about one database means nothing on another)."""
    return one.task.group == two.task.group


def test_pools_are_disjoint(benchmark):
    ids = Counter(s.task.id for s in split_samples(benchmark))
    assert [key for key, n in ids.items() if n > 1] == []
    texts = {split: {s.task.input for s in benchmark.samples(split)} for split in benchmark.splits()}
    told = benchmark.shared() if hasattr(benchmark, "shared") else {}
    for one in texts:
        for two in texts:
            common = texts[one] & texts[two] if one < two else set()
            assert not common or (one, two) in told or (two, one) in told, (
                f"{len(common)} texts stand in {one} and {two}"
            )
    assert told == {}


def test_scoring_is_pure(benchmark):
    """The same episode scores the same, again, in another order and on another instance; nothing of it is changed."""
    pairs = []
    for sample in played(benchmark)[:6]:
        for text in (gold(benchmark, sample), "no idea"):
            pairs.append((sample, benchmark.solve("", sample.task, Agent(text))))
    copies = [(dataclasses.replace(s), dataclasses.replace(e)) for s, e in pairs]
    first = [benchmark.score(s, e) for s, e in pairs]
    assert [benchmark.score(s, e) for s, e in reversed(pairs)][::-1] == first
    assert pairs == copies
    assert [e.task for _, e in pairs] == [s.task for s, _ in pairs]


def test_samples_are_loaded_once_and_the_digest_holds(benchmark):
    assert benchmark.samples("test") == benchmark.samples("test")
    assert benchmark.data_digest() == benchmark.data_digest()
    assert len(benchmark.data_digest()) == 64


def test_the_suite_can_fail(benchmarks):
    """A benchmark that shows its target, scores by a clock or knows no wrong answer is found out."""
    rulebook = benchmarks["rulebook"]

    class Leaky(type(rulebook)):
        name = "leaky"

        def score(self, sample, episode):
            return Score(1.0, True, "right", {"exact": 1.0})

    leaky = Leaky(rulebook.settings, rulebook.prompts)
    with pytest.raises(AssertionError):
        test_empty_agent_none(leaky, "")
