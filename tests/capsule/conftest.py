"""One experiment with a data file of the user's, exported once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from capsule_made import experiment

from ace_bench.experiment.capsule.export import export

SMALL = ["benchmark=formula", "method=base,ace,full_rewrite"]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The experiment's folder and its capsule."""
    folder = tmp_path_factory.mktemp("made")
    data = folder / "mine.jsonl"
    asked = 'Use formula Double to answer the question. Question: "What is {n} plus {n}?". Answer:'
    lines = [{"context": asked.replace("{n}", str(n)), "target": f"{2 * n}.0"} for n in range(1, 7)]
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    root = experiment(folder, *SMALL, f"benchmark.test={data}")
    export(root, folder / "small.zip")
    return root, folder / "small.zip"
