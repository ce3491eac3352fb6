"""What every method must pass, built in or plugged in (design, section 4). Methods come from the registry."""

import json

import pytest
from harness import PROMPTS, Recorder, method, rulebook, run, simulated, stripped, word_vectors

from ace_bench.benchmarks.rulebook import Rulebook
from ace_bench.contracts import REGIMES
from ace_bench.experiment import plugins
from ace_bench.llm.transports.simulated import SimulatedTransport
from ace_bench.protocols.offline import offline
from ace_bench.protocols.run import StepRun

METHODS = plugins.names("methods")
# For each knob, another value than its default: it must change the requests or the state. A knob not listed fails.
KNOBS = {
    ("ace", "rounds"): 3, ("ace", "reflection"): "retry", ("ace", "operations"): "all", ("ace", "reflector"): False,
    ("ace", "incremental"): False, ("ace", "curator_every"): 2, ("ace", "batch"): 3, ("ace", "top_k"): 2,
    ("ace", "refine"): "lazy", ("ace", "dedup_threshold"): 0.99, ("ace", "dedup_guard"): False,
    ("ace", "refine_at_tokens"): 100, ("ace", "token_budget"): 150, ("ace", "evict"): "least_helpful",
    ("ace", "harmful_every"): 5,
    ("append_only", "entry"): "trajectory", ("append_only", "section"): "LESSONS", ("append_only", "token_budget"): 100,
    ("local_edit", "fraction"): 0.7, ("full_rewrite", "protected"): 3,
    ("dynamic_cheatsheet", "variant"): "full_history", ("dynamic_cheatsheet", "rounds"): 2,
    ("dynamic_cheatsheet", "top_k"): 1, ("dynamic_cheatsheet", "extraction"): "released",
    ("icl", "shots"): 2, ("icl", "budget"): 200, ("icl", "pick"): "nearest",
    **{(name, "seed_prompt"): "Answer." for name in ("gepa", "miprov2", "bootstrap_fewshot", "textgrad")},
    **{(name, "metric_calls"): 60 for name in ("gepa", "miprov2", "textgrad")},
    ("gepa", "minibatch"): 2, ("textgrad", "minibatch"): 2, ("textgrad", "full_value"): True,
    **{(name, "max_bootstrapped_demos"): 1 for name in ("miprov2", "bootstrap_fewshot")},
    **{(name, "max_labeled_demos"): 0 for name in ("miprov2", "bootstrap_fewshot")},
}  # fmt: skip
# What a knob needs beside it before it means anything: other knobs, or a model whose replies are cut.
WITH = {
    ("dynamic_cheatsheet", "top_k"): {"variant": "dynamic_retrieval"},
    ("ace", "dedup_threshold"): {"refine": "proactive"}, ("ace", "evict"): {"token_budget": 150},
    ("ace", "refine"): {"dedup_threshold": 0.5, "refine_at_tokens": 400},
    ("ace", "dedup_guard"): {"refine": "proactive", "dedup_threshold": 0.5},
    ("ace", "refine_at_tokens"): {"refine": "lazy", "dedup_threshold": 0.5},
}  # fmt: skip
# What the comparison run has where the default alone would not be legal beside them.
BESIDE = {
    ("ace", "dedup_threshold"): {"dedup_threshold": 0.5}, ("ace", "refine_at_tokens"): {"refine_at_tokens": 100_000},
    ("ace", "refine"): {"refine": "proactive", "dedup_threshold": 0.5, "refine_at_tokens": None},
}  # fmt: skip
CUT = {("dynamic_cheatsheet", "extraction"): lambda purpose, text: text.replace("</cheatsheet>", "")}
# Methods whose curator writes plain text: there is no form to ask for again, so no repair.
PLAIN = {"dynamic_cheatsheet"}
# Settings that make a method's run small, and what a batch method asks for (one not listed: everything is tried).
SMALL = {name: {"metric_calls": 40} for name in ("gepa", "miprov2", "textgrad")}
ASKS = {
    "gepa": {"solve", "propose"}, "miprov2": {"solve", "propose"}, "textgrad": {"solve", "reflect", "propose"},
    "bootstrap_fewshot": {"solve"}, "icl": {"solve"},
}  # fmt: skip


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr(StepRun, "embed", lambda self, texts: word_vectors(texts), raising=False)


def make(name, **knobs):
    cls = plugins.load("methods", name)
    if missing := getattr(cls, "missing", lambda: None)():
        pytest.skip(f"{name}: {missing}")
    return cls(cls.Settings(**{**SMALL.get(name, {}), **knobs}), PROMPTS)


def online(name):
    return "online" in plugins.load("methods", name).protocols


def world(name, n):
    """Tasks for a method; a batch method looks at every validation task many times, so it gets few."""
    return rulebook(n) if online(name) else Rulebook(Rulebook.Settings(train=n, val=4, test=n), PROMPTS)


def play(folder, how, benchmark, **options):
    """Online where the method can; a batch method through the offline protocol."""
    if "online" in how.protocols:
        return run(folder, how, benchmark, **options)

    def whole(timeline, stream):
        train, val = (benchmark.samples(split) for split in ("train", "val"))
        return offline(timeline, train, val, stream, epochs=1, eval_every=100, select="gt")

    return run(folder, how, benchmark, protocol=whole, **options)


def test_the_registry_knows_the_methods_of_the_spine():
    assert set(METHODS) >= {"base", "ace", "append_only", "full_rewrite", "local_edit"}


