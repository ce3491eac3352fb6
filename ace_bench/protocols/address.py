"""Where a step stands on the timeline of its cell."""

from __future__ import annotations

from typing import Any, NamedTuple


class Address(NamedTuple):
    """phase (adapt, select, score, probe), epoch from 0, round (adaptation steps before a validation pass), position."""

    phase: str
    epoch: int
    round: int
    position: int

    def __str__(self) -> str:
        return f"{self.phase}/{self.epoch}/{self.round}/{self.position}"

    def columns(self) -> dict[str, Any]:
        """The address as row columns."""
        return self._asdict()
