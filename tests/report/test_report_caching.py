"""Needed cost at observed and at zero prompt-prefix caching, and the saving as a share of input cost (review, Eq. 12, 13)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from report_writer import call_row, cell_row, step_row, write_cell

from ace_bench.experiment.totals import cached_share, spending
from ace_bench.llm.prices import Price, cost, input_saving, uncached_cost, uncached_input_cost
from ace_bench.llm.types import Usage
from ace_bench.report import build_report, summary_text
from ace_bench.report.summary import summary

PRICE = Price(1.0, 0.1, 1.0, 4.0, 4.0, "test", "2025-01-01")  # dollars per million; a cached token costs a tenth


def call(input: int, cached: int | None, output: int, **more: Any) -> dict[str, Any]:
    usage = Usage(input, cached, 0, output, 0)
    money = {"cost": cost(PRICE, usage), "cost_uncached": uncached_cost(PRICE, usage),
             "input_cost_uncached": uncached_input_cost(PRICE, usage)}  # fmt: skip
    tokens = {"input": input, "cached_input": cached, "cache_write": 0, "output": output, "reasoning": 0}
    return call_row("ace-0", served_from="provider", **money, **tokens, **more)


def frame(root: Path, calls: list[dict[str, Any]]) -> dict[str, Any]:
    write_cell(root, cell_row("ace-0", "ace", 0, 0), [step_row("ace-0", 0, 1), step_row("ace-0", 1, 0)], calls)
    return summary(root, replicates=50).to_dict("records")[0]


def test_the_papers_figures(tmp_path: Path) -> None:
    """0.918 of the input cached at a tenth of the price saves 82.62 percent of the input cost, whatever the output costs."""
    row = frame(tmp_path / "demo", [call(82_000, 918_000, 500_000)])
    assert row["cached_share"] == pytest.approx(0.918)
    assert row["input_cost_saving"] == pytest.approx(0.8262) == pytest.approx(input_saving(0.918, 0.1))
    assert row["cost_uncached_per_run"] == pytest.approx(1.0 + 2.0)
    assert row["cost_per_run"] == pytest.approx(0.082 + 0.0918 + 2.0)
    # of total cost it would be 0.2754: the report never says that
    page = build_report(tmp_path / "demo", replicates=50).html.read_text()
    assert "82.62" in page
    assert "27.54" not in page
    assert "% of input cost" in page
    text = " ".join(summary_text(tmp_path / "demo", replicates=50).split())
    assert (
        "needed $2.1738 a run at observed prompt caching, $3.0000 without any; caching saved 82.62 percent of the"
        in text
    )


def test_only_calls_that_reached_a_provider_tell_of_its_cache(tmp_path: Path) -> None:
    ours = call(1000, 0, 0) | {"served_from": "cache"}
    row = frame(tmp_path / "demo", [call(500, 500, 0), ours])
    assert row["cached_share"] == pytest.approx(0.5)
    assert cached_share([ours]) is None


def test_unknown_stays_unknown(tmp_path: Path) -> None:
    row = frame(tmp_path / "one", [call(500, None, 10)])  # cached tokens not told apart
    assert row["cached_share"] == "unknown"
    unpriced = call(500, 100, 10) | {"cost": None, "cost_uncached": None, "input_cost_uncached": None}
    row = frame(tmp_path / "two", [unpriced])
    assert (row["cost_uncached_per_run"], row["input_cost_saving"]) == ("unpriced", "unpriced")
    assert "at observed prompt caching" not in summary_text(tmp_path / "two", replicates=50)


def test_the_cells_row() -> None:
    rows = [call(82_000, 918_000, 500_000), call(1000, 0, 0) | {"served_from": "cache"}]
    made = spending(rows)
    assert made["cost_uncached"] == pytest.approx(3.001)
    assert made["cached_share"] == pytest.approx(0.918)
    assert spending([call(1, 0, 1) | {"cost_uncached": None}])["cost_uncached"] is None
