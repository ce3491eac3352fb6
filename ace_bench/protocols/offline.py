"""Offline: adapt on train over some epochs, pick on validation, score the frozen result on test (paper, section 4).

With `select: gt` the state is validated every `eval_every` steps and at the end, and the best one is scored; the initial
state is a candidate, and a tie keeps the earlier one. With `select: last` no label of the validation set is read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from ace_bench.contracts import Sample
from ace_bench.protocols.address import Address
from ace_bench.protocols.firsts import firsts
from ace_bench.protocols.frozen import frozen, scored
from ace_bench.protocols.timeline import Held, Timeline


def offline(
    timeline: Timeline, train: Sequence[Sample], val: Sequence[Sample], test: Sequence[Sample],
    *, epochs: int, eval_every: int, select: str, probe: bool = False,
) -> Held:  # fmt: skip
    """Run the protocol; the last state of adaptation (the picked one is what the score rows name)."""
    held = timeline.start()
    if hasattr(timeline.parts.method, "fit"):
        held = timeline.fit(held, [sample.task for sample in train], [sample.task for sample in val])
        frozen(timeline, test, held)
        return held
    picking = Selection(timeline, val, select == "gt")
    picking.consider(held, epoch=0, after=0)
    first, after = firsts(train), 0
    for epoch in range(epochs):
        for i, sample in enumerate(train):
            held = timeline.visit(Address("adapt", epoch, 0, i), held, sample, learn=True, first=first[i]).held
            if probe:
                timeline.visit(Address("probe", epoch, 0, i), held, sample, learn=False, first=first[i])
            after += 1
            if i == len(train) - 1:
                held = timeline.flush(held, epoch)
            if after % eval_every == 0 or after == epochs * len(train):
                picking.consider(held, epoch=epoch, after=after)
    picking.close(held, epoch=max(0, epochs - 1), after=after)
    frozen(timeline, test, picking.best if select == "gt" else held)
    return held


@dataclass
class Selection:
    """Candidates and their validation scores; every one is a row of `candidates`."""

    timeline: Timeline
    val: Sequence[Sample]
    validates: bool
    best: Held | None = None
    score: float | None = None
    seen: list[str] = field(default_factory=list)

    def consider(self, held: Held, *, epoch: int, after: int) -> None:
        """Validate `held`; it becomes the best if strictly better, and the first one always."""
        if not self.validates:
            return
        scores = scored(self.timeline, self.val, held, phase="select", epoch=epoch, after=after)
        score = sum(scores) / len(scores) if scores else None
        better = self.best is None or (score is not None and (self.score is None or score > self.score))
        reason = (
            "initial state" if self.best is None else f"{'better than' if better else 'not better than'} {self.score}"
        )
        self._note(held, epoch, after, score, len(scores), better, reason)
        if better:
            self.best, self.score = held, score

    def close(self, held: Held, *, epoch: int, after: int) -> None:
        """Without validation the last state is the one candidate."""
        if not self.validates:
            self._note(held, epoch, after, None, 0, True, "last state; no validation label was read")

    def _note(
        self, held: Held, epoch: int, after: int, score: float | None, items: int, accepted: bool, reason: str
    ) -> None:
        at = Address("select", epoch, after, len(self.val))
        self.timeline.note(at, {"candidates": [{
            **at.columns(), "candidate": len(self.seen), "state": held.key,
            "parents": json.dumps([len(self.seen) - 1] if self.seen else []), "score": score, "items": items,
            "accepted": accepted, "reason": reason, "calls": self.timeline.calls,
        }]})  # fmt: skip
        self.seen.append(held.key)
