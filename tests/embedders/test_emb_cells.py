"""The `embedder` group in a whole cell: identity, rows, the threshold, resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ace_bench.experiment import shared
from ace_bench.experiment.cell import run_cell
from ace_bench.experiment.compose import CellComposer, compose_master, session
from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.spec import check
from ace_bench.store import read_table

pytest.importorskip("hydra_plugins.ace_bench", reason="needs an install: pip install -e .")
SMALL = ("benchmark=rulebook", "benchmark.test=10")
DEDUP = ("method=ace", "method.refine=proactive", "embedder=lexical", *SMALL)


def config(tmp_path: Path, *overrides: str) -> dict[str, Any]:
    job = [f"results={tmp_path}", *overrides]
    with session() as hydra:
        return CellComposer(hydra.config_loader, compose_master(hydra, [])).cell(job)


def run(tmp_path: Path, *overrides: str) -> tuple[Path, dict[str, list[dict[str, Any]]]]:
    result = run_cell(config(tmp_path, *overrides))
    shared.close()
    assert (result.status, result.sentence) == ("finished", "")
    folder = Path(result.folder)
    return folder, {name: read_table(folder, name).to_pylist() for name in ("calls", "cells", "bullets", "steps")}


def test_the_embedder_is_part_of_the_cells_that_embed_and_of_no_other(tmp_path: Path) -> None:
    plain = {
        check(config(tmp_path, "method=base", *SMALL, e)).id() for e in ("embedder=lexical", "embedder.threshold=0.1")
    }
    assert len(plain) == 1
    assert "embedder" not in check(config(tmp_path, "method=base", *SMALL)).canonical()
    spec = check(config(tmp_path, *DEDUP))
    assert spec.canonical()["embedder"] == {"name": "lexical", "threshold": 0.75}
    assert spec.id() != check(config(tmp_path, *DEDUP, "embedder.threshold=0.7")).id()


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("embedder.threshold=2", "embedder.threshold = 2"),
        ("embedder.name=nothing", "There is no embedder named 'nothing'"),
        ("embedder=minilm embedder.path=no-such-folder", "no model.safetensors"),
        ("embedder=litellm", "embedder.model has no value"),
    ],
)
def test_a_wrong_section_is_told_before_anything_runs(tmp_path: Path, override: str, sentence: str) -> None:
    with pytest.raises(PlanError, match=sentence):
        check(config(tmp_path, *DEDUP, *override.split()))


def test_a_run_with_dedup_has_its_rows_and_the_threshold_acts(tmp_path: Path) -> None:
    _, rows = run(tmp_path, *DEDUP)
    embeds = [row for row in rows["calls"] if row["purpose"] == "embed"]
    assert embeds
    assert {(r["model"], r["call_phase"], r["needed"], r["billed"], r["input"]) for r in embeds} == {
        ("lexical/1", "adapt", True, True, 0)
    }
    kept = []
    for threshold in ("0.0", "0.5", "0.95"):
        _, rows = run(tmp_path, *DEDUP, f"embedder.threshold={threshold}", "method.dedup_guard=false")
        kept.append(rows["steps"][-1]["bullets"])
        merged = [row for row in rows["bullets"] if row["event"] == "merged_into"]
        assert all(row["into"] for row in merged)
    assert kept == sorted(kept)
    assert kept[0] < kept[-1]  # known fault B26: a sweep that is flat means a knob that is not wired


def test_the_limits_of_model_calls_are_not_spent_on_this_machine(tmp_path: Path) -> None:
    _, rows = run(tmp_path, *DEDUP)
    asked = sum(row["purpose"] != "embed" for row in rows["calls"])
    _, again = run(tmp_path / "capped", *DEDUP, f"limits.calls={asked}")
    assert len(again["calls"]) == len(rows["calls"])


def test_stopped_and_resumed_the_rows_are_those_of_an_unbroken_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed = {"latency_s", "queue_s", "adapt_latency_s"}

    def clean(rows: list[dict[str, Any]]) -> str:
        return json.dumps(
            [{k: v for k, v in row.items() if k not in timed} for row in rows], sort_keys=True, default=str
        )

    _, whole = run(tmp_path / "whole", *DEDUP)
    steps = 0

    def dies() -> None:
        nonlocal steps
        steps += 1
        if steps in (4, 9):
            raise RuntimeError("pulled the plug")

    monkeypatch.setattr("ace_bench.experiment.stopping.check", dies)
    for _ in range(2):
        assert run_cell(config(tmp_path / "broken", *DEDUP)).status == "failed"
        shared.close()
    _, broken = run(tmp_path / "broken", *DEDUP)
    assert clean(broken["calls"]) == clean(whole["calls"])
    assert clean(broken["bullets"]) == clean(whole["bullets"])
