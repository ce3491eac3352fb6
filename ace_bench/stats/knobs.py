"""Which knobs tell cells of one method apart: the readable labels of arms (derived, never by hand: fault X04)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

# A knob under these words is an axis of the design or a column of its own, not a part of the arm.
_AXES = frozenset({"seed", "seeds", "order", "orders", "order_seed", "order_kind"})
_COLUMNS = frozenset({"benchmark", "model", "protocol", "feedback", "experiment"})
_UNSET = "unset"


def flatten(knobs: str) -> dict[str, str]:
    """Dotted path -> value as text of a cell's resolved config (JSON); axes of the design are left out."""
    out: dict[str, str] = {}
    _walk(json.loads(knobs), (), out)
    return out


def _walk(value: Any, path: tuple[str, ...], out: dict[str, str]) -> None:
    if path and (path[-1] in _AXES or path[0] in _COLUMNS | _AXES):
        return
    if isinstance(value, dict) and value:
        for key in sorted(value):
            _walk(value[key], (*path, str(key)), out)
    elif path and "warm" in path[-1]:
        # A warm start names the cell of the same seed: another text in each cell of one arm.
        out[".".join(path)] = "yes" if value else "no"
    else:
        out[".".join(path)] = value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def arm_labels(cells: Sequence[Row], groups: Sequence[Any]) -> list[str]:
    """The arm label of each cell: its method, plus the knobs that vary among cells of that method in some group.

    `groups` says, cell by cell, which cells are compared with each other.
    """
    flat = [flatten(str(cell["knobs"])) | {"select": str(cell["select"])} for cell in cells]
    varying = {m: _varying(m, cells, groups, flat) for m in {str(cell["method"]) for cell in cells}}
    out = []
    for cell, knobs in zip(cells, flat, strict=True):
        paths = varying[str(cell["method"])]
        short = _short(paths)
        inside = ", ".join(f"{short[path]}={knobs.get(path, _UNSET)}" for path in paths)
        out.append(f"{cell['method']} ({inside})" if inside else str(cell["method"]))
    return out


def _varying(method: str, cells: Sequence[Row], groups: Sequence[Any], flat: Sequence[dict[str, str]]) -> list[str]:
    by_group: dict[Any, list[dict[str, str]]] = {}
    for cell, group, knobs in zip(cells, groups, flat, strict=True):
        if cell["method"] == method:
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
