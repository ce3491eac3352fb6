"""Which figures an experiment has, and their bands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ace_bench.report import views
from ace_bench.report.figures import context_length, learning_curve, render
from ace_bench.report.forest import score_intervals
from ace_bench.report.rows import Rows
from ace_bench.stats.curves import Band, context_tokens, cumulative_accuracy
from ace_bench.stats.design import Arm, Comparison

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn figure: file name without ending, the group it belongs to, alternative text, PNG and SVG bytes."""

    name: str
    group: str
    alt: str
    png: bytes
    svg: bytes


def overview(summary: pd.DataFrame) -> Iterator[Picture]:
    """The scores of all comparisons in one figure; none when there is no finished cell."""
    if len(summary):
        figure = score_intervals(views.groups(summary), simulated=bool(summary["simulated"].any()))
        alt = "Scores of all arms with 95 percent intervals. The numbers are in the tables."
        yield Picture("scores", "", alt, render(figure, "png"), render(figure, "svg"))


def pictures(rows: Rows, *, replicates: int) -> Iterator[Picture]:
    """Learning curve and context length of each online comparison; context length of each offline one."""
    for n, comparison in enumerate(rows.found, 1):
        simulated = any(rows.cell(cell)["simulated"] for arm in comparison.arms for cell in arm.cells.values())
        name = f"{n:02d}-{_slug(str(comparison.group))}"
        if comparison.group.protocol == "online":
            bands = {arm.label: _accuracy(comparison, arm, rows, replicates) for arm in comparison.arms}
            figure = learning_curve(comparison, bands, simulated=simulated)
            yield _picture(f"{name}-learning_curve", comparison, "Cumulative online accuracy by position", figure)
        phase = {"online": "score", "offline": "adapt"}.get(comparison.group.protocol)
        if phase is not None:
            lengths = _lengths(comparison, rows, phase, replicates)
            steps = "position in the stream (attempts)" if phase == "score" else "adaptation step"
            if lengths:
                figure = context_length(comparison, lengths, simulated=simulated, steps=steps)
                yield _picture(f"{name}-context_length", comparison, "Context length by position", figure)


def _accuracy(comparison: Comparison, arm: Arm, rows: Rows, replicates: int) -> Band:
    return cumulative_accuracy(arm, rows.steps, ("accuracy", comparison.group), replicates=replicates)


def _lengths(comparison: Comparison, rows: Rows, phase: str, replicates: int) -> dict[str, Band]:
    """Bands of the arms that have steps of that phase (a method that never adapts has none offline)."""
    name = ("context", comparison.group)
    return {
        arm.label: context_tokens(arm, rows.steps, name, phase=phase, replicates=replicates)
        for arm in comparison.arms
        if any(len(rows.steps.rows(cell, phase)) for cell in arm.cells.values())
    }


def _picture(name: str, comparison: Comparison, what: str, figure: Figure) -> Picture:
    arms = ", ".join(arm.label for arm in comparison.arms)
    alt = f"{what}: {arms}. The numbers are in the tables."
    return Picture(name, str(comparison.group), alt, render(figure, "png"), render(figure, "svg"))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80]
