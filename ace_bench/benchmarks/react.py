"""The ReAct code agent: think, run one block, read what it said, until the task is completed (paper, Section 4.1: AppWorld).

One step is one model call, one block and one output. Of a reply the first python block counts; what follows it is cut from
the history. A reply without a block runs an empty one, and the world says so. The numbers are those of the released code:
40 steps, outputs cut at 20,000 characters, history kept whole up to 400,000.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ace_bench.contracts import Ask
from ace_bench.llm.types import Message

BLANKED = "(an older output, left out to save room)"
_BLOCK = re.compile(r"```python[ \t]*\n(.*?)(?:^```|\Z)", re.DOTALL | re.MULTILINE)
_ENDS = ("refused", "empty", "overflow", "error")  # what a reply may be that no further step can follow
_KEPT = 5  # newest messages whose outputs are never blanked


class Environment(Protocol):
    """A world an agent acts in by running code."""

    def execute(self, code: str) -> str:
        """Run one block; everything that happens comes back as text."""

    @property
    def completed(self) -> bool:
        """Whether the agent has said that it is done."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Model calls of an episode; characters of an output; characters of history after the first messages."""

    steps: int = 40
    output_chars: int = 20_000
    history_chars: int = 400_000


@dataclass(frozen=True, slots=True)
class Played:
    """How an episode went. `status` is as in `contracts.Episode`; `blocks` counts the replies that had one."""

    trace: str
    status: str
    steps: int
    blocks: int
    replies: tuple[str, ...]


def play(environment: Environment, opening: Sequence[Message], ask: Ask, limits: Limits) -> Played:
    """Run an episode from the `opening` messages. Whatever `environment` raises ends it and is the caller's to name."""
    turns: list[tuple[str, str]] = []  # what the model wrote, what the environment said
    status, blocks = "ok", 0
    while len(turns) < limits.steps and not environment.completed:
        reply = ask("solve", [*opening, *history(turns, limits.history_chars)])
        if reply.status in _ENDS:
            status = reply.status
            break
        written, code = first_block(reply.text)
        blocks += code is not None
        turns.append((written, cut(environment.execute(code or ""), limits.output_chars)))
    if status == "ok" and not blocks:
        status = "unparsed"
    trace = "\n\n".join(f"Agent:\n{written}\n\nOutput:\n{said}" for written, said in turns)
    return Played(trace, status, len(turns), blocks, tuple(written for written, _ in turns))


def first_block(text: str) -> tuple[str, str | None]:
    """A reply up to the end of its first python block, and the code in it; an unclosed block is closed."""
    found = _BLOCK.search(text)
    if found is None:
        return text, None
    closed = found[0] if found[0].endswith("```") else f"{found[0].rstrip()}\n```"
    return text[: found.start()] + closed, found[1]


def cut(text: str, longest: int) -> str:
    """An output at most `longest` characters long, with a mark where it was cut."""
    return text if len(text) <= longest else f"{text[:longest]}\n[cut here: {len(text) - longest} more characters]"


def history(turns: Sequence[tuple[str, str]], longest: int) -> list[Message]:
    """The turns as messages of at most `longest` characters: old outputs are blanked first, then the oldest turns dropped.

    The newest turn always stays.
    """
    kept = [(written, shown(said)) for written, said in turns]
    size = sum(len(written) + len(said) for written, said in kept)
    for i in range(len(kept) - (_KEPT + 1) // 2):
        if size <= longest:
            break
        if (saved := len(kept[i][1]) - len(shown(BLANKED))) > 0:
            size, kept[i] = size - saved, (kept[i][0], shown(BLANKED))
    while size > longest and len(kept) > 1:
        size -= sum(map(len, kept.pop(0)))
    return [message for written, said in kept for message in (_message("assistant", written), _message("user", said))]


def shown(said: str) -> str:
    """An output as the model reads it."""
    return f"Output:\n```\n{said}\n```"


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}
