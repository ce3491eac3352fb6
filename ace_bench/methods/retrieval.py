"""Nearest earlier tasks by the cosine of their embeddings (Dynamic Cheatsheet's retrieval; nearest shots of ICL)."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from ace_bench.contracts import Run, Task
from ace_bench.methods.text_state import Pair
from ace_bench.playbook import Playbook


def packed(texts: Sequence[str], run: Run) -> list[str]:
    """The embedding of each text as base64 of little-endian float32, the form in which a state keeps it."""
    import numpy as np

    vectors = np.asarray(run.embed(list(texts)), dtype="<f4")
    return [base64.b64encode(vector.tobytes()).decode() for vector in vectors]


def nearest(pairs: Sequence[Pair], text: str, run: Run) -> list[tuple[float, Pair]]:
    """(cosine, pair) for every pair, the most similar first; of equal ones the later first. Embeds `text`, if it must."""
    import numpy as np

    if not pairs:
        return []
    (query,) = np.asarray(run.embed([text]), dtype="<f4")
    cosines = [float(_vector(pair) @ query) for pair in pairs]
    ranked = sorted(range(len(pairs)), key=lambda i: (-cosines[i], -i))
    return [(cosines[i], pairs[i]) for i in ranked]


def _vector(pair: Pair) -> Any:
    import numpy as np

    return np.frombuffer(base64.b64decode(pair.vector), dtype="<f4")


def closest(playbook: Playbook, task: Task, k: int, run: Run) -> Playbook:
    """The playbook with only the `k` bullets nearest to the task, in their places; of equal ones the older."""
    import numpy as np

    bullets = playbook.bullets
    vectors = np.asarray(run.embed([task.input, *(bullet.content for bullet in bullets)]), dtype="<f4")
    cosines = vectors[1:] @ vectors[0]
    best = set(sorted(range(len(bullets)), key=lambda i: (-float(cosines[i]), bullets[i].number))[:k])
    return playbook.revised([bullet for i, bullet in enumerate(bullets) if i in best])
