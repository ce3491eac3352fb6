"""Orders of a stream, drawn from an order seed: the same for every method (design, section 2).

shuffled     a uniform permutation.
blocked      groups one after another, in a drawn order; inside a group the drawn order of its samples.
interleaved  round robin over the groups: one sample of each as long as it has any.
file         as the data file has them; the seed is not used.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import zip_longest

from ace_bench.contracts import Sample, text_digest

KINDS = ("shuffled", "blocked", "interleaved", "file")


def ordered(samples: Sequence[Sample], kind: str, seed: int) -> tuple[Sample, ...]:
    """The samples in order `kind` of `seed`. An unknown kind is a ValueError naming the known ones."""
    if kind not in KINDS:
        raise ValueError(f"order.kind is {kind!r}; it must be one of {', '.join(KINDS)}")
    if kind == "file":
        return tuple(samples)
    shuffled = list(samples)
    random.Random(f"order/{seed}").shuffle(shuffled)
    if kind == "shuffled":
        return tuple(shuffled)
    groups: dict[str, list[Sample]] = defaultdict(list)  # insertion order: the order of first appearance, drawn above
    for sample in shuffled:
        groups[sample.task.group].append(sample)
    if kind == "blocked":
        return tuple(sample for group in groups.values() for sample in group)
    return tuple(sample for row in zip_longest(*groups.values()) for sample in row if sample is not None)


def order_digest(samples: Sequence[Sample]) -> str:
    """SHA-256 over the ids in order."""
    return text_digest("\n".join(sample.task.id for sample in samples))
