"""Fixtures: the fake plug-ins in place of the installed ones, and their config folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import exp_fakes
import pytest

from ace_bench.experiment import plugins

HERE = Path(__file__).parent


def installed() -> bool:
    """Whether Hydra can find our plug-in: only after `pip install` (an editable one too)."""
    try:
        return importlib.util.find_spec("hydra_plugins.ace_bench") is not None
    except ModuleNotFoundError:
        return False


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The registry holds the fake plug-ins, and `cell` and `finish` are the fake ones."""
    monkeypatch.setattr(plugins, "found", exp_fakes.found)
    monkeypatch.setitem(sys.modules, "ace_bench.experiment.cell", exp_fakes)
    monkeypatch.setitem(sys.modules, "ace_bench.experiment.finish", exp_fakes)
    exp_fakes.finished.clear()


@pytest.fixture
def conf(tmp_path: Path, fakes: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A config folder for `--config-dir`; the test runs in a folder of its own."""
    if not installed():
        pytest.skip("hydra_plugins.ace_bench is not importable: install the package (pip install -e .)")
    monkeypatch.chdir(tmp_path)
    return exp_fakes.write_conf(tmp_path / "myconf")
