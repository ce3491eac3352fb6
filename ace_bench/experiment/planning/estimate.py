"""The plan of an experiment: its arms as the report will name them, what each needs, and what the design can detect."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ace_bench.experiment.build import Built, build
from ace_bench.experiment.outcome import Planned
from ace_bench.experiment.planning import caps
from ace_bench.experiment.planning.arm import Need, needs, summed
from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.spec import CellSpec
from ace_bench.stats.design import Group, groups_of
from ace_bench.stats.intervals import design_label
from ace_bench.stats.knobs import arm_labels
from ace_bench.stats.power import detectable

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ArmPlan:
    """One arm: its cells, and by purpose what all of them need."""

    label: str
    cells: int
    needs: Mapping[str, Need]
    one: Need  # of one cell

    @property
    def total(self) -> Need:
        """All purposes together."""
        return summed(list(self.needs.values()))


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """Arms that will be compared with each other. `effect`: see `stats.power.detectable`; `label`: of its intervals."""

    group: Group
    items: int
    seeds: int
    orders: int
    arms: tuple[ArmPlan, ...]
    effect: float | None
    label: str


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """The whole. `notes`: sentences about caps."""

    name: str
    cells: int
    groups: tuple[GroupPlan, ...]
    total: Need
    notes: tuple[str, ...]


def estimate(planned: Sequence[Planned]) -> ExperimentPlan:
    """The plan of checked cells. No call is made. Raises `PlanError` when a cell's parts cannot be made."""
    cells = [_row(p) for p in planned]
    groups = groups_of(cells)
    labels = arm_labels(cells, groups)
    measured = _Measured()
    members: dict[Group, dict[str, list[Planned]]] = {}
    for p, group, label in zip(planned, groups, labels, strict=True):
        members.setdefault(group, {}).setdefault(label, []).append(p)
    made = tuple(_group(group, arms, measured) for group, arms in sorted(members.items()))
    whole = summed([arm.total for group in made for arm in group.arms])
    each = [(f"a cell of {arm.label}", arm.one) for group in made for arm in group.arms]
    spec = planned[0].spec
    return ExperimentPlan(spec.name, len(planned), made, whole, tuple(caps.notes(spec.limits, whole, each)))


def _row(p: Planned) -> Row:
    """What `stats` needs of a `cells` row."""
    spec = p.spec
    return {
        "method": spec.method.name, "benchmark": spec.benchmark.name, "model": spec.model.name,
        "protocol": spec.protocol.name, "feedback": spec.feedback.regime, "select": spec.select,
        "order_kind": spec.order.kind, "knobs": json.dumps(spec.canonical(), sort_keys=True),
    }  # fmt: skip


class _Measured:
    """What cells need; seeds and orders change none of it, so each kind of cell is measured once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[dict[str, Need], int]] = {}

    def __call__(self, spec: CellSpec) -> tuple[dict[str, Need], int]:
        """The needs by purpose of one cell, and its number of test items."""
        knobs = spec.canonical()
        kind = json.dumps(knobs | {"seed": 0, "order": knobs["order"] | {"seed": 0}}, sort_keys=True)
        if kind not in self._known:
            built = _built(spec)
            self._known[kind] = needs(spec, built), len(built.streams.test)
        return self._known[kind]


def _built(spec: CellSpec) -> Built:
    try:
        return build(spec)
    except Exception as e:  # whatever stands in the way of the cell would also end its run, as a sentence
        raise PlanError(f"{spec.id()} could not run: {e.args[0] if isinstance(e, KeyError) else e}") from e


def _group(group: Group, members: Mapping[str, Sequence[Planned]], measured: _Measured) -> GroupPlan:
    arms, items = [], 0
    for label, planned in sorted(members.items()):
        parts = [measured(p.spec) for p in planned]  # cells of one arm may still differ (a start of their own each)
        by_purpose: dict[str, list[Need]] = {}
        for found, n in parts:
            items = max(items, n)
            for purpose, need in found.items():
                by_purpose.setdefault(purpose, []).append(need)
        one = summed(list(parts[0][0].values()))
        arms.append(ArmPlan(label, len(planned), {k: summed(v) for k, v in by_purpose.items()}, one))
    seeds = {p.spec.seed for some in members.values() for p in some}
    orders = {p.spec.order.seed for some in members.values() for p in some}
    design = items, len(seeds), len(orders)
    effect = _detectable(*design) if len(arms) > 1 else None
    return GroupPlan(group, *design, tuple(arms), effect, design_label(len(seeds), len(orders)))


@cache
def _detectable(items: int, seeds: int, orders: int) -> float | None:
    return detectable(items, seeds, orders)


def purposes(plan: ExperimentPlan) -> Iterator[tuple[str, Need]]:
    """By purpose, over all arms: for a reader of the plan as data."""
    found: dict[str, list[Need]] = {}
    for group in plan.groups:
        for arm in group.arms:
            for purpose, need in arm.needs.items():
                found.setdefault(purpose, []).append(need)
    yield from ((purpose, summed(some)) for purpose, some in found.items())
