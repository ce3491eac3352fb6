"""First meetings: which positions of a stream meet their group for the first time."""

from __future__ import annotations

from collections.abc import Sequence

from ace_bench.contracts import Sample


def firsts(stream: Sequence[Sample]) -> list[bool]:
    """For each position, whether no earlier sample has the same group."""
    seen: set[str] = set()
    out = []
    for sample in stream:
        out.append(sample.task.group not in seen)
        seen.add(sample.task.group)
    return out
