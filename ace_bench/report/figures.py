"""Figures: the learning curve and the length of the context, one line an arm, with bands over whole runs.

`matplotlib.figure.Figure` is used, never pyplot (threads). Texts are never parsed as formulas: a label with `$` in it
would fail to draw.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ace_bench.report.views import clean
from ace_bench.stats.curves import Band
from ace_bench.stats.design import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette without yellow (unreadable on white); told apart with every common colour blindness.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_DASHES = ("-", "--", ":", "-.")
# Raw curves of single runs are drawn for at most so many runs an arm.
_RAW_RUNS = 30
_WIDTH = 9.0


def learning_curve(comparison: Comparison, bands: Mapping[str, Band], *, simulated: bool) -> Figure:
    """Cumulative online accuracy by position, one band an arm."""
    title = "Cumulative online accuracy"
    figure, axes = _frame(comparison, bands, title, "position in the stream (attempts)", "mean score so far (0 to 1)")
    _draw(axes, bands)
    # Early positions swing between 0 and 1; they must not set the scale alone, but nothing may be cut off.
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, -0.02), min(high, 1.02))
    return _finish(figure, axes, comparison, bands, simulated)


def context_length(comparison: Comparison, bands: Mapping[str, Band], *, simulated: bool, steps: str) -> Figure:
    """Estimated tokens of the context by position; `steps` says what a position is."""
    figure, axes = _frame(comparison, bands, "Length of the context", steps, "context (tokens, estimated)")
    _draw(axes, bands)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    return _finish(figure, axes, comparison, bands, simulated)


def _frame(comparison: Comparison, bands: Mapping[str, Band], title: str, x: str, y: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    lines = sum(len(_wrapped(label)) + 0.35 for label in bands)
    height = max(4.8, 1.7 + 0.165 * lines)
    figure = Figure(figsize=(_WIDTH, height), dpi=130, facecolor="white")
    # The right margin holds the arm names; its width follows the longest of them.
    longest = max((min(len(line), 34) for label in bands for line in _wrapped(label)), default=10)
    figure.subplots_adjust(left=0.085, right=1 - 0.06 - longest * 0.0088, top=1 - 0.62 / height, bottom=1.02 / height)
    axes = figure.add_subplot()
    axes.set_title(f"{title}\n{shorten(clean(comparison.group), 95)}", loc="left", fontsize=10.5, parse_math=False)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(True, color="#e3e3e3", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes


def _style(n: int) -> dict[str, Any]:
    return {"color": PALETTE[n % len(PALETTE)], "linestyle": _DASHES[n // len(PALETTE) % len(_DASHES)]}


def _draw(axes: Axes, bands: Mapping[str, Band]) -> None:
    for n, band in enumerate(bands.values()):
        style = _style(n)
        raw = band.runs[:_RAW_RUNS]
        if len(raw) > 1:
            axes.plot(band.x, raw.T, color=style["color"], linewidth=0.5, alpha=0.22)
        if not np.isnan(band.low).all():
            axes.fill_between(band.x, band.low, band.high, color=style["color"], alpha=0.16, linewidth=0)
        marker = "o" if len(band.x) == 1 else None
        axes.plot(band.x, band.mean, linewidth=2.0, marker=marker, **style)
    last = max((band.x[-1] for band in bands.values() if len(band.x)), default=1.0)
    axes.set_xlim(1 - 0.01 * last, last * 1.01)


def _finish(figure: Figure, axes: Axes, comparison: Comparison, bands: Mapping[str, Band], simulated: bool) -> Figure:
    _name_lines(figure, axes, bands)
    if simulated:
        axes.text(0.5, 0.5, "simulated model", transform=axes.transAxes, rotation=24, fontsize=40, color="#777777",
                  alpha=0.22, ha="center", va="center", zorder=5)  # fmt: skip
    figure.text(0.012, 0.016, caption(comparison, bands), fontsize=7.5, color="#333333", va="bottom", linespacing=1.35)
    return figure


def caption(comparison: Comparison, bands: Mapping[str, Band]) -> str:
    """What the bands are and every n, for under the figure."""
    runs = sorted({len(band.runs) for band in bands.values()})
    count = str(runs[0]) if len(runs) == 1 else f"{runs[0]} to {runs[-1]}" if runs else "0"
    items, seeds, orders = map(len, (comparison.items, comparison.seeds, comparison.orders))
    n = f"n = {count} runs an arm ({seeds} seeds x {orders} orders), {items} items"
    labels = sorted({band.label for band in bands.values()} - {""})
    note = f" Labels: {', '.join(labels)}." if labels else ""
    if all(np.isnan(band.low).all() for band in bands.values()):
        return f"{n}.{note}\nNo band: one run an arm says nothing of other runs."
    band = "Band: pointwise 95% over whole runs (seeds and orders resampled, items fixed)."
    return f"{n}.{note}\n{band} Thin lines: single runs."


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters of a text."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _wrapped(label: str) -> list[str]:
    """An arm label on at most three lines of 34 characters."""
    import textwrap

    return textwrap.wrap(clean(label), 34, max_lines=3, placeholder=" …") or [" "]


def _name_lines(figure: Figure, axes: Axes, bands: Mapping[str, Band]) -> None:
    """Write each arm's name at the end of its line, moved apart so that none overlap."""
    ends = [
        (float(b.mean[~np.isnan(b.mean)][-1]), n) for n, b in enumerate(bands.values()) if not np.isnan(b.mean).all()
    ]
    labels = list(bands)
    low, high = axes.get_ylim()
    inches = figure.get_figheight() * axes.get_position().height
    line = 0.155 / inches
    ends.sort()
    sizes = [line * len(_wrapped(labels[n])) + 0.35 * line for _, n in ends]
    wanted = [(y - low) / (high - low) for y, _ in ends]
    for (y, n), place in zip(ends, spread(wanted, sizes), strict=True):
        style = _style(n)
        axes.annotate("\n".join(_wrapped(labels[n])), xy=(1.0, (y - low) / (high - low)), xytext=(1.05, place),
                      xycoords="axes fraction", textcoords="axes fraction", color=style["color"], fontsize=9,
                      va="center", annotation_clip=False, parse_math=False,
                      arrowprops={"arrowstyle": "-", "color": style["color"], "linewidth": 0.8, "relpos": (0, 0.5),
                                  "linestyle": style["linestyle"], "shrinkA": 1, "shrinkB": 0})  # fmt: skip


def spread(wanted: list[float], sizes: list[float]) -> list[float]:
    """Centres as near as can be to `wanted` (ascending), `sizes` apart and, while they fit, between 0 and 1."""
    ahead = [sum(sizes[:n]) + sizes[n] / 2 for n in range(len(sizes))]
    # Pool labels that would overlap into blocks, each block at the mean of what its labels want.
    blocks: list[list[float]] = []
    for want, before in zip(wanted, ahead, strict=True):
        blocks.append([want - before])
        while len(blocks) > 1 and _mean(blocks[-2]) > _mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    room = max(0.0, 1.0 - sum(sizes))
    starts = [min(max(_mean(block), 0.0), room) for block in blocks for _ in block]
    return [start + before for start, before in zip(starts, ahead, strict=True)]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def render(figure: Figure, kind: str) -> bytes:
    """The figure as `png` or `svg` bytes: no date, no version, fixed ids, so that the same rows give the same bytes."""
    import matplotlib

    out = io.BytesIO()
    metadata: dict[str, Any] = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
    with matplotlib.rc_context({"svg.hashsalt": "ace_bench", "svg.fonttype": "path"}):
        figure.savefig(out, format=kind, metadata=metadata)
    return out.getvalue()
