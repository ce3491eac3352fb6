"""Golden rows: a small experiment whose every number is worked out by hand."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from report_writer import bare_cell, call_row, cell_row, step_row, write_cell

from ace_bench.report import build_report, summary_text
from ace_bench.report.contrasts_table import contrasts_table
from ace_bench.report.summary import COLUMNS, summary
from ace_bench.stats.intervals import wilson

SCORES: dict[str, list[list[float | None]]] = {
    "base": [[1, 0, 0, 1], [0, 0, 1, 1]],
    "ace": [[1, 1, None, 1], [0, 1, 1, 1]],
}


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    root = tmp_path / "demo"
    for method, runs in SCORES.items():
        for seed, scores in enumerate(runs):
            name = f"{method}-{seed}"
            calls = [call_row(name, billed=seed == 0) for _ in scores]
            if method == "ace":  # one failed attempt (billed, not needed), one probe, one unpriced adaptation call
                calls.append(call_row(name, needed=False, input=None, output=None))
                calls.append(call_row(name, call_phase="probe", input=9999))
                calls.append(call_row(name, call_phase="adapt", purpose="reflect", cost=None))
            more = {"labels": 4, "bits": seed, "adapt_latency_s": 1.5 + seed} if method == "ace" else {}
            bullets = {} if method == "ace" else {"bullets": None}
            steps = [step_row(name, n, score, **bullets) for n, score in enumerate(scores)]
            write_cell(root, cell_row(name, method, seed, 0, **more), steps, calls)
    write_cell(root, cell_row("ace-2", "ace", 2, 0, status="failed", error="The endpoint is gone."), [])
    bare_cell(root, "ace-3")
    return root


def rows_of(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="") as file:
        return {row["arm"]: row for row in csv.DictReader(file)}


def test_summary_csv_by_hand(experiment: Path) -> None:
    rows = rows_of(build_report(experiment, replicates=500).summary_csv)
    assert list(rows) == ["ace", "base"]
    ace, base = rows["ace"], rows["base"]
    assert tuple(ace) == COLUMNS
    # ace: 6 right, 1 wrong, 1 without a score; positions 0 and 1 are first of their group
    expected = {
        "benchmark": "rulebook", "protocol": "online", "feedback": "gt", "model": "sim", "order_kind": "shuffled",
        "method": "ace", "select": "last", "simulated": "True", "score": "0.857142857", "strict": "0.75",
        "first": "0.75", "repeat": "1", "score_label": "indicative", "repeat_label": "degenerate",
        "cells": "2", "seeds": "2", "orders": "1", "items": "4", "attempts": "8", "scored": "7", "unscored": "1",
        "n_right": "6", "n_wrong": "1", "n_error": "1", "n_truncated": "0",
        "calls_per_run": "5", "input_tokens_per_run": "600", "output_tokens_per_run": "50", "cost_per_run": "unpriced",
        "billed_input_tokens_per_run": "unknown", "billed_cost_per_run": "unpriced",
        "adapt_latency_s_per_run": "2", "context_tokens_end": "30", "bullets_end": "3",
        "labels_per_run": "4", "bits_per_run": "0.5",
    }  # fmt: skip
    assert {key: ace[key] for key in expected} == expected
    # base: 4 right, 4 wrong; only seed 0 paid, 4 calls of 120 + 10 tokens and half a dollar
    expected = {
        "score": "0.5", "strict": "0.5", "first": "0.25", "repeat": "0.75", "scored": "8", "unscored": "0",
        "calls_per_run": "4", "input_tokens_per_run": "480", "output_tokens_per_run": "40", "cost_per_run": "2",
        "billed_input_tokens_per_run": "240", "billed_output_tokens_per_run": "20", "billed_cost_per_run": "1",
        "bullets_end": "", "labels_per_run": "0",
    }  # fmt: skip
    assert {key: base[key] for key in expected} == expected
    assert float(base["score_low"]) < 0.5 < float(base["score_high"])
    # repeat of ace: 3 right of 3, on 2 items: constant, so Wilson bounds of 2 items
    assert float(ace["repeat_low"]) == pytest.approx(wilson(2, 2)[0])


def test_contrasts_csv_by_hand(experiment: Path) -> None:
    rows = rows_of(build_report(experiment, replicates=500).contrasts_csv)
    (row,) = rows.values()
    # paired: seed 0: 0 1 . 0, seed 1: 0 1 0 0 -> 2 of 7; strict seed 0: 0 1 0 0 -> 2 of 8
    expected = {"arm": "ace", "baseline": "base", "effect": "0.285714286", "strict_effect": "0.25", "family": "1",
                "items": "4", "seeds": "2", "orders": "1", "run_pairs": "2", "scored_pairs": "7",
                "dropped_pairs": "1"}  # fmt: skip
    assert {key: row[key] for key in expected} == expected
    assert row["p"] == row["p_holm"]


def test_frames_are_the_csv(experiment: Path) -> None:
    frame = summary(experiment, replicates=200)
    assert frame["score"].tolist() == pytest.approx([6 / 7, 0.5])
    table = contrasts_table(experiment, baseline="ace", replicates=200)
    assert table["arm"].tolist() == ["base"]
    assert table["effect"].tolist() == pytest.approx([-2 / 7])


def test_two_builds_are_byte_identical(experiment: Path) -> None:
    def build() -> dict[str, bytes]:
        folder = build_report(experiment, replicates=200).folder
        return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}

    one, stale = build(), experiment / "report" / "figures" / "99-old.png"
    assert len(one) == 11
    stale.write_bytes(b"of another run")
    assert build() == one


def test_failed_and_unfinished_cells_are_named(experiment: Path) -> None:
    page = build_report(experiment, replicates=100).html.read_text()
    text = summary_text(experiment, replicates=100)
    for place in (page, text):
        assert "6 cells: 1 failed, 4 finished, 1 without tables." in place
        assert "ace-2 failed (attempt 1), left out of every score: The endpoint is gone." in place
        assert "ace-3 is not finished: running, stopped or killed" in place
        assert "Simulated model" in place


def test_terminal_text_fits(experiment: Path) -> None:
    text = summary_text(experiment, replicates=100)
    assert max(map(len, text.splitlines())) <= 120
    line = next(line for line in text.splitlines() if line.startswith("ace "))
    assert line.split()[1] == "0.857"
    assert "7/8" in line
    assert line.endswith("unpriced")


def test_seven_scored_of_eight_in_markdown(experiment: Path) -> None:
    text = build_report(experiment, replicates=100).summary_md.read_text()
    assert "7/8" in text
    assert "| ace |" in text
    assert not math.isnan(summary(experiment, replicates=50)["score"].iloc[0])


def test_a_cell_that_failed_before_its_tables_says_why(experiment: Path) -> None:
    (experiment / "ace-3" / "log.txt").write_text("Traceback ...\nValueError: no such file\n")
    assert "ace-3 failed (ValueError: no such file)" in summary_text(experiment, replicates=100)
