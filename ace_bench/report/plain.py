"""The summary for a terminal: plain text, at most 120 columns."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from ace_bench.report import notes, views
from ace_bench.report.rows import Rows, load
from ace_bench.report.summary import UNKNOWN, summary_of
from ace_bench.report.warnings import warnings
from ace_bench.stats.bootstrap import REPLICATES

WIDTH = 120
_ARM = 26


def summary_text(experiment_dir: str | Path, *, replicates: int = REPLICATES) -> str:
    """Scores, n and cost of every arm, the cells that did not finish, and warnings; no line over 120 characters."""
    rows = load(experiment_dir)
    frame = summary_of(rows, replicates=replicates)
    lines = [f"Experiment {views.clean(rows.name)}", *_wrapped(notes.status_lines(rows), "")]
    if rows.simulated:
        lines += _wrapped([notes.WATERMARK], "")
    for heading, members in views.groups(frame):
        lines += ["", *textwrap.wrap(heading, WIDTH), *_table(members)]
    if not len(frame):
        lines += ["", "No finished cell has a scored step yet."]
    return "\n".join([*lines, *_end(rows)]) + "\n"


_LEGEND = (
    "Label: what the interval speaks of (indicative: fewer than 5 seeds or orders; items only: one run). Strict: an attempt "
    "without a score counts 0. First, repeat: at the first task of a group in a run, at all later ones. Tokens and cost: "
    "needed, mean of one run."
)


def _end(rows: Rows) -> list[str]:
    found = warnings(rows)
    head = ["", *_wrapped([_LEGEND], "")]
    return head + (["", "Warnings", *_wrapped(found, "  ")] if found else [])


def _wrapped(sentences: list[str], indent: str) -> list[str]:
    out = []
    for sentence in sentences:
        out += textwrap.wrap(views.clean(sentence), WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")
    return out


_HEADS = ("score", "95% interval", "label", "strict", "first", "repeat", "runs", "scored", "tokens", "cost $")
_WIDTHS = (5, 14, 10, 6, 5, 6, 4, 9, 7, 8)


def _table(members: list[views.Row]) -> list[str]:
    room = min(_ARM, max(len("arm"), *(len(views.clean(m["arm"])) for m in members)))
    lines = [_line("arm", _HEADS, room)]
    for member in members:
        arm = views.clean(member["arm"])
        if len(arm) > room:  # a cut name could hide the knob that matters: give it lines of its own
            lines += textwrap.wrap(arm, WIDTH, subsequent_indent="  ")
            arm = ""
        lines.append(_line(arm, _cells(member), room))
    return lines + _wrapped([text for member in members for text in _caching(member)], "")


def _caching(m: views.Row) -> list[str]:
    """Needed cost at observed and at zero prompt-prefix caching, for an arm with a price that the cache changed."""
    if isinstance(m["cost_uncached_per_run"], str) or m["cost_uncached_per_run"] == m["cost_per_run"]:
        return []
    return [
        f"{m['arm']}: needed ${views.dollars(m['cost_per_run'])} a run at observed prompt caching, "
        f"${views.dollars(m['cost_uncached_per_run'])} without any; caching saved {views.percent(m['input_cost_saving'])} "
        "percent of the input cost."
    ]


def _line(arm: str, cells: tuple[str, ...], room: int) -> str:
    return "  ".join([f"{arm:<{room}}", *(f"{c:>{w}}" for c, w in zip(cells, _WIDTHS, strict=True))]).rstrip()


def _cells(m: views.Row) -> tuple[str, ...]:
    return (
        views.fraction(m["score"]),
        views.between(m["score_low"], m["score_high"]),
        m["score_label"] or views.NONE,
        *(views.fraction(m[name]) for name in ("strict", "first", "repeat")),
        str(m["cells"]),
        f"{m['scored']}/{m['attempts']}",
        _tokens(m["input_tokens_per_run"], m["output_tokens_per_run"]),
        views.dollars(m["cost_per_run"]),
    )


def _tokens(input_tokens: Any, output_tokens: Any) -> str:
    """Needed tokens in and out of one run, short."""
    if isinstance(input_tokens, str) or isinstance(output_tokens, str):
        return UNKNOWN
    total = float(input_tokens + output_tokens)
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if total >= size:
            return f"{total / size:.1f}{unit}"
    return f"{total:.0f}"
