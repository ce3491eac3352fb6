"""From rows to the dense table y[item, seed, order, arm] of each comparison (statistics.md, "What is being estimated").

Only rows of phase `score` of finished cells count. NaN is an attempt without a score or a run that is not there; `ran`
tells the two apart. What the arms do not share is listed in `missing`, in sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ace_bench.stats.bootstrap import Bools, Floats
from ace_bench.stats.knobs import COLUMNS, Row, arm_labels, column_labels
from ace_bench.stats.steps import Steps

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """What must be equal for two runs to be compared."""

    benchmark: str
    protocol: str
    feedback: str
    model: str
    order_kind: str

    def __str__(self) -> str:
        return f"{self.benchmark}, {self.protocol}, feedback {self.feedback}, {self.model}, {self.order_kind} order"


@dataclass(frozen=True, slots=True)
class Arm:
    """One column of a comparison: a method with the knobs that vary. `cells` maps (seed, order seed) to a cell id."""

    label: str
    method: str
    cells: dict[tuple[int, int], str]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Arms over the same benchmark, protocol, feedback, model and kind of order.

    `y`, `ran`, `first`: (items, seeds, orders, arms); `y` is the primary score in [0, 1] or NaN, `ran` says the attempt
    has a row, `first` that it was the first of its group in its run. Axes hold the union over arms, sorted.
    """

    group: Group
    arms: tuple[Arm, ...]
    items: tuple[str, ...]
    seeds: tuple[int, ...]
    orders: tuple[int, ...]
    y: Floats
    ran: Bools
    first: Bools
    missing: tuple[str, ...]

    @property
    def strict(self) -> Floats:
        """The same scores with every attempt that has no score counted as 0 (fault B17)."""
        return np.where(self.ran, np.nan_to_num(self.y, nan=0.0), np.nan)

    def arm(self, label: str) -> int:
        """The number of the arm called `label`. KeyError with the known labels."""
        labels = [arm.label for arm in self.arms]
        if label not in labels:
            raise KeyError(f"no arm {label!r} in {self.group}; the arms are {', '.join(labels)}")
        return labels.index(label)

    def common(self, arms: Sequence[int]) -> tuple[Places, Places, Places]:
        """Numbers of the items, seeds and orders that each of `arms` has at least one attempt on."""
        ran = self.ran[..., list(arms)]
        axes = ((1, 2), (0, 2), (0, 1))
        found = [np.flatnonzero(ran.any(axis=axis).all(axis=-1)) for axis in axes]
        return found[0], found[1], found[2]


def groups_of(cells: Sequence[Row]) -> list[Group]:
    """The group of each `cells` row; a knob of the task, model or protocol that varies makes groups of its own."""
    labels = [column_labels(cells, column) for column in COLUMNS]
    kinds = [str(cell["order_kind"]) for cell in cells]
    return [Group(*names) for names in zip(*labels, kinds, strict=True)]


def comparisons(cells: Sequence[Row], steps: Steps) -> list[Comparison]:
    """Every comparison the rows hold, sorted by group.

    `cells` are rows of the `cells` table (any status: the unfinished are listed in `missing`). ValueError when two
    finished cells claim the same place, or one cell scored the same sample twice.
    """
    groups = groups_of(cells)
    labels = arm_labels(cells, groups)
    out = []
    for group in sorted(set(groups)):
        members = [(c, label) for c, g, label in zip(cells, groups, labels, strict=True) if g == group]
        done = [
            (c, label) for c, label in members if c["status"] == "finished" and len(steps.rows(str(c["cell"]), "score"))
        ]
        if done:
            absent = [str(c["cell"]) for c, _ in members if c not in [d for d, _ in done]]
            out.append(_comparison(group, _arms(done), steps, absent))
    return out


def _arms(done: Iterable[tuple[Row, str]]) -> tuple[Arm, ...]:
    found: dict[str, Arm] = {}
    for cell, label in done:
        arm = found.setdefault(label, Arm(label, str(cell["method"]), {}))
        place = int(cell["seed"]), int(cell["order_seed"])
        if place in arm.cells:
            raise ValueError(
                f"cells {arm.cells[place]} and {cell['cell']} are both arm {label!r}, seed {place[0]}, "
                f"order {place[1]}; keep one of the two folders"
            )
        arm.cells[place] = str(cell["cell"])
    return tuple(found[label] for label in sorted(found))


def _comparison(group: Group, arms: tuple[Arm, ...], steps: Steps, absent: list[str]) -> Comparison:
    places = sorted({place for arm in arms for place in arm.cells})
    seeds, orders = sorted({s for s, _ in places}), sorted({o for _, o in places})
    rows = {cell: steps.rows(cell, "score") for arm in arms for cell in arm.cells.values()}
    codes = np.unique(np.concatenate([steps.column("sample", r) for r in rows.values()]))
    shape = (len(codes), len(seeds), len(orders), len(arms))
    y, ran, first = np.full(shape, np.nan), np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    for a, arm in enumerate(arms):
        for (seed, order), cell in arm.cells.items():
            at = np.searchsorted(codes, steps.column("sample", rows[cell]))
            if len(np.unique(at)) != len(at):
                raise ValueError(f"cell {cell} scored the same sample twice in phase score; its steps table is damaged")
            s, o = seeds.index(seed), orders.index(order)
            y[at, s, o, a] = steps.column("score", rows[cell])
            first[at, s, o, a] = steps.column("first", rows[cell])
            ran[at, s, o, a] = True
    items = tuple(steps.names["sample"][code] for code in codes)
    missing = (*(f"cell {cell} is not finished and is left out" for cell in sorted(absent)), *_gaps(arms, places, ran))
    return Comparison(group, arms, items, tuple(seeds), tuple(orders), y, ran, first, tuple(missing))


def _gaps(arms: tuple[Arm, ...], places: list[tuple[int, int]], ran: Bools) -> list[str]:
    """Sentences on the runs and items that some arm has and another has not."""
    out = []
    for a, arm in enumerate(arms):
        lacking = [f"seed {s} order {o}" for s, o in places if (s, o) not in arm.cells]
        if lacking:
            shown = ", ".join(lacking[:6]) + (f" and {len(lacking) - 6} more" if len(lacking) > 6 else "")
            out.append(f"{arm.label} has no finished run at {shown}; comparisons use the runs both arms have")
        items = int(ran[..., a].any(axis=(1, 2)).sum())
        if items < ran.shape[0]:
            out.append(f"{arm.label} has {items} of {ran.shape[0]} items; comparisons use the items both arms have")
        short = [c for (s, o), c in sorted(arm.cells.items())
                 if ran[:, _place(places, s, 0), _place(places, o, 1), a].sum() < items]  # fmt: skip
        if short:
            out.append(
                f"{arm.label}: {len(short)} of {len(arm.cells)} runs do not cover all its items ({short[0]} first)"
            )
    return out


def _place(places: list[tuple[int, int]], value: int, axis: int) -> int:
    return sorted({place[axis] for place in places}).index(value)
