"""The tasks of a data root, read from its files as they are; the engine is not needed for it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DIFFICULTIES = (1, 2, 3)


class RootError(Exception):
    """A data root that cannot be used; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Record:
    """One task. `solution` is the reference program (None where the data holds none: the official test splits)."""

    id: str
    scenario: str
    split: str
    text: str  # who asks, and for what
    difficulty: int
    solution: str | None
    answer: Any


def split_list(root: Path, split: str) -> Path:
    """The file that lists the tasks of a split."""
    return root / "data" / "datasets" / f"{split}.txt"


def no_list(file: Path) -> str:
    """What to do about a list that is not there."""
    return (
        f"There is no {file}. Set up the official tasks (ace-bench data fetch appworld; ace-bench data setup appworld), "
        "or give benchmark.root=PATH of a folder that holds data/datasets."
    )


def read_split(root: Path, split: str) -> tuple[Record, ...]:
    """The tasks of a split in file order. Raises `RootError`."""
    lists = split_list(root, split)
    if not lists.is_file():
        raise RootError(no_list(lists))
    ids = [line.split(":")[0] for line in lists.read_text(encoding="utf-8").split()]
    return tuple(_record(root, id, split) for id in ids)


def tree_digest(root: Path, ids: list[str]) -> str:
    """SHA-256 over every file of these tasks and of what all tasks share."""
    data, whole = root / "data", hashlib.sha256()
    for folder in (data / "api_docs", data / "base_dbs", *(data / "tasks" / id for id in ids)):
        for file in sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
            whole.update(f"{file.relative_to(data).as_posix()}\0".encode())
            whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()


def _record(root: Path, id: str, split: str) -> Record:
    folder = root / "data" / "tasks" / id
    scenario, _, number = id.partition("_")
    if not (scenario and number.isdecimal()):
        raise RootError(f"{split}.txt names a task {id!r}; an id is a scenario, an underscore and a number.")
    specs, metadata = _json(folder / "specs.json"), _json(folder / "ground_truth" / "metadata.json")
    asker = specs.get("supervisor") or specs["main_user"]
    text = (
        f"My name is {asker['first_name']} {asker['last_name']}, my email address is {asker['email']} and my phone number "
        f"is {asker['phone_number']}.\n\n{specs['instruction']}"
    )
    code = folder / "ground_truth" / "compiled_solution.py"
    solution = code.read_text(encoding="utf-8") if code.is_file() else ""
    answer = folder / "ground_truth" / "answer.json"
    return Record(
        id, scenario, split, text, int(metadata["difficulty"]), solution if solution.strip() else None,
        _json(answer) if answer.is_file() else None,
    )  # fmt: skip


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise RootError(f"{path} is missing: the data root is not whole; set it up again.") from None
    except ValueError as error:
        raise RootError(f"{path} is damaged ({error}); set the data root up again.") from None
