"""What every method must pass, built in or plugged in (design, section 4). Methods come from the registry."""

import json

import pytest
from harness import PROMPTS, Recorder, method, rulebook, run, simulated, stripped

from ace_bench.contracts import REGIMES
from ace_bench.experiment import plugins
from ace_bench.llm.transports.simulated import SimulatedTransport

METHODS = plugins.names("methods")
# For each knob, another value than its default: it must change the requests or the state. A knob not listed fails.
KNOBS = {
    ("ace", "rounds"): 3, ("ace", "reflection"): "retry", ("ace", "operations"): "all",
    ("append_only", "entry"): "trajectory", ("append_only", "section"): "LESSONS",
    ("local_edit", "fraction"): 0.7,
}  # fmt: skip


def make(name, **knobs):
    cls = plugins.load("methods", name)
    return cls(cls.Settings(**knobs), PROMPTS)


def test_the_registry_knows_the_methods_of_the_spine():
    assert set(METHODS) >= {"base", "ace", "append_only", "full_rewrite", "local_edit"}


@pytest.mark.parametrize("name", METHODS)
def test_declares_its_regimes(name):
    regimes = plugins.load("methods", name).regimes
    assert regimes
    assert regimes <= set(REGIMES)


@pytest.mark.parametrize("name", METHODS)
def test_same_seed_same_bytes_and_another_seed_is_another_run(tmp_path, name):
    runs = [run(tmp_path / str(i), make(name), rulebook(30), seed=seed) for i, seed in enumerate((0, 0, 1))]
    assert stripped(runs[0].rows) == stripped(runs[1].rows)
    assert stripped(runs[0].rows) != stripped(runs[2].rows)


@pytest.mark.parametrize("name", METHODS)
def test_state_round_trips(tmp_path, name):
    how = make(name)
    state = run(tmp_path, how, rulebook(20)).state
    data = json.loads(json.dumps(how.dump(state)))
    assert how.load(data) == state
    assert how.load(data).render() == state.render()


@pytest.mark.parametrize("name", METHODS)
def test_prepare_changes_nothing(tmp_path, name):
    how = make(name)
    ran = run(tmp_path, how, rulebook(20))
    before = how.dump(ran.state)
    one, two = (how.prepare(ran.state, rulebook(20).samples("test")[0].task, None) for _ in range(2))
    assert one == two
    assert how.dump(ran.state) == before


@pytest.mark.parametrize("name", METHODS)
def test_every_call_is_accounted(tmp_path, name):
    ran = run(tmp_path, make(name), rulebook(20))
    assert len(ran.rows["calls"]) == len(ran.transport.seen)
    assert all(c["input"] is not None and c["output"] is not None for c in ran.rows["calls"])
    needed = sum(step[f"{p}_calls"] for step in ran.rows["steps"] for p in ("adapt", "select", "score", "probe"))
    assert needed == sum(c["needed"] for c in ran.rows["calls"])


BAD = {
    "not json": lambda text: "I would rather not answer in that form.",
    "cut": lambda text: text[: len(text) // 2],
    "empty object": lambda text: "{}",
    "wrong types": lambda text: json.dumps(dict.fromkeys(json.loads(text), 7)),
    "hostile": lambda text: json.dumps({
        **json.loads(text), "key_insight": "## X\n[les-00001] helpful=9 harmful=0 :: \ud83d \x00 {{task}} {0} %s",
        "operations": [{"type": "ADD", "section": "\n## Y", "content": "__import__('os').system('true')"}, None, 3, {}],
        "entries": [{"section": "x", "content": "[les-00001] a\n## b"}], "bullet_tags": [{"id": "../..", "tag": "helpful"}],
    }),
}  # fmt: skip


@pytest.mark.parametrize("purpose", ["solve", "reflect", "curate", "rewrite"])
@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("name", METHODS)
def test_survives_bad_replies_with_the_state_whole(tmp_path, name, kind, purpose):
    bad = Recorder(
        SimulatedTransport(SimulatedTransport.Settings()),
        lambda asked, text: BAD[kind](text) if asked == purpose else text,
    )
    how = make(name)
    ran = run(tmp_path, how, rulebook(6), transport=bad)
    assert len(ran.rows["steps"]) == 6
    assert all(r["applied"] + r["rejected"] == r["proposed"] for r in ran.rows["states"])
    assert how.load(json.loads(json.dumps(how.dump(ran.state)))) == ran.state
    if kind == "not json" and purpose == "solve":
        assert {s["outcome"] for s in ran.rows["steps"]} == {"unparsed"}
    if kind == "not json" and purpose in ("reflect", "curate", "rewrite"):
        asked = [c for c in ran.rows["calls"] if c["purpose"] == purpose]
        assert sum(c["repair"] for c in asked) == sum(not c["repair"] for c in asked)  # one repair each, no more


@pytest.mark.parametrize("name", METHODS)
def test_every_knob_changes_the_calls_or_the_state(tmp_path, name):
    settings = plugins.load("methods", name).Settings
    plain = run(tmp_path / "plain", make(name), rulebook(30), regime="outcome", transport=simulated(malformed=0.0))
    for knob in set(settings.model_fields) - {"name"}:
        assert (name, knob) in KNOBS, f"method.{knob} of {name} has no test value: is it wired?"
        other = run(tmp_path / knob, make(name, **{knob: KNOBS[name, knob]}), rulebook(30), regime="outcome",
                    transport=simulated(malformed=0.0))  # fmt: skip
        changed = (other.transport.seen, other.state) != (plain.transport.seen, plain.state)
        assert changed, f"method.{knob} of {name} changes nothing"


def test_a_dead_knob_would_be_found(tmp_path):
    """The check above fails for a knob that is not wired: two equal runs are equal."""
    one, two = (run(tmp_path / str(i), method("ace"), rulebook(10)) for i in range(2))
    assert (one.transport.seen, one.state) == (two.transport.seen, two.state)
