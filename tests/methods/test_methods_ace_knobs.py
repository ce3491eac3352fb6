"""Each knob of ACE does what its table in the paper says: call counts, events, and what is left in the playbook."""

import json

import pytest
from harness import method, rulebook, run, simulated, word_vectors

from ace_bench.methods.ace_settings import AceSettings
from ace_bench.protocols.offline import offline
from ace_bench.protocols.online import online
from ace_bench.protocols.run import StepRun

SOUND = {"malformed": 0.0}


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr(StepRun, "embed", lambda self, texts: word_vectors(texts), raising=False)
    monkeypatch.setattr(StepRun, "threshold", 0.8, raising=False)


def ace(folder, n=30, benchmark=None, transport=None, protocol=None, regime="gt", **knobs):
    return run(folder, method("ace", **knobs), benchmark or rulebook(n), transport=transport or simulated(**SOUND),
               protocol=protocol, regime=regime)  # fmt: skip


def test_without_a_reflector_the_curator_reads_the_trajectory(tmp_path):
    ran = ace(tmp_path, 20, reflector=False)
    assert dict(ran.transport.purposes()) == {"solve": 20, "curate": 20}
    asked = [m for purpose, _, m in ran.transport.seen if purpose == "curate"]
    assert all("Attempt at: " in messages[-1]["content"] for messages in asked)
    assert ran.state.bullets
    assert not any(r["event"] == "tagged" for r in ran.rows["bullets"])  # nobody judges the bullets


def test_without_incremental_updates_the_whole_playbook_is_rewritten(tmp_path):
    ran = ace(tmp_path, 40, incremental=False, transport=simulated(keep=0.8, collapse=0.0, **SOUND))
    assert dict(ran.transport.purposes()) == {"solve": 40, "reflect": 40, "rewrite": 40}
    assert any(r["event"] == "rewritten_away" for r in ran.rows["bullets"])


@pytest.mark.parametrize("every", [2, 5])
def test_the_curator_reads_every_reflection_since_its_last_turn(tmp_path, every):
    ran = ace(tmp_path, 20, curator_every=every)
    assert ran.transport.purposes()["curate"] == 20 // every
    for purpose, _, messages in ran.transport.seen:
        if purpose == "curate":
            assert messages[-1]["content"].count("Lesson: ") == every


def test_deltas_of_a_batch_are_made_on_one_playbook_and_merged_together(tmp_path):
    ran = ace(tmp_path, 20, batch=6)
    versions = [s["state_version"] for s in ran.rows["steps"]]
    assert all(len(set(versions[i : i + 6])) == 1 for i in range(0, 18, 6))
    assert versions[6] > versions[5]
    born = {r["position"] for r in ran.rows["bullets"] if r["event"] == "born"}
    assert born <= {5, 11, 17, -3}  # at the end of each batch; -3: the incomplete one, flushed at the end of the pass
    rows = ran.rows["states"]
    assert any(r["position"] == -3 for r in rows)
    assert all(r["applied"] + r["rejected"] == r["proposed"] for r in rows)
    assert not ran.state.deltas


def test_a_batch_cut_by_a_kill_is_not_lost(tmp_path):
    class Killed(BaseException):
        pass

    def kill_after(n):
        left = [n]

        def watch():
            left[0] -= 1
            if left[0] < 0:
                raise Killed

        return watch

    whole = ace(tmp_path / "whole", 12, batch=5)
    how, benchmark = method("ace", batch=5), rulebook(12)
    with pytest.raises(Killed):
        run(tmp_path / "cut", how, benchmark, transport=simulated(**SOUND), watch=kill_after(7))
    ran = run(tmp_path / "cut", how, benchmark, transport=simulated(**SOUND))
    assert ran.state == whole.state


@pytest.mark.parametrize(("every", "steps"), [(1, 24), (5, 24), (10, 24), (25, 24), (7, 24)])
def test_exactly_floor_t_over_x_reflections_are_harmful(tmp_path, every, steps):
    ran = ace(tmp_path, steps, harmful_every=every, transport=simulated(reflect=1.0, **SOUND))
    harmful = sum("mislead" in m[0]["content"] for purpose, _, m in ran.transport.seen if purpose == "reflect")
    assert harmful == steps // every
    assert dict(ran.transport.purposes()) == {"solve": steps, "reflect": steps, "curate": steps}
    wrong = {r["position"] for r in ran.rows["bullets"] if r["event"] == "born" and r["truth"] is False}
    assert wrong <= {i for i in range(steps) if (i + 1) % every == 0}


def test_harm_counts_steps_over_epochs(tmp_path):
    def two_epochs(line, train):
        benchmark = line.parts.benchmark
        return offline(line, train, (), benchmark.samples("test")[:1], epochs=2, eval_every=100, select="last")

    ran = run(tmp_path, method("ace", harmful_every=8), rulebook(12), protocol=two_epochs, split="train",
              transport=simulated(**SOUND))  # fmt: skip
    harmful = sum("mislead" in m[0]["content"] for purpose, _, m in ran.transport.seen if purpose == "reflect")
    assert harmful == 24 // 8


