"""The plan for a terminal: plain text, at most 120 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from ace_bench.experiment.planning.amounts import Amount
from ace_bench.experiment.planning.arm import UNDECLARED, Need
from ace_bench.experiment.planning.estimate import ArmPlan, ExperimentPlan, GroupPlan
from ace_bench.stats.power import ASSUMED

WIDTH = 120
_ROOM, _COLUMNS = 26, (24, 20, 20, 22)
_HEADS = ("calls", "input tokens", "output tokens", "dollars")


def text(plan: ExperimentPlan) -> str:
    """The whole plan."""
    arms = sum(len(group.arms) for group in plan.groups)
    head = f"Plan of {plan.name}: {plan.cells} cells in {arms} arms. Nothing was run and no call was made."
    lines = [head]
    for group in plan.groups:
        lines += ["", *_group(group)]
    if arms > 1:
        lines += ["", _line("in all", plan.total)]
    return "\n".join([*lines, *_end(plan)]) + "\n"


def _group(group: GroupPlan) -> Iterator[str]:
    yield from textwrap.wrap(f"{group.group}: {group.items} items x {group.seeds} seeds x {group.orders} orders", WIDTH)
    yield "  ".join([f"{'arm':<{_ROOM}}", *(f"{h:>{w}}" for h, w in zip(_HEADS, _COLUMNS, strict=True))])
    for arm in group.arms:
        yield from _arm(arm)
    yield from textwrap.wrap(_effect(group), WIDTH)


def _arm(arm: ArmPlan) -> Iterator[str]:
    name = f"{arm.label}, {arm.cells} cells"
    if len(name) > _ROOM:  # a cut name could hide the knob that matters: give it lines of its own
        yield from textwrap.wrap(name, WIDTH, subsequent_indent="  ")
        name = ""
    yield _line(name, arm.total)
    if len(arm.needs) > 1 or UNDECLARED in arm.needs:
        for purpose, need in arm.needs.items():
            yield _line(f"  {purpose}", need)


def _line(name: str, need: Need) -> str:
    money = "unpriced" if need.dollars is None else between(need.dollars, dollars=True)
    cells = (between(need.calls), between(need.input), between(need.output), money)
    return "  ".join([f"{name:<{_ROOM}}", *(f"{c:>{w}}" for c, w in zip(cells, _COLUMNS, strict=True))]).rstrip()


def between(amount: Amount, dollars: bool = False) -> str:
    """`low to high`, or the one number."""
    shown = _dollars if dollars else short
    low = shown(amount.low)
    high = "unknown" if amount.high is None else shown(amount.high)
    return low if low == high else f"{low} to {high}"


def short(value: float) -> str:
    """A count: whole below 100,000, then in thousands or millions."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= 100 * size or (unit != "k" and value >= size):
            return f"{value / size:,.1f}{unit}"
    return f"{value:,.0f}"


def _dollars(value: float) -> str:
    return f"${value:,.4f}" if value < 1 else f"${value:,.2f}"


def _effect(group: GroupPlan) -> str:
    if len(group.arms) < 2:
        return "One arm: there is no difference to detect."
    if group.effect is None:
        return "Detectable difference: none; the design is too small to find any difference with 80 percent power."
    label = f" Intervals of this design are {group.label}." if group.label else ""
    return (
        f"Detectable difference between two arms: {group.effect:.3f} (80 percent power, 95 percent interval, before Holm)."
        + label
    )


def _end(plan: ExperimentPlan) -> list[str]:
    out = [
        "Needed calls and tokens; a reply that the response store already holds is not paid again. Dollars: low if every "
        "input token came from the provider's prompt cache, high at the dearest class.",
    ]
    if any(len(group.arms) > 1 for group in plan.groups):
        out.append(f"Detectable difference: simulated with {ASSUMED}.")
    if any(UNDECLARED in arm.needs for group in plan.groups for arm in group.arms):
        out.append(
            "undeclared: this method does not say what it asks (expected_calls), so what it needs is unknown, not 0."
        )
    return ["", *(line for sentence in (*out, *plan.notes) for line in textwrap.wrap(sentence, WIDTH))]
