"""`TextState`: what a method remembers when it is not a playbook. A text, and the worked examples it may draw on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ace_bench.methods.base import MethodBase


@dataclass(frozen=True, slots=True)
class Pair:
    """A task and what was written for it: an attempt (Dynamic Cheatsheet) or the right answer (ICL).

    `note` is what the feedback told of the attempt.
    """

    input: str
    output: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class TextState:
    """Immutable; every change makes a new version."""

    text: str
    version: int = 0
    pairs: tuple[Pair, ...] = ()

    def render(self) -> str:
        """The text."""
        return self.text


class TextMethod(MethodBase):
    """A method whose state is a `TextState`."""

    def dump(self, state: TextState) -> dict[str, Any]:
        """The state as JSON values; `load` gives it back."""
        return asdict(state)

    def load(self, data: dict[str, Any]) -> TextState:
        """The state that `dump` wrote."""
        return TextState(data["text"], data["version"], tuple(Pair(**pair) for pair in data["pairs"]))
