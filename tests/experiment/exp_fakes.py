"""Plug-ins, a task and a config folder for the tests of `experiment`: nothing here needs the real ones."""

from __future__ import annotations

import json
import os
import threading
import time
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Literal

from omegaconf import DictConfig, OmegaConf
from pydantic import BaseModel, ConfigDict, SecretStr, model_validator

from ace_bench.contracts import Sample, Task
from ace_bench.experiment import progress, stopping
from ace_bench.experiment.outcome import Outcome

BASE = ["method=alpha", "benchmark=toy", "model=toy"]


class CellResult:
    def __init__(self, cell: str, status: str, sentence: str, folder: str) -> None:
        self.cell, self.status, self.sentence, self.folder = cell, status, sentence, folder


class Alpha:
    regimes = frozenset({"gt", "outcome"})

    class Settings(BaseModel):
        model_config = ConfigDict(extra="forbid")
        name: Literal["alpha"] = "alpha"
        rounds: int = 1
        share: float = 0.5
        flag: bool = False
        tags: frozenset[str] = frozenset({"one", "two", "three", "four", "five"})
        notes: Path | None = None

        @model_validator(mode="after")
        def _even(self) -> Alpha.Settings:
            if self.rounds == 13:
                raise ValueError("rounds may be anything but 13")
            return self


class Beta:
    regimes = frozenset({"gt", "outcome", "execution", "none"})


class Toy:
    class Settings(BaseModel):  # forgets extra="forbid": we refuse unknown keys all the same
        name: str = "toy"
        train: int | str | None = 3

    def __init__(self, settings: Toy.Settings, prompts: object) -> None:
        self.settings = settings

    def samples(self, split: str) -> tuple[Sample, ...]:
        return (Sample(Task("one", "all", "a question"), "an answer"),)


class ToyTransport:
    class Settings(BaseModel):
        model_config = ConfigDict(extra="forbid")
        api_key: SecretStr | None = None
        temperature: float = 0.0


VALUES = {
    "methods": {"alpha": "exp_fakes:Alpha", "beta": "exp_fakes:Beta"},
    "benchmarks": {"toy": "exp_fakes:Toy"},
    "transports": {"toy": "exp_fakes:ToyTransport"},
}


def found(group: str) -> tuple[EntryPoint, ...]:
    """In place of `plugins.found`."""
    return tuple(EntryPoint(name, value, f"ace_bench.{group}") for name, value in VALUES[group].items())


FILES = {
    "method/alpha.yaml": "name: alpha\nrounds: 1\nshare: 0.5\nflag: false\nnotes: null\n",
    "method/beta.yaml": "name: beta\n",
    "benchmark/toy.yaml": "name: toy\ntrain: 3\n",
    "model/toy.yaml": "name: toy\ntransport: toy\napi_key: null\ntemperature: 0\n",
    "model/unnamed.yaml": "name: ???\ntransport: toy\n",
}
PRESET = (
    "# @package _global_\ndefaults:\n"
    "  - override /method: alpha\n  - override /benchmark: toy\n  - override /model: toy\n"
)
PRESETS = {
    "product": "name: product\nhydra: {sweeper: {params: {method: 'alpha,beta', seed: '0,1,2'}}}\n",
    "points": (
        "name: points\nhydra:\n  sweeper:\n    params: {seed: '0,1'}\n    points:\n"
        "      - {method: beta, feedback: none, protocol: frozen}\n"
        "      - {method: alpha, feedback: 'gt,outcome', protocol: offline}\n"
        "      - {method: 'alpha,beta', feedback: outcome, protocol: online}\n"
    ),
    "dead": "name: dead\nmethod: {reflection: refine}\n",
}


def write_conf(folder: Path) -> Path:
    """A config folder with the fakes and a few presets."""
    files = FILES | {f"experiment/{name}.yaml": PRESET + body for name, body in PRESETS.items()}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def task(config: Any) -> CellResult:
    """Writes its config into a folder made exclusively; seeds 101 and 103 fail."""
    plain = OmegaConf.to_container(config, resolve=True) if isinstance(config, DictConfig) else config
    assert isinstance(plain, dict)
    if plain["seed"] in (101, 103):
        raise ValueError(f"seed {plain['seed']} went wrong")
    text = json.dumps(plain, sort_keys=True)
    parts = (plain["method"]["name"], plain["feedback"]["regime"], plain["protocol"]["name"], plain["seed"])
    knobs = "-".join(map(str, parts))
    folder = Path(plain["results"]) / plain["name"] / knobs
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(text)
    return CellResult(knobs, "finished", "", str(folder))


def run_cell(config: dict[str, Any]) -> CellResult:
    """In place of `cell.run_cell`: 200 steps of 20 ms (EXP_STUBBORN: steps that look at nothing)."""
    cell = f"cell-{config['seed']}"
    progress.current().cell_started(cell, 200)
    print("started", cell, threading.current_thread().name, flush=True)
    try:
        for _ in range(200):
            time.sleep(0.02)
            progress.current().step(cell)
            if "EXP_STUBBORN" not in os.environ:
                stopping.check()
    except stopping.Stopped as e:
        return CellResult(cell, "stopped", str(e), "somewhere")
    return CellResult(cell, "finished", "", "somewhere")


finished: list[tuple[Path, list[Any]]] = []


def finish(experiment_dir: Path, results: list[Any]) -> None:
    """In place of `finish.finish`."""
    finished.append((experiment_dir, list(results)))


def statuses(outcome: Outcome) -> list[str]:
    """How the cells of a launch ended."""
    return [r.status for r in outcome.results]
