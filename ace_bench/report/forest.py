"""The first figure of a report: the score of every arm with its 95 percent interval, group under group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ace_bench.report import views
from ace_bench.report.figures import PALETTE, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Group = tuple[str, list[views.Row]]
_LINE = 0.27  # inches of a row
_ARM, _HEADING = 42, 100  # characters


def score_intervals(groups: Sequence[Group], *, simulated: bool) -> Figure:
    """One row an arm: point, interval, and both as text. A method has one colour in all groups."""
    from matplotlib.figure import Figure

    height = _LINE * sum(len(rows) + 1.6 for _, rows in groups) + 1.15
    figure = Figure(figsize=(9.0, height), dpi=130, facecolor="white")
    arms = [shorten(views.clean(row["arm"]), _ARM) for _, rows in groups for row in rows]
    left = 0.03 + 0.0088 * max(map(len, arms), default=0)
    figure.subplots_adjust(left=left, right=0.77, top=1 - 0.42 / height, bottom=0.7 / height)
    axes = figure.add_subplot()
    axes.set_title("Scores with 95% intervals", loc="left", fontsize=10.5, x=-left / (0.77 - left) + 0.02)
    axes.set_ylim(_draw(axes, groups), 0)
    axes.set_xlim(-0.01, 1.01)
    axes.set_yticks([])
    axes.set_xlabel("score (0 to 1)")
    axes.grid(True, axis="x", color="#e3e3e3", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    if simulated:
        axes.text(0.5, 0.5, "simulated model", transform=axes.transAxes, rotation=12, fontsize=34, color="#777777",
                  alpha=0.22, ha="center", va="center", zorder=5)  # fmt: skip
    figure.text(0.012, 0.016, _caption(groups), fontsize=7.5, color="#333333", va="bottom")
    return figure


def _draw(axes: Axes, groups: Sequence[Group]) -> float:
    """Draw the rows from the top; the y of the end."""
    methods = list(dict.fromkeys(str(row["method"]) for _, rows in groups for row in rows))
    y, edge = 0.0, axes.get_yaxis_transform()
    for heading, rows in groups:
        y += 1
        axes.text(0, y, shorten(heading, _HEADING), transform=edge, fontsize=8.5, va="center", parse_math=False)
        for row in rows:
            y += 1
            color = PALETTE[methods.index(str(row["method"])) % len(PALETTE)]
            name = shorten(views.clean(row["arm"]), _ARM)
            axes.text(
                -0.02, y, name, transform=edge, fontsize=9, color=color, ha="right", va="center", parse_math=False
            )
            axes.plot([row["score_low"], row["score_high"]], [y, y], color=color, linewidth=2.2, alpha=0.55)
            axes.plot([row["score"]], [y], "o", color=color, markersize=5.5)
            told = f"{views.fraction(row['score'])}  {views.between(row['score_low'], row['score_high'])}"
            axes.text(1.03, y, told, transform=edge, fontsize=8, va="center", family="monospace")
        y += 0.6
    return y + 0.4


def _caption(groups: Sequence[Group]) -> str:
    rows = [row for _, some in groups for row in some]
    labels = sorted({str(row["score_label"]) for row in rows} - {""})
    runs = sorted({int(row["cells"]) for row in rows})
    count = f"{runs[0]}" if runs[0] == runs[-1] else f"{runs[0]} to {runs[-1]}"
    note = f" Labels: {', '.join(labels)}." if labels else ""
    return f"n = {count} {'run' if runs[-1] == 1 else 'runs'} an arm.{note}"
