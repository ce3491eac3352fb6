"""Frozen: score a state on a stream and change nothing."""

from __future__ import annotations

from collections.abc import Sequence

from ace_bench.contracts import Sample
from ace_bench.protocols.address import Address
from ace_bench.protocols.firsts import firsts
from ace_bench.protocols.timeline import Held, Timeline


def frozen(timeline: Timeline, stream: Sequence[Sample], held: Held | None = None) -> Held:
    """Answer every sample with `held` (default: the initial state)."""
    held = held or timeline.start()
    scored(timeline, stream, held, phase="score", epoch=0, after=0)
    return held


def scored(
    timeline: Timeline, stream: Sequence[Sample], held: Held, *, phase: str, epoch: int, after: int
) -> list[float]:
    """The scores of one frozen pass; samples without a score are left out (they are in the rows with their outcome)."""
    ats = [
        (Address(phase, epoch, after, i), sample, first)
        for i, (sample, first) in enumerate(zip(stream, firsts(stream), strict=True))
    ]
    return [visit.score for visit in timeline.visit_all(ats, held) if visit.score is not None]
