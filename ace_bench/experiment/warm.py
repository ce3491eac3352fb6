"""Warm start: the initial playbook from a file, or from a finished cell (paper, Table 3: online after an offline warm-up)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ace_bench.experiment.plugins import PlanError
from ace_bench.playbook import Playbook, from_json, parse
from ace_bench.store import StoreError, Texts, is_finished, read_table


@dataclass(frozen=True, slots=True)
class Warm:
    """An initial playbook, where it came from, and the tokens that were needed to make it (None for a file)."""

    playbook: Playbook
    source: str
    tokens: int | None


def warm(start: str) -> Warm:
    """The playbook that `start` names: a text or JSON file, or the folder of a finished cell.

    Of a cell it is the state its score rows name (offline: the picked one), else the last one. Version and counted
    feedback events start anew; ids, counters and the number of the next id go on. Raises PlanError with a sentence.
    """
    path = Path(start)
    try:
        if path.is_dir():
            return _of_cell(path)
        text = path.read_text(encoding="utf-8")
        playbook = from_json(json.loads(text)) if path.suffix == ".json" else parse(text)
        if not playbook.bullets and (playbook.preamble.strip() or any(intro.strip() for _, intro in playbook.intros)):
            raise ValueError("it has text and no line of the form [abc-00001] helpful=0 harmful=0 :: lesson")
        return Warm(_fresh(playbook), path.name, None)
    except (ValueError, KeyError, OSError, StoreError) as e:
        raise PlanError(f"start={start} holds no playbook that can be read: {e}") from e


def _of_cell(folder: Path) -> Warm:
    if not is_finished(folder):
        raise PlanError(f"start={folder} is not the folder of a finished cell; run that cell to its end first.")
    (cell,) = read_table(folder, "cells").to_pylist()
    data = json.loads(Texts(folder / "texts").get(_last_state(folder, cell["protocol"])))
    tokens = None if cell["input_tokens"] is None else cell["input_tokens"] + (cell["output_tokens"] or 0)
    return Warm(_fresh(from_json(data.get("playbook", data))), cell["cell"], tokens)


def _last_state(folder: Path, protocol: str) -> str:
    """The key of the state the cell ended with."""
    if protocol == "offline":
        scored: list[dict[str, Any]] = read_table(folder, "steps", ["phase", "state"]).to_pylist()
        picked = [row["state"] for row in scored if row["phase"] == "score"]
        if picked:
            return str(picked[-1])
    return str(read_table(folder, "states", ["state"]).to_pylist()[-1]["state"])


def _fresh(playbook: Playbook) -> Playbook:
    """The events counted in another run are none of this one's: its steps have the same addresses."""
    return replace(playbook, version=0, applied_events=frozenset())
