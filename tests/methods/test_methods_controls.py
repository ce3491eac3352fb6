"""The controls: what survives a rewrite, and the orders that theory predicts, with intervals (review, Eq. 3 and 4)."""

import pytest
from harness import METHODS, PROMPTS, method, rulebook, run, simulated

from ace_bench.contracts import Context, Task
from ace_bench.playbook import Bullet, Playbook
from ace_bench.protocols.online import online

STATEMENTS, STEPS = 5000, 100


def initial(n):
    return Playbook.of([Bullet(f"sta-{i:05d}", f"statement {i}", section="STATEMENTS") for i in range(1, n + 1)])


def survival(folder, name, keep, **knobs):
    """The share of the initial statements with no end before the run's, from the `bullets` rows alone."""
    cls = METHODS[name]
    how = cls(cls.Settings(**knobs), PROMPTS, initial(STATEMENTS))
    transport = simulated(keep=keep, collapse=0.0)
    ran = run(folder, how, rulebook(STEPS), protocol=lambda line, s: online(line, s, 1), transport=transport)
    gone = {r["bullet"] for r in ran.rows["bullets"] if r["event"] == "rewritten_away"}
    kept = {r["bullet"] for r in ran.rows["bullets"] if r["event"] == "end"}
    first = {f"sta-{i:05d}" for i in range(1, STATEMENTS + 1)}
    assert (kept & first) == first - gone
    return len(kept & first) / STATEMENTS


@pytest.mark.slow
def test_survival_follows_the_retention_model(tmp_path):
    assert survival(tmp_path / "full", "full_rewrite", 0.99) == pytest.approx(0.99**100, abs=0.02)  # 0.366
    local = survival(tmp_path / "local", "local_edit", 0.99, fraction=0.1)
    assert local == pytest.approx((1 - 0.1 * 0.01) ** 100, abs=0.02)  # 0.905


@pytest.mark.slow
def test_the_survival_check_fails_for_another_q(tmp_path):
    assert survival(tmp_path, "full_rewrite", 0.97) != pytest.approx(0.99**100, abs=0.02)


def test_append_only_appends_and_changes_nothing(tmp_path):
    ran = run(tmp_path, method("append_only"), rulebook(20))
    assert {r["event"] for r in ran.rows["bullets"]} == {"born", "end"}
    assert len(ran.state) == 20
    assert ran.transport.purposes() == {"solve": 20, "reflect": 20}


def test_raw_trajectories_cost_no_extra_call_and_teach(tmp_path):
    ran = run(tmp_path, method("append_only", entry="trajectory"), rulebook(60), transport=simulated(use=1.0))
    assert ran.transport.purposes() == {"solve": 60}
    repeats = [s["score"] for s in ran.rows["steps"] if not s["first"]]
    firsts = [s["score"] for s in ran.rows["steps"] if s["first"]]
    assert sum(repeats) / len(repeats) > 0.9 > sum(firsts) / len(firsts)


def test_base_never_learns_and_asks_once(tmp_path):
    ran = run(tmp_path, method("base"), rulebook(20))
    assert ran.transport.purposes() == {"solve": 20}
    assert ran.state.version == 0


def test_local_edit_exposes_about_a_fraction_and_leaves_the_rest_alone(tmp_path):
    cls = METHODS["local_edit"]
    how = cls(cls.Settings(fraction=0.2), PROMPTS, initial(500))
    ran = run(tmp_path, how, rulebook(10), transport=simulated(keep=0.0, collapse=0.0))
    lost = [sum(r["event"] == "rewritten_away" and r["position"] == i for r in ran.rows["bullets"]) for i in range(10)]
    alive = 500.0
    for n in lost:
        assert n == pytest.approx(0.2 * alive, abs=5 * (0.16 * alive) ** 0.5)
        alive -= n


def test_a_method_sees_the_task_and_never_the_sample(tmp_path):
    seen = []

    class Nosy(METHODS["base"]):
        def prepare(self, state, task, run):
            seen.append(task)
            return Context(state.render())

        def update(self, state, experience, run):
            seen.append(experience.task)
            return super().update(state, experience, run)

    run(tmp_path, Nosy(Nosy.Settings(), PROMPTS), rulebook(5))
    assert {type(t) for t in seen} == {Task}
    assert not {"target", "meta"} & {f for t in seen for f in dir(t)}
