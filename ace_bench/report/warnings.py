"""Sentences a reader must see before the numbers: unlike truncation, flat sweeps, unlike data, holes in the design."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from ace_bench.report.rows import Rows
from ace_bench.stats.design import Comparison

# Shares of an outcome that differ by more than this between arms are told (fault B38).
_APART = 0.05


def warnings(rows: Rows) -> list[str]:
    """All warnings of an experiment, in a fixed order."""
    out = []
    for comparison in rows.found:
        found = [*comparison.missing, *_shares(rows, comparison), *_flat(comparison), *_unlike(rows, comparison)]
        out += [f"{comparison.group}: {sentence}." for sentence in found]
    kinds = {bool(row["simulated"]) for row in rows.cells}
    if len(kinds) == 2:
        out.append("Some cells ran on the simulated model and some on a real one: never set them side by side.")
    return out


def _shares(rows: Rows, comparison: Comparison) -> Iterator[str]:
    for outcome in ("truncated", "unparsed", "refused", "empty", "overflow", "error"):
        shares = {}
        for arm in comparison.arms:
            tally = [rows.steps.outcomes(rows.steps.rows(cell, "score")) for cell in arm.cells.values()]
            shares[arm.label] = sum(t.get(outcome, 0) for t in tally) / sum(sum(t.values()) for t in tally)
        low, high = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
        if shares[high] - shares[low] > _APART:
            yield (
                f"the share of attempts that ended {outcome} differs between arms, {shares[low]:.0%} for {low} and "
                f"{shares[high]:.0%} for {high}; read the strict scores beside the others"
            )


def _flat(comparison: Comparison) -> Iterator[str]:
    """Arms of one method that agree in every single score: the knob may not be wired."""
    for a, b in combinations(range(len(comparison.arms)), 2):
        one, two = comparison.arms[a], comparison.arms[b]
        if one.method == two.method and np.array_equal(comparison.y[..., a], comparison.y[..., b], equal_nan=True):
            yield f"{one.label} and {two.label} agree in every score; the knob between them may have no effect"


def _unlike(rows: Rows, comparison: Comparison) -> Iterator[str]:
    """Digests that must agree for a fair comparison and do not; rows of the data that were left out."""
    cells = [(place, rows.cell(cell)) for arm in comparison.arms for place, cell in sorted(arm.cells.items())]
    bad = max((int(cell["bad_rows"]) for _, cell in cells), default=0)
    if bad:
        yield f"{bad} rows of the data files were left out as bad (on_bad_row=skip)"
    for column, what in (("data_digest", "data"), ("prompts_digest", "role prompts"), ("code", "versions of the code")):
        if len({str(cell[column]) for _, cell in cells}) > 1:
            yield f"the cells do not share the same {what} ({column} differs)"
    orders: dict[int, set[str]] = {}
    for (_, order), cell in cells:
        orders.setdefault(order, set()).add(str(cell["order_digest"]))
    apart = [order for order, digests in sorted(orders.items()) if len(digests) > 1]
    if apart:
        yield f"arms saw the samples in different orders under order seed {', '.join(map(str, apart))}"