def test_dedup_merges_what_is_alike_and_keeps_the_counters(tmp_path):
    noisy = simulated(reflect=0.5, use=1.0, **SOUND)
    ran = ace(tmp_path, 60, refine="proactive", dedup_threshold=0.8, dedup_guard=False, transport=noisy)
    merged = [r for r in ran.rows["bullets"] if r["event"] == "merged_into"]
    assert merged
    assert all(r["into"] for r in merged)
    absorbed = {r["bullet"] for r in merged}
    assert not absorbed & {b.id for b in ran.state.bullets}


def test_without_a_threshold_the_embedders_own_is_used(tmp_path):
    own, told = (ace(tmp_path / str(t), 60, refine="proactive", dedup_threshold=t, dedup_guard=False,
                     transport=simulated(reflect=0.5, **SOUND)) for t in (None, 0.8))  # fmt: skip
    assert own.state == told.state


def test_kept_bullets_fall_with_the_threshold(tmp_path):
    kept = [
        len(ace(tmp_path / str(t), 60, refine="proactive", dedup_threshold=t, dedup_guard=False,
                transport=simulated(reflect=0.5, **SOUND)).state.bullets)
        for t in (0.3, 0.8, 1.0)
    ]  # fmt: skip
    assert kept[0] < kept[1] <= kept[2]


def test_lazy_refinement_waits_for_its_trigger(tmp_path):
    knobs = {"refine": "lazy", "dedup_threshold": 0.5, "dedup_guard": False}
    early = ace(tmp_path / "early", 60, refine_at_tokens=60, **knobs)
    never = ace(tmp_path / "never", 60, refine_at_tokens=100_000, **knobs)
    off = ace(tmp_path / "off", 60)
    assert any(r["event"] == "merged_into" for r in early.rows["bullets"])
    assert never.state == off.state


def test_the_budget_is_kept_by_eviction_with_its_cause(tmp_path):
    ran = ace(tmp_path, 60, token_budget=200)
    assert max(r["tokens"] for r in ran.rows["states"]) <= 200
    evicted = [r for r in ran.rows["bullets"] if r["event"] == "evicted"]
    assert evicted
    ids = [int(r["bullet"].rsplit("-", 1)[1]) for r in evicted]
    assert ids == sorted(ids)  # oldest first


def test_top_k_shows_the_nearest_bullets_only(tmp_path):
    ran = ace(tmp_path, 60, top_k=3, transport=simulated(use=1.0, reflect=1.0, **SOUND))
    for purpose, _, messages in ran.transport.seen:
        if purpose == "solve":
            assert messages[0]["content"].count("helpful=") <= 3
    assert len(ran.state.bullets) > 3
    solved = [m for purpose, _, m in ran.transport.seen if purpose == "solve"]
    contents = [b.content for b in ran.state.bullets]
    task = solved[-1][-1]["content"].removeprefix("<task>\n").removesuffix("\n</task>")
    vectors = word_vectors([task, *contents[:-1]])  # the last bullet may be younger than the last question
    cosines = vectors[1:] @ vectors[0]
    assert contents[int(cosines.argmax())] in solved[-1][0]["content"]


def test_the_released_code_makes_4_calls_for_a_right_and_9_for_a_never_corrected_sample(tmp_path):
    """Training part of one sample, the answer after the update (probe) included; the window's score is one more."""
    knobs = {"rounds": 3, "reflection": "retry"}
    how = lambda line, s: online(line, s, 8, probe=True)  # noqa: E731
    right = ace(tmp_path / "right", benchmark=rulebook(8, obvious=1.0, exceptions=0.0), protocol=how, regime="outcome",
                transport=simulated(prior=1.0, use=0.0, **SOUND), **knobs)  # fmt: skip
    never = ace(tmp_path / "never", benchmark=rulebook(8, obvious=0.0), protocol=how, regime="outcome",
                transport=simulated(prior=1.0, use=0.0, **SOUND), **knobs)  # fmt: skip
    assert sum(right.transport.purposes().values()) == 8 * (4 + 1)
    assert sum(never.transport.purposes().values()) == 8 * (9 + 1)
    probes = [c for c in never.rows["calls"] if c["call_phase"] == "probe"]
    assert len(probes) == 8
    assert {c["purpose"] for c in probes} == {"solve"}


def test_the_state_round_trips_with_what_waits(tmp_path):
    states = []
    how = method("ace", batch=4, curator_every=2)
    ran = run(tmp_path, how, rulebook(11), transport=simulated(malformed=0.5))
    for row in ran.rows["states"]:
        state = how.load(json.loads(ran.texts.get(row["state"])))
        assert how.load(json.loads(json.dumps(how.dump(state)))) == state
        states.append(state)
    assert any(s.deltas for s in states)
    assert any(s.reflections for s in states)


@pytest.mark.parametrize("knobs", [
    {"dedup_threshold": 0.9}, {"refine": "lazy", "dedup_threshold": 0.9},
    {"refine_at_tokens": 10}, {"evict": "least_helpful"}, {"reflector": False, "rounds": 3},
    {"reflector": False, "harmful_every": 5}, {"incremental": False, "batch": 2}, {"rounds": 0}, {"top_k": 0},
])  # fmt: skip
def test_a_knob_that_would_do_nothing_is_refused(knobs):
    with pytest.raises(ValueError, match=r"method\.|greater than"):
        AceSettings(**knobs)
