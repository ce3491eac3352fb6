"""A cell composed quickly is the cell Hydra composes."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hydra.errors import HydraException
from omegaconf import OmegaConf

from ace_bench.cli.run import presets
from ace_bench.experiment.compose import CellComposer, compose_master, session
from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.shipped import shipped
from ace_bench.experiment.sweeper import make_sweeper

GROUPS = [
    [],
    ["method=ace", "protocol=offline", "protocol.epochs=3"],
    ["protocol=frozen", "+method.extra=1", "feedback=none"],
    ["model=litellm", "model.name=openai/gpt-4.1-mini", "results=/tmp/x", "name=y"],
    ["~protocol.window"],
]


def _same(composer: CellComposer, job: list[str]) -> None:
    hydra_own = composer.loader.load_sweep_config(composer.master, job)
    without = OmegaConf.masked_copy(hydra_own, [k for k in hydra_own if k != "hydra"])
    assert composer.cell(job) == OmegaConf.to_container(without, resolve=True)


@pytest.mark.parametrize("job", GROUPS, ids=lambda j: " ".join(j) or "nothing")
def test_equals_hydra(job: list[str]) -> None:
    with session() as hydra:
        composer = CellComposer(hydra.config_loader, compose_master(hydra, []))
        _same(composer, job)
        _same(composer, [*job, "seed=4"])


def test_equals_hydra_over_all_presets(conf: Path) -> None:
    for name in presets():
        with session() as hydra:
            sweeper, arguments = make_sweeper(hydra, [f"experiment={name}"])
            composer = CellComposer(hydra.config_loader, sweeper.config)
            jobs = sweeper.jobs(arguments)
            assert jobs
            for job in itertools.islice(jobs, 0, None, max(1, len(jobs) // 4)):
                _same(composer, list(job))


def test_a_cell_does_not_change_the_next() -> None:
    with session() as hydra:
        composer = CellComposer(hydra.config_loader, compose_master(hydra, []))
        first = composer.cell(["seed=1"])
        composer.cell(["seed=2", "order.seed=9", "+method.x=1"])
        assert composer.cell(["seed=1"]) == first


def test_a_typo_makes_no_new_key() -> None:
    with session() as hydra:
        composer = CellComposer(hydra.config_loader, compose_master(hydra, []))
        for typo in ("sed=1", "order.sead=1", "method.rouns=1"):
            with pytest.raises(HydraException, match="Could not override"):
                composer.cell([typo])


def test_config_dir_must_exist(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no such folder"), session(tmp_path / "none"):
        pass


def test_every_config_file_says_what_it_is_and_how_to_run_it() -> None:
    for path in shipped("conf").rglob("*.yaml"):
        head = path.read_text().splitlines()[:5]
        assert any("Runs with:" in line for line in head), path
        assert head[0].startswith("#"), path


def test_shipped_says_what_is_missing() -> None:
    with pytest.raises(FileNotFoundError, match="reinstall"):
        shipped("nothing")
