"""What ACE remembers: the playbook, reflections the Curator has not read yet, and deltas that wait for their batch."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from ace_bench.playbook import Bullet, Delta, Playbook, Rejection, from_json, operation_from, to_json


@dataclass(frozen=True, slots=True)
class AceState:
    """Immutable. `deltas` were all made on this `playbook`."""

    playbook: Playbook
    reflections: tuple[str, ...] = ()
    deltas: tuple[Delta, ...] = ()

    @property
    def version(self) -> int:
        """The playbook's version."""
        return self.playbook.version

    @property
    def bullets(self) -> tuple[Bullet, ...]:
        """The playbook's bullets."""
        return self.playbook.bullets

    def render(self) -> str:
        """The playbook's text."""
        return self.playbook.render()

    def having(self, **fields: Any) -> AceState:
        """This state with some fields changed."""
        return replace(self, **fields)

    def dump(self) -> dict[str, Any]:
        """JSON values; `load` gives the state back."""
        return {
            "playbook": to_json(self.playbook),
            "reflections": list(self.reflections),
            "deltas": [_delta_to_json(delta) for delta in self.deltas],
        }

    @classmethod
    def load(cls, data: dict[str, Any]) -> AceState:
        """The state that `dump` wrote."""
        deltas = tuple(_delta_from_json(delta) for delta in data["deltas"])
        return cls(from_json(data["playbook"]), tuple(data["reflections"]), deltas)


def _delta_to_json(delta: Delta) -> dict[str, Any]:
    return {
        "operations": [{"type": operation.type, **asdict(operation)} for operation in delta.operations],
        "base_version": delta.base_version,
        "source": delta.source,
        "expected": dict(delta.expected),
        "malformed": [[rejection.reason, rejection.detail] for rejection in delta.malformed],
    }


def _delta_from_json(data: dict[str, Any]) -> Delta:
    operations = []
    for raw in data["operations"]:
        operation = operation_from(raw)
        if isinstance(operation, Rejection):
            raise ValueError(f"A stored operation cannot be read back: {operation.detail}")
        operations.append(operation)
    malformed = tuple(Rejection(reason, detail) for reason, detail in data["malformed"])
    return Delta(tuple(operations), data["base_version"], data["source"], data["expected"], malformed)
