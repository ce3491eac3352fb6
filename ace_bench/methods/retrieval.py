"""Nearest texts by the cosine of their embeddings. A run embeds each text once, however often it is named here."""

from __future__ import annotations

from collections.abc import Sequence

from ace_bench.contracts import Run, Task
from ace_bench.methods.text_state import Pair
from ace_bench.playbook import Playbook


def nearest(pairs: Sequence[Pair], text: str, run: Run) -> list[tuple[float, Pair]]:
    """(cosine, pair) for every pair, the most similar to `text` first; of equal ones the later first."""
    if not pairs:
        return []
    vectors = run.embed([*(pair.input for pair in pairs), text])
    cosines = [float(cosine) for cosine in vectors[:-1] @ vectors[-1]]
    ranked = sorted(range(len(pairs)), key=lambda i: (-cosines[i], -i))
    return [(cosines[i], pairs[i]) for i in ranked]


def closest(playbook: Playbook, task: Task, k: int, run: Run) -> Playbook:
    """The playbook with only the `k` bullets nearest to the task, in their places; of equal ones the older."""
    import numpy as np

    bullets = playbook.bullets
    vectors = np.asarray(run.embed([task.input, *(bullet.content for bullet in bullets)]), dtype="<f4")
    cosines = vectors[1:] @ vectors[0]
    best = set(sorted(range(len(bullets)), key=lambda i: (-float(cosines[i]), bullets[i].number))[:k])
    return playbook.revised([bullet for i, bullet in enumerate(bullets) if i in best])
