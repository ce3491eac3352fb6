"""Caps stop an experiment at a step boundary; the same command with a higher cap goes on and ends in the same rows."""

import pytest
from test_exp_kill import rows

from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.sweeper import launch, plan
from ace_bench.store import read_table

pytest.importorskip("hydra_plugins.ace_bench", reason="needs an install: pip install -e .")
PLAN = ("method=ace", "benchmark.test=12", "seed=0,1")
PRICED = "model.price=deepseek/deepseek-v3.1"


def run(results, name, *overrides):
    return launch([f"results={results}", f"name={name}", *PLAN, *overrides])


@pytest.mark.parametrize("caps", [
    ["limits.calls=30"], ["limits.cell_calls=10"], ["limits.cell_tokens=9000", "model.max_tokens=2000"],
    ["limits.dollars=0.02", PRICED, "model.max_tokens=2000"],
])  # fmt: skip
def test_a_cap_stops_at_a_step_boundary_and_a_higher_one_goes_on(tmp_path, caps):
    free = [c for c in caps if not c.startswith("limits.")]
    whole = run(tmp_path / "whole", "x", *free)
    assert whole.exit_code == 0
    stopped = run(tmp_path / "capped", "x", *caps)
    assert {r.status for r in stopped.results} <= {"finished", "stopped"}
    assert "stopped" in {r.status for r in stopped.results}
    assert stopped.exit_code == 3
    assert all("Raise limits." in r.sentence for r in stopped.results if r.status == "stopped")
    assert run(tmp_path / "capped", "x", *free).exit_code == 0  # limits are no part of a cell's identity
    assert rows(tmp_path / "whole", "x") == rows(tmp_path / "capped", "x")


def test_what_was_spent_before_a_resume_counts(tmp_path):
    run(tmp_path, "x", "limits.cell_calls=10")
    again = run(tmp_path, "x", "limits.cell_calls=12")  # room for two more calls, not for twelve
    assert {r.status for r in again.results} == {"stopped"}


def test_dollars_spent_stay_under_the_cap(tmp_path):
    run(tmp_path, "x", "limits.dollars=0.02", PRICED, "model.max_tokens=2000", "seed=0")
    done = launch(
        [f"results={tmp_path}", "name=y", "method=ace", "benchmark.test=6", "seed=0", PRICED, "limits.dollars=5"]
    )
    assert done.exit_code == 0
    (cell,) = read_table(tmp_path / "y", "cells").to_pylist()
    assert 0 < cell["billed_cost"] <= cell["cost"] <= 5
    assert cell["cost"] == pytest.approx(sum(c["cost"] for c in read_table(tmp_path / "y", "calls").to_pylist()))


def test_a_dollar_cap_without_a_price_is_refused_before_anything_runs():
    with pytest.raises(PlanError, match="has no price, so it could never fire"):
        plan(["method=ace", "limits.dollars=1"])
    with pytest.raises(PlanError, match=r"roles\.reflect=simulated has no price"):
        plan(["method=ace", "limits.dollars=1", PRICED, "+model@roles.reflect=simulated"])


def test_roles_may_have_models_of_their_own(tmp_path):
    overrides = ["+model@roles.reflect=simulated", "roles.reflect.name=teacher", "roles.reflect.parameters.reflect=0.0"]
    assert run(tmp_path, "x", *overrides).exit_code == 0
    asked = {(c["purpose"], c["model"]) for c in read_table(tmp_path / "x", "calls").to_pylist()}
    assert asked == {("solve", "simulated"), ("reflect", "teacher"), ("curate", "simulated")}
    truths = {b["truth"] for b in read_table(tmp_path / "x", "bullets").to_pylist()}
    assert truths == {False}  # the teacher is always wrong, and it is the teacher that reflects
