"""Which knobs tell cells of one method apart: the readable labels of arms (derived, never by hand: fault X04)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

# An axis of the design, or something that cannot change a result: never a part of a label.
_AXES = frozenset({"seed", "seeds", "order", "orders", "order_seed", "order_kind"})
_SHARED = frozenset({"name", "results", "cache", "limits", "digests", "experiment"})
# Sections with a column of their own: their knobs say *what is compared*, so they label the group, not the arm.
COLUMNS = ("benchmark", "protocol", "feedback", "model")
_UNSET = "unset"


def flatten(knobs: str) -> dict[str, str]:
    """Dotted path -> value as text of a cell's resolved config (JSON); axes of the design are left out."""
    out: dict[str, str] = {}
    for key, value in json.loads(knobs).items():
        if key not in _AXES | _SHARED:
            _walk(value, (key,), out)
    return out


def _walk(value: Any, path: tuple[str, ...], out: dict[str, str]) -> None:
    if path[-1] in _AXES:
        return
    if isinstance(value, dict) and value:
        for key in sorted(value):
            _walk(value[key], (*path, str(key)), out)
    elif "warm" in path[-1]:
        # A warm start names the cell of the same seed: another text in each cell of one arm.
        out[".".join(path)] = "yes" if value else "no"
    else:
        out[".".join(path)] = value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _split(flat: Mapping[str, str], column: str | None) -> dict[str, str]:
    """The knobs of one column's section, or (None) those of no column: the arm's."""
    return {p: v for p, v in flat.items() if (p.split(".")[0] if p.split(".")[0] in COLUMNS else None) == column}


def column_labels(cells: Sequence[Row], column: str) -> list[str]:
    """What each cell has in `column`, with the knobs of that section that vary among cells of the same name."""
    names = [str(cell[column]) for cell in cells]
    flat = [_split(flatten(str(cell["knobs"])), column) for cell in cells]
    varying = {name: _varying(name, names, names, flat) for name in set(names)}
    return [_label(name, varying[name], knobs) for name, knobs in zip(names, flat, strict=True)]


def arm_labels(cells: Sequence[Row], groups: Sequence[Any]) -> list[str]:
    """The arm label of each cell: its method, plus the knobs that vary among cells of that method in some group.

    `groups` says, cell by cell, which cells are compared with each other.
    """
    flat = [_split(flatten(str(cell["knobs"])), None) | {"select": str(cell["select"])} for cell in cells]
    names = [str(cell["method"]) for cell in cells]
    varying = {name: _varying(name, names, groups, flat) for name in set(names)}
    return [_label(name, varying[name], knobs) for name, knobs in zip(names, flat, strict=True)]


def _label(name: str, paths: Sequence[str], knobs: Mapping[str, str]) -> str:
    short = _short(paths)
    inside = ", ".join(f"{short[path]}={knobs.get(path, _UNSET)}" for path in paths)
    return f"{name} ({inside})" if inside else name


def _varying(name: str, names: Sequence[str], groups: Sequence[Any], flat: Sequence[dict[str, str]]) -> list[str]:
    """Paths that differ among the cells called `name` inside some group."""
    by_group: dict[Any, list[dict[str, str]]] = {}
    for own, group, knobs in zip(names, groups, flat, strict=True):
        if own == name:
            by_group.setdefault(group, []).append(knobs)
    paths: set[str] = set()
    for members in by_group.values():
        for path in set().union(*members):
            if len({knobs.get(path, _UNSET) for knobs in members}) > 1:
                paths.add(path)
    return sorted(paths - {p for p in paths if p.endswith(".select") and "select" in paths})


def _short(paths: Sequence[str]) -> dict[str, str]:
    """The last word of each path, or as many of its words as tell it from the others."""
    out = {}
    for path in paths:
        words = path.split(".")
        for n in range(1, len(words) + 1):
            tail = words[-n:]
            if sum(other.split(".")[-n:] == tail for other in paths) == 1:
                break
        out[path] = ".".join(tail)
    return out
