"""What is refused before anything runs, with a sentence; and that the shipped configs are what the methods take."""

from __future__ import annotations

from typing import Any

import pytest
from fits import METHODS, SMALL, needs

from ace_bench.experiment.compose import CellComposer, compose_master, session
from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.spec import check
from ace_bench.methods.optimizers import extras

PRESETS = ["gepa", "gepa_150", "miprov2", "miprov2_150", "bootstrap_fewshot", "textgrad", "textgrad_150"]


def cell(*overrides: str) -> dict[str, Any]:
    with session() as hydra:
        return CellComposer(hydra.config_loader, compose_master(hydra, [])).cell(list(overrides))


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_a_checked_cell(preset):
    name = preset.removesuffix("_150")
    if missing := METHODS[name].missing():
        pytest.skip(missing)
    spec = check(cell(f"method={preset}", "protocol=offline", "feedback=gt"))
    assert spec.method.cls.__name__ == METHODS[name].__name__
    if preset.endswith("_150"):
        assert spec.method.settings.metric_calls == 150
    elif name != "bootstrap_fewshot":
        assert spec.method.settings.metric_calls == "heavy"


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_states_the_defaults(preset):
    name = preset.removesuffix("_150")
    stated = cell(f"method={preset}", "protocol=offline")["method"]
    defaults = METHODS[name].Settings().model_dump()
    assert stated == {**defaults, **({"metric_calls": 150} if preset.endswith("_150") else {})}


@pytest.mark.parametrize("regime", ["execution", "none"])
@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in METHODS])
def test_regimes_without_a_metric_are_refused(name, regime):
    with pytest.raises(PlanError, match=rf"feedback.regime={regime}: method '{name}' runs under: gt, outcome"):
        check(cell(f"method={name}", "protocol=offline", f"feedback={regime}"))


@pytest.mark.parametrize("protocol", ["online", "frozen"])
@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in METHODS])
def test_other_protocols_are_refused(name, protocol):
    with pytest.raises(PlanError, match=rf"protocol={protocol}: method '{name}' runs under: offline"):
        check(cell(f"method={name}", f"protocol={protocol}", "feedback=gt"))


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("gepa", "gepa", "gepa"), ("miprov2", "dspy", "dspy"), ("miprov2", "optuna", "dspy"),
     ("bootstrap_fewshot", "dspy", "dspy"), ("textgrad", "textgrad", "textgrad")],
)  # fmt: skip
def test_an_absent_library_is_named_with_its_command(monkeypatch, name, package, extra):
    real = extras.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda wanted: None if wanted == package else object())
    monkeypatch.setattr(extras, "_version", lambda wanted: extras.PINS[extra].get(wanted) or "")
    assert real("json") is not None
    with pytest.raises(
        PlanError, match=rf'needs the package {package}, which is not installed.*"ace-bench\[{extra}\]"'
    ):
        check(cell(f"method={name}", "protocol=offline", "feedback=gt"))


@pytest.mark.parametrize("name", METHODS)
def test_another_version_is_refused(monkeypatch, name):
    monkeypatch.setattr(extras, "find_spec", lambda wanted: object())
    monkeypatch.setattr(extras, "_version", lambda wanted: "99.0")
    assert "99.0 is installed" in str(METHODS[name].missing())


@pytest.mark.parametrize("value", ["light", 0, -3, 2.5, True, None])
@pytest.mark.parametrize("name", SMALL)
def test_a_budget_is_heavy_or_a_count(name, value):
    if "metric_calls" in METHODS[name].Settings.model_fields:
        with pytest.raises(ValueError, match="metric_calls"):
            METHODS[name].Settings(metric_calls=value)
