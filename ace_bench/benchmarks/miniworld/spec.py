"""A task with everything that is known about it, and the requirements its final state must meet.

A spec never leaves the harness's process: prompts get its instruction, the sandbox gets calls answered by the world.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ace_bench.benchmarks.miniworld.tables import Change, Row, Snapshot, Tables, changes

NO_CHANGE = Change({}, {}, {})
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Draft:
    """What a scenario says of one variant. `answer` None: an action task. Expected rows are given without id."""

    tables: Tables
    instruction: str
    code: str
    answer: Any = None
    added: Mapping[str, list[Row]] = field(default_factory=dict)
    updated: Mapping[str, Mapping[int, Row]] = field(default_factory=dict)
    removed: Mapping[str, frozenset[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spec:
    """A task: id `<scenario>_<n>`, difficulty 1 to 3, and its draft."""

    id: str
    scenario: str
    difficulty: int
    draft: Draft

    @property
    def instruction(self) -> str:
        """The whole instruction: who asks, when, and what."""
        person = self.draft.tables["person"][0]
        return (
            f"I am {person['first_name']} {person['last_name']} (email {person['email']}, phone {person['phone']}).\n"
            f"{self.draft.instruction}"
        )


@dataclass(frozen=True, slots=True)
class Requirement:
    """One named check. `label`: does an agent that does nothing pass it (no_op_pass) or fail it (no_op_fail)?"""

    text: str
    label: Literal["no_op_pass", "no_op_fail"]
    passed: bool


def evaluate(spec: Spec, start: Snapshot, end: Snapshot) -> tuple[Requirement, ...]:
    """Every requirement of the task, checked on the final state. The task succeeded when all passed."""
    found, draft, out = changes(start, end), spec.draft, []
    task = end["task"][1]
    given = None if task["answer"] is None else json.loads(task["answer"])
    out.append(Requirement("the task was completed with status success", "no_op_fail", task["status"] == "success"))
    if draft.answer is not None:
        out.append(Requirement("the answer is right", "no_op_fail", same(given, draft.answer)))
    else:
        out.append(Requirement("no answer was given", "no_op_pass", given is None))
    tables = sorted({*draft.added, *draft.updated, *draft.removed})
    named = f"exactly these tables changed: {', '.join(tables)}" if tables else "no table changed"
    out.append(Requirement(named, "no_op_fail" if tables else "no_op_pass", sorted(found) == tables))
    for table in tables:
        out += _of_table(table, draft, found.get(table, NO_CHANGE))
    return tuple(out)


def _of_table(table: str, draft: Draft, change: Change) -> Iterable[Requirement]:
    """The rows of one table that should have changed, and those that should not."""
    added = draft.added.get(table, [])
    updated, removed = draft.updated.get(table, {}), draft.removed.get(table, frozenset())
    for what, wanted, passed in (
        ("added to", added, _bag(change.added.values()) == _bag(added)),
        ("updated in", updated, dict(change.updated) == dict(updated)),
        ("removed from", removed, set(change.removed) == set(removed)),
    ):
        kind = "the expected rows were" if wanted else "no row was"
        yield Requirement(f"{kind} {what} {table}", "no_op_fail" if wanted else "no_op_pass", passed)


def same(given: Any, wanted: Any) -> bool:
    """Answers compared after normalising: case, outer quotes, numbers to two decimals, order of lists."""
    if given is None or isinstance(wanted, list) != isinstance(given, list):
        return False
    if isinstance(wanted, list):
        return Counter(map(_normal, given)) == Counter(map(_normal, wanted))
    return _normal(given) == _normal(wanted)


def _normal(value: Any) -> str:
    text = str(value).strip().strip("\"'").strip().casefold()
    return f"{float(text):.2f}" if _NUMBER.fullmatch(text) and len(text) < 30 else text


def _bag(rows: Iterable[Row]) -> Counter[str]:
    """Rows without their ids, as a bag."""
    return Counter(json.dumps({k: v for k, v in row.items() if k != "id"}, sort_keys=True) for row in rows)
