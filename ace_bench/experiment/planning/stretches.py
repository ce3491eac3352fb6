"""How often a protocol visits samples, and how much was learned by then: the arithmetic of `protocols`, without a run.

One visit is one attempt (and, where it `learns`, one update). A stretch is visits of one kind in a row; the number of
updates made before a visit goes evenly from `before` to `after` over it, so its mean is their middle.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stretch:
    """`visits` over whole passes of `split`; `learns`: each is followed by an update."""

    phase: str
    split: str
    visits: int
    learns: bool
    before: int
    after: int

    @property
    def updates(self) -> float:
        """Updates made before a visit, on average."""
        return (self.before + self.after) / 2


def online(test: int, window: int, probe: bool = False) -> list[Stretch]:
    """`protocols.online`: one pass; a window above 1 answers each sample twice, `probe` once more after its update."""
    if window == 1:
        out = [Stretch("score", "test", test, True, 0, test - 1)]
    else:  # all of a window see the state at its start
        out = [
            Stretch("score", "test", test, False, 0, test - 1),
            Stretch("adapt", "test", test, True, 0, test - 1),
        ]
    return out + ([Stretch("probe", "test", test, False, 1, test)] if probe else [])


def offline(
    train: int, val: int, test: int, *, epochs: int, eval_every: int, validates: bool, probe: bool = False
) -> list[Stretch]:
    """`protocols.offline`: epochs over train, a validation pass at the start, every `eval_every` steps and at the end."""
    steps = epochs * train
    out = [Stretch("adapt", "train", steps, True, 0, max(0, steps - 1))]
    if probe:
        out.append(Stretch("probe", "train", steps, False, min(1, steps), steps))
    if validates:
        passes = 1 + -(-steps // eval_every)
        out.append(Stretch("select", "val", passes * val, False, 0, steps))
    return [*out, Stretch("score", "test", test, False, steps, steps)]


def fitted(train: int, test: int) -> list[Stretch]:
    """A batch method under `protocols.offline`: after its fit, as if each training sample had left something."""
    return [Stretch("score", "test", test, False, train, train)]


def frozen(test: int) -> list[Stretch]:
    """`protocols.frozen`: one pass, nothing learned."""
    return [Stretch("score", "test", test, False, 0, 0)]