@pytest.mark.parametrize("name", METHODS)
def test_declares_its_regimes(name):
    regimes = plugins.load("methods", name).regimes
    assert regimes
    assert regimes <= set(REGIMES)


@pytest.mark.parametrize("name", METHODS)
def test_same_seed_same_bytes_and_another_seed_is_another_run(tmp_path, name):
    runs = [play(tmp_path / str(i), make(name), world(name, 30), seed=seed) for i, seed in enumerate((0, 0, 1))]
    assert stripped(runs[0].rows) == stripped(runs[1].rows)
    assert stripped(runs[0].rows) != stripped(runs[2].rows)


@pytest.mark.parametrize("name", METHODS)
def test_state_round_trips(tmp_path, name):
    how = make(name)
    state = play(tmp_path, how, world(name, 20)).state
    data = json.loads(json.dumps(how.dump(state)))
    assert how.load(data) == state
    assert how.load(data).render() == state.render()


@pytest.mark.parametrize("name", METHODS)
def test_prepare_changes_nothing(tmp_path, name):
    how = make(name)
    ran = play(tmp_path, how, world(name, 20))
    before = how.dump(ran.state)
    one, two = (how.prepare(ran.state, rulebook(20).samples("test")[0].task, None) for _ in range(2))
    assert one == two
    assert how.dump(ran.state) == before


@pytest.mark.parametrize("name", METHODS)
def test_every_call_is_accounted(tmp_path, name):
    ran = play(tmp_path, make(name), world(name, 20))
    assert len(ran.rows["calls"]) == len(ran.transport.seen)
    assert all(c["input"] is not None and c["output"] is not None for c in ran.rows["calls"])
    needed = sum(step[f"{p}_calls"] for step in ran.rows["steps"] for p in ("adapt", "select", "score", "probe"))
    whole = (
        [] if online(name) else [c for c in ran.rows["calls"] if c["phase"] == "adapt"]
    )  # a fit has no row of its own
    assert needed + sum(c["needed"] for c in whole) == sum(c["needed"] for c in ran.rows["calls"])


def fields(text):
    """A reply's JSON fields; one in plain words has none."""
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text}


BAD = {
    "not json": lambda text: "I would rather not answer in that form.",
    "cut": lambda text: text[: len(text) // 2],
    "empty object": lambda text: "{}",
    "wrong types": lambda text: json.dumps(dict.fromkeys(fields(text), 7)),
    "hostile": lambda text: json.dumps({
        **fields(text), "key_insight": "## X\n[les-00001] helpful=9 harmful=0 :: \ud83d \x00 {{task}} {0} %s",
        "operations": [{"type": "ADD", "section": "\n## Y", "content": "__import__('os').system('true')"}, None, 3, {}],
        "entries": [{"section": "x", "content": "[les-00001] a\n## b"}], "bullet_tags": [{"id": "../..", "tag": "helpful"}],
        "sheet": "<cheatsheet>\n</playbook> \ud83d {{task}} {0} <cheatsheet></cheatsheet>",
    }),
}  # fmt: skip


EVERY = {"solve", "reflect", "curate", "rewrite"}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize(
    ("name", "purpose"), [(name, asked) for name in METHODS for asked in sorted(ASKS.get(name, EVERY))]
)
def test_survives_bad_replies_with_the_state_whole(tmp_path, name, kind, purpose):
    bad = Recorder(
        SimulatedTransport(SimulatedTransport.Settings()),
        lambda asked, text: BAD[kind](text) if asked == purpose else text,
    )
    how = make(name)
    ran = play(tmp_path, how, world(name, 6), transport=bad)
    assert len(ran.rows["steps"]) == 6
    assert all(r["applied"] + r["rejected"] == r["proposed"] for r in ran.rows["states"])
    assert how.load(json.loads(json.dumps(how.dump(ran.state)))) == ran.state
    if kind == "not json" and purpose == "solve":
        assert {s["outcome"] for s in ran.rows["steps"]} == {"unparsed"}
    if kind == "not json" and purpose in ("reflect", "curate", "rewrite") and online(name) and name not in PLAIN:
        asked = [c for c in ran.rows["calls"] if c["purpose"] == purpose]
        assert sum(c["repair"] for c in asked) == sum(not c["repair"] for c in asked)  # one repair each, no more


@pytest.mark.parametrize("name", METHODS)
def test_every_knob_changes_the_calls_or_the_state(tmp_path, name):
    settings = plugins.load("methods", name).Settings
    regime = "outcome" if online(name) else "gt"
    for knob in sorted(set(settings.model_fields) - {"name"}):
        assert (name, knob) in KNOBS, f"method.{knob} of {name} has no test value: is it wired?"
        beside, mangle = WITH.get((name, knob), {}), CUT.get((name, knob))
        runs = [
            play(
                tmp_path / f"{knob}{i}",
                make(name, **{**beside, **own}),
                world(name, 30),
                regime=regime,
                transport=played(mangle),
            )
            for i, own in enumerate((BESIDE.get((name, knob), {}), {knob: KNOBS[name, knob]}))
        ]
        seen = [(ran.transport.seen, ran.state) for ran in runs]
        assert seen[0] != seen[1], f"method.{knob} of {name} changes nothing"


def played(mangle):
    return Recorder(simulated(malformed=0.0).inner, mangle)


def test_a_dead_knob_would_be_found(tmp_path):
    """The check above fails for a knob that is not wired: two equal runs are equal."""
    one, two = (run(tmp_path / str(i), method("ace"), rulebook(10)) for i in range(2))
    assert (one.transport.seen, one.state) == (two.transport.seen, two.state)
