"""Awkward experiments: nothing scored, one cell, hostile text, unlike arms, no baseline, offline."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from report_writer import bare_cell, call_row, cell_row, step_row, write_cell

from ace_bench.report import build_report, summary_text
from ace_bench.report.figures import render, spread
from ace_bench.report.forest import score_intervals
from ace_bench.report.rows import load
from ace_bench.report.summary import summary
from ace_bench.report.views import groups
from ace_bench.report.warnings import warnings
from ace_bench.store.errors import StoreError

HOSTILE = "<script>alert(1)</script>|$\\frac{1}$\x1b[2J\n\"'><img src=x onerror=y>"


def scored(root: Path, name: str, method: str, scores: list[float | None], seed: int = 0, **more: object) -> None:
    steps = [step_row(name, n, score) for n, score in enumerate(scores)]
    write_cell(root, cell_row(name, method, seed, 0, **more), steps)


def test_one_cell_only(tmp_path: Path) -> None:
    scored(tmp_path, "a", "ace", [1, 0, 1, 1])
    paths = build_report(tmp_path, replicates=100)
    assert summary(tmp_path)["score_label"].tolist() == ["items only"]
    assert "no arm &#x27;base&#x27; to compare with; name a baseline" in paths.html.read_text()
    assert paths.contrasts_csv.read_text().count("\n") == 1


def test_no_scored_attempt_at_all(tmp_path: Path) -> None:
    scored(tmp_path, "a", "base", [None, None])
    scored(tmp_path, "b", "ace", [None, None])
    paths = build_report(tmp_path, replicates=50)
    assert summary(tmp_path, replicates=50)["score_label"].tolist() == ["no scores"] * 2
    assert "nan" not in paths.html.read_text().split("<h2>How to read")[0].lower().replace("data:image", "")[:4000]
    assert "0/2" in summary_text(tmp_path, replicates=50)


def test_no_finished_cell(tmp_path: Path) -> None:
    bare_cell(tmp_path, "a")
    paths = build_report(tmp_path)
    assert "No finished cell has a scored step yet." in paths.html.read_text()
    assert "No finished cell" in summary_text(tmp_path)
    assert paths.figures == ()


def test_no_cell_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no cell folder; run the experiment first"):
        build_report(tmp_path)


def test_a_baseline_that_fits_nothing_is_a_sentence(tmp_path: Path) -> None:
    scored(tmp_path, "a", "base", [1, 0])
    with pytest.raises(ValueError, match="no arm 'nope'"):
        build_report(tmp_path, baseline="nope", replicates=50)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.loads += [v or "" for k, v in attrs if k in ("src", "href") or k.startswith("on")]


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    for n, method in enumerate((HOSTILE, "base")):
        scored(tmp_path, f"c{n}", method, [1, 0, 1, 0], benchmark=HOSTILE, model=HOSTILE, code=HOSTILE)
    write_cell(tmp_path, cell_row("dead", HOSTILE, 3, 0, status="failed", error=HOSTILE), [])
    paths = build_report(tmp_path, replicates=50)
    seen = _Tags()
    seen.feed(paths.html.read_text())
    assert not seen.tags & {"script", "link", "iframe", "object"}
    assert all(src.startswith("data:image/png;base64,") for src in seen.loads)
    assert "\x1b" not in summary_text(tmp_path, replicates=50) + paths.html.read_text() + paths.summary_md.read_text()
    assert "<script" not in paths.summary_md.read_text()
    assert all("<script" not in p.read_text() for p in paths.figures if p.suffix == ".svg")
    assert all(p.resolve().is_relative_to(paths.folder.resolve()) for p in paths.figures)


def test_warnings_name_what_is_unlike(tmp_path: Path) -> None:
    scored(tmp_path, "a", "base", [1, 0, 1, 0], data_digest="one")
    steps = [step_row("b", n, None, outcome="truncated") for n in range(4)]
    write_cell(tmp_path, cell_row("b", "ace", 0, 0, data_digest="two", order_digest="other", simulated=False), steps)
    found = " ".join(warnings(load(tmp_path)))
    assert "ended truncated differs between arms, 0% for base and 100% for ace" in found
    assert "do not share the same data" in found
    assert "different orders under order seed 0" in found
    assert "never set them side by side" in found


def test_a_flat_sweep_is_told(tmp_path: Path) -> None:
    for n in (1, 2):
        scored(tmp_path, f"a{n}", "ace", [1, 0, 1], knobs={"method": {"k": n}})
    assert "ace (k=1) and ace (k=2) agree in every score" in " ".join(warnings(load(tmp_path)))


def test_offline_context_is_drawn_over_adaptation(tmp_path: Path) -> None:
    for method in ("base", "ace"):
        steps = [step_row(method, n, 1.0) for n in range(3)]
        if method == "ace":
            steps += [step_row(method, n, None, phase="adapt") for n in range(5)]
        write_cell(tmp_path, cell_row(method, method, 0, 0, protocol="offline"), steps)
    names = [p.name for p in build_report(tmp_path, replicates=50).figures]
    assert names[:2] == ["scores.png", "scores.svg"]
    assert len(names) == 4
    assert all("context_length" in name for name in names[2:])


def test_the_figure_of_scores_tells_every_arm_of_every_group(tmp_path: Path) -> None:
    for n, (method, values) in enumerate({"base": [0, 0, 1, 0], "a$b$": [1, 1, 1, 0], "none": [None] * 4}.items()):
        for benchmark in ("one", "two"):
            scored(tmp_path, f"{benchmark}{n}", method, values, benchmark=benchmark)
    figure = score_intervals(groups(summary(tmp_path, replicates=50)), simulated=True)
    told = [text.get_text() for text in figure.axes[0].texts] + [text.get_text() for text in figure.texts]
    assert sum(text in ("base", "a$b$", "none") for text in told) == 6
    assert [text.split(",")[0] for text in told if "feedback" in text] == ["one", "two"]
    assert sum(text.startswith("0.750  ") for text in told) == 2
    assert "simulated model" in told
    assert told[-1].startswith("n = 1 run an arm. Labels: items only, no scores.")
    dots = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert [dot for dot in dots if dot == dot] == [0.75, 0.25] * 2
    assert render(figure, "svg") == render(figure, "svg")


def test_unknown_prices_are_not_zero(tmp_path: Path) -> None:
    calls = [call_row("a", cost=None)]
    write_cell(tmp_path, cell_row("a", "base", 0, 0), [step_row("a", 0, 1.0)], calls)
    assert summary(tmp_path, replicates=50)["cost_per_run"].tolist() == ["unpriced"]


def test_long_arm_names_keep_to_the_width(tmp_path: Path) -> None:
    for n in (1, 2):
        knobs = {"method": {f"a_very_long_knob_name_number_{k}": n for k in range(6)}}
        scored(tmp_path, f"a{n}", "ace", [1, 0, float(n - 1)], knobs=knobs)
    text = summary_text(tmp_path, replicates=50)
    assert max(map(len, text.splitlines())) <= 120
    assert "number_5=2" in text


def test_labels_do_not_overlap() -> None:
    places = spread([0.5, 0.5, 0.51, 0.99, 1.0], [0.1] * 5)
    assert all(b - a >= 0.1 - 1e-9 for a, b in pairwise(places))
    assert places[0] >= 0.05
    assert places[-1] <= 0.95 + 1e-9
    assert spread([], []) == []


def test_import_is_light_and_bytes_ignore_the_hash_seed(tmp_path: Path) -> None:
    code = "import sys, ace_bench.report, ace_bench.stats; print('pandas' in sys.modules, 'scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"False False\n"
    for method in ("base", "x"):
        scored(tmp_path, method, method, [1, 0, 1, 0, 1])
    code = f"from ace_bench.report import build_report as b; b({str(tmp_path)!r}, replicates=99)"
    here = _files(build_report(tmp_path, replicates=99).folder)
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONHASHSEED": "7"})
    assert _files(tmp_path / "report") == here


def _files(folder: Path) -> list[tuple[str, bytes]]:
    return sorted((p.name, p.read_bytes()) for p in folder.rglob("*") if p.is_file())
