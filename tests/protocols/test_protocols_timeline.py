"""The timeline: score before update, resume to the byte, nothing asked twice, protocols that do what they say."""

import json

import pytest
from harness import METHODS, method, rulebook, run, simulated, stripped

from ace_bench.protocols.offline import offline
from ace_bench.protocols.online import online


class Killed(BaseException):
    """Stands for kill -9: nothing of ours catches it."""


def killer(after):
    left = [after]

    def watch():
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    return watch


def offline_gt(n):
    def protocol(line, train):
        benchmark = line.parts.benchmark
        return offline(line, train, benchmark.samples("val"), benchmark.samples("test")[:5],
                       epochs=2, eval_every=n, select="gt")  # fmt: skip

    return protocol


PROTOCOLS = {
    "online": (None, "test"),
    "window": (lambda line, s: online(line, s, 5), "test"),
    "offline": (offline_gt(7), "train"),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", METHODS)
def test_killed_and_resumed_is_the_same_as_never_killed(tmp_path, name, protocol):
    how, split = PROTOCOLS[protocol]
    whole = run(tmp_path / "whole", method(name), rulebook(12), protocol=how, split=split)
    transport = simulated()
    for _ in range(200):
        try:
            ran = run(tmp_path / "cut", method(name), rulebook(12), protocol=how, split=split, transport=transport,
                      watch=killer(3))  # fmt: skip
            break
        except Killed:
            continue
    assert stripped(ran.rows) == stripped(whole.rows)  # billed and served_from included
    assert max(transport.digests().values()) == 1  # no request reached the provider twice
    assert ran.state == whole.state


def test_a_kill_in_the_middle_of_a_step_pays_for_no_call_again(tmp_path):
    whole = run(tmp_path / "whole", method("ace", rounds=3), rulebook(6))

    class Dying:
        simulated = True

        def __init__(self, inner):
            self.inner, self.calls = inner, 0

        def complete(self, *args):
            self.calls += 1
            if self.calls % 4 == 0:
                raise Killed
            return self.inner.complete(*args)

    recorder = simulated()
    for _ in range(50):
        try:
            ran = run(tmp_path / "cut", method("ace", rounds=3), rulebook(6), transport=Dying(recorder))
            break
        except Killed:
            continue
    assert stripped(ran.rows) == stripped(whole.rows)
    assert max(recorder.digests().values()) == 1


def test_the_prediction_is_made_with_the_state_before_the_update(tmp_path):
    ran = run(tmp_path, method("append_only"), rulebook(15))
    steps, states = ran.rows["steps"], ran.rows["states"]
    for i, step in enumerate(steps):
        assert step["state"] == states[i]["state"]  # states[0] is the initial one, states[i + 1] that after step i
        assert step["bullets"] == i


def test_strict_and_windowed_online_differ_as_the_released_code_does(tmp_path):
    ran = run(tmp_path, method("ace"), rulebook(30), protocol=lambda line, s: online(line, s, 15))
    scored = [s for s in ran.rows["steps"] if s["phase"] == "score"]
    taught = [s for s in ran.rows["steps"] if s["phase"] == "adapt"]
    assert (len(scored), len(taught)) == (30, 30)
    assert [s["state_version"] for s in scored[:15]] == [0] * 15
    assert len({s["state"] for s in scored[15:]}) == 1
    assert not any(s["shapes_state"] for s in ran.rows["steps"])
    strict = run(tmp_path / "strict", method("ace"), rulebook(30))
    assert all(s["shapes_state"] for s in strict.rows["steps"])


def test_offline_validates_every_k_steps_and_at_the_end_and_the_initial_state_competes(tmp_path):
    ran = run(tmp_path, method("ace"), rulebook(12), protocol=offline_gt(7), split="train")
    rounds = [c["round"] for c in ran.rows["candidates"]]
    assert rounds == [0, 7, 14, 21, 24]
    accepted = [c for c in ran.rows["candidates"] if c["accepted"]]
    scores = [c["score"] for c in accepted]
    assert scores == sorted(scores)
    assert {s["state"] for s in ran.rows["steps"] if s["phase"] == "score"} == {accepted[-1]["state"]}
    means = {c["round"]: c["score"] for c in ran.rows["candidates"]}
    for round_, mean in means.items():
        values = [s["score"] for s in ran.rows["steps"] if s["phase"] == "select" and s["round"] == round_]
        assert sum(values) / len(values) == pytest.approx(mean)


def test_a_worse_state_than_the_initial_one_is_not_picked(tmp_path):
    worse = simulated(reflect=0.0, use=1.0)
    ran = run(
        tmp_path, method("ace"), rulebook(12, obvious=0.9), protocol=offline_gt(24), split="train", transport=worse
    )
    first = ran.rows["candidates"][0]
    assert first["accepted"]
    assert {s["state"] for s in ran.rows["steps"] if s["phase"] == "score"} == {first["state"]}


def test_select_last_reads_no_validation_label(tmp_path):
    def protocol(line, train):
        benchmark = line.parts.benchmark
        return offline(
            line, train, benchmark.samples("val"), benchmark.samples("test"), epochs=1, eval_every=5, select="last"
        )

    ran = run(tmp_path, method("ace"), rulebook(12), protocol=protocol, split="train")
    assert not [s for s in ran.rows["steps"] if s["phase"] == "select"]
    (only,) = ran.rows["candidates"]
    assert only["accepted"]
    assert {s["state"] for s in ran.rows["steps"] if s["phase"] == "score"} == {only["state"]}


def test_a_pool_of_scorers_leaves_the_same_rows(tmp_path):
    how = lambda line, s: online(line, s, 20)  # noqa: E731
    one = run(tmp_path / "1", method("ace"), rulebook(40), protocol=how, workers=1)
    many = run(tmp_path / "8", method("ace"), rulebook(40), protocol=how, workers=8)
    assert stripped(one.rows) == stripped(many.rows)


def test_tokens_belong_to_the_phase_they_were_spent_in(tmp_path):
    ran = run(tmp_path, method("ace", rounds=2), rulebook(8))
    for step in ran.rows["steps"]:
        assert (step["score_calls"], step["adapt_calls"], step["select_calls"]) == (1, 3, 0)
    phases = {(c["purpose"], c["call_phase"], c["shapes_state"]) for c in ran.rows["calls"]}
    assert phases == {("solve", "score", True), ("reflect", "adapt", False), ("curate", "adapt", False)}


def test_first_meetings_are_marked(tmp_path):
    ran = run(tmp_path, method("base"), rulebook(40))
    groups = [s["group"] for s in ran.rows["steps"]]
    assert [s["first"] for s in ran.rows["steps"]] == [g not in groups[:i] for i, g in enumerate(groups)]


def test_every_bullet_is_born_and_ends(tmp_path):
    ran = run(tmp_path, method("full_rewrite"), rulebook(40), transport=simulated(keep=0.8))
    alive = set()
    for row in ran.rows["bullets"]:
        kind, bullet = row["event"], row["bullet"]
        if kind in ("born", "restored"):
            assert bullet not in alive
            alive.add(bullet)
        elif kind in ("rewritten_away", "end"):
            alive.remove(bullet)
    assert not alive
    assert [r["index"] for r in ran.rows["bullets"]] == list(range(len(ran.rows["bullets"])))


def test_the_truth_of_lessons_is_known_on_rulebook(tmp_path):
    honest = run(tmp_path / "a", method("ace"), rulebook(30), transport=simulated(reflect=1.0, malformed=0.0))
    liar = run(tmp_path / "b", method("ace"), rulebook(30), transport=simulated(reflect=0.0, malformed=0.0))
    assert {r["truth"] for r in honest.rows["bullets"]} == {True}
    assert {r["truth"] for r in liar.rows["bullets"]} == {False}


def test_rejections_are_counted_with_their_reasons(tmp_path):
    ran = run(tmp_path, method("ace"), rulebook(60), transport=simulated(malformed=0.5))
    rows = ran.rows["states"]
    assert all(r["applied"] + r["rejected"] == r["proposed"] for r in rows)
    assert {reason for r in rows for reason in json.loads(r["rejections"])} >= {
        "unknown_type",
        "missing_field",
        "not_allowed",
    }
