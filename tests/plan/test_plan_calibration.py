"""Calibration: what the simulated model really takes lies inside the plan, by purpose, for every protocol and method."""

from __future__ import annotations

from pathlib import Path

import pytest
from plan_cells import PRICED, planned, ran

from ace_bench.experiment.planning.estimate import purposes

SMALL = ["benchmark.train=12", "benchmark.val=6", "benchmark.test=15", "name=small"]
METHODS = {
    "base": ["method=base"],
    "ace": ["method=ace"],
    "refine": ["method=ace", "method.rounds=3"],
    "retry": ["method=ace", "method.rounds=3", "method.reflection=retry"],
    "no_reflector": ["method=ace", "method.reflector=false"],
    "whole": ["method=ace", "method.incremental=false"],
    "append_only": ["method=append_only"],
    "trajectory": ["method=append_only", "method.entry=trajectory"],
    "full_rewrite": ["method=full_rewrite"],
    "local_edit": ["method=local_edit", "method.fraction=0.5"],
}
PROTOCOLS = {
    "online": ["protocol=online"],
    "window": ["protocol=online", "protocol.window=4"],
    "probe": ["protocol=online", "protocol.probe=true"],
    "offline": ["protocol=offline", "protocol.epochs=2", "protocol.eval_every=5"],
    "last": ["protocol=offline", "feedback=execution"],
    "frozen": ["protocol=frozen"],
}
# Every method under the plain protocol, every protocol with ACE.
CASES = [(m, "online") for m in METHODS] + [("ace", p) for p in PROTOCOLS if p != "online"] + [("retry", "offline")]


def check(folder: Path, *overrides: str) -> None:
    """Calls, tokens and dollars of every purpose, and the sums."""
    plan = planned(folder, *overrides)
    rows = ran(folder, *overrides)
    needs = dict(purposes(plan))
    assert {row["purpose"] for row in rows} <= set(needs)
    for purpose, need in [*needs.items(), (None, plan.total)]:
        mine = [row for row in rows if purpose in (None, row["purpose"])]
        seen = {
            "calls": len(mine), "input": sum(row["input"] for row in mine), "output": sum(row["output"] for row in mine),
            "dollars": sum(row["cost"] for row in mine),
        }  # fmt: skip
        for what, value in seen.items():
            amount = getattr(need, what)
            assert amount.high is not None
            assert amount.holds(value), f"{purpose}: {value} {what} are not in {amount}"


@pytest.mark.parametrize(("method", "protocol"), CASES, ids=["-".join(case) for case in CASES])
def test_the_truth_lies_inside_the_plan(tmp_path: Path, method: str, protocol: str) -> None:
    check(tmp_path, *METHODS[method], *PROTOCOLS[protocol], *SMALL, *PRICED)


def test_the_quickstart_lies_inside_its_plan(tmp_path: Path) -> None:
    """One seed and order of the bundled preset: the others only repeat it."""
    check(tmp_path, "experiment=quickstart", "seed=0", "order.seed=1", *PRICED)


@pytest.mark.parametrize("benchmark", ["formula", "finer", "house_labels"])
def test_the_bundled_sets_lie_inside_their_plans(tmp_path: Path, benchmark: str) -> None:
    check(tmp_path, "method=ace,full_rewrite", f"benchmark={benchmark}", "benchmark.test_limit=10", "name=set", *PRICED)


def test_the_whole_quickstart_is_planned_by_hand(tmp_path: Path) -> None:
    """36 cells of 60 items: base one call an item, ACE three, the others two; repairs on top."""
    plan = planned(tmp_path, "experiment=quickstart")
    (group,) = plan.groups
    calls = {arm.label: (arm.cells, arm.total.calls.low, arm.total.calls.high) for arm in group.arms}
    assert calls == {
        "base": (9, 540, 540), "ace": (9, 1620, 2700), "append_only": (9, 1080, 1620), "full_rewrite": (9, 1080, 1620),
    }  # fmt: skip
    assert (plan.cells, plan.total.calls.low, plan.total.calls.high) == (36, 4320, 6480)
    assert plan.total.dollars is None  # the simulated model has no price
