"""From a command line to a plan."""

from __future__ import annotations

from pathlib import Path

import pytest
from exp_fakes import BASE
from hydra.errors import HydraException

from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.sweeper import plan


def _knobs(cells: list) -> set[tuple[str, str, str, int]]:
    return {(p.spec.method.name, p.spec.feedback.regime, p.spec.protocol.name, p.spec.seed) for p in cells}


def test_one_cell_is_a_plan_of_one(conf: Path) -> None:
    (only,) = plan(BASE, conf)
    assert only.id == only.spec.id()
    assert only.folder == Path("results/adhoc") / only.id


def test_params_are_a_product(conf: Path) -> None:
    cells = plan(["experiment=product"], conf)
    assert _knobs(cells) == {(m, "gt", "online", s) for m in ("alpha", "beta") for s in range(3)}


def test_points_need_not_be_a_product(conf: Path) -> None:
    cells = plan(["experiment=points"], conf)
    want = {("beta", "none", "frozen"), ("alpha", "gt", "offline"), ("alpha", "outcome", "offline")}
    want |= {("alpha", "outcome", "online"), ("beta", "outcome", "online")}
    assert _knobs(cells) == {(*w, s) for w in want for s in (0, 1)}


def test_the_command_line_wins(conf: Path) -> None:
    assert _knobs(plan(["experiment=product", "method=beta", "seed=7"], conf)) == {("beta", "gt", "online", 7)}
    assert len(plan(["experiment=product", "method=alpha", "method.rounds=1,2"], conf)) == 6
    assert len(plan(["experiment=points", "feedback=outcome", "seed=0"], conf)) == 4


def test_equal_cells_are_merged(conf: Path) -> None:
    assert len(plan([*BASE, "seed=0,0,1"], conf)) == 2
    assert len(plan([*BASE, "method.share=0.5,5e-1"], conf)) == 1


def test_values_on_the_command_line(conf: Path) -> None:
    traps = {"seed=1e3": "seed = 1000.0", "method.flag=on": "method.flag = 'on'", "seed=null": "seed = None"}
    for bad, words in traps.items():
        with pytest.raises(PlanError, match=words):
            plan([*BASE, bad], conf)
    assert plan([*BASE, "seed=1_000"], conf)[0].spec.seed == 1000


def test_a_dead_knob_in_a_preset_is_refused(conf: Path) -> None:
    with pytest.raises(PlanError, match=r"method\.reflection is not a setting of method 'alpha'"):
        plan(["experiment=dead"], conf)


def test_a_sweep_over_presets_is_refused(conf: Path) -> None:
    for sweep in ("experiment=product,points", "experiment=glob(*)"):
        with pytest.raises(PlanError, match="one at a time"):
            plan([sweep], conf)


def test_a_choice_with_a_sweep_of_its_own_is_refused(conf: Path) -> None:
    (conf / "method" / "sweeping.yaml").write_text(
        "# @package _global_\nmethod: {name: alpha}\nhydra: {sweeper: {params: {seed: '0,1'}}}\n"
    )
    with pytest.raises(PlanError, match="sweep of its own"):
        plan([*BASE[1:], "method=alpha,sweeping"], conf)


def test_an_empty_plan_is_refused(conf: Path) -> None:
    with pytest.raises(PlanError, match="no cells"):
        plan([*BASE[1:], "method=glob(zzz*)"], conf)


@pytest.mark.parametrize("sweep", ["name=a,b", "limits.calls=1,2", "results=a,b", "cache.mode=off,write"])
def test_what_is_of_the_whole_experiment_is_not_swept(conf: Path, sweep: str) -> None:
    with pytest.raises(PlanError, match="whole experiment"):
        plan([*BASE, sweep], conf)


def test_caps_need_one_process(conf: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    with pytest.raises(PlanError, match="several processes"):
        plan([*BASE, "hydra/launcher=joblib", "limits.cell_calls=5"], conf)
    assert plan([*BASE, "hydra/launcher=joblib", "hydra.launcher.n_jobs=1", "limits.calls=5"], conf)
    assert plan([*BASE, "hydra/launcher=joblib"], conf)


def test_bad_plug_in_settings_are_sentences(conf: Path) -> None:
    for override, words in {
        "hydra.launcher.workers=0": "workers",
        "hydra.sweeper.points=text": "must be a list",
        "hydra.sweeper.params=text": "must map",
        "hydra/sweeper=basic": "must stay `plan`",
    }.items():
        with pytest.raises(PlanError, match=words):
            plan([*BASE, override], conf)
    with pytest.raises(PlanError, match="such as"):
        plan([*BASE, "hydra.sweeper.params={seed:[0,1]}"], conf)


def test_unknown_keys_and_choices_are_hydras_sentences(conf: Path) -> None:
    with pytest.raises((HydraException, PlanError), match="methd"):
        plan([*BASE, "methd=1"], conf)
    with pytest.raises(HydraException, match="alpha"):
        plan(["method=zzz"], conf)
    with pytest.raises(PlanError, match=r"(?s)rounds.*in: .*method=beta"):
        plan([*BASE, "method=alpha,beta", "method.rounds=1"], conf)


def test_a_missing_value_names_its_key(conf: Path) -> None:
    with pytest.raises(PlanError, match=r"model\.name has no value"):
        plan([*BASE[:2], "model=unnamed"], conf)


def test_bad_data_is_told_before_anything_runs(tmp_path: Path) -> None:
    """All of it at once, with file, line and reason (was: in the first cell that read it)."""
    (tmp_path / "bad.jsonl").write_text('{"context": "x", "target": "1"}\n')
    (tmp_path / "none.jsonl").write_text("")
    wanted = ",".join(str(tmp_path / name) for name in ("none.jsonl", "bad.jsonl"))
    with pytest.raises(PlanError) as told:
        plan(["method=base,append_only", "benchmark=formula", "seed=0,1", f"benchmark.test={wanted}"])
    lines = [line for line in str(told.value).splitlines() if line.startswith("benchmark=formula: ")]
    assert len(lines) == 2
    assert "no usable row" in lines[0]
    assert "bad.jsonl, line 1: the context does not name its formula" in lines[1]
