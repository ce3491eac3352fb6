"""Online: predict, score, then update, one pass over the test stream (paper, section 4; review, Alg. 3 and Eq. 2).

window 1 is strict: each sample is answered with everything learned before it, and that answer both counts and teaches.
A larger window is what the released code does (15): all samples of a window are answered with the state at its start, and
only these answers count; then each is answered again, with the state as it grows, and learned from.
"""

from __future__ import annotations

from collections.abc import Sequence

from ace_bench.contracts import Sample
from ace_bench.protocols.address import Address
from ace_bench.protocols.firsts import firsts
from ace_bench.protocols.timeline import Held, Timeline


def online(timeline: Timeline, stream: Sequence[Sample], window: int, *, probe: bool = False) -> Held:
    """Run the protocol over `stream`, already in order; the state after it.

    `probe`: answer each sample once more after its update, as the released code does; those answers count nowhere.
    """
    held = timeline.start()
    first = firsts(stream)
    for start in range(0, len(stream), window):
        block = range(start, min(start + window, len(stream)))
        if window > 1:
            frozen = [(Address("score", 0, 0, i), stream[i], first[i]) for i in block]
            for _ in timeline.visit_all(frozen, held):
                pass
        for i in block:
            at = Address("score" if window == 1 else "adapt", 0, 0, i)
            held = timeline.visit(at, held, stream[i], learn=True, first=first[i]).held
            if probe:
                timeline.visit(Address("probe", 0, 0, i), held, stream[i], learn=False, first=first[i])
    return timeline.flush(held, 0)
