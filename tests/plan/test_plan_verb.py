"""`ace-bench plan`: what it prints, that it calls nobody, and that whatever is wrong ends in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from plan_cells import PRICED, planned
from typer.testing import CliRunner

from ace_bench.cli import app
from ace_bench.experiment import plugins
from ace_bench.experiment.planning import lines
from ace_bench.experiment.planning.amounts import Amount
from ace_bench.llm.client import Client
from ace_bench.methods.ace import Ace


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["plan", *arguments])


def test_a_preset_is_planned_and_nothing_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_call(*_: object, **__: object) -> None:
        raise AssertionError("a plan asked a model")

    monkeypatch.setattr(Client, "complete", no_call)
    done = invoke("experiment=quickstart")
    assert done.exit_code == 0, done.output
    assert "36 cells in 4 arms. Nothing was run and no call was made." in done.output
    assert "Detectable difference between two arms: 0." in done.output
    assert done.output.count("unpriced") == 12  # 4 arms, 7 purposes of those with more than one, and the sum
    assert max(map(len, done.output.splitlines())) <= 120
    assert not list(tmp_path.iterdir())  # no folder, no store


def test_prices_give_dollars() -> None:
    assert "$" in invoke("experiment=quickstart", *PRICED).output


@pytest.mark.parametrize("cap", ["limits.dollars=5", "limits.cell_dollars=5"])
@pytest.mark.parametrize("verb", ["plan", "run"])
def test_a_dollar_cap_with_an_unpriced_model_is_refused(cap: str, verb: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [verb, "method=ace", cap])
    assert done.exit_code == 2
    assert "cap in dollars, but model=simulated has no price" in done.output
    assert not list(tmp_path.iterdir())


def test_a_dollar_cap_with_a_price_is_planned_and_told() -> None:
    done = invoke("method=ace", "limits.dollars=0.000001", *PRICED)
    assert done.exit_code == 0
    assert "limits.dollars=1e-06 will stop the experiment" in " ".join(done.output.split())


def test_caps_that_may_fire_are_told() -> None:
    text = " ".join(invoke("method=ace", "limits.calls=200", "limits.cell_calls=100").output.split())
    assert "limits.calls=200 may stop the experiment, which needs up to 300." in text
    assert "limits.cell_calls=100 will stop a cell of ace: it needs at least 180." in text


def test_what_a_method_does_not_declare_is_unknown_not_zero(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delattr(Ace, "expected_calls")
    plan = planned(tmp_path, "method=ace,base")
    assert plan.total.calls == Amount(120, None)
    text = lines.text(plan)
    assert "120 to unknown" in text
    assert "undeclared: this method does not say" in text


@pytest.mark.parametrize(
    "wrong",
    [
        ["method=nobody"], ["method=ace", "method.rounds=0"], ["method=ace", "start=nowhere.txt"],
        ["benchmark=finer", "benchmark.test=nowhere.jsonl"], ["model=litellm"], ["model.price=nobody/nothing"],
        ["method=ace,=b"], ["model=deepseek", "model.params.max_tokens=null", "limits.tokens=1000"],
        ["protocol=offline", "benchmark.train=0"], ["limits.dollars=-1"],
    ],
)  # fmt: skip
def test_bad_input_ends_in_a_sentence(wrong: list[str]) -> None:
    done = invoke(*wrong)
    assert done.exit_code == 2
    assert done.output.startswith("ace-bench: ")
    assert "Traceback" not in done.output


def test_nothing_to_plan() -> None:
    assert invoke().exit_code == 2


def test_every_method_that_declares_gives_ranges() -> None:
    for name in plugins.names("methods"):
        cls = plugins.load("methods", name)
        for how, more in (("expected_calls", ()), ("expected_prepare_calls", ()), ("expected_fit_calls", (20, 10))):
            if declare := getattr(cls, how, None):
                asked = declare(cls.Settings(name=name), *more)
                assert all(0 <= low <= high for low, high in asked.values()), (name, how, asked)
