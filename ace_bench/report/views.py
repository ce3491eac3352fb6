"""The tables a person reads: picked columns as text, made once and rendered as Markdown, HTML or plain text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ace_bench.store.schema import OUTCOMES

if TYPE_CHECKING:
    import pandas as pd

NONE = "–"
# One row of a frame as plain values.
Row = dict[str, Any]
GROUP = ("benchmark", "protocol", "feedback", "model", "order_kind")


@dataclass(frozen=True, slots=True)
class View:
    """A table of texts. `columns`: (header, unit or ""); the first column is words, the others are set as numbers."""

    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]


def clean(text: object) -> str:
    """Text on one line: control characters (which could move a terminal's cursor) become spaces."""
    return "".join(c if c.isprintable() else " " for c in str(text))


def fraction(value: float) -> str:
    """A score to three places."""
    return NONE if math.isnan(value) else f"{value:.3f}"


def between(low: float, high: float, signed: bool = False) -> str:
    """An interval."""
    sign = "+" if signed else ""
    return NONE if math.isnan(low) else f"{low:{sign}.3f} to {high:{sign}.3f}"


def amount(value: Any) -> str:
    """A count or mean: whole above 100, two places below; text ("unpriced") as it is."""
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return NONE
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.2f}"


def dollars(value: Any) -> str:
    """Dollars to four places, or "unpriced"."""
    return value if isinstance(value, str) else f"{value:,.4f}"


def percent(value: Any) -> str:
    """A share in percent, two places; text ("unknown") as it is."""
    return value if isinstance(value, str) else f"{100 * value:.2f}"


def p_value(value: float) -> str:
    """A p value to four places."""
    return NONE if math.isnan(value) else f"{value:.4f}"


def groups(frame: pd.DataFrame) -> list[tuple[str, list[Row]]]:
    """The rows of a frame by comparison, with the heading of each, in the frame's order."""
    out: dict[str, list[Row]] = {}
    for row in frame.to_dict("records"):
        plain = {str(key): value for key, value in row.items()}
        benchmark, protocol, feedback, model, kind = (clean(plain[name]) for name in GROUP)
        heading = f"{benchmark}, {protocol}, feedback {feedback}, {model}, {kind} order"
        out.setdefault(heading, []).append(plain)
    return list(out.items())


Cell = Callable[[Row], str]


def _view(title: str, rows: Sequence[Row], columns: Sequence[tuple[str, str, Cell]]) -> View:
    texts = tuple(tuple(cell(row) for _, _, cell in columns) for row in rows)
    return View(title, tuple((header, unit) for header, unit, _ in columns), texts)


def _arm(row: Row) -> str:
    return clean(row["arm"])


def _part(name: str) -> tuple[Cell, Cell]:
    return lambda r: fraction(r[name]), lambda r: between(r[f"{name}_low"], r[f"{name}_high"])


def _runs(key: str) -> Cell:
    """The number of runs, and of the seeds and orders they come from (failed cells make the product larger)."""
    return lambda r: f"{amount(r[key])} ({r['seeds']} x {r['orders']})"


def scores(rows: Sequence[Row]) -> View:
    """Scores with intervals, labels and every n."""
    columns: list[tuple[str, str, Cell]] = [("arm", "", _arm)]
    for name, header in (
        ("score", "score"),
        ("strict", "strict score"),
        ("first", "first of group"),
        ("repeat", "repeat"),
    ):
        value, interval = _part(name)
        columns += [(header, "0 to 1", value), ("95% interval", "", interval)]
        if name == "score":
            columns.append(("label", "", lambda r: r["score_label"] or NONE))
    columns.append(("runs", "n (seeds x orders)", _runs("cells")))
    columns.append(("items", "n", lambda r: amount(r["items"])))
    columns.append(("scored", "of attempts", lambda r: f"{r['scored']}/{r['attempts']}"))
    return _view("Scores", rows, columns)


def outcomes(rows: Sequence[Row]) -> View:
    """How often each outcome class occurred; classes that never did are left out."""
    seen = [name for name in OUTCOMES if any(row[f"n_{name}"] for row in rows)]
    columns: list[tuple[str, str, Cell]] = [("arm", "", _arm), ("attempts", "n", lambda r: amount(r["attempts"]))]
    columns += [(name, "n", lambda r, name=name: amount(r[f"n_{name}"])) for name in seen]  # type: ignore[misc]
    columns.append(("without a score", "n", lambda r: amount(r["unscored"])))
    return _view("Outcomes of the scored phase", rows, columns)


def costs(rows: Sequence[Row]) -> View:
    """What a run of each arm cost, and what was revealed to it; means over runs."""
    plain = (
        ("calls", "needed", "calls_per_run"),
        ("input", "tokens", "input_tokens_per_run"),
        ("output", "tokens", "output_tokens_per_run"),
        ("billed input", "tokens", "billed_input_tokens_per_run"),
        ("billed output", "tokens", "billed_output_tokens_per_run"),
    )
    columns: list[tuple[str, str, Cell]] = [("arm", "", _arm), ("select", "", lambda r: r["select"])]
    columns += [(head, unit, lambda r, key=key: amount(r[key])) for head, unit, key in plain]  # type: ignore[misc]
    columns += [
        ("cost", "$, list price", lambda r: dollars(r["cost_per_run"])),
        ("cost without caching", "$, list price", lambda r: dollars(r["cost_uncached_per_run"])),
        ("cached input", "% of input tokens", lambda r: percent(r["cached_share"])),
        ("saved by caching", "% of input cost", lambda r: percent(r["input_cost_saving"])),
        ("billed cost", "$", lambda r: dollars(r["billed_cost_per_run"])),
        ("adaptation latency", "s, serial", lambda r: amount(r["adapt_latency_s_per_run"])),
        ("context at the end", "tokens, est.", lambda r: amount(r["context_tokens_end"])),
        ("bullets at the end", "n", lambda r: amount(r["bullets_end"])),
        ("labels", "revealed", lambda r: amount(r["labels_per_run"])),
        ("bits", "revealed", lambda r: amount(r["bits_per_run"])),
    ]
    return _view("Cost and feedback of one run (mean over runs)", rows, columns)


def contrasts(rows: Sequence[Row]) -> View:
    """Differences against the baseline."""
    columns: list[tuple[str, str, Cell]] = [
        ("arm minus baseline", "", lambda r: f"{clean(r['arm'])} − {clean(r['baseline'])}"),
        ("difference", "−1 to 1", lambda r: NONE if math.isnan(r["effect"]) else f"{r['effect']:+.3f}"),
        ("95% interval", "", lambda r: between(r["effect_low"], r["effect_high"], signed=True)),
        ("label", "", lambda r: r["label"] or NONE),
        ("p", "raw", lambda r: p_value(r["p"])),
        ("p", "Holm", lambda r: p_value(r["p_holm"])),
        ("family", "n", lambda r: amount(r["family"])),
        ("strict difference", "", lambda r: NONE if math.isnan(r["strict_effect"]) else f"{r['strict_effect']:+.3f}"),
        ("95% interval", "", lambda r: between(r["strict_low"], r["strict_high"], signed=True)),
    ]
    columns.append(("run pairs", "n (seeds x orders)", _runs("run_pairs")))
    columns.append(("items", "n", lambda r: amount(r["items"])))
    columns.append(("left out", "unscored pairs", lambda r: amount(r["dropped_pairs"])))
    return _view("Differences against the baseline", rows, columns)
