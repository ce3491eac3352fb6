"""ACE step by step: call counts, what reaches the playbook, and the counters."""

import json

import pytest
from harness import method, rulebook, run, simulated

from ace_bench.methods.ace import Ace


def purposes(ran):
    return dict(ran.transport.purposes())


@pytest.mark.parametrize("rounds", [1, 3, 5, 10])
def test_refine_asks_once_n_times_once(tmp_path, rounds):
    """1 solve + N reflect + 1 curate a sample: 3, 5, 7, 12 calls for N = 1, 3, 5, 10."""
    ran = run(tmp_path, method("ace", rounds=rounds), rulebook(10), transport=simulated(malformed=0.0))
    assert purposes(ran) == {"solve": 10, "reflect": 10 * rounds, "curate": 10}


def test_retry_stops_at_the_first_right_answer_as_the_released_code_does(tmp_path):
    """Right at once: 1 + 1 + 1. Never right: 1 + 3 x (reflect, solve) + 1."""
    never = run(tmp_path / "never", method("ace", rounds=3, reflection="retry"), rulebook(8, obvious=0.0),
                transport=simulated(prior=1.0, use=0.0, malformed=0.0))  # fmt: skip
    assert purposes(never) == {"solve": 8 * 4, "reflect": 8 * 3, "curate": 8}
    at_once = run(tmp_path / "once", method("ace", rounds=3, reflection="retry"), rulebook(8, obvious=1.0, exceptions=0.0),
                  transport=simulated(prior=1.0, use=0.0, malformed=0.0))  # fmt: skip
    assert purposes(at_once) == {"solve": 8, "reflect": 8, "curate": 8}


def test_a_repair_round_is_asked_for_a_malformed_curation_and_only_one(tmp_path):
    ran = run(tmp_path, method("ace"), rulebook(40), transport=simulated(malformed=1.0))
    repairs = [c for c in ran.rows["calls"] if c["repair"]]
    assert {c["purpose"] for c in repairs} == {"curate"}
    assert 0 < len(repairs) <= 40
    assert all(c["needed"] and c["billed"] for c in repairs)


def test_a_bullet_is_counted_once_a_step_however_many_rounds(tmp_path):
    ran = run(tmp_path, method("ace", rounds=5), rulebook(60), transport=simulated(reflect=1.0, use=1.0, malformed=0.0))
    tagged = [r for r in ran.rows["bullets"] if r["event"] == "tagged"]
    assert tagged
    assert len({(r["bullet"], r["position"]) for r in tagged}) == len(tagged)
    used = {s["position"]: json.loads(s["used"]) for s in ran.rows["steps"]}
    assert all(r["bullet"] in used[r["position"]] for r in tagged)
    for bullet in ran.state.bullets:
        assert bullet.helpful + bullet.harmful <= sum(bullet.id in ids for ids in used.values())


def test_counters_follow_the_outcome_and_stay_still_without_one(tmp_path):
    told = run(
        tmp_path / "a", method("ace"), rulebook(60), regime="outcome", transport=simulated(use=1.0, malformed=0.0)
    )
    silent = run(
        tmp_path / "b", method("ace"), rulebook(60), regime="none", transport=simulated(use=1.0, malformed=0.0)
    )
    assert sum(b.helpful + b.harmful for b in told.state.bullets) > 0
    assert sum(b.helpful + b.harmful for b in silent.state.bullets) == 0


def test_the_curator_may_only_add_unless_told_otherwise(tmp_path):
    knobs = {"transport": simulated(reflect=0.5, malformed=0.0)}
    add = run(tmp_path / "add", method("ace"), rulebook(60), **knobs)
    edits = run(
        tmp_path / "all", method("ace", operations="all"), rulebook(60), transport=simulated(reflect=0.5, malformed=0.0)
    )
    assert {r["event"] for r in add.rows["bullets"]} == {"born", "tagged", "end"}
    assert "edited" in {r["event"] for r in edits.rows["bullets"]}
    assert len(edits.state.bullets) < len(add.state.bullets)


def test_ids_the_reflector_invents_are_rejected(tmp_path):
    class Inventive:
        simulated = True

        def __init__(self, inner):
            self.inner = inner

        def complete(self, request, purpose, digest):
            done = self.inner.complete(request, purpose, digest)
            if purpose != "reflect":
                return done
            data = json.loads(done.text) | {"bullet_tags": [{"id": "les-00001", "tag": "helpful"}] * 2}
            return type(done)(json.dumps(data), "ok", "stop", done.usage, done.model, done.latency_s)

    ran = run(tmp_path, method("ace"), rulebook(10), transport=Inventive(simulated(use=0.0, malformed=0.0)))
    assert all(b.helpful == 0 for b in ran.state.bullets)
    assert sum(json.loads(r["rejections"]).get("not_cited", 0) for r in ran.rows["states"]) == 20


def test_unrelated_bullets_are_kept_byte_for_byte(tmp_path):
    ran = run(tmp_path, method("ace"), rulebook(60), transport=simulated(malformed=0.3))
    how = method("ace")
    contents = {}
    for row in ran.rows["states"]:
        state = how.load(json.loads(ran.texts.get(row["state"])))
        for bullet, content in contents.items():
            assert state.playbook.get(bullet).content == content
        contents = {b.id: b.content for b in state.bullets}


def test_the_settings_refuse_what_they_do_not_know():
    with pytest.raises(ValueError, match="reflections"):
        Ace.Settings(reflections=3)
